//! Section on durability and outages under faults

use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns};
use super::maximum::capitalise;
use super::{TRIALS_SHOWN_MAX, fault_phases};
use crate::lang::Lang;
use crate::lang::failover::FaultKind;
use crate::say;
use crate::view::{Block, Column, Line, Row, Table, Tone};
use model::durability::{
    AccessKind, Anomaly, AnomalyKind, ClientKind, Conclusion, DurabilityVerdict, InconclusiveReason,
};
use model::fault_injection::{DurationRange, FailoverResult, FaultInjection};
use model::objective::ObjectiveVerdict;
use model::run_result::{RunState, TrialResult};
use model::{Nanos, run_result::RunResult};

/// Maximum number of trials that are shown without folding.
const TRIALS_SHOWN: usize = 5;
/// Maximum number of cells whose sentences are part of the run's answer. With more cells, the answer contains only the
/// worst cell.
const CELLS_IN_ANSWER_MAX: usize = 3;

/// Blocks with the figures of all cells, followed by each cell and the events of each trial.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut blocks = summary_blocks(case);
    for failover in &case.account.failovers {
        let lists = trials(case.account, failover).map(|its| its.filter_map(|it| trial(case, it)).collect());
        let mut lists: Vec<Vec<Line>> = lists.filter(|it: &Vec<Line>| !it.is_empty()).collect();
        if lists.iter().map(Vec::len).sum::<usize>() <= TRIALS_SHOWN_MAX && lists.len() > 1 {
            lists = vec![lists.concat()];
        }
        if !lists.is_empty() {
            let text = case.name(failover.cell).to_owned();
            let name =
                (!text.is_empty() && has_several_cells(case)).then_some(Line { text, tone: Tone::Plain });
            blocks.extend(name.map(Block::Text));
            blocks.extend(lists.into_iter().flat_map(|it| fold_trials(it, case.lang)));
        }
        blocks.extend(trials(case.account, failover).flatten().flat_map(|trial| logs(trial, case.lang)));
    }
    blocks
}

/// Shows the first trials and all trials with a broken promise, and folds the other trials.
fn fold_trials(items: Vec<Line>, lang: &Lang) -> Vec<Block> {
    if items.len() <= TRIALS_SHOWN_MAX {
        return vec![Block::List { items }];
    }
    let shown = |(number, it): &(usize, Line)| *number < TRIALS_SHOWN || it.tone == Tone::Bad;
    let (first, rest): (Vec<_>, Vec<_>) = items.into_iter().enumerate().partition(shown);
    let lines =
        |lines: Vec<(usize, Line)>| Block::List { items: lines.into_iter().map(|(_, line)| line).collect() };
    let name = lang.more_trials(rest.len());
    let rest = (!rest.is_empty()).then(|| Block::Details { name, blocks: vec![lines(rest)] });
    [Some(lines(first)), rest].into_iter().flatten().collect()
}

/// Builds the section without the events of each trial.
pub(crate) fn summary_blocks(case: &PageContext<'_>) -> Vec<Block> {
    let lang = case.lang;
    let mut blocks: Vec<Block> = figures(case).map(Block::Table).into_iter().collect();
    let mut controls = Vec::new();
    for failover in &case.account.failovers {
        let text = |text, tone| Block::Text(Line { text, tone });
        blocks.push(Block::Text(line(case, failover)));
        blocks.extend(failover.recovery_point.map(|it| text(lang.recovery_point(&it), Tone::Plain)));
        blocks.extend(failover.invariants.iter().map(|invariant| {
            let tone = match invariant {
                _ if invariant.violations > 0 => Tone::Bad,
                _ if invariant.readings == 0 => Tone::Doubt,
                _ => Tone::Good,
            };
            text(lang.invariant(invariant), tone)
        }));
        blocks.extend(failover.objectives.iter().map(|objective| {
            let tone = match objective.verdict {
                ObjectiveVerdict::Met => Tone::Good,
                ObjectiveVerdict::Violated => Tone::Bad,
                ObjectiveVerdict::Unknown => Tone::Doubt,
            };
            text(capitalise(&lang.judged(objective)), tone)
        }));
        // Cells may share a control.
        let control = failover.control.filter(|it| !controls.contains(&it.cell));
        controls.extend(control.map(|it| it.cell));
        blocks.extend(control.map(|control| {
            let tone = if control.lossy_trials == 0 { Tone::Doubt } else { Tone::Plain };
            text(lang.control_summary(&control, case.name(control.cell)), tone)
        }));
        let reported = usize::from(failover.conclusion == Some(Conclusion::Unknown));
        if failover.doubts.len() > reported {
            let doubt = |it| Line { text: lang.inconclusive_reason(it), tone: Tone::Doubt };
            blocks.push(Block::List { items: failover.doubts.iter().map(doubt).collect() });
        }
        let unclosed = failover
            .doubts
            .iter()
            .any(|it| matches!(it, InconclusiveReason::LedgerOpen | InconclusiveReason::LedgerTorn { .. }));
        let unresolved = Some(failover.counts.unresolved).filter(|it| *it > 0 && unclosed);
        blocks.extend(unresolved.map(|writes| text(lang.unresolved_writes(writes), Tone::Doubt)));
        blocks.extend(findings(case, failover).map(Block::Table));
        blocks.extend(fault_phases::table(case, failover.cell).map(Block::Table));
    }
    blocks
}

