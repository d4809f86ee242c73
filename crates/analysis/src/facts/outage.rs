//! Outages: intervals in which no transaction succeeded
//!
//! In the open model, arrivals continue during an outage and are counted. In the closed model, every client waits or is
//! refused, so an outage adds almost no samples. Objectives on response times and errors are therefore judged for a
//! user who arrives at a uniformly random time of the window. The probability that this user waits longer than b is Σ
//! max(0, gap − b) / window. The sum includes gaps of at least 100 ms, so that many short outages count as much as a
//! long outage.
//!
//! A gap is an outage if all of these hold ([`unexplained`]):
//!
//! - Chance does not explain the gap: at the success rate of the rest of the window, a gap of this length is
//!   improbable.
//! - The gap is several times as long as the response time of a typical transaction.
//! - Overlapping slow statements do not explain the gap. With response times r, an independent client has no success
//!   within the next g seconds with probability S(g) = Σ max(0, r − g) / (clients · window). A transaction longer than
//!   g causes a gap of g only if the other clients have no success either. With n(g) transactions longer than g, n(g) ·
//!   S(g)^(clients − 1) such gaps are expected. In an outage, all clients wait at the same time.
//! - Clients waited: some transactions took as long as the gap, or failed. Users in their think time need no server.
//!
//! HdrHistogram's correction by an expected interval is not used. It needs the interval between arrivals, which a
//! closed model does not have, and it would correct slow statements too.

use model::{Interval, LatencyHistogram, Nanos, Outage, Successes};

/// Duration of the shortest outage: a dozen buckets of [`model::Successes`].
const OUTAGE_MIN: Nanos = Nanos::from_millis(100);
/// Shortest gap that counts in an open model, in which shorter gaps are visible in the response times. It also applies
/// to a single client, because one slow statement of that client looks like a short outage. Files with one row per
/// second show no shorter gaps.
const LONG_GAP_MIN: Nanos = Nanos::from_secs(1);
/// −ln of the probability that chance explains a gap. Among n successes, a gap in which `expected` successes are
/// missing has a probability of at most n·e^−expected. At 9.2, one run in ten thousand shows such a gap.
const CHANCE_LOG: f64 = 9.2;
/// Shortest outage, as a multiple of the typical response time ([`typical_in_closed_model`], [`typical_in_open_model`]).
/// Transactions of equal length that begin together also end together, which leaves gaps.
const RESPONSE_MULTIPLE_MIN: f64 = 3.0;
/// Outages delay at most one transaction in `DELAYED_ONE_IN`. If more transactions are delayed, p99 shows the outage
/// anyway.
const DELAYED_ONE_IN: u64 = 100;
/// Probability below which overlapping slow statements do not explain the gaps of a run.
const OVERLAP_PROBABILITY_MAX: f64 = 0.01;
/// Share of a gap's length that a transaction must take to count as waiting for the gap's end.
const WAIT_SHARE_MIN: f64 = 0.9;

/// Counts of one second, from which outages are detected.
#[derive(Clone, Copy, Debug)]
pub struct SecondCounts {
    from: Nanos,
    to: Nanos,
    begun: u64,
    /// Number of transactions that ended, with any outcome; `ok` is the number of successes.
    ended: u64,
    ok: u64,
    /// Number of arrivals that did not succeed, plus refused connections.
    failed: u64,
    /// Times of successes, as in [`Interval`]; `None` for rows of a file.
    successes: Option<Successes>,
}

impl<H> From<&Interval<H>> for SecondCounts {
    fn from(interval: &Interval<H>) -> SecondCounts {
        let arrivals: u64 = interval.scripts.iter().map(model::ScriptCounts::arrivals).sum();
        let ok: u64 = interval.scripts.iter().map(|cell| cell.ok).sum();
        let dropped: u64 = interval.scripts.iter().map(|cell| cell.dropped).sum();
        let failed = arrivals - ok + interval.refused.total();
        let (from, to, begun, successes) = (interval.from, interval.to, interval.started, interval.successes);
        SecondCounts { from, to, begun, ended: arrivals - dropped, ok, failed, successes }
    }
}

