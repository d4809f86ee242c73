//! Limits of feeds; a damaged or hostile file is rejected instead of filling memory or a disk

use crate::Diagnostic;
use crate::diagnostic::ExceededLimit;
use model::message;
use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, BufRead, Read};

/// Maximum number of columns of a feed, as in a PostgreSQL table.
pub const MAX_COLUMNS: usize = 1600;
/// Maximum length of a row, in bytes.
pub const MAX_ROW_BYTES: u64 = 64 << 20;
/// Maximum size of a feed that is packed into a temporary file, in bytes.
pub const MAX_PACKED_BYTES: u64 = 8 << 30;

/// Checks that column names are unique, and that there are at most [`MAX_COLUMNS`].
pub fn check_columns(columns: &[String]) -> Result<(), Diagnostic> {
    check_count(columns.len())?;
    let mut known = HashSet::new();
    for name in columns {
        if name.is_empty() {
            return Err(Diagnostic::new(1, message!("feed-column-without-name")));
        }
        if !known.insert(name) {
            return Err(Diagnostic::new(1, message!("feed-column-twice", name)));
        }
    }
    Ok(())
}

pub fn check_count(columns: usize) -> Result<(), Diagnostic> {
    match columns {
        0..=MAX_COLUMNS => Ok(()),
        _ => Err(Diagnostic::new(
            1,
            message!("feed-many-columns", columns = columns.to_string(), max = MAX_COLUMNS.to_string()),
        )),
    }
}

/// Checks that no field of a row contains a NUL byte.
pub fn check_nul<'a>(
    line: u64,
    fields: impl Iterator<Item = &'a [u8]>,
    columns: &[String],
) -> Result<(), Diagnostic> {
    let holds = fields.zip(columns).find(|it| it.0.contains(&0));
    holds.map_or(Ok(()), |(_, name)| Err(Diagnostic::new(line, message!("feed-nul", name))))
}

/// Reader that fails if a row is longer than [`MAX_ROW_BYTES`].
pub struct RowLimitedReader<'a> {
    source: &'a mut dyn BufRead,
    remaining: &'a Cell<u64>,
}

impl<'a> RowLimitedReader<'a> {
    /// Creates a reader. `left` is the number of bytes that the row may still contain; the reader decreases this
    /// number. Set it to [`MAX_ROW_BYTES`] before each row.
    pub fn new(source: &'a mut dyn BufRead, left: &'a Cell<u64>) -> RowLimitedReader<'a> {
        RowLimitedReader { source, remaining: left }
    }
}

impl Read for RowLimitedReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        let left = self.remaining.get().checked_sub(read as u64);
        self.remaining.set(left.ok_or_else(row_too_long)?);
        Ok(read)
    }
}

/// Error for a row that is too long.
pub fn row_too_long() -> io::Error {
    ExceededLimit::Row(MAX_ROW_BYTES).into()
}
