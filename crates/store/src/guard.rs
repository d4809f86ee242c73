//! Limits for untrusted run files
//!
//! A schema can contain code: SQLite executes views, triggers, virtual tables and generated columns when it reads or
//! writes them. Therefore a file is read only if its tables are those that pgdyno creates.
//!
//! The length of values is limited. SQLite's work is limited in proportion to the file's length, because a small file
//! can contain an endless table that repeats its pages. Work is counted in SQLite's instructions, not in seconds, so
//! that the result does not depend on the speed or load of the machine.

use crate::bounds::MAX_VALUE_BYTES;
use crate::error::{Attempt, Error, ErrorCause, Result};
use crate::{file, schema};
use model::message;
use model::message::Message;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Row};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Number of SQLite instructions allowed before the schema is checked: enough for a few thousand schema entries.
const WORK_BEFORE_CHECK: i64 = 100_000;
/// Number of SQLite instructions allowed for reading a file: a constant plus a number per byte.
///
/// Reading a whole run takes about one instruction per byte, and no command reads a run more than ten times.
const WORK: i64 = 2_000_000;
const WORK_PER_BYTE: i64 = 40;
/// Number of instructions between two checks of the budget.
const PROGRESS_INTERVAL: i32 = 1000;

/// Further limits of SQLite. They are far above what pgdyno's statements and tables need.
///
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

/// Remaining work budget of one connection, in SQLite instructions.
#[derive(Clone, Debug)]
pub struct WorkBudget(Arc<AtomicI64>);

impl WorkBudget {
    /// Sets the budget to the work that all queries on a file of `bytes` bytes may take.
    pub fn refill(&self, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.0.store(WORK.saturating_add(bytes.saturating_mul(WORK_PER_BYTE)), Ordering::Relaxed);
    }
}

/// Applies all limits to a connection that has not yet read a byte of the file.
pub fn limit(connection: &mut Connection) -> rusqlite::Result<WorkBudget> {
    let work = Arc::new(AtomicI64::new(WORK_BEFORE_CHECK));
    let left = work.clone();
    let step = i64::from(PROGRESS_INTERVAL);
    connection
        .progress_handler(PROGRESS_INTERVAL, Some(move || left.fetch_sub(step, Ordering::Relaxed) < step))?;
    for (limit, value) in LIMITS {
        connection.set_limit(limit, value)?;
    }
    for (option, enabled) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(option, enabled)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(WorkBudget(work))
}

/// Removes the work limit before the file is written. Each writing statement affects only a few rows.
pub fn lift_work_limit(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.progress_handler(0, None::<fn() -> bool>)
}

/// Set of tables that a file must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaCheck {
    /// The tables of any version of the format.
    Readable,
    /// Exactly the tables of the current version, so that the file can be written.
    Writable,
}

/// Rejects a schema with executable objects that pgdyno does not create. Returns the number of entries.
///
/// Tables and views with other names, which users added, are accepted because pgdyno never reads them.
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
    let entries = rows().map_err(Error::sqlite(path, Attempt::Read))?;
    if let Some(entry) = entries.iter().find(|it| !it.is_allowed(tables)) {
        return Err(Error::new(path, ErrorCause::UnexpectedSchema(entry.into())));
    }
    let has = |name: &str| entries.iter().any(|it| it.name == name);
    for statement in schema::statements() {
        let needed = match tables {
            // The indexes are required, because rows are read in index order and would otherwise have to be sorted.
            SchemaCheck::Readable => statement.kind == "index" && has(statement.table),
            // Resuming an older file adds the missing tables.
            SchemaCheck::Writable => {
                statement.kind != "view" && schema::ADDITIONS.iter().all(|(name, _)| *name != statement.name)
            }
        };
        if needed && !entries.is_empty() && !has(statement.name) {
            return Err(Error::damaged(
                path,
                message!("store-damage-missing", kind = statement.kind, name = statement.name),
            ));
        }
    }
    Ok(entries.len())
}

/// Row of `sqlite_schema`.
struct SchemaEntry {
    kind: String,
    name: String,
    table: String,
    /// True for tables and indexes; false for views and virtual tables.
    has_pages: bool,
    sql: String,
}

impl SchemaEntry {
    fn is_allowed(&self, tables: SchemaCheck) -> bool {
        let same_name = |name: &str| name.eq_ignore_ascii_case(&self.name);
        let statements = schema::statements().chain(schema::legacy_statements());
        let known = statements.filter(|it| same_name(it.name) || it.table.eq_ignore_ascii_case(&self.table));
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
        let same = |statement: &schema::SchemaStatement<'_>| {
            statement.kind == self.kind && statement.name == self.name && statement.sql == self.sql
        };
        is_ordinary
            && match tables {
                SchemaCheck::Readable => known.iter().any(same),
                SchemaCheck::Writable => current.into_iter().any(|it| same(&it)),
            }
    }
}

impl From<&SchemaEntry> for Message {
    fn from(entry: &SchemaEntry) -> Message {
        let kind = if entry.kind == "table" && !entry.has_pages { "virtual" } else { &entry.kind };
        message!("store-object", kind, name = &entry.name)
    }
}

/// Range of the bytes in a database header that hold the write and read versions; 2 means write-ahead log.
///
/// Source: <https://sqlite.org/fileformat2.html>, "The Database Header".
const MODES: std::ops::Range<usize> = 18..20;
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Rejects a file for which SQLite would create further files.
pub fn check_mode(path: &Path) -> Result<()> {
    let mut header = [0; MODES.end];
    let read = File::open(path).and_then(|mut it| it.read_exact(&mut header));
    match read {
        Ok(()) if header.starts_with(MAGIC) && header[MODES].contains(&2) => {
            Err(Error::new(path, ErrorCause::WriteAhead))
        }
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
            Err(Error::system(path, Attempt::Open)(error))
        }
        _ => Ok(()),
    }
}

/// Last bytes of a journal that belongs to a transaction on several databases.
///
/// Source: <https://sqlite.org/fileformat2.html>, "The Rollback Journal".
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Rejects a journal whose rollback would make SQLite delete or truncate another file.
///
/// Such a journal contains the name of the other file at its end, or is itself a link.
pub fn check_journal(path: &Path) -> Result<()> {
    let journal = file::journal_path(path);
    let meta = match fs::symlink_metadata(&journal) {
        Ok(it) => it,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::system(&journal, Attempt::Open)(error)),
    };
    if !meta.is_file() {
        return Err(Error::new(path, ErrorCause::HostileJournal));
    }
    let read = || {
        let mut end = [0; JOURNAL_MAGIC.len()];
        let mut file = File::open(&journal)?;
        if meta.len() >= end.len() as u64 {
            file.seek(SeekFrom::End(-(end.len() as i64)))?;
            file.read_exact(&mut end)?;
        }
        Ok(end)
    };
    match read().map_err(Error::system(&journal, Attempt::Read))? {
        // A journal of exactly this length has only its header's magic number, which has the same bytes.
        JOURNAL_MAGIC if meta.len() > JOURNAL_MAGIC.len() as u64 => {
            Err(Error::new(path, ErrorCause::HostileJournal))
        }
        _ => Ok(()),
    }
}
