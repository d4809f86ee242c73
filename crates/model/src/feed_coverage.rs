//! Feed coverage: the part of a table that a feed can touch.

use serde::{Deserialize, Serialize};

/// Facts about a feed, known before the load begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedCoverage {
    pub feed: String,
    pub rows: u64,
    /// Distinct values of the column that is looked up, or of all columns together if no table is named.
    pub distinct: u64,
    /// Number of draws until the same row is drawn again; `None` if rows are drawn randomly or only once.
    pub repeats_after: Option<u64>,
    /// Coverage of the table in which the values occur, if one is named.
    pub table: Option<TableCoverage>,
}

/// Part of a table that a feed's values refer to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableCoverage {
    /// `schema.table.column`.
    pub column: String,
    pub rows: f64,
    /// Size of the table without its indexes.
    pub bytes: u64,
    /// Share of the rows that values of the feed refer to, 0..=1.
    pub share: f64,
    /// Expected size of the pages with those rows, if the table's order is independent of the feed's.
    pub touched: u64,
    /// Memory that the server may use in bytes, including the page cache.
    pub memory: u64,
}

impl TableCoverage {
    /// True if the server's memory holds the touched part but not the whole table: a cache is measured.
    pub fn fits_only_in_cache(&self) -> bool {
        self.bytes > self.memory && self.touched <= self.memory
    }
}
