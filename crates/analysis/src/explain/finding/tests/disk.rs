//! Rules on disks and memory: for each rule, cases with and without a finding

use super::sampled::{cell, limited, waiting};
use super::*;
use model::plan::{Limits, Replication, SyncMode};

#[test]
fn reports_reads_bound_by_the_disk() {
    let reads = |per_second, waits| {
        waiting(run(), "IO/DataFileRead", waits, 10.0 - waits).counter(
            "postgres",
            "cgroup_reads",
            "",
            per_second,
        )
    };
    let quota = || limited(Limits { read_iops: Some(400), ..Limits::default() });
    let bound = |per_second: &str, quota: &str, waits: &str| {
        format!(
            "Bound {{ cell: 0, bound: Reads {{ node: \"postgres\", per_second: {per_second}, quota: {quota}, wait_share: \
             Some({waits}), in_bytes: false }} }}"
        )
    };
    check_in(&quota(), &[reads(412.0, 5.0)], &[&bound("Some(412.0)", "Some(400.0)", "0.5")]);
    check_in(&quota(), &[reads(345.0, 2.5)], &[&bound("Some(345.0)", "Some(400.0)", "0.25")]);
    // If most sessions wait for the disk, the quota is exhausted at times.
    check_in(&quota(), &[reads(310.0, 6.0)], &[&bound("Some(310.0)", "Some(400.0)", "0.6")]);
    check_in(&quota(), &[reads(310.0, 4.0)], &[]);
    // The reads are far below the quota, or no session waits for the disk.
    check_in(&quota(), &[reads(200.0, 4.0)], &[]);
    check_in(&quota(), &[reads(412.0, 1.0)], &[]);
    // Without a quota, waits decide.
    check(&["direct"], &[reads(9000.0, 4.0)], &[&bound("Some(9000.0)", "None", "0.4")]);
    check(&["direct"], &[reads(9000.0, 3.0)], &[]);
    check_in(
        &quota(),
        &[reads(412.0, 4.0).not_applied("postgres", "read_iops")],
        &[&bound("Some(412.0)", "None", "0.4")],
    );
    // The quota in bytes counts if it is closer to exhaustion.
    let bytes = limited(Limits { read_iops: Some(4000), read_bps: Some(1_000_000), ..Limits::default() });
    check_in(
        &bytes,
        &[reads(412.0, 5.0).counter("postgres", "cgroup_read_bytes", "", 990_000.0)],
        &[
            "Bound { cell: 0, bound: Reads { node: \"postgres\", per_second: Some(990000.0), quota: Some(1000000.0), wait_share: \
             Some(0.5), in_bytes: true } }",
        ],
    );
}

#[test]
fn reports_writes_bound_by_the_disk() {
    let writes = |event, per_second| {
        waiting(run(), event, 5.0, 5.0).counter("postgres", "cgroup_writes", "", per_second)
    };
    let quota = || limited(Limits { write_iops: Some(200), ..Limits::default() });
    // WAL writes count towards the same quota.
    check_in(
        &quota(),
        &[writes("IO/WALSync", 195.0)],
        &[
            "Bound { cell: 0, bound: WalFlush { share: 0.5, active: 10.0 } }",
            "Bound { cell: 0, bound: Writes { node: \"postgres\", per_second: Some(195.0), quota: Some(200.0), wait_share: \
             Some(0.5), in_bytes: false } }",
        ],
    );
    check_in(
        &quota(),
        &[writes("IO/WALSync", 90.0)],
        &["Bound { cell: 0, bound: WalFlush { share: 0.5, active: 10.0 } }"],
    );
    check(
        &["direct"],
        &[writes("IO/DataFileExtend", 900.0)],
        &[
            "Bound { cell: 0, bound: Writes { node: \"postgres\", per_second: Some(900.0), quota: None, wait_share: Some(0.5), \
           in_bytes: false } }",
        ],
    );
    // Without a free WAL buffer, sessions that insert WAL write it themselves.
    let lock = "Bound { cell: 0, bound: Locks { lock: Lightweight { name: \"WALInsert\" }, share: 0.5, active: 10.0, \
                longest_wait: None, statements: [] } }";
    check_in(
        &quota(),
        &[writes("LWLock/WALInsert", 195.0)],
        &[
            lock,
            "Bound { cell: 0, bound: Writes { node: \"postgres\", per_second: Some(195.0), quota: Some(200.0), wait_share: \
             Some(0.5), in_bytes: false } }",
        ],
    );
    check(&["direct"], &[writes("LWLock/WALInsert", 900.0)], &[lock]);
}

