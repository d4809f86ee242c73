use super::*;
use crate::facts::samples;
use crate::fixture::trial;
use model::{Code, CommandCounts, CompactInterval, EventKind, LatencyHistogram, OperationSecond};

const OPERATIONS: [&str; 2] = ["read", "write"];

fn charting(word: &str, duration: u64) -> ChartBuilder {
    let mut setup = trial::setup(word);
    let operation = |name: &str| model::plan::Operation::script(name, 1, "");
    setup.operations = OPERATIONS.map(operation).to_vec();
    ChartBuilder::new(&setup, Some(2.0), Nanos::from_secs(duration))
}

/// Second in which each operation has `each` transactions of `millis` ms.
fn second(number: u64, each: u64, millis: u64) -> Second {
    let mut times = LatencyHistogram::new();
    (0..each).for_each(|_| times.record(Nanos::from_millis(millis)));
    let operation = OperationSecond { ok: each, response: (&times).into(), ..OperationSecond::default() };
    Second {
        second: number,
        in_flight: number,
        interval: CompactInterval {
            from: Nanos::from_secs(number),
            to: Nanos::from_secs(number + 1),
            started: 2 * each,
            scripts: vec![operation; 2],
            ..CompactInterval::default()
        },
    }
}

fn sample(millis: u64, node: &'static str, series: &'static str, label: &'static str, value: f64) -> Sample {
    let at = Nanos::from_millis(millis);
    Sample { at, node: node.into(), series: series.into(), label: label.into(), value }
}

/// Series of a chart, one line each: kind, node and label, and values to three decimals, with `-` for a missing value.
fn lines(charts: &Charts, kind: ChartKind) -> Vec<String> {
    let Some(chart) = charts.charts.iter().find(|it| it.kind == kind) else { return Vec::new() };
    let value = |value: &Option<f64>| {
        value.map_or("-".to_owned(), |number| {
            format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
        })
    };
    let line = |series: &ChartSeries| {
        let named = [&series.node, &series.label]
            .into_iter()
            .flatten()
            .map(|it| format!(" {it}"))
            .collect::<String>();
        let values: Vec<String> = series.values.iter().map(value).collect();
        format!("{:?}{named}: {}", series.kind, values.join(" "))
    };
    chart.series.iter().map(line).collect()
}

/// Checks the lines of a chart from five seconds of samples of a pooled trial.
#[track_caller]
fn check(kind: ChartKind, samples: &[Sample], expected: &[&str]) {
    let mut charts = charting("pooled", 5);
    (0..5).for_each(|number| charts.second(&second(number, 20, 5)));
    charts.samples(samples);
    assert_eq!(lines(&charts.charts(), kind), expected);
}

#[test]
fn charts_the_load() {
    let mut charts = charting("direct", 4);
    charts.second(&second(0, 10, 5));
    let mut failing = second(1, 1000, 8);
    failing.interval.to = Nanos::from_millis(2500);
    failing.interval.scripts[1].failed.add(Code::SqlState(*b"40P01"), 3);
    failing.interval.scripts[0].unknown.add(Code::Net(104), 6);
    failing.interval.scripts[0].dropped = 15;
    charts.second(&failing);
    charts.second(&second(3, 5, 2));
    let all = charts.charts();
    assert_eq!((all.bin, &*all.times), (1, &[0.0, 1.0, 2.0, 3.0][..]));
    assert_eq!(
        lines(&all, ChartKind::Rate),
        [
            "Offered: 20 1343.333 - 10",
            "Delivered: 20 1333.333 - 10",
            "Delivered read: 10 666.667 - 5",
            "Delivered write: 10 666.667 - 5",
        ]
    );
    // Half of 20 samples are beyond the median, and two are beyond the 90th percentile. With unanswered arrivals (21 of
    // 2021), there is no maximum, and no quantile among these arrivals.
    assert_eq!(
        lines(&all, ChartKind::Response),
        ["Quantile(0.5): 0.005 0.008 - -", "Quantile(0.9): - 0.008 - -", "Max: 0.005 - - 0.002",]
    );
    assert_eq!(
        lines(&all, ChartKind::Failures),
        ["Failed 40P01: 0 2 - 0", "Unknown net 104: 0 4 - 0", "Dropped: 0 10 - 0"]
    );
    assert_eq!(lines(&all, ChartKind::InFlight), ["InFlight: 0 1 - 3"]);
    assert_eq!(lines(&all, ChartKind::SendLag), [""; 0], "nothing was measured");
}

