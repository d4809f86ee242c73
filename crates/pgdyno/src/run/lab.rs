//! What stands ready for the next trial?
//!
//! One supervisor, one chain that becomes the next cell's, one dataset that is put back as it was. What two cells share
//! keeps running.

use super::feeds::{self, Feeds};
use super::workload::Web;
use crate::voice::{Trouble, plain};
use load::ledger::IDENTITY;
use model::Leftover;
use model::plan::{Cache, Dataset, Feed, Replication, Setup, Stack};
use model::reach::Reach;
use model::rows::Rows;
use stack::chain::{Chain, Problem, Step};
use stack::component::program::Programs;
use stack::dataset::{self, Loaded, Loader, Stage};
use stack::plans::{self, Built};
use stack::restore::{self, Bloat, Copied, Template, Warmth, Whose};
use stack::supervisor::{KeeperProgram, NodeId, Supervisor};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Connections that load a dataset.
const WORKERS: u16 = 2;

/// Looking at the tables takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A feed's query, or a statement that follows loading, may read a whole table, cold and under a quota of reads.
const READING: Duration = Duration::from_secs(600);

/// Everything under test, and who looks after it.
#[derive(Debug)]
pub struct Lab {
    pub supervisor: Supervisor,
    programs: Programs,
    chain: Option<Chain>,
    filled: Option<Filled>,
    /// What was built for the trial, once its data were there.
    built: Vec<Built>,
    /// Processes of nodes that were ended for want of memory, when the last trial was set up.
    starved: Vec<(String, u64)>,
    feeds: Feeds,
    stop: Arc<AtomicBool>,
    abandoned: Arc<AtomicBool>,
}

/// A dataset, and the server that it is in.
#[derive(Debug)]
struct Filled {
    /// Our data, or the server that was there before.
    server: (Option<NodeId>, String),
    /// The rows alone: without what follows once they are there, and however warm they are.
    dataset: Dataset,
    template: Template,
    /// How far the server was with writing when the last trial began, by [`Template::settle`]; `None` where that trial's data were
    /// not those of the template, or their caches were left as they were: a copy's are empty.
    untouched: Option<u64>,
}

