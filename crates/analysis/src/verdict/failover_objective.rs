//! Objectives on the trials of `find: failover`
//!
//! An objective is `lost == 0`, `lost <= 5`, `outage < 5s`, `outage p95 < 10s` or `read outage p50 < 1s`. It applies to
//! all trials of a cell together. An outage is that of new clients, or that of connected clients if new clients were not
//! measured.
//!
//! `outage < 5s` is met if the outage of every trial is shorter. `outage p95 < 10s` is met if, with 95 % confidence, 95 %
//! of all failovers have a shorter outage, and violated if fewer have one. Otherwise the verdict is unknown. The
//! confidence bound is that of Clopper and Pearson: n trials without a longer outage suffice if 0.95ⁿ ≤ 0.05. An outage that
//! had not ended at the end of the load may be longer than any bound.

use crate::verdict::objective::{ObjectiveRelation, RELATIONS, read_seconds};
use crate::verdict::rule::quoted;
use model::durability::AccessKind;
use model::objective::{ObjectiveResult, ObjectiveUnit, ObjectiveVerdict, TooFewSamples};
use model::{GrammarDiagnostic, Nanos, message};

/// Objective on a cell's failovers.
#[derive(Clone, Debug, PartialEq)]
pub struct FailoverObjective {
    text: String,
    metric: FailoverMetric,
    relation: ObjectiveRelation,
    /// Bound in seconds, or as a number of writes.
    bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FailoverMetric {
    /// Number of acknowledged writes that were lost.
    Lost,
    /// Outage: the longest one, or a quantile (0..1) over the trials.
    Outage { access: AccessKind, quantile: Option<f64> },
}

/// Failovers of a cell.
#[derive(Clone, Copy, Debug)]
pub struct FailoverFigures<'a> {
    /// Number of acknowledged writes that were lost; `None` if unknown.
    pub lost: Option<u64>,
    pub acknowledged: u64,
    /// Outages of writes and of reads, one per trial.
    pub writes: &'a [OutageFigure],
    pub reads: &'a [OutageFigure],
}

/// Outage of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutageFigure {
    pub duration: Nanos,
    /// True if the duration is only a lower bound, because the outage had not ended at the end of the load.
    pub ongoing: bool,
}

/// Probability that a verdict on a quantile is wrong.
const ERROR_PROBABILITY: f64 = 0.05;
/// Maximum number of trials that a message recommends.
const TRIALS_MAX: u64 = 100_000;

/// Metrics by name, in the order in which messages list them.
const METRICS: [(&str, FailoverMetric); 3] = [
    ("lost", FailoverMetric::Lost),
    ("outage", FailoverMetric::Outage { access: AccessKind::Write, quantile: None }),
    ("read outage", FailoverMetric::Outage { access: AccessKind::Read, quantile: None }),
];
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

/// Parses an objective on failovers. `None` if the text is an objective on the load.
pub fn parse(text: &str) -> Option<Result<FailoverObjective, GrammarDiagnostic>> {
    let sign_at = text.find(['<', '>', '='])?;
    let left = text[..sign_at].trim();
    let named = |(name, _): &&(&str, FailoverMetric)| {
        left == *name || left.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '))
    };
    let (name, metric) = METRICS.iter().find(named)?;
    Some(parse_bound(text, sign_at, left[name.len()..].trim(), *metric))
}

