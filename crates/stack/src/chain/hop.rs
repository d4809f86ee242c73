//! Transport of each hop between nodes, as measured

use super::console::readiness_after_error;
use super::{Chain, ChainError, READY_TIMEOUT, node_error};
use crate::client::{Address, Connection, Error};
use crate::supervisor::{Readiness, Supervisor};
use model::plan::Transport;
use model::product::Role;
use model::summary::ServerTransport;

/// Reads the transport of the current session from PostgreSQL. The node directly in front of it opened that session.
const SESSION_SQL: &str = "select case when s.ssl then s.version end, inet_client_addr() is null \
    from pg_stat_ssl s where s.pid = pg_backend_pid()";

impl Chain {
    /// Determines the transport of every hop. A hop that differs from the plan is an error.
    pub(super) fn find_hops(&mut self, supervisor: &mut Supervisor) -> Result<(), ChainError> {
        let postgres = self.postgres().is_some();
        for at in 0..self.nodes.len() {
            // The session starts at this node, or at the node in front of it.
            let this = &self.nodes[at];
            if this.url.is_some() {
                // The transport was recorded when the node was attached.
                continue;
            }
            let name = this.plan.name.clone();
            let before = at.checked_sub(1).map(|it| &self.nodes[it]).filter(|it| it.url.is_none());
            let from = before.unwrap_or(this);
            let last = postgres && before.is_some() && at + 1 == self.nodes.len();
            let look = || -> Result<ServerTransport, Error> {
                let mut session = from.endpoint.open(READY_TIMEOUT)?;
                Ok(if before.is_none() {
                    // Services are configured with the same transport.
                    hop_of_connection(&session, &this.endpoint.address)
                } else if last {
                    hop_from_row(&session.query(SESSION_SQL)?.rows)
                } else if from.plan.kind.role() == Role::Balancer {
                    // The node forwards bytes, so this session has the encryption of the hop behind the node.
                    hop_of_connection(&session, &this.endpoint.address)
                } else {
                    // Two poolers: the plan's transport is the only one that their configuration permits.
                    match this.plan.transport {
                        Transport::Tls => tls_hop("unknown"),
                        Transport::Tcp => ServerTransport::Tcp,
                        Transport::Unix => ServerTransport::UnixSocket,
                    }
                })
            };
            let hop = match from.node {
                // A balancer with one slot may still hold the previous session.
                Some(id) => supervisor.await_ready(id, READY_TIMEOUT, || {
                    look().map_or_else(|it| readiness_after_error(&it), Readiness::Ready)
                })?,
                None => look().map_err(|it| node_error(&name, "be reached", &it))?,
            };
            let node = &mut self.nodes[at];
            let planned = match (&hop, node.plan.transport) {
                (ServerTransport::UnixSocket, transport) => transport == Transport::Unix,
                (ServerTransport::Tcp, transport) => transport == Transport::Tcp,
                (ServerTransport::TcpTls { .. }, transport) => transport == Transport::Tls,
            };
            node.hop = hop;
            // The address of an attached node determines the transport, whatever the plan says.
            if !planned && !node.is_attached() {
                let reason = format!(
                    "the plan requires {:?}, but the connection uses {:?}",
                    node.plan.transport, node.hop
                );
                return Err(node_error(&name, "be connected by the planned transport", &reason).into());
            }
        }
        Ok(())
    }
}

/// Parses the transport from the result of [`SESSION_SQL`].
fn hop_from_row(rows: &[Vec<Option<String>>]) -> ServerTransport {
    match rows.first().map(Vec::as_slice) {
        Some([Some(version), ..]) => tls_hop(version),
        Some([None, Some(unix)]) if unix == "t" => ServerTransport::UnixSocket,
        _ => ServerTransport::Tcp,
    }
}

/// Returns the transport of one of pgdyno's own connections.
fn hop_of_connection(session: &Connection, address: &Address) -> ServerTransport {
    match (session.protection(), address) {
        (Some(it), _) => tls_hop(it.version),
        (None, Address::Unix(_)) => ServerTransport::UnixSocket,
        (None, Address::Tcp(_)) => ServerTransport::Tcp,
    }
}

/// Parses a TLS version: removes the prefix of `TLSv1.3` and `TLS 1.3`.
fn tls_hop(version: &str) -> ServerTransport {
    let version = version.trim_start_matches("TLS").trim_start_matches(['v', ' ']);
    ServerTransport::TcpTls { version: version.to_owned() }
}
