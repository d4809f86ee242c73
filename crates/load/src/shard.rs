//! One thread's clients and connections as a state machine without I/O
//!
//! After each input, the driver calls [`Shard::poll`] until it returns `Wait` or `Done`. Once the window has begun,
//! this module does not allocate, lock, format or read a clock, as long as transactions succeed.

mod abandoned;
mod arrivals;
mod client;
mod connect;
mod dropped;
mod endpoint;
mod event;
mod http_connection;
mod poll;
mod recorded;
mod recorded_mix;
mod redirect;
mod replay;
mod reply;
mod run;
mod shutdown;
mod users;

use crate::feed::DrawSequence;
use crate::load_plan::InitialValue;
use crate::random::Prng;
use crate::recorder::Recorder;
use crate::schedule::Streams;
use crate::script::{PatternMatcher, Variables};
use crate::workload::Workload;
use abandoned::AbandonedSessions;
use arrivals::DueArrival;
use arrivals::StartCause;
use client::{Client, ClientState, Session};
use endpoint::new_session;
pub use event::{AbortReason, ClientStep, LoadEvent};
use http_connection::HttpConnection;
use model::{ClientId, Code, Nanos, Outcome};
use recorded::RecordedRequests;
use recorded_mix::MixState;
use replay::ReplayState;
use shutdown::CancelConnection;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use users::ActiveUsers;

/// Number of a connection within its shard.
///
/// The first numbers are the clients' sessions with PostgreSQL, in the order of the clients. With two endpoints, the
/// sessions with the second endpoint follow. Then come each client's connections to the HTTP services, and last each
/// client's connection for cancel requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId(pub u32);

/// Action that the driver must perform.
#[derive(Debug)]
pub enum Action<'a> {
    /// Open a transport to the connection's target, then call `connected` or `broken`.
    Connect(ConnId),
    /// Send these bytes and pass the number sent to `sent`. After a partial send, call `writable` as soon as more can
    /// be sent.
    Transmit(ConnId, &'a [u8]),
    /// Shut down the sending direction after all transmitted bytes. Bytes from the peer are still received.
    Finish(ConnId),
    /// Close the transport. The driver does not confirm it.
    Close(ConnId),
    /// Enable keepalive, so that a dead peer is detected within seconds even if nothing is sent.
    Probe(ConnId),
    /// Run this command line, then call `shell_done`. Blocks the thread, as pgbench does.
    ///
    /// With `keep`, the command's output is passed to `shell_done`; otherwise it goes to the generator's standard
    /// output.
    Shell {
        conn: ConnId,
        line: String,
        keep: bool,
    },
    Report(LoadEvent),
    /// Wait for an input, but not beyond this time. If the time is in the past, call `advance` at once.
    Wait(Nanos),
    /// All transactions have ended and all connections are closed.
    Done,
}

/// Failure that is reported only the first time: script and command (`None` if a connection failed), and code.
type ReportedFailure = (Option<(u16, u16)>, Code);

/// One thread's clients and connections.
#[derive(Debug)]
pub struct Shard<R> {
    work: Arc<Workload>,
    pub recorder: R,
    clients: Vec<Client>,
    /// Inactive session of each client, if PostgreSQL has two endpoints.
    parked: Vec<Session>,
    /// Connections by client, then service.
    http_connections: Vec<HttpConnection>,
    /// Connections for cancel requests by client, if scripts contain SQL.
    cancels: Vec<CancelConnection>,
    /// Number of sessions that are being shut down.
    shutdowns: u32,
    reported_slow_shutdown: bool,
    /// Number of the shard's first client among the clients of all threads.
    first: u32,
    arrivals: Option<Streams>,
    /// The thread's draws from each feed.
    draws: Box<[DrawSequence]>,
    /// Positions in the recording; `None` if the load is no replay.
    replay: Option<ReplayState>,
    /// Positions in the sessions of a recorded mix; `None` for other loads.
    mix: Option<MixState>,
    /// Requests of a recording that are in flight; `None` if the load sends no recording.
    recorded: Option<RecordedRequests>,
    /// Users of the closed model who are present.
    users: ActiveUsers,
    /// Number of remaining arrivals, if the plan limits their number.
    arrivals_left: u64,
    idle: VecDeque<u32>,
    backlog: VecDeque<DueArrival>,
    backlog_max: usize,
    /// Clients that are ready to continue. Each call of `advance` resumes only one, so that its `now` is up to date.
    runnable: VecDeque<u32>,
    timers: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Connections for which actions wait for the driver.
    pending_conns: VecDeque<u32>,
    events: VecDeque<LoadEvent>,
    /// Failures that were already reported to the user.
    reported_failures: Vec<ReportedFailure>,
    /// Matchers of the workload's regular expressions.
    matchers: Vec<PatternMatcher>,

