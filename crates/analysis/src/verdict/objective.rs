//! Parser and judge of objectives
//!
//! An objective is `p99 < 200ms`, `p50 <= 5ms`, `mean < 10ms`, `max < 1s`, `errors < 1%`, `dropped < 0.1%` or `tps >
//! 500`. An operation's name may precede it, as in `transfer: p99 < 1s`. The name or number of one of the operation's
//! steps may follow the name, as in `session/login: p99 < 50ms`.
//!
//! Times are response times of successful transactions, from the intended start. Times of a step begin when the
//! previous step ends. An arrival without a response counts as longer than any bound. Errors are the share of arrivals
//! that failed, are unknown or were dropped; errors of a step are a share of its requests. A connection refused before
//! its transaction was sent is a failure of that transaction. A reconnect without a transaction is not an arrival.
//!
//! In the closed model, no user arrives during an outage. Times and errors are therefore also judged by the window's
//! [`outage`]s, and errors also by the share of clients without any success.
//!
//! A load that ended early because a feed was used up meets no objective, because the rest of the planned load was not
//! measured.

use crate::facts::outage;
use crate::verdict::rule::{quoted, unknown_operation};
use crate::verdict::validity;
use model::live::LatencyObjective;
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict, TooFewSamples};
use model::plan::Setup;
use model::summary::{Distribution, GroupSummary, LoadModelSummary, OutcomeCounts, Summary};
use model::{GrammarDiagnostic, Nanos, PerSecond, message};

/// One objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    text: String,
    /// Index of the operation; `None` for all operations.
    pub operation: Option<usize>,
    /// Name or number of a step of the operation; `None` for the whole operation.
    pub step: Option<String>,
    pub figure: ObjectiveMetric,
    pub relation: ObjectiveRelation,
    /// Bound in seconds, as a share (0..=1), or in transactions per second.
    pub bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObjectiveMetric {
    /// Quantile of the response time.
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

/// Relations by sign.
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
    let (operation, step, name) = match left.rsplit_once(':') {
        None => (None, None, left),
        Some((target, name)) => {
            let target = target.trim();
            let Some((known, step)) = find_target(target, operations) else {
                return reject(target, unknown_operation(target, operations));
            };
            (Some(known), step.map(str::to_owned), name.trim())
        }
    };
    let Some((_, figure)) = FIGURES.iter().find(|it| it.0 == name) else {
        let known = FIGURES.map(|it| it.0).join(", ");
        return reject(name, message!("objective-metric", text = quoted(name), names = known));
    };
    if step.is_some() && *figure == ObjectiveMetric::Dropped {
        return reject(name, message!("objective-step-dropped"));
    }
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
    Ok(Objective { text: text.trim().to_owned(), operation, step, figure: *figure, relation, bound })
}

/// Parses one objective, and checks that its step exists. `steps` has the names of each operation's commands; a command
/// without a name is not a step.
pub fn parse_with_steps(
    text: &str,
    operations: &[String],
    steps: &[Vec<String>],
) -> Result<Objective, GrammarDiagnostic> {
    let objective = parse(text, operations)?;
    if let (Some(operation), Some(step)) = (objective.operation, &objective.step) {
        let names = steps.get(operation).map_or(&[][..], Vec::as_slice);
        if find_step(names, step).is_none() {
            let target = text.rsplit_once(':').map_or(text, |it| it.0);
            let part = &target[target.rfind(step.as_str()).unwrap_or_default()..];
            let names: Vec<&str> = names.iter().filter(|it| !it.is_empty()).map(String::as_str).collect();
            let names = (!names.is_empty()).then(|| names.join(", "));
            let message = message!("objective-step", text = quoted(step), names);
            return Err(GrammarDiagnostic::in_part(text, part, message));
        }
    }
    Ok(objective)
}

/// Operation and step of `operation` or `operation/step`. Names of operations may contain slashes.
fn find_target<'a>(target: &'a str, operations: &[String]) -> Option<(usize, Option<&'a str>)> {
    let find = |name: &str| operations.iter().position(|it| it == name);
    if let Some(operation) = find(target) {
        return Some((operation, None));
    }
    let mut parts =
        target.match_indices('/').map(|(at, _)| (target[..at].trim_end(), target[at + 1..].trim()));
    parts.find_map(|(name, step)| Some((find(name).filter(|_| !step.is_empty())?, Some(step))))
}

