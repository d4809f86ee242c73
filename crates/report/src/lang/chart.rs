//! Names of charts, their axes, series and events

use super::Lang;
use super::number::quantile;
use crate::say;
use model::EventKind;
use model::chart::{ChartKind, ChartSeriesKind, ChartUnit};

impl Lang {
    /// Caption of a heat map: its figure, and its baseline.
    pub fn heat_map_caption(&self, figure: &str, baseline: Option<&str>) -> String {
        say!(self, "page-heat-map", figure, baseline)
    }

    pub fn chart(&self, kind: ChartKind) -> String {
        match kind {
            ChartKind::Rate => say!(self, "page-chart-rate"),
            ChartKind::Response => say!(self, "page-chart-response"),
            ChartKind::ResponseByOperation => say!(self, "page-chart-response-by-operation"),
            ChartKind::ResponseByStep => say!(self, "page-chart-response-by-step"),
            ChartKind::Failures => say!(self, "page-chart-failures"),
            ChartKind::InFlight => say!(self, "page-chart-in-flight"),
            ChartKind::ServicePools => say!(self, "page-chart-service-pools"),
            ChartKind::Pooler => say!(self, "page-chart-pooler"),
            ChartKind::Connections => say!(self, "page-chart-connections"),
            ChartKind::Processors => say!(self, "page-chart-processors"),
            ChartKind::Disk => say!(self, "page-chart-disk"),
            ChartKind::ServiceMetrics => say!(self, "page-chart-service-metrics"),
            ChartKind::ServiceCounters => say!(self, "page-chart-service-counters"),
            ChartKind::Waits => say!(self, "page-chart-waits"),
            ChartKind::ReplicationLag => say!(self, "page-chart-replication-lag"),
            ChartKind::Freshness => say!(self, "page-chart-freshness"),
            ChartKind::SendLag => say!(self, "page-chart-send-lag"),
            ChartKind::Transactions => say!(self, "page-chart-transactions"),
            ChartKind::Locks => say!(self, "page-chart-locks"),
            ChartKind::Deadlocks => say!(self, "page-chart-deadlocks"),
            ChartKind::DiskOperations => say!(self, "page-chart-disk-operations"),
            ChartKind::Memory => say!(self, "page-chart-memory"),
            ChartKind::HostMemory => say!(self, "page-chart-host-memory"),
            ChartKind::HostLoad => say!(self, "page-chart-host-load"),
            ChartKind::Network => say!(self, "page-chart-network"),
            ChartKind::AgentRate => say!(self, "page-chart-agent-rate"),
            ChartKind::AgentResponse => say!(self, "page-chart-agent-response"),
            ChartKind::AgentSendLag => say!(self, "page-chart-agent-send-lag"),
            ChartKind::AgentProcessors => say!(self, "page-chart-agent-processors"),
        }
    }

    /// Label of an axis.
    pub fn axis(&self, unit: ChartUnit) -> String {
        match unit {
            ChartUnit::PerSecond => say!(self, "page-axis-per-second"),
            ChartUnit::Seconds => say!(self, "page-axis-seconds"),
            ChartUnit::Count => say!(self, "page-axis-count"),
            ChartUnit::Processors => say!(self, "page-axis-processors"),
            ChartUnit::Bytes => say!(self, "page-axis-bytes"),
            ChartUnit::BytesPerSecond => say!(self, "page-axis-bytes-per-second"),
            ChartUnit::Quantile => say!(self, "page-axis-quantile"),
        }
    }

