//! Section with the sizes of the dataset's tables

use super::context::PageContext;
use super::failover::has_several_cells;
use super::figure_table::{FigureColumn, non_empty_columns};
use crate::lang::Lang;
use crate::say;
use crate::view::{Block, Column, Table};
use model::table_sizes::TableGrowth;

/// Builds a table with one row per table of each chosen cell; empty without a dataset.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let rows: Vec<&TableGrowth> =
        case.account.tables.iter().filter(|it| case.chosen.contains(&it.cell)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(table(case, &rows))]
}

fn table(case: &PageContext<'_>, rows: &[&TableGrowth]) -> Table {
    let lang = case.lang;
    let bytes = |it: u64| lang.bytes(it as f64);
    let figures: Vec<FigureColumn<'_, TableGrowth>> = vec![
        (say!(lang, "tables-column-heap-before"), 2, Box::new(move |it| bytes(it.first.heap))),
        (say!(lang, "tables-column-heap-after"), 0, Box::new(move |it| bytes(it.last.heap))),
        (say!(lang, "tables-column-indexes-before"), 2, Box::new(move |it| bytes(it.first.indexes))),
        (say!(lang, "tables-column-indexes-after"), 0, Box::new(move |it| bytes(it.last.indexes))),
        (say!(lang, "tables-column-growth"), 1, Box::new(move |it| growth(it.growth_bytes, lang))),
        (
            say!(lang, "tables-column-dead"),
            3,
            Box::new(move |it| lang.number(&it.last.dead_rows.to_string())),
        ),
        (say!(lang, "tables-column-trials"), 4, Box::new(move |it| lang.number(&it.trials.to_string()))),
    ];
    let name = Column { heading: say!(lang, "tables-column-table"), ..Column::default() };
    let mut table = non_empty_columns((name, |it: &TableGrowth| it.table.clone()), figures, rows);
    if has_several_cells(case) {
        table.columns.insert(0, Column { heading: say!(lang, "tables-column-cell"), ..Column::default() });
        for (row, growth) in table.rows.iter_mut().zip(rows) {
            row.cells.insert(0, case.name(growth.cell).to_owned());
        }
    }
    table.caption = say!(lang, "tables-caption");
    table
}

/// Growth with its sign.
fn growth(bytes: i64, lang: &Lang) -> String {
    let size = lang.bytes(bytes.unsigned_abs() as f64);
    match bytes.signum() {
        1 => format!("+{size}"),
        -1 => format!("−{size}"),
        _ => size,
    }
}
