//! Exit status of a run, from its stored results

use crate::exit_status::ExitStatus;
use model::durability::Conclusion;
use model::matrix::TrialStatus;
use model::run_result::{RunResult, RunState, TrialResult};
use model::search::{LevelOutcome, StepPurpose};
use model::validity::InvalidReason;

/// Exit status of a run. In a resumed run, trials before the interruption count too. If `strict` is true, invalid
/// trials affect the status.
pub fn exit_status(result: &RunResult, strict: bool) -> ExitStatus {
    if result.trials.iter().all(|it| it.tps.is_none()) {
        return ExitStatus::Failed;
    }
    let incomplete = (result.info.state != RunState::Complete).then_some(ExitStatus::Incomplete);
    let trials = result.trials.iter().flat_map(|it| trial_statuses(it, strict));
    ExitStatus::first_of(incomplete.into_iter().chain(trials).chain(answer_statuses(result)))
}

fn trial_statuses(trial: &TrialResult, strict: bool) -> Vec<ExitStatus> {
    let mut statuses = Vec::new();
    // Ignore violated objectives of search steps, because a search overloads the system on purpose.
    let is_search =
        trial.step.as_ref().is_some_and(|it| !matches!(it.purpose, StepPurpose::Confirm | StepPurpose::Soak));
    if matches!(trial.status, Some(TrialStatus::Failed { .. })) {
        statuses.push(ExitStatus::Incomplete);
    }
    // A trial that was repeated with more agents does not count.
    let is_repeated = matches!(trial.status, Some(TrialStatus::Interrupted));
    if is_search || is_repeated || trial.tps.is_none() {
        return statuses;
    }
    if trial.reasons.contains(&InvalidReason::NoSuccess) {
        statuses.push(ExitStatus::Incomplete);
    }
    if strict && trial.step.is_none() && !trial.reasons.is_empty() {
        statuses.push(ExitStatus::Invalid);
    }
    if trial.step.is_none() && matches!(trial.status, Some(TrialStatus::Stopped { .. })) {
        statuses.push(ExitStatus::Violated);
    }
    statuses.extend(trial.objectives.iter().map(|result| ExitStatus::from(result.verdict)));
    statuses
}

