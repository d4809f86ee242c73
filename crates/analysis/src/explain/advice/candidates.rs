//! Full scans in plans, and the indexes that could replace them

use super::predicates::{Comparison, predicates, sorted_by};
use model::explain::{IndexCandidate, IndexKey, KeyRole, PlanNode, Plans, TableStats};

/// Minimum number of rows of a table for which it is worthwhile to avoid a full scan.
const TABLE_ROWS_MIN: f64 = 1000.0;
const TABLE_BYTES_MIN: u64 = 80 * 1024;
/// Share of selected rows above which a full scan is the fastest plan.
pub(super) const SELECTED_SHARE_MAX: f64 = 0.1;
/// Share of an index's entries above which reading them counts as a full scan.
const INDEX_READ_SHARE_MAX: f64 = 0.5;
/// Maximum number of columns that an index compares for equality. More columns hardly narrow the search.
const EQUAL_COLUMNS_MAX: usize = 3;
/// Maximum number of candidates.
const CANDIDATES_MAX: usize = 30;

/// Full scan of a large table in a plan.
#[derive(Clone, Debug)]
pub(super) struct FullScan<'a> {
    pub table: &'a TableStats,
    pub condition: Option<&'a str>,
    /// Number of rows that one execution passes on to the parent node.
    pub selected_rows: f64,
    /// Number of rows that one execution reads: counted if it was executed, otherwise the live rows of the table.
    pub read_rows: f64,
    pub counted: bool,
    /// True if joins above the scan compare columns of its table. The joins could then supply a value for each
    /// execution.
    pub joined: bool,
    /// Columns with which an index may begin: compared for equality (`equal`), compared with a range, or used for
    /// sorting.
    equal: Vec<IndexKey>,
    range: Vec<IndexKey>,
    order: Vec<IndexKey>,
}

impl FullScan<'_> {
    /// True if an index on some column could find or order the rows of the scan.
    pub fn is_indexable(&self) -> bool {
        !(self.equal.is_empty() && self.range.is_empty() && self.order.is_empty())
    }

    /// Share of the table's rows that the scan passes on, 0..=1.
    pub fn share(&self) -> f64 {
        (self.selected_rows / self.read_rows.max(1.0)).min(1.0)
    }
}

/// Indexes that could replace full scans in `plans` and do not exist yet. The planner decides later which of these
/// indexes it would use.
pub fn candidates(plans: &Plans) -> Vec<IndexCandidate> {
    let mut all: Vec<IndexCandidate> = Vec::new();
    for (number, statement) in plans.statements.iter().enumerate() {
        for scan in statement.plan.iter().flat_map(|it| full_scans(it, &plans.tables)) {
            if scan.condition.is_some() && scan.share() > SELECTED_SHARE_MAX && scan.order.is_empty() {
                continue;
            }
            for keys in index_keys(&scan) {
                let same = |candidate: &&mut IndexCandidate| {
                    (&candidate.schema, &candidate.table) == (&scan.table.schema, &scan.table.name)
                        && candidate.keys == keys
                };
                match all.iter_mut().find(same) {
                    Some(it) if it.requested_by.contains(&number) => {}
                    Some(it) => it.requested_by.push(number),
                    None if index_exists(scan.table, &keys) => {}
                    None => all.push(IndexCandidate {
                        schema: scan.table.schema.clone(),
                        table: scan.table.name.clone(),
                        keys,
                        requested_by: vec![number],
                    }),
                }
            }
        }
    }
    all.truncate(CANDIDATES_MAX);
    all
}

/// Full scans of large tables in a plan.
pub(super) fn full_scans<'a>(plan: &'a PlanNode, tables: &'a [TableStats]) -> Vec<FullScan<'a>> {
    let mut all = Vec::new();
    collect_scans(plan, &mut Vec::new(), tables, &mut all);
    all
}

fn collect_scans<'a>(
    node: &'a PlanNode,
    above: &mut Vec<&'a PlanNode>,
    tables: &'a [TableStats],
    out: &mut Vec<FullScan<'a>>,
) {
    if node.kind == "Seq Scan" || is_unconditional(node) {
        out.extend(full_scan(node, above, tables));
    }
    above.push(node);
    node.children.iter().for_each(|it| collect_scans(it, above, tables, out));
    above.pop();
}

/// True if the node reads an index from end to end, unless a parent node stops it early.
fn is_unconditional(node: &PlanNode) -> bool {
    node.kind.starts_with("Index") && node.index_condition.is_none()
}

