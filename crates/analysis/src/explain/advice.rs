//! Indexes worth building, and expensive statements that no index helps
//!
//! The planner estimates the saving of each index alone ([`model::explain::IndexEstimate`]). The advice is the smallest
//! set of indexes with almost all of the possible saving. An index that adds little to the set is not worth its
//! maintenance.

mod candidates;
mod maintenance;
mod predicates;
#[cfg(test)]
mod tests;

pub use candidates::candidates;

use candidates::{FullScan, SELECTED_SHARE_MAX, full_scans};
use model::advice::{Advice, CostChange, IndexAdvice, Remedy, Scan, StatementAdvice, StatementChange};
use model::explain::{
    IndexCandidate, IndexEstimate, KeyRole, Plans, StatementPlan, TableStats, normalize_placeholders,
};
use model::run_result::StatementStats;
use predicates::{obstacle, updated_columns};

/// Smallest saving for which an index is advised, as a share of the time of all statements.
const SAVING_MIN: f64 = 0.005;
/// Largest ratio of a statement's cost with an index to its cost without the index. At least one statement must have
/// this ratio or a smaller one.
const COST_SHARE_MAX: f64 = 0.5;
/// Ratio of savings from which a smaller index is preferred to the index with the best saving.
const NEARLY_EQUAL: f64 = 0.95;

/// Advice from `plans` and from the statements' times within the window. `cells` is copied to the result.
pub fn advice(cells: Vec<usize>, plans: &Plans, counted: &[StatementStats]) -> Advice {
    let plans = &most_expensive_first(plans, counted);
    let known = &counters(plans, counted);
    let is_any_known = known.iter().any(|it| !it.is_empty());
    let chosen = choose_indexes(plans, &weights(plans, known));
    let before = |number: usize| plans.statements[number].plan.as_ref().map_or(0.0, |it| it.cost);
    let advised = |estimate: &IndexEstimate| {
        let helped: Vec<CostChange> = (0..plans.statements.len())
            .filter_map(|n| Some(CostChange { statement: n, before: before(n), after: estimate.costs[n]? }))
            .filter(|it| it.after < it.before)
            .collect();
        let saves = |change: &CostChange| {
            let share = known[change.statement].iter().map(|it| it.share).sum::<f64>();
            share * (1.0 - change.after / change.before)
        };
        let maintaining_statements: Vec<usize> = (0..plans.statements.len())
            .filter(|n| writes_to_table(&plans.statements[*n], &estimate.candidate))
            .collect();
        let not_hot = maintaining_statements
            .iter()
            .copied()
            .filter(|n| updates_column(&plans.statements[*n], &estimate.candidate));
        let rows = find_table(plans, &estimate.candidate).map_or(0.0, |it| it.rows);
        IndexAdvice {
            ddl: estimate.candidate.ddl(),
            bytes: estimate.bytes,
            rows,
            saved_share: is_any_known.then(|| helped.iter().map(saves).sum()),
            cost_changes: helped,
            non_hot_updates: not_hot.collect(),
            maintaining_statements,
            candidate: estimate.candidate.clone(),
        }
    };
    let indexes: Vec<IndexAdvice> = chosen.iter().map(|it| advised(&plans.estimates[*it])).collect();
    let case = |(number, statement): (usize, &StatementPlan)| {
        let scans = statement.plan.iter().flat_map(|it| full_scans(it, &plans.tables)).collect::<Vec<_>>();
        let worst = scans.iter().max_by(|a, b| discarded_rows(a).total_cmp(&discarded_rows(b)));
        let calls: f64 = known[number].iter().map(|it| it.calls).sum();
        let total: f64 = known[number].iter().map(|it| it.total).sum();
        StatementAdvice {
            text: statement.text.clone(),
            share: (!known[number].is_empty()).then(|| known[number].iter().map(|it| it.share).sum()),
            mean: (calls > 0.0).then(|| total / calls),
            scan: worst.map(|scan| Scan {
                table: format!("{}.{}", scan.table.schema, scan.table.name),
                rows: scan.read_rows,
                rows_kept: scan.selected_rows,
                actual: scan.counted,
            }),
            remedy: remedy(number, statement, worst, &indexes, &plans.tables),
            plan: statement.plan.clone(),
        }
    };
    let statements = plans.statements.iter().enumerate().map(case).collect();
    // The planner uses the index with the lowest cost.
    let share = |n: usize| {
        let changes = indexes.iter().flat_map(|it| &it.cost_changes).filter(|it| it.statement == n);
        let left = changes.map(|it| it.after / it.before).fold(1.0, f64::min);
        (1.0 - left) * known[n].iter().map(|it| it.share).sum::<f64>()
    };
    let saved_share = is_any_known.then(|| (0..plans.statements.len()).map(share).sum());
    Advice { cells, statements, indexes, saved_share, planner_unavailable: plans.planner_unavailable.clone() }
}

