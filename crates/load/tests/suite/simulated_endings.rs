//! Sessions whose statements were given up: a server never has more sessions than there are clients

use load::ledger::KeyedScript;
use load::script::{Mode, ScriptSource, parse};
use load::sim::{self, ServiceTime, SessionCounts, SimulatedSystem, drive_counting};
use load::{Action, ConnId, LoadPlan, PostgresEndpoint, Shard, Workload};
use model::plan::SqlTarget;
use model::{Code, Curve, Nanos, Outcome, PerSecond, Record, Schedule, Spacing};
use std::sync::Arc;
use wire::pg::{Login, Transport};

const CLIENTS: u32 = 4;
const SELECT: &str = "SELECT pg_sleep(20);\n";

/// Plan in which every statement takes 20 s and times out after 100 ms. The window is 3 s long.
fn plan(script: &str, mode: Mode) -> LoadPlan {
    let program = parse(&[ScriptSource::new("test", script)], mode, false, &KeyedScript::VARIABLE_NAMES)
        .expect("the script is valid");
    LoadPlan {
        duration: Some(Nanos::from_secs(3)),
        backlog_max: 10_000,
        drain: Nanos::from_millis(500),
        connecting_max: 64,
        timeout: Some(Nanos::from_millis(100)),
        ..sim::plan(program, mode, CLIENTS, 1, sim::CLOSED)
    }
}

fn server() -> PostgresEndpoint {
    let mut login = Login::new("me", "db");
    login.send_cancel = true;
    PostgresEndpoint::new(Arc::new(login), Transport::Unix)
}

/// Endpoint of a pooler, where a cancel request could affect another session.
fn pooler() -> PostgresEndpoint {
    PostgresEndpoint::new(Arc::new(Login::new("me", "db")), Transport::Unix)
}

fn workload(plan: LoadPlan) -> Workload {
    Workload::with_services(plan, Some(server()), Vec::new())
}

fn run(work: Workload, cancels: bool) -> (Vec<Record>, SessionCounts) {
    let world = SimulatedSystem {
        servers: 1000,
        service: ServiceTime::Constant(Nanos::from_secs(20)),
        delay: Nanos::from_micros(50),
        cancels,
        ..SimulatedSystem::default()
    };
    let (mut shards, counts) = drive_counting(vec![Shard::new(Arc::new(work), 0, Vec::new())], &world);
    (shards.pop().expect("there is one shard").recorder, counts)
}

/// Checks that there are never more than `most` sessions, that none is left at the end, and that clients continue.
#[track_caller]
fn cancelled(name: &str, work: Workload, most: u32) {
    let (records, counts) = run(work, true);
    assert!(counts.max <= most as usize, "{name}: {counts:?}");
    assert_eq!(counts.remaining, 0, "{name}: abandoned statements end on the server");
    let given_up = records.iter().filter(|it| it.outcome == Outcome::Unknown(Code::TIMED_OUT)).count();
    assert!(given_up > 3 * CLIENTS as usize, "{name}: {given_up} given up of {}", records.len());
}

#[test]
fn cancels_timed_out_statements() {
    for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
        cancelled("closed", workload(plan(SELECT, mode)), CLIENTS);
    }
    let select = || plan(SELECT, Mode::Simple);
    cancelled("-C", workload(LoadPlan { reconnect: true, ..select() }), CLIENTS);
    let within = LoadPlan { max_tries: 0, ..plan("BEGIN;\nSELECT 1;\nEND;\n", Mode::Simple) };
    cancelled("a transaction block", workload(within), CLIENTS);
    let pipeline = "\\startpipeline\nSELECT 1;\n\\syncpipeline\nSELECT 2;\n\\endpipeline\n";
    cancelled("a pipeline", workload(plan(pipeline, Mode::Extended)), CLIENTS);
    let rate = PerSecond(100.0);
    let curve = Curve::Ramp { from: rate, to: rate, duration: Nanos::from_secs(3) };
    let schedule = Schedule::Open { curve, spacing: Spacing::Even };
    cancelled("open", workload(LoadPlan { schedule, ..select() }), CLIENTS);
    let two_endpoints = workload(select()).with_replicas(server(), &[SqlTarget::Any]);
    cancelled("two endpoints", two_endpoints, 2 * CLIENTS);
}

/// Checks a server that ignores cancel requests: the client times out once and sends nothing more.
#[test]
fn uncancelled_session_blocks_its_client() {
    let (records, counts) = run(workload(plan(SELECT, Mode::Simple)), false);
    assert_eq!(counts, SessionCounts { max: CLIENTS as usize, remaining: CLIENTS as usize });
    let outcomes: Vec<Outcome> = records.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Outcome::Unknown(Code::TIMED_OUT); CLIENTS as usize]);
}

