//! When was something acknowledged, and how long was nothing?

use model::Nanos;
use model::durability::{FaultEvent, WriteOutage};
use std::collections::BTreeMap;

/// First and last acknowledgement of each hundredth of a second in which there was one: what is needed to know every gap
/// that is at least as long, exactly, in whatever order acknowledgements come.
#[derive(Debug, Default)]
pub(super) struct AcknowledgementTimes {
    slots: BTreeMap<u64, (Nanos, Nanos)>,
    /// The slot that was met last: most come into the same as the one before.
    current: Option<(u64, (Nanos, Nanos))>,
    /// When the last attempt ended, however.
    last_attempt: Nanos,
}

const SLOT: u64 = 10_000_000;

impl AcknowledgementTimes {
    /// An attempt ended; in whatever order they come.
    pub fn add_attempt(&mut self, at: Nanos) {
        self.last_attempt = self.last_attempt.max(at);
    }

    /// It was acknowledged.
    pub fn add_acknowledgement(&mut self, at: Nanos) {
        let number = at.0 / SLOT;
        match &mut self.current {
            Some((known, (first, last))) if *known == number => {
                (*first, *last) = ((*first).min(at), (*last).max(at));
            }
            _ => {
                self.flush();
                self.current = Some((number, (at, at)));
            }
        }
    }

    /// To be called before anything is asked.
    pub fn flush(&mut self) {
        if let Some((number, (first, last))) = self.current.take() {
            let slot = self.slots.entry(number).or_insert((first, last));
            *slot = (slot.0.min(first), slot.1.max(last));
        }
    }

    pub fn last(&self) -> Option<Nanos> {
        self.slots.last_key_value().map(|(_, it)| it.1)
    }

    /// For each fault the longest gap between it and the next: one that contains either belongs to the first it contains.
    /// One that did not end lasts until the last attempt, or until the load was `over`, for there is none where nobody can log in.
    /// None where nothing was acknowledged before it.
    pub fn outages(&self, faults: &[FaultEvent], over: Nanos) -> Vec<WriteOutage> {
        let end = self.last_attempt.max(over);
        let outage = |(number, fault): (usize, &FaultEvent)| {
            let next = faults.get(number + 1).map_or(Nanos::MAX, |it| it.at);
            let last = self.slots.values().next_back().map(|it| (it.1, end));
            let gaps = self.slots.values().zip(self.slots.values().skip(1)).map(|(a, b)| (a.1, b.0));
            let gaps = gaps.chain(last);
            let is_its = |&(a, b): &(Nanos, Nanos)| b > fault.at && (b <= next || a <= fault.at);
            let (from, to) = gaps.filter(is_its).max_by_key(|&(a, b)| b - a)?;
            Some(WriteOutage { fault: number, from, to })
        };
        faults.iter().enumerate().filter_map(outage).collect()
    }
}
