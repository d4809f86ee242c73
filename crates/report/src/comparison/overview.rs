//! First screen of a comparison: the largest changes, a chart of them, and doubts

use super::{cell_name, differences, figure_tone, left_out_lines, pair_name};
use crate::lang::Lang;
use crate::say;
use crate::view::{IntervalRow, LargeFigure, Line, Overview, Picture, Plot, PlotAxis, ReferenceLine, Tone};
use model::chart::ChartUnit;
use model::comparison::{
    CellComparison, Change, Comparison, ConditionOutcome, DifferenceSubject, Metric, MetricComparison,
    RunComparison,
};
use model::matrix::ChangeVerdict;

/// Maximum number of doubts on the first screen.
const DOUBTS_MAX: usize = 3;

/// One pair of cells with its run.
#[derive(Clone, Copy)]
struct Pair<'a> {
    run: &'a RunComparison,
    cells: &'a CellComparison,
    tps: &'a MetricComparison,
}

impl<'a> Pair<'a> {
    fn figure(&self, metric: Metric) -> Option<&'a MetricComparison> {
        total(self.cells, metric)
    }
}

/// Figure of all operations together.
fn total(cells: &CellComparison, metric: Metric) -> Option<&MetricComparison> {
    cells.figures.iter().find(|figure| figure.metric == metric && figure.operation.is_none())
}

/// Builds the first screen; `None` if nothing can be compared. `details` is the whole answer. The first screen has the
/// same tone.
pub(super) fn overview(compared: &Comparison, details: &Line, lang: &Lang) -> Option<Overview> {
    let pairs: Vec<Pair<'_>> = compared
        .runs
        .iter()
        .flat_map(|run| run.cells.iter().map(move |cells| (run, cells)))
        .filter_map(|(run, cells)| Some(Pair { run, cells, tps: total(cells, Metric::Tps)? }))
        .collect();
    let size = |pair: &Pair<'_>| match (is_changed(pair.tps), &pair.tps.change) {
        (true, Change::Ratio { value: Some(ratio), .. }) => ratio.ln().abs(),
        _ => 0.0,
    };
    // Among equal changes, show the first.
    let largest = *pairs.iter().reduce(|one, other| if size(other) > size(one) { other } else { one })?;
    let name = (pairs.len() > 1).then(|| label(compared, &largest));
    let subjects = confounders(compared, lang);
    let mut doubts: Vec<Line> = compared.runs.iter().flat_map(|run| differences(run, true, lang)).collect();
    doubts.extend(compared.runs.iter().flat_map(|run| left_out_lines(run, lang)));
    let hidden = doubts.len().saturating_sub(DOUBTS_MAX);
    doubts.truncate(DOUBTS_MAX);
    let more_doubts =
        if hidden > 0 { say!(lang, "overview-more-doubts", count = hidden) } else { String::new() };
    // If the runs are not comparable, changes are neither good nor bad.
    let change_figure = |figure: &MetricComparison, name: Option<&str>, lang: &Lang| {
        let change = change_figure(figure, name, lang);
        LargeFigure { tone: if subjects.is_empty() { change.tone } else { Tone::Plain }, ..change }
    };
    let figures = [
        Some(change_figure(largest.tps, name.as_deref(), lang)),
        largest.figure(Metric::P99).map(|p99| change_figure(p99, name.as_deref(), lang)),
        conditions(compared, lang).or_else(|| match pairs.len() {
            1 => largest.figure(Metric::Errors).map(|errors| change_figure(errors, None, lang)),
            _ => Some(changed_pairs(&pairs, lang)),
        }),
        Some(likeness(&subjects, lang)),
    ];
    let picture = match pairs.as_slice() {
        [_] => picture(
            largest
                .cells
                .figures
                .iter()
                .filter(|figure| figure.operation.is_none())
                .map(|figure| (lang.metric(figure.metric), figure)),
            say!(lang, "compare-caption-figures"),
            lang,
        ),
        pairs => picture(
            pairs.iter().map(|pair| (label(compared, pair), pair.tps)),
            say!(lang, "compare-caption-pairs"),
            lang,
        ),
    };
    Some(Overview {
        summary: Line { text: summary(&largest, name, pairs.len(), &subjects, lang), tone: details.tone },
        figures: figures.into_iter().flatten().collect(),
        picture,
        doubts,
        more_doubts,
        doubts_section: if subjects.is_empty() { "left-out" } else { "unlike" },
        details: details.text.clone(),
    })
}

fn is_changed(figure: &MetricComparison) -> bool {
    matches!(figure.verdict, ChangeVerdict::Higher | ChangeVerdict::Lower)
}

/// Name of a pair of cells; includes the name of the run if several runs are compared.
fn label(compared: &Comparison, pair: &Pair<'_>) -> String {
    let cells = pair_name(pair.cells);
    match (compared.runs.len(), cell_name(&pair.cells.run).is_empty()) {
        (1, _) => cells,
        (_, true) => pair.run.run.name.clone(),
        (_, false) => format!("{}: {cells}", pair.run.run.name),
    }
}

