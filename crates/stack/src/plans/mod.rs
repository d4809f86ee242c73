//! How does the server answer the statements that it is sent, and would another index help?
//!
//! Asked after a trial, of a server of ours. Values that clients sent are planned with, and forgotten: what is kept has
//! `$0` in their place.

mod build;
mod explain;
mod listen;
mod tables;

pub use build::build;
pub use explain::read;
pub use listen::{Listening, Why};
pub use model::advice::Built;

use crate::ask::{Connection, Error, Target};
use crate::loglines::{Heard, masked, without_values};
use model::explain::{Candidate, Node, Planned, Table, Tried, likened};
use std::collections::HashMap;
use std::time::Duration;

/// More statements are not planned.
const MANY: usize = 20;
/// The server gives up long before.
const PATIENCE: Duration = Duration::from_secs(60);

/// Nothing is written, nothing is waited for long, and each plan is one for the values that are given.
const SET_UP: [&str; 7] = [
    "set application_name = 'pgdyno plans'",
    "set default_transaction_read_only = on",
    "set statement_timeout = '10s'",
    "set lock_timeout = '1s'",
    "set client_min_messages = 'error'",
    "set plan_cache_mode = force_custom_plan",
    "set log_min_duration_statement = -1",
];

/// A session that knows the statements by what is to be explained.
#[derive(Debug)]
pub struct Planner {
    connection: Connection,
    statements: Vec<Statement>,
}

#[derive(Debug)]
struct Statement {
    /// Without values.
    text: String,
    heard: u32,
    /// What stands behind `EXPLAIN (…)`; or why nothing can.
    asked: Result<String, String>,
    reads: bool,
}

impl Planner {
    /// Those of the heard statements that took most time together, each with the values of the execution that took the
    /// middle one of times. `superuser` is logged in to the database that they read.
    pub fn open(superuser: &Target, heard: Vec<Heard>) -> Result<Planner, Error> {
        let mut connection = superuser.open(PATIENCE)?;
        for it in SET_UP {
            connection.query(it)?;
        }
        // Ours are not among the statements that are counted, where there is such a thing.
        let _ = connection.query("set pg_stat_statements.track = 'none'");
        let mut planner = Planner { connection, statements: Vec::new() };
        for (number, (text, heard, median)) in gathered(heard).into_iter().enumerate() {
            let asked = planner.prepare(number, &median)?;
            let reads = is_one_of(&median.text, &["select", "with", "values"]);
            planner.statements.push(Statement { text, heard, asked, reads });
        }
        Ok(planner)
    }

    /// Plans of all statements; those that only read are run for it, unless they take too long.
    pub fn plans(&mut self) -> Result<Vec<Planned>, Error> {
        let Planner { connection, statements } = self;
        let mut all = Vec::new();
        for it in statements {
            let told = it.plan(connection)?;
            let refused = told.as_ref().err().cloned();
            all.push(Planned { text: it.text.clone(), heard: it.heard, plan: told.ok(), refused });
        }
        Ok(all)
    }

    /// What the planner knows of the tables that these plans read.
    pub fn tables(&mut self, plans: &[Planned]) -> Result<Vec<Table>, Error> {
        let mut names: Vec<(&str, &str)> = nodes(plans)
            .filter_map(|it| Some((it.schema.as_deref()?, it.table.as_deref()?)))
            .filter(|it| it.0 != "pg_catalog")
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|(schema, name)| tables::table(&mut self.connection, schema, name)).collect()
    }

    /// What each statement would cost if there were this index too, one after the other. The inner error tells why the
    /// planner cannot be asked about indexes that are not there.
    pub fn try_out(
        &mut self,
        candidates: &[Candidate],
        plans: &[Planned],
    ) -> Result<Result<Vec<Tried>, String>, Error> {
        if let Err(why) = explain::hypothetical(&mut self.connection)? {
            return Ok(Err(why));
        }
        let mut all = Vec::new();
        for candidate in candidates {
            let touches = |plan: &Planned| {
                let here = |it: &&Node| {
                    it.schema.as_ref() == Some(&candidate.schema)
                        && it.table.as_ref() == Some(&candidate.table)
                };
                plan.plan.as_ref().is_some_and(|it| it.all().iter().any(here))
            };
            let asked: Vec<Option<&str>> = self
                .statements
                .iter()
                .zip(plans)
                .map(|(it, plan)| it.asked.as_deref().ok().filter(|_| touches(plan)))
                .collect();
            match explain::with_index(&mut self.connection, &candidate.ddl(), &asked)? {
                Ok((bytes, costs)) => {
                    all.push(Tried { candidate: candidate.clone(), bytes: Some(bytes), costs });
                }
                // Such as an index of a type that has no order: it helps nobody.
                Err(_) => all.push(Tried {
                    candidate: candidate.clone(),
                    bytes: None,
                    costs: vec![None; plans.len()],
                }),
            }
        }
        Ok(Ok(all))
    }

    /// What is explained for a statement, once the server knows it.
    fn prepare(&mut self, number: usize, it: &Heard) -> Result<Result<String, String>, Error> {
        let text = it.text.trim_end().trim_end_matches(';');
        if without_values(text, "?").contains(';') {
            return Ok(Err("several statements in one".to_owned()));
        }
        if it.values.is_empty() {
            return Ok(Ok(text.to_owned()));
        }
        let name = format!("pgdyno_{number}");
        let value =
            |it: &Option<String>| it.as_ref().map_or("NULL".to_owned(), |it| crate::dataset::literal(it));
        let values: Vec<String> = it.values.iter().map(value).collect();
        Ok(explain::refusable(self.connection.query(&format!("prepare {name} as {text}")))?
            .map(|_| format!("execute {name}({})", values.join(", ")))
            .map_err(|why| masked(&why)))
    }
}

