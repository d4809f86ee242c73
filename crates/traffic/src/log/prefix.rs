//! Prefix of the lines of the format `stderr`: PostgreSQL's `log_line_prefix`

use super::entry::{known, sqlstate, transaction};
use super::timestamp::{timestamp, unix_time};
use crate::session::SqlState;
use model::Nanos;
use model::message;
use model::message::Message;
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use std::fmt;

/// PostgreSQL's default prefix.
pub const DEFAULT_PREFIX: &str = "%m [%p] ";
/// The fixed prefix of Amazon RDS.
pub const RDS_PREFIX: &str = "%t:%r:%u@%d:[%p]:";

/// Maximum length of a line's prefix, in bytes. Names have at most 63 bytes. The matcher is much faster for short texts.
const PREFIX_BYTES_MAX: usize = 1_000;

/// Words between the prefix and the message.
const LABELS: &str = "LOG|ERROR|FATAL|PANIC|WARNING|NOTICE|INFO|DEBUG[1-5]?|DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LOCATION|BACKTRACE";

/// A `log_line_prefix`, prepared for reading lines.
#[derive(Clone)]
pub struct Prefix {
    text: String,
    regex: Regex,
    /// Fields of the groups of `regex`, in the order of the groups.
    fields: Vec<Field>,
}

/// Field of a prefix that the reader uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Time,
    UnixTime,
    SessionId,
    ProcessId,
    SessionStart,
    User,
    Database,
    Application,
    Transaction,
    SqlState,
}

/// Values that the prefix of one line contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub time: Option<Nanos>,
    /// Identifier of the session. A process ID is followed by the session's start, if the prefix has it.
    pub session: String,
    pub user: Option<String>,
    pub database: Option<String>,
    pub application: Option<String>,
    pub transaction: Option<u64>,
    pub sqlstate: Option<SqlState>,
    /// Word before the message, such as `LOG` or `DETAIL`.
    pub label: &'a str,
    pub message: &'a str,
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prefix").field(&self.text).finish()
    }
}

impl Prefix {
    /// Prepares a prefix as `log_line_prefix` contains it, including its blanks.
    ///
    /// # Errors
    ///
    /// The prefix contains an unknown escape, no time (`%m`, `%t` or `%n`), or neither a session ID (`%c`) nor a
    /// process ID (`%p`).
    pub fn new(text: &str) -> Result<Prefix, Message> {
        let (mut pattern, mut fields, mut is_open) = (String::from("^"), Vec::new(), false);
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            if character != '%' {
                push_literal(&mut pattern, character);
                continue;
            }
            let mut escape = rest.next();
            let mut padded = false;
            while let Some('-' | '0'..='9') = escape {
                padded = true;
                escape = rest.next();
            }
            let padding = if padded { " *" } else { "" };
            let escape = escape.unwrap_or('%');
            match escape {
                '%' => push_literal(&mut pattern, '%'),
                'q' if !is_open => {
                    is_open = true;
                    pattern.push_str("(?:");
                }
                'q' => {}
                _ => {
                    let Some((field, form)) = escape_form(escape) else {
                        return Err(message!(
                            "traffic-prefix-escape",
                            escape = format!("%{escape}"),
                            prefix = text
                        ));
                    };
                    let group = if field.is_some() { "(" } else { "(?:" };
                    pattern.extend([padding, group, form, ")", padding]);
                    fields.extend(field);
                }
            }
        }
        let has = |wanted: &[Field]| fields.iter().any(|field| wanted.contains(field));
        if !has(&[Field::Time, Field::UnixTime]) {
            return Err(message!("traffic-prefix-time", prefix = text));
        }
        if !has(&[Field::SessionId, Field::ProcessId]) {
            return Err(message!("traffic-prefix-session", prefix = text));
        }
        pattern.push_str(if is_open { ")?(" } else { "(" });
        pattern.extend([LABELS, "):  ?"]);
        let regex = Regex::new(&pattern).map_err(|_| message!("traffic-prefix-long", prefix = text))?;
        Ok(Prefix { text: text.to_owned(), regex, fields })
    }

    /// The prefix as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Memory for [`Prefix::read`].
    pub(super) fn captures(&self) -> Captures {
        self.regex.create_captures()
    }

    /// Reads a line; `None` if it does not begin with the prefix and a known label.
    pub(super) fn read<'a>(&self, line: &'a str, captures: &mut Captures) -> Option<Line<'a>> {
        let head = &line[..line.floor_char_boundary(PREFIX_BYTES_MAX)];
        self.regex.captures(Input::new(head), captures);
        let whole = captures.get_match()?;
        let group = |index: usize| captures.get_group(index).map_or("", |span| &line[span.range()]);
        let mut read =
            Line { label: group(self.fields.len() + 1), message: &line[whole.end()..], ..Line::default() };
        let (mut id, mut process, mut start) = ("", "", "");
        for (index, field) in self.fields.iter().enumerate() {
            let text = group(index + 1);
            match field {
                Field::Time => read.time = timestamp(text).or(read.time),
                Field::UnixTime => read.time = unix_time(text).or(read.time),
                Field::SessionId => id = text,
                Field::ProcessId => process = text,
                Field::SessionStart => start = text,
                Field::User => read.user = known(text),
                Field::Database => read.database = known(text),
                Field::Application => read.application = known(text),
                Field::Transaction => read.transaction = transaction(text),
                Field::SqlState => read.sqlstate = sqlstate(text),
            }
        }
        read.session = match (id, start) {
            ("", "") => process.to_owned(),
            ("", start) => format!("{process} {start}"),
            (id, _) => id.to_owned(),
        };
        Some(read)
    }
}

