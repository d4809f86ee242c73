//! Simulated trials for tests

use super::TrialFacts;
use crate::fixture;
use crate::sizes::{SizeSeries, SizeSeriesSet};
use crate::summary::summarise;
use model::feed_coverage::FeedCoverage;
use model::matrix::{TrialStatus, UnappliedLimit};
use model::plan::*;
use model::summary::{CpuCost, InvalidReason, QueryMode, Server, Summary, Validity};
use model::{AnswerSizes, Code, EventKind, LogEvent, Measurement, Nanos, Outage, Sample, Second};

/// Creates an experiment with one cell per word: `direct`, `unix` (direct over a Unix socket), `session`, `pooled`
/// (transaction mode), `statement`, `odyssey` (transaction), `haproxy`, `balanced` (with maxconn 20). PostgreSQL has 50
/// slots and one CPU; poolers have 20 servers and a tenth of a CPU. 200 clients connect over TCP.
pub fn experiment(cells: &[&str], baseline: Option<usize>) -> Experiment {
    let cell = |word: &&str| Cell {
        label: vec![("through".into(), word.to_string())],
        control_of: None,
        setup: setup(word),
    };
    Experiment {
        name: "x".into(),
        seed: 42,
        repeat: 5,
        cells: cells.iter().map(cell).collect(),
        baseline,
        goal: Goal::Once,
    }
}

pub fn setup(word: &str) -> Setup {
    let entrance = if word == "unix" { Transport::Unix } else { Transport::Tcp };
    let limits = |cpu| Limits { cpu: Some(cpu), ..Limits::default() };
    let postgres = Postgres { version: None, max_connections: 50, settings: vec![] };
    let postgres = Node {
        name: "postgres".into(),
        kind: NodeKind::Postgres(postgres),
        transport: entrance,
        limits: limits(1.0),
    };
    let bouncer = |mode| {
        let (size, max_client_conn) = (20, 1000);
        NodeKind::PgBouncer(PgBouncer { version: None, mode, size, max_client_conn, settings: vec![] })
    };
    let haproxy = |maxconn| {
        NodeKind::HaProxy(HaProxy {
            maxconn,
            queue_timeout: Nanos::from_secs(10),
            check: None,
            retries: None,
        })
    };
    let before = match word {
        "direct" | "unix" => None,
        "session" => Some(bouncer(PoolMode::Session)),
        "pooled" => Some(bouncer(PoolMode::Transaction)),
        "statement" => Some(bouncer(PoolMode::Statement)),
        "odyssey" => Some(NodeKind::Odyssey(Odyssey {
            mode: PoolMode::Transaction,
            size: 20,
            workers: 1,
            client_max: 1000,
            pool_timeout: Nanos::ZERO,
            settings: vec![],
        })),
        "haproxy" => Some(haproxy(None)),
        "balanced" => Some(haproxy(Some(20))),
        other => panic!("no such cell: {other}"),
    };
    let name = if word == "haproxy" || word == "balanced" { "balancer" } else { "pooler" };
    let before =
        before.map(|kind| Node { name: name.into(), kind, transport: entrance, limits: limits(0.1) });
    Setup {
        stack: Stack {
            nodes: before.into_iter().chain([postgres]).collect(),
            generator: Limits::default(),
            replication: None,
        },
        dataset: None,
        feeds: vec![],
        operations: vec![],
        load: Load {
            model: LoadModel::Closed { clients: 200, think: Nanos::ZERO },
            duration: Some(Nanos::from_secs(10)),
            warmup: Nanos::ZERO,
            threads: 2,
            query_mode: QueryMode::Simple,
            reconnect: false,
            connect_timeout: None,
            first_byte_timeout: None,
            cookies: false,
            timeout: None,
            max_tries: 1,
        },
        objectives: vec![],
        stop_rules: vec![],
        faults: vec![],
    }
}

/// A service with 0.3 CPUs.
pub fn service() -> Node {
    let service = Service {
        command: vec!["./service".into()],
        url: None,
        env: vec![],
        copies: 1,
        ready_path: "/health".into(),
        ready_timeout: None,
        stats_path: Some("/stats".into()),
        allow: None,
    };
    let limits = Limits { cpu: Some(0.3), ..Limits::default() };
    Node { name: "service".into(), kind: NodeKind::Service(service), transport: Transport::Tcp, limits }
}

/// A quiet trial of ten seconds with 10,000 transactions of 2.5 ms by 4 clients; its methods change it.
#[derive(Clone)]
pub struct TestRun {
    cell: usize,
    pub repetition: u32,
    measured: Measurement,
    status: TrialStatus,
    summary: Option<Summary>,
    samples: Vec<Sample>,
    events: Vec<LogEvent>,
    left: Vec<(String, u64)>,
    answers: Vec<SizeSeries>,
    not_applied: Vec<UnappliedLimit>,
    watching: Option<f64>,
    delivered: Vec<f64>,
    reaches: Vec<FeedCoverage>,
    open: bool,
    tps: Option<f64>,
    p99: Option<Nanos>,
}

