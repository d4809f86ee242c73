//! Did a level hold?
//!
//! Not held is a level that breaks an objective, fires a stop rule, is not delivered, or does not come to rest. A trial that
//! measured the generator says nothing, whatever else it shows.

use crate::objective;
use model::Second;
use model::objective::{Judged, Unit, Verdict};
use model::plan::Scale;
use model::search::{Broke, Held, Hindered, Seen, Stage, Step};
use model::stop::Fired;
use model::summary::{Doubt, LoadModel, Reason, Summary};

/// Of what is offered; what is less falls behind by more than a fiftieth. Less than that is seen by [`growing`], which is
/// more sensitive, but asks for a steady course; this one asks for nothing.
const DELIVERED: f64 = 0.98;
/// Of the window, at its beginning: connections are opened, caches filled. What comes then decides nothing.
const STARTING: f64 = 0.25;
/// Variances of counts of arrivals and of departures, in units of their mean: 1 of Poisson arrivals, 1.4 of service times
/// that vary a little more than exponential ones.
const DISPERSION: f64 = 2.4;
/// Standard deviations that what is under way may grow by chance. At precisely its capacity a system grows by more in six of
/// ten windows, so that votes are about even there; at 95 % of it, in hardly any.
const GROWN: f64 = 0.5;
/// Standard deviations that a share of arrivals may be less by chance.
const CHANCE: f64 = 2.0;
/// Seconds that are needed to see a course.
const FEWEST: usize = 8;
/// A share of arrivals that have to wait for a client is no accident.
const WAITED: f64 = 0.01;

/// Whether `step` held.
///
/// `seconds` are the trial's, in the order of time; only the last ones, as many as the step's window is long, are looked at,
/// so that a ramp before them (of `confirm`) may be among them. `objectives` as [`objective::judge`] gave them.
///
/// - The generator was late, saturated, held back or stalled; it had no descriptors; the machine slept: invalid.
/// - A stop rule fired, an objective is broken, less than 98 % of what was offered was delivered (and less than chance
///   explains), or what is under way grew to the end: not held. Failed transactions are not delivered, unless an objective
///   says how many of them there may be.
/// - The same while arrivals waited for a client in an open model: not held if service times alone break an objective;
///   otherwise [`Hindered::ClientCap`]. Whether it was for want of clients only other levels can tell, so `next` reads it
///   again beside them.
/// - An objective is unknown, for want of samples: on the ramp, which proves nothing, it is let pass; elsewhere the trial
///   has failed for that objective (its text).
pub fn judge(
    step: Step,
    summary: &Summary,
    seconds: &[Second],
    objectives: &[Judged],
    fired: Option<&Fired>,
) -> Seen {
    let outcome = outcome(&step, summary, &within(&step, seconds), objectives, fired);
    let response = &summary.total.response;
    Seen { step, outcome, delivered: summary.total.tps, p99: response.p99, mean: response.mean }
}

fn outcome(
    step: &Step,
    summary: &Summary,
    seconds: &[&Second],
    objectives: &[Judged],
    fired: Option<&Fired>,
) -> Held {
    if let Some(why) = summary.validity.reasons.iter().map(hindered).next() {
        return Held::Invalid { why };
    }
    let open = step.scale == Scale::Rate;
    let broken = objectives.iter().find(|it| it.verdict == Verdict::Broken);
    let broke = fired
        .map(|it| Broke::Rule { rule: it.rule.clone() })
        .or_else(|| broken.map(|it| Broke::Objective { text: it.objective.clone() }))
        .or_else(|| open.then(|| behind(step.level, seconds, objectives)).flatten())
        .or_else(|| open.then(|| growing(step.level, seconds)).flatten());
    if let Some(why) = broke {
        let slow = matches!(why, Broke::Rule { .. }) || broken.is_some_and(|it| by_service(it, summary));
        return match capped(summary) {
            Some(clients) if !slow => Held::Invalid { why: Hindered::ClientCap { clients } },
            _ => Held::No { why },
        };
    }
    match objectives.iter().find(|it| it.verdict == Verdict::Unknown) {
        Some(it) if step.stage != Stage::Ramp => {
            Held::Invalid { why: Hindered::Failed { why: it.objective.clone() } }
        }
        _ => Held::Yes,
    }
}

fn hindered(it: &Reason) -> Hindered {
    match it {
        Reason::Late { .. }
        | Reason::Saturated { .. }
        | Reason::Throttled { .. }
        | Reason::Stalled { .. } => Hindered::Generator,
        Reason::Exhausted { .. } => Hindered::Descriptors,
        Reason::Suspended { .. } => Hindered::Failed { why: "suspended".to_owned() },
    }
}