#[test]
fn merges_histograms_of_several_seconds_in_one_point() {
    let duration = 2 * Charts::POINTS as u64 + 1;
    let mut charts = charting("direct", duration);
    let three = [1, 1, 9].map(|millis| second(0, 6, millis));
    for number in 0..duration {
        let (from, to) = (Nanos::from_secs(number), Nanos::from_secs(number + 1));
        let mut second = Second { second: number, ..three[number as usize % 3].clone() };
        (second.interval.from, second.interval.to) = (from, to);
        charts.second(&second);
    }
    let all = charts.charts();
    assert_eq!((all.bin, all.times.len(), all.times[1]), (3, 4801, 3.0));
    assert!(all.times.len() <= Charts::POINTS);
    // 36 samples: 24 of 1 ms and 12 of 9 ms. The mean of the three seconds' medians would be 3.7 ms.
    let response = all.charts.iter().find(|it| it.kind == ChartKind::Response).expect("the chart exists");
    let [median, max] = [0, 1].map(|it| response.series[it].values[0].expect("36 samples"));
    assert!((median - 0.001).abs() < 1e-6 && max == 0.009, "{median}, {max}");
    // The last point has one second, with six samples beyond its median.
    assert_eq!(lines(&charts.since(4800), ChartKind::Response), ["Quantile(0.5): -", "Max: 0.001"]);
}

#[test]
fn charts_gauges() {
    use ChartKind::{Connections, Pooler, Waits};
    let active = |millis, value| sample(millis, "postgres", "pg_sessions", "active", value);
    let used = |millis| sample(millis, "postgres", "pg_connections_used", "", 9.0);
    // Sampled ten times per second: a state without sessions is zero, and a mean covers all sample times.
    check(
        Connections,
        &[active(100, 4.0), used(100), used(200), active(1100, 3.0), used(1100), used(2100)],
        &["Sessions active: 2 3 0 0 -", "Limit: 50 50 50 50 50"],
    );
    let pool = |millis, label, value| sample(millis, "pooler", "pool_servers_active", label, value);
    // Pools are summed. A series that is sampled once per second holds for a second. A gap has no value.
    check(
        Pooler,
        &[pool(980, "a/a", 3.0), pool(980, "b/b", 2.0), pool(2010, "a/a", 4.0)],
        &["ServersActive: 5 5 4 4 -"],
    );
    // All sample times before the window are zero.
    check(Pooler, &[pool(0, "a/a", 3.0)], &[]);
    // Odyssey counts idle clients as waiting.
    check(Pooler, &[sample(500, "pooler", "odyssey_cl_waiting", "a", 3.0)], &[]);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let waits: Vec<Sample> = names
        .into_iter()
        .enumerate()
        .flat_map(|(n, name)| [500, 1500].map(|at| sample(at, "postgres", "pg_active_waits", name, n as f64)))
        .collect();
    // The events of one sample time arrive one after the other.
    let mut waits = waits;
    waits.sort_by_key(|it| it.at);
    check(
        Waits,
        &waits,
        &[
            "Waiting j: 9 9 9 - -",
            "Waiting i: 8 8 8 - -",
            "Waiting h: 7 7 7 - -",
            "Waiting g: 6 6 6 - -",
            "Waiting f: 5 5 5 - -",
            "Waiting e: 4 4 4 - -",
            "Waiting d: 3 3 3 - -",
            "Waiting c: 2 2 2 - -",
            "Waiting: 1 1 1 - -",
        ],
    );
}

