//! Tests of the exposition of a synthetic run

use super::*;
use model::totals::{CurrentTrial, OperationTotals, ProbeValues};

const fn series(name: &'static str, unit: Unit, kind: SeriesKind) -> Series {
    Series { name, unit, kind, help: "A \\ and\nmore" }
}

static DEADLOCKS: Series = series("pg_deadlocks", Unit::Count, SeriesKind::Counter);
static SESSIONS: Series = series("pg_sessions", Unit::Count, SeriesKind::Gauge);

#[test]
fn metric_names_follow_prometheus_conventions() {
    use SeriesKind::{Counter, Gauge};
    for (name, unit, kind, expected) in [
        ("pg_deadlocks", Unit::Count, Counter, "pgdyno_pg_deadlocks_total"),
        ("pg_sessions", Unit::Count, Gauge, "pgdyno_pg_sessions"),
        ("cgroup_cpu", Unit::Seconds, Counter, "pgdyno_cgroup_cpu_seconds_total"),
        ("process_read_bytes", Unit::Bytes, Counter, "pgdyno_process_read_bytes_total"),
        ("cgroup_memory", Unit::Bytes, Gauge, "pgdyno_cgroup_memory_bytes"),
        ("haproxy_Idle_pct", Unit::Share, Gauge, "pgdyno_haproxy_idle_pct_ratio"),
        ("used_total", Unit::Count, Counter, "pgdyno_used_total"),
    ] {
        assert_eq!(metric_name(&series(name, unit, kind)), expected);
    }
}

#[test]
fn bucket_bounds_are_exact() {
    for (nanos, text) in [(131_071, "0.000131071"), (1_500_000_000, "1.5"), (2_000_000_000, "2"), (0, "0")] {
        assert_eq!(format_seconds(Nanos(nanos)), text);
    }
}

