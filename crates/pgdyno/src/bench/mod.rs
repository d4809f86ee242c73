//! `pgdyno bench`: a drop-in for pgbench that measures more truly and costs less.

pub mod options;

use options::{Command, Mistake};
use std::process::ExitCode;

/// Wrong options or scripts, or a run that could not start: pgbench's status.
const COULD_NOT_START: u8 = 1;

/// `program` is the name that messages begin with.
pub fn main(program: &str, args: &[String]) -> ExitCode {
    let command = match options::parse(args, &|name| std::env::var(name).ok()) {
        Ok(it) => it,
        Err(mistakes) => {
            complain(program, &mistakes);
            return ExitCode::from(COULD_NOT_START);
        }
    };
    match command {
        Command::Help => print!("{}", options::usage(program)),
        Command::Version => println!("pgbench (PostgreSQL) 15, by pgdyno {}", env!("CARGO_PKG_VERSION")),
        Command::ListBuiltins => {
            eprintln!("Available builtin scripts:");
            for it in options::Builtin::ALL {
                eprintln!("  {:>13}: {}", it.name(), it.description());
            }
            eprintln!();
        }
        Command::ShowScript(_) | Command::Initialise(_) | Command::Run(_) => {
            eprintln!("{program}: error: this build cannot do it");
            return ExitCode::from(COULD_NOT_START);
        }
    }
    ExitCode::SUCCESS
}

/// Prints all mistakes, each with what to write instead.
fn complain(program: &str, mistakes: &[Mistake]) {
    for it in mistakes {
        eprintln!("{program}: error: {}", it.what);
        if let Some(detail) = &it.detail {
            eprintln!("{program}: detail: {detail}");
        }
        eprintln!("{program}: hint: {}", it.instead);
    }
    eprintln!("{program}: hint: Try \"{program} --help\" for more information.");
}
