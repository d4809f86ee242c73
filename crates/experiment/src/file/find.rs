//! Types of the section `find`.

use crate::unit::{Duration, Share};
use schemars::JsonSchema;
use serde::Deserialize;

/// What an experiment looks for: a word, or one of its keys with its settings.
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
    /// Each cell is measured under the load that stands here; as when left out.
    Once,
    /// How much each cell holds within its objectives.
    Max,
    /// Whether the maximum is held for long.
    Confirm,
    /// What changes over an hour at 80 % of the maximum.
    Soak,
    /// Which point of the matrix is enough.
    Sweep,
    /// Whether every acknowledged write outlives the faults.
    Failover,
}

/// Exactly one of these.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindSettings {
    /// How much each cell holds within its objectives.
    pub max: Option<Max>,
    /// Whether a level is held for long: a smooth ramp, and a hold.
    pub confirm: Option<Confirm>,
    /// What changes over hours at a level: leaks and drifts.
    pub soak: Option<Soak>,
    /// Which point of the matrix is enough.
    pub sweep: Option<Sweep>,
    /// Whether every acknowledged write outlives the faults.
    pub failover: Option<Failover>,
}

/// A search for the highest level that meets the objectives.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Max {
    /// The first level, per second or clients; what `load` says when left out, else 10.
    pub from: Option<f64>,
    /// Not beyond it.
    pub most: Option<f64>,
    /// How far the answer may be from the truth; 5% when left out.
    pub precision: Option<Share>,
    /// Of one trial; 20s when left out.
    pub window: Option<Duration>,
    /// Of a confirming trial at the answer; 60s when left out.
    pub hold: Option<Duration>,
}

/// A smooth ramp to a level, and a hold.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// Per second or clients.
    pub level: Option<f64>,
    /// What the maximum is, where a level is given and the maximum is known from elsewhere.
    pub of: Option<f64>,
    /// Instead of `level`: of the maximum, which is searched for first; 100% when left out.
    pub share: Option<Share>,
    /// 60s when left out.
    pub ramp: Option<Duration>,
    /// 5m when left out.
    pub hold: Option<Duration>,
    /// The search that comes first.
    pub max: Option<Max>,
}

/// A level that is held for hours.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Soak {
    /// Per second or clients.
    pub level: Option<f64>,
    /// What the maximum is, where a level is given and the maximum is known from elsewhere.
    pub of: Option<f64>,
    /// Instead of `level`: of the maximum, which is searched for first; 80% when left out.
    pub share: Option<Share>,
    /// 1h when left out.
    #[serde(rename = "for")]
    pub duration: Option<Duration>,
    /// The search that comes first.
    pub max: Option<Max>,
}

/// A grid of settings: the matrix.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Search for each point's maximum; without it, response times under `load` decide.
    pub max: Option<Max>,
}

/// The faults, again and again, each time with a ledger of what was acknowledged.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failover {
    /// How often each cell goes through its faults; `repeat` when left out.
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
    /// Whether the same faults are done to systems that promise nothing, which must lose something, or nothing is proved;
    /// `true` when left out.
    pub control: Option<bool>,
}
