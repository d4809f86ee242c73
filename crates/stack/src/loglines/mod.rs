//! Which lines of a server's log are remarkable?
//!
//! Pure but for [`Follower`]. What users put into their statements stays where it is: constants are masked, and the lines
//! that explain an error (DETAIL, STATEMENT, …) are passed over, as they show rows and parameters.

mod follow;
mod full;
mod heard;
mod mask;
mod poolers;
mod postgres;
mod services;

pub use follow::Follower;
pub use full::disk_full;
pub use heard::{Heard, heard};
pub use mask::masked;
pub(crate) use mask::without_values;

use model::{EventKind, LogEvent, Nanos};

/// Whose log it is, and thereby its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
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
pub struct Remark {
    pub kind: EventKind,
    /// SQLSTATE where the line tells it.
    pub code: Option<String>,
    /// Without prefix and constants, on one line.
    pub text: String,
}

/// Reads a log line by line.
#[derive(Clone, Debug)]
pub struct Reader {
    dialect: Dialect,
    /// The server's first process, whose plain messages are about the server itself.
    pub main_pid: Option<u32>,
    /// What the last line of an own message began with: those that explain it begin alike.
    before: Option<postgres::Head>,
}

impl Reader {
    pub fn new(dialect: Dialect) -> Reader {
        Reader { dialect, main_pid: None, before: None }
    }

    /// The next line, without its end; `None` if it is not remarkable.
    pub fn line(&mut self, line: &str) -> Option<Remark> {
        match self.dialect {
            Dialect::Postgres => postgres::read(line, self.main_pid, &mut self.before),
            Dialect::PgBouncer => poolers::pgbouncer(line),
            Dialect::Odyssey => poolers::odyssey(line),
            Dialect::HaProxy => poolers::haproxy(line),
            Dialect::Service => services::read(line),
        }
    }
}

/// So many events of a node are kept in each second; of the others the number.
pub const KEPT: usize = 50;

/// Lets [`KEPT`] events pass in each second of a node.
#[derive(Clone, Debug)]
pub struct Throttle {
    node: String,
    second: u64,
    kept: usize,
    /// How many of each kind were not kept.
    over: Vec<(EventKind, u64)>,
}

impl Throttle {
    pub fn new(node: &str) -> Throttle {
        Throttle { node: node.to_owned(), second: 0, kept: 0, over: Vec::new() }
    }

    /// Passes an event on, or counts it.
    pub fn take(&mut self, at: Nanos, remark: Remark, out: &mut Vec<LogEvent>) {
        self.tick(at, out);
        if self.kept < KEPT {
            self.kept += 1;
            let Remark { kind, code, text } = remark;
            out.push(LogEvent { at, node: self.node.clone(), kind, code, text });
        } else if let Some((_, count)) = self.over.iter_mut().find(|it| it.0 == remark.kind) {
            *count += 1;
        } else {
            self.over.push((remark.kind, 1));
        }
    }

    /// Tells what was not kept of a second that has passed: an event per kind, whose text begins with the number.
    pub fn tick(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        if at.0 / 1_000_000_000 != self.second {
            self.finish(at, out);
            self.second = at.0 / 1_000_000_000;
            self.kept = 0;
        }
    }

    /// Tells what was not kept until now.
    pub fn finish(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        let event = |(kind, count): (EventKind, u64)| LogEvent {
            at,
            node: self.node.clone(),
            kind,
            code: None,
            text: format!("{count}{}", LogEvent::MORE),
        };
        out.extend(self.over.drain(..).map(event));
    }
}

/// No more of a message is kept, characters.
const LONGEST: usize = 300;

/// Words on one line, without what a terminal would obey, and not too many of them.
fn tidy(text: &str) -> String {
    let plain: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// The two texts of SQLSTATE 53300 in PostgreSQL's catalogues of messages, for logs that do not tell the code.
const TOO_MANY: [&str; 24] = [
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
const DEADLOCK: [&str; 12] = [
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
fn by_text(text: &str) -> Option<EventKind> {
    let any = |of: &[&str]| of.iter().any(|it| text.contains(it));
    if any(&TOO_MANY) {
        Some(EventKind::TooManyConnections)
    } else if any(&DEADLOCK) {
        Some(EventKind::Deadlock)
    } else {
        None
    }
}
