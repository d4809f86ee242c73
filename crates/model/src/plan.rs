//! What is to be set up and measured?
//!
//! An experiment is a list of cells; each cell is a whole [`Setup`], nothing in it is inherited any more. Plain values: the
//! experiment file's form, defaults and mistakes are the crate `experiment`'s.

use crate::{Nanos, Spacing};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
}

/// One point of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// By axis, in the file's order: the axis's name and what it is here, such as (`pooler.mode`, `session`).
    pub label: Vec<(String, String)>,
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
    pub stop: Vec<String>,
}

/// The system under test: a chain from where clients enter to PostgreSQL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// The entrance first, PostgreSQL last; each node's clients come from the one before it. At least one.
    pub nodes: Vec<Node>,
    /// What the generator itself may use; it shares the machine with what it measures.
    pub generator: Limits,
}

/// A component, or one that was there before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique in its stack, such as `postgres` or `pooler`.
    pub name: String,
    pub kind: Kind,
    /// How those before it reach it.
    pub entrance: Entrance,
    pub limits: Limits,
}

/// What a node is, and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Postgres(Postgres),
    PgBouncer(PgBouncer),
    Odyssey(Odyssey),
    HaProxy(HaProxy),
    Service(Service),
    /// Not ours: never started, stopped or limited.
    Attached(Attached),
}

/// What the bytes on the way into a node travel over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entrance {
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
    pub ready: String,
    /// How long that may take; a minute of a processor when `None`, so that a tenth of one has ten.
    #[serde(default)]
    pub ready_within: Option<Nanos>,
    /// The path that tells its threads and connections, as `services/README.md` says; `None` where there is none.
    pub stats: Option<String>,
}

/// Where something that is not ours is found. Credentials come from the environment, never from the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attached {
    /// A conninfo string or URI without a password.
    pub dsn: String,
    /// Console of a pooler, in the same form.
    pub admin: Option<String>,
    pub role: AttachedRole,
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
    pub fn is_none(&self) -> bool {
        *self == Limits::default()
    }
}

/// What the tables hold before each trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    pub seed: u64,
    pub content: Content,
    /// Whether PostgreSQL's and the system's caches hold it when the trial begins.
    pub cache: Cache,
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
pub enum Cache {
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
    pub generator: Generator,
    /// Share of NULLs, 0..=1.
    pub nulls: f64,
}

/// What a column's values are drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
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
    Json(Vec<(String, Generator)>),
    /// The same text in every row.
    Constant(String),
    /// One of these, each as often.
    OneOf(Vec<String>),
}

/// One line of the mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Operation {
    pub name: String,
    /// Relative to the other operations'.
    pub weight: u32,
    /// So many a second, where the mix is made of rates: `weight` follows from it.
    pub rate: Option<f64>,
    /// The feed that it draws a row of: its columns are variables.
    pub feed: Option<String>,
    /// Its own arrivals in the open model, in the schedule's grammar: it is no part of the mix then, and its weight is 0.
    pub schedule: Option<String>,
    /// Variables that are computed before its requests, in this order: a name, and an expression as behind pgbench's
    /// `\set`. Scripts have their own.
    pub sets: Vec<(String, String)>,
    pub work: Work,
}

/// An operation as runs keep it; the first ones knew scripts only.
#[derive(Deserialize)]
struct Stored {
    name: String,
    weight: u32,
    #[serde(default)]
    rate: Option<f64>,
    #[serde(default)]
    feed: Option<String>,
    #[serde(default)]
    schedule: Option<String>,
    #[serde(default)]
    sets: Vec<(String, String)>,
    work: Option<Work>,
    #[serde(default)]
    script: String,
    #[serde(default)]
    origin: Option<PathBuf>,
}

impl From<Stored> for Operation {
    fn from(it: Stored) -> Operation {
        let Stored { name, weight, rate, feed, schedule, sets, work, script, origin } = it;
        let work = work.unwrap_or(Work::Script { text: script, origin });
        Operation { name, weight, rate, feed, schedule, sets, work }
    }
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    Script {
        /// In pgbench's language.
        text: String,
        /// Where it stood: the file, if it was one.
        origin: Option<PathBuf>,
    },
    /// Requests one after the other, at least one; the first that fails ends the operation.
    Http(Vec<Step>),
    /// Whole requests, out of the operation's feed.
    Ammo,
}

impl Operation {
    /// A script of its own.
    pub fn script(name: &str, weight: u32, text: &str) -> Operation {
        let work = Work::Script { text: text.to_owned(), origin: None };
        Operation {
            name: name.to_owned(),
            weight,
            rate: None,
            feed: None,
            schedule: None,
            sets: Vec::new(),
            work,
        }
    }

    /// What it does, as its language has it: a script, or requests with their bodies.
    pub fn text(&self) -> String {
        match &self.work {
            Work::Script { text, .. } => text.clone(),
            Work::Http(steps) => {
                let sets: Vec<String> =
                    self.sets.iter().map(|it| format!("\\set {} {}", it.0, it.1)).collect();
                let sets = (!sets.is_empty()).then(|| sets.join("\n"));
                sets.into_iter().chain(steps.iter().map(Step::text)).collect::<Vec<_>>().join("\n\n")
            }
            Work::Ammo => self.feed.clone().unwrap_or_default(),
        }
    }
}

