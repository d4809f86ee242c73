//! Simulated cluster that keeps all its promises
//!
//! The cluster has a primary, standbys with a prefix of its log, and sessions that write. The simulation kills servers
//! and promotes the right standby. The check must report no violation for any seed, and must count every write that was
//! lost without a promise.

use super::super::judge;
use crate::durability::replication::{self, SyncState, sync_states};
use model::durability::*;
use model::{Code, Nanos, SplitMix64};
use std::collections::BTreeSet;

/// Rows of one read, each with its authenticity, before they are reduced to bits.
pub(super) struct RawRead {
    pub start: Nanos,
    pub server: ServerInstance,
    pub in_recovery: bool,
    pub rows: Vec<(WriteKey, bool)>,
}

/// Evidence from a simulation.
pub(super) struct Evidence {
    pub history: DurabilityHistory,
    pub entries: Vec<LedgerEntry>,
    pub reads: Vec<RawRead>,
    pub reserved: Vec<u64>,
    /// Number of acknowledged writes that are not in the last primary's log.
    pub lost: u64,
    pub promise_changed: bool,
}

impl Evidence {
    pub fn judge(&self) -> DurabilityVerdict {
        let mut history = self.history.clone();
        history.read_backs = self.reads.iter().map(|it| it.made(&self.reserved)).collect();
        judge(&history, || self.entries.iter().cloned())
    }
}

impl RawRead {
    pub fn made(&self, reserved: &[u64]) -> ReadBack {
        let mut rows = KeySet::new(reserved);
        self.rows.iter().for_each(|&(key, authentic)| rows.add(key, authentic));
        let (start, known, in_recovery) = (self.start, self.start, self.in_recovery);
        let (server, lists) = (self.server.clone(), Vec::new());
        ReadBack { started: start, identified: known, server, in_recovery, keys: rows, lists }
    }
}

struct Node {
    /// Commits in order. A standby's log is a prefix of its primary's log.
    log: Vec<WriteKey>,
    server: ServerInstance,
}

#[derive(Clone, Copy, Default)]
struct Session {
    next: u64,
    number: u16,
    /// True if the last write may be retried.
    open: bool,
    /// Start of the wait, and the length of the log that must be replicated before the session continues.
    waits: Option<(Nanos, usize)>,
    /// True if the write for which the session waits added a row. Its log entry is then the last one that must be
    /// replicated.
    commits: bool,
}

pub(super) struct SimulatedCluster {
    rng: SplitMix64,
    now: Nanos,
    nodes: Vec<Node>,
    primary: usize,
    /// Length of the part of the primary's log that is on its disk.
    flushed: usize,
    setting: (&'static str, String),
    sessions: Vec<Session>,
    unique: bool,
    /// Entries that have not reached the ledger, by thread.
    pending_entries: [Vec<LedgerEntry>; 2],
    evidence: Evidence,
    acknowledged: BTreeSet<WriteKey>,
    servers: Vec<ServerInstance>,
}

const BLOCK: u64 = 64;

/// Conditions that a planted defect requires. All other choices are random.
#[derive(Clone, Copy, Default)]
pub(super) struct Scenario {
    /// True for a quorum that never changes, one kill and a closed ledger.
    pub quorum: bool,
}

impl SimulatedCluster {
    pub fn run(seed: u64, scenario: Scenario) -> Evidence {
        let mut rng = SplitMix64(seed);
        let count = 2 + rng.below(3) as usize;
        let node = |number: usize| Node {
            log: Vec::new(),
            server: ServerInstance {
                system: 42,
                address: format!("n{number}"),
                started_us: 1 + number as u64,
                timeline: 1,
            },
        };
        let sessions = vec![Session::default(); 1 + rng.below(6) as usize];
        let evidence = Evidence {
            history: DurabilityHistory {
                control: Some(ControlResult { lost: 3 }),
                ..DurabilityHistory::default()
            },
            entries: Vec::new(),
            reads: Vec::new(),
            reserved: vec![0; sessions.len()],
            lost: 0,
            promise_changed: false,
        };
        let mut cluster = SimulatedCluster {
            now: Nanos::from_millis(rng.below(100_000)),
            nodes: (0..count).map(node).collect(),
            primary: 0,
            flushed: 0,
            setting: ("on", String::new()),
            unique: scenario.quorum || rng.below(100) < 70,
            sessions,
            pending_entries: [Vec::new(), Vec::new()],
            evidence,
            acknowledged: BTreeSet::new(),
            servers: Vec::new(),
            rng,
        };
        cluster.set(scenario);
        cluster.sample();
        let mut kills = if scenario.quorum { 1 } else { cluster.rng.below(4) };
        let steps = 60 + cluster.rng.below(300);
        for step in 0..steps {
            cluster.now += Nanos(1 + cluster.rng.below(3_000_000));
            if kills > 0 && step > steps / 3 && cluster.rng.below(100) < 5 {
                kills -= 1;
                cluster.kill();
            }
            cluster.step(scenario);
        }
        cluster.end(scenario)
    }

