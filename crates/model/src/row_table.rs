//! Random access to the rows of a feed.
//!
//! The bytes of the rows may be a mapped file far larger than memory. Only the offset of every
//! [`RowLayout::OFFSET_INTERVAL`]th row is stored. Reading a row neither copies nor allocates.

use std::fmt;
use std::sync::Arc;

/// Table of text fields; cloning is cheap.
#[derive(Clone)]
pub struct Rows {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    layout: Arc<RowLayout>,
}

/// Positions of rows within the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    pub format: RowFormat,
    /// Column names in order; at least one.
    pub columns: Vec<String>,
    pub count: u64,
    /// Offsets of rows 0, [`RowLayout::OFFSET_INTERVAL`], 2 × [`RowLayout::OFFSET_INTERVAL`], …
    pub offsets: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Lines that end with `\n` or `\r\n`: one row per line, with one unquoted field per column.
    Lines { delimiter: u8 },
    /// Packed fields: four bytes of length in little-endian order, then the field.
    Packed,
}

impl RowLayout {
    /// Number of rows between two stored offsets. Drawing a row skips half of this number on average.
    pub const OFFSET_INTERVAL: u64 = 32;

    /// Layout without rows.
    pub fn new(form: RowFormat, columns: Vec<String>) -> RowLayout {
        RowLayout { format: form, columns, count: 0, offsets: Vec::new() }
    }

    /// Appends a row that begins at `offset`.
    pub fn push(&mut self, offset: u64) {
        if self.count.is_multiple_of(RowLayout::OFFSET_INTERVAL) {
            self.offsets.push(offset);
        }
        self.count += 1;
    }
}

impl Rows {
    /// Table of the rows in `bytes`, which `layout` must describe.
    pub fn new(bytes: Arc<dyn AsRef<[u8]> + Send + Sync>, layout: RowLayout) -> Rows {
        Rows { bytes, layout: Arc::new(layout) }
    }

    pub fn len(&self) -> u64 {
        self.layout.count
    }

    pub fn is_empty(&self) -> bool {
        self.layout.count == 0
    }

    pub fn columns(&self) -> &[String] {
        &self.layout.columns
    }

    /// Fields of row `n` (from 0), by column.
    ///
    /// # Panics
    /// Panics if `n` is not less than the number of rows. If a mapped file is modified concurrently, fields may be
    /// wrong or empty.
    #[inline]
    pub fn row(&self, n: u64) -> Fields<'_> {
        assert!(n < self.layout.count, "row {n} of {}", self.layout.count);
        let mut at = self.layout.offsets[(n / RowLayout::OFFSET_INTERVAL) as usize] as usize;
        let bytes = (*self.bytes).as_ref();
        for _ in 0..n % RowLayout::OFFSET_INTERVAL {
            at = self.next_offset(bytes, at);
        }
        self.fields_at(bytes, at)
    }

    /// Fields of all rows in order. This is faster than [`row`](Rows::row) for each number.
    pub fn iter(&self) -> impl Iterator<Item = Fields<'_>> {
        let bytes = (*self.bytes).as_ref();
        let mut at = self.layout.offsets.first().map_or(0, |it| *it as usize);
        (0..self.layout.count).map(move |_| {
            let fields = self.fields_at(bytes, at);
            at = self.next_offset(bytes, at);
            fields
        })
    }

    #[inline]
    fn fields_at<'a>(&self, bytes: &'a [u8], at: usize) -> Fields<'a> {
        let rest = bytes.get(at..).unwrap_or_default();
        let (rest, delimiter) = match self.layout.format {
            RowFormat::Lines { delimiter } => (first_line(rest), Some(delimiter)),
            RowFormat::Packed => (rest, None),
        };
        Fields { rest, delimiter, remaining: self.layout.columns.len() }
    }

    /// Offset of the row that follows the row at `at`.
    fn next_offset(&self, bytes: &[u8], at: usize) -> usize {
        let rest = bytes.get(at..).unwrap_or_default();
        match self.layout.format {
            RowFormat::Lines { .. } => {
                at + rest.iter().position(|it| *it == b'\n').map_or(rest.len(), |it| it + 1)
            }
            RowFormat::Packed => {
                let mut fields = Fields { rest, delimiter: None, remaining: self.layout.columns.len() };
                fields.by_ref().for_each(drop);
                bytes.len() - fields.rest.len()
            }
        }
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rows({} of {:?})", self.layout.count, self.layout.columns)
    }
}

