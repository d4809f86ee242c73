//! Query plans in the text format of PostgreSQL's `EXPLAIN`

use model::explain::PlanNode;
use std::fmt::Write;

/// Renders a plan with the terms of PostgreSQL, which are not translated. Values are masked in the plan already.
pub fn plan_text(plan: &PlanNode) -> String {
    let mut out = String::new();
    write_node(plan, 0, &mut out).expect("writing to a string cannot fail");
    out
}

fn write_node(node: &PlanNode, depth: usize, out: &mut String) -> std::fmt::Result {
    let indent = match depth {
        0 => String::new(),
        depth => format!("{}->  ", " ".repeat(6 * depth - 4)),
    };
    write!(out, "{indent}{}", node.operation.as_ref().unwrap_or(&node.kind))?;
    if let Some(index) = &node.index {
        write!(out, " using {index}")?;
    }
    if let Some(table) = &node.table {
        write!(out, " on ")?;
        if let Some(schema) = &node.schema {
            write!(out, "{schema}.")?;
        }
        write!(out, "{table}")?;
        if let Some(alias) = node.alias.as_ref().filter(|alias| *alias != table) {
            write!(out, " {alias}")?;
        }
    }
    write!(out, "  (cost={:.2} rows={:.0})", node.cost, node.rows)?;
    match (node.actual_time, node.actual_rows, node.loops) {
        (_, _, Some(0.0)) => write!(out, " (never executed)")?,
        (time, Some(rows), Some(loops)) => {
            let time = time.map_or(String::new(), |time| format!("time={time:.3} "));
            let rows = if rows.fract() == 0.0 { format!("{rows:.0}") } else { format!("{rows:.2}") };
            write!(out, " (actual {time}rows={rows} loops={loops:.0})")?;
        }
        _ => {}
    }
    out.push('\n');
    let detail = " ".repeat(6 * depth + 2);
    let conditions = [
        ("Index Cond", &node.index_condition),
        ("Recheck Cond", &node.recheck),
        ("Hash Cond", &node.hash_condition),
        ("Merge Cond", &node.merge_condition),
        ("Join Filter", &node.join_filter),
        ("Filter", &node.filter),
    ];
    for (name, condition) in conditions {
        if let Some(condition) = condition {
            writeln!(out, "{detail}{name}: {condition}")?;
        }
    }
    if !node.sort_key.is_empty() {
        writeln!(out, "{detail}Sort Key: {}", node.sort_key.join(", "))?;
    }
    if let Some(removed) = node.removed {
        writeln!(out, "{detail}Rows Removed by Filter: {removed:.0}")?;
    }
    let blocks = [("hit", node.blocks_hit), ("read", node.blocks_read)];
    let blocks: Vec<String> = blocks
        .iter()
        .filter_map(|(name, count)| Some(format!("{name}={}", count.filter(|it| *it > 0)?)))
        .collect();
    if !blocks.is_empty() {
        writeln!(out, "{detail}Buffers: shared {}", blocks.join(" "))?;
    }
    node.children.iter().try_for_each(|child| write_node(child, depth + 1, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &str) -> PlanNode {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
    }

    /// The plan is that of `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)` in PostgreSQL 15, with fewer fields.
    #[test]
    fn writes_nodes_as_postgresql_does() {
        let plan = node(
            r#"{"Node Type": "Limit", "Total Cost": 30.5, "Plan Rows": 5, "Actual Rows": 5, "Actual Loops": 1,
                "Actual Total Time": 12.25, "Shared Hit Blocks": 100, "Shared Read Blocks": 7, "Plans": [
                {"Node Type": "Sort", "Total Cost": 30, "Plan Rows": 50, "Sort Key": ["b.name DESC"],
                 "Actual Rows": 5, "Actual Loops": 1, "Actual Total Time": 12.2, "Shared Hit Blocks": 100, "Plans": [
                {"Node Type": "Seq Scan", "Relation Name": "books", "Schema": "shop", "Alias": "b", "Total Cost": 20,
                 "Plan Rows": 50, "Filter": "(b.price > $0)", "Rows Removed by Filter": 990, "Actual Rows": 3.33,
                 "Actual Loops": 3, "Actual Total Time": 4.001},
                {"Node Type": "Index Scan", "Index Name": "books_pkey", "Relation Name": "books", "Alias": "books",
                 "Total Cost": 8, "Plan Rows": 1, "Index Cond": "(id = $0)", "Actual Rows": 0, "Actual Loops": 0}
                ]}]}"#,
        );
        assert_eq!(
            plan_text(&plan),
            "Limit  (cost=30.50 rows=5) (actual time=12.250 rows=5 loops=1)\n  \
             Buffers: shared hit=100 read=7\n  \
             ->  Sort  (cost=30.00 rows=50) (actual time=12.200 rows=5 loops=1)\n        \
             Sort Key: b.name DESC\n        \
             Buffers: shared hit=100\n        \
             ->  Seq Scan on shop.books b  (cost=20.00 rows=50) (actual time=4.001 rows=3.33 loops=3)\n              \
             Filter: (b.price > $0)\n              \
             Rows Removed by Filter: 990\n        \
             ->  Index Scan using books_pkey on books  (cost=8.00 rows=1) (never executed)\n              \
             Index Cond: (id = $0)\n"
        );
    }

    #[test]
    fn shows_only_estimates_of_statements_that_were_not_executed() {
        let plan = node(
            r#"{"Node Type": "ModifyTable", "Operation": "Update", "Relation Name": "t", "Total Cost": 8.5,
                "Plan Rows": 0}"#,
        );
        assert_eq!(plan_text(&plan), "Update on t  (cost=8.50 rows=0)\n");
    }
}
