//! Reader of run files

use crate::error::{Attempt, Error, ErrorCause, Result};
use crate::guard::{self, SchemaCheck, WorkBudget};
use crate::record::{
    Configuration, NodeRecord, RunHeader, RunOutcome, RunStatus, TrialHeader, TrialId, parse_limit,
};
use crate::rows::{count, event_kind, from_sql_bits, nanos, optional_nanos, unix_ms, unpack_counts};
use crate::{bounds, process, rows, schema};
use model::matrix::UnappliedLimit;
use model::message;
use model::plan::Limits;
use model::product::current_series_name;
use model::summary::Script;
use model::{LatencyHistogram, LogEvent, LogSession, Measurement, Sample, ThreadUsage};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Read-only handle of a run. Another process may be writing the run.
#[derive(Debug)]
pub struct Run {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
    work: WorkBudget,
    /// Version of the file's format.
    pub(crate) version: i64,
}

/// State of a run or a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The process that writes the run is running on this machine.
    Running,
    Ended(RunOutcome),
    /// The process that wrote the run ended without recording an outcome.
    Lost,
}

impl State {
    /// Final status; `None` for a running or lost run.
    pub fn status(&self) -> Option<RunStatus> {
        match self {
            State::Running => None,
            State::Ended(it) => Some(it.status),
            State::Lost => Some(RunStatus::Interrupted),
        }
    }
}

/// Trial as stored in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    pub id: TrialId,
    pub trial: TrialHeader,
    pub state: State,
    /// True unless the verdict is `model::validity::Verdict::Invalid`; `None` without a verdict.
    pub valid: Option<bool>,
    /// Serialized `model::Summary`; `None` without a measurement.
    pub summary: Option<Value>,
}

/// Number of sampling times per read. A larger number would block the writer for longer.
pub const MOMENTS_PER_READ: usize = 512;

/// Timeout for a lock that the writer holds.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

impl Run {
    /// Opens a run, including one whose writer was killed.
    ///
    /// The file may be untrusted, because the effects and the cost of reading it are limited.
    pub fn open(path: &Path) -> Result<Run> {
        Run::open_with_timeout(path, READ_TIMEOUT)
    }

    /// Opens a run like [`Run::open`], with another timeout for the writer's lock.
    pub(crate) fn open_with_timeout(path: &Path, timeout: Duration) -> Result<Run> {
        let meta = fs::metadata(path).map_err(Error::system(path, Attempt::Open))?;
        if !meta.is_file() {
            return Err(Error::new(path, ErrorCause::NotRunFile));
        }
        if meta.len() == 0 {
            return Err(Error::new(path, ErrorCause::Empty));
        }
        guard::check_mode(path)?;
        // SQLite treats a name that begins with "file:" as a URI with parameters.
        let absolute = std::path::absolute(path).map_err(Error::system(path, Attempt::Find))?;
        let open = |flags| {
            let mut connection =
                Connection::open_with_flags(&absolute, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(timeout)?;
            let work = guard::limit(&mut connection)?;
            let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
            Ok((connection, work, application))
        };
        let opened = match open(OpenFlags::SQLITE_OPEN_READ_ONLY) {
            // If the writer was killed during a transaction, the transaction must be rolled back first.
            Err(error) if is_incomplete(&error) => {
                guard::check_journal(&absolute)?;
                open(OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))
            }
            opened => opened,
        };
        let (connection, work, application) = opened.map_err(Error::sqlite(path, Attempt::Open))?;
        let mut run = Run { path: path.to_owned(), connection, work, version: 0 };
        let version: i64 = run.query_one("PRAGMA user_version", [], |row| row.get(0))?;
        run.version = version;
        match (application, version) {
            (schema::APPLICATION_ID, version) if version > schema::VERSION => {
                return Err(Error::new(path, ErrorCause::NewerVersion { version }));
            }
            (schema::APPLICATION_ID, _) | (0, 0) => {}
            _ => return Err(Error::new(path, ErrorCause::NotRunFile)),
        }
        match guard::check_schema(&run.connection, path, SchemaCheck::Readable) {
            Ok(0) => return Err(Error::new(path, ErrorCause::Empty)),
            _ if application != schema::APPLICATION_ID || !(1..=schema::VERSION).contains(&version) => {
                return Err(Error::new(path, ErrorCause::NotRunFile));
            }
            checked => checked?,
        };
        run.refresh();
        Ok(run)
    }

