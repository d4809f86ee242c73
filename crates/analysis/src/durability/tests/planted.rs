//! Defects planted into valid histories, each of which the check must find

use super::super::judge;
use super::simulated_cluster::{Evidence, Scenario, SimulatedCluster, histories};
use model::durability::*;
use model::{Code, Nanos, SplitMix64};

/// Defect, with a function that plants it and the anomaly or doubt that it must cause.
struct PlantedDefect {
    name: &'static str,
    /// Function that plants the defect; it returns false if this history has no place for it.
    plant: fn(&mut Evidence, &mut SplitMix64) -> bool,
    is_found: fn(&DurabilityVerdict) -> bool,
}

const DEFECTS: &[PlantedDefect] = &[
    PlantedDefect { name: "lost", plant: remove_last_write, is_found: |it| broken(it, AnomalyKind::Lost, 1) },
    PlantedDefect {
        name: "phantom",
        plant: add_phantom_row,
        is_found: |it| broken(it, AnomalyKind::Phantom, 1),
    },
    PlantedDefect {
        name: "duplicate",
        plant: duplicate_row,
        is_found: |it| broken(it, AnomalyKind::Duplicate, 1),
    },
    PlantedDefect {
        name: "flicker",
        plant: hide_row_in_last_read,
        is_found: |it| broken(it, AnomalyKind::Flicker, 1),
    },
    PlantedDefect {
        name: "hole",
        plant: remove_inner_write,
        is_found: |it| broken(it, AnomalyKind::Hole, 1),
    },
    PlantedDefect {
        name: "swapped session",
        plant: swap_keys,
        is_found: |it| broken(it, AnomalyKind::Phantom, 2) && broken(it, AnomalyKind::Lost, 2),
    },
    PlantedDefect {
        name: "torn ledger tail",
        plant: |it, rng| truncate_ledger(it, rng, LedgerEnd::Torn { bytes: 5 }),
        is_found: |it| unknown(it, InconclusiveReason::LedgerTorn { bytes: 5 }),
    },
    PlantedDefect {
        name: "ledger tail lost",
        plant: |it, rng| truncate_ledger(it, rng, LedgerEnd::Open),
        is_found: |it| unknown(it, InconclusiveReason::LedgerOpen),
    },
    PlantedDefect {
        name: "local as acknowledged",
        plant: acknowledge_local_write,
        is_found: |it| broken(it, AnomalyKind::Lost, 1),
    },
    PlantedDefect {
        name: "failure present",
        plant: report_failure,
        is_found: |it| broken(it, AnomalyKind::FalseFailure, 1),
    },
    PlantedDefect {
        name: "wrong timeline",
        plant: |evidence, _| {
            let oldest = evidence.history.samples[0].server.clone();
            let last = evidence.reads.last_mut().expect("the evidence has reads");
            let older = oldest.timeline < last.server.timeline;
            last.server = oldest;
            older
        },
        is_found: |verdict| {
            let old = |it: &InconclusiveReason| matches!(it, InconclusiveReason::ReadFromOldTimeline { .. });
            verdict.conclusion != Conclusion::Kept && verdict.doubts.iter().any(old)
        },
    },
    PlantedDefect {
        name: "clock −1 h",
        plant: turn_clock_back,
        is_found: |verdict| {
            verdict.clock_steps_us.len() == 1
                && (verdict.clock_steps_us[0] + 3_600_000_000).abs() < 10_000
                && verdict.conclusion == Conclusion::Kept
        },
    },
    PlantedDefect {
        name: "replica as primary",
        plant: |evidence, _| {
            let last = evidence.reads.last_mut().expect("the evidence has reads");
            // Only a sample of the server's state shows that the server lags.
            last.in_recovery = true;
            last.rows.pop();
            true
        },
        is_found: |verdict| {
            let standby = |it: &InconclusiveReason| matches!(it, InconclusiveReason::ReadFromStandby { .. });
            verdict.conclusion == Conclusion::Unknown && verdict.doubts.iter().any(standby)
        },
    },
    PlantedDefect {
        name: "split brain",
        plant: acknowledge_on_old_primary,
        is_found: |it| broken(it, AnomalyKind::SplitBrain, 1),
    },
    PlantedDefect {
        name: "laggard promoted",
        plant: |run, _| {
            let Some(promotion) = run.history.promotions.first_mut() else { return false };
            let promoted = promotion.positions.iter_mut().find(|it| it.name == promotion.promoted);
            let answer = promoted.expect("the standby answered");
            let received = answer.received.expect("the standby answered");
            if received == 0 || promotion.positions.len() < 2 {
                return false;
            }
            let promoted = promotion.promoted.clone();
            for position in &mut promotion.positions {
                position.received = Some(if position.name == promoted { received - 1 } else { received });
            }
            true
        },
        is_found: |it| broken(it, AnomalyKind::WrongPromotion, 1),
    },
];

