//! Handling of the server's replies

use super::client::{Client, ClientState, todo};
use super::connect::{SessionLoss, was_reported};
use super::{AbortReason, ConnId, LoadEvent, Shard};
use crate::recorder::{Recorder, TraceEvent};
use crate::script::{InvalidName, ResultStore, Slot};
use model::{ClientId, Code, Nanos, Outcome, ScriptId};
use wire::pg::{Columns, Event, Notice, ProtocolError, Reply, TransactionStatus};

impl<R: Recorder> Shard<R> {
    /// Handles bytes that arrived from the server.
    #[inline]
    pub fn receive(&mut self, now: Nanos, conn: ConnId, bytes: &[u8]) {
        if let Some(w) = self.http_index(conn) {
            return match w.checked_sub(self.http_connections.len()) {
                Some(i) => self.cancel_receive(i, bytes),
                None => self.http_receive(now, w, bytes),
            };
        }
        let session = self.session(conn);
        session.received += bytes.len() as u64;
        if session.received > self.work.answer_max {
            return self.response_too_long(now, conn);
        }
        let mut input = bytes;
        loop {
            // A reply may cause the client to switch to its other session.
            let Some(i) = self.active_client(conn) else { return self.receive_parked(conn, input) };
            let client = &mut self.clients[i as usize];
            if client.session.shutdown.is_some() {
                return self.receive_in_shutdown(conn, input);
            }
            if !client.session.connected {
                return;
            }
            let Client { session, variables, columns, tx, .. } = client;
            match session.channel.receive(&mut input) {
                Ok(Event::Ready(reply)) => self.ready(now, i, &reply),
                Ok(Event::More) => break,
                Ok(Event::Opened) => self.opened(now, i),
                Ok(Event::Columns(described)) => {
                    client.rows = 0;
                    if R::TRACES {
                        self.recorder
                            .trace(TraceEvent::Columns(described.iter().map(|it| it.name).collect()));
                    }
                    let keep = tx
                        .and_then(|it| self.work.find_request(it.script, it.command))
                        .and_then(|it| it.keep.as_ref());
                    if let Some(name) = keep.and_then(|keep| bind_columns(columns, &described, keep)) {
                        return self.abort(now, i, AbortReason::InvalidColumnName(name));
                    }
                }
                Ok(Event::Row(row)) => {
                    if R::TRACES {
                        self.recorder.trace(TraceEvent::Row(row.iter().collect()));
                    }
                    for (slot, value) in columns.iter().zip(row.iter()) {
                        if let Some(slot) = slot {
                            // As in pgbench, NULL is stored as the empty text.
                            variables.set_text(*slot, value.unwrap_or_default());
                        }
                    }
                    client.rows += 1;
                }
                Ok(Event::CommandComplete(tag)) => {
                    if R::TRACES {
                        self.recorder.trace(TraceEvent::Tag(tag));
                    }
                    client.last_rows = std::mem::take(&mut client.rows);
                }
                // The data follow the statement in the recording.
                Ok(Event::CopyIn) if self.work.is_recorded() => {}
                Ok(Event::CopyIn) => return self.abort(now, i, AbortReason::Copy),
                Ok(Event::Error(notice)) => {
                    let code = notice.code();
                    if R::TRACES {
                        self.recorder.trace(TraceEvent::Message(&format_notice(&notice)));
                    }
                    let place = tx.as_ref().map(|it| (it.script, it.command));
                    let reported =
                        was_reported(&self.reported_failures, (place, code)) && !self.work.plan.verbose;
                    let words = (!reported || is_permanent_error(code)).then(|| format_notice(&notice));
                    if notice.is_fatal() || client.state == ClientState::LoggingIn {
                        client.session.fatal_code = Some(code);
                    }
                    client.error_text = words;
                }
                Ok(Event::Notice(notice)) => {
                    if R::TRACES {
                        self.recorder.trace(TraceEvent::Message(&format_notice(&notice)));
                    }
                    let place = tx.as_ref().map(|it| (it.script, it.command));
                    let failure = (place, notice.code());
                    let reported = was_reported(&self.reported_failures, failure) && !self.work.plan.verbose;
                    if place.is_some() && !reported {
                        let message = String::from(format_notice(&notice));
                        let client = ClientId(self.first + i);
                        self.report_once(failure, |_| LoadEvent::Notice { client, message });
                    }
                }
                Ok(Event::CopyData(_)) => {}
                Err(error) => {
                    let words = error.to_string();
                    let code = match error {
                        ProtocolError::Tls(_) | ProtocolError::NoTls => Code::TLS,
                        _ => Code::PROTOCOL,
                    };
                    return self.session_lost(now, i, code, &words, SessionLoss::ProtocolViolation);
                }
            }
        }
        let session = self.session(conn);
        if session.connected && !session.channel.outgoing().is_empty() {
            self.request_action(conn, todo::TRANSMIT);
        }
    }

