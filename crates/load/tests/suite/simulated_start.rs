//! Requests that each client sends once, before its first transaction

use load::script::{Mode, Program, ProgramBuilder, ScriptHeader};
use load::sim;
use load::sim::SimulatedSystem;
use load::{Action, ConnId, LoadEvent, LoadPlan, PostgresEndpoint, Service, Shard, Workload};
use model::plan::{CaptureSource, HttpStep, ThinkTime, UserStage};
use model::{Code, Curve, Nanos, Outcome, PerSecond, Record, Schedule, ScriptId, Spacing, UserRamp};
use proptest::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use wire::pg::{Login, Transport};

const SECOND: Nanos = Nanos::from_secs(1);

fn constant(rate: f64) -> Curve {
    Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration: SECOND }
}

/// Two operations that need the token which the start captures.
fn program() -> Program {
    let mut builder = ProgramBuilder::new(Mode::Simple, &["token"]);
    let head = |name| ScriptHeader { name, weight: 1, draws: None };
    builder.add_http(&head("read"), 0, &[], &[HttpStep::new("GET", "/read?${token}")]);
    builder.add_http(&head("write"), 0, &[], &[HttpStep::new("GET", "/write?${token}")]);
    let login = HttpStep {
        captures: vec![("token".to_owned(), CaptureSource::Header("token".to_owned()))],
        ..HttpStep::new("POST", "/login")
    };
    builder.add_http(&ScriptHeader { weight: 0, ..head("on_start") }, 0, &[], &[login]);
    builder.execute_last_on_start();
    builder.finish().expect("the program is valid")
}

pub struct Exchange {
    /// Time, client's connection and first line of each request.
    pub sent: Vec<(Nanos, ConnId, String)>,
    pub records: Vec<Record>,
    events: Vec<LoadEvent>,
    window_start: Nanos,
}

/// Runs one thread against a service that answers each request after a millisecond. `accepts` decides about each log-in, by
/// its number. A token is valid for the client that received it.
pub fn exchange(plan: LoadPlan, accepts: impl Fn(usize) -> bool) -> Exchange {
    let work = Workload::with_services(plan, None, vec![Service::without_tls("sim")]);
    let mut shard: Shard<Vec<Record>> = Shard::new(Arc::new(work), 0, Vec::new());
    let mut result = Exchange { sent: vec![], records: vec![], events: vec![], window_start: Nanos::MAX };
    let (mut responses, mut logins) = (VecDeque::new(), 0);
    let mut tokens: HashMap<u32, String> = HashMap::new();
    let mut now = Nanos::ZERO;
    loop {
        if result.window_start == Nanos::MAX && shard.is_settled() {
            result.window_start = now;
            shard.begin(now);
        }
        shard.advance(now);
        loop {
            match shard.poll() {
                Action::Connect(conn) => shard.connected(now, conn),
                Action::Transmit(conn, bytes) => {
                    let text = String::from_utf8(bytes.to_vec()).expect("requests are texts");
                    shard.sent(conn, text.len());
                    let line = text.split(" HTTP").next().expect("a line").to_owned();
                    let response = if line == "POST /login" {
                        logins += 1;
                        let accepted = accepts(logins - 1);
                        let token = format!("t{logins}");
                        let status = if accepted { 200 } else { 503 };
                        if accepted {
                            tokens.insert(conn.0, token.clone());
                        }
                        format!("HTTP/1.1 {status} X\r\nToken: {token}\r\nContent-Length: 0\r\n\r\n")
                    } else {
                        let token = line.split_once('?').expect("a query").1;
                        let status =
                            if tokens.get(&conn.0).is_some_and(|it| it == token) { 200 } else { 401 };
                        format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n")
                    };
                    responses.push_back((conn, response));
                    result.sent.push((now, conn, line));
                }
                Action::Report(event) => result.events.push(event),
                Action::Wait(deadline) if deadline <= now => shard.advance(now),
                Action::Wait(_) => break,
                Action::Done => {
                    result.records = shard.recorder;
                    return result;
                }
                Action::Close(_) | Action::Finish(_) | Action::Probe(_) | Action::Shell { .. } => {}
            }
        }
        now += Nanos::from_millis(1);
        assert!(now < Nanos::from_secs(100), "the load ends");
        for (conn, text) in responses.drain(..) {
            shard.receive(now, conn, text.as_bytes());
        }
    }
}

fn plan(clients: u32, schedule: Schedule) -> LoadPlan {
    LoadPlan {
        duration: Some(SECOND),
        backlog_max: 1_000,
        drain: SECOND,
        ..sim::plan(program(), Mode::Simple, clients, 1, schedule)
    }
}

/// Records of operations. Records of the start have the highest script number and are ignored.
fn recorded(exchange: &Exchange) -> Vec<&Record> {
    exchange.records.iter().filter(|it| it.script.0 < 2).collect()
}

fn logins(exchange: &Exchange) -> usize {
    exchange.sent.iter().filter(|it| it.2 == "POST /login").count()
}

#[test]
fn each_client_starts_before_the_window() {
    let think = Nanos::from_millis(100);
    let result = exchange(plan(4, Schedule::Closed { think }), |_| true);
    assert_eq!(logins(&result), 4);
    assert!(result.sent[..4].iter().all(|it| it.2 == "POST /login"));
    assert!(result.sent[4..].iter().all(|it| it.0 >= result.window_start), "{:?}", result.sent);
    let records = recorded(&result);
    assert!(records.len() >= 36 && records.iter().all(|it| it.outcome == Outcome::Ok), "{records:?}");
}

