//! Table of the products that can be nodes of a stack.
//!
//! The table contains the properties of products that several crates need. Each product's configuration, console and
//! log format are in a file below `stack::component`.

use crate::{Nanos, series};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;

/// Product that can be a node of a stack.
pub struct Product {
    /// Name as its project writes it, such as `PgBouncer`.
    pub name: &'static str,
    /// Key in experiment files and node records, such as `pgbouncer`.
    pub key: &'static str,
    /// Key in stored plans, such as `pg_bouncer`.
    pub plan_key: &'static str,
    pub role: Role,
    /// Pooler properties; `Some` for every product with the role [`Role::Pooler`], `None` for all other products.
    pub pooler: Option<PoolerTraits>,
    /// Manager properties; `Some` for every product with the role [`Role::Manager`], `None` for all other products.
    pub manager: Option<ManagerTraits>,
    /// Normalised series that the product's console or statistics report.
    pub series: &'static [&'static str],
    /// Former series names in run files of earlier versions, each with the current name.
    pub former_series: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// PostgreSQL server.
    Server,
    Pooler,
    Balancer,
    /// HTTP service.
    Service,
    /// Cluster manager, which promotes a replica if the primary fails.
    Manager,
    /// Consensus store of a cluster manager.
    Store,
}

/// Pool mode: the unit for which a client gets a server connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolMode {
    Session,
    Transaction,
    Statement,
}

impl PoolMode {
    /// Key in experiment files.
    pub fn key(self) -> &'static str {
        match self {
            PoolMode::Session => "session",
            PoolMode::Transaction => "transaction",
            PoolMode::Statement => "statement",
        }
    }
}

/// Properties of a pooler product.
#[derive(Debug)]
pub struct PoolerTraits {
    /// Supported pool modes.
    pub modes: &'static [PoolMode],
    pub threads: Threads,
    /// Oldest version known to work: major and minor.
    pub oldest_version: (u32, u32),
    /// Optional keys of an experiment file's `pooler` that this product supports.
    pub options: &'static [&'static str],
    /// Setting that enables prepared statements outside of session mode; `None` if the pooler always supports them.
    pub prepared_statements: Option<VersionedSetting>,
    /// Settings that the user cannot set. Each has the key of an experiment file's `pooler` that sets it, or `None` if
    /// pgdyno chooses the value.
    pub managed_settings: &'static [(&'static str, Option<&'static str>)],
    /// Shortest sampling time for which the pooler's counters are evaluated, in seconds. Some poolers update their
    /// counters rarely.
    pub counter_interval: f64,
    /// Number of server connections that console sessions use in addition to the pool.
    pub console_connections: u32,
    /// Part of the pooler's log message about a client that it rejects, because the pooler has too many clients.
    pub rejection: Option<&'static str>,
}

/// Properties of a cluster manager product.
#[derive(Debug)]
pub struct ManagerTraits {
    /// Consensus store; `None` if the manager needs no store.
    pub store: Option<StoreTraits>,
    /// Minimum lifetime of the leader key that the manager accepts.
    pub minimum_ttl: Nanos,
}

/// Properties of the consensus store of a cluster manager.
#[derive(Debug)]
pub struct StoreTraits {
    pub product: &'static Product,
    /// Supported numbers of store servers.
    pub servers: &'static [u32],
}

/// Threads with which a pooler serves clients; their number limits the CPUs that it can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    One,
    /// Fixed number of threads: the plan's `workers`.
    Workers,
    /// One process per client, without a limit.
    Processes,
}

/// Setting that exists since a version: major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionedSetting {
    pub name: &'static str,
    pub since: (u32, u32),
}

/// All products.
pub static ALL: &[&Product] =
    &[&POSTGRESQL, &PGBOUNCER, &ODYSSEY, &PGPOOL, &HAPROXY, &BALANCER, &SERVICE, &PATRONI, &ETCD];

pub static POSTGRESQL: Product = product("PostgreSQL", "postgres", Role::Server);

