//! Response of a system's throughput to the offered load

use model::Nanos;
use model::plan::LoadScale;
use model::search::{LevelOutcome, Saturation, SearchStopReason, StepResult};

/// Smallest ratio of a transaction's time with all clients busy to its time at sustained levels at which more clients
/// would only queue. Source: see `CROWDED_RATIO` of the search.
const LONGER_RATIO: f64 = 1.5;
/// Smallest ratio between the highest and the lowest overloaded level at which their throughputs are compared.
const LEVEL_RATIO_MIN: f64 = 1.25;
/// Largest ratio between the throughputs of overloaded levels that count as equal. A window of 200 transactions varies by
/// 7 %.
const FLAT_RATIO_MAX: f64 = 1.15;
/// Largest delivered share of an overloaded level.
const DELIVERED_SHARE_MAX: f64 = 0.98;

/// Facts about overloaded levels, from the steps of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadResponse {
    /// True if all clients were busy, and a transaction then took much longer than at levels that were sustained.
    pub takes_longer_at_cap: bool,
    /// Throughput that does not rise with the load; `None` if it rises, or if the in-flight cap explains it.
    pub saturation: Option<Saturation>,
}

impl LoadResponse {
    /// Facts from the steps of the unchanged cell. `cap` is the in-flight cap if it was reached in a trial.
    pub fn of_steps(steps: &[StepResult], cap: Option<u32>) -> LoadResponse {
        let beyond: Vec<&StepResult> = steps.iter().filter(|it| is_beyond(it)).collect();
        // Short stalls violate objectives although the offered load is delivered.
        let is_short = |step: &StepResult| step.delivered.0 < DELIVERED_SHARE_MAX * step.step.level;
        let overloaded: Vec<&StepResult> = beyond.iter().copied().filter(|it| is_short(it)).collect();
        let unloaded = steps.iter().filter(|it| is_not_overloaded(it)).filter_map(|it| it.mean);
        let unloaded = unloaded.map(Nanos::as_secs_f64).reduce(f64::min);
        // By Little's law, the time with all clients busy is their number divided by the throughput.
        let longer = beyond.iter().filter_map(|step| {
            let clients = match step.outcome {
                LevelOutcome::Invalid { reason: SearchStopReason::ClientCap { clients } } => clients,
                _ => cap?,
            };
            Some(f64::from(clients) / step.delivered.0 / unloaded? >= LONGER_RATIO)
        });
        let at_cap: Vec<bool> = longer.collect();
        let takes_longer_at_cap = at_cap.contains(&true);
        let cap_explains = !at_cap.is_empty() && !takes_longer_at_cap;
        let saturation = saturation(&overloaded, takes_longer_at_cap).filter(|_| !cap_explains);
        LoadResponse { takes_longer_at_cap, saturation }
    }
}

fn is_beyond(step: &StepResult) -> bool {
    let kind = matches!(
        step.outcome,
        LevelOutcome::NotSustained { .. }
            | LevelOutcome::Invalid { reason: SearchStopReason::ClientCap { .. } }
    );
    kind && step.step.scale == LoadScale::Rate && step.delivered.0 > 0.0
}

fn is_not_overloaded(step: &StepResult) -> bool {
    matches!(
        step.outcome,
        LevelOutcome::Sustained | LevelOutcome::Invalid { reason: SearchStopReason::TooFewSamples { .. } }
    )
}

