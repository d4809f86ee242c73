use super::*;
use crate::lang::{Lang, english, russian};
use expect_test::expect_file;
use model::finding::{ConnectionLimit, IncomparableReason, ThroughputComparison};
use model::matrix::{BaselineComparison, Hop, Placement, Trial, TrialStatus};
use model::objective::{
    ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict as Kept, TooFewSamples, WorstResult,
};
use model::plan::{PoolMode, Replication, SyncMode, Transport};
use model::validity::{Doubt, DoubtSummary, Verdict};
use model::{Nanos, PerSecond, stop::StopEvent};

fn hop(product: &'static str, mode: Option<PoolMode>, size: u32, cpu: f64, transport: Transport) -> Hop {
    let placement = Placement { cpu: Some(cpu), cpus: vec![] };
    Hop {
        node: product.to_lowercase(),
        product,
        mode,
        size: Some(size),
        transport: Some(transport),
        placement,
    }
}

fn estimate(figure: Figure, median: f64, spread: f64) -> Estimate {
    let interval = (spread > 0.0).then_some((median * (1.0 - spread), median * (1.0 + spread)));
    Estimate { figure, median, is_lower_bound: false, interval, runs: 5, vs_baseline: None }
}

/// Row for `mode` with this throughput, and its ratio to the baseline.
fn row(mode: &str, clients: u32, tps: f64, change: Option<(f64, ChangeVerdict)>) -> Row {
    let tcp = Transport::Tcp;
    let pool = |it| Some(hop("PgBouncer", Some(it), 20, 0.1, tcp));
    let before = match mode {
        "session" => pool(PoolMode::Session),
        "transaction" => pool(PoolMode::Transaction),
        _ => None,
    };
    let vs_baseline = change.map(|(ratio, verdict)| BaselineComparison {
        ratio: Some(ratio),
        interval: Some((ratio - 0.01, ratio + 0.01)),
        p: Some(0.008),
        verdict,
    });
    let figures = vec![
        Estimate { vs_baseline, ..estimate(Figure::Tps, tps, 0.01) },
        estimate(Figure::P50, 0.000_371, 0.0),
        estimate(Figure::P99, 0.0123, 0.0),
        estimate(Figure::Errors, 0.0, 0.0),
        estimate(Figure::Refused, 0.0, 0.0),
        estimate(Figure::Deadlocks, if mode == "transaction" { 1.5 } else { 0.0 }, 0.0),
        estimate(Figure::Served, f64::from(clients), 0.0),
        estimate(Figure::Starved, if mode == "session" && clients > 20 { 180.0 } else { 0.0 }, 0.0),
        estimate(Figure::PoolerCpu, 0.1, 0.0),
        estimate(Figure::ServerCpu, 0.97, 0.0),
    ];
    let trial = |repetition| Trial {
        repetition,
        status: TrialStatus::Done,
        valid: true,
        verdict: Verdict::Valid,
        reasons: vec![],
        doubts: vec![],
    };
    Row {
        label: vec![("pooler.mode".into(), mode.into()), ("clients".into(), clients.to_string())],
        baseline: vs_baseline.map(|_| 0),
        hops: before.into_iter().chain([hop("PostgreSQL", None, 50, 1.0, tcp)]).collect(),
        replication: None,
        clients,
        generator: Placement { cpu: None, cpus: vec![1] },
        unapplied_limits: vec![],
        trials: (0..5).map(trial).collect(),
        figures,
    }
}

