//! Nodes on a host share its quota, and the finding names the host

use super::workspace::Workspace;
use serde_json::Value;
use stack::host::Cgroups;

#[test]
fn names_the_host_whose_quota_is_used_up() {
    if !Cgroups::detect().v1.iter().chain(&Cgroups::detect().v2).any(|it| it.name == "cpu" && it.writable) {
        eprintln!("not tested here: CPU quotas need a writable control group");
        return;
    }
    let yaml = "stack:\n  pooler: { kind: pgbouncer }\n  postgres: {}\n  \
                hosts: { machine: { nodes: [pooler, postgres], cpu: 0.2 } }\n\
                operations: { read: { sql: SELECT 1 } }\n\
                load: { model: closed, clients: 8, duration: 4s }\n\
                matrix: { hosts.machine.cpu: [0.2, 0.3] }\n";
    let workspace = Workspace::new("hosts", yaml);
    let ended = workspace.spawn_command(&mut workspace.command(&["--json"])).wait();
    let document = ended.expect(0).document();
    let findings = document["findings"].as_array().expect("the value is an array");
    // The nodes move to a host with another quota between the cells.
    for (cell, quota) in [(0, 0.2), (1, 0.3)] {
        let is_its = |it: &&Value| it["cell"] == cell && it["bound"]["kind"] == "host_cpu";
        let found = findings.iter().find(is_its).unwrap_or_else(|| panic!("{cell}: {findings:#?}"));
        let bound = &found["bound"];
        assert_eq!((&bound["node"], &bound["cpu_limit"]), (&"machine".into(), &quota.into()), "{bound}");
        assert_eq!(bound["nodes"], serde_json::json!(["pooler", "postgres"]), "{bound}");
        // Both nodes together use the quota; the kernel accounts for it in ticks of the clock.
        let cpu = bound["cpu"].as_f64().expect("the value is a number");
        assert!(cpu <= quota * 1.2, "{bound}");
    }
}
