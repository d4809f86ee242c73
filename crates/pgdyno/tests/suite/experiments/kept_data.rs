//! Data that grow over the trials, and the sizes of tables

use super::workspace::Workspace;
use model::fact::Fact;
use model::table_sizes::TableSizes;
use rustix::process::Signal;

const EXPERIMENT: &str = "
stack: { postgres: { settings: { autovacuum: \"off\" } } }
dataset: { name: tickets, rows: 3000, cache: as-is, after: [ CREATE TABLE marks AS SELECT 1 AS mark ] }
operations: { spoil: { sql: UPDATE book.tickets SET fio = fio } }
load: { model: closed, clients: 1, pacing: 500ms, duration: 1s }
repeat: 3
";

/// Sizes of `book.tickets` and of `marks`, by trial.
fn sizes(workspace: &Workspace) -> Vec<(TableSizes, TableSizes)> {
    let facts = workspace.stored().facts().expect("the run can be read");
    let of_trial = |sizes: Vec<TableSizes>| {
        let find = |table: &str| sizes.iter().find(|it| it.table == table).cloned().expect(table);
        (find("book.tickets"), find("public.marks"))
    };
    let sizes = facts.into_iter().filter_map(|record| match record.fact {
        Fact::TableSizes(sizes) => Some(of_trial(sizes)),
        _ => None,
    });
    sizes.collect()
}

#[test]
fn data_are_restored_or_kept() {
    let workspace = Workspace::new("kept", EXPERIMENT);
    let document = workspace.run(&["--json"]).expect(0).document();
    let restored = sizes(&workspace);
    assert_eq!(restored.len(), 3);
    for (tickets, marks) in &restored {
        assert_eq!(tickets.before, restored[0].0.before, "{restored:?}");
        assert!(tickets.after.heap > tickets.before.heap && tickets.after.dead_rows >= 3000, "{restored:?}");
        assert_eq!(marks.before, marks.after);
    }
    let tickets = &document["tables"][0];
    assert_eq!((&tickets["table"], &tickets["trials"]), (&"book.tickets".into(), &3.into()));

    // `marks` gets a page of 8 kB before each trial except the first.
    let insert = "INSERT INTO marks SELECT 1 FROM generate_series(1, 226)";
    let between = format!("dataset.between=[{insert:?}]");
    workspace.run(&["--set", "dataset.keep=true", "--set", &between]).expect(0);
    let kept = sizes(&workspace);
    assert_eq!(kept.len(), 3);
    // The check before the first trial executes no operation that writes. The sizes of two loads cannot be compared:
    // PostgreSQL adds up to 20 pages for each connection that waits to extend the table.
    assert_eq!(kept[0].0.before.dead_rows, 0, "{kept:?}");
    for pair in kept.windows(2) {
        assert!(pair[1].0.before.heap >= pair[0].0.after.heap, "{kept:?}");
        assert!(pair[1].0.after.heap > pair[0].0.after.heap, "{kept:?}");
    }
    let marks: Vec<u64> = kept.iter().map(|it| it.1.before.heap).collect();
    assert!(marks[0].abs_diff(restored[0].1.before.heap) <= 3 * 8192, "{marks:?}");
    assert!(marks.is_sorted_by(|a, b| a < b), "{marks:?}");
    let page = workspace.other("report", &["last", "--format", "md"]);
    assert!(page.expect(0).out.contains("growth per trial"), "{}", page.out);
}

#[test]
fn interrupted_run_on_kept_data_is_not_resumed() {
    let workspace = Workspace::new("kept-interrupted", EXPERIMENT);
    let sets = ["--set", "dataset.keep=true", "--set", "load.duration=1m"];
    let mut running = workspace.spawn(&sets);
    running.await_trial(1);
    running.signal(Signal::INT);
    running.wait().expect(2);
    let resumed = workspace.other("run", &["--resume", "last"]);
    resumed.expect(1);
    assert!(
        resumed.err.contains("cannot be resumed, because its trials depend on data that are lost"),
        "{}",
        resumed.err
    );
}
