//! Tests of the texts about faults and durability

use super::*;
use crate::lang::failover::FaultKind;
use model::EventKind;
use model::durability::{
    AccessKind, Anomaly, AnomalyKind, ClientKind, Conclusion, InconclusiveReason, InvariantReadings,
    InvariantViolation, RecoveryPoint, ServerId, WriteCounts,
};
use model::fault_injection::{
    ControlSummary, DualPrimary, DurationRange, FailoverResult, OutageSummary, PromotionRecord,
    ReadBackPhase, ReadBackRecord, RejoinRecord,
};
use model::product;

type NamedTexts = Vec<(String, String)>;

pub(super) fn texts(lang: &Lang) -> NamedTexts {
    [words(lang), doubts(lang), results(lang), unresolved(lang), moments(lang)].concat()
}

fn words(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: String, text: &str| all.push((name, text.to_owned()));
    for conclusion in every!(Conclusion: Kept, Broken, Unknown) {
        add(format!("{conclusion:?}"), &lang.conclusion(conclusion));
    }
    for kind in kinds() {
        add(format!("{kind:?}"), &lang.anomaly(kind));
        add(format!("{kind:?} means"), &lang.anomaly_meaning(kind));
    }
    let faults = [
        FaultKind::Kill,
        FaultKind::KillPostmaster,
        FaultKind::KillManager(product::default_manager()),
        FaultKind::Pause,
        FaultKind::Restart,
        FaultKind::Switchover,
        FaultKind::Isolate,
        FaultKind::Separate,
        FaultKind::SeparateNodes,
        FaultKind::FreezeDisk,
        FaultKind::ShiftClock,
        FaultKind::FillDisk,
        FaultKind::BlockReplication,
        FaultKind::Run,
        FaultKind::External,
    ];
    covers!(faults, FaultKind: Kill, KillPostmaster, KillManager, Pause, Restart, Switchover, Isolate, Separate, SeparateNodes, FreezeDisk, ShiftClock, FillDisk,
        BlockReplication, Run, External);
    for fault in faults {
        add(format!("{fault:?}"), &lang.fault(fault));
    }
    let violation = InvariantViolation { at: Nanos::from_secs(3), node: "№".into(), result: "№".into() };
    for (readings, violations, first) in [(0, 0, None), (21, 0, None), (21, 1, Some(violation))] {
        let invariant =
            InvariantReadings { query: "№".into(), expected: "№".into(), readings, violations, first };
        add(format!("{invariant:?}"), &lang.invariant(&invariant));
    }
    for path in [Some("№"), None] {
        add("question".to_owned(), &lang.failover_question(path));
    }
    all
}

fn kinds() -> [AnomalyKind; 16] {
    every!(AnomalyKind: Lost, Hole, BrokenInvariant, Flicker, FalseFailure, Phantom, Duplicate, Reordered, SplitBrain, Diverged, WrongPromotion,
        LostAmbiguous, LostWithoutPromise, LostLocal, OnOldTimeline, DuplicateByRetry)
}

fn doubts(lang: &Lang) -> NamedTexts {
    let mut all = Vec::new();
    for n in [1, 2, 12_345] {
        all.extend([
            InconclusiveReason::NewerThanReadBacks { count: n },
            InconclusiveReason::LedgerTorn { bytes: n },
            InconclusiveReason::LedgerContradictsItself { entries: n },
            InconclusiveReason::LedgerHasGaps { writes: n },
            InconclusiveReason::PromiseUnknown { count: n },
        ]);
    }
    all.extend([
        InconclusiveReason::NotReadBack,
        InconclusiveReason::ReadFromStandby { reading: 1 },
        InconclusiveReason::ReadFromOldTimeline { reading: 1 },
        InconclusiveReason::ReadFromOtherSystem { reading: 1 },
        InconclusiveReason::StandbyAcknowledged { server: ServerId(7) },
        InconclusiveReason::MultipleSystems,
        InconclusiveReason::NoWritesAfterFault { fault: 1 },
        InconclusiveReason::NoNewTimelineAfterFault { fault: 1 },
        InconclusiveReason::LedgerOpen,
        InconclusiveReason::LostWhilePromiseChanged,
        InconclusiveReason::FsyncOff,
        InconclusiveReason::InvariantNotRead,
        InconclusiveReason::NoFault,
        InconclusiveReason::NoControl,
        InconclusiveReason::ControlLostNothing,
    ]);
    covers!(all, InconclusiveReason: NotReadBack, NewerThanReadBacks, ReadFromStandby, ReadFromOldTimeline, ReadFromOtherSystem,
        StandbyAcknowledged, MultipleSystems, NoWritesAfterFault, NoNewTimelineAfterFault, LedgerOpen, LedgerTorn,
        LedgerContradictsItself, LedgerHasGaps, PromiseUnknown, LostWhilePromiseChanged, FsyncOff, InvariantNotRead, NoFault,
        NoControl, ControlLostNothing);
    all.iter().map(|it| (format!("{it:?}"), lang.inconclusive_reason(it))).collect()
}

