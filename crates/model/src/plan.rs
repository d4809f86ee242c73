//! What is to be set up and measured?
//!
//! An experiment is a list of cells; each cell is a whole [`Setup`], nothing in it is inherited any more. Plain values: the
//! experiment file's form, defaults and mistakes are the crate `experiment`'s.

mod fault;
mod goal;
mod load;
mod operation;
mod replication;

pub use fault::{Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger, TriggerEvent};
pub use goal::{Confirm, Goal, LoadScale, MaxSearch, Soak, Sweep, TargetLevel};
pub use load::{Load, LoadModel, ThinkTime, UserStage};
pub use operation::{
    CaptureSource, Expectation, Feed, FeedFormat, FeedOrder, FeedSource, HttpStep, Operation, OperationKind,
    RequestBody, SqlTarget,
};
pub use replication::{FailoverManager, Patroni, Promoter, PromotionPolicy, Replication, SyncMode};

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Everything one file asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// `[a-z0-9-]{1,64}`: names files.
    pub name: String,
    /// All chance comes from it.
    pub seed: u64,
    /// Every cell is measured this many times, at least 1.
    pub repeat: u32,
    /// In the order of the file; at least one.
    pub cells: Vec<Cell>,
    /// Index into `cells` of what the others are compared with.
    pub baseline: Option<usize>,
    #[serde(default)]
    #[serde(rename = "find")]
    pub goal: Goal,
}

impl Experiment {
    /// How many trials there are in all; `None` where what is measured decides that.
    pub fn trials(&self) -> Option<usize> {
        let known = matches!(self.goal, Goal::Once | Goal::Failover | Goal::Sweep(Sweep { max: None }));
        known.then(|| self.cells.len() * self.repeat as usize)
    }

    /// The positive control of a cell, among the experiment's cells: cells that differ only in what they promise have one.
    pub fn control_for(&self, cell: usize) -> Option<usize> {
        let unpromised = self.cells.get(cell)?.setup.without_promise();
        self.cells.iter().position(|it| {
            let of = it.control_of.and_then(|of| self.cells.get(of));
            of.is_some_and(|of| of.setup.without_promise() == unpromised)
        })
    }
}

/// One point of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// By axis, in the file's order: the axis's name and what it is here, such as (`pooler.mode`, `session`).
    pub label: Vec<(String, String)>,
    /// The cell whose faults are done here to a system that promises nothing: it must lose something, or that nothing is lost
    /// there proves nothing. Index into the experiment's cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_of: Option<usize>,
    pub setup: Setup,
}

/// All that one trial needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    pub stack: Stack,
    pub dataset: Option<Dataset>,
    /// Values that operations draw.
    #[serde(default)]
    pub feeds: Vec<Feed>,
    /// At least one.
    pub operations: Vec<Operation>,
    pub load: Load,
    /// In the grammar of `analysis::objective`.
    pub objectives: Vec<String>,
    /// In the grammar of `analysis::rule`.
    #[serde(rename = "stop")]
    pub stop_rules: Vec<String>,
    /// What goes wrong on purpose, in the order of the file.
    #[serde(default)]
    pub faults: Vec<Fault>,
}

impl Setup {
    /// The same, where a commit waits for no replica, and Patroni promotes however much a replica lacks.
    pub fn without_promise(&self) -> Setup {
        let mut it = self.clone();
        if let Some(replication) = &mut it.stack.replication {
            replication.sync = SyncMode::Async;
            if let FailoverManager::Patroni(patroni) = &mut replication.manager {
                patroni.strict = false;
                patroni.maximum_lag = Patroni::ANY_LAG;
            }
        }
        it
    }
}

/// The system under test: a chain from where clients enter to PostgreSQL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// The entrance first, PostgreSQL last; each node's clients come from the one before it. At least one.
    pub nodes: Vec<Node>,
    /// What the generator itself may use; it shares the machine with what it measures.
    pub generator: Limits,
    /// Of the PostgreSQL at the end.
    #[serde(default)]
    pub replication: Option<Replication>,
}