    /// Clients that wait for a slot among `connecting_max`.
    connect_queue: VecDeque<u32>,
    /// HTTP connections that wait for a slot among `connecting_max`.
    http_connect_queue: VecDeque<u32>,
    connecting: u32,
    connecting_max: u32,
    /// True if a refused login showed that the server is unavailable, and no login has succeeded since.
    is_refusing: bool,
    /// Time of the next check of logins and transactions against their time limits.
    next_timeout_check: Nanos,
    /// Shortest time limit that may apply to a login or transaction.
    shortest_timeout: Nanos,
    unsettled: u32,

    script_rng: Prng,
    misc_rng: Prng,
    window_start: Nanos,
    window_end: Nanos,
    drain_deadline: Nanos,
    window_started: bool,
    window_over: bool,
    /// True if a feed has no row left.
    exhausted: bool,
    /// True if no further transaction begins and idle clients have ended.
    is_draining: bool,
    drain_start: Nanos,
    /// True if the drain has ended.
    drain_over: bool,
    /// True if transactions in flight were cancelled before the drain was over.
    abandoned: bool,
    closed: bool,
    /// Number of clients that are neither finished nor aborted.
    active: u32,
    abandoned_sessions: AbandonedSessions,
    /// By script: true if at least one of its transactions has succeeded in this shard.
    succeeded: Box<[bool]>,
}

impl<R: Recorder> Shard<R> {
    /// Creates the shard of thread `k`, and allocates all memory that it needs later.
    pub fn new(work: Arc<Workload>, k: u16, recorder: R) -> Shard<R> {
        let plan = work.plan();
        let (first, count) = work.clients_of_thread(k);
        let arrivals = Streams::new(&plan.schedule, plan.seeds.arrivals, (k, plan.threads));
        let active_users = ActiveUsers::new(&plan.schedule, count, (k, plan.threads));
        let mut other = Prng::seeded(plan.seeds.other ^ u64::from(k) << 32);
        let clients: Vec<Client> = (0..count).map(|i| new_client(&work, first + i, &mut other)).collect();
        let texts = work.variable_texts_max();
        let connections_of = |i| work.services.iter().map(move |it| HttpConnection::new(i, it, texts));
        let http_connections: Vec<HttpConnection> = (0..count).flat_map(connections_of).collect();
        let parked: Vec<Session> = match work.replicas {
            Some(_) => (0..count).map(|i| new_session(&work, 1, first + i, &mut other)).collect(),
            None => Vec::new(),
        };
        let cancelling = if work.postgres.is_some() { count } else { 0 };
        let cancels: Vec<CancelConnection> = (0..cancelling).map(|_| CancelConnection::default()).collect();
        let connections = clients.len() + parked.len() + http_connections.len() + cancels.len();
        let share = |all: u32| all.div_ceil(u32::from(plan.threads));
        let backlog_max = share(plan.backlog_max) as usize;
        let queue = || VecDeque::with_capacity(count as usize);
        let mut shard = Shard {
            first,
            arrivals_left: plan.transactions.map_or(u64::MAX, |it| it * u64::from(count)),
            idle: queue(),
            backlog: VecDeque::with_capacity(if arrivals.is_some() { backlog_max } else { 0 }),
            backlog_max,
            runnable: queue(),
            timers: BinaryHeap::with_capacity(2 * count as usize),
            pending_conns: VecDeque::with_capacity(2 * connections + 8),
            events: VecDeque::with_capacity(16),
            reported_failures: Vec::with_capacity(128),
            is_refusing: false,
            matchers: work.matchers(),
            connect_queue: queue(),
            http_connect_queue: VecDeque::with_capacity(http_connections.len()),
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
            abandoned_sessions: AbandonedSessions::default(),
            succeeded: vec![false; plan.program.scripts.len()].into(),
            arrivals,
            draws: vec![DrawSequence::new((k, plan.threads)); work.feed_count()].into(),
            replay: ReplayState::new(&work, (first, count)),
            mix: work.mix.as_ref().map(|it| MixState::new(it, (k, plan.threads), (first, count))),
            recorded: work.is_recorded().then(|| RecordedRequests::new(count)),
            users: active_users,
            clients,
            parked,
            http_connections,
            cancels,
            shutdowns: 0,
            reported_slow_shutdown: false,
            recorder,
            work,
        };
        for i in 0..count {
            let is_initial = match &shard.work.replay {
                Some(replay) => replay.begins_connected(first + i),
                None => shard.users.is_initial(i),
            };
            if !is_initial {
                shard.clients[i as usize].state = ClientState::Absent;
                shard.mark_settled(i);
            } else if shard.has_sessions() {
                shard.connect_queue.push_back(i);
            } else {
                shard.clients[i as usize].state = ClientState::Idle;
                match shard.clients[i as usize].has_started {
                    true => shard.mark_settled(i),
                    false => shard.runnable.push_back(i),
                }
            }
        }
        shard
    }

