//! `pgdyno advise`: reports indexes that would help a run's statements

mod apply;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::run_name;
use crate::run_name::DIRECTORY;
use crate::run_result::{self, index_advice};
use crate::terminal;
use clap::Parser;
use report::json_document::{AdviceDocument, to_json};
use std::path::PathBuf;

/// Report the indexes that would help the statements of a run, and the statements that no index helps
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno advise")]
pub struct Args {
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
    /// Print the plan of each statement, with the measured rows, times and blocks of each node if it was executed
    #[arg(long, conflicts_with = "apply")]
    plans: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with = "apply")]
    json: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command. The exit status is 2 for wrong arguments and 1 if the command fails.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno advise", args, |args: &Args, terminal| match args.apply {
        true => apply::apply(args, terminal),
        false => print_advice(args, terminal),
    })
}

fn print_advice(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let path = run_name::find(&args.dir, &args.run, terminal, lang)?;
    let account = run_result::from_file(&path)?;
    if args.json {
        terminal::json(&to_json(&AdviceDocument { advice: &account.advice }));
        return Ok(ExitStatus::Success);
    }
    let applied = index_advice::index_effects(&path)?.map(|it| report::advice::effect_text(&it, lang));
    terminal::text(&(report::advice::render(&account, args.plans, lang) + &applied.unwrap_or_default()));
    Ok(ExitStatus::Success)
}
