//! Parser of the logs of services
//!
//! Formats differ by language, but all have the level among the first words of a line. The text after the level may
//! contain clients' values, which are masked.

use super::{LogRecord, kind_from_text, mask_values, normalize_message};
use model::EventKind;

/// Parses `2026/11/21 11:00:00 WARN text`, `[2026-11-21 …] [4711] [ERROR] text`, `time=… level=ERROR msg="text"`,
/// `2026-11-21T…  ERROR 4711 --- [main] a.b.C : text`, and the last messages of crashed programs.
pub(super) fn parse(line: &str) -> Option<LogRecord> {
    let dying = ["panic: ", "fatal error: ", "Exception in thread ", "java.lang.OutOfMemoryError"];
    if dying.iter().any(|it| line.starts_with(it)) {
        return Some(log_record(EventKind::Fatal, line));
    }
    let mut rest = line;
    for _ in 0..8 {
        let trimmed = rest.trim_start();
        let (word, more) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
        let level = word.trim_start_matches("level=").trim_matches(|it: char| !it.is_ascii_alphabetic());
        let kind = match level {
            "FATAL" | "CRITICAL" | "PANIC" | "fatal" | "critical" => EventKind::Fatal,
            "ERROR" | "error" | "SEVERE" => EventKind::Error,
            "WARN" | "WARNING" | "warn" | "warning" => EventKind::Other,
            "INFO" | "info" | "DEBUG" | "debug" | "TRACE" => return None,
            _ if more.is_empty() => return None,
            _ => {
                rest = more;
                continue;
            }
        };
        // Spring writes process, thread and class before the text.
        let spring = more.split_once(" --- [").and_then(|it| it.1.split_once(" : "));
        let text = spring.map_or(more, |it| it.1);
        return Some(log_record(kind_from_text(text).unwrap_or(kind), text));
    }
    None
}

fn log_record(kind: EventKind, text: &str) -> LogRecord {
    LogRecord { kind, code: None, text: normalize_message(&mask_values(text)), session: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_service_lines() {
        let check = |line: &str, expected: &str| {
            let actual = parse(line).map_or("-".to_owned(), |it| format!("{:?} {}", it.kind, it.text));
            assert_eq!(actual, expected, "{line}");
        };
        check("2026/11/21 11:00:00 WARN the database refused id=42", "Other the database refused id=?");
        check("2026/11/21 11:00:00 INFO listening address=127.0.0.1:1", "-");
        check(
            "[2026-11-21 11:00:00 +0000] [4711] [ERROR] Connection in use: ('127.0.0.1', 80)",
            "Error Connection in use: (?, ?)",
        );
        check("time=2026-11-21T11:00:00Z level=ERROR msg=x", "Error msg=x");
        check(
            "2026-11-21T11:00:00.000Z ERROR 4711 --- [main] o.h.e.j : FATAL: sorry, too many clients already",
            "TooManyConnections FATAL: sorry, too many clients already",
        );
        check(
            "panic: runtime error: index out of range [5]",
            "Fatal panic: runtime error: index out of range [?]",
        );
        check("book: error: THREADS=0: write a whole number", "Error THREADS=?: write a whole number");
        check("delivered 7 parcels to whom it may concern, with an ERROR", "-");
        check("", "-");
    }
}
