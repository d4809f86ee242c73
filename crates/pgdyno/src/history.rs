//! `pgdyno history`: finds when an experiment's figures changed

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::compare::{OutputFormat, print, render, source};
use crate::exit_status::ExitStatus;
use crate::run_name;
use crate::run_name::DIRECTORY;
use crate::run_result::stored::{self, StoredRun};
use crate::run_result::{self, environment};
use analysis::present::compare::{RunEnvironment, TrialFigures};
use analysis::present::history::{HistoryRun, history};
use clap::Parser;
use model::comparison::{DatedRun, RunRef};
use model::message::Message;
use model::run_result as facts;
use report::json_document::HistoryDocument;
use report::lang::Lang;
use report::say;
use std::path::{Path, PathBuf};

/// Show the runs of an experiment over time, and where the results changed
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno history")]
pub struct Args {
    /// Name of the experiment, or one of its runs [default: experiment of the newest run]
    experiment: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
    /// Directory of the stored runs
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Seed of the permutation test. It is fixed, so that the same runs always yield the same changes.
const SEED: u64 = 42;

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno history", args, show)
}

/// The figures of one run, kept after its file is closed.
struct RunFigures {
    source: RunRef,
    server: Option<String>,
    experiment: model::plan::Experiment,
    environment: facts::Environment,
    trials: Vec<Vec<TrialFigures>>,
}

fn show(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let directory = args.dir.display().to_string();
    let listed = store::list(&args.dir).map_err(|it| CommandError::new(&it))?;
    for error in listed.iter().filter_map(|entry| entry.overview.as_ref().err()) {
        terminal.warning(&say!(lang, "runs-left-out", error = Message::from(error)));
    }
    // The newest runs come first.
    let mut named: Vec<(String, PathBuf)> =
        listed.into_iter().filter_map(|it| Some((it.overview.ok()?.header.name, it.path))).collect();
    let Some(newest) = named.first().map(|it| it.0.clone()) else {
        return Err(CommandError::new(say!(lang, "runs-none", directory)));
    };
    let name = match &args.experiment {
        None => newest,
        Some(name) if named.iter().any(|it| it.0 == *name) => name.clone(),
        Some(run) => {
            let path = run_name::find(&args.dir, run, terminal, lang)?;
            let header = store::Run::open(&path).and_then(|it| it.header());
            header?.name
        }
    };
    named.retain(|it| it.0 == name);
    named.reverse();
    let mut runs: Vec<RunFigures> = Vec::new();
    for (_, path) in &named {
        match read(path) {
            Ok(run) => runs.push(run),
            Err(error) => terminal.warning(&say!(lang, "runs-left-out", error = &error.message)),
        }
    }
    if runs.is_empty() {
        return Err(CommandError::new(say!(lang, "runs-all-unreadable", experiment = &name, directory)));
    }
    let all: Vec<HistoryRun<'_>> = runs
        .iter()
        .map(|run| HistoryRun {
            dated: DatedRun { run: run.source.clone(), server: run.server.clone() },
            experiment: &run.experiment,
            environment: RunEnvironment {
                machine: &run.environment.machine,
                nodes: &run.environment.nodes,
                copied_data: &run.environment.copied_data,
                program: &run.source.pgdyno_version,
            },
            trials: run.trials.clone(),
        })
        .collect();
    let history = history(&name, &all, SEED);
    let page = |lang: &Lang| report::comparison::history(&history, lang);
    print(&render(&page, args.format, Vec::new(), lang, &HistoryDocument { history: &history }), args.format);
    Ok(ExitStatus::Success)
}

fn read(path: &Path) -> Result<RunFigures, CommandError> {
    let reading = StoredRun::from_file(path)?;
    let mut trials = vec![Vec::new(); reading.experiment.cells.len()];
    let mut server = None;
    for facts in stored::facts(&run_result::counted_trials(&reading)) {
        let Some(summary) = facts.valid() else { continue };
        server.get_or_insert_with(|| summary.server.version.clone());
        trials[facts.cell].extend(TrialFigures::from_facts(&facts));
    }
    let (source, run_environment) = (source(path, &reading.header), environment(&reading));
    Ok(RunFigures { source, server, environment: run_environment, trials, experiment: reading.experiment })
}
