//! Target for feed files: they yield consistent rows, or diagnostics. A plain file has the same rows when it is indexed
//! and when it is packed.

use feed::{decompress, index_rows, pack};
use model::plan::FeedFormat;
use model::row_table::Rows;
use std::sync::Arc;

const FORMATS: [FeedFormat; 7] = [
    FeedFormat::Csv,
    FeedFormat::Tsv,
    FeedFormat::JsonLines,
    FeedFormat::Uri,
    FeedFormat::UriPost,
    FeedFormat::Raw,
    FeedFormat::Access,
];

/// Runs one input. The first byte selects the format, and whether the columns are given.
pub fn run(data: &[u8]) {
    let [flags, bytes @ ..] = data else { return };
    let format = FORMATS[usize::from(*flags & 0x7f) % FORMATS.len()];
    let names = ["id".to_owned(), "name".to_owned()];
    let columns = (*flags & 0x80 != 0).then_some(&names[..]);
    let packed = decompress(bytes).and_then(|mut source| pack(format, columns, &mut source, Vec::new()));
    let packed = match packed {
        Ok(packing) => {
            let (bytes, layout) = packing.finish().expect("writing to memory cannot fail");
            Some(fields(&Rows::new(Arc::new(bytes), layout)))
        }
        Err(error) => {
            assert!(!format!("{error:?}").is_empty());
            None
        }
    };
    let Some(delimiter) = format.delimiter() else { return };
    if let Ok(Some(layout)) = index_rows(bytes, delimiter, columns) {
        let indexed = fields(&Rows::new(Arc::new(bytes.to_vec()), layout));
        // Data in gzip format is not text. It is detected first, so it is never indexed.
        if let Some(packed) = packed.filter(|_| !bytes.starts_with(&[0x1f, 0x8b])) {
            assert_eq!(indexed, packed, "both readers agree on a plain file");
        }
    }
}

/// Fields of all rows. Every row has as many fields as there are columns.
fn fields(rows: &Rows) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for n in 0..rows.len() {
        let before = all.len();
        all.extend(rows.row(n).map(<[u8]>::to_vec));
        assert_eq!(all.len() - before, rows.columns().len());
    }
    all
}
