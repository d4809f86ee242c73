//! Comparison of runs with a base run.
//!
//! Facts: differences between the setups, the change of each figure with its interval, and the results of the user's
//! conditions. Values are seconds, transactions per second, shares of 0..=1, or CPUs.

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
    /// Unix time in milliseconds.
    pub started_ms: u64,
    /// Version of pgdyno.
    pub pgdyno_version: String,
}

/// Comparison of one run with the base.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunComparison {
    pub run: RunRef,
    /// Differences, confounders first.
    pub differences: Vec<Difference>,
    /// Cells that both runs have, in the base's order.
    pub cells: Vec<CellComparison>,
    /// Cells without a counterpart.
    pub only_base: Vec<CellLabel>,
    pub only_run: Vec<CellLabel>,
    pub excluded: Vec<ExcludedTrial>,
    /// Results in the order of the user's conditions, each for every cell.
    pub conditions: Vec<ConditionResult>,
}

/// Label of a cell: axis names and values.
pub type CellLabel = Vec<(String, String)>;

/// Difference between the two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    pub subject: DifferenceSubject,
    /// Path in the experiment or environment: `pooler.mode`, `machine.kernel`.
    pub path: String,
    /// Value in the base; `None` if it is absent. Untrusted input.
    pub base: Option<String>,
    pub run: Option<String>,
    /// Indexes into [`RunComparison::cells`] of the pairs that differ; empty for all.
    pub cells: Vec<usize>,
    /// True if the user declared the difference as intended.
    pub expected: bool,
}

impl Difference {
    /// True if the difference changes the figures without being the subject of the comparison.
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
    /// Limit that was requested but not applied.
    NotApplied,
    Machine,
    Dataset,
    /// Level, model and duration of the load.
    Load,
    /// Scripts and their weights.
    Operation,
    /// Settings and builds of the nodes before PostgreSQL, and PostgreSQL's settings.
    Setting,
    /// Version of pgdyno.
    Generator,
    Objective,
}

impl DifferenceSubject {
    /// True if figures depend on this subject regardless of the other differences.
    pub fn is_confounder(self) -> bool {
        self < DifferenceSubject::Setting
    }
}

/// Trial that is excluded from the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExcludedTrial {
    /// True for a trial of the base, false for one of the run.
    pub from_base: bool,
    pub cell: CellLabel,
    /// Repetition, from 0.
    pub repetition: u32,
    pub reasons: Vec<InvalidReason>,
    /// Status of the trial; without `reasons`, it was excluded because it did not complete.
    pub status: TrialStatus,
}

/// Comparison of one pair of cells.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellComparison {
    pub base: CellLabel,
    pub run: CellLabel,
    /// Figures of all operations together, then by operation if there are several.
    pub figures: Vec<MetricComparison>,
}

/// Comparison of one figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricComparison {
    pub metric: Metric,
    /// Operation; `None` for all together.
    pub operation: Option<String>,
    pub base: MetricEstimate,
    pub run: MetricEstimate,
    pub change: Change,
    pub method: TestMethod,
    /// Two-sided p-value; absent with too little data for a test.
    pub p: Option<f64>,
    pub verdict: ChangeVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Successful transactions within the window, per second.
    Tps,
    /// Response time.
    P50,
    P90,
    P99,
    P999,
    /// Service time.
    ServiceP99,
    /// Failed and unknown transactions as a share of those sent.
    Errors,
    /// CPUs used.
    GeneratorCpu,
    /// CPUs used by the nodes before PostgreSQL.
    PoolerCpu,
    ServerCpu,
}

impl Metric {
    pub const ALL: [Metric; 10] = [
        Metric::Tps,
        Metric::P50,
        Metric::P90,
        Metric::P99,
        Metric::P999,
        Metric::ServiceP99,
        Metric::Errors,
        Metric::GeneratorCpu,
        Metric::PoolerCpu,
        Metric::ServerCpu,
    ];

