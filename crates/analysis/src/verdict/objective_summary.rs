//! Results of the objectives over all trials

use crate::facts::trial::TrialFacts;
use crate::verdict::rule::RuleContext;
use crate::verdict::{failover_objective, objective};
use model::objective::{ObjectiveResult, ObjectiveSummary, ObjectiveUnit, ObjectiveVerdict, WorstResult};
use model::plan::Experiment;

/// Summaries of the objectives, one for each different text, in the order of the cells and of their lists. Every
/// measured trial counts, including invalid trials, because a late generator makes no response faster.
pub fn objective_summaries(experiment: &Experiment, trials: &[TrialFacts<'_>]) -> Vec<ObjectiveSummary> {
    let mut all: Vec<ObjectiveSummary> = Vec::new();
    for objective in experiment.cells.iter().flat_map(|it| &it.setup.objectives) {
        // Objectives on failovers are judged with the results of their cells.
        if failover_objective::parse(objective).is_none() && !all.iter().any(|it| it.objective == *objective)
        {
            let objective = objective.clone();
            all.push(ObjectiveSummary { objective, met: 0, violated: 0, unknown: 0, worst: None });
        }
    }
    for trial in trials {
        let Some(summary) = trial.summary else { continue };
        let operations = RuleContext::for_setup(trial.setup).operations;
        for text in &trial.setup.objectives {
            let known = all.iter_mut().find(|it| it.objective == *text);
            let (Some(tally), Ok(objective)) = (known, objective::parse(text, &operations)) else { continue };
            count(tally, trial.cell, objective.judge(summary));
        }
    }
    all
}

fn count(tally: &mut ObjectiveSummary, cell: usize, judged: ObjectiveResult) {
    match judged.verdict {
        ObjectiveVerdict::Met => tally.met += 1,
        ObjectiveVerdict::Violated => tally.violated += 1,
        ObjectiveVerdict::Unknown => tally.unknown += 1,
    }
    let worse = match &tally.worst {
        None => judged.verdict != ObjectiveVerdict::Unknown || judged.too_few.is_some(),
        Some(worst) => severity(&judged) > severity(&worst.result),
    };
    if worse {
        tally.worst = Some(WorstResult { cell, result: judged });
    }
}

/// Ratio of the measured value to the bound; a greater ratio is worse. It is inverted if higher values are better. A
/// violation without a measured value ranks below any measured violation.
fn severity(result: &ObjectiveResult) -> f64 {
    let ratio = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
    match (result.measured, result.verdict) {
        (None, ObjectiveVerdict::Violated) => 1.0,
        (None, _) => f64::NEG_INFINITY,
        (Some(measured), _) if result.unit == ObjectiveUnit::PerSecond => ratio(result.bound, measured),
        (Some(measured), _) => ratio(measured, result.bound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::trial::{TestRun, experiment};

    /// Checks summaries of runs of two cells, written as `objective kept/broken/unknown, worst cell and figure`.
    #[track_caller]
    fn check(objectives: &[&[&str]], runs: &[TestRun], expected: &[&str]) {
        let mut experiment = experiment(&["direct", "pooled"], None);
        for (cell, objectives) in experiment.cells.iter_mut().zip(objectives) {
            cell.setup.objectives = objectives.iter().map(|it| (*it).to_owned()).collect();
        }
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let line = |summary: &ObjectiveSummary| {
            let worst = summary.worst.as_ref().map_or("-".to_owned(), |worst| {
                let measured = worst.result.measured.map_or("?".to_owned(), |it| format!("{it:.4}"));
                format!("{} {measured}", worst.cell)
            });
            format!("{} {}/{}/{}, {worst}", summary.objective, summary.met, summary.violated, summary.unknown)
        };
        assert_eq!(objective_summaries(&experiment, &facts).iter().map(line).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn counts_trials_and_names_the_worst() {
        let run = |cell, repetition, tps| TestRun::new(cell, repetition).tps(tps);
        let runs = [run(0, 0, 900.0), run(1, 0, 400.0), run(1, 1, 600.0).invalid()];
        check(
            &[&["tps > 500", "p99 < 1s"], &["tps > 500", "max < 2ms"]],
            &runs,
            &["tps > 500 2/1/0, 1 400.0000", "p99 < 1s 1/0/0, 0 0.0025", "max < 2ms 0/2/0, 1 0.0025"],
        );
        check(
            &[&["errors <= 0%"]],
            &[run(0, 0, 1.0), run(0, 1, 1.0).failed(b"40P01", 20)],
            &["errors <= 0% 1/1/0, 0 0.0020"],
        );
    }

    #[test]
    fn does_not_judge_unmeasured_trials() {
        check(&[&["p99 < 1s"]], &[TestRun::new(0, 0).without_summary()], &["p99 < 1s 0/0/0, -"]);
        check(&[&["p99.9 < 1s"]], &[TestRun::new(0, 0)], &["p99.9 < 1s 1/0/0, 0 0.0025"]);
        check(&[&[]], &[TestRun::new(0, 0)], &[]);
    }
}
