//! Conversion of trials and ticks to rows of a run file

use crate::error::{Attempt, Error, Result};
use crate::guard::{self, SchemaCheck};
use crate::record::{FactRecord, RunHeader, RunOutcome, RunStatus, TrialEnd, TrialHeader, TrialId};
use crate::rows::{
    self, FailureClass, HistogramKind, NO_OPERATION, Sum, event_name, pack_counts, to_sql_bits,
};
use crate::service_minutes::ServiceMinute;
use crate::steps::stored_sum;
use crate::{bounds, fact, process, schema};
use model::fact::Fact;
use model::note::OmittedFact;
use model::{
    AnswerSizes, CommandCounts, FailureCounts, HistogramEncoder, Interval, LatencyHistogram, LogEvent,
    LogSession, Measurement, RequestPhase, Sample, ScriptCounts, SizeUnit, ThreadUsage, Tick,
};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Message to the writer thread; messages are written in order.
#[derive(Debug)]
pub enum Message {
    Begin(TrialId, TrialHeader),
    Tick(TrialId, Box<Tick>),
    Samples(TrialId, Vec<Sample>),
    Events(TrialId, Vec<LogEvent>),
    Fact(Box<FactRecord>),
    End(TrialId, Box<TrialEnd>),
    Finish(RunOutcome),
    /// Flush request. It is dropped as soon as all messages before it are written.
    Flush(#[expect(dead_code, reason = "dropping it is the reply")] SyncSender<()>),
}

/// Run file that is open for writing.
#[derive(Debug)]
pub struct RunDatabase {
    connection: Connection,
    encoder: HistogramEncoder,
    service_minute: ServiceMinute,
    /// Ids of the rows in `series`, by node, series and label, joined with NUL bytes.
    series: HashMap<String, i64>,
    /// Ids of the rows in `document`, by text.
    documents: HashMap<String, i64>,
}

/// Maximum length of a fact's payload in bytes. It leaves enough room for the other values of the row.
const MAX_PAYLOAD_BYTES: usize = bounds::MAX_VALUE_BYTES - (64 << 10);

/// Timeout for a lock that a reader holds.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

impl RunDatabase {
    /// Creates the tables in the empty file and writes the header.
    pub fn open(path: &Path, header: &RunHeader) -> Result<RunDatabase> {
        let open = || {
            let mut database = RunDatabase::connect(path)?;
            database.connection.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
            database.connection.pragma_update(None, "user_version", schema::VERSION)?;
            database.transaction(|database| database.insert_header(header))?;
            Ok(database)
        };
        open().map_err(Error::sqlite(path, Attempt::Begin))
    }

    /// Reopens the file of a run that is not being written. Returns the number of the last trial.
    ///
    /// A trial without an end is marked as interrupted. `upgrade` has the facts of a file that stored them as notes.
    pub fn reopen(path: &Path, upgrade: Option<&[FactRecord]>, now_ms: u64) -> Result<(RunDatabase, u32)> {
        let mut database = RunDatabase::connect(path).map_err(Error::sqlite(path, Attempt::Resume))?;
        let work = guard::limit(&mut database.connection).map_err(Error::sqlite(path, Attempt::Resume))?;
        guard::check_schema(&database.connection, path, SchemaCheck::Writable)?;
        work.refill(fs::metadata(path).map_err(Error::system(path, Attempt::Open))?.len());
        let open = || {
            database.transaction(|database| {
                // Upgrade a file that an older pgdyno has written.
                let exists = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)";
                for (name, sql) in schema::ADDITIONS {
                    if !database.connection.query_row(exists, [name], |row| row.get::<_, bool>(0))? {
                        database.connection.execute_batch(sql)?;
                    }
                }
                if let Some(facts) = upgrade {
                    database.insert("DELETE FROM note", [])?;
                    facts.iter().try_for_each(|record| database.fact(record))?;
                }
                database.connection.pragma_update(None, "user_version", schema::VERSION)?;
                database.insert(
                    "UPDATE run SET writer = ?, status = NULL, reason = NULL, ended_ms = NULL",
                    [process::current_process()],
                )?;
                database.insert(
                    "UPDATE trial SET status = ?, ended_ms = ? WHERE status IS NULL",
                    params![RunStatus::Interrupted.name(), to_sql_bits(now_ms)],
                )
            })?;
            let rows = |sql: &str| -> rusqlite::Result<HashMap<String, i64>> {
                let mut statement = database.connection.prepare(sql)?;
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            };
            let series = rows("SELECT node || char(0) || series || char(0) || label, id FROM series")?;
            let documents = rows("SELECT text, id FROM document")?;
            let last = "SELECT coalesce(max(id), 0) FROM trial";
            let last = database.connection.query_row(last, [], |row| row.get(0))?;
            guard::lift_work_limit(&mut database.connection)?;
            Ok((RunDatabase { series, documents, ..database }, last))
        };
        open().map_err(Error::sqlite(path, Attempt::Resume))
    }