#[test]
fn charts_counters_as_rates() {
    use ChartKind::{Disk, Processors};
    let cpu = |millis, value| sample(millis, "postgres", "cgroup_cpu", "", value);
    let cpu_sample = |millis, value| sample(millis, "postgres", "process_cpu_user", "", value);
    // Each second gets its part of the growth between two samples. After a restart, the counter grows from 0.
    check(
        Processors,
        &[
            cpu(0, 10.0),
            cpu(1000, 10.5),
            cpu(2000, 11.25),
            cpu(3000, 0.1),
            cpu(4000, 0.6),
            cpu_sample(0, 0.0),
            cpu_sample(1000, 9.0),
        ],
        &["Processors postgres: 0.5 0.75 0 0.5 -", "Limit postgres: 1 1 1 1 1"],
    );
    check(
        Processors,
        &[cpu(500, 1.0), cpu(1500, 1.4)],
        &["Processors postgres: 0.4 0.4 - - -", "Limit postgres: 1 1 1 1 1"],
    );
    // Without samples for four seconds, the distribution of the growth is unknown.
    check(
        Processors,
        &[cpu(0, 0.0), cpu(900, 0.9), cpu(4900, 1.0)],
        &["Processors postgres: 1 - - - -", "Limit postgres: 1 1 1 1 1"],
    );
    let host = |millis, label, value| sample(millis, "host", "host_cpu", label, value);
    check(
        Processors,
        &[
            host(0, "user", 0.0),
            host(0, "idle", 5.0),
            host(0, "system", 1.0),
            host(1000, "user", 0.5),
            host(1000, "idle", 6.0),
            host(1000, "system", 1.25),
        ],
        &["Host host: 0.75 - - - -", "Limit host: 2 2 2 2 2"],
    );
    // Limit of an attached node.
    let limit = |millis, value| sample(millis, "web", "process_cpu_limit", "", value);
    check(Processors, &[limit(1000, 1.5), limit(2000, 0.5)], &["Limit web: - 1.5 0.5 - -"]);
    // CPU time that a service's page reports is drawn only if there is none from this machine.
    let page = |millis, value| sample(millis, "web", "service_process_cpu", "", value);
    let own = |millis, series, value| sample(millis, "web", series, "", value);
    check(Processors, &[page(0, 1.0), page(1000, 1.5)], &["Processors web: 0.5 - - - -"]);
    check(
        Processors,
        &[
            own(0, "process_cpu_user", 1.0),
            own(1000, "process_cpu_user", 1.25),
            page(0, 1.0),
            page(1000, 1.5),
        ],
        &["Processors web: 0.25 - - - -"],
    );
    check(
        ChartKind::ServiceMetrics,
        &[sample(100, "web", "service_metric", "jobs{queue=\"a\"}", 7.0)],
        &["Metric jobs{queue=\"a\"}: 7 7 - - -"],
    );
    let counter = |millis, value| sample(millis, "web", "service_counter", "jobs_total", value);
    check(
        ChartKind::ServiceCounters,
        &[counter(0, 100.0), counter(1000, 104.0), counter(2000, 1.0)],
        &["Metric jobs_total: 4 0 - - -"],
    );
    let disk = |millis, label, value| sample(millis, "host", "disk_written_bytes", label, value);
    check(
        Disk,
        &[
            disk(0, "sda", 0.0),
            disk(0, "sda1", 0.0),
            disk(0, "sdb", 7.0),
            disk(1000, "sda", 4096.0),
            disk(1000, "sda1", 4096.0),
            disk(1000, "sdb", 7.0),
        ],
        &["Written host sda: 4096 - - - -"],
    );
}

