//! Column names from the first lines of a feed's file

use crate::files;
use experiment::Columns;
use feed::LogFormat;
use model::message;
use model::message::Message;
use model::plan::FeedFormat;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Maximum length of a line in bytes. Longer lines are not examined.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Text in which the header line is also the first row.
fn duplicate_line(line: &[u8]) -> Vec<u8> {
    let mut both = line.to_vec();
    both.extend((!line.ends_with(b"\n")).then_some(b'\n'));
    both.extend(line);
    both
}

/// Columns of a file, or the reason why they cannot be determined. Only the first line that is not empty is read.
pub fn columns(path: &Path, format: FeedFormat, given: Option<&[String]>) -> Columns {
    let unreadable = |error: io::Error| message!("feed-unreadable", error = Message::from(&error));
    let file = files::open(path).map_err(unreadable)?;
    let mut text = feed::decompress(BufReader::new(file)).map_err(|it| Message::from(&it))?;
    let mut line = Vec::new();
    while line.trim_ascii().is_empty() {
        line.clear();
        if (&mut text).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Err(message!("feed-empty"));
        }
    }
    if format.is_ammo() {
        return Ok(feed::AMMO_COLUMNS.map(str::to_owned).to_vec());
    }
    if format != FeedFormat::JsonLines && given.is_none() {
        line = duplicate_line(&line);
    }
    if let Some(names) = given.filter(|_| format != FeedFormat::JsonLines)
        && let Ok(first) = feed::pack(format, None, None, &mut duplicate_line(&line).as_slice(), io::sink())
        && first.columns().iter().any(|it| names.contains(it))
    {
        let first = first.columns().join(", ");
        return Err(message!("feed-header", columns = first));
    }
    let packing =
        feed::pack(format, given, None, &mut line.as_slice(), io::sink()).map_err(|it| Message::from(&it))?;
    Ok(packing.columns().to_vec())
}

/// Maximum number of bytes of a log that are checked before the run.
const LOG_SAMPLE_BYTES: u64 = 256 << 10;

/// Checks that most lines at the beginning of a log fit its format. A malformed format is reported elsewhere.
pub fn check_log_sample(path: &Path, log_format: &str) -> Result<(), Message> {
    let Ok(format) = LogFormat::parse(log_format) else { return Ok(()) };
    let unreadable = |error: io::Error| message!("feed-unreadable", error = Message::from(&error));
    let file = files::open(path).map_err(unreadable)?;
    let source = feed::decompress(BufReader::new(file)).map_err(|it| Message::from(&it))?;
    let mut sample = Vec::new();
    source.take(LOG_SAMPLE_BYTES).read_to_end(&mut sample).map_err(unreadable)?;
    // The last line may be incomplete.
    if sample.len() as u64 == LOG_SAMPLE_BYTES
        && let Some(end) = sample.iter().rposition(|it| *it == b'\n')
    {
        sample.truncate(end + 1);
    }
    match feed::pack(FeedFormat::Access, None, Some(&format), &mut sample.as_slice(), io::sink()) {
        Err(error) if error.is_misfit() => Err(Message::from(&error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::lang::english;

    #[test]
    fn does_not_count_the_header_as_a_row() {
        let folder = tempfile::tempdir().expect("there is room");
        let check = |text: &str, given: Option<&[&str]>, expected: Result<&str, &str>| {
            let path = folder.path().join("f.csv");
            std::fs::write(&path, text).expect("the file can be written");
            let given: Option<Vec<String>> =
                given.map(|names| names.iter().map(|it| (*it).to_owned()).collect());
            let found = columns(&path, FeedFormat::Csv, given.as_deref()).map(|it| it.join(","));
            let found = found.map_err(|error| english().message(&error));
            let found = found.as_deref().map_err(String::as_str);
            assert_eq!(found, expected, "{text:?} {given:?}");
        };
        let message = "its first line contains column names (userid, name) and would be used as a row";
        check("userid,name\n1,a\n", None, Ok("userid,name"));
        check("userid,name\n1,a\n", Some(&["id", "name"]), Err(message));
        check("userid,name\n1,a\n", Some(&["userid", "name"]), Err(message));
        check("1,a\n", Some(&["id", "name"]), Ok("id,name"));
        check("1,a", Some(&["id"]), Err("line 1: \"1,a\" has 2 fields, but the number of columns is 1"));
    }
}
