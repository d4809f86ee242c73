//! Limiters of the throughput without a finding of their own.
//!
//! Slots, a pooler's pool and CPU, and PostgreSQL's CPU have their own findings.

use schemars::JsonSchema;
use serde::Serialize;

/// Limiter of a cell's throughput.
///
/// Medians over the cell's valid trials, under full load. Shares are of active sessions, 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Bound {
    /// CPU of a service.
    Service {
        node: String,
        /// CPUs used; `cpu_limit` is the number available.
        cpu: f64,
        cpu_limit: f64,
        /// Share of the quota's periods in which the service was throttled.
        throttled: Option<f64>,
        /// CPUs lost to throttling.
        throttled_cpu: Option<f64>,
    },
    /// Connection pool of a service: all connections are in use, and requests are queued.
    ServicePool {
        node: String,
        /// Pool name that the service reports.
        pool: String,
        size: f64,
        busy: f64,
        /// Requests that wait for a connection; `None` if the service does not report it.
        waiting: Option<f64>,
        /// Share of requests that had to wait; `None` if the service does not count them.
        waited: Option<f64>,
    },
    /// Threads of a service: all are busy, and requests are queued.
    ServiceThreads {
        node: String,
        size: f64,
        busy: f64,
        /// Requests that wait for a thread; `None` if the service does not report it.
        waiting: Option<f64>,
    },
    /// Disk reads.
    Reads {
        node: String,
        /// Reads per second.
        per_second: Option<f64>,
        /// Quota in the same unit.
        quota: Option<f64>,
        /// Share of active sessions that wait for a block.
        waits: Option<f64>,
        /// True if both figures are in bytes per second.
        in_bytes: bool,
    },
    /// Disk writes other than WAL.
    Writes {
        node: String,
        per_second: Option<f64>,
        quota: Option<f64>,
        /// Share of active sessions that wait for a block or the WAL to be written.
        waits: Option<f64>,
        in_bytes: bool,
    },
    /// Memory limit: evicted data is read again.
    Memory {
        node: String,
        /// Bytes in use.
        #[serde(rename = "used_bytes")]
        used: f64,
        #[serde(rename = "limit_bytes")]
        limit: f64,
        /// Bytes read from disk per transaction.
        #[serde(rename = "read_bytes_per_transaction")]
        read: f64,
    },
    /// Commits wait for the WAL flush.
    WalFlush { share: f64, active: f64 },
    /// Commits wait for synchronous replicas.
    SyncReplicas { share: f64, active: f64 },
    /// Transactions wait for row locks.
    RowLocks {
        share: f64,
        active: f64,
        /// Longest observed wait, in seconds.
        #[serde(rename = "longest_s")]
        longest: Option<f64>,
        /// At most three statements that waited most often, without constants; untrusted input.
        statements: Vec<String>,
    },
    /// Sequential scans that return few rows.
    Scans {
        /// `schema.table` from which the most rows are read.
        table: String,
        /// Scans per transaction; `rows` is the number of rows read per scan.
        #[serde(rename = "scans_per_transaction")]
        scans: f64,
        #[serde(rename = "rows_per_scan")]
        rows: f64,
        /// Share of the CPUs available to PostgreSQL.
        #[serde(rename = "cpu_share")]
        cpu: Option<f64>,
    },
    /// Checkpoints caused by WAL volume, or a drop in throughput during checkpoints.
    Checkpoints {
        /// Checkpoints per trial that the WAL volume caused.
        requested: f64,
        /// Share of seconds with a running checkpoint.
        share: f64,
        /// Throughput during checkpoints ÷ throughput otherwise; `None` with too few seconds of either.
        #[serde(rename = "throughput_ratio")]
        slowed: Option<f64>,
    },
    /// Number of closed-loop clients; no resource is saturated.
    Clients {
        clients: u32,
        /// Mean response time in seconds; clients ÷ mean bounds the throughput.
        #[serde(rename = "mean_s")]
        mean: f64,
        /// Throughput bound per second; `delivered` is the actual throughput.
        throughput_bound: f64,
        delivered: f64,
        /// Idle share of the CPUs available to PostgreSQL.
        idle: f64,
    },
}
