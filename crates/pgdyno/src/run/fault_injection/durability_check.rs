//! Durability check: every acknowledged write must survive the faults
//!
//! After the load, all rows with a token are read back and compared with the ledger.

use super::client_probes::ReadTimes;
use super::injector::InjectionResult;
use crate::cli::CommandError;
use analysis::durability::replication;
use analysis::durability::survival::lost_writes;
use analysis::durability::{judge, read_outages};
use load::driver::Clock;
use model::Nanos;
use model::durability::{
    ControlResult, DurabilityHistory, DurabilityVerdict, FaultEvent, InvariantReadings, KeySet, LedgerEntry,
    Promise, PromiseChange, PromotionDecision, ReadBack, StandbyPosition, SynchronousStandbys, Token,
};
use model::fault_injection::{InjectedFault, ReadBackPhase, ReadBackRecord};
use model::message;
use model::message::Message;
use model::plan::{FaultAction, FaultScope, FaultTarget, LedgerQuery};
use stack::chain;
use stack::read_back::{ReadBackError, ReadTransaction};
use stack::roles::{DirectServer, RoleObservations};
use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::ledger;

/// Timeout for the read-back, because a query that sorts millions of rows returns its first row late.
const READ_TIMEOUT: Duration = Duration::from_secs(120);
/// Time within which a primary must respond.
const PRIMARY_TIMEOUT: Duration = Duration::from_secs(30);

/// Secret for one trial's tokens. It is random, so that rows of other trials are not mistaken for rows of this trial.
pub fn random_secret() -> u64 {
    RandomState::new().hash_one("token")
}

/// Reason why the writes could not be read back.
#[derive(Debug)]
pub enum LedgerReadError {
    Query(ReadBackError),
    /// All servers respond, but none accepts writes.
    NoPrimary,
}

impl From<&LedgerReadError> for Message {
    fn from(error: &LedgerReadError) -> Message {
        match error {
            LedgerReadError::Query(error) => error.into(),
            LedgerReadError::NoPrimary => message!("failover-no-primary"),
        }
    }
}

/// Additional clients of the trial.
#[derive(Debug)]
pub struct ProbedClients {
    pub first_new_client: Option<u32>,
    pub reads: ReadTimes,
}

/// Reads back the writes that a ledger records.
#[derive(Debug)]
pub struct LedgerReader {
    ledger: PathBuf,
    /// Queries, each with one column.
    queries: Vec<LedgerQuery>,
    secret: u64,
    /// Sequence numbers that sessions may have used, by session.
    reserved: Vec<u64>,
    /// First session of the control within the trial; `None` if there is none.
    first_control: Option<u32>,
    /// Tokens of earlier trials and runs.
    earlier: EarlierTokens,
    /// Readings of the load, and of the control.
    readings: [Vec<ReadBack>; 2],
}

/// Verdict of a trial, and the result of the control within it.
#[derive(Debug)]
pub struct TrialVerdict {
    pub verdict: DurabilityVerdict,
    pub local_control: Option<ControlResult>,
}

impl LedgerReader {
    pub fn new(
        ledger: PathBuf,
        queries: Vec<LedgerQuery>,
        secret: u64,
        first_control: Option<u32>,
        earlier: EarlierTokens,
    ) -> Result<LedgerReader, CommandError> {
        let mut reserved = Vec::new();
        for entry in entries(&ledger)? {
            if let LedgerEntry::Reserved { session, until } = entry {
                let session = session as usize;
                if reserved.len() <= session {
                    reserved.resize(session + 1, 0);
                }
                reserved[session] = until.max(reserved[session]);
            }
        }
        let readings = Default::default();
        Ok(LedgerReader { ledger, queries, secret, reserved, first_control, earlier, readings })
    }

    /// Reads all tokens from the primary, and from the other servers as far as they respond.
    pub fn read(
        &mut self,
        servers: &[DirectServer],
        after: ReadBackPhase,
        clock: Clock,
    ) -> Result<ReadBackRecord, LedgerReadError> {
        let start = Instant::now();
        let found = find_primary(servers, clock)?;
        for other in found.others {
            // A standby may cancel a query that conflicts with recovery. The verdict depends on the primary only.
            if let Ok((readings, _)) = self.read_keys(other) {
                self.add_readings(readings, (found.started, found.identified));
            }
        }
        let (readings, rows) = self.read_keys(found.primary).map_err(LedgerReadError::Query)?;
        self.add_readings(readings, (found.started, found.identified));
        let elapsed = Nanos(start.elapsed().as_nanos() as u64);
        Ok(ReadBackRecord { phase: after, node: found.name, rows, elapsed })
    }

