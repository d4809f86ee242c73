//! Twenty simulated soaks with a leak or drift, and twenty without

use super::trend;
use model::SplitMix64;
use model::search::{TrendMetric, TrendVerdict};
use std::f64::consts::TAU;

/// Simulated metric. Its shape maps the time within the trial, 0..=1, to a value in the metric's unit. Its noise has a
/// standard deviation and a correlation between neighbouring slices.
struct PlantedTrend {
    name: &'static str,
    metric: TrendMetric,
    shape: fn(f64) -> f64,
    noise: (f64, f64),
}

const MIB: f64 = 1_048_576.0;

fn memory() -> TrendMetric {
    TrendMetric::Memory { node: "service".to_owned() }
}

fn connections() -> TrendMetric {
    TrendMetric::Connections { node: "postgres".to_owned() }
}

fn dead() -> TrendMetric {
    TrendMetric::DeadRows { table: String::new() }
}

fn files() -> TrendMetric {
    TrendMetric::Files { node: "service".to_owned() }
}

fn size() -> TrendMetric {
    TrendMetric::Size { table: String::new() }
}

/// Sawtooth from 0 to 1 with `teeth` periods.
fn sawtooth(t: f64, teeth: f64) -> f64 {
    (t * teeth).fract()
}

/// Curve 1 − e^(−t/τ), which approaches 1.
fn saturating(t: f64, tau: f64) -> f64 {
    1.0 - (-t / tau).exp()
}

fn one(name: &'static str, metric: TrendMetric, shape: fn(f64) -> f64, noise: (f64, f64)) -> PlantedTrend {
    PlantedTrend { name, metric, shape, noise }
}

