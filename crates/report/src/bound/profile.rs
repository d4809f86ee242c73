//! Load profile of a run: the rate and the share of each operation

use super::Element;
use super::elements::split_columns;
use super::run_view::RunView;
use crate::cells::cell_names;
use crate::page::{chosen_cells, is_open};
use crate::say;
use crate::view::{Column, Row, Table};
use model::plan::{Goal, Operation};
use model::run_result::OperationResult;

/// Table of a run's operations: share of the mix and, for the cells that its page shows in full, measured rates.
///
/// A cell without a valid trial has empty figures.
pub fn tables(view: &RunView<'_>) -> Vec<Element> {
    let (lang, result) = (view.lang, view.result);
    let Some(first) = result.experiment.cells.first() else { return Vec::new() };
    let operations = &first.setup.operations;
    let weights: f64 = operations.iter().map(|it| f64::from(it.weight)).sum();
    let percent = |share: f64| lang.number(&format!("{:.1}", 100.0 * share));
    let column = |heading: String, numeric| Column { heading, numeric, drop_order: 0 };
    let mut columns =
        vec![column(say!(lang, "page-operation"), false), column(say!(lang, "document-profile-share"), true)];
    let planned = |operation: &Operation| match operation.weight {
        0 => String::new(),
        weight => percent(f64::from(weight) / weights),
    };
    let mut cells: Vec<Vec<String>> =
        operations.iter().map(|operation| vec![operation.name.clone(), planned(operation)]).collect();
    let names = cell_names(&result.matrix);
    for cell in chosen_cells(result, lang) {
        let measured = &result.cells[cell].operations;
        let suffix =
            if result.experiment.cells.len() > 1 { format!(", {}", names[cell]) } else { String::new() };
        if is_open(result, cell) {
            columns.push(column(say!(lang, "page-offered") + &suffix, true));
        }
        columns.push(column(say!(lang, "page-delivered") + &suffix, true));
        columns.push(column(say!(lang, "document-profile-delivered-share") + &suffix, true));
        let total: f64 = measured.iter().map(|it| it.delivered.0).sum();
        for (row, operation) in cells.iter_mut().zip(operations) {
            let found = measured.iter().find(|it| it.name == operation.name);
            let figure = |value: fn(&OperationResult) -> f64| {
                found.map_or(String::new(), |it| lang.numbers().three(value(it)))
            };
            if is_open(result, cell) {
                row.push(figure(|it| it.offered.0));
            }
            row.push(figure(|it| it.delivered.0));
            let share = found.filter(|_| total > 0.0).map(|it| percent(it.delivered.0 / total));
            row.push(share.unwrap_or_default());
        }
    }
    let caption = match &result.experiment.goal {
        Goal::Max(_) | Goal::Sweep(model::plan::Sweep { max: Some(_) }) => {
            say!(lang, "document-profile-at-maximum")
        }
        _ => say!(lang, "document-profile-caption"),
    };
    let rows = cells.into_iter().map(|cells| Row { cells, ..Row::default() }).collect();
    split_columns(Table { caption, columns, rows, notes: Vec::new() })
        .into_iter()
        .map(Element::Table)
        .collect()
}
