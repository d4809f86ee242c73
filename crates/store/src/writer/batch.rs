//! Messages that are written in one transaction

use crate::write::Message;
use std::time::{Duration, Instant};

/// Maximum time between the first message of a batch and the batch's transaction. A killed process loses the messages
/// of at most this time.
pub const MAX_DELAY: Duration = Duration::from_millis(500);

/// Maximum number of messages in a batch.
const MAX_MESSAGES: usize = 32;

/// Messages that wait for the next transaction, in the order of their arrival.
#[derive(Debug, Default)]
pub struct Batch {
    messages: Vec<Message>,
    /// Time at which the first message arrived; `None` without messages.
    begun: Option<Instant>,
}

impl Batch {
    /// Adds a message that arrived at `now`. Returns true if the batch must be written now.
    pub fn add(&mut self, message: Message, now: Instant) -> bool {
        let waits = matches!(message, Message::Samples(..) | Message::Events(..) | Message::Fact(_));
        self.begun.get_or_insert(now);
        self.messages.push(message);
        !waits || self.messages.len() >= MAX_MESSAGES || self.time_left(now) == Some(Duration::ZERO)
    }

    /// Time until the batch must be written; `None` without messages.
    pub fn time_left(&self, now: Instant) -> Option<Duration> {
        self.begun.map(|it| (it + MAX_DELAY).saturating_duration_since(now))
    }

    /// Removes and returns all messages.
    pub fn take(&mut self) -> Vec<Message> {
        self.begun = None;
        std::mem::take(&mut self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunStatus;
    use crate::record::{FactRecord, RunOutcome};
    use model::fact::Fact;

    fn fact() -> Message {
        Message::Fact(Box::new(FactRecord { trial: None, fact: Fact::MonitoringCpu(0.0) }))
    }

    fn finish() -> Message {
        let outcome = RunOutcome { status: RunStatus::Complete, reason: None, ended_ms: 0 };
        Message::Finish(outcome)
    }

    /// Adds messages at the given times and lets the timer fire between them, like the writer thread. Checks time and
    /// size of each transaction. All times are in ms.
    #[track_caller]
    fn check(arrivals: impl IntoIterator<Item = (u64, Message)>, expected: &[(u128, usize)]) {
        let start = Instant::now();
        let mut batch = Batch::default();
        let mut transactions = Vec::new();
        let mut write = |batch: &mut Batch, now: Instant| {
            transactions.push(((now - start).as_millis(), batch.take().len()));
            assert_eq!(batch.time_left(now), None, "an empty batch has no timer");
        };
        let mut now = start;
        for (at, message) in arrivals {
            let arrival = start + Duration::from_millis(at);
            if let Some(timer) = batch.time_left(now).map(|it| now + it).filter(|it| *it <= arrival) {
                write(&mut batch, timer);
            }
            now = arrival;
            if batch.add(message, now) {
                write(&mut batch, now);
            }
        }
        if let Some(left) = batch.time_left(now) {
            write(&mut batch, now + left);
        }
        assert_eq!(transactions, expected);
    }

    #[test]
    fn first_message_waits_at_most_the_maximum_delay() {
        check([0, 400, 800, 1_200].map(|at| (at, fact())), &[(500, 2), (1_300, 2)]);
        check([0, 500, 1_600].map(|at| (at, fact())), &[(500, 1), (1_000, 1), (2_100, 1)]);
    }

    #[test]
    fn other_messages_and_full_batches_are_written_at_once() {
        check([(0, finish()), (10, fact()), (20, finish())], &[(0, 1), (20, 2)]);
        check((0..40).map(|at| (at, fact())), &[(31, 32), (532, 8)]);
    }

    /// A writer thread that is scheduled late receives a message after the deadline, not the timeout.
    #[test]
    fn message_after_the_deadline_is_written_at_once() {
        let start = Instant::now();
        let mut batch = Batch::default();
        assert!(!batch.add(fact(), start));
        assert!(batch.add(fact(), start + MAX_DELAY));
    }
}
