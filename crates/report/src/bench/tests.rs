use super::*;
use crate::json_document::{BenchDocument, to_json};
use crate::lang::{english, russian};
use expect_test::expect_file;
use model::summary::*;
use model::validity::{Doubt, InvalidReason, Validity, Verdict};
use model::{Nanos, PerSecond, Spacing};

fn distribution(count: u64, mean_us: u64) -> Distribution {
    let times = |n: u64| (count > 0).then_some(Nanos::from_micros(mean_us * n));
    Distribution {
        count,
        unanswered: None,
        mean: times(1),
        deviation: times(2),
        min: times(1),
        p50: times(1),
        p90: times(2),
        p95: times(3),
        p99: times(5),
        p999: None,
        max: times(70),
    }
}

fn script(name: &str, weight: u32) -> Script {
    Script { name: name.to_owned(), weight, commands: Vec::new() }
}

/// Summary of one script in the closed model, with ten transactions per client and no failures.
fn plain_summary() -> Summary {
    let counts = OutcomeCounts { ok: 40, ..OutcomeCounts::default() };
    let group = GroupSummary {
        counts,
        tps: PerSecond(1234.5),
        response: distribution(40, 123),
        service: distribution(40, 120),
        lag_mean: Nanos::from_micros(3),
    };
    Summary {
        server: Server {
            version: "15.18".to_owned(),
            origin: None,
            transport: ServerTransport::UnixSocket,
            address: "/tmp:5432".to_owned(),
            database: "bench".to_owned(),
        },
        plan: BenchPlan {
            scripts: vec![script("<builtin: select only>", 1)],
            scale: 10,
            partitions: None,
            query_mode: QueryMode::Prepared,
            clients: 4,
            threads: 2,
            max_tries: 1,
            end: EndCondition::Transactions(10),
            model: LoadModelSummary::Closed { think: Nanos::ZERO },
            reconnect: false,
            latency_limit: None,
            seed: 42,
            driver: "epoll".to_owned(),
        },
        window: Nanos::from_millis(9_600),
        outages: Vec::new(),
        rows: Vec::new(),
        empty_statements: Vec::new(),
        scripts: vec![ScriptSummary { group: group.clone(), share: 1.0, ..ScriptSummary::default() }],
        total: group,
        failures: Vec::new(),
        connects: ConnectSummary { initial: Nanos::from_micros(4567), ..ConnectSummary::default() },
        fairness: Some(Fairness { min_transactions: 9, median: 10, max_transactions: 11, jain: 0.998 }),
        generator: GeneratorSummary {
            send_lag: distribution(40, 2),
            jitter: distribution(9000, 4),
            lag_max: Nanos::from_micros(140),
            per_transaction: Some(CpuCost { user: Nanos(450), system: Nanos(6200), spun: Nanos(30) }),
            threads: vec![ThreadSummary { busy: 0.34, ..ThreadSummary::default() }; 2],
            ..GeneratorSummary::default()
        },
        validity: Validity { valid: true, ..Validity::default() },
    }
}

/// Summary of two scripts in the open model, with every kind of failure.
fn full_summary() -> Summary {
    let mut summary = plain_summary();
    summary.generator.threads[1] = ThreadSummary {
        busy: 0.123,
        wakeups: 1_234_567,
        longest_stall: Nanos::from_micros(2345),
        kernel: Some(model::KernelCounters {
            voluntary_switches: 40_000,
            involuntary_switches: 12,
            minor_faults: 3,
            major_faults: 0,
        }),
        ..ThreadSummary::default()
    };
    summary.plan = BenchPlan {
        scripts: vec![script("<builtin: TPC-B (sort of)>", 3), script("/tmp/b.sql", 1)],
        partitions: Some(Partitions { method: PartitionMethod::Hash, count: 7 }),
        max_tries: 5,
        end: EndCondition::Time(Nanos::from_secs(10)),
        model: LoadModelSummary::Open {
            schedule: "line(1,200,200s)".to_owned(),
            arrivals: Spacing::Even,
            slack: Nanos::ZERO,
        },
        reconnect: true,
        latency_limit: Some(Nanos::from_millis(50)),
        ..summary.plan
    };
    summary.server.transport = ServerTransport::TcpTls { version: "1.3".to_owned() };
    summary.server.origin = Some("/usr/lib/postgresql/15".to_owned());
    summary.total.counts = OutcomeCounts {
        ok: 40,
        failed: 7,
        unknown: 1,
        dropped: 2,
        retried: 3,
        retries: 5,
        serialization: 4,
        deadlock: 2,
        above_limit: 10,
        ..OutcomeCounts::default()
    };
    summary.scripts.push(ScriptSummary { share: 0.25, ..ScriptSummary::default() });
    summary.scripts[0].group.counts = summary.total.counts;
    summary.scripts[0].share = 0.75;
    summary.plan.scripts[0].commands = vec!["BEGIN;".to_owned()];
    summary.scripts[0].statements = vec![CommandSummary {
        text: "UPDATE pgbench_accounts SET abalance = abalance + :delta".to_owned(),
        service: distribution(40, 1_234_567),
        failures: 3,
        response: distribution(40, 1_234_567),
        retries: 5,
    }];
    let failure = |code: &str, name, class, count| Failure {
        code: code.to_owned(),
        name,
        class,
        count,
        message: None,
        body: None,
    };
    summary.failures = vec![
        failure("40001", Some("serialization_failure"), FailureClass::Failed, 7),
        failure("net 104", Some("ECONNRESET"), FailureClass::Unknown, 1),
    ];
    summary.connects.refused =
        vec![failure("53300", Some("too_many_connections"), FailureClass::Refused, 17)];
    summary.connects.durations = distribution(50, 900);
    summary.generator.backlog_wait = distribution(10, 2_000);
    summary.validity = Validity {
        verdict: Verdict::Invalid,
        valid: false,
        reasons: vec![
            InvalidReason::Late {
                quantile: 0.99,
                lag: Nanos::from_millis(5),
                jitter: Some(Nanos::from_micros(50)),
            },
            InvalidReason::Saturated { thread: 1, busy: 0.97 },
        ],
        doubts: vec![Doubt::InFlightCapReached { arrivals: 50, waited: 10, dropped: 2 }],
    };
    summary
}