/// Builds the run's answer about faults. It covers all cells if there are only a few, otherwise the worst cell.
pub fn answer(case: &PageContext<'_>) -> Option<Line> {
    let survivals = &case.account.failovers;
    let worst = survivals.iter().map(rank).min()?;
    let many = survivals.len() > CELLS_IN_ANSWER_MAX;
    let lines: Vec<Line> =
        survivals.iter().filter(|it| !many || rank(it) == worst).map(|it| line(case, it)).collect();
    let text = lines.iter().take(CELLS_IN_ANSWER_MAX).map(|it| it.text.clone()).collect::<Vec<_>>().join(" ");
    let complete = case.account.info.state == RunState::Complete;
    let tone = match worst {
        0 => Tone::Bad,
        2 if !complete => Tone::Doubt,
        2 if survivals.iter().any(|it| it.lost > 0) => Tone::Plain,
        2 => Tone::Good,
        _ => Tone::Doubt,
    };
    Some(Line { text, tone })
}

/// Sort key of a result, worst first: broken, not proven, kept.
fn rank(result: &FailoverResult) -> u8 {
    match result.conclusion {
        Some(Conclusion::Broken) => 0,
        Some(Conclusion::Unknown) | None => 1,
        Some(Conclusion::Kept) => 2,
    }
}

/// Tone of a result. A loss without a promise is neither good nor bad.
fn tone(result: &FailoverResult) -> Tone {
    match rank(result) {
        0 => Tone::Bad,
        2 if result.lost > 0 => Tone::Plain,
        2 => Tone::Good,
        _ => Tone::Doubt,
    }
}

/// True if there are several cells other than controls.
pub(super) fn has_several_cells(case: &PageContext<'_>) -> bool {
    case.account.experiment.cells.iter().filter(|it| it.control_of.is_none()).count() > 1
}

fn line(case: &PageContext<'_>, result: &FailoverResult) -> Line {
    let name = if has_several_cells(case) { case.name(result.cell) } else { "" };
    let text = case.lang.failover_result(result, name);
    Line { text: if name.is_empty() { capitalise(&text) } else { text }, tone: tone(result) }
}

