//! Preflight: checks the operations of a run before its first trial
//!
//! The server prepares each statement with the real schema. If pgdyno restores the data afterwards, each operation is
//! also executed once. Otherwise, only read-only operations are executed. An operation with `preflight: false` is not
//! checked.

pub mod check_plan;
pub mod execution;
pub mod statements;
pub mod trace_text;

use super::known_nodes::KnownNodes;
use super::test_bed::{SetupError, TestBed, Update};
use super::workload::{self, LoadInputs};
use crate::cli::{CommandError, Terminal};
use crate::measure::LoadPart;
use crate::secrets::ENVIRONMENT;
use execution::Execution;
use model::message::Message;
use model::plan::{Cell, Content, Feed, NodeKind, Operation, OperationKind, Replication, Setup};
use model::summary::QueryMode;
use report::lang::Lang;
use report::say;
use stack::client::Target;
use statements::{Excerpt, Preparation};
use std::time::Duration;

/// Timeout for each response of the server.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Number of executions that must fail before an error of the operation is reported. Each execution draws other values.
const EXECUTIONS: u64 = 3;
/// Mask that derives the seed of the executions from the run's seed, so that the trials send other requests.
const SEED_XOR: u64 = 0x7a5c_f1e6_3b90_d284;

/// Results of the check: errors in the order of the operations.
#[derive(Debug)]
pub struct Preflight {
    /// Operations whose statements were prepared.
    prepared: Vec<CheckedOperations>,
    /// Operations that were executed.
    executed: Vec<CheckedOperations>,
    pub errors: Vec<OperationError>,
    /// False if some statements were not prepared, because the server could not be reached.
    all_prepared: bool,
}

impl Default for Preflight {
    /// Preflight before its first check.
    fn default() -> Preflight {
        Preflight { prepared: Vec::new(), executed: Vec::new(), errors: Vec::new(), all_prepared: true }
    }
}

/// Operations with all inputs on which the result of their check depends.
#[derive(Clone, Debug, PartialEq)]
struct CheckedOperations {
    /// Operations without their weights and rates.
    operations: Vec<Operation>,
    mode: QueryMode,
    feeds: Vec<Feed>,
    schema: Schema,
}

/// Origin of the tables of a setup.
#[derive(Clone, Debug, PartialEq)]
struct Schema {
    /// Tables of the dataset and the statements that run after loading. The number of rows does not matter.
    dataset: Option<(Content, Vec<String>)>,
    /// Name of the server, and its version or address if the file states one.
    server: (String, Option<String>),
}

/// An operation that cannot succeed.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationError {
    /// Name of the operation.
    operation: String,
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
    /// Sets up a trial. Operations that were not checked yet are checked first. The data are then restored. If an
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
        let operations = CheckedOperations::new(setup);
        if !self.executed.contains(&operations) && setup.operations.iter().any(|it| is_executed(setup, it)) {
            // Omit replicas, because the check does not need them and a cluster takes long to start.
            let single = without_replicas(setup);
            test_bed.set_up(&single, known, on_update)?;
            self.prepare(cells, &single, test_bed).map_err(failed)?;
            for operation in setup.on_start_and_operations().filter(|it| is_executed(setup, it)) {
                self.execute(&single, operation, test_bed, seed).map_err(failed)?;
            }
            self.executed.push(operations);
            if !self.errors.is_empty() {
                return Ok(());
            }
        }
        test_bed.set_up(setup, known, on_update)?;
        self.prepare(cells, setup, test_bed).map_err(failed)
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
        self.prepare_cell(setup, test_bed)?;
        for other in cells.iter().map(|it| &it.setup).filter(|it| Schema::new(it) == schema) {
            // Ignore errors, such as those of a feed, because the other cell's trial reports them.
            let _ = self.prepare_cell(other, test_bed);
        }
        Ok(())
    }

    fn prepare_cell(&mut self, setup: &Setup, test_bed: &mut TestBed) -> Result<(), CommandError> {
        let checked = CheckedOperations::new(setup);
        if !self.prepared.contains(&checked) {
            let Preparation { errors, is_complete } = statement_errors(setup, test_bed)?;
            self.prepared.push(checked);
            self.all_prepared &= is_complete;
            self.add(errors);
        }
        Ok(())
    }

    /// Executes an operation once. If the execution fails, repeats it with other values. Returns the last execution;
    /// `None` if the server already rejected a statement of the operation.
    fn execute(
        &mut self,
        setup: &Setup,
        operation: &Operation,
        test_bed: &mut TestBed,
        seed: u64,
    ) -> Result<Option<Execution>, CommandError> {
        let is_start = |name: &str| setup.on_start.as_ref().is_some_and(|it| it.name == name);
        if self.errors.iter().any(|it| it.operation == operation.name || is_start(&it.operation)) {
            return Ok(None);
        }
        let mut execution = None;
        for number in 0..EXECUTIONS {
            let seed = (seed ^ SEED_XOR).wrapping_add(number);
            let last = execution.insert(execution::execute(setup, operation, test_bed, seed)?);
            if last.error(operation).is_none() {
                break;
            }
        }
        self.add(execution.as_ref().and_then(|it| it.error(operation)));
        Ok(execution)
    }

    fn add(&mut self, errors: impl IntoIterator<Item = OperationError>) {
        for error in errors {
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
    }

    /// Prints the errors to standard error. `measured` is true if trials of the run were measured before.
    pub fn print(&self, program: &str, measured: bool, lang: &Lang) {
        let terminal = Terminal { program: program.to_owned() };
        for error in &self.errors {
            terminal.error(&error.text(lang));
            terminal.hint(&lang.message(&error.correction));
        }
        errln!(
            "{}",
            say!(lang, "preflight-errors", count = self.errors.len(), measured = measured.to_string())
        );
    }
}

