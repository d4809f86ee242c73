//! Stop rule `limit`: ends a trial after a duration

use super::arguments::Arguments;
use super::{RuleState, TriggerSecond};
use model::{GrammarDiagnostic, Tick};

#[derive(Debug)]
struct LimitRule {
    seconds: u64,
}

impl RuleState for LimitRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        (tick.second + 1 >= self.seconds).then(|| TriggerSecond::from_tick(tick))
    }
}

pub fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    Ok(Box::new(LimitRule { seconds: arguments.seconds()? }))
}
