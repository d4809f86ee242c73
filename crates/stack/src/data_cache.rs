//! Cache of loaded data directories, from which servers of later runs start
//!
//! An entry is a directory whose name is the hash of its key. It contains the data directory of a server that was
//! stopped cleanly, a description, and a lock file. A run that copies from an entry holds a shared lock on it. Entries are
//! made under a temporary name and renamed when they are complete and on disk, so a killed run leaves no incomplete
//! entry.

mod copy;

pub use copy::copy_data;

use crate::embedded::user_cache_directory;
use crate::file_hash::{hash_file, hex};
use crate::file_lock::FileLock;
use rustix::fs::{AtFlags, CWD, FlockOperation, Timespec, Timestamps, UTIME_NOW, statvfs, syncfs, utimensat};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Directory and limits of the cache.
#[derive(Clone, Debug)]
pub struct DataCache {
    pub directory: PathBuf,
    /// Maximum size of all entries, bytes.
    pub limit: u64,
    /// Minimum duration of a load whose data are stored. Other data are loaded again faster than copied.
    pub minimum: Duration,
}

/// Data directory in the cache. No run removes it while this value exists.
#[derive(Debug)]
pub struct StoredData {
    path: PathBuf,
    /// Size of the data, bytes.
    pub bytes: u64,
    _lock: FileLock,
}

/// Result of [`DataCache::store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreResult {
    /// The cache has a new entry of this size, bytes.
    Stored(u64),
    /// Another run has stored the same data meanwhile.
    Exists,
    /// The data are larger than the limit, or would leave too little space on the disk.
    NoSpace,
}

/// Description of an entry.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// Everything that determines the data; see `Postgres::data_key`.
    key: String,
    bytes: u64,
    /// Paths and hashes of files outside the data that must be unchanged, such as those of extensions.
    files: Vec<(PathBuf, String)>,
}

const LOCK: &str = "lock";
const ENTRY: &str = "entry.json";
const DATA: &str = "data";
/// Prefixes of entries that are being made or removed.
const TEMPORARY: [&str; 2] = [".new-", ".old-"];
/// Space that stays free on the disk, bytes, in addition to the data and the two copies that the run needs.
const RESERVE: u64 = 2_000_000_000;
/// Age of a temporary directory without a lock file after which its run is assumed to be dead.
const STALE_AFTER: Duration = Duration::from_secs(3600);

impl DataCache {
    /// Directory of the cache for this user, which no other user needs to read; `None` if the environment names none.
    pub fn default_directory() -> Option<PathBuf> {
        user_cache_directory().map(|it| it.join("pgdyno/data"))
    }

    /// Finds the data with this key. Removes them if they are outdated.
    pub fn find(&self, key: &str) -> Option<StoredData> {
        let path = self.directory.join(hash(key.as_bytes()));
        let lock = lock(&path, FlockOperation::NonBlockingLockShared)?;
        let unchanged = |(file, sum): &(PathBuf, String)| hash_file(file).is_ok_and(|it| it == *sum);
        let entry = read_entry(&path).filter(|it| it.key == key && it.files.iter().all(unchanged));
        let Some(entry) = entry else {
            drop(lock);
            self.remove(&path);
            return None;
        };
        // The time of the last use decides which entry is removed first. Without write permission, it stays as it is.
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        let _ = utimensat(CWD, path.join(ENTRY), &times, AtFlags::empty());
        Some(StoredData { path: path.join(DATA), bytes: entry.bytes, _lock: lock })
    }

    /// Removes the data with this key, unless another run uses them.
    pub fn discard(&self, key: &str) {
        self.remove(&self.directory.join(hash(key.as_bytes())));
    }

    /// Copies the data directory of a stopped server into the cache. Removes the least recently used entries if the limit
    /// requires it.
    pub fn store(&self, key: &str, data: &Path, files: &[PathBuf]) -> io::Result<StoreResult> {
        // Other users read the servers and programs in the parent directory.
        if let Some(parent) = self.directory.parent() {
            fs::create_dir_all(parent)?;
        }
        match DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.remove_stale();
        let bytes = copy::size(data)?;
        if bytes > self.limit {
            return Ok(StoreResult::NoSpace);
        }
        self.make_room(bytes)?;
        let disk = statvfs(&self.directory)?;
        let free = disk.f_bavail * disk.f_frsize;
        if free < bytes.saturating_mul(3).saturating_add(RESERVE) {
            return Ok(StoreResult::NoSpace);
        }
        let files =
            files.iter().map(|it| Ok((it.clone(), hash_file(it)?))).collect::<io::Result<Vec<_>>>()?;
        let entry = Entry { key: key.to_owned(), bytes, files };
        let new = self.directory.join(format!("{}{}", TEMPORARY[0], temporary_suffix()?));
        let stored = self.make_entry(&new, data, &entry);
        if !matches!(stored, Ok(StoreResult::Stored(_))) {
            let _ = fs::remove_dir_all(&new);
        }
        stored
    }

