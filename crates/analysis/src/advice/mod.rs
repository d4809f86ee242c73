//! Which indexes are worth being built, and which statements does none help?
//!
//! The planner has said what each index alone would save ([`model::explain::Tried`]). Of those the fewest are taken that
//! save nearly all of it: one that adds little to those that are taken already is not worth its upkeep.

mod candidates;
mod predicates;
#[cfg(test)]
mod tests;

pub use candidates::candidates;

use candidates::{MOST, Whole, wholes};
use model::account::StatementAccount;
use model::advice::{Advice, Advised, Case, Changed, Helped, Remedy, Scan};
use model::explain::{Candidate, Planned, Plans, Role, Tried, likened};
use predicates::set_by;

/// An index has to save this share of all statements' time.
const LEAST: f64 = 0.005;
/// And to bring the cost of some statement down to this share.
const SUBSTANTIAL: f64 = 0.5;
/// An index with fewer columns is preferred if it saves nearly as much as the best.
const NEARLY: f64 = 0.95;

/// What follows from plans, and from what the statements took within the window; `cells` is told as it is.
pub fn advice(cells: Vec<usize>, plans: &Plans, counted: &[StatementAccount]) -> Advice {
    let plans = &dearest_first(plans, counted);
    let of_text = |it: &Planned| -> Vec<&StatementAccount> {
        counted.iter().filter(|other| likened(&other.text) == it.text).collect()
    };
    let known: Vec<Vec<&StatementAccount>> = plans.statements.iter().map(of_text).collect();
    let chosen = choose(plans, &weights(plans, &known));
    let before = |number: usize| plans.statements[number].plan.as_ref().map_or(0.0, |it| it.cost);
    let advised = |it: &Tried| {
        let helped: Vec<Helped> = (0..plans.statements.len())
            .filter_map(|n| Some(Helped { statement: n, before: before(n), after: it.costs[n]? }))
            .filter(|it| it.after < it.before)
            .collect();
        let saves = |it: &Helped| {
            let share = known[it.statement].iter().map(|it| it.share).sum::<f64>();
            share * (1.0 - it.after / it.before)
        };
        let kept_by: Vec<usize> =
            (0..plans.statements.len()).filter(|n| writes(&plans.statements[*n], &it.candidate)).collect();
        let not_hot = kept_by.iter().copied().filter(|n| changes(&plans.statements[*n], &it.candidate));
        let rows = table_of(plans, &it.candidate).map_or(0.0, |it| it.rows);
        Advised {
            ddl: it.candidate.ddl(),
            bytes: it.bytes,
            rows,
            saved: (!counted.is_empty()).then(|| helped.iter().map(saves).sum()),
            helped,
            not_hot: not_hot.collect(),
            kept_by,
            candidate: it.candidate.clone(),
        }
    };
    let indexes: Vec<Advised> = chosen.iter().map(|it| advised(&plans.tried[*it])).collect();
    let case = |(number, it): (usize, &Planned)| {
        let scans = it.plan.iter().flat_map(|it| wholes(it, &plans.tables)).collect::<Vec<_>>();
        let worst = scans.iter().max_by(|a, b| vain(a).total_cmp(&vain(b)));
        let calls: f64 = known[number].iter().map(|it| it.calls).sum();
        let total: f64 = known[number].iter().map(|it| it.total).sum();
        Case {
            text: it.text.clone(),
            share: (!known[number].is_empty()).then(|| known[number].iter().map(|it| it.share).sum()),
            mean: (calls > 0.0).then(|| total / calls),
            scan: worst.map(|it| Scan {
                table: format!("{}.{}", it.table.schema, it.table.name),
                rows: it.table.rows,
                passed: it.passed,
                counted: it.counted,
            }),
            remedy: remedy(number, it, worst, &indexes),
        }
    };
    let statements = plans.statements.iter().enumerate().map(case).collect();
    // Of several that help a statement, the planner takes the one with which it costs least.
    let share = |n: usize| {
        let with = indexes.iter().flat_map(|it| &it.helped).filter(|it| it.statement == n);
        let left = with.map(|it| it.after / it.before).fold(1.0, f64::min);
        (1.0 - left) * known[n].iter().map(|it| it.share).sum::<f64>()
    };
    let saved = (!counted.is_empty()).then(|| (0..plans.statements.len()).map(share).sum());
    Advice { cells, statements, indexes, saved, untried: plans.untried.clone() }
}

/// Mean times of the statements that two cells sent, without indexes and with them.
pub fn changed(without: &[StatementAccount], with: &[StatementAccount]) -> Vec<Changed> {
    let pair = |it: &StatementAccount| {
        let other = with.iter().find(|other| likened(&other.text) == likened(&it.text))?;
        let first = it.text.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
        let writes = ["insert", "update", "delete", "merge"].contains(&first.as_str());
        Some(Changed { text: it.text.clone(), before: it.mean, after: other.mean, writes })
    };
    without.iter().filter_map(pair).collect()
}

/// The same plans, those first that took most of the time within the window.
fn dearest_first(plans: &Plans, counted: &[StatementAccount]) -> Plans {
    let total = |n: usize| -> f64 {
        let its = counted.iter().filter(|it| likened(&it.text) == plans.statements[n].text);
        its.map(|it| it.total).sum()
    };
    let mut order: Vec<usize> = (0..plans.statements.len()).collect();
    order.sort_by(|a, b| total(*b).total_cmp(&total(*a)));
    let moved = |it: &Tried| {
        let mut it = it.clone();
        it.costs = order.iter().map(|n| it.costs.get(*n).copied().flatten()).collect();
        let now = |n: &usize| order.iter().position(|it| it == n);
        it.candidate.wanted_by = it.candidate.wanted_by.iter().filter_map(now).collect();
        it
    };
    Plans {
        statements: order.iter().map(|n| plans.statements[*n].clone()).collect(),
        tables: plans.tables.clone(),
        tried: plans.tried.iter().map(moved).collect(),
        untried: plans.untried.clone(),
    }
}

