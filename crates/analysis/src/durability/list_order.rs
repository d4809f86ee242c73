//! Order of writes in lists: an acknowledged write precedes every write that was sent after its acknowledgement

use super::Anomalies;
use model::Nanos;
use model::durability::{AnomalyKind, LedgerEntry, WriteAttempt, WriteKey, WriteOutcome};
use std::collections::{HashMap, HashSet};

/// Times of a write whose key is in a list.
#[derive(Clone, Copy, Debug)]
struct WriteTimes {
    /// Time before the first attempt was sent.
    invoked: Nanos,
    /// End of the first attempt that was acknowledged; `None` if none was.
    acknowledged: Option<Nanos>,
}

/// Reports acknowledged writes that follow a write in a list which was sent after their acknowledgement.
///
/// If a write is in a list more than once, its first place counts, because an earlier attempt may have written it there.
pub(super) fn find_reordered(
    lists: &[Vec<WriteKey>],
    entries: impl Iterator<Item = LedgerEntry>,
    found: &mut Anomalies,
) {
    let listed: HashSet<WriteKey> = lists.iter().flatten().copied().collect();
    if listed.is_empty() {
        return;
    }
    let mut times: HashMap<WriteKey, WriteTimes> = HashMap::with_capacity(listed.len());
    for entry in entries {
        match entry {
            LedgerEntry::Completed(attempt) if listed.contains(&attempt.key) => {
                let none = WriteTimes { invoked: attempt.invoked, acknowledged: None };
                times.entry(attempt.key).or_insert(none).add_attempt(&attempt);
            }
            _ => {}
        }
    }
    for list in lists {
        let mut seen = HashSet::new();
        let mut latest = Nanos::ZERO;
        for key in list.iter().filter(|key| seen.insert(**key)) {
            let Some(write) = times.get(key) else { continue };
            if write.acknowledged.is_some_and(|it| it < latest) {
                found.add(AnomalyKind::Reordered, Some(*key));
            }
            latest = latest.max(write.invoked);
        }
    }
}

impl WriteTimes {
    fn add_attempt(&mut self, attempt: &WriteAttempt) {
        self.invoked = self.invoked.min(attempt.invoked);
        if matches!(attempt.outcome, WriteOutcome::Acknowledged | WriteOutcome::AcknowledgedLocally) {
            self.acknowledged.get_or_insert(attempt.ended);
        }
    }
}