    /// Handles a reply that is too long, or that was not requested.
    #[cold]
    fn response_too_long(&mut self, now: Nanos, conn: ConnId) {
        if self.session(conn).shutdown.is_some() {
            return;
        }
        match self.active_client(conn).filter(|it| self.clients[*it as usize].session.connected) {
            Some(i) => self.session_lost(
                now,
                i,
                Code::TOO_LONG,
                "the answer is too long",
                SessionLoss::ProtocolViolation,
            ),
            None => self.close_session(conn),
        }
    }

    /// Handles ReadyForQuery.
    #[inline]
    fn ready(&mut self, now: Nanos, i: u32, reply: &Reply) {
        let client = &mut self.clients[i as usize];
        let Some(tx) = &mut client.tx else { return };
        if reply.empty && !self.work.sends_empty_statements(tx.script) {
            let words = "the server answered a statement as if it were empty";
            return self.session_lost(now, i, Code::PROTOCOL, words, SessionLoss::ProtocolViolation);
        }
        tx.status = reply.status;
        tx.local_only |= reply.local_only;
        tx.settled |= reply.error.is_none() && !reply.rolled_back && reply.status == TransactionStatus::Idle;
        if client.state == ClientState::RollingBack {
            return match reply.error {
                None => self.rollback_finished(now, i),
                Some(code) => self.broken(now, self.conn(i), code, "ROLLBACK failed"),
            };
        }
        if !client.session.parsing.is_empty() {
            client.parsed(reply.parsed);
        }
        let tx = client.tx.as_mut().expect("the transaction was checked above");
        tx.pending_ready -= 1;
        tx.received_ready += 1;
        tx.error = tx.error.or(reply.error);
        if tx.pending_ready > 0 || client.state != ClientState::AwaitingReady {
            return;
        }
        if self.recorded.is_some() {
            return match self.mix {
                Some(_) => self.recorded_finished(now, i, reply),
                None => self.replay_finished(now, i, reply),
            };
        }
        if let Some(code) = tx.error {
            return self.transaction_failed(now, i, code);
        }
        let request = self.work.find_request(tx.script, tx.command);
        if request.is_some_and(|it| it.commits) && reply.rolled_back {
            // The COMMIT of a failed transaction returns the command tag ROLLBACK, without an error.
            tx.error = Some(Code::SqlState(*b"40000"));
            return self.transaction_failed(now, i, Code::SqlState(*b"40000"));
        }
        if let Some(count) = reply.row_count {
            let kind = self.work.statement_kind(tx.script, count.command);
            self.recorder.rows_counted(ScriptId(tx.script), tx.command, kind, count.rows);
        }
        let needs_one_row = request.and_then(|it| it.keep.as_ref()).is_some_and(|it| !it.all_rows);
        if needs_one_row && client.last_rows != 1 {
            let got = client.last_rows;
            return self.abort(now, i, AbortReason::RowCount { got });
        }
        self.finish_command(now, i);
    }

    /// Handles a failed transaction: rolls it back first if it is still open.
    pub(super) fn transaction_failed(&mut self, now: Nanos, i: u32, code: Code) {
        let again = self.may_retry(now, i, code);
        let id = self.client_id(i);
        let client = &mut self.clients[i as usize];
        let tx = client.tx.expect("the transaction failed");
        let words = client.error_text.take();
        let (script, command) = (ScriptId(tx.script), tx.command);
        if again {
            self.recorder.statement_retried(script, command);
        }
        let message = || words.unwrap_or_default().into();
        if is_permanent_error(code) && !self.succeeded[tx.script as usize] {
            return self.abort(now, i, AbortReason::PermanentError { code, message: message() });
        }
        let place = Some((script.0, command));
        self.report_once((place, code), |shard| LoadEvent::Failed {
            client: id,
            script,
            command,
            code,
            message: message(),
            body: shard.response_excerpt(i),
            again,
        });
        if tx.status == TransactionStatus::Idle {
            return self.rollback_finished(now, i);
        }
        self.roll_back(i);
    }

