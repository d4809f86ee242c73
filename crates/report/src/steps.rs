//! Steps of operations for a terminal

use crate::cells::cell_names;
use crate::findings::table_lines;
use crate::lang::Lang;
use crate::page::{step_failures, step_table};
use crate::style::TerminalStyle;
use crate::view::Table;
use model::run_result::RunResult;

/// Renders the steps and their failures for each cell that has an operation with several steps.
pub fn text(account: &RunResult, style: TerminalStyle, lang: &Lang) -> String {
    let cells = account.cells.iter().zip(cell_names(&account.matrix));
    let cells = cells.filter(|(cell, _)| cell.operations.iter().any(|it| it.steps.len() > 1));
    let tables = cells.flat_map(|(cell, name)| {
        [step_table(cell, &name, lang), step_failures(cell, &name, lang)].into_iter().flatten()
    });
    tables.map(|table| render(table, style)).collect()
}

/// Renders the table. If the table is too wide, columns are dropped in their drop order until it fits.
fn render(mut table: Table, style: TerminalStyle) -> String {
    loop {
        let text = table_lines(&table, style);
        let is_too_wide = text.lines().any(|it| it.chars().count() > style.width);
        let dispensable = (0..table.columns.len()).max_by_key(|at| (table.columns[*at].drop_order, *at));
        match dispensable.filter(|at| is_too_wide && table.columns[*at].drop_order > 0) {
            Some(at) => {
                table.columns.remove(at);
                table.rows.iter_mut().for_each(|it| drop(it.cells.remove(at)));
            }
            None => return format!("\n{}\n{text}", table.caption),
        }
    }
}
