//! Detects in a server's log that the server ended because its disk is full

use super::{LogFormat, LogReader};
use model::EventKind;

/// SQLSTATE of `disk_full`.
const DISK_FULL: &str = "53100";

/// Finds the last FATAL or PANIC about a full disk in the lines of a PostgreSQL log. Returns its text without prefix.
pub fn disk_full(lines: &[String]) -> Option<String> {
    let mut reader = LogReader::new(LogFormat::Postgres);
    let remarks = lines.iter().filter_map(|it| reader.line(it));
    let full =
        |code: Option<&str>, text: &str| code == Some(DISK_FULL) || text.contains("No space left on device");
    let last = remarks.filter(|it| it.kind == EventKind::Fatal && full(it.code.as_deref(), &it.text)).last();
    last.map(|it| it.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_fatal_disk_full_lines() {
        let full = "could not write to file \"pg_wal/xlogtemp.9\": No space left on device";
        for (line, expected) in [
            (format!("2026-11-22 20:00:00.000 UTC [9] 53100 PANIC:  {full}"), Some(full)),
            (format!("2026-11-22 20:00:00.000 UTC [9] 53100 FATAL:  {full}"), Some(full)),
            ("2026-11-22 20:00:00.000 UTC [9] 53100 ВАЖНО:  нет места".to_owned(), Some("нет места")),
            (format!("2026-11-22 20:00:00.000 UTC [9] FATAL:  {full}"), Some(full)),
            // Only a statement failed; the server kept running.
            (format!("2026-11-22 20:00:00.000 UTC [9] 53100 ERROR:  {full}"), None),
            ("2026-11-22 20:00:00.000 UTC [9] 57P01 FATAL:  terminating connection".to_owned(), None),
            (full.to_owned(), None),
        ] {
            assert_eq!(disk_full(std::slice::from_ref(&line)).as_deref(), expected, "{line}");
        }
        assert_eq!(disk_full(&[]), None);
    }
}