#[test]
fn reports_a_replica_bound_by_its_disk() {
    let replicated = |limits: Limits| {
        cell("direct", |setup| {
            let plan = Replication::with_defaults(1, SyncMode::Async);
            setup.stack.replication = Some(Replication { limits, ..plan });
        })
    };
    let slow = replicated(Limits { write_iops: Some(50), ..Limits::default() });
    let wrote = |waits, per_second| {
        let run = waiting(run(), "IPC/SyncRep", waits, 10.0 - waits);
        run.counter("postgres-2", "cgroup_writes", "", per_second)
    };
    let confirmations = "Bound { cell: 0, bound: SyncReplicas { share: 0.5, active: 10.0 } }";
    let writes = "Bound { cell: 0, bound: Writes { node: \"postgres-2\", per_second: Some(49.0), quota: Some(50.0), wait_share: \
                  Some(0.5), in_bytes: false } }";
    check_in(&slow, &[wrote(5.0, 49.0)], &[confirmations, writes]);
    check_in(&slow, &[wrote(5.0, 20.0)], &[confirmations]);
    // Few commits, or none that is known, wait for the replica.
    check_in(&slow, &[wrote(1.0, 49.0)], &[]);
    check_in(&slow, &[run().counter("postgres-2", "cgroup_writes", "", 49.0)], &[]);
    check_in(&replicated(Limits::default()), &[wrote(5.0, 49.0)], &[confirmations]);
    // Sessions of the replica wait for its disk.
    let read = |waits: f64| {
        let run = waiting(run(), "running", 0.0, 1.0).counter("postgres-2", "cgroup_reads", "", 99.0);
        run.gauge("postgres-2", "pg_active_waits", "IO/DataFileRead", waits).gauge(
            "postgres-2",
            "pg_active_waits",
            "running",
            10.0 - waits,
        )
    };
    let slow = replicated(Limits { read_iops: Some(100), ..Limits::default() });
    let reads = "Bound { cell: 0, bound: Reads { node: \"postgres-2\", per_second: Some(99.0), quota: Some(100.0), wait_share: \
                 Some(0.6), in_bytes: false } }";
    check_in(&slow, &[read(6.0)], &[reads]);
    check_in(&slow, &[read(1.0)], &[]);
}

#[test]
fn reports_memory_smaller_than_the_working_set() {
    const MB: f64 = 1_048_576.0;
    // A thousand transactions per second.
    let full = |used: f64, each: f64, waits: f64| {
        waiting(run(), "IO/DataFileRead", waits, 10.0 - waits)
            .gauge("postgres", "cgroup_memory", "", used * MB)
            .counter("postgres", "cgroup_read_bytes", "", 1000.0 * each)
            .counter("postgres", "cgroup_reads", "", 100.0)
    };
    let limited = || limited(Limits { memory: Some(400 << 20), read_iops: Some(2000), ..Limits::default() });
    check_in(
        &limited(),
        &[full(390.0, 16_384.0, 2.5)],
        &[
            "Bound { cell: 0, bound: Memory { node: \"postgres\", used_bytes: 408944640.0, limit_bytes: 419430400.0, read_bytes_per_transaction: 16384.0 } }",
        ],
    );
    check_in(&limited(), &[full(300.0, 16_384.0, 2.5)], &[]);
    check_in(&limited(), &[full(390.0, 1000.0, 2.5)], &[]);
    check_in(&limited(), &[full(390.0, 16_384.0, 1.0)], &[]);
    check(&["direct"], &[full(390.0, 16_384.0, 2.5)], &[]);
}
