//! Reader of CSV and TSV

use crate::bounds::{MAX_ROW_BYTES, RowLimitedReader, check_columns, check_count, check_nul};
use crate::diagnostic::{Diagnostic, io_message};
use crate::index::describe_field_count;
use crate::pack::PackedWriter;
use csv::{ByteRecord, ReaderBuilder};
use model::message;
use model::message::Message;
use model::plan::FeedFormat;
use std::cell::Cell;
use std::io::{BufRead, Write};

pub fn read<W: Write>(
    format: FeedFormat,
    columns: Option<&[String]>,
    source: &mut dyn BufRead,
    out: W,
) -> Result<PackedWriter<W>, Diagnostic> {
    let left = Cell::new(MAX_ROW_BYTES);
    let mut reader = ReaderBuilder::new()
        .delimiter(format.delimiter().unwrap_or(b','))
        .quoting(format == FeedFormat::Csv)
        .has_headers(false)
        .flexible(true)
        .from_reader(RowLimitedReader::new(source, &left));
    let mut record = ByteRecord::new();
    let mut next = |record: &mut ByteRecord| {
        left.set(MAX_ROW_BYTES);
        let read = reader.read_byte_record(record);
        read.map_err(|it| Diagnostic::new(it.position().map_or(0, csv::Position::line), csv_error(&it)))
    };
    let columns = match columns {
        Some(columns) => columns.to_vec(),
        None if !next(&mut record)? => return Err(Diagnostic::new(0, message!("feed-empty"))),
        None => {
            check_count(record.len())?;
            let first = record.get(0).unwrap_or_default();
            let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
            let names = std::iter::once(first).chain(record.iter().skip(1));
            names.map(|it| String::from_utf8_lossy(it).trim().to_owned()).collect()
        }
    };
    check_columns(&columns)?;
    let mut packing = PackedWriter::new(out, columns);
    while next(&mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        let expected = packing.columns().len();
        if record.len() != expected {
            let text = record.iter().collect::<Vec<_>>().join(&format.delimiter().unwrap_or(b','));
            return Err(Diagnostic::new(line, describe_field_count(&text, record.len(), expected)));
        }
        check_nul(line, record.iter(), packing.columns())?;
        packing.push(record.iter()).map_err(|it| Diagnostic::from_io_error(line, &it))?;
    }
    match packing.rows() {
        0 => Err(Diagnostic::new(0, message!("feed-empty"))),
        _ => Ok(packing),
    }
}

fn csv_error(error: &csv::Error) -> Message {
    match error.kind() {
        csv::ErrorKind::Io(it) => message!("feed-unreadable", error = io_message(it)),
        _ => message!("error-quoted", text = error.to_string()),
    }
}
