//! Results of searches, from a run's file alone

use super::stored::{StoredRun, StoredTrial};
use crate::cli::CommandError;
use analysis::explain::{cause, soak};
use analysis::stats::plateau::{self, CellValue};
use analysis::stats::usl;
use analysis::strategy::{search, step_setup};
use model::Summary;
use model::advice::Advice;
use model::finding::Finding;
use model::matrix::{self, Figure, Matrix};
use model::plan::{Confirm, Goal, LoadScale, MaxSearch, Soak, TargetLevel};
use model::search::{
    LevelOutcome, Limit, Maximum, Perturbation, Plateau, Proof, RequiredConnections, Scalability,
    SearchResult, SearchStep, SearchStopReason, SoakResult, StepPurpose, StepResult, Suspect,
};
use std::path::Path;

/// Maximum ratio of a failed step's level to the maximum at which the step still shows the limiter, if there is such a step.
/// Far above the maximum, other resources may also be exhausted.
const EDGE: f64 = 1.35;

/// Maximum of each cell that was searched.
pub fn maxima(reading: &StoredRun) -> Vec<Maximum> {
    let Some(max) = reading.experiment.goal.max_search() else { return Vec::new() };
    let cells = 0..reading.experiment.cells.len();
    cells.filter_map(|cell| maximum(reading, max, cell)).collect()
}

/// Trials from which the cells' figures are computed.
pub fn counted_trials(reading: &StoredRun) -> Vec<&StoredTrial> {
    figure_trials(reading, &maxima(reading))
}

fn maximum(reading: &StoredRun, max: &MaxSearch, cell: usize) -> Option<Maximum> {
    let repeat = reading.experiment.repeat;
    let of_round = |round: u32, nudged: bool| -> Vec<StepResult> {
        let results = search_steps(reading, cell).filter_map(|it| it.step_result.clone());
        results.filter(|it| it.step.round == round && it.step.perturbation.is_some() == nudged).collect()
    };
    let steps: Vec<StepResult> = (0..repeat).flat_map(|it| of_round(it, false)).collect();
    if steps.is_empty() {
        return None;
    }
    let rounds: Vec<SearchResult> = (0..repeat)
        .map(|it| of_round(it, false))
        .filter(|it| !it.is_empty())
        .map(|it| search::answer(max, &it))
        .collect();
    let answer = search::combine(&rounds, reading.experiment.seed);
    let scalability = scalability(max, &steps, reading.experiment.seed);
    let suspects = stored_suspects(reading, cell).unwrap_or_default();
    let proof = |(number, (limit, perturbation)): (usize, (Limit, Perturbation))| -> Option<Proof> {
        let round = repeat + number as u32;
        let (base, changed) = (of_round(round, false), of_round(round, true));
        let max = step_setup::near_level(max, answer.level?);
        (!changed.is_empty())
            .then(|| search::proof(limit, &perturbation, &base, &changed, &max, reading.experiment.seed))
    };
    let mut proofs: Vec<Proof> =
        cause::perturbations(&suspects).into_iter().enumerate().filter_map(proof).collect();
    cause::settle_decreases(&suspects, &mut proofs);
    let cause = cause::cause(&reading.experiment.cells[cell].setup, &suspects, &proofs);
    Some(Maximum { cell, rounds, answer, steps, scalability, proofs, cause })
}

/// Suspects for a cell's maximum, the most likely suspect first. Stored suspects take precedence, because perturbed
/// suspects must not change when the run is read again. The flag is true if the suspects were stored in the run file.
pub fn suspected(path: &Path, cell: usize) -> Result<(Vec<Suspect>, bool), CommandError> {
    let reading = StoredRun::from_file(path)?;
    if let Some(known) = stored_suspects(&reading, cell) {
        return Ok((known, true));
    }
    let account = super::from_file(path)?;
    let maximum = account.maxima.iter().find(|it| it.cell == cell);
    let steps = maximum.map_or(&[][..], |it| &it.steps);
    Ok((suspects(&reading, cell, &account.findings, &account.advice, steps), false))
}

fn suspects(
    reading: &StoredRun,
    cell: usize,
    findings: &[Finding],
    advice: &[Advice],
    steps: &[StepResult],
) -> Vec<Suspect> {
    let setup = &reading.experiment.cells[cell].setup;
    let found = cause::suspects(setup, cell, findings, steps, reading.processors.unwrap_or(1.0));
    cause::with_indexes(found, cell, advice, &setup.load)
}

