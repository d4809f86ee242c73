//! Events and replies of a PostgreSQL connection.

use super::{Columns, Notice, Row};
use crate::Code;

/// Event that [`Channel::receive`](super::Channel::receive) returns for bytes of the server.
#[derive(Debug)]
pub enum Event<'a> {
    /// The whole input is consumed. The next event needs more bytes.
    More,
    /// The login has succeeded, and the session is idle.
    Opened,
    /// Columns of the rows that follow. Only after `Channel::set_watched(true)`.
    Columns(Columns<'a>),
    /// Row of a result. Only after `Channel::set_watched(true)`.
    Row(Row<'a>),
    /// End of one statement, with its command tag such as `SELECT 1`. Only after `Channel::set_watched(true)`.
    CommandComplete(&'a [u8]),
    /// The server expects COPY data.
    CopyIn,
    /// Piece of COPY data. PostgreSQL sends each row separately. Only after `Channel::set_watched(true)`.
    CopyData(&'a [u8]),
    /// ErrorResponse. During login, or with severity FATAL or PANIC, the session has ended. Otherwise, `Ready` follows.
    Error(Notice<'a>),
    /// NoticeResponse of the server.
    Notice(Notice<'a>),
    /// ReadyForQuery. It acknowledges all requests up to one Sync or one simple query.
    Ready(Reply),
}

/// Result of the requests that one ReadyForQuery acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// SQLSTATE of the first error; `None` without an error.
    pub error: Option<Code>,
    /// Number of rows that the server sent (DataRow messages).
    pub rows: u32,
    /// Number of newly prepared statements (ParseComplete messages).
    pub parsed: u16,
    /// Number of completed statements (CommandComplete, EmptyQueryResponse or PortalSuspended messages).
    pub statements: u16,
    /// Rows that statements returned or changed, by their command tags; `None` if no tag had a number.
    pub row_count: Option<RowCount>,
    /// True if a statement had no result: EmptyQueryResponse, or an empty command tag.
    pub empty: bool,
    /// True if a statement had the tag `ROLLBACK`. For a COMMIT this is a failure without an error.
    pub rolled_back: bool,
    /// True after a warning from the server's function `SyncRepWaitForLSN`: the commit exists only on this server.
    pub local_only: bool,
    pub status: TransactionStatus,
}

impl Reply {
    /// Reply before any message has arrived.
    pub(super) const EMPTY: Reply = Reply {
        error: None,
        rows: 0,
        parsed: 0,
        statements: 0,
        row_count: None,
        empty: false,
        rolled_back: false,
        local_only: false,
        status: TransactionStatus::Idle,
    };
}

/// Rows of the statements that one ReadyForQuery acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCount {
    pub command: RowCommand,
    /// Sum of the rows of all statements.
    pub rows: u64,
}

/// Command whose tag has a number of rows.
///
/// Source: PostgreSQL manual, "Message Formats", CommandComplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCommand {
    /// SELECT or CREATE TABLE AS.
    Select,
    Insert,
    Update,
    Delete,
    Merge,
    Copy,
    /// FETCH or MOVE.
    Cursor,
    /// Several statements with different commands.
    Mixed,
}

impl RowCount {
    /// Parses the row count of a command tag without its NUL; `None` if the tag has no number.
    #[inline]
    pub fn from_tag(tag: &[u8]) -> Option<RowCount> {
        let digits = tag.iter().rev().take_while(|it| it.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        let (name, number) = tag.split_at(tag.len() - digits);
        let command = match name {
            b"SELECT " => RowCommand::Select,
            b"UPDATE " => RowCommand::Update,
            b"DELETE " => RowCommand::Delete,
            b"MERGE " => RowCommand::Merge,
            b"COPY " => RowCommand::Copy,
            b"FETCH " | b"MOVE " => RowCommand::Cursor,
            // The first number is an object ID, which has always been 0 since PostgreSQL 12.
            _ if name.starts_with(b"INSERT ") => RowCommand::Insert,
            _ => return None,
        };
        let digit = |sum: u64, it: &u8| sum.saturating_mul(10).saturating_add(u64::from(it - b'0'));
        Some(RowCount { command, rows: number.iter().fold(0, digit) })
    }

    /// Row count of two statements together.
    #[inline]
    pub(super) fn sum(one: Option<RowCount>, other: Option<RowCount>) -> Option<RowCount> {
        let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
        let command = if one.command == other.command { one.command } else { RowCommand::Mixed };
        Some(RowCount { command, rows: one.rows.saturating_add(other.rows) })
    }
}

/// Transaction status that ReadyForQuery reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    Idle,
    InTransaction,
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_row_counts_of_command_tags() {
        use RowCommand::*;
        for (tag, expected) in [
            ("SELECT 0", Some((Select, 0))),
            ("SELECT 12", Some((Select, 12))),
            ("INSERT 0 1", Some((Insert, 1))),
            ("INSERT 16999 1", Some((Insert, 1))),
            ("UPDATE 18446744073709551615", Some((Update, u64::MAX))),
            ("UPDATE 99999999999999999999", Some((Update, u64::MAX))),
            ("DELETE 3", Some((Delete, 3))),
            ("MERGE 4", Some((Merge, 4))),
            ("COPY 5", Some((Copy, 5))),
            ("FETCH 6", Some((Cursor, 6))),
            ("MOVE 7", Some((Cursor, 7))),
            ("BEGIN", None),
            ("CREATE TABLE", None),
            ("SELECT", None),
            ("SELECT ", None),
            ("PGPOOL2", None),
            ("5", None),
            ("", None),
        ] {
            let found = RowCount::from_tag(tag.as_bytes()).map(|it| (it.command, it.rows));
            assert_eq!(found, expected, "{tag:?}");
        }
    }
}
