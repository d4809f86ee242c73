//! What happens in one thread's world, and what is to be done next?
//!
//! Sans I/O: after any input, [`Shard::poll`] is drained until `Wait` or `Done`. After the window has begun nothing here
//! allocates, locks, formats or reads a clock, as long as transactions succeed.

mod client;
mod connect;
mod door;
mod dropped;
mod ending;
mod follow;
mod poll;
mod reply;
mod run;
mod said;
mod users;
mod web;

use crate::random::Prng;
use crate::recorder::Recorder;
use crate::schedule::Streams;
use crate::script::{Finder, Variables};
use crate::workload::{Initial, Workload};
use client::{Client, Session, State};
use door::session;
use ending::Cancel;
use model::{ClientId, Code, Nanos, Outcome, ScriptId};
use run::Cause;
pub use said::{Abort, Said};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use users::Crowd;
use web::Web;

/// A connection of this shard: first each client's session with PostgreSQL, in the order of the clients; where there are two
/// doors to it, the same of the second; then each client's connections to the HTTP services; then for each client one that
/// cancels its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId(pub u32);

/// What a driver is to do.
#[derive(Debug)]
pub enum Action<'a> {
    /// Open a transport to the connection's target, then call `connected` or `broken`.
    Connect(ConnId),
    /// Send these bytes, telling `sent` how many left; if not all did, call `writable` when more can.
    Transmit(ConnId, &'a [u8]),
    /// Tell the other side that nothing more will be sent, after what was; what it sends is still received.
    Finish(ConnId),
    /// Close the transport; nothing is awaited.
    Close(ConnId),
    /// Have the system notice within seconds if the other side is gone, though nothing is sent.
    Probe(ConnId),
    /// Run this command line, then call `shell_done`. Blocks the thread, as it does in pgbench. Its output is to be handed
    /// back if `keep`, else it goes where ours goes.
    Shell {
        conn: ConnId,
        line: String,
        keep: bool,
    },
    Say(Said),
    /// Nothing to do before this moment or an input; a moment in the past asks to `advance` at once.
    Wait(Nanos),
    /// All transactions are over and all connections closed.
    Done,
}

/// Arrivals taken in one round, so that a generator that is far behind its schedule still hears signals.
const ARRIVALS_MAX: u32 = 1024;

/// A transaction that is to begin.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Nanos,
    /// `None`: drawn by weight.
    script: Option<ScriptId>,
}

/// One thread's clients and connections.
#[derive(Debug)]
pub struct Shard<R> {
    work: Arc<Workload>,
    pub recorder: R,
    clients: Vec<Client>,
    /// By client, where PostgreSQL has two doors: the session that it does not speak in.
    parked: Vec<Session>,
    /// By client, then service.
    webs: Vec<Web>,
    /// By client, where scripts speak SQL.
    cancels: Vec<Cancel>,
    /// Sessions that are being ended, and whether one that does not end was reported.
    endings: u32,
    told_of_ending: bool,
    /// Number of the first client among those of all threads.
    first: u32,
    arrivals: Option<Streams>,
    /// Who comes and leaves when, in the closed model.
    crowd: Crowd,
    /// Arrivals still to come, where the plan bounds their number.
    arrivals_left: u64,
    idle: Vec<u32>,
    backlog: VecDeque<Due>,
    backlog_max: usize,
    /// Clients that can go on at once; one at each `advance`, so that each has a fresh clock.
    runnable: VecDeque<u32>,
    timers: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Connections.
    todo: VecDeque<u32>,
    said: VecDeque<Said>,
    /// Codes that were told already.
    told: Vec<Code>,
    /// By regular expression of the workload.
    finders: Vec<Finder>,

    /// Clients that wait for a place among `connecting_max`.
    offline: VecDeque<u32>,
    /// The same, of `webs`.
    waiting: VecDeque<u32>,
    connecting: u32,
    connecting_max: u32,
    /// Somebody was refused as if nobody listened, and nobody was let in since.
    shut: bool,
    /// When log-ins and transactions are next looked over for those that take too long.
    sweep: Nanos,
    /// The shortest time after which something under way is given up.
    patience: Nanos,
    unsettled: u32,

    choices: Prng,
    other: Prng,
    begins: Nanos,
    ends: Nanos,
    gives_up: Nanos,
    begun: bool,
    past_end: bool,
    /// A feed has no row left.
    exhausted: bool,
    /// Nothing more will begin, and who was idle has been ended.
    wound_up: bool,
    wound_up_at: Nanos,
    /// The drain is over.
    gave_up: bool,
    /// What is under way was cancelled before the drain was over.
    abandoned: bool,
    closed: bool,
    /// Clients that are neither finished nor aborted.
    active: u32,
    /// By script: did it ever succeed here?
    succeeded: Box<[bool]>,
}

