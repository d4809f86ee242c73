//! What does the server answer to this one question?
//!
//! A small blocking client over `wire`'s channel, for set-up, probes and loading; the measured load does not use it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::pg::compile::{SqlPiece, simple};
use wire::pg::{
    Channel, Encryption, Event, Login, Notice, ProtocolError, Transport, copy_data, copy_done, copy_fail,
};
use wire::tls::TlsInfo;
use wire::{Code, TemplateBuilder};

/// Where a server listens, and as whom we log in.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: Address,
    pub login: Arc<Login>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// The socket file itself, such as `/run/postgresql/.s.PGSQL.5432`.
    Unix(PathBuf),
    Tcp(SocketAddr),
}

/// One session that answers one question at a time.
#[derive(Debug)]
pub struct Connection {
    address: Address,
    stream: Stream,
    channel: Channel,
    /// Bytes received; those from `read` on are not yet understood.
    received: Vec<u8>,
    consumed: usize,
    /// How long an answer may take altogether; `None`: for ever.
    timeout: Option<Duration>,
    /// A statement is not answered yet.
    busy: bool,
    /// Bytes of `notices`.
    notice_bytes: usize,
    /// What the server remarked since [`Connection::open`], as `SEVERITY:  message`.
    pub notices: Vec<String>,
}

/// The answer to one statement, or to the last of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryResult {
    pub columns: Vec<String>,
    /// Values in text form; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Command tag, such as `SELECT 1`.
    pub tag: String,
}

/// No answer, and why.
#[derive(Debug)]
pub enum Error {
    /// Nobody there, or the connection broke.
    Net {
        address: Address,
        error: io::Error,
    },
    /// The server refused.
    Server(ServerError),
    Protocol(ProtocolError),
    /// The answer is longer than anything that we ask for.
    TooLong {
        address: Address,
    },
}

/// An ErrorResponse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    pub code: Code,
    pub severity: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// The most that the rows of one answer may take, in bytes. The longest that we ask for are a catalogue's tables and a minute of
/// statements: a few MiB.
const ANSWER_MAX: usize = 256 << 20;
/// How long each step of cancelling a statement may take, and how many there are at most.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(300);
const CANCEL_ROUNDS: usize = 16;
/// The most bytes of notices that are kept; further notices are dropped.
const NOTICES_MAX: usize = 1 << 20;

/// What a round of receiving waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AwaitedEvent {
    Opened,
    Ready,
    CopyIn,
}

impl Target {
    /// The same server and user with another database.
    pub fn in_database(&self, database: &str) -> Target {
        let mut login = Login::clone(&self.login);
        database.clone_into(&mut login.database);
        Target { address: self.address.clone(), login: Arc::new(login) }
    }

    /// Connects and logs in. The log-in and each answer after it may take `patience` altogether; rows of a COPY may go on for
    /// longer, as long as each comes within it.
    pub fn open(&self, patience: Duration) -> Result<Connection, Error> {
        Connection::open(self, patience)
    }
}

impl Connection {
    pub fn open(target: &Target, patience: Duration) -> Result<Connection, Error> {
        let (mut connection, first) = Connection::open_once(target, patience, None)?;
        match (first, connection.channel.second_attempt()) {
            (Ok(()), _) => Ok(connection),
            (Err(error), None) => Err(error),
            // `sslmode` allows another try: with TLS after without, or the other way round.
            (Err(_), Some(encryption)) => {
                let (again, second) = Connection::open_once(target, patience, Some(encryption))?;
                connection = again;
                second.map(|()| connection)
            }
        }
    }

