//! Parser of PostgreSQL's log, in any language
//!
//! The parser uses the SQLSTATE, which `%e` in `log_line_prefix` puts before the severity. The severity is a word in
//! the language of `lc_messages`. The words below are those of PostgreSQL's message catalogs, versions 14 to 18. They
//! distinguish FATAL from ERROR; any other word counts as ERROR.

use super::{LogRecord, kind_from_text, normalize_message, normalize_statement};
use model::{EventKind, LogSession};
use std::net::IpAddr;

/// Prefix of a log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinePrefix {
    /// Text before the process id: the time, if the prefix contains it.
    timestamp: String,
    pub(super) pid: u32,
    code: Option<String>,
    session: Option<LogSession>,
    pub(super) severity: String,
}

const FATAL: [&str; 22] = [
    "FATAL",
    "PANIC",
    "ВАЖНО",
    "ПАНИКА",
    "PANIK",
    "PÁNICO",
    "FATALE",
    "PANICO",
    "FATALT",
    "ФАТАЛЬНО",
    "ПАНІКА",
    "ფატალური",
    "პანიკა",
    "치명적오류",
    "손상",
    "致命错误",
    "比致命错误还过分的错误",
    "KATASTROFALNY",
    "PANIKA",
    "PÂNICO",
    "ÖLÜMCÜL (FATAL)",
    "KRİTİK",
];
const ERROR: [&str; 14] = [
    "ERROR",
    "ОШИБКА",
    "FEHLER",
    "ERREUR",
    "ERRORE",
    "FEL",
    "ПОМИЛКА",
    "შეცდომა",
    "오류",
    "错误",
    "BŁĄD",
    "ERRO",
    "HATA",
    "CHYBA",
];
const WARNING: [&str; 11] = [
    "WARNING",
    "ПРЕДУПРЕЖДЕНИЕ",
    "WARNUNG",
    "ATTENTION",
    "ATTENZIONE",
    "VARNING",
    "ПОПЕРЕДЖЕННЯ",
    "გაფრთხილება",
    "경고",
    "警告",
    "UYARI",
];
const LOG: [&str; 9] =
    ["LOG", "СООБЩЕНИЕ", "LOGG", "ЗАПИСУВАННЯ", "ჟურნალი", "로그", "日志", "DZIENNIK", "ZPRÁVA"];

/// Severities of lines that explain a message, in English.
const DETAILS: [&str; 5] = ["DETAIL", "HINT", "QUERY", "CONTEXT", "STATEMENT"];

/// First words of the server's messages about its own start and end.
const LIFECYCLE: [&str; 16] = [
    "starting PostgreSQL",
    "database system",
    "received ",
    "server process",
    "terminating any other active",
    "all server processes terminated",
    "aborting any active",
    "shutting down",
    "redo ",
    "начинается работа PostgreSQL",
    "запускается PostgreSQL",
    "система БД",
    "получен ",
    "процесс сервера",
    "все серверные процессы",
    "выключение",
];

/// Parses a line. `before` is the prefix of the last line that is not a DETAIL or similar line.
pub(super) fn parse(line: &str, main_pid: Option<u32>, before: &mut Option<LinePrefix>) -> Option<LogRecord> {
    let (head, text) = split_prefix(line)?;
    let explains = |prefix: &LinePrefix| {
        prefix.timestamp == head.timestamp
            && prefix.pid == head.pid
            && prefix.code == head.code
            && prefix.severity != head.severity
    };
    let known = |words: &[&str]| words.contains(&head.severity.as_str());
    let is_known = known(&FATAL) || known(&ERROR) || known(&WARNING) || known(&LOG);
    // In an unknown language, a line with the time and SQLSTATE of the previous message is a detail of that message.
    let is_detail = known(&DETAILS) || before.as_ref().is_some_and(explains) || head.code.is_none();
    if !is_known && is_detail {
        return None;
    }
    let kind = event_kind(&head, text, main_pid);
    let code = head.code.clone().filter(|it| it != "00000");
    let session = head.session.clone();
    *before = Some(head);
    let kind = kind?;
    let text = match kind {
        EventKind::SlowStatement => slow_statement_text(text)?,
        // Class 22 is data exception; its messages quote the invalid value.
        _ if code.as_deref().is_some_and(|it| it.starts_with("22")) => mask_quoted(text),
        _ => normalize_message(text),
    };
    Some(LogRecord { kind, code, text, session })
}

