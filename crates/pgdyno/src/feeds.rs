//! Rows of feeds from files and queries
//!
//! A plain file of any size is memory-mapped. Rows from other sources are packed once into an unnamed temporary file,
//! which is memory-mapped too. Rows that are never drawn take no memory.

use crate::cli::CommandError;
use crate::files;
use analysis::facts::feed_coverage::TableStats;
use feed::{LogFormat, PackedWriter, SkippedLines};
use memmap2::{Advice, Mmap};
use model::message;
use model::message::Message;
use model::note::Note;
use model::plan::{self, FeedFormat, FeedSource};
use model::row_table::{RowFormat as Laid, RowLayout, Rows};
use stack::client::{Connection, QueryResult};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

/// Feeds that are read once and shared by all trials.
#[derive(Debug, Default)]
pub struct Feeds {
    loaded: Vec<(plan::Feed, Rows)>,
    /// Feeds with skipped lines, until they are reported.
    skipped: Vec<(String, SkippedLines)>,
}

impl Feeds {
    /// Rows of a feed. A feed's query runs only once, on `connection`, because its result depends on the data, which
    /// are the same in every trial.
    pub fn rows(
        &mut self,
        feed: &plan::Feed,
        connection: &mut dyn FnMut() -> Result<Connection, CommandError>,
    ) -> Result<Rows, CommandError> {
        if let Some((_, rows)) = self.loaded.iter().find(|it| it.0 == *feed) {
            return Ok(rows.clone());
        }
        let rows = match &feed.source {
            FeedSource::File { path, format, log_format } => {
                let (rows, skipped) =
                    read_file(path, *format, feed.columns.as_deref(), log_format.as_deref())?;
                if skipped.total() > 0 {
                    self.skipped.push((feed.name.clone(), skipped));
                }
                rows
            }
            FeedSource::Query(sql) => read_query(feed, sql, &mut connection()?)?,
            FeedSource::Rows(rows) => {
                let mut packing =
                    PackedWriter::new(unnamed_file()?, feed.columns.clone().unwrap_or_default());
                for row in rows {
                    packing.push(row.iter().map(String::as_bytes)).map_err(|it| write_error(&it))?;
                }
                finish_packing(packing)?
            }
        };
        if rows.is_empty() {
            return Err(CommandError::new(message!("feed-without-rows", feed = &feed.name)));
        }
        self.loaded.push((feed.clone(), rows.clone()));
        Ok(rows)
    }

    /// Notes about lines of logs that yield no request. Each feed has a note only once.
    pub fn take_notes(&mut self) -> Vec<Note> {
        let note = |(feed, skipped): (String, SkippedLines)| Note {
            subject: Message::text(feed),
            message: describe_skipped(&skipped),
        };
        self.skipped.drain(..).map(note).collect()
    }

    /// Discards the results of queries, because the queried data were replaced.
    pub fn forget_queries(&mut self) {
        self.loaded.retain(|it| !matches!(it.0.source, FeedSource::Query(_)));
    }
}

fn describe_skipped(skipped: &SkippedLines) -> Message {
    let SkippedLines { with_body, without_request, misfits, first_misfit } = skipped;
    let first = first_misfit.as_ref().map(Message::from);
    message!(
        "feed-skipped-lines",
        lines = skipped.total(),
        with_body = with_body.to_string(),
        without_request = without_request.to_string(),
        misfits = misfits.to_string(),
        first
    )
}

