//! Statements of a recording, from the messages of its requests

use super::{RecordedError, Recording, Request};
use crate::log::Consumer;
use crate::session::{Protocol, Session, Statement, StatementError, Traffic};
use model::Nanos;
use model::message::Message;
use std::collections::HashMap;
use std::sync::Arc;

/// Adds the sessions of a recording to a traffic, which is passed to `consumer` after each session. Messages that contain no
/// statement, such as COPY data, are left out.
///
/// # Errors
/// Returns the error of the consumer.
pub fn decode<B: AsRef<[u8]>>(
    recording: &Recording<B>,
    to: &mut Traffic,
    consumer: Consumer<'_>,
) -> Result<(), Message> {
    to.inputs += 1;
    for session in recording.sessions() {
        let identity = &recording.identities()[session.identity as usize];
        let since = |time: Option<Nanos>| time.map(|it| recording.start() + it);
        let mut decoder = Decoder { traffic: to, prepared: HashMap::new(), portals: HashMap::new() };
        let mut statements = Vec::new();
        for number in session.first..session.first + session.requests {
            let request = recording.request(number);
            let begin = statements.len();
            decoder.statements(&request, recording.start() + request.start, &mut statements);
            finish(&mut statements[begin..], &request, number);
        }
        to.entries += session.requests;
        to.sessions.push(Session {
            id: format!("{}", to.sessions.len() + 1),
            user: identity.user.clone(),
            database: identity.database.clone(),
            application: identity.application.clone(),
            connected: since(session.connected),
            disconnected: since(session.disconnected),
            statements,
        });
        consumer(to)?;
    }
    Ok(())
}

/// Sets what is known about the statements of one request, whose number in the recording is `number`.
fn finish(statements: &mut [Statement], request: &Request<'_>, number: u64) {
    let shared = statements.len() > 1;
    for statement in &mut *statements {
        // Statements up to one Sync share an implicit transaction.
        statement.transaction = shared.then_some(number);
    }
    let Some(last) = statements.last_mut() else { return };
    last.duration = request.outcome.duration;
    last.error = request.outcome.error.map(|error| StatementError {
        sqlstate: match error {
            RecordedError::SqlState(state) => Some(state),
            RecordedError::Unknown => None,
        },
    });
}

/// State of a session: its prepared statements and portals, by name.
struct Decoder<'a> {
    traffic: &'a mut Traffic,
    prepared: HashMap<Vec<u8>, Arc<str>>,
    portals: HashMap<Vec<u8>, Portal>,
}

/// Statement with values.
struct Portal {
    name: Vec<u8>,
    text: Arc<str>,
    /// Empty if some value is in binary format.
    parameters: Vec<Option<String>>,
}

impl Decoder<'_> {
    fn statements(&mut self, request: &Request<'_>, start: Nanos, out: &mut Vec<Statement>) {
        let mut rest = request.messages;
        while let Some((kind, body, after)) = next_message(rest) {
            rest = after;
            let mut fields = Fields(body);
            match kind {
                b'Q' => {
                    let text = fields.text().unwrap_or_default();
                    let text = self.traffic.intern(&String::from_utf8_lossy(text));
                    out.push(statement(start, text, Vec::new(), Protocol::Simple));
                }
                b'P' => {
                    let (Some(name), Some(text)) = (fields.text(), fields.text()) else { continue };
                    let text = self.traffic.intern(&String::from_utf8_lossy(text));
                    self.prepared.insert(name.to_vec(), text);
                }
                b'B' => {
                    let (Some(portal), Some(name)) = (fields.text(), fields.text()) else { continue };
                    let Some(text) = self.prepared.get(name) else { continue };
                    let (name, text) = (name.to_vec(), Arc::clone(text));
                    let parameters = fields.parameters().unwrap_or_default();
                    self.portals.insert(portal.to_vec(), Portal { name, text, parameters });
                }
                b'E' => {
                    let Some(portal) = fields.text().and_then(|it| self.portals.get(it)) else { continue };
                    let name = Some(String::from_utf8_lossy(&portal.name)).filter(|it| !it.is_empty());
                    let protocol = Protocol::Extended(name.map(|it| self.traffic.intern(&it)));
                    out.push(statement(start, Arc::clone(&portal.text), portal.parameters.clone(), protocol));
                }
                _ => {}
            }
        }
    }
}

