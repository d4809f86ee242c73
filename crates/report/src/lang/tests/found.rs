//! Findings of every kind, and tests of their texts

use super::*;
use model::EventKind;
use model::avoidable_work::WorkEvidence;
use model::finding::{
    ActiveCount, Bound, CellResponse, Circumstance, ConnectionLimit, CopyShare, FindingRule,
    IncomparableReason, LoggedErrors, MissingInput, NormalizedRate, ReadVolume, SessionOrigin, SizeChange,
    ThroughputComparison, TrialTrend, UsageCounter,
};
use model::matrix::Figure;
use model::plan::PoolMode;
use model::server_log::{CellDeadlocks, DeadlockGroup};

fn compared(ratio: f64) -> ThroughputComparison {
    let interval = Some((ratio - 0.01, ratio + 0.012));
    ThroughputComparison { ratio, interval, p: Some(0.01), verdict: ChangeVerdict::Lower, runs: (5, 5) }
}

/// Findings of each kind, with and without their optional parts.
pub(super) fn findings() -> Vec<Finding> {
    let node = || NODE.to_owned();
    let (cell, other_cell) = (1, 0);
    let slots = |limit, first_second, trials| Finding::SlotsExhausted {
        cell,
        limit,
        refusals: 40_123,
        logged_refusals: 46_123,
        max_connections: Some(50),
        first_second,
        trials,
        total_trials: 3,
    };
    let starved = |pool, clients_without_success| Finding::ClientsStarved {
        cell,
        clients_served: 20,
        clients_without_success,
        clients: 200,
        pool,
        jain: 0.123,
        mean_transactions: 450.25,
    };
    let left_out = |reason| Finding::NotCompared { cell, reason };
    let queue = |waiting| Finding::QueueInPooler {
        cell,
        node: node(),
        waiting,
        longest_wait: Some(2.5),
        in_flight: 170.25,
        busy: Some(19.5),
    };
    let host = |generator_cpu| Finding::HostBound {
        cell,
        idle: 0.01,
        processors: 2.0,
        generator_cpu,
        pooler_cpu: Some(0.3),
        server_cpu: Some(0.9),
        other_cpu: Some(0.05),
    };
    let deadlocks = |interval, runs| Finding::Deadlocks { cell, per_thousand: 2.99, interval, runs };
    let logins = |server_cpu| Finding::LoginsDiffer {
        cell,
        other_cell,
        logins: NormalizedRate { per_second: 977.0, per_transaction: 0.98 },
        other_logins: NormalizedRate { per_second: 24.0, per_transaction: 0.02 },
        server_cpu,
        other_server_cpu: Some(0.22),
    };
    let all = vec![
        slots(ConnectionLimit::Server, Some(3), 2),
        slots(ConnectionLimit::Role, None, 3),
        slots(ConnectionLimit::Database, None, 3),
        starved(None, 180),
        starved(Some((PoolMode::Session, 20)), 100),
        starved(Some((PoolMode::Transaction, 21)), 100),
        left_out(IncomparableReason::SlotsExhausted),
        left_out(IncomparableReason::ClientsStarved),
        left_out(IncomparableReason::Errors { per_thousand: 12.3 }),
        host(Some(0.8)),
        Finding::GeneratorShare { cell, generator_cpu: 0.75, processors: 2.0 },
        Finding::LikeForLikeCost { cell, other_cell, transport: Transport::Tcp, comparison: compared(0.8) },
        Finding::UnlikeComparison {
            cell,
            other_cell,
            transports: vec![Transport::Tcp, Transport::Tcp, Transport::Tls],
            other_transport: Transport::Unix,
            comparison: compared(0.538),
            like_for_like_ratio: 0.844,
        },
        Finding::NoDifference {
            cell,
            other_cell,
            mode: PoolMode::Statement,
            other_mode: PoolMode::Transaction,
            comparison: compared(0.998),
        },
        queue(Some(150.5)),
        queue(None),
        Finding::QueueInBalancer { cell, node: node(), waiting: 160.5, wait: Some(1.5), maxconn: Some(20) },
        Finding::PoolerBound {
            cell,
            node: node(),
            cpu: 0.099,
            cpu_limit: 0.1,
            throttled: Some(0.9),
            throttled_cpu: Some(0.25),
            pool: 20,
            in_use: Some(19.9),
            active: 1.5,
        },
        Finding::PoolBound {
            cell,
            node: node(),
            pool: 20,
            setting: None,
            in_use: 20.0,
            busy: 19.8,
            cpu: 0.05,
            cpu_limit: 0.1,
        },
        Finding::ServerBound {
            cell,
            node: node(),
            cpu: 0.97,
            cpu_limit: 1.0,
            throttled: Some(0.5),
            throttled_cpu: Some(0.75),
            queue: None,
        },
        Finding::ServerBound {
            cell,
            node: node(),
            cpu: 0.82,
            cpu_limit: 1.0,
            throttled: None,
            throttled_cpu: None,
            queue: Some(4.5),
        },
        Finding::SessionsWait { cell, event: "№8".into(), share: 0.75, active: 20.5 },
        Finding::Failures { cell, code: "42501".into(), name: None, count: 31_012, sent: 300_000 },
        deadlocks(Some((1.0, 4.5)), 5),
        deadlocks(None, 1),
        Finding::NotConcurrent { cell, other_cell, busy: 20.5, other_busy: 5.5 },
        Finding::NotOpenLoop {
            cell,
            arrivals: 10_500,
            waited: 30_000,
            dropped: 50_000,
            in_flight_cap: 200,
            trials: 1,
            total_trials: 2,
        },
        Finding::AnswerSizes {
            cell,
            operation: "№8".into(),
            step: None,
            change: SizeChange::Fell { before_bytes: 40_000, after_bytes: 2_000, second: 17 },
            share: 0.5,
        },
        Finding::AnswerSizes {
            cell,
            operation: "№8".into(),
            step: Some("№9".into()),
            change: SizeChange::TwoPopulations { small_bytes: 2_000, large_bytes: 40_000 },
            share: 0.3,
        },
        Finding::AnswerSizes {
            cell,
            operation: "№8".into(),
            step: None,
            change: SizeChange::SmallerThan { other_cell, bytes: 2_000, other_bytes: 40_000 },
            share: 1.0,
        },
        Finding::AnswerSizes {
            cell,
            operation: "№8".into(),
            step: None,
            change: SizeChange::SmallerThanRecorded { bytes: 2_000, recorded_bytes: 34_000 },
            share: 0.9,
        },
        Finding::AnswerSizes {
            cell,
            operation: "№8".into(),
            step: None,
            change: SizeChange::LargerThanRecorded { bytes: 34_000, recorded_bytes: 2_000 },
            share: 0.9,
        },
        Finding::RecordedStatus { cell, operation: "№8".into(), count: 12_345, share: 0.3 },
        Finding::RequestsMissing { cell, requests: 90_000, missing: 10_000, share: 0.1 },
        Finding::RecordedResponseTimes {
            cell,
            operation: "№8".into(),
            count: 12_345,
            recorded_p50: Nanos::from_millis(12),
            recorded_p99: Some(Nanos::from_millis(340)),
            measured_p50: Nanos::from_millis(14),
            measured_p99: None,
        },
        Finding::ReplayAsRecorded { cell, results: 12_345, with_rows: 0 },
        Finding::ReplayDiverged {
            cell,
            operation: "№8".into(),
            results: 12_345,
            failed: 17,
            succeeded: 1,
            other_errors: 21,
            fewer_rows: 2,
            more_rows: 1_234,
        },
        no_rows(cell, StatementKind::Update, None),
        no_rows(cell, StatementKind::Mixed, Some(17)),
        no_rows(cell, StatementKind::Queue, Some(17)),
        Finding::ClientsLeftAfterTest { cell, node: node(), clients: 17_000, trials: 2, total_trials: 3 },
        Finding::OpenAndClosed {
            cell,
            other_cell,
            offered: 12_345.6,
            open: answered(44.9, Some(9.672)),
            closed: answered(47.7, None),
        },
        logins(Some(0.87)),
        logins(None),
        Finding::FeedsDiffer {
            cell,
            other_cell,
            feed: node(),
            response: answered(196.0, Some(2.171)),
            other_response: answered(197.0, Some(0.0073)),
            read: ReadVolume { blocks: Some(12.25), disk_bytes: Some(100_352.0) },
            other_read: ReadVolume::default(),
        },
    ];
    let all = [all, bounds(), circumstances()].concat();
    covers!(all, Finding: SlotsExhausted, ClientsStarved, NotCompared, HostBound, GeneratorShare, LikeForLikeCost,
        UnlikeComparison, NoDifference, QueueInPooler, QueueInBalancer, PoolerBound, PoolBound, ServerBound,
        SessionsWait, Failures, Deadlocks, NotConcurrent, NotOpenLoop, AnswerSizes, RecordedStatus, ReplayDiverged, RequestsMissing,
        RecordedResponseTimes, ReplayAsRecorded, NoRows, ClientsLeftAfterTest, Bound, Circumstance,
        OpenAndClosed, LoginsDiffer, FeedsDiffer);
    all
}

