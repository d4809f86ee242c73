//! Command lines of `\shell` and `\setshell`, and their output

use super::variables::{Variables, WriteResult};
use super::{Slot, VariableNames, number};

/// Word of a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellWord {
    Text(String),
    /// `:name`; `::name` is the text `:name`.
    Var(Slot),
}

/// Command line for `sh -c`: the words separated by blanks. Returns a message on errors.
pub fn command_line(
    words: &[ShellWord],
    names: &VariableNames,
    variables: &Variables,
) -> Result<String, String> {
    let mut line = Vec::new();
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            line.push(b' ');
        }
        match word {
            ShellWord::Text(text) => line.extend_from_slice(text.as_bytes()),
            ShellWord::Var(slot) => {
                if variables.write(*slot, &mut line) == WriteResult::Unset {
                    let (name, command) = (&names[usize::from(*slot)], command_name(words, names));
                    return Err(format!(
                        "{command}: undefined variable \":{name}\"; set it before by \\set {name} …, or write ::{name} for the text"
                    ));
                }
            }
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Integer on the first line of a command's output. Returns a message on errors.
pub fn parse_output(words: &[ShellWord], names: &VariableNames, output: &[u8]) -> Result<i64, String> {
    let command = command_name(words, names);
    let Some(line) = output.split_inclusive(|&b| b == b'\n').next() else {
        return Err(format!("{command}: could not read result of shell command; it must print an integer"));
    };
    let number = line.trim_ascii_end();
    if number::looks_like_integer(number) {
        return Ok(number::parse_leading_integer(number));
    }
    let line = String::from_utf8_lossy(line);
    Err(format!("{command}: shell command must return an integer (not \"{line}\")"))
}

fn command_name(words: &[ShellWord], names: &VariableNames) -> String {
    match words.first() {
        Some(ShellWord::Text(text)) => text.clone(),
        Some(ShellWord::Var(slot)) => format!(":{}", names[usize::from(*slot)]),
        None => String::new(),
    }
}
