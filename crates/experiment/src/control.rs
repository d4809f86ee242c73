//! Positive controls: cells whose faults must lose writes.

use crate::matrix::Label;
use crate::setup::CellSetup;
use model::Nanos;
use model::plan::Cell;

/// Axis name in the label of a positive control.
const AXIS: &str = "control";
const VALUE: &str = "async, replication blocked";

/// Cell of a positive control. Control cells follow the ordinary cells.
#[derive(Debug)]
pub struct Control {
    pub cell: Cell,
    pub duration: Nanos,
}

/// Positive controls of all cells that require one.
///
/// Cells with equal control setups share one control. Its label contains the parts that the labels of all these cells
/// have in common.
pub fn cells(read: &[(Label, CellSetup)]) -> Vec<Control> {
    let mut all: Vec<Control> = Vec::new();
    for (i, (label, made)) in read.iter().enumerate() {
        let Some(setup) = &made.control else { continue };
        match all.iter_mut().find(|it| it.cell.setup == *setup) {
            Some(known) => known.cell.label.retain(|it| label.contains(it)),
            None => {
                let cell = Cell { label: label.clone(), control_of: Some(i), setup: setup.clone() };
                all.push(Control { cell, duration: made.duration });
            }
        }
    }
    for control in &mut all {
        let taken = control.cell.label.iter().any(|it| it.0 == AXIS);
        let axis = if taken { format!("positive {AXIS}") } else { AXIS.to_owned() };
        control.cell.label.push((axis, VALUE.to_owned()));
    }
    all
}