fn no_rows(cell: usize, statement: StatementKind, second: Option<u64>) -> Finding {
    Finding::NoRows {
        cell,
        operation: "№8".into(),
        command: 4,
        statement,
        count: 12_345,
        share: 0.95,
        second,
    }
}

fn answered(delivered: f64, p99: Option<f64>) -> CellResponse {
    CellResponse { delivered, p99, runs: 3 }
}

/// Findings with every bound.
fn bounds() -> Vec<Finding> {
    let node = || NODE.to_owned();
    let reads = |per_second, quota, wait_share| Bound::Reads {
        node: node(),
        per_second,
        quota,
        wait_share,
        in_bytes: false,
    };
    let locks = |longest_wait, statements: &[&str]| Bound::RowLocks {
        share: 0.75,
        active: 20.5,
        longest_wait,
        statements: statements.iter().map(|&it| it.to_owned()).collect(),
    };
    let mut all = vec![
        Bound::Service {
            node: node(),
            cpu: 0.29,
            cpu_limit: 0.3,
            throttled: Some(0.9),
            throttled_cpu: Some(0.5),
        },
        Bound::ServicePool {
            node: node(),
            pool: "№8".into(),
            size: 3.0,
            busy: 2.9,
            waiting: Some(12.5),
            waited_share: Some(0.9),
        },
        Bound::ServiceThreads { node: node(), pool: "".into(), size: 5.0, busy: 4.9, waiting: Some(30.5) },
        Bound::ServiceThreads { node: node(), pool: node(), size: 5.0, busy: 4.9, waiting: None },
        Bound::HostCpu { node: node(), nodes: vec![node(), node()], cpu: 3.9, cpu_limit: 4.0 },
        reads(Some(12_345.0), Some(12_000.0), Some(0.8)),
        reads(None, None, Some(0.8)),
        Bound::Writes {
            node: node(),
            per_second: Some(390.0),
            quota: Some(400.0),
            wait_share: None,
            in_bytes: true,
        },
        Bound::Memory {
            node: node(),
            used_bytes: 3.14e8,
            limit_bytes: 314_572_800.0,
            read_bytes_per_transaction: 14_336.0,
        },
        Bound::WalFlush { share: 0.6, active: 20.5 },
        Bound::SyncReplicas { share: 0.6, active: 20.5 },
        locks(Some(1.25), &["№8\n  №9", "№10"]),
        locks(None, &[]),
        Bound::Scans {
            table: "№8".into(),
            scans_per_transaction: 2.5,
            rows_per_scan: 200_000.0,
            cpu_share: Some(0.97),
        },
        Bound::Checkpoints {
            requested: 2.0,
            share: 0.6,
            throughput_ratio: Some(0.75),
            full_page_share: Some(0.8),
        },
        Bound::Checkpoints {
            requested: 0.0,
            share: 0.6,
            throughput_ratio: Some(0.75),
            full_page_share: None,
        },
        Bound::ResultReading { share: 0.6, active: 20.5 },
        Bound::DelayedAcknowledgements { p50: 0.041, p90: 0.044, server: 0.002 },
        Bound::Clients {
            clients: 20,
            mean: 0.0067,
            throughput_bound: 12_985.0,
            delivered: 12_980.0,
            idle: 0.4,
        },
    ];
    let waits =
        |lock| Bound::Locks { lock, share: 0.75, active: 20.5, longest_wait: None, statements: vec![] };
    all.extend(lock_kinds().into_iter().map(waits));
    all.extend(work_evidence().into_iter().map(|evidence| Bound::AvoidableWork { evidence }));
    covers!(all, Bound: Service, HostCpu, ServicePool, ServiceThreads, Reads, Writes, Memory, WalFlush, SyncReplicas, RowLocks, Locks, Scans,
        AvoidableWork, ResultReading, DelayedAcknowledgements, Checkpoints, Clients);
    all.into_iter().map(|bound| Finding::Bound { cell: 1, bound }).collect()
}

