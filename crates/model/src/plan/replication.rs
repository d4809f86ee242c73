//! How many servers hold the same rows, when is a commit acknowledged, and who decides which of them is written to?

use super::Limits;
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Replicas of the PostgreSQL at the end of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replication {
    /// Beside the primary. With none the primary is merely ready to have some.
    pub replicas: u32,
    pub sync: SyncMode,
    pub manager: FailoverManager,
    /// Of each replica.
    pub limits: Limits,
    /// Whether a balancer ends the sessions of a server that it no longer sends new ones to.
    pub shutdown_sessions: bool,
    /// Whether each server has a network of its own, so that it can be cut off.
    #[serde(rename = "apart")]
    pub separate_networks: bool,
    /// Whether each server has a disk of its own, so that it can be full.
    #[serde(rename = "disks")]
    pub separate_disks: bool,
    /// Whether it is measured how old what is read on replicas is, which takes a few writes and reads per second.
    #[serde(default)]
    pub freshness: bool,
}

/// What a commit waits for. Named in `synchronous_standby_names`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncMode {
    /// The primary's disk alone.
    #[default]
    Async,
    /// So many of the replicas, those first in the list that are there: `FIRST k`.
    First(u32),
    /// So many of the replicas, whichever: `ANY k`.
    Any(u32),
}

/// Who makes a replica the primary when the primary is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailoverManager {
    #[serde(rename = "ours")]
    Builtin(Promoter),
    Patroni(Patroni),
}

impl FailoverManager {
    /// `pgdyno`, `Patroni`.
    pub fn product(&self) -> &'static str {
        match self {
            Self::Builtin(_) => "pgdyno",
            Self::Patroni(_) => "Patroni",
        }
    }
}

/// Our own: promotes when the primary does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promoter {
    /// How long the primary may be silent.
    #[serde(rename = "patience")]
    pub timeout: Nanos,
    #[serde(rename = "choice")]
    pub policy: PromotionPolicy,
    /// Whether the old primary is killed before another is promoted.
    pub fence: bool,
}

/// Which replica is promoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromotionPolicy {
    /// The one that has received most of the log.
    #[default]
    Advanced,
    /// The one that has received least of it: wrong on purpose, for a checker to see.
    Laggard,
}

/// A real Patroni with its etcd. Synchronous replication is its `synchronous_mode`; `ANY` is its `quorum`, from 4.0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patroni {
    /// Servers of etcd: 1 or 3.
    pub etcd: u32,
    /// The leader's key lives so long: at least 20 s. `loop_wait` + 2 × `retry_timeout` must fit into it.
    pub ttl: Nanos,
    pub loop_wait: Nanos,
    pub retry_timeout: Nanos,
    /// How long a crashed primary may take to start again before another is promoted; at once when zero.
    pub primary_start_timeout: Nanos,
    /// Bytes of the log that a replica may lack and still be promoted.
    pub maximum_lag: u64,
    /// `synchronous_mode_strict`: without a synchronous replica nothing is acknowledged.
    pub strict: bool,
}

impl Replication {
    /// So many replicas with everything else as it is when left out.
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

    /// The primary alone, as it is to be before it has these replicas.
    pub fn primary_only(&self) -> Replication {
        Replication {
            separate_networks: self.separate_networks,
            separate_disks: self.separate_disks,
            ..Replication::with_defaults(0, SyncMode::Async)
        }
    }
}

impl SyncMode {
    /// How many replicas a commit waits for.
    pub fn count(self) -> u32 {
        match self {
            SyncMode::Async => 0,
            SyncMode::First(it) | SyncMode::Any(it) => it,
        }
    }
}

impl Patroni {
    /// A `maximum_lag` that no replica reaches: one tebibyte.
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
