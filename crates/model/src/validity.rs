//! Validity of a measurement: verdict, reasons and doubts

use crate::{Nanos, StatementKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Validity of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Validity {
    pub verdict: Verdict,
    /// True if `reasons` is empty, even if no transaction succeeded.
    #[serde(skip)]
    pub valid: bool,
    pub reasons: Vec<InvalidReason>,
    pub doubts: Vec<Doubt>,
}

/// Verdict on a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Describes the server, perhaps with doubts.
    Valid,
    /// Describes the generator, its host or a smaller load, for the given reasons.
    #[default]
    Invalid,
    /// No transaction succeeded.
    Failed,
}

/// Reason why the measurement describes the generator, its host or a smaller load instead of the server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum InvalidReason {
    /// Late sends that the host alone does not explain. `lag` is the send lag at `quantile` (0..=1); `jitter` is the
    /// timer jitter there, absent with too few samples.
    Late {
        quantile: f64,
        #[serde(rename = "lag_ns")]
        lag: Nanos,
        #[serde(rename = "jitter_ns")]
        jitter: Option<Nanos>,
    },
    /// Saturated generator thread: it worked in this share of the window.
    Saturated { thread: usize, busy: f64 },
    /// Connections that could not be opened because file descriptors or local ports ran out.
    ResourcesExhausted { connections: u64 },
    /// Suspended machine.
    Suspended {
        #[serde(rename = "duration_ns")]
        duration: Nanos,
    },
    /// Generator throttled by its own CPU limit, in this share of the quota's periods.
    Throttled { share: f64 },
    /// Thread that did not read the clock for this long although work was due.
    Stalled {
        thread: usize,
        #[serde(rename = "duration_ns")]
        duration: Nanos,
    },
    /// Clients that aborted because their script could not continue; the load was smaller than planned.
    Aborted {
        clients: u32,
        #[serde(rename = "total_clients")]
        of: u32,
    },
}

/// Fact without which a valid measurement is easily misread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Doubt {
    /// Late sends on a host with late timers: fields as in [`InvalidReason::Late`].
    HostLate {
        quantile: f64,
        #[serde(rename = "lag_ns")]
        lag: Nanos,
        #[serde(rename = "jitter_ns")]
        jitter: Nanos,
    },
    /// CPU steal: 0.1 is a tenth of one CPU.
    Stolen { processors: f64 },
    /// Thread that was runnable but had no CPU, in this share of the window.
    Starved { thread: usize, share: f64 },
    /// In-flight cap reached: of `arrivals`, `waited` were delayed until a client was idle, and `dropped` were never
    /// sent. The test was no longer open-loop.
    InFlightCapReached { arrivals: u64, waited: u64, dropped: u64 },
    /// Uneven service: some clients completed hardly any transactions.
    UnevenClients { jain: f64, fewest: u64, most: u64 },
    /// No transaction succeeded.
    NoSuccess,
    /// Outages: `count` of them, `duration` in total. The longest one was between `from` and `to`, relative to the
    /// start of the window.
    Outage {
        count: usize,
        #[serde(rename = "duration_ns")]
        duration: Nanos,
        #[serde(rename = "from_ns")]
        from: Nanos,
        #[serde(rename = "to_ns")]
        to: Nanos,
    },
    /// Load that ended early because a feed was used up: each of its `rows` is used only once. The load ended `at` this
    /// time instead of the `planned` one; both count from the start of the window.
    FeedExhausted {
        rows: u64,
        #[serde(rename = "at_ns")]
        at: Nanos,
        #[serde(rename = "planned_ns")]
        planned: Nanos,
    },
    /// Too few samples for a 99th percentile.
    FewSamples { count: u64 },
    /// Share (0..=1) of expected HTTP responses with the smaller of two distinct sizes, as error and login pages have.
    /// Sizes in bytes.
    SmallAnswers {
        #[serde(rename = "small_bytes")]
        small: u64,
        #[serde(rename = "large_bytes")]
        large: u64,
        share: f64,
    },
    /// Statement whose answers have no row: the most frequent of `statements` such statements, as in
    /// `EmptyStatement`.
    NoRows {
        operation: u16,
        command: u16,
        statement: StatementKind,
        statements: usize,
        count: u64,
        share: f64,
        second: Option<u64>,
    },
    /// Wall clock of the generator was stepped by `step` nanoseconds, backwards if negative. No duration depends on it.
    ClockStepped {
        #[serde(rename = "step_ns")]
        step: i64,
    },
    /// Node of the path that counted none or far fewer of the transactions: the load took another path.
    NodeNotUsed { node: String },
    /// Transaction log that lacks transactions, because a file of it could not be written.
    LogIncomplete,
}

impl Doubt {
    /// True if the verdict names the doubt: the load ceased or had no effect within the planned window, it took another
    /// path, or its log is incomplete.
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
