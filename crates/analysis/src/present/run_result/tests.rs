use super::*;
use crate::fixture::trial::{TestRun, experiment, service};
use model::plan::{Limits, NodeKind, Operation, OperationKind, Replication, Setup, SyncMode};
use model::run_result::{OperationStep, TimePart};
use model::{
    AnswerSizes, Code, CommandCounts, CompactInterval, LatencyHistogram, Nanos, OperationSecond, Sample,
    SizeFigures, SizeUnit, StatementKind, StatementRows,
};

/// Operation with `count` transactions of these response and service times, in milliseconds.
fn operation(count: u64, response: u64, service: u64) -> OperationSecond {
    let times = |millis| {
        let mut histogram = LatencyHistogram::new();
        (0..count).for_each(|_| histogram.record(Nanos::from_millis(millis)));
        (&histogram).into()
    };
    OperationSecond { ok: count, response: times(response), service: times(service), ..Default::default() }
}

#[test]
fn counts_good_transactions_within_the_objective() {
    let mut setup = experiment(&["direct"], None).cells.remove(0).setup;
    setup.operations = ["read", "write"].map(|name| Operation::script(name, 1, "")).to_vec();
    let mut slow = operation(20, 90, 80);
    slow.failed.add(Code::SqlState(*b"40P01"), 4);
    slow.dropped = 6;
    let first = CompactInterval { scripts: vec![operation(80, 5, 4), slow], ..Default::default() };
    let late = OperationSecond { late: 10, ..operation(20, 30, 20) };
    let second = CompactInterval { scripts: vec![late, OperationSecond::default()], ..Default::default() };
    let parts = [&first, &second].map(|sum| TrialPart { sum, window: Nanos::from_secs(5) });
    let mut check = |objectives: &[&str], expected: [Option<f64>; 3]| {
        setup.objectives = objectives.iter().map(|&it| it.to_owned()).collect();
        let (total, each) = operation_results(&setup, &[], &parts).expect("there are two parts");
        let good = [&total, &each[0], &each[1]]
            .map(|operation| operation.goodput.map(|it| (it.0 * 1e6).round() / 1e6));
        assert_eq!(good, expected, "{objectives:?}");
        (total, each)
    };
    check(&[], [None; 3]);
    check(&["errors < 1%", "mean < 9ms"], [None; 3]);
    check(&["p99 < 50ms"], [Some(9.166_667), Some(9.0), Some(0.0)]);
    check(&["p99 < 50ms", "read: max < 9ms"], [Some(9.166_667), Some(7.2), Some(0.0)]);
    let (total, each) = check(&["write: p50 < 100ms"], [None, None, Some(2.0)]);
    assert_eq!((total.offered.0, total.delivered.0, total.count, total.dropped), (13.0, 11.0, 120, 6));
    assert_eq!((each[1].failures[0].code.as_str(), each[1].failures[0].count), ("40P01", 4));
    assert!(total.response.p50.is_some_and(|it| it.0.abs_diff(5_000_000) < 5_000), "{:?}", total.response);
    assert_eq!(each[1].response.p90, None, "two beyond");
    assert_eq!(operation_results(&setup, &[], &[]), None);
}

#[test]
fn steps_show_where_an_operation_fails() {
    let mut setup = experiment(&["direct"], None).cells.remove(0).setup;
    setup.operations = vec![Operation::script("buy", 1, "")];
    let names = [["", "login", "pay", "receipt"].map(str::to_owned).to_vec()];
    let step = |count, code: Option<(Code, u64)>| {
        let mut counts =
            CommandCounts { service: operation(count, 1, 7).service, ..CommandCounts::default() };
        code.into_iter().for_each(|(code, n)| counts.failed.add(code, n));
        counts
    };
    // One request of `pay` has no response, so the longest request is unknown.
    let statements = vec![step(0, None), step(40, None), step(36, Some((Code::RESET, 4))), step(0, None)];
    let sum = CompactInterval {
        scripts: vec![OperationSecond { statements, ..operation(36, 9, 9) }],
        ..Default::default()
    };
    let part = TrialPart { sum: &sum, window: Nanos::from_secs(5) };
    let lines = |setup: &Setup| {
        let (_, each) = operation_results(setup, &names, &[part]).expect("there is a part");
        let line = |step: &OperationStep| {
            let max = step.response.max.map(|it| it.0 / 1_000_000);
            let longer = step.response.unanswered.map(|it| it.longer_than.0 / 1_000_000_000);
            let code = step.failures.first().map_or("-", |it| it.code.as_str());
            let OperationStep { number, command, name, ok, failed, not_reached, .. } = step;
            format!("{number} {command} {name} {ok}+{failed} {not_reached:?} max {max:?} >{longer:?} {code}")
        };
        each[0].steps.iter().map(line).collect::<Vec<_>>()
    };
    let expected = [
        "1 1 login 40+0 None max Some(7) >None -",
        "2 2 pay 36+4 None max None >Some(5) net 104",
        "3 3 receipt 0+0 None max None >None -",
    ];
    assert_eq!(lines(&setup), expected, "a branch of a script may skip a step");
    setup.operations[0].kind = OperationKind::Http(Vec::new());
    let reached = ["Some(0)", "Some(0)", "Some(4)"];
    let expected: Vec<String> =
        expected.iter().zip(reached).map(|(it, n)| it.replacen("None", n, 1)).collect();
    assert_eq!(lines(&setup), expected, "every failure ends the requests");
}

