//! English: faults, and what outlived them.

use super::page::count;
use super::{En, NUMBERS as EN};
use crate::lang::Lang;
use crate::lang::failover::{Done, FailoverWords, Happening, Loss, Outlived};
use model::Nanos;
use model::durability::{Conclusion, Doubt, Kind, RecoveryPoint};
use model::ordeal::{After, Controlled, Promoted, ReadBack, Rejoined, Survival};

impl FailoverWords for En {
    fn outlived(&self, it: Outlived) -> &'static str {
        match it {
            Outlived::Failover => "Failover",
            Outlived::Findings => "What was found",
            Outlived::Cell => "cell",
            Outlived::Conclusion => "what was promised",
            Outlived::Failovers => "failovers",
            Outlived::Acknowledged => "acknowledged",
            Outlived::Lost => "lost",
            Outlived::LostLocally => "lost, warned",
            Outlived::Unknown => "unknown (there)",
            Outlived::Refused => "refused",
            Outlived::Misrouted => "misrouted",
            Outlived::Outage => "no writes for",
            Outlived::Promoted => "promoted after",
            Outlived::Healthy => "healthy after",
            Outlived::Rejoined => "old one back within",
            Outlived::Control => "lost by the control",
            Outlived::Finding => "finding",
            Outlived::Count => "count",
            Outlived::Meaning => "meaning",
            Outlived::Examples => "session/sequence",
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

    fn survival(&self, it: &Survival, name: &str) -> String {
        let failovers = match it.failovers {
            0 => "without a failover".to_owned(),
            n => format!("in {}", count(n as usize, "failover")),
        };
        let writes = |n| if n == 1 { "write" } else { "writes" };
        let (lost, all) = (EN.count(it.lost), EN.count(it.counts.acknowledged));
        let lost =
            format!("{lost} of {all} acknowledged {} lost {failovers}", writes(it.counts.acknowledged));
        let told = match Loss::of(it) {
            Loss::NotKnown => {
                format!(
                    "{}; no operation has a ledger, so that nobody knows what was lost",
                    count(it.failovers as usize, "failover")
                )
            }
            Loss::None if it.failovers == 0 => lost,
            Loss::None => {
                format!("{lost} (95 %: fewer than {} of failovers lose something)", EN.percent(it.bound, 0))
            }
            Loss::Unpromised { before: Some(point), .. } => {
                format!("{lost}: a recovery point of {}, nothing had been promised", self.time(point))
            }
            Loss::Unpromised { after: Some(until), .. } => {
                format!(
                    "{lost}, all acknowledged within {} after the fault; nothing had been promised",
                    self.time(until)
                )
            }
            Loss::Unpromised { .. } => format!("{lost}; nothing had been promised"),
            Loss::Broken => {
                let violations = it.found.iter().filter(|it| it.kind.is_violation());
                let each: Vec<String> =
                    violations.map(|it| format!("{} {}", self.kind(it.kind), EN.count(it.count))).collect();
                format!("a promise was broken: {}; {lost}", each.join(", "))
            }
            Loss::Unproven => {
                let why = it.doubts.first().map_or(String::new(), |it| format!(": {}", self.unproven(it)));
                let more = match it.doubts.len() {
                    0 | 1 => String::new(),
                    n => format!(", and {}", count(n - 1, "more doubt")),
                };
                format!("not proven{why}{more}; {lost}")
            }
        };
        let outage = it.outage.map_or(String::new(), |it| {
            let [median, greatest] = [it.median, it.greatest].map(|it| self.time(it));
            match it.least == it.greatest {
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

    fn kind(&self, it: Kind) -> &'static str {
        match it {
            Kind::Lost => "lost",
            Kind::Hole => "holes",
            Kind::Flicker => "flickers",
            Kind::FalseFailure => "false failures",
            Kind::Phantom => "phantoms",
            Kind::Duplicate => "duplicates",
            Kind::SplitBrain => "split brain",
            Kind::WrongPromotion => "wrong promotions",
            Kind::LostAmbiguous => "lost while the promise changed",
            Kind::LostUnpromised => "lost unpromised",
            Kind::LostLocal => "lost locally",
            Kind::DuplicateByRetry => "duplicates by retries",
        }
    }

    fn meaning(&self, it: Kind) -> &'static str {
        match it {
            Kind::Lost => "acknowledged with the promise to outlive the primary, and gone",
            Kind::Hole => "gone, though a later write of the same session on the same server is there",
            Kind::Flicker => "there in one reading and not in another, with nothing done in between",
            Kind::FalseFailure => "refused, and there",
            Kind::Phantom => "there, and never asked for",
            Kind::Duplicate => "there more than once after a single attempt",
            Kind::SplitBrain => "acknowledged by the old primary when a new one already acknowledged",
            Kind::WrongPromotion => "a replica was promoted that was not sure to have everything",
            Kind::LostAmbiguous => "acknowledged while the promise changed, and gone",
            Kind::LostUnpromised => "acknowledged without a promise to outlive the primary, and gone",
            Kind::LostLocal => "acknowledged with the warning that only this server has it, and gone",
            Kind::DuplicateByRetry => "there more than once after several attempts",
        }
    }

    fn unproven(&self, it: &Doubt) -> String {
        let writes = |n: u64| count(n as usize, "acknowledged write");
        match it {
            Doubt::NotRead => "nothing was read back".to_owned(),
            Doubt::YoungerThanReadings { count } => {
                format!("{} came after every reading", writes(*count))
            }
            Doubt::ReadFromStandby { reading } => {
                format!("reading {} came from a server in recovery", reading + 1)
            }
            Doubt::ReadFromOldTimeline { reading } => {
                format!("reading {} came from an older timeline", reading + 1)
            }
            Doubt::ReadFromElsewhere { reading } => {
                format!("reading {} came from another system", reading + 1)
            }
            Doubt::StandbyAcknowledged { .. } => "a server in recovery acknowledged writes".to_owned(),
            Doubt::SeveralSystems => "servers of several systems acknowledged writes".to_owned(),
            Doubt::SilentAfterFault { fault } => {
                format!("nothing was acknowledged after fault {}", fault + 1)
            }
            Doubt::FaultUnseen { fault } => {
                format!("no other timeline was seen after fault {}", fault + 1)
            }
            Doubt::LedgerOpen => "the ledger was not closed, and may lack its end".to_owned(),
            Doubt::LedgerTorn { bytes } => {
                format!("the last {} of the ledger cannot be read", count(*bytes as usize, "byte"))
            }
            Doubt::LedgerContradictsItself { entries: 1 } => {
                "1 entry of the ledger contradicts others".to_owned()
            }
            Doubt::LedgerContradictsItself { entries } => {
                format!("{entries} entries of the ledger contradict others")
            }
            Doubt::LedgerHasGaps { writes } => {
                format!("the ledger does not tell what came of {}", count(*writes as usize, "write"))
            }
            Doubt::PromiseUnknown { count } => {
                format!("what had been promised was not seen for {} that are gone", writes(*count))
            }
            Doubt::LostWhilePromiseChanged => "writes were lost while the promise changed".to_owned(),
            Doubt::NoFault => "nothing was done to the system".to_owned(),
            Doubt::NoControl => "there was no positive control".to_owned(),
            Doubt::ControlLostNothing => "the positive control lost nothing".to_owned(),
        }
    }

    fn untold(&self, writes: u64) -> String {
        let (n, writes) = (EN.count(writes), if writes == 1 { "write" } else { "writes" });
        format!(
            "{n} more {writes} may have been sent, or not: where a ledger was not closed, that is not known."
        )
    }

    fn controlled(&self, it: &Controlled, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let trials = count(it.trials as usize, "trial");
        match it.lossy {
            0 => format!(
                "The positive control{name} lost nothing in {trials}: nothing shows that a loss would be seen."
            ),
            _ => format!(
                "The positive control{name}, to which the same was done where nothing is promised, lost {} in {} of {trials}: \
                 a loss is seen.",
                count(it.lost as usize, "acknowledged write"),
                it.lossy,
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

    fn deed(&self, it: &Done) -> &'static str {
        match it {
            Done::Kill => "killed",
            Done::KillPostmaster => "postmaster killed",
            Done::KillPatroni => "Patroni killed",
            Done::Pause => "paused",
            Done::Restart => "restarted",
            Done::Switchover => "switched over",
            Done::CutOff => "cut off",
            Done::FillDisk => "disk full",
            Done::Withhold => "log withheld",
        }
    }

    fn inflicted(&self, it: &Done, nodes: &[String], healed: Option<Nanos>) -> String {
        if nodes.is_empty() {
            return format!("could not be done: {}", self.deed(it));
        }
        let until = healed.map_or(String::new(), |it| format!(" until {}", self.time(it)));
        format!("{} {}{until}", nodes.join(", "), self.deed(it))
    }

    fn promotion(&self, it: &Promoted) -> String {
        let healthy = it.healthy.map_or(String::new(), |it| format!(", called healthy at {}", self.time(it)));
        let safe = match it.safe {
            Some(false) => ", not sure to have everything",
            Some(true) | None => "",
        };
        format!("{} promoted, timeline {}{safe}{healthy}", it.to, it.timeline)
    }

    fn rejoining(&self, it: &Rejoined) -> String {
        let how = if it.rewound { "rewound" } else { "copied anew" };
        format!("{} back as a replica, {how} within {}", it.node, self.time(it.took))
    }

    fn reading(&self, it: &ReadBack) -> String {
        let after = match it.after {
            After::Load => "after the load",
            After::Rejoining => "after the old primary's return",
            After::Restart => "after a restart of all",
        };
        format!("{} read from {} {after}", count(it.rows as usize, "token"), it.node)
    }

    fn happening(&self, it: &Happening<'_>) -> String {
        match it {
            Happening::Done(it) => self.deed(it).to_owned(),
            Happening::Promoted(timeline) => format!("timeline {timeline}"),
            Happening::Rewound => "rewound".to_owned(),
            Happening::Copied => "copied anew".to_owned(),
        }
    }
}
