//! Simulation of the first second of an experiment file's cells

use super::{HttpTarget, LoadInputs, PreparedLoad, prepare};
use crate::check;
use crate::cli::CommandError;
use crate::diagnostics;
use crate::feeds::Feeds;
use crate::measure::LoadPart;
use crate::run::search_runner;
use crate::secrets::ENVIRONMENT;
use analysis::strategy::search::{self, NextStep};
use analysis::strategy::step_setup;
use experiment::Plan;
use load::sim::{SimulatedSystem, drive_until};
use load::{Recorder, Shard};
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
    let plan = plan(text)?;
    // Also exercise the output of `check`, because it depends on the plan.
    check::overview(&plan, english());
    let mut records = Vec::new();
    for setup in setups(&plan) {
        let shards = run(&setup, plan.experiment.seed, &[LoadPart::All]);
        let shards: Vec<Vec<Record>> =
            shards.map_err(|it| SimulationError::Prepare(it.message.describe()))?;
        records.extend(shards.into_iter().flatten());
    }
    Ok(records)
}

/// Runs the first second of each cell once by these processes, and returns what each thread of all processes recorded.
/// Each thread's operations have at least `threads` threads.
pub fn first_second_by<R: Recorder + Default>(
    text: &str,
    threads: u16,
    parts: &[LoadPart],
) -> Result<Vec<Vec<R>>, SimulationError> {
    let plan = plan(text)?;
    let run_cell = |setup: &Setup| {
        let mut setup = setup.clone();
        setup.load.threads = setup.load.threads.max(threads);
        let shards = run(&setup, plan.experiment.seed, parts);
        shards.map_err(|it| SimulationError::Prepare(it.message.describe()))
    };
    setups(&plan).iter().map(run_cell).collect()
}

fn plan(text: &str) -> Result<Plan, SimulationError> {
    check::plan(Path::new("file.yaml"), text, &[], false)
        .map_err(|it| SimulationError::Check(diagnostics::render(&it, false, english())))
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

/// Recorders of all threads. Each process prepares its part of the load by itself.
fn run<R: Recorder + Default>(setup: &Setup, seed: u64, parts: &[LoadPart]) -> Result<Vec<R>, CommandError> {
    let port = |port: u16| Address::Tcp(([127, 0, 0, 1], port).into());
    let login = Arc::new(Login::new("user", "database"));
    let target = |number| Target::new(port(number), Arc::clone(&login));
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
        additional: None,
        abandoned: &Arc::default(),
        part: LoadPart::All,
        driver: None,
        secrets: ENVIRONMENT,
    };
    let mut shards = Vec::new();
    for part in parts {
        let PreparedLoad { config, .. } = prepare(setup, &LoadInputs { part: *part, ..inputs }, seed)?;
        let shard = |k| Shard::new(Arc::clone(&config.work), k, R::default());
        shards.extend(config.threads.clone().map(shard));
    }
    let world = SimulatedSystem { servers: 4, ..SimulatedSystem::default() };
    let shards = drive_until(shards, &world, DEADLINE, STEPS_MAX);
    Ok(shards.into_iter().map(|it| it.recorder).collect())
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
