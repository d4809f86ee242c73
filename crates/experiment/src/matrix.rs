//! Cells of the matrix.

use crate::diagnostic::{Diagnostic, Span, quote};
use crate::name::{appearance_error, plain};
use crate::path::{self, META, Path};
use crate::schema_index::SchemaIndex;
use crate::tree::{Key, Node, Value};
use model::message;
use model::plan::Baseline;

/// Maximum number of cells. A larger matrix would take too long to measure.
const MAX_CELLS: usize = 1000;

/// Name and value of each axis of a cell.
pub type Label = Vec<(String, String)>;

/// Cells to measure.
#[derive(Debug, Default)]
pub struct Cells {
    /// Label and file content of each cell, without the matrix. At least one cell if there are no errors.
    pub list: Vec<(Label, Node)>,
    /// Index of the cell with which the other cells are compared.
    pub baseline: Option<Baseline>,
}

struct MatrixAxis {
    key: Key,
    /// Path that the axis sets; `None` for an axis of named variants.
    path: Option<Path>,
    all: Vec<AxisVariant>,
    /// Variants to measure: a subset of `all`, or values that an assignment sets instead.
    chosen: Vec<AxisVariant>,
}

#[derive(Clone)]
struct AxisVariant {
    label: String,
    sets: Vec<(Key, Path, Node)>,
}

/// Key of a setting, as written, and its value.
pub type Assignment = (Key, Node);

/// Reads the matrix, skip and baseline of a file after applying the assignments `changes`.
pub fn expand(
    shape: &SchemaIndex,
    file: &Node,
    changes: &[Assignment],
    diagnostics: &mut Vec<Diagnostic>,
) -> Cells {
    let mut base = file.clone();
    let [matrix, skip, baseline, _] = META.map(|key| base.take(key));
    let mut axes: Vec<MatrixAxis> =
        matrix.iter().flat_map(|it| it.1.entries()).filter_map(|it| axis(shape, it, diagnostics)).collect();
    for (key, value) in changes {
        change(shape, &mut base, &mut axes, key, value, diagnostics);
    }
    let empty = axes.iter().any(|axis| axis.chosen.is_empty());
    let count = axes.iter().fold(1usize, |n, axis| n.saturating_mul(axis.chosen.len()));
    if count > MAX_CELLS || empty {
        if let Some((key, _)) = matrix.as_ref().filter(|_| !empty) {
            let (count, max) = (count.to_string(), MAX_CELLS.to_string());
            diagnostics.push(Diagnostic::new(&key.span, message!("experiment-matrix-size", count, max)));
        }
        return Cells::default();
    }
    let skips: Vec<CellSelector> = match skip.as_ref().map(|it| &it.1.value) {
        Some(Value::List(items)) => items.iter().filter_map(|it| choice(&axes, it, diagnostics)).collect(),
        _ => Vec::new(),
    };
    let mut cells = Cells::default();
    for number in 0..count {
        let chosen = variants_of_cell(&axes, number);
        let label: Label =
            axes.iter().zip(&chosen).map(|(axis, it)| (axis.key.text.clone(), it.label.clone())).collect();
        if skips.iter().any(|it| covers(it, &label)) {
            continue;
        }
        let mut tree = base.clone();
        for (key, path, value) in chosen.iter().flat_map(|it| &it.sets) {
            if let Err(obstacle) = path::set(&mut tree, path, &key.span, value.clone()) {
                let cell: Vec<String> = label.iter().map(|(axis, it)| format!("{axis}: {it}")).collect();
                let cell = format!("{{ {} }}", cell.join(", "));
                let message = message!("experiment-axis-obstacle", path = quote(&key.text), obstacle, cell);
                diagnostics.push(Diagnostic::new(&key.span, message));
            }
        }
        cells.list.push((label, tree));
    }
    if let Some((key, _)) = skip.as_ref().filter(|_| cells.list.is_empty()) {
        diagnostics.push(Diagnostic::new(&key.span, message!("experiment-skip-all")));
    }
    // A baseline that is no mapping is already reported.
    if let Some((key, node)) = baseline.as_ref().filter(|it| matches!(it.1.value, Value::Map(_))) {
        cells.baseline = base_of(&axes, &cells, key, node, diagnostics);
    }
    cells
}

/// Variant of each axis in cell `number`: the last axis varies fastest.
fn variants_of_cell(axes: &[MatrixAxis], mut number: usize) -> Vec<&AxisVariant> {
    let mut chosen: Vec<&AxisVariant> = Vec::new();
    for axis in axes.iter().rev() {
        chosen.push(&axis.chosen[number % axis.chosen.len()]);
        number /= axis.chosen.len();
    }
    chosen.reverse();
    chosen
}