#[test]
fn sizes_of_answers_are_those_of_the_operation() {
    let mut setup = experiment(&["direct"], None).cells.remove(0).setup;
    setup.operations = ["read", "write", "sql"].map(|name| Operation::script(name, 1, "")).to_vec();
    // Each tuple has the operation, the request, the number of responses, and their size in bytes.
    let second = |all: &[(u16, u16, u64, u64)]| {
        let answers = all.iter().map(|&(operation, command, count, bytes)| {
            let mut answer = AnswerSizes::new((operation, command));
            (0..count).for_each(|_| answer.sizes.record(bytes));
            answer
        });
        CompactInterval { answers: answers.collect(), ..Default::default() }
    };
    let sum = [second(&[(0, 0, 600, 10), (0, 1, 399, 10), (1, 0, 19, 12)]), second(&[(0, 1, 1, 15)])];
    let parts: Vec<TrialPart<'_>> =
        sum.iter().map(|sum| TrialPart { sum, window: Nanos::from_secs(5) }).collect();
    let (total, each) = operation_results(&setup, &[], &parts).expect("there are two parts");
    let read = SizeFigures { count: 1000, mean: 10.005, p50: Some(10), p99: Some(10), max: 15 };
    assert_eq!(each[0].sizes, Some(read));
    assert_eq!(each[1].sizes, Some(SizeFigures { count: 19, mean: 12.0, p50: None, p99: None, max: 12 }));
    assert_eq!(each[2].sizes, None);
    assert_eq!(total.sizes.map(|it| (it.count, it.max)), Some((1019, 15)));
}

#[test]
fn rows_of_statements_are_those_of_the_operation() {
    let mut setup = experiment(&["direct"], None).cells.remove(0).setup;
    setup.operations = ["read", "write"].map(|name| Operation::script(name, 1, "")).to_vec();
    let mut answers = AnswerSizes::new((1, 2));
    let update = StatementKind::Update;
    (0..1000).for_each(|n| answers.record(SizeUnit::Rows(update), u64::from(n % 4 == 0)));
    let sum = CompactInterval { answers: vec![answers], ..Default::default() };
    let part = TrialPart { sum: &sum, window: Nanos::from_secs(5) };
    let (total, each) = operation_results(&setup, &[], &[part, part]).expect("there are two parts");
    assert!(total.rows.is_empty() && each[0].rows.is_empty());
    let figures = SizeFigures { count: 2000, mean: 0.25, p50: Some(0), p99: Some(1), max: 1 };
    let rows = StatementRows { operation: 1, command: 2, statement: update, empty: 0.75, rows: figures };
    assert_eq!(each[1].rows, [rows]);
    // Rows are not bytes.
    assert_eq!((total.sizes, each[1].sizes), (None, None));
}

