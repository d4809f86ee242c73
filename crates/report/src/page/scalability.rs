//! Section on throughput by number of clients

use super::context::PageContext;
use crate::lang::number::exact;
use crate::say;
use crate::view::{Block, Column, Line, Row, Table, Tone};
use model::search::Scalability;

/// For each cell with a fitted law, builds the law's parameters and a table that compares the law with the
/// measurements.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for maximum in &case.account.maxima {
        let Some(law) = &maximum.scalability else { continue };
        let several = case.account.experiment.cells.len() > 1;
        let text = case.lang.scalability(law);
        let text = if several { format!("{}: {text}", case.name(maximum.cell)) } else { text };
        blocks.push(Block::Text(Line { text, tone: Tone::Plain }));
        blocks.push(Block::Table(table(case, law)));
    }
    blocks
}

/// Builds a table with one row per number of clients, which combines all trials with this number.
fn table(case: &PageContext<'_>, scalability: &Scalability) -> Table {
    let lang = case.lang;
    let column = |heading| Column { heading, numeric: true, drop_order: 0 };
    let row = |(clients, law): &(f64, f64)| {
        let values =
            scalability.points.iter().filter(|it| it.0 == *clients).map(|it| lang.numbers().three(it.1));
        let measured = values.collect::<Vec<_>>().join(lang.numbers().among());
        Row { cells: vec![exact(*clients, lang), measured, lang.numbers().three(*law)], ..Row::default() }
    };
    Table {
        columns: [
            say!(lang, "search-column-clients"),
            say!(lang, "search-column-measured"),
            say!(lang, "search-column-law"),
        ]
        .map(column)
        .into(),
        rows: scalability.law.iter().map(row).collect(),
        ..Table::default()
    }
}
