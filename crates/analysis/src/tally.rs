//! How did the objectives fare over all trials?

use crate::finding::TrialFacts;
use crate::objective;
use crate::rule::Scene;
use model::objective::{Judged, Tally, Unit, Verdict, Worst};
use model::plan::Experiment;

/// One per text of an objective, in the order of the cells and of their lists. Every trial that was measured counts, also an
/// invalid one: that the generator was late makes no answer faster.
pub fn tally(experiment: &Experiment, trials: &[TrialFacts<'_>]) -> Vec<Tally> {
    let mut all: Vec<Tally> = Vec::new();
    for objective in experiment.cells.iter().flat_map(|it| &it.setup.objectives) {
        if !all.iter().any(|it| it.objective == *objective) {
            let objective = objective.clone();
            all.push(Tally { objective, kept: 0, broken: 0, unknown: 0, worst: None });
        }
    }
    for trial in trials {
        let Some(summary) = trial.summary else { continue };
        let operations = Scene::of(trial.setup).operations;
        for text in &trial.setup.objectives {
            let known = all.iter_mut().find(|it| it.objective == *text);
            let (Some(tally), Ok(objective)) = (known, objective::parse(text, &operations)) else { continue };
            count(tally, trial.cell, objective.judge(summary));
        }
    }
    all
}

fn count(tally: &mut Tally, cell: usize, judged: Judged) {
    match judged.verdict {
        Verdict::Kept => tally.kept += 1,
        Verdict::Broken => tally.broken += 1,
        Verdict::Unknown => tally.unknown += 1,
    }
    let worse = match &tally.worst {
        None => judged.verdict != Verdict::Unknown,
        Some(worst) => badness(&judged) > badness(&worst.judged),
    };
    if worse {
        tally.worst = Some(Worst { cell, judged });
    }
}

/// What was measured by the bound, so that more is worse; 1 is the bound itself. What is broken without a figure is beyond it by who
/// knows how much, so that a figure beyond it tells more.
fn badness(it: &Judged) -> f64 {
    let ratio = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
    match (it.measured, it.verdict) {
        (None, Verdict::Broken) => 1.0,
        (None, _) => f64::NEG_INFINITY,
        (Some(measured), _) if it.unit == Unit::PerSecond => ratio(it.bound, measured),
        (Some(measured), _) => ratio(measured, it.bound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::fixture::{Run, experiment};

    /// `objective kept/broken/unknown, worst cell and figure` over runs of two cells.
    #[track_caller]
    fn check(objectives: &[&[&str]], runs: &[Run], expected: &[&str]) {
        let mut experiment = experiment(&["direct", "pooled"], None);
        for (cell, objectives) in experiment.cells.iter_mut().zip(objectives) {
            cell.setup.objectives = objectives.iter().map(|it| (*it).to_owned()).collect();
        }
        let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
        let line = |it: &Tally| {
            let worst = it.worst.as_ref().map_or("-".to_owned(), |it| {
                let measured = it.judged.measured.map_or("?".to_owned(), |it| format!("{it:.4}"));
                format!("{} {measured}", it.cell)
            });
            format!("{} {}/{}/{}, {worst}", it.objective, it.kept, it.broken, it.unknown)
        };
        assert_eq!(tally(&experiment, &facts).iter().map(line).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn trials_are_counted_and_the_worst_is_named() {
        let run = |cell, repetition, tps| Run::new(cell, repetition).tps(tps);
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
    fn what_was_not_measured_is_not_judged() {
        check(&[&["p99 < 1s"]], &[Run::new(0, 0).without_summary()], &["p99 < 1s 0/0/0, -"]);
        check(&[&["p99.9 < 1s"]], &[Run::new(0, 0)], &["p99.9 < 1s 1/0/0, 0 0.0025"]);
        check(&[&[]], &[Run::new(0, 0)], &[]);
    }
}
