//! Under which circumstances was a cell measured?
//!
//! They do not hold a throughput up, but decide what it means.

use super::ReadVolume;
use crate::summary::InvalidReason;
use serde::Serialize;

/// Medians over the cell's valid trials, unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Circumstance {
    /// What the feed leads to fits into the server's memory, and its table does not: a cache was measured.
    #[serde(rename = "feed_fits")]
    FeedFitsCache {
        feed: String,
        rows: u64,
        distinct: u64,
        /// Of the table's rows, 0..=1.
        share: f64,
        /// Bytes: what it touches, of its table, and that the server may use.
        touched: u64,
        bytes: u64,
        memory: u64,
        /// What was read, when it was measured.
        read: ReadVolume,
    },
    /// A service has more connections than the pooler behind it: a client of the one waits in the other.
    #[serde(rename = "pools_in_row")]
    ChainedPools {
        service: String,
        /// Connections that the service may have, all of its copies together.
        connections: f64,
        pooler: String,
        pool: u32,
        /// How often the pooler gave a server to a client, by a transaction; `None` where its console does not tell.
        lent: Option<f64>,
        /// SET, RESET and DISCARD by a transaction.
        sets: Option<f64>,
        /// Connections of the service that wait in the pooler.
        waiting: Option<f64>,
    },
    /// Connections are made anew all the time, or statements cancelled.
    #[serde(rename = "storm")]
    ConnectionStorm {
        /// Sessions of PostgreSQL that began, per second, and by a transaction.
        logins: Option<NormalizedRate>,
        /// Cancelled (57014) of a thousand transactions.
        cancelled: f64,
    },
    /// Trials do not count, because the generator was late or had no reserve.
    GeneratorLate {
        /// The first that was found.
        reason: InvalidReason,
        trials: u32,
        #[serde(rename = "of")]
        total_trials: u32,
    },
    /// The machine served others, or woke its sleepers late.
    NoisyHost {
        /// Processors that the hypervisor gave to others.
        stolen: Option<f64>,
        /// 99th percentile of how late a sleeping thread was woken, seconds.
        jitter: Option<f64>,
    },
    /// Row versions to be cleaned up grow from trial to trial, or tables were cleaned up meanwhile.
    Bloat {
        /// In the first trial and in the last.
        from: f64,
        to: f64,
        /// Rows that are alive.
        live: f64,
        /// Tables cleaned up within trials.
        vacuums: f64,
        trials: u32,
    },
    /// Transactions are left open: sessions of PostgreSQL stand idle in them for longer than a second, and keep what they
    /// hold. That is a client that forgot, or one that does something else meanwhile.
    IdleTransactions {
        /// How many there are on average.
        sessions: f64,
        /// The longest that one was seen idle, seconds.
        longest: f64,
        /// Those that keep vacuum from cleaning up: they have written, or have a snapshot.
        horizon: f64,
        /// Sessions that wait for their locks.
        blocked: f64,
        /// The pooler's servers, and clients that wait for one; `None` where there is no pooler, or its console does not
        /// tell those.
        pool: Option<(u32, f64)>,
    },
    /// A node's figures contradict each other: number in it, rate through it, and time in it (Little's law). A client that
    /// holds a server for longer than the trial does that.
    #[serde(rename = "little")]
    LittlesLawViolation {
        node: String,
        number: f64,
        /// What it should be: `rate` × `time`.
        expected: f64,
        /// Per second.
        rate: f64,
        /// Seconds.
        time: f64,
    },
    /// A pooler or server counted none of the transactions that clients completed, or far fewer: the load took another path.
    NotUsed {
        node: String,
        /// Transactions that clients completed in the trials in which the node was asked.
        transactions: u64,
        /// Transactions that the node counted in these trials, without those of the monitoring.
        counted: u64,
        trials: u32,
        #[serde(rename = "of")]
        total_trials: u32,
    },
    /// Rules that had not what they need.
    #[serde(rename = "not_judged")]
    RulesSkipped {
        /// In the order of [`Rule`].
        rules: Vec<(FindingRule, MissingInput)>,
    },
}

/// A rate, absolute and by a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NormalizedRate {
    pub per_second: f64,
    pub per_transaction: f64,
}

/// What a rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingRule {
    ServerCpu,
    PoolerCpu,
    ServiceCpu,
    Pool,
    ServicePool,
    ServiceThreads,
    Waits,
    Reads,
    Writes,
    Memory,
    Scans,
    Checkpoints,
    Storm,
    Bloat,
    IdleTransactions,
    Host,
    Feed,
}

/// What it lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingInput {
    /// A control group, or the processes of what runs elsewhere.
    Group,
    /// Neither a quota nor a known number of processors.
    Quota,
    /// What the server tells of its sessions and tables.
    Server,
    /// What the pooler's console tells.
    Console,
    /// `/stats` of the service.
    Stats,
    /// What the machine tells of itself.
    Machine,
    /// Which column a feed's values are found in.
    Column,
}