/// Compares `got` with a file of `expected/`; `UPDATE_EXPECT=1` rewrites it.
fn check(name: &str, got: &str) {
    expect_file![format!("expected/{name}")].assert_eq(got);
    for line in got.lines().filter(|it| !it.contains("abalance")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn renders_a_plain_run() {
    check("plain.txt", &render(&plain_summary(), &[], BenchStyle::default(), english()));
    check("plain.ru.txt", &render(&plain_summary(), &[], BenchStyle::default(), russian()));
}

#[test]
fn renders_a_run_with_every_failure() {
    let style = BenchStyle { failures_detailed: true, progress: true, threads: true };
    check("rich.txt", &render(&full_summary(), &[], style, english()));
    check("rich.ru.txt", &render(&full_summary(), &[], style, russian()));
}

#[test]
fn renders_a_run_of_requests() {
    let mut summary = plain_summary();
    summary.server = Server { version: "nginx".to_owned(), ..Server::default() };
    summary.plan.scripts[0].name = "GET /books".to_owned();
    let text = render(&summary, &[], BenchStyle::default(), english().for_requests());
    for expected in ["request: GET /books\n", "number of requests actually", "requests per second = 1234.5"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("transaction") && !text.contains("tps"), "{text}");
}

#[test]
fn renders_a_run_without_successes() {
    let mut summary = plain_summary();
    summary.total.counts = OutcomeCounts { failed: 10, ..OutcomeCounts::default() };
    summary.total.response = Distribution::default();
    let text = render(&summary, &[], BenchStyle::default(), english());
    let pgbench_end = text.find("\n\n").expect("an empty line");
    assert!(text[..pgbench_end].ends_with("number of failed transactions: 10 (100.000%)"), "{text}");
}

#[test]
fn json_fields_have_units() {
    let json = to_json(&BenchDocument { summary: &full_summary(), objectives: &[], run: None });
    for expected in [
        "\"window_ns\": 9600000000",
        "\"p99_ns\": 615000",
        "\"p999_ns\": null",
        "\"time_ns\": 10000000000",
        "\"schedule\": \"line(1,200,200s)\"",
        "\"arrivals\": \"even\"",
        "\"class\": \"unknown\"",
        "\"verdict\": \"invalid\"",
        "\"kind\": \"saturated\"",
    ] {
        assert!(json.contains(expected), "{expected} in {json}");
    }
}

/// Returns the text after the label.
#[track_caller]
fn line(summary: &Summary, label: &str) -> String {
    let mut out = String::new();
    extended::write_lines(&mut out, summary, BenchStyle::default(), english());
    let after = out
        .lines()
        .skip_while(|line| !line.starts_with(label))
        .take_while(|line| line.starts_with(label) || line.starts_with("    "));
    after.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn verdict_names_unanswered_arrivals() {
    let mut summary = plain_summary();
    assert_eq!(line(&summary, "verdict"), "verdict valid");
    let (from, to) = (Nanos::from_millis(2_200), Nanos::from_secs(6));
    summary.validity.doubts =
        vec![Doubt::FewSamples { count: 40 }, Doubt::Outage { count: 1, duration: to - from, from, to }];
    let expected = "verdict valid with doubts: no transaction succeeded for 3.80 s (from 2.20 s to 6.00 s)";
    assert_eq!(line(&summary, "verdict"), expected);
    assert!(!line(&summary, "note").contains("nothing succeeded"), "the sentence occurs once");
    // Without a success, no figure is valid.
    summary.total.counts = OutcomeCounts { failed: 40, ..OutcomeCounts::default() };
    summary.validity = Validity { reasons: vec![InvalidReason::NoSuccess], ..Validity::default() };
    summary.failures = vec![Failure {
        code: "42601".to_owned(),
        name: Some("syntax_error"),
        class: FailureClass::Failed,
        count: 40,
        message: None,
        body: None,
    }];
    let failed = "verdict INVALID: no transaction succeeded: 42601";
    assert_eq!(line(&summary, "verdict"), format!("{failed} syntax_error"));
    summary.failures[0].message = Some("syntax error at or near \"SELEC\u{1b}[2J\"".to_owned());
    assert_eq!(line(&summary, "verdict"), format!("{failed} syntax error at or near \"SELEC\\u{{1b}}[2J\""));
}

#[test]
fn shows_no_times_of_unanswered_arrivals() {
    let mut summary = plain_summary();
    summary.total.response = Distribution {
        count: 1_977,
        unanswered: Some(UnansweredArrivals {
            count: 1_023,
            longer_than: Nanos::from_secs(6),
            mean_of_answered: Some(Nanos::from_millis(2)),
        }),
        mean: None,
        p90: None,
        p95: None,
        p99: None,
        max: None,
        ..distribution(1_977, 2_000)
    };
    let response = "response time, ms 1977 >6000 2.000 >6000 >6000 >6000 >6000 >6000";
    assert_eq!(line(&summary, "response time"), response);
    assert!(
        render(&summary, &[], BenchStyle::default(), english())
            .contains("latency average = 2.000 ms (of answered transactions)")
    );
}