    fn connect(path: &Path) -> rusqlite::Result<RunDatabase> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(WRITE_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(64);
        // A value that is too long to be read must not be written.
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bounds::MAX_VALUE_BYTES as i32)?;
        // Use a rollback journal instead of a write-ahead log. Except for a few milliseconds per second, the file then
        // contains the whole run, even after `kill -9`, and can be copied without a second file. Readers wait only for
        // milliseconds.
        connection.pragma_update(None, "journal_mode", "truncate")?;
        connection.pragma_update(None, "synchronous", "normal")?;
        Ok(RunDatabase {
            connection,
            encoder: HistogramEncoder::new(),
            service_minute: ServiceMinute::default(),
            series: HashMap::new(),
            documents: HashMap::new(),
        })
    }

    fn insert_header(&mut self, header: &RunHeader) -> rusqlite::Result<()> {
        self.connection.execute_batch(schema::TABLES)?;
        self.connection.execute_batch(schema::VIEWS)?;
        schema::ADDITIONS.iter().try_for_each(|(_, sql)| self.connection.execute_batch(sql))?;
        let versions: serde_json::Value =
            header.versions.iter().map(|(name, version)| serde_json::json!([name, version])).collect();
        self.connection.execute(
            "INSERT INTO run (id, name, program, begun_ms, seed, text, experiment, machine, versions, writer)
             VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                header.name,
                header.pgdyno_version,
                to_sql_bits(header.begun_ms),
                to_sql_bits(header.seed),
                header.text,
                header.experiment.to_string(),
                header.machine.to_string(),
                versions.to_string(),
                process::current_process(),
            ],
        )?;
        Ok(())
    }

    /// Writes all messages in one transaction. If an error occurs, none of the messages is written.
    pub fn write(&mut self, messages: &[Message]) -> rusqlite::Result<()> {
        self.transaction(|database| messages.iter().try_for_each(|it| database.write_message(it)))
    }

    /// Closes the file. A closed file has neither a journal nor a recorded writer.
    pub fn close(self) -> rusqlite::Result<()> {
        self.connection.execute("UPDATE run SET writer = NULL", [])?;
        self.connection.flush_prepared_statement_cache();
        self.connection.pragma_update(None, "journal_mode", "delete")?;
        self.connection.close().map_err(|(_, error)| error)
    }

    fn transaction(
        &mut self,
        work: impl FnOnce(&mut RunDatabase) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self).and_then(|()| self.connection.execute_batch("COMMIT"));
        if done.is_err() {
            // Ignore the error of this rollback, because SQLite may already have rolled back.
            let _ = self.connection.execute_batch("ROLLBACK");
            // The rollback may have removed the rows with these ids.
            self.series.clear();
            self.documents.clear();
            self.service_minute.clear();
        }
        done
    }

    fn write_message(&mut self, message: &Message) -> rusqlite::Result<()> {
        match message {
            Message::Begin(trial, it) => self.begin(*trial, it),
            Message::Tick(trial, it) => self.tick(*trial, it),
            Message::Samples(trial, it) => self.samples(*trial, None, it),
            Message::Events(trial, it) => it.iter().try_for_each(|it| self.event(*trial, it)),
            Message::Fact(it) => self.fact(it),
            Message::End(trial, it) => self.end(*trial, it),
            Message::Flush(_) => Ok(()),
            Message::Finish(end) => self.insert(
                "UPDATE run SET status = ?, reason = ?, ended_ms = ?",
                params![end.status.name(), end.reason, to_sql_bits(end.ended_ms)],
            ),
        }
    }

    fn insert(&self, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(values).map(|_| ())
    }

    /// Writes a fact. If the fact is too long for a row, writes its kind and its length instead, because a long fact
    /// must not end the run.
    fn fact(&self, FactRecord { trial, fact }: &FactRecord) -> rusqlite::Result<()> {
        let (kind, payload) = (fact.kind(), fact::payload(fact));
        if payload.len() > MAX_PAYLOAD_BYTES {
            let omitted = OmittedFact { kind: kind.name.to_owned(), bytes: payload.len() as u64 };
            return self.fact(&FactRecord { trial: *trial, fact: Fact::Omitted(omitted) });
        }
        self.insert(
            "INSERT INTO fact (trial, kind, version, payload) VALUES (?, ?, ?, ?)",
            params![trial.map(|id| id.0), kind.name, kind.version, payload],
        )
    }

    fn begin(&mut self, TrialId(trial): TrialId, header: &TrialHeader) -> rusqlite::Result<()> {
        let json = |it: &dyn Fn() -> serde_json::Value| it().to_string();
        let label =
            json(&|| header.label.iter().map(|(axis, value)| serde_json::json!([axis, value])).collect());
        self.insert(
            "INSERT INTO trial (id, cell, label, repetition, position, begun_ms) VALUES (?, ?, ?, ?, ?, ?)",
            params![
                trial,
                header.cell,
                label,
                header.repetition,
                header.position,
                to_sql_bits(header.begun_ms)
            ],
        )?;
        for (number, operation) in header.operations.iter().enumerate() {
            let commands = json(&|| operation.commands.clone().into());
            self.insert(
                "INSERT INTO operation VALUES (?, ?, ?, ?, ?)",
                params![trial, number as i64, operation.name, operation.weight, commands],
            )?;
        }
        for (number, node) in header.nodes.iter().enumerate() {
            let not_applied =
                serde_json::to_string(&node.unapplied_limits).expect("limits have text keys only");
            self.insert(
                "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    trial,
                    number as i64,
                    node.name,
                    node.kind,
                    node.version,
                    node.program,
                    node.transport,
                    serde_json::to_string(&node.limits).expect("limits have text keys only"),
                    not_applied
                ],
            )?;
            for (place, file) in node.configuration.iter().enumerate() {
                let document = self.document(&file.text)?;
                self.insert(
                    "INSERT INTO configuration VALUES (?, ?, ?, ?, ?)",
                    params![trial, number as i64, place as i64, file.name, document],
                )?;
            }
        }
        Ok(())
    }

    /// Id of a document. Equal texts are stored once.
    fn document(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(&id) = self.documents.get(text) {
            return Ok(id);
        }
        self.insert("INSERT INTO document (text) VALUES (?)", [text])?;
        let id = self.connection.last_insert_rowid();
        self.documents.insert(text.to_owned(), id);
        Ok(id)
    }

    fn tick(&mut self, trial: TrialId, tick_record: &Tick) -> rusqlite::Result<()> {
        let Interval {
            from,
            to,
            started: begun,
            successes: _,
            scripts: cells,
            send_lag,
            backlog_wait,
            connects,
            refused,
            answers,
            replays: _,
        } = &tick_record.interval;
        self.insert(
            "INSERT INTO tick (trial, second, from_ns, to_ns, begun, in_flight) VALUES (?, ?, ?, ?, ?, ?)",
            params![
                trial.0,
                to_sql_bits(tick_record.second),
                to_sql_bits(from.0),
                to_sql_bits(to.0),
                to_sql_bits(*begun),
                to_sql_bits(tick_record.in_flight)
            ],
        )?;
        let tick = self.connection.last_insert_rowid();
        for (number, cell) in cells.iter().enumerate() {
            self.insert_script_counts(tick, number as i64, cell)?;
        }
        self.service_minute.add((trial.0, tick), cells, (&self.connection, &mut self.encoder))?;
        self.histogram(tick, HistogramKind::SendLag, None, None, send_lag)?;
        self.histogram(tick, HistogramKind::BacklogWait, None, None, backlog_wait)?;
        self.histogram(tick, HistogramKind::Connects, None, None, connects)?;
        self.failures(tick, FailureClass::Refused, NO_OPERATION, refused)?;
        answers.iter().try_for_each(|it| self.answer(tick, it))?;
        self.samples(trial, Some(tick), &tick_record.samples)
    }

    fn insert_script_counts(
        &mut self,
        tick: i64,
        operation: i64,
        cell: &ScriptCounts,
    ) -> rusqlite::Result<()> {
        let ScriptCounts {
            ok,
            late,
            failed,
            unknown,
            dropped,
            retried,
            retries,
            above_limit,
            response,
            service,
            statements,
        } = cell;
        let counts = [*ok, *late, *dropped, *retried, *retries, *above_limit].map(to_sql_bits);
        let [ok, late, dropped, retried, retries, above_limit] = counts;
        self.insert(
            "INSERT INTO outcome VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![tick, operation, ok, late, dropped, retried, retries, above_limit],
        )?;
        self.failures(tick, FailureClass::Failed, operation, failed)?;
        self.failures(tick, FailureClass::Unknown, operation, unknown)?;
        self.histogram(tick, HistogramKind::Response, Some(operation), None, response)?;
        self.histogram(tick, HistogramKind::Service, Some(operation), None, service)?;
        statements
            .iter()
            .zip(0..)
            .try_for_each(|(counts, command)| self.step((tick, operation, command), counts))
    }

    /// Writes the counts of a step unless it had no request.
    fn step(
        &mut self,
        (tick, operation, command): (i64, i64, i64),
        counts: &CommandCounts,
    ) -> rusqlite::Result<()> {
        let CommandCounts { service, failed, unknown, retries, sent, received, phases } = counts;
        let failures = counts.failures();
        if service.count() + failures + retries == 0 {
            return Ok(());
        }
        self.histogram(tick, HistogramKind::Statement, Some(operation), Some(command), service)?;
        let [failures, retries, sent, received] = [failures, *retries, *sent, *received].map(to_sql_bits);
        self.insert(
            "INSERT INTO step_count VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![tick, operation, command, failures, retries, sent, received],
        )?;
        for (class, failures) in [(FailureClass::Failed, failed), (FailureClass::Unknown, unknown)] {
            for (number, (code, count)) in failures.by_code().enumerate() {
                self.insert(
                    "INSERT INTO step_failure VALUES (?, ?, ?, ?, ?, ?, ?)",
                    params![tick, operation, command, class as i64, number as i64, code, to_sql_bits(count)],
                )?;
            }
        }
        for (phase, sum) in RequestPhase::ALL.into_iter().zip(phases).filter(|it| it.1.count > 0) {
            let [count, total, max] = [sum.count, stored_sum(sum.sum).0, sum.max.0].map(to_sql_bits);
            self.insert(
                "INSERT INTO step_phase VALUES (?, ?, ?, ?, ?, ?, ?)",
                params![tick, operation, command, phase.name(), count, total, max],
            )?;
        }
        Ok(())
    }

    fn failures(
        &self,
        tick: i64,
        class: FailureClass,
        operation: i64,
        counts: &FailureCounts,
    ) -> rusqlite::Result<()> {
        for (number, (code, count)) in counts.by_code().enumerate() {
            self.insert(
                "INSERT INTO failure VALUES (?, ?, ?, ?, ?, ?)",
                params![tick, class as i64, operation, number as i64, code, to_sql_bits(count)],
            )?;
        }
        Ok(())
    }

    /// Writes a histogram unless it is empty.
    fn histogram(
        &mut self,
        tick: i64,
        kind: HistogramKind,
        operation: Option<i64>,
        command: Option<i64>,
        histogram: &LatencyHistogram,
    ) -> rusqlite::Result<()> {
        if histogram.count() == 0 {
            return Ok(());
        }
        let encoded = self.encoder.encode(histogram);
        self.insert(
            "INSERT INTO histogram VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                tick,
                kind as i64,
                operation,
                command,
                to_sql_bits(encoded.count),
                Sum(encoded.sum),
                encoded.sum_of_squares,
                to_sql_bits(encoded.min),
                to_sql_bits(encoded.max),
                encoded.v2
            ],
        )
    }

    /// Writes response sizes or row counts, unless there are none.
    fn answer(&self, tick: i64, answer: &AnswerSizes) -> rusqlite::Result<()> {
        let (Some(min), Some(max)) = (answer.sizes.min(), answer.sizes.max()) else { return Ok(()) };
        let buckets: Vec<u64> = answer.sizes.buckets().flat_map(|(at, count)| [at as u64, count]).collect();
        let count = to_sql_bits(answer.sizes.count());
        let (min, max, sum, buckets) =
            (to_sql_bits(min), to_sql_bits(max), Sum(answer.sizes.sum()), pack_counts(&buckets));
        match answer.unit {
            SizeUnit::Bytes => self.insert(
                "INSERT INTO answer VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                params![tick, answer.operation, answer.command, count, sum, min, max, buckets],
            ),
            SizeUnit::Rows(kind) => self.insert(
                "INSERT INTO row_count VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    tick,
                    answer.operation,
                    answer.command,
                    rows::statement_name(kind),
                    count,
                    sum,
                    min,
                    max,
                    buckets
                ],
            ),
        }
    }

    fn samples(
        &mut self,
        TrialId(trial): TrialId,
        tick: Option<i64>,
        all: &[Sample],
    ) -> rusqlite::Result<()> {
        for group in all.chunk_by(|a, b| a.at == b.at) {
            self.insert(
                "INSERT INTO moment (trial, tick, at_ns) VALUES (?, ?, ?)",
                params![trial, tick, to_sql_bits(group[0].at.0)],
            )?;
            let moment = self.connection.last_insert_rowid();
            for (number, sample) in group.iter().enumerate() {
                let series = self.series(sample)?;
                self.insert(
                    "INSERT INTO sample VALUES (?, ?, ?, ?)",
                    params![moment, number as i64, series, sample.value],
                )?;
            }
        }
        Ok(())
    }

    fn series(&mut self, sample: &Sample) -> rusqlite::Result<i64> {
        let key = [&sample.node, "\0", &sample.series, "\0", &sample.label].concat();
        if let Some(&id) = self.series.get(&key) {
            return Ok(id);
        }
        self.insert(
            "INSERT INTO series (node, series, label) VALUES (?, ?, ?)",
            params![sample.node, sample.series, sample.label],
        )?;
        let id = self.connection.last_insert_rowid();
        self.series.insert(key, id);
        Ok(id)
    }

    fn event(&self, TrialId(trial): TrialId, event: &LogEvent) -> rusqlite::Result<()> {
        self.insert(
            "INSERT INTO event (trial, at_ns, node, kind, code, text) VALUES (?, ?, ?, ?, ?, ?)",
            params![
                trial,
                to_sql_bits(event.at.0),
                event.node,
                event_name(event.kind),
                event.code,
                event.text
            ],
        )?;
        let Some(LogSession { application, client }) = &event.session else { return Ok(()) };
        let event_id = self.connection.last_insert_rowid();
        self.insert("INSERT INTO event_session VALUES (?, ?, ?)", params![event_id, application, client])
    }

    fn end(&mut self, TrialId(trial): TrialId, end: &TrialEnd) -> rusqlite::Result<()> {
        let RunOutcome { status, reason, ended_ms } = &end.outcome;
        let summary = end.summary.as_ref().map(ToString::to_string);
        self.insert(
            "UPDATE trial SET status = ?, reason = ?, ended_ms = ?, valid = ?, summary = ? WHERE id = ?",
            params![RunStatus::name(*status), reason, to_sql_bits(*ended_ms), end.valid, summary, trial],
        )?;
        end.measurement.as_ref().map_or(Ok(()), |it| self.insert_measurement(trial, it))
    }

    fn insert_measurement(&mut self, trial: u32, measurement: &Measurement) -> rusqlite::Result<()> {
        self.insert(
            "INSERT INTO whole VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                trial,
                to_sql_bits(measurement.window.0),
                to_sql_bits(measurement.interval.from.0),
                to_sql_bits(measurement.interval.to.0),
                to_sql_bits(measurement.connect_time.0),
                measurement.aborted_clients,
                to_sql_bits(measurement.suspended.0),
                measurement.steal_time.map(|it| to_sql_bits(it.0)),
                to_sql_bits(measurement.exhausted_connects),
                pack_counts(&measurement.clients),
            ],
        )?;
        let jitter = self.encoder.encode(&measurement.jitter);
        self.insert(
            "INSERT INTO jitter VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                trial,
                to_sql_bits(jitter.count),
                Sum(jitter.sum),
                jitter.sum_of_squares,
                to_sql_bits(jitter.min),
                to_sql_bits(jitter.max),
                jitter.v2
            ],
        )?;
        for (thread, usage) in measurement.thread_usage.iter().enumerate() {
            let ThreadUsage { user, system, spun, starved, wakeups, longest_stall, wall, kernel: _ } = usage;
            self.insert(
                "INSERT INTO effort VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    trial,
                    thread as i64,
                    to_sql_bits(user.0),
                    to_sql_bits(system.0),
                    to_sql_bits(spun.0),
                    starved.map(|it| to_sql_bits(it.0)),
                    to_sql_bits(*wakeups),
                    to_sql_bits(longest_stall.0),
                    to_sql_bits(wall.0)
                ],
            )?;
        }
        Ok(())
    }
}
