//! Goals of an experiment: measure, search, confirm, soak, sweep, failover.

use crate::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Goal that an experiment pursues in every cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Measure each cell under its configured load.
    #[default]
    Once,
    /// Find the highest level that each cell sustains.
    Max(MaxSearch),
    /// Ramp up smoothly to a level and hold that level.
    Confirm(Confirm),
    /// Hold a level for hours and look for leaks and drift.
    Soak(Soak),
    /// Compare the points of a grid to find the smallest setting that suffices.
    Sweep(Sweep),
    /// Check that no fault loses an acknowledged write, once per repetition. The experiment's cells include the
    /// controls ([`control_of`](super::Cell::control_of)).
    Failover,
}

/// Search for the highest level that meets the objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaxSearch {
    pub scale: LoadScale,
    /// First level; `None` derives it from the cell's load.
    pub from: Option<f64>,
    /// Upper bound of the levels that the search tries.
    #[serde(alias = "most")]
    pub limit: Option<f64>,
    /// Relative precision of the maximum: 0.05 is 5 %.
    pub precision: f64,
    /// Window of one trial of the search.
    #[serde(rename = "window_ns", alias = "window")]
    pub window: Nanos,
    /// Window of a trial that confirms the maximum.
    #[serde(rename = "hold_ns", alias = "hold")]
    pub hold: Nanos,
    /// True if the search proves the limiter by perturbations.
    pub prove: bool,
}

/// Quantity that a search varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadScale {
    /// Arrivals per second of the open model; rates of all operations change in proportion.
    #[default]
    Rate,
    /// Number of clients of the closed model.
    Clients,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirm {
    pub level: TargetLevel,
    #[serde(rename = "ramp_ns", alias = "ramp")]
    pub ramp: Nanos,
    #[serde(rename = "hold_ns", alias = "hold")]
    pub hold: Nanos,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Soak {
    pub level: TargetLevel,
    #[serde(rename = "duration_ns", alias = "lasting")]
    pub duration: Nanos,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Search for the maximum of each point; `None` compares results under the load of each point.
    pub max: Option<MaxSearch>,
}

/// Level to hold, or a rule that determines it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetLevel {
    /// Fixed level; `maximum` is the maximum if the user knows it.
    #[serde(alias = "given")]
    Absolute {
        level: f64,
        #[serde(alias = "of")]
        maximum: Option<f64>,
    },
    /// Level relative to the maximum; a search finds the maximum first.
    Share { share: f64, max: MaxSearch },
}

impl Goal {
    /// Search with which the goal begins; `None` if the goal does not begin with a search.
    pub fn max_search(&self) -> Option<&MaxSearch> {
        match self {
            Goal::Max(it) | Goal::Sweep(Sweep { max: Some(it) }) => Some(it),
            Goal::Confirm(Confirm { level: TargetLevel::Share { max, .. }, .. })
            | Goal::Soak(Soak { level: TargetLevel::Share { max, .. }, .. }) => Some(max),
            Goal::Once | Goal::Failover | Goal::Confirm(_) | Goal::Soak(_) | Goal::Sweep(_) => None,
        }
    }

    /// Mutable variant of [`Goal::max_search`].
    pub fn max_search_mut(&mut self) -> Option<&mut MaxSearch> {
        match self {
            Goal::Max(it) | Goal::Sweep(Sweep { max: Some(it) }) => Some(it),
            Goal::Confirm(Confirm { level: TargetLevel::Share { max, .. }, .. })
            | Goal::Soak(Soak { level: TargetLevel::Share { max, .. }, .. }) => Some(max),
            Goal::Once | Goal::Failover | Goal::Confirm(_) | Goal::Soak(_) | Goal::Sweep(_) => None,
        }
    }
}

impl MaxSearch {
    /// Defaults: precision 5 %, trial window 20 s, hold 60 s.
    pub const DEFAULT: MaxSearch = MaxSearch {
        scale: LoadScale::Rate,
        from: None,
        limit: None,
        precision: 0.05,
        window: Nanos::from_secs(20),
        hold: Nanos::from_secs(60),
        prove: false,
    };
}
