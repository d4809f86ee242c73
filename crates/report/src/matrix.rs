//! Matrix as a table for pages and terminals
//!
//! Figures are not comparable without placement and transport. Therefore, a letter in each row refers to a note with
//! the cell's path through the stack. On a narrow terminal, the least important columns are dropped until the rest
//! fits.

use crate::cells::{baseline_name, cell_names};
use crate::findings::{has_too_few_runs, paragraph, views};
use crate::lang::Lang;
use crate::lang::number::interval_text;
use crate::live::width;
use crate::number::three_digits;
use crate::say;
use crate::style::CharacterSet;
pub use crate::style::TerminalStyle;
use crate::text::to_characters;
use crate::view::{self, Column, Line, Table, Tone};
use model::finding::Finding;
use model::matrix::{ChangeVerdict, Estimate, Figure, Matrix, Row, Trial, TrialStatus, UnappliedLimit};
use model::message::Message;
use model::validity::InvalidReason;
use std::mem::{Discriminant, discriminant};

/// Renders the table, its notes and the findings, for a terminal.
pub fn render(matrix: &Matrix, findings: &[Finding], style: TerminalStyle, lang: &Lang) -> String {
    let show = |it: &str| to_characters(it, style.characters);
    let prose = |begin: &str, text: &str| paragraph(begin, &show(text), style.width);
    let table = table(matrix, findings, lang);
    let mut out = render_table(&table, style);
    out.push('\n');
    for (mark, note) in &table.notes {
        let begin = if mark.is_empty() { String::new() } else { format!("{mark:<3}") };
        out += &prose(&begin, &note.text);
    }
    let interrupted = reservations(matrix, lang);
    if !interrupted.is_empty() {
        out.push('\n');
        out.extend(interrupted.iter().map(|it| prose("! ", it)));
    }
    if !matrix.objectives.is_empty() {
        out.push('\n');
        let names = cell_names(matrix);
        out.extend(matrix.objectives.iter().map(|it| prose("* ", &lang.objective_summary(it, &names))));
    }
    if !findings.is_empty() {
        out.push('\n');
        out += &crate::findings::render(&views(findings, matrix, lang, &|_| Vec::new()), style);
    }
    out
}

/// Lists doubts about the figures, and the trials that a stop rule ended.
fn reservations(matrix: &Matrix, lang: &Lang) -> Vec<String> {
    let names = cell_names(matrix);
    let total = matrix.rows.iter().map(|it| it.trials.len()).sum::<usize>();
    let named = |cell: usize, repetition: u32, reason: String| match total {
        1 => reason,
        _ => format!("{}: {reason}", lang.trial(&names[cell], repetition + 1)),
    };
    let doubts = matrix.doubts.iter().map(|summary| match summary.trials {
        1 => named(summary.cell, summary.repetition, lang.doubt(&summary.doubt, summary.clients)),
        _ => lang.doubt_summary(summary, total),
    });
    let mut all: Vec<String> = doubts.collect();
    for (cell, row) in matrix.rows.iter().enumerate() {
        for trial in &row.trials {
            if let TrialStatus::Stopped { event } = &trial.status {
                all.push(named(cell, trial.repetition, lang.fired(event)));
            }
        }
    }
    all
}

