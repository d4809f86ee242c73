//! Which kinds of node can the stack consist of?
//!
//! Each is a file here and a line in [`ALL`]. A component is pure: it is told what is wanted and answers which files and
//! which arguments its program needs; [`crate::chain`] writes, starts and asks.

pub mod etcd;
pub mod haproxy;
pub mod odyssey;
pub mod patroni;
pub mod pgbouncer;
pub mod postgres;
pub mod program;
pub mod service;

use crate::client::Address;
use crate::supervisor::{Sig, StopStep};
use crate::tls_files::TlsFiles;
use model::plan::{Node, NodeKind};
use program::ProgramInfo;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use wire::pg::Secret;

/// Every component whose program we look for.
pub const ALL: &[&dyn Component] = &[
    &postgres::PostgresComponent,
    &pgbouncer::PgBouncerComponent,
    &odyssey::OdysseyComponent,
    &haproxy::HaProxyComponent,
];

/// The component that starts such a node; `None` for what is attached.
pub fn for_kind(kind: &NodeKind) -> Option<&'static dyn Component> {
    let service: &dyn Component = &service::ServiceComponent;
    ALL.iter().copied().chain([service]).find(|it| it.handles(kind))
}

/// One kind of node. Called by the chain, from its thread, whenever a node is to be started.
pub trait Component: fmt::Debug + Sync {
    /// How its program is called, asked and installed.
    fn names(&self) -> &'static ProgramInfo;

    /// True for the kind it starts.
    fn handles(&self, kind: &NodeKind) -> bool;

    /// What its program needs to be this node; or, in a sentence, why it cannot be.
    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, String>;
}

/// What a component is told.
#[derive(Clone, Copy, Debug)]
pub struct NodeContext<'a> {
    pub node: &'a Node,
    /// Of the program: major and minor, such as (1, 18).
    pub version: (u32, u32),
    /// Where it is to wait for clients.
    pub address: &'a Address,
    /// There if any hop of the chain is protected.
    pub tls: Option<&'a TlsFiles>,
    /// Where it finds what serves it; `None` for PostgreSQL, and a service without a database.
    pub upstream: Option<&'a NodeEndpoint<'a>>,
    /// What it shares requests among, in place of `behind`, if it is a balancer before an HTTP service.
    pub copies: Option<&'a Copies<'a>>,
    /// What it tells apart, in place of `behind`, if it is a balancer before several PostgreSQL servers.
    pub servers: Option<&'a Servers<'a>>,
    pub users: &'a Users,
    /// The directory that its files will lie in, and that no one else writes to.
    pub files: &'a Path,
    /// A directory that it may write to: sockets, data.
    pub home: &'a Path,
    /// The machine's, in bytes.
    pub memory: u64,
}

/// How a node reaches the one behind it.
#[derive(Clone, Debug)]
pub struct NodeEndpoint<'a> {
    /// The name of the node.
    pub name: &'a str,
    pub address: Address,
    /// Where it lets those in who only read, if replicas are behind it.
    pub read_only: Option<Address>,
    pub tls: EndpointTls,
}

/// One HTTP service, or several that are equal.
#[derive(Clone, Debug)]
pub struct Copies<'a> {
    /// At least one.
    pub endpoints: Vec<NodeEndpoint<'a>>,
    /// The path that each answers with 200 when it is ready.
    pub ready: &'a str,
}

/// PostgreSQL servers with the same rows, of which one is the primary.
#[derive(Clone, Debug)]
pub struct Servers<'a> {
    /// Each with the place that tells by its status whether it is the primary, at `/primary`, or a replica, at `/replica`.
    pub endpoints: Vec<(NodeEndpoint<'a>, SocketAddr)>,
    /// Where clients of the replicas are to be waited for.
    pub read_only: SocketAddr,
    /// Whether sessions end with the role of their server.
    pub shutdown_sessions: bool,
}

/// What the node behind must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointTls {
    Off,
    /// TLS, with any certificate.
    Unchecked,
    /// TLS, with a certificate for its address that this root has signed.
    Checked {
        root: PathBuf,
    },
}

/// Who logs in.
#[derive(Clone, Debug)]
pub struct Users {
    /// The application's.
    pub app: User,
    /// The database that the application uses.
    pub database: String,
    /// Who may use the consoles of poolers.
    pub console: User,
}

#[derive(Clone, Debug)]
pub struct User {
    pub name: String,
    pub password: Secret,
    /// What PostgreSQL keeps of the password, where the user is ours. A pooler that is given the same checks a log-in as
    /// cheaply as the server does; with the password alone PgBouncer 1.18 spends 3.4 ms of CPU on each, and Odyssey 2.5.
    pub verifier: Option<Secret>,
}

impl User {
    /// Someone new, with a random password.
    pub fn new(name: &str) -> std::io::Result<User> {
        let password = postgres::random_password()?;
        let salt = crate::client::nonce()?;
        let salt: &[u8; 16] = salt.first_chunk().expect("a nonce has 18 bytes");
        let verifier = Some(Secret::new(wire::pg::scram_verifier(password.reveal(), salt)));
        Ok(User { name: name.to_owned(), password, verifier })
    }

    /// What a pooler checks log-ins with.
    fn pooler_secret(&self) -> &str {
        self.verifier.as_ref().unwrap_or(&self.password).reveal()
    }
}

/// What makes a program the node wanted.
#[derive(Clone, Debug)]
pub struct LaunchSpec {
    /// Names in [`Given::files`], and contents, which may hold secrets. The first one is the configuration proper.
    pub files: Vec<(String, String)>,
    /// Arguments: no secrets.
    pub arguments: Vec<String>,
    /// Beside what every program is given: no secrets.
    pub environment: Vec<(String, String)>,
    /// As `environment`.
    pub secrets: Vec<(String, Secret)>,
    pub stop: Vec<StopStep>,
    /// What the kernel sends it if nobody is left to stop it.
    pub orphaned: Sig,
    /// The database by which its console is reached.
    pub console: Option<&'static str>,
    /// The socket that tells its statistics.
    pub statistics: Option<PathBuf>,
}

impl Users {
    /// The same without passwords, to show what was written.
    pub fn masked(&self) -> Users {
        let mask = |it: &User| User { name: it.name.clone(), password: Secret::new("***"), verifier: None };
        Users { app: mask(&self.app), database: self.database.clone(), console: mask(&self.console) }
    }
}

/// The host and port of libpq for an address: a directory stands for its Unix sockets.
fn host_and_port(address: &Address) -> (String, String) {
    match address {
        Address::Tcp(it) => (it.ip().to_string(), it.port().to_string()),
        Address::Unix(path) => {
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            let port = name.rsplit_once('.').map_or("5432", |it| it.1);
            let directory = path.parent().unwrap_or(Path::new("/"));
            (directory.display().to_string(), port.to_owned())
        }
    }
}

/// Our lines, without those that the user's settings set too, then the user's.
fn with_settings<'a>(
    ours: Vec<(&'a str, String)>,
    settings: &'a [(String, String)],
) -> Vec<(&'a str, String)> {
    let free = |name: &str| settings.iter().all(|it| it.0 != name);
    let mut all: Vec<_> = ours.into_iter().filter(|it| free(it.0)).collect();
    all.extend(settings.iter().map(|(name, value)| (name.as_str(), value.clone())));
    all
}

#[cfg(test)]
mod tests;
