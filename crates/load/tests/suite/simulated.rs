//! Laws of queueing and scheduling, tested on a shard in simulated time

use load::script::{Mode, ScriptSource, parse};
use load::sim::{self, ServiceTime, SimulatedSystem, drive};
use load::{Action, LoadPlan, Shard, Workload};
use model::{Code, Curve, LatencyHistogram, Nanos, Outcome, PerSecond, Record, Schedule, Spacing};
use std::sync::Arc;
use wire::pg::{Login, Transport};

const SELECT: &str = "\\set r random(1, 1000000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :r;\n";

fn plan(script: &str, clients: u32, threads: u16, schedule: Schedule) -> LoadPlan {
    let source = ScriptSource::new("test", script);
    let program = parse(&[source], Mode::Prepared, false, &[]).expect("the script is valid");
    sim::plan(program, Mode::Prepared, clients, threads, schedule)
}

fn constant(rate: f64, secs: u64) -> Curve {
    Curve::Ramp { from: PerSecond(rate), to: PerSecond(rate), duration: Nanos::from_secs(secs) }
}

fn even(rate: f64, secs: u64) -> Schedule {
    Schedule::Open { curve: constant(rate, secs), spacing: Spacing::Even }
}

fn poisson(rate: f64, secs: u64) -> Schedule {
    Schedule::Open { curve: constant(rate, secs), spacing: Spacing::Poisson }
}

/// Records of all threads, in the order of their intended starts.
fn records(plan: LoadPlan, world: &SimulatedSystem) -> Vec<Record> {
    let threads = plan.threads;
    let work = Arc::new(Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix));
    let shards = (0..threads).map(|k| Shard::new(work.clone(), k, Vec::new())).collect();
    let mut all: Vec<Record> = drive(shards, world).into_iter().flat_map(|it| it.recorder).collect();
    all.sort_by_key(|it| (it.intended, it.client));
    all
}

fn responses(records: &[Record]) -> LatencyHistogram {
    let mut latency = LatencyHistogram::new();
    records.iter().for_each(|it| latency.record(it.response()));
    latency
}

fn count(records: &[Record], predicate: fn(Outcome) -> bool) -> usize {
    records.iter().filter(|it| predicate(it.outcome)).count()
}

fn is_ok(outcome: Outcome) -> bool {
    outcome == Outcome::Ok
}

#[test]
fn server_pause_shows_in_response_time() {
    let world = SimulatedSystem {
        service: ServiceTime::Constant(Nanos::from_micros(10)),
        pauses: vec![(Nanos::from_secs(4), Nanos::from_secs(5))],
        ..SimulatedSystem::default()
    };
    let all = records(plan(SELECT, 64, 1, even(1000.0, 10)), &world);
    assert_eq!(all.len(), 10_000);
    let latency = responses(&all);
    let ms = |q| latency.quantile(q).expect("enough samples").as_millis_f64();
    for (q, expected, tolerance) in [(0.95, 500.0, 15.0), (0.99, 900.0, 15.0), (0.999, 990.0, 10.0)] {
        assert!((ms(q) - expected).abs() <= tolerance, "p{}: {} ms, expected {expected}", q * 100.0, ms(q));
    }
}

#[test]
fn closed_model_hides_server_pause() {
    let world = SimulatedSystem {
        service: ServiceTime::Constant(Nanos::from_micros(10)),
        pauses: vec![(Nanos::from_secs(4), Nanos::from_secs(5))],
        ..SimulatedSystem::default()
    };
    let closed = LoadPlan { duration: Some(Nanos::from_secs(10)), ..plan(SELECT, 8, 1, sim::CLOSED) };
    let latency = responses(&records(closed, &world));
    assert!(latency.quantile(0.999).expect("there are many samples") < Nanos::from_millis(1));
    assert!(latency.max().expect("there are many samples") > Nanos::from_millis(900));
}

