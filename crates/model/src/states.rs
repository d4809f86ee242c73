//! States of sessions, pools and servers over the trials of a cell

use schemars::JsonSchema;
use serde::Serialize;

/// States that the probes sampled in the trials of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CellStates {
    /// Index into the experiment's cells.
    pub cell: usize,
    /// Sessions of PostgreSQL, the largest group first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionGroup>,
    /// Pools of the poolers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolStates>,
    /// Servers of the balancers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerStates>,
}

/// Mean and maximum over the samples of all trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gauge {
    pub mean: f64,
    pub max: f64,
}

/// Sessions of a PostgreSQL server with the same application, user, client and state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SessionGroup {
    pub node: String,
    /// State as `pg_stat_activity` shows it.
    pub state: String,
    /// Address of the client, `[local]` for a Unix socket; empty if it is hidden.
    pub client: String,
    pub user: String,
    /// `application_name`; empty if the session has none.
    pub application: String,
    pub sessions: Gauge,
}

/// States of one pool. Figures that the console does not report are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoolStates {
    pub node: String,
    /// Database, or database and user, as the console names the pool.
    pub pool: String,
    pub clients_active: Option<Gauge>,
    pub clients_waiting: Option<Gauge>,
    pub servers_active: Option<Gauge>,
    pub servers_idle: Option<Gauge>,
    /// Waiting time of the client that had waited longest, in seconds.
    #[serde(rename = "longest_wait_s")]
    pub longest_wait: Option<f64>,
    /// Maximum number of server connections of the pool.
    pub size: Option<f64>,
    /// Additional server connections for clients that wait long.
    pub reserve: Option<f64>,
    /// Server connections of the database.
    pub connections: Option<Gauge>,
    /// Share of the samples in which the database was paused, 0..=1.
    pub paused: Option<f64>,
}

/// States of one server of a balancer, or of a sum over its servers or clients.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ServerStates {
    pub node: String,
    /// Proxy and server, as the balancer names them.
    pub server: String,
    /// Share of the samples in which the server accepted sessions, 0..=1.
    pub up: Option<f64>,
    pub sessions: Option<Gauge>,
    pub queue: Option<Gauge>,
    /// Sessions that began, failed connections, invalid responses and repeated connections within the windows, over all
    /// trials.
    pub begun: Option<f64>,
    pub connection_errors: Option<f64>,
    pub response_errors: Option<f64>,
    pub retries: Option<f64>,
}
