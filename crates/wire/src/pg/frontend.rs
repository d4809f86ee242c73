//! Frontend messages that are encoded directly.
//!
//! They have no placeholders or are written once per connection. See `compile` for requests with placeholders.

use postgres_protocol::message::frontend;

/// Appends one CopyData message. `write` appends the content, which may be any part of the stream.
pub fn copy_data(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"d\0\0\0\0");
    let at = out.len() - 4;
    write(out);
    let length = i32::try_from(out.len() - at).expect("COPY data is sent in pieces below 2 GiB");
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends CopyDone.
pub fn copy_done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"c\0\0\0\x04");
}

/// Appends CopyFail with a reason, which makes the COPY fail. A NUL in `reason` ends the text.
pub fn copy_fail(out: &mut Vec<u8>, reason: &str) {
    let reason = reason.split('\0').next().unwrap_or_default();
    out.push(b'f');
    out.extend_from_slice(&(reason.len() as i32 + 5).to_be_bytes());
    out.extend_from_slice(reason.as_bytes());
    out.push(0);
}

/// Terminate, the last message of a session.
pub fn terminate() -> [u8; 5] {
    *b"X\0\0\0\x04"
}

/// CancelRequest for the session `pid`, sent on a separate connection.
pub fn cancel_request(pid: i32, key: i32) -> [u8; 16] {
    let mut out = bytes::BytesMut::with_capacity(16);
    frontend::cancel_request(pid, key, &mut out);
    out[..].try_into().expect("four numbers")
}

/// Appends the output of `write`, which writes to a `BytesMut`.
pub(super) fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut bytes::BytesMut)) {
    let mut bytes = bytes::BytesMut::new();
    write(&mut bytes);
    out.extend_from_slice(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_messages() {
        let check = |write: fn(&mut Vec<u8>), expected: &[u8]| {
            let mut out = b"before".to_vec();
            write(&mut out);
            assert_eq!(out.strip_prefix(b"before"), Some(expected));
        };
        check(|out| copy_data(out, |out| out.extend_from_slice(b"1\tx\n")), b"d\0\0\0\x081\tx\n");
        check(|out| copy_data(out, |_| {}), b"d\0\0\0\x04");
        check(copy_done, b"c\0\0\0\x04");
        check(|out| copy_fail(out, "no\0more"), b"f\0\0\0\x07no\0");
        check(|out| out.extend(terminate()), b"X\0\0\0\x04");
        check(
            |out| out.extend(cancel_request(1, -2)),
            b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x01\xff\xff\xff\xfe",
        );
    }
}
