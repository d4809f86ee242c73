//! Common steps of all commands with clap arguments

use crate::cli::{CommandError, Terminal};
use crate::exit_status::ExitStatus;
use crate::{help, terminal};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use report::lang::english;
use report::say;

/// Parses the arguments of the command `program`, such as `pgdyno report`, and runs it. Prints errors.
pub fn run<A: Parser>(
    program: &str,
    args: &[String],
    run: impl FnOnce(&A, &Terminal) -> Result<ExitStatus, CommandError>,
) -> ExitStatus {
    let args = match parse(program, args) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let terminal = Terminal { program: program.to_owned() };
    run(&args, &terminal).unwrap_or_else(|error| error.print(&terminal))
}

/// Parses the arguments of a command. Prints help and errors, and then returns the exit status as an error. If the
/// command has the option `--set`, the error for an unknown option that is a key of experiment files contains a hint.
pub fn parse<A: Parser>(program: &str, args: &[String]) -> Result<A, ExitStatus> {
    let all = std::iter::once(program).chain(args.iter().map(String::as_str));
    let mut command = A::command().after_help(help::examples(program));
    let matches = command.try_get_matches_from_mut(all);
    let parsed = matches.and_then(|matches| A::from_arg_matches(&matches));
    parsed.map_err(|error| {
        let sets_values = command.get_arguments().any(|argument| argument.get_long() == Some("set"));
        let unknown = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(unknown)) if error.kind() == ErrorKind::UnknownArgument => {
                Some(unknown)
            }
            _ => None,
        };
        let set = unknown.filter(|_| sets_values).and_then(|unknown| assignment(unknown, args));
        let status = terminal::usage(&error.format(&mut command));
        if let Some(set) = set {
            let terminal = Terminal { program: program.to_owned() };
            terminal.hint(&say!(english(), "run-set", set));
        }
        status
    })
}

/// Corrected `--set` option for an unknown argument. The argument is a key, such as `--clients`, or the value after
/// `--set load.clients`.
fn assignment(unknown: &str, args: &[String]) -> Option<String> {
    let place = args.iter().position(|it| it.split('=').next() == Some(unknown))?;
    if let Some(key) = unknown.strip_prefix("--") {
        let path = experiment::path_of_key(key)?;
        let value = args[place].split_once('=').map(|it| it.1);
        let value = value.or(args.get(place + 1).map(String::as_str)).filter(|it| !it.starts_with('-'));
        return Some(format!("--set {path}={}", value.unwrap_or("VALUE")));
    }
    let before = &args[..place];
    let path = before.last().filter(|_| before.len() > 1 && before[before.len() - 2] == "--set")?;
    Some(format!("--set {path}={unknown}"))
}
