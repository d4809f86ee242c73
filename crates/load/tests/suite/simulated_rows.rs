//! Rows of statements, and answers without a result, on a shard in simulated time

use load::script::{Mode, ScriptSource, parse};
use load::sim::{self, SimulatedSystem, StatementResult, drive};
use load::{LoadPlan, Recorder, Shard, Workload};
use model::{Code, Interval, Outcome, Record, ScriptId, SizeUnit, StatementKind};
use std::sync::Arc;
use wire::pg::{Login, Transport};

/// Recorder of rows and outcomes.
struct RowRecorder {
    interval: Interval,
    outcomes: Vec<Outcome>,
}

impl Recorder for RowRecorder {
    fn record(&mut self, record: &Record) {
        self.outcomes.push(record.outcome);
    }

    fn rows_counted(&mut self, script: ScriptId, command: u16, kind: StatementKind, rows: u64) {
        self.interval.record_answer((script.0, command), SizeUnit::Rows(kind), rows);
    }
}

fn run(script: &str, mode: Mode, world: &SimulatedSystem) -> RowRecorder {
    let program = parse(&[ScriptSource::new("test", script)], mode, false, &[]).expect("the script is valid");
    let plan = LoadPlan {
        transactions: Some(100),
        backlog_max: 0,
        connecting_max: 1,
        ..sim::plan(program, mode, 1, 1, sim::CLOSED)
    };
    let work = Arc::new(Workload::new(plan, Arc::new(Login::new("me", "db")), Transport::Unix));
    let recorder = RowRecorder { interval: work.interval(), outcomes: Vec::new() };
    drive(vec![Shard::new(work, 0, recorder)], world).pop().expect("there is one shard").recorder
}

/// Summary of each statement with answers: command, kind, number of answers, number of answers without a row, and sum
/// of rows.
fn rows(recorder: &RowRecorder) -> Vec<(u16, StatementKind, u64, u64, u128)> {
    let with_answers = recorder.interval.answers.iter().filter(|it| it.sizes.count() > 0);
    let counts = with_answers.map(|record| {
        let kind = record.statement().expect("the record counts rows");
        (record.command, kind, record.sizes.count(), record.sizes.count_at_most(0), record.sizes.sum())
    });
    counts.collect()
}

#[test]
fn counts_rows_of_each_statement() {
    use StatementKind::*;
    let two = SimulatedSystem { result: |_| StatementResult::Rows(2), ..SimulatedSystem::default() };
    let none = SimulatedSystem { result: |_| StatementResult::Rows(0), ..SimulatedSystem::default() };
    let transaction = "BEGIN;\nUPDATE a SET b = 1;\nSELECT 1;\nINSERT INTO a VALUES (1);\nEND;\n";
    for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
        for piece in [1, 7, usize::MAX] {
            let found = run(transaction, mode, &SimulatedSystem { piece, ..two.clone() });
            let expected = [(1, Update, 100, 0, 200), (2, Select, 100, 0, 200), (3, Insert, 100, 0, 200)];
            assert_eq!(rows(&found), expected, "{mode:?}, pieces of {piece}");
            let found = run(transaction, mode, &SimulatedSystem { piece, ..none.clone() });
            let expected = [(1, Update, 100, 100, 0), (2, Select, 100, 100, 0), (3, Insert, 100, 100, 0)];
            assert_eq!(rows(&found), expected, "{mode:?}, pieces of {piece}");
        }
    }
    let queue = "UPDATE q SET d = 1 WHERE i = (SELECT i FROM q LIMIT 1 FOR UPDATE skip\nlocked);\n";
    assert_eq!(rows(&run(queue, Mode::Prepared, &two)), [(0, Queue, 100, 0, 200)]);
    let pipeline = "\\startpipeline\nUPDATE a SET b = 1;\nSELECT 1;\n\\endpipeline\n";
    assert_eq!(rows(&run(pipeline, Mode::Extended, &two)), [(3, Mixed, 100, 0, 400)]);
}

#[test]
fn an_answer_without_a_result_is_a_failure() {
    let failed = |script: &str, result| {
        let world = SimulatedSystem { result, ..SimulatedSystem::default() };
        let found = run(script, Mode::Prepared, &world);
        let ok = found.outcomes.iter().filter(|it| **it == Outcome::Ok).count();
        let protocol = found.outcomes.iter().filter(|it| **it == Outcome::Unknown(Code::PROTOCOL)).count();
        assert_eq!(ok + protocol, 100, "{:?}", found.outcomes);
        protocol
    };
    assert_eq!(failed("SELECT 1;\n", |_| StatementResult::EmptyQuery), 100);
    assert_eq!(failed("SELECT 1;\n", |_| StatementResult::EmptyTag), 100);
    assert_eq!(failed("BEGIN;\nUPDATE a SET b = 1;\nEND;\n", |_| StatementResult::EmptyQuery), 100);
    assert_eq!(failed("\\startpipeline\nSELECT 1;\n\\endpipeline\n", |_| StatementResult::EmptyQuery), 100);
    // pgbench accepts a statement that is empty.
    assert_eq!(failed("SELECT 1;\n/* nothing */;\n", |_| StatementResult::EmptyQuery), 0);
    assert_eq!(failed("SELECT 1;\n", |_| StatementResult::Rows(0)), 0);
}