/// Builds the table of the cells' figures, compared with the baseline. `findings` determine whether there were too few
/// trials for a comparison.
pub fn table(matrix: &Matrix, findings: &[Finding], lang: &Lang) -> Table {
    let mut notes = NoteList::default();
    let mut columns = labels(matrix);
    columns.extend(figures(matrix, lang));
    columns.push(path_column(matrix, &mut notes, lang));
    let baseline = baseline_name(matrix);
    let few = |row: &Row| {
        let comparison = row.estimate(Figure::Tps).and_then(|estimate| estimate.vs_baseline);
        comparison.is_some_and(|comparison| comparison.verdict == ChangeVerdict::TooFewRuns)
    };
    let few = matrix.rows.iter().any(few) || has_too_few_runs(findings);
    let faint = |text| Line { text, tone: Tone::Faint };
    let mut below = vec![(String::new(), faint(lang.legend(baseline.as_deref(), matrix.seed, few)))];
    below.extend(notes.0.into_iter().map(|(mark, text)| {
        // Letters mark paths, numbers mark exclusions.
        let tone = if mark.starts_with(|c: char| c.is_ascii_digit()) { Tone::Doubt } else { Tone::Plain };
        (mark, Line { text, tone })
    }));
    below.extend(matrix.monitoring_cpu.map(|it| (String::new(), faint(lang.watching(it)))));
    let row = |(number, row): (usize, &Row)| view::Row {
        cells: columns.iter().map(|it| it.1[number].clone()).collect(),
        tone: tone(row),
        baseline: matrix.is_baseline(number),
    };
    let rows = matrix.rows.iter().enumerate().map(row).collect();
    let columns = columns.into_iter().map(|it| it.0).collect();
    Table { caption: String::new(), columns, rows, notes: below }
}

/// Tone of a row. A row without figures is faint. A row that differs from the baseline is coloured; its verdict also
/// states the difference in words.
fn tone(row: &Row) -> Tone {
    let Some(tps) = row.estimate(Figure::Tps) else { return Tone::Faint };
    match tps.vs_baseline.map(|it| it.verdict) {
        Some(ChangeVerdict::Lower) => Tone::Bad,
        Some(ChangeVerdict::Higher) => Tone::Good,
        _ => Tone::Plain,
    }
}

/// Column and its cells, by row.
type FilledColumn = (Column, Vec<String>);

/// Notes below the table, with their marks.
#[derive(Default)]
struct NoteList(Vec<(String, String)>);

impl NoteList {
    /// Adds a note and returns its mark. Notes with equal texts share a mark: `a`, `b`, … for paths, `1`, `2`, … for
    /// other notes.
    fn mark(&mut self, note: String, way: bool) -> String {
        if let Some((mark, _)) = self.0.iter().find(|it| it.1 == note) {
            return mark.clone();
        }
        let is_way = |mark: &str| mark.starts_with(|c: char| c.is_ascii_lowercase());
        let number = self.0.iter().filter(|it| is_way(&it.0) == way).count();
        let mark = match way {
            // The mark after z is a1.
            true => {
                let letter = char::from(b'a' + (number % 26) as u8);
                if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
            }
            false => (number + 1).to_string(),
        };
        self.0.push((mark.clone(), note));
        mark
    }
}

/// Builds one column per axis. A cell need not have a value on every axis.
fn labels(matrix: &Matrix) -> Vec<FilledColumn> {
    let mut axes: Vec<&str> = Vec::new();
    for (axis, _) in matrix.rows.iter().flat_map(|it| &it.label) {
        if !axes.contains(&axis.as_str()) {
            axes.push(axis);
        }
    }
    let cell = |row: &Row, axis: &str| {
        row.label.iter().find(|it| it.0 == axis).map_or(String::new(), |it| it.1.clone())
    };
    let column = |axis: &str| {
        let column = Column { heading: axis.to_owned(), numeric: false, drop_order: 0 };
        (column, matrix.rows.iter().map(|row| cell(row, axis)).collect())
    };
    axes.into_iter().map(column).collect()
}

