//! Components: the products that pgdyno starts, with the files and arguments that their programs need
//!
//! Each component is a file in this module and a line in [`ALL`]. The file also contains the product's console and log
//! format. A component is pure: it computes files and arguments from its context. [`crate::chain`] writes the files,
//! and starts and checks the program.

pub mod etcd;
pub mod haproxy;
mod invalid_node;
pub mod manager;
pub mod odyssey;
pub mod patroni;
pub mod pgbouncer;
pub mod pgpool;
pub mod postgres;
pub mod program;
pub mod service;

pub use invalid_node::InvalidNode;

use crate::client::Address;
use crate::log_parser::LogFormat;
use crate::probe::{self, Probe};
use crate::supervisor::{Readiness, Sig, StopStep};
use crate::tls_files::TlsFiles;
use manager::ClusterManager;
use model::Series;
use model::plan::{Node, NodeKind};
use model::product::{Product, Role};
use program::ProgramInfo;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use wire::pg::Secret;

/// Components whose programs are searched for on this machine.
pub const ALL: &[&dyn Component] = &[
    &postgres::PostgresComponent,
    &pgbouncer::PgBouncerComponent,
    &odyssey::OdysseyComponent,
    &haproxy::HaProxyComponent,
    &pgpool::PgpoolComponent,
];

/// Cluster managers that pgdyno supports.
pub const MANAGERS: &[&dyn ClusterManager] = &[&patroni::Patroni];

/// Returns the cluster manager of this product; `None` if the product is not one.
pub fn manager(product: &Product) -> Option<&'static dyn ClusterManager> {
    MANAGERS.iter().copied().find(|it| it.product() == product)
}

/// Lists programs that a stack may contain in addition to PostgreSQL, each with its product.
pub fn programs() -> impl Iterator<Item = (&'static Product, &'static ProgramInfo)> {
    let nodes = ALL.iter().map(|it| (it.product(), it.names()));
    let stores = MANAGERS.iter().filter_map(|it| it.store()).map(|it| (it.product(), it.names()));
    let managers = MANAGERS.iter().map(|it| (it.product(), it.names()));
    nodes.chain(managers).chain(stores).filter(|it| it.0.role != Role::Server)
}

/// Returns the component that starts this kind of node; `None` for attached nodes.
pub fn for_kind(kind: &NodeKind) -> Option<&'static dyn Component> {
    if kind.is_attached() { None } else { for_product(kind.product()) }
}

/// Returns the component of this product; `None` if there is none.
pub fn for_product(product: &Product) -> Option<&'static dyn Component> {
    let service: &dyn Component = &service::ServiceComponent;
    ALL.iter().copied().chain([service]).find(|it| it.product() == product)
}

/// Lists all probes, including those of the components.
pub fn probes() -> impl Iterator<Item = &'static Probe> {
    let components = ALL.iter().flat_map(|it| it.probes());
    probe::ALL.iter().chain(components).copied()
}

/// Finds the probe with this name.
pub fn find_probe(name: &str) -> Option<&'static Probe> {
    probes().find(|it| it.name == name)
}

/// Lists the series of all probes. A series that several products report is listed once.
pub fn series() -> Vec<&'static Series> {
    let mut all: Vec<&Series> = Vec::new();
    for series in probes().flat_map(|it| it.series) {
        if all.iter().all(|it| it.name != series.name) {
            all.push(series);
        }
    }
    all
}

/// Finds the series with this name.
pub fn find_series(name: &str) -> Option<&'static Series> {
    probes().flat_map(|it| it.series).find(|it| it.name == name)
}

/// Function that sends a command to a statistics socket and returns the whole output.
pub type AskStatistics<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// Product that pgdyno starts. The chain calls a component from its thread whenever it starts a node; the sampler calls
/// it once when sampling starts.
pub trait Component: fmt::Debug + Sync {
    fn product(&self) -> &'static Product;

    /// Names of the product's program, and how to install it.
    fn names(&self) -> &'static ProgramInfo;

    /// Computes the files and arguments of the program.
    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, InvalidNode>;

    fn log_format(&self) -> LogFormat;

    /// Probes of the product's console or statistics.
    fn probes(&self) -> &'static [&'static Probe] {
        &[]
    }

    /// Console query that returns the version.
    fn version_query(&self) -> &'static str {
        "show version"
    }

    /// Reads the version of the running program from its statistics. Called if [`LaunchSpec::statistics`] is set.
    fn statistics_version(&self, _ask: AskStatistics<'_>) -> Readiness<String> {
        Readiness::Ready(String::new())
    }

    /// Ready if the balancer has determined which of several servers is the primary. Called if
    /// [`LaunchSpec::statistics`] is set and several servers are behind the balancer.
    fn knows_roles(&self, _ask: AskStatistics<'_>) -> Readiness<()> {
        Readiness::Ready(())
    }
}

/// Returns an error if the program is older than the oldest version that is known to work.
fn check_version(product: &'static Product, version: (u32, u32)) -> Result<(), InvalidNode> {
    let oldest = product.pooler.as_ref().map_or((0, 0), |it| it.oldest_version);
    if version < oldest { Err(InvalidNode::TooOld { product, version, oldest }) } else { Ok(()) }
}

