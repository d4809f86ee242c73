//! Totals of a run over all of its trials so far

use model::totals::{Buckets, CurrentTrial, RESPONSE_TIME_BOUNDS, SEND_LAG_BOUNDS, Totals};
use model::{FailureCounts, LatencyHistogram, Tick};
use std::collections::BTreeMap;

/// Totals of a run that has not started.
pub fn empty() -> Totals {
    Totals {
        send_lag: Buckets::new(SEND_LAG_BOUNDS),
        backlog_wait: Buckets::new(RESPONSE_TIME_BOUNDS),
        ..Totals::default()
    }
}

/// Begins a trial with these operations. Their counters are 0 until the first transaction ends.
pub fn begin_trial(totals: &mut Totals, trial: CurrentTrial, operations: &[String]) {
    totals.trial = Some(trial);
    for name in operations {
        totals.operations.entry(name.clone()).or_default();
    }
}

/// Adds one second. `operations` are the names in the order of the mix. `probe` returns the probe that measures a
/// series; a series without a probe is left out.
pub fn add(
    totals: &mut Totals,
    tick: &Tick,
    operations: &[String],
    probe: &dyn Fn(&str) -> Option<&'static str>,
) {
    let interval = &tick.interval;
    for (name, cell) in operations.iter().zip(&interval.scripts) {
        let operation = totals.operations.entry(name.clone()).or_default();
        operation.ok += cell.ok;
        operation.failed += cell.failed.total();
        operation.unknown += cell.unknown.total();
        operation.dropped += cell.dropped;
        add_histogram(&mut operation.response, &cell.response);
        // Unanswered arrivals are longer than any bound.
        operation.response.count += cell.unanswered();
        add_histogram(&mut operation.service, &cell.service);
        count(&mut totals.failures, &cell.failed);
        count(&mut totals.failures, &cell.unknown);
    }
    count(&mut totals.refused, &interval.refused);
    add_histogram(&mut totals.send_lag, &interval.send_lag);
    add_histogram(&mut totals.backlog_wait, &interval.backlog_wait);
    totals.in_flight = tick.in_flight;
    for sample in &tick.samples {
        let Some(probe) = probe(&sample.series) else { continue };
        let latest = totals.probes.entry((sample.node.to_string(), probe)).or_default();
        if sample.at < latest.at {
            continue;
        }
        // A probe samples all labels at once, so remove labels that have no sample at the new time.
        if sample.at > latest.at {
            latest.values.clear();
            latest.at = sample.at;
        }
        latest.values.insert((sample.series.to_string(), sample.label.to_string()), sample.value);
    }
}

/// Ends a trial and clears its current values.
pub fn end_trial(totals: &mut Totals) {
    totals.trial = None;
    totals.in_flight = 0;
    totals.probes.clear();
}

fn add_histogram(into: &mut Buckets, histogram: &LatencyHistogram) {
    if histogram.count() == 0 {
        return;
    }
    into.at_most
        .iter_mut()
        .zip(histogram.cumulative_counts(into.bounds))
        .for_each(|(all, more)| *all += more);
    into.count += histogram.count();
    into.sum += histogram.sum();
}

fn count(into: &mut BTreeMap<String, u64>, counts: &FailureCounts) {
    let other = (counts.other() > 0).then(|| ("other".to_owned(), counts.other()));
    let named = counts.iter().map(|(code, n)| (code.to_string(), n));
    named.chain(other).for_each(|(code, n)| *into.entry(code).or_default() += n);
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Code, Interval, Nanos, Sample};

    fn tick(samples: &[(u64, &'static str, &'static str, f64)]) -> Tick {
        let mut interval = Interval::new(&[0, 0]);
        let cell = &mut interval.scripts[1];
        (cell.ok, cell.dropped) = (3, 2);
        cell.failed.add(Code::SqlState(*b"40001"), 1);
        cell.unknown.add(Code::RESET, 4);
        cell.unknown.add_other(5);
        [50, 500, 5_000_000].iter().for_each(|it| cell.response.record(Nanos::from_micros(*it)));
        interval.refused.add(Code::REFUSED, 6);
        interval.send_lag.record(Nanos::from_micros(3));
        let sample = |&(at, series, label, value): &(u64, &'static str, &'static str, f64)| {
            let (at, node) = (Nanos::from_millis(at), "pg".into());
            Sample { at, node, series: series.into(), label: label.into(), value }
        };
        Tick { second: 0, interval, in_flight: 7, samples: samples.iter().map(sample).collect() }
    }

    #[test]
    fn counters_never_decrease() {
        let names = ["read".to_owned(), "write".to_owned()];
        let mut totals = empty();
        begin_trial(&mut totals, CurrentTrial { cell: "a".to_owned(), repetition: 0 }, &names);
        assert_eq!(totals.operations["write"].ok, 0, "the counter exists before the first transaction");
        for round in 1..=3 {
            add(&mut totals, &tick(&[]), &names, &|_| None);
            let write = &totals.operations["write"];
            let counts = (write.ok, write.failed, write.unknown, write.dropped);
            assert_eq!(counts, (3 * round, round, 9 * round, 2 * round));
            let unanswered = 9 + 2;
            assert_eq!((write.response.count, write.service.count), ((3 + unanswered) * round, 0));
            assert_eq!(write.response.sum, u128::from(round) * 5_000_550_000);
            // 98 µs, 786 µs, and beyond 4.3 s.
            let at_most = |n: usize| write.response.at_most[n];
            assert_eq!([at_most(0), at_most(6), at_most(31), at_most(39)], [1, 2, 2, 3].map(|it| it * round));
            let codes: Vec<(&str, u64)> = totals.failures.iter().map(|it| (it.0.as_str(), *it.1)).collect();
            assert_eq!(codes, [("40001", round), ("net 104", 4 * round), ("other", 5 * round)]);
            assert_eq!((totals.refused["net 111"], totals.send_lag.count), (6 * round, round));
            assert_eq!((totals.operations["read"].ok, totals.in_flight), (0, 7));
            end_trial(&mut totals);
            assert_eq!((totals.in_flight, totals.operations["write"].ok), (0, 3 * round));
        }
    }

    #[test]
    fn a_sample_replaces_the_previous_one() {
        let mut totals = empty();
        let probe = |it: &str| (it != "strange").then_some("activity");
        let mut replace = |samples: &[(u64, &'static str, &'static str, f64)]| -> Vec<(String, String, f64)> {
            add(&mut totals, &tick(samples), &[], &probe);
            let all = totals.probes.values().flat_map(|it| it.values.clone());
            all.map(|((series, label), value)| (series, label, value)).collect()
        };
        let sample = |series: &str, label: &str, value| (series.to_owned(), label.to_owned(), value);
        let first =
            replace(&[(100, "sessions", "active", 4.0), (100, "used", "", 4.0), (100, "strange", "", 1.0)]);
        assert_eq!(first, [sample("sessions", "active", 4.0), sample("used", "", 4.0)]);
        // No session is active any more, so the state has no sample and must be removed.
        assert_eq!(replace(&[(200, "used", "", 3.0)]), [sample("used", "", 3.0)]);
        assert_eq!(replace(&[(150, "used", "", 9.0)]), [sample("used", "", 3.0)], "too late");
        end_trial(&mut totals);
        assert!(totals.probes.is_empty());
    }
}
