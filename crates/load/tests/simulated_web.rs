//! HTTP services in simulated time: what a shard makes of their answers, and of what is none.

use load::random::{Prng, Seeds};
use load::script::call::{Method, Written};
use load::script::{Call, Capture, Command, From, Kind, Mode, Part, Program, Script, Source, parse};
use load::sim::{Body, Service as Serving, Web, World, drive};
use load::{Plan, Postgres, Recorder, Seeding, Service, Shard, Workload};
use model::{Code, Curve, Latency, Nanos, Outcome, PerSecond, Record, Schedule, ScriptId, Spacing};
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::pg::{Login, Transport};

const CLOSED: Schedule = Schedule::Closed { think: Nanos::ZERO };

fn even(rate: f64, secs: u64) -> Schedule {
    let lasting = Nanos::from_secs(secs);
    let curve = Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), lasting };
    Schedule::Open { curve, spacing: Spacing::Even }
}

fn request(method: Method) -> Program {
    let body = (method == Method::Post).then_some("{\"name\": \"${client_id}\"}");
    let written = Written {
        method,
        target: "/books?id=${client_id}",
        headers: &[],
        body,
        expect: &[],
        secrets: |_| None,
    };
    Program::of_request(&written, &["client_id"]).expect("the request is right")
}

fn plan(program: Program, clients: u32, schedule: Schedule) -> Plan {
    let mut seeds = Seeds::new(7);
    let clients_rng: Vec<Prng> = (0..clients).map(|_| seeds.client()).collect();
    let variables = program.slot("client_id").map(|slot| (slot, load::Initial::Client)).into_iter().collect();
    Plan {
        program,
        mode: Mode::Prepared,
        schedule,
        duration: None,
        transactions: None,
        clients,
        threads: 1,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 1_000_000,
        drain: Nanos::from_secs(100),
        reconnect: false,
        connecting_max: 1000,
        connect_timeout: Nanos::from_secs(10),
        timeout: None,
        verbose: false,
        statements: true,
        seeds: Seeding {
            clients: clients_rng,
            choices: vec![seeds.thread().choose],
            arrivals: 7,
            other: 7,
            variables,
        },
    }
}

/// Everything that a shard tells.
#[derive(Debug, Default)]
struct All {
    records: Vec<Record>,
    connected: usize,
    refused: Vec<Code>,
    steps: BTreeMap<u16, Vec<Nanos>>,
}

impl Recorder for All {
    fn record(&mut self, it: &Record) {
        self.records.push(*it);
    }

    fn connected(&mut self, _: Nanos) {
        self.connected += 1;
    }

    fn refused(&mut self, code: Code) {
        self.refused.push(code);
    }

    fn statement(&mut self, _: ScriptId, command: u16, took: Nanos) {
        self.steps.entry(command).or_default().push(took);
    }
}

fn run_with(plan: Plan, world: &World, postgres: Option<Postgres>, service: Service) -> All {
    let work = Arc::new(Workload::of(plan, postgres, vec![service]));
    let shard = Shard::new(work, 0, All::default());
    drive(vec![shard], world).pop().expect("one went in").recorder
}

fn run(plan: Plan, world: &World) -> All {
    run_with(plan, world, None, Service::plain("sim"))
}

