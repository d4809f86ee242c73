//! Conversion of feed texts in each format to rows

mod csv_rows;
mod json_lines;

use crate::pack::PackedWriter;
use crate::{AMMO_COLUMNS, Diagnostic, LogFormat, access, ammo};
use flate2::bufread::MultiGzDecoder;
use model::plan::FeedFormat;
use std::io::{BufRead, BufReader, Write};

/// Returns the plain text of a source. A source in gzip format is decompressed.
pub fn decompress<'a>(mut source: impl BufRead + 'a) -> Result<Box<dyn BufRead + 'a>, Diagnostic> {
    let head = source.fill_buf().map_err(|it| Diagnostic::from_io_error(0, &it))?;
    Ok(match head.starts_with(&[0x1f, 0x8b]) {
        true => Box::new(BufReader::new(MultiGzDecoder::new(source))),
        false => Box::new(source),
    })
}

/// Writes the rows of `source` to `out`. `columns` names the columns of CSV and TSV text without a header line. For
/// JSON, it selects the columns. `log_format` is the format of an access log; without it, the lines have the common or
/// combined format.
pub fn pack<W: Write>(
    format: FeedFormat,
    columns: Option<&[String]>,
    log_format: Option<&LogFormat>,
    source: &mut dyn BufRead,
    out: W,
) -> Result<PackedWriter<W>, Diagnostic> {
    match format {
        FeedFormat::Csv | FeedFormat::Tsv => csv_rows::read(format, columns, source, out),
        FeedFormat::JsonLines => json_lines::read(columns, source, out),
        FeedFormat::Uri | FeedFormat::UriPost | FeedFormat::Raw => {
            let mut packing = PackedWriter::new(out, AMMO_COLUMNS.map(str::to_owned).to_vec());
            ammo::read(format, source, &mut |request| packing.push(request.fields()))?;
            Ok(packing)
        }
        FeedFormat::Access => {
            let mut packing = PackedWriter::new(out, AMMO_COLUMNS.map(str::to_owned).to_vec());
            packing.skipped =
                access::read(log_format, source, &mut |request| packing.push(request.fields()))?;
            Ok(packing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use model::row_table::Rows;
    use std::sync::Arc;

    /// Reads a text. Returns its columns and rows in text form, or the text form of the error.
    pub(crate) fn read_rows(format: FeedFormat, columns: Option<&[&str]>, text: &[u8]) -> String {
        let columns: Option<Vec<String>> =
            columns.map(|names| names.iter().map(|it| (*it).to_owned()).collect());
        let mut source = match decompress(text) {
            Ok(source) => source,
            Err(error) => return error.describe(),
        };
        match pack(format, columns.as_deref(), None, &mut source, Vec::new()) {
            Err(error) => error.describe(),
            Ok(packing) => {
                let (bytes, layout) = packing.finish().expect("writing to memory cannot fail");
                let names = layout.columns.join("+");
                let rows = Rows::new(Arc::new(bytes), layout);
                let row =
                    |n| rows.row(n).map(|it| String::from_utf8_lossy(it).into_owned()).collect::<Vec<_>>();
                let all: Vec<String> = (0..rows.len()).map(|n| row(n).join("|")).collect();
                format!("{names}: {}", all.join(" / "))
            }
        }
    }

    #[test]
    fn reads_quoted_fields() {
        let check = |text: &str, columns: Option<&[&str]>, expected: &str| {
            assert_eq!(read_rows(FeedFormat::Csv, columns, text.as_bytes()), expected);
        };
        check("id,name\n1,\"a,\"\"b\"\"\nc\"\n", None, "id+name: 1|a,\"b\"\nc");
        check("1,\"x\"\n", Some(&["id", "name"]), "id+name: 1|x");
        check("id,name\n1\n", None, "2: feed-field-count(1, 1, 2)");
        check("", None, "0: feed-empty");
        check("id,id\n1,2\n", None, "1: feed-column-twice(id)");
        check("id,\n1,2\n", None, "1: feed-column-without-name");
    }

    /// Each of these feeds would take minutes to read or would exhaust the memory.
    #[test]
    fn rejects_hostile_feeds() {
        let wide = vec!["c"; 200_000].join(",") + "\n";
        let rest = "1: feed-many-columns(200000, 1600)";
        assert_eq!(read_rows(FeedFormat::Csv, None, wide.as_bytes()), rest);
        let lines = crate::index_rows(wide.as_bytes(), b',', None)
            .expect_err("there are too many columns")
            .describe();
        assert_eq!(lines, rest);
        let members: Vec<String> = (0..2000).map(|it| format!("\"c{it}\":1")).collect();
        let object = format!("{{{}}}\n", members.join(","));
        assert!(
            read_rows(FeedFormat::JsonLines, None, object.as_bytes())
                .starts_with("1: feed-many-columns(2000,")
        );
        let open = std::io::Read::chain(b"id\n\"".as_slice(), std::io::repeat(b'x'));
        let mut open = BufReader::new(open);
        let refused = pack(FeedFormat::Csv, None, None, &mut open, Vec::new())
            .expect_err("the row is too long")
            .describe();
        assert!(refused.ends_with("feed-unreadable(feed-long-row(64))"), "{refused}");
        let mut line = BufReader::new(std::io::repeat(b'x'));
        let refused = pack(FeedFormat::JsonLines, None, None, &mut line, Vec::new())
            .expect_err("the row is too long")
            .describe();
        assert!(refused.contains("feed-long-row(64)"), "{refused}");
        let nul = "2: feed-nul(b)";
        assert_eq!(read_rows(FeedFormat::Csv, None, b"a,b\n\"1\",x\0y\n"), nul);
        let objects = b"{\"a\": 1, \"b\": 2}\n{\"a\": 1, \"b\": \"\\u0000\"}\n";
        assert_eq!(read_rows(FeedFormat::JsonLines, None, objects), nul);
        let twice = crate::index_rows(b"id,id\n1,2\n", b',', None)
            .expect_err("the column names are equal")
            .describe();
        assert_eq!(twice, "1: feed-column-twice(id)");
    }

    #[test]
    fn reads_json_lines() {
        let check = |text: &str, columns: Option<&[&str]>, expected: &str| {
            assert_eq!(read_rows(FeedFormat::JsonLines, columns, text.as_bytes()), expected);
        };
        let two = "{\"id\":1,\"name\":\"Ж\\n\"}\n\n{\"name\":null,\"id\":2.50,\"x\":[1, 2]}\n";
        check(two, None, "id+name: 1|Ж\n / 2.50|");
        check(two, Some(&["x", "id"]), "1: feed-no-member(x)");
        check("{\"a\":{\"b\":\"c\"}, \"t\": true}", None, "a+t: {\"b\":\"c\"}|true");
        check("[1]\n", None, "1: feed-no-object([1])");
        check("{\"a\":1}\n{\"b\":1}\n", None, "2: feed-no-member(a)");
        check("{\"a\":1}\n{\"a\":\n", None, r#"2: feed-no-object({\"a\":)"#);
        check("\n", None, "0: feed-empty");
    }

    #[test]
    fn detects_gzip() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"id\n1\n2\n").expect("writing to memory cannot fail");
        let packed = packed.finish().expect("writing to memory cannot fail");
        assert_eq!(read_rows(FeedFormat::Csv, None, &packed), "id: 1 / 2");
        let cut = &packed[..packed.len() - 9];
        assert!(
            read_rows(FeedFormat::Csv, None, cut).contains("feed-unreadable"),
            "{}",
            read_rows(FeedFormat::Csv, None, cut)
        );
    }
}
