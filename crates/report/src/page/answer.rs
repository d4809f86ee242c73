//! Question, answer and facts at the top of a page

use super::context::{PageContext, is_open};
use super::{failover, maximum, plateau, soak};
use crate::cells::baseline_name;
use crate::findings::unused_nodes;
use crate::lang::answer::{
    ObjectiveCounts, ObjectiveLevel, OpenModelAnswer, PageAnswer, PairAnswer, PairFigure, TrialCounts,
};
use crate::lang::search::SearchQuestion;
use crate::lang::workload::PageQuestion;
use crate::view::{Line, Tone};
use model::Nanos;
use model::matrix::{Figure, Row, TrialStatus};
use model::plan::Goal;
use model::run_result::RunState;
use model::validity::{Doubt, DoubtSummary};

pub fn question(case: &PageContext<'_>) -> String {
    let experiment = &case.account.experiment;
    let axes = axes(case);
    let only = experiment.cells.iter().filter(|it| it.control_of.is_none()).count() == 1;
    let way = if only { path(case.account.matrix.rows.first()) } else { String::new() };
    let path = Some(way.as_str()).filter(|path| !path.is_empty());
    let search = match &experiment.goal {
        Goal::Failover => return case.lang.failover_question(path),
        Goal::Once => None,
        Goal::Max(_) => Some(SearchQuestion::Maximum),
        Goal::Confirm(_) | Goal::Soak(_) => Some(SearchQuestion::Endurance),
        Goal::Sweep(_) => Some(SearchQuestion::Plateau),
    };
    if let Some(search) = search {
        return case.lang.search_question(search, path);
    }
    let baseline = baseline_name(&case.account.matrix);
    case.lang.question(&match experiment.cells.as_slice() {
        [one] => PageQuestion::One { path: &way, load: &one.setup.load },
        _ => PageQuestion::Matrix { axes: &axes, baseline: baseline.as_deref() },
    })
}

/// Names of the axes, in the order of the file.
pub fn axes<'a>(case: &PageContext<'a>) -> Vec<&'a str> {
    let mut axes: Vec<&str> = Vec::new();
    for (axis, _) in case.account.matrix.rows.iter().flat_map(|it| &it.label) {
        if !axes.contains(&axis.as_str()) {
            axes.push(axis);
        }
    }
    axes
}

/// Path through the stack: `HTTP service → PostgreSQL`.
fn path(row: Option<&Row>) -> String {
    let products = row.map(|row| row.hops.iter().map(|hop| hop.product).collect::<Vec<_>>());
    products.unwrap_or_default().join(" → ")
}

/// Builds the run's answer. For some goals, it is the maximum, plateau, soak or failover result. For other goals, it
/// consists of the measured figures, and the failover result if faults were injected. Nodes that received no load come
/// last. `doubts` are the doubts that the answer describes.
pub fn answer(case: &PageContext<'_>, doubts: &[DoubtSummary]) -> Line {
    let line = main_answer(case, doubts);
    let unused = unused_nodes(&case.account.findings, |_| true);
    if unused.is_empty() {
        return line;
    }
    let tone = if line.tone == Tone::Bad { Tone::Bad } else { Tone::Doubt };
    Line { text: format!("{} {}", line.text, case.lang.unused_nodes(&unused)), tone }
}

fn main_answer(case: &PageContext<'_>, doubts: &[DoubtSummary]) -> Line {
    match (failover::answer(case), case.account.experiment.goal == Goal::Failover) {
        (Some(it), true) => it,
        (Some(failover), false) => {
            let first = search_answer(case, doubts);
            let tone = match (first.tone, failover.tone) {
                (Tone::Bad, _) | (_, Tone::Bad) => Tone::Bad,
                (Tone::Doubt, _) | (_, Tone::Doubt) => Tone::Doubt,
                (tone, _) => tone,
            };
            Line { text: format!("{} {}", first.text, failover.text), tone }
        }
        (None, _) => search_answer(case, doubts),
    }
}

