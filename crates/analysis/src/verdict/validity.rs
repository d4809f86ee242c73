//! Judge of a measurement's validity
//!
//! An invalid measurement describes the generator, its host or a load other than the planned one. A doubt is a fact
//! that is needed to interpret a valid measurement correctly.

use super::several_trials::rank;
use crate::facts::sizes::{Populations, populations};
use model::plan::Load;
use model::summary::{Distribution, LoadModelSummary, Summary};
pub use model::validity::Validity;
use model::validity::{Doubt, InvalidReason, Verdict};
use model::{AgentPart, EmptyStatement, Measurement, Nanos, ReplayCounts, ReplayFigures, SizeUnit};

/// Largest send lag of a measurement that is valid in any case. Timers of ordinary language runtimes have the same lateness.
const SEND_LAG_MAX: Nanos = Nanos::from_millis(1);
/// Largest ratio of the send lag to the host's timer jitter at which the host counts as the cause.
const JITTER_FACTOR: u64 = 2;
/// Largest uncertainty of an agent's clock in a valid measurement: 1 % of the second in which intervals are merged.
const CLOCK_UNCERTAINTY_MAX: Nanos = Nanos::from_millis(10);
/// Busy share of the window up to which a thread is on time: with Poisson arrivals, less than a tenth of them wait for
/// longer than two service times of the thread.
const AGENT_BUSY_MAX: f64 = 0.7;
/// Busy share of the window above which a thread is saturated.
const SATURATED_SHARE: f64 = 0.9;
/// Smallest difference between boot-time clock and monotonic clock that shows that the machine was suspended.
const SUSPENSION_MIN: Nanos = Nanos::from_millis(10);
/// Smallest difference between wall clock and boot-time clock at which the wall clock counts as changed.
const CLOCK_STEP_MIN: Nanos = Nanos::from_millis(100);
/// Largest send lag (p99) and stall of a valid measurement, as shares of the mean service time, if they exceed the times
/// above. A disturbance of 2 % of the answers' own time does not change a verdict about them.
const SEND_LAG_SHARE: f64 = 0.02;
const STALL_SHARE: f64 = 0.05;
/// Minimum time between two clock readings of a thread at which the thread counts as stalled.
const STALL_MIN: Nanos = Nanos::from_millis(100);
/// Minimum share of throttled quota periods that makes a measurement invalid. In each such period, the whole generator
/// may stop.
const THROTTLED_SHARE_MIN: f64 = 0.01;
/// Minimum CPU steal that causes a doubt, in CPUs.
const STEAL_SHARE_MIN: f64 = 0.01;
/// Minimum share of the window that causes a doubt if a thread was runnable but had no CPU.
const RUNNABLE_SHARE_MIN: f64 = 0.05;
/// Minimum share of arrivals waiting for a client that causes a doubt.
const QUEUED_SHARE_MIN: f64 = 0.01;
/// Minimum number of arrivals per operation for a comparison of the shares with those of the recording.
const MIX_ARRIVALS_MIN: u64 = 50;
/// Share of the arrivals that belong to other operations than in the recording, from which a doubt is reported.
const MIX_DISTANCE_MAX: f64 = 0.1;
/// Minimum wait (p99) of a replay's requests for the previous request of their session that causes a doubt.
const BEHIND_MIN: Nanos = Nanos::from_millis(100);
/// Jain's index below which averages hide starved clients.
const JAIN_INDEX_MIN: f64 = 0.5;
/// Share of the median client's transactions below which a client counts as starved, whatever Jain's index is.
const STARVED_SHARE: f64 = 0.1;
/// Minimum number of transactions per client at which chance alone does not explain unfairness.
const FAIRNESS_TRANSACTIONS_MIN: u64 = 10;
/// Minimum share of small responses that causes a doubt.
const SMALL_SHARE_MIN: f64 = 0.5;
/// Minimum duration of an outage that causes a doubt, whatever the length of the window.
const LONG_OUTAGE: Nanos = Nanos::from_secs(1);
/// Minimum share of outages in the window at which they affect p99.
const OUTAGE_SHARE_MIN: f64 = 0.01;
/// Minimum number of samples for p99, so that ten samples lie beyond it.
const P99_SAMPLES_MIN: u64 = 1000;
/// Share of the planned duration below which a load ended early.
const FULL_LOAD_SHARE_MIN: f64 = 0.95;

