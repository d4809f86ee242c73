//! Parser and judge of objectives
//!
//! An objective is `p99 < 200ms`, `p50 <= 5ms`, `mean < 10ms`, `max < 1s`, `errors < 1%`, `dropped < 0.1%` or `tps >
//! 500`. An operation's name may precede it: `transfer: p99 < 1s`. Times are response times, from the intended start,
//! Times are response times, from the intended start, of transactions that succeeded. An arrival that was never
//! answered is longer than any bound. Errors are the share of arrivals that failed, are unknown or were dropped;
//! dropped arrivals were never sent. A connection refused before its transaction was sent is a failure of that
//! transaction. A reconnect without a transaction is not an arrival.
//!
//! In the closed model no user arrives during an outage. Times and errors are therefore also judged by the window's
//! [`outage`]s, and errors also by the share of clients that never connected because they were refused.
//!
//! A load that ended early because a feed was used up meets no objective, because the rest of the planned load was not
//! measured.

use crate::facts::outage;
use crate::verdict::rule::{quoted, unknown_operation};
use crate::verdict::validity;
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict, TooFewSamples};
use model::summary::{Distribution, GroupSummary, LoadModelSummary, OutcomeCounts, Summary};
use model::{GrammarDiagnostic, Nanos, message};

/// One objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    text: String,
    /// Index of the operation; `None` for all operations.
    pub operation: Option<usize>,
    pub figure: ObjectiveMetric,
    pub relation: ObjectiveRelation,
    /// Bound in seconds, as a share (0..=1), or in transactions per second.
    pub bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObjectiveMetric {
    /// Quantile of the response time, one of those in a summary.
    Quantile(Quantile),
    Mean,
    Max,
    Errors,
    Dropped,
    Tps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantile {
    P50,
    P90,
    P95,
    P99,
    P999,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectiveRelation {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// Metrics by name, in the order in which messages list them.
const FIGURES: [(&str, ObjectiveMetric); 10] = [
    ("p50", ObjectiveMetric::Quantile(Quantile::P50)),
    ("p90", ObjectiveMetric::Quantile(Quantile::P90)),
    ("p95", ObjectiveMetric::Quantile(Quantile::P95)),
    ("p99", ObjectiveMetric::Quantile(Quantile::P99)),
    ("p99.9", ObjectiveMetric::Quantile(Quantile::P999)),
    ("mean", ObjectiveMetric::Mean),
    ("max", ObjectiveMetric::Max),
    ("errors", ObjectiveMetric::Errors),
    ("dropped", ObjectiveMetric::Dropped),
    ("tps", ObjectiveMetric::Tps),
];

/// Relations. Longer ones come first, because the parser takes the first match.
const RELATIONS: [(&str, ObjectiveRelation); 4] = [
    ("<=", ObjectiveRelation::AtMost),
    (">=", ObjectiveRelation::AtLeast),
    ("<", ObjectiveRelation::Below),
    (">", ObjectiveRelation::Above),
];

/// Parses one objective. `operations` are in the order of a summary's scripts.
pub fn parse(text: &str, operations: &[String]) -> Result<Objective, GrammarDiagnostic> {
    let reject = |part, message| Err(GrammarDiagnostic::in_part(text, part, message));
    let Some((sign_at, (sign, relation))) = RELATIONS
        .iter()
        .filter_map(|it| Some((text.find(it.0)?, *it)))
        .min_by_key(|(offset, (sign, _))| (*offset, std::cmp::Reverse(sign.len())))
    else {
        return reject(text.trim(), message!("objective-form", text = quoted(text.trim())));
    };
    let (left, right) = (text[..sign_at].trim(), text[sign_at + sign.len()..].trim());
    let (operation, name) = match left.rsplit_once(':') {
        None => (None, left),
        Some((operation, name)) => {
            let operation = operation.trim();
            let Some(known) = operations.iter().position(|it| it == operation) else {
                return reject(operation, unknown_operation(operation, operations));
            };
            (Some(known), name.trim())
        }
    };
    let Some((_, figure)) = FIGURES.iter().find(|it| it.0 == name) else {
        let known = FIGURES.map(|it| it.0).join(", ");
        return reject(name, message!("objective-metric", text = quoted(name), names = known));
    };
    let Some(bound) = figure.read(right) else {
        let quoted = quoted(right);
        let message = match figure.unit() {
            ObjectiveUnit::Seconds => message!("objective-time", text = quoted),
            ObjectiveUnit::Share => message!("objective-share", text = quoted),
            ObjectiveUnit::PerSecond => message!("objective-rate", text = quoted),
        };
        return reject(right, message);
    };
    if (*figure == ObjectiveMetric::Tps)
        != matches!(relation, ObjectiveRelation::Above | ObjectiveRelation::AtLeast)
    {
        let is_rate = *figure == ObjectiveMetric::Tps;
        let message = message!("objective-relation", sign, is_rate, metric = name);
        return reject(&text[sign_at..sign_at + sign.len()], message);
    }
    Ok(Objective { text: text.trim().to_owned(), operation, figure: *figure, relation, bound })
}

impl ObjectiveMetric {
    fn unit(self) -> ObjectiveUnit {
        match self {
            ObjectiveMetric::Quantile(_) | ObjectiveMetric::Mean | ObjectiveMetric::Max => {
                ObjectiveUnit::Seconds
            }
            ObjectiveMetric::Errors | ObjectiveMetric::Dropped => ObjectiveUnit::Share,
            ObjectiveMetric::Tps => ObjectiveUnit::PerSecond,
        }
    }

    fn read(self, text: &str) -> Option<f64> {
        let number =
            |text: &str| text.trim_end().parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        match self.unit() {
            ObjectiveUnit::PerSecond => number(text.strip_suffix("/s").unwrap_or(text)),
            ObjectiveUnit::Share => {
                number(text.strip_suffix('%')?).filter(|it| *it <= 100.0).map(|it| it / 100.0)
            }
            ObjectiveUnit::Seconds => {
                let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0)];
                units.iter().find_map(|(unit, size)| Some(number(text.strip_suffix(unit)?)? * size))
            }
        }
    }
}

impl Objective {
    /// Text of the objective, as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn judge(&self, summary: &Summary) -> ObjectiveResult {
        let group = match self.operation {
            None => Some(&summary.total),
            Some(operation) => summary.scripts.get(operation).map(|it| &it.group),
        };
        let (value, sample_count) = group.map_or((None, 0), |it| self.figure.measure(it));
        let least = group.and_then(|it| self.figure.lower_bound(it, summary));
        let (measured, is_lower_bound) = match (value, least) {
            (Some(value), Some(least)) if least > value => (Some(least), true),
            (None, Some(least)) => (Some(least), true),
            (value, _) => (value, false),
        };
        // If the largest time is within the bound, so are all quantiles. If a lower quantile exceeds the bound, so does
        // a higher one.
        let verdict = match (measured, group) {
            // The figure has no upper limit, so it exceeds any bound.
            (Some(_), Some(group)) if self.figure.is_unanswered(group) => ObjectiveVerdict::Violated,
            (Some(value), _) => match self.compare(value) {
                ObjectiveVerdict::Met if is_lower_bound && self.figure.is_hidden_by_outage(summary) => {
                    ObjectiveVerdict::Unknown
                }
                verdict => verdict,
            },
            (None, Some(group)) => self.by_lower_quantile(&group.response),
            (None, None) => ObjectiveVerdict::Unknown,
        };
        let ended_early = verdict == ObjectiveVerdict::Met && validity::ended_early(summary);
        let verdict = if ended_early { ObjectiveVerdict::Unknown } else { verdict };
        let unit = self.figure.unit();
        let unknown = group.filter(|_| measured.is_none() && verdict == ObjectiveVerdict::Unknown);
        ObjectiveResult {
            objective: self.text.clone(),
            verdict,
            unit,
            measured,
            is_lower_bound,
            ended_early,
            bound: self.bound,
            samples: sample_count,
            too_few: unknown.and_then(|it| self.figure.too_few(&it.response)),
        }
    }

    fn compare(&self, value: f64) -> ObjectiveVerdict {
        let is_met = match self.relation {
            ObjectiveRelation::Below => value < self.bound,
            ObjectiveRelation::AtMost => value <= self.bound,
            ObjectiveRelation::Above => value > self.bound,
            ObjectiveRelation::AtLeast => value >= self.bound,
        };
        if is_met { ObjectiveVerdict::Met } else { ObjectiveVerdict::Violated }
    }

    /// Verdict for a quantile with too few samples beyond it: violated if a lower quantile already exceeds the bound.
    fn by_lower_quantile(&self, distribution: &Distribution) -> ObjectiveVerdict {
        let ObjectiveMetric::Quantile(quantile) = self.figure else { return ObjectiveVerdict::Unknown };
        let lower = Quantile::ALL
            .into_iter()
            .take_while(|it| *it != quantile)
            .filter_map(|q| q.quantile_of(distribution));
        let broken = lower.map(Nanos::as_secs_f64).any(|it| self.compare(it) == ObjectiveVerdict::Violated);
        if broken { ObjectiveVerdict::Violated } else { ObjectiveVerdict::Unknown }
    }
}

