//! Twenty soaks with a leak or a drift, twenty without: invented, of 120 stretches in two hours.

use super::trend;
use crate::strategy::Chance;
use model::search::{Course, Trended};
use std::f64::consts::TAU;

/// What it is, its shape over the trial (0..=1) in its unit, and the deviation of its noise, alike by so much from stretch
/// to stretch.
struct Planted {
    name: &'static str,
    what: Trended,
    shape: fn(f64) -> f64,
    noise: (f64, f64),
}

const MIB: f64 = 1_048_576.0;

fn memory() -> Trended {
    Trended::Memory { node: "service".to_owned() }
}

fn connections() -> Trended {
    Trended::Connections { node: "postgres".to_owned() }
}

fn dead() -> Trended {
    Trended::DeadRows { table: String::new() }
}

fn files() -> Trended {
    Trended::Files { node: "service".to_owned() }
}

fn size() -> Trended {
    Trended::Size { table: String::new() }
}

/// From 0 to 1, so often.
fn saw(t: f64, teeth: f64) -> f64 {
    (t * teeth).fract()
}

/// Towards 1.
fn filling(t: f64, tau: f64) -> f64 {
    1.0 - (-t / tau).exp()
}

fn one(name: &'static str, what: Trended, shape: fn(f64) -> f64, noise: (f64, f64)) -> Planted {
    Planted { name, what, shape, noise }
}