/// Validity of a measurement. `summary` is the summary of `measured`, without its validity.
pub fn judge(measured: &Measurement, summary: &Summary) -> Validity {
    let mut reasons = Vec::new();
    let mut doubts = Vec::new();
    let service = summary.total.service.mean.unwrap_or_default();
    let tolerated = |share: f64| Nanos::from_secs_f64(service.as_secs_f64() * share);
    let slack = match summary.plan.model {
        LoadModelSummary::Open { slack, .. } => slack,
        LoadModelSummary::Closed { .. } | LoadModelSummary::Replay { .. } => Nanos::ZERO,
    };
    let lag_max = slack + SEND_LAG_MAX.max(tolerated(SEND_LAG_SHARE));
    match late_cause(&summary.generator.send_lag, &summary.generator.jitter, lag_max) {
        Some(LateCause::Generator(it)) => reasons.push(it),
        Some(LateCause::Host(it)) => doubts.push(it),
        None => {}
    }
    for (thread, usage) in summary.generator.threads.iter().enumerate() {
        if usage.busy >= SATURATED_SHARE {
            reasons.push(InvalidReason::Saturated { thread, busy: usage.busy });
        }
        if usage.longest_stall > STALL_MIN.max(tolerated(STALL_SHARE)) {
            reasons.push(InvalidReason::Stalled { thread, duration: usage.longest_stall });
        }
        if let Some(share) = usage.starved.filter(|it| *it >= RUNNABLE_SHARE_MIN) {
            doubts.push(Doubt::Starved { thread, share });
        }
    }
    if measured.exhausted_connects > 0 {
        reasons.push(InvalidReason::ResourcesExhausted { connections: measured.exhausted_connects });
    }
    if measured.suspended > SUSPENSION_MIN {
        reasons.push(InvalidReason::Suspended { duration: measured.suspended });
    }
    doubts.extend(stolen(measured));
    doubts.extend(cap_reached(summary));
    doubts.extend(behind_schedule(summary));
    doubts.extend(uneven_clients(summary));
    doubts.extend(few_samples(summary));
    doubts.extend(outage(summary));
    doubts.extend(small_answers(measured));
    doubts.extend(no_rows(summary));
    if measured.aborted_clients > 0 {
        reasons.push(InvalidReason::Aborted {
            clients: measured.aborted_clients,
            total_clients: summary.plan.clients,
        });
    }
    if summary.total.counts.ok == 0 {
        reasons.push(InvalidReason::NoSuccess);
    }
    let mut validity = Validity { reasons, doubts, ..Validity::default() };
    set_verdict(&mut validity);
    validity
}

/// Derives the verdict from the reasons and doubts.
fn set_verdict(validity: &mut Validity) {
    validity.doubts.sort_by_key(rank);
    validity.valid = validity.reasons.iter().all(|it| *it == InvalidReason::NoSuccess);
    validity.verdict = if !validity.reasons.is_empty() {
        Verdict::Invalid
    } else if validity.doubts.iter().any(Doubt::is_in_verdict) {
        Verdict::ValidWithDoubts
    } else {
        Verdict::Valid
    };
}

/// Adds doubts from sources other than the measurement.
fn add_doubts(summary: &mut Summary, doubts: impl IntoIterator<Item = Doubt>) {
    summary.validity.doubts.extend(doubts);
    set_verdict(&mut summary.validity);
}

/// Adds the reason that the generator was throttled, which only its control group reports. `share` is the share of the
/// CPU quota's periods in which the generator was throttled.
pub fn add_throttling(summary: &mut Summary, share: Option<f64>) {
    if let Some(share) = share.filter(|it| *it >= THROTTLED_SHARE_MIN) {
        summary.validity.reasons.push(InvalidReason::Throttled { share });
        set_verdict(&mut summary.validity);
    }
}