    /// True if every client was connected or refused once, so that the window may begin.
    pub fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// Maximum number of open connections.
    ///
    /// Each client has one session per endpoint, one connection per service and one connection for cancel requests.
    pub fn connections(&self) -> u32 {
        (self.sessions() + self.http_connections.len() + self.cancels.len()) as u32
    }

    /// Number of clients that have an open session or need no session. If no user is present at the beginning, absent
    /// clients count too.
    pub fn connected_clients(&self) -> u32 {
        let needed = self.work.postgres.is_some();
        let is_ready =
            |state| state == ClientState::Idle || (state == ClientState::Absent && self.users.starts_empty);
        let counts = |client: &&Client| {
            is_ready(client.state)
                && (client.session.connected || !needed || client.state == ClientState::Absent)
        };
        self.clients.iter().filter(counts).count() as u32
    }

    /// Number of clients that aborted.
    pub fn aborted_clients(&self) -> u32 {
        self.clients.iter().filter(|it| it.state == ClientState::Aborted || it.aborting).count() as u32
    }

    /// Sets the start of the window.
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

    /// End of the window; [`Nanos::MAX`] while it depends on the clients.
    pub fn window_end(&self) -> Nanos {
        self.window_end
    }

    /// Ends the window at `now`. Transactions in flight may continue for the duration of the plan's drain.
    pub fn stop(&mut self, now: Nanos) {
        if !self.window_started {
            self.window_start = now;
        }
        self.window_end = self.window_end.min(now);
        self.drain_deadline = self.window_end + self.work.plan.drain;
    }

    /// Ends the window at `now` and cancels transactions in flight.
    pub fn abandon(&mut self, now: Nanos) {
        if !self.abandoned {
            self.stop(now);
            self.drain_deadline = now;
            self.abandoned = true;
        }
    }

