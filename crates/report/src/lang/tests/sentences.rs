//! Tests of the texts of pages, comparisons, live views and lists of runs

use super::*;
use crate::lang::answer::{ObjectiveCounts, ObjectiveLevel, OpenModelAnswer, PageAnswer, TrialCounts};
use crate::lang::live::{Activity, FinishedTrial, Milestone, TrialEnd, TrialFigures};
use crate::lang::page::{BottleneckRole, ConcurrencyLimit, ServerRole};
use crate::lang::workload::PageQuestion;
use model::chart::{ChartKind, ChartSeriesKind, ChartUnit};
use model::comparison::{
    Blocks, Change, ConditionOutcome, ConditionResult, ConditionUnit, Difference as Differing,
    DifferenceSubject, Metric, RunComparison, RunRef, TestMethod,
};
use model::live::{LiveSecond, NodeCpu, PoolState, SearchBracket};
use model::matrix::BaselineComparison;
use model::plan::{
    CacheState, ClusterManager, Content, Dataset, DumpFile, Extract, FailoverManager, Limits, Load,
    LoadModel as Model, LoadScale, MissingRequests, Promoter, PromotionPolicy, RecordedLog, RecordingFile,
    SourceDatabase, SyncMode, ThinkTime, UserStage,
};
use model::run_result::RunState;
use model::validity::DoubtSummary;
use model::{EventKind, RetainReason, StaleRunDirectory};

type NamedTexts = Vec<(String, String)>;

/// Lists every sentence with its name. Unlike other sentences, these may end with a full stop.
pub(super) fn sentences(lang: &Lang) -> NamedTexts {
    let other_texts =
        [comparisons(lang), live(lang), search::texts(lang), failover::texts(lang), freshness::texts(lang)]
            .concat();
    [words(lang), page(lang), loads(lang), answers(lang), other_texts].concat()
}

/// Lists words that are no sentences.
fn words(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |what: String, text: &str| all.push((what, text.to_owned()));
    for chart in every!(ChartKind: Rate, Response, ResponseByOperation, ResponseByStep, Failures, InFlight, ServicePools, Pooler, Connections,
        Processors, Disk, ServiceMetrics, ServiceCounters, Waits, ReplicationLag, Freshness, SendLag, Transactions, Locks, Deadlocks,
        DiskOperations, Memory, HostMemory, HostLoad, Network, AgentRate, AgentResponse, AgentSendLag, AgentProcessors)
    {
        add(format!("{chart:?}"), &lang.chart(chart));
    }
    for unit in every!(ChartUnit: PerSecond, Seconds, Count, Processors, Bytes, BytesPerSecond, Quantile) {
        add(format!("{unit:?}"), &lang.axis(unit));
    }
    for kind in every!(EventKind: Deadlock, TooManyConnections, SlowStatement, Fatal, Error, Lifecycle, Fault, Reverted, Promoted,
        Rejoined, Other)
    {
        add(format!("{kind:?}"), &lang.event(kind));
    }
    for role in every!(BottleneckRole: Processor, Pool, Queue) {
        add(format!("{role:?}"), &lang.bottleneck_role(role));
    }
    for state in states() {
        add(format!("{state:?}"), &lang.run_state(state));
    }
    for metric in Metric::ALL {
        add(format!("{metric:?}"), &lang.metric(metric));
        for verdict in every!(ChangeVerdict: NoEvidence, Lower, Higher, TooFewRuns) {
            add(format!("{metric:?} {verdict:?}"), &lang.metric_verdict(metric, verdict));
        }
    }
    for key in [
        "system",
        "kernel",
        "processor",
        "processors",
        "memory",
        "files",
        "ports",
        "clock_source",
        "governor",
        "cgroups",
    ] {
        add(key.to_owned(), &lang.machine(key).unwrap_or_default());
    }
    for transport in [None, Some(Transport::Unix)] {
        add("way".into(), &lang.transport_text(transport));
    }
    add("ending".into(), &lang.stop_requested());
    all
}

fn states() -> [RunState; 7] {
    every!(RunState: Running, Complete, Interrupted, Stopped, Failed, Skipped, Lost)
}

