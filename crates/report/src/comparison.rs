//! Page of a comparison and of an experiment's history
//!
//! The order is: differences that make the comparison unfair, the user's conditions, figures, other differences,
//! exclusions.

mod overview;

use crate::closing::{self, Closing, NextCommand};
use crate::findings::paragraph;
use crate::lang::Lang;
use crate::matrix::render_table;
use crate::say;
use crate::style::TerminalStyle;
use crate::terms;
use crate::view::{Block, Column, Line, Page, Row, Section, Table, Tone};
use model::Nanos;
use model::comparison::{
    CellComparison, CellHistory, CellLabel, Comparison, ConditionOutcome, ConditionResult, Difference,
    Metric, MetricComparison, RunComparison, RunHistory, TestMethod,
};
use model::matrix::ChangeVerdict;

/// Renders a comparison in one language.
pub fn page(compared: &Comparison, lang: &Lang) -> Page {
    let runs: Vec<&str> = compared.runs.iter().map(|it| it.run.name.as_str()).collect();
    // True if cells of one run are compared with each other.
    let within = compared
        .runs
        .iter()
        .any(|run| !run.cells.is_empty() && run.cells.iter().all(|cell| cell.base != cell.run))
        && runs == [compared.base.name.as_str()];
    let mut baselines: Vec<String> =
        compared.runs.iter().flat_map(|run| &run.cells).map(|cell| cell_name(&cell.base)).collect();
    baselines.dedup();
    let each = |blocks: &dyn Fn(&RunComparison) -> Vec<Block>| -> Vec<Block> {
        let of_run = |comparison: &RunComparison| {
            let mut all = blocks(comparison);
            if compared.runs.len() > 1 && !all.is_empty() {
                all.insert(0, text(comparison.run.name.clone(), Tone::Plain));
            }
            all
        };
        compared.runs.iter().flat_map(of_run).collect()
    };
    let fair = |comparison: &RunComparison| {
        let all: Vec<Line> = differences(comparison, false, lang);
        match all.is_empty() {
            true => vec![text(say!(lang, "compare-no-differences"), Tone::Faint)],
            false => vec![Block::List { items: all }],
        }
    };
    let answers: Vec<String> = compared.runs.iter().map(|it| lang.comparison_answer(it)).collect();
    let answer = Line { text: answers.join(" "), tone: tone(&compared.runs) };
    let mut sections = sections([
        ("unlike", say!(lang, "compare-heading-confounders"), each(&|run| other_differences(run, lang))),
        ("conditions", say!(lang, "compare-heading-conditions"), each(&|run| conditions(run, lang))),
        ("figures", say!(lang, "compare-heading-figures"), each(&|run| figures(run, compared.seed, lang))),
        ("differences", say!(lang, "compare-heading-differences"), each(&fair)),
        ("left-out", say!(lang, "compare-heading-left-out"), each(&|run| left_out(run, lang))),
    ]);
    let overview = overview::overview(compared, &answer, lang);
    sections.extend(terms::section(overview.as_ref(), &sections, &[], lang));
    Page {
        lang: lang.code(),
        language: lang.name(),
        title: say!(lang, "compare-title"),
        question: lang.comparison_question(&compared.base.name, if within { &[] } else { &runs }, &baselines),
        overview,
        answer,
        facts: vec![lang.moment(compared.base.started_ms), lang.seed(compared.seed)],
        sections,
        words: crate::page::script_words(lang),
    }
}

/// Renders the history of an experiment in one language.
pub fn history(history: &RunHistory, lang: &Lang) -> Page {
    let change_count = history.series.iter().map(|it| it.changes.len()).sum();
    let too_few = history.series.iter().all(|it| it.too_few_points);
    let series = history.series.iter().map(|cell| Block::Table(points(history, cell, lang))).collect();
    let found = history.series.iter().flat_map(|cell| changes(history, cell, lang)).collect();
    Page {
        lang: lang.code(),
        language: lang.name(),
        title: say!(lang, "compare-history-title"),
        question: lang.history_question(&history.experiment),
        answer: Line {
            text: lang.history_answer(history.runs.len(), change_count, too_few),
            tone: if change_count > 0 { Tone::Doubt } else { Tone::Plain },
        },
        overview: None,
        facts: vec![lang.seed(history.seed)],
        sections: sections([
            ("changes", say!(lang, "compare-history-heading-changes"), found),
            ("series", say!(lang, "compare-history-heading-runs"), series),
        ]),
        words: crate::page::script_words(lang),
    }
}

