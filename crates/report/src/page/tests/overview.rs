use super::failover::survived;
use super::invent::{account, hostile_account, paired_account, single_cell_account};
use super::search::searched;
use crate::lang;
use crate::page::page;
use crate::view::{Overview, Plot};
use model::finding::{Finding, IncomparableReason};
use model::run_result::RunResult;

/// Name, result, and kind of the picture for each kind of run.
fn kinds() -> Vec<(&'static str, RunResult, &'static str)> {
    vec![
        ("one cell", single_cell_account(), "intervals"),
        ("matrix", account(), "intervals"),
        ("pairs", paired_account(6), "intervals"),
        ("hostile", hostile_account(), "intervals"),
        ("maximum", searched(), "points"),
        ("failover", survived(), "points"),
    ]
}

fn overview(result: &RunResult, lang: &lang::Lang) -> Overview {
    page(result, lang).overview.expect("a measured run has a first screen")
}

#[test]
fn first_screens_are_short_and_complete() {
    for (name, result, picture) in kinds() {
        for lang in lang::all() {
            let overview = overview(&result, lang);
            let words =
                overview.summary.text.split_whitespace().filter(|it| it.contains(char::is_alphanumeric));
            let words = words.count();
            assert!((2..=25).contains(&words), "{name}: {words} words: {}", overview.summary.text);
            assert!((3..=4).contains(&overview.figures.len()), "{name}: {:?}", overview.figures);
            for figure in &overview.figures {
                assert!(!figure.label.is_empty() && !figure.value.is_empty(), "{name}: {figure:?}");
            }
            assert!(overview.doubts.len() <= 3, "{name}: {:?}", overview.doubts);
            let kind = match overview.picture.map(|it| it.plot) {
                Some(Plot::Intervals { rows, .. }) if !rows.is_empty() => "intervals",
                Some(Plot::Points { series, .. }) if series.iter().all(|it| !it.points.is_empty()) => {
                    "points"
                }
                Some(other) => panic!("{name}: empty picture {other:?}"),
                None => "none",
            };
            assert_eq!(kind, picture, "{name}");
        }
    }
}

#[test]
fn states_violated_objectives_and_excluded_cells() {
    let text = |result: &RunResult| overview(result, lang::english()).summary.text;
    let mut result = account();
    assert_eq!(text(&result), "pooled delivers 18120/s: 0.84 times the 21570/s of direct.");
    result.matrix.objectives[0].violated = 1;
    assert_eq!(
        text(&result),
        "pooled delivers 18120/s: 0.84 times the 21570/s of direct. The objective is violated."
    );
    result.matrix.objectives.clear();
    result.findings.push(Finding::NotCompared { cell: 0, reason: IncomparableReason::ClientsStarved });
    assert_eq!(
        text(&result),
        "pooled delivers 18120/s; it is not comparable with direct (21570/s): clients were refused or starved, or too many \
         transactions failed."
    );
}

#[test]
fn has_no_first_screen_without_a_measurement() {
    let mut result = account();
    result.cells.iter_mut().for_each(|it| *it = model::run_result::CellResult::default());
    result.matrix.rows.iter_mut().for_each(|it| it.figures.clear());
    assert_eq!(page(&result, lang::english()).overview, None);
}