#[test]
fn attributes_time_to_the_node_that_holds_transactions() {
    let experiment = experiment(&["direct", "pooled"], None);
    let run = TestRun::new(1, 0)
        .gauge("pooler", "pool_servers_active", "app", 4.0)
        .gauge("pooler", "pool_clients_waiting", "app", 5.0)
        .gauge("postgres", "pg_sessions", "active", 3.0);
    let facts = run.facts(&experiment);
    // 1,000 transactions per second, each 10 ms in flight: ten at a time, three of them in PostgreSQL.
    let mut late = TailLoad::default();
    let scripts = vec![operation(1000, 12, 10)];
    late.add(&CompactInterval { to: Nanos::from_secs(1), scripts, ..Default::default() });
    let all = hops(&experiment.cells[1].setup, Some(2.0), &[TrialPassage { facts: &facts, late }]);
    let hop = |place: usize| {
        let hop_metrics = &all[place];
        (
            hop_metrics.node.as_str(),
            hop_metrics.cpu_limit,
            hop_metrics.busy,
            hop_metrics.queue,
            hop_metrics.time.map(|it| it.0 / 1_000),
        )
    };
    assert_eq!(hop(0), ("generator", Some(2.0), None, Some(0.0), Some(2_000)));
    assert_eq!(hop(1), ("pooler", Some(0.1), Some(4.0), Some(5.0), Some(7_000)));
    assert_eq!(hop(2), ("postgres", Some(1.0), Some(3.0), None, Some(3_000)));
    // If more transactions fail than succeed, most in-flight transactions are failing ones.
    let mut times = |failed, unknown| {
        let mut script = OperationSecond::default();
        script.failed.add(Code::SqlState(*b"40P01"), failed);
        script.unknown.add(Code::RESET, unknown);
        late.add(&CompactInterval { scripts: vec![script], ..Default::default() });
        let all = hops(&experiment.cells[1].setup, Some(2.0), &[TrialPassage { facts: &facts, late }]);
        all.iter().map(|hop| hop.time.map(|it| it.0 / 1_000)).collect::<Vec<_>>()
    };
    assert_eq!(times(500, 499), [Some(2_000), Some(7_000), Some(3_000)]);
    assert_eq!(times(0, 1), [Some(2_000), None, None]);
    let none = hops(&experiment.cells[1].setup, None, &[]);
    assert_eq!(none.iter().map(|it| (it.busy, it.time)).collect::<Vec<_>>(), [(None, None); 3]);
}

#[test]
fn reports_processors_of_replicas() {
    let mut setup = experiment(&["direct"], None).cells[0].setup.clone();
    let passage = |facts| TrialPassage { facts, late: TailLoad::default() };
    assert_eq!(replicas(&setup, Some(2.0), &[]), []);
    let limits = Limits { cpu: Some(0.5), ..Limits::default() };
    setup.stack.replication = Some(Replication { limits, ..Replication::with_defaults(2, SyncMode::Async) });
    let run = |used| {
        TestRun::new(0, 0).counter("postgres-2", "process_cpu_user", "", used).counter(
            "postgres-2",
            "process_cpu_system",
            "",
            0.1,
        )
    };
    let (runs, experiment) = ([run(0.2), run(0.4), run(0.3)], experiment(&["direct"], None));
    let facts = runs.each_ref().map(|it| it.facts(&experiment));
    let all = replicas(&setup, Some(2.0), &facts.each_ref().map(passage));
    let found: Vec<_> = all.iter().map(|it| (it.node.as_str(), it.cpu.map(rounded), it.cpu_limit)).collect();
    assert_eq!(found, [("postgres-2", Some(0.4), Some(0.5)), ("postgres-3", None, Some(0.5))]);
}

/// The parts add up to the mean response time of 57 ms, and what no sample explains is a part too.
#[test]
fn parts_of_the_time_add_up_to_the_response_time() {
    let experiment = experiment(&["direct", "pooled"], None);
    let check = |active: f64, waiting: f64, idle: f64, expected: &[(&str, &str, u64)]| {
        let run = TestRun::new(0, 0)
            .gauge("postgres", "pg_sessions", "active", active)
            .gauge("postgres", "pg_sessions", "idle in transaction", idle)
            .gauge("postgres", "pg_active_waits", "running", active - waiting)
            .gauge("postgres", "pg_active_waits", "Lock/transactionid", waiting);
        let facts = run.facts(&experiment);
        let mut late = TailLoad::default();
        let scripts = vec![operation(1000, 57, 55)];
        late.add(&CompactInterval { to: Nanos::from_secs(1), scripts, ..Default::default() });
        let setup = &experiment.cells[0].setup;
        let passages = [TrialPassage { facts: &facts, late }];
        let hops = hops(setup, Some(2.0), &passages);
        let parts = time_parts(setup, &passages, &hops);
        let total: f64 = parts.iter().map(|it| it.time.as_secs_f64()).sum();
        assert!((total - 0.057).abs() < 1e-6, "{parts:?}");
        let text = |part: &TimePart| {
            let node = part.node.clone().unwrap_or_default();
            let activity = part.activity.as_ref().map_or(String::new(), |it| format!("{it:?}"));
            (node, activity, (part.time.as_secs_f64() * 1e3).round() as u64)
        };
        let expected: Vec<_> = expected.iter().map(|it| (it.0.to_owned(), it.1.to_owned(), it.2)).collect();
        assert_eq!(parts.iter().map(text).collect::<Vec<_>>(), expected);
    };
    let wait = "Waiting { event: \"Lock/transactionid\" }";
    check(
        20.0,
        15.0,
        10.0,
        &[
            ("generator", "", 2),
            ("postgres", "Running", 5),
            ("postgres", wait, 15),
            ("postgres", "IdleInTransaction", 10),
            ("", "", 25),
        ],
    );
    // Ninety-six sessions at work would be 96 ms per transaction of 57 ms: sessions of others, so the time is unknown.
    check(96.0, 0.0, 0.0, &[("generator", "", 2), ("", "", 55)]);
}

