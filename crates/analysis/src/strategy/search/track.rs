//! State of a search, derived from its trials so far

mod window;

use super::belief::{EdgeDistribution, TrialVote};
use super::judge::DELIVERED_SHARE_MIN;
use crate::stats::quantile::upper_median;
use model::Nanos;
use model::plan::{LoadScale, MaxSearch};
use model::search::{LevelOutcome, LevelTrials, OverloadReason, SearchStopReason, StepPurpose, StepResult};

/// Factors between the levels of ramp steps. The first factors are small, so that a search that starts near the maximum
/// ends soon. Later steps double the level.
const FACTORS: [f64; 3] = [1.25, 1.6, 2.0];
/// Factor between the numbers of clients of ramp steps. Two steps double the number, so that there are enough points to
/// fit a curve.
const CLIENTS_FACTOR: f64 = std::f64::consts::SQRT_2;
/// Level of a rest, as a share of the highest level that held. After two overloaded trials in a row, a rest lets the
/// system recover.
const REST_LEVEL: f64 = 0.5;
/// Maximum number of invalid trials at one level. `FAILED_TRIES_MAX` applies to failures that are unrelated to the
/// level.
const TRIES_MAX: usize = 2;
const FAILED_TRIES_MAX: usize = 3;
/// Maximum number of steps to lower levels if the first level is overloaded.
const DOWNWARD_STEPS_MAX: usize = 6;
/// Minimum number of arrivals in a window.
const ARRIVALS_MIN: f64 = 20.0;
/// Number of narrowing trials after which the remaining uncertainty is attributed to the system.
const VOTES_MAX: usize = 18;
/// Number of these trials if some trial violated an objective, so that the windows are longer.
const VOTES_OF_TAIL: usize = 14;
/// Maximum number of steps, after which the search ends without a result.
const STEPS_MAX: usize = 60;
/// Half-width of the interval, as a share of the precision, at which confirming trials begin.
const SURE_WIDTH: f64 = 0.85;
/// Required probability that a confirming trial holds.
const SAFE_PROBABILITY: f64 = 0.8;
/// Largest distance of a confirmed level below the estimated edge, as a share of the precision. The distance is
/// limited, because a result that is too low is also wrong.
const BELOW_MEDIAN_MAX: f64 = 0.6;
/// Reduction of the level after a failed confirming trial, as a share of the precision.
const LEVEL_REDUCTION: f64 = 0.4;
/// Maximum number of levels at which confirming trials are made.
const HOLDS_MAX: usize = 4;
/// Threshold for the ratio of a transaction's time with all clients busy to its time at sustained levels. Below it,
/// more clients would increase the throughput.
///
/// N clients, the response time R₀ without load and the demand D of the bottleneck bound the throughput: X ≤ min(N /
/// R₀, 1 / D). If N / R₀ is 1.5 times 1 / D, the throughput is almost 1 / D. Source: Denning and Buzen, "The
/// Operational Analysis of Queueing Network Models" (1978).
const CROWDED_RATIO: f64 = 1.5;
/// Number of trials that exclude a second, slower state of the system if 0, 1, 2 or 3 of the trials were slow. For a
/// system that alternates between two states at random, the exclusion is wrong in one of thirty searches. If no trial
/// was ever slow, `STATE_TRIALS_UNSUSPECTED` trials are enough, which is wrong in one of sixteen searches.
const STATE_TRIALS: [usize; 4] = [5, 8, 11, 14];
const STATE_TRIALS_UNSUSPECTED: usize = 4;
/// Number of steps with more clients after which the throughput counts as flat if no step raised it by more than
/// `GAIN`.
const FLAT_STEPS: usize = 3;
const GAIN: f64 = 0.02;

