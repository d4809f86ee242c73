//! Which statements took the server's time, and what did they take in the baseline?

use super::case::Case;
use super::number::said;
use super::results::{Figure, filled};
use super::text::short;
use super::{Block, Column};
use crate::lang::page::Term;
use model::account::StatementAccount;

/// So much of a statement's text is shown.
const MOST: usize = 400;

pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let lang = case.lang;
    let of =
        |cell: usize| case.account.cells.get(cell).map(|it| it.statements.as_slice()).unwrap_or_default();
    let baseline = case.account.matrix.baseline;
    let mut blocks = Vec::new();
    for &cell in &case.chosen {
        let rows: Vec<&StatementAccount> = of(cell).iter().collect();
        if rows.is_empty() {
            continue;
        }
        let beside = baseline.filter(|it| *it != cell);
        let term = |it| lang.term(it).to_owned();
        let known = |it: Option<f64>| it.map_or(String::new(), |it| said(it, lang));
        let percent = |it: f64| lang.number(&format!("{:.1}", 100.0 * it));
        let mut figures: Vec<Figure<'_, StatementAccount>> = vec![
            (term(Term::Calls), 2, Box::new(|it| said(it.calls, lang))),
            (term(Term::TotalSeconds), 3, Box::new(|it| said(it.total, lang))),
            (term(Term::SharePercent), 1, Box::new(move |it| percent(it.share))),
            (term(Term::MeanMillis), 0, Box::new(|it| said(1e3 * it.mean, lang))),
        ];
        if let Some(beside) = beside {
            let there = move |it: &StatementAccount| of(beside).iter().find(|other| other.text == it.text);
            let mean = move |it: &StatementAccount| known(there(it).map(|it| 1e3 * it.mean));
            figures.push((lang.mean_in(case.name(beside)), 1, Box::new(mean)));
        }
        figures.extend([
            (term(Term::RowsOfStatement), 4, Box::new(|it: &StatementAccount| said(it.rows, lang)) as Box<_>),
            (term(Term::Hit), 5, Box::new(move |it: &StatementAccount| known(it.hit)) as Box<_>),
            (term(Term::Read), 5, Box::new(move |it: &StatementAccount| known(it.read)) as Box<_>),
        ]);
        let text = |it: &StatementAccount| short(&it.text, MOST);
        let first = (Column { heading: term(Term::Statement), ..Column::default() }, text);
        let mut table = filled(first, figures, &rows);
        table.caption = case.name(cell).to_owned();
        blocks.push(Block::Table(table));
    }
    blocks
}
