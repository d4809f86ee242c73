//! Tests of a run with a maximum, a soak and a sweep

use super::invent::{self, HOSTILE};
use super::*;
use crate::style::CharacterSet;
use model::plan::{Confirm, Goal, LoadScale, MaxSearch, Soak, Sweep};
use model::search::{
    Cause, FittedValue, Knob, LevelOutcome, LevelTrials, Limit, Maximum, OverloadReason, Perturbation,
    Plateau, Proof, ProofVerdict, RequiredConnections, Scalability, SearchResult, SearchStep,
    SearchStopReason, SoakResult, StepPurpose, StepResult, Suspect, Trend, TrendMetric, TrendVerdict,
};
use model::{Nanos, PerSecond};

fn answer(level: f64) -> SearchResult {
    SearchResult {
        scale: LoadScale::Rate,
        level: Some(level),
        interval: Some((level * 0.975, level * 1.02)),
        delivered: Some(PerSecond(level - 0.4)),
        confirmations: (2, 2),
        overload: Some(OverloadReason::Objective { text: "p99 < 200ms".into() }),
        stop_reason: None,
        sustained: Some(LevelTrials { level, sustained: 2, trials: 2 }),
        failed: Some(LevelTrials { level: level * 1.05, sustained: 1, trials: 3 }),
        fully_sustained: None,
        trials: 9,
        measured: Nanos::from_secs(260),
    }
}

fn seen(stage: StepPurpose, level: f64, outcome: LevelOutcome) -> StepResult {
    let step = SearchStep {
        scale: LoadScale::Rate,
        level,
        purpose: stage,
        window: Nanos::from_secs(20),
        perturbation: None,
        round: 0,
    };
    let micros = |it| Some(Nanos::from_micros(it));
    StepResult {
        step,
        outcome,
        delivered: PerSecond(level * 0.999),
        p95: micros(8_100),
        p99: micros(12_300),
        mean: micros(2_100),
        time_objectives: Vec::new(),
    }
}

/// Maximum of document 003: reads are the limiter, the CPU is not.
fn maximum() -> Maximum {
    let proof = |knob, amount, limit, changed, elasticity, verdict| Proof {
        limit,
        perturbation: Perturbation::new(knob, amount),
        base: answer(640.0),
        perturbed: answer(changed),
        ratio: Some((changed / 640.0, Some((changed / 660.0, changed / 620.0)))),
        elasticity,
        verdict,
    };
    let postgres = || "postgres".to_owned();
    let no = |reason| LevelOutcome::NotSustained { reason };
    Maximum {
        cell: 0,
        rounds: vec![answer(646.0)],
        answer: answer(646.0),
        steps: vec![
            seen(StepPurpose::Ramp, 400.0, LevelOutcome::Sustained),
            seen(StepPurpose::Ramp, 800.0, no(OverloadReason::FellBehind { share: 0.81 })),
            seen(StepPurpose::Narrow, 566.0, LevelOutcome::Invalid { reason: SearchStopReason::Generator }),
            seen(StepPurpose::Narrow, 673.0, no(OverloadReason::Objective { text: "p99 < 200ms".into() })),
            seen(StepPurpose::Rest, 283.0, LevelOutcome::Sustained),
            seen(StepPurpose::Hold, 646.0, LevelOutcome::Sustained),
        ],
        scalability: None,
        proofs: vec![
            proof(
                Knob::ReadIops { node: postgres() },
                Some((50.0, 75.0)),
                Limit::Reads { node: postgres() },
                900.0,
                Some((0.84, Some((0.72, 0.95)))),
                ProofVerdict::Limits,
            ),
            proof(
                Knob::Index { ddl: "CREATE INDEX ON book (author)".into() },
                None,
                Limit::Scan { table: "book".into(), ddl: None },
                650.0,
                None,
                ProofVerdict::DoesNotLimit,
            ),
        ],
        cause: Cause::Proven { proof: 0, root_cause: None },
    }
}

pub fn searched() -> RunResult {
    let mut result = invent::single_cell_account();
    result.experiment.goal = Goal::Max(MaxSearch::DEFAULT);
    result.maxima = vec![maximum()];
    result
}

