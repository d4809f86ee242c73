//! Runs `EXPLAIN`, with and without hypothetical indexes

use super::NoPlan;
use crate::client::{Connection, Error, QueryResult};
use crate::dataset::quote_literal;
use crate::log_parser::replace_values;
use model::explain::PlanNode;
use serde::Deserialize;

/// Object that contains a plan in PostgreSQL's output.
#[derive(Deserialize)]
pub(super) struct ExplainOutput {
    #[serde(rename = "Plan")]
    pub(super) plan: PlanNode,
    #[serde(rename = "Query Identifier")]
    pub(super) query_id: Option<i64>,
}

/// Parses the output of `EXPLAIN (FORMAT JSON)`; `None` if it is invalid. Masks values.
pub fn parse_plan(json: &str) -> Option<PlanNode> {
    parse_explain(json).map(|it| it.plan)
}

fn parse_explain(json: &str) -> Option<ExplainOutput> {
    let mut all: Vec<ExplainOutput> = serde_json::from_str(json).ok()?;
    let mut output = all.pop()?;
    mask_conditions(&mut output.plan);
    Some(output)
}

fn mask_conditions(node: &mut PlanNode) {
    let conditions = [
        &mut node.filter,
        &mut node.index_condition,
        &mut node.recheck,
        &mut node.hash_condition,
        &mut node.merge_condition,
        &mut node.join_filter,
    ];
    let texts = conditions.into_iter().flatten().chain(&mut node.sort_key);
    texts.for_each(|it| *it = replace_values(it, "$0"));
    node.children.iter_mut().for_each(mask_conditions);
}

/// Explains a query, or the execution of a prepared query. The inner error is the reason why there is no plan.
pub(super) fn explain(
    connection: &mut Connection,
    options: &str,
    query: &str,
) -> Result<Result<ExplainOutput, NoPlan>, Error> {
    let answer =
        separate_server_error(connection.query(&format!("explain (verbose, {options}format json) {query}")))?;
    Ok(answer.and_then(|answer| {
        let json: Vec<&str> = answer.rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
        parse_explain(&json.join("\n")).ok_or(NoPlan::Unreadable)
    }))
}

/// Creates the extension HypoPG. The inner error is the reason why HypoPG is not available.
pub(super) fn enable_hypopg(connection: &mut Connection) -> Result<Result<(), NoPlan>, Error> {
    let query = "select 1 from pg_available_extensions where name = 'hypopg'";
    if connection.value(query)?.is_none() {
        return Ok(Err(NoPlan::NoHypopg));
    }
    connection.query("set default_transaction_read_only = off")?;
    let made = separate_server_error(connection.query("create extension if not exists hypopg"))?;
    connection.query("set default_transaction_read_only = on")?;
    Ok(made.map(drop))
}

/// Estimated size of an index, and for each statement the cost of a plan that uses the index.
type IndexCosts = (u64, Vec<Option<f64>>);

pub(super) fn costs_with_index(
    connection: &mut Connection,
    ddl: &str,
    targets: &[Option<&str>],
) -> Result<Result<IndexCosts, NoPlan>, Error> {
    let make = format!(
        "select indexname, hypopg_relation_size(indexrelid) from hypopg_create_index({})",
        quote_literal(ddl)
    );
    let made = match separate_server_error(connection.query(&make))? {
        Ok(it) => it,
        Err(error) => return Ok(Err(error)),
    };
    let cell = |at: usize| made.rows.first()?.get(at)?.clone();
    let (name, bytes) = (cell(0), cell(1).and_then(|it| it.parse().ok()).unwrap_or(0));
    let mut costs = Vec::new();
    for target in targets {
        let plan = target.map(|it| explain(connection, "", it)).transpose()?.and_then(Result::ok);
        let plan = plan.map(|it| it.plan);
        let takes = plan.as_ref().is_some_and(|it| it.flatten().iter().any(|node| node.index == name));
        costs.push(plan.filter(|_| takes).map(|it| it.cost));
    }
    connection.query("select hypopg_reset()")?;
    Ok(Ok((bytes, costs)))
}

/// Separates an error of the server, after which the session is still usable, from other errors.
pub(super) fn separate_server_error(
    result: Result<QueryResult, Error>,
) -> Result<Result<QueryResult, NoPlan>, Error> {
    match result {
        Ok(it) => Ok(Ok(it)),
        Err(Error::Server(it)) if it.severity == "ERROR" => Ok(Err(NoPlan::Server(it.message))),
        Err(it) => Err(it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output is from PostgreSQL 15; other versions differ only in fields that are not read.
    #[test]
    fn parses_plans_and_masks_values() {
        let check = |json: &str, expected: &str| {
            let plan = parse_plan(json).unwrap_or_else(|| panic!("{json}"));
            let show = |node: &&PlanNode| {
                let texts = [&node.index, &node.filter, &node.index_condition].into_iter().flatten();
                let more: Vec<&str> = texts.map(String::as_str).collect();
                format!("{} {} {} {:?}\n", node.kind, node.cost, more.join(" "), node.sort_key)
            };
            assert_eq!(plan.flatten().iter().map(show).collect::<String>(), expected);
        };
        check(include_str!("fixtures/by-both.json"), include_str!("fixtures/by-both.txt"));
        check(include_str!("fixtures/sorted.json"), include_str!("fixtures/sorted.txt"));
        check(include_str!("fixtures/update.json"), include_str!("fixtures/update.txt"));
        assert_eq!(parse_plan("no JSON"), None);
        assert_eq!(parse_plan("[]"), None);
    }
}
