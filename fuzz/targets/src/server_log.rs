//! Target for server logs: every format yields sessions whose statements belong to one transaction each.

use ::traffic::log::{DEFAULT_PREFIX, LogFormat, Prefix, RDS_PREFIX, read};
use ::traffic::{Session, Traffic};

/// Runs one input. The first byte selects the format.
pub fn run(data: &[u8]) {
    sessions(data);
}

/// Sessions of one input, if it is a log. The lowest three bits of the first byte select the format.
pub fn sessions(data: &[u8]) -> Option<Traffic> {
    let [flags, bytes @ ..] = data else { return None };
    let prefix = |text: &str| Prefix::new(text).map(LogFormat::Stderr);
    let written;
    let (format, bytes) = match flags & 7 {
        0 => (Ok(LogFormat::Csv), bytes),
        1 => (Ok(LogFormat::Json), bytes),
        2 => (prefix(DEFAULT_PREFIX), bytes),
        3 => (prefix(RDS_PREFIX), bytes),
        4 => (prefix("%m %c %q%u@%d/%a %v %e "), bytes),
        5 => {
            let (first, rest) = crate::text(bytes).split_once('\n').unwrap_or_default();
            (prefix(first), rest.as_bytes())
        }
        _ => {
            written = statement_log(crate::text(bytes));
            (Ok(LogFormat::Json), written.as_bytes())
        }
    };
    let format = match format {
        Ok(format) => format,
        Err(message) => {
            assert!(!message.id.is_empty());
            return None;
        }
    };
    let mut traffic = Traffic::default();
    if let Err(message) = read(bytes, &format, &mut traffic) {
        assert!(!message.id.is_empty() && traffic.statements() == 0);
        return None;
    }
    let skipped: u64 = traffic.skipped.iter().map(|skipped| skipped.count).sum();
    // Parameters that cannot be read are counted in addition to their statement.
    assert!(skipped <= 2 * traffic.entries);
    traffic.sessions.iter().for_each(check_transactions);
    Some(traffic)
}

/// Each statement belongs to one transaction, and those that are finished are the first ones.
fn check_transactions(session: &Session) {
    let mut next = 0;
    let all = session.transactions();
    for transaction in &all {
        assert!(transaction.statements.start == next && !transaction.statements.is_empty());
        next = transaction.statements.end;
    }
    assert_eq!(next, session.statements.len());
    assert!(all.starts_with(&session.finished_transactions()));
}

/// Log with the lines of a text as statements, so that mutations reach the parser of statements. A tab separates a
/// statement from its parameters.
fn statement_log(text: &str) -> String {
    let mut log = String::new();
    for (second, line) in text.lines().take(60).enumerate() {
        let (statement, detail) = line.split_once('\t').unwrap_or((line, ""));
        let kind = if detail.is_empty() { "statement" } else { "execute a" };
        let entry = serde_json::json!({
            "timestamp": format!("2026-11-26 03:13:{second:02}.000 UTC"), "session_id": "1.1", "error_severity": "LOG",
            "message": format!("duration: 1.000 ms  {kind}: {statement}"), "detail": format!("Parameters: {detail}"),
        });
        log.push_str(&entry.to_string());
        log.push('\n');
    }
    log
}
