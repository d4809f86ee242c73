//! Answer of a run, in one sentence

use super::Lang;
use crate::number::three_digits;
use crate::say;
use model::Nanos;
use model::matrix::{BaselineComparison, ChangeVerdict};
use model::validity::DoubtSummary;

/// Answer of an experiment.
#[derive(Clone, Copy, Debug)]
pub enum PageAnswer<'a> {
    /// No trial has ended.
    NotYet,
    /// No trial counts. The reason is a complete sentence; `total` is the number of trials.
    Nothing {
        reason: &'a str,
        total: usize,
    },
    One {
        level: &'a ObjectiveLevel<'a>,
        trials: TrialCounts<'a>,
        objectives: ObjectiveCounts,
    },
    /// Result of cells with their own baselines, best first; at least one pair.
    Pairs {
        pairs: &'a [PairAnswer<'a>],
        /// Number of cells that could not be compared with their baselines.
        uncompared: usize,
        open: Option<&'a OpenModelAnswer<'a>>,
        trials: TrialCounts<'a>,
        objectives: ObjectiveCounts,
    },
    /// Several cells have results. `best` and `worst` are closed-model cells other than the baseline. At least one of
    /// the four fields is `Some`.
    Many {
        baseline: Option<&'a ObjectiveLevel<'a>>,
        best: Option<&'a ObjectiveLevel<'a>>,
        worst: Option<&'a ObjectiveLevel<'a>>,
        open: Option<&'a OpenModelAnswer<'a>>,
        trials: TrialCounts<'a>,
        objectives: ObjectiveCounts,
    },
}

/// A cell and the cell with which it is compared. Both cells have the same load model: closed or open.
#[derive(Clone, Copy, Debug)]
pub struct PairAnswer<'a> {
    pub level: ObjectiveLevel<'a>,
    pub baseline: ObjectiveLevel<'a>,
}

/// Figure by which two cells are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairFigure {
    Throughput,
    /// The p99 of the response time. Used in the open model, because there the schedule determines the throughput.
    P99,
}

/// Maximum number of pairs in an answer.
pub const PAIRS_SHOWN: usize = 4;

/// Results of one cell.
#[derive(Clone, Copy, Debug)]
pub struct ObjectiveLevel<'a> {
    /// Index into the experiment's cells.
    pub cell: usize,
    pub name: &'a str,
    /// Successful transactions per second; `interval` is the 95 % CI.
    pub tps: f64,
    pub interval: Option<(f64, f64)>,
    /// Number of trials; the figures are medians of these trials.
    pub runs: u32,
    /// Offered load, arrivals per second; open model only.
    pub offered: Option<f64>,
    pub p99: Option<Nanos>,
    /// True if the p99 is a lower bound, because arrivals remained unanswered.
    pub p99_at_least: bool,
    /// Comparison of the throughput with the baseline; closed model only.
    pub against: Option<BaselineComparison>,
    /// Comparison of the p99 with the baseline; `None` if one of the two is only a lower bound.
    pub p99_against: Option<BaselineComparison>,
    /// True if the cell is excluded from comparisons: clients were refused or starved, or too many errors occurred.
    pub idle: bool,
}

/// Results of open-model cells other than the baseline. A cell that keeps up has a throughput equal to its offered
/// rate.
#[derive(Clone, Copy, Debug)]
pub struct OpenModelAnswer<'a> {
    /// Number of cells that keep up with the offered rate; `total` is the number of all cells.
    pub kept_up: usize,
    pub total: usize,
    /// The cell with the highest offered rate among the cells that keep up.
    pub highest: Option<ObjectiveLevel<'a>>,
    /// The cell that delivers the smallest share of its offered rate; `None` if all cells keep up.
    pub strained: Option<ObjectiveLevel<'a>>,
}

/// Number of valid trials and number of all trials.
#[derive(Clone, Copy, Debug)]
pub struct TrialCounts<'a> {
    pub valid: usize,
    pub total: usize,
    /// Number of valid trials whose verdict has doubts.
    pub doubtful: usize,
    /// Doubts of these trials that the answer describes, each kind once.
    pub doubts: &'a [DoubtSummary],
}

/// Maximum number of doubts in an answer.
const DOUBTS_SHOWN: usize = 3;

