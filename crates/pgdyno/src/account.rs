//! What is there to be told of a run, from its file alone?

pub mod advised;
mod searched;
pub mod stored;

pub use searched::{counting, suspected};

use crate::run::result::{BUILT, COMMAND, FEED, FIRED, FRESHNESS, MONITORING, ORDEAL, OUTAGES, PLANS, STEP};
use crate::voice::Trouble;
use analysis::account::{Part, Passage, Statements};
use analysis::finding::TrialFacts;
use analysis::objective;
use analysis::rule::Scene;
use model::Nanos;
use model::account::{About, Account, Brought, CellAccount, NodeAccount, RunState, Stand, TrialAccount};
use model::freshness::{Freshness, Staleness};
use model::matrix;
use model::objective::Judged;
use model::ordeal::{Ordeal, Survival};
use model::plan::{Experiment, Limits, Node};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use store::{State, Status, TrialId};
use stored::{Reading, Stored};

/// Subjects of notes that are told elsewhere in the account.
const TOLD: [&str; 11] =
    [BUILT, COMMAND, FEED, FIRED, FRESHNESS, MONITORING, ORDEAL, OUTAGES, PLANS, STEP, "objective"];

/// Reads the run's file. It may be still growing: then the account is of what there is so far.
pub fn of(path: &Path) -> Result<Account, Trouble> {
    let reading = Reading::of(path)?;
    let mut maxima = searched::maxima(&reading);
    let counting = searched::figures(&reading, &maxima);
    let facts = stored::facts(&counting);
    let matrix = analysis::matrix::matrix(&reading.experiment, &facts);
    let telling = stored::facts(&searched::telling(&reading, &maxima));
    let findings = analysis::finding::findings(&reading.experiment, &telling);
    let endured = searched::endured(&reading, &maxima);
    let plateau = searched::plateau(&reading, &maxima, &matrix);
    let about = about(path, &reading);
    let stand = stand(&reading);
    let cells: Vec<CellAccount> =
        (0..reading.experiment.cells.len()).map(|it| cell(&reading, &facts, &counting, it)).collect();
    let freshness = freshness(&reading, &counting);
    let advice = advised::advice(&reading, &cells);
    searched::suspect(&reading, &mut maxima, &findings, &advice);
    let Reading { experiment, notes, trials, .. } = reading;
    let trials: Vec<TrialAccount> = trials.into_iter().map(|it| trial(&experiment, &notes, it)).collect();
    let survivals = survivals(&experiment, &trials);
    Ok(Account {
        about,
        experiment,
        matrix,
        findings,
        cells,
        trials,
        stand,
        maxima,
        endured,
        plateau,
        survivals,
        freshness,
        advice,
    })
}

fn survivals(experiment: &Experiment, trials: &[TrialAccount]) -> Vec<Survival> {
    let ordeals = trials.iter().filter_map(|it| Some((it.cell, it.ordeal.as_ref()?)));
    analysis::survival::all(experiment, &ordeals.collect::<Vec<_>>())
}

/// Of `ended`, those of whose replicas something is known.
fn freshness(reading: &Reading, ended: &[&Stored]) -> Vec<Staleness> {
    let of = |id: TrialId| -> Option<Freshness> {
        let note = reading.notes.iter().find(|it| it.trial == Some(id) && it.subject == FRESHNESS)?;
        serde_json::from_str(&note.text).ok()
    };
    let known = ended.iter().filter_map(|it| Some((it.recorded.trial.cell as usize, of(it.recorded.id)?)));
    let known: Vec<(usize, Freshness)> = known.collect();
    let known: Vec<(usize, &Freshness)> = known.iter().map(|(cell, it)| (*cell, it)).collect();
    analysis::freshness::all(&reading.experiment, &known)
}

