//! Searches of invented systems, judged by the capacity that each is known to have.

use super::systems::{Oddity, System, erlang, simulated, uniform};
use super::{Next, answer, next};
use crate::strategy::Chance;
use model::plan::Max;
use model::search::{Answer, Seen};
use std::sync::OnceLock;

/// Searches to the end.
fn search(max: &Max, start: f64, system: &mut System) -> Vec<Seen> {
    let mut done = Vec::new();
    while let Next::Measure(step) = next(max, start, &done) {
        done.push(system.trial(step));
        assert!(done.len() < 100, "it comes to an end");
    }
    done
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Exponential service times; every other one with a promise on the 99th percentile.
    Exponential,
    /// Log-normal ones, the same.
    LogNormal,
    Drifting,
    TwoStates,
    Metastable,
    Noisy,
}

const KINDS: [Kind; 6] =
    [Kind::Exponential, Kind::LogNormal, Kind::Drifting, Kind::TwoStates, Kind::Metastable, Kind::Noisy];

/// A system of this kind, what it holds, and where the search begins.
fn invent(kind: Kind, seed: u64) -> (System, f64, f64) {
    let mut chance = Chance(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let mut between = |low: f64, high: f64| low * (high / low).powf(uniform(&mut chance));
    let capacity = between(100.0, 1000.0);
    let servers = [1, 2, 4, 8][(seed % 4) as usize];
    let mut system = System::new(servers, servers as f64 / capacity, seed);
    let start = between(1.0 / 20.0, 1.0 / 4.0);
    let promised = seed / 4 % 2 == 0;
    let mut truth = capacity;
    match kind {
        Kind::Exponential => {
            if promised {
                let bound = between(8.0, 20.0) * system.service;
                system.p99 = Some(bound);
                truth = erlang(servers, system.service, bound);
            }
        }
        Kind::LogNormal => {
            system.sigma = Some(1.0);
            if promised {
                system.p99 = Some(12.0 * system.service);
                truth = log_normal(servers) * capacity;
            }
        }
        Kind::Drifting => system.oddity = Oddity::Drift { by: 0.03, period: between(180.0, 1200.0) },
        Kind::TwoStates => {
            let by = between(0.04, 0.2);
            system.oddity = Oddity::TwoStates { by };
            truth = capacity * (1.0 - by);
        }
        Kind::Metastable => system.oddity = Oddity::Metastable { by: 0.25 },
        Kind::Noisy => system.oddity = Oddity::Neighbour { share: 0.05 },
    }
    (system, truth, start * truth)
}

/// Of 1: what `servers` with log-normal times (σ = 1) hold with a promise of twelve service times, by simulating 400,000
/// arrivals at each of 14 rates.
fn log_normal(servers: usize) -> f64 {
    static KNOWN: [OnceLock<f64>; 4] = [const { OnceLock::new() }; 4];
    *KNOWN[servers.ilog2() as usize].get_or_init(|| {
        let mut it = System::new(servers, servers as f64, 1);
        it.sigma = Some(1.0);
        simulated(&it, 12.0 * servers as f64, 400_000.0)
    })
}

/// A ladder of steps of 10 %, a minute each, from `start` to the first that is too much, in seconds.
fn ladder(start: f64, truth: f64) -> f64 {
    60.0 * (((truth / start).ln() / 1.1f64.ln()).ceil() + 1.0)
}

#[derive(Debug, Default)]
struct Score {
    searches: u32,
    answers: u32,
    near: u32,
    covered: u32,
    errors: Vec<f64>,
    measured: f64,
    ladder: f64,
    trials: u32,
}

fn score(kind: Kind, seeds: std::ops::Range<u64>, show: bool) -> Score {
    let max = Max::USUAL;
    let mut all = Score::default();
    for seed in seeds {
        let (mut system, truth, start) = invent(kind, seed);
        let done = search(&max, start, &mut system);
        let it: Answer = answer(&max, &done);
        all.searches += 1;
        all.trials += it.trials;
        all.measured += it.measured.as_secs_f64();
        all.ladder += ladder(start, truth);
        let Some(level) = it.level else {
            if show {
                println!("  {kind:?} {seed}: {:?}", it.hindered);
            }
            continue;
        };
        all.answers += 1;
        let error = level / truth - 1.0;
        all.errors.push(error);
        let (low, high) = it.interval.expect("it has one");
        all.covered += u32::from(low <= truth && truth <= high);
        all.near += u32::from(error.abs() <= 0.05);
        if show && error.abs() > 0.05 {
            let steps: Vec<String> = done
                .iter()
                .map(|it| {
                    format!(
                        "{:.3}{}",
                        it.step.level / truth,
                        format!("{:?}", it.outcome).chars().next().unwrap_or(' ')
                    )
                })
                .collect();
            println!(
                "  {kind:?} {seed}: {error:+.3} [{:.3}, {:.3}] {}",
                low / truth,
                high / truth,
                steps.join(" ")
            );
        }
    }
    all.errors.sort_by(f64::total_cmp);
    all
}

fn print(kind: Kind, it: &Score) {
    let at = |q: f64| it.errors.get((q * it.errors.len() as f64) as usize).copied().unwrap_or(f64::NAN);
    println!(
        "{:12} {:4} searches {:4} answers {:4} within 5 % {:4} in the interval; error {:+.3} {:+.3} {:+.3}; {:4.1} trials, time {:.2} of the ladder",
        format!("{kind:?}"),
        it.searches,
        it.answers,
        it.near,
        it.covered,
        at(0.025),
        at(0.5),
        at(0.975),
        f64::from(it.trials) / f64::from(it.searches),
        it.measured / it.ladder,
    );
}

#[test]
#[ignore = "minutes without optimisation"]
fn search_two_hundred_of_each_kind() {
    for kind in KINDS {
        let it = score(kind, 0..200, true);
        print(kind, &it);
    }
}
