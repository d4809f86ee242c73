//! Times of acknowledged writes, and the write outages between them

use model::Nanos;
use model::durability::{FaultEvent, WriteOutage};
use std::collections::BTreeMap;

/// Times of the first and last acknowledgement in each 10 ms interval. Every gap of at least 10 ms is therefore exact,
/// even if acknowledgements arrive out of order.
#[derive(Debug, Default)]
pub(super) struct AcknowledgementTimes {
    slots: BTreeMap<u64, (Nanos, Nanos)>,
    /// Interval of the latest acknowledgement. It is not in `slots`, because consecutive acknowledgements are mostly in
    /// the same interval.
    current: Option<(u64, (Nanos, Nanos))>,
    /// End of the latest attempt, with any outcome.
    last_attempt: Nanos,
}

const SLOT: u64 = 10_000_000;

impl AcknowledgementTimes {
    /// Adds the end of an attempt. Attempts may arrive in any order.
    pub fn add_attempt(&mut self, at: Nanos) {
        self.last_attempt = self.last_attempt.max(at);
    }

    /// Adds an acknowledgement. Acknowledgements may arrive in any order.
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

    /// Stores the current interval. Callers must call this before [`AcknowledgementTimes::outages`].
    pub fn flush(&mut self) {
        if let Some((number, (first, last))) = self.current.take() {
            let slot = self.slots.entry(number).or_insert((first, last));
            *slot = (slot.0.min(first), slot.1.max(last));
        }
    }

    pub fn last(&self) -> Option<Nanos> {
        self.slots.last_key_value().map(|(_, it)| it.1)
    }

    /// End of the load: that of the last attempt, or `load_ended` if it is later.
    pub fn end_of_load(&self, load_ended: Nanos) -> Nanos {
        self.last_attempt.max(load_ended)
    }

    /// Longest gap without acknowledgements for each fault. The gap contains the fault, or lies between it and the next
    /// fault. A gap that contains several faults belongs to each of them. If no acknowledgement ends the gap, it lasts
    /// until the last attempt or until `load_ended`, the end of the load, whichever is later. A client that cannot log
    /// in makes no attempts. A fault without an earlier acknowledgement has no outage.
    pub fn outages(&self, faults: &[FaultEvent], load_ended: Nanos) -> Vec<WriteOutage> {
        let end = self.end_of_load(load_ended);
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
