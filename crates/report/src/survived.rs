//! How does a terminal tell whether what was acknowledged outlived the faults?
//!
//! The same blocks as the page's, without what was done in each trial.

use crate::findings::paragraph;
use crate::lang::Lang;
use crate::matrix::{Style, drawn};
use crate::page::text::shown;
use crate::page::{Block, survived};
use model::account::Account;

/// Empty without faults and ledgers.
pub fn text(account: &Account, style: Style, lang: &dyn Lang) -> String {
    let show = |it: &str| shown(it, style.characters);
    let one = |it: &Block| match it {
        Block::Text(it) => Some(paragraph("", &show(&it.text), style.width)),
        Block::List { items } => {
            Some(items.iter().map(|it| paragraph("- ", &show(&it.text), style.width)).collect())
        }
        Block::Table(it) if it.caption.is_empty() => Some(drawn(it, style)),
        Block::Table(it) => Some(format!("{}\n{}", show(&it.caption), drawn(it, style))),
        _ => None,
    };
    survived(account, lang).iter().filter_map(one).collect::<Vec<_>>().join("\n")
}
