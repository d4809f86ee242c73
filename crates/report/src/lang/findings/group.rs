//! Content of paragraphs about several findings: ranges and groups of figures

use crate::lang::cell_name;
use model::finding::{Finding, FindingRule, IncomparableReason, MissingInput};
use model::plan::{PoolMode, Transport};

/// Number of cells above which a sentence contains ranges instead of each cell's figures. The matrix contains the
/// figures.
const MANY: usize = 4;

/// Content of a paragraph about a group of findings, after their common part.
pub(super) enum RemainingGroup {
    /// No content, because a table follows.
    Table,
    /// One sentence per finding.
    Each,
    /// One sentence per finding, each a comparison with this cell.
    EachBeside(usize),
    /// Excluded cells, grouped by the reason.
    LeftOut(Vec<(IncomparableReason, Vec<ExcludedCount>)>),
    Seeming(ApparentGain),
    Shares(ShareRange),
}

pub(super) struct ExcludedCount {
    pub cell: usize,
    /// Share (0..=1) of failed transactions, if the cells are excluded because of failures.
    pub failed: Option<f64>,
}

/// Ranges of ratios from comparisons of cells with different transports.
pub(super) struct ApparentGain {
    pub unlike: (f64, f64),
    pub like: (f64, f64),
    pub cells: Vec<usize>,
}

/// Cells on a saturated machine, and the minimum and maximum number of CPUs that each program used.
pub(super) struct ShareRange {
    pub cells: CellSelection,
    pub generator: Option<(f64, f64)>,
    pub before: Option<(f64, f64)>,
    pub server: Option<(f64, f64)>,
    pub others: Option<(f64, f64)>,
}

pub(super) enum CellSelection {
    All,
    /// All cells except these. The exceptions are fewer than half of the cells.
    AllBut(Vec<usize>),
    These(Vec<usize>),
}

/// Remaining content of a paragraph. `all` are the findings of one group, at least one; `cells` is the number of cells
/// of the experiment.
pub(super) fn rest(all: &[&Finding], cells: usize) -> RemainingGroup {
    match all[0] {
        Finding::LikeForLikeCost { .. } => RemainingGroup::Table,
        Finding::NotCompared { .. } => RemainingGroup::LeftOut(left_out(all)),
        Finding::NotConcurrent { other_cell, .. } => RemainingGroup::EachBeside(*other_cell),
        Finding::UnlikeComparison { .. } if all.len() > MANY => RemainingGroup::Seeming(seeming(all)),
        Finding::HostBound { .. } if all.len() > MANY => RemainingGroup::Shares(shares(all, cells)),
        _ => RemainingGroup::Each,
    }
}

fn left_out(all: &[&Finding]) -> Vec<(IncomparableReason, Vec<ExcludedCount>)> {
    let mut reasons: Vec<(IncomparableReason, Vec<ExcludedCount>)> = Vec::new();
    for finding in all {
        let Finding::NotCompared { cell, reason } = finding else { continue };
        let failed = match reason {
            IncomparableReason::Errors { per_thousand } => Some(per_thousand / 1e3),
            IncomparableReason::SlotsExhausted | IncomparableReason::ClientsStarved => None,
        };
        let cell = ExcludedCount { cell: *cell, failed };
        match reasons.iter_mut().find(|it| std::mem::discriminant(&it.0) == std::mem::discriminant(reason)) {
            Some(known) => known.1.push(cell),
            None => reasons.push((*reason, vec![cell])),
        }
    }
    reasons
}

fn seeming(all: &[&Finding]) -> ApparentGain {
    let (mut unlike, mut fair, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for finding in all {
        let Finding::UnlikeComparison { cell, comparison, like_for_like_ratio, .. } = finding else {
            continue;
        };
        unlike.push(comparison.ratio);
        fair.push(*like_for_like_ratio);
        cells.push(*cell);
    }
    let [unlike, like] = [unlike, fair].map(|it| range(&it).unwrap_or((1.0, 1.0)));
    ApparentGain { unlike, like, cells }
}

fn shares(all: &[&Finding], cells: usize) -> ShareRange {
    let mut full = vec![false; cells];
    let mut used: [Vec<f64>; 4] = Default::default();
    for finding in all {
        let Finding::HostBound { cell, generator_cpu, pooler_cpu, server_cpu, other_cpu, .. } = finding
        else {
            continue;
        };
        full.get_mut(*cell).into_iter().for_each(|it| *it = true);
        [generator_cpu, pooler_cpu, server_cpu, other_cpu]
            .iter()
            .zip(&mut used)
            .for_each(|(it, used)| used.extend(it.iter()));
    }
    let select = |is_full: bool| (0..cells).filter(|it| full[*it] == is_full).collect::<Vec<usize>>();
    let (full_cells, other_cells) = (select(true), select(false));
    let cells = match other_cells.len() {
        0 => CellSelection::All,
        n if n < full_cells.len() => CellSelection::AllBut(other_cells),
        _ => CellSelection::These(full_cells),
    };
    let [generator, before, server, others] = used.map(|it| range(&it));
    ShareRange { cells, generator, before, server, others }
}

/// Minimum and maximum of the values; `None` without values.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    Some((least, values.iter().copied().max_by(f64::total_cmp)?))
}

/// Groups rules by their missing input, in order of first occurrence.
pub(super) fn by_missing_input(
    rules: &[(FindingRule, MissingInput)],
) -> Vec<(MissingInput, Vec<FindingRule>)> {
    let mut all: Vec<(MissingInput, Vec<FindingRule>)> = Vec::new();
    for (rule, missing_input) in rules {
        match all.iter_mut().find(|it| it.0 == *missing_input) {
            Some(known) => known.1.push(*rule),
            None => all.push((*missing_input, vec![*rule])),
        }
    }
    all
}

/// Distinct transports, in order of first occurrence.
pub(super) fn distinct(all: &[Transport]) -> Vec<Transport> {
    let mut kinds: Vec<Transport> = Vec::new();
    for transport in all {
        if !kinds.contains(transport) {
            kinds.push(*transport);
        }
    }
    kinds
}

/// Name of the mode in experiment files.
fn key(mode: PoolMode) -> &'static str {
    match mode {
        PoolMode::Session => "session",
        PoolMode::Transaction => "transaction",
        PoolMode::Statement => "statement",
    }
}

/// True if the cells' names contain their modes.
pub(super) fn is_named_by_mode(names: &[String], cells: [(usize, PoolMode); 2]) -> bool {
    cells.iter().all(|(cell, mode)| cell_name(names, *cell).contains(key(*mode)))
}