/// What one cell brought. `facts`: of `ended`, one by one.
fn cell(reading: &Reading, facts: &[TrialFacts<'_>], ended: &[&Stored], number: usize) -> CellAccount {
    let its = || facts.iter().zip(ended).filter(|(it, _)| it.cell == number && it.valid().is_some());
    let setup = &reading.experiment.cells[number].setup;
    let window = |it: &TrialFacts<'_>| it.summary.map_or(Nanos::ZERO, |it| it.window);
    let parts: Vec<Part<'_>> =
        its().map(|(facts, it)| Part { whole: &it.whole, window: window(facts) }).collect();
    let passages: Vec<Passage<'_>> = its().map(|(facts, it)| Passage { facts, late: it.late }).collect();
    let called: Vec<&Statements> = its().map(|(_, it)| &it.statements).collect();
    let (mut total, operations) = analysis::account::brought(setup, &parts).unzip();
    let mut operations: Vec<Brought> = operations.unwrap_or_default();
    let said = |code: &str| {
        ended
            .iter()
            .filter(|it| it.recorded.trial.cell as usize == number)
            .find_map(|it| it.messages.of(code))
    };
    let failures = total.iter_mut().chain(&mut operations).flat_map(|it: &mut Brought| &mut it.failures);
    failures.for_each(|it| it.message = said(&it.code));
    CellAccount {
        total,
        operations,
        hops: analysis::account::hops(setup, reading.processors, &passages),
        replicas: analysis::account::replicas(setup, reading.processors, &passages),
        statements: analysis::account::statements(&called),
    }
}

fn about(path: &Path, reading: &Reading) -> About {
    let (state, ended_ms, reason) = match &reading.state {
        State::Running => (RunState::Running, None, None),
        State::Lost => (RunState::Lost, None, None),
        State::Ended(it) => (run_state(it.status), Some(it.ended_ms), it.reason.clone()),
    };
    let header = &reading.header;
    let command = reading.notes.iter().find(|it| it.trial.is_none() && it.subject == COMMAND);
    About {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        begun_ms: header.begun_ms,
        ended_ms,
        state,
        reason,
        seed: header.seed,
        program: header.program.clone(),
        // Those that came before it was kept were made from a file of the experiment's name.
        command: command.map_or_else(|| format!("pgdyno run {}.yaml", header.name), |it| it.text.clone()),
        text: header.text.clone(),
    }
}

fn run_state(it: Status) -> RunState {
    match it {
        Status::Complete => RunState::Complete,
        Status::Interrupted => RunState::Interrupted,
        Status::Stopped => RunState::Stopped,
        Status::Failed => RunState::Failed,
        Status::Skipped => RunState::Skipped,
    }
}

fn trial(experiment: &Experiment, notes: &[store::Note], it: Stored) -> TrialAccount {
    let Stored { recorded, step, status, fired, summary, charts, .. } = it;
    let (id, cell) = (recorded.id, recorded.trial.cell as usize);
    let of_trial = notes.iter().filter(|it| it.trial == Some(id) && !TOLD.contains(&it.subject.as_str()));
    let validity = summary.as_ref().map(|it| it.validity.clone()).unwrap_or_default();
    let ended = matches!(status, Some(matrix::Status::Done | matrix::Status::Stopped { .. }));
    let succeeded = summary.as_ref().is_some_and(|it| it.total.counts.ok > 0);
    // A level of a search may be too much for a system.
    let counts = ended && validity.valid && (succeeded || (step.is_some() && summary.is_some()));
    let scene = Scene::of(&experiment.cells[cell].setup);
    let judge = |text: &String| -> Option<Judged> {
        Some(objective::parse(text, &scene.operations).ok()?.judge(summary.as_ref()?))
    };
    TrialAccount {
        id: id.0,
        cell,
        repetition: recorded.trial.repetition,
        step,
        begun_ms: recorded.trial.begun_ms,
        status,
        valid: counts,
        reasons: validity.reasons,
        doubts: validity.doubts,
        fired,
        judged: experiment.cells[cell].setup.objectives.iter().filter_map(judge).collect(),
        tps: summary.as_ref().map(|it| it.total.tps),
        p99: summary.as_ref().and_then(|it| it.total.response.p99),
        ordeal: ordeal(notes, id),
        charts,
        notes: of_trial.map(|it| (it.subject.clone(), it.text.clone())).collect(),
    }
}

/// What was done to a trial's system on purpose, and what came of it.
fn ordeal(notes: &[store::Note], trial: TrialId) -> Option<Ordeal> {
    let note = notes.iter().find(|it| it.trial == Some(trial) && it.subject == ORDEAL)?;
    serde_json::from_str(&note.text).ok()
}

/// The machine, and every node that a trial had. One that was started anew from the same plan is the same: only ports and
/// directories differ in its configuration.
pub fn stand(reading: &Reading) -> Stand {
    let mut nodes: Vec<NodeAccount> = Vec::new();
    let mut plans: Vec<Option<&Node>> = Vec::new();
    for it in &reading.trials {
        let cell = it.recorded.trial.cell as usize;
        for node in &it.recorded.trial.nodes {
            let plan =
                reading.experiment.cells[cell].setup.stack.nodes.iter().find(|it| it.name == node.name);
            let same = |(known, planned): (&NodeAccount, &Option<&Node>)| {
                *planned == plan
                    && (&known.name, &known.version, &known.program)
                        == (&node.name, &node.version, &node.program)
                    && known.not_applied == node.not_applied
            };
            let known = nodes.iter().zip(&plans).position(same).unwrap_or_else(|| {
                nodes.push(account_of(node));
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
        Value::Object(all) => all.iter().filter_map(|(key, it)| Some((key.clone(), told(it)?))).collect(),
        _ => Vec::new(),
    };
    Stand { machine, nodes }
}

fn account_of(it: &store::Node) -> NodeAccount {
    NodeAccount {
        name: it.name.clone(),
        kind: it.kind.clone(),
        version: it.version.clone(),
        program: it.program.clone(),
        entrance: it.entrance.clone(),
        limits: Limits::deserialize(&it.limits).unwrap_or_default(),
        not_applied: it.not_applied.clone(),
        cells: Vec::new(),
        configuration: it.configuration.iter().map(|it| (it.name.clone(), it.text.clone())).collect(),
    }
}

/// A plain value as text; what is nested stays JSON, what is not known is left out.
fn told(it: &Value) -> Option<String> {
    match it {
        Value::Null => None,
        Value::String(it) => Some(it.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests;
