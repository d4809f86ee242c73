//! A disk that fills up during a run

use super::workspace::{PGDYNO, Workspace, is_root};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use store::{Run, RunStatus, State, TrialId};

/// Script for a separate mount namespace, so that the mount disappears in any case.
const ON_A_SMALL_DISK: &str = "mkdir disk && mount -t tmpfs -o size=7m pgdyno disk || exit 77
\"$0\" run disk.yaml --out disk
status=$?
mkdir runs && cp disk/*.dyno runs/
exit $status";

#[test]
fn a_full_disk_stops_the_load_and_keeps_results() {
    if !is_root() {
        println!("skipped: a mount wants root");
        return;
    }
    let yaml = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 2, duration: 3m }
repeat: 2
";
    let workspace = Workspace::new("disk", yaml);
    let template = workspace.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", ON_A_SMALL_DISK, PGDYNO]).current_dir(&workspace.folder);
    command.envs(template.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut running = workspace.spawn_command(&mut command);
    // From outside, the mount is visible below the root of a process in the namespace. SQLite cannot open that path, so
    // the test reads a copy.
    let inside = format!("/proc/{}/root", running.pid().as_raw_nonzero());
    let disk = PathBuf::from(inside + workspace.folder.join("disk").to_str().expect("the path is UTF-8"));
    let copies = workspace.folder.join("copies");
    fs::create_dir(&copies).expect("the directory can be created");
    running.await_trial_in(1, || {
        for entry in fs::read_dir(&disk).into_iter().flatten().flatten() {
            // A file that changes during the copy is copied again later.
            let _ = fs::copy(entry.path(), copies.join(entry.file_name()));
        }
        copies.clone()
    });
    let mut filling = File::create(disk.join("filling")).expect("the file can be created");
    while filling.write_all(&[0; 4096]).is_ok() {}
    let full = Instant::now();
    let ended = running.wait();
    assert!(full.elapsed() < Duration::from_secs(90), "the load went on for {:?}", full.elapsed());
    let message = "the run was aborted: the disk with the run's file is full";
    assert!(ended.err.contains(message), "{}", ended.err);
    ended.expect(2);
    let run: Run = workspace.stored();
    let State::Ended(outcome) = run.state().expect("the run can be read") else { panic!("it did not end") };
    assert_eq!(outcome.status, RunStatus::Failed);
    assert_eq!(outcome.reason.as_deref(), Some("the disk with the run's file is full"));
    assert_eq!(run.trials().expect("the run file can be read").len(), 1, "no further trial began");
    assert!(run.ticks(TrialId(1)).expect("they are there").remaining() > 0);
}
