//! Figures of a search and of trials over time

use super::run_view::RunView;
use super::{Element, Figure};
use crate::lang::Lang;
use crate::say;
use crate::svg::{self, Graph, GraphLine};
use crate::view::{ChartView, ChartedTrial, PlotAxis, PlotPoint, PointSeries, ReferenceLine, Tone};
use model::Nanos;
use model::chart::{Chart, ChartKind, ChartUnit, Charts};
use model::objective::ObjectiveUnit;
use model::plan::LoadScale;
use model::search::{LevelOutcome, Maximum, StepResult};

/// Maximum number of points of a drawn line, fewer than its columns of pixels.
const COLUMNS_MAX: usize = 500;
/// Maximum number of lines of a chart. More lines could not be distinguished.
const LINES_MAX: usize = 16;

/// Graph of all steps of a search: offered and delivered rate above, response times below, both against the level.
pub fn search(view: &RunView<'_>, maximum: &Maximum, cell: &str) -> Option<Element> {
    let lang = view.lang;
    let scale = maximum.answer.scale;
    let mut steps: Vec<&StepResult> = maximum.steps.iter().collect();
    steps.sort_by(|one, other| one.step.level.total_cmp(&other.step.level));
    let unit = if scale == LoadScale::Rate { ChartUnit::PerSecond } else { ChartUnit::Count };
    let found = maximum.answer.level.map(|level| ReferenceLine {
        value: level,
        text: lang.level(scale, level),
        tone: Tone::Good,
    });
    let x = |references| PlotAxis { title: lang.load_scale(scale), unit, logarithmic: false, references };
    let points = |label: String, value: fn(&StepResult) -> Option<f64>| {
        let point = |step: &&StepResult| PlotPoint {
            x: step.step.level,
            y: value(step).filter(|_| is_measured(step)),
            tone: tone(step),
        };
        let points: Vec<PlotPoint> = steps.iter().map(point).filter(|it| it.y.is_some()).collect();
        GraphLine { series: PointSeries { label, connected: false, points }, dashed: false }
    };
    let delivered = points(say!(lang, "page-series-delivered"), |step| Some(step.delivered.0));
    let mut rates = vec![delivered];
    if scale == LoadScale::Rate
        && let (Some(first), Some(last)) = (steps.first(), steps.last())
    {
        let point = |level: f64| PlotPoint { x: level, y: Some(level), tone: Tone::Plain };
        let points = vec![point(first.step.level), point(last.step.level)];
        let series = PointSeries { label: say!(lang, "page-series-offered"), connected: true, points };
        rates.push(GraphLine { series, dashed: true });
    }
    let times = vec![
        points("p95".to_owned(), |step| step.p95.map(Nanos::as_secs_f64)),
        points("p99".to_owned(), |step| step.p99.map(Nanos::as_secs_f64)),
    ];
    let mut bounds: Vec<ReferenceLine> = Vec::new();
    for result in steps.iter().flat_map(|it| &it.time_objectives) {
        if result.unit == ObjectiveUnit::Seconds && bounds.iter().all(|it| it.text != result.objective) {
            let (value, text) = (result.bound, result.objective.clone());
            bounds.push(ReferenceLine { value, text, tone: Tone::Plain });
        }
    }
    let axis =
        |unit, logarithmic, references| PlotAxis { title: lang.axis(unit), unit, logarithmic, references };
    let graphs = [
        Graph {
            x: x(found.clone().into_iter().collect()),
            y: axis(ChartUnit::PerSecond, false, Vec::new()),
            lines: rates,
        },
        Graph { x: x(Vec::new()), y: axis(ChartUnit::Seconds, true, bounds), lines: times },
    ];
    let caption = say!(lang, "document-search-figure", cell = named(cell), steps = steps.len());
    Some(Element::Figure(Figure { caption, picture: svg::draw(&graphs, lang)? }))
}

/// True if the step has figures: a trial that failed has none, and its rate of 0 would mislead.
fn is_measured(step: &StepResult) -> bool {
    !matches!(step.outcome, LevelOutcome::Invalid { .. }) || step.delivered.0 > 0.0
}

