//! Types of the experiment file.
//!
//! Their doc comments are the help that editors show. The JSON Schema is generated from them, and the text is
//! checked against that schema before serde reads it.

pub mod find;
mod product;
mod replication;
mod work;

pub use find::Find;
pub use product::{BalancerKind, ManagerKind, Part, PoolerKind};
pub use replication::{Event, Fault, ManagerSettings, Promote, Replicas, ServerTarget};
pub use work::{Capture, Feed, FeedForm, OneOrMany, Operation, Request, Step};

use crate::datum::Ordered;
use crate::unit::{Bytes, BytesPerSecond, Duration, Pause, Share, Word};
use schemars::JsonSchema;
use serde::Deserialize;

/// An experiment: a system, a load on it, and what is varied.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "pgdyno experiment")]
pub struct File {
    /// Names the run's files: lower-case letters, digits and hyphens. The file's own name when left out.
    pub name: Option<String>,
    /// Decides all chance; 1 when left out.
    pub seed: Option<u64>,
    /// How often each cell is measured; 1 when left out.
    #[schemars(range(min = 1))]
    pub repeat: Option<u32>,
    /// What is measured: service, then balancer, then pooler, then PostgreSQL.
    pub stack: Stack,
    /// What the tables hold before each trial.
    pub dataset: Option<Dataset>,
    /// Values that operations draw, by name.
    #[serde(default)]
    pub feeds: Ordered<Feed>,
    /// What clients do: a mix of transactions, by name.
    pub operations: Ordered<Operation>,
    /// How the system is loaded.
    pub load: Load,
    /// What is to be held, such as `p99 < 200ms` or `errors < 1%`.
    #[serde(default)]
    pub objectives: Vec<String>,
    /// When to stop early, in Yandex.Tank's autostop grammar, such as `net(xx,25,10)`.
    #[serde(default)]
    pub stop: Vec<String>,
    /// What is looked for: `once`, `max`, `confirm`, `soak`, `sweep`, `failover`, or one of these with its settings.
    pub find: Option<Find>,
    /// What goes wrong on purpose, in this order.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Whether the cause of a maximum is proved: what may be it is changed, and the maximum measured again.
    pub prove: Option<bool>,
    /// What is varied: a path with its values, or a name with variants that set several paths.
    #[serde(default)]
    pub matrix: Ordered<Axis>,
    /// Points of the matrix that are left out: each names values of some axes.
    #[serde(default)]
    pub skip: Vec<Ordered<Word>>,
    /// The point of the matrix with which the others are compared.
    pub baseline: Option<Ordered<Word>>,
    /// Paths and values that `--quick` sets.
    #[serde(default)]
    pub quick: Ordered<serde_json::Value>,
}

/// An axis of the matrix.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Axis {
    /// Values of the path that the axis is named by.
    Values(Vec<serde_json::Value>),
    /// By variant, the paths that it sets.
    Variants(Ordered<Ordered<serde_json::Value>>),
}

/// Something, or the word `none`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OrNone<T> {
    None(Nothing),
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
pub enum Nothing {
    None,
}

/// The system under test: a chain, entered at the first that is there.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// An HTTP service, which HTTP operations ask and which asks what is behind it, or `none`.
    pub service: Option<OrNone<Service>>,
    /// Before pooler and PostgreSQL, or `none`.
    pub balancer: Option<OrNone<Balancer>>,
    /// Between balancer and PostgreSQL, or `none`.
    pub pooler: Option<OrNone<Pooler>>,
    /// The end of the chain.
    pub postgres: Option<Postgres>,
    /// Servers that hold the same rows, or `none`. The balancer then stands between the pooler and them.
    pub replicas: Option<OrNone<Replicas>>,
    /// What sends the load.
    pub generator: Option<GeneratorNode>,
}

