//! Types of feeds and operations.

use super::ServerTarget;
use crate::datum::Ordered;
use crate::json::JsonText;
use crate::unit::{Order, Statuses, Word};
use schemars::JsonSchema;
use serde::Deserialize;

/// Rows of values: in a file, asked of PostgreSQL, or written here.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feed {
    /// A file, plain or packed by gzip; relative to this one.
    pub file: Option<String>,
    /// What the file is; told by its name when left out.
    pub form: Option<FeedForm>,
    /// A query, asked before the load begins.
    pub sql: Option<String>,
    /// Rows that stand here: each a mapping with the same keys.
    pub rows: Option<Vec<Ordered<Word>>>,
    /// Which columns are taken, by the names that the query or the objects have. Of a CSV or TSV file: the names of all its
    /// columns in their order, where its first line is a row and does not name them.
    pub columns: Option<Vec<String>>,
    /// `sequential` when left out.
    pub order: Option<Order>,
    /// The column of a table that its values are found in, as table.column: how much of the table the feed can touch is told.
    pub of: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FeedForm {
    /// The first line names the columns; `"` quotes a field.
    Csv,
    /// The same with tabs; nothing is quoted.
    Tsv,
    /// An object per line.
    #[serde(rename = "jsonl")]
    JsonLines,
    /// Yandex.Tank's ammunition: headers in brackets, a path per line.
    Uri,
    /// The same, with a body behind each line.
    UriPost,
    /// The same: whole requests, each behind its length.
    Raw,
    /// A web server's log.
    Access,
}

/// One line of the mix: an HTTP request, several of them (`steps`), SQL, a pgbench script, or whole requests of a feed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Operation {
    /// How often it is chosen, relative to the others; 1 when left out.
    pub weight: Option<u32>,
    /// Instead of weights: how often per second, times `load.coefficient`.
    pub rate: Option<f64>,
    /// Open: arrivals of its own, beside the mix, such as `const(1, 60s)`.
    pub schedule: Option<String>,
    /// The feed that it draws a row of: columns are variables, `${name}` in requests and `:name` in scripts.
    pub feed: Option<String>,
    /// Variables that are computed before its requests, as by pgbench's `\\set`: `{ id: "random(1, 1000)" }`.
    #[serde(default)]
    pub set: Ordered<Word>,
    /// Of SQL, where there are replicas: which server it goes to; `primary` when left out.
    pub to: Option<ServerTarget>,
    /// Of what writes: a query of one column, the tokens that were written. Each time the operation begins, its variable
    /// `token` is a new one; afterwards each that was acknowledged must be there.
    pub ledger: Option<String>,
    /// In pgbench's language.
    pub sql: Option<String>,
    /// A file in pgbench's language; relative to this one.
    pub script: Option<String>,
    /// The feed whose rows are whole requests.
    pub ammo: Option<String>,
    /// Requests one after the other; the first that fails ends them.
    pub steps: Option<Vec<Step>>,
    #[serde(flatten)]
    pub request: Request,
}

/// A request among several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Step {
    /// What reports call it.
    pub name: Option<String>,
    #[serde(flatten)]
    pub request: Request,
}

/// An HTTP request: a method with its path. `${name}` stands for a variable's value, `$$` for the sign itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// Path and query, as in `/books?author=${author}`.
    pub get: Option<String>,
    /// Path and query.
    pub head: Option<String>,
    /// Path and query.
    pub post: Option<String>,
    /// Path and query.
    pub put: Option<String>,
    /// Path and query.
    pub patch: Option<String>,
    /// Path and query.
    pub delete: Option<String>,
    /// Added to the path, escaped.
    #[serde(default)]
    pub query: Ordered<Word>,
    /// `${env:NAME}` is a variable of pgdyno's environment: a secret, which is told to nobody else.
    #[serde(default)]
    pub headers: Ordered<Word>,
    /// A body: a value, which is sent as JSON, or a text that is JSON already.
    pub json: Option<JsonText>,
    /// A body: fields, as a browser sends a form.
    pub form: Option<Ordered<Word>>,
    /// A body: any text.
    pub body: Option<String>,
    /// What of the answer becomes a variable of later steps.
    #[serde(default)]
    pub capture: Ordered<Capture>,
    /// What the answer must be; any other is a failure.
    pub expect: Option<Expect>,
    /// So many redirects are followed, as long as they stay with the service; none when left out.
    #[schemars(range(max = 20))]
    pub redirects: Option<u8>,
    /// Packed answers are asked for, and unpacked for `capture` and `contains`.
    pub unpack: Option<bool>,
}

/// Where in an answer a value stands.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Capture {
    /// A JSON pointer: `/token`, `/items/0/id`.
    Json(String),
    /// A header's name.
    Header(String),
    /// A regular expression: its first group, or all that it finds.
    Regex(String),
}

/// What is expected of an answer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// 200, 2xx, 200-299, or a list of them; 200-399 when left out.
    pub status: Option<OneOrMany>,
    /// What the body holds somewhere.
    pub contains: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OneOrMany {
    Many(Vec<Statuses>),
    One(Statuses),
}
