//! Inputs of a run, and the file that stores it

use super::Args;
use super::completed::{self, CompletedTrial};
use crate::check::{self, PlanError};
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::connect_commands::shell_quote;
use crate::run_file::{header, is_benchmark, now_ms};
use crate::run_name;
use crate::run_result::stored::{self, StoredRun};
use experiment::Plan;
use model::fact::Fact;
use model::plan::{Content, Experiment};
use report::lang::Lang;
use report::say;
use serde::Deserialize;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use store::Writer;

/// A run that will be started or resumed.
#[derive(Debug)]
pub struct RunRequest {
    pub plan: Plan,
    /// Trials that a resumed run has already measured.
    pub completed: Vec<CompletedTrial>,
    source: RunSource,
}

/// Source of a run's plan.
#[derive(Debug)]
enum RunSource {
    /// Experiment file with its text.
    Experiment { file: PathBuf, text: String },
    /// File of the run that is resumed.
    Resumed(PathBuf),
}

/// Reads the request from the arguments. Starts nothing.
pub(super) fn read_request(args: &Args, lang: &Lang) -> Result<Result<RunRequest, PlanError>, CommandError> {
    if let Some(run) = &args.resume {
        return resumed(&args.out, run, lang).map(Ok);
    }
    let file = args.file.as_ref().expect("clap wants one of both");
    let read = check::read_with_text(file, &args.set, args.quick);
    Ok(read.map(|(plan, text)| {
        let source = RunSource::Experiment { file: file.clone(), text };
        RunRequest { plan, completed: Vec::new(), source }
    }))
}

/// Rejects a run file that other users could have changed. Resuming a run executes commands from its file, so only the
/// user may have access to the file.
pub fn check_owner(path: &Path, lang: &Lang) -> Result<(), CommandError> {
    let shown = path.display().to_string();
    let failed = |error: io::Error| {
        CommandError::new(say!(lang, "check-unreadable", path = &shown, error = os_error_text(&error)))
    };
    let meta = std::fs::metadata(path).map_err(failed)?;
    let mode = meta.mode() & 0o777;
    let reason = if meta.uid() != rustix::process::geteuid().as_raw() {
        say!(lang, "run-other-owner")
    } else if mode & 0o077 != 0 {
        say!(lang, "run-other-mode", mode = format!("{mode:04o}"))
    } else {
        return Ok(());
    };
    let file = shell_quote(&path.to_string_lossy());
    Err(CommandError::new(say!(lang, "run-untrusted-file", path = shown, reason)).with_hint(say!(
        lang,
        "run-untrusted-file-hint",
        file
    )))
}

/// Request to resume a run. The plan is read from the run's file, in the form that was parsed when the run began.
fn resumed(dir: &Path, run: &Path, lang: &Lang) -> Result<RunRequest, CommandError> {
    let terminal = Terminal { program: "pgdyno run".to_owned() };
    let path = run_name::find(dir, &run.to_string_lossy(), &terminal, lang)?;
    check_owner(&path, lang)?;
    let header = store::Run::open(&path).and_then(|it| it.header())?;
    let experiment = Experiment::deserialize(&header.experiment).map_err(|error| {
        let (path, error) = (path.display().to_string(), error.to_string());
        CommandError::new(say!(lang, "runs-other-version", path, error))
    })?;
    let duration = experiment.cells.iter().map(|it| it.setup.load.warmup + stored::load_duration(&it.setup));
    let plan = Plan { durations: duration.collect(), warnings: Vec::new(), experiment };
    let stored = StoredRun::from_file(&path)?;
    if let Some(command) = stored.command.as_ref().filter(|it| is_benchmark(it)) {
        return Err(CommandError::new(say!(lang, "run-resumed-benchmark")).with_hint(command.clone()));
    }
    let keeps_data = plan
        .experiment
        .cells
        .iter()
        .filter_map(|it| it.setup.dataset.as_ref())
        .any(|it| it.keep || matches!(it.content, Content::Source(_)));
    if keeps_data && !stored.trials.is_empty() {
        let hint = stored.command.unwrap_or_default();
        return Err(CommandError::new(say!(lang, "run-resumed-kept")).with_hint(hint));
    }
    Ok(RunRequest { plan, completed: completed::from_stored(stored), source: RunSource::Resumed(path) })
}

/// Opens the file of a resumed run, or creates a new one in the output directory.
pub(super) fn open_file(args: &Args, request: &RunRequest) -> Result<Writer, CommandError> {
    let (file, text) = match &request.source {
        RunSource::Resumed(path) => return Ok(store::resume(path, now_ms())?),
        RunSource::Experiment { file, text } => (file, text),
    };
    let header = header(&request.plan.experiment, text.clone());
    let writer = store::create(&args.out, &header)?;
    writer.fact(None, Fact::Command(repeat_command(args, file)));
    Ok(writer)
}

/// Shell command that repeats the run. It contains no password, because files and `--set` reject passwords.
fn repeat_command(args: &Args, file: &Path) -> String {
    let mut words = vec!["pgdyno".to_owned(), "run".to_owned(), shell_quote(&file.to_string_lossy())];
    words.extend(args.set.iter().flat_map(|it| ["--set".to_owned(), shell_quote(it)]));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.join(" ")
}
