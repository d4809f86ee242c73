//! Russian: what is said of feeds.

use super::NUMBERS as RU;
use super::counted;
use model::feed_coverage::FeedCoverage;

pub fn reach(it: &FeedCoverage) -> String {
    let rows = counted(it.rows, "строка", "строки", "строк");
    let mut said = format!("лента {}: {rows}, из них разных {}", it.feed, RU.count(it.distinct));
    if let Some(after) = it.repeats_after {
        said += &format!("; строка повторяется через {}", counted(after, "запрос", "запроса", "запросов"));
    }
    let Some(table) = &it.table else { return said };
    let [touched, bytes, memory] = [table.touched, table.bytes, table.memory].map(|it| RU.bytes(it as f64));
    said += &format!(
        "; она ведёт к {} строк таблицы по столбцу {}, это примерно {touched} из {bytes}",
        RU.percent(table.share, 1),
        table.column
    );
    if table.fits_only_in_cache() {
        said += &format!(
            ": столько помещается в {memory}, доступные серверу, а вся таблица — нет, поэтому измеряется кэш; нужно \
             больше строк"
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
        let table = TableCoverage {
            column: "a.b.c".into(),
            rows: 1e7,
            bytes: 1300 << 20,
            share: 0.002,
            touched: 150 << 20,
            memory: 400 << 20,
        };
        let repeats_after = Some(20_001);
        let it =
            FeedCoverage { feed: "f".into(), rows: 20_001, distinct: 7, repeats_after, table: Some(table) };
        // No-break spaces are plain ones here.
        let said = reach(&it).replace(['\u{202f}', '\u{a0}'], " ");
        assert_eq!(
            said,
            "лента f: 20 001 строка, из них разных 7; строка повторяется через 20 001 запрос; она ведёт к 0,2 % строк \
             таблицы по столбцу a.b.c, это примерно 150 МиБ из 1,27 ГиБ: столько помещается в 400 МиБ, доступные \
             серверу, а вся таблица — нет, поэтому измеряется кэш; нужно больше строк"
        );
    }
}
