//! What does a careful reader of an experiment need to be told?
//!
//! A finding is a fact with its evidence; a cell is an index into the experiment's. Figures are medians over the cell's
//! valid trials unless they say otherwise. What was not measured is `None`, and a finding that needs it is not made.

mod bound;
mod circumstance;

pub use bound::Bound;
pub use circumstance::{Circumstance, FindingRule, MissingInput, NormalizedRate};

use crate::matrix::ChangeVerdict;
use crate::plan::{PoolMode, Transport};
use serde::Serialize;

/// Which limit a refused connection met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionLimit {
    /// `max_connections`; also where the server's words are not known.
    Server,
    /// `ALTER ROLE … CONNECTION LIMIT`.
    Role,
    /// `ALTER DATABASE … CONNECTION LIMIT`.
    Database,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Finding {
    /// PostgreSQL allowed no further connection: SQLSTATE 53300.
    SlotsExhausted {
        cell: usize,
        limit: ConnectionLimit,
        /// Clients were refused so often, in all trials together.
        refused: u64,
        /// The server's log has it so often, in all trials together.
        logged: u64,
        max_connections: Option<u32>,
        /// The earliest second of any trial, where a log or ticks tell it.
        first_second: Option<u64>,
        /// In so many of all trials.
        trials: u32,
        #[serde(rename = "of")]
        total_trials: u32,
    },
    /// Many clients got nothing, or hardly anything, while an average looks well. Of the trial with the median number.
    ClientsStarved {
        cell: usize,
        /// Clients that got at least a tenth of the mean.
        served: u32,
        /// Clients that got nothing at all.
        without: u32,
        clients: u32,
        /// The pool's mode and size, where there is one.
        pool: Option<(PoolMode, u32)>,
        /// Jain's index over all clients.
        jain: f64,
        /// Transactions per client on average, as if all had been served.
        mean: f64,
    },
    /// Its throughput is compared with no other cell's: not all of its clients did the work that theirs did.
    NotCompared {
        cell: usize,
        #[serde(rename = "why")]
        reason: IncomparableReason,
    },
    /// The machine had no processor to spare: pooler, server and generator took them from each other, and what differs
    /// between cells may be who got them.
    HostBound {
        cell: usize,
        /// Share of the machine's processor time that nobody used, 0..=1.
        idle: f64,
        /// Of the machine.
        processors: f64,
        /// Processors used by the generator.
        generator: Option<f64>,
        /// By what stands before PostgreSQL; `None` where nothing does.
        before: Option<f64>,
        server: Option<f64>,
        /// By whatever else runs on the machine, watching included; `None` where not all of the others is known.
        others: Option<f64>,
    },
    /// The generator took a good part of the machine that it shares with what it measures.
    GeneratorShare {
        cell: usize,
        /// Processors used.
        used: f64,
        /// Of the machine.
        processors: f64,
    },
    /// What the pooler or balancer costs where every hop is of the same kind.
    LikeForLikeCost { cell: usize, with: usize, transport: Transport, compared: ThroughputComparison },
    /// What it would seem to cost beside another transport; `like` is the fair ratio of throughput.
    UnlikeComparison {
        cell: usize,
        with: usize,
        transports: Vec<Transport>,
        with_transport: Transport,
        compared: ThroughputComparison,
        like: f64,
    },
    /// Cells that differ in the pool's mode only do not differ in throughput, as far as so many runs can tell.
    NoDifference {
        cell: usize,
        with: usize,
        mode: PoolMode,
        with_mode: PoolMode,
        compared: ThroughputComparison,
    },
    /// Transactions wait in the pooler.
    QueueInPooler {
        cell: usize,
        node: String,
        /// By its console; `None` where its console does not tell waiting clients from idle ones (Odyssey).
        waiting: Option<f64>,
        /// The longest that the first of the queue had waited, seconds.
        longest: Option<f64>,
        /// Transactions under way by Little's law: throughput × mean time from the send.
        under_way: f64,
        /// Sessions of PostgreSQL in a transaction or a statement.
        busy: Option<f64>,
    },
    /// Connections wait in the balancer for a slot of its server.
    QueueInBalancer {
        cell: usize,
        node: String,
        waiting: f64,
        /// How long the last connections waited on average, seconds.
        wait: Option<f64>,
        maxconn: Option<u32>,
    },
    /// The pooler's processor is the limit, although its console may say that the pool is full.
    PoolerBound {
        cell: usize,
        node: String,
        /// Processors used, and how many it could use.
        cpu: f64,
        #[serde(rename = "of_cpu")]
        cpu_limit: f64,
        /// Share of the quota's periods in which it was held back.
        throttled: Option<f64>,
        /// Processors that stood still therefore.
        #[serde(rename = "stood_still")]
        throttled_cpu: Option<f64>,
        pool: u32,
        /// Servers given to clients, by its console.
        lent: Option<f64>,
        /// Sessions of PostgreSQL that ran a statement.
        active: f64,
    },
    /// Every server of the pool is lent, most of them are at work in PostgreSQL and wait there for nothing in particular,
    /// and the pooler has processor time to spare.
    PoolBound { cell: usize, node: String, pool: u32, lent: f64, busy: f64, cpu: f64, of_cpu: f64 },
    /// PostgreSQL's processor is the limit.
    ServerBound {
        cell: usize,
        node: String,
        cpu: f64,
        #[serde(rename = "of_cpu")]
        cpu_limit: f64,
        throttled: Option<f64>,
        #[serde(rename = "stood_still")]
        throttled_cpu: Option<f64>,
    },
    /// Active sessions wait for one thing most of the time.
    SessionsWait {
        cell: usize,
        /// As `pg_stat_activity` names it, `Lock/transactionid`.
        event: String,
        /// Of active sessions, 0..=1.
        share: f64,
        active: f64,
    },
    /// Transactions failed, or what became of them is unknown, for a reason that no other finding tells. Sums over all trials.
    Failures {
        cell: usize,
        /// SQLSTATE or `net 104`, and the condition's name where it has one.
        code: String,
        name: Option<&'static str>,
        count: u64,
        /// Transactions that were sent.
        of: u64,
    },
    /// Of a thousand transactions; the interval is of 95 % over the runs.
    Deadlocks { cell: usize, of_thousand: f64, interval: Option<(f64, f64)>, runs: u32 },
    /// Deadlock rates of the two are no comparison: in one more transactions were under way in PostgreSQL at once.
    NotConcurrent { cell: usize, with: usize, busy: f64, with_busy: f64 },
    /// All clients were busy, so that arrivals waited: an open test became a closed one. Sums over all trials.
    #[serde(rename = "run_is_closed")]
    NotOpenLoop {
        cell: usize,
        arrivals: u64,
        waited: u64,
        dropped: u64,
        in_flight_max: u32,
        trials: u32,
        #[serde(rename = "of")]
        total_trials: u32,
    },
    /// A node still held clients when the load had ended. The most of any trial.
    ClientsLeftAfterTest { cell: usize, node: String, clients: u64, trials: u32, of: u32 },
    /// Answers that were as expected by their status were of other sizes than others to the same request: error or log-in
    /// pages have sizes of their own.
    AnswerSizes {
        cell: usize,
        operation: String,
        /// Of an operation of several requests: the step's name, or its method and target.
        step: Option<String>,
        change: SizeChange,
        /// Share of the small ones among the answers to this request, 0..=1.
        share: f64,
    },
    /// What else holds the throughput where it is.
    Bound {
        cell: usize,
        #[serde(rename = "by")]
        bound: Bound,
    },
    /// Under which circumstances it was measured, as far as they decide what the figures mean.
    Circumstance {
        cell: usize,
        #[serde(rename = "it")]
        circumstance: Circumstance,
    },
    /// The open test of a setup tells of response times that the closed one beside it does not know.
    OpenAndClosed {
        cell: usize,
        /// The closed one.
        with: usize,
        /// Arrivals per second.
        offered: f64,
        open: CellResponse,
        closed: CellResponse,
    },
    /// Two feeds of the same setup tell of two systems.
    FeedsDiffer {
        cell: usize,
        with: usize,
        /// The one that differs.
        feed: String,
        mine: CellResponse,
        other: CellResponse,
        /// What each read.
        read: ReadVolume,
        with_read: ReadVolume,
    },
}

