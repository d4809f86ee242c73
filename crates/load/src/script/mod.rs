//! What does a pgbench script say?
//!
//! The language is PostgreSQL 15's, unchanged, plus `\syncpipeline` of 17. [`parse`] compiles all scripts of a run into one
//! [`Program`] or returns every mistake at once; executing it needs no look-up by name, no parsing and no allocation. A
//! [`Maker`] does the same for a mix of scripts and HTTP requests.

mod branches;
mod builder;
pub mod builtin;
pub mod call;
mod diagnostic;
mod error;
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
mod variables;

use std::sync::Arc;

pub use builder::{ProgramBuilder, ScriptHeader};
pub use call::{Ammo, CallCapture, CallPart, HttpCall, ResponsePart};
pub use diagnostic::Diagnostic;
pub use error::EvalError;
pub use eval::Expr;
pub use names::{InvalidName, ResultStore, VariableNames, is_valid_name};
pub use parser::MAX_DEPTH;
pub use pattern::{Pattern, PatternMatcher};
pub use quoting::QuoteContext;
pub use script_parser::parse;
pub use shell::{ShellWord, command_line, parse_output};
pub use value::{Value, ValueType};
pub use variables::{Variables, WriteResult};

use crate::random::Prng;

/// Index of a variable.
pub type Slot = u16;

/// pgbench's limit of parameters of a statement.
pub const MAX_PARAMETERS: usize = 255;
/// pgbench's limit of scripts in a run.
pub const MAX_SCRIPTS: usize = 128;

/// The text of a script and how often it is chosen.
#[derive(Clone, Copy, Debug)]
pub struct ScriptSource<'a> {
    /// A file's name, or a builtin's description.
    pub name: &'a str,
    pub text: &'a str,
    /// Relative to the other scripts; at least one of them must not be 0.
    pub weight: u32,
}

/// How statements travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As texts with the variables written into them.
    #[default]
    Simple,
    /// As texts with `$1`, …, parsed anew each time.
    Extended,
    /// Prepared once per connection.
    Prepared,
}

/// All scripts of a run.
#[derive(Clone, Debug)]
pub struct Program {
    /// At least one.
    pub scripts: Vec<Script>,
    /// The variables of all scripts, by slot.
    pub names: Arc<VariableNames>,
    /// Variables that a script in pgbench's language reads before anything gives them a value. pgbench sends such a
    /// variable as it is written, or as NULL where it is a parameter; an expression ends the client.
    pub undefined: Vec<Diagnostic>,
}

#[derive(Clone, Debug)]
pub struct Script {
    /// pgbench's "transaction type": the file's name, or a builtin's description.
    pub name: String,
    pub weight: u32,
    /// The row that each of its transactions draws first.
    pub draw: Option<Draw>,
    /// At least one.
    pub commands: Vec<Command>,
}

/// A row of a feed, whose fields become variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Index among the workload's feeds.
    pub feed: u16,
    /// By column; `None` where nobody uses the variable.
    pub columns: Vec<Option<Slot>>,
}

#[derive(Clone, Debug)]
pub struct Command {
    /// Counted from 1.
    pub line: u32,
    /// As `pgbench -r` prints it: the first line of a statement, at most 127 bytes, or the whole backslash command.
    pub first_line: String,
    pub kind: CommandKind,
}

/// What to do. Indices are those of the script's commands.
#[derive(Clone, Debug)]
pub enum CommandKind {
    Sql(Sql),
    Http(Box<HttpCall>),
    Set {
        slot: Slot,
        value: Expr,
    },
    /// False: continue *at* `next`, which is the `Elif`, `Else` or `Endif` that follows.
    If {
        test: Expr,
        next: usize,
    },
    /// Coming from above (a branch was taken): continue at `end`, the `Endif`. Sent here by `next`: test as `If` does.
    Elif {
        test: Expr,
        next: usize,
        end: usize,
    },
    /// Coming from above: continue at `end`. Sent here by `next`: go on below.
    Else {
        end: usize,
    },
    EndIf,
    Sleep {
        amount: SleepDuration,
    },
    /// The first line of the output becomes the variable's value.
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
}

/// A statement, or several joined by `\;`, with its final semicolon if it had one.
#[derive(Clone, Debug)]
pub struct Sql {
    /// With `:name` as written.
    pub text: String,
    /// The same text, cut at the variables.
    pub pieces: Vec<Piece>,
    /// Whether and where the result is kept.
    pub store: Option<ResultStore>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// Anything that looks like `:name`, even within quotes. If the variable is unset, simple mode sends `:name`.
    Var {
        slot: Slot,
    },
}

/// How long to sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepDuration {
    /// µs; not positive means not at all.
    Constant(i64),
    Variable {
        slot: Slot,
        /// µs
        unit: i64,
    },
}

impl Program {
    /// The slot of a variable; `None` if no script uses it.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.names.slot(name)
    }

    /// By slot: whether any command gives the variable a value.
    pub(crate) fn assigned(&self) -> Box<[bool]> {
        undefined::assigned(&self.scripts, &self.names)
    }

    /// The index of the script to run next, by weight. A single script takes no draw.
    pub fn choose(&self, rng: &mut Prng) -> usize {
        if self.scripts.len() == 1 {
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
    /// The text with `$1`, `$2`, … for the variables, and their slots in this order. A variable that occurs twice counts
    /// twice.
    pub fn parameterize(&self) -> (String, Vec<Slot>) {
        let (mut text, mut slots) = (String::with_capacity(self.text.len()), Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Var { slot } => {
                    slots.push(*slot);
                    text.push('$');
                    text.push_str(&slots.len().to_string());
                }
            }
        }
        (text, slots)
    }
}

impl SleepDuration {
    /// Microseconds.
    pub fn micros(&self, variables: &Variables) -> Result<i64, EvalError> {
        match *self {
            SleepDuration::Constant(micros) => Ok(micros),
            SleepDuration::Variable { slot, unit } => {
                Ok(variables.leading_integer(slot)?.saturating_mul(unit))
            }
        }
    }
}

/// Splits `script@weight` as `-f` and `-b` take it; the weight is 1 if none is given. Else what to say.
pub fn source_weight(option: &str) -> Result<(&str, u32), String> {
    let Some((name, weight)) = option.rsplit_once('@') else { return Ok((option, 1)) };
    let digits = weight.as_bytes();
    let whole = if number::looks_like_integer(digits) { number::parse_integer(digits).ok() } else { None };
    let Some(whole) = whole else {
        return Err(format!(
            "invalid weight specification: @{weight}; write a whole number after the last @, as in script.sql@3"
        ));
    };
    match i32::try_from(whole) {
        Ok(weight @ 0..) => Ok((name, weight as u32)),
        _ => Err(format!("weight specification out of range (0 .. {}): {whole}", i32::MAX)),
    }
}
