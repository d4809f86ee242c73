//! English: what is said of feeds.

use super::NUMBERS;
use model::feed_coverage::FeedCoverage;

pub fn reach(it: &FeedCoverage) -> String {
    let [rows, distinct] = [it.rows, it.distinct].map(|it| NUMBERS.count(it));
    let mut said = format!("the feed {} has {rows} rows, {distinct} of them different", it.feed);
    if let Some(after) = it.repeats_after {
        said += &format!("; a row returns after {} draws", NUMBERS.count(after));
    }
    let Some(table) = &it.table else { return said };
    let [touched, bytes, memory] =
        [table.touched, table.bytes, table.memory].map(|it| NUMBERS.bytes(it as f64));
    said += &format!(
        "; it leads to {} of the rows of {}, which lie in about {touched} of {bytes}",
        NUMBERS.percent(table.share, 1),
        table.column
    );
    if table.fits_only_in_cache() {
        said += &format!(
            ": that fits into the {memory} that the server may use, and the table does not, so that a cache is \
             measured; take more rows"
        );
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::feed_coverage::TableCoverage;

    #[test]
    fn a_feed_and_what_it_touches() {
        let mut it =
            FeedCoverage { feed: "f".into(), rows: 20_000, distinct: 1, repeats_after: None, table: None };
        assert_eq!(reach(&it), "the feed f has 20000 rows, 1 of them different");
        it.repeats_after = Some(20_000);
        let mut table = TableCoverage {
            column: "a.b.c".into(),
            rows: 1e7,
            bytes: 1300 << 20,
            share: 0.002,
            touched: 150 << 20,
            memory: 2 << 30,
        };
        it.table = Some(table.clone());
        let fits = "the feed f has 20000 rows, 1 of them different; a row returns after 20000 draws; it leads to 0.2 % of \
                    the rows of a.b.c, which lie in about 150 MiB of 1.27 GiB";
        assert_eq!(reach(&it), fits);
        table.memory = 400 << 20;
        it.table = Some(table);
        let cache = ": that fits into the 400 MiB that the server may use, and the table does not, so that a cache is \
                     measured; take more rows";
        assert_eq!(reach(&it), [fits, cache].concat());
    }
}