    /// Connects and tries to log in; the connection tells whether another attempt is due.
    fn open_once(
        target: &Target,
        patience: Duration,
        encryption: Option<Encryption>,
    ) -> Result<(Connection, Result<(), Error>), Error> {
        let net = |error| Error::Net { address: target.address.clone(), error };
        let stream = Stream::connect(&target.address, patience).map_err(net)?;
        let transport = match stream {
            Stream::Unix(_) => Transport::Unix,
            Stream::Tcp(_) => Transport::Tcp,
        };
        let mut channel = Channel::new(Arc::clone(&target.login), transport, nonce().map_err(net)?);
        match encryption {
            Some(it) => channel.open_with(it),
            None => channel.open(),
        }
        let address = target.address.clone();
        let mut connection = Connection {
            address,
            stream,
            channel,
            received: Vec::new(),
            consumed: 0,
            timeout: None,
            busy: false,
            notice_bytes: 0,
            notices: Vec::new(),
        };
        connection.set_timeout(Some(patience)).map_err(net)?;
        let result = connection.exchange(AwaitedEvent::Opened, &mut QueryResult::default());
        Ok((connection, result))
    }

    /// How long an answer may take; `None`: for ever. After opening it is what was given there.
    pub fn set_timeout(&mut self, patience: Option<Duration>) -> io::Result<()> {
        self.timeout = patience;
        self.wait_for(patience)
    }

    /// How long each wait for the network may last.
    fn wait_for(&self, patience: Option<Duration>) -> io::Result<()> {
        self.stream.wait_for(patience)
    }

    /// Runs SQL by the simple protocol: one statement, or several in one implicit transaction.
    pub fn query(&mut self, sql: &str) -> Result<QueryResult, Error> {
        self.send_query(sql);
        let mut answer = QueryResult::default();
        self.exchange(AwaitedEvent::Ready, &mut answer)?;
        Ok(answer)
    }

