//! Common steps of all commands with clap arguments

use crate::cli::{CommandError, Terminal};
use crate::exit_status::ExitStatus;
use crate::terminal;
use clap::Parser;

/// Parses the arguments of the command `program`, such as `pgdyno report`, and runs it. Prints errors.
pub fn run<A: Parser>(
    program: &str,
    args: &[String],
    run: impl FnOnce(&A, &Terminal) -> Result<ExitStatus, CommandError>,
) -> ExitStatus {
    let args = std::iter::once(program).chain(args.iter().map(String::as_str));
    let args = match A::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    let terminal = Terminal { program: program.to_owned() };
    run(&args, &terminal).unwrap_or_else(|error| error.print(&terminal))
}