/// Reads a file. `log_format` is the format of an access log.
pub fn read_file(
    path: &Path,
    format: FeedFormat,
    columns: Option<&[String]>,
    log_format: Option<&str>,
) -> Result<(Rows, SkippedLines), CommandError> {
    let shown = path.display().to_string();
    let failed = |error: &io::Error| {
        CommandError::new(message!("feed-file-unreadable", path = &shown, error = Message::from(error)))
    };
    let wrong = |error: feed::Diagnostic| {
        CommandError::new(message!("feed-file", path = &shown, error = Message::from(&error)))
    };
    let mut file = files::open(path).map_err(|it| failed(&it))?;
    let mut magic = [0; 2];
    let is_packed = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];
    file.rewind().map_err(|it| failed(&it))?;
    if let Some(delimiter) = format.delimiter().filter(|_| !is_packed) {
        let bytes = map(&file).map_err(|it| failed(&it))?;
        if let Some(layout) = feed::index_rows(&bytes, delimiter, columns).map_err(wrong)? {
            return Ok((map_rows(bytes, layout), SkippedLines::default()));
        }
    }
    let mut source = feed::decompress(BufReader::with_capacity(1 << 20, file)).map_err(wrong)?;
    let log_format = log_format
        .map(LogFormat::parse)
        .transpose()
        .map_err(|error| CommandError::new(message!("feed-file", path = &shown, error)))?;
    let mut packing =
        feed::pack(format, columns, log_format.as_ref(), &mut source, unnamed_file()?).map_err(wrong)?;
    let skipped = std::mem::take(&mut packing.skipped);
    Ok((finish_packing(packing)?, skipped))
}

fn read_query(feed: &plan::Feed, sql: &str, connection: &mut Connection) -> Result<Rows, CommandError> {
    let failed = |error: stack::client::Error| {
        CommandError::new(message!("feed-query-failed", feed = &feed.name, error = Message::from(&error)))
    };
    let QueryResult { columns, rows, .. } = connection.query(sql).map_err(failed)?;
    let chosen = chosen_columns(&feed.name, feed.columns.as_deref(), &columns)?;
    let names = chosen.iter().map(|at| columns[*at].clone()).collect();
    let mut packing = PackedWriter::new(unnamed_file()?, names);
    for row in &rows {
        // Convert NULL to an empty text, because feeds contain only texts.
        let fields = chosen.iter().map(|at| row[*at].as_deref().unwrap_or_default().as_bytes());
        packing.push(fields).map_err(|it| write_error(&it))?;
    }
    finish_packing(packing)
}

/// Indexes of the query's columns that a feed uses: the columns in the feed's list. Without a list, all columns.
fn chosen_columns(
    feed: &str,
    named: Option<&[String]>,
    columns: &[String],
) -> Result<Vec<usize>, CommandError> {
    let quoted = |all: &[String]| all.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ");
    let position = |name: &String| {
        let mut places = columns.iter().enumerate().filter(|it| it.1 == name).map(|it| it.0);
        match (places.next(), places.next()) {
            (Some(at), None) => Ok(at),
            (Some(_), Some(_)) => Err(CommandError::new(message!("feed-query-column-twice", feed, name))),
            (None, _) => Err(CommandError::new(message!(
                "feed-query-no-column",
                feed,
                name,
                columns = quoted(columns)
            ))),
        }
    };
    named.unwrap_or(columns).iter().map(position).collect()
}

/// PostgreSQL's statistics for `schema.table.column`; `None` without statistics.
pub fn table_stats(qualified_column: &str, connection: &mut Connection) -> Option<TableStats> {
    let mut parts = qualified_column.rsplitn(3, '.');
    let (column, table, schema) = (parts.next()?, parts.next()?, parts.next().unwrap_or("public"));
    let text = |it: &str| format!("'{}'", it.replace('\'', "''"));
    let sql = format!(
        "SELECT c.reltuples, pg_relation_size(c.oid), coalesce(s.n_distinct, -1) FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stats s \
         ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = {} \
         WHERE n.nspname = {} AND c.relname = {}",
        text(column),
        text(schema),
        text(table)
    );
    let answer = connection.query(&sql).ok()?;
    let [rows, bytes, distinct] = answer.rows.first()?.as_slice() else { return None };
    let number = |it: &Option<String>| it.as_ref()?.parse::<f64>().ok();
    let (rows, bytes, distinct) = (number(rows)?, number(bytes)?, number(distinct)?);
    // A negative n_distinct is the negative of a share of the rows (PostgreSQL manual, pg_stats).
    let distinct = if distinct < 0.0 { -distinct * rows } else { distinct };
    Some(TableStats { column: qualified_column.to_owned(), rows, bytes: bytes as u64, distinct })
}