fn work_evidence() -> Vec<WorkEvidence> {
    let (table, statement) = (|| "№8".to_owned(), || Some("№9".to_owned()));
    let all = vec![
        WorkEvidence::TemporaryFiles {
            files_per_transaction: 0.5,
            bytes_per_transaction: 2e6,
            bytes_per_file: 4e6,
            statement: statement(),
        },
        WorkEvidence::Jit { share: 0.4, statement: statement() },
        WorkEvidence::Jit { share: 0.4, statement: None },
        WorkEvidence::Planning { share: 0.6, mean: 0.0003, statement: statement() },
        WorkEvidence::Logins { per_second: 1050.0, per_transaction: 1.0, mean: Some(0.004) },
        WorkEvidence::Logins { per_second: 12_345.0, per_transaction: 0.15, mean: None },
        WorkEvidence::DeadRows { table: table(), live_rows: 600.0, dead_rows: 19_400.0, bytes: Some(1e6) },
        WorkEvidence::OldStatistics { table: table(), live_rows: 40_000.0, changed_rows: 39_817.0 },
        WorkEvidence::OldSnapshot { age: 31.0, first_dead_rows: 500.0, last_dead_rows: 12_345.0 },
        WorkEvidence::Autovacuum { share: 0.31, workers: 1.25 },
        WorkEvidence::GrownTable {
            table: table(),
            growth: 2.33,
            read_per_transaction: 20_000.0,
            returned_per_transaction: 1.0,
        },
        WorkEvidence::DiscardedRows {
            table: table(),
            read_per_transaction: 20_000.0,
            returned_per_transaction: 0.0,
        },
        WorkEvidence::LargeValues {
            table: table(),
            toast_blocks_per_transaction: 28.0,
            blocks_per_transaction: 36.4,
        },
        WorkEvidence::UnusedIndexes {
            table: table(),
            indexes: 9.0,
            rows_per_transaction: 20.0,
            statement: "№9".to_owned(),
        },
        WorkEvidence::Function { function: table(), share: 0.75, calls_per_transaction: 1.0, mean: 0.0123 },
        WorkEvidence::UnindexedForeignKey {
            table: table(),
            columns: "№7".to_owned(),
            deletes_per_transaction: 0.5,
            read_per_transaction: 21_000.0,
        },
        WorkEvidence::SkippedRows {
            table: table(),
            read_per_transaction: 6_430.0,
            returned_per_transaction: 10.8,
            statement: "№9".to_owned(),
        },
        WorkEvidence::LargeResult { rows_per_execution: 5000.0, share: 0.9, statement: "№9".to_owned() },
        WorkEvidence::RepeatedStatement {
            calls_per_transaction: 40.0,
            share: 0.87,
            statements: 1,
            statement: "№9".to_owned(),
        },
        WorkEvidence::RepeatedStatement {
            calls_per_transaction: 61.0,
            share: 0.71,
            statements: 2,
            statement: "№9".to_owned(),
        },
        WorkEvidence::EmptyPages {
            table: table(),
            bytes: 87e6,
            row_bytes: 81e3,
            scans_per_transaction: 0.75,
        },
        WorkEvidence::Subtransactions { ids_per_transaction: 250.0, statement: statement() },
        WorkEvidence::Subtransactions { ids_per_transaction: 250.0, statement: None },
    ];
    covers!(all, WorkEvidence: TemporaryFiles, Jit, Planning, Logins, DeadRows, OldStatistics, OldSnapshot, Autovacuum, GrownTable, DiscardedRows,
        LargeValues, UnusedIndexes, Function, UnindexedForeignKey, SkippedRows, RepeatedStatement, LargeResult, EmptyPages, Subtransactions);
    all
}

