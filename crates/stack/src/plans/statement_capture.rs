//! Captures the statements that a server executes, with their values
//!
//! During the capture the server logs every statement. Logging costs time, so no measurement runs during the capture.
//! Afterwards the log is truncated to its previous length, because users' values are confidential.

use crate::client::{Connection, Error, Target};
use crate::log_parser::{LoggedStatement, parse_logged_statements};
use model::message;
use model::message::Message;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of bytes of the log to read.
const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;
/// Timeout for a change of settings, and for the marker to appear in the log.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Server that logs all statements until [`StatementCapture::finish`]; dropping it stops the logging.
#[derive(Debug)]
pub struct StatementCapture {
    connection: Connection,
    log: PathBuf,
    start_offset: u64,
    /// Process id of this session's server process.
    pid: u32,
    active: bool,
}

/// Reason why a capture failed.
#[derive(Debug)]
pub enum CaptureError {
    Client(Error),
    Log {
        path: PathBuf,
        error: io::Error,
    },
    /// The server did not apply `log_min_duration_statement` in time.
    SettingTimeout,
    /// The captured statements did not arrive in the log in time.
    LogTimeout,
}

impl StatementCapture {
    /// Starts the capture. `superuser` is a login to a server that pgdyno started; `log` is the path of its log.
    pub fn start(superuser: &Target, log: &Path) -> Result<StatementCapture, CaptureError> {
        let mut connection = superuser.open(REQUEST_TIMEOUT)?;
        connection.query("set application_name = 'pgdyno plans'")?;
        let pid = connection.value("select pg_backend_pid()")?.and_then(|it| it.parse().ok()).unwrap_or(0);
        let from =
            std::fs::metadata(log).map_err(|error| CaptureError::Log { path: log.to_owned(), error })?.len();
        let mut listening =
            StatementCapture { connection, log: log.to_owned(), start_offset: from, pid, active: true };
        // ALTER SYSTEM cannot run in a transaction, and two statements sent together are one transaction.
        listening.connection.query("alter system set log_min_duration_statement = 0")?;
        listening.reload_setting("0")?;
        Ok(listening)
    }

    /// Stops the capture and returns all statements that the server logged during it.
    pub fn finish(mut self) -> Result<Vec<LoggedStatement>, CaptureError> {
        // The server logs the marker after all statements that ended before the marker.
        let mark = format!("pgdyno heard until {}", self.start_offset);
        self.connection.query(&format!("select '{mark}'"))?;
        let begun = Instant::now();
        let text = loop {
            let text = self.read()?;
            if text.contains(&mark) {
                break text;
            }
            if begun.elapsed() > REQUEST_TIMEOUT {
                return Err(CaptureError::LogTimeout);
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        self.stop()?;
        let mut all = parse_logged_statements(&text);
        all.retain(|it| it.pid != self.pid);
        Ok(all)
    }

    fn stop(&mut self) -> Result<(), CaptureError> {
        self.active = false;
        self.connection.query("alter system reset log_min_duration_statement")?;
        self.connection.query("select pg_reload_conf()")?;
        // Servers append to the log, so new lines follow the remaining part.
        let cut = File::options().write(true).open(&self.log).and_then(|it| it.set_len(self.start_offset));
        cut.map_err(|error| CaptureError::Log { path: self.log.clone(), error })
    }

    /// Waits until this session shows the value. Sessions that are opened afterwards have the same value.
    fn reload_setting(&mut self, value: &str) -> Result<(), CaptureError> {
        self.connection.query("select pg_reload_conf()")?;
        let begun = Instant::now();
        while self.connection.value("show log_min_duration_statement")?.as_deref() != Some(value) {
            if begun.elapsed() > REQUEST_TIMEOUT {
                return Err(CaptureError::SettingTimeout);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    fn read(&self) -> Result<String, CaptureError> {
        let mut bytes = Vec::new();
        let read = File::open(&self.log).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.start_offset))?;
            file.take(MAX_LOG_BYTES).read_to_end(&mut bytes)
        });
        read.map_err(|error| CaptureError::Log { path: self.log.clone(), error })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for StatementCapture {
    fn drop(&mut self) {
        if self.active {
            // Ignore errors: a server that does not respond is shutting down.
            let _ = self.stop();
        }
    }
}

impl From<Error> for CaptureError {
    fn from(error: Error) -> CaptureError {
        CaptureError::Client(error)
    }
}

impl From<&CaptureError> for Message {
    fn from(error: &CaptureError) -> Message {
        match error {
            CaptureError::Client(error) => error.into(),
            CaptureError::Log { path, error } => Message::of_file(path, error),
            CaptureError::SettingTimeout => message!("capture-setting-timeout"),
            CaptureError::LogTimeout => message!("capture-log-timeout"),
        }
    }
}