fn parse_bound(
    text: &str,
    sign_at: usize,
    suffix: &str,
    metric: FailoverMetric,
) -> Result<FailoverObjective, GrammarDiagnostic> {
    let reject = |part, message| Err(GrammarDiagnostic::in_part(text, part, message));
    let rest = &text[sign_at..];
    let signs = || [("==", ObjectiveRelation::AtMost)].into_iter().chain(RELATIONS);
    let found = signs().find(|it| rest.starts_with(it.0));
    let sign = found.map_or("=", |it| it.0);
    let right = rest[sign.len()..].trim();
    let metric = match (metric, QUANTILES.iter().find(|it| it.0 == suffix)) {
        (_, None) if suffix.is_empty() => metric,
        (FailoverMetric::Outage { access, .. }, Some((_, quantile))) => {
            FailoverMetric::Outage { access, quantile: Some(*quantile) }
        }
        (FailoverMetric::Outage { .. }, None) => {
            let names = QUANTILES.map(|it| it.0).join(", ");
            return reject(suffix, message!("objective-metric", text = quoted(suffix), names));
        }
        (FailoverMetric::Lost, _) => {
            return reject(suffix, message!("objective-metric", text = quoted(suffix), names = "lost"));
        }
    };
    let bound = match metric {
        FailoverMetric::Lost => right.parse::<u32>().ok().map(f64::from),
        FailoverMetric::Outage { .. } => read_seconds(right),
    };
    let Some(bound) = bound else {
        return match metric {
            FailoverMetric::Lost => reject(right, message!("objective-count", text = quoted(right))),
            FailoverMetric::Outage { .. } => reject(right, message!("objective-time", text = quoted(right))),
        };
    };
    let is_lost = metric == FailoverMetric::Lost;
    let is_fit = |relation| match relation {
        ObjectiveRelation::AtMost => sign == "<=" || (is_lost && bound == 0.0),
        ObjectiveRelation::Below => true,
        ObjectiveRelation::Above | ObjectiveRelation::AtLeast => false,
    };
    match found.map(|it| it.1).filter(|it| is_fit(*it)) {
        Some(relation) => Ok(FailoverObjective { text: text.trim().to_owned(), metric, relation, bound }),
        None => {
            let metric = text[..sign_at].trim();
            let at = &rest[..sign.len()];
            reject(at, message!("objective-relation", sign, is_rate = false, metric))
        }
    }
}

impl FailoverObjective {
    pub fn judge(&self, figures: &FailoverFigures<'_>) -> ObjectiveResult {
        match self.metric {
            FailoverMetric::Lost => {
                let lost = figures.lost.map(|it| it as f64);
                let verdict = lost.map_or(ObjectiveVerdict::Unknown, |it| self.compare(it));
                self.result(verdict, lost, figures.acknowledged)
            }
            FailoverMetric::Outage { access, quantile } => {
                let outages = if access == AccessKind::Write { figures.writes } else { figures.reads };
                let mut sorted: Vec<f64> = outages.iter().map(|it| it.duration.as_secs_f64()).collect();
                sorted.sort_by(f64::total_cmp);
                let is_open = |outage: &&OutageFigure| {
                    outage.ongoing && self.compare(outage.duration.as_secs_f64()) == ObjectiveVerdict::Met
                };
                let open = outages.iter().filter(is_open).count() as u64;
                match quantile {
                    Some(quantile) => self.judge_quantile(quantile, &sorted, open),
                    None => {
                        let longest = sorted.last().copied();
                        let verdict = match longest.map(|it| self.compare(it)) {
                            Some(ObjectiveVerdict::Met) if open > 0 => ObjectiveVerdict::Unknown,
                            verdict => verdict.unwrap_or(ObjectiveVerdict::Unknown),
                        };
                        let is_lower_bound = outages.iter().any(|it| it.ongoing);
                        ObjectiveResult {
                            is_lower_bound,
                            ..self.result(verdict, longest, sorted.len() as u64)
                        }
                    }
                }
            }
        }
    }

