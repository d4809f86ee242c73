//! Section with the results of each operation

use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns, time};
use super::stages;
use crate::lang::Lang;
use crate::lang::number::millis;
use crate::say;
use crate::view::{Block, Column, Line, Picture, Plot, PlotAxis, PlotPoint, PointSeries, Row, Table, Tone};
use model::chart::ChartUnit;
use model::run_result::{CellResult, OperationResult, RunResult};
use model::{Nanos, SizeFigures, StatementRows};

/// Builds a table of operations and a table of failures for each chosen cell.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> = case.chosen.iter().flat_map(|it| tables(case, *it)).collect();
    let others: Vec<Vec<Block>> = (0..case.account.cells.len())
        .filter(|it| !case.chosen.contains(it))
        .map(|it| tables(case, it))
        .filter(|it| !it.is_empty())
        .collect();
    if !others.is_empty() {
        let name = say!(case.lang, "page-more-cells", count = others.len());
        blocks.push(Block::Details { name, blocks: others.concat() });
    }
    blocks.extend(curves(case).map(Block::Picture));
    blocks
}

/// Tables of one cell.
fn tables(case: &PageContext<'_>, cell: usize) -> Vec<Block> {
    let Some(result) = case.account.cells.get(cell) else { return Vec::new() };
    let name = case.name(cell);
    let tables = [
        operations(result, name.to_owned(), case.lang),
        stages::table(case, cell),
        rows(result, name, case.lang),
        failures(result, name, case.lang),
    ];
    tables.into_iter().flatten().map(Block::Table).collect()
}

/// Picture of the response time by quantile, with a line per chosen cell; `None` if no cell has enough samples.
fn curves(case: &PageContext<'_>) -> Option<Picture> {
    let lang = case.lang;
    let line = |&cell: &usize| {
        let total = case.account.cells.get(cell)?.total.as_ref()?;
        // A logarithmic axis has no zero.
        let timed = total.response_curve.iter().filter(|point| point.time.0 > 0);
        let points: Vec<PlotPoint> = timed
            .map(|point| PlotPoint {
                x: point.quantile,
                y: Some(point.time.as_secs_f64()),
                tone: Tone::Plain,
            })
            .collect();
        let label = case.name(cell).to_owned();
        (points.len() > 1).then_some((PointSeries { label, connected: true, points }, total))
    };
    let (series, totals): (Vec<_>, Vec<_>) = case.chosen.iter().filter_map(line).unzip();
    let unanswered: u64 = totals.iter().filter_map(|it| it.response.unanswered).map(|it| it.count).sum();
    let axis = |title, unit| PlotAxis { title, unit, logarithmic: true, references: Vec::new() };
    let x = axis(lang.axis(ChartUnit::Quantile), ChartUnit::Quantile);
    let y = axis(say!(lang, "overview-response"), ChartUnit::Seconds);
    let caption = say!(lang, "page-response-curve", unanswered);
    (!series.is_empty()).then_some(Picture { caption, plot: Plot::Points { x, y, series } })
}

fn operations(cell: &CellResult, caption: String, lang: &Lang) -> Option<Table> {
    let total = cell.total.as_ref()?;
    let mut rows: Vec<&OperationResult> = cell.operations.iter().collect();
    // Omit a single operation, because it equals the total.
    if rows.len() != 1 {
        rows.push(total);
    }
    let name = |operation: &OperationResult| match operation.name.as_str() {
        "" => say!(lang, "page-all-operations"),
        name => name.to_owned(),
    };
    let failed =
        |operation: &OperationResult| operation.failures.iter().map(|failure| failure.count).sum::<u64>();
    let count = |count: u64| lang.number(&count.to_string());
    let [mean, max] = [&say!(lang, "bench-mean"), &say!(lang, "bench-max")];
    let figures: Vec<FigureColumn<'_, OperationResult>> = vec![
        (say!(lang, "page-offered"), 5, Box::new(|it| lang.numbers().three(it.offered.0))),
        (say!(lang, "page-delivered"), 0, Box::new(|it| lang.numbers().three(it.delivered.0))),
        (
            say!(lang, "page-goodput"),
            2,
            Box::new(|operation| {
                operation.goodput.map_or(String::new(), |rate| lang.numbers().three(rate.0))
            }),
        ),
        (lang.times(false, mean), 8, Box::new(|it| response(it, it.response.mean, 1.0, lang))),
        (lang.times(false, "p50"), 1, Box::new(|it| response(it, it.response.p50, 0.5, lang))),
        (lang.times(false, "p90"), 7, Box::new(|it| response(it, it.response.p90, 0.9, lang))),
        (lang.times(false, "p95"), 4, Box::new(|it| response(it, it.response.p95, 0.95, lang))),
        (lang.times(false, "p99"), 0, Box::new(|it| response(it, it.response.p99, 0.99, lang))),
        (lang.times(false, "p99.9"), 4, Box::new(|it| response(it, it.response.p999, 0.999, lang))),
        (lang.times(false, max), 5, Box::new(|it| response(it, it.response.max, 1.0, lang))),
        (lang.times(true, mean), 9, Box::new(|it| millis(it.service.mean, lang))),
        (lang.times(true, "p50"), 6, Box::new(|it| millis(it.service.p50, lang))),
        (lang.times(true, "p99"), 6, Box::new(|it| millis(it.service.p99, lang))),
        (say!(lang, "page-count"), 4, Box::new(|it| count(it.count))),
        (say!(lang, "page-failed"), 3, Box::new(|it| count(failed(it)))),
        (say!(lang, "page-dropped"), 3, Box::new(|it| count(it.dropped))),
        (lang.size("p50"), 5, Box::new(|operation| size(operation, |sizes| sizes.p50, lang))),
        (lang.size("p99"), 7, Box::new(|operation| size(operation, |sizes| sizes.p99, lang))),
        (lang.size(max), 8, Box::new(|operation| size(operation, |sizes| Some(sizes.max), lang))),
    ];
    let first = (Column { heading: say!(lang, "page-operation"), ..Column::default() }, name);
    let mut table = non_empty_columns(first, figures, &rows);
    table.caption = caption;
    if let Some(connects) = &cell.initial_connects {
        let (median, max) = (millis(Some(connects.median), lang), millis(Some(connects.max), lang));
        let text = say!(lang, "page-initial-connects", median, max, trials = connects.trials);
        table.notes.push((String::new(), Line { text, tone: Tone::Faint }));
    }
    Some(table)
}

