//! Finding on figures that rise or fall from trial to trial, if the data are not restored between the trials

use super::{CellTrials, Finding};
use crate::facts::figure::read_figure;
use crate::stats::slopes;
use model::finding::{Circumstance, TrialTrend};
use model::matrix::Figure;

const FIGURES: [Figure; 4] = [Figure::Tps, Figure::P99, Figure::Errors, Figure::Deadlocks];

/// Trends of the figures over the valid trials. A figure without enough values for an interval is left out, and so is one
/// that is always zero.
pub fn of_kept_data(cell: &CellTrials<'_>) -> Option<Finding> {
    cell.setup.dataset.as_ref().filter(|it| it.keep)?;
    let mut trials = cell.trials.clone();
    trials.sort_by_key(|it| it.repetition);
    let trend = |figure: Figure| {
        let value = |(repetition, value): (u32, Option<f64>)| Some((f64::from(repetition), value?));
        let values = trials.iter().map(|it| (it.repetition, read_figure(it, figure)));
        let points: Vec<(f64, f64)> = values.filter_map(value).collect();
        let line = slopes::estimate(&points)?;
        let (from, to) = (points.first()?.0, points.last()?.0);
        let (low, high) = line.interval?;
        let is_zero = points.iter().all(|it| it.1 == 0.0);
        (!is_zero).then(|| TrialTrend {
            figure,
            // A line through outliers may leave the range of possible values.
            first: line.value_at(from).max(0.0),
            last: line.value_at(to).max(0.0),
            change_interval: ((to - from) * low, (to - from) * high),
        })
    };
    let trends: Vec<TrialTrend> = FIGURES.into_iter().filter_map(trend).collect();
    let trials = trials.iter().filter(|it| it.valid().is_some()).count() as u32;
    (!trends.is_empty()).then_some(Finding::Circumstance {
        cell: cell.number,
        circumstance: Circumstance::TrialTrends { trends, trials },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::finding::{TrialFacts, findings};
    use crate::fixture::trial::{TestRun, experiment};
    use model::plan::{Content, Dataset};

    /// Trends of throughput, as first and last value and verdict, over trials with these throughputs.
    fn trend(keep: bool, all_tps: &[f64]) -> Option<(f64, f64, &'static str)> {
        let mut experiment = experiment(&["direct"], None);
        let dataset = Dataset::new(1, Content::Pgbench { scale: 1 });
        experiment.cells[0].setup.dataset = Some(Dataset { keep, ..dataset });
        let numbered = (0..).zip(all_tps);
        let mut runs: Vec<TestRun> = numbered.map(|(n, tps)| TestRun::new(0, n).tps(*tps)).collect();
        // The trials may arrive in any order.
        runs.reverse();
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        findings(&experiment, &facts).into_iter().find_map(|finding| {
            let Finding::Circumstance { circumstance: Circumstance::TrialTrends { trends, trials }, .. } =
                finding
            else {
                return None;
            };
            assert_eq!(trials as usize, all_tps.len());
            let TrialTrend { first, last, change_interval: (low, high), .. } =
                *trends.iter().find(|it| it.figure == Figure::Tps).expect("throughput was measured");
            // Errors and deadlocks are always zero.
            assert!(trends.iter().all(|it| matches!(it.figure, Figure::Tps | Figure::P99)), "{trends:?}");
            let verdict = match () {
                () if low > 0.0 => "rises",
                () if high < 0.0 => "falls",
                () => "none",
            };
            Some((first.round(), last.round(), verdict))
        })
    }

    #[test]
    fn figures_of_kept_data_have_trends() {
        let falling = [200.0, 193.0, 191.0, 178.0, 180.0, 171.0, 158.0, 162.0, 148.0, 150.0];
        assert_eq!(trend(true, &falling), Some((200.0, 147.0, "falls")));
        let rising: Vec<f64> = falling.iter().rev().copied().collect();
        assert_eq!(trend(true, &rising), Some((147.0, 200.0, "rises")));
        let constant = [200.0, 196.0, 203.0, 199.0, 201.0, 197.0, 202.0, 198.0, 204.0, 199.0];
        assert_eq!(trend(true, &constant).map(|it| it.2), Some("none"));
        // Too few trials, or data that are restored between trials.
        assert_eq!(trend(true, &falling[..5]), None);
        assert_eq!(trend(false, &falling), None);
    }
}