/// What plans would cost with each of these indexes, where nobody can ask the planner: as if it read one page for each row
/// that its columns leave, at PostgreSQL's usual cost.
pub fn estimated(plans: &Plans, candidates: &[Candidate]) -> Vec<Tried> {
    const PAGE: f64 = 4.0;
    let tried = |it: &Candidate| {
        let rows = table_of(plans, it).map_or(0.0, |it| it.rows);
        let left = it.keys.iter().fold(rows, |left, key| match key.role {
            Role::Equal => left / key.distinct.unwrap_or(1.0).max(1.0),
            // The planner's own guess for bounds that it does not know.
            Role::Range => left / 3.0,
            Role::Ascending | Role::Descending => left,
        });
        let after = 2.0 * PAGE + PAGE * left;
        let cost = |number: usize| {
            let before = plans.statements[number].plan.as_ref()?.cost;
            Some(after).filter(|after| it.wanted_by.contains(&number) && *after < before)
        };
        let costs = (0..plans.statements.len()).map(cost).collect();
        Tried { candidate: it.clone(), bytes: None, costs }
    };
    candidates.iter().map(tried).collect()
}

/// Of the time of all statements; where that was not counted, of what was heard and is expected to cost.
fn weights(plans: &Plans, known: &[Vec<&StatementAccount>]) -> Vec<f64> {
    if known.iter().any(|it| !it.is_empty()) {
        return known.iter().map(|it| it.iter().map(|it| it.share).sum()).collect();
    }
    let cost = |it: &Planned| f64::from(it.heard) * it.plan.as_ref().map_or(0.0, |it| it.cost);
    let all: f64 = plans.statements.iter().map(cost).sum();
    plans.statements.iter().map(|it| if all > 0.0 { cost(it) / all } else { 0.0 }).collect()
}

/// Indexes into [`Plans::tried`], the one that saves most first.
fn choose(plans: &Plans, weights: &[f64]) -> Vec<usize> {
    let before: Vec<f64> =
        plans.statements.iter().map(|it| it.plan.as_ref().map_or(0.0, |it| it.cost)).collect();
    // With those that are taken already.
    let mut best = before.clone();
    let mut taken = Vec::new();
    loop {
        let gain = |it: &Tried| -> (f64, bool) {
            let (mut gain, mut substantial) = (0.0, false);
            for (n, after) in it.costs.iter().enumerate() {
                let Some(after) = after.filter(|it| *it < best[n] && before[n] > 0.0) else { continue };
                gain += weights[n] * (best[n] - after) / before[n];
                substantial |= after <= SUBSTANTIAL * best[n];
            }
            (gain, substantial)
        };
        let gains: Vec<(usize, f64)> = plans
            .tried
            .iter()
            .enumerate()
            .filter_map(|(n, it)| {
                let (gain, substantial) = gain(it);
                (substantial && gain >= LEAST).then_some((n, gain))
            })
            .collect();
        let most = gains.iter().map(|it| it.1).fold(0.0, f64::max);
        let cheap = |n: usize| (plans.tried[n].candidate.keys.len(), plans.tried[n].bytes.unwrap_or(0), n);
        let next = gains.iter().filter(|it| it.1 >= NEARLY * most).min_by_key(|it| cheap(it.0));
        let Some(&(next, _)) = next else { return taken };
        taken.push(next);
        for (best, after) in best.iter_mut().zip(&plans.tried[next].costs) {
            *best = after.map_or(*best, |it| it.min(*best));
        }
    }
}

/// Rows that a scan reads for nothing.
fn vain(it: &Whole<'_>) -> f64 {
    it.table.rows - it.passed
}

fn remedy(number: usize, it: &Planned, worst: Option<&Whole<'_>>, indexes: &[Advised]) -> Remedy {
    if it.plan.is_none() {
        return Remedy::NoPlan { why: it.refused.clone().unwrap_or_default() };
    }
    // Of several that would help, the one with which it costs least.
    let with = indexes.iter().enumerate().filter_map(|(n, it)| {
        let helped = it.helped.iter().find(|it| it.statement == number)?;
        (helped.after <= SUBSTANTIAL * helped.before).then_some((n, helped.after))
    });
    if let Some((index, _)) = with.min_by(|a, b| a.1.total_cmp(&b.1)) {
        return Remedy::Index { index };
    }
    let Some(worst) = worst else { return Remedy::NotNeeded };
    match worst.condition {
        None if !worst.is_open() => Remedy::EveryRow,
        Some(_) if worst.share() > MOST && !worst.joined => Remedy::MostRows { share: worst.share() },
        Some(condition) if !worst.is_open() => Remedy::Condition { condition: condition.to_owned() },
        _ => Remedy::NotTaken,
    }
}

fn table_of<'a>(plans: &'a Plans, it: &Candidate) -> Option<&'a model::explain::Table> {
    plans.tables.iter().find(|table| table.schema == it.schema && table.name == it.table)
}

/// Whether a statement changes rows of the table, so that the index has to follow.
fn writes(it: &Planned, candidate: &Candidate) -> bool {
    it.plan.iter().flat_map(model::explain::Node::all).any(|node| {
        node.operation.is_some()
            && node.schema.as_ref() == Some(&candidate.schema)
            && node.table.as_ref() == Some(&candidate.table)
    })
}

/// Whether an update sets a column of the index.
fn changes(it: &Planned, candidate: &Candidate) -> bool {
    let set = set_by(&it.text).unwrap_or_default();
    candidate.keys.iter().any(|key| set.contains(&key.column))
}