    fn step(&mut self, scenario: Scenario) {
        match self.rng.below(100) {
            0..45 => self.invoke(),
            45..65 => self.replicate(),
            65..90 => self.answer(),
            90..92 => self.cancel(),
            92..94 => self.fail_write(),
            94..96 => self.sample(),
            96 if !scenario.quorum => self.crash(),
            97 if !scenario.quorum && self.rng.below(100) < 30 => {
                self.evidence.promise_changed = true;
                self.set(scenario);
            }
            98 => self.read(),
            _ => self.clock(),
        }
    }

    /// Sets the promise for the commits that follow.
    fn set(&mut self, scenario: Scenario) {
        let quorum = 1 + self.rng.below(self.nodes.len() as u64 - 1);
        let commit = ["on", "on", "remote_apply", "remote_write", "local", "off"][self.rng.below(6) as usize];
        self.setting = match self.rng.below(4) {
            _ if scenario.quorum => ("on", format!("ANY {quorum} (*)")),
            0 => (commit, String::new()),
            1 => (commit, format!("FIRST {quorum} (*)")),
            _ => (commit, format!("ANY {quorum} (*)")),
        };
        self.promise();
    }

    fn standbys(&self) -> Option<SynchronousStandbys> {
        replication::parse(&self.setting.1).expect("well-formed")
    }

    fn promise(&mut self) {
        let promise = replication::promise(self.setting.0, self.standbys().as_ref()).expect("a known word");
        let server = self.nodes[self.primary].server.clone();
        self.evidence.history.promises.push(PromiseChange { at: self.now, server, promise });
    }

    fn invoke(&mut self) {
        let number = self.rng.below(self.sessions.len() as u64) as usize;
        let session = &mut self.sessions[number];
        if session.waits.is_some() {
            return;
        }
        if session.open && self.rng.below(100) < 60 {
            session.number += 1;
        } else {
            (session.next, session.number) = (session.next + 1, 1);
        }
        let key = WriteKey { session: number as u32, sequence: session.next - 1 };
        if key.sequence >= self.evidence.reserved[number] {
            self.evidence.reserved[number] += BLOCK;
            let until = self.evidence.reserved[number];
            self.write(key, LedgerEntry::Reserved { session: key.session, until });
        }
        let invoked = self.now;
        let refused = WriteOutcome::Failed(Code::SqlState(*b"40001"));
        let broken = WriteOutcome::Unknown(Code::RESET);
        match self.rng.below(100) {
            0..5 => self.record_outcome(key, invoked, refused, Some(self.primary)),
            5..7 => {
                let standby = (self.primary + 1) % self.nodes.len();
                self.record_outcome(
                    key,
                    invoked,
                    WriteOutcome::Failed(Code::SqlState(*b"25006")),
                    Some(standby),
                );
            }
            7..10 => self.record_outcome(key, invoked, WriteOutcome::Failed(Code::REFUSED), None),
            10..13 => self.record_outcome(key, invoked, broken, Some(self.primary)),
            13..16 => {
                self.commit(key);
                self.record_outcome(key, invoked, broken, Some(self.primary));
            }
            _ => {
                let commits = self.commit(key);
                let behind = self.nodes[self.primary].log.len();
                let session = &mut self.sessions[number];
                (session.waits, session.commits) = (Some((invoked, behind)), commits);
            }
        }
    }

    /// Commits the write. An existing row is unchanged, because the key is unique. Returns true if a row was added.
    fn commit(&mut self, key: WriteKey) -> bool {
        let log = &mut self.nodes[self.primary].log;
        let commits = !(self.unique && log.contains(&key));
        log.extend(commits.then_some(key));
        if self.setting.0 != "off" {
            self.flushed = log.len();
        }
        commits
    }

