//! Results of a run, as printed after it
//!
//! Everything is computed from the run's file, so any later version can show it again.

use crate::cli::CommandError;
use crate::run_result;
use crate::terminal;
use model::run_result::{OperationResult, RunResult};
use report::lang::Lang;
use report::matrix::TerminalStyle;
use report::plot::CharacterSet;
use rustix::termios::{isatty, tcgetwinsize};
use serde_json::{Value, json};
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

    /// Text for standard output.
    pub fn text(&self, lang: &Lang) -> String {
        let RunReport(account) = self;
        let searched = report::search_text::render(account, style(), lang);
        let between = if searched.is_empty() { "" } else { "\n" };
        let matrix = report::matrix::render(&account.matrix, &account.findings, style(), lang);
        let sizes = report::sizes::text(account, style(), lang);
        format!("{searched}{between}{matrix}{sizes}")
    }

    /// JSON with the contents of [`RunReport::text`] and further details.
    pub fn json(&self) -> Value {
        let RunReport(account) = self;
        let mut json = report::matrix::json(&account.matrix, &account.findings);
        if !account.maxima.is_empty() {
            json["maxima"] = serde_json::to_value(&account.maxima).expect("plain data");
        }
        if !account.soaks.is_empty() {
            json["endured"] = serde_json::to_value(&account.soaks).expect("plain data");
        }
        if !account.failovers.is_empty() {
            json["survivals"] = serde_json::to_value(&account.failovers).expect("plain data");
        }
        if !account.freshness.is_empty() {
            json["freshness"] = serde_json::to_value(&account.freshness).expect("plain data");
        }
        let sizes: Vec<Value> = sizes(account).collect();
        if !sizes.is_empty() {
            json["sizes"] = sizes.into();
        }
        let rows: Vec<Value> = rows(account).collect();
        if !rows.is_empty() {
            json["rows"] = rows.into();
        }
        if let Some(it) = &account.plateau {
            json["plateau"] = serde_json::to_value(it).expect("plain data");
        }
        json
    }

    /// Prints the result to standard output.
    pub fn print(&self, json: bool, lang: &Lang) {
        if json {
            terminal::json(
                &(serde_json::to_string_pretty(&self.json()).expect("strings as keys only") + "\n"),
            );
        } else {
            out!("\n{}", self.text(lang));
        }
    }
}

/// Results of all operations, with the index of their cell.
fn operations(account: &RunResult) -> impl Iterator<Item = (usize, &OperationResult)> {
    let cells = (0..).zip(&account.cells);
    cells.flat_map(|(cell, result): (usize, _)| result.operations.iter().map(move |it| (cell, it)))
}

/// Rows of statements by cell and operation.
fn rows(account: &RunResult) -> impl Iterator<Item = Value> {
    operations(account)
        .filter(|(_, it)| !it.rows.is_empty())
        .map(|(cell, it)| json!({ "cell": cell, "operation": it.name, "statements": it.rows }))
}

/// Response sizes by cell and operation.
fn sizes(account: &RunResult) -> impl Iterator<Item = Value> {
    operations(account)
        .filter_map(|(cell, it)| Some(json!({ "cell": cell, "operation": it.name, "sizes": it.sizes? })))
}

pub fn style() -> TerminalStyle {
    let out = std::io::stdout();
    let terminal = isatty(&out);
    let width = tcgetwinsize(&out).ok().map(|it| usize::from(it.ws_col)).filter(|_| terminal);
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    TerminalStyle { width: width.unwrap_or(WIDTH).clamp(60, WIDTH), characters: CharacterSet::Utf8, colour }
}
