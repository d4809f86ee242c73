//! Scanner that splits the server's bytes into messages and skips messages that are not needed.

use super::{ProtocolError, Reply, RowCount, TransactionStatus};

/// Maximum length in bytes of a message that is buffered as a whole. A longer message can only be skipped.
const MESSAGE_MAX: u32 = 16 << 20;
/// Maximum length of a message during login, in bytes. The server is not yet authenticated, so it gets little memory.
const LOGIN_MESSAGE_MAX: u32 = 64 << 10;
/// Maximum length in bytes of a command tag that is read while rows are not watched, including its NUL. The longest tag
/// with a number of rows has 30 bytes: `INSERT 0 18446744073709551615`.
const TAG_MAX: u32 = 59;
/// Capacity in bytes that `buffer` keeps between messages.
const BUFFER_RETAIN_MAX: usize = 4 << 10;

/// Scanner of the server's bytes. It splits them into messages. Messages that are not needed are counted and skipped
/// without a copy.
///
/// A needed message that is not contiguous in the input is collected in `buffer`. The buffer grows with the bytes
/// received, never with the declared length.
#[derive(Debug)]
pub(super) struct Scanner {
    buffer: Vec<u8>,
    /// True if `buffer` holds a message that was already returned.
    stale: bool,
    /// Bytes of the current message that remain to be skipped.
    skip: u32,
    pub reply: Reply,
    pub watch: bool,
    /// Number of ReadyForQuery messages that are still expected. If it is 0, only asynchronous messages may arrive.
    pending_ready: u32,
    /// Number of statements requested since the session was last idle. `completed` of them have ended; `failed` is true
    /// if a statement failed.
    statements: u32,
    completed: u32,
    failed: bool,
    /// Most recent expected ReadyForQuery. It is returned only if nothing follows it, because surplus bytes mean that
    /// responses and requests do not match.
    last: Option<Reply>,
    /// True during login, when other messages are allowed.
    login: bool,
    /// True if ParameterStatus messages are needed.
    parameters: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScanResult {
    /// The input is consumed.
    More,
    Ready(Reply),
    /// Message that the caller needs. Its body is at the end of the consumed bytes, unless it had to be buffered.
    Message {
        tag: u8,
        body: MessageBody,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageBody {
    /// Length of the body, which is at the end of the consumed input.
    Input(usize),
    /// The body is in `Scanner::buffer`, after the header.
    Buffered,
}

impl MessageBody {
    pub fn slice<'a>(self, consumed: &'a [u8], held: &'a [u8]) -> &'a [u8] {
        match self {
            MessageBody::Input(length) => &consumed[consumed.len() - length..],
            MessageBody::Buffered => &held[5..],
        }
    }
}

enum MessageAction {
    Skip,
    Buffer,
}

impl Scanner {
    pub fn new(parameters: bool) -> Scanner {
        Scanner {
            // This capacity suffices for every message that is needed while rows are not watched and nothing fails.
            buffer: Vec::with_capacity(5 + TAG_MAX as usize),
            stale: false,
            skip: 0,
            reply: Reply::EMPTY,
            watch: false,
            pending_ready: 0,
            statements: 0,
            completed: 0,
            failed: false,
            last: None,
            login: true,
            parameters,
        }
    }

    /// Consumes input up to the end of the next message that is needed.
    #[inline]
    pub fn next(&mut self, input: &mut &[u8]) -> Result<ScanResult, ProtocolError> {
        if (self.skip != 0 || !self.buffer.is_empty())
            && let Some(found) = self.resume(input)?
        {
            return Ok(found);
        }
        loop {
            let bytes = *input;
            let Some((&[tag, a, b, c, d], _)) = bytes.split_first_chunk() else {
                self.buffer.extend_from_slice(bytes);
                *input = &[];
                return Ok(ScanResult::More);
            };
            let length = u32::from_be_bytes([a, b, c, d]);
            let total = length as usize + 1;
            match self.action(tag, length)? {
                MessageAction::Skip => {
                    if total > bytes.len() {
                        self.skip = (total - bytes.len()) as u32;
                        *input = &[];
                        return Ok(ScanResult::More);
                    }
                    *input = &bytes[total..];
                }
                MessageAction::Buffer => {
                    let Some((message, rest)) = bytes.split_at_checked(total) else {
                        self.buffer.extend_from_slice(bytes);
                        *input = &[];
                        return Ok(ScanResult::More);
                    };
                    *input = rest;
                    let body = MessageBody::Input(message.len() - 5);
                    if let Some(found) = self.complete(tag, &message[5..], body)? {
                        return Ok(found);
                    }
                }
            }
        }
    }

    /// Counts the statements in messages that are about to be sent. `messages` are complete.
    #[inline]
    pub fn request(&mut self, mut messages: &[u8]) {
        while let Some((&[tag, a, b, c, d], _)) = messages.split_first_chunk() {
            self.statements += u32::from(matches!(tag, b'Q' | b'E'));
            self.pending_ready += u32::from(matches!(tag, b'Q' | b'S'));
            let length = u32::from_be_bytes([a, b, c, d]) as usize;
            messages = messages.get(1 + length..).unwrap_or_default();
        }
    }

    /// Returns the most recent expected reply, once the input is consumed. Fails if a message that is not asynchronous
    /// followed the reply.
    #[inline]
    pub fn last_reply(&mut self) -> Result<Option<Reply>, ProtocolError> {
        if self.last.is_none() {
            return Ok(None);
        }
        match self.buffer.first().filter(|_| !self.stale) {
            Some(&tag) if !is_asynchronous(tag) => Err(ProtocolError::Unexpected { tag }),
            _ => Ok(self.last.take()),
        }
    }

    /// Ends the login: from now on, the messages of a session are allowed.
    pub fn end_login(&mut self) {
        self.login = false;
        self.reply = Reply::EMPTY;
    }

    /// Bytes of the most recent message, if its body is `MessageBody::Buffered`.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// Takes the buffer, so that other fields may change while the buffer is read. The caller puts the buffer back.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    pub fn put_back(&mut self, held: Vec<u8>) {
        self.buffer = held;
    }

    /// Number of allocated bytes.
    pub fn memory(&self) -> usize {
        self.buffer.capacity()
    }

    /// Continues in the middle of a message. Returns `None` if the message was skipped, so that the next message can be
    /// scanned.
    #[cold]
    fn resume(&mut self, input: &mut &[u8]) -> Result<Option<ScanResult>, ProtocolError> {
        if self.stale {
            self.release_buffer();
        }
        while !self.buffer.is_empty() && self.skip == 0 {
            let held = self.buffer.len();
            let Some((&[tag, a, b, c, d], _)) = self.buffer.split_first_chunk() else {
                if self.buffer_bytes(5 - held, input) {
                    continue;
                }
                return Ok(Some(ScanResult::More));
            };
            let length = u32::from_be_bytes([a, b, c, d]);
            let need = self.action(tag, length)?;
            let missing = length as usize + 1 - held;
            match need {
                MessageAction::Skip => {
                    self.skip = missing as u32;
                    self.buffer.clear();
                }
                MessageAction::Buffer if self.buffer_bytes(missing, input) => {
                    let held = std::mem::take(&mut self.buffer);
                    let found = self.complete(tag, &held[5..], MessageBody::Buffered);
                    self.buffer = held;
                    self.stale = true;
                    match found? {
                        Some(found) => return Ok(Some(found)),
                        None => self.release_buffer(),
                    }
                }
                MessageAction::Buffer => return Ok(Some(ScanResult::More)),
            }
        }
        let passed = input.len().min(self.skip as usize);
        *input = &input[passed..];
        self.skip -= passed as u32;
        Ok((self.skip != 0).then_some(ScanResult::More))
    }

    /// Moves up to `missing` bytes to `buffer`. Returns true if these were all missing bytes.
    fn buffer_bytes(&mut self, missing: usize, input: &mut &[u8]) -> bool {
        let (now, rest) = input.split_at(input.len().min(missing));
        self.buffer.extend_from_slice(now);
        *input = rest;
        now.len() == missing
    }

    fn release_buffer(&mut self) {
        self.stale = false;
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_RETAIN_MAX);
    }

    /// Decides how to treat a message, by its header and depending on whether rows are watched. Counts skipped
    /// messages.
    #[inline]
    fn action(&mut self, tag: u8, length: u32) -> Result<MessageAction, ProtocolError> {
        if !(4..=i32::MAX as u32).contains(&length) {
            return Err(ProtocolError::BadLength { tag, length });
        }
        if self.login {
            return self.action_in_login(tag, length);
        }
        if self.pending_ready == 0 && !is_asynchronous(tag) {
            return Err(ProtocolError::Unexpected { tag });
        }
        let buffer_if = |fine: bool| {
            if fine { Ok(MessageAction::Buffer) } else { Err(ProtocolError::BadLength { tag, length }) }
        };
        match tag {
            b'D' if !self.watch => self.reply.rows = self.reply.rows.saturating_add(1),
            b'T' if !self.watch => {}
            b'C' if !self.watch && length > 4 + TAG_MAX => self.count(b'C'),
            b'S' if !self.parameters => {}
            b'd' if !self.watch => {}
            b'D' | b'T' | b'C' | b'S' | b'E' | b'N' | b'G' | b'd' => return buffer_if(length <= MESSAGE_MAX),
            b'Z' => return buffer_if(length == 5),
            // ParseComplete, BindComplete, CloseComplete, NoData, PortalSuspended, EmptyQueryResponse, CopyDone
            b'1' | b'2' | b'3' | b'n' | b's' | b'I' | b'c' if length == 4 => self.count(tag),
            b'1' | b'2' | b'3' | b'n' | b's' | b'I' | b'c' => return buffer_if(false),
            // CopyOutResponse; the response of an HTTP server begins with the same letter.
            b'H' if length > MESSAGE_MAX => return buffer_if(false),
            // ParameterDescription, NotificationResponse
            b'H' | b't' | b'A' => {}
            _ => return Err(ProtocolError::Unexpected { tag }),
        }
        Ok(MessageAction::Skip)
    }

    fn action_in_login(&self, tag: u8, length: u32) -> Result<MessageAction, ProtocolError> {
        let fine = match tag {
            b'S' if !self.parameters => return Ok(MessageAction::Skip),
            b'E' if length > LOGIN_MESSAGE_MAX => return Err(ProtocolError::OldProtocol),
            b'R' | b'E' | b'N' | b'v' | b'S' => length <= LOGIN_MESSAGE_MAX,
            b'K' => length == 12,
            b'Z' => length == 5,
            _ => return Err(ProtocolError::Unexpected { tag }),
        };
        if fine { Ok(MessageAction::Buffer) } else { Err(ProtocolError::BadLength { tag, length }) }
    }

    #[inline]
    fn count(&mut self, tag: u8) {
        match tag {
            b'D' => self.reply.rows = self.reply.rows.saturating_add(1),
            b'C' | b's' | b'I' => {
                self.reply.statements = self.reply.statements.saturating_add(1);
                self.reply.empty |= tag == b'I';
            }
            b'1' => self.reply.parsed = self.reply.parsed.saturating_add(1),
            _ => {}
        }
    }

    /// Handles a complete message and returns the result that the caller needs, if any.
    #[inline]
    fn complete(
        &mut self,
        tag: u8,
        inside: &[u8],
        body: MessageBody,
    ) -> Result<Option<ScanResult>, ProtocolError> {
        if self.login {
            return Ok(Some(ScanResult::Message { tag, body }));
        }
        self.count(tag);
        match tag {
            b'Z' => {
                let mut reply = std::mem::replace(&mut self.reply, Reply::EMPTY);
                reply.status = status(inside)?;
                self.pending_ready -= 1;
                self.completed = self.completed.saturating_add(reply.statements.into());
                self.failed |= reply.error.is_some();
                self.watch = false;
                if self.pending_ready > 0 {
                    return Ok(Some(ScanResult::Ready(reply)));
                }
                if self.completed < self.statements && !self.failed {
                    return Err(ProtocolError::MissingResponse);
                }
                (self.statements, self.completed, self.failed) = (0, 0, false);
                self.last = Some(reply);
                Ok(None)
            }
            b'C' => {
                let command = inside.strip_suffix(b"\0").unwrap_or(inside);
                self.reply.rolled_back |= command == ROLLBACK;
                self.reply.empty |= command.is_empty();
                self.reply.row_count = RowCount::sum(self.reply.row_count, RowCount::from_tag(command));
                Ok(self.watch.then_some(ScanResult::Message { tag, body }))
            }
            _ => Ok(Some(ScanResult::Message { tag, body })),
        }
    }
}

/// True for messages that may arrive at any time: PostgreSQL manual, "Asynchronous Operations". An ErrorResponse at
/// such a time means that the server ends the session.
fn is_asynchronous(tag: u8) -> bool {
    matches!(tag, b'N' | b'S' | b'A' | b'E')
}

const ROLLBACK: &[u8] = b"ROLLBACK";

/// Parses the transaction status in the body of ReadyForQuery.
pub(super) fn status(body: &[u8]) -> Result<TransactionStatus, ProtocolError> {
    match body {
        b"I" => Ok(TransactionStatus::Idle),
        b"T" => Ok(TransactionStatus::InTransaction),
        b"E" => Ok(TransactionStatus::Failed),
        _ => Err(ProtocolError::Malformed { tag: b'Z' }),
    }
}
