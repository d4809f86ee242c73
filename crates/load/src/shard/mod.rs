//! What happens in one thread's world, and what is to be done next?
//!
//! Sans I/O: after any input, [`Shard::poll`] is drained until `Wait` or `Done`. After the window has begun nothing here
//! allocates, locks, formats or reads a clock, as long as transactions succeed.

mod client;
mod connect;
mod dropped;
mod endpoint;
mod event;
mod http_connection;
mod poll;
mod redirect;
mod reply;
mod run;
mod shutdown;
mod users;

use crate::random::Prng;
use crate::recorder::Recorder;
use crate::schedule::Streams;
use crate::script::{PatternMatcher, Variables};
use crate::workload::{InitialValue, Workload};
use client::{Client, ClientState, Session};
use endpoint::new_session;
pub use event::{AbortReason, LoadEvent};
use http_connection::HttpConnection;
use model::{ClientId, Code, Nanos, Outcome, ScriptId};
use run::StartCause;
use shutdown::CancelConnection;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use users::ActiveUsers;

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
    Report(LoadEvent),
    /// Nothing to do before this moment or an input; a moment in the past asks to `advance` at once.
    Wait(Nanos),
    /// All transactions are over and all connections closed.
    Done,
}

/// Arrivals taken in one round, so that a generator that is far behind its schedule still hears signals.
const ARRIVALS_PER_ROUND: u32 = 1024;

/// A transaction that is to begin.
#[derive(Clone, Copy, Debug)]
struct DueArrival {
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
    http_connections: Vec<HttpConnection>,
    /// By client, where scripts speak SQL.
    cancels: Vec<CancelConnection>,
    /// Sessions that are being ended, and whether one that does not end was reported.
    shutdowns: u32,
    reported_slow_shutdown: bool,
    /// Number of the first client among those of all threads.
    first: u32,
    arrivals: Option<Streams>,
    /// Who comes and leaves when, in the closed model.
    users: ActiveUsers,
    /// Arrivals still to come, where the plan bounds their number.
    arrivals_left: u64,
    idle: Vec<u32>,
    backlog: VecDeque<DueArrival>,
    backlog_max: usize,
    /// Clients that can go on at once; one at each `advance`, so that each has a fresh clock.
    runnable: VecDeque<u32>,
    timers: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Connections.
    pending_conns: VecDeque<u32>,
    events: VecDeque<LoadEvent>,
    /// Codes that were told already.
    reported_codes: Vec<Code>,
    /// By regular expression of the workload.
    matchers: Vec<PatternMatcher>,

    /// Clients that wait for a place among `connecting_max`.
    connect_queue: VecDeque<u32>,
    /// The same, of `webs`.
    http_connect_queue: VecDeque<u32>,
    connecting: u32,
    connecting_max: u32,
    /// Somebody was refused as if nobody listened, and nobody was let in since.
    is_refusing: bool,
    /// When log-ins and transactions are next looked over for those that take too long.
    next_timeout_check: Nanos,
    /// The shortest time after which something under way is given up.
    shortest_timeout: Nanos,
    unsettled: u32,

