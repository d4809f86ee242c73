//! Findings on wait events of active sessions

use super::{CellTrials, Finding};
use crate::facts::samples::{self, maximum, sums};
use model::finding::{Bound, MissingInput};
use model::lock::LockKind;
use std::collections::{BTreeMap, BTreeSet};

/// Smallest reported share of active sessions in one wait class. At this share, throughput without the waits would be
/// at most 1 / (1 − 1/3) = 1.5 times as high.
pub const BOUND_SHARE_MIN: f64 = 1.0 / 3.0;
/// Smallest reported share of active sessions in one wait event that no known limiter explains.
const EVENT_SHARE_MIN: f64 = 0.5;
/// Minimum number of active sessions that counts as a queue.
const ACTIVE_SESSIONS_MIN: f64 = 2.0;
/// Mean number of active sessions below which waits do not limit the throughput.
pub const WORKING_SESSIONS_MIN: f64 = 0.5;
/// Maximum number of reported statements.
const STATEMENTS_MAX: usize = 3;

/// Wait events with a common cause. Their names differ between versions of PostgreSQL, even in case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitClass {
    Rows,
    Log,
    Replicas,
    Read,
    Write,
}

impl WaitClass {
    pub fn from_event(event: &str) -> Option<WaitClass> {
        Some(match event.to_ascii_lowercase().as_str() {
            "lock/transactionid" | "lock/tuple" => WaitClass::Rows,
            "io/walsync" | "io/walwrite" | "lwlock/walwrite" => WaitClass::Log,
            "ipc/syncrep" => WaitClass::Replicas,
            // A session that needs a block which another session is reading waits for that read.
            "io/datafileread"
            | "io/datafileprefetch"
            | "ipc/bufferio"
            | "lwlock/bufferio"
            | "io/aioiocompletion" => WaitClass::Read,
            "io/datafilewrite" | "io/datafileextend" | "io/datafileflush" | "io/datafilesync"
            | "io/buffilewrite" => WaitClass::Write,
            _ => return None,
        })
    }
}

/// Kind of the lock that a session waits for at a wait event. `None` for row locks, and for lightweight locks that
/// belong to a [`WaitClass`], such as the lock of WAL writes.
pub fn lock_kind(event: &str) -> Option<LockKind> {
    if WaitClass::from_event(event).is_some() {
        return None;
    }
    let (class, name) = event.split_once('/')?;
    Some(match (class.to_ascii_lowercase().as_str(), name.to_ascii_lowercase().as_str()) {
        ("lock", "advisory") => LockKind::Advisory,
        ("lock", "relation") => LockKind::Relation,
        ("lock", "extend") => LockKind::Extend,
        ("lock", "object") => LockKind::Object,
        ("lock", _) => LockKind::Heavyweight { name: name.to_owned() },
        ("bufferpin", _) => LockKind::BufferPin,
        ("lwlock", _) => LockKind::Lightweight { name: name.to_owned() },
        _ => return None,
    })
}

/// True if the bound explains waits for `event`.
pub fn explains(bound: &Bound, event: &str) -> bool {
    let class = WaitClass::from_event(event);
    match bound {
        Bound::RowLocks { .. } => class == Some(WaitClass::Rows),
        Bound::WalFlush { .. } => class == Some(WaitClass::Log),
        Bound::SyncReplicas { .. } => class == Some(WaitClass::Replicas),
        Bound::Reads { .. } => class == Some(WaitClass::Read),
        Bound::Writes { quota: Some(_), .. } => is_write(event),
        Bound::Writes { .. } => class == Some(WaitClass::Write),
        Bound::ResultReading { .. } => event.eq_ignore_ascii_case("Client/ClientWrite"),
        Bound::Locks { lock, .. } => lock_kind(event).as_ref() == Some(lock),
        _ => false,
    }
}

/// True if sessions wait for `event` when disk writes exhaust a quota. The quota also covers WAL writes. If no WAL buffer is
/// free, sessions that insert WAL write it themselves, and all others wait for their insertion locks.
pub fn is_write(event: &str) -> bool {
    matches!(WaitClass::from_event(event), Some(WaitClass::Write | WaitClass::Log))
        || event.eq_ignore_ascii_case("LWLock/WALInsert")
}

/// Share of active sessions whose wait event `selects` accepts, 0..=1; `None` if waits were not sampled.
pub fn share(cell: &CellTrials<'_>, selects: impl Fn(&str) -> bool) -> Option<f64> {
    share_on(cell, &cell.server()?.name, selects)
}

/// Share of active sessions on a node of PostgreSQL, such as a replica; see [`share`].
pub fn share_on(cell: &CellTrials<'_>, node: &str, selects: impl Fn(&str) -> bool) -> Option<f64> {
    cell.median(|trial| {
        let all = |selects: &dyn Fn(&str) -> bool| -> f64 {
            sums(trial.samples, node, samples::PG_WAITS, selects).iter().map(|it| it.1).sum()
        };
        let every = all(&|_| true);
        (every > 0.0).then(|| all(&selects) / every)
    })
}

pub fn class_share(cell: &CellTrials<'_>, class: WaitClass) -> Option<f64> {
    share(cell, |it| WaitClass::from_event(it) == Some(class))
}

