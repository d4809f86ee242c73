//! Judge of one search step: sustained, overloaded or invalid
//!
//! A level is overloaded if an objective is violated, a stop rule fires, too little of the load is delivered, or
//! in-flight transactions keep growing. A trial with an invalid measurement has no result.

use crate::stats::quantile::upper_median;
use crate::stats::slopes;
use crate::verdict::{objective, validity};
use model::message;
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict};
use model::plan::LoadScale;
use model::search::{LevelOutcome, OverloadReason, SearchStep, SearchStopReason, StepPurpose, StepResult};
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
/// - An objective has too few samples: ramp and rest steps ignore it, because they are not evidence for the result. In
///   other steps the trial is invalid, and the reason contains the text of the objective.
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
    match objectives.iter().find(|it| it.verdict == ObjectiveVerdict::Unknown) {
        Some(unknown) if !matches!(step.purpose, StepPurpose::Ramp | StepPurpose::Rest) => {
            LevelOutcome::Invalid {
                reason: SearchStopReason::Failed {
                    reason: message!("search-stop-unmeasured", objective = &unknown.objective),
                },
            }
        }
        _ => LevelOutcome::Sustained,
    }
}

/// Reason why a step has no result. A level without any successful transaction is not invalid but overloaded.
fn stop_reason(invalid: &InvalidReason, summary: &Summary) -> Option<SearchStopReason> {
    let starved = summary.validity.doubts.iter().filter_map(|doubt| match doubt {
        Doubt::Starved { share, .. } => Some(*share),
        _ => None,
    });
    let starved = starved.reduce(f64::max);
    Some(match invalid {
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
        InvalidReason::NoSuccess => return None,
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

/// Overload reason if too little of the offered rate was delivered. `seconds` begins after the start of the window, so
/// transactions that first fill an empty system do not count as a deficit.
fn falls_behind(
    level: f64,
    seconds: &[&SecondSummary],
    objectives: &[ObjectiveResult],
) -> Option<OverloadReason> {
    let failures_judged = objectives.iter().any(|result| {
        let left = result.objective.split(['<', '>']).next().unwrap_or_default();
        left.trim_end().ends_with("errors") && result.verdict == ObjectiveVerdict::Met
    });
    let offered = level * seconds.iter().map(|it| duration(it)).sum::<f64>();
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
mod tests {
    use super::*;
    use crate::fixture::{closed_plan, millis, open_plan, quiet_measurement};
    use crate::verdict::summary::summarise;
    use model::summary::{BenchPlan, Server};
    use model::{Code, CompactInterval, LatencyHistogram, Measurement};

    /// Twenty valid seconds at 1000 per second, with 30 transactions in flight.
    struct TestTrial {
        plan: BenchPlan,
        measured: Measurement,
        seconds: Vec<Second>,
        objectives: Vec<&'static str>,
        fired: bool,
        stage: StepPurpose,
    }

    /// Second with the same counts that begins at `from`.
    fn moved(second: &Second, from: Nanos) -> Second {
        let mut second = Second { second: from.0 / 1_000_000_000, ..second.clone() };
        (second.interval.from, second.interval.to) = (from, from + Nanos::from_secs(1));
        second
    }

    impl TestTrial {
        fn new() -> TestTrial {
            let second = |n: u64| Second {
                second: n,
                in_flight: 30 + n * 7 % 5,
                interval: CompactInterval {
                    from: Nanos::from_secs(n),
                    to: Nanos::from_secs(n + 1),
                    scripts: vec![OperationSecond { ok: 1000, ..OperationSecond::default() }],
                    ..CompactInterval::default()
                },
            };
            TestTrial {
                plan: open_plan(),
                measured: Measurement { window: Nanos::from_secs(20), ..quiet_measurement() },
                seconds: (0..20).map(second).collect(),
                objectives: vec!["p99 < 200ms"],
                fired: false,
                stage: StepPurpose::Narrow,
            }
        }

        fn each(&mut self, change: impl Fn(u64, &mut Second)) {
            self.seconds.iter_mut().for_each(|it| change(it.second, it));
        }
    }

    #[track_caller]
    fn check(spoil: impl FnOnce(&mut TestTrial), expected: &str) {
        let mut trial = TestTrial::new();
        spoil(&mut trial);
        let summary = summarise(&trial.measured, Server::default(), trial.plan);
        let names: Vec<String> = summary.plan.scripts.iter().map(|it| it.name.clone()).collect();
        let objectives: Vec<_> =
            trial.objectives.iter().map(|it| objective::parse(it, &names).expect(it)).collect();
        let judged = objective::judge(&objectives, &summary);
        let fired = trial.fired.then(|| StopEvent {
            rule: "http(5xx,10%,5s)".to_owned(),
            cause_second: 3,
            at_second: 8,
            rate_at_cause: model::PerSecond(1000.0),
            tank_rc: None,
        });
        let closed = matches!(summary.plan.model, LoadModelSummary::Closed { .. });
        let scale = if closed { LoadScale::Clients } else { LoadScale::Rate };
        let window = Nanos::from_secs(20);
        let step =
            SearchStep { scale, level: 1000.0, purpose: trial.stage, window, perturbation: None, round: 0 };
        let seconds: Vec<SecondSummary> = trial.seconds.iter().map(SecondSummary::from).collect();
        let result = judge(step, &summary, &seconds, &judged, fired.as_ref());
        let short = match result.outcome {
            LevelOutcome::Sustained => "held".to_owned(),
            LevelOutcome::NotSustained { reason: OverloadReason::Objective { text } } => {
                format!("not: {text}")
            }
            LevelOutcome::NotSustained { reason: OverloadReason::FellBehind { share } } => {
                format!("behind {share:.3}")
            }
            LevelOutcome::NotSustained { reason: OverloadReason::ClientsSaturated { clients } } => {
                format!("crowded {clients}")
            }
            LevelOutcome::NotSustained { reason: OverloadReason::InFlightGrows { per_second } } => {
                format!("growing {per_second:.1}")
            }
            LevelOutcome::NotSustained { reason: OverloadReason::Rule { rule } } => format!("rule {rule}"),
            LevelOutcome::Invalid { reason: SearchStopReason::Failed { reason } } => {
                format!("? {}", reason.describe())
            }
            LevelOutcome::Invalid { reason } => format!("? {reason:?}"),
        };
        assert_eq!(short, expected);
    }

    #[test]
    fn judges_levels_as_held_or_broken() {
        check(|_| {}, "held");
        check(|it| it.objectives = vec!["p50 < 1s", "p99 < 2ms"], "not: p99 < 2ms");
        check(|it| it.fired = true, "rule http(5xx,10%,5s)");
        // 5 % less in every second, or 1.5 % less. A growth of in-flight transactions would reveal the latter.
        check(|trial| trial.each(|_, it| it.interval.scripts[0].ok = 950), "behind 0.950");
        check(|trial| trial.each(|_, it| it.interval.scripts[0].ok = 985), "held");
        // Successful transactions that ended after the window count as late.
        check(|trial| trial.each(|_, it| it.interval.scripts[0].late = 100), "behind 0.900");
        // A deficit only in the first quarter, while the system warms up.
        check(|trial| trial.each(|n, it| it.interval.scripts[0].ok = if n < 5 { 0 } else { 1000 }), "held");
        // After the last arrival, in-flight transactions only drain.
        let ending = |trial: &mut TestTrial| {
            let mut last = moved(&trial.seconds[0], Nanos::from_secs(20));
            last.interval.scripts[0].ok = 2;
            trial.seconds.push(last);
        };
        check(ending, "held");
        // A closed model has no offered rate.
        let none = |trial: &mut TestTrial| {
            trial.plan = closed_plan();
            trial.each(|_, it| it.interval.scripts[0].ok = 100);
        };
        check(none, "held");
    }

    #[test]
    fn keeps_the_results_of_objectives_on_times() {
        let trial = TestTrial::new();
        let summary = summarise(&trial.measured, Server::default(), trial.plan);
        let names: Vec<String> = summary.plan.scripts.iter().map(|it| it.name.clone()).collect();
        let texts = ["errors < 1%", "p95 < 100ms", "tps > 5", "max < 1ms"];
        let objectives: Vec<_> =
            texts.iter().map(|it| objective::parse(it, &names).expect("valid objectives")).collect();
        let step = SearchStep {
            scale: LoadScale::Rate,
            level: 1000.0,
            purpose: StepPurpose::Hold,
            window: Nanos::from_secs(20),
            perturbation: None,
            round: 0,
        };
        let result = judge(step, &summary, &[], &objective::judge(&objectives, &summary), None);
        let kept: Vec<(&str, ObjectiveVerdict)> =
            result.time_objectives.iter().map(|it| (it.objective.as_str(), it.verdict)).collect();
        assert_eq!(kept, [("p95 < 100ms", ObjectiveVerdict::Met), ("max < 1ms", ObjectiveVerdict::Violated)]);
    }

    #[test]
    fn failures_count_as_not_delivered_unless_allowed() {
        let fail = |trial: &mut TestTrial| {
            trial.each(|_, second| {
                second.interval.scripts[0].ok = 900;
                (0..100).for_each(|_| second.interval.scripts[0].failed.count(Code::SqlState(*b"40P01")));
            });
        };
        check(fail, "behind 0.900");
        let allowed = |trial: &mut TestTrial| {
            fail(trial);
            trial.objectives = vec!["errors < 15%"];
        };
        check(allowed, "held");
    }

    #[test]
    fn detects_growing_backlogs() {
        let under_way = |in_flight: fn(u64) -> u64| {
            move |trial: &mut TestTrial| trial.each(|n, it| it.in_flight = in_flight(n))
        };
        // The load exceeds the capacity by 2 %.
        check(under_way(|n| 30 + 20 * n), "growing 20.0");
        // The random walk of a system at its capacity could move as far.
        check(under_way(|n| 30 + 4 * n), "held");
        // The queue is full before the middle of the window; or it drains; or a checkpoint runs in the middle or at the
        // end.
        check(under_way(|n| 600 - 600 / (n + 1)), "held");
        check(under_way(|n| 600 - 20 * n), "held");
        check(under_way(|n| if (9..12).contains(&n) { 900 } else { 30 }), "held");
        check(under_way(|n| if n > 16 { 900 } else { 30 }), "held");
        // The clients limit the number in flight, but response times show the arrivals that wait for a client.
        let waiting = |trial: &mut TestTrial| {
            trial.each(|n, second| {
                let mut times = LatencyHistogram::new();
                (0..1000).for_each(|_| times.record(Nanos::from_millis(30 + 15 * n)));
                second.interval.scripts[0].response = (&times).into();
            });
        };
        check(waiting, "growing 15.0");
        // The window is too short for a trend.
        check(
            |trial| {
                under_way(|n| 30 + 20 * n)(trial);
                trial.seconds.truncate(7);
            },
            "held",
        );
        // A confirmation has a ramp before its window.
        check(
            |trial| {
                trial.stage = StepPurpose::Confirm;
                let more = (20..40).map(|n| moved(&trial.seconds[0], Nanos::from_secs(n)));
                trial.seconds.extend(more.collect::<Vec<_>>());
                trial.measured.window = Nanos::from_secs(40);
                under_way(|n| if n < 20 { 60 * n } else { 1200 })(trial);
                trial.each(|n, it| it.interval.scripts[0].ok = (50 * n).min(1000));
            },
            "held",
        );
    }

    #[test]
    fn an_invalid_trial_has_no_result() {
        check(|it| it.measured.interval.send_lag = millis(1000, 5), "? Generator");
        check(|it| it.measured.thread_usage[1].system = Nanos::from_millis(9_100), "? Generator");
        check(|it| it.measured.thread_usage[0].longest_stall = Nanos::from_secs(1), "? Generator");
        // The threads ran for 10 seconds.
        let starved = |it: &mut TestTrial| it.measured.thread_usage[1].starved = Some(Nanos::from_secs(5));
        for late in [true, false] {
            let expected = if late { "? Host { share: 0.5 }" } else { "? Generator" };
            let spoil = |trial: &mut TestTrial| {
                starved(trial);
                match late {
                    true => trial.measured.interval.send_lag = millis(1000, 5),
                    false => trial.measured.thread_usage[1].system = Nanos::from_millis(9_100),
                }
            };
            check(spoil, expected);
        }
        check(starved, "held");
        check(|it| it.measured.exhausted_connects = 3, "? Descriptors");
        check(|it| it.measured.suspended = Nanos::from_secs(1), "? search-stop-suspended");
        // The step is invalid even if an objective is violated.
        let both = |trial: &mut TestTrial| {
            trial.measured.exhausted_connects = 3;
            trial.objectives = vec!["p99 < 1ms"];
        };
        check(both, "? Descriptors");
    }

    #[test]
    fn unknown_objectives_pass_only_in_ramp_steps() {
        for (stage, expected) in [
            (StepPurpose::Ramp, "held"),
            (StepPurpose::Rest, "held"),
            (StepPurpose::Narrow, "? search-stop-unmeasured(p99 < 200ms)"),
            (StepPurpose::Hold, "? search-stop-unmeasured(p99 < 200ms)"),
        ] {
            let few = |trial: &mut TestTrial| {
                trial.stage = stage;
                trial.measured.interval.clear();
                trial.measured.interval.scripts[0].response = millis(500, 5);
                trial.measured.interval.scripts[0].ok = 500;
            };
            check(few, expected);
        }
    }

    /// Every other arrival waited for a client.
    #[test]
    fn a_reached_cap_is_no_overload() {
        fn waits(trial: &mut TestTrial) {
            trial.measured.interval.backlog_wait = millis(5000, 300);
        }
        // The objective is met despite the waits.
        check(waits, "held");
        // Response times include the wait; service times do not. Other levels show whether clients are the cause.
        let slow = |millis_served: u64| {
            move |trial: &mut TestTrial| {
                waits(trial);
                trial.measured.interval.scripts[0].response = millis(10_000, 300);
                trial.measured.interval.scripts[0].service = millis(10_000, millis_served);
                trial.measured.interval.scripts[0].ok = 10_000;
            }
        };
        check(slow(5), "? ClientCap { clients: 4 }");
        check(slow(250), "not: p99 < 200ms");
        let behind = |trial: &mut TestTrial| {
            waits(trial);
            trial.each(|_, it| it.interval.scripts[0].ok = 500);
        };
        check(behind, "? ClientCap { clients: 4 }");
        // Too few arrivals waited for a client.
        let hardly = |trial: &mut TestTrial| {
            behind(trial);
            trial.measured.interval.backlog_wait = millis(50, 300);
        };
        check(hardly, "behind 0.500");
    }
}
