//! Tests of the texts about maxima, soaks and sweeps

use super::*;
use crate::lang::search::{CauseAnswer, MaximumAnswer, PlateauAnswer, SearchQuestion};
use model::advice::IndexObstacle;
use model::avoidable_work::AvoidableWork;
use model::finding::ConnectionLimit;
use model::plan::{LoadScale, MaxSearch};
use model::search::{
    FittedValue, Knob, LevelOutcome, LevelTrials, Limit, OverloadReason, Perturbation, ProofVerdict,
    RequiredConnections, Saturation, Scalability, SearchResult, SearchStopReason, SoakResult, StepPurpose,
    Trend, TrendMetric, TrendVerdict,
};

type NamedTexts = Vec<(String, String)>;

pub(super) fn texts(lang: &Lang) -> NamedTexts {
    [words(lang), levels(lang), causes(lang), answers(lang), soaks(lang), plateaus(lang)].concat()
}

fn text() -> String {
    "№".to_owned()
}

fn fitted(value: f64) -> FittedValue {
    FittedValue { value, interval: Some((0.9 * value, 1.1 * value)) }
}

fn words(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: String, text: &str| all.push((name, text.to_owned()));
    for scale in every!(LoadScale: Rate, Clients) {
        add(format!("{scale:?}"), &lang.load_scale(scale));
    }
    for purpose in every!(StepPurpose: Ramp, Rest, Narrow, Hold, Confirm, Soak) {
        add(format!("{purpose:?}"), &lang.step_purpose(purpose));
    }
    for verdict in every!(ProofVerdict: Limits, DoesNotLimit, Undecided) {
        add(format!("{verdict:?}"), &lang.proof_verdict(verdict));
    }
    for verdict in every!(TrendVerdict: Leak, Drift, Steady, Unknown) {
        add(format!("{verdict:?}"), &lang.trend_verdict(verdict));
    }
    for question in every!(SearchQuestion: Maximum, Endurance, Plateau) {
        for path in [Some("№"), None] {
            add(format!("{question:?}"), &lang.search_question(question, path));
        }
    }
    all
}

fn overload_reasons() -> Vec<OverloadReason> {
    let all = vec![
        OverloadReason::Objective { text: text() },
        OverloadReason::FellBehind { share: 0.912_3 },
        OverloadReason::ClientsSaturated { clients: 12 },
        OverloadReason::InFlightGrows { per_second: 12_345.6 },
        OverloadReason::Rule { rule: text() },
    ];
    covers!(all, OverloadReason: Objective, FellBehind, ClientsSaturated, InFlightGrows, Rule);
    all
}

fn stop_reasons() -> Vec<SearchStopReason> {
    let all = vec![
        SearchStopReason::Generator,
        SearchStopReason::Agents { agents: 1, more: 1, busy: None },
        SearchStopReason::Agents { agents: 3, more: 2, busy: Some(0.97) },
        SearchStopReason::Host { share: 0.77 },
        SearchStopReason::Descriptors,
        SearchStopReason::ClientCap { clients: 20_000 },
        SearchStopReason::MaxLevelHeld { level: 21.0 },
        SearchStopReason::MinLevelFailed { level: 1.5 },
        SearchStopReason::TooFewSamples { objective: Some(text()), samples: 150, needed: 200 },
        SearchStopReason::TooFewSamples { objective: None, samples: 7, needed: 20 },
        SearchStopReason::Undecided { level: 12_345.6 },
        SearchStopReason::Failed { reason: format!("{} {}", text(), text()).into() },
    ];
    covers!(all, SearchStopReason: Generator, Agents, Host, Descriptors, ClientCap, MaxLevelHeld, MinLevelFailed, TooFewSamples, Undecided, Failed);
    all
}

fn levels(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    for scale in every!(LoadScale: Rate, Clients) {
        for level in [1.0, 2.0, 5.0, 12_345.0] {
            add("level", lang.level(scale, level));
        }
        let held = vec![
            LevelOutcome::Sustained,
            LevelOutcome::NotSustained { reason: OverloadReason::FellBehind { share: 0.5 } },
            LevelOutcome::Invalid { reason: SearchStopReason::Generator },
            LevelOutcome::Invalid {
                reason: SearchStopReason::TooFewSamples { objective: None, samples: 7, needed: 20 },
            },
        ];
        covers!(held, LevelOutcome: Sustained, NotSustained, Invalid);
        for outcome in held {
            add("outcome", lang.level_outcome(&outcome, scale));
        }
        for reason in stop_reasons().iter().filter(|it| !matches!(it, SearchStopReason::Failed { .. })) {
            add("stop reason", lang.search_stop_reason(reason, scale));
        }
    }
    for reason in overload_reasons() {
        add("overload", lang.overload_reason(&reason));
    }
    all
}

