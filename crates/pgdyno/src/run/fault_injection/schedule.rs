//! Order and times of the faults

use model::Nanos;
use model::plan::{Fault, FaultAction, FaultTrigger, TriggerEvent};

/// Planned faults, executed one after the other in the order of the file.
#[derive(Debug)]
pub struct FaultSchedule<'a> {
    remaining: &'a [Fault],
    /// First occurrence of each trigger event since the last fault.
    events: Vec<(TriggerEvent, Nanos)>,
    /// Numbers of the active faults, each with its end time; [`Nanos::MAX`] until a promotion.
    active: Vec<(usize, Nanos)>,
    done: usize,
}

/// Action that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueAction {
    /// Inject the fault with this number.
    Inject(usize),
    /// Revert the fault with this number.
    Revert(usize),
}

impl<'a> FaultSchedule<'a> {
    pub fn new(faults: &'a [Fault]) -> FaultSchedule<'a> {
        FaultSchedule { remaining: faults, events: Vec::new(), active: Vec::new(), done: 0 }
    }

    /// Records an event that may trigger a fault, or may end faults that last until a promotion.
    pub fn record_event(&mut self, event: TriggerEvent, at: Nanos) {
        if event == TriggerEvent::Promoted {
            self.active.iter_mut().filter(|it| it.1 == Nanos::MAX).for_each(|it| it.1 = at);
        }
        if !self.events.iter().any(|it| it.0 == event) {
            self.events.push((event, at));
        }
    }

    /// Earliest action that is due. Each action is returned once.
    pub fn due(&mut self, now: Nanos) -> Option<DueAction> {
        let ended = self.active.iter().position(|it| it.1 <= now);
        let start = self.next_start().filter(|it| *it <= now);
        if let Some(at) = ended.filter(|at| start.is_none_or(|it| self.active[*at].1 <= it)) {
            return Some(DueAction::Revert(self.active.remove(at).0));
        }
        let (at, (fault, left)) = (start?, self.remaining.split_first()?);
        let number = self.done;
        (self.remaining, self.done) = (left, self.done + 1);
        self.events.clear();
        if let Some(duration) = fault_duration(&fault.action) {
            let end = if duration == Nanos::MAX { Nanos::MAX } else { at.max(now) + duration };
            self.active.push((number, end));
            self.active.sort_by_key(|it| it.1);
        }
        Some(DueAction::Inject(number))
    }

    /// True if no fault remains.
    pub fn is_over(&self) -> bool {
        self.remaining.is_empty()
    }

    /// Removes and returns the active faults.
    pub fn take_active(&mut self) -> Vec<usize> {
        self.active.drain(..).map(|it| it.0).collect()
    }

    /// Start of the next fault, if it is known.
    fn next_start(&self) -> Option<Nanos> {
        match self.remaining.first()?.trigger {
            FaultTrigger::At(it) => Some(it),
            FaultTrigger::After(event, later) => {
                self.events.iter().find(|it| it.0 == event).map(|it| it.1 + later)
            }
        }
    }
}

/// Time after which a fault is reverted; [`Nanos::MAX`] if it lasts until a promotion, `None` if it is instantaneous.
fn fault_duration(action: &FaultAction) -> Option<Nanos> {
    match action {
        FaultAction::Pause { duration, .. }
        | FaultAction::Isolate { duration, .. }
        | FaultAction::FreezeDisk { duration, .. }
        | FaultAction::ShiftClock { duration, .. }
        | FaultAction::FillDisk { duration, .. } => Some(*duration),
        FaultAction::BlockReplication { duration } => Some(duration.unwrap_or(Nanos::MAX)),
        FaultAction::Kill { .. }
        | FaultAction::Restart { .. }
        | FaultAction::Switchover { .. }
        | FaultAction::Run { .. }
        | FaultAction::External { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::{FaultScope, FaultTarget};

    #[test]
    fn faults_start_in_file_order() {
        let s = Nanos::from_secs;
        let fault = |trigger, action| Fault { trigger, action };
        let kill = || FaultAction::Kill { target: FaultTarget::Primary, scope: FaultScope::Node };
        let faults = [
            fault(FaultTrigger::At(s(5)), FaultAction::BlockReplication { duration: Some(s(2)) }),
            fault(FaultTrigger::At(s(6)), kill()),
            fault(
                FaultTrigger::After(TriggerEvent::Promoted, s(1)),
                FaultAction::Pause { target: FaultTarget::Replica, duration: s(3) },
            ),
        ];
        let mut schedule = FaultSchedule::new(&faults);
        let mut check = |now: u64, came: Option<TriggerEvent>, due: &[DueAction]| {
            if let Some(event) = came {
                schedule.record_event(event, s(now));
            }
            let all: Vec<DueAction> = std::iter::from_fn(|| schedule.due(s(now))).collect();
            assert_eq!(all, due, "at {now}");
        };
        check(4, None, &[]);
        // Events before the preceding fault do not trigger this one.
        check(4, Some(TriggerEvent::Promoted), &[]);
        check(5, None, &[DueAction::Inject(0)]);
        check(6, None, &[DueAction::Inject(1)]);
        check(7, None, &[DueAction::Revert(0)]);
        check(8, Some(TriggerEvent::Promoted), &[]);
        // Only the first event counts.
        check(9, Some(TriggerEvent::Promoted), &[DueAction::Inject(2)]);
        check(11, None, &[]);
        check(12, None, &[DueAction::Revert(2)]);
        assert!(schedule.is_over() && schedule.take_active().is_empty());
    }

    #[test]
    fn replication_stays_blocked_until_a_promotion() {
        let s = Nanos::from_secs;
        let fault = |at, action| Fault { trigger: FaultTrigger::At(s(at)), action };
        let pause = FaultAction::Pause { target: FaultTarget::Primary, duration: s(9) };
        let faults = [fault(5, FaultAction::BlockReplication { duration: None }), fault(6, pause)];
        let mut schedule = FaultSchedule::new(&faults);
        let mut due = |now, event: Option<TriggerEvent>| {
            event.into_iter().for_each(|it| schedule.record_event(it, s(now)));
            std::iter::from_fn(|| schedule.due(s(now))).collect::<Vec<DueAction>>()
        };
        assert_eq!(due(6, None), [DueAction::Inject(0), DueAction::Inject(1)]);
        assert_eq!(due(7, Some(TriggerEvent::Rejoined)), []);
        assert_eq!(due(8, Some(TriggerEvent::Promoted)), [DueAction::Revert(0)]);
        assert_eq!(due(15, None), [DueAction::Revert(1)]);
    }

    #[test]
    fn late_faults_keep_their_order_and_active_ones_are_reverted() {
        let s = Nanos::from_secs;
        let isolate = |node: &str, at| Fault {
            trigger: FaultTrigger::At(s(at)),
            action: FaultAction::Isolate {
                target: FaultTarget::Node(node.to_owned()),
                duration: s(1),
                from: Default::default(),
            },
        };
        let faults = [isolate("a", 1), isolate("b", 2)];
        let mut schedule = FaultSchedule::new(&faults);
        let all: Vec<DueAction> = std::iter::from_fn(|| schedule.due(s(9))).collect();
        assert_eq!(all, [DueAction::Inject(0), DueAction::Inject(1)]);
        assert_eq!(schedule.take_active(), [0, 1]);
    }
}
