//! Tests of comparisons and histories, in both languages

use super::*;
use crate::lang::{english, russian};
use model::PerSecond;
use model::comparison::{
    Blocks, Change, ChangePoint, ConditionUnit, DatedRun, DifferenceSubject, ExcludedTrial, HistoryPoint,
    MetricEstimate, RunRef,
};
use model::matrix::TrialStatus;
use model::validity::InvalidReason;

fn source(name: &str) -> RunRef {
    RunRef { name: name.into(), started_ms: 1_795_262_011_000, pgdyno_version: "0.1.0".into() }
}

fn figure(
    metric: Metric,
    base: f64,
    run: f64,
    change: Change,
    verdict: ChangeVerdict,
    method: TestMethod,
) -> MetricComparison {
    let level = |value| MetricEstimate { value, interval: None, trials: 5 };
    MetricComparison {
        metric,
        operation: None,
        base: level(base),
        run: level(run),
        change,
        method,
        p: None,
        verdict,
    }
}

fn ratio(value: f64, interval: Option<(f64, f64)>) -> Change {
    Change::Ratio { value: Some(value), interval }
}

fn difference(subject: DifferenceSubject, path: &str, base: Option<&str>, run: Option<&str>) -> Difference {
    let owned = |it: Option<&str>| it.map(str::to_owned);
    Difference {
        subject,
        path: path.into(),
        base: owned(base),
        run: owned(run),
        cells: Vec::new(),
        expected: false,
    }
}