    /// Name as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Tps => "tps",
            Metric::P50 => "p50",
            Metric::P90 => "p90",
            Metric::P99 => "p99",
            Metric::P999 => "p99.9",
            Metric::ServiceP99 => "service p99",
            Metric::Errors => "errors",
            Metric::GeneratorCpu => "generator cpu",
            Metric::PoolerCpu => "pooler cpu",
            Metric::ServerCpu => "server cpu",
        }
    }

    /// Quantile of response or service time, 0..=1.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Metric::P50 => Some(0.5),
            Metric::P90 => Some(0.9),
            Metric::P99 | Metric::ServiceP99 => Some(0.99),
            Metric::P999 => Some(0.999),
            _ => None,
        }
    }

    pub fn kind(self) -> MetricKind {
        match self {
            Metric::Tps => MetricKind::Rate,
            Metric::Errors => MetricKind::Share,
            Metric::GeneratorCpu | Metric::PoolerCpu | Metric::ServerCpu => MetricKind::Processors,
            _ => MetricKind::Seconds,
        }
    }

    /// True if a higher value is better; `None` if that depends.
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

/// Figure of one of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricEstimate {
    /// Median of the trials, or value over all their seconds together.
    pub value: f64,
    /// 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
    /// Valid trials with this figure, at least 1.
    pub trials: u32,
}

/// Change of a figure from the base to the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Change {
    /// Run ÷ base; `None` if the base's value is 0.
    Ratio { value: Option<f64>, interval: Option<(f64, f64)> },
    /// Run − base, for shares, whose ratio is meaningless near 0.
    Difference { value: f64, interval: Option<(f64, f64)> },
}

impl Change {
    /// 95 % confidence interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        match self {
            Change::Ratio { interval, .. } | Change::Difference { interval, .. } => *interval,
        }
    }
}

/// Method of an interval and a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TestMethod {
    /// Rank test on the trials, at least four of each: exact for any distribution.
    Trials { base: u32, run: u32 },
    /// Rank test on the differences between trials that alternated in time, at least six pairs.
    Pairs { pairs: u32 },
    /// Student's t distribution for the trials, at least three together.
    FewTrials { base: u32, run: u32 },
    /// Blocks of seconds, resampled within trials. The interval applies only to these periods.
    Blocks { base: Blocks, run: Blocks },
    /// Too little data for any method.
    None { base: u32, run: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Blocks {
    /// Length of a block.
    #[serde(rename = "length_s")]
    pub seconds: f64,
    /// Number of blocks without overlap.
    pub count: u32,
    /// Correlation of each second with the next.
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
    /// Value, ratio or difference that was compared with the bound, if known.
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
    pub bound: f64,
    pub unit: ConditionUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionOutcome {
    /// True: the whole interval is beyond the bound.
    Yes,
    /// False: the whole interval is on this side of the bound.
    No,
    /// Bound lies within the interval, or there is no interval.
    Unknown,
    /// Runs do not have this figure.
    Absent,
}

/// Unit of a condition's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionUnit {
    /// Ratio minus 1.
    Relative,
    /// Difference of shares.
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
    /// Runs, the oldest first.
    pub runs: Vec<DatedRun>,
    /// Series by cell.
    pub series: Vec<CellHistory>,
    /// Seed of the permutations.
    pub seed: u64,
}

/// Run of the history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DatedRun {
    pub source: RunRef,
    /// PostgreSQL version as the server reported it.
    pub server: Option<String>,
}

/// History of one cell over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellHistory {
    pub label: CellLabel,
    /// Runs with a valid trial, the oldest first.
    pub points: Vec<HistoryPoint>,
    pub changes: Vec<ChangePoint>,
    /// True if there are too few points to detect a change.
    pub too_few: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// Index into [`RunHistory::runs`].
    pub run: usize,
    /// Valid trials.
    pub trials: u32,
    /// Median over the valid trials.
    pub tps: PerSecond,
    pub tps_interval: Option<(f64, f64)>,
    /// Median over the valid trials, in seconds.
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
    #[serde(rename = "point")]
    pub at: usize,
    /// Median before the change; `after` is the median after it. Each period ends at the next change.
    pub before: f64,
    pub after: f64,
    /// p-value of the permutation test that found the change.
    pub p: f64,
    /// Differences between the last run before and the first run after the change.
    pub differences: Vec<Difference>,
}
