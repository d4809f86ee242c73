//! `pgdyno try`: executes each operation once, and prints its statements or requests with their responses

use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::run::display::RunDisplay;
use crate::run::known_nodes::KnownNodes;
use crate::run::preflight::{Preflight, execution, trace_text, without_replicas};
use crate::run::test_bed::TestBed;
use clap::Parser;
use experiment::{Plan, nearest};
use model::Outcome;
use model::message;
use model::plan::{ON_START, Operation};
use report::lang::Lang;
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
    let setup = &plan.experiment.cells[0].setup;
    if setup.operations.iter().all(|it| it.kind.is_recorded()) {
        return Err(CommandError::usage(message!("try-replay")));
    }
    let operations = &setup.operations;
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
    let cell = trace_text::cell_heading(0, plan.experiment.cells.len(), display.cell_name(0), lang);
    display.begin_trial(0, 0, None);
    let ready = test_bed.set_up(&setup, &KnownNodes::default(), &mut |it| display.update(&it));
    ready.map_err(|it| CommandError::new(it.message()))?;
    // Dropping the display flushes it, so that all its output precedes the responses.
    drop(display);
    let mut preflight = Preflight::default();
    preflight.prepare(&plan.experiment.cells[..1], &setup, &mut test_bed)?;
    if !preflight.errors.is_empty() {
        preflight.print(&terminal.program, false, lang);
    }
    out!("{cell}");
    let mut failed = !preflight.errors.is_empty();
    let on_start = setup.on_start.as_deref();
    for operation in on_start.into_iter().chain(operations.iter().copied()) {
        let seed = plan.experiment.seed;
        let execution = execution::execute(&setup, operation, &mut test_bed, seed)?;
        out!("{}", trace_text::describe(&operation.name, &execution, lang));
        let is_ok = execution.outcome == Some(Outcome::Ok);
        failed |= !is_ok;
        // Without its start, a client executes no operation.
        if !is_ok && operation.name == ON_START {
            break;
        }
    }
    Ok(if failed { ExitStatus::Incomplete } else { ExitStatus::Success })
}
