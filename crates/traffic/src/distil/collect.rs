//! Operations with the values of their transactions

use super::groups::{self, Groups};
use super::left_out::{self, LeftOut, LeftOutReason};
use super::naming::name;
use super::pauses::pauses;
use super::sample::Reservoir;
use super::script::script;
use super::{DistilOptions, Feed, Operation};
use crate::session::{Statement, Traffic};
use crate::sql::normalise::normalise;
use crate::sql::template::Value;
use model::SplitMix64;
use model::summary::QueryMode;
use std::cmp::Reverse;
use std::collections::HashSet;

#[derive(Debug)]
pub(super) struct Collection {
    /// Operations by decreasing frequency.
    pub operations: Vec<Operation>,
    pub left_out: Vec<LeftOut>,
    /// Number of all transactions.
    pub transactions: u64,
}

pub(super) fn collect(traffic: &Traffic, query_mode: QueryMode, options: &DistilOptions) -> Collection {
    let mut groups = groups::group(traffic, options);
    let selected = groups::select(&mut groups, options);
    let samples = samples(&groups, &selected, options);
    let transactions = groups.transactions.len() as u64;
    let Groups { groups, templates, mut left_out, .. } = groups;
    let mut chosen: Vec<_> = selected.into_iter().zip(samples).collect();
    chosen.sort_by_key(|(index, _)| Reverse(groups[*index].transactions));
    let mut taken = HashSet::new();
    let mut operations = Vec::new();
    for (index, sample) in chosen {
        let group = &groups[index];
        let rows: Vec<Vec<Value>> = sample.iter().map(|statements| row(statements, options)).collect();
        let templates: Vec<_> = group.templates.iter().map(|&template| &templates[template]).collect();
        let Some(script) = script(&templates, group.is_pipeline, &rows, &pauses(&sample), query_mode) else {
            let reason = LeftOutReason::Inexpressible;
            left_out::add(&mut left_out, reason, group.transactions, group.statements());
            continue;
        };
        let statements: Vec<String> = templates.iter().map(|template| template.text()).collect();
        let feed = Feed { columns: script.columns, rows: script.rows };
        operations.push(Operation {
            name: name(&statements, &mut taken),
            transactions: group.transactions,
            statements,
            script: script.text,
            feed: (!feed.columns.is_empty()).then_some(feed),
        });
    }
    left_out.sort_by_key(|left_out| Reverse(left_out.statements));
    Collection { operations, left_out, transactions }
}

/// Random sample of the transactions of each selected group.
fn samples<'a>(
    groups: &Groups<'a>,
    selected: &[usize],
    options: &DistilOptions,
) -> Vec<Vec<&'a [Statement]>> {
    let mut places = vec![None; groups.groups.len()];
    let mut reservoirs = Vec::new();
    for (place, &group) in selected.iter().enumerate() {
        places[group] = Some(place);
        // Each group has a sequence of random numbers of its own.
        let seed = SplitMix64::mix(options.seed.wrapping_add(place as u64).wrapping_mul(SplitMix64::STEP));
        reservoirs.push(Reservoir::new(options.max_rows.max(1), seed));
    }
    for recorded in &groups.transactions {
        if let Some(place) = recorded.group.and_then(|group| places[group]) {
            reservoirs[place].add(recorded.statements);
        }
    }
    reservoirs.into_iter().map(Reservoir::finish).collect()
}

/// Values of all statements of a transaction.
fn row(statements: &[Statement], options: &DistilOptions) -> Vec<Value> {
    let values = statements.iter().flat_map(|statement| {
        let (_, values) = normalise(&statement.text, &statement.parameters)
            .expect("a statement of a group was normalised before");
        values
    });
    match &options.anonymise {
        Some(anonymisation) => values.map(|value| anonymisation.value(value)).collect(),
        None => values.collect(),
    }
}
