//! Arrivals of the open model: transactions that are due

use super::Shard;
use crate::recorder::Recorder;
use model::{Nanos, ScriptId};

/// Maximum number of arrivals per round. It limits the duration of a round if the generator is far behind its schedule.
pub(super) const ARRIVALS_PER_ROUND: u32 = 1024;

/// Transaction that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct DueArrival {
    pub at: Nanos,
    /// Script of the transaction; drawn by weight if `None`.
    pub script: Option<ScriptId>,
    /// Row of the script's feed; drawn if `None`.
    pub row: Option<u64>,
}

/// Event that starts a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartCause {
    /// An arrival became due while a client was idle.
    Due,
    /// An arrival became due while all clients were busy.
    Backlogged,
    /// A client of the closed model is ready.
    ClientReady,
}

impl<R: Recorder> Shard<R> {
    pub(super) fn next_arrival(&self) -> Option<DueArrival> {
        let arrivals = self.arrivals.as_ref().filter(|_| self.arrivals_left > 0)?;
        let due = arrivals.peek().map(|arrival| DueArrival {
            at: self.window_start + arrival.at,
            script: arrival.script,
            row: arrival.row,
        });
        due.filter(|it| it.at < self.window_end)
    }

    /// Assigns one due arrival to an idle client. It assigns only one per call, so that the time of sending is current.
    ///
    /// Arrivals without an idle client enter the backlog, at most [`ARRIVALS_PER_ROUND`] per call.
    #[inline]
    pub(super) fn take_due_arrivals(&mut self, now: Nanos) {
        for _ in 0..ARRIVALS_PER_ROUND {
            let Some(due) = self.next_arrival().filter(|it| it.at <= now) else { return };
            self.take_arrival();
            if self.is_too_late(now, due.at) || self.is_throttled(now) {
                self.drop_arrival(now, due);
            } else if let Some(i) = self.take_idle() {
                if self.begin_transaction(now, i, due, StartCause::Due) {
                    return;
                }
                self.push_idle(i);
            } else if self.backlog.len() < self.backlog_max {
                self.backlog.push_back(due);
            } else {
                self.drop_arrival(now, due);
            }
        }
    }

    pub(super) fn take_arrival(&mut self) {
        self.arrivals.as_mut().expect("there is a next arrival").pop();
        self.arrivals_left -= 1;
    }

    /// Returns the script of a transaction that is about to begin. Call this once per transaction, because it may draw
    /// a random script.
    #[inline]
    pub(super) fn script_of(&mut self, due: DueArrival) -> ScriptId {
        due.script.unwrap_or_else(|| ScriptId(self.work.choose(&mut self.script_rng)))
    }
}