/// Checks that no cancel request is sent to a pooler. The simulated server would obey one.
#[test]
fn does_not_cancel_behind_pooler() {
    let work = Workload::with_services(plan(SELECT, Mode::Simple), Some(pooler()), Vec::new());
    let (records, counts) = run(work, true);
    assert_eq!(counts, SessionCounts { max: CLIENTS as usize, remaining: CLIENTS as usize });
    assert_eq!(records.len(), CLIENTS as usize);
}

/// Checks that ledger writes are not cancelled. Only the server decides whether such a write took effect.
#[test]
fn does_not_cancel_ledger_writes() {
    let plan = plan("INSERT INTO t VALUES (:token);\n", Mode::Simple);
    let keyed = KeyedScript::from_program(&plan.program);
    let (records, counts) = run(workload(plan).with_ledger(1, vec![keyed]), true);
    assert_eq!(counts, SessionCounts { max: CLIENTS as usize, remaining: CLIENTS as usize });
    assert_eq!(records.len(), CLIENTS as usize);
}

/// Checks that statements in flight at the end of the drain do not continue after the run.
#[test]
fn statements_end_with_run() {
    for (cancels, left) in [(true, 0), (false, CLIENTS as usize)] {
        let patient = LoadPlan { timeout: None, ..plan(SELECT, Mode::Simple) };
        let (records, counts) = run(workload(patient), cancels);
        assert_eq!(counts, SessionCounts { max: CLIENTS as usize, remaining: left });
        assert!(records.iter().all(|it| it.outcome == Outcome::Unknown(Code::TIMED_OUT)));
        let ended = Nanos::from_millis(3500);
        assert!(records.iter().all(|it| it.finished - it.intended <= ended + Nanos::from_millis(1)));
        assert_eq!(records.len(), CLIENTS as usize);
    }
}

/// Shard whose only client has sent its first statement.
fn shard_awaiting_reply(work: Workload) -> Shard<Vec<Record>> {
    let mut shard = Shard::new(Arc::new(work), 0, Vec::new());
    let now = Nanos::ZERO;
    perform(&mut shard);
    shard.receive(now, ConnId(0), b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x07\0\0\0\x09Z\0\0\0\x05I");
    shard.begin(now);
    perform(&mut shard);
    shard
}

fn perform(shard: &mut Shard<Vec<Record>>) {
    let _ = perform_at(Nanos::ZERO, shard);
}

/// Performs all actions of the shard at `now`. Returns the bytes sent by connection, and true if the shard is done.
fn perform_at(now: Nanos, shard: &mut Shard<Vec<Record>>) -> (Vec<(ConnId, Vec<u8>)>, bool) {
    let mut sent = Vec::new();
    shard.advance(now);
    loop {
        match shard.poll() {
            Action::Connect(conn) => shard.connected(now, conn),
            Action::Transmit(conn, bytes) => {
                let n = bytes.len();
                sent.push((conn, bytes.to_vec()));
                shard.sent(conn, n);
            }
            Action::Wait(_) => return (sent, false),
            Action::Done => return (sent, true),
            _ => {}
        }
    }
}

/// Checks an abandoned run: it leaves no statement on a server that responds, and waits only briefly for a server that
/// does not.
#[test]
fn abandoned_run_cancels_running_statements() {
    const CANCEL: &[u8] = b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x07\0\0\0\x09";
    let one = || workload(LoadPlan { clients: 1, timeout: None, ..plan(SELECT, Mode::Simple) });
    let at = Nanos::from_millis;
    for drains in [false, true] {
        let mut shard = shard_awaiting_reply(one());
        if drains {
            shard.stop(at(5));
            assert_eq!(perform_at(at(10), &mut shard), (Vec::new(), false), "the drain is not over");
        }
        shard.abandon(at(10));
        assert_eq!(perform_at(at(10), &mut shard), (vec![(ConnId(1), CANCEL.to_vec())], false));
        assert_eq!(shard.recorder[0].outcome, Outcome::Unknown(Code::TIMED_OUT));
        // The server may have received the first cancel request before its statement.
        shard.closed(at(11), ConnId(1));
        assert_eq!(perform_at(at(1200), &mut shard), (vec![(ConnId(1), CANCEL.to_vec())], false));
        shard.closed(at(1300), ConnId(1));
        if drains {
            assert!(perform_at(at(1700), &mut shard).1, "an unresponsive server does not delay the end");
        } else {
            shard.closed(at(1300), ConnId(0));
            assert!(perform_at(at(1300), &mut shard).1);
        }
        assert_eq!(shard.recorder.len(), 1);
    }
}

/// Checks that a surplus reply is never taken for the reply to the next request, in whatever pieces it arrives.
#[test]
fn surplus_reply_makes_outcome_unknown() {
    const ROW: &[u8] = b"C\0\0\0\x0dSELECT 1\0";
    const READY: &[u8] = b"Z\0\0\0\x05I";
    let one = |script| workload(LoadPlan { clients: 1, timeout: None, ..plan(script, Mode::Extended) });
    let check = |pieces: &[&[u8]], expected: &[Outcome]| {
        let mut shard = shard_awaiting_reply(one("SELECT 1;\n"));
        for piece in pieces {
            shard.receive(Nanos::ZERO, ConnId(0), piece);
            perform(&mut shard);
        }
        let outcomes: Vec<Outcome> = shard.recorder.iter().map(|it| it.outcome).collect();
        assert_eq!(outcomes, expected, "{pieces:?}");
    };
    let (ok, unknown) = (Outcome::Ok, Outcome::Unknown(Code::PROTOCOL));
    let answer = [ROW, READY].concat();
    check(&[&answer], &[ok]);
    check(&[&answer, &answer], &[ok, ok]);
    check(&[&[ROW, READY, READY].concat()], &[unknown]);
    check(&[&[ROW, READY, &answer].concat()], &[unknown]);
    check(&[&[ROW, READY, b"Z\0"].concat()], &[unknown]);
    check(&[&answer, READY], &[ok, unknown]);
    // A server may send this message at any time, so it is not a surplus reply.
    let notice = b"N\0\0\0\x0cMhello\0\0";
    check(&[&[ROW, READY, notice].concat(), &answer], &[ok, ok]);
    check(&[&[ROW, READY, b"S\0\0\0\x11TimeZone\0UTC\0"].concat(), notice, &answer], &[ok, ok]);
}

#[test]
fn endless_response_is_aborted() {
    let one = workload(LoadPlan { clients: 1, timeout: None, ..plan(SELECT, Mode::Simple) });
    let mut shard = shard_awaiting_reply(one.with_answer_max(1 << 20));
    let row = [&b"D\0\0\0\x68\0\x01\0\0\0\x5e"[..], &[b'x'; 94]].concat();
    let rows = row.repeat(1000);
    for _ in 0..20 {
        shard.receive(Nanos::ZERO, ConnId(0), &rows);
        perform(&mut shard);
    }
    let outcomes: Vec<Outcome> = shard.recorder.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Outcome::Unknown(Code::TOO_LONG)]);
}