/// Formats the page for a terminal. Supports the blocks of comparisons and histories. The answer is at the end, above
/// the `next` commands.
pub fn terminal(page: &Page, next: Vec<NextCommand>, style: TerminalStyle, lang: &Lang) -> String {
    let mut out = paragraph("", &page.question, style.width);
    for section in page.sections.iter().filter(|section| section.id != terms::SECTION) {
        out += &format!("\n{}\n", section.heading);
        for block in &section.blocks {
            match block {
                Block::Text(it) => out += &paragraph("", &it.text, style.width),
                Block::List { items } => {
                    out.extend(items.iter().map(|it| paragraph("* ", &it.text, style.width)));
                }
                Block::Table(it) => out += &table(it, style),
                _ => {}
            }
        }
    }
    // The answer itself states the doubts.
    let closing = Closing { answer: vec![page.answer.text.clone()], next, ..Closing::default() };
    out + &closing::render(&closing, style, lang)
}

fn table(table: &Table, style: TerminalStyle) -> String {
    let mut out = paragraph("", &table.caption, style.width);
    out += &render_table(table, style);
    for (mark, note) in &table.notes {
        out += &paragraph(&format!("{mark:<3}"), &note.text, style.width);
    }
    out
}

fn sections<const N: usize>(all: [(&'static str, String, Vec<Block>); N]) -> Vec<Section> {
    let full = all.into_iter().filter(|it| !it.2.is_empty());
    full.map(|(id, heading, blocks)| Section { id, heading, blocks }).collect()
}

fn text(text: String, tone: Tone) -> Block {
    Block::Text(Line { text, tone })
}

/// Name of a cell; empty if the experiment has no axes.
fn cell_name(label: &CellLabel) -> String {
    label.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join("/")
}

/// Name of a pair of cells; contains both names if the names differ.
fn pair_name(comparison: &CellComparison) -> String {
    let (base, run) = (cell_name(&comparison.base), cell_name(&comparison.run));
    if base == run { run } else { format!("{base} → {run}") }
}

fn tone(all: &[RunComparison]) -> Tone {
    let mut figures = all.iter().flat_map(|it| &it.cells).flat_map(|it| &it.figures);
    match () {
        () if all.iter().flat_map(|it| &it.conditions).any(|it| it.outcome == ConditionOutcome::Holds) => {
            Tone::Bad
        }
        () if all.iter().flat_map(|it| &it.differences).any(Difference::is_confounder) => Tone::Doubt,
        () if figures.any(|it| figure_tone(it) == Tone::Bad) => Tone::Bad,
        () => Tone::Plain,
    }
}

fn figure_tone(comparison: &MetricComparison) -> Tone {
    match (comparison.verdict, comparison.metric.higher_is_better()) {
        (ChangeVerdict::TooFewRuns, _) => Tone::Faint,
        (ChangeVerdict::NoEvidence, _) | (_, None) => Tone::Plain,
        (verdict, Some(more)) if (verdict == ChangeVerdict::Higher) == more => Tone::Good,
        _ => Tone::Bad,
    }
}

fn differences(comparison: &RunComparison, unfair: bool, lang: &Lang) -> Vec<Line> {
    let names: Vec<String> = comparison.cells.iter().map(pair_name).collect();
    let line = |difference: &Difference| {
        let cells: Vec<&str> = difference.cells.iter().map(|number| names[*number].as_str()).collect();
        let tone = if unfair { Tone::Bad } else { Tone::Plain };
        Line { text: lang.difference_of_runs(difference, &cells), tone }
    };
    comparison.differences.iter().filter(|it| it.is_confounder() == unfair).map(line).collect()
}

fn other_differences(comparison: &RunComparison, lang: &Lang) -> Vec<Block> {
    let items = differences(comparison, true, lang);
    match items.len() {
        0 => Vec::new(),
        n => vec![text(lang.confounders(n), Tone::Bad), Block::List { items }],
    }
}

fn conditions(comparison: &RunComparison, lang: &Lang) -> Vec<Block> {
    let line = |condition: &ConditionResult| Line {
        text: lang.condition(condition, &pair_name(&comparison.cells[condition.cell])),
        tone: match condition.outcome {
            ConditionOutcome::Holds => Tone::Bad,
            ConditionOutcome::DoesNotHold => Tone::Good,
            ConditionOutcome::Unknown | ConditionOutcome::Absent => Tone::Doubt,
        },
    };
    let items: Vec<Line> = comparison.conditions.iter().map(line).collect();
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

/// Tables of figures, one per pair of cells. If there are several pairs, one line lists the pairs without evidence of a
/// change.
fn figures(comparison: &RunComparison, seed: u64, lang: &Lang) -> Vec<Block> {
    let figure_count = comparison.cells.iter().map(|it| it.figures.len()).sum();
    let cells = || comparison.cells.iter().filter(|cells| !cells.figures.is_empty());
    let is_dull = |cells: &CellComparison| {
        cells.figures.iter().all(|figure| figure.verdict == ChangeVerdict::NoEvidence)
    };
    let dull: Vec<String> = cells().filter(|cells| is_dull(cells)).map(pair_name).collect();
    let summed_up = dull.len() > 1;
    let full = cells().filter(|cells| !summed_up || !is_dull(cells));
    let mut all: Vec<Block> = full.map(|cells| Block::Table(figures_table(cells, lang))).collect();
    if summed_up {
        let (count, pairs) = (dull.len(), dull.join(", "));
        all.push(text(say!(lang, "compare-dull-pairs", count, pairs), Tone::Plain));
    }
    if !all.is_empty() {
        all.push(text(lang.comparison_legend(seed, figure_count), Tone::Faint));
    }
    all
}

fn figures_table(cell: &CellComparison, lang: &Lang) -> Table {
    // Methods differ if some figures are missing in some trials.
    let mut methods: Vec<&TestMethod> = Vec::new();
    for figure in &cell.figures {
        if !methods.contains(&&figure.method) {
            methods.push(&figure.method);
        }
    }
    let several = cell.figures.iter().any(|it| it.operation.is_some());
    let mark = |method: &TestMethod| {
        let number = methods.iter().position(|known| *known == method).unwrap_or_default();
        char::from(b'a' + (number % 26) as u8).to_string()
    };
    let column = |heading, numeric, drop_order| Column { heading, numeric, drop_order };
    let mut columns = vec![
        column(say!(lang, "compare-column-figure"), false, 0),
        column(say!(lang, "compare-column-base"), true, 2),
        column(say!(lang, "compare-column-run"), true, 1),
        column(say!(lang, "compare-column-change"), true, 0),
        column(say!(lang, "compare-column-interval"), true, 0),
        column(say!(lang, "compare-column-verdict"), false, 0),
        column(say!(lang, "compare-column-method"), false, 3),
    ];
    if several {
        columns.insert(0, column(say!(lang, "compare-column-operation"), false, 0));
    }
    let row = |figure: &MetricComparison| {
        let mut cells = vec![
            lang.metric(figure.metric),
            lang.metric_value(figure.metric, figure.base.value),
            lang.metric_value(figure.metric, figure.run.value),
            lang.change(&figure.change),
            lang.change_interval(&figure.change),
            lang.metric_verdict(figure.metric, figure.verdict),
            mark(&figure.method),
        ];
        if several {
            let all = say!(lang, "compare-all-operations");
            cells.insert(0, figure.operation.clone().unwrap_or(all));
        }
        Row { cells, tone: figure_tone(figure), baseline: false }
    };
    let note = |it: &&TestMethod| (mark(it), Line { text: lang.test_method(it), tone: Tone::Faint });
    Table {
        caption: pair_name(cell),
        columns,
        rows: cell.figures.iter().map(row).collect(),
        notes: methods.iter().map(note).collect(),
    }
}

fn left_out(comparison: &RunComparison, lang: &Lang) -> Vec<Block> {
    let items = left_out_lines(comparison, lang);
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

/// Lines about cells without a counterpart and about excluded trials.
fn left_out_lines(comparison: &RunComparison, lang: &Lang) -> Vec<Line> {
    let mut items: Vec<String> = Vec::new();
    for (of_base, cells) in [(true, &comparison.only_base), (false, &comparison.only_run)] {
        let names: Vec<String> = cells.iter().map(cell_name).collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            items.push(lang.unmatched_cells(of_base, &names));
        }
    }
    for trial in &comparison.excluded {
        let texts: Vec<String> = match trial.reasons.as_slice() {
            [] => vec![lang.status(&trial.status)],
            reasons => reasons.iter().map(|it| lang.reason(it)).collect(),
        };
        items.push(lang.excluded_trial(
            trial.from_base,
            &cell_name(&trial.cell),
            trial.repetition,
            &texts.join("; "),
        ));
    }
    items.into_iter().map(|text| Line { text, tone: Tone::Doubt }).collect()
}

/// Lists the changes of a cell's figures. Each change is followed by the differences in the setup of the run with which
/// it begins.
fn changes(history: &RunHistory, cell: &CellHistory, lang: &Lang) -> Vec<Block> {
    let mut all = Vec::new();
    for point in &cell.changes {
        let run = &history.runs[cell.points[point.point].run].run.name;
        let name = cell_name(&cell.label);
        let change = lang.change_point(point.metric, run, point.before, point.after, point.p);
        let change = if name.is_empty() { change } else { format!("{name}: {change}") };
        all.push(text(change, Tone::Doubt));
        let line = |it: &Difference| Line { text: lang.difference_of_runs(it, &[]), tone: Tone::Plain };
        let mut items: Vec<Line> = point.differences.iter().map(line).collect();
        if items.is_empty() {
            let text = say!(lang, "compare-history-no-difference");
            items.push(Line { text, tone: Tone::Faint });
        }
        all.push(Block::List { items });
    }
    all
}

fn points(history: &RunHistory, cell: &CellHistory, lang: &Lang) -> Table {
    let column = |heading, numeric, drop_order| Column { heading, numeric, drop_order };
    let figure = |metric, drop_order| column(lang.metric(metric), true, drop_order);
    let range = |metric: Metric, bounds: Option<(f64, f64)>| {
        let value = |value: f64| lang.metric_value(metric, value);
        bounds.map_or(String::new(), |(low, high)| format!("{} – {}", value(low), value(high)))
    };
    let (tps, p99) = (cell.points.iter().map(|it| Some(it.tps.0)), cell.points.iter().map(|it| it.p99));
    let sparks = [(Metric::Tps, spark(tps)), (Metric::P99, spark(p99))];
    let row = |(number, point): (usize, &model::comparison::HistoryPoint)| {
        let run = &history.runs[point.run];
        // Show the change with a mark, not only with colour.
        let has_change =
            |metric| cell.changes.iter().any(|change| change.point == number && change.metric == metric);
        let mark = |metric, text: String| if has_change(metric) { format!("▸ {text}") } else { text };
        let p99 = point.p99.map_or(String::new(), |seconds| lang.time(Nanos::from_secs_f64(seconds)));
        Row {
            cells: vec![
                lang.moment(run.run.started_ms),
                run.run.pgdyno_version.clone(),
                run.server.clone().unwrap_or_default(),
                point.trials.to_string(),
                mark(Metric::Tps, lang.metric_value(Metric::Tps, point.tps.0)),
                range(Metric::Tps, point.tps_interval),
                mark(Metric::P99, p99),
                range(Metric::P99, point.p99_interval),
            ],
            tone: if has_change(Metric::Tps) || has_change(Metric::P99) { Tone::Doubt } else { Tone::Plain },
            baseline: false,
        }
    };
    let note = |(metric, spark): (Metric, String)| {
        let text = format!("{} {spark}", lang.metric(metric));
        (String::new(), Line { text, tone: Tone::Plain })
    };
    Table {
        caption: cell_name(&cell.label),
        columns: vec![
            column(say!(lang, "compare-history-column-when"), false, 0),
            column(say!(lang, "compare-history-column-pgdyno"), false, 5),
            column(say!(lang, "compare-history-column-postgresql"), false, 4),
            column(say!(lang, "compare-history-column-trials"), true, 3),
            figure(Metric::Tps, 0),
            column(say!(lang, "compare-column-interval"), true, 2),
            figure(Metric::P99, 0),
            column(say!(lang, "compare-column-interval"), true, 2),
        ],
        rows: cell.points.iter().enumerate().map(row).collect(),
        notes: sparks.into_iter().map(note).collect(),
    }
}

/// Draws one line of bars with heights from 0 to the maximum of the values.
fn spark(values: impl Iterator<Item = Option<f64>>) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values: Vec<Option<f64>> = values.collect();
    let greatest = values.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let bar = |value: &Option<f64>| {
        value.map_or(' ', |value| BARS[((value / greatest * 7.0).round() as usize).min(7)])
    };
    values.iter().map(bar).collect()
}

#[cfg(test)]
pub(crate) mod tests;
