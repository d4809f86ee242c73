//! Did every acknowledged write survive, and how is that known?
//!
//! Every write has a [`Key`]. What came of it stands in a *ledger*, as [`Entry`]s in the order in which it was learnt; what
//! is there afterwards in a [`Reading`]; what a server had promised, and who was primary when, in a [`History`]. A
//! [`Verdict`] is a function of these and nothing else. Moments are of the generator's monotonic clock.

use crate::{Code, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod token;

pub use token::Token;

/// Names one write within its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WriteKey {
    /// Numbered from 0; has one write under way at a time.
    pub session: u32,
    /// Numbered from 0 within its session, without gaps.
    pub sequence: u64,
}

/// What one attempt to write came to, as told on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteOutcome {
    /// ReadyForQuery came after the commit, without an error; or the service's answer that stands for it.
    Acknowledged,
    /// The same, with a warning that the wait for the standbys was given up: committed on this server only.
    AcknowledgedLocally,
    /// Refused: it has no effect.
    Failed(Code),
    /// The connection broke, or time ran out, after the first byte was handed over: its effect may exist.
    Unknown(Code),
}

/// One attempt at one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteAttempt {
    pub key: WriteKey,
    /// From 1; more where the same write is tried again.
    pub number: u16,
    pub outcome: WriteOutcome,
    /// Before its first byte was handed over.
    pub invoked: Nanos,
    /// When its outcome was known.
    pub ended: Nanos,
    /// Whom it reached; `None` where that is not known, as behind a service.
    pub server: Option<ServerId>,
}

/// A server in the ledger: the number of its [`Entry::Server`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerId(pub u16);

/// One run of one server on one timeline, as it tells of itself over the connection that is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerInstance {
    /// `system_identifier` of `pg_control_system()`: equal on a primary and its standbys.
    pub system: u64,
    pub address: String,
    /// `pg_postmaster_start_time()`, microseconds of Unix time.
    pub started_us: u64,
    pub timeline: u32,
}

impl ServerInstance {
    /// The same postmaster, perhaps on another timeline: a promotion does not restart it.
    pub fn is_same_process(&self, other: &ServerInstance) -> bool {
        (self.system, self.started_us, &self.address) == (other.system, other.started_us, &other.address)
    }
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerEntry {
    /// From here on `ServerId` means this server.
    Server(ServerId, ServerInstance),
    /// Sequences below `until` of the session may be used; written before any of them is.
    Reserved {
        session: u32,
        until: u64,
    },
    Completed(WriteAttempt),
    /// What both clocks show at one moment; the second, Unix time in microseconds, is a label and orders nothing.
    Clock {
        at: Nanos,
        wall_us: u64,
    },
    /// The load ended in the orderly way: nothing follows, and nothing is missing before.
    Closed,
}

/// How a ledger ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerEnd {
    /// With [`Entry::Closed`].
    Closed,
    /// Within the load, between two entries: outcomes after it are not known.
    Open,
    /// So many bytes at its end are no entries, and were left out.
    Torn { bytes: u64 },
}

/// What a server has promised for a write that it acknowledges; from the weakest to the strongest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Promise {
    /// Nothing: `synchronous_commit = off`.
    None,
    /// It is on this server's disk.
    Local,
    /// Standbys have it in the memory of their host.
    RemoteWrite(SynchronousStandbys),
    /// It is on the disks of standbys.
    Flush(SynchronousStandbys),
    /// The same, and queries there see it.
    Apply(SynchronousStandbys),
}

impl Promise {
    /// It outlives the primary and any one of its hosts, if the right standby follows.
    pub fn outlives_primary(&self) -> bool {
        matches!(self, Promise::Flush(_) | Promise::Apply(_))
    }
}

/// `synchronous_standby_names`, read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SynchronousStandbys {
    pub method: SyncMethod,
    /// How many must answer, at least 1.
    pub count: u32,
    /// As written, in their order; `*` stands for every name.
    pub names: Vec<String>,
}

/// Which of the named standbys must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SyncMethod {
    /// The first in the list that are connected: `FIRST n (…)`.
    First,
    /// No matter which: `ANY n (…)`.
    Any,
}

/// From a moment on, this server promised this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromiseChange {
    pub at: Nanos,
    pub server: ServerInstance,
    pub promise: Promise,
}

/// Who a server was at a moment, asked directly, past poolers and balancers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSample {
    pub at: Nanos,
    pub server: ServerInstance,
    /// `pg_is_in_recovery()`.
    pub in_recovery: bool,
}

