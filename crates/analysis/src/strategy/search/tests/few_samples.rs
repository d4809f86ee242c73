//! Searches at rates that give few samples

use super::*;
use model::search::SearchStopReason;

fn short_search(capacity: f64, start: f64, p99: Option<f64>, seed: u64) -> (MaxSearch, Vec<StepResult>) {
    let seconds = Nanos::from_secs(1);
    let max = MaxSearch { window: seconds, hold: seconds, precision: 0.2, ..MaxSearch::DEFAULT };
    let mut system = SimulatedSystem::new(1, 1.0 / capacity, seed);
    system.p99 = p99;
    let done = search(&max, start, &mut system);
    (max, done)
}

/// No step counts as sustained unless p99 was measured, and unless 20 arrivals were offered in the judged seconds.
#[test]
fn nothing_is_sustained_without_being_judged() {
    for seed in 0..20 {
        for p99 in [None, Some(1.0)] {
            let (_, done) = short_search(20.0, 2.0, p99, seed);
            for result in done.iter().filter(|it| it.outcome == LevelOutcome::Sustained) {
                let StepResult { step, p99: measured, .. } = result;
                let judged = (step.window.as_secs_f64() * 0.75).floor() * step.level;
                assert!(judged >= 20.0 && (p99.is_none() || measured.is_some()), "seed {seed}: {result:?}");
            }
        }
    }
}

/// The windows of one second are lengthened until p99 can be judged, so the search still finds the capacity.
#[test]
fn lengthens_windows_that_have_too_few_samples() {
    let (service, bound) = (1.0 / 60.0, 0.2);
    let truth = erlang(1, service, bound);
    let mut near = 0;
    for seed in 0..10 {
        let (max, done) = short_search(60.0, 10.0, Some(bound), seed);
        let result = answer(&max, &done);
        near += u32::from(result.level.is_some_and(|it| (it / truth - 1.0).abs() <= 0.25));
    }
    assert!(near >= 9, "{near} of 10 near {truth}");
}

/// At two arrivals per second, p99 would need windows of ten minutes, so the search ends with the reason.
#[test]
fn says_that_there_are_too_few_samples() {
    let (max, done) = short_search(4.0, 2.0, Some(20.0), 1);
    let result = answer(&max, &done);
    let reason = result.stop_reason.expect("the search has no answer");
    let SearchStopReason::TooFewSamples { objective, samples, needed } = reason else { panic!("{reason:?}") };
    assert_eq!((objective.is_some(), needed), (true, 1000));
    assert!(samples < 1000 && result.level.is_none(), "{samples}");
}
