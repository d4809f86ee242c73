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
        let begun = self.0.iter().filter(|it| self.is_same_server(&it.server, server));
        let begun = begun.filter(|it| it.server.timeline == server.timeline).map(|it| it.at).min();
        let is_newer = |other: &&Takeover| match other.server.timeline.cmp(&server.timeline) {
            Ordering::Greater => true,
            Ordering::Equal => begun.is_some_and(|begun| other.at > begun),
            Ordering::Less => false,
        };
        self.0
            .iter()
            .filter(|it| it.server.is_same_system(server) && !self.is_same_server(&it.server, server))
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
                let is_failover = server.timeline > old.timeline && !self.is_same_server(server, old);
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
        self.0.iter().any(|it| self.is_same_server(&it.server, server) && is_later(&it.server))
    }

    /// True for the same server. If clients see two addresses of a server, another takeover connects its processes.
    fn is_same_server(&self, one: &ServerInstance, other: &ServerInstance) -> bool {
        let connects = |it: &Takeover| it.server.is_same_server(one) && it.server.is_same_server(other);
        one.is_same_server(other) || self.0.iter().any(connects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients see the server through its socket, and the monitor sees it through the network.
    #[test]
    fn a_restarted_server_with_two_addresses_is_one_server() {
        let server = |address: &str, started_us| ServerInstance {
            system: 1,
            address: address.to_owned(),
            started_us,
            timeline: 1,
        };
        let mut takeovers = Takeovers::default();
        for (address, started_us, at) in
            [("local", 10, 1), ("net", 10, 0), ("net", 20, 50), ("local", 20, 51)]
        {
            takeovers.add(&server(address, started_us), Nanos(at));
        }
        takeovers.sort();
        assert_eq!(takeovers.deposed_at(&server("local", 10)), None);
        assert!(takeovers.was_restarted(&server("local", 10)));
        takeovers.add(&server("other", 30), Nanos(60));
        takeovers.sort();
        assert_eq!(takeovers.deposed_at(&server("local", 10)), Some(Nanos(60)));
        assert_eq!(takeovers.failovers(), []);
    }
}
