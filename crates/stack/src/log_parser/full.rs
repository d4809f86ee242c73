//! Reason of a node's end in its log

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

/// Finds the last fatal error in the lines of a log. Returns its text without prefix and values.
pub fn last_fatal_error(lines: &[String], format: LogFormat) -> Option<String> {
    let mut reader = LogReader::new(format);
    lines
        .iter()
        .filter_map(|it| reader.line(it))
        .filter(|it| it.kind == EventKind::Fatal)
        .last()
        .map(|it| it.text)
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

    #[test]
    fn finds_the_last_fatal_error() {
        let lines = [
            "2026-11-26 18:41:10.123 UTC [9] LOG C-0x5: shop/app@127.0.0.1:1 login attempt".to_owned(),
            "2026-11-26 18:41:10.124 UTC [9] FATAL @src/objects.c:1060 in function disconnect_client(): bad client state: 0"
                .to_owned(),
            "2026-11-26 18:41:10.125 UTC [9] WARNING TLS handshake failed".to_owned(),
        ];
        let format =
            crate::component::for_product(&model::product::PGBOUNCER).expect("a component").log_format();
        let found = last_fatal_error(&lines, format);
        assert!(found.as_deref().is_some_and(|it| it.ends_with("bad client state: 0")), "{found:?}");
        assert_eq!(last_fatal_error(&lines[..1], format), None);
    }
}
