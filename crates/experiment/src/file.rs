//! Types of the experiment file.
//!
//! Their doc comments are the help that editors show. The JSON Schema is generated from them, and the text is
//! checked against that schema before serde reads it.

mod dataset;
mod document;
pub mod find;
mod product;
mod replication;
mod service;
mod work;

pub use dataset::{
    Bounds, Cache, Column, Dataset, DatasetName, FullColumn, Generator, Length, Moments, Rectangle,
    SourceAddress, SourcePart, Table, WordCount, Zipfian,
};
pub use document::{Document, DocumentLanguage};
pub use find::Find;
pub use product::{BalancerKind, ManagerKind, Part, PoolerKind};
pub use replication::{Event, Fault, ManagerSettings, Promote, Replicas, ServerTarget};
pub use service::{Program, ProgramScope, Service, Stats, StatsForm, StatsPage};
pub use work::{
    Capture, Defaults, Expect, Feed, FileFormat, Ledger, LedgerLists, OnStart, Operation, Request, Step,
};

use crate::datum::OrderedMap;
use crate::unit::{Bytes, BytesPerSecond, Duration, Pause, Word};
use schemars::JsonSchema;
use serde::Deserialize;

/// Experiment: a system under test, its load, and the settings to vary.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "pgdyno experiment")]
pub struct File {
    /// Name of the run files: 1 to 64 lowercase letters, digits and hyphens. Default: the name of this file.
    pub name: Option<String>,
    /// Seed of all random numbers. Default: 1.
    pub seed: Option<u64>,
    /// Number of trials of each cell. Default: 1.
    #[schemars(range(min = 1))]
    pub repeat: Option<u32>,
    /// System under test: a chain of service, balancer, pooler and PostgreSQL.
    pub stack: Stack,
    /// Data that is restored before each trial.
    pub dataset: Option<Dataset>,
    /// Feeds by name: rows of values that operations use.
    #[serde(default)]
    pub feeds: OrderedMap<Feed>,
    /// Defaults for the requests of all operations and of `on_start`. A request may replace each of them.
    pub defaults: Option<Defaults>,
    /// Requests that each client sends once, before its first operation, such as a log-in. Their captures are variables
    /// of all operations. They are not part of the results.
    pub on_start: Option<OnStart>,
    /// Operations by name: the transactions that clients execute. A replay has none.
    #[serde(default)]
    pub operations: OrderedMap<Operation>,
    /// Load on the system.
    pub load: Load,
    /// Agents that generate the load, instead of this machine.
    pub generators: Option<Generators>,
    /// Objectives, such as `p99 < 200ms` or `errors < 1%`.
    #[serde(default)]
    pub objectives: Vec<String>,
    /// Stop rules, which end a trial early. They use the autostop grammar of Yandex.Tank, as in `net(xx,25,10)`.
    #[serde(default)]
    pub stop: Vec<String>,
    /// Goal: `once`, `max`, `confirm`, `soak`, `sweep` or `failover`, or a mapping with one of them and its settings.
    /// Default: `once`.
    pub find: Option<Find>,
    /// Faults to inject, in this order.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Queries whose results must not change during a trial, such as `SELECT sum(balance) FROM accounts`. They are read from all
    /// servers.
    #[serde(default)]
    pub invariants: Vec<String>,
    /// Commands to run before and after each trial, for example to switch an attached system to the settings of a cell.
    #[serde(default)]
    pub hooks: Hooks,
    /// Whether to prove what limits a maximum: the search is repeated with one setting changed. Default: false.
    pub prove: Option<bool>,
    /// Axes of the matrix: a path with its values, or a name with variants that set several paths.
    #[serde(default)]
    pub matrix: OrderedMap<Axis>,
    /// Cells to skip. Each entry selects values of one or more axes.
    #[serde(default)]
    pub skip: Vec<OrderedMap<Word>>,
    /// Cell with which the other cells are compared: a value of each axis.
    pub baseline: Option<OrderedMap<Word>>,
    /// Texts for a document that binds several runs. They do not change what is measured.
    pub document: Option<Document>,
    /// Paths and values that the option `--quick` sets.
    #[serde(default)]
    pub quick: OrderedMap<serde_json::Value>,
}

