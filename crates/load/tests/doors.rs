//! Two doors to PostgreSQL: who goes through which of them, and what if one is shut?

use load::random::Seeds;
use load::script::{Mode, Source, parse};
use load::sim::{Outage, Service, World, drive};
use load::{Action, ConnId, Plan, Postgres, Recorder, Seeding, Shard, Target, Workload};
use model::plan::To;
use model::{Code, Curve, Nanos, Outcome, PerSecond, Record, Schedule, ScriptId, Spacing};
use std::sync::Arc;
use wire::pg::{Login, Transport};

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
const ANSWER: &[u8] = b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

const CLOSED: Schedule = Schedule::Closed { think: Nanos::ZERO };

fn door() -> Postgres {
    Postgres { login: Arc::new(Login::new("me", "db")), transport: Transport::Unix }
}

/// A script for each of these, called by where it goes and of equal weight.
fn workload(to: &[To], clients: u32, schedule: Schedule, ends: Nanos) -> Workload {
    let texts: Vec<String> = to.iter().map(|it| format!("SELECT '{it:?}';\n")).collect();
    let sources: Vec<_> = texts.iter().map(|text| Source { name: "test", text, weight: 1 }).collect();
    let program = parse(&sources, Mode::Simple, false, &[]).expect("right");
    let mut seeds = Seeds::new(3);
    let plan = Plan {
        program,
        mode: Mode::Simple,
        schedule,
        duration: Some(ends),
        transactions: None,
        clients,
        threads: 1,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 1000,
        drain: Nanos::from_secs(1),
        reconnect: false,
        connecting_max: 64,
        connect_timeout: Nanos::from_secs(1),
        timeout: None,
        verbose: false,
        statements: false,
        seeds: Seeding {
            clients: (0..clients).map(|_| seeds.client()).collect(),
            choices: vec![seeds.thread().choose],
            arrivals: 3,
            other: 3,
            variables: Vec::new(),
        },
    };
    Workload::of(plan, Some(door()), Vec::new()).with_replicas(door(), to)
}

#[derive(Default)]
struct All {
    records: Vec<Record>,
    connected: usize,
}

impl Recorder for All {
    fn record(&mut self, it: &Record) {
        self.records.push(*it);
    }

    fn connected(&mut self, _: Nanos) {
        self.connected += 1;
    }
}

/// A server behind each door that answers at once; what was asked at which, and who was hung up on.
struct Servers {
    shard: Shard<All>,
    now: Nanos,
    logged_in: Vec<bool>,
    asked: Vec<(u16, String)>,
    opened: Vec<ConnId>,
    closed: Vec<ConnId>,
}

impl Servers {
    fn new(work: Workload) -> Servers {
        let shard = Shard::new(Arc::new(work), 0, All::default());
        let logged_in = vec![false; shard.connections() as usize];
        let (asked, opened, closed) = (Vec::new(), Vec::new(), Vec::new());
        Servers { shard, now: Nanos::ZERO, logged_in, asked, opened, closed }
    }

    /// Lets a millisecond pass. False once the shard is done.
    fn turn(&mut self) -> bool {
        self.now += Nanos::from_millis(1);
        self.shard.advance(self.now);
        let mut sent: Vec<(ConnId, Vec<u8>)> = Vec::new();
        let goes_on = loop {
            match self.shard.poll() {
                Action::Connect(conn) => {
                    self.opened.push(conn);
                    self.logged_in[conn.0 as usize] = false;
                    self.shard.connected(self.now, conn);
                }
                Action::Transmit(conn, bytes) => {
                    let bytes = bytes.to_vec();
                    self.shard.sent(conn, bytes.len());
                    sent.push((conn, bytes));
                }
                Action::Close(conn) => self.closed.push(conn),
                Action::Wait(_) => break true,
                Action::Done => break false,
                Action::Say(_) | Action::Shell { .. } => {}
            }
        };
        for (conn, bytes) in sent {
            let Target::Postgres(door) = self.shard.target(conn) else { panic!("there is no service") };
            if !std::mem::replace(&mut self.logged_in[conn.0 as usize], true) {
                self.shard.receive(self.now, conn, WELCOME);
            } else if bytes[0] == b'Q' {
                let text = String::from_utf8_lossy(&bytes[5..]).into_owned();
                self.asked.push((door, text));
                self.shard.receive(self.now, conn, ANSWER);
            }
        }
        goes_on
    }

    fn begin(&mut self) {
        while !self.shard.is_settled() {
            self.turn();
        }
        self.shard.begin(self.now);
    }

    /// Lets so many more transactions end.
    fn run(&mut self, transactions: usize) {
        let until = self.shard.recorder.records.len() + transactions;
        while self.shard.recorder.records.len() < until {
            assert!(self.turn(), "it is not over yet");
        }
    }
}

