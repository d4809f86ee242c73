//! Synchronous replication: which standbys a commit waits for, and which promotions are safe
//!
//! Source: PostgreSQL manual, `synchronous_standby_names`; `syncrep.c` and `walsender.c` of version 15.

mod names;

use model::durability::{Promise, PromotionDecision, StandbyPosition, SyncMethod, SynchronousStandbys};
pub use names::{NamesError, parse};

/// Value of `sync_state` in `pg_stat_replication`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncState {
    Async,
    /// Standby that becomes synchronous if a synchronous standby disconnects.
    Potential,
    Sync,
    Quorum,
}

/// Durability promise for a commit under these settings; `None` for an unknown `synchronous_commit`.
pub fn promise(synchronous_commit: &str, standbys: Option<&SynchronousStandbys>) -> Option<Promise> {
    // PostgreSQL accepts all spellings of a boolean, in addition to the values in the manual. Source: config.sgml,
    // guc.c.
    let promise_of_standbys =
        |promise: fn(SynchronousStandbys) -> Promise| standbys.cloned().map_or(Promise::Local, promise);
    Some(match synchronous_commit {
        "off" | "false" | "no" | "0" => Promise::None,
        "local" => Promise::Local,
        "remote_write" => promise_of_standbys(Promise::RemoteWrite),
        "on" | "true" | "yes" | "1" => promise_of_standbys(Promise::Flush),
        "remote_apply" => promise_of_standbys(Promise::Apply),
        _ => return None,
    })
}

/// Values of `sync_priority` and `sync_state` that the primary shows for streaming standbys. `streaming` lists the
/// standbys in the order of the primary's array of WAL senders. If standbys have equal priority, the primary prefers
/// the first of them.
pub fn sync_states(standbys: Option<&SynchronousStandbys>, streaming: &[&str]) -> Vec<(u32, SyncState)> {
    let Some(standbys) = standbys else { return vec![(0, SyncState::Async); streaming.len()] };
    let priorities: Vec<u32> = streaming.iter().map(|it| priority(standbys, it)).collect();
    let before = |index: usize| {
        let rank = (priorities[index], index);
        priorities.iter().enumerate().filter(|&(i, &it)| it > 0 && (it, i) < rank).count()
    };
    let state = |(i, &priority): (usize, &u32)| match (priority, standbys.method) {
        (0, _) => (0, SyncState::Async),
        (_, SyncMethod::Any) => (1, SyncState::Quorum),
        (it, SyncMethod::First) if before(i) < standbys.count as usize => (it, SyncState::Sync),
        (it, SyncMethod::First) => (it, SyncState::Potential),
    };
    priorities.iter().enumerate().map(state).collect()
}

/// True if the promoted standby certainly has all writes that must survive the loss of the primary.
///
/// Without synchronous standbys, no write must survive. Then the standby with the most WAL is the right choice.
pub fn is_safe(promotion: &PromotionDecision) -> bool {
    let received = |name: &str| {
        promotion
            .positions
            .iter()
            .filter(|it| it.name.eq_ignore_ascii_case(name))
            .filter_map(|it| it.received)
            .max()
    };
    let Some(promoted) = received(&promotion.promoted) else { return false };
    let positions = || promotion.positions.iter().filter_map(|it| Some((it, it.received?)));
    match &promotion.standbys {
        None => positions().all(|(_, it)| it <= promoted),
        // Each synchronous standby has all acknowledged writes.
        Some(standbys) if standbys.method == SyncMethod::First => {
            positions().any(|(answer, received)| answer.synchronous && received <= promoted)
        }
        // Each acknowledged write is on `count` of the standbys. If enough standbys reported their WAL position, at
        // least one of them has the write.
        Some(standbys) => {
            let is_member = |answer: &StandbyPosition| priority(standbys, &answer.name) > 0;
            let members = promotion.positions.iter().filter(|answer| is_member(answer)).count();
            let named = if standbys.names.iter().any(|name| name == "*") { 0 } else { standbys.names.len() };
            let needed = members.max(named) + 1 - (standbys.count as usize).min(members.max(named));
            let mut compared = positions().filter(|(answer, _)| is_member(answer)).map(|(_, it)| it);
            compared.clone().count() >= needed && compared.all(|it| it <= promoted)
        }
    }
}

/// Position of the name in the list, from 1; 0 if it does not match.
fn priority(standbys: &SynchronousStandbys, name: &str) -> u32 {
    let place = standbys.names.iter().position(|it| it == "*" || it.eq_ignore_ascii_case(name));
    place.map_or(0, |it| it as u32 + 1)
}

#[cfg(test)]
mod tests;
