//! Names, units and annotations of the charts

use super::context::PageContext;
use crate::lang::Lang;
use crate::say;
use crate::text::truncate;
use crate::view::{Block, ChartView, ChartedTrial, ChartsBlock, Line, MarkView, Tone, TrackView};
use model::EventKind;
use model::chart::{Annotation, Chart, ChartKind, ChartSeries, ChartSeriesKind};
use model::run_result::TrialResult;

/// Maximum number of characters that are shown of a log line.
const TEXT_CHARS_MAX: usize = 300;

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let trials: Vec<ChartedTrial> = case.charted().iter().map(|it| trial(case, it)).collect();
    if trials.is_empty() {
        return Vec::new();
    }
    let chosen = case.best.or(case.chosen.first().copied()).and_then(|it| case.trial_of(it)).unwrap_or(0);
    vec![Block::Charts(ChartsBlock { selected: chosen, trials })]
}

fn trial(case: &PageContext<'_>, trial: &TrialResult) -> ChartedTrial {
    let lang = case.lang;
    let tone = match (trial.status.is_some(), trial.valid) {
        (false, _) => Tone::Plain,
        (true, true) if trial.doubts.is_empty() => Tone::Good,
        (true, true) => Tone::Doubt,
        (true, false) => Tone::Bad,
    };
    ChartedTrial {
        name: Line { text: name(case, trial), tone },
        charts: trial.charts.charts.iter().map(|it| chart(it, lang)).collect(),
        marks: trial.charts.annotations.iter().map(|it| mark(it, lang)).collect(),
    }
}

/// Name of a trial within its cell: its repetition, or in a search its level.
fn name(case: &PageContext<'_>, trial: &TrialResult) -> String {
    let (lang, cell) = (case.lang, case.name(trial.cell));
    let Some(step) = &trial.step else { return lang.trial(cell, trial.repetition + 1) };
    let of_many = if case.account.experiment.cells.len() > 1 { cell } else { "" };
    let level = lang.at_level(of_many, step.scale, step.level);
    let change =
        step.perturbation.as_ref().map_or(String::new(), |it| format!(", {}", lang.perturbation(it)));
    format!("{}: {level}{change}", trial.id)
}

/// Builds names and units of a chart in one language, without its data.
pub fn chart(chart: &Chart, lang: &Lang) -> ChartView {
    let unit = chart.kind.unit();
    ChartView {
        id: chart.kind,
        title: lang.chart(chart.kind),
        unit,
        axis: lang.axis(unit),
        logarithmic: chart.kind.is_logarithmic(),
        stacked: chart.kind.is_stacked(),
        collapsed: chart.kind.is_collapsed(),
        tracks: chart.series.iter().map(|it| track(it, chart.kind, lang)).collect(),
    }
}

fn track(series: &ChartSeries, chart: ChartKind, lang: &Lang) -> TrackView {
    let word = lang.track(series.kind);
    let label = match (series.kind, series.label.as_deref().map(|it| truncate(it, TEXT_CHARS_MAX))) {
        (_, None) => word,
        (ChartSeriesKind::Waiting, Some(label)) if label == RUNNING_LABEL => {
            say!(lang, "page-series-running")
        }
        (
            ChartSeriesKind::Sessions
            | ChartSeriesKind::Waiting
            | ChartSeriesKind::LocksWaiting
            | ChartSeriesKind::Metric,
            Some(label),
        ) => label,
        (
            ChartSeriesKind::Quantile(_) | ChartSeriesKind::Max | ChartSeriesKind::ReplicationLag,
            Some(label),
        ) => {
            format!("{label} {word}")
        }
        (_, Some(label)) => format!("{word} {label}"),
    };
    let label = series.node.as_ref().map_or(label.clone(), |node| format!("{node}: {label}"));
    TrackView {
        label,
        dashed: series.kind.is_limit() || series.kind == ChartSeriesKind::Users,
        overlaid: is_overlaid(series, chart),
    }
}

/// True for the series that are drawn when several trials share one chart: the delivered rate, and the median and p99
/// of all operations.
fn is_overlaid(series: &ChartSeries, chart: ChartKind) -> bool {
    series.label.is_none()
        && chart != ChartKind::Transactions
        && match series.kind {
            ChartSeriesKind::Delivered => true,
            ChartSeriesKind::Quantile(quantile) => [0.5, 0.99].contains(&quantile),
            _ => false,
        }
}

/// Label of sessions that do not wait.
const RUNNING_LABEL: &str = "running";

/// Text of an event.
pub fn mark(annotation: &Annotation, lang: &Lang) -> MarkView {
    let tone = match annotation.kind {
        EventKind::Deadlock | EventKind::TooManyConnections | EventKind::Fatal => Tone::Bad,
        EventKind::Error | EventKind::SlowStatement => Tone::Doubt,
        EventKind::Fault => Tone::Bad,
        EventKind::Promoted => Tone::Good,
        EventKind::Lifecycle | EventKind::Reverted | EventKind::Rejoined => Tone::Plain,
        EventKind::Other => Tone::Faint,
    };
    let times = if annotation.count > 1 { format!(" ×{}", annotation.count) } else { String::new() };
    let event_name = lang.event(annotation.kind);
    let text = lang.event_text(annotation.kind, &annotation.text);
    MarkView {
        at: annotation.at,
        text: format!("{}: {event_name}{times}: {}", annotation.node, truncate(&text, TEXT_CHARS_MAX)),
        tone,
    }
}
