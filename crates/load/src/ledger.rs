//! Lock-free queue for write outcomes from the generator's threads to the ledger
//!
//! Each thread has a [`LedgerProducer`] with a ring of fixed-size records. The thread fills the ring, and the writer of
//! the ledger empties all rings through one [`LedgerConsumer`]. A slot of the ring becomes free only after its record
//! was written to the ledger file. The number of free slots therefore also shows which reservations are written.

use crate::script::{Program, Slot};
use model::durability::{LedgerEntry, ServerId, ServerInstance, WriteAttempt, WriteKey, WriteOutcome};
use model::{ClientId, Code, Nanos};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

/// Variables of a script whose transactions are writes with a key. The response to the script's last command
/// acknowledges the write.
#[derive(Clone, Copy, Debug)]
pub struct KeyedScript {
    /// Variable that holds the write's [`Token`](model::durability::Token), a new one for each transaction.
    ///
    /// SQL may contain the variable wherever a value is allowed, in every query mode. The token's session is the
    /// client's number.
    pub token: Slot,
    /// Variable in which the script stores the value of [`SERVER_IDENTITY_SQL`] that the writing statement returned.
    pub server: Option<Slot>,
}

impl KeyedScript {
    /// Names of the variables, which must be passed to the compiler of such a script.
    pub const VARIABLE_NAMES: [&str; 2] = ["token", "server"];

    /// Slots of the variables in `program`; `None` unless the program was compiled with
    /// [`KeyedScript::VARIABLE_NAMES`].
    pub fn from_program(program: &Program) -> Option<KeyedScript> {
        let [token, server] = KeyedScript::VARIABLE_NAMES.map(|it| program.slot(it));
        token.map(|token| KeyedScript { token, server })
    }
}

/// SQL expression that returns the identity of a server.
///
/// The writing statement itself must return it, because behind a pooler or balancer the next statement may reach
/// another server.
pub const SERVER_IDENTITY_SQL: &str = "(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint \
    || '|' || ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int \
    || '|' || coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port')";

/// Converts the outcome of a transaction to the outcome of its write. Returns `None` if the ledger needs no record.
///
/// `sent` is true if at least one request was sent. `settled` is true if an earlier statement succeeded outside of a
/// transaction block. `local` is true if the server warned that it no longer waited for a standby.
pub(crate) fn write_outcome(
    transaction: model::Outcome,
    sent: bool,
    settled: bool,
    local: bool,
) -> Option<WriteOutcome> {
    // True if the write certainly failed: the code means that the server rolled back the transaction.
    let certain = |code| match code {
        // The client itself reports 38000.
        Code::SqlState(state) => {
            state != *b"38000"
                && !settled
                && matches!(WriteOutcome::from_error(state), WriteOutcome::Failed(_))
        }
        // A service may have written before it failed.
        Code::Http(_) | Code::Net(_) | Code::TextNotFound | Code::TextFound | Code::CaptureNotFound => false,
    };
    match transaction {
        model::Outcome::Ok if local => Some(WriteOutcome::AcknowledgedLocally),
        model::Outcome::Ok => Some(WriteOutcome::Acknowledged),
        model::Outcome::Failed(code) if certain(code) => Some(WriteOutcome::Failed(code)),
        model::Outcome::Failed(code) | model::Outcome::Unknown(code) if !sent => {
            Some(WriteOutcome::Failed(code))
        }
        model::Outcome::Failed(code) | model::Outcome::Unknown(code) => Some(WriteOutcome::Unknown(code)),
        model::Outcome::Dropped => None,
    }
}

/// Capacity of the ring of one thread, in records.
const RING_CAPACITY: u64 = 1 << 16;
/// Number of sequence numbers per reservation.
pub const RESERVATION_SIZE: u64 = 1024;

const WORDS_PER_RECORD: usize = 5;

#[derive(Debug)]
struct Ring {
    records: Box<[[AtomicU64; WORDS_PER_RECORD]]>,
    /// Number of pushed records; `written` is the number of written records.
    filled: AtomicU64,
    written: AtomicU64,
}