/// The clients of an open model, if they were all busy for long enough to matter.
fn capped(summary: &Summary) -> Option<u32> {
    let LoadModel::Open { .. } = summary.plan.model else { return None };
    let much = |it: &Doubt| match it {
        Doubt::CapReached { arrivals, waited, dropped } => {
            (waited + dropped) as f64 >= WAITED * *arrivals as f64
        }
        _ => false,
    };
    summary.validity.doubts.iter().any(much).then_some(summary.plan.clients)
}

/// Whether an objective on times would be broken too if nobody had had to wait for a client.
fn by_service(broken: &Judged, summary: &Summary) -> bool {
    if broken.unit != Unit::Seconds {
        return false;
    }
    let names: Vec<String> = summary.plan.scripts.iter().map(|it| it.name.clone()).collect();
    let Ok(it) = objective::parse(&broken.objective, &names) else { return false };
    let mut served = summary.clone();
    served.total.response = served.total.service;
    served.scripts.iter_mut().for_each(|it| it.group.response = it.group.service);
    it.judge(&served).verdict == Verdict::Broken
}

/// The last ones that are whole, as many as the window is long, without its beginning.
fn within<'a>(step: &Step, seconds: &'a [Second]) -> Vec<&'a Second> {
    let whole: Vec<&Second> = seconds.iter().filter(|it| lasting(it) > 0.5).collect();
    let window = step.window.as_secs_f64();
    let from = whole.last().map_or(0.0, |it| it.to.as_secs_f64()) - window * (1.0 - STARTING);
    whole.into_iter().filter(|it| it.from.as_secs_f64() >= from - 1e-3).collect()
}

fn lasting(it: &Second) -> f64 {
    it.to.0.saturating_sub(it.from.0) as f64 / 1e9
}

/// Of the seconds after the beginning, so that a pipeline that has to fill first is not taken for a delay.
fn behind(level: f64, seconds: &[&Second], objectives: &[Judged]) -> Option<Broke> {
    let failures_judged = objectives.iter().any(|it| {
        let left = it.objective.split(['<', '>']).next().unwrap_or_default();
        left.trim_end().ends_with("errors") && it.verdict == Verdict::Kept
    });
    let offered = level * seconds.iter().map(|it| lasting(it)).sum::<f64>();
    let ended = |it: &&Second| -> u64 {
        let of = |it: &model::OperationSecond| {
            let failed = if failures_judged { it.failed.total() + it.unknown.total() } else { 0 };
            (it.ok + failed).saturating_sub(it.late)
        };
        it.operations.iter().map(of).sum()
    };
    let delivered = seconds.iter().map(ended).sum::<u64>() as f64;
    let chance = CHANCE * (DISPERSION / 2.0 / offered).sqrt();
    let share = delivered / offered;
    (offered > 0.0 && share < DELIVERED - chance).then_some(Broke::Behind { share })
}

/// Whether what is under way grew to the end of the window, and faster than it would in a system that just keeps up.
///
/// Such a system's queue is a random walk: after t seconds it is away from where it was by about √(2.4 λ t). The slope is
/// that of Theil and Sen, whom single bad seconds do not impress; that of the last half has to be half as steep at least,
/// else it is coming to rest.
fn growing(level: f64, seconds: &[&Second]) -> Option<Broke> {
    if seconds.len() < FEWEST {
        return None;
    }
    let under_way: Vec<(f64, f64)> =
        seconds.iter().map(|it| (it.to.as_secs_f64(), under_way(level, it))).collect();
    let slope = slope(&under_way);
    let last = self::slope(&under_way[under_way.len() / 2..]);
    let lasting = under_way.len() as f64;
    let chance = (DISPERSION * level * lasting).sqrt();
    (slope * lasting > GROWN * chance && last >= slope / 2.0).then_some(Broke::Growing { per_second: slope })
}

/// Sent and not yet answered, or by Little's law as many as the second's mean response time says, which counts those as
/// well that wait for a client.
fn under_way(level: f64, it: &Second) -> f64 {
    let ended: u64 = it.operations.iter().map(|it| it.response.count()).sum();
    let sum: u128 = it.operations.iter().map(|it| it.response.sum()).sum();
    let by_time = if ended > 0 { level * sum as f64 / 1e9 / ended as f64 } else { 0.0 };
    by_time.max(it.in_flight as f64)
}

/// The median of the slopes of all pairs; Theil (1950), Sen (1968).
fn slope(points: &[(f64, f64)]) -> f64 {
    let mut slopes: Vec<f64> = Vec::with_capacity(points.len() * points.len() / 2);
    for (n, a) in points.iter().enumerate() {
        slopes.extend(points[n + 1..].iter().map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied().unwrap_or(0.0)
}