fn matrix() -> Matrix {
    let mut rows = vec![
        row("none", 8, 21_570.0, None),
        row("session", 8, 18_120.0, Some((0.84, ChangeVerdict::Lower))),
        row("session", 200, 18_010.0, Some((0.835, ChangeVerdict::Lower))),
        row("transaction", 8, 21_400.0, Some((0.992, ChangeVerdict::NoEvidence))),
        row("statement", 8, 21_400.0, None),
    ];
    for (trial, busy) in [(1, 0.97), (3, 0.93)] {
        rows[2].trials[trial].valid = false;
        rows[2].trials[trial].reasons = vec![InvalidReason::Saturated { thread: 0, busy }];
    }
    rows[2].trials[4].status = TrialStatus::Interrupted;
    rows[2].trials[4].valid = false;
    let missing = |limit: &str| UnappliedLimit {
        node: "pooler".into(),
        limit: limit.into(),
        reason: "/sys/fs/cgroup/cpu: Read-only file system".into(),
    };
    rows[3].unapplied_limits = vec![missing("cpu"), missing("cpus")];
    rows[2].unapplied_limits = vec![missing("cpu")];
    rows[4].figures.clear();
    for trial in &mut rows[4].trials {
        (trial.status, trial.valid) =
            (TrialStatus::Skipped { reason: "Odyssey is not installed".into() }, false);
    }
    let judged = |measured, verdict| ObjectiveResult {
        objective: "p99 < 200ms".into(),
        verdict,
        unit: ObjectiveUnit::Seconds,
        measured,
        is_lower_bound: false,
        ended_early: false,
        bound: 0.2,
        samples: 10_000,
        too_few: None,
    };
    let objectives = vec![
        ObjectiveSummary {
            objective: "p99 < 200ms".into(),
            met: 12,
            violated: 2,
            unknown: 1,
            worst: Some(WorstResult { cell: 2, result: judged(Some(1.032), Kept::Violated) }),
        },
        ObjectiveSummary { objective: "max < 1s".into(), met: 0, violated: 0, unknown: 0, worst: None },
    ];
    Matrix {
        rows,
        baseline: Some(0),
        seed: 42,
        verdict: Verdict::Valid,
        doubts: Vec::new(),
        objectives,
        monitoring_cpu: Some(0.0061),
    }
}

/// Compares `got` with a file of `expected/`; `UPDATE_EXPECT=1` rewrites it.
fn golden(name: &str, got: &str) {
    expect_file![format!("expected/{name}.txt")].assert_eq(got);
}

