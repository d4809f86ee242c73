//! Check that attached poolers and balancers lead to the PostgreSQL server of their stack
//!
//! The address of a pooler does not show which server is behind it. pgdyno therefore opens a session through the
//! pooler, as clients do. It compares the database and start time that the session reports with those of the attached
//! PostgreSQL. The start time, in microseconds, identifies a server process.
//!
//! A primary and all its replicas share one system identifier. Equal identifiers therefore do not prove that the
//! servers are the same, but different identifiers prove that they differ. If the user is not permitted to read the
//! identifier, the start time decides. Messages show the server's address. Addresses are not compared, because one
//! server may have several.

use super::{Chain, ChainError, READY_TIMEOUT, RunningNode, node_error};
use crate::client::{Connection, Error};
use model::message;
use model::message::Message;

/// Identity of the server and database that a session uses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    database: String,
    /// Start time of the server by its own clock: in microseconds since 1970, and as text.
    started: (i64, String),
    /// Address at which the server accepted the session, as text.
    address: String,
    /// System identifier of the database cluster; `None` if the user is not permitted to read it.
    system: Option<String>,
}

const SERVER: &str = "select current_database(), (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint, \
    to_char(pg_postmaster_start_time() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), \
    coalesce(host(inet_server_addr()) || ' port ' || inet_server_port(), 'a Unix socket, port ' || current_setting('port'))";

pub(super) const SYSTEM: &str = "select system_identifier from pg_control_system()";

impl Chain {
    /// Rejects a chain in which an attached node leads to another server or database than the PostgreSQL of the chain.
    ///
    /// Opens one session through each attached node. A server that rejects the identifying query is not compared.
    pub(super) fn check_path(&self) -> Result<(), ChainError> {
        let Some(postgres) = self.postgres() else { return Ok(()) };
        let in_front = self.nodes.iter().filter(|it| it.is_attached() && it.is_database());
        let in_front: Vec<&RunningNode> = in_front.filter(|it| it.plan.name != postgres.plan.name).collect();
        if in_front.is_empty() {
            return Ok(());
        }
        let Some(expected) = identify(postgres)? else { return Ok(()) };
        for node in in_front {
            if let Some(reached) = identify(node)?
                && let Some(difference) = reached.difference(&expected)
            {
                let (name, server) = (&node.plan.name, &postgres.plan.name);
                let reason = message!(
                    "path-other-server",
                    name,
                    place = place(node),
                    reached = Message::from(&reached),
                    server,
                    expected_place = place(postgres),
                    expected = Message::from(&expected),
                    difference,
                );
                return Err(ChainError::InvalidPlan { node: name.clone(), reason });
            }
        }
        Ok(())
    }
}

/// Identifies the server behind a session through this node; `None` if the server lacks the queried functions.
fn identify(node: &RunningNode) -> Result<Option<Identity>, ChainError> {
    let failure = |it: Error| node_error(&node.plan.name, message!("attempt-report-server"), &it);
    let mut connection = node.endpoint.open(READY_TIMEOUT).map_err(failure)?;
    let row = match ask(&mut connection, SERVER).map_err(failure)? {
        Some(it) => it,
        None => return Ok(None),
    };
    let system = ask(&mut connection, SYSTEM).map_err(failure)?;
    Ok(Identity::read(&row, system.and_then(|it| it.into_iter().next()?)))
}

/// Returns the first row of the result; `None` if the server rejects the query and keeps the session.
pub(super) fn ask(connection: &mut Connection, sql: &str) -> Result<Option<Vec<Option<String>>>, Error> {
    match connection.query(sql) {
        Ok(it) => Ok(it.rows.into_iter().next()),
        Err(Error::Server(it)) if it.severity == "ERROR" => Ok(None),
        Err(error) => Err(error),
    }
}

fn place(node: &RunningNode) -> String {
    format!("{}/{}", node.endpoint.address, node.endpoint.login.database)
}

impl Identity {
    fn read(row: &[Option<String>], system: Option<String>) -> Option<Identity> {
        let value = |column: usize| row.get(column)?.clone();
        let started = (value(1)?.parse().ok()?, value(2)?);
        Some(Identity { database: value(0)?, started, address: value(3)?, system })
    }

    /// Describes how this server or database differs from the expected identity; `None` if both are the same.
    fn difference(&self, expected: &Identity) -> Option<Message> {
        let other_system = match (&self.system, &expected.system) {
            (Some(reached), Some(expected)) => reached != expected,
            _ => false,
        };
        if other_system || self.started.0 != expected.started.0 {
            let same_system = self.system.is_some() && !other_system;
            return Some(if same_system {
                message!("path-two-of-one-system")
            } else {
                message!("path-two-servers")
            });
        }
        (self.database != expected.database).then(|| message!("path-two-databases"))
    }
}

impl From<&Identity> for Message {
    fn from(Identity { database, started, address, system }: &Identity) -> Message {
        message!("path-identity", database, started = &started.1, address, system = system.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_servers_and_databases() {
        let identity = |database: &str, started, system: &str, address: &str| Identity {
            database: database.to_owned(),
            started: (started, String::new()),
            address: address.to_owned(),
            system: (!system.is_empty()).then(|| system.to_owned()),
        };
        let expected = identity("shop", 1_000_001, "7", "::1 port 5432");
        for (reached, difference) in [
            (identity("shop", 1_000_001, "7", "::1 port 5432"), None),
            // The same server at another of its addresses; then the same without the permission to read the identifier.
            (identity("shop", 1_000_001, "7", "a Unix socket, port 5432"), None),
            (identity("shop", 1_000_001, "", "::1 port 5432"), None),
            (identity("h4", 1_000_001, "7", "::1 port 5432"), Some(message!("path-two-databases"))),
            (identity("shop", 1_000_002, "8", "::1 port 5432"), Some(message!("path-two-servers"))),
            (identity("shop", 1_000_001, "8", "::1 port 5432"), Some(message!("path-two-servers"))),
            (identity("shop", 1_000_002, "", "::1 port 5432"), Some(message!("path-two-servers"))),
            (identity("shop", 1_000_002, "7", "::1 port 5432"), Some(message!("path-two-of-one-system"))),
        ] {
            assert_eq!(reached.difference(&expected), difference, "{reached:?}");
        }
    }

    #[test]
    fn parses_server_identity() {
        let row = |fields: [&str; 4]| fields.map(|it| (!it.is_empty()).then(|| it.to_owned()));
        let complete = row(["shop", "1763849723123456", "2025-11-22 22:15:23", "127.0.0.1 port 5432"]);
        let identity = Identity::read(&complete, Some("7".to_owned())).expect("nothing is missing");
        assert_eq!(
            Message::from(&identity).describe(),
            "path-identity(shop, 2025-11-22 22:15:23, 127.0.0.1 port 5432, 7)"
        );
        for cells in [["", "1", "t", "a"], ["d", "", "t", "a"], ["d", "x", "t", "a"], ["d", "1", "", "a"]] {
            assert_eq!(Identity::read(&row(cells), None), None, "{cells:?}");
        }
    }
}
