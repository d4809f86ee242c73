//! Findings on the sessions that caused the errors in PostgreSQL's log

use super::*;
use crate::fixture::trial::service;
use model::EventKind::{self, Deadlock, Error, SlowStatement, TooManyConnections};
use model::finding::{LoggedErrors, SessionOrigin};
use model::plan::Transport;

/// Errors of a trial, as text of kind, origin and count.
fn origins(experiment: &Experiment, run: &TestRun) -> Vec<String> {
    let origins_of = |finding: Finding| match finding {
        Finding::Circumstance { circumstance: Circumstance::ErrorOrigins { errors }, .. } => Some(errors),
        _ => None,
    };
    let line = |LoggedErrors { kind, origin, lines }: LoggedErrors| {
        let origin = match origin {
            SessionOrigin::Node { node } => node,
            SessionOrigin::Other { application, client } => format!("{application} at {client}"),
            other => format!("{other:?}"),
        };
        format!("{kind:?} {origin} {lines}")
    };
    findings(experiment, &[run.facts(experiment)])
        .into_iter()
        .filter_map(origins_of)
        .flatten()
        .map(line)
        .collect()
}

#[test]
fn names_the_origin_of_logged_errors() {
    let load = ("pgdyno load", "127.0.0.1");
    for (word, behind_service, session, expected) in [
        ("pooled", false, load, "pooler"),
        ("odyssey", false, load, "pooler"),
        ("haproxy", false, load, "balancer"),
        ("direct", false, load, "Direct"),
        ("unix", false, ("pgdyno load", "[local]"), "Direct"),
        // The pooler's own login.
        ("pooled", false, ("[unknown]", "127.0.0.1"), "pooler"),
        ("pooled", false, ("pgdyno monitor", "127.0.0.1"), "Own"),
        ("pooled", false, ("pgdyno", "[local]"), "Own"),
        // The pooler connects to PostgreSQL over TCP.
        ("pooled", false, ("pgdyno load", "[local]"), "Direct"),
        ("pooled", false, ("[unknown]", "[local]"), "[unknown] at [local]"),
        ("pooled", false, ("psql", "127.0.0.1"), "psql at 127.0.0.1"),
        ("direct", false, ("psql", "[local]"), "psql at [local]"),
        ("direct", true, ("PostgreSQL JDBC Driver", "127.0.0.1"), "service"),
        ("pooled", true, ("PostgreSQL JDBC Driver", "127.0.0.1"), "pooler"),
    ] {
        let mut experiment = experiment(&[word], None);
        if behind_service {
            experiment.cells[0].setup.stack.nodes.insert(0, service());
        }
        let run = TestRun::new(0, 0).logs_session("postgres", Deadlock, session);
        assert_eq!(origins(&experiment, &run), [format!("Deadlock {expected} 1")], "{word} {session:?}");
    }
    let mut local = experiment(&["pooled"], None);
    local.cells[0].setup.stack.nodes[1].transport = Transport::Unix;
    let run = TestRun::new(0, 0).logs_session("postgres", Deadlock, ("pgdyno load", "[local]"));
    assert_eq!(origins(&local, &run), ["Deadlock pooler 1"]);
}

#[test]
fn counts_logged_errors_by_kind_and_origin() {
    let (load, monitor) = (("pgdyno load", "127.0.0.1"), ("pgdyno monitor", "127.0.0.1"));
    let log = |run: TestRun, kind: EventKind, session| run.logs_session("postgres", kind, session);
    let run = log(log(TestRun::new(0, 0), Error, monitor), Error, load);
    let run = log(log(log(run, Error, load), TooManyConnections, load), Deadlock, load);
    // The pooler's log repeats a message; one message is not an error; one log does not name sessions.
    let run = run.logs("pooler", Deadlock, &["ERROR 40P01 deadlock detected"]);
    let run = log(run, SlowStatement, load).logs("postgres", Error, &["an error"; 3]);
    let expected = [
        "Deadlock pooler 1",
        "TooManyConnections pooler 1",
        "Error Unknown 3",
        "Error pooler 2",
        "Error Own 1",
    ];
    assert_eq!(origins(&experiment(&["pooled"], None), &run), expected);
    let unknown = TestRun::new(0, 0).logs("postgres", Error, &["an error"; 3]);
    assert_eq!(origins(&experiment(&["pooled"], None), &unknown), [""; 0]);
}
