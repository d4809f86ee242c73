//! Command lines of `\shell` and `\setshell`, and their output

use super::variables::{Variables, WriteResult};
use super::{Slot, VariableNames, number};
use model::message;
use model::message::Message;
use std::io;

/// Word of a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellWord {
    Text(String),
    /// Variable `:name`. The word `::name` is the text `:name`.
    Var(Slot),
}

/// Error in a shell command.
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

impl From<&ShellError> for Message {
    fn from(error: &ShellError) -> Message {
        match error {
            ShellError::UndefinedVariable { command, name } => {
                message!("abort-shell-undefined", command, name)
            }
            ShellError::Launch { line, error } => {
                message!("abort-shell-launch", line, error = Message::from(error))
            }
            ShellError::Status { line, status } => message!("abort-shell-status", line, status),
            ShellError::NoOutput { command } => message!("abort-shell-no-output", command),
            ShellError::NotAnInteger { command, line } => message!("abort-shell-not-integer", command, line),
        }
    }
}

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
