use super::*;
use model::plan::{LoadModel, MissingRequests, Operation, OperationKind, RecordedLog, RecordedTimes};

/// Findings on trials that send the requests of a log.
fn found(runs: &[TestRun], missing: u64, p99: Option<u64>) -> Vec<Finding> {
    let mut experiment = experiment(&["direct"], None);
    let setup = &mut experiment.cells[0].setup;
    setup.operations = vec![Operation { kind: OperationKind::Ammo, ..Operation::script("site", 1, "") }];
    let log = RecordedLog {
        feeds: vec!["log".to_owned()],
        duration: Nanos::from_secs(10),
        requests: 9000,
        requests_per_second_max: 1000,
        missing: MissingRequests { with_body: missing, ..MissingRequests::default() },
        times: vec![RecordedTimes {
            operation: 0,
            count: 9000,
            p50: Nanos::from_millis(7),
            p99: p99.map(Nanos::from_millis),
        }],
    };
    setup.load.model = LoadModel::Log { log, speed: 1.0, max_in_flight: 10 };
    let facts: Vec<_> = runs.iter().map(|it| it.facts(&experiment)).collect();
    let is_recorded =
        |it: &Finding| matches!(it, Finding::RequestsMissing { .. } | Finding::RecordedResponseTimes { .. });
    findings(&experiment, &facts).into_iter().filter(is_recorded).collect()
}

fn times(runs: &[TestRun], p99: Option<u64>) -> Option<(Nanos, Option<Nanos>, Nanos)> {
    match found(runs, 0, p99)[..] {
        [Finding::RecordedResponseTimes { recorded_p50, recorded_p99, measured_p50, .. }] => {
            Some((recorded_p50, recorded_p99, measured_p50))
        }
        [] => None,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn reports_missing_requests() {
    let missing = Finding::RequestsMissing { cell: 0, requests: 9000, missing: 1000, share: 0.1 };
    assert_eq!(found(&[run()], 1000, None)[0], missing);
    assert!(!found(&[run()], 0, None).iter().any(|it| matches!(it, Finding::RequestsMissing { .. })));
    assert_eq!(found(&[run().without_summary()], 1000, None), []);
}

#[test]
fn shows_recorded_response_times_with_the_measured_ones() {
    let measured = |millis| run().response(crate::fixture::millis(10_000, millis));
    let recorded = (Nanos::from_millis(7), Some(Nanos::from_millis(90)));
    let (p50, p99, shown) = times(&[measured(20)], Some(90)).expect("a finding");
    assert_eq!((p50, p99), recorded);
    assert!((19..=21).contains(&(shown.0 / 1_000_000)), "{shown:?}");
    // Of three trials, the finding shows the one with the median.
    let (_, _, shown) = times(&[measured(40), measured(10), measured(20)], None).expect("a finding");
    assert!((19..=21).contains(&(shown.0 / 1_000_000)), "{shown:?}");
    assert_eq!(times(&[measured(20).invalid()], Some(90)), None);
}