/// Creates a temporary file without a name. It disappears when the process ends.
fn unnamed_file() -> Result<BufWriter<File>, CommandError> {
    let file = tempfile::tempfile().map_err(|it| write_error(&it))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

fn finish_packing(packing: PackedWriter<BufWriter<File>>) -> Result<Rows, CommandError> {
    let (mut out, layout) = packing.finish().map_err(|it| write_error(&it))?;
    out.flush().map_err(|it| write_error(&it))?;
    if layout.count == 0 {
        return Ok(Rows::new(Arc::new(Vec::new()), RowLayout::new(Laid::Packed, layout.columns)));
    }
    let bytes = map(out.get_ref()).map_err(|it| write_error(&it))?;
    Ok(map_rows(bytes, layout))
}

/// Creates rows from a mapped file. Readahead is disabled, because rows are drawn at random. Failures are ignored.
fn map_rows(bytes: Mmap, layout: RowLayout) -> Rows {
    let _ = bytes.advise(Advice::Random);
    Rows::new(Arc::new(bytes), layout)
}

fn write_error(error: &io::Error) -> CommandError {
    let place = std::env::temp_dir();
    let (path, error) = (place.display().to_string(), feed::io_message(error));
    CommandError::new(message!("feed-not-stored", path, error))
}

fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: if another program truncates a mapped file, a read raises SIGBUS and ends this process, as in every
    // program that maps files. If another program changes bytes, rows only have other values. docs/feeds.md documents
    // both.
    unsafe { Mmap::map(file) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::feed::{DrawOrder, DrawSequence, Feed};
    use load::random::Prng;
    use report::lang::english;
    use std::fs;
    use std::path::PathBuf;

    /// File that is removed on drop.
    struct TempFile(PathBuf);

    impl TempFile {
        fn new(name: &str, text: &[u8]) -> TempFile {
            let path = std::env::temp_dir().join(format!("pgdyno-feed-{}-{name}", std::process::id()));
            fs::write(&path, text).expect("the file can be written");
            TempFile(path)
        }
    }

    impl Drop for TempFile {
        fn drop(&mut self) {
            // A leftover file is harmless.
            let _ = fs::remove_file(&self.0);
        }
    }

    fn plan(source: FeedSource, columns: Option<&[&str]>) -> plan::Feed {
        let columns = columns.map(|names| names.iter().map(|it| (*it).to_owned()).collect());
        plan::Feed {
            name: "f".into(),
            source,
            columns,
            order: plan::FeedOrder::Sequential,
            lookup_column: None,
        }
    }

    fn no_connection() -> Result<Connection, CommandError> {
        Err(CommandError::new("nobody is asked".to_owned()))
    }

    #[test]
    fn reads_rows_of_every_file_format() {
        let check = |feed: plan::Feed, expected: &str| {
            let outcome = match Feeds::default().rows(&feed, &mut no_connection) {
                Ok(rows) => {
                    let row = |n| {
                        rows.row(n).map(|it| String::from_utf8_lossy(it).into_owned()).collect::<Vec<_>>()
                    };
                    let all: Vec<String> = (0..rows.len()).map(|n| row(n).join("|")).collect();
                    format!("{}: {}", rows.columns().join("+"), all.join(" "))
                }
                Err(it) => english().message(&it.message),
            };
            assert!(outcome.ends_with(expected), "{outcome}");
        };
        let file = |it: &TempFile, format| FeedSource::File { path: it.0.clone(), format, log_format: None };
        let plain = TempFile::new("plain.csv", b"id,name\n1,a\n2,b\n");
        check(plan(file(&plain, FeedFormat::Csv), None), "id+name: 1|a 2|b");
        let quoted = TempFile::new("quoted.csv", b"1,\"a,b\"\n");
        check(plan(file(&quoted, FeedFormat::Csv), Some(&["id", "name"])), "id+name: 1|a,b");
        let wrong = TempFile::new("wrong.csv", b"id,name\n1\n");
        let message = "wrong.csv: line 2: \"1\" has 1 field, but the number of columns is 2";
        check(plan(file(&wrong, FeedFormat::Csv), None), message);
        let none = TempFile::new("none.tsv", b"id\n");
        check(plan(file(&none, FeedFormat::Tsv), None), "feed f has no rows");
        let missing =
            FeedSource::File { path: "/nowhere/x.csv".into(), format: FeedFormat::Csv, log_format: None };
        check(plan(missing, None), "could not read /nowhere/x.csv: No such file or directory");
        let rows = FeedSource::Rows(vec![vec!["7".into()], vec!["8".into()]]);
        check(plan(rows, Some(&["id"])), "id: 7 8");
        check(plan(FeedSource::Query("SELECT 1".into()), None), "nobody is asked");
    }

    #[test]
    fn chooses_columns_of_a_query_by_name() {
        let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let check = |named: Option<&[&str]>, columns: &[&str], expected: Result<&[usize], &str>| {
            let found = chosen_columns("users", named.map(owned).as_deref(), &owned(columns));
            match (&found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{named:?} {columns:?}"),
                (Err(found), Err(expected)) => assert_eq!(english().message(&found.message), expected),
                _ => panic!("{named:?} of {columns:?}: {found:?}"),
            }
        };
        check(None, &["id", "name"], Ok(&[0, 1]));
        check(Some(&["id"]), &["id", "name"], Ok(&[0]));
        // The order of the query's columns does not matter.
        check(Some(&["id", "name"]), &["name", "x", "id"], Ok(&[2, 0]));
        let found = "feeds.users.columns: the query returns no column \"id\"; it returns \"userid\"";
        check(Some(&["id"]), &["userid"], Err(found));
        let found = "feeds.users.sql: the query returns two columns \"id\"";
        check(None, &["id", "id"], Err(found));
        check(Some(&["id"]), &["id", "id"], Err(found));
    }

    /// Anonymous memory of this process in bytes, without mapped files.
    fn own_memory() -> u64 {
        let status = fs::read_to_string("/proc/self/status").expect("the system is Linux");
        let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:")).expect("since Linux 4.5");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }

    /// The file has 64 MB, or `PGDYNO_FEED_MB` megabytes; the long test uses `PGDYNO_FEED_MB=10000`.
    #[test]
    #[cfg(target_os = "linux")]
    fn maps_large_files_instead_of_reading_them() {
        // The test measures the memory of its process, so it runs in a process of its own.
        const ALONE: &str = "PGDYNO_TEST_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let name = "feeds::tests::maps_large_files_instead_of_reading_them";
            let program = std::env::current_exe().expect("the program has a path");
            let mut command = std::process::Command::new(program);
            let status = command.args(["--exact", name]).env(ALONE, "1").status();
            assert!(status.expect("the program starts").success());
            return;
        }
        let megabytes: usize =
            std::env::var("PGDYNO_FEED_MB").map_or(64, |it| it.parse().expect("a number of megabytes"));
        let file = TempFile::new("large.tsv", b"");
        let mut out =
            BufWriter::with_capacity(1 << 20, File::create(&file.0).expect("the file can be created"));
        let rows = megabytes * 10_000;
        for n in 0..rows {
            writeln!(out, "{n:019}\t{:>79}", n % 97).expect("there is room");
        }
        out.into_inner().expect("there is room");
        let before = own_memory();
        let source = FeedSource::File { path: file.0.clone(), format: FeedFormat::Tsv, log_format: None };
        let columns: &[&str] = &["id", "rest"];
        let found =
            Feeds::default().rows(&plan(source, Some(columns)), &mut no_connection).map_err(|it| it.message);
        let feed = Feed::new(found.expect("the feed is valid"), DrawOrder::Random);
        let (mut sequence, mut rng) = (DrawSequence::new((0, 1)), Prng::seeded(11));
        for _ in 0..10_000 {
            let n = feed.draw(&mut sequence, &mut rng).expect("there is no end");
            let id = feed.rows.row(n).next().expect("a field");
            assert_eq!(id, format!("{n:019}").as_bytes());
        }
        let grown = own_memory().saturating_sub(before);
        let marks = rows as u64 / RowLayout::OFFSET_INTERVAL * 8;
        // A growing vector allocates up to three times its contents.
        assert!(grown < 3 * marks + (8 << 20), "{grown} bytes for {megabytes} MB");
    }
}
