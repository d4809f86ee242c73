//! Histories and verdicts as text

use super::super::judge;
use model::durability::*;
use model::{Code, Nanos};

pub(super) struct HistoryText {
    pub history: DurabilityHistory,
    pub entries: Vec<LedgerEntry>,
}

/// Time per word. A write ends a millisecond after it began.
const WORD: Nanos = Nanos::from_millis(10);
const SESSIONS: u32 = 5;
/// Number of reserved sequences of each session.
const RESERVED: u64 = 1024;

impl HistoryText {
    pub fn parse(writes: &str, readings: &[&str]) -> HistoryText {
        let mut text = HistoryText { history: DurabilityHistory::default(), entries: Vec::new() };
        let mut now = Nanos::ZERO;
        let standbys = crate::durability::replication::parse("ANY 1 (a,b)")
            .expect("well-formed")
            .expect("standbys are named");
        for number in 0..3 {
            let server = simulated_server(number);
            text.entries.push(LedgerEntry::Server(ServerId(number), server.clone()));
            text.history.promises.push(PromiseChange {
                at: now,
                server,
                promise: Promise::Flush(standbys.clone()),
            });
        }
        let sessions = writes
            .split_whitespace()
            .filter_map(|it| it.split(['!', 'a', 'l', 'f', 'u']).next()?.parse().ok());
        let last: Option<u32> = sessions.max();
        text.entries.extend(
            (0..last.map_or(0, |it| it + 1))
                .map(|session| LedgerEntry::Reserved { session, until: RESERVED }),
        );
        let mut server = 0;
        let mut writing = [(0u64, 0u16); SESSIONS as usize];
        for word in writes.split_whitespace() {
            now += WORD;
            if word == "X" {
                text.history.faults.push(FaultEvent { at: now, fails_over: true, crashes_hosts: false });
            } else if let Some(number) = word.strip_prefix('@') {
                server = number.parse().expect("a server's number");
            } else {
                let session: u32 = word[..1].parse().expect("a session's number");
                let (next, attempts) = &mut writing[session as usize];
                if word.contains('!') {
                    *attempts += 1;
                } else {
                    (*next, *attempts) = (*next + 1, 1);
                }
                let code = Code::SqlState(*b"40001");
                let outcome = match word.chars().last() {
                    Some('a') => WriteOutcome::Acknowledged,
                    Some('l') => WriteOutcome::AcknowledgedLocally,
                    Some('f') => WriteOutcome::Failed(code),
                    Some('u') => WriteOutcome::Unknown(Code::RESET),
                    _ => panic!("{word} is not a write"),
                };
                let (key, number) = (WriteKey { session, sequence: *next - 1 }, *attempts);
                let (invoked, ended) = (now, now + Nanos::from_millis(1));
                text.entries.push(LedgerEntry::Completed(WriteAttempt {
                    key,
                    number,
                    outcome,
                    invoked,
                    ended,
                    server: Some(ServerId(server)),
                }));
            }
        }
        text.entries.push(LedgerEntry::Closed);
        text.history.end = Some(LedgerEnd::Closed);
        text.history.control = Some(ControlResult { lost: 5 });
        let newest = text.reserved_sequences().max().unwrap_or(0);
        let reserved = vec![RESERVED; last.map_or(0, |it| it as usize + 1)];
        for reading in readings {
            now += WORD;
            let mut rows = KeySet::new(&reserved);
            for key in reading.split_whitespace() {
                let (session, sequence) = key.split_once('/').expect("session/sequence");
                let key = |it: &str| it.parse::<u64>().expect("a number");
                rows.add(WriteKey { session: key(session) as u32, sequence: key(sequence) }, true);
            }
            let answering = simulated_server(newest);
            text.history.read_backs.push(ReadBack {
                started: now,
                identified: now,
                server: answering,
                in_recovery: false,
                keys: rows,
                lists: Vec::new(),
            });
        }
        text
    }

    pub fn judge(&self) -> DurabilityVerdict {
        judge(&self.history, || self.entries.iter().cloned())
    }

    pub fn server(&self, number: u16) -> ServerInstance {
        simulated_server(number)
    }

    /// Applies `change` to the entry of server `number` everywhere in the ledger.
    pub fn rename(&mut self, number: u16, change: impl Fn(&mut ServerInstance)) {
        for entry in &mut self.entries {
            if let LedgerEntry::Server(id, server) = entry
                && *id == ServerId(number)
            {
                change(server);
            }
        }
    }

    pub fn forget_servers(&mut self) {
        for entry in &mut self.entries {
            if let LedgerEntry::Completed(attempt) = entry {
                attempt.server = None;
            }
        }
    }

    /// Server of each completed write, as the server's number.
    fn reserved_sequences(&self) -> impl Iterator<Item = u16> {
        self.entries.iter().filter_map(|entry| match entry {
            LedgerEntry::Completed(entry) => entry.server.map(|it| it.0),
            _ => None,
        })
    }
}

