//! Tests of two PostgreSQL endpoints: routing of scripts, and behaviour while one endpoint is unavailable

use load::script::{Mode, ScriptSource, parse};
use load::sim::{self, ServiceTime, SimulatedOutage, SimulatedSystem, drive};
use load::{Action, ConnId, Hosts, LoadPlan, PostgresEndpoint, Recorder, Shard, Target, Workload};
use model::plan::SqlTarget;
use model::{Code, Curve, Nanos, Outcome, PerSecond, Record, Schedule, ScriptId, Spacing};
use std::sync::Arc;
use wire::pg::{Login, Transport};

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
const ANSWER: &[u8] = b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

fn postgres() -> PostgresEndpoint {
    let mut login = Login::new("me", "db");
    login.send_cancel = true;
    PostgresEndpoint::new(Arc::new(login), Transport::Unix)
}

/// Workload with one script per target. All scripts have the same weight and are named after their targets.
fn workload(to: &[SqlTarget], clients: u32, schedule: Schedule, ends: Nanos) -> Workload {
    workload_by(postgres(), Some(postgres()), to, clients, schedule, ends)
}

fn workload_by(
    first: PostgresEndpoint,
    second: Option<PostgresEndpoint>,
    to: &[SqlTarget],
    clients: u32,
    schedule: Schedule,
    ends: Nanos,
) -> Workload {
    let texts: Vec<String> = to.iter().map(|it| format!("SELECT '{it:?}';\n")).collect();
    let sources: Vec<_> = texts.iter().map(|text| ScriptSource::new("test", text)).collect();
    let program = parse(&sources, Mode::Simple, false, &[]).expect("the program is valid");
    let plan = LoadPlan {
        duration: Some(ends),
        backlog_max: 1000,
        drain: Nanos::from_secs(1),
        connecting_max: 64,
        connect_timeout: Nanos::from_secs(1),
        ..sim::plan(program, Mode::Simple, clients, 1, schedule)
    };
    let work = Workload::with_services(plan, Some(first), Vec::new());
    match second {
        Some(second) => work.with_replicas(second, to),
        None => work,
    }
}

#[derive(Default)]
struct EventLog {
    records: Vec<Record>,
    connected: usize,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn connected(&mut self, _: Nanos) {
        self.connected += 1;
    }
}

/// Role of a host.
#[derive(Clone, Copy, PartialEq)]
enum Host {
    Primary,
    Standby,
    /// Promoted server that refuses writes.
    ReadOnly,
    Down,
}

/// Simulated servers of both endpoints, which answer at once. Records requests and closed sessions.
struct Servers {
    shard: Shard<EventLog>,
    now: Nanos,
    /// Roles of the hosts, by endpoint.
    hosts: [Vec<Host>; 2],
    logged_in: Vec<bool>,
    requests: Vec<(u16, String)>,
    /// Endpoint and host of each request.
    request_hosts: Vec<(u16, u16)>,
    opened: Vec<ConnId>,
    closed: Vec<ConnId>,
}