/// Formats a response size; empty if unknown.
fn size(operation: &OperationResult, figure: fn(&SizeFigures) -> Option<u64>, lang: &Lang) -> String {
    operation.sizes.as_ref().and_then(figure).map_or(String::new(), |it| lang.bytes(it as f64))
}

/// Table of response sizes by cell and operation; `None` without sizes.
pub(crate) fn sizes(account: &RunResult, names: &[String], lang: &Lang) -> Option<Table> {
    let cells = account.cells.iter().zip(names);
    let rows: Vec<(String, &OperationResult)> = cells
        .flat_map(|(cell, name)| cell.operations.iter().map(move |it| (name, it)))
        .filter(|(_, it)| it.sizes.is_some())
        .map(|(name, operation)| {
            (
                if name.is_empty() { operation.name.clone() } else { format!("{name}: {}", operation.name) },
                operation,
            )
        })
        .collect();
    let figures: Vec<FigureColumn<'_, (String, &OperationResult)>> = vec![
        (
            say!(lang, "page-count"),
            0,
            Box::new(|(_, operation)| {
                lang.number(&operation.sizes.map_or(0, |sizes| sizes.count).to_string())
            }),
        ),
        (lang.size("p50"), 0, Box::new(|(_, operation)| size(operation, |sizes| sizes.p50, lang))),
        (lang.size("p99"), 0, Box::new(|(_, operation)| size(operation, |sizes| sizes.p99, lang))),
        (
            lang.size(&say!(lang, "bench-max")),
            0,
            Box::new(|(_, operation)| size(operation, |sizes| Some(sizes.max), lang)),
        ),
    ];
    let first = (
        Column { heading: say!(lang, "page-answer-sizes"), ..Column::default() },
        |it: &(String, &OperationResult)| it.0.clone(),
    );
    let table = non_empty_columns(first, figures, &rows.iter().collect::<Vec<_>>());
    (!rows.is_empty()).then_some(table)
}

/// Table of the numbers of rows of each statement; `None` if no statement has rows.
fn rows(cell: &CellResult, name: &str, lang: &Lang) -> Option<Table> {
    let rows: Vec<(&OperationResult, &StatementRows)> =
        cell.operations.iter().flat_map(|it| it.rows.iter().map(move |rows| (it, rows))).collect();
    type Figure<'a> = FigureColumn<'a, (&'a OperationResult, &'a StatementRows)>;
    let count = |count: Option<u64>| count.map_or(String::new(), |count| lang.number(&count.to_string()));
    let heading = |quantile: &str| say!(lang, "page-row-count", which = quantile);
    let figures: Vec<Figure<'_>> = vec![
        (say!(lang, "page-count"), 0, Box::new(|it| count(Some(it.1.rows.count)))),
        (
            say!(lang, "page-without-rows"),
            0,
            Box::new(|it| lang.number(&format!("{:.1}", 100.0 * it.1.empty))),
        ),
        (heading("p50"), 0, Box::new(|it| count(it.1.rows.p50))),
        (heading("p99"), 2, Box::new(|it| count(it.1.rows.p99))),
        (heading(&say!(lang, "page-series-max")), 1, Box::new(|it| count(Some(it.1.rows.max)))),
    ];
    let statement = |(operation, rows): &(&OperationResult, &StatementRows)| {
        let keyword = rows.statement.keyword().unwrap_or("…");
        format!("{}: {}. {keyword}", operation.name, rows.command + 1)
    };
    let first = (Column { heading: say!(lang, "page-statement"), ..Column::default() }, statement);
    let mut table = non_empty_columns(first, figures, &rows.iter().collect::<Vec<_>>());
    let prefix = if name.is_empty() { String::new() } else { format!("{name}: ") };
    table.caption = prefix + &say!(lang, "page-rows");
    (!rows.is_empty()).then_some(table)
}

/// A response time, or a lower bound such as `>6000` if the value lies among unanswered arrivals. `place` is the
/// quantile (0..=1), or 1 for the mean and the maximum.
fn response(operation: &OperationResult, value: Option<Nanos>, place: f64, lang: &Lang) -> String {
    time((&operation.response, operation.count), value, place, lang)
}

fn failures(cell: &CellResult, name: &str, lang: &Lang) -> Option<Table> {
    let failures = &cell.total.as_ref()?.failures;
    let text = |heading| Column { heading, ..Column::default() };
    let count = Column { heading: say!(lang, "page-count"), numeric: true, drop_order: 0 };
    let columns = vec![text(say!(lang, "page-failure")), count, text(say!(lang, "bench-effect"))];
    let row = |failure: &model::summary::Failure| {
        let cells =
            vec![failure.describe(), lang.number(&failure.count.to_string()), lang.effect(failure.class)];
        Row { cells, tone: Tone::Bad, baseline: false }
    };
    let rows: Vec<Row> = failures.iter().map(row).collect();
    let prefix = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let caption = prefix + &say!(lang, "bench-failures");
    (!rows.is_empty()).then_some(Table { caption, columns, rows, notes: Vec::new() })
}
