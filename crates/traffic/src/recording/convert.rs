//! Recordings from the sessions of a log

use super::{Identity, Outcome, RecordedError, RecordingWriter, Unrecorded};
use crate::session::{Protocol, Session, Statement, Traffic};
use crate::sql::command::{Command, commands};
use crate::sql::normalise::parameter_count;
use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;
use std::collections::HashMap;
use std::io::{self, Write};

/// Adds the sessions of a log to a recording. Statements that share an implicit transaction become one request.
///
/// # Errors
/// Returns an error if the recording cannot be written.
pub fn convert<W: Write>(traffic: &Traffic, to: &mut RecordingWriter<W>) -> io::Result<()> {
    for session in &traffic.sessions {
        let identity = Identity {
            user: session.user.clone(),
            database: session.database.clone(),
            application: session.application.clone(),
        };
        let number = to.session(identity, session.connected);
        if let Some(at) = session.disconnected {
            to.disconnect(number, at);
        }
        convert_session(session, number, to)?;
    }
    Ok(())
}

fn convert_session<W: Write>(session: &Session, number: u32, to: &mut RecordingWriter<W>) -> io::Result<()> {
    let mut encoder = Encoder::default();
    for transaction in session.transactions() {
        let statements = &session.statements[transaction.statements];
        let is_extended = |it: &Statement| matches!(it.protocol, Protocol::Extended(_));
        let is_pipeline = !transaction.explicit && statements.iter().all(is_extended);
        let size = if is_pipeline { statements.len() } else { 1 };
        for group in statements.chunks(size) {
            let mut recorded: Vec<&Statement> = Vec::new();
            let mut messages = BytesMut::new();
            for statement in group {
                match encoder.encode(statement, &mut messages) {
                    Ok(()) => recorded.push(statement),
                    Err(reason) => to.leave_out(reason, 1),
                }
            }
            let ([first, ..], Some(last)) = (&recorded[..], recorded.last()) else { continue };
            if is_extended(first) {
                frontend::sync(&mut messages);
            }
            let error = recorded.iter().find_map(|it| it.error);
            let outcome = Outcome {
                duration: last.end().map(|it| it - first.start),
                rows: None,
                error: error.map(|it| it.sqlstate.map_or(RecordedError::Unknown, RecordedError::SqlState)),
            };
            to.request(number, &first.text, first.start, &messages, outcome)?;
        }
    }
    Ok(())
}

/// Encodes the statements of one session as messages, without Sync.
#[derive(Debug, Default)]
struct Encoder<'a> {
    /// Texts of the session's prepared statements, by name.
    prepared: HashMap<&'a str, &'a str>,
}

impl<'a> Encoder<'a> {
    fn encode(&mut self, statement: &'a Statement, out: &mut BytesMut) -> Result<(), Unrecorded> {
        let text = &*statement.text;
        let commands = commands(text).ok_or(Unrecorded::Unreadable)?;
        if commands.contains(&Command::Secret) {
            return Err(Unrecorded::Secret);
        }
        if commands.contains(&Command::CopyData) {
            return Err(Unrecorded::CopyData);
        }
        let wanted = parameter_count(text).ok_or(Unrecorded::Unreadable)?;
        let has_values = statement.parameters.len() >= wanted;
        if !has_values && !commands.contains(&Command::SqlPrepare) {
            return Err(Unrecorded::MissingParameters);
        }
        let length = out.len();
        self.messages(statement, out).map_err(|_| {
            // A text with a NUL cannot be sent.
            out.truncate(length);
            Unrecorded::Unreadable
        })
    }

    fn messages(&mut self, statement: &'a Statement, out: &mut BytesMut) -> io::Result<()> {
        let text = &*statement.text;
        let name = match &statement.protocol {
            Protocol::Simple => return frontend::query(text, out),
            Protocol::Extended(name) => name.as_deref().unwrap_or_default(),
        };
        let known = self.prepared.get(name).filter(|_| !name.is_empty());
        if known.is_some_and(|it| *it != text) {
            frontend::close(b'S', name, out)?;
        }
        if known.is_none_or(|it| *it != text) {
            frontend::parse(name, text, [], out)?;
            self.prepared.insert(name, text);
        }
        let value = |value: &Option<String>, out: &mut BytesMut| match value {
            Some(value) => {
                out.extend_from_slice(value.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        };
        frontend::bind("", name, [], &statement.parameters, value, [], out).map_err(|error| match error {
            frontend::BindError::Conversion(error) => io::Error::other(error),
            frontend::BindError::Serialization(error) => error,
        })?;
        frontend::describe(b'P', "", out)?;
        frontend::execute("", 0, out)
    }
}