pub static PGBOUNCER: Product = Product {
    plan_key: "pg_bouncer",
    pooler: Some(PoolerTraits {
        modes: &[PoolMode::Session, PoolMode::Transaction, PoolMode::Statement],
        threads: Threads::One,
        oldest_version: (1, 18),
        options: &["version"],
        prepared_statements: Some(VersionedSetting { name: "max_prepared_statements", since: (1, 21) }),
        managed_settings: &[
            ("pool_mode", Some("mode")),
            ("default_pool_size", Some("size")),
            ("max_client_conn", Some("max_client_conn")),
            ("listen_port", None),
            ("listen_addr", None),
            ("auth_file", None),
        ],
        counter_interval: 2.0,
        console_connections: 0,
        rejection: Some("no more connections allowed"),
    }),
    series: &[
        series::POOL_SIZE,
        series::POOL_CLIENTS_ACTIVE,
        series::POOL_CLIENTS_WAITING,
        series::POOL_LONGEST_WAIT,
        series::POOL_SERVERS_ACTIVE,
        series::POOL_SERVERS_IDLE,
        series::POOL_TRANSACTIONS,
        series::POOL_TRANSACTION_TIME,
        series::POOL_WAIT_TIME,
        series::POOL_ASSIGNMENTS,
        series::POOL_RESERVE,
        series::POOL_CONNECTIONS,
        series::POOL_PAUSED,
    ],
    former_series: &[
        ("pgbouncer_reserve_pool", series::POOL_RESERVE),
        ("pgbouncer_current_connections", series::POOL_CONNECTIONS),
        ("pgbouncer_paused", series::POOL_PAUSED),
        ("pgbouncer_pool_size", series::POOL_SIZE),
        ("pgbouncer_cl_active", series::POOL_CLIENTS_ACTIVE),
        ("pgbouncer_cl_waiting", series::POOL_CLIENTS_WAITING),
        ("pgbouncer_maxwait", series::POOL_LONGEST_WAIT),
        ("pgbouncer_sv_active", series::POOL_SERVERS_ACTIVE),
        ("pgbouncer_sv_idle", series::POOL_SERVERS_IDLE),
        ("pgbouncer_sv_used", series::POOL_SERVERS_IDLE),
        ("pgbouncer_total_xact_count", series::POOL_TRANSACTIONS),
        ("pgbouncer_total_xact_time", series::POOL_TRANSACTION_TIME),
        ("pgbouncer_total_wait_time", series::POOL_WAIT_TIME),
        ("pgbouncer_total_server_assignment_count", series::POOL_ASSIGNMENTS),
    ],
    ..product("PgBouncer", "pgbouncer", Role::Pooler)
};

/// Odyssey. It does not report waiting clients, because its `cl_waiting` also counts idle clients.
pub static ODYSSEY: Product = Product {
    pooler: Some(PoolerTraits {
        modes: &[PoolMode::Session, PoolMode::Transaction],
        threads: Threads::Workers,
        oldest_version: (0, 0),
        options: &["workers", "pool_timeout"],
        prepared_statements: None,
        managed_settings: &[("pool_size", Some("size")), ("client_max", Some("max_client_conn"))],
        // Odyssey updates its counters once per `stats_interval`.
        counter_interval: 60.0,
        console_connections: 0,
        rejection: None,
    }),
    series: &[
        series::POOL_CLIENTS_ACTIVE,
        series::POOL_SERVERS_ACTIVE,
        series::POOL_SERVERS_IDLE,
        series::POOL_TRANSACTIONS,
        series::POOL_TRANSACTION_TIME,
        series::POOL_WAIT_TIME,
        series::POOL_ASSIGNMENTS,
    ],
    former_series: &[
        ("odyssey_cl_active", series::POOL_CLIENTS_ACTIVE),
        ("odyssey_sv_active", series::POOL_SERVERS_ACTIVE),
        ("odyssey_sv_idle", series::POOL_SERVERS_IDLE),
        ("odyssey_total_xact_count", series::POOL_TRANSACTIONS),
        ("odyssey_total_xact_time", series::POOL_TRANSACTION_TIME),
        ("odyssey_total_wait_time", series::POOL_WAIT_TIME),
        ("odyssey_total_server_assignment_count", series::POOL_ASSIGNMENTS),
    ],
    ..product("Odyssey", "odyssey", Role::Pooler)
};

/// Pgpool-II, with a process per client. It reports neither transactions nor waiting clients, because clients wait in
/// the listen queue.
pub static PGPOOL: Product = Product {
    pooler: Some(PoolerTraits {
        modes: &[PoolMode::Session],
        threads: Threads::Processes,
        oldest_version: (4, 3),
        options: &[],
        prepared_statements: None,
        managed_settings: &[
            ("num_init_children", Some("size")),
            ("max_pool", None),
            ("listen_backlog_multiplier", Some("max_client_conn")),
            ("listen_addresses", None),
            ("port", None),
            ("pool_passwd", None),
        ],
        counter_interval: 2.0,
        console_connections: 1,
        rejection: Some("Sorry, too many clients already"),
    }),
    series: &[
        series::POOL_SIZE,
        series::POOL_CLIENTS_ACTIVE,
        series::POOL_SERVERS_ACTIVE,
        series::POOL_SERVERS_IDLE,
    ],
    ..product("Pgpool-II", "pgpool", Role::Pooler)
};

