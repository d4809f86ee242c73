//! How does PostgreSQL answer what a trial has just sent to it, and would another index help?
//!
//! Once the measured window is over, a few clients send every operation for a moment more, and the server writes down what
//! it hears: plans are made with values that really come. Only a server that we started is asked.

use super::lab::Lab;
use super::workload::{self, Loaded};
use crate::measure::{self, Watch};
use analysis::advice;
use load::driver::Clock;
use model::Nanos;
use model::explain::Plans;
use model::plan::{Dataset, LoadModel, Operation, Setup, Stack};
use stack::loglines::Heard;
use stack::plans::{Listening, Planner};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// So long the server listens, to so many clients at most: a few executions of each statement are enough.
const LISTENING: Nanos = Nanos::from_millis(1500);
const CLIENTS: u32 = 4;
/// From a trial's seed: its requests are not asked again. The golden ratio's bits: low ones differ too.
const APART: u64 = 0x9e37_79b9_7f4a_7c15;

/// What has been asked about already: plans depend on nothing else.
#[derive(Debug, Default)]
pub struct Known(Vec<(Stack, Option<Dataset>, Vec<Operation>)>);

impl Known {
    /// True the first time for this stack, these data and operations.
    pub fn is_new(&mut self, setup: &Setup) -> bool {
        let this = (setup.stack.clone(), setup.dataset.clone(), setup.operations.clone());
        let new = !self.0.contains(&this);
        if new {
            self.0.push(this);
        }
        new
    }
}

/// Whether cells share what plans depend on.
pub fn alike(one: &Setup, other: &Setup) -> bool {
    (&one.stack, &one.dataset, &one.operations) == (&other.stack, &other.dataset, &other.operations)
}

/// Plans of what stands ready in the lab; `None` where there is no server of ours. It is in use meanwhile, and its data are
/// changed by what is sent.
pub fn plans(
    lab: &mut Lab,
    setup: &Setup,
    seed: u64,
    interrupted: &AtomicBool,
) -> Option<Result<Plans, String>> {
    let postgres = lab.chain().postgres()?;
    let (admin, log) = (postgres.admin.clone()?, postgres.log.clone()?);
    if postgres.is_attached() {
        return None;
    }
    let superuser = admin.in_database(&lab.chain().users().database);
    let listened = listen(lab, setup, seed, (&superuser, &log), interrupted);
    Some(listened.and_then(|heard| ask(&superuser, heard)))
}

fn listen(
    lab: &mut Lab,
    setup: &Setup,
    seed: u64,
    (superuser, log): (&stack::ask::Target, &Path),
    interrupted: &AtomicBool,
) -> Result<Vec<Heard>, String> {
    let feeds = lab.feeds(setup).map_err(|it| it.what)?;
    let web = lab.web();
    let rows = setup.dataset.as_ref().map(|it| stack::dataset::rows(&it.content) as i64);
    let variables: Vec<(&str, i64)> = rows.map(|it| ("rows", it)).into_iter().collect();
    let asked = workload::Asked {
        postgres: &lab.chain().entries(),
        replicas: &lab.chain().entries_to_replicas(),
        secret: None,
        web: web.as_ref(),
        feeds: &feeds,
        variables: &variables,
        abandoned: lab.abandoned(),
    };
    let Loaded { ready, .. } =
        workload::prepare(&brief(setup), &asked, seed.wrapping_add(APART)).map_err(|it| it.what)?;
    let listening = Listening::start(superuser, log).map_err(|it| it.to_string())?;
    measure::run(&ready, Clock::start(), &mut Blind, interrupted)
        .map_err(|_| "the load could not go on".to_owned())?;
    listening.finish().map_err(|it| it.to_string())
}

fn ask(superuser: &stack::ask::Target, heard: Vec<Heard>) -> Result<Plans, String> {
    let why = |it: stack::ask::Error| it.to_string();
    let mut planner = Planner::open(superuser, heard).map_err(why)?;
    let statements = planner.plans().map_err(why)?;
    let tables = planner.tables(&statements).map_err(why)?;
    let mut plans = Plans { statements, tables, ..Plans::default() };
    let candidates = advice::candidates(&plans);
    match planner.try_out(&candidates, &plans.statements).map_err(why)? {
        Ok(tried) => plans.tried = tried,
        Err(why) => {
            plans.tried = advice::estimated(&plans, &candidates);
            plans.untried = Some(why);
        }
    }
    Ok(plans)
}

/// A moment of every operation, each as often: seldom ones are planned too.
fn brief(setup: &Setup) -> Setup {
    let mut brief = setup.clone();
    let load = &mut brief.load;
    let clients = load.model.clients().min(CLIENTS);
    load.model = LoadModel::Closed { clients, think: Nanos::ZERO };
    load.duration = Some(LISTENING);
    load.warmup = Nanos::ZERO;
    for it in &mut brief.operations {
        (it.schedule, it.rate, it.weight) = (None, None, 1);
    }
    brief
}

/// What comes of it is nobody's business.
struct Blind;

impl Watch for Blind {}
