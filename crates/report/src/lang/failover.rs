//! Sentences about faults and durability.

use model::durability::{AnomalyKind, Conclusion, InconclusiveReason, RecoveryPoint};
use model::fault_injection::{ControlSummary, FailoverResult, PromotionRecord, ReadBackRecord, RejoinRecord};
use model::plan::{FaultAction, FaultScope};
use model::{EventKind, Nanos};

/// Sentences about faults. Called while a report is written, from one thread, once per sentence.
pub trait FailoverWords {
    /// A heading, or a word of a table.
    fn outlived(&self, it: FailoverTerm) -> &'static str;
    /// The question of a failover experiment. `way`: products from the first node to PostgreSQL; empty with several
    /// cells.
    fn asked_of_failovers(&self, way: &str) -> String;
    /// One or two sentences with their full stops. `name`: name of the cell; empty if there is only one.
    fn survival(&self, it: &FailoverResult, name: &str) -> String;
    fn conclusion(&self, it: Conclusion) -> &'static str;
    /// Name of an anomaly, in the plural.
    fn kind(&self, it: AnomalyKind) -> &'static str;
    /// Meaning of an anomaly, as part of a sentence.
    fn meaning(&self, it: AnomalyKind) -> &'static str;
    /// Reason why durability is not proven, as part of a sentence.
    fn unproven(&self, it: &InconclusiveReason) -> String;
    /// A sentence with its full stop: the ledger was not closed, so it may lack this number of writes.
    fn untold(&self, writes: u64) -> String;
    /// A sentence with its full stop. `name`: name of the control.
    fn controlled(&self, it: &ControlSummary, name: &str) -> String;
    /// Loss in the trial that lost most: a sentence with its full stop.
    fn recovery_point(&self, it: &RecoveryPoint) -> String;

    /// Name of a fault.
    fn deed(&self, it: &FaultStatus) -> &'static str;
    /// A fault, its nodes and its end, in time since the window began.
    fn inflicted(&self, it: &FaultStatus, nodes: &[String], healed: Option<Nanos>) -> String;
    fn promotion(&self, it: &PromotionRecord) -> String;
    fn rejoining(&self, it: &RejoinRecord) -> String;
    fn reading(&self, it: &ReadBackRecord) -> String;
    /// Text of a chart mark for an event of a node.
    fn happening(&self, it: &TimelineEvent<'_>) -> String;

    /// Text of a stored event.
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
    /// Unknown writes, and the number of them that exist.
    Unknown,
    Refused,
    Misrouted,
    Outage,
    Promoted,
    Healthy,
    Rejoined,
    /// Writes that the control lost.
    Control,
    Finding,
    Count,
    Meaning,
    /// The first lost writes, by session and sequence.
    Examples,
}

/// Kind of a fault, independent of its target.
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

    /// The fault with this keyword of the experiment file.
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

/// Detail of an event in a failover trial, after its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineEvent<'a> {
    Done(FaultStatus),
    /// Promoted to this timeline.
    Promoted(&'a str),
    /// Changes beyond the new primary's history were rewound.
    Rewound,
    /// All data were copied anew.
    Copied,
}

impl<'a> TimelineEvent<'a> {
    /// `None` for a text that pgdyno did not write.
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

/// Loss of acknowledged writes, which a sentence reports first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossKind {
    /// No ledger was kept.
    NotKnown,
    None,
    /// Loss that broke no promise. Time from the first lost write's acknowledgement to the fault, or from the fault to
    /// it.
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