fn open(script: &str) -> LoadPlan {
    let curve = Curve::Ramp { from: PerSecond(100.0), to: PerSecond(100.0), duration: Nanos::from_secs(3) };
    LoadPlan { schedule: Schedule::Open { curve, spacing: Spacing::Even }, ..plan(script, Mode::Prepared) }
}

/// Checks that every arrival of the schedule has an outcome, even if all clients have aborted.
#[test]
fn arrivals_without_a_live_client_are_dropped() {
    for (name, script) in [
        ("a transaction stays open", "BEGIN;\n"),
        ("an expression has no value", "\\set x 1 / 0\n"),
        ("sometimes", "\\set x random(1, 5)\n\\if :x = 1\n\\set x 1 / 0\n\\endif\nSELECT 1;\n"),
    ] {
        let world = SimulatedSystem {
            service: ServiceTime::Constant(Nanos::from_millis(2)),
            ..SimulatedSystem::default()
        };
        let (mut shards, _) =
            drive_counting(vec![Shard::new(Arc::new(workload(open(script))), 0, Vec::new())], &world);
        let shard = shards.pop().expect("there is one shard");
        let count = |predicate: fn(&Outcome) -> bool| {
            shard.recorder.iter().filter(|it: &&Record| predicate(&it.outcome)).count()
        };
        let failed = count(|it| *it == Outcome::Failed(Code::SqlState(*b"38000")));
        assert_eq!((failed, shard.aborted_clients()), (CLIENTS as usize, CLIENTS), "{name}");
        let dropped = count(|it| *it == Outcome::Dropped);
        assert!(dropped > 200, "{name}: {dropped} dropped");
        assert_eq!(count(|it| *it == Outcome::Ok) + failed + dropped, 300, "{name}");
    }
}

/// Checks a backlog that remains at the deadline of the drain. If a session ends at that time, its client ends too.
#[test]
fn drain_with_backlog_ends_clients() {
    let at = Nanos::from_millis;
    let mut shard = shard_awaiting_reply(workload(LoadPlan { clients: 1, timeout: None, ..open(SELECT) }));
    for now in [at(10), at(100), at(3000), at(3500)] {
        assert!(!perform_at(now, &mut shard).1);
    }
    // The server reads the cancel request and closes the session.
    shard.closed(at(3500), ConnId(1));
    shard.closed(at(3500), ConnId(0));
    assert!(perform_at(at(3501), &mut shard).1);
    let unknown = shard.recorder.iter().filter(|it| it.outcome == Outcome::Unknown(Code::TIMED_OUT)).count();
    assert_eq!((unknown, shard.recorder.len()), (1, 300));
}
