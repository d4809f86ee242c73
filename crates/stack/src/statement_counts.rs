//! Statistics of pg_stat_statements, and the types and columns that its statements use
//!
//! The session is read-only: nothing in the database changes.

use crate::client::{Connection, Error, Target};
use crate::dataset::quote_literal;
use std::time::Duration;

/// Timeout for each response, which may contain thousands of long texts.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Name of the prepared statement whose parameters are read.
const PREPARED: &str = "pgdyno_statement";

/// Counters of one database since their last reset.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementCounts {
    pub rows: Vec<StatementRow>,
    /// Time since the last reset, seconds; `None` before PostgreSQL 14.
    pub seconds: Option<f64>,
    /// How often the server dropped the statements with the fewest calls.
    pub deallocations: u64,
}

/// Counters of a statement of one user.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    /// Normalised text; `None` if it is lost.
    pub text: Option<String>,
    pub calls: u64,
    /// Total execution time, milliseconds.
    pub time_ms: f64,
    /// True if it was executed inside of functions.
    pub is_nested: bool,
}

/// Read-only session that reads the statistics.
#[derive(Debug)]
pub struct StatementReader {
    connection: Connection,
}

impl StatementReader {
    pub fn open(target: &Target) -> Result<StatementReader, Error> {
        let mut connection = target.open(TIMEOUT)?;
        connection.query(
            "set default_transaction_read_only = on; set statement_timeout = '50s'; set lock_timeout = '1s'",
        )?;
        Ok(StatementReader { connection })
    }

    /// Counters of the statements of the session's database. `None` if the database does not have the extension.
    pub fn counts(&mut self) -> Result<Option<StatementCounts>, Error> {
        let schema = "select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace \
                      where e.extname = 'pg_stat_statements'";
        let Some(schema) = self.connection.value(schema)? else { return Ok(None) };
        // The columns depend on the version of the extension.
        let sql = format!(
            "select s->>'query', s->>'calls', coalesce(s->>'total_exec_time', s->>'total_time'), \
             coalesce(s->>'toplevel', 'true') from (select to_jsonb(t) as s from {schema}.pg_stat_statements t \
             where t.dbid = (select oid from pg_database where datname = current_database())) as rows"
        );
        let rows = self.connection.query(&sql)?.rows.into_iter().map(row).collect();
        let info = format!("{schema}.pg_stat_statements_info");
        let has_info = format!("select to_regclass({}) is not null", quote_literal(&info));
        let mut counts = StatementCounts { rows, seconds: None, deallocations: 0 };
        if self.connection.value(&has_info)?.as_deref() == Some("t") {
            let sql = format!("select extract(epoch from now() - stats_reset), dealloc from {info}");
            let mut values = self.connection.query(&sql)?.rows.into_iter().flatten();
            counts.seconds = values.next().flatten().and_then(|it| it.parse().ok());
            counts.deallocations = values.next().flatten().and_then(|it| it.parse().ok()).unwrap_or(0);
        }
        Ok(Some(counts))
    }

    /// Types of the parameters of a statement, or the server's words if it cannot prepare the statement.
    pub fn parameter_types(&mut self, statement: &str) -> Result<Result<Vec<String>, String>, Error> {
        self.connection.query("begin read only")?;
        let types = match self.connection.query(&format!("prepare {PREPARED} as {statement}")) {
            Ok(_) => Ok(self.prepared_types()?),
            Err(Error::Server(error)) => Err(error.message),
            Err(error) => return Err(error),
        };
        self.connection.query("rollback")?;
        if types.is_ok() {
            // A rollback does not remove prepared statements.
            self.connection.query(&format!("deallocate {PREPARED}"))?;
        }
        Ok(types)
    }

    fn prepared_types(&mut self) -> Result<Vec<String>, Error> {
        let sql = format!(
            "select kind::text from pg_prepared_statements, unnest(parameter_types) with ordinality as types(kind, number) \
             where name = '{PREPARED}' order by number"
        );
        Ok(self.connection.query(&sql)?.rows.into_iter().flatten().flatten().collect())
    }

    /// True if a table has a column. Both names are written as in a statement.
    pub fn has_column(&mut self, table: &str, column: &str) -> Result<bool, Error> {
        let (table, column) = (quote_literal(table), quote_literal(column));
        let sql = format!(
            "select exists (select from pg_attribute where attrelid = to_regclass({table}) \
             and attname = (parse_ident({column}))[1] and attnum > 0 and not attisdropped)"
        );
        match self.connection.value(&sql) {
            Ok(value) => Ok(value.as_deref() == Some("t")),
            // A name such as `U&"a"` cannot be looked up.
            Err(Error::Server(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn row(values: Vec<Option<String>>) -> StatementRow {
    let mut values = values.into_iter();
    let mut next = || values.next().flatten();
    let text = next();
    StatementRow {
        text,
        calls: next().and_then(|it| it.parse().ok()).unwrap_or(0),
        time_ms: next().and_then(|it| it.parse().ok()).unwrap_or(0.0),
        is_nested: next().as_deref() == Some("false"),
    }
}
