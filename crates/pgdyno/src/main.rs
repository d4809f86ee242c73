//! Entry point of `pgdyno`: dispatches the command and sets the exit status

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod terminal;

mod advise;
mod bench;
mod check;
mod check_command;
mod cli;
mod clock;
mod command;
mod compare;
mod connect_commands;
mod demo;
mod diagnostics;
mod doctor;
mod exit_status;
mod export;
mod files;
mod history;
mod http_server;
mod init;
mod measure;
mod messages;
mod prometheus;
mod replay;
mod report;
mod run;
mod run_name;
mod run_report;
mod run_result;
mod runs;
mod schedule;
mod schema;
mod serve;
mod signals;
mod stack_command;
mod trial_event;
mod trial_failure;
mod try_command;

use clap::{Parser, Subcommand};
use std::path::Path;
use std::process::ExitCode;

/// Load generator and measuring instrument for PostgreSQL systems
#[derive(Debug, Parser)]
#[command(name = "pgdyno", version, disable_help_subcommand = true, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

/// Each command reads its own arguments.
#[derive(Debug, Subcommand)]
enum Command {
    /// Run an experiment file
    #[command(disable_help_flag = true)]
    Run(CommandArgs),
    /// Benchmark a server, with the options and scripts of pgbench
    #[command(disable_help_flag = true)]
    Bench(CommandArgs),
    /// Check an experiment file: report all errors, or what a run would do
    #[command(disable_help_flag = true)]
    Check(CommandArgs),
    /// Execute each operation of an experiment file once, and print the answers
    #[command(disable_help_flag = true)]
    Try(CommandArgs),
    /// Write a commented experiment file as a template
    #[command(disable_help_flag = true)]
    Init(CommandArgs),
    /// Print the JSON Schema of experiment files
    #[command(disable_help_flag = true)]
    Schema(CommandArgs),
    /// Start the system of an experiment file and keep it running
    #[command(disable_help_flag = true)]
    Stack(CommandArgs),
    /// List, show and remove stored runs
    #[command(disable_help_flag = true)]
    Runs(CommandArgs),
    /// Show stored and current runs in a browser
    #[command(disable_help_flag = true)]
    Serve(CommandArgs),
    /// Write the report of a run as HTML, Markdown, JSON or JUnit
    #[command(disable_help_flag = true)]
    Report(CommandArgs),
    /// Compare runs, with confidence intervals
    #[command(disable_help_flag = true)]
    Compare(CommandArgs),
    /// Show the runs of an experiment over time, and where the results changed
    #[command(disable_help_flag = true)]
    History(CommandArgs),
    /// Report indexes that would help the statements of a run
    #[command(disable_help_flag = true)]
    Advise(CommandArgs),
    /// Export a run as CSV, JSON or HdrHistogram logs
    #[command(disable_help_flag = true)]
    Export(CommandArgs),
    /// Preview a schedule of arrivals
    #[command(disable_help_flag = true)]
    Schedule(CommandArgs),
    /// Start a temporary server, measure it, and stop it
    #[command(disable_help_flag = true)]
    Demo(CommandArgs),
    /// List the capabilities of this machine
    #[command(disable_help_flag = true)]
    Doctor(CommandArgs),
    /// Watch over the processes that pgdyno started
    #[command(hide = true)]
    Keeper,
}

#[derive(Debug, clap::Args)]
struct CommandArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    args: Vec<String>,
}

fn main() -> ExitCode {
    let mut args = std::env::args();
    let path = args.next().unwrap_or_default();
    if Path::new(&path).file_stem().is_some_and(|it| it == "pgbench") {
        let rest: Vec<String> = args.collect();
        return terminal::finish(bench::main("pgbench", &rest)).into();
    }
    let command = match Args::try_parse() {
        Ok(it) => it.command,
        Err(error) => return terminal::finish(terminal::usage(&error)).into(),
    };
    terminal::finish(match command {
        Command::Bench(it) => bench::main("pgdyno bench", &it.args),
        Command::Run(it) => run::main(&it.args),
        Command::Check(it) => check_command::main(&it.args),
        Command::Try(it) => try_command::main(&it.args),
        Command::Init(it) => init::main(&it.args),
        Command::Schema(it) => schema::main(&it.args),
        Command::Stack(it) => stack_command::main(&it.args),
        Command::Runs(it) => runs::main(&it.args),
        Command::Serve(it) => serve::main(&it.args),
        Command::Report(it) => report::main(&it.args),
        Command::Compare(it) => compare::main(&it.args),
        Command::History(it) => history::main(&it.args),
        Command::Advise(it) => advise::main(&it.args),
        Command::Export(it) => export::main(&it.args),
        Command::Schedule(it) => schedule::main(&it.args),
        Command::Demo(it) => demo::main(&it.args),
        Command::Doctor(it) => doctor::main(&it.args),
        Command::Keeper => return stack::supervisor::keeper::main(),
    })
    .into()
}
