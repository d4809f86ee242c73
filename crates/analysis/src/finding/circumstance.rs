//! Under which circumstances was a cell measured?

use super::beside::read_back;
use super::{Cell, Finding};
use model::finding::Circumstance;
use model::reach::Reach;

/// Feeds whose values lead to less than the server's memory, of a table that is larger.
pub fn feed_fits(cell: &Cell<'_>) -> Vec<Finding> {
    let mut known: Vec<&Reach> = Vec::new();
    for it in cell.trials.iter().flat_map(|it| it.reaches) {
        if !known.iter().any(|known| known.feed == it.feed) {
            known.push(it);
        }
    }
    let fits = |it: &&Reach| {
        let table = it.table.as_ref().filter(|it| it.measures_a_cache())?;
        Some(Circumstance::FeedFits {
            feed: it.feed.clone(),
            rows: it.rows,
            distinct: it.distinct,
            share: table.share,
            touched: table.touched,
            bytes: table.bytes,
            memory: table.memory,
            read: read_back(cell),
        })
    };
    known.iter().filter_map(fits).map(|it| Finding::Circumstance { cell: cell.number, it }).collect()
}
