//! `pgdyno advise`: reports indexes that would help a run's statements

mod apply;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::run_result::{self, index_advice};
use crate::runs::DIRECTORY;
use crate::terminal;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Tells which indexes would help the statements of a run, and which statements none helps: from the run's file alone.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno advise")]
struct Args {
    /// A path, a name or its beginning, or `last`
    run: String,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    /// Build the indexes in a copy of the run's data, and measure what they bring and cost. Never touches a database that
    /// was there before
    #[arg(long)]
    apply: bool,
    /// How often --apply measures each
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Print the advice as JSON
    #[arg(long, conflicts_with = "apply")]
    json: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command. The exit status is 2 for wrong arguments and 1 if the command fails.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno advise");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    let done = if args.apply { apply::apply(&args) } else { print_advice(&args).map(|()| ExitCode::SUCCESS) };
    match done {
        Ok(it) => it,
        Err(trouble) => {
            trouble.print(&Terminal { program: "pgdyno advise".to_owned() });
            ExitCode::FAILURE
        }
    }
}

fn print_advice(args: &Args) -> Result<(), CommandError> {
    let lang = args.language.lang()?;
    let path = store::find(&args.dir, &args.run).map_err(|it| CommandError::new(it.to_string()))?;
    let account = run_result::from_file(&path)?;
    if args.json {
        terminal::json(
            &(serde_json::to_string_pretty(&account.advice).expect("strings as keys only") + "\n"),
        );
        return Ok(());
    }
    let applied = index_advice::index_effects(&path)?.map(|it| report::advice::effect_text(&it, lang));
    terminal::text(&(report::advice::render(&account, lang) + &applied.unwrap_or_default()));
    Ok(())
}
