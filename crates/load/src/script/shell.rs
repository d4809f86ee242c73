//! Command lines of `\shell` and `\setshell`, and their output

use super::variables::{Variables, WriteResult};
use super::{Slot, VariableNames, number};
use std::fmt;
use std::io;

/// Word of a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellWord {
    Text(String),
    /// Variable `:name`. The word `::name` is the text `:name`.
    Var(Slot),
}

/// Error in a shell command, with pgbench's message.
#[derive(Debug)]
pub enum ShellError {
    UndefinedVariable {
        command: String,
        name: String,
    },
    Launch {
        line: String,
        error: io::Error,
    },
    /// The command failed; the text is its status, such as `exit status: 1`.
    Status {
        line: String,
        status: String,
    },
    /// The command printed nothing, but `\setshell` needs output.
    NoOutput {
        command: String,
    },
    /// The first line of the output is not an integer.
    NotAnInteger {
        command: String,
        line: String,
    },
}

impl fmt::Display for ShellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShellError::UndefinedVariable { command, name } => write!(
                f,
                "{command}: undefined variable \":{name}\"; set it before by \\set {name} …, or write ::{name} for the \
                 text"
            ),
            ShellError::Launch { line, error } => {
                write!(f, "could not launch shell command \"{line}\": {error}")
            }
            ShellError::Status { line, status } => write!(f, "shell command \"{line}\" ended with {status}"),
            ShellError::NoOutput { command } => {
                write!(f, "{command}: could not read result of shell command; it must print an integer")
            }
            ShellError::NotAnInteger { command, line } => {
                write!(f, "{command}: shell command must return an integer (not \"{line}\")")
            }
        }
    }
}

impl std::error::Error for ShellError {}

/// Command line for `sh -c`: the words joined by blanks.
pub fn command_line(
    words: &[ShellWord],
    names: &VariableNames,
    variables: &Variables,
) -> Result<String, ShellError> {
    let mut line = Vec::new();
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            line.push(b' ');
        }
        match word {
            ShellWord::Text(text) => line.extend_from_slice(text.as_bytes()),
            ShellWord::Var(slot) => {
                if variables.write(*slot, &mut line) == WriteResult::Unset {
                    let (name, command) = (names[usize::from(*slot)].to_string(), command_name(words, names));
                    return Err(ShellError::UndefinedVariable { command, name });
                }
            }
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Parses the integer on the first line of a command's output.
pub fn parse_output(words: &[ShellWord], names: &VariableNames, output: &[u8]) -> Result<i64, ShellError> {
    let command = command_name(words, names);
    let Some(line) = output.split_inclusive(|&b| b == b'\n').next() else {
        return Err(ShellError::NoOutput { command });
    };
    let number = line.trim_ascii_end();
    if number::looks_like_integer(number) {
        return Ok(number::parse_leading_integer(number));
    }
    Err(ShellError::NotAnInteger { command, line: String::from_utf8_lossy(line).into_owned() })
}

fn command_name(words: &[ShellWord], names: &VariableNames) -> String {
    match words.first() {
        Some(ShellWord::Text(text)) => text.clone(),
        Some(ShellWord::Var(slot)) => format!(":{}", names[usize::from(*slot)]),
        None => String::new(),
    }
}