    /// Replicates only the part of the log that is on the primary's disk.
    fn replicate(&mut self) {
        self.flushed = self.flushed.max(self.nodes[self.primary].log.len().min(self.flushed + 1));
        let number = self.rng.below(self.nodes.len() as u64) as usize;
        let have = self.nodes[number].log.len();
        if number != self.primary && have < self.flushed {
            let more = 1 + self.rng.below((self.flushed - have) as u64) as usize;
            let sent = self.nodes[self.primary].log[have..have + more].to_vec();
            self.nodes[number].log.extend(sent);
        }
    }

    fn other_nodes(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|it| *it != self.primary).collect()
    }

    /// True if the promise for the first `behind` commits is kept.
    fn holds(&self, behind: usize) -> bool {
        if self.setting.0 == "off" {
            return true;
        }
        let Some(standbys) = self.standbys().filter(|_| self.setting.0 != "local") else {
            return self.flushed >= behind;
        };
        let other_nodes = self.other_nodes();
        let has = |it: &usize| self.nodes[*it].log.len() >= behind;
        match standbys.method {
            SyncMethod::Any => other_nodes.iter().filter(|it| has(it)).count() >= standbys.count as usize,
            SyncMethod::First => other_nodes.iter().take(standbys.count as usize).all(has),
        }
    }

    fn answer(&mut self) {
        for number in 0..self.sessions.len() {
            let Some((invoked, behind)) = self.sessions[number].waits else { continue };
            if self.holds(behind) && self.rng.below(100) < 70 {
                self.settle(number, invoked, WriteOutcome::Acknowledged);
            }
        }
    }

    fn cancel(&mut self) {
        let waiting = self.sessions.iter().position(|it| it.waits.is_some());
        let Some(number) = waiting.filter(|_| self.standbys().is_some()) else { return };
        let (invoked, behind) = self.sessions[number].waits.expect("the session waits");
        if !self.holds(behind) {
            self.settle(number, invoked, WriteOutcome::AcknowledgedLocally);
        }
    }

    fn fail_write(&mut self) {
        if let Some(number) = self.sessions.iter().position(|it| it.waits.is_some()) {
            let (invoked, _) = self.sessions[number].waits.expect("the session waits");
            self.settle(number, invoked, WriteOutcome::Unknown(Code::TIMED_OUT));
        }
    }

    fn fail_all_writes(&mut self) {
        for number in 0..self.sessions.len() {
            if let Some((invoked, _)) = self.sessions[number].waits {
                self.settle(number, invoked, WriteOutcome::Unknown(Code::RESET));
            }
        }
    }

    fn settle(&mut self, number: usize, invoked: Nanos, outcome: WriteOutcome) {
        self.sessions[number].waits = None;
        let key = WriteKey { session: number as u32, sequence: self.sessions[number].next - 1 };
        self.record_outcome(key, invoked, outcome, Some(self.primary));
    }

    /// Appends an outcome to the ledger.
    fn record_outcome(&mut self, key: WriteKey, invoked: Nanos, outcome: WriteOutcome, node: Option<usize>) {
        let session = &mut self.sessions[key.session as usize];
        let number = session.number;
        session.open = matches!(outcome, WriteOutcome::Failed(_) | WriteOutcome::Unknown(_));
        if outcome == WriteOutcome::Acknowledged {
            self.acknowledged.insert(key);
        }
        let server = node.map(|it| self.identify(key, it));
        let ended = self.now;
        self.write(
            key,
            LedgerEntry::Completed(WriteAttempt { key, number, outcome, invoked, ended, server }),
        );
    }

    /// Number of a server in the ledger. Each thread registers the server separately.
    fn identify(&mut self, key: WriteKey, node: usize) -> ServerId {
        let server = self.nodes[node].server.clone();
        let known = self.servers.iter().position(|it| *it == server);
        let id = ServerId(known.unwrap_or(self.servers.len()) as u16);
        if known.is_none() {
            self.servers.push(server.clone());
        }
        self.write(key, LedgerEntry::Server(id, server));
        id
    }

