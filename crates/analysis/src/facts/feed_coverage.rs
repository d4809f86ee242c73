//! Share of a table that a feed's values can touch

use model::feed_coverage::{FeedCoverage, TableCoverage};
use model::plan::FeedOrder;

/// PostgreSQL's default page size in bytes.
const PAGE: u64 = 8192;

/// Statistics of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStats {
    /// Column name, as `schema.table.column`.
    pub column: String,
    pub rows: f64,
    /// Table size without indexes, in bytes.
    pub bytes: u64,
    /// Number of distinct values of the column, or the number of rows if that is unknown.
    pub distinct: f64,
}

/// Share of a table that a feed's values can touch. `distinct` is the number of distinct values in the feed. `memory`
/// is the memory available to the server, in bytes.
pub fn feed_coverage(
    feed: &str,
    (rows, distinct): (u64, u64),
    order: FeedOrder,
    table: Option<TableStats>,
    memory: u64,
) -> FeedCoverage {
    let repeats_after = match order {
        FeedOrder::Sequential | FeedOrder::Shuffled => Some(rows),
        FeedOrder::Random | FeedOrder::Zipfian { .. } | FeedOrder::Once => None,
    };
    let touched = |table: TableStats| {
        let each = if table.distinct >= 1.0 { table.rows / table.distinct } else { 1.0 };
        let met = (distinct as f64 * each).min(table.rows);
        let pages = (table.bytes / PAGE) as f64;
        TableCoverage {
            share: if table.rows > 0.0 { met / table.rows } else { 0.0 },
            touched: (touched_pages(met, pages) * PAGE as f64) as u64,
            column: table.column,
            rows: table.rows,
            bytes: table.bytes,
            memory,
        }
    };
    FeedCoverage { feed: feed.to_owned(), rows, distinct, repeats_after, table: table.map(touched) }
}

/// Expected number of pages that hold at least one of `rows` randomly placed rows: P (1 − (1 − 1/P)ʳ) for P pages.
fn touched_pages(rows: f64, pages: f64) -> f64 {
    if pages <= 1.0 {
        return pages.min(rows);
    }
    pages * -(rows * (-1.0 / pages).ln_1p()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn table(rows: f64, bytes: u64, distinct: f64) -> TableStats {
        TableStats { column: "book.bookv2.author".into(), rows, bytes, distinct }
    }

    #[test]
    fn a_small_feed_fits_in_the_cache() {
        // Ten million rows in 1.3 GB, and 400 MB of memory, as in document 003.
        let coverage_for = |distinct| {
            feed_coverage(
                "f",
                (150_000, distinct),
                FeedOrder::Random,
                Some(table(1e7, 1300 * MB, 1e7)),
                400 * MB,
            )
        };
        let small = coverage_for(2_000).table.expect("the table is known");
        assert!(small.fits_only_in_cache());
        assert!((small.share - 0.0002).abs() < 1e-9);
        assert_eq!(small.touched / MB, 15);
        let large = coverage_for(150_000).table.expect("the table is known");
        assert!(!large.fits_only_in_cache(), "{large:?}");
        assert_eq!(large.touched / MB, 772);
    }

    #[test]
    fn duplicate_values_touch_more_rows() {
        let coverage_for = |distinct| {
            let coverage = feed_coverage(
                "f",
                (1000, 1000),
                FeedOrder::Sequential,
                Some(table(1e6, 80 * MB, distinct)),
                MB,
            );
            assert_eq!(coverage.repeats_after, Some(1000));
            coverage.table.expect("the table is known").share
        };
        assert!((coverage_for(1e6) - 0.001).abs() < 1e-9);
        assert!((coverage_for(1e5) - 0.01).abs() < 1e-9);
        assert!((coverage_for(500.0) - 1.0).abs() < 1e-9, "a share cannot exceed 1");
        assert!((coverage_for(0.0) - 0.001).abs() < 1e-9, "nothing known");
    }

    #[test]
    fn estimates_pages_of_scattered_rows() {
        for (rows, pages, expected) in
            [(0.0, 100.0, 0.0), (1.0, 100.0, 1.0), (1e9, 100.0, 100.0), (5.0, 1.0, 1.0), (5.0, 0.0, 0.0)]
        {
            assert!((touched_pages(rows, pages) - expected).abs() < 1e-6, "{rows} in {pages}");
        }
        assert!((touched_pages(100.0, 100.0) - 63.397).abs() < 0.001);
    }

    #[test]
    fn a_table_that_fits_in_memory_is_fully_covered() {
        let coverage =
            feed_coverage("f", (10, 10), FeedOrder::Once, Some(table(1e6, 80 * MB, 1e6)), 400 * MB);
        assert!(!coverage.table.expect("the table is known").fits_only_in_cache());
        assert_eq!(coverage.repeats_after, None);
        assert_eq!(feed_coverage("f", (10, 9), FeedOrder::Random, None, MB).table, None);
    }
}
