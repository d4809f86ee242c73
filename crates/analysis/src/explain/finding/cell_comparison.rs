//! Findings from comparisons between cells

use super::clients::{pool, slots_exhausted, starved};
use super::{CellTrials, Finding};
use crate::facts::figure::read_figure;
use crate::facts::usage::busy_sessions;
use crate::stats::quantile::median;
use crate::stats::repeats::{self, Samples};
use model::finding::{IncomparableReason, ThroughputComparison};
use model::matrix::{ChangeVerdict, Figure};
use model::plan::{Experiment, Node, NodeKind, Setup, Transport};
use std::collections::BTreeMap;

/// Errors per thousand transactions above which a cell is not comparable with a cell without errors.
const ERRORS_PER_1000_MAX: f64 = 10.0;
/// Ratio of in-flight transactions above which the deadlocks of two cells are not comparable.
const CONCURRENCY_RATIO_MAX: f64 = 1.5;

/// Finding on the number of deadlocks per thousand transactions.
pub fn deadlocks(cell: &CellTrials<'_>) -> Option<Finding> {
    let estimate = repeats::estimate(&figure_values(cell, Figure::Deadlocks))?;
    let has_deadlocks = figure_values(cell, Figure::Deadlocks).iter().any(|it| *it > 0.0);
    has_deadlocks.then_some(Finding::Deadlocks {
        cell: cell.number,
        per_thousand: estimate.median,
        interval: estimate.interval,
        runs: estimate.runs,
    })
}

fn figure_values(cell: &CellTrials<'_>, figure: Figure) -> Vec<f64> {
    cell.trials.iter().filter_map(|it| read_figure(it, figure)).collect()
}

/// Ratio of the first cell's throughput to the second cell's, for each pair. The verdicts are corrected for the number
/// of pairs. Pairs without valid trials are left out.
fn throughputs<'a>(
    pairs: &Pairs<'a>,
    seed: u64,
) -> Vec<(&'a CellTrials<'a>, &'a CellTrials<'a>, ThroughputComparison)> {
    let tps = |cell| figure_values(cell, Figure::Tps);
    let known: Vec<_> = pairs
        .iter()
        .filter_map(|(cell, other_cell)| {
            let comparison = repeats::compare(&Samples::ratio(&tps(other_cell), &tps(cell)), seed)?;
            Some((*cell, *other_cell, comparison, comparison.value?))
        })
        .collect();
    let verdicts = repeats::decide(&known.iter().map(|it| it.2).collect::<Vec<_>>());
    let all = known.into_iter().zip(verdicts).map(|((cell, other_cell, comparison, ratio), verdict)| {
        let runs = (tps(cell).len() as u32, tps(other_cell).len() as u32);
        (
            cell,
            other_cell,
            ThroughputComparison { ratio, interval: comparison.interval, p: comparison.p, verdict, runs },
        )
    });
    all.collect()
}

/// Pairs of cells that are compared.
type Pairs<'a> = Vec<(&'a CellTrials<'a>, &'a CellTrials<'a>)>;