/// Producer of the records of one thread.
///
/// If the ring is full, the producer waits for the consumer. A gap in the ledger would be worse than a late generator,
/// which is detected.
#[derive(Debug)]
pub struct LedgerProducer {
    ring: Arc<Ring>,
    filled: u64,
    /// Limit up to which `filled` may grow before `written` must be read again.
    free: u64,
    /// Reservations by client of this thread.
    reserved: Vec<Reservation>,
    first: u32,
    /// Channel that carries a signal after each write.
    wake: Receiver<()>,
    servers: Arc<ServerTable>,
    /// Identities that servers returned, most recent first.
    server_ids: Vec<(Box<[u8]>, ServerId)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reservation {
    /// Upper bound (exclusive) of the reserved sequence numbers.
    until: u64,
    /// Upper bound (exclusive) of the sequence numbers whose reservation is written.
    safe: u64,
    /// Value of `filled` after the last reservation.
    filled_at: u64,
}

/// Table of all servers whose identity was returned.
#[derive(Debug)]
struct ServerTable {
    system: u64,
    servers: Mutex<Vec<ServerInstance>>,
}

/// Consumer of the records of all threads.
#[derive(Debug)]
pub struct LedgerConsumer {
    /// Rings, each with the number of taken records and the channel that wakes the ring's thread.
    rings: Vec<(Arc<Ring>, u64, SyncSender<()>)>,
    servers: Arc<ServerTable>,
    /// Number of servers already reported.
    reported_servers: usize,
}

/// Producers, one per thread, and their consumer.
///
/// `threads` has the first client and the number of clients of each thread. `system` is the servers'
/// `system_identifier`.
pub fn ledger_channel(threads: &[(u32, u32)], system: u64) -> (Vec<LedgerProducer>, LedgerConsumer) {
    let servers = Arc::new(ServerTable { system, servers: Mutex::new(Vec::new()) });
    let mut rings = Vec::new();
    let tap = |&(first, clients): &(u32, u32)| {
        let (wakes, wake) = sync_channel(1);
        let places = (0..RING_CAPACITY).map(|_| std::array::from_fn(|_| AtomicU64::new(0))).collect();
        let ring = Arc::new(Ring { records: places, filled: AtomicU64::new(0), written: AtomicU64::new(0) });
        rings.push((ring.clone(), 0, wakes));
        let (reserved, known) = (vec![Reservation::default(); clients as usize], Vec::new());
        LedgerProducer {
            ring,
            filled: 0,
            free: RING_CAPACITY,
            reserved,
            first,
            wake,
            servers: servers.clone(),
            server_ids: known,
        }
    };
    let taps = threads.iter().map(tap).collect();
    (taps, LedgerConsumer { rings, servers, reported_servers: 0 })
}

impl LedgerProducer {
    /// Reserves sequence numbers for every client before the window, so that no client waits for its first reservation.
    pub fn prepare(&mut self) {
        for client in 0..self.reserved.len() as u32 {
            if self.reserved[client as usize].until == 0 {
                self.extend(client);
            }
        }
    }

    /// Reserves a sequence number. The reservation is written when the function returns.
    #[inline]
    pub fn reserve(&mut self, client: ClientId, sequence: u64) {
        let index = client.0 - self.first;
        let reservation = self.reserved[index as usize];
        if sequence + RESERVATION_SIZE / 2 >= reservation.until {
            self.extend(index);
        }
        if sequence >= reservation.safe {
            self.settle(index, sequence);
        }
    }

    /// Pushes the outcome of a write. `server` is the returned value of [`SERVER_IDENTITY_SQL`], or empty.
    #[inline]
    pub fn push_attempt(&mut self, attempt: &WriteAttempt, server: &[u8]) {
        let (outcome, code) = match attempt.outcome {
            WriteOutcome::Acknowledged => (1, 0),
            WriteOutcome::AcknowledgedLocally => (2, 0),
            WriteOutcome::Failed(code) => (3, encode_code(code)),
            WriteOutcome::Unknown(code) => (4, encode_code(code)),
        };
        let server = self.server_id(server).unwrap_or(NO_SERVER);
        let ids =
            u64::from(attempt.key.session) | u64::from(attempt.number) << 32 | u64::from(server.0) << 48;
        self.push([ids, attempt.key.sequence, attempt.invoked.0, attempt.ended.0, outcome | code << 8]);
    }

    fn extend(&mut self, client: u32) {
        let until = self.reserved[client as usize].until + RESERVATION_SIZE;
        self.push([u64::from(self.first + client), until, 0, 0, 0]);
        let reservation = &mut self.reserved[client as usize];
        (reservation.until, reservation.filled_at) = (until, self.filled);
    }

    /// Waits until the last reservation is written, and marks it as safe.
    #[cold]
    fn settle(&mut self, client: u32, sequence: u64) {
        let reservation = self.reserved[client as usize];
        debug_assert!(sequence < reservation.until, "sequences are used in order");
        self.wait(|written| written >= reservation.filled_at);
        self.reserved[client as usize].safe = reservation.until;
    }

    #[inline]
    fn push(&mut self, words: [u64; WORDS_PER_RECORD]) {
        if self.filled == self.free {
            self.free = self.wait({
                let filled = self.filled;
                move |written| written + RING_CAPACITY > filled
            }) + RING_CAPACITY;
        }
        let place = &self.ring.records[(self.filled % RING_CAPACITY) as usize];
        for (to, word) in place.iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
        self.filled += 1;
        self.ring.filled.store(self.filled, Ordering::Release);
    }

    /// Waits until the number of written records satisfies `enough`. Returns at once if the consumer was dropped.
    fn wait(&self, enough: impl Fn(u64) -> bool) -> u64 {
        loop {
            let written = self.ring.written.load(Ordering::Acquire);
            if enough(written) {
                return written;
            }
            if self.wake.recv().is_err() {
                return u64::MAX - RING_CAPACITY;
            }
        }
    }

