//! Directory of the running stacks
//!
//! A private directory of the user contains a log and a socket for each stack. The log is also a lock file. The holder
//! has the log open as standard output, and the kernel releases the lock when the holder exits for any reason.

use crate::cli::{CommandError, os_error_text};
use report::lang::Lang;
use report::say;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, remove_dir, remove_file};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, FileExt as _, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Path of the directory, which need not exist yet.
#[derive(Clone, Debug)]
pub struct StackDirectory {
    directory: PathBuf,
}

/// Suffix of a log's name, after the stack's name.
const LOG: &str = ".log";
/// First line of a log. A file without this line is not a log of pgdyno, and is never truncated or removed.
pub const LOG_HEADER: &str = "pgdyno stack log, format 1\n";
const SOCKET: &str = ".sock";

/// Reason why a directory or log cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryError {
    path: PathBuf,
    cause: DirectoryErrorCause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DirectoryErrorCause {
    NoDirectory,
    OtherOwner,
    /// The permissions of the directory or log grant access to other users.
    OtherUsers,
    /// The file was not written by pgdyno.
    NoStackLog,
    /// Error of the system.
    System(String),
}

impl DirectoryError {
    fn system(path: &Path, error: &io::Error) -> DirectoryError {
        let cause = DirectoryErrorCause::System(os_error_text(error));
        DirectoryError { path: path.to_owned(), cause }
    }

    pub fn command_error(&self, lang: &Lang) -> CommandError {
        let reason = match &self.cause {
            DirectoryErrorCause::NoDirectory => say!(lang, "stack-no-directory"),
            DirectoryErrorCause::OtherOwner => say!(lang, "stack-other-owner"),
            DirectoryErrorCause::OtherUsers => say!(lang, "stack-other-users"),
            DirectoryErrorCause::NoStackLog => say!(lang, "stack-no-log"),
            DirectoryErrorCause::System(error) => error.clone(),
        };
        let path = self.path.display().to_string();
        CommandError::new(say!(lang, "stack-directory-unusable", path, reason))
            .with_hint(say!(lang, "stack-directory-hint"))
    }
}

impl StackDirectory {
    /// `$XDG_RUNTIME_DIR/pgdyno`, or `/tmp/pgdyno-stacks-<uid>` if the variable does not name a directory of this user.
    /// Fails if the directory exists and another user could write to it.
    pub fn for_user() -> Result<StackDirectory, DirectoryError> {
        StackDirectory::new_checked(default_directory(std::env::var_os("XDG_RUNTIME_DIR")))
    }

    /// Directory that the calling process has already checked.
    pub fn from_checked(directory: PathBuf) -> StackDirectory {
        StackDirectory { directory }
    }

