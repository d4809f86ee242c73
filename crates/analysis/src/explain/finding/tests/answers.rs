use super::*;
use model::plan::{LoadModel, Operation, OperationKind, RecordingFile};
use model::{EmptyStatement, ReplayFigures, StatementKind};

#[test]
fn reports_answers_of_another_size() {
    let page: &[(u64, u64)] = &[(20, 40_000)];
    let login: &[(u64, u64)] = &[(20, 2_000)];
    let mixed: &[(u64, u64)] = &[(14, 40_000), (6, 2_000)];
    let finding = |change: &str, cell: usize, share: &str| {
        format!(
            "AnswerSizes {{ cell: {cell}, operation: \"read\", step: None, change: {change}, share: {share} }}"
        )
    };
    let finding_descriptions = |runs: &[TestRun], cells: &[&str]| {
        let mut experiment = experiment(cells, None);
        let operation = Operation::script("read", 1, "SELECT 1");
        experiment.cells.iter_mut().for_each(|it| it.setup.operations = vec![operation.clone()]);
        let facts: Vec<_> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let all = findings(&experiment, &facts);
        let sizes = all.iter().filter(|it| matches!(it, Finding::AnswerSizes { .. }));
        sizes
            .map(|it| format!("{it:?}").replace(&experiment.cells[0].setup.operations[0].name, "read"))
            .collect::<Vec<_>>()
    };
    let fallen = [vec![page; 20], vec![login; 20]].concat();
    let change = "Fell { before_bytes: 40000, after_bytes: 2000, second: 20 }";
    assert_eq!(finding_descriptions(&[run().answers(&fallen)], &["direct"]), [finding(change, 0, "0.5")]);
    let change = "TwoPopulations { small_bytes: 2047, large_bytes: 40000 }";
    assert_eq!(
        finding_descriptions(&[run().answers(&[mixed; 40])], &["direct"]),
        [finding(change, 0, "0.3")]
    );
    // A replayed log has responses of both sizes.
    let (answers, sized, measured) = (800, 800, 40_000);
    let same = ReplayFigures {
        operation: 0,
        answers,
        sized,
        measured,
        recorded: measured,
        other_status: 0,
        failed: 0,
        succeeded: 0,
        smaller: 0,
        larger: 0,
    };
    assert_eq!(finding_descriptions(&[run().answers(&[mixed; 40]).replay(same)], &["direct"]), [""; 0]);
    let pair = [run().answers(&[page; 40]), TestRun::new(1, 0).answers(&[login; 40])];
    let change = "SmallerThan { other_cell: 0, bytes: 2000, other_bytes: 40000 }";
    assert_eq!(finding_descriptions(&pair, &["direct", "pooled"]), [finding(change, 1, "1.0")]);
    assert_eq!(finding_descriptions(&[run().answers(&[page; 40])], &["direct"]), [""; 0]);
}

/// Texts of the findings on the only operation, `read`.
fn finding_texts(runs: &[TestRun], predicate: fn(&Finding) -> bool) -> Vec<String> {
    let mut experiment = experiment(&["direct"], None);
    experiment.cells[0].setup.operations = vec![Operation::script("read", 1, "SELECT 1")];
    let facts: Vec<_> = runs.iter().map(|it| it.facts(&experiment)).collect();
    findings(&experiment, &facts).iter().filter(|it| predicate(it)).map(|it| format!("{it:?}")).collect()
}

#[test]
fn reports_answers_that_differ_from_recorded_ones() {
    let check = |smaller: u64, larger: u64, other_status: u64, answers: u64, expected: &[&str]| {
        let (operation, sized) = (0, answers - other_status);
        let figures = ReplayFigures {
            operation,
            answers,
            other_status,
            failed: 0,
            succeeded: 0,
            sized,
            smaller,
            larger,
            measured: 2_000,
            recorded: 34_000,
        };
        let predicate =
            |it: &Finding| matches!(it, Finding::AnswerSizes { .. } | Finding::RecordedStatus { .. });
        assert_eq!(finding_texts(&[run().replay(figures)], predicate), expected);
    };
    check(0, 0, 0, 1000, &[]);
    // Some pages have grown or shrunk since the log was written.
    check(200, 200, 40, 1000, &[]);
    check(199, 0, 0, 199, &[]);
    let smaller = "AnswerSizes { cell: 0, operation: \"read\", step: None, \
                   change: SmallerThanRecorded { bytes: 2000, recorded_bytes: 34000 }, share: 0.9 }";
    check(900, 0, 0, 1000, &[smaller]);
    let larger = smaller.replace("Smaller", "Larger");
    check(0, 900, 0, 1000, &[&larger]);
    let status = "RecordedStatus { cell: 0, operation: \"read\", count: 1000, share: 0.3 }";
    check(0, 0, 300, 1000, &[status]);
}

