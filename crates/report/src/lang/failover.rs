//! What is said of faults, and of what outlived them?

use model::durability::{AnomalyKind, Conclusion, InconclusiveReason, RecoveryPoint};
use model::fault_injection::{ControlSummary, FailoverResult, PromotionRecord, ReadBackRecord, RejoinRecord};
use model::plan::{FaultAction, FaultScope};
use model::{EventKind, Nanos};

/// Called when it is written, from one thread, once per sentence.
pub trait FailoverWords {
    /// A heading, or a word of a table.
    fn outlived(&self, it: FailoverTerm) -> &'static str;
    /// What is asked of failovers. `way`: products from the entrance to PostgreSQL; empty with several cells.
    fn asked_of_failovers(&self, way: &str) -> String;
    /// One or two sentences with their stops. `name`: of the cell, empty where there is only one.
    fn survival(&self, it: &FailoverResult, name: &str) -> String;
    fn conclusion(&self, it: Conclusion) -> &'static str;
    /// What was found, as a plural.
    fn kind(&self, it: AnomalyKind) -> &'static str;
    /// What that means, as part of a sentence.
    fn meaning(&self, it: AnomalyKind) -> &'static str;
    /// Why it is not proven, as part of a sentence.
    fn unproven(&self, it: &InconclusiveReason) -> String;
    /// So many writes may have been sent, and a ledger that was not closed does not know: a sentence with its stop.
    fn untold(&self, writes: u64) -> String;
    /// A sentence with its stop. `name`: of the control.
    fn controlled(&self, it: &ControlSummary, name: &str) -> String;
    /// What of the trial that lost most was lost: a sentence with its stop.
    fn recovery_point(&self, it: &RecoveryPoint) -> String;

    /// What was done to a node.
    fn deed(&self, it: &FaultStatus) -> &'static str;
    /// What was done, whom it struck, and until when; moments are since the window began.
    fn inflicted(&self, it: &FaultStatus, nodes: &[String], healed: Option<Nanos>) -> String;
    fn promotion(&self, it: &PromotionRecord) -> String;
    fn rejoining(&self, it: &RejoinRecord) -> String;
    fn reading(&self, it: &ReadBackRecord) -> String;
    /// What a mark on a chart says of what happened to its node.
    fn happening(&self, it: &TimelineEvent<'_>) -> String;

    /// The same of an event as it is kept.
    fn happened(&self, kind: EventKind, text: &str) -> String {
        TimelineEvent::of(kind, text).map_or(text.to_owned(), |it| self.happening(&it))
    }
}

/// Headings, and words of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailoverTerm {
    // The section.
    Failover,
    // Captions.
    Findings,
    // Columns.
    Cell,
    Conclusion,
    Failovers,
    Acknowledged,
    Lost,
    LostLocally,
    /// And how many of them are there.
    Unknown,
    Refused,
    Misrouted,
    Outage,
    Promoted,
    Healthy,
    Rejoined,
    /// What the control lost.
    Control,
    Finding,
    Count,
    Meaning,
    /// The first of them, by session and sequence.
    Examples,
}

/// What was done, whomever it struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultStatus {
    Kill,
    KillPostmaster,
    KillPatroni,
    Pause,
    Restart,
    Switchover,
    CutOff,
    FillDisk,
    Withhold,
}

impl FaultStatus {
    pub fn of(it: &FaultAction) -> FaultStatus {
        match it {
            FaultAction::Kill { scope: FaultScope::Node, .. } => FaultStatus::Kill,
            FaultAction::Kill { scope: FaultScope::Postmaster, .. } => FaultStatus::KillPostmaster,
            FaultAction::Kill { scope: FaultScope::Patroni, .. } => FaultStatus::KillPatroni,
            FaultAction::Pause { .. } => FaultStatus::Pause,
            FaultAction::Restart { .. } => FaultStatus::Restart,
            FaultAction::Switchover { .. } => FaultStatus::Switchover,
            FaultAction::Isolate { .. } => FaultStatus::CutOff,
            FaultAction::FillDisk { .. } => FaultStatus::FillDisk,
            FaultAction::BlockReplication { .. } => FaultStatus::Withhold,
        }
    }

    /// By the word that the experiment's file has.
    fn named(word: &str) -> Option<FaultStatus> {
        Some(match word {
            "kill" => FaultStatus::Kill,
            "pause" => FaultStatus::Pause,
            "restart" => FaultStatus::Restart,
            "switchover" => FaultStatus::Switchover,
            "cut_off" => FaultStatus::CutOff,
            "fill_disk" => FaultStatus::FillDisk,
            "withhold" => FaultStatus::Withhold,
            _ => return None,
        })
    }
}

/// What an event of a trial with faults says behind its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineEvent<'a> {
    Done(FaultStatus),
    /// On this timeline.
    Promoted(&'a str),
    /// What it had beyond the new primary was taken back.
    Rewound,
    /// Everything was copied anew.
    Copied,
}

impl<'a> TimelineEvent<'a> {
    /// `None` for a text that nobody of ours wrote.
    fn of(kind: EventKind, text: &'a str) -> Option<TimelineEvent<'a>> {
        match kind {
            EventKind::Fault | EventKind::Reverted => FaultStatus::named(text).map(TimelineEvent::Done),
            EventKind::Promoted => text.strip_prefix("timeline ").map(TimelineEvent::Promoted),
            EventKind::Rejoined if text == "rewound" => Some(TimelineEvent::Rewound),
            EventKind::Rejoined if text == "copied" => Some(TimelineEvent::Copied),
            _ => None,
        }
    }
}

/// How much of what was acknowledged is gone: what a sentence says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossKind {
    /// No ledger was kept.
    NotKnown,
    None,
    /// Without a promise broken; how long before the fault the first of them was acknowledged, or after it.
    Unpromised {
        before: Option<Nanos>,
        after: Option<Nanos>,
    },
    Broken,
    Unproven,
}

impl LossKind {
    pub fn of(it: &FailoverResult) -> LossKind {
        match it.conclusion {
            None => LossKind::NotKnown,
            Some(Conclusion::Broken) => LossKind::Broken,
            Some(Conclusion::Unknown) => LossKind::Unproven,
            Some(Conclusion::Kept) if it.lost == 0 => LossKind::None,
            Some(Conclusion::Kept) => {
                let window = it.recovery_point.and_then(|it| it.window_ns);
                let before = window.filter(|it| it.0 < 0).map(|it| Nanos(it.0.unsigned_abs()));
                let after = window.filter(|it| it.0 >= 0).map(|it| Nanos(it.1.unsigned_abs()));
                LossKind::Unpromised { before, after }
            }
        }
    }
}