fn law() -> Scalability {
    let fitted = |value: f64| FittedValue { value, interval: Some((0.9 * value, 1.1 * value)) };
    Scalability {
        points: vec![(1.0, 64.9), (18.0, 995.9), (18.0, 990.1), (36.0, 1652.4)],
        law: vec![(1.0, 90.0), (18.0, 1079.3), (36.0, 1539.6)],
        lambda: fitted(90.0),
        sigma: fitted(0.0277),
        kappa: fitted(0.000_104_4),
        peak: None,
        r2: 0.9896,
    }
}

fn trends() -> Vec<Trend> {
    let trend = |metric, start: f64, end: f64, verdict| {
        let per_hour = FittedValue {
            value: (end - start) / 6.0,
            interval: Some(((end - start) / 7.0, (end - start) / 5.0)),
        };
        Trend { metric, per_hour, start, end, verdict }
    };
    vec![
        trend(TrendMetric::P99, 0.0123, 0.0131, TrendVerdict::Drift),
        trend(TrendMetric::Memory { node: "service".into() }, 2e8, 3.1e8, TrendVerdict::Leak),
        trend(TrendMetric::Throughput, 34.0, 34.0, TrendVerdict::Steady),
        trend(TrendMetric::DeadRows { table: String::new() }, 120.0, 4000.0, TrendVerdict::Unknown),
    ]
}

fn soaked(level: f64, share_of_maximum: Option<f64>, trends: Vec<Trend>) -> SoakResult {
    let duration = Nanos::from_secs(21_600);
    SoakResult {
        cell: 0,
        purpose: StepPurpose::Soak,
        level,
        share_of_maximum,
        duration,
        outcome: LevelOutcome::Sustained,
        trends,
    }
}

fn plain(text: &str) -> String {
    text.replace(['\u{202f}', '\u{a0}'], " ")
}

fn first_line(account: &RunResult, lang: &Lang) -> (String, Tone) {
    let answer = page(account, lang).answer;
    (plain(&answer.text), answer.tone)
}

#[test]
fn shows_the_maximum_first() {
    let result = searched();
    assert_eq!(
        page(&result, english()).question,
        "How much load does PostgreSQL sustain at most, and what limits it?"
    );
    let english = "Sustains 646 arrivals per second (95 % CI 630–659, confirmed in 2 of 2 trials), limited by disk reads \
                   of postgres (elasticity 0.84 [0.72, 0.95]); above it, p99 < 200ms is violated (678 arrivals per \
                   second sustained in 1 of 3 trials).";
    assert_eq!(first_line(&result, lang::english()), (english.to_owned(), Tone::Good));
    let russian = "Выдерживает 646 заявок в секунду (95 %: от 630 до 659, подтверждено в 2 из 2 измерений); узкое место — \
                   чтение с диска на узле postgres (эластичность 0,84 [0,72; 0,95]); выше этого не соблюдается p99 < 200ms \
                   (678 заявок в секунду: выдержано в 1 из 3 измерений).";
    assert_eq!(first_line(&result, lang::russian()), (russian.to_owned(), Tone::Good));
}

#[test]
fn reports_missing_answers_and_causes() {
    let answer = |change: &dyn Fn(&mut Maximum)| {
        let mut result = searched();
        change(&mut result.maxima[0]);
        first_line(&result, english())
    };
    let none =
        answer(&|it| (it.answer.level, it.answer.stop_reason) = (None, Some(SearchStopReason::Generator)));
    let expected = "No answer, because the generator was late or saturated; 646 arrivals per second sustained in 2 of 2 \
                    trials, 678 arrivals per second sustained in 1 of 3 trials.";
    assert_eq!(none, (expected.to_owned(), Tone::Bad));
    let unconfirmed = answer(&|it| it.answer.confirmations = (1, 2));
    assert_eq!(unconfirmed.1, Tone::Doubt, "a confirming trial failed");
    let most = answer(&|it| it.answer.stop_reason = Some(SearchStopReason::MaxLevelHeld { level: 646.0 }));
    assert!(most.0.starts_with("Sustains at least 646 arrivals per second"), "{}", most.0);
    assert!(
        most.0.ends_with("; higher levels are unknown: no level above 646 arrivals per second was tried.")
    );
    assert_eq!(most.1, Tone::Doubt);
    let unknown = answer(&|it| it.cause = Cause::NotKnown);
    assert!(unknown.0.contains(", limiter not proven; above it"), "{}", unknown.0);
    let limit = Limit::Cpu { node: "postgres".into() };
    let suspected = answer(&|maximum| {
        maximum.cause = Cause::Suspected { suspect: Suspect::new(limit.clone(), None) };
    });
    assert!(suspected.0.contains(", limiter not proven; suspected: the CPU of postgres;"), "{}", suspected.0);
}

