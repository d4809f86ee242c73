//! What can hold a throughput where it is?
//!
//! Beside those that have findings of their own: slots, a pooler's pool and processor, PostgreSQL's processor.

use serde::Serialize;

/// Medians over the cell's valid trials, under full load. Shares are of active sessions, 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Bound {
    /// A service's processor.
    Service {
        node: String,
        /// Processors used, and how many it could use.
        cpu: f64,
        of_cpu: f64,
        /// Share of the quota's periods in which it was held back.
        throttled: Option<f64>,
        /// Processors that stood still therefore.
        stood_still: Option<f64>,
    },
    /// A service's connections to the database are all lent, and requests wait for one.
    ServicePool {
        node: String,
        /// As the service names it.
        pool: String,
        size: f64,
        busy: f64,
        /// Requests that wait for a connection; `None` where the service does not know.
        waiting: Option<f64>,
        /// Of requests, those that had to; `None` where the service does not count them.
        waited: Option<f64>,
    },
    /// A service's threads are all busy, and requests wait for one.
    ServiceThreads {
        node: String,
        size: f64,
        busy: f64,
        /// `None` where the service does not know.
        waiting: Option<f64>,
    },
    /// Reading from disk.
    Reads {
        node: String,
        /// Reads.
        per_second: Option<f64>,
        /// In the same unit.
        quota: Option<f64>,
        /// Of active sessions that wait for a block.
        waits: Option<f64>,
        /// Both are of bytes.
        in_bytes: bool,
    },
    /// Writing to disk, WAL apart.
    Writes {
        node: String,
        per_second: Option<f64>,
        quota: Option<f64>,
        /// Of active sessions that wait for a block or the log to be written.
        waits: Option<f64>,
        in_bytes: bool,
    },
    /// Its memory is full, and what was thrown out of it is read again.
    Memory {
        node: String,
        /// Bytes.
        used: f64,
        limit: f64,
        /// Bytes read from disk by a transaction.
        read: f64,
    },
    /// Commits wait until the log is on disk.
    WalFlush { share: f64, active: f64 },
    /// Commits wait for replicas.
    SyncReplicas { share: f64, active: f64 },
    /// Transactions wait for each other's rows.
    RowLocks {
        share: f64,
        active: f64,
        /// The longest wait that was seen, seconds.
        longest: Option<f64>,
        /// Those that waited most often, without constants, at most three: of foreign origin.
        statements: Vec<String>,
    },
    /// Whole tables are read for a few rows.
    Scans {
        /// `schema.table` that most rows are read of.
        table: String,
        /// Scans of it by a transaction, and rows read by a scan.
        scans: f64,
        rows: f64,
        /// Of the processors that PostgreSQL could use.
        cpu: Option<f64>,
    },
    /// Checkpoints come because the log has grown, or the system delivers less while one is written.
    Checkpoints {
        /// Asked for by the log's size, in a trial.
        requested: f64,
        /// Share of seconds in which one was being written.
        share: f64,
        /// Delivered in those ÷ in the others; `None` where there are too few of either.
        slowed: Option<f64>,
    },
    /// Nothing else is full: so many clients in a closed loop ask for no more.
    Clients {
        clients: u32,
        /// Mean of response time, seconds; clients ÷ it bounds the throughput.
        mean: f64,
        /// That bound, and what was delivered, per second.
        #[serde(rename = "most")]
        throughput_bound: f64,
        delivered: f64,
        /// Share of PostgreSQL's processors that was left.
        idle: f64,
    },
}