#[test]
fn charts_transactions_without_the_monitoring_session() {
    let sample = |millis, series, label, value| sample(millis, "postgres", series, label, value);
    let second = |millis, commits, own| {
        [
            sample(millis, "pg_commits", "app", commits),
            sample(millis, "pg_commits", "postgres", 0.0),
            sample(millis, "pg_rollbacks", "app", 3.0),
            sample(millis, "pg_rollbacks", "postgres", 0.0),
            sample(millis, "pg_monitor_transactions", "", own),
        ]
    };
    // The own transactions are subtracted, although PostgreSQL reports them later.
    let rows = [second(0, 100.0, 10.0), second(1000, 170.0, 30.0), second(2000, 180.0, 50.0)].concat();
    check(
        ChartKind::Transactions,
        &rows,
        &["Commits: 50 0 - - -", "Rollbacks: 0 0 - - -", "Delivered: 40 40 40 40 40"],
    );
    // A crash resets the counters. How many transactions were committed until then is unknown, and not zero, even if
    // another database had none before and after.
    let rows =
        [second(0, 100.0, 0.0), second(1000, 170.0, 20.0), second(2000, 5.0, 40.0), second(3000, 55.0, 60.0)]
            .concat();
    check(
        ChartKind::Transactions,
        &rows,
        &["Commits: 50 - - - -", "Rollbacks: 0 0 0 - -", "Delivered: 40 40 40 40 40"],
    );
    // A server that is down has no samples.
    let rows = [second(0, 100.0, 0.0), second(900, 145.0, 0.0), second(4000, 200.0, 0.0)].concat();
    check(
        ChartKind::Transactions,
        &rows,
        &["Commits: 50 - - - -", "Rollbacks: 0 - - - -", "Delivered: 40 40 40 40 40"],
    );
}

#[test]
fn charts_locks_and_deadlocks() {
    let locks = |millis, label, value| sample(millis, "postgres", "pg_locks_waiting", label, value);
    check(
        ChartKind::Locks,
        &[
            locks(900, "transactionid/ShareLock", 2.0),
            locks(900, "tuple/ExclusiveLock", 3.0),
            locks(900, "", 5.0),
            locks(1900, "tuple/ExclusiveLock", 1.0),
            locks(1900, "", 1.0),
            locks(2900, "", 0.0),
        ],
        &["LocksWaiting tuple/ExclusiveLock: 3 1 0 0 -", "LocksWaiting transactionid/ShareLock: 2 0 0 0 -"],
    );
    check(ChartKind::Locks, &[locks(900, "", 0.0), locks(1900, "", 0.0)], &[]);
    let deadlocks = |millis, value| sample(millis, "postgres", "pg_deadlocks", "app", value);
    check(
        ChartKind::Deadlocks,
        &[deadlocks(0, 4.0), deadlocks(1000, 6.0), deadlocks(2000, 6.0)],
        &["Deadlocks: 2 0 - - -"],
    );
    check(ChartKind::Deadlocks, &[deadlocks(0, 4.0), deadlocks(1000, 4.0)], &[]);
}