/// Field and form of an escape's value; `None` if PostgreSQL has no such escape. Source: "Error Reporting and Logging"
/// in the manual, `log_line_prefix`.
fn escape_form(escape: char) -> Option<(Option<Field>, &'static str)> {
    // A zone is an abbreviation or an offset. Without a closer form, `%t:%r` would be ambiguous.
    const TIME: &str = "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}(?: [A-Za-z]+| [+-][0-9]{2}(?::[0-9]{2})?)?";
    const MILLISECONDS: &str =
        r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\.[0-9]{3}(?: [A-Za-z]+| [+-][0-9]{2}(?::[0-9]{2})?)?";
    Some(match escape {
        'm' => (Some(Field::Time), MILLISECONDS),
        't' => (Some(Field::Time), TIME),
        'n' => (Some(Field::UnixTime), r"[0-9]+\.[0-9]+"),
        'c' => (Some(Field::SessionId), r"[0-9a-f]+\.[0-9a-f]+"),
        'p' => (Some(Field::ProcessId), "[0-9]+"),
        's' => (Some(Field::SessionStart), TIME),
        'u' => (Some(Field::User), ".*?"),
        'd' => (Some(Field::Database), ".*?"),
        'a' => (Some(Field::Application), ".*?"),
        'v' => (Some(Field::Transaction), "(?:[0-9]+/[0-9]+)?"),
        'e' => (Some(Field::SqlState), "[0-9A-Z]{5}"),
        'r' | 'h' | 'L' => (None, "[^ ]*?"),
        'l' | 'x' => (None, "[0-9]+"),
        'Q' => (None, "-?[0-9]+"),
        'P' => (None, "[0-9]*"),
        'i' | 'b' => (None, ".*?"),
        _ => return None,
    })
}

fn push_literal(pattern: &mut String, character: char) {
    if character.is_ascii_punctuation() {
        pattern.push('\\');
    }
    pattern.push(character);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prefix: &str, line: &str, expected: Option<&str>) {
        let prefix = Prefix::new(prefix).expect("the prefix is valid");
        let read = prefix.read(line, &mut prefix.captures()).map(|line| {
            let names =
                [&line.user, &line.database, &line.application].map(|name| name.as_deref().unwrap_or("-"));
            let (time, session) = (line.time.map_or(0, |time| time.0 / 1_000_000), line.session);
            let transaction = line.transaction.map_or("-".to_owned(), |number| number.to_string());
            let state = line.sqlstate.map_or("-".to_owned(), |state| state.escape_ascii().to_string());
            format!(
                "{time}|{session}|{}|{transaction}|{state}|{}|{}",
                names.join("|"),
                line.label,
                line.message
            )
        });
        assert_eq!(read.as_deref(), expected, "{line}");
    }

    #[test]
    fn reads_lines() {
        for (prefix, line, expected) in [
            (DEFAULT_PREFIX, "1970-01-01 00:00:01.500 UTC [7] LOG:  a: b", Some("1500|7|-|-|-|-|-|LOG|a: b")),
            (DEFAULT_PREFIX, "1970-01-01 00:00:01.500 UTC [7] DETAIL:  a", Some("1500|7|-|-|-|-|-|DETAIL|a")),
            (DEFAULT_PREFIX, "1970-01-01 00:00:01.500 UTC [7] NEWS:  a", None),
            (DEFAULT_PREFIX, "1970-01-01 00:00:01.500 UTC [x] LOG:  a", None),
            (DEFAULT_PREFIX, "pg_ctl: another server may be running", None),
            (
                RDS_PREFIX,
                "1970-01-01 00:00:01 UTC:10.0.0.1(5000):app@shop:[7]:LOG:  a",
                Some("1000|7|app|shop|-|-|-|LOG|a"),
            ),
            (RDS_PREFIX, "1970-01-01 00:00:01 UTC::@:[7]:LOG:  a", Some("1000|7|-|-|-|-|-|LOG|a")),
            (
                RDS_PREFIX,
                "1970-01-01 03:00:01 +03:10.0.0.1(5000):a:b@c@d:[7]:LOG:  a",
                Some("1000|7|a:b|c@d|-|-|-|LOG|a"),
            ),
            ("%m [%p] %q%u@%d ", "1970-01-01 00:00:01.5 UTC [7] LOG:  a", None),
            ("%m [%p] %q%u@%d ", "1970-01-01 00:00:01.500 UTC [7] LOG:  a", Some("1500|7|-|-|-|-|-|LOG|a")),
            (
                "%m [%p] %q%u@%d ",
                "1970-01-01 00:00:01.500 UTC [7] u@d LOG:  a",
                Some("1500|7|u|d|-|-|-|LOG|a"),
            ),
            (
                "%n %5p %-8u|%c %v %x %e %a %l %Q%% ",
                "1.250    7 me      |6f.7 3/45 0 42P01 LOG:  x 3 -9% ERROR:  a",
                Some("1250|6f.7|me|-|LOG:  x|45|42P01|ERROR|a"),
            ),
            (
                "%t %s [%p] (%i) ",
                "1970-01-01 00:00:09 UTC 1970-01-01 00:00:01 UTC [7] (idle in transaction) LOG:  a",
                Some("9000|7 1970-01-01 00:00:01 UTC|-|-|-|-|-|LOG|a"),
            ),
        ] {
            check(prefix, line, expected);
        }
    }

    #[test]
    fn rejects_prefixes_that_do_not_suffice() {
        for (prefix, message) in [
            ("%m %u ", "traffic-prefix-session(%m %u )"),
            ("[%p] ", "traffic-prefix-time([%p] )"),
            ("", "traffic-prefix-time()"),
            ("%m %p %y", "traffic-prefix-escape(%y, %m %p %y)"),
        ] {
            assert_eq!(Prefix::new(prefix).expect_err("invalid").describe(), message);
        }
    }
}
