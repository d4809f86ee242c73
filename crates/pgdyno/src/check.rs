//! Reads an experiment file: its diagnostics, or its plan with a summary

mod describe;
mod feeds;
mod grammars;
mod load_text;
mod overview;
pub mod run_length;
mod settings;
mod setup_warnings;

pub use grammars::parse_rule;
pub use overview::{limits, overview};

use crate::diagnostics;
use crate::exit_status::ExitStatus;
use crate::feed_requests::RequestReader;
use crate::files;
use crate::recording;
use analysis::verdict::rule::RuleContext;
use experiment::{Diagnostics, Plan, ReadRequest};
use model::message;
use model::message::Message;
use model::plan::Experiment;
use report::lang::Lang;
use report::say;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Reasons why a file yields no plan.
#[derive(Debug)]
pub enum PlanError {
    /// The file cannot be read.
    Unreadable {
        path: PathBuf,
        error: Message,
    },
    Invalid(Diagnostics),
}

impl PlanError {
    /// Prints the error to standard error.
    pub fn print(&self, program: &str, lang: &Lang) -> ExitStatus {
        match self {
            PlanError::Unreadable { path, error } => {
                let path = path.display().to_string();
                errln!("{program}: error: {}", say!(lang, "check-unreadable", path, error));
            }
            PlanError::Invalid(all) => err!("{}", diagnostics::render(all, diagnostics::use_colour(), lang)),
        }
        ExitStatus::Incomplete
    }
}

/// Reads and plans an experiment file. Starts nothing.
pub fn read(path: &Path, sets: &[String], quick: bool) -> Result<Plan, PlanError> {
    read_with_text(path, sets, quick).map(|it| it.0)
}

/// Reads and plans an experiment file. Also returns the file's text, because a pipe can be read only once.
pub fn read_with_text(path: &Path, sets: &[String], quick: bool) -> Result<(Plan, String), PlanError> {
    let unreadable = |error| PlanError::Unreadable { path: path.to_owned(), error: Message::from(&error) };
    let text = read_text(path).map_err(unreadable)?;
    let plan = plan(path, &text, sets, quick).map_err(PlanError::Invalid)?;
    Ok((plan, text))
}

/// Plan from the text of an experiment file. `path` appears in diagnostics. Relative file names are relative to its
/// directory.
pub fn plan(path: &Path, text: &str, sets: &[String], quick: bool) -> Result<Plan, Diagnostics> {
    let requests = RequestReader::default();
    let request = ReadRequest {
        path,
        text,
        sets,
        quick,
        grammars: grammars::ALL,
        read: &read_text,
        columns: &feeds::columns,
        log_sample: &feeds::check_log_sample,
        requests: &|source| requests.read(source),
        recording: &recording::describe,
        dump: &stack::dataset::describe_dump,
    };
    experiment::read(&request)
}

/// Maximum size, in bytes, of an experiment file or of a script file. The YAML parser needs ten times this size in
/// memory.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Text of an experiment file or script. Files above [`FILE_BYTES_MAX`] are rejected.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    files::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(message!("check-file-too-long", mebibytes = FILE_BYTES_MAX >> 20).into_io_error());
    }
    String::from_utf8(text).map_err(|error| {
        let byte = error.utf8_error().valid_up_to().to_string();
        message!("check-file-not-utf8", byte).into_io_error()
    })
}

/// Note, printed at the end of a run, about limits of the result.
pub fn limits_of_result(experiment: &Experiment, quick: bool, lang: &Lang) -> Option<String> {
    let few = setup_warnings::few_repeats(experiment);
    if quick {
        let least = few.map(|_| setup_warnings::TRIALS_MIN.to_string());
        return Some(say!(lang, "run-quick", least));
    }
    few.map(|warning| lang.message(&warning))
}

/// Warnings about probable mistakes, and about stop rules that Yandex.Tank interprets differently. Each warning appears
/// once, together with its rule.
pub fn warnings(plan: &Plan, lang: &Lang) -> Vec<String> {
    let setup = setup_warnings::warnings(&plan.experiment);
    let mut all: Vec<String> = plan.warnings.iter().chain(&setup).map(|it| lang.message(it)).collect();
    for cell in &plan.experiment.cells {
        for text in &cell.setup.stop_rules {
            let warnings = analysis::verdict::rule::parse(text, &RuleContext::for_setup(&cell.setup))
                .map(|rule| rule.warnings);
            for warning in warnings.unwrap_or_default() {
                let warning = format!("{text}: {}", lang.difference(&warning));
                if !all.contains(&warning) {
                    all.push(warning);
                }
            }
        }
    }
    all
}