/// Detects the outages of a window, second by second.
#[derive(Debug, Default)]
pub struct OutageDetector {
    /// Start of the window, on the clock of the intervals; `None` before the first interval.
    begin: Option<Nanos>,
    /// Time of the last success, or the start of the window.
    last: Nanos,
    in_flight: u64,
    /// End of the first second since `last` that had no failures and no transaction in flight at its end.
    idle_since: Option<Nanos>,
    /// True if in every second since `last` some transactions failed, and none was in flight at the end of the second.
    rejected: bool,
    /// Value of `rejected` after the latest second.
    rejected_at_end: bool,
    /// True if the latest second of the window had failures and no success.
    empty: Option<bool>,
    /// True if any second since `last` had failures.
    failures: bool,
    /// Number of whole seconds of the gap, and number of those seconds with failures.
    gap_seconds: u64,
    failing: u64,
    outages: Vec<Outage>,
}

impl OutageDetector {
    /// Adds the next second of all threads, or the time after the window's last second.
    pub fn second(&mut self, counts: impl Into<SecondCounts>) {
        let second: SecondCounts = counts.into();
        if self.begin.is_none() {
            (self.begin, self.last) = (Some(second.from), second.from);
            (self.rejected, self.rejected_at_end) = (true, true);
        }
        self.rejected &= self.rejected_at_end;
        if let Some(failed) = self.empty.take() {
            self.gap_seconds += 1;
            self.failing += u64::from(failed);
        }
        self.in_flight = (self.in_flight + second.begun).saturating_sub(second.ended);
        let failed = second.failed > 0;
        self.failures |= failed;
        match second.successes {
            // The rows of a file have no times of successes, so assume that the successes are spread over the second.
            None if second.ok > 0 => self.success(second.from, second.to),
            None => self.empty = Some(failed),
            Some(successes) => {
                self.success(successes.first, successes.first);
                successes.gaps().for_each(|(from, to)| self.success_after(from, to));
                self.last = self.last.max(successes.last);
            }
        }
        if self.empty.is_none() {
            self.failures = failed;
        }
        if !failed && self.in_flight == 0 {
            self.idle_since.get_or_insert(second.to);
        }
        self.rejected_at_end = failed && self.in_flight == 0;
    }

    fn success(&mut self, first: Nanos, last: Nanos) {
        self.close(first, false);
        (self.last, self.idle_since, self.rejected) = (last.max(self.last), None, true);
        (self.gap_seconds, self.failing) = (0, 0);
    }

    /// Adds a success at `to` after a gap since `from`; both times are within one second.
    fn success_after(&mut self, from: Nanos, to: Nanos) {
        self.last = from;
        self.success(to, to);
    }

    fn close(&mut self, to: Nanos, unended: bool) {
        // Seconds after the window do not count: clients then wait for the end of their sessions.
        let waited = self.idle_since.is_none_or(|idle| idle >= to);
        if waited && to - self.last >= OUTAGE_MIN {
            let failing = match to - self.last < LONG_GAP_MIN {
                true => self.failures,
                false => self.rejected || (self.gap_seconds > 0 && self.failing == self.gap_seconds),
            };
            self.outages.push(Outage { from: self.last, to, ongoing: unended, failing });
        }
    }

    /// Outages within the window, whose length is `window`. Times are relative to the start of the window.
    pub fn finish(mut self, window: Nanos) -> Vec<Outage> {
        let begin = self.begin.unwrap_or_default();
        self.close(begin + window, true);
        let within = |outage: Outage| {
            let to = (outage.to - begin).min(window);
            Outage { from: outage.from - begin, to, ongoing: to == window, ..outage }
        };
        self.outages.into_iter().map(within).filter(|it| it.duration() >= OUTAGE_MIN).collect()
    }
}

