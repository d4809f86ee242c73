//! Parts of a run file that do not depend on the command that writes it

use crate::cli::CommandError;
use crate::clock;
use model::fact::Fact;
use model::message;
use model::message::Message;
use model::plan::Experiment;
use std::path::{Path, PathBuf};
use store::{RunHeader, RunOutcome, RunStatus};

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

/// Creates the file of a run without a measurement. A run that resumes it measures everything. `text` is the experiment
/// file, and `command` repeats the run.
pub fn create_unmeasured(
    directory: &Path,
    experiment: &Experiment,
    text: String,
    command: String,
) -> Result<PathBuf, CommandError> {
    let writer = store::create(directory, &header(experiment, text))?;
    writer.fact(None, Fact::Command(command));
    let outcome = RunOutcome { status: RunStatus::Interrupted, reason: None, ended_ms: now_ms() };
    Ok(writer.finish(outcome)?)
}

/// True if `pgdyno bench` wrote the run with this command. Such a run cannot be resumed.
pub fn is_benchmark(command: &str) -> bool {
    command.starts_with("pgdyno bench ")
}

/// Error that ended the writing of a run file.
pub fn write_error(error: &store::WriteError) -> Message {
    match error {
        store::WriteError::DiskFull => message!("failure-disk-full"),
        store::WriteError::Refused(cause) => message!("failure-not-written", cause),
        store::WriteError::BacklogFull => message!("failure-disk-slow"),
    }
}

/// Unix time in milliseconds.
pub fn now_ms() -> u64 {
    clock::unix_time().0 / 1_000_000
}
