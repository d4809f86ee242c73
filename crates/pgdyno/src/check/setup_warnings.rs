//! Warnings about experiments that most likely do not show what the user wants

use analysis::stats::repeats::TESTED_MIN;
use model::message;
use model::message::Message;
use model::plan::{Experiment, FaultAction, LoadScale, Node, NodeKind, OperationKind, Setup};
use stack::component::program::Programs;
use std::collections::BTreeMap;

/// Minimum number of trials of each cell with which the test can show a difference.
pub const TRIALS_MIN: u32 = TESTED_MIN as u32;
/// Sessions of the monitoring thread.
const MONITORING_SESSIONS: u32 = 1;

/// Warnings about an experiment.
pub fn warnings(experiment: &Experiment) -> Vec<Message> {
    let mut all: Vec<Message> = refused_clients(experiment);
    let is_search = experiment.goal.max_search().is_some();
    if is_search && experiment.cells.iter().any(|it| it.setup.objectives.is_empty()) {
        all.push(message!("check-search-without-objectives"));
    }
    all.extend(few_repeats(experiment));
    all.extend(missing_programs(experiment));
    all.extend(fsync_off(experiment));
    all
}

/// Warning that a server with `fsync = off` cannot prove that writes are durable.
fn fsync_off(experiment: &Experiment) -> Option<Message> {
    let has_ledger = |it: &Setup| it.operations.iter().any(|operation| operation.ledger.is_some());
    let is_off = |node: &Node| {
        let NodeKind::Postgres(server) = &node.kind else { return false };
        // If a setting occurs on several lines, the last line takes effect.
        let value = server.settings.iter().rfind(|it| it.0.eq_ignore_ascii_case("fsync"));
        let value = value.map(|it| it.1.trim_matches('\'').to_ascii_lowercase());
        value.is_some_and(|it| matches!(it.as_str(), "off" | "false" | "no" | "0"))
    };
    let setups = experiment.cells.iter().map(|it| &it.setup).filter(|it| has_ledger(it));
    setups.flat_map(|it| &it.stack.nodes).any(is_off).then(|| message!("check-fsync-off"))
}

/// Warnings about hooks and faults whose program does not exist on this machine.
fn missing_programs(experiment: &Experiment) -> Vec<Message> {
    let programs = Programs::from_environment();
    let setups = || experiment.cells.iter().map(|it| &it.setup);
    let hooks = setups().flat_map(|it| [it.hooks.before_trial.first(), it.hooks.after_trial.first()]);
    let faults = setups().flat_map(|it| &it.faults).flat_map(|fault| match &fault.action {
        FaultAction::Run { command, undo, .. } => [command.first(), undo.first()],
        _ => [None, None],
    });
    let mut names: Vec<&String> = hooks.chain(faults).flatten().collect();
    names.sort();
    names.dedup();
    let missing = names.into_iter().filter(|name| programs.locate(name).is_none());
    missing.map(|program| message!("check-hook-missing", program)).collect()
}

/// Warning that the trials are too few for a test of differences between cells.
pub fn few_repeats(experiment: &Experiment) -> Option<Message> {
    let compares = experiment.trials().is_some()
        && experiment.cells.iter().filter(|it| it.control_of.is_none()).count() > 1;
    (compares && experiment.repeat < TRIALS_MIN).then(|| {
        message!("check-few-repeats", repeat = experiment.repeat.to_string(), least = TRIALS_MIN.to_string())
    })
}

/// Warnings about cells with more clients than the first node accepts. Each exceeded limit has one warning, which
/// contains the number of clients of the cell with the most clients.
fn refused_clients(experiment: &Experiment) -> Vec<Message> {
    let mut most: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    for cell in &experiment.cells {
        let setup = &cell.setup;
        let Some(limit) = setup.stack.nodes.first().and_then(connection_limit) else { continue };
        let is_script = |it: &OperationKind| matches!(it, OperationKind::Script { .. });
        let clients = clients_at_most(experiment, setup);
        if setup.operations.iter().any(|it| is_script(&it.kind)) && clients > limit.1 {
            let known = most.entry(limit).or_default();
            *known = clients.max(*known);
        }
    }
    let warning = |((key, limit), clients): ((&str, u32), u32)| {
        message!(
            "check-many-clients",
            clients = clients.to_string(),
            key = key.to_owned(),
            limit = limit.to_string()
        )
    };
    most.into_iter().map(warning).collect()
}

/// Number of clients of a setup. In a search for the number of clients, the number with which it begins.
fn clients_at_most(experiment: &Experiment, setup: &Setup) -> u32 {
    match experiment.goal.max_search() {
        Some(search) if search.scale == LoadScale::Clients => search.from.map_or(1, |it| it as u32),
        _ => setup.load.model.clients(),
    }
}

/// Experiment key that limits a node's client connections, and the number of connections that remain for clients.
fn connection_limit(node: &Node) -> Option<(&'static str, u32)> {
    match &node.kind {
        NodeKind::Postgres(postgres) => {
            let others = postgres.reserved_connections().saturating_add(MONITORING_SESSIONS);
            Some(("postgres.max_connections", postgres.max_connections.saturating_sub(others)))
        }
        NodeKind::Pooler(pooler) => Some(("pooler.max_client_conn", pooler.max_client_conn)),
        _ => None,
    }
}
