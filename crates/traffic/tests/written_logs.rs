//! Logs of invented sessions: each format yields the sessions that were written

use proptest::prelude::*;
use std::fmt::Write;
use traffic::log::{LogFormat, Prefix, read};
use traffic::{Protocol, Traffic};

/// Statement of an invented session.
#[derive(Clone, Debug)]
struct Invented {
    text: String,
    parameters: Vec<Option<String>>,
    /// `None` is a simple query, `Some("")` the unnamed statement.
    prepared: Option<String>,
    duration_us: u64,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// Written at its end, with its duration.
    AtEnd,
    /// Written at its start, with the duration in an entry of its own.
    AtStart,
    /// Written at its start and then with its error.
    Failed,
}

fn invented() -> impl Strategy<Value = Invented> {
    let text = "[A-Za-z'\"$1 ,;:\\\\Жя\n\t-]{1,30}[a-z]";
    let value = proptest::option::of("[a-z0-9'\", =$NUL\n\tЖ\\\\]{0,12}");
    let outcome = prop_oneof![Just(Outcome::AtEnd), Just(Outcome::AtStart), Just(Outcome::Failed)];
    let prepared = proptest::option::of(prop_oneof![Just(String::new()), "[A-Za-z_][A-Za-z_0-9]{0,5}"]);
    (text, prop::collection::vec(value, 0..4), prepared, 0..10_000_000u64, outcome).prop_map(
        |(text, parameters, prepared, duration_us, outcome)| Invented {
            parameters: if prepared.is_some() { parameters } else { Vec::new() },
            text,
            prepared,
            duration_us,
            outcome,
        },
    )
}

/// Fields of a log entry.
struct Entry {
    session: usize,
    time_ms: u64,
    severity: &'static str,
    sqlstate: &'static str,
    message: String,
    detail: String,
    statement: String,
}

/// Entries as PostgreSQL 16 writes them. Sessions take turns.
fn entries(sessions: &[Vec<Invented>]) -> Vec<Entry> {
    let mut all = Vec::new();
    let mut time_ms = 0;
    let turns = sessions.iter().map(Vec::len).max().unwrap_or(0);
    for turn in 0..turns {
        for (session, statements) in sessions.iter().enumerate() {
            let Some(Invented { text, parameters, prepared, duration_us, outcome }) = statements.get(turn)
            else {
                continue;
            };
            time_ms += 7;
            let mut entry = |severity, sqlstate, message, detail: &str, statement: &str| {
                let (detail, statement) = (detail.to_owned(), statement.to_owned());
                all.push(Entry { session, time_ms, severity, sqlstate, message, detail, statement });
            };
            let duration = format!("duration: {}.{:03} ms", duration_us / 1_000, duration_us % 1_000);
            let name = prepared.as_deref().map(|name| if name.is_empty() { "<unnamed>" } else { name });
            let what = match name {
                None => format!("statement: {text}"),
                Some(name) => format!("execute {name}: {text}"),
            };
            let values = parameters.iter().enumerate().map(|(index, value)| match value {
                None => format!("${} = NULL", index + 1),
                Some(value) => format!("${} = '{}'", index + 1, value.replace('\'', "''")),
            });
            let values: Vec<String> = values.collect();
            let detail =
                if values.is_empty() { String::new() } else { format!("Parameters: {}", values.join(", ")) };
            if let Some(name) = name.filter(|_| *outcome == Outcome::AtEnd) {
                entry("LOG", "00000", format!("{duration}  parse {name}: {text}"), "", "");
                entry("LOG", "00000", format!("{duration}  bind {name}: {text}"), &detail, "");
            }
            match outcome {
                Outcome::AtEnd => entry("LOG", "00000", format!("{duration}  {what}"), &detail, ""),
                Outcome::AtStart => {
                    entry("LOG", "00000", what, &detail, "");
                    entry("LOG", "00000", duration, "", "");
                }
                Outcome::Failed => {
                    entry("LOG", "00000", what, &detail, "");
                    entry("ERROR", "22012", "division by zero".to_owned(), "", text);
                }
            }
        }
    }
    all
}

fn timestamp(time_ms: u64) -> String {
    format!(
        "2026-11-26 0{}:{:02}:{:02}.{:03} UTC",
        time_ms / 3_600_000,
        time_ms / 60_000 % 60,
        time_ms / 1_000 % 60,
        time_ms % 1_000
    )
}

/// The session ID, which contains the process ID.
fn id(session: usize) -> String {
    format!("6b07a3bc.{:x}", session + 1)
}

