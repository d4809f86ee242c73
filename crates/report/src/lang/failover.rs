//! Sentences about faults and durability

use super::Lang;
use crate::say;
use model::durability::{
    AccessKind, AnomalyKind, ClientKind, Conclusion, InconclusiveReason, InvariantReadings, RecoveryPoint,
};
use model::fault_injection::{
    ControlSummary, DualPrimary, DurationRange, FailoverResult, OutageSummary, PromotionRecord,
    ReadBackPhase, ReadBackRecord, RejoinRecord,
};
use model::plan::{FaultAction, FaultScope, IsolationPeers};
use model::product::Product;
use model::{EventKind, Nanos};

/// Kind of a fault, independent of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    Kill,
    KillPostmaster,
    KillManager(&'static Product),
    Pause,
    Restart,
    Switchover,
    Isolate,
    /// Isolated from the other servers only.
    Separate,
    /// Isolated from listed nodes only.
    SeparateNodes,
    FreezeDisk,
    ShiftClock,
    FillDisk,
    BlockReplication,
    Run,
    External,
}

impl FaultKind {
    pub fn from_action(action: &FaultAction) -> FaultKind {
        match action {
            FaultAction::Kill { scope: FaultScope::Node, .. } => FaultKind::Kill,
            FaultAction::Kill { scope: FaultScope::Postmaster, .. } => FaultKind::KillPostmaster,
            FaultAction::Kill { scope: FaultScope::Manager(manager), .. } => FaultKind::KillManager(manager),
            FaultAction::Pause { .. } => FaultKind::Pause,
            FaultAction::Restart { .. } => FaultKind::Restart,
            FaultAction::Switchover { .. } => FaultKind::Switchover,
            FaultAction::Isolate { from: IsolationPeers::Servers, .. } => FaultKind::Separate,
            FaultAction::Isolate { from: IsolationPeers::Nodes(_), .. } => FaultKind::SeparateNodes,
            FaultAction::Isolate { .. } => FaultKind::Isolate,
            FaultAction::FreezeDisk { .. } => FaultKind::FreezeDisk,
            FaultAction::ShiftClock { .. } => FaultKind::ShiftClock,
            FaultAction::FillDisk { .. } => FaultKind::FillDisk,
            FaultAction::BlockReplication { .. } => FaultKind::BlockReplication,
            FaultAction::Run { .. } => FaultKind::Run,
            FaultAction::External { .. } => FaultKind::External,
        }
    }

    /// Finds the kind of fault for a keyword of the experiment file.
    fn from_keyword(keyword: &str) -> Option<FaultKind> {
        Some(match keyword {
            "kill" => FaultKind::Kill,
            "pause" => FaultKind::Pause,
            "restart" => FaultKind::Restart,
            "switchover" => FaultKind::Switchover,
            // Run files of earlier versions contain the second keyword.
            "isolate" | "cut_off" => FaultKind::Isolate,
            "separate" => FaultKind::Separate,
            "separate_nodes" => FaultKind::SeparateNodes,
            "freeze_disk" => FaultKind::FreezeDisk,
            "shift_clock" => FaultKind::ShiftClock,
            "fill_disk" => FaultKind::FillDisk,
            "block_replication" | "withhold" => FaultKind::BlockReplication,
            "run" => FaultKind::Run,
            "external" => FaultKind::External,
            _ => return None,
        })
    }
}

impl Lang {
    /// The question of a failover experiment. `path` lists the products from the first node to PostgreSQL; `None` with
    /// several cells.
    pub fn failover_question(&self, path: Option<&str>) -> String {
        say!(self, "failover-question", path)
    }

    /// Result of a cell: one or two sentences with full stops. `name` is the cell's name; empty if there is only one
    /// cell.
    pub fn failover_result(&self, result: &FailoverResult, name: &str) -> String {
        let mut text = self.loss(result) + ".";
        for access in [AccessKind::Write, AccessKind::Read] {
            let outages: Vec<String> = result
                .outages
                .iter()
                .filter(|it| it.access == access)
                .map(|it| self.client_outage(it))
                .collect();
            if !outages.is_empty() {
                let is_read = access == AccessKind::Read;
                let outages = outages.join("; ");
                text = format!("{text} {}", say!(self, "failover-outage", is_read, outages));
            }
        }
        super::with_name(name, text)
    }