    /// Handles all events that are due at `now`.
    pub fn advance(&mut self, now: Nanos) {
        if !self.window_started && now >= self.window_start {
            self.start_window();
        }
        if self.window_started {
            // Process users first, because a user who leaves now must not begin a transaction now.
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

    /// Starts the window: from now on, idle clients may begin transactions.
    fn start_window(&mut self) {
        self.window_started = true;
        if self.is_replay() {
            self.start_replay();
        } else if self.closed {
            self.delay_first_transactions();
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

    /// Makes client `i` idle. Begins its next transaction if one is due.
    fn become_idle(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        client.state = ClientState::Idle;
        if let (Some(script), false) = (self.work.on_start(), client.has_started || client.leaving) {
            if self.window_over {
                self.finish_client(i);
            } else {
                self.execute_on_start(now, i, script);
            }
            return;
        }
        if !self.window_started {
            return;
        }
        if self.clients[i as usize].leaving {
            return self.user_left(i);
        }
        if self.is_replay() {
            return self.replay_next(now, i);
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
            self.finish_client(i);
        } else {
            self.push_idle(i);
        }
    }

    fn push_idle(&mut self, i: u32) {
        let client = &mut self.clients[i as usize];
        if client.state == ClientState::Idle && !client.queued {
            client.queued = true;
            self.idle.push_back(i);
        }
    }

    /// Takes the client that became idle last, as connection pools do.
    ///
    /// A small load then uses few sessions, whose caches are warm. Round robin would use every session of the server. A
    /// recorded mix has its shares only if all of its sessions advance, so that it takes the client that became idle first.
    fn take_idle(&mut self) -> Option<u32> {
        let in_turn = self.mix.is_some();
        while let Some(i) = if in_turn { self.idle.pop_front() } else { self.idle.pop_back() } {
            let client = &mut self.clients[i as usize];
            client.queued = false;
            if client.state == ClientState::Idle {
                return Some(i);
            }
        }
        None
    }

    /// Ends idle clients once no further transaction begins. Ends all clients after the drain.
    fn drain(&mut self, now: Nanos) {
        self.drain_over |= now >= self.drain_deadline;
        if self.drain_over {
            while let Some(due) = self.backlog.pop_front() {
                self.drop_arrival(now, due);
            }
            // Drop the arrivals that remain in the schedule because the generator was behind.
            while let Some(due) = self.next_arrival() {
                self.take_arrival();
                self.drop_arrival(now, due);
            }
        }
        let last = self.drain_over || self.window_over || self.arrivals_left == 0;
        if last
            && !self.is_draining
            && self.backlog.is_empty()
            && (self.replay_left() == 0 || self.drain_over)
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
                if state == ClientState::Pausing {
                    self.discard_transaction(now, i);
                } else if waits && self.is_shutting_down(i) {
                    self.await_end(i);
                } else if waits || (logs_in && self.clients[i as usize].tx.is_none()) {
                    self.finish_client(i);
                }
            }
        }
        if self.drain_over {
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

    /// Handles an expired timer of client `i`.
    fn on_timer(&mut self, now: Nanos, i: u32) {
        let client = &mut self.clients[i as usize];
        if now < client.timer_deadline {
            return;
        }
        client.backing_off = false;
        match self.clients[i as usize].state {
            ClientState::Offline => self.connect_queue.push_back(i),
            // Another client may be due, so this client continues in a later round.
            ClientState::Thinking | ClientState::Absent if self.is_replay() => self.runnable.push_back(i),
            ClientState::Thinking => self.become_idle(now, i),
            ClientState::Pausing => self.run(now, i),
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

    /// Queues an action for the driver.
    #[inline]
    fn request_action(&mut self, conn: ConnId, action: u8) {
        let session = self.session(conn);
        let first = session.pending_actions == 0;
        session.pending_actions |= action;
        if first {
            self.pending_conns.push_back(conn.0);
        }
    }

    /// True if clients keep a session with PostgreSQL between transactions.
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
        has_started: !plan.program.has_on_start,
        backing_off: false,
        error_text: None,
        shell_line: String::new(),
        variables,
        rng: work.client_rng(number),
        sequence: 0,
        transactions_started: 0,
        earliest_start: Nanos::ZERO,
        leaving: false,
        aborting: false,
        timer_deadline: Nanos::ZERO,
        tx: None,
        columns: Vec::new(),
        rows: 0,
        last_rows: 0,
    }
}
