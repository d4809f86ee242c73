//! Nodes of a stack.

use super::{Limits, PoolMode, Service, Transport};
use crate::Nanos;
use crate::product::{self, Product, Role};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Node of the stack, which pgdyno starts or to which it is attached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name, unique in its stack, such as `postgres` or `pooler`.
    pub name: String,
    pub kind: NodeKind,
    /// Transport by which the preceding node connects to this node.
    #[serde(alias = "entrance")]
    pub transport: Transport,
    pub limits: Limits,
}

/// Kind of a node, with its settings.
///
/// The stored form is an object with one key, which names the kind: `attached`, or the product's
/// [`plan_key`](Product::plan_key).
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    Postgres(Postgres),
    Pooler(Pooler),
    Balancer(Balancer),
    Service(Service),
    /// Attached node, which pgdyno never starts, stops or limits.
    Attached(AttachedNode),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Postgres {
    /// Major version; `None` means the newest installed one.
    pub version: Option<u32>,
    pub max_connections: u32,
    /// Additional lines of `postgresql.conf`.
    pub settings: Vec<(String, String)>,
}

impl Postgres {
    /// PostgreSQL's default of `superuser_reserved_connections`.
    const SUPERUSER_RESERVED: u32 = 3;

    /// Number of connections that roles without special rights cannot use.
    pub fn reserved_connections(&self) -> u32 {
        let setting = |name: &str, default| {
            let given = self.settings.iter().find(|it| it.0.eq_ignore_ascii_case(name));
            given.and_then(|it| it.1.parse::<u32>().ok()).unwrap_or(default)
        };
        let superusers = setting("superuser_reserved_connections", Self::SUPERUSER_RESERVED);
        superusers.saturating_add(setting("reserved_connections", 0))
    }
}

/// Connection pooler. Settings that its product does not support keep their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pooler {
    /// Product with the role [`Role::Pooler`]. In stored plans, the key of the node's kind identifies the product.
    #[serde(skip, default = "product::default_pooler")]
    pub product: &'static Product,
    /// Minimum version, such as (1, 21); `None` means any version.
    #[serde(default)]
    pub version: Option<(u32, u32)>,
    pub mode: PoolMode,
    /// Maximum number of server connections per user and database.
    pub size: u32,
    /// Maximum number of simultaneous client connections.
    #[serde(alias = "client_max")]
    pub max_client_conn: u32,
    /// Worker threads, at least 1.
    #[serde(default = "default_workers")]
    pub workers: u32,
    /// Maximum time that a client may wait for a server connection; zero means unlimited.
    #[serde(default)]
    #[serde(rename = "pool_timeout_ns", alias = "pool_timeout")]
    pub pool_timeout: Nanos,
    /// Additional settings for the pooler's configuration file.
    pub settings: Vec<(String, String)>,
}

/// Balancer between servers or copies of a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Balancer {
    /// Product with the role [`Role::Balancer`]. In stored plans, the key of the node's kind identifies the product.
    #[serde(skip, default = "product::default_balancer")]
    pub product: &'static Product,
    /// Maximum number of connections to the server; further connections are queued. `None` means unlimited.
    pub maxconn: Option<u32>,
    /// Maximum time in the queue, after which the balancer closes the connection.
    #[serde(rename = "queue_timeout_ns", alias = "queue_timeout")]
    pub queue_timeout: Nanos,
    /// Interval of the TCP health check; `None` means no check.
    #[serde(rename = "check_ns", alias = "check")]
    pub check: Option<Nanos>,
    /// Number of retries, one second apart, if the server refuses a connection. `None` means the product's default.
    #[serde(default)]
    pub retries: Option<u32>,
}

/// Address of an attached node. Credentials come from the environment, never from the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttachedNode {
    /// Conninfo string or URI without a password.
    pub dsn: String,
    /// Admin console of a pooler, as a conninfo string or URI without a password.
    pub admin: Option<String>,
    #[serde(alias = "role")]
    pub product: &'static Product,
    /// `host:port/database` of a server on another machine. By repeating the address here, the user permits load on the
    /// server.
    #[serde(default)]
    pub allow: Option<String>,
    /// Maximum number of active sessions of other programs, on an attached server on another machine.
    #[serde(default)]
    #[serde(alias = "others")]
    pub other_sessions: u32,
    /// URLs at which node_exporter serves the metrics of the node's hosts.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Connection strings of all servers of an attached cluster, without passwords. They are only read.
    #[serde(default)]
    pub servers: Vec<String>,
}

