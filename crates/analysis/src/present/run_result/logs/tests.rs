use super::*;
use crate::fixture::trial::{TestRun, experiment};
use model::Nanos;

fn group(statement: &str, count: u64, second: u64) -> DeadlockGroup {
    DeadlockGroup {
        node: "postgres".to_owned(),
        statements: vec![statement.to_owned(); 2],
        locks: vec![],
        relations: vec![],
        tuple: None,
        count,
        first: Nanos::from_secs(second),
    }
}

#[test]
fn sums_deadlocks_over_trials() {
    let experiment = experiment(&["direct", "pooled"], None);
    let runs = [
        TestRun::new(1, 0).deadlocks(vec![group("a", 1, 5)]),
        TestRun::new(1, 1).deadlocks(vec![group("b", 3, 2), group("a", 1, 1)]),
        TestRun::new(1, 2).deadlocks(vec![group("a", 4, 7)]),
        TestRun::new(0, 0),
    ];
    let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
    let shown: Vec<_> = logs(&facts)
        .into_iter()
        .flat_map(|log| log.deadlocks.into_iter().map(move |it| (log.cell, it)))
        .map(|(cell, CellDeadlocks { group, first_repetition })| {
            let second = group.first.0 / 1_000_000_000;
            (cell, group.statements[0].clone(), group.count, first_repetition, second)
        })
        .collect();
    assert_eq!(shown, [(1, "a".to_owned(), 6, 0, 5), (1, "b".to_owned(), 3, 1, 2)]);
}

#[test]
fn counts_slow_statements_of_cells_with_threshold() {
    let mut experiment = experiment(&["direct", "pooled"], None);
    let Some(NodeKind::Postgres(postgres)) =
        experiment.cells[1].setup.stack.nodes.last_mut().map(|it| &mut it.kind)
    else {
        unreachable!("the last node is PostgreSQL")
    };
    postgres.settings = vec![("log_min_duration_statement".to_owned(), "100ms".to_owned())];
    let slow = |run: TestRun, node: &str, texts: &[&str]| run.logs(node, EventKind::SlowStatement, texts);
    let run = |cell, repetition| {
        let run = slow(
            TestRun::new(cell, repetition),
            "postgres",
            &[
                "duration: 150.000 ms statement: a",
                "duration: 250.000 ms execute x: a",
                "duration: 900.000 ms execute <unnamed>: b",
            ],
        );
        let run = slow(run, "postgres", &["duration: 999.000 ms bind x: a", "5 more within a second"]);
        let run = slow(run, "service", &["duration: 999.000 ms statement: of the service"]);
        slow(run, "postgres", &["duration: 999.000 ms statement: own"])
            .of_session(("pgdyno monitor", "[local]"))
    };
    let runs = [run(0, 0), run(1, 0), run(1, 1)];
    let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
    let found = logs(&facts);
    assert_eq!(found[0].slow, None, "the first cell has no threshold");
    let slow = found[1].slow.as_ref().expect("the setting is active");
    // 16 statements in 2 trials of 10,000 transactions.
    assert_eq!(
        (slow.threshold.as_str(), slow.count, slow.unknown, slow.per_thousand),
        ("100ms", 16, 10, Some(0.8))
    );
    assert_eq!(slow.max, Some(Nanos::from_millis(900)));
    let shown: Vec<_> = slow
        .statements
        .iter()
        .map(|it| (&*it.text, it.count, it.mean.0 / 1_000_000, it.max.0 / 1_000_000))
        .collect();
    assert_eq!(shown, [("a", 4, 200, 250), ("b", 2, 900, 900)]);
}

#[test]
fn threshold_that_is_off_gives_no_slow_statements() {
    for (value, expected) in [("0", Some(0)), ("1s", Some(0)), ("-1", None)] {
        let mut experiment = experiment(&["direct"], None);
        let Some(NodeKind::Postgres(postgres)) =
            experiment.cells[0].setup.stack.nodes.last_mut().map(|it| &mut it.kind)
        else {
            unreachable!("the last node is PostgreSQL")
        };
        postgres.settings = vec![("log_min_duration_statement".to_owned(), value.to_owned())];
        let run = TestRun::new(0, 0);
        let found = logs(&[run.facts(&experiment)]);
        assert_eq!(found.first().and_then(|it| it.slow.as_ref()).map(|it| it.count), expected, "{value}");
    }
}

#[test]
fn groups_messages_by_node_kind_and_text() {
    let experiment = experiment(&["pooled"], None);
    let (error, fatal, other) = (EventKind::Error, EventKind::Fatal, EventKind::Other);
    let runs = [
        TestRun::new(0, 0)
            .logs(
                "service",
                error,
                &["item 5 of 10 failed", "item 77 of 1 failed", "12 more within a second"],
            )
            .logs("service", other, &["warned"; 20])
            .logs("postgres", EventKind::Deadlock, &["deadlock detected"])
            .logs("postgres", EventKind::SlowStatement, &["duration: 1.000 ms statement: a"])
            .logs("postgres", EventKind::Lifecycle, &["ready"])
            .logs("service", EventKind::SlowStatement, &["slow query: 0.3 sec, a", "slow query: 0.45 sec, a"])
            .logs("generator", error, &["of the generator"]),
        TestRun::new(0, 1).logs("service", error, &["item 9 of 9 failed"]).logs("postgres", fatal, &["gone"]),
    ];
    let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
    let time = |it: LogTime| format!("{}:{}", it.repetition, it.at.0 / 1_000_000);
    let shown: Vec<String> = logs(&facts)[0]
        .messages
        .iter()
        .map(|message| {
            let LogMessage { node, kind, text, count, first, last, .. } = message;
            let text = text.as_deref().unwrap_or("-");
            format!("{node} {kind:?} {text} {count} {} {}", time(*first), time(*last))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "postgres Fatal gone 1 1:3000 1:3000",
            "service Error - 12 0:3002 0:3002",
            "service Error item 5 of 10 failed 3 0:3000 1:3000",
            "service SlowStatement slow query: 0.3 sec, a 2 0:3000 0:3001",
            "service Other warned 20 0:3000 0:3019",
        ]
    );
}