fn comparison() -> Comparison {
    let trials = TestMethod::Trials { base: 5, run: 5 };
    let blocks = |count| Blocks { length: 5.0, count, correlation: 0.31 };
    let by_time = TestMethod::Blocks { base: blocks(12), run: blocks(24) };
    let points = Change::Difference { value: 0.012, interval: Some((0.01, 0.0145)) };
    let label = vec![("pooler.mode".to_owned(), "session".to_owned())];
    let figures = vec![
        figure(Metric::Tps, 1250.0, 12_345.0, ratio(9.876, Some((9.5, 10.2))), ChangeVerdict::Higher, trials),
        figure(Metric::P99, 0.0125, 0.0141, ratio(1.128, Some((1.05, 1.2))), ChangeVerdict::Higher, trials),
        figure(
            Metric::P999,
            0.03,
            0.031,
            ratio(1.03, None),
            ChangeVerdict::TooFewRuns,
            TestMethod::None { base: 1, run: 2 },
        ),
        figure(Metric::Errors, 0.001, 0.013, points, ChangeVerdict::Higher, trials),
        figure(
            Metric::ServerCpu,
            0.75,
            0.74,
            ratio(0.99, Some((0.97, 1.01))),
            ChangeVerdict::NoEvidence,
            by_time,
        ),
    ];
    let condition = |text: &str, outcome, value, bound, unit| ConditionResult {
        text: text.into(),
        cell: 0,
        outcome,
        value: Some(value),
        interval: Some((value * 0.9, value * 1.1)),
        bound,
        unit,
    };
    Comparison {
        base: source("before"),
        runs: vec![RunComparison {
            run: source("after"),
            differences: vec![
                difference(DifferenceSubject::Transport, "pooler.transport", Some("unix"), Some("tcp")),
                difference(DifferenceSubject::Setting, "pooler.size", Some("20"), None),
            ],
            cells: vec![CellComparison { base: label.clone(), run: label.clone(), figures }],
            only_base: vec![vec![("pooler.mode".into(), "statement".into())]],
            only_run: Vec::new(),
            excluded: vec![ExcludedTrial {
                from_base: true,
                cell: label,
                repetition: 1,
                reasons: vec![InvalidReason::Saturated { thread: 0, busy: 0.99 }],
                status: TrialStatus::Done,
            }],
            conditions: vec![
                condition("p99 > +10%", ConditionOutcome::Unknown, 0.128, 0.1, ConditionUnit::Relative),
                condition("errors > 1%", ConditionOutcome::Holds, 0.013, 0.01, ConditionUnit::Share),
            ],
        }],
        seed: 42,
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let lines = |it: &str| it.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(lines(text), lines(expected), "\n{text}");
}

#[test]
fn renders_a_comparison_in_both_languages() {
    let style = TerminalStyle { width: 120, ..TerminalStyle::default() };
    check(&terminal(&page(&comparison(), english()), style), include_str!("en.txt"));
    check(&terminal(&page(&comparison(), russian()), style), include_str!("ru.txt"));
}

#[test]
fn asks_about_one_or_several_baselines() {
    let of_cell = |name: &str| vec![("way".to_owned(), name.to_owned())];
    for (bases, expected) in [
        (["direct", "direct"], "How do the cells of before compare with its baseline?"),
        (["direct", "unix"], "How do the cells of before compare with their baselines?"),
    ] {
        let mut within = comparison();
        within.runs[0].run = within.base.clone();
        within.runs[0].cells = bases
            .iter()
            .map(|base| CellComparison {
                base: of_cell(base),
                run: of_cell("pooled"),
                figures: within.runs[0].cells[0].figures.clone(),
            })
            .collect();
        within.runs[0].differences.clear();
        within.runs[0].conditions.clear();
        assert_eq!(page(&within, english()).question, expected);
    }
}

#[test]
fn unfair_differences_come_first() {
    let of = |comparison: &Comparison| {
        page(comparison, english()).sections.iter().map(|section| section.id).collect::<Vec<_>>()
    };
    assert_eq!(of(&comparison()), ["unlike", "conditions", "figures", "differences", "left-out"]);
    let mut fair = comparison();
    fair.runs[0].differences[0].expected = true;
    assert_eq!(of(&fair), ["conditions", "figures", "differences", "left-out"]);
}

fn test_history() -> RunHistory {
    let point = |run: usize| HistoryPoint {
        run,
        trials: 5,
        tps: PerSecond(if run < 5 { 1000.0 } else { 800.0 }),
        tps_interval: Some((790.0, 1010.0)),
        p99: (run != 3).then_some(0.002),
        p99_interval: None,
    };
    let change = ChangePoint {
        metric: Metric::Tps,
        point: 5,
        before: 1000.0,
        after: 800.0,
        p: 0.0005,
        differences: vec![difference(
            DifferenceSubject::Server,
            "postgres.build",
            Some("15.18"),
            Some("15.19"),
        )],
    };
    let dated = |n: usize| DatedRun { run: source(&format!("book-{n}")), server: Some("15.18".into()) };
    RunHistory {
        experiment: "book".into(),
        runs: (0..10).map(dated).collect(),
        series: vec![CellHistory {
            label: Vec::new(),
            points: (0..10).map(point).collect(),
            changes: vec![change],
            too_few_points: false,
        }],
        seed: 42,
    }
}

#[test]
fn renders_a_history_in_both_languages() {
    let style = TerminalStyle { width: 120, ..TerminalStyle::default() };
    let first = |text: String| text.lines().take(6).map(|it| format!("{it}\n")).collect::<String>();
    let english = "When did the figures of book change?\nOne change in 10 runs.\n\nChanges\n\
                   throughput, tps from book-5 on: 1000 → 800 (-20.0 %, p 0.0005)\n* postgres.build: 15.18 → 15.19";
    check(&first(terminal(&history(&test_history(), crate::lang::english()), style)), english);
    let russian = "Когда изменились показатели эксперимента book?\n1 изменение на 10 прогонов.\n\nИзменения\n\
                   выполнено, транз/с, начиная с book-5: 1000 → 800 (-20,0\u{a0}%, p 0,0005)\n\
                   * postgres.build: 15.18 → 15.19";
    check(&first(terminal(&history(&test_history(), crate::lang::russian()), style)), russian);
    assert_eq!(spark([Some(1.0), None, Some(0.5), Some(0.0)].into_iter()), "█ ▅▁");
}