#[test]
fn each_script_goes_where_it_is_sent() {
    let ends = Nanos::from_secs(3600);
    let mut servers = Servers::new(workload(&[To::Primary, To::Replica, To::Any], 3, CLOSED, ends));
    assert_eq!(servers.shard.connections(), 6);
    servers.begin();
    assert_eq!(servers.opened, [0, 1, 2].map(ConnId), "before the window there is one session each");
    servers.run(3000);
    let count = |wanted: (u16, &str)| {
        servers.asked.iter().filter(|(door, text)| *door == wanted.0 && text.contains(wanted.1)).count()
    };
    assert_eq!((count((1, "Primary")), count((0, "Replica"))), (0, 0));
    let (first, second) = (count((0, "Any")), count((1, "Any")));
    assert!(count((0, "Primary")) > 900 && count((1, "Replica")) > 900);
    assert!(first > 400 && second > 400 && first.abs_diff(second) < 200, "{first} and {second}");
    // Opened once each, and kept.
    let mut opened = servers.opened.clone();
    opened.sort_by_key(|it| it.0);
    assert_eq!(opened, [0, 1, 2, 3, 4, 5].map(ConnId));
    assert!(servers.shard.recorder.records.iter().all(|it| it.outcome == Outcome::Ok));
    // At the end nobody is left connected.
    servers.shard.stop(servers.now);
    while servers.turn() {}
    let mut closed = servers.closed.clone();
    closed.sort_by_key(|it| it.0);
    assert_eq!(closed, [0, 1, 2, 3, 4, 5].map(ConnId));
}

/// A session that breaks while nobody speaks in it is no failure: it is opened again when it is needed.
#[test]
fn a_parked_session_may_break() {
    let ends = Nanos::from_secs(3600);
    let mut servers = Servers::new(workload(&[To::Primary, To::Replica], 1, CLOSED, ends));
    servers.begin();
    servers.run(20);
    assert_eq!(servers.opened.len(), 2);
    // One of the two is parked, and the other is idle or asked.
    for conn in [ConnId(0), ConnId(1)] {
        servers.run(10);
        let (now, before) = (servers.now, servers.opened.len());
        // A message that nobody asked for, and the end.
        servers.shard.receive(now, conn, b"S\0\0\0\x08a\0b\0");
        servers.shard.closed(now, conn);
        servers.shard.closed(now, conn);
        servers.run(20);
        assert_eq!(servers.opened[before..], [conn], "once more");
    }
    let unknown =
        servers.shard.recorder.records.iter().filter(|it| matches!(it.outcome, Outcome::Unknown(_)));
    assert!(unknown.count() <= 2, "but for what was under way");
    let failed = |it: &&Record| matches!(it.outcome, Outcome::Failed(_));
    assert_eq!(servers.shard.recorder.records.iter().filter(failed).count(), 0);
}

/// While one door is shut, clients go on by the other.
#[test]
fn a_shut_door_stops_nobody_at_the_other() {
    let curve =
        |rate| Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), lasting: Nanos::from_secs(9) };
    let open = Schedule::Open { curve: curve(400.0), spacing: Spacing::Even };
    for (schedule, shut) in [(CLOSED, 0), (CLOSED, 1), (open.clone(), 0), (open, 1)] {
        let told = format!("{schedule:?}, door {shut}");
        let (from, to) = (Nanos::from_secs(3), Nanos::from_secs(6));
        let world = World {
            servers: 100,
            service: Service::Constant(Nanos::from_millis(1)),
            delay: Nanos::from_micros(50),
            outages: vec![Outage { door: shut, from, to }],
            ..World::default()
        };
        let work = workload(&[To::Primary, To::Replica], 20, schedule, Nanos::from_secs(9));
        let shard = Shard::new(Arc::new(work), 0, All::default());
        let all = drive(vec![shard], &world).pop().expect("one went in").recorder;
        let of = |script: u16| all.records.iter().filter(move |it| it.script == ScriptId(script));
        let during = |it: &&Record| it.finished > from && it.finished < to;
        let (open, shut) = (of(1 - shut), of(shut));
        assert!(open.clone().all(|it| it.outcome == Outcome::Ok), "{told}");
        assert!(open.filter(during).count() > 100, "{told}");
        let (refused, other): (Vec<&Record>, Vec<&Record>) =
            shut.clone().filter(during).partition(|it| it.outcome == Outcome::Failed(Code::REFUSED));
        assert!(refused.len() > 100 && other.len() <= 20, "{told}: {} and {}", refused.len(), other.len());
        let back = shut.filter(|it| it.outcome == Outcome::Ok).map(|it| it.finished).find(|it| *it > to);
        let back = back.expect("it goes on");
        assert!(back < to + Nanos::from_millis(150), "{told}: {:?}", back - to);
    }
}
