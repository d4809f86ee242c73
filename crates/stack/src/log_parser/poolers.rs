//! Parsers of the logs of PgBouncer, Odyssey and HAProxy.

use super::{LogRecord, kind_from_text, normalize_message};
use model::EventKind;

/// Parses `2026-11-21 11:49:02.123 UTC [4711] LEVEL text`.
pub(super) fn parse_pgbouncer(line: &str) -> Option<LogRecord> {
    let (_, rest) = line.split_once('[')?;
    let (pid, rest) = rest.split_once("] ")?;
    pid.parse::<u32>().ok()?;
    let (level, text) = rest.split_once(' ')?;
    let about_itself = [
        "process up",
        "listening on",
        "got SIG",
        "shutting down",
        "PAUSE",
        "RESUME",
        "RELOAD",
        "kill command",
    ];
    let refused = text.contains("no more connections allowed").then_some(EventKind::TooManyConnections);
    let kind = match level {
        "FATAL" => refused.or(kind_from_text(text)).unwrap_or(EventKind::Fatal),
        "ERROR" => refused.or(kind_from_text(text)).unwrap_or(EventKind::Error),
        "WARNING" if text.contains("pooler error") => {
            refused.or(kind_from_text(text)).unwrap_or(EventKind::Error)
        }
        "WARNING" => refused.or(kind_from_text(text)).unwrap_or(EventKind::Other),
        "LOG" if about_itself.iter().any(|it| text.starts_with(it)) => EventKind::Lifecycle,
        // Client sessions end for many reasons, which their own errors describe better; server sessions should not
        // fail.
        "LOG" if text.starts_with("S-") && (text.contains("crashed") || text.contains("failed")) => {
            kind_from_text(text).unwrap_or(EventKind::Error)
        }
        _ => return None,
    };
    Some(log_record(kind, text))
}

/// Parses lines of `log_format "%p %t %l [%i %s] (%c) %m\n"`: the level is among the first words.
pub(super) fn parse_odyssey(line: &str) -> Option<LogRecord> {
    let mut rest = line;
    for _ in 0..8 {
        let (word, more) = rest.trim_start().split_once(' ')?;
        rest = more;
        let text = || {
            // Client and server, and Odyssey's context, in brackets.
            let text = rest.trim_start();
            let text = text.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(text, |it| it.1);
            text.strip_prefix('(').and_then(|it| it.split_once(") ")).map_or(text, |it| it.1)
        };
        let about_itself = ["starting", "listening", "SIG", "stop", "shut", "restart", "reload"];
        let kind = match word {
            "fatal" => kind_from_text(rest).unwrap_or(EventKind::Fatal),
            "error" => kind_from_text(rest).unwrap_or(EventKind::Error),
            "warn" | "warning" => kind_from_text(rest).unwrap_or(EventKind::Other),
            "info" if about_itself.iter().any(|it| text().starts_with(it)) => EventKind::Lifecycle,
            "info" | "debug" => return None,
            _ => continue,
        };
        return Some(log_record(kind, text()));
    }
    None
}

/// Parses messages of the process, such as `[WARNING]  (4711) : text`, and lines of `log stdout format raw`.
pub(super) fn parse_haproxy(line: &str) -> Option<LogRecord> {
    let changed = |text: &str| {
        ["is DOWN", "is UP", "is stopping", "is going DOWN", " stopped", " started", "enters maintenance"]
            .iter()
            .any(|it| text.contains(it))
    };
    if let Some((level, text)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
        let text = text.split_once(") : ").map_or(text, |it| it.1);
        let kind = match level {
            "ALERT" | "EMERG" | "CRIT" => EventKind::Error,
            "WARNING" if changed(text) => EventKind::Lifecycle,
            "WARNING" => EventKind::Other,
            "NOTICE" if ["forked", "exited", "Loading success"].iter().any(|it| text.contains(it)) => {
                EventKind::Lifecycle
            }
            _ => return None,
        };
        return Some(log_record(kind, text));
    }
    if line.contains("has no server available") {
        return Some(log_record(EventKind::Error, line));
    }
    let about_itself = ["Server ", "Backup Server ", "Proxy ", "Health check for server "];
    if about_itself.iter().any(|it| line.starts_with(it)) {
        let kind = if changed(line) { EventKind::Lifecycle } else { EventKind::Other };
        return Some(log_record(kind, line));
    }
    // `client [accepted] frontend backend/server Tw/Tc/Tt bytes state …`: the state is `--` if the session ended
    // normally.
    let (_, session) = line.split_once("] ")?;
    let words: Vec<&str> = session.split_whitespace().collect();
    let &[_, server, times, bytes, state, ..] = &words[..] else { return None };
    let is_log = times.matches('/').count() == 2
        && bytes.trim_start_matches('+').bytes().all(|it| it.is_ascii_digit())
        && state.len() == 2;
    (is_log && state != "--").then(|| log_record(EventKind::Error, &format!("{server} {times} {state}")))
}

