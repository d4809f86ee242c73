//! How old is what is read on replicas?

use super::case::Case;
use super::maximum::upper;
use super::results::{Figure, filled};
use super::survival::several;
use super::{Block, Column, Line, Table, Tone};
use crate::lang::Lang;
use crate::lang::freshness::{Fresh, share};
use model::Nanos;
use model::freshness::{OfReplica, OldShare, Staleness, Visible};

/// A row for each replica of each cell, then what that means, cell by cell.
pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> = figures(case).map(Block::Table).into_iter().collect();
    let several = several(case);
    for it in &case.account.freshness {
        let lang = case.lang;
        let name = if several { case.name(it.cell) } else { "" };
        let own = lang.own_writes(it, name);
        let line = |text, tone| Block::Text(Line { text, tone });
        blocks.push(line(if several { own } else { upper(&own) }, Tone::Plain));
        blocks.extend(it.in_turn.map(|it| line(lang.in_turn(&it), Tone::Plain)));
        if let Some(kept) = it.kept() {
            blocks.push(line(lang.applied(kept), if kept { Tone::Good } else { Tone::Bad }));
        }
    }
    blocks
}

/// One replica of one cell.
type Shown<'a> = (&'a Staleness, &'a OfReplica);

fn figures(case: &Case<'_>) -> Option<Table> {
    let rows: Vec<Shown<'_>> =
        case.account.freshness.iter().flat_map(|of| of.replicas.iter().map(move |it| (of, it))).collect();
    let rows: Vec<&Shown<'_>> = rows.iter().collect();
    let (first, lang) = (rows.first()?.0, case.lang);
    let word = |it| lang.freshness(it).to_owned();
    let count = |it: u64| lang.number(&it.to_string());
    let stale = |of: fn(&OldShare, &dyn Lang) -> String| {
        move |it: &Shown<'_>| it.1.stale.map_or(String::new(), |it| of(&it, lang))
    };
    let visible = |it: Option<Visible>, bound| it.map_or(String::new(), |it| after(it, bound, lang));
    let all: Vec<Figure<'_, Shown<'_>>> = vec![
        (word(Fresh::Asked), 2, Box::new(stale(|it, lang| lang.number(&it.all.to_string())))),
        (word(Fresh::Stale), 0, Box::new(stale(|it, lang| share(it, lang.numbers())))),
        (lang.visible("p50"), 1, Box::new(move |it| visible(it.1.p50, it.0.bound))),
        (lang.visible("p90"), 3, Box::new(move |it| visible(it.1.p90, it.0.bound))),
        (lang.visible("p99"), 2, Box::new(move |it| visible(it.1.p99, it.0.bound))),
        (
            lang.unseen(first.bound),
            1,
            Box::new(move |it| it.1.stale.map_or(String::new(), |_| count(it.1.unseen))),
        ),
        (word(Fresh::Unanswered), 4, Box::new(move |it| count(it.1.unanswered))),
    ];
    let replica = Column { heading: word(Fresh::Replica), ..Column::default() };
    let mut table = filled((replica, |it: &Shown<'_>| it.1.node.clone()), all, &rows);
    if several(case) {
        table.columns.insert(0, Column { heading: word(Fresh::Cell), ..Column::default() });
        for (row, it) in table.rows.iter_mut().zip(&rows) {
            row.cells.insert(0, case.name(it.0.cell).to_owned());
        }
    }
    for (row, it) in table.rows.iter_mut().zip(&rows) {
        row.tone = match it.1.stale {
            None => Tone::Faint,
            Some(stale) if it.0.promised && stale.old > 0 => Tone::Bad,
            Some(_) => Tone::Plain,
        };
    }
    Some(table)
}

fn after(it: Visible, bound: Nanos, lang: &dyn Lang) -> String {
    match it {
        Visible::Within(it) => lang.time(it),
        Visible::Later => format!("> {}", lang.numbers().chosen(bound)),
    }
}
