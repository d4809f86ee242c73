//! Results of the steps of one operation over several trials

use super::quantiles::quantiles;
use crate::verdict::summary::merge_failures;
use model::run_result::{OperationStep, PhaseFigures};
use model::{CommandCounts, HistogramSum, Nanos, OperationSecond, PhaseSum, RequestPhase, SparseHistogram};

/// Results of the steps. `names` has the names of the operation's commands; a command without a name is not a step. If
/// `sequential` is true, each execution runs all steps until one fails. `longest` is the longest window.
pub(super) fn step_results(
    names: &[String],
    parts: &[&OperationSecond],
    sequential: bool,
    longest: Nanos,
) -> Vec<OperationStep> {
    let steps = names.iter().enumerate().filter(|(_, name)| !name.is_empty());
    let mut not_reached = 0;
    let result = |(index, (command, name)): (usize, (usize, &String))| {
        let counts: Vec<_> = parts.iter().filter_map(|it| it.statements.get(command)).collect();
        let step = OperationStep {
            number: index as u32 + 1,
            command: command as u16,
            name: name.clone(),
            not_reached: sequential.then_some(not_reached),
            ..step_result(&counts, longest)
        };
        not_reached += step.failed;
        step
    };
    steps.enumerate().map(result).collect()
}

/// Result of one step, without its name and position.
fn step_result(parts: &[&CommandCounts<SparseHistogram>], longest: Nanos) -> OperationStep {
    let sum = |counter: fn(&CommandCounts<SparseHistogram>) -> u64| parts.iter().map(|it| counter(it)).sum();
    let mut times = HistogramSum::new();
    parts.iter().for_each(|it| times.add(&it.service));
    let phase = |phase: RequestPhase| {
        let mut all = PhaseSum::default();
        parts.iter().for_each(|it| all.merge(&it.phases[phase as usize]));
        let mean = Nanos(all.sum.0.checked_div(all.count)?);
        Some(PhaseFigures { phase, count: all.count, mean, max: all.max })
    };
    OperationStep {
        ok: times.count(),
        failed: sum(CommandCounts::failures),
        retries: sum(|it| it.retries),
        response: quantiles(&times, sum(CommandCounts::unanswered), longest),
        failures: merge_failures(parts.iter().map(|it| (&it.failed, &it.unknown))),
        sent_bytes: sum(|it| it.sent),
        received_bytes: sum(|it| it.received),
        phases: RequestPhase::ALL.into_iter().filter_map(phase).collect(),
        ..OperationStep::default()
    }
}