impl CheckedOperations {
    fn new(setup: &Setup) -> CheckedOperations {
        let content = |it: &Operation| Operation { weight: 1, rate: None, schedule: None, ..it.clone() };
        CheckedOperations {
            operations: setup.operations.iter().map(content).collect(),
            mode: setup.load.query_mode,
            feeds: setup.feeds.clone(),
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
            Content::Declared(_) | Content::Dump { .. } | Content::Template { .. } | Content::Source(_) => {
                content.clone()
            }
        };
        let server = setup.stack.nodes.last().expect("a stack has a node");
        let detail = match &server.kind {
            NodeKind::Postgres(postgres) => postgres.version.map(|it| it.to_string()),
            NodeKind::Attached(attached) => Some(attached.dsn.clone()),
            NodeKind::Service(service) => service.url.clone(),
            NodeKind::Pooler(_) | NodeKind::Balancer(_) => None,
        };
        Schema {
            dataset: setup.dataset.as_ref().map(|it| (content(&it.content), it.post_load.clone())),
            server: (server.name.clone(), detail),
        }
    }
}

/// True if the operation is executed before the first trial: the file does not exclude it, and its changes and those of the
/// requests at the start of its client do not remain.
fn is_executed(setup: &Setup, operation: &Operation) -> bool {
    let only_reads = || operation.only_reads() && setup.on_start.as_ref().is_none_or(|it| it.only_reads());
    operation.preflight && (only_reads() || restores_data(setup))
}

/// True if the executions leave no changes for the trials: pgdyno starts the servers and services itself, or restores
/// the data of an attached server.
fn restores_data(setup: &Setup) -> bool {
    let is_kept = setup.dataset.as_ref().is_some_and(|it| it.keep);
    !is_kept
        && setup.stack.nodes.iter().all(|node| match &node.kind {
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

/// Prepares the statements of a setup.
fn statement_errors(setup: &Setup, test_bed: &mut TestBed) -> Result<Preparation, CommandError> {
    if !setup.operations.iter().any(has_statements) {
        return Ok(Preparation { errors: Vec::new(), is_complete: true });
    }
    let incomplete = Preparation { errors: Vec::new(), is_complete: false };
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
        additional: None,
        abandoned: test_bed.abandoned(),
        part: LoadPart::All,
        driver: None,
        secrets: ENVIRONMENT,
    };
    let program = workload::compile(setup, &inputs)?;
    // Prefer a direct connection to PostgreSQL, because a pooler may hide its errors.
    let target = match chain.postgres() {
        Some(postgres) => postgres.endpoint.in_database(&chain.users().database),
        None => match inputs.postgres.first() {
            Some(first) => Target::clone(first),
            None => return Ok(incomplete),
        },
    };
    let Ok(mut connection) = target.open(TIMEOUT) else { return Ok(incomplete) };
    Ok(statements::prepare_all(setup, &program, &mut connection))
}

/// True if the operation has SQL statements that are prepared.
fn has_statements(operation: &Operation) -> bool {
    operation.preflight && matches!(operation.kind, OperationKind::Script { .. })
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
