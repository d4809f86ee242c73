//! Transactions of a recording at a chosen rate, in simulated time

use load::script::{Mode, ProgramBuilder, ScriptHeader};
use load::sim::{self, ServiceTime, SimulatedOutage, SimulatedSystem, drive};
use load::{
    LoadPlan, MeasuredCommands, MixTransaction, RecordedMix, Recorder, ReplayRequest, ReplaySource, Shard,
    Workload,
};
use model::{
    ClientId, Code, Curve, Nanos, Outcome, PerSecond, Record, RequestSample, Schedule, ScriptId, Spacing,
    StatementAnswer,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::pg::{Login, Transport};

#[derive(Debug)]
struct Source {
    messages: Vec<u8>,
    /// Pause before each request of a transaction but the first.
    pause: Nanos,
    recorded: StatementAnswer,
}

impl ReplaySource for Source {
    fn request(&self, _: u64) -> ReplayRequest<'_> {
        let recorded = self.recorded;
        ReplayRequest {
            at: Nanos::ZERO,
            script: ScriptId(0),
            messages: &self.messages,
            commits: false,
            recorded,
        }
    }

    fn pause_before(&self, _: u64) -> Nanos {
        self.pause
    }
}

#[derive(Default)]
struct EventLog {
    records: Vec<Record>,
    finished_steps: BTreeMap<(u16, u16), u64>,
    failed_steps: BTreeMap<(u16, u16), u64>,
    results: u64,
    connections: u64,
    waits: u64,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn statement_finished(&mut self, script: ScriptId, command: u16, _: &RequestSample) {
        *self.finished_steps.entry((script.0, command)).or_default() += 1;
    }

    fn statement_failed(&mut self, script: ScriptId, command: u16, _: Outcome, _: &RequestSample) {
        *self.failed_steps.entry((script.0, command)).or_default() += 1;
    }

    fn statement_replayed(&mut self, _: ScriptId, _: StatementAnswer, _: StatementAnswer) {
        self.results += 1;
    }

    fn connected(&mut self, _: Nanos) {
        self.connections += 1;
    }

    fn backlog_wait(&mut self, _: Nanos) {
        self.waits += 1;
    }
}

/// Load of a test.
#[derive(Clone)]
struct Case {
    /// Script and number of requests of each transaction, by session.
    sessions: Vec<Vec<(u16, u32)>>,
    clients: u32,
    threads: u16,
    rate: f64,
    seconds: u64,
    pause: Nanos,
    recorded: StatementAnswer,
    world: SimulatedSystem,
}

impl Case {
    fn new(sessions: Vec<Vec<(u16, u32)>>, clients: u32, rate: f64, seconds: u64) -> Case {
        let service = ServiceTime::Constant(Nanos::from_millis(1));
        let world = SimulatedSystem { servers: 1000, service, ..SimulatedSystem::default() };
        let (pause, recorded) = (Nanos::ZERO, StatementAnswer::default());
        Case { sessions, clients, threads: 1, rate, seconds, pause, recorded, world }
    }

