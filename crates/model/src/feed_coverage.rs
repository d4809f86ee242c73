//! How much of a table can a feed touch?

use serde::{Deserialize, Serialize};

/// What is known of a feed before the load begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedCoverage {
    pub feed: String,
    pub rows: u64,
    /// Different values of the column that is looked up; of all columns together where no table is named.
    pub distinct: u64,
    /// Draws from one of a row to the next of the same; `None` where chance decides, or a row is drawn once.
    pub repeats_after: Option<u64>,
    /// Of the table that its values are found in, where one is named.
    pub table: Option<TableCoverage>,
}

/// The part of a table that a feed's values lead to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableCoverage {
    /// `schema.table.column`.
    pub column: String,
    pub rows: f64,
    /// Of the table alone; its indexes are not in it.
    pub bytes: u64,
    /// Of its rows that values of the feed lead to, 0..=1.
    pub share: f64,
    /// Of the pages that those rows are expected to lie in, if the table's order has nothing to do with the feed's.
    pub touched: u64,
    /// Bytes that the server may use, its page cache included.
    pub memory: u64,
}

impl TableCoverage {
    /// The table does not fit into the server's memory, but what the feed touches of it does: a cache is measured.
    pub fn fits_only_in_cache(&self) -> bool {
        self.bytes > self.memory && self.touched <= self.memory
    }
}
