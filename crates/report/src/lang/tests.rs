use super::*;
use crate::lang::bench::SchedulePreview;
use model::finding::Finding;
use model::lock::LockKind;
use model::matrix::{ChangeVerdict, Figure, Hop, Placement, TrialStatus, UnappliedLimit};
use model::objective::{
    ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict as Kept, WorstResult,
};
use model::plan::{PoolMode, Transport};
use model::stop::{StopEvent, TankDifference};
use model::summary::{
    BenchPlan, CpuCost, EndCondition, FailureClass, Fairness, LoadModelSummary, QueryMode, Server,
    ServerTransport,
};
use model::validity::{Doubt, InvalidReason};
use model::{Nanos, PerSecond, Spacing, StatementKind};
use std::collections::BTreeSet;

/// All variants of an enum without fields. A missing variant does not compile.
macro_rules! every {
    ($of:ident: $($variant:ident),* $(,)?) => {{
        let _ = |it: $of| match it { $($of::$variant => ()),* };
        [$($of::$variant),*]
    }};
}

/// Asserts that `all` contains each variant of an enum. A missing variant does not compile.
macro_rules! covers {
    ($all:expr, $of:ident: $($variant:ident),* $(,)?) => {
        $(assert!($all.iter().any(|it| matches!(it, $of::$variant { .. })), "no {}", stringify!($variant));)*
        let _ = |it: &$of| match it { $($of::$variant { .. } => ()),* };
    };
}

mod advice;
mod failover;
mod found;
mod freshness;
mod russian;
mod search;
mod sentences;

use found::{findings, many};

/// Names of cells and nodes without letters, so that every letter belongs to a sentence.
const CELLS: [&str; 6] = ["№1", "№2", "№3", "№4", "№5", "№6"];
const NODE: &str = "№7";

fn lock_kinds() -> Vec<LockKind> {
    let name = || "№8".to_owned();
    let all = vec![
        LockKind::Advisory,
        LockKind::Relation,
        LockKind::Extend,
        LockKind::Object,
        LockKind::BufferPin,
        LockKind::Heavyweight { name: name() },
        LockKind::Lightweight { name: name() },
    ];
    covers!(all, LockKind: Advisory, Relation, Extend, Object, BufferPin, Heavyweight, Lightweight);
    all
}

fn reasons() -> Vec<InvalidReason> {
    let lag = Nanos::from_micros(5_250);
    let all = vec![
        InvalidReason::Late { quantile: 0.99, lag, jitter: Some(Nanos::from_micros(50)) },
        InvalidReason::Late { quantile: 0.999, lag, jitter: None },
        InvalidReason::Saturated { thread: 1, busy: 0.97 },
        InvalidReason::ResourcesExhausted { connections: 12_345 },
        InvalidReason::Suspended { duration: Nanos::from_secs(12_345) },
        InvalidReason::Throttled { share: 0.12 },
        InvalidReason::Stalled { thread: 0, duration: lag },
        InvalidReason::Aborted { clients: 2, total_clients: 50 },
        InvalidReason::AgentLost { agent: 1 },
        InvalidReason::AgentLate { agent: 0, late: lag },
        InvalidReason::ClockUncertain { agent: 2, uncertainty: Some(lag) },
        InvalidReason::ClockUncertain { agent: 2, uncertainty: None },
        InvalidReason::AgentsLimit { agents: 1, more: 1, busy: None },
        InvalidReason::AgentsLimit { agents: 3, more: 2, busy: Some(0.97) },
        InvalidReason::NoSuccess,
    ];
    covers!(all, InvalidReason: Late, Saturated, ResourcesExhausted, Suspended, Throttled, Stalled, Aborted,
        AgentLost, AgentLate, ClockUncertain, AgentsLimit, NoSuccess);
    all
}

