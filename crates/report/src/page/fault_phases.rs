//! Table of the results before, during and after the faults

use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns, time};
use crate::say;
use crate::view::{Column, Line, Table, Tone};
use model::Nanos;
use model::run_result::{FaultPhase, FaultPhaseResult};

/// Builds the table of a cell; `None` without a fault.
pub fn table(case: &PageContext<'_>, cell: usize) -> Option<Table> {
    let (lang, result) = (case.lang, case.account.cells.get(cell)?);
    if result.fault_phases.is_empty() {
        return None;
    }
    let count = |count: u64| lang.number(&count.to_string());
    let response = |phase: &FaultPhaseResult, value: Option<Nanos>, quantile| {
        time((&phase.response, phase.count), value, quantile, lang)
    };
    let figures: Vec<FigureColumn<'_, FaultPhaseResult>> = vec![
        (
            say!(lang, "page-load-stage-seconds"),
            5,
            Box::new(|it| lang.numbers().three(it.measured.as_secs_f64())),
        ),
        (say!(lang, "page-delivered"), 0, Box::new(|it| lang.numbers().three(it.delivered.0))),
        (lang.times(false, "p50"), 1, Box::new(move |it| response(it, it.response.p50, 0.5))),
        (lang.times(false, "p99"), 0, Box::new(move |it| response(it, it.response.p99, 0.99))),
        (say!(lang, "page-failed"), 0, Box::new(|it| count(it.failed))),
        (say!(lang, "page-dropped"), 3, Box::new(|it| count(it.dropped))),
        (say!(lang, "page-load-stage-refused"), 3, Box::new(|it| count(it.refused))),
        (
            say!(lang, "failover-column-lag"),
            2,
            Box::new(|it| it.replay_lag.map_or(String::new(), |lag| lang.time(lag))),
        ),
    ];
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
