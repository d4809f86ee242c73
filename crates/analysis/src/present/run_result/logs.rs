//! Contents of the servers' logs over the trials of a cell

use crate::facts::TrialFacts;
use crate::facts::event_count::is_server;
use model::plan::{GENERATOR, NodeKind};
use model::server_log::{
    CellDeadlocks, CellLog, DeadlockGroup, LogMessage, LogTime, SlowStatement, SlowStatements,
};
use model::{EventKind, LogEvent, LogSession, Nanos};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Contents of the logs of each cell; cells without contents are left out. Counts cover all trials.
pub fn logs(trials: &[TrialFacts<'_>]) -> Vec<CellLog> {
    let cells = trials.iter().map(|it| it.cell + 1).max().unwrap_or(0);
    let log = |cell: usize| {
        let trials: Vec<&TrialFacts<'_>> = trials.iter().filter(|it| it.cell == cell).collect();
        CellLog {
            cell,
            deadlocks: deadlocks(&trials),
            slow: slow_statements(&trials),
            messages: messages(&trials),
        }
    };
    (0..cells).map(log).filter(|it| *it != CellLog { cell: it.cell, ..CellLog::default() }).collect()
}

/// Deadlocks of a cell by their statements, the most frequent first. `trials` are in order of time.
pub fn deadlocks(trials: &[&TrialFacts<'_>]) -> Vec<CellDeadlocks> {
    let mut all: Vec<CellDeadlocks> = Vec::new();
    for trial in trials {
        for group in trial.deadlocks {
            match all.iter_mut().find(|it| it.group.is_like(group)) {
                Some(known) => known.group.merge(DeadlockGroup::clone(group)),
                None => {
                    all.push(CellDeadlocks { group: group.clone(), first_repetition: trial.repetition });
                }
            }
        }
    }
    all.sort_by_key(|it| Reverse(it.group.count));
    all
}

/// Slow statements of a cell; `None` unless the experiment file sets `log_min_duration_statement`.
fn slow_statements(trials: &[&TrialFacts<'_>]) -> Option<SlowStatements> {
    let threshold = slow_threshold(trials.first()?)?.to_owned();
    let (mut sums, mut unknown) = (BTreeMap::<&str, (u64, u64, Nanos)>::new(), 0);
    for trial in trials {
        let is_own = |event: &LogEvent| event.session.as_ref().is_some_and(LogSession::is_own);
        let slow =
            trial.events.iter().filter(|it| it.kind == EventKind::SlowStatement && it.at > Nanos::ZERO);
        for event in slow.filter(|it| is_server(trial, &it.node) && !is_own(it)) {
            if event.text.ends_with(LogEvent::AGGREGATE_SUFFIX) {
                unknown += event.line_count();
            } else if let Some((duration, text)) = event.slow_statement() {
                let (count, sum, max) = sums.entry(text).or_default();
                *count += 1;
                *sum += duration.0;
                *max = duration.max(*max);
            }
        }
    }
    let statement = |(text, (count, sum, max)): (&str, (u64, u64, Nanos))| SlowStatement {
        text: text.to_owned(),
        count,
        mean: Nanos(sum / count),
        max,
    };
    let mut statements: Vec<SlowStatement> = sums.into_iter().map(statement).collect();
    statements.sort_by_key(|it| (Reverse(it.count), Reverse(it.max)));
    let count = unknown + statements.iter().map(|it| it.count).sum::<u64>();
    let transactions: u64 = trials.iter().filter_map(|it| Some(it.summary?.total.counts.executed())).sum();
    let per_thousand = (transactions > 0).then(|| 1000.0 * count as f64 / transactions as f64);
    let max = statements.iter().map(|it| it.max).max();
    Some(SlowStatements { threshold, count, per_thousand, max, unknown, statements })
}

/// Value of `log_min_duration_statement` in the experiment file; `None` if the setting is off or unknown.
fn slow_threshold<'a>(trial: &TrialFacts<'a>) -> Option<&'a str> {
    let NodeKind::Postgres(postgres) = &trial.setup.stack.nodes.last()?.kind else { return None };
    let setting = postgres.settings.iter().rev().find(|it| it.0 == "log_min_duration_statement")?;
    Some(setting.1.as_str()).filter(|it| !it.starts_with('-'))
}

/// Kinds of events that [`messages`] lists, the most severe first.
const KINDS: [EventKind; 6] = [
    EventKind::Fatal,
    EventKind::TooManyConnections,
    EventKind::Deadlock,
    EventKind::Error,
    EventKind::SlowStatement,
    EventKind::Other,
];

/// Lines of the logs of a cell's nodes by node, kind and text.
fn messages(trials: &[&TrialFacts<'_>]) -> Vec<LogMessage> {
    let mut all: BTreeMap<(usize, &str, String), LogMessage> = BTreeMap::new();
    for trial in trials {
        let in_window = trial.events.iter().filter(|it| it.at > Nanos::ZERO && it.node != GENERATOR);
        for event in in_window {
            let Some(rank) = KINDS.iter().position(|it| *it == event.kind) else { continue };
            let has_table = matches!(event.kind, EventKind::Deadlock | EventKind::SlowStatement);
            if has_table && is_server(trial, &event.node) {
                continue;
            }
            let is_counted_only = event.text.ends_with(LogEvent::AGGREGATE_SUFFIX);
            let text = (!is_counted_only).then(|| event.text.clone());
            let key = (rank, event.node.as_str(), text.as_deref().map_or(String::new(), without_numbers));
            let last = LogTime { repetition: trial.repetition, at: event.at };
            let message = all.entry(key).or_insert_with(|| LogMessage {
                node: event.node.clone(),
                kind: event.kind,
                code: event.code.clone(),
                text,
                count: 0,
                first: last,
                last,
            });
            message.count += event.line_count();
            message.last = last;
        }
    }
    let mut all: Vec<(usize, LogMessage)> = all.into_iter().map(|(key, it)| (key.0, it)).collect();
    all.sort_by_key(|(rank, it)| (*rank, Reverse(it.count)));
    all.into_iter().map(|it| it.1).collect()
}

/// Text in which each number is replaced by `?`.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '0'..='9' if out.ends_with('?') => {}
            '0'..='9' => out.push('?'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests;
