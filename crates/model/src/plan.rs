//! Experiment plan: the setups to build and measure.
//!
//! An experiment is a list of cells. Each cell is a complete [`Setup`] and inherits nothing. The file's syntax,
//! defaults and diagnostics belong to the crate `experiment`.

mod document;
mod fault;
mod feed_format;
mod generators;
mod goal;
mod load;
mod metrics_host;
mod node;
mod operation;
mod replication;
mod service;
mod service_variable;
mod shared_host;
mod started;
mod stats;

pub use crate::product::PoolMode;
pub use document::{DocumentTexts, SpanStyle, TextBlock, TextSpan};
pub use fault::{Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger, IsolationPeers, TriggerEvent};
pub use feed_format::FeedFormat;
pub use generators::{AgentCount, AutoKeyword, Generators};
pub use goal::{Confirm, Goal, LoadScale, MaxSearch, Soak, Sweep, TargetLevel};
pub use load::{
    Load, LoadModel, MissingRequests, RecordedLog, RecordedMix, RecordedTimes, RecordingFile, ThinkTime,
    UserStage,
};
pub use metrics_host::MetricsHost;
pub use node::{AttachedNode, Balancer, Node, NodeKind, Pooler, Postgres};
pub use operation::{
    AmmoDetails, CaptureSource, Expectation, Feed, FeedOrder, FeedSource, HttpStep, LedgerQuery, ON_START,
    Operation, OperationKind, RecordedStep, RequestBody, SqlTarget,
};
pub use replication::{
    ClusterManager, FailoverManager, ManagerSettings, Promoter, PromotionPolicy, Replication, SyncMode,
};
pub use service::{ProgramReadiness, ProgramScope, Service, ServiceFile, ServiceInstance, ServiceProgram};
pub use service_variable::{
    AddressPart, DatabasePart, ServiceText, ServiceVariable, UnknownVariable, VariableUse, service_text,
};
pub use shared_host::{HostedNode, SharedHost};
pub use started::{NodePart, started_nodes};
pub use stats::{StatsAddress, StatsForm, StatsPage};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Experiment, as an experiment file describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Name that matches `[a-z0-9-]{1,64}`; it is also used in file names.
    pub name: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of measurements of each cell, at least 1.
    pub repeat: u32,
    /// Cells in the order of the file; at least one.
    pub cells: Vec<Cell>,
    pub baseline: Option<Baseline>,
    #[serde(default)]
    #[serde(alias = "find")]
    pub goal: Goal,
    /// Agents that generate the load; `None` if pgdyno itself generates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generators: Option<Generators>,
    /// Texts for a bound document; `None` if the file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Box<DocumentTexts>>,
}

/// Cells with which the other cells are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Baseline {
    /// Index of the cell with which all other cells are compared.
    Single(usize),
    /// Index of each cell's counterpart, in the order of the cells; `None` for a cell without a counterpart.
    PerCell(Vec<Option<usize>>),
}

impl Baseline {
    /// Index of the cell with which `cell` is compared; `None` for a baseline and for a cell without a counterpart.
    pub fn counterpart(&self, cell: usize) -> Option<usize> {
        match self {
            Baseline::Single(baseline) => Some(*baseline).filter(|it| *it != cell),
            Baseline::PerCell(counterparts) => counterparts.get(cell).copied().flatten(),
        }
    }

    /// Index of the cell with which all other cells are compared; `None` if there are several baselines.
    pub fn single(&self) -> Option<usize> {
        match self {
            Baseline::Single(baseline) => Some(*baseline),
            Baseline::PerCell(_) => None,
        }
    }
}

impl Experiment {
    /// Index of the cell with which `cell` is compared, see [`Baseline::counterpart`].
    pub fn baseline_of(&self, cell: usize) -> Option<usize> {
        self.baseline.as_ref()?.counterpart(cell).filter(|it| *it < self.cells.len())
    }

    /// Number of trials; `None` if the number depends on results.
    pub fn trials(&self) -> Option<usize> {
        let known = matches!(self.goal, Goal::Once | Goal::Failover | Goal::Sweep(Sweep { max: None }));
        known.then(|| self.cells.len() * self.repeat as usize)
    }

    /// Index of the cell's positive control. Cells that differ only in their promise share one control.
    pub fn control_for(&self, cell: usize) -> Option<usize> {
        let unpromised = self.cells.get(cell)?.setup.without_promise();
        self.cells.iter().position(|candidate| {
            let base = candidate.control_of.and_then(|base| self.cells.get(base));
            base.is_some_and(|base| base.setup.without_promise() == unpromised)
        })
    }
}