    fn run(&self) -> EventLog {
        let mut requests: BTreeMap<u16, (u32, u32)> = BTreeMap::new();
        for (script, length) in self.sessions.iter().flatten() {
            requests.entry(*script).or_insert((*length, 0)).1 += 1;
        }
        let mut builder = ProgramBuilder::new(Mode::Simple, &[]);
        for number in 0..=*requests.keys().max().expect("there are transactions") {
            let (length, weight) = requests.get(&number).copied().unwrap_or((1, 0));
            let name = format!("s{number}");
            let steps = vec!["step"; length as usize];
            builder.add_recorded(&ScriptHeader { name: &name, weight, draws: None }, steps.into_iter());
        }
        let program = builder.finish().expect("the scripts are valid");
        let messages = b"Q\0\0\0\x0dSELECT 1\0".to_vec();
        let source = Arc::new(Source { messages, pause: self.pause, recorded: self.recorded });
        let mut first = 0;
        let sessions = self.sessions.iter().map(|session| {
            let begin = first;
            first += session.iter().map(|it| u64::from(it.1)).sum::<u64>();
            let transaction = |it: &(u16, u32)| MixTransaction { requests: it.1, script: ScriptId(it.0) };
            (begin, session.iter().map(transaction).collect())
        });
        let mix = RecordedMix::new(source, sessions.collect::<Vec<_>>().into_iter());
        let rate = PerSecond(self.rate);
        let curve = Curve::Ramp { from: rate, to: rate, duration: Nanos::from_secs(self.seconds) };
        let schedule = Schedule::Open { curve, spacing: Spacing::Even };
        let plan = LoadPlan {
            drain: Nanos::from_secs(10),
            measured: MeasuredCommands::Steps,
            ..sim::plan(program, Mode::Simple, self.clients, self.threads, schedule)
        };
        let work = Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix).with_mix(mix);
        let work = Arc::new(work);
        let shard = |k| Shard::new(Arc::clone(&work), k, EventLog::default());
        let shards = (0..self.threads).map(shard).collect();
        drive(shards, &self.world).into_iter().fold(EventLog::default(), |mut all, shard| {
            let recorder = shard.recorder;
            all.records.extend(recorder.records);
            for (sum, counts) in [
                (&mut all.finished_steps, recorder.finished_steps),
                (&mut all.failed_steps, recorder.failed_steps),
            ] {
                counts.into_iter().for_each(|(step, count)| *sum.entry(step).or_default() += count);
            }
            all.results += recorder.results;
            all.connections += recorder.connections;
            all.waits += recorder.waits;
            all
        })
    }
}

impl EventLog {
    fn count(&self, outcome: Outcome) -> usize {
        self.records.iter().filter(|it| it.outcome == outcome).count()
    }

    /// Transactions that ended within the window of this length, per second.
    fn throughput(&self, seconds: u64) -> f64 {
        let start = self.records.iter().map(|it| it.intended).min().expect("there are records");
        let end = start + Nanos::from_secs(seconds);
        let ended = self.records.iter().filter(|it| it.outcome == Outcome::Ok && it.finished <= end).count();
        ended as f64 / seconds as f64
    }
}

/// Each transaction has a script of its own, so that the records show which transactions a client executed.
#[test]
fn clients_execute_whole_sessions_in_order() {
    let mut script = 0;
    let mut session = |length: u16| -> Vec<(u16, u32)> {
        let first = script;
        script += length;
        (first..script).map(|it| (it, u32::from(it % 3) + 1)).collect()
    };
    let sessions = vec![session(4), session(1), session(7), session(2)];
    for threads in [1, 3] {
        let log = Case { threads, ..Case::new(sessions.clone(), 5, 100.0, 4) }.run();
        assert_eq!((log.records.len(), log.count(Outcome::Ok)), (400, 400));
        let mut by_client: BTreeMap<ClientId, Vec<&Record>> = BTreeMap::new();
        log.records.iter().for_each(|it| by_client.entry(it.client).or_default().push(it));
        assert_eq!(by_client.len(), 5, "all clients take part");
        for (client, mut records) in by_client {
            records.sort_by_key(|it| it.started);
            let mut executed = records.iter().map(|it| it.script.0).peekable();
            while let Some(first) = executed.peek().copied() {
                let of_first = sessions.iter().find(|it| it[0].0 == first);
                let expected = of_first.unwrap_or_else(|| panic!("{client:?} begins a session at {first}"));
                for (script, _) in expected {
                    assert!(executed.next().is_none_or(|it| it == *script), "{client:?}");
                }
            }
        }
        // Each session begins with a connection.
        let begun =
            log.records.iter().filter(|it| sessions.iter().any(|session| session[0].0 == it.script.0));
        assert!(log.connections >= begun.count() as u64, "{}", log.connections);
        let requests: u64 = log.records.iter().map(|it| u64::from(it.script.0 % 3) + 1).sum();
        assert_eq!((log.results, log.finished_steps.values().sum::<u64>()), (requests, requests));
    }
}

/// One session has 90 % of the transactions. Its share is right although its client never reaches its end.
#[test]
fn shares_are_those_of_the_recording() {
    let mut sessions = vec![vec![(1, 1); 5]; 20];
    sessions.push(vec![(0, 2); 900]);
    for (clients, rate) in [(10, 100.0), (50, 2000.0)] {
        let log = Case::new(sessions.clone(), clients, rate, 10).run();
        let long = log.records.iter().filter(|it| it.script == ScriptId(0)).count();
        let share = long as f64 / log.records.len() as f64;
        assert!((0.86..0.94).contains(&share), "{clients} clients: {share}");
    }
}

