//! Escaping of arguments for URLs, JSON and headers.

use super::Placeholder;

/// Escapes `out[at..]` in place, as its placeholder requires. Allocates only when `out` must grow.
pub fn escape_in_place(out: &mut Vec<u8>, at: usize, hole: Placeholder) {
    match hole {
        Placeholder::Raw | Placeholder::LengthPrefixed => {}
        Placeholder::Url => {
            expand_in_place(out, at, |byte| if is_unreserved(byte) { 1 } else { 3 }, write_percent);
        }
        Placeholder::Json => expand_in_place(out, at, json_length, write_json),
        Placeholder::HeaderValue => {
            out[at..].iter_mut().filter(|it| it.is_ascii_control()).for_each(|it| *it = b' ');
        }
    }
}

/// Replaces each byte with `length(byte)` bytes, from the last to the first, so that no byte is overwritten before it
/// is read.
fn expand_in_place(out: &mut Vec<u8>, at: usize, length: fn(u8) -> usize, write: fn(u8, &mut [u8])) {
    let old = out.len();
    let grown: usize = out[at..].iter().map(|it| length(*it)).sum();
    if grown == old - at {
        return;
    }
    out.resize(at + grown, 0);
    let mut end = out.len();
    for i in (at..old).rev() {
        let byte = out[i];
        let start = end - length(byte);
        write(byte, &mut out[start..end]);
        end = start;
    }
}

/// True for the unreserved characters of RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn write_percent(byte: u8, to: &mut [u8]) {
    match to {
        [to] => *to = byte,
        to => to.copy_from_slice(&[b'%', hex(byte >> 4), hex(byte & 15)]),
    }
}

fn json_length(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// Writes the JSON escape of a byte: RFC 8259, section 7.
fn write_json(byte: u8, to: &mut [u8]) {
    match to {
        [to] => *to = byte,
        [slash, letter] => {
            *slash = b'\\';
            *letter = match byte {
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                quoted => quoted,
            };
        }
        to => {
            to.copy_from_slice(b"\\u0000");
            (to[4], to[5]) = (hex(byte >> 4), hex(byte & 15));
        }
    }
}

fn hex(digit: u8) -> u8 {
    b"0123456789ABCDEF"[usize::from(digit)]
}
