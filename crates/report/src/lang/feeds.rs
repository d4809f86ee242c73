//! Coverage of tables by feeds

use super::Lang;
use crate::say;
use model::feed_coverage::{FeedCoverage, TableCoverage};

impl Lang {
    /// Describes the share of a table that a feed can touch, and whether this share fits into the server's memory.
    pub fn reach(&self, coverage: &FeedCoverage) -> String {
        let FeedCoverage { feed, rows, distinct, repeats_after, table } = coverage;
        let bytes =
            |size: fn(&TableCoverage) -> u64| table.as_ref().map(|table| self.bytes(size(table) as f64));
        let in_cache = table.as_ref().filter(|table| table.fits_only_in_cache());
        say!(
            self,
            "feed-coverage",
            feed,
            rows = *rows,
            distinct = *distinct,
            repeats_after = *repeats_after,
            share = table.as_ref().map(|table| self.numbers().percent(table.share, 1)),
            column = table.as_ref().map(|table| &table.column),
            touched = bytes(|table| table.touched),
            bytes = bytes(|table| table.bytes),
            memory = in_cache.map(|table| self.bytes(table.memory as f64))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{english, russian};

    #[test]
    fn reports_rows_repetition_and_cache() {
        let mut coverage =
            FeedCoverage { feed: "f".into(), rows: 20_001, distinct: 7, repeats_after: None, table: None };
        let mut table = TableCoverage {
            column: "a.b.c".into(),
            rows: 1e7,
            bytes: 1300 << 20,
            share: 0.002,
            touched: 150 << 20,
            memory: 2 << 30,
        };
        let parts = [
            "the feed f has 20001 rows, 7 of them distinct",
            "; rows repeat after 20001 draws",
            "; its values match 0.2 % of the rows of a.b.c, which occupy about 150 MiB of 1.27 GiB",
            "; these pages fit in the 400 MiB that the server may use, but the whole table does not, so the run \
             measures only the cache; use a feed with more rows",
        ];
        assert_eq!(english().reach(&coverage), parts[0]);
        coverage.repeats_after = Some(20_001);
        assert_eq!(english().reach(&coverage), parts[..2].concat());
        coverage.table = Some(table.clone());
        assert_eq!(english().reach(&coverage), parts[..3].concat());
        table.memory = 400 << 20;
        coverage.table = Some(table);
        assert_eq!(english().reach(&coverage), parts.concat());
        // The expected texts contain plain blanks instead of no-break spaces.
        assert_eq!(
            russian().reach(&coverage).replace(['\u{202f}', '\u{a0}'], " "),
            "лента данных f: 20 001 строка, из них разных 7; строка повторяется через 20 001 запрос; её значениям соответствует \
             0,2 % строк таблицы по столбцу a.b.c, это примерно 150 МиБ из 1,27 ГиБ: они помещаются в 400 МиБ, доступные \
             серверу, а вся таблица — нет, поэтому измеряется кэш; нужно больше строк"
        );
    }
}
