//! Selection of the cells and trials that a page shows

use crate::lang::Lang;
use model::finding::{Finding, IncomparableReason};
use model::matrix::Figure;
use model::plan::LoadModel;
use model::run_result::{RunResult, TrialResult};
use std::collections::BTreeSet;

/// A run and the language of its report.
#[derive(Debug)]
pub(crate) struct PageContext<'a> {
    pub account: &'a RunResult,
    pub lang: &'a Lang,
    /// Names of the cells.
    pub names: Vec<String>,
    /// Comparable closed-model cell with the highest throughput, apart from the baseline. Open-model cells are
    /// excluded, because the offered rate determines their throughput.
    pub best: Option<usize>,
    /// Comparable closed-model cell with the lowest throughput, if it is not `best`.
    pub worst: Option<usize>,
    pub open: OpenCells,
    /// Cells that are shown in full: all cells if there are only a few. Otherwise, the baseline, the best and the worst
    /// cell, and the `highest` and the `strained` open-model cell.
    pub chosen: Vec<usize>,
}

/// Cells of the open model, apart from the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenCells {
    /// Number of cells that keep up with the offered rate; `total` is the number of all cells.
    pub kept_up: usize,
    pub total: usize,
    /// The cell with the highest offered rate among the cells that keep up.
    pub highest: Option<usize>,
    /// The cell that delivers the smallest share of its offered rate, if this cell does not keep up.
    pub strained: Option<usize>,
}

/// Minimum share of the offered rate that a cell that keeps up delivers: 1 minus the error share above which cells are
/// not compared.
const KEEPS_UP: f64 = 0.99;

/// Maximum number of cells with which all cells are shown in full.
const FEW: usize = 3;

impl<'a> PageContext<'a> {
    pub fn new(account: &'a RunResult, lang: &'a Lang) -> PageContext<'a> {
        let lang = lang.for_experiment(&account.experiment);
        let matrix = &account.matrix;
        let measured: Vec<usize> = (0..account.cells.len())
            .filter(|it| account.cells[*it].total.is_some() || throughput(account, *it).is_some())
            .collect();
        let baseline = matrix.baseline.filter(|it| measured.contains(it));
        // If only baselines were measured and there are several, rank the baselines.
        let only_baselines = baseline.is_none() && measured.iter().all(|it| matrix.is_baseline(*it));
        let compared = || measured.iter().copied().filter(|it| only_baselines || !matrix.is_baseline(*it));
        let open = open_cells(account, compared().filter(|it| is_open(account, *it)));
        let closed = || compared().filter(|it| !is_open(account, *it));
        let mut ranked: Vec<usize> = closed().filter(|it| exclusion(account, *it).is_none()).collect();
        if ranked.is_empty() && baseline.is_none() {
            ranked = closed().collect();
        }
        let tps = |cell: &usize| throughput(account, *cell).unwrap_or(0.0);
        // Among cells with equal throughput, choose the first cell.
        ranked.sort_by(|one, other| tps(other).total_cmp(&tps(one)));
        let best = ranked.first().copied();
        let worst = ranked.last().copied().filter(|it| Some(*it) != best);
        let chosen = match measured.len() <= FEW {
            true => measured,
            false => {
                let counterparts = [best, worst].map(|it| it.and_then(|cell| matrix.rows[cell].baseline));
                let baseline = baseline.or(counterparts[0]);
                let mut chosen: Vec<usize> =
                    [baseline, best, worst, counterparts[1], open.highest, open.strained]
                        .into_iter()
                        .flatten()
                        .collect();
                let mut seen = BTreeSet::new();
                chosen.retain(|cell| seen.insert(*cell));
                chosen
            }
        };
        PageContext { account, lang, names: crate::cells::cell_names(matrix), best, worst, open, chosen }
    }

    pub fn name(&self, cell: usize) -> &str {
        self.names.get(cell).map_or("", String::as_str)
    }

    /// True if the cell is excluded from comparisons.
    pub fn left_out(&self, cell: usize) -> bool {
        self.exclusion(cell).is_some()
    }

    /// Reason why the cell is excluded from comparisons; `None` if it is not excluded.
    pub fn exclusion(&self, cell: usize) -> Option<IncomparableReason> {
        exclusion(self.account, cell)
    }

    /// True if both cells have the same kind of load, so that their throughputs are comparable.
    pub fn alike(&self, one: usize, other: usize) -> bool {
        is_open(self.account, one) == is_open(self.account, other)
    }

    /// Trials with charts, in the order in which the page shows them.
    pub fn charted(&self) -> Vec<&'a TrialResult> {
        charted(self.account).collect()
    }

    /// Index into [`PageContext::charted`] of the cell's representative trial: the valid trial with the median
    /// throughput.
    pub fn trial_of(&self, cell: usize) -> Option<usize> {
        let charted = self.charted();
        let mut all: Vec<usize> = (0..charted.len()).filter(|it| charted[*it].cell == cell).collect();
        if all.iter().any(|it| charted[*it].valid) {
            all.retain(|it| charted[*it].valid);
        }
        let tps = |index: &usize| charted[*index].tps.map_or(0.0, |tps| tps.0);
        all.sort_by(|one, other| tps(one).total_cmp(&tps(other)));
        all.get(all.len() / 2).copied()
    }
}

/// Trials with charts, in the order of their start.
pub(crate) fn charted(account: &RunResult) -> impl Iterator<Item = &TrialResult> {
    account.trials.iter().filter(|it| !it.charts.times.is_empty() && !it.charts.charts.is_empty())
}

fn exclusion(account: &RunResult, cell: usize) -> Option<IncomparableReason> {
    account.findings.iter().find_map(|finding| match finding {
        Finding::NotCompared { cell: excluded, reason } if *excluded == cell => Some(*reason),
        _ => None,
    })
}

pub(crate) fn is_open(account: &RunResult, cell: usize) -> bool {
    let load = account.experiment.cells.get(cell).map(|it| &it.setup.load.model);
    load.is_some_and(LoadModel::is_open)
}

fn open_cells(account: &RunResult, cells: impl Iterator<Item = usize>) -> OpenCells {
    let mut open = OpenCells::default();
    let (mut most, mut least) = (0.0, KEEPS_UP);
    for cell in cells {
        open.total += 1;
        let Some(total) = account.cells[cell].total.as_ref() else { continue };
        let share = total.delivered.0 / total.offered.0.max(f64::MIN_POSITIVE);
        if share < least {
            (open.strained, least) = (Some(cell), share);
        }
        if share >= KEEPS_UP {
            open.kept_up += 1;
            if total.offered.0 > most {
                (open.highest, most) = (Some(cell), total.offered.0);
            }
        }
    }
    open
}

/// Median throughput over the cell's valid trials.
fn throughput(account: &RunResult, cell: usize) -> Option<f64> {
    Some(account.matrix.rows.get(cell)?.estimate(Figure::Tps)?.median)
}
