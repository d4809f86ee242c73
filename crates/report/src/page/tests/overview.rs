use super::failover::survived;
use super::invent::{account, hostile_account, paired_account, single_cell_account};
use super::search::{searched, soak_result};
use crate::lang;
use crate::page::page;
use crate::view::{Block, Overview, Plot, Tone};
use model::Nanos;
use model::chart::ChartSeriesKind;
use model::finding::{Finding, IncomparableReason};
use model::run_result::{RunResult, RunState};
use model::search::{Cause, LevelOutcome, Limit, SearchStopReason, SoakResult, Suspect, TrendVerdict};
use model::summary::UnansweredArrivals;
use model::validity::Doubt;

/// Name, result, and kind of the picture for each kind of run.
fn kinds() -> Vec<(&'static str, RunResult, &'static str)> {
    vec![
        ("one cell", single_cell_account(), "intervals"),
        ("matrix", account(), "intervals"),
        ("pairs", paired_account(6), "intervals"),
        ("hostile", hostile_account(), "intervals"),
        ("maximum", searched(), "points"),
        ("soak", soak_result(), "points"),
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
    assert_eq!(errors(&outage), (label, "0 %".into(), "no success for 3.00 s".into(), Tone::Doubt));
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
        let control = result.failovers[0].control.as_mut().expect("a control");
        (control.lossy_trials, control.lost) = (lossy_trials, lost);
        overview(&result, lang::english()).figures.pop().map_or(String::new(), |figure| figure.detail)
    };
    assert!(verdict(19, 1022).ends_with("; the positive control lost 1022, so losses are detected"));
    assert!(verdict(0, 0).ends_with("; the positive control lost nothing, so losses may not be detected"));
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
    // While the run is in progress, this is neither the answer nor bad.
    let mut running = result;
    running.info.state = RunState::Running;
    let summary = self::overview(&running, lang::english()).summary;
    let expected =
        "The search is in progress: 646/s sustained in 2 of 2 trials, 678/s sustained in 1 of 3 trials.";
    assert_eq!((summary.text.replace('\u{202f}', " ").as_str(), summary.tone), (expected, Tone::Plain));
}

#[test]
fn suspected_limits_are_not_called_proven() {
    let mut result = searched();
    let text = |result: &RunResult| overview(result, lang::english()).summary.text;
    assert!(text(&result).ends_with(". Limit: disk reads of postgres."), "{}", text(&result));
    let limit = Limit::Cpu { node: "postgres".into() };
    result.maxima[0].cause = Cause::Suspected { suspect: Suspect { perturbation: None, limit } };
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
