//! Search for the maximum load: next step and result
//!
//! ```text
//!  next(max, start, done) ──Measure(step)──▶ one trial ──▶ judge(step, summary, …) ──StepResult──▶ done
//!         └──Done──▶ answer(max, done)
//! ```
//!
//! All functions are pure functions of the trials so far, so an interrupted search resumes where it stopped. The stages
//! are:
//!
//! 1. *Ramp*: geometric steps up to the first overloaded level.
//! 2. *Narrow*: every trial is a vote for or against its level, not a verdict. From the votes, [`belief`] estimates the
//!    *edge*, the level at which half of the trials hold. The next trial has the level whose result is least certain.
//!    The throughput of an overloaded level gives the first estimate.
//! 3. *Hold*: a longer trial, on a fresh state, at a level that should hold in four of five trials. A failure is
//!    another vote, and the search continues at a lower level. If votes contradict each other by more than the
//!    precision, two of three trials must hold. Trials of one window each then repeat the level until they exclude that
//!    the system has a slower state. If it has one, the level of that state is the result.
//!
//! The search rests after two overloaded levels in a row, because some systems stay slow until the load drops.
//!
//! An invalid trial is repeated once. If it is invalid again, its level is a ceiling. The search then finds a maximum
//! only if trials at a level below the ceiling did not hold.

mod belief;
mod judge;
mod proof;
mod rounds;
mod track;

pub use judge::{SecondSummary, judge};
pub use proof::{SearchRun, interleave, is_decided, proof, prove};
pub use rounds::combine;

use crate::strategy::search::track::{Bracket, NextAction, SearchEnd, SearchTrack};
use model::plan::MaxSearch;
use model::search::{LevelOutcome, OverloadReason, SearchResult, SearchStep, StepPurpose, StepResult};
use model::{Nanos, PerSecond};
use std::iter::Sum;

/// Next step of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// Measure this step, judge it, append the result and call `next` again.
    Measure(SearchStep),
    /// The search has ended; call [`answer`].
    Done,
}

/// Next step of one search. A search measures one subject (the unchanged cell, or the cell with one perturbation) in
/// one round.
///
/// `start` is the first level (`max.from`, or the level of the cell's load). If it is close to the maximum, the search
/// is short. `done` lists this search's trials in the order of measurement. The step has the perturbation and the round
/// of `done[0]`. If `done` is empty, it has no perturbation and round 0, which callers with several searches replace.
pub fn next(max: &MaxSearch, start: f64, done: &[StepResult]) -> NextStep {
    let track = SearchTrack::new(max, start, done);
    let (level, stage, window) = match track.next_action() {
        NextAction::Measure { level, stage } => (level, stage, track.window(level, stage)),
        NextAction::Rest { level } => (level, StepPurpose::Rest, track.rest()),
        NextAction::End(_) => return NextStep::Done,
    };
    let (perturbation, round) =
        done.first().map_or((None, 0), |it| (it.step.perturbation.clone(), it.step.round));
    NextStep::Measure(SearchStep { scale: max.scale, level, purpose: stage, window, perturbation, round })
}

/// Result of the search so far. The result of an unfinished search has no level and no stop reason, but it has the
/// interval, if known.
pub fn answer(max: &MaxSearch, done: &[StepResult]) -> SearchResult {
    let start = done.first().map_or(0.0, |it| it.step.level);
    let track = SearchTrack::new(max, start, done);
    let Bracket { sustained, failed, fully_sustained } = track.bracket(None);
    let mut result = SearchResult {
        scale: max.scale,
        level: None,
        interval: track.interval(),
        delivered: None,
        confirmations: (0, 0),
        overload: None,
        stop_reason: None,
        sustained,
        failed,
        fully_sustained,
        trials: done.len() as u32,
        measured: done.iter().fold(Nanos::ZERO, |sum, it| sum + it.step.window),
    };
    match track.next_action() {
        NextAction::Measure { .. } | NextAction::Rest { .. } => {}
        NextAction::End(SearchEnd::Stopped(reason)) => {
            result.interval = None;
            result.stop_reason = Some(reason);
        }
        NextAction::End(SearchEnd::Held { level, beyond }) => {
            let is_hold = |it: &&StepResult| it.step.purpose == StepPurpose::Hold && it.step.level == level;
            let holds: Vec<&StepResult> = done.iter().filter(is_hold).collect();
            let held: Vec<&StepResult> =
                holds.iter().filter(|it| it.outcome == LevelOutcome::Sustained).copied().collect();
            result.confirmations = (held.len() as u32, holds.len() as u32);
            result.delivered = held.last().map(|it| it.delivered);
            result.level = Some(level);
            let Bracket { sustained, failed, fully_sustained } = track.bracket(Some(level));
            (result.sustained, result.failed) = (sustained, failed);
            result.fully_sustained = fully_sustained;
            result.interval = result.interval.map(|(low, high)| (low.min(level), high.max(level)));
            result.overload = overload_reason(&track, level);
            if let Some(reason) = beyond {
                result.interval = None;
                result.stop_reason = Some(reason);
            }
        }
    }
    result
}

/// Maximum number of steps in a forecast.
const FORECAST_STEPS_MAX: u32 = 100;

/// Expected further steps of one search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    pub steps: u32,
    /// Time under load of these steps, without set-up.
    pub load: Nanos,
}

impl Sum for Forecast {
    fn sum<I: Iterator<Item = Forecast>>(all: I) -> Forecast {
        all.fold(Forecast::default(), |sum, forecast| Forecast {
            steps: sum.steps + forecast.steps,
            load: sum.load + forecast.load,
        })
    }
}

/// Forecast of one search. It assumes that the edge is in the middle of the levels between which it is now known to be.
/// `None` as long as no level was sustained or none failed.
pub fn forecast(max: &MaxSearch, start: f64, done: &[StepResult]) -> Option<Forecast> {
    let SearchResult { sustained, failed, .. } = answer(max, done);
    let edge = (sustained?.level * failed?.level).sqrt();
    let mut steps = done.to_vec();
    let mut forecast = Forecast::default();
    while let NextStep::Measure(step) = next(max, start, &steps) {
        if forecast.steps == FORECAST_STEPS_MAX {
            return None;
        }
        forecast.steps += 1;
        forecast.load += step.window;
        let outcome = if step.level <= edge {
            LevelOutcome::Sustained
        } else {
            LevelOutcome::NotSustained { reason: OverloadReason::Objective { text: String::new() } }
        };
        let delivered = PerSecond(step.level.min(edge));
        steps.push(StepResult {
            step,
            outcome,
            delivered,
            p95: None,
            p99: None,
            mean: None,
            time_objectives: Vec::new(),
        });
    }
    Some(forecast)
}

/// Most frequent reason for overload. If several reasons are equally frequent, it is the reason at the level nearest to
/// `level`.
fn overload_reason(track: &SearchTrack<'_>, level: f64) -> Option<OverloadReason> {
    let mut all: Vec<(f64, OverloadReason)> =
        track.trials.iter().filter_map(|it| Some((it.level, it.overload.clone()?))).collect();
    all.sort_by(|a, b| (a.0 - level).abs().total_cmp(&(b.0 - level).abs()));
    let kind = std::mem::discriminant::<OverloadReason>;
    let often = |it: &OverloadReason| all.iter().filter(|other| kind(&other.1) == kind(it)).count();
    let most = all.iter().map(|it| often(&it.1)).max()?;
    all.iter().find(|it| often(&it.1) == most).map(|it| it.1.clone())
}

#[cfg(test)]
mod systems;
#[cfg(test)]
mod tests;
