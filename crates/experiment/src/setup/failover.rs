//! The goal `failover`: checks, and the positive control.

use super::{SetupBuilder, seconds};
use crate::file::Find as Asked;
use crate::tree::Value;
use model::Nanos;
use model::message;
use model::plan::{
    FailoverManager, Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger, Goal, IsolationPeers, Setup,
    Sweep,
};

/// Time from the start of the blocked replication to the failure of the primary, in a positive control.
const AHEAD: Nanos = Nanos::from_millis(500);

impl SetupBuilder<'_> {
    /// Number of measurements of each cell.
    pub(super) fn times(&mut self, find: Option<&Asked>, repeat: Option<u32>) -> u32 {
        let times = settings(find).and_then(|it| it.times);
        if times.is_some() && repeat.is_some() {
            let message = message!("experiment-conflicting-keys", first = "repeat", second = "times");
            self.report("find.failover.times", message);
        }
        times.or(repeat).unwrap_or(1)
    }

    /// Reports reasons for which a failover trial would prove nothing. Returns the trial's positive control, unless
    /// controls are disabled.
    pub(super) fn failover(
        &mut self,
        requested: Option<&Asked>,
        find: &Goal,
        setup: &Setup,
    ) -> Option<Setup> {
        if *find != Goal::Failover {
            return None;
        }
        let is_attached = setup.stack.attached_servers().len() > 1;
        if !is_attached && setup.stack.replication.as_ref().is_none_or(|it| it.replicas == 0) {
            self.report("stack", message!("experiment-failover-replicas"));
        }
        if setup.operations.iter().all(|it| it.ledger.is_none()) {
            self.report("operations", message!("experiment-failover-ledger"));
        }
        let written = match self.tree.get("faults").map(|it| &it.1.value) {
            Some(Value::List(items)) => items.len(),
            _ => 0,
        };
        if setup.faults.len() < written {
            // Errors in the faults are already reported.
            return None;
        }
        if written == 0 {
            self.report("find", message!("experiment-failover-faults"));
            return None;
        }
        let control_enabled = settings(requested).and_then(|it| it.control).unwrap_or(true);
        // An attached cluster has its control in the same trial: clients whose commits wait for no standby.
        let has_cell = control_enabled && !is_attached;
        has_cell.then(|| self.control(setup)).flatten()
    }

    /// Reports faults that come after the end of the load. `window` is the duration of the measurement. Nothing is
    /// reported if the goal itself determines the duration of its trials.
    pub(super) fn check_fault_times(&mut self, find: &Goal, faults: &[Fault], window: Nanos) {
        let is_known = matches!(find, Goal::Once | Goal::Failover | Goal::Sweep(Sweep { max: None }));
        for (i, fault) in faults.iter().enumerate().filter(|_| is_known) {
            if let FaultTrigger::At(at) = fault.trigger
                && at >= window
            {
                let message = message!("experiment-fault-too-late", at = seconds(at), load = seconds(window));
                self.report(&format!("faults[{i}]"), message);
            }
        }
    }

    /// Setup of the positive control: no promise that commits survive, and replication that is blocked before the
    /// primary fails. It stays blocked until another server is promoted. Otherwise a primary that is only paused or isolated
    /// could still send the WAL.
    fn control(&mut self, setup: &Setup) -> Option<Setup> {
        let mut control = setup.without_promise();
        let manager = setup.stack.replication.as_ref().map(|it| &it.manager);
        // pgdyno itself still reaches a primary that is isolated from the other servers only, and does not replace it.
        let is_builtin = matches!(manager, Some(FailoverManager::Builtin(_)));
        let Some(first) = setup.faults.iter().position(|it| takes_primary(it, is_builtin)) else {
            self.report("faults", message!("experiment-control-primary"));
            return None;
        };
        let path = format!("faults[{first}]");
        let FaultTrigger::At(at) = setup.faults[first].trigger else {
            self.report(&path, message!("experiment-control-after"));
            return None;
        };
        if at < AHEAD {
            self.report(&path, message!("experiment-control-early"));
            return None;
        }
        let before = &setup.faults[..first];
        if before.iter().any(|it| matches!(it.action, FaultAction::BlockReplication { .. })) {
            return Some(control);
        }
        let start = Nanos(at.0 - AHEAD.0);
        let later = |it: &&Fault| matches!(it.trigger, FaultTrigger::At(at) if at > start);
        let place = first - before.iter().rev().take_while(later).count();
        let block = Fault {
            trigger: FaultTrigger::At(start),
            action: FaultAction::BlockReplication { duration: None },
        };
        control.faults.insert(place, block);
        Some(control)
    }
}

fn settings(find: Option<&Asked>) -> Option<&crate::file::find::Failover> {
    match find {
        Some(Asked::How(it)) => it.failover.as_ref(),
        _ => None,
    }
}

/// True for a fault after which a replica must take over without the data that only the primary has.
fn takes_primary(fault: &Fault, is_builtin: bool) -> bool {
    let target = match &fault.action {
        FaultAction::Isolate { from: IsolationPeers::Servers | IsolationPeers::Nodes(_), .. }
            if is_builtin =>
        {
            return false;
        }
        // The manager demotes a primary only if it cannot renew its leader key.
        FaultAction::Isolate { from: IsolationPeers::Nodes(peers), .. }
            if !peers.iter().any(|it| matches!(it, FaultTarget::Store(_))) =>
        {
            return false;
        }
        FaultAction::Kill { target, scope: FaultScope::Node | FaultScope::Postmaster } => target,
        FaultAction::Pause { target, .. } | FaultAction::Isolate { target, .. } => target,
        _ => return false,
    };
    matches!(target, FaultTarget::Primary) || matches!(target, FaultTarget::Node(node) if node == "postgres")
}
