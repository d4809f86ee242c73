//! Stop rule `http_trend`: the number of responses with a code decreases
//!
//! The rule fires if the mean change from second to second plus its standard error is below 0. As in Tank, the count of
//! the first second is the first change, relative to 0. A window of n seconds is therefore complete from second n + 1.

use super::arguments::Arguments;
use super::mask::{CodeKind, CodeMask, TransactionScope};
use super::window::SlidingWindow;
use super::{RuleState, TriggerSecond};
use model::{GrammarDiagnostic, Tick};
use std::collections::VecDeque;

#[derive(Debug)]
struct TrendRule {
    mask: CodeMask,
    scope: TransactionScope,
    last: u64,
    size: u64,
    changes: VecDeque<f64>,
    /// Seconds of all changes except the first.
    seconds: SlidingWindow<()>,
}

impl RuleState for TrendRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        let matching = self.mask.count(tick, self.scope).matching;
        self.changes.push_back(matching as f64 - self.last as f64);
        self.last = matching;
        self.seconds.push(tick, ());
        if self.changes.len() as u64 > self.size {
            self.changes.pop_front();
        }
        let (mean, error) = mean_and_error(&self.changes);
        (mean + error < 0.0).then(|| self.seconds.cause()).flatten()
    }
}

/// Mean of `values` and its standard error, √(Σ(x − mean)² / (n (n − 1))); the error is 0 for one value.
fn mean_and_error(values: &VecDeque<f64>) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|it| (it - mean) * (it - mean)).sum();
    (mean, if n < 2.0 { 0.0 } else { (squares / n / (n - 1.0)).sqrt() })
}

pub fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let (mask, size) = (arguments.mask(CodeKind::Http)?, arguments.seconds()?);
    let scope = arguments.scope()?;
    let changes = VecDeque::new();
    Ok(Box::new(TrendRule {
        mask,
        scope,
        last: 0,
        size,
        changes,
        seconds: SlidingWindow::new((size - 1).max(1)),
    }))
}