#[test]
fn matches_littles_law_and_mm1_queue() {
    // With utilisation 0.5, the mean response time is 1 / (μ − λ) = 2 ms, and the mean number in the system is 1.
    let world = SimulatedSystem {
        service: ServiceTime::Exponential(Nanos::from_millis(1)),
        seed: 3,
        ..SimulatedSystem::default()
    };
    let all = records(plan(SELECT, 400, 1, poisson(500.0, 1200)), &world);
    assert_eq!(count(&all, is_ok), all.len());
    let span = (all.last().expect("there are records").intended - all[0].intended).as_secs_f64();
    let rate = all.len() as f64 / span;
    let mean = responses(&all).mean().expect("there are records").as_secs_f64();
    assert!((mean - 0.002).abs() < 0.002 * 0.03, "mean response time {mean} s");
    // The number in the system is counted at each arrival, which is representative for Poisson arrivals (PASTA).
    let mut finished: Vec<Nanos> = all.iter().map(|it| it.finished).collect();
    finished.sort();
    let in_system = all.iter().enumerate().map(|(n, it)| n - finished.partition_point(|&f| f <= it.intended));
    let number = in_system.sum::<usize>() as f64 / all.len() as f64;
    assert!((number - rate * mean).abs() < 0.03, "L {number}, λW {}", rate * mean);
}

#[test]
fn closed_model_throughput_matches_client_count() {
    // Four servers of 1 ms each complete 4,000/s if there are four clients or more, and 1,000/s with one client.
    for (clients, expected) in [(1, 1_000.0), (2, 2_000.0), (4, 4_000.0), (50, 4_000.0)] {
        let world = SimulatedSystem {
            servers: 4,
            service: ServiceTime::Constant(Nanos::from_millis(1)),
            ..SimulatedSystem::default()
        };
        let plan = LoadPlan { duration: Some(Nanos::from_secs(5)), ..plan(SELECT, clients, 1, sim::CLOSED) };
        let rate = records(plan, &world).len() as f64 / 5.0;
        assert!((rate - expected).abs() <= expected * 0.01 + 10.0, "{clients} clients: {rate}/s");
    }
}

