//! Reader of the format `jsonlog`

use super::entry::{Entry, Severity, known, sqlstate, transaction};
use super::lines::Lines;
use super::timestamp::timestamp;
use super::{Sink, SkipKind};
use serde_json::{Map, Value};
use std::io::{self, BufRead};

pub(super) fn read(lines: &mut Lines<impl BufRead>, sink: Sink<'_>) -> io::Result<()> {
    while let Some((number, line)) = lines.next()? {
        if !line.is_empty() {
            sink(number, parse(line))?;
        }
    }
    Ok(())
}

/// Reads one object.
fn parse(line: &[u8]) -> Result<Entry, SkipKind> {
    let line = std::str::from_utf8(line).map_err(|_| SkipKind::NotUtf8)?;
    let object: Map<String, Value> = serde_json::from_str(line).map_err(|_| SkipKind::Malformed)?;
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let name = |key: &str| text(key).and_then(known);
    let own = |key: &str| text(key).map(str::to_owned);
    let process = || object.get("pid").and_then(Value::as_u64).map(|pid| pid.to_string());
    Ok(Entry {
        time: text("timestamp").and_then(timestamp).ok_or(SkipKind::Malformed)?,
        session: own("session_id").or_else(process).ok_or(SkipKind::Malformed)?,
        user: name("user"),
        database: name("dbname"),
        application: name("application_name"),
        transaction: text("vxid").and_then(transaction),
        severity: Severity::from(text("error_severity").ok_or(SkipKind::Malformed)?),
        sqlstate: text("state_code").and_then(sqlstate),
        message: own("message").unwrap_or_default(),
        detail: own("detail"),
        context: own("context"),
        statement: own("statement"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_objects() {
        for (line, expected) in [
            (&br#"{"timestamp":"1970-01-01 00:00:01 UTC","pid":7,"error_severity":"LOG","message":"a"}"#[..], Ok("7 a")),
            (
                br#"{"timestamp":"1970-01-01 00:00:01 UTC","pid":7,"session_id":"6.7","error_severity":"LOG"}"#,
                Ok("6.7 "),
            ),
            (br#"{"timestamp":"1970-01-01 00:00:01 UTC","error_severity":"LOG"}"#, Err(SkipKind::Malformed)),
            (br#"{"timestamp":"today","pid":7,"error_severity":"LOG"}"#, Err(SkipKind::Malformed)),
            (br#"{"timestamp":"1970-01-01 00:00:01 UTC","pid":7"#, Err(SkipKind::Malformed)),
            (b"[]", Err(SkipKind::Malformed)),
            (b"{\"message\":\"\xff\"}", Err(SkipKind::NotUtf8)),
        ] {
            let entry = parse(line).map(|entry| format!("{} {}", entry.session, entry.message));
            assert_eq!(entry, expected.map(str::to_owned), "{}", line.escape_ascii());
        }
    }
}