/// Number of samples beyond a quantile that it needs.
const SAMPLES_BEYOND: f64 = 10.0;

impl Quantile {
    fn share(self) -> f64 {
        match self {
            Quantile::P50 => 0.5,
            Quantile::P90 => 0.9,
            Quantile::P95 => 0.95,
            Quantile::P99 => 0.99,
            Quantile::P999 => 0.999,
        }
    }

    const ALL: [Quantile; 5] = [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P999];

    fn quantile_of(self, distribution: &Distribution) -> Option<Nanos> {
        match self {
            Quantile::P50 => distribution.p50,
            Quantile::P90 => distribution.p90,
            Quantile::P95 => distribution.p95,
            Quantile::P99 => distribution.p99,
            Quantile::P999 => distribution.p999,
        }
    }
}

impl ObjectiveMetric {
    /// Measured value of the metric, and the number of samples.
    fn measure(self, group: &GroupSummary) -> (Option<f64>, u64) {
        let OutcomeCounts { ok, failed, unknown, dropped, .. } = group.counts;
        let arrivals = group.counts.arrivals();
        let share = |part: u64, total: u64| ((total > 0).then(|| part as f64 / total as f64), total);
        let samples = group.response.count + group.response.unanswered.map_or(0, |it| it.count);
        let seconds = |time: Option<Nanos>| (time.map(Nanos::as_secs_f64), samples);
        match self {
            ObjectiveMetric::Quantile(quantile) => seconds(quantile.quantile_of(&group.response)),
            ObjectiveMetric::Mean => seconds(group.response.mean),
            ObjectiveMetric::Max => seconds(group.response.max),
            ObjectiveMetric::Errors => share(failed + unknown + dropped, arrivals),
            ObjectiveMetric::Dropped => share(dropped, arrivals),
            ObjectiveMetric::Tps => (Some(group.tps.0), ok),
        }
    }