#[test]
fn charts_memory_disk_operations_and_the_machine() {
    let host = |millis, series, label, value| sample(millis, "host", series, label, value);
    let node = |millis, series, value| sample(millis, "postgres", series, "", value);
    let samples = [
        node(500, "process_private_memory", 100.0),
        node(500, "cgroup_memory", 700.0),
        host(500, "host_memory", "total", 9000.0),
        host(500, "host_memory", "available", 4000.0),
    ];
    let mut setup = trial::setup("direct");
    let postgres = setup.stack.nodes.iter_mut().find(|it| it.name == "postgres").expect("the stack has it");
    (postgres.limits.memory, postgres.limits.write_iops) = (Some(1000), Some(150));
    setup.operations = OPERATIONS.map(|name| model::plan::Operation::script(name, 1, "")).to_vec();
    let mut charts = ChartBuilder::new(&setup, None, Nanos::from_secs(2));
    (0..2).for_each(|number| charts.second(&second(number, 20, 5)));
    charts.samples(&samples);
    charts.samples(&[
        node(0, "cgroup_writes", 10.0),
        node(1000, "cgroup_writes", 130.0),
        node(0, "cgroup_reads", 7.0),
        node(1000, "cgroup_reads", 7.0),
        host(0, "disk_writes", "sda", 0.0),
        host(1000, "disk_writes", "sda", 500.0),
    ]);
    let charts = charts.charts();
    assert_eq!(
        lines(&charts, ChartKind::Memory),
        ["PrivateMemory postgres: 100 100", "GroupMemory postgres: 700 700", "Limit postgres: 1000 1000",]
    );
    assert_eq!(lines(&charts, ChartKind::HostMemory), ["AvailableMemory: 4000 4000"]);
    // An idle line is left out, and the quota of writes is drawn next to the node's writes.
    assert_eq!(
        lines(&charts, ChartKind::DiskOperations),
        ["Written postgres: 120 -", "Written host sda: 500 -", "WriteLimit postgres: 150 150"]
    );
    check(
        ChartKind::HostLoad,
        &[host(100, "host_load_1m", "", 3.5), host(100, "host_runnable", "", 7.0)],
        &["LoadAverage: 3.5 3.5 - - -", "Runnable: 7 7 - - -"],
    );
    check(
        ChartKind::Network,
        &[
            host(0, "network_sent_bytes", "lo", 10.0),
            host(0, "network_sent_bytes", "eth0", 10.0),
            host(1000, "network_sent_bytes", "lo", 60.0),
            host(1000, "network_sent_bytes", "eth0", 10.0),
        ],
        &["Sent lo: 50 - - - -"],
    );
}

#[test]
fn charts_pools_of_services() {
    let page = |series, label, value| sample(500, "web", series, label, value);
    check(
        ChartKind::ServicePools,
        &[
            page("service_threads_busy", "", 5.0),
            page("service_threads_size", "", 8.0),
            page("service_pool_busy", "main", 3.0),
            page("service_pool_waiting", "main", 2.0),
        ],
        &[
            "ThreadsBusy: 5 5 - - -",
            "ThreadsMax: 8 8 - - -",
            "ConnectionsBusy main: 3 3 - - -",
            "ConnectionsWaiting main: 2 2 - - -",
        ],
    );
}

#[test]
fn incremental_charts_equal_complete_charts() {
    let mut charts = charting("pooled", 5);
    let mut structures = Vec::new();
    for number in 0..5 {
        charts.second(&second(number, 20, 5 + number));
        let state = if number < 3 { "active" } else { "idle" };
        charts.samples(&[sample(number * 1000 + 500, "postgres", "pg_sessions", state, 2.0)]);
        structures.push(charts.structure_hash());
    }
    assert_eq!(structures[0], structures[2]);
    assert_ne!(structures[2], structures[3], "a new state changes the structure");
    let all = charts.charts();
    let tail = charts.since(3);
    assert_eq!(tail.times, all.times[3..]);
    for (full, part) in all.charts.iter().zip(&tail.charts) {
        for (full, part) in full.series.iter().zip(&part.series) {
            assert_eq!((&full.label, &full.values[3..]), (&part.label, &part.values[..]));
        }
    }
    assert_eq!(charts.since(9).times, [0.0; 0]);
}

