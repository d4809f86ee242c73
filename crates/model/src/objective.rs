//! What came of an objective?

use serde::Serialize;

/// Whether one trial kept one objective.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectiveResult {
    /// As the user wrote it, such as `p99 < 200ms`.
    pub objective: String,
    pub verdict: ObjectiveVerdict,
    pub unit: ObjectiveUnit,
    /// What was measured, where it is known.
    pub measured: Option<f64>,
    /// Whether the figure is a lower bound: arrivals were never answered, or an outage of a closed model kept users from
    /// arriving.
    pub at_least: bool,
    pub bound: f64,
    /// How many samples, arrivals or seconds it was computed from.
    #[serde(rename = "of")]
    pub samples: u64,
}

/// How one objective fared in all trials that were measured, also those that are invalid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectiveSummary {
    /// As the user wrote it.
    pub objective: String,
    #[serde(rename = "kept")]
    pub met: u32,
    #[serde(rename = "broken")]
    pub violated: u32,
    pub unknown: u32,
    /// The trial that came nearest to its bound or went farthest beyond it, where any figure is known.
    pub worst: Option<WorstResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstResult {
    /// Index into the experiment's cells.
    pub cell: usize,
    #[serde(rename = "judged")]
    pub result: ObjectiveResult,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveVerdict {
    #[serde(rename = "kept")]
    Met,
    #[serde(rename = "broken")]
    Violated,
    /// There was too little to tell, such as a quantile with fewer than ten samples beyond it. Never the same as kept.
    Unknown,
}

/// What an objective's figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveUnit {
    Seconds,
    /// 0..=1.
    Share,
    PerSecond,
}
