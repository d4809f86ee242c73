//! Tests of users in simulated time: presence, pacing and rate cap

use load::script::{Mode, Program, ProgramBuilder, ScriptHeader};
use load::sim::{self, ServiceTime as Serving, SimulatedSystem, drive};
use load::{LoadPlan, PostgresEndpoint, Recorder, Service, Shard, Workload};
use model::plan::{HttpStep, ThinkTime, UserStage};
use model::{Curve, Nanos, Outcome, PerSecond, Record, Schedule, ScriptId, Spacing, Stream, UserRamp};
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::pg::{Login, Transport};

fn stage(users: u32, spawn_rate: Option<f64>, secs: u64) -> UserStage {
    UserStage { users, spawn_rate, duration: Nanos::from_secs(secs) }
}

fn users(stages: &[UserStage], think: ThinkTime) -> UserRamp {
    UserRamp { stages: stages.to_vec(), think, pacing: None, rate_max: None }
}

/// Program with one script per weight. Each script sends a request to PostgreSQL.
fn scripts(weights: &[u32]) -> Program {
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    for (n, &weight) in weights.iter().enumerate() {
        maker.add_pgbench(&ScriptHeader { name: &format!("s{n}"), weight, draws: None }, "SELECT 1;", false);
    }
    maker.finish().expect("the program is valid")
}

fn request() -> Program {
    let step = HttpStep::new("GET", "/${client_id}");
    let mut maker = ProgramBuilder::new(Mode::Simple, &["client_id"]);
    maker.add_http(&ScriptHeader { name: "get", weight: 1, draws: None }, 0, &[], &[step]);
    maker.finish().expect("the program is valid")
}

fn plan(program: Program, clients: u32, threads: u16, schedule: Schedule) -> LoadPlan {
    sim::plan(program, Mode::Simple, clients, threads, schedule)
}

/// Recorder that keeps all records of a thread, and its window.
#[derive(Debug, Default)]
struct EventLog {
    records: Vec<Record>,
    start: Nanos,
    ends: Nanos,
    connected: usize,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn connected(&mut self, _: Nanos) {
        self.connected += 1;
    }

    fn window(&mut self, start: Nanos, ends: Nanos) {
        (self.start, self.ends) = (start, ends);
    }
}

/// Records of all threads since the window's start, in the order of their starts.
fn run(plan: LoadPlan, world: &SimulatedSystem) -> EventLog {
    let threads = plan.threads;
    let http = plan.program.slot("client_id").is_some();
    let postgres = PostgresEndpoint::new(Arc::new(Login::new("me", "db")), Transport::Unix);
    let services = vec![Service::without_tls("sim")];
    let work = Arc::new(Workload::with_services(plan, (!http).then_some(postgres), services));
    let shards = (0..threads).map(|k| Shard::new(work.clone(), k, EventLog::default())).collect();
    let mut all = EventLog::default();
    for log in drive(shards, world).into_iter().map(|it| it.recorder) {
        (all.start, all.ends) = (log.start, log.ends);
        all.connected += log.connected;
        all.records.extend(log.records);
    }
    all.records.sort_by_key(|it| (it.started, it.client));
    all
}

/// Number of active users in each whole second of the window. An active user began a transaction that succeeded.
fn active_users_per_second(all: &EventLog, seconds: u64) -> Vec<usize> {
    let second = |record: &Record| (record.started - all.start).0 / 1_000_000_000;
    let users =
        |n| all.records.iter().filter(|it| second(it) == n).map(|it| it.client).collect::<BTreeSet<_>>();
    (0..seconds).map(|n| users(n).len()).collect()
}

/// System that serves all requests concurrently; each takes 10 ms.
fn world() -> SimulatedSystem {
    SimulatedSystem {
        servers: 1_000,
        service: Serving::Constant(Nanos::from_millis(10)),
        ..SimulatedSystem::default()
    }
}

