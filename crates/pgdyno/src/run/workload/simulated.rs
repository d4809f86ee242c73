//! Simulation of the first second of an experiment file's cells

use super::{HttpTarget, LoadInputs, PreparedLoad, prepare};
use crate::check;
use crate::cli::CommandError;
use crate::diagnostics;
use crate::feeds::Feeds;
use crate::run::search_runner;
use analysis::strategy::search::{self, NextStep};
use analysis::strategy::step_setup;
use experiment::Plan;
use load::Shard;
use load::sim::{SimulatedSystem, drive_until};
use model::plan::{Feed, FeedSource, OperationKind, Setup};
use model::row_table::Rows;
use model::{Nanos, Record};
use report::lang::english;
use stack::client::{Address, Target};
use std::path::Path;
use std::sync::Arc;
use wire::http::Url;
use wire::pg::Login;

/// Simulated time limit of a cell, including logins.
const DEADLINE: Nanos = Nanos::from_millis(1500);
/// Maximum number of simulator steps for a cell.
const STEPS_MAX: u64 = 20_000;

/// Reasons why a file's cells did not run.
#[derive(Debug)]
pub enum SimulationError {
    /// `check` reports diagnostics.
    Check(String),
    /// `check` accepts the file, but the preparation of a trial reports an error.
    Prepare(String),
}

/// Runs the first second of each cell, or of a search's first step. Returns the records of all cells.
pub fn first_second(text: &str) -> Result<Vec<Record>, SimulationError> {
    let plan = check::plan(Path::new("file.yaml"), text, &[], false)
        .map_err(|it| SimulationError::Check(diagnostics::render(&it, false, english())))?;
    // Also exercise the output of `check`, because it depends on the plan.
    check::overview(&plan, english());
    let mut records = Vec::new();
    for setup in setups(&plan) {
        records.extend(
            run(&setup, plan.experiment.seed)
                .map_err(|it| SimulationError::Prepare(it.message.describe()))?,
        );
    }
    Ok(records)
}

/// Setup of each cell; for a search, the setup of its first step.
fn setups(plan: &Plan) -> Vec<Setup> {
    let find = &plan.experiment.goal;
    let first_step = |setup: &Setup| match find.max_search() {
        Some(max) => match search::next(max, search_runner::first_level(max, setup), &[]) {
            NextStep::Measure(step) => Some(step),
            NextStep::Done => None,
        },
        None => search_runner::soak_step(find, setup, None),
    };
    let setup = |setup: &Setup| {
        first_step(setup).map_or(setup.clone(), |it| step_setup::apply_step(setup, find, &it))
    };
    plan.experiment.cells.iter().map(|it| setup(&it.setup)).collect()
}

fn run(setup: &Setup, seed: u64) -> Result<Vec<Record>, CommandError> {
    let port = |port: u16| Address::Tcp(([127, 0, 0, 1], port).into());
    let login = Arc::new(Login::new("user", "database"));
    let target = |number| Target { address: port(number), login: Arc::clone(&login) };
    let (primary, replica) = (target(5432), target(5433));
    let replicas: &[&Target] =
        if setup.stack.replication.as_ref().is_some_and(|it| it.replicas > 0) { &[&replica] } else { &[] };
    let web = HttpTarget { url: Url::parse("http://127.0.0.1:8080").expect("a URL"), address: port(8080) };
    let feeds = rows(setup)?;
    let asks = |it: &OperationKind| !matches!(it, OperationKind::Script { .. });
    let inputs = LoadInputs {
        postgres: &[&primary],
        replicas,
        secret: setup.operations.iter().any(|it| it.ledger.is_some()).then_some(seed),
        web: setup.operations.iter().any(|it| asks(&it.kind)).then_some(&web),
        feeds: &feeds,
        variables: if setup.dataset.is_some() { &[("rows", 1000)] } else { &[] },
        transactions: None,
        abandoned: &Arc::default(),
    };
    let PreparedLoad { config: ready, .. } = prepare(setup, &inputs, seed)?;
    let shard = |k| Shard::new(Arc::clone(&ready.work), k, Vec::<Record>::new());
    let shards = (0..ready.work.plan().threads).map(shard).collect();
    let world = SimulatedSystem { servers: 4, ..SimulatedSystem::default() };
    let shards = drive_until(shards, &world, DEADLINE, STEPS_MAX);
    Ok(shards.into_iter().flat_map(|it| it.recorder).collect())
}

/// Rows of all feeds. A query yields one row, whose values are the names of its columns.
fn rows(setup: &Setup) -> Result<Vec<Rows>, CommandError> {
    let mut feeds = Feeds::default();
    let mut no_query = || Err(CommandError::new("queries are answered here"));
    let answer = |feed: &Feed| match &feed.source {
        FeedSource::Query(sql) => {
            let words: Vec<&str> = sql.split([' ', ',']).collect();
            let names: Vec<String> =
                words.windows(2).filter(|it| it[0] == "AS").map(|it| it[1].to_owned()).collect();
            let source = FeedSource::Rows(vec![names.clone()]);
            Feed { source, columns: Some(names), ..feed.clone() }
        }
        _ => feed.clone(),
    };
    setup.feeds.iter().map(|it| feeds.rows(&answer(it), &mut no_query)).collect()
}