/// Mean execution times of statements in a cell without the advised indexes and in a cell with them. Both cells must
/// have executed the statement.
pub fn statement_changes(
    without_indexes: &[StatementStats],
    with_indexes: &[StatementStats],
) -> Vec<StatementChange> {
    let pair = |statement: &StatementStats| {
        let other = with_indexes
            .iter()
            .find(|other| normalize_placeholders(&other.text) == normalize_placeholders(&statement.text))?;
        let first = statement.text.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
        let writes = ["insert", "update", "delete", "merge"].contains(&first.as_str());
        Some(StatementChange {
            text: statement.text.clone(),
            before: statement.mean,
            after: other.mean,
            writes,
        })
    };
    without_indexes.iter().filter_map(pair).collect()
}

/// Counters of each statement. Each counted statement belongs to at most one plan: to the plan with its query
/// identifier, or else to the plan with its text.
fn counters<'a>(plans: &Plans, counted: &'a [StatementStats]) -> Vec<Vec<&'a StatementStats>> {
    let mut all = vec![Vec::new(); plans.statements.len()];
    let position = |is_same: &dyn Fn(&StatementPlan) -> bool| plans.statements.iter().position(is_same);
    for statement in counted {
        let has_id = |plan: &StatementPlan| plan.query_id.is_some_and(|id| statement.query_ids.contains(&id));
        let text = normalize_placeholders(&statement.text);
        let has_text = |plan: &StatementPlan| normalize_placeholders(&plan.text) == text;
        if let Some(plan) = position(&has_id).or_else(|| position(&has_text)) {
            all[plan].push(statement);
        }
    }
    all
}

/// Plans ordered by total time within the window, most expensive first.
fn most_expensive_first(plans: &Plans, counted: &[StatementStats]) -> Plans {
    let known = counters(plans, counted);
    let total = |n: usize| -> f64 { known[n].iter().map(|statement| statement.total).sum() };
    let mut order: Vec<usize> = (0..plans.statements.len()).collect();
    order.sort_by(|a, b| total(*b).total_cmp(&total(*a)));
    let moved = |estimate: &IndexEstimate| {
        let mut estimate = estimate.clone();
        estimate.costs = order.iter().map(|n| estimate.costs.get(*n).copied().flatten()).collect();
        let now = |n: &usize| order.iter().position(|it| it == n);
        estimate.candidate.requested_by = estimate.candidate.requested_by.iter().filter_map(now).collect();
        estimate
    };
    Plans {
        statements: order.iter().map(|n| plans.statements[*n].clone()).collect(),
        tables: plans.tables.clone(),
        estimates: plans.estimates.iter().map(moved).collect(),
        planner_unavailable: plans.planner_unavailable.clone(),
    }
}

/// Estimates the costs with each candidate, for servers whose planner cannot estimate them. The estimate assumes one
/// page read, at PostgreSQL's default cost, for each row that the index columns select.
pub fn estimate_indexes(plans: &Plans, candidates: &[IndexCandidate]) -> Vec<IndexEstimate> {
    const PAGE: f64 = 4.0;
    let tried = |candidate: &IndexCandidate| {
        let rows = find_table(plans, candidate).map_or(0.0, |it| it.rows);
        let left = candidate.keys.iter().fold(rows, |left, key| match key.role {
            KeyRole::Equal => left / key.distinct.unwrap_or(1.0).max(1.0),
            // PostgreSQL's default selectivity of a range with unknown bounds.
            KeyRole::Range => left / 3.0,
            KeyRole::Ascending | KeyRole::Descending => left,
        });
        let after = 2.0 * PAGE + PAGE * left;
        let cost = |number: usize| {
            let before = plans.statements[number].plan.as_ref()?.cost;
            Some(after).filter(|after| candidate.requested_by.contains(&number) && *after < before)
        };
        let costs = (0..plans.statements.len()).map(cost).collect();
        IndexEstimate { candidate: candidate.clone(), bytes: None, costs }
    };
    candidates.iter().map(tried).collect()
}

/// Share of each statement in the time of all statements. Statements without measured times are weighted by observed
/// calls and estimated cost.
fn weights(plans: &Plans, known: &[Vec<&StatementStats>]) -> Vec<f64> {
    if known.iter().any(|it| !it.is_empty()) {
        return known.iter().map(|calls| calls.iter().map(|it| it.share).sum()).collect();
    }
    let cost = |statement: &StatementPlan| {
        f64::from(statement.captured) * statement.plan.as_ref().map_or(0.0, |it| it.cost)
    };
    let all: f64 = plans.statements.iter().map(cost).sum();
    plans.statements.iter().map(|it| if all > 0.0 { cost(it) / all } else { 0.0 }).collect()
}

