//! `pgdyno check`: prints the diagnostics of an experiment file, or a summary of its plan

use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::run::display::RunDisplay;
use crate::run::preflight::Preflight;
use crate::run::test_bed::TestBed;
use clap::Parser;
use experiment::Plan;
use report::lang::Lang;
use report::say;
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
    /// Start the system, load the data, and let the server check every statement
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

/// Starts the systems of the plan, prepares all statements, and prints the errors or the plan. The exit status is 1 if a
/// system could not be started, and 2 after an error.
fn connect(plan: &Plan, terminal: &Terminal, lang: &'static Lang) -> ExitStatus {
    match prepare(plan, lang) {
        Err(error) => error.print(terminal),
        Ok(preflight) if preflight.errors.is_empty() => {
            out!("{}", check::overview(plan, lang));
            outln!("{}", say!(lang, "check-connected"));
            ExitStatus::Success
        }
        Ok(preflight) => {
            preflight.print(&terminal.program, lang);
            ExitStatus::Incomplete
        }
    }
}

fn prepare(plan: &Plan, lang: &'static Lang) -> Result<Preflight, CommandError> {
    let mut test_bed = TestBed::with_signals()?;
    let mut display = RunDisplay::new(plan, lang);
    let mut preflight = Preflight::default();
    let done = preflight.prepare_plan(&plan.experiment.cells, (&mut test_bed, &mut display));
    done.map(|()| preflight).map_err(|it| CommandError::new(it.message()))
}
