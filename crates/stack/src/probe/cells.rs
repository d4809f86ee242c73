//! Reads values from query results by the names of their columns

use super::{ReadError, Reading};
use crate::client;
use model::{Series, SeriesKind, Unit};

/// Mapping of the columns of a table to readings.
pub(crate) struct ColumnMapping<'a> {
    pub series: &'static [Series],
    /// Prefix that completes a column's name to a series' name.
    pub prefix: &'a str,
    /// Required columns that together form the label of a row.
    pub labels: &'a [&'static str],
    /// Columns whose series have other names, each with the series' name. The values of several columns are added.
    pub columns: &'a [(&'static str, &'static str)],
    /// Factor by which a column's value is multiplied.
    pub scale: fn(column: &str) -> f64,
    /// Values of the first label. Rows with these values are skipped.
    pub skip: &'a [&'static str],
}

impl ColumnMapping<'_> {
    /// Mapping of each series to the column of the same name. The column `label` contains the label.
    pub(crate) fn new(series: &'static [Series]) -> ColumnMapping<'static> {
        ColumnMapping { series, prefix: "", labels: &["label"], columns: &[], scale: |_| 1.0, skip: &[] }
    }

    /// Appends a reading for each column whose name, with the prefix, is the name of a series.
    ///
    /// Ignores other columns, NULL, and cells that are not numbers, because columns differ between versions.
    pub(crate) fn read(&self, answer: &client::QueryResult, out: &mut Vec<Reading>) -> Result<(), ReadError> {
        let column = |name: &str| answer.columns.iter().position(|it| it == name);
        let mut labels = Vec::new();
        for &name in self.labels {
            labels.push(column(name).ok_or(ReadError { line: 0, expected: name })?);
        }
        let mut values: Vec<(&'static Series, Vec<(usize, f64)>)> = Vec::new();
        for series in self.series {
            let source_columns: Vec<&str> =
                self.columns.iter().filter(|it| it.1 == series.name).map(|it| it.0).collect();
            let base_name = series.name.strip_prefix(self.prefix).unwrap_or(series.name);
            let names = if source_columns.is_empty() { vec![base_name] } else { source_columns };
            let known = names.iter().filter_map(|it| Some((column(it)?, (self.scale)(it))));
            values.push((series, known.collect()));
        }
        for row in &answer.rows {
            let cell = |at: usize| row.get(at).and_then(Option::as_deref);
            let its: Vec<&str> = labels.iter().map(|&it| cell(it).unwrap_or("")).collect();
            if its.first().is_some_and(|it| self.skip.contains(it)) {
                continue;
            }
            for (series, columns) in &values {
                let parts = columns.iter().filter_map(|&(at, scale)| parse_value(series, cell(at)?, scale));
                if let Some(value) = parts.reduce(|sum, it| sum + it) {
                    out.push(Reading { series, label: its.join("/"), value });
                }
            }
        }
        Ok(())
    }
}

/// Reads rows of `series`, `label` and `value`, the format of probes that combine several queries.
pub(super) fn read_long_format(
    series: &'static [Series],
    answer: &client::QueryResult,
    out: &mut Vec<Reading>,
) -> Result<(), ReadError> {
    let column = |name: &'static str| {
        answer.columns.iter().position(|it| it == name).ok_or(ReadError { line: 0, expected: name })
    };
    let at = [column("series")?, column("label")?, column("value")?];
    for (line, row) in answer.rows.iter().enumerate() {
        let [name, label, value] = at.map(|it| row.get(it).and_then(Option::as_deref));
        let expected = ReadError { line: line as u32 + 1, expected: "known series" };
        let series = series.iter().find(|it| Some(it.name) == name).ok_or(expected)?;
        if let Some(value) = value.and_then(|it| parse_value(series, it, 1.0)) {
            out.push(Reading { series, label: label.unwrap_or("").to_owned(), value });
        }
    }
    Ok(())
}

/// Parses a value of this series. Ignores negative ages, which a backward step of the server's clock causes.
fn parse_value(series: &Series, text: &str, scale: f64) -> Option<f64> {
    let value = parse_finite(text)? * scale;
    let possible = value >= 0.0 || series.unit != Unit::Seconds || series.kind != SeriesKind::Gauge;
    (value.is_finite() && possible).then_some(value)
}

/// Parses a finite number.
pub(crate) fn parse_finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|it: &f64| it.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{counter, gauge};

    #[test]
    fn rejects_negative_ages_and_non_finite_values() {
        let age = gauge("age", Unit::Seconds, "");
        let count = gauge("count", Unit::Count, "");
        let time = counter("time", Unit::Seconds, "");
        for (series, text, scale, expected) in [
            (&age, "1.5", 1.0, Some(1.5)),
            (&age, "0", 1.0, Some(0.0)),
            (&age, "-3600.2", 1.0, None),
            (&age, "-1500", 1e-3, None),
            (&count, "-1", 1.0, Some(-1.0)),
            (&time, "-1", 1.0, Some(-1.0)),
            (&count, "NaN", 1.0, None),
            (&count, "1e308", 100.0, None),
        ] {
            assert_eq!(parse_value(series, text, scale), expected, "{} {text}", series.name);
        }
    }
}