/// Findings on the throughput of cells that do the same work: the cost of a pooler, the apparent cost over another
/// transport, and differences between pool modes. A cell that did different work is reported, if another cell would
/// otherwise have been compared with it.
pub fn throughput(cells: &[CellTrials<'_>], seed: u64) -> Vec<Finding> {
    let (mut like, mut unlike, mut modes) = (Vec::new(), Vec::new(), pairs_by_pool_mode(cells));
    for cell in cells.iter().filter(|it| it.setup.stack.nodes.len() > 1) {
        let direct =
            |it: &&CellTrials<'_>| it.setup.stack.nodes.len() == 1 && same_but_stack(it.setup, cell.setup);
        for other_cell in cells.iter().filter(direct) {
            let transport = other_cell.setup.stack.nodes[0].transport;
            let all_like = cell.setup.stack.nodes.iter().all(|it| it.transport == transport);
            if all_like { like.push((cell, other_cell)) } else { unlike.push((cell, other_cell)) }
        }
    }
    let other: BTreeMap<usize, IncomparableReason> =
        cells.iter().filter_map(|it| Some((it.number, incomparable_reason(it)?))).collect();
    let mut found: Vec<Finding> = Vec::new();
    for (cell, reason) in &other {
        let contain_cell =
            |pairs: &Pairs<'_>| pairs.iter().any(|it| it.0.number == *cell || it.1.number == *cell);
        // Pairs with different transports are reported only together with pairs with equal transports.
        if contain_cell(&like) || contain_cell(&modes) {
            found.push(Finding::NotCompared { cell: *cell, reason: *reason });
        }
    }
    for pairs in [&mut like, &mut unlike, &mut modes] {
        pairs.retain(|(cell, other_cell)| {
            !other.contains_key(&cell.number) && !other.contains_key(&other_cell.number)
        });
    }
    found.extend(pooler_costs(&like, &unlike, seed));
    found.extend(no_difference(&modes, seed));
    found
}

/// Reason why a cell's throughput is not comparable with other cells; `None` if all clients did all their work.
fn incomparable_reason(cell: &CellTrials<'_>) -> Option<IncomparableReason> {
    if slots_exhausted(cell).is_some() {
        return Some(IncomparableReason::SlotsExhausted);
    }
    if starved(cell).is_some() {
        return Some(IncomparableReason::ClientsStarved);
    }
    let per_thousand = median(figure_values(cell, Figure::Errors))?;
    (per_thousand > ERRORS_PER_1000_MAX).then_some(IncomparableReason::Errors { per_thousand })
}

/// Findings on cells behind a pooler or balancer, compared with the direct cell. If all connections have the same
/// transport, the difference is the cost of the pooler or balancer. Otherwise it is an apparent cost that includes the
/// transport.
fn pooler_costs(like: &Pairs<'_>, unlike: &Pairs<'_>, seed: u64) -> Vec<Finding> {
    let like = throughputs(like, seed);
    let unlike = throughputs(unlike, seed);
    let fair = |cell: &CellTrials<'_>| like.iter().find(|it| it.0.number == cell.number).map(|it| it.2.ratio);
    let mut found: Vec<Finding> = Vec::new();
    for (cell, other_cell, compared) in &like {
        let (cell, other_cell, transport) =
            (cell.number, other_cell.number, other_cell.setup.stack.nodes[0].transport);
        found.push(Finding::LikeForLikeCost { cell, other_cell, transport, comparison: *compared });
    }
    for (cell, other_cell, compared) in &unlike {
        let Some(like_for_like_ratio) = fair(cell) else { continue };
        found.push(Finding::UnlikeComparison {
            cell: cell.number,
            other_cell: other_cell.number,
            transports: cell.setup.stack.nodes.iter().map(|it| it.transport).collect::<Vec<Transport>>(),
            other_transport: other_cell.setup.stack.nodes[0].transport,
            comparison: *compared,
            like_for_like_ratio,
        });
    }
    found
}

/// True if both setups have the same load and data, and the same settings and limits of PostgreSQL and the generator.
pub fn same_but_stack(a: &Setup, b: &Setup) -> bool {
    let server = |setup: &Setup| setup.stack.nodes.last().map(|it| (it.kind.clone(), it.limits.clone()));
    a.load == b.load
        && a.operations == b.operations
        && a.dataset == b.dataset
        && a.stack.generator == b.stack.generator
        && server(a) == server(b)
}

/// Pairs of cells that differ only in the pool mode.
fn pairs_by_pool_mode<'a>(cells: &'a [CellTrials<'a>]) -> Pairs<'a> {
    let mut pairs = Vec::new();
    for (n, other_cell) in cells.iter().enumerate() {
        for cell in &cells[n + 1..] {
            let same = same_but_stack(cell.setup, other_cell.setup);
            if same && pool(cell) != pool(other_cell) && without_mode(cell) == without_mode(other_cell) {
                pairs.push((cell, other_cell));
            }
        }
    }
    pairs
}

/// Findings on pairs of cells with different pool modes whose throughput does not differ.
fn no_difference(pairs: &Pairs<'_>, seed: u64) -> Vec<Finding> {
    let known = throughputs(pairs, seed).into_iter().filter(|it| it.2.verdict == ChangeVerdict::NoEvidence);
    let finding =
        |(cell, other_cell, comparison): (&CellTrials<'_>, &CellTrials<'_>, ThroughputComparison)| {
            let mode = |cell| pool(cell).map(|it| it.0);
            let (mode, other_mode) = (mode(cell)?, mode(other_cell)?);
            Some(Finding::NoDifference {
                cell: cell.number,
                other_cell: other_cell.number,
                mode,
                other_mode,
                comparison,
            })
        };
    known.filter_map(finding).collect()
}

/// Nodes of the cell, with all poolers set to the same mode.
fn without_mode(cell: &CellTrials<'_>) -> Vec<Node> {
    let mut nodes = cell.setup.stack.nodes.clone();
    for node in &mut nodes {
        if let NodeKind::Pooler(pooler) = &mut node.kind {
            pooler.mode = model::plan::PoolMode::Session;
        }
    }
    nodes
}

/// Findings on cells that have more or fewer deadlocks than the baseline, and also more or fewer in-flight transactions
/// in PostgreSQL.
pub fn concurrency_differs(cells: &[CellTrials<'_>], experiment: &Experiment) -> Vec<Finding> {
    let rate = |cell: &CellTrials<'_>| median(figure_values(cell, Figure::Deadlocks));
    let one = |cell: &CellTrials<'_>| {
        let baseline = experiment.baseline_of(cell.number)?;
        let baseline_cell = cells.iter().find(|it| it.number == baseline)?;
        let (rate, with_rate) = (rate(cell)?, rate(baseline_cell)?);
        let (busy, other_busy) = (cell.median(busy_sessions)?, baseline_cell.median(busy_sessions)?);
        let unlike = busy > CONCURRENCY_RATIO_MAX * other_busy || other_busy > CONCURRENCY_RATIO_MAX * busy;
        (rate != with_rate && unlike).then_some(Finding::NotConcurrent {
            cell: cell.number,
            other_cell: baseline_cell.number,
            busy,
            other_busy,
        })
    };
    cells.iter().filter_map(one).collect()
}
