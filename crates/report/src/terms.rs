//! Section with the definitions of the terms that a page uses

use crate::lang::Lang;
use crate::say;
use crate::view::{Block, Overview, Section};
use model::plan::PoolMode;

/// Id of the section of definitions. Terminal and Markdown output omit this section.
pub(crate) const SECTION: &str = "terms";

/// Builds the section with the definitions of all terms that occur in the first screen or in these sections; `None` if
/// no term occurs. The page's script shows a definition at each heading that contains its term.
/// `modes` are the pool modes of the run's poolers.
pub(crate) fn section(
    overview: Option<&Overview>,
    sections: &[Section],
    modes: &[PoolMode],
    lang: &Lang,
) -> Option<Section> {
    let figures = overview.into_iter().flat_map(|overview| &overview.figures);
    let labels = figures.map(|figure| format!("{}\n", figure.label));
    let blocks = sections.iter().flat_map(|section| &section.blocks).map(text);
    let text = labels.chain(blocks).collect::<String>().to_lowercase();
    let mut facts: Vec<(String, String)> =
        terms(lang).into_iter().filter(|(term, _)| contains_term(&text, &term.to_lowercase())).collect();
    let is_used = |it: &(PoolMode, String, String)| modes.contains(&it.0);
    facts.extend(pool_modes(lang).into_iter().filter(is_used).map(|(_, term, text)| (term, text)));
    let heading = say!(lang, "term-heading");
    (!facts.is_empty()).then(|| Section { id: SECTION, heading, blocks: vec![Block::Facts { facts }] })
}

/// True if the text contains the term, and not only as part of a longer word or number: `p99.9` does not contain `p99`.
fn contains_term(text: &str, term: &str) -> bool {
    text.match_indices(term).any(|(at, _)| {
        let (before, mut after) = (text[..at].chars().next_back(), text[at + term.len()..].chars());
        let is_longer = match after.next() {
            Some('.') => after.next().is_some_and(char::is_numeric),
            next => next.is_some_and(char::is_alphanumeric),
        };
        !is_longer && !before.is_some_and(char::is_alphanumeric)
    })
}

/// Headings of tables, and sentences, each with a newline.
fn text(block: &Block) -> String {
    let lines: Vec<&str> = match block {
        Block::Text(line) => vec![&line.text],
        Block::List { items } => items.iter().map(|line| line.text.as_str()).collect(),
        Block::Table(table) => table.columns.iter().map(|column| column.heading.as_str()).collect(),
        Block::Details { blocks, .. } => return blocks.iter().map(text).collect(),
        _ => Vec::new(),
    };
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// Pool modes with their definitions.
fn pool_modes(lang: &Lang) -> [(PoolMode, String, String); 3] {
    [
        (PoolMode::Session, say!(lang, "term-session-mode"), say!(lang, "term-session-mode-text")),
        (
            PoolMode::Transaction,
            say!(lang, "term-transaction-mode"),
            say!(lang, "term-transaction-mode-text"),
        ),
        (PoolMode::Statement, say!(lang, "term-statement-mode"), say!(lang, "term-statement-mode-text")),
    ]
}

/// Terms as headings spell them, with their definitions.
fn terms(lang: &Lang) -> Vec<(String, String)> {
    vec![
        (say!(lang, "term-offered"), say!(lang, "term-offered-text")),
        (say!(lang, "term-delivered"), say!(lang, "term-delivered-text")),
        (say!(lang, "term-throughput"), say!(lang, "term-throughput-text")),
        (say!(lang, "term-tps"), say!(lang, "term-tps-text")),
        (say!(lang, "term-goodput"), say!(lang, "term-goodput-text")),
        (say!(lang, "term-response"), say!(lang, "term-response-text")),
        (say!(lang, "term-service"), say!(lang, "term-service-text")),
        (say!(lang, "term-p50"), say!(lang, "term-p50-text")),
        (say!(lang, "term-p90"), say!(lang, "term-p90-text")),
        (say!(lang, "term-p95"), say!(lang, "term-p95-text")),
        (say!(lang, "term-p99"), say!(lang, "term-p99-text")),
        (say!(lang, "term-p999"), say!(lang, "term-p999-text")),
        (say!(lang, "term-errors"), say!(lang, "term-errors-text")),
        (say!(lang, "term-failed"), say!(lang, "term-failed-text")),
        (say!(lang, "term-dropped"), say!(lang, "term-dropped-text")),
        (say!(lang, "term-requests"), say!(lang, "term-requests-text")),
        (say!(lang, "term-replication-lag"), say!(lang, "term-replication-lag-text")),
        (say!(lang, "term-refused"), say!(lang, "term-refused-text")),
        (say!(lang, "term-deadlocks"), say!(lang, "term-deadlocks-text")),
        (say!(lang, "term-served"), say!(lang, "term-served-text")),
        (say!(lang, "term-settling"), say!(lang, "term-settling-text")),
        (say!(lang, "term-cpu"), say!(lang, "term-cpu-text")),
        (say!(lang, "term-ratio"), say!(lang, "term-ratio-text")),
        (say!(lang, "term-change"), say!(lang, "term-change-text")),
        (say!(lang, "term-interval"), say!(lang, "term-interval-text")),
        (say!(lang, "term-verdict"), say!(lang, "term-verdict-text")),
        (say!(lang, "term-test"), say!(lang, "term-test-text")),
        (say!(lang, "term-outcome"), say!(lang, "term-outcome-text")),
        (say!(lang, "term-trend"), say!(lang, "term-trend-text")),
        (say!(lang, "term-blocks"), say!(lang, "term-blocks-text")),
        (say!(lang, "term-mean"), say!(lang, "term-mean-text")),
        (say!(lang, "term-max"), say!(lang, "term-max-text")),
        (say!(lang, "term-count"), say!(lang, "term-count-text")),
        (say!(lang, "term-calls"), say!(lang, "term-calls-text")),
        (say!(lang, "term-total"), say!(lang, "term-total-text")),
        (say!(lang, "term-share"), say!(lang, "term-share-text")),
        (say!(lang, "term-rows"), say!(lang, "term-rows-text")),
        (say!(lang, "term-jain"), say!(lang, "term-jain-text")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_whole_words() {
        for (text, term, contained) in [
            ("response p99, ms", "p99", true),
            ("response p99.9, ms", "p99", false),
            ("response p99.9, ms", "p99.9", true),
            ("a wait of p99.", "p99", true),
            ("maximum (95 % ci)", "max", false),
            ("maximum (95 % ci)", "95 % ci", true),
            ("goodput/s", "goodput", true),
            ("browser rows", "rows", true),
            ("browsers", "rows", false),
            ("максимум", "макс", false),
        ] {
            assert_eq!(contains_term(text, term), contained, "{term} in {text}");
        }
    }
}
