//! Users of the closed model: joining, pacing, rate cap and leaving

use super::Shard;
use super::arrivals::{DueArrival, StartCause};
use super::client::ClientState;
use crate::recorder::Recorder;
use crate::schedule::{RateCap, UserEvent, remaining_think_duration, user_events};
use model::plan::ThinkTime;
use model::{Nanos, Schedule};
use std::collections::VecDeque;

/// Users of one thread. With T threads, user n is client n / T of thread n mod T, so that the users are always
/// distributed evenly over the threads.
#[derive(Debug)]
pub(super) struct ActiveUsers {
    /// Events of this thread's users, by client number within the thread.
    events: Box<[UserEvent]>,
    /// Number of events that were already processed.
    processed: usize,
    pub pacing: Nanos,
    cap: Option<RateCap>,
    /// Clients that wait for the rate cap, in their order.
    ready: VecDeque<u32>,
    /// Number of users who are present at the beginning.
    initial: u32,
    /// True if no thread has a client at the beginning.
    pub starts_empty: bool,
}

impl ActiveUsers {
    /// Creates the users of thread `part.0` of `part.1` threads; the thread has `clients` clients.
    ///
    /// Unless the schedule defines stages, all users are present during the whole run.
    pub fn new(schedule: &Schedule, clients: u32, part: (u16, u16)) -> ActiveUsers {
        let mut active = ActiveUsers {
            events: [].into(),
            processed: 0,
            pacing: Nanos::ZERO,
            cap: None,
            ready: VecDeque::new(),
            initial: clients,
            starts_empty: false,
        };
        active.starts_empty = matches!(schedule, Schedule::Recorded { .. });
        if let Schedule::Users(users) = schedule {
            let (k, threads) = (u32::from(part.0), u32::from(part.1));
            let all = user_events(&users.stages);
            active.starts_empty = all.first().is_none_or(|it| it.at > Nanos::ZERO);
            let thread_events = all.into_iter().filter(|it| it.user % threads == k);
            active.events = thread_events.map(|it| UserEvent { user: it.user / threads, ..it }).collect();
            assert!(active.events.iter().all(|it| it.user < clients), "there is a client for every user");
            active.processed = active.events.iter().take_while(|it| it.at == Nanos::ZERO && it.joins).count();
            active.initial = active.processed as u32;
            active.pacing = users.pacing.unwrap_or(Nanos::ZERO);
            active.cap = users.rate_max.map(|it| RateCap::new(it, part));
            active.ready.reserve(clients as usize);
        }
        active
    }

    pub fn is_initial(&self, i: u32) -> bool {
        i < self.initial
    }
}

impl<R: Recorder> Shard<R> {
    /// Processes the users who join or leave by `now`.
    #[inline]
    pub(super) fn process_user_events(&mut self, now: Nanos) {
        while let Some(event) = self.users.events.get(self.users.processed).copied() {
            if self.window_start + event.at > now || self.window_over {
                break;
            }
            self.users.processed += 1;
            let sessions = self.has_sessions();
            let client = &mut self.clients[event.user as usize];
            client.leaving = !event.joins;
            match client.state {
                ClientState::Absent if event.joins && sessions => {
                    client.state = ClientState::Offline;
                    self.connect_queue.push_back(event.user);
                }
                ClientState::Absent if event.joins => {
                    client.state = ClientState::Idle;
                    self.runnable.push_back(event.user);
                }
                ClientState::Idle | ClientState::Thinking | ClientState::Offline if !event.joins => {
                    self.user_left(event.user);
                }
                ClientState::Connecting | ClientState::LoggingIn if !event.joins && client.tx.is_none() => {
                    self.user_left(event.user);
                }
                _ => {}
            }
        }
    }

    /// Time of the next event: a user joins, leaves, or may start a transaction under the rate cap.
    pub(super) fn next_user_event(&self) -> Nanos {
        let event = self.users.events.get(self.users.processed).filter(|_| !self.window_over);
        let next_event = event.map_or(Nanos::MAX, |it| self.window_start + it.at);
        match &self.users.cap {
            Some(cap) if !self.users.ready.is_empty() => next_event.min(self.window_start + cap.next_start()),
            _ => next_event,
        }
    }

    /// Makes client `i` leave after its transaction. The user may join again.
    pub(super) fn user_left(&mut self, i: u32) {
        self.close_connections(i);
        self.clear_cookies(i);
        let client = &mut self.clients[i as usize];
        client.state = ClientState::Absent;
        client.has_started = !self.work.plan.program.has_on_start;
        client.session.refusals = 0;
        client.backing_off = false;
    }

    /// Delays the first transactions of the users who are present at the beginning, by the rest of a pause that began before
    /// the window. Otherwise they would all begin at the same time.
    pub(super) fn delay_first_transactions(&mut self) {
        let think = match &self.work.plan.schedule {
            Schedule::Closed { think } => &ThinkTime::Constant(*think),
            Schedule::Users(users) => &users.think,
            _ => return,
        };
        for client in self.clients.iter_mut().take(self.users.initial as usize) {
            let pause = remaining_think_duration(think, &mut client.rng);
            let pacing = remaining_think_duration(&ThinkTime::Constant(self.users.pacing), &mut client.rng);
            client.earliest_start = self.window_start + pause.max(pacing);
        }
    }

    /// Begins a transaction of the ready client `i`, or delays it because of pacing or the rate cap.
    pub(super) fn start_when_allowed(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        let earliest = client.earliest_start;
        if now < earliest {
            client.state = ClientState::Thinking;
            return self.wake_at(earliest, i);
        }
        let window_start = self.window_start;
        if let Some(cap) = &mut self.users.cap
            && (!self.users.ready.is_empty() || !cap.try_take(now - window_start))
        {
            if !client.queued {
                client.queued = true;
                self.users.ready.push_back(i);
            }
            return;
        }
        self.start(now, i);
    }

    /// Begins one transaction that the rate cap delayed. Each call begins only one transaction, so that the time is
    /// current for each transaction.
    #[inline]
    pub(super) fn start_capped(&mut self, now: Nanos) {
        let window_start = self.window_start;
        while let Some(&i) = self.users.ready.front() {
            let client = &mut self.clients[i as usize];
            let waits = client.state == ClientState::Idle;
            if waits && !self.users.cap.as_mut().is_some_and(|it| it.try_take(now - window_start)) {
                return;
            }
            self.users.ready.pop_front();
            client.queued = false;
            if waits {
                return self.start(now, i);
            }
        }
    }

    /// Begins a transaction of client `i` of the closed model.
    fn start(&mut self, now: Nanos, i: u32) {
        if !self.begin_transaction(
            now,
            i,
            DueArrival { at: now, script: None, row: None },
            StartCause::ClientReady,
        ) {
            self.finish_client(i);
        }
    }
}
