//! What is said of reads on replicas?

use super::Numbers;
use model::Nanos;
use model::freshness::{FreshnessResult, ReplicaFreshness, StaleReads};

/// Called when it is written, from one thread, once per sentence.
pub trait FreshnessWords {
    /// A heading, or a word of a table.
    fn freshness(&self, it: FreshnessTerm) -> &'static str;
    /// The heading of a quantile of the time until a replica showed what was acknowledged.
    fn visible(&self, quantile: &str) -> String;
    /// The heading of how many writes were not there within that time.
    fn unseen(&self, bound: Nanos) -> String;
    /// How often one's own write was not there: a sentence with its stop. `name`: of the cell, empty where there is only one.
    fn own_writes(&self, it: &FreshnessResult, name: &str) -> String;
    /// How often a session saw something older than before, by reading all replicas in turn: a sentence with its stop.
    fn in_turn(&self, it: &StaleReads) -> String;
    /// What was promised of reads, and whether it was kept: a sentence with its stop.
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
    /// At once after an acknowledgement.
    Asked,
    Stale,
    Unanswered,
}

/// What a sentence says of one's own writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReplicaGroup<'a> {
    NoAnswer,
    /// So many reads of so many replicas, and the highest probability that one of them may have.
    AllThere {
        reads: u64,
        replicas: u64,
        highest: f64,
    },
    /// Of the replica that was stale most often.
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

/// `12.3 % [10.1, 14.9]`; shares below a hundredth have one digit more.
pub(crate) fn share(it: &StaleReads, numbers: &Numbers) -> String {
    let decimals = decimals(it.share());
    let [low, high] = [it.interval.0, it.interval.1].map(|end| numbers.fixed(100.0 * end, decimals));
    format!("{} [{low}{}{high}]", numbers.percent(it.share(), decimals), numbers.among())
}

pub(super) fn decimals(share: f64) -> usize {
    if share < 0.01 { 2 } else { 1 }
}
