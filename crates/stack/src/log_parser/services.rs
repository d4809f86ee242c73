//! Parser of the logs of services
//!
//! Formats differ by language, but most have the level among the first words of a line. The text after the level may
//! contain clients' values, which are masked, also in double quotes. Requests and addresses of clients are left out.

use super::{LogRecord, kind_from_text, mask_values, normalize_message, normalize_statement};
use model::EventKind;

/// Parses `2026/11/21 11:00:00 WARN text`, `[2026-11-21 …] [4711] [ERROR] text`, `time=… level=ERROR msg="text"`,
/// `2026-11-21T…  ERROR 4711 --- [main] a.b.C : text`, the lines of nginx, PHP-FPM and Zabbix, and the last messages of
/// crashed programs.
pub(super) fn parse(line: &str) -> Option<LogRecord> {
    let dying = ["panic: ", "fatal error: ", "Exception in thread ", "java.lang.OutOfMemoryError"];
    if dying.iter().any(|it| line.starts_with(it)) {
        return Some(log_record(EventKind::Fatal, line));
    }
    if let Some(text) = zabbix_text(line) {
        return parse_zabbix(text);
    }
    let mut rest = line;
    for _ in 0..8 {
        let trimmed = rest.trim_start();
        let (word, more) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
        let level = word.trim_start_matches("level=").trim_matches(|it: char| !it.is_ascii_alphabetic());
        let kind = match level {
            "FATAL" | "CRITICAL" | "PANIC" | "ALERT" | "fatal" | "critical" | "emerg" | "alert" => {
                EventKind::Fatal
            }
            "ERROR" | "error" | "SEVERE" | "crit" => EventKind::Error,
            "WARN" | "WARNING" | "warn" | "warning" => EventKind::Other,
            "INFO" | "info" | "NOTICE" | "notice" | "DEBUG" | "debug" | "TRACE" => return None,
            _ if more.is_empty() => return None,
            _ => {
                rest = more;
                continue;
            }
        };
        // Spring writes process, thread and class before the text.
        let spring = more.split_once(" --- [").and_then(|it| it.1.split_once(" : "));
        let text = without_request(spring.map_or(more, |it| it.1));
        return Some(log_record(kind_from_text(&text).unwrap_or(kind), &text));
    }
    None
}

/// Text without the client and the request, which may contain secrets: nginx ends its messages with them, and begins
/// them with process, thread and connection; PHP-FPM writes `(request: "…")`.
fn without_request(text: &str) -> String {
    let text = text.split(", client: ").next().unwrap_or(text);
    let text = match text.split_once(": ") {
        Some((ids, rest)) if ids.contains('#') && ids.bytes().all(|it| it == b'#' || it.is_ascii_digit()) => {
            let connection = rest.split_once(' ').filter(|it| it.0.starts_with('*'));
            connection.map_or(rest, |it| it.1)
        }
        _ => text,
    };
    match text.split_once(" (request: \"") {
        Some((before, rest)) => {
            let after = rest.split_once("\")").map_or("", |it| it.1);
            format!("{before}{after}")
        }
        None => text.to_owned(),
    }
}

/// Text of a line of Zabbix, which begins with process, date and time: `  4711:20261121:110000.123 text`.
fn zabbix_text(line: &str) -> Option<&str> {
    let (stamp, text) = line.trim_start().split_once(' ')?;
    let mut parts = stamp.split([':', '.']);
    let lengths = [None, Some(8), Some(6), Some(3)];
    let is_number = |length: Option<usize>| {
        let Some(part) = parts.next() else { return false };
        part.bytes().all(|it| it.is_ascii_digit()) && length.is_none_or(|length| part.len() == length)
    };
    (lengths.into_iter().all(is_number) && parts.next().is_none()).then_some(text)
}

