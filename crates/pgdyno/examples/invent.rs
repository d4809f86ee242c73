//! Generator of a long synthetic run
//!
//! `cargo run -p pgdyno --example invent -- DIRECTORY [HOURS [OPERATIONS [TRANSACTIONS_PER_SECOND]]]` writes one trial
//! of a closed load through PgBouncer. It contains samples of all probes, log events, and a stall every ten minutes.
//! Equal arguments yield equal seconds.

use model::plan::{
    Cell, Experiment, Goal, Hooks, Limits, Load, LoadModel, Node, NodeKind, Operation, Pooler, Transport,
};
use model::plan::{PoolMode, Postgres, Setup, Stack};
use model::summary::{self, EndCondition, QueryMode, Script, Server};
use model::{
    Code, EventKind, Interval, LatencyHistogram, LogEvent, Measurement, Nanos, Sample, SplitMix64, Tick,
};
use serde_json::json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Run, RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId};

const BEGUN_MS: u64 = 1_795_262_011_000;
/// Generated seconds of load, which then repeat.
const GENERATED_SECONDS: u64 = 120;

/// Number of seconds in the file. It is opened each time, because an open file allows only as much work as its length requires.
fn written_seconds(path: &Path, trial: TrialId) -> u64 {
    let run = Run::open(path).expect("the file is a run");
    run.ticks(trial).expect("the seconds can be read").remaining() as u64
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, otherwise: f64| args.get(at).map_or(otherwise, |it| it.parse().expect("a number"));
    let directory =
        PathBuf::from(args.first().expect("DIRECTORY [HOURS [OPERATIONS [TRANSACTIONS_PER_SECOND]]]"));
    let seconds = (number(1, 1.0) * 3600.0) as u64;
    let (operations, rate) = (number(2, 2.0) as usize, number(3, 1000.0) as u64);
    let experiment = experiment(seconds, operations);
    let setup = &experiment.cells[0].setup;
    let header = RunHeader {
        name: experiment.name.clone(),
        text: "name: invented\n".to_owned(),
        experiment: serde_json::to_value(&experiment).expect("plain data can be serialised"),
        machine: json!({"processors": 2, "system": "invented"}),
        versions: Vec::new(),
        seed: 1,
        pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        begun_ms: BEGUN_MS,
    };
    let mut writer = store::create(&directory, &header).expect("the directory can be written to");
    let script = |it: &Operation| Script { name: it.name.clone(), weight: it.weight, commands: Vec::new() };
    let scripts: Vec<Script> = setup.operations.iter().map(script).collect();
    let node = |node: &Node| store::NodeRecord {
        name: node.name.clone(),
        kind: if node.name == "postgres" { "postgres" } else { "pgbouncer" }.to_owned(),
        version: "0".to_owned(),
        program: None,
        transport: "tcp".to_owned(),
        limits: node.limits.clone(),
        unapplied_limits: Vec::new(),
        configuration: Vec::new(),
    };
    let id = writer.begin_trial(TrialHeader {
        cell: 0,
        label: Vec::new(),
        repetition: 0,
        position: 0,
        begun_ms: BEGUN_MS + 5000,
        operations: scripts.clone(),
        nodes: setup.stack.nodes.iter().map(node).collect(),
    });
    let mut rng = Rng(SplitMix64(1));
    let drawn: Vec<Interval> = (0..GENERATED_SECONDS).map(|_| rng.interval(operations, rate)).collect();
    let mut all = Interval::new(&vec![0; operations]);
    for second in 0..=seconds {
        // The last interval is the partial second after the window.
        let mut interval = if second == seconds {
            Interval::new(&vec![0; operations])
        } else {
            drawn[(second % GENERATED_SECONDS) as usize].clone()
        };
        (interval.from, interval.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        all.merge(&interval);
        let samples = if second < seconds { rng.samples(second) } else { Vec::new() };
        writer.tick(id, Box::new(Tick { second, interval, in_flight: 4 + rng.below(6), samples }));
        if second % 97 == 5 {
            writer.events(id, vec![rng.event(second)]);
        }
        // The writer fails if its queue grows too long, so generation waits for it.
        while second % 8 == 7 && written_seconds(writer.path(), id) + 8 < second {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert_eq!(writer.error(), None);
    let window = Nanos::from_secs(seconds);
    let measured = Measurement {
        window,
        interval: Interval { from: Nanos::ZERO, to: window, ..all },
        outages: Vec::new(),
        empty_statements: Vec::new(),
        clients: vec![rate * seconds / 10; 10],
        thread_usage: Vec::new(),
        connect_time: Nanos::from_millis(5),
        aborted_clients: 0,
        jitter: rng.latency(1000),
        suspended: Nanos::ZERO,
        steal_time: None,
        exhausted_connects: 0,
    };
    let server = Server { version: "invented".to_owned(), ..Server::default() };
    let plan = summary::BenchPlan {
        scripts,
        scale: 1,
        partitions: None,
        query_mode: QueryMode::Simple,
        clients: 10,
        threads: 1,
        max_tries: 1,
        end: EndCondition::Time(window),
        model: summary::LoadModelSummary::Closed { think: Nanos::ZERO },
        reconnect: false,
        latency_limit: None,
        seed: 1,
        driver: "simulator".to_owned(),
    };
    let summary = analysis::verdict::summarise(&measured, server, plan);
    let ended = |after: u64| RunOutcome {
        status: RunStatus::Complete,
        reason: None,
        ended_ms: BEGUN_MS + 5000 + seconds * 1000 + after,
    };
    let valid = Some(summary.validity.valid);
    let summary = Some(serde_json::to_value(&summary).expect("plain data can be serialised"));
    writer.end_trial(id, TrialEnd { outcome: ended(0), summary, valid, measurement: Some(measured) });
    let path = writer.finish(ended(500)).expect("the file can be written");
    println!("{}", path.display());
}

fn experiment(seconds: u64, operations: usize) -> Experiment {
    let postgres = Postgres { version: None, max_connections: 100, settings: Vec::new() };
    let pooler = Pooler {
        product: &model::product::PGBOUNCER,
        version: None,
        mode: PoolMode::Transaction,
        size: 4,
        max_client_conn: 1000,
        workers: 1,
        pool_timeout: Nanos::ZERO,
        settings: Vec::new(),
    };
    let node = |name: &str, kind, cpu| Node {
        name: name.to_owned(),
        kind,
        transport: Transport::Tcp,
        limits: Limits { cpu: Some(cpu), ..Limits::default() },
    };
    let operation = |number: usize| Operation::script(&format!("operation {number}"), 1, "SELECT 1;");
    let setup = Setup {
        stack: Stack {
            nodes: vec![
                node("pooler", NodeKind::Pooler(pooler), 0.5),
                node("postgres", NodeKind::Postgres(postgres), 1.0),
            ],
            generator: Limits::default(),
            replication: None,
            hosts: Vec::new(),
        },
        dataset: None,
        feeds: Vec::new(),
        on_start: None,
        operations: (0..operations).map(operation).collect(),
        load: Load {
            model: LoadModel::Closed { clients: 10, think: Nanos::ZERO },
            duration: Some(Nanos::from_secs(seconds)),
            traffic: None,
            warmup: Nanos::ZERO,
            threads: 1,
            query_mode: QueryMode::Simple,
            reconnect: false,
            connect_timeout: None,
            first_byte_timeout: None,
            cookies: false,
            timeout: None,
            max_tries: 1,
            new_clients: 0,
            slack: Nanos::ZERO,
            transactions: None,
        },
        objectives: vec!["p99 < 50ms".to_owned()],
        stop_rules: Vec::new(),
        faults: Vec::new(),
        invariants: Vec::new(),
        hooks: Hooks::default(),
    };
    Experiment {
        name: "invented".to_owned(),
        seed: 1,
        repeat: 1,
        cells: vec![Cell { label: Vec::new(), control_of: None, setup }],
        baseline: None,
        goal: Goal::Once,
        generators: None,
        document: None,
    }
}

/// Generator of random values, from a seed.
#[derive(Debug)]
struct Rng(SplitMix64);

impl Rng {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// Plausible latencies: approximately log-normal, around a millisecond.
    fn latency(&mut self, count: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        for _ in 0..count {
            let bits = (0..4).map(|_| self.below(1 << 16)).sum::<u64>() as f64 / f64::from(1 << 18);
            histogram.record(Nanos((1e5 * (8.0 * bits).exp()) as u64));
        }
        histogram
    }

    fn interval(&mut self, operations: usize, rate: u64) -> Interval {
        let mut interval = Interval::new(&vec![0; operations]);
        interval.started = rate;
        for cell in &mut interval.scripts {
            let each = rate / operations as u64;
            cell.ok = each;
            cell.response = self.latency(each);
            cell.service = self.latency(each);
            if self.below(20) == 0 {
                cell.failed.add(Code::SqlState(*b"40P01"), 1 + self.below(3));
            }
        }
        interval.send_lag = self.latency(rate);
        interval
    }

    /// Samples of the probes, which run once or ten times per second.
    fn samples(&mut self, second: u64) -> Vec<Sample> {
        let mut all = Vec::new();
        let stalled = second % 600 < 20;
        for tenth in 0..10 {
            let at = Nanos::from_millis(second * 1000 + tenth * 100 + 1);
            let mut push = |series: &'static str, label: &'static str, value: u64| {
                all.push(sample(at, "postgres", series, label, value as f64));
            };
            push("pg_sessions", "active", 2 + self.below(3));
            push("pg_sessions", "idle", self.below(3));
            let waits =
                ["running", "Lock/transactionid", "LWLock/WALWrite", "IO/WALSync", "Client/ClientRead"];
            waits.into_iter().for_each(|label| push("pg_active_waits", label, self.below(2)));
            push("pg_connections_used", "", 4);
            push("pg_connections_free", "", 93);
        }
        let at = Nanos::from_millis(second * 1000 + 950);
        let mut push = |node: &'static str, series: &'static str, label: &'static str, value: f64| {
            all.push(sample(at, node, series, label, value));
        };
        let waiting = if stalled { 6.0 } else { self.below(3) as f64 };
        push("pooler", "pool_clients_active", "app/app", 10.0 - waiting);
        push("pooler", "pool_clients_waiting", "app/app", waiting);
        push("pooler", "pool_servers_active", "app/app", 3.0);
        push("pooler", "pool_servers_idle", "app/app", 1.0);
        push("pooler", "pool_longest_wait", "app/app", 0.003);
        let so_far = second as f64;
        for (node, share) in [("pooler", 0.3), ("postgres", 0.8)] {
            push(node, "cgroup_cpu", "", share * so_far);
            push(node, "cgroup_periods", "", 10.0 * so_far);
            push(node, "cgroup_throttled", "", 0.1 * so_far);
            push(node, "process_read_bytes", "", 8192.0 * so_far);
            push(node, "process_written_bytes", "", 1e6 * so_far);
        }
        push("host", "host_cpu", "user", 1.2 * so_far);
        push("host", "host_cpu", "idle", 0.8 * so_far);
        for id in IDS {
            push("postgres", "pg_statement_calls", id, 100.0 * so_far);
            push("postgres", "pg_statement_time", id, 0.02 * so_far);
            push("postgres", "pg_statement_rows", id, 100.0 * so_far);
        }
        if second.is_multiple_of(10) {
            push("postgres", "pg_statement_text", "11 SELECT $1", 0.0);
            push("postgres", "pg_statement_text", "12 UPDATE t SET v = $1 WHERE id = $2", 0.0);
        }
        all
    }

    fn event(&mut self, second: u64) -> LogEvent {
        let kinds = [EventKind::Deadlock, EventKind::Error, EventKind::SlowStatement, EventKind::Lifecycle];
        LogEvent {
            at: Nanos::from_millis(second * 1000 + self.below(1000)),
            node: "postgres".to_owned(),
            kind: kinds[self.below(4) as usize],
            code: None,
            text: "invented".to_owned(),
            session: None,
        }
    }
}

/// Statement ids: the empty id for all statements together, and twenty single ones.
const IDS: [&str; 21] = [
    "", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27",
    "28", "29", "30",
];

fn sample(at: Nanos, node: &'static str, series: &'static str, label: &'static str, value: f64) -> Sample {
    Sample {
        at,
        node: Cow::Borrowed(node),
        series: Cow::Borrowed(series),
        label: Cow::Borrowed(label),
        value,
    }
}
