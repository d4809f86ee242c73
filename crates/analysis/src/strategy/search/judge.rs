//! Judge of one search step: sustained, overloaded or invalid
//!
//! A level is overloaded if an objective is violated, a stop rule fires, too little of the load is delivered, or
//! in-flight transactions keep growing. A trial with an invalid measurement, or with too few samples to judge it, has no
//! result.

use crate::stats::quantile::upper_median;
use crate::stats::slopes;
use crate::verdict::{objective, validity};
use model::message;
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict, TooFewSamples};
use model::plan::LoadScale;
use model::search::{LevelOutcome, OverloadReason, SearchStep, SearchStopReason, StepResult};
use model::stop::StopEvent;
use model::summary::{LoadModelSummary, Summary};
use model::validity::{Doubt, InvalidReason};
use model::{Nanos, OperationSecond, Second};

/// Smallest delivered share of the offered rate. [`backlog_grows`] detects smaller deficits, but only if in-flight
/// transactions grow steadily.
pub(super) const DELIVERED_SHARE_MIN: f64 = 0.98;
/// Share of the window at its start that is ignored, because clients open connections and caches fill.
const START_SHARE: f64 = 0.25;
/// Variance of arrivals plus departures, as a multiple of their mean: 1 for Poisson arrivals, and 1.4 for departures
/// whose service times vary slightly more than exponentially distributed times.
const DISPERSION: f64 = 2.4;
/// Growth of in-flight transactions, in standard deviations of a random walk, above which a level is overloaded. A
/// system exactly at its capacity exceeds this growth in six of ten windows. At 95 % of its capacity, almost no window
/// exceeds it.
const GROWTH_DEVIATIONS: f64 = 0.5;
/// Number of standard deviations by which chance may lower the delivered share.
const CHANCE_DEVIATIONS: f64 = 2.0;
/// Minimum number of seconds for a trend.
const SECONDS_MIN: usize = 8;
/// Minimum number of arrivals offered in the judged seconds. With fewer, chance explains the loss of half of the load.
const OFFERED_MIN: f64 = 20.0;
/// Share of arrivals waiting for a client above which chance does not explain the waits.
const QUEUED_SHARE_MIN: f64 = 0.01;

/// Counts of one second from which a trial is judged. Histograms are left out, because a search of several hours stores
/// thousands of seconds.
#[derive(Clone, Copy, Debug)]
pub struct SecondSummary {
    second: u64,
    from: Nanos,
    to: Nanos,
    /// Number of successful transactions that ended within the window.
    succeeded: u64,
    ended: u64,
    in_flight: u64,
    /// Number of transactions with a response, and the sum of their response times.
    responses: u64,
    response_ns: u128,
}

impl From<&Second> for SecondSummary {
    fn from(second: &Second) -> SecondSummary {
        let sum = |count: fn(&OperationSecond) -> u64| second.interval.scripts.iter().map(count).sum();
        SecondSummary {
            second: second.second,
            from: second.interval.from,
            to: second.interval.to,
            succeeded: sum(|it| it.ok.saturating_sub(it.late)),
            ended: sum(|it| (it.ok + it.failed.total() + it.unknown.total()).saturating_sub(it.late)),
            in_flight: second.in_flight,
            responses: sum(|it| it.response.count()),
            response_ns: second.interval.scripts.iter().map(|it| it.response.sum()).sum(),
        }
    }
}