/// Margins added to the lower and upper end of the interval, as shares of the precision. They are necessary because a
/// short window probably misses rare long delays, and because a drifting system changes later. If the system was
/// sometimes slow, `ALIKE_SUSPECTED` replaces the lower margin. The values were determined on simulated systems, 200 of
/// each kind. The interval contains the true maximum of 196 to 200 systems, and of 189 systems with log-normal service
/// times.
const INTERVAL_MARGINS: (f64, f64) = (0.5, 0.25);
const ALIKE_SUSPECTED: f64 = 1.0;

/// Result of a trial.
#[derive(Clone, Debug)]
pub(super) struct TrackedTrial {
    pub level: f64,
    pub stage: StepPurpose,
    /// True if the level was sustained; `None` if the trial was invalid.
    pub held: Option<bool>,
    pub overload: Option<OverloadReason>,
    pub invalid_reason: Option<SearchStopReason>,
    /// Number of samples that the trial needed for each sample that it had; 1 unless it had too few to be judged.
    pub lacking: f64,
    pub delivered: f64,
    pub window: Nanos,
}

impl TrackedTrial {
    /// True if the trial shows no overload, but had too few samples to count as sustained. Trials that only look for the
    /// next level, or let the system rest, need no result.
    fn is_passed(&self) -> bool {
        self.held.is_none() && self.invalid_reason.is_none()
    }
}

pub(super) struct SearchTrack<'a> {
    max: &'a MaxSearch,
    start: f64,
    pub trials: Vec<TrackedTrial>,
}

/// Next action of the search.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NextAction {
    Measure {
        level: f64,
        stage: StepPurpose,
    },
    /// Rest: a short trial at a level so low that a system recovers.
    Rest {
        level: f64,
    },
    End(SearchEnd),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum SearchEnd {
    /// The level held. `beyond` is the reason why no higher level was tried.
    Held {
        level: f64,
        beyond: Option<SearchStopReason>,
    },
    Stopped(SearchStopReason),
}

/// Levels between which the maximum lies, with the numbers of their trials.
pub(super) struct Bracket {
    /// Found level. If no level was found, the highest level that most of its trials sustained.
    pub sustained: Option<LevelTrials>,
    /// Lowest level above `sustained` that some trial did not sustain.
    pub failed: Option<LevelTrials>,
    /// Highest level below `sustained` that all of its trials sustained. `None` if all trials at the level of
    /// `sustained` sustained it.
    pub fully_sustained: Option<LevelTrials>,
}

/// Counts of trials by speed state, from which a slower state is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SpeedStates {
    slow: usize,
    /// Number of trials that allow a conclusion about the speed state.
    conclusive: usize,
    /// True if any trial was slow, including trials that allow no conclusion.
    suspected: bool,
    /// Level that holds in the slow state, per second.
    delivers: Option<f64>,
}

impl SpeedStates {
    /// True if there are more slow trials than a busy neighbour on the host explains, which affects one trial of
    /// twenty.
    fn has_two_states(self) -> bool {
        self.slow >= 2 && 3 * self.slow >= self.conclusive
            || self.slow >= 3 && 4 * self.slow >= self.conclusive
    }

    /// True if slow trials are so rare that there is no second state.
    fn has_one_state(self) -> bool {
        let beyond = STATE_TRIALS[3] + 3 * self.slow.saturating_sub(3);
        let needed = STATE_TRIALS.get(self.slow).copied().unwrap_or(beyond);
        self.conclusive >= if self.suspected { needed } else { STATE_TRIALS_UNSUSPECTED }
    }
}