fn csv(entries: &[Entry]) -> String {
    let quote = |text: &str| {
        if text.is_empty() { String::new() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    let record = |entry: &Entry| {
        let Entry { session, time_ms, severity, sqlstate, message, detail, statement } = entry;
        let (message, detail, statement) = (quote(message), quote(detail), quote(statement));
        let (time, id) = (timestamp(*time_ms), id(*session));
        format!(
            "{time},\"me\",\"shop\",{session},\"[local]\",{id},1,\"SELECT\",{time},3/7,0,{severity},{sqlstate},{message},{detail},,,,,{statement},,,\"app\",\"client backend\",,0\n"
        )
    };
    entries.iter().map(record).collect()
}

fn json(entries: &[Entry]) -> String {
    let object = |entry: &Entry| {
        let mut object = serde_json::json!({
            "timestamp": timestamp(entry.time_ms), "user": "me", "dbname": "shop", "application_name": "app",
            "pid": entry.session, "session_id": id(entry.session), "vxid": "3/7", "error_severity": entry.severity,
            "state_code": entry.sqlstate, "message": entry.message,
        });
        for (key, value) in [("detail", &entry.detail), ("statement", &entry.statement)] {
            if !value.is_empty() {
                object[key] = value.as_str().into();
            }
        }
        object.to_string() + "\n"
    };
    entries.iter().map(object).collect()
}

fn stderr(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let head =
            format!("{} {} me@shop/app 3/7 {} ", timestamp(entry.time_ms), id(entry.session), entry.sqlstate);
        for (label, text) in
            [(entry.severity, &entry.message), ("DETAIL", &entry.detail), ("STATEMENT", &entry.statement)]
        {
            if !text.is_empty() {
                writeln!(out, "{head}{label}:  {}", text.replace('\n', "\n\t"))
                    .expect("memory can be written");
            }
        }
    }
    out
}

fn check(sessions: &[Vec<Invented>], log: &str, format: &LogFormat) -> Result<(), TestCaseError> {
    let mut traffic = Traffic::default();
    read(log.as_bytes(), format, &mut traffic).expect("the log can be read");
    let written: Vec<_> =
        sessions.iter().enumerate().filter(|(_, statements)| !statements.is_empty()).collect();
    prop_assert_eq!(traffic.sessions.len(), written.len());
    for (index, statements) in written {
        let session =
            traffic.sessions.iter().find(|session| session.id == id(index)).expect("the session exists");
        prop_assert_eq!(session.user.as_deref(), Some("me"));
        prop_assert_eq!(session.application.as_deref(), Some("app"));
        prop_assert_eq!(session.statements.len(), statements.len());
        for (found, written) in session.statements.iter().zip(statements) {
            prop_assert_eq!(&*found.text, &written.text);
            prop_assert_eq!(&found.parameters, &written.parameters);
            let protocol = written.prepared.as_ref().map_or(Protocol::Simple, |name| {
                Protocol::Extended((!name.is_empty()).then(|| name.as_str().into()))
            });
            prop_assert_eq!(&found.protocol, &protocol);
            let failed = written.outcome == Outcome::Failed;
            prop_assert_eq!(found.error.and_then(|error| error.sqlstate), failed.then_some(*b"22012"));
            prop_assert_eq!(found.duration.map(|it| it.0), (!failed).then_some(written.duration_us * 1_000));
            prop_assert_eq!(found.transaction, Some(7));
            // Times in the log have milliseconds. An entry at the end of a statement has the time of its end.
            let logged = if written.outcome == Outcome::AtEnd { found.end() } else { Some(found.start) };
            prop_assert_eq!(logged.map(|time| time.0 % 1_000_000), Some(0));
        }
    }
    let malformed = traffic.skipped.iter().any(|skipped| skipped.kind != traffic::SkipKind::ParseOrBind);
    prop_assert!(!malformed, "{:?}", traffic.skipped);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_format_yields_the_written_sessions(
        sessions in prop::collection::vec(prop::collection::vec(invented(), 0..6), 1..4)
    ) {
        let entries = entries(&sessions);
        let prefix = Prefix::new("%m %c %u@%d/%a %v %e ").expect("the prefix is valid");
        check(&sessions, &csv(&entries), &LogFormat::Csv)?;
        check(&sessions, &json(&entries), &LogFormat::Json)?;
        check(&sessions, &stderr(&entries), &LogFormat::Stderr(prefix))?;
    }
}