/// Index of the command that is the step with this name, or with this number, from 1.
fn find_step(commands: &[String], step: &str) -> Option<usize> {
    let mut steps = commands.iter().enumerate().filter(|it| !it.1.is_empty());
    let by_name = steps.clone().find(|it| it.1 == step);
    let by_number = || steps.nth(step.parse::<usize>().ok()?.checked_sub(1)?);
    by_name.or_else(by_number).map(|it| it.0)
}

/// Results of one step in the form of a group's results; `None` if the operation has no such step.
fn step_group(summary: &Summary, operation: Option<usize>, step: &str) -> Option<GroupSummary> {
    let operation = operation?;
    let command = find_step(&summary.plan.scripts.get(operation)?.commands, step)?;
    let measured = summary.scripts.get(operation)?.statements.get(command)?;
    let (ok, failed) = (measured.service.count, measured.failures);
    let unanswered = measured.response.unanswered.map_or(0, |it| it.count);
    Some(GroupSummary {
        counts: OutcomeCounts { ok, failed, unanswered, ..OutcomeCounts::default() },
        tps: PerSecond(ok as f64 / summary.window.as_secs_f64()),
        response: measured.response,
        service: measured.service,
        lag_mean: Nanos::ZERO,
    })
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
        let step = self.step.as_ref().map(|it| step_group(summary, self.operation, it));
        let group = match (&step, self.operation) {
            (Some(step), _) => step.as_ref(),
            (None, None) => Some(&summary.total),
            (None, Some(operation)) => summary.scripts.get(operation).map(|it| &it.group),
        };
        let (value, sample_count) = group.map_or((None, 0), |it| self.figure.measure(it));
        let least = group.and_then(|it| self.figure.lower_bound(it, summary));
        let (measured, is_lower_bound) = match (value, least) {
            (Some(value), Some(least)) if least > value => (Some(least), true),
            (None, Some(least)) => (Some(least), true),
            (value, _) => (value, false),
        };
        // A quantile with too few samples is violated if a lower quantile already exceeds the bound.
        let verdict = match (measured, group) {
            // An unanswered arrival takes longer than any bound.
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

/// Minimum number of samples beyond a quantile.
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

    /// Description of missing samples for a quantile; `None` for other metrics.
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

    /// Share (0..=1) of the samples that do not exceed the metric, such as 0.99 for p99; `None` for metrics that are
    /// not times.
    fn share(self) -> Option<f64> {
        match self {
            ObjectiveMetric::Quantile(it) => Some(it.share()),
            // A single arrival without a response may raise the mean above any bound.
            ObjectiveMetric::Mean | ObjectiveMetric::Max => Some(1.0),
            ObjectiveMetric::Errors | ObjectiveMetric::Dropped | ObjectiveMetric::Tps => None,
        }
    }

    /// True if the metric is a time that falls among the unanswered arrivals.
    fn is_unanswered(self, group: &GroupSummary) -> bool {
        self.share().is_some_and(|place| group.response.longer_than(place).is_some())
    }

    /// True if the metric is a time that is unknown, because at the end of the window too many users were still waiting
    /// for the end of an outage.
    fn is_hidden_by_outage(self, summary: &Summary) -> bool {
        let unended = summary.outages.iter().filter(|it| it.ongoing);
        let share = unended.map(|it| it.duration().as_secs_f64()).sum::<f64>() / summary.window.as_secs_f64();
        self.share().is_some_and(|place| share > 1.0 - place)
    }

    /// Lower bound of the metric from arrivals without a sample; `None` if there are none. Unanswered arrivals have no
    /// sample. In a closed model, outages and refused clients prevent arrivals.
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
        // An arriving user is equally likely to be any of the clients.
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

/// Objective for the live view: the first one on a quantile of all operations together. If there is none, the first one
/// on a quantile of a single operation. Objectives on steps are left out.
pub fn latency_objective(setup: &Setup) -> Option<LatencyObjective> {
    let operations: Vec<String> = setup.operations.iter().map(|operation| operation.name.clone()).collect();
    let all = setup.objectives.iter().filter_map(|text| parse(text, &operations).ok());
    let on_quantiles = all.filter_map(|objective| match objective.figure {
        ObjectiveMetric::Quantile(quantile) if objective.step.is_none() => Some((objective, quantile)),
        _ => None,
    });
    // The sort is stable, so objectives keep their order otherwise.
    let mut on_quantiles: Vec<(Objective, Quantile)> = on_quantiles.collect();
    on_quantiles.sort_by_key(|(objective, _)| objective.operation.is_some());
    on_quantiles.into_iter().next().map(|(objective, quantile)| LatencyObjective {
        metric: objective.text.split(['<', '>']).next().unwrap_or_default().trim().to_owned(),
        quantile: quantile.share(),
        operation: objective.operation,
        bound: Nanos::from_secs_f64(objective.bound),
        text: objective.text,
    })
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
    use model::{Code, CommandCounts, Measurement};

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
    fn finds_the_objective_of_the_live_view() {
        for (objectives, expected) in [
            (&["errors < 1%", "p95 < 100ms", "p99 < 200ms"][..], Some(("p95", 0.95, None))),
            (&["pay: p99 <= 1s", "p50 < 5ms"][..], Some(("p50", 0.5, None))),
            (&["max < 1s", "look: up: p99 < 1s"][..], Some(("look: up: p99", 0.99, Some(1)))),
            (&["mean < 1s", "pay/login: p99 < 1s", "tps > 5"][..], None),
            (&[][..], None),
        ] {
            let mut setup = crate::fixture::trial::experiment(&["direct"], None).cells.remove(0).setup;
            setup.operations =
                operations().iter().map(|it| model::plan::Operation::script(it, 1, "SELECT 1;\n")).collect();
            setup.objectives = objectives.iter().map(|it| (*it).to_owned()).collect();
            let found = latency_objective(&setup);
            let found = found.as_ref().map(|it| (it.metric.as_str(), it.quantile, it.operation));
            assert_eq!(found, expected, "{objectives:?}");
        }
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
        // A connection refused before sending and a request without a response count too. An error response does not.
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
    fn judges_single_steps() {
        let steps = |measurement: &mut Measurement| {
            let script = &mut measurement.interval.scripts[0];
            script.statements = vec![CommandCounts::default(); 4];
            script.statements[1].service = crate::fixture::millis(2_000, 3);
            script.statements[2].service = crate::fixture::millis(900, 40);
            script.statements[2].failed.add(Code::Http(503), 100);
        };
        let check = |objective, change: &dyn Fn(&mut Measurement), expected| {
            let mut measured = quiet_measurement();
            steps(&mut measured);
            change(&mut measured);
            let mut plan = closed_plan();
            plan.scripts[0].commands = ["", "login", "pay", "receipt"].map(str::to_owned).to_vec();
            let summary = summarise(&measured, Server::default(), plan);
            let objective = parse_with_steps(objective, &operations(), &step_names()).expect(objective);
            let result = objective.judge(&summary);
            let figure = result.measured.map_or("-".to_owned(), |it| format!("{it:.3}"));
            let text = format!("{:?} {figure} of {}", result.verdict, result.samples);
            assert_eq!(text, expected, "{}", objective.text());
        };
        let nothing = |_: &mut Measurement| {};
        check("pay/login: p99 < 5ms", &nothing, "Met 0.003 of 2000");
        check("pay/1: p99 < 2ms", &nothing, "Violated 0.003 of 2000");
        check("pay/pay: p95 < 30ms", &nothing, "Violated 0.040 of 900");
        check("pay / pay: p99 < 50ms", &nothing, "Unknown - of 900");
        check("pay/pay: errors < 11%", &nothing, "Met 0.100 of 1000");
        check("pay/2: errors < 9%", &nothing, "Violated 0.100 of 1000");
        check("pay/pay: tps > 80", &nothing, "Met 90.000 of 900");
        // A step without a request meets nothing.
        check("pay/receipt: p99 < 1s", &nothing, "Unknown - of 0");
        check("pay/receipt: errors < 1%", &nothing, "Unknown - of 0");
        // Requests without a response are longer than any bound.
        let lost = |measurement: &mut Measurement| {
            measurement.interval.scripts[0].statements[1].unknown.add(Code::TIMED_OUT, 40);
        };
        check("pay/login: p99 < 5s", &lost, "Violated 10.000 of 2040");
        let wrong = |text| parse_with_steps(text, &operations(), &step_names()).expect_err(text);
        for (text, part, id) in [
            ("pay/buy: p99 < 1s", "buy", "objective-step"),
            ("pay/4: p99 < 1s", "4", "objective-step"),
            ("pay/0: p99 < 1s", "0", "objective-step"),
            ("look: up/1: p99 < 1s", "1", "objective-step"),
            ("pay/: p99 < 1s", "pay/", "rule-operation"),
            ("pay/login: dropped < 1%", "dropped", "objective-step-dropped"),
        ] {
            let diagnostic = wrong(text);
            assert_eq!((&text[diagnostic.span.clone()], &*diagnostic.message.id), (part, id), "{text}");
        }
    }

    /// Names of the commands of [`operations`].
    fn step_names() -> Vec<Vec<String>> {
        vec![["", "login", "pay", "receipt"].map(str::to_owned).to_vec(), Vec::new()]
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