#[test]
fn active_users_follow_stages() {
    let stages = [stage(40, Some(10.0), 6), stage(10, Some(10.0), 5), stage(0, None, 2), stage(5, None, 2)];
    // The numbers include users who join or leave within the second.
    let expected = [10, 20, 30, 40, 40, 40, 39, 29, 19, 10, 10, 0, 0, 5, 5];
    for threads in [1, 3] {
        for (program, connections) in [(scripts(&[1]), 45), (request(), 45)] {
            let schedule = Schedule::Users(users(&stages, ThinkTime::Constant(Nanos::from_millis(90))));
            let all = run(plan(program, 40, threads, schedule), &world());
            assert_eq!(active_users_per_second(&all, 15), expected, "{threads} threads");
            assert!(all.records.iter().all(|it| it.outcome == Outcome::Ok && it.finished <= all.ends));
            assert_eq!(all.connected, connections, "each present user has a connection");
        }
    }
}

#[test]
fn run_may_start_without_users() {
    let schedule = Schedule::Users(users(&[stage(0, None, 1), stage(6, None, 1)], ThinkTime::NONE));
    let run_users = |schedule| {
        let plan = plan(request(), 6, 2, schedule);
        let work = Arc::new(Workload::with_services(plan, None, vec![Service::without_tls("sim")]));
        (0..2).map(|k| Shard::new(work.clone(), k, EventLog::default()).connected_clients()).sum::<u32>()
    };
    assert_eq!(
        run_users(schedule.clone()),
        6,
        "absent users count, so that the run is not aborted before it begins"
    );
    assert_eq!(
        run_users(Schedule::Users(users(&[stage(6, Some(1.0), 9)], ThinkTime::NONE))),
        1,
        "the first user counts"
    );
    assert_eq!(active_users_per_second(&run(plan(request(), 6, 2, schedule), &world()), 2), [0, 6]);
}

/// If all users began at once, all of them would send in the first tenth of a second.
#[test]
fn users_do_not_begin_in_step() {
    let second = Nanos::from_secs(1);
    let paced = UserRamp { pacing: Some(second), ..users(&[stage(1_000, None, 20)], ThinkTime::NONE) };
    let constant = users(&[stage(1_000, None, 20)], ThinkTime::Constant(second));
    let log_normal = ThinkTime::LogNormal { median: second, sigma: 0.5 };
    for schedule in [
        Schedule::Users(paced),
        Schedule::Users(constant),
        Schedule::Users(users(&[stage(1_000, None, 20)], log_normal)),
        Schedule::Closed { think: second },
    ] {
        let duration = Some(Nanos::from_secs(20));
        let log = run(LoadPlan { duration, ..plan(scripts(&[1]), 1_000, 2, schedule.clone()) }, &world());
        let tenth = log.start + Nanos::from_millis(100);
        let early = log.records.iter().filter(|record| record.started < tenth).count();
        assert!(
            (60..=140).contains(&early),
            "{early} of about 100 in the first tenth of a second: {schedule:?}"
        );
    }
}

