//! Facts: round trip, older formats, and errors for unreadable ones

use crate::invent::{Describe, TestDirectory, end, header, outcome, read_all, trial};
use model::advice::IndexBuild;
use model::copied_data::{CopiedData, CopiedTable, DataOrigin, SampledRows};
use model::explain::Plans;
use model::fact::Fact;
use model::fault_injection::{FaultInjection, RejoinRecord};
use model::feed_coverage::FeedCoverage;
use model::freshness::Freshness;
use model::matrix::UnappliedLimit;
use model::message;
use model::note::{Note, OmittedFact};
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict};
use model::plan::{GENERATOR, LoadScale};
use model::search::{CellSuspects, Limit, SearchStep, StepPurpose, Suspect};
use model::server_log::DeadlockGroup;
use model::stop::StopEvent;
use model::table_sizes::{TableSize, TableSizes};
use model::target::{ServerIdentity, TargetState};
use model::{AgentPart, Nanos, Outage, PerSecond, ReplayFigures, StepFailure};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use store::{FactRecord, Run, RunStatus, TrialId};

/// One fact of each kind, in the order of [`Fact::KINDS`].
fn samples() -> Vec<Fact> {
    let limit = Limit::Cpu { node: "postgres".to_owned() };
    let server = ServerIdentity { system: None, major_version: 17, database: "shop".to_owned() };
    let rejoin = RejoinRecord {
        node: "postgres".to_owned(),
        at: Nanos::from_secs(5),
        elapsed: Nanos::from_secs(2),
        rewound: true,
    };
    vec![
        Fact::Command("pgdyno run 'my shop.yaml'".to_owned()),
        Fact::Suspects(CellSuspects { cell: 1, suspects: vec![Suspect::new(limit, None)] }),
        Fact::SearchStep(SearchStep {
            scale: LoadScale::Rate,
            level: 1200.5,
            purpose: StepPurpose::Ramp,
            window: Nanos::from_secs(10),
            perturbation: None,
            round: 2,
        }),
        Fact::TargetState(TargetState { server, data: None }),
        Fact::CopiedData(CopiedData {
            origin: DataOrigin::Template { database: "golden".to_owned() },
            sampled: vec![("shop.goods".to_owned(), SampledRows { kept: 10, total: 100 })],
            tables: vec![CopiedTable { table: "shop.goods".to_owned(), bytes: 8192, rows: None }],
        }),
        Fact::FeedCoverage(FeedCoverage {
            feed: "books".to_owned(),
            rows: 5000,
            distinct: 4534,
            repeats_after: None,
            table: None,
        }),
        Fact::IndexBuild(IndexBuild {
            ddl: "CREATE INDEX ON t (a)".to_owned(),
            elapsed: Nanos::from_secs(3),
            bytes: 8192,
        }),
        Fact::UnappliedLimit(UnappliedLimit {
            node: GENERATOR.to_owned(),
            limit: "cpu".to_owned(),
            reason: message!("limits-no-controller", name = "cpu"),
        }),
        Fact::MonitoringCpu(0.0163),
        Fact::StopRule(StopEvent {
            rule: "quantile(99, 1s, 10)".to_owned(),
            cause_second: 3,
            at_second: 12,
            rate_at_cause: PerSecond(99.5),
            tank_rc: Some(22),
        }),
        Fact::Objective(ObjectiveResult {
            objective: "p99 < 100ms".to_owned(),
            verdict: ObjectiveVerdict::Met,
            unit: ObjectiveUnit::Seconds,
            measured: Some(0.008),
            is_lower_bound: true,
            ended_early: false,
            bound: 0.1,
            samples: 7456,
            too_few: None,
        }),
        Fact::Outages(vec![Outage { from: Nanos(1), to: Nanos(2), ongoing: true, failing: false }]),
        Fact::FaultInjection(Box::new(FaultInjection { rejoins: vec![rejoin], ..Default::default() })),
        Fact::Freshness(Freshness { bound: Nanos::from_secs(1), acknowledged: 7, ..Default::default() }),
        Fact::TableSizes(vec![TableSizes {
            table: "book.tickets".to_owned(),
            before: TableSize { heap: 8192, indexes: 16_384, dead_rows: 0 },
            after: TableSize { heap: 16_384, indexes: 16_384, dead_rows: 7 },
        }]),
        Fact::Deadlocks(vec![DeadlockGroup {
            node: "postgres".to_owned(),
            statements: vec!["DELETE FROM t".to_owned(), "UPDATE t SET a = ?".to_owned()],
            locks: vec!["ShareLock on transaction".to_owned()],
            relations: vec!["t".to_owned()],
            tuple: Some("(0,1)".to_owned()),
            count: 2,
            first: Nanos::from_secs(7),
        }]),
        Fact::Agents(vec![AgentPart {
            agent: "a1".to_owned(),
            host: "load-1".to_owned(),
            threads: 2,
            ok: 99,
            arrivals: 100,
            p99: Some(Nanos::from_millis(5)),
            send_lag: Some(Nanos::from_micros(80)),
            busy: Some(0.25),
            jitter: None,
            clock_uncertainty: Some(Nanos(420)),
            late: Nanos::from_micros(300),
            lost: Some(message!("limits-no-controller", name = "cpu")),
        }]),
        Fact::Replay(vec![ReplayFigures {
            operation: 0,
            answers: 9,
            other_status: 1,
            failed: 1,
            succeeded: 0,
            sized: 8,
            smaller: 2,
            larger: 3,
            measured: 100,
            recorded: 120,
        }]),
        Fact::StepFailure(StepFailure {
            operation: "buy".to_owned(),
            command: 2,
            code: "HTTP 503".to_owned(),
            message: "closed".to_owned(),
            body: Some("come back tomorrow".to_owned()),
        }),
        Fact::Plans(Plans::default()),
        Fact::Reason(message!(
            "failure-nothing-succeeded",
            reason = message!("limits-no-controller", name = "cpu")
        )),
        Fact::Note(Note {
            subject: "postgres: pg_wait_sampling".into(),
            message: message!("limits-no-controller", name = "cpu"),
        }),
        Fact::Omitted(OmittedFact { kind: "plans".to_owned(), bytes: 17 << 20 }),
    ]
}