/// One combination of the matrix's values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Axis names and values in the order of the file, such as (`pooler.mode`, `session`).
    pub label: Vec<(String, String)>,
    /// Index of the cell for which this cell is the positive control.
    ///
    /// A control has the same faults as its cell, but its replication promises nothing. The control must lose writes.
    /// Otherwise, a cell without losses proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_of: Option<usize>,
    pub setup: Setup,
}

/// Everything that defines one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    pub stack: Stack,
    pub dataset: Option<Dataset>,
    /// Sources of the values that operations draw.
    #[serde(default)]
    pub feeds: Vec<Feed>,
    /// Requests that each client sends once, before its first operation. They are not part of the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_start: Option<Box<Operation>>,
    /// Operations of the mix, at least one.
    pub operations: Vec<Operation>,
    pub load: Load,
    /// Objectives in the grammar of `analysis::verdict::objective`.
    pub objectives: Vec<String>,
    /// Stop rules in the grammar of `analysis::verdict::rule`.
    #[serde(alias = "stop")]
    pub stop_rules: Vec<String>,
    /// Injected faults in the order of the file.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Queries whose results must not change during a trial, on any server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<String>,
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
}

/// Commands that run between trials: a program and its arguments each, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    pub before_trial: Vec<String>,
    pub after_trial: Vec<String>,
    /// Working directory of both.
    pub directory: PathBuf,
}

impl Hooks {
    pub fn is_empty(&self) -> bool {
        self.before_trial.is_empty() && self.after_trial.is_empty()
    }
}

impl Setup {
    /// Requests at the start of each client, if there are any, then the operations.
    pub fn on_start_and_operations(&self) -> impl Iterator<Item = &Operation> {
        self.on_start.as_deref().into_iter().chain(&self.operations)
    }

    /// Copy of the setup with asynchronous replication, in which any replica may be promoted regardless of its lag.
    pub fn without_promise(&self) -> Setup {
        let mut setup = self.clone();
        if let Some(replication) = &mut setup.stack.replication {
            replication.sync = SyncMode::Async;
            if let FailoverManager::External(manager) = &mut replication.manager {
                manager.settings.strict = false;
                manager.settings.maximum_lag = ManagerSettings::ANY_LAG;
            }
        }
        setup
    }
}

/// System under test: a chain of nodes from the clients to PostgreSQL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Nodes in path order; PostgreSQL is last. Each node is the client of the node after it. At least one.
    pub nodes: Vec<Node>,
    /// Limits of the generator, which shares the machine with the stack.
    pub generator: Limits,
    /// Replication of the last node, PostgreSQL.
    #[serde(default)]
    pub replication: Option<Replication>,
    /// Hosts whose nodes share limits. A node is on at most one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<SharedHost>,
}

impl Stack {
    /// Connection strings of the servers of an attached cluster; empty if pgdyno starts the servers, or if they are not
    /// known.
    pub fn attached_servers(&self) -> &[String] {
        match self.nodes.last().map(|it| &it.kind) {
            Some(NodeKind::Attached(attached)) => &attached.servers,
            _ => &[],
        }
    }

    /// Names of the replicas of the last node: `postgres-2`, `postgres-3`, …
    pub fn replica_names(&self) -> Vec<String> {
        let count = self.replication.as_ref().map_or(0, |it| it.replicas);
        let server = self.nodes.last().map_or("", |it| it.name.as_str());
        (2..2 + count).map(|number| format!("{server}-{number}")).collect()
    }
}

/// Transport into a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    Unix,
    #[default]
    Tcp,
    Tls,
}

/// Name of the load generator where nodes are listed.
pub const GENERATOR: &str = "generator";

/// Share of the machine that a node may use; control groups enforce it. `None` means unlimited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// CPU quota in CPUs: 0.1 is a tenth of one CPU.
    pub cpu: Option<f64>,
    /// Memory limit in bytes, including the page cache.
    pub memory: Option<u64>,
    pub read_iops: Option<u64>,
    pub write_iops: Option<u64>,
    /// Bytes that the node may read from disk per second.
    pub read_bps: Option<u64>,
    pub write_bps: Option<u64>,
    /// Numbers of the allowed CPUs; empty means all.
    pub cpus: Vec<u32>,
}

impl Limits {
    pub fn is_unlimited(&self) -> bool {
        *self == Limits::default()
    }
}

