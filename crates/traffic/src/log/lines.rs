//! Lines of a log with their numbers

use std::io::{self, BufRead, Read};

/// Maximum length of a line, in bytes. A longer line is an error, so that a file of another kind does not fill the
/// memory. PostgreSQL's longest text has 1 GiB; statements of this length are not written to logs in practice.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// Reader of lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Lines<R> {
        Lines { reader, number: 0, buffer: Vec::new() }
    }

    /// Number of the last line that was returned, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Number of the next line, and the line without its line terminator; `None` at the end of the source.
    pub fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        self.buffer.clear();
        let mut limited = (&mut self.reader).take(LINE_BYTES_MAX);
        let length = limited.read_until(b'\n', &mut self.buffer)?;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        if length as u64 == LINE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        Ok(Some((self.number, line.strip_suffix(b"\r").unwrap_or(line))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_lines_and_counts_them() {
        let mut lines = Lines::new(&b"one\r\n\ntwo"[..]);
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next().expect("memory can be read") {
            assert_eq!(number, all.len() as u64 + 1);
            all.push(String::from_utf8(line.to_vec()).expect("ASCII"));
        }
        assert_eq!((all, lines.number()), (vec!["one".into(), String::new(), "two".into()], 3));
    }
}
