//! Agreement of a run's matrix with `pgdyno compare`, on simulated runs whose true change is known

use super::super::*;
use crate::facts::trial::TrialFacts;
use crate::fixture::trial::{TestRun, experiment};
use crate::present::matrix::matrix;
use model::matrix::{Figure, Row};
use model::{LatencyHistogram, Nanos, SplitMix64};

/// Figures that both the matrix and the comparison show.
const SHARED: [(Figure, Metric); 3] =
    [(Figure::Tps, Metric::Tps), (Figure::P50, Metric::P50), (Figure::P99, Metric::P99)];

/// Simulated run of three cells; the first is the baseline. Trials differ by 2 % and alternate in time.
fn simulated_run(repeat: u32, slow: f64, rng: &mut SplitMix64) -> Vec<TestRun> {
    let cells = (0..repeat).flat_map(|repetition| (0..3).map(move |cell| (cell, repetition)));
    let trials = cells.map(|(cell, repetition)| {
        let level = (0.02 * rng.normal()).exp() * if cell == 0 { 1.0 } else { slow };
        let mut times = LatencyHistogram::new();
        for _ in 0..1000 {
            times.record(Nanos::from_secs_f64(0.005 * level * (0.5 * rng.normal()).exp()));
        }
        TestRun::new(cell, repetition).response(times).tps(1000.0 / level)
    });
    trials.collect()
}

/// Verdicts on one simulated run.
struct RunVerdicts {
    /// True if every shared figure of every pair has the same values, change, interval and verdict.
    agree: bool,
    /// True if the matrix, or the comparison, claims any change.
    claims: (bool, bool),
    /// True if throughput is lower and p99 higher in both cells, according to both.
    detected: (bool, bool),
}

fn judge(repeat: u32, slow: f64, rng: &mut SplitMix64) -> RunVerdicts {
    let experiment = experiment(&["direct", "pooled", "session"], Some(0));
    let runs = simulated_run(repeat, slow, rng);
    let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
    let matrix = matrix(&experiment, &facts);
    let of_cell = |cell: usize| facts.iter().filter(move |it| it.cell == cell);
    let run = ComparedRun {
        source: RunRef { name: "run".into(), started_ms: 0, pgdyno_version: String::new() },
        experiment: &experiment,
        environment: RunEnvironment { machine: &[], nodes: &[], copied_data: &[], program: "" },
        trials: (0..3).map(|it| of_cell(it).filter_map(TrialFigures::from_facts).collect()).collect(),
        left_out: Vec::new(),
    };
    let options = CompareOptions { seed: experiment.seed, ..CompareOptions::default() };
    let cells = compare(&run, &[], &options).runs.remove(0).cells;
    let is_claim = |it: ChangeVerdict| matches!(it, ChangeVerdict::Higher | ChangeVerdict::Lower);
    let pairs = || matrix.rows[1..].iter().zip(&cells);
    let same = |row: &Row, cell: &CellComparison, (figure, metric)| {
        let shown = row.estimate(figure).expect("the matrix has the figure");
        let change = shown.vs_baseline.expect("the cell has a baseline");
        let compared = find(cell, metric);
        let ratio = Change::Ratio { value: change.ratio, interval: change.interval };
        let base = matrix.rows[0].estimate(figure).expect("the baseline has the figure");
        let level = MetricEstimate { value: shown.median, interval: shown.interval, trials: shown.runs };
        compared.change == ratio
            && change.ratio == Some(shown.median / base.median)
            && (compared.run, compared.base.value) == (level, base.median)
            && (compared.verdict, compared.p) == (change.verdict, change.p)
    };
    let in_row = |row: &Row, figure| row.estimate(figure).and_then(|it| it.vs_baseline).map(|it| it.verdict);
    let (lower, higher) = (ChangeVerdict::Lower, ChangeVerdict::Higher);
    RunVerdicts {
        agree: pairs().all(|(row, cell)| SHARED.into_iter().all(|it| same(row, cell, it))),
        claims: (
            matrix
                .rows
                .iter()
                .flat_map(|row| &row.figures)
                .filter_map(|it| it.vs_baseline)
                .any(|it| is_claim(it.verdict)),
            cells.iter().flat_map(|cell| &cell.figures).any(|it| is_claim(it.verdict)),
        ),
        detected: (
            pairs().all(|(row, _)| {
                (in_row(row, Figure::Tps), in_row(row, Figure::P99)) == (Some(lower), Some(higher))
            }),
            pairs().all(|(_, cell)| {
                (find(cell, Metric::Tps).verdict, find(cell, Metric::P99).verdict) == (lower, higher)
            }),
        ),
    }
}

fn find(cell: &CellComparison, metric: Metric) -> &MetricComparison {
    let is_total = |it: &&MetricComparison| it.metric == metric && it.operation.is_none();
    cell.figures.iter().find(is_total).expect("the comparison has the figure")
}

/// Checks `rounds` runs of equal cells and `rounds` / 10 runs with a planted difference of 50 %, with five trials per
/// cell and with eight, which are compared in pairs.
fn check(rounds: usize, seed: u64) {
    for repeat in [5, 8] {
        let rng = &mut SplitMix64(seed + u64::from(repeat));
        let null: Vec<RunVerdicts> = (0..rounds).map(|_| judge(repeat, 1.0, rng)).collect();
        let planted: Vec<RunVerdicts> = (0..rounds.div_ceil(10)).map(|_| judge(repeat, 1.5, rng)).collect();
        let count =
            |all: &[RunVerdicts], test: fn(&RunVerdicts) -> bool| all.iter().filter(|it| test(it)).count();
        let agree = count(&null, |it| it.agree) + count(&planted, |it| it.agree);
        let (by_run, by_compare) = (count(&null, |it| it.claims.0), count(&null, |it| it.claims.1));
        let found = (count(&planted, |it| it.detected.0), count(&planted, |it| it.detected.1));
        println!(
            "{repeat} trials, seed {seed}: {agree} of {} agree; false: run {by_run}, compare {by_compare} of {rounds}; \
             planted 50 %: run {}, compare {} of {}",
            null.len() + planted.len(),
            found.0,
            found.1,
            planted.len()
        );
        assert_eq!(agree, null.len() + planted.len(), "seed {seed}");
        assert_eq!(found, (planted.len(), planted.len()), "seed {seed}");
        // At most 5 %, plus three deviations if there are few rounds.
        let few = if rounds < 1000 { 3.0 * (rounds as f64 * 0.0475).sqrt() } else { 0.0 };
        let most = 0.05 * rounds as f64 + few;
        assert!(by_run as f64 <= most && by_compare as f64 <= most, "seed {seed}: {by_run}, {by_compare}");
    }
}

#[test]
fn run_and_compare_agree() {
    check(4, 1);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation")]
fn run_and_compare_agree_a_thousand_times() {
    check(1000, 2);
}
