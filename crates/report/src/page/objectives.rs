//! Section on the load and its objectives

use super::context::PageContext;
use crate::say;
use crate::view::{Block, Line, Tone};
use model::plan::{Load, LoadModel, Operation, Setup};

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let (lang, experiment) = (case.lang, &case.account.experiment);
    let setups: Vec<&Setup> = experiment.cells.iter().map(|it| &it.setup).collect();
    let mut facts = Vec::new();
    let max = experiment.goal.max_search();
    let loads = loads(&setups, max.is_some());
    facts.extend(
        loads.iter().map(|it| (say!(lang, "page-load"), lang.load(&it.load, it.sql, &it.concurrency))),
    );
    let window = |setup: &&Setup| match max {
        Some(max) => lang.search_window(max, setup.load.warmup, experiment.repeat),
        None => lang.window(&setup.load, experiment.repeat),
    };
    let windows = distinct(setups.iter().map(window));
    facts.push((say!(lang, "page-window"), windows.join("; ")));
    let mixes = distinct(setups.iter().map(|it| mix(&it.operations)));
    facts.extend(mixes.into_iter().map(|it| (say!(lang, "page-operations"), it)));
    let datasets = distinct(setups.iter().filter_map(|it| it.dataset.as_ref()).map(|it| lang.dataset(it)));
    facts.extend(datasets.into_iter().map(|it| (say!(lang, "page-dataset"), it)));
    let rules = distinct(setups.iter().flat_map(|it| it.stop_rules.iter().cloned()));
    if !rules.is_empty() {
        facts.push((say!(lang, "page-stop-rules"), rules.join(", ")));
    }
    let mut blocks = vec![Block::Facts { facts }];
    let tallies = &case.account.matrix.objectives;
    if !tallies.is_empty() {
        let item = |summary| Line {
            text: lang.objective_summary(summary, &case.names),
            tone: tone(summary.met, summary.violated, summary.unknown),
        };
        blocks.push(Block::List { items: tallies.iter().map(item).collect() });
    }
    blocks.extend(scripts(&setups));
    blocks
}

fn tone(met: u32, broken: u32, unknown: u32) -> Tone {
    match (met, broken, unknown) {
        (_, 1.., _) => Tone::Bad,
        (1.., 0, 0) => Tone::Good,
        _ => Tone::Doubt,
    }
}

/// Loads that differ only in the number of clients.
struct LoadGroup {
    load: Load,
    /// True if any operation contains SQL.
    sql: bool,
    /// Numbers of clients, or in-flight caps.
    concurrency: Vec<u32>,
}

/// Groups loads that differ only in the number of clients. `searched` is true if a search chooses the level.
fn loads(setups: &[&Setup], searched: bool) -> Vec<LoadGroup> {
    let mut all: Vec<LoadGroup> = Vec::new();
    for setup in setups {
        let mut load = setup.load.clone();
        let sql = setup.operations.iter().any(|it| it.kind.is_sql());
        let at_once = match &mut load.model {
            LoadModel::Closed { clients, .. } => std::mem::take(clients),
            LoadModel::Users { stages, .. } => match stages.as_mut_slice() {
                [only] => std::mem::take(&mut only.users),
                _ => setup.load.model.clients(),
            },
            LoadModel::Open { max_in_flight, .. } | LoadModel::Log { max_in_flight, .. } => {
                std::mem::take(max_in_flight)
            }
            LoadModel::Replay { .. } => 0,
        };
        if let LoadModel::Open { schedule, .. } = &mut load.model
            && searched
        {
            schedule.clear();
        }
        let counted = setup.load.model.is_open() || !searched;
        let at_once = if counted { vec![at_once] } else { Vec::new() };
        match all.iter_mut().find(|it| it.load == load && it.sql == sql) {
            Some(it) => it.concurrency.extend(at_once),
            None => all.push(LoadGroup { load, sql, concurrency: at_once }),
        }
    }
    for group in &mut all {
        group.concurrency.sort_unstable();
        group.concurrency.dedup();
    }
    all
}

/// Formats operations with their weights: `read ×10, write ×1`.
fn mix(all: &[Operation]) -> String {
    let each = all.iter().map(|operation| match all.len() {
        1 => operation.name.clone(),
        _ => format!("{} ×{}", operation.name, operation.weight),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Blocks with every script once.
fn scripts(setups: &[&Setup]) -> Vec<Block> {
    let mut distinct: Vec<(&str, String)> = Vec::new();
    for operation in setups.iter().flat_map(|it| &it.operations) {
        let script = (operation.name.as_str(), operation.text());
        if !distinct.contains(&script) {
            distinct.push(script);
        }
    }
    let block = |(name, text): (&str, String)| Block::Code {
        name: name.to_owned(),
        text: text.trim_end().to_owned(),
        folded: true,
    };
    distinct.into_iter().map(block).collect()
}

/// Distinct texts in order of first occurrence.
pub(super) fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for text in all {
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    unique
}
