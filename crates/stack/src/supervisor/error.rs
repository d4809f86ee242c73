//! Errors of the supervisor and its keeper

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Reason why the keeper could not execute an order.
#[derive(Debug)]
pub(super) enum KeeperError {
    /// A system call failed. Contains the path or the attempt, and the error.
    Io {
        subject: String,
        error: io::Error,
    },
    /// A system program is not installed.
    MissingProgram {
        program: &'static str,
        package: &'static str,
    },
    /// A system program failed. Contains its command and its output.
    Command {
        command: String,
        output: String,
    },
    /// The first order did not create the run directory, which other orders need.
    NoRunDirectory,
    NodeEnded,
    NoNetwork,
    NoDisk,
    EmptyCommand,
    /// The process ended before it could be found in its namespace.
    EndedAtOnce(io::Error),
    InvalidOrder(serde_json::Error),
}

impl KeeperError {
    /// Wraps an error with the path or the attempt that it belongs to.
    pub fn io<E: Into<io::Error>>(subject: impl fmt::Display) -> impl FnOnce(E) -> KeeperError {
        let subject = subject.to_string();
        move |error| KeeperError::Io { subject, error: error.into() }
    }
}

impl fmt::Display for KeeperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeeperError::Io { subject, error } => write!(f, "{subject}: {error}"),
            KeeperError::MissingProgram { program, package } => {
                write!(f, "the program `{program}` is not installed; install the package {package}")
            }
            KeeperError::Command { command, output } => write!(f, "`{command}` failed: {output}"),
            KeeperError::NoRunDirectory => f.write_str("the keeper has no run directory"),
            KeeperError::NodeEnded => f.write_str("it has ended"),
            KeeperError::NoNetwork => f.write_str("it has no network of its own"),
            KeeperError::NoDisk => f.write_str("it has no disk of its own"),
            KeeperError::EmptyCommand => f.write_str("the command is empty"),
            KeeperError::EndedAtOnce(error) => write!(f, "it ended immediately after its start: {error}"),
            KeeperError::InvalidOrder(error) => write!(f, "the keeper cannot read the order: {error}"),
        }
    }
}

impl std::error::Error for KeeperError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            KeeperError::Io { error, .. } | KeeperError::EndedAtOnce(error) => Some(error),
            KeeperError::InvalidOrder(error) => Some(error),
            _ => None,
        }
    }
}

/// Reason why an order to the keeper failed.
#[derive(Debug)]
pub(super) enum OrderError {
    /// The keeper refused the order. Contains its reason, see [`KeeperError`].
    Refused(String),
    KeeperEnded(io::Error),
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::Refused(reason) => f.write_str(reason),
            OrderError::KeeperEnded(error) => write!(f, "the process `pgdyno keeper` has ended: {error}"),
        }
    }
}

impl std::error::Error for OrderError {}

/// Reason why this machine cannot run a stack.
#[derive(Debug)]
pub enum MachineError {
    /// `/etc/passwd` cannot be read.
    Accounts(io::Error),
    /// pgdyno runs as root, and no other user can run the servers.
    NoUser,
    /// None of these directories is suitable for run directories.
    NoScratchDirectory(Vec<PathBuf>),
    /// No cache directory is known.
    NoCacheDirectory,
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineError::Accounts(error) => write!(f, "/etc/passwd: {error}"),
            MachineError::NoUser => f.write_str(
                "pgdyno runs as root and finds no user to run servers as; create the user `postgres` or `nobody`",
            ),
            MachineError::NoScratchDirectory(tried) => {
                let tried: Vec<String> = tried.iter().map(|it| it.display().to_string()).collect();
                write!(f, "none of {} is writable for the user that runs the servers; set TMPDIR", tried.join(", "))
            }
            MachineError::NoCacheDirectory => {
                f.write_str("the cache directory is unknown; set XDG_CACHE_HOME or HOME")
            }
        }
    }
}

impl std::error::Error for MachineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MachineError::Accounts(error) => Some(error),
            _ => None,
        }
    }
}
