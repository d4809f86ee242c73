//! English: the answer of a run, in one sentence.

use super::En;
use super::page::count;
use crate::lang::page::{ObjectiveCounts, ObjectiveLevel, OpenModelAnswer, PageAnswer, TrialCounts};
use crate::page::number::format;
use model::matrix::{BaselineComparison, ChangeVerdict};

pub fn answer(it: &PageAnswer<'_>) -> String {
    match it {
        PageAnswer::NotYet => "No answer yet: no trial has ended.".to_owned(),
        PageAnswer::Nothing { why, of } => {
            let none = match of {
                1 => "its one trial does not count".to_owned(),
                of => format!("none of {of} trials counts"),
            };
            format!("No answer: {none}: {why}.")
        }
        PageAnswer::One { held, trials, goals } => {
            let verb = if held.offered.is_some() { "Delivers" } else { "Holds" };
            format!("{verb} {}{}; {}.", rate(held), self::goals(goals), valid(*trials))
        }
        PageAnswer::Many { baseline, best, worst, open, trials, goals } => {
            let mut parts = Vec::new();
            parts.extend(baseline.map(|it| {
                let verb = if it.offered.is_some() { "delivers" } else { "holds" };
                let idle = if it.idle { ", though not all of its clients did their work" } else { "" };
                format!("{} (the baseline) {verb} {}{idle}", it.name, rate(it))
            }));
            if let Some(it) = best {
                // The only other one is neither best nor worst.
                let how = match (worst, baseline) {
                    (None, _) => "holds",
                    (Some(_), Some(_)) => "is the best of the others with",
                    (Some(_), None) => "is the best with",
                };
                parts.push(format!("{} {how} {}", it.name, beside(it)));
            }
            if let Some(it) = worst {
                parts.push(format!("{} is the worst with {}", it.name, beside(it)));
            }
            parts.extend(open.map(|it| opened(it)));
            format!("{}{}; {}.", parts.join("; "), self::goals(goals), valid(*trials))
        }
    }
}

/// `21570 transactions per second (95 %: 21400 to 21700, 5 runs), p99 12.3 ms`.
fn rate(it: &ObjectiveLevel<'_>) -> String {
    let offered = it.offered.map_or(String::new(), |it| format!(" of {} offered", format(it, &En)));
    format!("{}{offered} transactions per second{}{}", format(it.tps, &En), sure(it), tail(it))
}

/// The same beside the baseline, without the unit.
fn beside(it: &ObjectiveLevel<'_>) -> String {
    let against = it.against.map_or(String::new(), |it| against(&it));
    format!("{}{}{}{against}", format(it.tps, &En), sure(it), tail(it))
}

/// What open cells hold of what is offered.
fn opened(it: &OpenModelAnswer<'_>) -> String {
    let each = |it: &ObjectiveLevel<'_>| {
        let offered = it.offered.map_or(String::new(), |it| format!(" of {}", format(it, &En)));
        format!("{}{offered}{}{}", format(it.tps, &En), sure(it), tail(it))
    };
    match (it.of, &it.highest, &it.strained) {
        (1, Some(it), _) => format!("{} keeps up with what is offered: {}", it.name, each(it)),
        (1, None, Some(it)) => format!("{} does not keep up with what is offered: {}", it.name, each(it)),
        (of, highest, strained) => {
            let highest = highest
                .as_ref()
                .map_or(String::new(), |it| format!("; most is offered to {}: {}", it.name, each(it)));
            let strained = strained
                .as_ref()
                .map_or(String::new(), |it| format!("; furthest behind is {}: {}", it.name, each(it)));
            let keep = if it.kept_up == 1 { "keeps" } else { "keep" };
            format!("{} of {of} open cells {keep} up with what is offered{highest}{strained}", it.kept_up)
        }
    }
}

fn sure(it: &ObjectiveLevel<'_>) -> String {
    let runs = count(it.runs as usize, "trial");
    match it.interval {
        Some((low, high)) => {
            format!(" (95 %: {} to {}, {runs})", format(low, &En), format(high, &En))
        }
        None => format!(" ({runs})"),
    }
}

fn tail(it: &ObjectiveLevel<'_>) -> String {
    let sign = if it.p99_at_least { "> " } else { "" };
    it.p99.map_or(String::new(), |it| format!(", p99 {sign}{}", En.time(it)))
}

fn against(it: &BaselineComparison) -> String {
    let Some(ratio) = it.ratio else { return String::new() };
    let ratio = En.number(&format!("{ratio:.3}"));
    match it.verdict {
        ChangeVerdict::NoEvidence => format!(", {ratio} of the baseline: no evidence of a difference"),
        ChangeVerdict::Lower => format!(", {ratio} of the baseline: lower"),
        ChangeVerdict::Higher => format!(", {ratio} of the baseline: higher"),
        ChangeVerdict::TooFewRuns => format!(", {ratio} of the baseline: too few trials to tell"),
    }
}

fn goals(it: &ObjectiveCounts) -> String {
    let of = it.kept + it.broken + it.unknown;
    match (of, it.broken, it.unknown) {
        (0, ..) => String::new(),
        (1, 0, 0) => "; its objective is kept".to_owned(),
        (1, 1, _) => "; its objective is BROKEN".to_owned(),
        (1, ..) => "; its objective cannot be judged".to_owned(),
        (_, 0, 0) => format!("; all {of} objectives are kept"),
        (_, 0, unknown) => format!("; {unknown} of {} cannot be judged", count(of, "objective")),
        (_, 1, _) => format!("; 1 of {of} objectives is BROKEN"),
        (_, broken, _) => format!("; {broken} of {of} objectives are BROKEN"),
    }
}

fn valid(it: TrialCounts) -> String {
    match (it.valid, it.of, it.outage) {
        (1, 1, Some((lasting, _))) => {
            format!("its trial is valid with doubts: nothing succeeded for {}", En.time(lasting))
        }
        (valid, of, Some((lasting, trials))) => format!(
            "{valid} of {of} trials are valid, {trials} of them with doubts: nothing succeeded for up to {}",
            En.time(lasting)
        ),
        (valid, of, None) => plainly_valid(valid, of),
    }
}

fn plainly_valid(valid: usize, of: usize) -> String {
    match (valid, of) {
        (1, 1) => "its trial is valid".to_owned(),
        (valid, of) if valid == of => "all trials are valid".to_owned(),
        (valid, of) => format!("{valid} of {of} trials are valid"),
    }
}
