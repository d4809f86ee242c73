//! Selection of the statements that become operations

use super::classify::operation_text;
use super::columns::{comparison, tables};
use super::left_out::{self, LeftOutStatements};
use super::{Parameter, Skeleton, SkeletonOperation, StatementLeftOutReason, StatementStatistics};
use crate::distil::{is_expressible, script, unique_name};
use crate::sql::lexer::{TokenKind, tokens};
use crate::sql::normalise::parameterise;
use model::Nanos;
use model::summary::QueryMode;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Share of the calls, and of the time, that the operations must cover.
const COVERAGE: f64 = 0.95;

/// Comment by which PostgreSQL 18 replaces all elements of a list except for the first.
const SHORT_LIST: &str = "/*, ... */";

/// Statement that may become an operation. Statements of several users are one.
struct Candidate {
    text: String,
    has_short_list: bool,
    calls: u64,
    time: Nanos,
}

/// Selects the statements with the most calls and those with the most time as operations.
pub fn select(statistics: &StatementStatistics, max_operations: usize) -> Skeleton {
    let mut left_out = Vec::new();
    let mut candidates = candidates(statistics, &mut left_out);
    let total = |value: fn(&Candidate) -> u64| candidates.iter().map(value).sum::<u64>() as f64;
    let (calls, time) = (total(|it| it.calls), total(|it| it.time.0));
    let share = |part: u64, all: f64| if all > 0.0 { part as f64 / all } else { 0.0 };
    let rank = |it: &Candidate| share(it.calls, calls).max(share(it.time.0, time));
    candidates.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let (mut covered_calls, mut covered_time) = (0, 0);
    let mut operations = Vec::new();
    for candidate in candidates {
        let is_covered = covered_calls as f64 >= COVERAGE * calls && covered_time as f64 >= COVERAGE * time;
        let made = match is_covered || operations.len() >= max_operations {
            true => Err(StatementLeftOutReason::Rare),
            false => operation(&candidate),
        };
        match made {
            Ok(operation) => {
                covered_calls += operation.calls;
                covered_time += operation.time.0;
                operations.push(operation);
            }
            Err(reason) => left_out::add(&mut left_out, reason, candidate.calls, candidate.time),
        }
    }
    operations.sort_by_key(|it: &SkeletonOperation| Reverse(it.calls));
    let mut taken = HashSet::new();
    for operation in &mut operations {
        operation.name = unique_name(std::slice::from_ref(&operation.statement), &mut taken);
    }
    left_out.sort_by_key(|it: &LeftOutStatements| Reverse(it.calls));
    Skeleton {
        operations,
        left_out,
        calls: statistics.statements.iter().map(|it| it.calls).sum(),
        time: Nanos(statistics.statements.iter().map(|it| it.time.0).sum()),
        period: statistics.period,
    }
}

fn candidates(statistics: &StatementStatistics, left_out: &mut Vec<LeftOutStatements>) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    let mut by_text: HashMap<String, usize> = HashMap::new();
    for count in statistics.statements.iter().filter(|it| it.calls > 0) {
        match operation_text(count.text.as_deref(), count.is_nested) {
            Ok(text) => {
                let index = *by_text.entry(text.clone()).or_insert(all.len());
                match all.get_mut(index) {
                    Some(known) => {
                        known.calls += count.calls;
                        known.time = Nanos(known.time.0 + count.time.0);
                    }
                    None => {
                        let has_short_list = count.text.as_ref().is_some_and(|it| it.contains(SHORT_LIST));
                        all.push(Candidate { text, has_short_list, calls: count.calls, time: count.time });
                    }
                }
            }
            Err(reason) => left_out::add(left_out, reason, count.calls, count.time),
        }
    }
    all
}

/// Operation with the statement. Its name is not set yet.
fn operation(candidate: &Candidate) -> Result<SkeletonOperation, StatementLeftOutReason> {
    let unreadable = StatementLeftOutReason::Unreadable;
    let inexpressible = StatementLeftOutReason::Inexpressible;
    // The value of each parameter is its number, so that each becomes a variable of its own.
    let (template, values) = parameterise(&candidate.text).map_err(|_| unreadable)?;
    if !is_expressible(&template) {
        return Err(inexpressible);
    }
    let made = script(&[&template], false, &[values], &[], QueryMode::Extended).ok_or(inexpressible)?;
    let tokens = tokens(&candidate.text).ok_or(unreadable)?;
    let tables = tables(&tokens);
    let parameter = |(variable, value): (String, &String)| {
        let number = value.parse().expect("the value of each parameter is its number");
        let mut places = (0..tokens.len())
            .filter(|it| tokens[*it].kind == TokenKind::Parameter && tokens[*it].text[1..] == **value);
        let comparison = places.find_map(|at| comparison(&tokens, at, &tables));
        Parameter { number, variable, kind: None, comparison }
    };
    Ok(SkeletonOperation {
        name: String::new(),
        statement: candidate.text.clone(),
        has_short_list: candidate.has_short_list,
        calls: candidate.calls,
        time: candidate.time,
        error: None,
        parameters: made.columns.into_iter().zip(&made.rows[0]).map(parameter).collect(),
        script: made.text,
    })
}
