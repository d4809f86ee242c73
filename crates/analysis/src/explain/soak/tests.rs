use super::*;
use model::search::TrendVerdict;
use model::{CompactInterval, LatencyHistogram, OperationSecond};

fn sample(at: u64, node: &'static str, series: &'static str, label: &'static str, value: f64) -> Sample {
    Sample { at: Nanos::from_secs(at), node: node.into(), series: series.into(), label: label.into(), value }
}

/// One second with 2,000 transactions, of which one in fifty takes `slow`.
fn second(at: u64, slow: Nanos) -> Second {
    let mut response = LatencyHistogram::new();
    (0..2000).for_each(|n| response.record(if n % 50 == 0 { slow } else { Nanos::from_millis(2) }));
    let operation = OperationSecond { ok: 2003, late: 3, response: (&response).into(), ..Default::default() };
    let (from, to) = (Nanos::from_secs(at), Nanos::from_secs(at + 1));
    let interval = CompactInterval { from, to, scripts: vec![operation], ..Default::default() };
    Second { second: at, interval, ..Second::default() }
}

fn trends(soaking: SoakCollector) -> Vec<(TrendMetric, TrendVerdict, f64, f64)> {
    soaking.trends().into_iter().map(|it| (it.metric, it.verdict, it.start, it.end)).collect()
}

/// Twenty minutes in slices of ten seconds. p99, a service's memory and files, and the database grow. All other metrics
/// are constant.
#[test]
fn finds_trends_second_by_second() {
    let mut soaking = SoakCollector::new(Nanos::from_secs(1200));
    for at in 0..1200 {
        soaking.second(&second(at, Nanos::from_micros(20_000 + 10 * at)));
        let grown = at as f64 * 1e6;
        soaking.samples(&[
            sample(at + 1, "service", PROCESS_MEMORY, "", 1e9 + grown),
            // The process memory is known, so the memory including the page cache is ignored.
            sample(at + 1, "service", GROUP_MEMORY, "", 2e9 + grown),
            sample(at + 1, "postgres", GROUP_MEMORY, "", 3e9),
            // One node with two database users.
            sample(at + 1, "postgres", series::PG_USED, "one", 4.0),
            sample(at + 1, "postgres", series::PG_USED, "two", 6.0),
            sample(at + 1, "postgres", "pg_deadlocks", "", grown),
            sample(at + 1, "postgres", DEAD_ROWS, "", 100.0),
        ]);
        // This series is sampled every ten seconds.
        if at % 10 == 9 {
            soaking.samples(&[
                sample(at + 1, "postgres", DATABASE_SIZE, "app", 8e8 + grown / 10.0),
                sample(at + 1, "service", FILES, "", (60 + at / 10) as f64),
                sample(at + 1, "postgres", FILES, "", 400.0),
            ]);
        }
    }
    // Samples before and after the window.
    soaking.samples(&[
        sample(0, "postgres", DEAD_ROWS, "", 9e9),
        sample(1300, "postgres", series::PG_USED, "one", 900.0),
    ]);
    let found = trends(soaking);
    let memory = |node: &str| TrendMetric::Memory { node: node.to_owned() };
    let connections = TrendMetric::Connections { node: "postgres".to_owned() };
    let dead = TrendMetric::DeadRows { table: String::new() };
    let files = |node: &str| TrendMetric::Files { node: node.to_owned() };
    let expected = [
        (TrendMetric::Median, TrendVerdict::Steady, 0.002, 0.002),
        (TrendMetric::P99, TrendVerdict::Drift, 0.0212, 0.0319),
        (TrendMetric::Throughput, TrendVerdict::Steady, 2000.0, 2000.0),
        (memory("service"), TrendVerdict::Leak, 1.12e9, 2.195e9),
        (memory("postgres"), TrendVerdict::Steady, 3e9, 3e9),
        (connections, TrendVerdict::Steady, 10.0, 10.0),
        (dead, TrendVerdict::Steady, 100.0, 100.0),
        (TrendMetric::Size { table: String::new() }, TrendVerdict::Leak, 8.12e8, 9.2e8),
        (files("service"), TrendVerdict::Leak, 72.0, 179.0),
        (files("postgres"), TrendVerdict::Steady, 400.0, 400.0),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((&found.0, found.1), (&expected.0, expected.1));
        let near = |it: f64, expected: f64| (it / expected - 1.0).abs() < 0.01;
        assert!(near(found.2, expected.2) && near(found.3, expected.3), "{found:?}");
    }
}

