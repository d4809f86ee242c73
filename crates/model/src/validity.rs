//! Validity of a measurement: verdict, reasons and doubts.

use crate::{Nanos, StatementKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::mem::discriminant;

/// Validity of a measurement, with reasons and doubts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Validity {
    pub verdict: Verdict,
    /// True if no reason other than [`InvalidReason::NoSuccess`] applies: the measurement describes the server, which
    /// may reject every transaction.
    #[serde(skip)]
    pub valid: bool,
    pub reasons: Vec<InvalidReason>,
    pub doubts: Vec<Doubt>,
}

/// Verdict on a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The measurement describes the server.
    Valid,
    /// The measurement describes the server, but the doubts are needed to interpret the figures correctly.
    ValidWithDoubts,
    /// The measurement describes the generator, its host or a smaller load, or no transaction succeeded. `reasons`
    /// lists the reasons.
    #[default]
    Invalid,
}

/// Reason why the figures do not describe the server's work: the generator, its host or a smaller load was measured, or
/// nothing succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum InvalidReason {
    /// Sends were late, and the host alone does not explain it. `lag` is the send lag at `quantile` (0..=1). `jitter`
    /// is the timer jitter at that quantile, absent with too few samples.
    Late {
        quantile: f64,
        #[serde(rename = "lag_ns")]
        lag: Nanos,
        #[serde(rename = "jitter_ns")]
        jitter: Option<Nanos>,
    },
    /// Generator thread was saturated: it worked during the share `busy` (0..=1) of the window.
    Saturated { thread: usize, busy: f64 },
    /// Connections could not be opened because file descriptors or local ports ran out.
    ResourcesExhausted { connections: u64 },
    /// Machine was suspended.
    Suspended {
        #[serde(rename = "duration_ns")]
        duration: Nanos,
    },
    /// Generator was throttled by its CPU limit in this share of the quota's periods, 0..=1.
    Throttled { share: f64 },
    /// Thread did not read the clock for this time, although work was due.
    Stalled {
        thread: usize,
        #[serde(rename = "duration_ns")]
        duration: Nanos,
    },
    /// Clients aborted because their script could not continue; the load was smaller than planned.
    Aborted { clients: u32, total_clients: u32 },
    /// Agent did not complete its part, so the load was smaller than planned. `agent` is its number from 0.
    AgentLost { agent: usize },
    /// Agent learned too late when the window begins, so its first arrivals were late by up to `late`.
    AgentLate {
        agent: usize,
        #[serde(rename = "late_ns")]
        late: Nanos,
    },
    /// Clock of an agent can differ by more than is acceptable: its window may have begun earlier or later than those
    /// of the others by `uncertainty`. The uncertainty is absent if no clock reading arrived.
    ClockUncertain {
        agent: usize,
        #[serde(rename = "uncertainty_ns")]
        uncertainty: Option<Nanos>,
    },
    /// Agents limited the load: one of their threads was late, stalled or saturated. `more` is the smallest number of
    /// additional agents that would help, each with as many threads as one of the `agents`. `busy` is the share of the
    /// window in which their busiest thread worked, 0..=1; absent if every agent was lost.
    AgentsLimit { agents: usize, more: usize, busy: Option<f64> },
    /// No transaction succeeded.
    NoSuccess,
}

