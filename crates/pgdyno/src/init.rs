//! `pgdyno init`: writes a commented experiment file to begin with

use crate::cli::os_error_text;
use crate::terminal;
use clap::{Parser, ValueEnum};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes a commented experiment file to begin with; never over one that is there.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno init")]
struct Args {
    #[arg(default_value = "experiment.yaml")]
    file: PathBuf,
    /// Goal of the experiment, a value of its key `find`; without it, the experiment compares the cells of a matrix
    #[arg(long, value_name = "WHAT")]
    find: Option<InitGoal>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InitGoal {
    /// Whether everything that was acknowledged survives a failover
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
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno init");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    let shown = args.file.display();
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&args.file)
        .and_then(|mut file| file.write_all(template(args.find).as_bytes()));
    match written {
        Ok(()) => {
            outln!("wrote {shown}; look at it, then:  pgdyno check {shown}");
            ExitCode::SUCCESS
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            errln!(
                "pgdyno init: error: {shown} is there already\npgdyno init: hint: name another file, or remove that one"
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            errln!("pgdyno init: error: cannot write {shown}: {}", os_error_text(&error));
            ExitCode::FAILURE
        }
    }
}