    script_rng: Prng,
    misc_rng: Prng,
    window_start: Nanos,
    window_end: Nanos,
    drain_deadline: Nanos,
    window_started: bool,
    window_over: bool,
    /// A feed has no row left.
    exhausted: bool,
    /// Nothing more will begin, and who was idle has been ended.
    is_draining: bool,
    drain_start: Nanos,
    /// The drain is over.
    drain_over: bool,
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
        let (first, count) = work.clients_of_thread(k);
        let arrivals = Streams::new(&plan.schedule, plan.seeds.arrivals, (k, plan.threads));
        let crowd = ActiveUsers::new(&plan.schedule, count, (k, plan.threads));
        let mut other = Prng::seeded(plan.seeds.other ^ u64::from(k) << 32);
        let clients: Vec<Client> = (0..count).map(|i| new_client(&work, first + i, &mut other)).collect();
        let webs: Vec<HttpConnection> =
            (0..count).flat_map(|i| work.services.iter().map(move |it| HttpConnection::new(i, it))).collect();
        let parked: Vec<Session> = match work.replicas {
            Some(_) => (0..count).map(|i| new_session(&work, 1, first + i, &mut other)).collect(),
            None => Vec::new(),
        };
        let cancelling = if work.postgres.is_some() { count } else { 0 };
        let cancels: Vec<CancelConnection> = (0..cancelling).map(|_| CancelConnection::default()).collect();
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
            pending_conns: VecDeque::with_capacity(2 * connections + 8),
            events: VecDeque::with_capacity(16),
            reported_codes: Vec::with_capacity(32),
            is_refusing: false,
            matchers: work.matchers(),
            connect_queue: queue(),
            http_connect_queue: VecDeque::with_capacity(webs.len()),
            connecting: 0,
            connecting_max: share(plan.connecting_max),
            next_timeout_check: Nanos::ZERO,
            shortest_timeout: work.shortest_timeout(),
            unsettled: count,
            script_rng: plan.seeds.script_rngs[k as usize],
            misc_rng: other,
            window_start: Nanos::MAX,
            window_end: Nanos::MAX,
            drain_deadline: Nanos::MAX,
            window_started: false,
            window_over: false,
            exhausted: false,
            is_draining: false,
            drain_start: Nanos::ZERO,
            drain_over: false,
            abandoned: false,
            closed: arrivals.is_none(),
            active: count,
            succeeded: vec![false; plan.program.scripts.len()].into(),
            arrivals,
            users: crowd,
            clients,
            parked,
            http_connections: webs,
            cancels,
            shutdowns: 0,
            reported_slow_shutdown: false,
            recorder,
            work,
        };
        for i in 0..count {
            if !shard.users.is_initial(i) {
                shard.clients[i as usize].state = ClientState::Absent;
                shard.mark_settled(i);
            } else if shard.has_sessions() {
                shard.connect_queue.push_back(i);
            } else {
                shard.clients[i as usize].state = ClientState::Idle;
                shard.mark_settled(i);
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
        (self.sessions() + self.http_connections.len() + self.cancels.len()) as u32
    }

    /// Clients with an open session, or that need none; where nobody is there from the beginning, all who will come.
    pub fn connected_clients(&self) -> u32 {
        let needed = self.work.postgres.is_some();
        let is_ready =
            |state| state == ClientState::Idle || (state == ClientState::Absent && self.users.starts_empty);
        let counts = |it: &&Client| {
            is_ready(it.state) && (it.session.connected || !needed || it.state == ClientState::Absent)
        };
        self.clients.iter().filter(counts).count() as u32
    }

    /// Clients that gave up.
    pub fn aborted_clients(&self) -> u32 {
        self.clients.iter().filter(|it| it.state == ClientState::Aborted || it.aborting).count() as u32
    }

    /// Sets the moment at which the window begins.
    pub fn begin(&mut self, at: Nanos) {
        let plan = &self.work.plan;
        self.window_start = at;
        self.window_end = [plan.duration, plan.schedule.duration()]
            .into_iter()
            .flatten()
            .min()
            .map_or(Nanos::MAX, |it| at + it);
        self.drain_deadline = self.window_end + plan.drain;
    }

    /// End of the window; [`Nanos::MAX`] while it depends on what the clients do.
    pub fn window_end(&self) -> Nanos {
        self.window_end
    }

    /// The window ends `now`; what is under way gets as long as the plan's drain.
    pub fn stop(&mut self, now: Nanos) {
        if !self.window_started {
            self.window_start = now;
        }
        self.window_end = self.window_end.min(now);
        self.drain_deadline = self.window_end + self.work.plan.drain;
    }

    /// The window ends `now`, and what is under way is cancelled.
    pub fn abandon(&mut self, now: Nanos) {
        if !self.abandoned {
            self.stop(now);
            self.drain_deadline = now;
            self.abandoned = true;
        }
    }

    /// Time has come to `now`.
    pub fn advance(&mut self, now: Nanos) {
        if !self.window_started && now >= self.window_start {
            self.start_window();
        }
        if self.window_started {
            // Who leaves at a moment begins nothing at it.
            self.process_user_events(now);
        }
        while let Some(&Reverse((at, i))) = self.timers.peek() {
            if at > now {
                break;
            }
            self.timers.pop();
            self.on_timer(now, i);
        }
        self.window_over |= now >= self.window_end;
        if self.window_started {
            self.drain(now);
        }
        self.connect_more(now);
        if let Some(i) = self.runnable.pop_front() {
            self.resume(now, i);
        } else if self.has_rest() {
            self.drop_rest(now);
        } else if self.window_started {
            self.take_due_arrivals(now);
            self.start_capped(now);
        }
    }

    fn next_wakeup(&self) -> Nanos {
        if !self.runnable.is_empty() || self.has_rest() {
            return Nanos::ZERO;
        }
        let timer = self.timers.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
        let sweep = if self.has_timeouts() { self.next_timeout_check } else { Nanos::MAX };
        let rest = if !self.window_started {
            self.window_start
        } else {
            let arrival = self.next_arrival().map_or(Nanos::MAX, |it| it.at);
            let end = match (self.window_over, self.drain_over) {
                (false, _) => self.window_end,
                (true, false) => self.drain_deadline,
                (true, true) => Nanos::MAX,
            };
            arrival.min(self.next_user_event()).min(end)
        };
        timer.min(sweep).min(rest)
    }

    /// The window begins.
    fn start_window(&mut self) {
        self.window_started = true;
        if self.closed {
            for i in 0..self.clients.len() as u32 {
                if self.clients[i as usize].state == ClientState::Idle {
                    self.runnable.push_back(i);
                }
            }
        } else {
            for i in 0..self.clients.len() as u32 {
                self.push_idle(i);
            }
        }
    }

    fn next_arrival(&self) -> Option<DueArrival> {
        let arrivals = self.arrivals.as_ref().filter(|_| self.arrivals_left > 0)?;
        let due = arrivals.peek().map(|(at, script)| DueArrival { at: self.window_start + at, script });
        due.filter(|it| it.at < self.window_end)
    }

    /// Gives arrivals that are due to idle clients: one at each call, so that the next is sent by a fresh clock; those that
    /// find no idle client go to the backlog, at most [`ARRIVALS_MAX`] of them at each call.
    #[inline]
    fn take_due_arrivals(&mut self, now: Nanos) {
        for _ in 0..ARRIVALS_PER_ROUND {
            let Some(due) = self.next_arrival().filter(|it| it.at <= now) else { return };
            self.take_arrival();
            if self.is_too_late(now, due.at) {
                self.drop_arrival(now, due);
            } else if let Some(i) = self.take_idle() {
                if self.begin_transaction(now, i, due, StartCause::Due) {
                    return;
                }
                self.push_idle(i);
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
    fn script_of(&mut self, due: DueArrival) -> ScriptId {
        due.script.unwrap_or_else(|| ScriptId(self.work.choose(&mut self.script_rng)))
    }

    /// A client is free: the next transaction, if there is one, is its.
    fn become_idle(&mut self, now: Nanos, i: u32) {
        self.clients[i as usize].state = ClientState::Idle;
        if !self.window_started {
            return;
        }
        if self.clients[i as usize].leaving {
            return self.user_left(i);
        }
        if self.closed {
            let plan = &self.work.plan;
            let done =
                plan.transactions.is_some_and(|it| self.clients[i as usize].transactions_started >= it);
            if done || now >= self.window_end {
                return self.finish_client(i);
            }
            return self.start_when_allowed(now, i);
        }
        while let Some(due) = self.backlog.pop_front() {
            if self.is_too_late(now, due.at) {
                self.drop_arrival(now, due);
            } else if self.begin_transaction(now, i, due, StartCause::Backlogged) {
                return;
            }
        }
        if now >= self.window_end || self.arrivals_left == 0 {
            self.finish_client(i)
        } else {
            self.push_idle(i)
        }
    }

    fn push_idle(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        if client.state == ClientState::Idle && !client.queued {
            client.queued = true;
            self.idle.push(i);
        }
    }

    /// The client that became idle last, as connection pools choose: few sessions, warm ones, carry a small load. Taking
    /// each in turn would wake every session of the server for it, and cost it its caches.
    fn take_idle(&mut self) -> Option<u32> {
        while let Some(i) = self.idle.pop() {
            let client = &mut self.clients[i as usize];
            client.queued = false;
            if client.state == ClientState::Idle {
                return Some(i);
            }
        }
        None
    }

    /// Once nothing more will begin, idle clients are ended; after the drain, all.
    fn drain(&mut self, now: Nanos) {
        let last = self.window_over || self.arrivals_left == 0;
        if last
            && !self.is_draining
            && self.backlog.is_empty()
            && self.next_arrival().is_none_or(|it| it.at > now)
        {
            self.is_draining = true;
            self.drain_start = now;
            for i in 0..self.clients.len() as u32 {
                let state = self.clients[i as usize].state;
                let waits = matches!(
                    state,
                    ClientState::Idle | ClientState::Thinking | ClientState::Offline | ClientState::Absent
                );
                let logs_in = matches!(state, ClientState::Connecting | ClientState::LoggingIn);
                if waits && self.is_shutting_down(i) {
                    self.await_end(i);
                } else if waits || (logs_in && self.clients[i as usize].tx.is_none()) {
                    self.finish_client(i);
                }
            }
        }
        if now >= self.drain_deadline {
            self.drain_over = true;
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
                let ends = client.state == ClientState::ClosingSession
                    || (!self.is_in_ledger(i) && self.end_session(now, i, false));
                self.end_transaction(now, i, Outcome::Unknown(Code::TIMED_OUT));
                if ends {
                    self.close_all_http(i, true);
                    self.await_end(i);
                } else {
                    self.finish_client(i);
                }
            }
        }
    }

    /// A moment that client `i` waited for has come.
    fn on_timer(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        if now < client.timer_deadline {
            return;
        }
        client.backing_off = false;
        match self.clients[i as usize].state {
            ClientState::Offline => self.connect_queue.push_back(i),
            ClientState::Thinking => self.become_idle(now, i),
            ClientState::Sleeping => {
                self.clients[i as usize].state = ClientState::AwaitingReady;
                self.finish_command(now, i);
            }
            _ => {}
        }
    }

    fn wake_at(&mut self, at: Nanos, i: u32) {
        self.clients[i as usize].timer_deadline = at;
        self.timers.push(Reverse((at, i)));
    }

    /// Of a session.
    #[inline]
    fn request_action(&mut self, conn: ConnId, what: u8) {
        let session = self.session(conn);
        let first = session.pending_actions == 0;
        session.pending_actions |= what;
        if first {
            self.pending_conns.push_back(conn.0);
        }
    }

    /// Clients have a session with PostgreSQL from one transaction to the next.
    fn has_sessions(&self) -> bool {
        self.work.postgres.is_some() && !self.work.plan.reconnect
    }

    fn client_id(&self, i: u32) -> ClientId {
        ClientId(self.first + i)
    }
}

fn new_client(work: &Workload, number: u32, other: &mut Prng) -> Client {
    let plan = work.plan();
    let mut variables = Variables::new(plan.program.names.len());
    for &(slot, room) in &work.fields {
        variables.reserve(slot, room);
    }
    for (slot, initial) in &plan.seeds.variables {
        match initial {
            InitialValue::Text(text) => variables.set_text(*slot, text.as_bytes()),
            InitialValue::Int(it) => variables.set(*slot, crate::script::Value::Int(*it)),
            InitialValue::Client => variables.set(*slot, crate::script::Value::Int(i64::from(number))),
        }
    }
    Client {
        session: new_session(work, 0, number, other),
        endpoint: 0,
        state: ClientState::Offline,
        queued: false,
        settled: false,
        backing_off: false,
        error_text: None,
        shell_line: String::new(),
        variables,
        rng: plan.seeds.clients[number as usize],
        sequence: 0,
        transactions_started: 0,
        transaction_start: Nanos::ZERO,
        leaving: false,
        aborting: false,
        timer_deadline: Nanos::ZERO,
        tx: None,
        columns: Vec::new(),
        rows: 0,
        last_rows: 0,
    }
}