fn event_kind(head: &LinePrefix, text: &str, main_pid: Option<u32>) -> Option<EventKind> {
    let severe = |words: &[&str]| words.contains(&head.severity.as_str());
    match head.code.as_deref() {
        Some("40P01") => Some(EventKind::Deadlock),
        Some("53300") => Some(EventKind::TooManyConnections),
        _ if severe(&FATAL) => Some(kind_from_text(text).unwrap_or(EventKind::Fatal)),
        _ if severe(&ERROR) => Some(kind_from_text(text).unwrap_or(EventKind::Error)),
        _ if severe(&WARNING) => Some(EventKind::Other),
        Some("00000") | None if duration_end(text).is_some() => Some(EventKind::SlowStatement),
        Some("00000") | None => {
            let itself = main_pid == Some(head.pid) || LIFECYCLE.iter().any(|it| text.starts_with(it));
            itself.then_some(EventKind::Lifecycle)
        }
        // Classes 00, 01 and 02 are success, warning and no data; a LOG line may carry the SQLSTATE of an error.
        Some(code) if code.starts_with("01") || code.starts_with("02") || severe(&LOG) => {
            Some(EventKind::Other)
        }
        // Administrative shutdowns and rejected logins end sessions, whatever word stands for the severity.
        Some(code) if ["57P", "28", "08"].iter().any(|it| code.starts_with(it)) => Some(EventKind::Fatal),
        Some(_) => Some(EventKind::Error),
    }
}

/// Splits `2026-11-21 11:49:02.123 UTC [4711] 40P01 ERROR:  text`. The session may precede the severity, as in
/// `[4711] 40P01 127.0.0.1 (pgdyno load) ERROR:  text`. Continuation lines begin with a tab and have no prefix.
pub(super) fn split_prefix(line: &str) -> Option<(LinePrefix, &str)> {
    if !line.starts_with(|it: char| it.is_ascii_digit()) && !line.starts_with('[') {
        return None;
    }
    let (stamp, rest) = line.split_once('[')?;
    let (pid, rest) = rest.split_once(']')?;
    let pid = pid.parse().ok()?;
    if let Some((code, session, message)) = split_session(rest) {
        let (severity, text) = message.split_once(":  ")?;
        let (timestamp, severity) = (stamp.to_owned(), severity.to_owned());
        let head =
            LinePrefix { timestamp, pid, code: Some(code.to_owned()), session: Some(session), severity };
        return Some((head, text));
    }
    let (mut words, text) = rest.split_once(":  ")?;
    let mut code = None;
    // Prefixes may have more words, such as Debian's `user@database`. Every SQLSTATE has a digit, but no severity has
    // one.
    for (at, word) in
        words.match_indices(' ').map(|(at, _)| (at, words[at + 1..].split(' ').next().unwrap_or("")))
    {
        if is_sqlstate(word) {
            code = Some(word.to_owned());
            words = &words[at + 6..];
            break;
        }
    }
    let words = words.trim();
    // Without an SQLSTATE the end of the prefix is unknown, but the severity is one word.
    let severity = if code.is_some() { words } else { words.rsplit(' ').next()? };
    let (timestamp, severity) = (stamp.to_owned(), severity.to_owned());
    Some((LinePrefix { timestamp, pid, code, session: None, severity }, text))
}