    /// The first value of the first row; `None` if there is no row or it is NULL.
    pub fn value(&mut self, sql: &str) -> Result<Option<String>, Error> {
        let answer = self.query(sql)?;
        Ok(answer.rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// Begins `COPY … FROM STDIN`. Its rows are to be sent with [`CopyIn::send`] and ended by [`CopyIn::finish`].
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, Error> {
        self.send_query(sql);
        self.exchange(AwaitedEvent::CopyIn, &mut QueryResult::default())?;
        Ok(CopyIn { connection: self, finished: false })
    }

    /// Runs `COPY … TO STDOUT`. Each row is given away as it comes, in COPY's form and with its line feed, and not kept;
    /// returns their number.
    pub fn copy_out(&mut self, sql: &str, take: &mut dyn FnMut(&[u8])) -> Result<u64, Error> {
        self.send_query(sql);
        let mut answer = QueryResult::default();
        self.exchange_rows(AwaitedEvent::Ready, &mut answer, take)?;
        Ok(copied_rows(&answer))
    }

    /// What the server reported of a parameter such as `server_version`, if the login keeps parameters.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.channel.parameter(name)
    }

    /// `server_version_num`, such as 150018; 0 if the server does not tell.
    pub fn server_version(&mut self) -> u32 {
        let told = self.value("show server_version_num").ok().flatten();
        told.and_then(|it| it.parse().ok()).unwrap_or(0)
    }

    /// Whether the peer is PostgreSQL itself, not a pooler: its key to cancel names the process that answers.
    ///
    /// A peer that gives no key, or an error, is none.
    pub fn is_direct(&mut self) -> bool {
        let Some((pid, _)) = self.channel.backend() else { return false };
        self.value("select pg_backend_pid()").ok().flatten() == Some(pid.to_string())
    }

    /// How the bytes are encrypted; `None`: not at all.
    pub fn protection(&self) -> Option<TlsInfo> {
        self.channel.protection()
    }

    fn send_query(&mut self, sql: &str) {
        let mut message = TemplateBuilder::default();
        simple(&mut message, &[SqlPiece::Text(sql)]);
        let message = message.build();
        self.busy = true;
        self.channel.set_watched(true);
        self.channel.request(|out| {
            message.render(out, |_, _| true);
        });
    }

    pub(crate) fn net_error(&self, error: io::Error) -> Error {
        Error::Net { address: self.address.clone(), error }
    }

    fn flush(&mut self) -> Result<(), Error> {
        while !self.channel.outgoing().is_empty() {
            match self.stream.write(self.channel.outgoing()) {
                Ok(0) => return Err(self.net_error(io::ErrorKind::WriteZero.into())),
                Ok(n) => self.channel.sent(n),
                Err(it) if it.kind() == io::ErrorKind::Interrupted => {}
                Err(it) => return Err(self.net_error(it)),
            }
        }
        Ok(())
    }

    fn exchange(&mut self, until: AwaitedEvent, answer: &mut QueryResult) -> Result<(), Error> {
        self.exchange_rows(until, answer, &mut |_| {})
    }

    /// Sends what is queued and receives until the event waited for; an error of the server waits for `Ready` first,
    /// so that the session can go on. What COPY sends is given away.
    fn exchange_rows(
        &mut self,
        until: AwaitedEvent,
        answer: &mut QueryResult,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        let mut refusal: Option<ServerError> = None;
        let mut size = 0;
        let mut begun = Instant::now();
        loop {
            self.flush()?;
            let mut input = &self.received[self.consumed..];
            let event = self.channel.receive(&mut input);
            let more = matches!(event, Ok(Event::More));
            let done = match event.map_err(Error::Protocol)? {
                Event::Opened => until == AwaitedEvent::Opened,
                Event::CopyIn if until == AwaitedEvent::CopyIn => true,
                // Nobody has rows for it: end it, so that the server answers.
                Event::CopyIn => {
                    self.consumed = self.received.len() - input.len();
                    self.channel.request(|out| copy_fail(out, "no data was offered"));
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
                    let over = until == AwaitedEvent::Opened || notice.is_fatal();
                    refusal.get_or_insert_with(|| ServerError::from_notice(&notice));
                    over
                }
                Event::Notice(notice) => {
                    let remark = format!("{}:  {}", notice.severity(), notice.message());
                    self.notice_bytes += remark.len();
                    if self.notice_bytes <= NOTICES_MAX {
                        self.notices.push(remark);
                    }
                    false
                }
                Event::CopyData(it) => {
                    take(it);
                    begun = Instant::now();
                    false
                }
                Event::More => false,
            };
            self.consumed = self.received.len() - input.len();
            if done {
                self.wait_for(self.timeout).map_err(|it| self.net_error(it))?;
                return refusal.map_or(Ok(()), |it| Err(Error::Server(it)));
            }
            if let Some(patience) = self.timeout {
                let left = patience.saturating_sub(begun.elapsed());
                if left.is_zero() {
                    return Err(self.net_error(io::ErrorKind::WouldBlock.into()));
                }
                if more {
                    self.wait_for(Some(left)).map_err(|it| self.net_error(it))?;
                }
            }
            if more {
                self.receive()?;
            }
        }
    }

    /// Has the server cancel the statement that is under way; returns once it has read that.
    fn cancel(&self) -> Option<()> {
        let mut channel = self.channel.cancel_channel()?;
        let mut stream = Stream::connect(&self.address, CANCEL_TIMEOUT).ok()?;
        stream.wait_for(Some(CANCEL_TIMEOUT)).ok()?;
        channel.open();
        let mut buffer = [0; 1024];
        // A handshake of TLS takes a few rounds.
        for _ in 0..CANCEL_ROUNDS {
            while !channel.outgoing().is_empty() {
                let n = stream.write(channel.outgoing()).ok()?;
                channel.sent(n);
            }
            let n = stream.read(&mut buffer).ok().filter(|it| *it > 0)?;
            let mut input = &buffer[..n];
            while !matches!(channel.receive(&mut input).ok()?, Event::More) {}
        }
        None
    }

    fn receive(&mut self) -> Result<(), Error> {
        self.flush()?;
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
                Err(it) => return Err(self.net_error(it)),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The server would go on with it, in a session that counts.
        if self.busy {
            self.cancel();
        }
        // Politeness: without it the server logs an unexpected end.
        let _ = self.wait_for(Some(Duration::from_millis(100)));
        let _ = self.stream.write(&wire::pg::terminate());
    }
}

/// A COPY that takes rows. Dropped unfinished, it fails at the server and nothing is loaded.
#[derive(Debug)]
pub struct CopyIn<'a> {
    connection: &'a mut Connection,
    finished: bool,
}

