//! Section with index advice and a remedy per statement

use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns};
use crate::advice::{index_sentences, remedy};
use crate::plan_text::plan_text;
use crate::say;
use crate::text::truncate;
use crate::view::{Block, Column, Line};
use model::advice::{Advice, StatementAdvice as Statement};

/// Maximum number of characters that are shown of a statement's text.
const TEXT_CHARS_MAX: usize = 400;

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    case.account.advice.iter().flat_map(|it| advice_blocks(case, it)).collect()
}

fn plan_block(statement: &Statement) -> Option<Block> {
    let text = plan_text(statement.plan.as_ref()?);
    Some(Block::Code { name: truncate(&statement.text, TEXT_CHARS_MAX), text, folded: false })
}

fn advice_blocks(case: &PageContext<'_>, advice: &Advice) -> Vec<Block> {
    let lang = case.lang;
    let all = case.account.experiment.cells.len();
    let plain = |text: String| Line { text, ..Line::default() };
    let mut blocks = Vec::new();
    let mut heads = Vec::new();
    if case.account.advice.len() > 1 {
        let names: Vec<&str> = advice.cells.iter().map(|it| case.name(*it)).collect();
        heads.push(lang.cells(&names, all));
    }
    heads.extend(crate::advice::heading_lines(advice, lang));
    blocks.extend(heads.into_iter().map(|it| Block::Text(plain(it))));
    for (number, index) in advice.indexes.iter().enumerate() {
        let text = format!("{};", index.ddl);
        blocks.push(Block::Code { name: (number + 1).to_string(), text, folded: false });
        let items = index_sentences(index, lang).into_iter().map(plain).collect();
        blocks.push(Block::List { items });
    }
    if !advice.indexes.is_empty() {
        blocks.push(Block::Text(plain(say!(lang, "advice-concurrently"))));
    }
    let known = |value: Option<f64>| value.map_or(String::new(), |value| lang.numbers().three(value));
    let figures: Vec<FigureColumn<'_, Statement>> = vec![
        (
            say!(lang, "page-share-percent"),
            1,
            Box::new(move |statement| known(statement.share.map(|share| 100.0 * share))),
        ),
        (
            say!(lang, "page-mean-milliseconds"),
            2,
            Box::new(move |statement| known(statement.mean.map(|mean| 1e3 * mean))),
        ),
        (
            say!(lang, "advice-rows-read"),
            3,
            Box::new(|statement| statement.scan.as_ref().map_or(String::new(), |scan| lang.scanned(scan))),
        ),
        (say!(lang, "advice-remedy"), 0, Box::new(|it| remedy(advice, it, lang))),
    ];
    let rows: Vec<&Statement> = advice.statements.iter().collect();
    if !rows.is_empty() {
        let first = Column { heading: say!(lang, "page-statement"), ..Column::default() };
        let mut table =
            non_empty_columns((first, |it: &Statement| truncate(&it.text, TEXT_CHARS_MAX)), figures, &rows);
        // These columns contain words.
        let words = [say!(lang, "advice-rows-read"), say!(lang, "advice-remedy")];
        for column in table.columns.iter_mut().filter(|column| words.contains(&column.heading)) {
            column.numeric = false;
        }
        blocks.push(Block::Table(table));
    }
    let plans: Vec<Block> = rows.iter().filter_map(|it| plan_block(it)).collect();
    if !plans.is_empty() {
        let name = say!(lang, "advice-plans", count = plans.len());
        blocks.push(Block::Details { name, blocks: plans });
    }
    blocks
}
