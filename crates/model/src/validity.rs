//! Validity of a measurement: verdict, reasons and doubts.

use crate::{Nanos, StatementKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Validity of a measurement, with reasons and doubts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Validity {
    pub verdict: Verdict,
    /// True if `reasons` is empty. The measurement is then valid even if no transaction succeeded.
    #[serde(skip)]
    pub valid: bool,
    pub reasons: Vec<InvalidReason>,
    pub doubts: Vec<Doubt>,
}

/// Verdict on a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The measurement describes the server, perhaps with doubts.
    Valid,
    /// The measurement describes the generator, its host or a smaller load; the reasons say which.
    #[default]
    Invalid,
    /// The measurement contains no successful transaction.
    Failed,
}

/// Reason why the measurement describes the generator, its host or a smaller load instead of the server.
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
    /// Thread did not read the clock for this time although work was due.
    Stalled {
        thread: usize,
        #[serde(rename = "duration_ns")]
        duration: Nanos,
    },
    /// Clients aborted because their script could not continue; the load was smaller than planned.
    Aborted {
        clients: u32,
        #[serde(rename = "total_clients")]
        of: u32,
    },
}

/// Doubt: a fact without which a valid measurement is easily misread.
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
    /// Service was uneven: some clients completed hardly any transactions.
    UnevenClients { jain: f64, min_transactions: u64, max_transactions: u64 },
    /// No transaction succeeded.
    NoSuccess,
    /// Outages: `count` of them, with a total of `duration`. The longest one was between `from` and `to`, relative to
    /// the start of the window.
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
    /// Expected HTTP responses have two distinct sizes, as error and login pages cause. The share (0..=1) is that of
    /// the smaller size; sizes are in bytes.
    SmallAnswers {
        #[serde(rename = "small_bytes")]
        small: u64,
        #[serde(rename = "large_bytes")]
        large: u64,
        share: f64,
    },
    /// Statement answers have no row. The fields describe the most frequent of `statements` such statements, as in
    /// [`EmptyStatement`](crate::EmptyStatement).
    NoRows {
        operation: u16,
        command: u16,
        statement: StatementKind,
        statements: usize,
        count: u64,
        share: f64,
        second: Option<u64>,
    },
    /// Wall clock of the generator was stepped by `step` nanoseconds; negative steps go back. No duration depends on
    /// it.
    ClockStepped {
        #[serde(rename = "step_ns")]
        step: i64,
    },
    /// Node of the path counted none or far fewer of the transactions: the load took another path.
    NodeNotUsed { node: String },
    /// Transaction log lacks transactions, because one of its files could not be written.
    LogIncomplete,
}

impl Doubt {
    /// True if the verdict names the doubt. Such a doubt means that the load ceased or had no effect, took another
    /// path, or has an incomplete log.
    pub fn is_in_verdict(&self) -> bool {
        matches!(
            self,
            Doubt::Outage { .. }
                | Doubt::FeedExhausted { .. }
                | Doubt::NoRows { .. }
                | Doubt::NodeNotUsed { .. }
                | Doubt::LogIncomplete
        )
    }
}
