//! PostgreSQL servers from archives, if none is installed
//!
//! The archives are Zonky's. They contain PostgreSQL 14 to 18: `initdb`, `pg_ctl` and `postgres` with contrib, no other
//! programs. They are unpacked once into a cache, which later runs use without the network. They suffice for a first
//! test, but were built with an old compiler and an old OpenSSL.

mod archive;
mod fetch;

use crate::find::{self, Installation, InstallationSearch, NotFoundError, Origin};
use crate::supervisor::{MachineError, SystemUser, open_to_all};
use model::message;
use model::message::Message;
use std::path::{Path, PathBuf};

/// Major versions that can be downloaded.
pub const MAJORS: std::ops::RangeInclusive<u32> = 14..=18;

/// Name of the environment variable with the path of an archive file. The file replaces the download.
pub const ARCHIVE_VARIABLE: &str = "PGDYNO_POSTGRES_ARCHIVE";

/// Name of the environment variable with the address of the Maven repository from which archives are downloaded. If the
/// variable was set when pgdyno was built, its value at that time is the default.
pub const MIRROR_VARIABLE: &str = "PGDYNO_POSTGRES_MIRROR";

/// Reason why no server could be downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchError {
    pub major: u32,
    pub reason: Message,
    /// Command that installs a server on this system instead.
    pub install: &'static str,
}

/// Finds a cached server of this major version; `None` means the newest cached one.
pub fn cached(major: Option<u32>) -> Option<Installation> {
    let cache = cache_directory().ok()?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(cache).ok()?.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let Some(numbers) = parse_version(&name) else { continue };
        if major.is_none_or(|it| it == numbers[0]) {
            found.push((numbers, entry.path().join("bin")));
        }
    }
    found.sort();
    found.into_iter().rev().find_map(|(_, bin)| {
        let version = find::server_version(&bin).ok()?;
        Some(Installation { bin, version, origin: Origin::Embedded })
    })
}

/// Finds a server in the cache, or downloads one. Calls `on_fetch` before a download.
///
/// `major` = `None` accepts any cached version and downloads the newest version offered.
pub fn cached_or_fetched(major: Option<u32>, on_fetch: impl FnOnce(u32)) -> Result<Installation, FetchError> {
    if let Some(installation) = cached(major) {
        return Ok(installation);
    }
    let shown = major.unwrap_or(*MAJORS.end());
    let unavailable =
        |reason: Message| FetchError { major: shown, reason, install: find::install_command(Path::new("/")) };
    if !MAJORS.contains(&shown) {
        let (first, last) = (MAJORS.start().to_string(), MAJORS.end().to_string());
        return Err(unavailable(message!("download-versions", first, last)));
    }
    let file = std::env::var_os(ARCHIVE_VARIABLE).map(PathBuf::from);
    let mirror =
        std::env::var(MIRROR_VARIABLE).ok().or(option_env!("PGDYNO_POSTGRES_MIRROR").map(str::to_owned));
    let mirror = mirror.filter(|it| !it.is_empty());
    if file.is_none() && mirror.is_some() {
        on_fetch(shown);
    }
    let cache = cache_directory().map_err(|it| unavailable((&it).into()))?;
    let fetched = fetch::fetch_into(&cache, major, file.as_deref(), mirror.as_deref());
    let bin = fetched.map_err(|it| unavailable((&it).into()))?.join("bin");
    let version = find::server_version(&bin).map_err(|error| {
        let reason = Message::from(&error);
        unavailable(message!("error-unusable", place = bin.display().to_string(), reason))
    })?;
    Ok(Installation { bin, version, origin: Origin::Embedded })
}

/// Finds an installed server, or downloads one. If a directory is given, only that directory is searched.
pub fn find_or_fetch(
    search: &InstallationSearch,
    on_fetch: impl FnOnce(u32),
) -> Result<Installation, InstallationError> {
    let not_found = match search.find_first() {
        Ok(it) => return Ok(it),
        Err(it) => it,
    };
    if search.flag.is_some() || search.variable.is_some() {
        return Err(InstallationError { not_found, fetch_error: None });
    }
    cached_or_fetched(search.major, on_fetch)
        .map_err(|it| InstallationError { not_found, fetch_error: Some(it) })
}

/// No server is installed, and none was downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationError {
    pub not_found: NotFoundError,
    /// Download error; `None` if no download was attempted.
    pub fetch_error: Option<FetchError>,
}

/// Finds the cache of unpacked servers, which the stack's user must be able to read. The cache is below
/// `XDG_CACHE_HOME` or `~/.cache`. For root, it is in `/var/cache` if other users cannot read these directories.
fn cache_directory() -> Result<PathBuf, MachineError> {
    cache_directory_for("postgresql")
}

/// Cache directory of this user; `None` if the environment names none.
pub(crate) fn user_cache_directory() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|it| it.join(".cache")))
}

/// Subdirectory of pgdyno's cache, such as `postgresql` or `programs`.
pub(crate) fn cache_directory_for(subdirectory: &str) -> Result<PathBuf, MachineError> {
    let other_user = SystemUser::unprivileged()?.is_some();
    let existing = |path: &Path| path.ancestors().find(|it| it.exists()).map(Path::to_owned);
    let reachable = |path: &PathBuf| !other_user || existing(path).is_some_and(|it| open_to_all(&it));
    let base = user_cache_directory().filter(reachable).or(other_user.then(|| "/var/cache".into()));
    base.map(|it| it.join("pgdyno").join(subdirectory)).ok_or(MachineError::NoCacheDirectory)
}

/// Parses `17.11.0`; `None` for other names, such as a directory that is being filled.
fn parse_version(name: &str) -> Option<[u32; 3]> {
    let numbers: Option<Vec<u32>> = name.split('.').map(|it| it.parse().ok()).collect();
    numbers?.try_into().ok()
}

impl From<&FetchError> for Message {
    fn from(FetchError { major, reason, install }: &FetchError) -> Message {
        message!("download-failed", major = major.to_string(), reason, install = *install)
    }
}

impl From<&InstallationError> for Message {
    fn from(InstallationError { not_found, fetch_error }: &InstallationError) -> Message {
        let fetch = fetch_error.iter().map(|FetchError { major, reason, .. }| {
            message!("download-failed", major = major.to_string(), reason, install = None::<String>)
        });
        let all = fetch.chain([not_found.into()]);
        all.reduce(|first, next| message!("error-lines", first, next)).expect("the list has the second error")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_cached_version_directories() {
        let check =
            |name: &str, expected: Option<[u32; 3]>| assert_eq!(parse_version(name), expected, "{name}");
        check("17.11.0", Some([17, 11, 0]));
        check(".17-4711", None);
        check("17.11", None);
        check("17.11.0.1", None);
        check("lost+found", None);
    }

    #[test]
    fn rejects_unsupported_major_version() {
        let on_fetch = |_| panic!("a cached server is not downloaded");
        let error = cached_or_fetched(Some(9), on_fetch).unwrap_err();
        assert_eq!(error.reason, message!("download-versions", first = "14", last = "18"));
    }
}
