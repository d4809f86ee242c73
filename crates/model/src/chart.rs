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
    pub const ALL: [ChartKind; 16] = [
        ChartKind::Rate,
        ChartKind::Response,
        ChartKind::ResponseByOperation,
        ChartKind::ResponseByStep,
        ChartKind::Failures,
        ChartKind::InFlight,
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
    ];

    pub fn unit(self) -> ChartUnit {
        match self {
            ChartKind::Rate | ChartKind::Failures | ChartKind::ServiceCounters => ChartUnit::PerSecond,
            ChartKind::Response
            | ChartKind::ResponseByOperation
            | ChartKind::ResponseByStep
            | ChartKind::Freshness
            | ChartKind::SendLag => ChartUnit::Seconds,
            ChartKind::InFlight
            | ChartKind::Pooler
            | ChartKind::Connections
            | ChartKind::ServiceMetrics
            | ChartKind::Waits => ChartUnit::Count,
            ChartKind::Processors => ChartUnit::Processors,
            ChartKind::Disk => ChartUnit::BytesPerSecond,
            ChartKind::ReplicationLag => ChartUnit::Bytes,
        }
    }

    /// True for charts of durations. Their axis is logarithmic, because quantiles span decades.
    pub fn is_logarithmic(self) -> bool {
        self.unit() == ChartUnit::Seconds
    }

    pub fn is_stacked(self) -> bool {
        matches!(self, ChartKind::Waits | ChartKind::Failures)
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
    ReplicationLag,
    /// Time from a write's acknowledgement until a replica shows the write.
    Visible,
    SendLag(f64),
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
