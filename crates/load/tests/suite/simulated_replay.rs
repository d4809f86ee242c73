//! Replay of recorded sessions in simulated time

use load::random::Prng;
use load::script::{Mode, ProgramBuilder, ScriptHeader};
use load::sim::{self, ServiceTime, SimulatedOutage, SimulatedSystem, StatementResult, drive};
use load::{LoadPlan, Recorder, Replay, ReplayRequest, ReplaySession, ReplaySource, Shard, Workload};
use model::{Code, Nanos, Outcome, Record, Schedule, ScriptId, StatementAnswer};
use std::sync::Arc;
use wire::pg::{Login, Transport};

/// Request of a test: its time in milliseconds, its script, which tells the requests apart, and its recorded result.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    at: u64,
    script: u16,
    answer: StatementAnswer,
}

#[derive(Debug)]
struct Source {
    requests: Vec<Recorded>,
    messages: Vec<u8>,
}

impl ReplaySource for Source {
    fn request(&self, n: u64) -> ReplayRequest<'_> {
        let Recorded { at, script, answer } = self.requests[n as usize];
        let (at, script) = (Nanos::from_millis(at), ScriptId(script));
        ReplayRequest { at, script, messages: &self.messages, commits: false, recorded: answer }
    }

    fn pause_before(&self, _: u64) -> Nanos {
        Nanos::ZERO
    }
}

#[derive(Default)]
struct EventLog {
    records: Vec<Record>,
    compared: Vec<(StatementAnswer, StatementAnswer)>,
    send_lags: u64,
    waits: Vec<Nanos>,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn statement_replayed(&mut self, _: ScriptId, recorded: StatementAnswer, measured: StatementAnswer) {
        self.compared.push((recorded, measured));
    }

    fn send_lag(&mut self, _: Nanos) {
        self.send_lags += 1;
    }

    fn backlog_wait(&mut self, wait: Nanos) {
        self.waits.push(wait);
    }
}

const SCRIPTS: u16 = 100;

/// Replays sessions, each with the time of its connection and the times of its requests in milliseconds. The n-th request
/// of all has the script n.
fn replay(sessions: &[(u64, Vec<u64>)], threads: u16, world: &SimulatedSystem) -> EventLog {
    let answer = StatementAnswer { error: None, rows: Some(1) };
    let times = sessions.iter().flat_map(|it| &it.1).zip(0u16..);
    let requests = times.map(|(at, n)| Recorded { at: *at, script: n % SCRIPTS, answer }).collect();
    replay_requests(sessions, requests, threads, world)
}

fn replay_requests(
    sessions: &[(u64, Vec<u64>)],
    requests: Vec<Recorded>,
    threads: u16,
    world: &SimulatedSystem,
) -> EventLog {
    let mut builder = ProgramBuilder::new(Mode::Simple, &[]);
    for number in 0..SCRIPTS {
        let name = format!("s{number}");
        builder.add_recorded(&ScriptHeader { name: &name, weight: 1, draws: None }, std::iter::empty());
    }
    let program = builder.finish().expect("the scripts are empty");
    let mut first = 0;
    let session = |(connect, times): &(u64, Vec<u64>)| {
        let end = first + times.len() as u64;
        let connect = Nanos::from_millis(*connect);
        let session = ReplaySession { connect, first, end, disconnect: Nanos::ZERO };
        first = end;
        session
    };
    let all = sessions.iter().map(session).collect();
    let last = requests.iter().map(|it| it.at).max().unwrap_or_default();
    let source = Source { requests, messages: b"Q\0\0\0\x0dSELECT 1\0".to_vec() };
    let replay = Replay::new(Arc::new(source), all);
    let threads = threads.min(replay.clients() as u16);
    let schedule = Schedule::Recorded { duration: Nanos::from_millis(last) };
    let plan = LoadPlan {
        drain: Nanos::from_secs(10),
        connecting_max: 64,
        ..sim::plan(program, Mode::Simple, replay.clients(), threads, schedule)
    };
    let work = Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix);
    let work = Arc::new(work.with_replay(replay));
    let shards = (0..threads).map(|k| Shard::new(Arc::clone(&work), k, EventLog::default())).collect();
    drive(shards, world).into_iter().fold(EventLog::default(), |mut all, shard| {
        all.records.extend(shard.recorder.records);
        all.compared.extend(shard.recorder.compared);
        all.waits.extend(shard.recorder.waits);
        all.send_lags += shard.recorder.send_lags;
        all
    })
}

fn fast() -> SimulatedSystem {
    let service = ServiceTime::Constant(Nanos::from_millis(1));
    SimulatedSystem { servers: 1000, service, ..SimulatedSystem::default() }
}

/// Script, start and end of each record in milliseconds since the start of the window, in the order of the starts.
fn times(all: &EventLog) -> Vec<(u16, u64, u64)> {
    let zero = all.records.iter().map(|it| it.intended).min().expect("there are records");
    let since = |it: Nanos| (it - zero).0.div_ceil(1_000_000);
    let mut all: Vec<_> =
        all.records.iter().map(|it| (it.script.0, since(it.started), since(it.finished))).collect();
    all.sort_by_key(|it| (it.1, it.0));
    all
}

#[test]
fn requests_are_sent_at_their_times() {
    let sessions = [(0, vec![0, 10, 30]), (5, vec![10, 20]), (40, vec![50])];
    for threads in [1, 2] {
        let all = replay(&sessions, threads, &fast());
        let expected = [(0, 0, 1), (1, 10, 11), (3, 10, 11), (4, 20, 21), (2, 30, 31), (5, 50, 51)];
        assert_eq!(times(&all), expected);
        assert!(all.records.iter().all(|it| it.outcome == Outcome::Ok && it.started == it.intended));
        assert_eq!((all.send_lags, all.waits.len()), (6, 0));
    }
}

