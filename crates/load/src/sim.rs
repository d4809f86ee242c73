//! Simulation of shards against a system with known behaviour
//!
//! The simulation runs shards against a simulated server, network and clock. It uses no sockets and does not sleep. The
//! same seed gives the same run.

mod backend;
mod http_service;
mod plan;

use crate::random::Prng;
use crate::recorder::Recorder;
use crate::shard::{Action, ConnId, Shard};
use crate::workload::Target;
pub use backend::StatementResult;
use backend::{SimulatedBackend, SimulatedRequest};
pub use http_service::{SimulatedBody, SimulatedHttp};
use model::{Code, Nanos};
pub use plan::{CLOSED, plan};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Behaviour of a simulated system.
#[derive(Clone, Debug)]
pub struct SimulatedSystem {
    pub seed: u64,
    /// Number of requests that are served at the same time; further requests queue in order of arrival.
    pub servers: u32,
    pub service: ServiceTime,
    /// Network delay, the same in both directions.
    pub delay: Nanos,
    /// Disjoint periods, in order, in which no request is served.
    pub pauses: Vec<(Nanos, Nanos)>,
    /// Times at which every connection breaks.
    pub breaks: Vec<Nanos>,
    /// Periods in which a PostgreSQL endpoint refuses connections.
    pub outages: Vec<SimulatedOutage>,
    /// Maximum number of connections; further connections are refused with 53300.
    pub max_connections: u32,
    /// True if PostgreSQL obeys cancel requests.
    pub cancels: bool,
    /// Every n-th request fails with this SQLSTATE.
    pub failing: Option<(u64, [u8; 5])>,
    /// Function that returns the result of a statement from the time at which it is served.
    pub result: fn(Nanos) -> StatementResult,
    /// Size in bytes of the pieces in which responses arrive.
    pub piece: usize,
    /// Behaviour of HTTP services, which share the servers with PostgreSQL.
    pub http: SimulatedHttp,
}

/// Outage of an endpoint: its connections break, and further connections are refused until the outage ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedOutage {
    pub endpoint: u16,
    pub from: Nanos,
    pub to: Nanos,
}

/// Service time of a request.
#[derive(Clone, Copy, Debug)]
pub enum ServiceTime {
    Constant(Nanos),
    /// Exponential distribution with this mean.
    Exponential(Nanos),
    /// The second value with this probability (0..=1), otherwise the first.
    Bimodal(Nanos, Nanos, f64),
}

impl Default for SimulatedSystem {
    fn default() -> SimulatedSystem {
        SimulatedSystem {
            seed: 1,
            servers: 1,
            service: ServiceTime::Constant(Nanos::from_micros(100)),
            delay: Nanos::ZERO,
            pauses: Vec::new(),
            breaks: Vec::new(),
            outages: Vec::new(),
            max_connections: u32::MAX,
            cancels: true,
            failing: None,
            result: |_| StatementResult::Rows(1),
            piece: usize::MAX,
            http: SimulatedHttp::default(),
        }
    }
}

/// Runs the shards, one per thread, until all are done.
///
/// # Panics
/// Panics if no event is left while a shard still waits, because then a transaction was lost.
pub fn drive<R: Recorder>(shards: Vec<Shard<R>>, world: &SimulatedSystem) -> Vec<Shard<R>> {
    drive_until(shards, world, Nanos::MAX, u64::MAX)
}

/// Runs the shards as [`drive`] does, and stops at `deadline` on the simulated clock or after `steps_max` steps.
///
/// # Panics
/// Panics like [`drive`].
pub fn drive_until<R: Recorder>(
    shards: Vec<Shard<R>>,
    world: &SimulatedSystem,
    deadline: Nanos,
    steps_max: u64,
) -> Vec<Shard<R>> {
    drive_counting_until(shards, world, deadline, steps_max).0
}

/// Runs the shards as [`drive`] does, and counts PostgreSQL's sessions.
pub fn drive_counting<R: Recorder>(
    shards: Vec<Shard<R>>,
    world: &SimulatedSystem,
) -> (Vec<Shard<R>>, SessionCounts) {
    drive_counting_until(shards, world, Nanos::MAX, u64::MAX)
}

