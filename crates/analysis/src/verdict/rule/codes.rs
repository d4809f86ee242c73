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

pub fn http(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(arguments, CodeMask::http)
}

pub fn net(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(arguments, CodeMask::net)
}

pub fn sql(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    build(arguments, CodeMask::sql)
}

pub fn errors(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    codes(arguments, CodeMask::any())
}

fn build(
    arguments: &mut Arguments<'_>,
    mask: fn(&str) -> Result<CodeMask, &'static str>,
) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    let mask = arguments.mask(mask)?;
    codes(arguments, mask)
}

fn codes(arguments: &mut Arguments<'_>, mask: CodeMask) -> Result<Box<dyn RuleState>, RuleDiagnostic> {
    let level = arguments.level()?;
    let (seconds, scope) = (Consecutive::new(arguments.seconds()?), arguments.scope()?);
    Ok(Box::new(CodesRule { mask, level, scope, seconds }))
}
