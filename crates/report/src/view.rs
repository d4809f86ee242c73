//! View model of a report in one language
//!
//! HTML, Markdown, the terminal and JSON render this model and add no words or numbers. The model contains text from
//! other sources (SQL, names, server messages) unescaped. Each renderer escapes it.

mod overview;

pub use overview::{
    IntervalRow, LargeFigure, Overview, Picture, Plot, PlotAxis, PlotPoint, PointSeries, ReferenceLine,
};

use schemars::JsonSchema;
use serde::Serialize;

/// A whole report in one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Page {
    /// BCP 47 code: `en`, `ru`.
    pub lang: &'static str,
    /// The language's own name, for the language menu.
    pub language: String,
    pub title: String,
    /// The experiment's question.
    pub question: String,
    /// The answer in one sentence, with its number, interval and validity.
    pub answer: Line,
    /// First screen; absent in histories, and if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview: Option<Overview>,
    /// Short phrases about the run: start, seed, duration.
    pub facts: Vec<String>,
    pub sections: Vec<Section>,
    /// Words that the page's script displays, by key: `zoom_out`, `dark`, `print`, …
    pub words: Vec<(String, String)>,
}

/// A heading and its blocks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Section {
    /// Link target: `[a-z-]+`, unique in its page, equal in all languages.
    pub id: &'static str,
    pub heading: String,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Block {
    Text(Line),
    /// A bulleted list.
    List {
        items: Vec<Line>,
    },
    /// Names and values.
    Facts {
        facts: Vec<(String, String)>,
    },
    Table(Table),
    HeatMap(HeatMap),
    Drawing(Drawing),
    Picture(Picture),
    Charts(ChartsBlock),
    Findings {
        findings: Vec<FindingView>,
    },
    /// A folded block, for long content. `name` describes the content and its amount.
    Details {
        name: String,
        blocks: Vec<Block>,
    },
    /// Preformatted text: a configuration, a command, SQL.
    Code {
        name: String,
        text: String,
        folded: bool,
    },
}

/// Meaning of a text's colour, which the text also expresses in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Doubt,
    Bad,
    /// Unimportant.
    Faint,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    pub text: String,
    pub tone: Tone,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// Text above the table; may be empty.
    pub caption: String,
    pub columns: Vec<Column>,
    /// Rows with as many cells as `columns`.
    pub rows: Vec<Row>,
    /// Notes below the table: mark and text. A mark may be empty.
    pub notes: Vec<(String, Line)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Column {
    pub heading: String,
    /// True if the column contains numbers, which are right-aligned.
    pub numeric: bool,
    /// Order in which columns are dropped if the table is too wide: columns with the highest number first, columns with
    /// 0 never.
    pub drop_order: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    pub cells: Vec<String>,
    pub tone: Tone,
    /// True for the baseline, with which the other rows are compared.
    pub baseline: bool,
}

/// A figure over two axes, drawn as shaded cells. The reader can choose another figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct HeatMap {
    pub across: (String, Vec<String>),
    pub down: (String, Vec<String>),
    /// Alternative figures, at least one. The first is shown initially.
    pub layers: Vec<HeatLayer>,
}

/// One figure of a heat map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct HeatLayer {
    /// Name and unit of the figure, for the menu.
    pub name: String,
    /// Name of the figure, and the baseline with which it is compared.
    pub caption: String,
    /// Cells by row, left to right.
    pub cells: Vec<HeatCell>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct HeatCell {
    /// Value; empty if nothing was measured.
    pub text: String,
    /// Difference from the baseline, from -1 (far worse) through 0 (equal) to 1 (far better), whether high or low
    /// values are good. `None` if unknown.
    pub shade: Option<f64>,
    pub baseline: bool,
}

/// The stack, from the generator to the last node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Drawing {
    /// Text alternative of the picture.
    pub alternative: String,
    pub nodes: Vec<DrawnNode>,
    /// Transports between consecutive nodes, such as `TLS 1.3`; one fewer than nodes.
    pub hops: Vec<String>,
    /// Replicas of the last node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<DrawnReplicas>,
}

/// Replicas of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DrawnReplicas {
    /// Replication mode, and whether commits wait for replicas.
    pub replication: String,
    /// Replicas, at least one.
    pub nodes: Vec<DrawnNode>,
    /// Failover manager, which chooses the primary.
    pub manager: DrawnNode,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DrawnNode {
    /// Name of the node's product, or of the generator.
    pub heading: String,
    /// Short lines: marks of the limiter or the queue, pool, limits, activity, share of the response time.
    pub lines: Vec<Line>,
    /// The node's resource with the highest usage; `None` if unknown.
    pub load: Option<DrawnLoad>,
    pub tone: Tone,
}

/// Usage of one resource of a node: its CPUs or its pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DrawnLoad {
    /// Share of the resource in use, 0..=1.
    pub share: f64,
    /// Resource and amount in use.
    pub text: String,
}

/// Charts of every trial. Their data are stored outside the page, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ChartsBlock {
    /// Index of the trial that is shown initially.
    pub selected: usize,
    pub trials: Vec<ChartedTrial>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ChartedTrial {
    /// Name of the trial: cell and repetition.
    pub name: Line,
    pub charts: Vec<ChartView>,
    pub marks: Vec<MarkView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChartView {
    /// `model::chart::ChartKind` in its serialised form; also the link target.
    pub id: model::chart::ChartKind,
    pub title: String,
    pub unit: model::chart::ChartUnit,
    /// Unit in words, for the axis.
    pub axis: String,
    pub logarithmic: bool,
    pub stacked: bool,
    /// True if the chart is collapsed below the others.
    pub collapsed: bool,
    /// Series in the order of the data's columns.
    #[serde(rename = "series")]
    pub tracks: Vec<TrackView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrackView {
    pub label: String,
    pub dashed: bool,
    /// True if the series is drawn when several trials are laid over each other.
    pub overlaid: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MarkView {
    /// Seconds since the window began.
    #[serde(rename = "at_s")]
    pub at: f64,
    pub text: String,
    pub tone: Tone,
}

/// A finding, with links to its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindingView {
    pub line: Line,
    /// Table below the finding, if several cells have different figures.
    pub table: Option<Table>,
    pub evidence: Vec<EvidenceLink>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EvidenceLink {
    pub text: String,
    /// [`Section::id`] of the section with the evidence.
    pub section: &'static str,
    /// Index into [`ChartsBlock::trials`].
    pub trial: Option<usize>,
    pub chart: Option<model::chart::ChartKind>,
}