fn leaking() -> Vec<PlantedTrend> {
    vec![
        one("memory, slowly", memory(), |t| (200.0 + 20.0 * t) * MIB, (2.0 * MIB, 0.0)),
        one("memory, fast", memory(), |t| (200.0 + 400.0 * t) * MIB, (20.0 * MIB, 0.3)),
        one("memory, neighbours alike", memory(), |t| (500.0 + 60.0 * t) * MIB, (4.0 * MIB, 0.6)),
        one(
            "memory, garbage collections",
            memory(),
            |t| (300.0 + 120.0 * t + 40.0 * sawtooth(t, 17.0)) * MIB,
            (MIB, 0.0),
        ),
        one(
            "leaking memory and a filling cache",
            memory(),
            |t| (100.0 + 40.0 * saturating(t, 0.1) + 80.0 * t) * MIB,
            (2.0 * MIB, 0.2),
        ),
        one("memory in steps", memory(), |t| (150.0 + 5.0 * (t * 15.0).floor()) * MIB, (MIB, 0.0)),
        one(
            "memory that leaks ever faster",
            memory(),
            |t| (150.0 + 60.0 * t + 60.0 * t * t) * MIB,
            (3.0 * MIB, 0.0),
        ),
        one(
            "leaking memory with a periodic load",
            memory(),
            |t| (400.0 + 90.0 * t + 8.0 * (9.0 * TAU * t).sin()) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one("one connection after another", connections(), |t| (20.0 + 20.0 * t).floor(), (0.0, 0.0)),
        one("connections, come and gone", connections(), |t| (40.0 + 30.0 * t).floor(), (2.0, 0.3)),
        one("a few connections", connections(), |t| (10.0 + 8.0 * t).floor(), (0.3, 0.0)),
        one("dead rows that nobody cleans up", dead(), |t| 500.0 + 200_000.0 * t, (3000.0, 0.2)),
        one(
            "dead rows with a slow vacuum",
            dead(),
            |t| 1000.0 + 90_000.0 * t + 20_000.0 * sawtooth(t, 14.0),
            (500.0, 0.0),
        ),
        one("a database that grows", size(), |t| (800.0 + 300.0 * t) * MIB, (0.0, 0.0)),
        one(
            "a database that bloats in extensions",
            size(),
            |t| (100.0 + (t * 40.0).floor()) * MIB,
            (0.0, 0.0),
        ),
        one("open files", files(), |t| (60.0 + 500.0 * t).floor(), (5.0, 0.0)),
        one("the median creeps", TrendMetric::Median, |t| 0.004 + 0.002 * t, (0.000_15, 0.2)),
        one("p99 doubles", TrendMetric::P99, |t| 0.020 + 0.020 * t, (0.002, 0.3)),
        one("p99 falls", TrendMetric::P99, |t| 0.050 - 0.020 * t, (0.002, 0.0)),
        one("throughput sinks", TrendMetric::Throughput, |t| 650.0 - 60.0 * t, (5.0, 0.3)),
    ]
}

fn steady() -> Vec<PlantedTrend> {
    vec![
        one("memory at rest", memory(), |_| 200.0 * MIB, (2.0 * MIB, 0.0)),
        one("files, opened and closed", files(), |t| 60.0 + 40.0 * sawtooth(t, 19.0), (5.0, 0.6)),
        one("memory, neighbours very much alike", memory(), |_| 200.0 * MIB, (4.0 * MIB, 0.9)),
        one(
            "a cache that fills at once",
            memory(),
            |t| (100.0 + 300.0 * saturating(t, 0.05)) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one(
            "a cache that fills",
            memory(),
            |t| (100.0 + 300.0 * saturating(t, 0.15)) * MIB,
            (2.0 * MIB, 0.2),
        ),
        one(
            "a cache that fills slowly",
            memory(),
            |t| (100.0 + 300.0 * saturating(t, 0.3)) * MIB,
            (3.0 * MIB, 0.0),
        ),
        one(
            "backends that touch shared memory",
            memory(),
            |t| (60.0 + 50.0 * (1.0 + 100.0 * t).ln()) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one(
            "a database that reuses its free space",
            size(),
            |t| (800.0 + (60.0 * saturating(t, 0.1)).floor()) * MIB,
            (0.0, 0.0),
        ),
        one(
            "a single late step",
            memory(),
            |t| if t < 0.7 { 200.0 * MIB } else { 225.0 * MIB },
            (4.0 * MIB, 0.0),
        ),
        one(
            "garbage, collected often",
            memory(),
            |t| (200.0 + 150.0 * sawtooth(t, 23.0)) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one(
            "garbage, collected five times",
            memory(),
            |t| (200.0 + 150.0 * sawtooth(t, 5.0)) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one(
            "garbage, collected twice",
            memory(),
            |t| (200.0 + 150.0 * sawtooth(t, 2.3)) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one("dead rows, cleaned up", dead(), |t| 30_000.0 * sawtooth(t, 7.0), (500.0, 0.0)),
        one("dead rows, cleaned up once", dead(), |t| 30_000.0 * sawtooth(t, 1.6), (500.0, 0.0)),
        one(
            "a pool that grows to its maximum",
            connections(),
            |t| (20.0 * saturating(t, 0.03)).round(),
            (0.0, 0.0),
        ),
        one("connections that come and go", connections(), |_| 40.0, (3.0, 0.4)),
        one("a day of response times", TrendMetric::P99, |t| 0.020 + 0.006 * (TAU * t).sin(), (0.001, 0.0)),
        one(
            "daily load over a day and a half",
            TrendMetric::Median,
            |t| 0.004 + 0.001 * (1.5 * TAU * t).cos(),
            (0.000_1, 0.2),
        ),
        one(
            "p99 with checkpoints",
            TrendMetric::P99,
            |t| if sawtooth(t, 24.0) < 0.15 { 0.1 } else { 0.02 },
            (0.002, 0.0),
        ),
        one("throughput as offered", TrendMetric::Throughput, |_| 650.0, (4.0, 0.0)),
    ]
}

fn verdict(planted: &PlantedTrend, seed: u64) -> TrendVerdict {
    let mut rng = SplitMix64(seed);
    let (deviation, phi) = planted.noise;
    let mut noise = rng.normal();
    let one = |n: usize| {
        noise = phi * noise + (1.0 - phi * phi).sqrt() * rng.normal();
        let t = (n as f64 + 0.5) / 120.0;
        let value = (planted.shape)(t) + deviation * noise;
        // Connections and files are whole numbers.
        let is_count = matches!(planted.metric, TrendMetric::Connections { .. } | TrendMetric::Files { .. });
        (2.0 * t, if is_count { value.round() } else { value })
    };
    trend(planted.metric.clone(), &(0..120).map(one).collect::<Vec<_>>()).verdict
}

/// Number of seeds for which each metric is reported to leak or drift.
fn reported_counts(planted: &[PlantedTrend], seeds: u64) -> Vec<(&'static str, u64)> {
    let moves =
        |it: &PlantedTrend, seed| matches!(verdict(it, seed), TrendVerdict::Leak | TrendVerdict::Drift);
    planted.iter().map(|it| (it.name, (0..seeds).filter(|seed| moves(it, *seed)).count() as u64)).collect()
}

#[test]
fn finds_planted_leaks_and_no_others() {
    for (planted, expected) in [(leaking(), 5), (steady(), 0)] {
        assert_eq!(planted.len(), 20);
        for (name, count) in reported_counts(&planted, 5) {
            assert_eq!(count, expected, "{name}: seeds 0..5");
        }
    }
}

#[test]
fn resources_leak_and_other_metrics_drift() {
    for planted in leaking() {
        let held =
            !matches!(planted.metric, TrendMetric::Median | TrendMetric::P99 | TrendMetric::Throughput);
        assert_eq!(
            verdict(&planted, 1),
            if held { TrendVerdict::Leak } else { TrendVerdict::Drift },
            "{}",
            planted.name
        );
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation")]
fn finds_planted_leaks_with_a_hundred_seeds() {
    for (planted, expected) in [(leaking(), 100), (steady(), 0)] {
        let counts = reported_counts(&planted, 100);
        counts.iter().for_each(|(name, count)| println!("{count:3} of 100: {name}"));
        let sum: u64 = counts.iter().map(|it| it.1).sum();
        let wrong = sum.abs_diff(20 * expected);
        assert!(wrong <= 20, "{wrong} of 2000");
    }
}