/// Judges the trial of `step`.
///
/// `seconds` has the trial's seconds in order of time. Only the last of them count: the number of seconds in the step's
/// window. A ramp may therefore precede them (as in `confirm`). `objectives` are the results of [`objective::judge`].
///
/// - Invalid: the generator was late, saturated, throttled, stalled or out of file descriptors; the machine was
///   suspended; or a feed was used up before the end of the step.
/// - Overloaded: a stop rule fired, an objective is violated, in-flight transactions grew until the end, or less than
///   98 % of the offered rate was delivered and random variation does not explain it. Failed transactions count as not
///   delivered, unless an objective bounds their share.
/// - One of these reasons in an open model in which arrivals waited for a client: the step is overloaded if service
///   times alone violate an objective, a stop rule fired, or there was an outage. Otherwise the result is
///   [`SearchStopReason::ClientCap`]. `next` judges this step again once other levels show whether there were too few
///   clients.
/// - Overloaded, too: no transaction succeeded, or more than 2 % of the arrivals were never answered, even after the
///   window.
/// - Without a result: an objective has too few samples, or too few arrivals were offered to judge the delivered share.
pub fn judge(
    step: SearchStep,
    summary: &Summary,
    seconds: &[SecondSummary],
    objectives: &[ObjectiveResult],
    fired: Option<&StopEvent>,
) -> StepResult {
    let loaded = window_seconds(&step, seconds, summary.window);
    let outcome = level_outcome(&step, summary, &loaded, objectives, fired);
    let response = &summary.total.response;
    let on_times = objectives.iter().filter(|it| it.unit == ObjectiveUnit::Seconds);
    StepResult {
        step,
        outcome,
        delivered: summary.total.tps,
        p95: response.p95,
        p99: response.p99,
        mean: response.mean,
        time_objectives: on_times.cloned().collect(),
    }
}

fn level_outcome(
    step: &SearchStep,
    summary: &Summary,
    seconds: &[&SecondSummary],
    objectives: &[ObjectiveResult],
    fired: Option<&StopEvent>,
) -> LevelOutcome {
    if let Some(reason) = summary.validity.reasons.iter().find_map(|it| stop_reason(it, summary)) {
        return LevelOutcome::Invalid { reason };
    }
    if validity::ended_early(summary) {
        return LevelOutcome::Invalid {
            reason: SearchStopReason::Failed { reason: message!("search-stop-feed-end") },
        };
    }
    let open = step.scale == LoadScale::Rate;
    let broken = objectives.iter().find(|it| it.verdict == ObjectiveVerdict::Violated);
    let broke = fired
        .map(|it| OverloadReason::Rule { rule: it.rule.clone() })
        .or_else(|| broken.map(|it| OverloadReason::Objective { text: it.objective.clone() }))
        .or_else(|| unanswered(open, summary, objectives))
        .or_else(|| open.then(|| falls_behind(step.level, seconds, objectives)).flatten())
        .or_else(|| open.then(|| backlog_grows(step.level, seconds)).flatten());
    if let Some(reason) = broke {
        let has_outage = !summary.outages.is_empty();
        let slow = has_outage
            || matches!(reason, OverloadReason::Rule { .. })
            || broken.is_some_and(|it| is_broken_by_service_time(it, summary));
        return match reached_cap(summary) {
            Some(clients) if !slow => {
                LevelOutcome::Invalid { reason: SearchStopReason::ClientCap { clients } }
            }
            _ => LevelOutcome::NotSustained { reason },
        };
    }
    match not_judged(open.then(|| offered(step.level, seconds)), objectives) {
        Some(reason) => LevelOutcome::Invalid { reason },
        None => LevelOutcome::Sustained,
    }
}

/// Reason why a level that shows no overload is not sustained either; `None` if everything was judged. `offered` is the
/// number of arrivals offered in the judged seconds; `None` in the closed model.
fn not_judged(offered: Option<f64>, objectives: &[ObjectiveResult]) -> Option<SearchStopReason> {
    if let Some(unknown) = objectives.iter().find(|it| it.verdict == ObjectiveVerdict::Unknown) {
        return Some(match unknown.too_few {
            Some(TooFewSamples { needed, .. }) => SearchStopReason::TooFewSamples {
                objective: Some(unknown.objective.clone()),
                samples: unknown.samples,
                needed,
            },
            None => SearchStopReason::Failed {
                reason: message!("search-stop-unmeasured", objective = &unknown.objective),
            },
        });
    }
    let offered = offered.filter(|it| *it < OFFERED_MIN)?;
    let (samples, needed) = (offered as u64, OFFERED_MIN as u64);
    Some(SearchStopReason::TooFewSamples { objective: None, samples, needed })
}