/// Agents that generate the load. Each runs `pgdyno agent`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Generators {
    /// Number of agents. With `auto`, the run begins with one agent and adds idle agents while the agents limit the load;
    /// `threads` of the load is then the number of each agent.
    pub agents: AgentCount,
    /// Address of the NATS servers. Default: the environment variable `NATS_URL`, else `nats://127.0.0.1:4222`.
    pub nats: Option<String>,
    /// Labels that agents must have, each with its accepted values.
    #[serde(default)]
    pub select: OrderedMap<OneOrMany<Word>>,
    /// Outcome of a trial in which an agent is lost. Default: `invalid`.
    pub lost: Option<String>,
}

/// Number of agents, or the word `auto`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum AgentCount {
    Fixed(#[schemars(range(min = 1, max = 4096))] u16),
    Auto(AutoKeyword),
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AutoKeyword {
    Auto,
}

/// Commands to run before and after each trial. A program name with a slash, and arguments that begin with `./` or `../`,
/// are relative to this file, whose folder is the working directory.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hooks {
    /// Program and arguments to run before each trial, before pgdyno connects to the system. It may run twice before the
    /// first trial. If it fails or takes longer than ten minutes, the trial fails.
    pub before_trial: Option<Vec<Word>>,
    /// Program and arguments to run after each trial, also after a failed one.
    pub after_trial: Option<Vec<Word>>,
}

/// Axis of the matrix.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Axis {
    /// Values of the path that is the axis's name.
    Values(Vec<serde_json::Value>),
    /// Variants by name, each with the paths and values that it sets.
    Variants(OrderedMap<OrderedMap<serde_json::Value>>),
}

/// List of values. A single value needs no brackets.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

/// Value, or the word `none`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OrNone<T> {
    None(NoneKeyword),
    Some(T),
}

impl<T> OrNone<T> {
    pub fn into_option(self) -> Option<T> {
        match self {
            OrNone::None(_) => None,
            OrNone::Some(it) => Some(it),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum NoneKeyword {
    None,
}

/// System under test: a chain of nodes. Clients connect to the first node.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// HTTP service, or `none`. It receives the HTTP operations and connects to the next node.
    pub service: Option<OrNone<Service>>,
    /// Balancer before the pooler and PostgreSQL, or `none`.
    pub balancer: Option<OrNone<Balancer>>,
    /// Pooler between the balancer and PostgreSQL, or `none`.
    pub pooler: Option<OrNone<Pooler>>,
    /// PostgreSQL server at the end of the chain.
    pub postgres: Option<Postgres>,
    /// Replicas of `postgres`, or `none`. With replicas, the balancer is between the pooler and the servers.
    pub replicas: Option<OrNone<Replicas>>,
    /// Load generator.
    pub generator: Option<GeneratorNode>,
    /// Hosts whose nodes share CPUs and memory, by name.
    #[serde(default)]
    pub hosts: OrderedMap<SharedHost>,
}

/// Caps on the load of a system on another machine.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Maximum transactions per second. Default: 1000.
    pub rate: Option<f64>,
    /// Maximum number of concurrent clients. Default: 50.
    #[schemars(range(min = 1))]
    pub clients: Option<u32>,
    /// Maximum duration of a trial, including warm-up. Default: 5m.
    pub duration: Option<Duration>,
    /// Maximum number of active sessions of other clients when the run begins. Not for services. Default: 0.
    pub other_sessions: Option<u32>,
}

/// Transport by which a node accepts connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Unix-domain socket.
    Unix,
    /// TCP on the loopback interface.
    Tcp,
    /// TLS over TCP.
    Tls,
}

/// PostgreSQL server that pgdyno starts, or a running server (`attach`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Postgres {
    /// Connection string of a running server, as for psql, without a password.
    pub attach: Option<String>,
    /// Connection strings of all servers of a running cluster, without passwords, for `find: failover`. pgdyno only reads from
    /// these servers; the load goes to `attach`.
    pub servers: Option<Vec<String>>,
    /// Allows load on a server on another machine. Value: `host:port/database`, as in `db:5432/book`.
    pub allow: Option<String>,
    /// Caps on the load of a server on another machine.
    pub caps: Option<Caps>,
    /// URL of the metrics of the server's host, such as http://db:9100/metrics, or a list of URLs. Only for a server on another
    /// machine.
    pub metrics: Option<OneOrMany<String>>,
    /// Transport. Default: `tcp`.
    pub transport: Option<Transport>,
    /// Major version. Default: the newest installed version.
    #[schemars(range(min = 10, max = 99))]
    pub version: Option<u32>,
    /// PostgreSQL's `max_connections`. Default: 100.
    #[schemars(range(min = 1, max = 262_143))]
    pub max_connections: Option<u32>,
    /// Additional settings of `postgresql.conf`.
    #[serde(default)]
    pub settings: OrderedMap<Word>,
    /// Resource limits.
    pub limits: Option<Limits>,
}

