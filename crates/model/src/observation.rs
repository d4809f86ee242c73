//! What was seen of the system while it was under load.

use crate::{Interval, Nanos};
use serde::Serialize;
use std::borrow::Cow;

/// What one kind of figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// Unique, `snake_case`, beginning with its source: `pg_deadlocks`, `pgbouncer_cl_waiting`, `cgroup_throttled`.
    pub name: &'static str,
    pub unit: Unit,
    pub kind: SeriesKind,
    /// One line: what it means, and where it comes from.
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Count,
    Bytes,
    /// Seconds.
    Seconds,
    /// 0..=1.
    Share,
    /// Processors: 1 is one of them, busy all the time.
    Processors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// Its value stands for the moment.
    Gauge,
    /// It only grows, but for restarts; differences count.
    Counter,
}

/// One figure at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Since the window began; before it, moments count as zero.
    pub at: Nanos,
    /// The node's name; `host` or `generator` for those.
    pub node: Cow<'static, str>,
    /// [`Series::name`].
    pub series: Cow<'static, str>,
    /// Which of several: a database, a user, a wait event, a state. Empty where there is one.
    pub label: Cow<'static, str>,
    pub value: f64,
}

/// A remarkable line of a server's log, or an event of our own making.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogEvent {
    /// Since the window began; before it, moments count as zero.
    pub at: Nanos,
    pub node: String,
    pub kind: EventKind,
    /// SQLSTATE where the line tells it.
    pub code: Option<String>,
    /// The line's words, without its prefix; never a statement's parameters.
    pub text: String,
}

impl LogEvent {
    /// End of the text of an event that stands for several of its kind; their number is before it.
    pub const AGGREGATE_SUFFIX: &'static str = " more within a second";

    /// How many lines it stands for, at least 1.
    pub fn line_count(&self) -> u64 {
        self.text.strip_suffix(LogEvent::AGGREGATE_SUFFIX).and_then(|it| it.parse().ok()).unwrap_or(1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    Deadlock,
    /// No slot was free: SQLSTATE 53300, by either of its texts.
    TooManyConnections,
    SlowStatement,
    /// Another FATAL or PANIC.
    Fatal,
    /// Another ERROR.
    Error,
    /// A server, pooler or balancer ended, began, or changed its state.
    Lifecycle,
    /// Something was done to it on purpose; the text says what, by the word that the experiment's file has.
    Fault,
    /// What was done to it was undone; the same text.
    #[serde(rename = "healed")]
    Reverted,
    /// A replica has become the primary; the text says on which timeline.
    Promoted,
    /// It was the primary and follows another; the text says how it came back.
    Rejoined,
    Other,
}

/// One second of a trial: what rules watch, live or replayed.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Whole seconds since the window began: 0 for the first.
    pub second: u64,
    pub interval: Interval,
    /// Transactions sent and not yet answered when it ended.
    pub in_flight: u64,
    pub samples: Vec<Sample>,
}
