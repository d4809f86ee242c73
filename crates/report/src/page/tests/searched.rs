//! A run that looked for a maximum, held it for long, and went through a grid.

use super::invent::{self, HOSTILE};
use super::*;
use crate::plot::Characters;
use model::plan::{Find, Max, Scale, Soak, Sweep};
use model::search::{
    Answer, Broke, Cause, Course, Endurance, Fitted, Held, Hindered, Limit, Maximum, Need, Nudge, Plateau,
    Proof, Proven, Scalability, Seen, Stage, Step, Suspect, Trend, Trended, Turn,
};
use model::{Nanos, PerSecond};

fn answer(level: f64) -> Answer {
    Answer {
        scale: Scale::Rate,
        level: Some(level),
        interval: Some((level * 0.975, level * 1.02)),
        delivered: Some(PerSecond(level - 0.4)),
        confirmed: (2, 2),
        broke: Some(Broke::Objective { text: "p99 < 200ms".into() }),
        hindered: None,
        trials: 9,
        measured: Nanos::from_secs(260),
    }
}

fn seen(stage: Stage, level: f64, outcome: Held) -> Seen {
    let step = Step { scale: Scale::Rate, level, stage, window: Nanos::from_secs(20), nudge: None, round: 0 };
    let micros = |it| Some(Nanos::from_micros(it));
    Seen { step, outcome, delivered: PerSecond(level * 0.999), p99: micros(12_300), mean: micros(2_100) }
}

/// Document 003: reads are the limit, the processor is not.
fn maximum() -> Maximum {
    let proof = |turn, amount, limit, changed, elasticity, verdict| Proof {
        limit,
        nudge: Nudge { turn, amount },
        base: answer(640.0),
        changed: answer(changed),
        ratio: Some((changed / 640.0, Some((changed / 660.0, changed / 620.0)))),
        elasticity,
        verdict,
    };
    let postgres = || "postgres".to_owned();
    let no = |why| Held::No { why };
    Maximum {
        cell: 0,
        rounds: vec![answer(646.0)],
        answer: answer(646.0),
        steps: vec![
            seen(Stage::Ramp, 400.0, Held::Yes),
            seen(Stage::Ramp, 800.0, no(Broke::Behind { share: 0.81 })),
            seen(Stage::Narrow, 566.0, Held::Invalid { why: Hindered::Generator }),
            seen(Stage::Narrow, 673.0, no(Broke::Objective { text: "p99 < 200ms".into() })),
            seen(Stage::Rest, 283.0, Held::Yes),
            seen(Stage::Hold, 646.0, Held::Yes),
        ],
        scalability: None,
        proofs: vec![
            proof(
                Turn::ReadIops { node: postgres() },
                Some((50.0, 75.0)),
                Limit::Reads { node: postgres() },
                900.0,
                Some((0.84, Some((0.72, 0.95)))),
                Proven::Limits,
            ),
            proof(
                Turn::Index { ddl: "CREATE INDEX ON book (author)".into() },
                None,
                Limit::Scan { table: "book".into(), ddl: None },
                650.0,
                None,
                Proven::DoesNot,
            ),
        ],
        cause: Cause::Proven { proof: 0, by: None },
    }
}

fn searched() -> Account {
    let mut it = invent::one();
    it.experiment.find = Find::Max(Max::USUAL);
    it.maxima = vec![maximum()];
    it
}

fn law() -> Scalability {
    let fitted = |value: f64| Fitted { value, interval: Some((0.9 * value, 1.1 * value)) };
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
    let trend = |what, from: f64, to: f64, course| {
        let per_hour =
            Fitted { value: (to - from) / 6.0, interval: Some(((to - from) / 7.0, (to - from) / 5.0)) };
        Trend { what, per_hour, from, to, course }
    };
    vec![
        trend(Trended::P99, 0.0123, 0.0131, Course::Drift),
        trend(Trended::Memory { node: "service".into() }, 2e8, 3.1e8, Course::Leak),
        trend(Trended::Throughput, 34.0, 34.0, Course::Steady),
        trend(Trended::DeadRows { table: String::new() }, 120.0, 4000.0, Course::Unknown),
    ]
}

fn soaked(level: f64, of_maximum: Option<f64>, trends: Vec<Trend>) -> Endurance {
    let lasting = Nanos::from_secs(21_600);
    Endurance { cell: 0, stage: Stage::Soak, level, of_maximum, lasting, outcome: Held::Yes, trends }
}

fn plain(it: &str) -> String {
    it.replace(['\u{202f}', '\u{a0}'], " ")
}

