//! Fault injection during the load, and the resulting verdict
//!
//! Fault injection has three parts. The [`injector`] executes the plan and promotes another server. A monitor from
//! `stack::roles` observes which server is the primary. A ledger records the writes. After the load, former primaries
//! rejoin, all writes are read back, and a verdict follows.

mod client_probes;
mod durability_check;
mod injector;
mod ledger_recorder;
mod monitor;
mod name_watcher;
mod schedule;

use super::test_bed::{SetupError, TestBed};
use super::workload::LoadInputs;
use crate::cli::CommandError;
use crate::measure::{self, LoadConfig, MeasureError};
use crate::observer::{Observer, TrialClock};
use crate::trial_event::TrialEvent;
use client_probes::{ClientProbes, ReadTimes, RunningProbes};
use durability_check::{EarlierTokens, LedgerReadError, LedgerReader, ProbedClients};
pub use injector::is_external_fault;
use injector::{CommandContext, FaultInjector, InjectionResult};
use ledger_recorder::LedgerRecorder;
use load::driver::Clock;
use load::ledger::LedgerProducer;
use model::fault_injection::{DualPrimary, FaultInjection, PromotionRecord, ReadBackPhase};
use model::message;
use model::message::Message;
use model::plan::{Fault, FaultAction, LedgerQuery, Operation, Setup};
use model::{Measurement, Nanos};
use name_watcher::NameWatcher;
use stack::chain::Chain;
use stack::freshness::FreshnessProber;
use stack::interrupt::with_interrupt;
use stack::invariants::InvariantMonitor;
use stack::roles::{self, DirectServer, RoleMonitor, RoleObservations, RolePeriod};
use stack::sampler::Observation;
use stack::supervisor::{NodeError, Supervisor};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

pub use durability_check::random_secret;

/// Timeout of a single query to a server.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Fault injection that a setup requires.
#[derive(Debug)]
pub struct FaultPlan<'a> {
    faults: &'a [Fault],
    /// Directory of the experiment file, for commands of the user.
    directory: &'a Path,
    /// Read-back queries of the operations with a ledger.
    queries: Vec<LedgerQuery>,
    /// True if the rows of earlier trials remain.
    keeps_rows: bool,
    /// Queries whose results must not change.
    invariants: &'a [String],
    /// Secret that seals the tokens of these operations.
    pub secret: u64,
    /// Additional clients of the trial.
    probes: Option<ClientProbes>,
}

/// Run file, clock and channels of the trial.
#[derive(Clone, Debug)]
pub struct TrialContext<'a> {
    pub run: &'a Path,
    /// Number of the trial in the run's file.
    pub trial: u32,
    pub clock: Clock,
    pub trial_clock: TrialClock,
    /// Channel to which the injection sends its actions and observations.
    pub observations: Sender<Observation>,
    /// Flag that is set when the user interrupts the run. The injection then no longer waits.
    pub interrupted: &'a AtomicBool,
    /// Probe that writes during the load and pauses when the load ends.
    pub prober: Option<&'a FreshnessProber>,
}