/// Adds suspects to the maxima of cells without a perturbation. For a cell without a maximum, they are derived from the
/// lowest overloaded level.
pub fn add_suspects(reading: &StoredRun, maxima: &mut [Maximum], findings: &[Finding], advice: &[Advice]) {
    let is_measured = |it: &&mut Maximum| it.answer.level.is_some() || lowest_overload(&it.steps).is_some();
    for maximum in maxima.iter_mut().filter(is_measured) {
        if stored_suspects(reading, maximum.cell).is_none() {
            let setup = &reading.experiment.cells[maximum.cell].setup;
            let suspects = suspects(reading, maximum.cell, findings, advice, &maximum.steps);
            maximum.cause = cause::cause(setup, &suspects, &maximum.proofs);
        }
    }
}

fn stored_suspects(reading: &StoredRun, cell: usize) -> Option<Vec<Suspect>> {
    reading.suspects.iter().find(|it| it.cell == cell).map(|it| it.suspects.clone())
}

/// Steps of a cell's searches.
fn search_steps(reading: &StoredRun, cell: usize) -> impl Iterator<Item = &StoredTrial> {
    let of_search = |trial: &&StoredTrial| {
        trial.step.as_ref().is_some_and(|it| !matches!(it.purpose, StepPurpose::Confirm | StepPurpose::Soak))
    };
    reading.trials.iter().filter(move |it| it.recorded.trial.cell as usize == cell).filter(of_search)
}

/// Trials from which the cells' figures are computed; after a search, the long trials at the resulting level.
pub fn figure_trials<'a>(reading: &'a StoredRun, maxima: &[Maximum]) -> Vec<&'a StoredTrial> {
    let held = match &reading.experiment.goal {
        Goal::Once | Goal::Failover => return reading.ended(),
        Goal::Confirm(_) => StepPurpose::Confirm,
        Goal::Soak(_) => StepPurpose::Soak,
        Goal::Max(_) | Goal::Sweep(_) => StepPurpose::Hold,
    };
    let counts = |trial: &StoredTrial| {
        let Some(step) = &trial.step else { return true };
        let cell = trial.recorded.trial.cell as usize;
        let of_cell = maxima.iter().find(|it| it.cell == cell);
        let at_answer =
            || of_cell.is_some_and(|maximum| maximum.rounds.iter().any(|it| it.level == Some(step.level)));
        step.purpose == held && step.perturbation.is_none() && (held != StepPurpose::Hold || at_answer())
    };
    reading.ended().into_iter().filter(|it| counts(it)).collect()
}

/// Lowest level that overloaded the stack or the clients.
fn lowest_overload(steps: &[StepResult]) -> Option<f64> {
    let failed = |result: &&StepResult| {
        matches!(
            result.outcome,
            LevelOutcome::NotSustained { .. }
                | LevelOutcome::Invalid { reason: SearchStopReason::ClientCap { .. } }
        )
    };
    steps.iter().filter(failed).map(|it| it.step.level).min_by(f64::total_cmp)
}

/// Trials that show the limiters. After a search, these are the trials slightly above the maximum. Without such a trial, or
/// without a maximum, they are the trials at the lowest overloaded level.
pub fn bottleneck_trials<'a>(reading: &'a StoredRun, maxima: &[Maximum]) -> Vec<&'a StoredTrial> {
    if reading.experiment.goal.max_search().is_none() {
        return reading.ended();
    }
    let of_cell = |cell: usize| maxima.iter().find(|it| it.cell == cell);
    let beyond = |trial: &StoredTrial| {
        let of_cell = of_cell(trial.recorded.trial.cell as usize);
        trial.step_result.as_ref().zip(of_cell).is_some_and(|(result, maximum)| {
            result.step.perturbation.is_none() && shows_bottleneck(result, maximum)
        })
    };
    let has_bottleneck =
        |cell: usize| reading.trials.iter().any(|it| it.recorded.trial.cell as usize == cell && beyond(it));
    let cells: Vec<bool> = (0..reading.experiment.cells.len()).map(has_bottleneck).collect();
    let is_relevant = |trial: &&StoredTrial| {
        let plain = trial.step.as_ref().is_none_or(|it| it.perturbation.is_none());
        if cells[trial.recorded.trial.cell as usize] { beyond(trial) } else { plain }
    };
    reading.ended().into_iter().filter(is_relevant).collect()
}