/// Adds the reasons why the parts of agents make a measurement invalid. If a thread was late, stalled or saturated, the
/// agents limited the load.
pub fn add_agents(summary: &mut Summary, parts: &[AgentPart]) {
    for (agent, part) in parts.iter().enumerate() {
        let uncertainty = part.clock_uncertainty;
        let reason = if part.lost.is_some() {
            InvalidReason::AgentLost { agent }
        } else if part.late > SEND_LAG_MAX {
            InvalidReason::AgentLate { agent, late: part.late }
        } else if uncertainty.is_none_or(|it| it > CLOCK_UNCERTAINTY_MAX) {
            InvalidReason::ClockUncertain { agent, uncertainty }
        } else {
            continue;
        };
        // A lost agent is the cause, and what else is wrong is an effect.
        match part.lost {
            Some(_) => summary.validity.reasons.insert(0, reason),
            None => summary.validity.reasons.push(reason),
        }
    }
    // A lost agent is no sign that the others have too much work.
    if parts.iter().all(|it| it.lost.is_none()) {
        let limit = agents_limit(&summary.validity.reasons, parts);
        summary.validity.reasons.extend(limit);
    }
    set_verdict(&mut summary.validity);
}

/// Reason that the agents limited the load, if one of these reasons concerns their threads.
fn agents_limit(reasons: &[InvalidReason], parts: &[AgentPart]) -> Option<InvalidReason> {
    use InvalidReason::{Late, Saturated, Stalled};
    let is_limit = |it: &InvalidReason| matches!(it, Late { .. } | Saturated { .. } | Stalled { .. });
    if parts.is_empty() || !reasons.iter().any(is_limit) {
        return None;
    }
    let (agents, busy) = (parts.len(), parts.iter().filter_map(|it| it.busy).reduce(f64::max));
    // The work of the busiest thread is spread over the threads of all agents.
    let needed = (agents as f64 * busy.unwrap_or(0.0) / AGENT_BUSY_MAX).ceil() as usize;
    Some(InvalidReason::AgentsLimit { agents, more: needed.saturating_sub(agents).max(1), busy })
}

/// Adds the doubt that the generator's wall clock was changed by `step` nanoseconds during the measurement.
pub fn add_clock_step(summary: &mut Summary, step: i64) {
    if step.unsigned_abs() >= CLOCK_STEP_MIN.0 {
        add_doubts(summary, [Doubt::ClockStepped { step }]);
    }
}

/// Adds the doubt that the load ended early because all `rows` of a feed were used up. No doubt is added if the load
/// lasted for about the `planned` duration.
pub fn add_feed_end(summary: &mut Summary, rows: u64, planned: Nanos) {
    let at = summary.window;
    if at.as_secs_f64() < FULL_LOAD_SHARE_MIN * planned.as_secs_f64() {
        // The last arrival was dropped because it got no row, not because the cap was reached.
        summary.validity.doubts.retain(|it| !matches!(it, Doubt::InFlightCapReached { waited: 0, .. }));
        add_doubts(summary, [Doubt::FeedExhausted { rows, at, planned }]);
    }
}

/// True if the load ended before its planned end because a feed was used up.
pub(crate) fn ended_early(summary: &Summary) -> bool {
    summary.validity.doubts.iter().any(|it| matches!(it, Doubt::FeedExhausted { .. }))
}

/// Doubts that the trial's verdict shows.
pub fn doubts_in_verdict(summary: &Summary) -> Vec<Doubt> {
    summary.validity.doubts.iter().filter(|it| it.is_in_verdict()).cloned().collect()
}

/// Adds the doubts that the load did not pass through these nodes.
pub fn add_unused_nodes(summary: &mut Summary, nodes: Vec<String>) {
    add_doubts(summary, nodes.into_iter().map(|node| Doubt::NodeNotUsed { node }));
}

/// Adds the doubt that the results of a replay differ from the recorded ones, if they do. The operations of another load
/// have no doubt, because pages may have changed since their log was written.
pub fn add_result_differences(summary: &mut Summary, load: &Load, replayed: &[ReplayFigures]) {
    if !load.is_recorded() {
        return;
    }
    let results = replayed.iter().map(|it| it.answers).sum();
    let differing: u64 = replayed.iter().map(ReplayFigures::differing).sum();
    add_doubts(summary, (differing > 0).then_some(Doubt::ResultsDiffer { results, differing }));
}