fn doubts() -> Vec<Doubt> {
    let lag = Nanos::from_micros(5_250);
    let all = vec![
        Doubt::HostLate { quantile: 0.99, lag, jitter: lag },
        Doubt::Stolen { processors: 0.1 },
        Doubt::Starved { thread: 1, share: 0.12 },
        Doubt::InFlightCapReached { arrivals: 50_000, waited: 10_000, dropped: 20_000 },
        Doubt::ResultsDiffer { results: 50_000, differing: 21 },
        Doubt::MixDiffers { operation: "№".to_owned(), recorded: 0.25, measured: 0.75 },
        Doubt::BehindSchedule {
            arrivals: 50_000,
            waited: 10_000,
            dropped: 20_000,
            wait: Nanos::from_millis(1_500),
        },
        Doubt::UnevenClients { jain: 0.35, min_transactions: 1, max_transactions: 30_001 },
        Doubt::Outage { count: 1, duration: lag, from: lag, to: Nanos::from_secs(7) },
        Doubt::Outage { count: 3, duration: lag, from: lag, to: Nanos::from_secs(7) },
        Doubt::FeedExhausted { rows: 12_341, at: lag, planned: Nanos::from_secs(7) },
        Doubt::FewSamples { count: 121 },
        Doubt::SmallAnswers { small: 2_000, large: 40_000, share: 0.6 },
        no_rows(StatementKind::Update, 1, None),
        no_rows(StatementKind::Mixed, 3, Some(17)),
        Doubt::ClockStepped { step: -3_600_000_000_000 },
        Doubt::NodeNotUsed { node: "№".to_owned() },
        Doubt::LogIncomplete,
    ];
    covers!(all, Doubt: HostLate, Stolen, Starved, InFlightCapReached, BehindSchedule, ResultsDiffer, MixDiffers, UnevenClients, Outage, FeedExhausted, FewSamples, SmallAnswers,
        NoRows, ClockStepped, NodeNotUsed, LogIncomplete);
    all
}

fn no_rows(statement: StatementKind, statements: usize, second: Option<u64>) -> Doubt {
    Doubt::NoRows { operation: 0, command: 4, statement, statements, count: 12_345, share: 0.95, second }
}

fn differences() -> Vec<TankDifference> {
    let all = vec![
        TankDifference::MaskOfX { mask: "××".into() },
        TankDifference::OtherQuantile { percent: 99.9 },
        TankDifference::TimesOfFailures,
        TankDifference::RoundedLimit { limit_ms: 12_345.5 },
        TankDifference::MeanOfPercents,
        TankDifference::MissingMetric,
        TankDifference::InstancesShare,
        TankDifference::NotInTank,
    ];
    covers!(all, TankDifference: MaskOfX, OtherQuantile, TimesOfFailures, RoundedLimit, MeanOfPercents, MissingMetric,
        InstancesShare, NotInTank);
    all
}

fn statuses() -> Vec<TrialStatus> {
    let event = fired();
    let all = vec![
        TrialStatus::Done,
        TrialStatus::Stopped { event },
        TrialStatus::Interrupted,
        TrialStatus::Skipped { reason: "№".into() },
        TrialStatus::Failed { reason: "№".into() },
    ];
    covers!(all, TrialStatus: Done, Stopped, Interrupted, Skipped, Failed);
    all
}

fn fired() -> StopEvent {
    let rate_at_cause = PerSecond(12_345.6);
    StopEvent { rule: "№9".into(), cause_second: 91, at_second: 10_000, rate_at_cause, tank_rc: None }
}

fn server(transport: ServerTransport, origin: Option<&str>) -> Server {
    let [version, address, database] = ["15.18", "№:5432", "№"].map(str::to_owned);
    Server { version, origin: origin.map(str::to_owned), transport, address, database }
}

fn plan(model: LoadModelSummary) -> BenchPlan {
    BenchPlan {
        scripts: Vec::new(),
        scale: 10,
        partitions: None,
        query_mode: QueryMode::Prepared,
        clients: 21,
        threads: 2,
        max_tries: 1,
        end: EndCondition::Transactions(10),
        model,
        reconnect: false,
        latency_limit: None,
        seed: 42,
        driver: "№".to_owned(),
    }
}

fn models() -> Vec<LoadModelSummary> {
    let open = |arrivals, slack| LoadModelSummary::Open { schedule: "№(1)".to_owned(), arrivals, slack };
    let all = vec![
        LoadModelSummary::Closed { think: Nanos::ZERO },
        LoadModelSummary::Closed { think: Nanos::from_millis(50) },
        open(Spacing::Even, Nanos::ZERO),
        open(Spacing::Poisson, Nanos::ZERO),
        open(Spacing::Even, Nanos::from_micros(200)),
        LoadModelSummary::Replay { recording: "№".to_owned(), speed: 2.5 },
    ];
    covers!(all, LoadModelSummary: Closed, Open, Replay);
    all
}