fn drive_counting_until<R: Recorder>(
    shards: Vec<Shard<R>>,
    world: &SimulatedSystem,
    deadline: Nanos,
    steps_max: u64,
) -> (Vec<Shard<R>>, SessionCounts) {
    let mut run = Simulation::new(shards, world);
    let mut begun = false;
    let mut steps = 0;
    // End of the window's current second.
    let mut second = Nanos::MAX;
    loop {
        steps += 1;
        if run.now > deadline || steps > steps_max {
            return run.finish();
        }
        let (mut next, mut done) = (Nanos::MAX, true);
        for k in 0..run.shards.len() {
            run.shards[k].advance(run.now);
            if let Some(deadline) = run.perform(k) {
                done = false;
                next = next.min(deadline);
            }
        }
        if done {
            return run.finish();
        }
        if !begun && run.shards.iter().all(Shard::is_settled) {
            begun = true;
            let at = run.now + Nanos::from_millis(1);
            second = at + Nanos::from_secs(1);
            for shard in &mut run.shards {
                shard.begin(at);
                shard.recorder.window(at, shard.window_end());
            }
            continue;
        }
        next = run.events.peek().map_or(next, |Reverse(it)| it.at.min(next));
        assert!(next < Nanos::MAX, "no event is left, but a shard waits");
        run.now = run.now.max(next);
        while second <= run.now {
            run.shards.iter_mut().for_each(|it| it.recorder.tick(second));
            second += Nanos::from_secs(1);
        }
        while run.events.peek().is_some_and(|Reverse(it)| it.at <= run.now) {
            let Reverse(event) = run.events.pop().expect("`peek` returned an event");
            run.handle_event(event);
        }
    }
}

/// Numbers of PostgreSQL's sessions. A session whose client has disconnected remains until its statement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionCounts {
    /// Maximum number at one time.
    pub max: usize,
    /// Number of sessions when the last client was done.
    pub remaining: usize,
}

struct Simulation<'a, R> {
    world: &'a SimulatedSystem,
    now: Nanos,
    shards: Vec<Shard<R>>,
    events: BinaryHeap<Reverse<Event>>,
    /// Counter that orders simultaneous events by creation.
    made: u64,
    /// Server sides of the connections, by shard and connection.
    backends: BTreeMap<SimulatedLink, ServerSide>,
    generation: u64,
    waiting: VecDeque<(SimulatedLink, SimulatedRequest)>,
    /// Connections by the number of the request that is being served.
    serving: BTreeMap<u64, SimulatedLink>,
    sessions: Sessions,
    served: u64,
    rng: Prng,
}

/// Sessions of the simulated PostgreSQL server.
#[derive(Default)]
struct Sessions {
    open: BTreeSet<SimulatedLink>,
    /// Sessions whose client sends nothing more.
    finished: BTreeSet<SimulatedLink>,
    most: usize,
}

/// Server side of a connection.
enum ServerSide {
    Postgres(SimulatedBackend),
    Http(http_service::HttpServerSide),
}