/// Builds a table with one row per cell.
fn figures(case: &PageContext<'_>) -> Option<Table> {
    let survivals: Vec<&FailoverResult> = case.account.failovers.iter().collect();
    let lang = case.lang;
    let count = |it: u64| lang.number(&it.to_string());
    let spread = |range: Option<DurationRange>| range.map_or(String::new(), |range| range_text(&range, lang));
    let has_ledger = |result: &FailoverResult| result.conclusion.is_some();
    let ledger =
        |result: &FailoverResult, value: u64| if has_ledger(result) { count(value) } else { String::new() };
    let local = |result: &FailoverResult| {
        result
            .anomalies
            .iter()
            .find(|anomaly| anomaly.kind == AnomalyKind::LostLocal)
            .map_or(0, |anomaly| anomaly.count)
    };
    let outage = |access: AccessKind, client: ClientKind, rank| -> FigureColumn<'_, FailoverResult> {
        let (is_read, is_new) = (access == AccessKind::Read, client == ClientKind::New);
        let heading = say!(lang, "failover-column-outage", is_read, is_new);
        let text = move |result: &FailoverResult| {
            let outage = result.find_outage(client, access);
            outage
                .map_or(String::new(), |it| lang.lower_bound(range_text(&it.duration, lang), it.ongoing > 0))
        };
        (heading, rank, Box::new(text))
    };
    let all: Vec<FigureColumn<'_, FailoverResult>> = vec![
        (say!(lang, "failover-column-failovers"), 0, Box::new(|it| count(it.failovers.into()))),
        (say!(lang, "failover-column-acknowledged"), 2, Box::new(|it| ledger(it, it.counts.acknowledged))),
        (
            say!(lang, "failover-column-lost"),
            0,
            Box::new(|result| match result.known_loss() {
                Some(lost) => ledger(result, lost),
                None => say!(lang, "failover-not-read"),
            }),
        ),
        (say!(lang, "failover-column-lost-locally"), 3, Box::new(|it| ledger(it, local(it)))),
        (
            say!(lang, "failover-column-unknown"),
            5,
            Box::new(|result| match result.counts.unknown {
                0 => ledger(result, 0),
                unknown => format!("{} ({})", count(unknown), count(result.counts.unknown_present)),
            }),
        ),
        (say!(lang, "failover-column-refused"), 6, Box::new(|it| ledger(it, it.counts.failed))),
        (say!(lang, "failover-column-misrouted"), 7, Box::new(|it| ledger(it, it.counts.misrouted))),
        outage(AccessKind::Write, ClientKind::New, 1),
        outage(AccessKind::Write, ClientKind::Connected, 2),
        outage(AccessKind::Read, ClientKind::New, 4),
        outage(AccessKind::Read, ClientKind::Connected, 5),
        (say!(lang, "failover-column-promoted"), 3, Box::new(|it| spread(it.promoted))),
        (say!(lang, "failover-column-healthy"), 4, Box::new(|it| spread(it.healthy))),
        (say!(lang, "failover-column-rejoined"), 4, Box::new(|it| spread(it.rejoined))),
        (
            say!(lang, "failover-column-control"),
            2,
            Box::new(|result| result.control.map_or(String::new(), |control| count(control.lost))),
        ),
    ];
    survivals.first()?;
    let first = Column { heading: say!(lang, "failover-column-cell"), ..Column::default() };
    let mut table =
        non_empty_columns((first, |it: &FailoverResult| case.name(it.cell).to_owned()), all, &survivals);
    if survivals.iter().any(|it| has_ledger(it)) {
        let heading = say!(lang, "failover-column-conclusion");
        table.columns.insert(1, Column { heading, ..Column::default() });
        for (row, survival) in table.rows.iter_mut().zip(&survivals) {
            row.cells.insert(1, survival.conclusion.map_or(String::new(), |it| lang.conclusion(it)));
            row.tone = tone(survival);
        }
    }
    if !has_several_cells(case) {
        table.columns.remove(0);
        table.rows.iter_mut().for_each(|it| drop(it.cells.remove(0)));
    }
    Some(table)
}

/// Formats the median, and the range if the values differ.
fn range_text(range: &DurationRange, lang: &Lang) -> String {
    let [least, median, greatest] = [range.min, range.median, range.max].map(|it| lang.time(it));
    if range.min == range.max {
        median
    } else {
        format!("{median} [{least}{}{greatest}]", lang.numbers().among())
    }
}

fn findings(case: &PageContext<'_>, result: &FailoverResult) -> Option<Table> {
    result.anomalies.first()?;
    let lang = case.lang;
    let text = |heading| Column { heading, ..Column::default() };
    let row = |anomaly: &Anomaly| {
        let examples: Vec<String> = anomaly
            .examples
            .iter()
            .map(|example| format!("{}/{}", example.session, example.sequence))
            .collect();
        Row {
            cells: vec![
                lang.anomaly(anomaly.kind),
                lang.number(&anomaly.count.to_string()),
                lang.anomaly_meaning(anomaly.kind),
                examples.join(", "),
            ],
            tone: match anomaly.kind {
                kind if kind.is_violation() => Tone::Bad,
                AnomalyKind::LostAmbiguous => Tone::Doubt,
                _ => Tone::Plain,
            },
            baseline: false,
        }
    };
    Some(Table {
        caption: say!(lang, "failover-caption-anomalies"),
        columns: vec![
            text(say!(lang, "failover-column-anomaly")),
            Column { numeric: true, ..text(say!(lang, "failover-column-count")) },
            Column { drop_order: 1, ..text(say!(lang, "failover-column-meaning")) },
            Column { drop_order: 2, ..text(say!(lang, "failover-column-examples")) },
        ],
        rows: result.anomalies.iter().map(row).collect(),
        notes: Vec::new(),
    })
}

