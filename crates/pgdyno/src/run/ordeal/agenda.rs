//! Which fault is next, and when?

use model::Nanos;
use model::plan::{Deed, Event, Fault, When};

/// What is to go wrong, in the order of the file: one after the other.
#[derive(Debug)]
pub struct Agenda<'a> {
    left: &'a [Fault],
    /// Since the last fault: when what may be waited for came first.
    came: Vec<(Event, Nanos)>,
    /// Numbers of what lasts, and when it ends.
    lasting: Vec<(usize, Nanos)>,
    done: usize,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The fault of this number begins.
    Inflict(usize),
    /// It ends.
    Heal(usize),
}

impl<'a> Agenda<'a> {
    pub fn new(faults: &'a [Fault]) -> Agenda<'a> {
        Agenda { left: faults, came: Vec::new(), lasting: Vec::new(), done: 0 }
    }

    /// Something happened that a fault may wait for.
    pub fn came(&mut self, event: Event, at: Nanos) {
        if !self.came.iter().any(|it| it.0 == event) {
            self.came.push((event, at));
        }
    }

    /// What has not been done by now, the earliest first; each is told once.
    pub fn due(&mut self, now: Nanos) -> Option<Due> {
        let healed = self.lasting.iter().position(|it| it.1 <= now);
        let begins = self.begins().filter(|it| *it <= now);
        if let Some(at) = healed.filter(|at| begins.is_none_or(|it| self.lasting[*at].1 <= it)) {
            return Some(Due::Heal(self.lasting.remove(at).0));
        }
        let (at, (it, left)) = (begins?, self.left.split_first()?);
        let number = self.done;
        (self.left, self.done) = (left, self.done + 1);
        self.came.clear();
        if let Some(lasting) = lasting(&it.deed) {
            self.lasting.push((number, at.max(now) + lasting));
            self.lasting.sort_by_key(|it| it.1);
        }
        Some(Due::Inflict(number))
    }

    /// Whether a fault is still to come.
    pub fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// What still lasts; it is told once.
    pub fn rest(&mut self) -> Vec<usize> {
        self.lasting.drain(..).map(|it| it.0).collect()
    }

    /// When the next one begins, if that is known.
    fn begins(&self) -> Option<Nanos> {
        match self.left.first()?.when {
            When::At(it) => Some(it),
            When::After(event, later) => self.came.iter().find(|it| it.0 == event).map(|it| it.1 + later),
        }
    }
}

/// How long a deed lasts before it is undone; `None` for what is over at once.
fn lasting(it: &Deed) -> Option<Nanos> {
    match it {
        Deed::Pause { lasting, .. }
        | Deed::CutOff { lasting, .. }
        | Deed::FillDisk { lasting, .. }
        | Deed::Withhold { lasting } => Some(*lasting),
        Deed::Kill { .. } | Deed::Restart { .. } | Deed::Switchover { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::{Part, Whom};

    #[test]
    fn one_after_the_other() {
        let s = Nanos::from_secs;
        let fault = |when, deed| Fault { when, deed };
        let kill = || Deed::Kill { whom: Whom::Primary, part: Part::Node };
        let faults = [
            fault(When::At(s(5)), Deed::Withhold { lasting: s(2) }),
            fault(When::At(s(6)), kill()),
            fault(When::After(Event::Promoted, s(1)), Deed::Pause { whom: Whom::Replica, lasting: s(3) }),
        ];
        let mut agenda = Agenda::new(&faults);
        let mut check = |now: u64, came: Option<Event>, due: &[Due]| {
            if let Some(event) = came {
                agenda.came(event, s(now));
            }
            let all: Vec<Due> = std::iter::from_fn(|| agenda.due(s(now))).collect();
            assert_eq!(all, due, "at {now}");
        };
        check(4, None, &[]);
        // What came before the fault that precedes is not what is waited for.
        check(4, Some(Event::Promoted), &[]);
        check(5, None, &[Due::Inflict(0)]);
        check(6, None, &[Due::Inflict(1)]);
        check(7, None, &[Due::Heal(0)]);
        check(8, Some(Event::Promoted), &[]);
        // The first counts.
        check(9, Some(Event::Promoted), &[Due::Inflict(2)]);
        check(11, None, &[]);
        check(12, None, &[Due::Heal(2)]);
        assert!(agenda.is_over() && agenda.rest().is_empty());
    }

    #[test]
    fn what_is_late_keeps_its_order_and_what_lasts_is_not_forgotten() {
        let s = Nanos::from_secs;
        let cut = |whom: &str, at| Fault {
            when: When::At(s(at)),
            deed: Deed::CutOff { whom: Whom::Node(whom.to_owned()), lasting: s(1) },
        };
        let faults = [cut("a", 1), cut("b", 2)];
        let mut agenda = Agenda::new(&faults);
        let all: Vec<Due> = std::iter::from_fn(|| agenda.due(s(9))).collect();
        assert_eq!(all, [Due::Inflict(0), Due::Inflict(1)]);
        assert_eq!(agenda.rest(), [0, 1]);
    }
}