impl TestRun {
    pub fn new(cell: usize, repetition: u32) -> TestRun {
        let mut it = TestRun {
            cell,
            repetition,
            measured: fixture::quiet_measurement(),
            status: TrialStatus::Done,
            summary: None,
            samples: vec![],
            events: vec![],
            left: vec![],
            answers: vec![],
            not_applied: vec![],
            watching: None,
            delivered: vec![],
            reaches: vec![],
            open: false,
            tps: None,
            p99: None,
        };
        it.refresh();
        it
    }

    fn refresh(&mut self) {
        let plan = if self.open { fixture::open_plan() } else { fixture::closed_plan() };
        let mut summary = summarise(&self.measured, Server::default(), plan);
        if let Some(tps) = self.tps {
            summary.total.tps.0 = tps;
        }
        if self.p99.is_some() {
            summary.total.response.p99 = self.p99;
        }
        self.summary = Some(summary);
    }

    fn with(mut self, change: impl FnOnce(&mut TestRun)) -> TestRun {
        change(&mut self);
        self.refresh();
        self
    }

    pub fn tps(self, tps: f64) -> TestRun {
        self.with(|it| it.tps = Some(tps))
    }

    /// Sets the p99 of response time, milliseconds.
    pub fn p99(self, millis: u64) -> TestRun {
        self.with(|it| it.p99 = Some(Nanos::from_millis(millis)))
    }

    pub fn open(self) -> TestRun {
        self.with(|it| it.open = true)
    }

    pub fn clients(self, clients: Vec<u64>) -> TestRun {
        self.with(|it| it.measured.clients = clients)
    }

    pub fn failed(self, state: &[u8; 5], n: u64) -> TestRun {
        self.with(|it| {
            let failed = &mut it.measured.interval.scripts[0].failed;
            (0..n).for_each(|_| failed.count(Code::SqlState(*state)));
        })
    }

    pub fn refused(self, state: &[u8; 5], n: u64) -> TestRun {
        self.with(|it| (0..n).for_each(|_| it.measured.interval.refused.count(Code::SqlState(*state))))
    }

    /// Adds an outage between these seconds.
    pub fn outage(self, from: u64, to: u64) -> TestRun {
        let (from, to) = (Nanos::from_secs(from), Nanos::from_secs(to));
        self.with(|it| it.measured.outages = vec![Outage { from, to, ongoing: false, failing: false }])
    }

    /// Sets the server's message for every failure.
    pub fn said(mut self, words: &str) -> TestRun {
        if let Some(it) = &mut self.summary {
            it.set_messages(|_| Some(words.to_owned()));
        }
        self
    }

    pub fn dropped(self, n: u64) -> TestRun {
        self.with(|it| it.measured.interval.scripts[0].dropped = n)
    }

    pub fn invalid(mut self) -> TestRun {
        if let Some(it) = &mut self.summary {
            it.validity = Validity { valid: false, ..Validity::default() };
        }
        self
    }

    pub fn without_summary(mut self) -> TestRun {
        self.summary = None;
        self
    }

    pub fn status(mut self, status: TrialStatus) -> TestRun {
        self.status = status;
        self
    }

    /// Adds `n` log lines of one kind, one after the other from second 3 on.
    pub fn event(mut self, kind: EventKind, n: u64) -> TestRun {
        self.events.extend((0..n).map(|n| LogEvent {
            at: Nanos::from_millis(3000 + n),
            node: "postgres".into(),
            kind,
            code: None,
            text: String::new(),
        }));
        self
    }

    /// Adds lines of one kind to a node's log, one after the other from second 3 on.
    pub fn logs(mut self, node: &str, kind: EventKind, texts: &[&str]) -> TestRun {
        self.events.extend((0..).zip(texts).map(|(n, text)| LogEvent {
            at: Nanos::from_millis(3000 + n),
            node: node.into(),
            kind,
            code: None,
            text: (*text).into(),
        }));
        self
    }

    /// Adds an event that stands for `n`.
    pub fn event_count(self, kind: EventKind, n: u64) -> TestRun {
        let mut run = self.event(kind, 1);
        run.events.last_mut().expect("one was added").text = format!("{n}{}", LogEvent::AGGREGATE_SUFFIX);
        run
    }

    /// Adds a gauge with the same value at the end of each second.
    pub fn gauge(self, node: &str, series: &str, label: &str, value: f64) -> TestRun {
        self.series(node, series, label, |_| value)
    }

    /// Adds a counter that grows by `rate` per second.
    pub fn counter(self, node: &str, series: &str, label: &str, rate: f64) -> TestRun {
        self.series(node, series, label, |second| 100.0 + rate * second as f64)
    }

