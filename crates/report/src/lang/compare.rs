//! What a comparison of runs says, sentence by sentence?

use model::comparison::{Change, ConditionResult, Difference, Metric, RunComparison, TestMethod};
use model::matrix::ChangeVerdict;

/// Called when it is written, from one thread, once per sentence.
pub trait CompareWords {
    fn comparing(&self, it: CompareTerm) -> &'static str;
    /// What is measured, without a unit.
    fn metric(&self, it: Metric) -> &'static str;
    /// What a verdict means for this figure: slower, higher, no evidence.
    fn differs(&self, metric: Metric, verdict: ChangeVerdict) -> &'static str;
    /// A value of this figure, with its unit.
    fn measure(&self, metric: Metric, value: f64) -> String;
    /// In percent, or in percentage points; nothing where it is not known.
    fn changed(&self, it: &Change) -> String;
    /// The same of its interval.
    fn changed_interval(&self, it: &Change) -> String;

    /// `runs` is empty where the base's cells are compared with each other.
    fn comparison_question(&self, base: &str, runs: &[&str]) -> String;
    /// One sentence on one run.
    fn comparison_answer(&self, it: &RunComparison) -> String;
    /// So many differences change the figures, whatever else was changed.
    fn unlike(&self, count: usize) -> String;
    /// `cells`: that differ so; empty for all.
    fn differing(&self, it: &Difference, cells: &[&str]) -> String;
    fn method(&self, it: &TestMethod) -> String;
    fn excluded(&self, of_base: bool, cell: &str, repetition: u32, why: &str) -> String;
    fn unmatched(&self, of_base: bool, cells: &[&str]) -> String;
    /// `cell`: empty where there is only one.
    fn condition(&self, it: &ConditionResult, cell: &str) -> String;
    /// What the figures are. `figures`: how many were decided together.
    fn comparison_legend(&self, seed: u64, figures: usize) -> String;

    fn history_question(&self, experiment: &str) -> String;
    /// `too_few`: for any change to be found.
    fn history_answer(&self, runs: usize, changes: usize, too_few: bool) -> String;
    /// From this run on. Values as of [`CompareWords::measure`].
    fn change_point(&self, metric: Metric, run: &str, before: f64, after: f64, p: f64) -> String;
}

/// Words that stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareTerm {
    Title,
    /// Headings.
    Unlike,
    Conditions,
    Figures,
    Differences,
    LeftOut,
    /// Columns.
    Operation,
    Figure,
    Base,
    Run,
    Change,
    Interval,
    Verdict,
    Method,
    /// All operations together.
    All,
    NoDifference,
    History,
    Series,
    ChangePoints,
    When,
    Program,
    Server,
    Trials,
    /// Nothing in the plan, the stand or the versions changed with it.
    NothingElse,
}

/// How one run stands beside the base, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FigureCount {
    pub figures: usize,
    pub better: usize,
    pub worse: usize,
    /// Higher or lower where neither is better.
    pub other: usize,
    pub too_few: usize,
    pub unlike: usize,
}

impl FigureCount {
    pub fn of(it: &RunComparison) -> FigureCount {
        let mut counted = FigureCount {
            unlike: it.differences.iter().filter(|it| it.is_confounder()).count(),
            ..FigureCount::default()
        };
        for figure in it.cells.iter().flat_map(|it| &it.figures) {
            counted.figures += 1;
            let better = figure.metric.higher_is_better();
            let of = match (figure.verdict, better) {
                (ChangeVerdict::NoEvidence, _) => continue,
                (ChangeVerdict::TooFewRuns, _) => &mut counted.too_few,
                (_, None) => &mut counted.other,
                (verdict, Some(more)) if (verdict == ChangeVerdict::Higher) == more => &mut counted.better,
                _ => &mut counted.worse,
            };
            *of += 1;
        }
        counted
    }
}