#[test]
fn shows_the_best_cell_and_the_baseline() {
    let mut result = account();
    result.experiment.goal = Goal::Max(MaxSearch::DEFAULT);
    let other = |cell, level, name: &str| Maximum {
        cell,
        answer: answer(level),
        cause: Cause::Suspected { suspect: Suspect::new(Limit::Pool { node: name.to_owned() }, None) },
        ..maximum()
    };
    result.maxima = vec![maximum(), other(1, 700.0, "pooler")];
    let (text, tone) = first_line(&result, english());
    let names = page(&result, english()).sections.iter().filter(|it| it.id == "maximum").count();
    assert_eq!((names, tone), (1, Tone::Good), "{text}");
    let (best, baseline) = (text.find("sustains 700"), text.find("sustains 646"));
    assert!(best < baseline && best.is_some(), "{text}");
    assert!(text.ends_with("2 of 2 cells have an answer."), "{text}");
}

/// Run that held a level for six hours.
pub fn soak_result() -> RunResult {
    let mut result = searched();
    result.experiment.goal = Goal::Soak(Soak {
        level: model::plan::TargetLevel::Absolute { level: 34.0, maximum: Some(646.0) },
        duration: Nanos::from_secs(21_600),
    });
    result.maxima.clear();
    result.experiment.cells[0].setup.load.model = model::plan::LoadModel::Open {
        schedule: "const(34,6h)".into(),
        arrivals: model::Spacing::Poisson,
        max_in_flight: 100,
    };
    result.soaks = vec![soaked(34.0, Some(34.0 / 646.0), trends())];
    result
}

/// Run that ramped up to a share of the maximum and held that level.
pub fn confirmed() -> RunResult {
    let mut result = soak_result();
    let hold = Nanos::from_secs(600);
    result.experiment.goal = Goal::Confirm(Confirm {
        level: model::plan::TargetLevel::Absolute { level: 452.0, maximum: Some(646.0) },
        ramp: Nanos::from_secs(60),
        hold,
    });
    let held = soaked(452.0, Some(0.7), trends()[2..3].to_vec());
    result.soaks = vec![SoakResult { purpose: StepPurpose::Confirm, duration: hold, ..held }];
    result
}

#[test]
fn shows_soak_results() {
    let mut result = soak_result();
    let (text, tone) = first_line(&result, english());
    assert_eq!(
        text,
        "Sustained 34 arrivals per second (5 % of the maximum) for 6 h; leaks: memory of service; drifts: p99 response \
         time. At 5 % of the maximum this proves little: leaks and drifts that grow with the load may not have \
         appeared."
    );
    assert_eq!(tone, Tone::Bad);
    result.soaks = vec![soaked(600.0, Some(600.0 / 646.0), trends()[2..3].to_vec())];
    let line = first_line(&result, english());
    let expected = "Sustained 600 arrivals per second (93 % of the maximum) for 6 h; no leak or drift.";
    assert_eq!(line, (expected.to_owned(), Tone::Good));
    let (russian, _) = first_line(&result, russian());
    assert_eq!(
        russian,
        "В течение 6 ч выдержано 600 заявок в секунду (93 % максимума); утечек и дрейфа нет."
    );
}

/// Run that compared two cells of a grid.
pub fn swept() -> RunResult {
    let mut result = account();
    result.experiment.goal = Goal::Sweep(Sweep { max: None });
    let point = |value: f64| Some(FittedValue { value, interval: Some((0.97 * value, 1.03 * value)) });
    result.plateau = Some(Plateau {
        maxima: true,
        points: vec![point(640.0), point(650.0)],
        plateau: vec![1, 0],
        recommended: Some(0),
        required_connections: Some(RequiredConnections {
            rate: 646.0,
            hold_time: 0.002_59,
            connections: 1.673,
            processors: 1.0,
        }),
    });
    result
}

