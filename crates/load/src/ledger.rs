//! How does what came of each write leave its thread, at once and without a lock?
//!
//! Each thread has a [`Tap`]: a ring of fixed-size records, filled by it and emptied by whoever keeps the ledger, through the
//! [`Drain`] of all taps. A place is free again only when what stood in it has been written; so the thread also learns
//! from it which sequences are safe to use.

use crate::script::{Program, Slot};
use model::durability::{Attempt, Entry, Key, Outcome, Server, ServerId};
use model::{ClientId, Code, Nanos};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

/// A script whose transactions are writes with a key, acknowledged by the answer to its last command.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// Holds the write's [`Token`](model::durability::Token), a new one each time that the script begins; in SQL, a value
    /// wherever a value may stand, whichever the query mode. The session is the client's number.
    pub token: Slot,
    /// Where the script keeps [`IDENTITY`], as the statement that writes returned it.
    pub server: Option<Slot>,
}

impl Keyed {
    /// Names of its variables, to be known to whoever compiles such a script.
    pub const VARIABLES: [&str; 2] = ["token", "server"];

    /// In a program that was compiled with [`Keyed::VARIABLES`]; else `None`.
    pub fn of(program: &Program) -> Option<Keyed> {
        let [token, server] = Keyed::VARIABLES.map(|it| program.slot(it));
        token.map(|token| Keyed { token, server })
    }
}

/// An SQL expression in which a server tells who it is, to be returned by the statement that writes: over a pooler or a
/// balancer the next statement may reach another one.
pub const IDENTITY: &str = "(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint \
    || '|' || ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int \
    || '|' || coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port')";

/// What the ledger is told, from what the client met. `sent`: at least one request left; `settled`: a statement before
/// the last one was answered well, outside of a transaction block; `local`: with the warning of a wait given up.
pub(crate) fn outcome(of: model::Outcome, sent: bool, settled: bool, local: bool) -> Option<Outcome> {
    // Refused for certain: by the server, which says so of a transaction that it rolled back.
    let certain = |code| match code {
        // Whether it was completed is not known; what a client says of itself is no server's word.
        Code::SqlState(state) => !matches!(&state, b"40003" | b"08007" | b"38000") && !settled,
        // A service may have written before it failed.
        Code::Http(_) | Code::Net(_) | Code::TextNotFound | Code::CaptureNotFound => false,
    };
    match of {
        model::Outcome::Ok if local => Some(Outcome::AcknowledgedLocally),
        model::Outcome::Ok => Some(Outcome::Acknowledged),
        model::Outcome::Failed(code) if certain(code) => Some(Outcome::Failed(code)),
        model::Outcome::Failed(code) | model::Outcome::Unknown(code) if !sent => Some(Outcome::Failed(code)),
        model::Outcome::Failed(code) | model::Outcome::Unknown(code) => Some(Outcome::Unknown(code)),
        model::Outcome::Dropped => None,
    }
}

/// Records that may be under way from one thread.
const PLACES: u64 = 1 << 16;
/// Sequences that are reserved at once.
pub const BLOCK: u64 = 1024;

const WORDS: usize = 5;

#[derive(Debug)]
struct Ring {
    places: Box<[[AtomicU64; WORDS]]>,
    /// Records that were put in, and of those the ones that were written.
    filled: AtomicU64,
    written: AtomicU64,
}