impl<R: Recorder> Shard<R> {
    /// The world of thread `k`. Everything it will need is allocated here.
    pub fn new(work: Arc<Workload>, k: u16, recorder: R) -> Shard<R> {
        let plan = work.plan();
        let (first, count) = work.deal(k);
        let arrivals = Streams::new(&plan.schedule, plan.seeds.arrivals, (k, plan.threads));
        let crowd = Crowd::new(&plan.schedule, count, (k, plan.threads));
        let mut other = Prng::seeded(plan.seeds.other ^ u64::from(k) << 32);
        let clients: Vec<Client> = (0..count).map(|i| client(&work, first + i, &mut other)).collect();
        let webs: Vec<Web> =
            (0..count).flat_map(|i| work.services.iter().map(move |it| Web::of(i, it))).collect();
        let parked: Vec<Session> = match work.replicas {
            Some(_) => (0..count).map(|i| session(&work, 1, first + i, &mut other)).collect(),
            None => Vec::new(),
        };
        let cancelling = if work.postgres.is_some() { count } else { 0 };
        let cancels: Vec<Cancel> = (0..cancelling).map(|_| Cancel::default()).collect();
        let connections = clients.len() + parked.len() + webs.len() + cancels.len();
        let share = |all: u32| all.div_ceil(u32::from(plan.threads));
        let backlog_max = share(plan.backlog_max) as usize;
        let queue = || VecDeque::with_capacity(count as usize);
        let mut shard = Shard {
            first,
            arrivals_left: plan.transactions.map_or(u64::MAX, |it| it * u64::from(count)),
            idle: Vec::with_capacity(count as usize),
            backlog: VecDeque::with_capacity(if arrivals.is_some() { backlog_max } else { 0 }),
            backlog_max,
            runnable: queue(),
            timers: BinaryHeap::with_capacity(2 * count as usize),
            todo: VecDeque::with_capacity(2 * connections + 8),
            said: VecDeque::with_capacity(16),
            told: Vec::with_capacity(32),
            shut: false,
            finders: work.finders(),
            offline: queue(),
            waiting: VecDeque::with_capacity(webs.len()),
            connecting: 0,
            connecting_max: share(plan.connecting_max),
            sweep: Nanos::ZERO,
            patience: work.patience(),
            unsettled: count,
            choices: plan.seeds.choices[k as usize],
            other,
            begins: Nanos::MAX,
            ends: Nanos::MAX,
            gives_up: Nanos::MAX,
            begun: false,
            past_end: false,
            exhausted: false,
            wound_up: false,
            wound_up_at: Nanos::ZERO,
            gave_up: false,
            abandoned: false,
            closed: arrivals.is_none(),
            active: count,
            succeeded: vec![false; plan.program.scripts.len()].into(),
            arrivals,
            crowd,
            clients,
            parked,
            webs,
            cancels,
            endings: 0,
            told_of_ending: false,
            recorder,
            work,
        };
        for i in 0..count {
            if !shard.crowd.begins_with(i) {
                shard.clients[i as usize].state = State::Absent;
                shard.settle(i);
            } else if shard.has_sessions() {
                shard.offline.push_back(i);
            } else {
                shard.clients[i as usize].state = State::Idle;
                shard.settle(i);
            }
        }
        shard
    }

    /// All clients have been connected or refused: the window may begin.
    pub fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// Connections that can be open at the same time: for each client a session by each door, one to each service
    /// and one that cancels.
    pub fn connections(&self) -> u32 {
        (self.sessions() + self.webs.len() + self.cancels.len()) as u32
    }

    /// Clients with an open session, or that need none; where nobody is there from the beginning, all who will come.
    pub fn connected_clients(&self) -> u32 {
        let needed = self.work.postgres.is_some();
        let is_ready = |state| state == State::Idle || (state == State::Absent && self.crowd.comes_later);
        let counts =
            |it: &&Client| is_ready(it.state) && (it.session.linked || !needed || it.state == State::Absent);
        self.clients.iter().filter(counts).count() as u32
    }

    /// Clients that gave up.
    pub fn aborted_clients(&self) -> u32 {
        self.clients.iter().filter(|it| it.state == State::Aborted || it.aborts).count() as u32
    }

    /// Sets the moment at which the window begins.
    pub fn begin(&mut self, at: Nanos) {
        let plan = &self.work.plan;
        self.begins = at;
        self.ends = [plan.duration, plan.schedule.lasting()]
            .into_iter()
            .flatten()
            .min()
            .map_or(Nanos::MAX, |it| at + it);
        self.gives_up = self.ends + plan.drain;
    }

