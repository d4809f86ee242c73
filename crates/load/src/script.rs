//! Compiler of pgbench scripts
//!
//! The language is that of PostgreSQL 15's pgbench, plus `\syncpipeline` of PostgreSQL 17. [`parse`] compiles all
//! scripts of a run into one [`Program`], or returns all errors together. Execution needs no look-up by name, no
//! parsing and no allocation. A [`ProgramBuilder`] compiles a mix of scripts and HTTP requests.

mod branches;
mod builder;
pub mod builtin;
pub mod call;
mod diagnostic;
mod error;
mod error_text;
mod eval;
mod names;
mod number;
mod parser;
mod pattern;
pub(crate) mod quoting;
mod script_parser;
mod shell;
mod splitter;
mod token;
mod undefined;
mod value;
mod value_type;
mod variables;

use std::sync::Arc;

pub use builder::{ProgramBuilder, ScriptHeader, parse};
pub use call::{Ammo, CallCapture, CallPart, HttpCall, ResponsePart};
pub use diagnostic::{Diagnostic, readable};
pub use error::EvalError;
pub use eval::Expr;
pub use names::{InvalidName, ResultStore, VariableNames, is_valid_name};
pub use parser::MAX_DEPTH;
pub use pattern::{Pattern, PatternError, PatternMatcher};
pub use quoting::QuoteContext;
pub use shell::{ShellError, ShellWord, command_line, parse_output};
pub use value::Value;
pub use value_type::ValueType;
pub use variables::{Variables, WriteResult};

use crate::random::Prng;
use model::plan::ThinkTime;

/// Index of a variable.
pub type Slot = u16;

/// Maximum number of parameters of a statement, as in pgbench.
pub const MAX_PARAMETERS: usize = 255;
/// Maximum number of scripts of a run, as in pgbench.
pub const MAX_SCRIPTS: usize = 128;

/// Text and weight of a script.
#[derive(Clone, Copy, Debug)]
pub struct ScriptSource<'a> {
    /// Name of the file, or a built-in script's description.
    pub name: &'a str,
    /// Text in any encoding that is a superset of ASCII, as in pgbench.
    pub text: &'a [u8],
    /// Weight relative to the other scripts; at least one weight must not be 0.
    pub weight: u32,
}

impl<'a> ScriptSource<'a> {
    /// Script with the weight 1.
    pub fn new<T: AsRef<[u8]> + ?Sized>(name: &'a str, text: &'a T) -> ScriptSource<'a> {
        ScriptSource { name, text: text.as_ref(), weight: 1 }
    }
}

/// Protocol with which statements are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Simple queries, with the variables inserted into the text.
    #[default]
    Simple,
    /// Extended queries with parameters `$1`, …, which the server parses for each execution.
    Extended,
    /// Statements prepared once per connection.
    Prepared,
}

/// All compiled scripts of a run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Scripts, at least one.
    pub scripts: Vec<Script>,
    /// Names of all scripts' variables, by slot.
    pub names: Arc<VariableNames>,
    /// Variables that a pgbench script reads before any command assigns them.
    ///
    /// pgbench sends the name of such a variable, or NULL for a parameter. An expression with such a variable aborts
    /// the client.
    pub undefined: Vec<Diagnostic>,
    /// True if each client executes the last script once, before its first transaction. It is not drawn or recorded.
    pub has_on_start: bool,
}

#[derive(Clone, Debug)]
pub struct Script {
    /// Value of pgbench's "transaction type": the file's name, or a built-in script's description.
    pub name: String,
    pub weight: u32,
    /// Feed from which each transaction of the script first draws a row; `None` if the script uses no feed.
    pub draw: Option<Draw>,
    /// Commands, at least one.
    pub commands: Vec<Command>,
}

/// Maximum number of commands in all scripts together up to which steps are measured. Each command needs a histogram of
/// 270 KiB in each of several intervals.
const MEASURED_COMMANDS_MAX: usize = 256;

/// Step names by script and command. The steps are the commands that send a request; other commands have an empty name.
///
/// The statements of a pipeline form one step, which belongs to the end of the pipeline. A script with one SQL request
/// has no steps (an empty list), because its measurements equal those of the script. If the scripts together have more
/// than [`MEASURED_COMMANDS_MAX`] commands, no script has steps.
pub fn step_names(scripts: &[Script]) -> Vec<Vec<String>> {
    let names: Vec<Vec<String>> = scripts.iter().map(Script::step_names).collect();
    let is_too_long = names.iter().map(Vec::len).sum::<usize>() > MEASURED_COMMANDS_MAX;
    if is_too_long { vec![Vec::new(); scripts.len()] } else { names }
}

