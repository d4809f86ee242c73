//! What does a reader of a run see, in which order and in which words?
//!
//! The one view model: HTML, Markdown, the terminal and JSON draw it, and none of them adds a word or a number. Texts of
//! foreign origin (SQL, names, server messages) stand in it as they are: whoever draws them escapes them.

mod advice;
mod answer;
mod caveats;
mod charts;
mod context;
mod drawing;
mod environment;
mod failover;
mod findings;
mod freshness;
mod heat_map;
mod maximum;
pub(crate) mod number;
mod objectives;
mod plateau;
mod results;
mod scalability;
mod soak;
mod statements;
pub(crate) mod text;

pub use charts::{chart, mark};
pub(crate) use context::charted;
pub(crate) use results::sizes;

use crate::lang::Lang;
use crate::lang::failover::FailoverTerm;
use crate::lang::freshness::FreshnessTerm;
use crate::lang::page::{PageTerm, PageWord};
use crate::lang::search::SearchTerm;
use context::PageContext;
use model::run_result::RunResult;
use serde::Serialize;

/// A run in a language. What is empty is left out.
pub fn page(account: &RunResult, lang: &dyn Lang) -> Page {
    let case = PageContext::new(account, lang);
    let mut matrix = Vec::new();
    if account.experiment.cells.len() > 1 {
        matrix.push(Block::Table(crate::matrix::table(&account.matrix, &account.findings, lang)));
        matrix.extend(heat_map::blocks(&case));
    }
    let (term, sought) = (|it| lang.term(it), |it| lang.sought(it));
    let sections = [
        ("goals", term(PageTerm::Goals), objectives::blocks(&case)),
        ("stack", term(PageTerm::Stack), drawing::blocks(&case)),
        ("failover", lang.outlived(FailoverTerm::Failover), failover::blocks(&case)),
        ("freshness", lang.freshness(FreshnessTerm::Reads), freshness::blocks(&case)),
        ("maximum", sought(SearchTerm::Maximum), maximum::blocks(&case)),
        ("scalability", sought(SearchTerm::Scalability), scalability::blocks(&case)),
        ("endured", sought(SearchTerm::Endured), soak::blocks(&case)),
        ("plateau", sought(SearchTerm::Plateau), plateau::blocks(&case)),
        ("results", term(PageTerm::Results), results::blocks(&case)),
        ("matrix", term(PageTerm::Matrix), matrix),
        ("charts", term(PageTerm::Charts), charts::blocks(&case)),
        ("statements", term(PageTerm::Statements), statements::blocks(&case)),
        ("advice", term(PageTerm::Advice), advice::blocks(&case)),
        ("findings", term(PageTerm::Findings), findings::blocks(&case)),
        ("doubts", term(PageTerm::Doubts), caveats::blocks(&case)),
        ("stand", term(PageTerm::Stand), environment::blocks(&case)),
        ("repeat", term(PageTerm::Repeat), environment::repeat_blocks(&case)),
    ];
    let section =
        |(id, heading, blocks): (_, &str, Vec<Block>)| Section { id, heading: heading.to_owned(), blocks };
    Page {
        lang: lang.code(),
        language: lang.name(),
        title: account.experiment.name.clone(),
        question: answer::question(&case),
        answer: answer::answer(&case),
        facts: answer::facts(&case),
        sections: sections.into_iter().filter(|it| !it.2.is_empty()).map(section).collect(),
        words: script_words(lang),
    }
}

/// What a run says in one sentence, as it stands at the top of its page.
pub fn answer(account: &RunResult, lang: &dyn Lang) -> Line {
    answer::answer(&PageContext::new(account, lang))
}

/// Whether what was acknowledged outlived the faults, without what was done in each trial. Empty without faults and ledgers.
pub(crate) fn failover_blocks(account: &RunResult, lang: &dyn Lang) -> Vec<Block> {
    failover::summary_blocks(&PageContext::new(account, lang))
}

/// Those of the program that draws, by their keys.
pub fn script_words(lang: &dyn Lang) -> Vec<(&'static str, String)> {
    PageWord::KEYS.iter().map(|(key, word)| (*key, lang.word(*word).to_owned())).collect()
}

/// A whole report in one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Page {
    /// BCP 47: `en`, `ru`.
    pub lang: &'static str,
    /// The language's own name, for whoever may choose.
    pub language: &'static str,
    pub title: String,
    /// What was asked.
    pub question: String,
    /// The answer in one sentence, with its number, interval and validity.
    pub answer: Line,
    /// When, with which seed, how long: one short phrase each.
    pub facts: Vec<String>,
    pub sections: Vec<Section>,
    /// Words of the program that draws, by key: `zoom_out`, `dark`, `print`, …
    pub words: Vec<(&'static str, String)>,
}

