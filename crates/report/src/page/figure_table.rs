//! Tables of figures, with a column per figure

use crate::lang::Lang;
use crate::lang::number::millis;
use crate::say;
use crate::view::{Column, Row, Table};
use model::Nanos;
use model::run_result::{PeriodResult, Quantiles};

/// Column of a table: heading, drop order, and text for one row.
pub(super) type FigureColumn<'a, T> = (String, u8, Box<dyn Fn(&T) -> String + 'a>);

/// Builds a table of `rows`, without columns that are empty in all rows.
pub(super) fn non_empty_columns<T>(
    first: (Column, impl Fn(&T) -> String),
    figures: Vec<FigureColumn<'_, T>>,
    rows: &[&T],
) -> Table {
    let mut table = Table {
        columns: vec![first.0],
        rows: rows.iter().map(|it| Row { cells: vec![(first.1)(it)], ..Row::default() }).collect(),
        ..Table::default()
    };
    for (heading, dispensable, figure) in figures {
        let cells: Vec<String> = rows.iter().map(|it| figure(it)).collect();
        if cells.iter().all(|it| it.is_empty() || (it == "0" && dispensable > 0)) {
            continue;
        }
        table.columns.push(Column { heading, numeric: true, drop_order: dispensable });
        table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.cells.push(cell));
    }
    table
}

/// Columns of the figures that all periods have: duration, throughput, response times and failures.
pub(super) fn period_columns<'a, T: 'a>(
    lang: &'a Lang,
    period: fn(&T) -> &PeriodResult,
) -> Vec<FigureColumn<'a, T>> {
    let count = |count: u64| lang.number(&count.to_string());
    let response = move |row: &T, value: fn(&Quantiles) -> Option<Nanos>, quantile| {
        let PeriodResult { response, count, .. } = period(row);
        time((response, *count), value(response), quantile, lang)
    };
    vec![
        (
            say!(lang, "page-load-stage-seconds"),
            6,
            Box::new(move |it| lang.numbers().three(period(it).measured.as_secs_f64())),
        ),
        (say!(lang, "page-delivered"), 0, Box::new(move |it| lang.numbers().three(period(it).delivered.0))),
        (lang.times(false, "p50"), 1, Box::new(move |it| response(it, |times| times.p50, 0.5))),
        (lang.times(false, "p99"), 0, Box::new(move |it| response(it, |times| times.p99, 0.99))),
        (say!(lang, "page-failed"), 0, Box::new(move |it| count(period(it).failed))),
        (say!(lang, "page-dropped"), 3, Box::new(move |it| count(period(it).dropped))),
        (say!(lang, "page-load-stage-refused"), 3, Box::new(move |it| count(period(it).refused))),
    ]
}

/// A response time, or a lower bound such as `>6000` if the value lies among unanswered requests. `place` is the quantile
/// (0..=1), or 1 for the mean and the maximum. `answered` is the number of requests that received a response.
pub(super) fn time(
    (quantiles, answered): (&Quantiles, u64),
    value: Option<Nanos>,
    place: f64,
    lang: &Lang,
) -> String {
    match quantiles.unanswered.and_then(|unanswered| unanswered.longer_than(place, answered)) {
        Some(it) => format!(">{}", millis(Some(it), lang)),
        None => millis(value, lang),
    }
}
