//! Run directory: creation, lock file, and removal by this keeper or the next one
//!
//! A directory that may contain data of other programs is never removed. A run directory is removed only if its name is
//! valid, a keeper wrote its lock file, the lock is free, and nothing uses it.

use super::in_use::in_use;
use super::launch::SystemUser;
use crate::file_lock::FileLock;
use crate::limits::groups;
use model::{RetainReason, StaleRunDirectory};
use rustix::fs::{FlockOperation, OFlags};
use std::fmt::Write as _;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, read_dir, remove_dir_all, set_permissions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// Prefix of the name of a run directory; a number follows.
const PREFIX: &str = "pgdyno-";
/// Name of the lock file. A running keeper holds a lock on it.
const LOCK: &str = "lock";
/// Name of the file that lists the control groups, one path per line.
const GROUPS: &str = "groups";
/// First line of a lock file. It will change if a later keeper needs other information to remove the directory.
const FORMAT: &str = "pgdyno run directory, format 1";

/// Run directory that this keeper uses.
pub(super) struct RunDirectory {
    pub path: PathBuf,
    /// Owner of the nodes' files; `None` means the current user.
    pub owner: Option<SystemUser>,
    lock: FileLock,
}

/// Contents of the lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LockFile {
    /// Process id of the keeper that created the directory.
    keeper: u32,
    /// Inode of the directory. A copy of the directory has another inode and is thus recognized.
    inode: u64,
    /// Random number of 128 bits.
    nonce: u128,
}

impl RunDirectory {
    /// Creates `base/pgdyno-<number>` with `log`, owned by pgdyno, and `home`, owned by `owner`.
    ///
    /// Removes directories of killed keepers in `base`, and returns them.
    pub fn create(
        base: &Path,
        owner: Option<&SystemUser>,
    ) -> io::Result<(RunDirectory, Vec<StaleRunDirectory>)> {
        let leftovers = sweep(base);
        let path = fresh(base, if owner.is_some() { 0o711 } else { 0o700 })?;
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path.join(LOCK))?;
        let lock = FileLock::new(lock, FlockOperation::NonBlockingLockExclusive)?;
        let mut random = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let nonce = u128::from_ne_bytes(random);
        let mark = LockFile { keeper: std::process::id(), inode: path.metadata()?.ino(), nonce };
        (&*lock).write_all(mark.text().as_bytes())?;
        for name in ["log", "home"] {
            DirBuilder::new().mode(0o700).create(path.join(name))?;
        }
        if let Some(owner) = owner {
            chown(path.join("home"), Some(owner.uid), Some(owner.gid))?;
        }
        Ok((RunDirectory { path, owner: owner.cloned(), lock }, leftovers))
    }

    /// Path of the file that lists the control groups of the run.
    pub fn groups(&self) -> PathBuf {
        self.path.join(GROUPS)
    }

    /// Removes the directory, unless another directory now has its path.
    pub fn remove(self) {
        let identity = |it: std::fs::Metadata| (it.dev(), it.ino());
        let locked = self.lock.metadata().map(identity).ok();
        let current = self.path.join(LOCK).symlink_metadata().map(identity).ok();
        if locked.is_some() && locked == current {
            let _ = remove_dir_all(&self.path);
        }
    }
}

impl LockFile {
    fn text(&self) -> String {
        let LockFile { keeper, inode, nonce } = self;
        let mut out = String::new();
        write!(out, "{FORMAT}\nkeeper {keeper}\ninode {inode}\nnonce {nonce:032x}\n")
            .expect("writing to a String cannot fail");
        out
    }

    /// Parses the contents; `None` unless they match the format exactly.
    fn parse(text: &str) -> Option<LockFile> {
        let mut lines = text.strip_prefix(FORMAT)?.strip_prefix('\n')?.lines();
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let (keeper, inode, nonce) = (value("keeper")?, value("inode")?, value("nonce")?);
        let mark = LockFile {
            keeper: keeper.parse().ok()?,
            inode: inode.parse().ok()?,
            nonce: u128::from_str_radix(nonce, 16).ok()?,
        };
        (mark.text() == text).then_some(mark)
    }
}