/// Adds the doubt that the shares of a recorded mix are not those of the recording, if they differ too much.
pub fn add_mix_difference(summary: &mut Summary, load: &Load) {
    let doubt = load.traffic.as_ref().and_then(|_| mix_difference(summary));
    add_doubts(summary, doubt);
}

/// Difference between the shares of the operations and their weights, if chance does not explain it.
fn mix_difference(summary: &Summary) -> Option<Doubt> {
    let weights: f64 = summary.plan.scripts.iter().map(|it| f64::from(it.weight)).sum();
    let arrivals = summary.total.counts.arrivals();
    if arrivals < MIX_ARRIVALS_MIN * summary.plan.scripts.len() as u64 {
        return None;
    }
    let shares = summary.plan.scripts.iter().zip(&summary.scripts).map(|(script, results)| {
        let measured = results.group.counts.arrivals() as f64 / arrivals as f64;
        (&script.name, f64::from(script.weight) / weights, measured)
    });
    let shares: Vec<_> = shares.collect();
    let distance = shares.iter().map(|it| (it.1 - it.2).abs()).sum::<f64>() / 2.0;
    let largest = shares.iter().max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()))?;
    let (operation, recorded, measured) = (largest.0.clone(), largest.1, largest.2);
    (distance >= MIX_DISTANCE_MAX).then_some(Doubt::MixDiffers { operation, recorded, measured })
}

/// Adds the doubt that the transaction log is incomplete.
pub fn add_incomplete_log(summary: &mut Summary) {
    add_doubts(summary, [Doubt::LogIncomplete]);
}

/// Removes the doubt about outages. A trial with injected faults reports its outages separately.
pub fn remove_outage_doubt(summary: &mut Summary) {
    summary.validity.doubts.retain(|it| !matches!(it, Doubt::Outage { .. }));
    set_verdict(&mut summary.validity);
}

/// True if there is a doubt about outages.
pub(crate) fn has_outage(summary: &Summary) -> bool {
    summary.validity.doubts.iter().any(|it| matches!(it, Doubt::Outage { .. }))
}

enum LateCause {
    Generator(InvalidReason),
    Host(Doubt),
}

/// Cause of late sends; `None` if they are not late. The function compares send lag and timer jitter at the highest
/// quantile, up to p99, for which both have enough samples. A lag of up to twice the jitter is caused by the host.
fn late_cause(lag: &Distribution, jitter: &Distribution, lag_max: Nanos) -> Option<LateCause> {
    type Read = fn(&Distribution) -> Option<Nanos>;
    let quantiles: [(f64, Read); 4] =
        [(0.99, |it| it.p99), (0.95, |it| it.p95), (0.9, |it| it.p90), (0.5, |it| it.p50)];
    let both =
        quantiles.iter().find_map(|(quantile, read)| Some((*quantile, read(lag)?, Some(read(jitter)?))));
    let alone = || quantiles.iter().find_map(|(quantile, read)| Some((*quantile, read(lag)?, None)));
    let (quantile, lag, jitter) = both.or_else(alone)?;
    if lag <= lag_max {
        return None;
    }
    Some(match jitter {
        Some(jitter) if lag.0 <= JITTER_FACTOR * jitter.0 => {
            LateCause::Host(Doubt::HostLate { quantile, lag, jitter })
        }
        _ => LateCause::Generator(InvalidReason::Late { quantile, lag, jitter }),
    })
}

fn stolen(measured: &Measurement) -> Option<Doubt> {
    let processors = measured.steal_time?.as_secs_f64() / measured.window.as_secs_f64();
    (processors >= STEAL_SHARE_MIN).then_some(Doubt::Stolen { processors })
}

fn cap_reached(summary: &Summary) -> Option<Doubt> {
    let LoadModelSummary::Open { .. } = summary.plan.model else { return None };
    let arrivals = summary.total.counts.arrivals();
    let dropped = summary.total.counts.dropped;
    let waited = summary.generator.backlog_wait.count;
    let many = waited as f64 >= QUEUED_SHARE_MIN * arrivals as f64 && waited > 0;
    // If clients aborted, dropped arrivals do not show that all clients were busy.
    let busy = dropped > 0 && summary.generator.aborted_clients == 0;
    (many || busy).then_some(Doubt::InFlightCapReached { arrivals, waited, dropped })
}

