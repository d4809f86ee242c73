//! How do runs stand beside another one?
//!
//! Facts: what differs in what was measured, each figure's change with its interval, and what came of the user's
//! conditions. Values are seconds, transactions per second, shares of 0..=1, or processors.

use crate::PerSecond;
use crate::matrix::{ChangeVerdict, TrialStatus};
use crate::summary::InvalidReason;
use serde::Serialize;

/// One base and what is compared with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub base: RunRef,
    /// In the order in which they were asked for.
    pub runs: Vec<RunComparison>,
    /// Decided the resampling.
    pub seed: u64,
}

/// A run that figures are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunRef {
    /// The run's file without `.dyno`.
    pub name: String,
    /// Unix time in milliseconds.
    #[serde(rename = "begun_ms")]
    pub started_ms: u64,
    /// Version of pgdyno.
    #[serde(rename = "program")]
    pub pgdyno_version: String,
}

/// One run beside the base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunComparison {
    pub run: RunRef,
    /// What makes the comparison unfair first.
    pub differences: Vec<Difference>,
    /// Cells that both have, in the base's order.
    pub cells: Vec<CellComparison>,
    /// Cells that have no counterpart.
    pub only_base: Vec<CellLabel>,
    pub only_run: Vec<CellLabel>,
    #[serde(rename = "left_out")]
    pub excluded: Vec<ExcludedTrial>,
    /// In the order of the user's conditions, each for every cell.
    pub conditions: Vec<ConditionResult>,
}

/// A cell's place: by axis, its name and what it is there.
pub type CellLabel = Vec<(String, String)>;

/// Something that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub subject: DifferenceSubject,
    /// Where in the experiment or the stand: `pooler.mode`, `machine.kernel`.
    pub path: String,
    /// What it is there; `None` where there is none. Of foreign origin.
    pub base: Option<String>,
    pub run: Option<String>,
    /// Pairs of cells that differ so: indices into [`Beside::cells`]; empty for all.
    pub cells: Vec<usize>,
    /// The user said that it was changed on purpose.
    pub expected: bool,
}

impl Difference {
    /// It changes the figures without being what is compared.
    pub fn is_confounder(&self) -> bool {
        self.subject.is_confounder() && !self.expected
    }
}

/// What a difference is about, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceSubject {
    /// What the bytes travel over on one hop.
    Transport,
    /// Which PostgreSQL it is.
    Server,
    /// What a node may use of the machine.
    Limit,
    /// A limit that was asked for and does not hold.
    NotApplied,
    Machine,
    Dataset,
    /// How much, in which model, for how long.
    Load,
    /// What is done: scripts and their weights.
    Operation,
    /// Settings and builds of what stands before PostgreSQL, and PostgreSQL's settings.
    Setting,
    /// Version of pgdyno.
    Generator,
    Objective,
}

impl DifferenceSubject {
    /// A figure changes with it, whatever else was changed.
    pub fn is_confounder(self) -> bool {
        self < DifferenceSubject::Setting
    }
}

/// A trial that does not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExcludedTrial {
    /// Of the base, not of the run.
    #[serde(rename = "of_base")]
    pub from_base: bool,
    pub cell: CellLabel,
    /// From 0.
    pub repetition: u32,
    pub reasons: Vec<InvalidReason>,
    /// Where nothing speaks against the generator, it did not come to its end.
    pub status: TrialStatus,
}

/// One pair of cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellComparison {
    pub base: CellLabel,
    pub run: CellLabel,
    /// Of all operations together first, then by operation where there are several.
    pub figures: Vec<MetricComparison>,
}

