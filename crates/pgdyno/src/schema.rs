//! `pgdyno schema`: which form has an experiment file, for an editor?

use clap::Parser;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Prints the JSON Schema of experiment files, with which editors complete and check them.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno schema")]
struct Args {}

/// Runs the command with the arguments behind its name.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno schema");
    if let Err(error) = Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        // Help goes to standard output, whose reader may have gone; there is nobody left to tell.
        let _ = error.print();
        return ExitCode::from(error.exit_code() as u8);
    }
    match writeln!(io::stdout().lock(), "{:#}", experiment::schema()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader, `head` for instance, has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pgdyno schema: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