fn page(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |what: &str, text: String| all.push((what.to_owned(), text));
    for state in states() {
        if let Some(text) = lang.state(state, Some(&"№".into())) {
            add("state", text);
        }
    }
    add("extent", lang.extent(21, 12_345));
    add("seed", lang.seed(42));
    let tracks = vec![
        ChartSeriesKind::Offered,
        ChartSeriesKind::Delivered,
        ChartSeriesKind::Max,
        ChartSeriesKind::Failed,
        ChartSeriesKind::Unknown,
        ChartSeriesKind::Refused,
        ChartSeriesKind::Dropped,
        ChartSeriesKind::InFlight,
        ChartSeriesKind::Waited,
        ChartSeriesKind::ClientsActive,
        ChartSeriesKind::ClientsWaiting,
        ChartSeriesKind::ServersActive,
        ChartSeriesKind::ServersIdle,
        ChartSeriesKind::Queue,
        ChartSeriesKind::Sessions,
        ChartSeriesKind::Limit,
        ChartSeriesKind::Processors,
        ChartSeriesKind::Host,
        ChartSeriesKind::Read,
        ChartSeriesKind::Written,
        ChartSeriesKind::Metric,
        ChartSeriesKind::Waiting,
        ChartSeriesKind::ReplicationLag,
        ChartSeriesKind::Visible,
        ChartSeriesKind::Quantile(0.999),
        ChartSeriesKind::SendLag(0.99),
        ChartSeriesKind::Users,
        ChartSeriesKind::ThreadsBusy,
        ChartSeriesKind::ThreadsWaiting,
        ChartSeriesKind::ThreadsMax,
        ChartSeriesKind::ConnectionsBusy,
        ChartSeriesKind::ConnectionsWaiting,
        ChartSeriesKind::ConnectionsMax,
        ChartSeriesKind::Commits,
        ChartSeriesKind::Rollbacks,
        ChartSeriesKind::LocksWaiting,
        ChartSeriesKind::Deadlocks,
        ChartSeriesKind::ReadLimit,
        ChartSeriesKind::WriteLimit,
        ChartSeriesKind::PrivateMemory,
        ChartSeriesKind::GroupMemory,
        ChartSeriesKind::AvailableMemory,
        ChartSeriesKind::LoadAverage,
        ChartSeriesKind::Runnable,
        ChartSeriesKind::Blocked,
        ChartSeriesKind::Received,
        ChartSeriesKind::Sent,
    ];
    covers!(tracks, ChartSeriesKind: Offered, Delivered, Quantile, Max, Failed, Unknown, Refused, Dropped, InFlight, Waited,
        ClientsActive, ClientsWaiting, ServersActive, ServersIdle, Queue, Sessions, Limit, Processors, Host, Read, Written, Metric,
        Waiting, ReplicationLag, Visible, SendLag, Users, ThreadsBusy, ThreadsWaiting, ThreadsMax, ConnectionsBusy,
        ConnectionsWaiting, ConnectionsMax, Commits, Rollbacks, LocksWaiting, Deadlocks, ReadLimit, WriteLimit, PrivateMemory,
        GroupMemory, AvailableMemory, LoadAverage, Runnable, Blocked, Received, Sent);
    for track in tracks {
        add("track", lang.track(track));
    }
    let limits = Limits {
        cpu: Some(0.5),
        memory: Some(1_610_612_736),
        read_iops: Some(12_345),
        write_iops: Some(12_345),
        read_bps: Some(15_000_000),
        write_bps: Some(15_000_000),
        cpus: vec![1, 2],
    };
    add("limits", lang.limits(&limits));
    add("no limit", lang.no_limit("№"));
    for service in [false, true] {
        add("times", lang.times(service, "p99.9"));
    }
    for limit in [
        ConcurrencyLimit::Pool(PoolMode::Session, 20),
        ConcurrencyLimit::MaxConn(20),
        ConcurrencyLimit::Slots(51),
    ] {
        add("room", lang.concurrency_limit(&limit));
    }
    add("processors", lang.processors(0.4567, Some(0.5)));
    add("held back", lang.throttled_share(0.123));
    add("occupied", lang.occupancy(Some(7.15), Some(12_345.6)).unwrap_or_default());
    add("spent", lang.node_time(Nanos::from_micros(1_234)));
    for (role, at_first) in
        [(ServerRole::Primary, false), (ServerRole::Primary, true), (ServerRole::Replica, true)]
    {
        add("server role", lang.server_role("№", role, at_first));
    }
    for mode in [SyncMode::Async, SyncMode::First(1), SyncMode::First(2), SyncMode::Any(1), SyncMode::Any(2)]
    {
        add("followed", lang.replication_mode(mode));
    }
    let laggard =
        Promoter { timeout: Nanos::from_millis(500), policy: PromotionPolicy::Laggard, fence: false };
    let patroni = |store_servers| {
        FailoverManager::External(ClusterManager { store_servers, ..ClusterManager::default() })
    };
    for manager in [
        FailoverManager::Builtin(Promoter::default()),
        FailoverManager::Builtin(laggard),
        patroni(1),
        patroni(3),
    ] {
        add("manages", lang.manager_settings(&manager).join("; "));
    }
    for count in [1, 2, 5] {
        add("with replicas", lang.with_replicas(count, "№", "№"));
    }
    add("drawn", lang.drawing_alternative("№", Some((Some("№"), Nanos::from_micros(371)))));
    add("drawn", lang.drawing_alternative("№", Some((None, Nanos::from_micros(371)))));
    add("shaded", lang.heat_map_caption("№", Some("№")));
    add("trial", lang.trial("№", 21));
    for count in [1, 2, 15] {
        add("more trials", lang.more_trials(count));
        add("all steps", lang.all_steps(count));
    }
    add("mean in", lang.mean_in("№"));
    add("in trials", lang.in_trials(2, 21, "№"));
    add("cells", lang.cells(&["№", "№"], 2));
    add("unreadable", lang.unreadable("№"));
    add("running trial", lang.running_trial(2, Some(21), "5"));
    add("sets up", lang.trial_setup(2, Some(21)));
    add("running trial", lang.running_trial(2, None, "5"));
    all
}

