//! Exports of the view pg_stat_statements as CSV

use super::{StatementCount, StatementStatistics};
use model::message::Message;
use model::{Nanos, message};

/// Reason why an export cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportError {
    /// Line and the parser's words.
    Csv(String),
    /// The first line does not have this column.
    MissingColumn(&'static str),
    /// A field is no number.
    Number { line: u64, column: &'static str, text: String },
}

impl From<&ExportError> for Message {
    fn from(error: &ExportError) -> Message {
        match error {
            ExportError::Csv(reason) => message!("traffic-export-csv", reason),
            ExportError::MissingColumn(column) => message!("traffic-export-column", column = *column),
            ExportError::Number { line, column, text } => {
                message!("traffic-export-number", line = *line, column = *column, text)
            }
        }
    }
}

/// Reads an export with the names of the columns in its first line, such as that of `psql --csv`. Columns other than
/// `query`, `calls`, `total_exec_time` (`total_time` before PostgreSQL 13) and `toplevel` are ignored.
pub fn read_export(bytes: &[u8]) -> Result<StatementStatistics, ExportError> {
    let csv = |error: csv::Error| ExportError::Csv(error.to_string());
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().map_err(csv)?.clone();
    let find = |name: &str| header.iter().position(|column| column.trim_start_matches('\u{feff}') == name);
    let require = |name: &'static str| find(name).ok_or(ExportError::MissingColumn(name));
    let (query, calls) = (require("query")?, require("calls")?);
    let time = find("total_time").map_or_else(|| require("total_exec_time"), Ok)?;
    let top_level = find("toplevel");
    let mut statistics = StatementStatistics::default();
    for record in reader.records() {
        let record = record.map_err(csv)?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |index: usize, column: &'static str| {
            let text = &record[index];
            let value = text.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
            value.ok_or_else(|| ExportError::Number { line, column, text: text.to_owned() })
        };
        statistics.statements.push(StatementCount {
            text: Some(record[query].to_owned()).filter(|it| !it.is_empty()),
            calls: number(calls, "calls")? as u64,
            time: Nanos((number(time, "total_exec_time")? * 1e6) as u64),
            is_nested: top_level.is_some_and(|it| matches!(&record[it], "f" | "false")),
        });
    }
    Ok(statistics)
}
