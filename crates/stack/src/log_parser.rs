//! Extracts events from the logs of servers
//!
//! All functions are pure, except for [`LogFollower`]. Constants are masked, because they may be users' values. Lines
//! that explain an error (DETAIL, STATEMENT, …) are skipped, because they contain rows and parameters. Only the lines
//! that explain a deadlock are parsed.

mod deadlock;
mod follow;
mod full;
mod logged_statement;
mod postgres;
mod services;
mod value_mask;

pub use deadlock::DeadlockDetails;
pub use follow::LogFollower;
pub use full::{disk_full, last_fatal_error};
pub use logged_statement::{LoggedStatement, parse_logged_statements};
pub(crate) use value_mask::replace_values;
pub use value_mask::{mask_values, normalize_statement};

use model::{EventKind, LogEvent, LogSession, Nanos};

/// Format of a log.
#[derive(Clone, Copy, Debug)]
pub enum LogFormat {
    /// Lines with the `log_line_prefix` `%m [%p] %e %q%h (%a) `, in any language of `lc_messages`. All fields after the
    /// process id are optional. Without `%e`, only known languages are parsed.
    Postgres,
    /// Lines that this function parses, one at a time. The function returns `None` for a line without an event.
    Lines(fn(&str) -> Option<LogRecord>),
    /// Log of any program that writes a severity level in each line.
    Service,
}

/// Event from a log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    pub kind: EventKind,
    /// SQLSTATE, if the line contains it.
    pub code: Option<String>,
    /// Message without prefix and constants, on one line.
    pub text: String,
    /// Session, if PostgreSQL's log names it.
    pub session: Option<LogSession>,
}

impl LogRecord {
    /// Creates an event without a SQLSTATE. The text is put on one line and truncated.
    pub fn new(kind: EventKind, text: &str) -> LogRecord {
        LogRecord { kind, code: None, text: normalize_message(text), session: None }
    }
}

/// Parser that reads a log line by line.
#[derive(Clone, Debug)]
pub struct LogReader {
    dialect: LogFormat,
    /// Process id of the postmaster. A message of this process that is neither an error nor a warning is about the
    /// server itself.
    pub main_pid: Option<u32>,
    /// Prefix of the last message. DETAIL and similar lines of this message have the same prefix.
    previous_head: Option<postgres::LinePrefix>,
    /// Deadlock whose details may continue in the next line.
    open_deadlock: Option<DeadlockDetails>,
    deadlocks: Vec<DeadlockDetails>,
}

impl LogReader {
    pub fn new(dialect: LogFormat) -> LogReader {
        LogReader { dialect, main_pid: None, previous_head: None, open_deadlock: None, deadlocks: Vec::new() }
    }

    /// Parses the next line, without its line end; `None` if it contains no event.
    pub fn line(&mut self, line: &str) -> Option<LogRecord> {
        match self.dialect {
            LogFormat::Postgres => self.postgres_line(line),
            LogFormat::Lines(parse) => parse(line),
            LogFormat::Service => services::parse(line),
        }
    }

    fn postgres_line(&mut self, line: &str) -> Option<LogRecord> {
        if self.open_deadlock.as_mut().is_some_and(|it| !it.push(line)) {
            self.finish();
        }
        let record = postgres::parse(line, self.main_pid, &mut self.previous_head)?;
        if record.kind == EventKind::Deadlock {
            self.open_deadlock = self.previous_head.as_ref().map(|it| DeadlockDetails::new(it.pid));
        }
        Some(record)
    }

    /// Ends the details of the last deadlock. Call it when reading ends.
    pub fn finish(&mut self) {
        self.deadlocks.extend(self.open_deadlock.take());
    }

    /// Removes and returns the deadlocks whose details are complete.
    pub fn take_deadlocks(&mut self) -> Vec<DeadlockDetails> {
        std::mem::take(&mut self.deadlocks)
    }
}

/// Maximum number of events kept per node and second. Further events are only counted.
pub const MAX_EVENTS_PER_SECOND: usize = 50;

/// Limiter that reports at most [`MAX_EVENTS_PER_SECOND`] events in each second of a node.
#[derive(Clone, Debug)]
pub struct EventLimiter {
    node: String,
    second: u64,
    passed: usize,
    /// Number of suppressed events of each kind and session.
    suppressed: Vec<(EventKind, Option<LogSession>, u64)>,
}

impl EventLimiter {
    pub fn new(node: &str) -> EventLimiter {
        EventLimiter { node: node.to_owned(), second: 0, passed: 0, suppressed: Vec::new() }
    }