/// Outages of writers with this range, and of readers without an outage.
fn client_outages(outage: Option<DurationRange>) -> Vec<OutageSummary> {
    let Some(duration) = outage else { return Vec::new() };
    let none = DurationRange { min: Nanos::ZERO, median: Nanos::ZERO, max: Nanos::ZERO };
    let summary = |client, access, duration, own_wait| OutageSummary {
        client,
        access,
        duration,
        ongoing: u32::from(duration.min != duration.max),
        own_wait,
    };
    let wait = DurationRange { median: Nanos::from_millis(1100), ..duration };
    vec![
        summary(ClientKind::New, AccessKind::Write, duration, None),
        summary(ClientKind::Connected, AccessKind::Write, duration, Some(wait)),
        summary(ClientKind::New, AccessKind::Read, none, None),
        summary(ClientKind::Connected, AccessKind::Read, duration, Some(none)),
    ]
}

fn results(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    let ms = Nanos::from_millis;
    let outages = [
        None,
        Some(DurationRange { min: ms(1900), median: ms(2010), max: ms(12_345) }),
        Some(DurationRange { min: ms(2010), median: ms(2010), max: ms(2010) }),
    ];
    let windows = [None, Some((-12_300_000, 28_000_000)), Some((1_000, 2_000)), Some((-5_000, -5_000))];
    for conclusion in [None, Some(Conclusion::Kept), Some(Conclusion::Broken), Some(Conclusion::Unknown)] {
        for (n, outage) in [0, 1, 3, 21].into_iter().zip(outages.into_iter().cycle()) {
            for (lost, window_ns) in [0, 1, 3, 5].into_iter().zip(windows) {
                let point = RecoveryPoint { count: lost, sessions: n, longest_run: 2, window_ns };
                let doubts = [
                    InconclusiveReason::ControlLostNothing,
                    InconclusiveReason::NotReadBack,
                    InconclusiveReason::LedgerOpen,
                ];
                let result = FailoverResult {
                    cell: 0,
                    trials: n,
                    failovers: n,
                    conclusion,
                    bound: 0.139,
                    counts: WriteCounts { acknowledged: 48_120 + u64::from(n), ..WriteCounts::default() },
                    lost,
                    anomalies: kinds()
                        .map(|kind| Anomaly { kind, count: lost, examples: Vec::new() })
                        .to_vec(),
                    doubts: doubts[..n.min(3) as usize].to_vec(),
                    recovery_point: (lost > 0).then_some(point),
                    invariants: Vec::new(),
                    outage,
                    outages: client_outages(outage),
                    promoted: None,
                    healthy: None,
                    rejoined: None,
                    control: None,
                    objectives: Vec::new(),
                };
                let name = if n == 1 { "№" } else { "" };
                add("result", lang.failover_result(&result, name));
                if lost > 0 {
                    add("point", lang.recovery_point(&point));
                }
                for lossy in [0, n] {
                    let summary =
                        ControlSummary { cell: 1, trials: n, lossy_trials: lossy, lost: lost * 1000 };
                    add("control", lang.control_summary(&summary, name));
                }
            }
        }
    }
    all
}

fn unresolved(lang: &Lang) -> NamedTexts {
    [1, 2, 9274].map(|writes| ("unresolved".to_owned(), lang.unresolved_writes(writes))).to_vec()
}

