//! Count of the distinct values in a feed

use model::row_table::Rows;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Maximum number of distinct values that are counted exactly. With more values, the number is estimated.
const MAX_TRACKED_VALUES: usize = 10_000_000;

/// Number of distinct values in the column with index `column`; `None` means all columns together.
///
/// The number is exact up to ten million, apart from rare hash collisions. Above ten million, the number is
/// extrapolated from the share of new values among the last million rows.
pub fn count_distinct(rows: &Rows, column: Option<usize>) -> u64 {
    if rows.is_empty() {
        return 0;
    }
    let hashed = RandomState::new();
    let mut known: HashSet<u64> = HashSet::new();
    let (mut row, mut before) = (0, 0);
    while row < rows.len() && known.len() < MAX_TRACKED_VALUES {
        if row.is_multiple_of(1_000_000) {
            before = known.len();
        }
        let mut hasher = hashed.build_hasher();
        for (_, field) in
            rows.row(row).enumerate().filter(|(index, _)| column.is_none_or(|column| column == *index))
        {
            hasher.write_usize(field.len());
            hasher.write(field);
        }
        known.insert(hasher.finish());
        row += 1;
    }
    let latest = (row - 1) % 1_000_000 + 1;
    let fresh = (known.len() - before) as f64 / latest as f64;
    known.len() as u64 + ((rows.len() - row) as f64 * fresh) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PackedWriter;
    use std::sync::Arc;

    #[test]
    fn counts_each_value_once() {
        let mut packing = PackedWriter::new(Vec::new(), vec!["a".into(), "b".into()]);
        for n in 0..1000 {
            let (a, b) = ((n % 10).to_string(), (n % 4).to_string());
            packing.push([a.as_bytes(), b.as_bytes()].into_iter()).expect("writing to memory cannot fail");
        }
        let (bytes, layout) = packing.finish().expect("writing to memory cannot fail");
        let rows = Rows::new(Arc::new(bytes), layout);
        assert_eq!([Some(0), Some(1), None].map(|it| count_distinct(&rows, it)), [10, 4, 20]);
    }
}