impl<'a> FaultPlan<'a> {
    /// Fault plan of a setup; `None` without faults and ledgers.
    pub fn for_setup(setup: &'a Setup) -> Option<FaultPlan<'a>> {
        let queries = ledger_queries(&setup.operations);
        let faults = &setup.faults;
        (!faults.is_empty() || !queries.is_empty()).then(|| FaultPlan {
            faults,
            directory: &setup.hooks.directory,
            queries,
            keeps_rows: setup.dataset.as_ref().is_none_or(|it| it.keep),
            invariants: &setup.invariants,
            secret: random_secret(),
            probes: None,
        })
    }

    /// Prepares the additional clients, if the setup has any.
    pub fn prepare_probes(
        &mut self,
        setup: &Setup,
        inputs: &LoadInputs<'_>,
        seed: u64,
    ) -> Result<(), CommandError> {
        self.probes = ClientProbes::prepare(setup, inputs, seed)?;
        Ok(())
    }

    /// Executes the fault plan and measures the load at the same time.
    pub fn measure(
        &self,
        test_bed: &mut TestBed,
        ready: &LoadConfig,
        context: TrialContext<'_>,
        observer: &mut Observer<'_>,
        stop: &AtomicBool,
    ) -> Result<(Result<Measurement, MeasureError>, FaultRun), SetupError> {
        let programs = test_bed.programs().clone();
        let commands = CommandContext { programs: &programs, directory: self.directory };
        let (chain, supervisor) = test_bed.chain_and_supervisor();
        let TrialContext { run, trial, clock, trial_clock, observations, interrupted, prober } = context;
        let servers = chain.direct_targets();
        let mut names = chain.host_names();
        names.extend(servers.iter().filter_map(|it| Some((it.name.clone(), it.target.host.clone()?))));
        let name_watcher = NameWatcher::start(names, observations.clone());
        let watcher = RoleMonitor::start(servers.clone(), roles::POLL_INTERVAL, move || clock.now());
        let watcher = watcher.map_err(|error| {
            SetupError::Failed(message!("failover-no-monitor", error = Message::from(&error)))
        })?;
        chain.check_attached_servers().map_err(super::test_bed::failed)?;
        let invariants = self.start_invariants(&servers, &trial_clock)?;
        let earlier = self.earlier_tokens(&servers, clock)?;
        let loads: Vec<&LoadConfig> =
            [ready].into_iter().chain(self.probes.iter().flat_map(ClientProbes::writers)).collect();
        let (mut taps, recorder) = self.start_ledger(chain, &loads, (run, trial), clock)?;
        let probe_taps = taps.split_off(taps.len().min(usize::from(ready.work.plan().threads)));
        let (load_ended, probes_ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let window = trial_clock.clone();
        let window_start = || window.window_start();
        // End the load after a ledger error, because the trial proves nothing without a complete ledger.
        let look = || {
            if recorder.as_ref().is_some_and(|it| it.error().is_some()) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let (measured, ended, mut injection_result, reads) = thread::scope(|scope| {
            let probes = self.probes.as_ref();
            let probes = probes.map(|it| it.start(scope, probe_taps, clock, &probes_ended, window_start));
            let actor = FaultInjector::new(
                (chain, supervisor),
                (self.faults, commands),
                trial_clock.clone(),
                observations,
            );
            let injector_thread = scope.spawn(|| actor.run(&load_ended, interrupted, look));
            let measured = measure::run_with_ledger(ready, taps, clock, observer, stop);
            let ended = clock.now();
            probes_ended.store(true, Ordering::Relaxed);
            let reads = probes.map(RunningProbes::finish).unwrap_or_default();
            load_ended.store(true, Ordering::Relaxed);
            prober.inspect(|it| it.stop_writing());
            let injected = injector_thread.join().expect("the injector thread does not panic");
            (measured, ended, injected, reads)
        });
        if let Some(error) = recorder.as_ref().and_then(LedgerRecorder::error) {
            injection_result.add_error(message!("failover-ledger-ended", error));
        }
        let ledger = recorder.map(LedgerRecorder::finish).transpose().map_err(to_setup_error)?;
        let first_control = self.probes.as_ref().and_then(ClientProbes::first_control);
        let reader =
            ledger.map(|it| LedgerReader::new(it, self.queries.clone(), self.secret, first_control, earlier));
        let reader = reader.transpose().map_err(to_setup_error)?;
        let hurried = interrupted.load(Ordering::Relaxed);
        Ok((
            measured,
            FaultRun {
                injection: injection_result,
                watcher,
                _name_watcher: name_watcher,
                invariants,
                servers,
                reader,
                reads,
                directory: self.directory.to_owned(),
                first_new_client: self.probes.as_ref().and_then(ClientProbes::first_writer),
                clock,
                trial_clock,
                ended,
                interrupted: hurried,
            },
        ))
    }

    /// Tokens that exist before the load, if the data are not restored.
    fn earlier_tokens(&self, servers: &[DirectServer], clock: Clock) -> Result<EarlierTokens, SetupError> {
        if self.queries.is_empty() || !self.keeps_rows {
            return Ok(EarlierTokens::default());
        }
        let failed = |error: LedgerReadError| {
            SetupError::Failed(message!("failover-no-read-back", error = Message::from(&error)))
        };
        EarlierTokens::read(&self.queries, servers, clock).map_err(failed)
    }

    /// Starts to read the invariants, if the setup has any.
    fn start_invariants(
        &self,
        servers: &[DirectServer],
        clock: &TrialClock,
    ) -> Result<Option<InvariantMonitor>, SetupError> {
        if self.invariants.is_empty() {
            return Ok(None);
        }
        let clock = clock.clone();
        let started = InvariantMonitor::start(self.invariants, servers, move || clock.now());
        let failed = |it| SetupError::Failed(message!("failover-no-invariant", error = Message::from(&it)));
        started.map(Some).map_err(failed)
    }

    /// Starts the ledger if one is required, and returns the producers for the load threads.
    fn start_ledger(
        &self,
        chain: &mut Chain,
        loads: &[&LoadConfig],
        (run, trial): (&Path, u32),
        clock: Clock,
    ) -> Result<(Vec<LedgerProducer>, Option<LedgerRecorder>), SetupError> {
        if self.queries.is_empty() {
            return Ok((Vec::new(), None));
        }
        let (taps, drain) = measure::taps(loads, system_identifier(chain));
        let recorder = LedgerRecorder::begin(run, trial, drain, clock).map_err(to_setup_error)?;
        Ok((taps, Some(recorder)))
    }
}

/// State of the fault injection at the end of the load.
#[derive(Debug)]
pub struct FaultRun {
    injection: InjectionResult,
    watcher: RoleMonitor,
    /// Keeps resolving host names until all rows are read back.
    _name_watcher: NameWatcher,
    /// `None` if the setup has no invariants.
    invariants: Option<InvariantMonitor>,
    servers: Vec<DirectServer>,
    reader: Option<LedgerReader>,
    /// Successful reads of the additional clients.
    reads: ReadTimes,
    first_new_client: Option<u32>,
    directory: PathBuf,
    clock: Clock,
    trial_clock: TrialClock,
    /// End of the load.
    ended: Nanos,
    /// True if the user interrupted the run.
    interrupted: bool,
}

impl FaultRun {
    /// Nodes that a fault affected.
    pub fn faulted_nodes(&self) -> Vec<String> {
        let injection = &self.injection.injection;
        let faulted = injection.injected.iter().flat_map(|it| &it.nodes);
        faulted.chain(injection.promotions.iter().map(|it| &it.from)).cloned().collect()
    }

    /// Rejoins former primaries and reads back all writes: after the load, after the rejoin, and after a restart of all
    /// servers.
    pub fn conclude(
        mut self,
        test_bed: &mut TestBed,
        interrupted: &AtomicBool,
        show: &mut dyn FnMut(TrialEvent<'_>),
    ) -> Result<FaultInjection, SetupError> {
        if !self.interrupted {
            self.await_external_failovers(interrupted, show);
            self.undo_commands(test_bed, show);
        }
        if !interrupted.load(Ordering::Relaxed) {
            self.rejoin_primaries(test_bed);
        }
        let FaultRun { injection: mut injection_result, watcher, reader, trial_clock, ended, .. } = self;
        let invariants = self.invariants.map_or(Vec::new(), InvariantMonitor::stop);
        let probed = ProbedClients { first_new_client: self.first_new_client, reads: self.reads };
        let watched = watcher.stop();
        let begun = trial_clock.window_start().unwrap_or_default();
        if test_bed.chain().replication().is_none() {
            injection_result.injection.promotions = observed_promotions(&watched, begun);
        }
        injection_result.injection.dual_primaries = dual_primaries(&watched, begun);
        for promoted in &mut injection_result.injection.promotions {
            let matches_promotion =
                |it: &&roles::HealthChange| it.node == promoted.to && it.timeline == promoted.timeline;
            promoted.healthy = watched
                .health_changes
                .iter()
                .find(matches_promotion)
                .map(|it| trial_clock.since_begin(it.at));
        }
        let judged =
            reader.map(|it| it.verdict(&injection_result, &watched, &probed, invariants, (begun, ended)));
        let judged = judged.transpose().map_err(to_setup_error)?;
        let (verdict, local_control) = judged.map_or((None, None), |it| (Some(it.verdict), it.local_control));
        Ok(FaultInjection { verdict, local_control, ..injection_result.injection })
    }

    /// Waits until another server has taken over after each failover that pgdyno does not cause, or until its time is over.
    fn await_external_failovers(&self, interrupted: &AtomicBool, show: &mut dyn FnMut(TrialEvent<'_>)) {
        let external = self.injection.injection.injected.iter().filter(|it| !it.nodes.is_empty());
        let external = external.filter_map(|it| Some((it.at, it.action.external_deadline()?)));
        for (at, within) in external {
            let begun = self.trial_clock.window_start().unwrap_or_default();
            let has_failed_over =
                || observed_promotions(&self.watcher.snapshot(), begun).iter().any(|it| it.at >= at);
            while self.trial_clock.now() < at + within
                && !has_failed_over()
                && !interrupted.load(Ordering::Relaxed)
            {
                show(TrialEvent::AwaitingFailover);
                thread::sleep(roles::POLL_INTERVAL);
            }
        }
    }

    /// Runs the commands that revert faults of the user.
    fn undo_commands(&mut self, test_bed: &mut TestBed, show: &mut dyn FnMut(TrialEvent<'_>)) {
        let (programs, interrupted) = (test_bed.programs().clone(), Arc::clone(test_bed.interrupted()));
        let (_, supervisor) = test_bed.chain_and_supervisor();
        let injection = &mut self.injection.injection;
        let mut errors = Vec::new();
        for fault in &mut injection.injected {
            let FaultAction::Run { undo, .. } = &fault.action else { continue };
            if undo.is_empty() {
                continue;
            }
            show(TrialEvent::Undoing(undo));
            let run = || stack::hook::run(supervisor, &programs, "faults.undo", undo, &self.directory);
            match with_interrupt(&interrupted, run) {
                Ok(()) => fault.reverted = Some(self.trial_clock.now()),
                Err(error) => errors.push(error),
            }
        }
        errors.into_iter().for_each(|it| self.injection.add_error(it));
    }

    fn rejoin_primaries(&mut self, test_bed: &mut TestBed) {
        let (chain, supervisor) = test_bed.chain_and_supervisor();
        self.read(ReadBackPhase::Load);
        for node in std::mem::take(&mut self.injection.failed_primaries) {
            match injector::rejoin(chain, supervisor, &node, &self.trial_clock) {
                Ok(it) => self.injection.injection.rejoins.push(it),
                Err(error) => self.injection.add_error((&error).into()),
            }
        }
        if !self.injection.injection.rejoins.is_empty() {
            self.read(ReadBackPhase::Rejoining);
        }
        if self.reader.is_some() && !self.injection.promotions.is_empty() {
            match restart(chain, supervisor) {
                Ok(()) => self.read(ReadBackPhase::Restart),
                Err(error) => self.injection.add_error((&error).into()),
            }
        }
    }

    fn read(&mut self, after: ReadBackPhase) {
        let Some(reader) = &mut self.reader else { return };
        match reader.read(&self.servers, after, self.clock) {
            Ok(it) => self.injection.injection.read_backs.push(it),
            Err(error) => {
                let error = message!("failover-no-read-back", error = Message::from(&error));
                self.injection.add_error(error);
            }
        }
    }
}

/// Promotions that the servers' roles show: another server accepts writes on a newer timeline. `begun` is the start of the
/// window.
fn observed_promotions(watched: &RoleObservations, begun: Nanos) -> Vec<PromotionRecord> {
    let mut promotions = Vec::new();
    let mut primary: Option<&RolePeriod> = None;
    for period in watched.role_periods.iter().filter(|it| !it.in_recovery) {
        let Some(old) = primary else {
            primary = Some(period);
            continue;
        };
        if period.server.timeline <= old.server.timeline || !period.server.is_same_system(&old.server) {
            continue;
        }
        if period.node != old.node {
            promotions.push(PromotionRecord {
                from: old.node.clone(),
                to: period.node.clone(),
                at: period.from - begun,
                healthy: None,
                timeline: period.server.timeline,
                safe: None,
            });
        }
        primary = Some(period);
    }
    promotions
}

/// Shortest period in which two servers count as primaries at once. A server may have answered some time before its answer
/// was received.
const DUAL_PRIMARY_MIN: Nanos = Nanos::from_millis(500);

/// Periods in which two servers of one system were primaries on different timelines. `begun` is the start of the window.
fn dual_primaries(watched: &RoleObservations, begun: Nanos) -> Vec<DualPrimary> {
    let primaries: Vec<&RolePeriod> = watched.role_periods.iter().filter(|it| !it.in_recovery).collect();
    let mut found = Vec::new();
    for old in &primaries {
        for new in &primaries {
            let (from, to) = (old.from.max(new.from).max(begun), old.to.min(new.to));
            let is_newer = new.server.timeline > old.server.timeline;
            if from + DUAL_PRIMARY_MIN <= to
                && is_newer
                && new.node != old.node
                && new.server.is_same_system(&old.server)
            {
                let nodes = [old.node.clone(), new.node.clone()];
                found.push(DualPrimary { nodes, from: from - begun, to: to - begun });
            }
        }
    }
    found.sort_by_key(|it| it.from);
    found
}

/// The servers' `system_identifier`; 0 if it cannot be read.
fn system_identifier(chain: &Chain) -> u64 {
    let sql = "select system_identifier from pg_control_system()";
    let identifier = |it: &DirectServer| it.target.open(QUERY_TIMEOUT).ok()?.value(sql).ok()??.parse().ok();
    chain.direct_targets().iter().find_map(identifier).unwrap_or(0)
}

/// Restarts every server.
fn restart(chain: &mut Chain, supervisor: &mut Supervisor) -> Result<(), NodeError> {
    let names: Vec<String> = chain.servers().iter().map(|it| it.plan.name.clone()).collect();
    names.iter().try_for_each(|name| chain.restart(supervisor, name))
}

fn to_setup_error(error: CommandError) -> SetupError {
    SetupError::Failed(error.message)
}

/// Distinct read-back queries, because operations that write to the same table have equal queries.
fn ledger_queries(operations: &[Operation]) -> Vec<LedgerQuery> {
    let mut all: Vec<LedgerQuery> = Vec::new();
    for ledger in operations.iter().filter_map(|it| it.ledger.as_ref()) {
        if !all.contains(ledger) {
            all.push(ledger.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Nanos {
        Nanos::from_secs(seconds)
    }

    fn role_period(node: &str, timeline: u32, in_recovery: bool, (from, to): (u64, u64)) -> RolePeriod {
        RolePeriod {
            node: node.to_owned(),
            server: model::durability::ServerInstance {
                system: 1,
                address: node.to_owned(),
                started_us: 0,
                timeline,
            },
            in_recovery,
            fsync: true,
            from: s(100 + from),
            to: s(100 + to),
        }
    }

    #[test]
    fn roles_show_two_primaries() {
        let role_periods = vec![
            role_period("a", 1, false, (0, 4)),
            role_period("b", 1, true, (0, 9)),
            role_period("b", 2, false, (10, 30)),
            role_period("a", 1, false, (14, 17)), // the old primary, which was paused
            role_period("a", 2, true, (18, 30)),
        ];
        let mut watched = RoleObservations { role_periods, ..RoleObservations::default() };
        let expected = DualPrimary { nodes: ["a".to_owned(), "b".to_owned()], from: s(14), to: s(17) };
        assert_eq!(dual_primaries(&watched, s(100)), [expected]);
        // An answer may be received late.
        watched.role_periods[3].to = s(114) + Nanos::from_millis(499);
        assert_eq!(dual_primaries(&watched, s(100)), []);
        watched.role_periods[3].to = s(117);
        // Two systems have nothing to do with each other.
        watched.role_periods[3].server.system = 2;
        assert_eq!(dual_primaries(&watched, s(100)), []);
    }

    #[test]
    fn roles_show_promotions() {
        let period =
            |node: &str, timeline, in_recovery, from| role_period(node, timeline, in_recovery, (from, from));
        let role_periods = vec![
            period("a", 1, false, 0),
            period("b", 1, true, 0),
            period("b", 2, false, 12),
            period("a", 1, false, 14), // the old primary, which was paused
            period("a", 2, true, 15),
            period("b", 3, false, 20), // promoted again
            period("a", 4, false, 30),
        ];
        let watched = RoleObservations { role_periods, ..RoleObservations::default() };
        let promotions = observed_promotions(&watched, s(100));
        let promotions: Vec<(&str, &str, u64, u32)> =
            promotions.iter().map(|it| (&*it.from, &*it.to, it.at.0 / s(1).0, it.timeline)).collect();
        assert_eq!(promotions, [("a", "b", 12, 2), ("b", "a", 30, 4)]);
    }

    #[test]
    fn reads_shared_queries_once() {
        let operation = |ledger: Option<&str>| {
            let ledger = ledger.map(|it| LedgerQuery::Rows(it.to_owned()));
            Operation { ledger, ..Operation::script("a", 1, "SELECT :token") }
        };
        let all =
            [Some("SELECT t FROM x"), None, Some("SELECT t FROM y"), Some("SELECT t FROM x")].map(operation);
        let queries = ledger_queries(&all);
        let texts: Vec<&str> = queries.iter().map(LedgerQuery::text).collect();
        assert_eq!(texts, ["SELECT t FROM x", "SELECT t FROM y"]);
    }
}
