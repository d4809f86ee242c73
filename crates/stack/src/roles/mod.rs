//! Who takes writes, what does each server promise, and when did that change?
//!
//! Servers are asked directly, past poolers and balancers, each on a thread of its own: one that hangs holds no other up.
//! A server of ours keeps its socket and its port however often it is killed, restarted or copied anew, so what was known
//! when the watch began stays true; only who follows whom changes.

pub(crate) mod identity;
mod look;

use crate::ask::Target;
use crate::replication::Lsn;
use look::Look;
pub(crate) use look::commit_of;
use model::Nanos;
use model::durability::{Sample, Server};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wire::http::Url;

/// How one server is reached, past everything that stands before it.
#[derive(Clone, Debug)]
pub struct Direct {
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
pub const EVERY: Duration = Duration::from_millis(100);

/// Looks until it is stopped.
#[derive(Debug)]
pub struct Watcher {
    threads: Vec<Thread>,
}

#[derive(Debug)]
struct Thread {
    seen: Arc<Mutex<Seen>>,
    stop: SyncSender<()>,
    handle: JoinHandle<()>,
}

/// Everything that was seen; each list in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    pub spells: Vec<Spell>,
    pub settings: Vec<Settings>,
    pub followed: Vec<Followed>,
    pub healthy: Vec<Healthy>,
}

/// A time in which all looks at one server saw the same, and none failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spell {
    pub node: String,
    pub server: Server,
    /// `pg_is_in_recovery()`.
    pub in_recovery: bool,
    /// The first and the last look.
    pub from: Nanos,
    pub to: Nanos,
}

/// From a moment on a server that takes writes promised what follows from these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub node: String,
    pub server: Server,
    pub at: Nanos,
    /// What a new session of the application's user has. What a session sets for itself is not known.
    pub synchronous_commit: String,
    pub synchronous_standby_names: String,
}

/// While they were the same in the same states, these followed a server that takes writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    pub node: String,
    pub from: Nanos,
    /// The last look.
    pub to: Nanos,
    /// By `pg_stat_replication`, in the order of their names; as the last look saw them.
    pub followers: Vec<Follower>,
}

/// One that the log is sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    /// Its `application_name`.
    pub name: String,
    /// `async`, `potential`, `sync` or `quorum`.
    pub sync_state: String,
    /// What it has confirmed to have on its disk.
    pub flushed: Option<Lsn>,
}

/// Whoever asks for a server's health was told for the first time that it takes writes, since it began to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Healthy {
    pub node: String,
    pub at: Nanos,
    /// Of the server that it was said of.
    pub timeline: u32,
}

impl Watcher {
    /// Begins to look at each of the servers, at once and then every so often. Of a server that hangs nothing is known until
    /// it goes on.
    pub fn start(
        servers: Vec<Direct>,
        every: Duration,
        now: impl Fn() -> Nanos + Clone + Send + 'static,
    ) -> io::Result<Watcher> {
        let mut threads = Vec::new();
        for server in servers {
            let node = server.name.clone();
            let seen = Arc::new(Mutex::new(Seen::default()));
            let (stop, stopped) = sync_channel(1);
            let (to, now) = (Arc::clone(&seen), now.clone());
            let run = move || watch(Look::new(server), every, &now, &to, &stopped);
            let handle = thread::Builder::new().name(format!("roles {node}")).spawn(run)?;
            threads.push(Thread { seen, stop, handle });
        }
        Ok(Watcher { threads })
    }

    /// What was seen until now.
    pub fn so_far(&self) -> Watched {
        let mut all = Watched::default();
        for it in &self.threads {
            it.seen.lock().unwrap_or_else(PoisonError::into_inner).add_to(&mut all);
        }
        all.spells.sort_by_key(|it| it.from);
        all.settings.sort_by_key(|it| it.at);
        all.followed.sort_by_key(|it| it.from);
        all.healthy.sort_by_key(|it| it.at);
        all
    }

