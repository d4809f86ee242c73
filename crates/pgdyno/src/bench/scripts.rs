//! Reader and compiler of the scripts

use super::options::{BenchOptions, Source, WeightedScript};
use super::ready::mode;
use crate::cli::Terminal;
use crate::files;
use load::script::{self, CommandKind, Diagnostic, Program, Script};
use model::message;
use model::message::Message;
use model::summary::QueryMode;
use report::lang::Lang;
use report::say;
use std::io::{self, Read};
use std::path::Path;

/// Compiled scripts, and their texts in the order of the options.
#[derive(Clone, Debug)]
pub struct CompiledScripts {
    pub program: Program,
    pub texts: Vec<String>,
    /// Texts as they were read, which may not be UTF-8.
    pub sources: Vec<Vec<u8>>,
}

/// Reads and compiles all scripts. If they have errors, prints every diagnostic and returns `None`.
pub fn compile(options: &BenchOptions, terminal: &Terminal) -> Option<CompiledScripts> {
    let mut readable = Vec::new();
    for script in &options.scripts {
        match &script.source {
            Source::Builtin(builtin) => readable.push((script, builtin.text.into())),
            Source::File(name) => match read(name) {
                Ok(text) => readable.push((script, text)),
                Err(error) => terminal.print_error(&error, options.lang),
            },
        }
    }
    if readable.is_empty() {
        return None;
    }
    let is_complete = readable.len() == options.scripts.len();
    match compile_sources(options, &readable) {
        Ok(program) => {
            program.undefined.iter().for_each(|it| warn(it, options, terminal));
            program.scripts.iter().for_each(|script| warn_of_encoding(script, terminal));
            let texts = readable.iter().map(|it| String::from_utf8_lossy(&it.1).into_owned()).collect();
            let sources = readable.into_iter().map(|it| it.1).collect();
            Some(CompiledScripts { program, texts, sources }).filter(|_| is_complete)
        }
        Err(diagnostics) => {
            diagnostics.iter().for_each(|it| print_diagnostic(it, options.lang, terminal));
            None
        }
    }
}

/// Compiles scripts of the options from their texts.
pub fn compile_sources(
    options: &BenchOptions,
    sources: &[(&WeightedScript, Vec<u8>)],
) -> Result<Program, Vec<Diagnostic>> {
    let defined = options.defines.iter().map(|(name, _)| name.as_str());
    let defined: Vec<&str> = defined.chain(PREDEFINED).collect();
    let named = sources.iter().map(|(script, text)| {
        let name = match &script.source {
            Source::Builtin(builtin) => builtin.description,
            Source::File(name) => name,
        };
        script::ScriptSource { name, text, weight: script.weight }
    });
    script::parse(&named.collect::<Vec<_>>(), mode(options.mode), options.allow_shell, &defined)
}

/// Largest script in bytes.
const SCRIPT_BYTES_MAX: u64 = 64 << 20;

fn read(name: &str) -> Result<Vec<u8>, Message> {
    let unreadable = |error: io::Error| message!("bench-script-read", name, error = Message::from(&error));
    let mut bytes = Vec::new();
    if name == "-" {
        io::stdin().take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    } else {
        // Opening and reading have separate error messages, as in pgbench.
        let file = files::open(Path::new(name))
            .map_err(|error| message!("bench-script-open", name, error = Message::from(&error)))?;
        file.take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if bytes.len() as u64 > SCRIPT_BYTES_MAX {
        return Err(message!("bench-script-size", name, max = SCRIPT_BYTES_MAX >> 20));
    }
    Ok(bytes)
}

/// Variables that are always defined.
pub const PREDEFINED: [&str; 4] = ["client_id", "random_seed", "default_seed", "scale"];

/// Warns of a variable without a value. As in pgbench, the run continues.
fn warn(diagnostic: &Diagnostic, options: &BenchOptions, terminal: &Terminal) {
    let mode = match options.mode {
        QueryMode::Simple => "simple",
        QueryMode::Extended | QueryMode::Prepared if options.as_pgbench => "pgbench",
        QueryMode::Extended | QueryMode::Prepared => "extended",
    };
    let error = options.lang.message(&diagnostic.message);
    let place = position(diagnostic);
    terminal.warning(&say!(options.lang, "script-undefined-warning", place, error, mode));
    terminal.hint(&options.lang.help(&diagnostic.message));
}

/// Warns of the first statement that is not UTF-8. As in pgbench, its bytes are sent unchanged.
fn warn_of_encoding(script: &Script, terminal: &Terminal) {
    let is_utf8 =
        |kind: &CommandKind| !matches!(kind, CommandKind::Sql(sql) if str::from_utf8(&sql.text).is_err());
    if let Some(command) = script.commands.iter().find(|command| !is_utf8(&command.kind)) {
        terminal.warning(&format!(
            "{}:{}: the statement is not UTF-8; its bytes are sent unchanged and shown as \\xNN: {}",
            script.name, command.line, command.first_line
        ));
        terminal.hint(
            "the server decodes it with client_encoding; if the script uses another encoding, set it, for example \
             PGCLIENTENCODING=LATIN1",
        );
    }
}

fn position(diagnostic: &Diagnostic) -> String {
    format!("{}:{}", diagnostic.file, diagnostic.line)
}

/// Prints a diagnostic of a script: position, source line and correction.
fn print_diagnostic(diagnostic: &Diagnostic, lang: &Lang, terminal: &Terminal) {
    let message = lang.message(&diagnostic.message);
    if diagnostic.line == 0 {
        terminal.error(&message);
    } else {
        let before = diagnostic.text.chars().take(diagnostic.column.saturating_sub(1) as usize);
        // Keep tabs, so that the caret is below the wrong character.
        let indent: String = before.map(|it| if it == '\t' { '\t' } else { ' ' }).collect();
        let (place, text) = (position(diagnostic), &diagnostic.text);
        let marker = say!(lang, "script-found-here");
        terminal.error(&format!("{place}: {message}\n{text}\n{indent}^ {marker}"));
    }
    terminal.hint(&lang.help(&diagnostic.message));
}