/// Numbers of objectives: met in all trials, violated in some trial, and unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectiveCounts {
    pub met: usize,
    pub violated: usize,
    pub unknown: usize,
}

impl PairAnswer<'_> {
    pub fn figure(&self) -> PairFigure {
        if self.level.offered.is_some() { PairFigure::P99 } else { PairFigure::Throughput }
    }

    /// Change of the figure; `None` if one of the cells is excluded from comparisons.
    pub fn change(&self) -> Option<BaselineComparison> {
        match self.figure() {
            PairFigure::Throughput => self.level.against.filter(|_| self.is_comparable()),
            PairFigure::P99 => self.p99_change(),
        }
    }

    /// Change of the p99; `None` if one of the cells is excluded from comparisons.
    pub fn p99_change(&self) -> Option<BaselineComparison> {
        self.level.p99_against.filter(|_| self.is_comparable())
    }

    fn is_comparable(&self) -> bool {
        !self.level.idle && !self.baseline.idle
    }

    /// True for a verdict that the cell is better than its baseline, false for worse, `None` without evidence.
    pub fn is_better(&self) -> Option<bool> {
        let is_higher = match self.change()?.verdict {
            ChangeVerdict::Higher => true,
            ChangeVerdict::Lower => false,
            ChangeVerdict::NoEvidence | ChangeVerdict::TooFewRuns => return None,
        };
        Some(is_higher == (self.figure() == PairFigure::Throughput))
    }
}

