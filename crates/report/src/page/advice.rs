//! Which indexes would help, and what helps each statement?

use super::case::Case;
use super::number::said;
use super::results::{Figure, filled};
use super::text::short;
use super::{Block, Column, Line};
use crate::advice::{remedy, sentences};
use crate::lang::advice::AdviceWord;
use crate::lang::page::Term;
use model::advice::{Advice, Case as Statement};

/// So much of a statement's text is shown.
const MOST: usize = 400;

pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    case.account.advice.iter().flat_map(|it| of(case, it)).collect()
}

fn of(case: &Case<'_>, advice: &Advice) -> Vec<Block> {
    let lang = case.lang;
    let all = case.account.experiment.cells.len();
    let plain = |text: String| Line { text, ..Line::default() };
    let mut blocks = Vec::new();
    let mut heads = Vec::new();
    if case.account.advice.len() > 1 {
        let names: Vec<&str> = advice.cells.iter().map(|it| case.name(*it)).collect();
        heads.push(lang.cells(&names, all));
    }
    heads.extend(crate::advice::heads(advice, lang));
    blocks.extend(heads.into_iter().map(|it| Block::Text(plain(it))));
    for (number, index) in advice.indexes.iter().enumerate() {
        let text = format!("{};", index.ddl);
        blocks.push(Block::Code { name: (number + 1).to_string(), text, folded: false });
        let items = sentences(index, lang).into_iter().map(plain).collect();
        blocks.push(Block::List { items });
    }
    if !advice.indexes.is_empty() {
        blocks.push(Block::Text(plain(lang.advice_word(AdviceWord::Beware).to_owned())));
    }
    let known = |it: Option<f64>| it.map_or(String::new(), |it| said(it, lang));
    let figures: Vec<Figure<'_, Statement>> = vec![
        (
            lang.term(Term::SharePercent).to_owned(),
            1,
            Box::new(move |it| known(it.share.map(|it| 100.0 * it))),
        ),
        (lang.term(Term::MeanMillis).to_owned(), 2, Box::new(move |it| known(it.mean.map(|it| 1e3 * it)))),
        (
            lang.advice_word(AdviceWord::Reads).to_owned(),
            3,
            Box::new(|it| it.scan.as_ref().map_or(String::new(), |it| lang.scanned(it))),
        ),
        (lang.advice_word(AdviceWord::Helps).to_owned(), 0, Box::new(|it| remedy(advice, it, lang))),
    ];
    let rows: Vec<&Statement> = advice.statements.iter().collect();
    if !rows.is_empty() {
        let first = Column { heading: lang.term(Term::Statement).to_owned(), ..Column::default() };
        let mut table = filled((first, |it: &Statement| short(&it.text, MOST)), figures, &rows);
        // The last two are words.
        table.columns.iter_mut().skip(3).for_each(|it| it.numeric = false);
        blocks.push(Block::Table(table));
    }
    blocks
}
