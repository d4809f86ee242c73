//! Entry of a log, parsed by the log's format

use super::field::Field;
use super::format::{LogFormat, Piece};
use super::time_pattern::TimeParts;
use model::message;
use model::message::Message;

/// Values of a line. The buffers are reused for the next line.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub method: Vec<u8>,
    /// Path with the query.
    pub target: Vec<u8>,
    /// Header lines, each with its line end.
    pub headers: Vec<u8>,
    /// Status and size as digits; empty if unknown.
    pub status: Vec<u8>,
    body_bytes: Vec<u8>,
    all_bytes: Vec<u8>,
    pub time: TimeParts,
    /// Duration in nanoseconds, and the unit in which it was logged.
    duration: Option<(u64, u64)>,
    request_line: Vec<u8>,
    query: Vec<u8>,
}

/// Place at which a line does not fit its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deviation {
    /// The line does not begin with this text.
    Prefix { expected: Vec<u8> },
    /// This text does not follow the field.
    Separator { field: String, column: usize, expected: Vec<u8> },
    /// The field has an invalid value.
    Value { field: String, column: usize },
    /// The line continues after its last field.
    Rest { column: usize },
}

impl Deviation {
    /// Describes the deviation of `line`.
    pub fn message(&self, line: &[u8]) -> Message {
        let found = |column: usize| discreet_excerpt(&line[column.min(line.len())..]);
        let place = |column: usize| (column + 1).to_string();
        match self {
            Deviation::Prefix { expected } => {
                message!("feed-log-prefix", expected = shown(expected), found = found(0))
            }
            Deviation::Separator { field, column, expected } => message!(
                "feed-log-separator",
                field,
                column = place(*column),
                expected = shown(expected),
                found = found(*column)
            ),
            Deviation::Value { field, column } => {
                message!("feed-log-value", field, column = place(*column), found = found(*column))
            }
            Deviation::Rest { column } => {
                message!("feed-log-rest", column = place(*column), found = found(*column))
            }
        }
    }
}

/// Beginning of a text without the query of its URL, which may contain a password or a token.
fn discreet_excerpt(text: &[u8]) -> String {
    match text.iter().position(|it| *it == b'?') {
        Some(end) if end < 40 => format!("{}?…", shown(&text[..end])),
        _ => shown(text),
    }
}

/// Beginning of a text as it is, except for control characters.
fn shown(text: &[u8]) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    String::from_utf8_lossy(text).chars().take(40).map(escape).collect()
}

impl Entry {
    /// Parses a line.
    pub fn parse(&mut self, format: &LogFormat, line: &[u8]) -> Result<(), Deviation> {
        self.clear();
        let mut rest = if format.has_syslog_header { without_syslog_header(line) } else { line };
        rest = rest
            .strip_prefix(format.prefix.as_slice())
            .ok_or_else(|| Deviation::Prefix { expected: format.prefix.clone() })?;
        for piece in &format.pieces {
            let column = line.len() - rest.len();
            let invalid = || Deviation::Value { field: piece.name.clone(), column };
            let separator =
                || Deviation::Separator { field: piece.name.clone(), column, expected: piece.until.clone() };
            let end = match &piece.field {
                Field::Time(pattern) => pattern.parse(rest, &mut self.time).ok_or_else(invalid)?,
                _ => {
                    let end = find_end(piece, rest).ok_or_else(separator)?;
                    if !self.set(&piece.field, &rest[..end]) {
                        return Err(invalid());
                    }
                    end
                }
            };
            rest = &rest[end..];
            if piece.is_separated {
                let until = piece.until.as_slice();
                let is_omitted = piece.field == Field::Captured && end == 0;
                let until = until.strip_prefix(b" ").filter(|_| is_omitted).unwrap_or(until);
                rest = rest.strip_prefix(until).ok_or_else(separator)?;
            }
        }
        if !rest.is_empty() {
            return Err(Deviation::Rest { column: line.len() - rest.len() });
        }
        self.finish_target();
        Ok(())
    }

    /// Size of the response: the size of the body, if it is known.
    pub fn bytes(&self) -> &[u8] {
        if self.body_bytes.is_empty() { &self.all_bytes } else { &self.body_bytes }
    }

    /// Duration in nanoseconds.
    pub fn duration(&self) -> Option<u64> {
        self.duration.map(|it| it.0)
    }