impl<'a> SearchTrack<'a> {
    pub fn new(max: &'a MaxSearch, start: f64, done: &[StepResult]) -> SearchTrack<'a> {
        let trials = done.iter().map(|it| read(it, done)).collect();
        SearchTrack { max, start, trials }
    }

    /// Probability distribution of the edge, from all trials; `None` as long as no level was overloaded.
    pub fn belief(&self) -> Option<EdgeDistribution> {
        let mut before = true;
        let mut votes = Vec::new();
        let mut hint = None;
        for trial in &self.trials {
            let Some(held) = trial.held else {
                before |= trial.is_passed();
                continue;
            };
            let overloaded = matches!(
                trial.overload,
                Some(
                    OverloadReason::FellBehind { .. }
                        | OverloadReason::ClientsSaturated { .. }
                        | OverloadReason::InFlightGrows { .. }
                )
            );
            if overloaded && hint.is_none() && trial.delivered > 0.0 && trial.delivered < trial.level {
                hint = Some(trial.delivered);
            }
            votes.push(TrialVote { at: trial.level.ln(), held, after_overload: !before });
            before = held;
        }
        let hint = hint.filter(|_| self.max.scale == LoadScale::Rate);
        votes.iter().any(|it| !it.held).then(|| EdgeDistribution::new(&votes, hint, self.max.precision))
    }

    /// 95 % interval of the edge from all trials, plus a margin for errors that all trials share.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let belief = self.belief()?;
        let (low, high) = belief.interval();
        let precision = self.max.precision;
        let suspected = self.states(belief.quantile(0.5)).suspected;
        let below = if suspected { ALIKE_SUSPECTED } else { INTERVAL_MARGINS.0 };
        Some((low * (1.0 - below * precision), high * (1.0 + INTERVAL_MARGINS.1 * precision)))
    }

    /// Levels between which the maximum lies. `answer` is the found level, if there is one.
    pub fn bracket(&self, answer: Option<f64>) -> Bracket {
        let mut levels: Vec<LevelTrials> = Vec::new();
        for trial in self.trials.iter().filter(|it| it.stage != StepPurpose::Rest) {
            let Some(held) = trial.held else { continue };
            let sustained = u32::from(held);
            match levels.iter_mut().find(|known| self.is_same_level(known.level, trial.level)) {
                Some(known) => {
                    (known.sustained, known.trials) = (known.sustained + sustained, known.trials + 1);
                }
                None => levels.push(LevelTrials { level: trial.level, sustained, trials: 1 }),
            }
        }
        levels.sort_by(|a, b| a.level.total_cmp(&b.level));
        let holds = |votes: &&LevelTrials| match answer {
            Some(level) => self.is_same_level(votes.level, level),
            None => 2 * votes.sustained > votes.trials,
        };
        let sustained = levels.iter().rev().find(holds).copied();
        let fails = |votes: &&LevelTrials| {
            votes.sustained < votes.trials && sustained.is_none_or(|it| votes.level > it.level)
        };
        let lower = |limit: LevelTrials| {
            levels.iter().rev().find(|it| it.level < limit.level && it.sustained == it.trials).copied()
        };
        Bracket {
            sustained,
            failed: levels.iter().find(fails).copied(),
            fully_sustained: sustained.filter(|it| it.sustained < it.trials).and_then(lower),
        }
    }

    pub fn next_action(&self) -> NextAction {
        if let Some(action) = self.retry() {
            return action;
        }
        if self.trials.len() >= STEPS_MAX {
            return end_with(SearchStopReason::Undecided {
                level: self.trials.last().expect("there are sixty trials").level,
            });
        }
        let passed = |it: &&TrackedTrial| it.held == Some(true) || it.is_passed();
        let best = self.trials.iter().filter(passed).map(|it| it.level).fold(0.0, f64::max);
        if !self.trials.iter().any(|it| it.held == Some(false)) {
            return self.ramp_up(best);
        }
        if best == 0.0 { self.ramp_down() } else { self.narrow(best) }
    }

    /// Next action after an invalid trial: repeat its level, or end the search.
    fn retry(&self) -> Option<NextAction> {
        let last = self.trials.last()?;
        let reason = last.invalid_reason.clone()?;
        let in_a_row = self.trials.iter().rev().take_while(|it| it.invalid_reason.is_some()).count();
        let invalid_trials =
            self.trials.iter().filter(|it| it.level == last.level && it.invalid_reason.is_some()).count();
        if matches!(reason, SearchStopReason::Failed { .. } | SearchStopReason::TooFewSamples { .. }) {
            let repeat = NextAction::Measure { level: last.level, stage: last.stage };
            return Some(if in_a_row < FAILED_TRIES_MAX { repeat } else { end_with(reason) });
        }
        if invalid_trials < TRIES_MAX {
            return Some(NextAction::Measure { level: last.level, stage: last.stage });
        }
        None
    }

