//! How does a matrix look in a terminal?
//!
//! A table as wide as it may be: what matters least is left out first. Every row names its way through the stack by a
//! letter, which is told below it, because a figure means nothing without placement and transport.

use crate::findings::{paragraph, too_few};
use crate::lang::{Label, Lang};
use crate::plot::Characters;
use model::finding::Finding;
use model::matrix::{Estimate, Figure, Matrix, NotApplied, Row, Trial, Verdict};
use model::summary::Reason;
use serde_json::{Value, json};
use std::mem::{Discriminant, discriminant};

/// How the terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns; the table keeps to them if its names leave room for throughput.
    pub width: usize,
    pub characters: Characters,
    /// By the sequences of ECMA-48.
    pub colour: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, characters: Characters::Utf8, colour: false }
    }
}

/// The table, its notes and the findings.
pub fn text(matrix: &Matrix, findings: &[Finding], style: Style, lang: &dyn Lang) -> String {
    let mut notes = Notes::default();
    let mut columns = labels(matrix);
    columns.extend(figures(matrix, style, lang));
    columns.push(paths(matrix, &mut notes, style, lang));
    narrow(&mut columns, style.width);
    let mut out = table(matrix, &columns, style);
    let baseline = matrix.baseline.and_then(|it| names(matrix).get(it).cloned());
    out.push('\n');
    let few = |it: &Row| {
        let against = it.estimate(Figure::Tps).and_then(|it| it.against);
        against.is_some_and(|it| it.verdict == Verdict::TooFewRuns)
    };
    let few = matrix.rows.iter().any(few) || too_few(findings);
    out += &paragraph("", &lang.legend(baseline.as_deref(), matrix.seed, few), style.width);
    for (mark, note) in notes.0 {
        out += &paragraph(&format!("{mark:<3}"), &note, style.width);
    }
    if let Some(processors) = matrix.watching {
        out += &paragraph("", &lang.watching(processors), style.width);
    }
    if !matrix.objectives.is_empty() {
        out.push('\n');
        let names = names(matrix);
        let tell = |it| paragraph("* ", &lang.tally(it, &names), style.width);
        out.extend(matrix.objectives.iter().map(tell));
    }
    if !findings.is_empty() {
        out.push('\n');
        out += &crate::findings::text(findings, matrix, style.width, lang);
    }
    out
}

/// The same as data.
pub fn json(matrix: &Matrix, findings: &[Finding]) -> Value {
    json!({ "matrix": matrix, "findings": findings })
}

/// What the cells are called: their values on each axis, `session/200`.
pub fn names(matrix: &Matrix) -> Vec<String> {
    let name = |row: &Row| row.label.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join("/");
    matrix.rows.iter().map(name).collect()
}

/// One column of the table.
struct Column {
    heading: String,
    /// By row.
    cells: Vec<String>,
    left: bool,
    /// Left out first if the highest; never if 0.
    dispensable: u8,
}

impl Column {
    fn width(&self) -> usize {
        let widest = self.cells.iter().map(|it| it.chars().count()).max().unwrap_or(0);
        widest.max(self.heading.chars().count())
    }
}

/// Notes below the table, by their marks.
#[derive(Default)]
struct Notes(Vec<(String, String)>);