fn tone(step: &StepResult) -> Tone {
    match step.outcome {
        LevelOutcome::Sustained => Tone::Plain,
        LevelOutcome::NotSustained { .. } => Tone::Bad,
        LevelOutcome::Invalid { .. } => Tone::Faint,
    }
}

fn named(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}

/// Figures of one trial over time: its charts of these kinds, in their order. A chart without a value is left out.
pub fn over_time(trial: &ChartedTrial, charts: &Charts, kinds: &[ChartKind], lang: &Lang) -> Vec<Element> {
    let drawn = trial.charts.iter().zip(&charts.charts).filter(|(view, _)| kinds.contains(&view.id));
    let figure = |(view, chart): (&ChartView, &Chart)| {
        let picture = svg::draw(&[time_graph(view, chart, charts, lang)], lang)?;
        let mut caption = format!("{}. {}", view.title, trial.name.text);
        let left_out = view.tracks.len().saturating_sub(LINES_MAX);
        if left_out > 0 {
            caption += ". ";
            caption += &say!(lang, "document-lines-left-out", count = left_out);
        }
        Some(Element::Figure(Figure { caption, picture }))
    };
    drawn.filter_map(figure).collect()
}

fn time_graph(view: &ChartView, chart: &Chart, charts: &Charts, lang: &Lang) -> Graph {
    let lines = view.tracks.iter().zip(&chart.series).take(LINES_MAX);
    let lines = lines.map(|(track, series)| GraphLine {
        series: PointSeries {
            label: track.label.clone(),
            connected: true,
            points: thin_out(&charts.times, &series.values),
        },
        dashed: track.dashed,
    });
    let title = say!(lang, "document-time-axis");
    Graph {
        x: PlotAxis { title, unit: ChartUnit::Seconds, logarithmic: false, references: Vec::new() },
        y: PlotAxis {
            title: view.axis.clone(),
            unit: view.unit,
            logarithmic: view.logarithmic,
            references: Vec::new(),
        },
        lines: lines.collect(),
    }
}

/// Points of a line. Of many points in one column of pixels, the lowest and the highest are kept, so that no peak is
/// lost; values are never averaged.
fn thin_out(times: &[f64], values: &[Option<f64>]) -> Vec<PlotPoint> {
    let all: Vec<(f64, Option<f64>)> = times.iter().copied().zip(values.iter().copied()).collect();
    let point = |(x, y): (f64, Option<f64>)| PlotPoint { x, y, tone: Tone::Plain };
    let size = all.len().div_ceil(COLUMNS_MAX).max(1);
    if size == 1 {
        return all.into_iter().map(point).collect();
    }
    let extremes = |chunk: &[(f64, Option<f64>)]| {
        // A gap is kept, so that an outage does not disappear.
        let gap = chunk.iter().find(|it| it.1.is_none()).copied();
        let known = || chunk.iter().copied().filter(|it| it.1.is_some());
        let low = known().min_by(|one, other| one.1.partial_cmp(&other.1).expect("values are finite"));
        let high = known().max_by(|one, other| one.1.partial_cmp(&other.1).expect("values are finite"));
        let mut kept: Vec<(f64, Option<f64>)> = [low, high, gap].into_iter().flatten().collect();
        kept.sort_by(|one, other| one.0.total_cmp(&other.0));
        kept.dedup();
        kept
    };
    all.chunks(size).flat_map(extremes).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_keep_peaks_and_gaps() {
        let times: Vec<f64> = (0..7200).map(f64::from).collect();
        let mut values: Vec<Option<f64>> = (0..7200).map(|it| Some(f64::from(it % 7))).collect();
        values[3333] = Some(99.0);
        values[5000] = None;
        let points = thin_out(&times, &values);
        assert!(points.len() <= 3 * COLUMNS_MAX, "{}", points.len());
        assert!(points.iter().any(|it| it.x == 3333.0 && it.y == Some(99.0)));
        assert!(points.iter().any(|it| it.x == 5000.0 && it.y.is_none()));
        assert!(points.windows(2).all(|it| it[0].x < it[1].x));
        assert_eq!(thin_out(&[0.0, 1.0], &[Some(1.0), None]).len(), 2);
    }
}
