//! `pgdyno schema`: prints the JSON Schema of experiment files

use crate::terminal;
use clap::Parser;
use std::process::ExitCode;

/// Print the JSON Schema of experiment files, for completion and checks in editors
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno schema")]
struct Args {}

/// Runs the command.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno schema");
    if let Err(error) = Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        return terminal::usage(&error);
    }
    terminal::json(&format!("{:#}\n", experiment::schema()));
    ExitCode::SUCCESS
}