impl Notes {
    /// The mark of the note, the same for the same words: `a`, `b`, … for ways, `1`, `2`, … for the rest.
    fn mark(&mut self, note: String, way: bool) -> String {
        if let Some((mark, _)) = self.0.iter().find(|it| it.1 == note) {
            return mark.clone();
        }
        let is_way = |mark: &str| mark.starts_with(|c: char| c.is_ascii_lowercase());
        let number = self.0.iter().filter(|it| is_way(&it.0) == way).count();
        let mark = match way {
            // After z comes a1.
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

/// One column by axis; cells may lack an axis.
fn labels(matrix: &Matrix) -> Vec<Column> {
    let mut axes: Vec<&str> = Vec::new();
    for (axis, _) in matrix.rows.iter().flat_map(|it| &it.label) {
        if !axes.contains(&axis.as_str()) {
            axes.push(axis);
        }
    }
    let cell = |row: &Row, axis: &str| {
        row.label.iter().find(|it| it.0 == axis).map_or(String::new(), |it| it.1.clone())
    };
    let column = |axis: &str| Column {
        heading: axis.to_owned(),
        cells: matrix.rows.iter().map(|row| cell(row, axis)).collect(),
        left: true,
        dispensable: 0,
    };
    axes.into_iter().map(column).collect()
}

fn figures(matrix: &Matrix, style: Style, lang: &dyn Lang) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut push = |heading: &str, dispensable, cell: &dyn Fn(&Row) -> String| {
        let cells: Vec<String> = matrix.rows.iter().map(cell).collect();
        if cells.iter().any(|it| !it.is_empty()) {
            columns.push(Column { heading: heading.to_owned(), cells, left: false, dispensable });
        }
    };
    let value =
        |row: &Row, figure| row.estimate(figure).map_or(String::new(), |it| number(figure, it.median));
    push(lang.figure(Figure::Tps), 0, &|row| match row.estimate(Figure::Tps) {
        Some(it) => number(Figure::Tps, it.median),
        None => "-".to_owned(),
    });
    push(lang.label(Label::Interval), 4, &|row| {
        row.estimate(Figure::Tps).map_or(String::new(), |it| interval(it, style.characters))
    });
    push(lang.label(Label::BesideBaseline), 1, &|row| beside(row, lang));
    push(lang.label(Label::Interval), 5, &beside_interval);
    push(lang.figure(Figure::P50), 7, &|row| value(row, Figure::P50));
    push(lang.figure(Figure::P99), 2, &|row| value(row, Figure::P99));
    // What is nothing everywhere needs no column.
    for (figure, dispensable) in
        [(Figure::Errors, 3), (Figure::Dropped, 3), (Figure::Refused, 3), (Figure::Deadlocks, 3)]
    {
        if matrix.rows.iter().any(|row| row.estimate(figure).is_some_and(|it| it.median > 0.0)) {
            push(lang.figure(figure), dispensable, &|row| value(row, figure));
        }
    }
    if matrix.rows.iter().any(|row| row.estimate(Figure::Hardly).is_some_and(|it| it.median > 0.0)) {
        push(lang.figure(Figure::Served), 2, &|row| {
            let served = row.estimate(Figure::Hardly).map(|it| f64::from(row.clients) - it.median);
            served.map_or(String::new(), |it| format!("{it:.0}/{}", row.clients))
        });
    }
    push(lang.figure(Figure::PoolerCpu), 6, &|row| value(row, Figure::PoolerCpu));
    push(lang.figure(Figure::ServerCpu), 6, &|row| value(row, Figure::ServerCpu));
    columns
}

/// `0.844 lower`; the ratio alone where too few runs allow no more, which is said once below the table.
fn beside(row: &Row, lang: &dyn Lang) -> String {
    let Some(it) = row.estimate(Figure::Tps).and_then(|it| it.against) else { return String::new() };
    let ratio = it.ratio.map_or(String::new(), |it| format!("{it:.3} "));
    let verdict = if it.verdict == Verdict::TooFewRuns { "" } else { lang.verdict(it.verdict) };
    format!("{ratio}{verdict}").trim_end().to_owned()
}

fn beside_interval(row: &Row) -> String {
    let it = row.estimate(Figure::Tps).and_then(|it| it.against?.interval);
    it.map_or(String::new(), |(low, high)| format!("[{low:.3}, {high:.3}]"))
}

/// Beside the median: `±1.0 %`, or `-0.4 +1.0 %` where the two sides differ.
fn interval(it: &Estimate, characters: Characters) -> String {
    let Some((low, high)) = it.interval.filter(|_| it.median > 0.0) else { return String::new() };
    let [below, above] =
        [it.median - low, high - it.median].map(|part| format!("{:.1}", 100.0 * part / it.median));
    match (below == above, characters) {
        (true, Characters::Utf8) => format!("±{below} %"),
        _ => format!("-{below} +{above} %"),
    }
}

/// In the unit of the figure's heading.
fn number(figure: Figure, value: f64) -> String {
    match figure {
        Figure::P50 | Figure::P99 => three(value * 1e3),
        Figure::Tps => three(value),
        Figure::Errors | Figure::Dropped | Figure::Deadlocks => three(value),
        Figure::Refused | Figure::Served | Figure::Hardly => format!("{value:.0}"),
        Figure::PoolerCpu | Figure::ServerCpu => format!("{value:.2}"),
    }
}

/// Three digits or all of a whole number: `0.371`, `5.73`, `21500`.
fn three(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0..100.0 => format!("{value:.1}"),
        1.0..10.0 => format!("{value:.2}"),
        _ if value == 0.0 => "0".to_owned(),
        _ => format!("{value:.3}"),
    }
}

/// What a trial is left out for.
#[derive(PartialEq)]
enum Kind {
    Reason(Discriminant<Reason>),
    Status(String),
}

/// Each kind once, with its words; none for a trial that counts.
fn left_out(trial: &Trial, lang: &dyn Lang) -> Vec<(Kind, String)> {
    let mut all: Vec<(Kind, String)> = Vec::new();
    if trial.valid {
        return all;
    }
    for reason in &trial.reasons {
        let kind = Kind::Reason(discriminant(reason));
        if !all.iter().any(|it| it.0 == kind) {
            all.push((kind, lang.reason(reason)));
        }
    }
    if all.is_empty() {
        let status = lang.status(&trial.status);
        all.push((Kind::Status(status.clone()), status));
    }
    all
}

/// The way of each row, and the notes on it. A note is told once for all rows that it is about.
fn paths(matrix: &Matrix, notes: &mut Notes, style: Style, lang: &dyn Lang) -> Column {
    let (arrow, times) = if style.characters == Characters::Utf8 { ("→", "×") } else { ("->", "x") };
    let trials = || matrix.rows.iter().flat_map(|it| &it.trials);
    let of = trials().count();
    // Of reasons of one kind the first one's figures are told.
    let mut kinds: Vec<(Kind, String, usize)> = Vec::new();
    for (kind, why) in trials().flat_map(|it| left_out(it, lang)) {
        match kinds.iter_mut().find(|it| it.0 == kind) {
            Some(known) => known.2 += 1,
            None => kinds.push((kind, why, 1)),
        }
    }
    let mut missing: Vec<&NotApplied> = matrix.rows.iter().flat_map(|it| &it.not_applied).collect();
    missing.sort();
    missing.dedup();
    let mut cells = Vec::new();
    for row in &matrix.rows {
        let mut marks = vec![notes.mark(lang.path(&row.hops, &row.generator, arrow), true)];
        let of_row: Vec<Kind> = row.trials.iter().flat_map(|it| left_out(it, lang)).map(|it| it.0).collect();
        for (kind, why, count) in &kinds {
            let mark = match of_row.iter().filter(|it| *it == kind).count() {
                0 => continue,
                1 => String::new(),
                n => format!("{times}{n}"),
            };
            marks.push(notes.mark(lang.left_out(*count, of, why), false) + &mark);
        }
        let mut whys: Vec<&str> = row.not_applied.iter().map(|it| it.why.as_str()).collect();
        whys.sort_unstable();
        whys.dedup();
        for why in whys {
            let same: Vec<&NotApplied> = missing.iter().copied().filter(|it| it.why == why).collect();
            marks.push(notes.mark(lang.not_applied(&same), false));
        }
        cells.push(marks.join(" "));
    }
    // Ways first, in the order of their letters.
    notes.0.sort_by_key(|it| it.0.starts_with(|c: char| c.is_ascii_digit()));
    Column { heading: lang.label(Label::Path).to_owned(), cells, left: true, dispensable: 0 }
}

/// Columns between two cells.
const GAP: usize = 2;

/// Leaves out what matters least until the rest fits.
fn narrow(columns: &mut Vec<Column>, width: usize) {
    let total = |columns: &[Column]| GAP + columns.iter().map(|it| it.width() + GAP).sum::<usize>() - GAP;
    while total(columns) > width {
        let Some(least) = (0..columns.len()).max_by_key(|i| (columns[*i].dispensable, *i)) else { return };
        if columns[least].dispensable == 0 {
            return;
        }
        columns.remove(least);
    }
}

fn table(matrix: &Matrix, columns: &[Column], style: Style) -> String {
    let (dash, marked) = match style.characters {
        Characters::Utf8 => ("─", "▸ "),
        Characters::Ascii => ("-", "> "),
    };
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let line = |begin: &str, cell: &dyn Fn(&Column) -> String| {
        let mut out = begin.to_owned();
        for (column, width) in columns.iter().zip(&widths) {
            let text = cell(column);
            let pad = " ".repeat(width - text.chars().count().min(*width));
            out += &if column.left { text + &pad } else { pad + &text };
            out += &" ".repeat(GAP);
        }
        out.trim_end().to_owned()
    };
    let heading = line("  ", &|column| column.heading.clone());
    let wide = GAP + widths.iter().map(|it| it + GAP).sum::<usize>() - GAP;
    let mut lines = vec![heading, dash.repeat(wide)];
    for (number, row) in matrix.rows.iter().enumerate() {
        let baseline = matrix.baseline == Some(number);
        let text = line(if baseline { marked } else { "  " }, &|column| column.cells[number].clone());
        lines.push(coloured(text, style.colour, baseline, row));
    }
    lines.iter().map(|it| format!("{it}\n")).collect()
}

/// The baseline is bold, what was not measured faint, what is lower or higher than the baseline red or green.
fn coloured(text: String, colour: bool, baseline: bool, row: &Row) -> String {
    let verdict = row.estimate(Figure::Tps).map(|it| it.against.map(|it| it.verdict));
    let code = match verdict {
        _ if !colour => return text,
        _ if baseline => "1",
        None => "2",
        Some(Some(Verdict::Lower)) => "31",
        Some(Some(Verdict::Higher)) => "32",
        _ => return text,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests;
