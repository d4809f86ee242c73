//! Blocking query client for PostgreSQL
//!
//! Set-up, probes and loading use this client; the measured load does not. The client uses a channel of the crate
//! `wire`.

mod error;
mod stream;

pub use error::{Error, ServerError};
pub use stream::Address;

use crate::interrupt;
use error::ANSWER_MAX;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::Stream;
use wire::pg::compile::{SqlPiece, parse, simple, sync};
use wire::pg::{Channel, Encryption, Event, Login, Transport, copy_data, copy_done, copy_fail};
use wire::tls::TlsInfo;
use wire::{HostName, TemplateBuilder};

/// Address of a server, with a login.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: Address,
    /// Host name, if the address may change: connections go to its current address.
    pub host: Option<HostName>,
    pub login: Arc<Login>,
}

/// Session that runs one query at a time.
///
/// A signal to pgdyno interrupts a session that waits, see [`interrupt`]: the session cancels its running statement and
/// returns [`Error::Stopped`]. Behind a pooler, the session is only closed, because a cancel request might reach a
/// statement of another session.
#[derive(Debug)]
pub struct Connection {
    address: Address,
    stream: Stream,
    channel: Channel,
    /// Received bytes; bytes from `consumed` on are not parsed yet.
    received: Vec<u8>,
    consumed: usize,
    /// Timeout for a complete response; `None` for no timeout.
    timeout: Option<Duration>,
    /// True while a statement has no complete response.
    busy: bool,
    /// Total size of `notices`, bytes.
    notice_bytes: usize,
    /// Notices of the server since [`Connection::open`], as `SEVERITY:  message`.
    pub notices: Vec<String>,
}

/// Result of one statement, or of the last statement of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryResult {
    pub columns: Vec<String>,
    /// Values in text form; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Command tag, such as `SELECT 1`.
    pub tag: String,
}

/// Timeout for each step of cancelling a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(300);
/// Maximum number of steps of cancelling a statement.
const CANCEL_ROUNDS: usize = 16;
/// Timeout for the response to a cancelled statement.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum size of the stored notices, bytes; further notices are dropped.
const NOTICES_MAX: usize = 1 << 20;

/// Event for which the client receives bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AwaitedEvent {
    Opened,
    Ready,
    CopyIn,
}

impl Target {
    /// Server at an address that does not change.
    pub fn new(address: Address, login: Arc<Login>) -> Target {
        Target { address, host: None, login }
    }

    /// Address to which a connection goes now.
    fn current_address(&self) -> Address {
        self.host.as_ref().map_or_else(|| self.address.clone(), |host| Address::Tcp(host.address()))
    }

    /// Returns this server and login, with another database.
    pub fn in_database(&self, database: &str) -> Target {
        let mut login = Login::clone(&self.login);
        database.clone_into(&mut login.database);
        Target { login: Arc::new(login), ..self.clone() }
    }

    /// Connects and logs in. `timeout` limits the login, and afterwards each complete response. A COPY may take longer
    /// if each row arrives within `timeout`.
    pub fn open(&self, timeout: Duration) -> Result<Connection, Error> {
        Connection::open(self, timeout)
    }
}

impl Connection {
    pub fn open(target: &Target, timeout: Duration) -> Result<Connection, Error> {
        let (mut connection, first) = Connection::open_once(target, timeout, None)?;
        match (first, connection.channel.second_attempt()) {
            (Ok(()), _) => Ok(connection),
            (Err(error), None) => Err(error),
            // `sslmode` allows a second attempt: with TLS after an attempt without TLS, or the reverse.
            (Err(_), Some(encryption)) => {
                let (again, second) = Connection::open_once(target, timeout, Some(encryption))?;
                connection = again;
                second.map(|()| connection)
            }
        }
    }

