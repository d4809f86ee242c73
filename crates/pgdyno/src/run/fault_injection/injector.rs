//! Injects faults and promotes a replica
//!
//! The injector runs in a separate thread during the load. It owns the chain and its supervisor until
//! [`FaultInjector::run`] returns. When it returns, all faults are reverted. If a fault could not be reverted, the
//! result contains an error.

use super::monitor::Monitor;
use super::schedule::{DueAction, FaultSchedule};
use crate::observer::TrialClock;
use model::fault_injection::{FaultInjection, InjectedFault, PromotionRecord, RejoinRecord};
use model::message;
use model::message::Message;
use model::plan::{
    FailoverManager, Fault, FaultAction, FaultScope, FaultTarget, IsolationPeers, Promoter, TriggerEvent,
};
use model::{EventKind, LogEvent, Nanos};
use stack::chain::{ActiveFault, Chain, Promotion};
use stack::component::program::Programs;
use stack::sampler::Observation;
use stack::supervisor::{NodeError, Supervisor};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two checks for due actions.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Maximum duration of one search for a new primary, because the search delays other actions.
const PRIMARY_LOOK_TIMEOUT: Duration = Duration::from_millis(100);
/// Timeout for a new primary, from the end of the load. A cluster manager's leader key may have a TTL of 20 s or more.
const PROMOTION_TIMEOUT: Duration = Duration::from_secs(60);

/// Executes the fault schedule.
#[derive(Debug)]
pub struct FaultInjector<'a> {
    chain: &'a mut Chain,
    supervisor: &'a mut Supervisor,
    faults: &'a [Fault],
    schedule: FaultSchedule<'a>,
    commands: CommandContext<'a>,
    trial_clock: TrialClock,
    observations: Sender<Observation>,
    /// Faults that are in effect, by number.
    active_faults: BTreeMap<usize, ActiveFault>,
    promoter: PromotionMode,
    /// Time from which the cluster manager may promote another server, and whether it must do so; `None` if no
    /// promotion is expected.
    leaderless: Option<(Instant, bool)>,
    /// Failed primaries that have not rejoined.
    failed_primaries: Vec<String>,
    /// Replicas that cannot follow the new primary without being rebuilt.
    diverged: Vec<String>,
    injection: FaultInjection,
    /// Promotions, with the state of the servers before each.
    promotions: Vec<(Nanos, Promotion)>,
}

/// Data for commands of the user.
#[derive(Clone, Copy, Debug)]
pub struct CommandContext<'a> {
    pub programs: &'a Programs,
    /// Directory of the experiment file.
    pub directory: &'a Path,
}

/// Component that promotes replicas, if any.
#[derive(Debug)]
enum PromotionMode {
    Nobody,
    Pgdyno(Promoter, Monitor),
    Manager,
}

/// Result of the fault injection.
#[derive(Debug)]
pub struct InjectionResult {
    pub injection: FaultInjection,
    /// Promotions, with their times since the window began.
    pub promotions: Vec<(Nanos, Promotion)>,
    /// Failed primaries that have not rejoined; `diverged` has the replicas that must be rebuilt.
    pub failed_primaries: Vec<String>,
}

