//! Types of the section `find`.

use crate::unit::{Duration, Share};
use schemars::JsonSchema;
use serde::Deserialize;

/// Goal of an experiment: a mode, or a mapping with one mode and its settings.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Find {
    Word(FindMode),
    How(Box<FindSettings>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindMode {
    /// Measures each cell with the load of this file. This is the default.
    Once,
    /// Searches for the maximum load at which each cell meets its objectives.
    Max,
    /// Checks whether the maximum is sustained for minutes.
    Confirm,
    /// Detects changes over an hour at 80 % of the maximum.
    Soak,
    /// Finds which cells of the matrix meet the objectives.
    Sweep,
    /// Checks whether every acknowledged write survives the faults.
    Failover,
}

/// Mode with its settings; exactly one key is allowed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindSettings {
    /// Searches for the maximum load at which each cell meets its objectives.
    pub max: Option<Max>,
    /// Checks whether a load level is sustained: a ramp, then a constant load.
    pub confirm: Option<Confirm>,
    /// Detects leaks and drifts over hours at a constant load.
    pub soak: Option<Soak>,
    /// Finds which cells of the matrix meet the objectives.
    pub sweep: Option<Sweep>,
    /// Checks whether every acknowledged write survives the faults.
    pub failover: Option<Failover>,
}

/// Search for the highest load level that meets the objectives.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Max {
    /// First level: transactions per second (open model) or clients (closed model). Default: the level of `load`, or 10.
    pub from: Option<f64>,
    /// Maximum level. Default: no limit.
    pub limit: Option<f64>,
    /// Relative precision of the result, from 0.5% to 50%. Default: 5%.
    pub precision: Option<Share>,
    /// Duration of one trial, in whole seconds. Default: 20s.
    pub window: Option<Duration>,
    /// Duration of each trial that confirms the maximum, in whole seconds. Default: 60s.
    pub hold: Option<Duration>,
}

/// Ramp to a load level, then a constant load.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// Level: transactions per second (open model) or clients (closed model).
    pub level: Option<f64>,
    /// Known maximum, for the report. Only with `level`.
    pub maximum: Option<f64>,
    /// Level as a share of the maximum, instead of `level`. The maximum is searched for first. Default: 100%.
    pub share: Option<Share>,
    /// Duration of the ramp, in whole seconds. Default: 60s.
    pub ramp: Option<Duration>,
    /// Duration of the constant load, in whole seconds. Default: 5m.
    pub hold: Option<Duration>,
    /// Settings of the preceding search.
    pub max: Option<Max>,
}

/// Constant load for hours.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Soak {
    /// Level: transactions per second (open model) or clients (closed model).
    pub level: Option<f64>,
    /// Known maximum, for the report. Only with `level`.
    pub maximum: Option<f64>,
    /// Level as a share of the maximum, instead of `level`. The maximum is searched for first. Default: 80%.
    pub share: Option<Share>,
    /// Duration of the constant load, in whole seconds. Default: 1h.
    pub duration: Option<Duration>,
    /// Settings of the preceding search.
    pub max: Option<Max>,
}

/// Comparison of all cells of the matrix.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Search for the maximum of each cell. Default: cells are compared by their response times with `load`.
    pub max: Option<Max>,
}

/// Repeated injection of the faults, with a ledger of all acknowledged writes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failover {
    /// Number of trials of each cell. Default: `repeat`, or 1.
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
    /// Whether to run a positive control: the same faults with asynchronous replication, where lost writes are
    /// expected. Default: true.
    pub control: Option<bool>,
}