    fn add_readings(&mut self, readings: [ReadBack; 2], (started, identified): (Nanos, Nanos)) {
        for (all, reading) in self.readings.iter_mut().zip(readings) {
            all.push(ReadBack { started, identified, ..reading });
        }
    }

    /// True if the session belongs to the control within the trial.
    fn is_control(&self, session: u32) -> bool {
        self.first_control.is_some_and(|first| session >= first)
    }

    /// Reads all tokens of one server: those of the load, and those of the control. Also returns their number. The times
    /// are not set.
    fn read_keys(&self, mut snapshot: ReadTransaction) -> Result<([ReadBack; 2], u64), ReadBackError> {
        let (server, in_recovery) = (snapshot.server.clone(), snapshot.in_recovery);
        let mut readings = [0, 1].map(|_| ReadBack {
            started: Nanos::ZERO,
            identified: Nanos::ZERO,
            server: server.clone(),
            in_recovery,
            keys: KeySet::new(&self.reserved),
            lists: Vec::new(),
        });
        let mut count = 0;
        for query in &self.queries {
            snapshot.read_rows(query.text(), |text| {
                let mut lists = [Vec::new(), Vec::new()];
                for token in tokens(query, text).filter(|it| !self.earlier.0.contains(it)) {
                    count += 1;
                    let is_authentic = token.is_authentic(self.secret);
                    let is_control = is_authentic && self.is_control(token.key.session);
                    readings[usize::from(is_control)].keys.add(token.key, is_authentic);
                    if is_authentic {
                        lists[usize::from(is_control)].push(token.key);
                    }
                }
                for (reading, list) in readings.iter_mut().zip(lists).filter(|it| it.1.len() > 1) {
                    reading.lists.push(list);
                }
            })?;
        }
        Ok((readings, count))
    }

    /// Durability verdict. `begun` is the start of the window and `load_ended` is the end of the load, by the ledger's
    /// clock.
    pub fn verdict(
        self,
        injection_result: &InjectionResult,
        watched: &RoleObservations,
        clients: &ProbedClients,
        invariants: Vec<InvariantReadings>,
        (begun, load_ended): (Nanos, Nanos),
    ) -> Result<TrialVerdict, CommandError> {
        let mut all = entries(&self.ledger)?;
        all.by_ref().for_each(drop);
        let is_control = |session| self.first_control.is_some_and(|first| session >= first);
        let [load_readings, control_readings] = self.readings;
        let history = DurabilityHistory {
            end: all.end(),
            promises: promises(watched),
            samples: watched.samples(),
            faults: fault_events(injection_result, watched, begun),
            promotions: injection_result
                .promotions
                .iter()
                .map(|(at, it)| promotion_decision(begun + *at, it, watched))
                .collect(),
            first_new_client: clients.first_new_client,
            load_ended,
            read_backs: load_readings,
            invariants,
            control: None,
        };
        let path = &self.ledger;
        let of_load = |entry: &LedgerEntry| !session_of(entry).is_some_and(is_control);
        let mut verdict = judge(&history, || entries(path).into_iter().flatten().filter(of_load));
        let local_control = self.first_control.map(|_| {
            let of_control = |entry: &LedgerEntry| session_of(entry).is_none_or(is_control);
            let promises = history.promises.iter().map(|change| PromiseChange {
                promise: if change.promise == Promise::None { Promise::None } else { Promise::Local },
                ..change.clone()
            });
            let promises = promises.collect();
            let control = DurabilityHistory { promises, read_backs: control_readings, ..history.clone() };
            let control = judge(&control, || entries(path).into_iter().flatten().filter(of_control));
            ControlResult { lost: lost_writes(&control) }
        });
        for (client, times) in &clients.reads.0 {
            let reads = times.iter().copied();
            verdict.outages.extend(read_outages(reads, &history.faults, load_ended, *client));
        }
        Ok(TrialVerdict { verdict, local_control })
    }
}

/// Tokens that existed before the load. Without a dataset, which is restored, the rows of earlier trials and runs remain.
#[derive(Debug, Default)]
pub struct EarlierTokens(HashSet<Token>);

impl EarlierTokens {
    pub fn read(
        queries: &[LedgerQuery],
        servers: &[DirectServer],
        clock: Clock,
    ) -> Result<EarlierTokens, LedgerReadError> {
        let mut snapshot = find_primary(servers, clock)?.primary;
        let mut found = HashSet::new();
        for query in queries {
            let read = snapshot.read_rows(query.text(), |text| found.extend(tokens(query, text)));
            read.map_err(LedgerReadError::Query)?;
        }
        Ok(EarlierTokens(found))
    }
}