#[test]
fn recommends_a_cell_of_a_grid() {
    let result = swept();
    let (least, best) = (page_name(&result, 0), page_name(&result, 1));
    let (text, tone) = first_line(&result, english());
    assert_eq!(
        text,
        format!(
            "{least} is sufficient: {best} has the best maximum, but is not shown to be better than the other one, \
             and {least} needs the fewest resources of them. 646 transactions per second that each hold a connection for 2.59 ms need 1.67 \
             connections on average (Little's law); PostgreSQL has 1 CPU."
        )
    );
    assert_eq!(tone == Tone::Good, result.info.state == model::run_result::RunState::Complete);
}

fn page_name(result: &RunResult, cell: usize) -> String {
    crate::cells::cell_names(&result.matrix)[cell].clone()
}

#[test]
fn renders_a_search_in_both_languages() {
    let mut result = searched();
    result.maxima[0].scalability = Some(law());
    result.soaks = vec![soaked(34.0, Some(34.0 / 646.0), trends())];
    let mut grid = account();
    let point = |value| Some(FittedValue { value, interval: Some((0.97 * value, 1.03 * value)) });
    grid.plateau = Some(Plateau {
        maxima: false,
        points: vec![point(0.0123), point(0.0456)],
        plateau: vec![0],
        recommended: Some(0),
        required_connections: None,
    });
    for lang in lang::all() {
        let mut page = page(&result, lang);
        let ids: Vec<&str> = page.sections.iter().map(|it| it.id).collect();
        assert_eq!(ids[..5], ["goals", "stack", "maximum", "scalability", "endured"]);
        page.sections.retain(|it| ["maximum", "scalability", "endured"].contains(&it.id));
        let of_grid = super::page(&grid, lang).sections;
        page.sections.extend(of_grid.into_iter().filter(|it| it.id == "plateau"));
        golden(&format!("searched.{}.md", lang.code()), &to_markdown(&page));
    }
}

#[test]
fn folds_many_steps_except_in_a_terminal() {
    for (count, folded) in [(12, None), (13, Some("13 steps"))] {
        let mut result = searched();
        result.maxima[0].steps = (0..count)
            .map(|n| seen(StepPurpose::Hold, f64::from(500 + n), LevelOutcome::Sustained))
            .collect();
        let page = page(&result, english());
        let blocks = page.sections.iter().flat_map(|it| &it.blocks);
        let name = blocks.into_iter().find_map(|block| match block {
            Block::Details { name, .. } => Some(name.as_str()),
            _ => None,
        });
        assert_eq!(name, folded);
        let style = TerminalStyle { width: 100, characters: CharacterSet::Utf8, colour: false };
        for text in [to_markdown(&page), crate::search_text::render(&result, style, english())] {
            assert!((0..count).all(|n| text.contains(&format!(" {} ", 500 + n))), "{text}");
        }
    }
}

/// Tables are as wide as their headings require, whatever they contain.
#[test]
fn escapes_hostile_names() {
    let mut result = searched();
    result.maxima[0].cause =
        Cause::Suspected { suspect: Suspect::new(Limit::Cpu { node: HOSTILE.into() }, None) };
    result.maxima[0].answer.overload = Some(OverloadReason::Rule { rule: HOSTILE.into() });
    result.maxima[0].proofs[1].perturbation.knob = Knob::Index { ddl: HOSTILE.into() };
    result.soaks = vec![soaked(
        34.0,
        None,
        vec![Trend { metric: TrendMetric::Memory { node: HOSTILE.into() }, ..trends()[0].clone() }],
    )];
    for lang in lang::all() {
        let page = page(&result, lang);
        for block in page.sections.iter().flat_map(|it| &it.blocks) {
            if let Block::Table(table) = block {
                assert!(
                    table.rows.iter().all(|it| it.cells.len() == table.columns.len()),
                    "{}",
                    table.caption
                );
            }
        }
        let text = to_markdown(&page);
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
    }
}
