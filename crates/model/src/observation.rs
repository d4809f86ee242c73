//! Observations of the system under load: samples, log events and ticks.

use crate::{Interval, Nanos};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// Description of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Series {
    /// Unique name in `snake_case` with its source as prefix: `pg_deadlocks`, `pool_clients_waiting`,
    /// `cgroup_throttled`.
    pub name: &'static str,
    pub unit: Unit,
    pub kind: SeriesKind,
    /// Meaning and source of the series, in one line.
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Count,
    Bytes,
    Seconds,
    /// Share, 0..=1.
    Share,
    /// CPUs: 1 is one fully used CPU.
    Processors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// Gauge: value at the time of the sample.
    Gauge,
    /// Counter: value that decreases only at restarts, so differences are meaningful.
    Counter,
}

/// Sample of a series.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// Time since the window's start; zero before the window.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// Name of a node, `host` or `generator`.
    pub node: Cow<'static, str>,
    /// Series name, see [`Series::name`].
    pub series: Cow<'static, str>,
    /// Label that distinguishes values of one series: a database, user, wait event or state. Empty if there is one
    /// value.
    pub label: Cow<'static, str>,
    pub value: f64,
}

impl Sample {
    /// True if the sample belongs to this series of this node.
    #[inline]
    pub fn is_of(&self, node: &str, series: &str) -> bool {
        // Names of series differ in length more often than those of nodes, so comparing them first is faster.
        self.series == series && self.node == node
    }
}

/// Notable line of a server's log, or an event that pgdyno generates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogEvent {
    /// Time since the window's start; zero before the window.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    pub node: String,
    pub kind: EventKind,
    /// SQLSTATE; `None` if the line contains none.
    pub code: Option<String>,
    /// Message without the line's prefix; never contains a statement's parameters.
    pub text: String,
    /// Session that caused the line; `None` if the line does not identify it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<LogSession>,
}

/// Session that a line of PostgreSQL's log identifies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct LogSession {
    /// `application_name` of the session, or `[unknown]`.
    pub application: String,
    /// IP address of the client, or `[local]` for a Unix socket.
    pub client: String,
}

impl LogSession {
    /// `application_name` of the load's sessions on servers that pgdyno started. Poolers forward it to PostgreSQL.
    pub const LOAD: &'static str = "pgdyno load";
    /// `application_name` of sessions that set none.
    pub const UNKNOWN: &'static str = "[unknown]";
    /// `client` of a session on a Unix socket.
    pub const LOCAL: &'static str = "[local]";

    /// True for pgdyno's own sessions, such as the monitoring's.
    pub fn is_own(&self) -> bool {
        self.application.starts_with("pgdyno") && self.application != LogSession::LOAD
    }
}

impl LogEvent {
    /// Suffix of the text of an event that aggregates several events of its kind. Their number precedes the suffix.
    pub const AGGREGATE_SUFFIX: &'static str = " more within a second";

    /// Duration and text of a slow statement of PostgreSQL: `duration: 12.345 ms statement: select ?`. `None` for other
    /// events, and for the phases of a statement before its execution.
    pub fn slow_statement(&self) -> Option<(Nanos, &str)> {
        let (_, rest) = self.text.split_once(": ").filter(|_| self.kind == EventKind::SlowStatement)?;
        let (millis, rest) = rest.split_once(' ')?;
        let (words, statement) = rest.split_once(": ")?;
        let phase = words.split(' ').nth(1)?;
        let millis: f64 = millis.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)?;
        (!["parse", "bind"].contains(&phase)).then(|| (Nanos::from_secs_f64(millis / 1e3), statement))
    }

    /// Number of lines that the event represents, at least 1.
    pub fn line_count(&self) -> u64 {
        self.text.strip_suffix(LogEvent::AGGREGATE_SUFFIX).and_then(|it| it.parse().ok()).unwrap_or(1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    Deadlock,
    /// No free connection slot: SQLSTATE 53300.
    TooManyConnections,
    SlowStatement,
    /// FATAL or PANIC message that belongs to no other kind.
    Fatal,
    /// ERROR message that belongs to no other kind.
    Error,
    /// Stop, start or state change of a server, pooler or balancer.
    Lifecycle,
    /// Injected fault; the text names it as in the experiment file.
    Fault,
    /// Reverted fault; the text names it as in the experiment file.
    Reverted,
    /// Promotion of a replica to primary; the text names the timeline.
    Promoted,
    /// Rejoin of a former primary; the text contains the method.
    Rejoined,
    Other,
}

/// One second of a trial. Stop rules read it during the trial, or later from a stored run.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Number of the second since the window's start, from 0.
    pub second: u64,
    pub interval: Interval,
    /// Transactions in flight at the end of the second.
    pub in_flight: u64,
    pub samples: Vec<Sample>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_slow_statements() {
        let check = |kind, text: &str, expected: Option<(u64, &str)>| {
            let (node, text) = ("postgres".to_owned(), text.to_owned());
            let event = LogEvent { at: Nanos(1), node, kind, code: None, text, session: None };
            let found = event.slow_statement().map(|(duration, text)| (duration.0 / 1000, text));
            assert_eq!(found, expected, "{event:?}");
        };
        let slow = EventKind::SlowStatement;
        check(slow, "duration: 12.345 ms statement: select ?", Some((12_345, "select ?")));
        check(slow, "duration: 0.100 ms execute P_0: select a: b", Some((100, "select a: b")));
        check(slow, "продолжительность: 1523.917 мс, оператор: UPDATE t", Some((1_523_917, "UPDATE t")));
        check(slow, "duration: 1.000 ms parse P_0: select ?", None);
        check(slow, "duration: 1.000 ms bind P_0/C_0: select ?", None);
        check(slow, "duration: 1.000 ms", None);
        check(slow, "duration: ms statement: select ?", None);
        check(slow, "7 more within a second", None);
        check(slow, "slow query: 0.312 sec, select ?", None);
        check(EventKind::Error, "duration: 12.345 ms statement: select ?", None);
    }
}