    #[inline]
    fn server_id(&mut self, identity: &[u8]) -> Option<ServerId> {
        match self.server_ids.first() {
            _ if identity.is_empty() => None,
            Some((known, id)) if **known == *identity => Some(*id),
            _ => self.register_server(identity),
        }
    }

    /// Returns the number of a server that is not the most recent one, for example after a failover or behind a
    /// balancer.
    #[cold]
    fn register_server(&mut self, identity: &[u8]) -> Option<ServerId> {
        if let Some(at) = self.server_ids.iter().position(|it| *it.0 == *identity) {
            self.server_ids.swap(0, at);
            return Some(self.server_ids[0].1);
        }
        let id = self.servers.intern(parse_server(identity, self.servers.system)?);
        self.server_ids.insert(0, (identity.into(), id));
        Some(id)
    }
}

impl ServerTable {
    fn intern(&self, server: ServerInstance) -> ServerId {
        let mut met = self.servers.lock().expect("the lock is not poisoned");
        let known = met.iter().position(|it| *it == server);
        if known.is_none() {
            met.push(server);
        }
        ServerId(known.unwrap_or(met.len() - 1) as u16)
    }
}

impl LedgerConsumer {
    /// Appends the records since the previous call to `to`. Records of one thread keep their order.
    pub fn take(&mut self, to: &mut Vec<LedgerEntry>) {
        // Read the counts before the servers, because a server is registered before its first record is pushed.
        let filled: Vec<u64> = self.rings.iter().map(|it| it.0.filled.load(Ordering::Acquire)).collect();
        {
            let met = self.servers.servers.lock().expect("the lock is not poisoned");
            let new = met.iter().enumerate().skip(self.reported_servers);
            to.extend(new.map(|(id, server)| LedgerEntry::Server(ServerId(id as u16), server.clone())));
            self.reported_servers = met.len();
        }
        for ((ring, taken, _), filled) in self.rings.iter_mut().zip(filled) {
            for number in *taken..filled {
                let place = &ring.records[(number % RING_CAPACITY) as usize];
                to.push(decode_entry(std::array::from_fn(|word| place[word].load(Ordering::Relaxed))));
            }
            *taken = filled;
        }
    }

    /// Marks all taken records as written.
    pub fn mark_written(&mut self) {
        for (ring, taken, wakes) in &self.rings {
            ring.written.store(*taken, Ordering::Release);
            // Ignore a full channel, because one queued signal is enough.
            let _ = wakes.try_send(());
        }
    }
}

const NO_SERVER: ServerId = ServerId(u16::MAX);

fn decode_entry([ids, number, invoked, ended, status]: [u64; WORDS_PER_RECORD]) -> LedgerEntry {
    let session = ids as u32;
    let code = || decode_code(status >> 8);
    let outcome = match status & 0xff {
        0 => return LedgerEntry::Reserved { session, until: number },
        1 => WriteOutcome::Acknowledged,
        2 => WriteOutcome::AcknowledgedLocally,
        3 => WriteOutcome::Failed(code()),
        _ => WriteOutcome::Unknown(code()),
    };
    let server = Some(ServerId((ids >> 48) as u16)).filter(|it| *it != NO_SERVER);
    let key = WriteKey { session, sequence: number };
    let (invoked, ended) = (Nanos(invoked), Nanos(ended));
    LedgerEntry::Completed(WriteAttempt { key, number: (ids >> 32) as u16, outcome, invoked, ended, server })
}

/// Encodes a code in six bytes.
fn encode_code(code: Code) -> u64 {
    match code {
        Code::SqlState([a, b, c, d, e]) => u64::from_le_bytes([0, a, b, c, d, e, 0, 0]),
        Code::Http(it) => 1 | u64::from(it) << 8,
        Code::Net(it) => 2 | u64::from(it) << 8,
        Code::TextNotFound => 3,
        Code::CaptureNotFound => 4,
        Code::TextFound => 5,
    }
}

fn decode_code(encoded: u64) -> Code {
    let [kind, a, b, c, d, e, ..] = encoded.to_le_bytes();
    match kind {
        0 => Code::SqlState([a, b, c, d, e]),
        1 => Code::Http((encoded >> 8) as u16),
        3 => Code::TextNotFound,
        4 => Code::CaptureNotFound,
        5 => Code::TextFound,
        _ => Code::Net((encoded >> 8) as u16),
    }
}

/// Parses a server identity in the format `started|timeline|address`.
fn parse_server(identity: &[u8], system: u64) -> Option<ServerInstance> {
    let mut parts = std::str::from_utf8(identity).ok()?.splitn(3, '|');
    let (started_us, timeline) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(ServerInstance { system, address: parts.next()?.to_owned(), started_us, timeline })
}

#[cfg(test)]
mod tests;