/// Saturation of the overloaded levels, if their throughputs are equal. One level is enough if transactions take longer
/// at the in-flight cap.
fn saturation(overloaded: &[&StepResult], takes_longer_at_cap: bool) -> Option<Saturation> {
    let range = |figure: fn(&StepResult) -> f64| {
        let all = || overloaded.iter().map(|it| figure(it));
        Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
    };
    let (delivered, offered) = (range(|it| it.delivered.0)?, range(|it| it.step.level)?);
    let several = offered.1 >= LEVEL_RATIO_MIN * offered.0;
    let flat = delivered.1 <= FLAT_RATIO_MAX * delivered.0;
    ((several || takes_longer_at_cap) && flat)
        .then(|| Saturation { delivered: f64::midpoint(delivered.0, delivered.1), offered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::PerSecond;
    use model::search::{OverloadReason, SearchStep, StepPurpose};

    fn step(level: f64, delivered: f64, mean_millis: u64, outcome: LevelOutcome) -> StepResult {
        let step = SearchStep {
            scale: LoadScale::Rate,
            level,
            purpose: StepPurpose::Ramp,
            window: Nanos::from_secs(4),
            perturbation: None,
            round: 0,
        };
        StepResult {
            step,
            outcome,
            delivered: PerSecond(delivered),
            p95: None,
            p99: None,
            mean: Some(Nanos::from_millis(mean_millis)),
            time_objectives: Vec::new(),
        }
    }

    fn held(level: f64, millis: u64) -> StepResult {
        step(level, level, millis, LevelOutcome::Sustained)
    }

    fn behind(level: f64, delivered: f64) -> StepResult {
        let reason = OverloadReason::FellBehind { share: delivered / level };
        step(level, delivered, 900, LevelOutcome::NotSustained { reason })
    }

    fn capped(level: f64, delivered: f64, clients: u32) -> StepResult {
        let reason = SearchStopReason::ClientCap { clients };
        step(level, delivered, 900, LevelOutcome::Invalid { reason })
    }

    #[test]
    fn distinguishes_saturation_from_the_in_flight_cap() {
        let check = |steps: &[StepResult], longer: bool, saturation: Option<(f64, (f64, f64))>| {
            let found = LoadResponse::of_steps(steps, None);
            let expected = saturation.map(|(delivered, offered)| Saturation { delivered, offered });
            let rounded = found.saturation.map(|it| Saturation { delivered: it.delivered.round(), ..it });
            assert_eq!((found.takes_longer_at_cap, rounded), (longer, expected), "{steps:?}");
        };
        // A global lock: 47 per second whatever is offered, with 100 or with 200 clients.
        let lock = [held(40.0, 25), capped(80.0, 47.0, 100), capped(160.0, 47.0, 100)];
        check(&lock, true, Some((47.0, (80.0, 160.0))));
        check(&[held(40.0, 25), capped(80.0, 46.0, 200)], true, Some((46.0, (80.0, 80.0))));
        check(&[held(40.0, 25), behind(60.0, 47.0), behind(80.0, 48.0)], false, Some((48.0, (60.0, 80.0))));
        // Four clients with transactions of 20 ms deliver 200 per second, and more clients would deliver more.
        check(&[held(100.0, 20), capped(250.0, 190.0, 4), capped(400.0, 195.0, 4)], false, None);
        // One overloaded level, or a throughput that still rises.
        check(&[held(40.0, 25), behind(60.0, 47.0)], false, None);
        check(&[held(40.0, 25), behind(60.0, 47.0), behind(120.0, 90.0)], false, None);
        check(&[held(40.0, 25)], false, None);
        check(&[], false, None);
        // Stalls fill fifty clients, although transactions take 2 ms otherwise, and all are delivered. With four clients, there
        // are no stalls.
        let stalled = |cap| LoadResponse::of_steps(&[held(150.0, 2), behind(160.0, 159.0)], Some(cap));
        assert_eq!(stalled(50), LoadResponse { takes_longer_at_cap: true, saturation: None });
        let filled = LoadResponse::of_steps(&[held(180.0, 20), behind(195.0, 194.0)], Some(4));
        assert_eq!(filled, LoadResponse::default());
    }

    /// At overloaded levels that violate an objective, the cap may be reached in some of the seconds only.
    #[test]
    fn compares_violated_levels_with_the_cap() {
        let takes_longer = |steps: &[StepResult], cap| LoadResponse::of_steps(steps, cap).takes_longer_at_cap;
        // 150 clients with transactions of 15 ms could deliver 10,000 per second.
        let slow_system = [held(126.0, 15), behind(137.0, 128.0), behind(151.0, 143.0)];
        assert!(takes_longer(&slow_system, Some(150)));
        assert!(!takes_longer(&slow_system, None));
        // Four clients with transactions of 20 ms deliver 200 per second.
        assert!(!takes_longer(&[held(100.0, 20), behind(250.0, 195.0)], Some(4)));
    }
}