impl Script {
    fn step_names(&self) -> Vec<String> {
        let mut in_pipeline = false;
        let mut is_step = |command: &Command| match command.kind {
            CommandKind::Http(_) | CommandKind::Recorded => true,
            CommandKind::Sql(_) => !in_pipeline,
            CommandKind::StartPipeline => {
                in_pipeline = true;
                false
            }
            CommandKind::EndPipeline => std::mem::take(&mut in_pipeline),
            _ => false,
        };
        let name = |it: &Command| if is_step(it) { it.first_line.clone() } else { String::new() };
        let names: Vec<String> = self.commands.iter().map(name).collect();
        let has_http = self.commands.iter().any(|it| matches!(it.kind, CommandKind::Http(_)));
        let count = names.iter().filter(|it| !it.is_empty()).count();
        if has_http || count > 1 { names } else { Vec::new() }
    }
}

/// Feed whose rows a script draws, and the variables that receive a row's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Index of the feed among the workload's feeds.
    pub feed: u16,
    /// Variables by column; `None` for an unused column.
    pub columns: Vec<Option<Slot>>,
}

#[derive(Clone, Debug)]
pub struct Command {
    /// Line number of the command, from 1.
    pub line: u32,
    /// First line of the statement, at most 127 bytes, or the whole backslash command, as `pgbench -r` prints it. The
    /// text is converted by [`readable`], so it may differ from the exact bytes.
    pub first_line: String,
    pub kind: CommandKind,
}

/// Operation of one script command. Indices of other commands refer to the same script.
#[derive(Clone, Debug)]
pub enum CommandKind {
    Sql(Sql),
    Http(Box<HttpCall>),
    Set {
        slot: Slot,
        value: Expr,
    },
    /// `\if`. If the condition is false, execution continues at `next`, which is the following `Elif`, `Else` or
    /// `EndIf`.
    If {
        test: Expr,
        next: usize,
    },
    /// `\elif`. At the end of a taken branch, execution continues at `end`, the `EndIf`. After a jump from a false
    /// condition, the condition of the `\elif` is tested.
    Elif {
        test: Expr,
        next: usize,
        end: usize,
    },
    /// `\else`. At the end of a taken branch, execution continues at `end`. After a jump from a false condition, it
    /// continues with the next command.
    Else {
        end: usize,
    },
    EndIf,
    Sleep {
        amount: SleepDuration,
    },
    /// Pause of a user before the next request. Unlike a `Sleep`, it is not part of the transaction's times.
    Pause(ThinkTime),
    /// `\setshell`: the first line of the command's output becomes the variable's value.
    SetShell {
        slot: Slot,
        words: Vec<ShellWord>,
    },
    Shell {
        words: Vec<ShellWord>,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    /// Request of a recording.
    Recorded,
}

/// One statement, or several statements joined by `\;`, with the final semicolon if there is one.
#[derive(Clone, Debug)]
pub struct Sql {
    /// Text of the statement, in the user's encoding, with variables in the form `:name`.
    pub text: Vec<u8>,
    /// Text of the statement, split at the variables.
    pub pieces: Vec<Piece>,
    /// Variables that receive the columns of the result; `None` without `\gset` and `\aset`.
    pub store: Option<ResultStore>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(Vec<u8>),
    /// Variable `:name`, also within quotes. In simple mode, an unset variable is sent as the text `:name`.
    Var {
        slot: Slot,
    },
}

/// Duration of a `\sleep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepDuration {
    /// Constant duration in microseconds. A duration of 0 or less does not delay the script.
    Constant(i64),
    Variable {
        slot: Slot,
        /// Number of microseconds per unit.
        unit: i64,
    },
}

impl Program {
    /// True if the script sends at least one statement, and all its statements are empty.
    ///
    /// pgbench accepts such a script and measures empty queries.
    pub fn has_only_empty_statements(&self, script: usize) -> bool {
        let mut statements = self.scripts[script].commands.iter().filter_map(|command| match &command.kind {
            CommandKind::Sql(sql) => Some(sql.is_empty()),
            _ => None,
        });
        statements.next().is_some_and(|first| first && statements.all(|it| it))
    }