/// Sentence on the throughput and p99 of the pair with the largest change, and on whether the runs are comparable.
/// `name` is the name of the pair, if there are several pairs; `pairs` is the number of pairs.
fn summary(pair: &Pair<'_>, name: Option<String>, pairs: usize, subjects: &[String], lang: &Lang) -> String {
    let phrase = |figure: &MetricComparison| {
        let verdict = match figure.verdict {
            ChangeVerdict::TooFewRuns => "few",
            ChangeVerdict::NoEvidence => "unknown",
            ChangeVerdict::Higher | ChangeVerdict::Lower => "changed",
        };
        (lang.change(&figure.change), verdict)
    };
    let (tps_change, tps) = phrase(pair.tps);
    let (p99_change, p99) = pair.figure(Metric::P99).map(phrase).unzip();
    let pairs = Some(pairs).filter(|pairs| *pairs > 1 && tps != "changed");
    let unlike = (!subjects.is_empty()).then_some(true);
    say!(lang, "compare-overview", name, tps, tps_change, pairs, p99, p99_change, unlike)
}

/// Headline figure for a change: the change, both values and the confidence interval.
fn change_figure(figure: &MetricComparison, name: Option<&str>, lang: &Lang) -> LargeFigure {
    let (base, run) = (&figure.base, &figure.run);
    let unit = if figure.metric == Metric::Tps { lang.numbers().per_second.as_str() } else { "" };
    let [base, run] = [base, run].map(|side| lang.metric_value(figure.metric, side.value) + unit);
    let interval = Some(lang.change_interval(&figure.change)).filter(|text| !text.is_empty());
    let label = match figure.metric {
        Metric::Tps => say!(lang, "overview-throughput"),
        Metric::P99 => say!(lang, "overview-p99"),
        metric => lang.metric(metric),
    };
    let change = lang.change(&figure.change);
    LargeFigure {
        label: name.map_or(label.clone(), |name| format!("{label}: {name}")),
        value: if change.is_empty() { run.clone() } else { change },
        detail: say!(lang, "compare-overview-values", base, run, interval),
        tone: match (figure.verdict, figure_tone(figure)) {
            (ChangeVerdict::TooFewRuns, _) => Tone::Doubt,
            (_, tone) => tone,
        },
    }
}

/// Figure for the number of pairs whose throughput changed.
fn changed_pairs(pairs: &[Pair<'_>], lang: &Lang) -> LargeFigure {
    let changed = pairs.iter().filter(|pair| is_changed(pair.tps)).count();
    LargeFigure {
        label: say!(lang, "compare-overview-changed"),
        value: lang.numbers().count(changed as u64),
        detail: say!(lang, "compare-overview-changed-of", total = pairs.len()),
        tone: Tone::Plain,
    }
}

/// Figure on the user's conditions; `None` without conditions.
fn conditions(compared: &Comparison, lang: &Lang) -> Option<LargeFigure> {
    let outcomes: Vec<ConditionOutcome> =
        compared.runs.iter().flat_map(|run| &run.conditions).map(|condition| condition.outcome).collect();
    let total = outcomes.len();
    let met = outcomes.iter().filter(|outcome| **outcome == ConditionOutcome::Holds).count();
    let all_known = outcomes.iter().all(|outcome| *outcome == ConditionOutcome::DoesNotHold);
    (total > 0).then(|| LargeFigure {
        label: say!(lang, "compare-heading-conditions"),
        value: say!(lang, "compare-overview-conditions", met, total),
        detail: String::new(),
        tone: match (met, all_known) {
            (0, true) => Tone::Good,
            (0, false) => Tone::Doubt,
            _ => Tone::Bad,
        },
    })
}

/// Names of the confounders: subjects in which the runs differ, although the user does not compare these subjects. Each
/// name occurs once.
fn confounders(compared: &Comparison, lang: &Lang) -> Vec<String> {
    let mut subjects: Vec<DifferenceSubject> = compared
        .runs
        .iter()
        .flat_map(|run| &run.differences)
        .filter(|difference| difference.is_confounder())
        .map(|difference| difference.subject)
        .collect();
    subjects.sort();
    subjects.dedup();
    subjects.into_iter().map(|subject| lang.difference_subject(subject)).collect()
}

/// Figure that shows whether the runs are equal except for the compared change.
fn likeness(subjects: &[String], lang: &Lang) -> LargeFigure {
    let label = say!(lang, "compare-overview-likeness");
    match subjects {
        [] => LargeFigure {
            label,
            value: say!(lang, "compare-overview-alike"),
            detail: say!(lang, "compare-overview-alike-detail"),
            tone: Tone::Good,
        },
        subjects => LargeFigure {
            label,
            value: say!(lang, "compare-overview-unlike"),
            detail: say!(lang, "compare-overview-unlike-detail", subjects = subjects.join(", ")),
            tone: Tone::Bad,
        },
    }
}

/// Picture of the changes in per cent, with their intervals; `None` if no change has a ratio.
fn picture<'a>(
    figures: impl Iterator<Item = (String, &'a MetricComparison)>,
    caption: String,
    lang: &Lang,
) -> Option<Picture> {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let row = |(label, figure): (String, &MetricComparison)| {
        let Change::Ratio { value: Some(ratio), interval } = figure.change else { return None };
        Some(IntervalRow {
            label,
            value: percent(ratio),
            interval: interval.map(|(low, high)| (percent(low), percent(high))),
            text: lang.numbers().change(ratio),
            tone: figure_tone(figure),
            ..IntervalRow::default()
        })
    };
    let rows: Vec<IntervalRow> = figures.filter_map(row).collect();
    let unchanged = ReferenceLine { value: 0.0, text: say!(lang, "compare-no-change"), tone: Tone::Plain };
    let axis = PlotAxis {
        title: say!(lang, "compare-axis-change"),
        unit: ChartUnit::Count,
        logarithmic: false,
        references: vec![unchanged],
    };
    (!rows.is_empty()).then_some(Picture { caption, plot: Plot::Intervals { axis, rows } })
}
