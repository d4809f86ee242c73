//! `pgdyno completions`: completion of command lines in shells, with the names of runs and operations
//!
//! The shell's script calls pgdyno with the variable `COMPLETE`, so the script needs no update when options change.

use crate::cli::{CommandError, Terminal};
use crate::exit_status::ExitStatus;
use crate::run_name::DIRECTORY;
use crate::{check, command};
use clap::builder::PossibleValuesParser;
use clap::{Command, Parser};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::Shells;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Environment variable that contains the shell's name while the shell completes a command line.
const VARIABLE: &str = "COMPLETE";

/// Print the script with which a shell completes command lines, including the names of runs and operations
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno completions")]
pub struct Args {
    /// Shell
    #[arg(value_parser = PossibleValuesParser::new(["bash", "zsh", "fish"]))]
    shell: String,
}

pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno completions", args, |args: &Args, _: &Terminal| {
        let mut script = Vec::new();
        let shells = Shells::builtins();
        let shell = shells.completer(&args.shell).expect("clap supports the shell");
        shell.write_registration(VARIABLE, "pgdyno", "pgdyno", "pgdyno", &mut script)?;
        out!("{}", String::from_utf8_lossy(&script));
        Ok::<_, CommandError>(ExitStatus::Success)
    })
}

/// Completes the command line and exits if a shell requests it. `tree` is the definition of the whole command line.
pub fn complete(tree: fn() -> Command) {
    CompleteEnv::with_factory(|| with_values(tree())).var(VARIABLE).complete();
}

/// Adds the completion of values to the arguments of all commands.
fn with_values(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let completer = match arg.get_id().as_str() {
            "run" | "runs" | "base" | "resume" | "experiment" => ArgValueCompleter::new(runs),
            "operation" => ArgValueCompleter::new(operations),
            "file" => ArgValueCompleter::new(experiments),
            _ => return arg,
        };
        arg.add(completer)
    });
    command.mut_subcommands(with_values)
}

/// Names of the runs in the default directory.
fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = store::run_names(Path::new(DIRECTORY)).unwrap_or_default();
    candidates(current, names.into_iter().chain(["last".to_owned()]))
}

/// Experiment files, and directories that may contain them.
fn experiments(current: &OsStr) -> Vec<CompletionCandidate> {
    let is_yaml = |path: &Path| path.extension().is_some_and(|it| it == "yaml" || it == "yml");
    PathCompleter::any().filter(move |path| path.is_dir() || is_yaml(path)).complete(current)
}

/// Operations of the experiment file in the command line.
fn operations(current: &OsStr) -> Vec<CompletionCandidate> {
    let file =
        std::env::args_os().skip(1).map(PathBuf::from).find(|it| it.extension().is_some() && it.is_file());
    let plan = file.and_then(|it| check::read(&it, &[], false).ok());
    let operations = plan.map_or(Vec::new(), |it| it.experiment.cells[0].setup.operations.clone());
    candidates(current, operations.into_iter().map(|it| it.name))
}

fn candidates(current: &OsStr, names: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    names.filter(|name| name.starts_with(&*current)).map(CompletionCandidate::new).collect()
}
