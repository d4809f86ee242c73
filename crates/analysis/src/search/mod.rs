//! Which step does a search for the maximum take next, and what did it come to?
//!
//! ```text
//!  next(max, start, done) ──Measure(step)──▶ one trial ──▶ judge(step, summary, …) ──Seen──▶ done
//!         └──Done──▶ answer(max, done)
//! ```
//!
//! Pure functions of the trials so far: asked again with the same ones they say the same, so that a broken search goes on
//! where it stopped.
//!
//! 1. *Ramp*: geometric, until the first level that is too much.
//! 2. *Narrow*: every trial is a vote, not a verdict. [`belief`] holds where the edge may be and how blurred it is; the next
//!    level is where it is least sure. What a failed level delivered says where to begin.
//! 3. *Hold*: a longer trial, on a fresh state, where four of five should hold. If it does not, that is a vote too, and the
//!    search goes on below. Where votes contradicted each other by more than the precision, two of three have to hold. Until
//!    enough trials have shown that the system has no slower state, it is held again, for a window only; where it has one, that
//!    state's level is the answer.
//!
//! After two levels in a row that were too much comes a rest: some systems stay slow until they get one.
//!
//! A trial that says nothing of the system is repeated once. If it is hindered again, its level is a ceiling: an answer needs
//! votes against a level below it, or there is none.

mod belief;
mod judge;
mod proof;
mod rounds;
mod track;

pub use judge::{SecondSummary, judge};
pub use proof::{SearchRun, interleave, is_decided, proof, prove};
pub use rounds::combine;

use crate::search::track::{NextAction, SearchEnd, SearchTrack};
use model::Nanos;
use model::plan::MaxSearch;
use model::search::{LevelOutcome, OverloadReason, SearchResult, SearchStep, StepPurpose, StepResult};

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// Measure this, judge it, put it behind the others and ask again.
    Measure(SearchStep),
    /// [`answer`] knows.
    Done,
}

/// The next step of one search: of one subject (a cell as it is, or with one thing changed) and one round.
///
/// `start` is the first level (`max.from`, or what the cell's load says); close to the answer it makes the search short.
/// `done` are this search's trials in the order in which they were measured. A step has the nudge and the round of
/// `done[0]`, and before that none and 0: whoever searches several sets both.
pub fn next(max: &MaxSearch, start: f64, done: &[StepResult]) -> NextStep {
    let track = SearchTrack::new(max, start, done);
    let (level, stage, window) = match track.next_action() {
        NextAction::Measure { level, stage } => (level, stage, track.window(level, stage)),
        NextAction::Rest { level } => (level, StepPurpose::Rest, track.rest()),
        NextAction::End(_) => return NextStep::Done,
    };
    let (nudge, round) = done.first().map_or((None, 0), |it| (it.step.perturbation.clone(), it.step.round));
    NextStep::Measure(SearchStep {
        scale: max.scale,
        level,
        purpose: stage,
        window,
        perturbation: nudge,
        round,
    })
}

/// What the trials come to. Of a search that is not over: no level, no reason, and the interval as far as it is known.
pub fn answer(max: &MaxSearch, done: &[StepResult]) -> SearchResult {
    let start = done.first().map_or(0.0, |it| it.step.level);
    let track = SearchTrack::new(max, start, done);
    let mut it = SearchResult {
        scale: max.scale,
        level: None,
        interval: track.interval(),
        delivered: None,
        confirmed: (0, 0),
        overload: None,
        stop_reason: None,
        trials: done.len() as u32,
        measured: done.iter().fold(Nanos::ZERO, |sum, it| sum + it.step.window),
    };
    match track.next_action() {
        NextAction::Measure { .. } | NextAction::Rest { .. } => {}
        NextAction::End(SearchEnd::Hindered(why)) => {
            it.interval = None;
            it.stop_reason = Some(why);
        }
        NextAction::End(SearchEnd::Held { level, beyond }) => {
            let here = |it: &&StepResult| it.step.purpose == StepPurpose::Hold && it.step.level == level;
            let holds: Vec<&StepResult> = done.iter().filter(here).collect();
            let held: Vec<&StepResult> =
                holds.iter().filter(|it| it.outcome == LevelOutcome::Yes).copied().collect();
            it.confirmed = (held.len() as u32, holds.len() as u32);
            it.delivered = held.last().map(|it| it.delivered);
            it.level = Some(level);
            it.interval = it.interval.map(|(low, high)| (low.min(level), high.max(level)));
            it.overload = overload_reason(&track, level);
            if let Some(why) = beyond {
                it.interval = None;
                it.stop_reason = Some(why);
            }
        }
    }
    it
}

/// What broke most often; of equals, what broke closest above `level`.
fn overload_reason(track: &SearchTrack<'_>, level: f64) -> Option<OverloadReason> {
    let mut all: Vec<(f64, OverloadReason)> =
        track.trials.iter().filter_map(|it| Some((it.level, it.broke.clone()?))).collect();
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