fn figures(matrix: &Matrix, lang: &Lang) -> Vec<FilledColumn> {
    let mut columns = Vec::new();
    let mut push = |heading: String, dispensable, cell: &dyn Fn(&Row) -> String| {
        let cells: Vec<String> = matrix.rows.iter().map(cell).collect();
        if cells.iter().any(|it| !it.is_empty()) {
            columns.push((Column { heading, numeric: true, drop_order: dispensable }, cells));
        }
    };
    let value = |row: &Row, figure| row.estimate(figure).map_or(String::new(), |it| at_least(it, lang));
    push(lang.figure(Figure::Tps), 0, &|row| match row.estimate(Figure::Tps) {
        Some(it) => number(Figure::Tps, it.median, lang),
        None => "-".to_owned(),
    });
    push(say!(lang, "table-interval"), 4, &|row| {
        row.estimate(Figure::Tps).map_or(String::new(), |it| interval(it, lang))
    });
    push(say!(lang, "table-ratio"), 1, &|row| ratio_text(row, lang));
    push(say!(lang, "table-interval"), 5, &|row| ratio_interval_text(row, lang));
    push(lang.figure(Figure::P50), 7, &|row| value(row, Figure::P50));
    push(lang.figure(Figure::P99), 2, &|row| value(row, Figure::P99));
    push(lang.figure(Figure::Requests), 8, &|row| value(row, Figure::Requests));
    // Omit columns in which all values are zero.
    for (figure, dispensable) in [
        (Figure::Failed, 6),
        (Figure::Errors, 3),
        (Figure::Dropped, 3),
        (Figure::Refused, 3),
        (Figure::Deadlocks, 3),
    ] {
        if matrix.rows.iter().any(|row| row.estimate(figure).is_some_and(|it| it.median > 0.0)) {
            push(lang.figure(figure), dispensable, &|row| value(row, figure));
        }
    }
    if matrix.rows.iter().any(|row| row.estimate(Figure::Starved).is_some_and(|it| it.median > 0.0)) {
        push(lang.figure(Figure::Served), 3, &|row| {
            let served = row.estimate(Figure::Starved).map(|it| f64::from(row.clients) - it.median);
            served.map_or(String::new(), |it| format!("{it:.0}/{}", row.clients))
        });
    }
    push(lang.figure(Figure::ReplicationLag), 4, &|row| value(row, Figure::ReplicationLag));
    push(lang.figure(Figure::TimeToSteady), 5, &|row| value(row, Figure::TimeToSteady));
    push(lang.figure(Figure::PoolerCpu), 6, &|row| value(row, Figure::PoolerCpu));
    push(lang.figure(Figure::ServerCpu), 6, &|row| value(row, Figure::ServerCpu));
    columns
}

/// Formats the ratio and the verdict, such as `0.844 lower`. With too few trials, formats only the ratio; a note below
/// the table states the reason.
fn ratio_text(row: &Row, lang: &Lang) -> String {
    let Some(change) = row.estimate(Figure::Tps).and_then(|it| it.vs_baseline) else { return String::new() };
    let ratio = change.ratio.map_or(String::new(), |it| lang.number(&format!("{it:.3}")) + " ");
    let verdict = match change.verdict {
        ChangeVerdict::TooFewRuns => String::new(),
        verdict => lang.verdict(verdict),
    };
    format!("{ratio}{verdict}").trim_end().to_owned()
}

fn ratio_interval_text(row: &Row, lang: &Lang) -> String {
    let interval = row.estimate(Figure::Tps).and_then(|it| it.vs_baseline?.interval);
    interval.map_or(String::new(), |it| interval_text(it, lang))
}

/// Formats the interval relative to the median: `±1.0 %`, or `-0.4 +1.0 %` if it is asymmetric.
fn interval(estimate: &Estimate, lang: &Lang) -> String {
    let Some((low, high)) = estimate.interval.filter(|_| estimate.median > 0.0) else { return String::new() };
    let percent = |part: f64| lang.number(&format!("{:.1}", 100.0 * part / estimate.median));
    let (below, above) = (percent(estimate.median - low), percent(high - estimate.median));
    if below == above { format!("±{below} %") } else { format!("-{below} +{above} %") }
}

/// Formats `12.3`, or `>6000` if only a lower bound is known.
fn at_least(estimate: &Estimate, lang: &Lang) -> String {
    let sign = if estimate.is_lower_bound { ">" } else { "" };
    sign.to_owned() + &number(estimate.figure, estimate.median, lang)
}

/// Formats a number in the unit of the figure's heading.
fn number(figure: Figure, value: f64, lang: &Lang) -> String {
    lang.number(&match figure {
        Figure::P50 | Figure::P99 | Figure::ReplicationLag => three_digits(value * 1e3),
        Figure::Tps => three_digits(value),
        Figure::Errors | Figure::Dropped | Figure::Deadlocks => three_digits(value),
        Figure::Requests
        | Figure::Failed
        | Figure::Refused
        | Figure::Served
        | Figure::Starved
        | Figure::TimeToSteady => format!("{value:.0}"),
        Figure::PoolerCpu | Figure::ServerCpu => format!("{value:.2}"),
    })
}

