//! What is said while a run goes on, sentence by sentence?

use crate::live::{Activity, FinishedTrial, Milestone};
use model::live::{LiveSecond, NodeCpu, PoolState};
use model::plan::LoadScale;
use model::{Nanos, PerSecond};

/// Called while a run goes on, from one thread, some hundred times per second at most.
pub trait LiveWords {
    /// The first line. `lasting`: of all trials together, under load.
    fn run_begins(&self, trials: usize, cells: usize, seed: u64, lasting: Nanos) -> String;
    /// The same of a search. `each`: of one trial under load.
    fn search_begins(&self, cells: usize, seed: u64, each: Nanos) -> String;
    /// Something that the reader should know of the experiment.
    fn run_note(&self, it: &str) -> String;
    /// Where a Prometheus finds it.
    fn run_scraped(&self, url: &str) -> String;
    /// The run ended before its time.
    fn run_broken_off(&self, why: &str) -> String;
    /// The last line: where it is kept.
    fn run_kept(&self, path: &str, took: Nanos) -> String;
    /// A cell of a matrix without axes.
    fn only_cell(&self) -> &'static str;
    fn doing(&self, it: &Activity) -> String;
    fn milestone(&self, it: &Milestone) -> String;
    /// What came of a trial; position and cell stand before it.
    fn trial_finished(&self, it: &FinishedTrial) -> String;

    /// Headings of rows, at most 10 columns.
    fn live_heading(&self, it: LiveHeading) -> &'static str;
    fn live_rate(&self, it: PerSecond) -> String;
    fn live_time(&self, it: Nanos) -> String;
    /// What of a second is counted and not timed.
    fn live_counts(&self, it: &LiveSecond) -> String;
    fn live_pool(&self, it: &PoolState) -> String;
    /// `of`: its quota in processors.
    fn live_used(&self, it: &NodeCpu, of: Option<f64>) -> String;
    fn live_left(&self, it: Nanos) -> String;
    /// Which trial of a search, whose length nobody knows; from 1.
    fn live_step(&self, trial: usize) -> String;
    /// A cell at a level, for a line: per second, or clients.
    fn at_level(&self, cell: &str, scale: LoadScale, level: f64) -> String;
    /// Lines that nobody read in time.
    fn live_lost(&self, lines: u64) -> String;
}

/// Of a row of the live view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveHeading {
    Rate,
    Median,
    P99,
    Processors,
}