/// Parses a message of Zabbix, which has no level.
fn parse_zabbix(text: &str) -> Option<LogRecord> {
    if let Some((seconds, statement)) =
        text.strip_prefix("slow query: ").and_then(|it| it.split_once(" sec, "))
    {
        let statement = statement.strip_prefix('"').unwrap_or(statement);
        let statement = normalize_statement(statement.strip_suffix('"').unwrap_or(statement));
        return Some(LogRecord::new(
            EventKind::SlowStatement,
            &format!("slow query: {seconds} sec, {statement}"),
        ));
    }
    let contains_any = |words: &[&str]| words.iter().any(|it| text.contains(it));
    let kind = if contains_any(&["One child process died", "Got signal", "terminated unexpectedly"]) {
        EventKind::Fatal
    } else if text.starts_with("[Z") || contains_any(&["cannot ", "failed", "database is down", " error"]) {
        EventKind::Error
    } else if contains_any(&["unreachable", "unavailable", "is not available", "warning"]) {
        EventKind::Other
    } else {
        return None;
    };
    Some(log_record(kind_from_text(text).unwrap_or(kind), text))
}

fn log_record(kind: EventKind, text: &str) -> LogRecord {
    let text = text.replace('"', " ");
    LogRecord { kind, code: None, text: normalize_message(&mask_values(&text)), session: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_parser::check_log_line;

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

    #[test]
    fn parses_lines_of_web_servers_without_requests() {
        let check = |line: &str, expected: &str| check_log_line(parse, line, expected);
        check(
            "2026/11/21 11:00:00 [error] 12#12: *5 upstream timed out (110: Connection timed out) while reading response \
             header from upstream, client: 10.0.0.3, server: , request: \"GET /x?token=secret HTTP/1.1\", host: \"x\"",
            "Error upstream timed out (?: Connection timed out) while reading response header from upstream",
        );
        check(
            "2026/11/21 11:00:00 [error] 12#12: *5 FastCGI sent in stderr: \"PHP message: PHP Fatal error:  Uncaught \
             Error: user 'secret' in /srv/a.php:12\" while reading upstream, client: 10.0.0.3",
            "Error FastCGI sent in stderr: PHP message: PHP Fatal error: Uncaught Error: user ? in /srv/a.php:? while \
             reading upstream",
        );
        check(
            "2026/11/21 11:00:00 [crit] 12#12: accept4() failed (24: Too many)",
            "Error accept4() failed (?: Too many)",
        );
        check("2026/11/21 11:00:00 [emerg] 12#12: bind() failed", "Fatal bind() failed");
        check("2026/11/21 11:00:00 [notice] 12#12: an error in a notice", "-");
        check(
            "[21-Nov-2026 11:00:00] WARNING: [pool www] server reached pm.max_children setting (60), consider raising it",
            "Other [pool www] server reached pm.max_children setting (?), consider raising it",
        );
        check(
            "[21-Nov-2026 11:00:00] WARNING: [pool www] child 9, script '/srv/a.php' (request: \"GET /a.php?key=secret\") \
             executing too slow (5.012 sec), logging",
            "Other [pool www] child ?, script ? executing too slow (? sec), logging",
        );
        check("[21-Nov-2026 11:00:00] NOTICE: fpm is running, pid 4711, without error", "-");
        check("[21-Nov-2026 11:00:00] ALERT: [pool www] cannot start", "Fatal [pool www] cannot start");
    }

    #[test]
    fn parses_lines_of_zabbix() {
        let check = |line: &str, expected: &str| check_log_line(parse, line, expected);
        check(
            "  4711:20261121:110000.123 slow query: 0.312345 sec, \"select itemid from items where key_ in ('a','b')\"",
            "SlowStatement slow query: 0.312345 sec, select itemid from items where key_ in (?, …)",
        );
        check(
            "4711:20261121:110000.123 [Z3005] query failed: [0] PGRES_FATAL_ERROR:ERROR:  deadlock detected",
            "Deadlock [Z3005] query failed: [?] PGRES_FATAL_ERROR:ERROR: deadlock detected",
        );
        check(
            "4711:20261121:110000.123 [Z3001] connection to database 'secret' failed: [0] timeout",
            "Error [Z3001] connection to database ? failed: [?] timeout",
        );
        check(
            "4711:20261121:110000.123 database is down: reconnecting in 10 seconds",
            "Error database is down: reconnecting in ? seconds",
        );
        check(
            "4711:20261121:110000.123 One child process died (PID:5,exitcode/signal:9)",
            "Fatal One child process died (PID:?,exitcode/signal:?)",
        );
        check("4711:20261121:110000.123 server #1 started [configuration syncer #1]", "-");
        check("4711:2026112:110000.123 [Z3005] query failed", "-");
    }
}