/// One figure of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricComparison {
    pub metric: Metric,
    /// Of all together when `None`.
    pub operation: Option<String>,
    pub base: MetricEstimate,
    pub run: MetricEstimate,
    pub change: Change,
    pub method: TestMethod,
    /// Two-sided; absent where there is too little to test.
    pub p: Option<f64>,
    pub verdict: ChangeVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Ended well within the window, per second.
    Tps,
    /// Of response time.
    P50,
    P90,
    P99,
    P999,
    /// Of service time.
    ServiceP99,
    /// Failed and unknown of all that were sent.
    Errors,
    /// Processors used.
    GeneratorCpu,
    /// By what stands before PostgreSQL.
    #[serde(rename = "before_cpu")]
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

    /// As a user writes it.
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

    /// 0..=1, of response or service time.
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

    /// Whether more of it is better; `None` where that depends.
    pub fn higher_is_better(self) -> Option<bool> {
        match self.kind() {
            MetricKind::Rate => Some(true),
            MetricKind::Seconds | MetricKind::Share => Some(false),
            MetricKind::Processors => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    Rate,
    Seconds,
    Share,
    Processors,
}

/// A figure of one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MetricEstimate {
    /// Median of the trials, or of all their seconds together.
    pub value: f64,
    /// Of 95 %.
    pub interval: Option<(f64, f64)>,
    /// Valid ones that have it, at least 1.
    pub trials: u32,
}

/// The run beside the base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Change {
    /// Run by base; `None` if the base's is 0.
    Ratio { value: Option<f64>, interval: Option<(f64, f64)> },
    /// Run minus base: of shares, whose ratio means nothing near 0.
    Difference { value: f64, interval: Option<(f64, f64)> },
}

impl Change {
    /// Of 95 %.
    pub fn interval(&self) -> Option<(f64, f64)> {
        match self {
            Change::Ratio { interval, .. } | Change::Difference { interval, .. } => *interval,
        }
    }
}

/// What an interval and a verdict were computed from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TestMethod {
    /// Ranks of the trials of both, at least four of each: exact, whatever their distribution.
    Trials { base: u32, run: u32 },
    /// Ranks of the differences between trials that were measured side by side, at least six pairs.
    Pairs { pairs: u32 },
    /// Student's distribution for the trials of both, at least three together.
    FewTrials { base: u32, run: u32 },
    /// Blocks of seconds, resampled within trials: it tells of these stretches of time only.
    Blocks { base: Blocks, run: Blocks },
    /// There is too little for any of them.
    None { base: u32, run: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Blocks {
    /// Length of each.
    pub seconds: f64,
    /// That fit beside each other.
    pub count: u32,
    /// Correlation of each second with the next.
    pub correlation: f64,
}

/// What came of one of the user's conditions in one pair of cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionResult {
    /// As the user wrote it.
    pub text: String,
    /// Index into [`Beside::cells`].
    pub cell: usize,
    pub outcome: ConditionOutcome,
    /// What was compared with the bound, where it is known: a value, a ratio, or a difference.
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
    pub bound: f64,
    pub unit: ConditionUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionOutcome {
    /// The whole interval is beyond the bound.
    Yes,
    /// The whole interval is on this side.
    No,
    /// The bound lies within the interval, or there is none.
    Unknown,
    /// The runs do not have this figure.
    Absent,
}

/// What a condition's figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionUnit {
    /// A ratio minus 1.
    Relative,
    /// A difference of shares.
    Points,
    Seconds,
    PerSecond,
    Share,
    Processors,
}

/// The runs of one experiment in the order of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunHistory {
    pub experiment: String,
    /// The oldest first.
    pub runs: Vec<DatedRun>,
    /// By cell.
    pub series: Vec<CellHistory>,
    /// Decided the permutations.
    pub seed: u64,
}

/// One run of the series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DatedRun {
    pub source: RunRef,
    /// PostgreSQL, as it told itself.
    pub server: Option<String>,
}

/// One cell over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellHistory {
    pub label: CellLabel,
    /// Those with a valid trial, the oldest first.
    pub points: Vec<HistoryPoint>,
    pub changes: Vec<ChangePoint>,
    /// Too few points for any change to be found.
    pub too_few: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// Index into [`History::runs`].
    pub run: usize,
    /// Valid trials.
    pub trials: u32,
    /// Median over them.
    pub tps: PerSecond,
    pub tps_interval: Option<(f64, f64)>,
    /// Median over them, seconds.
    pub p99: Option<f64>,
    pub p99_interval: Option<(f64, f64)>,
}

/// From here on it was another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangePoint {
    pub metric: Metric,
    /// Index into [`CellHistory::points`] of the first after it.
    pub at: usize,
    /// Medians of the stretch before and the one after, each up to the next change.
    pub before: f64,
    pub after: f64,
    /// Of the permutation test that found it.
    pub p: f64,
    /// Between the last run before and the first after.
    pub differences: Vec<Difference>,
}
