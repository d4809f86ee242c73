//! Table of the results before, during and after the faults

use super::context::PageContext;
use super::figure_table::{non_empty_columns, period_columns};
use crate::say;
use crate::view::{Column, Line, Table, Tone};
use model::run_result::{FaultPhase, FaultPhaseResult};

/// Builds the table of a cell; `None` without a fault.
pub fn table(case: &PageContext<'_>, cell: usize) -> Option<Table> {
    let (lang, result) = (case.lang, case.account.cells.get(cell)?);
    if result.fault_phases.is_empty() {
        return None;
    }
    let mut figures = period_columns(lang, |it: &FaultPhaseResult| &it.period);
    let lag = |phase: &FaultPhaseResult| phase.replay_lag.map_or(String::new(), |lag| lang.time(lag));
    figures.push((say!(lang, "failover-column-lag"), 2, Box::new(lag)));
    let name = |phase: &FaultPhaseResult| match phase.phase {
        FaultPhase::Before => say!(lang, "failover-phase-before"),
        FaultPhase::During => say!(lang, "failover-phase-during"),
        FaultPhase::After => say!(lang, "failover-phase-after"),
    };
    let first = (Column { heading: say!(lang, "failover-column-phase"), ..Column::default() }, name);
    let mut table = non_empty_columns(first, figures, &result.fault_phases.iter().collect::<Vec<_>>());
    let name = case.name(cell);
    let prefix = if name.is_empty() { String::new() } else { format!("{name}: ") };
    table.caption = prefix + &say!(lang, "failover-phases");
    table.notes.push((String::new(), Line { text: say!(lang, "failover-phases-note"), tone: Tone::Faint }));
    Some(table)
}