/// Data that the tables contain before each trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    pub seed: u64,
    pub content: Content,
    /// Statements such as `CREATE INDEX`, executed before each trial, after the rows are loaded.
    #[serde(default)]
    #[serde(alias = "after")]
    pub post_load: Vec<String>,
    /// State of PostgreSQL's and the operating system's caches when the trial begins.
    pub cache: CacheState,
    /// True if a trial finds the data as the previous trial left them, instead of restored.
    #[serde(default)]
    pub keep: bool,
    /// Statements such as `VACUUM`, executed before each trial except the first. Empty unless `keep` is true.
    #[serde(default)]
    pub between: Vec<String>,
}

impl Dataset {
    /// Dataset that is restored before each trial, with the caches as they are.
    pub fn new(seed: u64, content: Content) -> Dataset {
        let (post_load, between) = (Vec::new(), Vec::new());
        Dataset { seed, content, post_load, cache: CacheState::AsIs, keep: false, between }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Table `book.tickets`.
    Tickets {
        rows: u64,
    },
    /// Table with `per_user` profiles for each of `users` users.
    Profiles {
        users: u64,
        per_user: u64,
    },
    /// Tables of pgbench at this scale.
    Pgbench {
        scale: u32,
    },
    /// Tables `delivery.send` and `delivery.receive` with offices all over Russia. The scale is above 0; scale 1 has
    /// 160 million receivers.
    Delivery {
        scale: f64,
    },
    /// Table `social.users`; all users have the same password.
    Users {
        users: u64,
    },
    /// Table `book.bookv2`: books by author and name, without an index on either.
    Books {
        rows: u64,
    },
    Declared(Vec<Table>),
    /// Contents of dumps, restored in this order.
    Dump {
        files: Vec<DumpFile>,
    },
    /// Copy of another database of the attached server.
    Template {
        database: String,
    },
    /// Copy of a database of another server.
    Source(SourceDatabase),
}

/// Database that is read once per run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceDatabase {
    /// Connection string without a password.
    pub dsn: String,
    pub extract: Extract,
}

/// Part of a source database that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extract {
    All,
    /// The schema without rows.
    Schema,
    /// The schema, and about this share of the rows, 0..=1.
    Sample {
        fraction: f64,
    },
}

/// Dump made by `pg_dump` or `pg_dumpall`, or other SQL for `psql`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DumpFile {
    /// Path of the file, or of the directory for a dump in directory format.
    pub path: PathBuf,
    /// Size of the file or of all files in the directory, bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits: of the file's contents; for a directory, of the names and contents of its files.
    pub sha256: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Warm: all tables are read once before the trial.
    #[default]
    Warm,
    /// Cold: caches are evicted as far as permissions allow.
    Cold,
    /// Unchanged: caches stay in the state in which loading left them.
    AsIs,
}

/// Table that the experiment file declares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Table name, which may include a schema. pgdyno creates the schema.
    pub name: String,
    pub rows: u64,
    pub columns: Vec<Column>,
    pub primary_key: Vec<String>,
    /// Column lists or expressions, as in `CREATE INDEX … (…)`.
    pub indexes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// SQL type; `None` means the default type of the generator.
    pub sql_type: Option<String>,
    pub generator: ColumnGenerator,
    /// Share of NULLs, 0..=1.
    #[serde(alias = "nulls")]
    pub null_fraction: f64,
}

/// Generator of a column's values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnGenerator {
    /// 1, 2, 3, …
    Serial,
    /// Integers from `min` to `max`, uniformly distributed.
    Uniform { min: i64, max: i64 },
    /// Integers from `min` to `max`, small numbers more often: Zipf's law with exponent `s` > 1.
    Zipfian { min: i64, max: i64, s: f64 },
    /// Russian surname, first name and patronymic.
    RussianName,
    /// English first and last name.
    EnglishName,
    /// Text of `min` to `max` English words.
    Words { min: u32, max: u32 },
    /// Text of `length` random letters.
    Text { length: u32 },
    /// Timestamps between two bounds in UTC, in the format `2024-01-01` or `2024-01-01 12:00:00`.
    Timestamp { from: String, to: String },
    /// Points (x, y) within a rectangle.
    Point { from: (f64, f64), to: (f64, f64) },
    /// `jsonb` object whose members these generators fill.
    Json(Vec<(String, ColumnGenerator)>),
    /// Constant text, equal in every row.
    Constant(String),
    /// One of these texts, uniformly distributed.
    OneOf(Vec<String>),
}
