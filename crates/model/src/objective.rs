//! Results of objectives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of one objective in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveResult {
    /// Text of the objective as the user wrote it, such as `p99 < 200ms`.
    pub objective: String,
    pub verdict: ObjectiveVerdict,
    pub unit: ObjectiveUnit,
    /// Measured value; `None` if it is unknown.
    pub measured: Option<f64>,
    /// True if the value is only a lower bound.
    ///
    /// The reason is that arrivals were not answered, or that an outage in a closed model prevented users from
    /// arriving.
    #[serde(default)]
    #[serde(alias = "at_least")]
    pub is_lower_bound: bool,
    /// True if the value is within the bound, but the load ended before the planned time. The verdict is then unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_early: bool,
    pub bound: f64,
    /// Number of samples, arrivals or seconds from which the value is computed.
    #[serde(alias = "of")]
    pub samples: u64,
    /// Details of a quantile that has too few samples; `None` if the value is known, or if the objective is not about a
    /// quantile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_few: Option<TooFewSamples>,
}

/// Quantile that cannot be measured, because fewer than ten samples are beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TooFewSamples {
    /// Quantile of the objective, 0..=1.
    pub quantile: f64,
    /// Number of samples that the quantile requires.
    pub needed: u64,
    /// Highest quantile that can be measured (0..=1), and its value in seconds.
    pub nearest: Option<(f64, f64)>,
}

/// Results of one objective in all measured trials, including invalid trials.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ObjectiveSummary {
    /// Text of the objective as the user wrote it.
    pub objective: String,
    pub met: u32,
    pub violated: u32,
    pub unknown: u32,
    /// Trial whose value is farthest beyond the bound, or closest to the bound if no value is beyond it. If no value is
    /// known: a trial whose quantile has too few samples, or `None` if there is no such trial.
    pub worst: Option<WorstResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorstResult {
    /// Index into the experiment's cells.
    pub cell: usize,
    pub result: ObjectiveResult,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveVerdict {
    #[serde(alias = "kept")]
    Met,
    #[serde(alias = "broken")]
    Violated,
    /// Too little data, such as a quantile with fewer than ten samples beyond it. This verdict never counts as met.
    Unknown,
}

/// Unit of an objective's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveUnit {
    Seconds,
    /// Share, 0..=1.
    Share,
    PerSecond,
    /// Number of writes.
    Count,
}
