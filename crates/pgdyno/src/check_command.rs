//! `pgdyno check`: prints the diagnostics of an experiment file, or a summary of its plan

use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::run::display::RunDisplay;
use crate::run::preflight::check_plan::PlanCheck;
use crate::run::test_bed::TestBed;
use clap::Parser;
use experiment::Plan;
use report::lang::Lang;
use std::path::PathBuf;

/// Check an experiment file: report all errors, or what a run would do. Starts nothing without --connect
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno check")]
pub struct Args {
    /// Experiment file (YAML); `pgdyno init` writes a template
    file: PathBuf,
    /// Override a value of the file, such as pooler.size=24 or load.clients=[8,16]; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Apply the overrides of the file's section `quick`
    #[arg(long)]
    quick: bool,
    /// Start the system, load the data, execute each operation once, and print the answers
    #[arg(long)]
    connect: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command. The exit status is 2 for wrong arguments and for diagnostics in the file.
pub fn main(args: &[String]) -> ExitStatus {
    let args: Args = match command::parse("pgdyno check", args) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let terminal = Terminal { program: "pgdyno check".to_owned() };
    let lang = match args.language.lang() {
        Ok(lang) => lang,
        Err(error) => return error.print(&terminal),
    };
    match check::read(&args.file, &args.sets, args.quick) {
        Ok(plan) if args.connect => connect(&plan, &terminal, lang.for_experiment(&plan.experiment)),
        Ok(plan) => {
            out!("{}", check::overview(&plan, lang.for_experiment(&plan.experiment)));
            ExitStatus::Success
        }
        Err(error) => error.print(&terminal.program, lang),
    }
}

/// Starts the systems of the plan, prepares all statements and executes each operation once. Prints the responses, and
/// the plan or the errors. The exit status is 1 if a system could not be started, and 2 if an operation failed or
/// received no response.
fn connect(plan: &Plan, terminal: &Terminal, lang: &'static Lang) -> ExitStatus {
    let mut check = PlanCheck::default();
    let mut display = RunDisplay::new(plan, lang);
    let names: Vec<String> =
        (0..plan.experiment.cells.len()).map(|it| display.cell_name(it).to_owned()).collect();
    let done = TestBed::with_signals().and_then(|mut test_bed| {
        let done = check.run(&plan.experiment, (&mut test_bed, &mut display));
        done.map_err(|it| CommandError::new(it.message()))
    });
    // Dropping the display flushes it, so that all its output precedes the responses.
    drop(display);
    let has_plan = done.is_ok() && check.preflight.errors.is_empty();
    if has_plan {
        outln!("{}", check::overview(plan, lang));
    }
    out!("{}", check.exchanges(&names, lang));
    if !check.preflight.errors.is_empty() {
        check.preflight.print(&terminal.program, false, lang);
    }
    if let Err(error) = done {
        return error.print(terminal);
    }
    if has_plan {
        out!("{}", check.conclusion(lang));
    }
    if check.is_successful() { ExitStatus::Success } else { ExitStatus::Incomplete }
}
