//! State of one client

use crate::random::Prng;
use crate::script::{Slot, Variables};
use model::{Code, Nanos};
use std::collections::VecDeque;
use wire::pg::{Channel, Encryption, TransactionStatus};

/// Client that runs scripts: one transaction at a time, over one connection at a time.
#[derive(Debug)]
pub(super) struct Client {
    /// Active session. With two endpoints, the client's other session is parked.
    pub session: Session,
    /// Endpoint of the active session: 0 or 1.
    pub endpoint: u8,
    pub state: ClientState,
    /// True if the client is in the list of idle clients or in the queue of runnable clients.
    pub queued: bool,
    /// True if the client was connected or refused at least once, and has tried to execute the script for its start.
    pub settled: bool,
    /// True if the client has executed the script for its start, or there is none.
    pub has_started: bool,
    /// True while the client waits only because the server refused its connection.
    pub backing_off: bool,
    /// Text of the last error; `None` if the error will not be reported.
    pub error_text: Option<Box<str>>,

    /// Command line of `\shell`.
    pub shell_line: String,
    pub variables: Variables,
    pub rng: Prng,
    /// Sequence number of the key for the client's next ledger write.
    pub sequence: u64,
    /// Number of transactions that the client has started.
    pub transactions_started: u64,
    /// Earliest start of the next transaction in a closed model.
    pub earliest_start: Nanos,
    /// True if the user leaves as soon as the transaction has ended.
    pub leaving: bool,
    /// True if the client aborts as soon as its session has ended.
    pub aborting: bool,
    /// Deadline of the current timer; older heap entries are stale.
    pub timer_deadline: Nanos,
    pub tx: Option<Transaction>,
    /// Variables for the columns of the awaited result, which `\gset` or `\aset` stores.
    pub columns: Vec<Option<Slot>>,
    /// Number of rows of the current statement.
    pub rows: u32,
    pub last_rows: u32,
}

/// Session with PostgreSQL, or with the pooler or balancer in front of it.
#[derive(Debug)]
pub(super) struct Session {
    pub channel: Channel,
    /// Pending actions for the driver: bits of the module `todo`.
    pub pending_actions: u8,
    /// True if the transport is open or being opened.
    pub connected: bool,
    /// State of the shutdown; `None` unless the session is being shut down.
    pub shutdown: Option<SessionShutdown>,
    /// Index of the endpoint's host to which the session is connected or connecting.
    pub host: u16,
    /// Number of hosts that have refused the session since the last retry delay.
    pub tried: u16,
    /// Number of failed logins since the last successful login, which determines the next retry delay.
    pub refusals: u32,
    /// Encryption to try next, without delay, if `sslmode` permits both TLS and plain connections.
    pub attempt: Option<Encryption>,
    /// Start of the current login.
    pub connecting_since: Nanos,
    /// Bytes received since the last request.
    pub received: u64,
    /// Code of a FATAL error before the connection broke.
    pub fatal_code: Option<Code>,
    /// True for each prepared statement that this connection has prepared.
    pub prepared: Box<[bool]>,
    /// Numbers of statements whose Parse was sent and not yet answered, each with the number of its Sync.
    pub parsing: VecDeque<(u16, u16)>,
}

/// State of a session that is being ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionShutdown {
    pub since: Nanos,
    /// Number of ReadyForQuery messages still expected.
    pub pending_ready: u16,
    /// True if the client's current statement may be cancelled.
    pub cancellable: bool,
    /// True if a cancel request was sent for the current statement.
    pub cancel_sent: bool,
    /// True if received bytes are ignored.
    pub discards_input: bool,
    /// True if Terminate was sent.
    pub finished: bool,
}

/// Transaction of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    pub script: u16,
    /// Row of the feed that the transaction drew.
    pub row: Option<u64>,
    /// Index of the current command, or of the next one.
    pub command: u16,
    pub intended: Nanos,
    pub started: Nanos,
    pub command_started: Nanos,
    /// Sum of the pauses before requests.
    pub paused: Nanos,
    /// Bytes of the SQL requests of the current command.
    pub sent: u64,
    pub tries: u16,
    /// True if at least one request of the transaction was sent.
    pub sent_request: bool,
    pub in_pipeline: bool,
    /// Number of ReadyForQuery messages still expected.
    pub pending_ready: u16,
    /// Number of ReadyForQuery messages received.
    pub received_ready: u16,
    /// First error of the transaction.
    pub error: Option<Code>,
    /// True if the transaction may have had an effect despite the error.
    pub unknown: bool,
    /// True if a statement succeeded outside of a transaction block. Its effect is permanent, even if the transaction
    /// fails later.
    pub settled: bool,
    /// True if the server stopped waiting for standbys, so that the commit may exist on one server only.
    pub local_only: bool,
    pub status: TransactionStatus,
    /// State of the client's random number generator at the transaction's start, restored by a retry.
    pub rng: Prng,
}

impl Transaction {
    /// Transaction that begins at `now` and has sent nothing.
    #[inline]
    pub fn new(script: u16, intended: Nanos, now: Nanos, rng: Prng) -> Transaction {
        Transaction {
            script,
            row: None,
            command: 0,
            intended,
            started: now,
            command_started: now,
            paused: Nanos::ZERO,
            sent: 0,
            tries: 1,
            sent_request: false,
            in_pipeline: false,
            pending_ready: 0,
            received_ready: 0,
            error: None,
            unknown: false,
            settled: false,
            local_only: false,
            status: TransactionStatus::Idle,
            rng,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientState {
    /// User who has not joined yet, or has left.
    Absent,
    /// Client without a connection. It connects when its timer expires or its turn in the queue comes.
    Offline,
    Connecting,
    LoggingIn,
    /// Client that waits until the server has closed the session whose statement was given up.
    ClosingSession,
    /// Client that is ready for a transaction or waits for its turn. If each transaction opens its own connection, the
    /// client has no connection.
    Idle,
    /// Client that waits between two transactions (think time or pacing).
    Thinking,
    /// Client that awaits a ReadyForQuery.
    AwaitingReady,
    /// Client that awaits the response of an HTTP service.
    AwaitingHttp,
    /// Client that awaits the end of a ROLLBACK after an error.
    RollingBack,
    /// Client that executes `\sleep`.
    Sleeping,
    /// Client that pauses between two requests of a transaction.
    Pausing,
    /// Client that executes `\shell` or `\setshell`.
    RunningShell,
    Finished,
    Aborted,
}

/// Bits of `Session::pending_actions`, in the order in which the driver receives them.
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

impl Session {
    /// Queues a request, and returns its number of bytes.
    #[inline]
    pub fn request(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let unsent = self.channel.outgoing().len();
        self.channel.request(write);
        (self.channel.outgoing().len() - unsent) as u64
    }
}

impl Client {
    pub fn is_over(&self) -> bool {
        matches!(self.state, ClientState::Finished | ClientState::Aborted)
    }
}
