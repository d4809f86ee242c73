//! Findings on pairs of cells with the same setup

use super::*;
use model::feed_coverage::{FeedCoverage, TableCoverage};
use model::plan::{CacheState, Content, Dataset, Feed, FeedOrder, FeedSource, Operation};

/// Experiment of cells with one setup: `open`, `closed`, `few` and `many` (feeds with few and many rows), and `cold`.
fn experiment_of(cells: &[&str]) -> Experiment {
    let mut experiment = experiment(&vec!["direct"; cells.len()], None);
    for (cell, word) in experiment.cells.iter_mut().zip(cells) {
        let setup = &mut cell.setup;
        setup.operations = vec![Operation::script("a", 1, "SELECT 1")];
        let mut feed = |name: &str, rows: u32| {
            setup.feeds.push(Feed {
                name: name.into(),
                source: FeedSource::Query(format!("SELECT id FROM a LIMIT {rows}")),
                columns: None,
                order: FeedOrder::Shuffled,
                lookup_column: None,
            });
        };
        match *word {
            "few" => feed("requests", 2000),
            "many" => feed("requests", 150_000),
            "other" => feed("others", 150_000),
            _ => {}
        }
        match *word {
            "open" => {
                setup.operations[0].rate = Some(68.0);
                setup.load.model = LoadModel::Open {
                    schedule: "const(68, 10s)".into(),
                    arrivals: model::Spacing::Poisson,
                    max_in_flight: 200,
                };
            }
            "cold" => {
                let content = Content::Pgbench { scale: 1 };
                setup.dataset = Some(Dataset { cache: CacheState::Cold, ..Dataset::new(1, content) });
            }
            _ => {}
        }
    }
    experiment
}

fn measured_run(cell: usize, tps: f64, p99_ms: u64) -> TestRun {
    TestRun::new(cell, 0).tps(tps).p99(p99_ms)
}

#[test]
fn reports_a_tail_hidden_by_the_closed_model() {
    let open = |tps, p99| measured_run(0, tps, p99).open();
    check_in(
        &experiment_of(&["open", "closed", "closed"]),
        &[open(44.9, 9672), measured_run(1, 47.7, 171), measured_run(2, 47.2, 1721)],
        &[
            "OpenAndClosed { cell: 0, other_cell: 1, offered: 1000.0, open: CellResponse { delivered: 44.9, p99: Some(9.672), runs: \
             1 }, closed: CellResponse { delivered: 47.7, p99: Some(0.171), runs: 1 } }",
        ],
    );
    // No finding in four cases: both cells agree; the open-loop cell is faster, below its capacity; the other cell has
    // another system; the trial is invalid.
    check_in(&experiment_of(&["open", "closed"]), &[open(44.9, 340), measured_run(1, 47.7, 171)], &[]);
    check_in(&experiment_of(&["open", "closed"]), &[open(18.4, 60), measured_run(1, 47.7, 171)], &[]);
    check_in(&experiment_of(&["open", "cold"]), &[open(44.9, 9672), measured_run(1, 47.7, 171)], &[]);
    check_in(
        &experiment_of(&["open", "closed"]),
        &[open(44.9, 9672), measured_run(1, 47.7, 171).invalid()],
        &[],
    );
}