const ATTACHED: &str = "attached";

fn default_workers() -> u32 {
    1
}

impl NodeKind {
    pub fn product(&self) -> &'static Product {
        match self {
            NodeKind::Postgres(_) => &product::POSTGRESQL,
            NodeKind::Pooler(it) => it.product,
            NodeKind::Balancer(it) => it.product,
            NodeKind::Service(_) => &product::SERVICE,
            NodeKind::Attached(it) => it.product,
        }
    }

    pub fn role(&self) -> Role {
        self.product().role
    }

    /// Key in experiment files and node records: the product's key, or `attached`.
    pub fn key(&self) -> &'static str {
        if self.is_attached() { ATTACHED } else { self.product().key }
    }

    /// True for an [`AttachedNode`]; false for an attached service, which is a [`Service`] with a URL.
    pub fn is_attached(&self) -> bool {
        matches!(self, NodeKind::Attached(_))
    }

    /// URLs of the metrics of the node's hosts; empty for nodes that pgdyno starts.
    pub fn metrics(&self) -> &[String] {
        match self {
            NodeKind::Attached(it) => &it.metrics,
            NodeKind::Service(it) => &it.metrics,
            _ => &[],
        }
    }

    /// Settings of a pooler that pgdyno starts; `None` for other nodes.
    pub fn pooler(&self) -> Option<&Pooler> {
        match self {
            NodeKind::Pooler(it) => Some(it),
            _ => None,
        }
    }
}

impl Pooler {
    /// Maximum number of server connections of one database, and the setting that determines it instead of `size`, if
    /// PgBouncer has a lower limit. Zero means no limit there.
    pub fn server_connections(&self) -> (u32, Option<&str>) {
        let limits = ["max_db_connections", "max_user_connections"].into_iter().filter_map(|name| {
            let (name, value) = self.settings.iter().find(|it| it.0 == name)?;
            Some((value.trim().parse().ok().filter(|it| *it > 0)?, Some(name.as_str())))
        });
        let limits = limits.filter(|_| self.product.name == product::PGBOUNCER.name);
        std::iter::once((self.size, None)).chain(limits).min_by_key(|it| it.0).expect("the pool has a size")
    }

    /// Number of CPUs that the pooler's threads can use; `None` if the number of threads is unlimited.
    pub fn usable_cpus(&self) -> Option<f64> {
        match self.product.pooler.as_ref()?.threads {
            product::Threads::One => Some(1.0),
            product::Threads::Workers => Some(f64::from(self.workers)),
            product::Threads::Processes => None,
        }
    }
}

impl Serialize for NodeKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(1))?;
        let key = self.product().plan_key;
        match self {
            NodeKind::Postgres(it) => map.serialize_entry(key, it)?,
            NodeKind::Pooler(it) => map.serialize_entry(key, it)?,
            NodeKind::Balancer(it) => map.serialize_entry(key, it)?,
            NodeKind::Service(it) => map.serialize_entry(key, it)?,
            NodeKind::Attached(it) => map.serialize_entry(ATTACHED, it)?,
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for NodeKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NodeKind, D::Error> {
        from.deserialize_map(NodeKindVisitor)
    }
}

struct NodeKindVisitor;

impl<'de> Visitor<'de> for NodeKindVisitor {
    type Value = NodeKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the kind of a node with its settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeKind, A::Error> {
        let key: String = map.next_key()?.ok_or_else(|| A::Error::custom("a node without a kind"))?;
        if key == ATTACHED {
            return map.next_value().map(NodeKind::Attached);
        }
        match product::find_by_plan_key(&key).map(|it| (it, it.role)) {
            Some((_, Role::Server)) => map.next_value().map(NodeKind::Postgres),
            Some((_, Role::Service)) => map.next_value().map(NodeKind::Service),
            Some((product, Role::Pooler)) => {
                Ok(NodeKind::Pooler(Pooler { product, ..map.next_value::<Pooler>()? }))
            }
            Some((product, Role::Balancer)) => {
                Ok(NodeKind::Balancer(Balancer { product, ..map.next_value::<Balancer>()? }))
            }
            Some((_, Role::Manager | Role::Store)) | None => {
                Err(A::Error::custom(format_args!("unknown node kind `{key}`")))
            }
        }
    }
}