    fn write(&mut self, key: WriteKey, entry: LedgerEntry) {
        let thread = key.session as usize % 2;
        self.pending_entries[thread].push(entry);
        if self.rng.below(100) < 20 {
            self.evidence.entries.append(&mut self.pending_entries[thread]);
        }
    }

    fn clock(&mut self) {
        let wall_us = 1_700_000_000_000_000 + self.now.0 / 1000 + self.rng.below(1000);
        self.evidence.entries.push(LedgerEntry::Clock { at: self.now, wall_us });
    }

    fn sample(&mut self) {
        for (number, node) in self.nodes.iter().enumerate() {
            let in_recovery = number != self.primary;
            let sample = RoleSample { at: self.now, server: node.server.clone(), in_recovery, fsync: true };
            self.evidence.history.samples.push(sample);
        }
    }

    /// Kills the primary and promotes the standby with the longest log. The old primary rejoins as a standby.
    fn kill(&mut self) {
        self.fail_all_writes();
        let at = self.now;
        self.evidence.history.faults.push(FaultEvent { at, fails_over: true, crashes_hosts: false });
        self.now += Nanos::from_millis(100 + self.rng.below(3000));
        let other_nodes = self.other_nodes();
        let names: Vec<String> =
            other_nodes.iter().map(|it| self.nodes[*it].server.address.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let states = sync_states(self.standbys().as_ref(), &names);
        let answer = |(node, state): (&usize, &(u32, SyncState))| StandbyPosition {
            name: self.nodes[*node].server.address.clone(),
            received: Some(self.nodes[*node].log.len() as u64),
            synchronous: matches!(state.1, SyncState::Sync | SyncState::Quorum),
        };
        let answers = other_nodes.iter().zip(&states).map(answer).collect();
        let most =
            *other_nodes.iter().max_by_key(|it| self.nodes[**it].log.len()).expect("there is a standby");
        let promoted = self.nodes[most].server.address.clone();
        let standbys = self.standbys();
        self.evidence.history.promotions.push(PromotionDecision {
            at: self.now,
            promoted,
            standbys,
            positions: answers,
        });
        let timeline = self.nodes[self.primary].server.timeline + 1;
        let log = self.nodes[most].log.clone();
        self.flushed = log.len();
        let old = &mut self.nodes[self.primary];
        old.log = log;
        old.server.started_us += 1000;
        self.primary = most;
        for node in &mut self.nodes {
            node.server.timeline = timeline;
        }
        self.promise();
        self.sample();
    }

    /// Crashes and restarts the primary. Commits that were not on its disk are lost.
    fn crash(&mut self) {
        self.fail_all_writes();
        self.evidence.history.faults.push(FaultEvent {
            at: self.now,
            fails_over: false,
            crashes_hosts: false,
        });
        self.now += Nanos::from_millis(100);
        let primary = &mut self.nodes[self.primary];
        primary.log.truncate(self.flushed);
        primary.server.started_us += 1000;
        self.promise();
        self.sample();
    }

    /// Reads the visible commits of the primary: all except those that still wait for replication.
    fn read(&mut self) {
        let commits = |it: &Session| it.waits.filter(|_| it.commits).map(|(_, behind)| behind - 1);
        let hidden: BTreeSet<usize> = self.sessions.iter().filter_map(commits).collect();
        let node = &self.nodes[self.primary];
        let visible = node.log.iter().enumerate().filter(|(place, _)| !hidden.contains(place));
        let rows = visible.map(|(_, it)| (*it, true)).collect();
        let (start, server) = (self.now, node.server.clone());
        self.evidence.reads.push(RawRead { start, server, in_recovery: false, rows });
    }

    fn end(mut self, scenario: Scenario) -> Evidence {
        // The load continues until the last primary acknowledges a write.
        for number in self.other_nodes() {
            self.nodes[number].log = self.nodes[self.primary].log.clone();
        }
        self.flushed = self.nodes[self.primary].log.len();
        self.fail_all_writes();
        self.now += Nanos::from_millis(1);
        let session = &mut self.sessions[0];
        (session.next, session.number) = (session.next + 1, 1);
        let key = WriteKey { session: 0, sequence: session.next - 1 };
        if key.sequence >= self.evidence.reserved[0] {
            self.evidence.reserved[0] += BLOCK;
            let until = self.evidence.reserved[0];
            self.write(key, LedgerEntry::Reserved { session: 0, until });
        }
        self.commit(key);
        for number in self.other_nodes() {
            self.nodes[number].log = self.nodes[self.primary].log.clone();
        }
        self.flushed = self.nodes[self.primary].log.len();
        self.record_outcome(key, self.now, WriteOutcome::Acknowledged, Some(self.primary));
        let [mut one, mut other] = std::mem::take(&mut self.pending_entries);
        self.evidence.entries.append(&mut one);
        self.evidence.entries.append(&mut other);
        self.evidence.entries.push(LedgerEntry::Closed);
        self.evidence.history.end = Some(LedgerEnd::Closed);
        if !scenario.quorum && self.rng.below(100) < 10 {
            // The generator was killed as well, so only the first entries remain.
            let left = 1 + self.rng.below(self.evidence.entries.len() as u64 - 1) as usize;
            self.evidence.entries.truncate(left);
            self.evidence.history.end = Some(LedgerEnd::Open);
        }
        for _ in 0..3 {
            self.now += Nanos::from_secs(1);
            self.sample();
            self.read();
            self.nodes[self.primary].server.started_us += 1000;
        }
        let stored: BTreeSet<WriteKey> = self.nodes[self.primary].log.iter().copied().collect();
        self.evidence.lost = self.acknowledged.difference(&stored).count() as u64;
        self.evidence
    }
}

/// Verdict on a valid history; `Err` describes the verdict if it is a violation.
fn judge_valid(seed: u64) -> Result<(DurabilityVerdict, Evidence), String> {
    let evidence = SimulatedCluster::run(seed, Scenario::default());
    let verdict = evidence.judge();
    let violation = |reason: &str| {
        let (findings, doubts) = (&verdict.anomalies, &verdict.doubts);
        Err(format!("seed {seed}: {reason}: {:?} {findings:?} {doubts:?}", verdict.conclusion))
    };
    if verdict.anomalies.iter().any(|it| it.kind.is_violation()) || verdict.conclusion == Conclusion::Broken {
        return violation("a false alarm");
    }
    if evidence.history.end == Some(LedgerEnd::Open) {
        return if verdict.conclusion == Conclusion::Unknown {
            Ok((verdict, evidence))
        } else {
            violation("its ledger is open")
        };
    }
    let lost = |kinds: &[AnomalyKind]| -> u64 {
        verdict.anomalies.iter().filter(|it| kinds.contains(&it.kind)).map(|it| it.count).sum()
    };
    if lost(&[AnomalyKind::LostWithoutPromise, AnomalyKind::LostAmbiguous]) != evidence.lost {
        return violation(&format!("{} were lost", evidence.lost));
    }
    let may_doubt = |doubt: &InconclusiveReason| {
        evidence.promise_changed && *doubt == InconclusiveReason::LostWhilePromiseChanged
    };
    if !verdict.doubts.iter().all(may_doubt) {
        return violation("a doubt without a reason");
    }
    Ok((verdict, evidence))
}

#[track_caller]
fn valid_histories(count: u64) {
    let (mut intact, mut failovers, mut lost, mut writes) = (0, 0, 0, 0);
    let mut alarms = Vec::new();
    for seed in 0..count {
        match judge_valid(seed) {
            Ok((verdict, evidence)) => {
                intact += u64::from(verdict.conclusion == Conclusion::Kept);
                failovers += u64::from(verdict.failovers);
                lost += evidence.lost;
                writes += verdict.counts.acknowledged;
            }
            Err(alarm) => alarms.push(alarm),
        }
    }
    println!(
        "{count} valid histories, seeds 0..{count}: {} false alarms; {intact} kept, {failovers} failovers, {writes} acknowledged, {lost} lost without a promise",
        alarms.len()
    );
    assert!(alarms.is_empty(), "{} of {count}, such as {}", alarms.len(), alarms[0]);
    assert!(
        intact > count / 2 && failovers > count / 2 && lost > count / 10,
        "most histories must have writes and failovers"
    );
}

/// Number of histories: the value in the environment, which `./x proof` sets, or else `usual`.
pub(super) fn histories(usual: u64) -> u64 {
    let count = std::env::var("PGDYNO_DURABILITY_HISTORIES");
    count.map_or(usual, |it| it.parse().expect("a number of histories"))
}

#[test]
fn valid_histories_raise_no_anomaly() {
    valid_histories(histories(500));
}
