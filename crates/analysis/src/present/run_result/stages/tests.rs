use super::*;
use model::plan::UserStage;
use model::{Code, CompactInterval, LatencyHistogram, OperationSecond, Spacing};

fn stages_of_users(users: &[u32], seconds: u64) -> Vec<PlannedStage> {
    let duration = Nanos::from_secs(seconds);
    users.iter().map(|it| PlannedStage { level: StageLevel::Users(*it), duration }).collect()
}

fn stages_of_rates(rates: &[(f64, f64)], seconds: u64) -> Vec<PlannedStage> {
    let level = |(from, to): (f64, f64)| StageLevel::Rate { from: PerSecond(from), to: PerSecond(to) };
    let duration = Nanos::from_secs(seconds);
    rates.iter().map(|it| PlannedStage { level: level(*it), duration }).collect()
}

/// Second with `ok` successful transactions of `millis` ms and `failed` failures.
fn second(number: u64, (ok, failed, millis): (u64, u64, u64)) -> Second {
    let mut response = LatencyHistogram::new();
    (0..ok).for_each(|_| response.record(Nanos::from_millis(millis)));
    let mut counts = OperationSecond { ok, response: (&response).into(), ..OperationSecond::default() };
    counts.failed.add(Code::SqlState(*b"53300"), failed);
    let (from, to) = (Nanos::from_secs(number), Nanos::from_secs(number + 1));
    let interval = CompactInterval { from, to, scripts: vec![counts], ..CompactInterval::default() };
    Second { second: number, in_flight: 0, interval }
}

fn results(stages: &[PlannedStage], trials: &[&[(u64, u64, u64)]]) -> Vec<StageResult> {
    let sums: Vec<Vec<StageSum>> = trials
        .iter()
        .map(|seconds| {
            let mut collector = StageCollector::new(stages.to_vec());
            (0..).zip(*seconds).for_each(|(number, it)| collector.second(&second(number, *it)));
            collector.finish()
        })
        .collect();
    stage_results(stages, &sums.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn merges_the_trials_of_each_stage() {
    let stages = stages_of_users(&[1, 10, 100], 2);
    let trials: [&[(u64, u64, u64)]; 2] = [
        &[(100, 0, 1), (100, 0, 1), (300, 0, 5), (300, 6, 5)],
        // The second trial ended within the second stage, and no trial reached the third one.
        &[(200, 0, 3), (200, 0, 3), (400, 0, 5)],
    ];
    let all = results(&stages, &trials);
    let shown: Vec<(f64, f64, u64, u64)> = all
        .iter()
        .map(|stage| {
            let median = stage.period.response.p50.expect("there are enough samples");
            let rounded = (median.as_secs_f64() * 1e3).round() as u64;
            (
                stage.period.measured.as_secs_f64(),
                stage.period.delivered.0.round(),
                stage.period.failed,
                rounded,
            )
        })
        .collect();
    assert_eq!(shown, [(4.0, 150.0, 0, 3), (3.0, 333.0, 6, 5)]);
    assert_eq!(all[0].offered, None, "users offer no rate");
}

#[test]
fn finds_the_stage_at_which_the_system_broke() {
    let check = |stages: &[PlannedStage], seconds: &[(u64, u64, u64)], expected: &str| {
        let found = stage_break(&results(stages, &[seconds])).map_or("none".to_owned(), |broken| {
            let reason = match broken.reason {
                StageBreakReason::Failed { share } => format!("failed {share:.3}"),
                StageBreakReason::Refused { count } => format!("refused {count}"),
                StageBreakReason::Behind { offered, delivered } => {
                    format!("behind {} of {}", delivered.0, offered.0)
                }
                StageBreakReason::Slower { highest, delivered } => {
                    format!("slower {} after {}", delivered.0, highest.0)
                }
            };
            format!("{} {reason}", broken.stage)
        });
        assert_eq!(found, expected, "{seconds:?}");
    };
    let users = stages_of_users(&[10, 20, 40], 1);
    check(&users, &[(1000, 0, 1), (1900, 0, 1), (2500, 0, 1)], "none");
    check(&users, &[(1000, 0, 1), (990, 10, 1), (2500, 0, 1)], "none");
    check(&users, &[(1000, 0, 1), (1900, 100, 1), (2500, 900, 1)], "1 failed 0.050");
    // 4 % less may be chance.
    check(&users, &[(1000, 0, 1), (1900, 0, 1), (1824, 0, 1)], "none");
    check(&users, &[(1000, 0, 1), (1900, 0, 1), (1700, 0, 1)], "2 slower 1700 after 1900");
    // Fewer users may deliver less.
    check(&stages_of_users(&[20, 10], 1), &[(1900, 0, 1), (1000, 0, 1)], "none");
    let rates = stages_of_rates(&[(100.0, 100.0), (100.0, 500.0), (500.0, 500.0)], 1);
    check(&rates, &[(100, 0, 1), (300, 0, 1), (500, 0, 1)], "none");
    // 500 arrivals of a Poisson process differ by 22 on average.
    check(&rates, &[(100, 0, 1), (300, 0, 1), (450, 0, 1)], "none");
    check(&rates, &[(100, 0, 1), (300, 0, 1), (400, 0, 1)], "2 behind 400 of 500");
    check(&rates, &[(40, 0, 1), (300, 0, 1), (500, 0, 1)], "0 behind 40 of 100");
}

#[test]
fn refused_connections_break_a_stage() {
    let stages = stages_of_users(&[10, 20], 1);
    let mut collector = StageCollector::new(stages.clone());
    collector.second(&second(0, (1000, 0, 1)));
    let mut refusing = second(1, (1900, 0, 1));
    refusing.interval.refused.add(Code::SqlState(*b"53300"), 7);
    collector.second(&refusing);
    let broken = stage_break(&stage_results(&stages, &[&collector.finish()]));
    let reason = StageBreakReason::Refused { count: 7 };
    assert_eq!(broken, Some(StageBreak { stage: 1, reason }));
}

#[test]
fn plans_stages_of_users_and_rates() {
    let ramp =
        |from, to| Curve::Ramp { from: PerSecond(from), to: PerSecond(to), duration: Nanos::from_secs(10) };
    let open = LoadModel::Open { schedule: String::new(), arrivals: Spacing::Even, max_in_flight: 9 };
    let mut operations = vec![Operation::script("read", 1, "")];
    let rates = |curve: &Curve, operations: &[Operation]| planned_stages(&open, Some(curve), operations);
    let two = Curve::Chain(vec![ramp(1.0, 9.0), Curve::Chain(vec![ramp(9.0, 9.0)])]);
    assert_eq!(rates(&two, &operations), stages_of_rates(&[(1.0, 9.0), (9.0, 9.0)], 10));
    assert_eq!(rates(&ramp(1.0, 9.0), &operations), [], "one stage");
    assert_eq!(rates(&Curve::Chain(vec![ramp(1.0, 1.0); 61]), &operations), [], "too many stages");
    operations[0].schedule = Some("const(5, 10s)".to_owned());
    assert_eq!(rates(&two, &operations), [], "the operations have schedules of their own");
    let stage = |users| UserStage { users, spawn_rate: None, duration: Nanos::from_secs(10) };
    let users = LoadModel::Users {
        stages: vec![stage(5), stage(7)],
        think: model::plan::ThinkTime::Constant(Nanos::ZERO),
        pacing: None,
        rate_max: None,
    };
    assert_eq!(planned_stages(&users, None, &operations), stages_of_users(&[5, 7], 10));
}