fn limits() -> Vec<Limit> {
    let mut all = vec![
        Limit::Cpu { node: text() },
        Limit::Reads { node: text() },
        Limit::Writes { node: text() },
        Limit::WalFlush,
        Limit::SyncReplicas,
        Limit::Memory { node: text() },
        Limit::Pool { node: text() },
        Limit::Together { limits: vec![Limit::WalFlush, Limit::Memory { node: text() }] },
        Limit::PoolSetting { node: text(), setting: text() },
        Limit::ServicePool { node: text() },
        Limit::ServiceThreads { node: text() },
        Limit::Service { node: text() },
        Limit::Slots { node: text(), limit: ConnectionLimit::Server },
        Limit::Slots { node: text(), limit: ConnectionLimit::Role },
        Limit::Slots { node: text(), limit: ConnectionLimit::Database },
        Limit::RowLocks { statement: None },
        Limit::RowLocks { statement: Some(text()) },
        Limit::Scan { table: text(), ddl: None },
        Limit::Scan { table: text(), ddl: Some(text()) },
        Limit::IdleTransactions,
        Limit::ResultReading,
        Limit::DelayedAcknowledgements,
        Limit::Checkpoints,
        Limit::Conflicts { code: "40001".to_owned() },
        Limit::Conflicts { code: "40P01".to_owned() },
        Limit::Clients,
        Limit::ClientCap,
        Limit::Feed { feed: text() },
        Limit::Host,
        Limit::Generator,
    ];
    for lock in lock_kinds() {
        all.extend([None, Some(text())].map(|statement| Limit::Locks { lock: lock.clone(), statement }));
    }
    all.extend(works().into_iter().map(|work| Limit::Work { work }));
    covers!(all, Limit: Cpu, Together, Reads, Writes, WalFlush, SyncReplicas, Memory, Pool, PoolSetting, ServicePool, ServiceThreads, Service, Slots,
        RowLocks, Locks, Work, IdleTransactions, ResultReading, DelayedAcknowledgements, Scan, Checkpoints, Conflicts, Clients, ClientCap, Feed, Host, Generator);
    all
}

fn works() -> Vec<AvoidableWork> {
    let all = vec![
        AvoidableWork::TemporaryFiles,
        AvoidableWork::Jit,
        AvoidableWork::Planning,
        AvoidableWork::Logins,
        AvoidableWork::DeadRows { table: text() },
        AvoidableWork::OldStatistics { table: text() },
        AvoidableWork::OldSnapshot,
        AvoidableWork::Autovacuum,
        AvoidableWork::LargeValues { table: text() },
        AvoidableWork::DiscardedRows { table: text() },
        AvoidableWork::UnusedIndexes { table: text() },
        AvoidableWork::Function { function: text() },
        AvoidableWork::UnindexedForeignKey { table: text(), columns: text() },
        AvoidableWork::SkippedRows { table: text() },
        AvoidableWork::RepeatedStatement,
        AvoidableWork::EmptyPages { table: text() },
        AvoidableWork::Subtransactions,
        AvoidableWork::LargeResult,
        AvoidableWork::GenericPlans { table: text() },
        AvoidableWork::Condition { table: text(), obstacle: IndexObstacle::Pattern { column: text() } },
    ];
    covers!(all, AvoidableWork: TemporaryFiles, Jit, Planning, Logins, DeadRows, OldStatistics, OldSnapshot, Autovacuum, LargeValues, DiscardedRows,
        UnusedIndexes, Function, UnindexedForeignKey, SkippedRows, RepeatedStatement, EmptyPages, Subtransactions, LargeResult, GenericPlans, Condition);
    all
}