impl Step {
    /// `POST /login`, and below it headers and body.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("{} {}", self.method, self.target)];
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        match &self.body {
            Some(Body::Text(it) | Body::Json(it)) => lines.push(it.clone()),
            Some(Body::Form(fields)) => {
                lines.extend(fields.iter().map(|(name, value)| format!("{name}={value}")));
            }
            None => {}
        }
        lines.join("\n")
    }
}

/// One HTTP request. `${name}` stands for a variable in its target, headers and body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Of steps among several; its time is told by it.
    pub name: Option<String>,
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Body>,
    /// The variable's name, and what it is taken from.
    pub captures: Vec<(String, CaptureFrom)>,
    pub expect: Expect,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// As it is.
    Text(String),
    /// `application/json`; variables stand within its texts, and are escaped there.
    Json(String),
    /// `application/x-www-form-urlencoded`.
    Form(Vec<(String, String)>),
}

/// What of an answer becomes a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureFrom {
    /// A JSON pointer, RFC 6901: `/token`.
    Json(String),
    Header(String),
    /// The first group of a regular expression, or all of what it finds.
    Regex(String),
}

/// What an answer must be; any other is a failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expect {
    /// First and last of each range; 200 to 399 when empty.
    pub status: Vec<(u16, u16)>,
    /// What its body holds somewhere.
    pub contains: Option<String>,
}

/// Rows of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feed {
    pub name: String,
    pub source: FeedSource,
    /// Names of the columns, where the source has none, or which of them are wanted.
    pub columns: Option<Vec<String>>,
    pub order: FeedOrder,
    /// Which column of which table its values are found in, as `schema.table.column`: how much of the table it can touch
    /// is told before the run.
    pub of: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedSource {
    File {
        path: PathBuf,
        form: FeedForm,
    },
    /// Asked of PostgreSQL before the load begins; its columns' names are the feed's.
    Query(String),
    /// What stands in the experiment's file itself: at least one row, a value by each of the feed's `columns`.
    Rows(Vec<Vec<String>>),
}

/// As `feed::Form` reads them; any of them may be packed by gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedForm {
    Csv,
    Tsv,
    JsonLines,
    Uri,
    UriPost,
    Raw,
    Access,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedOrder {
    #[default]
    Sequential,
    Shuffled,
    Random,
    Zipfian {
        s: f64,
    },
    /// Each row once; the load ends when there is none left.
    Once,
}

/// How the system is loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub model: LoadModel,
    /// What is measured; `None` where the schedule says it.
    pub duration: Option<Nanos>,
    /// The same load before it, which is not measured.
    pub warmup: Nanos,
    /// Threads of the generator, at least 1.
    pub threads: u16,
    pub query_mode: crate::summary::QueryMode,
    /// Each transaction opens a connection of its own.
    pub connect_each: bool,
    /// A transaction that takes longer from its send is given up, and its connection closed.
    pub timeout: Option<Nanos>,
    /// Tries where a serialization failure or deadlock allows another; 1: no retry.
    pub max_tries: u16,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// So many clients from begin to end.
    Closed { clients: u32, think: Nanos },
    /// The closed model where it says more: how many users there are at a time, and how they behave.
    Users {
        /// One after the other, at least one; [`Load::duration`] is as long as all of them.
        stages: Vec<Stage>,
        /// From a transaction's end to the user's next one.
        think: Think,
        /// From one start to the same user's next one at least; the longer of both waits counts.
        pacing: Option<Nanos>,
        /// Transactions per second of all users together, above 0: a start waits for its turn.
        rate_max: Option<f64>,
    },
    Open {
        /// In Yandex.Tank's grammar.
        schedule: String,
        #[serde(with = "crate::summary::spacing")]
        arrivals: Spacing,
        /// Clients, each with one transaction at a time.
        max_in_flight: u32,
    },
}

/// A time with so many users.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub users: u32,
    /// Users per second, above 0, that come until there are so many, or that leave after their transaction where there
    /// were more; all at once when `None`.
    pub spawn_rate: Option<f64>,
    /// Until the next stage begins: those that come or leave within it.
    pub lasting: Nanos,
}

/// What a user's pause is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Think {
    Constant(Nanos),
    Exponential {
        mean: Nanos,
    },
    /// The exponential of a normal distribution whose mean is the median's logarithm.
    LogNormal {
        median: Nanos,
        /// The normal distribution's standard deviation: 0.5 has 95 % of all between 0.38 and 2.7 medians.
        sigma: f64,
    },
}

impl Think {
    pub const NONE: Think = Think::Constant(Nanos::ZERO);
}

impl LoadModel {
    /// Transactions that can be under way at once: clients, or what may be in flight.
    pub fn clients(&self) -> u32 {
        match self {
            LoadModel::Closed { clients, .. } => *clients,
            LoadModel::Users { stages, .. } => stages.iter().map(|it| it.users).max().unwrap_or(1).max(1),
            LoadModel::Open { max_in_flight, .. } => *max_in_flight,
        }
    }

    /// Arrivals do not wait for answers.
    pub fn is_open(&self) -> bool {
        matches!(self, LoadModel::Open { .. })
    }
}
