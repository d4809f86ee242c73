//! Bounds on what a feed may take, so that a damaged or hostile file is refused instead of filling memory or a disk.

use crate::Mistake;
use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, BufRead, Read};

/// Columns of a feed: as many as a table of PostgreSQL has at most.
pub const COLUMNS: usize = 1600;
/// Bytes of a row.
pub const ROW: u64 = 64 << 20;
/// Bytes of a feed that is packed into a temporary file.
pub const PACKED: u64 = 8 << 30;

/// Each column has a name of its own, and there are at most [`COLUMNS`].
pub fn check_columns(columns: &[String]) -> Result<(), Mistake> {
    check_count(columns.len())?;
    let mut known = HashSet::new();
    for name in columns {
        if name.is_empty() {
            return Err(Mistake::new(1, "a column has no name"));
        }
        if !known.insert(name) {
            return Err(Mistake::new(1, format!("the column \"{name}\" is named twice")));
        }
    }
    Ok(())
}

pub fn check_count(columns: usize) -> Result<(), Mistake> {
    match columns {
        0..=COLUMNS => Ok(()),
        _ => Err(Mistake::new(
            1,
            format!(
                "it has {columns} columns, and a feed has at most {COLUMNS}; leave out those that nothing draws"
            ),
        )),
    }
}

/// No field of a row holds a NUL byte.
pub fn check_nul<'a>(
    line: u64,
    fields: impl Iterator<Item = &'a [u8]>,
    columns: &[String],
) -> Result<(), Mistake> {
    let holds = fields.zip(columns).find(|it| it.0.contains(&0));
    holds.map_or(Ok(()), |(_, name)| {
        let what = format!(
            "the column \"{name}\" holds a NUL byte, which no text of PostgreSQL can hold; leave it out"
        );
        Err(Mistake::new(line, what))
    })
}

/// A source that fails where a row is longer than [`ROW`].
pub struct ByRow<'a> {
    source: &'a mut dyn BufRead,
    left: &'a Cell<u64>,
}

impl<'a> ByRow<'a> {
    /// `left`: bytes that the row may still take; set it to [`ROW`] before each.
    pub fn new(source: &'a mut dyn BufRead, left: &'a Cell<u64>) -> ByRow<'a> {
        ByRow { source, left }
    }
}

impl Read for ByRow<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(too_long)?);
        Ok(read)
    }
}

/// Why a row is refused.
pub fn too_long() -> io::Error {
    io::Error::other(format!("a row is longer than {} MiB; a quote may be open", ROW >> 20))
}
