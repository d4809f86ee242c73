//! Bounds on what a run file that a stranger made can do and cost.
//!
//! A schema is a program: views, triggers, virtual tables and generated columns run when they are read or written. A file
//! is read only if its tables are the ones that pgdyno makes. Values have a greatest length, and the work that SQLite may
//! do grows with the file's length only, because pages that repeat make a table endless in a small file. Work is counted in
//! SQLite's instructions and not in seconds: what one machine reads, a slow or loaded one reads too.

use crate::bounds::MAX_VALUE_BYTES;
use crate::error::{Error, ErrorCause, Result};
use crate::{file, schema};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Row};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Instructions until the schema is checked: enough for some thousand entries.
const WORK_BEFORE_CHECK: i64 = 100_000;
/// Instructions for reading a file: a constant, and some for each of its bytes. Reading all of a run takes about one
/// instruction per byte, and no command reads a run more than ten times.
const WORK: i64 = 2_000_000;
const WORK_PER_BYTE: i64 = 40;
/// Instructions between two looks at what is left.
const PROGRESS_INTERVAL: i32 = 1000;

/// Other limits of SQLite: our own statements and tables are far below them.
/// Source: <https://sqlite.org/security.html>, "Untrusted SQLite Database Files".
const LIMITS: [(Limit, i32); 9] = [
    (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES as i32),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
    (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// Work that may still be done for one connection.
#[derive(Clone, Debug)]
pub struct WorkBudget(Arc<AtomicI64>);

impl WorkBudget {
    /// Enough for all queries of a file of `bytes` bytes.
    pub fn refill(&self, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.0.store(WORK.saturating_add(bytes.saturating_mul(WORK_PER_BYTE)), Ordering::Relaxed);
    }
}

/// Bounds everything that is done with this connection, before it has read a byte of the file.
pub fn limit(connection: &mut Connection) -> rusqlite::Result<WorkBudget> {
    let work = Arc::new(AtomicI64::new(WORK_BEFORE_CHECK));
    let left = work.clone();
    let step = i64::from(PROGRESS_INTERVAL);
    connection
        .progress_handler(PROGRESS_INTERVAL, Some(move || left.fetch_sub(step, Ordering::Relaxed) < step))?;
    for (limit, value) in LIMITS {
        connection.set_limit(limit, value)?;
    }
    for (what, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(what, on)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(WorkBudget(work))
}

/// Lifts the bound on work: for writing, whose statements touch a few rows each.
pub fn lift_work_limit(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.progress_handler(0, None::<fn() -> bool>)
}

/// Which tables a file must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaCheck {
    /// Those of any pgdyno that wrote this format.
    Readable,
    /// Exactly those that are written now.
    Writable,
}

/// Refuses a schema with anything in it that pgdyno does not make and that could be run. Tables and views that somebody
/// added under other names are never read. The number of entries is returned.
pub fn check_schema(connection: &Connection, path: &Path, tables: SchemaCheck) -> Result<usize> {
    let sql = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema";
    let text = |row: &Row<'_>, at| row.get::<_, Option<String>>(at).map(Option::unwrap_or_default);
    let rows = || -> rusqlite::Result<Vec<SchemaEntry>> {
        let mut statement = connection.prepare(sql)?;
        let row = |row: &Row<'_>| {
            Ok(SchemaEntry {
                kind: text(row, 0)?,
                name: text(row, 1)?,
                table: text(row, 2)?,
                has_pages: row.get::<_, Option<i64>>(3)?.unwrap_or_default() > 0,
                sql: text(row, 4)?,
            })
        };
        statement.query_map([], row)?.collect()
    };
    let entries = rows().map_err(Error::sqlite(path, "read"))?;
    if let Some(it) = entries.iter().find(|it| !it.is_allowed(tables)) {
        return Err(Error::new(path, ErrorCause::UnexpectedSchema { what: it.to_string() }));
    }
    let has = |name: &str| entries.iter().any(|it| it.name == name);
    for it in schema::statements() {
        let needed = match tables {
            // Rows are read in the order of indexes; without them they would have to be sorted.
            SchemaCheck::Readable => it.kind == "index" && has(it.table),
            // A file of version 1 has no sizes of answers. Resuming it creates the table.
            SchemaCheck::Writable => it.kind != "view" && it.name != "answer",
        };
        if needed && !entries.is_empty() && !has(it.name) {
            return Err(Error::damaged(path, format!("it has no {} \"{}\"", it.kind, it.name)));
        }
    }
    Ok(entries.len())
}

/// A row of `sqlite_schema`.
struct SchemaEntry {
    kind: String,
    name: String,
    table: String,
    /// Views and virtual tables have none.
    has_pages: bool,
    sql: String,
}

impl SchemaEntry {
    fn is_allowed(&self, tables: SchemaCheck) -> bool {
        let same_name = |name: &str| name.eq_ignore_ascii_case(&self.name);
        let ours = schema::statements().chain(schema::legacy_statements());
        let known = ours.filter(|it| same_name(it.name) || it.table.eq_ignore_ascii_case(&self.table));
        let known: Vec<_> = known.collect();
        let is_ordinary = match self.kind.as_str() {
            "table" => self.has_pages && !self.name.starts_with("sqlite_"),
            "index" => self.has_pages,
            "view" => true,
            _ => false,
        };
        if known.is_empty() {
            return is_ordinary;
        }
        let current = schema::statements();
        let same = |it: &schema::SchemaStatement<'_>| {
            it.kind == self.kind && it.name == self.name && it.sql == self.sql
        };
        is_ordinary
            && match tables {
                SchemaCheck::Readable => known.iter().any(same),
                SchemaCheck::Writable => current.into_iter().any(|it| same(&it)),
            }
    }
}

