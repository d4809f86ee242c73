//! English: what is said of feeds.

use super::NUMBERS;
use model::reach::Reach;

pub fn reach(it: &Reach) -> String {
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
    if table.measures_a_cache() {
        said += &format!(
            ": that fits into the {memory} that the server may use, and the table does not, so that a cache is \
             measured; take more rows"
        );
    }
    said
}
