//! Time series charts of a trial.
//!
//! Each trial has columns of numbers on one shared time axis, computed once. Code that draws or names them computes
//! nothing.

use crate::EventKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Charts of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Charts {
    /// Seconds per point: 1, or more in long trials so that there are at most [`Charts::POINTS`].
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

/// Kind of a chart, in the order of display. Units are those of [`ChartKind::unit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Offered and delivered rate; also delivered by operation if there are several.
    Rate,
    /// Quantiles of the response time of all operations together.
    Response,
    /// Median and 99th percentile by operation; absent with one operation.
    ResponseByOperation,
    /// Failures by code.
    Failures,
    /// Transactions in flight, and arrivals waiting for a client.
    InFlight,
    /// Clients and server connections of poolers, queues of balancers.
    Pooler,
    /// PostgreSQL sessions by state, compared with `max_connections`.
    Connections,
    /// CPUs used by node, each compared with its quota, and by the host.
    Processors,
    /// Bytes read and written per second, by node.
    Disk,
    /// Active sessions by wait event; stacked.
    Waits,
    /// Lag in bytes, by replica.
    ReplicationLag,
    /// Time from the acknowledgement until the write was visible, by replica.
    Freshness,
    /// Quantiles of the generator's own lateness.
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
}

impl ChartKind {
    pub const ALL: [ChartKind; 13] = [
        ChartKind::Rate,
        ChartKind::Response,
        ChartKind::ResponseByOperation,
        ChartKind::Failures,
        ChartKind::InFlight,
        ChartKind::Pooler,
        ChartKind::Connections,
        ChartKind::Processors,
        ChartKind::Disk,
        ChartKind::Waits,
        ChartKind::ReplicationLag,
        ChartKind::Freshness,
        ChartKind::SendLag,
    ];

    pub fn unit(self) -> ChartUnit {
        match self {
            ChartKind::Rate | ChartKind::Failures => ChartUnit::PerSecond,
            ChartKind::Response
            | ChartKind::ResponseByOperation
            | ChartKind::Freshness
            | ChartKind::SendLag => ChartUnit::Seconds,
            ChartKind::InFlight | ChartKind::Pooler | ChartKind::Connections | ChartKind::Waits => {
                ChartUnit::Count
            }
            ChartKind::Processors => ChartUnit::Processors,
            ChartKind::Disk => ChartUnit::BytesPerSecond,
            ChartKind::ReplicationLag => ChartUnit::Bytes,
        }
    }

    /// True for durations, because their quantiles span decades.
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
    /// Arrivals that were due.
    Offered,
    /// Successful transactions; of one operation if the series has a label.
    Delivered,
    /// Quantile, 0..=1.
    Quantile(f64),
    Max,
    /// Failed transactions with the code of the label.
    Failed,
    /// Unknown transactions with the code of the label.
    Unknown,
    Refused,
    Dropped,
    InFlight,
    /// Arrivals that waited for a client during the point's interval.
    Waited,
    /// Clients of a pooler.
    ClientsActive,
    ClientsWaiting,
    /// Server connections of a pooler.
    ServersActive,
    ServersIdle,
    /// Connections queued in a balancer.
    Queue,
    /// Sessions in the state of the label.
    Sessions,
    /// Limit, drawn dashed: `max_connections`, a quota.
    Limit,
    /// CPUs used by the node.
    Processors,
    /// CPUs used on the whole host.
    Host,
    Read,
    Written,
    /// Active sessions with the wait event of the label; `running` means no wait.
    Waiting,
    ReplicationLag,
    /// Time from the acknowledgement until the write was visible.
    Visible,
    SendLag(f64),
}

/// Event at one time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Annotation {
    /// Seconds since the window's start.
    #[serde(rename = "at_s")]
    pub at: f64,
    pub node: String,
    pub kind: EventKind,
    /// Number of events of this kind within this second, at least 1. If there are very many, the annotation covers a
    /// longer time from this second on.
    pub count: u64,
    /// Text of the first event; untrusted input.
    pub text: String,
}
