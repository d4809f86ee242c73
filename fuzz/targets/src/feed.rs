//! Target for feed files: they yield consistent rows, or diagnostics. A plain file has the same rows when it is indexed
//! and when it is packed.

use feed::{LogFormat, LoggedMoment, decompress, index_rows, pack, start_times};
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

/// Formats of logs; the last one stands for the format in the first line of the input.
const LOG_FORMATS: [&str; 5] = [
    "combined",
    "httplog",
    "$msec $request_method \"$uri$is_args$args\" $upstream_addr $request_time",
    "%t \"%r\" %D",
    "",
];

/// Runs one input. The first byte selects the format, and whether the columns are given. For a log with its own format,
/// the second byte selects the format of its lines.
pub fn run(data: &[u8]) {
    let [flags, bytes @ ..] = data else { return };
    let format = FORMATS[usize::from(*flags & 0x7f) % FORMATS.len()];
    let names = ["id".to_owned(), "name".to_owned()];
    let columns = (*flags & 0x80 != 0).then_some(&names[..]);
    if let (FeedFormat::Access, true, [which, log @ ..]) = (format, columns.is_some(), bytes) {
        return run_log(LOG_FORMATS[usize::from(*which) % LOG_FORMATS.len()], log);
    }
    let packed =
        decompress(bytes).and_then(|mut source| pack(format, columns, None, &mut source, Vec::new()));
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

/// Reads a log. All its start times are in order and belong to a row.
fn run_log(log_format: &str, log: &[u8]) {
    let (log_format, mut lines) =
        match log.iter().position(|it| *it == b'\n').filter(|_| log_format.is_empty()) {
            Some(end) => (String::from_utf8_lossy(&log[..end]).into_owned(), &log[end + 1..]),
            None => (log_format.to_owned(), log),
        };
    let Ok(log_format) = LogFormat::parse(&log_format) else { return };
    let Ok(packing) = pack(FeedFormat::Access, None, Some(&log_format), &mut lines, Vec::new()) else {
        return;
    };
    let (bytes, layout) = packing.finish().expect("writing to memory cannot fail");
    let rows = Rows::new(Arc::new(bytes), layout);
    assert!(!fields(&rows).is_empty());
    for moment in [LoggedMoment::Start, LoggedMoment::End] {
        let times = start_times(&rows, moment);
        assert!(
            times.is_sorted_by_key(|it| it.start) && times.iter().all(|it| u64::from(it.row) < rows.len())
        );
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