/// An HTTP service that pgdyno starts (`command`), or one that is there (`url`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The program and its arguments. A program with a slash in its name, and arguments that begin with `./` or `../`, are
    /// relative to this file. It is given `ADDRESS` and `DATABASE_URL` in its environment.
    pub command: Option<Vec<Word>>,
    /// Where one that is there is found, such as http://127.0.0.1:8080.
    pub url: Option<String>,
    /// Says that a service on another machine may be loaded: its host and port once more, as in `shop.test:443`.
    pub allow: Option<String>,
    /// How hard a service on another machine may be loaded at most.
    pub caps: Option<Caps>,
    /// Further variables of its environment.
    #[serde(default)]
    pub env: Ordered<Word>,
    /// How many run; with several, a balancer stands before them. 1 when left out.
    #[schemars(range(min = 1, max = 64))]
    pub copies: Option<u32>,
    /// The path that answers 200 as soon as it is ready; `/health` when left out.
    pub ready: Option<String>,
    /// How long that may take; a minute of a processor when left out, so that a tenth of one has ten.
    pub ready_within: Option<Duration>,
    /// The path that tells of its threads and connections.
    pub stats: Option<String>,
    /// What it may use of the machine.
    pub limits: Option<Limits>,
}

/// Of what is on another machine, until they are raised.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Transactions per second; 1000 when left out.
    pub rate: Option<f64>,
    /// Clients at once; 50 when left out.
    #[schemars(range(min = 1))]
    pub clients: Option<u32>,
    /// Of a trial, warm-up included; 5m when left out.
    pub duration: Option<Duration>,
    /// Of what speaks SQL: sessions of others that may be at work there when the run begins; none when left out.
    pub others: Option<u32>,
}

/// How those before it reach a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Entrance {
    /// A Unix socket.
    Unix,
    /// TCP over the loopback.
    Tcp,
    /// TLS over TCP.
    Tls,
}

/// A PostgreSQL server that pgdyno starts, or one that is there (`attach`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Postgres {
    /// Address of a server that is there, as psql takes it, without a password.
    pub attach: Option<String>,
    /// Says that a server on another machine may be loaded: its host, port and database once more, as in `db:5432/book`.
    pub allow: Option<String>,
    /// How hard a server on another machine may be loaded at most.
    pub caps: Option<Caps>,
    /// `tcp` when left out.
    pub entrance: Option<Entrance>,
    /// Major version; the newest that is installed when left out.
    #[schemars(range(min = 10, max = 99))]
    pub version: Option<u32>,
    /// 100 when left out.
    #[schemars(range(min = 1, max = 262_143))]
    pub max_connections: Option<u32>,
    /// Further lines of `postgresql.conf`.
    #[serde(default)]
    pub settings: Ordered<Word>,
    /// What it may use of the machine.
    pub limits: Option<Limits>,
}

/// How a pooler lends its server connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolMode {
    /// Until the client disconnects.
    Session,
    /// For one transaction.
    Transaction,
    /// For one statement.
    Statement,
}

/// A pooler that pgdyno starts, or one that is there (`attach`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pooler {
    pub kind: PoolerKind,
    /// Address of a pooler that is there, as psql takes it, without a password.
    pub attach: Option<String>,
    /// Says that a pooler on another machine may be loaded: its host, port and database once more, as in `db:6432/book`.
    pub allow: Option<String>,
    /// How hard a pooler on another machine may be loaded at most.
    pub caps: Option<Caps>,
    /// Address of its console, in the same form.
    pub admin: Option<String>,
    /// `session` when left out.
    pub mode: Option<PoolMode>,
    /// Server connections per user and database; 20 when left out.
    #[schemars(range(min = 1, max = 100_000))]
    pub size: Option<u32>,
    /// `tcp` when left out.
    pub entrance: Option<Entrance>,
    /// Clients at once; 10000 when left out.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_client_conn: Option<u32>,
    /// Oldest acceptable version, such as 1.21; for a `kind` of which several versions may be installed.
    pub version: Option<Word>,
    /// Worker threads, for a `kind` that has them; 1 when left out.
    #[schemars(range(min = 1, max = 1024))]
    pub workers: Option<u32>,
    /// Longest time that a client may wait for a server connection, for a `kind` that has this limit; no limit when 0 or left out.
    pub pool_timeout: Option<Duration>,
    /// Further settings in the pooler's own configuration.
    #[serde(default)]
    pub settings: Ordered<Word>,
    /// What it may use of the machine.
    pub limits: Option<Limits>,
}

