//! Recordings from the sessions of a log

use super::{Identity, Outcome, RecordedError, RecordingWriter, Unrecorded};
use crate::session::{Protocol, Session, Statement, Traffic};
use crate::sql::command::{Command, commands};
use crate::sql::normalise::parameter_count;
use crate::transaction::Transaction;
use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;

/// Adds all sessions of a log to a recording.
///
/// # Errors
/// Returns an error if the recording cannot be written.
pub fn convert<W, F>(mut traffic: Traffic, to: &mut RecordingWriter<W, F>) -> io::Result<()>
where
    W: Write,
    F: Read + Write + Seek,
{
    LogConverter::default().finish(&mut traffic, to)
}

/// Moves the statements of a log to a recording while the log is being read. Statements that share an implicit transaction
/// become one request.
#[derive(Debug, Default)]
pub struct LogConverter {
    /// The only database whose sessions are recorded.
    database: Option<String>,
    /// Databases of the sessions whose statements were read.
    databases: BTreeSet<String>,
    sessions: Vec<SessionConverter>,
    /// Number of sessions at the start that are complete.
    complete: usize,
    statements: u64,
}

#[derive(Debug, Default)]
struct SessionConverter {
    /// Number in the recording; `None` as long as the session has no statement.
    number: Option<u32>,
    encoder: Encoder,
}

impl LogConverter {
    /// LogConverter for the sessions of one database, or for all.
    pub fn new(database: Option<String>) -> LogConverter {
        LogConverter { database, ..LogConverter::default() }
    }

    /// Databases of the sessions with statements, including those that are not recorded.
    pub fn databases(&self) -> &BTreeSet<String> {
        &self.databases
    }

    /// Number of statements that were read, including those that are not recorded.
    pub fn statements(&self) -> u64 {
        self.statements
    }

    /// Moves the statements of finished transactions.
    ///
    /// # Errors
    /// Returns an error if the recording cannot be written.
    pub fn convert<W, F>(&mut self, traffic: &mut Traffic, to: &mut RecordingWriter<W, F>) -> io::Result<()>
    where
        W: Write,
        F: Read + Write + Seek,
    {
        let open = traffic.open_sessions();
        self.sessions.resize_with(traffic.sessions.len(), SessionConverter::default);
        for index in self.complete..traffic.sessions.len() {
            let session = &mut traffic.sessions[index];
            if !open.contains(&index) {
                let transactions = session.transactions();
                self.convert_session(index, session, &transactions, to)?;
                *session = Session::default();
                self.sessions[index].encoder = Encoder::default();
                self.complete += usize::from(index == self.complete);
            } else if !session.statements.is_empty() {
                let transactions = session.finished_transactions();
                self.convert_session(index, session, &transactions, to)?;
            }
        }
        traffic.release_texts();
        Ok(())
    }

    /// Moves all other statements, after the last log.
    ///
    /// # Errors
    /// Returns an error if the recording cannot be written.
    pub fn finish<W, F>(&mut self, traffic: &mut Traffic, to: &mut RecordingWriter<W, F>) -> io::Result<()>
    where
        W: Write,
        F: Read + Write + Seek,
    {
        traffic.close_all();
        self.convert(traffic, to)
    }

    /// Moves the given transactions, which are the first of the session.
    fn convert_session<W, F>(
        &mut self,
        index: usize,
        session: &mut Session,
        transactions: &[Transaction],
        to: &mut RecordingWriter<W, F>,
    ) -> io::Result<()>
    where
        W: Write,
        F: Read + Write + Seek,
    {
        let end = transactions.last().map_or(0, |it| it.statements.end);
        self.statements += end as u64;
        if let Some(database) =
            session.database.as_ref().filter(|it| end > 0 && !self.databases.contains(*it))
        {
            self.databases.insert(database.clone());
        }
        if self.database.is_none() || self.database == session.database {
            let SessionConverter { number, encoder } = &mut self.sessions[index];
            let number = *number.get_or_insert_with(|| {
                let (user, database) = (session.user.clone(), session.database.clone());
                let application = session.application.clone();
                to.session(Identity { user, database, application }, session.connected)
            });
            if let Some(at) = session.disconnected {
                to.disconnect(number, at);
            }
            for transaction in transactions {
                let statements = &session.statements[transaction.statements.clone()];
                encoder.transaction(statements, transaction.explicit, number, to)?;
            }
        }
        session.statements.drain(..end);
        Ok(())
    }
}

/// Encodes the statements of one session as messages, without Sync.
#[derive(Debug, Default)]
struct Encoder {
    /// Texts of the session's prepared statements, by name.
    prepared: HashMap<Arc<str>, Arc<str>>,
}

impl Encoder {
    /// Adds the statements of a transaction to a session of the recording.
    fn transaction<W, F>(
        &mut self,
        statements: &[Statement],
        is_explicit: bool,
        session: u32,
        to: &mut RecordingWriter<W, F>,
    ) -> io::Result<()>
    where
        W: Write,
        F: Read + Write + Seek,
    {
        let is_extended = |it: &Statement| matches!(it.protocol, Protocol::Extended(_));
        let is_pipeline = !is_explicit && statements.iter().all(is_extended);
        let size = if is_pipeline { statements.len() } else { 1 };
        for group in statements.chunks(size) {
            let mut recorded: Vec<&Statement> = Vec::new();
            let mut messages = BytesMut::new();
            for statement in group {
                match self.encode(statement, &mut messages) {
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
            to.request(session, &first.text, first.start, &messages, outcome)?;
        }
        Ok(())
    }

    fn encode(&mut self, statement: &Statement, out: &mut BytesMut) -> Result<(), Unrecorded> {
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

    fn messages(&mut self, statement: &Statement, out: &mut BytesMut) -> io::Result<()> {
        let text = &*statement.text;
        let name = match &statement.protocol {
            Protocol::Simple => return frontend::query(text, out),
            Protocol::Extended(name) => name.as_deref().unwrap_or_default(),
        };
        let known = self.prepared.get(name).filter(|_| !name.is_empty());
        if known.is_some_and(|it| **it != *text) {
            frontend::close(b'S', name, out)?;
        }
        if known.is_none_or(|it| **it != *text) {
            frontend::parse(name, text, [], out)?;
            self.prepared.insert(name.into(), Arc::clone(&statement.text));
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
