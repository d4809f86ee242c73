//! Functions of all commands, and the definition of the whole command line

use crate::command_list::all;
use crate::exit_status::ExitStatus;
use crate::{
    advise, agent_command, agents_command, bench, capture, check_command, compare, completions, demo, distil,
    doctor, export, help, history, import, init, judge, manual, record, report, run, runs, schedule, schema,
    serve, stack_command, try_command,
};
use clap::{Command, CommandFactory as _};

/// Runs a command with the arguments after its name.
type Main = fn(&[String]) -> ExitStatus;
/// Definition of a command's arguments.
type Arguments = fn() -> Command;

pub fn find(name: &str) -> Option<(Main, Arguments)> {
    Some(match name {
        "demo" => (demo::main, demo::Args::command),
        "init" => (init::main, init::Args::command),
        "bench" => (|args| bench::main("pgdyno bench", args), bench::arguments),
        "doctor" => (doctor::main, doctor::Args::command),
        "check" => (check_command::main, check_command::Args::command),
        "try" => (try_command::main, try_command::Args::command),
        "run" => (run::main, run::Args::command),
        "stack" => (stack_command::main, stack_command::Args::command),
        "capture" => (capture::main, capture::Args::command),
        "record" => (record::main, record::Args::command),
        "distil" => (distil::main, distil::Args::command),
        "import" => (import::main, import::Args::command),
        "schedule" => (schedule::main, schedule::Args::command),
        "schema" => (schema::main, schema::Args::command),
        "report" => (report::main, report::Args::command),
        "compare" => (compare::main, compare::Args::command),
        "runs" => (runs::main, runs::Args::command),
        "agents" => (agents_command::main, agents_command::Args::command),
        "agent" => (agent_command::main, agent_command::Args::command),
        "serve" => (serve::main, serve::Args::command),
        "history" => (history::main, history::Args::command),
        "advise" => (advise::main, advise::Args::command),
        "judge" => (judge::main, judge::Args::command),
        "export" => (export::main, export::Args::command),
        "help" => {
            (|_| unreachable!("`main` has replaced the command by the option"), || Command::new("help"))
        }
        "manual" => (|args| manual::main(args, &tree()), manual::Args::command),
        "completions" => (completions::main, completions::Args::command),
        _ => return None,
    })
}

/// Definition of the whole command line, with the arguments of every command.
pub fn tree() -> Command {
    let commands = all().map(|entry| {
        let program = format!("pgdyno {}", entry.name);
        let (_, arguments) = find(entry.name).expect("every command of the list has functions");
        arguments().name(entry.name).after_help(help::examples(&program)).bin_name(program)
    });
    Command::new("pgdyno")
        .about("Load generator and measuring instrument for PostgreSQL systems")
        .disable_help_subcommand(true)
        .subcommands(commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_list::CommandDescription;
    use std::path::Path;

    #[test]
    fn every_command_has_examples_and_documentation() {
        let first: Vec<&str> = all().map(|command| command.name).take(2).collect();
        assert_eq!(first, ["demo", "init"]);
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
        for CommandDescription { name, examples, page, .. } in all() {
            let (_, arguments) = find(name).expect("functions of the command");
            assert!(project.join(page).is_file(), "{name}: {page}");
            assert!(!examples.is_empty(), "{name}");
            for example in *examples {
                let command = example.split(" > ").next().unwrap_or_default();
                // Text in single quotes is one word.
                let parts = command.split('\'').enumerate();
                let words = parts.flat_map(|(i, part)| match i % 2 {
                    0 => part.split_whitespace().collect(),
                    _ => vec![part],
                });
                let words: Vec<&str> = words.collect();
                assert_eq!(words[..2], ["pgdyno", name], "{example}");
                let parsed = arguments().try_get_matches_from(&words[1..]);
                assert!(parsed.is_ok() || *name == "help", "{example}: {parsed:?}");
            }
        }
    }
}
