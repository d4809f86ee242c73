//! Assembly of sessions and statements from log entries

use super::entry::{Entry, Severity};
use super::parameters::{context_parameters, parameters};
use super::report::{Report, Step, report};
use crate::session::{Protocol, SkipKind, Statement, StatementError, Traffic};
use model::Nanos;
use std::collections::HashMap;

/// Appends entries to a traffic.
#[derive(Debug)]
pub(super) struct Assembler<'a> {
    traffic: &'a mut Traffic,
    /// Step of each session that was reported at its start, so that a duration alone may follow.
    started: HashMap<usize, Started>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Started {
    /// The session's last statement.
    Statement,
    Fetch,
}

impl<'a> Assembler<'a> {
    pub fn new(traffic: &'a mut Traffic) -> Assembler<'a> {
        Assembler { traffic, started: HashMap::new() }
    }

    pub fn traffic(&mut self) -> &mut Traffic {
        self.traffic
    }

    /// Adds an entry, or counts why there is none.
    pub fn add(&mut self, line: u64, entry: Result<Entry, SkipKind>) {
        self.traffic.entries += 1;
        match entry {
            Ok(entry) => self.add_entry(line, &entry),
            Err(kind) => self.traffic.skip(kind, line),
        }
    }

    fn add_entry(&mut self, line: u64, entry: &Entry) {
        match entry.severity {
            Severity::Log => self.add_report(line, entry),
            Severity::Error => self.add_error(line, entry),
            Severity::Other => self.traffic.skip(SkipKind::OtherMessage, line),
        }
    }

    fn add_report(&mut self, line: u64, entry: &Entry) {
        match report(&entry.message) {
            Report::Execution { duration, step: Step::Simple, text } => {
                self.add_statement(entry, duration, Protocol::Simple, Vec::new(), text);
            }
            Report::Execution { duration, step: Step::Execute(name), text } => {
                let values = entry.detail.as_deref().map(parameters);
                if values == Some(None) {
                    self.traffic.skip(SkipKind::Parameters, line);
                }
                let name = name.map(|name| self.traffic.intern(name));
                let values = values.flatten().unwrap_or_default();
                self.add_statement(entry, duration, Protocol::Extended(name), values, text);
            }
            Report::Execution { step: Step::ParseOrBind, .. } => {
                self.traffic.skip(SkipKind::ParseOrBind, line);
            }
            Report::Execution { duration, step: Step::Fetch, .. } => {
                if duration.is_none() {
                    let session = self.session(entry);
                    self.started.insert(session, Started::Fetch);
                }
                self.traffic.skip(SkipKind::Fetch, line);
            }
            Report::Duration(duration) => self.add_duration(line, entry, duration),
            Report::Plan => self.traffic.skip(SkipKind::Plan, line),
            Report::Connection => {
                self.traffic.close(&entry.session);
                let session = self.session(entry);
                self.traffic.sessions[session].connected = Some(entry.time);
            }
            Report::Authorization => {
                let session = self.session(entry);
                self.traffic.sessions[session].connected.get_or_insert(entry.time);
            }
            Report::Disconnection => {
                let session = self.session(entry);
                self.traffic.sessions[session].disconnected = Some(entry.time);
                self.traffic.close(&entry.session);
                self.started.remove(&session);
            }
            Report::Other => self.traffic.skip(SkipKind::OtherMessage, line),
        }
    }

    fn add_statement(
        &mut self,
        entry: &Entry,
        duration: Option<Nanos>,
        protocol: Protocol,
        parameters: Vec<Option<String>>,
        text: &str,
    ) {
        let session = self.session(entry);
        let text = self.traffic.intern(text.trim_end());
        self.traffic.sessions[session].statements.push(Statement {
            start: entry.time - duration.unwrap_or(Nanos::ZERO),
            duration,
            text,
            parameters,
            protocol,
            transaction: entry.transaction,
            error: None,
        });
        match duration {
            None => self.started.insert(session, Started::Statement),
            Some(_) => self.started.remove(&session),
        };
    }

    /// Adds the duration of the statement that was reported at its start. Other durations belong to a fetch, or to
    /// steps that are not reported.
    fn add_duration(&mut self, line: u64, entry: &Entry, duration: Nanos) {
        let session = self.traffic.has_session(&entry.session).then(|| self.session(entry));
        let started = session.and_then(|session| self.started.remove(&session));
        match (started, session) {
            (Some(Started::Statement), Some(session)) => {
                if let Some(statement) = self.traffic.sessions[session].statements.last_mut() {
                    statement.duration = Some(duration);
                }
            }
            (Some(Started::Fetch), _) => self.traffic.skip(SkipKind::Fetch, line),
            _ => self.traffic.skip(SkipKind::DurationAlone, line),
        }
    }

    /// Adds an error to the statement that was reported at its start, or adds the statement with the error.
    fn add_error(&mut self, line: u64, entry: &Entry) {
        let text = entry.statement.as_deref().map(str::trim_end);
        if text.is_none() && !self.traffic.has_session(&entry.session) {
            // An error of a connection attempt or a background process.
            return self.traffic.skip(SkipKind::OtherMessage, line);
        }
        let session = self.session(entry);
        let error = Some(StatementError { sqlstate: entry.sqlstate });
        let started = self.started.remove(&session) == Some(Started::Statement);
        let last = self.traffic.sessions[session].statements.last_mut();
        if let Some(last) = last.filter(|last| started && text.is_none_or(|text| *last.text == *text)) {
            last.error = error;
            return;
        }
        let Some(text) = text else { return self.traffic.skip(SkipKind::ErrorAlone, line) };
        let parameters = entry.context.as_deref().and_then(context_parameters).unwrap_or_default();
        let is_extended = !parameters.is_empty() || text.contains("$1");
        let protocol = if is_extended { Protocol::Extended(None) } else { Protocol::Simple };
        self.add_statement(entry, None, protocol, parameters, text);
        self.started.remove(&session);
        if let Some(added) = self.traffic.sessions[session].statements.last_mut() {
            added.error = error;
        }
    }

    /// Index of the entry's session. The names of the client are set once they are known.
    fn session(&mut self, entry: &Entry) -> usize {
        let index = self.traffic.session(&entry.session);
        let session = &mut self.traffic.sessions[index];
        for (known, found) in [
            (&mut session.user, &entry.user),
            (&mut session.database, &entry.database),
            (&mut session.application, &entry.application),
        ] {
            if known.is_none() {
                known.clone_from(found);
            }
        }
        index
    }
}