    /// End of the window; [`Nanos::MAX`] while it depends on what the clients do.
    pub fn ends(&self) -> Nanos {
        self.ends
    }

    /// The window ends `now`; what is under way gets as long as the plan's drain.
    pub fn stop(&mut self, now: Nanos) {
        if !self.begun {
            self.begins = now;
        }
        self.ends = self.ends.min(now);
        self.gives_up = self.ends + self.work.plan.drain;
    }

    /// The window ends `now`, and what is under way is cancelled.
    pub fn abandon(&mut self, now: Nanos) {
        if !self.abandoned {
            self.stop(now);
            self.gives_up = now;
            self.abandoned = true;
        }
    }

    /// Time has come to `now`.
    pub fn advance(&mut self, now: Nanos) {
        if !self.begun && now >= self.begins {
            self.enter();
        }
        if self.begun {
            // Who leaves at a moment begins nothing at it.
            self.turn(now);
        }
        while let Some(&Reverse((at, i))) = self.timers.peek() {
            if at > now {
                break;
            }
            self.timers.pop();
            self.alarm(now, i);
        }
        self.past_end |= now >= self.ends;
        if self.begun {
            self.wind_up(now);
        }
        self.connect_more(now);
        if let Some(i) = self.runnable.pop_front() {
            self.go_on(now, i);
        } else if self.has_rest() {
            self.drop_rest(now);
        } else if self.begun {
            self.arrive(now);
            self.release(now);
        }
    }

    fn next_moment(&self) -> Nanos {
        if !self.runnable.is_empty() || self.has_rest() {
            return Nanos::ZERO;
        }
        let timer = self.timers.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
        let sweep = if self.sweeps() { self.sweep } else { Nanos::MAX };
        let rest = if !self.begun {
            self.begins
        } else {
            let arrival = self.next_arrival().map_or(Nanos::MAX, |it| it.at);
            let end = match (self.past_end, self.gave_up) {
                (false, _) => self.ends,
                (true, false) => self.gives_up,
                (true, true) => Nanos::MAX,
            };
            arrival.min(self.next_turn()).min(end)
        };
        timer.min(sweep).min(rest)
    }

    /// The window begins.
    fn enter(&mut self) {
        self.begun = true;
        if self.closed {
            for i in 0..self.clients.len() as u32 {
                if self.clients[i as usize].state == State::Idle {
                    self.runnable.push_back(i);
                }
            }
        } else {
            for i in 0..self.clients.len() as u32 {
                self.list(i);
            }
        }
    }

    fn next_arrival(&self) -> Option<Due> {
        let arrivals = self.arrivals.as_ref().filter(|_| self.arrivals_left > 0)?;
        let due = arrivals.peek().map(|(at, script)| Due { at: self.begins + at, script });
        due.filter(|it| it.at < self.ends)
    }

    /// Gives arrivals that are due to idle clients: one at each call, so that the next is sent by a fresh clock; those that
    /// find no idle client go to the backlog, at most [`ARRIVALS_MAX`] of them at each call.
    #[inline]
    fn arrive(&mut self, now: Nanos) {
        for _ in 0..ARRIVALS_MAX {
            let Some(due) = self.next_arrival().filter(|it| it.at <= now) else { return };
            self.take_arrival();
            if self.is_too_late(now, due.at) {
                self.drop_arrival(now, due);
            } else if let Some(i) = self.take_idle() {
                if self.begin_transaction(now, i, due, Cause::Due) {
                    return;
                }
                self.list(i);
            } else if self.backlog.len() < self.backlog_max {
                self.backlog.push_back(due);
            } else {
                self.drop_arrival(now, due);
            }
        }
    }

    fn take_arrival(&mut self) {
        self.arrivals.as_mut().expect("there is a next").pop();
        self.arrivals_left -= 1;
    }

    /// The script of a transaction that is about to begin; drawn once for each.
    #[inline]
    fn script_of(&mut self, due: Due) -> ScriptId {
        due.script.unwrap_or_else(|| ScriptId(self.work.choose(&mut self.choices)))
    }

    /// A client is free: the next transaction, if there is one, is its.
    fn become_idle(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = State::Idle;
        if !self.begun {
            return;
        }
        if self.clients[i as usize].leaving {
            return self.depart(i);
        }
        if self.closed {
            let plan = &self.work.plan;
            let done = plan.transactions.is_some_and(|it| self.clients[i as usize].begun >= it);
            if done || now >= self.ends {
                return self.finish_client(i);
            }
            return self.start_when_allowed(now, i);
        }
        while let Some(due) = self.backlog.pop_front() {
            if self.is_too_late(now, due.at) {
                self.drop_arrival(now, due);
            } else if self.begin_transaction(now, i, due, Cause::Waited) {
                return;
            }
        }
        if now >= self.ends || self.arrivals_left == 0 { self.finish_client(i) } else { self.list(i) }
    }