    /// Outage of one kind of client: part of a sentence.
    fn client_outage(&self, outage: &OutageSummary) -> String {
        let DurationRange { min, median, max } = outage.duration;
        let is_new = outage.client == ClientKind::New;
        if max == Nanos::ZERO {
            return say!(self, "failover-outage-none", is_new);
        }
        let median = self.lower_bound(self.time(median), outage.ongoing > 0);
        let max = (min < max).then(|| self.lower_bound(self.time(max), outage.ongoing > 0));
        let ongoing =
            (outage.ongoing > 0).then(|| say!(self, "failover-outage-ongoing", trials = outage.ongoing));
        let wait = outage.own_wait.map(|it| it.median).filter(|it| *it > Nanos::ZERO);
        let wait = wait.map(|it| self.time(it));
        let is_read = outage.access == AccessKind::Read;
        let text = say!(self, "failover-outage-client", is_new, median, max, wait, is_read);
        ongoing.map_or(text.clone(), |it| format!("{text}{}{it}", self.numbers().among()))
    }

    /// Marks a value as a lower bound, if it is one.
    pub(crate) fn lower_bound(&self, value: String, is_lower_bound: bool) -> String {
        if is_lower_bound { format!("≥{}{value}", self.numbers().gap) } else { value }
    }

    /// Reports the number of lost writes, and whether a promise was broken.
    fn loss(&self, result: &FailoverResult) -> String {
        let (failovers, acknowledged) = (result.failovers, result.counts.acknowledged);
        let lost = match result.known_loss() {
            Some(lost) => say!(self, "failover-lost", lost, acknowledged, failovers),
            None => say!(self, "failover-loss-unknown", acknowledged, failovers),
        };
        match LossKind::from_result(result) {
            LossKind::NotKnown => say!(self, "failover-no-ledger", failovers),
            LossKind::None if failovers == 0 => lost,
            LossKind::None => {
                say!(self, "failover-lost-nothing", lost, bound = self.numbers().percent(result.bound, 0))
            }
            LossKind::Unpromised { before: Some(before), .. } => {
                say!(self, "failover-lost-before", lost, duration = self.time(before))
            }
            LossKind::Unpromised { after: Some(after), .. } => {
                say!(self, "failover-lost-after", lost, duration = self.time(after))
            }
            LossKind::Unpromised { .. } => say!(self, "failover-lost-unpromised", lost),
            LossKind::Broken => {
                let violations = result.anomalies.iter().filter(|anomaly| anomaly.kind.is_violation());
                let counts = violations.map(|anomaly| {
                    let name = self.anomaly(anomaly.kind);
                    say!(self, "failover-anomaly-count", anomaly = name, count = anomaly.count)
                });
                let violations = counts.collect::<Vec<_>>().join(", ");
                say!(self, "failover-promise-violated", violations, lost)
            }
            LossKind::Unproven => {
                let reason = result.doubts.first().map(|reason| self.inconclusive_reason(reason));
                let more = result.doubts.len().saturating_sub(1);
                say!(self, "failover-not-proven", reason, more, lost)
            }
        }
    }

    /// Result of an invariant: a sentence with its full stop.
    pub fn invariant(&self, invariant: &InvariantReadings) -> String {
        let InvariantReadings { query, expected, readings, violations, first } = invariant;
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
        let violation = first.as_ref();
        say!(
            self,
            "failover-invariant",
            query,
            expected = expected.clone(),
            readings = *readings,
            violations = *violations,
            result = violation.map(|it| it.result.clone()),
            node = violation.map(|it| it.node.clone()),
            at = violation.map(|it| self.time(it.at))
        )
    }

    pub fn conclusion(&self, conclusion: Conclusion) -> String {
        match conclusion {
            Conclusion::Kept => say!(self, "failover-conclusion-kept"),
            Conclusion::Broken => say!(self, "failover-conclusion-violated"),
            Conclusion::Unknown => say!(self, "failover-conclusion-unknown"),
        }
    }