#[test]
fn throughput_follows_users_and_think_time() {
    let think = |it| users(&[stage(50, None, 20)], it);
    let half = Nanos::from_millis(490);
    for (name, users, expected, tolerance) in [
        ("constant", think(ThinkTime::Constant(half)), 50.0 * 2.0 * 20.0, 0.0),
        // The users begin as if they had been present before, so there is no burst. The tolerance is three deviations.
        ("exponential", think(ThinkTime::Exponential { mean: half }), 2_000.0, 130.0),
        // The mean of a log-normal distribution is its median × e^(σ²/2).
        ("log-normal", think(ThinkTime::LogNormal { median: Nanos(432_421_970), sigma: 0.5 }), 2_000.0, 70.0),
        (
            "pacing",
            UserRamp { pacing: Some(half + half), ..think(ThinkTime::NONE) },
            50.0 * 20.0 / 0.98,
            12.0,
        ),
        // If both think time and pacing are given, the longer wait applies.
        (
            "both",
            UserRamp { pacing: Some(Nanos::from_millis(100)), ..think(ThinkTime::Constant(half)) },
            2_000.0,
            0.0,
        ),
        ("a cap", UserRamp { rate_max: Some(PerSecond(300.0)), ..think(ThinkTime::NONE) }, 6_000.0, 0.0),
        (
            "a cap that is too high",
            UserRamp { rate_max: Some(PerSecond(9_000.0)), ..think(ThinkTime::NONE) },
            100_000.0,
            0.0,
        ),
    ] {
        for threads in [1, 4] {
            let all = run(plan(scripts(&[1]), 50, threads, Schedule::Users(users.clone())), &world());
            let count = all.records.len() as f64;
            assert!((count - expected).abs() <= tolerance, "{name}, {threads} threads: {count}");
            let responses = all.records.iter().map(Record::response);
            assert!(
                responses.max() <= Some(Nanos::from_millis(10)),
                "response times count from the actual start"
            );
        }
    }
}

#[test]
fn rate_cap_holds_every_second_and_is_fair() {
    let users =
        UserRamp { rate_max: Some(PerSecond(100.0)), ..users(&[stage(30, None, 10)], ThinkTime::NONE) };
    // The system serves nothing for three seconds. Users do not catch up on the starts that they missed.
    let freezes = vec![(Nanos::from_secs(3), Nanos::from_secs(6))];
    let world = SimulatedSystem { pauses: freezes, ..world() };
    let all = run(plan(scripts(&[1]), 30, 2, Schedule::Users(users)), &world);
    let starts: Vec<Nanos> = all.records.iter().map(|it| it.started).collect();
    for (n, &from) in starts.iter().enumerate() {
        let within = starts[n..].iter().take_while(|it| **it < from + Nanos::from_secs(1)).count();
        assert!(within <= 100 + 2 * 2, "{within} within a second");
    }
    assert!((700..=736).contains(&starts.len()), "{} in seven seconds", starts.len());
    let count = |client| all.records.iter().filter(|it| it.client.0 == client).count();
    assert!((0..30).all(|it| (20..=28).contains(&count(it))));
}

#[test]
fn operation_may_have_its_own_schedule() {
    let stream = |rate: f64, script: Option<u16>| Stream {
        curve: Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration: Nanos::from_secs(10) },
        spacing: Spacing::Even,
        script: script.map(ScriptId),
    };
    for threads in [1, 3] {
        let streams = vec![stream(100.0, None), stream(7.0, Some(2)), stream(0.5, Some(3))];
        let plan = plan(scripts(&[3, 1, 0, 0]), 100, threads, Schedule::Streams(streams));
        let all = run(plan, &world());
        let count = |script| all.records.iter().filter(|it| it.script == ScriptId(script)).count();
        assert_eq!((count(2), count(3), count(0) + count(1)), (70, 5, 1000), "{threads} threads");
        assert!((690..=810).contains(&count(0)), "{} by weight", count(0));
        assert!(all.records.iter().all(|it| it.outcome == Outcome::Ok));
    }
    // A transaction that exceeds the latency limit is dropped and counted for its own operation.
    let plan = LoadPlan {
        latency_limit: Some(Nanos::from_millis(100)),
        ..plan(
            scripts(&[1, 1]),
            1,
            1,
            Schedule::Streams(vec![stream(100.0, Some(0)), stream(100.0, Some(1))]),
        )
    };
    let all = run(plan, &world());
    let count = |script, dropped| {
        let matches =
            |it: &&Record| it.script == ScriptId(script) && (it.outcome == Outcome::Dropped) == dropped;
        all.records.iter().filter(matches).count()
    };
    assert_eq!(count(0, false) + count(0, true), 1000);
    assert_eq!(count(1, false) + count(1, true), 1000);
    assert!(count(0, true) + count(1, true) > 900);
}
