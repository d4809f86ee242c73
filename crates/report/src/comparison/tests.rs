//! Tests of comparisons and histories, in both languages

use super::*;
use crate::lang::{english, russian};
use expect_test::expect_file;
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

pub fn comparison() -> Comparison {
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

#[test]
fn renders_a_comparison_in_both_languages() {
    let style = TerminalStyle { width: 120, ..TerminalStyle::default() };
    for (lang, name) in [(english(), "en.txt"), (russian(), "ru.txt")] {
        let next =
            vec![NextCommand { command: "pgdyno report after".to_owned(), purpose: "page".to_owned() }];
        let text = terminal(&page(&comparison(), lang), next, style, lang);
        let lines: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        expect_file![name].assert_eq(&lines);
    }
}

#[test]
fn asks_about_one_or_several_baselines() {
    let of_cell = |name: &str| vec![("way".to_owned(), name.to_owned())];
    for (bases, expected) in [
        (["direct", "direct"], "How do the cells of before compare with direct?"),
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
    let section_ids = |comparison: &Comparison| {
        page(comparison, english()).sections.iter().map(|section| section.id).collect::<Vec<_>>()
    };
    assert_eq!(
        section_ids(&comparison()),
        ["unlike", "conditions", "figures", "differences", "left-out", "terms"]
    );
    let mut fair = comparison();
    fair.runs[0].differences[0].expected = true;
    assert_eq!(section_ids(&fair), ["conditions", "figures", "differences", "left-out", "terms"]);
}

/// Overview in English, without its details.
fn first_screen(comparison: &Comparison) -> crate::view::Overview {
    page(comparison, english()).overview.expect("something can be compared")
}

#[test]
fn first_screen_shows_the_change_with_its_interval() {
    let shown = first_screen(&comparison());
    assert_eq!(
        shown.summary.text.replace('\u{a0}', " "),
        "Throughput changed by +887.6 %; p99 changed by +12.8 %. The runs are not comparable."
    );
    let figures: Vec<(String, String, Tone)> = shown
        .figures
        .iter()
        .map(|figure| {
            (figure.value.replace('\u{a0}', " "), figure.detail.replace('\u{a0}', " "), figure.tone)
        })
        .collect();
    let expected = [
        ("+887.6 %", "1250/s → 12345/s; 95 % CI +850.0 to +920.0 %", Tone::Plain),
        ("+12.8 %", "12.5 ms → 14.1 ms; 95 % CI +5.0 to +20.0 %", Tone::Plain),
        ("1 of 2 met", "", Tone::Bad),
        ("runs that are not comparable", "they also differ in transport", Tone::Bad),
    ];
    assert_eq!(figures, expected.map(|(value, detail, tone)| (value.into(), detail.into(), tone)));
    let Some(crate::view::Plot::Intervals { rows, axis }) = shown.picture.map(|it| it.plot) else {
        panic!("a picture with intervals")
    };
    assert_eq!(axis.references[0].value, 0.0);
    // Errors have no ratio.
    assert_eq!(rows.iter().map(|row| row.value.round()).collect::<Vec<_>>(), [888.0, 13.0, 3.0, -1.0]);
    assert_eq!(shown.doubts[0].text, "pooler.transport: unix → tcp");
    assert_eq!(shown.doubts_section, "unlike");

    let mut fair = comparison();
    fair.runs[0].differences.clear();
    fair.runs[0].conditions.clear();
    fair.runs[0].cells[0].figures[0].verdict = ChangeVerdict::NoEvidence;
    fair.runs[0].cells[0].figures.remove(1);
    let shown = first_screen(&fair);
    assert_eq!(shown.summary.text, "No evidence of a change in throughput.");
    assert_eq!(shown.figures.last().map(|figure| figure.value.as_str()), Some("like with like"));
    // Changes are good or bad only if the runs are alike.
    let mut alike = comparison();
    alike.runs[0].differences.clear();
    let tones: Vec<Tone> = first_screen(&alike).figures.iter().take(2).map(|figure| figure.tone).collect();
    assert_eq!(tones, [Tone::Good, Tone::Bad]);
    fair.runs[0].cells.clear();
    assert_eq!(page(&fair, english()).overview, None);
}

/// Comparison with `pairs` pairs of cells, of which the last one has no evidence of a change.
fn with_pairs(pairs: usize) -> Comparison {
    let mut compared = comparison();
    let cells = &mut compared.runs[0].cells;
    let pair = |number: usize, one: &CellComparison| {
        let label = vec![("clients".to_owned(), number.to_string())];
        let mut pair = CellComparison { base: label.clone(), run: label, ..one.clone() };
        if number > 1 {
            pair.figures.iter_mut().for_each(|figure| figure.verdict = ChangeVerdict::NoEvidence);
        }
        pair
    };
    *cells = (1..=pairs).map(|number| pair(number, &cells[0])).collect();
    compared.runs[0].conditions.clear();
    compared
}

#[test]
fn pairs_without_evidence_of_a_change_are_summed_up() {
    let figures = |pairs: usize| {
        let page = page(&with_pairs(pairs), english());
        let section = page.sections.into_iter().find(|section| section.id == "figures").expect("figures");
        let tables = section.blocks.iter().filter(|block| matches!(block, Block::Table(_))).count();
        let texts = section.blocks.iter().filter_map(|block| match block {
            Block::Text(line) if line.tone == Tone::Plain => Some(line.text.clone()),
            _ => None,
        });
        (tables, texts.collect::<Vec<_>>())
    };
    assert_eq!(figures(2), (2, vec![]));
    assert_eq!(figures(4), (1, vec!["No evidence of a change in any figure of 3 pairs: 2, 3, 4.".into()]));
    let shown = first_screen(&with_pairs(4));
    assert!(shown.summary.text.starts_with("Throughput of 1 changed by"), "{}", shown.summary.text);
    let mut dull = with_pairs(4);
    dull.runs[0].cells.remove(0);
    let text = first_screen(&dull).summary.text;
    assert_eq!(text, "No evidence of a change in throughput in any of 3 pairs. The runs are not comparable.");
    let changed = &shown.figures[2];
    assert_eq!((changed.value.as_str(), changed.detail.as_str()), ("1", "of 4 pairs, in throughput"));
}

pub fn test_history() -> RunHistory {
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
    let check = |lang: &Lang, first: &str, last: &str| {
        let text = terminal(&history(&test_history(), lang), Vec::new(), style, lang);
        assert!(text.starts_with(first), "{text}");
        assert_eq!(text.lines().last(), Some(last), "the answer is at the end");
    };
    check(
        english(),
        "When did the figures of book change?\n\nChanges\n\
         throughput, tps from book-5 on: 1000 → 800 (-20.0 %, p 0.0005)\n* postgres.build: 15.18 → 15.19\n",
        "One change in 10 runs.",
    );
    check(
        russian(),
        "Когда изменились показатели эксперимента book?\n\nИзменения\n\
         выполнено, транз/с, начиная с book-5: 1000 → 800 (-20,0\u{a0}%, p 0,0005)\n\
         * postgres.build: 15.18 → 15.19\n",
        "1 изменение на 10 прогонов.",
    );
    assert_eq!(spark([Some(1.0), None, Some(0.5), Some(0.0)].into_iter()), "█ ▅▁");
}