/// How sizes of answers differ. Medians, in bytes of the body as received.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SizeChange {
    /// From this second of the window on, in one trial at least.
    Fell { before: u64, after: u64, second: u64 },
    /// Of two separate populations.
    TwoPopulations { small: u64, large: u64 },
    /// Against another cell that was asked the same.
    SmallerThan { with: usize, here: u64, there: u64 },
}

/// How a cell answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellResponse {
    /// Ended well, per second.
    pub delivered: f64,
    /// Of response time, seconds; absent with too few samples.
    pub p99: Option<f64>,
    /// Valid runs.
    pub runs: u32,
}

/// What a transaction had read, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ReadVolume {
    /// Blocks that were not in PostgreSQL's shared buffers.
    pub blocks: Option<f64>,
    /// Bytes that came from a disk: its control group's, else its processes'.
    pub disk: Option<f64>,
}

/// Why a cell's throughput is not compared: the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum IncomparableReason {
    SlotsExhausted,
    ClientsStarved,
    /// So many of a thousand transactions failed.
    Errors {
        of_thousand: f64,
    },
}

/// Two cells' throughput: the first by the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThroughputComparison {
    /// Of the medians.
    pub ratio: f64,
    /// Of 95 %, by resampling runs; `None` with fewer than three of either.
    pub interval: Option<(f64, f64)>,
    /// Of a permutation test.
    pub p: f64,
    /// All comparisons of one kind are decided together.
    pub verdict: ChangeVerdict,
    /// Valid runs of the cell, and of the other.
    pub runs: (u32, u32),
}
