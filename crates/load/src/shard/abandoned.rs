//! Sessions that clients abandon after a timeout

use super::Shard;
use crate::recorder::Recorder;
use model::Nanos;

/// Interval between arrivals while too many sessions are abandoned.
const ARRIVAL_INTERVAL: Nanos = Nanos::from_secs(1);

/// Abandoned sessions since the last success.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AbandonedSessions {
    count: u32,
    /// Time of the latest arrival that was sent.
    last_arrival: Nanos,
}

impl AbandonedSessions {
    pub fn add(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    pub fn reset(&mut self) {
        self.count = 0;
    }
}

impl<R: Recorder> Shard<R> {
    /// True if an arrival must be dropped, because the server may have no connection left for others.
    pub(super) fn is_throttled(&mut self, now: Nanos) -> bool {
        let Some(max) = self.work.plan.abandon_max else { return false };
        let abandoned = &mut self.abandoned_sessions;
        if abandoned.count >= max && now < abandoned.last_arrival + ARRIVAL_INTERVAL {
            return true;
        }
        abandoned.last_arrival = now;
        false
    }
}
