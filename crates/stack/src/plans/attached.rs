//! Read-only statements of an attached server, and their generic plans
//!
//! `pg_stat_statements` has the texts, without values. One read-only transaction plans them for any values and is rolled
//! back. No statement is executed, and no setting or object outlives the transaction: a pooler may share the session.

use super::{
    CONNECT_TIMEOUT, MAX_STATEMENTS, NoPlan, PlannedStatement, Planner, explain, starts_with_keyword,
};
use crate::client::{Connection, Error, Target};
use crate::log_parser::{mask_values, replace_values};
use model::explain::normalize_placeholders;
use std::collections::HashMap;

/// Begins the transaction of the planner. Timeouts are short, because the server may be in production.
const BEGIN_SQL: &str = "begin read only; set local application_name = 'pgdyno plans'; \
    set local statement_timeout = '1s'; set local lock_timeout = '100ms'; \
    set local client_min_messages = 'error'; set local plan_cache_mode = force_generic_plan";

/// Statements of the current database. Statements that name system catalogs are most likely those of monitoring.
const COUNTS_SQL: &str = "select dbid::text || ' ' || queryid::text, sum(calls), sum(total_exec_time), min(query) \
    from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database()) \
      and queryid is not null and query ~* '^[[:space:](]*(select|with|values)\\y' and query !~* '\\ypg_' \
    group by 1";

/// Statement with its executions and their total time.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedStatement {
    /// Text with parameters such as `$1` in place of values.
    pub text: String,
    pub calls: f64,
    pub millis: f64,
}

/// Counts of read-only statements, by the identifiers of database and query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionCounts(HashMap<String, CountedStatement>);

impl ExecutionCounts {
    /// Reads the counts; `None` if the server has none or the user must not read them.
    pub fn read(database: &Target) -> Result<Option<ExecutionCounts>, Error> {
        let mut connection = database.open(CONNECT_TIMEOUT)?;
        connection.query(BEGIN_SQL)?;
        let Ok(answer) = explain::separate_server_error(connection.query(COUNTS_SQL))? else {
            return Ok(None);
        };
        connection.query("rollback")?;
        let count = |row: Vec<Option<String>>| {
            let [Some(id), Some(calls), Some(millis), Some(text)] = <[_; 4]>::try_from(row).ok()? else {
                return None;
            };
            let (calls, millis) = (calls.parse().ok()?, millis.parse().ok()?);
            Some((id, CountedStatement { text, calls, millis }))
        };
        Ok(Some(ExecutionCounts(answer.rows.into_iter().filter_map(count).collect())))
    }

    /// Statements that were executed since `before`, the one with the longest total time first.
    pub fn since(self, before: &ExecutionCounts) -> Vec<CountedStatement> {
        let growth = |(id, now): (String, CountedStatement)| {
            // If the counters were reset, the executions since then count.
            let (calls, millis) = match before.0.get(&id).filter(|it| it.calls <= now.calls) {
                Some(before) => (now.calls - before.calls, now.millis - before.millis),
                None => (now.calls, now.millis),
            };
            (calls > 0.0).then_some(CountedStatement { calls, millis, ..now })
        };
        let mut all: Vec<CountedStatement> = self.0.into_iter().filter_map(growth).collect();
        all.sort_by(|a, b| b.millis.total_cmp(&a.millis).then_with(|| a.text.cmp(&b.text)));
        all.truncate(MAX_STATEMENTS);
        all
    }
}

impl Planner {
    /// Begins a read-only transaction and prepares the statements, which are never executed.
    pub fn open_attached(database: &Target, statements: &[CountedStatement]) -> Result<Planner, Error> {
        let mut connection = database.open(CONNECT_TIMEOUT)?;
        connection.query(BEGIN_SQL)?;
        let (mut planned, mut prepared) = (Vec::new(), Vec::new());
        for (number, statement) in statements.iter().enumerate() {
            let name = format!("pgdyno_{number}");
            let explain_target = in_savepoint(&mut connection, |it| prepare(it, &name, &statement.text))?;
            prepared.extend(explain_target.is_ok().then_some(name));
            planned.push(PlannedStatement {
                text: normalize_placeholders(&mask_values(&statement.text)),
                executions: statement.calls as u32,
                explain_target,
                is_executable: false,
            });
        }
        Ok(Planner { connection, statements: planned, prepared: Some(prepared) })
    }

    /// Removes the prepared statements, which a rollback keeps, and ends the transaction. Returns the session, which is
    /// as it was before.
    pub fn close_attached(mut self) -> Result<Connection, Error> {
        for name in self.prepared.into_iter().flatten() {
            self.connection.query(&format!("deallocate {name}"))?;
        }
        self.connection.query("rollback")?;
        Ok(self.connection)
    }
}

/// Calls `query` in a savepoint, because an error would abort the transaction otherwise. Locks are released at the end.
pub(super) fn in_savepoint<T>(
    connection: &mut Connection,
    query: impl FnOnce(&mut Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    connection.query("savepoint pgdyno")?;
    let answer = query(connection)?;
    connection.query("rollback to savepoint pgdyno")?;
    Ok(answer)
}

/// Prepares a statement; returns the text to explain. A generic plan depends on no value, so all values are NULL.
fn prepare(connection: &mut Connection, name: &str, text: &str) -> Result<Result<String, NoPlan>, Error> {
    if !starts_with_keyword(text, &["select", "with", "values"]) || replace_values(text, "?").contains(';') {
        return Ok(Err(NoPlan::SeveralStatements));
    }
    let prepared = explain::separate_server_error(connection.query(&format!("prepare {name} as {text}")))?;
    if let Err(error) = prepared {
        return Ok(Err(error.masked()));
    }
    let count = format!(
        "select coalesce(cardinality(parameter_types), 0) from pg_prepared_statements where name = '{name}'"
    );
    let count: usize = connection.value(&count)?.and_then(|it| it.parse().ok()).unwrap_or(0);
    let values = vec!["null"; count].join(", ");
    Ok(Ok(if count == 0 { format!("execute {name}") } else { format!("execute {name}({values})") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_executions_since_a_time() {
        let counts = |rows: &[(&str, f64, f64)]| {
            let row = |(text, calls, millis): &(&str, f64, f64)| {
                (
                    text.to_string(),
                    CountedStatement { text: text.to_string(), calls: *calls, millis: *millis },
                )
            };
            ExecutionCounts(rows.iter().map(row).collect())
        };
        let before =
            counts(&[("same", 5.0, 9.0), ("grown", 5.0, 9.0), ("reset", 5.0, 9.0), ("gone", 1.0, 1.0)]);
        let after =
            counts(&[("same", 5.0, 9.0), ("grown", 7.0, 12.0), ("reset", 2.0, 4.0), ("new", 1.0, 2.0)]);
        let shown: Vec<String> =
            after.since(&before).iter().map(|it| format!("{} {} {}", it.text, it.calls, it.millis)).collect();
        assert_eq!(shown, ["reset 2 4", "grown 2 3", "new 1 2"]);
    }
}
