//! Errors in reading and writing run files

use model::message;
use model::message::Message;
use std::io;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

/// Error in reading or writing a run file, with the path of the file.
#[derive(Debug)]
pub struct Error {
    pub path: PathBuf,
    pub cause: ErrorCause,
}

/// Operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    RequestStop,
    /// Begin a ledger.
    Begin,
    Find,
    Resume,
    List,
    Create,
    Open,
    Read,
    Remove,
    /// Start the thread that writes the file.
    StartThread,
    /// Reserve disk space.
    Reserve,
    Write,
}

#[derive(Debug)]
pub enum ErrorCause {
    /// The name does not match `[a-z0-9-]{1,64}`.
    InvalidName(String),
    /// A system call failed.
    System { attempt: Attempt, error: io::Error },
    /// SQLite reported an error.
    Sqlite { attempt: Attempt, error: rusqlite::Error },
    /// The file does not belong to pgdyno.
    NotRunFile,
    /// The file is empty, because its writer ended before it wrote anything.
    Empty,
    /// The file was written by a later version of pgdyno.
    NewerVersion { version: i64 },
    /// The file contains impossible values.
    Damaged(Message),
    /// A fact has an unknown kind or version, or a payload that is invalid for its kind.
    UnreadableFact {
        /// Name of the fact's kind.
        kind: String,
        /// Number of the trial; `None` for a fact of the whole run.
        trial: Option<u32>,
        reason: FactError,
        /// Version of pgdyno that created the file.
        program: String,
    },
    /// The schema contains an object that pgdyno does not create and that SQLite could execute when it reads the file.
    UnexpectedSchema(Message),
    /// The file is in SQLite's write-ahead mode, in which reading a file creates further files next to it.
    WriteAhead,
    /// The file's journal refers to other files.
    HostileJournal,
    /// A value is longer than any value that pgdyno writes.
    ValueTooLong,
    /// The rows of a query exceed the memory limit of a query.
    OutOfMemoryBudget,
    /// Reading the file takes more work than any valid file of this length requires.
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
        /// Newest version of the kind that this version of pgdyno can read.
        newest: u32,
    },
    /// The payload is invalid for the kind.
    Payload(serde_json::Error),
}

impl Error {
    pub(crate) fn new(path: &Path, wrong: ErrorCause) -> Error {
        Error { path: path.to_owned(), cause: wrong }
    }

    pub(crate) fn system(path: &Path, attempt: Attempt) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::new(path, ErrorCause::System { attempt, error })
    }

    pub(crate) fn sqlite(path: &Path, attempt: Attempt) -> impl FnOnce(rusqlite::Error) -> Error {
        move |error| Error::new(path, ErrorCause::from_sqlite(attempt, error))
    }

    pub(crate) fn damaged(path: &Path, damage: Message) -> Error {
        Error::new(path, ErrorCause::Damaged(damage))
    }

    /// Error for an impossible value. `place` is a table or `table.column`; `trial` is the number of the trial.
    pub(crate) fn impossible(path: &Path, place: &str, trial: Option<u32>) -> Error {
        let trial = trial.map(|number| number.to_string());
        Error::damaged(path, message!("store-damage-value", place, trial))
    }
}

impl ErrorCause {
    /// Maps SQLite's error codes to causes.
    fn from_sqlite(attempt: Attempt, error: rusqlite::Error) -> ErrorCause {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => ErrorCause::NotRunFile,
            Some(ErrorCode::TooBig) => ErrorCause::ValueTooLong,
            Some(ErrorCode::OperationInterrupted) => ErrorCause::OutOfWorkBudget,
            Some(ErrorCode::DatabaseCorrupt) => {
                ErrorCause::Damaged(message!("error-quoted", text = error.to_string()))
            }
            _ => match error {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
                | rusqlite::Error::QueryReturnedNoRows => {
                    ErrorCause::Damaged(message!("error-quoted", text = error.to_string()))
                }
                error => ErrorCause::Sqlite { attempt, error },
            },
        }
    }
}

impl From<&Error> for Message {
    fn from(Error { path, cause }: &Error) -> Message {
        let path = path.display().to_string();
        match cause {
            ErrorCause::InvalidName(name) => message!("store-invalid-name", name),
            ErrorCause::System { attempt, error } => {
                message!(
                    "store-attempt-failed",
                    attempt = attempt.message(path),
                    error = Message::from(error)
                )
            }
            ErrorCause::Sqlite { attempt, error } => {
                let error = message!("error-quoted", text = error.to_string());
                message!("store-attempt-failed", attempt = attempt.message(path), error)
            }
            ErrorCause::NotRunFile => message!("store-not-run", path),
            ErrorCause::Empty => message!("store-empty", path),
            ErrorCause::NewerVersion { version } => {
                let (version, known) = (version.to_string(), crate::VERSION.to_string());
                message!("store-newer-version", path, version, known)
            }
            ErrorCause::Damaged(damage) => message!("store-damaged", path, damage),
            ErrorCause::UnreadableFact { kind, trial, reason, program } => {
                let (trial, reason) = (trial.map(|number| number.to_string()), Message::from(reason));
                message!("store-unreadable-fact", kind, trial, path, reason, program)
            }
            ErrorCause::UnexpectedSchema(object) => message!("store-unexpected-schema", path, object),
            ErrorCause::WriteAhead => message!("store-write-ahead", path),
            ErrorCause::HostileJournal => message!("store-hostile-journal", path),
            ErrorCause::ValueTooLong => {
                message!("store-value-too-long", path, mebibytes = crate::bounds::MAX_VALUE_BYTES >> 20)
            }
            ErrorCause::OutOfMemoryBudget => {
                message!("store-out-of-memory", path, gibibytes = crate::bounds::MAX_QUERY_MEMORY >> 30)
            }
            ErrorCause::OutOfWorkBudget => {
                message!("store-damaged", path, damage = message!("store-damage-work"))
            }
            ErrorCause::NotFound => message!("store-not-found", path),
            ErrorCause::Busy => message!("store-busy", path),
        }
    }
}

impl From<&FactError> for Message {
    fn from(error: &FactError) -> Message {
        match error {
            FactError::UnknownKind => message!("store-fact-unknown-kind"),
            FactError::UnknownVersion { version, newest } => {
                message!("store-fact-version", version = version.to_string(), newest = newest.to_string())
            }
            FactError::Payload(error) => message!("error-quoted", text = error.to_string()),
        }
    }
}

impl Attempt {
    fn message(self, path: String) -> Message {
        match self {
            Attempt::RequestStop => message!("store-attempt-request-stop", path),
            Attempt::Begin => message!("store-attempt-begin", path),
            Attempt::Find => message!("store-attempt-find", path),
            Attempt::Resume => message!("store-attempt-resume", path),
            Attempt::List => message!("store-attempt-list", path),
            Attempt::Create => message!("store-attempt-create", path),
            Attempt::Open => message!("store-attempt-open", path),
            Attempt::Read => message!("store-attempt-read", path),
            Attempt::Remove => message!("store-attempt-remove", path),
            Attempt::StartThread => message!("store-attempt-start-thread", path),
            Attempt::Reserve => message!("store-attempt-reserve", path),
            Attempt::Write => message!("store-attempt-write", path),
        }
    }
}
