//! Writer of packed rows, which can be drawn without parsing

use crate::access::SkippedLines;
use crate::bounds::MAX_PACKED_BYTES;
use crate::diagnostic::ExceededLimit;
use model::row_table::{RowFormat, RowLayout};
use std::io::{self, Write};

/// Writer of rows in the format [`RowFormat::Packed`].
#[derive(Debug)]
pub struct PackedWriter<W> {
    out: W,
    position: u64,
    /// Maximum number of bytes to write.
    limit: u64,
    layout: RowLayout,
    /// Lines of a log that yield no row.
    pub skipped: SkippedLines,
}

impl<W: Write> PackedWriter<W> {
    pub fn new(out: W, columns: Vec<String>) -> PackedWriter<W> {
        PackedWriter {
            out,
            position: 0,
            limit: MAX_PACKED_BYTES,
            layout: RowLayout::new(RowFormat::Packed, columns),
            skipped: SkippedLines::default(),
        }
    }

    pub fn columns(&self) -> &[String] {
        &self.layout.columns
    }

    pub fn rows(&self) -> u64 {
        self.layout.count
    }

    /// Writes a row with one field per column.
    ///
    /// # Errors
    /// Fails if `out` fails, if a field has 4 GiB or more, or if all rows exceed `bounds::MAX_PACKED_BYTES`.
    pub fn push<'a>(&mut self, fields: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        self.layout.push(self.position);
        let mut count = 0;
        for field in fields {
            let length = u32::try_from(field.len()).map_err(|_| ExceededLimit::Field)?;
            self.position += 4 + u64::from(length);
            if self.position > self.limit {
                return Err(ExceededLimit::PackedRows(self.limit).into());
            }
            self.out.write_all(&length.to_le_bytes())?;
            self.out.write_all(field)?;
            count += 1;
        }
        assert_eq!(count, self.layout.columns.len(), "each row has one field per column");
        Ok(())
    }

    /// Flushes the output and returns it with the layout of its rows.
    pub fn finish(mut self) -> io::Result<(W, RowLayout)> {
        self.out.flush()?;
        Ok((self.out, self.layout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_output_above_limit() {
        let mut packing = PackedWriter { limit: 20, ..PackedWriter::new(Vec::new(), vec!["id".to_owned()]) };
        let mut push = || packing.push([b"123456".as_slice()].into_iter());
        assert!(push().is_ok() && push().is_ok());
        let refused = push().expect_err("the limit is exceeded");
        assert_eq!(crate::io_message(&refused).describe(), "feed-large(0)");
        assert_eq!(packing.out.len(), 20, "nothing of the rejected row was written");
    }
}
