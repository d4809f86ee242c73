//! What came out of a run?
//!
//! Everything here repeats from the run's file, so it can be shown again at any time, by any later version.

use crate::cli::CommandError;
use crate::run_result;
use crate::terminal;
use model::Summary;
use model::plan::{Operation, Setup};
use model::run_result::RunResult;
use model::summary::ScriptSummary;
use report::lang::Lang;
use report::matrix::TerminalStyle;
use report::plot::CharacterSet;
use rustix::termios::{isatty, tcgetwinsize};
use serde_json::{Value, json};
use std::path::Path;

/// Columns where there is no terminal, or a very wide one.
const WIDTH: usize = 120;

/// The cells and what follows from them.
#[derive(Debug)]
pub struct RunReport(RunResult);

impl RunReport {
    /// Reads the run's file and judges it.
    pub fn from_file(path: &Path) -> Result<RunReport, CommandError> {
        run_result::from_file(path).map(RunReport)
    }

    /// As it is shown on standard output.
    pub fn text(&self, lang: &dyn Lang) -> String {
        let RunReport(account) = self;
        let searched = report::search_text::render(account, style(), lang);
        let between = if searched.is_empty() { "" } else { "\n" };
        let matrix = report::matrix::render(&account.matrix, &account.findings, style(), lang);
        let sizes = report::sizes::text(account, style(), lang);
        format!("{searched}{between}{matrix}{sizes}")
    }

    /// The same, and more, for machines.
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
        if let Some(it) = &account.plateau {
            json["plateau"] = serde_json::to_value(it).expect("plain data");
        }
        json
    }

    /// Prints it to standard output.
    pub fn print(&self, json: bool, lang: &dyn Lang) {
        if json {
            terminal::json(
                &(serde_json::to_string_pretty(&self.json()).expect("strings as keys only") + "\n"),
            );
        } else {
            out!("\n{}", self.text(lang));
        }
    }
}

/// Sizes of answers, by cell and operation.
fn sizes(account: &RunResult) -> impl Iterator<Item = Value> {
    let operations = (0..)
        .zip(&account.cells)
        .flat_map(|(cell, it): (usize, _)| it.operations.iter().map(move |it| (cell, it)));
    operations
        .filter_map(|(cell, it)| Some(json!({ "cell": cell, "operation": it.name, "sizes": it.sizes? })))
}

/// Subject of the note that tells what repeats the run.
pub const COMMAND: &str = "command";
/// Subject of the note that tells what went wrong on purpose in a trial, and what came of it.
pub const FAULT_INJECTION: &str = "ordeal";
/// Subject of the note that tells how old what replicas showed in a trial was.
pub const FRESHNESS: &str = "freshness";
/// Subject of the note that tells which rule ended a trial.
pub const FIRED: &str = "fired";
/// Subject of the note with the outages of a trial.
pub const OUTAGES: &str = "outages";
/// Subject of the notes that tell how much of its table a feed can touch.
pub const FEED: &str = "feed";
/// Subject of the notes on limits of the generator that could not be applied.
pub const GENERATOR: &str = "generator";
/// Subject of the note that tells which step of a search a trial is.
pub const STEP: &str = "step";
/// Subject of the note that tells what may be a cell's cause.
pub const SUSPECTS: &str = "suspects";
/// Subject of the notes that tell what was built for a trial, `model::advice::Built`.
pub const BUILT: &str = "built";
/// Subject of the note that holds a cell's plans, `model::explain::Plans`.
pub const PLANS: &str = "plans";
/// Subject of the note that tells how much of a processor watching took.
pub const MONITORING: &str = "monitoring";

/// Why a trial failed in which nothing succeeded; `None` where something did.
pub fn nothing_succeeded(it: &Summary) -> Option<String> {
    let why = it.top_failure().map_or(String::new(), |it| format!(": {}", it.describe()));
    (it.total.counts.ok == 0).then(|| format!("no transaction succeeded{why}"))
}

/// Why a trial failed whose clients aborted; `None` where none did. `first`: why the first one did.
pub fn clients_aborted(it: &Summary, first: Option<&str>) -> Option<String> {
    let (gone, clients) = (it.generator.aborted_clients, it.plan.clients);
    let why = first.map_or(String::new(), |it| format!(": {it}"));
    (gone > 0)
        .then(|| format!("{gone} of {clients} clients gave up, because their script could not go on{why}"))
}

/// Operations that never succeeded while others did: their names, and why.
pub fn never_succeeded(setup: &Setup, it: &Summary) -> Vec<(String, String)> {
    let named = setup.operations.iter().zip(&it.scripts);
    let failed = named.filter(|(_, script)| {
        it.total.counts.ok > 0 && script.group.counts.ok == 0 && script.group.counts.arrivals() > 0
    });
    let told = |(operation, script): (&Operation, &ScriptSummary)| {
        let why = script.failures.first().map_or(String::new(), |it| format!(": {}", it.describe()));
        let arrivals = script.group.counts.arrivals();
        (operation.name.clone(), format!("none of {arrivals} transactions succeeded{why}"))
    };
    failed.map(told).collect()
}

pub fn style() -> TerminalStyle {
    let out = std::io::stdout();
    let terminal = isatty(&out);
    let width = tcgetwinsize(&out).ok().map(|it| usize::from(it.ws_col)).filter(|_| terminal);
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    TerminalStyle { width: width.unwrap_or(WIDTH).clamp(60, WIDTH), characters: CharacterSet::Utf8, colour }
}