impl Statement {
    /// The inner error tells why there is no plan.
    fn plan(&self, connection: &mut Connection) -> Result<Result<Node, String>, Error> {
        let asked = match &self.asked {
            Ok(it) => it,
            Err(why) => return Ok(Err(why.clone())),
        };
        if self.reads
            && let Ok(plan) = explain::explain(connection, "analyze, timing off, ", asked)?
        {
            return Ok(Ok(plan));
        }
        Ok(explain::explain(connection, "", asked)?.map_err(|why| masked(&why)))
    }
}

fn nodes(plans: &[Planned]) -> impl Iterator<Item = &Node> {
    plans.iter().filter_map(|it| it.plan.as_ref()).flat_map(Node::all)
}

/// By text without values: how often, and the execution that took the middle one of times. Those that took most time
/// together first.
fn gathered(heard: Vec<Heard>) -> Vec<(String, u32, Heard)> {
    let mut by_text: HashMap<String, Vec<Heard>> = HashMap::new();
    for it in heard.into_iter().filter(|it| is_one_of(&it.text, &QUERIES)) {
        by_text.entry(likened(&masked(&it.text))).or_default().push(it);
    }
    let mut all: Vec<(f64, String, Vec<Heard>)> =
        by_text.into_iter().map(|(text, its)| (its.iter().map(|it| it.millis).sum(), text, its)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    all.truncate(MANY);
    let middle = |(_, text, mut its): (f64, String, Vec<Heard>)| {
        its.sort_by(|a, b| a.millis.total_cmp(&b.millis));
        let (count, middle) = (its.len(), its.len() / 2);
        (text, count as u32, its.swap_remove(middle))
    };
    all.into_iter().map(middle).collect()
}

const QUERIES: [&str; 7] = ["select", "insert", "update", "delete", "merge", "with", "values"];

/// Whether a statement begins with one of these words.
fn is_one_of(text: &str, words: &[&str]) -> bool {
    let plain = masked(text);
    let first = plain.trim_start_matches('(').split(|it: char| !it.is_ascii_alphabetic()).next();
    first.is_some_and(|it| words.iter().any(|word| it.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_execution_of_each_text() {
        let heard = |text: &str, value: &str, millis| Heard {
            text: text.to_owned(),
            values: vec![Some(value.to_owned())],
            millis,
            pid: 1,
        };
        let all = vec![
            heard("select $1", "quick", 1.0),
            heard("begin", "", 9.0),
            heard("update t set a = $1", "dear", 99.0),
            heard("select $1", "slow", 30.0),
            heard("select 7", "middling", 2.0),
        ];
        let shown: Vec<String> = gathered(all)
            .into_iter()
            .map(|(text, count, it)| format!("{text} {count} {}", it.values[0].as_ref().unwrap()))
            .collect();
        assert_eq!(shown, ["update t set a = ? 1 dear", "select ? 3 middling"]);
    }

    #[test]
    fn first_words() {
        let check = |text: &str, expected| assert_eq!(is_one_of(text, &QUERIES), expected, "{text}");
        check(" -- why\n SELECT 1", true);
        check("(select 1) union (select 2)", true);
        check("selection", false);
        check("commit", false);
        check("", false);
    }
}