impl<'a> FaultInjector<'a> {
    /// Creates an injector. `observations` receives its actions and observations as events.
    pub fn new(
        (chain, supervisor): (&'a mut Chain, &'a mut Supervisor),
        (faults, commands): (&'a [Fault], CommandContext<'a>),
        trial_clock: TrialClock,
        observations: Sender<Observation>,
    ) -> FaultInjector<'a> {
        let primary = chain.primary().map(|it| it.endpoint.clone());
        let promoter = match (chain.replication().map(|it| &it.manager), primary) {
            (Some(FailoverManager::Builtin(manager)), Some(primary)) => {
                PromotionMode::Pgdyno(*manager, Monitor::start(primary, trial_clock.clone()))
            }
            (Some(FailoverManager::External(_)), _) => PromotionMode::Manager,
            _ => PromotionMode::Nobody,
        };
        let schedule = FaultSchedule::new(faults);
        let (active_faults, leaderless) = (BTreeMap::new(), None);
        let (failed_primaries, diverged) = (Vec::new(), Vec::new());
        let (injection, promotions) = (FaultInjection::default(), Vec::new());
        FaultInjector {
            chain,
            supervisor,
            faults,
            schedule,
            commands,
            trial_clock,
            observations,
            active_faults,
            promoter,
            leaderless,
            failed_primaries,
            diverged,
            injection,
            promotions,
        }
    }

    /// Executes due actions until `load_ended` is set. Then reverts the active faults and waits for a primary.
    ///
    /// The injector calls `look` in each iteration. If `hurried` is set, it does not wait.
    pub fn run(mut self, load_ended: &AtomicBool, hurried: &AtomicBool, look: impl Fn()) -> InjectionResult {
        while !load_ended.load(Ordering::Relaxed) {
            look();
            self.run_due();
            thread::sleep(POLL_INTERVAL);
        }
        self.finish(hurried)
    }

    fn run_due(&mut self) {
        if self.trial_clock.window_start().is_none() {
            return;
        }
        while let Some(due) = self.schedule.due(self.trial_clock.now()) {
            match due {
                DueAction::Inject(number) => self.inject(number),
                DueAction::Revert(number) => self.revert(number),
            }
        }
        self.find_primary();
        // Let the diverged replicas rejoin, because the new primary may need their confirmations.
        let nodes = std::mem::take(&mut self.diverged);
        self.rejoin_nodes(nodes);
        if !self.schedule.is_over() && self.leaderless.is_none() {
            let nodes = std::mem::take(&mut self.failed_primaries);
            self.rejoin_nodes(nodes);
        }
    }

    fn finish(mut self, hurried: &AtomicBool) -> InjectionResult {
        for fault in self.schedule.take_active() {
            self.revert(fault);
        }
        if !self.schedule.is_over() {
            let left = self.faults.len() - self.injection.injected.len();
            let all = self.faults.len();
            self.add_error(message!("failover-load-ended", left, all));
        }
        let (start, deadline) = (self.trial_clock.now(), Instant::now() + PROMOTION_TIMEOUT);
        let may_wait = || !hurried.load(Ordering::Relaxed) && Instant::now() < deadline;
        while !self.has_primary_since(start) && may_wait() {
            self.find_primary();
            thread::sleep(POLL_INTERVAL);
        }
        if !self.has_primary_since(start) {
            self.add_error(message!("failover-no-new-primary"));
        }
        let failed_primaries = [self.diverged, self.failed_primaries].concat();
        InjectionResult { injection: self.injection, promotions: self.promotions, failed_primaries }
    }

    fn inject(&mut self, number: usize) {
        let action = &self.faults[number].action;
        let at = self.trial_clock.now();
        let hits_primary = self.hits_primary(action);
        if action.external_deadline().is_some() {
            return self.begin_external(at, action);
        }
        let done = match self.chain.inject(self.supervisor, action) {
            Ok(it) => it,
            Err(error) => {
                self.injection.injected.push(InjectedFault {
                    at,
                    reverted: None,
                    action: action.clone(),
                    nodes: Vec::new(),
                });
                return self.add_error((&error).into());
            }
        };
        for node in &done.nodes {
            self.send_event(at, node, EventKind::Fault, fault_keyword(action).to_owned());
        }
        let injected = InjectedFault { at, reverted: None, action: action.clone(), nodes: done.nodes };
        self.injection.injected.push(injected);
        if let Some(active_fault) = done.active_fault {
            self.active_faults.insert(number, active_fault);
        }
        if let Some(promotion) = done.promotion {
            self.record_promotion(promotion, true);
        } else if hits_primary && matches!(self.promoter, PromotionMode::Manager) {
            // A promotion is mandatory only if the whole node was killed. A paused server, or one whose postmaster was
            // killed, may return before the manager promotes another server.
            let must = matches!(action, FaultAction::Kill { scope: FaultScope::Node, .. });
            self.leaderless = Some((Instant::now(), must));
        }
    }

    /// Begins a failover that pgdyno does not cause, by running the user's command if there is one.
    fn begin_external(&mut self, at: Nanos, action: &FaultAction) {
        let mut nodes: Vec<String> = self.chain.postgres().iter().map(|it| it.plan.name.clone()).collect();
        for node in &nodes {
            self.send_event(at, node, EventKind::Fault, fault_keyword(action).to_owned());
        }
        if let FaultAction::Run { command, .. } = action {
            let CommandContext { programs, directory } = self.commands;
            if let Err(error) = stack::hook::run(self.supervisor, programs, "faults.run", command, directory)
            {
                self.add_error(error);
                nodes.clear();
            }
        }
        let (reverted, action) = (None, action.clone());
        self.injection.injected.push(InjectedFault { at, reverted, action, nodes });
        if matches!(self.promoter, PromotionMode::Manager) {
            self.leaderless = Some((Instant::now(), false));
        }
    }

    fn revert(&mut self, number: usize) {
        let Some(active_fault) = self.active_faults.remove(&number) else { return };
        // The processes of a paused node must not resume before the node does.
        if self.active_faults.values().any(|it| it.includes(&active_fault)) {
            return;
        }
        if let Err(error) = self.chain.revert(self.supervisor, active_fault) {
            return self.add_error((&error).into());
        }
        let at = self.trial_clock.now();
        // The faults in `injected` are in the order of the plan.
        let Some(fault) = self.injection.injected.get_mut(number) else { return };
        fault.reverted = Some(at);
        let text = fault_keyword(&fault.action).to_owned();
        for node in fault.nodes.clone() {
            self.send_event(at, &node, EventKind::Reverted, text.clone());
        }
    }

    /// True if the fault may lead to the promotion of another server.
    fn hits_primary(&self, action: &FaultAction) -> bool {
        let primary = self.chain.primary().map(|it| it.plan.name.as_str());
        match action {
            FaultAction::Kill { target, .. }
            | FaultAction::Pause { target, .. }
            | FaultAction::Isolate { target, .. }
            | FaultAction::FreezeDisk { target, .. }
            | FaultAction::ShiftClock { target, .. }
            | FaultAction::FillDisk { target, .. } => match target {
                FaultTarget::Primary => true,
                FaultTarget::Node(name) => Some(name.as_str()) == primary,
                // Without its key in the store, the manager demotes the primary.
                FaultTarget::Store(_) => true,
                FaultTarget::Replica => false,
            },
            FaultAction::Restart { .. }
            | FaultAction::Switchover { .. }
            | FaultAction::BlockReplication { .. }
            | FaultAction::Run { .. }
            | FaultAction::External { .. } => false,
        }
    }

    /// True if a primary has responded since `start`. If pgdyno does not decide on promotions: true unless a promotion
    /// must still follow.
    fn has_primary_since(&self, start: Nanos) -> bool {
        match &self.promoter {
            PromotionMode::Nobody => true,
            PromotionMode::Pgdyno(_, monitor) => {
                let now = self.trial_clock.now();
                monitor.silence(now) < now - start
            }
            PromotionMode::Manager => self.leaderless.is_none_or(|it| !it.1),
        }
    }

    fn find_primary(&mut self) {
        match &self.promoter {
            PromotionMode::Pgdyno(plan, monitor)
                if monitor.silence(self.trial_clock.now()) >= monitor.silence_timeout(plan.timeout) =>
            {
                // If the attempt fails, repeat it later, because unresponsive replicas may recover.
                match self.chain.fail_over(self.supervisor) {
                    Ok(it) => self.record_promotion(it, false),
                    Err(error) => {
                        self.add_error((&error).into());
                        thread::sleep(PRIMARY_LOOK_TIMEOUT);
                    }
                }
            }
            PromotionMode::Manager => {
                let Some((start, _)) = self.leaderless else { return };
                if let Ok(promotion) =
                    self.chain.await_promotion(self.supervisor, start, PRIMARY_LOOK_TIMEOUT)
                {
                    self.leaderless = None;
                    // The manager makes a running former primary follow the new primary.
                    let lives = |name: &str| {
                        let servers = self.chain.servers();
                        servers.iter().find(|it| it.plan.name == name).and_then(|it| it.node)
                    };
                    let follows =
                        lives(&promotion.from).is_some_and(|it| self.supervisor.end_of(it).is_none());
                    self.record_promotion(promotion, follows);
                }
            }
            _ => {}
        }
    }

    /// Records a promotion. `follows` is true if the former primary follows the new primary without the injector's
    /// help.
    fn record_promotion(&mut self, promotion: Promotion, follows: bool) {
        let at = self.trial_clock.now();
        if let (PromotionMode::Pgdyno(_, monitor), Some(primary)) = (&self.promoter, self.chain.primary()) {
            monitor.set_target(primary.endpoint.clone(), at);
        }
        self.send_event(at, &promotion.to, EventKind::Promoted, format!("timeline {}", promotion.timeline));
        self.schedule.record_event(TriggerEvent::Promoted, at);
        let safe = matches!(self.promoter, PromotionMode::Pgdyno(..)).then_some(promotion.safe);
        let (from, to, timeline) = (promotion.from.clone(), promotion.to.clone(), promotion.timeline);
        self.failed_primaries.retain(|node| *node != to);
        self.diverged.extend(promotion.diverged.iter().cloned());
        if !follows {
            self.failed_primaries.push(from.clone());
        }
        self.injection.promotions.push(PromotionRecord { from, to, at, healthy: None, timeline, safe });
        self.promotions.push((at, promotion));
    }

    fn rejoin_nodes(&mut self, nodes: Vec<String>) {
        for node in nodes {
            if self.has_active_fault(&node) {
                // An isolated server cannot reach the new primary yet.
                self.failed_primaries.push(node);
                continue;
            }
            match rejoin(self.chain, self.supervisor, &node, &self.trial_clock) {
                Ok(rejoin) => {
                    let method = if rejoin.rewound { "rewound" } else { "copied" };
                    self.send_event(rejoin.at, &node, EventKind::Rejoined, method.to_owned());
                    self.schedule.record_event(TriggerEvent::Rejoined, rejoin.at);
                    self.injection.rejoins.push(rejoin);
                }
                Err(error) => self.add_error((&error).into()),
            }
        }
    }

    /// True if a fault that affects the node is in effect.
    fn has_active_fault(&self, node: &str) -> bool {
        let injected = |number: &usize| self.injection.injected.get(*number);
        self.active_faults.keys().filter_map(injected).any(|it| it.nodes.iter().any(|name| name == node))
    }

    fn add_error(&mut self, error: Message) {
        push_error(&mut self.injection, error);
    }

    fn send_event(&self, at: Nanos, node: &str, kind: EventKind, text: String) {
        let event = LogEvent { at, node: node.to_owned(), kind, code: None, text, session: None };
        // Ignore a closed channel, because the receiver may be gone after an interruption.
        let _ = self.observations.send(Observation::Event(event));
    }
}

