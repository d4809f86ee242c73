//! Subjects of the notes in a run file

/// Subject of the note with the command that repeats the run.
pub const COMMAND: &str = "command";
/// Subject of the note with the faults of a trial and their effects.
pub const FAULT_INJECTION: &str = "ordeal";
/// Subject of the note with the age of reads on replicas.
pub const FRESHNESS: &str = "freshness";
/// Subject of the note with the stop rule that ended a trial.
pub const FIRED: &str = "fired";
/// Subject of the note with the outages of a trial.
pub const OUTAGES: &str = "outages";
/// Subject of the note with the comparison of a trial's answers with recorded ones, `model::ReplayFigures`.
pub const REPLAYED: &str = "replayed";
/// Subject of the note with the attached server and its data before a trial, `model::target::TargetState`.
pub const TARGET: &str = "target";
/// Subject of the notes with the feeds' coverage of their tables.
pub const FEED: &str = "feed";
/// Subject of the notes on limits of the generator that could not be applied.
pub const GENERATOR: &str = "generator";
/// Subject of the note with the search step of a trial.
pub const STEP: &str = "step";
/// Subject of the note with the suspects of a cell.
pub const SUSPECTS: &str = "suspects";
/// Subject of the notes with the indexes built for a trial, `model::advice::IndexBuild`.
pub const BUILT: &str = "built";
/// Subject of the note with a cell's plans, `model::explain::Plans`.
pub const PLANS: &str = "plans";
/// Subject of the note with the CPU cost of monitoring.
pub const MONITORING: &str = "monitoring";