/// True for an SQLSTATE, which has a digit. No severity has a digit.
fn is_sqlstate(word: &str) -> bool {
    let allowed = word.len() == 5 && word.bytes().all(|it| it.is_ascii_digit() || it.is_ascii_uppercase());
    allowed && word.bytes().any(|it| it.is_ascii_digit())
}

/// Splits ` 40P01 127.0.0.1 (pgdyno load) ERROR:  text` into the SQLSTATE, the session, and the rest of the line from
/// the severity on. `None` if the line lacks these fields.
///
/// The application's name may contain anything, so it ends at the first `) ` before a known severity. In an unknown
/// language, it ends at the first `) `.
fn split_session(rest: &str) -> Option<(&str, LogSession, &str)> {
    let (code, rest) = rest.strip_prefix(' ')?.split_once(' ').filter(|it| is_sqlstate(it.0))?;
    let (client, rest) = rest.split_once(" (")?;
    let address = client.split_once('%').map_or(client, |it| it.0);
    if client != LogSession::LOCAL && address.parse::<IpAddr>().is_err() {
        return None;
    }
    let known = |message: &str| {
        message.split_once(":  ").is_some_and(|(severity, _)| {
            [&FATAL[..], &ERROR, &WARNING, &LOG, &DETAILS].iter().any(|it| it.contains(&severity))
        })
    };
    let mut ends = rest.match_indices(") ").map(|(at, _)| at);
    let end = ends.clone().find(|at| known(&rest[at + 2..])).or_else(|| ends.next())?;
    let session =
        LogSession { application: normalize_message(&rest[..end]), client: normalize_message(client) };
    Some((code, session, &rest[end + 2..]))
}

