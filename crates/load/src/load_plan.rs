//! Description of a load before it is compiled

use crate::random::Prng;
use crate::script::{Mode, Program, Slot};
use model::{Nanos, Schedule};

/// Description of a load, which [`Workload::new`](crate::Workload::new) compiles.
#[derive(Debug)]
pub struct LoadPlan {
    pub program: Program,
    pub mode: Mode,
    pub schedule: Schedule,
    /// Time for which transactions are started. If `None`, transactions are started until `transactions` are done or
    /// the schedule ends.
    pub duration: Option<Nanos>,
    /// Number of transactions per client; `None` means no limit.
    pub transactions: Option<u64>,
    /// Number of clients of all threads, at least 1.
    pub clients: u32,
    /// Number of threads, at least 1 and at most `clients`.
    pub threads: u16,
    /// Maximum number of attempts per transaction after serialization failures and deadlocks; 0 means unlimited.
    pub max_tries: u16,
    /// Latency limit. Arrivals that are not sent within the limit are dropped, and failed transactions are not retried
    /// after the limit.
    pub latency_limit: Option<Nanos>,
    /// Maximum number of arrivals in the backlogs of all threads together. Further arrivals are dropped.
    pub backlog_max: u32,
    /// Time after the end of `duration` for transactions in flight and in the backlog.
    pub drain: Nanos,
    /// True if each transaction opens a new connection.
    pub reconnect: bool,
    /// Maximum number of concurrent logins over all threads, at least 1.
    pub connecting_max: u32,
    /// Timeout of a login.
    pub connect_timeout: Nanos,
    /// Time limit for a transaction. It begins when the transaction is sent, or with the login if the transaction
    /// opens a connection.
    ///
    /// When the limit is exceeded, the outcome is Unknown (the transaction may have had an effect) and the connection
    /// is closed. The limit is checked at intervals of a tenth of the limit, but at least every 100 ms.
    pub timeout: Option<Nanos>,
    /// `None` lets a client that times out wait until the server has ended its session. Otherwise the client disconnects
    /// at once, as users do. After this number of timeouts without a success, only one arrival per second is sent, and
    /// the others are dropped: the server may keep the abandoned sessions and have no connection left for others.
    pub abandon_max: Option<u32>,
    /// True if every failed transaction is reported, instead of only the first failure with each code.
    pub verbose: bool,
    /// True if every step of a client is reported. This is slow.
    pub reports_steps: bool,
    /// Commands that are measured individually.
    pub measured: MeasuredCommands,
    pub seeds: RngSeeds,
}

/// Commands that are measured individually, in addition to their scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasuredCommands {
    #[default]
    None,
    /// Commands that send a request, see [`step_names`](crate::script::step_names).
    Steps,
    All,
}

/// Seeds and generators of all random numbers.
#[derive(Clone, Debug)]
pub struct RngSeeds {
    /// Generators of the functions `random…`, by client.
    pub clients: Vec<Prng>,
    /// Generators that choose scripts, by thread.
    pub script_rngs: Vec<Prng>,
    /// Seed of the Poisson arrivals, which are the same for every number of threads.
    pub arrivals: u64,
    /// Seed for nonces and for the random part of retry delays, which do not affect results.
    pub other: u64,
    /// Variables of every client and their initial values, by slot.
    pub variables: Vec<(Slot, InitialValue)>,
}

/// Initial value of a variable.
#[derive(Clone, Debug)]
pub enum InitialValue {
    Text(String),
    Int(i64),
    /// Number of the client as the value.
    Client,
}
