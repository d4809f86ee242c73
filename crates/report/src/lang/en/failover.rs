//! English: faults, and what outlived them.

use super::page::count;
use super::{En, NUMBERS as EN};
use crate::lang::failover::{FailoverTerm, FailoverWords, FaultStatus, LossKind, TimelineEvent};
use model::Nanos;
use model::durability::{AnomalyKind, Conclusion, InconclusiveReason, RecoveryPoint};
use model::fault_injection::{
    ControlSummary, FailoverResult, PromotionRecord, ReadBackPhase, ReadBackRecord, RejoinRecord,
};

impl FailoverWords for En {
    fn outlived(&self, it: FailoverTerm) -> &'static str {
        match it {
            FailoverTerm::Failover => "Failover",
            FailoverTerm::Findings => "What was found",
            FailoverTerm::Cell => "cell",
            FailoverTerm::Conclusion => "what was promised",
            FailoverTerm::Failovers => "failovers",
            FailoverTerm::Acknowledged => "acknowledged",
            FailoverTerm::Lost => "lost",
            FailoverTerm::LostLocally => "lost, warned",
            FailoverTerm::Unknown => "unknown (there)",
            FailoverTerm::Refused => "refused",
            FailoverTerm::Misrouted => "misrouted",
            FailoverTerm::Outage => "no writes for",
            FailoverTerm::Promoted => "promoted after",
            FailoverTerm::Healthy => "healthy after",
            FailoverTerm::Rejoined => "old one back within",
            FailoverTerm::Control => "lost by the control",
            FailoverTerm::Finding => "finding",
            FailoverTerm::Count => "count",
            FailoverTerm::Meaning => "meaning",
            FailoverTerm::Examples => "session/sequence",
        }
    }

    fn asked_of_failovers(&self, way: &str) -> String {
        match way {
            "" => "Does every acknowledged write outlive a failover, and how long can nothing be written?"
                .to_owned(),
            way => format!(
                "Does every write that {way} acknowledges outlive a failover, and how long can nothing be written?"
            ),
        }
    }

    fn survival(&self, it: &FailoverResult, name: &str) -> String {
        let failovers = match it.failovers {
            0 => "without a failover".to_owned(),
            n => format!("in {}", count(n as usize, "failover")),
        };
        let writes = |n| if n == 1 { "write" } else { "writes" };
        let (lost, all) = (EN.count(it.lost), EN.count(it.counts.acknowledged));
        let lost =
            format!("{lost} of {all} acknowledged {} lost {failovers}", writes(it.counts.acknowledged));
        let told = match LossKind::of(it) {
            LossKind::NotKnown => {
                format!(
                    "{}; no operation has a ledger, so that nobody knows what was lost",
                    count(it.failovers as usize, "failover")
                )
            }
            LossKind::None if it.failovers == 0 => lost,
            LossKind::None => {
                format!("{lost} (95 %: fewer than {} of failovers lose something)", EN.percent(it.bound, 0))
            }
            LossKind::Unpromised { before: Some(point), .. } => {
                format!("{lost}: a recovery point of {}, nothing had been promised", self.time(point))
            }
            LossKind::Unpromised { after: Some(until), .. } => {
                format!(
                    "{lost}, all acknowledged within {} after the fault; nothing had been promised",
                    self.time(until)
                )
            }
            LossKind::Unpromised { .. } => format!("{lost}; nothing had been promised"),
            LossKind::Broken => {
                let violations = it.anomalies.iter().filter(|it| it.kind.is_violation());
                let each: Vec<String> =
                    violations.map(|it| format!("{} {}", self.kind(it.kind), EN.count(it.count))).collect();
                format!("a promise was broken: {}; {lost}", each.join(", "))
            }
            LossKind::Unproven => {
                let why = it.doubts.first().map_or(String::new(), |it| format!(": {}", self.unproven(it)));
                let more = match it.doubts.len() {
                    0 | 1 => String::new(),
                    n => format!(", and {}", count(n - 1, "more doubt")),
                };
                format!("not proven{why}{more}; {lost}")
            }
        };
        let outage = it.outage.map_or(String::new(), |it| {
            let [median, greatest] = [it.median, it.max].map(|it| self.time(it));
            match it.min == it.max {
                true => format!(" Nothing could be written for {median}."),
                false => format!(" Nothing could be written for {median} at the median, {greatest} at most."),
            }
        });
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        format!("{name}{told}.{outage}")
    }

    fn conclusion(&self, it: Conclusion) -> &'static str {
        match it {
            Conclusion::Kept => "kept",
            Conclusion::Broken => "broken",
            Conclusion::Unknown => "not proven",
        }
    }

    fn kind(&self, it: AnomalyKind) -> &'static str {
        match it {
            AnomalyKind::Lost => "lost",
            AnomalyKind::Hole => "holes",
            AnomalyKind::Flicker => "flickers",
            AnomalyKind::FalseFailure => "false failures",
            AnomalyKind::Phantom => "phantoms",
            AnomalyKind::Duplicate => "duplicates",
            AnomalyKind::SplitBrain => "split brain",
            AnomalyKind::WrongPromotion => "wrong promotions",
            AnomalyKind::LostAmbiguous => "lost while the promise changed",
            AnomalyKind::LostWithoutPromise => "lost unpromised",
            AnomalyKind::LostLocal => "lost locally",
            AnomalyKind::DuplicateByRetry => "duplicates by retries",
        }
    }

    fn meaning(&self, it: AnomalyKind) -> &'static str {
        match it {
            AnomalyKind::Lost => "acknowledged with the promise to outlive the primary, and gone",
            AnomalyKind::Hole => "gone, though a later write of the same session on the same server is there",
            AnomalyKind::Flicker => "there in one reading and not in another, with nothing done in between",
            AnomalyKind::FalseFailure => "refused, and there",
            AnomalyKind::Phantom => "there, and never asked for",
            AnomalyKind::Duplicate => "there more than once after a single attempt",
            AnomalyKind::SplitBrain => "acknowledged by the old primary when a new one already acknowledged",
            AnomalyKind::WrongPromotion => "a replica was promoted that was not sure to have everything",
            AnomalyKind::LostAmbiguous => "acknowledged while the promise changed, and gone",
            AnomalyKind::LostWithoutPromise => {
                "acknowledged without a promise to outlive the primary, and gone"
            }
            AnomalyKind::LostLocal => "acknowledged with the warning that only this server has it, and gone",
            AnomalyKind::DuplicateByRetry => "there more than once after several attempts",
        }
    }

    fn unproven(&self, it: &InconclusiveReason) -> String {
        let writes = |n: u64| count(n as usize, "acknowledged write");
        match it {
            InconclusiveReason::NotReadBack => "nothing was read back".to_owned(),
            InconclusiveReason::NewerThanReadBacks { count } => {
                format!("{} came after every reading", writes(*count))
            }
            InconclusiveReason::ReadFromStandby { reading } => {
                format!("reading {} came from a server in recovery", reading + 1)
            }
            InconclusiveReason::ReadFromOldTimeline { reading } => {
                format!("reading {} came from an older timeline", reading + 1)
            }
            InconclusiveReason::ReadFromOtherSystem { reading } => {
                format!("reading {} came from another system", reading + 1)
            }
            InconclusiveReason::StandbyAcknowledged { .. } => {
                "a server in recovery acknowledged writes".to_owned()
            }
            InconclusiveReason::MultipleSystems => {
                "servers of several systems acknowledged writes".to_owned()
            }
            InconclusiveReason::NoWritesAfterFault { fault } => {
                format!("nothing was acknowledged after fault {}", fault + 1)
            }
            InconclusiveReason::NoNewTimelineAfterFault { fault } => {
                format!("no other timeline was seen after fault {}", fault + 1)
            }
            InconclusiveReason::LedgerOpen => "the ledger was not closed, and may lack its end".to_owned(),
            InconclusiveReason::LedgerTorn { bytes } => {
                format!("the last {} of the ledger cannot be read", count(*bytes as usize, "byte"))
            }
            InconclusiveReason::LedgerContradictsItself { entries: 1 } => {
                "1 entry of the ledger contradicts others".to_owned()
            }
            InconclusiveReason::LedgerContradictsItself { entries } => {
                format!("{entries} entries of the ledger contradict others")
            }
            InconclusiveReason::LedgerHasGaps { writes } => {
                format!("the ledger does not tell what came of {}", count(*writes as usize, "write"))
            }
            InconclusiveReason::PromiseUnknown { count } => {
                format!("what had been promised was not seen for {} that are gone", writes(*count))
            }
            InconclusiveReason::LostWhilePromiseChanged => {
                "writes were lost while the promise changed".to_owned()
            }
            InconclusiveReason::NoFault => "nothing was done to the system".to_owned(),
            InconclusiveReason::NoControl => "there was no positive control".to_owned(),
            InconclusiveReason::ControlLostNothing => "the positive control lost nothing".to_owned(),
        }
    }

    fn untold(&self, writes: u64) -> String {
        let (n, writes) = (EN.count(writes), if writes == 1 { "write" } else { "writes" });
        format!(
            "{n} more {writes} may have been sent, or not: where a ledger was not closed, that is not known."
        )
    }

    fn controlled(&self, it: &ControlSummary, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let trials = count(it.trials as usize, "trial");
        match it.lossy_trials {
            0 => format!(
                "The positive control{name} lost nothing in {trials}: nothing shows that a loss would be seen."
            ),
            _ => format!(
                "The positive control{name}, to which the same was done where nothing is promised, lost {} in {} of {trials}: \
                 a loss is seen.",
                count(it.lost as usize, "acknowledged write"),
                it.lossy_trials,
            ),
        }
    }

    fn recovery_point(&self, it: &RecoveryPoint) -> String {
        let moment = |ns: i64| {
            let side = if ns < 0 { "before" } else { "after" };
            format!("{} {side}", self.time(Nanos(ns.unsigned_abs())))
        };
        let window = it.window_ns.map_or(String::new(), |(first, last)| match first == last {
            true => format!("; acknowledged {} the fault", moment(first)),
            false => format!("; acknowledged from {} to {} the fault", moment(first), moment(last)),
        });
        format!(
            "The trial that lost most without a promise lost {} of {}, at most {} in a row{window}.",
            count(it.count as usize, "write"),
            count(it.sessions as usize, "session"),
            it.longest_run
        )
    }

    fn deed(&self, it: &FaultStatus) -> &'static str {
        match it {
            FaultStatus::Kill => "killed",
            FaultStatus::KillPostmaster => "postmaster killed",
            FaultStatus::KillPatroni => "Patroni killed",
            FaultStatus::Pause => "paused",
            FaultStatus::Restart => "restarted",
            FaultStatus::Switchover => "switched over",
            FaultStatus::CutOff => "cut off",
            FaultStatus::FillDisk => "disk full",
            FaultStatus::Withhold => "log withheld",
        }
    }

    fn inflicted(&self, it: &FaultStatus, nodes: &[String], healed: Option<Nanos>) -> String {
        if nodes.is_empty() {
            return format!("could not be done: {}", self.deed(it));
        }
        let until = healed.map_or(String::new(), |it| format!(" until {}", self.time(it)));
        format!("{} {}{until}", nodes.join(", "), self.deed(it))
    }

    fn promotion(&self, it: &PromotionRecord) -> String {
        let healthy = it.healthy.map_or(String::new(), |it| format!(", called healthy at {}", self.time(it)));
        let safe = match it.safe {
            Some(false) => ", not sure to have everything",
            Some(true) | None => "",
        };
        format!("{} promoted, timeline {}{safe}{healthy}", it.to, it.timeline)
    }

    fn rejoining(&self, it: &RejoinRecord) -> String {
        let how = if it.rewound { "rewound" } else { "copied anew" };
        format!("{} back as a replica, {how} within {}", it.node, self.time(it.elapsed))
    }

    fn reading(&self, it: &ReadBackRecord) -> String {
        let after = match it.phase {
            ReadBackPhase::Load => "after the load",
            ReadBackPhase::Rejoining => "after the old primary's return",
            ReadBackPhase::Restart => "after a restart of all",
        };
        format!("{} read from {} {after}", count(it.rows as usize, "token"), it.node)
    }

    fn happening(&self, it: &TimelineEvent<'_>) -> String {
        match it {
            TimelineEvent::Done(it) => self.deed(it).to_owned(),
            TimelineEvent::Promoted(timeline) => format!("timeline {timeline}"),
            TimelineEvent::Rewound => "rewound".to_owned(),
            TimelineEvent::Copied => "copied anew".to_owned(),
        }
    }
}