    fn make_entry(&self, new: &Path, data: &Path, entry: &Entry) -> io::Result<StoreResult> {
        DirBuilder::new().mode(0o700).create(new)?;
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(new.join(LOCK))?;
        let _lock = FileLock::new(lock, FlockOperation::NonBlockingLockExclusive)?;
        copy_data(data, &new.join(DATA), None)?;
        fs::write(new.join(ENTRY), serde_json::to_vec(entry)?)?;
        // After a crash of the machine, the entry must be complete or absent.
        syncfs(File::open(new)?)?;
        match fs::rename(new, self.directory.join(hash(entry.key.as_bytes()))) {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {
                return Ok(StoreResult::Exists);
            }
            Err(error) => return Err(error),
        }
        File::open(&self.directory)?.sync_all()?;
        Ok(StoreResult::Stored(entry.bytes))
    }

    /// Removes the least recently used entries until this number of bytes fits into the limit. Entries in use stay.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let mut entries = Vec::new();
        for path in self.entries(|name| !TEMPORARY.iter().any(|it| name.starts_with(it)))? {
            let Some(entry) = read_entry(&path) else { continue };
            let used = fs::metadata(path.join(ENTRY)).and_then(|it| it.modified()).ok();
            entries.push((used, entry.bytes, path));
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|it| it.1).sum();
        for (_, size, path) in entries {
            if total.saturating_add(bytes) <= self.limit {
                break;
            }
            if self.remove(&path) {
                total -= size;
            }
        }
        Ok(())
    }

    /// Removes an entry, unless a run uses it. Returns true if it was removed.
    fn remove(&self, path: &Path) -> bool {
        let Some(_lock) = lock(path, FlockOperation::NonBlockingLockExclusive) else { return false };
        let Ok(suffix) = temporary_suffix() else { return false };
        let old = self.directory.join(format!("{}{suffix}", TEMPORARY[1]));
        fs::rename(path, &old).is_ok() && fs::remove_dir_all(&old).is_ok()
    }

    /// Removes the temporary directories of killed runs.
    fn remove_stale(&self) {
        for path in self.entries(|name| TEMPORARY.iter().any(|it| name.starts_with(it))).unwrap_or_default() {
            let is_old = || {
                let modified = fs::metadata(&path).and_then(|it| it.modified());
                modified.is_ok_and(|it| it.elapsed().is_ok_and(|age| age > STALE_AFTER))
            };
            let unlocked = lock(&path, FlockOperation::NonBlockingLockExclusive);
            if unlocked.is_some() || !path.join(LOCK).exists() && is_old() {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }

    fn entries(&self, filter: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(&filter) {
                paths.push(entry.path());
            }
        }
        Ok(paths)
    }
}

impl StoredData {
    /// Data directory of a server that was stopped cleanly.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Locks an entry; `None` if the entry does not exist, was replaced meanwhile, or is locked by another run.
fn lock(path: &Path, operation: FlockOperation) -> Option<FileLock> {
    let lock = FileLock::new(File::open(path.join(LOCK)).ok()?, operation).ok()?;
    let identity = |it: fs::Metadata| (it.dev(), it.ino());
    let current = fs::metadata(path.join(LOCK)).ok().map(identity)?;
    (lock.metadata().ok().map(identity)? == current).then_some(lock)
}

fn read_entry(path: &Path) -> Option<Entry> {
    serde_json::from_slice(&fs::read(path.join(ENTRY)).ok()?).ok()
}

fn temporary_suffix() -> io::Result<String> {
    let random = crate::client::nonce()?;
    Ok(random.iter().map(|it| format!("{it:02x}")).collect())
}

/// Name of the entry with this key.
fn hash(key: &[u8]) -> String {
    hex(Sha256::new_with_prefix(key))
}

#[cfg(test)]
mod tests;
