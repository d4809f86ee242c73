//! Sentences about maxima, soaks and sweeps.

use super::number::Numbers;
use model::Nanos;
use model::plan::{LoadScale, MaxSearch};
use model::search::{
    FittedValue, LevelOutcome, Limit, OverloadReason, Perturbation, ProofVerdict, RequiredConnections,
    Scalability, SearchResult, SearchStopReason, SoakResult, StepPurpose, TrendMetric, TrendVerdict,
};

/// Sentences about searches. Called while a report is written, from one thread, once per sentence.
pub trait SearchWords {
    /// A heading, or a word of a table.
    fn sought(&self, it: SearchTerm) -> &'static str;
    /// Heading of a column of levels: their unit.
    fn scale(&self, it: LoadScale) -> &'static str;
    fn stage(&self, it: StepPurpose) -> &'static str;
    /// A level with its unit.
    fn level(&self, scale: LoadScale, level: f64) -> String;
    /// Outcome of a level in a few words. `scale`: scale of the level.
    fn outcome(&self, it: &LevelOutcome, scale: LoadScale) -> String;
    /// Reason why a level is not sustained.
    fn broke(&self, it: &OverloadReason) -> String;
    /// Reason why a search stopped before the system's maximum. `scale`: scale of its levels.
    fn hindered(&self, it: &SearchStopReason, scale: LoadScale) -> String;
    /// A limiter, as the subject of a sentence.
    fn limit(&self, it: &Limit) -> String;
    /// A perturbation: the knob and its change.
    fn nudge(&self, it: &Perturbation) -> String;
    fn proven(&self, it: ProofVerdict) -> &'static str;
    /// The question of a search. `way`: products from the first node to PostgreSQL; empty with several cells.
    fn asked(&self, it: SearchQuestion, way: &str) -> String;
    /// One sentence with its full stop.
    fn reached(&self, it: &MaximumAnswer<'_>) -> String;
    /// Number of cells with an answer, and of all cells.
    fn answered(&self, answered: usize, of: usize) -> String;
    /// Every search of a cell, with their combined answer.
    fn rounds(&self, all: &[SearchResult]) -> String;
    /// Method of a search: duration of each step, and number of repetitions.
    fn search_window(&self, it: &MaxSearch, warmup: Nanos, repeat: u32) -> String;
    /// Number and total duration of the trials of a search.
    fn measured_for(&self, trials: u32, measured: Nanos) -> String;

    /// Conclusion from the scalability law: two or three sentences.
    fn law(&self, it: &Scalability) -> String;

    /// A sentence with its full stop. `name`: name of the cell; empty if there is only one. `scale`: scale of its
    /// level.
    fn endured(&self, it: &SoakResult, scale: LoadScale, name: &str) -> String;
    /// Warning that so small a share of the maximum (0..=1) proves little: a sentence with its full stop.
    fn little_proof(&self, share: f64) -> String;
    fn trended(&self, it: &TrendMetric) -> String;
    fn course(&self, it: TrendVerdict) -> &'static str;
    /// A value of a metric that may leak or drift, in its unit.
    fn amount(&self, of: &TrendMetric, value: f64) -> String;

    /// Result of a sweep: a sentence with its full stop. `maxima`: true for rates, false for response times.
    fn enough(&self, it: &PlateauAnswer<'_>) -> String;
    /// Number of connections that are needed, with the reason: a sentence with its full stop.
    fn need(&self, it: &RequiredConnections) -> String;
    /// Elasticity of a maximum, with its 95 % CI.
    fn elasticity(&self, it: &FittedValue) -> String {
        let numbers = self.numerals();
        let fixed = |it| numbers.fixed(it, 2);
        let among = numbers.among();
        let range = it
            .interval
            .map_or(String::new(), |(low, high)| format!(" [{}{among}{}]", fixed(low), fixed(high)));
        format!("{}{range}", fixed(it.value))
    }
    /// Number format of the language.
    fn numerals(&self) -> &'static Numbers;
    /// A figure with its 95 % CI, if there is one.
    fn within(&self, it: &FittedValue) -> String;
}

/// Question of a search.
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

/// A cell's maximum and its limiter.
#[derive(Clone, Copy, Debug)]
pub struct MaximumAnswer<'a> {
    /// Name of the cell; empty if there is only one.
    pub name: &'a str,
    pub answer: &'a SearchResult,
    /// Number of searches that it combines.
    pub rounds: usize,
    pub cause: CauseAnswer<'a>,
}

/// Reason why a system does not exceed its maximum.
#[derive(Clone, Copy, Debug)]
pub enum CauseAnswer<'a> {
    /// The perturbation moved the maximum. Value and interval are the elasticity, or for a switch the ratio of maxima.
    /// `by`: limit that uses up the resource.
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

/// Result of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct PlateauAnswer<'a> {
    pub maxima: bool,
    /// Names of the cells.
    pub recommended: Option<&'a str>,
    pub best: &'a str,
    /// Number of cells on the plateau (the best is not shown to beat them), and number of cells with a figure.
    pub plateau: usize,
    pub of: usize,
}