    /// Rolls back the failed transaction of client `i`, which is still open.
    pub(super) fn roll_back(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        client.state = ClientState::RollingBack;
        client.session.channel.request(|out| self.work.rollback.render(out, |_, _| false));
        self.request_action(self.conn(i), todo::TRANSMIT);
    }

    /// Retries the transaction after its rollback, or continues with the next transaction.
    fn rollback_finished(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        let tx = client.tx.as_mut().expect("the transaction failed");
        let code = tx.error.take().expect("the transaction failed");
        let unknown = std::mem::take(&mut tx.unknown);
        if self.may_retry(now, i, code) {
            let client = &mut self.clients[i as usize];
            let tx = client.tx.as_mut().expect("the transaction failed");
            tx.tries += 1;
            (tx.command, tx.sent) = (0, 0);
            tx.in_pipeline = false;
            client.rng = tx.rng;
            if let (Some(draw), Some(n)) = (&self.work.script(tx.script).draw, tx.row) {
                self.work.fill(draw, n, &mut client.variables);
            }
            let script = tx.script;
            self.set_key(i, script);
            return self.run(now, i);
        }
        let outcome = if unknown { Outcome::Unknown(code) } else { Outcome::Failed(code) };
        self.end_transaction(now, i, outcome);
        self.next_transaction(now, i, true);
    }

    /// True if the transaction may be retried: its error is a serialization failure or deadlock, and the plan's limits
    /// and the window permit a retry.
    fn may_retry(&self, now: Nanos, i: u32, code: Code) -> bool {
        let plan = &self.work.plan;
        let tx = self.clients[i as usize].tx.expect("the transaction failed");
        (code.is_serialization_failure() || code.is_deadlock())
            && (plan.max_tries == 0 || tx.tries < plan.max_tries)
            && plan.latency_limit.is_none_or(|limit| now - tx.intended <= limit)
            && now < self.window_end
    }
}

/// Returns the variable of each column. Fails with the first name that is not a valid variable name.
fn bind_columns(
    places: &mut Vec<Option<Slot>>,
    described: &Columns<'_>,
    keep: &ResultStore,
) -> Option<String> {
    places.clear();
    for column in described.iter() {
        match keep.slot_of(column.name) {
            Ok(slot) => places.push(slot),
            Err(InvalidName) => {
                return Some(format!("{}{}", keep.prefix, String::from_utf8_lossy(column.name)));
            }
        }
    }
    None
}

impl Client {
    /// Marks statements as prepared: the first `parsed` of those that were sent with a Parse before the Sync that this
    /// reply answers.
    fn parsed(&mut self, parsed: u16) {
        let segment = self.tx.map_or(0, |it| it.received_ready);
        let mut parse_index = 0;
        while let Some(&(statement, sent_segment)) = self.session.parsing.front() {
            if sent_segment > segment {
                break;
            }
            self.session.parsing.pop_front();
            self.session.prepared[statement as usize] = parse_index < parsed;
            parse_index += 1;
        }
    }
}

/// True for errors such as a syntax error or an unknown table, which make the script fail every time.
fn is_permanent_error(code: Code) -> bool {
    matches!(code, Code::SqlState([b'4', b'2', ..] | [b'3', b'F', ..] | [b'0', b'A', ..]))
}

/// Message in libpq's format: severity and text, then details and hint on further lines.
fn format_notice(notice: &Notice<'_>) -> Box<str> {
    let field = |tag| notice.field(tag).map(String::from_utf8_lossy);
    let severity = field(b'S').or(field(b'V')).unwrap_or_default();
    let mut text = format!("{severity}:  {}", field(b'M').unwrap_or_default());
    for (tag, label) in [(b'D', "DETAIL"), (b'H', "HINT"), (b'W', "CONTEXT")] {
        if let Some(value) = field(tag) {
            text += &format!("\n{label}:  {value}");
        }
    }
    text.into()
}