/// How often each outcome came.
fn outcomes(all: &All) -> Vec<(String, usize)> {
    let mut counts = BTreeMap::new();
    for it in &all.records {
        let name = match it.outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Failed(code) => format!("failed {code}"),
            Outcome::Unknown(code) => format!("unknown {code}"),
            Outcome::Dropped => "dropped".to_owned(),
        };
        *counts.entry(name).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

fn check(what: &str, all: &All, expected: &[(&str, usize)]) {
    let told: Vec<(String, usize)> = outcomes(all);
    let told: Vec<(&str, usize)> = told.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(told, expected, "{what}");
}

fn each(transactions: u64, plan: Plan) -> Plan {
    Plan { transactions: Some(transactions), ..plan }
}

#[test]
fn a_service_that_stalls_shows_in_the_response_time_without_more_connections() {
    let world = World {
        service: Serving::Constant(Nanos::from_micros(10)),
        freezes: vec![(Nanos::from_secs(4), Nanos::from_secs(5))],
        ..World::default()
    };
    let all = run(plan(request(Method::Get), 64, even(1000.0, 10)), &world);
    check("1,000/s for 10 s", &all, &[("ok", 10_000)]);
    assert!(all.connected <= 64, "{} connections", all.connected);
    let mut latency = Latency::new();
    all.records.iter().for_each(|it| latency.record(it.response()));
    for (q, expected, tolerance) in [(0.95, 500.0, 15.0), (0.99, 900.0, 30.0), (0.999, 990.0, 20.0)] {
        let ms = latency.quantile(q).expect("enough samples").as_millis_f64();
        assert!((ms - expected).abs() <= tolerance, "p{}: {ms} ms, expected {expected}", q * 100.0);
    }
}

#[test]
fn every_framing_is_an_answer() {
    for (body, connections) in [(Body::Length, 4), (Body::Chunked, 4), (Body::Close, 400)] {
        for piece in [usize::MAX, 7, 1] {
            let world = World { piece, web: Web { body, ..Web::default() }, ..World::default() };
            let all = run(each(100, plan(request(Method::Get), 4, CLOSED)), &world);
            check(&format!("{body:?} in pieces of {piece}"), &all, &[("ok", 400)]);
            assert_eq!(all.connected, connections, "{body:?}");
            assert_eq!(all.steps[&0].len(), 400, "each step has its time");
        }
    }
    let all = run(each(100, plan(request(Method::Head), 4, CLOSED)), &World::default());
    check("HEAD", &all, &[("ok", 400)]);
}

#[test]
fn statuses_are_failures_by_their_code() {
    let world = World { failing: Some((4, *b"00000")), ..World::default() };
    check(
        "every fourth",
        &run(each(100, plan(request(Method::Get), 4, CLOSED)), &world),
        &[("failed HTTP 503", 100), ("ok", 300)],
    );
    let expect = [404..=404];
    let written = Written {
        method: Method::Get,
        target: "/",
        headers: &[],
        body: None,
        expect: &expect,
        secrets: |_| None,
    };
    let program = Program::of_request(&written, &[]).expect("right");
    check(
        "200 was not hoped for",
        &run(each(10, plan(program, 1, CLOSED)), &World::default()),
        &[("failed HTTP 200", 10)],
    );
}

#[test]
fn a_connection_that_ends_while_idle_is_no_failure() {
    // It is closed a moment before the next request comes: the request and the end cross on their way.
    let web = Web { idle: Some(Nanos::from_millis(99)), ..Web::default() };
    let world = World { delay: Nanos::from_millis(5), web, ..World::default() };
    let think = Schedule::Closed { think: Nanos::from_millis(97) };
    let all = run(each(10, plan(request(Method::Get), 1, think.clone())), &world);
    check("GET is asked again", &all, &[("ok", 10)]);
    let all = run(each(10, plan(request(Method::Post), 1, think)), &world);
    check("POST may have had an effect", &all, &[("ok", 5), ("unknown net 104", 5)]);
    // The end is seen before the next request.
    let longer = Schedule::Closed { think: Nanos::from_millis(500) };
    let all = run(each(10, plan(request(Method::Post), 1, longer)), &world);
    check("POST on a new connection", &all, &[("ok", 10)]);
    assert_eq!(all.connected, 10);
    // A service may close every connection after some answers, without a word.
    let world = World { web: Web { answers_max: 7, ..Web::default() }, ..World::default() };
    check(
        "seven answers each",
        &run(each(100, plan(request(Method::Get), 2, CLOSED)), &world),
        &[("ok", 200)],
    );
}

#[test]
fn each_fault_has_its_class() {
    let service = Service {
        begin_within: Some(Nanos::from_millis(200)),
        end_within: Some(Nanos::from_secs(1)),
        ..Service::plain("sim")
    };
    let check = |what: &str, method: Method, web: Web, expected: &[(&str, usize)]| {
        let world = World { web, ..World::default() };
        let all = run_with(each(10, plan(request(method), 1, CLOSED)), &world, None, service.clone());
        check(what, &all, expected);
    };
    let web = Web::default();
    check("nobody listens", Method::Get, Web { refuses: true, ..web }, &[("failed net 111", 10)]);
    check("nobody listens", Method::Post, Web { refuses: true, ..web }, &[("failed net 111", 10)]);
    check("no HTTP", Method::Get, Web { body: Body::Garbage, ..web }, &[("failed net 71", 10)]);
    check("no HTTP", Method::Post, Web { body: Body::Garbage, ..web }, &[("unknown net 71", 10)]);
    check("cut", Method::Get, Web { body: Body::Cut, ..web }, &[("failed net 104", 10)]);
    check("cut", Method::Post, Web { body: Body::Cut, ..web }, &[("unknown net 104", 10)]);
    check("silent", Method::Get, Web { silent: 2, ..web }, &[("failed net 110", 5), ("ok", 5)]);
    check("silent", Method::Post, Web { silent: 2, ..web }, &[("ok", 5), ("unknown net 110", 5)]);
    // One byte a second: the first comes in time, the last would not.
    let drip = Web { drip: Some(Nanos::from_secs(1)), ..web };
    check("drip", Method::Get, drip, &[("failed net 62", 10)]);
    check("drip", Method::Post, drip, &[("unknown net 62", 10)]);
    // Dripping fast enough is no fault.
    check("quick drip", Method::Get, Web { drip: Some(Nanos::from_millis(1)), ..web }, &[("ok", 10)]);
}

#[test]
fn a_server_that_is_down_is_not_asked_without_a_pause() {
    let world = World { web: Web { refuses: true, ..Web::default() }, ..World::default() };
    let closed = Plan { duration: Some(Nanos::from_secs(10)), ..plan(request(Method::Get), 1, CLOSED) };
    let all = run(closed, &world);
    // 10 ms, doubled up to 100, half of it by chance: about thirteen per second.
    assert!((120..160).contains(&all.records.len()), "{} attempts in 10 s", all.records.len());
    let all = run(plan(request(Method::Get), 4, even(1000.0, 1)), &world);
    check("in an open model arrivals are the pause", &all, &[("failed net 111", 1000)]);
}

#[test]
fn a_connection_for_each_transaction() {
    let plan = Plan { reconnect: true, ..each(50, plan(request(Method::Get), 2, CLOSED)) };
    let all = run(plan, &World::default());
    check("-C", &all, &[("ok", 100)]);
    assert_eq!(all.connected, 100);
}

#[test]
fn few_places_to_connect() {
    let world = World { delay: Nanos::from_millis(1), ..World::default() };
    let all = run(Plan { connecting_max: 3, ..each(5, plan(request(Method::Get), 50, CLOSED)) }, &world);
    check("three at a time", &all, &[("ok", 250)]);
    assert_eq!(all.connected, 50);
}

/// A script that asks PostgreSQL, then logs in by HTTP, then uses what it was told.
fn mixed() -> Program {
    let text = "BEGIN;\n\\set token 0\n\\set status 0\nSELECT 1;\nCOMMIT;\n\\set n :status + 1\n";
    let mut program =
        parse(&[Source { name: "mixed", text, weight: 1 }], Mode::Prepared, false, &[]).expect("right");
    let slot = |name: &str| program.slot(name).expect("the script names it");
    let (token, status) = (slot("token"), slot("status"));
    let text = |it: &str| Part::Text(it.to_owned());
    let login = Call {
        captures: vec![
            Capture { slot: token, from: From::Header("server".to_owned()) },
            Capture { slot: status, from: From::Status },
        ],
        ..Call::new(0, Method::Post, vec![text("/login")])
    };
    let used = Call {
        headers: vec![("Authorization".to_owned(), vec![Part::Var { slot: token, hole: wire::Hole::Line }])],
        ..Call::new(0, Method::Get, vec![text("/me")])
    };
    let Script { commands, .. } = &mut program.scripts[0];
    let call = |it: Call| Command { line: 1, first_line: String::new(), kind: Kind::Http(Box::new(it)) };
    // Within the transaction block, before COMMIT.
    commands.insert(4, call(login));
    commands.insert(5, call(used));
    program
}

#[test]
fn sql_and_http_in_one_script() {
    let postgres = Postgres::new(Arc::new(Login::new("me", "db")), Transport::Unix);
    let service = Service::plain("sim");
    let all = run_with(
        each(20, plan(mixed(), 3, CLOSED)),
        &World::default(),
        Some(postgres.clone()),
        service.clone(),
    );
    check("both", &all, &[("ok", 60)]);
    assert_eq!(all.connected, 6, "a session and a connection for each client");
    assert_eq!((all.steps[&4].len(), all.steps[&5].len()), (60, 60));
    // A failed step rolls the block back: the next transaction finds the session as it should be.
    let world = World { web: Web { status: 500, ..Web::default() }, ..World::default() };
    let all = run_with(each(20, plan(mixed(), 3, CLOSED)), &world, Some(postgres.clone()), service.clone());
    check("a failed step", &all, &[("failed HTTP 500", 60)]);
    // The session breaks while an answer of the service is awaited.
    let breaks = (1..20).map(|it| Nanos::from_millis(it * 10)).collect();
    let world = World { breaks, delay: Nanos::from_micros(300), ..World::default() };
    let all = run_with(each(100, plan(mixed(), 3, CLOSED)), &world, Some(postgres), service);
    assert_eq!(all.records.len(), 300, "every transaction has one outcome");
    assert!(all.records.iter().any(|it| it.outcome != Outcome::Ok), "some were broken");
    assert!(all.records.iter().any(|it| it.outcome == Outcome::Ok), "and some were not");
}