/// Gaps that neither chance nor slow statements explain. `clients` is the number of clients in the closed model if all
/// clients run for the whole window, otherwise `None`.
pub(crate) fn unexplained(
    gaps: &[Outage],
    window: Nanos,
    interval: &Interval,
    clients: Option<u32>,
) -> Vec<Outage> {
    let mut response = LatencyHistogram::new();
    interval.scripts.iter().for_each(|it| response.merge(&it.response));
    let shortest = if clients.is_some_and(|it| it > 1) { OUTAGE_MIN } else { LONG_GAP_MIN };
    let mut candidates: Vec<Outage> = gaps.iter().filter(|it| it.duration() >= shortest).copied().collect();
    let typical = match clients {
        Some(1) => response.quantile_unchecked(0.5).unwrap_or_default(),
        Some(_) => typical_in_closed_model(&response),
        None => typical_in_open_model(&response, &candidates, window),
    };
    let is_long =
        |outage: &Outage| outage.duration().as_secs_f64() > RESPONSE_MULTIPLE_MIN * typical.as_secs_f64();
    candidates.retain(is_long);
    if let Some(clients) = clients.filter(|it| *it > 1) {
        candidates = simultaneous_gaps(candidates, &response, f64::from(clients), window);
        candidates.sort_by_key(|it| it.from);
    }
    let lost: f64 = candidates.iter().map(|it| it.duration().as_secs_f64()).sum();
    let succeeded: u64 = interval.scripts.iter().map(|it| it.ok).sum();
    let rest = window.as_secs_f64() - lost;
    if succeeded == 0 || rest <= 0.0 {
        return Vec::new();
    }
    let expected = |it: &Outage| succeeded as f64 / rest * it.duration().as_secs_f64();
    candidates.retain(|it| expected(it) >= CHANCE_LOG + (succeeded as f64).ln());
    candidates
}

/// Median response time of the arrivals outside the gaps. Arrivals are spread over the window, and those within a gap
/// have the longest response times, because they wait for its end.
fn typical_in_open_model(response: &LatencyHistogram, gaps: &[Outage], window: Nanos) -> Nanos {
    let within: f64 = gaps.iter().map(|it| it.duration().as_secs_f64()).sum();
    let outside = (1.0 - within / window.as_secs_f64()).max(0.0);
    response.quantile_unchecked(outside / 2.0).unwrap_or_default()
}

/// Response time of the transaction that a client executes at a random time: the median weighted by response time. The
/// slowest 1 % of transactions are left out, because an outage may have delayed them.
fn typical_in_closed_model(response: &LatencyHistogram) -> Nanos {
    let mut left = response.count() - response.count() / DELAYED_ONE_IN;
    let mut counted = Vec::new();
    for (length, n) in response.counts() {
        counted.push((length, n.min(left)));
        left -= n.min(left);
    }
    let time = |(length, n): &(Nanos, u64)| length.as_secs_f64() * *n as f64;
    let half = counted.iter().map(time).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let is_median = |bucket: &&(Nanos, u64)| {
        passed += time(bucket);
        passed >= half
    };
    counted.iter().find(is_median).map_or(Nanos::ZERO, |it| it.0)
}

