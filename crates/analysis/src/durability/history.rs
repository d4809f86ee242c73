//! Text format of durability histories: one event per line
//!
//! `docs/durability.md` describes the format. It states the evidence of a trial, and optionally the expected verdict.

mod names;
#[cfg(test)]
mod tests;
mod words;

pub use names::{anomaly_name, conclusion_name, reason_name};

use super::{judge, replication};
use model::durability::{
    AnomalyKind, Conclusion, ControlResult, DurabilityHistory, DurabilityVerdict, FaultEvent,
    InvariantReadings, InvariantViolation, LedgerEnd, LedgerEntry, PromiseChange, PromotionDecision,
    ReadBack, RoleSample, ServerId, ServerInstance, StandbyPosition, SynchronousStandbys, WriteAttempt,
    WriteKey,
};
use std::collections::BTreeMap;
use std::fmt;
use words::{FoundKeys, Words};

/// Evidence of a trial, and the expected verdict.
#[derive(Debug)]
pub struct HistoryFile {
    pub history: DurabilityHistory,
    pub entries: Vec<LedgerEntry>,
    pub expected: Option<ExpectedVerdict>,
}

/// Verdict that the author of a history expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedVerdict {
    pub conclusion: Conclusion,
    /// All anomalies, with their counts.
    pub anomalies: BTreeMap<AnomalyKind, u64>,
    /// Names of all reasons for doubt; `None` if the author states none.
    pub reasons: Option<Vec<String>>,
}

/// Notation of a line or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    Event,
    Control,
    Ledger,
    Level,
    Settings,
    Role,
    Write,
    Fault,
    Promote,
    Read,
    Value,
    Server,
    Expect,
    Reason,
    Standbys,
    Anomaly,
    Time,
    Key,
    Keys,
    Outcome,
}

/// Line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryDiagnostic {
    /// Number of the line, from 1.
    pub line: usize,
    /// Part of the line that is wrong; empty if something is missing at its end.
    pub text: String,
    /// Notation to use instead.
    pub usage: Notation,
}

/// Histories in a file, each with its title and the number of its first line. A line `=== TITLE` begins a history. The
/// text before the first such line is a history only if there is no other.
pub fn split(text: &str) -> Vec<(&str, usize, &str)> {
    let mut starts: Vec<(&str, usize, usize, usize)> = Vec::new();
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if let Some(title) = line.strip_prefix("=== ") {
            starts.push((title.trim(), number + 2, offset, offset + line.len()));
        }
        offset += line.len();
    }
    if starts.is_empty() {
        return vec![("", 1, text)];
    }
    let ends = starts.iter().skip(1).map(|it| it.2).chain([text.len()]);
    starts.iter().zip(ends).map(|(&(title, line, _, begin), end)| (title, line, &text[begin..end])).collect()
}

/// Number of sequence numbers that each session reserved.
const RESERVED: u64 = 1024;

impl HistoryFile {
    /// Parses a history. Returns all lines that cannot be read.
    pub fn parse(text: &str) -> Result<HistoryFile, Vec<HistoryDiagnostic>> {
        let mut parser = HistoryParser::default();
        let mut diagnostics = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Err((text, usage)) = parser.add_line(line) {
                diagnostics.push(HistoryDiagnostic { line: number + 1, text, usage });
            }
        }
        if diagnostics.is_empty() { Ok(parser.finish()) } else { Err(diagnostics) }
    }

    pub fn judge(&self) -> DurabilityVerdict {
        judge(&self.history, || self.entries.iter().cloned())
    }
}

impl ExpectedVerdict {
    /// Verdict in the terms of an expectation, with the reasons only if this expectation states them.
    pub fn of_verdict(&self, verdict: &DurabilityVerdict) -> ExpectedVerdict {
        let names = || {
            let mut names: Vec<String> = verdict.doubts.iter().map(|it| reason_name(it).to_owned()).collect();
            names.sort();
            names.dedup();
            names
        };
        ExpectedVerdict {
            conclusion: verdict.conclusion,
            anomalies: verdict.anomalies.iter().map(|it| (it.kind, it.count)).collect(),
            reasons: self.reasons.is_some().then(names),
        }
    }
}

