//! Explains the statements that a server executes, and estimates the effect of additional indexes
//!
//! The planner runs after a trial. On a server that pgdyno started, it executes read-only statements; on an attached
//! server, it executes none. Clients' values are used for planning and then
//! discarded: stored plans have `$0` in place of these values.

mod attached;
mod build;
mod explain;
mod statement_capture;
mod tables;

pub use attached::{CountedStatement, ExecutionCounts};
pub use build::build_index;
pub use explain::parse_plan;
pub use model::advice::IndexBuild;
pub use statement_capture::{CaptureError, StatementCapture};

use crate::client::{Connection, Error, Target};
use crate::log_parser::{LoggedStatement, mask_values, replace_values};
use explain::ExplainOutput;
use model::explain::{
    IndexCandidate, IndexEstimate, PlanNode, StatementPlan, TableStats, normalize_placeholders,
};
use model::message;
use model::message::Message;
use std::collections::HashMap;
use std::time::Duration;

/// Maximum number of statements to explain.
const MAX_STATEMENTS: usize = 20;
/// Timeout for the session, much longer than the server's own statement timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Statements that make the session read-only, limit its waits for locks, and make the server plan each statement for
/// its values.
const SETUP_SQL: [&str; 7] = [
    "set application_name = 'pgdyno plans'",
    "set default_transaction_read_only = on",
    "set statement_timeout = '10s'",
    "set lock_timeout = '1s'",
    "set client_min_messages = 'error'",
    "set plan_cache_mode = force_custom_plan",
    "set log_min_duration_statement = -1",
];

/// Session in which the statements to explain are prepared.
#[derive(Debug)]
pub struct Planner {
    connection: Connection,
    statements: Vec<PlannedStatement>,
    /// Names of the prepared statements of a transaction on an attached server; `None` on a server that pgdyno started.
    prepared: Option<Vec<String>>,
}

#[derive(Debug)]
struct PlannedStatement {
    /// Statement text without values.
    text: String,
    executions: u32,
    /// Text after `EXPLAIN (…)`.
    explain_target: Result<String, NoPlan>,
    /// True if the statement may be executed for its plan.
    is_executable: bool,
}

/// Reason why there is no plan, or no hypothetical index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlan {
    SeveralStatements,
    /// The output of `EXPLAIN` cannot be parsed.
    Unreadable,
    /// The server is attached, so HypoPG is not used.
    Attached,
    /// HypoPG is not installed.
    NoHypopg,
    /// The server rejected the statement with this message.
    Server(String),
}

impl NoPlan {
    /// Masks clients' values in the message of the server.
    fn masked(self) -> NoPlan {
        match self {
            NoPlan::Server(message) => NoPlan::Server(mask_values(&message)),
            other => other,
        }
    }
}

impl From<&NoPlan> for Message {
    fn from(error: &NoPlan) -> Message {
        match error {
            NoPlan::SeveralStatements => message!("plan-several-statements"),
            NoPlan::Unreadable => message!("plan-unreadable"),
            NoPlan::Attached => message!("plan-attached"),
            NoPlan::NoHypopg => message!("plan-no-hypopg"),
            NoPlan::Server(message) => message!("error-quoted", text = message),
        }
    }
}

impl Planner {
    /// Prepares the statements with the highest total time, each with the values of its median execution.
    ///
    /// `superuser` is a login to the database that the statements use.
    pub fn open(superuser: &Target, statements: Vec<LoggedStatement>) -> Result<Planner, Error> {
        let mut connection = superuser.open(CONNECT_TIMEOUT)?;
        for sql in SETUP_SQL {
            connection.query(sql)?;
        }
        // This fails before PostgreSQL 14.
        let _ = connection.query("set compute_query_id = on");
        // Exclude these statements from `pg_stat_statements`. This fails if the extension is missing.
        let _ = connection.query("set pg_stat_statements.track = 'none'");
        let mut planner = Planner { connection, statements: Vec::new(), prepared: None };
        for (number, (text, executions, median)) in group_by_text(statements).into_iter().enumerate() {
            let explain_target = planner.prepare(number, &median)?;
            let reads = starts_with_keyword(&median.text, &["select", "with", "values"]);
            planner.statements.push(PlannedStatement {
                text,
                executions,
                explain_target,
                is_executable: reads,
            });
        }
        Ok(planner)
    }