/// Gaps in which all `clients` waited at the same time. Gaps are left out if independent clients would cause equally
/// many.
fn simultaneous_gaps(
    mut gaps: Vec<Outage>,
    response: &LatencyHistogram,
    clients: f64,
    window: Nanos,
) -> Vec<Outage> {
    gaps.sort_by_key(|it| std::cmp::Reverse(it.duration()));
    // Keep a gap shorter than a second only if a client waited for its end or was refused.
    let mut matched = 0;
    gaps.retain_mut(|gap| {
        let waited = response.count_above(Nanos((gap.duration().0 as f64 * WAIT_SHARE_MIN) as u64)) > matched;
        matched += u64::from(waited);
        gap.failing &= !waited || gap.duration() >= LONG_GAP_MIN;
        waited || gap.failing || gap.duration() >= LONG_GAP_MIN
    });
    // Expected number of gaps of at least `length` in the rest of the window. The outages in `without` are left out,
    // with the transactions that waited for their ends.
    let expected = |length: Nanos, without: &[Outage]| {
        let (mut count, mut excess, mut rest) = (0.0, 0.0, window.as_secs_f64());
        for (time_taken, n) in response.counts().filter(|it| it.0 > length) {
            count += n as f64;
            excess += (time_taken - length).as_secs_f64() * n as f64;
        }
        for outage in without.iter().filter(|it| !it.failing) {
            count -= clients;
            excess -= (outage.duration() - length).as_secs_f64() * clients;
            rest -= outage.duration().as_secs_f64();
        }
        let silent = (excess.max(0.0) / (clients * rest)).min(1.0);
        count.max(0.0) * silent.powf(clients - 1.0)
    };
    // The probability of n or more gaps is at most expectedⁿ / n!.
    let (mut unexplained, mut factorial) = (0, 0.0);
    for (number, gap) in gaps.iter().enumerate() {
        let n = (number + 1 - unexplained) as f64;
        factorial += n.ln();
        let logarithm = n * expected(gap.duration(), &gaps[..unexplained]).ln() - factorial;
        if logarithm <= OVERLAP_PROBABILITY_MAX.ln() || (gap.ongoing && gap.duration() >= LONG_GAP_MIN) {
            (unexplained, factorial) = (number + 1, 0.0);
        }
    }
    gaps.truncate(unexplained);
    gaps
}

/// Quantile `q` (0..=1) of the wait until the outage ends, for users who arrive at uniformly random times of the
/// window. It is a lower bound if an outage did not end within the window.
pub(crate) fn wait_quantile(outages: &[Outage], window: Nanos, q: f64) -> Nanos {
    let mut lengths: Vec<f64> = outages.iter().map(|it| it.duration().as_secs_f64()).collect();
    lengths.sort_by(|a, b| b.total_cmp(a));
    // A user who arrives in the last w seconds of an outage waits less than w. Find the w for which Σ (length − w) =
    // `beyond`.
    let beyond = (1.0 - q) * window.as_secs_f64();
    let mut sum = 0.0;
    for (number, length) in lengths.iter().enumerate() {
        sum += length;
        let next = lengths.get(number + 1).copied().unwrap_or(0.0);
        let wait = (sum - beyond) / (number + 1) as f64;
        if wait >= next {
            return Nanos::from_secs_f64(wait);
        }
    }
    Nanos::ZERO
}

/// Mean wait until the outage ends, for users who arrive at uniformly random times of the window.
pub(crate) fn mean_wait(outages: &[Outage], window: Nanos) -> Nanos {
    let squares: f64 = outages.iter().map(|it| it.duration().as_secs_f64().powi(2)).sum();
    Nanos::from_secs_f64(squares / 2.0 / window.as_secs_f64())
}