#[test]
fn four_shards_equal_one() {
    let world = SimulatedSystem {
        servers: 100,
        service: ServiceTime::Constant(Nanos::from_micros(300)),
        ..SimulatedSystem::default()
    };
    for schedule in [even(2_000.0, 3), poisson(2_000.0, 3)] {
        let moments = |threads| {
            let all = records(plan(SELECT, 100, threads, schedule.clone()), &world);
            all.iter().map(|it| (it.intended, it.finished, it.outcome)).collect::<Vec<_>>()
        };
        assert_eq!(moments(1), moments(4));
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let world = SimulatedSystem {
        service: ServiceTime::Exponential(Nanos::from_millis(1)),
        seed: 11,
        ..SimulatedSystem::default()
    };
    let run =
        |seed| records(plan(SELECT, 16, 2, poisson(700.0, 5)), &SimulatedSystem { seed, ..world.clone() });
    assert_eq!(run(11), run(11));
    assert_ne!(run(11), run(12));
}

#[test]
fn answers_split_at_every_byte_give_equal_records() {
    let script = "BEGIN;\n\\set r random(1, 10)\nSELECT :r;\nCOMMIT;\n";
    let unsplit = SimulatedSystem { servers: 4, ..SimulatedSystem::default() };
    let run = |piece| {
        let plan = LoadPlan { transactions: Some(200), ..plan(script, 4, 1, sim::CLOSED) };
        records(plan, &SimulatedSystem { piece, ..unsplit.clone() })
    };
    let expected = run(usize::MAX);
    assert_eq!(expected.len(), 800);
    for piece in [1, 2, 3, 5, 7, 11, 13] {
        assert_eq!(run(piece), expected, "pieces of {piece} bytes");
    }
}

#[test]
fn every_arrival_has_one_record() {
    // The offered load is 2,000/s and the capacity 1,000/s. At most 100 transactions are in flight, and 50 are in the
    // backlog.
    let world = SimulatedSystem {
        service: ServiceTime::Constant(Nanos::from_millis(1)),
        ..SimulatedSystem::default()
    };
    let all = records(LoadPlan { backlog_max: 50, ..plan(SELECT, 100, 1, even(2_000.0, 4)) }, &world);
    assert_eq!(all.len(), 8_000);
    let dropped = count(&all, |it| it == Outcome::Dropped);
    assert_eq!(count(&all, is_ok) + dropped, 8_000);
    assert!((3_700..=3_900).contains(&dropped), "{dropped} dropped");
}

#[test]
fn latency_limit_drops_late_arrivals() {
    let world = SimulatedSystem {
        service: ServiceTime::Constant(Nanos::from_millis(1)),
        ..SimulatedSystem::default()
    };
    let limit = Some(Nanos::from_millis(20));
    let all = records(LoadPlan { latency_limit: limit, ..plan(SELECT, 1, 1, even(1_500.0, 4)) }, &world);
    assert_eq!(all.len(), 6_000);
    let waited = all.iter().filter(|it| it.outcome == Outcome::Ok).map(|it| it.started - it.intended).max();
    assert!(waited.expect("some arrivals are sent") <= Nanos::from_millis(20));
    assert!(count(&all, |it| it == Outcome::Dropped) > 1_900);
}

#[test]
fn server_restart_gives_unknown_outcomes_and_load_continues() {
    let world = SimulatedSystem {
        servers: 8,
        service: ServiceTime::Constant(Nanos::from_millis(10)),
        breaks: vec![Nanos::from_secs(2)],
        ..SimulatedSystem::default()
    };
    let all = records(plan(SELECT, 20, 2, even(500.0, 4)), &world);
    assert_eq!(all.len(), 2_000);
    let unknown = count(&all, |it| it == Outcome::Unknown(Code::RESET));
    assert!((1..=20).contains(&unknown), "{unknown} unknown");
    assert_eq!(count(&all, is_ok), 2_000 - unknown);
    assert!(all.last().expect("there are records").intended > Nanos::from_secs(3));
}

#[test]
fn exhausted_slots_do_not_stop_the_run() {
    let world = SimulatedSystem { servers: 8, max_connections: 5, ..SimulatedSystem::default() };
    let plan = LoadPlan { duration: Some(Nanos::from_secs(2)), ..plan(SELECT, 8, 1, sim::CLOSED) };
    let all = records(plan, &world);
    assert_eq!(count(&all, is_ok), all.len());
    let mut clients: Vec<u32> = all.iter().map(|it| it.client.0).collect();
    clients.sort_unstable();
    clients.dedup();
    assert_eq!(clients.len(), 5);
}

#[test]
fn retries_failures_up_to_max_tries() {
    let world = SimulatedSystem { failing: Some((3, *b"40001")), ..SimulatedSystem::default() };
    for (max_tries, failed) in [(1, true), (10, false)] {
        let plan = LoadPlan { max_tries, transactions: Some(300), ..plan(SELECT, 1, 1, sim::CLOSED) };
        let all = records(plan, &world);
        assert_eq!(all.len(), 300);
        let refused = count(&all, |it| it == Outcome::Failed(Code::SqlState(*b"40001")));
        assert_eq!(refused > 0, failed, "{max_tries} tries: {refused} failed");
        assert_eq!(all.iter().any(|it| it.tries > 1), !failed);
    }
}

#[test]
fn rolls_back_failed_transaction_and_continues() {
    let world = SimulatedSystem { failing: Some((5, *b"23505")), ..SimulatedSystem::default() };
    let script = "BEGIN;\nSELECT 1;\nCOMMIT;\n";
    let all = records(LoadPlan { transactions: Some(400), ..plan(script, 1, 1, sim::CLOSED) }, &world);
    assert_eq!(all.len(), 400);
    let failed = count(&all, |it| it == Outcome::Failed(Code::SqlState(*b"23505")));
    assert!(failed > 50 && failed < 250, "{failed} failed");
    assert_eq!(failed + count(&all, is_ok), 400);
}

#[test]
fn honours_think_time_and_reconnect() {
    let think = Schedule::Closed { think: Nanos::from_millis(9) };
    let world = SimulatedSystem {
        servers: 10,
        service: ServiceTime::Constant(Nanos::from_millis(1)),
        ..SimulatedSystem::default()
    };
    let thinking = LoadPlan { duration: Some(Nanos::from_secs(10)), ..plan(SELECT, 5, 1, think) };
    assert_eq!(records(thinking, &world).len(), 5 * 1_000);
    let each = LoadPlan { reconnect: true, transactions: Some(50), ..plan(SELECT, 3, 1, sim::CLOSED) };
    let all = records(each, &world);
    assert_eq!((all.len(), count(&all, is_ok)), (150, 150));
}

#[test]
fn scripts_without_sql_finish() {
    let plan = LoadPlan { transactions: Some(10), ..plan("\\set a 1\n", 3, 1, sim::CLOSED) };
    assert_eq!(records(plan, &SimulatedSystem::default()).len(), 30);
    let sleeping = plan_of_sleep();
    let all = records(sleeping, &SimulatedSystem::default());
    assert!(all.iter().all(|it| it.response() == Nanos::from_millis(5)), "{all:?}");
}

fn plan_of_sleep() -> LoadPlan {
    LoadPlan { transactions: Some(4), ..plan("\\sleep 5 ms\n", 2, 1, sim::CLOSED) }
}

#[test]
fn timed_out_transaction_is_unknown() {
    let world = SimulatedSystem {
        service: ServiceTime::Constant(Nanos::from_micros(10)),
        pauses: vec![(Nanos::from_secs(4), Nanos::from_secs(6))],
        ..SimulatedSystem::default()
    };
    let timeout = Nanos::from_millis(300);
    let patient = records(plan(SELECT, 64, 1, even(100.0, 10)), &world);
    assert_eq!(count(&patient, is_ok), 1000, "without a timeout, every request is answered");
    let all = records(LoadPlan { timeout: Some(timeout), ..plan(SELECT, 64, 1, even(100.0, 10)) }, &world);
    assert_eq!(all.len(), 1000);
    let given_up = count(&all, |it| it == Outcome::Unknown(Code::TIMED_OUT));
    assert!(given_up > 50, "{given_up} given up");
    assert_eq!(count(&all, is_ok) + given_up, 1000);
    let longest = all.iter().map(Record::service).max().expect("there are records");
    assert!(longest <= timeout + Nanos::from_millis(30), "{longest:?}");
}

/// Checks a generator that is far behind its schedule: it reacts to a stop, and records every arrival.
#[test]
fn stops_while_far_behind_schedule() {
    let rate = 1e7;
    let plan = LoadPlan { backlog_max: 10, ..plan("\\sleep 1 s\n", 1, 1, even(rate, 1)) };
    let work = Arc::new(Workload::with_services(plan, None, Vec::new()));
    let mut shard = Shard::new(work, 0, Vec::<Record>::new());
    shard.begin(Nanos::ZERO);
    let late = Nanos::from_millis(20);
    for round in 1..=10 {
        shard.advance(late);
        match shard.poll() {
            Action::Wait(deadline) => assert!(deadline <= late, "there is more to do at once"),
            other => panic!("{other:?}"),
        }
        assert!(shard.recorder.len() <= 2000 * round, "{} records in {round} rounds", shard.recorder.len());
    }
    shard.abandon(late);
    let mut rounds = 0;
    while !matches!(shard.poll(), Action::Done) {
        rounds += 1;
        assert!(rounds < 10, "the load ends at once");
        shard.advance(late);
    }
    assert_eq!(shard.recorder.len(), (rate * late.as_secs_f64()) as usize);
}
