//! Entry point of `pgdyno`: dispatches the command and sets the exit status

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod terminal;

mod advise;
mod bench;
mod check;
mod cli;
mod clock;
mod compare;
mod connect_commands;
mod demo;
mod diagnostics;
mod doctor;
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

use clap::{Parser, Subcommand};
use std::path::Path;
use std::process::ExitCode;

/// A dynamometer for PostgreSQL systems: how much does this system hold, and can the number be believed?
#[derive(Debug, Parser)]
#[command(name = "pgdyno", version, disable_help_subcommand = true, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

/// Each command reads its own arguments.
#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the system that an experiment file describes
    #[command(disable_help_flag = true)]
    Run(CommandArgs),
    /// Measure a server, with pgbench's options and scripts
    #[command(disable_help_flag = true)]
    Bench(CommandArgs),
    /// Tell all mistakes in an experiment file, or what it would run
    #[command(disable_help_flag = true)]
    Check(CommandArgs),
    /// Write an experiment file to begin with
    #[command(disable_help_flag = true)]
    Init(CommandArgs),
    /// Print the JSON Schema of experiment files, for editors
    #[command(disable_help_flag = true)]
    Schema(CommandArgs),
    /// Keep the system of an experiment file up, to be explored by hand
    #[command(disable_help_flag = true)]
    Stack(CommandArgs),
    /// List, show and remove the runs that were kept
    #[command(disable_help_flag = true)]
    Runs(CommandArgs),
    /// Show runs in a browser, those that are kept and the one that goes on
    #[command(disable_help_flag = true)]
    Serve(CommandArgs),
    /// Write a run as a page: HTML, Markdown, JSON or JUnit
    #[command(disable_help_flag = true)]
    Report(CommandArgs),
    /// Compare runs: what changed, and can that be said?
    #[command(disable_help_flag = true)]
    Compare(CommandArgs),
    /// Show when an experiment's figures changed, over all its runs
    #[command(disable_help_flag = true)]
    History(CommandArgs),
    /// Tell which indexes would help the statements of a run, and which statements none helps
    #[command(disable_help_flag = true)]
    Advise(CommandArgs),
    /// Write a run as CSV, JSON or for HdrHistogram's tools
    #[command(disable_help_flag = true)]
    Export(CommandArgs),
    /// Preview a schedule of arrivals
    #[command(disable_help_flag = true)]
    Schedule(CommandArgs),
    /// Start a throw-away server, measure it, leave nothing running
    #[command(disable_help_flag = true)]
    Demo(CommandArgs),
    /// Print what this machine offers, and what each missing thing would enable
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
        return terminal::finish(bench::main("pgbench", &rest));
    }
    let command = match Args::try_parse() {
        Ok(it) => it.command,
        Err(error) => return terminal::finish(terminal::usage(&error)),
    };
    terminal::finish(match command {
        Command::Bench(it) => bench::main("pgdyno bench", &it.args),
        Command::Run(it) => run::main(&it.args),
        Command::Check(it) => check::main(&it.args),
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
        Command::Keeper => stack::supervisor::keeper::main(),
    })
}
