//! Durability check: writes, promises, read-backs and the verdict.
//!
//! Every write has a [`WriteKey`]. The outcomes of writes are in a *ledger*, as [`LedgerEntry`]s in the order in which
//! they became known. A [`ReadBack`] records the rows that exist afterwards. A [`DurabilityHistory`] records the
//! servers' promises and roles over time. A [`DurabilityVerdict`] depends only on the ledger and the history. Times are
//! readings of the generator's monotonic clock.

use crate::{Code, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod client_outage;
mod token;

pub use client_outage::{AccessKind, ClientKind, ClientOutage};
pub use token::Token;

/// Key of one write within its run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct WriteKey {
    /// Session number from 0; a session has one write in flight at a time.
    pub session: u32,
    /// Sequence number from 0 within the session, without gaps.
    pub sequence: u64,
}

/// Outcome of one attempt to write, as the protocol reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteOutcome {
    /// Acknowledged: ReadyForQuery followed the commit without an error, or the service responded with success.
    Acknowledged,
    /// Acknowledged with the warning that the wait for standbys was cancelled, so the write may exist on this server
    /// only.
    AcknowledgedLocally,
    /// Refused: the write had no effect.
    Failed(Code),
    /// Unknown: the connection broke or timed out after the first byte was sent, so the write may exist.
    Unknown(Code),
}

impl WriteOutcome {
    /// Outcome of a write whose request was sent and was answered with an error.
    ///
    /// PostgreSQL's own errors mean that the transaction was rolled back. Errors of the connection (class 08), of an
    /// operator's intervention (57P) and of the system (class 58) may come from a pooler that lost its server after the
    /// commit. 40003 means that the completion is unknown. Source: PostgreSQL manual, "PostgreSQL Error Codes".
    pub fn from_error(state: [u8; 5]) -> WriteOutcome {
        let code = Code::SqlState(state);
        match &state {
            b"40003" | [b'0' | b'5', b'8', ..] | [b'5', b'7', b'P', ..] => WriteOutcome::Unknown(code),
            _ => WriteOutcome::Failed(code),
        }
    }
}

/// Attempt at one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteAttempt {
    pub key: WriteKey,
    /// Attempt number from 1; retries of the same write have higher numbers.
    pub number: u16,
    pub outcome: WriteOutcome,
    /// Time before the first byte was sent.
    pub invoked: Nanos,
    /// Time at which the outcome became known.
    pub ended: Nanos,
    /// Server that the attempt reached; `None` if unknown, as behind a service.
    pub server: Option<ServerId>,
}

/// Number that identifies a server within a ledger, see [`LedgerEntry::Server`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct ServerId(pub u16);

/// Server process on one timeline, as the server itself reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerInstance {
    /// `system_identifier` of `pg_control_system()`: equal on a primary and its standbys.
    pub system: u64,
    pub address: String,
    /// `pg_postmaster_start_time()` in microseconds of Unix time.
    pub started_us: u64,
    pub timeline: u32,
}

impl ServerInstance {
    /// True for the same server, even after a restart or a promotion. A server may report different addresses to
    /// different clients, but its start time stays the same.
    pub fn is_same_server(&self, other: &ServerInstance) -> bool {
        self.is_same_system(other) && (self.address == other.address || self.started_us == other.started_us)
    }

    /// True unless the two servers certainly belong to different systems. The system identifier 0 is unknown.
    pub fn is_same_system(&self, other: &ServerInstance) -> bool {
        self.system == other.system || self.system == 0 || other.system == 0
    }

    /// True for the same postmaster. The timelines may differ, because a promotion does not restart the postmaster.
    pub fn is_same_process(&self, other: &ServerInstance) -> bool {
        (self.system, self.started_us, &self.address) == (other.system, other.started_us, &other.address)
    }
}

/// Entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerEntry {
    /// Definition of a server number: later entries refer to this server by the `ServerId`.
    Server(ServerId, ServerInstance),
    /// Reservation: the session may use sequence numbers below `until`. The entry is written before the session uses
    /// these numbers.
    Reserved {
        session: u32,
        until: u64,
    },
    Completed(WriteAttempt),
    /// Readings of the monotonic clock and of the wall clock (Unix time in microseconds) at the same time. No verdict
    /// depends on the wall clock.
    Clock {
        at: Nanos,
        wall_us: u64,
    },
    /// Regular end of the load: no entry follows, and no entry is missing.
    Closed,
}

/// State of the end of a ledger file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerEnd {
    /// Complete: the last entry is [`LedgerEntry::Closed`].
    Closed,
    /// Incomplete: the last entry is intact but is not [`LedgerEntry::Closed`], so later outcomes are unknown.
    Open,
    /// Damaged: the ledger ends with this many bytes that are not a valid entry. These bytes are ignored.
    Torn { bytes: u64 },
}

/// Guarantee of a server for the writes that it acknowledges, from the weakest to the strongest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Promise {
    /// No guarantee: `synchronous_commit = off`.
    None,
    /// WAL is flushed to this server's disk.
    Local,
    /// WAL is also written to the operating systems of standbys.
    RemoteWrite(SynchronousStandbys),
    /// WAL is also flushed to the disks of standbys.
    Flush(SynchronousStandbys),
    /// WAL is also flushed and applied on standbys, so that queries there see the write.
    Apply(SynchronousStandbys),
}

impl Promise {
    /// True if acknowledged writes survive the loss of the primary, provided that the right standby is promoted.
    pub fn outlives_primary(&self) -> bool {
        self.outlives_hosts() || matches!(self, Promise::RemoteWrite(_))
    }

    /// True if acknowledged writes also survive a crash of the operating system of a standby at the same time.
    pub fn outlives_hosts(&self) -> bool {
        matches!(self, Promise::Flush(_) | Promise::Apply(_))
    }
}

/// Parsed `synchronous_standby_names`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SynchronousStandbys {
    pub method: SyncMethod,
    /// Number of standbys that must confirm a commit, at least 1.
    pub count: u32,
    /// Names as written, in order; `*` matches every name.
    pub names: Vec<String>,
}

/// Method by which PostgreSQL chooses among the named standbys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SyncMethod {
    /// The first connected standbys of the list: `FIRST n (…)`.
    First,
    /// Any of the listed standbys: `ANY n (…)`.
    Any,
}

/// Promise of a server that is in force from a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromiseChange {
    pub at: Nanos,
    pub server: ServerInstance,
    pub promise: Promise,
}

/// Role of a server at one time, queried on a direct connection without poolers and balancers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSample {
    pub at: Nanos,
    pub server: ServerInstance,
    /// Result of `pg_is_in_recovery()`.
    pub in_recovery: bool,
    /// Setting `fsync` of the server.
    pub fsync: bool,
}

/// Fault that was injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultEvent {
    pub at: Nanos,
    /// True if the fault should cause a failover.
    pub fails_over: bool,
    /// True if operating systems crashed, so that their page caches were lost.
    pub crashes_hosts: bool,
}

/// Decision to promote a standby, with the data on which it was based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotionDecision {
    pub at: Nanos,
    /// `application_name` of the standby.
    pub promoted: String,
    /// `synchronous_standby_names` of the failed primary.
    pub standbys: Option<SynchronousStandbys>,
    /// Positions of all standbys of the failed primary, including standbys that did not respond before the decision.
    pub positions: Vec<StandbyPosition>,
}

/// WAL position that a standby reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandbyPosition {
    /// `application_name` of the standby.
    pub name: String,
    /// WAL position in bytes, received or replayed, whichever is later; `None` if the standby did not respond.
    pub received: Option<u64>,
    /// True if the standby was synchronous when last seen (`pg_stat_replication.sync_state` is `sync` or `quorum`).
    pub synchronous: bool,
}

