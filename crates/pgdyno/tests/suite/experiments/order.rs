//! The seed determines the order, every trial begins from the same state, and `--set` changes values

use super::workspace::{BARE, Workspace, counts, trials};
use model::plan::{Experiment, LoadModel};
use serde::Deserialize;
use store::{Run, RunStatus};

const CELLS: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 1, duration: 50ms }
matrix: { load.clients: [1, 2, 3, 4] }
repeat: 2
quick: { repeat: 1, load.clients: [3, 1] }
";

/// Cells in the order in which they were measured.
fn order(run: &Run) -> Vec<String> {
    trials(run).into_iter().map(|it| it.0.label[0].1.clone()).collect()
}

#[test]
fn the_seed_determines_the_order() {
    let workspace = Workspace::new("order", CELLS);
    let order = |arguments: &[&str]| {
        let ended = workspace.run(arguments);
        ended.expect(0);
        (order(&workspace.stored()), ended.err)
    };
    let (first, message) = order(&["--set", "seed=7"]);
    let (second, _) = order(&["--set", "seed=7"]);
    assert_eq!(first, second);
    assert!(message.contains("in the order of seed 7"), "{message}");
    let mut sorted = [&first[..4], &first[4..]].map(<[_]>::to_vec);
    sorted.iter_mut().for_each(|it| it.sort());
    assert_eq!(sorted, [["1", "2", "3", "4"], ["1", "2", "3", "4"]], "each repetition has all cells");
    assert_ne!(first[..4], ["1", "2", "3", "4"], "seed 7 does not happen to leave them in order");
    let (quick, _) = order(&["--quick", "--set", "seed=7"]);
    assert_eq!(quick.len(), 2);
}

#[test]
fn sets_values_from_the_command_line() {
    let workspace = Workspace::new("set", BARE);
    let arguments = ["load.clients=3", "load.duration=100ms", "postgres.settings.work_mem=5MB"];
    let arguments: Vec<&str> = arguments.iter().flat_map(|it| ["--set", it]).collect();
    workspace.run(&arguments).expect(0);
    let run = workspace.stored();
    let header = run.header().expect("the run file can be read");
    let experiment = Experiment::deserialize(&header.experiment).expect("what was written is read");
    let LoadModel::Closed { clients, .. } = experiment.cells[0].setup.load.model else { panic!("closed") };
    assert_eq!(clients, 3);
    let (trial, status, _) = trials(&run).remove(0);
    assert_eq!(status, RunStatus::Complete);
    let configuration = trial.nodes[0].configuration.iter().map(|it| it.text.as_str()).collect::<String>();
    assert!(configuration.contains("work_mem = '5MB'"), "{configuration}");
}

/// The first three transactions on a fresh database fail. Their rollback does not affect sequences.
#[test]
fn each_trial_begins_from_the_same_state_and_the_warm_up_is_not_counted() {
    let yaml = "
stack: { postgres: {} }
dataset: { name: tickets, rows: 1000 }
operations:
  count:
    preflight: false
    sql: |
      CREATE SEQUENCE IF NOT EXISTS met;
      UPDATE book.tickets SET fkseat = fkseat + 1 WHERE id = 1;
      SELECT 1 / (nextval('met') > 3)::int;
load: { model: closed, clients: 1, duration: 200ms }
matrix: { load.warmup: [0s, 200ms], dataset.cache: [warm, cold] }
repeat: 2
";
    let workspace = Workspace::new("restore", yaml);
    workspace.run(&[]).expect(0);
    let run = workspace.stored();
    for (at, (trial, status, _)) in trials(&run).into_iter().enumerate() {
        let counts = counts(&run, at as u32 + 1);
        let failures = if trial.label[0].1 == "0s" { 3 } else { 0 };
        assert_eq!((status, counts.failed), (RunStatus::Complete, failures), "{:?}: {counts:?}", trial.label);
        assert!(counts.ok > 0, "{counts:?}");
    }
}

/// In a copy, PostgreSQL's scan counters start at zero. The second trial is a copy, because the run then creates HypoPG
/// for plans.
#[test]
fn does_not_copy_data_that_were_only_read() {
    let yaml = "
stack: { postgres: {} }
dataset: { name: tickets, rows: 1000 }
operations:
  count:
    preflight: false
    sql: |
      SELECT count(fio) FROM book.tickets;
      \\set luck random(0, 1)
      SELECT 1 / greatest(:luck, (sum(seq_scan) > 9)::int) FROM pg_stat_user_tables;
  one: { sql: SELECT 1 }
load: { model: closed, clients: 1, duration: 200ms }
repeat: 3
";
    let workspace = Workspace::new("kept", yaml);
    workspace.run(&[]).expect(0);
    let run = workspace.stored();
    let failed = [1, 3].map(|trial| counts(&run, trial).failed);
    assert!(failed[0] > 0 && failed[1] == 0, "{failed:?}");
}
