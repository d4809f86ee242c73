//! Does a session that reads all replicas in turn see something older than it has seen before?

use super::seat::{Seat, TABLE};
use super::{Counter, Number};
use crate::roles::Direct;
use model::freshness::Reads;
use std::sync::mpsc::Receiver;

/// One session, as a client has it whose every question goes to another replica.
pub(super) struct Turns {
    seats: Vec<Seat>,
    first: usize,
    /// What this session has seen of numbers.
    highest: Option<u64>,
    reads: Counter,
}

impl Turns {
    pub fn new(servers: &[Direct]) -> Turns {
        let seats = servers.iter().cloned().map(Seat::new).collect();
        Turns { seats, first: 0, highest: None, reads: Counter::default() }
    }

    /// With every number, at once after its acknowledgement: one read of each replica, another one first each time.
    pub fn run(mut self, numbers: &Receiver<Number>) -> Reads {
        self.seats.iter_mut().for_each(Seat::begin);
        while let Ok(number) = numbers.recv() {
            self.round(number);
        }
        self.reads.reads
    }

    fn round(&mut self, number: Number) {
        if !number.on_time() {
            return;
        }
        let (first, count) = (self.first, self.seats.len());
        for at in (0..count).map(|it| (first + it) % count).filter(|it| *it != number.on) {
            let Some(shown) = self.seats[at].ask(&format!("select max(number) from {TABLE}")) else {
                continue;
            };
            if shown.in_recovery {
                self.saw(shown.value.and_then(|it| it.parse().ok()).unwrap_or(0));
            }
        }
        self.first = (first + 1) % count;
    }

    /// The first read of all has nothing before it.
    pub(super) fn saw(&mut self, value: u64) {
        if let Some(highest) = self.highest {
            self.reads.count(value < highest);
        }
        self.highest = self.highest.max(Some(value));
    }

    #[cfg(test)]
    pub(super) fn reads(&self) -> Reads {
        self.reads.reads
    }
}