    /// Connects and tries to log in. The channel decides whether a second attempt is allowed.
    fn open_once(
        target: &Target,
        timeout: Duration,
        encryption: Option<Encryption>,
    ) -> Result<(Connection, Result<(), Error>), Error> {
        let address = target.current_address();
        let net = |error| Error::net(&address, error);
        let stream = Stream::connect(&address, timeout).map_err(net)?;
        let transport = match stream {
            Stream::Unix(_) => Transport::Unix,
            Stream::Tcp(_) => Transport::Tcp,
        };
        let mut channel = Channel::new(Arc::clone(&target.login), transport, nonce().map_err(net)?);
        match encryption {
            Some(it) => channel.open_with(it),
            None => channel.open(),
        }
        let mut connection = Connection {
            address,
            stream,
            channel,
            received: Vec::new(),
            consumed: 0,
            timeout: Some(timeout),
            busy: false,
            notice_bytes: 0,
            notices: Vec::new(),
        };
        let result = connection.exchange(AwaitedEvent::Opened, &mut QueryResult::default());
        Ok((connection, result))
    }

    /// Sets the timeout of a response; `None` for no timeout. The initial value is the timeout of `open`.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Runs SQL by the simple protocol: one statement, or several in one implicit transaction.
    pub fn query(&mut self, sql: &str) -> Result<QueryResult, Error> {
        self.send_query(sql)?;
        let mut answer = QueryResult::default();
        self.exchange(AwaitedEvent::Ready, &mut answer)?;
        Ok(answer)
    }

    /// Prepares one statement as the unnamed statement, without executing it. The server checks its syntax, names and
    /// types, and derives the types of its parameters `$1 …`.
    pub fn prepare(&mut self, sql: &[u8]) -> Result<(), Error> {
        self.send(|message| {
            parse(message, "", sql);
            sync(message);
        })?;
        self.exchange(AwaitedEvent::Ready, &mut QueryResult::default())
    }

