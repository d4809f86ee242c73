//! Types of replicas and faults.

use super::{Limits, ManagerKind, Part};
use crate::unit::{Bytes, Duration, Word};
use schemars::JsonSchema;
use serde::Deserialize;

/// Which of several PostgreSQL servers is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerTarget {
    Primary,
    Replica,
    /// Whichever.
    Any,
}

/// Servers that hold the same rows as `postgres`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replicas {
    #[schemars(range(min = 1, max = 16))]
    pub count: u32,
    /// What a commit waits for: `async`, `first 1` or `any 1`; `async` when left out.
    pub sync: Option<Word>,
    /// Program that promotes a replica if the primary fails: `ours`, pgdyno itself, or a cluster manager; `ours` when
    /// left out.
    pub manager: Option<ManagerKind>,
    /// Ours: which replica becomes the primary; `advanced` when left out.
    pub promote: Option<Promote>,
    /// Ours: how long the primary may be silent; 1s when left out.
    #[serde(rename = "patience")]
    pub timeout: Option<Duration>,
    /// Ours: whether the old primary is killed before another is promoted; `true` when left out.
    pub fence: Option<bool>,
    /// Whether the balancer ends the sessions of a server that is no longer what it was; `true` when left out.
    pub shutdown_sessions: Option<bool>,
    /// Whether it is measured how old what is read on replicas is, by five numbers per second in a table of pgdyno's own;
    /// `true` when left out.
    pub freshness: Option<bool>,
    /// Settings of Patroni.
    #[serde(rename = "patroni")]
    pub manager_settings: Option<ManagerSettings>,
    /// What each may use of the machine.
    pub limits: Option<Limits>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Promote {
    /// The replica that has received most of the log.
    Advanced,
    /// The one that has received least: wrong on purpose, it loses what was acknowledged.
    Laggard,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManagerSettings {
    /// Servers of etcd, 1 or 3; 1 when left out.
    #[serde(rename = "etcd")]
    pub store_servers: Option<u32>,
    /// How long the leader's key lives, at least 20s, as when left out.
    pub ttl: Option<Duration>,
    /// 5s when left out.
    pub loop_wait: Option<Duration>,
    /// 5s when left out.
    pub retry_timeout: Option<Duration>,
    /// How long a crashed primary may take to start again before another is promoted; 300s when left out.
    pub primary_start_timeout: Option<Duration>,
    /// What of the log a replica may lack and still be promoted; 1MB when left out.
    pub maximum_lag: Option<Bytes>,
    /// Whether nothing is acknowledged without a synchronous replica; `true` when left out.
    pub strict: Option<bool>,
}

/// Something that goes wrong on purpose: one deed, at a time or after an event.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// So long after the measured window began; beside `after`, so long after that.
    pub at: Option<Duration>,
    /// Once this has happened, since the fault before.
    pub after: Option<Event>,
    /// SIGKILL to all processes of `primary`, `replica`, `etcd`, or a node by its name, such as `postgres-2`.
    pub kill: Option<Word>,
    /// Processes that `kill` ends: all of the `node`, its `postmaster`, or its cluster manager; `node` when left out.
    pub part: Option<Part>,
    /// All its processes stand still, then go on.
    pub pause: Option<Word>,
    /// Stopped in its own way, and started again.
    pub restart: Option<Word>,
    /// Planned: to `any` replica, or to one by its name.
    pub switchover: Option<Word>,
    /// Nothing goes over its network.
    pub cut_off: Option<Word>,
    /// Nothing is free on its disk, which every server then has of its own.
    pub fill_disk: Option<Word>,
    /// The log of the `primary` is sent to no replica.
    pub withhold: Option<Word>,
    /// How long it lasts.
    #[serde(rename = "for")]
    pub duration: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A replica has become the primary.
    Promoted,
    /// A former primary follows the new one.
    Rejoined,
}