fn causes(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    for limit in limits() {
        add("limit", lang.limit(&limit));
        add("remedy", lang.cause_remedy(&limit));
    }
    let amount = Some((1.0, 1.5));
    let node = text;
    let knobs = vec![
        (Knob::Cpu { node: node() }, amount),
        (Knob::ReadIops { node: node() }, Some((50.0, 12_345.0))),
        (Knob::WriteIops { node: node() }, amount),
        (Knob::Memory { node: node() }, Some((4e8, 8e8))),
        (Knob::PoolSize { node: node() }, amount),
        (Knob::PoolSetting { node: node(), setting: text() }, amount),
        (Knob::ServiceEnv { node: node(), variable: text() }, amount),
        (Knob::Slots { node: node() }, Some((20.0, 30.0))),
        (Knob::Clients, amount),
        (Knob::Setting { name: text(), value: text() }, None),
        (Knob::Index { ddl: text() }, None),
        (Knob::Maintenance { statement: text() }, None),
        (Knob::KeepConnections, None),
        (Knob::FeedRows { feed: text() }, amount),
    ];
    let each: Vec<&Knob> = knobs.iter().map(|it| &it.0).collect();
    covers!(each, Knob: Cpu, ReadIops, WriteIops, Memory, PoolSize, PoolSetting, ServiceEnv, Slots, Clients, Setting, Index, Maintenance, KeepConnections, FeedRows);
    for (knob, amount) in knobs {
        // The user's own text is the same in every language.
        let is_literal = matches!(knob, Knob::Setting { .. } | Knob::Index { .. } | Knob::Maintenance { .. });
        let text = lang.perturbation(&Perturbation::new(knob, amount));
        if !is_literal {
            add("perturbation", text);
        }
    }
    all
}

fn answer(
    scale: LoadScale,
    level: Option<f64>,
    overload: Option<OverloadReason>,
    stop_reason: Option<SearchStopReason>,
) -> SearchResult {
    SearchResult {
        scale,
        level,
        interval: level.map(|it| (it * 0.95, it * 1.05)),
        delivered: Some(PerSecond(12_345.6)),
        confirmations: (2, 3),
        overload,
        stop_reason,
        sustained: level.is_none().then_some(LevelTrials { level: 12_345.0, sustained: 1, trials: 1 }),
        failed: Some(LevelTrials { level: 12_346.0, sustained: 2, trials: 21 }),
        fully_sustained: None,
        trials: 21,
        measured: Nanos::from_secs(7500),
    }
}

fn answers(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    let (limit, feed) = (Limit::Host, Limit::Feed { feed: "j".to_owned() });
    let perturbation = Perturbation::new(Knob::Clients, Some((100.0, 200.0)));
    add("excluded", lang.excluded_suspects(&[&limit, &feed]));
    add("gain", lang.proven_gain(&perturbation, fitted(1.9)));
    add("others", lang.other_limits(&[&limit, &feed]));
    for scale in every!(LoadScale: Rate, Clients) {
        let mut known = vec![answer(scale, Some(12_345.0), None, None), answer(scale, None, None, None)];
        known.extend(overload_reasons().into_iter().map(|it| answer(scale, Some(21.0), Some(it), None)));
        known.extend(stop_reasons().into_iter().map(|it| answer(scale, None, None, Some(it))));
        known.push(answer(scale, Some(1.5), None, Some(SearchStopReason::MaxLevelHeld { level: 1.5 })));
        known.push(SearchResult {
            interval: None,
            confirmations: (0, 0),
            ..answer(scale, Some(2.0), None, None)
        });
        for (at, answer) in known.iter().enumerate() {
            let (elasticity, ratio) = (Some(fitted(0.84)), Some(fitted(27.1)));
            for cause in [
                CauseAnswer::Proven { limit: &limit, consumer: None, elasticity, ratio },
                CauseAnswer::Proven { limit: &limit, consumer: Some(&feed), elasticity, ratio },
                CauseAnswer::Proven { limit: &limit, consumer: None, elasticity: None, ratio },
                CauseAnswer::Proven { limit: &limit, consumer: None, elasticity: None, ratio: None },
                CauseAnswer::Proven {
                    limit: &feed,
                    consumer: None,
                    elasticity: None,
                    ratio: Some(fitted(0.21)),
                },
                CauseAnswer::Suspected { limit: &limit, saturation: None, tested: None },
                CauseAnswer::Suspected {
                    limit: &limit,
                    saturation: Some(Saturation { delivered: 47.2, offered: (80.0, 12_345.0) }),
                    tested: Some((&perturbation, ratio)),
                },
                CauseAnswer::Suspected {
                    limit: &limit,
                    saturation: Some(Saturation { delivered: 47.2, offered: (80.0, 80.0) }),
                    tested: Some((&perturbation, None)),
                },
                CauseAnswer::NotKnown,
            ] {
                let name = if at % 2 == 0 { "№" } else { "" };
                add("maximum", lang.maximum_answer(&MaximumAnswer { name, answer, rounds: at, cause }));
            }
        }
        add("rounds", lang.search_rounds(&known));
    }
    for total in [1, 2, 21] {
        add("answered", lang.answered_cells(1, total));
        add("measured", lang.search_effort(total as u32, Nanos::from_secs(7500)));
        add(
            "window",
            lang.search_window(&MaxSearch::DEFAULT, Nanos::from_secs(total as u64 * 3), total as u32),
        );
    }
    for peak in [None, Some(21.0), Some(96.5)] {
        let (lambda, sigma, kappa) = (fitted(89.995), fitted(0.027_73), fitted(0.000_104_4));
        let scalability =
            Scalability { points: Vec::new(), law: Vec::new(), lambda, sigma, kappa, peak, r2: 0.9896 };
        add("law", lang.scalability(&scalability));
    }
    add("within", format!("{} №", lang.fitted(&fitted(0.84))));
    all
}

