//! Index advice for a terminal

use crate::lang::Lang;
use crate::plan_text::plan_text;
use crate::say;
use crate::text::{truncate, visible};
use model::Nanos;
use model::advice::{Advice, IndexAdvice, IndexEffect, StatementAdvice};
use model::run_result::RunResult;

/// Maximum number of columns of a statement's text.
const WIDTH: usize = 160;

/// Renders the advice of a run: each index with its reason, then a remedy for each statement, with its plan if `plans` is
/// set.
pub fn render(account: &RunResult, plans: bool, lang: &Lang) -> String {
    if account.advice.is_empty() {
        return format!("{}\n", say!(lang, "advice-no-plans"));
    }
    let names = crate::cells::cell_names(&account.matrix);
    let mut parts = Vec::new();
    for advice in &account.advice {
        if account.advice.len() > 1 {
            let cells: Vec<&str> = advice.cells.iter().map(|cell| names[*cell].as_str()).collect();
            parts.push(format!("{}\n", visible(&lang.cells(&cells, names.len()))));
        }
        parts.push(advice_block(advice, plans, lang));
    }
    parts.join("\n")
}

fn advice_block(advice: &Advice, plans: bool, lang: &Lang) -> String {
    let mut out = String::new();
    for head in heading_lines(advice, lang) {
        out += &format!("{}\n", visible(&head));
    }
    for (number, index) in advice.indexes.iter().enumerate() {
        out += &format!("\n-- {}\n{};\n", number + 1, visible(&index.ddl));
        for sentence in index_sentences(index, lang) {
            out += &format!("--   {}\n", visible(&sentence));
        }
    }
    if !advice.indexes.is_empty() {
        out += &format!("\n-- {}\n", say!(lang, "advice-concurrently"));
    }
    for statement in &advice.statements {
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
        out +=
            &format!("    {}: {}\n", say!(lang, "advice-remedy"), visible(&remedy(advice, statement, lang)));
        if let Some(plan) = statement.plan.as_ref().filter(|_| plans) {
            out.extend(plan_text(plan).lines().map(|line| format!("      {}\n", visible(line))));
        }
    }
    out
}

/// Renders the measured gain and cost of indexes.
pub fn effect_text(effect: &IndexEffect, lang: &Lang) -> String {
    let mut out = format!("\n{}\n\n", say!(lang, "advice-applied"));
    for built in &effect.builds {
        out += &format!("{}\n", visible(&lang.index_built(built)));
    }
    for statement in &effect.statements {
        let text = truncate(&statement.text, WIDTH);
        out += &format!("\n{}\n    {}\n", visible(&text), lang.statement_changed(statement));
    }
    if let Some((before, after)) = effect.hot_share {
        out += &format!("\n{}\n", lang.heap_only(before, after));
    }
    out
}

/// Lines that precede the indexes.
pub(crate) fn heading_lines(advice: &Advice, lang: &Lang) -> Vec<String> {
    let mut all = Vec::new();
    match advice.indexes.len() {
        0 => all.push(say!(lang, "advice-no-index")),
        many => all.extend(advice.saved_share.map(|share| lang.saved_together(many, share))),
    }
    all.extend(advice.planner_unavailable.as_ref().map(|reason| lang.no_estimates(reason)));
    all
}

/// Sentences on an index: its reason, the time that it saves, and its cost.
pub(crate) fn index_sentences(index: &IndexAdvice, lang: &Lang) -> [String; 3] {
    [lang.why_index(index), lang.index_saves(index), lang.index_costs(index)]
}

/// Remedy for one statement of the advice.
pub(crate) fn remedy(advice: &Advice, statement: &StatementAdvice, lang: &Lang) -> String {
    let number = advice.statements.iter().position(|other| std::ptr::eq(other, statement));
    let helped = match &statement.remedy {
        model::advice::Remedy::Index { index } => {
            let improved =
                advice.indexes.get(*index).map(|it| it.cost_changes.as_slice()).unwrap_or_default();
            let improvement = improved.iter().find(|it| Some(it.statement) == number);
            improvement.map(|it| (index + 1, it.before, it.after))
        }
        _ => None,
    };
    lang.remedy(&statement.remedy, helped)
}
