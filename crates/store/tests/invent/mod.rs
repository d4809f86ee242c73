//! Random contents of runs

// Each test file uses only a part of this module.
#![allow(dead_code)]

use model::matrix::UnappliedLimit;
use model::message;
use model::message::Message;
use model::plan::Limits;
use model::summary::Script;
use model::{
    Code, CommandCounts, EventKind, FailureCounts, HistogramEncoder, Interval, LatencyHistogram, LogEvent,
    LogSession, Measurement, Nanos, PhaseSum, Sample, SizeUnit, SplitMix64, StatementKind, ThreadUsage, Tick,
};
use serde_json::json;
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use store::{
    Configuration, NodeRecord, Run, RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId, Writer,
};

/// Directory that is removed with its contents on drop.
#[derive(Debug)]
pub struct TestDirectory(pub PathBuf);

impl TestDirectory {
    pub fn new(name: &str) -> TestDirectory {
        let path = std::env::temp_dir().join(format!("pgdyno-store-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        TestDirectory(path)
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn header(name: &str) -> RunHeader {
    RunHeader {
        name: name.to_owned(),
        text: "name: x # ☃\n".to_owned(),
        experiment: json!({"name": name, "cells": [{"label": []}, {"label": []}]}),
        machine: json!({"processors": 2}),
        versions: vec![
            ("postgres".to_owned(), "15.18".to_owned()),
            ("pgbouncer".to_owned(), "1.18".to_owned()),
        ],
        seed: u64::MAX,
        pgdyno_version: "0.1.0".to_owned(),
        begun_ms: 1_795_262_011_000,
    }
}

pub fn trial(number: u32) -> TrialHeader {
    let script = |name: &str, commands: &[&str]| Script {
        name: name.to_owned(),
        weight: 2,
        commands: commands.iter().map(|&it| it.to_owned()).collect(),
    };
    let file = |text: String| Configuration { name: "x.conf".to_owned(), text };
    let node = |name: &str, program: Option<&str>, configuration| NodeRecord {
        name: name.to_owned(),
        kind: "postgres".to_owned(),
        version: "15.18".to_owned(),
        program: program.map(str::to_owned),
        transport: "unix".to_owned(),
        limits: Limits { cpu: Some(0.1), ..Limits::default() },
        unapplied_limits: vec![UnappliedLimit {
            node: name.to_owned(),
            limit: "cpu".to_owned(),
            reason: message!("limits-no-controller", name = "cpu"),
        }],
        configuration,
    };
    TrialHeader {
        cell: number,
        label: vec![("pooler.mode".to_owned(), "session".to_owned())],
        repetition: number,
        position: number,
        begun_ms: 1_795_262_012_000,
        operations: vec![script("read", &[]), script("write", &["BEGIN", "UPDATE x"])],
        nodes: vec![
            node(
                "pooler",
                Some("/usr/sbin/pgbouncer"),
                vec![file("[x]\n".to_owned()), file(format!("{number}"))],
            ),
            node("postgres", None, vec![file("[x]\n".to_owned())]),
        ],
    }
}

pub fn outcome(status: RunStatus) -> RunOutcome {
    RunOutcome { status, reason: Some("net(xx,25,10)".to_owned()), ended_ms: 1_795_262_013_000 }
}

pub fn end(status: RunStatus, measured: Option<Measurement>) -> TrialEnd {
    TrialEnd {
        outcome: outcome(status),
        summary: Some(json!({"tps": 1.5})),
        valid: Some(true),
        measurement: measured,
    }
}

/// Text with all values of a tick.
pub fn format_tick(tick: &Tick) -> String {
    format!("{} {} {} {:?}", tick.second, tick.in_flight, format_interval(&tick.interval), tick.samples)
}

pub fn format_interval(interval: &Interval) -> String {
    let mut packer = HistogramEncoder::new();
    let mut pack = |it: &LatencyHistogram| format!("{:?}", packer.encode(it));
    let mut all =
        format!("{:?} {:?} {} {:?}", interval.from, interval.to, interval.started, interval.refused);
    for histogram in [&interval.send_lag, &interval.backlog_wait, &interval.connects] {
        all += &pack(histogram);
    }
    let answered = interval.answers.iter().filter(|it| it.sizes.count() > 0);
    all += &format!("{:?}", answered.collect::<Vec<_>>());
    for script in &interval.scripts {
        let counts =
            (script.ok, script.late, script.dropped, script.retried, script.retries, script.above_limit);
        all += &format!("{counts:?} {:?} {:?}", script.failed, script.unknown);
        all += &pack(&script.response);
        all += &pack(&script.service);
        for statement in &script.statements {
            let CommandCounts { service, failed, unknown, retries, sent, received, phases } = statement;
            all +=
                &format!("{failed:?} {unknown:?} {retries} {sent} {received} {phases:?} {}", pack(service));
        }
    }
    all
}

/// Reads everything in a run. Damaged data is an error.
pub fn read_all(path: &Path) -> store::Result<()> {
    let run = Run::open(path)?;
    run.header()?;
    run.state()?;
    run.facts()?;
    for trial in run.trials()? {
        run.ticks(trial.id)?.try_for_each(|it| it.map(drop))?;
        run.samples(trial.id, None)?;
        run.events(trial.id)?;
        run.measurement(trial.id)?;
    }
    Ok(())
}

/// Waits until `ticks` ticks of the trial are on the disk, or the writer has an error.
pub fn wait_for(writer: &Writer, trial: TrialId, ticks: usize) {
    while writer.error().is_none() {
        let run = Run::open(writer.path()).expect("the file is a run file");
        if run.ticks(trial).expect("the run can be read").remaining() >= ticks {
            return;
        }
        std::thread::yield_now();
    }
}

/// Generator of random contents of a run.
#[derive(Debug)]
pub struct RandomRun(SplitMix64);

impl RandomRun {
    pub fn new(seed: u64) -> RandomRun {
        RandomRun(SplitMix64(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Typical distribution of response times: nearly log-normal with a median of about a millisecond.
    pub fn latency(&mut self, count: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        for _ in 0..count {
            let bits = (0..4).map(|_| self.below(1 << 16)).sum::<u64>() as f64 / f64::from(1 << 18);
            histogram.record(Nanos((1e5 * (8.0 * bits).exp()) as u64));
        }
        histogram
    }

    fn failures(&mut self) -> FailureCounts {
        let mut failures = FailureCounts::default();
        let states = [*b"40P01", *b"53300", *b"57014"].map(Code::SqlState);
        for _ in 0..self.below(5) {
            let code = match self.below(5) {
                0 => Code::RESET,
                1 => Code::Http(503),
                n => states[n as usize - 2],
            };
            failures.add(code, 1 + self.below(100));
        }
        if self.below(3) == 0 {
            (0..40).for_each(|n| failures.count(Code::Net(n)));
        }
        failures
    }

    /// Random tick with the operations of [`trial`].
    pub fn tick(&mut self, second: u64) -> Tick {
        let mut interval = Interval::new(&[0, 2]).with_answer_sizes(&[(0, 0), (0, 1), (1, 1)]);
        let kind = StatementKind::ALL[self.below(StatementKind::ALL.len() as u64) as usize];
        for n in 0..2 + self.below(50) {
            let (command, unit) =
                if n % 2 == 0 { ((0, 1), SizeUnit::Rows(kind)) } else { ((1, 1), SizeUnit::Bytes) };
            interval.record_answer(command, unit, self.below(1 << (n % 40)));
        }
        interval.from = Nanos(1_000_000_007 * second);
        interval.to = Nanos(1_000_000_007 * (second + 1));
        interval.started = self.below(5000);
        for cell in &mut interval.scripts {
            let n = self.below(2000);
            cell.response = self.latency(n);
            cell.service = self.latency(n);
            (cell.ok, cell.late, cell.dropped) = (n, self.below(3).min(n), self.below(9));
            (cell.retried, cell.retries, cell.above_limit) = (self.below(3), self.below(9), self.below(9));
            (cell.failed, cell.unknown) = (self.failures(), self.failures());
            for statement in &mut cell.statements {
                statement.service = self.latency(n);
                (statement.failed, statement.unknown) = (self.failures(), self.failures());
                (statement.retries, statement.sent, statement.received) =
                    (self.below(2), self.below(1 << 20), self.below(1 << 20));
                for phase in &mut statement.phases {
                    let (sum, max) = (Nanos(self.below(1 << 30)), Nanos(self.below(1 << 20)));
                    *phase = PhaseSum { count: 1 + self.below(9), sum, max };
                }
            }
        }
        let lags = self.below(10);
        interval.send_lag = self.latency(lags);
        interval.backlog_wait = self.latency(0);
        interval.connects = self.latency(2);
        interval.refused = self.failures();
        Tick { second, interval, in_flight: self.below(100), samples: self.samples(60) }
    }

    /// Second without errors, with `transactions` transactions of two operations together.
    pub fn typical(&mut self, second: u64, transactions: u64) -> Tick {
        let mut interval = Interval::new(&[0, 0]);
        interval.from = Nanos::from_secs(second);
        interval.to = Nanos::from_secs(second + 1);
        interval.started = transactions;
        for cell in &mut interval.scripts {
            cell.ok = transactions / 2;
            cell.response = self.latency(transactions / 2);
            cell.service = self.latency(transactions / 2);
        }
        interval.send_lag = self.latency(transactions);
        Tick { second, interval, in_flight: 8, samples: self.samples(60) }
    }

    pub fn samples(&mut self, count: usize) -> Vec<Sample> {
        let series = ["pg_active", "pg_waiting", "cgroup_throttled"];
        let at = self.below(1 << 40);
        let sample = |n: usize| Sample {
            at: Nanos(at + n as u64 / 20 * 1000),
            node: Cow::Borrowed("postgres"),
            series: Cow::Borrowed(series[n % 3]),
            label: Cow::Owned(format!("{}", n / 3)),
            value: if n.is_multiple_of(4) {
                self.below(1000) as f64 / 7.0
            } else {
                self.below(1 << 20) as f64
            },
        };
        (0..count).map(sample).collect()
    }

    pub fn events(&mut self, count: usize) -> Vec<LogEvent> {
        let event = |n: usize| LogEvent {
            at: Nanos(self.below(1 << 40)),
            node: "postgres".to_owned(),
            kind: [EventKind::Deadlock, EventKind::Other, EventKind::TooManyConnections][n % 3],
            code: n.is_multiple_of(2).then(|| "40P01".to_owned()),
            text: "обнаружена взаимоблокировка".to_owned(),
            session: n
                .is_multiple_of(3)
                .then(|| LogSession { application: "pgdyno load".to_owned(), client: "[local]".to_owned() }),
        };
        (0..count).map(event).collect()
    }

    /// Measurement that these ticks sum to.
    pub fn measurement(&mut self, ticks: &[Tick]) -> Measurement {
        let mut interval = ticks[0].interval.clone();
        ticks[1..].iter().for_each(|it| interval.merge(&it.interval));
        (interval.from, interval.to) = (Nanos(5), Nanos(1 << 50));
        let effort = |n: u64| ThreadUsage {
            user: Nanos(n),
            starved: (n > 5).then_some(Nanos(9)),
            wakeups: 7,
            wall: Nanos(1 << 50),
            ..ThreadUsage::default()
        };
        Measurement {
            window: Nanos(1 << 33),
            interval,
            outages: Vec::new(),
            empty_statements: Vec::new(),
            clients: (0..200).map(|_| self.below(100_000)).collect(),
            thread_usage: vec![effort(3), effort(8)],
            connect_time: Nanos(77),
            aborted_clients: 2,
            jitter: self.latency(30),
            suspended: Nanos(1),
            steal_time: None,
            exhausted_connects: 3,
        }
    }
}

/// Description of an error: the identifiers and arguments of its messages.
pub trait Describe {
    fn describe(&self) -> String;
}

impl Describe for store::Error {
    fn describe(&self) -> String {
        Message::from(self).describe()
    }
}
