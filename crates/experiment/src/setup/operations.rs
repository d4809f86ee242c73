//! Which transactions are asked for?

use super::Maker;
use crate::file;
use crate::mistake::{Source, Span, quote};
use model::plan::{Operation, Work};
use model::summary::QueryMode;

/// As pgbench has it.
const MAX_OPERATIONS: usize = 128;

impl Maker<'_> {
    pub(super) fn operations(
        &mut self,
        all: Vec<(String, file::Operation)>,
        mode: QueryMode,
    ) -> Vec<Operation> {
        if all.is_empty() {
            self.tell("operations", "there are no operations", "add one, as in `read: { sql: SELECT 1 }`");
        } else if all.iter().all(|it| it.1.weight == Some(0)) {
            self.tell("operations", "no operation has a weight", "give one of them `weight: 1`");
        } else if all.len() > MAX_OPERATIONS {
            let instead = format!("write at most {MAX_OPERATIONS}");
            self.tell("operations", format!("{} operations", all.len()), instead);
        }
        all.into_iter().map(|(name, it)| self.operation(name, it, mode)).collect()
    }

    fn operation(&mut self, name: String, it: file::Operation, mode: QueryMode) -> Operation {
        let path = format!("operations.{name}");
        if name.trim().is_empty() || name.contains(char::is_control) || name.len() > 64 {
            self.tell(&path, format!("{} is no name", quote(&name)), "name the operation in 1 to 64 letters");
        }
        let weight = it.weight.unwrap_or(1);
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let (script, origin) = match (it.sql, it.script) {
            (Some(sql), None) => {
                let span = self.at(&format!("{path}.sql"));
                self.script(&span, &sql, mode);
                (sql, None)
            }
            (None, Some(script)) => {
                let origin = folder.join(&script);
                let shown = origin.display().to_string();
                match (self.request.read)(&origin) {
                    Ok(text) => {
                        let known = self.sources.iter().position(|it| it.name == shown);
                        let source = known.unwrap_or_else(|| {
                            self.sources.push(Source { name: shown, text: text.clone() });
                            self.sources.len() - 1
                        });
                        let bytes = 0..self.sources[source].text.trim_end().len();
                        self.script(&Span { source, bytes }, &text, mode);
                        (text, Some(origin))
                    }
                    Err(error) => {
                        let why = error.to_string();
                        let why = why.split(" (os error").next().unwrap_or_default();
                        let found = format!("the script {} cannot be read: {why}", quote(&shown));
                        self.tell(&format!("{path}.script"), found, "name a file, relative to this one");
                        (String::new(), None)
                    }
                }
            }
            (given, _) => {
                let (found, instead) = match given {
                    Some(_) => (format!("{} has `sql` and `script`", quote(&name)), "leave one of them out"),
                    None => (
                        format!("{} does nothing", quote(&name)),
                        "add `sql: …`, or `script: …` with a file's name",
                    ),
                };
                self.tell(&path, found, instead);
                (String::new(), None)
            }
        };
        Operation {
            name,
            weight,
            rate: None,
            feed: None,
            schedule: None,
            sets: Vec::new(),
            work: Work::Script { text: script, origin },
        }
    }

    fn script(&mut self, span: &Span, text: &str, mode: QueryMode) {
        if let Err(complaints) = (self.request.grammars.script)(text, mode) {
            self.complain(span, text, complaints);
        }
    }
}

/// Whether a statement of the script is BEGIN or START TRANSACTION. Comments and quoted texts are passed over; a statement
/// within a string that begins so is not.
pub(super) fn begins_transaction(script: &str) -> bool {
    statements(script).iter().any(|it| {
        let mut words =
            it.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|it| !it.is_empty());
        let mut is = |word: &str| words.next().is_some_and(|it| it.eq_ignore_ascii_case(word));
        let first = it.trim_start();
        match first.get(..5).map(str::to_ascii_lowercase).as_deref() {
            Some("begin") => is("begin"),
            Some("start") => is("start") && is("transaction"),
            _ => false,
        }
    })
}

/// The script's statements without comments, quoted texts and backslash commands.
fn statements(script: &str) -> Vec<String> {
    let lines: Vec<&str> = script.lines().filter(|it| !it.trim_start().starts_with('\\')).collect();
    let text = lines.join("\n");
    let mut all = vec![String::new()];
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let skip =
            |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |i| from + i + end.len());
        let length = match c {
            '-' if rest.starts_with("--") => skip("\n", 2),
            '/' if rest.starts_with("/*") => skip("*/", 2),
            '\'' => skip("'", 1),
            '"' => skip("\"", 1),
            ';' => {
                all.push(String::new());
                1
            }
            _ => {
                all.last_mut().expect("it begins with one").push(c);
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_seen() {
        for (script, expected) in [
            ("BEGIN; SELECT 1; COMMIT;", true),
            ("\\set x 1\nbegin;\n", true),
            ("-- begin\nSELECT 1;", false),
            ("/* x; */ Start  Transaction READ ONLY;", true),
            ("SELECT 1; BEGIN", true),
            ("SELECT 'a; begin';", false),
            ("beginning;", false),
            ("start_x;", false),
            ("SELECT begin FROM t", false),
            ("", false),
        ] {
            assert_eq!(begins_transaction(script), expected, "{script}");
        }
    }
}