fn preview(spacing: Spacing, arrivals: Option<u64>, lowest: f64) -> SchedulePreview {
    SchedulePreview {
        schedule: "№".to_owned(),
        spacing,
        seed: 7,
        arrivals,
        expected: 20_100.0,
        duration: Nanos::from_millis(200_500),
        lowest: PerSecond(lowest),
        highest: PerSecond(20_000.5),
        rates: Vec::new(),
    }
}

fn judged(verdict: Kept, measured: Option<f64>, unit: ObjectiveUnit) -> ObjectiveResult {
    ObjectiveResult {
        objective: "№".to_owned(),
        verdict,
        unit,
        measured,
        is_lower_bound: false,
        ended_early: false,
        bound: 0.2,
        samples: 10_021,
        too_few: None,
    }
}

fn hops() -> Vec<Hop> {
    let hop = |product, mode, size, transport, placement| Hop {
        node: NODE.to_owned(),
        product,
        mode,
        size: Some(size),
        transport,
        placement,
    };
    let placed = |cpu, cpus: &[u32]| Placement { cpu, cpus: cpus.to_vec() };
    vec![
        hop("HAProxy", None, 20, None, placed(Some(0.5), &[1, 2])),
        hop("PgBouncer", Some(PoolMode::Session), 20, Some(Transport::Tls), placed(Some(0.5), &[])),
        hop("PostgreSQL", None, 51, Some(Transport::Unix), placed(None, &[])),
    ]
}

#[test]
fn cpus_of_attached_nodes_are_not_stated() {
    assert_eq!(
        english().path(&hops(), &Placement::default(), "→"),
        "generator (any CPU) → set by its address → HAProxy (maxconn 20, attached) → TLS → PgBouncer (session, pool 20, \
         0.5 CPU) → Unix socket → PostgreSQL (51 slots, any CPU)"
    );
}

/// Lists every sentence and word of a language, with its name.
fn all(lang: &Lang) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: String, text: String| all.push((name, text));
    for class in every!(FailureClass: Failed, Unknown, Refused) {
        add(format!("{class:?}"), lang.effect(class));
    }
    for figure in figures() {
        add(format!("{figure:?}"), lang.figure(figure).to_owned());
    }
    for verdict in every!(ChangeVerdict: NoEvidence, Lower, Higher, TooFewRuns) {
        add(format!("{verdict:?}"), lang.verdict(verdict).to_owned());
    }
    add("dropped".into(), lang.dropped(20_000, 50_000));
    add(
        "fairness".into(),
        lang.fairness(&Fairness {
            min_transactions: 9,
            median: 10_000,
            max_transactions: 11_000,
            jain: 0.998,
        }),
    );
    let cost = CpuCost { user: Nanos(450), system: Nanos(6200), spun: Nanos(30) };
    add("generator".into(), lang.generator(&cost, 0.34));
    let tls = ServerTransport::TcpTls { version: "1.3".to_owned() };
    let transports = [ServerTransport::UnixSocket, ServerTransport::Tcp, tls];
    covers!(transports, ServerTransport: UnixSocket, Tcp, TcpTls);
    for transport in transports {
        for model in models() {
            let server = server(transport.clone(), Some("/№/15"));
            add("measured".into(), lang.measured(&server, &plan(model)));
        }
    }
    for (spacing, arrivals, lowest) in [
        (Spacing::Even, Some(20_100), 20_000.5),
        (Spacing::Poisson, Some(20_101), 0.5),
        (Spacing::Poisson, None, 0.5),
    ] {
        add("preview".into(), lang.preview(&preview(spacing, arrivals, lowest)));
    }
    for reason in reasons() {
        add(format!("{reason:?}"), lang.reason(&reason));
    }
    for doubt in doubts() {
        add(format!("{doubt:?}"), lang.doubt(&doubt, 21));
    }
    for arrow in ["→", "->"] {
        let generator = Placement { cpu: None, cpus: vec![3] };
        add("path".into(), lang.path(&hops(), &generator, arrow));
    }
    for status in statuses() {
        add(format!("{status:?}"), lang.status(&status));
    }
    add("left out".into(), lang.left_out(2, 25, "№"));
    let limit = UnappliedLimit { node: NODE.into(), limit: "№".into(), reason: "№".into() };
    add("not applied".into(), lang.not_applied(&[&limit]));
    for (baseline, too_few) in [(None, false), (Some("№"), true)] {
        add("legend".into(), lang.legend(baseline, 42, too_few));
    }
    add("watching".into(), lang.watching(0.0061));
    for difference in differences() {
        add(format!("{difference:?}"), lang.difference(&difference));
    }
    add("fired".into(), lang.fired(&fired()));
    for verdict in every!(Kept: Met, Violated, Unknown) {
        for unit in every!(ObjectiveUnit: Seconds, Share, PerSecond, Count) {
            add(format!("{verdict:?} {unit:?}"), lang.judged(&judged(verdict, Some(0.0123), unit)));
        }
        add(format!("{verdict:?}"), lang.judged(&judged(verdict, None, ObjectiveUnit::Seconds)));
    }
    let names = CELLS.map(str::to_owned);
    for (met, broken, unknown, measured) in [(12, 2, 1, Some(1.032)), (0, 1, 0, None), (0, 0, 0, None)] {
        let judged = judged(Kept::Violated, measured, ObjectiveUnit::Seconds);
        let worst = (broken > 0).then_some(WorstResult { cell: 2, result: judged });
        let objective = "№".to_owned();
        add(
            "tally".into(),
            lang.objective_summary(
                &ObjectiveSummary { objective, met, violated: broken, unknown, worst },
                &names,
            ),
        );
    }
    for finding in findings() {
        add(format!("{finding:?}"), lang.findings(&[&finding], &names));
    }
    for of_group in many() {
        let of_group: Vec<&Finding> = of_group.iter().collect();
        add(format!("many {:?}", of_group[0]), lang.findings(&of_group, &names));
    }
    all
}

