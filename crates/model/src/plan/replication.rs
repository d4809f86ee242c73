//! Replication: number of replicas, synchronous commit and failover.

use super::Limits;
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Replicas of the PostgreSQL server at the end of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replication {
    /// Number of replicas. With 0, the primary is only configured for replication.
    pub replicas: u32,
    pub sync: SyncMode,
    pub manager: FailoverManager,
    /// Limits of each replica.
    pub limits: Limits,
    /// True if a balancer closes the sessions of a server to which it routes no new ones.
    pub shutdown_sessions: bool,
    /// True if each server has its own network, so that it can be isolated.
    #[serde(rename = "apart")]
    pub separate_networks: bool,
    /// True if each server has its own disk, so that the disk can be filled.
    #[serde(rename = "disks")]
    pub separate_disks: bool,
    /// True if the run measures the staleness of reads on replicas. Costs a few writes and reads per second.
    #[serde(default)]
    pub freshness: bool,
}

/// Replicas that must confirm a commit, set in `synchronous_standby_names`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncMode {
    /// No replica: only the primary's disk.
    #[default]
    Async,
    /// The first k available replicas of the list: `FIRST k`.
    First(u32),
    /// Any k of the replicas: `ANY k`.
    Any(u32),
}

/// Component that promotes a replica when the primary fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailoverManager {
    #[serde(rename = "ours")]
    Builtin(Promoter),
    Patroni(Patroni),
}

impl FailoverManager {
    /// Product name: `pgdyno` or `Patroni`.
    pub fn product(&self) -> &'static str {
        match self {
            Self::Builtin(_) => "pgdyno",
            Self::Patroni(_) => "Patroni",
        }
    }
}

/// pgdyno's own promoter, which promotes a replica when the primary does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promoter {
    /// Time without an answer after which the primary counts as failed.
    #[serde(rename = "patience")]
    pub timeout: Nanos,
    #[serde(rename = "choice")]
    pub policy: PromotionPolicy,
    /// True if the old primary is killed before a replica is promoted.
    pub fence: bool,
}

/// Choice of the replica to promote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromotionPolicy {
    /// Replica that has received the most WAL.
    #[default]
    Advanced,
    /// Replica that has received the least WAL: deliberately wrong, so that the checker must detect a loss.
    Laggard,
}

/// Patroni with its own etcd. Synchronous replication uses its `synchronous_mode`; `ANY` uses `quorum`, which needs
/// Patroni 4.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patroni {
    /// Number of etcd servers: 1 or 3.
    pub etcd: u32,
    /// Lifetime of the leader key, at least 20 s. `loop_wait` + 2 × `retry_timeout` must not exceed it.
    pub ttl: Nanos,
    pub loop_wait: Nanos,
    pub retry_timeout: Nanos,
    /// Time that a crashed primary has to restart before a replica is promoted; zero promotes at once.
    pub primary_start_timeout: Nanos,
    /// Maximum lag in bytes of WAL at which a replica may still be promoted.
    pub maximum_lag: u64,
    /// `synchronous_mode_strict`: no commit is acknowledged without a synchronous replica.
    pub strict: bool,
}

impl Replication {
    /// Replication with this many replicas and defaults for everything else.
    pub fn with_defaults(replicas: u32, sync: SyncMode) -> Replication {
        Replication {
            replicas,
            sync,
            manager: FailoverManager::Builtin(Promoter::default()),
            limits: Limits::default(),
            shutdown_sessions: true,
            separate_networks: false,
            separate_disks: false,
            freshness: true,
        }
    }

    /// Replication of the primary alone, before its replicas exist.
    pub fn primary_only(&self) -> Replication {
        Replication {
            separate_networks: self.separate_networks,
            separate_disks: self.separate_disks,
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

impl Patroni {
    /// `maximum_lag` that no replica reaches: one tebibyte.
    pub const ANY_LAG: u64 = 1 << 40;
}

impl Default for Promoter {
    fn default() -> Promoter {
        Promoter { timeout: Nanos::from_secs(1), policy: PromotionPolicy::Advanced, fence: true }
    }
}

impl Default for Patroni {
    fn default() -> Patroni {
        Patroni {
            etcd: 1,
            ttl: Nanos::from_secs(20),
            loop_wait: Nanos::from_secs(5),
            retry_timeout: Nanos::from_secs(5),
            primary_start_timeout: Nanos::from_secs(300),
            maximum_lag: 1 << 20,
            strict: true,
        }
    }
}