/// Two servers of 5 ms execute 100 transactions of four requests per second.
#[test]
fn throughput_is_limited_by_the_system() {
    let service = ServiceTime::Constant(Nanos::from_millis(5));
    let world = SimulatedSystem { servers: 2, service, ..SimulatedSystem::default() };
    let at = |rate| Case { world: world.clone(), ..Case::new(vec![vec![(0, 4); 30]; 4], 40, rate, 20) };
    let below = at(90.0).run();
    assert_eq!((below.count(Outcome::Ok), below.waits), (1800, 0));
    assert!((89.0..=90.0).contains(&below.throughput(20)), "{}", below.throughput(20));
    let above = at(150.0).run();
    assert!((98.0..=100.5).contains(&above.throughput(20)), "{}", above.throughput(20));
    assert!(above.waits > 500, "{}", above.waits);
}

/// A client keeps its transaction open during a pause, so that three clients execute at most 3 / 102 ms of them per
/// second. The pause is not part of the response time.
#[test]
fn recorded_pauses_occupy_the_client() {
    let pause = Nanos::from_millis(100);
    let at = |rate| Case { pause, ..Case::new(vec![vec![(0, 2); 50]], 3, rate, 20) };
    let below = at(20.0).run();
    assert_eq!(below.waits, 0);
    let longest = below.records.iter().map(Record::response).max().expect("there are records");
    assert!(longest < Nanos::from_millis(5), "{longest:?}");
    let above = at(60.0).run();
    assert!((28.0..29.5).contains(&above.throughput(20)), "{}", above.throughput(20));
}

/// A transaction with an unexpected error has failed, and its other requests are sent too. Errors of the recording are
/// no failures.
#[test]
fn transactions_fail_once() {
    let sessions = vec![vec![(0, 3); 10]; 2];
    let case = Case::new(sessions, 2, 10.0, 6);
    let state = *b"23505";
    let world = SimulatedSystem { failing: Some((2, state)), ..case.world.clone() };
    let log = Case { world: world.clone(), ..case.clone() }.run();
    assert_eq!((log.records.len(), log.results), (60, 180));
    assert_eq!(log.count(Outcome::Failed(Code::SqlState(state))), 60);
    assert_eq!(log.failed_steps.values().sum::<u64>(), 60, "{:?}", log.failed_steps);
    assert_eq!(log.finished_steps.values().sum::<u64>(), 90);

    let recorded = StatementAnswer { error: Some(Code::SqlState(state)), rows: None };
    let log = Case { world, recorded, ..case }.run();
    assert_eq!((log.count(Outcome::Ok), log.failed_steps.len()), (60, 0));
}

/// Random sessions with an outage: every arrival is recorded exactly once, and sessions begin again after it.
#[test]
fn every_arrival_is_recorded_once() {
    for seed in 0..100u64 {
        let lengths = (0..1 + seed % 5).map(|it| 1 + (seed * 7 + it * 13) % 9);
        let sessions: Vec<Vec<(u16, u32)>> = lengths
            .map(|it| (0..it as u16).map(|n| (n, 1 + (u32::from(n) + seed as u32) % 3)).collect())
            .collect();
        // All transactions of a script have the same number of requests.
        let from = Nanos::from_millis(seed * 20 % 900);
        let outages = vec![SimulatedOutage { endpoint: 0, from, to: from + Nanos::from_millis(seed % 200) }];
        let service = ServiceTime::Exponential(Nanos::from_millis(seed % 8 + 1));
        let world = SimulatedSystem { seed, servers: 3, service, outages, ..SimulatedSystem::default() };
        let clients = 1 + (seed % 7) as u32;
        let threads = (1 + seed % 3).min(u64::from(clients)) as u16;
        let log = Case { threads, world, ..Case::new(sessions, clients, 200.0, 1) }.run();
        let times: BTreeSet<Nanos> = log.records.iter().map(|it| it.intended).collect();
        assert_eq!((log.records.len(), times.len()), (200, 200), "seed {seed}");
        assert!(log.records.iter().all(|it| it.started >= it.intended), "seed {seed}");
    }
}