/// Kind of reason why a trial is excluded.
#[derive(PartialEq)]
enum ExclusionKind {
    Reason(Discriminant<InvalidReason>),
    Status(String),
}

/// Reasons to exclude a trial, one per kind; empty if the trial counts.
fn exclusion_reasons(trial: &Trial, lang: &Lang) -> Vec<(ExclusionKind, String)> {
    let mut all: Vec<(ExclusionKind, String)> = Vec::new();
    if trial.valid {
        return all;
    }
    let failed = matches!(trial.status, TrialStatus::Failed { .. });
    for reason in trial.reasons.iter().filter(|_| !failed) {
        let kind = ExclusionKind::Reason(discriminant(reason));
        if !all.iter().any(|it| it.0 == kind) {
            all.push((kind, lang.reason(reason)));
        }
    }
    if all.is_empty() {
        let status = lang.status(&trial.status);
        all.push((ExclusionKind::Status(status.clone()), status));
    }
    all
}

/// Builds the column with the mark of each row's path, and adds the notes with the paths. Rows with equal paths share a
/// note.
fn path_column(matrix: &Matrix, notes: &mut NoteList, lang: &Lang) -> FilledColumn {
    let trials = || matrix.rows.iter().flat_map(|it| &it.trials);
    let total = trials().count();
    // If several trials are excluded for the same kind of reason, show the figures of the first one.
    let mut kinds: Vec<(ExclusionKind, String, usize)> = Vec::new();
    for (kind, reason) in trials().flat_map(|it| exclusion_reasons(it, lang)) {
        match kinds.iter_mut().find(|it| it.0 == kind) {
            Some(known) => known.2 += 1,
            None => kinds.push((kind, reason, 1)),
        }
    }
    let mut missing: Vec<&UnappliedLimit> = matrix.rows.iter().flat_map(|it| &it.unapplied_limits).collect();
    missing.sort();
    missing.dedup();
    let mut cells = Vec::new();
    for row in &matrix.rows {
        let mut way = lang.path(&row.hops, &row.generator, "→");
        if let Some(replication) = &row.replication {
            let followed = lang.replication_mode(replication.sync);
            way +=
                &lang.with_replicas(replication.replicas as usize, &followed, replication.manager.product());
        }
        let mut marks = vec![notes.mark(way, true)];
        let of_row: Vec<ExclusionKind> =
            row.trials.iter().flat_map(|it| exclusion_reasons(it, lang)).map(|it| it.0).collect();
        for (kind, reason, count) in &kinds {
            let mark = match of_row.iter().filter(|it| *it == kind).count() {
                0 => continue,
                1 => String::new(),
                n => format!("×{n}"),
            };
            marks.push(notes.mark(lang.left_out(*count, total, reason), false) + &mark);
        }
        let mut whys: Vec<&Message> = row.unapplied_limits.iter().map(|it| &it.reason).collect();
        whys.sort_unstable();
        whys.dedup();
        for reason in whys {
            let same: Vec<&UnappliedLimit> =
                missing.iter().copied().filter(|it| it.reason == *reason).collect();
            marks.push(notes.mark(lang.not_applied(&same), false));
        }
        cells.push(marks.join(" "));
    }
    // Notes on paths come first, in the order of their letters.
    notes.0.sort_by_key(|it| it.0.starts_with(|c: char| c.is_ascii_digit()));
    (Column { heading: say!(lang, "table-path"), numeric: false, drop_order: 0 }, cells)
}

/// Number of columns between two cells.
const GAP: usize = 2;

/// Minimum width of a wrapped column of texts. A column that is narrower is not wrapped.
const WRAPPED_WIDTH_MIN: usize = 20;

