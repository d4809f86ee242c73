//! How do cells differ, at one look?

use super::answer::axes;
use super::case::Case;
use super::number::said;
use super::{Block, Heat, HeatCell};
use model::matrix::{Estimate, Figure, Row, Verdict};

/// Throughput and its last axis across, the others down; nothing for a single cell.
pub fn blocks(case: &Case<'_>) -> Vec<Block> {
    let matrix = &case.account.matrix;
    let axes = axes(case);
    let Some((across, down)) = axes.split_last().filter(|_| matrix.rows.len() > 1) else { return Vec::new() };
    let value = |row: &Row, axis: &str| {
        row.label.iter().find(|it| it.0 == axis).map_or(String::new(), |it| it.1.clone())
    };
    let place = |row: &Row| {
        let folded: Vec<String> = down.iter().map(|axis| value(row, axis)).collect();
        (value(row, across), folded.join(" / "))
    };
    let (mut columns, mut lines): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for row in &matrix.rows {
        let (column, line) = place(row);
        if !columns.contains(&column) {
            columns.push(column);
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let cell = |column: &String, line: &String| {
        let places = matrix.rows.iter().map(place);
        let Some(at) = places.into_iter().position(|it| it.0 == *column && it.1 == *line) else {
            return HeatCell::default();
        };
        let baseline = matrix.baseline == Some(at);
        let Some(it) = matrix.rows[at].estimate(Figure::Tps) else {
            return HeatCell { baseline, ..HeatCell::default() };
        };
        let shade = if baseline { Some(0.0) } else { shade(it) };
        HeatCell { text: said(it.median, case.lang), shade, baseline }
    };
    let cells = lines.iter().flat_map(|line| columns.iter().map(|column| cell(column, line))).collect();
    let name = matrix.baseline.map(|it| case.name(it));
    let caption = case.lang.shaded(case.lang.figure(Figure::Tps), name);
    let heat =
        Heat { caption, across: ((*across).to_owned(), columns), down: (down.join(" / "), lines), cells };
    vec![Block::Heat(heat)]
}

/// Half or double is all there is; what is no evidence is no shade.
fn shade(it: &Estimate) -> Option<f64> {
    let against = it.against?;
    match against.verdict {
        Verdict::NoEvidence => Some(0.0),
        Verdict::Lower | Verdict::Higher | Verdict::TooFewRuns => {
            // Two digits are more than an eye tells apart.
            let shade = against.ratio.filter(|it| *it > 0.0)?.log2().clamp(-1.0, 1.0);
            Some((100.0 * shade).round() / 100.0)
        }
    }
}
