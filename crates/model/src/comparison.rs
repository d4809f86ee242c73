//! Comparison of runs with a base run.
//!
//! A comparison contains facts: differences between setups, changes of figures, and results of the user's conditions.
//! Values are in seconds, transactions per second, shares (0..=1) or CPUs.

use crate::PerSecond;
use crate::matrix::{ChangeVerdict, TrialStatus};
use crate::validity::InvalidReason;
use schemars::JsonSchema;
use serde::Serialize;

/// Base run and the runs compared with it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    pub base: RunRef,
    /// Compared runs in the order of the request.
    pub runs: Vec<RunComparison>,
    /// Seed of the resampling.
    pub seed: u64,
}

/// Reference to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunRef {
    /// File name of the run without `.dyno`.
    pub name: String,
    /// Start of the run, Unix time in milliseconds.
    pub started_ms: u64,
    /// Version of pgdyno that made the run.
    pub pgdyno_version: String,
}

/// Comparison of one run with the base.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunComparison {
    pub run: RunRef,
    /// Differences between the setups, confounders first.
    pub differences: Vec<Difference>,
    /// Cells that both runs have, in the base's order.
    pub cells: Vec<CellComparison>,
    /// Cells of the base without a counterpart in the run; `only_run` lists the cells of the run without a counterpart
    /// in the base.
    pub only_base: Vec<CellLabel>,
    pub only_run: Vec<CellLabel>,
    pub excluded: Vec<ExcludedTrial>,
    /// Results of the user's conditions, in the order of the conditions, for every cell.
    pub conditions: Vec<ConditionResult>,
}

/// Label of a cell: axis names and values.
pub type CellLabel = Vec<(String, String)>;

/// Setup difference between the base and a compared run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    pub subject: DifferenceSubject,
    /// Path in the experiment or environment: `pooler.mode`, `machine.kernel`.
    pub path: String,
    /// Value in the base; `None` if the base has no value. Untrusted input.
    pub base: Option<String>,
    pub run: Option<String>,
    /// Indexes into [`RunComparison::cells`] of the pairs that differ; empty if all pairs differ.
    pub cells: Vec<usize>,
    /// True if the user declared the difference as expected.
    pub expected: bool,
}

impl Difference {
    /// True if the difference is a confounder: it changes figures but is not what the user compares.
    pub fn is_confounder(&self) -> bool {
        self.subject.is_confounder() && !self.expected
    }
}

/// Subject of a difference, in the order of display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceSubject {
    /// Transport of a hop.
    Transport,
    /// Version or build of PostgreSQL.
    Server,
    /// Limits of a node.
    Limit,
    /// Limit that could not be applied.
    NotApplied,
    Machine,
    Dataset,
    /// Level, model and duration of the load.
    Load,
    /// Scripts and their weights.
    Operation,
    /// Setting or build of a pooler, balancer or service, or a PostgreSQL setting.
    Setting,
    /// Version of pgdyno.
    Generator,
    Objective,
}

impl DifferenceSubject {
    /// True if a difference in this subject always confounds the comparison.
    pub fn is_confounder(self) -> bool {
        self < DifferenceSubject::Setting
    }
}

/// Trial that is excluded from the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExcludedTrial {
    /// True for a trial of the base, false for a trial of the run.
    pub from_base: bool,
    pub cell: CellLabel,
    /// Repetition, from 0.
    pub repetition: u32,
    pub reasons: Vec<InvalidReason>,
    /// Status of the trial. If `reasons` is empty, the trial is excluded because it did not complete.
    pub status: TrialStatus,
}

/// Comparison of one pair of cells.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellComparison {
    pub base: CellLabel,
    pub run: CellLabel,
    /// Figures of all operations together; with several operations also the figures of each operation.
    pub figures: Vec<MetricComparison>,
}

/// Comparison of one figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricComparison {
    pub metric: Metric,
    /// Name of the operation; `None` for all operations together.
    pub operation: Option<String>,
    pub base: MetricEstimate,
    pub run: MetricEstimate,
    pub change: Change,
    pub method: TestMethod,
    /// Two-sided p-value; `None` with too little data for a test.
    pub p: Option<f64>,
    pub verdict: ChangeVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Successful transactions within the window, per second.
    Tps,
    /// 50th percentile of the response time, in seconds.
    P50,
    P90,
    P99,
    P999,
    /// 50th percentile of the service time, in seconds.
    ServiceP50,
    /// 99th percentile of the service time, in seconds.
    ServiceP99,
    /// Failed and unknown transactions as a share of all sent transactions, 0..=1.
    Errors,
    /// Results of replayed requests that differ from the recorded ones as a share of all results, 0..=1.
    Differences,
    /// CPUs used by the generator.
    GeneratorCpu,
    /// CPUs used by the nodes in front of PostgreSQL.
    PoolerCpu,
    ServerCpu,
}

impl Metric {
    pub const ALL: [Metric; 12] = [
        Metric::Tps,
        Metric::P50,
        Metric::P90,
        Metric::P99,
        Metric::P999,
        Metric::ServiceP50,
        Metric::ServiceP99,
        Metric::Errors,
        Metric::Differences,
        Metric::GeneratorCpu,
        Metric::PoolerCpu,
        Metric::ServerCpu,
    ];