/// True if a step shows the limiter of its cell.
fn shows_bottleneck(result: &StepResult, maximum: &Maximum) -> bool {
    let is_near = |result: &StepResult| {
        maximum.answer.level.is_some_and(|level| result.step.level <= level * EDGE)
            && matches!(result.outcome, LevelOutcome::NotSustained { .. })
    };
    if maximum.steps.iter().any(is_near) {
        return is_near(result);
    }
    lowest_overload(&maximum.steps) == Some(result.step.level) && result.outcome != LevelOutcome::Sustained
}

/// Fit of throughput against clients; `None` if the search varies the rate.
fn scalability(max: &MaxSearch, steps: &[StepResult], seed: u64) -> Option<Scalability> {
    let counts =
        |it: &&StepResult| !matches!(it.outcome, LevelOutcome::Invalid { .. }) && it.delivered.0 > 0.0;
    let points = steps.iter().filter(counts).map(|it| (it.step.level, it.delivered.0));
    (max.scale == LoadScale::Clients).then(|| usl::scalability(&points.collect::<Vec<_>>(), seed)).flatten()
}

/// Results of the levels that were held for a long time.
pub fn soak_results(reading: &StoredRun, maxima: &[Maximum]) -> Vec<SoakResult> {
    let known = match &reading.experiment.goal {
        Goal::Confirm(Confirm { level: TargetLevel::Absolute { maximum, .. }, .. })
        | Goal::Soak(Soak { level: TargetLevel::Absolute { maximum, .. }, .. }) => *maximum,
        _ => None,
    };
    let of_trial = |trial: &StoredTrial| {
        let (step, result) = (trial.step.as_ref()?, trial.step_result.as_ref()?);
        let cell = trial.recorded.trial.cell as usize;
        let found = maxima.iter().find(|it| it.cell == cell).and_then(|it| it.answer.level);
        let SearchStep { purpose: stage, level, window, .. } = *step;
        matches!(stage, StepPurpose::Confirm | StepPurpose::Soak).then(|| {
            let (outcome, trends) = (result.outcome.clone(), trial.trends.clone());
            soak::endurance(cell, stage, level, found.or(known), window, outcome, trends)
        })
    };
    reading.trials.iter().filter_map(of_trial).collect()
}

/// Plateau of a sweep; `None` for other goals. `matrix` belongs to the same run.
pub fn plateau(reading: &StoredRun, maxima: &[Maximum], matrix: &Matrix) -> Option<Plateau> {
    let Goal::Sweep(sweep) = &reading.experiment.goal else { return None };
    let cells = &reading.experiment.cells;
    let labels: Vec<_> = cells.iter().map(|it| it.label.clone()).collect();
    let of_answer = |answer: &SearchResult| match answer.level {
        Some(value) => CellValue::Answer { value, interval: answer.interval },
        None => CellValue::Missing,
    };
    let searched = |cell: usize| {
        let Some(maximum) = maxima.iter().find(|it| it.cell == cell) else { return CellValue::Missing };
        let runs: Vec<f64> = maximum.rounds.iter().filter_map(|it| it.level).collect();
        if runs.len() > 1 { CellValue::Runs(runs) } else { of_answer(&maximum.answer) }
    };
    // In a closed model, compare throughput instead of latency, because the number of clients determines latency.
    let closed = cells.iter().all(|it| !it.setup.load.model.is_open());
    let measured = |cell: usize| {
        let ended = reading.ended().into_iter().filter(|it| it.recorded.trial.cell as usize == cell);
        let valid = ended.filter_map(|trial| trial.summary.as_ref().filter(|it| it.validity.valid));
        let figure = |summary: &Summary| match closed {
            true => Some(summary.total.tps.0),
            false => Some(summary.total.response.p99?.as_secs_f64()),
        };
        CellValue::Runs(valid.filter_map(figure).collect())
    };
    let known: Vec<CellValue> = (0..cells.len())
        .map(|cell| if sweep.max.is_some() { searched(cell) } else { measured(cell) })
        .collect();
    let more = sweep.max.is_some() || closed;
    let needs = required_connections(reading, matrix);
    plateau::plateau(&labels, &known, more, needs, reading.experiment.seed)
}