    /// Samples that the quantile lacks; `None` for other metrics.
    fn too_few(self, distribution: &Distribution) -> Option<TooFewSamples> {
        let ObjectiveMetric::Quantile(quantile) = self else { return None };
        let measured = |it: &Quantile| Some((it.share(), it.quantile_of(distribution)?.as_secs_f64()));
        let needed = (SAMPLES_BEYOND / (1.0 - quantile.share())).round() as u64;
        Some(TooFewSamples {
            quantile: quantile.share(),
            needed,
            nearest: Quantile::ALL.iter().rev().find_map(measured),
        })
    }

    /// Share (0..=1) of the samples at or below the figure, such as 0.99 for p99; `None` for metrics that are not
    /// times.
    fn share(self) -> Option<f64> {
        match self {
            ObjectiveMetric::Quantile(it) => Some(it.share()),
            // A single unanswered arrival makes the mean unbounded.
            ObjectiveMetric::Mean | ObjectiveMetric::Max => Some(1.0),
            ObjectiveMetric::Errors | ObjectiveMetric::Dropped | ObjectiveMetric::Tps => None,
        }
    }

    /// True if the figure is a time that falls among the unanswered arrivals.
    fn is_unanswered(self, group: &GroupSummary) -> bool {
        self.share().is_some_and(|place| group.response.longer_than(place).is_some())
    }

    /// True if the figure is a time that an outage up to the end of the window hides, because too many users were still
    /// waiting.
    fn is_hidden_by_outage(self, summary: &Summary) -> bool {
        let unended = summary.outages.iter().filter(|it| it.ongoing);
        let share = unended.map(|it| it.duration().as_secs_f64()).sum::<f64>() / summary.window.as_secs_f64();
        self.share().is_some_and(|place| share > 1.0 - place)
    }