fn figures() -> [Figure; 15] {
    every!(Figure: Tps, P50, P99, Requests, Failed, Errors, Dropped, Refused, Deadlocks, Served, Starved, ReplicationLag, PoolerCpu,
        ServerCpu, TimeToSteady)
}

/// The catalogue contains exactly the words that the scripts of the page and of the list of runs display.
#[test]
fn scripts_have_their_words() {
    const WITHOUT_SCRIPT: [&str; 3] = ["no_script", "cannot_unpack", "left_out"];
    let script: BTreeSet<&str> =
        include_str!("../../../../web/src/words.ts").split('"').skip(1).step_by(2).collect();
    let words =
        ["web-", "list-", "bar-"].into_iter().flat_map(|prefix| english().catalogue().with_prefix(prefix));
    let words: Vec<String> = words.map(|(key, _)| key).collect();
    let words: BTreeSet<&str> =
        words.iter().map(String::as_str).filter(|key| !WITHOUT_SCRIPT.contains(key)).collect();
    assert_eq!(words, script);
}

#[test]
fn every_sentence_exists_in_each_language() {
    /// Words that are equal in both languages.
    const SAME: [&str; 2] = ["TCP", "TLS"];
    /// Names and quantiles that both languages share.
    const ALIKE: [&str; 9] =
        ["seed 42", "p50", "p99", "p99.9", "pgdyno", "PostgreSQL", "№: № → №", "maxconn 20", "PgBouncer"];
    let (english, russian) = (all(english()), all(russian()));
    assert_eq!(english.len(), russian.len());
    for ((name, english), (_, russian)) in english.iter().zip(&russian) {
        assert!(english != russian || SAME.contains(&english.as_str()), "{name}: {english}");
        assert!(!russian.contains("  ") && !russian.ends_with([' ', '.']), "{name}: {russian}");
    }
    let (english, russian) =
        (sentences::sentences(crate::lang::english()), sentences::sentences(crate::lang::russian()));
    assert_eq!(english.len(), russian.len());
    for ((name, english), (_, russian)) in english.iter().zip(&russian) {
        assert!(
            !english.is_empty() && (english != russian || ALIKE.contains(&english.as_str())),
            "{name}: {english}"
        );
        assert!(!russian.contains("  ") && !russian.ends_with(' '), "{name}: {russian}");
    }
    let ways = every!(Transport: Unix, Tcp, Tls);
    assert_eq!(ways.map(|it| crate::lang::english().transport(it)), ["Unix socket", "TCP", "TLS"]);
    assert_eq!(ways.map(|it| crate::lang::russian().transport(it)), ["Unix-сокет", "TCP", "TLS"]);
}

