//! Result of a run, computed from its file alone

mod fact_set;
pub mod index_advice;
mod search_results;
pub mod stored;

pub use search_results::{counted_trials, suspected};

use crate::cli::CommandError;
use analysis::facts::TrialFacts;
use analysis::present::run_result::{FaultPhaseSum, StageSum, Statements, TrialPart, TrialPassage};
use analysis::verdict::objective;
use analysis::verdict::rule::RuleContext;
use model::copied_data::CopiedData;
use model::fault_injection::FailoverResult;
use model::freshness::FreshnessResult;
use model::matrix;
use model::objective::ObjectiveResult;
use model::plan::{Experiment, Node};
use model::run_result::{
    CellResult, Environment, NodeInfo, OperationResult, RunInfo, RunResult, RunState, TrialResult,
};
use model::table_sizes::TableGrowth;
use model::{Nanos, StepFailure};
use serde_json::Value;
use std::path::Path;
use store::{RunStatus, State};
use stored::{StoredRun, StoredTrial};

/// Reads a run's file. If the run is not finished, the result covers the trials so far.
pub fn from_file(path: &Path) -> Result<RunResult, CommandError> {
    let reading = StoredRun::from_file(path)?;
    let mut maxima = search_results::maxima(&reading);
    let counting = search_results::figure_trials(&reading, &maxima);
    let facts = stored::facts(&counting);
    let matrix = analysis::present::matrix::matrix(&reading.experiment, &facts);
    let bottlenecks = stored::facts(&search_results::bottleneck_trials(&reading, &maxima));
    let findings = analysis::explain::finding::findings(&reading.experiment, &bottlenecks);
    let endured = search_results::soak_results(&reading, &maxima);
    let plateau = search_results::plateau(&reading, &maxima, &matrix);
    let info = run_info(path, &reading);
    let run_environment = environment(&reading);
    let cells: Vec<CellResult> =
        (0..reading.experiment.cells.len()).map(|it| cell(&reading, &facts, &counting, it)).collect();
    let freshness = freshness(&reading, &counting);
    let tables = table_growths(&reading);
    let ended = stored::facts(&reading.ended());
    let logs = analysis::present::run_result::logs(&ended);
    let states = analysis::present::run_result::states(&ended);
    let advice = index_advice::advice(&reading, &cells);
    search_results::add_suspects(&reading, &mut maxima, &findings, &advice);
    let StoredRun { experiment, trials, .. } = reading;
    let trials: Vec<TrialResult> = trials.into_iter().map(|it| trial(&experiment, it)).collect();
    let survivals = survivals(&experiment, &trials);
    Ok(RunResult {
        info,
        experiment,
        matrix,
        findings,
        cells,
        trials,
        environment: run_environment,
        maxima,
        soaks: endured,
        plateau,
        failovers: survivals,
        freshness,
        tables,
        logs,
        states,
        advice,
    })
}

fn survivals(experiment: &Experiment, trials: &[TrialResult]) -> Vec<FailoverResult> {
    let injections = trials.iter().filter_map(|it| Some((it.cell, it.fault_injection.as_ref()?)));
    analysis::durability::survival::all_cells(experiment, &injections.collect::<Vec<_>>())
}

/// Freshness of the replicas, from the `ended` trials that measured it.
fn freshness(reading: &StoredRun, ended: &[&StoredTrial]) -> Vec<FreshnessResult> {
    let measured =
        ended.iter().filter_map(|it| Some((it.recorded.trial.cell as usize, it.freshness.as_ref()?)));
    analysis::durability::freshness::all_cells(&reading.experiment, &measured.collect::<Vec<_>>())
}

/// Growth of the dataset's tables, from all trials that have ended.
fn table_growths(reading: &StoredRun) -> Vec<TableGrowth> {
    let sizes = reading.ended().into_iter();
    let sizes = sizes.map(|it| (it.recorded.trial.cell as usize, it.table_sizes.as_slice()));
    analysis::present::run_result::table_growths(sizes)
}

