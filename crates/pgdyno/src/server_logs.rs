//! Arguments of the commands that read a server's logs

use crate::cli::CommandError;
use crate::files;
use crate::recording;
use clap::Args;
use flate2::read::MultiGzDecoder;
use model::message;
use model::message::Message;
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use traffic::log::{LogFormat, Prefix};
use traffic::recording::MAGIC;
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
        let prefix = self.log_line_prefix.as_deref();
        let prefix = prefix.map(Prefix::new).transpose().map_err(CommandError::new)?;
        let mut traffic = Traffic::default();
        for log in &self.logs {
            read_log(log, prefix.as_ref(), &mut traffic).map_err(|reason| {
                CommandError::new(message!("distil-log", path = log.display().to_string(), reason))
            })?;
        }
        let malformed = traffic.skipped.iter().find(|it| it.kind == SkipKind::Malformed);
        if 2 * malformed.map_or(0, |it| it.count) > traffic.entries {
            let skipped = Message::join(traffic.skipped.iter().map(Message::from));
            return Err(CommandError::new(message!("distil-wrong-format", skipped)));
        }
        if traffic.statements() == 0 {
            let skipped = Message::join(traffic.skipped.iter().map(Message::from));
            return Err(CommandError::new(message!("distil-no-statement", skipped)));
        }
        select_database(&mut traffic, self.database.as_deref())?;
        Ok(traffic)
    }
}

/// Reads one log, whose format is detected if no prefix is given or if it is not of the format stderr.
fn read_log(path: &Path, prefix: Option<&Prefix>, traffic: &mut Traffic) -> Result<(), Message> {
    let of_file = |error: &io::Error| Message::of_file(path, error);
    let source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => Box::new(files::open(path).map_err(|error| of_file(&error))?),
    };
    let mut source = BufReader::with_capacity(HEAD, source);
    let head = source.fill_buf().map_err(|error| of_file(&error))?;
    if head.starts_with(MAGIC) {
        traffic::recording::decode(&recording::open(path)?, traffic);
        return Ok(());
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
    traffic::log::read(source, &format, traffic)
}

/// Keeps the sessions of one database. Without a name, all sessions must have the same database.
fn select_database(traffic: &mut Traffic, name: Option<&str>) -> Result<(), CommandError> {
    if let Some(name) = name {
        traffic.sessions.retain(|session| session.database.as_deref() == Some(name));
        if traffic.statements() == 0 {
            return Err(CommandError::usage(message!("distil-no-database", database = name)));
        }
    }
    let busy = traffic.sessions.iter().filter(|session| !session.statements.is_empty());
    let databases: BTreeSet<&str> = busy.filter_map(|session| session.database.as_deref()).collect();
    if databases.len() > 1 {
        let databases = databases.into_iter().collect::<Vec<_>>().join(", ");
        return Err(CommandError::usage(message!("distil-several-databases", databases)));
    }
    Ok(())
}