/// A client whose start fails repeats it, and sends nothing else in between. The window does not wait for it.
#[test]
fn failed_start_is_repeated() {
    let result = exchange(plan(2, Schedule::Closed { think: Nanos::from_millis(10) }), |number| number != 0);
    assert_eq!(logins(&result), 3);
    let first: Vec<&str> =
        result.sent.iter().filter(|it| it.1 == result.sent[0].1).map(|it| it.2.as_str()).collect();
    assert_eq!(first[..2], ["POST /login", "POST /login"]);
    assert!(first[2].ends_with("?t3"), "{first:?}");
    assert!(recorded(&result).iter().all(|it| it.outcome == Outcome::Ok));
    let failed =
        |it: &&LoadEvent| matches!(it, LoadEvent::Failed { script: ScriptId(2), code: Code::Http(503), .. });
    assert_eq!(result.events.iter().filter(failed).count(), 1, "{:?}", result.events);
}

/// If no client can start, the window passes without a transaction, and arrivals of the open model are dropped.
#[test]
fn nothing_is_sent_without_a_start() {
    let closed = exchange(plan(3, Schedule::Closed { think: Nanos::ZERO }), |_| false);
    assert!(closed.sent.iter().all(|it| it.2 == "POST /login") && logins(&closed) > 6);
    assert_eq!(recorded(&closed).len(), 0);
    let curve = constant(50.0);
    let open = exchange(plan(3, Schedule::Open { curve, spacing: Spacing::Even }), |_| false);
    assert!(open.sent.iter().all(|it| it.2 == "POST /login"));
    let records = recorded(&open);
    assert_eq!(records.len(), 50);
    assert!(records.iter().all(|it| it.outcome == Outcome::Dropped), "{records:?}");
}

/// A user who leaves and joins again is a new session.
#[test]
fn user_who_joins_again_starts_again() {
    let stage = |users| UserStage { users, spawn_rate: None, duration: Nanos::from_millis(300) };
    let users = UserRamp {
        stages: vec![stage(2), stage(1), stage(2)],
        think: ThinkTime::Constant(Nanos::from_millis(20)),
        pacing: None,
        rate_max: None,
    };
    let result = exchange(LoadPlan { duration: None, ..plan(2, Schedule::Users(users)) }, |_| true);
    assert_eq!(logins(&result), 3);
    assert!(recorded(&result).iter().all(|it| it.outcome == Outcome::Ok));
}

/// Clients with a session begin with their start too, whichever operation follows.
#[test]
fn clients_with_sessions_start_after_their_login() {
    let mut builder = ProgramBuilder::new(Mode::Simple, &[]);
    let head = |name, weight| ScriptHeader { name, weight, draws: None };
    builder.add_pgbench(&head("sql", 1), "SELECT 1;", false);
    builder.add_http(&head("get", 1), 0, &[], &[HttpStep::new("GET", "/read")]);
    builder.add_http(&head("on_start", 0), 0, &[], &[HttpStep::new("GET", "/login")]);
    builder.execute_last_on_start();
    let program = builder.finish().expect("the program is valid");
    let schedule = Schedule::Closed { think: Nanos::from_millis(5) };
    let plan = LoadPlan {
        duration: Some(SECOND),
        drain: SECOND,
        ..sim::plan(program, Mode::Simple, 4, 1, schedule)
    };
    let postgres = PostgresEndpoint::new(Arc::new(Login::new("u", "d")), Transport::Tcp);
    let work = Workload::with_services(plan, Some(postgres), vec![Service::without_tls("sim")]);
    let shard = Shard::<Vec<Record>>::new(Arc::new(work), 0, Vec::new());
    let records = sim::drive(vec![shard], &SimulatedSystem::default()).remove(0).recorder;
    for client in 0..4 {
        let scripts: Vec<u16> =
            records.iter().filter(|it| it.client.0 == client).map(|it| it.script.0).collect();
        assert_eq!(scripts[0], 2, "{scripts:?}");
        assert!(
            scripts[1..].contains(&0) && scripts[1..].contains(&1) && !scripts[1..].contains(&2),
            "{scripts:?}"
        );
    }
    assert!(records.iter().all(|it| it.outcome == Outcome::Ok));
}

#[test]
fn no_client_works_before_its_start() {
    proptest!(ProptestConfig::with_cases(200), |(refusals: [bool; 12], clients in 1..6u32, open: bool)| {
        let curve = constant(200.0);
        let schedule = match open {
            true => Schedule::Open { curve, spacing: Spacing::Even },
            false => Schedule::Closed { think: Nanos::from_millis(5) },
        };
        let result = exchange(plan(clients, schedule), |number| !refusals.get(number).is_some_and(|it| *it));
        // The service answers 401 to a request without the client's own token.
        for record in recorded(&result) {
            prop_assert!(matches!(record.outcome, Outcome::Ok | Outcome::Dropped), "{:?}", record);
        }
        let refused = refusals.iter().take(logins(&result)).filter(|it| **it).count();
        prop_assert!(logins(&result) - refused <= clients as usize);
    });
}
