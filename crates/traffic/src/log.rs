//! Reader of PostgreSQL's server logs
//!
//! It reads the statements that `log_statement`, `log_min_duration_statement`, `log_duration` and errors write, from
//! the formats `csvlog` (PostgreSQL 13 and later), `jsonlog` (15 and later) and `stderr`. Messages must be in English
//! (`lc_messages`).

mod assemble;
mod csv;
mod detect;
mod entry;
mod json;
mod lines;
mod parameters;
mod prefix;
mod report;
mod stderr;
mod timestamp;

pub use detect::detect;
pub use prefix::{DEFAULT_PREFIX, Prefix, RDS_PREFIX};

use crate::session::{SkipKind, Traffic};
use assemble::Assembler;
use entry::Entry;
use lines::Lines;
use model::message;
use model::message::Message;
use std::io::{self, BufRead};

/// Format of a server log.
#[derive(Clone, Debug)]
pub enum LogFormat {
    /// `log_destination = csvlog`
    Csv,
    /// `log_destination = jsonlog`
    Json,
    /// `log_destination = stderr`, with the server's `log_line_prefix`.
    Stderr(Prefix),
}

/// Receiver of the entries of a log: the number of the entry's first line, and the entry or the reason why it was
/// skipped. An error ends the reading.
type Sink<'a> = &'a mut dyn FnMut(u64, Result<Entry, SkipKind>) -> io::Result<()>;

/// Receiver of a traffic that is still being read. It may remove the statements of finished transactions
/// ([`Session::finished_transactions`](crate::Session::finished_transactions)).
pub type Consumer<'a> = &'a mut dyn FnMut(&mut Traffic) -> Result<(), Message>;

/// Number of entries between two calls of a [`Consumer`].
const BATCH: u64 = 65_536;

/// Reads a log and appends its statements to `traffic`.
///
/// The logs of one server are read in the order of time: a session may continue in the next log. Entries that are no
/// statements are counted in [`Traffic::skipped`]. Compressed logs must be decompressed by the caller.
///
/// # Errors
///
/// The source cannot be read, or none of its lines has the given format.
pub fn read(reader: impl BufRead, format: &LogFormat, traffic: &mut Traffic) -> Result<(), Message> {
    read_in_batches(reader, format, traffic, &mut |_| Ok(()))
}

/// Reads a log as [`read`] does, and passes the traffic to `consumer` from time to time, so that a log of any length can be
/// processed.
///
/// # Errors
///
/// The errors of [`read`], and those of the consumer.
pub fn read_in_batches(
    reader: impl BufRead,
    format: &LogFormat,
    traffic: &mut Traffic,
    consumer: Consumer<'_>,
) -> Result<(), Message> {
    read_every(BATCH, reader, format, traffic, consumer)
}

/// Reads a log, and calls the consumer after each `batch` entries.
pub(crate) fn read_every(
    batch: u64,
    reader: impl BufRead,
    format: &LogFormat,
    traffic: &mut Traffic,
    consumer: Consumer<'_>,
) -> Result<(), Message> {
    traffic.inputs += 1;
    let mut lines = Lines::new(reader);
    let mut assembler = Assembler::new(traffic);
    let (mut readable, mut malformed) = (0u64, None);
    let mut consumer_error = None;
    let sink: Sink<'_> = &mut |line, entry| {
        if matches!(entry, Err(SkipKind::Malformed)) {
            malformed.get_or_insert(line);
        } else {
            readable += 1;
        }
        assembler.add(line, entry);
        if assembler.traffic().entries.is_multiple_of(batch)
            && let Err(error) = consumer(assembler.traffic())
        {
            consumer_error = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        Ok(())
    };
    let result = match format {
        LogFormat::Csv => csv::read(&mut lines, sink),
        LogFormat::Json => json::read(&mut lines, sink),
        LogFormat::Stderr(prefix) => stderr::read(&mut lines, prefix, sink),
    };
    if let Some(error) = consumer_error {
        return Err(error);
    }
    let number = lines.number();
    result.map_err(|error| {
        message!("traffic-log-unreadable", line = number.to_string(), error = Message::from(&error))
    })?;
    match malformed {
        Some(line) if readable == 0 => Err(format_message(format, line)),
        _ => Ok(()),
    }
}

/// Message for a log of which no line has the format.
fn format_message(format: &LogFormat, line: u64) -> Message {
    let line = line.to_string();
    match format {
        LogFormat::Csv => message!("traffic-log-no-csv", line),
        LogFormat::Json => message!("traffic-log-no-json", line),
        LogFormat::Stderr(prefix) => message!("traffic-log-no-prefix", line, prefix = prefix.text()),
    }
}
