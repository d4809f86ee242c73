//! Rules on the metrics of other hosts, and on the pages of web tiers

use super::*;
use model::plan::{AttachedNode, NodeKind};
use model::product::{self, Product};

/// Experiment with attached nodes, each with the URLs of its metrics.
fn attached(nodes: &[(&str, &'static Product, &[&str])]) -> Experiment {
    let mut experiment = experiment(&["direct"], None);
    let stack = &mut experiment.cells[0].setup.stack;
    let template = stack.nodes[0].clone();
    let node = |(name, product, urls): &(&str, &'static Product, &[&str])| {
        let metrics = urls.iter().map(|&it| it.to_owned()).collect();
        let dsn = "host=db".to_owned();
        let kind = AttachedNode {
            dsn,
            admin: None,
            product,
            allow: None,
            other_sessions: 0,
            metrics,
            servers: Vec::new(),
        };
        let limits = model::plan::Limits::default();
        Node { name: (*name).to_owned(), kind: NodeKind::Attached(kind), limits, ..template.clone() }
    };
    stack.nodes = nodes.iter().map(node).collect();
    experiment
}

/// Trial in which this share of four CPUs of the host is busy. The hypervisor withholds `steal` CPUs.
fn busy(host: &'static str, share: f64, steal: f64) -> TestRun {
    let available = 4.0 - steal;
    run()
        .counter(host, "host_cpu", "user", share * available)
        .counter(host, "host_cpu", "idle", (1.0 - share) * available - 0.1)
        .counter(host, "host_cpu", "iowait", 0.1)
        .counter(host, "host_cpu", "steal", steal)
}

#[test]
fn reports_saturated_cpus_of_other_hosts_once() {
    let url: &[&str] = &["http://db:9100/metrics"];
    let alone = attached(&[("postgres", &product::POSTGRESQL, url)]);
    let both = attached(&[("pooler", &product::PGBOUNCER, url), ("postgres", &product::POSTGRESQL, url)]);
    let bound = |nodes: &str, cpu: &str, limit: &str| {
        format!(
            "Bound {{ cell: 0, bound: HostCpu {{ node: \"db:9100\", nodes: [{nodes}], cpu: {cpu}, cpu_limit: {limit} }} }}"
        )
    };
    check_in(&alone, &[busy("db:9100", 0.95, 0.0)], &[&bound("\"postgres\"", "3.8", "4.0")]);
    check_in(&alone, &[busy("db:9100", 0.95, 2.0)], &[&bound("\"postgres\"", "1.9", "2.0")]);
    check_in(&both, &[busy("db:9100", 0.95, 0.0)], &[&bound("\"pooler\", \"postgres\"", "3.8", "4.0")]);
    check_in(&alone, &[busy("db:9100", 0.8, 0.0)], &[]);
    // Without its metrics, nothing is known about the host.
    check_in(&alone, &[busy("other:9100", 0.95, 0.0)], &[]);
    check_in(&attached(&[("postgres", &product::POSTGRESQL, &[])]), &[busy("db:9100", 0.95, 0.0)], &[]);
}

#[test]
fn reports_used_up_quotas_of_hosts() {
    let limits = model::plan::Limits { cpu: Some(0.5), ..Default::default() };
    let mut experiment = experiment(&["pooled"], None);
    let stack = &mut experiment.cells[0].setup.stack;
    stack.nodes.iter_mut().for_each(|it| it.limits = Default::default());
    let nodes = vec!["pooler".to_owned(), "postgres".to_owned()];
    let scope = model::plan::ProgramScope::Stack;
    stack.hosts = vec![model::plan::SharedHost { name: "db".to_owned(), nodes, scope, limits }];
    let bound = "Bound { cell: 0, bound: HostCpu { node: \"db\", nodes: [\"pooler\", \"postgres\"], cpu: 0.48, cpu_limit: 0.5 } }";
    check_in(&experiment, &[cpu(run(), "db", 0.48, 20.0)], &[bound]);
    check_in(&experiment, &[cpu(run(), "db", 0.4, 20.0)], &[]);
    // A host that is throttled in most periods is saturated, although its mean is lower.
    let throttled = bound.replace("0.48", "0.4");
    check_in(&experiment, &[cpu(run(), "db", 0.4, 60.0)], &[&throttled]);
    check_in(&experiment, &[cpu(run(), "other", 0.48, 20.0)], &[]);
}

#[test]
fn disk_findings_have_the_rate_of_the_host() {
    let waiting = |run: TestRun| {
        sessions(run, 10.0, 0.0, 0.0).gauge("postgres", "pg_active_waits", "IO/DataFileRead", 9.0).gauge(
            "postgres",
            "pg_active_waits",
            "running",
            1.0,
        )
    };
    let host = |run: TestRun| {
        run.counter("db:9100", "disk_reads", "sda", 400.0)
            .counter("db:9100", "disk_reads", "sda1", 400.0)
            .counter("db:9100", "disk_reads", "sdb", 100.0)
    };
    let reads = |per_second: &str| {
        format!(
            "Bound {{ cell: 0, bound: Reads {{ node: \"postgres\", per_second: {per_second}, quota: None, wait_share: Some(0.9), in_bytes: false }} }}"
        )
    };
    let one = attached(&[("postgres", &product::POSTGRESQL, &["http://db:9100/metrics"])]);
    check_in(&one, &[host(waiting(run()))], &[&reads("Some(500.0)")]);
    check_in(&one, &[waiting(run())], &[&reads("None")]);
}

#[test]
fn reports_exhausted_processes_by_pool() {
    let mut experiment = experiment(&["direct"], None);
    experiment.cells[0].setup.stack.nodes.insert(0, trial::service());
    let pool = |run: TestRun, pool: &'static str, busy, waiting: Option<f64>| {
        let run = run.gauge("service", "service_threads_size", pool, 5.0).gauge(
            "service",
            "service_threads_busy",
            pool,
            busy,
        );
        waiting.map_or(run.clone(), |waiting| run.gauge("service", "service_threads_waiting", pool, waiting))
    };
    let bound = |waiting: &str| {
        format!(
            "Bound {{ cell: 0, bound: ServiceThreads {{ node: \"service\", pool: \"www\", size: 5.0, busy: 5.0, waiting: {waiting} }} }}"
        )
    };
    for (waiting, expected) in
        [(Some(12.0), Some(bound("Some(12.0)"))), (None, Some(bound("None"))), (Some(0.0), None)]
    {
        let trial = pool(pool(run(), "admin", 1.0, Some(0.0)), "www", 5.0, waiting);
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_in(&experiment, &[trial], &expected);
    }
}