/// Reason why a step has no result. A level without any successful transaction is not invalid but overloaded.
fn stop_reason(invalid: &InvalidReason, summary: &Summary) -> Option<SearchStopReason> {
    let agents = summary.validity.reasons.iter().find_map(|reason| match *reason {
        InvalidReason::AgentsLimit { agents, more, busy } => {
            Some(SearchStopReason::Agents { agents, more, busy })
        }
        _ => None,
    });
    let starved = summary.validity.doubts.iter().filter_map(|doubt| match doubt {
        Doubt::Starved { share, .. } => Some(*share),
        _ => None,
    });
    // The time for which a thread waits for a CPU includes the time for which its own quota throttles it.
    let is_throttled =
        summary.validity.reasons.iter().any(|reason| matches!(reason, InvalidReason::Throttled { .. }));
    let starved = starved.reduce(f64::max).filter(|_| !is_throttled);
    Some(match invalid {
        InvalidReason::AgentsLimit { .. }
        | InvalidReason::Late { .. }
        | InvalidReason::Stalled { .. }
        | InvalidReason::Saturated { .. }
            if agents.is_some() =>
        {
            return agents;
        }
        // If threads had work but no CPU, the host is the reason.
        InvalidReason::Late { .. } | InvalidReason::Stalled { .. } => {
            starved.map_or(SearchStopReason::Generator, |share| SearchStopReason::Host { share })
        }
        InvalidReason::Saturated { .. } | InvalidReason::Throttled { .. } => SearchStopReason::Generator,
        InvalidReason::ResourcesExhausted { .. } => SearchStopReason::Descriptors,
        InvalidReason::Suspended { .. } => {
            SearchStopReason::Failed { reason: message!("search-stop-suspended") }
        }
        InvalidReason::Aborted { .. } => SearchStopReason::Failed { reason: message!("search-stop-aborted") },
        InvalidReason::AgentLost { .. }
        | InvalidReason::AgentLate { .. }
        | InvalidReason::ClockUncertain { .. } => {
            SearchStopReason::Failed { reason: message!("search-stop-agents") }
        }
        InvalidReason::NoSuccess | InvalidReason::AgentsLimit { .. } => return None,
    })
}

/// Number of clients of an open model, if all clients were busy for a significant time.
fn reached_cap(summary: &Summary) -> Option<u32> {
    let LoadModelSummary::Open { .. } = summary.plan.model else { return None };
    let much = |doubt: &Doubt| match doubt {
        Doubt::InFlightCapReached { arrivals, waited, dropped } => {
            (waited + dropped) as f64 >= QUEUED_SHARE_MIN * *arrivals as f64
        }
        _ => false,
    };
    summary.validity.doubts.iter().any(much).then_some(summary.plan.clients)
}

/// True if an objective on response times would be violated even if no arrival had waited for a client.
fn is_broken_by_service_time(broken: &ObjectiveResult, summary: &Summary) -> bool {
    if broken.unit != ObjectiveUnit::Seconds {
        return false;
    }
    let names: Vec<String> = summary.plan.scripts.iter().map(|it| it.name.clone()).collect();
    let Ok(objective) = objective::parse(&broken.objective, &names) else { return false };
    let mut served = summary.clone();
    served.total.response = served.total.service;
    for script in &mut served.scripts {
        script.group.response = script.group.service;
        script.statements.iter_mut().for_each(|it| it.response = it.service);
    }
    objective.judge(&served).verdict == ObjectiveVerdict::Violated
}

/// Last whole seconds of the window, without its start. Seconds after `loaded`, the duration of the arrivals, are left
/// out, because in-flight transactions only drain in them.
fn window_seconds<'a>(
    step: &SearchStep,
    seconds: &'a [SecondSummary],
    loaded: Nanos,
) -> Vec<&'a SecondSummary> {
    let arriving = |it: &&SecondSummary| (it.second as f64) < loaded.as_secs_f64().round();
    let complete: Vec<&SecondSummary> =
        seconds.iter().filter(arriving).filter(|it| duration(it) > 0.5).collect();
    let window = step.window.as_secs_f64();
    let from = complete.last().map_or(0.0, |it| it.to.as_secs_f64()) - window * (1.0 - START_SHARE);
    complete.into_iter().filter(|it| it.from.as_secs_f64() >= from - 1e-3).collect()
}

