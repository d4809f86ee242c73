//! Figures of each cell, and their ratios to the baseline

use crate::facts::figure::{is_lower_bound, read_figure};
use crate::facts::trial::TrialFacts;
use crate::present::compare::{self, CompareOptions, TrialFigures};
use crate::stats::quantile::{median, upper_median};
use crate::stats::repeats::{self, ChangeEstimate, Samples};
use crate::verdict::{several_trials, validity};
use model::comparison::{Change, Metric, MetricComparison};
use model::matrix::{
    BaselineComparison, Estimate, Figure, Hop, Matrix, Placement, Row, Trial, TrialStatus, UnappliedLimit,
};
use model::plan::{Baseline, Experiment, Limits, Node, NodeKind, Setup};
use model::validity::{DoubtSummary, Verdict};

/// Figures in the order in which the matrix shows them.
const FIGURES: [Figure; 15] = [
    Figure::Tps,
    Figure::P50,
    Figure::P99,
    Figure::Requests,
    Figure::Failed,
    Figure::Errors,
    Figure::Dropped,
    Figure::Refused,
    Figure::Deadlocks,
    Figure::Served,
    Figure::Starved,
    Figure::ReplicationLag,
    Figure::PoolerCpu,
    Figure::ServerCpu,
    Figure::TimeToSteady,
];

/// Matrix of all cells of the experiment, including cells without a trial.
pub fn matrix(experiment: &Experiment, trials: &[TrialFacts<'_>]) -> Matrix {
    let mut rows = Vec::new();
    let mut cells: Vec<CellFigures> = Vec::new();
    for (number, cell) in experiment.cells.iter().enumerate() {
        let mut cell_trials: Vec<&TrialFacts<'_>> = trials.iter().filter(|it| it.cell == number).collect();
        cell_trials.sort_by_key(|it| it.repetition);
        cells.push(CellFigures::new(&cell_trials));
        let baseline = experiment.baseline_of(number);
        rows.push(Row { baseline, ..row(&cell.label, &cell.setup, &cell_trials) });
    }
    let watching: Vec<f64> = trials.iter().filter_map(|it| it.monitoring_cpu).collect();
    // Trials that were skipped or interrupted have no verdict.
    let is_judged =
        |it: &&TrialFacts<'_>| !matches!(it.status, TrialStatus::Skipped { .. } | TrialStatus::Interrupted);
    let judged = trials.iter().filter(is_judged).map(verdict);
    let mut matrix = Matrix {
        rows,
        baseline: experiment.baseline.as_ref().and_then(Baseline::single),
        seed: experiment.seed,
        verdict: several_trials::verdict(&judged.collect::<Vec<_>>()),
        doubts: doubts(trials),
        objectives: crate::verdict::objective_summary::objective_summaries(experiment, trials),
        monitoring_cpu: median(watching),
    };
    let compared = compared_rows(&matrix, &cells);
    for figure in FIGURES {
        estimate(&mut matrix, figure, &cells, &compared);
    }
    for (number, row) in matrix.rows.iter_mut().enumerate() {
        for estimate in &mut row.figures {
            estimate.is_lower_bound = cells[number].is_lower_bound(estimate);
        }
    }
    matrix
}

fn counts(trial: &TrialFacts<'_>) -> bool {
    trial.valid().is_some_and(|it| it.total.counts.ok > 0)
}

/// Verdict on a trial. A trial without a counted summary is invalid.
fn verdict(trial: &TrialFacts<'_>) -> Verdict {
    let summary = trial.summary.filter(|_| counts(trial));
    summary.map_or(Verdict::Invalid, |it| it.validity.verdict)
}

/// Doubts in the verdicts of all trials that count.
fn doubts(trials: &[TrialFacts<'_>]) -> Vec<DoubtSummary> {
    let named = trials.iter().filter(|it| counts(it)).flat_map(|trial| {
        let clients = trial.setup.load.model.clients();
        let doubts = trial.summary.into_iter().flat_map(|it| &it.validity.doubts);
        let doubts = doubts.filter(|it| it.is_in_verdict());
        doubts.map(move |doubt| (doubt, trial.cell, trial.repetition, clients))
    });
    several_trials::summaries(named)
}

/// Figures of the trials of one cell.
struct CellFigures<'a> {
    trials: Vec<&'a TrialFacts<'a>>,
    /// Figures of the valid trials.
    figures: Vec<TrialFigures>,
}

impl<'a> CellFigures<'a> {
    fn new(trials: &[&'a TrialFacts<'a>]) -> CellFigures<'a> {
        let figures = trials.iter().filter_map(|it| TrialFigures::from_facts(it)).collect();
        CellFigures { trials: trials.to_vec(), figures }
    }

    /// Values of one figure, one for each valid trial in which it was measured.
    fn values(&self, figure: Figure) -> Vec<f64> {
        match metric(figure) {
            Some(metric) => {
                compare::figure_values(&self.figures, metric, None).iter().map(|it| it.value).collect()
            }
            None => self.trials.iter().filter_map(|it| read_figure(it, figure)).collect(),
        }
    }

    /// True if the median is only a lower bound, because some trials have only a lower bound of the figure.
    fn is_lower_bound(&self, estimate: &Estimate) -> bool {
        let q = match estimate.figure {
            Figure::P50 => 0.5,
            Figure::P99 => 0.99,
            _ => return false,
        };
        let valid = || self.trials.iter().filter_map(|it| it.valid());
        let hidden = valid().filter(|it| is_lower_bound(it, &it.total.response, q)).count();
        // In a trial with a hidden duration, the figure may have any higher value. If these are at least half of the
        // trials, the same applies to the median.
        if hidden > 0 && 2 * hidden >= estimate.runs as usize {
            return true;
        }
        // A lower bound that is below the middle of the values may represent a value above the middle.
        let middle = upper_median(self.values(estimate.figure));
        let bounds = self.figures.iter().filter(|it| it.value(Metric::P99, None).is_none());
        let bounds = bounds.filter_map(|it| it.lower_bound(Metric::P99, None));
        estimate.figure == Figure::P99
            && middle.is_some_and(|middle| bounds.into_iter().any(|it| it.value <= middle))
    }
}