    /// Name of an anomaly, in the plural.
    pub fn anomaly(&self, kind: AnomalyKind) -> String {
        match kind {
            AnomalyKind::Lost => say!(self, "failover-anomaly-lost"),
            AnomalyKind::Hole => say!(self, "failover-anomaly-hole"),
            AnomalyKind::BrokenInvariant => say!(self, "failover-anomaly-invariant"),
            AnomalyKind::Flicker => say!(self, "failover-anomaly-flicker"),
            AnomalyKind::FalseFailure => say!(self, "failover-anomaly-false-failure"),
            AnomalyKind::Phantom => say!(self, "failover-anomaly-phantom"),
            AnomalyKind::Duplicate => say!(self, "failover-anomaly-duplicate"),
            AnomalyKind::Reordered => say!(self, "failover-anomaly-reordered"),
            AnomalyKind::SplitBrain => say!(self, "failover-anomaly-split-brain"),
            AnomalyKind::Diverged => say!(self, "failover-anomaly-diverged"),
            AnomalyKind::WrongPromotion => say!(self, "failover-anomaly-wrong-promotion"),
            AnomalyKind::LostAmbiguous => say!(self, "failover-anomaly-lost-ambiguous"),
            AnomalyKind::LostWithoutPromise => say!(self, "failover-anomaly-lost-unpromised"),
            AnomalyKind::LostLocal => say!(self, "failover-anomaly-lost-local"),
            AnomalyKind::OnOldTimeline => say!(self, "failover-anomaly-old-timeline"),
            AnomalyKind::DuplicateByRetry => say!(self, "failover-anomaly-retry"),
        }
    }

    /// Meaning of an anomaly, as part of a sentence.
    pub fn anomaly_meaning(&self, kind: AnomalyKind) -> String {
        match kind {
            AnomalyKind::Lost => say!(self, "failover-meaning-lost"),
            AnomalyKind::Hole => say!(self, "failover-meaning-hole"),
            AnomalyKind::BrokenInvariant => say!(self, "failover-meaning-invariant"),
            AnomalyKind::Flicker => say!(self, "failover-meaning-flicker"),
            AnomalyKind::FalseFailure => say!(self, "failover-meaning-false-failure"),
            AnomalyKind::Phantom => say!(self, "failover-meaning-phantom"),
            AnomalyKind::Duplicate => say!(self, "failover-meaning-duplicate"),
            AnomalyKind::Reordered => say!(self, "failover-meaning-reordered"),
            AnomalyKind::SplitBrain => say!(self, "failover-meaning-split-brain"),
            AnomalyKind::Diverged => say!(self, "failover-meaning-diverged"),
            AnomalyKind::WrongPromotion => say!(self, "failover-meaning-wrong-promotion"),
            AnomalyKind::LostAmbiguous => say!(self, "failover-meaning-lost-ambiguous"),
            AnomalyKind::LostWithoutPromise => say!(self, "failover-meaning-lost-unpromised"),
            AnomalyKind::LostLocal => say!(self, "failover-meaning-lost-local"),
            AnomalyKind::OnOldTimeline => say!(self, "failover-meaning-old-timeline"),
            AnomalyKind::DuplicateByRetry => say!(self, "failover-meaning-retry"),
        }
    }

