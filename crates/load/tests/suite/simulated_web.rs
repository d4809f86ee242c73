//! HTTP services in simulated time: outcomes of valid and invalid responses

use load::script::call::{Method, RequestSource, SecretLookup};
use load::script::{
    CallCapture, CallPart, Command, CommandKind, HttpCall, Mode, Program, ResponsePart, Script, ScriptSource,
    parse,
};
use load::sim::{self, ServiceTime as Serving, SimulatedBody, SimulatedHttp, SimulatedSystem, drive};
use load::{LoadPlan, PostgresEndpoint, Recorder, Service, Shard, Workload};
use model::{
    Code, Curve, LatencyHistogram, Nanos, Outcome, PerSecond, Record, RequestSample, Schedule, ScriptId,
    Spacing,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::pg::{Login, Transport};

fn even(rate: f64, secs: u64) -> Schedule {
    let duration = Nanos::from_secs(secs);
    let curve = Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration };
    Schedule::Open { curve, spacing: Spacing::Even }
}

fn request(method: Method) -> Program {
    let body = (method == Method::Post).then_some("{\"name\": \"${client_id}\"}");
    let written = RequestSource {
        method,
        target: "/books?id=${client_id}",
        headers: &[],
        body,
        expect: &[],
        secrets: SecretLookup::NONE,
    };
    Program::from_request(&written, &["client_id"]).expect("the request is valid")
}

fn plan(program: Program, clients: u32, schedule: Schedule) -> LoadPlan {
    LoadPlan {
        measured: load::MeasuredCommands::All,
        ..sim::plan(program, Mode::Prepared, clients, 1, schedule)
    }
}

/// Recorder that keeps all results of a shard.
#[derive(Debug, Default)]
struct EventLog {
    records: Vec<Record>,
    connected: usize,
    refused: Vec<Code>,
    steps: BTreeMap<u16, Vec<Nanos>>,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn connected(&mut self, _: Nanos) {
        self.connected += 1;
    }

    fn refused(&mut self, code: Code) {
        self.refused.push(code);
    }

    fn statement_finished(&mut self, _: ScriptId, command: u16, sample: &RequestSample) {
        self.steps.entry(command).or_default().push(sample.elapsed);
    }
}

fn run_with(
    plan: LoadPlan,
    world: &SimulatedSystem,
    postgres: Option<PostgresEndpoint>,
    service: Service,
) -> EventLog {
    let work = Arc::new(Workload::with_services(plan, postgres, vec![service]));
    let shard = Shard::new(work, 0, EventLog::default());
    drive(vec![shard], world).pop().expect("there is one shard").recorder
}

fn run(plan: LoadPlan, world: &SimulatedSystem) -> EventLog {
    run_with(plan, world, None, Service::without_tls("sim"))
}