impl Lang {
    /// The answer in one sentence.
    pub fn answer(&self, answer: &PageAnswer<'_>) -> String {
        match *answer {
            PageAnswer::NotYet => say!(self, "answer-not-yet"),
            PageAnswer::Nothing { reason, total } => say!(self, "answer-nothing", reason, total),
            PageAnswer::One { level, trials, objectives } => {
                let rate = self.answered_rate(level);
                let answer = match level.offered {
                    None => say!(self, "answer-holds", rate),
                    Some(_) => say!(self, "answer-delivers", rate),
                };
                self.with_validity(vec![answer], objectives, trials)
            }
            PageAnswer::Pairs { pairs, uncompared, open, trials, objectives } => {
                let is_dull = |pair: &&PairAnswer<'_>| {
                    pair.change().is_some_and(|it| it.verdict == ChangeVerdict::NoEvidence)
                };
                let dull = Some(pairs.iter().filter(is_dull).count()).filter(|count| *count > 1);
                let named: Vec<&PairAnswer<'_>> =
                    pairs.iter().filter(|pair| dull.is_none() || !is_dull(pair)).collect();
                let mut parts: Vec<String> =
                    named.iter().take(PAIRS_SHOWN).map(|pair| self.answer_of_pair(pair)).collect();
                let hidden = named.len().saturating_sub(PAIRS_SHOWN);
                parts.extend((hidden > 0).then(|| say!(self, "answer-more-pairs", count = hidden)));
                parts.extend(dull.map(|count| say!(self, "answer-dull-pairs", count)));
                parts.extend((uncompared > 0).then(|| say!(self, "answer-uncompared", count = uncompared)));
                parts.extend(open.into_iter().flat_map(|open| self.answers_of_open_cells(open)));
                self.with_validity(parts, objectives, trials)
            }
            PageAnswer::Many { baseline, best, worst, open, trials, objectives } => {
                let mut parts = Vec::new();
                parts.extend(baseline.map(|level| self.answer_of_baseline(level)));
                parts.extend(best.map(|level| {
                    let (name, figures) = (level.name, self.compared_rate(level));
                    match (worst, baseline) {
                        // If there is only one cell in addition to the baseline, do not call it best or worst.
                        (None, _) => say!(self, "answer-other", name, figures),
                        (Some(_), Some(_)) => say!(self, "answer-best-other", name, figures),
                        (Some(_), None) => say!(self, "answer-best", name, figures),
                    }
                }));
                parts.extend(worst.map(|level| {
                    say!(self, "answer-worst", name = level.name, figures = self.compared_rate(level))
                }));
                parts.extend(open.into_iter().flat_map(|open| self.answers_of_open_cells(open)));
                self.with_validity(parts, objectives, trials)
            }
        }
    }

    /// Ends an answer with the verdicts on objectives and on the validity of trials.
    fn with_validity(
        &self,
        mut parts: Vec<String>,
        objectives: ObjectiveCounts,
        trials: TrialCounts<'_>,
    ) -> String {
        parts.extend(self.verdict_on_objectives(objectives));
        parts.push(self.validity(trials));
        parts.join("; ") + "."
    }

    /// `pooled/20: 18120 transactions per second compared with 21570 of direct/20, ratio 0.840 (95 % CI 0.832 to
    /// 0.848): lower; p99 12.3 ms compared with 10.2 ms`.
    fn answer_of_pair(&self, pair: &PairAnswer<'_>) -> String {
        let numbers = self.numbers();
        let (level, with) = (&pair.level, &pair.baseline);
        let [low, high] = match pair.change().and_then(|it| it.interval) {
            Some((low, high)) => [low, high].map(|ratio| Some(numbers.fixed(ratio, 3))),
            None => [None, None],
        };
        let comparison = match pair.change() {
            Some(BaselineComparison { ratio: Some(ratio), verdict, .. }) => {
                let (ratio, verdict) = (numbers.fixed(ratio, 3), self.verdict(verdict));
                Some(say!(self, "answer-pair-change", ratio, low, high, verdict))
            }
            _ => None,
        };
        let [p99, p99_with] = [level, with].map(|level| self.p99(level));
        let trials = say!(self, "answer-trials", count = level.runs);
        let (rate, rate_with) = (numbers.three(level.tps), numbers.three(with.tps));
        let (name, baseline) = (level.name, with.name);
        say!(self, "answer-pair", name, rate, rate_with, baseline, comparison, p99, p99_with, trials)
    }

    fn answer_of_baseline(&self, level: &ObjectiveLevel<'_>) -> String {
        let (name, mut rate) = (level.name, self.answered_rate(level));
        if level.idle {
            rate = say!(self, "answer-not-all-clients", rate);
        }
        match level.offered {
            None => say!(self, "answer-baseline-holds", name, rate),
            Some(_) => say!(self, "answer-baseline-delivers", name, rate),
        }
    }

    /// Sentences with offered and delivered rates of open-model cells.
    fn answers_of_open_cells(&self, open: &OpenModelAnswer<'_>) -> Vec<String> {
        let figures = |level: &ObjectiveLevel<'_>| {
            let numbers = self.numbers();
            let offered = level.offered.map(|rate| numbers.three(rate));
            let confidence = self.confidence(level);
            say!(self, "answer-rate-of-offered", rate = numbers.three(level.tps), offered, confidence)
        };
        let OpenModelAnswer { kept_up: count, total, highest, strained } = *open;
        match (total, highest, strained) {
            (1, Some(level), _) => {
                vec![say!(self, "answer-keeps-up", name = level.name, figures = figures(&level))]
            }
            (1, None, Some(level)) => {
                vec![say!(self, "answer-does-not-keep-up", name = level.name, figures = figures(&level))]
            }
            (total, highest, strained) => {
                let all = say!(self, "answer-keep-up", count, total);
                let highest = highest
                    .map(|level| say!(self, "answer-highest", name = level.name, figures = figures(&level)));
                let strained = strained.map(|level| {
                    say!(self, "answer-furthest-behind", name = level.name, figures = figures(&level))
                });
                [Some(all), highest, strained].into_iter().flatten().collect()
            }
        }
    }

    /// Rate and p99: `21570 transactions per second (95 % CI 21400 to 21700, 5 trials), p99 12.3 ms`.
    fn answered_rate(&self, level: &ObjectiveLevel<'_>) -> String {
        let rate = three_digits(level.tps);
        let integer = rate.parse::<u64>().ok();
        let offered = level.offered.map(|rate| self.numbers().three(rate));
        let confidence = self.confidence(level);
        say!(self, "answer-rate", rate = self.number(&rate), offered, whole = integer, confidence)
    }

    /// A rate without its unit, and its comparison with the baseline.
    fn compared_rate(&self, level: &ObjectiveLevel<'_>) -> String {
        let numbers = self.numbers();
        let rate = format!("{} {}", numbers.three(level.tps), self.confidence(level));
        let Some((ratio, verdict)) = level.against.and_then(|it| Some((it.ratio?, it.verdict))) else {
            return rate;
        };
        let ratio = numbers.fixed(ratio, 3);
        let comparison = match verdict {
            ChangeVerdict::NoEvidence => say!(self, "answer-no-evidence", ratio),
            ChangeVerdict::Lower => say!(self, "answer-lower", ratio),
            ChangeVerdict::Higher => say!(self, "answer-higher", ratio),
            ChangeVerdict::TooFewRuns => say!(self, "answer-too-few-trials", ratio),
        };
        format!("{rate}, {comparison}")
    }

    /// 99th percentile of a cell's response times. A sign marks a value that is only a lower bound.
    pub fn p99(&self, level: &ObjectiveLevel<'_>) -> Option<String> {
        let sign = if level.p99_at_least { format!(">{}", self.numbers().gap) } else { String::new() };
        level.p99.map(|time| sign + &self.time(time))
    }

    /// Interval and number of trials of a rate, and the p99.
    fn confidence(&self, level: &ObjectiveLevel<'_>) -> String {
        let numbers = self.numbers();
        let [low, high] = match level.interval {
            Some((low, high)) => [low, high].map(|rate| Some(numbers.three(rate))),
            None => [None, None],
        };
        let p99 = self.p99(level);
        let trials = say!(self, "answer-trials", count = level.runs);
        say!(self, "answer-confidence", low, high, trials, p99)
    }

    fn verdict_on_objectives(&self, counts: ObjectiveCounts) -> Option<String> {
        let ObjectiveCounts { met, violated, unknown } = counts;
        let total = met + violated + unknown;
        Some(match (total, violated, unknown) {
            (0, ..) => return None,
            (1, 0, 0) => say!(self, "answer-objective-met"),
            (1, 1, _) => say!(self, "answer-objective-violated"),
            (1, ..) => say!(self, "answer-objective-unknown"),
            (_, 0, 0) => say!(self, "answer-objectives-met", total),
            (_, 0, count) => say!(self, "answer-objectives-unknown", count, total),
            (_, count, _) => say!(self, "answer-objectives-violated", count, total),
        })
    }

    fn validity(&self, counts: TrialCounts<'_>) -> String {
        let TrialCounts { valid, total, doubtful, doubts } = counts;
        let one = (valid, total) == (1, 1);
        let mut texts: Vec<String> =
            doubts.iter().take(DOUBTS_SHOWN).map(|doubt| self.doubt_summary(doubt, total)).collect();
        let hidden = doubts.len().saturating_sub(DOUBTS_SHOWN);
        texts.extend((hidden > 0).then(|| say!(self, "answer-more-doubts", count = hidden)));
        let doubts = (!texts.is_empty()).then(|| texts.join("; "));
        match doubtful {
            0 if one => say!(self, "answer-trial-valid"),
            0 if valid == total => say!(self, "answer-all-trials-valid"),
            0 => say!(self, "answer-trials-valid", valid, total),
            _ if one => say!(self, "answer-trial-doubtful", doubts),
            _ => say!(self, "answer-trials-doubtful", valid, total, doubtful, doubts),
        }
    }

    /// Text of a doubt, with the figures of the worst of `total` trials.
    pub fn doubt_summary(&self, summary: &DoubtSummary, total: usize) -> String {
        let text = self.doubt(&summary.doubt, summary.clients);
        match total {
            1 => text,
            _ => say!(self, "answer-worst-doubt", text, trials = summary.trials),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::russian;

    #[test]
    fn objectives_in_their_number() {
        for (met, violated, unknown, expected) in [
            (1, 0, 0, "цель соблюдена"),
            (2, 0, 0, "соблюдены все цели (2)"),
            (2, 1, 0, "НАРУШЕНА 1 цель из 3"),
            (1, 2, 0, "НАРУШЕНЫ 2 цели из 3"),
            (0, 5, 1, "НАРУШЕНО 5 целей из 6"),
            (2, 0, 1, "не оценено целей: 1 из 3"),
            (1, 0, 2, "не оценено целей: 2 из 3"),
        ] {
            let counts = ObjectiveCounts { met, violated, unknown };
            assert_eq!(russian().verdict_on_objectives(counts).as_deref(), Some(expected));
        }
    }
}