    /// Judges a quantile. `open` outages within the bound had not ended, so they may be longer.
    fn judge_quantile(&self, quantile: f64, sorted: &[f64], open: u64) -> ObjectiveResult {
        let count = sorted.len() as u64;
        let longer =
            sorted.iter().filter(|it| self.compare(**it) == ObjectiveVerdict::Violated).count() as u64;
        let share = 1.0 - quantile;
        let verdict = if count > 0 && at_most(longer + open, count, share) <= ERROR_PROBABILITY {
            ObjectiveVerdict::Met
        } else if longer > 0 && 1.0 - at_most(longer - 1, count, share) <= ERROR_PROBABILITY {
            ObjectiveVerdict::Violated
        } else {
            ObjectiveVerdict::Unknown
        };
        let rank = ((quantile * count as f64).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
        if verdict != ObjectiveVerdict::Unknown {
            return self.result(verdict, sorted.get(rank).copied(), count);
        }
        // The longest outage is an upper bound of this quantile.
        let nearest = sorted.last().map(|it| (ERROR_PROBABILITY.powf(1.0 / count as f64), *it));
        let needed = (count..TRIALS_MAX).find(|it| at_most(longer + open, *it, share) <= ERROR_PROBABILITY);
        let too_few = Some(TooFewSamples { quantile, needed: needed.unwrap_or(TRIALS_MAX), nearest });
        ObjectiveResult { too_few, ..self.result(verdict, None, count) }
    }

    fn compare(&self, value: f64) -> ObjectiveVerdict {
        let is_met = match self.relation {
            ObjectiveRelation::Below => value < self.bound,
            _ => value <= self.bound,
        };
        if is_met { ObjectiveVerdict::Met } else { ObjectiveVerdict::Violated }
    }

    fn result(&self, verdict: ObjectiveVerdict, measured: Option<f64>, samples: u64) -> ObjectiveResult {
        ObjectiveResult {
            objective: self.text.clone(),
            verdict,
            unit: match self.metric {
                FailoverMetric::Lost => ObjectiveUnit::Count,
                FailoverMetric::Outage { .. } => ObjectiveUnit::Seconds,
            },
            measured,
            is_lower_bound: false,
            ended_early: false,
            bound: self.bound,
            samples,
            too_few: None,
        }
    }
}

/// Probability of at most `successes` successes in `trials` trials with the probability `p` each.
fn at_most(successes: u64, trials: u64, p: f64) -> f64 {
    // Term k of the binomial distribution, from term k − 1.
    let mut term = (1.0 - p).powi(i32::try_from(trials).unwrap_or(i32::MAX));
    let mut sum = term;
    for k in 1..=successes.min(trials) {
        term *= (trials - k + 1) as f64 / k as f64 * p / (1.0 - p);
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outages of trials: `20x1.3` is twenty trials of 1.3 s, `1x1.3+` one whose outage had not ended.
    fn outages(text: &str) -> Vec<OutageFigure> {
        let trials = |word: &str| {
            let (count, seconds) = word.split_once('x').expect("a count and a duration");
            let (seconds, ongoing) = match seconds.strip_suffix('+') {
                Some(it) => (it, true),
                None => (seconds, false),
            };
            let duration = Nanos::from_secs_f64(seconds.parse().expect("a duration"));
            vec![OutageFigure { duration, ongoing }; count.parse().expect("a count")]
        };
        text.split_whitespace().flat_map(trials).collect()
    }

    #[test]
    fn judges_lost_writes_and_outages() {
        use ObjectiveVerdict::{Met, Unknown, Violated};
        for (objective, lost, trials, verdict, measured) in [
            ("lost == 0", Some(0), "20x1.3", Met, Some(0.0)),
            ("lost == 0", Some(1), "20x1.3", Violated, Some(1.0)),
            ("lost == 0", None, "20x1.3", Unknown, None),
            ("lost <= 5", Some(5), "20x1.3", Met, Some(5.0)),
            ("lost < 5", Some(5), "20x1.3", Violated, Some(5.0)),
            ("outage < 2s", Some(0), "20x1.3", Met, Some(1.3)),
            ("outage < 1300ms", Some(0), "20x1.3", Violated, Some(1.3)),
            ("outage <= 1300ms", Some(0), "20x1.3", Met, Some(1.3)),
            ("outage < 2s", Some(0), "19x1.3 1x9", Violated, Some(9.0)),
            ("outage < 2s", Some(0), "", Unknown, None),
            ("outage < 2s", Some(0), "1x1.3 1x1.1+", Unknown, Some(1.3)),
            ("outage < 2s", Some(0), "1x1.3 1x2.1+", Violated, Some(2.1)),
            ("outage p95 < 2s", Some(0), "91x1.3 1x1.1+", Unknown, None),
            ("outage p95 < 2s", Some(0), "92x1.3 1x1.1+", Met, Some(1.3)),
            ("outage p95 < 2s", Some(0), "16x1.3 4x9+", Violated, Some(9.0)),
            ("outage p95 < 2s", Some(0), "16x1.3 1x9+ 3x1.4+", Unknown, None),
            // 0.95⁵⁸ > 0.05 ≥ 0.95⁵⁹
            ("outage p95 < 2s", Some(0), "58x1.3", Unknown, None),
            ("outage p95 < 2s", Some(0), "59x1.3", Met, Some(1.3)),
            ("outage p95 < 2s", Some(0), "91x1.3 1x9", Unknown, None),
            ("outage p95 < 2s", Some(0), "91x1.3 1x1.4", Met, Some(1.3)),
            ("outage p95 < 2s", Some(0), "92x1.3 1x9", Met, Some(1.3)),
            ("outage p95 < 2s", Some(0), "17x1.3 3x9", Unknown, None),
            ("outage p95 < 2s", Some(0), "16x1.3 4x9", Violated, Some(9.0)),
            ("outage p50 < 2s", Some(0), "4x1.3", Unknown, None),
            ("outage p50 < 2s", Some(0), "5x1.3", Met, Some(1.3)),
            ("outage p50 < 2s", Some(0), "5x9", Violated, Some(9.0)),
            ("outage p95 < 2s", Some(0), "", Unknown, None),
            ("read outage < 2s", Some(0), "1x9", Unknown, None),
        ] {
            let parsed = parse(objective).expect("it is about failovers").expect("it is valid");
            let writes = outages(trials);
            let figures = FailoverFigures { lost, acknowledged: 1000, writes: &writes, reads: &[] };
            let result = parsed.judge(&figures);
            assert_eq!((result.verdict, result.measured), (verdict, measured), "{objective}: {trials}");
        }
    }

    #[test]
    fn states_how_many_trials_a_quantile_needs() {
        for (trials, needed, provable) in
            [("20x1.3", 59, 0.861), ("19x1.3 1x9", 93, 0.861), ("1x1.3", 59, 0.05)]
        {
            let parsed = parse("outage p95 < 2s").expect("about failovers").expect("valid");
            let writes = outages(trials);
            let figures = FailoverFigures { lost: Some(0), acknowledged: 1, writes: &writes, reads: &[] };
            let few = parsed.judge(&figures).too_few.expect("there are too few trials");
            let nearest = few.nearest.expect("there is a trial").0;
            assert_eq!((few.needed, (nearest * 1000.0).round() / 1000.0), (needed, provable), "{trials}");
        }
    }

    #[test]
    fn rejects_other_forms() {
        for text in ["p99 < 1s", "lost: p99 < 1s", "outages < 1s", "lost", "errors < 1%"] {
            assert!(parse(text).is_none(), "{text}");
        }
        for (text, part) in [
            ("lost == 5", "=="),
            ("lost > 0", ">"),
            ("lost == none", "none"),
            ("lost = 0", "="),
            ("lost p95 == 0", "p95"),
            ("outage == 0s", "=="),
            ("outage p42 < 1s", "p42"),
            ("outage < 5", "5"),
            ("outage >= 5s", ">="),
        ] {
            let diagnostic = parse(text).expect("it is about failovers").expect_err(text);
            assert_eq!(&text[diagnostic.span], part, "{text}");
        }
    }
}
