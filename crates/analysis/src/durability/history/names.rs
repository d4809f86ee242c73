//! Names of conclusions, anomalies and reasons, which are those of the JSON documents

use model::durability::{AnomalyKind, Conclusion, InconclusiveReason};

pub(super) const ANOMALIES: [AnomalyKind; 16] = [
    AnomalyKind::Lost,
    AnomalyKind::Hole,
    AnomalyKind::BrokenInvariant,
    AnomalyKind::Flicker,
    AnomalyKind::FalseFailure,
    AnomalyKind::Phantom,
    AnomalyKind::Duplicate,
    AnomalyKind::Reordered,
    AnomalyKind::SplitBrain,
    AnomalyKind::Diverged,
    AnomalyKind::WrongPromotion,
    AnomalyKind::LostAmbiguous,
    AnomalyKind::LostWithoutPromise,
    AnomalyKind::LostLocal,
    AnomalyKind::OnOldTimeline,
    AnomalyKind::DuplicateByRetry,
];

pub(super) const REASONS: [&str; 20] = [
    "not_read_back",
    "newer_than_read_backs",
    "read_from_standby",
    "read_from_old_timeline",
    "read_from_other_system",
    "standby_acknowledged",
    "multiple_systems",
    "no_writes_after_fault",
    "no_new_timeline_after_fault",
    "ledger_open",
    "ledger_torn",
    "ledger_contradicts_itself",
    "ledger_has_gaps",
    "promise_unknown",
    "lost_while_promise_changed",
    "fsync_off",
    "invariant_not_read",
    "no_fault",
    "no_control",
    "control_lost_nothing",
];

pub fn conclusion_name(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Kept => "kept",
        Conclusion::Broken => "broken",
        Conclusion::Unknown => "not_proven",
    }
}

pub(super) fn find_conclusion(name: &str) -> Option<Conclusion> {
    [Conclusion::Kept, Conclusion::Broken, Conclusion::Unknown]
        .into_iter()
        .find(|it| conclusion_name(*it) == name)
}

pub fn anomaly_name(kind: AnomalyKind) -> &'static str {
    match kind {
        AnomalyKind::Lost => "lost",
        AnomalyKind::Hole => "hole",
        AnomalyKind::BrokenInvariant => "broken_invariant",
        AnomalyKind::Flicker => "flicker",
        AnomalyKind::FalseFailure => "false_failure",
        AnomalyKind::Phantom => "phantom",
        AnomalyKind::Duplicate => "duplicate",
        AnomalyKind::Reordered => "reordered",
        AnomalyKind::SplitBrain => "split_brain",
        AnomalyKind::Diverged => "diverged",
        AnomalyKind::WrongPromotion => "wrong_promotion",
        AnomalyKind::LostAmbiguous => "lost_ambiguous",
        AnomalyKind::LostWithoutPromise => "lost_without_promise",
        AnomalyKind::LostLocal => "lost_local",
        AnomalyKind::OnOldTimeline => "on_old_timeline",
        AnomalyKind::DuplicateByRetry => "duplicate_by_retry",
    }
}

pub(super) fn find_anomaly(name: &str) -> Option<AnomalyKind> {
    ANOMALIES.into_iter().find(|it| anomaly_name(*it) == name)
}

pub fn reason_name(reason: &InconclusiveReason) -> &'static str {
    match reason {
        InconclusiveReason::NotReadBack => "not_read_back",
        InconclusiveReason::NewerThanReadBacks { .. } => "newer_than_read_backs",
        InconclusiveReason::ReadFromStandby { .. } => "read_from_standby",
        InconclusiveReason::ReadFromOldTimeline { .. } => "read_from_old_timeline",
        InconclusiveReason::ReadFromOtherSystem { .. } => "read_from_other_system",
        InconclusiveReason::StandbyAcknowledged { .. } => "standby_acknowledged",
        InconclusiveReason::MultipleSystems => "multiple_systems",
        InconclusiveReason::NoWritesAfterFault { .. } => "no_writes_after_fault",
        InconclusiveReason::NoNewTimelineAfterFault { .. } => "no_new_timeline_after_fault",
        InconclusiveReason::LedgerOpen => "ledger_open",
        InconclusiveReason::LedgerTorn { .. } => "ledger_torn",
        InconclusiveReason::LedgerContradictsItself { .. } => "ledger_contradicts_itself",
        InconclusiveReason::LedgerHasGaps { .. } => "ledger_has_gaps",
        InconclusiveReason::PromiseUnknown { .. } => "promise_unknown",
        InconclusiveReason::LostWhilePromiseChanged => "lost_while_promise_changed",
        InconclusiveReason::FsyncOff => "fsync_off",
        InconclusiveReason::InvariantNotRead => "invariant_not_read",
        InconclusiveReason::NoFault => "no_fault",
        InconclusiveReason::NoControl => "no_control",
        InconclusiveReason::ControlLostNothing => "control_lost_nothing",
    }
}