#[test]
fn reports_results_of_a_replay() {
    let figures = |operation: u16, answers: u64, [other_status, smaller, larger]: [u64; 3]| ReplayFigures {
        operation,
        answers,
        other_status,
        failed: other_status,
        succeeded: 0,
        sized: 6,
        smaller,
        larger,
        measured: 1,
        recorded: 1,
    };
    let texts = |answers: u64, of_first: [u64; 3], of_second: [u64; 3]| {
        let mut experiment = experiment(&["direct"], None);
        let setup = &mut experiment.cells[0].setup;
        setup.operations = ["read", "write"].map(recorded_operation).to_vec();
        setup.load.model = LoadModel::Replay { recording: recording(), speed: 1.0 };
        let run = run().replay(figures(0, answers, of_first)).replay(figures(1, answers, of_second));
        let facts = [run.facts(&experiment)];
        let of_replay =
            |it: &&Finding| matches!(it, Finding::ReplayDiverged { .. } | Finding::ReplayAsRecorded { .. });
        let all = findings(&experiment, &facts);
        all.iter().filter(of_replay).map(|it| format!("{it:?}")).collect::<Vec<String>>()
    };
    let same = [0; 3];
    let requests = {
        let experiment = experiment(&["direct"], None);
        run().facts(&experiment).summary.map_or(0, |it| it.total.counts.arrivals())
    };
    let all = format!("ReplayAsRecorded {{ cell: 0, results: {}, with_rows: 12 }}", 2 * requests);
    assert_eq!(texts(requests, same, same), [all]);
    // Some requests have no result, so that not all results are as recorded.
    assert_eq!(texts(requests / 2 - 1, same, same), [""; 0]);
    let diverged = |operation: &str, counts: &str| {
        format!("ReplayDiverged {{ cell: 0, operation: \"{operation}\", results: 10, {counts} }}")
    };
    let write = diverged("write", "failed: 1, succeeded: 0, other_errors: 0, fewer_rows: 0, more_rows: 2");
    assert_eq!(texts(10, same, [1, 0, 2]), [write]);
    let read = diverged("read", "failed: 0, succeeded: 0, other_errors: 0, fewer_rows: 1, more_rows: 0");
    assert_eq!(texts(10, [0, 1, 0], same), [read]);
}

fn recorded_operation(name: &str) -> Operation {
    let kind = OperationKind::Recorded { statement: String::new() };
    Operation { kind, ..Operation::script(name, 1, "") }
}

fn recording() -> RecordingFile {
    RecordingFile {
        path: "shop.traffic".into(),
        bytes: 1,
        duration: Nanos::from_secs(1),
        requests: 20,
        requests_per_second_max: 20,
        sessions: 1,
        sessions_max: 1,
    }
}

#[test]
fn reports_statements_without_rows() {
    let empty = |command, statement, share| EmptyStatement {
        operation: 0,
        command,
        statement,
        count: 1000,
        share,
        second: (share < 0.95).then_some(30),
    };
    let (update, queue) = (StatementKind::Update, StatementKind::Queue);
    let first = run().empty_statements(&[empty(2, update, 0.5)]);
    let second = TestRun::new(0, 1).empty_statements(&[empty(2, update, 0.7), empty(4, queue, 1.0)]);
    assert_eq!(
        finding_texts(&[first, second], |it| matches!(it, Finding::NoRows { .. })),
        [
            "NoRows { cell: 0, operation: \"read\", command: 2, statement: Update, count: 1000, share: 0.7, \
             second: Some(30) }",
            "NoRows { cell: 0, operation: \"read\", command: 4, statement: Queue, count: 1000, share: 1.0, \
             second: None }",
        ]
    );
}
