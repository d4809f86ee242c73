//! Section with facts that limit the validity of the figures

use super::context::PageContext;
use super::objectives::distinct;
use crate::view::{Block, Line, Tone};
use model::matrix::{TrialStatus, UnappliedLimit};
use model::run_result::TrialResult;
use model::validity::{Doubt, InvalidReason};
use std::mem::discriminant;

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let items = lines(case);
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

/// Lists unapplied limits, excluded trials, doubts about the other trials, fired stop rules, and notes.
pub fn lines(case: &PageContext<'_>) -> Vec<Line> {
    let (account, lang) = (case.account, case.lang);
    let trials = || account.trials.iter().filter(|it| it.status.is_some());
    let total = trials().count();
    let bad = |text| Line { text, tone: Tone::Bad };
    let doubtful = |text| Line { text, tone: Tone::Doubt };
    let mut items = Vec::new();
    for same in not_applied(case) {
        items.push(doubtful(lang.not_applied(&same)));
    }
    let mut reasons: Vec<(&InvalidReason, usize)> = Vec::new();
    let failed = |it: &&TrialResult| matches!(it.status, Some(TrialStatus::Failed { .. }));
    for reason in trials().filter(|it| !it.valid && !failed(it)).flat_map(|it| &it.reasons) {
        match reasons.iter_mut().find(|it| discriminant(it.0) == discriminant(reason)) {
            Some(known) => known.1 += 1,
            None => reasons.push((reason, 1)),
        }
    }
    items.extend(reasons.iter().map(|(it, count)| bad(lang.left_out(*count, total, &lang.reason(it)))));
    let lost = trials().filter(|it| !it.valid && (it.reasons.is_empty() || failed(it)));
    let lost = lost.filter_map(|it| it.status.as_ref());
    let lost: Vec<String> = lost.map(|it| lang.status(it)).collect();
    for status_text in distinct(lost.iter().cloned()) {
        let count = lost.iter().filter(|it| **it == status_text).count();
        items.push(bad(lang.left_out(count, total, &status_text)));
    }
    let line = |(doubt, clients, count): &(&Doubt, u32, usize)| {
        doubtful(lang.in_trials(*count, total, &lang.doubt(doubt, *clients)))
    };
    items.extend(doubts(case).iter().map(line));
    let fired = trials().filter(|it| matches!(it.status, Some(TrialStatus::Stopped { .. })));
    for trial in fired {
        let name = lang.trial(case.name(trial.cell), trial.repetition + 1);
        items.extend(trial.stop.as_ref().map(|fired| doubtful(format!("{name}: {}", lang.fired(fired)))));
    }
    let notes: Vec<String> =
        trials().flat_map(|it| distinct(it.notes.iter().map(|note| lang.note(note)))).collect();
    // Keep only the first of the notes that differ only in their figures.
    let mut kinds: Vec<(String, &String, usize)> = Vec::new();
    for note in &notes {
        let kind = note.replace(|it: char| it.is_ascii_digit() || it == '.', "");
        match kinds.iter_mut().find(|it| it.0 == kind) {
            Some(known) => known.2 += 1,
            None => kinds.push((kind, note, 1)),
        }
    }
    let line = |(_, note, count): &(String, &String, usize)| Line {
        text: lang.in_trials((*count).min(total), total, note),
        tone: Tone::Faint,
    };
    items.extend(kinds.iter().map(line));
    items
}

/// Doubts about valid trials, one per kind: the doubt with the figures of the worst trial, that trial's number of
/// clients, and the number of trials with the doubt.
fn doubts<'a>(case: &PageContext<'a>) -> Vec<(&'a Doubt, u32, usize)> {
    let matrix = &case.account.matrix;
    let mut doubts: Vec<(&Doubt, u32, usize)> = Vec::new();
    for trial in case.account.trials.iter().filter(|trial| trial.valid) {
        let clients = matrix.rows.get(trial.cell).map_or(0, |row| row.clients);
        for (number, doubt) in trial.doubts.iter().enumerate() {
            // Count a trial once, even if several threads have doubts of the same kind.
            if trial.doubts[..number].iter().any(|other| other.is_like(doubt)) {
                continue;
            }
            if let Some(known) = doubts.iter_mut().find(|known| known.0.is_like(doubt)) {
                known.2 += 1;
                continue;
            }
            let worst = matrix.doubts.iter().find(|summary| summary.doubt.is_like(doubt));
            let (doubt, clients) =
                worst.map_or((doubt, clients), |summary| (&summary.doubt, summary.clients));
            doubts.push((doubt, clients, 1));
        }
    }
    doubts
}

/// Groups the limits that were not applied by reason.
fn not_applied<'a>(case: &PageContext<'a>) -> Vec<Vec<&'a UnappliedLimit>> {
    let mut all: Vec<&UnappliedLimit> =
        case.account.matrix.rows.iter().flat_map(|it| &it.unapplied_limits).collect();
    all.sort();
    all.dedup();
    let mut groups: Vec<Vec<&UnappliedLimit>> = Vec::new();
    for limit in all {
        match groups.iter_mut().find(|group| group[0].reason == limit.reason) {
            Some(group) => group.push(limit),
            None => groups.push(vec![limit]),
        }
    }
    groups
}