    /// Adds one sample at the end of this second.
    pub fn sample(mut self, second: u64, node: &str, series: &str, label: &str, value: f64) -> TestRun {
        self.samples.push(Sample {
            at: Nanos::from_secs(second),
            node: node.to_owned().into(),
            series: series.to_owned().into(),
            label: label.to_owned().into(),
            value,
        });
        self
    }

    /// Adds a gauge with the same value three times a second.
    pub fn gauge_thrice(mut self, node: &str, series: &str, label: &str, value: f64) -> TestRun {
        self.samples.extend((1..=30).map(|third| Sample {
            at: Nanos(third * 333_333_333),
            node: node.to_owned().into(),
            series: series.to_owned().into(),
            label: label.to_owned().into(),
            value,
        }));
        self
    }

    /// Adds `n` lines with this code to the server's log.
    pub fn logged(mut self, code: &str, n: u64) -> TestRun {
        self = self.event_count(EventKind::Error, n);
        self.events.last_mut().expect("one was added").code = Some(code.to_owned());
        self
    }

    /// Makes the trial invalid for a reason of the generator.
    pub fn invalid_reason(mut self, it: InvalidReason) -> TestRun {
        if let Some(summary) = &mut self.summary {
            summary.validity = Validity { valid: false, reasons: vec![it], ..Validity::default() };
        }
        self
    }

    /// Sets the p99 of the timer jitter, milliseconds.
    pub fn jitter(mut self, millis: u64) -> TestRun {
        if let Some(summary) = &mut self.summary {
            summary.generator.jitter.p99 = Some(Nanos::from_millis(millis));
        }
        self
    }

    /// Adds a gauge whose value depends on the second.
    pub fn ramp(self, node: &str, series: &str, value: impl Fn(u64) -> f64) -> TestRun {
        self.series(node, series, "", value)
    }

    fn series(mut self, node: &str, series: &str, label: &str, value: impl Fn(u64) -> f64) -> TestRun {
        self.samples.extend((1..=10).map(|second| Sample {
            at: Nanos::from_secs(second),
            node: node.to_owned().into(),
            series: series.to_owned().into(),
            label: label.to_owned().into(),
            value: value(second),
        }));
        self
    }

    pub fn left(mut self, node: &str, clients: u64) -> TestRun {
        self.left.push((node.into(), clients));
        self
    }

    /// Sets the CPUs that the generator used.
    pub fn generator(mut self, processors: f64) -> TestRun {
        if let Some(it) = &mut self.summary {
            let counts = &it.total.counts;
            let executed = (counts.ok + counts.failed + counts.unknown) as f64;
            let user = Nanos::from_secs_f64(processors * it.window.as_secs_f64() / executed);
            it.generator.per_transaction = Some(CpuCost { user, ..CpuCost::default() });
        }
        self
    }

    pub fn not_applied(mut self, node: &str, limit: &str) -> TestRun {
        let (node, limit, why) = (node.to_owned(), limit.to_owned(), "no right".to_owned());
        self.not_applied.push(UnappliedLimit { node, limit, reason: why });
        self
    }

    /// Sets counts and sizes of the answers to the first request of the first operation, second by second.
    pub fn answers(mut self, each: &[&[(u64, u64)]]) -> TestRun {
        let mut courses = SizeSeriesSet::default();
        for (second, sizes) in each.iter().enumerate() {
            let mut answers = AnswerSizes::new((0, 0));
            for (count, bytes) in *sizes {
                (0..*count).for_each(|_| answers.sizes.record(*bytes));
            }
            courses.second(second, &Second { answers: vec![answers], ..Second::default() });
        }
        self.answers = courses.finish();
        self
    }

    /// Sets the successful transactions, second by second.
    pub fn delivered(mut self, each: &[f64]) -> TestRun {
        self.delivered = each.to_vec();
        self
    }

    pub fn reach(mut self, it: FeedCoverage) -> TestRun {
        self.reaches.push(it);
        self
    }

    pub fn watching(mut self, processors: f64) -> TestRun {
        self.watching = Some(processors);
        self
    }

    /// Keeps only the first seconds, also of the samples.
    pub fn truncate(mut self, seconds: u64) -> TestRun {
        let window = Nanos::from_secs(seconds);
        self.samples.retain(|it| it.at <= window);
        self.with(|it| it.measured.window = window)
    }

    pub fn facts<'a>(&'a self, experiment: &'a Experiment) -> TrialFacts<'a> {
        TrialFacts {
            cell: self.cell,
            repetition: self.repetition,
            setup: &experiment.cells[self.cell].setup,
            status: &self.status,
            summary: self.summary.as_ref(),
            clients: &self.measured.clients,
            samples: &self.samples,
            events: &self.events,
            ticks: &[],
            not_applied: &self.not_applied,
            monitoring_cpu: self.watching,
            delivered: &self.delivered,
            reaches: &self.reaches,
            left: &self.left,
            answers: &self.answers,
        }
    }
}
