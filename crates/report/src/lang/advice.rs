//! What is said of indexes that would help, and of statements that none helps, sentence by sentence?

use model::advice::{Advised, Remedy, Scan};

/// Called when a report is written, from one thread, once per sentence.
pub trait AdviceWords {
    fn advice_word(&self, it: AdviceWord) -> &'static str;
    /// What so many indexes save together, of the time of all statements, 0..=1.
    fn saved_together(&self, indexes: usize, share: f64) -> String;
    /// What its columns are there for.
    fn why_index(&self, it: &Advised) -> String;
    /// What it saves, of the time of all statements; absent where they were not counted. And how many it helps.
    fn index_saves(&self, it: &Advised) -> String;
    /// Its size, and whom it costs time.
    fn index_costs(&self, it: &Advised) -> String;
    /// `index`: number of the index, from 1, and the planner's cost without it and with it.
    fn remedy(&self, it: &Remedy, index: Option<(usize, f64, f64)>) -> String;
    /// What a scan reads, and how much of that it passes on.
    fn scanned(&self, it: &Scan) -> String;
    /// The planner could not be asked about indexes that are not there.
    fn untried(&self, why: &str) -> String;
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
    /// Where indexes are to be built and tried.
    Beware,
}
