//! Replication: replicas, synchronous commit and failover.

use super::Limits;
use crate::Nanos;
use crate::product::{self, Product};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Replicas of the PostgreSQL server at the end of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replication {
    /// Number of replicas. With 0, the primary is only configured for replication.
    pub replicas: u32,
    pub sync: SyncMode,
    pub manager: FailoverManager,
    /// Resource limits of each replica.
    pub limits: Limits,
    /// True if a balancer closes existing sessions of a server as soon as it routes no new sessions there.
    pub shutdown_sessions: bool,
    /// True if each server has a separate network, so that a fault can isolate it.
    #[serde(alias = "apart")]
    pub separate_networks: bool,
    /// True if each server has a separate disk, so that a fault can fill it.
    #[serde(alias = "disks")]
    pub separate_disks: bool,
    /// True if each server has a separate clock, so that a fault can shift it.
    #[serde(default)]
    pub separate_clocks: bool,
    /// True if the run measures the staleness of reads on replicas. The measurement costs a few writes and reads per
    /// second.
    #[serde(default)]
    pub freshness: bool,
}

/// Replicas that must confirm a commit; stored in `synchronous_standby_names`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncMode {
    /// No replica: a commit waits only for the primary's disk.
    #[default]
    Async,
    /// The first k available replicas of the list: `FIRST k`.
    First(u32),
    /// Any k of the replicas: `ANY k`.
    Any(u32),
}

/// Component that promotes a replica when the primary fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailoverManager {
    #[serde(alias = "ours")]
    Builtin(Promoter),
    #[serde(untagged)]
    External(#[schemars(with = "StoredManager")] ClusterManager),
}

impl FailoverManager {
    /// Name of the program that promotes a replica: `pgdyno`, or the product's name.
    pub fn product(&self) -> &'static str {
        match self {
            Self::Builtin(_) => "pgdyno",
            Self::External(it) => it.product.name,
        }
    }
}

/// pgdyno's promoter, which promotes a replica when the primary does not respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Promoter {
    /// Time without a response after which the primary counts as failed.
    #[serde(rename = "timeout_ns", alias = "patience")]
    pub timeout: Nanos,
    #[serde(alias = "choice")]
    pub policy: PromotionPolicy,
    /// True if the old primary is killed before a replica is promoted.
    pub fence: bool,
}

/// Rule that selects the replica to promote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromotionPolicy {
    /// Replica that has received the most WAL.
    #[default]
    Advanced,
    /// Replica that has received the least WAL. This deliberately wrong choice proves that the checker detects a loss.
    Laggard,
}

/// Cluster manager, with a consensus store if its product needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredManager", into = "StoredManager")]
pub struct ClusterManager {
    /// Product with the role [`product::Role::Manager`].
    pub product: &'static Product,
    /// Number of servers in the consensus store; 0 if the manager needs no store.
    pub store_servers: u32,
    pub settings: ManagerSettings,
}

/// Settings of a cluster manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManagerSettings {
    /// Lifetime of the leader key, at least the manager's minimum and at least `loop_wait` + 2 × `retry_timeout`.
    pub ttl: Nanos,
    pub loop_wait: Nanos,
    pub retry_timeout: Nanos,
    /// Time within which a crashed primary may restart before a replica is promoted; zero promotes at once.
    pub primary_start_timeout: Nanos,
    /// Maximum lag in bytes of WAL at which a replica may still be promoted.
    pub maximum_lag: u64,
    /// True if the primary acknowledges no commit while no synchronous replica is available.
    pub strict: bool,
}

/// Error: a stored failover manager has a key that is not in the product table.
#[derive(Debug, Default)]
struct UnknownManager(String);

/// Stored form of a cluster manager: a map from its key to its settings.
type StoredManager = BTreeMap<String, StoredSettings>;

/// Serialized form of the settings. The key of the consensus store, such as `etcd`, holds the number of its servers.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct StoredSettings {
    #[serde(flatten)]
    settings: ManagerSettings,
    #[serde(flatten)]
    store: BTreeMap<String, u32>,
}

impl Replication {
    /// Replication with this number of replicas; all other fields have defaults.
    pub fn with_defaults(replicas: u32, sync: SyncMode) -> Replication {
        Replication {
            replicas,
            sync,
            manager: FailoverManager::Builtin(Promoter::default()),
            limits: Limits::default(),
            shutdown_sessions: true,
            separate_networks: false,
            separate_disks: false,
            separate_clocks: false,
            freshness: true,
        }
    }

    /// Replication without replicas, for the primary before its replicas exist.
    pub fn primary_only(&self) -> Replication {
        Replication {
            separate_networks: self.separate_networks,
            separate_disks: self.separate_disks,
            separate_clocks: self.separate_clocks,
            ..Replication::with_defaults(0, SyncMode::Async)
        }
    }
}

impl SyncMode {
    /// Number of replicas that must confirm a commit.
    pub fn count(self) -> u32 {
        match self {
            SyncMode::Async => 0,
            SyncMode::First(it) | SyncMode::Any(it) => it,
        }
    }
}

impl fmt::Display for UnknownManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown failover manager `{}`", self.0)
    }
}

impl TryFrom<StoredManager> for ClusterManager {
    type Error = UnknownManager;

    fn try_from(stored: StoredManager) -> Result<ClusterManager, UnknownManager> {
        let (key, stored) = stored.into_iter().next().ok_or_else(UnknownManager::default)?;
        let product = product::find_by_plan_key(&key).filter(|it| it.manager.is_some());
        let product = product.ok_or(UnknownManager(key))?;
        let servers = product.store().and_then(|it| stored.store.get(it.plan_key));
        let store_servers = servers.copied().unwrap_or(0);
        Ok(ClusterManager { product, store_servers, settings: stored.settings })
    }
}

impl From<ClusterManager> for StoredManager {
    fn from(manager: ClusterManager) -> StoredManager {
        let servers = manager.product.store().map(|store| (store.plan_key.to_owned(), manager.store_servers));
        let stored = StoredSettings { settings: manager.settings, store: servers.into_iter().collect() };
        StoredManager::from([(manager.product.plan_key.to_owned(), stored)])
    }
}

impl ManagerSettings {
    /// Value of `maximum_lag` that no replica reaches: one tebibyte.
    pub const ANY_LAG: u64 = 1 << 40;
}

impl Default for Promoter {
    fn default() -> Promoter {
        Promoter { timeout: Nanos::from_secs(1), policy: PromotionPolicy::Advanced, fence: true }
    }
}

impl ClusterManager {
    /// Cluster manager of this product; all other fields have defaults.
    pub fn with_defaults(product: &'static Product) -> ClusterManager {
        let store = product.manager.as_ref().and_then(|it| it.store.as_ref());
        let store_servers = store.and_then(|it| it.servers.first()).copied().unwrap_or(0);
        ClusterManager { product, store_servers, settings: ManagerSettings::default() }
    }
}

impl Default for ClusterManager {
    fn default() -> ClusterManager {
        ClusterManager::with_defaults(product::default_manager())
    }
}

impl Default for ManagerSettings {
    fn default() -> ManagerSettings {
        ManagerSettings {
            ttl: Nanos::from_secs(20),
            loop_wait: Nanos::from_secs(5),
            retry_timeout: Nanos::from_secs(5),
            primary_start_timeout: Nanos::from_secs(300),
            maximum_lag: 1 << 20,
            strict: true,
        }
    }
}