/// The server pauses for 100 ms. The requests of the pause follow one another at its end, and their response times
/// include the wait.
#[test]
fn requests_wait_for_the_previous_one_of_their_session() {
    let pauses = vec![(Nanos::from_millis(0), Nanos::from_millis(101))];
    let all = replay(&[(0, vec![0, 10, 20]), (0, vec![150])], 1, &SimulatedSystem { pauses, ..fast() });
    let found = times(&all);
    let scripts: Vec<u16> = found.iter().map(|it| it.0).collect();
    assert_eq!(scripts, [0, 1, 2, 3]);
    assert!(found[1].1 >= 100 && found[2].1 > found[1].1, "{found:?}");
    assert_eq!(found[3], (3, 150, 151));
    let response = |n: usize| (all.records[n].finished - all.records[n].intended).as_millis_f64();
    assert!(response(1) > 90.0 && response(2) > 80.0, "{:?}", all.records);
    assert_eq!((all.send_lags, all.waits.len()), (2, 2));
}

#[test]
fn results_are_compared_with_the_recorded_ones() {
    let error = |state: &[u8; 5]| Some(Code::SqlState(*state));
    let recorded =
        [(error(b"23505"), None), (error(b"?????"), None), (error(b"40001"), None), (None, Some(3))];
    let recorded = recorded.map(|(error, rows)| StatementAnswer { error, rows });
    let request = |(number, answer): (u16, &StatementAnswer)| Recorded {
        at: 10 * u64::from(number),
        script: number,
        answer: *answer,
    };
    let requests: Vec<Recorded> = (0..).zip(&recorded).map(request).collect();
    let sessions = [(0, vec![0, 10, 20, 30])];
    let run = |world: &SimulatedSystem| replay_requests(&sessions, requests.clone(), 1, world);

    let outcomes = |all: &EventLog| all.records.iter().map(|it| it.outcome).collect::<Vec<_>>();
    let failed = Outcome::Failed(Code::SqlState(*b"23505"));
    let failing = run(&SimulatedSystem { failing: Some((1, *b"23505")), ..fast() });
    assert_eq!(outcomes(&failing), [Outcome::Ok, Outcome::Ok, failed, failed]);
    let two_rows = run(&SimulatedSystem { result: |_| StatementResult::Rows(2), ..fast() });
    assert_eq!(outcomes(&two_rows), [Outcome::Ok; 4]);
    let measured = StatementAnswer { error: None, rows: Some(2) };
    assert_eq!(two_rows.compared, recorded.map(|it| (it, measured)));
}

/// A server that answers too slowly: requests that were not sent when the drain is over are recorded as dropped.
#[test]
fn requests_that_are_never_sent_are_recorded() {
    let service = ServiceTime::Constant(Nanos::from_secs(3));
    let all = replay(
        &[(0, (0..10).collect()), (0, vec![2])],
        1,
        &SimulatedSystem { service, servers: 1, ..SimulatedSystem::default() },
    );
    let count = |outcome: Outcome| all.records.iter().filter(|it| it.outcome == outcome).count();
    assert_eq!(all.records.len(), 11);
    assert_eq!(count(Outcome::Ok) + count(Outcome::Unknown(Code::TIMED_OUT)) + count(Outcome::Dropped), 11);
    assert!(count(Outcome::Dropped) >= 5 && count(Outcome::Ok) >= 3, "{:?}", all.records);
}

/// Random recordings with an outage: every request is recorded exactly once, and the requests of a session are sent in
/// their order, not before their times.
#[test]
fn every_request_is_recorded_once_and_in_order() {
    for seed in 0..300 {
        let mut rng = Prng::seeded(seed);
        let mut below = |most: u64| rng.u64() % most;
        let mut left = u64::from(SCRIPTS);
        let sessions: Vec<(u64, Vec<u64>)> = (0..=below(12))
            .map(|_| {
                let connect = below(3) * below(200);
                let mut at = connect;
                let mut step = || {
                    at += below(40);
                    at
                };
                let count = (step() % 12).min(left);
                left -= count;
                (connect, (0..count).map(|_| step()).collect())
            })
            .collect();
        let total: usize = sessions.iter().map(|it| it.1.len()).sum();
        if total == 0 {
            continue;
        }
        let from = Nanos::from_millis(seed % 300);
        let outages = vec![SimulatedOutage { endpoint: 0, from, to: from + Nanos::from_millis(seed % 70) }];
        let service = ServiceTime::Exponential(Nanos::from_millis(seed % 30 + 1));
        let world = SimulatedSystem { seed, servers: 2, service, outages, ..SimulatedSystem::default() };
        let all = replay(&sessions, (seed % 3 + 1) as u16, &world);

        let mut scripts: Vec<u16> = all.records.iter().map(|it| it.script.0).collect();
        scripts.sort_unstable();
        assert_eq!(scripts, (0..total as u16).collect::<Vec<_>>(), "seed {seed}");
        assert!(all.records.iter().all(|it| it.started >= it.intended), "seed {seed}");
        let mut first = 0;
        for (_, requests) in &sessions {
            let of_session = first..first + requests.len() as u16;
            first = of_session.end;
            let mut its: Vec<&Record> =
                all.records.iter().filter(|it| of_session.contains(&it.script.0)).collect();
            its.sort_by_key(|it| it.script.0);
            assert!(its.is_sorted_by_key(|it| it.started), "seed {seed}: {its:?}");
        }
    }
}
