//! What is said of faults, and of what outlived them?

use model::durability::{Conclusion, Doubt, Kind, RecoveryPoint};
use model::ordeal::{Controlled, Promoted, ReadBack, Rejoined, Survival};
use model::plan::{Deed, Part};
use model::{EventKind, Nanos};

/// Called when it is written, from one thread, once per sentence.
pub trait FailoverWords {
    /// A heading, or a word of a table.
    fn outlived(&self, it: Outlived) -> &'static str;
    /// What is asked of failovers. `way`: products from the entrance to PostgreSQL; empty with several cells.
    fn asked_of_failovers(&self, way: &str) -> String;
    /// One or two sentences with their stops. `name`: of the cell, empty where there is only one.
    fn survival(&self, it: &Survival, name: &str) -> String;
    fn conclusion(&self, it: Conclusion) -> &'static str;
    /// What was found, as a plural.
    fn kind(&self, it: Kind) -> &'static str;
    /// What that means, as part of a sentence.
    fn meaning(&self, it: Kind) -> &'static str;
    /// Why it is not proven, as part of a sentence.
    fn unproven(&self, it: &Doubt) -> String;
    /// So many writes may have been sent, and a ledger that was not closed does not know: a sentence with its stop.
    fn untold(&self, writes: u64) -> String;
    /// A sentence with its stop. `name`: of the control.
    fn controlled(&self, it: &Controlled, name: &str) -> String;
    /// What of the trial that lost most was lost: a sentence with its stop.
    fn recovery_point(&self, it: &RecoveryPoint) -> String;

    /// What was done to a node.
    fn deed(&self, it: &Done) -> &'static str;
    /// What was done, whom it struck, and until when; moments are since the window began.
    fn inflicted(&self, it: &Done, nodes: &[String], healed: Option<Nanos>) -> String;
    fn promotion(&self, it: &Promoted) -> String;
    fn rejoining(&self, it: &Rejoined) -> String;
    fn reading(&self, it: &ReadBack) -> String;
    /// What a mark on a chart says of what happened to its node.
    fn happening(&self, it: &Happening<'_>) -> String;

    /// The same of an event as it is kept.
    fn happened(&self, kind: EventKind, text: &str) -> String {
        Happening::of(kind, text).map_or(text.to_owned(), |it| self.happening(&it))
    }
}

/// Headings, and words of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlived {
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
pub enum Done {
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

impl Done {
    pub fn of(it: &Deed) -> Done {
        match it {
            Deed::Kill { part: Part::Node, .. } => Done::Kill,
            Deed::Kill { part: Part::Postmaster, .. } => Done::KillPostmaster,
            Deed::Kill { part: Part::Patroni, .. } => Done::KillPatroni,
            Deed::Pause { .. } => Done::Pause,
            Deed::Restart { .. } => Done::Restart,
            Deed::Switchover { .. } => Done::Switchover,
            Deed::CutOff { .. } => Done::CutOff,
            Deed::FillDisk { .. } => Done::FillDisk,
            Deed::Withhold { .. } => Done::Withhold,
        }
    }

    /// By the word that the experiment's file has.
    fn named(word: &str) -> Option<Done> {
        Some(match word {
            "kill" => Done::Kill,
            "pause" => Done::Pause,
            "restart" => Done::Restart,
            "switchover" => Done::Switchover,
            "cut_off" => Done::CutOff,
            "fill_disk" => Done::FillDisk,
            "withhold" => Done::Withhold,
            _ => return None,
        })
    }
}

/// What an event of a trial with faults says behind its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening<'a> {
    Done(Done),
    /// On this timeline.
    Promoted(&'a str),
    /// What it had beyond the new primary was taken back.
    Rewound,
    /// Everything was copied anew.
    Copied,
}

impl<'a> Happening<'a> {
    /// `None` for a text that nobody of ours wrote.
    fn of(kind: EventKind, text: &'a str) -> Option<Happening<'a>> {
        match kind {
            EventKind::Fault | EventKind::Healed => Done::named(text).map(Happening::Done),
            EventKind::Promoted => text.strip_prefix("timeline ").map(Happening::Promoted),
            EventKind::Rejoined if text == "rewound" => Some(Happening::Rewound),
            EventKind::Rejoined if text == "copied" => Some(Happening::Copied),
            _ => None,
        }
    }
}

/// How much of what was acknowledged is gone: what a sentence says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
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

impl Loss {
    pub fn of(it: &Survival) -> Loss {
        match it.conclusion {
            None => Loss::NotKnown,
            Some(Conclusion::Broken) => Loss::Broken,
            Some(Conclusion::Unknown) => Loss::Unproven,
            Some(Conclusion::Kept) if it.lost == 0 => Loss::None,
            Some(Conclusion::Kept) => {
                let window = it.recovery_point.and_then(|it| it.window_ns);
                let before = window.filter(|it| it.0 < 0).map(|it| Nanos(it.0.unsigned_abs()));
                let after = window.filter(|it| it.0 >= 0).map(|it| Nanos(it.1.unsigned_abs()));
                Loss::Unpromised { before, after }
            }
        }
    }
}