/// Rows found after the faults, read from one server.
#[derive(Clone, Debug)]
pub struct ReadBack {
    /// Time at which the snapshot was requested. It need not contain writes that were acknowledged later.
    pub started: Nanos,
    /// Time by which the server had reported its identity and recovery state; not earlier than `started`.
    pub identified: Nanos,
    pub server: ServerInstance,
    /// Result of `pg_is_in_recovery()` on the connection of the read-back.
    pub in_recovery: bool,
    pub keys: KeySet,
    /// Keys of each list that contains several, in the order of the list. `keys` contains them too.
    pub lists: Vec<Vec<WriteKey>>,
}

/// Set of the keys that a read-back found; one bit per key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    /// Bit words by session, then by sequence number / 64.
    bits: Vec<Vec<u64>>,
    /// Keys that occurred more than once, with their counts.
    pub repeated: BTreeMap<WriteKey, u64>,
    /// Number of rows whose key is beyond the session's reservation, and the keys of the first such rows.
    pub strays: (u64, Vec<WriteKey>),
    /// Number of rows whose token does not match their key, and the keys of the first such rows.
    pub forged: (u64, Vec<WriteKey>),
}

impl KeySet {
    /// Empty set; `reserved` has the number of reserved sequence numbers of each session.
    pub fn new(reserved: &[u64]) -> KeySet {
        let words = |end: &u64| vec![0; end.div_ceil(64) as usize];
        KeySet { bits: reserved.iter().map(words).collect(), ..KeySet::default() }
    }

    /// Adds a row's key. `authentic` is true if the token matches the key.
    pub fn add(&mut self, key: WriteKey, authentic: bool) {
        if !authentic {
            return add_example(&mut self.forged, key);
        }
        let word =
            self.bits.get_mut(key.session as usize).and_then(|it| it.get_mut(word_index(key.sequence)?));
        let Some(word) = word else { return add_example(&mut self.strays, key) };
        let bit = 1 << (key.sequence % 64);
        if *word & bit != 0 {
            *self.repeated.entry(key).or_insert(1) += 1;
        }
        *word |= bit;
    }

    pub fn contains(&self, key: WriteKey) -> bool {
        let word = self.bits.get(key.session as usize).and_then(|it| it.get(word_index(key.sequence)?));
        word.is_some_and(|it| it >> (key.sequence % 64) & 1 == 1)
    }

    /// Bit words of a session: 64 sequence numbers per word, the lowest number in the lowest bit.
    pub fn session(&self, session: usize) -> &[u64] {
        self.bits.get(session).map_or(&[], Vec::as_slice)
    }

    pub fn sessions(&self) -> usize {
        self.bits.len()
    }
}

fn word_index(sequence: u64) -> Option<usize> {
    usize::try_from(sequence / 64).ok()
}

fn add_example(to: &mut (u64, Vec<WriteKey>), key: WriteKey) {
    to.0 += 1;
    if to.1.len() < EXAMPLES {
        to.1.push(key);
    }
}

/// Maximum number of keys given as examples.
pub const EXAMPLES: usize = 10;

/// Evidence of a trial other than the entries of its ledger.
#[derive(Clone, Debug, Default)]
pub struct DurabilityHistory {
    pub end: Option<LedgerEnd>,
    /// Promise changes in order of time.
    pub promises: Vec<PromiseChange>,
    /// Role samples in order of time.
    pub samples: Vec<RoleSample>,
    /// Faults in order of time.
    pub faults: Vec<FaultEvent>,
    pub promotions: Vec<PromotionDecision>,
    /// First session of the clients that open a connection for each write; `None` if there are no such clients.
    pub first_new_client: Option<u32>,
    /// Time after which no write was attempted; 0 if unknown.
    pub load_ended: Nanos,
    /// Read-backs in order of time.
    pub read_backs: Vec<ReadBack>,
    pub invariants: Vec<InvariantReadings>,
    /// Result of the positive control.
    pub control: Option<ControlResult>,
}