impl std::fmt::Display for SchemaEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.kind == "table" && !self.has_pages { "virtual table" } else { &self.kind };
        write!(f, "the {kind} \"{}\"", self.name)
    }
}

/// Where a database's header says how it is written and read; 2 is a write-ahead log.
/// Source: <https://sqlite.org/fileformat2.html>, "The Database Header".
const MODES: std::ops::Range<usize> = 18..20;
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Refuses a file beside which SQLite would make others.
pub fn check_mode(path: &Path) -> Result<()> {
    let mut header = [0; MODES.end];
    let read = File::open(path).and_then(|mut it| it.read_exact(&mut header));
    match read {
        Ok(()) if header.starts_with(MAGIC) && header[MODES].contains(&2) => {
            Err(Error::new(path, ErrorCause::WriteAhead))
        }
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(Error::system(path, "open")(error)),
        _ => Ok(()),
    }
}

/// Last bytes of a journal that belongs to several databases.
/// Source: <https://sqlite.org/fileformat2.html>, "The Rollback Journal".
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses a journal that would have SQLite delete or shorten another file when it takes back what a killed writer had
/// begun: one that names such a file at its end, and one that is a link.
pub fn check_journal(path: &Path) -> Result<()> {
    let journal = file::journal_path(path);
    let meta = match fs::symlink_metadata(&journal) {
        Ok(it) => it,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::system(&journal, "open")(error)),
    };
    if !meta.is_file() {
        return Err(Error::new(path, ErrorCause::HostileJournal));
    }
    let read = || {
        let mut end = [0; JOURNAL_MAGIC.len()];
        let mut it = File::open(&journal)?;
        if meta.len() >= end.len() as u64 {
            it.seek(SeekFrom::End(-(end.len() as i64)))?;
            it.read_exact(&mut end)?;
        }
        Ok(end)
    };
    match read().map_err(Error::system(&journal, "read"))? {
        // A journal in which nothing was written yet is shorter.
        JOURNAL_MAGIC if meta.len() > JOURNAL_MAGIC.len() as u64 => {
            Err(Error::new(path, ErrorCause::HostileJournal))
        }
        _ => Ok(()),
    }
}
