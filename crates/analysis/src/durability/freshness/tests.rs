use super::*;
use crate::fixture::trial;
use model::SplitMix64;
use model::freshness::ReplicaReads;
use model::plan::{Replication, SyncMode};

fn reads(all: u64, old: u64, changes: u64) -> ReadCounts {
    ReadCounts { total: all, stale: old, changes }
}

/// 95 % intervals from R's `prop.test(x, n, correct = FALSE)`.
#[test]
fn equals_wilson_intervals_for_independent_reads() {
    let check = |old: u64, all: u64, expected: &str| {
        let (low, high) = wilson_interval(old as f64 / all as f64, all as f64);
        assert_eq!(format!("{low:.4} {high:.4}"), expected, "{old} of {all}");
    };
    check(0, 10, "0.0000 0.2775");
    check(0, 300, "0.0000 0.0126");
    check(15, 100, "0.0931 0.2328");
    check(50, 100, "0.4038 0.5962");
    check(100, 100, "0.9630 1.0000");
}

#[test]
fn correlated_reads_widen_the_interval() {
    let check = |reads: ReadCounts, expected: f64| {
        let effective = effective_count(reads);
        assert!((effective - expected).abs() < 0.05, "{reads:?}: {effective}");
    };
    // Without stale reads, their correlation is unknown.
    check(reads(300, 0, 0), 300.0);
    check(reads(300, 300, 0), 300.0);
    // Chance alone would cause 83 changes: 2 · 250 · 50 / 300.
    check(reads(300, 50, 83), 297.6);
    // More changes than expected by chance do not increase the effective number of reads.
    check(reads(300, 150, 299), 300.0);
    // One burst of stale reads counts hardly more than one read.
    check(reads(300, 50, 2), 3.6);
    // All reads of one trial were stale, and no read of the other trial: two trials do not predict a third.
    check(reads(300, 150, 0), 1.0);
}

/// The interval contains the true share of a chain with persistent states.
#[test]
fn intervals_cover_the_true_share() {
    let mut rng = SplitMix64(7);
    let mut unit = || rng.uniform();
    let mut held = 0;
    let rounds = 1000;
    for _ in 0..rounds {
        // On average, 10 stale reads are followed by 40 fresh ones.
        let (mut is_old, mut all) = (unit() < 0.2, reads(0, 0, 0));
        for _ in 0..1500 {
            let leaves = unit() < if is_old { 0.1 } else { 0.025 };
            is_old ^= leaves;
            all = sum(all, reads(1, u64::from(is_old), u64::from(leaves)));
        }
        let (low, high) = stale_share(all).expect("there are reads").interval;
        held += usize::from((low..=high).contains(&0.2));
    }
    // Binomial at 95 %: 950 ± 7.
    assert!((925..=975).contains(&held), "{held} of {rounds}");
}

#[test]
fn computes_quantiles_of_the_visibility_delay() {
    let check = |visible: u64, all: u64, quantile: f64, expected: Option<VisibilityDelay>| {
        let delays_us: Vec<u64> = (1..=visible).collect();
        assert_eq!(visibility_delay(&delays_us, all, quantile), expected, "{visible} of {all}, {quantile}");
    };
    let within = |it| Some(VisibilityDelay::Within(Nanos::from_micros(it)));
    check(0, 0, 0.5, None);
    check(19, 19, 0.5, None);
    check(20, 20, 0.5, within(10));
    check(100, 100, 0.9, within(90));
    check(99, 99, 0.9, None);
    // Numbers that were not visible rank after all others.
    check(60, 100, 0.5, within(50));
    check(50, 100, 0.5, within(50));
    check(49, 100, 0.5, Some(VisibilityDelay::AfterBound));
    check(49, 100, 0.9, Some(VisibilityDelay::AfterBound));
}

#[test]
fn merges_trials_of_a_cell() {
    let replica = |node: &str, own_writes, unanswered, visible_us: &[u64]| ReplicaReads {
        node: node.to_owned(),
        own_writes,
        unanswered,
        visible_us: visible_us.to_vec(),
    };
    let freshness = |acknowledged, replicas: &[ReplicaReads], in_turn| Freshness {
        bound: Nanos::from_secs(5),
        acknowledged,
        replicas: replicas.to_vec(),
        round_robin: in_turn,
    };
    let one = freshness(12, &[replica("b", reads(12, 3, 4), 0, &[7; 12])], Some(reads(10, 1, 2)));
    // A former primary, and a replica that does not respond.
    let replica_reads = [replica("a", reads(9, 9, 0), 3, &[1, 2]), replica("b", reads(0, 0, 0), 12, &[])];
    let other = freshness(12, &replica_reads, Some(reads(10, 0, 0)));
    let silent = freshness(0, &[], Some(reads(0, 0, 0)));
    let staleness = cell_freshness(2, false, &[&one, &silent, &other]).expect("numbers were acknowledged");
    assert_eq!((staleness.cell, staleness.trials, staleness.acknowledged), (2, 2, 24));
    let summary: Vec<_> = staleness
        .replicas
        .iter()
        .map(|replica| {
            (
                replica.node.as_str(),
                replica.stale.map(|it| (it.stale, it.total)),
                replica.unanswered,
                replica.not_visible,
            )
        })
        .collect();
    assert_eq!(summary, [("a", Some((9, 9)), 3, 7), ("b", Some((3, 12)), 12, 0)]);
    assert_eq!(staleness.round_robin.map(|it| (it.stale, it.total)), Some((1, 20)));
    // Missing data is not zero.
    assert_eq!(cell_freshness(2, false, &[&silent]), None);
    let single = cell_freshness(2, false, &[&other]).expect("numbers were acknowledged");
    assert!(single.replicas[1].stale.is_none() && single.replicas[1].p50.is_none(), "{single:?}");
}

#[test]
fn remote_apply_on_all_replicas_promises_freshness() {
    let check = |settings: &[(&str, &str)], replication: Option<Replication>, expected: bool| {
        let mut setup = trial::setup("direct");
        let Some(NodeKind::Postgres(postgres)) = setup.stack.nodes.last_mut().map(|it| &mut it.kind) else {
            panic!("the fixture ends with PostgreSQL")
        };
        postgres.settings = settings.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        setup.stack.replication.clone_from(&replication);
        assert_eq!(promises_to_apply(&setup), expected, "{settings:?} {replication:?}");
    };
    let apply = [("synchronous_commit", "remote_apply")];
    let replication_with = |count, sync| Some(Replication::with_defaults(count, sync));
    check(&apply, replication_with(2, SyncMode::First(2)), true);
    check(&[("Synchronous_Commit", "'remote_apply'")], replication_with(1, SyncMode::Any(1)), true);
    check(&apply, replication_with(2, SyncMode::Any(1)), false);
    check(&apply, replication_with(2, SyncMode::Async), false);
    check(&apply, None, false);
    check(&[], replication_with(1, SyncMode::Any(1)), false);
    check(&[apply[0], ("synchronous_commit", "on")], replication_with(1, SyncMode::Any(1)), false);
    let manager = FailoverManager::External(model::plan::ClusterManager::default());
    check(&apply, Some(Replication { manager, ..Replication::with_defaults(1, SyncMode::First(1)) }), false);
}
