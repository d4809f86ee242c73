//! What came out of a run?
//!
//! Everything here repeats from the run's file, so it can be shown again at any time, by any later version.

use crate::voice::Trouble;
use analysis::finding::{self, TrialFacts};
use model::finding::Finding;
use model::matrix::{self, Matrix, NotApplied};
use model::plan::Experiment;
use model::stop::Fired;
use model::summary::{Plan, Server};
use model::{LogEvent, Nanos, Sample, Summary};
use report::lang::En;
use report::matrix::Style;
use report::plot::Characters;
use rustix::termios::{isatty, tcgetwinsize};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;
use store::{Note, Recorded, Run, State, Status};

/// Columns where there is no terminal, or a very wide one.
const WIDTH: usize = 120;

/// The cells and what follows from them.
#[derive(Debug)]
pub struct Judgement {
    pub matrix: Matrix,
    pub findings: Vec<Finding>,
}

/// A trial as it was stored.
struct Stored {
    recorded: Recorded,
    status: matrix::Status,
    summary: Option<Summary>,
    clients: Vec<u64>,
    samples: Vec<Sample>,
    events: Vec<LogEvent>,
    not_applied: Vec<NotApplied>,
    watching: Option<f64>,
    left: Vec<(String, u64)>,
}

impl Judgement {
    /// Reads the run's file and judges it.
    pub fn of(path: &Path) -> Result<Judgement, Trouble> {
        let trouble = |it: store::Error| Trouble::new(it.to_string());
        let run = Run::open(path).map_err(trouble)?;
        let header = run.header().map_err(trouble)?;
        let experiment: Experiment = read(path, &header.experiment)?;
        let trials = run.trials().map_err(trouble)?;
        let notes = run.notes().map_err(trouble)?;
        let stored: Vec<Stored> =
            trials.into_iter().map(|it| stored(&run, it, &notes)).collect::<Result<_, _>>()?;
        // A trial of no cell is nobody's.
        let known = |it: &&Stored| (it.recorded.trial.cell as usize) < experiment.cells.len();
        let facts: Vec<TrialFacts<'_>> =
            stored.iter().filter(known).map(|it| facts(&experiment, it)).collect();
        Ok(Judgement {
            matrix: analysis::matrix::matrix(&experiment, &facts),
            findings: finding::findings(&experiment, &facts),
        })
    }

    /// As it is shown on standard output.
    pub fn text(&self) -> String {
        report::matrix::text(&self.matrix, &self.findings, style(), &En)
    }

    /// The same, and more, for machines.
    pub fn json(&self) -> Value {
        report::matrix::json(&self.matrix, &self.findings)
    }

    /// Prints it to standard output.
    pub fn print(&self, json: bool) {
        if json {
            println!("{}", serde_json::to_string_pretty(&self.json()).expect("strings as keys only"));
        } else {
            print!("\n{}", self.text());
        }
    }
}

/// `notes`: of the whole run.
fn stored(run: &Run, recorded: Recorded, notes: &[Note]) -> Result<Stored, Trouble> {
    let trouble = |it: store::Error| Trouble::new(it.to_string());
    let id = recorded.id;
    let measured = run.measured(id).map_err(trouble)?;
    let told = recorded.summary.as_ref();
    let mut summary = match (&measured, told) {
        (Some(measured), Some(told)) => {
            let server: Server = read(run.path(), &told["server"])?;
            let plan: Plan = read(run.path(), &told["plan"])?;
            Some(analysis::summarise(measured, server, plan))
        }
        _ => None,
    };
    let mut samples = Vec::new();
    for series in finding::SERIES {
        samples.extend(run.samples(id, Some(series)).map_err(trouble)?);
    }
    let left = measured.as_ref().map(|it| finding::left(&samples, it.window)).unwrap_or_default();
    // When the load has ended, processors idle and processes end.
    let window = measured.as_ref().map_or(Nanos::ZERO, |it| it.window);
    samples.retain(|it| it.at <= window);
    if let Some(summary) = &mut summary {
        analysis::throttled(summary, finding::throttled(&samples, GENERATOR));
    }
    let of_trial = |subject| notes.iter().filter(move |it| it.trial == Some(id) && it.subject == subject);
    let of_nodes = recorded.trial.nodes.iter().flat_map(|node| {
        let not_applied = node.not_applied.iter();
        not_applied.map(|it| not_applied_to(&node.name, it))
    });
    let of_generator = of_trial(GENERATOR).map(|it| not_applied_to(GENERATOR, &it.text));
    let not_applied = of_nodes.chain(of_generator).collect();
    let watching = of_trial(MONITORING).find_map(|it| it.text.parse().ok());
    let fired: Option<Fired> = of_trial(FIRED).find_map(|it| serde_json::from_str(&it.text).ok());
    Ok(Stored {
        status: status(&recorded.state, fired),
        clients: measured.map(|it| it.clients).unwrap_or_default(),
        events: run.events(id).map_err(trouble)?,
        summary,
        samples,
        not_applied,
        watching,
        left,
        recorded,
    })
}

/// Subject of the note that tells what repeats the run.
pub const COMMAND: &str = "command";
/// Subject of the note that tells which rule ended a trial.
pub const FIRED: &str = "fired";
/// Subject of the notes on limits of the generator that could not be applied.
pub const GENERATOR: &str = "generator";
/// Subject of the note that tells how much of a processor watching took.
pub const MONITORING: &str = "monitoring";

/// `text` as a limit's failure is written: `cpu is not limited: why`.
fn not_applied_to(node: &str, text: &str) -> NotApplied {
    let (limit, why) = text.split_once(" is not limited: ").unwrap_or((text, ""));
    NotApplied { node: node.to_owned(), limit: limit.to_owned(), why: why.to_owned() }
}

fn status(state: &State, fired: Option<Fired>) -> matrix::Status {
    let State::Ended(outcome) = state else { return matrix::Status::Interrupted };
    let why = outcome.reason.clone().unwrap_or_default();
    match (outcome.status, fired) {
        (Status::Complete, _) => matrix::Status::Done,
        (Status::Stopped, Some(fired)) => matrix::Status::Stopped { fired },
        (Status::Interrupted | Status::Stopped, _) => matrix::Status::Interrupted,
        (Status::Failed, _) => matrix::Status::Failed { why },
        (Status::Skipped, _) => matrix::Status::Skipped { why },
    }
}

fn facts<'a>(experiment: &'a Experiment, it: &'a Stored) -> TrialFacts<'a> {
    let trial = &it.recorded.trial;
    let cell = trial.cell as usize;
    TrialFacts {
        cell,
        repetition: trial.repetition,
        setup: &experiment.cells[cell].setup,
        status: &it.status,
        summary: it.summary.as_ref(),
        clients: &it.clients,
        samples: &it.samples,
        events: &it.events,
        // Log events tell the seconds; a tick is a megabyte.
        ticks: &[],
        not_applied: &it.not_applied,
        watching: it.watching,
        left: &it.left,
    }
}

fn read<T: DeserializeOwned>(path: &Path, it: &Value) -> Result<T, Trouble> {
    T::deserialize(it)
        .map_err(|error| Trouble::new(format!("{} was written by another version: {error}", path.display())))
}

fn style() -> Style {
    let out = std::io::stdout();
    let terminal = isatty(&out);
    let width = tcgetwinsize(&out).ok().map(|it| usize::from(it.ws_col)).filter(|_| terminal);
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    Style { width: width.unwrap_or(WIDTH).clamp(60, WIDTH), characters: Characters::Utf8, colour }
}