    /// Name of the metric in conditions and documents.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Tps => "tps",
            Metric::P50 => "p50",
            Metric::P90 => "p90",
            Metric::P99 => "p99",
            Metric::P999 => "p99.9",
            Metric::ServiceP50 => "service p50",
            Metric::ServiceP99 => "service p99",
            Metric::Errors => "errors",
            Metric::Differences => "differences",
            Metric::GeneratorCpu => "generator cpu",
            Metric::PoolerCpu => "pooler cpu",
            Metric::ServerCpu => "server cpu",
        }
    }

    /// Quantile (0..=1) if the metric is a quantile of response or service times; `None` for other metrics.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Metric::P50 | Metric::ServiceP50 => Some(0.5),
            Metric::P90 => Some(0.9),
            Metric::P99 | Metric::ServiceP99 => Some(0.99),
            Metric::P999 => Some(0.999),
            _ => None,
        }
    }

    pub fn kind(self) -> MetricKind {
        match self {
            Metric::Tps => MetricKind::Rate,
            Metric::Errors | Metric::Differences => MetricKind::Share,
            Metric::GeneratorCpu | Metric::PoolerCpu | Metric::ServerCpu => MetricKind::Processors,
            _ => MetricKind::Seconds,
        }
    }

    /// True if a higher value is better; `None` if neither direction is better in general.
    pub fn higher_is_better(self) -> Option<bool> {
        match self.kind() {
            MetricKind::Rate => Some(true),
            MetricKind::Seconds | MetricKind::Share => Some(false),
            MetricKind::Processors => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    Rate,
    Seconds,
    Share,
    Processors,
}

/// Estimate of one metric of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricEstimate {
    /// Median of the trials, or the value over all seconds of the trials together.
    pub value: f64,
    /// 95 % confidence interval of the value.
    pub interval: Option<(f64, f64)>,
    /// Number of valid trials with this figure, at least 1.
    pub trials: u32,
}

/// Change of a figure from the base to the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Change {
    /// Run ÷ base; `None` if the base's value is 0.
    Ratio { value: Option<f64>, interval: Option<(f64, f64)> },
    /// Run − base; used for shares, because a ratio of shares near 0 is meaningless.
    Difference { value: f64, interval: Option<(f64, f64)> },
}

impl Change {
    /// 95 % confidence interval of the ratio or difference.
    pub fn interval(&self) -> Option<(f64, f64)> {
        match self {
            Change::Ratio { interval, .. } | Change::Difference { interval, .. } => *interval,
        }
    }
}

/// Statistical method that produced an interval and a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TestMethod {
    /// Welch's test of the logarithms of the trials' figures, or of shares; with at least four trials per run.
    Trials { base: u32, run: u32 },
    /// Student's test of the differences between trials that alternated in time, with at least six pairs.
    Pairs { pairs: u32 },
    /// Permutation test of ranks, for figures that are 0 in some trial; with at least four trials per run.
    Ranks { base: u32, run: u32 },
    /// Resampling of blocks of seconds within trials. The interval holds only for the measured periods.
    Blocks { base: Blocks, run: Blocks },
    /// Too little data for a test.
    None { base: u32, run: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Blocks {
    /// Length of a block in seconds.
    #[serde(rename = "length_s")]
    pub length: f64,
    /// Number of blocks without overlap.
    pub count: u32,
    /// Correlation of each second with the next, −1..=1.
    pub correlation: f64,
}

/// Result of a user's condition for one pair of cells.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConditionResult {
    /// Text of the condition as the user wrote it.
    pub text: String,
    /// Index into [`RunComparison::cells`].
    pub cell: usize,
    pub outcome: ConditionOutcome,
    /// Value, ratio or difference that was compared with the bound; `None` if unknown.
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
    pub bound: f64,
    pub unit: ConditionUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionOutcome {
    /// Condition holds: the whole interval is beyond the bound.
    Holds,
    /// Condition does not hold: no value in the interval is beyond the bound.
    DoesNotHold,
    /// Result unknown: the bound lies within the interval, or there is no interval.
    Unknown,
    /// Result unknown: the runs do not have the figure that the condition names.
    Absent,
}

/// Unit of the value of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionUnit {
    /// Relative change: ratio minus 1.
    Relative,
    /// Difference between two shares.
    Points,
    Seconds,
    PerSecond,
    Share,
    Processors,
}

/// Runs of one experiment in order of time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunHistory {
    pub experiment: String,
    /// Runs in order of time, the oldest first.
    pub runs: Vec<DatedRun>,
    /// History of each cell.
    pub series: Vec<CellHistory>,
    /// Seed of the permutations.
    pub seed: u64,
}

/// Run in a history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DatedRun {
    pub run: RunRef,
    /// PostgreSQL version as the server reported it.
    pub server: Option<String>,
}

/// History of one cell over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellHistory {
    pub label: CellLabel,
    /// Points of the runs with a valid trial, the oldest first.
    pub points: Vec<HistoryPoint>,
    pub changes: Vec<ChangePoint>,
    /// True if there are too few points to detect a change.
    pub too_few_points: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// Index into [`RunHistory::runs`].
    pub run: usize,
    /// Number of valid trials.
    pub trials: u32,
    /// Median throughput over the valid trials.
    pub tps: PerSecond,
    pub tps_interval: Option<(f64, f64)>,
    /// Median 99th percentile of the response time over the valid trials, in seconds.
    #[serde(rename = "p99_s")]
    pub p99: Option<f64>,
    #[serde(rename = "p99_interval_s")]
    pub p99_interval: Option<(f64, f64)>,
}

/// Point at which a metric changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChangePoint {
    pub metric: Metric,
    /// Index into [`CellHistory::points`] of the first point after the change.
    pub point: usize,
    /// Median of the metric since the preceding change; `after` is the median until the next change.
    pub before: f64,
    pub after: f64,
    /// p-value of the permutation test that found the change.
    pub p: f64,
    /// Differences between the last run before and the first run after the change.
    pub differences: Vec<Difference>,
}
