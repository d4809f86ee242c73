//! One session over one connection, sans I/O.

use super::frontend::append;
use super::message::text;
use super::scan::{Found, Scanner};
use super::{Columns, Event, Login, Notice, ProtocolError, Row, Transport};
use postgres_protocol::message::frontend;
use std::sync::Arc;

/// One connection's protocol machine: bytes in, events and bytes out.
///
/// ```text
/// open ──▶ StartupMessage ──▶ authentication ──▶ Opened ──▶ (request ──▶ Ready)*
/// ```
#[derive(Debug)]
pub struct Channel {
    login: Arc<Login>,
    out: Vec<u8>,
    /// Bytes at the front of `out` that have left.
    left: usize,
    scanner: Scanner,
    stage: Stage,
    backend: Option<(i32, i32)>,
    parameters: Vec<(Box<str>, Box<str>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The server has yet to accept who we are.
    Authenticating,
    /// It has, and prepares the session.
    Accepted,
    Session,
}

impl Channel {
    /// A machine for one connection. `nonce` must be fresh randomness for each (SCRAM).
    pub fn new(login: Arc<Login>, _transport: Transport, _nonce: [u8; 18]) -> Channel {
        let scanner = Scanner::new(login.keep_parameters);
        Channel {
            login,
            out: Vec::new(),
            left: 0,
            scanner,
            stage: Stage::Authenticating,
            backend: None,
            parameters: Vec::new(),
        }
    }

    /// The transport is connected: queues the first bytes (SSLRequest or StartupMessage).
    pub fn open(&mut self) {
        let login = &self.login;
        let name = [("user", login.user.as_str()), ("database", login.database.as_str())];
        let named = name.into_iter().filter(|it| !it.1.is_empty());
        let more = login.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        append(&mut self.out, |out| {
            frontend::startup_message(named.chain(more), out).expect("no NUL in a start-up parameter");
        });
    }

    /// Takes the next event from `input`, consuming what it meant. Call until `More`.
    ///
    /// After an error the connection is of no more use and must be closed.
    #[inline]
    pub fn receive<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Event<'a>, ProtocolError> {
        loop {
            let before = *input;
            match self.scanner.next(input)? {
                Found::More => return Ok(Event::More),
                Found::Ready(reply) => return Ok(Event::Ready(reply)),
                Found::Message { tag, body } => {
                    let consumed = &before[..before.len() - input.len()];
                    let held = self.scanner.take_held();
                    let is_event = self.interpret(tag, body.of(consumed, &held));
                    self.scanner.put_back(held);
                    if is_event? {
                        return Channel::event(tag, body.of(consumed, self.scanner.held()));
                    }
                }
            }
        }
    }

    /// Rows, columns and command tags become events until the next `Ready` when `on`.
    pub fn watch(&mut self, on: bool) {
        self.scanner.watch = on;
    }

    /// Queues a request: appends frontend messages to the buffer that is handed to `write`.
    ///
    /// Only after `Opened`.
    #[inline]
    pub fn request(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        debug_assert_eq!(self.stage, Stage::Session, "requests wait for `Opened`");
        write(&mut self.out);
    }

    /// Bytes that await sending.
    #[inline]
    pub fn outgoing(&self) -> &[u8] {
        &self.out[self.left..]
    }

    /// The first `n` bytes of `outgoing` have left.
    #[inline]
    pub fn sent(&mut self, n: usize) {
        self.left += n;
        if self.left >= self.out.len() {
            assert!(self.left == self.out.len(), "more was sent than there was");
            self.out.clear();
            self.left = 0;
        } else if self.left > COMPACT && self.left * 2 > self.out.len() {
            // A sender that never catches up must not grow the buffer for ever; moves less than has left.
            self.out.drain(..self.left);
            self.left = 0;
        }
    }

    /// The server process's id and the key to cancel what it does; see `cancel_request`.
    pub fn backend(&self) -> Option<(i32, i32)> {
        self.backend
    }

    /// What the server said last of a parameter such as `server_version`; only with `Login::keep_parameters`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|it| &*it.0 == name).map(|it| &*it.1)
    }

    /// Bytes on the heap, without what `Login` shares.
    pub fn memory(&self) -> usize {
        let parameters = &self.parameters;
        self.out.capacity()
            + self.scanner.memory()
            + parameters.capacity() * size_of::<(Box<str>, Box<str>)>()
            + parameters.iter().map(|it| it.0.len() + it.1.len()).sum::<usize>()
    }

    /// Acts on a message; says whether it is an event too.
    fn interpret(&mut self, tag: u8, inside: &[u8]) -> Result<bool, ProtocolError> {
        let malformed = ProtocolError::Malformed { tag };
        match tag {
            b'E' => {
                let code = Notice::new(inside, tag)?.code();
                self.scanner.reply.error.get_or_insert(code);
            }
            b'N' => {
                let local = Notice::new(inside, tag)?.field(b'R') == Some(b"SyncRepWaitForLSN");
                self.scanner.reply.local_only |= local;
            }
            b'S' => {
                self.keep(inside).ok_or(malformed)?;
                return Ok(false);
            }
            b'D' | b'T' | b'C' | b'G' => {}
            _ => return self.log_in(tag, inside),
        }
        Ok(true)
    }

    /// A message that only comes before the session is open; true when it opens it.
    fn log_in(&mut self, tag: u8, inside: &[u8]) -> Result<bool, ProtocolError> {
        match (tag, self.stage) {
            (b'R', Stage::Authenticating) => {
                let Some((&asked, _)) = inside.split_first_chunk() else {
                    return Err(ProtocolError::Malformed { tag });
                };
                match u32::from_be_bytes(asked) {
                    0 => self.stage = Stage::Accepted,
                    asked => return Err(ProtocolError::Authentication { asked }),
                }
                Ok(false)
            }
            (b'K', Stage::Accepted) => {
                let number = |at: usize| {
                    i32::from_be_bytes([inside[at], inside[at + 1], inside[at + 2], inside[at + 3]])
                };
                self.backend = Some((number(0), number(4)));
                Ok(false)
            }
            (b'Z', Stage::Accepted) => {
                super::scan::status(inside)?;
                self.stage = Stage::Session;
                self.scanner.login = false;
                self.scanner.reply = super::Reply::EMPTY;
                Ok(true)
            }
            _ => Err(ProtocolError::Unexpected { tag }),
        }
    }

    fn event(tag: u8, inside: &[u8]) -> Result<Event<'_>, ProtocolError> {
        Ok(match tag {
            b'E' => Event::Error(Notice::new(inside, tag)?),
            b'N' => Event::Notice(Notice::new(inside, tag)?),
            b'D' => Event::Row(Row::new(inside)?),
            b'T' => Event::Columns(Columns::new(inside)?),
            b'C' => Event::Done(text(inside).ok_or(ProtocolError::Malformed { tag })?),
            b'G' => Event::CopyIn,
            _ => Event::Opened,
        })
    }

    fn keep(&mut self, inside: &[u8]) -> Option<()> {
        let name = text(inside)?;
        let value = text(&inside[name.len() + 1..])?;
        let (name, value) = (String::from_utf8_lossy(name).into(), String::from_utf8_lossy(value).into());
        if self.parameters.len() == PARAMETERS_MAX {
            return Some(());
        }
        match self.parameters.iter_mut().find(|it| it.0 == name) {
            Some(known) => known.1 = value,
            None => self.parameters.push((name, value)),
        }
        Some(())
    }
}

/// Sent bytes above which the buffer is moved together.
const COMPACT: usize = 64 << 10;
/// Servers report about fifteen parameters.
const PARAMETERS_MAX: usize = 100;