    /// Lower bound of the figure; `None` if the samples show the figure completely. Unanswered arrivals hide a part of
    /// it, and in a closed model outages and refused clients do.
    fn lower_bound(self, group: &GroupSummary, summary: &Summary) -> Option<f64> {
        let (outages, window) = (&summary.outages, summary.window);
        let closed = matches!(summary.plan.model, LoadModelSummary::Closed { .. }) && !outages.is_empty();
        let unanswered = self.share().and_then(|place| group.response.longer_than(place));
        let waited = closed.then(|| match self {
            ObjectiveMetric::Quantile(it) => outage::wait_quantile(outages, window, it.share()).as_secs_f64(),
            ObjectiveMetric::Max => outage::wait_quantile(outages, window, 1.0).as_secs_f64(),
            ObjectiveMetric::Mean => outage::mean_wait(outages, window).as_secs_f64(),
            ObjectiveMetric::Errors => outage::failing_share(outages, window),
            ObjectiveMetric::Dropped | ObjectiveMetric::Tps => 0.0,
        });
        // Each client is equally likely to be the arriving user.
        let clients_without_success = match self {
            ObjectiveMetric::Errors => {
                f64::from(summary.connects.clients_without_success) / f64::from(summary.plan.clients.max(1))
            }
            _ => 0.0,
        };
        let least =
            unanswered.map(Nanos::as_secs_f64).into_iter().chain(waited).chain([clients_without_success]);
        least.max_by(f64::total_cmp).filter(|it| *it > 0.0)
    }
}

