//! Chooses the replica to promote

use super::ReplicationState;
use model::message;
use model::message::Message;
use model::plan::{PromotionPolicy, SyncMode};

/// Replica to promote, and whether it has every acknowledged commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromotionChoice {
    /// Index of the replica among all replicas.
    pub replica: usize,
    /// True if the replica has every commit that required a confirmation by a replica.
    ///
    /// This is the case if enough replicas responded for at least one of them to have the last such commit, and if none
    /// of them has more WAL than this replica. False under asynchronous replication, where no replica confirms commits.
    pub safe: bool,
}

/// Too few replicas responded to promote one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndecidedError {
    pub answers: usize,
    pub needed: usize,
}

impl From<&UndecidedError> for Message {
    fn from(UndecidedError { answers, needed }: &UndecidedError) -> Message {
        message!("node-too-few-replicas", answers = answers.to_string(), needed = needed.to_string())
    }
}

/// Chooses from the states of all replicas; `None` means no response. Call it only when the old primary can no longer
/// acknowledge commits.
///
/// If k of n replicas confirmed a commit, at least one of any n − k + 1 replicas has it. With fewer responses, the last
/// commits may exist only on replicas that did not respond, so no replica is promoted. Without synchronous replication,
/// one response is enough.
pub fn choose_replica(
    states: &[Option<ReplicationState>],
    sync: SyncMode,
    choice: PromotionPolicy,
) -> Result<PromotionChoice, UndecidedError> {
    let confirmed = sync.count() as usize;
    let needed = if confirmed == 0 { 1 } else { (states.len() + 1).saturating_sub(confirmed).max(1) };
    let standing = |state: &Option<ReplicationState>| state.filter(|it| it.in_recovery);
    let known: Vec<(usize, ReplicationState)> =
        states.iter().enumerate().filter_map(|(at, it)| Some((at, standing(it)?))).collect();
    let undecided = UndecidedError { answers: known.len(), needed };
    if known.len() < needed {
        return Err(undecided);
    }
    let has = |it: &ReplicationState| (it.timeline, it.flushed);
    // Among equal replicas, the first replica is chosen.
    let chosen = match choice {
        PromotionPolicy::Advanced => known.iter().rev().max_by_key(|it| has(&it.1)),
        PromotionPolicy::Laggard => known.iter().min_by_key(|it| has(&it.1)),
    };
    let &(replica, state) = chosen.ok_or(undecided)?;
    let most = known.iter().all(|it| has(&it.1) <= has(&state));
    Ok(PromotionChoice { replica, safe: confirmed > 0 && most })
}

#[cfg(test)]
mod tests {
    use super::super::Lsn;
    use super::*;

    /// Compares the choice. Replicas are written `timeline:flushed`; `-` is no response, `!` is a primary.
    fn check(text: &str, sync: SyncMode, choice: PromotionPolicy, expected: &str) {
        let state = |word: &str| {
            let (timeline, flushed) = word.trim_start_matches('!').split_once(':')?;
            let flushed = Lsn(flushed.parse().unwrap());
            let recovers = !word.starts_with('!');
            let timeline = timeline.parse().unwrap();
            Some(ReplicationState {
                in_recovery: recovers,
                timeline,
                flushed,
                replayed: Lsn(0),
                is_receiving: false,
            })
        };
        let states: Vec<_> = text.split(' ').map(state).collect();
        let actual = match choose_replica(&states, sync, choice) {
            Ok(PromotionChoice { replica, safe: true }) => format!("{replica} safe"),
            Ok(PromotionChoice { replica, safe: false }) => format!("{replica}"),
            Err(UndecidedError { answers, needed }) => format!("{answers} of {needed}"),
        };
        assert_eq!(actual, expected, "{text} {sync:?} {choice:?}");
    }

    #[test]
    fn promotes_expected_replica() {
        use PromotionPolicy::{Advanced, Laggard};
        use model::plan::SyncMode::{Any, Async, First};
        check("1:10 1:20", Any(1), Advanced, "1 safe");
        check("1:20 1:10", Any(1), Advanced, "0 safe");
        check("1:20 1:20", Any(1), Advanced, "0 safe");
        check("1:20 1:10", First(1), Advanced, "0 safe");
        // More WAL of an older timeline is not newer.
        check("1:99 2:10", Any(1), Advanced, "1 safe");
        // The replica that did not respond may be the one that confirmed.
        check("1:20 -", Any(1), Advanced, "1 of 2");
        check("1:20 -", First(1), Advanced, "1 of 2");
        check("1:20 -", Any(2), Advanced, "0 safe");
        check("- - 1:5", Any(2), Advanced, "1 of 2");
        check("- 1:7 1:5", Any(2), Advanced, "1 safe");
        check("-", Any(1), Advanced, "0 of 1");
        check("1:20 -", Async, Advanced, "0");
        check("- -", Async, Advanced, "0 of 1");
        // A server that already accepts writes is not promoted.
        check("!1:20 1:10", Async, Advanced, "1");
        check("1:10 1:20", Any(1), Laggard, "0");
        check("1:10 1:10", Any(1), Laggard, "0 safe");
        check("1:10 1:20", Async, Laggard, "0");
    }
}
