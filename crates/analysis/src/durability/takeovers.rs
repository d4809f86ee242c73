//! Servers that accepted writes, and the times at which they certainly did
//!
//! The evidence is the role of each server, its acknowledgements and the read-backs. It does not depend on who wrote to
//! the server.

use model::Nanos;
use model::durability::ServerInstance;
use std::cmp::Ordering;

/// Servers that accepted writes.
#[derive(Debug, Default)]
pub(super) struct Takeovers(Vec<Takeover>);

/// Server that accepted writes.
#[derive(Debug)]
struct Takeover {
    server: ServerInstance,
    /// Earliest time at which the server certainly accepted writes.
    at: Nanos,
}

impl Takeovers {
    /// Adds evidence that `server` accepted writes at the time `at`.
    pub fn add(&mut self, server: &ServerInstance, at: Nanos) {
        match self.0.iter_mut().find(|it| it.server == *server) {
            Some(known) => known.at = known.at.min(at),
            None => self.0.push(Takeover { server: server.clone(), at }),
        }
    }

    /// Orders the servers by timeline, then by time. Callers must call this after all evidence was added.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|it| (it.server.timeline, it.at));
    }

    /// Earliest time at which another server of the same system accepted writes and `server` no longer had the right to
    /// accept them: on a newer timeline, or later on the same timeline. `None` without such a server.
    pub fn deposed_at(&self, server: &ServerInstance) -> Option<Nanos> {
        let begun = self.0.iter().filter(|it| it.server.is_same_server(server));
        let begun = begun.filter(|it| it.server.timeline == server.timeline).map(|it| it.at).min();
        let is_newer = |other: &&Takeover| match other.server.timeline.cmp(&server.timeline) {
            Ordering::Greater => true,
            Ordering::Equal => begun.is_some_and(|begun| other.at > begun),
            Ordering::Less => false,
        };
        self.0
            .iter()
            .filter(|it| it.server.is_same_system(server) && !it.server.is_same_server(server))
            .filter(is_newer)
            .map(|it| it.at)
            .min()
    }

    /// Server with the newest timeline of those that certainly accepted writes at the time `at`.
    pub fn primary_at(&self, at: Nanos) -> Option<&ServerInstance> {
        self.0.iter().rfind(|it| it.at <= at).map(|it| &it.server)
    }

    /// Times of the failovers: another server than before accepted writes on a newer timeline.
    pub fn failovers(&self) -> Vec<Nanos> {
        let mut times = Vec::new();
        let mut primary: Option<&ServerInstance> = None;
        for Takeover { server, at } in &self.0 {
            if let Some(old) = primary {
                if !server.is_same_system(old) {
                    continue;
                }
                let is_failover = server.timeline > old.timeline && !server.is_same_server(old);
                times.extend(is_failover.then_some(*at));
            }
            primary = Some(server);
        }
        times
    }

    /// True if the process of `server` ended and the same server accepted writes again, after a restart or a promotion.
    pub fn was_restarted(&self, server: &ServerInstance) -> bool {
        let is_later =
            |it: &ServerInstance| (it.timeline, it.started_us) > (server.timeline, server.started_us);
        self.0.iter().any(|it| it.server.is_same_server(server) && is_later(&it.server))
    }
}
