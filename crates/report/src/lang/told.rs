//! Language-independent facts of sentences.
//!
//! Computes ranges, groups and orders of figures. A language adds words.

use super::number::Numbers;
use model::finding::{Finding, FindingRule, IncomparableReason, MissingInput};
use model::matrix::{Hop, Placement, UnappliedLimit};
use model::objective::{ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict};
use model::plan::{PoolMode, Transport};

/// Number of cells above which a sentence contains ranges; the matrix contains each cell's figures.
const MANY: usize = 4;

/// Content of a paragraph about a group of findings, after their common part.
pub(super) enum RemainingGroup {
    /// Nothing, because a table follows.
    Table,
    /// One sentence per finding.
    Each,
    /// One sentence per finding, compared with this cell.
    EachBeside(usize),
    /// Cells by the reason why they are left out.
    LeftOut(Vec<(IncomparableReason, Vec<ExcludedCount>)>),
    Seeming(ApparentGain),
    Shares(ShareRange),
}

/// An operation, with its step if it has several.
pub(super) fn request(operation: &str, step: Option<&str>) -> String {
    step.map_or(operation.to_owned(), |step| format!("{operation}, {step}"))
}

pub(super) struct ExcludedCount {
    pub cell: usize,
    /// Share of failed transactions, if that is the reason.
    pub failed: Option<f64>,
}

/// Ranges over comparisons of unlike cells.
pub(super) struct ApparentGain {
    pub unlike: (f64, f64),
    pub like: (f64, f64),
    pub cells: Vec<usize>,
}

/// Cells on a saturated machine, and minimum and maximum of the CPUs that each program used.
pub(super) struct ShareRange {
    pub cells: CellSelection,
    pub generator: Option<(f64, f64)>,
    pub before: Option<(f64, f64)>,
    pub server: Option<(f64, f64)>,
    pub others: Option<(f64, f64)>,
}

pub(super) enum CellSelection {
    All,
    /// All but these, which are fewer than half.
    AllBut(Vec<usize>),
    These(Vec<usize>),
}

/// `all`: findings of one group, at least one; `cells`: number of cells of the experiment.
pub(super) fn rest(all: &[&Finding], cells: usize) -> RemainingGroup {
    match all[0] {
        Finding::LikeForLikeCost { .. } => RemainingGroup::Table,
        Finding::NotCompared { .. } => RemainingGroup::LeftOut(left_out(all)),
        Finding::NotConcurrent { with, .. } => RemainingGroup::EachBeside(*with),
        Finding::UnlikeComparison { .. } if all.len() > MANY => RemainingGroup::Seeming(seeming(all)),
        Finding::HostBound { .. } if all.len() > MANY => RemainingGroup::Shares(shares(all, cells)),
        _ => RemainingGroup::Each,
    }
}

fn left_out(all: &[&Finding]) -> Vec<(IncomparableReason, Vec<ExcludedCount>)> {
    let mut reasons: Vec<(IncomparableReason, Vec<ExcludedCount>)> = Vec::new();
    for finding in all {
        let Finding::NotCompared { cell, reason: why } = finding else { continue };
        let failed = match why {
            IncomparableReason::Errors { of_thousand } => Some(of_thousand / 1e3),
            IncomparableReason::SlotsExhausted | IncomparableReason::ClientsStarved => None,
        };
        let cell = ExcludedCount { cell: *cell, failed };
        match reasons.iter_mut().find(|it| std::mem::discriminant(&it.0) == std::mem::discriminant(why)) {
            Some(known) => known.1.push(cell),
            None => reasons.push((*why, vec![cell])),
        }
    }
    reasons
}

fn seeming(all: &[&Finding]) -> ApparentGain {
    let (mut unlike, mut fair, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for finding in all {
        let Finding::UnlikeComparison { cell, compared, like, .. } = finding else { continue };
        unlike.push(compared.ratio);
        fair.push(*like);
        cells.push(*cell);
    }
    let [unlike, like] = [unlike, fair].map(|it| range(&it).unwrap_or((1.0, 1.0)));
    ApparentGain { unlike, like, cells }
}

fn shares(all: &[&Finding], cells: usize) -> ShareRange {
    let mut full = vec![false; cells];
    let mut used: [Vec<f64>; 4] = Default::default();
    for finding in all {
        let Finding::HostBound { cell, generator, before, server, others, .. } = finding else { continue };
        full.get_mut(*cell).into_iter().for_each(|it| *it = true);
        [generator, before, server, others]
            .iter()
            .zip(&mut used)
            .for_each(|(it, used)| used.extend(it.iter()));
    }
    let those = |which: bool| (0..cells).filter(|it| full[*it] == which).collect::<Vec<usize>>();
    let (with, without) = (those(true), those(false));
    let cells = match without.len() {
        0 => CellSelection::All,
        n if n < with.len() => CellSelection::AllBut(without),
        _ => CellSelection::These(with),
    };
    let [generator, before, server, others] = used.map(|it| range(&it));
    ShareRange { cells, generator, before, server, others }
}

/// Minimum and maximum; `None` for no values.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    Some((least, values.iter().copied().max_by(f64::total_cmp)?))
}

