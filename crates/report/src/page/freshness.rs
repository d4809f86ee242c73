//! Section on the freshness of reads on replicas

use super::context::PageContext;
use super::failover::has_several_cells;
use super::figure_table::{FigureColumn, non_empty_columns};
use super::maximum::capitalise;
use crate::lang::Lang;
use crate::lang::freshness::share;
use crate::say;
use crate::view::{Block, Column, Line, Table, Tone};
use model::Nanos;
use model::freshness::{FreshnessResult, ReplicaFreshness, StaleReads, VisibilityDelay};

/// Builds a table with one row per replica of each cell, followed by conclusions for each cell.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> = figures(case).map(Block::Table).into_iter().collect();
    let several = has_several_cells(case);
    for freshness in &case.account.freshness {
        let lang = case.lang;
        let name = if several { case.name(freshness.cell) } else { "" };
        let own_writes = lang.own_writes(freshness, name);
        let line = |text, tone| Block::Text(Line { text, tone });
        blocks.push(line(if several { own_writes } else { capitalise(&own_writes) }, Tone::Plain));
        blocks.extend(freshness.round_robin.map(|it| line(lang.round_robin(&it), Tone::Plain)));
        if let Some(is_kept) = freshness.is_promise_kept() {
            blocks.push(line(lang.remote_apply(is_kept), if is_kept { Tone::Good } else { Tone::Bad }));
        }
    }
    blocks
}

/// Data of a table row: one replica of one cell.
type ReplicaRow<'a> = (&'a FreshnessResult, &'a ReplicaFreshness);

fn figures(case: &PageContext<'_>) -> Option<Table> {
    let rows: Vec<ReplicaRow<'_>> = case
        .account
        .freshness
        .iter()
        .flat_map(|result| result.replicas.iter().map(move |it| (result, it)))
        .collect();
    let rows: Vec<&ReplicaRow<'_>> = rows.iter().collect();
    let (first, lang) = (rows.first()?.0, case.lang);
    let count = |it: u64| lang.number(&it.to_string());
    let stale = |format: fn(&StaleReads, &Lang) -> String| {
        move |(_, replica): &ReplicaRow<'_>| replica.stale.map_or(String::new(), |stale| format(&stale, lang))
    };
    let visible = |delay: Option<VisibilityDelay>, bound| {
        delay.map_or(String::new(), |delay| delay_text(delay, bound, lang))
    };
    let all: Vec<FigureColumn<'_, ReplicaRow<'_>>> = vec![
        (
            say!(lang, "freshness-column-reads"),
            2,
            Box::new(stale(|it, lang| lang.number(&it.total.to_string()))),
        ),
        (say!(lang, "freshness-column-stale"), 0, Box::new(stale(|it, lang| share(it, lang.numbers())))),
        (lang.visible("p50"), 1, Box::new(move |it| visible(it.1.p50, it.0.bound))),
        (lang.visible("p90"), 3, Box::new(move |it| visible(it.1.p90, it.0.bound))),
        (lang.visible("p99"), 2, Box::new(move |it| visible(it.1.p99, it.0.bound))),
        (
            lang.not_visible(first.bound),
            1,
            Box::new(move |it| it.1.stale.map_or(String::new(), |_| count(it.1.not_visible))),
        ),
        (say!(lang, "freshness-column-unanswered"), 4, Box::new(move |it| count(it.1.unanswered))),
    ];
    let replica = Column { heading: say!(lang, "freshness-column-replica"), ..Column::default() };
    let mut table = non_empty_columns((replica, |it: &ReplicaRow<'_>| it.1.node.clone()), all, &rows);
    if has_several_cells(case) {
        table.columns.insert(0, Column { heading: say!(lang, "freshness-column-cell"), ..Column::default() });
        for (row, freshness) in table.rows.iter_mut().zip(&rows) {
            row.cells.insert(0, case.name(freshness.0.cell).to_owned());
        }
    }
    for (row, freshness) in table.rows.iter_mut().zip(&rows) {
        row.tone = match freshness.1.stale {
            None => Tone::Faint,
            Some(stale) if freshness.0.promised && stale.stale > 0 => Tone::Bad,
            Some(_) => Tone::Plain,
        };
    }
    Some(table)
}

fn delay_text(delay: VisibilityDelay, bound: Nanos, lang: &Lang) -> String {
    match delay {
        VisibilityDelay::Within(it) => lang.time(it),
        VisibilityDelay::AfterBound => format!("> {}", lang.numbers().chosen(bound)),
    }
}