fn circumstances() -> Vec<Finding> {
    let node = || NODE.to_owned();
    let fits = |distinct, read| Circumstance::FeedFitsCache {
        feed: "№8".into(),
        rows: 150_000,
        distinct,
        share: 0.0002,
        touched_bytes: 15 << 20,
        table_bytes: 1300 << 20,
        memory_bytes: 400 << 20,
        read,
    };
    let rules = every!(FindingRule: ServerCpu, PoolerCpu, BalancerCpu, ServiceCpu, RemoteHost, SharedHost, Pool, ServicePool, ServiceThreads, Waits, Reads, Writes,
        Memory, Scans, AvoidableWork, ResultReading, Checkpoints, Storm, Bloat, IdleTransactions, Host, Feed);
    let lacked =
        every!(MissingInput: Group, Quota, Server, Console, Samples, Stats, Metrics, Machine, Column);
    let bloat = |trials, vacuums| Circumstance::Bloat {
        first_dead_rows: 1e3,
        last_dead_rows: 51_000.0,
        live_rows: 1e5,
        vacuums,
        trials,
    };
    let trend = |figure, last, change_interval| TrialTrend { figure, first: 0.012, last, change_interval };
    let trends = vec![
        trend(Figure::P99, 0.012, (-0.0015, 0.0016)),
        trend(Figure::Errors, 0.002, (-0.02, -0.005)),
        trend(Figure::Deadlocks, 3.412, (2.1, 4.25)),
    ];
    let not_used = |counter| Circumstance::NotUsed {
        node: node(),
        transactions: 12_345,
        counter,
        node_count: 0,
        trials: 2,
        total_trials: 3,
    };
    let deadlock_statements = |first_repetition, relations, count| Circumstance::DeadlockStatements {
        most: CellDeadlocks {
            group: DeadlockGroup {
                node: node(),
                statements: vec!["№1".to_owned(), "№2".to_owned()],
                locks: vec!["№3".to_owned()],
                relations,
                tuple: None,
                count,
                first: Nanos::from_secs(7),
            },
            first_repetition,
        },
        total: 12_345,
        kinds: 2,
    };
    let collapse = |counted, cancelled, logins, closed| Circumstance::ActiveCollapse {
        node: node(),
        counted,
        before: 20.5,
        during: 6.25,
        from_second: 12,
        seconds: 5,
        rate: 200.0,
        in_flight_before: 30.0,
        in_flight_after: 74,
        cancelled,
        logins,
        closed,
        repetition: 1,
        trials: 2,
        total_trials: if cancelled > 0 { 3 } else { 1 },
    };
    let other = SessionOrigin::Other { application: "№".into(), client: "№".into() };
    let origins = [SessionOrigin::Node { node: node() }, SessionOrigin::Direct, SessionOrigin::Own, other];
    let kinds = [EventKind::Deadlock, EventKind::TooManyConnections, EventKind::Fatal, EventKind::Error];
    let errors = kinds.into_iter().cycle().zip(origins.into_iter().chain([SessionOrigin::Unknown]));
    let errors = errors.map(|(kind, origin)| LoggedErrors { kind, origin, lines: 12_345 }).collect();
    let all = vec![
        fits(1, ReadVolume { blocks: Some(0.25), disk_bytes: None }),
        fits(2_002, ReadVolume { blocks: None, disk_bytes: Some(0.0) }),
        fits(2_005, ReadVolume::default()),
        Circumstance::ChainedPools {
            service: node(),
            connections: 24.0,
            pooler: "№8".into(),
            pool: 12,
            assignments_per_transaction: Some(1.25),
            sets_per_transaction: Some(0.5),
            waiting: Some(10.5),
        },
        deadlock_statements(0, vec!["№5".to_owned()], 1),
        deadlock_statements(2, vec![], 7),
        Circumstance::HiddenDeadlocks { counted: 14, clients: 0, databases: vec![node(), "№8".into()] },
        Circumstance::HiddenDeadlocks { counted: 12_345, clients: 21, databases: vec![node()] },
        Circumstance::NoFreeSlots { share: 0.25, sessions: 97.0 },
        collapse(ActiveCount::Clients, 7, Some((0.5, 12.5)), 15.5),
        collapse(ActiveCount::Sessions, 0, Some((0.5, 0.75)), 0.0),
        Circumstance::SessionsLost { fatal: 1, killed: 0, abandoned: 12_345, databases: vec![node()] },
        Circumstance::SessionsLost { fatal: 0, killed: 2, abandoned: 0, databases: vec![node()] },
        Circumstance::UnevenCopies {
            service: node(),
            balancer: "№8".into(),
            requests: 12_345,
            shares: vec![
                CopyShare { node: "№9".into(), share: 0.75 },
                CopyShare { node: "№10".into(), share: 0.25 },
            ],
        },
        Circumstance::ConnectionStorm {
            logins: Some(NormalizedRate { per_second: 12_345.0, per_transaction: 0.5 }),
            cancelled_per_thousand: 30.5,
        },
        Circumstance::ConnectionStorm { logins: None, cancelled_per_thousand: 30.5 },
        Circumstance::GeneratorLate {
            reason: InvalidReason::Saturated { thread: 1, busy: 0.97 },
            trials: 2,
            total_trials: 3,
        },
        Circumstance::NoisyHost { stolen_cpu: Some(0.25), jitter: Some(0.005) },
        Circumstance::TrialTrends { trends, trials: 10 },
        bloat(21, 0.0),
        bloat(5, 2.0),
        Circumstance::IdleTransactions {
            sessions: 1.5,
            longest_idle: 5.5,
            horizon_sessions: 1.5,
            blocked_sessions: 12.5,
            pool: Some((4, 24.5)),
        },
        Circumstance::IdleTransactions {
            sessions: 1.5,
            longest_idle: 5.5,
            horizon_sessions: 0.0,
            blocked_sessions: 0.0,
            pool: None,
        },
        Circumstance::LittlesLawViolation {
            node: node(),
            concurrency: 20.5,
            expected: 4.5,
            per_second: 12_345.0,
            time: 0.0045,
        },
        not_used(UsageCounter::Transactions),
        not_used(UsageCounter::Sessions),
        Circumstance::DataChanged {
            min_bytes: 12_345_678,
            max_bytes: 123_456_789,
            tables_replaced: true,
            restarted: true,
            trials: 3,
        },
        Circumstance::ErrorOrigins { errors },
        Circumstance::RulesSkipped { rules: rules.into_iter().zip(lacked.into_iter().cycle()).collect() },
    ];
    covers!(all, Circumstance: FeedFitsCache, DeadlockStatements, HiddenDeadlocks, NoFreeSlots, ActiveCollapse, SessionsLost, UnevenCopies, ChainedPools, ConnectionStorm, GeneratorLate, NoisyHost, TrialTrends, Bloat, IdleTransactions, LittlesLawViolation,
        NotUsed, DataChanged, ErrorOrigins, RulesSkipped);
    all.into_iter().map(|it| Finding::Circumstance { cell: 1, circumstance: it }).collect()
}