/// One thread's end. Fills the ring; where that is full, waits for who empties it: a ledger with holes would be worse than
/// a late generator, which is noticed.
#[derive(Debug)]
pub struct Tap {
    ring: Arc<Ring>,
    filled: u64,
    /// `filled` may grow up to it without looking.
    free: u64,
    /// By client of this thread.
    reserved: Vec<Reserved>,
    first: u32,
    /// Told after each writing.
    wake: Receiver<()>,
    servers: Arc<Servers>,
    /// What servers said of themselves, the last first.
    known: Vec<(Box<[u8]>, ServerId)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reserved {
    /// Sequences below are reserved.
    until: u64,
    /// Those below are, and it is written.
    safe: u64,
    /// `filled` after the last reservation.
    at: u64,
}

/// All that were met.
#[derive(Debug)]
struct Servers {
    system: u64,
    met: Mutex<Vec<Server>>,
}

/// The other end of all taps.
#[derive(Debug)]
pub struct Drain {
    /// With the number of records that were taken, and where their threads are woken.
    rings: Vec<(Arc<Ring>, u64, SyncSender<()>)>,
    servers: Arc<Servers>,
    /// Servers that were told.
    told: usize,
}

/// A tap for each thread, whose first client and number of clients are given. `system` is the `system_identifier` of the
/// servers.
pub fn taps(threads: &[(u32, u32)], system: u64) -> (Vec<Tap>, Drain) {
    let servers = Arc::new(Servers { system, met: Mutex::new(Vec::new()) });
    let mut rings = Vec::new();
    let tap = |&(first, clients): &(u32, u32)| {
        let (wakes, wake) = sync_channel(1);
        let places = (0..PLACES).map(|_| std::array::from_fn(|_| AtomicU64::new(0))).collect();
        let ring = Arc::new(Ring { places, filled: AtomicU64::new(0), written: AtomicU64::new(0) });
        rings.push((ring.clone(), 0, wakes));
        let (reserved, known) = (vec![Reserved::default(); clients as usize], Vec::new());
        Tap { ring, filled: 0, free: PLACES, reserved, first, wake, servers: servers.clone(), known }
    };
    let taps = threads.iter().map(tap).collect();
    (taps, Drain { rings, servers, told: 0 })
}

impl Tap {
    /// Reserves for every client, before the window: nobody has to wait for it later.
    pub fn prepare(&mut self) {
        for client in 0..self.reserved.len() as u32 {
            if self.reserved[client as usize].until == 0 {
                self.extend(client);
            }
        }
    }

    /// The client is about to use a sequence, which is reserved and written when this returns.
    #[inline]
    pub fn reserve(&mut self, client: ClientId, sequence: u64) {
        let of = client.0 - self.first;
        let it = self.reserved[of as usize];
        if sequence + BLOCK / 2 >= it.until {
            self.extend(of);
        }
        if sequence >= it.safe {
            self.settle(of, sequence);
        }
    }

    /// What came of a write; `server`: [`IDENTITY`] as the server told it, empty where it did not.
    #[inline]
    pub fn wrote(&mut self, it: &Attempt, server: &[u8]) {
        let (outcome, code) = match it.outcome {
            Outcome::Acknowledged => (1, 0),
            Outcome::AcknowledgedLocally => (2, 0),
            Outcome::Failed(code) => (3, pack(code)),
            Outcome::Unknown(code) => (4, pack(code)),
        };
        let server = self.server(server).unwrap_or(NOBODY);
        let who = u64::from(it.key.session) | u64::from(it.number) << 32 | u64::from(server.0) << 48;
        self.push([who, it.key.sequence, it.invoked.0, it.ended.0, outcome | code << 8]);
    }

    fn extend(&mut self, client: u32) {
        let until = self.reserved[client as usize].until + BLOCK;
        self.push([u64::from(self.first + client), until, 0, 0, 0]);
        let it = &mut self.reserved[client as usize];
        (it.until, it.at) = (until, self.filled);
    }

    /// What was reserved last is safe once it is written; until then, what was reserved before it.
    #[cold]
    fn settle(&mut self, client: u32, sequence: u64) {
        let it = self.reserved[client as usize];
        debug_assert!(sequence < it.until, "sequences are used one after the other");
        self.wait(|written| written >= it.at);
        self.reserved[client as usize].safe = it.until;
    }

    #[inline]
    fn push(&mut self, words: [u64; WORDS]) {
        if self.filled == self.free {
            self.free = self.wait({
                let filled = self.filled;
                move |written| written + PLACES > filled
            }) + PLACES;
        }
        let place = &self.ring.places[(self.filled % PLACES) as usize];
        for (to, it) in place.iter().zip(words) {
            to.store(it, Ordering::Relaxed);
        }
        self.filled += 1;
        self.ring.filled.store(self.filled, Ordering::Release);
    }

    /// Until so many were written that it is `enough`; with nobody left to write, until nothing.
    fn wait(&self, enough: impl Fn(u64) -> bool) -> u64 {
        loop {
            let written = self.ring.written.load(Ordering::Acquire);
            if enough(written) {
                return written;
            }
            if self.wake.recv().is_err() {
                return u64::MAX - PLACES;
            }
        }
    }