fn moments(lang: &Lang) -> NamedTexts {
    let mut all = NamedTexts::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    let nodes = ["№1".to_owned(), "№2".to_owned()];
    for (nodes, healed) in [(&nodes[..], Some(Nanos::from_secs(7))), (&nodes[..1], None), (&[], None)] {
        add("fault", lang.injected_fault(FaultKind::Pause, nodes, healed));
    }
    for (safe, healthy) in [(None, None), (Some(true), Some(Nanos::from_millis(1500))), (Some(false), None)] {
        let (from, to) = ("№1".to_owned(), "№2".to_owned());
        add(
            "promotion",
            lang.promotion(&PromotionRecord { from, to, at: Nanos::ZERO, healthy, timeline: 2, safe }),
        );
    }
    let nodes = ["№1".to_owned(), "№2".to_owned()];
    let dual = DualPrimary { nodes, from: Nanos::ZERO, to: Nanos::from_secs(3) };
    add("two primaries", lang.dual_primary(&dual));
    for rewound in [false, true] {
        let node = "№".to_owned();
        add(
            "rejoin",
            lang.rejoin(&RejoinRecord { node, at: Nanos::ZERO, elapsed: Nanos::from_secs(3), rewound }),
        );
    }
    for after in every!(ReadBackPhase: Load, Rejoining, Restart) {
        for rows in [1, 2, 12_345] {
            let record =
                ReadBackRecord { phase: after, node: "№".to_owned(), rows, elapsed: Nanos::from_secs(1) };
            add("read back", lang.read_back(&record));
        }
    }
    all
}

/// Known events are printed in the reader's language, unknown ones literally.
#[test]
fn writes_known_events_in_the_language() {
    for (kind, text, english, russian) in [
        (EventKind::Fault, "kill", "killed", "все процессы убиты"),
        (EventKind::Fault, "pause", "paused", "процессы приостановлены"),
        (EventKind::Reverted, "pause", "paused", "процессы приостановлены"),
        (EventKind::Fault, "restart", "restarted", "перезапуск"),
        (EventKind::Fault, "switchover", "switched over", "плановое переключение"),
        (EventKind::Fault, "isolate", "isolated from the network", "изолирован от сети"),
        (EventKind::Fault, "cut_off", "isolated from the network", "изолирован от сети"),
        (EventKind::Fault, "fill_disk", "disk full", "диск заполнен"),
        (EventKind::Fault, "freeze_disk", "disk frozen", "диск заморожен"),
        (EventKind::Fault, "shift_clock", "clock shifted", "часы сдвинуты"),
        (EventKind::Fault, "separate_nodes", "isolated from some nodes", "изолирован от части узлов"),
        (EventKind::Fault, "block_replication", "replication blocked", "репликация заблокирована"),
        (EventKind::Fault, "withhold", "replication blocked", "репликация заблокирована"),
        (EventKind::Promoted, "timeline 12", "timeline 12", "линия времени 12"),
        (EventKind::Rejoined, "rewound", "rewound", "отмотан назад"),
        (EventKind::Rejoined, "copied", "copied again", "скопирован заново"),
        (EventKind::Fault, "x", "x", "x"),
        (EventKind::Promoted, "x", "x", "x"),
        (EventKind::Rejoined, "x", "x", "x"),
        (EventKind::Lifecycle, "kill", "kill", "kill"),
    ] {
        assert_eq!(
            [crate::lang::english().event_text(kind, text), crate::lang::russian().event_text(kind, text)],
            [english, russian],
            "{kind:?} {text}"
        );
    }
}

/// Numbers determine the grammatical forms of counted nouns.
#[test]
fn russian_forms_of_losses() {
    let text = |lost, failovers| {
        let result = FailoverResult {
            cell: 0,
            trials: failovers,
            failovers,
            conclusion: Some(Conclusion::Kept),
            bound: 1.0,
            counts: WriteCounts { acknowledged: 21, ..WriteCounts::default() },
            lost,
            anomalies: Vec::new(),
            doubts: Vec::new(),
            recovery_point: None,
            invariants: Vec::new(),
            outage: None,
            outages: Vec::new(),
            promoted: None,
            healthy: None,
            rejoined: None,
            control: None,
            objectives: Vec::new(),
        };
        russian().failover_result(&result, "")
    };
    for (lost, failovers, expected) in [
        (0, 0, "потеряно 0 из 21 подтверждённой записи без переключения."),
        (
            1,
            1,
            "потеряна 1 из 21 подтверждённой записи за 1 переключение; об этих записях ничего не было обещано.",
        ),
        (
            3,
            2,
            "потеряны 3 из 21 подтверждённой записи за 2 переключения; об этих записях ничего не было обещано.",
        ),
        (
            11,
            21,
            "потеряно 11 из 21 подтверждённой записи за 21 переключение; об этих записях ничего не было обещано.",
        ),
    ] {
        assert_eq!(text(lost, failovers), expected);
    }
}
