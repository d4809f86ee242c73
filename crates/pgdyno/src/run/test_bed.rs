//! Running stack, dataset and feeds of a trial
//!
//! One supervisor runs one chain of nodes. For the next cell, the chain is changed; nodes that both chains contain keep
//! running. The dataset is restored before each trial.

mod cache;
mod data;
mod drain;

use super::known_nodes::KnownNodes;
use super::workload::HttpTarget;
use crate::bench::connect;
use crate::cli::CommandError;
use crate::feeds::{self, Feeds};
use crate::fleet::Fleet;
use crate::signals::Signals;
use data::LoadedDataset;
use load::ledger::SERVER_IDENTITY_SQL;
use model::StaleRunDirectory;
use model::copied_data::SampledRows;
use model::feed_coverage::FeedCoverage;
use model::message;
use model::message::Message;
use model::note::Note;
use model::plan::{Dataset, Feed, Hooks, Replication, Setup, SourceDatabase, Stack};
use model::row_table::Rows;
use model::target::TargetState;
use stack::chain::{Chain, ChainError, ChainProgress, DataCopy, DataSource, RunningNode};
use stack::client::Address;
use stack::component::program::Programs;
use stack::data_cache::DataCache;
use stack::dataset::{LoadResult, Stage};
use stack::interrupt::{with_interrupt, without_interrupt};
use stack::limits::LiftedLimits;
use stack::plans::IndexBuild;
use stack::restore::{CachePreparation, CopyResult};
use stack::source::SourceDump;
use stack::supervisor::{End, KeeperProgram, Supervisor, free_port};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Timeout for queries on table sizes.
const TABLE_QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for feed queries and post-load statements. They may read a whole table from disk, under an I/O quota.
const FEED_QUERY_TIMEOUT: Duration = Duration::from_secs(600);

/// The system under test and its supervisor.
#[derive(Debug)]
pub struct TestBed {
    pub supervisor: Supervisor,
    programs: Programs,
    chain: Option<Chain>,
    dataset: Option<LoadedDataset>,
    /// Source databases that the run has read.
    sources: Vec<(SourceDatabase, u64, SourceDump)>,
    /// Loaded data of earlier runs; `None` if the cache is switched off.
    data_cache: Option<DataCache>,
    /// Indexes that were built for the trial after loading.
    built: Vec<IndexBuild>,
    /// Number of processes that the kernel had killed for lack of memory before the last trial, by node.
    oom_kills: Vec<(String, u64)>,
    feeds: Feeds,
    /// Attached server of the last setup; `None` without an attached server.
    target: Option<TargetState>,
    /// Hooks of the last setup, until the command after its trial runs.
    hooks: Option<Hooks>,
    stop: Arc<AtomicBool>,
    abandoned: Arc<AtomicBool>,
    /// Agents that generate the load; `None` if this process does.
    pub fleet: Option<Fleet>,
}

impl Drop for TestBed {
    /// Runs the command that follows a trial if no trial followed the setup, as in `try`.
    fn drop(&mut self) {
        let _ = self.run_after_trial();
    }
}

