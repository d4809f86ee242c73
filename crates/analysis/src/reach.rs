//! Does a feed measure the data, or a cache of a part of them?

use model::plan::FeedOrder;
use model::reach::{Reach, Touched};

/// PostgreSQL's, unless it was built otherwise.
const PAGE: u64 = 8192;

/// What a table's statistics say.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `schema.table.column`.
    pub column: String,
    pub rows: f64,
    /// Without indexes.
    pub bytes: u64,
    /// Different values of the column; as many as rows where nothing is known.
    pub distinct: f64,
}

/// `distinct`: different values of the feed. `memory`: bytes that the server may use.
pub fn reach(
    feed: &str,
    (rows, distinct): (u64, u64),
    order: FeedOrder,
    table: Option<Table>,
    memory: u64,
) -> Reach {
    let repeats_after = match order {
        FeedOrder::Sequential | FeedOrder::Shuffled => Some(rows),
        FeedOrder::Random | FeedOrder::Zipfian { .. } | FeedOrder::Once => None,
    };
    let touched = |it: Table| {
        let each = if it.distinct >= 1.0 { it.rows / it.distinct } else { 1.0 };
        let met = (distinct as f64 * each).min(it.rows);
        let pages = (it.bytes / PAGE) as f64;
        Touched {
            share: if it.rows > 0.0 { met / it.rows } else { 0.0 },
            touched: (scattered(met, pages) * PAGE as f64) as u64,
            column: it.column,
            rows: it.rows,
            bytes: it.bytes,
            memory,
        }
    };
    Reach { feed: feed.to_owned(), rows, distinct, repeats_after, table: table.map(touched) }
}

/// Pages that hold at least one of `rows` that lie anywhere: P (1 − (1 − 1/P)ʳ), as of balls thrown into boxes.
fn scattered(rows: f64, pages: f64) -> f64 {
    if pages <= 1.0 {
        return pages.min(rows);
    }
    pages * -(rows * (-1.0 / pages).ln_1p()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn table(rows: f64, bytes: u64, distinct: f64) -> Table {
        Table { column: "book.bookv2.author".into(), rows, bytes, distinct }
    }

    #[test]
    fn a_small_feed_measures_a_cache() {
        // Ten million rows in 1.3 GB, and 400 MB of memory, as in document 003.
        let of = |distinct| {
            reach("f", (150_000, distinct), FeedOrder::Random, Some(table(1e7, 1300 * MB, 1e7)), 400 * MB)
        };
        let small = of(2_000).table.expect("a table");
        assert!(small.measures_a_cache());
        assert!((small.share - 0.0002).abs() < 1e-9);
        assert_eq!(small.touched / MB, 15);
        let large = of(150_000).table.expect("a table");
        assert!(!large.measures_a_cache(), "{large:?}");
        assert_eq!(large.touched / MB, 772);
    }

    #[test]
    fn values_that_many_rows_have_lead_to_more() {
        let of = |distinct| {
            let it = reach("f", (1000, 1000), FeedOrder::Sequential, Some(table(1e6, 80 * MB, distinct)), MB);
            assert_eq!(it.repeats_after, Some(1000));
            it.table.expect("a table").share
        };
        assert!((of(1e6) - 0.001).abs() < 1e-9);
        assert!((of(1e5) - 0.01).abs() < 1e-9);
        assert!((of(500.0) - 1.0).abs() < 1e-9, "never more than all");
        assert!((of(0.0) - 0.001).abs() < 1e-9, "nothing known");
    }

    #[test]
    fn pages_of_scattered_rows() {
        for (rows, pages, expected) in
            [(0.0, 100.0, 0.0), (1.0, 100.0, 1.0), (1e9, 100.0, 100.0), (5.0, 1.0, 1.0), (5.0, 0.0, 0.0)]
        {
            assert!((scattered(rows, pages) - expected).abs() < 1e-6, "{rows} in {pages}");
        }
        assert!((scattered(100.0, 100.0) - 63.397).abs() < 0.001);
    }

    #[test]
    fn a_table_that_fits_is_no_cache() {
        let it = reach("f", (10, 10), FeedOrder::Once, Some(table(1e6, 80 * MB, 1e6)), 400 * MB);
        assert!(!it.table.expect("a table").measures_a_cache());
        assert_eq!(it.repeats_after, None);
        assert_eq!(reach("f", (10, 9), FeedOrder::Random, None, MB).table, None);
    }
}
