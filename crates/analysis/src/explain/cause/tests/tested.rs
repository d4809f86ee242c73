//! Suspects from the steps of a search, and suspects that perturbations excluded

use super::*;
use crate::strategy::search;
use model::PerSecond;
use model::avoidable_work::WorkEvidence;
use model::search::{LevelOutcome, OverloadReason, SearchStep, SearchStopReason, StepPurpose};

/// Result of a search with this level and this half of its interval.
fn result(level: f64, half: f64) -> SearchResult {
    let interval = Some((level - half, level + half));
    SearchResult { level: Some(level), interval, ..answer() }
}

/// Steps of a search: sustained at 40 per second with this mean, then all clients busy at two higher levels.
fn capped_steps(mean_millis: u64, delivered: f64) -> Vec<StepResult> {
    let step = |level: f64, delivered: f64, outcome| StepResult {
        step: SearchStep {
            scale: LoadScale::Rate,
            level,
            purpose: StepPurpose::Ramp,
            window: Nanos::from_secs(10),
            perturbation: None,
            round: 0,
        },
        outcome,
        delivered: PerSecond(delivered),
        p95: None,
        p99: None,
        mean: Some(Nanos::from_millis(mean_millis)),
        time_objectives: Vec::new(),
    };
    let cap = || LevelOutcome::Invalid { reason: SearchStopReason::ClientCap { clients: 200 } };
    vec![
        step(40.0, 40.0, LevelOutcome::Sustained),
        step(80.0, delivered, cap()),
        step(160.0, delivered, cap()),
    ]
}

/// A service with a global lock delivers 47 per second whatever is offered. Its callers fill the in-flight cap, which is
/// not the limiter.
#[test]
fn suspects_the_inside_of_an_opaque_service() {
    let first = |words: &str, steps: &[StepResult], findings: &[Finding]| {
        let found = suspects(&setup(words), 0, findings, steps, 2.0);
        found.first().map(|it| (describe(it), it.saturation.map(|saturation| saturation.delivered)))
    };
    let (inside, cap_text) =
        ("Service node: service".to_owned(), "ClientCap | Clients 200 -> 400".to_owned());
    let lock = capped_steps(25, 47.0);
    assert_eq!(first("service", &lock, &[cap()]), Some((inside, Some(47.0))));
    // Without a service, nothing is named rather than the cap.
    assert_eq!(first("pooler", &lock, &[cap()]), None);
    // A visible resource comes first.
    let threads_text = "ServiceThreads node: service | ServiceEnv node: service variable: THREADS 5 -> 10";
    assert_eq!(first("service", &lock, &[cap(), threads()]), Some((threads_text.to_owned(), None)));
    // With 200 clients and transactions of four seconds, more clients would deliver more than 50 per second.
    assert_eq!(first("service", &capped_steps(4_000, 50.0), &[cap()]), Some((cap_text, None)));
}

/// The levels violated an objective, and the cap was reached in some of their seconds.
#[test]
fn the_cap_is_not_suspected_if_transactions_take_longer_at_violated_levels() {
    let limits = |mean_millis: u64| {
        let mut steps = capped_steps(mean_millis, 47.0);
        for step in &mut steps[1..] {
            step.outcome = LevelOutcome::NotSustained { reason: OverloadReason::FellBehind { share: 0.6 } };
        }
        let found = suspects(&setup(""), 0, &[cap()], &steps, 2.0);
        found.into_iter().map(|it| it.limit).collect::<Vec<_>>()
    };
    // 200 clients with transactions of 25 ms could deliver 8000 per second, with transactions of four seconds 50.
    assert_eq!(limits(25), []);
    assert_eq!(limits(4_000), [Limit::ClientCap]);
}

/// Raising the cap did not raise what is delivered, although the interval allows it.
#[test]
fn an_unfruitful_cap_is_not_suspected() {
    let known = suspects(&setup(""), 0, &[cap()], &[], 2.0);
    let caused = |ratio: f64| {
        let perturbation = known[0].perturbation.clone().expect("the cap can be raised");
        let (base, changed) = (result(100.0, 10.0), result(100.0 * ratio, 60.0));
        let proof = search::prove(Limit::ClientCap, perturbation, base, changed, 7);
        assert_eq!(proof.verdict, ProofVerdict::Undecided, "{proof:?}");
        cause(&setup(""), &known, &[proof])
    };
    assert_eq!(caused(1.02), Cause::NotKnown);
    assert!(matches!(caused(1.5), Cause::Suspected { .. }));
}

/// A quarter less CPU lowers the maximum of a saturated bystander too.
#[test]
fn a_lowered_quota_proves_only_if_the_other_suspects_are_excluded() {
    let known = suspects(&setup("pooler"), 0, &[postgres(0.93), pool()], &[], 1.2);
    let proof = |at: usize, ratio: f64| {
        let perturbation = known[at].perturbation.clone().expect("the suspect has a knob");
        search::prove(
            known[at].limit.clone(),
            perturbation,
            result(100.0, 2.0),
            result(100.0 * ratio, 2.0),
            7,
        )
    };
    let settled = |mut proofs: Vec<Proof>| {
        settle_decreases(&known, &mut proofs);
        proofs.iter().map(|it| it.verdict).collect::<Vec<_>>()
    };
    assert!(known[0].perturbation.as_ref().is_some_and(Perturbation::is_decrease));
    let lower = || proof(0, 0.78);
    assert_eq!(lower().verdict, ProofVerdict::Limits);
    assert_eq!(settled(vec![lower()]), [ProofVerdict::Undecided]);
    assert_eq!(settled(vec![lower(), proof(1, 1.9)]), [ProofVerdict::Undecided, ProofVerdict::Limits]);
    assert_eq!(settled(vec![lower(), proof(1, 1.0)]), [ProofVerdict::Limits, ProofVerdict::DoesNotLimit]);
    // No other suspect.
    let mut alone = vec![lower()];
    settle_decreases(&known[..1], &mut alone);
    assert_eq!(alone[0].verdict, ProofVerdict::Limits);
}

