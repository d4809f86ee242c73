//! Test of a server outage: the server is replaced seconds later at the same address, and detection and recovery are
//! timed

use load::script::{Mode, ScriptSource, parse};
use load::sim::{self, ServiceTime, SimulatedOutage, SimulatedSystem, drive};
use load::{LoadPlan, Recorder, Shard, Workload};
use model::{Code, Curve, Nanos, Outcome, PerSecond, Record, Schedule, Spacing};
use std::sync::Arc;
use wire::pg::{Login, Transport};

const FROM: Nanos = Nanos::from_secs(2);
const TO: Nanos = Nanos::from_secs(9);
const ENDS: Nanos = Nanos::from_secs(12);

/// Maximum error of a measured outage's end.
const LATE: Nanos = Nanos::from_millis(150);

#[derive(Default)]
struct EventLog {
    records: Vec<Record>,
    refused: Vec<Code>,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn refused(&mut self, code: Code) {
        self.refused.push(code);
    }
}

fn run(clients: u32, reconnect: bool, schedule: Schedule) -> EventLog {
    let source = ScriptSource::new("test", "SELECT 1;\n");
    let program = parse(&[source], Mode::Prepared, false, &[]).expect("the script is valid");
    let plan = LoadPlan {
        duration: Some(ENDS),
        drain: Nanos::from_secs(10),
        reconnect,
        connecting_max: 64,
        ..sim::plan(program, Mode::Prepared, clients, 1, schedule)
    };
    let world = SimulatedSystem {
        servers: 1000,
        service: ServiceTime::Constant(Nanos::from_millis(5)),
        delay: Nanos::from_micros(50),
        outages: vec![SimulatedOutage { endpoint: 0, from: FROM, to: TO }],
        ..SimulatedSystem::default()
    };
    let work = Arc::new(Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix));
    drive(vec![Shard::new(work, 0, EventLog::default())], &world).pop().expect("there is one shard").recorder
}

/// Time of each client's first success after the outage; `None` without a success.
fn recovery_times(all: &EventLog, clients: u32) -> Vec<Option<Nanos>> {
    let first = |client: u32| {
        let its = all.records.iter().filter(|it| it.client.0 == client && it.outcome == Outcome::Ok);
        its.map(|it| it.finished).filter(|it| *it > TO).min()
    };
    (0..clients).map(first).collect()
}

/// Checks the closed model: transactions in flight become unknown, refused clients send nothing, and all clients
/// recover at once.
#[test]
fn closed_model_recovers_immediately() {
    for clients in [1, 2, 10, 70, 1000] {
        let all = run(clients, false, sim::CLOSED);
        let count = |outcome: Outcome| all.records.iter().filter(|it| it.outcome == outcome).count();
        assert_eq!(count(Outcome::Unknown(Code::RESET)), clients as usize, "each client awaited an answer");
        assert_eq!(count(Outcome::Ok) + clients as usize, all.records.len());
        for (client, at) in recovery_times(&all, clients).into_iter().enumerate() {
            let at = at.expect("every client recovers");
            assert!(at <= TO + LATE, "client {client} of {clients} after {:?}", at - TO);
        }
        // The server is not overloaded with retries.
        let each_second = all.refused.len() as u64 / 7;
        assert!((10..=2500).contains(&each_second), "{clients} clients try {each_second} times per second");
    }
}

/// Checks the open model: arrivals wait in the backlog, and none is lost.
#[test]
fn open_model_recovers_immediately() {
    let duration = Nanos::from_secs(12);
    let curve = Curve::Ramp { from: PerSecond(500.0), to: PerSecond(500.0), duration };
    let all = run(20, false, Schedule::Open { curve, spacing: Spacing::Even });
    assert_eq!(all.records.len(), 6_000);
    let unknown = all.records.iter().filter(|it| matches!(it.outcome, Outcome::Unknown(_))).count();
    let ok = all.records.iter().filter(|it| it.outcome == Outcome::Ok);
    assert!((1..=20).contains(&unknown), "{unknown} unknown");
    assert_eq!(ok.clone().count() + unknown, 6_000);
    let first = ok.map(|it| it.finished).filter(|it| *it > TO).min().expect("transactions succeed again");
    assert!(first <= TO + LATE, "{:?}", first - TO);
}

/// Checks a client that connects for each transaction. It is refused before it sends a request, so the transaction
/// certainly has no effect.
#[test]
fn unreachable_server_gives_failed_not_unknown() {
    let all = run(10, true, sim::CLOSED);
    let during = all.records.iter().filter(|it| it.started > FROM && it.finished < TO);
    let refused = during.clone().filter(|it| it.outcome == Outcome::Failed(Code::REFUSED)).count();
    assert_eq!(refused, during.count());
    assert!(refused > 100, "{refused} refused");
    for at in recovery_times(&all, 10) {
        let at = at.expect("every client recovers");
        assert!(at <= TO + LATE, "after {:?}", at - TO);
    }
}

/// Checks new clients of a server that accepts requests but does not answer them. A client that gives up disconnects at
/// once, so that another attempt follows. After a number of abandoned sessions, one attempt per second follows.
#[test]
fn abandoned_sessions_limit_further_attempts() {
    const RATE: f64 = 20.0;
    let attempts = |abandon_max: Option<u32>| {
        let source = ScriptSource::new("test", "SELECT 1;\n");
        let program = parse(&[source], Mode::Simple, false, &[]).expect("the script is valid");
        let curve = Curve::Ramp { from: PerSecond(RATE), to: PerSecond(RATE), duration: ENDS };
        let schedule = Schedule::Open { curve, spacing: Spacing::Even };
        let plan = LoadPlan {
            drain: Nanos::from_secs(10),
            reconnect: true,
            connect_timeout: Nanos::from_secs(1),
            timeout: Some(Nanos::from_secs(1)),
            abandon_max,
            ..sim::plan(program, Mode::Simple, 40, 1, schedule)
        };
        let world = SimulatedSystem {
            servers: 1000,
            service: ServiceTime::Constant(Nanos::from_millis(5)),
            pauses: vec![(FROM, TO)],
            ..SimulatedSystem::default()
        };
        let work = Arc::new(Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix));
        let shards = drive(vec![Shard::new(work, 0, EventLog::default())], &world);
        shards.into_iter().next().expect("there is one shard").recorder.records
    };
    let summary = |records: Vec<Record>| {
        let during = records.iter().filter(|it| it.started > FROM && it.finished < TO);
        let sent = during.filter(|it| it.outcome != Outcome::Dropped).count();
        let first = records.iter().filter(|it| it.outcome == Outcome::Ok && it.finished > TO);
        let first = first.map(|it| it.finished).min().expect("transactions succeed again");
        (sent, first - TO)
    };
    let (limited, first) = summary(attempts(Some(40)));
    // 40 sessions are abandoned within three seconds, and one per second in the other four seconds.
    assert!((55..=70).contains(&limited), "{limited} attempts");
    assert!(first <= Nanos::from_secs(1), "{first:?} after the end of the pause");
    let (unlimited, first) = summary(attempts(Some(u32::MAX)));
    assert!((100..=140).contains(&unlimited), "{unlimited} attempts");
    assert!(first <= LATE, "{first:?} after the end of the pause");
}
