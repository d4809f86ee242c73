//! Stop rules `http`, `net`, `sql`, `errors`: too many transactions end with a code, in consecutive seconds

use super::arguments::{Arguments, Threshold};
use super::mask::{CodeKind, CodeMask, TransactionScope};
use super::window::Consecutive;
use super::{RuleState, TriggerSecond};
use model::{GrammarDiagnostic, Tick};

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

pub fn http(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Http)?;
    codes(arguments, mask)
}

pub fn net(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Net)?;
    codes(arguments, mask)
}

pub fn sql(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let mask = arguments.mask(CodeKind::Sql)?;
    codes(arguments, mask)
}

pub fn errors(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    codes(arguments, CodeMask::any())
}

fn codes(arguments: &mut Arguments<'_>, mask: CodeMask) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let level = arguments.level()?;
    let (seconds, scope) = (Consecutive::new(arguments.seconds()?), arguments.scope()?);
    Ok(Box::new(CodesRule { mask, level, scope, seconds }))
}