/// Renders a table that fits the terminal's width: texts are wrapped, then the least important columns are dropped.
pub(crate) fn render_table(table: &Table, style: TerminalStyle) -> String {
    let (dash, marked) = match style.characters {
        CharacterSet::Utf8 => ("─", "▸ "),
        CharacterSet::Ascii => ("-", "> "),
    };
    let show = |it: &str| to_characters(it, style.characters);
    let headings: Vec<String> = table.columns.iter().map(|it| show(&it.heading)).collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.cells.iter().map(|it| show(it)).collect()).collect();
    let cells = |column: usize| rows.iter().map(move |it| &it[column]).chain([&headings[column]]);
    let natural_and_least = |column: usize| {
        let natural = cells(column).map(|it| width(it)).max().unwrap_or(0);
        let longest_word = cells(column).flat_map(|it| it.split(' ')).map(width).max().unwrap_or(0);
        let least = longest_word.max(WRAPPED_WIDTH_MIN).min(natural);
        (natural, if table.columns[column].numeric { natural } else { least })
    };
    let widths: Vec<(usize, usize)> = (0..headings.len()).map(natural_and_least).collect();
    let columns = visible_columns(&table.columns, &widths, style.width);
    let total = total(columns.iter().map(|it| it.1));
    let lines = |begin: &str, cells: &[String]| -> Vec<String> {
        let wrapped: Vec<Vec<String>> =
            columns.iter().map(|(column, room)| wrap_cell(&cells[*column], *room)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut out = if number == 0 { begin.to_owned() } else { " ".repeat(GAP) };
            for ((column, room), texts) in columns.iter().zip(&wrapped) {
                let text = texts.get(number).map_or("", String::as_str);
                let pad = " ".repeat(room - width(text));
                out += &if table.columns[*column].numeric { pad + text } else { text.to_owned() + &pad };
                out += &" ".repeat(GAP);
            }
            out.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    };
    let mut out = lines("  ", &headings);
    out.push(dash.repeat(total));
    for (row, cells) in table.rows.iter().zip(&rows) {
        let begin = if row.baseline { marked } else { "  " };
        out.extend(lines(begin, cells).into_iter().map(|text| colour_row(text, style.colour, row)));
    }
    out.iter().map(|it| format!("{it}\n")).collect()
}

/// Lines of a cell that are at most `columns` wide. Words are never broken.
fn wrap_cell(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("at least one line");
        if !line.is_empty() && width(line) + 1 + width(word) > columns {
            lines.push(word.to_owned());
        } else {
            let gap = if line.is_empty() { "" } else { " " };
            *line += gap;
            *line += word;
        }
    }
    lines
}

fn total(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|it| it + GAP).sum()
}

/// Indexes and widths of the columns that fit into `room` columns. `widths` are the natural and the minimum width of
/// each column.
fn visible_columns(all: &[Column], widths: &[(usize, usize)], room: usize) -> Vec<(usize, usize)> {
    let mut columns: Vec<usize> = (0..all.len()).collect();
    while total(columns.iter().map(|it| widths[*it].1)) > room {
        let Some(least) = (0..columns.len()).max_by_key(|i| (all[columns[*i]].drop_order, *i)) else {
            break;
        };
        if all[columns[least]].drop_order == 0 {
            break;
        }
        columns.remove(least);
    }
    let mut columns: Vec<(usize, usize)> = columns.into_iter().map(|it| (it, widths[it].0)).collect();
    // Narrow the widest columns first.
    for _ in room..total(columns.iter().map(|it| it.1)) {
        let wide = columns.iter_mut().filter(|(column, now)| *now > widths[*column].1);
        let Some(widest) = wide.max_by_key(|(_, now)| *now) else { break };
        widest.1 -= 1;
    }
    columns
}

/// Colours a row: the baseline bold, unmeasured rows faint, rows below or above the baseline red or green.
fn colour_row(text: String, colour: bool, row: &view::Row) -> String {
    let code = match row.tone {
        _ if !colour => return text,
        _ if row.baseline => "1",
        Tone::Faint => "2",
        Tone::Bad => "31",
        Tone::Good => "32",
        _ => return text,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests;
