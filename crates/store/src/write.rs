//! Which rows do a trial and its ticks become?

use crate::error::{Error, Result};
use crate::guard::{self, Tables};
use crate::rows::{Class, Kind, NO_OPERATION, Sum, bits, event_name, pack_counts};
use crate::words::{End, Header, Note, Outcome, Status, Trial, TrialId};
use crate::{alive, bounds, schema};
use model::{
    AnswerSizes, Cell, Effort, Failures, Interval, Latency, LogEvent, Measured, Packer, Sample, Tick,
};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// What is written, in the order in which it was told.
#[derive(Debug)]
pub enum Message {
    Begin(TrialId, Trial),
    Tick(TrialId, Box<Tick>),
    Samples(TrialId, Vec<Sample>),
    Events(TrialId, Vec<LogEvent>),
    Note(Note),
    End(TrialId, Box<End>),
    Finish(Outcome),
    /// Dropped once all before it is written.
    Settled(#[expect(dead_code, reason = "that it is dropped is what it says")] SyncSender<()>),
}

/// The open file.
#[derive(Debug)]
pub struct Desk {
    connection: Connection,
    packer: Packer,
    /// Rows of `series`, by node, series and label with a zero byte between.
    series: HashMap<String, i64>,
    /// Rows of `document`, by text.
    documents: HashMap<String, i64>,
}

/// A note, such as a statement's plan, that a row can hold: a run is worth more than one that is too long.
fn fitting(text: &str) -> Cow<'_, str> {
    match text.len() {
        ..=LONGEST_NOTE => Cow::Borrowed(text),
        length => Cow::Owned(format!("left out: it is {} MiB long", length >> 20)),
    }
}

/// The rest of its row is short.
const LONGEST_NOTE: usize = bounds::LONGEST_VALUE - (64 << 10);

/// How long a reader may keep us from writing.
const PATIENCE: Duration = Duration::from_secs(30);

impl Desk {
    /// Writes tables and header into the empty file.
    pub fn open(path: &Path, header: &Header) -> Result<Desk> {
        let open = || {
            let mut desk = Desk::of(path)?;
            desk.connection.pragma_update(None, "application_id", schema::APPLICATION)?;
            desk.connection.pragma_update(None, "user_version", schema::VERSION)?;
            desk.transaction(|desk| desk.head(header))?;
            Ok(desk)
        };
        open().map_err(Error::sqlite(path, "begin"))
    }

    /// Goes on with a file that has ended, however it did, and tells its last trial's number. A trial that had not ended
    /// was interrupted.
    pub fn again(path: &Path, now_ms: u64) -> Result<(Desk, u32)> {
        let mut desk = Desk::of(path).map_err(Error::sqlite(path, "go on with"))?;
        let work = guard::bound(&mut desk.connection).map_err(Error::sqlite(path, "go on with"))?;
        guard::check(&desk.connection, path, Tables::Writable)?;
        work.refill(fs::metadata(path).map_err(Error::system(path, "open"))?.len());
        let open = || {
            desk.transaction(|desk| {
                // A file of an older pgdyno becomes one of ours.
                if !desk.connection.table_exists(None, "answer")? {
                    desk.connection.execute_batch(schema::ANSWERS)?;
                }
                desk.connection.pragma_update(None, "user_version", schema::VERSION)?;
                desk.insert(
                    "UPDATE run SET writer = ?, status = NULL, reason = NULL, ended_ms = NULL",
                    [alive::me()],
                )?;
                desk.insert(
                    "UPDATE trial SET status = ?, ended_ms = ? WHERE status IS NULL",
                    params![Status::Interrupted.name(), bits(now_ms)],
                )
            })?;
            let rows = |sql: &str| -> rusqlite::Result<HashMap<String, i64>> {
                let mut statement = desk.connection.prepare(sql)?;
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            };
            let series = rows("SELECT node || char(0) || series || char(0) || label, id FROM series")?;
            let documents = rows("SELECT text, id FROM document")?;
            let last = "SELECT coalesce(max(id), 0) FROM trial";
            let last = desk.connection.query_row(last, [], |row| row.get(0))?;
            guard::unbound(&mut desk.connection)?;
            Ok((Desk { series, documents, ..desk }, last))
        };
        open().map_err(Error::sqlite(path, "go on with"))
    }