fn search_answer(case: &PageContext<'_>, doubts: &[DoubtSummary]) -> Line {
    let sought = || maximum::answer(case).or_else(|| plateau::answer(case));
    match (soak::answer(case), sought()) {
        (Some(endured), Some(sought)) => {
            let tone = if endured.tone == Tone::Good { sought.tone } else { endured.tone };
            Line { text: format!("{} {}", sought.text, endured.text), tone }
        }
        (Some(it), None) | (None, Some(it)) => it,
        (None, None) => measured_answer(case, doubts),
    }
}

fn measured_answer(case: &PageContext<'_>, doubts: &[DoubtSummary]) -> Line {
    let account = case.account;
    let ended: Vec<_> = account.trials.iter().filter(|it| it.status.is_some()).collect();
    let valid = || ended.iter().filter(|it| it.valid);
    let trials = TrialCounts {
        valid: valid().count(),
        total: ended.len(),
        doubtful: valid().filter(|it| it.doubts.iter().any(Doubt::is_in_verdict)).count(),
        doubts,
    };
    let objectives = objective_summary(case);
    let baseline = account.matrix.baseline.and_then(|it| objective_levels(case, it));
    let [best, worst] =
        [case.best, case.worst].map(|cell| cell.and_then(|cell| objective_levels(case, cell)));
    let [highest, strained] = [case.open.highest, case.open.strained]
        .map(|cell| cell.and_then(|cell| objective_levels(case, cell)));
    let opened = OpenModelAnswer { kept_up: case.open.kept_up, total: case.open.total, highest, strained };
    let open = Some(&opened).filter(|it| it.highest.is_some() || it.strained.is_some());
    let nothing = baseline.is_none() && best.is_none() && open.is_none();
    if nothing || trials.valid == 0 {
        let Some(first) = ended.first() else {
            return Line { text: case.lang.answer(&PageAnswer::NotYet), tone: Tone::Doubt };
        };
        let cause = match (first.reasons.first(), &first.status) {
            (_, Some(status @ TrialStatus::Failed { .. })) => case.lang.status(status),
            (Some(reason), _) => case.lang.reason(reason),
            (None, Some(status)) => case.lang.status(status),
            (None, None) => case.lang.status(&TrialStatus::Interrupted),
        };
        let answer = PageAnswer::Nothing { reason: &cause, total: trials.total };
        return Line { text: case.lang.answer(&answer), tone: Tone::Bad };
    }
    let [baseline, best, worst] = [&baseline, &best, &worst].map(Option::as_ref);
    let only = baseline.or(best).or(highest.as_ref()).or(strained.as_ref());
    let (mut pairs, uncompared) = pairs(case);
    pairs.retain(|pair| pair.figure() == PairFigure::Throughput);
    let page_answer = match (account.experiment.cells.len(), only) {
        (1, Some(level)) => PageAnswer::One { level, trials, objectives },
        _ if !pairs.is_empty() && account.matrix.baseline.is_none() => {
            PageAnswer::Pairs { pairs: &pairs, uncompared, open, trials, objectives }
        }
        _ => PageAnswer::Many { baseline, best, worst, open, trials, objectives },
    };
    let doubtful = trials.valid < trials.total
        || objectives.unknown > 0
        || account.info.state != RunState::Complete
        || account.trials.iter().any(|it| !it.doubts.is_empty())
        || account.matrix.rows.iter().any(|it| !it.unapplied_limits.is_empty());
    let tone = match (objectives.violated, doubtful) {
        (1.., _) => Tone::Bad,
        (0, true) => Tone::Doubt,
        (0, false) => Tone::Good,
    };
    Line { text: case.lang.answer(&page_answer), tone }
}