fn log_record(kind: EventKind, text: &str) -> LogRecord {
    LogRecord { kind, code: None, text: normalize_message(text), session: None }
}

#[cfg(test)]
mod tests {
    use super::super::{LogFormat, LogReader};

    fn check(dialect: LogFormat, line: &str, expected: &str) {
        let shown = LogReader::new(dialect).line(line).map(|it| format!("{:?} {}", it.kind, it.text));
        assert_eq!(shown.as_deref().unwrap_or("-"), expected, "{line}");
    }

    #[test]
    fn parses_pgbouncer_lines() {
        let check = |line: &str, expected: &str| {
            check(LogFormat::PgBouncer, &format!("2026-11-21 11:49:02.123 UTC [4711] {line}"), expected);
        };
        check(
            "LOG process up: PgBouncer 1.18.0, libevent 2.1.12-stable",
            "Lifecycle process up: PgBouncer 1.18.0, libevent 2.1.12-stable",
        );
        check("LOG stats: 0 xacts/s, 0 queries/s, in 0 B/s", "-");
        check("LOG C-0x55: bench/app@127.0.0.1:5 login attempt: db=bench user=app tls=no", "-");
        check("LOG got SIGTERM, fast exit", "Lifecycle got SIGTERM, fast exit");
        check(
            "WARNING C-0x55: bench/app@127.0.0.1:5 pooler error: query_wait_timeout",
            "Error C-0x55: bench/app@127.0.0.1:5 pooler error: query_wait_timeout",
        );
        check(
            "WARNING C-0x55: (nodb)/(nouser)@127.0.0.1:5 pooler error: no more connections allowed (max_client_conn)",
            "TooManyConnections C-0x55: (nodb)/(nouser)@127.0.0.1:5 pooler error: no more connections allowed (max_client_conn)",
        );
        check(
            "WARNING server login failed: FATAL sorry, too many clients already",
            "TooManyConnections server login failed: FATAL sorry, too many clients already",
        );
        check(
            "LOG S-0x55: bench/app@127.0.0.1:5432 closing because: server conn crashed? (age=5s)",
            "Error S-0x55: bench/app@127.0.0.1:5432 closing because: server conn crashed? (age=5s)",
        );
        check("LOG S-0x55: bench/app@127.0.0.1:5432 closing because: server idle timeout (age=5s)", "-");
        check("FATAL cannot load config file", "Fatal cannot load config file");
    }

    #[test]
    fn parses_odyssey_lines() {
        let check = |line: &str, expected: &str| check(LogFormat::Odyssey, line, expected);
        check(
            "4711 21 Nov 11:49:02.123 info [none none] (init) starting Odyssey",
            "Lifecycle starting Odyssey",
        );
        check("4711 21 Nov 11:49:02.123 info [none none] (stats) clients 20", "-");
        check(
            "4711 21 Nov 11:49:02.123 error [c1 none] (startup) failed to read startup message",
            "Error failed to read startup message",
        );
        check(
            "4711 21 Nov 11:49:02.123 error [c1 s2] (auth) FATAL 53300 sorry, too many clients already",
            "TooManyConnections FATAL 53300 sorry, too many clients already",
        );
        check("", "-");
    }

    #[test]
    fn parses_haproxy_lines() {
        let check = |line: &str, expected: &str| check(LogFormat::HaProxy, line, expected);
        check("[NOTICE]   (4711) : New worker (4713) forked", "Lifecycle New worker (4713) forked");
        check("[NOTICE]   (4711) : haproxy version is 2.6.12", "-");
        check(
            "[WARNING]  (4713) : Server pg/one is DOWN, reason: Layer4 connection problem.",
            "Lifecycle Server pg/one is DOWN, reason: Layer4 connection problem.",
        );
        check(
            "[ALERT]    (4713) : backend 'pg' has no server available!",
            "Error backend 'pg' has no server available!",
        );
        check("backend pg has no server available!", "Error backend pg has no server available!");
        check(
            "Server pg/one is UP, reason: Layer4 check passed",
            "Lifecycle Server pg/one is UP, reason: Layer4 check passed",
        );
        check("127.0.0.1:5 [21/Nov/2026:11:49:02.123] front pg/one 0/0/5 120 -- 1/1/1/1/0 0/0", "-");
        check(
            "127.0.0.1:5 [21/Nov/2026:11:49:02.123] front pg/<NOSRV> 5000/-1/5000 0 sQ 1/1/1/0/0 0/12",
            "Error pg/<NOSRV> 5000/-1/5000 sQ",
        );
        check("Connect from 127.0.0.1:5 to 127.0.0.1:6 (front/TCP)", "-");
    }
}
