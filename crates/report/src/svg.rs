//! Pictures as SVG: lines and points over two axes, and intervals by row
//!
//! A picture is static, contains no script and no style sheet, and can be printed without colours: lines also differ in
//! their dashes, and points in their marks.

mod axis;

use crate::html::escape;
use crate::lang::Lang;
use crate::text::{truncate, visible};
use crate::view::{IntervalRow, PlotAxis, PlotPoint, PointSeries, Tone};
use axis::Scale;
use std::fmt::Write;

/// A picture with its size in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct SvgPicture {
    pub text: String,
    pub width: u32,
    pub height: u32,
}

/// Lines and points over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub x: PlotAxis,
    pub y: PlotAxis,
    pub lines: Vec<GraphLine>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphLine {
    pub series: PointSeries,
    /// True for limits and plans.
    pub dashed: bool,
}

const WIDTH: f64 = 680.0;
/// Space at the left for labels.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 16.0;
/// Space above the drawing area for the title of the vertical axis.
const TOP: f64 = 24.0;
/// Space below the drawing area for the labels and the title of the horizontal axis.
const BOTTOM: f64 = 40.0;
/// Height of the drawing area of a graph.
const AREA: f64 = 190.0;
/// Height of one line of the legend.
const LEGEND_ROW: f64 = 17.0;
/// Approximate width of a character of a label. DejaVu Sans is a wide font.
const CHARACTER: f64 = 6.6;
/// Maximum number of characters of a name in the legend.
const NAME_CHARS_MAX: usize = 60;
/// Height of a row of intervals.
const ROW: f64 = 24.0;
/// Maximum number of points of a line that are also drawn as dots.
const DOTS_MAX: usize = 40;

const TEXT: &str = "#222222";
const FAINT: &str = "#767676";
const GRID: &str = "#dddddd";
/// Colours that people with colour blindness can distinguish, after Okabe and Ito.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a87900", "#3f9fd8", "#7f3c8d", "#555555"];

/// Draws graphs below each other. A graph without a value is left out; `None` if none has a value.
pub fn draw(graphs: &[Graph], lang: &Lang) -> Option<SvgPicture> {
    let mut body = String::new();
    let mut top = 0.0;
    for graph in graphs {
        top += panel(&mut body, graph, top, lang).unwrap_or(0.0);
    }
    (top > 0.0).then(|| wrap(&body, top))
}

/// Draws one dot with its interval per row; `None` without a row.
pub fn draw_intervals(axis: &PlotAxis, rows: &[IntervalRow], lang: &Lang) -> Option<SvgPicture> {
    let ends = |row: &IntervalRow| row.interval.map_or([row.value; 2], |(low, high)| [low, high]);
    let values = rows.iter().flat_map(|row| ends(row).into_iter().chain([row.value]));
    let values = values.chain(axis.references.iter().map(|it| it.value));
    let label_chars = rows.iter().map(|row| row.label.chars().count().min(NAME_CHARS_MAX)).max()?;
    let text_chars = rows.iter().map(|row| row.text.chars().count()).max()?;
    let left = (label_chars as f64 * CHARACTER + 12.0).min(WIDTH * 0.4);
    let right = (text_chars as f64 * CHARACTER + 12.0).min(WIDTH * 0.3);
    let scale = Scale::new(values, axis.unit, axis.logarithmic, (left, WIDTH - right))?;
    let bottom = TOP + rows.len() as f64 * ROW;
    let mut body = String::new();
    for (tick, label) in scale.ticks.iter().zip(scale.labels(axis.unit, lang)) {
        let x = scale.place(*tick);
        line(&mut body, (x, TOP), (x, bottom), GRID, "");
        tick_label(&mut body, (x, bottom + 15.0), &label);
    }
    for (number, row) in rows.iter().enumerate() {
        let y = TOP + (number as f64 + 0.5) * ROW;
        let colour = if row.tone == Tone::Faint { FAINT } else { COLOURS[0] };
        let weight = if row.baseline { " font-weight=\"bold\"" } else { "" };
        let label = truncate(&row.label, NAME_CHARS_MAX);
        text_with(&mut body, (left - 8.0, y + 4.0), "end", TEXT, weight, &label);
        if let Some((low, high)) = row.interval {
            line(&mut body, (scale.place(low), y), (scale.place(high), y), colour, " stroke-width=\"2\"");
        }
        if scale.can_show(row.value) {
            dot(&mut body, (scale.place(row.value), y), row.tone, colour);
        }
        text(&mut body, (WIDTH - right + 8.0, y + 4.0), "start", TEXT, &row.text);
    }
    for reference in &axis.references {
        let x = scale.place(reference.value);
        line(&mut body, (x, TOP), (x, bottom), TEXT, " stroke-dasharray=\"2 3\"");
        text(&mut body, (x, TOP - 6.0), "middle", TEXT, &reference.text);
    }
    text(&mut body, (WIDTH - right, bottom + 31.0), "end", TEXT, &axis.title);
    Some(wrap(&body, bottom + BOTTOM))
}