/// Pooling mode: how long a client keeps a server connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolMode {
    /// The client keeps its server connection until it disconnects.
    Session,
    /// The client keeps its server connection for one transaction.
    Transaction,
    /// The client keeps its server connection for one statement.
    Statement,
}

/// Pooler that pgdyno starts, or a running pooler (`attach`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pooler {
    /// Product of the pooler.
    pub kind: PoolerKind,
    /// Connection string of a running pooler, as for psql, without a password.
    pub attach: Option<String>,
    /// Allows load on a pooler on another machine. Value: `host:port/database`, as in `db:6432/book`.
    pub allow: Option<String>,
    /// Caps on the load of a pooler on another machine.
    pub caps: Option<Caps>,
    /// URL of the metrics of the pooler's host, such as http://db:9100/metrics, or a list of URLs. Only for a pooler on another
    /// machine.
    pub metrics: Option<OneOrMany<String>>,
    /// Connection string of the console of a running pooler.
    pub admin: Option<String>,
    /// Pooling mode. Default: `session`.
    pub mode: Option<PoolMode>,
    /// Maximum number of server connections per user and database. Default: 20.
    #[schemars(range(min = 1, max = 100_000))]
    pub size: Option<u32>,
    /// Transport. Default: `tcp`.
    pub transport: Option<Transport>,
    /// Maximum number of client connections. Default: 10000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_client_conn: Option<u32>,
    /// Minimum version, such as 1.21. Only for kinds of which several versions may be installed.
    pub version: Option<Word>,
    /// Number of worker threads. Only for kinds that have worker threads. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub workers: Option<u32>,
    /// Maximum time that a client waits for a server connection. Only for kinds that have this limit. Default: 0, no
    /// limit.
    pub pool_timeout: Option<Duration>,
    /// Additional settings of the pooler's configuration file.
    #[serde(default)]
    pub settings: OrderedMap<Word>,
    /// Resource limits.
    pub limits: Option<Limits>,
}

/// Balancer that pgdyno starts, or a running balancer (`attach`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Balancer {
    /// Product of the balancer.
    pub kind: Option<BalancerKind>,
    /// Connection string of a running balancer, as for psql, without a password.
    pub attach: Option<String>,
    /// Allows load on a balancer on another machine. Value: `host:port/database`, as in `db:5432/book`.
    pub allow: Option<String>,
    /// Caps on the load of a balancer on another machine.
    pub caps: Option<Caps>,
    /// URL of the metrics of the balancer's host, such as http://db:9100/metrics, or a list of URLs. Only for a balancer on another
    /// machine.
    pub metrics: Option<OneOrMany<String>>,
    /// Transport. Default: `tcp`.
    pub transport: Option<Transport>,
    /// Maximum number of connections to the servers; further clients wait. Default: no limit.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub maxconn: Option<u32>,
    /// Maximum time that a client waits for a connection before the balancer closes it. Default: 30s.
    pub queue_timeout: Option<Duration>,
    /// Interval of health checks, or `none`. Default: `none`; with replicas 500ms.
    pub check: Option<OrNone<Duration>>,
    /// Maximum number of retries, at intervals of one second, if the server refuses a connection. Default: 3.
    #[schemars(range(min = 0, max = 100))]
    pub retries: Option<u32>,
    /// Resource limits.
    pub limits: Option<Limits>,
}

/// Load generator.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratorNode {
    /// Resource limits.
    pub limits: Option<Limits>,
}

/// Nodes that share CPUs and memory, as if they ran on a machine of their own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedHost {
    /// Nodes on the host: keys of `stack`, such as `pooler`, or programs of the service, such as `service.web`.
    pub nodes: Vec<String>,
    /// `copy` gives each copy of the service a host of its own. Default: `stack`, one host.
    pub per: Option<ProgramScope>,
    /// CPU quota that the nodes share, from 0.01 to 1024.
    pub cpu: Option<f64>,
    /// Memory that the nodes share, including page cache, at least 1MB.
    pub memory: Option<Bytes>,
    /// Numbers of the CPUs that the nodes may use, counted from 0. Default: all.
    pub cpus: Option<Vec<u32>>,
}

