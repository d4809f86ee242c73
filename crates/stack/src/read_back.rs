//! Reads back rows from one snapshot
//!
//! One transaction sees one snapshot, whatever other sessions write meanwhile. Each row is passed to the caller as it
//! arrives, so that millions of rows need no memory.

use crate::client::{self, Connection};
use crate::roles::DirectServer;
use crate::roles::identity::{self, IDENTITY_SQL};
use model::durability::ServerInstance;
use model::message;
use model::message::Message;
use std::time::Duration;

/// Read-only transaction with one snapshot. Dropping the value ends the transaction.
#[derive(Debug)]
pub struct ReadTransaction {
    connection: Connection,
    /// Identity of the server, read within the transaction.
    pub server: ServerInstance,
    /// Result of `pg_is_in_recovery()`, read within the transaction.
    pub in_recovery: bool,
}

/// Query that failed, entirely or partly, and the reason.
#[derive(Debug)]
pub struct ReadBackError {
    /// Text of the query.
    pub query: String,
    pub reason: ReadBackErrorReason,
}

/// Reason why a query failed.
#[derive(Debug)]
pub enum ReadBackErrorReason {
    Client(Box<client::Error>),
    /// The query returns more than one column.
    SeveralColumns,
}

/// Statement that begins a read-only transaction in which all queries see the same rows.
const BEGIN: &str = "begin isolation level repeatable read read only";

impl ReadTransaction {
    /// Logs in, begins the transaction, and reads the server's identity.
    ///
    /// `timeout` limits each wait for the network, including the wait for the first row of a query that sorts. Writes
    /// that are acknowledged after this call may or may not be visible.
    pub fn begin(server: &DirectServer, timeout: Duration) -> Result<ReadTransaction, ReadBackError> {
        let failed = |query: &str| {
            let query = query.to_owned();
            move |it| ReadBackError { query, reason: ReadBackErrorReason::Client(Box::new(it)) }
        };
        let mut connection = server.target.open(timeout).map_err(failed(BEGIN))?;
        connection.query(BEGIN).map_err(failed(BEGIN))?;
        let answer = identity::query_identity(&mut connection).map_err(failed(IDENTITY_SQL))?;
        let (server, in_recovery) = identity::parse_identity(&answer, server.address.as_deref());
        Ok(ReadTransaction { connection, server, in_recovery })
    }

    /// Runs a query that returns one column. Passes each value to `take` as text, in the query's order; skips NULL.
    ///
    /// Returns the number of values. After a server error the transaction can no longer be used.
    pub fn read_rows(&mut self, query: &str, mut take: impl FnMut(&[u8])) -> Result<u64, ReadBackError> {
        // The added text follows a newline, because the query's last line may be a comment.
        let text = query.trim_end().trim_end_matches(';');
        let sql = format!("copy ({text}\n) to stdout (encoding 'UTF8')");
        let (mut given, mut several, mut plain) = (0, false, Vec::new());
        let copied = self.connection.copy_out(&sql, &mut |row| match unescape_copy_value(row, &mut plain) {
            CopyValue::Text(text) if !several => {
                take(text);
                given += 1;
            }
            CopyValue::SeveralColumns => several = true,
            CopyValue::Text(_) | CopyValue::Null => {}
        });
        let failed = |reason| ReadBackError { query: query.to_owned(), reason };
        match copied {
            Ok(_) if several => Err(failed(ReadBackErrorReason::SeveralColumns)),
            Ok(_) => Ok(given),
            Err(error) => Err(failed(ReadBackErrorReason::Client(Box::new(error)))),
        }
    }
}

/// Row in COPY's text format.
#[derive(Debug, PartialEq, Eq)]
enum CopyValue<'a> {
    Text(&'a [u8]),
    Null,
    SeveralColumns,
}

/// Unescapes a COPY value; writes it to `plain` if it has escapes. Source: PostgreSQL manual, "COPY", "Text Format".
fn unescape_copy_value<'a>(row: &'a [u8], plain: &'a mut Vec<u8>) -> CopyValue<'a> {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    if row == b"\\N" {
        return CopyValue::Null;
    }
    // COPY escapes a tab within a value as `\t`, so a bare tab separates columns.
    if row.contains(&b'\t') {
        return CopyValue::SeveralColumns;
    }
    if !row.contains(&b'\\') {
        return CopyValue::Text(row);
    }
    plain.clear();
    let mut bytes = row.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
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

impl From<&ReadBackError> for Message {
    fn from(ReadBackError { query, reason }: &ReadBackError) -> Message {
        let error = match reason {
            ReadBackErrorReason::Client(error) => Message::from(&**error),
            ReadBackErrorReason::SeveralColumns => message!("read-back-several-columns"),
        };
        message!("read-back-failed", query, error)
    }
}

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
        // The value is the text `\N`, not NULL.
        check(b"\\\\N\n", CopyValue::Text(b"\\N"));
        check(b"a\\nb\\tc\\\\d\\re\\bf\\fg\\vh\n", CopyValue::Text(b"a\nb\tc\\d\re\x08f\x0cg\x0bh"));
        check(b"a\tb\n", CopyValue::SeveralColumns);
        check("\u{42f}\n".as_bytes(), CopyValue::Text("\u{42f}".as_bytes()));
    }
}