/// Simulated server `number`. Its timeline follows that of the previous server.
fn simulated_server(number: u16) -> ServerInstance {
    let address = format!("127.0.0.1:{}", 5432 + number);
    ServerInstance {
        system: 42,
        address,
        started_us: 1_000_000 + u64::from(number),
        timeline: 1 + u32::from(number),
    }
}

/// Verdict as one line: conclusion and anomalies; recovery point; failovers and outages; doubts.
pub(super) fn describe_verdict(verdict: &DurabilityVerdict) -> String {
    let keys = |keys: &[WriteKey]| {
        keys.iter().map(|it| format!(" {}/{}", it.session, it.sequence)).collect::<String>()
    };
    let finding = |it: &Anomaly| format!("{} {}{}", kind_name(it.kind), it.count, keys(&it.examples));
    let findings: Vec<String> = verdict.anomalies.iter().map(finding).collect();
    let mut parts = vec![format!("{:?} {}", verdict.conclusion, findings.join(", ")).trim_end().to_owned()];
    if let Some(point) = verdict.recovery_point {
        let window = point.window_ns.map(|(from, to)| format!(", {from}..{to}")).unwrap_or_default();
        parts.push(format!(
            "point {} of {} sessions, run {}{window}",
            point.count, point.sessions, point.longest_run
        ));
    }
    let outages = verdict.outages.iter().filter(|it| it.client == ClientKind::Connected);
    let outages = outages.map(|it| format!(", outage {} ms", (it.to - it.from).0 / 1_000_000));
    let outages: String = outages.collect();
    let doubts: Vec<String> = verdict.doubts.iter().map(doubt_name).collect();
    let faults = !outages.is_empty() || doubts.iter().any(|it| it.contains("fault") || it.contains("silent"));
    if faults || verdict.failovers > 0 {
        parts.push(format!("{} failovers{outages}", verdict.failovers));
    }
    parts.extend((!doubts.is_empty()).then(|| doubts.join(", ")));
    parts.extend(verdict.clock_steps_us.iter().map(|it| format!("clock {it}")));
    parts.join("; ")
}

fn kind_name(kind: AnomalyKind) -> &'static str {
    match kind {
        AnomalyKind::Lost => "lost",
        AnomalyKind::Hole => "hole",
        AnomalyKind::BrokenInvariant => "broken invariant",
        AnomalyKind::Flicker => "flicker",
        AnomalyKind::FalseFailure => "false failure",
        AnomalyKind::Phantom => "phantom",
        AnomalyKind::Duplicate => "duplicate",
        AnomalyKind::Reordered => "reordered",
        AnomalyKind::SplitBrain => "split brain",
        AnomalyKind::WrongPromotion => "wrong promotion",
        AnomalyKind::LostAmbiguous => "lost while the promise changed",
        AnomalyKind::LostWithoutPromise => "lost unpromised",
        AnomalyKind::LostLocal => "lost locally",
        AnomalyKind::Diverged => "diverged",
        AnomalyKind::OnOldTimeline => "on old timeline",
        AnomalyKind::DuplicateByRetry => "duplicate by retry",
    }
}

fn doubt_name(reason: &InconclusiveReason) -> String {
    match reason {
        InconclusiveReason::NotReadBack => "not read".to_owned(),
        InconclusiveReason::NewerThanReadBacks { count } => format!("younger {count}"),
        InconclusiveReason::ReadFromStandby { reading } => format!("from standby {reading}"),
        InconclusiveReason::ReadFromOldTimeline { reading } => format!("from old timeline {reading}"),
        InconclusiveReason::ReadFromOtherSystem { reading } => format!("from elsewhere {reading}"),
        InconclusiveReason::StandbyAcknowledged { .. } => "standby acknowledged".to_owned(),
        InconclusiveReason::MultipleSystems => "several systems".to_owned(),
        InconclusiveReason::NoWritesAfterFault { fault } => format!("silent after {fault}"),
        InconclusiveReason::NoNewTimelineAfterFault { fault } => format!("fault unseen {fault}"),
        InconclusiveReason::LedgerOpen => "open".to_owned(),
        InconclusiveReason::LedgerTorn { bytes } => format!("torn {bytes}"),
        InconclusiveReason::LedgerContradictsItself { entries } => format!("contradictions {entries}"),
        InconclusiveReason::LedgerHasGaps { writes } => format!("gaps {writes}"),
        InconclusiveReason::PromiseUnknown { count } => format!("promise unknown {count}"),
        InconclusiveReason::LostWhilePromiseChanged => "while promise changed".to_owned(),
        InconclusiveReason::FsyncOff => "fsync off".to_owned(),
        InconclusiveReason::InvariantNotRead => "invariant not read".to_owned(),
        InconclusiveReason::NoFault => "no fault".to_owned(),
        InconclusiveReason::NoControl => "no control".to_owned(),
        InconclusiveReason::ControlLostNothing => "control lost nothing".to_owned(),
    }
}