fn broken(verdict: &DurabilityVerdict, kind: AnomalyKind, count: u64) -> bool {
    let found = verdict.anomalies.iter().any(|it| it.kind == kind && it.count == count);
    verdict.conclusion == Conclusion::Broken && found
}

fn unknown(verdict: &DurabilityVerdict, doubt: InconclusiveReason) -> bool {
    verdict.conclusion == Conclusion::Unknown && verdict.doubts.contains(&doubt)
}

/// Positions of writes with a single attempt, and the attempts.
fn attempts(evidence: &Evidence) -> Vec<(usize, WriteAttempt)> {
    let ended = evidence.entries.iter().enumerate().filter_map(|(place, entry)| match entry {
        LedgerEntry::Completed(it) => Some((place, *it)),
        _ => None,
    });
    let all: Vec<(usize, WriteAttempt)> = ended.collect();
    let is_only_attempt =
        |(_, it): &&(usize, WriteAttempt)| all.iter().filter(|(_, other)| other.key == it.key).count() == 1;
    all.iter().filter(is_only_attempt).copied().collect()
}

/// Random write with this outcome that is present, or absent, at the end.
fn pick(
    evidence: &Evidence,
    rng: &mut SplitMix64,
    outcome: fn(WriteOutcome) -> bool,
    present: bool,
) -> Option<(usize, WriteAttempt)> {
    let rows = &evidence.reads.last()?.rows;
    let fits = |(_, attempt): &(usize, WriteAttempt)| {
        outcome(attempt.outcome) && rows.iter().any(|(key, _)| *key == attempt.key) == present
    };
    let all: Vec<(usize, WriteAttempt)> = attempts(evidence).into_iter().filter(fits).collect();
    (!all.is_empty()).then(|| all[rng.below(all.len() as u64) as usize])
}

fn acknowledged(outcome: WriteOutcome) -> bool {
    outcome == WriteOutcome::Acknowledged
}

fn remove(evidence: &mut Evidence, key: WriteKey) {
    for read in &mut evidence.reads {
        read.rows.retain(|(it, _)| *it != key);
    }
}

/// Removes the last write of a session on its server, which leaves no hole.
fn remove_last_write(evidence: &mut Evidence, _: &mut SplitMix64) -> bool {
    let last = attempts(evidence).into_iter().rev().find(|(_, it)| it.outcome == WriteOutcome::Acknowledged);
    let Some((_, last)) = last else { return false };
    remove(evidence, last.key);
    true
}

fn add_phantom_row(evidence: &mut Evidence, rng: &mut SplitMix64) -> bool {
    let session = rng.below(evidence.reserved.len() as u64) as u32;
    let sequence = evidence.reserved[session as usize] + rng.below(100);
    evidence
        .reads
        .last_mut()
        .expect("the evidence has reads")
        .rows
        .push((WriteKey { session, sequence }, true));
    true
}

fn duplicate_row(evidence: &mut Evidence, rng: &mut SplitMix64) -> bool {
    let Some((_, attempt)) = pick(evidence, rng, acknowledged, true) else { return false };
    evidence.reads.last_mut().expect("the evidence has reads").rows.push((attempt.key, true));
    true
}

