//! Who takes writes, what does each server promise, and when did that change?
//!
//! Servers are asked directly, past poolers and balancers, each on a thread of its own: one that hangs holds no other up.
//! A server of ours keeps its socket and its port however often it is killed, restarted or copied anew, so what was known
//! when the watch began stays true; only who follows whom changes.

pub(crate) mod identity;
mod server_poller;

use crate::client::Target;
use crate::replication::Lsn;
use model::Nanos;
use model::durability::{RoleSample, ServerInstance};
use server_poller::ServerPoller;
pub(crate) use server_poller::synchronous_commit_sql;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wire::http::Url;

/// How one server is reached, past everything that stands before it.
#[derive(Clone, Debug)]
pub struct DirectServer {
    /// Of its node.
    pub name: String,
    /// Its superuser, in the application's database; by its socket if it is ours, so that a network that is cut off is not the
    /// end of it.
    pub target: Target,
    /// As those who write there are told by it: `127.0.0.1:5432`, `local:5432`. `None`: as it tells us.
    pub address: Option<String>,
    /// Whose commits matter: the application's user.
    pub role: String,
    /// Answers with 200 where writes are taken: whoever balances asks there.
    pub health: Option<Url>,
}

/// A look ten times a second: what is known of a moment is at most so old.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Looks until it is stopped.
#[derive(Debug)]
pub struct RoleMonitor {
    threads: Vec<MonitorThread>,
}

#[derive(Debug)]
struct MonitorThread {
    seen: Arc<Mutex<ServerHistory>>,
    stop: SyncSender<()>,
    handle: JoinHandle<()>,
}

/// Everything that was seen; each list in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleObservations {
    pub role_periods: Vec<RolePeriod>,
    pub settings: Vec<CommitSettings>,
    pub replica_periods: Vec<ReplicaPeriod>,
    pub health_changes: Vec<HealthChange>,
}

/// A time in which all looks at one server saw the same, and none failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolePeriod {
    pub node: String,
    pub server: ServerInstance,
    /// `pg_is_in_recovery()`.
    pub in_recovery: bool,
    /// The first and the last look.
    pub from: Nanos,
    pub to: Nanos,
}

/// From a moment on a server that takes writes promised what follows from these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSettings {
    pub node: String,
    pub server: ServerInstance,
    pub at: Nanos,
    /// What a new session of the application's user has. What a session sets for itself is not known.
    pub synchronous_commit: String,
    pub synchronous_standby_names: String,
}

/// While they were the same in the same states, these followed a server that takes writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaPeriod {
    pub node: String,
    pub from: Nanos,
    /// The last look.
    pub to: Nanos,
    /// By `pg_stat_replication`, in the order of their names; as the last look saw them.
    pub followers: Vec<StreamingReplica>,
}

/// One that the log is sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamingReplica {
    /// Its `application_name`.
    pub name: String,
    /// `async`, `potential`, `sync` or `quorum`.
    pub sync_state: String,
    /// What it has confirmed to have on its disk.
    pub flushed: Option<Lsn>,
}

/// Whoever asks for a server's health was told for the first time that it takes writes, since it began to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthChange {
    pub node: String,
    pub at: Nanos,
    /// Of the server that it was said of.
    pub timeline: u32,
}

impl RoleMonitor {
    /// Begins to look at each of the servers, at once and then every so often. Of a server that hangs nothing is known until
    /// it goes on.
    pub fn start(
        servers: Vec<DirectServer>,
        every: Duration,
        now: impl Fn() -> Nanos + Clone + Send + 'static,
    ) -> io::Result<RoleMonitor> {
        let mut threads = Vec::new();
        for server in servers {
            let node = server.name.clone();
            let seen = Arc::new(Mutex::new(ServerHistory::default()));
            let (stop, stopped) = sync_channel(1);
            let (to, now) = (Arc::clone(&seen), now.clone());
            let run = move || poll_server(ServerPoller::new(server), every, &now, &to, &stopped);
            let handle = thread::Builder::new().name(format!("roles {node}")).spawn(run)?;
            threads.push(MonitorThread { seen, stop, handle });
        }
        Ok(RoleMonitor { threads })
    }

    /// What was seen until now.
    pub fn snapshot(&self) -> RoleObservations {
        let mut all = RoleObservations::default();
        for it in &self.threads {
            it.seen.lock().unwrap_or_else(PoisonError::into_inner).add_to(&mut all);
        }
        all.role_periods.sort_by_key(|it| it.from);
        all.settings.sort_by_key(|it| it.at);
        all.replica_periods.sort_by_key(|it| it.from);
        all.health_changes.sort_by_key(|it| it.at);
        all
    }

