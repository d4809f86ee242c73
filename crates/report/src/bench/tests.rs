use super::*;
use crate::lang::{En, Ru};
use model::summary::*;
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

/// One script, closed model, ten transactions per client, nothing wrong.
fn plain() -> Summary {
    let counts = Counts { ok: 40, ..Counts::default() };
    let group = Group {
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
            transport: Hop::UnixSocket,
            address: "/tmp:5432".to_owned(),
            database: "bench".to_owned(),
        },
        plan: Plan {
            scripts: vec![script("<builtin: select only>", 1)],
            scale: 10,
            partitions: None,
            query_mode: QueryMode::Prepared,
            clients: 4,
            threads: 2,
            max_tries: 1,
            until: Until::Transactions(10),
            model: LoadModel::Closed { think: Nanos::ZERO },
            connect_each: false,
            latency_limit: None,
            seed: 42,
            driver: "epoll".to_owned(),
        },
        window: Nanos::from_millis(9_600),
        outages: Vec::new(),
        scripts: vec![ScriptGroup { group: group.clone(), share: 1.0, ..ScriptGroup::default() }],
        total: group,
        failures: Vec::new(),
        connecting: Connecting { initial: Nanos::from_micros(4567), ..Connecting::default() },
        fairness: Some(Fairness { fewest: 9, median: 10, most: 11, jain: 0.998 }),
        generator: Generator {
            send_lag: distribution(40, 2),
            jitter: distribution(9000, 4),
            lag_max: Nanos::from_micros(140),
            per_transaction: Some(Cost { user: Nanos(450), system: Nanos(6200), spun: Nanos(30) }),
            threads: vec![Thread { busy: 0.34, ..Thread::default() }; 2],
            ..Generator::default()
        },
        validity: Validity { valid: true, ..Validity::default() },
    }
}

/// Two scripts, open model, and everything that may go wrong.
fn rich() -> Summary {
    let mut it = plain();
    it.plan = Plan {
        scripts: vec![script("<builtin: TPC-B (sort of)>", 3), script("/tmp/b.sql", 1)],
        partitions: Some(Partitions { method: PartitionMethod::Hash, count: 7 }),
        max_tries: 5,
        until: Until::Time(Nanos::from_secs(10)),
        model: LoadModel::Open { schedule: "line(1,200,200s)".to_owned(), arrivals: Spacing::Even },
        connect_each: true,
        latency_limit: Some(Nanos::from_millis(50)),
        ..it.plan
    };
    it.server.transport = Hop::TcpTls { version: "1.3".to_owned() };
    it.server.origin = Some("/usr/lib/postgresql/15".to_owned());
    it.total.counts = Counts {
        ok: 40,
        failed: 7,
        unknown: 1,
        dropped: 2,
        retried: 3,
        retries: 5,
        serialization: 4,
        deadlock: 2,
        above_limit: 10,
        ..Counts::default()
    };
    it.scripts.push(ScriptGroup { share: 0.25, ..ScriptGroup::default() });
    it.scripts[0].group.counts = it.total.counts;
    it.scripts[0].share = 0.75;
    it.plan.scripts[0].commands = vec!["BEGIN;".to_owned()];
    it.scripts[0].statements = vec![Statement {
        text: "UPDATE pgbench_accounts SET abalance = abalance + :delta".to_owned(),
        service: distribution(40, 1_234_567),
        failures: 3,
        retries: 5,
    }];
    let failure =
        |code: &str, name, class, count| Failure { code: code.to_owned(), name, class, count, message: None };
    it.failures = vec![
        failure("40001", Some("serialization_failure"), FailureClass::Failed, 7),
        failure("net 104", Some("ECONNRESET"), FailureClass::Unknown, 1),
    ];
    it.connecting.refused = vec![failure("53300", Some("too_many_connections"), FailureClass::Refused, 17)];
    it.connecting.each = distribution(50, 900);
    it.generator.backlog_wait = distribution(10, 2_000);
    it.validity = Validity {
        valid: false,
        reasons: vec![
            Reason::Late { quantile: 0.99, lag: Nanos::from_millis(5), jitter: Some(Nanos::from_micros(50)) },
            Reason::Saturated { thread: 1, busy: 0.97 },
        ],
        doubts: vec![Doubt::CapReached { arrivals: 50, waited: 10, dropped: 2 }],
    };
    it
}

