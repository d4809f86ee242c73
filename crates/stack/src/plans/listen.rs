//! Which statements does a server of ours get to hear, with which values?
//!
//! While we listen, it writes every statement to its log. That costs it time: nobody measures meanwhile. Afterwards the log
//! is cut to what it was, since values of users are nobody's business.

use crate::ask::{Connection, Error, Target};
use crate::loglines::{Heard, heard};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No more of a log is read.
const MOST: u64 = 64 * 1024 * 1024;
/// A server that has not done what it was asked by then does not do it.
const PATIENCE: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(5);

/// A server that writes down what it hears, until [`Listening::finish`]; dropped, it stops writing.
#[derive(Debug)]
pub struct Listening {
    connection: Connection,
    log: PathBuf,
    from: u64,
    /// Of the server's process that serves us.
    pid: u32,
    on: bool,
}

/// Why nothing can be heard.
#[derive(Debug)]
pub enum Why {
    Ask(Error),
    Log {
        path: PathBuf,
        error: io::Error,
    },
    /// The server did not take the setting, or its log did not come.
    Late(&'static str),
}

impl Listening {
    /// `superuser` of a server that we started, whose log lies at `log`.
    pub fn start(superuser: &Target, log: &Path) -> Result<Listening, Why> {
        let mut connection = superuser.open(PATIENCE)?;
        connection.query("set application_name = 'pgdyno plans'")?;
        let pid = connection.value("select pg_backend_pid()")?.and_then(|it| it.parse().ok()).unwrap_or(0);
        let from = std::fs::metadata(log).map_err(|error| Why::Log { path: log.to_owned(), error })?.len();
        let mut listening = Listening { connection, log: log.to_owned(), from, pid, on: true };
        // It cannot stand in a transaction, and two statements sent as one are one.
        listening.connection.query("alter system set log_min_duration_statement = 0")?;
        listening.reload("0", "does not take log_min_duration_statement")?;
        Ok(listening)
    }

    /// What it has heard since.
    pub fn finish(mut self) -> Result<Vec<Heard>, Why> {
        // Written after everything that ended before.
        let mark = format!("pgdyno heard until {}", self.from);
        self.connection.query(&format!("select '{mark}'"))?;
        let begun = Instant::now();
        let text = loop {
            let text = self.read()?;
            if text.contains(&mark) {
                break text;
            }
            if begun.elapsed() > PATIENCE {
                return Err(Why::Late("does not write what it hears to its log"));
            }
            std::thread::sleep(AGAIN);
        };
        self.stop()?;
        let mut all = heard(&text);
        all.retain(|it| it.pid != self.pid);
        Ok(all)
    }

    fn stop(&mut self) -> Result<(), Why> {
        self.on = false;
        self.connection.query("alter system reset log_min_duration_statement")?;
        self.connection.query("select pg_reload_conf()")?;
        // Servers append: what is cut off stays off, and what comes is written behind.
        let cut = File::options().write(true).open(&self.log).and_then(|it| it.set_len(self.from));
        cut.map_err(|error| Why::Log { path: self.log.clone(), error })
    }

    /// Until this session shows the value, and thereby every session that is opened from now on.
    fn reload(&mut self, value: &str, late: &'static str) -> Result<(), Why> {
        self.connection.query("select pg_reload_conf()")?;
        let begun = Instant::now();
        while self.connection.value("show log_min_duration_statement")?.as_deref() != Some(value) {
            if begun.elapsed() > PATIENCE {
                return Err(Why::Late(late));
            }
            std::thread::sleep(AGAIN);
        }
        Ok(())
    }

    fn read(&self) -> Result<String, Why> {
        let mut bytes = Vec::new();
        let read = File::open(&self.log).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.from))?;
            file.take(MOST).read_to_end(&mut bytes)
        });
        read.map_err(|error| Why::Log { path: self.log.clone(), error })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.on {
            // Its end is near anyway if it does not answer.
            let _ = self.stop();
        }
    }
}

impl From<Error> for Why {
    fn from(it: Error) -> Why {
        Why::Ask(it)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Ask(it) => it.fmt(f),
            Why::Log { path, error } => write!(f, "{}: {error}", path.display()),
            Why::Late(what) => write!(f, "the server {what}"),
        }
    }
}
