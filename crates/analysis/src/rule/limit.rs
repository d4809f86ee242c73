//! `limit`: has it lasted long enough?

use super::arguments::Arguments;
use super::{Cause, Complaint, Watch};
use model::Tick;

#[derive(Debug)]
struct Limit {
    seconds: u64,
}

impl Watch for Limit {
    fn see(&mut self, tick: &Tick) -> Option<Cause> {
        (tick.second + 1 >= self.seconds).then(|| Cause::of(tick))
    }
}

pub fn build(from: &mut Arguments<'_>) -> Result<Box<dyn Watch>, Complaint> {
    Ok(Box::new(Limit { seconds: from.seconds()? }))
}
