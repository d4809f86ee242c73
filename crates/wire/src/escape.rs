//! What do these bytes look like where some have a meaning?

use crate::Hole;

/// Rewrites `out[at..]` in its place, as its hole needs it. Allocates only when `out` must grow.
pub fn within(out: &mut Vec<u8>, at: usize, hole: Hole) {
    match hole {
        Hole::Raw | Hole::Counted => {}
        Hole::Url => grow(out, at, |byte| if is_unreserved(byte) { 1 } else { 3 }, percent),
        Hole::Json => grow(out, at, json_length, json),
        Hole::Line => out[at..].iter_mut().filter(|it| it.is_ascii_control()).for_each(|it| *it = b' '),
    }
}

/// Replaces each byte by `length(byte)` bytes, from the last to the first, so that none is overwritten before it is read.
fn grow(out: &mut Vec<u8>, at: usize, length: fn(u8) -> usize, write: fn(u8, &mut [u8])) {
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

/// RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn percent(byte: u8, to: &mut [u8]) {
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

/// RFC 8259, section 7.
fn json(byte: u8, to: &mut [u8]) {
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