    /// Resets the work limit according to the file's current length, for callers that follow a run in progress.
    pub(crate) fn refresh(&self) {
        self.work.refill(fs::metadata(&self.path).map_or(0, |it| it.len()));
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> Result<RunHeader> {
        let sql = "SELECT name, text, experiment, machine, versions, seed, program, begun_ms FROM run";
        let (header, [experiment, machine, versions]) = self.query_one(sql, [], |row| {
            let header = RunHeader {
                name: row.get(0)?,
                text: row.get(1)?,
                experiment: Value::Null,
                machine: Value::Null,
                versions: Vec::new(),
                seed: from_sql_bits(row.get(5)?),
                pgdyno_version: row.get(6)?,
                begun_ms: unix_ms(row, 7)?,
            };
            Ok((header, [row.get::<_, String>(2)?, row.get(3)?, row.get(4)?]))
        })?;
        Ok(RunHeader {
            experiment: self.json(&experiment)?,
            machine: self.json(&machine)?,
            versions: self.parse(&versions)?,
            ..header
        })
    }

    pub fn state(&self) -> Result<State> {
        let row = self.query_one("SELECT status, reason, ended_ms FROM run", [], read_end_columns)?;
        self.ended(row)
    }

    fn is_running(&self) -> Result<bool> {
        let writer: Option<String> = self.query_one("SELECT writer FROM run", [], |row| row.get(0))?;
        Ok(writer.is_some_and(|it| process::is_alive(&it)))
    }

    fn ended(&self, (status, reason, ended_ms): EndColumns) -> Result<State> {
        match status {
            None if self.is_running()? => Ok(State::Running),
            None => Ok(State::Lost),
            Some(name) => {
                let status = RunStatus::from_name(&name)
                    .ok_or_else(|| Error::impossible(&self.path, "trial.status", None))?;
                Ok(State::Ended(RunOutcome { status, reason, ended_ms: ended_ms.unwrap_or_default() }))
            }
        }
    }

    /// Trials in the order of their start.
    pub fn trials(&self) -> Result<Vec<TrialRecord>> {
        let sql =
            "SELECT status, reason, ended_ms, id, cell, label, repetition, position, begun_ms, valid, summary
                   FROM trial ORDER BY id";
        let rows = self.query_all(sql, [], |row| {
            let trial = TrialHeader {
                cell: row.get(4)?,
                label: Vec::new(),
                repetition: row.get(6)?,
                position: row.get(7)?,
                begun_ms: unix_ms(row, 8)?,
                operations: Vec::new(),
                nodes: Vec::new(),
            };
            let texts: (String, Option<String>) = (row.get(5)?, row.get(10)?);
            Ok((read_end_columns(row)?, TrialId(row.get(3)?), trial, row.get(9)?, texts))
        })?;
        let full = |(end, id, trial, valid, (label, summary)): (
            EndColumns,
            TrialId,
            TrialHeader,
            _,
            (String, Option<String>),
        )| {
            Ok(TrialRecord {
                id,
                trial: TrialHeader {
                    label: self.parse(&label)?,
                    operations: self.operations(id)?,
                    nodes: self.nodes(id)?,
                    ..trial
                },
                state: self.ended(end)?,
                valid,
                summary: summary.map(|it| self.json(&it)).transpose()?,
            })
        };
        let mut all = Vec::new();
        // Nodes may share a stored configuration, but each node gets a copy in memory. Count every copy.
        let mut memory = 0;
        for row in rows {
            let stored = full(row)?;
            let files = stored.trial.nodes.iter().flat_map(|it| &it.configuration);
            memory += files.map(|it| it.text.len() as u64).sum::<u64>();
            if memory > bounds::MAX_QUERY_MEMORY {
                return Err(Error::new(&self.path, ErrorCause::OutOfMemoryBudget));
            }
            all.push(stored);
        }
        Ok(all)
    }

    pub(crate) fn operations(&self, trial: TrialId) -> Result<Vec<Script>> {
        let sql = "SELECT name, weight, commands FROM operation WHERE trial = ? ORDER BY number";
        let rows = self.query_all(sql, [trial.0], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?, row.get::<_, String>(2)?))
        })?;
        let script = |(name, weight, commands): (String, u32, String)| {
            Ok(Script { name, weight, commands: self.parse(&commands)? })
        };
        let all: Vec<Script> = rows.into_iter().map(script).collect::<Result<_>>()?;
        let distributions = all.iter().map(|it| 2 + it.commands.len()).sum::<usize>();
        if distributions > bounds::MAX_DISTRIBUTIONS {
            let (trial, distributions) = (trial.0.to_string(), distributions.to_string());
            return Err(Error::damaged(
                &self.path,
                message!("store-damage-distributions", trial, distributions),
            ));
        }
        Ok(all)
    }

    fn nodes(&self, trial: TrialId) -> Result<Vec<NodeRecord>> {
        let sql = "SELECT name, kind, version, program, entrance, limits, not_applied, number
                   FROM node WHERE trial = ? ORDER BY number";
        let rows = self.query_all(sql, [trial.0], |row| {
            let node = NodeRecord {
                name: row.get(0)?,
                kind: row.get(1)?,
                version: row.get(2)?,
                program: row.get(3)?,
                transport: row.get(4)?,
                limits: Limits::default(),
                unapplied_limits: Vec::new(),
                configuration: Vec::new(),
            };
            Ok((node, row.get::<_, String>(5)?, row.get::<_, String>(6)?, row.get::<_, i64>(7)?))
        })?;
        let sql = "SELECT c.name, d.text FROM configuration c JOIN document d ON d.id = c.document
                   WHERE c.trial = ? AND c.node = ? ORDER BY c.number";
        let full = |(node, limits, not_applied, number): (NodeRecord, String, String, i64)| {
            let files = self.query_all(sql, (trial.0, number), |row| {
                Ok(Configuration { name: row.get(0)?, text: row.get(1)? })
            })?;
            let not_applied: Vec<LimitFormat> = self.parse(&not_applied)?;
            Ok(NodeRecord {
                limits: self.parse::<Option<Limits>>(&limits)?.unwrap_or_default(),
                unapplied_limits: not_applied.into_iter().map(|limit| limit.read(&node.name)).collect(),
                configuration: files,
                ..node
            })
        };
        rows.into_iter().map(full).collect()
    }

    /// Samples of one series, or of all series, in the order in which they were written.
    pub fn samples(&self, trial: TrialId, series: Option<&str>) -> Result<Vec<Sample>> {
        let all = self.samples_where("m.trial = ? ORDER BY m.id, v.number", [trial.0])?;
        Ok(all.into_iter().filter(|it| series.is_none_or(|series| it.series == series)).collect())
    }

    /// Samples of a trial in several parts, because all samples together may not fit into memory. The order is as in
    /// [`Run::samples`].
    pub fn sample_parts(&self, trial: TrialId) -> Result<impl Iterator<Item = Result<Vec<Sample>>>> {
        let sql = "SELECT id FROM moment WHERE trial = ? ORDER BY id";
        let moments: Vec<i64> = self.query_all(sql, [trial.0], |row| row.get(0))?;
        let parts: Vec<(i64, i64)> =
            moments.chunks(MOMENTS_PER_READ).map(|it| (it[0], it[it.len() - 1])).collect();
        let condition = "m.id BETWEEN ? AND ? AND m.trial = ? ORDER BY m.id, v.number";
        Ok(parts.into_iter().map(move |(first, last)| self.samples_where(condition, (first, last, trial.0))))
    }

    /// Samples that match `condition`, an SQL expression over the tables moment `m`, series `s` and sample `v`.
    pub(crate) fn samples_where(&self, condition: &str, params: impl Params) -> Result<Vec<Sample>> {
        let sql = format!(
            "SELECT m.at_ns, s.node, s.series, s.label, v.value FROM moment m
             CROSS JOIN sample v ON v.moment = m.id CROSS JOIN series s ON s.id = v.series WHERE {condition}"
        );
        let text = |it: String| Cow::Owned(it);
        self.query_all(&sql, params, |row| {
            Ok(Sample {
                at: nanos(row, 0)?,
                node: text(row.get(1)?),
                series: text(current_series_name(&row.get::<_, String>(2)?).to_owned()),
                label: text(row.get(3)?),
                // SQLite stores NaN as NULL.
                value: row.get::<_, Option<f64>>(4)?.unwrap_or(f64::NAN),
            })
        })
    }

    /// Events in the order in which they were written.
    pub fn events(&self, trial: TrialId) -> Result<Vec<LogEvent>> {
        self.events_where("trial = ? ORDER BY id", [trial.0])
    }

    pub(crate) fn events_where(&self, condition: &str, params: impl Params) -> Result<Vec<LogEvent>> {
        let (session, join) = match self.has_table("event_session")? {
            true => ("application, client", "LEFT JOIN event_session ON event = id"),
            false => ("NULL, NULL", ""),
        };
        let sql =
            format!("SELECT at_ns, node, kind, code, text, {session} FROM event {join} WHERE {condition}");
        let rows = self.query_all(&sql, params, |row| {
            let kind = event_kind(&row.get::<_, String>(2)?);
            let (at, node, code, text) = (nanos(row, 0)?, row.get(1)?, row.get(3)?, row.get(4)?);
            let session: Option<(String, String)> = row.get::<_, Option<_>>(5)?.zip(row.get(6)?);
            let session = session.map(|(application, client)| LogSession { application, client });
            Ok(kind.map(|kind| LogEvent { at, node, kind, code, text, session }))
        })?;
        let full = |row: Option<_>| row.ok_or_else(|| Error::impossible(&self.path, "event.kind", None));
        rows.into_iter().map(full).collect()
    }

    /// Measurement of a trial: the sum of its ticks, and values recorded at the trial's end.
    ///
    /// `None` for a trial that did not complete or did not measure anything.
    pub fn measurement(&self, trial: TrialId) -> Result<Option<Measurement>> {
        self.measurement_with(trial, || self.total_interval(trial))
    }

    /// Measurement as in [`Run::measurement`], for callers that have already summed the trial's seconds.
    pub fn measurement_with(
        &self,
        trial: TrialId,
        together: impl FnOnce() -> Result<model::Interval>,
    ) -> Result<Option<Measurement>> {
        let sql = "SELECT window_ns, from_ns, to_ns, connecting_ns, aborted, suspended_ns, stolen_ns, exhausted, clients
                   FROM whole WHERE trial = ?";
        let rows = self.query_all(sql, [trial.0], |row| {
            let ns = |at| nanos(row, at);
            let stolen = optional_nanos(row, 6)?;
            let times = (ns(0)?, ns(1)?, ns(2)?, ns(3)?, ns(5)?, stolen);
            Ok((times, row.get(4)?, count(row, 7)?, row.get::<_, Vec<u8>>(8)?))
        })?;
        let Some((times, aborted, exhausted, clients)) = rows.into_iter().next() else { return Ok(None) };
        let (window, from, to, connecting, suspended, stolen) = times;
        let jitter = self.query_one(
            "SELECT count, sum_ns, sum_of_squares, min_ns, max_ns, v2 FROM jitter WHERE trial = ?",
            [trial.0],
            |row| rows::encoded_histogram(row, 0),
        )?;
        let interval = together()?;
        Ok(Some(Measurement {
            window,
            interval: model::Interval { from, to, ..interval },
            outages: Vec::new(),
            empty_statements: Vec::new(),
            clients: unpack_counts(&clients)
                .ok_or_else(|| Error::impossible(&self.path, "whole.clients", Some(trial.0)))?,
            thread_usage: self.thread_usage(trial)?,
            connect_time: connecting,
            aborted_clients: aborted,
            jitter: LatencyHistogram::decode(&jitter)
                .map_err(|_| Error::impossible(&self.path, "jitter.v2", Some(trial.0)))?,
            suspended,
            steal_time: stolen,
            exhausted_connects: exhausted,
        }))
    }

    fn thread_usage(&self, trial: TrialId) -> Result<Vec<ThreadUsage>> {
        let sql = "SELECT user_ns, system_ns, spun_ns, starved_ns, wakeups, longest_stall_ns, wall_ns
                   FROM effort WHERE trial = ? ORDER BY thread";
        self.query_all(sql, [trial.0], |row| {
            let ns = |at| nanos(row, at);
            Ok(ThreadUsage {
                user: ns(0)?,
                system: ns(1)?,
                spun: ns(2)?,
                starved: optional_nanos(row, 3)?,
                wakeups: count(row, 4)?,
                longest_stall: ns(5)?,
                kernel: None,
                wall: ns(6)?,
            })
        })
    }

    pub(crate) fn query_one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let row = || self.connection.prepare_cached(sql)?.query_row(params, read);
        row().map_err(Error::sqlite(&self.path, Attempt::Read))
    }

    pub(crate) fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let (mut all, mut memory) = (Vec::new(), 0);
        self.for_each(sql, params, |row| {
            memory += size_of::<T>() as u64 + row_bytes(row)?;
            if memory > bounds::MAX_QUERY_MEMORY {
                return Err(rusqlite::Error::InvalidQuery);
            }
            all.push(read(row)?);
            Ok(())
        })
        .map_err(|error| match error.cause {
            ErrorCause::Sqlite { .. } if memory > bounds::MAX_QUERY_MEMORY => {
                Error::new(&self.path, ErrorCause::OutOfMemoryBudget)
            }
            _ => error,
        })?;
        Ok(all)
    }

    pub(crate) fn for_each(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let rows = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                each(row)?;
            }
            Ok(())
        };
        rows().map_err(Error::sqlite(&self.path, Attempt::Read))
    }

    fn json(&self, text: &str) -> Result<Value> {
        self.parse(text)
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T> {
        serde_json::from_str(text)
            .map_err(|it| Error::damaged(&self.path, message!("store-damage-json", error = it.to_string())))
    }
}

