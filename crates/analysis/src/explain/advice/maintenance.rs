//! Tables that need VACUUM or ANALYZE before an index

use super::predicates;
use model::advice::{IndexObstacle, Remedy};
use model::explain::{PlanNode, TableStats};

/// Minimum number of dead row versions of a bloated table. They must also outnumber its live rows.
const DEAD_ROWS_MIN: f64 = 1000.0;
/// Smallest ratio between estimated and actual rows that a scan's statistics do not explain by chance.
const ESTIMATE_RATIO_MIN: f64 = 10.0;
/// Smallest number of rows, estimated or actual, for which the ratio matters.
const ESTIMATE_ROWS_MIN: f64 = 100.0;
/// Share of a table's rows that must have changed since the last ANALYZE to make its statistics the reason.
const CHANGED_SHARE_MIN: f64 = 0.1;

/// True if most of the table consists of dead row versions, by the server's counters.
pub fn is_bloated(table: &TableStats) -> bool {
    let counted = table.dead_rows.zip(table.live_rows);
    counted.is_some_and(|(dead, live)| dead >= DEAD_ROWS_MIN && dead >= live)
}

/// VACUUM of the bloated table that the plan scans completely.
pub fn vacuum(table: &TableStats) -> Option<Remedy> {
    let (live_rows, dead_rows) = table.live_rows.zip(table.dead_rows)?;
    let (name, bytes) = (format!("{}.{}", table.schema, table.name), table.bytes);
    is_bloated(table).then_some(Remedy::Vacuum { table: name, live_rows, dead_rows, bytes })
}

/// Scan whose number of rows the planner misjudged.
struct MisjudgedScan<'a> {
    table: &'a TableStats,
    estimated_rows: f64,
    actual_rows: f64,
    ratio: f64,
    /// True if the planner has no statistics for the scan's condition.
    has_default_selectivity: bool,
}

/// ANALYZE of the table whose rows the planner misjudged most; `None` if no scan of the executed plan was misjudged, or
/// if old statistics do not explain it.
pub fn analyze(plan: &PlanNode, tables: &[TableStats]) -> Option<Remedy> {
    let old = |scan: &MisjudgedScan<'_>| !scan.has_default_selectivity && has_old_statistics(scan.table);
    let misjudged = misjudged(plan, tables).into_iter().filter(old);
    let MisjudgedScan { table, estimated_rows, actual_rows, .. } =
        misjudged.max_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    Some(Remedy::Analyze { table: format!("{}.{}", table.schema, table.name), estimated_rows, actual_rows })
}

/// True if the planner misjudged a scan, so that its estimates for indexes are wrong too: its statistics are old, or it has
/// none for the condition.
pub fn is_misjudged(plan: &PlanNode, tables: &[TableStats]) -> bool {
    misjudged(plan, tables).iter().any(|it| it.has_default_selectivity || has_old_statistics(it.table))
}

fn misjudged<'a>(plan: &PlanNode, tables: &'a [TableStats]) -> Vec<MisjudgedScan<'a>> {
    let mut scans = Vec::new();
    collect_executed(plan, false, &mut scans);
    let misjudged = scans.into_iter().filter_map(|(node, is_cut_off)| {
        let of_node = |table: &&TableStats| {
            node.schema.as_ref() == Some(&table.schema) && node.table.as_ref() == Some(&table.name)
        };
        let table = tables.iter().find(of_node)?;
        let (estimated, actual) = (node.rows.max(1.0), node.actual_rows?.max(1.0));
        let ratio =
            if is_cut_off { actual / estimated } else { (estimated / actual).max(actual / estimated) };
        let wrong = ratio >= ESTIMATE_RATIO_MIN && estimated.max(actual) >= ESTIMATE_ROWS_MIN;
        let has_default = node.filter.as_deref().is_some_and(|it| has_default_selectivity(it, table));
        wrong.then_some(MisjudgedScan {
            table,
            estimated_rows: node.rows,
            actual_rows: actual,
            ratio,
            has_default_selectivity: has_default,
        })
    });
    misjudged.collect()
}

/// True if the planner has no statistics for the condition, so that ANALYZE would not improve its estimate: a column is cast,
/// or is part of an expression.
fn has_default_selectivity(condition: &str, table: &TableStats) -> bool {
    let obstacle = predicates::obstacle(condition, table);
    matches!(obstacle, Some(IndexObstacle::Cast { .. } | IndexObstacle::Expression { .. }))
}

/// Adds the nodes that were executed, each with true if a LIMIT above it may have ended it before its last row.
fn collect_executed<'a>(node: &'a PlanNode, is_cut_off: bool, out: &mut Vec<(&'a PlanNode, bool)>) {
    if node.loops.is_some_and(|it| it >= 1.0) {
        out.push((node, is_cut_off));
    }
    // These nodes read all rows of their children before they return one.
    let reads_all = ["Sort", "Aggregate", "Hash"].contains(&node.kind.as_str());
    let is_cut_off = node.kind == "Limit" || (is_cut_off && !reads_all);
    node.children.iter().for_each(|it| collect_executed(it, is_cut_off, out));
}

fn has_old_statistics(table: &TableStats) -> bool {
    let rows = table.live_rows.unwrap_or(table.rows).max(table.rows);
    let changed = table.changed_rows.is_some_and(|it| it >= CHANGED_SHARE_MIN * rows);
    changed || table.columns.iter().all(|it| it.distinct.is_none())
}
