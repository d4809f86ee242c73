//! Entry point of `pgdyno`: dispatches the command and sets the exit status

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod terminal;

mod advise;
mod agent_command;
mod agents_command;
mod bench;
mod capture;
mod cell_selector;
mod check;
mod check_command;
mod cli;
mod clock;
mod command;
mod command_list;
mod commands;
mod compare;
mod completions;
mod connect_commands;
mod demo;
mod diagnostics;
mod distil;
mod doctor;
mod exit_status;
mod export;
mod feed_requests;
mod feeds;
mod files;
mod fleet;
mod help;
mod history;
mod http_server;
mod import;
mod init;
mod judge;
mod manual;
mod measure;
mod messages;
mod observer;
mod operation_steps;
mod prometheus;
mod record;
mod recording;
mod replay;
mod report;
mod run;
mod run_file;
mod run_name;
mod run_report;
mod run_result;
mod runs;
mod schedule;
mod schema;
mod secrets;
mod serve;
mod server_logs;
mod signals;
mod stack_command;
mod trial_event;
mod try_command;
mod version;

use clap::Command;
use clap::error::ErrorKind;
use exit_status::ExitStatus;
use std::path::Path;
use std::process::ExitCode;

/// Hidden command that watches over the processes that pgdyno started.
const KEEPER: &str = "keeper";

/// Parser of the command's name. Each command parses its own arguments.
fn parser() -> Command {
    let list = command_list::all().map(|entry| (entry.name, entry.about)).chain([(KEEPER, "")]);
    let subcommands = list.map(|(name, about)| {
        let arguments = clap::Arg::new("arguments").num_args(0..).trailing_var_arg(true);
        let arguments = arguments.allow_hyphen_values(true);
        Command::new(name).about(about).disable_help_flag(true).hide(name == KEEPER).arg(arguments)
    });
    // `terminal` wraps the lines. clap would not indent the continuation lines of the list.
    Command::new("pgdyno")
        .about("Load generator and measuring instrument for PostgreSQL systems")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(subcommands)
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .arg_required_else_help(true)
        .help_template("{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}")
        .before_help(help::groups())
        .after_help(help::footer())
        .term_width(0)
}

fn main() -> ExitCode {
    completions::complete(commands::tree);
    let mut args: Vec<String> = std::env::args().collect();
    if args.first().and_then(|path| Path::new(path).file_stem()).is_some_and(|name| name == "pgbench") {
        return terminal::finish(bench::main("pgbench", &args[1..])).into();
    }
    // `pgdyno help COMMAND` is `pgdyno COMMAND --help`.
    let names = args.iter().skip(1).take_while(|name| *name == "help").count();
    if names > 0 {
        args.drain(1..=names);
        args.push("--help".to_owned());
    }
    let json = args.iter().any(|it| it == "--json");
    let matches = match parser().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayVersion => {
            out!("{}", version::describe(json));
            return terminal::finish(ExitStatus::Success).into();
        }
        Err(error) => return terminal::finish(terminal::usage(&error)).into(),
    };
    let (name, matches) = matches.subcommand().expect("a command is required");
    let Some((run, _)) = commands::find(name) else { return stack::supervisor::keeper::main() };
    let arguments: Vec<String> = matches.get_many("arguments").into_iter().flatten().cloned().collect();
    terminal::finish(run(&arguments)).into()
}