/// Readings of an invariant: a query whose result must never change, on any server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvariantReadings {
    pub query: String,
    /// Result on the primary before the load; empty for NULL.
    pub expected: String,
    /// Number of results that were read from all servers, during the load and afterwards.
    pub readings: u64,
    /// Number of results that differ from the expected one.
    pub violations: u64,
    /// First result that differs.
    pub first: Option<InvariantViolation>,
}

/// Result of an invariant that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvariantViolation {
    /// Time since the start of the window.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// Server that returned the result.
    pub node: String,
    pub result: String,
}

/// Result of the positive control: the same faults on a system without a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlResult {
    /// Acknowledged writes that the control lost.
    pub lost: u64,
}

/// Verdict on the durability of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityVerdict {
    pub conclusion: Conclusion,
    pub counts: WriteCounts,
    /// Anomalies, the worst first; each kind occurs at most once.
    #[serde(alias = "findings")]
    pub anomalies: Vec<Anomaly>,
    /// Reasons why the evidence is incomplete.
    pub doubts: Vec<InconclusiveReason>,
    /// Loss of writes that no promise covered.
    pub recovery_point: Option<RecoveryPoint>,
    #[serde(default)]
    pub invariants: Vec<InvariantReadings>,
    /// Longest periods in which no client of a kind was served: one for each fault, kind of client and access that was
    /// measured.
    pub outages: Vec<ClientOutage>,
    /// Number of times that another server became the primary, on a newer timeline.
    pub failovers: u32,
    /// Upper bound (95 % confidence) of the probability, 0..=1, that a failover loses a write, if no observed failover
    /// lost a write.
    pub bound: f64,
    /// Steps of the generator's wall clock in microseconds. The verdict does not depend on the wall clock.
    pub clock_steps_us: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// Kept: the servers kept all promises.
    Kept,
    /// Broken: at least one promise was broken.
    Broken,
    /// Unknown: the evidence is insufficient.
    Unknown,
}

/// Number of writes by outcome; all attempts at a write count as one write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteCounts {
    pub acknowledged: u64,
    pub local: u64,
    pub failed: u64,
    pub unknown: u64,
    /// Number of writes in `unknown` that a read-back found.
    pub unknown_present: u64,
    /// Number of writes that may have been sent but have no recorded outcome.
    ///
    /// Such a write precedes a write of the same session that has an outcome. In a ledger that was not closed, all
    /// reserved sequence numbers after the session's last outcome count too. In a closed ledger, these numbers do not
    /// count, because they were not used.
    #[serde(alias = "untold")]
    pub unresolved: u64,
    /// Number of attempts that reached a standby: SQLSTATE 25006.
    pub misrouted: u64,
}

/// Anomalies of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    pub kind: AnomalyKind,
    pub count: u64,
    /// First keys of this kind, at most [`EXAMPLES`].
    pub examples: Vec<WriteKey>,
}

/// Kind of anomaly, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnomalyKind {
    /// Acknowledged write that is absent, although its promise covers the faults that occurred, or although no fault
    /// occurred that explains the loss.
    Lost,
    /// Acknowledged write that is absent, although a write that began after the acknowledgement on the same server is
    /// present. No prefix of the WAL explains this.
    Hole,
    /// Result of an invariant that differs from the result before the load.
    BrokenInvariant,
    /// Write that was present and later absent, or that was acknowledged, absent and later present.
    Flicker,
    /// Write that failed but is present.
    FalseFailure,
    /// Row that no client sent, or whose token is wrong.
    Phantom,
    /// Write that is present more than once after a single attempt.
    Duplicate,
    /// Acknowledged write that follows another write in a list, although that write was sent after the acknowledgement.
    Reordered,
    /// Write that an old primary acknowledged after another server of the system had begun to accept writes.
    SplitBrain,
    /// Acknowledged write that is absent on the primary, but present on a standby of the same timeline that was read
    /// earlier.
    Diverged,
    /// Promotion of a standby that was not certain to have all promised writes.
    WrongPromotion,
    /// Acknowledged write that is absent. The promise changed at that time, so the promise for this write is unknown.
    LostAmbiguous,
    /// Acknowledged write that is absent, but whose promise does not cover the loss of the primary.
    #[serde(alias = "lost_unpromised")]
    LostWithoutPromise,
    /// Absent write that was acknowledged with the warning that it might not have been replicated.
    LostLocal,
    /// Acknowledged write that is absent on the newest timeline, but present on a server of an older timeline.
    OnOldTimeline,
    /// Write that is present more than once after several attempts.
    DuplicateByRetry,
}