#[test]
fn names_outages_and_stop_rules_below_the_table() {
    let mut matrix = matrix();
    let (from, to) = (Nanos::from_secs(2), Nanos::from_secs(5));
    let doubt =
        |doubt, cell, repetition, trials| DoubtSummary { doubt, cell, repetition, clients: 8, trials };
    matrix.doubts = vec![
        doubt(Doubt::Starved { thread: 0, share: 0.77 }, 0, 3, 5),
        doubt(Doubt::Outage { count: 1, duration: to - from, from, to }, 0, 1, 1),
        doubt(Doubt::FeedExhausted { rows: 1234, at: to, planned: Nanos::from_secs(60) }, 1, 0, 1),
    ];
    let rule = "errors(10%,2s)".to_owned();
    let event =
        StopEvent { rule, cause_second: 3, at_second: 4, rate_at_cause: PerSecond(200.0), tank_rc: None };
    matrix.rows[4].trials[0].status = TrialStatus::Stopped { event };
    let text = render(&matrix, &[], TerminalStyle::default(), english())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for expected in [
        "! thread 1 of the generator waited for a CPU 77 % of the time, and response times include this (the worst of 5 trials)",
        "! none/8, trial 2: no transaction succeeded for 3.00 s (from 2.00 s to 5.00 s)",
        "! session/8, trial 1: the load ended after 5.00 s instead of 60.0 s: a feed with `order: once` has only 1234 rows",
        "! statement/8, trial 1: errors(10%,2s) stopped the load after second 4; its condition has held since second 3, at 200",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn renders_the_whole_matrix() {
    let finding = Finding::ClientsStarved {
        cell: 2,
        clients_served: 20,
        clients_without_success: 180,
        clients: 200,
        pool: Some((PoolMode::Session, 20)),
        jain: 0.1,
        mean_transactions: 450.25,
    };
    let style = TerminalStyle { width: 140, ..TerminalStyle::default() };
    golden("whole", &render(&matrix(), std::slice::from_ref(&finding), style, english()));
    golden("whole.ru", &render(&matrix(), &[finding], style, russian()));
}

#[test]
fn renders_fewer_columns_in_a_narrow_terminal() {
    golden("100", &render(&matrix(), &[], TerminalStyle::default(), english()));
    let narrow = TerminalStyle { width: 60, characters: CharacterSet::Ascii, colour: true };
    golden("60-ascii-colour", &render(&matrix(), &[], narrow, english()));
    // No line exceeds the width, unless the columns that are never dropped do not fit.
    for width in 44..160 {
        for lang in crate::lang::all() {
            let rendered = render(&matrix(), &[], TerminalStyle { width, ..TerminalStyle::default() }, lang);
            let widest = rendered.lines().map(|it| it.chars().count()).max().unwrap_or(0);
            assert!(widest <= width, "{width}: {widest}\n{rendered}");
        }
    }
}

#[test]
fn does_not_wrap_before_a_percent_sign() {
    assert_eq!(paragraph("- ", "a 12 % b 3 %", 6), "- a\n  12 %\n  b\n  3 %\n");
    assert_eq!(paragraph("", "%", 6), "%\n");
}

#[test]
fn every_path_has_its_own_mark() {
    let mut notes = NoteList::default();
    let marks: Vec<String> = (0..28).map(|n| notes.mark(format!("way {n}"), true)).collect();
    assert_eq!(
        (marks[0].as_str(), marks[25].as_str(), marks[26].as_str(), marks[27].as_str()),
        ("a", "z", "a1", "b1")
    );
    assert_eq!(notes.mark("way 3".into(), true), "d");
    assert_eq!(notes.mark("other".into(), false), "1");
}

#[test]
fn replicas_are_part_of_the_path() {
    let mut matrix = matrix();
    let plan = Replication::with_defaults(2, SyncMode::Any(1));
    matrix.rows[0].replication = Some(plan.clone());
    let ways =
        |lang: &Lang| table(&matrix, &[], lang).notes.into_iter().map(|it| it.1.text).collect::<Vec<_>>();
    let en = ways(english()).concat();
    assert!(
        en.contains("(50 slots, 1 CPU) with 2 replicas (WAL, commits wait for any 1); pgdyno promotes"),
        "{en}"
    );
    let ru = ways(russian()).concat();
    assert!(ru.contains("2 реплики"), "{ru}");
    // A path without replicas is a separate path: that of the last row.
    let path_count = |matrix: &Matrix| {
        let notes = table(matrix, &[], english()).notes;
        notes.into_iter().filter(|(_, note)| note.text.contains("generator (")).count()
    };
    assert_eq!((path_count(&matrix), path_count(&self::matrix())), (4, 3));
}

/// Renders findings for a terminal of this width.
fn findings_in(all: &[Finding], width: usize, lang: &Lang) -> String {
    let shown = views(all, &matrix(), lang, &|_| Vec::new());
    crate::findings::render(&shown, TerminalStyle { width, ..TerminalStyle::default() })
}

/// Renders each kind of finding once.
#[test]
fn renders_findings_as_sentences() {
    let comparison = ThroughputComparison {
        ratio: 0.844,
        interval: Some((0.839, 0.847)),
        p: Some(0.0079),
        verdict: ChangeVerdict::Lower,
        runs: (5, 5),
    };
    let unsure = ThroughputComparison {
        ratio: 0.998,
        p: Some(0.84),
        verdict: ChangeVerdict::NoEvidence,
        ..comparison
    };
    let few = ThroughputComparison {
        interval: None,
        verdict: ChangeVerdict::TooFewRuns,
        runs: (2, 5),
        ..comparison
    };
    let node = || "pooler".to_owned();
    let (cell, other_cell) = (1, 0);
    let all = [
        Finding::SlotsExhausted {
            cell,
            limit: ConnectionLimit::Server,
            refusals: 40,
            logged_refusals: 46,
            max_connections: Some(50),
            first_second: Some(3),
            trials: 2,
            total_trials: 3,
        },
        Finding::SlotsExhausted {
            cell: 2,
            limit: ConnectionLimit::Server,
            refusals: 7,
            logged_refusals: 7,
            max_connections: Some(50),
            first_second: None,
            trials: 3,
            total_trials: 3,
        },
        Finding::HostBound {
            cell,
            idle: 0.01,
            processors: 2.0,
            generator_cpu: Some(0.8),
            pooler_cpu: Some(0.3),
            server_cpu: Some(0.9),
            other_cpu: Some(0.05),
        },
        Finding::GeneratorShare { cell: 2, generator_cpu: 0.7, processors: 2.0 },
        Finding::NotCompared { cell: 2, reason: IncomparableReason::SlotsExhausted },
        Finding::NotCompared { cell: 3, reason: IncomparableReason::Errors { per_thousand: 12.3 } },
        Finding::NotCompared { cell: 4, reason: IncomparableReason::SlotsExhausted },
        Finding::LikeForLikeCost { cell, other_cell, transport: Transport::Tcp, comparison },
        Finding::LikeForLikeCost { cell, other_cell, transport: Transport::Unix, comparison: unsure },
        Finding::LikeForLikeCost { cell, other_cell, transport: Transport::Tls, comparison: few },
        Finding::UnlikeComparison {
            cell,
            other_cell,
            transports: vec![Transport::Tcp, Transport::Tcp],
            other_transport: Transport::Unix,
            comparison: ThroughputComparison { ratio: 0.538, ..comparison },
            like_for_like_ratio: 0.844,
        },
        Finding::NoDifference {
            cell,
            other_cell,
            mode: PoolMode::Statement,
            other_mode: PoolMode::Transaction,
            comparison: unsure,
        },
        Finding::QueueInPooler {
            cell,
            node: node(),
            waiting: Some(150.0),
            longest_wait: Some(2.5),
            in_flight: 170.0,
            busy: Some(20.0),
        },
        Finding::QueueInPooler {
            cell,
            node: node(),
            waiting: None,
            longest_wait: None,
            in_flight: 100.0,
            busy: Some(20.0),
        },
        Finding::QueueInBalancer {
            cell,
            node: "balancer".into(),
            waiting: 160.0,
            wait: Some(1.5),
            maxconn: Some(20),
        },
        Finding::PoolerBound {
            cell,
            node: node(),
            cpu: 0.099,
            cpu_limit: 0.1,
            throttled: Some(0.9),
            throttled_cpu: None,
            pool: 20,
            in_use: Some(19.9),
            active: 1.5,
        },
        Finding::PoolBound {
            cell,
            node: node(),
            pool: 20,
            setting: None,
            in_use: 20.0,
            busy: 19.8,
            cpu: 0.05,
            cpu_limit: 0.1,
        },
        Finding::ServerBound {
            cell,
            node: "postgres".into(),
            cpu: 0.97,
            cpu_limit: 1.0,
            throttled: None,
            throttled_cpu: None,
            queue: None,
        },
        Finding::SessionsWait { cell, event: "Lock/transactionid".into(), share: 0.75, active: 20.0 },
        Finding::Failures {
            cell,
            code: "22P02".into(),
            name: Some("invalid_text_representation"),
            count: 310,
            sent: 3000,
        },
        Finding::Deadlocks { cell, per_thousand: 2.99, interval: Some((1.0, 4.5)), runs: 5 },
        Finding::Deadlocks { cell, per_thousand: 2.99, interval: None, runs: 1 },
        Finding::NotConcurrent { cell, other_cell, busy: 20.0, other_busy: 5.0 },
        Finding::NotOpenLoop {
            cell,
            arrivals: 10_500,
            waited: 300,
            dropped: 500,
            in_flight_cap: 200,
            trials: 1,
            total_trials: 2,
        },
        Finding::ClientsLeftAfterTest { cell, node: node(), clients: 17, trials: 2, total_trials: 3 },
    ];
    golden("findings", &findings_in(&all, 110, english()));
    golden("findings.ru", &findings_in(&all, 110, russian()));
}

#[test]
fn groups_findings_of_many_cells() {
    let many = |cells: &[usize]| -> String {
        let host = |cell: &usize| Finding::HostBound {
            cell: *cell,
            idle: 0.0,
            processors: 2.0,
            generator_cpu: Some(0.5 + 0.1 * *cell as f64),
            pooler_cpu: (*cell > 0).then_some(0.25),
            server_cpu: Some(0.75),
            other_cpu: Some(0.0),
        };
        findings_in(&cells.iter().map(host).collect::<Vec<_>>(), 200, english())
    };
    for (cells, expected) in [
        (
            &[0, 1, 2, 3, 4][..],
            "in all cells: the generator used 0.50 to 0.90, the nodes before PostgreSQL used",
        ),
        (&[1, 2, 3, 4, 4], "in all cells but none/8: the generator used 0.60 to 0.90"),
        (
            &[1, 2],
            "session/8 (generator 0.60, nodes before PostgreSQL 0.25, PostgreSQL 0.75, other processes 0.00); session/200 (generator",
        ),
    ] {
        let rendered = many(cells).replace("\n  ", " ");
        assert!(rendered.contains(expected), "{rendered}");
    }
    let compared = |ratio| ThroughputComparison {
        ratio,
        interval: None,
        p: Some(0.1),
        verdict: ChangeVerdict::NoEvidence,
        runs: (5, 5),
    };
    let unlike = |cell: usize| Finding::UnlikeComparison {
        cell,
        other_cell: 0,
        transports: vec![Transport::Tcp],
        other_transport: Transport::Tls,
        comparison: compared(0.9 + 0.1 * cell as f64),
        like_for_like_ratio: 0.8,
    };
    let all: Vec<Finding> = (0..5).map(unlike).collect();
    assert_eq!(
        findings_in(&all, 250, english()),
        "- a comparison of different transports, TCP vs TLS, would show these changes (in parentheses: with equal transports): -10.0 to +30.0 % (-20.0 to -20.0 %) in \
         none/8, session/8, session/200, transaction/8, statement/8\n"
    );
}

#[test]
fn renders_stop_rules_and_objectives_as_sentences() {
    use model::stop::TankDifference;
    let fired = StopEvent {
        rule: "net(xx,25,10)".into(),
        cause_second: 91,
        at_second: 100,
        rate_at_cause: PerSecond(91.7),
        tank_rc: Some(23),
    };
    let too_few = TooFewSamples { quantile: 0.999, needed: 10_000, nearest: Some((0.99, 0.034)) };
    let unmeasured = ObjectiveResult {
        objective: "p99 < 200ms".into(),
        verdict: Kept::Unknown,
        unit: ObjectiveUnit::Seconds,
        measured: None,
        is_lower_bound: false,
        ended_early: false,
        bound: 0.2,
        samples: 3_120,
        too_few: Some(too_few),
    };
    let judged = |verdict, measured, unit| {
        english().judged(&ObjectiveResult {
            objective: "p99 < 200ms".into(),
            verdict,
            unit,
            measured,
            is_lower_bound: false,
            ended_early: false,
            bound: 0.2,
            samples: 10_000,
            too_few: None,
        })
    };
    for (actual, expected) in [
        (
            english().fired(&fired),
            "net(xx,25,10) stopped the load after second 100; its condition has held since second 91, at 92 \
             transactions per second",
        ),
        (
            english().difference(&TankDifference::MaskOfX { mask: "xx".into() }),
            "`xx` matches every code except 0 here, as in Yandex.Tank's manual. Since June 2024, Yandex.Tank compares \
             whole codes and matches only codes of 2 characters",
        ),
        (judged(Kept::Met, Some(0.15), ObjectiveUnit::Seconds), "met: p99 < 200ms: 150 ms of 10000 samples"),
        (
            judged(Kept::Violated, Some(0.0123), ObjectiveUnit::Share),
            "VIOLATED: p99 < 200ms: 1.230 % of 10000 arrivals",
        ),
        (
            judged(Kept::Violated, Some(499.0), ObjectiveUnit::PerSecond),
            "VIOLATED: p99 < 200ms: 499.0/s of 10000 transactions",
        ),
        (
            judged(Kept::Violated, None, ObjectiveUnit::Seconds),
            "VIOLATED: p99 < 200ms: a lower quantile already exceeds the bound",
        ),
        (
            judged(Kept::Unknown, None, ObjectiveUnit::Seconds),
            "not judged: p99 < 200ms: 10000 samples are too few; run longer",
        ),
        (
            english().judged(&unmeasured),
            "not judged: p99 < 200ms: p99.9 needs 10000 samples, 3120 measured; p99 = 34.0 ms",
        ),
    ] {
        assert_eq!(actual, expected);
    }
}