impl CopyIn<'_> {
    /// Sends what `write` appends: any piece of the stream, best some 100 KiB. Waits while the server is behind.
    pub fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        self.connection.channel.request(|out| copy_data(out, write));
        self.connection.flush()
    }

    /// Ends the data; returns the number of rows that the server took.
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

impl Stream {
    fn connect(address: &Address, patience: Duration) -> io::Result<Stream> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp(it) => {
                let stream = TcpStream::connect_timeout(it, patience)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }

    fn wait_for(&self, patience: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(it) => it.set_read_timeout(patience).and(it.set_write_timeout(patience)),
            Stream::Tcp(it) => it.set_read_timeout(patience).and(it.set_write_timeout(patience)),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(it) => it.read(buffer),
            Stream::Tcp(it) => it.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(it) => it.write(bytes),
            Stream::Tcp(it) => it.write(bytes),
        }
    }
}

impl Error {
    /// The SQLSTATE, or the network's number for it.
    pub fn code(&self) -> Code {
        match self {
            Error::Server(it) => it.code,
            Error::Protocol(_) => Code::PROTOCOL,
            Error::TooLong { .. } => Code::TOO_LONG,
            Error::Net { error, .. } => match (error.kind(), error.raw_os_error()) {
                (io::ErrorKind::UnexpectedEof, _) => Code::RESET,
                // The kernel's answer to a read that waited too long.
                (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, _) => Code::TIMED_OUT,
                (_, Some(errno)) => u16::try_from(errno).map_or(Code::PROTOCOL, Code::Net),
                (_, None) => Code::PROTOCOL,
            },
        }
    }
}

impl ServerError {
    fn from_notice(notice: &Notice<'_>) -> ServerError {
        ServerError {
            code: notice.code(),
            severity: notice.severity().into_owned(),
            message: notice.message().into_owned(),
            detail: notice.detail().map(Into::into),
            hint: notice.hint().map(Into::into),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "socket {}", path.display()),
            Address::Tcp(it) => write!(f, "{it}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Net { address, error } if error.kind() == io::ErrorKind::WouldBlock => {
                write!(f, "{address}: no answer in time")
            }
            Error::Net { address, error } if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "{address}: the server closed the connection")
            }
            Error::Net { address, error } => write!(f, "{address}: {error}"),
            Error::Protocol(it) => it.fmt(f),
            Error::TooLong { address } => {
                write!(f, "{address}: the answer is longer than {} MiB", ANSWER_MAX >> 20)
            }
            Error::Server(it) => {
                write!(f, "{}: {} (SQLSTATE {})", it.severity, it.message, it.code)?;
                it.detail.iter().try_for_each(|it| write!(f, "\nDETAIL: {it}"))?;
                it.hint.iter().try_for_each(|it| write!(f, "\nHINT: {it}"))
            }
        }
    }
}

impl std::error::Error for Error {}

/// 144 random bits.
pub(crate) fn nonce() -> io::Result<[u8; 18]> {
    let mut nonce = [0; 18];
    File::open("/dev/urandom")?.read_exact(&mut nonce)?;
    Ok(nonce)
}

/// Rows, by the tag of a COPY.
fn copied_rows(answer: &QueryResult) -> u64 {
    answer.tag.strip_prefix("COPY ").and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
