//! What came of an objective?

use serde::Serialize;

/// Whether one trial kept one objective.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// As the user wrote it, such as `p99 < 200ms`.
    pub objective: String,
    pub verdict: Verdict,
    pub unit: Unit,
    /// What was measured, where it is known.
    pub measured: Option<f64>,
    pub bound: f64,
    /// How many samples, arrivals or seconds it was computed from.
    pub of: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Kept,
    Broken,
    /// There was too little to tell, such as a quantile with fewer than ten samples beyond it. Never the same as kept.
    Unknown,
}

/// What an objective's figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Seconds,
    /// 0..=1.
    Share,
    PerSecond,
}