    /// The same, and no more looks. One that is under way is waited for, a second at most.
    pub fn stop(self) -> RoleObservations {
        for it in &self.threads {
            // It may have been told before.
            let _ = it.stop.try_send(());
        }
        let all = self.snapshot();
        for it in self.threads {
            let _ = it.handle.join();
        }
        all
    }
}

impl RoleObservations {
    /// Who each server was: of every spell its first look and its last, between which nothing else was seen.
    pub fn samples(&self) -> Vec<RoleSample> {
        let both = |it: &RolePeriod| {
            let at = |at| RoleSample { at, server: it.server.clone(), in_recovery: it.in_recovery };
            [Some(at(it.from)), Some(at(it.to)).filter(|_| it.from < it.to)]
        };
        let mut samples: Vec<RoleSample> = self.role_periods.iter().flat_map(both).flatten().collect();
        samples.sort_by_key(|it| it.at);
        samples
    }
}

/// What is known of one server.
#[derive(Debug, Default)]
struct ServerHistory {
    all: RoleObservations,
    /// The last look failed: what follows is not known to continue what was before.
    last_failed: bool,
}

/// What one look saw.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServerObservation {
    /// When it surely was so: for one in recovery, which ends once, before it was asked; else when it had answered.
    at: Nanos,
    server: ServerInstance,
    in_recovery: bool,
    /// Of one that takes writes: `synchronous_commit`, `synchronous_standby_names`, and who follows it.
    writes: Option<(String, String, Vec<StreamingReplica>)>,
}

impl ServerHistory {
    fn record(&mut self, node: &str, glance: Option<ServerObservation>) {
        let Some(glance) = glance else {
            self.last_failed = true;
            return;
        };
        let ServerObservation { at, server, in_recovery, writes } = glance;
        let goes_on = !std::mem::take(&mut self.last_failed);
        let node = node.to_owned();
        let last = self.all.role_periods.last_mut().filter(|_| goes_on);
        let last = last.filter(|it| it.server == server && it.in_recovery == in_recovery);
        let goes_on = last.is_some();
        match last {
            Some(it) => it.to = at,
            None => {
                let (node, server) = (node.clone(), server.clone());
                self.all.role_periods.push(RolePeriod { node, server, in_recovery, from: at, to: at });
            }
        }
        let Some((synchronous_commit, synchronous_standby_names, followers)) = writes else { return };
        let settings =
            CommitSettings { node: node.clone(), server, at, synchronous_commit, synchronous_standby_names };
        let told = |it: &CommitSettings| CommitSettings { at, ..it.clone() } == settings;
        if !self.all.settings.last().is_some_and(told) {
            self.all.settings.push(settings);
        }
        let alike = |it: &ReplicaPeriod| {
            let states = |of: &[StreamingReplica]| -> Vec<(String, String)> {
                of.iter().map(|it| (it.name.clone(), it.sync_state.clone())).collect()
            };
            states(&it.followers) == states(&followers)
        };
        match self.all.replica_periods.last_mut().filter(|it| goes_on && alike(it)) {
            Some(it) => (it.to, it.followers) = (at, followers),
            None => self.all.replica_periods.push(ReplicaPeriod { node, from: at, to: at, followers }),
        }
    }

    fn add_to(&self, all: &mut RoleObservations) {
        all.role_periods.extend_from_slice(&self.all.role_periods);
        all.settings.extend_from_slice(&self.all.settings);
        all.replica_periods.extend_from_slice(&self.all.replica_periods);
        all.health_changes.extend_from_slice(&self.all.health_changes);
    }
}

/// Looks, and waits for the next time or the end.
fn poll_server(
    mut look: ServerPoller,
    every: Duration,
    now: &dyn Fn() -> Nanos,
    to: &Mutex<ServerHistory>,
    stopped: &Receiver<()>,
) {
    let node = look.name().to_owned();
    let mut next = Instant::now();
    loop {
        let glance = look.poll(now);
        let healthy = glance.as_ref().and_then(|it| look.health(it, now));
        {
            let mut seen = to.lock().unwrap_or_else(PoisonError::into_inner);
            seen.record(&node, glance);
            seen.all.health_changes.extend(healthy);
        }
        // What was late is not made up for.
        next = (next + every).max(Instant::now());
        match stopped.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests;