/// Input of [`Component::launch_spec`].
#[derive(Clone, Copy, Debug)]
pub struct NodeContext<'a> {
    pub node: &'a Node,
    /// Version of the program: major and minor, such as (1, 18).
    pub version: (u32, u32),
    /// Address on which the node listens for clients.
    pub address: &'a Address,
    /// TLS files; set if any hop of the chain uses TLS.
    pub tls: Option<&'a TlsFiles>,
    /// Node behind this node; `None` for PostgreSQL, and for a service without a database.
    pub upstream: Option<&'a NodeEndpoint<'a>>,
    /// Services among which a balancer distributes requests. They replace `upstream`.
    pub copies: Option<&'a Copies<'a>>,
    /// PostgreSQL servers between which a balancer chooses by role. They replace `upstream`.
    pub servers: Option<&'a Servers<'a>>,
    pub users: &'a Users,
    /// Directory for the node's configuration files, to which only pgdyno writes.
    pub files: &'a Path,
    /// Directory for the node's sockets and data, to which the node may write.
    pub home: &'a Path,
    /// Directory of a service's program, which all programs of a copy share.
    pub directory: &'a Path,
    /// Addresses of the other programs of a service that a program mentions, by name.
    pub programs: &'a [(String, SocketAddr)],
    /// Physical memory of the machine, bytes.
    pub memory: u64,
}

/// Endpoint of a node, for the node in front of it.
#[derive(Clone, Debug)]
pub struct NodeEndpoint<'a> {
    /// Name of the node.
    pub name: &'a str,
    pub address: Address,
    /// Endpoint for read-only clients, if replicas are behind the node.
    pub read_only: Option<Address>,
    pub tls: EndpointTls,
}

/// Copies of an HTTP service, at least one.
#[derive(Clone, Debug)]
pub struct Copies<'a> {
    /// Endpoints of the copies; never empty.
    pub endpoints: Vec<NodeEndpoint<'a>>,
    /// Path for which each copy returns status 200 when it is ready.
    pub ready: &'a str,
}

/// PostgreSQL servers with the same data, one of which is the primary.
#[derive(Clone, Debug)]
pub struct Servers<'a> {
    /// Each server with the address that returns a status code for `/primary` and `/replica`.
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
    /// TLS, with a certificate for the node's address that this root has signed.
    Checked {
        root: PathBuf,
    },
}

/// Users that log in.
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
    /// costs a pooler about 3 ms of CPU time.
    pub verifier: Option<Secret>,
}

impl User {
    /// Creates a user with a random password.
    pub fn new(name: &str) -> io::Result<User> {
        let password = postgres::random_password()?;
        let salt = crate::client::nonce()?;
        let salt: &[u8; 16] = salt.first_chunk().expect("a nonce has 18 bytes");
        let verifier = Some(Secret::new(wire::pg::scram_verifier(password.reveal(), salt)));
        Ok(User { name: name.to_owned(), password, verifier })
    }

    /// Returns the secret with which a pooler checks logins: the verifier if it is known, otherwise the password.
    fn pooler_secret(&self) -> &str {
        self.verifier.as_ref().unwrap_or(&self.password).reveal()
    }
}

/// Files, arguments and signals to run a program as the requested node.
#[derive(Clone, Debug)]
pub struct LaunchSpec {
    /// Names of files in [`NodeContext::files`], and their contents, which may hold secrets. The first file is the main
    /// configuration.
    pub files: Vec<(String, String)>,
    /// Command-line arguments, without secrets.
    pub arguments: Vec<String>,
    /// Environment variables in addition to those that every program gets, without secrets.
    pub environment: Vec<(String, String)>,
    /// Secret environment variables.
    pub secrets: Vec<(String, Secret)>,
    pub stop: Vec<StopStep>,
    /// Signal that the kernel sends to the program when the keeper dies.
    pub orphaned: Sig,
    pub console: Option<Console>,
    /// Path of the socket for statistics.
    pub statistics: Option<PathBuf>,
}

/// Login for a pooler's console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// Database of this name, with the login [`Users::console`].
    Database(&'static str),
    /// Any session of the application. The pooler itself answers some statements in it.
    Application,
}

impl Users {
    /// Returns a copy without passwords, for configuration that is shown.
    pub fn masked(&self) -> Users {
        let mask = |it: &User| User { name: it.name.clone(), password: Secret::new("***"), verifier: None };
        Users { app: mask(&self.app), database: self.database.clone(), console: mask(&self.console) }
    }
}

/// Returns host and port of an address in libpq's form: a directory stands for the Unix sockets in it.
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

/// Merges configuration lines. The user's settings replace default settings of the same name and come last.
fn with_settings<'a>(
    defaults: Vec<(&'a str, String)>,
    settings: &'a [(String, String)],
) -> Vec<(&'a str, String)> {
    let free = |name: &str| settings.iter().all(|it| it.0 != name);
    let mut all: Vec<_> = defaults.into_iter().filter(|it| free(it.0)).collect();
    all.extend(settings.iter().map(|(name, value)| (name.as_str(), value.clone())));
    all
}

#[cfg(test)]
mod tests;