    /// Reason why durability is not proven, as part of a sentence.
    pub fn inconclusive_reason(&self, reason: &InconclusiveReason) -> String {
        match *reason {
            InconclusiveReason::NotReadBack => say!(self, "failover-doubt-not-read"),
            InconclusiveReason::NewerThanReadBacks { count } => {
                say!(self, "failover-doubt-newer", writes = count)
            }
            InconclusiveReason::ReadFromStandby { reading } => {
                say!(self, "failover-doubt-standby-read", reading = reading + 1)
            }
            InconclusiveReason::ReadFromOldTimeline { reading } => {
                say!(self, "failover-doubt-old-timeline", reading = reading + 1)
            }
            InconclusiveReason::ReadFromOtherSystem { reading } => {
                say!(self, "failover-doubt-other-system", reading = reading + 1)
            }
            InconclusiveReason::StandbyAcknowledged { .. } => {
                say!(self, "failover-doubt-standby-acknowledged")
            }
            InconclusiveReason::MultipleSystems => say!(self, "failover-doubt-systems"),
            InconclusiveReason::NoWritesAfterFault { fault } => {
                say!(self, "failover-doubt-no-writes", fault = fault + 1)
            }
            InconclusiveReason::NoNewTimelineAfterFault { fault } => {
                say!(self, "failover-doubt-no-timeline", fault = fault + 1)
            }
            InconclusiveReason::LedgerOpen => say!(self, "failover-doubt-ledger-open"),
            InconclusiveReason::LedgerTorn { bytes } => say!(self, "failover-doubt-ledger-torn", bytes),
            InconclusiveReason::LedgerContradictsItself { entries } => {
                say!(self, "failover-doubt-ledger-contradiction", entries)
            }
            InconclusiveReason::LedgerHasGaps { writes } => say!(self, "failover-doubt-ledger-gaps", writes),
            InconclusiveReason::PromiseUnknown { count } => {
                say!(self, "failover-doubt-promise-unknown", writes = count)
            }
            InconclusiveReason::LostWhilePromiseChanged => say!(self, "failover-doubt-promise-changed"),
            InconclusiveReason::FsyncOff => say!(self, "failover-doubt-fsync"),
            InconclusiveReason::InvariantNotRead => say!(self, "failover-doubt-invariant"),
            InconclusiveReason::NoFault => say!(self, "failover-doubt-no-fault"),
            InconclusiveReason::NoControl => say!(self, "failover-doubt-no-control"),
            InconclusiveReason::ControlLostNothing => say!(self, "failover-doubt-control-lossless"),
        }
    }

    /// Reports that the ledger may lack this number of writes, because it was not closed: a sentence with its full
    /// stop.
    pub fn unresolved_writes(&self, writes: u64) -> String {
        say!(self, "failover-unresolved-writes", writes)
    }

    /// Result of a positive control: a sentence with its full stop. `name` is the name of the control cell.
    pub fn control_summary(&self, control: &ControlSummary, name: &str) -> String {
        let name = Some(name).filter(|name| !name.is_empty());
        let (lost, lossy, trials) = (control.lost, control.lossy_trials, control.trials);
        match lossy {
            0 => say!(self, "failover-control-lossless", name, trials),
            _ => say!(self, "failover-control-lost", name, lost, lossy, trials),
        }
    }

    /// Loss in the trial that lost the most writes: a sentence with its full stop.
    pub fn recovery_point(&self, point: &RecoveryPoint) -> String {
        let moment = |ns: i64| {
            let time = self.time(Nanos(ns.unsigned_abs()));
            say!(self, "failover-moment", time, before = ns < 0)
        };
        let first = point.window_ns.map(|(first, _)| moment(first));
        let last = point.window_ns.filter(|(first, last)| first != last).map(|(_, last)| moment(last));
        say!(
            self,
            "failover-recovery-point",
            writes = point.count,
            sessions = point.sessions,
            longest = point.longest_run,
            first,
            last
        )
    }

    /// Effect of a fault on its nodes.
    pub fn fault(&self, fault: FaultKind) -> String {
        match fault {
            FaultKind::Kill => say!(self, "failover-fault-kill"),
            FaultKind::KillPostmaster => say!(self, "failover-fault-kill-postmaster"),
            FaultKind::KillManager(manager) => {
                say!(self, "failover-fault-kill-manager", manager = manager.name)
            }
            FaultKind::Pause => say!(self, "failover-fault-pause"),
            FaultKind::Restart => say!(self, "failover-fault-restart"),
            FaultKind::Switchover => say!(self, "failover-fault-switchover"),
            FaultKind::Isolate => say!(self, "failover-fault-isolate"),
            FaultKind::Separate => say!(self, "failover-fault-separate"),
            FaultKind::SeparateNodes => say!(self, "failover-fault-separate-nodes"),
            FaultKind::FreezeDisk => say!(self, "failover-fault-freeze-disk"),
            FaultKind::ShiftClock => say!(self, "failover-fault-shift-clock"),
            FaultKind::FillDisk => say!(self, "failover-fault-fill-disk"),
            FaultKind::BlockReplication => say!(self, "failover-fault-block-replication"),
            FaultKind::Run => say!(self, "failover-fault-run"),
            FaultKind::External => say!(self, "failover-fault-external"),
        }
    }

