//! Sentences about reads on replicas

use super::{Lang, Numbers};
use crate::say;
use model::Nanos;
use model::freshness::{FreshnessResult, ReplicaFreshness, StaleReads};

impl Lang {
    /// Heading: quantile of the time until an acknowledged write is visible on a replica.
    pub fn visible(&self, quantile: &str) -> String {
        say!(self, "freshness-column-visible", quantile)
    }

    /// Heading: number of writes that were not visible within this time.
    pub fn not_visible(&self, bound: Nanos) -> String {
        say!(self, "freshness-column-not-visible", bound = self.numbers().chosen(bound))
    }

    /// Share of a session's own writes that it did not see: a sentence with its full stop. `name` is the name of the
    /// cell; empty if there is only one cell.
    pub fn own_writes(&self, result: &FreshnessResult, name: &str) -> String {
        let text = match ReplicaGroup::from_result(result) {
            ReplicaGroup::NoAnswer => say!(self, "freshness-no-answer"),
            ReplicaGroup::AllVisible { reads, replicas, highest } => {
                let highest = self.numbers().percent(highest, decimals(highest));
                say!(self, "freshness-all-visible", reads, replicas, highest)
            }
            ReplicaGroup::Stale(replica, stale) => {
                say!(
                    self,
                    "freshness-some-stale",
                    share = self.share_of_reads(&stale),
                    replica = &replica.node
                )
            }
        };
        super::with_name(name, text + ".")
    }

    /// Share of stale reads of a session that reads all replicas in turn: a sentence with its full stop.
    pub fn round_robin(&self, stale: &StaleReads) -> String {
        if stale.stale > 0 {
            return say!(self, "freshness-round-robin-stale", share = self.share_of_reads(stale));
        }
        let highest = self.numbers().percent(stale.interval.1, decimals(stale.interval.1));
        say!(self, "freshness-round-robin-fresh", reads = stale.total, highest)
    }

    /// Promise about reads, and whether it was kept: a sentence with its full stop.
    pub fn remote_apply(&self, is_kept: bool) -> String {
        say!(self, "freshness-remote-apply", kept = is_kept)
    }

    /// Share of stale reads: `12.3 % (95 % CI 10.1 to 14.9 %) of 600 reads`.
    fn share_of_reads(&self, stale: &StaleReads) -> String {
        let (numbers, decimals) = (self.numbers(), decimals(stale.share()));
        let (low, high) = stale.interval;
        say!(
            self,
            "freshness-share",
            share = numbers.percent(stale.share(), decimals),
            low = numbers.fixed(100.0 * low, decimals),
            high = numbers.percent(high, decimals),
            reads = stale.total
        )
    }
}

/// Replicas that a sentence about own writes covers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ReplicaGroup<'a> {
    NoAnswer,
    /// All reads on all replicas were fresh. The fields are the numbers of replicas and reads, and an upper bound on
    /// the probability of a stale read.
    AllVisible {
        reads: u64,
        replicas: u64,
        highest: f64,
    },
    /// Replica with the most stale reads.
    Stale(&'a ReplicaFreshness, StaleReads),
}

impl ReplicaGroup<'_> {
    fn from_result(result: &FreshnessResult) -> ReplicaGroup<'_> {
        let measured = || result.replicas.iter().filter_map(|replica| Some((replica, replica.stale?)));
        let worst = measured().max_by(|one, other| one.1.share().total_cmp(&other.1.share()));
        match worst {
            None => ReplicaGroup::NoAnswer,
            Some((_, stale)) if stale.stale == 0 => ReplicaGroup::AllVisible {
                reads: measured().map(|it| it.1.total).sum(),
                replicas: measured().count() as u64,
                highest: measured().map(|it| it.1.interval.1).fold(0.0, f64::max),
            },
            Some((replica, stale)) => ReplicaGroup::Stale(replica, stale),
        }
    }
}

/// Formats a share: `12.3 % [10.1, 14.9]`; shares below one per cent have one more digit.
pub(crate) fn share(stale: &StaleReads, numbers: &Numbers) -> String {
    let decimals = decimals(stale.share());
    let [low, high] = [stale.interval.0, stale.interval.1].map(|end| numbers.fixed(100.0 * end, decimals));
    format!("{} [{low}{}{high}]", numbers.percent(stale.share(), decimals), numbers.among())
}

fn decimals(share: f64) -> usize {
    if share < 0.01 { 2 } else { 1 }
}