    /// Plans all statements. On a server that pgdyno started, read-only statements are executed for this, unless they
    /// take too long. Statements with the same query identifier, for example because only a comment differs, become one.
    pub fn explain_all(&mut self) -> Result<Vec<StatementPlan>, Error> {
        let mut all: Vec<StatementPlan> = Vec::new();
        for statement in std::mem::take(&mut self.statements) {
            let plan = match self.prepared {
                Some(_) => attached::in_savepoint(&mut self.connection, |it| statement.plan(it))?,
                None => statement.plan(&mut self.connection)?,
            };
            let error = plan.as_ref().err().map(Message::from);
            let query_id = plan.as_ref().ok().and_then(|it| it.query_id);
            if let Some(same) = all.iter_mut().find(|it| query_id.is_some() && it.query_id == query_id) {
                same.captured += statement.executions;
                continue;
            }
            all.push(StatementPlan {
                text: statement.text.clone(),
                captured: statement.executions,
                query_id,
                plan: plan.ok().map(|it| it.plan),
                error,
            });
            self.statements.push(statement);
        }
        Ok(all)
    }

    /// Reads planner statistics of the tables that these plans read.
    pub fn table_statistics(&mut self, plans: &[StatementPlan]) -> Result<Vec<TableStats>, Error> {
        let mut names: Vec<(&str, &str)> = plan_nodes(plans)
            .filter_map(|it| Some((it.schema.as_deref()?, it.table.as_deref()?)))
            .filter(|it| it.0 != "pg_catalog")
            .collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .map(|(schema, name)| tables::table_statistics(&mut self.connection, schema, name))
            .collect()
    }

    /// Estimates the cost of each statement with a hypothetical index, for one candidate index after the other.
    ///
    /// The inner error is the reason why hypothetical indexes are not available.
    pub fn estimate_indexes(
        &mut self,
        candidates: &[IndexCandidate],
        plans: &[StatementPlan],
    ) -> Result<Result<Vec<IndexEstimate>, NoPlan>, Error> {
        if self.prepared.is_some() {
            return Ok(Err(NoPlan::Attached));
        }
        if let Err(error) = explain::enable_hypopg(&mut self.connection)? {
            return Ok(Err(error));
        }
        let mut all = Vec::new();
        for candidate in candidates {
            let touches = |plan: &StatementPlan| {
                let is_scan = |node: &&PlanNode| {
                    node.schema.as_ref() == Some(&candidate.schema)
                        && node.table.as_ref() == Some(&candidate.table)
                };
                plan.plan.as_ref().is_some_and(|it| it.flatten().iter().any(is_scan))
            };
            let targets: Vec<Option<&str>> = self
                .statements
                .iter()
                .zip(plans)
                .map(|(it, plan)| it.explain_target.as_deref().ok().filter(|_| touches(plan)))
                .collect();
            match explain::costs_with_index(&mut self.connection, &candidate.ddl(), &targets)? {
                Ok((bytes, costs)) => {
                    all.push(IndexEstimate { candidate: candidate.clone(), bytes: Some(bytes), costs });
                }
                // For example, the server rejects an index on a type without an order.
                Err(_) => all.push(IndexEstimate {
                    candidate: candidate.clone(),
                    bytes: None,
                    costs: vec![None; plans.len()],
                }),
            }
        }
        Ok(Ok(all))
    }

