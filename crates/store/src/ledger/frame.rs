//! Encoding of ledger entries as frames

use super::LedgerHeader;
use crc32c::crc32c_append;
use model::durability::{LedgerEntry, ServerId, ServerInstance, WriteAttempt, WriteKey, WriteOutcome};
use model::{Code, Nanos};

/// First bytes of a ledger; the digit is the version of the format.
pub(super) const MAGIC: &[u8; 8] = b"pgdynoL1";
/// Maximum length of a frame's body, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 512;
/// Maximum length of a server's address, in bytes. Longer addresses are truncated.
const MAX_ADDRESS_BYTES: usize = 256;
const NO_SERVER: u16 = u16::MAX;

#[derive(Debug, PartialEq)]
pub(super) enum Frame {
    Header(LedgerHeader),
    Entry(LedgerEntry),
}

mod kind {
    pub const HEADER: u8 = 1;
    pub const SERVER: u8 = 2;
    pub const RESERVED: u8 = 3;
    pub const ENDED: u8 = 4;
    pub const CLOCK: u8 = 5;
    pub const CLOSED: u8 = 6;
}

/// Appends a frame and updates `chain`, the checksum of all frames so far.
pub(super) fn append(frame: &Frame, chain: &mut u32, to: &mut Vec<u8>) {
    let begin = to.len();
    to.extend_from_slice(&[0; 2]);
    encode_body(frame, to);
    let length = to.len() - begin - 2;
    debug_assert!(length <= MAX_BODY_BYTES, "no entry is longer");
    to[begin..begin + 2].copy_from_slice(&(length as u16).to_le_bytes());
    *chain = crc32c_append(*chain, &to[begin..]);
    to.extend_from_slice(&chain.to_le_bytes());
}

/// Decodes the frame at the start of `bytes`; returns the frame and its length. `None` if the bytes are not a valid
/// frame.
pub(super) fn take_frame(bytes: &[u8], chain: &mut u32) -> Option<(Frame, usize)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::from(u16::from_le_bytes(*length));
    let (body, rest) = rest.split_at_checked(length).filter(|_| length <= MAX_BODY_BYTES)?;
    let sum = crc32c_append(*chain, &bytes[..2 + length]);
    if *rest.first_chunk()? != sum.to_le_bytes() {
        return None;
    }
    let frame = decode_body(body)?;
    *chain = sum;
    Some((frame, 2 + length + 4))
}

fn encode_body(frame: &Frame, to: &mut Vec<u8>) {
    match frame {
        Frame::Header(header) => {
            to.push(kind::HEADER);
            to.extend_from_slice(&header.run.to_le_bytes());
            to.extend_from_slice(&header.boot.to_le_bytes());
            to.extend_from_slice(&header.started_ms.to_le_bytes());
        }
        Frame::Entry(LedgerEntry::Server(id, server)) => {
            to.push(kind::SERVER);
            to.extend_from_slice(&id.0.to_le_bytes());
            to.extend_from_slice(&server.system.to_le_bytes());
            to.extend_from_slice(&server.started_us.to_le_bytes());
            to.extend_from_slice(&server.timeline.to_le_bytes());
            let end = (0..=server.address.len().min(MAX_ADDRESS_BYTES))
                .rfind(|end| server.address.is_char_boundary(*end));
            to.extend_from_slice(&server.address.as_bytes()[..end.unwrap_or(0)]);
        }
        Frame::Entry(LedgerEntry::Reserved { session, until }) => {
            to.push(kind::RESERVED);
            to.extend_from_slice(&session.to_le_bytes());
            to.extend_from_slice(&until.to_le_bytes());
        }
        Frame::Entry(LedgerEntry::Completed(write)) => {
            let (outcome, code) = match write.outcome {
                WriteOutcome::Acknowledged => (0, [0; 6]),
                WriteOutcome::AcknowledgedLocally => (1, [0; 6]),
                WriteOutcome::Failed(code) => (2, encode_code(code)),
                WriteOutcome::Unknown(code) => (3, encode_code(code)),
            };
            to.extend_from_slice(&[kind::ENDED, outcome]);
            to.extend_from_slice(&code);
            to.extend_from_slice(&write.number.to_le_bytes());
            to.extend_from_slice(&write.server.map_or(NO_SERVER, |it| it.0).to_le_bytes());
            to.extend_from_slice(&write.key.session.to_le_bytes());
            to.extend_from_slice(&write.key.sequence.to_le_bytes());
            to.extend_from_slice(&write.invoked.0.to_le_bytes());
            to.extend_from_slice(&write.ended.0.to_le_bytes());
        }
        Frame::Entry(LedgerEntry::Clock { at, wall_us }) => {
            to.push(kind::CLOCK);
            to.extend_from_slice(&at.0.to_le_bytes());
            to.extend_from_slice(&wall_us.to_le_bytes());
        }
        Frame::Entry(LedgerEntry::Closed) => to.push(kind::CLOSED),
    }
}

