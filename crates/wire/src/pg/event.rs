//! Events and replies of a PostgreSQL connection.

use super::{Columns, Notice, Row};
use crate::Code;

/// Meaning of a prefix of the server's bytes.
#[derive(Debug)]
pub enum Event<'a> {
    /// All input is consumed; more is needed.
    More,
    /// Login is complete and the session is idle.
    Opened,
    /// Columns of the rows that follow. Only if watched, see `Channel::set_watched`.
    Columns(Columns<'a>),
    /// One row. Only if watched.
    Row(Row<'a>),
    /// End of one statement, with its command tag such as `SELECT 1`. Only if watched.
    CommandComplete(&'a [u8]),
    /// Server expects COPY data.
    CopyIn,
    /// Piece of COPY data; PostgreSQL sends each row separately. Only if watched.
    CopyData(&'a [u8]),
    /// ErrorResponse. During login or with severity FATAL or PANIC, the session is over; otherwise `Ready` follows.
    Error(Notice<'a>),
    /// NoticeResponse.
    Notice(Notice<'a>),
    /// ReadyForQuery: acknowledges everything up to one Sync (or one simple query).
    Ready(Reply),
}

/// Result of the requests that one ReadyForQuery acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// SQLSTATE of the first ErrorResponse before it, if any.
    pub error: Option<Code>,
    /// Number of DataRow messages.
    pub rows: u32,
    /// Number of ParseComplete messages, so of newly prepared statements.
    pub parsed: u16,
    /// Number of completed statements (CommandComplete, EmptyQueryResponse, PortalSuspended).
    pub statements: u16,
    /// True if a statement had the tag `ROLLBACK`. For a COMMIT this is a failure without an error.
    pub rolled_back: bool,
    /// True after a warning from `SyncRepWaitForLSN`: the commit is only on this server.
    pub local_only: bool,
    pub status: TransactionStatus,
}

impl Reply {
    /// Reply without any message.
    pub(super) const EMPTY: Reply = Reply {
        error: None,
        rows: 0,
        parsed: 0,
        statements: 0,
        rolled_back: false,
        local_only: false,
        status: TransactionStatus::Idle,
    };
}

/// Transaction status of ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    Idle,
    InTransaction,
    Failed,
}
