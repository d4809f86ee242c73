//! Sentences about index advice.

use model::advice::{IndexAdvice, IndexBuild, Remedy, Scan, StatementChange};

/// Sentences of index advice. Called while a report is written, from one thread, once per sentence.
pub trait AdviceWords {
    fn advice_word(&self, it: AdviceWord) -> &'static str;
    /// Time that so many indexes save together, as a share of the time of all statements, 0..=1.
    fn saved_together(&self, indexes: usize, share: f64) -> String;
    /// Purpose of the index's columns.
    fn why_index(&self, it: &IndexAdvice) -> String;
    /// Time that the index saves, and number of statements that it helps. The time is a share of that of all
    /// statements, absent if they were not counted.
    fn index_saves(&self, it: &IndexAdvice) -> String;
    /// Size of the index, and the statements that it slows down.
    fn index_costs(&self, it: &IndexAdvice) -> String;
    /// `index`: number of the index, from 1, and the planner's cost without it and with it.
    fn remedy(&self, it: &Remedy, index: Option<(usize, f64, f64)>) -> String;
    /// Rows that a scan reads, and the share that it passes on.
    fn scanned(&self, it: &Scan) -> String;
    /// Reports that the planner could not estimate hypothetical indexes.
    fn untried(&self, why: &str) -> String;

    /// Reports that indexes are built in a copy of the data and compared in `repeat` trials each.
    fn applying(&self, indexes: usize, repeat: u32) -> String;
    /// Duration and size of an index build.
    fn index_built(&self, it: &IndexBuild) -> String;
    /// Mean time of a statement without the indexes and with them.
    fn statement_changed(&self, it: &StatementChange) -> String;
    /// Shares of updated rows that stayed heap-only, 0..=1.
    fn heap_only(&self, before: f64, after: f64) -> String;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviceWord {
    /// Headings of columns: what a statement reads, and its remedy.
    Reads,
    Helps,
    /// No index is worth building.
    NoIndex,
    /// The run has no plans for advice.
    NoPlans,
    /// How to build an index while other sessions work.
    Beware,
    /// Heading of the measured effect of indexes.
    Applied,
}
