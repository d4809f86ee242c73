//! Times of successes, and the outages between them

use model::Nanos;
use model::durability::{AccessKind, ClientKind, ClientOutage, FaultEvent};
use std::collections::BTreeMap;

/// Times of the first and last success in each 10 ms interval. Every gap of at least 10 ms is therefore exact, even if
/// successes arrive out of order.
#[derive(Debug, Default)]
pub(super) struct SuccessTimes {
    slots: BTreeMap<u64, (Nanos, Nanos)>,
    /// Interval of the latest success. It is not in `slots`, because consecutive successes are mostly in the same interval.
    current: Option<(u64, (Nanos, Nanos))>,
}

const SLOT: u64 = 10_000_000;

impl SuccessTimes {
    /// Adds a success. Successes may arrive in any order.
    pub fn add(&mut self, at: Nanos) {
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

    /// Stores the current interval. Callers must call this before they read the times.
    pub fn flush(&mut self) {
        if let Some((number, (first, last))) = self.current.take() {
            let slot = self.slots.entry(number).or_insert((first, last));
            *slot = (slot.0.min(first), slot.1.max(last));
        }
    }

    pub fn last(&self) -> Option<Nanos> {
        self.slots.last_key_value().map(|(_, it)| it.1)
    }

    /// Longest gap without a success for each fault. The gap contains the fault, or lies between it and the next fault.
    /// A gap that contains several faults belongs to each of them. If no success ends the gap, it lasts until `end`, the
    /// end of the load. If there is no success before the fault, the gap begins with the fault. Without any success, there is
    /// no outage, because such clients may not have been measured.
    pub fn outages(&self, faults: &[FaultEvent], end: Nanos, client: ClientKind) -> Vec<ClientOutage> {
        let between = || self.slots.values().zip(self.slots.values().skip(1)).map(|(a, b)| (a.1, b.0, false));
        let first_fault = faults.first().map_or(Nanos::ZERO, |it| it.at);
        let before = between().take_while(|it| it.1 <= first_fault).map(|it| it.1 - it.0);
        let usual = before.max().unwrap_or_default();
        let outage = |(number, fault): (usize, &FaultEvent)| {
            let next = faults.get(number + 1).map_or(Nanos::MAX, |it| it.at);
            let last = self.slots.values().next_back().map(|it| (it.1, end.max(it.1), true));
            let late = self.slots.values().next().filter(|it| it.0 > fault.at);
            let begun = late.map(|it| (fault.at, it.0, false));
            let is_its = |&(a, b, _): &(Nanos, Nanos, bool)| b > fault.at && (b <= next || a <= fault.at);
            let (from, to, ongoing) =
                begun.into_iter().chain(between()).chain(last).filter(is_its).max_by_key(|it| it.1 - it.0)?;
            Some(ClientOutage { fault: number, client, access: AccessKind::Write, from, to, usual, ongoing })
        };
        faults.iter().enumerate().filter_map(outage).collect()
    }
}

/// Outages of readers, from the times of their successful reads in any order.
pub fn read_outages(
    reads: impl IntoIterator<Item = Nanos>,
    faults: &[FaultEvent],
    load_ended: Nanos,
    client: ClientKind,
) -> Vec<ClientOutage> {
    let mut times = SuccessTimes::default();
    reads.into_iter().for_each(|at| times.add(at));
    times.flush();
    let outages = times.outages(faults, load_ended, client);
    outages.into_iter().map(|it| ClientOutage { access: AccessKind::Read, ..it }).collect()
}
