//! Sizes of HTTP responses for a terminal

use crate::cells::cell_names;
use crate::findings::table_lines;
use crate::lang::Lang;
use crate::page::sizes;
use crate::style::TerminalStyle;
use model::run_result::RunResult;

/// Renders a table by cell and operation; empty without sizes.
pub fn text(account: &RunResult, style: TerminalStyle, lang: &Lang) -> String {
    let table = sizes(account, &cell_names(&account.matrix), lang);
    table.map_or(String::new(), |it| format!("\n{}", table_lines(&it, style)))
}
