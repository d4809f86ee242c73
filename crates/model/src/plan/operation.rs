//! Operations of the mix, and the feeds from which they draw values.

use super::{FeedFormat, ThinkTime};
use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;

/// Operation of the mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredOperation")]
pub struct Operation {
    pub name: String,
    /// Weight relative to the other operations.
    pub weight: u32,
    /// Rate per second, if the mix is given in rates. The rates then determine `weight`.
    pub rate: Option<f64>,
    /// Feed from which the operation draws a row; its columns become variables.
    pub feed: Option<String>,
    /// Separate schedule of this operation's arrivals, in the open model. The operation is then not part of the mix,
    /// and its weight is 0.
    pub schedule: Option<String>,
    /// Variables computed before the requests, in this order: name and expression as in pgbench's `\set`. Empty for
    /// scripts, which compute variables in their text.
    pub sets: Vec<(String, String)>,
    /// PostgreSQL server that receives the operation's SQL, if there are several.
    pub target: SqlTarget,
    /// Query that reads back what this operation wrote. The variable `token` has a new value for each execution.
    pub ledger: Option<LedgerQuery>,
    /// True if the operation is checked before the first trial: its statements are prepared, and it is executed once.
    pub preflight: bool,
    /// Headers and expected response of all requests of ammunition.
    #[serde(skip_serializing_if = "AmmoDetails::is_empty")]
    pub ammo: AmmoDetails,
    pub kind: OperationKind,
}

/// Details that all requests of an operation's ammunition have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AmmoDetails {
    /// Headers, with variables as `${name}`. A request that has a header of the same name keeps its own.
    pub headers: Vec<(String, String)>,
    pub expect: Expectation,
}

impl AmmoDetails {
    pub fn is_empty(&self) -> bool {
        *self == AmmoDetails::default()
    }
}

/// Query with one column, whose values contain tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LedgerQuery {
    /// Each value contains one token.
    Rows(String),
    /// Each value is a list of tokens, in the order in which they were appended.
    Lists { list: String },
}

impl LedgerQuery {
    pub fn text(&self) -> &str {
        match self {
            LedgerQuery::Rows(text) | LedgerQuery::Lists { list: text } => text,
        }
    }

    pub fn is_list(&self) -> bool {
        matches!(self, LedgerQuery::Lists { .. })
    }
}

/// Server that receives an operation's SQL. The address is determined when the SQL is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqlTarget {
    #[default]
    Primary,
    Replica,
    Any,
}

/// Stored form of an operation. The oldest runs have only `script`.
#[derive(Deserialize)]
struct StoredOperation {
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
    ledger: Option<LedgerQuery>,
    #[serde(default = "preflight_default")]
    preflight: bool,
    #[serde(default)]
    ammo: AmmoDetails,
    #[serde(alias = "work")]
    kind: Option<OperationKind>,
    #[serde(default)]
    script: String,
    #[serde(default)]
    origin: Option<PathBuf>,
}

impl From<StoredOperation> for Operation {
    fn from(stored: StoredOperation) -> Operation {
        let StoredOperation {
            name,
            weight,
            rate,
            feed,
            schedule,
            sets,
            target,
            ledger,
            preflight,
            ammo,
            kind,
            script,
            origin,
        } = stored;
        let kind = kind.unwrap_or(OperationKind::Script { text: script, origin });
        Operation { name, weight, rate, feed, schedule, sets, target, ledger, preflight, ammo, kind }
    }
}

/// Value for runs that were stored before operations had this key.
fn preflight_default() -> bool {
    true
}

/// Content of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    Script {
        /// Text in pgbench's language.
        text: String,
        /// Path of the file from which the text was read; `None` if the experiment file contains the text.
        origin: Option<PathBuf>,
    },
    /// Consecutive HTTP requests, at least one; the first failure ends the operation.
    Http(Vec<HttpStep>),
    /// Whole requests, each from a row of the operation's feed.
    Ammo,
    /// Those of the feed's requests that have this tag; `None` for all requests whose tag no other operation has.
    TaggedAmmo { tag: Option<String> },
    /// Requests of a recording with the same statement, which has `$1` and so on in place of values. Of statements that
    /// share one operation because they are rare, the text is empty.
    Recorded { statement: String },
    /// Transactions of a recording that consist of the same statements. Empty for the transactions that share one
    /// operation because they are rare.
    RecordedTransaction { statements: Vec<RecordedStep> },
}

/// Statement of a recorded transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStep {
    /// Name such as `select-item`.
    pub name: String,
    /// Text with `$1` and so on in place of values.
    pub statement: String,
}

impl OperationKind {
    /// True if the operation sends whole requests from a feed.
    pub fn is_ammo(&self) -> bool {
        matches!(self, OperationKind::Ammo | OperationKind::TaggedAmmo { .. })
    }

    /// True if the operation sends requests of a recording.
    pub fn is_recorded(&self) -> bool {
        matches!(self, OperationKind::Recorded { .. } | OperationKind::RecordedTransaction { .. })
    }

    /// True if the operation sends SQL to PostgreSQL itself, rather than requests to a service.
    pub fn is_sql(&self) -> bool {
        matches!(self, OperationKind::Script { .. }) || self.is_recorded()
    }
}

/// Name of the operation that each client executes once, before its first operation.
pub const ON_START: &str = "on_start";

