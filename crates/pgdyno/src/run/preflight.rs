//! Preflight: checks the operations of a run before its first trial
//!
//! The server prepares each statement with the real schema. If pgdyno restores the data afterwards, each operation is
//! also executed once. An operation with `preflight: false` is not checked.

pub mod execution;
pub mod statements;

use super::display::RunDisplay;
use super::known_nodes::KnownNodes;
use super::test_bed::{SetupError, TestBed, Update};
use super::workload::{self, LoadInputs};
use crate::cli::language;
use crate::cli::{CommandError, Terminal};
use model::message::Message;
use model::plan::{Cell, Content, Feed, NodeKind, Operation, OperationKind, Replication, Setup};
use model::summary::QueryMode;
use report::lang::Lang;
use report::say;
use stack::client::Target;
use statements::Excerpt;
use std::time::Duration;

/// Timeout for each response of the server.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Number of executions that must fail before an operation counts as wrong. Each execution draws other values.
const EXECUTIONS: u64 = 3;
/// Mask that derives the seed of the executions from the run's seed, so that the trials send other requests.
const SEED_XOR: u64 = 0x7a5c_f1e6_3b90_d284;

/// Results of the check: errors in the order of the operations. The default value has no errors.
#[derive(Debug, Default)]
pub struct Preflight {
    /// Operations whose statements were prepared.
    prepared: Vec<CheckedOperations>,
    /// Operations that were executed.
    executed: Vec<CheckedOperations>,
    pub errors: Vec<OperationError>,
}

/// Operations with all inputs on which the result of their check depends.
#[derive(Clone, Debug, PartialEq)]
struct CheckedOperations {
    /// Operations without their weights and rates.
    operations: Vec<Operation>,
    mode: QueryMode,
    schema: Schema,
}

/// Origin of the tables and feeds of a setup.
#[derive(Clone, Debug, PartialEq)]
struct Schema {
    /// Tables of the dataset and the statements that run after loading. The number of rows does not matter.
    dataset: Option<(Content, Vec<String>)>,
    feeds: Vec<Feed>,
    /// Name of the server, and its version if the file states one.
    server: (String, Option<u32>),
}

/// An operation that cannot succeed.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationError {
    /// Place of the error, such as `operations.read.sql:2`.
    place: String,
    /// Error message of the server.
    message: String,
    /// Line of the statement with the error; `None` if the server reports no position.
    excerpt: Option<Excerpt>,
    /// Further lines.
    details: Vec<String>,
    correction: Message,
}

impl Preflight {
    /// Sets up a trial. Operations that were not checked yet are checked first; then the data are restored. If an
    /// operation has an error, the trial is not set up.
    pub fn set_up(
        &mut self,
        cells: &[Cell],
        setup: &Setup,
        (test_bed, known): (&mut TestBed, &KnownNodes),
        seed: u64,
        on_update: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), SetupError> {
        let failed = |it: CommandError| SetupError::Failed(it.message);
        let this = CheckedOperations::new(setup);
        let executes = restores_data(setup) && !self.executed.contains(&this);
        if executes {
            // Omit replicas, because the check does not need them and a cluster takes long to start.
            let single = without_replicas(setup);
            test_bed.set_up(&single, known, on_update)?;
            self.prepare(cells, &single, test_bed).map_err(failed)?;
            if self.errors.is_empty() {
                self.execute(&single, test_bed, seed).map_err(failed)?;
            }
            self.executed.push(this);
            if !self.errors.is_empty() {
                return Ok(());
            }
        }
        test_bed.set_up(setup, known, on_update)?;
        self.prepare(cells, setup, test_bed).map_err(failed)
    }

    /// For each schema of the plan, sets up the first cell with this schema and prepares the statements. If a component
    /// of the cell is not available, the cell is skipped and the reason is printed.
    pub fn prepare_plan(
        &mut self,
        cells: &[Cell],
        (test_bed, display): (&mut TestBed, &mut RunDisplay),
    ) -> Result<(), SetupError> {
        for (number, cell) in cells.iter().enumerate() {
            if self.prepared.contains(&CheckedOperations::new(&cell.setup)) {
                continue;
            }
            let setup = without_replicas(&cell.setup);
            display.begin_trial(0, number, None);
            let ready = test_bed.set_up(&setup, &KnownNodes::default(), &mut |it| display.update(&it));
            display.cancel_trial();
            if let Err(SetupError::Unavailable(reason)) = &ready {
                display.print_diagnostic(&language::selected().message(reason));
                continue;
            }
            ready?;
            self.prepare(cells, &setup, test_bed).map_err(|it| SetupError::Failed(it.message))?;
        }
        Ok(())
    }

    /// Prepares the statements of all cells with the same schema as `setup`, whose stack is running. A server that
    /// cannot be reached is not reported here, because the trial reports it.
    pub fn prepare(
        &mut self,
        cells: &[Cell],
        setup: &Setup,
        test_bed: &mut TestBed,
    ) -> Result<(), CommandError> {
        let schema = Schema::new(setup);
        for setup in cells.iter().map(|it| &it.setup).filter(|it| Schema::new(it) == schema) {
            let checked = CheckedOperations::new(setup);
            if self.prepared.contains(&checked) {
                continue;
            }
            self.prepared.push(checked);
            let errors = statement_errors(setup, test_bed)?;
            self.add(errors);
        }
        Ok(())
    }