/// The cell's name.
pub(super) fn name(names: &[String], cell: usize) -> &str {
    names.get(cell).map_or("?", String::as_str)
}

/// Names of these cells, separated by commas.
pub(super) fn list(names: &[String], cells: &[usize]) -> String {
    cells.iter().map(|it| name(names, *it)).collect::<Vec<_>>().join(", ")
}

/// The beginning of a statement, in one line.
pub(super) fn short(text: &str) -> String {
    crate::page::text::truncate(text, 80)
}

/// Rules by their missing input, in order of first occurrence.
pub(super) fn lacking(rules: &[(FindingRule, MissingInput)]) -> Vec<(MissingInput, Vec<FindingRule>)> {
    let mut all: Vec<(MissingInput, Vec<FindingRule>)> = Vec::new();
    for (rule, why) in rules {
        match all.iter_mut().find(|it| it.0 == *why) {
            Some(known) => known.1.push(*rule),
            None => all.push((*why, vec![*rule])),
        }
    }
    all
}

/// Distinct transports, in order of first occurrence.
pub(super) fn kinds(all: &[Transport]) -> Vec<Transport> {
    let mut kinds: Vec<Transport> = Vec::new();
    for it in all {
        if !kinds.contains(it) {
            kinds.push(*it);
        }
    }
    kinds
}

/// The mode as in experiment files.
pub(in crate::lang) fn option(it: PoolMode) -> &'static str {
    match it {
        PoolMode::Session => "session",
        PoolMode::Transaction => "transaction",
        PoolMode::Statement => "statement",
    }
}

/// True if the cells' names contain their modes.
pub(super) fn named_by_mode(names: &[String], cells: [(usize, PoolMode); 2]) -> bool {
    cells.iter().all(|(cell, mode)| name(names, *cell).contains(option(*mode)))
}

/// Words for a path through a stack.
pub(super) struct PathCount {
    pub generator: &'static str,
    /// Word for a transport; `None` is an attached node, whose address implies it.
    pub way: fn(Option<Transport>) -> &'static str,
    pub mode: fn(PoolMode) -> &'static str,
    pub size: fn(CountSize) -> String,
    pub placement: fn(&Placement) -> String,
}

/// Meaning of a node's size.
pub(super) enum CountSize {
    Pool(u32),
    /// `max_connections`.
    Slots(u32),
    MaxConn(u32),
}

/// `generator (on CPU 1) → TCP → PgBouncer (session, pool 20, 0.1 CPU) → TCP → PostgreSQL (50 slots, 1 CPU)`.
pub(super) fn path(words: &PathCount, hops: &[Hop], generator: &Placement, arrow: &str) -> String {
    let mut text = format!("{} ({})", words.generator, (words.placement)(generator));
    for (number, hop) in hops.iter().enumerate() {
        let mut about: Vec<String> = Vec::new();
        about.extend(hop.mode.map(|it| (words.mode)(it).to_owned()));
        about.extend(hop.size.map(|size| {
            (words.size)(match (hop.mode, number + 1 == hops.len()) {
                (Some(_), _) => CountSize::Pool(size),
                (None, true) => CountSize::Slots(size),
                (None, false) => CountSize::MaxConn(size),
            })
        }));
        about.push((words.placement)(&hop.placement));
        let way = (words.way)(hop.transport);
        text += &format!(" {arrow} {way} {arrow} {} ({})", hop.product, about.join(", "));
    }
    text
}

/// Limits of nodes that were not applied for one reason, and the reason.
pub(super) fn limits<'a>(all: &[&'a UnappliedLimit]) -> (String, &'a str) {
    let each: Vec<String> = all.iter().map(|it| format!("{}.{}", it.node, it.limit)).collect();
    (each.join(", "), all.first().map_or("", |it| it.reason.as_str()))
}

/// Verdicts that occurred, with their numbers.
pub(super) fn verdicts(it: &ObjectiveSummary) -> Vec<(ObjectiveVerdict, u32)> {
    let all = [
        (ObjectiveVerdict::Met, it.met),
        (ObjectiveVerdict::Violated, it.violated),
        (ObjectiveVerdict::Unknown, it.unknown),
    ];
    all.into_iter().filter(|it| it.1 > 0).collect()
}

/// An objective's figure: `5.47 ms`, or `> 6 s` if only a lower bound is known.
pub(super) fn measured(numbers: &Numbers, it: &ObjectiveResult, value: f64) -> String {
    let value = match it.unit {
        ObjectiveUnit::Seconds => numbers.seconds(value),
        ObjectiveUnit::Share => numbers.percent(value, 3),
        ObjectiveUnit::PerSecond => numbers.fixed(value, 1) + &numbers.per_second,
    };
    match (it.at_least, it.unit) {
        (false, _) => value,
        (true, ObjectiveUnit::Seconds) => format!(">{}{value}", numbers.gap),
        (true, _) => format!("≥{}{value}", numbers.gap),
    }
}