fn load(model: Model, duration: Option<Nanos>) -> Load {
    Load {
        model,
        duration,
        traffic: None,
        warmup: Nanos::from_millis(2_500),
        threads: 2,
        query_mode: QueryMode::Prepared,
        reconnect: true,
        connect_timeout: None,
        first_byte_timeout: None,
        cookies: false,
        timeout: Some(Nanos::from_millis(1_500)),
        max_tries: 3,
        new_clients: 0,
        slack: Nanos::ZERO,
        transactions: None,
    }
}

fn loads(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |what: &str, text: String| all.push((what.to_owned(), text));
    let second = Nanos::from_secs(1);
    let users = |stages: usize, think| Model::Users {
        stages: vec![UserStage { users: 21, spawn_rate: Some(0.5), duration: second }; stages],
        think,
        pacing: Some(second),
        rate_max: Some(12_345.5),
    };
    let thinking = vec![
        ThinkTime::Constant(Nanos::from_micros(250)),
        ThinkTime::Exponential { mean: second },
        ThinkTime::LogNormal { median: second, sigma: 0.5 },
    ];
    covers!(thinking, ThinkTime: Constant, Exponential, LogNormal);
    let open = |arrivals| Model::Open { schedule: "№".into(), arrivals, max_in_flight: 12_345 };
    let mut models =
        vec![Model::Closed { clients: 21, think: second }, open(Spacing::Even), open(Spacing::Poisson)];
    models.extend(thinking.into_iter().enumerate().map(|(at, it)| users(at + 1, it)));
    let recording = RecordingFile {
        path: "№".into(),
        bytes: 12_345,
        duration: second,
        requests: 12_345,
        requests_per_second_max: 500,
        sessions: 21,
        sessions_max: 2,
    };
    models.push(Model::Replay { recording, speed: 2.5 });
    for missing in [
        MissingRequests::default(),
        MissingRequests { with_body: 21, without_request: 1, misfits: 12_345, without_time: 2 },
    ] {
        let feeds = vec!["№".to_owned(), "№".to_owned()];
        let (requests, requests_per_second_max, times) = (12_345, 500, Vec::new());
        let log = RecordedLog { feeds, duration: second, requests, requests_per_second_max, missing, times };
        models.push(Model::Log { log, speed: 2.5, max_in_flight: 21 });
    }
    covers!(models, Model: Closed, Users, Open, Log, Replay);
    for model in models {
        let load = load(model, Some(Nanos::from_secs(7_500)));
        add("question", lang.question(&PageQuestion::One { path: "№", load: &load }));
        for mode in every!(QueryMode: Simple, Extended, Prepared) {
            add("load", lang.load(&Load { query_mode: mode, ..load.clone() }, true, &[1, 21, 12_345]));
        }
        for repeat in [1, 21] {
            add("window", lang.window(&load, repeat));
            add("window", lang.window(&Load { duration: None, ..load.clone() }, repeat));
        }
    }
    let contents = [
        Content::Tickets { rows: 100_000 },
        Content::Dump {
            files: vec![DumpFile {
                path: "№".into(),
                bytes: 1_234_567,
                sha256: "0123456789abcdef".repeat(4),
            }],
        },
        Content::Template { database: "№".to_owned() },
        Content::Source(SourceDatabase { dsn: "№".to_owned(), extract: Extract::All }),
        Content::Source(SourceDatabase { dsn: "№".to_owned(), extract: Extract::Schema }),
        Content::Source(SourceDatabase {
            dsn: "№".to_owned(), extract: Extract::Sample { fraction: 0.125 }
        }),
        Content::Profiles { users: 12_345, per_user: 12_345 },
        Content::Pgbench { scale: 12_345 },
    ];
    for content in contents {
        for cache in every!(CacheState: Warm, Cold, AsIs) {
            add("dataset", lang.dataset(&Dataset { cache, ..Dataset::new(42, content.clone()) }));
        }
    }
    let kept = Dataset { keep: true, ..Dataset::new(42, Content::Pgbench { scale: 10 }) };
    add("dataset", lang.dataset(&kept));
    add("question", lang.question(&PageQuestion::Matrix { axes: &["№", "№"], baseline: Some("№") }));
    all
}

