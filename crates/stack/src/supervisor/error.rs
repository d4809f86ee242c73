//! Errors of the supervisor and its keeper

use model::message;
use model::message::Message;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Output;

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
    DiskFrozen,
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

    /// Error of a system program that has ended with this output.
    pub fn failed(command: &str, done: &Output) -> KeeperError {
        let output = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        KeeperError::Command { command: command.to_owned(), output }
    }
}

impl From<&KeeperError> for Message {
    fn from(error: &KeeperError) -> Message {
        match error {
            KeeperError::Io { subject, error } => message!("error-of", subject, error = Message::from(error)),
            KeeperError::MissingProgram { program, package } => {
                message!("keeper-no-program", program = *program, package = *package)
            }
            KeeperError::Command { command, output } => message!("keeper-command-failed", command, output),
            KeeperError::NoRunDirectory => message!("keeper-no-directory"),
            KeeperError::NodeEnded => message!("keeper-node-ended"),
            KeeperError::NoNetwork => message!("keeper-no-network"),
            KeeperError::NoDisk => message!("keeper-no-disk"),
            KeeperError::DiskFrozen => message!("keeper-disk-frozen"),
            KeeperError::EmptyCommand => message!("keeper-empty-command"),
            KeeperError::EndedAtOnce(error) => message!("keeper-ended-at-once", error = Message::from(error)),
            KeeperError::InvalidOrder(error) => message!("keeper-invalid-order", error = error.to_string()),
        }
    }
}

/// Reason why an order to the keeper failed.
#[derive(Debug)]
pub(super) enum OrderError {
    /// The keeper refused the order. Contains its reason, see [`KeeperError`].
    Refused(Message),
    KeeperEnded(io::Error),
}

impl From<&OrderError> for Message {
    fn from(error: &OrderError) -> Message {
        match error {
            OrderError::Refused(reason) => reason.clone(),
            OrderError::KeeperEnded(error) => message!("keeper-ended", error = Message::from(error)),
        }
    }
}

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

impl From<&MachineError> for Message {
    fn from(error: &MachineError) -> Message {
        match error {
            MachineError::Accounts(error) => {
                message!("error-of", subject = "/etc/passwd", error = Message::from(error))
            }
            MachineError::NoUser => message!("machine-no-user"),
            MachineError::NoScratchDirectory(tried) => {
                let tried: Vec<String> = tried.iter().map(|it| it.display().to_string()).collect();
                message!("machine-no-scratch", tried = tried.join(", "))
            }
            MachineError::NoCacheDirectory => message!("machine-no-cache"),
        }
    }
}
