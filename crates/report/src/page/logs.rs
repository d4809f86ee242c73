//! Section with the contents of the logs of servers and services

use super::context::PageContext;
use super::failover::has_several_cells;
use crate::say;
use crate::text::truncate;
use crate::view::{Block, Column, Row, Table, Tone};
use model::Nanos;
use model::server_log::{CellDeadlocks, CellLog, LogMessage, SlowStatement, SlowStatements};

/// Maximum number of characters that are shown of a statement.
const STATEMENT_CHARS_MAX: usize = 200;
/// Maximum number of rows that a table shows.
const ROWS_MAX: usize = 20;

/// Builds the tables; empty if the logs have no contents.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let (slow, statements) = slow_statements(case);
    let folded = |table: Table| Block::Details {
        name: say!(case.lang, "logs-folded", name = table.caption.clone(), count = table.rows.len()),
        blocks: vec![Block::Table(table)],
    };
    let shown = [deadlocks(case), slow].into_iter().flatten().map(Block::Table);
    shown.chain([statements, messages(case)].into_iter().flatten().map(folded)).collect()
}

/// Builds a table from the rows of all cells, with a column for the cell if there are several. `None` without rows.
fn table<'a, T: 'a>(
    case: &PageContext<'a>,
    caption: String,
    headings: Vec<(String, bool, u8)>,
    entries: impl Fn(&'a CellLog) -> &'a [T],
    cells: impl Fn(&T) -> Vec<String>,
) -> Option<Table> {
    let lang = case.lang;
    let column = |(heading, numeric, drop_order)| Column { heading, numeric, drop_order };
    let mut columns: Vec<Column> = headings.into_iter().map(column).collect();
    let logs = &case.account.logs;
    let several = has_several_cells(case);
    let mut rows = Vec::new();
    for log in logs {
        for entry in entries(log).iter().take(ROWS_MAX) {
            let name = several.then(|| case.name(log.cell).to_owned());
            rows.push(Row { cells: name.into_iter().chain(cells(entry)).collect(), ..Row::default() });
        }
    }
    if several {
        columns.insert(0, Column { heading: say!(lang, "tables-column-cell"), ..Column::default() });
    }
    let more: usize = logs.iter().map(|it| entries(it).len().saturating_sub(ROWS_MAX)).sum();
    let note = crate::view::Line { text: say!(lang, "logs-more-rows", count = more), tone: Tone::Faint };
    let notes = if more > 0 { vec![(String::new(), note)] } else { Vec::new() };
    (!rows.is_empty()).then_some(Table { caption, columns, rows, notes })
}

fn deadlocks(case: &PageContext<'_>) -> Option<Table> {
    let lang = case.lang;
    let headings = vec![
        (say!(lang, "logs-column-statements"), false, 0),
        (say!(lang, "logs-column-relation"), false, 0),
        (say!(lang, "logs-column-locks"), false, 2),
        (say!(lang, "page-count"), true, 0),
        (say!(lang, "logs-column-first"), false, 1),
    ];
    let cells = |CellDeadlocks { group, first_repetition }: &CellDeadlocks| {
        let statements: Vec<String> =
            group.statements.iter().map(|it| truncate(it, STATEMENT_CHARS_MAX)).collect();
        let statements = match statements.is_empty() {
            true => say!(lang, "logs-unknown-statements"),
            false => statements.join(" ↔ "),
        };
        let relation = match (&group.tuple, group.relations.as_slice()) {
            (Some(tuple), relations) if relations.len() < 2 => {
                format!("{} {tuple}", relations.join(", ")).trim().to_owned()
            }
            (_, relations) => relations.join(", "),
        };
        let count = lang.number(&group.count.to_string());
        vec![statements, relation, group.locks.join(", "), count, time(case, group.first, *first_repetition)]
    };
    table(case, say!(lang, "logs-deadlocks"), headings, |log| &log.deadlocks, cells)
}

/// Builds a table with one row per cell, and a table of the statements.
fn slow_statements(case: &PageContext<'_>) -> (Option<Table>, Option<Table>) {
    let lang = case.lang;
    let number = |it: u64| lang.number(&it.to_string());
    let max = |slow: &SlowStatements| {
        let max = slow.max.map_or(String::new(), |it| lang.time(it));
        if slow.unknown > 0 && !max.is_empty() { format!("≥ {max}") } else { max }
    };
    let headings = vec![
        (say!(lang, "logs-column-threshold"), true, 0),
        (say!(lang, "page-count"), true, 0),
        (say!(lang, "logs-column-per-thousand"), true, 1),
        (say!(lang, "page-series-max"), true, 0),
    ];
    let cells = |slow: &SlowStatements| {
        let rate = slow.per_thousand.map_or(String::new(), |it| lang.numbers().three(it));
        vec![slow.threshold.clone(), number(slow.count), rate, max(slow)]
    };
    let by_cell = table(case, say!(lang, "logs-slow"), headings, |log| log.slow.as_slice(), cells);
    let headings = vec![
        (say!(lang, "page-statement"), false, 0),
        (say!(lang, "page-count"), true, 0),
        (say!(lang, "logs-column-mean"), true, 1),
        (say!(lang, "page-series-max"), true, 0),
    ];
    let cells = |slow: &SlowStatement| {
        let text = truncate(&slow.text, STATEMENT_CHARS_MAX);
        vec![text, number(slow.count), lang.time(slow.mean), lang.time(slow.max)]
    };
    let by_text = table(case, say!(lang, "logs-slow-statements"), headings, slow_texts, cells);
    (by_cell, by_text)
}

fn slow_texts(log: &CellLog) -> &[SlowStatement] {
    log.slow.as_ref().map_or(&[], |it| &it.statements)
}

fn messages(case: &PageContext<'_>) -> Option<Table> {
    let lang = case.lang;
    let headings = vec![
        (say!(lang, "logs-column-node"), false, 0),
        (say!(lang, "logs-column-kind"), false, 1),
        (say!(lang, "logs-column-message"), false, 0),
        (say!(lang, "page-count"), true, 0),
        (say!(lang, "logs-column-first-line"), false, 2),
        (say!(lang, "logs-column-last-line"), false, 3),
    ];
    let cells = |message: &LogMessage| {
        let text = message.text.as_ref().map(|it| truncate(it, STATEMENT_CHARS_MAX));
        let text = text.unwrap_or_else(|| say!(lang, "logs-further-lines"));
        let text = message.code.iter().cloned().chain([text]).collect::<Vec<_>>().join(" ");
        let [first, last] = [message.first, message.last].map(|it| time(case, it.at, it.repetition));
        let count = lang.number(&message.count.to_string());
        vec![message.node.clone(), lang.event(message.kind), text, count, first, last]
    };
    table(case, say!(lang, "logs-messages"), headings, |log| &log.messages, cells)
}

/// Time in a trial's window, with the trial's number if there are several trials.
fn time(case: &PageContext<'_>, at: Nanos, repetition: u32) -> String {
    let several = case.account.trials.iter().any(|it| it.repetition > 0);
    let trial = several.then(|| case.lang.trial("", repetition + 1));
    trial.into_iter().chain([case.lang.time(at)]).collect::<Vec<_>>().join(", ")
}
