//! Replay: sessions whose requests are sent at their recorded times
//!
//! Each client replays one session after another. A session's requests are sent in their order, each not before its
//! time. A request that is due while the previous one is still executed waits for it, as in the open model.

use model::{Nanos, ScriptId, StatementAnswer};
use std::fmt::Debug;
use std::sync::Arc;

/// Source of recorded requests, which are numbered from 0.
pub trait ReplaySource: Debug + Send + Sync {
    /// Request number `n`. Called once per request, on the threads of the load.
    fn request(&self, n: u64) -> ReplayRequest<'_>;
    /// Time from the recorded end of request `n - 1`, which is of the same session, to the start of request `n`; 0 if it is
    /// unknown.
    fn pause_before(&self, n: u64) -> Nanos;
}

/// Recorded request.
#[derive(Clone, Copy, Debug)]
pub struct ReplayRequest<'a> {
    /// Time since the start of the window.
    pub at: Nanos,
    pub script: ScriptId,
    /// Messages of the protocol, which the server answers with one ReadyForQuery.
    pub messages: &'a [u8],
    /// True if the request commits, so that the command tag ROLLBACK is a failure.
    pub commits: bool,
    pub recorded: StatementAnswer,
}

/// Session to replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplaySession {
    /// Time of its connection, since the start of the window. Sessions with [`Nanos::ZERO`] connect before it.
    pub connect: Nanos,
    /// Number of its first request; `end` is the number after its last request.
    pub first: u64,
    pub end: u64,
    /// Time at which it ends, if that is after the end of its last request.
    pub disconnect: Nanos,
}

/// Messages of a request with their types, each as a whole. A message that is cut off is left out.
pub(crate) fn messages(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (&kind, after) = rest.split_first()?;
        let length = u32::from_be_bytes(*after.first_chunk()?) as usize;
        let message = rest.get(..length.checked_add(1)?)?;
        rest = &rest[message.len()..];
        Some((kind, message))
    })
}

/// Name of the prepared statement in a Parse or Bind; empty for the unnamed statement.
pub(crate) fn statement_name(kind: u8, message: &[u8]) -> &[u8] {
    let text = |bytes: &[u8]| bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let body = message.get(5..).unwrap_or_default();
    // Bind begins with the name of the portal.
    let body = if kind == b'B' { body.get(text(body) + 1..).unwrap_or_default() } else { body };
    &body[..text(body)]
}

/// Sessions of a load, by client.
#[derive(Clone, Debug)]
pub struct Replay {
    pub(crate) source: Arc<dyn ReplaySource>,
    pub(crate) clients: Vec<Vec<ReplaySession>>,
}

impl Replay {
    /// Distributes sessions over as few clients as possible. A client's next session connects after its previous session
    /// has ended. Sessions without requests are kept: they connect and disconnect.
    pub fn new(source: Arc<dyn ReplaySource>, mut sessions: Vec<ReplaySession>) -> Replay {
        sessions.sort_by_key(|it| it.connect);
        let mut clients: Vec<Vec<ReplaySession>> = Vec::new();
        // Clients whose session has ended, and the others by the time at which it ends.
        let mut free: Vec<usize> = Vec::new();
        let mut busy = std::collections::BinaryHeap::new();
        for session in sessions {
            while let Some(&std::cmp::Reverse((end, client))) = busy.peek()
                && end < session.connect
            {
                busy.pop();
                free.push(client);
            }
            let client = free.pop().unwrap_or_else(|| {
                clients.push(Vec::new());
                clients.len() - 1
            });
            let last = session.end.checked_sub(1).filter(|it| *it >= session.first);
            let end = last.map_or(session.connect, |it| source.request(it).at).max(session.disconnect);
            clients[client].push(session);
            busy.push(std::cmp::Reverse((end, client)));
        }
        Replay { source, clients }
    }

    /// Number of clients, which is the maximum number of simultaneous sessions.
    pub fn clients(&self) -> u32 {
        u32::try_from(self.clients.len()).expect("a load has at most 2³² clients")
    }

    /// Number of requests of clients `first..first + count`.
    pub(crate) fn requests(&self, (first, count): (u32, u32)) -> u64 {
        let clients = &self.clients[first as usize..(first + count) as usize];
        clients.iter().flatten().map(|it| it.end - it.first).sum()
    }

    /// True if the client's first session connects before the window.
    pub(crate) fn begins_connected(&self, client: u32) -> bool {
        self.clients[client as usize].first().is_some_and(|it| it.connect == Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Times(Vec<u64>);

    impl ReplaySource for Times {
        fn request(&self, n: u64) -> ReplayRequest<'_> {
            ReplayRequest {
                at: Nanos::from_millis(self.0[n as usize]),
                script: ScriptId(0),
                messages: &[],
                commits: false,
                recorded: StatementAnswer::default(),
            }
        }

        fn pause_before(&self, _: u64) -> Nanos {
            Nanos::ZERO
        }
    }

    #[test]
    fn finds_the_names_of_prepared_statements() {
        let bytes =
            b"P\0\0\0\x12s1\0select 1\0\0\0B\0\0\0\x0e\0s1\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04Q\0";
        let found: Vec<(u8, &[u8])> = messages(bytes).collect();
        let kinds: Vec<u8> = found.iter().map(|it| it.0).collect();
        assert_eq!(kinds, b"PBES");
        assert_eq!(statement_name(b'P', found[0].1), b"s1");
        assert_eq!(statement_name(b'B', found[1].1), b"s1");
        assert_eq!(statement_name(b'B', b"B\0\0\0\x04"), b"");
    }

    #[test]
    fn sessions_share_clients_if_they_do_not_overlap() {
        let source = Arc::new(Times(vec![0, 10, 5, 30, 12, 40]));
        let session = |connect, first, end, disconnect| ReplaySession {
            connect: Nanos::from_millis(connect),
            first,
            end,
            disconnect: Nanos::from_millis(disconnect),
        };
        let sessions =
            vec![session(0, 0, 2, 0), session(4, 2, 4, 0), session(11, 4, 5, 20), session(21, 5, 6, 0)];
        let replay = Replay::new(source, sessions);

        let firsts: Vec<Vec<u64>> =
            replay.clients.iter().map(|all| all.iter().map(|it| it.first).collect()).collect();
        assert_eq!(firsts, [vec![0, 4, 5], vec![2]]);
        assert_eq!((replay.requests((0, 2)), replay.requests((1, 1))), (6, 2));
        assert_eq!([0, 1].map(|it| replay.begins_connected(it)), [true, false]);
    }
}
