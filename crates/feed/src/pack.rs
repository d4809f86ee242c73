//! How are rows written, so that drawing one parses nothing?

use model::rows::{Form, Layout};
use std::io::{self, Write};

/// Writes rows in the form [`Form::Packed`].
#[derive(Debug)]
pub struct Packing<W> {
    out: W,
    at: u64,
    layout: Layout,
    /// Of the source's, that could not become a row.
    pub skipped: u64,
}

impl<W: Write> Packing<W> {
    pub fn new(out: W, columns: Vec<String>) -> Packing<W> {
        Packing { out, at: 0, layout: Layout::new(Form::Packed, columns), skipped: 0 }
    }

    pub fn columns(&self) -> &[String] {
        &self.layout.columns
    }

    pub fn rows(&self) -> u64 {
        self.layout.count
    }

    /// One field by column.
    ///
    /// # Errors
    /// What `out` tells; and a field of 4 GiB or more.
    pub fn push<'a>(&mut self, fields: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        self.layout.push(self.at);
        let mut count = 0;
        for it in fields {
            let length =
                u32::try_from(it.len()).map_err(|_| io::Error::other("a field is 4 GiB or longer"))?;
            self.out.write_all(&length.to_le_bytes())?;
            self.out.write_all(it)?;
            self.at += 4 + u64::from(length);
            count += 1;
        }
        assert_eq!(count, self.layout.columns.len(), "a field by column");
        Ok(())
    }

    /// What was written into, flushed, and where its rows are.
    pub fn finish(mut self) -> io::Result<(W, Layout)> {
        self.out.flush()?;
        Ok((self.out, self.layout))
    }
}