    /// Executes each operation once. An operation that fails is repeated with other values.
    fn execute(&mut self, setup: &Setup, test_bed: &mut TestBed, seed: u64) -> Result<(), CommandError> {
        for operation in setup.operations.iter().filter(|it| it.preflight) {
            let mut error = None;
            for number in 0..EXECUTIONS {
                let seed = (seed ^ SEED_XOR).wrapping_add(number);
                error = execution::execute(setup, operation, test_bed, seed)?.error(operation);
                if error.is_none() {
                    break;
                }
            }
            self.add(error);
        }
        Ok(())
    }

    fn add(&mut self, errors: impl IntoIterator<Item = OperationError>) {
        for error in errors {
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
    }

    /// Prints the errors to standard error.
    pub fn print(&self, program: &str, lang: &Lang) {
        let terminal = Terminal { program: program.to_owned() };
        for error in &self.errors {
            terminal.error(&error.text(lang));
            terminal.hint(&lang.message(&error.correction));
        }
        errln!("{}", say!(lang, "preflight-errors", count = self.errors.len()));
    }
}

impl CheckedOperations {
    fn new(setup: &Setup) -> CheckedOperations {
        let content = |it: &Operation| Operation { weight: 1, rate: None, schedule: None, ..it.clone() };
        CheckedOperations {
            operations: setup.operations.iter().map(content).collect(),
            mode: setup.load.query_mode,
            schema: Schema::new(setup),
        }
    }
}

impl Schema {
    fn new(setup: &Setup) -> Schema {
        let content = |content: &Content| match content {
            Content::Tickets { .. } => Content::Tickets { rows: 0 },
            Content::Profiles { .. } => Content::Profiles { users: 0, per_user: 0 },
            Content::Pgbench { .. } => Content::Pgbench { scale: 0 },
            Content::Delivery { .. } => Content::Delivery { scale: 0.0 },
            Content::Users { .. } => Content::Users { users: 0 },
            Content::Books { .. } => Content::Books { rows: 0 },
            Content::Declared(_) | Content::Dump { .. } => content.clone(),
        };
        let server = setup.stack.nodes.last().expect("a stack has a node");
        let version = match &server.kind {
            NodeKind::Postgres(postgres) => postgres.version,
            _ => None,
        };
        Schema {
            dataset: setup.dataset.as_ref().map(|it| (content(&it.content), it.post_load.clone())),
            feeds: setup.feeds.clone(),
            server: (server.name.clone(), version),
        }
    }
}

/// True if the executions leave no changes for the trials: pgdyno starts the servers and services itself, or restores
/// the data of an attached server.
fn restores_data(setup: &Setup) -> bool {
    setup.stack.nodes.iter().all(|node| match &node.kind {
        NodeKind::Attached(_) => setup.dataset.is_some(),
        NodeKind::Service(service) => service.url.is_none(),
        _ => true,
    })
}

/// Setup with the primary only.
pub fn without_replicas(setup: &Setup) -> Setup {
    let mut single = setup.clone();
    single.stack.replication = setup.stack.replication.as_ref().map(Replication::primary_only);
    single
}

/// Statements of a setup that its server rejects.
fn statement_errors(setup: &Setup, test_bed: &mut TestBed) -> Result<Vec<OperationError>, CommandError> {
    let is_script = |it: &Operation| matches!(it.kind, OperationKind::Script { .. });
    if !setup.operations.iter().any(|it| it.preflight && is_script(it)) {
        return Ok(Vec::new());
    }
    let feeds = test_bed.feeds(setup)?;
    let chain = test_bed.chain();
    let inputs = LoadInputs {
        postgres: &chain.primary_endpoints(),
        replicas: &[],
        secret: None,
        web: None,
        feeds: &feeds,
        variables: &workload::variables(setup),
        transactions: None,
        abandoned: test_bed.abandoned(),
    };
    let program = workload::compile(setup, &inputs)?;
    // Prefer a direct connection to PostgreSQL, because a pooler may hide its errors.
    let target = match chain.postgres() {
        Some(postgres) => postgres.endpoint.in_database(&chain.users().database),
        None => match inputs.postgres.first() {
            Some(first) => Target::clone(first),
            None => return Ok(Vec::new()),
        },
    };
    let Ok(mut connection) = target.open(TIMEOUT) else { return Ok(Vec::new()) };
    Ok(statements::prepare_all(setup, &program, &mut connection))
}

impl OperationError {
    /// The server's error message, with the line of the statement and a mark below the error.
    pub fn text(&self, lang: &Lang) -> String {
        let mut text = format!("{}: {}", self.place, self.message);
        if let Some(excerpt) = &self.excerpt {
            let label = say!(lang, "preflight-line", line = excerpt.line);
            let indent = " ".repeat(label.chars().count() + 1 + excerpt.column);
            text += &format!("\n{label} {}\n{indent}^", excerpt.text);
        }
        self.details.iter().for_each(|it| text += &format!("\n{it}"));
        text
    }
}