#[test]
fn renders_a_run() {
    static BOUNDS: [Nanos; 2] = [Nanos(98_303), Nanos(1_048_575)];
    let buckets =
        |at_most: &[u64], count, sum| Buckets { bounds: &BOUNDS, at_most: at_most.to_vec(), count, sum };
    let mut totals = Totals {
        send_lag: buckets(&[5, 6], 6, 120_000),
        backlog_wait: buckets(&[0, 0], 0, 0),
        trial: Some(CurrentTrial { cell: "say \"hi\"\\\n, 8".to_owned(), repetition: 2 }),
        in_flight: 4,
        ..Totals::default()
    };
    let (response, service) = (buckets(&[1, 2], 3, 2_500_000_000), buckets(&[2, 2], 3, 1_000));
    let operation = OperationTotals { ok: 3, failed: 1, unknown: 2, dropped: 4, response, service };
    totals.operations.insert("read".to_owned(), operation);
    totals.failures.insert("net 104".to_owned(), 3);
    totals.trials.insert("complete", 7);
    let mut add = |node: &str, values: &[(&str, &str, f64)]| {
        let values =
            values.iter().map(|(series, label, it)| (((*series).to_owned(), (*label).to_owned()), *it));
        let probe = ProbeValues { at: Nanos::ZERO, values: values.collect() };
        totals.probes.insert((node.to_owned(), "probe"), probe);
    };
    add("b", &[("pg_deadlocks", "", 5.0), ("pg_sessions", "idle", 0.5), ("strange", "", 1.0)]);
    add("a", &[("pg_deadlocks", "", 6.0)]);
    let known = |name: &str| [&DEADLOCKS, &SESSIONS].into_iter().find(|it| it.name == name);
    let labels = RunLabels { run: "book".to_owned(), program: "0.1.0".to_owned(), seed: 42, trials: 12 };
    let shown = render(&labels, &totals, &known);
    let expected = r#"
# HELP pgdyno_up 1 while a run is in progress
# TYPE pgdyno_up gauge
pgdyno_up 1
# HELP pgdyno_run_info Identifies the run; always 1
# TYPE pgdyno_run_info gauge
pgdyno_run_info{run="book",version="0.1.0",seed="42"} 1
# HELP pgdyno_trials Number of trials of the run
# TYPE pgdyno_trials gauge
pgdyno_trials 12
# HELP pgdyno_trials_ended_total Trials that have ended, by outcome
# TYPE pgdyno_trials_ended_total counter
pgdyno_trials_ended_total{outcome="complete"} 7
# HELP pgdyno_trial_info Identifies the trial that is set up or measured; always 1
# TYPE pgdyno_trial_info gauge
pgdyno_trial_info{run="book",cell="say \"hi\"\\\n, 8",repetition="2"} 1
# HELP pgdyno_arrivals_total Arrivals whose outcome is known, each with exactly one outcome
# TYPE pgdyno_arrivals_total counter
pgdyno_arrivals_total{operation="read"} 10
# HELP pgdyno_transactions_total Transactions that were sent, by outcome; the effect of unknown ones may exist
# TYPE pgdyno_transactions_total counter
pgdyno_transactions_total{operation="read",outcome="ok"} 3
pgdyno_transactions_total{operation="read",outcome="failed"} 1
pgdyno_transactions_total{operation="read",outcome="unknown"} 2
# HELP pgdyno_dropped_total Arrivals that were never sent
# TYPE pgdyno_dropped_total counter
pgdyno_dropped_total{operation="read"} 4
# HELP pgdyno_failures_total Failed and unknown transactions by SQLSTATE or errno
# TYPE pgdyno_failures_total counter
pgdyno_failures_total{code="net 104"} 3
# HELP pgdyno_refused_total Connections that were refused, by SQLSTATE or errno
# TYPE pgdyno_refused_total counter
# HELP pgdyno_in_flight Transactions sent and not yet answered
# TYPE pgdyno_in_flight gauge
pgdyno_in_flight 4
# HELP pgdyno_response_seconds From the intended start to the outcome, of successful transactions; arrivals without an answer exceed all bounds
# TYPE pgdyno_response_seconds histogram
pgdyno_response_seconds_bucket{operation="read",le="0.000098303"} 1
pgdyno_response_seconds_bucket{operation="read",le="0.001048575"} 2
pgdyno_response_seconds_bucket{operation="read",le="+Inf"} 3
pgdyno_response_seconds_sum{operation="read"} 2.5
pgdyno_response_seconds_count{operation="read"} 3
# HELP pgdyno_service_seconds From the send to the outcome, of the same transactions
# TYPE pgdyno_service_seconds histogram
pgdyno_service_seconds_bucket{operation="read",le="0.000098303"} 2
pgdyno_service_seconds_bucket{operation="read",le="0.001048575"} 2
pgdyno_service_seconds_bucket{operation="read",le="+Inf"} 3
pgdyno_service_seconds_sum{operation="read"} 0.000001
pgdyno_service_seconds_count{operation="read"} 3
# HELP pgdyno_send_lag_seconds From the intended start to the send while a client was idle: the generator's own lateness
# TYPE pgdyno_send_lag_seconds histogram
pgdyno_send_lag_seconds_bucket{le="0.000098303"} 5
pgdyno_send_lag_seconds_bucket{le="0.001048575"} 6
pgdyno_send_lag_seconds_bucket{le="+Inf"} 6
pgdyno_send_lag_seconds_sum 0.00012
pgdyno_send_lag_seconds_count 6
# HELP pgdyno_backlog_wait_seconds From the intended start to the send while all clients were busy
# TYPE pgdyno_backlog_wait_seconds histogram
pgdyno_backlog_wait_seconds_bucket{le="0.000098303"} 0
pgdyno_backlog_wait_seconds_bucket{le="0.001048575"} 0
pgdyno_backlog_wait_seconds_bucket{le="+Inf"} 0
pgdyno_backlog_wait_seconds_sum 0
pgdyno_backlog_wait_seconds_count 0
# HELP pgdyno_pg_deadlocks_total A \\ and\nmore
# TYPE pgdyno_pg_deadlocks_total counter
pgdyno_pg_deadlocks_total{node="a"} 6
pgdyno_pg_deadlocks_total{node="b"} 5
# HELP pgdyno_pg_sessions A \\ and\nmore
# TYPE pgdyno_pg_sessions gauge
pgdyno_pg_sessions{node="b",label="idle"} 0.5
"#;
    assert!(shown == expected[1..], "\n{shown}");
}
