//! What is said of maxima, of what was held for long, and of grids?

use super::number::Numbers;
use model::Nanos;
use model::plan::{LoadScale, MaxSearch};
use model::search::{
    FittedValue, LevelOutcome, Limit, OverloadReason, Perturbation, ProofVerdict, RequiredConnections,
    Scalability, SearchResult, SearchStopReason, SoakResult, StepPurpose, TrendMetric, TrendVerdict,
};

/// Called when it is written, from one thread, once per sentence.
pub trait SearchWords {
    /// A heading, or a word of a table.
    fn sought(&self, it: SearchTerm) -> &'static str;
    /// The heading of a column of levels: their unit.
    fn scale(&self, it: LoadScale) -> &'static str;
    fn stage(&self, it: StepPurpose) -> &'static str;
    /// A level with its unit.
    fn level(&self, scale: LoadScale, level: f64) -> String;
    /// What became of a level, in a few words; `scale`: of the level.
    fn outcome(&self, it: &LevelOutcome, scale: LoadScale) -> String;
    /// Why a level is too much.
    fn broke(&self, it: &OverloadReason) -> String;
    /// What stopped a search before the system did; `scale`: of its levels.
    fn hindered(&self, it: &SearchStopReason, scale: LoadScale) -> String;
    /// What limits, as the subject of a sentence.
    fn limit(&self, it: &Limit) -> String;
    /// What was changed, and how.
    fn nudge(&self, it: &Perturbation) -> String;
    fn proven(&self, it: ProofVerdict) -> &'static str;
    /// The question of a search. `way`: products from the entrance to PostgreSQL; empty with several cells.
    fn asked(&self, it: SearchQuestion, way: &str) -> String;
    /// One sentence with its stop.
    fn reached(&self, it: &MaximumAnswer<'_>) -> String;
    /// How many cells have an answer, of how many.
    fn answered(&self, answered: usize, of: usize) -> String;
    /// Every search of a cell, beside their common answer.
    fn rounds(&self, all: &[SearchResult]) -> String;
    /// How a maximum is searched for: how long each time, and how often all of it.
    fn search_window(&self, it: &MaxSearch, warmup: Nanos, repeat: u32) -> String;
    /// How long was measured until the answer was there.
    fn measured_for(&self, trials: u32, measured: Nanos) -> String;

    /// What the law says of clients: two or three sentences.
    fn law(&self, it: &Scalability) -> String;

    /// A sentence with its stop. `name`: of the cell, empty where there is only one; `scale`: of its level.
    fn endured(&self, it: &SoakResult, scale: LoadScale, name: &str) -> String;
    /// At so small a share of the maximum (0..=1) it proves little: a sentence with its stop.
    fn little_proof(&self, share: f64) -> String;
    fn trended(&self, it: &TrendMetric) -> String;
    fn course(&self, it: TrendVerdict) -> &'static str;
    /// A value of what may leak or drift, in its unit.
    fn amount(&self, of: &TrendMetric, value: f64) -> String;

    /// What a grid says: a sentence with its stop. `maxima`: whether it is of rates or of response times.
    fn enough(&self, it: &PlateauAnswer<'_>) -> String;
    /// How many connections are needed, and why: a sentence with its stop.
    fn need(&self, it: &RequiredConnections) -> String;
    /// How much more a maximum moves than what was turned, with its interval of 95 %.
    fn elasticity(&self, it: &FittedValue) -> String {
        let numbers = self.numerals();
        let fixed = |it| numbers.fixed(it, 2);
        let among = numbers.among();
        let range = it
            .interval
            .map_or(String::new(), |(low, high)| format!(" [{}{among}{}]", fixed(low), fixed(high)));
        format!("{}{range}", fixed(it.value))
    }
    /// How the language writes numbers.
    fn numerals(&self) -> &'static Numbers;
    /// A figure with its interval of 95 %; nothing behind it where there is none.
    fn within(&self, it: &FittedValue) -> String;
}

/// What a search asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchQuestion {
    Maximum,
    Endurance,
    Plateau,
}

/// Headings, and words of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchTerm {
    // Sections.
    Maximum,
    Scalability,
    Endured,
    Plateau,
    // Captions.
    Steps,
    Proofs,
    // Columns.
    Stage,
    Round,
    Delivered,
    P99,
    Mean,
    Outcome,
    Changed,
    BaseMaximum,
    NewMaximum,
    Ratio,
    Elasticity,
    Verdict,
    Clients,
    Measured,
    ByLaw,
    What,
    From,
    To,
    PerHour,
    Course,
    Cell,
    MaximumOfCell,
    P99OfCell,
    OnPlateau,
    // Words.
    Yes,
    Best,
    Recommended,
    NoAnswer,
}

/// A cell's maximum, and why it stops there.
#[derive(Clone, Copy, Debug)]
pub struct MaximumAnswer<'a> {
    /// Empty where there is only one cell.
    pub name: &'a str,
    pub answer: &'a SearchResult,
    /// Searches that it is of.
    pub rounds: usize,
    pub cause: CauseAnswer<'a>,
}

/// Why a system stops at its maximum.
#[derive(Clone, Copy, Debug)]
pub enum CauseAnswer<'a> {
    /// Turning it moved the maximum: by its elasticity, or for a switch by the ratio of maxima, with the interval. `by`: what
    /// takes all of it.
    Proven {
        limit: &'a Limit,
        by: Option<&'a Limit>,
        elasticity: Option<FittedValue>,
        ratio: Option<FittedValue>,
    },
    Suspected {
        limit: &'a Limit,
    },
    NotKnown,
}

/// What a grid says.
#[derive(Clone, Copy, Debug)]
pub struct PlateauAnswer<'a> {
    pub maxima: bool,
    /// Names of the cells.
    pub recommended: Option<&'a str>,
    pub best: &'a str,
    /// Cells that the best is not shown to beat, with itself, of those that have a figure.
    pub plateau: usize,
    pub of: usize,
}
