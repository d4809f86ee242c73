//! Which nodes stand between a client and the rows, and how do they come and go?
//!
//! A chain is brought up from PostgreSQL to the entrance and asked at every step whether it serves. It can become another
//! one: what is the same, and stands on the same, keeps running.

mod attach;
mod cache;
mod console;
mod direct;
mod faults;
mod guard;
mod hop;
mod path;
mod patroni;
mod problem;
mod promote;
mod replicas;
mod service;
mod start;

pub use attach::{DsnTarget, describe_dsn};
pub use direct::IDENTITY_FUNCTION;
pub use faults::{ActiveFault, InjectedFault};
pub use problem::ChainError;
pub use promote::{Promotion, RejoinResult};
pub use replicas::ServerStatus;
pub use service::{expand_copies, with_path};

use crate::client::{Address, Target};
use crate::component::postgres::Postgres;
use crate::component::program::Programs;
use crate::component::{EndpointTls, User, Users};
use crate::supervisor::{End, Launch, NodeError, NodeId, Readiness, Sig, Supervisor, free_port};
use crate::tls_files::TlsFiles;
use model::plan::{Node, NodeKind, Replication, Stack, Transport};
use model::summary::ServerTransport;
use patroni::Managers;
use replicas::Replicas;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use start::NodeProgram;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::http::Url;
use wire::pg::{Login, Secret};

/// The nodes of one stack, running. They end with the [`Supervisor`] that started them.
#[derive(Debug)]
pub struct Chain {
    /// The entrance first, PostgreSQL last.
    nodes: Vec<RunningNode>,
    /// Nodes that [`Chain::quiesce`] has stopped, the entrance first.
    quiesced: Vec<(Node, NodeProgram)>,
    users: Users,
    tls: Option<TlsFiles>,
    ports: fn() -> io::Result<u16>,
    /// A database whose server was stopped to be started with other settings.
    stopped_postgres: Option<Box<Postgres>>,
    /// What was asked for last.
    requested_replication: Option<Replication>,
    /// The programs that this takes.
    managers: Option<Managers>,
    /// Those of the PostgreSQL at the end, once they are there.
    replicas: Option<Replicas>,
}

/// A node that serves, or did when it was last asked.
#[derive(Debug)]
pub struct RunningNode {
    pub plan: Node,
    /// `None` for what is attached.
    pub node: Option<NodeId>,
    pub program: Option<PathBuf>,
    /// As it tells it.
    pub version: String,
    /// How the application reaches it. Of what takes HTTP requests only the address means something.
    pub endpoint: Target,
    /// How the application reaches the replicas, through a balancer before them.
    pub read_only: Option<Target>,
    /// Where requests go, `http://127.0.0.1:8080/`, if it takes HTTP requests: a service, or a balancer before one.
    pub url: Option<Url>,
    /// The superuser of PostgreSQL; the console of a pooler, which takes the simple protocol only.
    pub admin: Option<Target>,
    /// The socket of HAProxy that tells its statistics.
    pub statistics: Option<PathBuf>,
    pub log: Option<PathBuf>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Names and contents of its files, with `***` for secrets.
    pub configuration: Vec<(String, String)>,
    /// What the bytes on the way into it travel over, as it was found to be.
    pub hop: ServerTransport,
    /// What those in front of it must insist on.
    endpoint_tls: EndpointTls,
    /// The path that a service answers with 200 when it is ready, and how long that may take.
    ready: Option<(String, Duration)>,
    handle: NodeHandle,
}

/// What starts it again.
#[derive(Debug)]
enum NodeHandle {
    Postgres(Box<Postgres>),
    Program { launch: Box<Launch>, program: NodeProgram },
    Attached,
}