    fn of(path: &Path) -> rusqlite::Result<Desk> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(64);
        // What cannot be read is not written.
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bounds::LONGEST_VALUE as i32)?;
        // A rollback journal, not a write-ahead log: but for some milliseconds per second this one file is the whole
        // run, also after `kill -9`, so it can be copied away without its companion. Readers wait for milliseconds.
        connection.pragma_update(None, "journal_mode", "truncate")?;
        connection.pragma_update(None, "synchronous", "normal")?;
        Ok(Desk { connection, packer: Packer::new(), series: HashMap::new(), documents: HashMap::new() })
    }

    fn head(&mut self, it: &Header) -> rusqlite::Result<()> {
        self.connection.execute_batch(schema::TABLES)?;
        self.connection.execute_batch(schema::VIEWS)?;
        self.connection.execute_batch(schema::ANSWERS)?;
        let versions: serde_json::Value =
            it.versions.iter().map(|(name, version)| serde_json::json!([name, version])).collect();
        self.connection.execute(
            "INSERT INTO run (id, name, program, begun_ms, seed, text, experiment, machine, versions, writer)
             VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                it.name,
                it.program,
                bits(it.begun_ms),
                bits(it.seed),
                it.text,
                it.experiment.to_string(),
                it.machine.to_string(),
                versions.to_string(),
                alive::me(),
            ],
        )?;
        Ok(())
    }

    /// All of it or, after an error, nothing.
    pub fn write(&mut self, messages: &[Message]) -> rusqlite::Result<()> {
        self.transaction(|desk| messages.iter().try_for_each(|it| desk.message(it)))
    }

    /// Leaves one file, without a journal, and nobody who writes it.
    pub fn close(self) -> rusqlite::Result<()> {
        self.connection.execute("UPDATE run SET writer = NULL", [])?;
        self.connection.flush_prepared_statement_cache();
        self.connection.pragma_update(None, "journal_mode", "delete")?;
        self.connection.close().map_err(|(_, error)| error)
    }

    fn transaction(&mut self, work: impl FnOnce(&mut Desk) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self).and_then(|()| self.connection.execute_batch("COMMIT"));
        if done.is_err() {
            // SQLite may have rolled back by itself; then there is nothing to do, and it complains.
            let _ = self.connection.execute_batch("ROLLBACK");
            // Their rows may have gone with it.
            self.series.clear();
            self.documents.clear();
        }
        done
    }

    fn message(&mut self, it: &Message) -> rusqlite::Result<()> {
        match it {
            Message::Begin(trial, it) => self.begin(*trial, it),
            Message::Tick(trial, it) => self.tick(*trial, it),
            Message::Samples(trial, it) => self.samples(*trial, None, it),
            Message::Events(trial, it) => it.iter().try_for_each(|it| self.event(*trial, it)),
            Message::Note(it) => self.insert(
                "INSERT INTO note (trial, subject, text) VALUES (?, ?, ?)",
                params![it.trial.map(|it| it.0), it.subject, fitting(&it.text)],
            ),
            Message::End(trial, it) => self.end(*trial, it),
            Message::Settled(_) => Ok(()),
            Message::Finish(it) => self.insert(
                "UPDATE run SET status = ?, reason = ?, ended_ms = ?",
                params![it.status.name(), it.reason, bits(it.ended_ms)],
            ),
        }
    }

    fn insert(&self, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(values).map(|_| ())
    }

    fn begin(&mut self, TrialId(trial): TrialId, it: &Trial) -> rusqlite::Result<()> {
        let json = |it: &dyn Fn() -> serde_json::Value| it().to_string();
        let label = json(&|| it.label.iter().map(|(axis, value)| serde_json::json!([axis, value])).collect());
        self.insert(
            "INSERT INTO trial (id, cell, label, repetition, position, begun_ms) VALUES (?, ?, ?, ?, ?, ?)",
            params![trial, it.cell, label, it.repetition, it.position, bits(it.begun_ms)],
        )?;
        for (number, it) in it.operations.iter().enumerate() {
            let commands = json(&|| it.commands.clone().into());
            self.insert(
                "INSERT INTO operation VALUES (?, ?, ?, ?, ?)",
                params![trial, number as i64, it.name, it.weight, commands],
            )?;
        }
        for (number, it) in it.nodes.iter().enumerate() {
            let not_applied = json(&|| it.not_applied.clone().into());
            self.insert(
                "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    trial,
                    number as i64,
                    it.name,
                    it.kind,
                    it.version,
                    it.program,
                    it.entrance,
                    it.limits.to_string(),
                    not_applied
                ],
            )?;
            for (place, it) in it.configuration.iter().enumerate() {
                let document = self.document(&it.text)?;
                self.insert(
                    "INSERT INTO configuration VALUES (?, ?, ?, ?, ?)",
                    params![trial, number as i64, place as i64, it.name, document],
                )?;
            }
        }
        Ok(())
    }

    /// The same text is written once.
    fn document(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(&id) = self.documents.get(text) {
            return Ok(id);
        }
        self.insert("INSERT INTO document (text) VALUES (?)", [text])?;
        let id = self.connection.last_insert_rowid();
        self.documents.insert(text.to_owned(), id);
        Ok(id)
    }

    fn tick(&mut self, trial: TrialId, it: &Tick) -> rusqlite::Result<()> {
        let Interval {
            from,
            to,
            begun,
            successes: _,
            cells,
            send_lag,
            backlog_wait,
            connects,
            refused,
            answers,
        } = &it.interval;
        self.insert(
            "INSERT INTO tick (trial, second, from_ns, to_ns, begun, in_flight) VALUES (?, ?, ?, ?, ?, ?)",
            params![trial.0, bits(it.second), bits(from.0), bits(to.0), bits(*begun), bits(it.in_flight)],
        )?;
        let tick = self.connection.last_insert_rowid();
        for (number, cell) in cells.iter().enumerate() {
            self.cell(tick, number as i64, cell)?;
        }
        self.histogram(tick, Kind::SendLag, None, None, send_lag)?;
        self.histogram(tick, Kind::BacklogWait, None, None, backlog_wait)?;
        self.histogram(tick, Kind::Connects, None, None, connects)?;
        self.failures(tick, Class::Refused, NO_OPERATION, refused)?;
        answers.iter().try_for_each(|it| self.answer(tick, it))?;
        self.samples(trial, Some(tick), &it.samples)
    }

    fn cell(&mut self, tick: i64, operation: i64, cell: &Cell) -> rusqlite::Result<()> {
        let Cell {
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
        let counts = [*ok, *late, *dropped, *retried, *retries, *above_limit].map(bits);
        let [ok, late, dropped, retried, retries, above_limit] = counts;
        self.insert(
            "INSERT INTO outcome VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![tick, operation, ok, late, dropped, retried, retries, above_limit],
        )?;
        self.failures(tick, Class::Failed, operation, failed)?;
        self.failures(tick, Class::Unknown, operation, unknown)?;
        self.histogram(tick, Kind::Response, Some(operation), None, response)?;
        self.histogram(tick, Kind::Service, Some(operation), None, service)?;
        for (command, it) in statements.iter().enumerate() {
            let command = command as i64;
            self.histogram(tick, Kind::Statement, Some(operation), Some(command), &it.service)?;
            if (it.failures, it.retries) != (0, 0) {
                self.insert(
                    "INSERT INTO statement VALUES (?, ?, ?, ?, ?)",
                    params![tick, operation, command, bits(it.failures), bits(it.retries)],
                )?;
            }
        }
        Ok(())
    }

    fn failures(&self, tick: i64, class: Class, operation: i64, it: &Failures) -> rusqlite::Result<()> {
        let named = it.iter().map(|(code, count)| (Some(code.to_string()), count));
        let other = (it.other() > 0).then(|| (None, it.other()));
        for (number, (code, count)) in named.chain(other).enumerate() {
            self.insert(
                "INSERT INTO failure VALUES (?, ?, ?, ?, ?, ?)",
                params![tick, class as i64, operation, number as i64, code, bits(count)],
            )?;
        }
        Ok(())
    }

    /// Only with samples in it.
    fn histogram(
        &mut self,
        tick: i64,
        kind: Kind,
        operation: Option<i64>,
        command: Option<i64>,
        it: &Latency,
    ) -> rusqlite::Result<()> {
        if it.count() == 0 {
            return Ok(());
        }
        let it = self.packer.pack(it);
        self.insert(
            "INSERT INTO histogram VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                tick,
                kind as i64,
                operation,
                command,
                bits(it.count),
                Sum(it.sum),
                it.sum_of_squares,
                bits(it.min),
                bits(it.max),
                it.v2
            ],
        )
    }

    /// Only where there were answers.
    fn answer(&self, tick: i64, it: &AnswerSizes) -> rusqlite::Result<()> {
        let (Some(min), Some(max)) = (it.sizes.min(), it.sizes.max()) else { return Ok(()) };
        let buckets: Vec<u64> = it.sizes.buckets().flat_map(|(at, count)| [at as u64, count]).collect();
        self.insert(
            "INSERT INTO answer VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                tick,
                it.operation,
                it.command,
                bits(it.sizes.count()),
                Sum(it.sizes.sum()),
                bits(min),
                bits(max),
                pack_counts(&buckets)
            ],
        )
    }

    fn samples(
        &mut self,
        TrialId(trial): TrialId,
        tick: Option<i64>,
        all: &[Sample],
    ) -> rusqlite::Result<()> {
        for together in all.chunk_by(|a, b| a.at == b.at) {
            self.insert(
                "INSERT INTO moment (trial, tick, at_ns) VALUES (?, ?, ?)",
                params![trial, tick, bits(together[0].at.0)],
            )?;
            let moment = self.connection.last_insert_rowid();
            for (number, it) in together.iter().enumerate() {
                let series = self.series(it)?;
                self.insert(
                    "INSERT INTO sample VALUES (?, ?, ?, ?)",
                    params![moment, number as i64, series, it.value],
                )?;
            }
        }
        Ok(())
    }

    fn series(&mut self, it: &Sample) -> rusqlite::Result<i64> {
        let key = [&it.node, "\0", &it.series, "\0", &it.label].concat();
        if let Some(&id) = self.series.get(&key) {
            return Ok(id);
        }
        self.insert(
            "INSERT INTO series (node, series, label) VALUES (?, ?, ?)",
            params![it.node, it.series, it.label],
        )?;
        let id = self.connection.last_insert_rowid();
        self.series.insert(key, id);
        Ok(id)
    }

    fn event(&self, TrialId(trial): TrialId, it: &LogEvent) -> rusqlite::Result<()> {
        self.insert(
            "INSERT INTO event (trial, at_ns, node, kind, code, text) VALUES (?, ?, ?, ?, ?, ?)",
            params![trial, bits(it.at.0), it.node, event_name(it.kind), it.code, it.text],
        )
    }

    fn end(&mut self, TrialId(trial): TrialId, it: &End) -> rusqlite::Result<()> {
        let Outcome { status, reason, ended_ms } = &it.outcome;
        let summary = it.summary.as_ref().map(ToString::to_string);
        self.insert(
            "UPDATE trial SET status = ?, reason = ?, ended_ms = ?, valid = ?, summary = ? WHERE id = ?",
            params![Status::name(*status), reason, bits(*ended_ms), it.valid, summary, trial],
        )?;
        it.measured.as_ref().map_or(Ok(()), |it| self.whole(trial, it))
    }

    fn whole(&mut self, trial: u32, it: &Measured) -> rusqlite::Result<()> {
        self.insert(
            "INSERT INTO whole VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                trial,
                bits(it.window.0),
                bits(it.interval.from.0),
                bits(it.interval.to.0),
                bits(it.connecting.0),
                it.aborted,
                bits(it.suspended.0),
                it.stolen.map(|it| bits(it.0)),
                bits(it.exhausted),
                pack_counts(&it.clients),
            ],
        )?;
        let jitter = self.packer.pack(&it.jitter);
        self.insert(
            "INSERT INTO jitter VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                trial,
                bits(jitter.count),
                Sum(jitter.sum),
                jitter.sum_of_squares,
                bits(jitter.min),
                bits(jitter.max),
                jitter.v2
            ],
        )?;
        for (thread, it) in it.efforts.iter().enumerate() {
            let Effort { user, system, spun, starved, wakeups, longest_stall, wall } = it;
            self.insert(
                "INSERT INTO effort VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    trial,
                    thread as i64,
                    bits(user.0),
                    bits(system.0),
                    bits(spun.0),
                    starved.map(|it| bits(it.0)),
                    bits(*wakeups),
                    bits(longest_stall.0),
                    bits(wall.0)
                ],
            )?;
        }
        Ok(())
    }
}