/// Pairs of a cell and its baseline, the best change first, and the number of cells that cannot be compared. A pair
/// requires results of the cell and of its baseline, with the same kind of load.
pub(super) fn pairs<'a>(case: &'a PageContext<'_>) -> (Vec<PairAnswer<'a>>, usize) {
    let matrix = &case.account.matrix;
    let rows = matrix.rows.iter().enumerate();
    let compared: Vec<(usize, usize)> = rows.filter_map(|(cell, row)| Some((cell, row.baseline?))).collect();
    let pair = |&(cell, baseline): &(usize, usize)| {
        let with = objective_levels(case, baseline).filter(|_| case.alike(cell, baseline))?;
        Some(PairAnswer { level: objective_levels(case, cell)?, baseline: with })
    };
    let mut pairs: Vec<PairAnswer<'_>> = compared.iter().filter_map(pair).collect();
    let gain = |pair: &PairAnswer<'_>| match (pair.change().and_then(|it| it.ratio), pair.figure()) {
        (Some(ratio), PairFigure::Throughput) => ratio,
        (Some(ratio), PairFigure::P99) => 1.0 / ratio,
        (None, _) => f64::NEG_INFINITY,
    };
    pairs.sort_by(|one, other| gain(other).total_cmp(&gain(one)));
    let uncompared = compared.len() - pairs.len();
    (pairs, uncompared)
}

fn objective_levels<'a>(case: &'a PageContext<'_>, cell: usize) -> Option<ObjectiveLevel<'a>> {
    let account = case.account;
    let row = account.matrix.rows.get(cell)?;
    let tps = row.estimate(Figure::Tps)?;
    let open = is_open(account, cell);
    let total = account.cells.get(cell).and_then(|it| it.total.as_ref());
    let baseline = row.baseline.filter(|it| case.alike(cell, *it));
    let p99 = row.estimate(Figure::P99);
    let is_exact = |cell: usize| {
        let p99 = account.matrix.rows.get(cell).and_then(|row| row.estimate(Figure::P99));
        p99.is_some_and(|it| !it.is_lower_bound)
    };
    let p99_comparable = baseline.is_some_and(|it| is_exact(cell) && is_exact(it));
    Some(ObjectiveLevel {
        cell,
        name: case.name(cell),
        tps: tps.median,
        interval: tps.interval,
        runs: tps.runs,
        offered: total.filter(|_| open).map(|it| it.offered.0),
        p99: p99.map(|it| Nanos::from_secs_f64(it.median)),
        p99_at_least: p99.is_some_and(|it| it.is_lower_bound),
        against: tps.vs_baseline.filter(|_| baseline.is_some() && !open),
        p99_against: p99.and_then(|it| it.vs_baseline).filter(|_| p99_comparable),
        idle: case.left_out(cell),
    })
}

/// Counts each objective once. An objective counts as violated if any trial violates it.
fn objective_summary(case: &PageContext<'_>) -> ObjectiveCounts {
    let mut counts = ObjectiveCounts::default();
    for objective in &case.account.matrix.objectives {
        match (objective.violated, objective.unknown, objective.met) {
            (1.., ..) => counts.violated += 1,
            (0, 0, 1..) => counts.met += 1,
            _ => counts.unknown += 1,
        }
    }
    counts
}

/// Short phrases about the run: start, duration, size.
pub fn facts(case: &PageContext<'_>) -> Vec<String> {
    let (about, lang) = (&case.account.info, case.lang);
    let mut facts = vec![about.name.clone(), lang.moment(about.started_ms)];
    facts.extend(about.ended_ms.map(|it| lang.span(Nanos::from_millis(it.saturating_sub(about.started_ms)))));
    facts.push(lang.extent(case.account.trials.len(), case.account.experiment.cells.len()));
    facts.push(lang.seed(about.seed));
    facts.push(format!("pgdyno {}", about.pgdyno_version.trim_start_matches("pgdyno ")));
    facts.extend(lang.state(about.state, about.reason.as_ref()));
    facts
}
