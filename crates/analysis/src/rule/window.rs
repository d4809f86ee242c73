//! What is remembered of the seconds before?

use super::TriggerSecond;
use model::Tick;
use std::collections::VecDeque;

/// Consecutive bad seconds: a good one forgets them.
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

    /// The first of the bad seconds, once they are enough.
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

/// The last so many seconds, and what each brought.
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

    /// What each second brought; empty until there are as many as wanted.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        let full = self.seconds.len() as u64 >= self.size;
        self.seconds.iter().filter(move |_| full).map(|(_, it)| it)
    }

    /// The first second of the window.
    pub fn cause(&self) -> Option<TriggerSecond> {
        self.seconds.front().map(|(cause, _)| *cause)
    }
}
