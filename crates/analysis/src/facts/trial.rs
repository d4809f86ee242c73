//! Facts about one trial

use super::sample_set::SampleView;
use super::sizes::SizeSeries;
use model::feed_coverage::FeedCoverage;
use model::matrix::{TrialStatus, UnappliedLimit};
use model::plan::{Node, Setup};
use model::server_log::DeadlockGroup;
use model::target::DataState;
use model::{LogEvent, ReplayFigures, Second, Summary, Tick};

/// Load in one whole second of a trial's window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadSecond {
    /// Arrivals per second, including those that were dropped.
    pub offered: f64,
    /// Transactions in flight at the end of the second.
    pub in_flight: u64,
}

impl From<&Second> for LoadSecond {
    fn from(second: &Second) -> LoadSecond {
        let Second { interval, in_flight, .. } = second;
        let arrivals = interval.started + interval.scripts.iter().map(|it| it.dropped).sum::<u64>();
        let duration = (interval.to - interval.from).as_secs_f64();
        let offered = if duration > 0.0 { arrivals as f64 / duration } else { 0.0 };
        LoadSecond { offered, in_flight: *in_flight }
    }
}

/// Facts about one trial.
#[derive(Clone, Debug)]
pub struct TrialFacts<'a> {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Repetition, from 0.
    pub repetition: u32,
    /// Start of the trial, as Unix time in milliseconds.
    pub begun_ms: u64,
    pub setup: &'a Setup,
    pub status: &'a TrialStatus,
    /// Summary of the measurement; `None` if nothing was measured.
    pub summary: Option<&'a Summary>,
    /// Number of transactions that succeeded within the window, by client; empty if unknown.
    pub clients: &'a [u64],
    /// Samples within the window. Later samples only show remaining clients; see `remaining_clients`.
    pub samples: SampleView<'a>,
    pub events: &'a [LogEvent],
    /// Deadlocks by their statements, in order of time.
    pub deadlocks: &'a [DeadlockGroup],
    /// Host ticks during the trial; may be empty.
    pub ticks: &'a [Tick],
    pub not_applied: &'a [UnappliedLimit],
    /// CPUs used by the monitoring.
    pub monitoring_cpu: Option<f64>,
    /// Load in each whole second of the window; empty if unknown.
    pub load: &'a [LoadSecond],
    /// Number of transactions that succeeded in each whole second of the window; empty if unknown.
    pub delivered: &'a [f64],
    /// Table coverage of the setup's feeds that name a column.
    pub feed_coverage: &'a [FeedCoverage],
    /// Nodes that still had clients some time after the load had ended, with the number of these clients.
    pub remaining_clients: &'a [(String, u64)],
    /// Response sizes of HTTP requests over time.
    pub answers: &'a [SizeSeries],
    /// State of an attached server's data before the trial, if known.
    pub data: Option<&'a DataState>,
    /// Comparison of the responses with the recorded responses, by operation.
    pub replayed: &'a [ReplayFigures],
}

impl<'a> TrialFacts<'a> {
    /// Summary of a valid trial; `None` if the trial is invalid or was aborted.
    pub fn valid(&self) -> Option<&'a Summary> {
        let ended = matches!(self.status, TrialStatus::Done | TrialStatus::Stopped { .. });
        self.summary.filter(|it| ended && it.validity.valid)
    }

    /// The PostgreSQL node; `None` if the setup has none.
    pub fn server(&self) -> Option<&'a Node> {
        self.setup.stack.nodes.last()
    }

    /// Nodes in front of PostgreSQL; the first node accepts the clients' connections.
    pub fn upstream_nodes(&self) -> &'a [Node] {
        self.setup.stack.nodes.split_last().map_or(&[], |(_, before)| before)
    }
}
