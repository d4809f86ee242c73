//! What is said of indexes that would help, and of statements that none helps, sentence by sentence?

use model::advice::{IndexAdvice, IndexBuild, Remedy, Scan, StatementChange};

/// Called when a report is written, from one thread, once per sentence.
pub trait AdviceWords {
    fn advice_word(&self, it: AdviceWord) -> &'static str;
    /// What so many indexes save together, of the time of all statements, 0..=1.
    fn saved_together(&self, indexes: usize, share: f64) -> String;
    /// What its columns are there for.
    fn why_index(&self, it: &IndexAdvice) -> String;
    /// What it saves, of the time of all statements; absent where they were not counted. And how many it helps.
    fn index_saves(&self, it: &IndexAdvice) -> String;
    /// Its size, and whom it costs time.
    fn index_costs(&self, it: &IndexAdvice) -> String;
    /// `index`: number of the index, from 1, and the planner's cost without it and with it.
    fn remedy(&self, it: &Remedy, index: Option<(usize, f64, f64)>) -> String;
    /// What a scan reads, and how much of that it passes on.
    fn scanned(&self, it: &Scan) -> String;
    /// The planner could not be asked about indexes that are not there.
    fn untried(&self, why: &str) -> String;

    /// That indexes are built in a copy of the data and measured beside it, `repeat` times each.
    fn applying(&self, indexes: usize, repeat: u32) -> String;
    /// What building an index took.
    fn index_built(&self, it: &IndexBuild) -> String;
    /// Mean time of a statement without the indexes and with them.
    fn statement_changed(&self, it: &StatementChange) -> String;
    /// Shares of updated rows that stayed heap-only, 0..=1.
    fn heap_only(&self, before: f64, after: f64) -> String;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviceWord {
    /// Headings of columns: what is read, and what helps.
    Reads,
    Helps,
    /// No index is worth being built.
    NoIndex,
    /// The run has no plans to advise from.
    NoPlans,
    /// How it is built while others work.
    Beware,
    /// Heading of what indexes brought.
    Applied,
}
