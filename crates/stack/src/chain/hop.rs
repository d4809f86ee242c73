//! What do the bytes really travel over, from node to node?

use super::console::not_yet;
use super::{Chain, PATIENCE, Problem, failed};
use crate::ask::{Address, Connection, Error};
use crate::supervisor::{Answer, Supervisor};
use model::plan::{AttachedRole, Entrance, Kind};
use model::summary::Hop;

/// What PostgreSQL knows of the session that asks. Whoever stands directly in front of it opened that session.
const SESSION: &str = "select case when s.ssl then s.version end, inet_client_addr() is null \
    from pg_stat_ssl s where s.pid = pg_backend_pid()";

impl Chain {
    /// Finds out for every node. A hop that is not what the plan says is a failure.
    pub(super) fn find_hops(&mut self, supervisor: &mut Supervisor) -> Result<(), Problem> {
        let postgres = self.postgres().is_some();
        for at in 0..self.nodes.len() {
            // The session that enters here, or just before here.
            let this = &self.nodes[at];
            if this.url.is_some() {
                // Known when it was reached.
                continue;
            }
            let name = this.plan.name.clone();
            let before = at.checked_sub(1).map(|it| &self.nodes[it]).filter(|it| it.url.is_none());
            let from = before.unwrap_or(this);
            let last = postgres && before.is_some() && at + 1 == self.nodes.len();
            let look = || -> Result<Hop, Error> {
                let mut session = from.entrance.open(PATIENCE)?;
                Ok(if before.is_none() {
                    // A service is told to reach it as we do.
                    of(&session, &this.entrance.address)
                } else if last {
                    told(&session.query(SESSION)?.rows)
                } else if is_balancer(&from.plan.kind) {
                    // It passes bytes on: this session's protection is that of the hop behind it.
                    of(&session, &this.entrance.address)
                } else {
                    // Between two poolers: each was told to take nothing else.
                    match this.plan.entrance {
                        Entrance::Tls => protected("unknown"),
                        Entrance::Tcp => Hop::Tcp,
                        Entrance::Unix => Hop::UnixSocket,
                    }
                })
            };
            let hop = match from.node {
                // A balancer with one slot may still see the session before.
                Some(id) => supervisor
                    .await_ready(id, PATIENCE, || look().map_or_else(|it| not_yet(&it), Answer::Ready))?,
                None => look().map_err(|it| failed(&name, "be reached", &it))?,
            };
            let node = &mut self.nodes[at];
            let planned = match (&hop, node.plan.entrance) {
                (Hop::UnixSocket, wanted) => wanted == Entrance::Unix,
                (Hop::Tcp, wanted) => wanted == Entrance::Tcp,
                (Hop::TcpTls { .. }, wanted) => wanted == Entrance::Tls,
            };
            node.hop = hop;
            // The address of what is attached decides, whatever the plan says of it.
            if !planned && !node.is_attached() {
                let why = format!("{:?} was asked for, and it is {:?}", node.plan.entrance, node.hop);
                return Err(failed(&name, "be reached as planned", &why).into());
            }
        }
        Ok(())
    }
}

fn is_balancer(kind: &Kind) -> bool {
    match kind {
        Kind::HaProxy(_) => true,
        Kind::Attached(it) => it.role == AttachedRole::Balancer,
        _ => false,
    }
}

/// What PostgreSQL told of its session.
fn told(rows: &[Vec<Option<String>>]) -> Hop {
    match rows.first().map(Vec::as_slice) {
        Some([Some(version), ..]) => protected(version),
        Some([None, Some(unix)]) if unix == "t" => Hop::UnixSocket,
        _ => Hop::Tcp,
    }
}

/// The hop that this connection of ours made.
fn of(session: &Connection, address: &Address) -> Hop {
    match (session.protection(), address) {
        (Some(it), _) => protected(it.version),
        (None, Address::Unix(_)) => Hop::UnixSocket,
        (None, Address::Tcp(_)) => Hop::Tcp,
    }
}

/// `TLSv1.3` and `TLS 1.3` are 1.3.
fn protected(version: &str) -> Hop {
    let version = version.trim_start_matches("TLS").trim_start_matches(['v', ' ']);
    Hop::TcpTls { version: version.to_owned() }
}