/// What happens while a chain comes up, to be told.
#[derive(Clone, Copy, Debug)]
pub enum ChainProgress<'a> {
    /// PostgreSQL of this major version is being fetched.
    Fetching(u32),
    Starting(&'a Node),
    Ready(&'a RunningNode, Duration),
    Stopping(&'a Node),
}

/// The application's user and database.
const APP: &str = "app";
/// Who looks at the consoles.
const CONSOLE_USER: &str = "pgdyno";
/// No node that is in order takes longer to be ready.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

impl Chain {
    /// Starts all nodes. If one cannot be had or does not come up, those already started are stopped again.
    pub fn up(
        supervisor: &mut Supervisor,
        stack: &Stack,
        programs: &Programs,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<Chain, ChainError> {
        Chain::up_with(free_port, supervisor, stack, programs, tell)
    }

    /// The same, with ports from elsewhere; one that turns out to be taken is followed by another.
    pub fn up_with(
        ports: fn() -> io::Result<u16>,
        supervisor: &mut Supervisor,
        stack: &Stack,
        programs: &Programs,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<Chain, ChainError> {
        let user = |name: &str| {
            User::new(name).map_err(|it| NodeError::new("stack", "get a password", it.to_string()))
        };
        let users = Users { app: user(APP)?, database: APP.to_owned(), console: user(CONSOLE_USER)? };
        raise_file_limit(supervisor);
        let mut chain = Chain {
            nodes: Vec::new(),
            quiesced: Vec::new(),
            users,
            tls: None,
            ports,
            stopped_postgres: None,
            requested_replication: None,
            managers: None,
            replicas: None,
        };
        match chain.reconcile(supervisor, stack, programs, tell) {
            Ok(()) => Ok(chain),
            Err(problem) => {
                chain.down(supervisor, tell)?;
                Err(problem)
            }
        }
    }

    /// Whether every component of the stack can be had here. Starts nothing, but fetches a PostgreSQL where that is how one
    /// is had.
    pub fn available(
        stack: &Stack,
        programs: &Programs,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        Managers::find(stack.replication.as_ref(), programs)?;
        expand_copies(&stack.nodes).iter().try_for_each(|it| NodeProgram::find(it, programs, tell).map(drop))
    }

    /// Becomes this stack: nodes that are equal, run, and stand on such nodes stay; the others are stopped, the entrance
    /// first, and the new ones started. Addresses of new nodes are new. A PostgreSQL of the same version keeps its data and
    /// its port under other settings and limits.
    ///
    /// Nothing is touched if the stack cannot be had. After a failure on the way what still runs is kept, and the chain
    /// can be asked to become this or another stack again.
    pub fn reconcile(
        &mut self,
        supervisor: &mut Supervisor,
        stack: &Stack,
        programs: &Programs,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let nodes = expand_copies(&stack.nodes);
        let mut found = Vec::new();
        for node in &nodes {
            found.push((node.clone(), NodeProgram::find(node, programs, tell)?));
        }
        let managers = Managers::find(stack.replication.as_ref(), programs)?;
        self.quiesced.clear();
        let alone = |it: &Option<Replication>| it.as_ref().map(Replication::primary_only);
        let as_ready = alone(&self.requested_replication) == alone(&stack.replication);
        // Replicas that stay are those that were asked for, and to which nothing was done.
        let wanted = stack.replication.clone().filter(|it| it.replicas > 0);
        let stay = self.replication() == wanted.as_ref() && self.is_unchanged(supervisor);
        let mut same = 0;
        let pairs = self.nodes.iter().rev().zip(nodes.iter().rev());
        for (old, new) in pairs {
            if old.plan != *new || old.node.is_some_and(|it| supervisor.end_of(it).is_some()) {
                break;
            }
            same += 1;
        }
        if !as_ready {
            same = 0;
        }
        if same == 0 || !stay {
            while self.nodes.len() > 1 {
                self.stop_first(supervisor, tell, false)?;
            }
            self.remove_replicas(supervisor, tell)?;
            same = same.min(1);
        }
        self.requested_replication.clone_from(&stack.replication);
        self.managers = managers;
        while self.nodes.len() > same {
            let keep =
                self.nodes.len() == 1 && found.last().is_some_and(|it| self.nodes[0].can_reuse_data(it));
            self.stop_first(supervisor, tell, keep)?;
        }
        found.truncate(nodes.len() - same);
        self.put_in_front(supervisor, found, tell)
    }

    /// Stops all nodes, the entrance first.
    pub fn down(
        &mut self,
        supervisor: &mut Supervisor,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), NodeError> {
        self.quiesced.clear();
        while self.nodes.len() > 1 {
            self.stop_first(supervisor, tell, false)?;
        }
        self.remove_replicas(supervisor, tell)?;
        while !self.nodes.is_empty() {
            self.stop_first(supervisor, tell, false)?;
        }
        Ok(())
    }

    /// The entrance first, PostgreSQL last.
    pub fn nodes(&self) -> &[RunningNode] {
        &self.nodes
    }

    pub fn find_node(&self, name: &str) -> Option<&RunningNode> {
        self.nodes.iter().find(|it| it.plan.name == name)
    }

    /// What SQL is sent to: the first node that speaks PostgreSQL's protocol; where there is none, the first, which does
    /// not. Changes when that node is started anew, but for [`Chain::restart`].
    pub fn endpoint(&self) -> &Target {
        let speaks = self.nodes.iter().find(|it| it.url.is_none());
        &speaks.or(self.nodes.first()).expect("a chain that is up has nodes").endpoint
    }

    /// What HTTP requests are sent to: the first node that takes them. Changes as [`Chain::entry`].
    pub fn http_node(&self) -> Option<&RunningNode> {
        self.nodes.iter().find(|it| it.url.is_some())
    }

    /// The same for another database.
    pub fn endpoint_for(&self, database: &str) -> Target {
        self.endpoint().in_database(database)
    }

    /// The database server, if it is a node of its own.
    pub fn postgres(&self) -> Option<&RunningNode> {
        let attached = |it: &model::plan::AttachedNode| it.role == model::plan::AttachedRole::Postgres;
        self.nodes.last().filter(|it| match &it.plan.kind {
            NodeKind::Postgres(_) => true,
            NodeKind::Attached(it) => attached(it),
            _ => false,
        })
    }

    /// Who logs in, and the name of the application's database.
    pub fn users(&self) -> &Users {
        &self.users
    }

    /// Stops what stands in front of PostgreSQL and ends the application's sessions, so that its database can be dropped
    /// or copied. Sessions of a server that is not ours are left alone.
    pub fn quiesce(
        &mut self,
        supervisor: &mut Supervisor,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let mut waiting = Vec::new();
        while self.nodes.len() > 1 {
            let first = &self.nodes[0];
            let found = match &first.handle {
                NodeHandle::Program { program: found, .. } => found.clone(),
                // Not stopped, but for what stands behind it.
                NodeHandle::Attached if first.url.is_some() => NodeProgram::Attached,
                NodeHandle::Attached | NodeHandle::Postgres(_) => break,
            };
            waiting.push((first.plan.clone(), found));
            self.stop_first(supervisor, tell, false)?;
        }
        waiting.append(&mut self.quiesced);
        self.quiesced = waiting;
        let Some(RunningNode { node: Some(id), admin: Some(admin), plan, .. }) = self.nodes.last() else {
            return Ok(());
        };
        if !matches!(plan.kind, NodeKind::Postgres(_)) {
            return Ok(());
        }
        let user = &self.users.app.name;
        let sql =
            format!("select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = '{user}'");
        let mut connection =
            admin.open(READY_TIMEOUT).map_err(|it| node_error(&plan.name, "end sessions", &it))?;
        supervisor.await_ready(*id, READY_TIMEOUT, || match connection.value(&sql) {
            Ok(Some(it)) if it == "0" => Readiness::Ready(()),
            Ok(it) => Readiness::NotYet(format!("{} sessions are left", it.unwrap_or_default())),
            Err(it) => Readiness::Never(it.to_string()),
        })?;
        Ok(())
    }

    /// Starts again what [`Chain::quiesce`] has stopped. Addresses are new: see [`Chain::entry`].
    pub fn resume(
        &mut self,
        supervisor: &mut Supervisor,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let waiting = std::mem::take(&mut self.quiesced);
        if waiting.is_empty() {
            return Ok(());
        }
        self.put_in_front(supervisor, waiting, tell)
    }

    /// Kills a node as a crash would; returns when it has ended. What is attached is not ours to kill.
    pub fn kill(&mut self, supervisor: &mut Supervisor, name: &str) -> Result<End, NodeError> {
        let id = self.own_node_id(name)?;
        self.mark_changed(name);
        supervisor.signal(id, Sig::Kill)?;
        // Nothing is left to be stopped; this waits for the end.
        supervisor.stop(id)
    }

    /// Starts a node again at its address, after it has been stopped in its own way if it still runs; returns when it
    /// serves.
    pub fn restart(&mut self, supervisor: &mut Supervisor, name: &str) -> Result<(), NodeError> {
        let id = self.own_node_id(name)?;
        if let Some(at) = self.servers().iter().position(|it| it.plan.name == name) {
            let postgres = self.postgres_at(at);
            postgres.restart(supervisor)?;
            self.server_mut(at).node = Some(self.postgres_at(at).node);
            return Ok(());
        }
        if supervisor.end_of(id).is_none() {
            supervisor.stop(id)?;
        }
        let node = self.nodes.iter_mut().find(|it| it.plan.name == name).expect("it was found");
        let NodeHandle::Program { launch, .. } = &node.handle else {
            unreachable!("attached nodes have no number")
        };
        remove_socket(&node.endpoint.address);
        node.node = Some(supervisor.launch(Launch::clone(launch))?);
        console::await_service(supervisor, node)
    }

    /// Nodes that had used up their memory limit, and how many of their processes the kernel has ended therefore.
    pub fn oom_kills(&self, supervisor: &Supervisor) -> Vec<(String, u64)> {
        let all = self.nodes.iter().chain(self.replicas.iter().flat_map(|it| &it.nodes));
        let ended = |it: &RunningNode| Some((it.plan.name.clone(), supervisor.oom_kills(it.node?)));
        all.filter_map(ended).filter(|it| it.1 > 0).collect()
    }

    /// The number of a node of ours.
    fn own_node_id(&self, name: &str) -> Result<NodeId, NodeError> {
        let mut all = self.nodes.iter().chain(self.replicas.iter().flat_map(|it| &it.nodes));
        let found = all.find(|it| it.plan.name == name).and_then(|it| it.node);
        found.ok_or_else(|| NodeError::new(name, "be found", "no node of ours has this name".to_owned()))
    }

    fn put_in_front(
        &mut self,
        supervisor: &mut Supervisor,
        mut nodes: Vec<(Node, NodeProgram)>,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        self.add_replicas(supervisor, tell)?;
        let protected = nodes.iter().any(|it| it.0.transport == Transport::Tls);
        if protected && self.tls.is_none() {
            self.tls = Some(TlsFiles::make(supervisor)?);
        }
        while let Some((node, found)) = nodes.pop() {
            tell(ChainProgress::Starting(&node));
            let began = Instant::now();
            let running = self.start(supervisor, node, found)?;
            self.nodes.insert(0, running);
            tell(ChainProgress::Ready(&self.nodes[0], began.elapsed()));
            // They stand behind all others.
            self.add_replicas(supervisor, tell)?;
        }
        self.check_path()?;
        self.find_hops(supervisor)
    }

    fn stop_first(
        &mut self,
        supervisor: &mut Supervisor,
        tell: &mut dyn FnMut(ChainProgress<'_>),
        keep: bool,
    ) -> Result<(), NodeError> {
        let first = self.nodes.remove(0);
        let Some(id) = first.node else { return Ok(()) };
        tell(ChainProgress::Stopping(&first.plan));
        if supervisor.end_of(id).is_none() {
            supervisor.stop(id)?;
        }
        match first.handle {
            NodeHandle::Postgres(it) if keep => self.stopped_postgres = Some(it),
            // Gigabytes, perhaps, and nobody will ask for them again.
            NodeHandle::Postgres(it) => drop(std::fs::remove_dir_all(&it.local_data)),
            _ => remove_socket(&first.endpoint.address),
        }
        Ok(())
    }
}

impl RunningNode {
    /// Which data a PostgreSQL of ours serves; the same after a restart.
    pub fn cluster_id(&self) -> Option<NodeId> {
        match &self.handle {
            NodeHandle::Postgres(it) => Some(it.cluster),
            NodeHandle::Program { .. } | NodeHandle::Attached => None,
        }
    }

    /// Whether its data can be served by that one.
    fn can_reuse_data(&self, (node, found): &(Node, NodeProgram)) -> bool {
        match (&self.handle, found) {
            (NodeHandle::Postgres(old), NodeProgram::Postgres(new)) => {
                old.installation == *new && self.plan.name == node.name
            }
            _ => false,
        }
    }

    /// True for what was there before, which is never stopped, limited or killed.
    pub fn is_attached(&self) -> bool {
        matches!(self.handle, NodeHandle::Attached)
    }
}

/// A log-in at a node of ours.
fn make_login(user: &str, password: &Secret, database: &str, tls: Option<&TlsFiles>) -> Arc<Login> {
    let mut login = Login::new(user, database);
    login.password = Some(password.clone());
    login.parameters.push(("application_name".to_owned(), "pgdyno".to_owned()));
    if let Some(tls) = tls {
        tls.protect(&mut login);
    }
    Arc::new(login)
}

/// Lets the nodes open as many files as the system lets them, one for each client: by the keeper, whose children they are.
fn raise_file_limit(supervisor: &Supervisor) {
    const ENOUGH: u64 = 100_000;
    let keeper = i32::try_from(supervisor.keeper_pid()).ok().and_then(Pid::from_raw);
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.map_or(ENOUGH, |it| it.min(ENOUGH)));
    // Where it is refused they have what we have.
    let _ = prlimit(keeper, Resource::Nofile, Rlimit { current, maximum });
}

/// The socket of a node that is gone would be in the way of the next.
fn remove_socket(address: &Address) {
    if let Address::Unix(path) = address {
        let _ = std::fs::remove_file(path);
    }
}

fn node_error(node: &str, attempt: &str, why: &dyn std::fmt::Display) -> NodeError {
    NodeError::new(node, attempt, why.to_string())
}
