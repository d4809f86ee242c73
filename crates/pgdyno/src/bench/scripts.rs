//! Reader and compiler of the scripts

use super::options::{BenchOptions, Source};
use super::ready::mode;
use crate::cli::{Terminal, os_error_text};
use crate::files;
use load::script::{self, Diagnostic, Program};
use model::summary::QueryMode;
use std::io::Read;
use std::path::Path;

/// Reads and compiles all scripts. Prints every diagnostic and returns `None` if there are any.
pub fn compile(options: &BenchOptions, voice: &Terminal) -> Option<Program> {
    let defined = options.defines.iter().map(|(name, _)| name.as_str());
    let defined: Vec<&str> = defined.chain(PREDEFINED).collect();
    let mut readable = true;
    let mut texts = Vec::new();
    for it in &options.scripts {
        match &it.source {
            Source::Builtin(builtin) => texts.push((builtin.description, builtin.text.to_owned(), it.weight)),
            Source::File(name) => match read(name) {
                Ok(text) => texts.push((name.as_str(), text, it.weight)),
                Err(error) => {
                    voice.error(&error);
                    voice.hint("name a file that can be read, or - for standard input");
                    readable = false;
                }
            },
        }
    }
    let sources: Vec<script::ScriptSource> = texts
        .iter()
        .map(|(name, text, weight)| script::ScriptSource { name, text, weight: *weight })
        .collect();
    if sources.is_empty() {
        return None;
    }
    match script::parse(&sources, mode(options.mode), options.allow_shell, &defined) {
        Ok(program) => {
            program.undefined.iter().for_each(|it| warn(it, options.mode, voice));
            Some(program).filter(|_| readable)
        }
        Err(mistakes) => {
            mistakes.iter().for_each(|it| print_diagnostic(it, voice));
            None
        }
    }
}

/// Largest script in bytes.
const SCRIPT_BYTES_MAX: u64 = 64 << 20;

fn read(name: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    if name == "-" {
        std::io::stdin()
            .take(SCRIPT_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| format!("could not read file \"-\": {}", os_error_text(&error)))?;
    } else {
        // Opening and reading have separate error messages, as in pgbench.
        let file = files::open(Path::new(name))
            .map_err(|error| format!("could not open file \"{name}\": {}", os_error_text(&error)))?;
        file.take(SCRIPT_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| format!("could not read file \"{name}\": {}", os_error_text(&error)))?;
    }
    if bytes.len() as u64 > SCRIPT_BYTES_MAX {
        return Err(format!(
            "file \"{name}\" is longer than {} MiB; draw rows from a table instead",
            SCRIPT_BYTES_MAX >> 20
        ));
    }
    decode(&bytes).map_err(|(line, byte)| {
        format!(
            "file \"{name}\", line {line}: the byte 0x{byte:02x} is not UTF-8, in which statements are sent; \
             convert it, such as with  iconv -f LATIN1 -t UTF-8"
        )
    })
}

/// Text of a script. Comment lines may have any encoding, because they are not sent. The error is the line, and the
/// first byte that is not UTF-8.
fn decode(bytes: &[u8]) -> Result<String, (usize, u8)> {
    let mut text = String::with_capacity(bytes.len());
    for (number, line) in bytes.split_inclusive(|it| *it == b'\n').enumerate() {
        match std::str::from_utf8(line) {
            Ok(it) => text.push_str(it),
            Err(_) if line.trim_ascii_start().starts_with(b"--") => text += &String::from_utf8_lossy(line),
            Err(error) => return Err((number + 1, line[error.valid_up_to()])),
        }
    }
    Ok(text)
}

/// Variables that are always defined.
pub const PREDEFINED: [&str; 4] = ["client_id", "random_seed", "default_seed", "scale"];

/// Warns of a variable without a value. As in pgbench, the run continues.
fn warn(it: &Diagnostic, mode: QueryMode, voice: &Terminal) {
    let sent = match mode {
        QueryMode::Simple => "a statement sends it as it is written",
        QueryMode::Extended | QueryMode::Prepared => "a client that comes to such a statement is aborted",
    };
    voice.warning(&format!("{}: {}; until another script sets it, {sent}", position(it), it.message));
    voice.hint(&it.hint);
}

fn position(it: &Diagnostic) -> String {
    format!("{}:{}", it.file, it.line)
}

/// Prints a diagnostic of a script: position, source line and correction.
fn print_diagnostic(it: &Diagnostic, voice: &Terminal) {
    if it.line == 0 {
        voice.error(&it.message);
    } else {
        let before = it.text.chars().take(it.column.saturating_sub(1) as usize);
        // Tabs are preserved, so that the caret is below its character.
        let indent: String = before.map(|it| if it == '\t' { '\t' } else { ' ' }).collect();
        voice.error(&format!("{}: {}\n{}\n{indent}^ error found here", position(it), it.message, it.text));
    }
    if !it.hint.is_empty() {
        voice.hint(&it.hint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_any_encoding_in_comments() {
        for (bytes, expected) in [
            (b"SELECT 1;\n".as_slice(), Ok("SELECT 1;\n")),
            (b"-- caf\xe9\nSELECT 1;", Ok("-- caf\u{fffd}\nSELECT 1;")),
            (b"  --\xff\r\n\\set a 1\n", Ok("  --\u{fffd}\r\n\\set a 1\n")),
            ("SELECT 'é';".as_bytes(), Ok("SELECT 'é';")),
            (b"SELECT 1;\nSELECT 'caf\xe9';", Err((2, 0xe9))),
            (b"SELECT 1; -- caf\xe9", Err((1, 0xe9))),
        ] {
            assert_eq!(decode(bytes), expected.map(str::to_owned), "{bytes:?}");
        }
    }
}
