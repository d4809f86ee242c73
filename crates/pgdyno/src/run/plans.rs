//! Query plans and index costs of a trial's statements
//!
//! After the measured window, a few clients send every operation for a short time. The server logs the statements, so
//! the plans use values that really occur. An attached server logs nothing: the statements of the trial are planned there
//! for any values, in a read-only transaction.

use super::test_bed::TestBed;
use super::workload::{self, PreparedLoad};
use crate::cli::CommandError;
use crate::measure::LoadPart;
use crate::measure::{self, IgnoreEvents};
use crate::secrets::ENVIRONMENT;
use analysis::explain::advice;
use load::driver::Clock;
use model::Nanos;
use model::explain::Plans;
use model::message;
use model::message::Message;
use model::plan::{Dataset, LoadModel, Operation, Setup, Stack};
use stack::log_parser::LoggedStatement;
use stack::plans::{CaptureError, ExecutionCounts, Planner, StatementCapture};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Time for which the server logs statements. A few executions of each statement suffice.
const LISTEN_DURATION: Nanos = Nanos::from_millis(1500);
/// Maximum number of clients while statements are logged.
const CLIENTS: u32 = 4;
/// Mask that derives the seed of this load from the trial's seed, so that the requests differ from the trial's. The
/// mask consists of the bits of the golden ratio, so it also changes low bits.
const SEED_XOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Reason why a trial has no plans.
#[derive(Debug)]
pub enum PlansError {
    /// The load could not be prepared.
    Preparation(CommandError),
    /// The load ended early.
    Load,
    /// The server's log could not be read.
    Capture(CaptureError),
    /// A query to the server failed.
    Server(stack::client::Error),
}

impl From<PlansError> for Message {
    fn from(error: PlansError) -> Message {
        match error {
            PlansError::Preparation(error) => error.message,
            PlansError::Load => message!("run-load-ended"),
            PlansError::Capture(error) => (&error).into(),
            PlansError::Server(error) => (&error).into(),
        }
    }
}

/// Setups whose plans are already known. Plans depend only on stack, dataset and operations.
#[derive(Debug, Default)]
pub struct ExplainedCells(Vec<(Stack, Option<Dataset>, Vec<Operation>)>);

impl ExplainedCells {
    fn key(setup: &Setup) -> (Stack, Option<Dataset>, Vec<Operation>) {
        (setup.stack.clone(), setup.dataset.clone(), setup.operations.clone())
    }

    /// True if plans of this stack, data and operations are known.
    pub fn contains(&self, setup: &Setup) -> bool {
        self.0.contains(&ExplainedCells::key(setup))
    }

    /// True on the first call with this stack, data and operations.
    pub fn is_new(&mut self, setup: &Setup) -> bool {
        let key = ExplainedCells::key(setup);
        let new = !self.0.contains(&key);
        if new {
            self.0.push(key);
        }
        new
    }
}

/// Counts of the statements of an attached server; `None` if there is none, or if it has no counts.
pub fn attached_counts(test_bed: &TestBed) -> Option<ExecutionCounts> {
    let postgres = test_bed.chain().postgres().filter(|it| it.is_attached())?;
    // Without a connection, the trial itself reports the error.
    ExecutionCounts::read(&postgres.endpoint).ok().flatten()
}

/// Plans of the statements that an attached server executed since `before`; `None` without any.
pub fn attached_plans(test_bed: &TestBed, before: &ExecutionCounts) -> Option<Result<Plans, PlansError>> {
    let endpoint = &test_bed.chain().postgres()?.endpoint;
    let planned = || {
        let statements = ExecutionCounts::read(endpoint)?.map_or(Vec::new(), |it| it.since(before));
        if statements.is_empty() {
            return Ok(None);
        }
        let mut planner = Planner::open_attached(endpoint, &statements)?;
        let plans = explain(&mut planner)?;
        planner.close_attached()?;
        Ok(Some(plans))
    };
    planned().map_err(PlansError::Server).transpose()
}

/// Plans from the server in the test bed; `None` if pgdyno did not start the server. The function generates load, which
/// changes the data.
pub fn plans(
    test_bed: &mut TestBed,
    setup: &Setup,
    seed: u64,
    interrupted: &AtomicBool,
) -> Option<Result<Plans, PlansError>> {
    let postgres = test_bed.chain().postgres()?;
    let (admin, log) = (postgres.admin.clone()?, postgres.log.clone()?);
    if postgres.is_attached() {
        return None;
    }
    let superuser = admin.in_database(&test_bed.chain().users().database);
    let listened = listen(test_bed, setup, seed, (&superuser, &log), interrupted);
    let planned = |heard| explain(&mut Planner::open(&superuser, heard)?);
    Some(listened.and_then(|heard| planned(heard).map_err(PlansError::Server)))
}

fn listen(
    test_bed: &mut TestBed,
    setup: &Setup,
    seed: u64,
    (superuser, log): (&stack::client::Target, &Path),
    interrupted: &AtomicBool,
) -> Result<Vec<LoggedStatement>, PlansError> {
    let feeds = test_bed.feeds(setup).map_err(PlansError::Preparation)?;
    let web = test_bed.http_target();
    let variables = workload::variables(setup);
    let inputs = workload::LoadInputs {
        postgres: &test_bed.chain().primary_endpoints(),
        replicas: &test_bed.chain().replica_endpoints(),
        secret: None,
        web: web.as_ref(),
        feeds: &feeds,
        variables: &variables,
        transactions: None,
        additional: None,
        abandoned: test_bed.abandoned(),
        part: LoadPart::All,
        driver: None,
        secrets: ENVIRONMENT,
    };
    let PreparedLoad { config: ready, .. } =
        workload::prepare(&short_setup(setup), &inputs, seed.wrapping_add(SEED_XOR))
            .map_err(PlansError::Preparation)?;
    let listening = StatementCapture::start(superuser, log).map_err(PlansError::Capture)?;
    measure::run(&ready, Clock::start(), &mut IgnoreEvents, interrupted).map_err(|_| PlansError::Load)?;
    listening.finish().map_err(PlansError::Capture)
}

fn explain(planner: &mut Planner) -> Result<Plans, stack::client::Error> {
    let statements = planner.explain_all()?;
    let tables = planner.table_statistics(&statements)?;
    let mut plans = Plans { statements, tables, ..Plans::default() };
    let candidates = advice::candidates(&plans);
    match planner.estimate_indexes(&candidates, &plans.statements)? {
        Ok(tried) => plans.estimates = tried,
        Err(error) => {
            plans.estimates = advice::estimate_indexes(&plans, &candidates);
            plans.planner_unavailable = Some((&error).into());
        }
    }
    Ok(plans)
}

/// Setup of a short load with equal weights, so that plans of rare operations are collected too.
fn short_setup(setup: &Setup) -> Setup {
    let mut brief = setup.clone();
    let load = &mut brief.load;
    let clients = load.model.clients().min(CLIENTS);
    load.model = LoadModel::Closed { clients, think: Nanos::ZERO };
    load.duration = Some(LISTEN_DURATION);
    load.warmup = Nanos::ZERO;
    for operation in &mut brief.operations {
        (operation.schedule, operation.rate, operation.weight) = (None, None, 1);
    }
    brief
}
