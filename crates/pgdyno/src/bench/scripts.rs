//! Which scripts are to be run, and what is wrong with them?

use super::options::{Options, Source};
use super::ready::mode;
use crate::voice::{Voice, plain};
use load::script::{self, Diagnostic, Program};
use std::io::Read;

/// Reads and compiles all scripts; or tells every mistake in them, and returns nothing.
pub fn compile(options: &Options, voice: &Voice) -> Option<Program> {
    let defined: Vec<&str> = options.defines.iter().map(|(name, _)| name.as_str()).collect();
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
    let sources: Vec<script::Source> =
        texts.iter().map(|(name, text, weight)| script::Source { name, text, weight: *weight }).collect();
    if sources.is_empty() {
        return None;
    }
    match script::parse(&sources, mode(options.mode), options.allow_shell, &defined) {
        Ok(program) => Some(program).filter(|_| readable),
        Err(mistakes) => {
            mistakes.iter().for_each(|it| tell(it, voice));
            None
        }
    }
}

fn read(name: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    if name == "-" {
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| format!("could not read file \"-\": {}", plain(&error)))?;
    } else {
        // Opened and read apart, as pgbench tells them apart.
        let mut file = std::fs::File::open(name)
            .map_err(|error| format!("could not open file \"{name}\": {}", plain(&error)))?;
        file.read_to_end(&mut bytes)
            .map_err(|error| format!("could not read file \"{name}\": {}", plain(&error)))?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("file \"{name}\" is not UTF-8 from byte {at} on")
    })
}

/// A script's mistake: where, what stands there, what to write instead.
fn tell(it: &Diagnostic, voice: &Voice) {
    if it.line == 0 {
        voice.error(&it.message);
    } else {
        let before = it.text.chars().take(it.column.saturating_sub(1) as usize);
        // Tabs stay tabs, so that the caret stands below its character.
        let indent: String = before.map(|it| if it == '\t' { '\t' } else { ' ' }).collect();
        voice.error(&format!(
            "{}:{}: {}\n{}\n{indent}^ error found here",
            it.file, it.line, it.message, it.text
        ));
    }
    if !it.hint.is_empty() {
        voice.hint(&it.hint);
    }
}