    fn new_checked(directory: PathBuf) -> Result<StackDirectory, DirectoryError> {
        let cause = match directory.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(DirectoryError::system(&directory, &error)),
            Ok(meta) if !meta.is_dir() => Some(DirectoryErrorCause::NoDirectory),
            Ok(meta) if meta.uid() != geteuid().as_raw() => Some(DirectoryErrorCause::OtherOwner),
            Ok(meta) if meta.mode() & 0o077 != 0 => Some(DirectoryErrorCause::OtherUsers),
            Ok(_) => None,
        };
        match cause {
            Some(cause) => Err(DirectoryError { path: directory, cause }),
            None => Ok(StackDirectory { directory }),
        }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn socket(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}{SOCKET}"))
    }

    pub fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}{LOG}"))
    }

    /// Reserves a name for a stack: returns the stack's log, empty and locked. `None` if a stack with this name is
    /// running.
    pub fn claim(&self, name: &str) -> Result<Option<File>, DirectoryError> {
        let path = self.log(name);
        let failed = |error: io::Error| DirectoryError::system(&path, &error);
        loop {
            match DirBuilder::new().mode(0o700).create(&self.directory) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
                // Another process may have created the directory, so check its owner.
                Err(_) => drop(StackDirectory::new_checked(self.directory.clone())?),
                Ok(()) => {}
            }
            let log = match open(&path, true) {
                Ok(it) => it,
                // The last stack removed the directory in the meantime.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            match flock(&log, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(failed(error.into())),
                // Retry if the file was removed between opening and locking.
                Ok(()) if is_at(&log, &path) => {
                    let is_empty = log.metadata().is_ok_and(|it| it.is_file() && it.len() == 0);
                    if !is_empty && !is_marked(&log) {
                        return Err(DirectoryError { path, cause: DirectoryErrorCause::NoStackLog });
                    }
                    log.set_len(0).and_then(|()| (&log).write_all(LOG_HEADER.as_bytes())).map_err(failed)?;
                    if !is_empty {
                        let _ = remove_file(self.socket(name));
                    }
                    return Ok(Some(log));
                }
                Ok(()) => {}
            }
        }
    }

    /// Names of the running stacks, sorted. Removes the files of stacks whose holder has exited.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let files = entries.filter_map(|it| it.file_name().into_string().ok());
        let mut names: Vec<String> = files
            .filter_map(|it| Some(it.strip_suffix(LOG)?.to_owned()))
            .filter(|it| self.is_held(it))
            .collect();
        names.sort();
        if names.is_empty() {
            // Remove the directory, which fails unless it is empty.
            let _ = remove_dir(&self.directory);
        }
        names
    }

    /// True if a process holds the name. Otherwise removes the leftover files.
    fn is_held(&self, name: &str) -> bool {
        let path = self.log(name);
        let Ok(log) = open(&path, false) else { return false };
        match flock(&log, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_at(&log, &path) && is_marked(&log) => {
                self.clear(name);
                false
            }
            Ok(()) => false,
            Err(_) => true,
        }
    }

    /// Removes the files of the stack `name`, and the directory if it is then empty. The caller must hold the stack's
    /// lock.
    pub fn clear(&self, name: &str) {
        let _ = remove_file(self.socket(name));
        let _ = remove_file(self.log(name));
        let _ = remove_dir(&self.directory);
    }
}

/// Default directory, given the value of `XDG_RUNTIME_DIR`.
fn default_directory(runtime: Option<OsString>) -> PathBuf {
    let me = geteuid().as_raw();
    // Check the owner, because after `su` the variable may still contain another user's directory.
    let is_own =
        |path: &PathBuf| path.is_absolute() && path.metadata().is_ok_and(|it| it.is_dir() && it.uid() == me);
    match runtime.map(PathBuf::from).filter(is_own) {
        Some(it) => it.join("pgdyno"),
        None => PathBuf::from(format!("/tmp/pgdyno-stacks-{me}")),
    }
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(create).mode(0o600);
    // Use O_NONBLOCK, because opening a FIFO with this name would otherwise block.
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()).open(path)
}

/// True for a regular file that begins with the log header.
fn is_marked(file: &File) -> bool {
    let mut first = [0; LOG_HEADER.len()];
    let read = file.read_exact_at(&mut first, 0);
    file.metadata().is_ok_and(|it| it.is_file()) && read.is_ok() && first == LOG_HEADER.as_bytes()
}

