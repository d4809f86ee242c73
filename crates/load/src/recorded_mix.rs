//! Recorded mix: sessions of a recording whose transactions start when an arrival is due

use crate::replay::ReplaySource;
use model::ScriptId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Transaction of a recorded session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixTransaction {
    /// Number of its requests, at least 1.
    pub requests: u32,
    /// Script of its kind.
    pub script: ScriptId,
}

/// Sessions of a recording.
///
/// Each client executes the transactions of one session after another, in their order, and begins each session with a
/// new connection. [`SessionQueue`] chooses the sessions.
#[derive(Debug)]
pub struct RecordedMix {
    source: Arc<dyn ReplaySource>,
    sessions: Vec<MixSession>,
    transactions: Vec<MixTransaction>,
}

/// Position of a session: its first request in the source, and its transactions among those of all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MixSession {
    pub request: u64,
    pub first: usize,
    pub end: usize,
}

impl RecordedMix {
    /// Mix of sessions, each with the number of its first request in the source, and its transactions.
    ///
    /// # Panics
    /// Panics if there is no session, or if a session has no transactions.
    pub fn new(
        source: Arc<dyn ReplaySource>,
        sessions: impl Iterator<Item = (u64, Vec<MixTransaction>)>,
    ) -> RecordedMix {
        let mut transactions = Vec::new();
        let sessions: Vec<MixSession> = sessions
            .map(|(request, of_session)| {
                assert!(!of_session.is_empty(), "a session of the mix has transactions");
                let first = transactions.len();
                transactions.extend(of_session);
                MixSession { request, first, end: transactions.len() }
            })
            .collect();
        assert!(!sessions.is_empty(), "the mix has sessions");
        RecordedMix { source, sessions, transactions }
    }

    pub(crate) fn source(&self) -> &dyn ReplaySource {
        &*self.source
    }

    /// Transactions of all sessions.
    pub(crate) fn transactions(&self) -> impl Iterator<Item = &MixTransaction> {
        self.transactions.iter()
    }

    /// Transaction number `n` of all sessions.
    #[inline]
    pub(crate) fn transaction(&self, n: usize) -> MixTransaction {
        self.transactions[n]
    }

    pub(crate) fn session(&self, number: usize) -> MixSession {
        self.sessions[number]
    }

    /// Number of the first session of client `client` of `clients`. A session is chosen as often as its share of the
    /// transactions.
    pub(crate) fn first_session(&self, client: u32, clients: u32) -> usize {
        let share = (f64::from(client) + 0.5) / f64::from(clients);
        let transaction = (share * self.transactions.len() as f64) as usize;
        self.sessions.partition_point(|it| it.end <= transaction)
    }
}

impl MixSession {
    fn transactions(self) -> u64 {
        (self.end - self.first) as u64
    }
}

/// Order in which the clients of one thread begin sessions, so that the shares of the mix are those of the recording.
///
/// The next session is the one of which the smallest part was executed, in multiples of its length. A session that is
/// longer than the load therefore has its share too, because several clients execute its beginning.
#[derive(Debug)]
pub(crate) struct SessionQueue {
    /// Number of executed transactions of each session. The first [`COUNTED_AT_START`] of them are counted when the session
    /// begins, so that clients that begin sessions at the same time do not all choose the same one.
    executed: Vec<u64>,
    /// One entry per session: the executed part and the rank. The part may have grown since.
    order: BinaryHeap<Reverse<(u64, u32)>>,
    /// Session with rank 0. Each thread has another one.
    origin: usize,
}

/// Number of transactions of a session that are counted when it begins.
const COUNTED_AT_START: u64 = 50;
/// Unit of the executed part of a session.
const WHOLE: u64 = 1 << 20;

impl SessionQueue {
    /// Queue of thread `part.0` of `part.1`.
    pub fn new(mix: &RecordedMix, part: (u16, u16)) -> SessionQueue {
        let sessions = mix.sessions.len();
        let origin = sessions * usize::from(part.0) / usize::from(part.1);
        let ranks = 0..u32::try_from(sessions).expect("a recording has at most 2³² sessions");
        let order = ranks.map(|rank| Reverse((0, rank))).collect();
        SessionQueue { executed: vec![0; sessions], order, origin }
    }

    /// Counts the beginning of a session.
    pub fn begin(&mut self, mix: &RecordedMix, session: usize) {
        self.executed[session] += mix.session(session).transactions().min(COUNTED_AT_START);
    }

    /// Counts the execution of transaction `n` of a session, from 0.
    #[inline]
    pub fn execute(&mut self, session: usize, n: u64) {
        self.executed[session] += u64::from(n >= COUNTED_AT_START);
    }

    /// Number of the session that begins next. The caller counts its beginning.
    pub fn next(&mut self, mix: &RecordedMix) -> usize {
        loop {
            let mut first = self.order.peek_mut().expect("the mix has sessions");
            let Reverse((part, rank)) = *first;
            let session = (self.origin + rank as usize) % self.executed.len();
            let current = self.executed[session] * WHOLE / mix.session(session).transactions();
            if current == part {
                return session;
            }
            *first = Reverse((current, rank));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::ReplayRequest;
    use model::Nanos;

    #[derive(Debug)]
    struct Nothing;

    impl ReplaySource for Nothing {
        fn request(&self, n: u64) -> ReplayRequest<'_> {
            unreachable!("request {n}")
        }

        fn pause_before(&self, n: u64) -> Nanos {
            unreachable!("request {n}")
        }
    }

    #[test]
    fn first_sessions_have_the_shares_of_their_transactions() {
        let transactions = |count| vec![MixTransaction { requests: 1, script: ScriptId(0) }; count];
        let lengths = [1, 6, 1, 2];
        let sessions = (0..).zip(lengths).map(|(n, length)| (n, transactions(length)));
        let mix = RecordedMix::new(Arc::new(Nothing), sessions);
        let firsts = |clients: u32| -> Vec<usize> {
            (0..clients).map(|client| mix.first_session(client, clients)).collect()
        };
        assert_eq!(firsts(10), [0, 1, 1, 1, 1, 1, 1, 2, 3, 3]);
        assert_eq!(firsts(1), [1]);
        let counts = [0, 1, 2, 3].map(|n| firsts(1000).iter().filter(|first| **first == n).count());
        assert_eq!(counts, [100, 600, 100, 200]);
    }

    /// Sessions that are begun one after the other, and executed as a whole or only in part.
    #[test]
    fn the_least_executed_session_begins_next() {
        let transactions = |count| vec![MixTransaction { requests: 1, script: ScriptId(0) }; count];
        let lengths = [1, 200, 3];
        let mix =
            RecordedMix::new(Arc::new(Nothing), (0..).zip(lengths).map(|(n, it)| (n, transactions(it))));
        let mut queue = SessionQueue::new(&mix, (0, 2));
        let mut begin = |executed: u64| {
            let session = queue.next(&mix);
            queue.begin(&mix, session);
            (0..executed.min(lengths[session] as u64)).for_each(|n| queue.execute(session, n));
            session
        };
        let whole: Vec<usize> = (0..6).map(|_| begin(u64::MAX)).collect();
        assert_eq!(whole, [0, 1, 2, 0, 1, 2]);
        // Only a quarter of the long session is executed each time, so that it begins four times as often.
        let part: Vec<usize> = (0..6).map(|_| begin(50)).collect();
        assert_eq!(part, [0, 1, 2, 1, 1, 1]);
        assert_eq!(
            SessionQueue::new(&mix, (1, 2)).next(&mix),
            1,
            "another thread begins with another session"
        );
    }
}
