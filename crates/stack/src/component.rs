//! Components: the kinds of node of a stack, with the files and arguments that their programs need
//!
//! Each component is a file here and a line in [`ALL`]. A component is pure: it computes files and arguments from its
//! context; [`crate::chain`] writes, starts and checks.

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

/// Every component whose program is searched on this machine.
pub const ALL: &[&dyn Component] = &[
    &postgres::PostgresComponent,
    &pgbouncer::PgBouncerComponent,
    &odyssey::OdysseyComponent,
    &haproxy::HaProxyComponent,
];

/// The component that starts this kind of node; `None` for attached nodes.
pub fn for_kind(kind: &NodeKind) -> Option<&'static dyn Component> {
    let service: &dyn Component = &service::ServiceComponent;
    ALL.iter().copied().chain([service]).find(|it| it.handles(kind))
}

/// One kind of node. The chain calls it from its thread whenever it starts a node.
pub trait Component: fmt::Debug + Sync {
    /// Names of its program, and how to install it.
    fn names(&self) -> &'static ProgramInfo;

    /// True for the kind of node that it starts.
    fn handles(&self, kind: &NodeKind) -> bool;

    /// Files and arguments for its program, or a sentence why it cannot be this node.
    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, String>;
}

/// Input of [`Component::launch_spec`].
#[derive(Clone, Copy, Debug)]
pub struct NodeContext<'a> {
    pub node: &'a Node,
    /// Version of the program: major and minor, such as (1, 18).
    pub version: (u32, u32),
    /// Address on which it listens for clients.
    pub address: &'a Address,
    /// Set if any hop of the chain uses TLS.
    pub tls: Option<&'a TlsFiles>,
    /// The node behind it; `None` for PostgreSQL, and for a service without a database.
    pub upstream: Option<&'a NodeEndpoint<'a>>,
    /// The services among which a balancer distributes requests; replaces `upstream`.
    pub copies: Option<&'a Copies<'a>>,
    /// The PostgreSQL servers between which a balancer chooses by role; replaces `upstream`.
    pub servers: Option<&'a Servers<'a>>,
    pub users: &'a Users,
    /// Directory for its configuration files, to which only pgdyno writes.
    pub files: &'a Path,
    /// Directory to which it may write: sockets, data.
    pub home: &'a Path,
    /// Memory of the machine, bytes.
    pub memory: u64,
}

/// Endpoint of a node for the node in front of it.
#[derive(Clone, Debug)]
pub struct NodeEndpoint<'a> {
    /// Name of the node.
    pub name: &'a str,
    pub address: Address,
    /// Its endpoint for read-only clients, if it has replicas behind it.
    pub read_only: Option<Address>,
    pub tls: EndpointTls,
}

/// One HTTP service, or several equal ones.
#[derive(Clone, Debug)]
pub struct Copies<'a> {
    /// At least one.
    pub endpoints: Vec<NodeEndpoint<'a>>,
    /// The path that each answers with 200 when it is ready.
    pub ready: &'a str,
}

/// PostgreSQL servers with the same rows; one is the primary.
#[derive(Clone, Debug)]
pub struct Servers<'a> {
    /// Each server with the address that answers `/primary` and `/replica` by its status.
    pub endpoints: Vec<(NodeEndpoint<'a>, SocketAddr)>,
    /// Address on which the balancer listens for clients of the replicas.
    pub read_only: SocketAddr,
    /// True if sessions end when their server changes its role.
    pub shutdown_sessions: bool,
}

/// TLS that a node requires of the node behind it.
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

/// The users that log in.
#[derive(Clone, Debug)]
pub struct Users {
    /// The application's user.
    pub app: User,
    /// The application's database.
    pub database: String,
    /// User of the poolers' consoles.
    pub console: User,
}

#[derive(Clone, Debug)]
pub struct User {
    pub name: String,
    pub password: Secret,
    /// SCRAM verifier of the password, as PostgreSQL stores it; set for users that pgdyno created.
    ///
    /// With the verifier, a pooler checks a login as cheaply as the server does. With only the password, each login
    /// costs PgBouncer 1.18 3.4 ms of CPU, and Odyssey 2.5 ms.
    pub verifier: Option<Secret>,
}

impl User {
    /// A new user with a random password.
    pub fn new(name: &str) -> std::io::Result<User> {
        let password = postgres::random_password()?;
        let salt = crate::client::nonce()?;
        let salt: &[u8; 16] = salt.first_chunk().expect("a nonce has 18 bytes");
        let verifier = Some(Secret::new(wire::pg::scram_verifier(password.reveal(), salt)));
        Ok(User { name: name.to_owned(), password, verifier })
    }

    /// The verifier if known, else the password, for a pooler to check logins.
    fn pooler_secret(&self) -> &str {
        self.verifier.as_ref().unwrap_or(&self.password).reveal()
    }
}

/// Files, arguments and signals to run a program as the requested node.
#[derive(Clone, Debug)]
pub struct LaunchSpec {
    /// Names in [`NodeContext::files`], and contents, which may hold secrets. The first is the main configuration.
    pub files: Vec<(String, String)>,
    /// Arguments: no secrets.
    pub arguments: Vec<String>,
    /// In addition to the environment that every program gets: no secrets.
    pub environment: Vec<(String, String)>,
    /// Secret environment variables.
    pub secrets: Vec<(String, Secret)>,
    pub stop: Vec<StopStep>,
    /// Signal that the kernel sends to the program when the keeper dies.
    pub orphaned: Sig,
    /// Name of the database that is its console.
    pub console: Option<&'static str>,
    /// Socket for its statistics.
    pub statistics: Option<PathBuf>,
}

impl Users {
    /// A copy without passwords, for configuration that is shown.
    pub fn masked(&self) -> Users {
        let mask = |it: &User| User { name: it.name.clone(), password: Secret::new("***"), verifier: None };
        Users { app: mask(&self.app), database: self.database.clone(), console: mask(&self.console) }
    }
}

/// Host and port of an address in libpq's form: a directory stands for its Unix sockets.
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

/// Our lines, except those that the user's settings also set, then the user's.
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
