//! Stages of users, charts of sampled series, and tables of every cell, from the experiment file to the report

use super::workspace::{Workspace, figure, row};
use serde_json::Value;

/// Identifiers of all charts of the page's trials.
fn chart_ids(page: &Value) -> Vec<&str> {
    let sections = page["sections"].as_array().into_iter().flatten();
    let blocks = sections.flat_map(|it| it["blocks"].as_array().into_iter().flatten());
    let trials = blocks.flat_map(|it| it["trials"].as_array().into_iter().flatten());
    let charts = trials.flat_map(|it| it["charts"].as_array().into_iter().flatten());
    charts.filter_map(|it| it["id"].as_str()).collect()
}

#[test]
fn reports_each_stage_of_users_and_the_refused_one() {
    let yaml = "
repeat: 1
stack: { postgres: { max_connections: 20 } }
dataset: { name: tickets, rows: 1000 }
operations:
  read: { sql: \"SELECT 1 FROM book.tickets WHERE id = 1\" }
  write: { sql: \"UPDATE book.tickets SET fio = fio WHERE id = 1\" }
load:
  model: closed
  think: 20ms
  users: [ { users: 2, duration: 2s }, { users: 60, duration: 2s } ]
matrix:
  load.threads: [1, 2]
  way: { tcp: {}, unix: { postgres.transport: unix } }
";
    let workspace = Workspace::new("stages", yaml);
    let ended = workspace.run(&["--json"]);
    let document = ended.expect(0).document();
    let row = row(&document, "unix");
    assert!(figure(row, "requests").is_some_and(|it| it > 10.0), "{row}");
    assert_eq!((figure(row, "failed"), figure(row, "replication_lag")), (Some(0.0), None), "{row}");
    let report = workspace.other("report", &["last", "--format", "json", "--out", "-"]);
    report.expect(0);
    let report: Value = serde_json::from_str(&report.out).expect("the report is JSON");
    let ids = chart_ids(&report["page"]);
    for chart in ["transactions", "memory", "host_memory", "host_load"] {
        assert_eq!(ids.iter().filter(|it| **it == chart).count(), 4, "{chart} among {ids:?}");
    }
    assert!(!ids.contains(&"service_pools") && !ids.contains(&"replication_lag"), "{ids:?}");
    let page = workspace.other("report", &["last", "--format", "md"]);
    page.expect(0);
    // All four cells have a table, although fewer are shown in full.
    for cell in ["1/tcp", "1/unix", "2/tcp", "2/unix"] {
        let caption = format!("**{cell}: by stage of the load**");
        assert!(page.out.contains(&caption), "{caption} in {}", page.out);
    }
    for expected in [
        "| 2 users |",
        "| 60 users |",
        "The system broke at stage 2 (60 users): ",
        "connections were refused",
    ] {
        assert!(page.out.contains(expected), "{expected:?} in {}", page.out);
    }
    assert!(page.out.contains("Initial connection time of all clients: median "), "{}", page.out);
}