pub static HAPROXY: Product = Product {
    plan_key: "ha_proxy",
    series: &[
        series::BALANCER_SESSIONS,
        series::BALANCER_SESSIONS_BEGUN,
        series::BALANCER_QUEUE,
        series::BALANCER_QUEUE_TIME,
        series::BALANCER_UP,
        series::BALANCER_CONNECTION_ERRORS,
        series::BALANCER_RESPONSE_ERRORS,
        series::BALANCER_RETRIES,
    ],
    former_series: &[
        ("haproxy_scur", series::BALANCER_SESSIONS),
        ("haproxy_stot", series::BALANCER_SESSIONS_BEGUN),
        ("haproxy_qcur", series::BALANCER_QUEUE),
        ("haproxy_qtime", series::BALANCER_QUEUE_TIME),
        ("haproxy_up", series::BALANCER_UP),
        ("haproxy_econ", series::BALANCER_CONNECTION_ERRORS),
        ("haproxy_eresp", series::BALANCER_RESPONSE_ERRORS),
        ("haproxy_wretr", series::BALANCER_RETRIES),
    ],
    ..product("HAProxy", "haproxy", Role::Balancer)
};

/// Attached balancer of any product; pgdyno does not read its statistics.
pub static BALANCER: Product = product("balancer", "balancer", Role::Balancer);

/// HTTP service.
pub static SERVICE: Product = product("service", "service", Role::Service);

pub static PATRONI: Product = Product {
    manager: Some(ManagerTraits {
        store: Some(StoreTraits { product: &ETCD, servers: &[1, 3] }),
        minimum_ttl: Nanos::from_secs(20),
    }),
    ..product("Patroni", "patroni", Role::Manager)
};

pub static ETCD: Product = product("etcd", "etcd", Role::Store);

/// Product with this name, key and role, and without further properties.
const fn product(name: &'static str, key: &'static str, role: Role) -> Product {
    Product { name, key, plan_key: key, role, pooler: None, manager: None, series: &[], former_series: &[] }
}

/// Pooler product for plans without a product name.
pub fn default_pooler() -> &'static Product {
    &PGBOUNCER
}

/// Balancer product that pgdyno starts for plans without a product name.
pub fn default_balancer() -> &'static Product {
    &HAPROXY
}

/// Cluster manager product for plans without a product name.
pub fn default_manager() -> &'static Product {
    &PATRONI
}

/// Keys of the products with this role, in the order of the table.
pub fn keys(role: Role) -> impl Iterator<Item = &'static str> {
    with_role(role).map(|it| it.key)
}

/// Products with this role, in the order of the table.
pub fn with_role(role: Role) -> impl Iterator<Item = &'static Product> {
    ALL.iter().copied().filter(move |it| it.role == role)
}

/// Product with this key; `None` if no product has this key.
pub fn find(key: &str) -> Option<&'static Product> {
    ALL.iter().copied().find(|it| it.key == key)
}

/// Product with this key in stored plans; `None` if no product has this key.
pub fn find_by_plan_key(key: &str) -> Option<&'static Product> {
    ALL.iter().copied().find(|it| it.plan_key == key)
}

/// Current name of a series that may have a former name; other names are returned unchanged.
pub fn current_series_name(name: &str) -> &str {
    let mut former = ALL.iter().flat_map(|it| it.former_series);
    former.find(|it| it.0 == name).map_or(name, |it| it.1)
}

impl Product {
    /// Consensus store of a cluster manager; `None` if the manager needs no store.
    pub fn store(&self) -> Option<&'static Product> {
        self.manager.as_ref()?.store.as_ref().map(|it| it.product)
    }

    /// True if the product's console or statistics report this series.
    pub fn reports(&self, series: &str) -> bool {
        self.series.contains(&series)
    }
}

impl PartialEq for Product {
    fn eq(&self, other: &Product) -> bool {
        self.key == other.key
    }
}

impl Eq for Product {}

impl fmt::Debug for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl JsonSchema for Product {
    fn schema_name() -> Cow<'static, str> {
        "Product".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let keys = ALL.iter().map(|product| product.plan_key);
        json_schema!({ "type": "string", "enum": keys.collect::<Vec<_>>() })
    }
}

impl Serialize for Product {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.plan_key)
    }
}

impl<'de> Deserialize<'de> for &'static Product {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<&'static Product, D::Error> {
        let key = String::deserialize(from)?;
        find_by_plan_key(&key).ok_or_else(|| de::Error::custom(format_args!("unknown product `{key}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_complete_and_unique() {
        for (index, product) in ALL.iter().enumerate() {
            assert_eq!(product.pooler.is_some(), product.role == Role::Pooler, "{product:?}");
            assert_eq!(product.manager.is_some(), product.role == Role::Manager, "{product:?}");
            assert!(product.store().is_none_or(|it| it.role == Role::Store), "{product:?}");
            assert_eq!(find(product.key), Some(*product));
            for other in &ALL[index + 1..] {
                assert!(product.plan_key != other.plan_key && product.name != other.name, "{product:?}");
            }
            for (former, present) in product.former_series {
                assert!(product.reports(present), "{former}");
                assert_eq!(current_series_name(former), *present);
                assert_eq!(current_series_name(present), *present, "a current name is not a former name");
            }
        }
    }
}