impl fmt::Display for ExpectedVerdict {
    /// Notation of a history.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let anomalies: Vec<String> =
            self.anomalies.iter().map(|(kind, count)| format!("{} {count}", anomaly_name(*kind))).collect();
        write!(f, "{}", conclusion_name(self.conclusion))?;
        if !anomalies.is_empty() {
            write!(f, ": {}", anomalies.join(", "))?;
        }
        match self.reasons.as_deref() {
            None | Some([]) => Ok(()),
            Some(reasons) => write!(f, " because {}", reasons.join(", ")),
        }
    }
}

#[derive(Debug, Default)]
struct HistoryParser {
    history: DurabilityHistory,
    writes: Vec<WriteAttempt>,
    /// Reads with their keys, which are stored when all sessions are known.
    reads: Vec<(ReadBack, FoundKeys)>,
    /// Results of the invariant.
    results: Vec<InvariantViolation>,
    servers: Vec<ServerInstance>,
    /// Names of the servers, and names of the systems; the first system has no name.
    server_names: Vec<String>,
    system_names: Vec<String>,
    /// Control, if a line states one.
    control: Option<Option<ControlResult>>,
    expected: Option<ExpectedVerdict>,
    reasons: Option<Vec<String>>,
}

/// Offending text, and the notation to use instead.
type LineResult<T> = Result<T, (String, Notation)>;

impl HistoryParser {
    fn add_line(&mut self, line: &str) -> LineResult<()> {
        let mut words = Words::new(line);
        let first = words.next(Notation::Event)?;
        match first {
            "expect" => self.expected = Some(parse_expectation(words.rest())?),
            "because" => {
                let all: LineResult<Vec<String>> = words.rest().split(',').map(parse_reason).collect();
                let mut all = all?;
                all.sort();
                self.reasons = Some(all);
            }
            "control" => {
                let lost = match words.next(Notation::Control)? {
                    "none" => None,
                    text => Some(ControlResult { lost: words::number(text, Notation::Control)? }),
                };
                self.control = Some(lost);
            }
            "ledger" => {
                self.history.end = Some(match words.next(Notation::Ledger)? {
                    "closed" => LedgerEnd::Closed,
                    "open" => LedgerEnd::Open,
                    "torn" => LedgerEnd::Torn { bytes: 1 },
                    other => return Err((other.to_owned(), Notation::Ledger)),
                });
            }
            time => return self.add_event(time, &mut words),
        }
        Ok(())
    }

