//! What does one client know?

use super::shutdown::SessionShutdown;
use crate::random::Prng;
use crate::script::{Slot, Variables};
use model::{Code, Nanos};
use std::collections::VecDeque;
use wire::pg::{Channel, Encryption, TransactionStatus};

/// Runs scripts, one transaction at a time, over one connection at a time.
#[derive(Debug)]
pub(super) struct Client {
    /// The one it speaks in; where there are two doors, that of the other is parked.
    pub session: Session,
    /// Whose session that is: 0 or 1.
    pub endpoint: u8,
    pub state: ClientState,
    /// It stands in the list of idle clients, or among those that wait for their turn.
    pub queued: bool,
    /// It was connected, or refused, at least once.
    pub settled: bool,
    /// It pauses because it was refused, and for nothing else.
    pub backing_off: bool,
    /// The words of the last error, where they will be told.
    pub error_text: Option<Box<str>>,

    /// What `\\shell` runs.
    pub shell_line: String,
    pub variables: Variables,
    pub rng: Prng,
    /// The key that its next write will have.
    pub sequence: u64,
    /// Transactions begun, and when the last of them was.
    pub transactions_started: u64,
    pub transaction_start: Nanos,
    /// It is to go as soon as its transaction is over.
    pub leaving: bool,
    /// It does no more once its session has ended.
    pub aborting: bool,
    /// The alarm that counts; earlier ones were for what is over.
    pub timer_deadline: Nanos,
    pub tx: Option<Transaction>,
    /// Variable of each column of the rows that a \gset or \aset awaits.
    pub columns: Vec<Option<Slot>>,
    /// Rows of the statement under way, and of the last that ended.
    pub rows: u32,
    pub last_rows: u32,
}

/// With PostgreSQL, or with what stands before it.
#[derive(Debug)]
pub(super) struct Session {
    pub channel: Channel,
    /// Something for the driver: see the constants of `todo`.
    pub pending_actions: u8,
    /// The transport is open, or about to be.
    pub connected: bool,
    /// It was given up and is to end.
    pub shutdown: Option<SessionShutdown>,
    /// Which of the door's hosts it is with, or tries.
    pub host: u16,
    /// Hosts that have refused it since the last pause.
    pub tried: u16,
    /// Log-ins that failed since the last that did not; sets the pause before the next.
    pub refusals: u32,
    /// In which manner to try at once again, where `sslmode` knows two.
    pub attempt: Option<Encryption>,
    /// When the log-in under way began.
    pub connecting_since: Nanos,
    /// Bytes that came since the last request.
    pub received: u64,
    /// What a FATAL error said before the connection broke.
    pub fatal_code: Option<Code>,
    /// By prepared statement: does this connection have it?
    pub prepared: Box<[bool]>,
    /// Statements sent with a Parse that is not answered, and the number of the Sync after each.
    pub parsing: VecDeque<(u16, u16)>,
}

/// The transaction under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    pub script: u16,
    /// The row that it drew.
    pub row: Option<u64>,
    /// The command that runs, or comes next.
    pub command: u16,
    pub intended: Nanos,
    pub started: Nanos,
    pub command_started: Nanos,
    pub tries: u16,
    /// At least one request of it left.
    pub sent_request: bool,
    pub in_pipeline: bool,
    /// ReadyForQuery messages that are still to come.
    pub pending_ready: u16,
    /// Those that came.
    pub received_ready: u16,
    /// What went wrong first, and how the session stands since the last ReadyForQuery.
    pub error: Option<Code>,
    /// The error may have come after an effect.
    pub unknown: bool,
    /// A statement was answered well outside of a transaction block: its effect stays, whatever comes.
    pub settled: bool,
    /// A wait for standbys was given up: what is committed may be on one server only.
    pub local_only: bool,
    pub status: TransactionStatus,
    /// The client's randomness at its beginning, for another try.
    pub rng: Prng,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientState {
    /// A user who has not come yet, or has left.
    Absent,
    /// Without a connection; a timer or the queue opens one.
    Offline,
    Connecting,
    LoggingIn,
    /// Waits until the server has closed the session that it gave up.
    ClosingSession,
    /// Ready for a transaction, perhaps waiting for its turn. Without a connection where each transaction opens its own.
    Idle,
    /// Between two transactions by its own will.
    Thinking,
    /// Awaits a ReadyForQuery.
    AwaitingReady,
    /// Awaits an HTTP service's answer.
    AwaitingHttp,
    /// Awaits the end of a ROLLBACK after an error.
    RollingBack,
    /// In `\sleep`.
    Sleeping,
    /// In `\shell` or `\setshell`.
    RunningShell,
    Finished,
    Aborted,
}

/// Bits of `Session::todo`, in the order in which the driver is told.
pub(super) mod todo {
    pub const TRANSMIT: u8 = 1;
    pub const FINISH: u8 = 2;
    pub const CLOSE: u8 = 4;
    pub const CONNECT: u8 = 8;
    pub const PROBE: u8 = 16;
    pub const SHELL: u8 = 32;
}

impl Session {
    pub fn new(channel: Channel, statements: usize) -> Session {
        Session {
            channel,
            pending_actions: 0,
            connected: false,
            shutdown: None,
            host: 0,
            tried: 0,
            refusals: 0,
            attempt: None,
            connecting_since: Nanos::ZERO,
            received: 0,
            fatal_code: None,
            prepared: vec![false; statements].into(),
            parsing: VecDeque::new(),
        }
    }
}

impl Client {
    pub fn is_over(&self) -> bool {
        matches!(self.state, ClientState::Finished | ClientState::Aborted)
    }
}