impl Servers {
    fn new(work: Workload) -> Servers {
        let shard = Shard::new(Arc::new(work), 0, EventLog::default());
        let logged_in = vec![false; shard.connections() as usize];
        let hosts = [vec![Host::Primary], vec![Host::Primary]];
        let (requests, request_hosts, opened, closed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Servers { shard, now: Nanos::ZERO, hosts, logged_in, requests, request_hosts, opened, closed }
    }

    fn host(&self, conn: ConnId) -> (u16, u16, Host) {
        let Target::Postgres { endpoint, host } = self.shard.target(conn) else {
            panic!("there is no service")
        };
        (endpoint, host, self.hosts[usize::from(endpoint)][usize::from(host)])
    }

    /// Changes the role of a host, as a kill or a promotion does. Its sessions end.
    fn set_host(&mut self, (endpoint, host): (u16, u16), state: Host) {
        self.hosts[usize::from(endpoint)][usize::from(host)] = state;
        for conn in (0..self.logged_in.len() as u32).map(ConnId) {
            if self.logged_in[conn.0 as usize] && self.host(conn).0 == endpoint && self.host(conn).1 == host {
                self.shard.closed(self.now, conn);
            }
        }
    }

    /// Advances the time by a millisecond. Returns false once the shard is done.
    fn turn(&mut self) -> bool {
        self.now += Nanos::from_millis(1);
        self.shard.advance(self.now);
        let mut sent: Vec<(ConnId, Vec<u8>)> = Vec::new();
        let goes_on = loop {
            match self.shard.poll() {
                Action::Connect(conn) => {
                    self.opened.push(conn);
                    self.logged_in[conn.0 as usize] = false;
                    match self.host(conn).2 {
                        Host::Down => self.shard.broken(self.now, conn, Code::REFUSED, "refused"),
                        Host::Primary | Host::Standby | Host::ReadOnly => {
                            self.shard.connected(self.now, conn);
                        }
                    }
                }
                Action::Transmit(conn, bytes) => {
                    let bytes = bytes.to_vec();
                    self.shard.sent(conn, bytes.len());
                    sent.push((conn, bytes));
                }
                Action::Close(conn) => self.closed.push(conn),
                Action::Finish(_) | Action::Probe(_) => {}
                Action::Wait(_) => break true,
                Action::Done => break false,
                Action::Report(_) | Action::Shell { .. } => {}
            }
        };
        for (conn, bytes) in sent {
            let (endpoint, host, state) = self.host(conn);
            if !std::mem::replace(&mut self.logged_in[conn.0 as usize], true) {
                let reply: &[u8] = match state {
                    Host::ReadOnly => {
                        b"S\0\0\0\x17in_hot_standby\0off\0S\0\0\0\x25default_transaction_read_only\0on\0"
                    }
                    Host::Standby => b"S\0\0\0\x16in_hot_standby\0on\0",
                    Host::Primary | Host::Down => b"S\0\0\0\x17in_hot_standby\0off\0",
                };
                let (accepted, ready) = WELCOME.split_at(9);
                self.shard.receive(self.now, conn, &[accepted, reply, ready].concat());
            } else if bytes[0] == b'Q' {
                let text = String::from_utf8_lossy(&bytes[5..]).into_owned();
                self.requests.push((endpoint, text));
                self.request_hosts.push((endpoint, host));
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

    /// Continues until `transactions` more transactions have ended.
    fn run(&mut self, transactions: usize) {
        let end = self.shard.recorder.records.len() + transactions;
        while self.shard.recorder.records.len() < end {
            assert!(self.turn(), "the shard is not done");
        }
    }
}

#[test]
fn scripts_use_their_endpoint() {
    let ends = Nanos::from_secs(3600);
    let mut servers = Servers::new(workload(
        &[SqlTarget::Primary, SqlTarget::Replica, SqlTarget::Any],
        3,
        sim::CLOSED,
        ends,
    ));
    assert_eq!(servers.shard.connections(), 9, "two sessions and one cancel connection per client");
    servers.begin();
    assert_eq!(servers.opened, [0, 1, 2].map(ConnId), "one session per client before the window");
    servers.run(3000);
    let count = |request: (u16, &str)| {
        servers
            .requests
            .iter()
            .filter(|(endpoint, text)| *endpoint == request.0 && text.contains(request.1))
            .count()
    };
    assert_eq!((count((1, "Primary")), count((0, "Replica"))), (0, 0));
    let (first, second) = (count((0, "Any")), count((1, "Any")));
    assert!(count((0, "Primary")) > 900 && count((1, "Replica")) > 900);
    assert!(first > 400 && second > 400 && first.abs_diff(second) < 200, "{first} and {second}");
    // Each session is opened once and kept.
    let mut opened = servers.opened.clone();
    opened.sort_by_key(|it| it.0);
    assert_eq!(opened, [0, 1, 2, 3, 4, 5].map(ConnId));
    assert!(servers.shard.recorder.records.iter().all(|it| it.outcome == Outcome::Ok));
    // At the end, no client is connected.
    servers.shard.stop(servers.now);
    while servers.turn() {}
    let mut closed = servers.closed.clone();
    closed.sort_by_key(|it| it.0);
    assert_eq!(closed, [0, 1, 2, 3, 4, 5].map(ConnId));
}

/// Checks a session that breaks while it is parked: this is no failure, and the session is reopened when needed.
#[test]
fn broken_parked_session_does_not_fail_transactions() {
    let ends = Nanos::from_secs(3600);
    let mut servers = Servers::new(workload(&[SqlTarget::Primary, SqlTarget::Replica], 1, sim::CLOSED, ends));
    servers.begin();
    servers.run(20);
    assert_eq!(servers.opened.len(), 2);
    // One of the two sessions is parked. The other is idle or has a request in flight.
    for conn in [ConnId(0), ConnId(1)] {
        servers.run(10);
        let (now, before) = (servers.now, servers.opened.len());
        // An unsolicited message arrives, and then the connection ends.
        servers.shard.receive(now, conn, b"S\0\0\0\x08a\0b\0");
        servers.shard.closed(now, conn);
        servers.shard.closed(now, conn);
        servers.run(20);
        assert_eq!(servers.opened[before..], [conn], "once more");
    }
    let unknown =
        servers.shard.recorder.records.iter().filter(|it| matches!(it.outcome, Outcome::Unknown(_)));
    assert!(unknown.count() <= 2, "only transactions in flight are unknown");
    let failed = |it: &&Record| matches!(it.outcome, Outcome::Failed(_));
    assert_eq!(servers.shard.recorder.records.iter().filter(failed).count(), 0);
}

/// Checks that clients continue with one endpoint while the other is unreachable.
#[test]
fn unreachable_endpoint_does_not_stop_the_other() {
    let curve =
        |rate| Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration: Nanos::from_secs(9) };
    let open = Schedule::Open { curve: curve(400.0), spacing: Spacing::Even };
    for (schedule, shut) in [(sim::CLOSED, 0), (sim::CLOSED, 1), (open.clone(), 0), (open, 1)] {
        let case = format!("{schedule:?}, endpoint {shut}");
        let (from, to) = (Nanos::from_secs(3), Nanos::from_secs(6));
        let world = SimulatedSystem {
            servers: 100,
            service: ServiceTime::Constant(Nanos::from_millis(1)),
            delay: Nanos::from_micros(50),
            outages: vec![SimulatedOutage { endpoint: shut, from, to }],
            ..SimulatedSystem::default()
        };
        let work = workload(&[SqlTarget::Primary, SqlTarget::Replica], 20, schedule, Nanos::from_secs(9));
        let shard = Shard::new(Arc::new(work), 0, EventLog::default());
        let all = drive(vec![shard], &world).pop().expect("there is one shard").recorder;
        let records = |script: u16| all.records.iter().filter(move |it| it.script == ScriptId(script));
        let during = |it: &&Record| it.finished > from && it.finished < to;
        let (open, shut) = (records(1 - shut), records(shut));
        assert!(open.clone().all(|it| it.outcome == Outcome::Ok), "{case}");
        assert!(open.filter(during).count() > 100, "{case}");
        let (refused, other): (Vec<&Record>, Vec<&Record>) =
            shut.clone().filter(during).partition(|it| it.outcome == Outcome::Failed(Code::REFUSED));
        assert!(refused.len() > 100 && other.len() <= 20, "{case}: {} and {}", refused.len(), other.len());
        let back = shut.filter(|it| it.outcome == Outcome::Ok).map(|it| it.finished).find(|it| *it > to);
        let back = back.expect("transactions succeed again");
        assert!(back < to + Nanos::from_millis(150), "{case}: {:?}", back - to);
    }
}

fn postgres_with_hosts(count: u16, target_role: SqlTarget) -> PostgresEndpoint {
    let mut login = Login::new("me", "db");
    login.keep_parameters = true;
    PostgresEndpoint::with_hosts(Arc::new(login), Transport::Tcp, Hosts { count, target_role })
}

/// Checks a failover: the primary is killed, and a standby is promoted some time later.
#[test]
fn clients_find_the_primary_among_hosts() {
    let work = workload_by(
        postgres_with_hosts(3, SqlTarget::Primary),
        None,
        &[SqlTarget::Primary],
        6,
        sim::CLOSED,
        Nanos::from_secs(3600),
    );
    let mut servers = Servers::new(work);
    servers.hosts[0] = vec![Host::Primary, Host::Standby, Host::Standby];
    servers.begin();
    servers.run(100);
    servers.set_host((0, 0), Host::Down);
    let (before, requests) = (servers.opened.len(), servers.request_hosts.len());
    assert!(servers.request_hosts.iter().all(|it| *it == (0, 0)), "{:?}", servers.request_hosts);
    for _ in 0..100 {
        servers.turn();
    }
    assert_eq!(servers.request_hosts.len(), requests, "no standby receives a write");
    let rounds = (servers.opened.len() - before) as f64 / 18.0;
    assert!((2.0..=20.0).contains(&rounds), "{rounds} rounds of all hosts in 0.1 s");
    // A promoted server may refuse writes for a while.
    servers.set_host((0, 2), Host::ReadOnly);
    for _ in 0..100 {
        servers.turn();
    }
    assert_eq!(servers.request_hosts.len(), requests, "a server that refuses writes receives none");
    servers.set_host((0, 2), Host::Primary);
    servers.run(100);
    assert!(
        servers.request_hosts[requests..].iter().all(|it| *it == (0, 2)),
        "{:?}",
        &servers.request_hosts[requests..]
    );
    // The only failed transactions are those that were in flight at the kill.
    let ok = |it: &&Record| it.outcome == Outcome::Ok;
    let records = &servers.shard.recorder.records;
    assert!(records.iter().filter(|it| !ok(it)).count() <= 6);
    // A skipped host does not count as a session.
    assert_eq!(servers.shard.recorder.connected, 12);
}

#[test]
fn replica_clients_spread_and_skip_promoted_host() {
    let replicas = Some(postgres_with_hosts(3, SqlTarget::Replica));
    let work =
        workload_by(postgres(), replicas, &[SqlTarget::Replica], 6, sim::CLOSED, Nanos::from_secs(3600));
    let mut servers = Servers::new(work);
    servers.hosts[1] = vec![Host::Standby, Host::Standby, Host::Primary];
    servers.begin();
    servers.run(600);
    let count = |servers: &Servers, host| servers.request_hosts.iter().filter(|it| **it == (1, host)).count();
    let each = [0, 1, 2].map(|it| count(&servers, it));
    assert!(each[0] > 200 && each[1] > 200 && each[2] == 0, "{each:?}");
    servers.set_host((1, 0), Host::Primary);
    servers.request_hosts.clear();
    servers.run(100);
    assert_eq!((count(&servers, 0), count(&servers, 2)), (0, 0));
}
