//! Table of the parts of the mean response time

use super::context::PageContext;
use crate::lang::number::millis;
use crate::say;
use crate::view::{Column, Row, Table};
use model::Nanos;
use model::plan::GENERATOR;
use model::run_result::{SessionActivity, TimePart};

/// Table of a cell's time parts; `None` if only the rest is known.
pub(super) fn table(case: &PageContext<'_>, cell: usize) -> Option<Table> {
    let parts = &case.account.cells.get(cell)?.time_parts;
    if parts.iter().all(|it| it.node.is_none()) {
        return None;
    }
    let lang = case.lang;
    let whole: f64 = parts.iter().map(|it| it.time.as_secs_f64()).sum();
    let column = |heading: String, numeric| Column { heading, numeric, ..Column::default() };
    let row = |part: &TimePart| {
        let share = part.time.as_secs_f64() / whole;
        let cells = vec![name(case, part), millis(Some(part.time), lang), lang.numbers().percent(share, 0)];
        Row { cells, ..Row::default() }
    };
    Some(Table {
        caption: say!(lang, "page-time-parts"),
        columns: vec![
            column(say!(lang, "page-time-part"), false),
            column(say!(lang, "page-time-mean"), true),
            column(say!(lang, "page-time-share"), true),
        ],
        rows: parts.iter().filter(|it| it.time > Nanos::ZERO).map(row).collect(),
        ..Table::default()
    })
}

/// Node with the largest share of the response time, and its time; the node is `None` if the rest is larger than the time in
/// any node. `None` if the time is unknown.
pub(super) fn largest<'a>(case: &'a PageContext<'_>, cell: usize) -> Option<(Option<&'a str>, Nanos)> {
    let parts = &case.account.cells.get(cell)?.time_parts;
    let mut sums: Vec<(Option<&str>, Nanos)> = Vec::new();
    for part in parts {
        match sums.iter_mut().find(|it| it.0 == part.node.as_deref()) {
            Some(sum) => sum.1 = Nanos(sum.1.0 + part.time.0),
            None => sums.push((part.node.as_deref(), part.time)),
        }
    }
    sums.into_iter().max_by_key(|it| it.1).filter(|it| it.1 >= Nanos::from_micros(1))
}

fn name(case: &PageContext<'_>, part: &TimePart) -> String {
    let lang = case.lang;
    let Some(node) = &part.node else { return say!(lang, "page-time-unknown") };
    match &part.activity {
        None if node == GENERATOR => say!(lang, "page-generator"),
        None => node.clone(),
        Some(SessionActivity::Running) => say!(lang, "page-time-running", node),
        Some(SessionActivity::Waiting { event }) => say!(lang, "page-time-waiting", node, event),
        Some(SessionActivity::OtherWaits) => say!(lang, "page-time-other-waits", node),
        Some(SessionActivity::IdleInTransaction) => say!(lang, "page-time-idle", node),
    }
}