/// Draws a graph with its legend below `top`, and returns its height; `None` without a value.
fn panel(out: &mut String, graph: &Graph, top: f64, lang: &Lang) -> Option<f64> {
    let points = || graph.lines.iter().flat_map(|it| &it.series.points).filter(|it| it.y.is_some());
    let xs = points().map(|it| it.x).chain(graph.x.references.iter().map(|it| it.value));
    let ys = points().filter_map(|it| it.y);
    // An axis without a measured value would show only references.
    Scale::new(ys.clone(), graph.y.unit, graph.y.logarithmic, (0.0, 1.0))?;
    let ys = ys.chain(graph.y.references.iter().map(|it| it.value));
    let (upper, lower) = (top + TOP, top + TOP + AREA);
    let x = Scale::new(xs, graph.x.unit, graph.x.logarithmic, (LEFT, WIDTH - RIGHT))?;
    let y = Scale::new(ys, graph.y.unit, graph.y.logarithmic, (lower, upper))?;
    for (tick, label) in y.ticks.iter().zip(y.labels(graph.y.unit, lang)) {
        let at = y.place(*tick);
        line(out, (LEFT, at), (WIDTH - RIGHT, at), GRID, "");
        text(out, (LEFT - 6.0, at + 4.0), "end", TEXT, &label);
    }
    for (tick, label) in x.ticks.iter().zip(x.labels(graph.x.unit, lang)) {
        let at = x.place(*tick);
        line(out, (at, lower), (at, lower + 4.0), TEXT, "");
        tick_label(out, (at, lower + 17.0), &label);
    }
    line(out, (LEFT, lower), (WIDTH - RIGHT, lower), TEXT, "");
    text(out, (LEFT, top + 14.0), "start", TEXT, &graph.y.title);
    text(out, (WIDTH - RIGHT, lower + 32.0), "end", TEXT, &graph.x.title);
    for reference in &graph.y.references {
        let at = y.place(reference.value);
        line(out, (LEFT, at), (WIDTH - RIGHT, at), TEXT, " stroke-dasharray=\"2 3\"");
        text(out, (WIDTH - RIGHT - 2.0, at - 4.0), "end", TEXT, &reference.text);
    }
    for reference in &graph.x.references {
        let at = x.place(reference.value);
        line(out, (at, upper), (at, lower), TEXT, " stroke-dasharray=\"2 3\"");
        text(out, (at, upper - 6.0), "middle", TEXT, &reference.text);
    }
    for (number, drawn) in graph.lines.iter().enumerate() {
        draw_line(out, drawn, number, &x, &y);
    }
    Some(TOP + AREA + BOTTOM + legend(out, &graph.lines, lower + BOTTOM))
}

/// Colour and dashes of a line. Lines of one colour differ in their dashes.
fn style(number: usize, dashed: bool) -> (&'static str, &'static str) {
    let dashes = match (dashed, number / COLOURS.len() % 2) {
        (true, _) => " stroke-dasharray=\"7 4\"",
        (false, 0) => "",
        (false, _) => " stroke-dasharray=\"2 2\"",
    };
    (COLOURS[number % COLOURS.len()], dashes)
}

