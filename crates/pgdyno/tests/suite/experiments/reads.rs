//! Freshness of an experiment's replicas

use super::workspace::{PGDYNO, RunOutput, Workspace};
use serde_json::Value;
use std::process::Command;

/// Each replica applies the WAL with a delay of 300 ms.
const DELAYED: &str = "
stack:
  postgres: { max_connections: 40, settings: { shared_buffers: 32MB, recovery_min_apply_delay: 300ms } }
  replicas: { count: 2 }
operations: { read: { sql: SELECT 1, target: replica } }
load: { model: closed, clients: 2, think: 10ms, duration: 6s }
";

#[test]
fn delayed_replicas_are_stale_for_the_delay() {
    let workspace = Workspace::new("reads", DELAYED);
    let ended = workspace.run(&["--json"]);
    let document = ended.expect(0).document();
    let [cell] = document["freshness"].as_array().map_or(&[][..], Vec::as_slice) else {
        panic!("one cell: {document:#}")
    };
    assert_eq!(
        (&cell["promised"], cell["acknowledged"].as_u64() > Some(20)),
        (&false.into(), true),
        "{cell:#}"
    );
    let replicas = cell["replicas"].as_array().expect("the value is an array");
    let names: Vec<&Value> = replicas.iter().map(|it| &it["node"]).collect();
    assert_eq!(names, ["postgres-2", "postgres-3"], "the primary is none: {cell:#}");
    for replica in replicas {
        let (old, all) = (replica["stale"]["stale"].as_u64(), replica["stale"]["total"].as_u64());
        assert!(old == all && all >= Some(20), "every read is stale: {replica:#}");
        let median = replica["p50"]["within_ns"].as_u64().map_or(0, |it| it / 1_000_000);
        assert!((250..1000).contains(&median), "{median} ms: {replica:#}");
        assert_eq!(replica["not_visible"], 0, "all was waited for: {replica:#}");
    }
    // Round-robin reads on both replicas have the same delay.
    assert!(cell["round_robin"]["total"].as_u64() >= Some(40), "{cell:#}");

    // The stored run shows the same result later.
    let mut show = Command::new(PGDYNO);
    let shown = RunOutput::run(
        show.args(["runs", "show", "reads"]).current_dir(&workspace.folder).env("LC_ALL", "C.UTF-8"),
    );
    assert!(shown.out.contains("A session that read the replicas in turn"), "{shown:?}");
    workspace.await_cleanup();
}