/// Tokens of one row that a query returned.
fn tokens(query: &LedgerQuery, text: &[u8]) -> impl Iterator<Item = Token> {
    Token::find_all(text).take(if query.is_list() { usize::MAX } else { 1 })
}

/// Session of an entry; `None` if it belongs to no session.
fn session_of(entry: &LedgerEntry) -> Option<u32> {
    match entry {
        LedgerEntry::Reserved { session, .. } => Some(*session),
        LedgerEntry::Completed(attempt) => Some(attempt.key.session),
        LedgerEntry::Server(..) | LedgerEntry::Clock { .. } | LedgerEntry::Closed => None,
    }
}

fn entries(path: &Path) -> Result<ledger::LedgerReader<std::io::BufReader<fs::File>>, CommandError> {
    ledger::open(path).map_err(|it| CommandError::new(&it))
}

/// Snapshots of all servers that respond.
struct Snapshots {
    /// Name of the primary.
    name: String,
    primary: ReadTransaction,
    others: Vec<ReadTransaction>,
    /// Time at which the snapshots were requested.
    started: Nanos,
    /// Time at which all servers had responded.
    identified: Nanos,
}

/// Finds the server that accepts writes. If several servers accept writes, selects the server with the newest timeline.
fn find_primary(servers: &[DirectServer], clock: Clock) -> Result<Snapshots, LedgerReadError> {
    let deadline = Instant::now() + PRIMARY_TIMEOUT;
    loop {
        let started = clock.now();
        let (mut alive, mut error) = (Vec::new(), None);
        for server in servers {
            match ReadTransaction::begin(server, READ_TIMEOUT) {
                Ok(snapshot) => alive.push((server.name.clone(), snapshot)),
                Err(failed) => _ = error.get_or_insert(failed),
            }
        }
        let identified = clock.now();
        let primaries = alive.iter().enumerate().filter(|(_, it)| !it.1.in_recovery);
        let newest = primaries.max_by_key(|(_, it)| it.1.server.timeline).map(|(place, _)| place);
        match newest {
            Some(place) => {
                let (name, primary) = alive.swap_remove(place);
                let others = alive.into_iter().map(|it| it.1).collect();
                return Ok(Snapshots { name, primary, others, started, identified });
            }
            None if Instant::now() > deadline => {
                return Err(error.map_or(LedgerReadError::NoPrimary, LedgerReadError::Query));
            }
            None => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Promises of the servers that accept writes. Unknown settings yield no promise.
fn promises(watched: &RoleObservations) -> Vec<PromiseChange> {
    let promised = |settings: &stack::roles::CommitSettings| {
        let standbys = replication::parse(&settings.synchronous_standby_names).ok()?;
        let promise = replication::promise(&settings.synchronous_commit, standbys.as_ref())?;
        Some(PromiseChange { at: settings.at, server: settings.server.clone(), promise })
    };
    watched.settings.iter().filter_map(promised).collect()
}

/// Injected faults, by the ledger's clock.
fn fault_events(
    injection_result: &InjectionResult,
    watched: &RoleObservations,
    begun: Nanos,
) -> Vec<FaultEvent> {
    let all = &injection_result.injection.injected;
    let fault = |(number, injected_fault): (usize, &InjectedFault)| {
        let next = all.get(number + 1).map_or(Nanos::MAX, |it| it.at);
        let followed = injection_result
            .injection
            .promotions
            .iter()
            .any(|promoted| injected_fault.at <= promoted.at && promoted.at < next);
        let at = begun + injected_fault.at;
        let must = match &injected_fault.action {
            FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node }
            | FaultAction::Switchover { .. }
            | FaultAction::Run { .. }
            | FaultAction::External { .. } => true,
            FaultAction::Kill { target: FaultTarget::Node(name), scope: FaultScope::Node } => {
                was_primary(name, at, watched)
            }
            _ => false,
        };
        FaultEvent { at, fails_over: must || followed, crashes_hosts: false }
    };
    // Omit blocked replication, because it has an effect only together with the next fault.
    let has_effect = |fault: &&(usize, &InjectedFault)| {
        !fault.1.nodes.is_empty() && !matches!(fault.1.action, FaultAction::BlockReplication { .. })
    };
    let done = all.iter().enumerate().filter(|it| has_effect(&it));
    done.map(fault).collect()
}

/// True if the node had the newest timeline of all nodes that accepted writes before `at`.
fn was_primary(node: &str, at: Nanos, watched: &RoleObservations) -> bool {
    let took_writes = watched.role_periods.iter().filter(|it| !it.in_recovery && it.from <= at);
    took_writes.max_by_key(|it| (it.server.timeline, it.from)).is_some_and(|it| it.node == node)
}

/// Promotion decision and its inputs: the last observed settings and confirming standbys of the failed primary.
fn promotion_decision(
    at: Nanos,
    promotion: &chain::Promotion,
    watched: &RoleObservations,
) -> PromotionDecision {
    let settings = watched.settings.iter().rfind(|it| it.node == promotion.from && it.at <= at);
    let standbys: Option<SynchronousStandbys> =
        settings.and_then(|it| replication::parse(&it.synchronous_standby_names).ok().flatten());
    let followed = watched.replica_periods.iter().rfind(|it| it.node == promotion.from && it.from <= at);
    let synchronous = |name: &str| {
        let its = followed.and_then(|server| server.followers.iter().find(|it| it.name == name));
        its.is_some_and(|it| matches!(it.sync_state.as_str(), "sync" | "quorum"))
    };
    let answer = |status: &chain::ServerStatus| StandbyPosition {
        name: status.name.clone(),
        received: status.state.map(|it| it.flushed.max(it.replayed).0),
        synchronous: synchronous(&status.name),
    };
    let answers = promotion.statuses.iter().filter(|it| it.name != promotion.from).map(answer).collect();
    PromotionDecision { at, promoted: promotion.to.clone(), standbys, positions: answers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::durability::ServerInstance;
    use model::fault_injection::{FaultInjection, PromotionRecord};
    use stack::roles::RolePeriod;

    #[test]
    fn attributes_promotions_to_faults_on_the_primary() {
        let s = Nanos::from_secs;
        let injected = |at, action, nodes: &[&str]| InjectedFault {
            at: s(at),
            reverted: None,
            action,
            nodes: nodes.iter().map(|it| (*it).to_owned()).collect(),
        };
        let pause = || FaultAction::Pause { target: FaultTarget::Primary, duration: s(5) };
        let kill = |target| FaultAction::Kill { target, scope: FaultScope::Node };
        let named = |name: &str| kill(FaultTarget::Node(name.to_owned()));
        let promoted = |at| PromotionRecord {
            from: "a".to_owned(),
            to: "b".to_owned(),
            at: s(at),
            healthy: None,
            timeline: 2,
            safe: None,
        };
        let all = vec![
            injected(1, FaultAction::BlockReplication { duration: Some(s(1)) }, &["a"]),
            injected(2, kill(FaultTarget::Primary), &["a"]),
            injected(10, pause(), &["b"]),
            injected(20, pause(), &["b"]),
            injected(30, kill(FaultTarget::Replica), &["c"]),
            injected(40, kill(FaultTarget::Primary), &[]), // could not be injected
            injected(50, named("b"), &["b"]),
            injected(60, named("a"), &["a"]), // the former primary
            injected(
                70,
                FaultAction::Kill {
                    target: FaultTarget::Node("b".to_owned()),
                    scope: FaultScope::Postmaster,
                },
                &["b"],
            ),
        ];
        let spell = |node: &str, timeline, in_recovery, from: u64, to: u64| RolePeriod {
            node: node.to_owned(),
            server: ServerInstance { system: 1, address: node.to_owned(), started_us: 0, timeline },
            in_recovery,
            fsync: true,
            from: s(100 + from),
            to: s(100 + to),
        };
        let spells = vec![
            spell("a", 1, false, 0, 11),
            spell("b", 1, true, 0, 12),
            spell("b", 2, false, 12, 49),
            spell("a", 2, true, 15, 80),
            spell("c", 3, false, 51, 80), // after the kill
        ];
        let watched = RoleObservations { role_periods: spells, ..RoleObservations::default() };
        let injection =
            FaultInjection { injected: all, promotions: vec![promoted(12)], ..FaultInjection::default() };
        let injection_result =
            InjectionResult { injection, promotions: Vec::new(), failed_primaries: Vec::new() };
        let actual: Vec<(u64, bool)> = fault_events(&injection_result, &watched, s(100))
            .iter()
            .map(|it| (it.at.0 / s(1).0, it.fails_over))
            .collect();
        let expected =
            [(102, true), (110, true), (120, false), (130, false), (150, true), (160, false), (170, false)];
        assert_eq!(actual, expected);
    }
}
