//! A pooler that is killed during a run

use super::workspace::{RunOutput, Workspace, counts, trials};
use rustix::process::{Signal, kill_process};
use store::{Run, RunStatus};

const POOLED: &str = "
stack: { pooler: { kind: pgbouncer, mode: transaction, size: 5 }, postgres: {} }
operations: { slow: { sql: SELECT pg_sleep(0.01) } }
load: { model: closed, clients: 4, duration: 3s }
repeat: 2
";

/// Runs the experiment, and kills the pooler of the first trial after one second.
fn killed(arguments: &[&str]) -> (RunOutput, Run) {
    let workspace = Workspace::new("killed", POOLED);
    let mut running = workspace.spawn(arguments);
    running.await_trial(1);
    kill_process(workspace.process("pgbouncer"), Signal::KILL).expect("the process is running");
    let ended = running.wait();
    let run = workspace.stored();
    (ended, run)
}

#[test]
fn a_killed_pooler_is_replaced_for_the_next_trial() {
    let (ended, run) = killed(&[]);
    let stored = trials(&run);
    let [(_, first, reason), (_, second, _)] = &stored[..] else { panic!("two trials") };
    assert_eq!((*first, *second), (RunStatus::Failed, RunStatus::Complete), "{}", ended.err);
    assert_eq!(reason, "pooler was ended by signal 9 during the trial");
    ended.expect(2);
    let (first, second) = (counts(&run, 1), counts(&run, 2));
    // The trial ran to its end. Transactions in flight are unknown, and later connections were refused.
    assert!(first.seconds >= 3 && first.ok > 0, "{first:?}");
    assert!((1..=4).contains(&first.unknown), "{first:?}");
    assert!(first.refused.iter().any(|it| it.0 == "net 111"), "{first:?}");
    assert!(second.ok > 0 && second.unknown == 0 && second.refused.is_empty(), "{second:?}");
}

#[test]
fn a_stop_rule_sees_a_killed_pooler() {
    let (ended, run) =
        killed(&["--set", "stop=[\"net(xx,1,1)\"]", "--set", "load.duration=10m", "--set", "repeat=1"]);
    let (_, status, reason) = trials(&run).remove(0);
    assert_eq!(status, RunStatus::Stopped, "{}", ended.err);
    assert!(reason.starts_with("net(xx,1,1) at second "), "{reason}");
    ended.expect(99);
}
