//! Feed coverage: share of a table that a feed can touch.

use serde::{Deserialize, Serialize};

/// Facts about a feed, known before the load begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedCoverage {
    pub feed: String,
    pub rows: u64,
    /// Number of distinct values of the feed column that selects rows of the table; number of distinct feed rows without a table.
    pub distinct: u64,
    /// Number of draws until the same row is drawn again; `None` if rows are drawn randomly or only once.
    pub repeats_after: Option<u64>,
    /// Coverage of the table that contains the values; `None` if the feed names no table.
    pub table: Option<TableCoverage>,
}

/// Coverage of one table by a feed's values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableCoverage {
    /// `schema.table.column`.
    pub column: String,
    pub rows: f64,
    /// Size of the table in bytes, without its indexes.
    pub bytes: u64,
    /// Share of the rows that values of the feed refer to, 0..=1.
    pub share: f64,
    /// Expected size in bytes of the pages with those rows, if table order and feed order are independent.
    pub touched: u64,
    /// Memory in bytes that the server may use, including the page cache.
    pub memory: u64,
}

impl TableCoverage {
    /// True if the touched pages fit into the server's memory but the table does not. The run then measures a cache.
    pub fn fits_only_in_cache(&self) -> bool {
        self.bytes > self.memory && self.touched <= self.memory
    }
}
