//! What is there, row by row, at one moment?
//!
//! One transaction sees one snapshot, whatever is written meanwhile, and its rows are given away as they come: millions of
//! them take no memory.

use crate::client::{self, Connection};
use crate::roles::DirectServer;
use crate::roles::identity::{self, IDENTITY_SQL};
use model::durability::ServerInstance;
use std::fmt;
use std::time::Duration;

/// A transaction that only reads, and all of it at one moment. It ends when it is dropped.
#[derive(Debug)]
pub struct ReadTransaction {
    connection: Connection,
    /// Who answers, as it said within the transaction.
    pub server: ServerInstance,
    /// `pg_is_in_recovery()`, asked likewise.
    pub in_recovery: bool,
}

/// Nothing was read, or not everything, and why.
#[derive(Debug)]
pub struct ReadBackError {
    /// What was asked.
    pub query: String,
    pub reason: ReadBackErrorReason,
}

/// Why a query was not answered to its end.
#[derive(Debug)]
pub enum ReadBackErrorReason {
    Client(Box<client::Error>),
    /// Its rows have more than one column.
    SeveralColumns,
}

/// All that is read sees the same rows, and nothing is changed by it.
const BEGIN: &str = "begin isolation level repeatable read read only";

impl ReadTransaction {
    /// Logs in, begins, and asks who answers. Each wait for the network lasts at most `patience`: a query that sorts shows its
    /// first row late. What is acknowledged after the call is not seen for certain.
    pub fn begin(of: &DirectServer, patience: Duration) -> Result<ReadTransaction, ReadBackError> {
        let asked = |query: &str| {
            let query = query.to_owned();
            move |it| ReadBackError { query, reason: ReadBackErrorReason::Client(Box::new(it)) }
        };
        let mut connection = of.target.open(patience).map_err(asked(BEGIN))?;
        connection.query(BEGIN).map_err(asked(BEGIN))?;
        let answer = connection.query(IDENTITY_SQL).map_err(asked(IDENTITY_SQL))?;
        let (server, in_recovery) = identity::parse_identity(&answer, of.address.as_deref());
        Ok(ReadTransaction { connection, server, in_recovery })
    }

    /// Asks a query of one column and gives away each of its values as text, in the query's order; NULL is passed over.
    /// Returns how many were given. After an error of the server's the transaction is of no more use.
    pub fn read_rows(&mut self, query: &str, mut take: impl FnMut(&[u8])) -> Result<u64, ReadBackError> {
        // Its last line may be a comment.
        let text = query.trim_end().trim_end_matches(';');
        let sql = format!("copy ({text}\n) to stdout (encoding 'UTF8')");
        let (mut given, mut several, mut plain) = (0, false, Vec::new());
        let copied = self.connection.copy_out(&sql, &mut |row| match unescape_copy_value(row, &mut plain) {
            CopyValue::Text(it) if !several => {
                take(it);
                given += 1;
            }
            CopyValue::SeveralColumns => several = true,
            CopyValue::Text(_) | CopyValue::Null => {}
        });
        let failed = |why| ReadBackError { query: query.to_owned(), reason: why };
        match copied {
            Ok(_) if several => Err(failed(ReadBackErrorReason::SeveralColumns)),
            Ok(_) => Ok(given),
            Err(error) => Err(failed(ReadBackErrorReason::Client(Box::new(error)))),
        }
    }
}

/// One row of COPY's text form.
#[derive(Debug, PartialEq, Eq)]
enum CopyValue<'a> {
    Text(&'a [u8]),
    Null,
    SeveralColumns,
}

/// Undoes COPY's escapes, in `plain` where there are any. Source: PostgreSQL manual, "COPY", "Text Format".
fn unescape_copy_value<'a>(row: &'a [u8], plain: &'a mut Vec<u8>) -> CopyValue<'a> {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    if row == b"\\N" {
        return CopyValue::Null;
    }
    // One within a value is written `\t`.
    if row.contains(&b'\t') {
        return CopyValue::SeveralColumns;
    }
    if !row.contains(&b'\\') {
        return CopyValue::Text(row);
    }
    plain.clear();
    let mut bytes = row.iter();
    while let Some(&it) = bytes.next() {
        plain.push(match it {
            b'\\' => match bytes.next() {
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'v') => 11,
                Some(&other) => other,
                None => b'\\',
            },
            other => other,
        });
    }
    CopyValue::Text(plain)
}

impl fmt::Display for ReadBackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            ReadBackErrorReason::Client(it) => write!(f, "{}: {it}", self.query),
            ReadBackErrorReason::SeveralColumns => {
                write!(f, "{}: it must have one column, and has several", self.query)
            }
        }
    }
}

impl std::error::Error for ReadBackError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescapes_copy_values() {
        let check = |row: &[u8], expected: CopyValue<'_>| {
            assert_eq!(unescape_copy_value(row, &mut Vec::new()), expected, "{}", row.escape_ascii());
        };
        check(b"1.2.abc\n", CopyValue::Text(b"1.2.abc"));
        check(b"\n", CopyValue::Text(b""));
        check(b"\\N\n", CopyValue::Null);
        // The text of these two letters.
        check(b"\\\\N\n", CopyValue::Text(b"\\N"));
        check(b"a\\nb\\tc\\\\d\\re\\bf\\fg\\vh\n", CopyValue::Text(b"a\nb\tc\\d\re\x08f\x0cg\x0bh"));
        check(b"a\tb\n", CopyValue::SeveralColumns);
        check("\u{42f}\n".as_bytes(), CopyValue::Text("\u{42f}".as_bytes()));
    }
}
