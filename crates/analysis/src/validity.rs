//! Can the numbers be believed?
//!
//! A reason makes the measurement invalid: what was measured is the generator, its host or a load that was not the planned
//! one. A doubt is a fact without
//! which the numbers are easily misread. Each rule is one function from the summary to its finding.

use crate::sizes::{Populations, populations};
pub use model::summary::Validity;
use model::summary::{Distribution, Doubt, LoadModel, Reason, Summary};
use model::{Measured, Nanos};

/// A send lag up to this is not held against the generator: timers of ordinary runtimes lag as much.
const LATE: Nanos = Nanos::from_millis(1);
/// So many times the host's jitter is what the host explains of a send lag.
const EXPLAINED: u64 = 2;
/// Above this share of the window a thread has no reserve for what comes next.
const SATURATED: f64 = 0.9;
/// Clocks of a machine that was not suspended differ by less.
const SUSPENDED: Nanos = Nanos::from_millis(10);
/// The wall clock and the boot-time clock drift apart by less, unless the wall clock is set.
const CLOCK_SET: Nanos = Nanos::from_millis(100);
/// A thread that does not look at the clock for longer has frozen, and with it all its clients.
const STALLED: Nanos = Nanos::from_millis(100);
/// Share of a quota's periods: in each of them the whole generator stood still for up to a period.
const THROTTLED: f64 = 0.01;
/// Share of one processor that the hypervisor gave away.
const STOLEN: f64 = 0.01;
/// Share of the window without a processor.
const STARVED: f64 = 0.05;
/// Share of arrivals that had to wait for a client.
const WAITED: f64 = 0.01;
/// Jain's index below which hardly served clients are hidden by an average.
const UNFAIR: f64 = 0.5;
/// A client that did less than this share of the median was hardly served, whatever the index says.
const HARDLY: f64 = 0.1;
/// Transactions per client from which on chance alone does not make it unfair.
const ENOUGH_FOR_FAIRNESS: u64 = 10;
/// Share of small answers from which on a throughput is mostly theirs.
const MOST_SMALL: f64 = 0.5;
/// An outage as long as this is worth a doubt, however long the window.
const LONG_OUTAGE: Nanos = Nanos::from_secs(1);
/// Share of the window from which on outages show in its 99th percentile.
const OUTAGES: f64 = 0.01;
/// Samples with which the 99th percentile has ten beyond it.
const ENOUGH_FOR_P99: u64 = 1000;

/// `summary` is that of `measured`, its validity apart.
pub fn judge(measured: &Measured, summary: &Summary) -> Validity {
    let mut reasons = Vec::new();
    let mut doubts = Vec::new();
    match lateness(&summary.generator.send_lag, &summary.generator.jitter) {
        Some(Lateness::OfTheGenerator(it)) => reasons.push(it),
        Some(Lateness::OfTheHost(it)) => doubts.push(it),
        None => {}
    }
    for (thread, it) in summary.generator.threads.iter().enumerate() {
        if it.busy >= SATURATED {
            reasons.push(Reason::Saturated { thread, busy: it.busy });
        }
        if it.longest_stall > STALLED {
            reasons.push(Reason::Stalled { thread, lasting: it.longest_stall });
        }
        if let Some(share) = it.starved.filter(|it| *it >= STARVED) {
            doubts.push(Doubt::Starved { thread, share });
        }
    }
    if measured.exhausted > 0 {
        reasons.push(Reason::Exhausted { connections: measured.exhausted });
    }
    if measured.suspended > SUSPENDED {
        reasons.push(Reason::Suspended { lasting: measured.suspended });
    }
    doubts.extend(stolen(measured));
    doubts.extend(cap_reached(summary));
    doubts.extend(unfair(summary));
    doubts.extend(few_samples(summary));
    doubts.extend(outage(summary));
    doubts.extend(small_answers(measured));
    if measured.aborted > 0 {
        reasons.push(Reason::Aborted { clients: measured.aborted, of: summary.plan.clients });
    }
    Validity { valid: reasons.is_empty(), reasons, doubts }
}