/// Share of users who are refused, or not served within the window, if users arrive at uniformly random times.
pub(crate) fn failing_share(outages: &[Outage], window: Nanos) -> f64 {
    let those = outages.iter().filter(|it| it.failing || it.ongoing);
    those.map(|it| it.duration().as_secs_f64()).sum::<f64>() / window.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::millis;
    use model::{Code, Measurement};

    /// Parses one second. `500`: 500 transactions of 2 ms succeed, spread over the whole second. `100@0-2`: 100 succeed
    /// between two tenths of the second. `^900`: four more transactions that took 900 ms. `!3`: 3 failed. `~3`: 3
    /// connections refused. `+4` and `-4`: 4 more or 4 fewer in flight than before.
    fn second(number: u64, text: &str) -> Interval {
        let mut interval = Interval::new(&[0]);
        (interval.from, interval.to) = (Nanos::from_secs(number + 7), Nanos::from_secs(number + 8));
        let (mut ended, mut more) = (0, 0_i64);
        for word in text.split_whitespace() {
            let count = |text: &str| text.parse().expect("a number");
            match word.as_bytes()[0] {
                b'!' => {
                    interval.scripts[0].failed.add(Code::REFUSED, count(&word[1..]));
                    ended += count(&word[1..]);
                }
                b'~' => interval.refused.add(Code::REFUSED, count(&word[1..])),
                b'+' => more = count(&word[1..]) as i64,
                b'-' => more = -(count(&word[1..]) as i64),
                b'^' => {
                    interval.scripts[0].ok += 4;
                    interval.scripts[0].response.merge(&millis(4, count(&word[1..])));
                    ended += 4;
                }
                _ => {
                    let (ok, tenths) = word.split_once('@').unwrap_or((word, "0-10"));
                    let (first, last) = tenths.split_once('-').expect("there are two tenths");
                    let at = |tenth: &str| interval.from + Nanos::from_millis(100 * count(tenth));
                    let (first, last, ok) = (at(first), at(last), count(ok));
                    let each = (last - first).0 / ok.saturating_sub(1).max(1);
                    (0..ok).for_each(|n| interval.record_success(first + Nanos(n * each)));
                    interval.scripts[0].ok += ok;
                    interval.scripts[0].response.merge(&millis(ok, 2));
                    ended += ok;
                }
            }
        }
        interval.started = (ended as i64 + more) as u64;
        interval
    }

    /// Measurement of these seconds; no transaction ends after the window.
    fn measured(seconds: &[&str]) -> Measurement {
        let (mut gaps, mut all) = (OutageDetector::default(), Interval::new(&[0]));
        for (number, text) in seconds.iter().enumerate() {
            let interval = second(number as u64, text);
            gaps.second(&interval);
            all.merge(&interval);
        }
        let window = Nanos::from_secs(seconds.len() as u64);
        gaps.second(&second(seconds.len() as u64, ""));
        Measurement {
            window,
            interval: all,
            outages: gaps.finish(window),
            empty_statements: Vec::new(),
            ..crate::fixture::quiet_measurement()
        }
    }

    fn found(measurement: &Measurement) -> Vec<Outage> {
        unexplained(&measurement.outages, measurement.window, &measurement.interval, Some(4))
    }

    fn describe(outage: &Outage) -> String {
        let flags = [(outage.failing, " failing"), (outage.ongoing, " unended")];
        let flags: String = flags.into_iter().filter(|it| it.0).map(|it| it.1).collect();
        format!("{:.1}-{:.1}{flags}", outage.from.as_secs_f64(), outage.to.as_secs_f64())
    }

    #[test]
    fn finds_outages_and_ignores_short_pauses() {
        for (seconds, expected) in [
            // The server is killed after 2.2 of 6 s: clients of a closed model are refused, or arrivals fail.
            (&["500", "500", "100@0-2 !4", "~80", "~80", "~80"][..], "2.2-6.0 failing unended"),
            (&["500", "500", "100@0-2 !4", "!500", "!500", "!500"], "2.2-6.0 failing unended"),
            // The server is frozen, so that clients wait. The outage ends, or does not.
            (&["500", "500", "100@0-2 +4", "", "400@1-10 -4", "500"], "2.2-4.1"),
            (&["500", "500", "100@0-2 +4", "", "", ""], "2.2-6.0 unended"),
            // Connections are refused for a while.
            (&["500", "500", "100@0-2 !4", "150@7-10", "500"], "2.2-3.7 failing"),
            (&["500", "100@0-2 !4", "~80", "400@2-10", "500", "500"], "1.2-3.2 failing"),
            // The outage begins with the window.
            (&["+4", "", "400@2-10 -4", "500", "500", "500"], "0.0-2.2"),
            // Two outages.
            (&["500 !4", "!9", "500 +4", "", "500 -4"], "1.0-2.0 failing, 3.0-4.0"),
            // Outages shorter than a second: clients waited or were refused, or no client or only one of the four sent
            // a request.
            (&["500", "400@0-6 +4", "400@5-10 ^900 -4", "500"], "1.6-2.5"),
            (&["500", "400@0-6 +4", "400@5-10 ~9 -4", "500"], "1.6-2.5 failing"),
            (&["500", "400@0-6 ~9 100@9-10", "500"], "1.6-1.9 failing"),
            (
                &["500", "400@0-1 +4", "400@0-10 ^850 -4", "100@0-1 +4", "400@0-10 ^850 -4"],
                "1.1-2.0, 3.1-4.0",
            ),
            (&["500", "400@0-6", "400@5-10", "500"], ""),
            (&["500", "400@0-6 +4", "400@5-10 ^300 -4", "500"], ""),
            // Outages of several lengths.
            (&["500", "400@0-5 +4", "", "400@5-10 ^2000", "400@0-4 100@9-10 ^500"], "1.5-3.5, 4.4-4.9"),
            // No client sent a request.
            (&["500", "500", "", "", "500", "500"], ""),
            // At 2/s, chance explains a gap of three seconds, but not of eleven.
            (&["2", "2", "2", "1@0-0 +1", "", "", "2 -1", "2", "2"], ""),
            (
                &[
                    "2", "2", "2", "1@0-0 +1", "", "", "", "", "", "", "", "", "", "", "", "2 -1", "2", "2",
                    "2",
                ],
                "3.0-15.0",
            ),
            // Without any success there is nothing to compare with.
            (&["!500", "!500", "!500"], ""),
        ] {
            let found: Vec<String> = found(&measured(seconds)).iter().map(describe).collect();
            assert_eq!(found.join(", "), expected, "{seconds:?}");
        }
    }

    /// Gaps of half a second. Four clients cause them by chance if their transactions often take longer. Two clients
    /// cause more of them.
    #[test]
    fn slow_statements_that_overlap_are_no_outage() {
        let gap = |n: u64| Outage {
            from: Nanos::from_millis(1_000 * n),
            to: Nanos::from_millis(1_000 * n + 500),
            ongoing: false,
            failing: false,
        };
        let window = Nanos::from_secs(60);
        for (slow, clients, gaps, expected) in [
            (0, 4, 1, 0),
            (4, 4, 1, 1),
            (16, 4, 4, 4),
            (2, 2, 1, 1),
            (60, 2, 4, 0),
            (60, 2, 40, 40),
            (120, 4, 1, 0),
            (120, 4, 40, 40),
            (120, 1, 4, 0),
        ] {
            let mut measurement = measured(&["500"; 60]);
            // Transactions delayed by an outage take as long as the outage; others take 0.6 to 1 s.
            let length = |n: u64| if slow <= 16 { 505 } else { 600 + n % 5 * 100 };
            let response = &mut measurement.interval.scripts[0].response;
            (0..slow).for_each(|n| response.merge(&millis(1, length(n))));
            let gaps: Vec<Outage> = (0..gaps).map(gap).collect();
            let found = unexplained(&gaps, window, &measurement.interval, Some(clients)).len();
            assert_eq!(found, expected, "{slow} slow ones of {clients} clients, {} gaps", gaps.len());
        }
    }

    #[test]
    fn synchronous_transactions_are_no_outage() {
        let mut measurement = measured(&["+100", "", "", "100@9-10 -100 ", "+100", "", "", "100@9-10 -100"]);
        measurement.interval.scripts[0].response = millis(200, 4000);
        assert_eq!(found(&measurement), []);
    }

    /// In an open model, most arrivals wait if the server is stopped for most of the window.
    #[test]
    fn finds_an_outage_of_most_of_the_window_in_an_open_model() {
        let window = Nanos::from_secs(10);
        for (from, to, slow, expected) in [
            // The server was stopped: arrivals waited between 0 and 9 s.
            (500, 9_500, false, 1),
            (2_000, 6_000, false, 1),
            // Every transaction takes 9 s.
            (500, 9_500, true, 0),
        ] {
            let mut measurement = measured(&["500"; 10]);
            let gap = Outage {
                from: Nanos::from_millis(from),
                to: Nanos::from_millis(to),
                ongoing: false,
                failing: false,
            };
            let response = &mut measurement.interval.scripts[0].response;
            *response = LatencyHistogram::new();
            let waited = |at: u64| if (from..to).contains(&at) { to - at } else { 2 };
            (0..10_000)
                .step_by(2)
                .for_each(|at| response.merge(&millis(1, if slow { 9_000 } else { waited(at) })));
            let found = unexplained(&[gap], window, &measurement.interval, None).len();
            assert_eq!(found, expected, "{from} to {to} ms");
        }
    }

    #[test]
    fn seconds_after_the_window_do_not_count() {
        let mut gaps = OutageDetector::default();
        for (number, text) in ["500", "100@0-2 +4", "", "!4 -4", "", ""].iter().enumerate() {
            gaps.second(&second(number as u64, text));
        }
        let found: Vec<String> = gaps.finish(Nanos::from_secs(3)).iter().map(describe).collect();
        assert_eq!(found, ["1.2-3.0 unended"]);
    }

    #[test]
    fn finds_outages_in_stored_seconds() {
        let mut gaps = OutageDetector::default();
        for (number, text) in ["500", "100@0-2 +4", "", "", "400 -4", "500"].iter().enumerate() {
            let interval = Interval { successes: None, ..second(number as u64, text) };
            gaps.second(&interval);
        }
        let found: Vec<String> = gaps.finish(Nanos::from_secs(6)).iter().map(describe).collect();
        assert_eq!(found, ["2.0-4.0"]);
    }

    #[test]
    fn computes_waits_of_random_arrivals() {
        let outage = |from: u64, to: u64| Outage {
            from: Nanos::from_millis(from),
            to: Nanos::from_millis(to),
            ongoing: false,
            failing: false,
        };
        let window = Nanos::from_secs(10);
        for (outages, q, millis) in [
            (&[outage(2_000, 5_000)][..], 0.99, 2900),
            (&[outage(2_000, 5_000)], 0.9, 2000),
            (&[outage(2_000, 5_000)], 0.7, 0),
            (&[outage(2_000, 5_000)], 0.5, 0),
            (&[outage(2_000, 5_000)], 1.0, 3000),
            // (3 − w) + (2 − w) = 2. The first outage alone would give 1 s.
            (&[outage(0, 2_000), outage(5_000, 8_000)], 0.8, 1500),
            (&[outage(0, 2_000), outage(5_000, 8_000)], 0.95, 2500),
            (&[], 0.99, 0),
        ] {
            let wait = wait_quantile(outages, window, q);
            assert_eq!(wait.as_millis_f64().round(), f64::from(millis), "{outages:?} {q}");
            let beyond: f64 =
                outages.iter().map(|one| (one.duration() - wait).as_secs_f64()).sum::<f64>() / 10.0;
            assert!(beyond <= 1.0 - q + 1e-6, "{outages:?} {q}: {beyond} wait longer");
        }
        assert_eq!(mean_wait(&[outage(2_000, 5_000)], window), Nanos::from_millis(450));
        assert_eq!(failing_share(&[outage(2_000, 5_000)], window), 0.0);
        let failed = Outage { failing: true, ..outage(2_000, 5_000) };
        assert_eq!(failing_share(&[failed, Outage { ongoing: true, ..outage(8_000, 10_000) }], window), 0.5);
    }
}