/// Work that could be avoided comes before the CPU that it saturates, and most of it can be perturbed.
#[test]
fn suspects_avoidable_work_before_the_cpu() {
    let check = |reconnect: bool, evidence: WorkEvidence, expected: &str| {
        let mut setup = setup("");
        setup.load.reconnect = reconnect;
        let work = findings::bound(Bound::AvoidableWork { evidence });
        let found = suspects(&setup, 0, &[postgres(0.99), work, cap()], &[], 2.0);
        let texts: Vec<String> = found.iter().take(2).map(describe).collect();
        assert_eq!(texts, [expected, "Cpu node: postgres | Cpu node: postgres 1 -> 1.5"]);
    };
    let files = |bytes_per_file| WorkEvidence::TemporaryFiles {
        files_per_transaction: 1.0,
        bytes_per_transaction: bytes_per_file,
        bytes_per_file,
        statement: None,
    };
    let memory = |to: &str| format!("Work work: TemporaryFiles | Setting name: work_mem value: {to}");
    check(false, files(1.4e6), &memory("16MB"));
    check(false, files(14e6), &memory("64MB"));
    check(false, files(9e9), &memory("1024MB"));
    check(
        false,
        WorkEvidence::Jit { share: 0.5, statement: None },
        "Work work: Jit | Setting name: jit value: off",
    );
    check(false, WorkEvidence::Planning { share: 0.5, mean: 0.01, statement: None }, "Work work: Planning");
    let logins = || WorkEvidence::Logins { per_second: 90.0, per_transaction: 1.0, mean: None };
    check(true, logins(), "Work work: Logins | KeepConnections");
    check(false, logins(), "Work work: Logins");
    let table = || "public.queue".to_owned();
    check(
        false,
        WorkEvidence::DeadRows { table: table(), live_rows: 600.0, dead_rows: 19_400.0, bytes: None },
        "Work work: DeadRows table: public.queue | Maintenance statement: VACUUM FULL public.queue",
    );
    check(
        false,
        WorkEvidence::OldStatistics { table: table(), live_rows: 4e4, changed_rows: 39_817.0 },
        "Work work: OldStatistics table: public.queue | Maintenance statement: ANALYZE public.queue",
    );
    check(
        false,
        WorkEvidence::EmptyPages { table: table(), bytes: 9e6, row_bytes: 9e4, scans_per_transaction: 1.0 },
        "Work work: EmptyPages table: public.queue | Maintenance statement: VACUUM FULL public.queue",
    );
    check(
        false,
        WorkEvidence::Subtransactions { ids_per_transaction: 200.0, statement: None },
        "Work work: Subtransactions",
    );
    check(
        false,
        WorkEvidence::OldSnapshot { age: 30.0, first_dead_rows: 0.0, last_dead_rows: 9e4 },
        "Work work: OldSnapshot",
    );
    check(
        false,
        WorkEvidence::GrownTable {
            table: table(),
            growth: 2.5,
            read_per_transaction: 2e4,
            returned_per_transaction: 1.0,
        },
        "Work work: OldStatistics table: public.queue | Maintenance statement: ANALYZE public.queue",
    );
    check(
        false,
        WorkEvidence::Autovacuum { share: 0.3, workers: 1.0 },
        "Work work: Autovacuum | Setting name: autovacuum value: off",
    );
    check(
        false,
        WorkEvidence::DiscardedRows {
            table: table(),
            read_per_transaction: 2e4,
            returned_per_transaction: 1.0,
        },
        "Work work: DiscardedRows table: public.queue",
    );
    check(
        false,
        WorkEvidence::Function { function: table(), share: 0.9, calls_per_transaction: 1.0, mean: 0.01 },
        "Work work: Function function: public.queue",
    );
}

#[test]
fn conflicts_limit_what_errors_violate() {
    let failures = |code: &str, count| Finding::Failures {
        cell: 0,
        code: code.to_owned(),
        name: None,
        count,
        sent: 1000,
    };
    let deadlocks = || Finding::Deadlocks { cell: 0, per_thousand: 20.0, interval: None, runs: 1 };
    let violated = |text: &str| {
        let mut steps = capped_steps(5, 80.0);
        let reason = OverloadReason::Objective { text: text.to_owned() };
        for step in &mut steps[1..] {
            step.outcome = LevelOutcome::NotSustained { reason: reason.clone() };
        }
        steps
    };
    let first = |findings: &[Finding], objective: &str| {
        let all = suspects(&setup(""), 0, findings, &violated(objective), 4.0);
        all.first().map(|it| it.limit.clone())
    };
    let conflicts = |code: &str| Some(Limit::Conflicts { code: code.to_owned() });
    assert_eq!(first(&[postgres(0.99), failures("40001", 20)], "errors < 1%"), conflicts("40001"));
    assert_eq!(first(&[deadlocks(), failures("40001", 6)], "errors < 0.5%"), conflicts("40P01"));
    // Few conflicts, another error, another objective.
    assert_eq!(first(&[failures("40001", 4)], "errors < 1%"), None);
    assert_eq!(first(&[failures("53200", 90)], "errors < 1%"), None);
    assert_eq!(first(&[failures("40001", 20)], "p99 < 1s"), None);
}
