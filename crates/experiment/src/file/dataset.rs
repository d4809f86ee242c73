//! The section `dataset` of the file.

use super::OneOrMany;
use crate::datum::OrderedMap;
use crate::unit::{Share, Word};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatasetName {
    /// Table `book.tickets`, the bookings of a railway. Size: `rows`.
    Tickets,
    /// Table `book.bookv2`, books for the service `book`. Size: `rows`.
    Books,
    /// Tables `delivery.send` and `delivery.receive`, post offices for the service `delivery`. Size: `scale`.
    Delivery,
    /// Table `social.users`, users with one common password for the service `social`. Size: `users`.
    Users,
    /// Small table with the users' settings, which are updated often. Size: `users` and `per_user`.
    Profiles,
    /// The four tables of pgbench. Size: `scale`.
    Pgbench,
}

/// State of the caches when a trial begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// All tables have been read once before the trial.
    Warm,
    /// The data has been evicted from the caches, as far as pgdyno's permissions allow.
    Cold,
    /// The caches are left as they are after the data is restored.
    AsIs,
}

/// Built-in dataset (`name`), tables that are declared here (`tables`), a dump (`restore`), or a
/// database (`template`, `from`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// Name of a built-in dataset.
    pub name: Option<DatasetName>,
    /// Number of rows. Default: 100000 for `tickets`, 1000000 for `books`.
    #[schemars(range(min = 1))]
    pub rows: Option<u64>,
    /// Number of users. Default: 5 for `profiles`, 100000 for `users`.
    #[schemars(range(min = 1))]
    pub users: Option<u64>,
    /// Number of rows per user, for `profiles`. Default: 2.
    #[schemars(range(min = 1))]
    pub per_user: Option<u64>,
    /// Scale factor. For `pgbench`, 1 is 100000 accounts; default: 1. For `delivery`, 1 is 160 million receivers;
    /// default: 0.025.
    pub scale: Option<f64>,
    /// Seed of the rows' contents. Default: the seed of the experiment.
    pub seed: Option<u64>,
    /// State of the caches when a trial begins. Default: `warm`.
    pub cache: Option<Cache>,
    /// SQL statements to execute before each trial, after the data are loaded or restored, such as CREATE INDEX.
    #[serde(default)]
    pub after: Vec<String>,
    /// If true, each trial finds the data as the previous trial left them, instead of restored. Default: false.
    #[serde(default)]
    pub keep: bool,
    /// With `keep`, SQL statements to execute before each trial except the first, such as VACUUM.
    #[serde(default)]
    pub between: Vec<String>,
    /// Tables by name, instead of `name`. A name may include a schema, which is created.
    pub tables: Option<OrderedMap<Table>>,
    /// Dump of one database, instead of `name`: a file or directory of `pg_dump`, or SQL for `psql`, which may be
    /// compressed with gzip or zstd. Several dumps are restored in the given order. The path is relative to this file.
    pub restore: Option<OneOrMany<String>>,
    /// Database of the attached server, instead of `name`. It is copied before each trial, and never changed.
    pub template: Option<String>,
    /// Database to copy, instead of `name`: `postgres://…`, or a part of it. It is only read, with one `pg_dump` per run.
    pub from: Option<SourceAddress>,
}

/// Source database.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum SourceAddress {
    Full(SourcePart),
    Plain(String),
}

/// Part of a source database.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourcePart {
    /// Connection string of the source, without a password.
    pub source: String,
    /// If true, the tables are empty. Default: false.
    #[serde(default)]
    pub schema_only: bool,
    /// Share of the rows, such as 10%. Rows that other rows reference are kept with them.
    pub sample: Option<Share>,
}

/// Table to create and fill.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Number of rows.
    #[schemars(range(min = 1))]
    pub rows: u64,
    /// Columns by name.
    pub columns: OrderedMap<Column>,
    /// Columns of the primary key.
    #[serde(default)]
    pub primary_key: Vec<String>,
    /// Indexes: each a list of columns or expressions, as in the parentheses of CREATE INDEX.
    #[serde(default)]
    pub indexes: Vec<String>,
}

/// Generator of a column's values.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Column {
    Full(FullColumn),
    Plain(Generator),
}

/// Generator with an SQL type or with NULLs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FullColumn {
    /// Generator of the values.
    pub generator: Generator,
    /// SQL type. Default: the type of the generator's values.
    #[serde(rename = "type")]
    pub sql_type: Option<String>,
    /// Share of NULLs, such as 10%. Default: 0.
    pub nulls: Option<Share>,
}

/// Generator of values.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
    /// Consecutive numbers: 1, 2, 3, …
    Serial,
    /// Russian surname, first name and patronymic.
    RussianName,
    /// English first and last name.
    EnglishName,
    /// Whole numbers, uniformly distributed.
    Uniform(Bounds),
    /// Whole numbers with a Zipf distribution: small numbers are the most frequent.
    Zipfian(Zipfian),
    /// English words; their number is uniformly distributed.
    Words(WordCount),
    /// Random letters.
    Text(Length),
    /// Timestamps, uniformly distributed.
    Timestamp(Moments),
    /// Points in a rectangle, uniformly distributed.
    Point(Rectangle),
    /// A `jsonb` object whose members have generators.
    Json(OrderedMap<Generator>),
    /// Constant text, equal in every row.
    Constant(Word),
    /// One of these texts, uniformly distributed.
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
    /// Exponent of the Zipf distribution, from 1.001 to 1000. Default: 1.1.
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
    /// Number of letters in a text.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub length: u32,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moments {
    /// First timestamp in UTC, such as 2024-01-01 or 2024-01-01 12:00:00.
    pub from: String,
    /// Last timestamp in UTC.
    pub to: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// One corner of the rectangle, as [x, y].
    pub from: [f64; 2],
    /// Opposite corner of the rectangle, as [x, y].
    pub to: [f64; 2],
}