#[test]
fn adds_up_processors_of_copies() {
    let mut experiment = experiment(&["direct"], None);
    let mut service = service();
    if let NodeKind::Service(settings) = &mut service.kind {
        settings.copies = 2;
    }
    experiment.cells[0].setup.stack.nodes.insert(0, service);
    let used = |run: TestRun, node, used| run.counter(node, "cgroup_cpu", "", used);
    let one = used(TestRun::new(0, 0), "service-1", 0.25);
    for (run, expected) in [(used(one.clone(), "service-2", 0.1), Some(0.35)), (one, None)] {
        let facts = run.facts(&experiment);
        let passage = TrialPassage { facts: &facts, late: TailLoad::default() };
        let hops = hops(&experiment.cells[0].setup, Some(2.0), &[passage]);
        let service = &hops[1];
        let found = (service.node.as_str(), service.cpu.map(rounded), service.cpu_limit);
        assert_eq!(found, ("service", expected, Some(0.6)));
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Each trial has another slow statement, so that both have a median share above one half.
#[test]
fn shares_of_statements_have_a_sum_of_at_most_one() {
    let trial = |text: &'static str| {
        let mut all = Statements::default();
        let mut push = |second, series: &'static str, label: &'static str, value: f64| {
            let at = Nanos::from_secs(second);
            all.push(&Sample { at, node: "p".into(), series: series.into(), label: label.into(), value });
        };
        push(0, "pg_statement_text", text, 0.0);
        for (second, calls, time) in [(0, 0.0, 0.0), (1, 10.0, 8.0)] {
            push(second, "pg_statement_calls", &text[..1], calls);
            push(second, "pg_statement_time", &text[..1], time);
            push(second, "pg_statement_time", "", 1.25 * time);
        }
        all
    };
    let found = statements(&[&trial("7 SELECT 1"), &trial("8 SELECT 2")]);
    let shares: Vec<f64> = found.iter().map(|statement| statement.share).collect();
    assert_eq!(shares, [0.5, 0.5]);
}

#[test]
fn counts_statements_from_the_start_of_the_window() {
    let mut all = Statements::default();
    let mut push = |second, series: &'static str, label: &'static str, value: f64| {
        let at = Nanos::from_secs(second);
        all.push(&Sample { at, node: "p".into(), series: series.into(), label: label.into(), value });
    };
    push(0, "pg_statement_text", "7 SELECT $1", 0.0);
    push(0, "pg_statement_text", "8 COMMIT", 0.0);
    for (second, calls, time) in [(0, 5.0, 1.0), (0, 100.0, 10.0), (1, 150.0, 10.5), (2, 300.0, 12.0)] {
        push(second, "pg_statement_calls", "7", calls);
        push(second, "pg_statement_time", "7", time);
        push(second, "pg_statement_rows", "7", 2.0 * calls);
        push(second, "pg_statement_time", "", 3.0 * time);
        push(second, "pg_statement_calls", "8", 50.0);
    }
    let found = statements(&[&all]);
    assert_eq!(found.len(), 1, "statements without calls are left out");
    let statement = &found[0];
    assert_eq!(
        (&*statement.text, statement.calls, statement.total, statement.rows),
        ("SELECT $1", 200.0, 2.0, 400.0)
    );
    assert_eq!((statement.mean, statement.share), (0.01, 1.0 / 3.0));
    assert_eq!(statement.query_ids, [7]);
}