/// A heading and what stands below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// Where links lead: `[a-z-]+`, unique in its page, the same in every language.
    pub id: &'static str,
    pub heading: String,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Block {
    Text(Line),
    /// Bulleted.
    List {
        items: Vec<Line>,
    },
    /// Names and values.
    Facts {
        facts: Vec<(String, String)>,
    },
    Table(Table),
    #[serde(rename = "heat")]
    HeatMap(HeatMap),
    Drawing(Drawing),
    Charts(ChartsBlock),
    Findings {
        findings: Vec<FindingView>,
    },
    /// Of which there is much: shown when it is asked for. `name` says how much of what it is.
    #[serde(rename = "folded")]
    Details {
        name: String,
        blocks: Vec<Block>,
    },
    /// Text as a machine reads it: a configuration, a command, SQL.
    Code {
        name: String,
        text: String,
        folded: bool,
    },
}

/// Of more trials than these some are folded.
const TRIALS_SHOWN_MAX: usize = 12;

/// How something is to be taken; never told by colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Doubt,
    Bad,
    /// Beside the point.
    Faint,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Line {
    pub text: String,
    pub tone: Tone,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// What it is of, above it; may be empty.
    pub caption: String,
    pub columns: Vec<Column>,
    /// Each as long as `columns`.
    pub rows: Vec<Row>,
    /// Below it: its mark and the note; a mark may be empty.
    pub notes: Vec<(String, Line)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Column {
    pub heading: String,
    /// Numbers stand at the right.
    pub numeric: bool,
    /// Where there is no room, the highest goes first; 0 stays.
    #[serde(rename = "dispensable")]
    pub drop_order: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub cells: Vec<String>,
    pub tone: Tone,
    /// What the others are compared with.
    pub baseline: bool,
}

/// A table of shades: a figure over two axes, and others to choose from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeatMap {
    pub across: (String, Vec<String>),
    pub down: (String, Vec<String>),
    /// The first is shown first; at least one.
    pub layers: Vec<HeatLayer>,
}

/// One figure of a heat map.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeatLayer {
    /// What is shaded, with its unit: for whoever chooses.
    pub name: String,
    /// The same, and beside what.
    pub caption: String,
    /// Row by row, left to right.
    pub cells: Vec<HeatCell>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeatCell {
    /// Empty where nothing was measured.
    pub text: String,
    /// Beside the baseline: -1 far worse, 0 the same, 1 far better, whether more of it is better or less; `None` where it
    /// cannot be said.
    pub shade: Option<f64>,
    pub baseline: bool,
}

/// The stack, from where transactions come to where they end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drawing {
    /// What the picture says, for those who do not see it.
    pub alternative: String,
    pub nodes: Vec<DrawnNode>,
    /// One fewer than nodes: the way from each to the next, such as `TLS 1.3`.
    pub hops: Vec<String>,
    /// Of the last node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<DrawnReplicas>,
}

/// Servers that follow one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DrawnReplicas {
    /// What comes to them, and whether it is waited for.
    #[serde(rename = "way")]
    pub replication: String,
    /// At least one.
    pub nodes: Vec<DrawnNode>,
    /// Who decides which server is the primary.
    pub manager: DrawnNode,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DrawnNode {
    /// Its product, or the generator.
    pub heading: String,
    /// Short lines: that the limit or the queue is here, pool, limits, what is at work and waits, its share of the time.
    pub lines: Vec<Line>,
    /// Share of its processors that it used, 0..=1.
    pub load: Option<f64>,
    pub tone: Tone,
}

/// Charts of every trial; their numbers are beside the page, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChartsBlock {
    /// Which trial is shown first; an index.
    #[serde(rename = "chosen")]
    pub selected: usize,
    pub trials: Vec<ChartedTrial>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChartedTrial {
    /// Its cell and repetition.
    pub name: Line,
    pub charts: Vec<ChartView>,
    pub marks: Vec<MarkView>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartView {
    /// `model::chart::ChartKind` as it is serialised; where links lead.
    pub id: model::chart::ChartKind,
    pub title: String,
    pub unit: model::chart::ChartUnit,
    /// The unit in words, beside the axis.
    pub axis: String,
    pub logarithmic: bool,
    pub stacked: bool,
    /// In the order of the numbers' columns.
    pub tracks: Vec<TrackView>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrackView {
    pub label: String,
    pub dashed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkView {
    /// Seconds since the window began.
    pub at: f64,
    pub text: String,
    pub tone: Tone,
}

/// A finding, and where its evidence is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingView {
    pub line: Line,
    /// Below it, where many cells have figures of their own.
    pub table: Option<Table>,
    pub evidence: Vec<EvidenceLink>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceLink {
    pub text: String,
    /// [`Section::id`].
    pub section: &'static str,
    /// Index into [`Charts::trials`].
    pub trial: Option<usize>,
    pub chart: Option<model::chart::ChartKind>,
}

#[cfg(test)]
mod tests;