/// Unapplied limit as stored in the column `node.not_applied`.
#[derive(Deserialize)]
#[serde(untagged)]
enum LimitFormat {
    Limit(UnappliedLimit),
    /// Text in the files of older versions.
    Text(String),
}

impl LimitFormat {
    fn read(self, node: &str) -> UnappliedLimit {
        match self {
            LimitFormat::Limit(limit) => limit,
            LimitFormat::Text(text) => parse_limit(node, &text),
        }
    }
}

/// Status, reason and end time in a row of the run or a trial.
type EndColumns = (Option<String>, Option<String>, Option<u64>);

fn read_end_columns(row: &Row<'_>) -> rusqlite::Result<EndColumns> {
    Ok((row.get(0)?, row.get(1)?, rows::optional_unix_ms(row, 2)?))
}

/// Size of the texts and blobs in a row, in bytes.
fn row_bytes(row: &Row<'_>) -> rusqlite::Result<u64> {
    let columns = row.as_ref().column_count();
    (0..columns).try_fold(0, |sum, at| {
        Ok(sum
            + match row.get_ref(at)? {
                ValueRef::Text(it) | ValueRef::Blob(it) => it.len() as u64,
                _ => 0,
            })
    })
}

fn is_incomplete(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    code == Some(ErrorCode::ReadOnly) || code == Some(ErrorCode::CannotOpen)
}
