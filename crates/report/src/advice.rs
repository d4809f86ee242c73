//! Index advice for a terminal.

use crate::lang::Lang;
use crate::say;
use crate::text::{truncate, visible};
use model::Nanos;
use model::advice::{Advice, IndexAdvice, IndexEffect, StatementAdvice};
use model::run_result::RunResult;

/// Columns of a statement's text.
const WIDTH: usize = 160;

/// The advice of a run: each index with its reason, then a remedy for each statement.
pub fn render(account: &RunResult, lang: &Lang) -> String {
    if account.advice.is_empty() {
        return format!("{}\n", say!(lang, "advice-no-plans"));
    }
    let names = crate::cells::cell_names(&account.matrix);
    let mut parts = Vec::new();
    for it in &account.advice {
        if account.advice.len() > 1 {
            let its: Vec<&str> = it.cells.iter().map(|cell| names[*cell].as_str()).collect();
            parts.push(format!("{}\n", visible(&lang.cells(&its, names.len()))));
        }
        parts.push(advice_block(it, lang));
    }
    parts.join("\n")
}

fn advice_block(it: &Advice, lang: &Lang) -> String {
    let mut out = String::new();
    for head in heading_lines(it, lang) {
        out += &format!("{}\n", visible(&head));
    }
    for (number, index) in it.indexes.iter().enumerate() {
        out += &format!("\n-- {}\n{};\n", number + 1, visible(&index.ddl));
        for it in index_sentences(index, lang) {
            out += &format!("--   {}\n", visible(&it));
        }
    }
    if !it.indexes.is_empty() {
        out += &format!("\n-- {}\n", say!(lang, "advice-concurrently"));
    }
    for statement in &it.statements {
        out += &format!("\n{}\n", visible(&truncate(&statement.text, WIDTH)));
        let figures = [
            statement.share.map(|it| lang.numbers().percent(it, 1)),
            statement.mean.map(|it| lang.time(Nanos::from_secs_f64(it))),
            statement.scan.as_ref().map(|it| lang.scanned(it)),
        ];
        let figures: Vec<String> = figures.into_iter().flatten().collect();
        if !figures.is_empty() {
            out += &format!("    {}\n", visible(&figures.join("; ")));
        }
        out += &format!("    {}: {}\n", say!(lang, "advice-remedy"), visible(&remedy(it, statement, lang)));
    }
    out
}

/// Gain and cost of indexes.
pub fn effect_text(it: &IndexEffect, lang: &Lang) -> String {
    let mut out = format!("\n{}\n\n", say!(lang, "advice-applied"));
    for built in &it.built {
        out += &format!("{}\n", visible(&lang.index_built(built)));
    }
    for statement in &it.statements {
        let text = truncate(&statement.text, WIDTH);
        out += &format!("\n{}\n    {}\n", visible(&text), lang.statement_changed(statement));
    }
    if let Some((before, after)) = it.hot {
        out += &format!("\n{}\n", lang.heap_only(before, after));
    }
    out
}

/// Lines before the indexes.
pub(crate) fn heading_lines(it: &Advice, lang: &Lang) -> Vec<String> {
    let mut all = Vec::new();
    match it.indexes.len() {
        0 => all.push(say!(lang, "advice-no-index")),
        many => all.extend(it.saved.map(|share| lang.saved_together(many, share))),
    }
    all.extend(it.planner_unavailable.as_ref().map(|why| lang.untried(why)));
    all
}

/// Reason, saving and cost of an index.
pub(crate) fn index_sentences(it: &IndexAdvice, lang: &Lang) -> [String; 3] {
    [lang.why_index(it), lang.index_saves(it), lang.index_costs(it)]
}

/// Remedy for one of its statements.
pub(crate) fn remedy(advice: &Advice, it: &StatementAdvice, lang: &Lang) -> String {
    let number = advice.statements.iter().position(|other| std::ptr::eq(other, it));
    let helped = match &it.remedy {
        model::advice::Remedy::Index { index } => {
            let its = advice.indexes.get(*index).map(|it| it.improved.as_slice()).unwrap_or_default();
            let this = its.iter().find(|it| Some(it.statement) == number);
            this.map(|it| (index + 1, it.before, it.after))
        }
        _ => None,
    };
    lang.remedy(&it.remedy, helped)
}