fn answers(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let level = |offered, verdict, idle| ObjectiveLevel {
        cell: 0,
        name: "№",
        tps: 21_570.4,
        interval: Some((21_400.0, 21_700.0)),
        runs: 5,
        offered,
        p99: Some(Nanos::from_micros(12_345)),
        p99_at_least: false,
        against: Some(BaselineComparison { ratio: Some(0.757), interval: None, p: Some(0.01), verdict }),
        p99_against: None,
        idle,
    };
    let doubt_summaries: Vec<DoubtSummary> = doubts()
        .into_iter()
        .take(4)
        .map(|doubt| DoubtSummary { doubt, cell: 0, repetition: 0, clients: 8, trials: 2 })
        .collect();
    let trials = TrialCounts { valid: 20, total: 21, doubtful: 2, doubts: &doubt_summaries };
    let counts = |met, violated, unknown| ObjectiveCounts { met, violated, unknown };
    let mut add = |it: &PageAnswer<'_>| all.push(("answer".to_owned(), lang.answer(it)));
    add(&PageAnswer::NotYet);
    for total in [1, 21] {
        add(&PageAnswer::Nothing { reason: "№", total });
    }
    for offered in [None, Some(30_000.0)] {
        add(&PageAnswer::One {
            level: &level(offered, ChangeVerdict::Higher, false),
            trials,
            objectives: counts(1, 0, 0),
        });
    }
    let (low, few) = (level(None, ChangeVerdict::Lower, true), level(None, ChangeVerdict::TooFewRuns, false));
    let (high, none) =
        (level(None, ChangeVerdict::Higher, false), level(None, ChangeVerdict::NoEvidence, false));
    let strained = level(Some(30_000.0), ChangeVerdict::Lower, false);
    let open = |total, highest, strained| OpenModelAnswer { kept_up: 1, total, highest, strained };
    let opened = [
        open(1, Some(strained), None),
        open(1, None, Some(strained)),
        open(21, Some(strained), Some(strained)),
    ];
    let objectives = [
        counts(0, 0, 0),
        counts(0, 1, 0),
        counts(0, 0, 1),
        counts(2, 0, 0),
        counts(2, 0, 1),
        counts(2, 1, 1),
    ];
    for (at, objectives) in objectives.into_iter().enumerate() {
        let (baseline, open) = (Some(&low).filter(|_| at > 0), opened.get(at));
        add(&PageAnswer::Many { baseline, best: Some(&high), worst: Some(&few), open, trials, objectives });
        add(&PageAnswer::Many { baseline, best: Some(&none), worst: None, open, trials, objectives });
    }
    all
}

