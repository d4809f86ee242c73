//! Durability verdicts for a terminal.
//!
//! Prints the same blocks as the page, without the details of each trial.

use crate::findings::paragraph;
use crate::lang::Lang;
use crate::matrix::render_table;
use crate::page::failover_blocks;
use crate::style::TerminalStyle;
use crate::text::to_characters;
use crate::view::Block;
use model::run_result::RunResult;

/// Empty without faults and ledgers.
pub fn render(account: &RunResult, style: TerminalStyle, lang: &Lang) -> String {
    let show = |it: &str| to_characters(it, style.characters);
    let one = |it: &Block| match it {
        Block::Text(it) => Some(paragraph("", &show(&it.text), style.width)),
        Block::List { items } => {
            Some(items.iter().map(|it| paragraph("- ", &show(&it.text), style.width)).collect())
        }
        Block::Table(it) if it.caption.is_empty() => Some(render_table(it, style)),
        Block::Table(it) => Some(format!("{}\n{}", show(&it.caption), render_table(it, style))),
        _ => None,
    };
    failover_blocks(account, lang).iter().filter_map(one).collect::<Vec<_>>().join("\n")
}
