//! Errors of reading and writing run files

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

/// Error in reading or writing a run file, with the path of the file.
#[derive(Debug)]
pub struct Error {
    pub path: PathBuf,
    pub cause: ErrorCause,
}

#[derive(Debug)]
pub enum ErrorCause {
    /// The name does not match `[a-z0-9-]{1,64}`.
    InvalidName(String),
    /// A system call failed.
    System { attempt: &'static str, error: io::Error },
    /// SQLite reported an error.
    Sqlite { attempt: &'static str, error: rusqlite::Error },
    /// The file does not belong to pgdyno.
    NotRunFile,
    /// The file is empty: its writer ended before it could write.
    Empty,
    /// The file was written by a later version of pgdyno.
    NewerVersion { version: i64 },
    /// The file contains impossible values.
    Damaged { what: String },
    /// A fact has an unknown kind or version, or its payload does not belong to its kind.
    UnreadableFact {
        /// Name of the kind.
        kind: String,
        /// Number of the trial; `None` for a fact of the whole run.
        trial: Option<u32>,
        reason: FactError,
        /// Version of pgdyno that created the file.
        program: String,
    },
    /// The schema contains an object that pgdyno does not create and that reading could execute.
    UnexpectedSchema { what: String },
    /// The file is in SQLite's write-ahead mode, in which reading creates further files next to it.
    WriteAhead,
    /// The file's journal refers to other files.
    HostileJournal,
    /// A value is longer than any that pgdyno writes.
    ValueTooLong,
    /// A query needs more memory than its limit.
    OutOfMemoryBudget,
    /// Reading needs more work than a file of this length can require.
    OutOfWorkBudget,
    /// No file has this name.
    NotFound,
    /// Another process is writing the file.
    Busy,
}

/// Reason why a fact cannot be read.
#[derive(Debug)]
pub enum FactError {
    UnknownKind,
    UnknownVersion {
        version: u32,
        /// Newest version of the kind that this pgdyno reads.
        newest: u32,
    },
    /// The payload does not belong to the kind.
    Payload(serde_json::Error),
}

impl Error {
    pub(crate) fn new(path: &Path, wrong: ErrorCause) -> Error {
        Error { path: path.to_owned(), cause: wrong }
    }

    pub(crate) fn system(path: &Path, attempt: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::new(path, ErrorCause::System { attempt, error })
    }

    pub(crate) fn sqlite(path: &Path, attempt: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
        move |error| Error::new(path, ErrorCause::from_sqlite(attempt, error))
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Error {
        Error::new(path, ErrorCause::Damaged { what: what.into() })
    }
}

impl ErrorCause {
    /// Maps SQLite's error codes to causes.
    fn from_sqlite(attempt: &'static str, error: rusqlite::Error) -> ErrorCause {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => ErrorCause::NotRunFile,
            Some(ErrorCode::TooBig) => ErrorCause::ValueTooLong,
            Some(ErrorCode::OperationInterrupted) => ErrorCause::OutOfWorkBudget,
            Some(ErrorCode::DatabaseCorrupt) => ErrorCause::Damaged { what: error.to_string() },
            _ => match error {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
                | rusqlite::Error::QueryReturnedNoRows => ErrorCause::Damaged { what: error.to_string() },
                error => ErrorCause::Sqlite { attempt, error },
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.cause {
            ErrorCause::InvalidName(name) => {
                write!(f, "\"{name}\" cannot name a run: it needs 1 to 64 of a-z, 0-9 and -")
            }
            ErrorCause::System { attempt, error } => write!(f, "could not {attempt} \"{path}\": {error}"),
            ErrorCause::Sqlite { attempt, error } => write!(f, "could not {attempt} \"{path}\": {error}"),
            ErrorCause::NotRunFile => write!(f, "\"{path}\" is not a run of pgdyno"),
            ErrorCause::Empty => {
                write!(f, "\"{path}\" is empty: pgdyno was ended before anything was measured")
            }
            ErrorCause::NewerVersion { version } => {
                let known = crate::VERSION;
                write!(f, "\"{path}\" has format {version}, and this pgdyno knows those up to {known}")
            }
            ErrorCause::Damaged { what } => write!(f, "\"{path}\" is damaged: {what}"),
            ErrorCause::UnreadableFact { kind, trial, reason, program } => {
                let of_trial = trial.map_or_else(String::new, |number| format!(" of trial {number}"));
                write!(
                    f,
                    "cannot read the fact \"{kind}\"{of_trial} in \"{path}\": {reason}; the file was created by \
                     pgdyno {program}: read it with that version, or restore an unchanged copy"
                )
            }
            ErrorCause::UnexpectedSchema { what } => write!(
                f,
                "\"{path}\" is not read: {what} in it is not as pgdyno makes it, and reading it could run a stranger's \
                 program; use the file only if you know who changed it, and remove that first"
            ),
            ErrorCause::WriteAhead => write!(
                f,
                "\"{path}\" is in SQLite's write-ahead mode, which another program set: \
                 undo it with  sqlite3 \"{path}\" \"PRAGMA journal_mode = delete\""
            ),
            ErrorCause::HostileJournal => write!(
                f,
                "\"{path}\" is not read: its journal \"{path}-journal\" is not one that pgdyno leaves, and taking it back \
                 could change other files; remove both, or the journal alone if you know where it comes from"
            ),
            ErrorCause::ValueTooLong => {
                let bound = crate::bounds::MAX_VALUE_BYTES >> 20;
                write!(f, "\"{path}\" holds a value of more than {bound} MiB, and pgdyno writes none so long")
            }
            ErrorCause::OutOfMemoryBudget => {
                let bound = crate::bounds::MAX_QUERY_MEMORY >> 30;
                write!(
                    f,
                    "\"{path}\" holds more of one kind than {bound} GiB of memory, and cannot be read at once"
                )
            }
            ErrorCause::OutOfWorkBudget => {
                write!(
                    f,
                    "\"{path}\" is damaged: reading it takes more work than a file of its length can need"
                )
            }
            ErrorCause::NotFound => write!(f, "there is no run \"{path}\""),
            ErrorCause::Busy => write!(f, "\"{path}\" is being written"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for FactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactError::UnknownKind => write!(f, "unknown kind"),
            FactError::UnknownVersion { version, newest } => {
                write!(f, "version {version}, but this pgdyno reads versions up to {newest}")
            }
            FactError::Payload(error) => write!(f, "{error}"),
        }
    }
}
