//! Meaning of a log message

use super::timestamp::milliseconds;
use model::Nanos;

/// Report of a message of severity `LOG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report<'a> {
    /// Execution of a statement. The duration is known if the entry was written at its end.
    Execution {
        duration: Option<Nanos>,
        step: Step<'a>,
        text: &'a str,
    },
    /// Duration of the step that was last reported, or of one that was not reported.
    Duration(Nanos),
    Plan,
    Connection,
    /// The client is authorized; the entry contains its names.
    Authorization,
    Disconnection,
    Other,
}

/// Step of the protocols that a message reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Simple,
    ParseOrBind,
    /// Execution of a prepared statement; `None` is the unnamed one.
    Execute(Option<&'a str>),
    /// Further rows of an execution.
    Fetch,
}

/// Reads a message. Sources: `exec_simple_query` and `exec_execute_message` in `src/backend/tcop/postgres.c`.
pub(super) fn report(message: &str) -> Report<'_> {
    if let Some(rest) = message.strip_prefix("duration: ") {
        return timed(rest).unwrap_or(Report::Other);
    }
    if let Some((step, text)) = execution(message).filter(|(step, _)| *step != Step::ParseOrBind) {
        return Report::Execution { duration: None, step, text };
    }
    if message.starts_with("connection received:") {
        Report::Connection
    } else if message.starts_with("connection authorized:") {
        Report::Authorization
    } else if message.starts_with("disconnection:") {
        Report::Disconnection
    } else {
        Report::Other
    }
}

/// Reads what follows `duration: `.
fn timed(rest: &str) -> Option<Report<'_>> {
    let (number, rest) = rest.split_once(" ms")?;
    let duration = milliseconds(number)?;
    if rest.is_empty() {
        return Some(Report::Duration(duration));
    }
    let rest = rest.strip_prefix("  ")?;
    if rest.starts_with("plan:") {
        return Some(Report::Plan);
    }
    let (step, text) = execution(rest)?;
    Some(Report::Execution { duration: Some(duration), step, text })
}

/// Reads `statement: TEXT`, `execute NAME: TEXT`, and so on.
fn execution(text: &str) -> Option<(Step<'_>, &str)> {
    let (verb, rest) = text.split_once(' ')?;
    match verb {
        "statement:" => Some((Step::Simple, rest)),
        "parse" | "bind" => named(rest).map(|(_, text)| (Step::ParseOrBind, text)),
        "execute" => match rest.strip_prefix("fetch from ") {
            Some(rest) => named(rest).map(|(_, text)| (Step::Fetch, text)),
            None => named(rest).map(|(name, text)| (Step::Execute(name), text)),
        },
        _ => None,
    }
}

/// Name of a prepared statement without that of the portal, and the text after the colon.
fn named(rest: &str) -> Option<(Option<&str>, &str)> {
    let (name, text) = rest.split_once(": ")?;
    let statement = name.split_once('/').map_or(name, |(statement, _)| statement);
    Some(((statement != "<unnamed>").then_some(statement), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_messages() {
        let ms = Some(Nanos::from_micros(1_234));
        let execution = |duration, step, text| Report::Execution { duration, step, text };
        for (message, expected) in [
            ("statement: SELECT 1", execution(None, Step::Simple, "SELECT 1")),
            ("duration: 1.234 ms  statement: SELECT 1", execution(ms, Step::Simple, "SELECT 1")),
            ("execute <unnamed>: SELECT 1", execution(None, Step::Execute(None), "SELECT 1")),
            ("execute S_1/C_2: SELECT a: b", execution(None, Step::Execute(Some("S_1")), "SELECT a: b")),
            (
                "duration: 1.234 ms  execute S_1: SELECT 1",
                execution(ms, Step::Execute(Some("S_1")), "SELECT 1"),
            ),
            ("duration: 1.234 ms  parse S_1: SELECT 1", execution(ms, Step::ParseOrBind, "SELECT 1")),
            ("duration: 1.234 ms  bind <unnamed>: SELECT 1", execution(ms, Step::ParseOrBind, "SELECT 1")),
            ("execute fetch from S_1/C_2: SELECT 1", execution(None, Step::Fetch, "SELECT 1")),
            ("duration: 1.234 ms  execute fetch from a: SELECT 1", execution(ms, Step::Fetch, "SELECT 1")),
            ("duration: 1.234 ms", Report::Duration(Nanos::from_micros(1_234))),
            ("duration: 1.234 ms  plan:\nQuery Text: SELECT 1", Report::Plan),
            ("duration: 1.234 ms  fastpath function call: \"f\" (OID 1)", Report::Other),
            ("duration: later", Report::Other),
            ("connection received: host=[local]", Report::Connection),
            ("connection authorized: user=a database=b", Report::Authorization),
            (
                "disconnection: session time: 0:00:00.026 user=a database=b host=[local]",
                Report::Disconnection,
            ),
            ("checkpoint starting: time", Report::Other),
            ("parse: x", Report::Other),
            ("bind a: SELECT 1", Report::Other),
            ("statement:", Report::Other),
            ("", Report::Other),
        ] {
            assert_eq!(report(message), expected, "{message}");
        }
    }
}
