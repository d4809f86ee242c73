//! Tables of a pooler's console
//!
//! Columns differ between versions and are found by name. Only the statements of the components' probes are sent: other
//! statements can crash a pooler.

use super::cells::ColumnMapping;
use super::{ProbeResponse, ReadError, Reading};
use model::Series;
use std::collections::BTreeMap;

/// Console whose tables have a row per database, pool or connection.
#[derive(Debug)]
pub(crate) struct ConsoleTables {
    /// Prefix that completes a column's name to a series' name.
    pub prefix: &'static str,
    /// Columns of normalised series, each with the series' name.
    pub columns: &'static [(&'static str, &'static str)],
    /// Databases that belong to the console, or whose rows are sums over other databases; these rows are skipped.
    pub skip: &'static [&'static str],
}

impl ConsoleTables {
    /// Reads a table whose `labels` begin with the database. Columns that end in `_time` or `_us` are in
    /// microseconds.
    pub(crate) fn read(
        &self,
        labels: &[&'static str],
        series: &'static [Series],
        answer: &ProbeResponse,
        out: &mut Vec<Reading>,
    ) -> Result<(), ReadError> {
        let scale =
            |column: &str| if column.ends_with("_time") || column.ends_with("_us") { 1e-6 } else { 1.0 };
        let ConsoleTables { prefix, columns, skip } = *self;
        ColumnMapping { series, prefix, labels, columns, scale, skip }.read(answer.rows()?, out)
    }

    /// Counts rows by database, user and state.
    pub(crate) fn count_states(
        &self,
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
            if !self.skip.contains(&cells[0]) {
                *counts.entry(cells.join("/")).or_default() += 1;
            }
        }
        out.extend(counts.into_iter().map(|(label, count)| Reading { series, label, value: count as f64 }));
        Ok(())
    }
}
