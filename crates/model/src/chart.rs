//! Time series charts of a trial.
//!
//! A trial's charts are columns of numbers on one shared time axis. They are computed once, and renderers only draw
//! them.

use crate::EventKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Charts of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Charts {
    /// Seconds per point: 1, or more in a trial of more than [`Charts::POINTS`] seconds.
    #[serde(rename = "bin_s")]
    pub bin: u32,
    /// Start of each point in seconds since the window's start; ascending.
    #[serde(rename = "times_s")]
    pub times: Vec<f64>,
    /// Charts with at least one series.
    pub charts: Vec<Chart>,
    /// Annotations in order of time.
    pub annotations: Vec<Annotation>,
}

impl Charts {
    /// Maximum number of points: more than a wide screen has columns.
    pub const POINTS: usize = 7200;
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Chart {
    pub kind: ChartKind,
    pub series: Vec<ChartSeries>,
}

/// Kind of a chart, in the order of display. [`ChartKind::unit`] is the unit of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Offered and delivered rate; with several operations also the delivered rate of each operation.
    Rate,
    /// Quantiles of the response time of all operations together.
    Response,
    /// Median and 99th percentile of the response time by operation, if there are several operations.
    ResponseByOperation,
    /// 99th percentile of the response time by step, for operations with several steps.
    ResponseByStep,
    /// Failures by code.
    Failures,
    /// Transactions in flight, and arrivals waiting for a client.
    InFlight,
    /// Busy and waiting threads and connections of services, with their maximum.
    ServicePools,
    /// Clients and server connections of poolers, queues of balancers.
    Pooler,
    /// PostgreSQL sessions by state, compared with `max_connections`.
    Connections,
    /// CPUs used by each node, with its quota, and by the host.
    Processors,
    /// Bytes read and written per second, by node.
    Disk,
    /// Gauges of the service that the experiment file names.
    ServiceMetrics,
    /// Increase per second of the service's counters that the experiment file names.
    ServiceCounters,
    /// Active sessions by wait event, as a stacked chart.
    Waits,
    /// Replication lag in bytes, by replica.
    ReplicationLag,
    /// Time in seconds from a write's acknowledgement until a replica shows the write, by replica.
    Freshness,
    /// Quantiles of the send lag of the generator.
    SendLag,
    /// Transactions per second that PostgreSQL counted, compared with the delivered rate.
    Transactions,
    /// Lock requests that are not granted, by kind and mode, as a stacked chart.
    Locks,
    /// Deadlocks per second that PostgreSQL counted.
    Deadlocks,
    /// Reads and writes per second, by node and by disk, with their quotas.
    DiskOperations,
    /// Memory of each node, with its limit.
    Memory,
    /// Memory of the machine that is free or can be freed.
    HostMemory,
    /// Load average of the machine, and its runnable and blocked tasks.
    HostLoad,
    /// Bytes received and sent per second by the machine, by interface.
    Network,
    /// Successful transactions per second of each agent.
    AgentRate,
    /// Median and 99th percentile of the response times of each agent's transactions.
    AgentResponse,
    /// 99th percentile of the send lag of each agent.
    AgentSendLag,
    /// CPUs used by each agent.
    AgentProcessors,
}

/// Unit of a chart's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartUnit {
    PerSecond,
    Seconds,
    Count,
    Processors,
    Bytes,
    BytesPerSecond,
    /// Quantile, 0..1. On a logarithmic axis, 0, 0.9, 0.99 and 0.999 are equally spaced, as in HdrHistogram's plots.
    Quantile,
}

impl ChartKind {
    pub const ALL: [ChartKind; 29] = [
        ChartKind::Rate,
        ChartKind::Response,
        ChartKind::ResponseByOperation,
        ChartKind::ResponseByStep,
        ChartKind::Failures,
        ChartKind::InFlight,
        ChartKind::ServicePools,
        ChartKind::Pooler,
        ChartKind::Connections,
        ChartKind::Processors,
        ChartKind::Disk,
        ChartKind::ServiceMetrics,
        ChartKind::ServiceCounters,
        ChartKind::Waits,
        ChartKind::ReplicationLag,
        ChartKind::Freshness,
        ChartKind::SendLag,
        ChartKind::Transactions,
        ChartKind::Locks,
        ChartKind::Deadlocks,
        ChartKind::DiskOperations,
        ChartKind::Memory,
        ChartKind::HostMemory,
        ChartKind::HostLoad,
        ChartKind::Network,
        ChartKind::AgentRate,
        ChartKind::AgentResponse,
        ChartKind::AgentSendLag,
        ChartKind::AgentProcessors,
    ];