/// Doubt: a fact that is needed to interpret a valid measurement correctly.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Doubt {
    /// Sends were late on a host with late timers; fields are as in [`InvalidReason::Late`].
    HostLate {
        quantile: f64,
        #[serde(rename = "lag_ns")]
        lag: Nanos,
        #[serde(rename = "jitter_ns")]
        jitter: Nanos,
    },
    /// Hypervisor took CPU time (steal): 0.1 is a tenth of one CPU.
    Stolen { processors: f64 },
    /// Thread was runnable but had no CPU, in this share of the window, 0..=1.
    Starved { thread: usize, share: f64 },
    /// In-flight cap was reached. Of `arrivals`, `waited` were delayed until a client was idle, and `dropped` were
    /// never sent. The test was no longer open-loop.
    InFlightCapReached { arrivals: u64, waited: u64, dropped: u64 },
    /// Requests of a replay were sent later than recorded, because the previous request of their session was still
    /// executed (`waited`), or were never sent. `wait` is the 99th percentile of the waits.
    BehindSchedule {
        arrivals: u64,
        waited: u64,
        dropped: u64,
        #[serde(rename = "wait_ns")]
        wait: Nanos,
    },
    /// Results of a replay differ from the recorded results: `differing` of `results`.
    ResultsDiffer { results: u64, differing: u64 },
    /// Shares of the operations differ from those of the recording. The difference is largest for `operation`: its share
    /// is `recorded` in the recording and `measured` in the load, 0..=1.
    MixDiffers { operation: String, recorded: f64, measured: f64 },
    /// Service was uneven: some clients completed hardly any transactions.
    UnevenClients { jain: f64, min_transactions: u64, max_transactions: u64 },
    /// Outages. `count` is their number, and `duration` is their total duration. The longest outage lasted from `from`
    /// to `to`, relative to the start of the window.
    Outage {
        count: usize,
        #[serde(rename = "duration_ns")]
        duration: Nanos,
        #[serde(rename = "from_ns")]
        from: Nanos,
        #[serde(rename = "to_ns")]
        to: Nanos,
    },
    /// Load ended early because a feed was exhausted: each of its `rows` is used only once. The load ended at `at`
    /// instead of `planned`; both are relative to the start of the window.
    FeedExhausted {
        rows: u64,
        #[serde(rename = "at_ns")]
        at: Nanos,
        #[serde(rename = "planned_ns")]
        planned: Nanos,
    },
    /// Too few samples for a 99th percentile.
    FewSamples { count: u64 },
    /// Expected HTTP responses have two distinct sizes, which may mean that some are error or login pages. `share` is
    /// the share of responses with the smaller size, 0..=1. Sizes are in bytes.
    SmallAnswers {
        #[serde(rename = "small_bytes")]
        small: u64,
        #[serde(rename = "large_bytes")]
        large: u64,
        share: f64,
    },
    /// Statements return no rows. `statements` is the number of such statements. The other fields describe the most
    /// frequent statement, as in [`EmptyStatement`](crate::EmptyStatement).
    NoRows {
        operation: u16,
        command: u16,
        statement: StatementKind,
        statements: usize,
        count: u64,
        share: f64,
        second: Option<u64>,
    },
    /// Wall clock of the generator was changed by `step` nanoseconds; a negative step sets it back. No duration depends
    /// on the wall clock.
    ClockStepped {
        #[serde(rename = "step_ns")]
        step: i64,
    },
    /// Node that counted far fewer transactions than clients completed, because the load did not pass through the node.
    NodeNotUsed { node: String },
    /// Transaction log lacks transactions, because one of its files could not be written.
    LogIncomplete,
}

impl Doubt {
    /// True if the doubt affects the figures and therefore the verdict. Other doubts are only notes.
    pub fn is_in_verdict(&self) -> bool {
        !matches!(self, Doubt::FewSamples { .. } | Doubt::ClockStepped { .. })
    }

    /// True if the doubt concerns the load itself: an outage, an early end, statements without rows, a node that the
    /// load bypassed, or an incomplete log.
    pub fn concerns_load(&self) -> bool {
        matches!(
            self,
            Doubt::Outage { .. }
                | Doubt::FeedExhausted { .. }
                | Doubt::NoRows { .. }
                | Doubt::MixDiffers { .. }
                | Doubt::NodeNotUsed { .. }
                | Doubt::LogIncomplete
        )
    }

    /// True if both doubts are of the same kind and, if they name a node, of the same node. If so, a summary shows only
    /// one of them.
    pub fn is_like(&self, other: &Doubt) -> bool {
        match (self, other) {
            (Doubt::NodeNotUsed { node }, Doubt::NodeNotUsed { node: other }) => node == other,
            _ => discriminant(self) == discriminant(other),
        }
    }
}

/// Doubt about one or more trials.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DoubtSummary {
    /// The doubt with the figures of the worst trial.
    pub doubt: Doubt,
    /// Index of the worst trial's cell.
    pub cell: usize,
    /// Repetition of the worst trial, from 0.
    pub repetition: u32,
    /// Number of clients, or the in-flight cap, of the worst trial.
    pub clients: u32,
    /// Number of valid trials with the doubt.
    pub trials: u32,
}