    fn add_event(&mut self, time: &str, words: &mut Words<'_>) -> LineResult<()> {
        let (at, ended) = words::times(time)?;
        match words.next(Notation::Event)? {
            "settings" => {
                let server = self.server(words.next(Notation::Settings)?)?;
                let level = words.next(Notation::Settings)?;
                let standbys = parse_standbys(words.rest())?;
                let promise = replication::promise(level, standbys.as_ref());
                let promise = promise.ok_or((level.to_owned(), Notation::Level))?;
                self.history.promises.push(PromiseChange { at, server, promise });
            }
            "role" => {
                let server = self.server(words.next(Notation::Role)?)?;
                let in_recovery = parse_role(words.next(Notation::Role)?)?;
                let fsync = match words.rest() {
                    "" | "fsync=on" => true,
                    "fsync=off" => false,
                    other => return Err((other.to_owned(), Notation::Role)),
                };
                self.history.samples.push(RoleSample { at, server, in_recovery, fsync });
            }
            "write" => {
                let key = words::key(words.next(Notation::Write)?)?;
                let outcome = words::outcome(words)?;
                let server = match words.rest() {
                    "" => None,
                    name => Some(self.server_id(name)?),
                };
                self.writes.push(WriteAttempt { key, number: 0, outcome, invoked: at, ended, server });
            }
            "fault" => {
                let mut fault = FaultEvent { at, fails_over: false, crashes_hosts: false };
                for word in words.rest().split_whitespace() {
                    match word {
                        "failover" => fault.fails_over = true,
                        "host" => fault.crashes_hosts = true,
                        other => return Err((other.to_owned(), Notation::Fault)),
                    }
                }
                self.history.faults.push(fault);
            }
            "promote" => {
                let promoted = words.next(Notation::Promote)?.to_owned();
                let (standbys, positions) =
                    words.rest().split_once(':').ok_or((words.rest().to_owned(), Notation::Promote))?;
                let standbys = parse_standbys(standbys.trim())?;
                let positions = positions.split(',').map(parse_position).collect::<LineResult<_>>()?;
                self.history.promotions.push(PromotionDecision { at, promoted, standbys, positions });
            }
            "read" => {
                let server = self.server(words.next(Notation::Read)?)?;
                let in_recovery = parse_role(words.next(Notation::Read)?)?;
                let keys = words::keys(words.rest())?;
                let keys_found = Default::default();
                let lists = Vec::new();
                let read =
                    ReadBack { started: at, identified: ended, server, in_recovery, keys: keys_found, lists };
                self.reads.push((read, keys));
            }
            "value" => {
                let node = words.next(Notation::Value)?.to_owned();
                self.server(&node)?;
                let result = words.rest().to_owned();
                self.results.push(InvariantViolation { at, node, result });
            }
            other => return Err((other.to_owned(), Notation::Event)),
        }
        Ok(())
    }

    /// Server instance in the notation `[SYSTEM:]NAME@TIMELINE[+RESTARTS]`.
    fn server(&mut self, text: &str) -> LineResult<ServerInstance> {
        let wrong = || (text.to_owned(), Notation::Server);
        let (name, state) = text.split_once('@').ok_or_else(wrong)?;
        let (system, name) = name.split_once(':').unwrap_or(("", name));
        let (timeline, restarts) = state.split_once('+').unwrap_or((state, "0"));
        let (timeline, restarts) = (timeline.parse().map_err(|_| wrong())?, restarts.parse::<u64>());
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(wrong());
        }
        let number = position_of(&mut self.server_names, &format!("{system}:{name}"));
        let system = position_of(&mut self.system_names, system);
        Ok(ServerInstance {
            system: 1 + system as u64,
            address: format!("{name}:5432"),
            started_us: 1_000_000 * (1 + number as u64) + restarts.map_err(|_| wrong())?,
            timeline,
        })
    }

    fn server_id(&mut self, text: &str) -> LineResult<ServerId> {
        let server = self.server(text)?;
        let known = self.servers.iter().position(|it| *it == server);
        if known.is_none() {
            self.servers.push(server);
        }
        Ok(ServerId(known.unwrap_or(self.servers.len() - 1) as u16))
    }

    fn finish(mut self) -> HistoryFile {
        let sessions = self.writes.iter().map(|it| it.key.session + 1).max().unwrap_or(0);
        let servers = self.servers.into_iter().enumerate();
        let mut entries: Vec<LedgerEntry> =
            servers.map(|(id, server)| LedgerEntry::Server(ServerId(id as u16), server)).collect();
        entries.extend((0..sessions).map(|session| LedgerEntry::Reserved { session, until: RESERVED }));
        // A ledger has its entries in the order in which the outcomes became known.
        self.writes.sort_by_key(|it| it.ended);
        let mut numbers: BTreeMap<WriteKey, u16> = BTreeMap::new();
        for write in &mut self.writes {
            let number = numbers.entry(write.key).or_default();
            *number += 1;
            write.number = *number;
        }
        entries.extend(self.writes.into_iter().map(LedgerEntry::Completed));
        let end = *self.history.end.get_or_insert(LedgerEnd::Closed);
        entries.extend((end == LedgerEnd::Closed).then_some(LedgerEntry::Closed));
        let reserved = vec![RESERVED; sessions as usize];
        for (mut read, keys) in self.reads {
            read.keys = model::durability::KeySet::new(&reserved);
            keys.all.into_iter().for_each(|(key, authentic)| read.keys.add(key, authentic));
            read.lists = keys.lists;
            self.history.read_backs.push(read);
        }
        self.history.invariants = invariant(self.results).into_iter().collect();
        let history = &mut self.history;
        history.promises.sort_by_key(|it| it.at);
        history.samples.sort_by_key(|it| it.at);
        history.faults.sort_by_key(|it| it.at);
        history.promotions.sort_by_key(|it| it.at);
        history.read_backs.sort_by_key(|it| it.started);
        history.control = self.control.unwrap_or(Some(ControlResult { lost: 1 }));
        let reasons = self.reasons;
        let expected = self.expected.map(|it| ExpectedVerdict { reasons, ..it });
        HistoryFile { history: self.history, entries, expected }
    }
}

