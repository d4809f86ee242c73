//! Synthetic runs

use model::chart::{Annotation, Chart, ChartKind, ChartSeries, ChartSeriesKind, Charts};
use model::finding::Finding;
use model::matrix::{
    BaselineComparison, ChangeVerdict, Estimate, Figure, Hop, Matrix, Placement, Row, Trial, TrialStatus,
    UnappliedLimit,
};
use model::note::Note;
use model::objective::{ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict as Kept};
use model::plan::{
    Baseline, CacheState, Cell, Content, Dataset, Experiment, Goal, Hooks, Limits, Load, LoadModel, Node,
    NodeKind, Operation, OperationKind, PoolMode, Pooler, Postgres, Setup, Stack, Transport,
};
use model::run_result::{
    CellResult, Environment, HopMetrics, InitialConnects, NodeInfo, OperationResult, PeriodResult,
    QuantilePoint, Quantiles, RunInfo, RunResult, RunState, SessionActivity, StageBreak, StageBreakReason,
    StageLevel, StageResult, StatementStats, TimePart, TrialResult,
};
use model::summary::{Failure, FailureClass, QueryMode};
use model::validity::{Doubt, DoubtSummary, Verdict};
use model::{EventKind, Nanos, PerSecond};

/// Hostile text, which must be displayed as text.
pub const HOSTILE: &str =
    "</script><img src=x onerror=alert(1)> |`**\u{202e}\u{1b}[31m=cmd()\u{0}\n# [x](javascript:y)";

fn postgres() -> Node {
    let kind = NodeKind::Postgres(Postgres { version: None, max_connections: 50, settings: vec![] });
    let limits = Limits { cpu: Some(1.0), memory: Some(400 << 20), ..Limits::default() };
    Node { name: "postgres".into(), kind, transport: Transport::Tcp, limits }
}

fn pooler() -> Node {
    let kind = NodeKind::Pooler(Pooler {
        product: &model::product::PGBOUNCER,
        version: None,
        mode: PoolMode::Transaction,
        size: 20,
        max_client_conn: 1000,
        workers: 1,
        pool_timeout: Nanos::ZERO,
        settings: vec![],
    });
    let limits = Limits { cpu: Some(0.1), ..Limits::default() };
    Node { name: "pooler".into(), kind, transport: Transport::Tls, limits }
}

