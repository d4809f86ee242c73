//! Results of a run, as printed after it
//!
//! Everything is computed from the run's file, so any later version can show it again.

use crate::cli::CommandError;
use crate::run_result;
use crate::terminal;
use model::run_result::{RunResult, TrialResult};
use report::json_document::{RunDocument, to_json};
use report::lang::Lang;
use report::matrix::TerminalStyle;
use report::plot::CharacterSet;
use rustix::termios::{isatty, tcgetwinsize};
use std::path::Path;

/// Width of the output without a terminal, and its upper bound in a wide one.
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
        let searched = report::search_text::render(account, style(), lang);
        let between = if searched.is_empty() { "" } else { "\n" };
        let matrix = report::matrix::render(&account.matrix, &account.findings, style(), lang);
        let sizes = report::sizes::text(account, style(), lang);
        format!("{searched}{between}{matrix}{sizes}")
    }

    pub fn trials(&self) -> &[TrialResult] {
        &self.0.trials
    }

    /// Contents of [`RunReport::text`] and further details.
    pub fn document(&self) -> RunDocument<'_> {
        RunDocument::from(&self.0)
    }

    /// Prints the result to standard output.
    pub fn print(&self, json: bool, lang: &Lang) {
        if json {
            terminal::json(&to_json(&self.document()));
        } else {
            out!("\n{}", self.text(lang));
        }
    }
}

pub fn style() -> TerminalStyle {
    let out = std::io::stdout();
    let terminal = isatty(&out);
    let width = tcgetwinsize(&out).ok().map(|it| usize::from(it.ws_col)).filter(|_| terminal);
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    TerminalStyle { width: width.unwrap_or(WIDTH).clamp(60, WIDTH), characters: CharacterSet::Utf8, colour }
}