/// Finds the end of `duration: 12.345` in any language: a word, a colon, and a number with three decimals.
fn duration_end(text: &str) -> Option<usize> {
    let at = text.find(": ")? + 2;
    let rest = &text[at..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let decimals = rest.get(digits + 1..).map_or(0, |it| it.bytes().take_while(u8::is_ascii_digit).count());
    (digits > 0 && decimals == 3 && rest.as_bytes()[digits] == b'.').then_some(at + digits + 4)
}

/// Returns the text of a slow statement, such as `duration: 12.345 ms  statement: update t set a = ?`.
fn slow_statement_text(text: &str) -> Option<String> {
    let (duration, rest) = text.split_at(duration_end(text)?);
    Some(match rest.split_once(": ") {
        Some((words, statement)) => {
            normalize_message(&format!("{duration}{words}: {}", normalize_statement(statement)))
        }
        None => normalize_message(text),
    })
}

/// Replaces everything in double quotes by `"…"`.
fn mask_quoted(text: &str) -> String {
    let parts: Vec<&str> = text.split('"').step_by(2).collect();
    normalize_message(&parts.join("\"…\""))
}

#[cfg(test)]
mod tests {
    use super::super::{LogFormat, LogReader};
    use std::fmt::Write as _;

    fn check(log: &str, expected: &str) {
        let mut reader = LogReader::new(LogFormat::Postgres);
        reader.main_pid = Some(7);
        let mut shown = String::new();
        for record in log.lines().filter_map(|it| reader.line(it)) {
            let code = record.code.as_deref().unwrap_or("-");
            let session = record.session.map(|it| format!("{} {}: ", it.client, it.application));
            writeln!(shown, "{:?} {code} {}{}", record.kind, session.unwrap_or_default(), record.text)
                .unwrap();
        }
        assert_eq!(shown, expected);
    }

    /// Lines from a bug report of 2019 with a Russian server; the prefix was `%m [%p] `.
    #[test]
    fn parses_russian_lines_without_sqlstate() {
        check(
            "2019-11-21 13:06:13.550 MSK [3441] ВАЖНО:  оставшиеся слоты подключений зарезервированы для \
             подключений суперпользователя (не для репликации)\n\
             2019-11-21 13:06:13.561 MSK [3447] ВАЖНО:  извините, уже слишком много клиентов\n\
             2019-11-21 13:48:09.462 MSK [933] ОШИБКА:  обнаружена взаимоблокировка\n\
             2019-11-21 13:48:09.462 MSK [933] ПОДРОБНОСТИ:  Процесс 933 ожидает в режиме ShareLock блокировку \
             \"транзакция 92169\"; заблокирован процессом 952.\n\
             \tПроцесс 933: UPDATE profiles SET value_id='30' WHERE userid=2\n\
             2019-11-21 13:48:09.462 MSK [933] ПОДСКАЗКА:  Подробности запроса смотрите в протоколе сервера.\n\
             2019-11-21 13:48:09.462 MSK [933] КОНТЕКСТ:  при блокировке кортежа (0,36) в отношении \"profiles\"\n\
             2019-11-21 13:48:09.462 MSK [933] ОПЕРАТОР:  UPDATE profiles SET value_id='30' WHERE userid=2\n\
             2019-11-21 13:48:09.500 MSK [934] СООБЩЕНИЕ:  продолжительность: 1523.917 мс, оператор: \
             UPDATE profiles SET value_id='30' WHERE userid=2\n",
            "TooManyConnections - оставшиеся слоты подключений зарезервированы для подключений суперпользователя \
             (не для репликации)\n\
             TooManyConnections - извините, уже слишком много клиентов\n\
             Deadlock - обнаружена взаимоблокировка\n\
             SlowStatement - продолжительность: 1523.917 мс, оператор: UPDATE profiles SET value_id=? WHERE userid=?\n",
        );
    }

    #[test]
    fn parses_sqlstates_in_unknown_language() {
        check(
            "2026-11-21 11:00:00.001 UTC [20] 53300 ÖLÜMCÜL (FATAL):  üzgünüm, istemci sayısı çok fazla\n\
             2026-11-21 11:00:00.002 UTC [21] 40P01 VIRHE:  lukkiutuma havaittu\n\
             2026-11-21 11:00:00.002 UTC [21] 40P01 YKSITYISKOHTA:  Prosessi 21: delete from t where a = 'salaisuus'\n\
             2026-11-21 11:00:00.002 UTC [21] 40P01 LAUSE:  delete from t where a = 'salaisuus'\n\
             2026-11-21 11:00:00.003 UTC [22] 57P01 FATAALI:  yhteys katkaistiin\n\
             2026-11-21 11:00:00.004 UTC [23] 23505 VIRHE:  avain on jo olemassa \"t_pkey\"\n\
             2026-11-21 11:00:00.005 UTC [24] 00000 LOKI:  kesto: 12.345 ms  lause: select * from t where a = 'salaisuus'\n\
             2026-11-21 11:00:00.005 UTC [24] 00000 YKSITYISKOHTA:  parametrit: $1 = 'salaisuus'\n\
             2026-11-21 11:00:00.006 UTC [7] 00000 LOKI:  palvelin käynnistyy\n\
             2026-11-21 11:00:00.007 UTC [25] 00000 LOKI:  yhteys avattu\n",
            "TooManyConnections 53300 üzgünüm, istemci sayısı çok fazla\n\
             Deadlock 40P01 lukkiutuma havaittu\n\
             Fatal 57P01 yhteys katkaistiin\n\
             Error 23505 avain on jo olemassa \"t_pkey\"\n\
             SlowStatement - kesto: 12.345 ms lause: select * from t where a = ?\n\
             Lifecycle - palvelin käynnistyy\n",
        );
    }

    #[test]
    fn parses_sessions() {
        check(
            "2026-11-21 11:00:00.001 UTC [20] 40P01 [local] (pgdyno load) ERROR:  deadlock detected\n\
             2026-11-21 11:00:00.001 UTC [20] 40P01 [local] (pgdyno load) DETAIL:  Process 20 waits for 'secret'.\n\
             2026-11-21 11:00:00.002 UTC [21] 53300 10.0.0.3 ([unknown]) FATAL:  sorry, too many clients already\n\
             2026-11-21 11:00:00.003 UTC [22] 42P01 fe80::1%eth0 (a) b) ERROR:  relation \"t\" does not exist\n\
             2026-11-21 11:00:00.004 UTC [23] 40P01 [local] (x) 53300 LOG :  y) ERROR:  deadlock detected\n\
             2026-11-21 11:00:00.005 UTC [24] 00000 ::1 (app) LOG:  duration: 0.512 ms\n\
             2026-11-21 11:00:00.006 UTC [25] 23505 [local] (app) VIRHE:  avain on jo olemassa\n\
             2026-11-21 11:00:00.007 UTC [26] 53300 ÖLÜMCÜL (FATAL):  istemci (x) sayısı:  fazla\n\
             2026-11-21 11:00:00.008 UTC [27] 40P01 app@shop (x) ERROR:  deadlock detected\n\
             2026-11-21 11:00:00.009 UTC [7] 00000 LOG:  database system is ready to accept connections\n",
            "Deadlock 40P01 [local] pgdyno load: deadlock detected\n\
             TooManyConnections 53300 10.0.0.3 [unknown]: sorry, too many clients already\n\
             Error 42P01 fe80::1%eth0 a) b: relation \"t\" does not exist\n\
             Deadlock 40P01 [local] x) 53300 LOG : y: deadlock detected\n\
             SlowStatement - ::1 app: duration: 0.512 ms\n\
             Error 23505 [local] app: avain on jo olemassa\n\
             TooManyConnections 53300 istemci (x) sayısı: fazla\n\
             Deadlock 40P01 deadlock detected\n\
             Lifecycle - database system is ready to accept connections\n",
        );
    }

    #[test]
    fn parses_english_lines() {
        check(
            "2026-11-21 11:00:00.001 UTC [7] 00000 LOG:  database system is ready to accept connections\n\
             2026-11-21 11:00:00.002 UTC [30] 00000 LOG:  checkpoint complete: wrote 44 buffers (0.3%)\n\
             2026-11-21 11:00:00.003 UTC [31] app@bench 22P02 ERROR:  invalid input syntax for type integer: \"secret\"\n\
             2026-11-21 11:00:00.003 UTC [31] app@bench 22P02 STATEMENT:  select 'secret'::int\n\
             2026-11-21 11:00:00.004 UTC [31] 01000 WARNING:  canceling wait for synchronous replication due to user request\n\
             2026-11-21 11:00:00.005 UTC [32] 53300 FATAL:  remaining connection slots are reserved for roles with the \
             SUPERUSER attribute\n\
             2026-11-21 11:00:00.006 UTC [33] 3D000 FATAL:  database \"nowhere\" does not exist\n\
             2026-11-21 11:00:00.007 UTC [7] 00000 LOG:  server process (PID 33) was terminated by signal 9: Killed\n\
             2026-11-21 11:00:00.008 UTC [34] LOG:  duration: 0.512 ms\n\
             2026-11-21 11:00:00.009 UTC [35] postgres@postgres ERROR:  relation \"t\" does not exist at character 15\n\
             2026-11-21 11:00:00.010 UTC [36] 08006 LOG:  could not receive data from client: Connection reset by peer\n\
             Address already in use\n\
             \t[1] FATAL:  no line of its own\n",
            "Lifecycle - database system is ready to accept connections\n\
             Error 22P02 invalid input syntax for type integer: \"…\"\n\
             Other 01000 canceling wait for synchronous replication due to user request\n\
             TooManyConnections 53300 remaining connection slots are reserved for roles with the SUPERUSER attribute\n\
             Fatal 3D000 database \"nowhere\" does not exist\n\
             Lifecycle - server process (PID 33) was terminated by signal 9: Killed\n\
             SlowStatement - duration: 0.512 ms\n\
             Error - relation \"t\" does not exist at character 15\n\
             Other 08006 could not receive data from client: Connection reset by peer\n",
        );
    }
}
