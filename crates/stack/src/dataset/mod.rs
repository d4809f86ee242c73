//! What do the tables under test hold?

pub mod books;
mod copy;
mod dataset_record;
mod declared;
pub mod delivery;
mod english;
mod generator;
mod geography;
mod load;
mod names;
pub mod pgbench;
pub mod profiles;
mod row_rng;
mod table_spec;
pub mod tickets;
mod timestamp;
mod titles;
pub mod users;
mod zipf;

pub use dataset_record::GENERATOR_VERSION;
pub use load::{bare_copy, load, unload};

use crate::client::{self, Target};
use copy::CopyProgress;
pub(crate) use dataset_record::quote_literal;
use model::plan::{Content, Dataset};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use table_spec::TableSpec;

/// Where a dataset is loaded, and how.
#[derive(Clone, Debug)]
pub struct Loader<'a> {
    /// Logs in to the database that is filled. Its user makes schemas and tables there.
    pub target: Target,
    /// Connections that send rows at the same time, at least 1. By one, rows come in order and frozen.
    pub workers: u16,
    /// Load even what is there already: it may have been changed since.
    pub force: bool,
    /// Looked at between blocks of some 64 KiB.
    pub stop: &'a AtomicBool,
}

/// What is going on, to be shown or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// What we loaded before is dropped.
    Dropping,
    /// So many rows have been sent, of all tables together: see [`rows`].
    Rows(u64),
    /// Primary keys and indexes.
    Keys,
    Statistics,
}

/// A dataset that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadResult {
    pub rows: u64,
    /// Of COPY data.
    pub bytes: u64,
    /// All of it, from the first connection to statistics.
    pub took: Duration,
    /// Of that, making the tables and COPY.
    pub copy_duration: Duration,
    /// rows ÷ took; 0 if it was there already.
    pub rows_per_second: f64,
    /// It was there already.
    pub reused: bool,
}

/// What the same bytes cost without us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareCopyResult {
    pub rows: u64,
    pub bytes: u64,
    pub took: Duration,
}

/// Why nothing was loaded.
#[derive(Debug)]
pub enum Error {
    Client(client::Error),
    /// Declared tables that cannot be: all mistakes at once.
    InvalidTables(Vec<TableDiagnostic>),
    /// A table that we did not make stands where one of ours should be.
    ForeignTable {
        table: String,
    },
    /// By [`Loader::stop`].
    Stopped,
}

/// A mistake in a declared table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDiagnostic {
    pub table: String,
    pub column: Option<String>,
    /// What stands there, and what to write instead.
    pub message: String,
}

/// Bytes of one message of COPY data: large enough that messages cost nothing, small enough to stay in the cache.
const CHUNK: usize = 64 * 1024;

/// How many rows its tables have together.
pub fn total_rows(content: &Content) -> u64 {
    match content {
        Content::Tickets { rows } => *rows,
        Content::Profiles { users, per_user } => users.saturating_mul(*per_user),
        Content::Pgbench { scale } => u64::from(*scale) * 100_011,
        &Content::Delivery { scale } => {
            let it = delivery::Delivery { scale, seed: 0 };
            it.senders() + it.receivers()
        }
        Content::Users { users } => *users,
        Content::Books { rows } => *rows,
        Content::Declared(tables) => tables.iter().map(|it| it.rows).sum(),
    }
}

/// Mistakes of the declared tables; none for a dataset that can be loaded. Asks nobody.
pub fn diagnostics(dataset: &Dataset) -> Vec<TableDiagnostic> {
    match table_specs(dataset) {
        Err(Error::InvalidTables(it)) => it,
        _ => Vec::new(),
    }
}

fn table_specs(dataset: &Dataset) -> Result<Vec<TableSpec>, Error> {
    let seed = dataset.seed;
    Ok(match &dataset.content {
        Content::Tickets { rows } => vec![tickets::Tickets { rows: *rows, seed }.table_spec()],
        &Content::Profiles { users, per_user } => {
            vec![profiles::Profiles { users, per_user, seed }.table_spec()]
        }
        Content::Pgbench { scale } => pgbench::Pgbench { scale: *scale, ..Default::default() }.table_specs(),
        &Content::Delivery { scale } => delivery::Delivery { scale, seed }.table_specs(),
        Content::Users { users } => vec![users::Users { users: *users, seed }.table_spec()],
        Content::Books { rows } => vec![books::Books { rows: *rows, seed }.table_spec()],
        Content::Declared(tables) => declared::table_specs(tables, seed).map_err(Error::InvalidTables)?,
    })
}

impl Loader<'_> {
    /// Connections that pay on this machine: the server needs a processor for each, and we need one for all.
    pub fn default_workers() -> u16 {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (processors / 2).clamp(1, 8) as u16
    }
}

impl LoadResult {
    fn new(sent: CopyProgress, copying: Duration, took: Duration, reused: bool) -> LoadResult {
        let CopyProgress { rows, bytes } = sent;
        let rows_per_second = if reused { 0.0 } else { rows as f64 / took.as_secs_f64() };
        LoadResult { rows, bytes, took, copy_duration: copying, rows_per_second, reused }
    }
}

impl From<client::Error> for Error {
    fn from(error: client::Error) -> Error {
        Error::Client(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Client(it) => it.fmt(f),
            Error::InvalidTables(mistakes) => {
                let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            Error::ForeignTable { table } => write!(
                f,
                "{table} is there, and pgdyno did not make it: name another database, or drop the table yourself"
            ),
            Error::Stopped => f.write_str("loading was stopped"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for TableDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column {
            Some(column) => write!(f, "table {}, column {column}: {}", self.table, self.message),
            None => write!(f, "table {}: {}", self.table, self.message),
        }
    }
}

/// An SQL identifier.
pub(crate) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Appends a number in decimal digits.
fn write_decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}