/// Exit statuses for the results on maxima, soaks, durability and the freshness of reads.
fn answer_statuses(result: &RunResult) -> impl Iterator<Item = ExitStatus> {
    // A cell with an unavailable component is skipped, so its missing result does not affect the exit status.
    let is_measured = |cell: usize| result.trials.iter().any(|it| it.cell == cell && it.tps.is_some());
    let maxima = result.maxima.iter().filter(move |it| is_measured(it.cell));
    let maxima = maxima.map(|it| it.answer.level.map_or(ExitStatus::NoAnswer, |_| ExitStatus::Success));
    let soaks = result.soaks.iter().map(|soak| match soak.outcome {
        LevelOutcome::Sustained => ExitStatus::Success,
        LevelOutcome::NotSustained { .. } => ExitStatus::Violated,
        LevelOutcome::Invalid { .. } => ExitStatus::NoAnswer,
    });
    let failovers =
        result.failovers.iter().filter_map(|it| it.conclusion).map(|conclusion| match conclusion {
            Conclusion::Kept => ExitStatus::Success,
            Conclusion::Broken => ExitStatus::Violated,
            Conclusion::Unknown => ExitStatus::NoAnswer,
        });
    let reads =
        result.freshness.iter().filter(|it| it.promised).map(|freshness| match freshness.is_promise_kept() {
            Some(true) => ExitStatus::Success,
            Some(false) => ExitStatus::Violated,
            None => ExitStatus::NoAnswer,
        });
    let objectives = result.failovers.iter().flat_map(|it| &it.objectives);
    let objectives = objectives.map(|it| ExitStatus::from(it.verdict));
    maxima.chain(soaks).chain(failovers).chain(objectives).chain(reads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_result;
    use model::durability::WriteCounts;
    use model::fault_injection::FailoverResult;
    use model::freshness::{FreshnessResult, ReplicaFreshness, StaleReads};
    use model::objective::ObjectiveVerdict;
    use model::plan::LoadScale;
    use model::search::{
        Cause, Maximum, OverloadReason, SearchResult, SearchStep, SearchStopReason, SoakResult,
    };
    use model::stop::StopEvent;
    use model::{Nanos, PerSecond};
    use std::path::Path;

    const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/shop.dyno");

    /// A run whose trials met all objectives.
    fn good_run() -> RunResult {
        let mut result =
            run_result::from_file(Path::new(FIXTURE)).unwrap_or_else(|it| panic!("{:?}", it.message));
        for trial in &mut result.trials {
            trial.objectives.iter_mut().for_each(|it| it.verdict = ObjectiveVerdict::Met);
        }
        result
    }

    fn fail(result: &mut RunResult, trial: usize) {
        result.trials[trial].status = Some(TrialStatus::Failed { reason: "a node ended".into() });
    }

    fn stop(result: &mut RunResult, trial: usize) {
        let event = StopEvent {
            rule: "errors(1,1)".to_owned(),
            cause_second: 0,
            at_second: 1,
            rate_at_cause: PerSecond(1.0),
            tank_rc: None,
        };
        result.trials[trial].status = Some(TrialStatus::Stopped { event });
    }

    fn judge(result: &mut RunResult, trial: usize, verdict: ObjectiveVerdict) {
        result.trials[trial].objectives[0].verdict = verdict;
    }

    fn invalidate(result: &mut RunResult, trial: usize) {
        result.trials[trial].reasons = vec![InvalidReason::Saturated { thread: 0, busy: 1.0 }];
    }

    fn make_step(result: &mut RunResult, trial: usize, purpose: StepPurpose) {
        let (scale, window) = (LoadScale::Rate, Nanos::from_secs(1));
        let step = SearchStep { scale, level: 10.0, purpose, window, perturbation: None, round: 0 };
        result.trials[trial].step = Some(step);
    }

    fn search(result: &mut RunResult, level: Option<f64>) {
        let answer = SearchResult {
            scale: LoadScale::Rate,
            level,
            interval: None,
            delivered: None,
            confirmations: (0, 0),
            overload: None,
            stop_reason: level.is_none().then_some(SearchStopReason::Generator),
            sustained: None,
            failed: None,
            fully_sustained: None,
            trials: 1,
            measured: Nanos::ZERO,
        };
        let (rounds, steps, proofs) = (Vec::new(), Vec::new(), Vec::new());
        let (scalability, cause) = (None, Cause::NotKnown);
        result.maxima.push(Maximum { cell: 0, rounds, answer, steps, scalability, proofs, cause });
    }

    fn soak(result: &mut RunResult, outcome: LevelOutcome) {
        result.soaks.push(SoakResult {
            cell: 0,
            purpose: StepPurpose::Confirm,
            level: 10.0,
            share_of_maximum: None,
            duration: Nanos::ZERO,
            outcome,
            trends: Vec::new(),
        });
    }

    fn fail_over(result: &mut RunResult, conclusion: Option<Conclusion>) {
        result.failovers.push(FailoverResult {
            cell: 0,
            trials: 1,
            failovers: 1,
            conclusion,
            bound: 0.5,
            counts: WriteCounts::default(),
            lost: 0,
            anomalies: Vec::new(),
            doubts: Vec::new(),
            recovery_point: None,
            invariants: Vec::new(),
            outage: None,
            outages: Vec::new(),
            promoted: None,
            healthy: None,
            rejoined: None,
            control: None,
            objectives: Vec::new(),
        });
    }

    fn read(result: &mut RunResult, promised: bool, stale: Option<u64>) {
        let stale = stale.map(|stale| StaleReads { stale, total: 10, interval: (0.0, 0.5) });
        let node = "postgres-2".to_owned();
        let (p50, p90, p99) = (None, None, None);
        result.freshness.push(FreshnessResult {
            cell: 0,
            trials: 1,
            bound: Nanos::ZERO,
            acknowledged: 10,
            promised,
            replicas: vec![ReplicaFreshness { node, stale, unanswered: 0, p50, p90, p99, not_visible: 0 }],
            round_robin: None,
        });
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut RunResult), expected: ExitStatus) {
        let mut result = good_run();
        change(&mut result);
        assert_eq!(exit_status(&result, false), expected);
    }

    #[test]
    fn each_result_has_its_status() {
        use ExitStatus::{Failed, Incomplete, NoAnswer, Success, Violated};
        check(|_| {}, Success);
        check(|it| it.trials.clear(), Failed);
        check(|run| run.trials.iter_mut().for_each(|it| it.tps = None), Failed);
        for state in [RunState::Interrupted, RunState::Failed, RunState::Lost] {
            check(|it| it.info.state = state, Incomplete);
        }
        check(|it| fail(it, 1), Incomplete);
        check(|it| it.trials[0].reasons = vec![InvalidReason::NoSuccess], Incomplete);
        check(|it| stop(it, 1), Violated);
        check(|it| judge(it, 0, ObjectiveVerdict::Violated), Violated);
        check(|it| judge(it, 0, ObjectiveVerdict::Unknown), NoAnswer);
        check(|it| invalidate(it, 0), Success);
        check(|it| search(it, Some(100.0)), Success);
        check(|it| search(it, None), NoAnswer);
        check(|it| soak(it, LevelOutcome::Sustained), Success);
        let behind = OverloadReason::FellBehind { share: 0.5 };
        check(|it| soak(it, LevelOutcome::NotSustained { reason: behind }), Violated);
        let late = SearchStopReason::Generator;
        check(|it| soak(it, LevelOutcome::Invalid { reason: late }), NoAnswer);
        for (conclusion, expected) in [
            (None, Success),
            (Some(Conclusion::Kept), Success),
            (Some(Conclusion::Broken), Violated),
            (Some(Conclusion::Unknown), NoAnswer),
        ] {
            check(|it| fail_over(it, conclusion), expected);
        }
        for (promised, stale, expected) in [
            (true, Some(0), Success),
            (true, Some(1), Violated),
            (true, None, NoAnswer),
            (false, Some(1), Success),
        ] {
            check(|it| read(it, promised, stale), expected);
        }
    }

    #[test]
    fn search_steps_are_judged_by_the_search() {
        let mut result = good_run();
        judge(&mut result, 0, ObjectiveVerdict::Violated);
        judge(&mut result, 1, ObjectiveVerdict::Unknown);
        stop(&mut result, 1);
        result.trials[0].reasons = vec![InvalidReason::NoSuccess];
        for trial in 0..2 {
            make_step(&mut result, trial, StepPurpose::Narrow);
        }
        search(&mut result, Some(100.0));
        assert_eq!(exit_status(&result, true), ExitStatus::Success);
        make_step(&mut result, 0, StepPurpose::Confirm);
        invalidate(&mut result, 0);
        assert_eq!(exit_status(&result, true), ExitStatus::Violated);
    }

    #[test]
    fn the_first_status_of_the_table_wins() {
        let mut result = good_run();
        let mut expect = |change: &dyn Fn(&mut RunResult), expected| {
            change(&mut result);
            assert_eq!(exit_status(&result, true), expected);
        };
        expect(&|it| judge(it, 0, ObjectiveVerdict::Unknown), ExitStatus::NoAnswer);
        expect(&|it| judge(it, 1, ObjectiveVerdict::Violated), ExitStatus::Violated);
        expect(&|it| invalidate(it, 2), ExitStatus::Invalid);
        expect(&|it| fail(it, 3), ExitStatus::Incomplete);
        expect(&|it| it.trials.clear(), ExitStatus::Failed);
    }
}