impl AnomalyKind {
    /// True if the anomaly breaks a promise, or a guarantee that every database gives.
    pub fn is_violation(self) -> bool {
        self <= AnomalyKind::WrongPromotion
    }
}

/// Reason why the evidence is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InconclusiveReason {
    /// No read-back took place.
    #[serde(alias = "not_read")]
    NotReadBack,
    /// Writes that were acknowledged after the last read-back had begun.
    #[serde(alias = "younger_than_readings")]
    NewerThanReadBacks { count: u64 },
    /// Read-back (with its number, from 0) from a server in recovery.
    ReadFromStandby {
        #[serde(rename = "read_back", alias = "reading")]
        reading: usize,
    },
    /// Read-back from a timeline older than a timeline that was observed earlier.
    ReadFromOldTimeline {
        #[serde(rename = "read_back", alias = "reading")]
        reading: usize,
    },
    /// Read-back from a server with another system identifier.
    #[serde(alias = "read_from_elsewhere")]
    ReadFromOtherSystem {
        #[serde(rename = "read_back", alias = "reading")]
        reading: usize,
    },
    /// Server that acknowledged writes while in recovery.
    StandbyAcknowledged { server: ServerId },
    /// Servers with different system identifiers acknowledged writes.
    #[serde(alias = "several_systems")]
    MultipleSystems,
    /// No write was acknowledged after the fault with this number.
    #[serde(alias = "silent_after_fault")]
    NoWritesAfterFault { fault: usize },
    /// No other server became the primary after the fault with this number.
    #[serde(alias = "fault_unseen")]
    NoNewTimelineAfterFault { fault: usize },
    /// Ledger that was not closed: outcomes at its end may be missing.
    LedgerOpen,
    /// Invalid bytes at the end of the ledger.
    LedgerTorn { bytes: u64 },
    /// Contradictory entries: decreasing sequence, outcome before its attempt, or undefined server.
    LedgerContradictsItself { entries: u64 },
    /// Outcomes are missing in the middle of the ledger.
    LedgerHasGaps { writes: u64 },
    /// Lost acknowledged writes for which no promise was sampled.
    PromiseUnknown { count: u64 },
    /// Writes were lost while the promise changed.
    LostWhilePromiseChanged,
    /// A server had `fsync = off`, so a crash of its operating system may lose any write.
    FsyncOff,
    /// No server returned a result of an invariant.
    InvariantNotRead,
    /// No fault was injected.
    NoFault,
    /// There is no positive control.
    NoControl,
    /// The positive control lost no write, so the faults may be unable to cause a loss.
    ControlLostNothing,
}

/// Loss of acknowledged writes that no promise covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoveryPoint {
    /// Number of acknowledged writes that were lost.
    pub count: u64,
    pub sessions: u32,
    /// Largest number of consecutive lost writes of one session.
    pub longest_run: u64,
    /// Times of the first and last acknowledgement of lost writes, in nanoseconds relative to the nearest fault;
    /// negative before the fault. `None` without a fault.
    pub window_ns: Option<(i64, i64)>,
}
