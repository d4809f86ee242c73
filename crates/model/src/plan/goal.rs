//! What does an experiment look for?

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What is looked for in every cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Each cell is measured under the load that stands in it.
    #[default]
    Once,
    /// How much each cell holds.
    Max(MaxSearch),
    /// Whether a level is held for long: a smooth ramp towards it, and a hold.
    Confirm(Confirm),
    /// What changes over hours at a level: leaks and drifts.
    Soak(Soak),
    /// A grid: which of the matrix's points is enough, and why.
    Sweep(Sweep),
    /// Whether every acknowledged write outlives the faults, as often as cells are repeated. Cells with
    /// [`control_of`](super::Cell::control_of) stand among the others.
    Failover,
}

/// A search for the highest level that meets the objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaxSearch {
    pub scale: LoadScale,
    /// The first level; what the cell's load says when `None`.
    pub from: Option<f64>,
    /// Not beyond it.
    #[serde(rename = "most")]
    pub limit: Option<f64>,
    /// How far the answer may be from the truth, as a share of it: 0.05 is 5 %.
    pub precision: f64,
    /// Of one trial of the search.
    pub window: Nanos,
    /// Of a confirming trial at the answer.
    pub hold: Nanos,
    /// Whether the cause is proved by changing what may be it.
    pub prove: bool,
}

/// What is turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadScale {
    /// Arrivals per second of all operations together, in their proportion; the open model.
    #[default]
    Rate,
    /// Clients of the closed model.
    Clients,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirm {
    pub level: TargetLevel,
    pub ramp: Nanos,
    pub hold: Nanos,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Soak {
    pub level: TargetLevel,
    #[serde(rename = "lasting")]
    pub duration: Nanos,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The maximum of each point; its response times under the load that stands there when `None`.
    pub max: Option<MaxSearch>,
}

/// How much, once it is not searched for any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetLevel {
    /// So much; `of` tells what the maximum is, if it is known from elsewhere.
    #[serde(rename = "given")]
    Absolute {
        level: f64,
        #[serde(rename = "of")]
        maximum: Option<f64>,
    },
    /// This share of the maximum, which is searched for first.
    Share { share: f64, max: MaxSearch },
}

impl Goal {
    /// The search that it begins with, if it does.
    pub fn max_search(&self) -> Option<&MaxSearch> {
        match self {
            Goal::Max(it) | Goal::Sweep(Sweep { max: Some(it) }) => Some(it),
            Goal::Confirm(Confirm { level: TargetLevel::Share { max, .. }, .. })
            | Goal::Soak(Soak { level: TargetLevel::Share { max, .. }, .. }) => Some(max),
            Goal::Once | Goal::Failover | Goal::Confirm(_) | Goal::Soak(_) | Goal::Sweep(_) => None,
        }
    }

    /// The same, to be changed.
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
    /// Five per cent, twenty seconds each, a minute at the answer.
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
