//! Nodes that earlier trials of a run measured
//!
//! All trials of a run that use a node must measure the same server or program. A resumed run may find another server
//! at the address of an attached node, or another version of an installed program.

use model::message;
use model::message::Message;
use model::plan::{Node, NodeKind, Setup, started_nodes};
use model::target::ServerIdentity;
use stack::chain::Chain;
use store::NodeRecord;

/// Versions and identities of the measured nodes, by their plans.
#[derive(Clone, Debug, Default)]
pub struct KnownNodes(Vec<KnownNode>);

#[derive(Clone, Debug)]
struct KnownNode {
    plan: Node,
    version: String,
    /// Identity of an attached PostgreSQL server, if known.
    server: Option<ServerIdentity>,
}

impl KnownNodes {
    /// Adds the nodes of a stored trial.
    pub fn add_stored(&mut self, setup: &Setup, nodes: &[NodeRecord], server: Option<&ServerIdentity>) {
        for plan in started_nodes(&setup.stack.nodes) {
            if let Some(stored) = nodes.iter().find(|it| it.name == plan.name) {
                self.add(&plan, &stored.version, server.filter(|_| is_server(setup, &plan)));
            }
        }
    }

    /// Adds the nodes of a running chain. `server` is the identity of its attached PostgreSQL server.
    pub fn add_chain(&mut self, chain: &Chain, server: Option<&ServerIdentity>) {
        let last = chain.postgres().map(|it| &it.plan.name);
        for node in chain.nodes() {
            self.add(&node.plan, &node.version, server.filter(|_| Some(&node.plan.name) == last));
        }
    }

    fn add(&mut self, plan: &Node, version: &str, server: Option<&ServerIdentity>) {
        if !self.0.iter().any(|it| it.plan == *plan) {
            let (plan, version, server) = (plan.clone(), version.to_owned(), server.cloned());
            self.0.push(KnownNode { plan, version, server });
        }
    }

    /// Checks that the nodes of a chain are the nodes that earlier trials measured. The error contains both nodes.
    pub fn check(&self, chain: &Chain, server: Option<&ServerIdentity>) -> Result<(), Message> {
        let last = chain.postgres().map(|it| &it.plan.name);
        chain.nodes().iter().try_for_each(|node| {
            self.check_node(&node.plan, &node.version, server.filter(|_| Some(&node.plan.name) == last))
        })
    }

    fn check_node(&self, plan: &Node, version: &str, server: Option<&ServerIdentity>) -> Result<(), Message> {
        let Some(known) = self.0.iter().find(|it| it.plan == *plan) else { return Ok(()) };
        let (node, address) = (&plan.name, attached_address(&plan.kind));
        match (&known.server, server) {
            (Some(before), Some(now)) if !before.matches(now) => {
                let (before, now) = (identity(before), identity(now));
                Err(message!("run-other-server", node, address, now, before))
            }
            (Some(_), Some(_)) => Ok(()),
            _ if release(&known.version) != release(version) => {
                let (now, before) = (version, &known.version);
                Err(message!("run-other-version", node, address, now, before))
            }
            _ => Ok(()),
        }
    }
}

fn is_server(setup: &Setup, node: &Node) -> bool {
    setup.stack.nodes.last().is_some_and(|it| it.name == node.name)
}

/// Address of an attached node.
fn attached_address(kind: &NodeKind) -> Option<&str> {
    match kind {
        NodeKind::Attached(it) => Some(&it.dsn),
        _ => None,
    }
}

fn identity(server: &ServerIdentity) -> Message {
    let ServerIdentity { system, major_version, database } = server;
    message!("run-server-identity", version = major_version.to_string(), system = system.as_ref(), database)
}

/// Part of a version that must not change during a run. For PostgreSQL, the major version (15 of `15.18 (Debian …)`);
/// for other products, the whole text (`nginx/1.22.1`). `None` if the version is unknown.
fn release(version: &str) -> Option<&str> {
    let number = version.split(|it: char| !it.is_ascii_digit()).next().filter(|it| !it.is_empty());
    number.or(Some(version)).filter(|it| !matches!(*it, "" | "unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::{AttachedNode, Limits, Transport};
    use model::product;
    use report::lang::english;

    fn node(name: &str, dsn: &str) -> Node {
        let product = if name == "postgres" { &product::POSTGRESQL } else { &product::PGBOUNCER };
        let attached = AttachedNode {
            product,
            dsn: dsn.to_owned(),
            admin: None,
            allow: None,
            other_sessions: 0,
            metrics: Vec::new(),
            servers: Vec::new(),
        };
        let (kind, limits) = (NodeKind::Attached(attached), Limits::default());
        Node { name: name.to_owned(), kind, transport: Transport::Tcp, limits }
    }

    fn server(system: &str, major_version: u32, database: &str) -> ServerIdentity {
        let system = (!system.is_empty()).then(|| system.to_owned());
        ServerIdentity { system, major_version, database: database.to_owned() }
    }

    #[test]
    fn another_server_at_the_same_address_is_rejected() {
        let mut known = KnownNodes::default();
        let shop = node("postgres", "host=db dbname=shop");
        known.add(&shop, "15.18", Some(&server("7001", 15, "shop")));
        for (now, expected) in [
            (server("7001", 15, "shop"), None),
            (server("", 15, "shop"), None),
            (
                server("7002", 15, "shop"),
                Some("PostgreSQL 15, system identifier 7002, database \"shop\" now"),
            ),
            (
                server("7001", 16, "shop"),
                Some("PostgreSQL 16, system identifier 7001, database \"shop\" now"),
            ),
            (
                server("7001", 15, "copy"),
                Some("PostgreSQL 15, system identifier 7001, database \"copy\" now"),
            ),
        ] {
            let error = known.check_node(&shop, "15.18", Some(&now)).err();
            match expected {
                None => assert_eq!(error, None),
                Some(expected) => {
                    let error = english().message(&error.expect(expected));
                    let before = "was PostgreSQL 15, system identifier 7001, database \"shop\"";
                    assert!(error.contains(expected) && error.contains(before), "{error}");
                }
            }
        }
        // Another node, or one that was never measured.
        let other = node("postgres", "host=db2 dbname=shop");
        assert_eq!(known.check_node(&other, "16.1", Some(&server("7002", 16, "shop"))), Ok(()));
    }

    #[test]
    fn another_version_is_rejected() {
        for (before, now, same) in [
            ("15.18 (Debian 15.18-0+deb12u1)", "15.19 (Debian)", true),
            ("15.18", "16.1", false),
            ("nginx/1.22.1", "nginx/1.22.1", true),
            ("nginx/1.22.1", "nginx/1.24.0", false),
            ("PgBouncer 1.21.0", "PgBouncer 1.18.0", false),
            ("unknown", "", true),
        ] {
            let mut known = KnownNodes::default();
            let pooler = node("pooler", "host=db");
            known.add(&pooler, before, None);
            assert_eq!(known.check_node(&pooler, now, None).is_ok(), same, "{before}, {now}");
        }
    }
}
