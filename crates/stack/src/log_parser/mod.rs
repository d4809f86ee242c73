//! Which lines of a server's log are remarkable?
//!
//! Pure but for [`Follower`]. What users put into their statements stays where it is: constants are masked, and the lines
//! that explain an error (DETAIL, STATEMENT, …) are passed over, as they show rows and parameters.

mod follow;
mod full;
mod logged_statement;
mod poolers;
mod postgres;
mod services;
mod value_mask;

pub use follow::LogFollower;
pub use full::disk_full;
pub use logged_statement::{LoggedStatement, parse_logged_statements};
pub use value_mask::mask_values;
pub(crate) use value_mask::replace_values;

use model::{EventKind, LogEvent, Nanos};

/// Whose log it is, and thereby its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines of `log_line_prefix` `%m [%p] %e `, in any language of `lc_messages`. Without `%e` known languages only.
    Postgres,
    PgBouncer,
    Odyssey,
    HaProxy,
    /// Any program's that names the levels of its lines.
    Service,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    pub kind: EventKind,
    /// SQLSTATE where the line tells it.
    pub code: Option<String>,
    /// Without prefix and constants, on one line.
    pub text: String,
}

/// Reads a log line by line.
#[derive(Clone, Debug)]
pub struct LogReader {
    dialect: LogFormat,
    /// The server's first process, whose plain messages are about the server itself.
    pub main_pid: Option<u32>,
    /// What the last line of an own message began with: those that explain it begin alike.
    previous_head: Option<postgres::LinePrefix>,
}

impl LogReader {
    pub fn new(dialect: LogFormat) -> LogReader {
        LogReader { dialect, main_pid: None, previous_head: None }
    }

    /// The next line, without its end; `None` if it is not remarkable.
    pub fn line(&mut self, line: &str) -> Option<LogRecord> {
        match self.dialect {
            LogFormat::Postgres => postgres::parse(line, self.main_pid, &mut self.previous_head),
            LogFormat::PgBouncer => poolers::parse_pgbouncer(line),
            LogFormat::Odyssey => poolers::parse_odyssey(line),
            LogFormat::HaProxy => poolers::parse_haproxy(line),
            LogFormat::Service => services::parse(line),
        }
    }
}

/// So many events of a node are kept in each second; of the others the number.
pub const MAX_EVENTS_PER_SECOND: usize = 50;

/// Lets [`KEPT`] events pass in each second of a node.
#[derive(Clone, Debug)]
pub struct EventLimiter {
    node: String,
    second: u64,
    passed: usize,
    /// How many of each kind were not kept.
    suppressed: Vec<(EventKind, u64)>,
}

impl EventLimiter {
    pub fn new(node: &str) -> EventLimiter {
        EventLimiter { node: node.to_owned(), second: 0, passed: 0, suppressed: Vec::new() }
    }

    /// Passes an event on, or counts it.
    pub fn take(&mut self, at: Nanos, remark: LogRecord, out: &mut Vec<LogEvent>) {
        self.tick(at, out);
        if self.passed < MAX_EVENTS_PER_SECOND {
            self.passed += 1;
            let LogRecord { kind, code, text } = remark;
            out.push(LogEvent { at, node: self.node.clone(), kind, code, text });
        } else if let Some((_, count)) = self.suppressed.iter_mut().find(|it| it.0 == remark.kind) {
            *count += 1;
        } else {
            self.suppressed.push((remark.kind, 1));
        }
    }

    /// Tells what was not kept of a second that has passed: an event per kind, whose text begins with the number.
    pub fn tick(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        if at.0 / 1_000_000_000 != self.second {
            self.finish(at, out);
            self.second = at.0 / 1_000_000_000;
            self.passed = 0;
        }
    }

    /// Tells what was not kept until now.
    pub fn finish(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        let event = |(kind, count): (EventKind, u64)| LogEvent {
            at,
            node: self.node.clone(),
            kind,
            code: None,
            text: format!("{count}{}", LogEvent::AGGREGATE_SUFFIX),
        };
        out.extend(self.suppressed.drain(..).map(event));
    }
}

/// No more of a message is kept, characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Words on one line, without what a terminal would obey, and not too many of them.
fn normalize_message(text: &str) -> String {
    let plain: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// The two texts of SQLSTATE 53300 in PostgreSQL's catalogues of messages, for logs that do not tell the code.
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

/// That of 40P01.
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

/// What a message without a code is about, by its text.
fn kind_from_text(text: &str) -> Option<EventKind> {
    let any = |of: &[&str]| of.iter().any(|it| text.contains(it));
    if any(&TOO_MANY_CONNECTIONS_TEXTS) {
        Some(EventKind::TooManyConnections)
    } else if any(&DEADLOCK_TEXTS) {
        Some(EventKind::Deadlock)
    } else {
        None
    }
}
