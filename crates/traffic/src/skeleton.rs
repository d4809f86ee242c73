//! Skeleton of an experiment from the statistics of statements
//!
//! pg_stat_statements counts the executions of statements, but keeps neither their values nor their transactions. Each
//! statement becomes an operation with its number of calls as weight. Parameters that are compared with a column of a
//! table draw values of this column; the other parameters have the mark `FILL_IN` in place of a value.

mod classify;
mod columns;
mod document;
mod export;
mod left_out;
mod select;

pub use export::{ExportError, read_export};
pub use left_out::{LeftOutStatements, StatementLeftOutReason};
pub use select::select;

use model::Nanos;

/// Statistics of the statements of one database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementStatistics {
    pub statements: Vec<StatementCount>,
    /// Time since the last reset; `None` if it is not known.
    pub period: Option<Nanos>,
    /// How often the server dropped the statements with the fewest calls, because there were too many statements.
    pub deallocations: u64,
}

/// Row of `pg_stat_statements`.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementCount {
    /// Normalised text; `None` if the server does not show it.
    pub text: Option<String>,
    pub calls: u64,
    /// Total execution time.
    pub time: Nanos,
    /// True if the statement was executed inside of functions.
    pub is_nested: bool,
}

/// Operations of an experiment whose values have to be filled in.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// Operations by decreasing number of calls.
    pub operations: Vec<SkeletonOperation>,
    /// Statements that no operation contains, by decreasing number of calls.
    pub left_out: Vec<LeftOutStatements>,
    /// Calls and execution time of all statements.
    pub calls: u64,
    pub time: Nanos,
    pub period: Option<Nanos>,
}

/// Statement with its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletonOperation {
    pub name: String,
    /// Statement with `$1`, `$2` and so on in place of values.
    pub statement: String,
    /// True if the server shows only the first element of a list, so that the statement has a shorter list.
    pub has_short_list: bool,
    pub calls: u64,
    pub time: Nanos,
    /// Reason why the server cannot prepare the statement. [`select`] does not set it.
    pub error: Option<String>,
    /// Parameters by the order of their variables in the script.
    pub parameters: Vec<Parameter>,
    /// Statement with variables in place of parameters.
    script: String,
}

/// Parameter of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// 1 for `$1`.
    pub number: usize,
    pub variable: String,
    /// Type, such as `integer`; `None` if it is not known. [`select`] does not set it.
    pub kind: Option<String>,
    /// Column with which the statement compares the parameter for equality.
    pub comparison: Option<Comparison>,
}

/// Column with which a parameter is compared, as the statement contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub column: String,
    /// Tables that may have the column. The values of the column are drawn if there is only one.
    pub tables: Vec<String>,
}

impl Comparison {
    /// The table that has the column, if there is only one.
    pub fn table(&self) -> Option<&str> {
        match &self.tables[..] {
            [table] => Some(table),
            _ => None,
        }
    }
}

impl Skeleton {
    /// Share of the calls that the operations contain.
    pub fn coverage(&self) -> f64 {
        self.covered_calls() as f64 / self.calls.max(1) as f64
    }

    fn covered_calls(&self) -> u64 {
        self.operations.iter().map(|it| it.calls).sum()
    }

    /// Number of values that have to be filled in, including the rate if the period is not known.
    pub fn fill_ins(&self) -> usize {
        let of_operations =
            self.operations.iter().map(|it| document::ValuePlan::new(it).fill_ins()).sum::<usize>();
        of_operations + usize::from(document::rate(self).is_none())
    }

    /// Experiment file. `notes` are lines at its beginning, as comments.
    pub fn experiment(&self, name: &str, notes: &[String]) -> String {
        document::experiment(self, name, notes)
    }
}

#[cfg(test)]
mod tests;