/// Adds what only its control group knows: the share of the quota's periods in which the generator was held back by a limit
/// of its own.
pub fn throttled(summary: &mut Summary, share: Option<f64>) {
    if let Some(share) = share.filter(|it| *it >= THROTTLED) {
        summary.validity.reasons.push(Reason::Throttled { share });
        summary.validity.valid = false;
    }
}

/// Adds the doubt that the generator's wall clock was set by `step` nanoseconds during the measurement.
pub fn clock_set(summary: &mut Summary, step: i64) {
    if step.unsigned_abs() >= CLOCK_SET.0 {
        summary.validity.doubts.push(Doubt::ClockSet { step });
    }
}

/// Removes the doubt about outages from a trial with injected faults, which reports them as such.
pub fn expected_outages(summary: &mut Summary) {
    summary.validity.doubts.retain(|it| !matches!(it, Doubt::Outage { .. }));
}

/// The doubt about outages, if there is one.
pub fn outage_doubt(summary: &Summary) -> Option<Doubt> {
    summary.validity.doubts.iter().find(|it| matches!(it, Doubt::Outage { .. })).copied()
}

enum Lateness {
    OfTheGenerator(Reason),
    OfTheHost(Doubt),
}

/// The highest quantile up to p99 that the samples of both allow is compared with the same one of the jitter probe, which
/// slept on the same host at the same time: what exceeds it twice is not the host's.
fn lateness(lag: &Distribution, jitter: &Distribution) -> Option<Lateness> {
    type Read = fn(&Distribution) -> Option<Nanos>;
    let at: [(f64, Read); 4] =
        [(0.99, |it| it.p99), (0.95, |it| it.p95), (0.9, |it| it.p90), (0.5, |it| it.p50)];
    let both = at.iter().find_map(|(quantile, read)| Some((*quantile, read(lag)?, Some(read(jitter)?))));
    let alone = || at.iter().find_map(|(quantile, read)| Some((*quantile, read(lag)?, None)));
    let (quantile, lag, jitter) = both.or_else(alone)?;
    if lag <= LATE {
        return None;
    }
    Some(match jitter {
        Some(jitter) if lag.0 <= EXPLAINED * jitter.0 => {
            Lateness::OfTheHost(Doubt::HostLate { quantile, lag, jitter })
        }
        _ => Lateness::OfTheGenerator(Reason::Late { quantile, lag, jitter }),
    })
}

fn stolen(measured: &Measured) -> Option<Doubt> {
    let processors = measured.stolen?.as_secs_f64() / measured.window.as_secs_f64();
    (processors >= STOLEN).then_some(Doubt::Stolen { processors })
}

fn cap_reached(summary: &Summary) -> Option<Doubt> {
    let LoadModel::Open { .. } = summary.plan.model else { return None };
    let arrivals = summary.total.counts.arrivals();
    let dropped = summary.total.counts.dropped;
    let waited = summary.generator.backlog_wait.count;
    let many = waited as f64 >= WAITED * arrivals as f64 && waited > 0;
    // What aborted clients left undone was not dropped because they were busy.
    let busy = dropped > 0 && summary.generator.aborted == 0;
    (many || busy).then_some(Doubt::CapReached { arrivals, waited, dropped })
}

/// Of the closed model only: in the open one whoever is idle serves, and nobody is owed a turn.
fn unfair(summary: &Summary) -> Option<Doubt> {
    let LoadModel::Closed { .. } = summary.plan.model else { return None };
    let it = summary.fairness?;
    let enough = summary.total.counts.ok >= ENOUGH_FOR_FAIRNESS * u64::from(summary.plan.clients);
    let (jain, fewest, most) = (it.jain, it.fewest, it.most);
    let hardly = (fewest as f64) < HARDLY * it.median as f64;
    (enough && (jain < UNFAIR || hardly)).then_some(Doubt::Unfair { jain, fewest, most })
}

/// A long one, or a good part of the window in short ones.
fn outage(summary: &Summary) -> Option<Doubt> {
    let longest = summary.outages.iter().max_by_key(|it| it.length())?;
    let lasting = summary.outages.iter().fold(Nanos::ZERO, |sum, it| sum + it.length());
    let much = lasting.as_secs_f64() >= OUTAGES * summary.window.as_secs_f64();
    (much || longest.length() >= LONG_OUTAGE).then_some(Doubt::Outage {
        count: summary.outages.len(),
        lasting,
        from: longest.from,
        to: longest.to,
    })
}

