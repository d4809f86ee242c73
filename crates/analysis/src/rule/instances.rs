//! `instances`: was too much under way at once, second after second?

use super::arguments::{Arguments, Level};
use super::window::Consecutive;
use super::{Cause, Complaint, Difference, Watch};
use model::Tick;

#[derive(Debug)]
struct Instances {
    /// Transactions; more are bad.
    above: f64,
    seconds: Consecutive,
}

impl Watch for Instances {
    fn see(&mut self, tick: &Tick) -> Option<Cause> {
        self.seconds.see(tick, tick.in_flight as f64 > self.above)
    }
}

pub fn build(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    let above = match from.level()? {
        Level::Count(level) => level as f64,
        Level::Percent(percent) => {
            from.warnings.push(Difference::Instances);
            percent / 100.0 * f64::from(from.in_flight_max())
        }
    };
    Ok(Box::new(Instances { above, seconds: Consecutive::new(from.seconds()?) }))
}
