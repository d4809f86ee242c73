//! Types of the HTTP service and its pages.

use super::{Caps, Limits, OneOrMany};
use crate::datum::OrderedMap;
use crate::unit::{Duration, Word};
use schemars::JsonSchema;
use serde::Deserialize;

/// HTTP service that pgdyno starts (`command`), or a running service (`url`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Program and arguments. A program name with a slash, and arguments that begin with `./` or `../`, are relative to
    /// this file. pgdyno sets the environment variables `ADDRESS` and `DATABASE_URL`.
    pub command: Option<Vec<Word>>,
    /// Programs of each copy by name, instead of `command`. They start in this order. The last one serves the address of
    /// the service.
    #[serde(default)]
    pub programs: OrderedMap<Program>,
    /// Files that pgdyno writes into the directory of each copy, `${dir}`, before it starts the programs: the name of the
    /// file, and its template, which is relative to this file. Variables such as `${address}` and `${database.host}` are
    /// replaced.
    #[serde(default)]
    pub files: OrderedMap<String>,
    /// URL of a running service, such as http://127.0.0.1:8080.
    pub url: Option<String>,
    /// Allows load on a service on another machine. Value: `host:port`, as in `shop.test:443`.
    pub allow: Option<String>,
    /// Caps on the load of a service on another machine.
    pub caps: Option<Caps>,
    /// Additional environment variables.
    #[serde(default)]
    pub env: OrderedMap<Word>,
    /// Number of processes. pgdyno puts a balancer in front of several processes. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub copies: Option<u32>,
    /// Path that returns status 200 when the service is ready. Default: `/health`.
    pub ready: Option<String>,
    /// Timeout for the start. Default: one minute of CPU time, so a service limited to 0.1 CPU has ten minutes.
    pub ready_timeout: Option<Duration>,
    /// Page with statistics of the service, or a list of pages. A path is a page in pgdyno's own format.
    pub stats: Option<OneOrMany<Stats>>,
    /// URL of the metrics of the service's host, such as http://web:9100/metrics, or a list of URLs. Only for a service
    /// on another machine.
    pub metrics: Option<OneOrMany<String>>,
    /// Resource limits.
    pub limits: Option<Limits>,
}

/// Program of a service that consists of several programs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Program and arguments, as in `service.command`.
    pub command: Vec<Word>,
    /// Environment variables in addition to those of the service.
    #[serde(default)]
    pub env: OrderedMap<Word>,
    /// Files in addition to those of the service.
    #[serde(default)]
    pub files: OrderedMap<String>,
    /// Whether each copy of the service has this program, or the whole stack has it once. Default: `copy`.
    pub per: Option<ProgramScope>,
    /// When the program is ready: a path that returns status 200, `port` or a socket such as `${dir}/fpm.sock` that accepts
    /// connections, or `running`. Default: `port` if a variable mentions the program's port, otherwise `running`. Not for
    /// the program that serves the service's address.
    pub ready: Option<String>,
    /// Resource limits.
    pub limits: Option<Limits>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramScope {
    /// Once for each copy.
    Copy,
    /// Once for the stack, before the copies.
    Stack,
}

/// Page with statistics: a path, or a page in another format.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Stats {
    Path(String),
    Page(StatsPage),
}

/// Page with statistics of the service, or of a program around it, such as its web server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatsPage {
    /// Path of the page on the service.
    pub path: Option<String>,
    /// Format of the page. Default: `pgdyno`.
    pub form: Option<StatsForm>,
    /// Port of the page, if it differs from the service's. The page is on the service's host.
    #[schemars(range(min = 1, max = 65_535))]
    pub port: Option<u16>,
    /// Complete URL of the page, instead of `path` and `port`. It may contain addresses of the service's programs, as in
    /// `http://${worker.address}/metrics`.
    pub url: Option<String>,
    /// Program that the page describes. Default: the program that serves the service's address.
    pub program: Option<String>,
    /// Names of additional metrics to store and draw. Only for `form: prometheus`.
    #[serde(default)]
    pub series: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum StatsForm {
    /// JSON, as pgdyno's own services write it.
    #[serde(rename = "pgdyno")]
    Pgdyno,
    /// Status page of PHP-FPM, as plain text or JSON.
    #[serde(rename = "php-fpm")]
    PhpFpm,
    /// Page of nginx's module `stub_status`.
    #[serde(rename = "stub_status")]
    StubStatus,
    /// Text format of Prometheus, or OpenMetrics.
    #[serde(rename = "prometheus")]
    Prometheus,
}
