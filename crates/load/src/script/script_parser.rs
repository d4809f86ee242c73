//! Parser of scripts

use model::message;
use model::message::Message;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, readable};
use super::eval::{Expr, ExprNode};
use super::names::{NameTable, ResultStore, VariableNames, continues_name, is_valid_name, starts_name};
use super::parser;
use super::splitter::{CommandEnd, Splitter, find_after, line_end, run_end};
use super::token::{Cursor, ExpressionDiagnostic, Token};
use super::value::Value;
use super::{
    Command, CommandKind, MAX_PARAMETERS, Mode, Piece, ScriptSource, ShellWord, SleepDuration, Sql, branches,
    number,
};

/// Maximum number of words of a backslash command, including its name, as in pgbench.
const MAX_WORDS: usize = 256;
/// Maximum number of errors reported per script. Each error contains its line, which may be long.
const MAX_DIAGNOSTICS: usize = 100;
/// Maximum length of a statement's first line, in bytes, as in the output of `pgbench -r`.
const FIRST_LINE_BYTES: usize = 127;

pub(super) struct ScriptParser<'a> {
    source: &'a ScriptSource<'a>,
    mode: Mode,
    allow_shell: bool,
    names: &'a mut NameTable,
    /// Offsets at which lines start.
    lines: Vec<usize>,
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> ScriptParser<'a> {
    pub fn new(
        source: &'a ScriptSource<'a>,
        mode: Mode,
        allow_shell: bool,
        names: &'a mut NameTable,
    ) -> ScriptParser<'a> {
        let newlines = source.text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        ScriptParser { source, mode, allow_shell, names, lines, diagnostics: Vec::new() }
    }

    pub fn parse_commands(&mut self) -> Vec<Command> {
        let text = self.source.text;
        if let Some(at) = text.iter().position(|byte| *byte == 0) {
            self.add_diagnostic(at, message!("script-zero-byte"));
            return Vec::new();
        }
        let mut commands: Vec<Command> = Vec::new();
        let mut splitter = Splitter::default();
        let mut at = 0;
        loop {
            let mut sql = Vec::new();
            let stop = splitter.next(text, &mut at, &mut sql);
            commands.extend(self.parse_sql(splitter.start, &sql));
            match stop {
                CommandEnd::Semicolon => {}
                CommandEnd::Backslash => self.parse_backslash_command(&mut at, &mut commands),
                CommandEnd::EndOfText => break,
            }
        }
        self.finish(&mut commands);
        commands
    }

    /// Checks the script as a whole.
    fn finish(&mut self, commands: &mut [Command]) {
        let name = self.source.name;
        let script = Some(name).filter(|name| !name.is_empty());
        for (index, error) in branches::link_branches(commands) {
            // pgbench reports an unclosed \if with the number after the last command.
            let number = if error == "if" { commands.len() } else { index } + 1;
            let line_start = self.lines[commands[index].line as usize - 1];
            self.add_diagnostic(line_start, message!("script-condition", script, number, error));
        }
        if commands.is_empty() && self.diagnostics.is_empty() {
            let message = message!("script-empty", script);
            self.diagnostics.push(Diagnostic::without_location(name, message));
        }
    }

    /// Parses the statement `text`, which begins at offset `at`. Returns `None` if the text contains only comments.
    fn parse_sql(&mut self, at: usize, text: &[u8]) -> Option<Command> {
        let text = skip_line_comments(text)?;
        let mut first_line = readable(&text[..line_end(text, 0)]).into_owned();
        first_line.truncate(first_line.floor_char_boundary(FIRST_LINE_BYTES));
        let pieces = split_variables(text, self.names);
        let parameters = pieces.iter().filter(|piece| matches!(piece, Piece::Var { .. })).count();
        if self.mode != Mode::Simple && parameters > MAX_PARAMETERS {
            let text = readable(text).into_owned();
            self.add_diagnostic(at, message!("script-parameters", max = MAX_PARAMETERS, text));
        }
        Some(Command {
            line: self.line_of(at) as u32 + 1,
            first_line,
            kind: CommandKind::Sql(Sql { text: text.to_owned(), pieces, store: None }),
        })
    }

    /// Parses the command after a backslash, if there is one. Moves `at` to the start of the next line.
    fn parse_backslash_command(&mut self, at: &mut usize, commands: &mut Vec<Command>) {
        let start = *at - 1;
        *at = command_end(self.source.text, *at);
        let chunk = self.source.text[start..*at].utf8_chunks().next().expect("the command has a backslash");
        let text = chunk.valid();
        let cursor = &mut Cursor { text, at: 1 };
        let (at, name) = match (cursor.word(), chunk.invalid()) {
            (Some(word), _) => word,
            (None, []) => return,
            (None, _) => (1, ""),
        };
        let command = name.to_ascii_lowercase();
        let kind = if let [byte, ..] = chunk.invalid() {
            Err(ExpressionDiagnostic {
                at: text.len(),
                message: message!("script-not-utf8", byte = format!("0x{byte:02x}")),
            })
        } else if let "set" | "if" | "elif" = &command[..] {
            self.parse_expression_command(&command, at, cursor).map(Some)
        } else {
            let words: Vec<_> = std::iter::from_fn(|| cursor.word()).collect();
            match &command[..] {
                "gset" | "aset" => self.parse_store(0, command == "aset", &words, commands).map(|()| None),
                _ => self.parse_word_command(&command, at, &words).map(Some),
            }
        };
        let kind = match kind {
            Ok(kind) => kind,
            Err(diagnostic) => {
                self.add_expression_diagnostic(start, name, diagnostic);
                if let "set" | "if" | "elif" = &command[..] {
                    self.skip_rest_of_expression(start, cursor, name);
                }
                recover_branch(&command)
            }
        };
        let first_line = text.trim_end_matches(['\n', '\r']).to_owned();
        let line = self.line_of(start) as u32 + 1;
        commands.extend(kind.map(|kind| Command { line, first_line, kind }));
    }

    /// Skips the rest of a command that begins at offset `start` and has an error. Reports invalid characters and
    /// numbers in the rest.
    fn skip_rest_of_expression(&mut self, start: usize, cursor: &mut Cursor<'_>, command: &str) {
        while cursor.at < cursor.text.len() {
            match cursor.token() {
                Ok((_, Token::EndOfLine)) => return,
                Err(diagnostic) => self.add_expression_diagnostic(start, command, diagnostic),
                Ok(_) => {}
            }
        }
    }

    /// Adds an error in the backslash command that begins at offset `start`.
    fn add_expression_diagnostic(&mut self, start: usize, command: &str, diagnostic: ExpressionDiagnostic) {
        let ExpressionDiagnostic { at, message: error } = diagnostic;
        let message = match error.id.as_ref() {
            "script-store-place" => error,
            _ => message!("script-in-command", error, command),
        };
        self.add_diagnostic(start + at, message);
    }

    fn parse_expression_command(
        &mut self,
        command: &str,
        at: usize,
        cursor: &mut Cursor<'_>,
    ) -> Result<CommandKind, ExpressionDiagnostic> {
        if command != "set" {
            let test = parser::expression(cursor, self.names)?;
            let next = 0;
            return Ok(if command == "if" {
                CommandKind::If { test, next }
            } else {
                CommandKind::Elif { test, next, end: 0 }
            });
        }
        let Some((_, variable)) = cursor.word() else { return missing(at, "\\set NAME EXPRESSION") };
        let slot = self.names.slot(variable);
        let mut value = parser::expression(cursor, self.names)?;
        if !is_valid_name(variable) {
            value = Expr(ExprNode::Unassignable(slot, Box::new(value.0)));
        }
        Ok(CommandKind::Set { slot, value })
    }

    fn parse_word_command(
        &mut self,
        command: &str,
        at: usize,
        words: &[(usize, &str)],
    ) -> Result<CommandKind, ExpressionDiagnostic> {
        if words.len() >= MAX_WORDS {
            let message = message!("script-word-count", max = MAX_WORDS - 1);
            return Err(ExpressionDiagnostic { at: words[MAX_WORDS - 1].0, message });
        }
        let without_arguments = |kind: CommandKind| match words {
            [] => Ok(kind),
            [(at, word), ..] => {
                let message = message!("script-unexpected-argument", word = *word);
                Err(ExpressionDiagnostic { at: *at, message })
            }
        };
        match command {
            "else" => without_arguments(CommandKind::Else { end: 0 }),
            "endif" => without_arguments(CommandKind::EndIf),
            "startpipeline" => without_arguments(CommandKind::StartPipeline),
            "syncpipeline" => without_arguments(CommandKind::SyncPipeline),
            "endpipeline" => without_arguments(CommandKind::EndPipeline),
            "sleep" => Ok(CommandKind::Sleep { amount: self.parse_sleep_duration(at, words)? }),
            "shell" | "setshell" if !self.allow_shell => {
                Err(ExpressionDiagnostic { at, message: message!("script-shell-forbidden") })
            }
            "shell" if words.is_empty() => {
                Err(ExpressionDiagnostic { at, message: message!("script-shell-missing") })
            }
            "shell" => Ok(CommandKind::Shell { words: self.shell_words(words) }),
            "setshell" => match words {
                [] | [_] => missing(at, "\\setshell NAME COMMAND"),
                [(at, name), ..] if !is_valid_name(name) => Err(ExpressionDiagnostic {
                    at: *at,
                    message: message!("script-variable-name", command = Some("setshell"), name = *name),
                }),
                [(_, name), command @ ..] => Ok(CommandKind::SetShell {
                    slot: self.names.slot(name),
                    words: self.shell_words(command),
                }),
            },
            _ => Err(ExpressionDiagnostic { at, message: message!("script-invalid-command") }),
        }
    }

    /// Parses `\gset` or `\aset`, which applies to the preceding statement.
    fn parse_store(
        &self,
        at: usize,
        every: bool,
        words: &[(usize, &str)],
        commands: &mut [Command],
    ) -> Result<(), ExpressionDiagnostic> {
        if let [_, (at, _), ..] = words {
            return Err(ExpressionDiagnostic { at: *at, message: message!("script-prefixes") });
        }
        let prefix = words.first().map_or("", |(_, prefix)| prefix);
        match commands.last_mut().map(|command| &mut command.kind) {
            Some(CommandKind::Sql(Sql { store: keep @ None, .. })) => {
                *keep = Some(ResultStore {
                    prefix: prefix.into(),
                    all_rows: every,
                    names: Arc::new(VariableNames::default()),
                });
                Ok(())
            }
            _ => Err(ExpressionDiagnostic { at, message: message!("script-store-place") }),
        }
    }

    fn parse_sleep_duration(
        &mut self,
        at: usize,
        words: &[(usize, &str)],
    ) -> Result<SleepDuration, ExpressionDiagnostic> {
        let (&(at, amount), mut unit) = match words {
            [] => return missing(at, SLEEP_USAGE),
            [amount] => (amount, None),
            [amount, unit] => (amount, Some(*unit)),
            [_, _, (at, _), ..] => {
                let message = message!("script-too-many-arguments", usage = SLEEP_USAGE);
                return Err(ExpressionDiagnostic { at: *at, message });
            }
        };
        if !amount.starts_with(':') {
            let signed = amount.strip_prefix(['+', '-']).unwrap_or(amount);
            let rest = signed.trim_start_matches(|c: char| c.is_ascii_digit());
            if !rest.is_empty() {
                if unit.is_some() || rest.len() == signed.len() {
                    return Err(ExpressionDiagnostic {
                        at,
                        message: message!("script-sleep-time", text = amount),
                    });
                }
                unit = Some((at + amount.len() - rest.len(), rest));
            }
        }
        let unit = match unit {
            None => 1_000_000,
            Some((_, unit)) if unit.eq_ignore_ascii_case("s") => 1_000_000,
            Some((_, unit)) if unit.eq_ignore_ascii_case("ms") => 1_000,
            Some((_, unit)) if unit.eq_ignore_ascii_case("us") => 1,
            Some((at, unit)) => {
                let message = message!("script-sleep-unit", unit, usage = SLEEP_USAGE);
                return Err(ExpressionDiagnostic { at, message });
            }
        };
        Ok(match amount.strip_prefix(':') {
            Some(name) => SleepDuration::Variable { slot: self.names.slot(name), unit },
            None => {
                SleepDuration::Constant(number::parse_leading_integer(amount.as_bytes()).saturating_mul(unit))
            }
        })
    }

    fn shell_words(&mut self, words: &[(usize, &str)]) -> Vec<ShellWord> {
        (words.iter())
            .map(|(_, word)| match word.strip_prefix(':') {
                Some(name) if !name.starts_with(':') => ShellWord::Var(self.names.slot(name)),
                Some(text) => ShellWord::Text(text.to_owned()),
                None => ShellWord::Text((*word).to_owned()),
            })
            .collect()
    }

    /// Line of an offset, counted from 0.
    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|&start| start <= at) - 1
    }

    fn add_diagnostic(&mut self, at: usize, message: Message) {
        if self.diagnostics.len() == MAX_DIAGNOSTICS {
            return;
        }
        let line = self.line_of(at);
        let start = self.lines[line];
        let text = self.source.text[start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let before = self.source.text.get(start..at).unwrap_or_default();
        self.diagnostics.push(Diagnostic {
            file: self.source.name.to_owned(),
            line: line as u32 + 1,
            column: readable(before).chars().count() as u32 + 1,
            text: readable(text).into_owned(),
            message,
        });
    }
}

