//! Types of replicas and faults.

use super::{Limits, ManagerKind, OneOrMany, Part};
use crate::unit::{Bytes, Duration, Offset, Word};
use schemars::JsonSchema;
use serde::Deserialize;

/// Server that executes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerTarget {
    Primary,
    Replica,
    /// Any server may execute the operation.
    Any,
}

/// Replicas of `postgres`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replicas {
    /// Number of replicas.
    #[schemars(range(min = 1, max = 16))]
    pub count: u32,
    /// Replicas that a commit waits for: `async` (none), `first 1` or `any 1`. Default: `async`.
    pub sync: Option<Word>,
    /// Program that promotes a replica if the primary fails: `pgdyno` or a cluster manager. Default: `pgdyno`.
    pub manager: Option<ManagerKind>,
    /// With `manager: pgdyno`: replica to promote. Default: `advanced`.
    pub promote: Option<Promote>,
    /// With `manager: pgdyno`: time without a response after which the primary is considered failed. Default: 1s.
    pub timeout: Option<Duration>,
    /// With `manager: pgdyno`: whether the old primary is killed before the promotion. Default: true.
    pub fence: Option<bool>,
    /// Whether the balancer closes the sessions of a server whose role has changed. Default: true.
    pub shutdown_sessions: Option<bool>,
    /// Whether to measure the replication lag that readers see. pgdyno then writes to a separate table five times per
    /// second. Default: true.
    pub freshness: Option<bool>,
    /// Settings of Patroni.
    #[serde(rename = "patroni")]
    pub manager_settings: Option<ManagerSettings>,
    /// Resource limits of each replica.
    pub limits: Option<Limits>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Promote {
    /// pgdyno promotes the replica that has received the most WAL.
    Advanced,
    /// pgdyno promotes the replica that has received the least WAL. This deliberate error loses acknowledged writes.
    Laggard,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManagerSettings {
    /// Number of etcd servers, 1 or 3. Default: 1.
    #[serde(rename = "etcd")]
    pub store_servers: Option<u32>,
    /// Time to live of the leader key, at least 20s. Default: 20s.
    pub ttl: Option<Duration>,
    /// Interval at which Patroni checks its state. Default: 5s.
    pub loop_wait: Option<Duration>,
    /// Timeout for Patroni's requests to etcd and PostgreSQL. Default: 5s.
    pub retry_timeout: Option<Duration>,
    /// Time allowed for a crashed primary to restart before a replica is promoted. Default: 300s.
    pub primary_start_timeout: Option<Duration>,
    /// Maximum WAL that a replica may lack to be promoted. Default: 1MB.
    pub maximum_lag: Option<Bytes>,
    /// Whether commits wait when there is no synchronous replica (`synchronous_mode_strict`). Default: true.
    pub strict: Option<bool>,
}

/// Fault to inject: one action, at a time or after an event.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Time after the beginning of the measurement; with `after`, time after that event.
    pub at: Option<Duration>,
    /// Event after the previous fault that triggers this fault.
    pub after: Option<Event>,
    /// Sends SIGKILL to all processes of `primary`, `replica`, `etcd` or a node such as `postgres-2`.
    pub kill: Option<Word>,
    /// Processes that `kill` ends: all of the `node`, its `postmaster`, or its cluster manager. Default: `node`.
    pub part: Option<Part>,
    /// Suspends all processes of a node for `duration`.
    pub pause: Option<Word>,
    /// Stops a node in the regular way, and starts it again.
    pub restart: Option<Word>,
    /// Planned switchover to `any` replica, or to the replica with this name.
    pub switchover: Option<Word>,
    /// Isolates a node from the network for `duration`.
    pub isolate: Option<Word>,
    /// With `isolate`: from which nodes: `all`, `servers` (all servers and etcd), or a list such as `[etcd, postgres-2]`. Clients, poolers and balancers still reach a node that is isolated from `servers` or from a list. Default: `all`.
    pub from: Option<OneOrMany<Word>>,
    /// Freezes the disk of a server for `duration`: writes wait. Every server then has a disk of its own.
    pub freeze_disk: Option<Word>,
    /// Shifts the clock of a PostgreSQL server for `duration`, by the time in `by`. Every server then has a clock of its own.
    pub shift_clock: Option<Word>,
    /// With `shift_clock`: offset from the true time, such as `+2m` or `-90s`.
    pub by: Option<Offset>,
    /// Fills the disk of a server for `duration`. Every server then has a disk of its own.
    pub fill_disk: Option<Word>,
    /// Blocks replication from the `primary` for `duration`. Default: until another server is promoted.
    pub block_replication: Option<Word>,
    /// Duration of the fault.
    pub duration: Option<Duration>,
    /// Program and arguments that cause a failover, such as `[./failover.sh]`. A relative path is relative to the experiment file.
    pub run: Option<Vec<Word>>,
    /// With `run`: program and arguments to run after the load, before all rows are read back.
    pub undo: Option<Vec<Word>>,
    /// `true`: you cause a failover yourself at this time.
    pub external: Option<bool>,
    /// With `run` or `external`: time within which another server must accept writes. Default: 60s.
    pub within: Option<Duration>,
}

impl Fault {
    /// Actions that pgdyno performs itself: the key of each one given, and its target.
    pub fn own_actions(&self) -> Vec<(&'static str, &Word)> {
        let actions = [
            ("kill", &self.kill),
            ("pause", &self.pause),
            ("restart", &self.restart),
            ("switchover", &self.switchover),
            ("isolate", &self.isolate),
            ("freeze_disk", &self.freeze_disk),
            ("shift_clock", &self.shift_clock),
            ("fill_disk", &self.fill_disk),
            ("block_replication", &self.block_replication),
        ];
        actions.into_iter().filter_map(|(key, target)| Some((key, target.as_ref()?))).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The fault is injected after a replica has become the primary.
    Promoted,
    /// The fault is injected after a former primary follows the new primary.
    Rejoined,
}