/// Result of one cell. `facts[i]` describes `ended[i]`.
fn cell(reading: &StoredRun, facts: &[TrialFacts<'_>], ended: &[&StoredTrial], number: usize) -> CellResult {
    let counted = || facts.iter().zip(ended).filter(|(it, _)| it.cell == number && it.valid().is_some());
    let setup = &reading.experiment.cells[number].setup;
    let window = |facts: &TrialFacts<'_>| facts.summary.map_or(Nanos::ZERO, |it| it.window);
    let parts: Vec<TrialPart<'_>> =
        counted().map(|(facts, it)| TrialPart { sum: &it.whole, window: window(facts) }).collect();
    let passages: Vec<TrialPassage<'_>> =
        counted().map(|(facts, it)| TrialPassage { facts, late: it.late }).collect();
    let called: Vec<&Statements> = counted().map(|(_, it)| &it.statements).collect();
    let steps: Vec<Vec<String>> = counted().next().map_or(Vec::new(), |(_, trial)| {
        trial.recorded.trial.operations.iter().map(|it| it.commands.clone()).collect()
    });
    let (mut total, operations) =
        analysis::present::run_result::operation_results(setup, &steps, &parts).unzip();
    let mut operations: Vec<OperationResult> = operations.unwrap_or_default();
    let find_message = |code: &str| {
        ended
            .iter()
            .filter(|it| it.recorded.trial.cell as usize == number)
            .find_map(|it| it.messages.find(code))
    };
    let failures =
        total.iter_mut().chain(&mut operations).flat_map(|it: &mut OperationResult| &mut it.failures);
    failures.for_each(|it| it.message = find_message(&it.code));
    let examples: Vec<&StepFailure> = counted().flat_map(|(_, it)| &it.step_failures).collect();
    operations.iter_mut().for_each(|it| set_step_examples(it, &examples));
    let by_stage: Vec<&[StageSum]> = counted().map(|(_, it)| it.stages.as_slice()).collect();
    let stages = analysis::present::run_result::stage_results(&stored::stages(setup), &by_stage);
    let by_phase: Vec<&[FaultPhaseSum; 3]> =
        counted().filter_map(|(_, it)| it.fault_phases.as_ref()).collect();
    let connects = counted().filter_map(|(facts, _)| Some(facts.summary?.connects.initial));
    let hops = analysis::present::run_result::hops(setup, reading.processors, &passages);
    CellResult {
        total,
        operations,
        initial_connects: analysis::present::run_result::initial_connects(connects),
        stage_break: analysis::present::run_result::stage_break(&stages),
        stages,
        fault_phases: analysis::present::run_result::fault_phase_results(&by_phase),
        time_parts: analysis::present::run_result::time_parts(setup, &passages, &hops),
        hops,
        replicas: analysis::present::run_result::replicas(setup, reading.processors, &passages),
        statements: analysis::present::run_result::statements(&called),
    }
}

/// Sets message and body of the failures of an operation's steps.
fn set_step_examples(operation: &mut OperationResult, examples: &[&StepFailure]) {
    for step in &mut operation.steps {
        let place = (&operation.name, step.command);
        let of_step = || examples.iter().filter(move |it| (&it.operation, it.command) == place);
        for failure in &mut step.failures {
            if let Some(example) = of_step().find(|it| it.code == failure.code) {
                failure.message = Some(example.message.clone()).filter(|it| !it.is_empty());
                failure.body.clone_from(&example.body);
            }
        }
    }
}

fn run_info(path: &Path, reading: &StoredRun) -> RunInfo {
    let (state, ended_ms, reason) = match &reading.state {
        State::Running => (RunState::Running, None, None),
        State::Lost => (RunState::Lost, None, None),
        State::Ended(outcome) => {
            let reason = stored::stored_reason(outcome, reading.reason.clone());
            (run_state(outcome.status), Some(outcome.ended_ms), reason)
        }
    };
    let header = &reading.header;
    RunInfo {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        started_ms: header.begun_ms,
        ended_ms,
        state,
        reason,
        seed: header.seed,
        pgdyno_version: header.pgdyno_version.clone(),
        // Older runs do not contain the command, but their experiment file had the name of the experiment.
        command: reading.command.clone().unwrap_or_else(|| format!("pgdyno run {}.yaml", header.name)),
        text: header.text.clone(),
    }
}

fn run_state(status: RunStatus) -> RunState {
    match status {
        RunStatus::Complete => RunState::Complete,
        RunStatus::Interrupted => RunState::Interrupted,
        RunStatus::Stopped => RunState::Stopped,
        RunStatus::Failed => RunState::Failed,
        RunStatus::Skipped => RunState::Skipped,
    }
}

fn trial(experiment: &Experiment, stored: StoredTrial) -> TrialResult {
    let StoredTrial {
        recorded, step, status, fired, summary, charts, fault_injection, notes, agents, ..
    } = stored;
    let (id, cell) = (recorded.id, recorded.trial.cell as usize);
    let validity = summary.as_ref().map(|it| it.validity.clone()).unwrap_or_default();
    let ended = matches!(status, Some(matrix::TrialStatus::Done | matrix::TrialStatus::Stopped { .. }));
    let succeeded = summary.as_ref().is_some_and(|it| it.total.counts.ok > 0);
    // A search level may overload the system, so a trial without success still counts.
    let counts = ended && validity.valid && (succeeded || (step.is_some() && summary.is_some()));
    let context = RuleContext::for_setup(&experiment.cells[cell].setup);
    let judge = |text: &String| -> Option<ObjectiveResult> {
        Some(objective::parse(text, &context.operations).ok()?.judge(summary.as_ref()?))
    };
    TrialResult {
        id: id.0,
        cell,
        repetition: recorded.trial.repetition,
        step,
        started_ms: recorded.trial.begun_ms,
        status,
        valid: counts,
        reasons: validity.reasons,
        doubts: validity.doubts,
        stop: fired,
        objectives: experiment.cells[cell].setup.objectives.iter().filter_map(judge).collect(),
        tps: summary.as_ref().map(|it| it.total.tps),
        p99: summary.as_ref().and_then(|it| it.total.response.p99),
        errors: summary.as_ref().and_then(|it| it.total.counts.error_share()),
        fault_injection,
        charts,
        notes,
        agents,
    }
}

/// Machine, and every node of the trials. A node that was restarted from the same plan is listed once, because only its
/// ports and directories differ.
pub fn environment(reading: &StoredRun) -> Environment {
    let mut nodes: Vec<NodeInfo> = Vec::new();
    let mut plans: Vec<Option<&Node>> = Vec::new();
    for trial in &reading.trials {
        let cell = trial.recorded.trial.cell as usize;
        for node in &trial.recorded.trial.nodes {
            let plan =
                reading.experiment.cells[cell].setup.stack.nodes.iter().find(|it| it.name == node.name);
            let same = |(known, planned): (&NodeInfo, &Option<&Node>)| {
                *planned == plan
                    && (&known.name, &known.version, &known.program)
                        == (&node.name, &node.version, &node.program)
                    && known.unapplied_limits == node.unapplied_limits
            };
            let known = nodes.iter().zip(&plans).position(same).unwrap_or_else(|| {
                nodes.push(node_info(node));
                plans.push(plan);
                nodes.len() - 1
            });
            if !nodes[known].cells.contains(&cell) {
                nodes[known].cells.push(cell);
            }
        }
    }
    nodes.iter_mut().for_each(|it| it.cells.sort_unstable());
    let machine = match &reading.header.machine {
        Value::Object(all) => {
            all.iter().filter_map(|(key, it)| Some((key.clone(), value_text(it)?))).collect()
        }
        _ => Vec::new(),
    };
    Environment { machine, nodes, copied_data: copied_data(reading) }
}

/// Data that the trials found copied from a database, without repetitions.
fn copied_data(reading: &StoredRun) -> Vec<(Vec<usize>, CopiedData)> {
    let mut all: Vec<(Vec<usize>, CopiedData)> = Vec::new();
    for trial in &reading.trials {
        let Some(data) = &trial.copied_data else { continue };
        let cell = trial.recorded.trial.cell as usize;
        match all.iter_mut().find(|it| it.1 == *data) {
            Some((cells, _)) if cells.contains(&cell) => {}
            Some((cells, _)) => cells.push(cell),
            None => all.push((vec![cell], data.clone())),
        }
    }
    all
}

fn node_info(node: &store::NodeRecord) -> NodeInfo {
    NodeInfo {
        name: node.name.clone(),
        kind: node.kind.clone(),
        version: node.version.clone(),
        program: node.program.clone(),
        transport: node.transport.clone(),
        limits: node.limits.clone(),
        unapplied_limits: node.unapplied_limits.clone(),
        cells: Vec::new(),
        configuration: node.configuration.iter().map(|it| (it.name.clone(), it.text.clone())).collect(),
    }
}

/// Scalar value as text. Nested values stay JSON; `null` yields `None`.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(it) => Some(it.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests;
