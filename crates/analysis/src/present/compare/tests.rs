//! Error rates of comparisons, measured on simulated systems whose true change is known
//!
//! The seconds are an autoregressive series, trials differ, machines drift, and tails are heavy. Each test runs a few
//! comparisons of each kind. `PGDYNO_PROOF_ROUNDS=1000 cargo test --release -p analysis comparisons -- --nocapture`
//! runs a thousand of each kind and prints the tables.

mod agreement;

use super::trial_figures::{BucketCounts, OperationFigures, TimeBin, TrialFigures, bucket};
use super::*;
use model::comparison::Metric;
use model::{Nanos, PerSecond, SplitMix64};

/// Random value of Student's distribution with three degrees of freedom, scaled to a standard deviation of 1.
pub fn heavy_tailed(rng: &mut SplitMix64) -> f64 {
    let squares: f64 = (0..3).map(|_| rng.normal().powi(2)).sum();
    rng.normal() / squares.sqrt()
}

/// Simulated system, described by the standard deviations of its logarithms.
#[derive(Clone, Copy, Debug)]
struct SimulatedSystem {
    /// Standard deviation from trial to trial.
    trials: f64,
    /// Standard deviation from second to second, and the correlation of neighbouring seconds.
    seconds: f64,
    stays: f64,
    /// Drift from the first second of a trial to its last.
    drift: f64,
    /// Drift from the first trial to the last, in order of measurement.
    wear: f64,
    /// True for Student's distribution instead of the normal one.
    heavy: bool,
}

const QUIET: SimulatedSystem =
    SimulatedSystem { trials: 0.0, seconds: 0.05, stays: 0.0, drift: 0.0, wear: 0.0, heavy: false };

/// Number and order of the trials of both sides.
#[derive(Clone, Copy, Debug)]
struct TrialDesign {
    base: u32,
    run: u32,
    seconds: usize,
    by_time: bool,
    /// True if the trials of the two sides alternate.
    alternating: bool,
}

/// Requests per second.
const RATE: usize = 100;

impl SimulatedSystem {
    /// Simulates a trial. All times are multiplied by `slow`.
    fn trial(
        &self,
        repetition: u32,
        at: f64,
        slow: f64,
        seconds: usize,
        begun_ms: u64,
        draw: &mut SplitMix64,
    ) -> TrialFigures {
        let noise = |draw: &mut SplitMix64| if self.heavy { heavy_tailed(draw) } else { draw.normal() };
        let trial_effect = self.trials * noise(draw) + self.wear * at;
        let fresh = (1.0 - self.stays * self.stays).sqrt();
        let mut state = draw.normal();
        let mut bins = Vec::new();
        let mut all = Vec::new();
        for second in 0..seconds {
            state = self.stays * state + fresh * noise(draw);
            let level =
                trial_effect + self.seconds * state + self.drift * (second as f64 / seconds as f64 - 0.5);
            let level = level.exp() * slow;
            let delivered = (RATE as f64 / level + draw.uniform()) as u64;
            let mut times: Vec<u64> =
                (0..delivered).map(|_| (5e6 * level * (0.5 * draw.normal()).exp()) as u64).collect();
            times.sort_unstable();
            let mut response: Vec<(u16, u32)> = Vec::new();
            for bucket_index in times.iter().map(|it| bucket(Nanos(*it))) {
                match response.last_mut() {
                    Some(last) if last.0 == bucket_index => last.1 += 1,
                    _ => response.push((bucket_index, 1)),
                }
            }
            let errors = (0..delivered).filter(|_| draw.uniform() < 0.01).count() as u64;
            all.extend(times);
            let executed = delivered + errors;
            bins.push(TimeBin {
                delivered,
                errors,
                executed,
                response: BucketCounts(response),
                service: BucketCounts::default(),
            });
        }
        all.sort_unstable();
        let quantile = |q: f64| {
            let beyond = (all.len() as f64 * (1.0 - q)).round() as usize;
            (beyond >= 10).then(|| Nanos(all[all.len() - beyond - 1]))
        };
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(quantile);
        let sum = |count: fn(&TimeBin) -> u64| bins.iter().map(count).sum::<u64>();
        let group = OperationFigures {
            operation: None,
            tps: Some(PerSecond(sum(|it| it.delivered) as f64 / seconds as f64)),
            errors: (sum(|it| it.errors), sum(|it| it.executed)),
            differences: None,
            times: [p50, p90, p99, p999, None, None],
            bins,
            bin: 1.0,
        };
        TrialFigures { repetition, begun_ms, groups: vec![group], processors: [None; 3] }
    }

