//! The server's CPU quota does not apply while its data are loaded, and applies again in the trial

use super::workspace::{Workspace, is_root};
use stack::host::Cgroups;
use std::fs;

#[test]
fn a_quota_does_not_apply_to_loading() {
    let v1 = Cgroups::detect().v1;
    let Some(cpu) = v1.iter().find(|it| it.name == "cpu" && it.writable).filter(|_| is_root()) else {
        eprintln!("not tested here: the quota needs a writable control group of version 1");
        return;
    };
    // A superuser restores the dump, and may read the quota of the server.
    let dump = format!(
        "GRANT pg_read_server_files TO app;
         GRANT EXECUTE ON FUNCTION pg_read_file(text) TO PUBLIC;
         CREATE TABLE quota AS SELECT path, trim(pg_read_file(path), E'\\n') AS at_loading FROM (SELECT '{}/' ||
             (regexp_match(pg_read_file('/proc/self/cgroup'), 'pgdyno-\\d+/postgres'))[1] || '/cpu.cfs_quota_us' AS path) f;
         GRANT SELECT ON quota TO PUBLIC;",
        cpu.directory.display()
    );
    // A division by zero fails the transaction. The quota of 0.2 CPU is 2 ms of 10 ms.
    let yaml = "
stack: { postgres: { limits: { cpu: 0.2 } } }
dataset: { restore: quota.sql }
operations:
  check:
    sql: >
      SELECT 1 / (at_loading = '-1' AND trim(pg_read_file(path), E'\\n') = '2000')::int FROM quota;
load: { model: closed, clients: 1, duration: 1s }
objectives: [ errors < 1% ]
repeat: 2
";
    let workspace = Workspace::new("quota", yaml);
    fs::write(workspace.folder.join("quota.sql"), dump).expect("the file can be written");
    workspace.spawn_command(&mut workspace.command(&["--json"])).wait().expect(0);
}
