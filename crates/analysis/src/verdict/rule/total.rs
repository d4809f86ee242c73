//! Stop rules `total_*`, `negative_*`: too many transactions in a sliding window
//!
//! A count is the sum over the window. A percentage of codes is the unweighted mean of the seconds' percentages;
//! seconds without responses are left out. A percentage of times is computed from all responses of the window.

use super::arguments::{Arguments, Threshold};
use super::mask::{CodeKind, CodeMask, MatchCount, TransactionScope};
use super::window::SlidingWindow;
use super::{RuleState, TankDifference, TriggerSecond};
use model::{GrammarDiagnostic, Nanos, Tick};

#[derive(Debug)]
struct TotalCodesRule {
    mask: CodeMask,
    /// True if the rule counts transactions that do not match.
    negative: bool,
    level: Threshold,
    scope: TransactionScope,
    window: SlidingWindow<MatchCount>,
}

impl RuleState for TotalCodesRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        let mut counts = self.mask.count(tick, self.scope);
        if self.negative {
            counts.matching = counts.total - counts.matching;
        }
        self.window.push(tick, counts);
        let reached = match self.level {
            Threshold::Count(level) => self.window.values().map(|it| it.matching).sum::<u64>() >= level,
            Threshold::Percent(level) => {
                let non_empty: Vec<&MatchCount> = self.window.values().filter(|it| it.total > 0).collect();
                let sum: f64 = non_empty.iter().map(|it| 100.0 * it.matching as f64 / it.total as f64).sum();
                // Rounding may make the sum of quotients slightly too small.
                !non_empty.is_empty() && sum / non_empty.len() as f64 >= level * (1.0 - 1e-12)
            }
        };
        reached.then(|| self.window.cause()).flatten()
    }
}

#[derive(Debug)]
struct TotalTimeRule {
    limit: Nanos,
    level: Threshold,
    scope: TransactionScope,
    window: SlidingWindow<MatchCount>,
}

impl RuleState for TotalTimeRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        let mut counts = MatchCount::default();
        for cell in self.scope.cells(tick) {
            // An arrival without a response counts as longer than any limit.
            counts.total += cell.response.count() + cell.unanswered();
            counts.matching += cell.response.count_above(self.limit) + cell.unanswered();
        }
        self.window.push(tick, counts);
        let sum = self.window.values().fold(MatchCount::default(), |sum, count| MatchCount {
            matching: sum.matching + count.matching,
            total: sum.total + count.total,
        });
        self.level.is_reached(sum).then(|| self.window.cause()).flatten()
    }
}

pub fn time(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let (limit, percent) = (arguments.time()?, arguments.percent()?);
    arguments.warnings.push(TankDifference::TimesOfFailures);
    arguments.warnings.push(TankDifference::RoundedLimit { limit_ms: limit.as_millis_f64() });
    let (window, scope) = (SlidingWindow::new(arguments.seconds()?), arguments.scope()?);
    Ok(Box::new(TotalTimeRule { limit, level: Threshold::Percent(percent), scope, window }))
}

pub fn http(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Http)?;
    build(arguments, mask, false)
}

pub fn net(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Net)?;
    build(arguments, mask, false)
}

pub fn sql(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Sql)?;
    build(arguments, mask, false)
}

pub fn negative_http(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Http)?;
    build(arguments, mask, true)
}

/// Parses a `negative_net` rule. Unlike in Tank's other rules, its mask may match code 0: `negative_net(0, …)` counts
/// every code except 0.
pub fn negative_net(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Net)?.with_zero();
    build(arguments, mask, true)
}

fn build(
    arguments: &mut Arguments<'_>,
    mask: CodeMask,
    negative: bool,
) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let level = arguments.level()?;
    if matches!(level, Threshold::Percent(_)) {
        arguments.warnings.push(TankDifference::MeanOfPercents);
    }
    let (window, scope) = (SlidingWindow::new(arguments.seconds()?), arguments.scope()?);
    Ok(Box::new(TotalCodesRule { mask, negative, level, scope, window }))
}
