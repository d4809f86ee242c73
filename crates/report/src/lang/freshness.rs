//! Sentences about reads on replicas.

use super::Numbers;
use model::Nanos;
use model::freshness::{FreshnessResult, ReplicaFreshness, StaleReads};

/// Sentences about freshness. Called while a report is written, from one thread, once per sentence.
pub trait FreshnessWords {
    /// A heading, or a word of a table.
    fn freshness(&self, it: FreshnessTerm) -> &'static str;
    /// Heading: quantile of the time until a replica shows an acknowledged write.
    fn visible(&self, quantile: &str) -> String;
    /// Heading: number of writes that were not visible within this time.
    fn unseen(&self, bound: Nanos) -> String;
    /// Share of own writes that were not visible: a sentence with its full stop. `name`: name of the cell; empty if
    /// there is only one.
    fn own_writes(&self, it: &FreshnessResult, name: &str) -> String;
    /// Share of stale reads of a session that reads all replicas in turn: a sentence with its full stop.
    fn in_turn(&self, it: &StaleReads) -> String;
    /// Promise about reads, and whether it was kept: a sentence with its full stop.
    fn applied(&self, kept: bool) -> String;
}

/// Headings, and words of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreshnessTerm {
    // The section.
    Reads,
    // Columns.
    Cell,
    Replica,
    /// Reads immediately after an acknowledgement.
    Asked,
    Stale,
    Unanswered,
}

/// Replicas that a sentence about own writes covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReplicaGroup<'a> {
    NoAnswer,
    /// All reads of all replicas were fresh: their numbers, and the upper bound of the probability of a stale one.
    AllThere {
        reads: u64,
        replicas: u64,
        highest: f64,
    },
    /// The replica with the most stale reads.
    Stale(&'a ReplicaFreshness, StaleReads),
}

impl ReplicaGroup<'_> {
    pub fn of(it: &FreshnessResult) -> ReplicaGroup<'_> {
        let answered = || it.replicas.iter().filter_map(|it| Some((it, it.stale?)));
        let worst = answered().max_by(|one, other| one.1.share().total_cmp(&other.1.share()));
        match worst {
            None => ReplicaGroup::NoAnswer,
            Some((_, stale)) if stale.stale == 0 => ReplicaGroup::AllThere {
                reads: answered().map(|it| it.1.total).sum(),
                replicas: answered().count() as u64,
                highest: answered().map(|it| it.1.interval.1).fold(0.0, f64::max),
            },
            Some((replica, stale)) => ReplicaGroup::Stale(replica, stale),
        }
    }
}

/// `12.3 % [10.1, 14.9]`; shares below one per cent have one more digit.
pub(crate) fn share(it: &StaleReads, numbers: &Numbers) -> String {
    let decimals = decimals(it.share());
    let [low, high] = [it.interval.0, it.interval.1].map(|end| numbers.fixed(100.0 * end, decimals));
    format!("{} [{low}{}{high}]", numbers.percent(it.share(), decimals), numbers.among())
}

pub(super) fn decimals(share: f64) -> usize {
    if share < 0.01 { 2 } else { 1 }
}
