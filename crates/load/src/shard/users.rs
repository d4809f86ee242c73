//! When do users come, take their turn and leave?

use super::client::State;
use super::run::Cause;
use super::{Due, Shard};
use crate::recorder::Recorder;
use crate::schedule::{Cap, Turn, turns};
use model::{Nanos, Schedule};
use std::collections::VecDeque;

/// One thread's users: user n of all is client n / T of thread n mod T, so that each thread has its share at any time.
#[derive(Debug)]
pub(super) struct Crowd {
    /// Clients of this thread, by the number that they have here.
    turns: Box<[Turn]>,
    /// Those that are behind.
    done: usize,
    pacing: Nanos,
    cap: Option<Cap>,
    /// Clients that wait for the cap, in their order.
    ready: VecDeque<u32>,
    /// How many are there from the beginning.
    first: u32,
    /// In no thread is anybody there from the beginning.
    pub comes_later: bool,
}

impl Crowd {
    /// Of thread `part.0` of `part.1`, which has so many clients; there from begin to end unless the schedule says more.
    pub fn new(schedule: &Schedule, clients: u32, part: (u16, u16)) -> Crowd {
        let mut crowd = Crowd {
            turns: [].into(),
            done: 0,
            pacing: Nanos::ZERO,
            cap: None,
            ready: VecDeque::new(),
            first: clients,
            comes_later: false,
        };
        if let Schedule::Users(users) = schedule {
            let (k, threads) = (u32::from(part.0), u32::from(part.1));
            let all = turns(&users.stages);
            crowd.comes_later = all.first().is_none_or(|it| it.at > Nanos::ZERO);
            let own = all.into_iter().filter(|it| it.user % threads == k);
            crowd.turns = own.map(|it| Turn { user: it.user / threads, ..it }).collect();
            assert!(crowd.turns.iter().all(|it| it.user < clients), "there is a client for every user");
            crowd.done = crowd.turns.iter().take_while(|it| it.at == Nanos::ZERO && it.comes).count();
            crowd.first = crowd.done as u32;
            crowd.pacing = users.pacing.unwrap_or(Nanos::ZERO);
            crowd.cap = users.rate_max.map(|it| Cap::new(it, part));
            crowd.ready.reserve(clients as usize);
        }
        crowd
    }

    pub fn begins_with(&self, i: u32) -> bool {
        i < self.first
    }
}

impl<R: Recorder> Shard<R> {
    /// Those who come or leave by `now` do.
    #[inline]
    pub(super) fn turn(&mut self, now: Nanos) {
        while let Some(turn) = self.crowd.turns.get(self.crowd.done).copied() {
            if self.begins + turn.at > now || self.past_end {
                break;
            }
            self.crowd.done += 1;
            let sessions = self.has_sessions();
            let client = &mut self.clients[turn.user as usize];
            client.leaving = !turn.comes;
            match client.state {
                State::Absent if turn.comes && sessions => {
                    client.state = State::Offline;
                    self.offline.push_back(turn.user);
                }
                State::Absent if turn.comes => {
                    client.state = State::Idle;
                    self.runnable.push_back(turn.user);
                }
                State::Idle | State::Thinking | State::Offline if !turn.comes => self.depart(turn.user),
                State::Connecting | State::LoggingIn if !turn.comes && client.tx.is_none() => {
                    self.depart(turn.user);
                }
                _ => {}
            }
        }
    }

    /// The next moment at which somebody comes, leaves or gets his turn.
    pub(super) fn next_turn(&self) -> Nanos {
        let turn = self.crowd.turns.get(self.crowd.done).filter(|_| !self.past_end);
        let turn = turn.map_or(Nanos::MAX, |it| self.begins + it.at);
        match &self.crowd.cap {
            Some(cap) if !self.crowd.ready.is_empty() => turn.min(self.begins + cap.next()),
            _ => turn,
        }
    }

    /// Client `i` leaves, its transaction over, and may come again.
    pub(super) fn depart(&mut self, i: u32) {
        self.hang_up(i);
        self.forget_cookies(i);
        let client = &mut self.clients[i as usize];
        client.state = State::Absent;
        client.session.refusals = 0;
        client.barred = false;
    }

    /// Client `i` of the closed model is ready: it begins, or waits for its pace or its turn.
    pub(super) fn start_when_allowed(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        let paced = client.began + self.crowd.pacing;
        if client.begun > 0 && now < paced {
            client.state = State::Thinking;
            return self.wake_at(paced, i);
        }
        let begins = self.begins;
        if let Some(cap) = &mut self.crowd.cap
            && (!self.crowd.ready.is_empty() || !cap.take(now - begins))
        {
            if !client.listed {
                client.listed = true;
                self.crowd.ready.push_back(i);
            }
            return;
        }
        self.start(now, i);
    }

    /// Begins what has waited for its turn: one at each call, so that the next is sent by a fresh clock.
    #[inline]
    pub(super) fn release(&mut self, now: Nanos) {
        let begins = self.begins;
        while let Some(&i) = self.crowd.ready.front() {
            let client = &mut self.clients[i as usize];
            let waits = client.state == State::Idle;
            if waits && !self.crowd.cap.as_mut().is_some_and(|it| it.take(now - begins)) {
                return;
            }
            self.crowd.ready.pop_front();
            client.listed = false;
            if waits {
                return self.start(now, i);
            }
        }
    }

    /// A client of the closed model begins.
    fn start(&mut self, now: Nanos, i: u32) {
        if !self.begin_transaction(now, i, Due { at: now, script: None }, Cause::Ready) {
            self.finish_client(i);
        }
    }
}