    fn list(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        if client.state == State::Idle && !client.listed {
            client.listed = true;
            self.idle.push(i);
        }
    }

    /// The client that became idle last, as connection pools choose: few sessions, warm ones, carry a small load. Taking
    /// each in turn would wake every session of the server for it, and cost it its caches.
    fn take_idle(&mut self) -> Option<u32> {
        while let Some(i) = self.idle.pop() {
            let client = &mut self.clients[i as usize];
            client.listed = false;
            if client.state == State::Idle {
                return Some(i);
            }
        }
        None
    }

    /// Once nothing more will begin, idle clients are ended; after the drain, all.
    fn wind_up(&mut self, now: Nanos) {
        let last = self.past_end || self.arrivals_left == 0;
        if last
            && !self.wound_up
            && self.backlog.is_empty()
            && self.next_arrival().is_none_or(|it| it.at > now)
        {
            self.wound_up = true;
            self.wound_up_at = now;
            for i in 0..self.clients.len() as u32 {
                let state = self.clients[i as usize].state;
                let waits = matches!(state, State::Idle | State::Thinking | State::Offline | State::Absent);
                let logs_in = matches!(state, State::Connecting | State::LoggingIn);
                if waits && self.is_ending(i) {
                    self.await_end(i);
                } else if waits || (logs_in && self.clients[i as usize].tx.is_none()) {
                    self.finish_client(i);
                }
            }
        }
        if now >= self.gives_up {
            self.gave_up = true;
            while let Some(due) = self.backlog.pop_front() {
                self.drop_arrival(now, due);
            }
            // What the schedule still had when the generator was behind.
            while let Some(due) = self.next_arrival() {
                self.take_arrival();
                self.drop_arrival(now, due);
            }
            for i in 0..self.clients.len() as u32 {
                let client = &self.clients[i as usize];
                if client.is_over() {
                    continue;
                }
                let ends = client.state == State::Ending
                    || (!self.is_in_ledger(i) && self.end_session(now, i, false));
                self.end_transaction(now, i, Outcome::Unknown(Code::TIMED_OUT));
                if ends {
                    self.hang_up_webs(i, true);
                    self.await_end(i);
                } else {
                    self.finish_client(i);
                }
            }
        }
    }

    /// A moment that client `i` waited for has come.
    fn alarm(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        if now < client.wakes {
            return;
        }
        client.barred = false;
        match self.clients[i as usize].state {
            State::Offline => self.offline.push_back(i),
            State::Thinking => self.become_idle(now, i),
            State::Sleeping => {
                self.clients[i as usize].state = State::Asking;
                self.command_done(now, i);
            }
            _ => {}
        }
    }

    fn wake_at(&mut self, at: Nanos, i: u32) {
        self.clients[i as usize].wakes = at;
        self.timers.push(Reverse((at, i)));
    }

    /// Of a session.
    #[inline]
    fn demand(&mut self, conn: ConnId, what: u8) {
        let session = self.session(conn);
        let first = session.todo == 0;
        session.todo |= what;
        if first {
            self.todo.push_back(conn.0);
        }
    }

    /// Clients have a session with PostgreSQL from one transaction to the next.
    fn has_sessions(&self) -> bool {
        self.work.postgres.is_some() && !self.work.plan.reconnect
    }

    fn id(&self, i: u32) -> ClientId {
        ClientId(self.first + i)
    }
}

fn client(work: &Workload, number: u32, other: &mut Prng) -> Client {
    let plan = work.plan();
    let mut variables = Variables::new(plan.program.names.len());
    for &(slot, room) in &work.fields {
        variables.reserve(slot, room);
    }
    for (slot, initial) in &plan.seeds.variables {
        match initial {
            Initial::Text(text) => variables.set_text(*slot, text.as_bytes()),
            Initial::Int(it) => variables.set(*slot, crate::script::Value::Int(*it)),
            Initial::Client => variables.set(*slot, crate::script::Value::Int(i64::from(number))),
        }
    }
    Client {
        session: session(work, 0, number, other),
        door: 0,
        state: State::Offline,
        listed: false,
        settled: false,
        barred: false,
        words: None,
        shell_line: String::new(),
        variables,
        rng: plan.seeds.clients[number as usize],
        sequence: 0,
        begun: 0,
        began: Nanos::ZERO,
        leaving: false,
        aborts: false,
        wakes: Nanos::ZERO,
        tx: None,
        columns: Vec::new(),
        rows: 0,
        last_rows: 0,
    }
}