const SLEEP_USAGE: &str = "\\sleep NUMBER [us|ms|s]";

fn missing<T>(at: usize, usage: &str) -> Result<T, ExpressionDiagnostic> {
    Err(ExpressionDiagnostic { at, message: message!("script-missing-argument", usage) })
}

/// Replacement for a conditional command with errors. Without it, the matching `\endif` would be reported too.
fn recover_branch(command: &str) -> Option<CommandKind> {
    let test = Expr(ExprNode::Const(Value::Null));
    Some(match command {
        "if" => CommandKind::If { test, next: 0 },
        "elif" => CommandKind::Elif { test, next: 0, end: 0 },
        "else" => CommandKind::Else { end: 0 },
        "endif" => CommandKind::EndIf,
        _ => return None,
    })
}

/// End of the backslash command whose name starts at `from`: the end of its line and of the lines that continue it.
fn command_end(text: &[u8], from: usize) -> usize {
    let mut end = from;
    loop {
        end = find_after(text, end, b"\n");
        let line = &text[from..end];
        let is_continued = line.ends_with(b"\\\n") || line.ends_with(b"\\\r\n");
        if !is_continued || end == text.len() {
            return end;
        }
    }
}

/// Rest of a statement from its first word; `None` if it contains only comments.
fn skip_line_comments(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    loop {
        let start = rest.iter().position(|byte| !number::is_space(*byte))?;
        rest = &rest[start..];
        if !rest.starts_with(b"--") {
            return Some(rest);
        }
        rest = &rest[rest.iter().position(|byte| *byte == b'\n')? + 1..];
    }
}

/// Splits a statement at its variables. A variable is a single colon and a name, even within quotes or comments.
///
/// A name that is not UTF-8 is sent unchanged, because no command can assign such a variable.
fn split_variables(text: &[u8], names: &mut NameTable) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(offset) = text[at..].iter().position(|byte| *byte == b':') {
        let colon = at + offset;
        at = colon + 1;
        if !text.get(at).copied().is_some_and(starts_name) {
            // Skip all adjacent colons, so that a cast does not count as a variable.
            at = run_end(text, at, |byte| byte == b':');
            continue;
        }
        at = run_end(text, at, continues_name);
        let Ok(name) = std::str::from_utf8(&text[colon + 1..at]) else { continue };
        if colon > copied {
            pieces.push(Piece::Text(text[copied..colon].to_owned()));
        }
        pieces.push(Piece::Var { slot: names.slot(name) });
        copied = at;
    }
    if copied < text.len() {
        pieces.push(Piece::Text(text[copied..].to_owned()));
    }
    pieces
}