/// Resource limits of a node. Default: no limits.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// CPUs, from 0.01 to 1024; 0.1 is a tenth of one CPU.
    pub cpu: Option<f64>,
    /// Memory including page cache, at least 1MB.
    pub memory: Option<Bytes>,
    /// Maximum number of read operations per second.
    pub read_iops: Option<u64>,
    /// Maximum number of write operations per second.
    pub write_iops: Option<u64>,
    /// Maximum number of bytes read per second.
    pub read_bps: Option<BytesPerSecond>,
    /// Maximum number of bytes written per second.
    pub write_bps: Option<BytesPerSecond>,
    /// Numbers of the CPUs that the node may use, counted from 0. Default: all.
    pub cpus: Option<Vec<u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Open model: transactions start on a schedule, whether or not earlier transactions have ended.
    Open,
    /// Closed model: each client starts its next transaction after its previous transaction has ended.
    Closed,
    /// Replay: the requests of recorded sessions are sent at their recorded times.
    Replay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Transactions start at equal intervals.
    Even,
    /// Transactions start as a Poisson process, like the transactions of independent users.
    Poisson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryMode {
    Simple,
    Extended,
    Prepared,
}

/// Load on the system.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Load model.
    pub model: Model,
    /// Closed model: number of clients.
    #[schemars(range(min = 1, max = 100_000))]
    pub clients: Option<u32>,
    /// Closed model, instead of `clients`: number of users over time, in stages.
    pub users: Option<Vec<Stage>>,
    /// Closed model: pause between the end of a transaction and the start of the client's next transaction. It is
    /// constant (`50ms`), or has the distribution `exponential(mean)` or `lognormal(median, σ)`. Default: 0.
    pub think: Option<Pause>,
    /// Closed model: minimum time between the starts of two transactions of the same client. Default: none.
    pub pacing: Option<Duration>,
    /// Closed model: maximum rate of all clients together, in transactions per second. Default: no limit.
    pub max_rate: Option<f64>,
    /// Open model: factor by which the rates of the operations are multiplied. Default: 1.
    pub coefficient: Option<f64>,
    /// Open model: rate over time in the grammar of Yandex.Tank, such as `line(1, 200, 200s)`; or `recorded`, to send the
    /// requests of access logs at their recorded times.
    pub schedule: Option<String>,
    /// Open model: distribution of the start times. Default: `even`.
    pub arrivals: Option<Arrivals>,
    /// Open model: maximum number of transactions in flight; further transactions wait.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_in_flight: Option<u32>,
    /// Open model: minimum time between two wake-ups of a generator thread, from 1us to 100ms. It saves CPU time of the
    /// generator at high rates, but requests are sent, and responses received, up to this time later. Default: none.
    pub slack: Option<Duration>,
    /// Replay and open model: path of a recording that `pgdyno record` or `pgdyno capture` made. An open load starts its
    /// transactions on the schedule.
    pub traffic: Option<String>,
    /// Replay and `schedule: recorded`: factor by which the load is faster than the recording, from 0.01 to 1000. Default: 1.
    pub speed: Option<f64>,
    /// Duration of the measurement, without warm-up. Only for `clients`, and for an open load that consists of rates; other
    /// loads last as long as their stages or schedule.
    pub duration: Option<Duration>,
    /// Duration of the warm-up, which has the same load, but is not measured. Default: 0.
    pub warmup: Option<Duration>,
    /// Number of threads of the load generator. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub threads: Option<u16>,
    /// Protocol of SQL statements. Default: `simple`.
    pub query_mode: Option<QueryMode>,
    /// Whether each transaction opens a new connection. Default: false.
    pub reconnect: Option<bool>,
    /// Timeout for opening a connection, including authentication. Default: 30s.
    pub connect_timeout: Option<Duration>,
    /// Timeout for the first byte of an HTTP response. Default: none.
    pub first_byte_timeout: Option<Duration>,
    /// Timeout for a transaction. Default: none.
    pub timeout: Option<Duration>,
    /// Whether each client stores and returns the cookies of a service. Default: false.
    pub cookies: Option<bool>,
    /// Maximum number of attempts after serialization failures and deadlocks. Default: 1.
    #[schemars(range(min = 1))]
    pub max_tries: Option<u16>,
    /// With faults: number of additional clients per second that open a connection, write once with a ledger, and
    /// disconnect. As many read. They show what a new client sees during a failover. Default: 20.
    #[schemars(range(max = 200))]
    pub new_clients: Option<u32>,
}

/// Stage with a constant target number of users.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Number of users.
    #[schemars(range(max = 100_000))]
    pub users: u32,
    /// Users that start or stop per second. Default: all at once.
    pub spawn_rate: Option<f64>,
    /// Duration of the stage.
    pub duration: Duration,
}
