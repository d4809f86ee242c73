//! Monitors roles, commit settings and replicas of all servers over time
//!
//! Servers are queried directly, not through poolers or balancers. Each server has a separate thread, so that a hanging
//! server delays no other. A server that pgdyno started keeps its socket and port when it is killed, restarted or
//! copied again. Therefore the addresses stay valid while the monitor runs, and only the replication topology changes.

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

/// Direct connection to one server, not through poolers or balancers.
#[derive(Clone, Debug)]
pub struct DirectServer {
    /// Name of the server's node.
    pub name: String,
    /// Superuser login to the application's database.
    ///
    /// The login uses the socket if pgdyno started the server, so that it also works if the server is isolated.
    pub target: Target,
    /// Address that the server reports to clients that write, such as `127.0.0.1:5432` or `local:5432`. `None` means
    /// the address that the server reports on this connection.
    pub address: Option<String>,
    /// User whose commit settings are read: the application's user.
    pub role: String,
    /// URL that returns 200 if the server accepts writes; balancers check it.
    pub health: Option<Url>,
}

/// Poll interval, and thereby the maximum age of an observation.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Threads that poll the servers until they are stopped.
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

/// All observations; each list is ordered by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleObservations {
    pub role_periods: Vec<RolePeriod>,
    pub settings: Vec<CommitSettings>,
    pub replica_periods: Vec<ReplicaPeriod>,
    pub health_changes: Vec<HealthChange>,
}

/// Period in which every poll of one server succeeded and returned the same role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolePeriod {
    pub node: String,
    pub server: ServerInstance,
    /// Result of `pg_is_in_recovery()`.
    pub in_recovery: bool,
    /// Setting `fsync`.
    pub fsync: bool,
    /// Time of the first poll.
    pub from: Nanos,
    pub to: Nanos,
}

/// Commit settings of a server that accepts writes, valid from the time `at` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSettings {
    pub node: String,
    pub server: ServerInstance,
    pub at: Nanos,
    /// Value for a new session of the application's user. Values that a session sets for itself are not observed.
    pub synchronous_commit: String,
    pub synchronous_standby_names: String,
}

/// Period in which a server that accepts writes had the same replicas in the same states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaPeriod {
    pub node: String,
    pub from: Nanos,
    /// Time of the last poll.
    pub to: Nanos,
    /// Replicas in `pg_stat_replication` at the last poll, ordered by name.
    pub followers: Vec<StreamingReplica>,
}

/// Replica that receives WAL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamingReplica {
    /// `application_name` of the replica.
    pub name: String,
    /// State of the replica: `async`, `potential`, `sync` or `quorum`.
    pub sync_state: String,
    /// Last WAL position that the replica confirmed as flushed to disk.
    pub flushed: Option<Lsn>,
}

/// First time after a promotion or start at which the health endpoint reported that the server accepts writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthChange {
    pub node: String,
    pub at: Nanos,
    /// Timeline of the server at that time.
    pub timeline: u32,
}

impl RoleMonitor {
    /// Starts polling each server at once, then at each interval. A hanging server has no observations until it
    /// responds again.
    pub fn start(
        servers: Vec<DirectServer>,
        every: Duration,
        now: impl Fn() -> Nanos + Clone + Send + 'static,
    ) -> io::Result<RoleMonitor> {
        let mut threads = Vec::new();
        for server in servers {
            let node = server.name.clone();
            let history = Arc::new(Mutex::new(ServerHistory::default()));
            let (stop, stopped) = sync_channel(1);
            let (to, now) = (Arc::clone(&history), now.clone());
            let run = move || poll_server(ServerPoller::new(server), every, &now, &to, &stopped);
            let handle = thread::Builder::new().name(format!("roles {node}")).spawn(run)?;
            threads.push(MonitorThread { seen: history, stop, handle });
        }
        Ok(RoleMonitor { threads })
    }