fn draw_line(out: &mut String, drawn: &GraphLine, number: usize, x: &Scale, y: &Scale) {
    let (colour, dashes) = style(number, drawn.dashed);
    let series = &drawn.series;
    let place = |point: &PlotPoint| {
        let value = point.y.filter(|value| y.can_show(*value) && x.can_show(point.x))?;
        Some((x.place(point.x), y.place(value)))
    };
    if series.connected {
        let mut path = String::new();
        let mut is_begun = false;
        for point in &series.points {
            match place(point) {
                Some((x, y)) => {
                    let _ = write!(path, "{}{x:.1} {y:.1}", if is_begun { "L" } else { "M" });
                    // A line of one point has a length, so that a round cap shows it.
                    if !is_begun {
                        path += "h0";
                    }
                    is_begun = true;
                }
                None => is_begun = false,
            }
        }
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-linecap=\"round\" \
             stroke-linejoin=\"round\"{dashes}/>"
        );
    }
    if !drawn.dashed && (!series.connected || series.points.len() <= DOTS_MAX) {
        for point in &series.points {
            if let Some(at) = place(point) {
                dot(out, at, point.tone, colour);
            }
        }
    }
}

/// Draws the mark of a point: a disc; a cross for a bad one, a triangle for a doubtful one, a ring for one that does not
/// count.
fn dot(out: &mut String, (x, y): (f64, f64), tone: Tone, colour: &str) {
    let _ = match tone {
        Tone::Plain | Tone::Good => {
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>")
        }
        Tone::Bad => {
            let ([left, right], [upper, lower]) = ([x - 4.0, x + 4.0], [y - 4.0, y + 4.0]);
            let path = format!(
                "M{left:.1} {upper:.1}L{right:.1} {lower:.1}M{left:.1} {lower:.1}L{right:.1} {upper:.1}"
            );
            writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>")
        }
        Tone::Doubt => {
            let (left, right, upper, lower) = (x - 4.0, x + 4.0, y - 4.5, y + 3.5);
            let path = format!("M{x:.1} {upper:.1}L{right:.1} {lower:.1}L{left:.1} {lower:.1}Z");
            writeln!(out, "<path d=\"{path}\" fill=\"{colour}\"/>")
        }
        Tone::Faint => writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.4\"/>"
        ),
    };
}

/// Draws the names of the lines from left to right, and returns the height that they need.
fn legend(out: &mut String, lines: &[GraphLine], top: f64) -> f64 {
    let (mut x, mut row) = (LEFT, 0.0);
    for (number, drawn) in lines.iter().enumerate() {
        let name = truncate(&drawn.series.label, NAME_CHARS_MAX);
        let width = 26.0 + name.chars().count() as f64 * CHARACTER + 16.0;
        if x > LEFT && x + width > WIDTH - RIGHT + 16.0 {
            (x, row) = (LEFT, row + 1.0);
        }
        let y = top + 4.0 + row * LEGEND_ROW;
        let (colour, dashes) = style(number, drawn.dashed);
        if drawn.series.connected {
            line(out, (x, y), (x + 20.0, y), colour, &format!(" stroke-width=\"2\"{dashes}"));
        } else {
            dot(out, (x + 10.0, y), Tone::Plain, colour);
        }
        text(out, (x + 26.0, y + 4.0), "start", TEXT, &name);
        x += width;
    }
    if lines.is_empty() { 0.0 } else { (row + 1.0) * LEGEND_ROW + 6.0 }
}

fn line(out: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str, more: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"{more}/>"
    );
}

/// Label below a tick. It is moved to the left if it would cross the right edge.
fn tick_label(out: &mut String, (x, y): (f64, f64), label: &str) {
    let half = CHARACTER / 2.0 * label.chars().count() as f64;
    text(out, (x.min(WIDTH - half), y), "middle", TEXT, label);
}

