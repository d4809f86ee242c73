//! Of which cells and trials does a page speak?

use crate::lang::Lang;
use model::account::{Account, TrialAccount};
use model::finding::Finding;
use model::matrix::Figure;

/// A run that is told in a language.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub account: &'a Account,
    pub lang: &'a dyn Lang,
    /// Of the cells.
    pub names: Vec<String>,
    /// Of those beside the baseline that may be compared, the one with the highest throughput, and with the lowest where
    /// that is another one.
    pub best: Option<usize>,
    pub worst: Option<usize>,
    /// Cells that are told in full: all where there are few, else the baseline, the best and the worst.
    pub chosen: Vec<usize>,
}

/// So many cells are told in full.
const FEW: usize = 3;

impl<'a> Case<'a> {
    pub fn new(account: &'a Account, lang: &'a dyn Lang) -> Case<'a> {
        let matrix = &account.matrix;
        let measured: Vec<usize> = (0..account.cells.len())
            .filter(|it| account.cells[*it].total.is_some() || throughput(account, *it).is_some())
            .collect();
        let baseline = matrix.baseline.filter(|it| measured.contains(it));
        let others = measured.iter().copied().filter(|it| Some(*it) != baseline);
        let mut ranked: Vec<usize> = others.clone().filter(|it| !left_out(account, *it)).collect();
        if ranked.is_empty() && baseline.is_none() {
            ranked = others.collect();
        }
        let tps = |cell: &usize| throughput(account, *cell).unwrap_or(0.0);
        // Of equal ones the first.
        ranked.sort_by(|one, other| tps(other).total_cmp(&tps(one)));
        let best = ranked.first().copied();
        let worst = ranked.last().copied().filter(|it| Some(*it) != best);
        let chosen = match measured.len() <= FEW {
            true => measured,
            false => [baseline, best, worst].into_iter().flatten().collect(),
        };
        Case { account, lang, names: crate::matrix::names(matrix), best, worst, chosen }
    }

    pub fn name(&self, cell: usize) -> &str {
        self.names.get(cell).map_or("", String::as_str)
    }

    /// Whether not all of its clients did their work.
    pub fn left_out(&self, cell: usize) -> bool {
        left_out(self.account, cell)
    }

    /// Trials that have charts: what a page shows over time, in this order.
    pub fn charted(&self) -> Vec<&'a TrialAccount> {
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
pub(crate) fn charted(account: &Account) -> impl Iterator<Item = &TrialAccount> {
    account.trials.iter().filter(|it| !it.charts.at.is_empty() && !it.charts.charts.is_empty())
}

fn left_out(account: &Account, cell: usize) -> bool {
    account.findings.iter().any(|it| matches!(it, Finding::NotCompared { cell: of, .. } if *of == cell))
}

/// Median over the cell's valid trials.
fn throughput(account: &Account, cell: usize) -> Option<f64> {
    Some(account.matrix.rows.get(cell)?.estimate(Figure::Tps)?.median)
}
