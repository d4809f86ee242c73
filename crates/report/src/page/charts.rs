//! Names, units and annotations of the charts.

use super::context::PageContext;
use crate::lang::Lang;
use crate::say;
use crate::text::truncate;
use crate::view::{Block, ChartView, ChartedTrial, ChartsBlock, Line, MarkView, Tone, TrackView};
use model::EventKind;
use model::chart::{Annotation, Chart, ChartSeries, ChartSeriesKind};
use model::run_result::TrialResult;

/// Characters of a log line that are shown.
const TEXT_CHARS_MAX: usize = 300;

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let trials: Vec<ChartedTrial> = case.charted().iter().map(|it| trial(case, it)).collect();
    if trials.is_empty() {
        return Vec::new();
    }
    let chosen = case.best.or(case.chosen.first().copied()).and_then(|it| case.trial_of(it)).unwrap_or(0);
    vec![Block::Charts(ChartsBlock { selected: chosen, trials })]
}

fn trial(case: &PageContext<'_>, it: &TrialResult) -> ChartedTrial {
    let lang = case.lang;
    let tone = match (it.status.is_some(), it.valid) {
        (false, _) => Tone::Plain,
        (true, true) if it.doubts.is_empty() => Tone::Good,
        (true, true) => Tone::Doubt,
        (true, false) => Tone::Bad,
    };
    ChartedTrial {
        name: Line { text: name(case, it), tone },
        charts: it.charts.charts.iter().map(|it| chart(it, lang)).collect(),
        marks: it.charts.annotations.iter().map(|it| mark(it, lang)).collect(),
    }
}

/// A trial's name within its cell: its repetition, or in a search its level.
fn name(case: &PageContext<'_>, it: &TrialResult) -> String {
    let (lang, cell) = (case.lang, case.name(it.cell));
    let Some(step) = &it.step else { return lang.trial(cell, it.repetition + 1) };
    let of_many = if case.account.experiment.cells.len() > 1 { cell } else { "" };
    let level = lang.at_level(of_many, step.scale, step.level);
    let change =
        step.perturbation.as_ref().map_or(String::new(), |it| format!(", {}", lang.perturbation(it)));
    format!("{}: {level}{change}", it.id)
}

/// Names and units of a chart in one language, without its data.
pub fn chart(it: &Chart, lang: &Lang) -> ChartView {
    let unit = it.kind.unit();
    ChartView {
        id: it.kind,
        title: lang.chart(it.kind),
        unit,
        axis: lang.axis(unit),
        logarithmic: it.kind.is_logarithmic(),
        stacked: it.kind.is_stacked(),
        tracks: it.series.iter().map(|it| track(it, lang)).collect(),
    }
}

fn track(it: &ChartSeries, lang: &Lang) -> TrackView {
    let word = lang.track(it.kind);
    let label = match (it.kind, it.label.as_deref().map(|it| truncate(it, TEXT_CHARS_MAX))) {
        (_, None) => word,
        (ChartSeriesKind::Waiting, Some(label)) if label == RUNNING_LABEL => {
            say!(lang, "page-series-running")
        }
        (ChartSeriesKind::Sessions | ChartSeriesKind::Waiting, Some(label)) => label,
        (
            ChartSeriesKind::Quantile(_) | ChartSeriesKind::Max | ChartSeriesKind::ReplicationLag,
            Some(label),
        ) => {
            format!("{label} {word}")
        }
        (_, Some(label)) => format!("{word} {label}"),
    };
    let label = it.node.as_ref().map_or(label.clone(), |node| format!("{node}: {label}"));
    TrackView { label, dashed: it.kind == ChartSeriesKind::Limit }
}

/// Label of sessions that do not wait.
const RUNNING_LABEL: &str = "running";

/// Text of an event.
pub fn mark(it: &Annotation, lang: &Lang) -> MarkView {
    let tone = match it.kind {
        EventKind::Deadlock | EventKind::TooManyConnections | EventKind::Fatal => Tone::Bad,
        EventKind::Error | EventKind::SlowStatement => Tone::Doubt,
        EventKind::Fault => Tone::Bad,
        EventKind::Promoted => Tone::Good,
        EventKind::Lifecycle | EventKind::Reverted | EventKind::Rejoined => Tone::Plain,
        EventKind::Other => Tone::Faint,
    };
    let times = if it.count > 1 { format!(" ×{}", it.count) } else { String::new() };
    let what = lang.event(it.kind);
    let text = lang.event_text(it.kind, &it.text);
    MarkView {
        at: it.at,
        text: format!("{}: {what}{times}: {}", it.node, truncate(&text, TEXT_CHARS_MAX)),
        tone,
    }
}
