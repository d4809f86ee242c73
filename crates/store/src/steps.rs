//! Rows of the steps of operations

use crate::rows::{self, FailureClass, count, nanos};
use model::{CommandCounts, FailureCounts, Nanos, PhaseSum, RequestPhase};
use rusqlite::Row;

/// Kind of rows that describe steps. Their first columns are tick, operation and command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRows {
    /// Failures and retries in files before version 5.
    Statements,
    Counts,
    Failures,
    Phases,
}

/// Queries for steps between two ticks, each with the table that it needs.
pub const STEP_QUERIES: [(&str, StepRows, &str); 4] = [
    (
        "statement",
        StepRows::Statements,
        "SELECT tick, operation, command, failures, retries FROM statement WHERE tick BETWEEN ? AND ?",
    ),
    (
        "step_count",
        StepRows::Counts,
        "SELECT tick, operation, command, retries, sent_bytes, received_bytes FROM step_count
         WHERE tick BETWEEN ? AND ?",
    ),
    (
        "step_failure",
        StepRows::Failures,
        "SELECT tick, operation, command, class, code, count FROM step_failure
         WHERE tick BETWEEN ? AND ? ORDER BY tick, operation, command, class, number",
    ),
    (
        "step_phase",
        StepRows::Phases,
        "SELECT tick, operation, command, phase, count, sum_ns, max_ns FROM step_phase WHERE tick BETWEEN ? AND ?",
    ),
];

impl StepRows {
    /// Adds a row to the counts of its step. Returns false for impossible values.
    pub fn read<H>(self, row: &Row<'_>, counts: &mut CommandCounts<H>) -> rusqlite::Result<bool> {
        match self {
            StepRows::Statements => {
                counts.failed.add_other(count(row, 3)?);
                counts.retries = count(row, 4)?;
            }
            StepRows::Counts => {
                (counts.retries, counts.sent, counts.received) =
                    (count(row, 3)?, count(row, 4)?, count(row, 5)?);
            }
            StepRows::Failures => {
                let failures = match row.get::<_, i64>(3)? {
                    class if class == FailureClass::Failed as i64 => &mut counts.failed,
                    class if class == FailureClass::Unknown as i64 => &mut counts.unknown,
                    _ => return Ok(false),
                };
                return add_failures(failures, row.get::<_, Option<String>>(4)?, count(row, 5)?);
            }
            StepRows::Phases => {
                let name: String = row.get(3)?;
                let Some(phase) = RequestPhase::ALL.into_iter().find(|it| it.name() == name) else {
                    return Ok(false);
                };
                counts.phases[phase as usize] =
                    PhaseSum { count: count(row, 4)?, sum: nanos(row, 5)?, max: nanos(row, 6)? };
            }
        }
        Ok(true)
    }
}

fn add_failures(failures: &mut FailureCounts, code: Option<String>, count: u64) -> rusqlite::Result<bool> {
    match code.map(|it| rows::code(&it)) {
        None => failures.add_other(count),
        Some(Some(code)) => failures.add(code, count),
        Some(None) => return Ok(false),
    }
    Ok(true)
}

/// Sum of durations as it is stored: `sum`, but at most the largest value that a file may contain.
pub fn stored_sum(sum: Nanos) -> Nanos {
    sum.min(rows::NANOS_MAX)
}