/// A balancer that pgdyno starts, or one that is there (`attach`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Balancer {
    pub kind: Option<BalancerKind>,
    /// Address of a balancer that is there, as psql takes it, without a password.
    pub attach: Option<String>,
    /// Says that a balancer on another machine may be loaded: its host, port and database once more, as in `db:5432/book`.
    pub allow: Option<String>,
    /// How hard a balancer on another machine may be loaded at most.
    pub caps: Option<Caps>,
    /// `tcp` when left out.
    pub entrance: Option<Entrance>,
    /// Connections to what is behind it; further ones wait. Without a bound when left out.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub maxconn: Option<u32>,
    /// A connection that waits longer is closed; 30s when left out.
    pub queue_timeout: Option<Duration>,
    /// A health check every so often, or `none`, as when left out.
    pub check: Option<OrNone<Duration>>,
    /// How often a connection that the server refuses is tried again, a second apart, before the client is told; 3 when left out.
    #[schemars(range(min = 0, max = 100))]
    pub retries: Option<u32>,
    /// What it may use of the machine.
    pub limits: Option<Limits>,
}

/// The load generator.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratorNode {
    /// What it may use of the machine.
    pub limits: Option<Limits>,
}

/// What a node may use of the machine; without a bound where left out.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Processors: 0.1 is a tenth of one.
    pub cpu: Option<f64>,
    /// Page cache included.
    pub memory: Option<Bytes>,
    /// Reads per second.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
    /// Bytes read per second.
    pub read_bps: Option<BytesPerSecond>,
    /// Bytes written per second.
    pub write_bps: Option<BytesPerSecond>,
    /// Numbers of the processors it may run on, from 0; all when left out.
    pub cpus: Option<Vec<u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatasetName {
    /// `book.tickets`: one table, a railway's bookings; takes `rows`.
    Tickets,
    /// `book.bookv2`: books by author and name, which the service `book` wants; takes `rows`.
    Books,
    /// `delivery.send` and `delivery.receive`: offices all over Russia, which the service `delivery` wants; takes `scale`.
    Delivery,
    /// `social.users`, who all have one password, which the service `social` wants; takes `users`.
    Users,
    /// A hot table of users' settings; takes `users` and `per_user`.
    Profiles,
    /// pgbench's four tables; takes `scale`.
    Pgbench,
}

/// Whether caches hold the data when a trial begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// Read through once.
    Warm,
    /// Evicted, as far as we may.
    Cold,
    /// As loading left it.
    AsIs,
}

/// A dataset by its name, or tables that are declared here.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    pub name: Option<DatasetName>,
    /// Of tickets, 100000 when left out; of books, 1000000.
    #[schemars(range(min = 1))]
    pub rows: Option<u64>,
    /// Of profiles, 5 when left out; of users, 100000.
    #[schemars(range(min = 1))]
    pub users: Option<u64>,
    /// Of profiles: rows of each user; 2 when left out.
    #[schemars(range(min = 1))]
    pub per_user: Option<u64>,
    /// Of pgbench: each 100000 accounts, 1 when left out; of delivery: each 160 million receivers, 0.025 when left out.
    pub scale: Option<f64>,
    /// Decides what the rows hold; the experiment's when left out.
    pub seed: Option<u64>,
    /// `warm` when left out.
    pub cache: Option<Cache>,
    /// Statements that follow before each trial, such as an index more.
    #[serde(default)]
    pub after: Vec<String>,
    /// Instead of a name: tables, by name; a name may begin with a schema's, which is made.
    pub tables: Option<Ordered<Table>>,
}

/// A table that is made and filled.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    #[schemars(range(min = 1))]
    pub rows: u64,
    /// By name.
    pub columns: Ordered<Column>,
    /// Names of columns.
    #[serde(default)]
    pub primary_key: Vec<String>,
    /// Each a list of columns or expressions, as between the parentheses of `CREATE INDEX`.
    #[serde(default)]
    pub indexes: Vec<String>,
}

/// What a column is filled with.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Column {
    Full(FullColumn),
    Plain(Generator),
}

/// A generator with a type of its own or with NULLs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FullColumn {
    pub generator: Generator,
    /// Its SQL type; the generator's when left out.
    #[serde(rename = "type")]
    pub sql_type: Option<String>,
    /// Share of NULLs, such as 10%.
    pub nulls: Option<Share>,
}