fn full_scan<'a>(
    node: &'a PlanNode,
    above: &[&'a PlanNode],
    tables: &'a [TableStats],
) -> Option<FullScan<'a>> {
    let table = tables
        .iter()
        .find(|it| node.schema.as_ref() == Some(&it.schema) && node.table.as_ref() == Some(&it.name))?;
    if table.rows < TABLE_ROWS_MIN || table.bytes < TABLE_BYTES_MIN {
        return None;
    }
    let alias = node.alias.as_deref();
    let names_this_relation = |it: Option<&str>| it.is_none() || it == alias;
    let key = |column: &str, role| {
        let known = table.columns.iter().find(|it| it.name == column)?;
        Some(IndexKey { column: column.to_owned(), role, distinct: known.distinct })
    };
    let joins =
        above.iter().flat_map(|it| [&it.hash_condition, &it.merge_condition, &it.join_filter]).flatten();
    // A join compares columns of two relations, so a column must name its relation.
    let joined: Vec<_> =
        joins.flat_map(|it| predicates(it)).filter(|it| it.relation.as_deref() == alias).collect();
    let join_predicates = joined.len();
    let filters = node
        .filter
        .iter()
        .flat_map(|it| predicates(it))
        .filter(|it| names_this_relation(it.relation.as_deref()));
    let (mut equal, mut range): (Vec<IndexKey>, Vec<IndexKey>) = (Vec::new(), Vec::new());
    for predicate in filters.chain(joined) {
        let (keys, role) = match predicate.comparison {
            Comparison::Equal => (&mut equal, KeyRole::Equal),
            Comparison::Range => (&mut range, KeyRole::Range),
        };
        if let Some(key) = key(&predicate.column, role).filter(|key| !keys.contains(key)) {
            keys.push(key);
        }
    }
    range.retain(|it| !equal.iter().any(|other| other.column == it.column));
    equal.sort_by(by_selectivity);
    range.sort_by(by_selectivity);
    let order = sort_keys(above).unwrap_or_default();
    let order = order
        .iter()
        .map(|key_text| {
            let (relation, column, descending) = sorted_by(key_text)?;
            let role = if descending { KeyRole::Descending } else { KeyRole::Ascending };
            key(&column, role).filter(|_| names_this_relation(relation.as_deref()))
        })
        .collect::<Option<Vec<IndexKey>>>()
        .unwrap_or_default();
    let order = order.into_iter().filter(|it| !equal.iter().any(|other| other.column == it.column)).collect();
    // Parallel workers share the rows of one execution; each of them counts as a loop.
    let shared = above.iter().any(|it| it.kind.starts_with("Gather"));
    let times = if shared { node.loops.unwrap_or(1.0) } else { 1.0 };
    let passed = node.actual_rows.map_or(node.rows, |it| it * times);
    let read = passed + node.removed.unwrap_or(0.0) * times;
    if is_unconditional(node) && (read < INDEX_READ_SHARE_MAX * table.rows || is_limited(above)) {
        return None;
    }
    Some(FullScan {
        table,
        condition: node.filter.as_deref(),
        selected_rows: passed,
        read_rows: match node.removed {
            Some(_) if node.actual_rows.is_some() => read,
            _ => table.live_rows.unwrap_or(table.rows),
        },
        counted: node.actual_rows.is_some(),
        joined: join_predicates > 0,
        equal,
        range,
        order,
    })
}

/// True if the plan needs only the first rows, in the order in which the scan returns them.
fn is_limited(above: &[&PlanNode]) -> bool {
    above
        .iter()
        .rev()
        .take_while(|it| it.kind == "Limit" || it.kind.starts_with("Gather"))
        .any(|it| it.kind == "Limit")
}

/// Sort keys of a node directly above the scan, if only a few rows are needed.
fn sort_keys<'a>(above: &[&'a PlanNode]) -> Option<&'a [String]> {
    let mut rest = above.iter().rev().skip_while(|it| it.kind.starts_with("Gather"));
    let sort = rest.next().filter(|it| it.kind == "Sort")?;
    let mut rest = rest.skip_while(|it| it.kind.starts_with("Gather"));
    rest.next().filter(|it| it.kind == "Limit").map(|_| sort.sort_key.as_slice())
}

/// Orders columns by their number of distinct values, descending, then by name. A column without statistics comes last.
fn by_selectivity(a: &IndexKey, b: &IndexKey) -> std::cmp::Ordering {
    let distinct = |it: &IndexKey| it.distinct.unwrap_or(0.0);
    distinct(b).total_cmp(&distinct(a)).then_with(|| a.column.cmp(&b.column))
}

/// Index keys for one scan. A b-tree is searched by columns compared for equality and then by one column with a range,
/// or it is read in index order.
fn index_keys(scan: &FullScan<'_>) -> Vec<Vec<IndexKey>> {
    let mut all: Vec<Vec<IndexKey>> = scan.equal.iter().map(|key| vec![key.clone()]).collect();
    let equal: Vec<IndexKey> = scan.equal.iter().take(EQUAL_COLUMNS_MAX).cloned().collect();
    (2..=equal.len()).for_each(|many| all.push(equal[..many].to_vec()));
    let extended = |more: &[IndexKey]| [equal.as_slice(), more].concat();
    all.extend(scan.range.first().map(|key| extended(std::slice::from_ref(key))));
    if !scan.order.is_empty() {
        all.push(extended(&scan.order));
    }
    all
}

/// True if an index on all rows begins with these columns.
fn index_exists(table: &TableStats, keys: &[IndexKey]) -> bool {
    let starts_with_keys = |columns: &[String]| {
        columns.len() >= keys.len() && columns.iter().zip(keys).all(|(it, key)| *it == key.column)
    };
    table.indexes.iter().any(|it| it.plain && starts_with_keys(&it.columns))
}
