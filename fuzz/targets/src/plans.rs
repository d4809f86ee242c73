//! Plans that a server explains, and statements in its log: read without harm, and advice can be made of them.

use analysis::advice::{advice, candidates, estimated};
use model::explain::{Planned, Plans, Table};
use stack::loglines::heard;
use stack::plans::read;

/// A plan as JSON, a NUL, a description of tables as JSON, a NUL, and a log.
pub fn run(data: &[u8]) {
    let mut parts = crate::text(data).splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (plan, tables, log) = (read(part()), part(), part());
    for it in heard(log) {
        assert!(!it.text.is_empty() && it.millis.is_finite());
    }
    let Some(plan) = plan else { return };
    assert!(!plan.all().is_empty());
    let tables: Vec<Table> = serde_json::from_str(tables).unwrap_or_default();
    let planned = Planned { text: "select $1".into(), heard: 1, plan: Some(plan), refused: None };
    let plans = Plans { statements: vec![planned], tables, tried: Vec::new(), untried: None };
    let candidates = candidates(&plans);
    for it in &candidates {
        assert!(!it.ddl().is_empty());
    }
    let _ = estimated(&plans, &candidates);
    let _ = advice(vec![0], &plans, &[]);
}
