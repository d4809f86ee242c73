//! What is drawn over time?
//!
//! Columns of numbers on one shared axis per trial, computed once: whoever draws them computes nothing, and whoever names
//! them does so in a language.

use crate::EventKind;
use serde::Serialize;

/// All charts of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Charts {
    /// Seconds that one point stands for: 1, or more in long trials so that there are at most [`Charts::POINTS`].
    pub bin: u32,
    /// Each point's beginning, seconds since the window began; ascending.
    #[serde(rename = "at")]
    pub times: Vec<f64>,
    /// Only those that have at least one track.
    pub charts: Vec<Chart>,
    /// In order of time.
    #[serde(rename = "marks")]
    pub annotations: Vec<Annotation>,
}

impl Charts {
    /// More points than this are more than a wide screen has columns.
    pub const POINTS: usize = 7200;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    pub kind: ChartKind,
    #[serde(rename = "tracks")]
    pub series: Vec<ChartSeries>,
}

/// In the order in which they are shown. Units are those of [`ChartKind::unit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Offered and delivered, and delivered by operation where there are several.
    Rate,
    /// Quantiles of response time, of all operations together.
    Response,
    /// Median and 99th percentile by operation; absent with one operation.
    ResponseByOperation,
    /// By code.
    Failures,
    /// Sent and not yet answered, and waiting for a client.
    InFlight,
    /// Clients and servers of poolers, queues of balancers.
    Pooler,
    /// Sessions of PostgreSQL by state, beside what it allows.
    Connections,
    /// Processors by node, each beside its quota, and the host's.
    Processors,
    /// Bytes read and written per second, by node.
    Disk,
    /// Active sessions by what they wait for; stacked.
    Waits,
    /// Bytes by replica.
    ReplicationLag,
    /// Time from an acknowledgement until a replica showed what was written, by replica.
    Freshness,
    /// Quantiles of the generator's own lateness.
    SendLag,
}

/// How a chart's numbers are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
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

    /// Quantiles span decades.
    pub fn is_logarithmic(self) -> bool {
        self.unit() == ChartUnit::Seconds
    }

    pub fn is_stacked(self) -> bool {
        matches!(self, ChartKind::Waits | ChartKind::Failures)
    }
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartSeries {
    #[serde(rename = "what")]
    pub kind: ChartSeriesKind,
    /// Where several nodes have it.
    pub node: Option<String>,
    /// An operation, a code, a state, a wait event: text of foreign origin.
    pub label: Option<String>,
    /// By point of [`Charts::at`]; `None` where nothing was measured, which is not zero.
    pub values: Vec<Option<f64>>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartSeriesKind {
    /// Arrivals that were due.
    Offered,
    /// Ended well; of one operation where the track has a label.
    Delivered,
    /// 0..=1.
    Quantile(f64),
    Max,
    /// Failed, by its code.
    Failed,
    /// Unknown, by its code.
    Unknown,
    Refused,
    Dropped,
    InFlight,
    /// Arrivals that waited for a client in that time.
    Waited,
    /// Clients of a pooler.
    ClientsActive,
    ClientsWaiting,
    /// Servers of a pooler.
    ServersActive,
    ServersIdle,
    /// Waiting in a balancer.
    Queue,
    /// Sessions in the state of the label.
    Sessions,
    /// A bound, drawn dashed: `max_connections`, a quota.
    Limit,
    /// Used by the node.
    Processors,
    /// Used by anybody on the host.
    Host,
    Read,
    Written,
    /// Active sessions that wait for the label; `running` for nothing.
    Waiting,
    ReplicationLag,
    /// After the acknowledgement.
    Visible,
    SendLag(f64),
}

/// Something that happened at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Annotation {
    /// Seconds since the window began.
    pub at: f64,
    pub node: String,
    pub kind: EventKind,
    /// How many events of its kind within this second it stands for, at least 1; where there are very many, within a longer
    /// time from then on.
    pub count: u64,
    /// The first one's words: text of foreign origin.
    pub text: String,
}