impl InjectionResult {
    pub fn add_error(&mut self, error: Message) {
        push_error(&mut self.injection, error);
    }
}

/// Adds an error unless it is already listed.
fn push_error(injection: &mut FaultInjection, error: Message) {
    if !injection.errors.contains(&error) {
        injection.errors.push(error);
    }
}

/// Makes a former primary follow the current one.
pub fn rejoin(
    chain: &mut Chain,
    supervisor: &mut Supervisor,
    node: &str,
    trial_clock: &TrialClock,
) -> Result<RejoinRecord, NodeError> {
    let stack::chain::RejoinResult { node, rewound, took } = chain.rejoin(supervisor, node)?;
    let took = Nanos(took.as_nanos() as u64);
    Ok(RejoinRecord { node, at: trial_clock.now(), elapsed: took, rewound })
}

/// Keyword of a fault in the experiment file.
fn fault_keyword(action: &FaultAction) -> &'static str {
    match action {
        FaultAction::Kill { .. } => "kill",
        FaultAction::Pause { .. } => "pause",
        FaultAction::Restart { .. } => "restart",
        FaultAction::Switchover { .. } => "switchover",
        FaultAction::Isolate { from: IsolationPeers::Servers, .. } => "separate",
        FaultAction::Isolate { from: IsolationPeers::Nodes(_), .. } => "separate_nodes",
        FaultAction::Isolate { .. } => "isolate",
        FaultAction::FreezeDisk { .. } => "freeze_disk",
        FaultAction::ShiftClock { .. } => "shift_clock",
        FaultAction::FillDisk { .. } => "fill_disk",
        FaultAction::BlockReplication { .. } => "block_replication",
        FaultAction::Run { .. } => "run",
        FaultAction::External { .. } => EXTERNAL,
    }
}

/// Keyword of a fault that the user causes.
const EXTERNAL: &str = "external";

/// True if the event says that the user should cause a failover now.
pub fn is_external_fault(event: &LogEvent) -> bool {
    event.kind == EventKind::Fault && event.text == EXTERNAL
}
