//! Growth of the dataset's tables over the trials of a cell

use model::table_sizes::{TableGrowth, TableSizes};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Growth of each table by cell, the largest table first. `trials` pairs the index of each trial's cell with the sizes of its
/// tables, in order of time.
pub fn table_growths<'a>(trials: impl Iterator<Item = (usize, &'a [TableSizes])>) -> Vec<TableGrowth> {
    let mut tables: BTreeMap<(usize, &str), Vec<&TableSizes>> = BTreeMap::new();
    for (cell, sizes) in trials {
        sizes.iter().for_each(|it| tables.entry((cell, &it.table)).or_default().push(it));
    }
    let growth = |((cell, table), sizes): ((usize, &str), Vec<&TableSizes>)| {
        let mut growths: Vec<i64> =
            sizes.iter().map(|it| it.after.total() as i64 - it.before.total() as i64).collect();
        growths.sort_unstable();
        TableGrowth {
            cell,
            table: table.to_owned(),
            trials: sizes.len() as u32,
            first: sizes[0].before,
            last: sizes[sizes.len() - 1].after,
            growth_bytes: i64::midpoint(growths[(growths.len() - 1) / 2], growths[growths.len() / 2]),
        }
    };
    let mut all: Vec<TableGrowth> = tables.into_iter().map(growth).collect();
    all.sort_by_key(|it| (it.cell, Reverse(it.last.total())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::table_sizes::TableSize;

    /// Sizes of heap and indexes before and after a trial.
    fn sizes(table: &str, before: (u64, u64), after: (u64, u64)) -> TableSizes {
        let size = |(heap, indexes)| TableSize { heap, indexes, dead_rows: heap / 10 };
        TableSizes { table: table.to_owned(), before: size(before), after: size(after) }
    }

    #[test]
    fn combines_the_trials_of_each_cell() {
        let trials = [
            (1, vec![sizes("a", (100, 10), (150, 15))]),
            (0, vec![sizes("a", (100, 10), (110, 10)), sizes("b", (500, 0), (500, 0))]),
            (0, vec![sizes("a", (110, 10), (190, 30)), sizes("b", (500, 0), (400, 0))]),
            (0, vec![sizes("a", (190, 30), (230, 40))]),
            (1, vec![]),
        ];
        let growths = table_growths(trials.iter().map(|(cell, sizes)| (*cell, sizes.as_slice())));
        let shown = |growth: &TableGrowth| {
            let TableGrowth { cell, table, trials, first, last, growth_bytes } = growth.clone();
            (cell, table, trials, (first.total(), last.total(), last.dead_rows), growth_bytes)
        };
        let expected = [
            (0, "b".to_owned(), 2, (500, 400, 40), -50),
            (0, "a".to_owned(), 3, (110, 270, 23), 50),
            (1, "a".to_owned(), 1, (110, 165, 15), 55),
        ];
        assert_eq!(growths.iter().map(shown).collect::<Vec<_>>(), expected);
    }
}