fn duration(second: &SecondSummary) -> f64 {
    second.to.0.saturating_sub(second.from.0) as f64 / 1e9
}

/// Number of arrivals that the level offers in these seconds.
fn offered(level: f64, seconds: &[&SecondSummary]) -> f64 {
    level * seconds.iter().map(|it| duration(it)).sum::<f64>()
}

/// True if a met objective bounds the share of failures.
fn failures_judged(objectives: &[ObjectiveResult]) -> bool {
    objectives.iter().any(|result| {
        let left = result.objective.split(['<', '>']).next().unwrap_or_default();
        left.trim_end().ends_with("errors") && result.verdict == ObjectiveVerdict::Met
    })
}

/// Overload reason if no transaction succeeded or, in the open model, if too many arrivals were never answered. Both are
/// counted exactly, so chance plays no part.
fn unanswered(open: bool, summary: &Summary, objectives: &[ObjectiveResult]) -> Option<OverloadReason> {
    let counts = &summary.total.counts;
    if counts.ok == 0 {
        return Some(OverloadReason::FellBehind { share: 0.0 });
    }
    let share = 1.0 - counts.unanswered as f64 / counts.arrivals() as f64;
    (open && share < DELIVERED_SHARE_MIN && !failures_judged(objectives))
        .then_some(OverloadReason::FellBehind { share })
}

/// Overload reason if too little of the offered rate was delivered. `seconds` begins after the start of the window, so
/// transactions that first fill an empty system do not count as a deficit.
fn falls_behind(
    level: f64,
    seconds: &[&SecondSummary],
    objectives: &[ObjectiveResult],
) -> Option<OverloadReason> {
    let failures_judged = failures_judged(objectives);
    let offered = offered(level, seconds);
    let ended = |it: &&SecondSummary| if failures_judged { it.ended } else { it.succeeded };
    let delivered = seconds.iter().map(ended).sum::<u64>() as f64;
    let deviation = CHANCE_DEVIATIONS * (DISPERSION / 2.0 / offered).sqrt();
    let share = delivered / offered;
    (offered > 0.0 && share < DELIVERED_SHARE_MIN - deviation).then_some(OverloadReason::FellBehind { share })
}

/// Overload reason if in-flight transactions grew until the end of the window, faster than in a system at its capacity.
///
/// The queue of a system at its capacity is a random walk, which changes by about √(2.4 λ t) in t seconds. The slope is
/// the Theil–Sen slope, which is robust against single bad seconds. The slope of the window's second half must be at
/// least half as steep. Otherwise the queue is approaching a constant length.
fn backlog_grows(level: f64, seconds: &[&SecondSummary]) -> Option<OverloadReason> {
    if seconds.len() < SECONDS_MIN {
        return None;
    }
    let under_way: Vec<(f64, f64)> =
        seconds.iter().map(|it| (it.to.as_secs_f64(), transactions_in_flight(level, it))).collect();
    let slope = median_slope(&under_way);
    let last = median_slope(&under_way[under_way.len() / 2..]);
    let duration = under_way.len() as f64;
    let deviation = (DISPERSION * level * duration).sqrt();
    (slope * duration > GROWTH_DEVIATIONS * deviation && last >= slope / 2.0)
        .then_some(OverloadReason::InFlightGrows { per_second: slope })
}

/// Number of transactions that were sent but have no response yet, or the number by Little's law if that is greater.
/// The latter includes transactions that wait for a client.
fn transactions_in_flight(level: f64, second: &SecondSummary) -> f64 {
    let by_time = match second.responses {
        0 => 0.0,
        responses => level * second.response_ns as f64 / 1e9 / responses as f64,
    };
    by_time.max(second.in_flight as f64)
}

/// Median of the slopes of all pairs; Theil (1950), Sen (1968).
fn median_slope(points: &[(f64, f64)]) -> f64 {
    upper_median(slopes::pairwise(points)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
