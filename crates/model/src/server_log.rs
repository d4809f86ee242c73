//! Contents of the logs of servers and services, summed over a trial or over the trials of a cell

use crate::{EventKind, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Deadlocks between the same statements on one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadlockGroup {
    pub node: String,
    /// Statement of each process without values, sorted; empty if the log does not show the statements.
    pub statements: Vec<String>,
    /// Distinct locks for which the processes waited: mode and kind of the object, such as `ShareLock on transaction`.
    pub locks: Vec<String>,
    /// Distinct relations of the tuples on which the cancelled statements waited.
    pub relations: Vec<String>,
    /// Tuple of the first deadlock: block and line pointer, such as `(0,1)`; `None` if no tuple was involved.
    pub tuple: Option<String>,
    /// Number of deadlocks, at least 1.
    pub count: u64,
    /// Time of the first deadlock since the window's start.
    #[serde(rename = "first_ns")]
    pub first: Nanos,
}

/// Deadlocks between the same statements in the trials of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CellDeadlocks {
    /// Sum over the trials. `tuple` and `first_ns` belong to the first trial with such a deadlock.
    #[serde(flatten)]
    pub group: DeadlockGroup,
    /// Repetition of the first trial with such a deadlock, from 0.
    pub first_repetition: u32,
}

/// Contents of the logs of a cell's trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CellLog {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Deadlocks by their statements, the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<CellDeadlocks>,
    /// Statements that PostgreSQL logged as slow; absent unless `log_min_duration_statement` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowStatements>,
    /// Errors, warnings and slow requests in the logs of all nodes by node and text, the most severe kind first and in
    /// it the most frequent first. Slow statements and deadlocks of PostgreSQL are not repeated here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<LogMessage>,
}

/// Lines of a node's log that differ only in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogMessage {
    pub node: String,
    pub kind: EventKind,
    /// SQLSTATE, if the log contains it.
    pub code: Option<String>,
    /// Text of the first line, without values; `None` for lines that were only counted, because there were too many in
    /// a second.
    pub text: Option<String>,
    pub count: u64,
    pub first: LogTime,
    pub last: LogTime,
}

/// Time of a line in a cell's trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogTime {
    /// Repetition of the trial, from 0.
    pub repetition: u32,
    /// Time since the window's start.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
}

/// Statements that PostgreSQL logged because of their duration, without those of pgdyno's own sessions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlowStatements {
    /// Value of `log_min_duration_statement`, as the experiment file sets it. A number without unit is milliseconds.
    pub threshold: String,
    /// Number of slow statements in all trials.
    pub count: u64,
    /// Slow statements per thousand transactions of the load; `None` without transactions.
    pub per_thousand: Option<f64>,
    /// Longest duration; `None` without slow statements. A lower bound if `unknown` is not 0.
    #[serde(rename = "max_ns")]
    pub max: Option<Nanos>,
    /// Number of slow statements whose text and duration were not stored, because there were too many in a second.
    pub unknown: u64,
    /// Slow statements by their text, the most frequent first.
    pub statements: Vec<SlowStatement>,
}

/// Slow executions of one statement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlowStatement {
    /// Statement without values.
    pub text: String,
    pub count: u64,
    #[serde(rename = "mean_ns")]
    pub mean: Nanos,
    #[serde(rename = "max_ns")]
    pub max: Nanos,
}

/// Maximum number of groups of deadlocks that are stored; deadlocks between further statements are counted together.
pub const DEADLOCK_GROUPS_MAX: usize = 100;
/// Maximum number of lock modes and of relations in a group.
const NAMES_MAX: usize = 20;

impl DeadlockGroup {
    /// Adds this group to the groups of the same trial, which are in order of time.
    pub fn add_to(mut self, groups: &mut Vec<DeadlockGroup>) {
        if groups.len() >= DEADLOCK_GROUPS_MAX && !groups.iter().any(|it| it.is_like(&self)) {
            self.statements.clear();
        }
        match groups.iter_mut().find(|it| it.is_like(&self)) {
            Some(known) => known.merge(self),
            None => groups.push(self),
        }
    }

    /// True for deadlocks between the same statements on the same server.
    pub fn is_like(&self, other: &DeadlockGroup) -> bool {
        self.node == other.node && self.statements == other.statements
    }

    /// Adds later deadlocks between the same statements.
    pub fn merge(&mut self, later: DeadlockGroup) {
        self.count += later.count;
        for (names, more) in [(&mut self.locks, later.locks), (&mut self.relations, later.relations)] {
            names.extend(more);
            names.sort_unstable();
            names.dedup();
            names.truncate(NAMES_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(statement: &str, lock: &str, second: u64) -> DeadlockGroup {
        DeadlockGroup {
            node: "postgres".to_owned(),
            statements: vec![statement.to_owned(); 2],
            locks: vec![lock.to_owned()],
            relations: vec!["t".to_owned()],
            tuple: Some(format!("(0,{second})")),
            count: 1,
            first: Nanos::from_secs(second),
        }
    }

    #[test]
    fn groups_deadlocks_by_statements() {
        let mut groups = Vec::new();
        for (statement, lock, second) in [("a", "B", 1), ("c", "B", 2), ("a", "A", 3), ("a", "A", 4)] {
            group(statement, lock, second).add_to(&mut groups);
        }
        DeadlockGroup { node: "postgres-2".to_owned(), ..group("a", "A", 5) }.add_to(&mut groups);
        let shown: Vec<_> = groups.iter().map(|it| (&*it.node, &*it.statements[0], it.count)).collect();
        assert_eq!(shown, [("postgres", "a", 3), ("postgres", "c", 1), ("postgres-2", "a", 1)]);
        let first = DeadlockGroup { locks: vec!["A".into(), "B".into()], count: 3, ..group("a", "", 1) };
        assert_eq!(groups[0], first);
    }

    #[test]
    fn counts_further_statements_together() {
        let mut groups = Vec::new();
        (0..150).for_each(|it| group(&format!("{it}"), "A", it).add_to(&mut groups));
        assert_eq!(groups.len(), DEADLOCK_GROUPS_MAX + 1);
        let last = groups.last().expect("there are groups");
        assert_eq!((last.count, last.statements.len()), (50, 0));
        assert_eq!(groups.iter().map(|it| it.count).sum::<u64>(), 150);
    }
}
