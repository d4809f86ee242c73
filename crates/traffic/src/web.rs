//! Recorded requests of HTTP clients, and the experiment that they amount to
//!
//! [`read`] reads a HAR file, curl commands or an OpenAPI description. [`experiment`] turns them into an experiment file:
//! requests to one service, without static files, with captures in place of values that an earlier response contained, and
//! with environment variables in place of secrets.

mod convert;
mod curl;
mod distinctive;
mod document;
mod error;
mod exchange;
mod filter;
mod form;
mod har;
mod headers;
mod json;
mod markup;
mod naming;
mod omitted;
mod openapi;
mod operation;
mod pace;
mod parts;
mod recording;
mod redact;
mod redirects;
mod responses;
mod schema;
mod secrets;
mod session;
mod shell;
mod template;
mod url;
mod yaml;

pub use curl::{CommandDiagnostic, SkippedCommand};
pub use error::WebError;
pub use omitted::{OmissionReason, OmittedRequests};
pub use recording::{HttpRecording, HttpSummary};
pub use secrets::{SecretKind, SecretVariable};

use document::Document;
use exchange::Exchange;
use json::Json;

/// Contents of a file with HTTP traffic.
#[derive(Clone, Debug)]
pub struct WebTraffic {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Har(Vec<Exchange>),
    Curl(Vec<Exchange>, Vec<SkippedCommand>),
    OpenApi(Json),
}

/// Format of a file with HTTP traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebFormat {
    Har,
    Curl,
    OpenApi,
}

/// Choices for [`experiment`].
#[derive(Clone, Debug, Default)]
pub struct WebOptions {
    /// Name of the experiment: `a-z`, `0-9` and `-`.
    pub name: String,
    /// Scheme, host and port of the service, as in `https://shop.test`. Default: the origin of the first page, or the most
    /// frequent one. Of an OpenAPI description: its first server.
    pub origin: Option<String>,
    /// Keep static files.
    pub with_assets: bool,
    /// One operation for each distinct request of a HAR file, with its number as weight, instead of one session.
    pub by_request: bool,
}

/// Experiment that a traffic amounts to.
#[derive(Clone, Debug)]
pub struct WebExperiment {
    pub format: WebFormat,
    /// Service that the experiment measures.
    pub origin: String,
    /// Requests, commands that cannot be translated included, or operations of an OpenAPI description.
    pub requests: u64,
    /// Redirects that pgdyno follows, so that their requests are not part of the experiment.
    pub redirects: u64,
    pub operations: Vec<WebOperation>,
    /// Environment variables that replace secrets.
    pub secrets: Vec<SecretVariable>,
    /// Requests that no operation contains, by reason.
    pub left_out: Vec<OmittedRequests>,
    /// Curl commands that cannot be translated.
    pub skipped: Vec<SkippedCommand>,
    /// Requests with cookies that no response of the file sets, so that the experiment sends the requests without them.
    pub unset_cookies: u64,
    document: Document,
}

/// ImportedOperation of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebOperation {
    pub name: String,
    /// Relative frequency; `None` if all operations are equally frequent.
    pub weight: Option<u64>,
    pub steps: usize,
    /// Captured variables.
    pub captures: Vec<String>,
    /// True if the user must replace values.
    pub fill_in: bool,
}

impl WebExperiment {
    /// Text of the experiment file. `notes` are lines that it begins with, as comments.
    pub fn file(&self, notes: &[String]) -> String {
        document::write(&self.document, notes)
    }
}

/// Reads HTTP traffic in the format that the content has.
pub fn read(bytes: &[u8]) -> Result<WebTraffic, WebError> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| WebError::Encoding { byte: error.valid_up_to() })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        let json = Json::parse(text).map_err(|error| WebError::json(&error))?;
        if json.get("log").is_some() {
            return Ok(WebTraffic { source: Source::Har(har::read(&json)?) });
        }
        return openapi(json);
    }
    let is_description = |line: &str| ["openapi:", "swagger:"].iter().any(|key| line.starts_with(key));
    if text.lines().any(is_description) {
        return openapi(yaml::parse(text)?);
    }
    if curl::is_curl(text) {
        let (exchanges, skipped) = curl::read(text);
        return Ok(WebTraffic { source: Source::Curl(exchanges, skipped) });
    }
    Err(WebError::UnknownFormat)
}

fn openapi(json: Json) -> Result<WebTraffic, WebError> {
    openapi::check_version(&json)?;
    Ok(WebTraffic { source: Source::OpenApi(json) })
}

/// Scheme, host and port of the URL of a service; `None` if it is no URL of HTTP.
pub fn origin(url: &str) -> Option<String> {
    Some(url::Url::parse(url)?.origin)
}

/// Turns HTTP traffic into an experiment.
pub fn experiment(traffic: &WebTraffic, options: &WebOptions) -> WebExperiment {
    match &traffic.source {
        Source::Har(exchanges) => session::experiment(exchanges, &[], WebFormat::Har, options),
        Source::Curl(exchanges, skipped) => session::experiment(exchanges, skipped, WebFormat::Curl, options),
        Source::OpenApi(description) => openapi::experiment(description, options),
    }
}