fn statement(start: Nanos, text: Arc<str>, parameters: Vec<Option<String>>, protocol: Protocol) -> Statement {
    Statement { start, duration: None, text, parameters, protocol, transaction: None, error: None }
}

/// Kind and body of the first message, and the bytes after it; `None` if there is no complete message.
fn next_message(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let length = u32::from_be_bytes(*rest.first_chunk()?) as usize;
    Some((kind, rest.get(4..length)?, &rest[length..]))
}

/// Rest of a message's body.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Text up to its NUL.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }

    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(usize::from(u16::from_be_bytes(*number)))
    }

    /// Values of a Bind; `None` if one of them is in binary format or no text.
    fn parameters(&mut self) -> Option<Vec<Option<String>>> {
        let formats = self.number()?;
        for _ in 0..formats {
            if self.number()? != 0 {
                return None;
            }
        }
        let count = self.number()?;
        let mut all = Vec::new();
        for _ in 0..count {
            let (length, rest) = self.0.split_first_chunk()?;
            let length = i32::from_be_bytes(*length);
            let value = usize::try_from(length).ok();
            let (bytes, rest) = rest.split_at_checked(value.unwrap_or(0))?;
            self.0 = rest;
            all.push(match value {
                Some(_) => Some(std::str::from_utf8(bytes).ok()?.to_owned()),
                None => None,
            });
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{RecordingWriter, convert};

    /// Logs of real servers: what was converted into messages is read again.
    #[test]
    fn reads_what_was_written() {
        for (log, format) in [
            (&include_bytes!("../../fixtures/18-extended.json")[..], crate::log::LogFormat::Json),
            (&include_bytes!("../../fixtures/15-bench.csv")[..], crate::log::LogFormat::Csv),
            (&include_bytes!("../../fixtures/16-psql.csv")[..], crate::log::LogFormat::Csv),
        ] {
            let mut traffic = Traffic::default();
            crate::log::read(log, &format, &mut traffic).unwrap_or_else(|error| panic!("{error:?}"));
            let mut writer = RecordingWriter::in_memory();
            convert(traffic.clone(), &mut writer).expect("memory can be written");
            let recording =
                Recording::open(writer.finish().expect("memory can be written")).expect("a recording");
            let mut again = Traffic::default();
            decode(&recording, &mut again, &mut |_| Ok(())).expect("the consumer has no error");

            let left_out: u64 = recording.left_out().values().sum();
            assert_eq!(again.statements() as u64 + left_out, traffic.statements() as u64);
            for (session, other) in traffic.sessions.iter().zip(&again.sessions) {
                let texts = |session: &Session| -> Vec<(Arc<str>, Vec<Option<String>>, Protocol)> {
                    let all = session.statements.iter();
                    all.map(|it| (it.text.clone(), it.parameters.clone(), it.protocol.clone())).collect()
                };
                let (mut before, after) = (texts(session).into_iter(), texts(other));
                // Statements that were left out are missing, and no other.
                assert!(after.iter().all(|statement| before.any(|it| it == *statement)), "{other:?}");
                assert_eq!((&session.user, &session.database), (&other.user, &other.database));
                let transactions = |session: &Session| session.transactions().len();
                if left_out == 0 {
                    assert_eq!(transactions(session), transactions(other));
                }
            }
        }
    }

    #[test]
    fn ignores_messages_that_are_cut_off() {
        let bytes = b"P\0\0\0\x10s\0select 1\0\0\0B\0\0\0\x0c\0s\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0";
        for length in 0..bytes.len() {
            let messages = &bytes[..length];
            let outcome = crate::recording::Outcome { duration: None, rows: None, error: None };
            let request = Request { start: Nanos::ZERO, statement: 0, messages, outcome };
            let mut traffic = Traffic::default();
            let mut decoder =
                Decoder { traffic: &mut traffic, prepared: HashMap::new(), portals: HashMap::new() };
            let mut out = Vec::new();
            decoder.statements(&request, Nanos::ZERO, &mut out);
            assert!(out.is_empty(), "{length} bytes");
        }
    }
}