#[test]
fn short_trials_have_no_verdict() {
    let mut soaking = SoakCollector::new(Nanos::from_secs(20));
    (0..20).for_each(|at| soaking.second(&second(at, Nanos::from_millis(20 + at))));
    let found = trends(soaking);
    assert_eq!(found.iter().map(|it| it.1).collect::<Vec<_>>(), [TrendVerdict::Unknown; 3]);
    assert_eq!(trends(SoakCollector::new(Nanos::from_secs(20))), []);
}

/// 34 transactions per second for a quarter of an hour, as in document 004: a slice has 272 transactions, but p99 needs
/// a thousand.
#[test]
fn merges_slices_with_few_transactions() {
    let mut soaking = SoakCollector::new(Nanos::from_secs(900));
    for at in 0..900 {
        let mut response = LatencyHistogram::new();
        (0..34).for_each(|n| response.record(Nanos::from_micros(2000 + 10 * at + 100 * n)));
        let scripts = vec![OperationSecond { ok: 34, response: (&response).into(), ..Default::default() }];
        let (from, to) = (Nanos::from_secs(at), Nanos::from_secs(at + 1));
        let interval = CompactInterval { from, to, scripts, ..Default::default() };
        soaking.second(&Second { second: at, interval, ..Second::default() });
    }
    let found = trends(soaking);
    let kinds: Vec<(&TrendMetric, TrendVerdict)> = found.iter().map(|it| (&it.0, it.1)).collect();
    let (median, p99) =
        ((&TrendMetric::Median, TrendVerdict::Drift), (&TrendMetric::P99, TrendVerdict::Drift));
    assert_eq!(kinds, [median, p99, (&TrendMetric::Throughput, TrendVerdict::Steady)]);
}

/// The quantile of a slice is that of its merged histograms. The mean of the p99 values of its seconds would be 11 ms.
#[test]
fn quantiles_come_from_merged_histograms() {
    let mut soaking = SoakCollector::new(Nanos::from_secs(1200));
    for at in 0..1200 {
        // In every other second, all transactions are fast.
        soaking.second(&second(at, Nanos::from_millis(if at % 2 == 0 { 20 } else { 2 })));
    }
    let found = trends(soaking);
    let p99 = found.iter().find(|it| it.0 == TrendMetric::P99).expect("there are samples");
    // One in a hundred transactions is slow, so 99 % take at most 2 ms.
    assert!((p99.2 - 0.002).abs() < 1e-5, "{p99:?}");
}

#[test]
fn reports_the_level_as_a_share_of_the_maximum() {
    for (maximum, share) in [(Some(646.0), Some(34.0 / 646.0)), (None, None), (Some(0.0), None)] {
        let result = endurance(
            0,
            StepPurpose::Soak,
            34.0,
            maximum,
            Nanos::from_secs(3600),
            LevelOutcome::Sustained,
            Vec::new(),
        );
        assert_eq!(result.share_of_maximum, share);
    }
}

/// Growth accelerates from zero, so the fitted line starts below zero.
#[test]
fn start_values_are_not_negative() {
    let points: Vec<(f64, f64)> = (0..40).map(f64::from).map(|at| (at / 40.0, at * at)).collect();
    let trend = trend(TrendMetric::DeadRows { table: String::new() }, &points);
    assert!(trend.start == 0.0 && trend.end > 1000.0, "{trend:?}");
}
