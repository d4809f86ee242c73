//! A history told in words, and a verdict in words.

use super::super::judge;
use model::durability::*;
use model::{Code, Nanos};

pub(super) struct Told {
    pub history: History,
    pub entries: Vec<Entry>,
}

/// Each word takes so long; a write ends a millisecond after it began.
const WORD: Nanos = Nanos::from_millis(10);
const SESSIONS: u32 = 5;
/// Sequences of each session.
const RESERVED: u64 = 1024;

impl Told {
    pub fn of(writes: &str, readings: &[&str]) -> Told {
        let mut it = Told { history: History::default(), entries: Vec::new() };
        let mut now = Nanos::ZERO;
        let standbys = crate::replication::parse("ANY 1 (a,b)").expect("well-formed").expect("some");
        for number in 0..3 {
            let server = invented(number);
            it.entries.push(Entry::Server(ServerId(number), server.clone()));
            it.history.promised.push(Promised { at: now, server, promise: Promise::Flush(standbys.clone()) });
        }
        let sessions = writes
            .split_whitespace()
            .filter_map(|it| it.split(['!', 'a', 'l', 'f', 'u']).next()?.parse().ok());
        let last: Option<u32> = sessions.max();
        it.entries.extend(
            (0..last.map_or(0, |it| it + 1)).map(|session| Entry::Reserved { session, until: RESERVED }),
        );
        let mut server = 0;
        let mut writing = [(0u64, 0u16); SESSIONS as usize];
        for word in writes.split_whitespace() {
            now += WORD;
            if word == "X" {
                it.history.faults.push(Fault { at: now, fails_over: true });
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
                    Some('a') => Outcome::Acknowledged,
                    Some('l') => Outcome::AcknowledgedLocally,
                    Some('f') => Outcome::Failed(code),
                    Some('u') => Outcome::Unknown(Code::RESET),
                    _ => panic!("{word} is no write"),
                };
                let (key, number) = (Key { session, sequence: *next - 1 }, *attempts);
                let (invoked, ended) = (now, now + Nanos::from_millis(1));
                it.entries.push(Entry::Ended(Attempt {
                    key,
                    number,
                    outcome,
                    invoked,
                    ended,
                    server: Some(ServerId(server)),
                }));
            }
        }
        it.entries.push(Entry::Closed);
        it.history.end = Some(LedgerEnd::Closed);
        it.history.control = Some(Control { lost: 5 });
        let newest = it.used().max().unwrap_or(0);
        let reserved = vec![RESERVED; last.map_or(0, |it| it as usize + 1)];
        for reading in readings {
            now += WORD;
            let mut rows = Rows::new(&reserved);
            for key in reading.split_whitespace() {
                let (session, sequence) = key.split_once('/').expect("session/sequence");
                let key = |it: &str| it.parse::<u64>().expect("a number");
                rows.add(Key { session: key(session) as u32, sequence: key(sequence) }, true);
            }
            let server = invented(newest);
            it.history.readings.push(Reading { began: now, known: now, server, in_recovery: false, rows });
        }
        it
    }

    pub fn judge(&self) -> Verdict {
        judge(&self.history, || self.entries.iter().cloned())
    }

    pub fn server(&self, number: u16) -> Server {
        invented(number)
    }

    /// Changes a server wherever it stands in the ledger.
    pub fn rename(&mut self, number: u16, change: impl Fn(&mut Server)) {
        for it in &mut self.entries {
            if let Entry::Server(id, server) = it
                && *id == ServerId(number)
            {
                change(server);
            }
        }
    }

    pub fn forget_servers(&mut self) {
        for it in &mut self.entries {
            if let Entry::Ended(it) = it {
                it.server = None;
            }
        }
    }

    /// Servers that were asked.
    fn used(&self) -> impl Iterator<Item = u16> {
        self.entries.iter().filter_map(|it| match it {
            Entry::Ended(it) => it.server.map(|it| it.0),
            _ => None,
        })
    }
}