    /// Comparison of two runs. The response times of the second run are multiplied by `slow`.
    fn compared(&self, design: TrialDesign, slow: f64, seed: u64) -> Vec<MetricComparison> {
        let draw = &mut SplitMix64(seed);
        let mut both = [Vec::new(), Vec::new()];
        let trials = design.base.max(design.run);
        for repetition in 0..trials {
            for (side, trials) in both.iter_mut().enumerate() {
                let repetitions = if side == 0 { design.base } else { design.run };
                if repetition < repetitions {
                    let at = f64::from(repetition) / f64::from(repetitions);
                    let first = if design.alternating {
                        2 * repetition as u64
                    } else {
                        (repetition + 100 * side as u32).into()
                    };
                    let slow = if side == 0 { 1.0 } else { slow };
                    let begun_ms = 100 * (first + side as u64);
                    trials.push(self.trial(repetition, at, slow, design.seconds, begun_ms, draw));
                }
            }
        }
        let options = CompareOptions { by_time: design.by_time, seed, ..CompareOptions::default() };
        changes(&[(both[0].as_slice(), both[1].as_slice())], &options).remove(0)
    }
}

/// Counts over many comparisons.
#[derive(Clone, Debug, Default)]
struct ComparisonTally {
    comparisons: u32,
    /// Number of comparisons that claim any change.
    claims: u32,
    /// Number of comparisons that claim the actual change of p99.
    detected: u32,
    /// Number of intervals and number of intervals that contain the truth, by metric.
    held: Vec<(Metric, u32, u32)>,
}

impl ComparisonTally {
    fn measure(
        system: SimulatedSystem,
        design: TrialDesign,
        slow: f64,
        comparisons: u32,
        seed: u64,
    ) -> ComparisonTally {
        let mut tally = ComparisonTally { comparisons, ..ComparisonTally::default() };
        for n in 0..u64::from(comparisons) {
            let figures = system.compared(design, slow, seed.wrapping_mul(1_000_003) + n);
            let claims =
                |it: &MetricComparison| matches!(it.verdict, ChangeVerdict::Higher | ChangeVerdict::Lower);
            tally.claims += u32::from(figures.iter().any(claims));
            let p99 = figures.iter().find(|it| it.metric == Metric::P99);
            tally.detected += u32::from(p99.is_some_and(|it| it.verdict == ChangeVerdict::Higher));
            for comparison in &figures {
                let Some((low, high)) = comparison.change.interval() else { continue };
                let truth = match comparison.metric {
                    Metric::Tps => 1.0 / slow,
                    Metric::Errors => 0.0,
                    _ => slow,
                };
                let holds = u32::from(low <= truth && truth <= high);
                match tally.held.iter_mut().find(|known| known.0 == comparison.metric) {
                    Some(known) => (known.1, known.2) = (known.1 + 1, known.2 + holds),
                    None => tally.held.push((comparison.metric, 1, holds)),
                }
            }
        }
        tally
    }

    /// Share of the intervals of `metric` that contain the truth.
    fn coverage(&self, metric: Metric) -> Option<f64> {
        let tally = self.held.iter().find(|it| it.0 == metric)?;
        Some(f64::from(tally.2) / f64::from(tally.1))
    }
}

const fn trials(each: u32) -> TrialDesign {
    TrialDesign { base: each, run: each, seconds: 20, by_time: false, alternating: false }
}

const fn seconds(seconds: usize) -> TrialDesign {
    TrialDesign { base: 1, run: 1, seconds, by_time: true, alternating: false }
}

const VARYING: SimulatedSystem = SimulatedSystem { trials: 0.02, stays: 0.6, ..QUIET };