/// Number of transactions by outcome.
fn outcomes(all: &EventLog) -> Vec<(String, usize)> {
    let mut counts = BTreeMap::new();
    for record in &all.records {
        let name = match record.outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Failed(code) => format!("failed {code}"),
            Outcome::Unknown(code) => format!("unknown {code}"),
            Outcome::Dropped => "dropped".to_owned(),
        };
        *counts.entry(name).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

fn check(name: &str, all: &EventLog, expected: &[(&str, usize)]) {
    let counts: Vec<(String, usize)> = outcomes(all);
    let counts: Vec<(&str, usize)> = counts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(counts, expected, "{name}");
}

fn each(transactions: u64, plan: LoadPlan) -> LoadPlan {
    LoadPlan { transactions: Some(transactions), ..plan }
}

#[test]
fn stalled_service_shows_in_response_time_without_more_connections() {
    let world = SimulatedSystem {
        service: Serving::Constant(Nanos::from_micros(10)),
        pauses: vec![(Nanos::from_secs(4), Nanos::from_secs(5))],
        ..SimulatedSystem::default()
    };
    let all = run(plan(request(Method::Get), 64, even(1000.0, 10)), &world);
    check("1,000/s for 10 s", &all, &[("ok", 10_000)]);
    assert!(all.connected <= 64, "{} connections", all.connected);
    let mut latency = LatencyHistogram::new();
    all.records.iter().for_each(|it| latency.record(it.response()));
    for (q, expected, tolerance) in [(0.95, 500.0, 15.0), (0.99, 900.0, 30.0), (0.999, 990.0, 20.0)] {
        let ms = latency.quantile(q).expect("enough samples").as_millis_f64();
        assert!((ms - expected).abs() <= tolerance, "p{}: {ms} ms, expected {expected}", q * 100.0);
    }
}

#[test]
fn reads_every_body_framing() {
    for (body, connections) in
        [(SimulatedBody::Length, 4), (SimulatedBody::Chunked, 4), (SimulatedBody::Close, 400)]
    {
        for piece in [usize::MAX, 7, 1] {
            let world = SimulatedSystem {
                piece,
                http: SimulatedHttp { body, ..SimulatedHttp::default() },
                ..SimulatedSystem::default()
            };
            let all = run(each(100, plan(request(Method::Get), 4, sim::CLOSED)), &world);
            check(&format!("{body:?} in pieces of {piece}"), &all, &[("ok", 400)]);
            assert_eq!(all.connected, connections, "{body:?}");
            assert_eq!(all.steps[&0].len(), 400, "each step has its time");
        }
    }
    let all = run(each(100, plan(request(Method::Head), 4, sim::CLOSED)), &SimulatedSystem::default());
    check("HEAD", &all, &[("ok", 400)]);
}

#[test]
fn unexpected_statuses_fail_by_code() {
    let world = SimulatedSystem { failing: Some((4, *b"00000")), ..SimulatedSystem::default() };
    check(
        "every fourth",
        &run(each(100, plan(request(Method::Get), 4, sim::CLOSED)), &world),
        &[("failed HTTP 503", 100), ("ok", 300)],
    );
    let expect = [404..=404];
    let written = RequestSource {
        method: Method::Get,
        target: "/",
        headers: &[],
        body: None,
        expect: &expect,
        secrets: SecretLookup::NONE,
    };
    let program = Program::from_request(&written, &[]).expect("the program is valid");
    check(
        "200 was not hoped for",
        &run(each(10, plan(program, 1, sim::CLOSED)), &SimulatedSystem::default()),
        &[("failed HTTP 200", 10)],
    );
}

#[test]
fn closed_idle_connection_is_not_a_failure() {
    // The service closes the connection just before the next request arrives, so that request and close cross.
    let http = SimulatedHttp { idle: Some(Nanos::from_millis(99)), ..SimulatedHttp::default() };
    let world = SimulatedSystem { delay: Nanos::from_millis(5), http, ..SimulatedSystem::default() };
    let think = Schedule::Closed { think: Nanos::from_millis(97) };
    let all = run(each(10, plan(request(Method::Get), 1, think.clone())), &world);
    check("GET is repeated", &all, &[("ok", 10)]);
    let all = run(each(10, plan(request(Method::Post), 1, think)), &world);
    check("POST may have had an effect", &all, &[("ok", 5), ("unknown net 104", 5)]);
    // The client receives the close before it sends the next request.
    let longer = Schedule::Closed { think: Nanos::from_millis(500) };
    let all = run(each(10, plan(request(Method::Post), 1, longer)), &world);
    check("POST on a new connection", &all, &[("ok", 10)]);
    assert_eq!(all.connected, 10);
    // A service may close every connection after some responses without announcing it.
    let world = SimulatedSystem {
        http: SimulatedHttp { max_responses: 7, ..SimulatedHttp::default() },
        ..SimulatedSystem::default()
    };
    check(
        "seven answers each",
        &run(each(100, plan(request(Method::Get), 2, sim::CLOSED)), &world),
        &[("ok", 200)],
    );
}

#[test]
fn each_fault_has_its_outcome() {
    let service = Service {
        first_byte_timeout: Some(Nanos::from_millis(200)),
        response_timeout: Some(Nanos::from_secs(1)),
        ..Service::without_tls("sim")
    };
    let check = |name: &str, method: Method, http: SimulatedHttp, expected: &[(&str, usize)]| {
        let world = SimulatedSystem { http, ..SimulatedSystem::default() };
        let all = run_with(each(10, plan(request(method), 1, sim::CLOSED)), &world, None, service.clone());
        check(name, &all, expected);
    };
    let http = SimulatedHttp::default();
    check("nobody listens", Method::Get, SimulatedHttp { is_down: true, ..http }, &[("failed net 111", 10)]);
    check("nobody listens", Method::Post, SimulatedHttp { is_down: true, ..http }, &[("failed net 111", 10)]);
    check(
        "no HTTP",
        Method::Get,
        SimulatedHttp { body: SimulatedBody::Garbage, ..http },
        &[("failed net 71", 10)],
    );
    check(
        "no HTTP",
        Method::Post,
        SimulatedHttp { body: SimulatedBody::Garbage, ..http },
        &[("unknown net 71", 10)],
    );
    check("cut", Method::Get, SimulatedHttp { body: SimulatedBody::Cut, ..http }, &[("failed net 104", 10)]);
    check(
        "cut",
        Method::Post,
        SimulatedHttp { body: SimulatedBody::Cut, ..http },
        &[("unknown net 104", 10)],
    );
    check("silent", Method::Get, SimulatedHttp { silent: 2, ..http }, &[("failed net 110", 5), ("ok", 5)]);
    check("silent", Method::Post, SimulatedHttp { silent: 2, ..http }, &[("ok", 5), ("unknown net 110", 5)]);
    // The service sends one byte per second. The first byte arrives in time, the last one would not.
    let drip = SimulatedHttp { byte_interval: Some(Nanos::from_secs(1)), ..http };
    check("drip", Method::Get, drip, &[("failed net 62", 10)]);
    check("drip", Method::Post, drip, &[("unknown net 62", 10)]);
    // A response whose bytes arrive slowly, but in time, is not a failure.
    check(
        "quick drip",
        Method::Get,
        SimulatedHttp { byte_interval: Some(Nanos::from_millis(1)), ..http },
        &[("ok", 10)],
    );
}

#[test]
fn unreachable_service_is_retried_with_backoff() {
    let world = SimulatedSystem {
        http: SimulatedHttp { is_down: true, ..SimulatedHttp::default() },
        ..SimulatedSystem::default()
    };
    let closed =
        LoadPlan { duration: Some(Nanos::from_secs(10)), ..plan(request(Method::Get), 1, sim::CLOSED) };
    let all = run(closed, &world);
    // Delays grow from 10 ms to 100 ms, and half of each delay is random. This gives about thirteen attempts per
    // second.
    assert!((120..160).contains(&all.records.len()), "{} attempts in 10 s", all.records.len());
    let all = run(plan(request(Method::Get), 4, even(1000.0, 1)), &world);
    check("in an open model arrivals are the pause", &all, &[("failed net 111", 1000)]);
}

#[test]
fn opens_one_connection_per_transaction() {
    let plan = LoadPlan { reconnect: true, ..each(50, plan(request(Method::Get), 2, sim::CLOSED)) };
    let all = run(plan, &SimulatedSystem::default());
    check("-C", &all, &[("ok", 100)]);
    assert_eq!(all.connected, 100);
}

#[test]
fn limits_concurrent_connects() {
    let world = SimulatedSystem { delay: Nanos::from_millis(1), ..SimulatedSystem::default() };
    let all =
        run(LoadPlan { connecting_max: 3, ..each(5, plan(request(Method::Get), 50, sim::CLOSED)) }, &world);
    check("three at a time", &all, &[("ok", 250)]);
    assert_eq!(all.connected, 50);
}

/// Creates a script that queries PostgreSQL, logs in by HTTP, and uses the value captured from the response.
fn mixed() -> Program {
    let text = "BEGIN;\n\\set token 0\n\\set status 0\nSELECT 1;\nCOMMIT;\n\\set n :status + 1\n";
    let mut program =
        parse(&[ScriptSource::new("mixed", text)], Mode::Prepared, false, &[]).expect("the program is valid");
    let slot = |name: &str| program.slot(name).expect("the script uses the variable");
    let (token, status) = (slot("token"), slot("status"));
    let text = |it: &str| CallPart::Text(it.to_owned());
    let login = HttpCall {
        captures: vec![
            CallCapture { slot: token, source: ResponsePart::Header("server".to_owned()) },
            CallCapture { slot: status, source: ResponsePart::Status },
        ],
        ..HttpCall::new(0, Method::Post, vec![text("/login")])
    };
    let used = HttpCall {
        headers: vec![(
            "Authorization".to_owned(),
            vec![CallPart::Var { slot: token, hole: wire::Placeholder::HeaderValue }],
        )],
        ..HttpCall::new(0, Method::Get, vec![text("/me")])
    };
    let Script { commands, .. } = &mut program.scripts[0];
    let call =
        |it: HttpCall| Command { line: 1, first_line: String::new(), kind: CommandKind::Http(Box::new(it)) };
    // The HTTP request is within the transaction block, before COMMIT.
    commands.insert(4, call(login));
    commands.insert(5, call(used));
    program
}

#[test]
fn runs_sql_and_http_in_one_script() {
    let postgres = PostgresEndpoint::new(Arc::new(Login::new("me", "db")), Transport::Unix);
    let service = Service::without_tls("sim");
    let all = run_with(
        each(20, plan(mixed(), 3, sim::CLOSED)),
        &SimulatedSystem::default(),
        Some(postgres.clone()),
        service.clone(),
    );
    check("both", &all, &[("ok", 60)]);
    assert_eq!(all.connected, 6, "a session and a connection for each client");
    assert_eq!((all.steps[&4].len(), all.steps[&5].len()), (60, 60));
    // A failed request rolls the block back, so the next transaction finds a session without a transaction.
    let world = SimulatedSystem {
        http: SimulatedHttp { status: 500, ..SimulatedHttp::default() },
        ..SimulatedSystem::default()
    };
    let all =
        run_with(each(20, plan(mixed(), 3, sim::CLOSED)), &world, Some(postgres.clone()), service.clone());
    check("a failed step", &all, &[("failed HTTP 500", 60)]);
    // The session breaks while the client awaits a response of the service.
    let breaks = (1..20).map(|it| Nanos::from_millis(it * 10)).collect();
    let world = SimulatedSystem { breaks, delay: Nanos::from_micros(300), ..SimulatedSystem::default() };
    let all = run_with(each(100, plan(mixed(), 3, sim::CLOSED)), &world, Some(postgres), service);
    assert_eq!(all.records.len(), 300, "every transaction has one outcome");
    assert!(all.records.iter().any(|it| it.outcome != Outcome::Ok), "some transactions fail");
    assert!(all.records.iter().any(|it| it.outcome == Outcome::Ok), "some transactions succeed");
}
