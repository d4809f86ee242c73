//! `pgdyno --version`

use load::driver::Driver;
use report::json_document::{JsonDocument, to_json};
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the program, and what it was built from: `pgdyno --version --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VersionDocument {
    pub version_number: &'static str,
    /// Commit of a release build; `null` for other builds.
    pub commit: Option<&'static str>,
    /// Date of the commit in UTC, such as `2026-11-23`; `null` if `commit` is.
    pub commit_date: Option<&'static str>,
    /// Platform, such as `x86_64-linux-gnu`.
    pub target: String,
    /// Drivers of the generator, such as `epoll`.
    pub drivers: Vec<&'static str>,
    /// Version of SQLite, which stores runs.
    pub sqlite: &'static str,
    /// Implementation of TLS.
    pub tls: &'static str,
}

impl JsonDocument for VersionDocument {
    const NAME: &'static str = "version";
    const VERSION: u32 = 1;
}

/// Describes the version in lines, or as a JSON document.
pub fn describe(json: bool) -> String {
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let version = VersionDocument {
        version_number: env!("CARGO_PKG_VERSION"),
        commit: option_env!("PGDYNO_COMMIT"),
        commit_date: option_env!("PGDYNO_COMMIT_DATE"),
        target: format!("{}-{}-{libc}", std::env::consts::ARCH, std::env::consts::OS),
        drivers: Driver::ALL.map(Driver::name).to_vec(),
        sqlite: store::sqlite_version(),
        tls: "rustls with ring",
    };
    if json {
        return to_json(&version);
    }
    let VersionDocument { version_number, commit, commit_date, target, drivers, sqlite, tls } = version;
    let commit = commit.unwrap_or("not recorded, because this is no release");
    let date = commit_date.map_or(String::new(), |it| format!(" of {it}"));
    let drivers = drivers.join(", ");
    format!(
        "pgdyno {version_number}\ncommit   {commit}{date}\ntarget   {target}\ndrivers  {drivers}\nSQLite   {sqlite}\nTLS      \
         {tls}\n"
    )
}