/// Writes a run whose only trial has these facts.
fn write(folder: &Path, facts: &[Fact]) -> PathBuf {
    let mut writer = store::create(folder, &header("facts")).expect("there is room");
    let id = writer.begin_trial(trial(0));
    facts.iter().for_each(|fact| writer.fact(Some(id), fact.clone()));
    writer.end_trial(id, end(RunStatus::Complete, None));
    assert_eq!(writer.error(), None);
    writer.finish(outcome(RunStatus::Complete)).expect("there is room")
}

fn change(path: &Path, sql: &str) {
    Connection::open(path)
        .and_then(|it| it.execute_batch(sql))
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

#[test]
fn facts_of_all_kinds_round_trip() {
    let folder = TestDirectory::new("fact-kinds");
    let facts = samples();
    assert_eq!(facts.iter().map(Fact::kind).collect::<Vec<_>>(), Fact::KINDS);
    let run = Run::open(&write(&folder.0, &facts)).expect("the file is a run");
    let trial = Some(TrialId(1));
    let expected: Vec<_> = facts.into_iter().map(|fact| FactRecord { trial, fact }).collect();
    assert_eq!(run.facts().expect("they can be read"), expected);
}

#[test]
fn names_file_kind_trial_and_reason_of_unreadable_fact() {
    let folder = TestDirectory::new("fact-unreadable");
    let step =
        samples().into_iter().find(|it| it.kind().name == "search_step").expect("there is a search step");
    for (sql, expected) in [
        ("UPDATE fact SET payload = '{'", "store-unreadable-fact(search_step, 1, x, EOF while parsing"),
        ("UPDATE fact SET payload = payload || '1'", "x, trailing characters"),
        ("UPDATE fact SET payload = '{}'", "x, missing field `scale`"),
        ("UPDATE fact SET payload = json_set(payload, '$.level', null)", "x, invalid type: null"),
        ("UPDATE fact SET payload = json_set(payload, '$.scale', 'far')", "x, unknown variant `far`"),
        (
            "UPDATE fact SET kind = 'step', trial = NULL",
            "store-unreadable-fact(step, none, x, store-fact-unknown-kind, 0.1.0)",
        ),
        ("UPDATE fact SET version = 2", "x, store-fact-version(2, 1)"),
        ("UPDATE fact SET version = 0", "x, store-fact-version(0, 1)"),
        ("UPDATE fact SET version = -1", "store-damaged(x, "),
        ("DROP TABLE fact", "store-attempt-failed(store-attempt-read(x), no such table: fact"),
    ] {
        let path = write(&folder.0, std::slice::from_ref(&step));
        change(&path, sql);
        let name = path.to_str().expect("the path is ASCII").to_owned();
        let error = read_all(&path).expect_err(sql).describe().replace(&name, "x");
        assert!(error.contains(expected), "{sql}: {error} instead of {expected}");
    }
}

/// A row of an SQLite file can hold at most 16 MiB.
#[test]
fn omits_an_overlong_fact() {
    let folder = TestDirectory::new("fact-long");
    let facts = [Fact::Command("x".repeat(17 << 20)), Fact::Command("y".to_owned())];
    let run = Run::open(&write(&folder.0, &facts)).expect("the file is a run");
    let trial = Some(TrialId(1));
    let [_, short] = facts;
    let omitted = Fact::Omitted(OmittedFact { kind: "command".to_owned(), bytes: (17 << 20) + 2 });
    assert_eq!(
        run.facts().expect("they can be read"),
        [omitted, short].map(|fact| FactRecord { trial, fact })
    );
}

/// Notes of a file before version 4, each with the kind of the fact that it stores.
fn legacy_notes() -> [(Option<u32>, &'static str, &'static str, Option<&'static str>); 22] {
    let step =
        r#"{"scale":"rate","level":15.0,"stage":"ramp","window_ns":3000000000,"nudge":null,"round":0}"#;
    let fired = r#"{"rule":"r","cause_second":1,"at_second":2,"rate_at_cause":9.5,"tank_rc":null}"#;
    let objective = r#"{"objective":"errors < 1%","verdict":"broken","unit":"share","measured":null,"bound":0.01,"at_least":true,"of":1}"#;
    let faults =
        r#"{"inflicted":[],"promoted":[],"rejoined":[],"readings":[],"verdict":null,"troubles":["x"]}"#;
    let freshness = r#"{"bound":1000,"acknowledged":1,"replicas":[],"in_turn":null}"#;
    let outages = r#"[{"from_ns":1,"to_ns":2,"unended":false,"failing":true}]"#;
    let plans = r#"{"statements":[],"tables":[],"tried":[],"untried":null}"#;
    let suspects = r#"{"cell":0,"suspects":[{"nudge":null,"limit":{"kind":"cpu","node":"postgres"}}]}"#;
    let target = r#"{"server":{"system":"7","major_version":15,"database":"d"},"data":null}"#;
    let replayed = r#"[{"operation":0,"answers":1,"other_status":0,"sized":1,"smaller":0,"larger":0,"measured":1,"recorded":1}]"#;
    let built = r#"{"ddl":"CREATE INDEX ON t (a)","took_ns":1,"bytes":8192}"#;
    let feed = r#"{"feed":"f","rows":1,"distinct":1,"repeats_after":null,"table":null}"#;
    [
        (None, "command", "pgdyno run shop.yaml", Some("command")),
        (None, "suspects", suspects, Some("suspects")),
        (Some(1), "step", step, Some("search_step")),
        (Some(1), "target", target, Some("target_state")),
        (Some(1), "feed", feed, Some("feed_coverage")),
        (Some(1), "built", built, Some("index_build")),
        (Some(1), "generator", "cpu is not limited: no controller", Some("unapplied_limit")),
        (Some(1), "monitoring", "0.0163", Some("monitoring_cpu")),
        (Some(1), "fired", fired, Some("stop_rule")),
        (Some(1), "objective", objective, Some("objective")),
        (Some(1), "outages", outages, Some("outages")),
        (Some(1), "ordeal", faults, Some("fault_injection")),
        (Some(1), "freshness", freshness, Some("freshness")),
        (Some(1), "replayed", replayed, Some("replay")),
        (Some(1), "plans", plans, Some("plans")),
        // Notes for people, some about operations whose names are subjects of facts.
        (Some(1), "growth", "public.t: 8192 bytes, then 16384, 0 dead", None),
        (Some(1), "postgres: pg_wait_sampling", "no right", None),
        (Some(1), "feed", "none of 5 transactions succeeded: 40001", None),
        (Some(1), "command", "none of 5 transactions succeeded", None),
        (Some(1), "generator", "none of 5 transactions succeeded", None),
        (Some(1), "plans", "left out: it is 17 MiB long", None),
        (Some(1), "search_step", "[1]", None),
    ]
}

/// Run file of version 3 with [`legacy_notes`].
fn write_legacy(folder: &Path) -> PathBuf {
    let path = write(folder, &[]);
    change(&path, "DROP TABLE fact; DROP VIEW nodes; PRAGMA user_version = 3");
    let connection = Connection::open(&path).expect("the file is a database");
    for (trial, subject, text, _) in legacy_notes() {
        let sql = "INSERT INTO note (trial, subject, text) VALUES (?, ?, ?)";
        connection.execute(sql, (trial, subject, text)).expect("there is room");
    }
    path
}

/// Kinds of facts that were never stored as notes.
const NEWER: [&str; 8] =
    ["reason", "step_failure", "note", "omitted", "table_sizes", "deadlocks", "copied_data", "agents"];

#[test]
fn reads_and_upgrades_facts_stored_as_notes() {
    let folder = TestDirectory::new("fact-legacy");
    let path = write_legacy(&folder.0);
    let facts = legacy_notes().into_iter().filter_map(|it| Some((it.0.map(TrialId), it.3?)));
    let facts: Vec<_> = facts.collect();
    assert_eq!(
        facts.iter().map(|it| it.1).collect::<Vec<_>>(),
        Fact::KINDS.iter().map(|it| it.name).filter(|it| !NEWER.contains(it)).collect::<Vec<_>>()
    );
    let notes: Vec<_> =
        legacy_notes().into_iter().filter(|it| it.3.is_none()).map(|it| (it.1, it.2)).collect();
    let read = || {
        let run = Run::open(&path).expect("the file is a run");
        let read = run.facts().expect("they can be read");
        let (texts, typed): (Vec<_>, Vec<_>) = read.iter().partition(|it| matches!(it.fact, Fact::Note(_)));
        assert_eq!(typed.iter().map(|it| (it.trial, it.fact.kind().name)).collect::<Vec<_>>(), facts);
        let texts = texts.iter().map(|record| match &record.fact {
            Fact::Note(note) => (note.subject.describe(), note.message.describe()),
            _ => unreachable!("the others are filtered out"),
        });
        let texts: Vec<_> = texts.collect();
        assert_eq!(texts.iter().map(|it| (&*it.0, &*it.1)).collect::<Vec<_>>(), notes);
        read
    };
    let before = read();
    let limit = UnappliedLimit {
        node: GENERATOR.to_owned(),
        limit: "cpu".to_owned(),
        reason: "no controller".into(),
    };
    assert!(before.iter().any(|it| it.fact == Fact::UnappliedLimit(limit.clone())), "{before:?}");
    let is_lower_bound = |it: &FactRecord| matches!(&it.fact, Fact::Objective(it) if it.is_lower_bound);
    assert!(before.iter().any(is_lower_bound), "{before:?}");
    // Resuming moves the facts into their table.
    store::resume(&path, 5)
        .and_then(|it| it.finish(outcome(RunStatus::Complete)))
        .expect("the run can be resumed");
    assert_eq!(read(), before);
    let connection = Connection::open(&path).expect("the file is a database");
    let count = |table| -> u32 {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect(table)
    };
    assert_eq!([count("fact"), count("note")], [(facts.len() + notes.len()) as u32, 0]);
    assert_eq!(count("nodes"), count("node"), "resuming adds the view");
}

#[test]
fn reports_unreadable_fact_of_older_file_and_leaves_it_unchanged() {
    let folder = TestDirectory::new("fact-legacy-damaged");
    let path = write_legacy(&folder.0);
    change(&path, "UPDATE note SET text = '{\"scale\":1}' WHERE subject = 'step'");
    let before = std::fs::read(&path).expect("the file exists");
    let expected = "store-unreadable-fact(search_step, 1,";
    let errors = [Run::open(&path).and_then(|it| it.facts()).map(drop), store::resume(&path, 5).map(drop)];
    for error in errors {
        let error = error.expect_err(expected).describe();
        assert!(error.starts_with(expected), "{error:?}");
    }
    assert_eq!(std::fs::read(&path).expect("the file exists"), before);
}