/// Groups of findings about more cells than a sentence lists one by one.
pub(super) fn many() -> Vec<Vec<Finding>> {
    let host = |cell: usize| Finding::HostBound {
        cell,
        idle: 0.0,
        processors: 2.0,
        generator_cpu: Some(0.5 + 0.1 * cell as f64),
        pooler_cpu: Some(0.25),
        server_cpu: Some(0.75),
        other_cpu: Some(0.0),
    };
    let unlike = |cell: usize| Finding::UnlikeComparison {
        cell,
        other_cell: 0,
        transports: vec![Transport::Tcp],
        other_transport: Transport::Tls,
        comparison: compared(0.9 + 0.1 * cell as f64),
        like_for_like_ratio: 0.8,
    };
    let left_out = |cell: usize| Finding::NotCompared {
        cell,
        reason: IncomparableReason::Errors { per_thousand: 12.3 },
    };
    vec![
        (0..6).map(host).collect(),
        (0..5).map(host).collect(),
        [0, 1, 1, 1, 1].map(host).to_vec(),
        (0..5).map(unlike).collect(),
        (0..3).map(left_out).collect(),
    ]
}

/// Compares both languages. The expected texts contain plain blanks instead of no-break spaces.
#[track_caller]
fn check(finding: &Finding, english: &str, russian: &str) {
    let names = CELLS.map(str::to_owned);
    for (lang, expected) in crate::lang::all().iter().zip([english, russian]) {
        let text = lang.findings(&[finding], &names).replace(['\u{202f}', '\u{a0}'], " ");
        assert_eq!(text, expected);
    }
}