fn with() -> Vec<Planted> {
    vec![
        one("memory, slowly", memory(), |t| (200.0 + 20.0 * t) * MIB, (2.0 * MIB, 0.0)),
        one("memory, fast", memory(), |t| (200.0 + 400.0 * t) * MIB, (20.0 * MIB, 0.3)),
        one("memory, neighbours alike", memory(), |t| (500.0 + 60.0 * t) * MIB, (4.0 * MIB, 0.6)),
        one(
            "memory under collected garbage",
            memory(),
            |t| (300.0 + 120.0 * t + 40.0 * saw(t, 17.0)) * MIB,
            (MIB, 0.0),
        ),
        one(
            "memory beside a cache that fills",
            memory(),
            |t| (100.0 + 40.0 * filling(t, 0.1) + 80.0 * t) * MIB,
            (2.0 * MIB, 0.2),
        ),
        one("memory in steps", memory(), |t| (150.0 + 5.0 * (t * 15.0).floor()) * MIB, (MIB, 0.0)),
        one(
            "memory, faster and faster",
            memory(),
            |t| (150.0 + 60.0 * t + 60.0 * t * t) * MIB,
            (3.0 * MIB, 0.0),
        ),
        one(
            "memory under a wave",
            memory(),
            |t| (400.0 + 90.0 * t + 8.0 * (9.0 * TAU * t).sin()) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one("one connection after another", connections(), |t| (20.0 + 20.0 * t).floor(), (0.0, 0.0)),
        one("connections, come and gone", connections(), |t| (40.0 + 30.0 * t).floor(), (2.0, 0.3)),
        one("a few connections", connections(), |t| (10.0 + 8.0 * t).floor(), (0.3, 0.0)),
        one("dead rows that nobody cleans up", dead(), |t| 500.0 + 200_000.0 * t, (3000.0, 0.2)),
        one(
            "dead rows beside a slow vacuum",
            dead(),
            |t| 1000.0 + 90_000.0 * t + 20_000.0 * saw(t, 14.0),
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
        one("the median creeps", Trended::Median, |t| 0.004 + 0.002 * t, (0.000_15, 0.2)),
        one("p99 doubles", Trended::P99, |t| 0.020 + 0.020 * t, (0.002, 0.3)),
        one("p99 falls", Trended::P99, |t| 0.050 - 0.020 * t, (0.002, 0.0)),
        one("throughput sinks", Trended::Throughput, |t| 650.0 - 60.0 * t, (5.0, 0.3)),
    ]
}

fn without() -> Vec<Planted> {
    vec![
        one("memory at rest", memory(), |_| 200.0 * MIB, (2.0 * MIB, 0.0)),
        one("files, opened and closed", files(), |t| 60.0 + 40.0 * saw(t, 19.0), (5.0, 0.6)),
        one("memory, neighbours very much alike", memory(), |_| 200.0 * MIB, (4.0 * MIB, 0.9)),
        one(
            "a cache that fills at once",
            memory(),
            |t| (100.0 + 300.0 * filling(t, 0.05)) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one("a cache that fills", memory(), |t| (100.0 + 300.0 * filling(t, 0.15)) * MIB, (2.0 * MIB, 0.2)),
        one(
            "a cache that fills slowly",
            memory(),
            |t| (100.0 + 300.0 * filling(t, 0.3)) * MIB,
            (3.0 * MIB, 0.0),
        ),
        one(
            "backends that touch shared memory",
            memory(),
            |t| (60.0 + 50.0 * (1.0 + 100.0 * t).ln()) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one(
            "a database that fills its free space",
            size(),
            |t| (800.0 + (60.0 * filling(t, 0.1)).floor()) * MIB,
            (0.0, 0.0),
        ),
        one(
            "a step later on",
            memory(),
            |t| if t < 0.7 { 200.0 * MIB } else { 225.0 * MIB },
            (4.0 * MIB, 0.0),
        ),
        one("garbage, collected often", memory(), |t| (200.0 + 150.0 * saw(t, 23.0)) * MIB, (2.0 * MIB, 0.0)),
        one(
            "garbage, collected five times",
            memory(),
            |t| (200.0 + 150.0 * saw(t, 5.0)) * MIB,
            (2.0 * MIB, 0.0),
        ),
        one("garbage, collected twice", memory(), |t| (200.0 + 150.0 * saw(t, 2.3)) * MIB, (2.0 * MIB, 0.0)),
        one("dead rows, cleaned up", dead(), |t| 30_000.0 * saw(t, 7.0), (500.0, 0.0)),
        one("dead rows, cleaned up once", dead(), |t| 30_000.0 * saw(t, 1.6), (500.0, 0.0)),
        one(
            "a pool that opens what it may",
            connections(),
            |t| (20.0 * filling(t, 0.03)).round(),
            (0.0, 0.0),
        ),
        one("connections that come and go", connections(), |_| 40.0, (3.0, 0.4)),
        one("a day of response times", Trended::P99, |t| 0.020 + 0.006 * (TAU * t).sin(), (0.001, 0.0)),
        one("a day and a half", Trended::Median, |t| 0.004 + 0.001 * (1.5 * TAU * t).cos(), (0.000_1, 0.2)),
        one(
            "p99 with checkpoints",
            Trended::P99,
            |t| if saw(t, 24.0) < 0.15 { 0.1 } else { 0.02 },
            (0.002, 0.0),
        ),
        one("throughput as offered", Trended::Throughput, |_| 650.0, (4.0, 0.0)),
    ]
}

fn course(it: &Planted, seed: u64) -> Course {
    let mut chance = Chance(seed);
    let (deviation, phi) = it.noise;
    let mut noise = chance.normal();
    let one = |n: usize| {
        noise = phi * noise + (1.0 - phi * phi).sqrt() * chance.normal();
        let t = (n as f64 + 0.5) / 120.0;
        let value = (it.shape)(t) + deviation * noise;
        // Connections and files are whole.
        let whole = matches!(it.what, Trended::Connections { .. } | Trended::Files { .. });
        (2.0 * t, if whole { value.round() } else { value })
    };
    trend(it.what.clone(), &(0..120).map(one).collect::<Vec<_>>()).course
}

/// How often each is told to leak or drift.
fn told(planted: &[Planted], seeds: u64) -> Vec<(&'static str, u64)> {
    let moves = |it: &Planted, seed| matches!(course(it, seed), Course::Leak | Course::Drift);
    planted.iter().map(|it| (it.name, (0..seeds).filter(|seed| moves(it, *seed)).count() as u64)).collect()
}

#[test]
fn twenty_with_and_twenty_without() {
    for (planted, expected) in [(with(), 5), (without(), 0)] {
        assert_eq!(planted.len(), 20);
        for (name, count) in told(&planted, 5) {
            assert_eq!(count, expected, "{name}: seeds 0..5");
        }
    }
}

#[test]
fn what_is_held_leaks_and_the_rest_drifts() {
    for it in with() {
        let held = !matches!(it.what, Trended::Median | Trended::P99 | Trended::Throughput);
        assert_eq!(course(&it, 1), if held { Course::Leak } else { Course::Drift }, "{}", it.name);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation")]
fn twenty_with_and_twenty_without_a_hundred_times() {
    for (planted, expected) in [(with(), 100), (without(), 0)] {
        let told = told(&planted, 100);
        told.iter().for_each(|(name, count)| println!("{count:3} of 100: {name}"));
        let sum: u64 = told.iter().map(|it| it.1).sum();
        let wrong = sum.abs_diff(20 * expected);
        assert!(wrong <= 20, "{wrong} of 2000");
    }
}
