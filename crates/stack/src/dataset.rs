//! Datasets: the rows of the tables under test

pub mod books;
mod copy;
mod dataset_record;
mod declared;
pub mod delivery;
mod dump;
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

pub use dataset_record::{GENERATOR_VERSION, content_key};
pub use dump::{DumpError, DumpLoader, describe as describe_dump, load as restore_dump};
pub use load::{bare_copy, load, unload};

use crate::client::{self, Target};
use copy::CopyProgress;
pub(crate) use dataset_record::{quote_literal, recorded_tables};
pub(crate) use dump::find_program;
use model::message;
use model::message::Message;
use model::plan::{Content, Dataset};
use std::time::Duration;
use table_spec::TableSpec;

/// Target and options of a load.
#[derive(Clone, Debug)]
pub struct Loader {
    /// Login to the database to fill. Its user creates schemas and tables there.
    pub target: Target,
    /// Number of connections that send rows concurrently, at least 1. With one connection, rows are in order and
    /// frozen.
    pub workers: u16,
    /// True to load even if the dataset exists, because other programs may have changed its rows.
    pub force: bool,
}

/// Progress of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The previously loaded dataset is being dropped.
    Dropping,
    /// Number of rows sent so far, over all tables; see [`total_rows`].
    Rows(u64),
    /// Primary keys and indexes are being built.
    Keys,
    Statistics,
    /// A dump is being restored.
    Dump,
}

/// Result of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadResult {
    pub rows: u64,
    /// Size of the COPY data, bytes.
    pub bytes: u64,
    /// Total duration, from the first connection to the collection of statistics.
    pub took: Duration,
    /// Part of `took` for creating the tables and COPY.
    pub copy_duration: Duration,
    /// Throughput in rows per second: rows ÷ `took`; 0 if the dataset existed already.
    pub rows_per_second: f64,
    /// True if the dataset existed already.
    pub reused: bool,
}

/// Result of a COPY of the same rows without keys and statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareCopyResult {
    pub rows: u64,
    pub bytes: u64,
    pub took: Duration,
}

/// Reason why nothing was loaded.
#[derive(Debug)]
pub enum Error {
    Client(client::Error),
    /// Declared tables are invalid; lists all errors at once.
    InvalidTables(Vec<TableDiagnostic>),
    /// A table that pgdyno did not create has the name of a table to create.
    ForeignTable {
        table: String,
    },
    Dump(DumpError),
    /// A signal interrupted the load, see [`with_interrupt`](crate::interrupt::with_interrupt).
    Stopped,
}

/// Error in a declared table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDiagnostic {
    pub table: String,
    pub column: Option<String>,
    /// Offending text, and what to write instead.
    pub message: Message,
}

/// Size of a message of COPY data, bytes. The overhead of such a message is negligible, and the message fits into the
/// CPU cache.
const CHUNK: usize = 64 * 1024;

/// Number of rows in all tables together; `None` if only the loaded database shows it.
pub fn total_rows(content: &Content) -> Option<u64> {
    Some(match content {
        Content::Tickets { rows } => *rows,
        Content::Profiles { users, per_user } => users.saturating_mul(*per_user),
        Content::Pgbench { scale } => u64::from(*scale) * 100_011,
        &Content::Delivery { scale } => {
            let delivery = delivery::Delivery { scale, seed: 0 };
            delivery.senders() + delivery.receivers()
        }
        Content::Users { users } => *users,
        Content::Books { rows } => *rows,
        Content::Declared(tables) => tables.iter().map(|it| it.rows).sum(),
        Content::Dump { .. } | Content::Template { .. } | Content::Source(_) => return None,
    })
}

/// Lists errors in the declared tables; empty if the dataset can be loaded. Needs no connection.
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
        Content::Users { users } => vec![users::UserTable { users: *users, seed }.table_spec()],
        Content::Books { rows } => vec![books::Books { rows: *rows, seed }.table_spec()],
        Content::Declared(tables) => declared::table_specs(tables, seed).map_err(Error::InvalidTables)?,
        // The dump, the template or the source contains the tables.
        Content::Dump { .. } | Content::Template { .. } | Content::Source(_) => Vec::new(),
    })
}

impl Loader {
    /// Default number of workers: half of the CPUs of this machine, 1 to 8.
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
        match error {
            client::Error::Stopped => Error::Stopped,
            error => Error::Client(error),
        }
    }
}

impl From<&Error> for Message {
    fn from(error: &Error) -> Message {
        match error {
            Error::Client(error) => error.into(),
            Error::InvalidTables(diagnostics) => {
                Message::join(diagnostics.iter().map(Message::from)).expect("a table is invalid")
            }
            Error::ForeignTable { table } => message!("dataset-foreign-table", table),
            Error::Dump(error) => error.into(),
            Error::Stopped => message!("dataset-stopped"),
        }
    }
}

impl From<&TableDiagnostic> for Message {
    fn from(TableDiagnostic { table, column, message }: &TableDiagnostic) -> Message {
        message!("dataset-table", table, column = column.as_ref(), message)
    }
}

/// Quotes an SQL identifier.
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
