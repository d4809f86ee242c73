//! Operations of the mix, and the feeds from which they draw values.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Operation of the mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Operation {
    pub name: String,
    /// Weight relative to the other operations.
    pub weight: u32,
    /// Operations per second if the mix is given in rates; `weight` is derived from it.
    pub rate: Option<f64>,
    /// Feed from which the operation draws a row; its columns become variables.
    pub feed: Option<String>,
    /// Own arrivals in the open model, in the schedule's grammar. The operation is then not part of the mix, and its
    /// weight is 0.
    pub schedule: Option<String>,
    /// Variables computed before the requests, in this order: name and expression as in pgbench's `\set`. Scripts have
    /// their own.
    pub sets: Vec<(String, String)>,
    /// PostgreSQL server that receives the operation's SQL, if there are several.
    pub target: SqlTarget,
    /// Query with one column whose texts contain the tokens that this operation wrote. The variable `token` has a new
    /// value for each execution.
    pub ledger: Option<String>,
    pub kind: OperationKind,
}

/// Server that receives an operation's SQL, determined when it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqlTarget {
    #[default]
    Primary,
    Replica,
    Any,
}

/// Stored form of an operation; the oldest runs have only `script`.
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
    #[serde(default, alias = "to")]
    target: SqlTarget,
    #[serde(default)]
    ledger: Option<String>,
    #[serde(alias = "work")]
    kind: Option<OperationKind>,
    #[serde(default)]
    script: String,
    #[serde(default)]
    origin: Option<PathBuf>,
}

impl From<Stored> for Operation {
    fn from(stored: Stored) -> Operation {
        let Stored { name, weight, rate, feed, schedule, sets, target, ledger, kind, script, origin } =
            stored;
        let kind = kind.unwrap_or(OperationKind::Script { text: script, origin });
        Operation { name, weight, rate, feed, schedule, sets, target, ledger, kind }
    }
}

/// Work of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    Script {
        /// Text in pgbench's language.
        text: String,
        /// Source file of the text, if any.
        origin: Option<PathBuf>,
    },
    /// Consecutive requests, at least one; the first failure ends the operation.
    Http(Vec<HttpStep>),
    /// Whole requests from the operation's feed.
    Ammo,
}

impl Operation {
    /// Script operation with defaults for everything else.
    pub fn script(name: &str, weight: u32, text: &str) -> Operation {
        let work = OperationKind::Script { text: text.to_owned(), origin: None };
        Operation {
            name: name.to_owned(),
            weight,
            rate: None,
            feed: None,
            schedule: None,
            sets: Vec::new(),
            target: SqlTarget::Primary,
            ledger: None,
            kind: work,
        }
    }

    /// Source text of the operation: the script, or the requests with their bodies.
    pub fn text(&self) -> String {
        match &self.kind {
            OperationKind::Script { text, .. } => text.clone(),
            OperationKind::Http(steps) => {
                let sets: Vec<String> =
                    self.sets.iter().map(|it| format!("\\set {} {}", it.0, it.1)).collect();
                let sets = (!sets.is_empty()).then(|| sets.join("\n"));
                sets.into_iter().chain(steps.iter().map(HttpStep::text)).collect::<Vec<_>>().join("\n\n")
            }
            OperationKind::Ammo => self.feed.clone().unwrap_or_default(),
        }
    }
}

impl HttpStep {
    /// Request line such as `POST /login`, then headers and body.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("{} {}", self.method, self.target)];
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        match &self.body {
            Some(RequestBody::Text(it) | RequestBody::Json(it)) => lines.push(it.clone()),
            Some(RequestBody::Form(fields)) => {
                lines.extend(fields.iter().map(|(name, value)| format!("{name}={value}")));
            }
            None => {}
        }
        lines.join("\n")
    }
}

/// HTTP request. `${name}` is a variable in its target, headers and body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HttpStep {
    /// Name of one step among several; response times are reported under it.
    pub name: Option<String>,
    /// Method: `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<RequestBody>,
    /// Variable names with the sources of their values.
    pub captures: Vec<(String, CaptureSource)>,
    pub expect: Expectation,
    /// Maximum number of redirects to follow, only within the same service.
    #[serde(default)]
    pub redirects: u8,
    /// True if the request asks for a compressed body, and captures and checks read the decompressed one.
    #[serde(default)]
    #[serde(alias = "unpack")]
    pub decompress: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestBody {
    /// Text that is sent unchanged.
    Text(String),
    /// `application/json`; variables occur within its strings and are escaped.
    Json(String),
    /// `application/x-www-form-urlencoded`.
    Form(Vec<(String, String)>),
}

/// Part of a response that becomes a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureSource {
    /// JSON pointer, RFC 6901: `/token`.
    Json(String),
    Header(String),
    /// First group of a regular expression, or the whole match if it has no group.
    Regex(String),
}

/// Conditions that a response must meet; otherwise the request fails.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// First and last status of each range; 200 to 399 when empty.
    pub status: Vec<(u16, u16)>,
    /// Text that the body must contain.
    pub contains: Option<String>,
}

/// Rows of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feed {
    pub name: String,
    pub source: FeedSource,
    /// Column names if the source has none; otherwise the subset of columns to use.
    pub columns: Option<Vec<String>>,
    pub order: FeedOrder,
    /// Table column that the values refer to, as `schema.table.column`. From it pgdyno reports before the run how much
    /// of the table the feed can touch.
    #[serde(alias = "of")]
    pub lookup_column: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedSource {
    File {
        path: PathBuf,
        #[serde(alias = "form")]
        format: FeedFormat,
    },
    /// Query that PostgreSQL answers before the load begins; its column names are the feed's.
    Query(String),
    /// Rows in the experiment file, at least one, with a value for each of the feed's `columns`.
    Rows(Vec<Vec<String>>),
}

/// File format, parsed by `feed::Format`; any of them may be gzip-compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedFormat {
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
    /// Each row once; the load ends when none is left.
    Once,
}