/// Progress of the setup, for the display.
#[derive(Clone, Copy, Debug)]
pub enum Update<'a> {
    Chain(ChainProgress<'a>),
    Loading(Stage, u64),
    Loaded(&'a LoadResult),
    /// The source database is being read.
    ReadingSource,
    SourceRead(&'a SourceDump),
    /// Rows of a table in the sample.
    Sampled(&'a str, SampledRows),
    /// The server started from data that an earlier run loaded.
    DataReused(DataCopy),
    /// The loaded data were stored for later runs.
    DataStored(DataCopy),
    Restored(&'a CopyResult),
    /// The previous trial wrote nothing.
    DataUnchanged,
    Warmed(&'a CachePreparation),
    StaleDirectory(&'a StaleRunDirectory),
}

/// Reasons why a trial cannot start.
#[derive(Debug)]
pub enum SetupError {
    /// A component is not available on this machine; the cell is skipped.
    Unavailable(Message),
    /// The setup failed unexpectedly.
    Failed(Message),
    /// A node differs from the node that earlier trials of the run measured.
    OtherNode(Message),
    Stopped,
}

impl TestBed {
    /// Starts the supervisor. `stop` ends long operations; `abandoned` ends the load without completing transactions in
    /// flight.
    pub fn start(stop: Arc<AtomicBool>, abandoned: Arc<AtomicBool>) -> Result<TestBed, CommandError> {
        let supervisor = Supervisor::start(&KeeperProgram::ourselves());
        let supervisor = supervisor.map_err(|it| CommandError::new(&it))?;
        let data_cache = cache::from_environment()?;
        let (chain, filled, built, starved) = (None, None, Vec::new(), Vec::new());
        let (programs, feeds) = (Programs::from_environment(), Feeds::default());
        Ok(TestBed {
            supervisor,
            programs,
            chain,
            dataset: filled,
            sources: Vec::new(),
            data_cache,
            built,
            oom_kills: starved,
            feeds,
            target: None,
            hooks: None,
            stop,
            abandoned,
            fleet: None,
        })
    }

    /// Starts the supervisor like [`TestBed::start`]; signals such as SIGINT set the flags.
    pub fn with_signals() -> Result<TestBed, CommandError> {
        let signals = Signals::default().listen();
        let Signals { interrupted, abandoned } = signals
            .map_err(|error| CommandError::new(message!("run-no-signals", error = Message::from(&error))))?;
        TestBed::start(interrupted, abandoned)
    }

    /// Flag that ends the load without completing transactions in flight.
    pub fn abandoned(&self) -> &Arc<AtomicBool> {
        &self.abandoned
    }

    /// Flag that the user set to end the work.
    pub fn interrupted(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Chain of the most recent setup.
    pub fn chain(&self) -> &Chain {
        self.chain.as_ref().expect("a trial was set up")
    }

    /// Target of HTTP requests; `None` if the chain has no HTTP node.
    pub fn http_target(&self) -> Option<HttpTarget> {
        let running = self.chain().http_node()?;
        Some(HttpTarget { url: running.url.clone()?, address: running.endpoint.address.clone() })
    }

    /// Rows of the feeds, in the order of the plan. Each feed is read only once. Queries are sent directly to
    /// PostgreSQL, without other nodes.
    pub fn feeds(&mut self, setup: &Setup) -> Result<Vec<Rows>, CommandError> {
        let TestBed { feeds, chain, .. } = self;
        let chain = chain.as_ref().expect("a trial was set up");
        let mut connection = || {
            let postgres = chain.postgres();
            let postgres =
                postgres.ok_or_else(|| CommandError::new(message!("failure-feed-needs-server")))?;
            let target = postgres.endpoint.in_database(&chain.users().database);
            let failed = |error: Message| CommandError::new(message!("failure-feed-connection", error));
            let mut connection = target.open(TABLE_QUERY_TIMEOUT).map_err(|it| failed((&it).into()))?;
            connection.set_timeout(Some(FEED_QUERY_TIMEOUT));
            Ok(connection)
        };
        with_interrupt(&self.stop, || setup.feeds.iter().map(|it| feeds.rows(it, &mut connection)).collect())
    }

    /// Notes about the feeds that were read since the last call.
    pub fn take_feed_notes(&mut self) -> Vec<Note> {
        self.feeds.take_notes()
    }

    /// Coverage of the feeds that name a column; empty if it cannot be determined.
    pub fn feed_coverage(&mut self, setup: &Setup) -> Vec<FeedCoverage> {
        let stop = Arc::clone(&self.stop);
        with_interrupt(&stop, || self.query_feed_coverage(setup))
    }

    fn query_feed_coverage(&mut self, setup: &Setup) -> Vec<FeedCoverage> {
        let Ok(rows) = self.feeds(setup) else { return Vec::new() };
        let named = setup
            .feeds
            .iter()
            .zip(&rows)
            .filter_map(|(it, rows)| Some((it, rows, it.lookup_column.as_ref()?)));
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            return Vec::new();
        }
        let Some(postgres) = self.chain().postgres() else { return Vec::new() };
        let memory =
            postgres.plan.limits.memory.or_else(|| stack::host::Host::detect().memory).unwrap_or(u64::MAX);
        let admin = postgres.admin.as_ref().unwrap_or(&postgres.endpoint);
        let target = admin.in_database(&self.chain().users().database);
        let Ok(mut connection) = target.open(TABLE_QUERY_TIMEOUT) else { return Vec::new() };
        let reach = |(feed, rows, lookup_column): (&Feed, &Rows, &String)| {
            let column = lookup_column.rsplit('.').next().unwrap_or(lookup_column);
            let distinct = feed::count_distinct(rows, rows.columns().iter().position(|it| it == column));
            let table = feeds::table_stats(lookup_column, &mut connection);
            analysis::facts::feed_coverage::feed_coverage(
                &feed.name,
                (rows.len(), distinct),
                feed.order,
                table,
                memory,
            )
        };
        named.into_iter().map(reach).collect()
    }

    /// Attached server of the last setup, and the state of its data; `None` without an attached server.
    pub fn target(&self) -> Option<&TargetState> {
        self.target.as_ref()
    }

    /// Starts the stack of `setup` and restores its data. If the user ends the run, waiting for a server is cancelled.
    /// Fails if a node differs from the `known` node with the same plan.
    pub fn set_up(
        &mut self,
        setup: &Setup,
        known: &KnownNodes,
        on_update: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), SetupError> {
        let stop = Arc::clone(&self.stop);
        let done = with_interrupt(&stop, || self.set_up_nodes(setup, known, on_update));
        done.map_err(|it| if stop.load(Ordering::Relaxed) { SetupError::Stopped } else { it })
    }

    fn set_up_nodes(
        &mut self,
        setup: &Setup,
        known: &KnownNodes,
        on_update: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), SetupError> {
        self.supervisor.take_stale_directories().iter().for_each(|it| on_update(Update::StaleDirectory(it)));
        self.hooks = Some(setup.hooks.clone());
        self.run_hook("hooks.before_trial", &setup.hooks.before_trial, &setup.hooks.directory)
            .map_err(SetupError::Failed)?;
        Chain::available(&setup.stack, &self.programs, &mut |it| on_update(Update::Chain(it)))?;
        // Stop the nodes in front of the database first, because their connections would block the restore.
        let last = setup.stack.nodes.last().expect("a stack has a node").clone();
        let base = Stack {
            nodes: vec![last],
            generator: setup.stack.generator.clone(),
            replication: setup.stack.replication.as_ref().map(Replication::primary_only),
            hosts: setup.stack.hosts.clone(),
        };
        self.set_up_chain(&base, setup.dataset.as_ref(), on_update)?;
        self.target = None;
        let server = self.chain().server_identity()?;
        known.check(self.chain(), server.as_ref()).map_err(SetupError::OtherNode)?;
        if let Some(dataset) = &setup.dataset {
            let server = self.chain().postgres().and_then(|node| node.node);
            let lifted = server.map(|id| self.supervisor.lift_rate_limits(id));
            self.load_dataset(dataset, setup, on_update)?;
            lifted.map_or(Ok(()), LiftedLimits::restore).map_err(failed)?;
        }
        if setup.stack.nodes.len() > 1 || setup.stack.replication.is_some() {
            self.set_up_chain(&setup.stack, setup.dataset.as_ref(), on_update)?;
            known.check(self.chain(), server.as_ref()).map_err(SetupError::OtherNode)?;
        }
        self.target = server.map(|server| {
            // Record the state of the data only without a dataset, because pgdyno restores a dataset.
            let data = setup.dataset.is_none().then(|| self.chain().data_state()).flatten();
            TargetState { server, data }
        });
        if setup.operations.iter().any(|it| it.ledger.is_some()) {
            let chain = self.chain.as_mut().expect("its servers are up");
            chain.create_identity_function(SERVER_IDENTITY_SQL).map_err(failed)?;
        }
        self.oom_kills = self.chain().oom_kills(&self.supervisor);
        Ok(())
    }

    /// Runs the command that follows a trial, unless it ran since the last setup. It runs even if the user ends the run.
    pub fn run_after_trial(&mut self) -> Result<(), Message> {
        let Some(Hooks { after_trial, directory, .. }) = self.hooks.take() else { return Ok(()) };
        without_interrupt(|| self.run_hook("hooks.after_trial", &after_trial, &directory))
    }

    fn run_hook(&mut self, name: &str, command: &[String], directory: &Path) -> Result<(), Message> {
        stack::hook::run(&mut self.supervisor, &self.programs, name, command, directory)
    }

    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Chain and supervisor, because faults need both.
    pub fn chain_and_supervisor(&mut self) -> (&mut Chain, &mut Supervisor) {
        (self.chain.as_mut().expect("a trial was set up"), &mut self.supervisor)
    }

    /// Messages about nodes whose host names no longer resolve to the measured address.
    pub fn address_changes(&self) -> Vec<Message> {
        let moved = |node: &RunningNode| match (&node.endpoint.host, &node.endpoint.address) {
            (Some(host), _) => connect::address_change(host.name(), host.address()),
            (None, Address::Tcp(used)) => connect::address_change(node.host.as_ref()?, *used),
            (None, Address::Unix(_)) => None,
        };
        self.chain().nodes().iter().filter_map(moved).collect()
    }

    /// Indexes built for the current trial.
    pub fn built(&self) -> &[IndexBuild] {
        &self.built
    }

    /// Messages about nodes that exited unexpectedly, such as `pooler was ended by signal 9 during the trial`. Nodes in
    /// `hit` are omitted, because a fault affected them.
    pub fn unexpected_exits(&mut self, hit: &[String]) -> Vec<Message> {
        let chain = self.chain.as_ref().expect("a trial was set up");
        let replicas = chain.servers().into_iter().skip(1);
        let nodes = chain.nodes().iter().chain(replicas).filter(|it| !hit.contains(&it.plan.name));
        let mut all = Vec::new();
        for (node, id) in nodes.filter_map(|it| Some((it, it.node?))) {
            let Some(end) = self.supervisor.end_of(id) else { continue };
            let has_failed = matches!(end, End::Exit(status) if status != 0);
            let fatal_error = || node.last_fatal_error(&self.supervisor).filter(|_| has_failed);
            let reason = self.supervisor.end_reason(id);
            let reason = reason.or_else(|| Some(message!("node-fatal-error", line = fatal_error()?)));
            all.push(message!(
                "failure-node-ended",
                node = &node.plan.name,
                end = Message::from(end),
                reason
            ));
        }
        let before = std::mem::take(&mut self.oom_kills);
        let starved = self.chain().oom_kills(&self.supervisor);
        let new = starved.iter().filter(|it| !before.contains(it)).map(|it| &it.0);
        all.extend(new.map(|node| message!("failure-out-of-memory", node)));
        all
    }

    /// Changes the chain. If a new server starts and the cache has the dataset, the server starts from a copy of it.
    fn set_up_chain(
        &mut self,
        stack: &Stack,
        dataset: Option<&Dataset>,
        on_update: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), SetupError> {
        let is_new = self.chain.is_none();
        let mut chain = match self.chain.take() {
            Some(chain) => chain,
            None => Chain::idle(free_port, &self.supervisor)?,
        };
        let content = dataset.and_then(stack::dataset::content_key);
        let source = self.data_cache.clone().zip(content);
        chain.set_data_source(source.map(|(cache, content)| DataSource { cache, content }));
        let on_progress = &mut |it: ChainProgress<'_>| on_update(Update::Chain(it));
        let changed = chain.reconcile(&mut self.supervisor, stack, &self.programs, on_progress);
        if is_new && changed.is_err() {
            chain.down(&mut self.supervisor, on_progress).map_err(failed)?;
            return Ok(changed?);
        }
        let copy = chain.take_data_copy();
        self.chain = Some(chain);
        changed?;
        if let Some(copy) = copy {
            on_update(Update::DataReused(copy));
        }
        Ok(())
    }
}

impl From<ChainError> for SetupError {
    fn from(error: ChainError) -> SetupError {
        match error {
            ChainError::Unavailable(_) => SetupError::Unavailable((&error).into()),
            _ => failed(error),
        }
    }
}

impl SetupError {
    pub fn message(&self) -> Message {
        match self {
            SetupError::Unavailable(error) | SetupError::Failed(error) | SetupError::OtherNode(error) => {
                error.clone()
            }
            SetupError::Stopped => message!("run-setup-stopped"),
        }
    }
}

/// Converts an error to the error for a setup that failed unexpectedly.
#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
pub fn failed<E>(error: E) -> SetupError
where
    for<'a> &'a E: Into<Message>,
{
    SetupError::Failed((&error).into())
}
