//! `pgdyno advise`: reports indexes that would help a run's statements

mod apply;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::exit_status::ExitStatus;
use crate::run_name;
use crate::run_result::{self, index_advice};
use crate::runs::DIRECTORY;
use crate::terminal;
use clap::Parser;
use report::json_document::{AdviceDocument, to_json};
use std::path::PathBuf;

/// Report the indexes that would help the statements of a run, and the statements that no index helps
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno advise")]
struct Args {
    #[arg(help = run_name::HELP)]
    run: String,
    /// Directory of the stored runs
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    /// Build the indexes in a copy of the run's data, and measure their benefit and cost; never changes an attached
    /// database
    #[arg(long)]
    apply: bool,
    /// Trials with and without the indexes, for --apply
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Print one JSON document
    #[arg(long, conflicts_with = "apply")]
    json: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command. The exit status is 2 for wrong arguments and 1 if the command fails.
pub fn main(args: &[String]) -> ExitStatus {
    let name = std::iter::once("pgdyno advise");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    let done =
        if args.apply { apply::apply(&args) } else { print_advice(&args).map(|()| ExitStatus::Success) };
    match done {
        Ok(it) => it,
        Err(error) => error.print(&terminal()),
    }
}

fn terminal() -> Terminal {
    Terminal { program: "pgdyno advise".to_owned() }
}

fn print_advice(args: &Args) -> Result<(), CommandError> {
    let lang = args.language.lang()?;
    let path = run_name::find(&args.dir, &args.run, &terminal(), lang)?;
    let account = run_result::from_file(&path)?;
    if args.json {
        terminal::json(&to_json(&AdviceDocument { advice: &account.advice }));
        return Ok(());
    }
    let applied = index_advice::index_effects(&path)?.map(|it| report::advice::effect_text(&it, lang));
    terminal::text(&(report::advice::render(&account, lang) + &applied.unwrap_or_default()));
    Ok(())
}
