//! Results of a run, as printed at its end
//!
//! All results are computed from the run's file, so later versions can show them again.

use crate::cli::CommandError;
use crate::connect_commands::shell_quote;
use crate::run_file::is_benchmark;
use crate::run_name;
use crate::run_result;
use crate::terminal;
use model::run_result::{RunInfo, RunResult, RunState, TrialResult};
use report::closing::{self, NextCommand};
use report::json_document::{RunDocument, to_json};
use report::lang::Lang;
use report::matrix::TerminalStyle;
use report::plot::CharacterSet;
use report::say;
use std::fs;
use std::path::Path;
use store::RunEntry;

/// Width of the output without a terminal, and maximum width on a terminal.
const WIDTH: usize = 120;

/// The result of a run, ready to print.
#[derive(Debug)]
pub struct RunReport(RunResult);

impl RunReport {
    /// Reads and evaluates a run's file.
    pub fn from_file(path: &Path) -> Result<RunReport, CommandError> {
        run_result::from_file(path).map(RunReport)
    }

    pub fn result(&self) -> &RunResult {
        &self.0
    }

    /// Text for standard output.
    pub fn text(&self, lang: &Lang) -> String {
        let RunReport(account) = self;
        let lang = lang.for_experiment(&account.experiment);
        let searched = report::search_text::render(account, style(), lang);
        let separator = if searched.is_empty() { "" } else { "\n" };
        let matrix = report::matrix::render(&account.matrix, &account.findings, style(), lang);
        let sizes = report::sizes::text(account, style(), lang);
        let steps = report::steps::text(account, style(), lang);
        format!("{searched}{separator}{matrix}{sizes}{steps}")
    }

    pub fn trials(&self) -> &[TrialResult] {
        &self.0.trials
    }

    /// Contents of [`RunReport::text`] and further details.
    pub fn document(&self) -> RunDocument<'_> {
        RunDocument::from(&self.0)
    }

    /// Prints the result to standard output. `path` is the run's file.
    pub fn print(&self, json: bool, path: &Path, lang: &Lang) {
        if json {
            terminal::json(&to_json(&self.document()));
        } else {
            out!("\n{}", self.text(lang));
            self.print_closing(path, lang);
        }
    }

    /// Prints the last lines: the answer, the verdict, and the next commands.
    pub fn print_closing(&self, path: &Path, lang: &Lang) {
        let next = next_commands(path, &self.0.info, lang);
        out!("{}", closing::render(&closing::for_run(&self.0, next, lang), style(), lang));
    }
}

/// Commands that may follow a run in the file `path`.
fn next_commands(path: &Path, info: &RunInfo, lang: &Lang) -> Vec<NextCommand> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let is_default = fs::canonicalize(run_name::DIRECTORY).is_ok_and(|it| it == directory);
    let option = |name: &str| match is_default {
        true => String::new(),
        false => format!(" --{name} {}", shell_quote(&directory.to_string_lossy())),
    };
    let all = store::list(directory).unwrap_or_default();
    // Another run may have begun later.
    let is_last = all.first().is_some_and(|it| it.path == path);
    let run = if is_last { "last" } else { info.name.as_str() };
    let experiment = |entry: &RunEntry| entry.overview.as_ref().ok().map(|it| it.header.name.clone());
    let position = all.iter().position(|it| it.path == path);
    let name = position.and_then(|it| experiment(&all[it]));
    let mut older = all.iter().enumerate().skip(position.map_or(all.len(), |it| it + 1));
    let earlier = older.find(|(_, it)| name.is_some() && experiment(it) == name);
    let mut next = Vec::new();
    let mut add = |command, purpose| next.push(NextCommand { command, purpose });
    if info.state == RunState::Interrupted && !is_benchmark(&info.command) {
        add(format!("pgdyno run --resume {run}{}", option("out")), say!(lang, "closing-resume"));
    }
    add(format!("pgdyno report {run}{}", option("dir")), say!(lang, "closing-report"));
    if let Some((number, entry)) = earlier {
        let base = if is_last { format!("last~{number}") } else { entry.name.clone() };
        add(format!("pgdyno compare {base} {run}{}", option("dir")), say!(lang, "closing-compare"));
    }
    next
}

pub fn style() -> TerminalStyle {
    let out = std::io::stdout();
    let width = terminal::columns(&out).unwrap_or(WIDTH).clamp(60, WIDTH);
    TerminalStyle { width, characters: CharacterSet::Utf8, colour: terminal::is_styled(&out) }
}