/// First line without its line ending.
fn first_line(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
    rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end])
}

/// Fields of one row in order, one per column.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    /// Separator of fields; `None` for the packed format.
    delimiter: Option<u8>,
    remaining: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.remaining = self.remaining.checked_sub(1)?;
        let (field, rest) = match self.delimiter {
            Some(delimiter) => {
                let end = self.rest.iter().position(|it| *it == delimiter).unwrap_or(self.rest.len());
                (&self.rest[..end], self.rest.get(end + 1..).unwrap_or_default())
            }
            None => {
                let (length, rest) = self.rest.split_first_chunk().unwrap_or((&[0; 4], &[]));
                rest.split_at((u32::from_le_bytes(*length) as usize).min(rest.len()))
            }
        };
        self.rest = rest;
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(rows: &[[&str; 2]]) -> Rows {
        let (mut bytes, mut layout) =
            (Vec::new(), RowLayout::new(RowFormat::Packed, vec!["a".into(), "b".into()]));
        for row in rows {
            layout.push(bytes.len() as u64);
            for field in row {
                bytes.extend((field.len() as u32).to_le_bytes());
                bytes.extend(field.as_bytes());
            }
        }
        Rows::new(Arc::new(bytes), layout)
    }

    fn lines(text: &str, delimiter: u8) -> Rows {
        let mut layout = RowLayout::new(RowFormat::Lines { delimiter }, vec!["a".into(), "b".into()]);
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            layout.push(at);
            at += line.len() as u64;
        }
        Rows::new(Arc::new(text.to_owned().into_bytes()), layout)
    }

    fn join_rows(rows: &Rows) -> Vec<String> {
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        (0..rows.len()).map(|n| rows.row(n).map(text).collect::<Vec<_>>().join("|")).collect()
    }

    #[test]
    fn reads_rows_of_both_formats() {
        for (rows, expected) in [
            (lines("1,x\n2,y\n", b','), "1|x 2|y"),
            (lines("1\tx\r\n2\t\r\n", b'\t'), "1|x 2|"),
            (lines("1,x", b','), "1|x"),
            // The bytes changed after indexing: fields differ, but nothing panics.
            (lines("1\n,2,3\n", b','), "1| |2"),
            (packed(&[["1", "x"], ["", "a\nb,c"]]), "1|x |a\nb,c"),
            (packed(&[]), ""),
        ] {
            assert_eq!(join_rows(&rows).join(" "), expected);
        }
    }

    #[test]
    fn reads_every_row_of_many() {
        let many: Vec<[String; 2]> = (0..1000).map(|n| [n.to_string(), "x".repeat(n % 7)]).collect();
        let borrowed: Vec<[&str; 2]> = many.iter().map(|it| [it[0].as_str(), it[1].as_str()]).collect();
        let text: String = many.iter().map(|it| format!("{},{}\n", it[0], it[1])).collect();
        for rows in [packed(&borrowed), lines(&text, b',')] {
            let expected: Vec<String> = many.iter().map(|it| it.join("|")).collect();
            assert_eq!(join_rows(&rows), expected);
            let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
            let iterated: Vec<String> =
                rows.iter().map(|it| it.map(text).collect::<Vec<_>>().join("|")).collect();
            assert_eq!(iterated, expected);
        }
    }

    #[test]
    fn damaged_lengths_do_not_panic() {
        let layout =
            RowLayout { count: 2, offsets: vec![0], ..RowLayout::new(RowFormat::Packed, vec!["a".into()]) };
        let rows = Rows::new(Arc::new(vec![255, 255, 255, 255, 7]), layout);
        assert_eq!(rows.row(0).collect::<Vec<_>>(), [&[7]]);
        assert_eq!(rows.row(1).collect::<Vec<_>>(), [&[] as &[u8]]);
    }
}