    /// Reports an event, or counts it as suppressed.
    pub fn take(&mut self, at: Nanos, record: LogRecord, out: &mut Vec<LogEvent>) {
        self.tick(at, out);
        if self.passed < MAX_EVENTS_PER_SECOND {
            self.passed += 1;
            let LogRecord { kind, code, text, session } = record;
            out.push(LogEvent { at, node: self.node.clone(), kind, code, text, session });
            return;
        }
        let LogRecord { kind, mut session, .. } = record;
        if self.suppressed.len() >= MAX_EVENTS_PER_SECOND {
            session = None;
        }
        match self.suppressed.iter_mut().find(|it| (it.0, &it.1) == (kind, &session)) {
            Some((_, _, count)) => *count += 1,
            None => self.suppressed.push((kind, session, 1)),
        }
    }

    /// Reports the events that were suppressed in a past second: one event per kind and session, whose text begins with
    /// the number of suppressed events. Sessions beyond [`MAX_EVENTS_PER_SECOND`] are not named.
    pub fn tick(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        if at.0 / 1_000_000_000 != self.second {
            self.finish(at, out);
            self.second = at.0 / 1_000_000_000;
            self.passed = 0;
        }
    }

    /// Reports the events that were suppressed so far.
    pub fn finish(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        let event = |(kind, session, count): (EventKind, Option<LogSession>, u64)| LogEvent {
            at,
            node: self.node.clone(),
            kind,
            code: None,
            text: format!("{count}{}", LogEvent::AGGREGATE_SUFFIX),
            session,
        };
        out.extend(self.suppressed.drain(..).map(event));
    }
}

/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Returns text on one line, without control characters, truncated.
fn normalize_message(text: &str) -> String {
    let plain: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// Singular and plural texts for SQLSTATE 53300 in PostgreSQL's message catalogs, for logs without SQLSTATE.
const TOO_MANY_CONNECTIONS_TEXTS: [&str; 24] = [
    "too many clients already",
    "remaining connection slots are reserved",
    "too many active clients",
    "извините, уже слишком много клиентов",
    "оставшиеся слоты подключений зарезервированы",
    "schon zu viele Verbindungen",
    "die verbleibenden Verbindungen sind für Superuser",
    "ya tenemos demasiados clientes",
    "las conexiones restantes están reservadas",
    "trop de clients sont déjà connectés",
    "les emplacements de connexions restants sont réservés",
    "troppi client già connessi",
    "i rimanenti slot di connessione sono riservati",
    "現在クライアント数が多すぎます",
    "残りの接続スロットは",
    "უკვე მეტისმეტად ბევრი კლიენტია",
    "최대 동시 접속자 수를 초과했습니다",
    "남은 연결 슬롯은",
    "för många klienter",
    "resterande anslutningsslottar är reserverade",
    "вибачте, вже забагато клієнтів",
    "слоти підключень, які залишились, зарезервовані",
    "已经有太多的客户",
    "已保留的连接位置",
];

/// Texts for SQLSTATE 40P01 in PostgreSQL's message catalogs.
const DEADLOCK_TEXTS: [&str; 12] = [
    "deadlock detected",
    "обнаружена взаимоблокировка",
    "Verklemmung (Deadlock) entdeckt",
    "se ha detectado un deadlock",
    "interblocage (deadlock) détecté",
    "rilevato deadlock",
    "デッドロックを検出しました",
    "ნაპოვნია ურთიერთბლოკირება",
    "deadlock 발생했음",
    "deadlock upptäckt",
    "виявлено взаємне блокування",
    "检测到死锁",
];

/// Determines the kind of a message without SQLSTATE from its text.
pub(crate) fn kind_from_text(text: &str) -> Option<EventKind> {
    let contains_any = |texts: &[&str]| texts.iter().any(|it| text.contains(it));
    if contains_any(&TOO_MANY_CONNECTIONS_TEXTS) {
        Some(EventKind::TooManyConnections)
    } else if contains_any(&DEADLOCK_TEXTS) {
        Some(EventKind::Deadlock)
    } else {
        None
    }
}

/// Asserts that a line contains the expected event; `-` means no event.
#[cfg(test)]
#[track_caller]
pub(crate) fn check_log_line(parse: fn(&str) -> Option<LogRecord>, line: &str, expected: &str) {
    let shown = parse(line).map(|it| format!("{:?} {}", it.kind, it.text));
    assert_eq!(shown.as_deref().unwrap_or("-"), expected, "{line}");
}
