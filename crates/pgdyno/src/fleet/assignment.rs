//! Assignment of an agent: everything from which it prepares the same load as the coordinator
//!
//! An assignment contains secrets. It is sent encrypted, exists in memory only, and its types show no contents.

use model::plan::Setup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use wire::pg::SslMode;

/// Load of a trial, as all its agents receive it.
#[derive(Serialize, Deserialize)]
pub struct Assignment {
    pub seed: u64,
    /// Number of threads of all agents together.
    pub threads: u16,
    /// Name of the driver that all agents use.
    pub driver: String,
    pub load: AssignedLoad,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssignedLoad {
    Bench(BenchLoad),
    Experiment(Box<ExperimentLoad>),
}

/// Load of `pgdyno bench`.
#[derive(Serialize, Deserialize)]
pub struct BenchLoad {
    /// Arguments of the command.
    pub arguments: Vec<String>,
    /// Contents of the scripts in the order of the options, in base64.
    pub scripts: Vec<String>,
    pub scale: u32,
    pub environment: RecordedEnvironment,
}

/// Load of a trial of `pgdyno run`.
#[derive(Serialize, Deserialize)]
pub struct ExperimentLoad {
    pub setup: Setup,
    /// Predefined variables.
    pub variables: Vec<(String, i64)>,
    pub postgres: Vec<SentTarget>,
    pub replicas: Vec<SentTarget>,
    /// URL and address of the HTTP service.
    pub web: Option<(String, SentAddress)>,
    /// Columns of each feed, in the order of the setup. Its rows are a document of their own.
    pub feeds: Vec<Vec<String>>,
    pub environment: RecordedEnvironment,
    pub transactions: Option<u64>,
}

/// Environment variables, files and user that the coordinator read for the load.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct RecordedEnvironment {
    pub variables: BTreeMap<String, String>,
    pub files: BTreeMap<String, String>,
    pub os_user: String,
    /// Password that the user typed.
    pub typed_password: Option<String>,
}

/// Server with a login.
#[derive(Serialize, Deserialize)]
pub struct SentTarget {
    pub address: SentAddress,
    pub host: String,
    pub user: String,
    pub database: String,
    pub password: Option<String>,
    pub parameters: Vec<(String, String)>,
    pub keep_parameters: bool,
    pub send_cancel: bool,
    /// Index in [`SSL_MODES`].
    pub ssl: usize,
    /// TLS configuration; `None` if the login uses no TLS.
    pub tls: Option<SentTls>,
}

/// Texts of a TLS configuration.
#[derive(Serialize, Deserialize)]
pub struct SentTls {
    pub roots: Option<Vec<u8>>,
    pub certificate: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
    /// True for each bound of the range of versions that is TLS 1.3.
    pub lowest_is_13: bool,
    pub highest_is_13: bool,
}

/// Modes of TLS, in a fixed order.
pub const SSL_MODES: [SslMode; 6] = [
    SslMode::Disable,
    SslMode::Allow,
    SslMode::Prefer,
    SslMode::Require,
    SslMode::VerifyCa,
    SslMode::VerifyFull,
];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentAddress {
    Unix(std::path::PathBuf),
    Tcp(std::net::SocketAddr),
}

impl fmt::Debug for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Assignment of {} threads", self.threads)
    }
}

impl fmt::Debug for RecordedEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordedEnvironment")
    }
}
