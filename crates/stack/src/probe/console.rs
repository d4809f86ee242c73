//! Consoles of poolers.
//!
//! Columns differ between versions and are found by name. Rows about the console itself are left out. No other
//! statements than those in this directory are sent: another one crashes Odyssey 1.5.2.

pub(super) mod clients;
pub(super) mod databases;
pub(super) mod pools;
pub(super) mod servers;
pub(super) mod stats;

use super::{ProbeResponse, ReadError, Reading};
use model::Series;
use std::collections::BTreeMap;

/// True for a database of clients; false for a console and for Odyssey's sum over all databases.
fn is_client_database(database: &str) -> bool {
    !["pgbouncer", "console", "aggregated", ""].contains(&database)
}

/// Counts rows by database, user and state.
fn count_states(
    series: &'static Series,
    answer: &ProbeResponse,
    out: &mut Vec<Reading>,
) -> Result<(), ReadError> {
    let rows = answer.rows()?;
    let column = |name: &'static str| {
        rows.columns.iter().position(|it| it == name).ok_or(ReadError { line: 0, expected: name })
    };
    let at = [column("database")?, column("user")?, column("state")?];
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows.rows {
        let cells = at.map(|it| row.get(it).and_then(Option::as_deref).unwrap_or(""));
        if is_client_database(cells[0]) {
            *counts.entry(cells.join("/")).or_default() += 1;
        }
    }
    out.extend(counts.into_iter().map(|(label, count)| Reading { series, label, value: count as f64 }));
    Ok(())
}
