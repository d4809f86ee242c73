//! What is there, row by row, at one moment?
//!
//! One transaction sees one snapshot, whatever is written meanwhile, and its rows are given away as they come: millions of
//! them take no memory.

use crate::ask::{self, Connection};
use crate::roles::Direct;
use crate::roles::identity::{self, WHO};
use model::durability::Server;
use std::fmt;
use std::time::Duration;

/// A transaction that only reads, and all of it at one moment. It ends when it is dropped.
#[derive(Debug)]
pub struct Snapshot {
    connection: Connection,
    /// Who answers, as it said within the transaction.
    pub server: Server,
    /// `pg_is_in_recovery()`, asked likewise.
    pub in_recovery: bool,
}

/// Nothing was read, or not everything, and why.
#[derive(Debug)]
pub struct Error {
    /// What was asked.
    pub query: String,
    pub why: Why,
}

/// Why a query was not answered to its end.
#[derive(Debug)]
pub enum Why {
    Ask(Box<ask::Error>),
    /// Its rows have more than one column.
    Columns,
}

/// All that is read sees the same rows, and nothing is changed by it.
const BEGIN: &str = "begin isolation level repeatable read read only";

impl Snapshot {
    /// Logs in, begins, and asks who answers. Each wait for the network lasts at most `patience`: a query that sorts shows its
    /// first row late. What is acknowledged after the call is not seen for certain.
    pub fn begin(of: &Direct, patience: Duration) -> Result<Snapshot, Error> {
        let asked = |query: &str| {
            let query = query.to_owned();
            move |it| Error { query, why: Why::Ask(Box::new(it)) }
        };
        let mut connection = of.target.open(patience).map_err(asked(BEGIN))?;
        connection.query(BEGIN).map_err(asked(BEGIN))?;
        let answer = connection.query(WHO).map_err(asked(WHO))?;
        let (server, in_recovery) = identity::read(&answer, of.address.as_deref());
        Ok(Snapshot { connection, server, in_recovery })
    }

    /// Asks a query of one column and gives away each of its values as text, in the query's order; NULL is passed over.
    /// Returns how many were given. After an error of the server's the transaction is of no more use.
    pub fn rows(&mut self, query: &str, mut take: impl FnMut(&[u8])) -> Result<u64, Error> {
        // Its last line may be a comment.
        let text = query.trim_end().trim_end_matches(';');
        let sql = format!("copy ({text}\n) to stdout (encoding 'UTF8')");
        let (mut given, mut several, mut plain) = (0, false, Vec::new());
        let copied = self.connection.copy_out(&sql, &mut |row| match value(row, &mut plain) {
            Value::Text(it) if !several => {
                take(it);
                given += 1;
            }
            Value::Several => several = true,
            Value::Text(_) | Value::Null => {}
        });
        let failed = |why| Error { query: query.to_owned(), why };
        match copied {
            Ok(_) if several => Err(failed(Why::Columns)),
            Ok(_) => Ok(given),
            Err(error) => Err(failed(Why::Ask(Box::new(error)))),
        }
    }
}

/// One row of COPY's text form.
#[derive(Debug, PartialEq, Eq)]
enum Value<'a> {
    Text(&'a [u8]),
    Null,
    Several,
}

/// Undoes COPY's escapes, in `plain` where there are any. Source: PostgreSQL manual, "COPY", "Text Format".
fn value<'a>(row: &'a [u8], plain: &'a mut Vec<u8>) -> Value<'a> {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    if row == b"\\N" {
        return Value::Null;
    }
    // One within a value is written `\t`.
    if row.contains(&b'\t') {
        return Value::Several;
    }
    if !row.contains(&b'\\') {
        return Value::Text(row);
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
    Value::Text(plain)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::Ask(it) => write!(f, "{}: {it}", self.query),
            Why::Columns => write!(f, "{}: it must have one column, and has several", self.query),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let check = |row: &[u8], expected: Value<'_>| {
            assert_eq!(value(row, &mut Vec::new()), expected, "{}", row.escape_ascii());
        };
        check(b"1.2.abc\n", Value::Text(b"1.2.abc"));
        check(b"\n", Value::Text(b""));
        check(b"\\N\n", Value::Null);
        // The text of these two letters.
        check(b"\\\\N\n", Value::Text(b"\\N"));
        check(b"a\\nb\\tc\\\\d\\re\\bf\\fg\\vh\n", Value::Text(b"a\nb\tc\\d\re\x08f\x0cg\x0bh"));
        check(b"a\tb\n", Value::Several);
        check("\u{42f}\n".as_bytes(), Value::Text("\u{42f}".as_bytes()));
    }
}