    pub fn unit(self) -> ChartUnit {
        match self {
            ChartKind::Rate
            | ChartKind::Failures
            | ChartKind::ServiceCounters
            | ChartKind::Transactions
            | ChartKind::Deadlocks
            | ChartKind::DiskOperations
            | ChartKind::AgentRate => ChartUnit::PerSecond,
            ChartKind::Response
            | ChartKind::ResponseByOperation
            | ChartKind::ResponseByStep
            | ChartKind::Freshness
            | ChartKind::SendLag
            | ChartKind::AgentResponse
            | ChartKind::AgentSendLag => ChartUnit::Seconds,
            ChartKind::InFlight
            | ChartKind::ServicePools
            | ChartKind::Locks
            | ChartKind::HostLoad
            | ChartKind::Pooler
            | ChartKind::Connections
            | ChartKind::ServiceMetrics
            | ChartKind::Waits => ChartUnit::Count,
            ChartKind::Processors | ChartKind::AgentProcessors => ChartUnit::Processors,
            ChartKind::Disk | ChartKind::Network => ChartUnit::BytesPerSecond,
            ChartKind::ReplicationLag | ChartKind::Memory | ChartKind::HostMemory => ChartUnit::Bytes,
        }
    }

    /// True for charts of durations. Their axis is logarithmic, because quantiles span decades.
    pub fn is_logarithmic(self) -> bool {
        self.unit() == ChartUnit::Seconds
    }

    pub fn is_stacked(self) -> bool {
        matches!(self, ChartKind::Waits | ChartKind::Failures | ChartKind::Locks)
    }

    /// True for charts that a page collapses, because few conclusions need them.
    pub fn is_collapsed(self) -> bool {
        self >= ChartKind::Transactions
    }
}

/// Line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChartSeries {
    pub kind: ChartSeriesKind,
    /// Node, if several nodes have this series.
    pub node: Option<String>,
    /// Operation, code, state or wait event; untrusted input.
    pub label: Option<String>,
    /// Values by point of [`Charts::times`]; `None` means not measured, which differs from zero.
    pub values: Vec<Option<f64>>,
}

/// Kind of a chart line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartSeriesKind {
    /// Rate of arrivals that were due.
    Offered,
    /// Rate of successful transactions, of all operations or of the operation in the label.
    Delivered,
    /// Quantile of a duration; the number is in 0..=1.
    Quantile(f64),
    Max,
    /// Planned number of users, drawn dashed.
    Users,
    /// Rate of failed transactions with the code in the label.
    Failed,
    /// Rate of transactions with unknown outcome and the code in the label.
    Unknown,
    Refused,
    Dropped,
    InFlight,
    /// Number of arrivals that waited for a client during the point's interval.
    Waited,
    /// Clients of a pooler that are not waiting for a server connection.
    ClientsActive,
    ClientsWaiting,
    /// Server connections of a pooler that are assigned to a client.
    ServersActive,
    ServersIdle,
    /// Connections queued in a balancer.
    Queue,
    /// PostgreSQL sessions in the state that the label names.
    Sessions,
    /// Upper limit, drawn dashed: `max_connections` or a quota.
    Limit,
    /// CPUs used by the node.
    Processors,
    /// CPUs used on the whole host.
    Host,
    Read,
    Written,
    /// Metric of a service, which the label names.
    Metric,
    /// Active sessions with the wait event in the label; `running` means no wait.
    Waiting,
    /// Threads or processes of a service that serve requests. The label of these and of the following series is the pool.
    ThreadsBusy,
    /// Requests that wait for a thread.
    ThreadsWaiting,
    /// Maximum number of threads; drawn dashed.
    ThreadsMax,
    /// Connections of a service's pool that are in use.
    ConnectionsBusy,
    /// Requests that wait for a connection.
    ConnectionsWaiting,
    /// Maximum number of connections of a service's pool; drawn dashed.
    ConnectionsMax,
    /// Committed transactions per second, without those of the monitoring session.
    Commits,
    Rollbacks,
    /// Lock requests of the kind and mode in the label that are not granted.
    LocksWaiting,
    Deadlocks,
    /// Upper limit of reads or writes per second; drawn dashed.
    ReadLimit,
    WriteLimit,
    /// Memory of a node's processes, without shared memory and mapped files.
    PrivateMemory,
    /// Memory of a node's control group, including shared memory and page cache.
    GroupMemory,
    /// Memory of the machine that is free or can be freed.
    AvailableMemory,
    /// 1-minute mean of the number of runnable and blocked tasks.
    LoadAverage,
    Runnable,
    Blocked,
    Received,
    Sent,
    ReplicationLag,
    /// Time from a write's acknowledgement until a replica shows the write.
    Visible,
    SendLag(f64),
}

impl ChartSeriesKind {
    /// True for upper limits, which are drawn dashed.
    pub fn is_limit(self) -> bool {
        use ChartSeriesKind::{ConnectionsMax, Limit, ReadLimit, ThreadsMax, WriteLimit};
        matches!(self, Limit | ReadLimit | WriteLimit | ThreadsMax | ConnectionsMax)
    }
}

/// Event that a chart marks, such as an injected fault.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Annotation {
    /// Seconds since the window's start.
    #[serde(rename = "at_s")]
    pub at: f64,
    pub node: String,
    pub kind: EventKind,
    /// Number of events of this kind within this second, at least 1. If a trial has very many events, the annotation
    /// covers several seconds.
    pub count: u64,
    /// Text of the first event; untrusted input.
    pub text: String,
}