#[test]
fn open_and_closed() {
    // The figures are those of experiments/004-book.
    let response = |delivered, p99| CellResponse { delivered, p99: Some(p99), runs: 1 };
    let finding = Finding::OpenAndClosed {
        cell: 2,
        other_cell: 3,
        offered: 68.0,
        open: response(44.9, 9.672),
        closed: response(47.7, 0.171),
    };
    check(
        &finding,
        "the closed-loop test hides the wait of users who keep arriving: №4: p99 171 ms at 47.7/s; №3, with \
         68.0/s offered: p99 9.67 s at 44.9/s",
        "закрытый тест скрывает ожидание пользователей, которые продолжают приходить: №4 — p99 171 мс при 47,7/с; \
         №3, где предложено 68,0/с, — p99 9,67 с при 44,9/с",
    );
}

#[test]
fn feeds() {
    let finding = Finding::FeedsDiffer {
        cell: 2,
        other_cell: 0,
        feed: "requests".into(),
        response: CellResponse { delivered: 196.0, p99: Some(2.171), runs: 1 },
        other_response: CellResponse { delivered: 197.0, p99: Some(0.0073), runs: 1 },
        read: ReadVolume { blocks: Some(12.5), disk_bytes: Some(102_400.0) },
        other_read: ReadVolume { blocks: Some(0.25), disk_bytes: None },
    };
    check(
        &finding,
        "the result depends on the feed requests: №3 p99 2.17 s at 196/s (12.5 blocks not in shared buffers and 100 KiB \
         from disk per transaction) vs №1 p99 7.30 ms at 197/s (0.250 blocks not in shared buffers per transaction)",
        "результат зависит от ленты данных requests: №3 — p99 2,17 с при 196/с (на транзакцию блоков мимо буферов PostgreSQL \
         12,5 и 100 КиБ с диска); №1 — p99 7,30 мс при 197/с (на транзакцию блоков мимо буферов PostgreSQL 0,250)",
    );
    let circumstance = Circumstance::FeedFitsCache {
        feed: "books".into(),
        rows: 20_000,
        distinct: 2_000,
        share: 0.0002,
        touched_bytes: 15 << 20,
        table_bytes: 1300 << 20,
        memory_bytes: 400 << 20,
        read: ReadVolume { blocks: Some(0.01), disk_bytes: Some(0.0) },
    };
    check(
        &Finding::Circumstance { cell: 0, circumstance },
        "the test measures the cache, because the rows that the feed books selects fit in memory: its 2000 distinct \
         values select 15 MiB of 1.27 GiB, and the server may use 400 MiB: №1 (0.010 blocks not in shared buffers and 0 B \
         from disk per transaction)",
        "набор данных, которые выбирает лента books, целиком помещается в кэш: измерен кэш; её разные значения (2000) выбирают 15 МиБ из \
         1,27 ГиБ, память сервера 400 МиБ: №1 (на транзакцию блоков мимо буферов PostgreSQL 0,010 и 0 Б с диска)",
    );
}