#[test]
fn words_fit_their_columns() {
    /// Labels by their maximum width in columns. Labels of 20 columns are followed by the number of a script.
    const LABELS: [(usize, &[&str]); 3] = [
        (8, &["bench-count", "bench-mean", "bench-max"]),
        (20, &["bench-script-response", "bench-script-service"]),
        (
            23,
            &[
                "bench-response-time",
                "bench-service-time",
                "bench-connecting",
                "bench-backlog-wait",
                "bench-send-lag",
                "bench-timer-jitter",
                "bench-dropped",
                "bench-script-statements",
                "bench-clients",
                "bench-generator",
                "bench-measured",
                "bench-verdict",
                "bench-note",
            ],
        ),
    ];
    let wide = |it: &str| it.chars().count();
    for lang in super::all() {
        for (room, labels) in LABELS {
            for label in labels {
                let text = lang.catalogue().render(label, &[]);
                assert!(wide(&text) <= room, "{label}: {text}");
            }
        }
        for figure in figures() {
            assert!(wide(&lang.figure(figure)) <= 12, "{figure:?}: {}", lang.figure(figure));
        }
        for verdict in every!(ChangeVerdict: NoEvidence, Lower, Higher, TooFewRuns) {
            assert!(wide(&lang.verdict(verdict)) <= 14, "{verdict:?}: {}", lang.verdict(verdict));
        }
    }
}

/// Numbers determine the grammatical forms of counted nouns.
#[test]
fn russian_forms() {
    let number = |n: u32| -> [String; 6] {
        let at = u64::from(n);
        let name = [String::new()];
        let objective = || "цель".to_owned();
        let tally = ObjectiveSummary { objective: objective(), met: n, violated: 0, unknown: 0, worst: None };
        [
            russian().dropped(at, 100),
            russian().left_out(n as usize, 25, "x"),
            russian().objective_summary(&tally, &name),
            russian()
                .reason(&InvalidReason::ResourcesExhausted { connections: at })
                .split(':')
                .next()
                .unwrap_or_default()
                .to_owned(),
            russian()
                .doubt(&Doubt::UnevenClients { jain: 0.5, min_transactions: 0, max_transactions: at }, 5)
                .split(" (")
                .next()
                .unwrap_or_default()
                .to_owned(),
            russian()
                .reason(&InvalidReason::Aborted { clients: n, total_clients: 50 })
                .split(':')
                .next()
                .unwrap_or_default()
                .to_owned(),
        ]
    };
    for (n, expected) in [
        (
            1,
            [
                "так и не отправлена 1 заявка из 100 (1,000\u{a0}%)",
                "не учтено 1 измерение из 25: x",
                "цель: соблюдено в 1 измерении",
                "не удалось открыть 1 соединение",
                "клиенты обслужены неравномерно: от 0 до 1 транзакции",
                "1 клиент из 50 прекратил работу",
            ],
        ),
        (
            3,
            [
                "так и не отправлены 3 заявки из 100 (3,000\u{a0}%)",
                "не учтено 3 измерения из 25: x",
                "цель: соблюдено в 3 измерениях",
                "не удалось открыть 3 соединения",
                "клиенты обслужены неравномерно: от 0 до 3 транзакций",
                "3 клиента из 50 прекратили работу",
            ],
        ),
        (
            11,
            [
                "так и не отправлено 11 заявок из 100 (11,000\u{a0}%)",
                "не учтено 11 измерений из 25: x",
                "цель: соблюдено в 11 измерениях",
                "не удалось открыть 11 соединений",
                "клиенты обслужены неравномерно: от 0 до 11 транзакций",
                "11 клиентов из 50 прекратили работу",
            ],
        ),
        (
            21,
            [
                "так и не отправлена 21 заявка из 100 (21,000\u{a0}%)",
                "не учтено 21 измерение из 25: x",
                "цель: соблюдено в 21 измерении",
                "не удалось открыть 21 соединение",
                "клиенты обслужены неравномерно: от 0 до 21 транзакции",
                "21 клиент из 50 прекратил работу",
            ],
        ),
    ] {
        assert_eq!(number(n), expected.map(str::to_owned));
    }
}
