//! First screen of a report: a short sentence, large figures, a picture and doubts

use super::{Line, Tone};
use model::chart::ChartUnit;
use schemars::JsonSchema;
use serde::Serialize;

/// First screen of a page, which answers the question without scrolling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    /// The answer in at most 25 words.
    pub summary: Line,
    /// At most four figures, the most important first.
    pub figures: Vec<LargeFigure>,
    /// Picture that answers the question; absent if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
    /// The first few doubts about the result.
    pub doubts: Vec<Line>,
    /// Sentence with the number of further doubts; empty if there are no further doubts.
    pub more_doubts: String,
    /// [`Section::id`](super::Section::id) of the section with all doubts.
    pub doubts_section: &'static str,
    /// The answer with all its figures, but without the doubts.
    pub details: String,
}

/// One large figure with its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LargeFigure {
    pub label: String,
    /// Value with its unit, or one or two words.
    pub value: String,
    /// Interval, comparison or objective; may be empty.
    pub detail: String,
    pub tone: Tone,
}

/// A picture with its caption, which is also its text alternative.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Picture {
    pub caption: String,
    pub plot: Plot,
}

/// Contents of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Plot {
    /// One dot with its interval per row, all on one horizontal axis.
    Intervals { axis: PlotAxis, rows: Vec<IntervalRow> },
    /// Points or lines over two axes.
    Points { x: PlotAxis, y: PlotAxis, series: Vec<PointSeries> },
}

/// Axis of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlotAxis {
    pub title: String,
    pub unit: ChartUnit,
    pub logarithmic: bool,
    /// Reference lines, such as the bound of an objective.
    pub references: Vec<ReferenceLine>,
}

/// Line across a picture at one value of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReferenceLine {
    pub value: f64,
    pub text: String,
    pub tone: Tone,
}

/// Row of a picture: a value, its 95 % confidence interval, and its text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct IntervalRow {
    pub label: String,
    pub value: f64,
    /// Ends of the interval; `None` without an interval.
    pub interval: Option<(f64, f64)>,
    /// True if only a lower bound of the value is known.
    pub is_lower_bound: bool,
    pub text: String,
    pub tone: Tone,
    pub baseline: bool,
}

/// Points of one series in the order of drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PointSeries {
    pub label: String,
    /// True if consecutive points are connected by a line.
    pub connected: bool,
    pub points: Vec<PlotPoint>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PlotPoint {
    pub x: f64,
    /// Value; `None` if it was not measured, which interrupts a line.
    pub y: Option<f64>,
    pub tone: Tone,
}
