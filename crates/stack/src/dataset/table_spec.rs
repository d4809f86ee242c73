//! Specification of one table and its rows

use super::{CHUNK, quote_identifier};
use std::fmt;

/// Header of COPY's binary format: signature, flags and length of the extension. Source: PostgreSQL manual, COPY,
/// "Binary Format".
pub(super) const BINARY_HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
pub(super) const BINARY_TRAILER: [u8; 2] = (-1i16).to_be_bytes();

/// Table to create, and its rows.
pub(super) struct TableSpec {
    /// Schema, which is created if missing; `None` uses the search path.
    pub schema: Option<String>,
    pub name: String,
    pub rows: u64,
    /// `CREATE TABLE` statement.
    pub create: String,
    pub form: CopyFormat,
    pub write: RowWriter,
    /// Statements for keys and indexes, which are faster to build after the rows are loaded.
    pub post_load_statements: Vec<String>,
}

/// Function that appends row `row`, counted from 0, in the table's COPY format. It depends on the row number alone.
pub(super) type RowWriter = Box<dyn Fn(u64, &mut Vec<u8>) + Send + Sync>;

/// Format of the rows of COPY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyFormat {
    Text,
    /// Binary rows, so that the server need not parse numbers.
    Binary,
}

impl TableSpec {
    /// Qualified name, quoted as in SQL.
    pub fn identifier(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", quote_identifier(schema), quote_identifier(&self.name)),
            None => quote_identifier(&self.name),
        }
    }

    /// Returns `COPY … FROM STDIN`; `freeze` is allowed only in the transaction that created the table.
    pub fn copy_statement(&self, freeze: bool) -> String {
        let mut options = Vec::new();
        options.extend((self.form == CopyFormat::Binary).then_some("format binary"));
        options.extend(freeze.then_some("freeze on"));
        let options =
            if options.is_empty() { String::new() } else { format!(" with ({})", options.join(", ")) };
        format!("copy {} from stdin{options}", self.identifier())
    }

    /// Number of rows per message, so that a message has about [`CHUNK`] bytes.
    pub fn rows_per_block(&self) -> u64 {
        let mut sample = Vec::new();
        let rows = self.rows.min(16);
        (0..rows).for_each(|row| (self.write)(row, &mut sample));
        (CHUNK as u64 * rows / sample.len().max(1) as u64).clamp(1, 8192)
    }

    /// Returns the bytes at the beginning and at the end of a COPY stream in this format.
    pub fn header_and_trailer(&self) -> (&'static [u8], &'static [u8]) {
        match self.form {
            CopyFormat::Text => (b"", b""),
            CopyFormat::Binary => (BINARY_HEADER, &BINARY_TRAILER),
        }
    }
}

impl fmt::Debug for TableSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sheet").field("name", &self.identifier()).field("rows", &self.rows).finish()
    }
}