/// Doubt about a replay whose requests were sent late because of the system.
fn behind_schedule(summary: &Summary) -> Option<Doubt> {
    let LoadModelSummary::Replay { .. } = summary.plan.model else { return None };
    let (arrivals, dropped) = (summary.total.counts.arrivals(), summary.total.counts.dropped);
    let waits = &summary.generator.backlog_wait;
    let wait = waits.p99.or(waits.max).unwrap_or_default();
    let many = waits.count as f64 >= QUEUED_SHARE_MIN * arrivals as f64 && wait >= BEHIND_MIN;
    let waited = waits.count;
    (many || dropped > 0).then_some(Doubt::BehindSchedule { arrivals, waited, dropped, wait })
}

/// Doubt about unfair service, in the closed model only. In the open model, any idle client takes the next arrival, so
/// equal shares are not expected.
fn uneven_clients(summary: &Summary) -> Option<Doubt> {
    let LoadModelSummary::Closed { .. } = summary.plan.model else { return None };
    let fairness = summary.fairness?;
    let enough = summary.total.counts.ok >= FAIRNESS_TRANSACTIONS_MIN * u64::from(summary.plan.clients);
    let (jain, min_transactions, max_transactions) =
        (fairness.jain, fairness.min_transactions, fairness.max_transactions);
    let hardly = (min_transactions as f64) < STARVED_SHARE * fairness.median as f64;
    (enough && (jain < JAIN_INDEX_MIN || hardly)).then_some(Doubt::UnevenClients {
        jain,
        min_transactions,
        max_transactions,
    })
}

/// Doubt about a long outage, or about outages that make up a significant share of the window.
fn outage(summary: &Summary) -> Option<Doubt> {
    let longest = summary.outages.iter().max_by_key(|it| it.duration())?;
    let total = summary.outages.iter().fold(Nanos::ZERO, |sum, it| sum + it.duration());
    let much = total.as_secs_f64() >= OUTAGE_SHARE_MIN * summary.window.as_secs_f64();
    (much || longest.duration() >= LONG_OUTAGE).then_some(Doubt::Outage {
        count: summary.outages.len(),
        duration: total,
        from: longest.from,
        to: longest.to,
    })
}

/// Doubt that most responses may be error pages: the responses to their requests form two groups by size, and most
/// responses belong to a group of smaller sizes. The doubt has the sizes for the request with the most such responses.
fn small_answers(measured: &Measurement) -> Option<Doubt> {
    // Responses to a replayed log are compared with the recorded responses instead.
    let replays = &measured.interval.replays;
    let is_replayed = |operation| {
        replays.iter().filter_map(ReplayCounts::figures).any(|it| it.operation == operation && it.sized > 0)
    };
    let sizes = measured.interval.answers.iter().filter(|it| it.unit == SizeUnit::Bytes);
    let answers = || sizes.clone().filter(|it| !is_replayed(it.operation));
    let all: u64 = answers().map(|it| it.sizes.count()).sum();
    let two = answers().filter_map(|it| Some((it.sizes.count(), populations(&it.sizes)?)));
    let small_of = |it: &(u64, Populations)| it.0 as f64 * it.1.share;
    let two: Vec<(u64, Populations)> = two.collect();
    let share = two.iter().map(small_of).sum::<f64>() / all as f64;
    let (_, most) = two.iter().max_by(|a, b| small_of(a).total_cmp(&small_of(b)))?;
    (share >= SMALL_SHARE_MIN).then_some(Doubt::SmallAnswers { small: most.small, large: most.large, share })
}

/// Doubt about the most frequent statement that should find rows but finds none.
fn no_rows(summary: &Summary) -> Option<Doubt> {
    let empty = || summary.empty_statements.iter().filter(|it| it.statement.needs_rows());
    let most = empty().max_by_key(|it| it.count)?;
    let EmptyStatement { operation, command, statement, count, share, second } = *most;
    Some(Doubt::NoRows { operation, command, statement, statements: empty().count(), count, share, second })
}

fn few_samples(summary: &Summary) -> Option<Doubt> {
    let count = summary.total.response.count;
    (1..P99_SAMPLES_MIN).contains(&count).then_some(Doubt::FewSamples { count })
}

#[cfg(test)]
mod tests;