/// What values are drawn from.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
    /// 1, 2, 3, …
    Serial,
    /// Surname, name, patronymic.
    RussianName,
    /// First and last name.
    EnglishName,
    /// Whole numbers, each as often.
    Uniform(Bounds),
    /// Whole numbers, the first ones more often: Zipf's law.
    Zipfian(Zipfian),
    /// So many English words.
    Words(WordCount),
    /// Random letters.
    Text(Length),
    /// Moments between two.
    Timestamp(Moments),
    /// Points of a rectangle.
    Point(Rectangle),
    /// An object of named generators, as `jsonb`.
    Json(Ordered<Generator>),
    /// The same text in every row.
    Constant(Word),
    /// One of these, each as often.
    OneOf(Vec<Word>),
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    pub min: i64,
    pub max: i64,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zipfian {
    pub min: i64,
    pub max: i64,
    /// The law's exponent, above 1; 1.1 when left out.
    pub s: Option<f64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordCount {
    #[schemars(range(min = 1, max = 10_000))]
    pub min: u32,
    #[schemars(range(min = 1, max = 10_000))]
    pub max: u32,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Length {
    #[schemars(range(min = 1, max = 1_000_000))]
    pub length: u32,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moments {
    /// Such as 2024-01-01, or 2024-01-01 12:00:00; UTC.
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// A corner, as [x, y].
    pub from: [f64; 2],
    /// The corner across.
    pub to: [f64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Transactions start by a schedule, whether or not others were answered.
    Open,
    /// Each client starts its next transaction after the previous one.
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At equal distances.
    Even,
    /// As independent users come.
    Poisson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryMode {
    Simple,
    Extended,
    Prepared,
}

/// The load.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub model: Model,
    /// Closed: how many.
    #[schemars(range(min = 1, max = 100_000))]
    pub clients: Option<u32>,
    /// Closed, instead of `clients`: how many users there are, in stages.
    pub users: Option<Vec<Stage>>,
    /// Closed: from a transaction's end to the same client's next one: `50ms`, `exponential(1s)` by its mean,
    /// `lognormal(1s, 0.5)` by its median and σ. 0 when left out.
    pub think: Option<Pause>,
    /// Closed: from one start to the same client's next one at least.
    pub pacing: Option<Duration>,
    /// Closed: transactions per second of all clients together, at most.
    pub max_rate: Option<f64>,
    /// Open: what the operations' rates are multiplied by; 1 when left out.
    pub coefficient: Option<f64>,
    /// Open: rates over time in Yandex.Tank's grammar, such as `line(1, 200, 200s)`.
    pub schedule: Option<String>,
    /// Open: `even` when left out.
    pub arrivals: Option<Arrivals>,
    /// Open: transactions at once; further ones wait.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_in_flight: Option<u32>,
    /// What is measured: of a closed load, and of an open one that is made of rates. Others last as long as their stages or
    /// schedule.
    pub duration: Option<Duration>,
    /// The same load before it, which is not measured; 0 when left out.
    pub warmup: Option<Duration>,
    /// Of the generator; 1 when left out.
    #[schemars(range(min = 1, max = 1024))]
    pub threads: Option<u16>,
    /// How statements travel; `simple` when left out.
    pub query_mode: Option<QueryMode>,
    /// A connection for each transaction.
    pub connect_each: Option<bool>,
    /// A connection that takes longer to open, its log-in included, is given up; 30s when left out.
    pub connect_timeout: Option<Duration>,
    /// A service's answer that has not begun within this time is given up.
    pub first_byte_timeout: Option<Duration>,
    /// A transaction that takes longer is given up.
    pub timeout: Option<Duration>,
    /// Each client keeps the cookies that a service sets, and sends them back.
    pub cookies: Option<bool>,
    /// Tries where a serialization failure or deadlock allows another; 1 when left out.
    #[schemars(range(min = 1))]
    pub max_tries: Option<u16>,
}

/// A time with so many users.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    #[schemars(range(max = 100_000))]
    pub users: u32,
    /// How many come, or leave, per second; all at once when left out.
    pub spawn_rate: Option<f64>,
    /// Until the next stage.
    #[serde(rename = "for")]
    pub duration: Duration,
}