    /// Describes a fault, its nodes and its end. `reverted` is the time since the window began.
    pub fn injected_fault(&self, fault: FaultKind, nodes: &[String], reverted: Option<Nanos>) -> String {
        let fault = self.fault(fault);
        if nodes.is_empty() {
            return say!(self, "failover-fault-failed", fault);
        }
        let end = reverted.map(|reverted| self.time(reverted));
        say!(self, "failover-fault-injected", nodes = nodes.join(", "), fault, end)
    }

    pub fn promotion(&self, promotion: &PromotionRecord) -> String {
        say!(
            self,
            "failover-promoted",
            node = &promotion.to,
            timeline = promotion.timeline.to_string(),
            safe = promotion.safe,
            healthy = promotion.healthy.map(|healthy| self.time(healthy))
        )
    }

    /// States that two servers were primaries at once, and until when.
    pub fn dual_primary(&self, dual: &DualPrimary) -> String {
        let ([old, new], until) = (&dual.nodes, self.time(dual.to));
        say!(self, "failover-dual-primary", old, new, until)
    }

    pub fn rejoin(&self, rejoin: &RejoinRecord) -> String {
        let (rewound, duration) = (rejoin.rewound, self.time(rejoin.elapsed));
        say!(self, "failover-rejoined", node = &rejoin.node, rewound, duration)
    }

    pub fn read_back(&self, reading: &ReadBackRecord) -> String {
        let phase = match reading.phase {
            ReadBackPhase::Load => say!(self, "failover-read-after-load"),
            ReadBackPhase::Rejoining => say!(self, "failover-read-after-rejoin"),
            ReadBackPhase::Restart => say!(self, "failover-read-after-restart"),
        };
        say!(self, "failover-read-back", tokens = reading.rows, node = &reading.node, phase)
    }

    /// Text for a node's event, from the stored text. Text that pgdyno did not write stays unchanged.
    pub fn event_text(&self, kind: EventKind, text: &str) -> String {
        let fault = || FaultKind::from_keyword(text).map(|fault| self.fault(fault));
        let known = match kind {
            EventKind::Fault | EventKind::Reverted => fault(),
            EventKind::Promoted => {
                text.strip_prefix("timeline ").map(|timeline| say!(self, "failover-event-timeline", timeline))
            }
            EventKind::Rejoined if text == "rewound" => Some(say!(self, "failover-event-rewound")),
            EventKind::Rejoined if text == "copied" => Some(say!(self, "failover-event-copied")),
            _ => None,
        };
        known.unwrap_or_else(|| text.to_owned())
    }
}

/// Kind of loss of acknowledged writes, which determines the beginning of the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LossKind {
    /// No ledger was kept.
    NotKnown,
    None,
    /// The loss broke no promise. `before` is the time from the first lost write's acknowledgement to the fault. If the
    /// fault came first, `after` is the time from the fault to the last lost write's acknowledgement.
    Unpromised {
        before: Option<Nanos>,
        after: Option<Nanos>,
    },
    Broken,
    Unproven,
}

impl LossKind {
    fn from_result(result: &FailoverResult) -> LossKind {
        match result.conclusion {
            None => LossKind::NotKnown,
            Some(Conclusion::Broken) => LossKind::Broken,
            Some(Conclusion::Unknown) => LossKind::Unproven,
            Some(Conclusion::Kept) if result.lost == 0 => LossKind::None,
            Some(Conclusion::Kept) => {
                let window = result.recovery_point.and_then(|point| point.window_ns);
                let before = window.filter(|it| it.0 < 0).map(|it| Nanos(it.0.unsigned_abs()));
                let after = window.filter(|it| it.0 >= 0).map(|it| Nanos(it.1.unsigned_abs()));
                LossKind::Unpromised { before, after }
            }
        }
    }
}