    /// Returns the observations so far.
    pub fn snapshot(&self) -> RoleObservations {
        let mut all = RoleObservations::default();
        for thread in &self.threads {
            thread.seen.lock().unwrap_or_else(PoisonError::into_inner).add_to(&mut all);
        }
        all.role_periods.sort_by_key(|it| it.from);
        all.settings.sort_by_key(|it| it.at);
        all.replica_periods.sort_by_key(|it| it.from);
        all.health_changes.sort_by_key(|it| it.at);
        all
    }

    /// Stops polling and returns all observations. Waits at most a second for a poll that is in progress.
    pub fn stop(self) -> RoleObservations {
        for thread in &self.threads {
            // The channel is full if the thread was already stopped.
            let _ = thread.stop.try_send(());
        }
        let all = self.snapshot();
        for thread in self.threads {
            let _ = thread.handle.join();
        }
        all
    }
}

impl RoleObservations {
    /// Returns samples of each server's identity over time: the first and the last poll of each period.
    pub fn samples(&self) -> Vec<RoleSample> {
        let both = |period: &RolePeriod| {
            let at = |at| RoleSample {
                at,
                server: period.server.clone(),
                in_recovery: period.in_recovery,
                fsync: period.fsync,
            };
            [Some(at(period.from)), Some(at(period.to)).filter(|_| period.from < period.to)]
        };
        let mut samples: Vec<RoleSample> = self.role_periods.iter().flat_map(both).flatten().collect();
        samples.sort_by_key(|it| it.at);
        samples
    }
}

/// Observations of one server over time.
#[derive(Debug, Default)]
struct ServerHistory {
    all: RoleObservations,
    /// True if the last poll failed, so that the next observation does not continue the previous period.
    last_failed: bool,
}

/// Observation from one poll.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServerObservation {
    /// Time at which the observation was certainly true. For a server in recovery, this is a time before the query,
    /// because recovery ends only once. For other servers, it is a time after the response.
    at: Nanos,
    server: ServerInstance,
    in_recovery: bool,
    fsync: bool,
    /// `synchronous_commit`, `synchronous_standby_names` and the replicas; only set for a server that accepts writes.
    writes: Option<(String, String, Vec<StreamingReplica>)>,
}

impl ServerHistory {
    fn record(&mut self, node: &str, observation: Option<ServerObservation>) {
        let Some(observation) = observation else {
            self.last_failed = true;
            return;
        };
        let ServerObservation { at, server, in_recovery, fsync, writes } = observation;
        let goes_on = !std::mem::take(&mut self.last_failed);
        let node = node.to_owned();
        let last = self.all.role_periods.last_mut().filter(|_| goes_on);
        let last =
            last.filter(|it| it.server == server && it.in_recovery == in_recovery && it.fsync == fsync);
        let goes_on = last.is_some();
        match last {
            Some(it) => it.to = at,
            None => {
                let (node, server) = (node.clone(), server.clone());
                self.all.role_periods.push(RolePeriod { node, server, in_recovery, fsync, from: at, to: at });
            }
        }
        let Some((synchronous_commit, synchronous_standby_names, followers)) = writes else { return };
        let settings =
            CommitSettings { node: node.clone(), server, at, synchronous_commit, synchronous_standby_names };
        let is_same = |it: &CommitSettings| CommitSettings { at, ..it.clone() } == settings;
        if !self.all.settings.last().is_some_and(is_same) {
            self.all.settings.push(settings);
        }
        let alike = |period: &ReplicaPeriod| {
            let states = |replicas: &[StreamingReplica]| -> Vec<(String, String)> {
                replicas.iter().map(|it| (it.name.clone(), it.sync_state.clone())).collect()
            };
            states(&period.followers) == states(&followers)
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

/// Polls one server until stopped.
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
        let observation = look.poll(now);
        let healthy = observation.as_ref().and_then(|it| look.health(it, now));
        {
            let mut history = to.lock().unwrap_or_else(PoisonError::into_inner);
            history.record(&node, observation);
            history.all.health_changes.extend(healthy);
        }
        // Missed polls are skipped.
        next = (next + every).max(Instant::now());
        match stopped.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests;