fn active(cell: &CellTrials<'_>) -> Option<f64> {
    let node = &cell.server()?.name;
    cell.median(|it| samples::sessions(it.samples, node, "active"))
}

/// Findings that commits or locks limit the throughput. `cell` has the samples under full load. `window` has the
/// samples of the whole window, for series that are sampled rarely.
pub fn bounds(cell: &CellTrials<'_>, window: &CellTrials<'_>) -> Result<Vec<Finding>, MissingInput> {
    let active = active(cell).ok_or(MissingInput::Server)?;
    // Bounds on commits require no queue of sessions. The disk delays the commits of one session as much as those of
    // twenty.
    let large = |class| {
        class_share(cell, class).filter(|it| *it >= BOUND_SHARE_MIN && active >= WORKING_SESSIONS_MIN)
    };
    let mut found = Vec::new();
    found.extend(large(WaitClass::Log).map(|share| Bound::WalFlush { share, active }));
    found.extend(large(WaitClass::Replicas).map(|share| Bound::SyncReplicas { share, active }));
    found.extend(large(WaitClass::Rows).filter(|_| active >= ACTIVE_SESSIONS_MIN).map(|share| {
        Bound::RowLocks {
            share,
            active,
            longest_wait: longest_lock_wait(cell),
            statements: statements(window),
        }
    }));
    if active >= ACTIVE_SESSIONS_MIN {
        found.extend(locks(cell, window, active));
    }
    Ok(found.into_iter().map(|bound| Finding::Bound { cell: cell.number, bound }).collect())
}

/// Bounds by locks other than row locks. Sessions also wait for lightweight locks and pinned buffers if they compete
/// for a CPU, so a larger share of such waits is required.
fn locks(cell: &CellTrials<'_>, window: &CellTrials<'_>, active: f64) -> Vec<Bound> {
    let kinds: BTreeSet<LockKind> = wait_events(cell).into_iter().filter_map(lock_kind).collect();
    let bound = |lock: LockKind| {
        let share = share(cell, |it| lock_kind(it).as_ref() == Some(&lock))?;
        let is_light = matches!(lock, LockKind::Lightweight { .. } | LockKind::BufferPin);
        let (longest_wait, statements) =
            if is_light { (None, Vec::new()) } else { (longest_lock_wait(cell), statements(window)) };
        (share >= if is_light { EVENT_SHARE_MIN } else { BOUND_SHARE_MIN }).then_some(Bound::Locks {
            lock,
            share,
            active,
            longest_wait,
            statements,
        })
    };
    kinds.into_iter().filter_map(bound).collect()
}

/// Wait events of PostgreSQL's active sessions in any of the trials.
fn wait_events<'a>(cell: &CellTrials<'a>) -> BTreeSet<&'a str> {
    let Some(node) = cell.server().map(|it| &it.name) else { return BTreeSet::new() };
    let waits = cell.trials.iter().flat_map(|it| it.samples.of(node, samples::PG_WAITS).iter());
    waits.map(|it| &*it.label).collect()
}

/// Median over the trials of the longest lock wait of a session, in seconds.
fn longest_lock_wait(cell: &CellTrials<'_>) -> Option<f64> {
    let node = &cell.server()?.name;
    cell.median(|it| maximum(&sums(it.samples, node, samples::PG_LONGEST_LOCK_WAIT, |_| true)))
        .filter(|it| *it > 0.0)
}

/// Statements that waited for locks, over all trials, most frequent first.
pub fn statements(cell: &CellTrials<'_>) -> Vec<String> {
    let Some(node) = cell.server().map(|it| &it.name) else { return Vec::new() };
    let mut waited: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in cell.trials.iter().flat_map(|it| it.samples.of(node, samples::PG_LOCK_WAITERS).iter()) {
        *waited.entry(&sample.label).or_default() += sample.value;
    }
    let text = |id: &str| statement_text(cell, node, id);
    let mut waited: Vec<(&str, f64)> = waited.into_iter().collect();
    waited.sort_by(|a, b| b.1.total_cmp(&a.1));
    waited.into_iter().filter_map(|(id, _)| text(id)).take(STATEMENTS_MAX).collect()
}

/// Text of the statement with this identifier, if any trial sampled it.
pub fn statement_text(cell: &CellTrials<'_>, node: &str, id: &str) -> Option<String> {
    let texts = cell.trials.iter().flat_map(|it| it.samples.of(node, samples::PG_STATEMENT_TEXT).iter());
    let mut texts_of_id = texts.filter_map(|sample| sample.label.split_once(' ').filter(|it| it.0 == id));
    texts_of_id.next().map(|it| it.1.to_owned())
}

/// Finding on the most frequent wait event of active sessions. A session in state `running` does not wait.
pub fn sessions_wait(cell: &CellTrials<'_>) -> Option<Finding> {
    let active = active(cell)?;
    // A statement that sleeps on purpose, such as `pg_sleep`, counts as running, because it occupies its session.
    let known = wait_events(cell).into_iter().filter(|it| *it != "running" && !it.starts_with("Timeout/"));
    let shares = known.filter_map(|event| Some((event, share(cell, |it| it == event)?)));
    let (event, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let finding = || Finding::SessionsWait { cell: cell.number, event: event.to_owned(), share, active };
    (share >= EVENT_SHARE_MIN && active >= ACTIVE_SESSIONS_MIN).then(finding)
}
