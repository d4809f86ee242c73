//! Reader of the access logs of web servers

mod entry;
mod field;
mod format;
mod kind;
mod time_pattern;

pub use field::LoggedMoment;
pub use format::LogFormat;

use crate::diagnostic::Diagnostic;
use crate::request::{AmmoRequest, LineReader, RequestSink, check, split_word};
use entry::Entry;
use model::message;
use std::io::BufRead;
use time_pattern::{TimeParts, TimePattern};

/// Lines of a log that yield no row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// Requests with a method that usually has a body. A log does not contain bodies.
    pub with_body: u64,
    /// Lines without a valid request.
    pub without_request: u64,
    /// Lines that do not fit the format.
    pub misfits: u64,
    /// First line that does not fit.
    pub first_misfit: Option<Diagnostic>,
}

impl SkippedLines {
    pub fn total(&self) -> u64 {
        self.with_body + self.without_request + self.misfits
    }
}

/// Methods of requests without a body.
const BODILESS: [&[u8]; 4] = [b"GET", b"HEAD", b"DELETE", b"OPTIONS"];

/// Passes every request of a log to `take`. Without a format, the lines have the common or the combined format.
pub(crate) fn read(
    format: Option<&LogFormat>,
    source: &mut dyn BufRead,
    take: &mut RequestSink<'_>,
) -> Result<SkippedLines, Diagnostic> {
    let mut lines = LineReader::new(source);
    let (mut skipped, mut taken) = (SkippedLines::default(), 0_u64);
    let mut request = AmmoRequest::default();
    let mut entry = Entry::default();
    let common = TimePattern::new("[%d/%b/%Y:%H:%M:%S %z]").expect("the pattern is valid");
    while lines.next()? {
        let number = lines.line;
        let text = lines.text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let fits = match format {
            Some(format) => entry.parse(format, text).map_err(|it| it.message(text)),
            None => common_request(text, &common, &mut request)
                .then_some(())
                .ok_or_else(|| message!("feed-log-no-request", found = crate::diagnostic::excerpt(text))),
        };
        if let Err(message) = fits {
            skipped.misfits += 1;
            skipped.first_misfit.get_or_insert_with(|| Diagnostic::new(number, message));
            continue;
        }
        if format.is_some() {
            request.fill(&entry);
        }
        let is_valid = request.target.starts_with(b"/") && check(&request, number).is_ok();
        if !is_valid {
            skipped.without_request += 1;
        } else if !BODILESS.contains(&request.method.as_slice()) {
            skipped.with_body += 1;
        } else {
            request.tag.clear();
            kind::write_kind(&request.method, &request.target, &mut request.tag);
            take(&request).map_err(|it| Diagnostic::from_io_error(number, &it))?;
            taken += 1;
        }
    }
    let lines = taken + skipped.total();
    if 2 * skipped.misfits > lines
        && let Some(Diagnostic { line, message }) = skipped.first_misfit
    {
        let (misfits, lines) = (skipped.misfits.to_string(), lines.to_string());
        return Err(Diagnostic::new(line, message!("feed-log-misfits", found = message, misfits, lines)));
    }
    if taken == 0 {
        return Err(Diagnostic::new(0, message!("feed-no-requests")));
    }
    Ok(skipped)
}

impl AmmoRequest {
    /// Sets the request and its recorded response.
    fn fill(&mut self, entry: &Entry) {
        let set = |field: &mut Vec<u8>, value: &[u8]| {
            field.clear();
            field.extend_from_slice(value);
        };
        set(&mut self.method, &entry.method);
        set(&mut self.target, &entry.target);
        set(&mut self.headers, &entry.headers);
        set(&mut self.status, &entry.status);
        set(&mut self.bytes, entry.bytes());
        set_number(&mut self.time, entry.time.unix_nanos());
        set_number(&mut self.duration, entry.duration());
    }
}

fn set_number(field: &mut Vec<u8>, value: Option<u64>) {
    field.clear();
    field.extend(value.map(|it| it.to_string()).unwrap_or_default().into_bytes());
}

/// Parses a line in the common or combined format: the request is the text between the first quotes; status and size of
/// the response follow; the time is in brackets. Returns false if the line has no quotes.
fn common_request(text: &[u8], time: &TimePattern, request: &mut AmmoRequest) -> bool {
    let mut parts = text.splitn(3, |it| *it == b'"');
    let (before, Some(line)) = (parts.next().unwrap_or_default(), parts.next()) else { return false };
    let (method, rest) = split_word(line);
    let (target, _) = split_word(rest);
    let (status, rest) = split_word(parts.next().unwrap_or_default().trim_ascii_start());
    // The common log format writes a dash instead of 0.
    let bytes = match split_word(rest).0 {
        b"-" => b"0",
        bytes => bytes,
    };
    let is_number = |it: &[u8]| (1..=18).contains(&it.len()) && it.iter().all(u8::is_ascii_digit);
    let is_known = status.len() == 3 && is_number(status) && is_number(bytes);
    let (status, bytes) = if is_known { (status, bytes) } else { (&[][..], &[][..]) };
    for (field, value) in [
        (&mut request.method, method),
        (&mut request.target, target),
        (&mut request.status, status),
        (&mut request.bytes, bytes),
    ] {
        field.clear();
        field.extend_from_slice(value);
    }
    let mut parts = TimeParts::default();
    let bracket = before.iter().position(|it| *it == b'[');
    let has_time = bracket.is_some_and(|at| time.parse(&before[at..], &mut parts).is_some());
    set_number(&mut request.time, parts.unix_nanos().filter(|_| has_time));
    true
}

#[cfg(test)]
mod tests;
