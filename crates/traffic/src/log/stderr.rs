//! Reader of the format `stderr`

use super::entry::{Entry, Severity, sqlstate};
use super::lines::Lines;
use super::prefix::{Line, Prefix};
use super::{Sink, SkipKind};
use std::io::{self, BufRead};

/// Entry whose further lines may follow.
#[derive(Debug, Default)]
struct Pending {
    line: u64,
    entry: Option<Entry>,
    /// Field to which a continuation line belongs.
    part: Part,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Message,
    Detail,
    Context,
    Statement,
    /// Field that the reader does not use.
    Unused,
}

/// The server writes the lines of an entry together. Each line of the message after the first begins with a tab; each
/// further field begins with a prefix of its own.
pub(super) fn read(lines: &mut Lines<impl BufRead>, prefix: &Prefix, sink: Sink<'_>) -> io::Result<()> {
    let mut captures = prefix.captures();
    let mut pending = Pending::default();
    while let Some((number, line)) = lines.next()? {
        let Ok(line) = std::str::from_utf8(line) else {
            pending.flush(sink)?;
            sink(number, Err(SkipKind::NotUtf8))?;
            continue;
        };
        if let Some(rest) = line.strip_prefix('\t')
            && pending.entry.is_some()
        {
            pending.append("\n", rest);
        } else if let Some(read) = prefix.read(line, &mut captures) {
            pending.add(read, number, sink)?;
        } else if !line.is_empty() {
            pending.flush(sink)?;
            sink(number, Err(SkipKind::Malformed))?;
        }
    }
    pending.flush(sink)
}

impl Pending {
    fn flush(&mut self, sink: Sink<'_>) -> io::Result<()> {
        self.entry.take().map_or(Ok(()), |entry| sink(self.line, Ok(entry)))
    }

    /// Adds a line with a prefix: a field of the pending entry, or the start of another entry.
    fn add(&mut self, line: Line<'_>, number: u64, sink: Sink<'_>) -> io::Result<()> {
        let part = match line.label {
            "DETAIL" => Part::Detail,
            "CONTEXT" => Part::Context,
            "STATEMENT" => Part::Statement,
            "HINT" | "QUERY" | "LOCATION" | "BACKTRACE" => Part::Unused,
            _ => Part::Message,
        };
        if part == Part::Message {
            self.flush(sink)?;
            self.line = number;
            self.part = part;
            match entry(line) {
                Some(entry) => self.entry = Some(entry),
                None => sink(number, Err(SkipKind::Malformed))?,
            }
        } else if self.entry.as_ref().is_some_and(|entry| entry.session == line.session) {
            self.part = part;
            self.append("", line.message);
        } else {
            self.flush(sink)?;
            sink(number, Err(SkipKind::Malformed))?;
        }
        Ok(())
    }

    /// Appends a text to the current field.
    fn append(&mut self, separator: &str, text: &str) {
        let Some(entry) = &mut self.entry else { return };
        let field = match self.part {
            Part::Message => &mut entry.message,
            Part::Detail => entry.detail.get_or_insert_default(),
            Part::Context => entry.context.get_or_insert_default(),
            Part::Statement => entry.statement.get_or_insert_default(),
            Part::Unused => return,
        };
        field.push_str(separator);
        field.push_str(text);
    }
}

/// Starts an entry. With `log_error_verbosity = verbose`, the message begins with the SQLSTATE.
fn entry(line: Line<'_>) -> Option<Entry> {
    let verbose = line.message.get(..5).and_then(sqlstate).filter(|_| line.message[5..].starts_with(": "));
    Some(Entry {
        time: line.time?,
        session: line.session,
        user: line.user,
        database: line.database,
        application: line.application,
        transaction: line.transaction,
        severity: Severity::from(line.label),
        sqlstate: line.sqlstate.or(verbose),
        message: line.message[if verbose.is_some() { 7 } else { 0 }..].to_owned(),
        detail: None,
        context: None,
        statement: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::prefix::DEFAULT_PREFIX;
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        let prefix = Prefix::new(DEFAULT_PREFIX).expect("the prefix is valid");
        let result = read(&mut Lines::new(text.as_bytes()), &prefix, &mut |line, entry| {
            found.push(match entry {
                Ok(Entry { message, detail, statement, sqlstate, .. }) => {
                    let state = sqlstate.map(|state| state.escape_ascii().to_string());
                    format!("{line} {message:?} {detail:?} {statement:?} {state:?}")
                }
                Err(kind) => format!("{line} {kind:?}"),
            });
            Ok(())
        });
        result.expect("memory can be read");
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn joins_the_lines_of_an_entry() {
        let line = |process: &str, text: &str| format!("1970-01-01 00:00:01.000 UTC [{process}] {text}\n");
        check(
            &(line("1", "LOG:  a\n\tb\n\t\n\t\tc") + &line("1", "DETAIL:  d") + &line("1", "LOG:  e")),
            &["1 \"a\\nb\\n\\n\\tc\" Some(\"d\") None None", "6 \"e\" None None None"],
        );
        check(
            &(line("1", "ERROR:  42P01: a")
                + &line("1", "LOCATION:  f, g.c:1")
                + &line("1", "STATEMENT:  s\n\tt")),
            &["1 \"a\" None Some(\"s\\nt\") Some(\"42P01\")"],
        );
        check(
            &(line("1", "LOG:  a") + &line("2", "DETAIL:  d") + "\tlost\nalso lost\n"),
            &["1 \"a\" None None None", "2 Malformed", "3 Malformed", "4 Malformed"],
        );
    }
}
