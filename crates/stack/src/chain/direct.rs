//! How is each server asked past everything that stands before it, and how does a writer learn which one it reached?

use super::{Chain, NodeHandle, READY_TIMEOUT, RunningNode, node_error};
use crate::client::Address;
use crate::roles::DirectServer;
use crate::supervisor::NodeError;
use wire::http::{Host, Url};

/// Tells who answers: `select pgdyno_server()`.
pub const IDENTITY_FUNCTION: &str = "pgdyno_server";

impl Chain {
    /// Every PostgreSQL server, in the order of their names. What is known of them stays true when they are killed, restarted
    /// or promoted, until the chain becomes another one.
    pub fn direct_targets(&self) -> Vec<DirectServer> {
        let servers = self.servers();
        let ours = !servers.is_empty();
        let all = if ours { servers } else { self.postgres().into_iter().collect() };
        let each = all.into_iter().enumerate().map(|(at, it)| {
            let target = it.admin.as_ref().unwrap_or(&it.endpoint);
            DirectServer {
                name: it.plan.name.clone(),
                target: target.in_database(&self.users.database),
                address: Some(it).filter(|_| ours).map(identity_address),
                role: self.users.app.name.clone(),
                health: self.health_url(at),
            }
        });
        each.collect()
    }

    /// The same, as superuser still, over the network that clients use: one that is cut off is not reached. Empty where the
    /// PostgreSQL is not ours.
    pub fn direct_tcp_targets(&self) -> Vec<DirectServer> {
        let by_tcp = |(direct, running): (DirectServer, &RunningNode)| match &running.handle {
            NodeHandle::Postgres(it) => {
                let target = it.target_tcp().in_database(&self.users.database);
                Some(DirectServer { target, ..direct })
            }
            NodeHandle::Program { .. } | NodeHandle::Attached => None,
        };
        self.direct_targets().into_iter().zip(self.servers()).filter_map(by_tcp).collect()
    }

    /// Gives the application's database a function `pgdyno_server()` that returns the value of this SQL expression, a text, to
    /// whoever asks. To be called when the tables are filled and the replicas are there, which get it with the rest.
    pub fn create_identity_function(&mut self, expression: &str) -> Result<(), NodeError> {
        if self.replication().is_some() {
            self.update_primary();
        }
        let Some(running) = self.primary().or(self.postgres()) else {
            return Err(node_error(IDENTITY_FUNCTION, "be made", &"there is no PostgreSQL"));
        };
        let target = running.admin.as_ref().unwrap_or(&running.endpoint).in_database(&self.users.database);
        // In `public`, whatever the search path of whoever makes it: there those who write look for it.
        let sql = format!(
            "create or replace function public.{IDENTITY_FUNCTION}() returns text language sql volatile parallel safe \
             as $pgdyno$ select {expression} $pgdyno$; \
             grant execute on function public.{IDENTITY_FUNCTION}() to public"
        );
        let made = target.open(READY_TIMEOUT).and_then(|mut it| it.query(&sql));
        made.map(drop).map_err(|it| node_error(&running.plan.name, "tell who it is", &it))
    }

    /// Where it is told of the server whether it takes writes.
    fn health_url(&self, at: usize) -> Option<Url> {
        let address = self.replicas.as_ref()?.health_endpoints.get(at)?.address();
        let host = Host::Tcp(address.ip().to_string(), address.port());
        Some(Url { host, tls: false, target: "/primary".to_owned() })
    }
}

/// What the server tells those who come in by its entrance.
fn identity_address(running: &RunningNode) -> String {
    match &running.endpoint.address {
        Address::Tcp(it) => format!("{}:{}", it.ip(), it.port()),
        Address::Unix(path) => {
            // `.s.PGSQL.5432`.
            let port = path.extension().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
            format!("local:{port}")
        }
    }
}
