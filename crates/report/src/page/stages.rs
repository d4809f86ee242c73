//! Table of the results by stage of the load

use super::context::PageContext;
use super::figure_table::{non_empty_columns, period_columns};
use crate::lang::Lang;
use crate::say;
use crate::view::{Column, Line, Table, Tone};
use model::run_result::{CellResult, StageBreakReason, StageLevel, StageResult};

/// Builds the table of a cell, with a sentence on the stage at which the system broke; `None` without stages.
pub fn table(case: &PageContext<'_>, cell: usize) -> Option<Table> {
    let (lang, result) = (case.lang, case.account.cells.get(cell)?);
    if result.stages.is_empty() {
        return None;
    }
    let mut figures = period_columns(lang, |it: &StageResult| &it.period);
    let offered =
        |stage: &StageResult| stage.offered.map_or(String::new(), |rate| lang.numbers().three(rate.0));
    figures.insert(1, (say!(lang, "page-offered"), 2, Box::new(offered)));
    let first =
        (Column { heading: say!(lang, "page-load-stage"), ..Column::default() }, |stage: &StageResult| {
            level(stage.level, lang)
        });
    let mut table = non_empty_columns(first, figures, &result.stages.iter().collect::<Vec<_>>());
    if let Some(broken) = &result.stage_break {
        table.rows[broken.stage].tone = Tone::Bad;
    }
    let name = case.name(cell);
    let prefix = if name.is_empty() { String::new() } else { format!("{name}: ") };
    table.caption = prefix + &say!(lang, "page-load-stages");
    table.notes.push((String::new(), sentence(result, lang)));
    Some(table)
}

fn level(level: StageLevel, lang: &Lang) -> String {
    let numbers = lang.numbers();
    match level {
        StageLevel::Users(users) => say!(lang, "page-load-stage-users", users),
        StageLevel::Rate { from, to } if from == to => {
            say!(lang, "page-load-stage-rate", rate = numbers.three(from.0))
        }
        StageLevel::Rate { from, to } => {
            say!(lang, "page-load-stage-ramp", from = numbers.three(from.0), to = numbers.three(to.0))
        }
    }
}

/// Sentence on the stage at which the system broke.
fn sentence(result: &CellResult, lang: &Lang) -> Line {
    let Some(broken) = &result.stage_break else {
        return Line { text: say!(lang, "page-load-stages-sustained"), tone: Tone::Plain };
    };
    let (numbers, number) = (lang.numbers(), broken.stage + 1);
    let level = level(result.stages[broken.stage].level, lang);
    let text = match broken.reason {
        StageBreakReason::Failed { share } => {
            say!(lang, "page-load-stage-broke-failed", number, level, share = numbers.percent(share, 1))
        }
        StageBreakReason::Refused { count } => {
            say!(lang, "page-load-stage-broke-refused", number, level, count)
        }
        StageBreakReason::Behind { offered, delivered } => say!(
            lang,
            "page-load-stage-broke-behind",
            number,
            level,
            offered = numbers.three(offered.0),
            delivered = numbers.three(delivered.0)
        ),
        StageBreakReason::Slower { highest, delivered } => say!(
            lang,
            "page-load-stage-broke-slower",
            number,
            level,
            highest = numbers.three(highest.0),
            delivered = numbers.three(delivered.0)
        ),
    };
    Line { text, tone: Tone::Bad }
}
