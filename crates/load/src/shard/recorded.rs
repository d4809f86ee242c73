//! Requests of a recording: sends them, and compares their results with the recorded ones

use super::client::{ClientState, todo};
use super::{LoadEvent, Shard};
use crate::recorder::Recorder;
use crate::replay::{ReplayRequest, messages, statement_name};
use model::{Code, ScriptId, StatementAnswer};
use wire::pg::{Reply, TransactionStatus};

/// Recorded requests of a thread's clients.
#[derive(Debug)]
pub(super) struct RecordedRequests {
    last: Vec<LastRequest>,
    failed_parses: Vec<FailedParse>,
}

/// Last request that a client has sent.
#[derive(Clone, Copy, Debug, Default)]
struct LastRequest {
    /// Number of the request in the recording.
    number: u64,
    /// True if the current transaction has failed, as in the recording.
    failed_as_recorded: bool,
}

/// Parse of a named statement that failed. It is sent again before the next Bind of the statement, which would otherwise
/// fail too, and so would all later ones.
#[derive(Debug)]
struct FailedParse {
    client: u32,
    message: Box<[u8]>,
    /// True while the client's current request sends it again.
    sent: bool,
}

impl RecordedRequests {
    pub fn new(clients: u32) -> RecordedRequests {
        RecordedRequests { last: vec![LastRequest::default(); clients as usize], failed_parses: Vec::new() }
    }

    /// Failed Parses of client `i` that must precede these messages, which bind their statements. They remain until
    /// [`RecordedRequests::settle_parses`].
    #[cold]
    fn parses_before(&mut self, i: u32, request: &[u8]) -> Vec<Box<[u8]>> {
        let mut parses = Vec::new();
        for (kind, message) in messages(request).filter(|it| matches!(it.0, b'P' | b'B')) {
            let name = statement_name(kind, message);
            let is_same = |it: &FailedParse| it.client == i && statement_name(b'P', &it.message) == name;
            if kind == b'P' {
                // The request itself prepares the statement again.
                self.failed_parses.retain(|it| !is_same(it));
            } else if let Some(parse) = self.failed_parses.iter_mut().find(|it| is_same(it) && !it.sent) {
                parse.sent = true;
                parses.push(parse.message.clone());
            }
        }
        parses
    }

    /// Removes the Parses that client `i` has sent again, if they succeeded. Returns their number.
    #[cold]
    fn settle_parses(&mut self, i: u32, has_succeeded: bool) -> u16 {
        let count = self.failed_parses.len();
        if has_succeeded {
            self.failed_parses.retain(|it| it.client != i || !it.sent);
        }
        let mut sent = count - self.failed_parses.len();
        for parse in self.failed_parses.iter_mut().filter(|it| it.client == i) {
            sent += usize::from(std::mem::take(&mut parse.sent));
        }
        sent as u16
    }

    /// Forgets what belongs to the session of client `i`, which has ended, so that there are never many failed Parses.
    pub fn end_session(&mut self, i: u32) {
        self.failed_parses.retain(|it| it.client != i);
        self.last[i as usize] = LastRequest::default();
    }
}

impl<R: Recorder> Shard<R> {
    /// Sends request `number` of the recording on client `i`, as the current command of its transaction.
    pub(super) fn send_recorded(&mut self, i: u32, number: u64) {
        let Shard { work, clients, recorded: Some(state), .. } = self else { return };
        let request = work.recorded_source().request(number);
        state.last[i as usize].number = number;
        let client = &mut clients[i as usize];
        let mut sent = 0;
        if !state.failed_parses.is_empty() {
            for message in state.parses_before(i, request.messages) {
                sent += client.session.request(|out| out.extend_from_slice(&message));
            }
        }
        sent += client.session.request(|out| out.extend_from_slice(request.messages));
        client.session.received = 0;
        let tx = client.tx.as_mut().expect("a client that sends has a transaction");
        (tx.sent, tx.sent_request, tx.pending_ready) = (sent, true, 1);
        client.state = ClientState::AwaitingReady;
        self.request_action(self.conn(i), todo::TRANSMIT);
    }

    /// Compares the result of client `i`'s request with the recorded result. Returns the error, unless the request failed in
    /// the same way in the recording.
    pub(super) fn compare_recorded(&mut self, i: u32, reply: &Reply) -> Option<Code> {
        let state = self.recorded.as_mut().expect("the load sends a recording");
        let last = &mut state.last[i as usize];
        let number = last.number;
        let ReplayRequest { recorded, commits, .. } = self.work.recorded_source().request(number);
        let mut error = reply.error;
        if commits && reply.rolled_back && error.is_none() && !last.failed_as_recorded {
            error = Some(Code::SqlState(*b"40000"));
        }
        last.failed_as_recorded |= error.is_some() && recorded.has_same_error(error);
        last.failed_as_recorded &= reply.status != TransactionStatus::Idle;
        let again = match state.failed_parses.is_empty() {
            true => 0,
            false => state.settle_parses(i, reply.parsed > 0),
        };
        if error.is_some() {
            self.keep_failed_parses(i, number, reply.parsed.saturating_sub(again));
        }
        let id = self.client_id(i);
        let client = &mut self.clients[i as usize];
        let text = client.error_text.take();
        let tx = client.tx.as_ref().expect("a request was in flight");
        let (script, command) = (ScriptId(tx.script), tx.command);
        let rows = reply.row_count.filter(|_| error.is_none());
        let measured = StatementAnswer { error, rows: rows.map(|it| it.rows) };
        self.recorder.statement_replayed(script, recorded, measured);
        if let Some(count) = rows {
            let kind = self.work.statement_kind(script.0, count.command);
            self.recorder.rows_counted(script, command, kind, count.rows);
        }
        // A request that failed in the recording is expected to fail.
        let failure = error.filter(|code| !recorded.has_same_error(Some(*code)));
        if let Some(code) = failure {
            self.report_once((Some((script.0, command)), code), |_| LoadEvent::Failed {
                client: id,
                script,
                command,
                code,
                message: text.unwrap_or_default().into(),
                body: Vec::new(),
                again: false,
            });
        }
        failure
    }

    /// Keeps the Parses of named statements in client `i`'s request that failed: all but the first `parsed`.
    #[cold]
    fn keep_failed_parses(&mut self, i: u32, number: u64, parsed: u16) {
        let Shard { work, recorded: Some(state), .. } = self else { return };
        let all = messages(work.recorded_source().request(number).messages);
        let failed = all.filter(|it| it.0 == b'P').skip(parsed.into());
        let named = failed.filter(|(kind, message)| !statement_name(*kind, message).is_empty());
        let keep =
            |(_, message): (u8, &[u8])| FailedParse { client: i, message: message.into(), sent: false };
        state.failed_parses.extend(named.map(keep));
    }
}
