//! Types of feeds and operations.

use super::{OneOrMany, ServerTarget};
use crate::datum::OrderedMap;
use crate::json::JsonText;
use crate::unit::{Order, Pause, Statuses, Word};
use schemars::JsonSchema;
use serde::Deserialize;

/// Rows of values from a file, a query or this file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feed {
    /// File with the rows, plain or compressed with gzip. The path is relative to this file.
    pub file: Option<String>,
    /// Format of the file. Default: derived from its name.
    pub format: Option<FileFormat>,
    /// Format of an access log, as the web server's configuration contains it: nginx's `log_format`, Apache's `LogFormat` or
    /// HAProxy's `log-format`, or one of the names `combined`, `common` and `httplog`. Default: common or combined.
    pub log_format: Option<String>,
    /// Query that returns the rows. It is executed before the load begins.
    pub sql: Option<String>,
    /// Rows, at most 1000: mappings with the same keys.
    pub rows: Option<Vec<OrderedMap<Word>>>,
    /// Columns to use, by their names in the query or the objects. For a CSV or TSV file without a header line: the names of
    /// all columns in their order.
    pub columns: Option<Vec<String>>,
    /// Order in which rows are used. Default: `sequential`.
    pub order: Option<Order>,
    /// Column of a table in which the values are looked up, as table.column. The report then states which part of the table
    /// the feed can reach.
    pub lookup_column: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// Comma-separated values. The first line names the columns; `"` quotes a field.
    Csv,
    /// Tab-separated values without quoting. The first line names the columns.
    Tsv,
    /// One JSON object per line.
    #[serde(rename = "jsonl")]
    JsonLines,
    /// Yandex.Tank ammunition: headers in brackets, one path per line.
    Uri,
    /// Yandex.Tank ammunition with a body after each line.
    UriPost,
    /// Yandex.Tank ammunition: complete requests, each after its length.
    Raw,
    /// Access log of a web server.
    Access,
}

/// Operation: an HTTP request, several of them (`steps`), SQL, a pgbench script, or the requests of a feed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Operation {
    /// Relative frequency. Default: 1.
    pub weight: Option<u32>,
    /// Rate per second, instead of weights. It is multiplied by `load.coefficient`.
    pub rate: Option<f64>,
    /// Open model: separate schedule of this operation, such as `const(1, 60s)`.
    pub schedule: Option<String>,
    /// Feed from which each execution takes a row. Its columns are variables: `${name}` in requests, `:name` in scripts.
    pub feed: Option<String>,
    /// Variables that are computed before the requests, as with pgbench's `\\set`: `{ id: "random(1, 1000)" }`.
    #[serde(default)]
    pub set: OrderedMap<Word>,
    /// Server that executes the SQL if there are replicas. Default: `primary`.
    pub target: Option<ServerTarget>,
    /// Query with one column that returns the tokens that this operation has written. The variable `token` has a new value
    /// in each execution. After the load, every acknowledged token must be present.
    pub ledger: Option<Ledger>,
    /// Check before the first trial: the server prepares the statements, and one client executes the operation once.
    /// Default: `true`.
    pub preflight: Option<bool>,
    /// Script in pgbench's language.
    pub sql: Option<String>,
    /// File with a script in pgbench's language. The path is relative to this file.
    pub script: Option<String>,
    /// Feed whose rows are complete requests. `headers` and `expect` apply to all of them.
    pub ammo: Option<String>,
    /// Whether each kind of the feed's requests becomes an operation. The kind is the tag of ammunition, or the method and the
    /// path of a request in an access log. Default: false.
    pub by_tag: Option<bool>,
    /// Requests that are sent one after the other. The first failure ends the operation.
    pub steps: Option<Vec<Step>>,
    #[serde(flatten)]
    pub request: Request,
}

/// Requests that each client sends once, before its first operation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnStart {
    /// Feed from which each client takes one row. Its columns are variables of all operations.
    pub feed: Option<String>,
    /// Variables that are computed before the requests.
    #[serde(default)]
    pub set: OrderedMap<Word>,
    /// Requests that are sent one after the other. After a failure, the client begins again with the first one.
    pub steps: Vec<Step>,
}

/// Request of an operation with several steps.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Step {
    /// Name of the request in reports.
    pub name: Option<String>,
    /// Time that the client waits before it sends the request: a duration such as `2s`, `exponential(2s)` with its mean, or
    /// `lognormal(2s, 0.5)` with median and σ. It is not part of any response time. Not allowed in the first step.
    pub pause: Option<Pause>,
    #[serde(flatten)]
    pub request: Request,
}

/// Defaults for requests.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// Headers. A header of the same name in a request replaces the default.
    #[serde(default)]
    pub headers: OrderedMap<Word>,
    /// Expected response. Each of its keys in a request replaces the default.
    pub expect: Option<Expect>,
    /// Maximum number of redirects to follow within the service. Default: 0.
    #[schemars(range(max = 20))]
    pub redirects: Option<u8>,
    /// Whether to request compressed responses. Default: false.
    pub decompress: Option<bool>,
}

/// HTTP request: a method with its path. `${name}` is the value of a variable, `$$` a dollar sign.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// Path and query of a GET request, as in `/books?author=${author}`.
    pub get: Option<String>,
    /// Path and query of a HEAD request.
    pub head: Option<String>,
    /// Path and query of a POST request.
    pub post: Option<String>,
    /// Path and query of a PUT request.
    pub put: Option<String>,
    /// Path and query of a PATCH request.
    pub patch: Option<String>,
    /// Path and query of a DELETE request.
    pub delete: Option<String>,
    /// Query parameters; pgdyno encodes them and appends them to the path.
    #[serde(default)]
    pub query: OrderedMap<Word>,
    /// Headers. `${env:NAME}` is an environment variable of pgdyno; its value appears in no output and no run file.
    #[serde(default)]
    pub headers: OrderedMap<Word>,
    /// Body: a value that is sent as JSON, or a JSON text.
    pub json: Option<JsonText>,
    /// Body: fields of a form (`application/x-www-form-urlencoded`).
    pub form: Option<OrderedMap<Word>>,
    /// Body: a text.
    pub body: Option<String>,
    /// Parts of the response that become variables of later steps.
    #[serde(default)]
    pub capture: OrderedMap<Capture>,
    /// Expected response; any other response is a failure.
    pub expect: Option<Expect>,
    /// Maximum number of redirects to follow within the service. Default: 0.
    #[schemars(range(max = 20))]
    pub redirects: Option<u8>,
    /// Whether to request compressed responses, and to decompress them for `capture` and `contains`. Default: false.
    pub decompress: Option<bool>,
}

/// Location of a value in a response.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Capture {
    /// JSON pointer, such as `/token` or `/items/0/id`.
    Json(String),
    /// Name of a header.
    Header(String),
    /// Regular expression: its first group, or the whole match if it has no group.
    Regex(String),
}

/// Expected response.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Status: 200, 2xx, 200-299, or a list of them. Default: 200-399.
    pub status: Option<OneOrMany<Statuses>>,
    /// Text that the body must contain, or a list of texts; `${name}` is the value of a variable.
    pub contains: Option<OneOrMany<String>>,
    /// Text that the body must not contain, or a list of texts.
    pub not_contains: Option<OneOrMany<String>>,
}

/// Query whose rows contain one token each, or query of lists.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Ledger {
    Rows(String),
    Lists(LedgerLists),
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerLists {
    /// Query with one column, each value of which is a list: a text to which the operation appends tokens. Their order is
    /// checked too.
    pub list: String,
}
