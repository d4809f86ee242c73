//! Stop rules `total_*`, `negative_*`: too many transactions in a sliding window
//!
//! A count is the sum over the window. A percentage of codes is the mean of the percentages of its seconds with equal
//! weights; seconds without responses are left out. A percentage of times is computed from all responses of the window.

use super::arguments::{Arguments, Threshold};
use super::mask::{CodeMask, MatchCount, TransactionScope};
use super::window::SlidingWindow;
use super::{RuleDiagnostic, RuleState, TankDifference, TriggerSecond};
use model::{Nanos, Tick};

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
        let mut brought = self.mask.count(tick, self.scope);
        if self.negative {
            brought.matching = brought.of - brought.matching;
        }
        self.window.push(tick, brought);
        let reached = match self.level {
            Threshold::Count(level) => self.window.values().map(|it| it.matching).sum::<u64>() >= level,
            Threshold::Percent(level) => {
                let with: Vec<&MatchCount> = self.window.values().filter(|it| it.of > 0).collect();
                let sum: f64 = with.iter().map(|it| 100.0 * it.matching as f64 / it.of as f64).sum();
                // Rounding may make the sum of quotients slightly too small.
                !with.is_empty() && sum / with.len() as f64 >= level * (1.0 - 1e-12)
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
        let mut brought = MatchCount::default();
        for cell in self.scope.cells(tick) {
            // An arrival without an answer is longer than any limit.
            brought.of += cell.response.count() + cell.unanswered();
            brought.matching += cell.response.count_above(self.limit) + cell.unanswered();
        }
        self.window.push(tick, brought);
        let sum = self.window.values().fold(MatchCount::default(), |sum, count| MatchCount {
            matching: sum.matching + count.matching,
            of: sum.of + count.of,
        });
        self.level.is_reached(sum).then(|| self.window.cause()).flatten()
    }
}

pub fn time(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    let (limit, percent) = (from.time()?, from.percent()?);
    from.warnings.push(TankDifference::TimesOfFailures);
    from.warnings.push(TankDifference::RoundedLimit { limit_ms: limit.as_millis_f64() });
    let (window, scope) = (SlidingWindow::new(from.seconds()?), from.scope()?);
    Ok(Box::new(TotalTimeRule { limit, level: Threshold::Percent(percent), scope, window }))
}

pub fn http(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, CodeMask::http, false)
}

pub fn net(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, CodeMask::net, false)
}

pub fn sql(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, CodeMask::sql, false)
}

pub fn negative_http(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, CodeMask::http, true)
}

/// Parses a `negative_net` rule. Here, unlike in its other rules, Tank counts code 0: `negative_net(0, …)` counts every
/// code except 0.
pub fn negative_net(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, |text| CodeMask::net(text).map(CodeMask::with_zero), true)
}

fn build(
    from: &mut Arguments<'_>,
    mask: fn(&str) -> Result<CodeMask, &'static str>,
    negative: bool,
) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    let (mask, level) = (from.mask(mask)?, from.level()?);
    if matches!(level, Threshold::Percent(_)) {
        from.warnings.push(TankDifference::MeanOfPercents);
    }
    let (window, scope) = (SlidingWindow::new(from.seconds()?), from.scope()?);
    Ok(Box::new(TotalCodesRule { mask, negative, level, scope, window }))
}