impl Operation {
    /// Script operation with this name, weight and text; all other fields have defaults.
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
            preflight: true,
            ammo: AmmoDetails::default(),
            kind: work,
        }
    }

    /// True if every step is an HTTP request with a method that only reads: GET or HEAD (RFC 9110, section 9.2.1).
    pub fn only_reads(&self) -> bool {
        let reads = |it: &HttpStep| ["GET", "HEAD"].contains(&it.method.as_str());
        matches!(&self.kind, OperationKind::Http(steps) if steps.iter().all(reads))
    }

    /// Names of the variables that the operation computes or captures from responses.
    pub fn assigned_variables(&self) -> impl Iterator<Item = &str> {
        let steps = match &self.kind {
            OperationKind::Http(steps) => steps.as_slice(),
            _ => &[],
        };
        let captures = steps.iter().flat_map(|it| &it.captures).map(|it| it.0.as_str());
        self.sets.iter().map(|it| it.0.as_str()).chain(captures)
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
            OperationKind::Ammo | OperationKind::TaggedAmmo { tag: None } => self.ammo_text(None),
            OperationKind::TaggedAmmo { tag: Some(tag) } => self.ammo_text(Some(tag)),
            OperationKind::Recorded { statement } => statement.clone(),
            OperationKind::RecordedTransaction { statements } => {
                statements.iter().map(|it| it.statement.as_str()).collect::<Vec<_>>().join(";\n")
            }
        }
    }
}

impl Operation {
    /// Feed of ammunition, with the tag and the headers of its requests.
    fn ammo_text(&self, tag: Option<&str>) -> String {
        let feed = self.feed.as_deref().unwrap_or_default();
        let first = tag.map_or(feed.to_owned(), |tag| format!("{feed}: {tag}"));
        let headers = self.ammo.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        [first].into_iter().chain(headers).collect::<Vec<_>>().join("\n")
    }
}

impl HttpStep {
    /// Request with this method and target, and nothing else.
    pub fn new(method: &str, target: &str) -> HttpStep {
        HttpStep {
            name: None,
            pause: ThinkTime::NONE,
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: None,
            captures: Vec::new(),
            expect: Expectation::default(),
            redirects: 0,
            decompress: false,
        }
    }

    /// Request as text: a line such as `pause 2s` if there is one, a request line such as `POST /login`, then headers and
    /// body.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        if !self.pause.is_none() {
            lines.push(format!("pause {}", self.pause));
        }
        lines.push(format!("{} {}", self.method, self.target));
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

/// HTTP request. `${name}` in target, headers and body stands for a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HttpStep {
    /// Name of the step; response times are reported under it.
    pub name: Option<String>,
    /// Time that the client waits before it sends the request.
    #[serde(default, skip_serializing_if = "ThinkTime::is_none")]
    pub pause: ThinkTime,
    /// HTTP method: `GET`, `POST`, …
    pub method: String,
    /// Path and query of the URL.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<RequestBody>,
    /// Variable names with the sources of their values.
    pub captures: Vec<(String, CaptureSource)>,
    pub expect: Expectation,
    /// Maximum number of redirects to follow, only within the same service.
    #[serde(default)]
    pub redirects: u8,
    /// True if the request asks for a compressed body. Captures and checks then read the decompressed body.
    #[serde(default)]
    #[serde(alias = "unpack")]
    pub decompress: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestBody {
    /// Text that is sent unchanged.
    Text(String),
    /// Body of type `application/json`; variables are escaped within its strings.
    Json(String),
    /// Body of type `application/x-www-form-urlencoded`.
    Form(Vec<(String, String)>),
}

/// Part of a response whose value is assigned to a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureSource {
    /// JSON pointer, RFC 6901: `/token`.
    Json(String),
    Header(String),
    /// Match of a regular expression: the first group, or the whole match without a group.
    Regex(String),
}

/// Conditions that a response must meet; otherwise the request fails.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// Accepted statuses, as first and last status of each range; empty means 200 to 399.
    pub status: Vec<(u16, u16)>,
    /// Texts that the body must contain, with variables as `${name}`.
    #[serde(deserialize_with = "texts")]
    pub contains: Vec<String>,
    /// Texts that the body must not contain.
    #[serde(default)]
    pub not_contains: Vec<String>,
}

/// Reads a list of texts. Older run files contain one text or none.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        Many(Vec<String>),
        Older(Option<String>),
    }
    Ok(match Texts::deserialize(deserializer)? {
        Texts::Many(texts) => texts,
        Texts::Older(text) => text.into_iter().collect(),
    })
}

/// Feed: rows of values that operations draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feed {
    pub name: String,
    pub source: FeedSource,
    /// Column names if the source has no names, otherwise the columns to use. `None` uses all columns of the source.
    pub columns: Option<Vec<String>>,
    pub order: FeedOrder,
    /// Table column that the values refer to, as `schema.table.column`. pgdyno reports before the run how much of the
    /// table the feed can touch.
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
        /// Format of an access log's lines, as a configuration contains it. Without it, the lines have the common or
        /// the combined format.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        log_format: Option<String>,
    },
    /// Query that PostgreSQL executes before the load begins. The query's columns are the feed's columns.
    Query(String),
    /// Rows of the experiment file, at least one, with a value for each of the feed's `columns`.
    Rows(Vec<Vec<String>>),
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
    /// Each row is used once; the load ends when all rows are used.
    Once,
}