fn first_line(account: &Account, lang: &dyn Lang) -> (String, Tone) {
    let it = page(account, lang).answer;
    (plain(&it.text), it.tone)
}

#[test]
fn the_maximum_comes_first() {
    let it = searched();
    assert_eq!(page(&it, &En).question, "How much does PostgreSQL hold at most, and what stops it there?");
    let english = "Holds 646 arrivals per second (95 %: 630 to 659, confirmed 2 of 2), limited by reading from the disk \
                   of postgres (elasticity 0.84 [0.72, 0.95]); above it, p99 < 200ms is not met.";
    assert_eq!(first_line(&it, &En), (english.to_owned(), Tone::Good));
    let russian = "Выдерживает 646 заявок в секунду (95 %: от 630 до 659, подтверждено 2 из 2); предел — чтение с диска на \
                   узле postgres (эластичность 0,84 [0,72; 0,95]); выше не соблюдается p99 < 200ms.";
    assert_eq!(first_line(&it, &Ru), (russian.to_owned(), Tone::Good));
}

#[test]
fn no_answer_and_no_cause_are_told_so() {
    let told = |change: &dyn Fn(&mut Maximum)| {
        let mut it = searched();
        change(&mut it.maxima[0]);
        first_line(&it, &En)
    };
    let none = told(&|it| (it.answer.level, it.answer.hindered) = (None, Some(Hindered::Generator)));
    assert_eq!(none, ("No answer, because the generator was late or had no reserve.".to_owned(), Tone::Bad));
    let most = told(&|it| it.answer.hindered = Some(Hindered::Most { level: 646.0 }));
    assert!(most.0.starts_with("Holds at least 646 arrivals per second"), "{}", most.0);
    assert!(
        most.0.ends_with("; nothing is known beyond it: no more than 646 arrivals per second was tried.")
    );
    assert_eq!(most.1, Tone::Doubt);
    let unknown = told(&|it| it.cause = Cause::NotKnown);
    assert!(unknown.0.contains(", cause not proven; above it"), "{}", unknown.0);
    let limit = Limit::Cpu { node: "postgres".into() };
    let suspected = told(&|it| {
        it.cause = Cause::Suspected { suspect: Suspect { nudge: None, limit: limit.clone() } };
    });
    assert!(
        suspected.0.contains(", cause not proven; suspected: the processor of postgres;"),
        "{}",
        suspected.0
    );
}

#[test]
fn the_best_of_several_cells_and_the_baseline() {
    let mut it = account();
    it.experiment.find = Find::Max(Max::USUAL);
    let other = |cell, level, name: &str| Maximum {
        cell,
        answer: answer(level),
        cause: Cause::Suspected {
            suspect: Suspect { nudge: None, limit: Limit::Pool { node: name.to_owned() } },
        },
        ..maximum()
    };
    it.maxima = vec![maximum(), other(1, 700.0, "pooler")];
    let (text, tone) = first_line(&it, &En);
    let names = page(&it, &En).sections.iter().filter(|it| it.id == "maximum").count();
    assert_eq!((names, tone), (1, Tone::Good), "{text}");
    let (best, baseline) = (text.find("holds 700"), text.find("holds 646"));
    assert!(best < baseline && best.is_some(), "{text}");
    assert!(text.ends_with("2 of 2 cells have an answer."), "{text}");
}

#[test]
fn what_was_held_for_long() {
    let mut it = searched();
    it.experiment.find = Find::Soak(Soak {
        level: model::plan::Level::Given { level: 34.0, of: Some(646.0) },
        lasting: Nanos::from_secs(21_600),
    });
    it.maxima.clear();
    it.experiment.cells[0].setup.load.model = model::plan::LoadModel::Open {
        schedule: "const(34,6h)".into(),
        arrivals: model::Spacing::Poisson,
        max_in_flight: 100,
    };
    it.endured = vec![soaked(34.0, Some(34.0 / 646.0), trends())];
    let (text, tone) = first_line(&it, &En);
    assert_eq!(
        text,
        "Held 34 arrivals per second (5 % of the maximum) for 6 h; leaks: memory of service; drifts: p99 of response \
         time. At 5 % of the maximum this proves little: what leaks or drifts with the load was hardly asked to."
    );
    assert_eq!(tone, Tone::Bad);
    it.endured = vec![soaked(600.0, Some(600.0 / 646.0), trends()[2..3].to_vec())];
    let told = first_line(&it, &En);
    let expected = "Held 600 arrivals per second (93 % of the maximum) for 6 h; nothing leaks or drifts.";
    assert_eq!(told, (expected.to_owned(), Tone::Good));
    let (russian, _) = first_line(&it, &Ru);
    assert_eq!(
        russian,
        "В течение 6 ч выдержано 600 заявок в секунду (93 % максимума); утечек и дрейфа нет."
    );
}