fn comparisons(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |what: &str, text: String| all.push((what.to_owned(), text));
    let interval = Some((0.95, 1.2345));
    let ratio = Change::Ratio { value: Some(0.844), interval };
    let difference = Change::Difference { value: 0.012, interval: Some((-0.01, 0.0145)) };
    for change in [ratio, difference] {
        add("changed", lang.change(&change));
        add("interval", lang.change_interval(&change));
    }
    for metric in Metric::ALL {
        add("measure", lang.metric_value(metric, 0.012_345));
        add("change point", lang.change_point(metric, "№", 0.012_345, 0.023_456, 0.0005));
    }
    for runs in [&[][..], &["№", "№"]] {
        for baselines in [&[""][..], &["№"], &["№", "№"]] {
            let names: Vec<String> = baselines.iter().map(|&it| it.to_owned()).collect();
            add("question", lang.comparison_question("№", runs, &names));
        }
    }
    let run = RunRef { name: "№".into(), started_ms: 0, pgdyno_version: "№".into() };
    let beside = RunComparison {
        run,
        differences: Vec::new(),
        cells: Vec::new(),
        only_base: Vec::new(),
        only_run: Vec::new(),
        excluded: Vec::new(),
        conditions: Vec::new(),
    };
    add("answer", lang.comparison_answer(&beside));
    for count in [1, 3, 21] {
        add("unlike", lang.confounders(count));
    }
    let differing = Differing {
        subject: DifferenceSubject::Limit,
        path: "№".into(),
        base: Some("№".into()),
        run: None,
        cells: Vec::new(),
        expected: true,
    };
    add("differing", lang.difference_of_runs(&differing, &["№"]));
    let blocks = Blocks { length: 12.0, count: 21, correlation: 0.31 };
    let methods = vec![
        TestMethod::Trials { base: 5, run: 21 },
        TestMethod::Pairs { pairs: 21 },
        TestMethod::Ranks { base: 5, run: 21 },
        TestMethod::Blocks { base: blocks, run: blocks },
        TestMethod::None { base: 1, run: 2 },
    ];
    covers!(methods, TestMethod: Trials, Pairs, Ranks, Blocks, None);
    for method in methods {
        add("method", lang.test_method(&method));
    }
    for of_base in [false, true] {
        add("excluded", lang.excluded_trial(of_base, "№", 1, "№"));
        add("unmatched", lang.unmatched_cells(of_base, &["№"]));
    }
    for outcome in every!(ConditionOutcome: Holds, DoesNotHold, Unknown, Absent) {
        for unit in every!(ConditionUnit: Relative, Points, Seconds, PerSecond, Share, Processors) {
            let (text, value) = ("№".to_owned(), Some(0.123_45));
            let result = ConditionResult { text, cell: 0, outcome, value, interval, bound: 0.1, unit };
            add("condition", lang.condition(&result, "№"));
        }
    }
    add("legend", lang.comparison_legend(42, 12_345));
    add("history", lang.history_question("№"));
    for (runs, changes, too_few) in [(5, 0, true), (21, 0, false), (12_345, 2, false)] {
        add("history", lang.history_answer(runs, changes, too_few));
    }
    all
}

