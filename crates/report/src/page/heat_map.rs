//! Heat map of the cells' figures

use super::answer::axes;
use super::context::PageContext;
use crate::cells::baseline_name;
use crate::lang::Lang;
use crate::view::{Block, HeatCell, HeatLayer, HeatMap};
use model::matrix::{ChangeVerdict, Estimate, Figure, Row};

/// Selectable figures. The flag is true if high values are good.
const FIGURES: [(Figure, bool); 3] = [(Figure::Tps, true), (Figure::P99, false), (Figure::Errors, false)];

/// Heat map with the last axis horizontal and the other axes vertical. Empty for a single cell.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let matrix = &case.account.matrix;
    let axes = axes(case);
    let Some((column_axis, row_axes)) = axes.split_last().filter(|_| matrix.rows.len() > 1) else {
        return Vec::new();
    };
    let value = |row: &Row, axis: &str| {
        row.label.iter().find(|it| it.0 == axis).map_or(String::new(), |it| it.1.clone())
    };
    let place = |row: &Row| {
        let folded: Vec<String> = row_axes.iter().map(|axis| value(row, axis)).collect();
        (value(row, column_axis), folded.join(" / "))
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
    let grid: Vec<Option<usize>> = lines
        .iter()
        .flat_map(|line| columns.iter().map(move |column| (column, line)))
        .map(|(column, line)| {
            matrix.rows.iter().position(|row| {
                let (its_column, its_line) = place(row);
                its_column == *column && its_line == *line
            })
        })
        .collect();
    let layers: Vec<HeatLayer> = FIGURES.into_iter().filter_map(|it| layer(case, it, &grid)).collect();
    if layers.is_empty() {
        return Vec::new();
    }
    let (across, down) = (((*column_axis).to_owned(), columns), (row_axes.join(" / "), lines));
    vec![Block::HeatMap(HeatMap { across, down, layers })]
}

/// Builds the layer for a figure; `None` if no cell has the figure, or if it is zero in all cells.
fn layer(
    case: &PageContext<'_>,
    (figure, more): (Figure, bool),
    grid: &[Option<usize>],
) -> Option<HeatLayer> {
    let matrix = &case.account.matrix;
    let estimate = |at: usize| matrix.rows[at].estimate(figure);
    grid.iter().copied().flatten().filter_map(estimate).find(|it| it.median > 0.0)?;
    let cell = |at: &Option<usize>| {
        let Some(at) = *at else { return HeatCell::default() };
        let baseline = matrix.is_baseline(at);
        let Some(estimate) = estimate(at) else { return HeatCell { baseline, ..HeatCell::default() } };
        // Do not compare throughputs of different load models, because an open-model cell's throughput is its offered
        // rate.
        let alike = figure != Figure::Tps || matrix.rows[at].baseline.is_none_or(|it| case.alike(it, at));
        let compared = alike && !case.left_out(at);
        let shade = if baseline { Some(0.0) } else { shade(estimate, more).filter(|_| compared) };
        HeatCell { text: format_figure(figure, estimate, case.lang), shade, baseline }
    };
    let name = case.lang.figure(figure).to_owned();
    let caption = case.lang.heat_map_caption(&name, baseline_name(matrix).as_deref());
    Some(HeatLayer { name, caption, cells: grid.iter().map(cell).collect() })
}

/// Formats a figure. Times are in milliseconds, as in their headings.
fn format_figure(figure: Figure, estimate: &Estimate, lang: &Lang) -> String {
    match figure {
        Figure::P50 | Figure::P99 => {
            let sign = if estimate.is_lower_bound { ">" } else { "" };
            sign.to_owned() + &lang.numbers().three(1e3 * estimate.median)
        }
        _ => lang.numbers().three(estimate.median),
    }
}

/// Shade of a figure: ±1 at double or half the baseline, 0 without evidence of a change, `None` if the figure is not
/// compared or there are too few trials. `more` is true if high values are good.
fn shade(estimate: &Estimate, more: bool) -> Option<f64> {
    let comparison = estimate.vs_baseline?;
    match comparison.verdict {
        ChangeVerdict::NoEvidence => Some(0.0),
        ChangeVerdict::TooFewRuns => None,
        ChangeVerdict::Lower | ChangeVerdict::Higher => {
            // Round to two decimals, because smaller differences are invisible.
            let change = comparison.ratio.filter(|it| *it > 0.0)?.log2().clamp(-1.0, 1.0);
            let shade = if more { change } else { -change };
            Some((100.0 * shade).round() / 100.0)
        }
    }
}