/// Creates a new directory in `base` with this mode.
fn fresh(base: &Path, mode: u32) -> io::Result<PathBuf> {
    let mut number = std::process::id();
    loop {
        let directory = base.join(format!("{PREFIX}{number}"));
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => {
                set_permissions(&directory, Permissions::from_mode(mode))?;
                return Ok(directory);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number = number.wrapping_add(1_000_003),
            Err(error) => return Err(error),
        }
    }
}

/// Removes the run directories in `base` whose keepers were killed, unless something uses them.
fn sweep(base: &Path) -> Vec<StaleRunDirectory> {
    let mut paths: Vec<PathBuf> =
        read_dir(base).into_iter().flatten().flatten().map(|it| it.path()).collect();
    paths.sort();
    let abandoned = paths.into_iter().filter_map(|path| Some((abandoned(&path)?, path)));
    abandoned
        .map(|((mark, _lock), directory)| {
            let retained = clear(&directory, &mark);
            StaleRunDirectory { directory, retained }
        })
        .collect()
}

/// Reads the lock file of a run directory whose keeper was killed. Returns it with the lock, which this process now
/// holds.
fn abandoned(directory: &Path) -> Option<(LockFile, FileLock)> {
    let number = directory.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    let is_number =
        !number.is_empty() && !number.starts_with('0') && number.bytes().all(|it| it.is_ascii_digit());
    let metadata = directory.symlink_metadata().ok()?;
    let me = rustix::process::geteuid().as_raw();
    if !is_number || !metadata.is_dir() || metadata.uid() != me {
        return None;
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let lock =
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(directory.join(LOCK));
    let lock = lock.ok()?;
    let file = lock.metadata().ok().filter(|it| it.is_file() && it.uid() == me && it.nlink() == 1)?;
    // A valid lock file has about a hundred bytes.
    let mut text = String::new();
    (&lock).take(1024).read_to_string(&mut text).ok()?;
    let mark =
        LockFile::parse(&text).filter(|it| it.inode == metadata.ino() && file.dev() == metadata.dev())?;
    Some((mark, FileLock::new(lock, FlockOperation::NonBlockingLockExclusive).ok()?))
}

/// Removes an abandoned directory and kills the processes of its control groups. Returns the reason if the directory
/// cannot be removed.
fn clear(directory: &Path, mark: &LockFile) -> Option<RetainReason> {
    let system = |error: io::Error| RetainReason::System(error.to_string());
    if !groups::remove_stale_groups(&directory.join(GROUPS), mark.keeper) {
        return Some(RetainReason::ControlGroups);
    }
    match in_use(directory) {
        Ok(None) => remove_dir_all(directory).err().map(system),
        Ok(reason) => reason,
        Err(error) => Some(system(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

    /// Base directory with entries, for tests.
    struct Base(PathBuf);

    impl Base {
        fn new(name: &str) -> Base {
            let path =
                std::env::temp_dir().join(format!("stack-run-directory-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Base(path.canonicalize().unwrap())
        }

        /// Creates a directory with data and this text in its lock file; `{inode}` is replaced by the directory's
        /// inode.
        fn directory(&self, name: &str, lock: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("data"), "precious").unwrap();
            let inode = path.metadata().unwrap().ino().to_string();
            fs::write(path.join(LOCK), lock.replace("{inode}", &inode)).unwrap();
            path
        }
    }

    impl Drop for Base {
        fn drop(&mut self) {
            let _ = remove_dir_all(&self.0);
        }
    }

    const NONCE: &str = "00112233445566778899aabbccddeeff";

    fn mark() -> String {
        format!("{FORMAT}\nkeeper 4194305\ninode {{inode}}\nnonce {NONCE}\n")
    }

    #[test]
    fn removes_only_directories_with_a_mark() {
        let base = Base::new("marks");
        let check = |name: &str, lock: &str, removed: bool| {
            let path = base.directory(name, lock);
            let leftovers = sweep(&base.0);
            assert_eq!(!path.exists(), removed, "{name}: {lock}");
            let stale = StaleRunDirectory { directory: path.clone(), retained: None };
            assert_eq!(leftovers, if removed { vec![stale] } else { vec![] }, "{name}: {lock}");
            let _ = remove_dir_all(path);
        };
        check("pgdyno-17", &mark(), true);
        for name in [
            "pgdyno-zabbix",
            "pgdyno-my-important-files",
            "pgdyno-",
            "pgdyno-017",
            "pgdyno-17x",
            "pgdyno--1",
            "17",
        ] {
            check(name, &mark(), false);
        }
        for lock in [
            "".to_owned(),
            "17\n".to_owned(),
            mark().trim_end().to_owned(),
            mark() + "\n",
            mark() + "more",
            " ".to_owned() + &mark(),
            mark().replace("format 1", "format 2"),
            mark().replace("keeper 4194305", "keeper x"),
            mark().replace("keeper 4194305", "keeper +4194305"),
            mark().replace("keeper 4194305\n", ""),
            mark().replace(NONCE, "0011"),
            mark().replace(NONCE, &NONCE.to_uppercase()),
            mark().replace("{inode}", "{inode}0"),
            mark() + &"x".repeat(10_000),
        ] {
            check("pgdyno-17", &lock, false);
        }
    }

    #[test]
    fn keeps_what_only_looks_like_a_run_directory() {
        let base = Base::new("looks");
        let check = |make: &dyn Fn(&Path)| {
            let path = base.0.join("pgdyno-17");
            make(&path);
            assert_eq!(sweep(&base.0), [], "{path:?}");
            assert!(path.symlink_metadata().is_ok());
            let _ = fs::remove_file(&path).or_else(|_| remove_dir_all(&path));
        };
        let real = base.directory("elsewhere", &mark());
        // These must stay: a link to a run directory; a lock file that is a link, has a second name or is a pipe; a
        // copy.
        check(&|it| symlink(&real, it).unwrap());
        let lock = |it: &Path| fs::read_to_string(it.join(LOCK)).unwrap();
        let make_lock = |home: &Path, make: &dyn Fn(&Path)| {
            base.directory("pgdyno-17", &mark());
            let text = lock(home);
            fs::remove_file(home.join(LOCK)).unwrap();
            fs::write(home.join("mark"), text).unwrap();
            make(home);
        };
        check(&|home| make_lock(home, &|it| symlink("mark", it.join(LOCK)).unwrap()));
        check(&|home| make_lock(home, &|it| fs::hard_link(it.join("mark"), it.join(LOCK)).unwrap()));
        check(&|home| {
            make_lock(home, &|directory| {
                assert!(Command::new("mkfifo").arg(directory.join(LOCK)).status().unwrap().success());
            });
        });
        check(&|home| make_lock(home, &|it| fs::create_dir(it.join(LOCK)).unwrap()));
        check(&|home| {
            fs::create_dir(home).unwrap();
            fs::copy(real.join(LOCK), home.join(LOCK)).unwrap();
        });
    }

    #[test]
    fn keeps_directories_that_are_locked_or_in_use() {
        let base = Base::new("used");
        let path = base.directory("pgdyno-17", &mark());
        let lock = File::open(path.join(LOCK)).unwrap();
        let lock = FileLock::new(lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(sweep(&base.0), []);
        drop(lock);
        let mut child =
            Command::new("sleep").arg("1000").current_dir(&path).stdin(Stdio::null()).spawn().unwrap();
        let found = sweep(&base.0);
        let reason = RetainReason::InUse { pid: child.id(), program: "sleep".to_owned() };
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [StaleRunDirectory { directory: path.clone(), retained: Some(reason) }]);
        assert!(path.join("data").exists());
        assert_eq!(sweep(&base.0), [StaleRunDirectory { directory: path.clone(), retained: None }]);
        assert!(!path.exists());
    }

    #[test]
    fn created_run_directory_is_removed() {
        let base = Base::new("made");
        let (run, leftovers) = RunDirectory::create(&base.0, None).unwrap();
        assert_eq!(leftovers, []);
        assert_eq!(sweep(&base.0), [], "it is locked");
        let path = run.path.clone();
        // Dropping without removal simulates `kill -9`.
        drop(run);
        assert_eq!(sweep(&base.0), [StaleRunDirectory { directory: path.clone(), retained: None }]);
        let (run, _) = RunDirectory::create(&base.0, None).unwrap();
        run.remove();
        assert!(!path.exists());
    }

    #[test]
    fn keeps_directory_that_replaced_ours() {
        let base = Base::new("place");
        let (run, _) = RunDirectory::create(&base.0, None).unwrap();
        let path = run.path.clone();
        fs::rename(&path, base.0.join("moved")).unwrap();
        base.directory(path.file_name().unwrap().to_str().unwrap(), "");
        run.remove();
        assert!(path.join("data").exists() && base.0.join("moved").exists());
    }
}