/// Indexes into [`Plans::estimates`] of the chosen candidates, the largest saving first.
fn choose_indexes(plans: &Plans, weights: &[f64]) -> Vec<usize> {
    let before: Vec<f64> =
        plans.statements.iter().map(|statement| statement.plan.as_ref().map_or(0.0, |it| it.cost)).collect();
    // Costs with the candidates chosen so far.
    let mut best = before.clone();
    let mut taken = Vec::new();
    let is_useful = |estimate: &IndexEstimate| needs_index(plans, &estimate.candidate);
    loop {
        let gain = |estimate: &IndexEstimate| -> (f64, bool) {
            let (mut gain, mut substantial) = (0.0, false);
            for (n, after) in estimate.costs.iter().enumerate() {
                let Some(after) = after.filter(|it| *it < best[n] && before[n] > 0.0) else { continue };
                gain += weights[n] * (best[n] - after) / before[n];
                substantial |= after <= COST_SHARE_MAX * best[n];
            }
            (gain, substantial)
        };
        let gains: Vec<(usize, f64)> = plans
            .estimates
            .iter()
            .enumerate()
            .filter(|it| is_useful(it.1))
            .filter_map(|(n, estimate)| {
                let (gain, substantial) = gain(estimate);
                (substantial && gain >= SAVING_MIN).then_some((n, gain))
            })
            .collect();
        let most = gains.iter().map(|it| it.1).fold(0.0, f64::max);
        let cheap =
            |n: usize| (plans.estimates[n].candidate.keys.len(), plans.estimates[n].bytes.unwrap_or(0), n);
        let next = gains.iter().filter(|it| it.1 >= NEARLY_EQUAL * most).min_by_key(|it| cheap(it.0));
        let Some(&(next, _)) = next else { return taken };
        taken.push(next);
        for (best, after) in best.iter_mut().zip(&plans.estimates[next].costs) {
            *best = after.map_or(*best, |it| it.min(*best));
        }
    }
}

/// True unless something else comes first: VACUUM, because the table is bloated, or ANALYZE or another condition, because the
/// planner misjudged all statements that suggest the index.
fn needs_index(plans: &Plans, candidate: &IndexCandidate) -> bool {
    let is_misjudged = |number: &usize| {
        let plan = plans.statements.get(*number).and_then(|it| it.plan.as_ref());
        plan.is_some_and(|it| maintenance::is_misjudged(it, &plans.tables))
    };
    let misjudged = !candidate.requested_by.is_empty() && candidate.requested_by.iter().all(is_misjudged);
    !misjudged && !find_table(plans, candidate).is_some_and(maintenance::is_bloated)
}

/// Number of rows that a scan reads and discards per execution.
fn discarded_rows(scan: &FullScan<'_>) -> f64 {
    scan.read_rows - scan.selected_rows
}

fn remedy(
    number: usize,
    statement: &StatementPlan,
    worst: Option<&FullScan<'_>>,
    indexes: &[IndexAdvice],
    tables: &[TableStats],
) -> Remedy {
    let Some(plan) = &statement.plan else {
        return Remedy::NoPlan { reason: statement.error.clone() };
    };
    if let Some(remedy) = worst.and_then(|it| maintenance::vacuum(it.table)) {
        return remedy;
    }
    if let Some(remedy) = maintenance::analyze(plan, tables) {
        return remedy;
    }
    // If several indexes help, use the index with the lowest cost.
    let costs = indexes.iter().enumerate().filter_map(|(n, index)| {
        let helped = index.cost_changes.iter().find(|it| it.statement == number)?;
        (helped.after <= COST_SHARE_MAX * helped.before).then_some((n, helped.after))
    });
    if let Some((index, _)) = costs.min_by(|a, b| a.1.total_cmp(&b.1)) {
        return Remedy::Index { index };
    }
    let Some(worst) = worst else { return Remedy::NotNeeded };
    match worst.condition {
        None if !worst.is_indexable() => Remedy::EveryRow,
        Some(_) if worst.share() > SELECTED_SHARE_MAX && !worst.joined => {
            Remedy::MostRows { share: worst.share() }
        }
        Some(condition) => match obstacle(condition, worst.table) {
            Some(obstacle) => Remedy::Rewrite { obstacle },
            None if worst.is_indexable() => Remedy::NotTaken,
            None => Remedy::Condition { condition: condition.to_owned() },
        },
        None => Remedy::NotTaken,
    }
}

fn find_table<'a>(plans: &'a Plans, candidate: &IndexCandidate) -> Option<&'a TableStats> {
    plans.tables.iter().find(|table| table.schema == candidate.schema && table.name == candidate.table)
}

/// True if a statement changes rows of the table, so that the server must maintain the index.
fn writes_to_table(statement: &StatementPlan, candidate: &IndexCandidate) -> bool {
    statement.plan.iter().flat_map(model::explain::PlanNode::flatten).any(|node| {
        node.operation.is_some()
            && node.schema.as_ref() == Some(&candidate.schema)
            && node.table.as_ref() == Some(&candidate.table)
    })
}

/// True if an update sets a column of the index.
fn updates_column(statement: &StatementPlan, candidate: &IndexCandidate) -> bool {
    let set = updated_columns(&statement.text).unwrap_or_default();
    candidate.keys.iter().any(|key| set.contains(&key.column))
}
