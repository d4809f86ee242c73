//! Capabilities of the machine as JSON

use model::Nanos;
use report::json_document::JsonDocument;
use schemars::JsonSchema;
use serde::Serialize;
use stack::host::Host;
use std::path::PathBuf;

/// Capabilities of the machine: `pgdyno doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument<'a> {
    /// PostgreSQL installations that can be started.
    pub servers: Vec<ServerInstallation>,
    /// Programs that a system under test may contain.
    pub programs: Vec<ProgramInfo>,
    /// Features of experiments, with the first server; empty without a server.
    pub features: Vec<FeatureSupport>,
    /// Directory for the data of servers; `null` if there is none.
    pub data_directory: Option<PathBuf>,
    pub host: &'a Host,
    /// Limits that a node of a stack may have.
    pub limits: Vec<LimitSupport>,
    /// Drivers that are not available on every system.
    pub drivers: Vec<DriverSupport>,
    /// Lateness of a thread that sleeps.
    pub timer_jitter: TimerJitterFigures,
}

impl JsonDocument for DoctorDocument<'_> {
    const NAME: &'static str = "doctor";
    const VERSION: u32 = 1;
}

/// Installation of PostgreSQL.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerInstallation {
    /// Version as the server reports it.
    pub version: String,
    pub major: u32,
    /// Directory of the installation's programs.
    pub directory: PathBuf,
    /// Place in which the installation was found.
    pub origin: String,
}

/// Program that was searched for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProgramInfo {
    pub name: &'static str,
    /// Path of the program; `null` if it is not installed.
    pub path: Option<PathBuf>,
    /// First line of the program's version output.
    pub version: Option<String>,
    /// Features that the program enables.
    pub enables: String,
}

/// Feature of experiments, and whether this machine supports it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeatureSupport {
    pub name: &'static str,
    pub available: bool,
    /// Items that it lacks.
    pub missing: Vec<String>,
    /// Purpose of the feature.
    pub enables: String,
}

/// Limit on a node, and whether it can be applied on this machine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LimitSupport {
    pub name: &'static str,
    pub available: bool,
    /// Reason why the limit is not available.
    pub reason: Option<String>,
}

/// Driver, and whether it works on this machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriverSupport {
    pub name: &'static str,
    pub available: bool,
}

/// Distribution of the timer jitter. Quantiles are `null` with too few samples.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TimerJitterFigures {
    /// Number of samples.
    pub count: u64,
    #[serde(rename = "p50_ns")]
    pub p50: Option<Nanos>,
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    #[serde(rename = "max_ns")]
    pub max: Option<Nanos>,
}
