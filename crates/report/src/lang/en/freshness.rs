//! English: reads on replicas.

use super::page::count;
use super::{En, NUMBERS as EN};
use crate::lang::freshness::{FreshnessTerm, FreshnessWords, ReplicaGroup, decimals};
use model::Nanos;
use model::freshness::{FreshnessResult, StaleReads};

impl FreshnessWords for En {
    fn freshness(&self, it: FreshnessTerm) -> &'static str {
        match it {
            FreshnessTerm::Reads => "Reads on replicas",
            FreshnessTerm::Cell => "cell",
            FreshnessTerm::Replica => "replica",
            FreshnessTerm::Asked => "reads",
            FreshnessTerm::Stale => "stale",
            FreshnessTerm::Unanswered => "no answer",
        }
    }

    fn visible(&self, quantile: &str) -> String {
        format!("visible after, {quantile}")
    }

    fn unseen(&self, bound: Nanos) -> String {
        format!("not within {}", EN.chosen(bound))
    }

    fn own_writes(&self, it: &FreshnessResult, name: &str) -> String {
        let told = match ReplicaGroup::of(it) {
            ReplicaGroup::NoAnswer => {
                "no replica answered who was asked for what had just been written".to_owned()
            }
            ReplicaGroup::AllThere { reads, replicas, highest } => format!(
                "read at once after its acknowledgement, every write was there, in {} on {} (95 %: fewer than {} are stale)",
                count(reads as usize, "read"),
                count(replicas as usize, "replica"),
                EN.percent(highest, decimals(highest)),
            ),
            ReplicaGroup::Stale(replica, stale) => format!(
                "read at once after its acknowledgement, a write was not there in {} on {}",
                of_reads(&stale),
                replica.node,
            ),
        };
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        format!("{name}{told}.")
    }

    fn in_turn(&self, it: &StaleReads) -> String {
        let who = "A session that read the replicas in turn";
        match it.stale {
            0 => format!(
                "{who} never saw anything older than before, in {} (95 %: fewer than {} are).",
                count(it.total as usize, "read"),
                EN.percent(it.interval.1, decimals(it.interval.1)),
            ),
            _ => format!("{who} saw something older than before in {}.", of_reads(it)),
        }
    }

    fn applied(&self, kept: bool) -> String {
        let promised =
            "A commit waits until every replica has applied it (remote_apply): no read may be stale";
        format!("{promised}, and {}.", if kept { "none was" } else { "yet some were" })
    }
}

/// `12.3 % (95 %: 10.1 to 14.9 %) of 600 reads`.
fn of_reads(it: &StaleReads) -> String {
    let decimals = decimals(it.share());
    let (low, high) = it.interval;
    format!(
        "{} (95 %: {} to {}) of {}",
        EN.percent(it.share(), decimals),
        EN.fixed(100.0 * low, decimals),
        EN.percent(high, decimals),
        count(it.total as usize, "read"),
    )
}
