//! Recent seconds of a stop rule: consecutive bad seconds, and a sliding window

use super::TriggerSecond;
use model::Tick;
use std::collections::VecDeque;

/// Counter of consecutive bad seconds. A good second resets the counter.
#[derive(Debug)]
pub struct Consecutive {
    needed: u64,
    bad: u64,
    cause: Option<TriggerSecond>,
}

impl Consecutive {
    pub fn new(needed: u64) -> Consecutive {
        Consecutive { needed, bad: 0, cause: None }
    }

    /// Reads the next second. Returns the first of the consecutive bad seconds once there are enough of them.
    pub fn tick(&mut self, tick: &Tick, bad: bool) -> Option<TriggerSecond> {
        if !bad {
            (self.bad, self.cause) = (0, None);
            return None;
        }
        self.bad += 1;
        let cause = *self.cause.get_or_insert(TriggerSecond::from_tick(tick));
        (self.bad >= self.needed).then_some(cause)
    }
}

/// Sliding window of seconds with one value each.
#[derive(Debug)]
pub struct SlidingWindow<T> {
    size: u64,
    seconds: VecDeque<(TriggerSecond, T)>,
}

impl<T> SlidingWindow<T> {
    pub fn new(size: u64) -> SlidingWindow<T> {
        SlidingWindow { size, seconds: VecDeque::new() }
    }

    pub fn push(&mut self, tick: &Tick, brought: T) {
        self.seconds.push_back((TriggerSecond::from_tick(tick), brought));
        if self.seconds.len() as u64 > self.size {
            self.seconds.pop_front();
        }
    }

    /// Values of the window's seconds; empty until the window is full.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        let full = self.seconds.len() as u64 >= self.size;
        self.seconds.iter().filter(move |_| full).map(|(_, it)| it)
    }

    /// First second of the window.
    pub fn cause(&self) -> Option<TriggerSecond> {
        self.seconds.front().map(|(cause, _)| *cause)
    }
}
