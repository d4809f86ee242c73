//! Sentences of the live view.

use crate::live::{Activity, FinishedTrial, Milestone};
use model::live::{LiveSecond, NodeCpu, PoolState};
use model::plan::LoadScale;
use model::{Nanos, PerSecond};

/// Sentences of the live view. Called during a run, from one thread, at most some hundred times per second.
pub trait LiveWords {
    /// First line of a run. `lasting`: total time under load of all trials.
    fn run_begins(&self, trials: usize, cells: usize, seed: u64, lasting: Nanos) -> String;
    /// First line of a search. `each`: time under load of one trial.
    fn search_begins(&self, cells: usize, seed: u64, each: Nanos) -> String;
    /// A note about the experiment.
    fn run_note(&self, it: &str) -> String;
    /// Address at which Prometheus can scrape the run.
    fn run_scraped(&self, url: &str) -> String;
    /// The run ended early.
    fn run_broken_off(&self, why: &str) -> String;
    /// Last line: path of the run file.
    fn run_kept(&self, path: &str, took: Nanos) -> String;
    /// Name of the cell of a matrix without axes.
    fn only_cell(&self) -> &'static str;
    fn doing(&self, it: &Activity) -> String;
    fn milestone(&self, it: &Milestone) -> String;
    /// Result of a trial, after its position and cell.
    fn trial_finished(&self, it: &FinishedTrial) -> String;

    /// Headings of rows, at most 10 columns.
    fn live_heading(&self, it: LiveHeading) -> &'static str;
    fn live_rate(&self, it: PerSecond) -> String;
    fn live_time(&self, it: Nanos) -> String;
    /// Counts of a second.
    fn live_counts(&self, it: &LiveSecond) -> String;
    fn live_pool(&self, it: &PoolState) -> String;
    /// CPU usage of a node. `of`: its quota in CPUs.
    fn live_used(&self, it: &NodeCpu, of: Option<f64>) -> String;
    fn live_left(&self, it: Nanos) -> String;
    /// Number of a search's trial, from 1; the total is unknown.
    fn live_step(&self, trial: usize) -> String;
    /// A cell and its level, in arrivals per second or clients.
    fn at_level(&self, cell: &str, scale: LoadScale, level: f64) -> String;
    /// Number of log lines that were dropped because they were not read in time.
    fn live_lost(&self, lines: u64) -> String;
}

/// Heading of a row of the live view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveHeading {
    Rate,
    Median,
    P99,
    Processors,
}