/// Readings of the invariant of a history. The earliest result is the expected one.
fn invariant(mut results: Vec<InvariantViolation>) -> Option<InvariantReadings> {
    results.sort_by_key(|it| it.at);
    let expected = results.first()?.result.clone();
    let readings = results.len() as u64 - 1;
    let mut violations = results.into_iter().filter(|it| it.result != expected);
    let first = violations.next();
    let count = first.iter().count() + violations.count();
    let query = "value".to_owned();
    Some(InvariantReadings { query, expected, readings, violations: count as u64, first })
}

/// Index of a name. A new name is appended.
fn position_of(names: &mut Vec<String>, name: &str) -> usize {
    let known = names.iter().position(|it| it == name);
    if known.is_none() {
        names.push(name.to_owned());
    }
    known.unwrap_or(names.len() - 1)
}

fn parse_role(text: &str) -> LineResult<bool> {
    match text {
        "primary" => Ok(false),
        "standby" => Ok(true),
        other => Err((other.to_owned(), Notation::Role)),
    }
}

fn parse_standbys(text: &str) -> LineResult<Option<SynchronousStandbys>> {
    replication::parse(text).map_err(|_| (text.to_owned(), Notation::Standbys))
}

fn parse_position(text: &str) -> LineResult<StandbyPosition> {
    let wrong = || (text.trim().to_owned(), Notation::Promote);
    let (name, state) = text.trim().split_once('=').ok_or_else(wrong)?;
    let (position, synchronous) = match state.split_once(' ') {
        None => (state, false),
        Some((position, "sync")) => (position, true),
        Some(_) => return Err(wrong()),
    };
    let received = match position {
        "-" => None,
        position => Some(words::number(position, Notation::Promote)?),
    };
    Ok(StandbyPosition { name: name.to_owned(), received, synchronous })
}

fn parse_expectation(text: &str) -> LineResult<ExpectedVerdict> {
    let (conclusion, anomalies) = text.split_once(':').unwrap_or((text, ""));
    let conclusion =
        names::find_conclusion(conclusion.trim()).ok_or((conclusion.to_owned(), Notation::Expect))?;
    let anomaly = |text: &str| {
        let (name, count) = text.trim().split_once(' ').ok_or((text.trim().to_owned(), Notation::Expect))?;
        let kind = names::find_anomaly(name).ok_or((name.to_owned(), Notation::Anomaly))?;
        Ok((kind, words::number(count.trim(), Notation::Expect)?))
    };
    let anomalies = anomalies.split(',').filter(|it| !it.trim().is_empty()).map(anomaly);
    Ok(ExpectedVerdict { conclusion, anomalies: anomalies.collect::<LineResult<_>>()?, reasons: None })
}

fn parse_reason(text: &str) -> LineResult<String> {
    let name = text.trim();
    let known = names::REASONS.contains(&name);
    if known { Ok(name.to_owned()) } else { Err((name.to_owned(), Notation::Reason)) }
}