/// Results of all `objectives`, in their order.
pub fn judge(objectives: &[Objective], summary: &Summary) -> Vec<ObjectiveResult> {
    objectives.iter().map(|it| it.judge(summary)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{closed_plan, quiet_measurement};
    use crate::verdict::summary::summarise;
    use model::summary::Server;
    use model::{Code, Measurement};

    fn operations() -> Vec<String> {
        ["pay", "look: up"].map(str::to_owned).to_vec()
    }

    /// Checks an objective on a quiet run that `spoil` changes: 7500 transactions of the first operation and 2500 of
    /// the second, 2.5 ms each, 999/s.
    #[track_caller]
    fn check(objective: &str, spoil: impl FnOnce(&mut Measurement), expected: &str) {
        let mut measured = quiet_measurement();
        spoil(&mut measured);
        let summary = summarise(&measured, Server::default(), closed_plan());
        let result = parse(objective, &operations()).expect(objective).judge(&summary);
        let sign = if result.is_lower_bound { ">" } else { "" };
        let shown = result.measured.map_or("-".to_owned(), |it| format!("{sign}{it:.6}"));
        let lacks = result.too_few.map_or(String::new(), |too_few| {
            let nearest =
                too_few.nearest.map_or(String::new(), |(share, value)| format!(", {share}: {value:.6}"));
            format!(", needs {}{nearest}", too_few.needed)
        });
        let judged = format!("{:?} {shown} of {}{lacks}", result.verdict, result.samples);
        assert_eq!(judged, expected, "{objective}");
    }

    #[test]
    fn judges_met_and_violated_objectives() {
        for (objective, expected) in [
            ("p99 < 200ms", "Met 0.002500 of 10000"),
            ("p99<2ms", "Violated 0.002500 of 10000"),
            ("p50 <= 2500us", "Met 0.002500 of 10000"),
            ("p50 < 2500us", "Violated 0.002500 of 10000"),
            ("mean < 0.01s", "Met 0.002500 of 10000"),
            ("max < 1m", "Met 0.002500 of 10000"),
            ("errors < 1%", "Met 0.000000 of 10000"),
            ("errors < 0%", "Violated 0.000000 of 10000"),
            ("errors <= 0%", "Met 0.000000 of 10000"),
            ("dropped < 0.1 %", "Met 0.000000 of 10000"),
            ("tps > 998", "Met 999.000000 of 10000"),
            ("tps > 999", "Violated 999.000000 of 10000"),
            ("tps >= 999/s", "Met 999.000000 of 10000"),
            ("pay: p99 < 1s", "Met 0.002500 of 7500"),
            ("look: up: p99 < 1s", "Met 0.002500 of 2500"),
        ] {
            check(objective, |_| {}, expected);
        }
    }

    #[test]
    fn unanswered_arrivals_exceed_every_bound() {
        let dropped = |n: u64| move |it: &mut Measurement| it.interval.scripts[0].dropped = n;
        // If 1 % or more are unanswered, p99 is one of them. A single one is enough for mean and max.
        check("p99 < 200ms", dropped(50), "Met 0.002500 of 10050");
        check("p99 < 200ms", dropped(150), "Violated >10.000000 of 10150");
        check("p99 < 60m", dropped(150), "Violated >10.000000 of 10150");
        check("p99 < 2ms", dropped(50), "Violated 0.002500 of 10050");
        check("p50 < 200ms", dropped(150), "Met 0.002500 of 10150");
        check("max < 1m", dropped(10), "Violated >10.000000 of 10010");
        check("mean < 1m", dropped(10), "Violated >10.000000 of 10010");
        check("pay: p99 < 200ms", dropped(150), "Violated >10.000000 of 7650");
        check("look: up: p99 < 200ms", dropped(150), "Met 0.002500 of 2500");
        // A connection refused before sending and a request without an answer count too; an error answer does not.
        let failed = |code| {
            move |it: &mut Measurement| (0..150).for_each(|_| it.interval.scripts[0].failed.count(code))
        };
        check("p99 < 200ms", failed(Code::REFUSED), "Violated >10.000000 of 10150");
        check("p99 < 200ms", failed(Code::SqlState(*b"40P01")), "Met 0.002500 of 10000");
        check("p99 < 200ms", failed(Code::Http(503)), "Met 0.002500 of 10000");
        let unknown = |measurement: &mut Measurement| {
            (0..150).for_each(|_| measurement.interval.scripts[0].unknown.count(Code::TIMED_OUT));
        };
        check("p99 < 200ms", unknown, "Violated >10.000000 of 10150");
        // Most arrivals are unanswered.
        check("p50 < 1s", dropped(30_000), "Violated >10.000000 of 40000");
        // Too few samples for a quantile.
        let few = |measurement: &mut Measurement| {
            measurement.interval.scripts[0].response = crate::fixture::millis(100, 5);
            measurement.interval.scripts[0].dropped = 5;
        };
        check("pay: p99 < 1s", few, "Unknown - of 105, needs 1000, 0.9: 0.005000");
    }

    #[test]
    fn judges_outages_of_a_closed_model() {
        let outage = |from: u64, to: u64, failing| {
            move |measurement: &mut Measurement| {
                let unended = to == 10_000;
                let (from, to) = (Nanos::from_millis(from), Nanos::from_millis(to));
                measurement.outages = vec![model::Outage { from, to, ongoing: unended, failing }];
            }
        };
        // A user who arrives during the outage waits for its end.
        check("p99 < 50ms", outage(2_000, 5_000, false), "Violated >2.900000 of 10000");
        check("p99 < 3s", outage(2_000, 5_000, false), "Met >2.900000 of 10000");
        check("p50 < 50ms", outage(2_000, 5_000, false), "Met 0.002500 of 10000");
        check("max < 1s", outage(2_000, 5_000, false), "Violated >3.000000 of 10000");
        check("mean < 100ms", outage(2_000, 5_000, false), "Violated >0.450000 of 10000");
        check("pay: p99 < 50ms", outage(2_000, 5_000, false), "Violated >2.900000 of 7500");
        // The users who waited were eventually served.
        check("errors < 1%", outage(2_000, 5_000, false), "Met 0.000000 of 10000");
        check("errors < 1%", outage(2_000, 5_000, true), "Violated >0.300000 of 10000");
        // The outage continues to the end of the window, so its length is unknown.
        check("p99 < 50ms", outage(7_000, 10_000, false), "Violated >2.900000 of 10000");
        check("p99 < 3s", outage(7_000, 10_000, false), "Unknown >2.900000 of 10000");
        check("p50 < 3s", outage(7_000, 10_000, false), "Met 0.002500 of 10000");
        check("errors < 1%", outage(7_000, 10_000, false), "Violated >0.300000 of 10000");
    }

    #[test]
    fn clients_that_never_connected_count_as_errors() {
        let few = |measurement: &mut Measurement| {
            measurement.clients = vec![10_000, 0, 0, 0];
            measurement.interval.refused.add(Code::SqlState(*b"53300"), 408);
        };
        check("errors < 1%", few, "Violated >0.750000 of 10000");
        check("errors < 80%", few, "Met >0.750000 of 10000");
        // Clients that log in late or wait for a pooler are not refused.
        let late = |it: &mut Measurement| it.interval.refused.add(Code::SqlState(*b"53300"), 408);
        check("errors < 1%", late, "Met 0.000000 of 10000");
        check("errors < 1%", |it| it.clients = vec![10_000, 0, 0, 0], "Met 0.000000 of 10000");
    }

    #[test]
    fn a_load_that_ended_early_meets_no_objective() {
        let mut summary = summarise(&quiet_measurement(), Server::default(), closed_plan());
        validity::add_feed_end(&mut summary, 10_000, Nanos::from_secs(60));
        for (objective, expected) in [
            ("tps > 998", (ObjectiveVerdict::Unknown, true)),
            ("p99 < 200ms", (ObjectiveVerdict::Unknown, true)),
            ("errors < 1%", (ObjectiveVerdict::Unknown, true)),
            ("tps > 999", (ObjectiveVerdict::Violated, false)),
            ("p99 < 2ms", (ObjectiveVerdict::Violated, false)),
        ] {
            let result = parse(objective, &operations()).expect(objective).judge(&summary);
            assert_eq!((result.verdict, result.ended_early), expected, "{objective}");
        }
    }

    #[test]
    fn judges_errors_and_drops() {
        let spoil = |measurement: &mut Measurement| {
            let cell = &mut measurement.interval.scripts[1];
            (0..100).for_each(|_| cell.failed.count(Code::SqlState(*b"40P01")));
            (0..150).for_each(|_| cell.unknown.count(Code::RESET));
            cell.dropped = 250;
        };
        check("errors < 5%", spoil, "Met 0.047619 of 10500");
        check("errors < 4%", spoil, "Violated 0.047619 of 10500");
        check("dropped < 3%", spoil, "Met 0.023810 of 10500");
        check("look: up: errors < 5%", spoil, "Violated 0.166667 of 3000");
        check("pay: errors < 5%", spoil, "Met 0.000000 of 7500");
    }

    #[test]
    fn is_unknown_with_too_few_samples() {
        let few = |count| {
            move |it: &mut Measurement| it.interval.scripts[0].response = crate::fixture::millis(count, 5)
        };
        check("pay: p99 < 200ms", few(1000), "Met 0.005000 of 1000");
        check("pay: p99 < 200ms", few(900), "Unknown - of 900, needs 1000, 0.95: 0.005000");
        // The objective can no longer be met.
        check("pay: p99 < 4ms", few(900), "Violated - of 900");
        check("pay: p50 < 4ms", few(10), "Unknown - of 10, needs 20");
        let nothing = |it: &mut Measurement| it.interval.clear();
        check("p50 < 1s", nothing, "Unknown - of 0, needs 20");
        for objective in ["mean < 1s", "max < 1s", "errors < 1%", "dropped < 1%"] {
            check(objective, nothing, "Unknown - of 0");
        }
        check("tps > 1", nothing, "Violated 0.000000 of 0");
    }

    #[test]
    fn reports_diagnostics_with_position() {
        for (objective, offset, expected, message) in [
            ("", 0, "", "form"),
            ("p99 200ms", 0, "p99 200ms", "form"),
            ("p98 < 1s", 0, "p98", "metric"),
            ("p99 < 200", 6, "200", "time"),
            ("p99 <", 5, "", "time"),
            ("p99 < -1s", 6, "-1s", "time"),
            ("errors < 1", 9, "1", "share"),
            ("errors < 101%", 9, "101%", "share"),
            ("tps > 5ms", 6, "5ms", "rate"),
            ("tps < 5", 4, "<", "relation"),
            ("p99 >= 5ms", 4, ">=", "relation"),
            ("buy: p99 < 1s", 0, "buy", "operation"),
            ("  buy : p99 < 1s", 2, "buy", "operation"),
        ] {
            let diagnostic = parse(objective, &operations()).expect_err(objective);
            let id = diagnostic.message.id.split_once('-').map(|it| it.1);
            let part = &objective[diagnostic.span.clone()];
            assert_eq!((diagnostic.span.start, part, id), (offset, expected, Some(message)), "{objective}");
        }
    }
}