fn text(out: &mut String, place: (f64, f64), anchor: &str, colour: &str, content: &str) {
    text_with(out, place, anchor, colour, "", content);
}

fn text_with(out: &mut String, (x, y): (f64, f64), anchor: &str, colour: &str, more: &str, content: &str) {
    let content = escape(&visible(content));
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\"{more}>{content}</text>"
    );
}

fn wrap(body: &str, height: f64) -> SvgPicture {
    let height = height.ceil() as u32;
    let width = WIDTH as u32;
    let text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans, Arial, sans-serif\" font-size=\"11\">\n\
         {body}</svg>"
    );
    SvgPicture { text, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::english;
    use crate::view::ReferenceLine;
    use model::chart::ChartUnit;

    fn axis(title: &str, unit: ChartUnit) -> PlotAxis {
        PlotAxis { title: title.into(), unit, logarithmic: false, references: Vec::new() }
    }

    fn graph(values: &[Option<f64>]) -> Graph {
        let points =
            values.iter().enumerate().map(|(x, y)| PlotPoint { x: x as f64, y: *y, tone: Tone::Plain });
        let series = PointSeries { label: "a < b & c".into(), connected: true, points: points.collect() };
        Graph {
            x: axis("level", ChartUnit::Count),
            y: axis("rate", ChartUnit::PerSecond),
            lines: vec![GraphLine { series, dashed: false }],
        }
    }

    #[test]
    fn a_gap_interrupts_a_line() {
        let picture = draw(&[graph(&[Some(1.0), Some(2.0), None, Some(3.0)])], english()).expect("values");
        let path = picture.text.split("<path d=\"").nth(1).expect("a line");
        assert_eq!(path[..path.find('"').expect("its end")].matches('M').count(), 2, "{path}");
        assert_eq!(picture.text.matches("<circle").count(), 3);
    }

    #[test]
    fn foreign_text_is_escaped() {
        let picture = draw(&[graph(&[Some(1.0)])], english()).expect("a value").text;
        assert!(picture.contains("a &lt; b &amp; c") && !picture.contains("a < b"), "{picture}");
    }

    #[test]
    fn a_graph_without_values_is_left_out() {
        let mut empty = graph(&[None, None]);
        empty.y.references = vec![ReferenceLine { value: 1.0, text: "p99 < 1s".into(), tone: Tone::Plain }];
        assert_eq!(draw(&[empty.clone()], english()), None);
        let one = draw(&[graph(&[Some(1.0)])], english()).expect("a value");
        assert_eq!(draw(&[empty, graph(&[Some(1.0)])], english()), Some(one));
    }

    #[test]
    fn marks_differ_in_shape() {
        let mut points = graph(&[Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
        points.lines[0].series.connected = false;
        for (point, tone) in
            points.lines[0].series.points.iter_mut().zip([Tone::Good, Tone::Bad, Tone::Doubt, Tone::Faint])
        {
            point.tone = tone;
        }
        let picture = draw(&[points], english()).expect("values").text;
        // Two discs (one of them in the legend), a ring, a cross and a triangle.
        assert_eq!(
            (picture.matches("<circle").count(), picture.matches("<path").count()),
            (3, 2),
            "{picture}"
        );
    }

    #[test]
    fn intervals_have_ends_and_texts() {
        let row = |label: &str, value, interval| IntervalRow {
            label: label.into(),
            value,
            interval,
            text: format!("{value}/s"),
            ..IntervalRow::default()
        };
        let rows = [row("with", 646.0, Some((600.0, 700.0))), row("without", 23.8, None)];
        let picture =
            draw_intervals(&axis("per second", ChartUnit::PerSecond), &rows, english()).expect("rows");
        assert!(picture.text.contains("23.8/s") && picture.text.contains(">with<"), "{}", picture.text);
        assert_eq!(picture.text.matches("stroke-width=\"2\"").count(), 1);
        assert_eq!(draw_intervals(&axis("", ChartUnit::Count), &[], english()), None);
    }
}
