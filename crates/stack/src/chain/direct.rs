//! Direct endpoints of the servers, and the function that identifies a server to its clients

use super::{Chain, NodeHandle, READY_TIMEOUT, RunningNode, attach, node_error};
use crate::client::Address;
use crate::roles::DirectServer;
use crate::supervisor::NodeError;
use model::message;
use wire::HostName;
use wire::http::{Host, Url};

/// Name of the SQL function that identifies the server that executes it: `select pgdyno_server()`.
pub const IDENTITY_FUNCTION: &str = "pgdyno_server";

impl Chain {
    /// Lists every PostgreSQL server by name. The targets stay valid after kills, restarts and promotions, until the
    /// chain changes.
    pub fn direct_targets(&self) -> Vec<DirectServer> {
        let attached = self.attached_servers();
        if !attached.is_empty() {
            return attached;
        }
        let servers = self.servers();
        let is_managed = !servers.is_empty();
        let all = if is_managed { servers } else { self.postgres().into_iter().collect() };
        let each = all.into_iter().enumerate().map(|(at, server)| {
            let target = server.admin.as_ref().unwrap_or(&server.endpoint);
            DirectServer {
                name: server.plan.name.clone(),
                target: target.in_database(&self.users.database),
                address: Some(server).filter(|_| is_managed).map(identity_address),
                role: self.users.app.name.clone(),
                health: self.health_url(at),
            }
        });
        each.collect()
    }

    /// Host names of the attached nodes, whose addresses may change, each with the name of its node.
    pub fn host_names(&self) -> Vec<(String, HostName)> {
        let of_node = |node: &RunningNode| {
            let targets = std::iter::once(&node.endpoint).chain(&node.other_hosts);
            let names = targets.filter_map(|target| Some((node.plan.name.clone(), target.host.clone()?)));
            names.collect::<Vec<_>>()
        };
        self.nodes().iter().flat_map(of_node).collect()
    }

    /// Servers of an attached cluster. Connection strings that cannot be resolved are left out, because
    /// [`Chain::check_attached_servers`] reports them.
    fn attached_servers(&self) -> Vec<DirectServer> {
        let dsns = self.nodes().last().map_or(&[][..], |it| attach::servers(&it.plan));
        let user = &self.users.app.name;
        dsns.iter().filter_map(|dsn| attach::direct_server(dsn, user).ok()).collect()
    }

    /// Reports a connection string of an attached cluster's server that cannot be resolved.
    pub fn check_attached_servers(&self) -> Result<(), NodeError> {
        let dsns = self.nodes().last().map_or(&[][..], |it| attach::servers(&it.plan));
        for dsn in dsns {
            let failed = |reason| node_error("stack.postgres.servers", message!("attempt-find"), reason);
            attach::direct_server(dsn, &self.users.app.name).map_err(failed)?;
        }
        Ok(())
    }

    /// Lists targets like [`Chain::direct_targets`], but with the superuser's login and over TCP. An isolated server is
    /// unreachable over TCP, but not over its Unix socket. Empty if the server is attached.
    pub fn direct_tcp_targets(&self) -> Vec<DirectServer> {
        let by_tcp = |(direct, running): (DirectServer, &RunningNode)| match &running.handle {
            NodeHandle::Postgres(server) => {
                let target = server.target_tcp().in_database(&self.users.database);
                Some(DirectServer { target, ..direct })
            }
            NodeHandle::Program { .. } | NodeHandle::Attached => None,
        };
        self.direct_targets().into_iter().zip(self.servers()).filter_map(by_tcp).collect()
    }

    /// Creates the function `pgdyno_server()` in the application's database. The function returns the value of
    /// `expression` as text, and every user may call it.
    ///
    /// Call this after the tables are filled and the replicas exist; replication copies the function.
    pub fn create_identity_function(&mut self, expression: &str) -> Result<(), NodeError> {
        if self.replication().is_some() {
            self.update_primary();
        }
        let Some(running) = self.primary().or(self.postgres()) else {
            return Err(node_error(
                IDENTITY_FUNCTION,
                message!("attempt-create"),
                message!("node-no-postgres"),
            ));
        };
        let target = running.admin.as_ref().unwrap_or(&running.endpoint).in_database(&self.users.database);
        // Create the function in `public` regardless of the search path, because the ledger's writers call it there.
        let sql = format!(
            "create or replace function public.{IDENTITY_FUNCTION}() returns text language sql volatile parallel safe \
             as $pgdyno$ select {expression} $pgdyno$; \
             grant execute on function public.{IDENTITY_FUNCTION}() to public"
        );
        let made = target.open(READY_TIMEOUT).and_then(|mut session| {
            let exists = format!("select to_regprocedure('public.{IDENTITY_FUNCTION}()') is not null");
            // The application's user of an attached server may use the function, but may not be allowed to create it.
            let is_attached = matches!(running.handle, NodeHandle::Attached);
            if is_attached && session.value(&exists)?.as_deref() == Some("t") {
                return Ok(());
            }
            session.query(&sql).map(drop)
        });
        made.map_err(|it| node_error(&running.plan.name, message!("attempt-report-identity"), &it))
    }

    /// URL that reports whether a server is the primary.
    fn health_url(&self, at: usize) -> Option<Url> {
        let address = self.replicas.as_ref()?.health_endpoints.get(at)?.address();
        let host = Host::Tcp(address.ip().to_string(), address.port());
        Some(Url { host, tls: false, target: "/primary".to_owned() })
    }
}

/// Address of the server, in the form that a session on the server reports.
fn identity_address(running: &RunningNode) -> String {
    match &running.endpoint.address {
        Address::Tcp(it) => format!("{}:{}", it.ip(), it.port()),
        Address::Unix(path) => {
            // The file extension is the port number, as in `.s.PGSQL.5432`.
            let port = path.extension().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
            format!("local:{port}")
        }
    }
}
