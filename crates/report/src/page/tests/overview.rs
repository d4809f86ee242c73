use super::failover::survived;
use super::invent::{account, hostile_account, paired_account, single_cell_account};
use super::search::{confirmed, searched, soak_result, swept};
use crate::lang;
use crate::page::{page, short_answer};
use crate::view::{Block, LargeFigure, Overview, Plot, Tone};
use model::Nanos;
use model::chart::ChartSeriesKind;
use model::finding::{Finding, IncomparableReason};
use model::matrix::{BaselineComparison, ChangeVerdict, Figure};
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict};
use model::plan::LoadScale;
use model::run_result::{RunResult, RunState, TrialResult};
use model::search::{
    Cause, LevelOutcome, LevelTrials, Limit, Maximum, OverloadReason, SearchStopReason, SoakResult,
    StepResult, Suspect, TrendVerdict,
};
use model::summary::UnansweredArrivals;
use model::validity::{Doubt, Verdict};

/// Name, result, and kind of the picture for each kind of run.
pub fn kinds() -> Vec<(&'static str, RunResult, &'static str)> {
    vec![
        ("one cell", single_cell_account(), "intervals"),
        ("matrix", account(), "intervals"),
        ("pairs", paired_account(6), "intervals"),
        ("hostile", hostile_account(), "intervals"),
        ("maximum", searched(), "points"),
        ("confirm", confirmed(), "points"),
        ("soak", soak_result(), "points"),
        ("sweep", swept(), "intervals"),
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
            if result.matrix.verdict == Verdict::ValidWithDoubts {
                assert!(!overview.doubts.is_empty(), "{name}: a verdict with doubts and without a doubt");
            }
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
    let text = |result: &RunResult| overview(result, lang::english()).summary.text.replace('\u{a0}', " ");
    let mut result = account();
    assert_eq!(
        text(&result),
        "pooled delivers 18120/s: 0.84 times the 21570/s of direct; p99 12.3 ms vs 12.3 ms."
    );
    result.matrix.objectives[0].violated = 1;
    assert_eq!(
        text(&result),
        "pooled delivers 18120/s: 0.84 times the 21570/s of direct; p99 12.3 ms vs 12.3 ms. The objective is violated."
    );
    result.matrix.objectives.clear();
    result.findings.push(Finding::NotCompared { cell: 0, reason: IncomparableReason::ClientsStarved });
    assert_eq!(
        text(&result),
        "pooled delivers 18120/s; it is not comparable with direct (21570/s): clients of direct starved."
    );
}

/// Figures of a first screen: label, value and detail, without special spaces.
fn figures(result: &RunResult) -> Vec<String> {
    let plain = |text: &str| text.replace(['\u{a0}', '\u{202f}'], " ");
    let text = |it: &LargeFigure| plain(&format!("{}: {} ({}) {:?}", it.label, it.value, it.detail, it.tone));
    overview(result, lang::english()).figures.iter().map(text).collect()
}

#[test]
fn compares_a_cell_with_its_baseline() {
    let mut result = account();
    let expected = [
        "pooled: 18120/s (0.84 of the baseline) Bad",
        "p99 of the response time: 12.3 ms (pooled; direct 12.3 ms; p99 < 200ms: met) Good",
        "Errors, worst of 4 trials: < 0.01 % (direct; 40P01 deadlock_detected) Doubt",
        "Verdict: valid with doubts (4 of 4 trials valid) Doubt",
    ];
    assert_eq!(figures(&result), expected);
    let on_errors = |verdict| ObjectiveResult {
        objective: "errors < 1%".into(),
        verdict,
        unit: ObjectiveUnit::Share,
        bound: 0.01,
        ..account().trials[0].objectives[0].clone()
    };
    result.trials[0].objectives.push(on_errors(ObjectiveVerdict::Met));
    let met = "Errors, worst of 4 trials: < 0.01 % (direct; 40P01 deadlock_detected; errors < 1%: met) Plain";
    assert_eq!(figures(&result)[2], met);
    result.trials[1].objectives.push(on_errors(ObjectiveVerdict::Violated));
    assert!(figures(&result)[2].ends_with("errors < 1%: violated) Bad"), "{:?}", figures(&result));
    result.matrix.objectives[0].objective = "p95 < 20ms".into();
    result.matrix.objectives[0].violated = 1;
    assert!(figures(&result)[1].ends_with("; p95 < 20ms: violated) Bad"), "{:?}", figures(&result));
}

#[test]
fn answers_all_pairs() {
    let mut two = paired_account(2);
    two.trials.iter_mut().for_each(|trial| trial.errors = Some(0.0));
    let expected = [
        "pooled/2 vs direct/2: 2.00× (95 % CI 1.90 to 2.10; p99 12.3 ms vs 12.3 ms) Good",
        "pooled/1 vs direct/1: 0.50× (95 % CI 0.47 to 0.53; p99 12.3 ms vs 12.3 ms) Bad",
        "Errors, worst of 2 trials: 0 % (no failed or dropped arrivals) Good",
        "Verdict: valid (2 of 2 trials valid) Good",
    ];
    assert_eq!(figures(&two), expected);
    let screen = overview(&two, lang::english());
    assert_eq!(screen.summary.text, "Throughput: pooled/2 is 2.00× direct/2; pooled/1 is 0.50× direct/1.");
    let Some(Plot::Intervals { axis, rows }) = screen.picture.map(|it| it.plot) else {
        panic!("a picture with ratios")
    };
    let values: Vec<(f64, Option<(f64, f64)>)> = rows.iter().map(|row| (row.value, row.interval)).collect();
    assert_eq!(values, [(2.0, Some((1.9, 2.1))), (0.5, Some((0.475, 0.525)))]);
    assert_eq!(axis.references.iter().map(|line| line.value).collect::<Vec<_>>(), [1.0]);
    // Errors are shown even if there are many pairs.
    let labels = |result: &RunResult| -> Vec<String> {
        overview(result, lang::english()).figures.into_iter().map(|it| it.label).collect()
    };
    let mut six = paired_account(6);
    let expected = ["pooled/6 vs direct/6", "pooled/1 vs direct/1", "Errors, worst of 2 trials", "Verdict"];
    assert_eq!(labels(&six), expected);
    six.trials.iter_mut().for_each(|trial| trial.errors = Some(0.0));
    let expected = ["pooled/6 vs direct/6", "pooled/5 vs direct/5", "pooled/1 vs direct/1", "Verdict"];
    assert_eq!(labels(&six), expected);
    assert_eq!(
        overview(&six, lang::english()).summary.text,
        "Throughput: pooled/6 is 6.00× direct/6; pooled/5 is 5.00× direct/5; pooled/1 is 0.50× direct/1; and 3 more \
         pairs."
    );
}

#[test]
fn says_what_is_not_known_about_pairs() {
    let answer = |change: &dyn Fn(&mut RunResult)| {
        let mut result = paired_account(2);
        change(&mut result);
        let short = short_answer(&result, lang::english());
        (overview(&result, lang::english()).summary.text, short.answer.join("\n"))
    };
    let verdicts = |verdict: ChangeVerdict| {
        move |result: &mut RunResult| {
            for figure in result.matrix.rows.iter_mut().flat_map(|row| &mut row.figures) {
                figure.vs_baseline.iter_mut().for_each(|it| it.verdict = verdict);
            }
        }
    };
    let (summary, lines) = answer(&verdicts(ChangeVerdict::NoEvidence));
    assert_eq!(summary, "Throughput: no evidence of a difference in 2 pairs.");
    let expected = "pooled/2: 2.00× direct/2 (95 % CI 1.90 to 2.10), no evidence of a difference; p99 12.3 ms vs 12.3 ms.";
    assert_eq!(lines.replace('\u{a0}', " ").lines().next(), Some(expected));
    let few = |result: &mut RunResult| {
        verdicts(ChangeVerdict::TooFewRuns)(result);
        for figure in result.matrix.rows.iter_mut().flat_map(|row| &mut row.figures) {
            figure.vs_baseline.iter_mut().for_each(|it| it.interval = None);
        }
    };
    let (summary, lines) = answer(&few);
    assert!(summary.starts_with("Throughput: too few trials to compare pooled/2 with direct/2"), "{summary}");
    assert!(lines.starts_with("pooled/2: 2.00× direct/2, too few trials to detect a difference;"), "{lines}");
    let excluded = |result: &mut RunResult| {
        result.findings.push(Finding::NotCompared { cell: 1, reason: IncomparableReason::ClientsStarved });
    };
    let (summary, lines) = answer(&excluded);
    assert_eq!(summary, "Throughput: pooled/2 is 2.00× direct/2; pooled/1 is not comparable with direct/1.");
    assert!(lines.contains("\npooled/1 delivers 5000/s; it is not comparable with direct/1"), "{lines}");
    let unmeasured = |result: &mut RunResult| {
        let more = paired_account(3);
        (result.matrix, result.experiment, result.cells) = (more.matrix, more.experiment, more.cells);
        result.matrix.rows[0].figures.clear();
    };
    let mut result = paired_account(2);
    unmeasured(&mut result);
    let doubts = overview(&result, lang::english()).doubts;
    assert_eq!(doubts[0].text, "1 cell has no measured baseline, or was not measured itself");
}

/// Sets the change of the p99 of each compared cell.
fn change_p99(result: &mut RunResult, ratio: f64, verdict: ChangeVerdict) {
    for row in result.matrix.rows.iter_mut().filter(|row| row.baseline.is_some()) {
        let p99 = row.figures.iter_mut().find(|it| it.figure == Figure::P99).expect("a p99");
        p99.median *= ratio;
        p99.vs_baseline =
            Some(BaselineComparison { ratio: Some(ratio), interval: None, p: Some(0.01), verdict });
    }
}

/// A change of the p99 is stated even if the throughput did not change.
#[test]
fn states_changes_of_the_p99() {
    let text = |result: &RunResult| overview(result, lang::english()).summary.text.replace('\u{a0}', " ");
    let mut one = account();
    change_p99(&mut one, 0.5, ChangeVerdict::Lower);
    let expected =
        "pooled delivers 18120/s: 0.84 times the 21570/s of direct; p99 6.15 ms vs 12.3 ms, lower.";
    assert_eq!(text(&one), expected);
    for figure in one.matrix.rows.iter_mut().flat_map(|row| &mut row.figures) {
        let tps = figure.vs_baseline.iter_mut().filter(|_| figure.figure == Figure::Tps);
        tps.for_each(|it| it.verdict = ChangeVerdict::NoEvidence);
    }
    let expected = "There is no evidence that pooled differs from direct in throughput; p99 6.15 ms vs 12.3 ms, \
                    lower.";
    assert_eq!(text(&one), expected);
    let mut pairs = paired_account(2);
    for change in
        pairs.matrix.rows.iter_mut().flat_map(|row| &mut row.figures).filter_map(|it| it.vs_baseline.as_mut())
    {
        change.verdict = ChangeVerdict::NoEvidence;
    }
    change_p99(&mut pairs, 2.0, ChangeVerdict::Higher);
    let expected =
        "Throughput: no evidence that pooled/2 differs from direct/2 (p99 higher); and 1 more pair.";
    assert_eq!(text(&pairs), expected);
}

/// In the open model, the schedule determines the throughput, so cells are compared by their p99.
#[test]
fn compares_open_cells_by_p99() {
    let mut result = paired_account(1);
    for cell in &mut result.experiment.cells {
        cell.setup.load.model = soak_result().experiment.cells[0].setup.load.model.clone();
    }
    change_p99(&mut result, 0.25, ChangeVerdict::Lower);
    let screen = overview(&result, lang::english());
    assert_eq!(screen.summary.text, "p99 at the offered load: pooled/1 is 0.25× direct/1.");
    let first = "pooled/1 vs direct/1: p99 0.25× (p99 3.08 ms vs 12.3 ms) Good";
    assert_eq!(figures(&result)[0], first);
    let Some(Plot::Intervals { axis, rows }) = screen.picture.map(|it| it.plot) else {
        panic!("a picture with ratios")
    };
    assert_eq!((axis.title.as_str(), rows[0].value), ("p99, relative to the baseline", 0.25));
    let lines = short_answer(&result, lang::english()).answer.join("\n").replace('\u{a0}', " ");
    assert_eq!(lines, "pooled/1: p99 0.25× direct/1, lower; p99 3.08 ms vs 12.3 ms.");
    // A p99 is not compared if only a lower bound is known.
    for figure in result.matrix.rows.iter_mut().flat_map(|row| &mut row.figures) {
        figure.is_lower_bound = figure.figure == Figure::P99;
    }
    let screen = overview(&result, lang::english());
    assert_eq!(screen.summary.text, "p99 at the offered load: pooled/1 is not comparable with direct/1.");
}

/// If several cells have the same baseline, the sentence covers each cell.
#[test]
fn answers_all_cells_with_a_shared_baseline() {
    let mut result = paired_account(2);
    for row in result.matrix.rows.iter_mut().skip(1) {
        row.baseline = Some(0);
    }
    result.matrix.baseline = Some(0);
    let text = overview(&result, lang::english()).summary.text;
    assert_eq!(
        text,
        "Throughput: pooled/2 is 2.00× direct/1; pooled/1 is 0.50× direct/1; direct/2 is not comparable with \
         direct/1."
    );
}

/// One line per pair, at most four.
#[test]
fn last_lines_answer_all_pairs() {
    let mut result = paired_account(6);
    result.matrix.objectives[0].violated = 1;
    let short = short_answer(&result, lang::english());
    let first: Vec<&str> =
        short.answer.iter().map(|line| line.split(['(', '.']).next().unwrap_or_default()).collect();
    let names: Vec<&str> = first.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
    let expected =
        ["pooled/6", "pooled/5", "pooled/4", "pooled/1", "and 2 more pairs", "The objective is violated"];
    assert_eq!(names, expected);
    assert_eq!(short_answer(&account(), lang::english()).answer.len(), 1);
}

/// Threads of one trial may have equal doubts.
#[test]
fn counts_the_trials_of_a_doubt_and_shows_the_worst() {
    let starved = |thread, share| Doubt::Starved { thread, share };
    let mut result = account();
    result.trials[1].doubts = vec![starved(0, 0.1), starved(1, 0.2)];
    result.trials[2].doubts = vec![starved(0, 0.4)];
    result.trials[3].doubts = vec![starved(0, 0.9)];
    result.trials[3].valid = false;
    let summary = &mut result.matrix.doubts[0];
    (summary.doubt, summary.trials) = (starved(0, 0.4), 2);
    let doubts: Vec<String> =
        overview(&result, lang::english()).doubts.into_iter().map(|it| it.text).collect();
    let expected = "in 2 of 4 trials: thread 1 of the generator waited for a CPU 40 % of the time, and response times \
                    include this";
    let starved: Vec<&String> = doubts.iter().filter(|it| it.contains("waited for a CPU")).collect();
    assert_eq!(starved, [expected], "{doubts:?}");
}

#[test]
fn describes_each_doubt_once_above_the_sections() {
    let overview = overview(&account(), lang::english());
    let above = format!("{overview:?}");
    assert_eq!(above.matches("waited for a CPU").count(), 1, "{above}");
    assert!(overview.details.ends_with("; 4 of 4 trials are valid, 1 of them with doubts."), "{above}");
    // Without a first screen, for example in Markdown, the answer describes them.
    let answer = page(&account(), lang::english()).answer.text;
    assert_eq!(answer.matches("waited for a CPU").count(), 1, "{answer}");
}

#[test]
fn errors_are_those_of_the_worst_valid_trial() {
    let errors = |change: &dyn Fn(&mut RunResult)| {
        let mut result = single_cell_account();
        change(&mut result);
        let figures = overview(&result, lang::english()).figures;
        let figure = figures.into_iter().find(|figure| figure.label.starts_with("Errors")).expect("a figure");
        (figure.label, figure.value.replace('\u{a0}', " "), figure.detail, figure.tone)
    };
    let label = "Errors, worst of 2 trials".to_owned();
    let deadlock = "40P01 deadlock_detected".to_owned();
    assert_eq!(errors(&|_| {}), (label.clone(), "< 0.01 %".into(), deadlock.clone(), Tone::Doubt));
    let unequal =
        |result: &mut RunResult| (result.trials[0].errors, result.trials[1].errors) = (Some(0.02), Some(0.4));
    assert_eq!(errors(&unequal), (label.clone(), "40 %".into(), deadlock, Tone::Doubt));
    let outage = |result: &mut RunResult| {
        result.cells[0].total.as_mut().expect("the cell was measured").failures.clear();
        let [from, to] = [2, 5].map(Nanos::from_secs);
        result.trials[1].doubts = vec![Doubt::Outage { count: 1, duration: Nanos::from_secs(3), from, to }];
        result.trials.iter_mut().for_each(|trial| trial.errors = Some(0.0));
    };
    let detail = "no success for 3.00 s".to_owned();
    assert_eq!(errors(&outage), (label.clone(), "0 %".into(), detail, Tone::Doubt));
    // The objective also counts clients without any success, so the figure shows what it judged.
    let starved = |result: &mut RunResult| {
        let judged = ObjectiveResult {
            objective: "errors < 1%".into(),
            verdict: ObjectiveVerdict::Violated,
            unit: ObjectiveUnit::Share,
            bound: 0.01,
            measured: Some(0.2),
            is_lower_bound: true,
            ..result.trials[0].objectives[0].clone()
        };
        result.trials[0].objectives.push(judged);
    };
    let detail = "clients without any success; errors < 1%: violated".to_owned();
    assert_eq!(errors(&starved), (label, "> 20 %".into(), detail, Tone::Bad));
}

#[test]
fn quantiles_of_unanswered_arrivals_are_lower_bounds() {
    let mut result = single_cell_account();
    let total = result.cells[0].total.as_mut().expect("the cell was measured");
    total.count = 980;
    let longer_than = Nanos::from_secs(6);
    total.response.unanswered =
        Some(UnansweredArrivals { count: 20, longer_than, mean_of_answered: total.response.mean.take() });
    (total.response.p99, total.response.max) = (None, None);
    let Some(Plot::Intervals { rows, .. }) = overview(&result, lang::english()).picture.map(|it| it.plot)
    else {
        panic!("a picture with quantiles")
    };
    let shown: Vec<(&str, bool)> = rows.iter().map(|row| (row.label.as_str(), row.is_lower_bound)).collect();
    let expected =
        [("p50", false), ("p90", false), ("p95", false), ("p99", true), ("p99.9", true), ("max", true)];
    assert_eq!(shown, expected);
    assert!(rows[3..].iter().all(|row| row.text.starts_with('>') && row.value == 6.0), "{rows:?}");
}

/// A pooler that hardly uses its CPU may have no free server connection.
#[test]
fn drawings_mark_the_fullest_resource() {
    let loads = |cpu: f64, busy: f64| {
        let mut result = account();
        let pooler = &mut result.cells[1].hops[1];
        (pooler.cpu, pooler.busy) = (Some(cpu), Some(busy));
        let blocks = page(&result, lang::english()).sections.into_iter().flat_map(|section| section.blocks);
        let mut drawings =
            blocks.filter_map(|block| if let Block::Drawing(drawing) = block { Some(drawing) } else { None });
        drawings.next_back().and_then(|drawing| drawing.nodes[1].load.clone()).map(|load| load.text)
    };
    assert_eq!(loads(0.002, 19.9).as_deref(), Some("pool 20 of 20"));
    assert_eq!(loads(0.099, 5.0).as_deref(), Some("CPU 99 %"));
}

#[test]
fn failovers_have_a_verdict_with_their_control() {
    let verdict = |lossy_trials: u32, lost: u64| {
        let mut result = survived();
        result.failovers.truncate(1);
        let control = result.failovers[0].control.as_mut().expect("a control");
        (control.lossy_trials, control.lost) = (lossy_trials, lost);
        overview(&result, lang::english()).figures.pop().map_or(String::new(), |figure| figure.detail)
    };
    assert!(verdict(19, 1022).ends_with("; the positive control lost 1022, so losses are detected"));
    assert!(verdict(0, 0).ends_with("; the positive control lost nothing, so losses may not be detected"));
}

/// Lost writes are on the first screen even if no setting promised that they survive.
#[test]
fn failovers_show_the_cell_that_lost_most() {
    let screen = overview(&survived(), lang::english());
    let expected = "pooled: 21 of 48120 acknowledged writes were lost in 20 failovers; no setting promised that they survive.";
    assert_eq!(screen.summary.text, expected);
    assert_eq!((screen.figures[0].value.as_str(), screen.figures[0].tone), ("21", Tone::Plain));
}

#[test]
fn lines_are_interrupted_where_nothing_was_measured() {
    let mut result = survived();
    let mut hidden = 0;
    for chart in result.trials.iter_mut().flat_map(|trial| &mut trial.charts.charts) {
        for series in chart.series.iter_mut().filter(|series| series.kind == ChartSeriesKind::Delivered) {
            series.values[1] = None;
            hidden += 1;
        }
    }
    let Some(Plot::Points { series, .. }) = overview(&result, lang::english()).picture.map(|it| it.plot)
    else {
        panic!("a picture with lines")
    };
    let gaps = series.iter().flat_map(|series| &series.points).filter(|point| point.y.is_none()).count();
    assert!(hidden > 0 && gaps >= series.len(), "{series:?}");
}

#[test]
fn search_without_an_answer_shows_its_bracket() {
    let mut result = searched();
    result.maxima[0].answer.level = None;
    result.maxima[0].answer.stop_reason = Some(SearchStopReason::Generator);
    let overview = overview(&result, lang::english());
    assert_eq!(
        overview.summary.text.replace('\u{202f}', " "),
        "No maximum was found: 646/s sustained in 2 of 2 trials, 678/s sustained in 1 of 3 trials."
    );
    let figures: Vec<(&str, &str, &str)> = overview.figures[..2]
        .iter()
        .map(|figure| (figure.label.as_str(), figure.value.as_str(), figure.detail.as_str()))
        .collect();
    let expected = [
        ("Highest load sustained", "646/s", "sustained in 2 of 2 trials"),
        ("Lowest load not sustained", "678/s", "sustained in 1 of 3 trials"),
    ];
    assert_eq!(figures, expected);
    // While the run is in progress, the missing maximum is not final, so it is not bad.
    let mut running = result;
    running.info.state = RunState::Running;
    let summary = self::overview(&running, lang::english()).summary;
    let expected =
        "The search is in progress: 646/s sustained in 2 of 2 trials, 678/s sustained in 1 of 3 trials.";
    assert_eq!((summary.text.replace('\u{202f}', " ").as_str(), summary.tone), (expected, Tone::Plain));
}

#[test]
fn search_without_a_full_answer_says_what_to_do() {
    let doubts = |reason: SearchStopReason, level: Option<f64>| {
        let mut result = searched();
        (result.maxima[0].answer.level, result.maxima[0].answer.stop_reason) = (level, Some(reason));
        let short = short_answer(&result, lang::english());
        assert_eq!(
            short.doubts.first(),
            overview(&result, lang::english()).doubts.first().map(|it| &it.text)
        );
        short.doubts.into_iter().next().unwrap_or_default().replace('\u{202f}', " ")
    };
    assert_eq!(
        doubts(SearchStopReason::Generator, None),
        "The generator was late or saturated. Give the generator more threads, or a machine of its own."
    );
    assert_eq!(
        doubts(SearchStopReason::MaxLevelHeld { level: 646.0 }, Some(646.0)),
        "No level above 646 arrivals per second was tried. Raise the limit of the search."
    );
    let mut several = searched();
    several.maxima.push(Maximum { cell: 1, ..several.maxima[0].clone() });
    several.maxima[1].answer.level = None;
    assert_eq!(overview(&several, lang::english()).doubts[0].text, "1 of 2 cells have an answer.");
}

/// Search result with `total` steps at the maximum, of which `held` meet an objective on the p95.
fn confirmed_with(held: u32, total: u32) -> RunResult {
    let mut result = searched();
    let trial = result.trials[0].clone();
    let maximum = &mut result.maxima[0];
    let judged = |time: f64| ObjectiveResult {
        objective: "p95 < 100ms".into(),
        verdict: if time < 0.1 { ObjectiveVerdict::Met } else { ObjectiveVerdict::Violated },
        measured: Some(time),
        bound: 0.1,
        ..trial.objectives[0].clone()
    };
    maximum.steps.iter_mut().for_each(|step| step.time_objectives = vec![judged(0.02)]);
    let hold = maximum.steps.pop().expect("there is a hold");
    for number in 0..total {
        let time = if number < held { 0.08 } else { 0.16 };
        let text = "p95 < 100ms".to_owned();
        let outcome = match number < held {
            true => LevelOutcome::Sustained,
            false => LevelOutcome::NotSustained { reason: OverloadReason::Objective { text } },
        };
        maximum.steps.push(StepResult { outcome, time_objectives: vec![judged(time)], ..hold.clone() });
    }
    let level = |level, sustained, trials| Some(LevelTrials { level, sustained, trials });
    maximum.answer.confirmations = (held, total);
    maximum.answer.sustained = level(646.0, held, total);
    maximum.answer.fully_sustained = level(600.0, 5, 5).filter(|_| held < total);
    result.trials = vec![TrialResult { step: Some(hold.step), ..trial }];
    result
}

#[test]
fn maxima_have_the_judged_quantile_and_errors() {
    let expected = [
        "Maximum sustained: 646/s (95 % CI 630 to 659) Plain",
        "Highest p95 at this load: 80.0 ms (p95 < 100ms: met in 2 of 2 confirmations) Good",
        "Errors: < 0.01 % (40P01 deadlock_detected) Doubt",
        "Verdict: valid (1 of 1 trials valid) Good",
    ];
    assert_eq!(figures(&confirmed_with(2, 2)), expected);
    let picture = |result: &RunResult| {
        let picture = overview(result, lang::english()).picture.expect("a picture");
        let Plot::Points { y, series, .. } = picture.plot else { panic!("points over two axes") };
        let lines: Vec<(f64, String)> = y.references.into_iter().map(|it| (it.value, it.text)).collect();
        (y.title, lines, series[0].points.last().and_then(|point| point.y))
    };
    let bound = vec![(0.1, "p95 < 100ms".to_owned())];
    assert_eq!(picture(&confirmed_with(2, 2)), ("p95 of the response time".into(), bound, Some(0.08)));
    // If a step lacks the quantile of the objective, the picture shows another quantile, so that no step is missing.
    let mut unknown = confirmed_with(2, 2);
    unknown.maxima[0].steps[1].time_objectives[0].measured = None;
    assert_eq!(picture(&unknown), ("p99 of the response time".into(), vec![], Some(0.0123)));
    unknown.maxima[0].steps[1].p99 = None;
    assert_eq!(picture(&unknown), ("Mean response time".into(), vec![], Some(0.0021)));
}

#[test]
fn doubtful_maxima_name_the_level_below() {
    let mut result = confirmed_with(3, 6);
    assert!(figures(&result)[0].starts_with("Maximum sustained: 646/s"));
    assert!(figures(&result)[0].ends_with(" Doubt"), "{:?}", figures(&result));
    let text = |result: &RunResult| overview(result, lang::english()).summary.text;
    assert_eq!(
        text(&result),
        "The system met p95 < 100ms at 600/s in 5 of 5 trials, at 646/s in 3 of 6. Limit: disk reads of postgres."
    );
    assert_eq!(
        figures(&result)[1],
        "Highest p95 at this load: 160 ms (p95 < 100ms: met in 3 of 6 confirmations) Doubt"
    );
    assert_eq!(
        overview(&result, lang::russian()).summary.text,
        "p95 < 100ms соблюдено при 600/с в 5 из 5 измерений, при 646/с в 3 из 6. Узкое место: чтение с диска на узле postgres."
    );
    let whole = page(&result, lang::english()).answer.text.replace('\u{202f}', " ");
    let part = "confirmed in 3 of 6 trials, 600 arrivals per second sustained in 5 of 5 trials)";
    assert!(whole.contains(part), "{whole}");
    // The trials failed for several reasons.
    let reason = OverloadReason::FellBehind { share: 0.9 };
    let last = result.maxima[0].steps.last_mut().expect("there are steps");
    last.outcome = LevelOutcome::NotSustained { reason };
    assert!(text(&result).starts_with("The system sustained 600/s in 5 of 5 trials, 646/s in 3 of 6. "));
    result.maxima[0].answer.fully_sustained = None;
    assert!(text(&result).starts_with("The system sustained 646/s in 3 of 6 trials. "), "{}", text(&result));
}

#[test]
fn doubts_make_an_answer_doubtful() {
    let tone = |verdict| {
        let mut result = searched();
        result.matrix.verdict = verdict;
        overview(&result, lang::english()).summary.tone
    };
    assert_eq!(tone(Verdict::Valid), Tone::Good);
    assert_eq!(tone(Verdict::ValidWithDoubts), Tone::Doubt);
    assert_eq!(tone(Verdict::Invalid), Tone::Doubt);
}

#[test]
fn compares_maxima_of_one_scale_only() {
    let mut result = account();
    result.experiment.goal = searched().experiment.goal;
    let other = Maximum { cell: 1, ..searched().maxima[0].clone() };
    result.maxima = vec![searched().maxima[0].clone(), other];
    let answer = &mut result.maxima[1].answer;
    (answer.scale, answer.level) = (LoadScale::Clients, Some(900.0));
    let text = overview(&result, lang::english()).summary.text;
    assert!(text.starts_with("direct sustains 646 arrivals per second"), "{text}");
}

#[test]
fn sweeps_recommend_a_cell() {
    let expected = [
        "Recommended cell: direct (fewest resources of the cells not shown to be worse than the best) Plain",
        "Throughput: 640/s (95 % CI 621 to 659) Plain",
        "Throughput: pooled: 650/s (95 % CI 630 to 670) Plain",
        "Verdict: valid with doubts (4 of 4 trials valid) Doubt",
    ];
    assert_eq!(figures(&swept()), expected);
    let text = |result: &RunResult| overview(result, lang::english()).summary.text;
    let mut result = swept();
    assert_eq!(
        text(&result),
        "direct is sufficient: pooled has the best maximum, but is not shown to be better."
    );
    let plateau = result.plateau.as_mut().expect("a plateau");
    (plateau.plateau, plateau.recommended) = (vec![1], Some(1));
    assert_eq!(text(&result), "pooled has the best maximum, and the other cell is worse.");
    let plateau = result.plateau.as_mut().expect("a plateau");
    (plateau.plateau, plateau.recommended) = (vec![1, 0], Some(1));
    assert_eq!(
        text(&result),
        "pooled has the best maximum; 1 of 1 others is not shown to be worse, but needs more resources."
    );
    let plateau = result.plateau.as_mut().expect("a plateau");
    (plateau.points[0], plateau.plateau) = (None, vec![1]);
    assert_eq!(overview(&result, lang::english()).doubts[0].text, "1 of 2 cells have an answer.");
}

#[test]
fn suspected_limits_are_not_called_proven() {
    let mut result = searched();
    let text = |result: &RunResult| overview(result, lang::english()).summary.text;
    assert!(text(&result).ends_with(". Limit: disk reads of postgres."), "{}", text(&result));
    let limit = Limit::Cpu { node: "postgres".into() };
    result.maxima[0].cause = Cause::Suspected { suspect: Suspect::new(limit, None) };
    assert!(text(&result).ends_with(". Suspected limit: the CPU of postgres."), "{}", text(&result));
}

#[test]
fn soaks_say_what_is_not_known() {
    let summary = |change: &dyn Fn(&mut SoakResult)| {
        let mut result = soak_result();
        change(&mut result.soaks[0]);
        let overview = overview(&result, lang::english());
        let verdict = overview.figures.iter().any(|figure| figure.label == "Verdict");
        assert!(verdict && overview.figures.len() <= 4 && overview.picture.is_some(), "{overview:?}");
        (overview.summary.text, overview.figures[0].tone, overview.figures[1].tone)
    };
    assert_eq!(
        summary(&|soak| soak.trends.retain(|trend| trend.verdict == TrendVerdict::Steady)),
        (
            "34 arrivals per second were held for 6 h; no metric leaks or drifts.".into(),
            Tone::Good,
            Tone::Good
        )
    );
    let undecided = |soak: &mut SoakResult| {
        soak.trends.retain(|trend| matches!(trend.verdict, TrendVerdict::Steady | TrendVerdict::Unknown));
    };
    assert_eq!(
        summary(&undecided),
        (
            "34 arrivals per second were held for 6 h; no leak or drift is visible, but 1 of 2 trends cannot be judged."
                .into(),
            Tone::Good,
            Tone::Doubt
        )
    );
    let (text, load, _) =
        summary(&|soak| soak.outcome = LevelOutcome::Invalid { reason: SearchStopReason::Generator });
    assert_eq!(
        (text.as_str(), load),
        (
            "It is not known whether 34 arrivals per second can be sustained: the measurement is invalid.",
            Tone::Doubt
        )
    );
}

#[test]
fn has_no_first_screen_without_a_measurement() {
    let mut result = account();
    result.cells.iter_mut().for_each(|it| *it = model::run_result::CellResult::default());
    result.matrix.rows.iter_mut().for_each(|it| it.figures.clear());
    assert_eq!(page(&result, lang::english()).overview, None);
}