/// Something was done to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultEvent {
    pub at: Nanos,
    /// Another server is to become primary.
    pub fails_over: bool,
}

/// A standby was made primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotionDecision {
    pub at: Nanos,
    /// `application_name` of the standby.
    pub promoted: String,
    /// What the failed primary had asked for.
    pub standbys: Option<SynchronousStandbys>,
    /// Every standby that the failed primary had, whether it answered before the decision or not.
    pub positions: Vec<StandbyPosition>,
}

/// What a standby said it had when it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandbyPosition {
    /// Its `application_name`.
    pub name: String,
    /// Position in the write-ahead log, in bytes: the farther of what was received and what was replayed; `None` if it did
    /// not answer.
    pub received: Option<u64>,
    /// Among the primary's synchronous standbys when it was last seen (`pg_stat_replication.sync_state` is `sync` or `quorum`).
    pub synchronous: bool,
}

/// What was there when everything was read.
#[derive(Clone, Debug)]
pub struct ReadBack {
    /// When its snapshot was asked for: of what was acknowledged later it says nothing.
    pub started: Nanos,
    /// When the server had said who it is, and whether it is in recovery: not before it began.
    pub identified: Nanos,
    pub server: ServerInstance,
    /// `pg_is_in_recovery()`, asked over the same connection.
    pub in_recovery: bool,
    pub keys: KeySet,
}

/// Which keys a reading found: one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    /// By session, then sequence / 64.
    bits: Vec<Vec<u64>>,
    /// Keys that came more than once, and how often.
    pub repeated: BTreeMap<WriteKey, u64>,
    /// Rows with a key beyond what was reserved for its session, and the first of them.
    pub strays: (u64, Vec<WriteKey>),
    /// Rows whose token is not that of their key, and the first of them.
    pub forged: (u64, Vec<WriteKey>),
}

impl KeySet {
    /// Room for the sequences that were reserved, by session.
    pub fn new(reserved: &[u64]) -> KeySet {
        let words = |until: &u64| vec![0; until.div_ceil(64) as usize];
        KeySet { bits: reserved.iter().map(words).collect(), ..KeySet::default() }
    }

    /// A row came. `authentic`: its token is that of its key.
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

    /// The bits of a session, 64 sequences in each word, the lowest first.
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

/// Keys that are named where there are many.
pub const EXAMPLES: usize = 10;

/// Everything but the ledger's entries.
#[derive(Clone, Debug, Default)]
pub struct DurabilityHistory {
    pub end: Option<LedgerEnd>,
    /// In the order of time.
    pub promises: Vec<PromiseChange>,
    /// In the order of time.
    pub samples: Vec<RoleSample>,
    /// In the order of time.
    pub faults: Vec<FaultEvent>,
    pub promotions: Vec<PromotionDecision>,
    /// When nothing was tried any more; 0 if that is not known.
    pub load_ended: Nanos,
    /// In the order of time.
    pub read_backs: Vec<ReadBack>,
    /// The same fault where a loss must be found.
    pub control: Option<ControlResult>,
}

/// What the positive control came to: the same fault, without a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlResult {
    /// Acknowledged writes that it lost.
    pub lost: u64,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DurabilityVerdict {
    pub conclusion: Conclusion,
    pub counts: WriteCounts,
    /// The worst first; each kind at most once.
    #[serde(rename = "findings")]
    pub anomalies: Vec<Anomaly>,
    /// Why not everything can be concluded.
    pub doubts: Vec<InconclusiveReason>,
    /// What was lost without a promise broken.
    pub recovery_point: Option<RecoveryPoint>,
    /// By fault.
    pub outages: Vec<WriteOutage>,
    /// Faults after which another timeline was seen.
    pub failovers: u32,
    /// Upper bound, at 95 %, of the probability that a failover loses something, when none of these did. 0..=1
    pub bound: f64,
    /// The generator's wall clock was set, by so many microseconds: nothing here depends on it.
    pub clock_steps_us: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// What was promised was kept.
    Kept,
    /// It was not.
    Broken,
    /// The evidence does not suffice.
    Unknown,
}

/// Writes by what came of them, all attempts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteCounts {
    pub acknowledged: u64,
    pub local: u64,
    pub failed: u64,
    pub unknown: u64,
    /// Of the unknown, those that are there.
    pub unknown_present: u64,
    /// Perhaps sent, and without an outcome: such as stand before one that has it, and, unless the ledger was closed, all that
    /// were reserved behind the last. What a closed ledger has reserved and tells nothing of was not used.
    #[serde(rename = "untold")]
    pub unresolved: u64,
    /// Attempts that reached a standby: SQLSTATE 25006.
    pub misrouted: u64,
}

