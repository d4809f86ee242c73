//! Contents of backend messages: rows, columns, errors and notices.

use super::ProtocolError;
use crate::Code;
use std::borrow::Cow;
use std::fmt;

/// Columns of a result: a RowDescription message that was checked.
#[derive(Clone, Copy)]
pub struct Columns<'a>(&'a [u8]);

/// Description of one column of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// Name in the session's `client_encoding`.
    pub name: &'a [u8],
    /// Type of the column: `oid` in `pg_type`.
    pub type_oid: u32,
}

impl<'a> Columns<'a> {
    /// Length of a column's fixed part: table oid, attribute, type oid, type size, type modifier, format.
    const FIXED: usize = 18;

    pub(super) fn new(body: &'a [u8]) -> Result<Columns<'a>, ProtocolError> {
        let walk = || {
            let (&count, mut rest) = body.split_first_chunk()?;
            for _ in 0..u16::from_be_bytes(count) {
                rest = rest.get(until_nul(rest)?.len() + 1 + Self::FIXED..)?;
            }
            rest.is_empty().then_some(Columns(body))
        };
        walk().ok_or(ProtocolError::Malformed { tag: b'T' })
    }

    /// Number of columns.
    pub fn count(&self) -> usize {
        usize::from(u16::from_be_bytes([self.0[0], self.0[1]]))
    }

    /// Columns from left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Column<'a>> + use<'a> {
        let mut rest = &self.0[2..];
        (0..self.count()).map(move |_| {
            let name = until_nul(rest).expect("checked by `new`");
            let (fixed, after) = rest[name.len() + 1..].split_at(Self::FIXED);
            rest = after;
            Column { name, type_oid: u32::from_be_bytes([fixed[6], fixed[7], fixed[8], fixed[9]]) }
        })
    }
}

impl fmt::Debug for Columns<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|it| String::from_utf8_lossy(it.name))).finish()
    }
}

/// Row of a result: a DataRow message that was checked.
#[derive(Clone, Copy)]
pub struct Row<'a>(&'a [u8]);

impl<'a> Row<'a> {
    pub(super) fn new(body: &'a [u8]) -> Result<Row<'a>, ProtocolError> {
        let walk = || {
            let (&count, mut rest) = body.split_first_chunk()?;
            for _ in 0..u16::from_be_bytes(count) {
                rest = split_value(rest)?.1;
            }
            rest.is_empty().then_some(Row(body))
        };
        walk().ok_or(ProtocolError::Malformed { tag: b'D' })
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        usize::from(u16::from_be_bytes([self.0[0], self.0[1]]))
    }

    /// Values from left to right; `None` is NULL.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a [u8]>> + use<'a> {
        let mut rest = &self.0[2..];
        (0..self.count()).map(move |_| {
            let (value, after) = split_value(rest).expect("checked by `new`");
            rest = after;
            value
        })
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|it| it.map(String::from_utf8_lossy))).finish()
    }
}

/// ErrorResponse or NoticeResponse with undecoded fields.
#[derive(Clone, Copy)]
pub struct Notice<'a>(&'a [u8]);

impl<'a> Notice<'a> {
    pub(super) fn new(body: &'a [u8], tag: u8) -> Result<Notice<'a>, ProtocolError> {
        let notice = Notice(body);
        let length: usize = notice.fields().map(|(_, text)| text.len() + 2).sum();
        if body.get(length..) == Some(&[0]) { Ok(notice) } else { Err(ProtocolError::Malformed { tag }) }
    }

    /// Fields in the server's order: letter and text.
    pub fn fields(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (&letter, after) = rest.split_first().filter(|(letter, _)| **letter != 0)?;
            let value = until_nul(after)?;
            rest = &after[value.len() + 1..];
            Some((letter, value))
        })
    }

    /// Text of the field with this letter; `None` if the message lacks it. Source: PostgreSQL manual, "Error and Notice
    /// Message Fields".
    pub fn field(&self, letter: u8) -> Option<&'a [u8]> {
        self.fields().find(|it| it.0 == letter).map(|it| it.1)
    }

    /// SQLSTATE; `Code::PROTOCOL` if the server sent no SQLSTATE, or a text that does not have five characters.
    pub fn code(&self) -> Code {
        match self.field(b'C').map(<[u8; 5]>::try_from) {
            Some(Ok(state)) => Code::SqlState(state),
            _ => Code::PROTOCOL,
        }
    }

    /// Severity in English, such as `ERROR`. If the server sends only a translated severity, returns the translation.
    pub fn severity(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.field(b'V').or(self.field(b'S')).unwrap_or_default())
    }

    /// True if the server closes the connection after this message.
    pub fn is_fatal(&self) -> bool {
        matches!(&*self.severity(), "FATAL" | "PANIC")
    }

    /// Primary message in the server's language, usually one line.
    pub fn message(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.field(b'M').unwrap_or_default())
    }

    /// Detail, possibly several lines.
    pub fn detail(&self) -> Option<Cow<'a, str>> {
        self.field(b'D').map(String::from_utf8_lossy)
    }

    /// Server's hint for a solution.
    pub fn hint(&self) -> Option<Cow<'a, str>> {
        self.field(b'H').map(String::from_utf8_lossy)
    }

    /// Position of the error in the statement, in characters from 1.
    pub fn position(&self) -> Option<u32> {
        std::str::from_utf8(self.field(b'P')?).ok()?.parse().ok()
    }

    /// C function that reported the error, e.g. `SyncRepWaitForLSN`.
    pub fn routine(&self) -> Option<Cow<'a, str>> {
        self.field(b'R').map(String::from_utf8_lossy)
    }

    /// Name of the constraint that the error concerns.
    pub fn constraint(&self) -> Option<Cow<'a, str>> {
        self.field(b'n').map(String::from_utf8_lossy)
    }
}