impl Stack {
    /// Names of the replicas that the PostgreSQL at the end has: `postgres-2`, `postgres-3`, …
    pub fn replica_names(&self) -> Vec<String> {
        let count = self.replication.as_ref().map_or(0, |it| it.replicas);
        let of = self.nodes.last().map_or("", |it| it.name.as_str());
        (2..2 + count).map(|number| format!("{of}-{number}")).collect()
    }
}

/// A component, or one that was there before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique in its stack, such as `postgres` or `pooler`.
    pub name: String,
    pub kind: NodeKind,
    /// How those before it reach it.
    #[serde(rename = "entrance")]
    pub transport: Transport,
    pub limits: Limits,
}

/// What a node is, and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    Postgres(Postgres),
    PgBouncer(PgBouncer),
    Odyssey(Odyssey),
    HaProxy(HaProxy),
    Service(Service),
    /// Not ours: never started, stopped or limited.
    Attached(AttachedNode),
}

/// What the bytes on the way into a node travel over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    Unix,
    #[default]
    Tcp,
    Tls,
}

/// How a pooler lends its server connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolMode {
    Session,
    Transaction,
    Statement,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Postgres {
    /// Major version; any installed one, the newest first, when `None`.
    pub version: Option<u32>,
    pub max_connections: u32,
    /// Further lines of `postgresql.conf`.
    pub settings: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PgBouncer {
    /// Least version wanted, as (1, 21); any when `None`.
    pub version: Option<(u32, u32)>,
    pub mode: PoolMode,
    /// `default_pool_size`: server connections per user and database.
    pub size: u32,
    pub max_client_conn: u32,
    /// Further lines of section `[pgbouncer]`.
    pub settings: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Odyssey {
    /// Session or transaction; it has no statement mode.
    pub mode: PoolMode,
    pub size: u32,
    pub workers: u32,
    pub client_max: u32,
    /// How long a client may wait for a server.
    pub pool_timeout: Nanos,
    /// Further lines of the user's section.
    pub settings: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HaProxy {
    /// Connections to the server behind it; further ones wait in its queue. Without a bound when `None`.
    pub maxconn: Option<u32>,
    /// A connection that waits longer is closed.
    pub queue_timeout: Nanos,
    /// Health check by a connection every so often; none when `None`.
    pub check: Option<Nanos>,
    /// How often a connection to a server that refuses is tried again, a second apart; its own three when `None`.
    #[serde(default)]
    pub retries: Option<u32>,
}

/// An HTTP service: what it asks is behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// The program and its arguments; a relative path is one from the directory of the experiment's file. Empty for a
    /// service that is there already.
    pub command: Vec<String>,
    /// `http://host:port`, or `https://`: where one that is there is found. Ours is given an address.
    pub url: Option<String>,
    /// Beside `ADDRESS` and `DATABASE_URL`, which it is always given.
    pub env: Vec<(String, String)>,
    /// How many run, at least 1, each with the node's limits; a balancer stands before them when there are more.
    pub copies: u32,
    /// The path that answers 200 as soon as it is ready, such as `/health`.
    #[serde(rename = "ready")]
    pub ready_path: String,
    /// How long that may take; a minute of a processor when `None`, so that a tenth of one has ten.
    #[serde(default)]
    #[serde(rename = "ready_within")]
    pub ready_timeout: Option<Nanos>,
    /// The path that tells its threads and connections, as `services/README.md` says; `None` where there is none.
    #[serde(rename = "stats")]
    pub stats_path: Option<String>,
    /// Of one that is there: `host:port` once more, which says that it may be loaded though it is on another machine.
    #[serde(default)]
    pub allow: Option<String>,
}

/// Where something that is not ours is found. Credentials come from the environment, never from the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttachedNode {
    /// A conninfo string or URI without a password.
    pub dsn: String,
    /// Console of a pooler, in the same form.
    pub admin: Option<String>,
    pub role: AttachedRole,
    /// `host:port/database` once more, which says that it may be loaded though it is on another machine.
    #[serde(default)]
    pub allow: Option<String>,
    /// On another machine: so many sessions of others may be at work there when it is attached.
    #[serde(default)]
    #[serde(rename = "others")]
    pub other_sessions: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachedRole {
    Postgres,
    PgBouncer,
    Odyssey,
    /// Its statistics, if it offers any, are not read.
    Balancer,
}

/// What a node may use of the machine; `None` is without a bound. Applied by control groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Processors: 0.1 is a tenth of one.
    pub cpu: Option<f64>,
    /// Bytes, page cache included.
    pub memory: Option<u64>,
    pub read_iops: Option<u64>,
    pub write_iops: Option<u64>,
    /// Bytes per second.
    pub read_bps: Option<u64>,
    pub write_bps: Option<u64>,
    /// Numbers of the processors it may run on; all when empty.
    pub cpus: Vec<u32>,
}

impl Limits {
    pub fn is_unlimited(&self) -> bool {
        *self == Limits::default()
    }
}

/// What the tables hold before each trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    pub seed: u64,
    pub content: Content,
    /// Statements that follow once the rows are there, before each trial, such as `CREATE INDEX`.
    #[serde(default)]
    #[serde(rename = "after")]
    pub post_load: Vec<String>,
    /// Whether PostgreSQL's and the system's caches hold it when the trial begins.
    pub cache: CacheState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// `book.tickets`.
    Tickets {
        rows: u64,
    },
    /// A hot table of `users` × `per_user` profiles.
    Profiles {
        users: u64,
        per_user: u64,
    },
    /// pgbench's tables.
    Pgbench {
        scale: u32,
    },
    /// `delivery.send` and `delivery.receive`: offices all over Russia. Above 0; at 1 there are 160 million receivers.
    Delivery {
        scale: f64,
    },
    /// `social.users`, who all have one password.
    Users {
        users: u64,
    },
    /// `book.bookv2`: books by author and name, without an index on either.
    Books {
        rows: u64,
    },
    Declared(Vec<Table>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Read through once.
    #[default]
    Warm,
    /// Evicted, as far as we may.
    Cold,
    /// As loading left it.
    AsIs,
}

/// A table declared in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// May name a schema, which is made.
    pub name: String,
    pub rows: u64,
    pub columns: Vec<Column>,
    pub primary_key: Vec<String>,
    /// Each a list of columns or expressions, as in `CREATE INDEX … (…)`.
    pub indexes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// Its SQL type; that of the generator when `None`.
    pub sql_type: Option<String>,
    pub generator: ColumnGenerator,
    /// Share of NULLs, 0..=1.
    #[serde(rename = "nulls")]
    pub null_fraction: f64,
}

/// What a column's values are drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnGenerator {
    /// 1, 2, 3, …
    Serial,
    /// Whole numbers from `min` to `max`, each as often.
    Uniform { min: i64, max: i64 },
    /// Whole numbers from `min` to `max`, the first ones more often: Zipf's law with exponent `s` > 1.
    Zipfian { min: i64, max: i64, s: f64 },
    /// Surname, name, patronymic.
    RussianName,
    /// First and last name.
    EnglishName,
    /// So many English words.
    Words { min: u32, max: u32 },
    /// Text of so many random letters.
    Text { length: u32 },
    /// Moments between two, as `2024-01-01` or `2024-01-01 12:00:00`, UTC.
    Timestamp { from: String, to: String },
    /// Points of a rectangle, (x, y).
    Point { from: (f64, f64), to: (f64, f64) },
    /// An object of named generators, as `jsonb`.
    Json(Vec<(String, ColumnGenerator)>),
    /// The same text in every row.
    Constant(String),
    /// One of these, each as often.
    OneOf(Vec<String>),
}