fn setup(pooled: bool) -> Setup {
    let nodes = if pooled { vec![pooler(), postgres()] } else { vec![postgres()] };
    let operation = Operation::script;
    Setup {
        stack: Stack {
            nodes,
            generator: Limits { cpus: vec![1], ..Limits::default() },
            replication: None,
            hosts: Vec::new(),
        },
        dataset: Some(Dataset {
            cache: CacheState::Warm,
            ..Dataset::new(42, Content::Tickets { rows: 1_000_000 })
        }),
        feeds: vec![],
        on_start: None,
        operations: vec![
            operation("read", 9, "SELECT 1;\n"),
            operation("write", 1, "UPDATE t SET x = x + 1;\n"),
        ],
        load: Load {
            model: LoadModel::Closed { clients: 8, think: Nanos::from_millis(50) },
            duration: Some(Nanos::from_secs(3600)),
            traffic: None,
            warmup: Nanos::from_secs(2),
            threads: 1,
            query_mode: QueryMode::Prepared,
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
        objectives: vec!["p99 < 200ms".into()],
        stop_rules: vec!["net(xx,25,10)".into()],
        faults: Vec::new(),
        invariants: Vec::new(),
        hooks: Hooks::default(),
    }
}

fn row(way: &str, tps: f64, change: Option<(f64, ChangeVerdict)>) -> Row {
    let hop = |node: &Node, product, mode, size| Hop {
        node: node.name.clone(),
        product,
        mode,
        size: Some(size),
        transport: Some(node.transport),
        placement: Placement { cpu: node.limits.cpu, cpus: vec![] },
    };
    let mut hops = vec![hop(&postgres(), "PostgreSQL", None, 50)];
    if way != "direct" {
        hops.insert(0, hop(&pooler(), "PgBouncer", Some(PoolMode::Transaction), 20));
    }
    let estimate = |figure, median, interval| Estimate {
        figure,
        median,
        is_lower_bound: false,
        interval,
        runs: 5,
        vs_baseline: None,
    };
    let vs_baseline = change.map(|(ratio, verdict)| BaselineComparison {
        ratio: Some(ratio),
        interval: None,
        p: Some(0.01),
        verdict,
    });
    let interval = Some((tps - 170.0, tps + 130.0));
    let figures = vec![
        Estimate { vs_baseline, ..estimate(Figure::Tps, tps, interval) },
        estimate(Figure::P99, 0.0123, None),
    ];
    let trial = |repetition| Trial {
        repetition,
        status: TrialStatus::Done,
        valid: true,
        verdict: Verdict::Valid,
        reasons: vec![],
        doubts: vec![],
    };
    Row {
        label: vec![("way".into(), way.into())],
        baseline: vs_baseline.map(|_| 0),
        hops,
        replication: None,
        clients: 8,
        generator: Placement { cpu: None, cpus: vec![1] },
        unapplied_limits: vec![],
        trials: (0..2).map(trial).collect(),
        figures,
    }
}

/// Curve that agrees with the quantiles of [`operation_result`].
fn curve() -> Vec<QuantilePoint> {
    [(0.0, 90), (0.5, 371), (0.9, 900), (0.95, 1_200), (0.99, 12_300)]
        .map(|(quantile, micros)| QuantilePoint { quantile, time: Nanos::from_micros(micros) })
        .to_vec()
}

fn operation_result(name: &str, tps: f64) -> OperationResult {
    let millis = |it: u64| Some(Nanos::from_micros(it));
    let response = Quantiles {
        unanswered: None,
        mean: millis(410),
        p50: millis(371),
        p90: millis(900),
        p95: millis(1_200),
        p99: millis(12_300),
        p999: None,
        max: millis(80_000),
    };
    let failure = |code: &str, name, class, count| Failure {
        code: code.into(),
        name,
        class,
        count,
        message: None,
        body: None,
    };
    OperationResult {
        name: name.into(),
        offered: PerSecond(tps + 1.5),
        delivered: PerSecond(tps),
        goodput: Some(PerSecond(tps - 20.0)),
        count: 77_652_000,
        response,
        response_curve: curve(),
        service: Quantiles { p99: millis(11_100), ..response },
        failures: vec![
            failure("40P01", Some("deadlock_detected"), FailureClass::Failed, 43),
            failure("net 104", Some("ECONNRESET"), FailureClass::Unknown, 2),
        ],
        dropped: 0,
        sizes: None,
        rows: Vec::new(),
        steps: Vec::new(),
    }
}

fn cell(pooled: bool, tps: f64) -> CellResult {
    let hop = |node: &str, cpu, of_cpu, queue, millis| HopMetrics {
        node: node.into(),
        tls: (node == "pooler").then(|| "1.3".to_owned()),
        cpu: Some(cpu),
        cpu_limit: Some(of_cpu),
        throttled: pooled.then_some(0.92),
        busy: Some(7.8),
        queue,
        time: Some(Nanos::from_millis(millis)),
    };
    let mut hops = vec![
        HopMetrics {
            node: "generator".into(),
            cpu: Some(0.3),
            cpu_limit: Some(1.0),
            ..HopMetrics::default()
        },
        hop("postgres", 0.97, 1.0, None, 2),
    ];
    if pooled {
        hops.insert(1, hop("pooler", 0.1, 0.1, Some(150.0), 9));
    }
    let statement = |text: &str, mean| StatementStats {
        query_ids: Vec::new(),
        text: text.into(),
        calls: 77_000.0,
        total: mean * 77_000.0,
        mean,
        share: 0.61,
        rows: 77_000.0,
        hit: Some(308_000.0),
        read: None,
    };
    CellResult {
        total: Some(operation_result("", tps)),
        operations: vec![operation_result("read", 0.9 * tps), operation_result("write", 0.1 * tps)],
        initial_connects: Some(InitialConnects {
            median: Nanos::from_millis(if pooled { 1900 } else { 13 }),
            max: Nanos::from_millis(if pooled { 2100 } else { 15 }),
            trials: 5,
        }),
        stages: stages(pooled),
        fault_phases: Vec::new(),
        stage_break: pooled.then_some(StageBreak {
            stage: 1,
            reason: StageBreakReason::Slower { highest: PerSecond(9800.0), delivered: PerSecond(8200.0) },
        }),
        time_parts: time_parts(pooled),
        hops,
        replicas: Vec::new(),
        statements: vec![statement("SELECT fio FROM\n  book.tickets WHERE id = $1", 0.000_31)],
    }
}

fn time_parts(pooled: bool) -> Vec<TimePart> {
    let part = |node: Option<&str>, activity, millis| TimePart {
        node: node.map(str::to_owned),
        activity,
        time: Nanos::from_millis(millis),
    };
    if !pooled {
        return Vec::new();
    }
    let waiting = SessionActivity::Waiting { event: "Lock/transactionid".to_owned() };
    vec![
        part(Some("pooler"), None, 9),
        part(Some("postgres"), Some(SessionActivity::Running), 2),
        part(Some("postgres"), Some(waiting), 1),
        part(Some("postgres"), Some(SessionActivity::OtherWaits), 1),
        part(Some("postgres"), Some(SessionActivity::IdleInTransaction), 1),
        part(None, None, 16),
    ]
}

fn stages(pooled: bool) -> Vec<StageResult> {
    let stage = |users, delivered, failed| StageResult {
        level: StageLevel::Users(users),
        offered: None,
        period: PeriodResult {
            measured: Nanos::from_secs(90),
            delivered: PerSecond(delivered),
            arrivals: 900_000,
            count: 900_000,
            response: Quantiles {
                p50: Some(Nanos::from_millis(3)),
                p99: Some(Nanos::from_millis(21)),
                ..Quantiles::default()
            },
            failed,
            dropped: 0,
            refused: 0,
        },
    };
    if pooled { vec![stage(100, 9800.0, 3), stage(200, 8200.0, 1200)] } else { Vec::new() }
}

fn charts() -> Charts {
    let track = |kind, node: Option<&str>, label: Option<&str>, values: [Option<f64>; 3]| ChartSeries {
        kind,
        node: node.map(Into::into),
        label: label.map(Into::into),
        values: values.to_vec(),
    };
    let some = |it: [f64; 3]| it.map(Some);
    let charts = vec![
        (
            ChartKind::Rate,
            vec![
                track(ChartSeriesKind::Offered, None, None, some([21_500.0, 21_600.0, 21_570.25])),
                track(ChartSeriesKind::Delivered, None, None, [Some(21_499.0), None, Some(21_570.0)]),
            ],
        ),
        (
            ChartKind::Response,
            vec![track(ChartSeriesKind::Quantile(0.99), None, None, some([0.0123, 0.0124, 0.01]))],
        ),
        (
            ChartKind::Failures,
            vec![track(ChartSeriesKind::Failed, None, Some("40P01"), some([0.0, 1.0, 0.0]))],
        ),
        (
            ChartKind::Pooler,
            vec![track(ChartSeriesKind::ClientsWaiting, Some("pooler"), None, some([150.0, 149.0, 151.0]))],
        ),
        (
            ChartKind::Processors,
            vec![
                track(ChartSeriesKind::Processors, Some("postgres"), None, some([0.97, 0.98, 0.97])),
                track(ChartSeriesKind::Limit, Some("postgres"), None, some([1.0; 3])),
            ],
        ),
        (
            ChartKind::Waits,
            vec![
                track(ChartSeriesKind::Waiting, None, Some("running"), some([4.0; 3])),
                track(ChartSeriesKind::Waiting, None, Some("Lock/transactionid"), some([1.0; 3])),
            ],
        ),
    ];
    let mark = Annotation {
        at: 1.25,
        node: "postgres".into(),
        kind: EventKind::Deadlock,
        count: 3,
        text: "deadlock detected".into(),
    };
    let charts = charts.into_iter().map(|(kind, tracks)| Chart { kind, series: tracks }).collect();
    Charts { bin: 1, times: vec![0.0, 1.0, 2.0], charts, annotations: vec![mark] }
}

fn trial(id: u32, cell: usize, repetition: u32, tps: f64) -> TrialResult {
    let judged = ObjectiveResult {
        objective: "p99 < 200ms".into(),
        verdict: Kept::Met,
        unit: ObjectiveUnit::Seconds,
        measured: Some(0.0123),
        is_lower_bound: false,
        ended_early: false,
        bound: 0.2,
        samples: 10_000,
        too_few: None,
    };
    TrialResult {
        id,
        cell,
        repetition,
        step: None,
        started_ms: 1_763_736_000_000,
        status: Some(TrialStatus::Done),
        valid: true,
        reasons: vec![],
        doubts: vec![],
        stop: None,
        objectives: vec![judged],
        tps: Some(PerSecond(tps)),
        p99: Some(Nanos::from_micros(12_300)),
        errors: Some(6e-7),
        fault_injection: None,
        charts: charts(),
        notes: vec![],
        agents: Vec::new(),
    }
}

/// Run with four trials of three cells; one cell was not measured.
pub fn account() -> RunResult {
    let cells =
        [false, true, true].map(|pooled| Cell { label: vec![], control_of: None, setup: setup(pooled) });
    let names = ["direct", "pooled", "far"];
    let cells: Vec<Cell> = cells
        .into_iter()
        .zip(names)
        .map(|(it, name)| Cell { label: vec![("way".into(), name.into())], ..it })
        .collect();
    let mut rows = vec![
        row("direct", 21_570.0, None),
        row("pooled", 18_120.0, Some((0.84, ChangeVerdict::Lower))),
        row("far", 0.0, None),
    ];
    rows[2].figures.clear();
    rows[2].trials.clear();
    rows[1].unapplied_limits = vec![UnappliedLimit {
        node: "pooler".into(),
        limit: "cpu".into(),
        reason: "/sys/fs/cgroup/cpu: Read-only file system".into(),
    }];
    let objectives = vec![ObjectiveSummary {
        objective: "p99 < 200ms".into(),
        met: 4,
        violated: 0,
        unknown: 0,
        worst: None,
    }];
    let node = || "pooler".to_owned();
    let findings = vec![
        Finding::QueueInPooler {
            cell: 1,
            node: node(),
            waiting: Some(150.0),
            longest_wait: Some(2.5),
            in_flight: 170.0,
            busy: Some(20.0),
        },
        Finding::PoolerBound {
            cell: 1,
            node: node(),
            cpu: 0.099,
            cpu_limit: 0.1,
            throttled: Some(0.92),
            throttled_cpu: None,
            pool: 20,
            in_use: Some(19.9),
            active: 1.5,
        },
        Finding::SessionsWait { cell: 0, event: "Lock/transactionid".into(), share: 0.75, active: 20.0 },
    ];
    let mut trials = vec![
        trial(1, 0, 0, 21_400.0),
        trial(2, 1, 0, 18_000.0),
        trial(3, 1, 1, 18_200.0),
        trial(4, 0, 1, 21_700.0),
    ];
    let starved = Doubt::Starved { thread: 0, share: 0.061 };
    trials[1].doubts = vec![starved.clone()];
    let doubts = vec![DoubtSummary { doubt: starved, cell: 1, repetition: 0, clients: 8, trials: 1 }];
    trials[2].notes =
        vec![Note { subject: "log".into(), message: "cannot be read: Permission denied".into() }];
    let configured = |name: &str, kind: &str, cells: &[usize], port: u32| NodeInfo {
        name: name.into(),
        kind: kind.into(),
        version: "1.18.0".into(),
        program: Some(format!("/usr/sbin/{kind}")),
        transport: "tcp".into(),
        limits: Limits { cpu: Some(0.1), ..Limits::default() },
        unapplied_limits: vec![],
        cells: cells.to_vec(),
        configuration: vec![(format!("{kind}.ini"), format!("listen_port = {port}\n"))],
    };
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    RunResult {
        info: RunInfo {
            name: "pools-20251121-144000".into(),
            started_ms: 1_763_736_000_000,
            ended_ms: Some(1_763_736_000_000 + 7_500_000),
            state: RunState::Complete,
            reason: None,
            seed: 42,
            pgdyno_version: "0.1.0".into(),
            command: "pgdyno run pools.yaml".into(),
            text: "name: pools\n".into(),
        },
        experiment: Experiment {
            name: "pools".into(),
            seed: 42,
            repeat: 2,
            cells,
            baseline: Some(Baseline::Single(0)),
            goal: Goal::Once,
            generators: None,
            document: None,
        },
        matrix: Matrix {
            rows,
            baseline: Some(0),
            seed: 42,
            verdict: Verdict::ValidWithDoubts,
            doubts,
            objectives,
            monitoring_cpu: Some(0.006),
        },
        findings,
        cells: vec![cell(false, 21_570.0), cell(true, 18_120.0), CellResult::default()],
        trials,
        maxima: Vec::new(),
        soaks: Vec::new(),
        plateau: None,
        failovers: Vec::new(),
        tables: Vec::new(),
        logs: Vec::new(),
        states: Vec::new(),
        freshness: Vec::new(),
        advice: Vec::new(),
        environment: Environment {
            machine: vec![
                pair("processor", "AMD EPYC"),
                pair("memory", "25232932864"),
                pair("cgroups", "{\"v1\":[{\"name\":\"cpu\"},{\"name\":\"memory\"}],\"v2\":[]}"),
                pair("files", "[20000,20000]"),
                pair("of_tomorrow", "x"),
            ],
            nodes: vec![
                configured("pooler", "pgbouncer", &[1], 6432),
                configured("pooler", "pgbouncer", &[2], 6433),
                configured("postgres", "postgres", &[0, 1, 2], 5432),
            ],
            copied_data: Vec::new(),
        },
    }
}

/// Run with the first cell only.
pub fn single_cell_account() -> RunResult {
    let mut result = account();
    result.experiment.cells.truncate(1);
    result.experiment.cells[0].label.clear();
    result.experiment.baseline = None;
    result.matrix.rows.truncate(1);
    result.matrix.rows[0].label.clear();
    result.matrix.baseline = None;
    result.matrix.rows.iter_mut().for_each(|row| row.baseline = None);
    result.cells.truncate(1);
    keep_trials_of_first_cell(&mut result);
    result.findings.retain(|it| matches!(it, Finding::SessionsWait { .. }));
    result
}

/// Removes the trials of other cells. Only these trials have doubts.
fn keep_trials_of_first_cell(result: &mut RunResult) {
    result.trials.retain(|it| it.cell == 0);
    result.matrix.doubts.clear();
    result.matrix.verdict = Verdict::Valid;
}

/// Run with `pairs` cells through a pooler. Each is compared with the direct cell that has the same number of clients.
/// The ratios of throughput to the baselines are 0.5, 2, 3, …
pub fn paired_account(pairs: usize) -> RunResult {
    let mut result = account();
    let (cell, figures) = (result.experiment.cells[0].clone(), result.cells[0].clone());
    result.experiment.cells.clear();
    result.cells.clear();
    result.matrix.rows.clear();
    result.matrix.baseline = None;
    let mut counterparts = Vec::new();
    for pair in 0..pairs {
        let ratio = if pair == 0 { 0.5 } else { pair as f64 + 1.0 };
        let verdict = if pair == 0 { ChangeVerdict::Lower } else { ChangeVerdict::Higher };
        for (way, tps, comparison) in [("direct", 1e4, None), ("pooled", 1e4 * ratio, Some((ratio, verdict)))]
        {
            let label =
                vec![("way".to_owned(), way.to_owned()), ("clients".to_owned(), (pair + 1).to_string())];
            let baseline = comparison.map(|_| 2 * pair);
            counterparts.push(baseline);
            let mut row = Row { label: label.clone(), baseline, ..row(way, tps, comparison) };
            for change in row.figures.iter_mut().filter_map(|it| it.vs_baseline.as_mut()) {
                change.interval = Some((0.95 * ratio, 1.05 * ratio));
            }
            result.matrix.rows.push(row);
            result.experiment.cells.push(Cell { label, ..cell.clone() });
            result.cells.push(figures.clone());
        }
    }
    result.experiment.baseline = Some(Baseline::PerCell(counterparts));
    keep_trials_of_first_cell(&mut result);
    result.findings.clear();
    result
}

/// Run with hostile text wherever untrusted text can occur.
pub fn hostile_account() -> RunResult {
    let text = || HOSTILE.to_owned();
    let mut result = account();
    result.info.reason = Some(text().into());
    result.info.state = RunState::Failed;
    result.info.command = text();
    result.info.text = text();
    result.experiment.name = text();
    for cell in &mut result.experiment.cells {
        cell.setup.operations[0].name = text();
        cell.setup.operations[0].kind = OperationKind::Script { text: text(), origin: None };
        cell.setup.objectives[0] = text();
        cell.setup.stop_rules[0] = text();
    }
    for row in &mut result.matrix.rows {
        row.label[0].1 += HOSTILE;
        for missing in &mut row.unapplied_limits {
            (missing.node, missing.reason) = (text(), text().into());
        }
    }
    result.matrix.rows[2].trials = vec![Trial {
        repetition: 0,
        status: TrialStatus::Failed { reason: text().into() },
        valid: false,
        verdict: Verdict::Invalid,
        reasons: vec![],
        doubts: vec![],
    }];
    result.matrix.objectives[0].objective = text();
    result.findings.push(Finding::SessionsWait { cell: 1, event: text(), share: 0.5, active: 3.0 });
    for cell in &mut result.cells {
        cell.statements.iter_mut().for_each(|it| it.text = text());
        cell.operations.iter_mut().for_each(|it| it.name = text());
        if let Some(total) = &mut cell.total {
            total.failures[0].code = text();
        }
    }
    let last = result.trials.len() - 1;
    result.trials[last].status = Some(TrialStatus::Failed { reason: text().into() });
    result.trials[last].valid = false;
    for trial in &mut result.trials {
        trial.notes.push(Note { subject: text().into(), message: text().into() });
        trial.objectives[0].objective = text();
        for mark in &mut trial.charts.annotations {
            (mark.node, mark.text) = (text(), text());
        }
        for track in trial.charts.charts.iter_mut().flat_map(|it| &mut it.series) {
            track.label = Some(text());
        }
    }
    result.environment.machine.push((text(), text()));
    for node in &mut result.environment.nodes {
        let limit = UnappliedLimit { node: text(), limit: text(), reason: text().into() };
        (node.version, node.unapplied_limits) = (text(), vec![limit]);
        node.configuration.push((text(), text()));
    }
    result
}