/// What happens meanwhile, to be shown.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    Chain(Step<'a>),
    Loading(Stage, u64),
    Loaded(&'a Loaded),
    Restored(&'a Copied),
    /// The trial before wrote nothing.
    Kept,
    Warmed(&'a Warmth),
    Leftover(&'a Leftover),
}

/// Why a trial cannot begin.
#[derive(Debug)]
pub enum Hindrance {
    /// A component cannot be had here: the cell is skipped.
    Unavailable(String),
    /// What should have worked did not.
    Failed(String),
    Stopped,
}

impl Lab {
    /// `stop`: looked at while something takes long; `abandoned` ends the load without waiting for what is under way.
    pub fn start(stop: Arc<AtomicBool>, abandoned: Arc<AtomicBool>) -> Result<Lab, Trouble> {
        let supervisor = Supervisor::start(&KeeperProgram::ourselves());
        let supervisor = supervisor.map_err(|it| Trouble::new(it.to_string()))?;
        let (chain, filled, built, starved) = (None, None, Vec::new(), Vec::new());
        let (programs, feeds) = (Programs::here(), Feeds::default());
        Ok(Lab { supervisor, programs, chain, filled, built, starved, feeds, stop, abandoned })
    }

    /// Set to end the load without waiting for what is under way.
    pub fn abandoned(&self) -> &Arc<AtomicBool> {
        &self.abandoned
    }

    /// The chain of the last trial that was set up.
    pub fn chain(&self) -> &Chain {
        self.chain.as_ref().expect("a trial was set up")
    }

    /// Where HTTP requests go, if the chain takes any.
    pub fn web(&self) -> Option<Web> {
        let running = self.chain().web()?;
        Some(Web { url: running.url.clone()?, address: running.entrance.address.clone() })
    }

    /// The rows of the plan's feeds, in its order; read once. A query is asked of PostgreSQL, whatever stands before it.
    pub fn feeds(&mut self, setup: &Setup) -> Result<Vec<Rows>, Trouble> {
        let Lab { feeds, chain, .. } = self;
        let chain = chain.as_ref().expect("a trial was set up");
        let mut connection = || {
            let postgres = chain.postgres();
            let postgres =
                postgres.ok_or_else(|| Trouble::new("a feed by a query needs a PostgreSQL in the stack"))?;
            let target = postgres.entrance.in_database(&chain.users().database);
            let failed = |it: String| Trouble::new(format!("the query of a feed cannot be asked: {it}"));
            let mut connection = target.open(PATIENCE).map_err(|it| failed(it.to_string()))?;
            connection.patience(Some(READING)).map_err(|it| failed(plain(&it)))?;
            Ok(connection)
        };
        setup.feeds.iter().map(|it| feeds.rows(it, &mut connection)).collect()
    }

    /// How much of their tables the feeds can touch, of those that name a column; empty where that cannot be found out.
    pub fn reaches(&mut self, setup: &Setup) -> Vec<Reach> {
        let Ok(rows) = self.feeds(setup) else { return Vec::new() };
        let named = setup.feeds.iter().zip(&rows).filter_map(|(it, rows)| Some((it, rows, it.of.as_ref()?)));
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            return Vec::new();
        }
        let Some(postgres) = self.chain().postgres() else { return Vec::new() };
        let memory =
            postgres.plan.limits.memory.or_else(|| stack::host::Host::look().memory).unwrap_or(u64::MAX);
        let admin = postgres.admin.as_ref().unwrap_or(&postgres.entrance);
        let target = admin.in_database(&self.chain().users().database);
        let Ok(mut connection) = target.open(PATIENCE) else { return Vec::new() };
        let reach = |(it, rows, of): (&Feed, &Rows, &String)| {
            let column = of.rsplit('.').next().unwrap_or(of);
            let distinct = feed::distinct(rows, rows.columns().iter().position(|it| it == column));
            let table = feeds::table(of, &mut connection);
            analysis::reach::reach(&it.name, (rows.len(), distinct), it.order, table, memory)
        };
        named.into_iter().map(reach).collect()
    }

    /// Brings up what `setup` asks for, with its data as at the beginning.
    pub fn set_up(&mut self, setup: &Setup, tell: &mut dyn FnMut(News<'_>)) -> Result<(), Hindrance> {
        self.supervisor.take_leftovers().iter().for_each(|it| tell(News::Leftover(it)));
        Chain::available(&setup.stack, &self.programs, &mut |it| tell(News::Chain(it)))?;
        // What stands before the database goes first: its connections would hold it.
        let last = setup.stack.nodes.last().expect("a stack has a node").clone();
        let base = Stack {
            nodes: vec![last],
            generator: setup.stack.generator.clone(),
            replication: setup.stack.replication.as_ref().map(Replication::alone),
        };
        self.become_(&base, tell)?;
        if let Some(dataset) = &setup.dataset {
            self.fill(dataset, setup, tell)?;
        }
        if setup.stack.nodes.len() > 1 || setup.stack.replication.is_some() {
            self.become_(&setup.stack, tell)?;
        }
        if setup.operations.iter().any(|it| it.ledger.is_some()) {
            let chain = self.chain.as_mut().expect("its servers are up");
            chain.identify(IDENTITY).map_err(failed)?;
        }
        self.starved = self.chain().starved(&self.supervisor);
        Ok(())
    }

    /// The chain and who looks after it, for those who do something to both.
    pub fn parts(&mut self) -> (&mut Chain, &mut Supervisor) {
        (self.chain.as_mut().expect("a trial was set up"), &mut self.supervisor)
    }

    /// What was built for the trial that was set up.
    pub fn built(&self) -> &[Built] {
        &self.built
    }

    /// Tables that are larger than they were before the trial. Empty also where they cannot be looked at.
    pub fn grown(&self) -> Vec<Bloat> {
        let (Some(filled), Some(chain)) = (&self.filled, &self.chain) else { return Vec::new() };
        let Some(postgres) = chain.postgres() else { return Vec::new() };
        let target =
            postgres.admin.as_ref().unwrap_or(&postgres.entrance).in_database(&chain.users().database);
        let now = target.open(PATIENCE).and_then(|mut it| restore::state(&mut it));
        now.map(|it| it.bloat(&filled.template.state)).unwrap_or_default()
    }

    /// What of the chain has ended though it was not asked to, and how: `pooler was ended by signal 9 in mid-trial`. To
    /// those that were `hit` it was done.
    pub fn ended(&mut self, hit: &[String]) -> Vec<String> {
        let chain = self.chain();
        let replicas = chain.servers().into_iter().skip(1);
        let nodes = chain.nodes().iter().chain(replicas).filter(|it| !hit.contains(&it.plan.name));
        let nodes = nodes.filter_map(|it| Some((it.plan.name.clone(), it.node?)));
        let nodes: Vec<(String, NodeId)> = nodes.collect();
        let ended = |(name, id)| {
            let end = self.supervisor.ended(id)?;
            Some(format!("{name} {end} in mid-trial{}", self.supervisor.end_reason(id)))
        };
        let mut all: Vec<String> = nodes.into_iter().filter_map(ended).collect();
        let before = std::mem::take(&mut self.starved);
        let starved = self.chain().starved(&self.supervisor);
        let new = starved.iter().filter(|it| !before.contains(it)).map(|it| &it.0);
        all.extend(new.map(|it| format!("{it} ran out of memory: the system ended processes of it")));
        all
    }

    fn become_(&mut self, stack: &Stack, tell: &mut dyn FnMut(News<'_>)) -> Result<(), Hindrance> {
        let tell = &mut |it: Step<'_>| tell(News::Chain(it));
        match &mut self.chain {
            Some(chain) => chain.become_(&mut self.supervisor, stack, &self.programs, tell)?,
            None => self.chain = Some(Chain::up(&mut self.supervisor, stack, &self.programs, tell)?),
        }
        Ok(())
    }

    /// The dataset as it was when it had just been loaded.
    fn fill(
        &mut self,
        dataset: &Dataset,
        setup: &Setup,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<(), Hindrance> {
        let chain = self.chain.as_ref().expect("its server is up");
        let postgres = chain.postgres().ok_or_else(|| {
            Hindrance::Failed("a dataset needs a PostgreSQL at the end of the chain".to_owned())
        })?;
        let server = (postgres.cluster(), postgres.entrance.address.to_string());
        let server = if server.0.is_some() { (server.0, String::new()) } else { server };
        let base = Dataset { after: Vec::new(), cache: Cache::AsIs, ..dataset.clone() };
        let same = |it: &Filled| it.server == server && it.dataset == base;
        match self.filled.as_mut().filter(|it| same(it)) {
            Some(filled) => {
                let before = filled.untouched.take().filter(|_| dataset.cache != Cache::AsIs);
                if before.is_some() && before == filled.template.settle().map_err(failed)? {
                    tell(News::Kept);
                } else {
                    tell(News::Restored(&filled.template.restore().map_err(failed)?));
                }
            }
            None => {
                self.filled = None;
                self.feeds.forget_queries();
                let target = postgres.entrance.clone();
                let loader = Loader { target, workers: WORKERS, again: false, stop: &self.stop };
                // What is attached is restored by its superuser where we are it.
                let superuser = postgres.admin.as_ref().unwrap_or(&postgres.entrance);
                let database = &chain.users().database;
                let whose = if postgres.is_attached() { Whose::Attached } else { Whose::Ours };
                // What cannot be restored is not loaded.
                Template::check(superuser, database, whose).map_err(failed)?;
                let rows = dataset::rows(&dataset.content);
                let loaded = dataset::load(&base, &loader, &mut |it| tell(News::Loading(it, rows)));
                let loaded = loaded.map_err(|it| match it {
                    dataset::Error::Stopped => Hindrance::Stopped,
                    other => failed(other),
                })?;
                tell(News::Loaded(&loaded));
                let template = Template::make(superuser, database, whose).map_err(|refused| {
                    let left = match loaded.reused {
                        true => Ok(()),
                        false => dataset::unload(&loader),
                    };
                    failed(left.map_or_else(
                        |why| format!("{refused}; what was loaded could not be dropped: {why}"),
                        |()| refused.to_string(),
                    ))
                })?;
                self.filled = Some(Filled { server, dataset: base, template, untouched: None });
            }
        }
        self.build(&dataset.after)?;
        // Asked now: later their queries would fill caches that are to be cold.
        self.feeds(setup).map_err(|it| Hindrance::Failed(it.what))?;
        let (chain, cache) = (self.chain.as_mut().expect("its server is up"), dataset.cache);
        tell(News::Warmed(&chain.cache(&mut self.supervisor, cache).map_err(failed)?));
        if let Some(filled) =
            self.filled.as_mut().filter(|_| dataset.after.is_empty() && cache != Cache::AsIs)
        {
            filled.untouched = filled.template.settle().map_err(failed)?;
        }
        Ok(())
    }
}

impl Lab {
    /// What follows once the rows are there, such as indexes, by the owner of the tables.
    fn build(&mut self, statements: &[String]) -> Result<(), Hindrance> {
        self.built.clear();
        if statements.is_empty() {
            return Ok(());
        }
        let postgres = self.chain().postgres().expect("its data are there");
        let mut connection = postgres.entrance.open(PATIENCE).map_err(failed)?;
        connection.patience(Some(READING)).map_err(failed)?;
        let mut built = Vec::new();
        for it in statements {
            built.push(plans::build(&mut connection, it).map_err(|why| failed(format!("{it}: {why}")))?);
        }
        if let Some(admin) = postgres.admin.as_ref().filter(|_| !postgres.is_attached()) {
            // What was written for it is not the trial's to pay for.
            admin.open(PATIENCE).and_then(|mut it| it.query("checkpoint")).map_err(failed)?;
        }
        self.built = built;
        Ok(())
    }
}

impl From<Problem> for Hindrance {
    fn from(it: Problem) -> Hindrance {
        match it {
            Problem::Unavailable(it) => Hindrance::Unavailable(it.to_string()),
            other => Hindrance::Failed(other.to_string()),
        }
    }
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hindrance::Unavailable(it) | Hindrance::Failed(it) => f.write_str(it),
            Hindrance::Stopped => f.write_str("stopped"),
        }
    }
}

fn failed(it: impl fmt::Display) -> Hindrance {
    Hindrance::Failed(it.to_string())
}
