//! Transport of each hop between nodes, as measured

use super::console::readiness_after_error;
use super::{Chain, ChainError, READY_TIMEOUT, node_error};
use crate::client::{Address, Connection, Error};
use crate::supervisor::{Readiness, Supervisor};
use model::message;
use model::plan::Transport;
use model::product::Role;
use model::summary::ServerTransport;

/// Query for the transport of its session. The node directly in front of PostgreSQL opened this session.
const SESSION_SQL: &str = "select case when s.ssl then s.version end, inet_client_addr() is null \
    from pg_stat_ssl s where s.pid = pg_backend_pid()";

impl Chain {
    /// Determines the transport of every hop. A hop that differs from the plan is an error.
    pub(super) fn find_hops(&mut self, supervisor: &mut Supervisor) -> Result<(), ChainError> {
        let postgres = self.postgres().is_some();
        for at in 0..self.nodes.len() {
            // Open the session through the node in front of this node, or directly if no such node speaks PostgreSQL's
            // protocol.
            let node = &self.nodes[at];
            if !node.is_database() {
                // The transport was recorded when the node was attached.
                continue;
            }
            let name = node.plan.name.clone();
            let before = at.checked_sub(1).map(|it| &self.nodes[it]).filter(|it| it.is_database());
            let from = before.unwrap_or(node);
            let last = postgres && before.is_some() && at + 1 == self.nodes.len();
            let look = || -> Result<ServerTransport, Error> {
                let mut session = from.endpoint.open(READY_TIMEOUT)?;
                Ok(if before.is_none() {
                    // The hop begins at a client or a service, which both use the same transport as this session.
                    hop_of_connection(&session, &node.endpoint.address)
                } else if last {
                    hop_from_row(&session.query(SESSION_SQL)?.rows)
                } else if from.plan.kind.role() == Role::Balancer {
                    // The node in front forwards bytes, so this session has the encryption of the hop behind that node.
                    hop_of_connection(&session, &node.endpoint.address)
                } else {
                    // The configuration of two adjacent poolers permits only the planned transport.
                    match node.plan.transport {
                        Transport::Tls => tls_hop("unknown"),
                        Transport::Tcp => ServerTransport::Tcp,
                        Transport::Unix => ServerTransport::UnixSocket,
                    }
                })
            };
            let hop = match from.node {
                // Retry, because a balancer with one slot may still hold the previous session.
                Some(id) => supervisor.await_ready(id, READY_TIMEOUT, || {
                    look().map_or_else(|it| readiness_after_error(&it), Readiness::Ready)
                })?,
                None => look().map_err(|it| node_error(&name, message!("attempt-reach"), &it))?,
            };
            let node = &mut self.nodes[at];
            let planned = match (&hop, node.plan.transport) {
                (ServerTransport::UnixSocket, transport) => transport == Transport::Unix,
                (ServerTransport::Tcp, transport) => transport == Transport::Tcp,
                (ServerTransport::TcpTls { .. }, transport) => transport == Transport::Tls,
            };
            node.hop = hop;
            // An attached node's address determines the transport, even if the plan differs.
            if !planned && !node.is_attached() {
                let (planned, actual) = (format!("{:?}", node.plan.transport), format!("{:?}", node.hop));
                let reason = message!("node-other-transport", planned, actual);
                return Err(node_error(&name, message!("attempt-use-transport"), reason).into());
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

/// Parses a TLS version: removes the prefix of `TLSv1.3` or `TLS 1.3`.
fn tls_hop(version: &str) -> ServerTransport {
    let version = version.trim_start_matches("TLS").trim_start_matches(['v', ' ']);
    ServerTransport::TcpTls { version: version.to_owned() }
}