/// Number of connections that the cell with the highest throughput requires, by Little's law. The inputs are the cell's
/// throughput and its execution times in PostgreSQL.
fn required_connections(reading: &StoredRun, matrix: &Matrix) -> Option<RequiredConnections> {
    let tps = |row: &matrix::Row| row.estimate(Figure::Tps).map(|it| it.median);
    let (cell, rate) = matrix
        .rows
        .iter()
        .enumerate()
        .filter_map(|(cell, row)| Some((cell, tps(row)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let of_cell = reading.ended().into_iter().filter(|it| it.recorded.trial.cell as usize == cell);
    let counting: Vec<&StoredTrial> = of_cell.collect();
    let called: Vec<&_> = counting.iter().map(|it| &it.statements).collect();
    let window = counting.iter().filter_map(|it| it.summary.as_ref()).map(|it| it.window.as_secs_f64());
    let window = window.sum::<f64>() / counting.len() as f64;
    // Total execution time of all statements within a window.
    let total: f64 =
        analysis::present::run_result::statements(&called).iter().map(|it| it.total / it.share).next()?;
    let server = &reading.experiment.cells[cell].setup.stack.nodes.last()?.limits;
    let pinned = (!server.cpus.is_empty()).then_some(server.cpus.len() as f64);
    let processors = [server.cpu, pinned, reading.processors].into_iter().flatten().reduce(f64::min)?;
    plateau::required_connections(rate, total / window / rate, processors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::search::OverloadReason;
    use model::{Nanos, PerSecond};

    /// Result of a step. `held` is true if the level was sustained, or the reason why the step is invalid.
    fn step_result(level: f64, held: Result<bool, SearchStopReason>) -> StepResult {
        let step = SearchStep {
            scale: LoadScale::Rate,
            level,
            purpose: StepPurpose::Ramp,
            window: Nanos::from_secs(20),
            perturbation: None,
            round: 0,
        };
        let outcome = match held {
            Ok(true) => LevelOutcome::Sustained,
            Ok(false) => LevelOutcome::NotSustained { reason: OverloadReason::FellBehind { share: 0.5 } },
            Err(reason) => LevelOutcome::Invalid { reason },
        };
        StepResult {
            step,
            outcome,
            delivered: PerSecond(level),
            p95: None,
            p99: None,
            mean: None,
            time_objectives: Vec::new(),
        }
    }

    #[test]
    fn reads_suspects_of_older_runs() {
        let limit: Limit =
            serde_json::from_str(r#"{"kind":"slots","node":"postgres"}"#).expect("a limit of an older run");
        assert_eq!(
            limit,
            Limit::Slots { node: "postgres".to_owned(), limit: model::finding::ConnectionLimit::Server }
        );
    }

    #[test]
    fn bottleneck_trials_without_an_answer_are_the_lowest_overloads() {
        let cap = || Err(SearchStopReason::ClientCap { clients: 4 });
        let level = |it: &StepResult| it.step.level;
        for (answer_level, steps, expected) in [
            // With a maximum, the levels slightly above it are selected.
            (
                Some(100.0),
                vec![
                    step_result(100.0, Ok(true)),
                    step_result(120.0, Ok(false)),
                    step_result(200.0, Ok(false)),
                ],
                vec![120.0],
            ),
            // If there is no such level, the lowest overloaded one is selected.
            (Some(100.0), vec![step_result(100.0, Ok(true)), step_result(150.0, cap())], vec![150.0]),
            // Without a maximum, the lowest overloaded level is selected, however high it is. Levels that overload the
            // clients count too.
            (
                None,
                vec![
                    step_result(50.0, Ok(true)),
                    step_result(400.0, Ok(false)),
                    step_result(200.0, Ok(false)),
                ],
                vec![200.0],
            ),
            (
                None,
                vec![step_result(50.0, Ok(true)), step_result(100.0, cap()), step_result(100.0, cap())],
                vec![100.0, 100.0],
            ),
            // An invalid measurement shows nothing about the system.
            (
                None,
                vec![step_result(50.0, Ok(true)), step_result(100.0, Err(SearchStopReason::Generator))],
                vec![],
            ),
            (None, vec![step_result(50.0, Ok(true))], vec![]),
        ] {
            let mut answer = search::answer(&MaxSearch::DEFAULT, &[]);
            answer.level = answer_level;
            let (rounds, proofs) = (Vec::new(), Vec::new());
            let cause = model::search::Cause::NotKnown;
            let maximum = Maximum { cell: 0, rounds, answer, steps, scalability: None, proofs, cause };
            let actual: Vec<f64> =
                maximum.steps.iter().filter(|step| shows_bottleneck(step, &maximum)).map(level).collect();
            assert_eq!(actual, expected, "{:?}", maximum.steps);
        }
    }
}