    /// Scripts whose transactions are recorded: all except the one that each client executes once.
    pub fn recorded_scripts(&self) -> &[Script] {
        &self.scripts[..self.scripts.len() - usize::from(self.has_on_start)]
    }

    /// Index of the script that each client executes once; `None` without such a script.
    #[inline]
    pub(crate) fn on_start(&self) -> Option<u16> {
        self.has_on_start.then(|| self.scripts.len() as u16 - 1)
    }

    /// Slot of a variable; `None` if no script uses it.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.names.slot(name)
    }

    /// Table by slot: true if a command assigns the variable.
    pub(crate) fn assigned(&self) -> Box<[bool]> {
        undefined::assigned(&self.scripts, &self.names)
    }

    /// Draws the index of the next script, by weight. For a single script, no random number is drawn.
    pub fn choose(&self, rng: &mut Prng) -> usize {
        if self.recorded_scripts().len() == 1 {
            return 0;
        }
        let total: u64 = self.scripts.iter().map(|script| u64::from(script.weight)).sum();
        let mut drawn = rng.u64_range(0, total - 1);
        for (index, script) in self.scripts.iter().enumerate() {
            match drawn.checked_sub(u64::from(script.weight)) {
                Some(rest) => drawn = rest,
                None => return index,
            }
        }
        unreachable!("parse refuses a total weight of 0")
    }
}

impl Sql {
    /// True if the text contains only white space, comments and semicolons.
    pub fn is_empty(&self) -> bool {
        let bytes = &self.text[..];
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = match (byte, bytes.get(at + 1)) {
                (b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c' | b';', _) => at + 1,
                (b'-', Some(b'-')) => splitter::line_end(bytes, at),
                (b'/', Some(b'*')) => splitter::comment_end(bytes, at),
                _ => return false,
            };
        }
        true
    }

    /// Text with `$1`, `$2`, … in place of the variables, and the slots of these variables. Each occurrence of a
    /// variable is a separate parameter.
    pub fn parameterize(&self) -> (Vec<u8>, Vec<Slot>) {
        let (mut text, mut slots) = (Vec::with_capacity(self.text.len()), Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.extend_from_slice(piece),
                Piece::Var { slot } => {
                    slots.push(*slot);
                    text.extend_from_slice(format!("${}", slots.len()).as_bytes());
                }
            }
        }
        (text, slots)
    }

    /// Byte offset in `text` for a character position in the text that [`Sql::parameterize`] returns. `position` counts
    /// characters from 1, as in PostgreSQL's errors. A position past the end counts as the end.
    pub fn offset_of(&self, position: usize, names: &VariableNames) -> usize {
        let (mut left, mut offset, mut variables) = (position.saturating_sub(1), 0, 0);
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => {
                    let text = readable(piece);
                    if let Some((at, _)) = text.char_indices().nth(left) {
                        return offset + at.min(piece.len());
                    }
                    left -= text.chars().count();
                    offset += piece.len();
                }
                Piece::Var { slot } => {
                    variables += 1;
                    let width = format!("${variables}").len();
                    if left < width {
                        return offset;
                    }
                    left -= width;
                    offset += 1 + names[usize::from(*slot)].len();
                }
            }
        }
        offset
    }
}

impl SleepDuration {
    /// Duration in microseconds.
    pub fn micros(&self, variables: &Variables) -> Result<i64, EvalError> {
        match *self {
            SleepDuration::Constant(micros) => Ok(micros),
            SleepDuration::Variable { slot, unit } => {
                Ok(variables.leading_integer(slot)?.saturating_mul(unit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_positions_to_the_source_text() {
        let check = |script: &str, position: usize, expected: &str| {
            let source = ScriptSource::new("a", script);
            let program =
                parse(&[source], Mode::Extended, false, &["a", "long"]).expect("the script is valid");
            let CommandKind::Sql(sql) = &program.scripts[0].commands[0].kind else { panic!("{script}") };
            let offset = sql.offset_of(position, &program.names);
            assert_eq!(readable(&sql.text[offset..]), expected, "{script} at {position}");
        };
        check("SELECT x", 8, "x");
        check("SELECT x", 99, "");
        check("SELECT 'это', x", 15, "x");
        // The server sees SELECT $1, x, $2, y.
        let script = "SELECT :long, x, :a, y";
        check(script, 8, ":long, x, :a, y");
        check(script, 9, ":long, x, :a, y");
        check(script, 12, "x, :a, y");
        check(script, 19, "y");
    }
}