#[test]
fn reports_feeds_that_change_the_result() {
    // 1000 transactions per second ended, although another rate was planned.
    let read = |run: TestRun, blocks: f64| {
        run.counter("postgres", "pg_blocks_read", "app", 1000.0 * blocks)
            .counter("postgres", "cgroup_read_bytes", "", 8_192_000.0)
            .counter("postgres", "process_read_bytes", "", 1.0)
    };
    check_in(
        &experiment_of(&["few", "many"]),
        &[read(measured_run(0, 197.0, 7), 0.25), read(measured_run(1, 196.0, 2171), 12.0)],
        &[
            "FeedsDiffer { cell: 1, other_cell: 0, feed: \"requests\", response: CellResponse { delivered: 196.0, p99: Some(2.171), runs: \
             1 }, other_response: CellResponse { delivered: 197.0, p99: Some(0.007), runs: 1 }, read: ReadVolume { blocks: Some(12.0), \
             disk_bytes: Some(8192.0) }, other_read: ReadVolume { blocks: Some(0.25), disk_bytes: Some(8192.0) } }",
        ],
    );
    check_in(
        &experiment_of(&["few", "many"]),
        &[measured_run(0, 1000.0, 50), measured_run(1, 200.0, 50)],
        &[
            "FeedsDiffer { cell: 1, other_cell: 0, feed: \"requests\", response: CellResponse { delivered: 200.0, p99: Some(0.05), runs: \
             1 }, other_response: CellResponse { delivered: 1000.0, p99: Some(0.05), runs: 1 }, read: ReadVolume { blocks: None, disk_bytes: \
             None }, other_read: ReadVolume { blocks: None, disk_bytes: None } }",
        ],
    );
    check_in(&experiment_of(&["few", "many"]), &[measured_run(0, 197.0, 7), measured_run(1, 196.0, 13)], &[]);
    check_in(&experiment_of(&["few", "few"]), &[measured_run(0, 197.0, 7), measured_run(1, 19.0, 1300)], &[]);
    check_in(
        &experiment_of(&["few", "direct"]),
        &[measured_run(0, 197.0, 7), measured_run(1, 19.0, 1300)],
        &[],
    );
}

fn reach(touched: u64) -> FeedCoverage {
    let table = TableCoverage {
        column: "book.bookv2.author".into(),
        rows: 1e7,
        bytes: 1300 << 20,
        share: 0.0002,
        touched: touched << 20,
        memory: 400 << 20,
    };
    FeedCoverage {
        feed: "books".into(),
        rows: 20_000,
        distinct: 2000,
        repeats_after: None,
        table: Some(table),
    }
}

#[test]
fn reports_a_feed_that_fits_in_memory() {
    let read = run().counter("postgres", "pg_blocks_read", "app", 10.0);
    check(
        &["direct"],
        &[read.clone().reach(reach(15)), TestRun::new(0, 1).reach(reach(15))],
        &[
            "Circumstance { cell: 0, circumstance: FeedFitsCache { feed: \"books\", rows: 20000, distinct: 2000, share: 0.0002, touched_bytes: \
             15728640, table_bytes: 1363148800, memory_bytes: 419430400, read: ReadVolume { blocks: Some(0.01), disk_bytes: None } } }",
        ],
    );
    check(&["direct"], &[read.reach(reach(401))], &[]);
    check(&["direct"], &[run().reach(FeedCoverage { table: None, ..reach(15) })], &[]);
}

#[test]
fn reports_the_warm_up_time_of_a_cold_cell() {
    use model::matrix::Figure;
    let run = run().delivered(&[10.0, 20.0, 40.0, 70.0, 90.0, 95.0, 100.0, 100.0, 100.0, 102.0, 98.0, 100.0]);
    for (cells, expected) in [(["cold"], Some(5.0)), (["closed"], None)] {
        let experiment = experiment_of(&cells);
        let matrix = crate::present::matrix::matrix(&experiment, &[run.facts(&experiment)]);
        assert_eq!(matrix.rows[0].estimate(Figure::TimeToSteady).map(|it| it.median), expected);
    }
}

#[test]
fn compares_tails_of_search_steps() {
    let experiment = experiment_of(&["few", "many"]);
    let mut step = experiment.cells[1].setup.clone();
    step.load.model = LoadModel::Open {
        schedule: "const(500, 10s)".into(),
        arrivals: model::Spacing::Poisson,
        max_in_flight: 200,
    };
    let differ = |tps, as_step: bool| {
        let runs = [measured_run(0, 500.0, 7), measured_run(1, tps, 2171)];
        let mut facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        if as_step {
            facts[1].setup = &step;
        }
        findings(&experiment, &facts).iter().any(|it| matches!(it, Finding::FeedsDiffer { .. }))
    };
    assert_eq!([differ(490.0, false), differ(490.0, true), differ(90.0, true)], [true, false, true]);
}
