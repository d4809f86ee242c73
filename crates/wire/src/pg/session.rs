//! Session state machine on decrypted bytes.
//!
//! The channel handles encryption.

use super::auth::{AuthResponse, Authenticator, ChannelProtection};
use super::frontend::{append, cancel_request};
use super::message::until_nul;
use super::scanner::{MessageBody, ScanResult, Scanner, status};
use super::{Columns, Event, Login, Notice, ProtocolError, Reply, Row};
use crate::Code;
use postgres_protocol::message::frontend;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Session {
    pub login: Arc<Login>,
    scanner: Scanner,
    stage: SessionStage,
    /// State of the authentication; `None` after it has ended.
    authenticator: Option<Box<Authenticator>>,
    /// True if the server rejected the StartupMessage with an error that a different encryption might avoid.
    pub retry_without_encryption: bool,
    pub backend: Option<(i32, i32)>,
    /// Process ID and key of the session to cancel. If set, the connection only sends a cancel request.
    cancel_target: Option<(i32, i32)>,
    parameters: Vec<(Box<str>, Box<str>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionStage {
    /// State before the server has accepted the login.
    Authenticating,
    /// State after the server has accepted the login, while it prepares the session.
    Accepted,
    Open,
}

/// Result of processing the beginning of the input.
pub(super) enum Step {
    More,
    Ready(Reply),
    /// An event is complete; `Session::event` returns it.
    Event {
        tag: u8,
        body: MessageBody,
    },
    Send(Vec<u8>),
}

impl Session {
    pub fn new(login: Arc<Login>, nonce: [u8; 18]) -> Session {
        Session {
            scanner: Scanner::new(login.keep_parameters),
            login,
            stage: SessionStage::Authenticating,
            authenticator: Some(Box::new(Authenticator::new(nonce))),
            retry_without_encryption: false,
            backend: None,
            cancel_target: None,
            parameters: Vec::new(),
        }
    }

    /// Creates a session that cancels the current statement of another session, given its process ID and key.
    pub fn for_cancel(login: Arc<Login>, backend: (i32, i32)) -> Session {
        Session { cancel_target: Some(backend), authenticator: None, ..Session::new(login, [0; 18]) }
    }

    /// First message of the connection: StartupMessage or CancelRequest.
    pub fn startup(&self) -> Vec<u8> {
        if let Some((pid, key)) = self.cancel_target {
            return cancel_request(pid, key).to_vec();
        }
        let login = &self.login;
        let name = [("user", login.user.as_str()), ("database", login.database.as_str())];
        let named = name.into_iter().filter(|it| !it.1.is_empty());
        let more = login.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut out = Vec::new();
        append(&mut out, |out| {
            frontend::startup_message(named.chain(more), out).expect("no NUL in a start-up parameter");
        });
        out
    }

    /// Counts the statements in messages that are about to be sent. `messages` are complete.
    #[inline]
    pub fn request(&mut self, messages: &[u8]) {
        self.scanner.request(messages);
    }

    /// Most recent expected reply, once the input is consumed; see `Scanner::last_reply`.
    #[inline]
    pub fn last_reply(&mut self) -> Result<Option<Reply>, ProtocolError> {
        self.scanner.last_reply()
    }

    #[inline]
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Step, ProtocolError> {
        loop {
            let before = *input;
            match self.scanner.next(input)? {
                ScanResult::More => return Ok(Step::More),
                ScanResult::Ready(reply) => return Ok(Step::Ready(reply)),
                ScanResult::Message { tag, body } => {
                    let consumed = &before[..before.len() - input.len()];
                    let held = self.scanner.take_buffer();
                    let next = self.handle_message(tag, body, body.slice(consumed, &held));
                    self.scanner.put_back(held);
                    if let Some(step) = next? {
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// Event of the most recent step; `consumed` is the input that the step consumed.
    pub fn event<'a>(
        &'a self,
        tag: u8,
        body: MessageBody,
        consumed: &'a [u8],
    ) -> Result<Event<'a>, ProtocolError> {
        let inside = body.slice(consumed, self.scanner.buffer());
        Ok(match tag {
            b'E' => Event::Error(Notice::new(inside, tag)?),
            b'N' => Event::Notice(Notice::new(inside, tag)?),
            b'D' => Event::Row(Row::new(inside)?),
            b'T' => Event::Columns(Columns::new(inside)?),
            b'C' => Event::CommandComplete(until_nul(inside).ok_or(ProtocolError::Malformed { tag })?),
            b'G' => Event::CopyIn,
            b'd' => Event::CopyData(inside),
            _ => Event::Opened,
        })
    }

    pub fn stage(&self) -> SessionStage {
        self.stage
    }

    /// Sets the TLS protection for SCRAM's channel binding.
    pub fn set_protection(&mut self, cover: ChannelProtection) {
        if let Some(proof) = &mut self.authenticator {
            proof.protection = cover;
        }
    }

    pub fn watch(&mut self, enabled: bool) {
        self.scanner.watch = enabled;
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|it| &*it.0 == name).map(|it| &*it.1)
    }

    /// Heap memory of the session in bytes, without the data of `Login`.
    pub fn memory(&self) -> usize {
        let parameters = &self.parameters;
        let texts: usize = parameters.iter().map(|it| it.0.len() + it.1.len()).sum();
        let proof = self.authenticator.as_ref().map_or(0, |it| size_of_val(&**it));
        self.scanner.memory() + proof + parameters.capacity() * size_of::<(Box<str>, Box<str>)>() + texts
    }

    /// Handles a message. Returns `None` if the message needs no further step.
    fn handle_message(
        &mut self,
        tag: u8,
        body: MessageBody,
        inside: &[u8],
    ) -> Result<Option<Step>, ProtocolError> {
        match tag {
            b'E' => {
                let code = Notice::new(inside, tag)?.code();
                self.scanner.reply.error.get_or_insert(code);
                self.retry_without_encryption |=
                    self.stage == SessionStage::Authenticating && code != CANNOT_CONNECT_NOW;
            }
            b'N' => {
                let local = Notice::new(inside, tag)?.field(b'R') == Some(b"SyncRepWaitForLSN");
                self.scanner.reply.local_only |= local;
            }
            b'S' => {
                self.store_parameter(inside).ok_or(ProtocolError::Malformed { tag })?;
                return Ok(None);
            }
            b'D' | b'T' | b'C' | b'G' | b'd' => {}
            _ => return self.handle_login_message(tag, body, inside),
        }
        Ok(Some(Step::Event { tag, body }))
    }

    /// Handles a message that is only allowed before the session is open.
    fn handle_login_message(
        &mut self,
        tag: u8,
        body: MessageBody,
        inside: &[u8],
    ) -> Result<Option<Step>, ProtocolError> {
        match (tag, self.stage, &mut self.authenticator) {
            (b'R', SessionStage::Authenticating, Some(proof)) => match proof.answer(&self.login, inside)? {
                AuthResponse::Nothing => Ok(None),
                AuthResponse::Send(bytes) => Ok(Some(Step::Send(bytes))),
                AuthResponse::Authenticated => {
                    self.stage = SessionStage::Accepted;
                    self.authenticator = None;
                    Ok(None)
                }
            },
            (b'K', SessionStage::Accepted, _) => {
                let (pid, key) = inside.split_at(4);
                let number = |it: &[u8]| it.try_into().map(i32::from_be_bytes).ok();
                self.backend = number(pid).zip(number(key));
                Ok(None)
            }
            (b'Z', SessionStage::Accepted, _) => {
                status(inside)?;
                self.stage = SessionStage::Open;
                self.scanner.end_login();
                Ok(Some(Step::Event { tag, body }))
            }
            _ => Err(ProtocolError::Unexpected { tag }),
        }
    }

    /// Stores a parameter from ParameterStatus.
    fn store_parameter(&mut self, inside: &[u8]) -> Option<()> {
        let name = until_nul(inside)?;
        let value = until_nul(&inside[name.len() + 1..])?;
        let (name, value): (Box<str>, Box<str>) =
            (String::from_utf8_lossy(name).into(), String::from_utf8_lossy(value).into());
        match self.parameters.iter().position(|it| it.0 == name) {
            Some(at) => self.parameters[at].1 = value,
            None if self.parameters.len() < PARAMETERS_MAX => self.parameters.push((name, value)),
            None => {}
        }
        Some(())
    }
}

/// SQLSTATE of a server that is starting or stopping, or of a standby that accepts no connections. A different
/// encryption would not help.
const CANNOT_CONNECT_NOW: Code = Code::SqlState(*b"57P03");
/// Maximum number of stored parameters. Servers report about fifteen.
const PARAMETERS_MAX: usize = 100;