    /// The same, and no more looks. One that is under way is waited for, a second at most.
    pub fn stop(self) -> Watched {
        for it in &self.threads {
            // It may have been told before.
            let _ = it.stop.try_send(());
        }
        let all = self.so_far();
        for it in self.threads {
            let _ = it.handle.join();
        }
        all
    }
}

impl Watched {
    /// Who each server was: of every spell its first look and its last, between which nothing else was seen.
    pub fn samples(&self) -> Vec<Sample> {
        let both = |it: &Spell| {
            let at = |at| Sample { at, server: it.server.clone(), in_recovery: it.in_recovery };
            [Some(at(it.from)), Some(at(it.to)).filter(|_| it.from < it.to)]
        };
        let mut samples: Vec<Sample> = self.spells.iter().flat_map(both).flatten().collect();
        samples.sort_by_key(|it| it.at);
        samples
    }
}

/// What is known of one server.
#[derive(Debug, Default)]
struct Seen {
    all: Watched,
    /// The last look failed: what follows is not known to continue what was before.
    silent: bool,
}

/// What one look saw.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Glance {
    /// When it surely was so: for one in recovery, which ends once, before it was asked; else when it had answered.
    at: Nanos,
    server: Server,
    in_recovery: bool,
    /// Of one that takes writes: `synchronous_commit`, `synchronous_standby_names`, and who follows it.
    writes: Option<(String, String, Vec<Follower>)>,
}

impl Seen {
    fn take(&mut self, node: &str, glance: Option<Glance>) {
        let Some(glance) = glance else {
            self.silent = true;
            return;
        };
        let Glance { at, server, in_recovery, writes } = glance;
        let goes_on = !std::mem::take(&mut self.silent);
        let node = node.to_owned();
        let last = self.all.spells.last_mut().filter(|_| goes_on);
        let last = last.filter(|it| it.server == server && it.in_recovery == in_recovery);
        let goes_on = last.is_some();
        match last {
            Some(it) => it.to = at,
            None => {
                let (node, server) = (node.clone(), server.clone());
                self.all.spells.push(Spell { node, server, in_recovery, from: at, to: at });
            }
        }
        let Some((synchronous_commit, synchronous_standby_names, followers)) = writes else { return };
        let settings =
            Settings { node: node.clone(), server, at, synchronous_commit, synchronous_standby_names };
        let told = |it: &Settings| Settings { at, ..it.clone() } == settings;
        if !self.all.settings.last().is_some_and(told) {
            self.all.settings.push(settings);
        }
        let alike = |it: &Followed| {
            let states = |of: &[Follower]| -> Vec<(String, String)> {
                of.iter().map(|it| (it.name.clone(), it.sync_state.clone())).collect()
            };
            states(&it.followers) == states(&followers)
        };
        match self.all.followed.last_mut().filter(|it| goes_on && alike(it)) {
            Some(it) => (it.to, it.followers) = (at, followers),
            None => self.all.followed.push(Followed { node, from: at, to: at, followers }),
        }
    }

    fn add_to(&self, all: &mut Watched) {
        all.spells.extend_from_slice(&self.all.spells);
        all.settings.extend_from_slice(&self.all.settings);
        all.followed.extend_from_slice(&self.all.followed);
        all.healthy.extend_from_slice(&self.all.healthy);
    }
}

/// Looks, and waits for the next time or the end.
fn watch(mut look: Look, every: Duration, now: &dyn Fn() -> Nanos, to: &Mutex<Seen>, stopped: &Receiver<()>) {
    let node = look.name().to_owned();
    let mut next = Instant::now();
    loop {
        let glance = look.look(now);
        let healthy = glance.as_ref().and_then(|it| look.health(it, now));
        {
            let mut seen = to.lock().unwrap_or_else(PoisonError::into_inner);
            seen.take(&node, glance);
            seen.all.healthy.extend(healthy);
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