#[test]
fn a_grid_has_a_recommendation() {
    let mut it = account();
    it.experiment.find = Find::Sweep(Sweep { max: None });
    let point = |value: f64| Some(Fitted { value, interval: Some((0.97 * value, 1.03 * value)) });
    it.plateau = Some(Plateau {
        maxima: true,
        points: vec![point(640.0), point(650.0)],
        plateau: vec![1, 0],
        recommended: Some(0),
        needs: Some(Need { rate: 646.0, held: 0.002_59, connections: 1.673, processors: 1.0 }),
    });
    let (least, best) = (page_name(&it, 0), page_name(&it, 1));
    let (text, tone) = first_line(&it, &En);
    assert_eq!(
        text,
        format!(
            "{least} is enough: {best} has the best maximum, but is not shown to beat the other one, and {least} takes the \
             least of them. 646 per second that each hold a connection for 2.59 ms need 1.67 connections on average \
             (Little's law); PostgreSQL has 1 processor."
        )
    );
    assert_eq!(tone == Tone::Good, it.about.state == model::account::RunState::Complete);
}

fn page_name(it: &Account, cell: usize) -> String {
    crate::matrix::names(&it.matrix)[cell].clone()
}

#[test]
fn sections_of_a_search_in_both_languages() {
    let mut it = searched();
    it.maxima[0].scalability = Some(law());
    it.endured = vec![soaked(34.0, Some(34.0 / 646.0), trends())];
    let mut grid = account();
    let point = |value| Some(Fitted { value, interval: Some((0.97 * value, 1.03 * value)) });
    grid.plateau = Some(Plateau {
        maxima: false,
        points: vec![point(0.0123), point(0.0456)],
        plateau: vec![0],
        recommended: Some(0),
        needs: None,
    });
    for lang in lang::ALL {
        let mut page = page(&it, lang);
        let ids: Vec<&str> = page.sections.iter().map(|it| it.id).collect();
        assert_eq!(ids[..5], ["goals", "stack", "maximum", "scalability", "endured"]);
        page.sections.retain(|it| ["maximum", "scalability", "endured"].contains(&it.id));
        let of_grid = super::page(&grid, lang).sections;
        page.sections.extend(of_grid.into_iter().filter(|it| it.id == "plateau"));
        golden(&format!("searched.{}.md", lang.code()), &markdown(&page));
    }
}

#[test]
fn many_steps_are_folded_and_a_terminal_shows_all() {
    for (count, folded) in [(12, None), (13, Some("13 steps"))] {
        let mut it = searched();
        it.maxima[0].steps = (0..count).map(|n| seen(Stage::Hold, f64::from(500 + n), Held::Yes)).collect();
        let page = page(&it, &En);
        let blocks = page.sections.iter().flat_map(|it| &it.blocks);
        let name = blocks.into_iter().find_map(|it| match it {
            Block::Folded { name, .. } => Some(name.as_str()),
            _ => None,
        });
        assert_eq!(name, folded);
        let style = Style { width: 100, characters: Characters::Utf8, colour: false };
        for told in [markdown(&page), crate::searched::text(&it, style, &En)] {
            assert!((0..count).all(|n| told.contains(&format!(" {} ", 500 + n))), "{told}");
        }
    }
}

/// Tables are as wide as their headings say, whatever stands in them.
#[test]
fn hostile_names_stay_text() {
    let mut it = searched();
    it.maxima[0].cause =
        Cause::Suspected { suspect: Suspect { nudge: None, limit: Limit::Cpu { node: HOSTILE.into() } } };
    it.maxima[0].answer.broke = Some(Broke::Rule { rule: HOSTILE.into() });
    it.maxima[0].proofs[1].nudge.turn = Turn::Index { ddl: HOSTILE.into() };
    it.endured = vec![soaked(
        34.0,
        None,
        vec![Trend { what: Trended::Memory { node: HOSTILE.into() }, ..trends()[0].clone() }],
    )];
    for lang in lang::ALL {
        let page = page(&it, lang);
        for block in page.sections.iter().flat_map(|it| &it.blocks) {
            if let Block::Table(table) = block {
                assert!(
                    table.rows.iter().all(|it| it.cells.len() == table.columns.len()),
                    "{}",
                    table.caption
                );
            }
        }
        let text = markdown(&page);
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
    }
}
