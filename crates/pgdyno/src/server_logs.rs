//! Arguments of the commands that read a server's logs

use crate::cli::CommandError;
use crate::files;
use crate::recording::{self, RecordingFileWriter};
use clap::Args;
use flate2::read::MultiGzDecoder;
use model::message;
use model::message::Message;
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use traffic::log::{Consumer, LogFormat, Prefix};
use traffic::recording::{LogConverter, MAGIC};
use traffic::{SkipKind, Traffic};

#[derive(Clone, Debug, Args)]
pub struct LogArgs {
    /// Logs of one server, in the order of time: csvlog, jsonlog or stderr, also compressed with gzip; - reads standard
    /// input. A recording instead of logs is read too
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// log_line_prefix of the server, for logs of the format stderr [default: detected]
    #[arg(long, value_name = "PREFIX")]
    log_line_prefix: Option<String>,
    /// Use only the statements of this database
    #[arg(long, value_name = "NAME")]
    database: Option<String>,
}

/// Size of the beginning of a log from which its format is detected, in bytes.
const HEAD: usize = 256 * 1024;

impl LogArgs {
    /// Names of the logs, separated by commas.
    pub fn names(&self) -> String {
        let names: Vec<String> = self.logs.iter().map(|it| it.display().to_string()).collect();
        names.join(", ")
    }

    /// Sessions of one database, with at least one statement.
    pub fn read(&self) -> Result<Traffic, CommandError> {
        let mut traffic = self.read_in_batches(&mut |_| Ok(()))?;
        check_statements(&traffic, traffic.statements() as u64)?;
        let busy = traffic.sessions.iter().filter(|session| !session.statements.is_empty());
        let databases = busy.filter_map(|session| session.database.clone()).collect();
        let name = self.database.as_deref();
        check_databases(&databases, name)?;
        traffic.sessions.retain(|session| name.is_none() || session.database.as_deref() == name);
        Ok(traffic)
    }

    /// Writes the sessions of one database to a recording, and returns the traffic without its statements. The memory that this
    /// takes does not grow with the length of the logs.
    ///
    /// # Errors
    /// The outer error is that of the logs, the inner one that of the recording.
    pub fn record(
        &self,
        recording: &mut RecordingFileWriter,
    ) -> Result<Result<Traffic, io::Error>, CommandError> {
        let mut converter = LogConverter::new(self.database.clone());
        let mut failed = None;
        let result = self.read_in_batches(&mut |traffic| {
            converter.convert(traffic, recording).map_err(|error| {
                let message = Message::from(&error);
                failed = Some(error);
                message
            })
        });
        if let Some(error) = failed {
            return Ok(Err(error));
        }
        let mut traffic = result?;
        if let Err(error) = converter.finish(&mut traffic, recording) {
            return Ok(Err(error));
        }
        check_statements(&traffic, converter.statements())?;
        check_databases(converter.databases(), self.database.as_deref())?;
        Ok(Ok(traffic))
    }

    /// Reads the logs, and passes the traffic to `consumer` from time to time.
    fn read_in_batches(&self, consumer: Consumer<'_>) -> Result<Traffic, CommandError> {
        let prefix = self.log_line_prefix.as_deref();
        let prefix = prefix.map(Prefix::new).transpose().map_err(CommandError::new)?;
        let mut traffic = Traffic::default();
        for log in &self.logs {
            read_log(log, prefix.as_ref(), &mut traffic, consumer).map_err(|reason| {
                CommandError::new(message!("distil-log", path = log.display().to_string(), reason))
            })?;
        }
        let malformed = traffic.skipped.iter().find(|it| it.kind == SkipKind::Malformed);
        if 2 * malformed.map_or(0, |it| it.count) > traffic.entries {
            return Err(CommandError::new(message!("distil-wrong-format", skipped = skipped(&traffic))));
        }
        Ok(traffic)
    }
}

/// Skipped entries, as one text.
fn skipped(traffic: &Traffic) -> Option<Message> {
    Message::join(traffic.skipped.iter().map(Message::from))
}

/// Returns an error if no statement was read.
fn check_statements(traffic: &Traffic, statements: u64) -> Result<(), CommandError> {
    match statements {
        0 => Err(CommandError::new(message!("distil-no-statement", skipped = skipped(traffic)))),
        _ => Ok(()),
    }
}

/// Returns an error if the statements have another database than the given one, or several databases if none is given.
fn check_databases(databases: &BTreeSet<String>, name: Option<&str>) -> Result<(), CommandError> {
    match name {
        Some(name) if !databases.contains(name) => {
            Err(CommandError::usage(message!("distil-no-database", database = name)))
        }
        None if databases.len() > 1 => {
            let databases: Vec<&str> = databases.iter().map(String::as_str).collect();
            let databases = databases.join(", ");
            Err(CommandError::usage(message!("distil-several-databases", databases)))
        }
        _ => Ok(()),
    }
}

/// Reads one log, whose format is detected if no prefix is given or if it is not of the format stderr.
fn read_log(
    path: &Path,
    prefix: Option<&Prefix>,
    traffic: &mut Traffic,
    consumer: Consumer<'_>,
) -> Result<(), Message> {
    let of_file = |error: &io::Error| Message::of_file(path, error);
    let source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => Box::new(files::open(path).map_err(|error| of_file(&error))?),
    };
    let mut source = BufReader::with_capacity(HEAD, source);
    let head = source.fill_buf().map_err(|error| of_file(&error))?;
    if head.starts_with(MAGIC) {
        return traffic::recording::decode(&recording::open(path)?, traffic, consumer);
    }
    let is_gzip = head.starts_with(&[0x1f, 0x8b]);
    let source: Box<dyn Read> =
        if is_gzip { Box::new(MultiGzDecoder::new(source)) } else { Box::new(source) };
    let mut source = BufReader::with_capacity(HEAD, source);
    let head = source.fill_buf().map_err(|error| of_file(&error))?;
    let format = match (traffic::log::detect(head), prefix) {
        (Some(format @ (LogFormat::Csv | LogFormat::Json)), _) => format,
        (_, Some(prefix)) => LogFormat::Stderr(prefix.clone()),
        (Some(format), None) => format,
        (None, None) => return Err(message!("distil-unknown-format")),
    };
    traffic::log::read_in_batches(source, &format, traffic, consumer)
}