/// Systems and designs, with their names.
const CASES: [(&str, SimulatedSystem, TrialDesign); 11] = [
    ("5 + 5 trials, 2 % apart", VARYING, trials(5)),
    ("5 + 5 trials, heavy tails", SimulatedSystem { heavy: true, ..VARYING }, trials(5)),
    ("4 + 4 trials", VARYING, trials(4)),
    ("10 + 10 trials", VARYING, trials(10)),
    (
        "8 + 8 alternating, machine drifts by 10 %",
        SimulatedSystem { wear: 0.1, ..VARYING },
        TrialDesign { alternating: true, ..trials(8) },
    ),
    ("6 + 6 alternating", VARYING, TrialDesign { alternating: true, ..trials(6) }),
    (
        "1 + 1 trial, 3 % apart",
        SimulatedSystem { trials: 0.03, ..VARYING },
        TrialDesign { by_time: false, ..seconds(60) },
    ),
    ("60 s by time, independent", QUIET, seconds(60)),
    ("120 s by time, correlation 0.7", SimulatedSystem { stays: 0.7, ..QUIET }, seconds(120)),
    ("120 s by time, heavy tails, 0.5", SimulatedSystem { stays: 0.5, heavy: true, ..QUIET }, seconds(120)),
    ("120 s by time, drift of 10 %, 0.3", SimulatedSystem { stays: 0.3, drift: 0.1, ..QUIET }, seconds(120)),
];

/// Line of the table for one case.
fn line(name: &str, tally: &ComparisonTally) -> String {
    let metrics = [Metric::Tps, Metric::P50, Metric::P90, Metric::P99, Metric::Errors];
    let coverage =
        metrics.map(|metric| tally.coverage(metric).map_or("-".into(), |it| format!("{:.1}", 100.0 * it)));
    let alarms = 100.0 * f64::from(tally.claims) / f64::from(tally.comparisons);
    format!("{name:<42} {alarms:>5.1} {}", coverage.map(|it| format!("{it:>6}")).concat())
}

const HEADING: &str =
    "null comparisons                           alarms  tps    p50    p90    p99   errors  (coverage, %)";

/// Indices of the cases that are tested by default: one for each method, to save time.
const SHARE: [usize; 4] = [0, 5, 6, 8];

/// Number of comparisons of each case, from the environment.
fn rounds() -> Option<u32> {
    let rounds = std::env::var("PGDYNO_PROOF_ROUNDS").ok();
    rounds.map(|it| it.parse().expect("a number of rounds"))
}

#[test]
fn comparisons_of_equal_systems_rarely_show_a_difference() {
    println!("{HEADING}");
    let rounds = rounds();
    for (number, (name, system, design)) in CASES.into_iter().enumerate() {
        if rounds.is_none() && !SHARE.contains(&number) {
            continue;
        }
        let comparisons = rounds.unwrap_or(12);
        let seed = 500 + number as u64;
        let tally = ComparisonTally::measure(system, design, 1.0, comparisons, seed);
        println!("{}", line(name, &tally));
        // At most 5 %, plus three deviations if there are few rounds.
        let most = f64::from(comparisons) * 0.05
            + if comparisons < 1000 { 3.0 * (f64::from(comparisons) * 0.0475).sqrt() } else { 0.0 };
        assert!(
            f64::from(tally.claims) <= most,
            "{name}, seed {seed}: {} of {comparisons} claim a difference",
            tally.claims
        );
    }
}

#[test]
fn comparisons_detect_large_effects_but_never_in_single_trials() {
    for number in SHARE {
        let (name, system, design) = CASES[number];
        let tally = ComparisonTally::measure(system, design, 1.5, 4, 300 + number as u64);
        let single = design.base + design.run == 2 && !design.by_time;
        assert_eq!(tally.detected, if single { 0 } else { 4 }, "{name}");
        assert!(!single || tally.claims == 0, "single trials do not show how far trials differ");
    }
    let Some(rounds) = rounds() else { return };
    println!("power: share of comparisons that call p99 higher, %         +5 %  +10 %  +20 %");
    for (number, (name, system, design)) in CASES.into_iter().enumerate() {
        let power = [1.05, 1.1, 1.2].map(|slow| {
            let tally =
                ComparisonTally::measure(system, design, slow, rounds.div_ceil(3), 900 + number as u64);
            format!("{:>7.0}", 100.0 * f64::from(tally.detected) / f64::from(tally.comparisons))
        });
        println!("{name:<55} {}", power.concat());
    }
}