    /// Returns the first value of the first row; `None` if there is no row or the value is NULL.
    pub fn value(&mut self, sql: &str) -> Result<Option<String>, Error> {
        let answer = self.query(sql)?;
        Ok(answer.rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// Starts `COPY … FROM STDIN`. Send its rows with [`CopyIn::send`] and end it with [`CopyIn::finish`].
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, Error> {
        self.send_query(sql)?;
        self.exchange(AwaitedEvent::CopyIn, &mut QueryResult::default())?;
        Ok(CopyIn { connection: self, finished: false })
    }

    /// Runs `COPY … TO STDOUT`. Passes each row to `take` in COPY's format with its line feed, and stores none. Returns
    /// the number of rows.
    pub fn copy_out(&mut self, sql: &str, take: &mut dyn FnMut(&[u8])) -> Result<u64, Error> {
        self.send_query(sql)?;
        let mut answer = QueryResult::default();
        self.exchange_rows(AwaitedEvent::Ready, &mut answer, take)?;
        Ok(copied_rows(&answer))
    }

    /// Value of a parameter such as `server_version`, if the server reported it and the login keeps parameters.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.channel.parameter(name)
    }

    /// `server_version_num`, such as 150018; 0 if the server does not report it.
    pub fn server_version(&mut self) -> u32 {
        let version = self.value("show server_version_num").ok().flatten();
        version.and_then(|it| it.parse().ok()).unwrap_or(0)
    }

    /// True if the peer is PostgreSQL itself, not a pooler: the process id in its cancel key is that of the backend.
    ///
    /// False if the peer sends no cancel key, or an error. If true, this session may cancel its statements from now on.
    pub fn detect_direct(&mut self) -> bool {
        let Some((pid, _)) = self.channel.backend() else { return false };
        let direct = self.value("select pg_backend_pid()").ok().flatten() == Some(pid.to_string());
        if direct {
            self.channel.allow_cancel();
        }
        direct
    }

    /// TLS parameters of the connection; `None` without TLS.
    pub fn protection(&self) -> Option<TlsInfo> {
        self.channel.protection()
    }

    fn send_query(&mut self, sql: &str) -> Result<(), Error> {
        self.send(|message| simple(message, &[SqlPiece::Text(sql.as_bytes())]))
    }

    /// Queues the messages that `write` appends.
    fn send(&mut self, write: impl FnOnce(&mut TemplateBuilder)) -> Result<(), Error> {
        if interrupt::is_interrupted() {
            return Err(Error::Stopped);
        }
        // The next response would be that of the earlier request, which was given up.
        if self.busy {
            return Err(self.net_error(io::ErrorKind::TimedOut.into()));
        }
        let mut message = TemplateBuilder::default();
        write(&mut message);
        let message = message.build();
        self.busy = true;
        self.channel.set_watched(true);
        self.channel.request(|out| {
            message.render(out, |_, _| true);
        });
        Ok(())
    }

    fn net_error(&self, error: io::Error) -> Error {
        Error::net(&self.address, error)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.channel.outgoing().is_empty() {
            return Ok(());
        }
        self.stream.set_timeout(interrupt::longest_wait(self.timeout)).map_err(|it| self.net_error(it))?;
        let begun = Instant::now();
        while !self.channel.outgoing().is_empty() {
            match self.stream.write(self.channel.outgoing()) {
                Ok(0) => return Err(self.net_error(io::ErrorKind::WriteZero.into())),
                Ok(n) => self.channel.sent(n),
                Err(it) if it.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock
                        && !interrupt::is_interrupted()
                        && self.timeout.is_none_or(|timeout| begun.elapsed() < timeout) => {}
                Err(it) => return Err(self.net_error(it)),
            }
        }
        Ok(())
    }

    fn exchange(&mut self, awaited: AwaitedEvent, answer: &mut QueryResult) -> Result<(), Error> {
        self.exchange_rows(awaited, answer, &mut |_| {})
    }

    /// Sends queued bytes and receives until the awaited event. After an error of the server, waits for `Ready`, so
    /// that the session stays usable. Passes the rows of a COPY to `take`.
    fn exchange_rows(
        &mut self,
        awaited: AwaitedEvent,
        answer: &mut QueryResult,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        let mut refusal: Option<ServerError> = None;
        let mut size = 0;
        let mut begun = Instant::now();
        let mut cancelled = None;
        loop {
            self.flush()?;
            let mut input = &self.received[self.consumed..];
            let event = self.channel.receive(&mut input);
            let more = matches!(event, Ok(Event::More));
            let done = match event.map_err(Error::Protocol)? {
                Event::Opened => awaited == AwaitedEvent::Opened,
                Event::CopyIn if awaited == AwaitedEvent::CopyIn => true,
                // The caller has no rows for this COPY. End the COPY, because the server would wait for rows.
                Event::CopyIn => {
                    self.consumed = self.received.len() - input.len();
                    self.channel.request(|out| copy_fail(out, "the client has no rows for this COPY"));
                    continue;
                }
                Event::Ready(_) => {
                    self.busy = false;
                    true
                }
                Event::Columns(columns) => {
                    answer.columns = columns.iter().map(|it| lossy(it.name)).collect();
                    answer.rows.clear();
                    false
                }
                Event::Row(row) => {
                    size += row
                        .iter()
                        .map(|it| size_of::<Option<String>>() + it.map_or(0, <[u8]>::len))
                        .sum::<usize>();
                    if size > ANSWER_MAX {
                        return Err(Error::TooLong { address: self.address.clone() });
                    }
                    answer.rows.push(row.iter().map(|it| it.map(lossy)).collect());
                    false
                }
                Event::CommandComplete(tag) => {
                    answer.tag = lossy(tag);
                    false
                }
                Event::Error(notice) => {
                    let ends = awaited == AwaitedEvent::Opened || notice.is_fatal();
                    refusal.get_or_insert_with(|| ServerError::from_notice(&notice));
                    ends
                }
                Event::Notice(notice) => {
                    let text = format!("{}:  {}", notice.severity(), notice.message());
                    self.notice_bytes += text.len();
                    if self.notice_bytes <= NOTICES_MAX {
                        self.notices.push(text);
                    }
                    false
                }
                Event::CopyData(row) => {
                    take(row);
                    begun = Instant::now();
                    false
                }
                Event::More => false,
            };
            self.consumed = self.received.len() - input.len();
            if done {
                return match refusal {
                    Some(_) if cancelled.is_some() => Err(Error::Stopped),
                    Some(it) => Err(Error::Server(it)),
                    None => Ok(()),
                };
            }
            let left = self.timeout.map(|it| it.saturating_sub(begun.elapsed()));
            if left.is_some_and(|it| it.is_zero()) {
                return Err(self.net_error(io::ErrorKind::WouldBlock.into()));
            }
            if more {
                if interrupt::is_interrupted() {
                    let deadline = *cancelled
                        .get_or_insert_with(|| self.cancel().map(|()| Instant::now() + STOP_TIMEOUT));
                    if deadline.is_none_or(|it| Instant::now() >= it) {
                        return Err(Error::Stopped);
                    }
                }
                self.receive(left)?;
            }
        }
    }

    /// Asks the server to cancel the running statement; `None` if the server has not read the request.
    fn cancel(&self) -> Option<()> {
        let mut channel = self.channel.cancel_channel()?;
        let connect = || Stream::connect(&self.address, CANCEL_TIMEOUT);
        let mut stream = interrupt::without_interrupt(connect).ok()?;
        stream.set_timeout(Some(CANCEL_TIMEOUT)).ok()?;
        channel.open();
        let mut buffer = [0; 1024];
        // A TLS handshake takes several rounds of sending and receiving.
        for _ in 0..CANCEL_ROUNDS {
            while !channel.outgoing().is_empty() {
                let n = stream.write(channel.outgoing()).ok()?;
                channel.sent(n);
            }
            let n = stream.read(&mut buffer).ok()?;
            if n == 0 {
                return Some(());
            }
            let mut input = &buffer[..n];
            while !matches!(channel.receive(&mut input).ok()?, Event::More) {}
        }
        None
    }

    /// Receives bytes for up to `left`. May return without bytes, so that the caller checks the timeout and the
    /// interrupt flag.
    fn receive(&mut self, left: Option<Duration>) -> Result<(), Error> {
        self.flush()?;
        let wait = interrupt::longest_wait(left);
        self.stream.set_read_timeout(wait).map_err(|it| self.net_error(it))?;
        self.received.drain(..self.consumed);
        self.consumed = 0;
        let from = self.received.len();
        self.received.resize(from + 16 * 1024, 0);
        loop {
            match self.stream.read(&mut self.received[from..]) {
                Ok(0) => return Err(self.net_error(io::ErrorKind::UnexpectedEof.into())),
                Ok(n) => {
                    self.received.truncate(from + n);
                    return Ok(());
                }
                Err(it) if it.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.received.truncate(from);
                    return Ok(());
                }
                Err(it) => return Err(self.net_error(it)),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Without a cancel request, the server would continue the statement.
        if self.busy {
            self.cancel();
        }
        // Without a Terminate message, the server logs an unexpected end of the connection.
        let _ = self.stream.set_timeout(Some(Duration::from_millis(100)));
        let _ = self.stream.write(&wire::pg::terminate());
    }
}

/// Running `COPY … FROM STDIN`. If it is dropped before [`CopyIn::finish`], the COPY fails and the server stores no
/// rows.
#[derive(Debug)]
pub struct CopyIn<'a> {
    connection: &'a mut Connection,
    finished: bool,
}

impl CopyIn<'_> {
    /// Sends the bytes that `write` appends. They may be any part of the data, ideally about 100 KiB. Blocks if the
    /// server reads more slowly than this client sends.
    pub fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        if interrupt::is_interrupted() {
            return Err(Error::Stopped);
        }
        self.connection.channel.request(|out| copy_data(out, write));
        self.connection.flush()
    }

    /// Ends the data; returns the number of rows that the server stored.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.finished = true;
        self.connection.channel.request(copy_done);
        let mut answer = QueryResult::default();
        self.connection.exchange(AwaitedEvent::Ready, &mut answer)?;
        Ok(copied_rows(&answer))
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.connection.channel.request(|out| copy_fail(out, "given up"));
            let _ = self.connection.exchange(AwaitedEvent::Ready, &mut QueryResult::default());
        }
    }
}

/// Returns 144 random bits.
pub(crate) fn nonce() -> io::Result<[u8; 18]> {
    let mut nonce = [0; 18];
    File::open("/dev/urandom")?.read_exact(&mut nonce)?;
    Ok(nonce)
}

/// Parses the number of rows from the command tag of a COPY.
fn copied_rows(answer: &QueryResult) -> u64 {
    answer.tag.strip_prefix("COPY ").and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
