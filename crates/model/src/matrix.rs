//! Matrix of an experiment: figures, trials and placement of each cell.
//!
//! The values are plain data. Every cell's figures include placement and transport, because figures are not comparable
//! without them.

use crate::message::Message;
use crate::objective::ObjectiveSummary;
use crate::plan::{PoolMode, Replication, Transport};
use crate::stop::StopEvent;
use crate::validity::{Doubt, DoubtSummary, InvalidReason, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of all cells of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Matrix {
    /// Rows in the order of the experiment file.
    pub rows: Vec<Row>,
    /// Index of the row with which all other rows are compared; `None` without a baseline, or if rows have different
    /// baselines.
    pub baseline: Option<usize>,
    /// Seed of the resampling behind the intervals.
    pub seed: u64,
    /// Verdict on all trials: `valid` if all trials are valid, `invalid` if all trials are invalid.
    pub verdict: Verdict,
    /// Doubts in the verdicts of valid trials: each kind of doubt once, the most frequent kind first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<DoubtSummary>,
    /// Results of the objectives, in the order of the file.
    pub objectives: Vec<ObjectiveSummary>,
    /// CPUs used by the monitoring of the stack: median over the trials.
    pub monitoring_cpu: Option<f64>,
}

/// Figures of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Axis names and values.
    pub label: Vec<(String, String)>,
    /// Index of the row with which this row is compared; `None` for a baseline, or without a baseline.
    pub baseline: Option<usize>,
    /// Path to PostgreSQL, which is the last node.
    pub hops: Vec<Hop>,
    /// Replication of the last node, if it has replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replication: Option<Replication>,
    /// Number of clients, or the in-flight cap of an open model.
    pub clients: u32,
    /// CPUs available to the generator.
    pub generator: Placement,
    /// Requested limits that could not be applied; the figures were measured without them.
    pub unapplied_limits: Vec<UnappliedLimit>,
    /// Trials by repetition.
    pub trials: Vec<Trial>,
    /// Available figures, computed from valid trials only.
    pub figures: Vec<Estimate>,
}

/// Limit that was requested but not applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct UnappliedLimit {
    /// `generator` or a node's name.
    pub node: String,
    /// Limit as in the experiment file: `cpu`, `cpus`, `memory`, …
    pub limit: String,
    #[serde(alias = "why")]
    pub reason: Message,
}

/// Node and the transport into it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Hop {
    pub node: String,
    /// Product name of the node.
    pub product: &'static str,
    pub mode: Option<PoolMode>,
    /// Pool size (pooler), `maxconn` (balancer) or `max_connections` (PostgreSQL).
    pub size: Option<u32>,
    /// Transport into the node; `None` for an attached node, whose address determines it.
    pub transport: Option<Transport>,
    pub placement: Placement,
}

/// CPUs of a node or of the generator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Placement {
    /// CPU quota as a number of CPUs; `None` means unlimited.
    pub cpu: Option<f64>,
    /// Numbers of the allowed CPUs; empty means all.
    pub cpus: Vec<u32>,
}

/// Trial of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trial {
    pub repetition: u32,
    pub status: TrialStatus,
    /// True if the trial was measured and is valid, and a transaction succeeded.
    pub valid: bool,
    /// Verdict on the measurement; `invalid` if nothing was measured.
    pub verdict: Verdict,
    /// Reasons why the trial is invalid.
    pub reasons: Vec<InvalidReason>,
    /// Doubts that the trial's verdict shows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// Status of a trial at its end.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TrialStatus {
    /// Trial completed.
    Done,
    /// Trial stopped by a stop rule; the measurement until then counts.
    Stopped { event: StopEvent },
    /// Trial interrupted by the user; the measurement does not count.
    Interrupted,
    /// Trial not measured, because a component is not available.
    Skipped { reason: Message },
    /// Trial not measured, because the environment failed.
    Failed { reason: Message },
}

/// Estimate of one figure of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    pub figure: Figure,
    pub median: f64,
    /// True if the median is only a lower bound, because arrivals were not answered.
    pub is_lower_bound: bool,
    /// 95 % confidence interval by resampling runs; `None` with fewer than three runs.
    pub interval: Option<(f64, f64)>,
    /// Number of runs, at least 1.
    pub runs: u32,
    /// Comparison with the baseline; `None` for the baseline itself, or if the baseline does not have this figure.
    pub vs_baseline: Option<BaselineComparison>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Successful transactions per second.
    Tps,
    /// 50th percentile of the response time, in seconds.
    P50,
    P99,
    /// Sent transactions of one trial.
    Requests,
    /// Failed and unknown transactions of one trial.
    Failed,
    /// Failed and unknown transactions per thousand sent transactions.
    Errors,
    /// Dropped arrivals per thousand arrivals.
    Dropped,
    /// Refused connections per run.
    Refused,
    /// Deadlocks per thousand transactions, from the clients' errors or the server's log, whichever count is larger.
    Deadlocks,
    /// Number of clients that completed a transaction within the window.
    Served,
    /// Number of clients that completed less than a tenth of the mean number of transactions, including clients that
    /// completed none.
    Starved,
    /// Longest replication lag of any replica within the window, in seconds. Only for cells with replicas.
    ReplicationLag,
    /// CPUs used by the nodes before PostgreSQL.
    PoolerCpu,
    /// CPUs used by PostgreSQL.
    ServerCpu,
    /// Seconds until throughput reached nine tenths of the steady throughput, for cells that start with cold caches.
    TimeToSteady,
}

/// Comparison of a figure with the same figure of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BaselineComparison {
    /// Ratio of the medians; `None` if the baseline's median is 0.
    pub ratio: Option<f64>,
    /// 95 % confidence interval by resampling the runs of both cells; `None` if either has fewer than three runs.
    pub interval: Option<(f64, f64)>,
    /// p-value: probability of a difference at least this large if the cells are equal; `None` with too few runs for a
    /// test.
    pub p: Option<f64>,
    pub verdict: ChangeVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeVerdict {
    NoEvidence,
    Lower,
    Higher,
    /// Too few runs for a test, which requires four runs of each cell.
    TooFewRuns,
}

impl Matrix {
    /// True if other rows are compared with the row at this index.
    pub fn is_baseline(&self, row: usize) -> bool {
        self.baseline == Some(row) || self.rows.iter().any(|it| it.baseline == Some(row))
    }
}

impl Row {
    pub fn estimate(&self, figure: Figure) -> Option<&Estimate> {
        self.figures.iter().find(|it| it.figure == figure)
    }

    pub fn valid_trials(&self) -> usize {
        self.trials.iter().filter(|it| it.valid).count()
    }
}
