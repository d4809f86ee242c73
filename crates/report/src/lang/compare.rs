//! Sentences of a comparison of runs.

use model::comparison::{Change, ConditionResult, Difference, Metric, RunComparison, TestMethod};
use model::matrix::ChangeVerdict;

/// Sentences of a comparison. Called while it is written, from one thread, once per sentence.
pub trait CompareWords {
    fn comparing(&self, it: CompareTerm) -> &'static str;
    /// Name of a metric, without its unit.
    fn metric(&self, it: Metric) -> &'static str;
    /// Word for a verdict on this metric: slower, higher, no evidence.
    fn differs(&self, metric: Metric, verdict: ChangeVerdict) -> &'static str;
    /// A value of this metric, with its unit.
    fn measure(&self, metric: Metric, value: f64) -> String;
    /// Change in per cent, or in percentage points; empty if unknown.
    fn changed(&self, it: &Change) -> String;
    /// Interval of the change, in the same unit.
    fn changed_interval(&self, it: &Change) -> String;

    /// `runs` is empty if the cells of the base are compared with each other.
    fn comparison_question(&self, base: &str, runs: &[&str]) -> String;
    /// One sentence on one run.
    fn comparison_answer(&self, it: &RunComparison) -> String;
    /// Reports `count` differences that affect the figures apart from the tested change.
    fn unlike(&self, count: usize) -> String;
    /// `cells`: cells with this difference; empty for all.
    fn differing(&self, it: &Difference, cells: &[&str]) -> String;
    fn method(&self, it: &TestMethod) -> String;
    fn excluded(&self, of_base: bool, cell: &str, repetition: u32, why: &str) -> String;
    fn unmatched(&self, of_base: bool, cells: &[&str]) -> String;
    /// `cell`: empty if there is only one.
    fn condition(&self, it: &ConditionResult, cell: &str) -> String;
    /// Legend of the figures. `figures`: number of figures that were tested together.
    fn comparison_legend(&self, seed: u64, figures: usize) -> String;

    fn history_question(&self, experiment: &str) -> String;
    /// `too_few`: true if there are too few runs to detect any change.
    fn history_answer(&self, runs: usize, changes: usize, too_few: bool) -> String;
    /// A change from this run on. The values have the unit of [`CompareWords::measure`].
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
    /// Neither plan, environment nor versions changed at the same run.
    NothingElse,
}

/// Numbers of figures by their verdict relative to the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FigureCount {
    pub figures: usize,
    pub better: usize,
    pub worse: usize,
    /// Figures that are higher or lower, if neither is better.
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
