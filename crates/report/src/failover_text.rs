//! Durability verdicts for a terminal
//!
//! The text has the same blocks as the page, without the details of each trial.

use crate::findings::paragraph;
use crate::lang::Lang;
use crate::matrix::render_table;
use crate::page::failover_blocks;
use crate::style::TerminalStyle;
use crate::text::to_characters;
use crate::view::Block;
use model::run_result::RunResult;

/// Renders the durability verdicts. Empty without faults and ledgers.
pub fn render(account: &RunResult, style: TerminalStyle, lang: &Lang) -> String {
    let show = |it: &str| to_characters(it, style.characters);
    let one = |block: &Block| match block {
        Block::Text(line) => Some(paragraph("", &show(&line.text), style.width)),
        Block::List { items } => {
            Some(items.iter().map(|item| paragraph("- ", &show(&item.text), style.width)).collect())
        }
        Block::Table(table) if table.caption.is_empty() => Some(render_table(table, style)),
        Block::Table(table) => Some(format!("{}\n{}", show(&table.caption), render_table(table, style))),
        _ => None,
    };
    failover_blocks(account, lang).iter().filter_map(one).collect::<Vec<_>>().join("\n")
}