fn live(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |what: &str, text: String| all.push((what.to_owned(), text));
    let took = Nanos::from_millis(7_500_500);
    add("begins", lang.run_begins(12_345, 21, 42, took));
    add("note", lang.run_note("№"));
    add("scraped", lang.run_scraped("№"));
    add("broken off", lang.run_broken_off("№"));
    add("kept", lang.run_kept("№", took));
    let doing = vec![
        Activity::SettingUp,
        Activity::Fetching { major: 15 },
        Activity::Starting { node: "№".into() },
        Activity::Dropping,
        Activity::Loading { sent: 12_345, total: 100_001 },
        Activity::Keys,
        Activity::RestoringDump,
        Activity::ReadingSource,
        Activity::Statistics,
        Activity::Restored { took },
        Activity::DataUnchanged,
        Activity::Warmed,
        Activity::WarmingUp,
        Activity::AwaitingFailover,
        Activity::Undoing { command: "№1".to_owned() },
        Activity::Measuring { second: 12_345, total: took },
    ];
    covers!(doing, Activity: SettingUp, Fetching, Starting, Dropping, Loading, Keys, RestoringDump, ReadingSource, Statistics, Restored, DataUnchanged, Warmed,
        WarmingUp, AwaitingFailover, Undoing, Measuring);
    for activity in doing {
        add("doing", lang.activity(&activity));
    }
    let stale =
        |retained| Milestone::StaleDirectory(StaleRunDirectory { directory: "/№".into(), retained });
    let milestones = vec![
        Milestone::Ready { node: "№".into(), took },
        Milestone::AlreadyLoaded { rows: 12_345 },
        Milestone::Loaded { rows: 12_345, took, rate: PerSecond(12_345.6) },
        Milestone::DataReused { bytes: 1_234_567, took },
        Milestone::DataStored { bytes: 1_234_567, took },
        Milestone::Sampled { table: "№".into(), kept: 1234, total: 12_345 },
        Milestone::SourceRead {
            address: "№".into(), database: "№".into(), at: "№".into(), bytes: 1_234_567
        },
        Milestone::CacheNotCold,
        stale(None),
        stale(Some(RetainReason::InUse { pid: 1234, program: "№".into() })),
        stale(Some(RetainReason::ControlGroups)),
    ];
    covers!(milestones, Milestone: Ready, AlreadyLoaded, Loaded, DataReused, DataStored, SourceRead, Sampled, CacheNotCold, StaleDirectory);
    for milestone in milestones {
        add("milestone", lang.milestone(&milestone));
    }
    let figures = TrialFigures {
        rate: PerSecond(12_345.6),
        p99: Some(took),
        failed: 12_345,
        invalid: Some(InvalidReason::Throttled { share: 0.4 }),
        doubts: vec![Doubt::Outage { count: 1, duration: took, from: took, to: took }],
    };
    let ends = vec![
        TrialEnd::Complete,
        TrialEnd::Held,
        TrialEnd::TooMuch("№".into()),
        TrialEnd::NotCounted("№".into()),
        TrialEnd::NotCounted(String::new()),
        TrialEnd::Stopped { rule: "№".into(), second: 12_345 },
        TrialEnd::Interrupted,
        TrialEnd::Skipped("№".into()),
        TrialEnd::Failed("№".into()),
    ];
    covers!(ends, TrialEnd: Complete, Held, TooMuch, NotCounted, Stopped, Interrupted, Skipped, Failed);
    for end in ends {
        let cell = String::new();
        add(
            "end",
            lang.trial_finished(&FinishedTrial {
                trial: 1,
                trials: Some(2),
                cell,
                figures: Some(figures.clone()),
                end,
            }),
        );
    }
    let counts = LiveSecond {
        failed: 12_345,
        dropped: 12_345,
        refused: 12_345,
        in_flight: 12_345,
        ..LiveSecond::default()
    };
    add("counts", lang.live_counts(&counts));
    add("time", lang.live_time(Nanos::from_micros(12_345)));
    let pool = PoolState { node: "№".into(), waiting: Some(12_345.6), busy: Some(12_345.6) };
    add("pool", lang.live_pool(&pool));
    add("used", lang.live_used(&NodeCpu { node: "№".into(), processors: 0.456 }, Some(0.5)));
    add("left", lang.live_left(took));
    add("search left", lang.live_search_left(took));
    add("begins", lang.search_begins(12_345, 7, took));
    for (sustained, failed) in [(None, None), (Some(1.0), None), (None, Some(2.0)), (Some(1.0), Some(2.0))] {
        let bracket = SearchBracket { scale: LoadScale::Rate, sustained, failed, remaining: None };
        add("step", lang.live_step(12_345, Some(&bracket)));
    }
    for scale in [LoadScale::Rate, LoadScale::Clients] {
        add("level", lang.at_level("№", scale, 12_345.6));
    }
    add("lost", lang.live_lost(12_345));
    all
}