    fn clear(&mut self) {
        let Entry { method, target, headers, status, body_bytes, all_bytes, .. } = self;
        for buffer in [method, target, headers, status, body_bytes, all_bytes] {
            buffer.clear();
        }
        self.request_line.clear();
        self.query.clear();
        (self.time, self.duration) = (TimeParts::default(), None);
    }

    /// Sets a value. Returns false if the value is invalid.
    fn set(&mut self, field: &Field, value: &[u8]) -> bool {
        // Servers write a dash, or -1, for a value that does not exist.
        let is_absent = matches!(value, b"" | b"-" | b"-1");
        match field {
            Field::Unused | Field::UnusedList | Field::Captured | Field::QueryMark | Field::Time(_) => {}
            Field::BodyBytes if value == b"-" => self.body_bytes.extend_from_slice(b"0"),
            _ if is_absent => {}
            Field::RequestLine => unescape(value, &mut self.request_line),
            Field::Method => unescape(value, &mut self.method),
            Field::Target => unescape(value, &mut self.target),
            Field::DecodedPath => {
                let mut decoded = Vec::new();
                unescape(value, &mut decoded);
                percent_encode(&decoded, &mut self.target);
            }
            Field::Query | Field::MarkedQuery => {
                unescape(value.strip_prefix(b"?").unwrap_or(value), &mut self.query);
            }
            Field::Status => {
                self.status.extend_from_slice(value);
                return value.len() == 3 && is_digits(value);
            }
            Field::BodyBytes | Field::AllBytes => {
                // HAProxy writes `+` if it logs a request before its end.
                let value = value.strip_prefix(b"+").unwrap_or(value);
                let to = if *field == Field::BodyBytes { &mut self.body_bytes } else { &mut self.all_bytes };
                to.clear();
                to.extend_from_slice(value);
                return is_digits(value);
            }
            Field::Duration(unit) => {
                let value = value.strip_prefix(b"+").unwrap_or(value);
                let Some(nanos) = decimal(value, *unit) else { return false };
                // Of several fields, the one with the smallest unit is the most precise.
                if self.duration.is_none_or(|it| it.1 > *unit) {
                    self.duration = Some((nanos, *unit));
                }
            }
            Field::Header(name) => self.push_header(name, value),
        }
        true
    }

    /// Adds a request header, unless pgdyno or the connection determines it.
    fn push_header(&mut self, name: &str, value: &[u8]) {
        const OF_CONNECTION: [&str; 9] = [
            "Host",
            "Content-Length",
            "Content-Type",
            "Transfer-Encoding",
            "Connection",
            "Keep-Alive",
            "Upgrade",
            "Expect",
            "TE",
        ];
        if OF_CONNECTION.iter().any(|it| it.eq_ignore_ascii_case(name)) {
            return;
        }
        let start = self.headers.len();
        self.headers.extend_from_slice(name.as_bytes());
        self.headers.extend_from_slice(b": ");
        let value_start = self.headers.len();
        unescape(value, &mut self.headers);
        let is_valid = |it: &u8| *it == b'\t' || (*it >= b' ' && *it != 0x7f);
        match self.headers[value_start..].iter().all(is_valid) {
            true => self.headers.extend_from_slice(b"\r\n"),
            false => self.headers.truncate(start),
        }
    }

    /// Derives method and target from the request line, and appends the query to the target.
    fn finish_target(&mut self) {
        if self.method.is_empty() || self.target.is_empty() {
            let (method, rest) = split_at_blank(&self.request_line);
            let target = match rest.windows(6).rposition(|it| it == b" HTTP/") {
                Some(end) => &rest[..end],
                None => rest,
            };
            if self.method.is_empty() {
                self.method.extend_from_slice(method);
            }
            if self.target.is_empty() {
                self.target.extend_from_slice(target);
            }
        }
        if !self.query.is_empty() && !self.target.contains(&b'?') {
            self.target.push(b'?');
            self.target.extend_from_slice(&self.query);
        }
    }
}