fn hide_row_in_last_read(evidence: &mut Evidence, rng: &mut SplitMix64) -> bool {
    let Some((_, attempt)) = pick(evidence, rng, |it| matches!(it, WriteOutcome::Unknown(_)), true) else {
        return false;
    };
    evidence.reads.last_mut().expect("the evidence has reads").rows.retain(|(key, _)| *key != attempt.key);
    true
}

/// Removes a write that is not the last of its session on its server.
fn remove_inner_write(evidence: &mut Evidence, _: &mut SplitMix64) -> bool {
    let all = attempts(evidence);
    let rows = evidence.reads.last().expect("the evidence has reads").rows.clone();
    let is_present = |key: WriteKey| rows.iter().any(|(it, _)| *it == key);
    let followed = |attempt: &WriteAttempt| {
        all.iter().any(|(_, other)| {
            other.key.session == attempt.key.session
                && other.key.sequence > attempt.key.sequence
                && other.server == attempt.server
                && is_present(other.key)
        })
    };
    let found = all.iter().find(|(_, it)| it.outcome == WriteOutcome::Acknowledged && followed(it));
    let Some((_, attempt)) = found else { return false };
    remove(evidence, attempt.key);
    true
}

/// Swaps the keys of two rows, which the tokens reveal.
fn swap_keys(evidence: &mut Evidence, _: &mut SplitMix64) -> bool {
    let all = attempts(evidence);
    let first = |session: u32| {
        all.iter().find(|(_, it)| it.key.session == session && it.outcome == WriteOutcome::Acknowledged)
    };
    let (Some((_, one)), Some((_, other))) = (first(0), first(1)) else { return false };
    for read in &mut evidence.reads {
        for (key, authentic) in &mut read.rows {
            *authentic &= *key != one.key && *key != other.key;
        }
    }
    true
}

fn truncate_ledger(evidence: &mut Evidence, rng: &mut SplitMix64, end: LedgerEnd) -> bool {
    let left = evidence.entries.len() - 1 - rng.below(5) as usize;
    evidence.entries.truncate(left);
    evidence.history.end = Some(end);
    true
}

/// Acknowledges a write that was committed only on the old primary, as if the client had ignored the warning.
fn acknowledge_local_write(evidence: &mut Evidence, rng: &mut SplitMix64) -> bool {
    let lost = pick(evidence, rng, |it| it == WriteOutcome::AcknowledgedLocally, false);
    let Some((place, mut attempt)) = lost else { return false };
    attempt.outcome = WriteOutcome::Acknowledged;
    evidence.entries[place] = LedgerEntry::Completed(attempt);
    true
}

fn report_failure(evidence: &mut Evidence, rng: &mut SplitMix64) -> bool {
    let Some((place, mut attempt)) = pick(evidence, rng, acknowledged, true) else { return false };
    attempt.outcome = WriteOutcome::Failed(Code::SqlState(*b"40001"));
    evidence.entries[place] = LedgerEntry::Completed(attempt);
    true
}

fn turn_clock_back(evidence: &mut Evidence, _: &mut SplitMix64) -> bool {
    let half = evidence.entries.len() / 2;
    let clocks = evidence.entries.iter().filter(|it| matches!(it, LedgerEntry::Clock { .. })).count();
    let mut later = 0;
    for entry in &mut evidence.entries[half..] {
        if let LedgerEntry::Clock { wall_us, .. } = entry {
            *wall_us -= 3_600_000_000;
            later += 1;
        }
    }
    later > 0 && later < clocks
}

/// The first server acknowledges a write after its successor has done so.
fn acknowledge_on_old_primary(evidence: &mut Evidence, _: &mut SplitMix64) -> bool {
    let all = attempts(evidence);
    let acknowledged = all.iter().filter(|(_, it)| it.outcome == WriteOutcome::Acknowledged);
    let first = acknowledged.min_by_key(|(_, it)| it.ended);
    let Some(old) = first.and_then(|(_, it)| it.server) else { return false };
    let later =
        all.iter().rfind(|(_, it)| it.outcome == WriteOutcome::Acknowledged && it.server != Some(old));
    let before = |attempt: &WriteAttempt| {
        all.iter().any(|(_, other)| {
            other.outcome == WriteOutcome::Acknowledged
                && other.server == attempt.server
                && other.ended < attempt.invoked
        })
    };
    let Some((place, attempt)) = later.filter(|(_, it)| before(it)) else { return false };
    evidence.entries[*place] = LedgerEntry::Completed(WriteAttempt { server: Some(old), ..*attempt });
    true
}

