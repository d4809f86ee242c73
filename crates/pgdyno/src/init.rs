//! `pgdyno init`: writes a commented experiment file to begin with

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::exit_status::ExitStatus;
use crate::terminal;
use clap::{Parser, ValueEnum};
use report::lang::Lang;
use report::say;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// Write a commented experiment file as a template; never overwrites a file
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno init")]
struct Args {
    /// File to write
    #[arg(default_value = "experiment.yaml")]
    file: PathBuf,
    /// Goal of the experiment [default: compare the cells of a matrix]
    #[arg(long, value_name = "GOAL")]
    find: Option<InitGoal>,
    #[command(flatten)]
    language: LanguageArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InitGoal {
    /// Check that every acknowledged write survives a failover
    Failover,
}

/// Template with every section that such an experiment has, each with a comment.
fn template(find: Option<InitGoal>) -> &'static str {
    match find {
        None => include_str!("init/matrix.yaml"),
        Some(InitGoal::Failover) => include_str!("init/failover.yaml"),
    }
}

/// Runs the command. The exit status is 1 if the file exists or cannot be written.
pub fn main(args: &[String]) -> ExitStatus {
    let name = std::iter::once("pgdyno init");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    match write(&args) {
        Ok(()) => ExitStatus::Success,
        Err(error) => error.print(&Terminal { program: "pgdyno init".to_owned() }),
    }
}

fn write(args: &Args) -> Result<(), CommandError> {
    let lang = args.language.lang()?;
    let path = args.file.display().to_string();
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&args.file)
        .and_then(|mut file| file.write_all(template(args.find).as_bytes()))
        .map_err(|error| write_error(&path, &error, lang))?;
    outln!("{}", say!(lang, "init-written", path));
    Ok(())
}

fn write_error(path: &str, error: &std::io::Error, lang: &Lang) -> CommandError {
    match error.kind() {
        ErrorKind::AlreadyExists => {
            CommandError::new(say!(lang, "init-exists", path)).with_hint(say!(lang, "init-exists-hint"))
        }
        _ => CommandError::new(say!(lang, "init-failed", path, error = os_error_text(error))),
    }
}