/// Position at which a field ends.
fn find_end(piece: &Piece, rest: &[u8]) -> Option<usize> {
    match piece.field {
        Field::QueryMark => return Some(usize::from(rest.first() == Some(&b'?'))),
        Field::Captured if rest.first() != Some(&b'{') => return Some(0),
        Field::Captured => return rest.iter().position(|it| *it == b'}').map(|end| end + 1),
        _ => {}
    }
    let mut at = 0;
    if piece.field == Field::RequestLine && piece.until.first() == Some(&b' ') {
        // A request line without quotes contains blanks, of which the last one precedes the protocol.
        at = rest.windows(6).position(|it| it == b" HTTP/").map_or(0, |it| it + 6);
    }
    let end = loop {
        let found = at + find(&rest[at..], piece)?;
        let is_between = |text: &[u8]| text.ends_with(b",") || text.ends_with(b" :");
        let continues = piece.field == Field::UnusedList
            && piece.until.first() == Some(&b' ')
            && (is_between(&rest[..found]) || rest[found..].starts_with(b" : "));
        if !continues {
            break found;
        }
        at = found + 1;
    };
    let stop = piece.stop.and_then(|stop| rest[..end].iter().position(|it| *it == stop));
    // The path ends before the dash that nginx writes for an absent query.
    let is_dash = stop.is_none() && piece.query_may_be_dash && rest[..end].ends_with(b"-");
    Some(stop.unwrap_or(end - usize::from(is_dash)))
}

/// Position of the text that ends a field. Within quotes, a backslash escapes the next byte.
fn find(rest: &[u8], piece: &Piece) -> Option<usize> {
    let until = piece.until.as_slice();
    let Some((first, _)) = until.split_first() else { return Some(rest.len()) };
    let mut at = 0;
    loop {
        let is_candidate = |it: &u8| it == first || (*first == b'"' && *it == b'\\');
        at += rest[at..].iter().position(is_candidate)?;
        if rest[at..].starts_with(until) {
            return Some(at);
        }
        at += if rest[at] == b'\\' && *first == b'"' { 2 } else { 1 };
        if at > rest.len() {
            return None;
        }
    }
}

/// Line without the header of a syslog message, such as `Feb  6 12:14:14 host haproxy[14389]: `.
fn without_syslog_header(line: &[u8]) -> &[u8] {
    match line.windows(3).take(200).position(|it| it == b"]: ") {
        Some(at) => &line[at + 3..],
        None => line,
    }
}

fn split_at_blank(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|it| *it == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

fn is_digits(text: &[u8]) -> bool {
    (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

/// Decimal number of units, such as `0.042`, in nanoseconds.
fn decimal(text: &[u8], unit: u64) -> Option<u64> {
    let point = text.iter().position(|it| *it == b'.').unwrap_or(text.len());
    let (whole, fraction) = (&text[..point], text.get(point + 1..).unwrap_or(b"0"));
    let is_valid = is_digits(whole) && (1..=9).contains(&fraction.len()) && is_digits(fraction);
    let value = |digits: &[u8]| digits.iter().fold(0u64, |sum, it| sum * 10 + u64::from(it - b'0'));
    let nanos = value(fraction).checked_mul(unit)? / 10u64.pow(fraction.len() as u32);
    is_valid.then(|| value(whole).checked_mul(unit)?.checked_add(nanos)).flatten()
}

/// Appends a value without the escapes of nginx, Apache and JSON.
fn unescape(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(at) = rest.iter().position(|it| *it == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let hex = |digits: Option<&[u8]>| {
            u32::from_str_radix(std::str::from_utf8(digits?).ok()?, 16).ok().and_then(char::from_u32)
        };
        let (bytes, length) = match rest.get(at + 1) {
            Some(b'x') => match hex(rest.get(at + 2..at + 4)) {
                Some(byte) => (vec![byte as u8], 4),
                None => (b"\\".to_vec(), 1),
            },
            Some(b'u') => match hex(rest.get(at + 2..at + 6)) {
                Some(character) => (character.to_string().into_bytes(), 6),
                None => (b"\\".to_vec(), 1),
            },
            Some(b'n') => (b"\n".to_vec(), 2),
            Some(b'r') => (b"\r".to_vec(), 2),
            Some(b't') => (b"\t".to_vec(), 2),
            Some(b'b') => (vec![8], 2),
            Some(b'f') => (vec![12], 2),
            Some(other @ (b'"' | b'\\' | b'/')) => (vec![*other], 2),
            _ => (b"\\".to_vec(), 1),
        };
        out.extend_from_slice(&bytes);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
}

/// Appends a decoded path, with `%` escapes for bytes that a target must not contain.
fn percent_encode(path: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in path {
        if byte.is_ascii_graphic() && !b"%?#\"<>\\^`{|}".contains(byte) {
            out.push(*byte);
        } else {
            out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests;
