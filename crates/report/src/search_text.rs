//! Search results for a terminal
//!
//! The text has the same blocks as the page: the freshness of replicas, the maximum with its proof and steps, soaks,
//! and the plateau.

use crate::findings::paragraph;
use crate::lang::Lang;
use crate::matrix::render_table;
use crate::page::page;
use crate::style::TerminalStyle;
use crate::text::to_characters;
use crate::view::Block;
use model::run_result::RunResult;

/// Sections of the page that a terminal also shows.
const SECTIONS: [&str; 5] = ["freshness", "maximum", "scalability", "endured", "plateau"];

/// Renders these sections; empty if the page has none of them.
pub fn render(account: &RunResult, style: TerminalStyle, lang: &Lang) -> String {
    let looked = [
        !account.maxima.is_empty(),
        !account.soaks.is_empty(),
        account.plateau.is_some(),
        !account.freshness.is_empty(),
    ];
    let survived = crate::failover_text::render(account, style, lang);
    if !looked.contains(&true) {
        return survived;
    }
    let show = |it: &str| to_characters(it, style.characters);
    let page = page(account, lang);
    let blocks = page.sections.iter().filter(|it| SECTIONS.contains(&it.id)).flat_map(|it| &it.blocks);
    // Show the content of folded parts, because a terminal has no folded parts.
    let unfolded = blocks.flat_map(|block| match block {
        Block::Details { blocks, .. } => blocks.iter().collect(),
        block => vec![block],
    });
    let parts: Vec<String> = unfolded
        .filter_map(|block| match block {
            Block::Text(line) => Some(paragraph("", &show(&line.text), style.width)),
            Block::Table(table) if table.caption.is_empty() => Some(render_table(table, style)),
            Block::Table(table) => Some(format!("{}\n{}", show(&table.caption), render_table(table, style))),
            _ => None,
        })
        .collect();
    let separator = if survived.is_empty() { "" } else { "\n" };
    format!("{survived}{separator}{}", parts.join("\n"))
}