/// Transport: shard, connection, and number of the transport within the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SimulatedLink {
    shard: usize,
    conn: u32,
    generation: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Event {
    at: Nanos,
    made: u64,
    kind: EventKind,
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> std::cmp::Ordering {
        (self.at, self.made).cmp(&(other.at, other.made))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum EventKind {
    Connected(SimulatedLink),
    Refused(SimulatedLink),
    ToServer(SimulatedLink, Vec<u8>),
    /// The client sends nothing more.
    Finished(SimulatedLink),
    /// The request of this number was served.
    Served(u64, SimulatedRequest),
    ToClient(SimulatedLink, Vec<u8>),
    Closed(SimulatedLink),
    /// The server closes the connection if it has answered this many requests and received none since then.
    Idle(SimulatedLink, u64),
    Break,
    /// All connections of this endpoint break.
    Shut(u16),
}

impl<'a, R: Recorder> Simulation<'a, R> {
    /// Ends the simulation. Returns the shards and the numbers of sessions.
    fn finish(self) -> (Vec<Shard<R>>, SessionCounts) {
        let counts = SessionCounts { max: self.sessions.most, remaining: self.sessions.open.len() };
        (self.shards, counts)
    }

    fn new(shards: Vec<Shard<R>>, world: &'a SimulatedSystem) -> Simulation<'a, R> {
        let mut run = Simulation {
            world,
            now: Nanos::ZERO,
            shards,
            events: BinaryHeap::new(),
            made: 0,
            backends: BTreeMap::new(),
            generation: 0,
            waiting: VecDeque::new(),
            serving: BTreeMap::new(),
            sessions: Sessions::default(),
            served: 0,
            rng: Prng::seeded(world.seed),
        };
        for &at in &world.breaks {
            run.schedule(at, EventKind::Break);
        }
        for outage in &world.outages {
            run.schedule(outage.from, EventKind::Shut(outage.endpoint));
        }
        run
    }

    fn schedule(&mut self, at: Nanos, kind: EventKind) {
        self.made += 1;
        self.events.push(Reverse(Event { at, made: self.made, kind }));
    }

    fn schedule_now(&mut self, kind: EventKind) {
        self.schedule(self.now + self.world.delay, kind);
    }

    fn link(&self, shard: usize, conn: ConnId) -> Option<SimulatedLink> {
        let link_of = |generation| SimulatedLink { shard, conn: conn.0, generation };
        self.backends.range(link_of(0)..=link_of(u64::MAX)).next_back().map(|(link, _)| *link)
    }

    /// Performs all actions of shard `k`. Returns the time until which the shard waits; `None` when the shard is done.
    fn perform(&mut self, k: usize) -> Option<Nanos> {
        loop {
            match self.shards[k].poll() {
                Action::Transmit(conn, bytes) => {
                    let bytes = bytes.to_vec();
                    self.shards[k].sent(conn, bytes.len());
                    if let Some(link) = self.link(k, conn) {
                        self.schedule_now(EventKind::ToServer(link, bytes));
                    }
                }
                Action::Connect(conn) => {
                    self.generation += 1;
                    let link = SimulatedLink { shard: k, conn: conn.0, generation: self.generation };
                    let welcome = (self.backends.len() as u32) < self.world.max_connections;
                    let target = self.shards[k].target(conn);
                    let side = match target {
                        Target::Postgres { .. } => {
                            ServerSide::Postgres(SimulatedBackend::new(welcome, self.generation as u32))
                        }
                        Target::Service(_) => ServerSide::Http(http_service::HttpServerSide::default()),
                    };
                    self.backends.insert(link, side);
                    let refuses = match target {
                        Target::Postgres { endpoint, .. } => self.is_endpoint_down(endpoint),
                        Target::Service(_) => self.world.http.is_down,
                    };
                    match refuses {
                        true => self.schedule_now(EventKind::Refused(link)),
                        false => self.schedule_now(EventKind::Connected(link)),
                    }
                }
                Action::Close(conn) => {
                    if let Some(link) = self.link(k, conn) {
                        self.remove(link);
                    }
                }
                Action::Finish(conn) => {
                    if let Some(link) = self.link(k, conn) {
                        self.schedule_now(EventKind::Finished(link));
                    }
                }
                Action::Shell { conn, .. } => self.shards[k].shell_done(self.now, conn, Ok(b"0\n")),
                Action::Report(_) | Action::Probe(_) => {}
                Action::Wait(deadline) => return Some(deadline),
                Action::Done => return None,
            }
        }
    }

    fn handle_event(&mut self, event: Event) {
        match event.kind {
            EventKind::Connected(link) if self.backends.contains_key(&link) => {
                self.shards[link.shard].connected(self.now, ConnId(link.conn));
                self.perform(link.shard);
            }
            EventKind::ToServer(link, bytes) => {
                let requests = match self.backends.get_mut(&link) {
                    Some(ServerSide::Postgres(it)) => it.receive(&bytes),
                    Some(ServerSide::Http(it)) => it.receive(&bytes),
                    None => return,
                };
                for request in requests {
                    match request {
                        SimulatedRequest::LogIn => {
                            self.sessions.open.insert(link);
                            self.sessions.most = self.sessions.most.max(self.sessions.open.len());
                            self.answer(link, &request);
                        }
                        SimulatedRequest::Cancel(pid) => {
                            self.cancel(pid);
                            self.schedule_now(EventKind::Closed(link));
                        }
                        _ => self.waiting.push_back((link, request)),
                    }
                }
                self.serve();
            }
            EventKind::Served(number, request) => {
                let Some(link) = self.serving.remove(&number) else { return };
                self.answer(link, &request);
                self.end_if_finished(link);
                self.serve();
            }
            EventKind::Finished(link) => {
                self.sessions.finished.insert(link);
                self.end_if_finished(link);
            }
            EventKind::ToClient(link, bytes) if self.backends.contains_key(&link) => {
                for piece in bytes.chunks(self.world.piece.min(bytes.len())) {
                    self.shards[link.shard].receive(self.now, ConnId(link.conn), piece);
                }
                self.perform(link.shard);
            }
            EventKind::Refused(link) => {
                if self.remove(link) {
                    self.shards[link.shard].broken(self.now, ConnId(link.conn), Code::REFUSED, "refused");
                    self.perform(link.shard);
                }
            }
            EventKind::Idle(link, responses) => {
                if let Some(ServerSide::Http(service)) = self.backends.get_mut(&link)
                    && service.closes_when_idle(responses)
                {
                    self.schedule_now(EventKind::Closed(link));
                }
            }
            EventKind::Closed(link) => {
                if self.remove(link) {
                    self.shards[link.shard].closed(self.now, ConnId(link.conn));
                    self.perform(link.shard);
                }
            }
            EventKind::Break => {
                let links: Vec<SimulatedLink> = self.backends.keys().copied().collect();
                links.into_iter().for_each(|it| self.break_link(it));
            }
            EventKind::Shut(endpoint) => {
                let target = |it: &SimulatedLink| self.shards[it.shard].target(ConnId(it.conn));
                let is_its = |it: &&SimulatedLink| matches!(target(it), Target::Postgres { endpoint: its, .. } if its == endpoint);
                let links: Vec<SimulatedLink> = self.backends.keys().filter(is_its).copied().collect();
                links.into_iter().for_each(|it| self.break_link(it));
            }
            EventKind::Connected(_) | EventKind::ToClient(..) => {}
        }
    }

    /// Closes the client side of a connection. Returns false if it was already closed.
    fn remove(&mut self, link: SimulatedLink) -> bool {
        if !self.is_busy(link) {
            self.sessions.open.remove(&link);
        }
        self.backends.remove(&link).is_some()
    }

    /// True if a request of the connection is being served or is queued.
    fn is_busy(&self, link: SimulatedLink) -> bool {
        self.serving.values().any(|it| *it == link) || self.waiting.iter().any(|it| it.0 == link)
    }

    /// Ends a session whose client has left or sends nothing more, once it is idle.
    fn end_if_finished(&mut self, link: SimulatedLink) {
        let is_connected = self.backends.contains_key(&link);
        if (is_connected && !self.sessions.finished.contains(&link)) || self.is_busy(link) {
            return;
        }
        self.sessions.open.remove(&link);
        if is_connected {
            self.schedule_now(EventKind::Closed(link));
        }
    }

    /// Ends the current statement of the session with this process ID.
    fn cancel(&mut self, pid: u32) {
        let has_pid = |it: &&SimulatedLink| it.generation as u32 == pid;
        let link = self.sessions.open.iter().find(has_pid).copied().filter(|_| self.world.cancels);
        let Some(link) = link else { return };
        if let Some(number) = self.serving.iter().find(|it| *it.1 == link).map(|it| *it.0) {
            self.serving.remove(&number);
        } else if let Some(at) = self.waiting.iter().position(|it| it.0 == link) {
            self.waiting.remove(at);
        } else {
            return;
        }
        if let Some(ServerSide::Postgres(backend)) = self.backends.get_mut(&link) {
            let cancelled =
                SimulatedRequest::Batch { statements: vec![b"SELECT".to_vec()], before: Vec::new() };
            let (bytes, _) = backend.answer(&cancelled, Some(*b"57014"), StatementResult::Rows(0));
            self.schedule_now(EventKind::ToClient(link, bytes));
        }
        self.end_if_finished(link);
        self.serve();
    }

    fn is_endpoint_down(&self, endpoint: u16) -> bool {
        self.world.outages.iter().any(|it| it.endpoint == endpoint && (it.from..it.to).contains(&self.now))
    }

    fn break_link(&mut self, link: SimulatedLink) {
        if self.remove(link) {
            self.sessions.open.remove(&link);
            self.shards[link.shard].broken(self.now, ConnId(link.conn), Code::RESET, "reset");
            self.perform(link.shard);
        }
    }

    /// Starts queued requests while servers are free.
    fn serve(&mut self) {
        while (self.serving.len() as u32) < self.world.servers {
            let Some((link, request)) = self.waiting.pop_front() else { return };
            let takes = match self.world.service {
                ServiceTime::Constant(it) => it,
                ServiceTime::Bimodal(fast, slow, share) => {
                    if self.rng.f64() < share {
                        slow
                    } else {
                        fast
                    }
                }
                ServiceTime::Exponential(mean) => {
                    Nanos((mean.0 as f64 * -(1.0 - self.rng.f64()).ln()) as u64)
                }
            };
            let at = self.completion_time(takes);
            self.serving.insert(self.made, link);
            self.schedule(at, EventKind::Served(self.made, request));
        }
    }

    /// Time at which work that starts now completes, if it needs `work` of processing and stops during pauses.
    fn completion_time(&self, work: Nanos) -> Nanos {
        let (mut at, mut left) = (self.now, work);
        for &(from, to) in &self.world.pauses {
            if to <= at {
                continue;
            }
            let before = from - at;
            if before >= left {
                break;
            }
            left = left - before;
            at = to;
        }
        at + left
    }

    fn answer(&mut self, link: SimulatedLink, request: &SimulatedRequest) {
        let fails = !matches!(request, SimulatedRequest::LogIn | SimulatedRequest::Cancel(_)) && {
            self.served += 1;
            self.world.failing.is_some_and(|(n, _)| self.served.is_multiple_of(n))
        };
        let backend = match self.backends.get_mut(&link) {
            Some(ServerSide::Postgres(it)) => it,
            Some(ServerSide::Http(side)) => {
                let answer = side.answer(&self.world.http, request, self.served, fails);
                return self.answer_http(link, answer);
            }
            None => return,
        };
        let state = self.world.failing.filter(|_| fails).map(|(_, state)| state);
        let (bytes, closes) = backend.answer(request, state, (self.world.result)(self.now));
        self.schedule_now(EventKind::ToClient(link, bytes));
        if closes {
            self.schedule_now(EventKind::Closed(link));
        }
    }
    /// Sends a response, at once or byte by byte.
    fn answer_http(&mut self, link: SimulatedLink, answer: http_service::SimulatedResponse) {
        let http_service::SimulatedResponse { bytes, closes, responses } = answer;
        let mut at = self.now + self.world.delay;
        match self.world.http.byte_interval {
            _ if bytes.is_empty() => {}
            None => self.schedule(at, EventKind::ToClient(link, bytes)),
            Some(pause) => {
                for byte in bytes {
                    self.schedule(at, EventKind::ToClient(link, vec![byte]));
                    at += pause;
                }
            }
        }
        if closes {
            self.schedule(at, EventKind::Closed(link));
        } else if let Some(idle) = self.world.http.idle {
            self.schedule(self.now + idle, EventKind::Idle(link, responses));
        }
    }
}