fn axis(
    shape: &SchemaIndex,
    (key, node): &(Key, Node),
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<MatrixAxis> {
    let (path, all) = match &node.value {
        Value::List(items) => {
            let path = axis_path(shape, key, diagnostics)?;
            (Some(path.clone()), items.iter().map(|it| single(key, &path, it)).collect())
        }
        Value::Map(entries) => {
            for name in entries.iter().map(|it| &it.0).chain([key]) {
                if let Some(message) = appearance_error(&name.text) {
                    diagnostics.push(Diagnostic::new(&name.span, message));
                }
            }
            let variant = |(name, sets): &(Key, Node)| {
                let sets = sets.entries().iter().filter_map(|(key, value)| {
                    Some((key.clone(), axis_path(shape, key, diagnostics)?, value.clone()))
                });
                AxisVariant { label: name.text.clone(), sets: sets.collect() }
            };
            (None, entries.iter().map(variant).collect::<Vec<_>>())
        }
        // The schema check reports this error.
        Value::Scalar(..) => return None,
    };
    if all.is_empty() {
        diagnostics
            .push(Diagnostic::new(&key.span, message!("experiment-axis-empty", axis = quote(&key.text))));
    }
    for (i, variant) in all.iter().enumerate() {
        if all[..i].iter().any(|other| other.label == variant.label) {
            let (value, axis) = (quote(&variant.label), quote(&key.text));
            let message = message!("experiment-axis-duplicate", value, axis);
            diagnostics.push(Diagnostic::new(&variant.sets[0].2.span, message));
        } else if path.is_some() && all[..i].iter().any(|other| plain(&other.label) == plain(&variant.label))
        {
            // Two values look alike on a screen. The user must name them as variants, because pgdyno uses values
            // exactly as they are written.
            let (value, axis) = (quote(&variant.label), quote(&key.text));
            let message = message!("experiment-axis-lookalike", value, axis);
            diagnostics.push(Diagnostic::new(&variant.sets[0].2.span, message));
        }
    }
    Some(MatrixAxis { key: key.clone(), path, chosen: all.clone(), all })
}

fn single(key: &Key, path: &Path, value: &Node) -> AxisVariant {
    AxisVariant { label: flow(value), sets: vec![(key.clone(), path.clone(), value.clone())] }
}

/// Path that an axis sets. Settings that are common to all cells cannot be an axis.
fn axis_path(shape: &SchemaIndex, key: &Key, diagnostics: &mut Vec<Diagnostic>) -> Option<Path> {
    let path = resolve_path(shape, key, diagnostics)?;
    let common =
        ["name", "seed", "repeat", "find", "prove", "generators", "document"].contains(&path[0].as_str());
    if common {
        let message = message!("experiment-axis-common", path = quote(&key.text));
        diagnostics.push(Diagnostic::new(&key.span, message));
    }
    (!common).then_some(path)
}

fn resolve_path(shape: &SchemaIndex, key: &Key, diagnostics: &mut Vec<Diagnostic>) -> Option<Path> {
    let path = path::resolve(shape, &key.text);
    path.map_err(|message| diagnostics.push(Diagnostic::new(&key.span, message))).ok()
}

/// Applies one assignment: to an axis, which then has only these values, or to the rest of the file.
fn change(
    shape: &SchemaIndex,
    base: &mut Node,
    axes: &mut [MatrixAxis],
    key: &Key,
    value: &Node,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let path = path::resolve(shape, &key.text).ok();
    let requested_values = match &value.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let is_it = |axis: &&mut MatrixAxis| axis.key.text == key.text || (path.is_some() && axis.path == path);
    if let Some(axis) = axes.iter_mut().find(is_it) {
        let find = |node: &Node| match &axis.path {
            Some(path) => Some(single(key, path, node)),
            None => {
                let label = flow(node);
                let found = axis.all.iter().find(|it| it.label == label);
                if found.is_none() {
                    diagnostics.push(unknown_label(&node.span, axis, &label));
                }
                found.cloned()
            }
        };
        axis.chosen = requested_values.iter().filter_map(find).collect();
        return;
    }
    let Some(path) = resolve_path(shape, key, diagnostics) else { return };
    for axis in axes.iter() {
        let mut sets = axis.all.iter().flat_map(|it| &it.sets);
        if sets.any(|(_, other, _)| path.starts_with(other) || other.starts_with(&path)) {
            let (axis, path) = (quote(&axis.key.text), quote(&key.text));
            diagnostics.push(Diagnostic::new(&key.span, message!("experiment-axis-sets", axis, path)));
        }
    }
    if let Err(obstacle) = path::set(base, &path, &key.span, value.clone()) {
        let message = message!("experiment-set-obstacle", path = quote(&key.text), obstacle);
        diagnostics.push(Diagnostic::new(&key.span, message));
    }
}

/// Names of some axes, each with the label of one variant.
type CellSelector = Label;

fn covers(choice: &CellSelector, label: &Label) -> bool {
    choice.iter().all(|it| label.contains(it))
}

fn choice(axes: &[MatrixAxis], node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Option<CellSelector> {
    let mut choice = Vec::new();
    for (key, value) in node.entries() {
        let Some(axis) = axes.iter().find(|axis| axis.key.text == key.text) else {
            let names: Vec<&str> = axes.iter().map(|axis| axis.key.text.as_str()).collect();
            let nearest = crate::diagnostic::nearest(&key.text, names.iter().copied());
            let axes = (!names.is_empty()).then(|| join_quoted(&names));
            let message = message!("experiment-unknown-axis", axis = quote(&key.text), nearest, axes);
            diagnostics.push(Diagnostic::new(&key.span, message));
            continue;
        };
        let label = flow(value);
        if axis.all.iter().chain(&axis.chosen).all(|it| it.label != label) {
            diagnostics.push(unknown_label(&value.span, axis, &label));
        }
        choice.push((key.text.clone(), label));
    }
    (!choice.is_empty()).then_some(choice)
}

fn unknown_label(at: &Span, axis: &MatrixAxis, label: &str) -> Diagnostic {
    let labels: Vec<&str> = axis.all.iter().map(|it| it.label.as_str()).collect();
    let nearest = crate::diagnostic::nearest(label, labels.iter().copied()).map(quote);
    let (axis, value) = (quote(&axis.key.text), quote(label));
    let message = message!("experiment-unknown-value", axis, value, nearest, values = join_quoted(&labels));
    Diagnostic::new(at, message)
}

fn join_quoted(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|it| quote(it)).collect();
    format!("{}{}", shown.join(", "), if names.len() > 12 { ", …" } else { "" })
}

fn base_of(
    axes: &[MatrixAxis],
    cells: &Cells,
    key: &Key,
    node: &Node,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Baseline> {
    let before = diagnostics.len();
    let choice = choice(axes, node, diagnostics);
    if diagnostics.len() > before {
        return None;
    }
    let choice = choice.unwrap_or_default();
    let fits: Vec<usize> = (0..cells.list.len()).filter(|i| covers(&choice, &cells.list[*i].0)).collect();
    match fits.as_slice() {
        [one] => Some(Baseline::Single(*one)),
        // The baseline's value was removed from its axis, for example by `--quick`.
        [] if axes.iter().any(|it| it.all.len() != it.chosen.len()) => None,
        [] => {
            diagnostics.push(Diagnostic::new(&key.span, message!("experiment-baseline-skipped")));
            None
        }
        many if many.len() == cells.list.len() => {
            diagnostics.push(Diagnostic::new(&key.span, message!("experiment-baseline-all")));
            None
        }
        _ => {
            let counterparts = counterparts(&choice, cells);
            if counterparts.iter().all(Option::is_none) {
                diagnostics.push(Diagnostic::new(&key.span, message!("experiment-baseline-skipped")));
            }
            Some(Baseline::PerCell(counterparts))
        }
    }
}

/// For each cell, the index of the cell that has the values of `choice` and is otherwise equal. `None` if that cell is
/// skipped, or is the cell itself.
fn counterparts(choice: &CellSelector, cells: &Cells) -> Vec<Option<usize>> {
    let counterpart = |label: &Label| {
        let value = |(axis, label): &(String, String)| {
            let chosen = choice.iter().find(|it| it.0 == *axis);
            (axis.clone(), chosen.map_or(label, |it| &it.1).clone())
        };
        let wanted: Label = label.iter().map(value).collect();
        cells.list.iter().position(|it| it.0 == wanted).filter(|_| wanted != *label)
    };
    cells.list.iter().map(|it| counterpart(&it.0)).collect()
}

/// Value on one line, in YAML's flow style.
fn flow(node: &Node) -> String {
    match &node.value {
        Value::Scalar(text, _) => text.clone(),
        Value::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, it)| format!("{}: {}", key.text, flow(it))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