#[track_caller]
fn planted(histories: u64) {
    for defect in DEFECTS {
        let (mut found, mut tried) = (0, 0);
        let mut missed = None;
        for seed in 0.. {
            if tried == histories {
                break;
            }
            assert!(seed < 100 * histories, "{} finds no history in which it can be planted", defect.name);
            let mut evidence = SimulatedCluster::run(seed, Scenario { quorum: true });
            assert_eq!(
                evidence.judge().conclusion,
                Conclusion::Kept,
                "seed {seed}, before any defect is planted"
            );
            if !(defect.plant)(&mut evidence, &mut SplitMix64(seed)) {
                continue;
            }
            tried += 1;
            let verdict = evidence.judge();
            if (defect.is_found)(&verdict) {
                found += 1;
            } else {
                missed.get_or_insert((seed, verdict));
            }
        }
        println!("{}: found in {found} of {tried}", defect.name);
        assert!(missed.is_none(), "{} is not found: {missed:?}", defect.name);
    }
    println!("{} of {} defects found", DEFECTS.len(), DEFECTS.len());
}

#[test]
fn finds_planted_defects() {
    planted(histories(100) / 10);
}

/// The check finds one lost write in a million, because it reads all writes and does not sample.
#[test]
fn finds_one_lost_write_in_a_million() {
    const SESSIONS: u32 = 8;
    const EACH: u64 = 125_000;
    let server = ServerInstance { system: 1, address: "a".to_owned(), started_us: 1, timeline: 1 };
    let entries = || {
        let reserved = (0..SESSIONS).map(|session| LedgerEntry::Reserved { session, until: EACH });
        let keys =
            (0..EACH).flat_map(|sequence| (0..SESSIONS).map(move |session| WriteKey { session, sequence }));
        let ended = keys.map(|key| {
            let invoked = Nanos(key.sequence * 1000);
            let (outcome, server) = (WriteOutcome::Acknowledged, Some(ServerId(0)));
            LedgerEntry::Completed(WriteAttempt {
                key,
                number: 1,
                outcome,
                invoked,
                ended: invoked + Nanos(500),
                server,
            })
        });
        std::iter::once(LedgerEntry::Server(ServerId(0), server.clone())).chain(reserved).chain(ended)
    };
    let lost = WriteKey { session: 3, sequence: 77_777 };
    let mut rows = KeySet::new(&[EACH; SESSIONS as usize]);
    for entry in entries() {
        if let LedgerEntry::Completed(attempt) = entry
            && attempt.key != lost
        {
            rows.add(attempt.key, true);
        }
    }
    let standbys = crate::durability::replication::parse("ANY 1 (a,b)")
        .expect("well-formed")
        .expect("standbys are named");
    let promise = Promise::Flush(standbys);
    let history = DurabilityHistory {
        end: Some(LedgerEnd::Closed),
        promises: vec![PromiseChange { at: Nanos::ZERO, server: server.clone(), promise }],
        read_backs: vec![ReadBack {
            started: Nanos::from_secs(1),
            identified: Nanos::from_secs(1),
            server: server.clone(),
            in_recovery: false,
            keys: rows,
            lists: Vec::new(),
        }],
        control: Some(ControlResult { lost: 1 }),
        ..DurabilityHistory::default()
    };
    let verdict = judge(&history, entries);
    let found = |kind| Anomaly { kind, count: 1, examples: vec![lost] };
    assert_eq!(verdict.anomalies, [found(AnomalyKind::Lost), found(AnomalyKind::Hole)]);
    assert_eq!(verdict.counts.acknowledged, u64::from(SESSIONS) * EACH);
}