#[test]
fn merges_annotations_of_one_second() {
    let mut charts = charting("direct", 1000);
    let mut event = |millis, kind, text: &str| {
        let (at, node) = (Nanos::from_millis(millis), "postgres".to_owned());
        charts.event(&LogEvent { at, node, kind, code: None, text: text.to_owned(), session: None });
    };
    event(100, EventKind::Deadlock, "first");
    event(900, EventKind::Deadlock, "second");
    event(950, EventKind::Deadlock, "5 more within a second");
    event(1000, EventKind::Error, "third");
    event(1200, EventKind::Deadlock, "fourth");
    let marks = charts.charts().annotations;
    let merged: Vec<(f64, u64, &str)> = marks.iter().map(|it| (it.at, it.count, &*it.text)).collect();
    assert_eq!(merged, [(0.1, 7, "first"), (1.0, 1, "third"), (1.2, 1, "fourth")]);
    let event = |charts: &mut ChartBuilder, second, kind| {
        let (at, node) = (Nanos::from_secs(second), "postgres".to_owned());
        charts.event(&LogEvent { at, node, kind, code: None, text: String::new(), session: None });
    };
    (2..1000).for_each(|second| event(&mut charts, second, EventKind::SlowStatement));
    (0..20).for_each(|n| event(&mut charts, n * 50, EventKind::Lifecycle));
    let marks = charts.charts().annotations;
    let count = |kind| marks.iter().filter(|it| it.kind == kind).map(|it| it.count).sum::<u64>();
    assert!(marks.len() <= 200, "{}", marks.len());
    assert_eq!((count(EventKind::SlowStatement), count(EventKind::Deadlock)), (998, 8));
    assert_eq!(marks.iter().filter(|it| it.kind == EventKind::Lifecycle).count(), 20);
    // Faults and promotions are never merged, however many other events there are.
    use EventKind::{Fault, Promoted, Rejoined, Reverted};
    for kind in [Fault, Reverted, Promoted, Rejoined] {
        event(&mut charts, 500, kind);
        assert_eq!(
            charts.charts().annotations.iter().filter(|it| (it.at, it.kind) == (500.0, kind)).count(),
            1
        );
    }
}

#[test]
fn draws_the_steps_of_operations_with_several_steps() {
    let names = [["", "login", "pay", "receipt"].map(str::to_owned).to_vec(), vec!["only".to_owned()]];
    let mut charts = charting("pooled", 3).with_steps(names.iter().map(Vec::as_slice));
    let step = |count: u64, millis: u64| {
        let mut counts = CommandCounts::<LatencyHistogram>::default();
        (0..count).for_each(|_| counts.service.record(Nanos::from_millis(millis)));
        CommandCounts { service: (&counts.service).into(), ..CommandCounts::default() }
    };
    for (number, slow, lost) in [(0, 40, 0), (1, 80, 0), (2, 80, 30)] {
        let mut second = second(number, 10, 1);
        let mut pay = step(1_000, slow);
        pay.failed.add(Code::TIMED_OUT, lost);
        second.interval.scripts[0].statements = vec![step(0, 1), step(2_000, 2), pay, step(0, 1)];
        second.interval.scripts[1].statements = vec![step(2_000, 9)];
        charts.second(&second);
    }
    // Without an answer to 1 % of the requests, p99 is unknown. A step without a request has no series.
    let expected =
        ["Quantile(0.99) read: 1. login: 0.002 0.002 0.002", "Quantile(0.99) read: 2. pay: 0.04 0.08 -"];
    assert_eq!(lines(&charts.charts(), ChartKind::ResponseByStep), expected);
}

/// A point of several seconds has the largest quantile of an agent, because quantiles are never averaged.
#[test]
fn charts_agents() {
    let seconds = |millis: u64, p99: f64| {
        [
            sample(millis, "a1", samples::AGENT_P99, "", p99),
            sample(millis, "a1", samples::AGENT_RATE, "", p99 * 1e3),
        ]
    };
    let long = Charts::POINTS as u64 * 2;
    let mut charts = charting("direct", long);
    (0..4).for_each(|number| charts.second(&second(number, 20, 5)));
    let mut all = [seconds(500, 0.01), seconds(1500, 0.03), seconds(2500, 0.02)].concat();
    all.sort_by(|a, b| a.series.cmp(&b.series));
    charts.samples(&all);
    let charts = charts.charts();
    assert_eq!(charts.bin, 2);
    assert_eq!(lines(&charts, ChartKind::AgentResponse), ["Quantile(0.99) a1: 0.03 0.02"]);
    assert_eq!(lines(&charts, ChartKind::AgentRate), ["Delivered a1: 20 20"]);
    assert_eq!(lines(&charts, ChartKind::AgentSendLag), [""; 0], "nothing was measured");
}
