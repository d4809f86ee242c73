//! Stop rules `http`, `net`, `sql`, `errors`: too many transactions end with a code, in consecutive seconds

use super::arguments::{Arguments, Threshold};
use super::mask::{CodeMask, TransactionScope};
use super::window::Consecutive;
use super::{RuleDiagnostic, RuleState, TriggerSecond};
use model::Tick;

/// State of a rule `http`, `net`, `sql` or `errors`.
#[derive(Debug)]
struct CodesRule {
    mask: CodeMask,
    level: Threshold,
    scope: TransactionScope,
    seconds: Consecutive,
}

impl RuleState for CodesRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        let bad = self.level.is_reached(self.mask.count(tick, self.scope));
        self.seconds.tick(tick, bad)
    }
}

pub fn http(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, CodeMask::http)
}

pub fn net(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, CodeMask::net)
}

pub fn sql(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(from, CodeMask::sql)
}

pub fn errors(from: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    codes(from, CodeMask::any())
}

fn build(
    from: &mut Arguments<'_>,
    mask: fn(&str) -> Result<CodeMask, &'static str>,
) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    let mask = from.mask(mask)?;
    codes(from, mask)
}

fn codes(from: &mut Arguments<'_>, mask: CodeMask) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    let level = from.level()?;
    let (seconds, scope) = (Consecutive::new(from.seconds()?), from.scope()?);
    Ok(Box::new(CodesRule { mask, level, scope, seconds }))
}
