//! Tables of the steps of operations

use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns, time};
use crate::lang::Lang;
use crate::lang::number::millis;
use crate::say;
use crate::view::{Block, Column, Row, Table, Tone};
use model::run_result::{CellResult, OperationResult, OperationStep, Quantiles};
use model::{Nanos, RequestPhase};

/// Longest name of a step in a table, in characters.
const NAME_CHARS_MAX: usize = 40;

/// Builds the tables of steps and of their failures for each chosen cell.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let results = case.chosen.iter().filter_map(|cell| Some((*cell, case.account.cells.get(*cell)?)));
    let tables = results.flat_map(|(cell, result)| {
        let name = case.name(cell);
        [table(result, name, case.lang), failures(result, name, case.lang)].into_iter().flatten()
    });
    tables.map(Block::Table).collect()
}

type Step<'a> = (&'a OperationResult, &'a OperationStep);

fn steps(cell: &CellResult) -> Vec<Step<'_>> {
    cell.operations
        .iter()
        .flat_map(|operation| operation.steps.iter().map(move |it| (operation, it)))
        .collect()
}

/// Name of a step with its operation and number.
fn name((operation, step): &Step<'_>) -> String {
    let mut short: String = step.name.chars().take(NAME_CHARS_MAX).collect();
    if short.len() < step.name.len() {
        short.push('…');
    }
    match operation.steps.len() {
        1 => format!("{}: {short}", operation.name),
        _ => format!("{}: {}. {short}", operation.name, step.number),
    }
}

fn caption(cell: &str, text: String) -> String {
    if cell.is_empty() { text } else { format!("{cell}: {text}") }
}

/// Table of the steps of a cell's operations; `None` without steps.
pub(crate) fn table(cell: &CellResult, name_of_cell: &str, lang: &Lang) -> Option<Table> {
    type Figure<'a> = FigureColumn<'a, Step<'a>>;
    let all = steps(cell);
    let count = |count: u64| lang.number(&count.to_string());
    let times = |figure: &str, order, place: f64, value: fn(&Quantiles) -> Option<Nanos>| -> Figure<'_> {
        let text =
            move |(_, step): &Step<'_>| time((&step.response, step.ok), value(&step.response), place, lang);
        (lang.times(false, figure), order, Box::new(text))
    };
    let phase = |phase: RequestPhase, order| -> Figure<'_> {
        let figures = move |(_, step): &Step<'_>| {
            let mean = step.phases.iter().find(|it| it.phase == phase).map(|it| it.mean);
            millis(mean, lang)
        };
        (lang.phase(phase), order, Box::new(figures))
    };
    let max = say!(lang, "bench-max");
    let figures: Vec<Figure<'_>> = vec![
        (say!(lang, "page-requests"), 0, Box::new(|it| count(it.1.ok + it.1.failed))),
        (say!(lang, "page-failed"), 1, Box::new(|it| count(it.1.failed))),
        (
            say!(lang, "page-not-reached"),
            2,
            Box::new(|(_, step)| {
                step.not_reached.map_or(String::new(), |missing| lang.number(&missing.to_string()))
            }),
        ),
        times("p50", 3, 0.5, |it| it.p50),
        times("p95", 6, 0.95, |it| it.p95),
        times("p99", 0, 0.99, |it| it.p99),
        times(&max, 5, 1.0, |it| it.max),
        phase(RequestPhase::Connect, 8),
        phase(RequestPhase::Tls, 8),
        phase(RequestPhase::FirstByte, 7),
        phase(RequestPhase::Transfer, 7),
        (say!(lang, "page-sent"), 9, Box::new(|it| lang.bytes(it.1.sent_bytes as f64))),
        (say!(lang, "page-received"), 9, Box::new(|it| lang.bytes(it.1.received_bytes as f64))),
    ];
    let first = (Column { heading: say!(lang, "page-step"), ..Column::default() }, name);
    let mut table = non_empty_columns(first, figures, &all.iter().collect::<Vec<_>>());
    table.caption = caption(name_of_cell, say!(lang, "page-steps"));
    (!all.is_empty()).then_some(table)
}

/// Table of the failures of each step; `None` without failures.
pub(crate) fn failures(cell: &CellResult, name_of_cell: &str, lang: &Lang) -> Option<Table> {
    let text = |heading| Column { heading, ..Column::default() };
    let count = Column { heading: say!(lang, "page-count"), numeric: true, drop_order: 0 };
    let has_bodies = steps(cell).iter().flat_map(|it| &it.1.failures).any(|it| it.body.is_some());
    let mut columns = vec![
        text(say!(lang, "page-step")),
        text(say!(lang, "page-failure")),
        count,
        Column { drop_order: 2, ..text(say!(lang, "bench-effect")) },
    ];
    if has_bodies {
        columns.push(Column { drop_order: 1, ..text(say!(lang, "page-answer-body")) });
    }
    let all = steps(cell);
    let rows = all.iter().flat_map(|it| it.1.failures.iter().map(move |failure| (it, failure)));
    let row = |(step, failure): (&Step<'_>, &model::summary::Failure)| {
        let count = lang.number(&failure.count.to_string());
        let mut cells = vec![name(step), failure.describe(), count, lang.effect(failure.class)];
        cells.extend(has_bodies.then(|| failure.body.clone().unwrap_or_default()));
        Row { cells, tone: Tone::Bad, baseline: false }
    };
    let rows: Vec<Row> = rows.map(row).collect();
    let caption = caption(name_of_cell, say!(lang, "page-step-failures"));
    (!rows.is_empty()).then_some(Table { caption, columns, rows, notes: Vec::new() })
}
