//! Target for query plans and logged statements: they are read without a crash, and advice can be derived from them.

use analysis::explain::advice::{advice, candidates, estimate_indexes};
use model::explain::{Plans, StatementPlan, TableStats};
use stack::log_parser::parse_logged_statements;
use stack::plans::parse_plan;

/// Runs one input: a plan as JSON, a NUL, a description of tables as JSON, a NUL, and a log.
pub fn run(data: &[u8]) {
    let mut parts = crate::text(data).splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (plan, tables, log) = (parse_plan(part()), part(), part());
    for statement in parse_logged_statements(log) {
        assert!(!statement.text.is_empty() && statement.millis.is_finite());
    }
    let Some(plan) = plan else { return };
    assert!(!plan.flatten().is_empty());
    let tables: Vec<TableStats> = serde_json::from_str(tables).unwrap_or_default();
    let planned = StatementPlan {
        text: "select $1".into(),
        captured: 1,
        query_id: Some(1),
        plan: Some(plan),
        error: None,
    };
    let plans = Plans { statements: vec![planned], tables, estimates: Vec::new(), planner_unavailable: None };
    let candidates = candidates(&plans);
    for candidate in &candidates {
        assert!(!candidate.ddl().is_empty());
    }
    let _ = estimate_indexes(&plans, &candidates);
    let _ = advice(vec![0], &plans, &[]);
}
