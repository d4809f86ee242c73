//! Valid simulated measurement, and histograms for tests

pub mod trial;

use model::summary::{BenchPlan, EndCondition, LoadModelSummary, QueryMode, Script};
use model::{
    ClientId, Interval, LatencyHistogram, Measurement, Nanos, Outcome, Record, ScriptId, Spacing, ThreadUsage,
};

/// Measurement of 10 s: two threads, four clients, two scripts, 10,000 transactions, 50 µs of send lag and jitter.
pub fn quiet_measurement() -> Measurement {
    let window = Nanos::from_secs(10);
    let mut interval = Interval::new(&[1, 0]);
    interval.to = window;
    for n in 0..10_000 {
        let intended = window - Nanos::from_millis(n % 1000) - Nanos::from_millis(2);
        let started = intended + Nanos::from_micros(500);
        let finished = started + Nanos::from_millis(2);
        let (script, client) = (ScriptId(u16::from(n % 4 == 3)), ClientId(n as u32 % 4));
        let record = Record { script, client, outcome: Outcome::Ok, intended, started, finished, tries: 1 };
        let cell = &mut interval.scripts[usize::from(script.0)];
        cell.record(&record, Nanos::MAX, window);
        cell.statements.iter_mut().for_each(|it| it.service.record(record.service()));
        interval.send_lag.record(Nanos::from_micros(50));
    }
    let mut jitter = LatencyHistogram::new();
    (0..10_000).for_each(|_| jitter.record(Nanos::from_micros(50)));
    let effort = ThreadUsage {
        user: Nanos::from_millis(100),
        system: Nanos::from_secs(1),
        spun: Nanos::from_millis(10),
        starved: Some(Nanos::from_millis(10)),
        wakeups: 5000,
        longest_stall: Nanos::from_millis(1),
        wall: window,
        kernel: None,
    };
    Measurement {
        window,
        interval,
        outages: Vec::new(),
        empty_statements: Vec::new(),
        clients: vec![2500; 4],
        thread_usage: vec![effort; 2],
        connect_time: Nanos::from_millis(3),
        aborted_clients: 0,
        jitter,
        suspended: Nanos::ZERO,
        steal_time: Some(Nanos::ZERO),
        exhausted_connects: 0,
    }
}

/// Histogram with `count` samples of `millis` ms each.
pub fn millis(count: u64, millis: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    (0..count).for_each(|_| histogram.record(Nanos::from_millis(millis)));
    histogram
}

pub fn closed_plan() -> BenchPlan {
    let script = |name: &str, commands: &[&str]| Script {
        name: name.to_owned(),
        weight: 1,
        commands: commands.iter().map(|&it| it.to_owned()).collect(),
    };
    BenchPlan {
        scripts: vec![script("a.sql", &["SELECT 1;"]), script("b.sql", &[])],
        scale: 1,
        partitions: None,
        query_mode: QueryMode::Prepared,
        clients: 4,
        threads: 2,
        max_tries: 1,
        end: EndCondition::Time(Nanos::from_secs(10)),
        model: LoadModelSummary::Closed { think: Nanos::ZERO },
        reconnect: false,
        latency_limit: None,
        seed: 42,
        driver: "epoll".to_owned(),
    }
}

pub fn replay_plan() -> BenchPlan {
    let model = LoadModelSummary::Replay { recording: "shop.traffic".to_owned(), speed: 1.0 };
    BenchPlan { model, ..closed_plan() }
}

pub fn open_plan() -> BenchPlan {
    let model = LoadModelSummary::Open {
        schedule: "const(1000,10s)".to_owned(),
        arrivals: Spacing::Even,
        slack: Nanos::ZERO,
    };
    BenchPlan { model, ..closed_plan() }
}