    pub fn track(&self, series: ChartSeriesKind) -> String {
        match series {
            ChartSeriesKind::Quantile(share) | ChartSeriesKind::SendLag(share) => quantile(share),
            ChartSeriesKind::Offered => say!(self, "page-series-offered"),
            ChartSeriesKind::Delivered => say!(self, "page-series-delivered"),
            ChartSeriesKind::Users => say!(self, "page-series-users"),
            ChartSeriesKind::Max => say!(self, "page-series-max"),
            ChartSeriesKind::Failed => say!(self, "page-series-failed"),
            ChartSeriesKind::Unknown => say!(self, "page-series-unknown"),
            ChartSeriesKind::Refused => say!(self, "page-series-refused"),
            ChartSeriesKind::Dropped => say!(self, "page-series-dropped"),
            ChartSeriesKind::InFlight => say!(self, "page-series-in-flight"),
            ChartSeriesKind::Waited => say!(self, "page-series-waited"),
            ChartSeriesKind::ClientsActive => say!(self, "page-series-clients-active"),
            ChartSeriesKind::ClientsWaiting => say!(self, "page-series-clients-waiting"),
            ChartSeriesKind::ServersActive => say!(self, "page-series-servers-active"),
            ChartSeriesKind::ServersIdle => say!(self, "page-series-servers-idle"),
            ChartSeriesKind::Queue => say!(self, "page-series-queue"),
            ChartSeriesKind::Sessions => say!(self, "page-series-sessions"),
            ChartSeriesKind::Limit => say!(self, "page-series-limit"),
            ChartSeriesKind::Processors => say!(self, "page-series-processors"),
            ChartSeriesKind::Host => say!(self, "page-series-host"),
            ChartSeriesKind::Read => say!(self, "page-series-read"),
            ChartSeriesKind::Written => say!(self, "page-series-written"),
            ChartSeriesKind::Metric => say!(self, "page-series-metric"),
            ChartSeriesKind::Waiting => say!(self, "page-series-waiting"),
            ChartSeriesKind::ReplicationLag => say!(self, "page-series-replication-lag"),
            ChartSeriesKind::Visible => say!(self, "page-series-visible"),
            ChartSeriesKind::ThreadsBusy => say!(self, "page-series-threads-busy"),
            ChartSeriesKind::ThreadsWaiting => say!(self, "page-series-threads-waiting"),
            ChartSeriesKind::ThreadsMax => say!(self, "page-series-threads-max"),
            ChartSeriesKind::ConnectionsBusy => say!(self, "page-series-connections-busy"),
            ChartSeriesKind::ConnectionsWaiting => say!(self, "page-series-connections-waiting"),
            ChartSeriesKind::ConnectionsMax => say!(self, "page-series-connections-max"),
            ChartSeriesKind::Commits => say!(self, "page-series-commits"),
            ChartSeriesKind::Rollbacks => say!(self, "page-series-rollbacks"),
            ChartSeriesKind::LocksWaiting => say!(self, "page-series-locks-waiting"),
            ChartSeriesKind::Deadlocks => say!(self, "page-series-deadlocks"),
            ChartSeriesKind::ReadLimit => say!(self, "page-series-read-limit"),
            ChartSeriesKind::WriteLimit => say!(self, "page-series-write-limit"),
            ChartSeriesKind::PrivateMemory => say!(self, "page-series-private-memory"),
            ChartSeriesKind::GroupMemory => say!(self, "page-series-group-memory"),
            ChartSeriesKind::AvailableMemory => say!(self, "page-series-available-memory"),
            ChartSeriesKind::LoadAverage => say!(self, "page-series-load-average"),
            ChartSeriesKind::Runnable => say!(self, "page-series-runnable"),
            ChartSeriesKind::Blocked => say!(self, "page-series-blocked"),
            ChartSeriesKind::Received => say!(self, "page-series-received"),
            ChartSeriesKind::Sent => say!(self, "page-series-sent"),
        }
    }

    pub fn event(&self, kind: EventKind) -> String {
        match kind {
            EventKind::Deadlock => say!(self, "page-event-deadlock"),
            EventKind::TooManyConnections => say!(self, "page-event-too-many-connections"),
            EventKind::SlowStatement => say!(self, "page-event-slow-statement"),
            EventKind::Fatal => say!(self, "page-event-fatal"),
            EventKind::Error => say!(self, "page-event-error"),
            EventKind::Lifecycle => say!(self, "page-event-lifecycle"),
            EventKind::Fault => say!(self, "page-event-fault"),
            EventKind::Reverted => say!(self, "page-event-reverted"),
            EventKind::Promoted => say!(self, "page-event-promoted"),
            EventKind::Rejoined => say!(self, "page-event-rejoined"),
            EventKind::Other => say!(self, "page-event-other"),
        }
    }
}
