//! Feed coverage: share of a table that a feed can touch.

use serde::{Deserialize, Serialize};

/// Facts about a feed that are known before the load begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedCoverage {
    pub feed: String,
    pub rows: u64,
    /// Number of distinct values in the feed column that selects rows of the table; if the feed names no table, number
    /// of distinct rows of the feed.
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
    /// Share of the table's rows to which values of the feed refer, 0..=1.
    pub share: f64,
    /// Expected size in bytes of the table's pages that contain these rows, if the rows are randomly distributed over
    /// the table.
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