/// One kind of thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    pub kind: AnomalyKind,
    pub count: u64,
    /// The first of them.
    pub examples: Vec<WriteKey>,
}

/// Kinds of findings, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnomalyKind {
    /// Acknowledged with the promise that it outlives the primary, and absent.
    Lost,
    /// Absent while a later write of its session on the same server is there: no prefix of a log explains it.
    Hole,
    /// There, and absent later; or acknowledged, absent, and there later.
    Flicker,
    /// Refused, and there.
    FalseFailure,
    /// There without having been asked for, or with a token that is not ours.
    Phantom,
    /// There more than once after one attempt.
    Duplicate,
    /// Acknowledged by an old primary after a new one had begun to acknowledge.
    SplitBrain,
    /// A standby was promoted that was not sure to have everything.
    WrongPromotion,
    /// Acknowledged while the promise changed, and absent: it may have been promised or not.
    LostAmbiguous,
    /// Acknowledged without such a promise, and absent.
    #[serde(rename = "lost_unpromised")]
    LostWithoutPromise,
    /// Acknowledged with a warning, and absent.
    LostLocal,
    /// There more than once after several attempts.
    DuplicateByRetry,
}

impl AnomalyKind {
    /// A promise, or what every database promises, was broken.
    pub fn is_violation(self) -> bool {
        self <= AnomalyKind::WrongPromotion
    }
}

/// Why something cannot be concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InconclusiveReason {
    /// Nothing was read back.
    #[serde(rename = "not_read")]
    NotReadBack,
    /// So many acknowledged writes are younger than every reading.
    #[serde(rename = "younger_than_readings")]
    NewerThanReadBacks { count: u64 },
    /// A reading, numbered from 0, came from a server in recovery.
    ReadFromStandby { reading: usize },
    /// A reading came from a timeline older than one that was seen before it.
    ReadFromOldTimeline { reading: usize },
    /// A reading came from another system.
    #[serde(rename = "read_from_elsewhere")]
    ReadFromOtherSystem { reading: usize },
    /// A server that acknowledged writes was in recovery then.
    StandbyAcknowledged { server: ServerId },
    /// Servers of several systems acknowledged writes.
    #[serde(rename = "several_systems")]
    MultipleSystems,
    /// Nothing was acknowledged after the fault of this number.
    #[serde(rename = "silent_after_fault")]
    NoWritesAfterFault { fault: usize },
    /// No other timeline was seen after the fault of this number.
    #[serde(rename = "fault_unseen")]
    NoNewTimelineAfterFault { fault: usize },
    /// The ledger is not closed: outcomes at its end may be missing.
    LedgerOpen,
    /// So many bytes at its end were no entries.
    LedgerTorn { bytes: u64 },
    /// Entries contradict each other: a sequence goes back, an outcome precedes its question, a server is not named.
    LedgerContradictsItself { entries: u64 },
    /// Outcomes are missing in the middle.
    LedgerHasGaps { writes: u64 },
    /// What was promised for so many acknowledged writes was not sampled.
    PromiseUnknown { count: u64 },
    /// Writes were lost while the promise changed.
    LostWhilePromiseChanged,
    /// Nothing was done to the system, or nothing could be.
    NoFault,
    /// There was no positive control.
    NoControl,
    /// The positive control lost nothing: this set-up cannot see a loss.
    ControlLostNothing,
}

/// What was lost where nothing had been promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryPoint {
    /// Acknowledged writes.
    pub count: u64,
    pub sessions: u32,
    /// Of one session, one after the other.
    pub longest_run: u64,
    /// When the first and the last of them were acknowledged, nanoseconds from the fault they are nearest to, negative
    /// before it; `None` without a fault.
    pub window_ns: Option<(i64, i64)>,
}

/// How long nothing could be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteOutage {
    /// Number of the fault.
    pub fault: usize,
    /// The longest time between two acknowledgements, or from the last one to the last attempt, that does not end before the
    /// fault, nor begin after the next.
    pub from: Nanos,
    pub to: Nanos,
}
