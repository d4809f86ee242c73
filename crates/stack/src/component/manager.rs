//! Cluster managers, which promote a replica, and their consensus stores

use super::program::ProgramInfo;
use crate::supervisor::Readiness;
use model::plan::{ManagerSettings, SyncMode};
use model::product::Product;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// Cluster manager. A manager process runs next to each PostgreSQL server, starts it, and promotes a replica if the
/// primary fails.
///
/// The chain calls it from its thread. The implementation is pure: it computes files and requests and parses responses.
pub trait ClusterManager: fmt::Debug + Sync {
    fn product(&self) -> &'static Product;

    /// Names of the manager's program, and how to install it. Its only argument is the configuration file.
    fn names(&self) -> &'static ProgramInfo;

    /// Consensus store of the manager; `None` if the manager needs none.
    fn store(&self) -> Option<&'static dyn ConsensusStore>;

    /// Oldest version that supports this synchronous mode; `None` for every version.
    fn oldest_version(&self, sync: SyncMode) -> Option<(u32, u32)>;

    /// Name of the file with the configuration for a server.
    fn configuration_file(&self, server: &str) -> String {
        format!("{server}.{}.yml", self.names().program)
    }

    /// Renders the configuration for one of the servers.
    fn configuration(&self, given: &ManagerContext<'_>) -> String;

    /// Name of a file next to a server's data. The settings in it would override those of a later configuration.
    fn state_file(&self) -> &'static str;

    /// Timeout for the manager to stop its server and then itself.
    fn stop_timeout(&self) -> Duration;

    /// Ready if the queried server holds the leader key.
    fn is_leader(&self, ask: AskManager<'_>) -> Readiness<()>;

    /// Counts the synchronous standbys that the manager has recorded. The manager promotes none of the other servers.
    fn sync_standbys(&self, ask: AskManager<'_>) -> usize;

    /// Asks the server `leader` to hand over to `candidate`, or to a server that the manager chooses.
    fn switch_over(&self, ask: AskManager<'_>, leader: &str, candidate: Option<&str>) -> Readiness<()>;
}

/// Function that sends a request to the HTTP API of a cluster manager: GET, or POST if there is a body. Returns status
/// and body.
///
/// The API also responds to `/primary` and `/replica` with a status code, for balancers.
pub type AskManager<'a> = &'a dyn Fn(&str, Option<&str>) -> io::Result<(u16, String)>;

/// Consensus store of a cluster manager.
pub trait ConsensusStore: fmt::Debug + Sync {
    fn product(&self) -> &'static Product;

    /// Names of the store's program, and how to install it.
    fn names(&self) -> &'static ProgramInfo;

    /// Arguments of the member at `index`. Its data directory is below `home` and has the member's name.
    fn arguments(&self, members: &[StoreMember], index: usize, home: &Path) -> Vec<String>;

    /// Path for which a member returns status 200 when it is ready.
    fn health_path(&self) -> &'static str;
}

/// One server of a consensus store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreMember {
    pub name: String,
    /// Addresses for clients and for the other members.
    pub clients: SocketAddr,
    pub peers: SocketAddr,
}

/// Input of [`ClusterManager::configuration`] for one server.
#[derive(Clone, Debug)]
pub struct ManagerContext<'a> {
    pub name: &'a str,
    pub settings: &'a ManagerSettings,
    pub sync: SyncMode,
    /// Client addresses of the consensus store.
    pub store: &'a [SocketAddr],
    /// Address of the manager's API, which reports the server's role.
    pub api: SocketAddr,
    pub postgres: SocketAddr,
    pub data: &'a Path,
    pub bin: &'a Path,
    /// Directory of the server's Unix socket, and of the files that it writes.
    pub home: &'a Path,
    /// Lines of `postgresql.conf`.
    pub parameters: &'a [(String, String)],
    /// Name and password of the superuser.
    pub superuser: (&'a str, &'a str),
    pub replicator: (&'a str, &'a str),
}