/// Prints both, or with `UPDATE_EXPECT=1` writes, what stands in `expected/`.
#[track_caller]
fn check(name: &str, got: &str) {
    let path = format!("{}/src/bench/expected/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, got).expect("the directory exists");
    }
    let expected = std::fs::read_to_string(&path).expect("UPDATE_EXPECT=1 writes it");
    assert_eq!(got, expected, "{name}; UPDATE_EXPECT=1 rewrites it");
    for line in got.lines().filter(|it| !it.contains("abalance")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn plain_run() {
    check("plain.txt", &text(&plain(), Style::default(), &En));
    check("plain.ru.txt", &text(&plain(), Style::default(), &Ru));
}

#[test]
fn rich_run() {
    let style = Style { failures_detailed: true, progress: true };
    check("rich.txt", &text(&rich(), style, &En));
    check("rich.ru.txt", &text(&rich(), style, &Ru));
}

#[test]
fn nothing_ended_well() {
    let mut it = plain();
    it.total.counts = Counts { failed: 10, ..Counts::default() };
    it.total.response = Distribution::default();
    let text = text(&it, Style::default(), &En);
    let ours = text.find("\n\n").expect("an empty line");
    assert!(text[..ours].ends_with("number of failed transactions: 10 (100.000%)"), "{text}");
}

#[test]
fn json_names_its_units() {
    let json = crate::json(&rich());
    for expected in [
        "\"window_ns\": 9600000000",
        "\"p99_ns\": 615000",
        "\"p999_ns\": null",
        "\"time_ns\": 10000000000",
        "\"schedule\": \"line(1,200,200s)\"",
        "\"arrivals\": \"even\"",
        "\"class\": \"unknown\"",
        "\"valid\": false",
        "\"kind\": \"saturated\"",
    ] {
        assert!(json.contains(expected), "{expected} in {json}");
    }
}

/// What is printed behind the label.
#[track_caller]
fn line(it: &Summary, label: &str) -> String {
    let mut out = String::new();
    ours::lines(&mut out, it, &En);
    let after = out
        .lines()
        .skip_while(|line| !line.starts_with(label))
        .take_while(|line| line.starts_with(label) || line.starts_with("    "));
    after.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn verdicts_name_what_was_not_answered() {
    let mut it = plain();
    assert_eq!(line(&it, "verdict"), "verdict valid");
    let (from, to) = (Nanos::from_millis(2_200), Nanos::from_secs(6));
    it.validity.doubts =
        vec![Doubt::FewSamples { count: 40 }, Doubt::Outage { count: 1, lasting: to - from, from, to }];
    let expected = "verdict valid with doubts: nothing succeeded for 3.80 s (from 2.20 s to 6.00 s)";
    assert_eq!(line(&it, "verdict"), expected);
    assert!(!line(&it, "note").contains("nothing succeeded"), "it is said once");
    // Without a success it is no measurement, whatever else is right.
    it.total.counts = Counts { failed: 40, ..Counts::default() };
    it.validity.doubts = vec![Doubt::NothingOk];
    it.failures = vec![Failure {
        code: "42601".to_owned(),
        name: Some("syntax_error"),
        class: FailureClass::Failed,
        count: 40,
        message: None,
    }];
    let failed = "verdict FAILED: no transaction succeeded: 42601";
    assert_eq!(line(&it, "verdict"), format!("{failed} syntax_error"));
    it.failures[0].message = Some("syntax error at or near \"SELEC\u{1b}[2J\"".to_owned());
    assert_eq!(line(&it, "verdict"), format!("{failed} syntax error at or near \"SELEC\\u{{1b}}[2J\""));
}

#[test]
fn times_of_arrivals_without_an_answer_are_no_figures() {
    let mut it = plain();
    it.total.response = Distribution {
        count: 1_977,
        unanswered: Some(Unanswered {
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
    assert_eq!(line(&it, "response time"), response);
    assert!(
        text(&it, Style::default(), &En).contains("latency average = 2.000 ms (of answered transactions)")
    );
}
