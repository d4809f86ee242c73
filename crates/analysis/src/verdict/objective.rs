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
pub(super) const RELATIONS: [(&str, ObjectiveRelation); 4] = [
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
            ObjectiveUnit::Count => message!("objective-count", text = quoted),
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
        match self.unit() {
            ObjectiveUnit::PerSecond => read_number(text.strip_suffix("/s").unwrap_or(text)),
            ObjectiveUnit::Share => {
                read_number(text.strip_suffix('%')?).filter(|it| *it <= 100.0).map(|it| it / 100.0)
            }
            ObjectiveUnit::Count => read_number(text),
            ObjectiveUnit::Seconds => read_seconds(text),
        }
    }
}

/// Duration in seconds, such as 0.2 for `200ms`.
pub(super) fn read_seconds(text: &str) -> Option<f64> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0)];
    units.iter().find_map(|(unit, size)| Some(read_number(text.strip_suffix(unit)?)? * size))
}

/// Finite number that is not negative.
fn read_number(text: &str) -> Option<f64> {
    text.trim_end().parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)
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

    /// Verdict for a quantile with too few samples beyond it: violated if a lower quantile, all samples or, from p90, the
    /// mean already exceed the bound.
    fn by_lower_quantile(&self, distribution: &Distribution) -> ObjectiveVerdict {
        let ObjectiveMetric::Quantile(quantile) = self.figure else { return ObjectiveVerdict::Unknown };
        let lower = Quantile::ALL
            .into_iter()
            .take_while(|it| *it != quantile)
            .filter_map(|q| q.quantile_of(distribution));
        // Chance that all samples exceed the quantile.
        let chance = (1.0 - quantile.share()).powf(distribution.count as f64);
        let (min, mean) = (distribution.min, distribution.mean);
        let min = min.filter(|_| chance <= CHANCE_MAX);
        let mean = mean.filter(|_| chance <= CHANCE_MAX && quantile.share() >= MEAN_QUANTILE_MIN);
        let mut known = lower.chain(min).chain(mean).map(Nanos::as_secs_f64);
        let broken = known.any(|it| self.compare(it) == ObjectiveVerdict::Violated);
        if broken { ObjectiveVerdict::Violated } else { ObjectiveVerdict::Unknown }
    }
}

/// Lowest quantile that counts as above a bound if it cannot be measured and the mean is above the bound.
const MEAN_QUANTILE_MIN: f64 = 0.9;
/// Largest probability that chance explains samples that are all above a quantile.
const CHANCE_MAX: f64 = 0.01;
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
mod tests;