impl fmt::Display for Notice<'_> {
    /// Format of psql's first line: `ERROR:  40001: could not serialize access …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:  {}: {}", self.severity(), self.code(), self.message())
    }
}

impl fmt::Debug for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.fields().map(|(letter, text)| (char::from(letter), String::from_utf8_lossy(text))))
            .finish()
    }
}

/// Text before the first NUL; `None` without a NUL.
pub(super) fn until_nul(bytes: &[u8]) -> Option<&[u8]> {
    bytes.iter().position(|&it| it == 0).map(|end| &bytes[..end])
}

/// Splits off a length-prefixed value, and returns the bytes after it. The length −1 means NULL.
fn split_value(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (&length, rest) = bytes.split_first_chunk()?;
    match i32::from_be_bytes(length) {
        -1 => Some((None, rest)),
        length => {
            let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((Some(value), rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_rows() {
        let check = |body: &[u8], expected: &str| {
            let shown =
                Row::new(body).map_or_else(|it| it.to_string(), |it| format!("{} {it:?}", it.count()));
            assert_eq!(shown, expected, "{body:?}");
        };
        check(b"\0\0", "0 []");
        check(b"\0\x02\0\0\0\x02ab\xff\xff\xff\xff", r#"2 [Some("ab"), None]"#);
        check(b"\0\x01\0\0\0\0", r#"1 [Some("")]"#);
        for bad in [
            &b""[..],
            b"\0",
            b"\0\x01",
            b"\0\x01\0\0\0",
            b"\0\x01\0\0\0\x02a",
            b"\0\x01\xff\xff\xff\xfe",
            b"\0\x01\x7f\xff\xff\xff",
            b"\0\0z",
        ] {
            check(bad, "malformed message 'D'");
        }
    }

    #[test]
    fn parses_columns() {
        let check = |body: &[u8], expected: &str| {
            let shown = Columns::new(body).map_or_else(
                |it| it.to_string(),
                |columns| {
                    let oids: Vec<u32> = columns.iter().map(|it| it.type_oid).collect();
                    format!("{} {columns:?} {oids:?}", columns.count())
                },
            );
            assert_eq!(shown, expected, "{body:?}");
        };
        let id = b"id\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0";
        check(&[b"\0\x01".as_slice(), id].concat(), r#"1 ["id"] [20]"#);
        check(&[b"\0\x02".as_slice(), id, id].concat(), r#"2 ["id", "id"] [20, 20]"#);
        check(b"\0\0", "0 [] []");
        check(b"", "malformed message 'T'");
        check(b"\0\x01id", "malformed message 'T'");
        check(&[b"\0\x01".as_slice(), &id[..20]].concat(), "malformed message 'T'");
        check(&[b"\0\0".as_slice(), id].concat(), "malformed message 'T'");
    }

    #[test]
    fn parses_notices() {
        let check = |body: &[u8], expected: &str| {
            let shown = Notice::new(body, b'E').map_or_else(
                |it| it.to_string(),
                |it| format!("{it} | {:?} {:?} fatal {}", it.position(), it.routine(), it.is_fatal()),
            );
            assert_eq!(shown, expected, "{body:?}");
        };
        check(
            b"SFEHLER\0VERROR\0C40001\0Mno\0P17\0Rx\0\0",
            r#"ERROR:  40001: no | Some(17) Some("x") fatal false"#,
        );
        check(b"SFATAL\0C53300\0Mfull\0\0", "FATAL:  53300: full | None None fatal true");
        check(b"C4000\0\0", ":  net 71:  | None None fatal false");
        check(b"\0", ":  net 71:  | None None fatal false");
        for bad in [&b""[..], b"M", b"Mx", b"Mx\0", b"Mx\0\0\0", b"Mx\0\0z"] {
            check(bad, "malformed message 'E'");
        }
    }
}