fn soaks(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    let (node, table) = (text, text);
    let kinds = vec![
        TrendMetric::Memory { node: node() },
        TrendMetric::Median,
        TrendMetric::P99,
        TrendMetric::Connections { node: node() },
        TrendMetric::DeadRows { table: table() },
        TrendMetric::DeadRows { table: String::new() },
        TrendMetric::Size { table: table() },
        TrendMetric::Size { table: String::new() },
        TrendMetric::Throughput,
        TrendMetric::Files { node: node() },
    ];
    covers!(kinds, TrendMetric: Memory, Median, P99, Connections, DeadRows, Size, Throughput, Files);
    for metric in &kinds {
        add("trend metric", lang.trend_metric(metric));
        for value in [-12_345.6, 0.0, 0.012, 12_345.6] {
            add("amount", format!("{} {}", lang.trend_metric(metric), lang.trend_value(metric, value)));
        }
    }
    let trend =
        |verdict| Trend { metric: TrendMetric::Median, per_hour: fitted(0.1), start: 0.1, end: 0.2, verdict };
    let courses = every!(TrendVerdict: Leak, Drift, Steady, Unknown);
    let mut trends: Vec<Vec<Trend>> = courses.iter().map(|it| vec![trend(*it)]).collect();
    trends.push(courses.map(trend).into());
    trends.push(Vec::new());
    trends.push(vec![trend(TrendVerdict::Steady); 21]);
    for trends in trends {
        for (outcome, share_of_maximum, name) in [
            (LevelOutcome::Sustained, Some(0.053), "№"),
            (LevelOutcome::NotSustained { reason: OverloadReason::Rule { rule: text() } }, None, ""),
            (LevelOutcome::Invalid { reason: SearchStopReason::Generator }, Some(1.0), ""),
        ] {
            let duration = Nanos::from_secs(21_600);
            let trends = trends.clone();
            let result = SoakResult {
                cell: 0,
                purpose: StepPurpose::Soak,
                level: 34.0,
                share_of_maximum,
                duration,
                outcome,
                trends,
            };
            for scale in every!(LoadScale: Rate, Clients) {
                add("soak", lang.soak_result(&result, scale, name));
            }
        }
    }
    add("little", lang.low_level_warning(0.053));
    all
}

fn plateaus(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    for maxima in [false, true] {
        for (plateau, cells) in [(1, 1), (1, 9), (2, 2), (2, 9), (9, 9), (20, 22)] {
            for recommended in [None, Some("№2"), Some("№1")] {
                let answer = PlateauAnswer { maxima, recommended, best: "№1", plateau, cells };
                add("plateau", lang.plateau_answer(&answer));
            }
        }
    }
    for (rate, processors) in [(646.0, 1.0), (1.0, 2.0), (12_345.6, 0.5)] {
        let need =
            RequiredConnections { rate, hold_time: 0.002_59, connections: rate * 0.002_59, processors };
        add("need", lang.required_connections(&need));
    }
    all
}
