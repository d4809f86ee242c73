//! The goal `failover`: checks, and the positive control.

use super::SetupBuilder;
use crate::file::Find as Asked;
use crate::tree::Value;
use model::Nanos;
use model::plan::{Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger, Goal, Setup};

/// Lead time and duration of blocked replication in a positive control, before the primary fails.
const AHEAD: Nanos = Nanos::from_millis(500);
const WITHHELD: Nanos = Nanos::from_secs(1);

const KILL: &str = "`{ at: 20s, kill: primary }`";

impl SetupBuilder<'_> {
    /// Number of measurements of each cell.
    pub(super) fn times(&mut self, find: Option<&Asked>, repeat: Option<u32>) -> u32 {
        let times = settings(find).and_then(|it| it.times);
        if times.is_some() && repeat.is_some() {
            let found = "`times` beside `repeat`, which says the same";
            self.report("find.failover.times", found, "leave one of them out");
        }
        times.or(repeat).unwrap_or(1)
    }

    /// Reports why a failover trial would prove nothing; returns its positive control unless disabled.
    ///
    /// `window` is the measured duration.
    pub(super) fn failover(
        &mut self,
        asked: Option<&Asked>,
        find: &Goal,
        setup: &Setup,
        window: Nanos,
    ) -> Option<Setup> {
        if *find != Goal::Failover {
            return None;
        }
        if setup.stack.replication.as_ref().is_none_or(|it| it.replicas == 0) {
            let instead = "add `replicas: { count: 2, sync: any 1 }` beside a `postgres` that pgdyno starts";
            self.report("stack", "a failover is looked for, and nobody can take over", instead);
        }
        if setup.operations.iter().all(|it| it.ledger.is_none()) {
            let found = "a failover is looked for, and no operation has a ledger: a loss would not be seen";
            let instead = "add `ledger: SELECT token FROM …` to one that writes `:token`, or `${token}`";
            self.report("operations", found, instead);
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
            let found = "a failover is looked for, and nothing goes wrong";
            self.report("find", found, format!("add `faults: [{}]`", KILL.trim_matches('`')));
            return None;
        }
        for (i, it) in setup.faults.iter().enumerate() {
            if let FaultTrigger::At(at) = it.trigger
                && at >= window
            {
                let found = format!("this comes when the load, of {}s, has ended", window.as_secs_f64());
                self.report(&format!("faults[{i}]"), found, "let it happen earlier, or load for longer");
            }
        }
        let wanted = settings(asked).and_then(|it| it.control).unwrap_or(true);
        wanted.then(|| self.control(setup)).flatten()
    }

    /// Setup without any promise, and with replication blocked before the primary fails.
    fn control(&mut self, setup: &Setup) -> Option<Setup> {
        let mut control = setup.without_promise();
        let Some(first) = setup.faults.iter().position(takes_primary) else {
            let found = "no fault takes the primary away, so that no control can show a loss";
            self.report("faults", found, format!("add {KILL}, or write `control: false`"));
            return None;
        };
        let path = format!("faults[{first}]");
        let FaultTrigger::At(at) = setup.faults[first].trigger else {
            let found = "when this happens is not known, and in the control the log is withheld before it";
            self.report(&path, found, "write `at` without `after`, or `control: false`");
            return None;
        };
        if at < AHEAD {
            let found = "in the control the log is withheld for half a second before this";
            self.report(&path, found, "write `at: 500ms` or later, or `control: false`");
            return None;
        }
        let before = &setup.faults[..first];
        if before.iter().any(|it| matches!(it.action, FaultAction::BlockReplication { .. })) {
            return Some(control);
        }
        let begins = Nanos(at.0 - AHEAD.0);
        let later = |it: &&Fault| matches!(it.trigger, FaultTrigger::At(at) if at > begins);
        let place = first - before.iter().rev().take_while(later).count();
        let withhold = Fault {
            trigger: FaultTrigger::At(begins),
            action: FaultAction::BlockReplication { duration: WITHHELD },
        };
        control.faults.insert(place, withhold);
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
fn takes_primary(it: &Fault) -> bool {
    let whom = match &it.action {
        FaultAction::Kill { target: whom, scope: FaultScope::Node | FaultScope::Postmaster } => whom,
        FaultAction::Pause { target: whom, .. } | FaultAction::Isolate { target: whom, .. } => whom,
        _ => return false,
    };
    matches!(whom, FaultTarget::Primary) || matches!(whom, FaultTarget::Node(it) if it == "postgres")
}
