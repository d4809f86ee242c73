//! What came out, cell by cell?
//!
//! Plain values between what computes them and what shows them. Placement and transport stand beside every cell's figures,
//! because a figure means nothing without them.

use crate::objective::ObjectiveSummary;
use crate::plan::{PoolMode, Replication, Transport};
use crate::stop::StopEvent;
use crate::summary::{Doubt, InvalidReason};
use serde::Serialize;

/// All cells of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// In the order of the experiment's file.
    pub rows: Vec<Row>,
    /// Which row the others are compared with.
    pub baseline: Option<usize>,
    /// Decided the resampling.
    pub seed: u64,
    /// What came of the objectives, in the order of the file.
    pub objectives: Vec<ObjectiveSummary>,
    /// Processors that watching the stack took, median over the trials.
    #[serde(rename = "watching")]
    pub observer_cpu: Option<f64>,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// By axis: its name, and what it is here.
    pub label: Vec<(String, String)>,
    /// The way to PostgreSQL, the entrance first; the last one is PostgreSQL.
    pub hops: Vec<Hop>,
    /// Of the last one, where it has replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replication: Option<Replication>,
    /// Clients, or what may be in flight in an open model.
    pub clients: u32,
    /// Processors that the generator may use.
    pub generator: Placement,
    /// Limits that were asked for, but could not be applied: figures are without them.
    #[serde(rename = "not_applied")]
    pub unapplied_limits: Vec<UnappliedLimit>,
    /// Every trial, by repetition.
    pub trials: Vec<Trial>,
    /// Those that were measured; of the valid trials only.
    pub figures: Vec<Estimate>,
}

/// A limit that was asked for and does not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnappliedLimit {
    /// `generator` or a node's name.
    pub node: String,
    /// As in the experiment's file: `cpu`, `cpus`, `memory`, …
    pub limit: String,
    #[serde(rename = "why")]
    pub reason: String,
}

/// One node and the way into it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hop {
    pub node: String,
    /// `PostgreSQL`, `PgBouncer`, `Odyssey`, `HAProxy`.
    pub product: &'static str,
    pub mode: Option<PoolMode>,
    /// Of a pool; of HAProxy, `maxconn`; of PostgreSQL, `max_connections`.
    pub size: Option<u32>,
    /// Of the bytes on the way into it; `None` where it was there before and its address tells.
    #[serde(rename = "entrance")]
    pub transport: Option<Transport>,
    pub placement: Placement,
}

/// Where something ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Placement {
    /// Processors it was limited to; without a limit when `None`.
    pub cpu: Option<f64>,
    /// Numbers of the processors it might run on; all when empty.
    pub cpus: Vec<u32>,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    pub repetition: u32,
    pub status: TrialStatus,
    /// Whether it counts: it was measured, and nothing speaks against the generator.
    pub valid: bool,
    /// What speaks against it.
    pub reasons: Vec<InvalidReason>,
    /// Time without a success, of [`Doubt::Outage`]'s kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<Doubt>,
}

/// What became of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TrialStatus {
    /// To its end.
    Done,
    /// A stop rule fired: what was measured until then counts.
    Stopped { fired: StopEvent },
    /// By the user; what was measured until then does not count.
    Interrupted,
    /// Nothing was measured, because a component cannot be had.
    Skipped {
        #[serde(rename = "why")]
        reason: String,
    },
    /// Our surroundings failed.
    Failed {
        #[serde(rename = "why")]
        reason: String,
    },
}

/// One figure of one cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub figure: Figure,
    pub median: f64,
    /// Whether the median is a time that is known to be longer only: that of arrivals without an answer.
    pub at_least: bool,
    /// Of 95 %, by resampling runs; `None` with fewer than three.
    pub interval: Option<(f64, f64)>,
    /// How many it was computed from, at least 1.
    pub runs: u32,
    /// Beside the baseline; `None` for the baseline itself, and where it lacks the figure.
    #[serde(rename = "against")]
    pub vs_baseline: Option<BaselineComparison>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Transactions that ended well, per second.
    Tps,
    /// Of response time, seconds.
    P50,
    P99,
    /// Failed and unknown of a thousand transactions that were sent.
    Errors,
    /// Dropped of a thousand arrivals.
    Dropped,
    /// Connections that were refused, in one run.
    Refused,
    /// Of a thousand transactions: by what clients were told or the server logged, whichever is more.
    Deadlocks,
    /// Clients that were served within the window at all.
    Served,
    /// Clients that got less than a tenth of the mean, those without anything included.
    #[serde(rename = "hardly")]
    Starved,
    /// Processors used by what stands before PostgreSQL.
    PoolerCpu,
    /// Processors used by PostgreSQL.
    ServerCpu,
    /// Seconds until nine tenths of the steady rate were reached, of cells that begin cold.
    #[serde(rename = "steady")]
    TimeToSteady,
}

/// A figure beside the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BaselineComparison {
    /// Median by median; `None` where the baseline's is 0.
    pub ratio: Option<f64>,
    /// Of 95 %, by resampling the runs of both; `None` with fewer than three of either.
    pub interval: Option<(f64, f64)>,
    /// Probability of such a difference, or a larger one, if there was none: of a permutation test.
    pub p: f64,
    pub verdict: ChangeVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeVerdict {
    NoEvidence,
    Lower,
    Higher,
    /// With so few runs the test cannot tell, whatever they show: it takes four of each.
    TooFewRuns,
}

impl Row {
    pub fn estimate(&self, figure: Figure) -> Option<&Estimate> {
        self.figures.iter().find(|it| it.figure == figure)
    }

    pub fn valid_trials(&self) -> usize {
        self.trials.iter().filter(|it| it.valid).count()
    }
}