/// Lists a cell's trials, followed by the trials of its control.
fn trials<'a>(
    account: &'a RunResult,
    result: &FailoverResult,
) -> impl Iterator<Item = impl Iterator<Item = &'a TrialResult>> {
    let cells = [Some(result.cell), result.control.map(|it| it.cell)];
    cells.into_iter().flatten().map(|cell| account.trials.iter().filter(move |it| it.cell == cell))
}

/// Formats the events of a trial in one line.
fn trial(case: &PageContext<'_>, trial: &TrialResult) -> Option<Line> {
    let (lang, faults) = (case.lang, trial.fault_injection.as_ref()?);
    let at = |at: Nanos, text: String| (at, format!("{} – {text}", lang.time(at)));
    let mut moments: Vec<(Nanos, String)> = Vec::new();
    let done = faults.injected.iter();
    moments.extend(done.map(|fault| {
        at(fault.at, lang.injected_fault(FaultKind::from_action(&fault.action), &fault.nodes, fault.reverted))
    }));
    moments.extend(faults.promotions.iter().map(|it| at(it.at, lang.promotion(it))));
    moments.extend(faults.dual_primaries.iter().map(|it| at(it.from, lang.dual_primary(it))));
    moments.extend(faults.rejoins.iter().map(|it| at(it.at, lang.rejoin(it))));
    moments.sort_by_key(|it| it.0);
    let mut parts: Vec<String> = moments.into_iter().map(|it| it.1).collect();
    parts.extend(faults.read_backs.iter().map(|it| lang.read_back(it)));
    if let Some(verdict) = &faults.verdict {
        let found = verdict.anomalies.iter();
        parts.extend(
            found.map(|it| format!("{}: {}", lang.anomaly(it.kind), lang.number(&it.count.to_string()))),
        );
        parts.extend(doubts(verdict).map(|it| lang.inconclusive_reason(it)));
    }
    parts.extend(faults.errors.iter().map(|it| first_line(&lang.message(it)).0.to_owned()));
    let is_control = case.account.experiment.cells.get(trial.cell).is_some_and(|it| it.control_of.is_some());
    let name = if is_control { case.name(trial.cell) } else { "" };
    let text = format!("{}: {}", lang.trial(name, trial.repetition + 1), parts.join("; "));
    Some(Line { text, tone: tone_of(faults) })
}

/// Splits an error into its message and the log that follows the message.
fn first_line(error: &str) -> (&str, &str) {
    error.split_once('\n').unwrap_or((error, ""))
}

/// Builds folded logs of a trial's errors.
fn logs(trial: &TrialResult, lang: &Lang) -> impl Iterator<Item = Block> {
    let errors = trial.fault_injection.iter().flat_map(|it| &it.errors);
    errors.filter_map(|error| {
        let error = lang.message(error);
        let (name, text) = first_line(&error);
        let (name, text) = (name.to_owned(), text.to_owned());
        (!text.is_empty()).then_some(Block::Code { name, text, folded: true })
    })
}

/// Lists the doubts about a single trial. Doubts about a control are omitted, because a single trial has no control.
fn doubts(verdict: &DurabilityVerdict) -> impl Iterator<Item = &InconclusiveReason> {
    use InconclusiveReason::{ControlLostNothing, NoControl};
    verdict.doubts.iter().filter(|it| !matches!(it, NoControl | ControlLostNothing))
}

fn tone_of(injection: &FaultInjection) -> Tone {
    match &injection.verdict {
        Some(verdict) if verdict.conclusion == Conclusion::Broken => Tone::Bad,
        _ if !injection.errors.is_empty() => Tone::Doubt,
        Some(verdict) if doubts(verdict).next().is_some() => Tone::Doubt,
        _ => Tone::Plain,
    }
}
