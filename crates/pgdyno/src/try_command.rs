//! `pgdyno try`: executes each operation once, and prints its statements or requests with their answers

use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, characters};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::run::display::RunDisplay;
use crate::run::known_nodes::KnownNodes;
use crate::run::preflight::execution::{self, Execution, TraceEntry};
use crate::run::preflight::{Preflight, without_replicas};
use crate::run::test_bed::TestBed;
use clap::Parser;
use experiment::{Plan, nearest};
use model::Outcome;
use model::plan::Operation;
use report::lang::Lang;
use report::live::truncate;
use report::say;
use std::path::PathBuf;

/// Execute each operation of an experiment file once, and print its statements or requests with the answers
///
/// Starts the system and loads the data, as `pgdyno run` does, and executes the operations of the first cell. On an
/// attached system without a dataset, the changes remain.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno try")]
pub struct Args {
    /// Experiment file
    file: PathBuf,
    /// Name of an operation [default: all]
    operation: Option<String>,
    /// Override a value of the file, such as pooler.size=24; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Apply the overrides of the file's section `quick`
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Maximum length of an output line, in columns.
const COLUMNS: usize = 80;
/// Maximum number of printed lines of a statement, request or response.
const LINES_MAX: usize = 30;

/// Runs the command. The exit status is 1 if the system could not be started, and 2 if the file has errors or an
/// operation failed.
pub fn main(args: &[String]) -> ExitStatus {
    let args: Args = match command::parse("pgdyno try", args) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let terminal = Terminal { program: "pgdyno try".to_owned() };
    run(&args, &terminal).unwrap_or_else(|error| error.print(&terminal))
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let plan = match check::read(&args.file, &args.set, args.quick) {
        Ok(plan) => plan,
        Err(error) => return Ok(error.print(&terminal.program, lang)),
    };
    let operations = &plan.experiment.cells[0].setup.operations;
    let chosen: Vec<&Operation> =
        operations.iter().filter(|it| args.operation.as_ref().is_none_or(|name| it.name == *name)).collect();
    if let (Some(name), []) = (&args.operation, chosen.as_slice()) {
        let names = operations.iter().map(|it| it.name.as_str());
        terminal.error(&say!(lang, "try-unknown-operation", name));
        let all = names.clone().collect::<Vec<_>>().join(", ");
        terminal.hint(&say!(lang, "try-operations", nearest = nearest(name, names), all));
        return Ok(ExitStatus::Incomplete);
    }
    try_operations(&plan, &chosen, terminal, lang)
}

/// Starts the system of the first cell and executes the operations one after the other.
fn try_operations(
    plan: &Plan,
    operations: &[&Operation],
    terminal: &Terminal,
    lang: &'static Lang,
) -> Result<ExitStatus, CommandError> {
    let setup = without_replicas(&plan.experiment.cells[0].setup);
    let mut test_bed = TestBed::with_signals()?;
    let mut display = RunDisplay::new(plan, lang);
    display.begin_trial(0, 0, None);
    let ready = test_bed.set_up(&setup, &KnownNodes::default(), &mut |it| display.update(&it));
    ready.map_err(|it| CommandError::new(it.message()))?;
    // Dropping the display flushes it, so that all its output precedes the responses.
    drop(display);
    let mut preflight = Preflight::default();
    preflight.prepare(&plan.experiment.cells[..1], &setup, &mut test_bed)?;
    if !preflight.errors.is_empty() {
        preflight.print(&terminal.program, lang);
    }
    let mut failed = !preflight.errors.is_empty();
    for operation in operations {
        let seed = plan.experiment.seed;
        let execution = execution::execute(&setup, operation, &mut test_bed, seed)?;
        out!("{}", describe(operation, &execution, lang));
        failed |= execution.outcome != Some(Outcome::Ok);
    }
    Ok(if failed { ExitStatus::Incomplete } else { ExitStatus::Success })
}

/// Text about the execution of an operation, in lines of at most [`COLUMNS`] columns.
fn describe(operation: &Operation, execution: &Execution, lang: &Lang) -> String {
    let mut lines = vec![say!(lang, "try-operation", name = &operation.name)];
    for entry in &execution.entries {
        describe_entry(entry, &mut lines, lang);
    }
    let time = lang.numbers().time(execution.elapsed);
    let end = match (&execution.outcome, &execution.reason) {
        (Some(Outcome::Ok), _) => say!(lang, "try-succeeded", time),
        (Some(Outcome::Failed(code) | Outcome::Unknown(code)), Some(reason)) => {
            say!(lang, "try-failed", reason = format!("{code} {reason}"))
        }
        (Some(Outcome::Failed(code) | Outcome::Unknown(code)), None) => {
            say!(lang, "try-failed", reason = code.to_string())
        }
        (Some(Outcome::Dropped), _) | (None, None) => say!(lang, "try-unfinished"),
        (None, Some(reason)) => say!(lang, "try-failed", reason),
    };
    lines.extend(end.lines().map(|it| format!("  {it}")));
    lines.iter().map(|it| truncate(&it.replace('\t', " "), COLUMNS, characters()) + "\n").collect::<String>()
        + "\n"
}

fn describe_entry(entry: &TraceEntry, lines: &mut Vec<String>, lang: &Lang) {
    let mut block = |prefix: &str, text: &str| {
        let count = text.lines().count();
        lines.extend(text.lines().take(LINES_MAX).map(|it| format!("  {prefix} {it}").trim_end().to_owned()));
        if count > LINES_MAX {
            lines.push(format!("  {prefix} …"));
        }
    };
    let assignments = |all: &[(String, String)]| {
        all.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("\n")
    };
    match entry {
        TraceEntry::Statement { text, variables, .. } => {
            block(">", text);
            block("   ", &assignments(variables));
        }
        TraceEntry::Columns(names) => block("<", &names.join(" | ")),
        TraceEntry::Row(values) => {
            let values: Vec<&str> = values.iter().map(|it| it.as_deref().unwrap_or("NULL")).collect();
            block("<", &values.join(" | ").replace(['\n', '\r'], " "));
        }
        TraceEntry::MoreRows(count) => block("<", &say!(lang, "try-more-rows", count = *count)),
        TraceEntry::Tag(text) | TraceEntry::Message(text) => block("<", text),
        TraceEntry::Request(text) => block(">", text),
        TraceEntry::Response { head, body, length } => {
            block("<", &format!("{head}\n\n{body}"));
            if *length > body.len() as u64 {
                block("<", &say!(lang, "try-body-length", bytes = lang.numbers().bytes(*length as f64)));
            }
        }
        TraceEntry::Finished { elapsed, captures } => {
            block("   ", &assignments(captures));
            block("   ", &lang.numbers().time(*elapsed));
        }
    }
}
