//! How does a terminal tell what was looked for?
//!
//! The same blocks as the page's: what outlived the faults; how old what replicas show is; the answer of a search, what proves
//! it, what led to it, what was held, and what is enough.

use crate::findings::paragraph;
use crate::lang::Lang;
use crate::matrix::{Style, drawn};
use crate::page::text::shown;
use crate::page::{Block, page};
use model::account::Account;

/// Sections of the page that a terminal is shown too.
const SECTIONS: [&str; 5] = ["freshness", "maximum", "scalability", "endured", "plateau"];

/// Empty where nothing was looked for.
pub fn text(account: &Account, style: Style, lang: &dyn Lang) -> String {
    let looked = [
        !account.maxima.is_empty(),
        !account.endured.is_empty(),
        account.plateau.is_some(),
        !account.freshness.is_empty(),
    ];
    let survived = crate::survived::text(account, style, lang);
    if !looked.contains(&true) {
        return survived;
    }
    let show = |it: &str| shown(it, style.characters);
    let page = page(account, lang);
    let blocks = page.sections.iter().filter(|it| SECTIONS.contains(&it.id)).flat_map(|it| &it.blocks);
    // Nothing folds here.
    let unfolded = blocks.flat_map(|it| match it {
        Block::Folded { blocks, .. } => blocks.iter().collect(),
        it => vec![it],
    });
    let told: Vec<String> = unfolded
        .filter_map(|it| match it {
            Block::Text(it) => Some(paragraph("", &show(&it.text), style.width)),
            Block::Table(it) if it.caption.is_empty() => Some(drawn(it, style)),
            Block::Table(it) => Some(format!("{}\n{}", show(&it.caption), drawn(it, style))),
            _ => None,
        })
        .collect();
    let between = if survived.is_empty() { "" } else { "\n" };
    format!("{survived}{between}{}", told.join("\n"))
}
