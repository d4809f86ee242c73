//! Stop rule `instances`: too many transactions in flight, in consecutive seconds

use super::arguments::{Arguments, Threshold};
use super::window::Consecutive;
use super::{RuleState, TankDifference, TriggerSecond};
use model::{GrammarDiagnostic, Tick};

#[derive(Debug)]
struct InstancesRule {
    /// Number of transactions in flight above which a second is bad.
    above: f64,
    seconds: Consecutive,
}

impl RuleState for InstancesRule {
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond> {
        self.seconds.tick(tick, tick.in_flight as f64 > self.above)
    }
}

pub fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic> {
    let above = match arguments.level()? {
        Threshold::Count(level) => level as f64,
        Threshold::Percent(percent) => {
            arguments.warnings.push(TankDifference::InstancesShare);
            percent / 100.0 * f64::from(arguments.in_flight_max())
        }
    };
    Ok(Box::new(InstancesRule { above, seconds: Consecutive::new(arguments.seconds()?) }))
}
