//! Runs of the shipped experiments, with few rows and a few of their cells

use super::workspace::{PGDYNO, RunOutput, Workspace, counts, figure, row, trials};
use std::path::{Path, PathBuf};
use std::process::Command;
use store::RunStatus;

fn shipped(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
    root.join("experiments").join(name).join("experiment.yaml")
}

#[test]
fn shipped_experiments_are_valid_with_quick() {
    for name in ["000-poolers", "001-pool-modes"] {
        for quick in [&[][..], &["--quick"]] {
            let mut command = Command::new(PGDYNO);
            let ended = RunOutput::run(command.arg("check").arg(shipped(name)).args(quick));
            assert!(ended.expect(0).out.contains(" trials"), "{name}: {}", ended.out);
        }
    }
}

#[test]
fn runs_the_pool_modes_experiment() {
    let workspace = Workspace::new("unused", "");
    let sets = [
        "dataset.rows=1000",
        "load.duration=3s",
        "load.warmup=0s",
        "repeat=1",
        "way=[tcp, session, transaction]",
        "load.clients=[8, 125]",
    ];
    let sets: Vec<&str> = ["--json"].into_iter().chain(sets.iter().flat_map(|it| ["--set", it])).collect();
    let ended = RunOutput::run(&mut workspace.command_on(&shipped("001-pool-modes"), &sets));
    let document = ended.expect(0).document();
    assert_eq!(row(&document, "tcp")["clients"], 8);
    let rows = document["matrix"]["rows"].as_array().expect("rows");
    let expected = [("tcp", 100), ("session", 20), ("transaction", 125)];
    let expected = expected.into_iter().flat_map(|(way, most)| [(way, 8, 8), (way, 125, most)]);
    for ((way, clients, served), row) in expected.zip(rows) {
        assert_eq!((&row["label"][0][1], &row["clients"]), (&way.into(), &clients.into()));
        // On a busy host the generator may stall; then the cell has no figures.
        let is_valid = row["trials"][0]["valid"] == true;
        assert_eq!(figure(row, "served"), is_valid.then_some(f64::from(served)), "{way} {clients}");
    }
    assert!(trials(&workspace.stored()).iter().all(|it| it.1 == RunStatus::Complete), "{}", ended.err);
}

#[test]
fn runs_the_poolers_experiment() {
    let workspace = Workspace::new("unused", "");
    let sets = [
        "load.schedule=line(1, 100, 1s)",
        "repeat=1",
        "way=[direct, haproxy maxconn 25, pgbouncer transaction]",
    ];
    let sets: Vec<&str> = ["--json"].into_iter().chain(sets.iter().flat_map(|it| ["--set", it])).collect();
    let ended = RunOutput::run(&mut workspace.command_on(&shipped("000-poolers"), &sets));
    let document = ended.expect(0).document();
    // The figures of a cell are missing if the generator was late on a busy host; its counts are not.
    for (trial, way) in (1..).zip(["direct", "haproxy maxconn 25", "pgbouncer transaction"]) {
        row(&document, way);
        assert!(counts(&workspace.stored(), trial).ok > 0, "trial {trial}: {document:#}");
    }
}