/// Where most of all answers are of the smaller one of two populations of their request; sizes of the most frequent one.
fn small_answers(measured: &Measured) -> Option<Doubt> {
    let answers = &measured.interval.answers;
    let all: u64 = answers.iter().map(|it| it.sizes.count()).sum();
    let two = answers.iter().filter_map(|it| Some((it.sizes.count(), populations(&it.sizes)?)));
    let small_of = |it: &(u64, Populations)| it.0 as f64 * it.1.share;
    let two: Vec<(u64, Populations)> = two.collect();
    let share = two.iter().map(small_of).sum::<f64>() / all as f64;
    let (_, most) = two.iter().max_by(|a, b| small_of(a).total_cmp(&small_of(b)))?;
    (share >= MOST_SMALL).then_some(Doubt::SmallAnswers { small: most.small, large: most.large, share })
}

fn few_samples(summary: &Summary) -> Option<Doubt> {
    match summary.total.response.count {
        0 => Some(Doubt::NothingOk),
        count => (count < ENOUGH_FOR_P99).then_some(Doubt::FewSamples { count }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{closed, millis, open, quiet};
    use crate::summary::summarise;
    use model::summary::{Plan, Server};

    /// What `spoil` does to a quiet measurement under `plan`, as reasons and doubts.
    #[track_caller]
    fn check(plan: Plan, spoil: impl FnOnce(&mut Measured), expected: &str) {
        let mut measured = quiet();
        spoil(&mut measured);
        let it = summarise(&measured, Server::default(), plan).validity;
        assert_eq!(it.valid, it.reasons.is_empty());
        let reasons = it.reasons.iter().map(|it| format!("{it:?}"));
        let doubts = it.doubts.iter().map(|it| format!("? {it:?}"));
        assert_eq!(reasons.chain(doubts).collect::<Vec<_>>().join("; "), expected);
    }

    #[test]
    fn a_quiet_run_is_valid() {
        check(closed(), |_| {}, "");
        check(open(), |_| {}, "");
    }

    #[test]
    fn late() {
        check(
            open(),
            |it| it.interval.send_lag = millis(1000, 5),
            "Late { quantile: 0.99, lag: Nanos(5000000), jitter: Some(Nanos(50000)) }",
        );
        // The host's own lateness explains it.
        check(
            open(),
            |it| (it.interval.send_lag, it.jitter) = (millis(1000, 5), millis(1000, 3)),
            "? HostLate { quantile: 0.99, lag: Nanos(5000000), jitter: Nanos(3000000) }",
        );
        check(
            open(),
            |it| (it.interval.send_lag, it.jitter) = (millis(1000, 5), millis(1000, 2)),
            "Late { quantile: 0.99, lag: Nanos(5000000), jitter: Some(Nanos(2000000)) }",
        );
        // A probe with fewer samples is compared where it has enough: at p95 with 400.
        check(
            open(),
            |it| (it.interval.send_lag, it.jitter) = (millis(1000, 5), millis(400, 4)),
            "? HostLate { quantile: 0.95, lag: Nanos(5000000), jitter: Nanos(4000000) }",
        );
        // One stray in ten thousand is nobody's lateness, and a short run is judged by the quantile it has.
        check(open(), |it| it.interval.send_lag.merge(&millis(1, 90)), "");
        check(
            open(),
            |it| it.interval.send_lag = millis(100, 5),
            "Late { quantile: 0.9, lag: Nanos(5000000), jitter: Some(Nanos(50000)) }",
        );
        check(open(), |it| it.interval.send_lag = millis(18, 5), "");
    }

    #[test]
    fn other_reasons() {
        check(
            closed(),
            |it| it.efforts[1].system = Nanos::from_millis(9_100),
            "Saturated { thread: 1, busy: 0.919 }",
        );
        // Spinning is not work.
        check(
            closed(),
            |it| (it.efforts[1].user, it.efforts[1].spun) = (Nanos::from_secs(9), Nanos::from_secs(8)),
            "",
        );
        check(closed(), |it| it.exhausted = 3, "Exhausted { connections: 3 }");
        check(closed(), |it| it.suspended = Nanos::from_millis(11), "Suspended { lasting: Nanos(11000000) }");
        check(
            closed(),
            |it| it.efforts[0].longest_stall = Nanos::from_millis(101),
            "Stalled { thread: 0, lasting: Nanos(101000000) }",
        );
    }

    #[test]
    fn held_back_by_its_own_limit() {
        for (share, expected) in [(None, true), (Some(0.009), true), (Some(0.01), false)] {
            let mut it = summarise(&quiet(), Server::default(), closed());
            throttled(&mut it, share);
            assert_eq!(
                (it.validity.valid, it.validity.reasons.is_empty()),
                (expected, expected),
                "{share:?}"
            );
        }
    }

    #[test]
    fn clock_that_was_set() {
        for (millis, expected) in [(-3_600_000, 1), (-100, 1), (-99, 0), (0, 0), (99, 0), (100, 1)] {
            let mut it = summarise(&quiet(), Server::default(), closed());
            let before = it.validity.doubts.len();
            clock_set(&mut it, millis * 1_000_000);
            assert_eq!(
                (it.validity.valid, it.validity.doubts.len() - before),
                (true, expected),
                "{millis} ms"
            );
        }
    }

    #[test]
    fn doubts() {
        check(closed(), |it| it.stolen = Some(Nanos::from_millis(100)), "? Stolen { processors: 0.01 }");
        check(closed(), |it| it.stolen = Some(Nanos::from_millis(99)), "");
        check(
            closed(),
            |it| it.efforts[1].starved = Some(Nanos::from_millis(500)),
            "? Starved { thread: 1, share: 0.05 }",
        );
        check(
            open(),
            |it| it.interval.backlog_wait = millis(100, 1),
            "? CapReached { arrivals: 10000, waited: 100, dropped: 0 }",
        );
        check(open(), |it| it.interval.backlog_wait = millis(99, 1), "");
        check(
            open(),
            |it| it.interval.cells[1].dropped = 1,
            "? CapReached { arrivals: 10001, waited: 0, dropped: 1 }",
        );
        check(
            closed(),
            |it| it.clients = [vec![500; 20], vec![0; 180]].concat(),
            "? Unfair { jain: 0.1, fewest: 0, most: 500 }",
        );
        check(
            closed(),
            |it| it.clients = [vec![33; 300], vec![0; 3]].concat(),
            "? Unfair { jain: 0.9900990099009901, fewest: 0, most: 33 }",
        );
        check(closed(), |it| it.clients = vec![3, 30, 30, 30], "");
        check(open(), |it| it.clients = vec![10_000, 0, 0, 0], "");
        let outage = |from: u64, to: u64| {
            let (from, to) = (Nanos::from_millis(from), Nanos::from_millis(to));
            model::Outage { from, to, unended: false, failing: false }
        };
        for plan in [open(), closed()] {
            check(
                plan,
                |it| it.outages = vec![outage(0, 1_500), outage(2_200, 6_000)],
                "? Outage { count: 2, lasting: Nanos(5300000000), from: Nanos(2200000000), to: Nanos(6000000000) }",
            );
        }
        let sizes = |small: u64, large: u64| {
            move |it: &mut Measured| {
                let mut answers = model::AnswerSizes::of((0, 0));
                (0..small).for_each(|_| answers.sizes.record(2_000));
                (0..large).for_each(|_| answers.sizes.record(40_000));
                it.interval.answers = vec![answers];
            }
        };
        check(closed(), sizes(600, 400), "? SmallAnswers { small: 2047, large: 40000, share: 0.6 }");
        check(closed(), sizes(400, 600), "");
        check(closed(), sizes(1000, 0), "");
        check(closed(), |it| it.aborted = 2, "Aborted { clients: 2, of: 4 }");
        let dropped = |it: &mut Measured| (it.aborted, it.interval.cells[0].dropped) = (2, 5);
        check(open(), dropped, "Aborted { clients: 2, of: 4 }");
        check(closed(), |it| it.interval.clear(), "? NothingOk");
        check(
            closed(),
            |it| {
                it.interval.clear();
                it.interval.cells[0].response = millis(999, 1);
            },
            "? FewSamples { count: 999 }",
        );
    }
}
