//! Limiters of the throughput that have no separate finding.
//!
//! Separate findings report connection slots, a pooler's pool and CPU, and PostgreSQL's CPU.

use crate::avoidable_work::WorkEvidence;
use crate::lock::LockKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Limiter of a cell's throughput.
///
/// Figures are medians over the cell's valid trials, under full load. Unless stated otherwise, shares are shares of the
/// active sessions, 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Bound {
    /// A service is CPU-bound.
    Service {
        node: String,
        /// CPUs used by the service; `cpu_limit` is the number available to it.
        cpu: f64,
        cpu_limit: f64,
        /// Share of the quota's periods in which the service was throttled.
        throttled: Option<f64>,
        /// CPUs lost to throttling.
        throttled_cpu: Option<f64>,
    },
    /// The CPUs of another host are saturated.
    HostCpu {
        /// Name of the host in samples.
        node: String,
        /// Nodes on the host.
        nodes: Vec<String>,
        /// CPUs in use; `cpu_limit` is the number that the host has.
        cpu: f64,
        cpu_limit: f64,
    },
    /// A service's connection pool is exhausted: all connections are in use, and requests are queued.
    ServicePool {
        node: String,
        /// Pool name that the service reports.
        pool: String,
        size: f64,
        busy: f64,
        /// Number of requests that wait for a connection; `None` if the service does not report it.
        waiting: Option<f64>,
        /// Share of requests that waited for a connection, 0..=1; `None` if the service does not count waits.
        waited_share: Option<f64>,
    },
    /// All threads of a service are busy, and requests are queued.
    ServiceThreads {
        node: String,
        /// Name of the pool of threads or processes; empty if the service has only one.
        pool: String,
        size: f64,
        busy: f64,
        /// Number of requests that wait for a thread; `None` if the service does not report it.
        waiting: Option<f64>,
    },
    /// Disk reads limit the throughput.
    Reads {
        node: String,
        /// Reads per second.
        per_second: Option<f64>,
        /// Disk quota in the unit of `per_second`.
        quota: Option<f64>,
        /// Share of active sessions that wait until a block is read.
        wait_share: Option<f64>,
        /// True if `per_second` and `quota` are in bytes per second.
        in_bytes: bool,
    },
    /// Disk writes other than WAL limit the throughput.
    Writes {
        node: String,
        per_second: Option<f64>,
        quota: Option<f64>,
        /// Share of active sessions that wait until a block or WAL is written.
        wait_share: Option<f64>,
        in_bytes: bool,
    },
    /// A memory limit limits the throughput, because evicted data must be read again.
    Memory {
        node: String,
        /// Memory in use, in bytes.
        used_bytes: f64,
        limit_bytes: f64,
        /// Bytes read from disk per transaction.
        read_bytes_per_transaction: f64,
    },
    /// Commits wait for the WAL flush.
    WalFlush { share: f64, active: f64 },
    /// Commits wait for synchronous replicas.
    SyncReplicas { share: f64, active: f64 },
    /// Transactions wait for row locks.
    RowLocks {
        share: f64,
        active: f64,
        /// Longest observed wait for a lock, in seconds.
        #[serde(rename = "longest_wait_s")]
        longest_wait: Option<f64>,
        /// At most three statements that waited most often, without constants; untrusted input.
        statements: Vec<String>,
    },
    /// Transactions wait for locks other than row locks.
    Locks {
        lock: LockKind,
        share: f64,
        active: f64,
        /// Longest observed wait for a lock, in seconds; `None` for lightweight locks and pinned buffers.
        #[serde(rename = "longest_wait_s")]
        longest_wait: Option<f64>,
        /// Statements as for row locks; empty for lightweight locks and pinned buffers.
        statements: Vec<String>,
    },
    /// PostgreSQL does work that could be avoided.
    AvoidableWork { evidence: WorkEvidence },
    /// Sessions wait until clients read the results of their statements.
    ResultReading { share: f64, active: f64 },
    /// Response times gather at the 40 ms for which Linux delays acknowledgements of TCP, although PostgreSQL is fast.
    DelayedAcknowledgements {
        #[serde(rename = "p50_s")]
        p50: f64,
        #[serde(rename = "p90_s")]
        p90: f64,
        /// Time of PostgreSQL's statements per transaction, in seconds.
        #[serde(rename = "server_s")]
        server: f64,
    },
    /// Sequential scans read many rows and return few rows.
    Scans {
        /// `schema.table` from which the most rows are read.
        table: String,
        /// Number of scans per transaction.
        scans_per_transaction: f64,
        rows_per_scan: f64,
        /// Share of the CPUs available to PostgreSQL that are in use, 0..=1.
        cpu_share: Option<f64>,
    },
    /// WAL volume causes checkpoints, or throughput drops during checkpoints.
    Checkpoints {
        /// Number of checkpoints per trial that the WAL volume caused.
        requested: f64,
        /// Share of seconds in which a checkpoint ran, 0..=1.
        share: f64,
        /// Throughput during checkpoints ÷ throughput in other seconds; `None` with too few seconds of either kind.
        throughput_ratio: Option<f64>,
        /// Share of the WAL that consists of full-page images, 0..=1; `None` before PostgreSQL 14.
        full_page_share: Option<f64>,
    },
    /// The number of closed-loop clients limits the throughput; no resource is saturated.
    Clients {
        clients: u32,
        /// Mean response time in seconds. The throughput cannot exceed the number of clients divided by this mean.
        #[serde(rename = "mean_s")]
        mean: f64,
        /// Upper bound of the throughput per second; `delivered` is the actual throughput.
        throughput_bound: f64,
        delivered: f64,
        /// Idle share of the CPUs available to PostgreSQL, 0..=1.
        idle: f64,
    },
}
