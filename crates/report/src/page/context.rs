//! Of which cells and trials does a page speak?

use crate::lang::Lang;
use model::finding::Finding;
use model::matrix::Figure;
use model::plan::LoadModel;
use model::run_result::{RunResult, TrialResult};

/// A run that is told in a language.
#[derive(Debug)]
pub(crate) struct PageContext<'a> {
    pub account: &'a RunResult,
    pub lang: &'a dyn Lang,
    /// Of the cells.
    pub names: Vec<String>,
    /// Of those beside the baseline that may be compared, the one with the highest throughput, and with the lowest where
    /// that is another one. They are of the closed model: in the open one throughput is what was offered.
    pub best: Option<usize>,
    pub worst: Option<usize>,
    pub open: OpenCells,
    /// Cells that are told in full: all where there are few, else the baseline, the best, the worst, and of the open ones
    /// the highest and the strained one.
    pub chosen: Vec<usize>,
}

/// Cells of the open model beside the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenCells {
    /// How many of them keep up with what is offered, and how many there are.
    pub kept_up: usize,
    pub of: usize,
    /// Of those that keep up, the one to which most is offered.
    pub highest: Option<usize>,
    /// Of the others, the one that delivers the smallest share.
    pub strained: Option<usize>,
}

/// What delivers this share of what is offered keeps up: one that fails in more than 1 % of its work is in no comparison.
const KEEPS_UP: f64 = 0.99;

/// So many cells are told in full.
const FEW: usize = 3;

impl<'a> PageContext<'a> {
    pub fn new(account: &'a RunResult, lang: &'a dyn Lang) -> PageContext<'a> {
        let matrix = &account.matrix;
        let measured: Vec<usize> = (0..account.cells.len())
            .filter(|it| account.cells[*it].total.is_some() || throughput(account, *it).is_some())
            .collect();
        let baseline = matrix.baseline.filter(|it| measured.contains(it));
        let others = || measured.iter().copied().filter(|it| Some(*it) != baseline);
        let open = open_cells(account, others().filter(|it| is_open(account, *it)));
        let closed = || others().filter(|it| !is_open(account, *it));
        let mut ranked: Vec<usize> = closed().filter(|it| !is_excluded(account, *it)).collect();
        if ranked.is_empty() && baseline.is_none() {
            ranked = closed().collect();
        }
        let tps = |cell: &usize| throughput(account, *cell).unwrap_or(0.0);
        // Of equal ones the first.
        ranked.sort_by(|one, other| tps(other).total_cmp(&tps(one)));
        let best = ranked.first().copied();
        let worst = ranked.last().copied().filter(|it| Some(*it) != best);
        let chosen = match measured.len() <= FEW {
            true => measured,
            false => [baseline, best, worst, open.highest, open.strained].into_iter().flatten().collect(),
        };
        PageContext { account, lang, names: crate::matrix::cell_names(matrix), best, worst, open, chosen }
    }

    pub fn name(&self, cell: usize) -> &str {
        self.names.get(cell).map_or("", String::as_str)
    }

    /// Whether not all of its clients did their work.
    pub fn left_out(&self, cell: usize) -> bool {
        is_excluded(self.account, cell)
    }

    /// Whether both cells have the same kind of load, so that their throughputs say which one holds more.
    pub fn alike(&self, one: usize, other: usize) -> bool {
        is_open(self.account, one) == is_open(self.account, other)
    }

    /// Trials that have charts: what a page shows over time, in this order.
    pub fn charted(&self) -> Vec<&'a TrialResult> {
        charted(self.account).collect()
    }

    /// Index into [`Case::charted`] of the trial that stands for a cell: of its valid ones that with the median throughput.
    pub fn trial_of(&self, cell: usize) -> Option<usize> {
        let charted = self.charted();
        let mut all: Vec<usize> = (0..charted.len()).filter(|it| charted[*it].cell == cell).collect();
        if all.iter().any(|it| charted[*it].valid) {
            all.retain(|it| charted[*it].valid);
        }
        let tps = |it: &usize| charted[*it].tps.map_or(0.0, |it| it.0);
        all.sort_by(|one, other| tps(one).total_cmp(&tps(other)));
        all.get(all.len() / 2).copied()
    }
}

/// Trials that have charts, in the order in which they began.
pub(crate) fn charted(account: &RunResult) -> impl Iterator<Item = &TrialResult> {
    account.trials.iter().filter(|it| !it.charts.times.is_empty() && !it.charts.charts.is_empty())
}

fn is_excluded(account: &RunResult, cell: usize) -> bool {
    account.findings.iter().any(|it| matches!(it, Finding::NotCompared { cell: of, .. } if *of == cell))
}

pub(crate) fn is_open(account: &RunResult, cell: usize) -> bool {
    let load = account.experiment.cells.get(cell).map(|it| &it.setup.load.model);
    matches!(load, Some(LoadModel::Open { .. }))
}

fn open_cells(account: &RunResult, cells: impl Iterator<Item = usize>) -> OpenCells {
    let mut open = OpenCells::default();
    let (mut most, mut least) = (0.0, KEEPS_UP);
    for cell in cells {
        open.of += 1;
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

/// Median over the cell's valid trials.
fn throughput(account: &RunResult, cell: usize) -> Option<f64> {
    Some(account.matrix.rows.get(cell)?.estimate(Figure::Tps)?.median)
}