/// Server `number`, on the timeline after that of the one before it.
fn invented(number: u16) -> Server {
    let address = format!("127.0.0.1:{}", 5432 + number);
    Server { system: 42, address, started_us: 1_000_000 + u64::from(number), timeline: 1 + u32::from(number) }
}

/// In one line: the conclusion and what was found; the recovery point; failovers and outages; doubts.
pub(super) fn shown(verdict: &Verdict) -> String {
    let keys =
        |keys: &[Key]| keys.iter().map(|it| format!(" {}/{}", it.session, it.sequence)).collect::<String>();
    let finding = |it: &Found| format!("{} {}{}", name(it.kind), it.count, keys(&it.examples));
    let findings: Vec<String> = verdict.findings.iter().map(finding).collect();
    let mut parts = vec![format!("{:?} {}", verdict.conclusion, findings.join(", ")).trim_end().to_owned()];
    if let Some(it) = verdict.recovery_point {
        let window = it.window_ns.map(|(from, to)| format!(", {from}..{to}")).unwrap_or_default();
        parts.push(format!("point {} of {} sessions, run {}{window}", it.count, it.sessions, it.longest_run));
    }
    let outages = verdict.outages.iter().map(|it| format!(", outage {} ms", (it.to - it.from).0 / 1_000_000));
    let outages: String = outages.collect();
    let doubts: Vec<String> = verdict.doubts.iter().map(doubt).collect();
    let faults = !outages.is_empty() || doubts.iter().any(|it| it.contains("fault") || it.contains("silent"));
    if faults || verdict.failovers > 0 {
        parts.push(format!("{} failovers{outages}", verdict.failovers));
    }
    parts.extend((!doubts.is_empty()).then(|| doubts.join(", ")));
    parts.extend(verdict.clock_steps_us.iter().map(|it| format!("clock {it}")));
    parts.join("; ")
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Lost => "lost",
        Kind::Hole => "hole",
        Kind::Flicker => "flicker",
        Kind::FalseFailure => "false failure",
        Kind::Phantom => "phantom",
        Kind::Duplicate => "duplicate",
        Kind::SplitBrain => "split brain",
        Kind::WrongPromotion => "wrong promotion",
        Kind::LostAmbiguous => "lost while the promise changed",
        Kind::LostUnpromised => "lost unpromised",
        Kind::LostLocal => "lost locally",
        Kind::DuplicateByRetry => "duplicate by retry",
    }
}

fn doubt(it: &Doubt) -> String {
    match it {
        Doubt::NotRead => "not read".to_owned(),
        Doubt::YoungerThanReadings { count } => format!("younger {count}"),
        Doubt::ReadFromStandby { reading } => format!("from standby {reading}"),
        Doubt::ReadFromOldTimeline { reading } => format!("from old timeline {reading}"),
        Doubt::ReadFromElsewhere { reading } => format!("from elsewhere {reading}"),
        Doubt::StandbyAcknowledged { .. } => "standby acknowledged".to_owned(),
        Doubt::SeveralSystems => "several systems".to_owned(),
        Doubt::SilentAfterFault { fault } => format!("silent after {fault}"),
        Doubt::FaultUnseen { fault } => format!("fault unseen {fault}"),
        Doubt::LedgerOpen => "open".to_owned(),
        Doubt::LedgerTorn { bytes } => format!("torn {bytes}"),
        Doubt::LedgerContradictsItself { entries } => format!("contradictions {entries}"),
        Doubt::LedgerHasGaps { writes } => format!("gaps {writes}"),
        Doubt::PromiseUnknown { count } => format!("promise unknown {count}"),
        Doubt::LostWhilePromiseChanged => "while promise changed".to_owned(),
        Doubt::NoFault => "no fault".to_owned(),
        Doubt::NoControl => "no control".to_owned(),
        Doubt::ControlLostNothing => "control lost nothing".to_owned(),
    }
}