    /// Lowest level whose trials were invalid too often, with the reason. This level and higher levels have no result.
    fn ceiling(&self) -> Option<(f64, SearchStopReason)> {
        let candidate = |trial: &TrackedTrial| match &trial.invalid_reason {
            Some(SearchStopReason::Failed { .. } | SearchStopReason::TooFewSamples { .. }) | None => None,
            Some(reason) => {
                let is_same_level =
                    |other: &&TrackedTrial| other.level == trial.level && other.invalid_reason.is_some();
                let decided =
                    self.trials.iter().any(|other| other.level == trial.level && other.held.is_some());
                let often = self.trials.iter().filter(is_same_level).count() >= TRIES_MAX;
                (often && !decided).then(|| (trial.level, reason.clone()))
            }
        };
        self.trials.iter().filter_map(candidate).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Next level as long as no level was overloaded.
    fn ramp_up(&self, best: f64) -> NextAction {
        let (max, stage) = (self.max, StepPurpose::Ramp);
        if let Some((ceiling, reason)) = self.ceiling() {
            if best == 0.0 || ceiling / best < 1.0 + max.precision {
                return end_with(reason);
            }
            let middle = self.rounded_level((best * ceiling).sqrt());
            let tried = middle <= best || middle >= ceiling;
            return if tried {
                end_with(reason)
            } else {
                NextAction::Measure { level: middle, stage: StepPurpose::Narrow }
            };
        }
        let most = max.limit.unwrap_or(f64::INFINITY);
        if best == 0.0 {
            return NextAction::Measure { level: self.rounded_level(self.start.min(most)), stage };
        }
        if best >= most {
            return self.confirm(most, Some(SearchStopReason::MaxLevelHeld { level: most }));
        }
        if max.scale == LoadScale::Clients {
            if let Some(peak) = self.saturation_clients() {
                return self.confirm(peak, None);
            }
            let level = self.rounded_level(best * CLIENTS_FACTOR).max(best + 1.0).min(most);
            return NextAction::Measure { level, stage };
        }
        let rise = |it: &&TrackedTrial| it.held != Some(false) && it.stage == StepPurpose::Ramp;
        let rises = self.trials.iter().filter(rise).count();
        let factor = FACTORS[(rises.max(1) - 1).min(FACTORS.len() - 1)];
        NextAction::Measure { level: (best * factor).min(most), stage }
    }

    /// Long trial at a level that held, as long as no overloaded level is known.
    fn confirm(&self, level: f64, beyond: Option<SearchStopReason>) -> NextAction {
        let held =
            |it: &TrackedTrial| it.stage == StepPurpose::Hold && it.level == level && it.held == Some(true);
        if self.trials.iter().any(held) {
            return NextAction::End(SearchEnd::Held { level, beyond });
        }
        NextAction::Measure { level, stage: StepPurpose::Hold }
    }

    /// Number of clients above which throughput does not rise; `None` if the trials do not show it yet.
    fn saturation_clients(&self) -> Option<f64> {
        let mut points: Vec<(f64, f64)> = self
            .trials
            .iter()
            .filter(|it| it.held == Some(true) && it.stage == StepPurpose::Ramp)
            .map(|it| (it.level, it.delivered))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (before, last) = points.split_at_checked(points.len().checked_sub(FLAT_STEPS)?)?;
        let best = before.iter().map(|it| it.1).reduce(f64::max)?;
        let rose = last.iter().any(|it| it.1 > best * (1.0 + GAIN));
        let enough = points.iter().map(|it| it.1).fold(0.0, f64::max) * (1.0 - GAIN);
        (!rose).then(|| points.iter().find(|it| it.1 >= enough).expect("the best point is enough").0)
    }

    /// Next level as long as no level held.
    fn ramp_down(&self) -> NextAction {
        let last =
            self.trials.iter().rev().find(|it| it.held == Some(false)).expect("a level was overloaded");
        let down = self.trials.iter().filter(|it| it.held == Some(false)).count();
        let one = self.max.scale == LoadScale::Clients && last.level <= 1.0;
        let level = self.rounded_level((last.delivered * 0.95).clamp(last.level / 3.0, last.level * 0.9));
        let little =
            level * self.max.window.as_secs_f64() < ARRIVALS_MIN && self.max.scale == LoadScale::Rate;
        if one || down >= DOWNWARD_STEPS_MAX || little {
            return end_with(SearchStopReason::MinLevelFailed { level: last.level });
        }
        if let Some((_, reason)) = self.ceiling().filter(|it| it.0 <= level) {
            return end_with(reason);
        }
        NextAction::Measure { level, stage: StepPurpose::Ramp }
    }

    /// Next level between the levels that held and the levels that did not.
    fn narrow(&self, best: f64) -> NextAction {
        let belief = self.belief().expect("a level was overloaded");
        let (low, high) = belief.interval();
        let precision = self.max.precision;
        let ceiling = self.ceiling();
        let votes: Vec<&TrackedTrial> = self.trials.iter().filter(|it| it.held.is_some()).collect();
        let narrowing =
            votes.iter().filter(|it| !matches!(it.stage, StepPurpose::Ramp | StepPurpose::Rest)).count();
        let sure = (high / low).ln() / 2.0 <= SURE_WIDTH * (1.0 + precision).ln();
        let close =
            self.max.scale == LoadScale::Clients && self.rounded_level(high) - self.rounded_level(low) <= 1.0;
        if !(sure || close) && narrowing < self.votes_max() {
            let (refused, rested) = self.overloads_in_a_row(best);
            if refused >= 2 {
                return NextAction::Rest {
                    level: self.rounded_level(best * REST_LEVEL.powi(refused as i32 - 1)),
                };
            }
            // After an overloaded trial, measure below the median of the edge; after a trial that held, above it.
            let next_level = belief.quantile(if refused == 1 || rested { 0.4 } else { 0.6 });
            let level = self.rounded_level(next_level.min(self.max.limit.unwrap_or(f64::INFINITY)));
            return match ceiling {
                Some((lowest_invalid, reason)) if level >= lowest_invalid => {
                    let middle = self.rounded_level((best.min(lowest_invalid) * lowest_invalid).sqrt());
                    if lowest_invalid / best < 1.0 + precision { end_with(reason) } else { narrow(middle) }
                }
                _ => narrow(level),
            };
        }
        if let Some((lowest_invalid, reason)) = ceiling
            && lowest_invalid <= high
        {
            return end_with(reason);
        }
        self.confirm_edge(&belief, narrowing)
    }

    /// Confirming trial at a level slightly below the edge, or the end of the search.
    fn confirm_edge(&self, belief: &EdgeDistribution, narrowing: usize) -> NextAction {
        let precision = self.max.precision;
        let holds: Vec<&TrackedTrial> =
            self.trials.iter().filter(|it| it.stage == StepPurpose::Hold && it.held.is_some()).collect();
        let middle = belief.quantile(0.5);
        let below = belief
            .safe_level(SAFE_PROBABILITY)
            .max(middle * (1.0 - BELOW_MEDIAN_MAX * precision))
            .min(middle);
        let mut levels: Vec<f64> = holds.iter().map(|it| it.level).collect();
        levels.dedup();
        let Some(level) = levels.last().copied() else {
            return NextAction::Measure { level: self.settled_level(below), stage: StepPurpose::Hold };
        };
        let holds_at_level = || holds.iter().filter(|it| it.level == level);
        let states = self.states(level);
        let slowly = holds_at_level().filter(|it| self.is_slow(it, level)).count();
        let held = holds_at_level().filter(|it| it.held == Some(true)).count();
        let failed = holds_at_level().count() - held - slowly;
        // Number of successful confirming trials required, and number of failures allowed before the first success.
        let doubted = self.is_contradictory() || narrowing >= self.votes_max();
        let (needed, allowed) = if doubted { (2, 1) } else { (1, 0) };
        let repeat = NextAction::Measure { level, stage: StepPurpose::Hold };
        let slower = states.delivers.filter(|it| slowly > 0 && states.has_two_states() && *it < level);
        if slower.is_none() && failed <= allowed.max(held) {
            let enough = held >= needed && held >= 2 * failed;
            return if enough && states.has_one_state() {
                NextAction::End(SearchEnd::Held { level, beyond: None })
            } else {
                repeat
            };
        }
        if levels.len() >= HOLDS_MAX {
            return end_with(SearchStopReason::Undecided { level: middle });
        }
        // If the system was slow even on a fresh state, use a level that holds in its slow state too.
        let below = slower.unwrap_or(below);
        let lowest = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let lower = below.min(lowest * (1.0 - LEVEL_REDUCTION * precision));
        NextAction::Measure { level: self.settled_level(lower), stage: StepPurpose::Hold }
    }

    /// True if some trial violated an objective, such as an objective on p99.
    fn has_tail_objective(&self) -> bool {
        self.trials.iter().any(|it| matches!(it.overload, Some(OverloadReason::Objective { .. })))
    }

    fn votes_max(&self) -> usize {
        if self.has_tail_objective() { VOTES_OF_TAIL } else { VOTES_MAX }
    }

    fn settled_level(&self, level: f64) -> f64 {
        let level = level.min(self.max.limit.unwrap_or(f64::INFINITY));
        if self.max.scale == LoadScale::Clients { level.floor().max(1.0) } else { level }
    }

    /// True if an overloaded trial's throughput was clearly below `level`.
    fn is_slow(&self, trial: &TrackedTrial, level: f64) -> bool {
        let arrivals = trial.level * trial.window.as_secs_f64();
        let rate = self.max.scale == LoadScale::Rate && trial.held == Some(false);
        rate && trial.delivered
            < level * (1.0 - (self.max.precision / 2.0).max(2.5 * (1.2 / arrivals).sqrt()))
    }

    /// Speed states of the trials around and above `level`. A trial directly after an overloaded trial counts only if
    /// it began on a fresh state, because some systems stay slow until they get a rest.
    fn states(&self, level: f64) -> SpeedStates {
        if self.max.scale == LoadScale::Clients {
            // In a closed model, throughput and level have different units.
            return SpeedStates { conclusive: usize::MAX, ..SpeedStates::default() };
        }
        let votes: Vec<&TrackedTrial> =
            self.trials.iter().filter(|it| it.held.is_some() || it.is_passed()).collect();
        let near = |it: &TrackedTrial| it.held.is_some() && (0.98 * level..1.25 * level).contains(&it.level);
        let mut states = SpeedStates::default();
        let mut slow = Vec::new();
        for (at, trial) in votes.iter().enumerate().filter(|it| near(it.1)) {
            let rested = trial.stage == StepPurpose::Hold || at == 0 || votes[at - 1].held != Some(false);
            let is_slow = self.is_slow(trial, level);
            states.suspected |= is_slow;
            if rested {
                states.conclusive += 1;
                slow.extend(is_slow.then_some(trial.delivered));
            }
        }
        states.slow = slow.len();
        states.delivers = upper_median(slow).map(|it| it * 0.99);
        states
    }

    /// Number of overloaded trials since the last trial that held, and true if the last trial was a rest.
    fn overloads_in_a_row(&self, best: f64) -> (usize, bool) {
        let judged = |it: &&TrackedTrial| it.held.is_some() || it.is_passed();
        let mut last = self.trials.iter().rev().filter(judged).peekable();
        // Old versions stored rests as ramp steps.
        let is_rest = |trial: &TrackedTrial| {
            trial.stage == StepPurpose::Rest
                || trial.stage == StepPurpose::Ramp && trial.level <= best * REST_LEVEL
        };
        let rested = last.peek().is_some_and(|it| is_rest(it));
        (last.take_while(|it| it.held == Some(false)).count(), rested)
    }

    /// True if a level held that exceeds an overloaded level by more than the precision.
    fn is_contradictory(&self) -> bool {
        let held = |outcome| self.trials.iter().filter(move |it| it.held == Some(outcome)).map(|it| it.level);
        held(true).any(|yes| held(false).any(|no| yes > no * (1.0 + self.max.precision)))
    }

    /// True if a report, which shows rates with three digits, cannot tell two levels apart. Their trials are counted
    /// together, so that a trial that failed is not missing beside one that held.
    fn is_same_level(&self, a: f64, b: f64) -> bool {
        a == b || self.max.scale == LoadScale::Rate && (a - b).abs() <= 0.005 * a.max(b)
    }

    fn rounded_level(&self, level: f64) -> f64 {
        if self.max.scale == LoadScale::Clients { level.round().max(1.0) } else { level }
    }
}

fn end_with(reason: SearchStopReason) -> NextAction {
    NextAction::End(SearchEnd::Stopped(reason))
}

fn narrow(level: f64) -> NextAction {
    NextAction::Measure { level, stage: StepPurpose::Narrow }
}

/// Interprets the result of a trial. If all clients were busy, the trials that held show whether there were too few
/// clients; see [`CROWDED_RATIO`].
fn read(step: &StepResult, done: &[StepResult]) -> TrackedTrial {
    let trial = |held, overload, invalid_reason| TrackedTrial {
        level: step.step.level,
        stage: step.step.purpose,
        held,
        overload,
        invalid_reason,
        lacking: 1.0,
        delivered: step.delivered.0,
        window: step.step.window,
    };
    match &step.outcome {
        LevelOutcome::Sustained => trial(Some(true), None, None),
        LevelOutcome::NotSustained { reason } => trial(Some(false), Some(reason.clone()), None),
        LevelOutcome::Invalid { reason: SearchStopReason::ClientCap { clients } }
            if lacks_clients(step, *clients, done) =>
        {
            let share = step.delivered.0 / step.step.level;
            // Even if all arrivals were delivered, the clients may be saturated.
            let behind = share < DELIVERED_SHARE_MIN;
            let overload = if behind {
                OverloadReason::FellBehind { share }
            } else {
                OverloadReason::ClientsSaturated { clients: *clients }
            };
            trial(Some(false), Some(overload), None)
        }
        LevelOutcome::Invalid { reason } => {
            let looks = matches!(step.step.purpose, StepPurpose::Ramp | StepPurpose::Rest);
            match reason {
                SearchStopReason::TooFewSamples { samples, needed, .. } => TrackedTrial {
                    lacking: *needed as f64 / (*samples).max(1) as f64,
                    ..trial(None, None, Some(reason.clone()).filter(|_| !looks))
                },
                _ => trial(None, None, Some(reason.clone())),
            }
        }
    }
}

/// True if a transaction takes much longer than at levels that held. By Little's law, its time is the number of clients
/// divided by the delivered rate if all clients are busy.
fn lacks_clients(step: &StepResult, clients: u32, done: &[StepResult]) -> bool {
    let passed = |result: &&StepResult| {
        matches!(
            result.outcome,
            LevelOutcome::Sustained
                | LevelOutcome::Invalid { reason: SearchStopReason::TooFewSamples { .. } }
        )
    };
    let held = done.iter().filter(passed).filter_map(|it| it.mean);
    let Some(least) = held.map(Nanos::as_secs_f64).reduce(f64::min) else { return false };
    step.delivered.0 > 0.0 && f64::from(clients) / step.delivered.0 >= CROWDED_RATIO * least
}
