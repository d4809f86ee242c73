//! What do the bytes really travel over, from node to node?

use super::{Chain, PATIENCE, Problem, failed};
use crate::ask::{Address, Connection};
use model::plan::{AttachedRole, Entrance, Kind};
use model::summary::Hop;

/// What PostgreSQL knows of the session that asks. Whoever stands directly in front of it opened that session.
const SESSION: &str = "select case when s.ssl then s.version end, inet_client_addr() is null \
    from pg_stat_ssl s where s.pid = pg_backend_pid()";

impl Chain {
    /// Finds out for every node. A hop that is not what the plan says is a failure.
    pub(super) fn find_hops(&mut self) -> Result<(), Problem> {
        let postgres = self.postgres().is_some();
        for at in 0..self.nodes.len() {
            // The session that enters here, or just before here.
            let from = &self.nodes[at.saturating_sub(1)];
            let name = self.nodes[at].plan.name.clone();
            let failure = |it: crate::ask::Error| failed(&name, "be reached", &it);
            let mut session = from.entrance.open(PATIENCE).map_err(failure)?;
            let hop = match at {
                0 => of(&session, &from.entrance.address),
                _ if postgres && at + 1 == self.nodes.len() => {
                    let answer = session.query(SESSION).map_err(failure)?;
                    let row = answer.rows.into_iter().next().unwrap_or_default();
                    match (row.first().cloned().flatten(), row.get(1).cloned().flatten().as_deref()) {
                        (Some(version), _) => protected(&version),
                        (None, Some("t")) => Hop::UnixSocket,
                        (None, _) => Hop::Tcp,
                    }
                }
                // A balancer passes bytes on: this session's protection is that of the hop behind it.
                _ if is_balancer(&from.plan.kind) => of(&session, &self.nodes[at].entrance.address),
                // Between two poolers: each was told to take nothing else.
                _ => match self.nodes[at].plan.entrance {
                    Entrance::Tls => protected("unknown"),
                    Entrance::Tcp => Hop::Tcp,
                    Entrance::Unix => Hop::UnixSocket,
                },
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
