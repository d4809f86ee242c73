//! Tests the measured replication delay, and that there is none where the settings exclude it

use super::chain::{TestStack, ask, postgres, stack};
use super::replicas::{await_result, replicated};
use model::Nanos;
use model::freshness::{Freshness, ReplicaReads};
use model::plan::{NodeKind, Promoter, Replication, Stack, SyncMode, Transport};
use stack::freshness::{FreshnessProber, SERIES};
use stack::sampler::Observation;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Starts a primary with these settings, and two replicas.
fn start(settings: &[(&str, &str)], sync: SyncMode) -> TestStack {
    let mut node = postgres(Transport::Tcp);
    let NodeKind::Postgres(plan) = &mut node.kind else { unreachable!("it is one") };
    plan.settings.extend(settings.iter().map(|it| (it.0.to_owned(), it.1.to_owned())));
    let plan = Stack { replication: Some(Replication::with_defaults(2, sync)), ..stack(&[node]) };
    TestStack::up(&plan).unwrap_or_else(|it| panic!("{it:?}"))
}

fn probed(test_stack: &TestStack) -> (FreshnessProber, Receiver<Observation>) {
    let (sender, observations) = channel();
    let begun = Instant::now();
    let now = move || Some(Nanos::from(begun.elapsed()));
    let prober = FreshnessProber::start(test_stack.chain.direct_tcp_targets(), 1, now, &sender);
    (prober.unwrap_or_else(|it| panic!("{it}")), observations)
}

fn replica_reads<'a>(freshness: &'a Freshness, node: &str) -> &'a ReplicaReads {
    freshness.replicas.iter().find(|it| it.node == node).unwrap_or_else(|| panic!("no {node}: {freshness:?}"))
}

#[test]
fn delayed_replica_is_stale_for_its_delay() {
    let mut test_stack = start(&[], SyncMode::Async);
    let delayed = test_stack.admin("postgres-3");
    ask(&delayed, "alter system set recovery_min_apply_delay = '400ms'");
    ask(&delayed, "select pg_reload_conf()");
    await_result(&mut test_stack, &delayed, "show recovery_min_apply_delay", "400ms");
    let (prober, observations) = probed(&test_stack);
    thread::sleep(Duration::from_secs(4));
    let freshness = prober.stop(false);
    println!("{freshness:?}");
    let late = replica_reads(&freshness, "postgres-3");
    assert!(freshness.acknowledged >= 10 && late.own_writes.total >= 5, "{freshness:?}");
    assert_eq!(late.own_writes.stale, late.own_writes.total, "every read is stale: {late:?}");
    assert_eq!(late.visible_us.len() as u64, late.own_writes.total, "what was waited for came: {late:?}");
    // The delay starts at the primary's commit, which the client receives when it is flushed to disk.
    assert!(late.visible_us[0] > 300_000, "{late:?}");
    assert!(late.visible_us[late.visible_us.len() / 2] < 800_000, "{late:?}");
    // The other replica is up to date, and a reader that alternates sees the older value after the newer one.
    let prompt = replica_reads(&freshness, "postgres-2");
    assert!(prompt.visible_us[prompt.visible_us.len() / 2] < 200_000, "{prompt:?}");
    let in_turn = freshness.round_robin.unwrap();
    assert!(in_turn.stale > 0 && in_turn.stale < in_turn.total, "{in_turn:?}");
    assert!(
        freshness.replicas.iter().all(|it| it.node != "postgres"),
        "the primary is no replica: {freshness:?}"
    );
    let samples: Vec<_> = observations
        .try_iter()
        .flat_map(|observation| match observation {
            Observation::Samples(all) => all,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(samples.iter().all(|it| it.series == SERIES), "{samples:?}");
    assert!(samples.iter().any(|it| it.node == "postgres-3" && it.value > 0.3), "{samples:?}");
    // No schema is left on any server.
    let left = "select count(*) from pg_namespace where nspname like 'pgdyno%'";
    for server in test_stack.chain.direct_targets() {
        await_result(&mut test_stack, &server.target, left, "0");
    }
}

#[test]
fn remote_apply_is_never_stale_and_prober_survives_failover() {
    // The setting of the application's user counts, not the superuser's.
    let mut test_stack = start(&[], SyncMode::First(2));
    ask(&test_stack.admin("postgres"), "alter role app set synchronous_commit = remote_apply");
    let (prober, _told) = probed(&test_stack);
    thread::sleep(Duration::from_secs(3));
    let freshness = prober.stop(false);
    println!("{freshness:?}");
    for node in ["postgres-2", "postgres-3"] {
        let reads = replica_reads(&freshness, node);
        assert!(reads.own_writes.total >= 5 && reads.own_writes.stale == 0, "{reads:?}");
        assert_eq!(reads.visible_us.len() as u64, reads.own_writes.total, "{reads:?}");
    }
    assert_eq!(freshness.round_robin.unwrap().stale, 0, "{freshness:?}");

    // Like the previous test, with a quorum of one, whose primary fails.
    test_stack
        .reconcile(&replicated(&[], SyncMode::Any(1), Promoter::default()))
        .unwrap_or_else(|it| panic!("{it:?}"));
    let (prober, _told) = probed(&test_stack);
    thread::sleep(Duration::from_millis(1500));
    test_stack.chain.kill(&mut test_stack.supervisor, "postgres").unwrap();
    let promotion =
        test_stack.chain.fail_over(&mut test_stack.supervisor).unwrap_or_else(|it| panic!("{it:?}"));
    thread::sleep(Duration::from_millis(2500));
    prober.stop_writing();
    let freshness = prober.stop(false);
    println!("{freshness:?}");
    let follower = if promotion.to == "postgres-2" { "postgres-3" } else { "postgres-2" };
    // The remaining replica was read before and after the failover, the new primary only before. The dead server has no
    // answers, which is not zero.
    let [stays, rose, dead] =
        [follower, promotion.to.as_str(), "postgres"].map(|it| replica_reads(&freshness, it));
    assert!(stays.own_writes.total > rose.own_writes.total + 4 && rose.own_writes.total > 2, "{freshness:?}");
    assert!(dead.own_writes.total == 0 && dead.unanswered > 4, "{freshness:?}");
    let left = "select count(*) from pg_namespace where nspname like 'pgdyno%'";
    let primary = test_stack.admin(&promotion.to);
    await_result(&mut test_stack, &primary.in_database("app"), left, "0");
}