/// True if the path still refers to this file.
fn is_at(file: &File, path: &Path) -> bool {
    let same =
        |one: std::fs::Metadata, two: std::fs::Metadata| (one.dev(), one.ino()) == (two.dev(), two.ino());
    file.metadata().ok().zip(path.symlink_metadata().ok()).is_some_and(|(one, two)| same(one, two))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("pgdyno-test-place-{name}-{}", std::process::id()));
            DirBuilder::new().mode(0o700).create(&path).expect("a scratch directory");
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn refuses_directories_that_others_can_write() {
        let scratch = Scratch::new("refused");
        let check = |make: &dyn Fn(&Path), expected: Option<DirectoryErrorCause>| {
            let path = scratch.0.join("place");
            make(&path);
            let found = StackDirectory::new_checked(path.clone()).err().map(|error| error.cause);
            assert_eq!(found, expected);
            let _ = remove_file(&path).or_else(|_| remove_dir(&path));
        };
        let with_mode = |path: &Path, mode| {
            fs::create_dir(path).and_then(|()| fs::set_permissions(path, PermissionsExt::from_mode(mode)))
        };
        check(&|_| {}, None);
        check(&|path| with_mode(path, 0o700).expect("made"), None);
        check(&|path| with_mode(path, 0o750).expect("made"), Some(DirectoryErrorCause::OtherUsers));
        check(&|path| with_mode(path, 0o777).expect("made"), Some(DirectoryErrorCause::OtherUsers));
        check(
            &|path| fs::write(path, "").expect("the file can be written"),
            Some(DirectoryErrorCause::NoDirectory),
        );
        check(
            &|path| symlink(&scratch.0, path).expect("the link can be created"),
            Some(DirectoryErrorCause::NoDirectory),
        );
    }

    #[test]
    fn uses_the_runtime_directory_if_it_is_ours() {
        let me = geteuid().as_raw();
        let scratch = Scratch::new("runtime");
        let elsewhere = PathBuf::from(format!("/tmp/pgdyno-stacks-{me}"));
        let check = |runtime: Option<&Path>, expected: &Path| {
            assert_eq!(
                default_directory(runtime.map(|it| it.as_os_str().to_owned())),
                expected,
                "{runtime:?}"
            );
        };
        check(None, &elsewhere);
        check(Some(Path::new("")), &elsewhere);
        check(Some(Path::new("here")), &elsewhere);
        check(Some(Path::new("/nowhere")), &elsewhere);
        check(Some(&scratch.0), &scratch.0.join("pgdyno"));
    }

    #[test]
    fn leaves_foreign_logs_unchanged() {
        let scratch = Scratch::new("foreign");
        let place = StackDirectory::new_checked(scratch.0.clone()).expect("others may not use it");
        for text in ["mine\n", &LOG_HEADER[1..], "pgdyno stack log, format 2\n"] {
            fs::write(place.log("mine"), text).expect("a file");
            fs::write(place.socket("mine"), "mine too").expect("a file");
            assert_eq!(place.names(), [""; 0]);
            let error = place.claim("mine").expect_err("it is not ours");
            assert_eq!(error.cause, DirectoryErrorCause::NoStackLog);
            assert_eq!(fs::read_to_string(place.log("mine")).expect("the file can be read"), text);
            assert!(place.socket("mine").exists());
        }
        fs::write(place.log("mine"), format!("{LOG_HEADER}of a killed one\n")).expect("a file");
        assert_eq!(place.names(), [""; 0]);
        assert!(!place.log("mine").exists() && !place.socket("mine").exists());
    }

    #[test]
    fn holds_a_name_until_its_log_is_closed() {
        let scratch = Scratch::new("held");
        let place =
            StackDirectory::new_checked(scratch.0.join("place")).expect("the directory does not exist");
        assert_eq!(place.names(), [""; 0]);
        let held = place.claim("one").expect("the name can be claimed");
        assert!(held.is_some());
        assert!(place.claim("one").expect("the claim can be read").is_none(), "twice");
        let other = place.claim("two").expect("the name can be claimed").expect("another name");
        assert_eq!(place.names(), ["one", "two"]);
        fs::write(place.socket("one"), "").expect("a file");
        drop(held);
        assert_eq!(place.names(), ["two"]);
        assert!(!place.log("one").exists() && !place.socket("one").exists(), "leftover files are removed");
        drop(other);
        assert_eq!(place.names(), [""; 0]);
        assert!(!place.directory().exists(), "and the directory");
        assert!(place.claim("one").expect("the name can be claimed again").is_some());
    }
}