    #[inline]
    fn server(&mut self, told: &[u8]) -> Option<ServerId> {
        match self.known.first() {
            _ if told.is_empty() => None,
            Some((known, id)) if **known == *told => Some(*id),
            _ => self.another(told),
        }
    }

    /// Not the one before: after a failover, or where several are asked.
    #[cold]
    fn another(&mut self, told: &[u8]) -> Option<ServerId> {
        if let Some(at) = self.known.iter().position(|it| *it.0 == *told) {
            self.known.swap(0, at);
            return Some(self.known[0].1);
        }
        let id = self.servers.meet(read(told, self.servers.system)?);
        self.known.insert(0, (told.into(), id));
        Some(id)
    }
}

impl Servers {
    fn meet(&self, server: Server) -> ServerId {
        let mut met = self.met.lock().expect("who holds it does not panic");
        let known = met.iter().position(|it| *it == server);
        if known.is_none() {
            met.push(server);
        }
        ServerId(known.unwrap_or(met.len() - 1) as u16)
    }
}

impl Drain {
    /// Appends what came since the last call; of each thread in its order.
    pub fn take(&mut self, to: &mut Vec<Entry>) {
        // First how far, then who: a server is known before its first record is put in.
        let filled: Vec<u64> = self.rings.iter().map(|it| it.0.filled.load(Ordering::Acquire)).collect();
        {
            let met = self.servers.met.lock().expect("who holds it does not panic");
            let new = met.iter().enumerate().skip(self.told);
            to.extend(new.map(|(id, server)| Entry::Server(ServerId(id as u16), server.clone())));
            self.told = met.len();
        }
        for ((ring, taken, _), filled) in self.rings.iter_mut().zip(filled) {
            for number in *taken..filled {
                let place = &ring.places[(number % PLACES) as usize];
                to.push(entry(std::array::from_fn(|word| place[word].load(Ordering::Relaxed))));
            }
            *taken = filled;
        }
    }

    /// Everything that was taken has been written.
    pub fn written(&mut self) {
        for (ring, taken, wakes) in &self.rings {
            ring.written.store(*taken, Ordering::Release);
            // Where one is waiting to be seen already, that is enough.
            let _ = wakes.try_send(());
        }
    }
}

const NOBODY: ServerId = ServerId(u16::MAX);

fn entry([who, number, invoked, ended, what]: [u64; WORDS]) -> Entry {
    let session = who as u32;
    let code = || unpack(what >> 8);
    let outcome = match what & 0xff {
        0 => return Entry::Reserved { session, until: number },
        1 => Outcome::Acknowledged,
        2 => Outcome::AcknowledgedLocally,
        3 => Outcome::Failed(code()),
        _ => Outcome::Unknown(code()),
    };
    let server = Some(ServerId((who >> 48) as u16)).filter(|it| *it != NOBODY);
    let key = Key { session, sequence: number };
    let (invoked, ended) = (Nanos(invoked), Nanos(ended));
    Entry::Ended(Attempt { key, number: (who >> 32) as u16, outcome, invoked, ended, server })
}

/// Six bytes.
fn pack(code: Code) -> u64 {
    match code {
        Code::SqlState([a, b, c, d, e]) => u64::from_le_bytes([0, a, b, c, d, e, 0, 0]),
        Code::Http(it) => 1 | u64::from(it) << 8,
        Code::Net(it) => 2 | u64::from(it) << 8,
        Code::TextNotFound => 3,
        Code::CaptureNotFound => 4,
    }
}

fn unpack(it: u64) -> Code {
    let [kind, a, b, c, d, e, ..] = it.to_le_bytes();
    match kind {
        0 => Code::SqlState([a, b, c, d, e]),
        1 => Code::Http((it >> 8) as u16),
        3 => Code::TextNotFound,
        4 => Code::CaptureNotFound,
        _ => Code::Net((it >> 8) as u16),
    }
}

/// `started|timeline|address`.
fn read(told: &[u8], system: u64) -> Option<Server> {
    let mut parts = std::str::from_utf8(told).ok()?.splitn(3, '|');
    let (started_us, timeline) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Server { system, address: parts.next()?.to_owned(), started_us, timeline })
}

#[cfg(test)]
mod tests;
