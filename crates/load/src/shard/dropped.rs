//! Arrivals that are never sent

use super::Shard;
use super::arrivals::{ARRIVALS_PER_ROUND, DueArrival};
use crate::recorder::Recorder;
use model::{ClientId, Nanos, Outcome, Record, ScriptId};

impl<R: Recorder> Shard<R> {
    /// True if an arrival is later than the latency limit allows; as in pgbench, it is not sent.
    pub(super) fn is_too_late(&self, now: Nanos, due: Nanos) -> bool {
        self.work.plan.latency_limit.is_some_and(|limit| now - due > limit)
    }

    pub(super) fn drop_arrival(&mut self, now: Nanos, due: DueArrival) {
        let script = self.script_of(due);
        self.drop_script(now, due.at, script);
    }

    pub(super) fn drop_script(&mut self, now: Nanos, intended: Nanos, script: ScriptId) {
        let (client, outcome) = (ClientId(self.first), Outcome::Dropped);
        self.recorder.record(&Record {
            script,
            client,
            outcome,
            intended,
            started: now,
            finished: now,
            tries: 0,
        });
    }

    /// True if arrivals remain in the schedule although all clients have aborted.
    pub(super) fn has_rest(&self) -> bool {
        self.window_started
            && self.active == 0
            && (!self.backlog.is_empty() || self.next_arrival().is_some() || self.replay_left() > 0)
    }

    /// Records the remaining arrivals as dropped if no client is left to send them, at most [`ARRIVALS_PER_ROUND`] per
    /// call.
    pub(super) fn drop_rest(&mut self, now: Nanos) {
        self.drop_replay(now);
        for _ in 0..ARRIVALS_PER_ROUND {
            let due = self.backlog.pop_front().or_else(|| {
                let due = self.next_arrival()?;
                self.take_arrival();
                Some(due)
            });
            let Some(due) = due else { return };
            self.drop_arrival(now, due);
        }
    }
}