/// Metric with which `pgdyno compare` compares the same figure.
fn metric(figure: Figure) -> Option<Metric> {
    match figure {
        Figure::Tps => Some(Metric::Tps),
        Figure::P50 => Some(Metric::P50),
        Figure::P99 => Some(Metric::P99),
        Figure::PoolerCpu => Some(Metric::PoolerCpu),
        Figure::ServerCpu => Some(Metric::ServerCpu),
        _ => None,
    }
}

/// Changes of all metrics from each row's baseline, as `pgdyno compare` computes them; empty for a baseline.
fn compared_rows(matrix: &Matrix, cells: &[CellFigures<'_>]) -> Vec<Vec<MetricComparison>> {
    let baselines = || matrix.rows.iter().enumerate().filter_map(|(row, it)| Some((row, it.baseline?)));
    let pairs: Vec<(&[TrialFigures], &[TrialFigures])> = baselines()
        .map(|(row, baseline)| (cells[baseline].figures.as_slice(), cells[row].figures.as_slice()))
        .collect();
    let options = CompareOptions { seed: matrix.seed, ..CompareOptions::default() };
    let mut all = vec![Vec::new(); cells.len()];
    for ((row, _), changes) in baselines().zip(compare::changes(&pairs, &options)) {
        all[row] = changes;
    }
    all
}

/// Estimates one figure of all rows. Changes of figures that only the matrix shows share a false discovery rate.
fn estimate(
    matrix: &mut Matrix,
    figure: Figure,
    cells: &[CellFigures<'_>],
    compared: &[Vec<MetricComparison>],
) {
    let values: Vec<Vec<f64>> = cells.iter().map(|it| it.values(figure)).collect();
    let changes: Vec<Option<BaselineComparison>> = match metric(figure) {
        Some(metric) => compared.iter().map(|it| total_change(it, metric)).collect(),
        None => {
            let change = |(row, of_row): (&Row, &Vec<f64>)| {
                repeats::compare(&Samples::ratio(&values[row.baseline?], of_row), matrix.seed)
            };
            let estimates: Vec<Option<ChangeEstimate>> =
                matrix.rows.iter().zip(&values).map(change).collect();
            let known: Vec<ChangeEstimate> = estimates.iter().flatten().copied().collect();
            let mut verdicts = repeats::decide(&known).into_iter();
            let mut decided = |change: ChangeEstimate| BaselineComparison {
                ratio: change.value,
                interval: change.interval,
                p: change.p,
                verdict: verdicts.next().expect("each change has its verdict"),
            };
            estimates.into_iter().map(|it| it.map(&mut decided)).collect()
        }
    };
    for ((row, values), vs_baseline) in matrix.rows.iter_mut().zip(values).zip(changes) {
        if let Some(estimate) = repeats::estimate(&values) {
            let (median, interval, runs) = (estimate.median, estimate.interval, estimate.runs);
            row.figures.push(Estimate { figure, median, is_lower_bound: false, interval, runs, vs_baseline });
        }
    }
}

/// Change of a metric that covers all operations together.
fn total_change(changes: &[MetricComparison], metric: Metric) -> Option<BaselineComparison> {
    let change = changes.iter().find(|it| it.metric == metric && it.operation.is_none())?;
    let Change::Ratio { value, interval } = change.change else { return None };
    Some(BaselineComparison { ratio: value, interval, p: change.p, verdict: change.verdict })
}

fn row(label: &[(String, String)], setup: &Setup, trials: &[&TrialFacts<'_>]) -> Row {
    let mut not_applied: Vec<UnappliedLimit> = trials.iter().flat_map(|it| it.not_applied).cloned().collect();
    not_applied.sort();
    not_applied.dedup();
    Row {
        label: label.to_vec(),
        baseline: None,
        hops: setup.stack.nodes.iter().map(server_transport).collect(),
        replication: setup.stack.replication.clone().filter(|it| it.replicas > 0),
        clients: setup.load.model.clients(),
        generator: placement(&setup.stack.generator),
        unapplied_limits: not_applied,
        trials: trials
            .iter()
            .map(|trial| Trial {
                repetition: trial.repetition,
                status: trial.status.clone(),
                valid: counts(trial),
                verdict: verdict(trial),
                reasons: trial.summary.map_or(Vec::new(), |it| it.validity.reasons.clone()),
                doubts: trial.summary.map_or(Vec::new(), validity::doubts_in_verdict),
            })
            .collect(),
        figures: Vec::new(),
    }
}

fn server_transport(node: &Node) -> Hop {
    let (mode, size) = match &node.kind {
        NodeKind::Postgres(it) => (None, Some(it.max_connections)),
        NodeKind::Pooler(it) => (Some(it.mode), Some(it.size)),
        NodeKind::Balancer(it) => (None, it.maxconn),
        NodeKind::Service(_) | NodeKind::Attached(_) => (None, None),
    };
    Hop {
        node: node.name.clone(),
        product: node.kind.product().name,
        mode,
        size,
        transport: (!node.kind.is_attached()).then_some(node.transport),
        placement: placement(&node.limits),
    }
}

fn placement(limits: &Limits) -> Placement {
    Placement { cpu: limits.cpu, cpus: limits.cpus.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::trial::{TestRun, experiment};
    use model::EventKind;
    use model::matrix::{ChangeVerdict, TrialStatus};

    /// Checks the rows that have the figure, as `label figure median [low, high] runs, ratio verdict`.
    #[track_caller]
    fn check(runs: &[TestRun], figure: Figure, expected: &[&str]) {
        let experiment = experiment(&["direct", "pooled"], Some(0));
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let matrix = matrix(&experiment, &facts);
        let line = |row: &Row| {
            let estimate = row.estimate(figure)?;
            let interval = estimate.interval.map_or("-".to_owned(), |it| format!("{:.4}..{:.4}", it.0, it.1));
            let against = estimate.vs_baseline.map_or(String::new(), |comparison| {
                format!(", {:.3} {:?}", comparison.ratio.unwrap_or(f64::NAN), comparison.verdict)
            });
            Some(format!("{} {:.4} {interval} {}{against}", row.label[0].1, estimate.median, estimate.runs))
        };
        assert_eq!(matrix.rows.iter().filter_map(line).collect::<Vec<_>>(), expected);
    }

    fn repeated(cell: usize, tps: &[f64]) -> Vec<TestRun> {
        tps.iter().enumerate().map(|(n, tps)| TestRun::new(cell, n as u32).tps(*tps)).collect()
    }

    #[test]
    fn computes_medians_and_comparisons() {
        let direct = repeated(0, &[1000.0, 1010.0, 990.0, 1005.0, 995.0]);
        let slower = repeated(1, &[840.0, 850.0, 830.0, 845.0, 835.0]);
        let same = repeated(1, &[1001.0, 1011.0, 991.0, 1006.0, 985.0]);
        check(
            &[direct.clone(), slower].concat(),
            Figure::Tps,
            &["direct 1000.0000 990.0000..1010.0000 5", "pooled 840.0000 830.0000..850.0000 5, 0.840 Lower"],
        );
        check(
            &[direct.clone(), same].concat(),
            Figure::Tps,
            &[
                "direct 1000.0000 990.0000..1010.0000 5",
                "pooled 1001.0000 985.0000..1011.0000 5, 1.001 NoEvidence",
            ],
        );
        check(
            &[direct.clone(), repeated(1, &[500.0, 510.0])].concat(),
            Figure::Tps,
            &["direct 1000.0000 990.0000..1010.0000 5", "pooled 505.0000 - 2, 0.505 TooFewRuns"],
        );
        check(&direct, Figure::Tps, &["direct 1000.0000 990.0000..1010.0000 5"]);
    }

    #[test]
    fn compares_each_cell_with_its_own_baseline() {
        let mut experiment = experiment(&["direct", "pooled", "unix", "session"], None);
        experiment.baseline = Some(Baseline::PerCell(vec![None, Some(0), None, Some(2)]));
        let runs: Vec<TestRun> = [1000.0, 500.0, 100.0, 200.0]
            .iter()
            .enumerate()
            .flat_map(|(cell, tps)| repeated(cell, &[0.98 * tps, 0.99 * tps, *tps, 1.01 * tps, 1.02 * tps]))
            .collect();
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let matrix = matrix(&experiment, &facts);
        let change = |row: &Row| {
            let change = row.estimate(Figure::Tps)?.vs_baseline?;
            Some((row.baseline, change.ratio, change.verdict))
        };
        let changes: Vec<_> = matrix.rows.iter().map(change).collect();
        let (lower, higher) = (ChangeVerdict::Lower, ChangeVerdict::Higher);
        assert_eq!(
            changes,
            [None, Some((Some(0), Some(0.5), lower)), None, Some((Some(2), Some(2.0), higher))]
        );
        assert_eq!([0, 1, 2, 3].map(|row| matrix.is_baseline(row)), [true, false, true, false]);
    }

    /// A slow trial with too few samples for a p99 has a p50 above the p99 of the fast trials.
    #[test]
    fn p50_never_exceeds_p99_of_the_same_row() {
        let experiment = experiment(&["direct", "pooled"], None);
        let fast = |repetition| TestRun::new(0, repetition).response(crate::fixture::millis(2_000, 2));
        let slow = |repetition| TestRun::new(0, repetition).response(crate::fixture::millis(300, 900));
        for (runs, expected) in [
            (vec![fast(0), slow(1)], "451 ms, at least 451 ms"),
            (vec![fast(0), slow(1), slow(2)], "900 ms, at least 900 ms"),
            (vec![fast(0), fast(1), slow(2)], "2 ms, 2 ms"),
            (vec![fast(0), fast(1)], "2 ms, 2 ms"),
            (vec![slow(0), slow(1)], "900 ms, none"),
        ] {
            let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
            let matrix = matrix(&experiment, &facts);
            let figure = |figure| match matrix.rows[0].estimate(figure) {
                Some(estimate) => {
                    format!(
                        "{}{:.0} ms",
                        if estimate.is_lower_bound { "at least " } else { "" },
                        1e3 * estimate.median
                    )
                }
                None => "none".to_owned(),
            };
            assert_eq!(format!("{}, {}", figure(Figure::P50), figure(Figure::P99)), expected);
        }
    }

    #[test]
    fn counts_only_valid_trials() {
        let mut runs = repeated(0, &[1000.0, 10.0, 20.0, 1010.0, 990.0]);
        runs[1] = runs[1].clone().invalid();
        runs[2] = runs[2].clone().status(TrialStatus::Interrupted);
        check(&runs, Figure::Tps, &["direct 1000.0000 990.0000..1010.0000 3"]);
        let experiment = experiment(&["direct", "pooled"], Some(0));
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let valid: Vec<bool> = matrix(&experiment, &facts).rows[0].trials.iter().map(|it| it.valid).collect();
        assert_eq!(valid, [true, false, false, true, true]);
        let skipped =
            TestRun::new(0, 0).status(TrialStatus::Skipped { reason: "no Odyssey".into() }).without_summary();
        check(&[skipped], Figure::Tps, &[]);
    }

    #[test]
    fn reads_every_figure_of_a_run() {
        let run = || TestRun::new(0, 0).tps(500.0);
        let quiet = run();
        // 10,000 transactions of 2.5 ms.
        check(std::slice::from_ref(&quiet), Figure::P50, &["direct 0.0025 - 1"]);
        check(std::slice::from_ref(&quiet), Figure::P99, &["direct 0.0025 - 1"]);
        check(std::slice::from_ref(&quiet), Figure::Errors, &["direct 0.0000 - 1"]);
        check(std::slice::from_ref(&quiet), Figure::PoolerCpu, &[]);
        check(std::slice::from_ref(&quiet), Figure::ServerCpu, &[]);
        check(&[run().failed(b"40P01", 20)], Figure::Deadlocks, &["direct 1.9960 - 1"]);
        check(&[run().failed(b"40P01", 20)], Figure::Errors, &["direct 1.9960 - 1"]);
        check(&[run().event(EventKind::Deadlock, 5)], Figure::Deadlocks, &["direct 0.5000 - 1"]);
        let more = run().event(EventKind::Deadlock, 5).event_count(EventKind::Deadlock, 15);
        check(&[more], Figure::Deadlocks, &["direct 2.0000 - 1"]);
        check(&[run().refused(b"53300", 7)], Figure::Refused, &["direct 7.0000 - 1"]);
        let starved = run().clients([vec![500; 20], vec![0; 170], vec![1; 10]].concat());
        check(std::slice::from_ref(&starved), Figure::Served, &["direct 30.0000 - 1"]);
        check(&[starved], Figure::Starved, &["direct 180.0000 - 1"]);
        let cpu = run().counter("postgres", "cgroup_cpu", "", 0.75);
        check(&[cpu], Figure::ServerCpu, &["direct 0.7500 - 1"]);
        let cpu = run().counter("postgres", "process_cpu_user", "", 0.5).counter(
            "postgres",
            "process_cpu_system",
            "",
            0.25,
        );
        check(&[cpu], Figure::ServerCpu, &["direct 0.7500 - 1"]);
        let pooled = || TestRun::new(1, 0).tps(500.0);
        check(
            &[pooled().counter("pooler", "cgroup_cpu", "", 0.1)],
            Figure::PoolerCpu,
            &["pooled 0.1000 - 1"],
        );
        check(&[pooled()], Figure::PoolerCpu, &[]);
    }

    #[test]
    fn reports_monitoring_cost_and_unapplied_limits() {
        let experiment = experiment(&["direct", "pooled"], None);
        let runs =
            [0.01, 0.03, 0.02].map(|it| TestRun::new(0, 0).watching(it).not_applied("postgres", "cpu"));
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let matrix = matrix(&experiment, &facts);
        assert_eq!(matrix.monitoring_cpu, Some(0.02));
        let limits = |row: &Row| row.unapplied_limits.iter().map(|it| it.limit.clone()).collect::<Vec<_>>();
        assert_eq!((limits(&matrix.rows[0]), limits(&matrix.rows[1])), (vec!["cpu".to_owned()], vec![]));
    }

    #[test]
    fn reports_placement_and_transport() {
        let experiment = experiment(&["direct", "pooled"], None);
        let matrix = matrix(&experiment, &[]);
        let hops = |row: usize| {
            let each = matrix.rows[row].hops.iter().map(|hop| {
                format!(
                    "{} {:?} {:?} {:?} {:?}",
                    hop.product, hop.mode, hop.size, hop.transport, hop.placement.cpu
                )
            });
            each.collect::<Vec<_>>().join("; ")
        };
        assert_eq!(hops(0), "PostgreSQL None Some(50) Some(Tcp) Some(1.0)");
        assert_eq!(
            hops(1),
            "PgBouncer Some(Transaction) Some(20) Some(Tcp) Some(0.1); PostgreSQL None Some(50) Some(Tcp) Some(1.0)"
        );
        assert_eq!((matrix.rows[1].clients, matrix.rows[1].valid_trials()), (200, 0));
    }
}
