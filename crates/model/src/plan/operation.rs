//! What do clients do, and with which values?

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    /// Which of several PostgreSQL servers it speaks SQL with.
    #[serde(rename = "to")]
    pub target: SqlTarget,
    /// A query of one column: the texts that hold the tokens of what this operation wrote. Each time it begins,
    /// its variable `token` is a new one.
    pub ledger: Option<String>,
    #[serde(rename = "work")]
    pub kind: OperationKind,
}

/// Where an operation's SQL goes, at the moment when it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqlTarget {
    #[default]
    Primary,
    Replica,
    Any,
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
    #[serde(default)]
    to: SqlTarget,
    #[serde(default)]
    ledger: Option<String>,
    work: Option<OperationKind>,
    #[serde(default)]
    script: String,
    #[serde(default)]
    origin: Option<PathBuf>,
}

impl From<Stored> for Operation {
    fn from(it: Stored) -> Operation {
        let Stored { name, weight, rate, feed, schedule, sets, to, ledger, work, script, origin } = it;
        let work = work.unwrap_or(OperationKind::Script { text: script, origin });
        Operation { name, weight, rate, feed, schedule, sets, target: to, ledger, kind: work }
    }
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    Script {
        /// In pgbench's language.
        text: String,
        /// Where it stood: the file, if it was one.
        origin: Option<PathBuf>,
    },
    /// Requests one after the other, at least one; the first that fails ends the operation.
    Http(Vec<HttpStep>),
    /// Whole requests, out of the operation's feed.
    Ammo,
}

impl Operation {
    /// A script of its own.
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

    /// What it does, as its language has it: a script, or requests with their bodies.
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
    /// `POST /login`, and below it headers and body.
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

/// One HTTP request. `${name}` stands for a variable in its target, headers and body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HttpStep {
    /// Of steps among several; its time is told by it.
    pub name: Option<String>,
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<RequestBody>,
    /// The variable's name, and what it is taken from.
    pub captures: Vec<(String, CaptureSource)>,
    pub expect: Expectation,
    /// So many redirects are followed, as long as they stay with the service.
    #[serde(default)]
    pub redirects: u8,
    /// A packed body is asked for, and unpacked for those who look into it.
    #[serde(default)]
    #[serde(rename = "unpack")]
    pub decompress: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestBody {
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
pub enum CaptureSource {
    /// A JSON pointer, RFC 6901: `/token`.
    Json(String),
    Header(String),
    /// The first group of a regular expression, or all of what it finds.
    Regex(String),
}

/// What an answer must be; any other is a failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
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
    #[serde(rename = "of")]
    pub lookup_column: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedSource {
    File {
        path: PathBuf,
        #[serde(rename = "form")]
        format: FeedFormat,
    },
    /// Asked of PostgreSQL before the load begins; its columns' names are the feed's.
    Query(String),
    /// What stands in the experiment's file itself: at least one row, a value by each of the feed's `columns`.
    Rows(Vec<Vec<String>>),
}

/// As `feed::Form` reads them; any of them may be packed by gzip.
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
    /// Each row once; the load ends when there is none left.
    Once,
}
