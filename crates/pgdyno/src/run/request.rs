//! Inputs of a run, and the file that stores it

use super::completed::{self, CompletedTrial};
use super::{Args, now_ms};
use crate::check::{self, PlanError};
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::connect_commands::shell_quote;
use crate::run_name;
use crate::run_result::stored;
use experiment::Plan;
use model::fact::Fact;
use model::plan::Experiment;
use report::lang::Lang;
use report::say;
use serde::Deserialize;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use store::{RunHeader, Writer};

/// A run that is about to start or to resume.
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
    /// Experiment file, and its text.
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

/// Rejects a run file that others may have written. Resuming would execute its contents, so the file must belong to the
/// user alone.
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

/// Request to resume a run. The plan comes from the run's file, as it was parsed when the run began.
fn resumed(dir: &Path, run: &Path, lang: &Lang) -> Result<RunRequest, CommandError> {
    let to_command_error = |it: store::Error| CommandError::new(it.to_string());
    let terminal = Terminal { program: "pgdyno run".to_owned() };
    let path = run_name::find(dir, &run.to_string_lossy(), &terminal, lang)?;
    check_owner(&path, lang)?;
    let header = store::Run::open(&path).and_then(|it| it.header()).map_err(to_command_error)?;
    let experiment = Experiment::deserialize(&header.experiment).map_err(|error| {
        let (path, error) = (path.display().to_string(), error.to_string());
        CommandError::new(say!(lang, "runs-other-version", path, error))
    })?;
    let duration = experiment.cells.iter().map(|it| it.setup.load.warmup + stored::load_duration(&it.setup));
    let plan = Plan { durations: duration.collect(), warnings: Vec::new(), experiment };
    Ok(RunRequest { plan, completed: completed::read_all(&path)?, source: RunSource::Resumed(path) })
}

/// Opens the file of a resumed run, or creates a new one in the output directory.
pub(super) fn open_file(args: &Args, request: &RunRequest) -> Result<Writer, CommandError> {
    let to_command_error = |it: store::Error| CommandError::new(it.to_string());
    let (file, text) = match &request.source {
        RunSource::Resumed(path) => return store::resume(path, now_ms()).map_err(to_command_error),
        RunSource::Experiment { file, text } => (file, text),
    };
    let header = header(&request.plan.experiment, text.clone());
    let writer = store::create(&args.out, &header).map_err(to_command_error)?;
    writer.fact(None, Fact::Command(repeat_command(args, file)));
    Ok(writer)
}

/// Header of a run before its first trial. `text` is the experiment file.
pub fn header(experiment: &Experiment, text: String) -> RunHeader {
    RunHeader {
        name: experiment.name.clone(),
        text,
        experiment: serde_json::to_value(experiment).expect("plain data can be serialised"),
        machine: serde_json::to_value(stack::host::Host::detect()).expect("plain data can be serialised"),
        // The versions of the stack are stored with its nodes.
        versions: Vec::new(),
        seed: experiment.seed,
        pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        begun_ms: now_ms(),
    }
}

/// Shell command that repeats the run. It contains no password, because files and `--set` reject passwords.
fn repeat_command(args: &Args, file: &Path) -> String {
    let mut words = vec!["pgdyno".to_owned(), "run".to_owned(), shell_quote(&file.to_string_lossy())];
    words.extend(args.set.iter().flat_map(|it| ["--set".to_owned(), shell_quote(it)]));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.join(" ")
}
