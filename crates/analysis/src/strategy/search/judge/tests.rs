//! Judge of simulated trials

use super::*;
use crate::fixture::{closed_plan, millis, open_plan, quiet_measurement};
use crate::verdict::add_throttling;
use crate::verdict::summary::summarise;
use model::search::StepPurpose;
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
    level: f64,
    /// Duration of the window, in seconds.
    window: u64,
    /// Share of the periods in which the generator's own quota throttled it.
    throttled: Option<f64>,
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
            level: 1000.0,
            window: 20,
            throttled: None,
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
    let mut summary = summarise(&trial.measured, Server::default(), trial.plan);
    add_throttling(&mut summary, trial.throttled);
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
    let window = Nanos::from_secs(trial.window);
    let step =
        SearchStep { scale, level: trial.level, purpose: trial.stage, window, perturbation: None, round: 0 };
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
        LevelOutcome::Invalid { reason: SearchStopReason::TooFewSamples { objective, samples, needed } } => {
            format!("few: {samples} of {needed} for {}", objective.as_deref().unwrap_or("delivery"))
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
    // A thread also waits for a CPU while the generator's own quota throttles it.
    let throttled = |trial: &mut TestTrial| {
        starved(trial);
        trial.measured.interval.send_lag = millis(1000, 5);
        trial.throttled = Some(0.9);
    };
    check(throttled, "? Generator");
    check(|it| it.measured.exhausted_connects = 3, "? Descriptors");
    check(|it| it.measured.suspended = Nanos::from_secs(1), "? search-stop-suspended");
    // The step is invalid even if an objective is violated.
    let both = |trial: &mut TestTrial| {
        trial.measured.exhausted_connects = 3;
        trial.objectives = vec!["p99 < 1ms"];
    };
    check(both, "? Descriptors");
}

/// Trial of `window` seconds at `level`, in which `ok` arrivals succeeded in `millis_each` and as many more were never
/// answered as `lost` says. All successes are within the window, evenly.
fn short(level: f64, window: u64, ok: u64, millis_each: u64, lost: u64) -> impl FnOnce(&mut TestTrial) {
    move |trial| {
        (trial.level, trial.window) = (level, window);
        trial.measured.window = Nanos::from_secs(window);
        trial.measured.interval.clear();
        let total = &mut trial.measured.interval.scripts[0];
        total.ok = ok;
        (total.response, total.service) = (millis(ok, millis_each), millis(ok, millis_each));
        (0..lost).for_each(|_| total.unknown.count(Code::Net(0)));
        trial.seconds.truncate(window as usize);
        let each = ok / window.max(1);
        let counts = OperationSecond { ok: each, ..OperationSecond::default() };
        trial.each(|_, it| it.interval.scripts[0] = counts.clone());
    }
}

/// Nothing is sustained unless every objective and the delivered share were judged.
#[test]
fn a_level_is_sustained_only_if_it_was_judged() {
    let without = |spoil: fn(&mut TestTrial)| {
        move |trial: &mut TestTrial| {
            trial.objectives.clear();
            spoil(trial);
        }
    };
    let with = |objective: &'static str, spoil: Box<dyn FnOnce(&mut TestTrial)>| {
        move |trial: &mut TestTrial| {
            trial.objectives = vec![objective];
            spoil(trial);
        }
    };
    let boxed = |level, window, ok, each, lost| -> Box<dyn FnOnce(&mut TestTrial)> {
        Box::new(short(level, window, ok, each, lost))
    };
    // A window of one second has no whole second after its start.
    check(without(|it| short(240.0, 1, 174, 5, 0)(it)), "few: 0 of 20 for delivery");
    check(without(|it| short(240.0, 2, 348, 5, 0)(it)), "behind 0.725");
    // Nothing was answered within the window, or ever.
    check(without(|it| short(10.2, 1, 0, 5, 10)(it)), "behind 0.000");
    check(without(|it| short(10.2, 2, 0, 5, 20)(it)), "behind 0.000");
    // Arrivals without an answer, at a level too low for the rate to show it.
    check(without(|it| short(10.0, 4, 38, 5, 2)(it)), "behind 0.950");
    check(without(|it| short(10.0, 4, 40, 5, 0)(it)), "held");
    check(without(|it| short(2.0, 8, 16, 5, 0)(it)), "few: 12 of 20 for delivery");
    // A quantile with too few samples beyond it.
    check(with("p95 < 500ms", boxed(37.5, 4, 150, 5, 0)), "few: 150 of 200 for p95 < 500ms");
    check(with("p95 < 500ms", boxed(52.5, 4, 210, 5, 0)), "held");
    // Eight seconds on average violate any bound of two seconds on a high quantile, even with few samples.
    check(with("p95 < 2s", boxed(16.0, 1, 16, 8_000, 0)), "not: p95 < 2s");
    check(with("p50 < 2s", boxed(16.0, 1, 16, 8_000, 0)), "not: p50 < 2s");
}

#[test]
fn objectives_with_too_few_samples_give_no_result() {
    for stage in [StepPurpose::Ramp, StepPurpose::Rest, StepPurpose::Narrow, StepPurpose::Hold] {
        let few = |trial: &mut TestTrial| {
            trial.stage = stage;
            trial.measured.interval.clear();
            trial.measured.interval.scripts[0].response = millis(500, 5);
            trial.measured.interval.scripts[0].ok = 500;
        };
        check(few, "few: 500 of 1000 for p99 < 200ms");
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