    /// Prepares a statement; returns the text to explain.
    fn prepare(
        &mut self,
        number: usize,
        statement: &LoggedStatement,
    ) -> Result<Result<String, NoPlan>, Error> {
        let text = statement.text.trim_end().trim_end_matches(';');
        if replace_values(text, "?").contains(';') {
            return Ok(Err(NoPlan::SeveralStatements));
        }
        if statement.values.is_empty() {
            return Ok(Ok(text.to_owned()));
        }
        let name = format!("pgdyno_{number}");
        let value = |value: &Option<String>| {
            value.as_ref().map_or("NULL".to_owned(), |it| crate::dataset::quote_literal(it))
        };
        let values: Vec<String> = statement.values.iter().map(value).collect();
        Ok(explain::separate_server_error(self.connection.query(&format!("prepare {name} as {text}")))?
            .map(|_| format!("execute {name}({})", values.join(", ")))
            .map_err(NoPlan::masked))
    }
}

impl PlannedStatement {
    /// Plans the prepared statement. The inner error is the reason why there is no plan.
    fn plan(&self, connection: &mut Connection) -> Result<Result<ExplainOutput, NoPlan>, Error> {
        let target = match &self.explain_target {
            Ok(it) => it,
            Err(error) => return Ok(Err(error.clone())),
        };
        if self.is_executable
            && let Ok(plan) = explain::explain(connection, "analyze, buffers, ", target)?
        {
            return Ok(Ok(plan));
        }
        Ok(explain::explain(connection, "", target)?.map_err(NoPlan::masked))
    }
}

fn plan_nodes(plans: &[StatementPlan]) -> impl Iterator<Item = &PlanNode> {
    plans.iter().filter_map(|it| it.plan.as_ref()).flat_map(PlanNode::flatten)
}

/// Groups statements by their text without values. Returns for each text the number of executions, and the execution
/// with the median duration.
///
/// The groups are ordered by total time, descending.
fn group_by_text(statements: Vec<LoggedStatement>) -> Vec<(String, u32, LoggedStatement)> {
    let mut by_text: HashMap<String, Vec<LoggedStatement>> = HashMap::new();
    for statement in statements.into_iter().filter(|it| starts_with_keyword(&it.text, &QUERY_KEYWORDS)) {
        by_text.entry(normalize_placeholders(&mask_values(&statement.text))).or_default().push(statement);
    }
    let mut all: Vec<(f64, String, Vec<LoggedStatement>)> =
        by_text.into_iter().map(|(text, its)| (its.iter().map(|it| it.millis).sum(), text, its)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    all.truncate(MAX_STATEMENTS);
    let middle = |(_, text, mut its): (f64, String, Vec<LoggedStatement>)| {
        its.sort_by(|a, b| a.millis.total_cmp(&b.millis));
        let (count, middle) = (its.len(), its.len() / 2);
        (text, count as u32, its.swap_remove(middle))
    };
    all.into_iter().map(middle).collect()
}

const QUERY_KEYWORDS: [&str; 7] = ["select", "insert", "update", "delete", "merge", "with", "values"];

/// True if a statement begins with one of these words.
fn starts_with_keyword(text: &str, words: &[&str]) -> bool {
    let plain = mask_values(text);
    let first = plain.trim_start_matches('(').split(|it: char| !it.is_ascii_alphabetic()).next();
    first.is_some_and(|it| words.iter().any(|word| it.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_median_execution_of_each_text() {
        let logged = |text: &str, value: &str, millis| LoggedStatement {
            text: text.to_owned(),
            values: vec![Some(value.to_owned())],
            millis,
            pid: 1,
        };
        let all = vec![
            logged("select $1", "quick", 1.0),
            logged("begin", "", 9.0),
            logged("update t set a = $1", "dear", 99.0),
            logged("select $1", "slow", 30.0),
            logged("select 7", "middling", 2.0),
        ];
        let shown: Vec<String> = group_by_text(all)
            .into_iter()
            .map(|(text, count, it)| format!("{text} {count} {}", it.values[0].as_ref().unwrap()))
            .collect();
        assert_eq!(shown, ["update t set a = ? 1 dear", "select ? 3 middling"]);
    }

    #[test]
    fn recognises_query_keywords() {
        let check =
            |text: &str, expected| assert_eq!(starts_with_keyword(text, &QUERY_KEYWORDS), expected, "{text}");
        check(" -- why\n SELECT 1", true);
        check("(select 1) union (select 2)", true);
        check("selection", false);
        check("commit", false);
        check("", false);
    }
}