fn decode_body(body: &[u8]) -> Option<Frame> {
    let mut rest = FieldReader(body);
    let frame = match rest.take::<1>()?[0] {
        kind::HEADER => Frame::Header(LedgerHeader {
            run: u128::from_le_bytes(rest.take()?),
            boot: u128::from_le_bytes(rest.take()?),
            started_ms: rest.u64()?,
        }),
        kind::SERVER => {
            let id = ServerId(rest.u16()?);
            let (system, started_us, timeline) = (rest.u64()?, rest.u64()?, rest.u32()?);
            let address = String::from_utf8(std::mem::take(&mut rest.0).to_vec()).ok()?;
            Frame::Entry(LedgerEntry::Server(id, ServerInstance { system, address, started_us, timeline }))
        }
        kind::RESERVED => Frame::Entry(LedgerEntry::Reserved { session: rest.u32()?, until: rest.u64()? }),
        kind::ENDED => {
            let outcome = rest.take::<1>()?[0];
            let code: [u8; 6] = rest.take()?;
            let outcome = match outcome {
                0 if code == [0; 6] => WriteOutcome::Acknowledged,
                1 if code == [0; 6] => WriteOutcome::AcknowledgedLocally,
                2 => WriteOutcome::Failed(decode_code(code)?),
                3 => WriteOutcome::Unknown(decode_code(code)?),
                _ => return None,
            };
            let (number, server) = (rest.u16()?, rest.u16()?);
            let key = WriteKey { session: rest.u32()?, sequence: rest.u64()? };
            let (invoked, ended) = (Nanos(rest.u64()?), Nanos(rest.u64()?));
            let server = (server != NO_SERVER).then_some(ServerId(server));
            Frame::Entry(LedgerEntry::Completed(WriteAttempt {
                key,
                number,
                outcome,
                invoked,
                ended,
                server,
            }))
        }
        kind::CLOCK => Frame::Entry(LedgerEntry::Clock { at: Nanos(rest.u64()?), wall_us: rest.u64()? }),
        kind::CLOSED => Frame::Entry(LedgerEntry::Closed),
        _ => return None,
    };
    rest.0.is_empty().then_some(frame)
}

/// Reader of a body's fields; contains the bytes that are not yet decoded.
struct FieldReader<'a>(&'a [u8]);

impl FieldReader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

fn encode_code(code: Code) -> [u8; 6] {
    match code {
        Code::SqlState([a, b, c, d, e]) => [1, a, b, c, d, e],
        Code::Http(it) => encode_number(2, it),
        Code::Net(it) => encode_number(3, it),
        Code::TextNotFound => encode_number(4, 0),
        Code::CaptureNotFound => encode_number(4, 1),
        Code::TextFound => encode_number(4, 2),
    }
}

fn encode_number(kind: u8, number: u16) -> [u8; 6] {
    let [low, high] = number.to_le_bytes();
    [kind, low, high, 0, 0, 0]
}

fn decode_code(bytes: [u8; 6]) -> Option<Code> {
    match bytes {
        [1, a, b, c, d, e] => Some(Code::SqlState([a, b, c, d, e])),
        [2, low, high, 0, 0, 0] => Some(Code::Http(u16::from_le_bytes([low, high]))),
        [3, low, high, 0, 0, 0] => Some(Code::Net(u16::from_le_bytes([low, high]))),
        [4, 0, 0, 0, 0, 0] => Some(Code::TextNotFound),
        [4, 1, 0, 0, 0, 0] => Some(Code::CaptureNotFound),
        [4, 2, 0, 0, 0, 0] => Some(Code::TextFound),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum must not change, because old files must stay readable. Source of the value: RFC 3720, appendix B.4.
    #[test]
    fn checksum_is_that_of_all_bytes_so_far() {
        let rising: Vec<u8> = (0..32).collect();
        for cut in 0..=rising.len() {
            let (before, after) = rising.split_at(cut);
            assert_eq!(crc32c_append(crc32c_append(0, before), after), 0x46DD_794E, "cut at {cut}");
        }
    }
}
