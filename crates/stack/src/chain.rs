//! Chain of nodes between a client and PostgreSQL: start, change and stop
//!
//! Nodes start in order from PostgreSQL to the entry node. Each node must be ready before the next node starts. A chain
//! can be changed into another chain: a node keeps running if the node and all nodes behind it are equal in both
//! chains.

mod attach;
mod cache;
mod console;
mod direct;
mod faults;
mod guard;
mod hop;
mod managed;
mod path;
mod problem;
mod promote;
mod replicas;
mod service;
mod start;
mod store_cluster;
mod stored_data;
mod target;

pub use attach::{DsnError, DsnTarget, connect_source, describe_dsn};
pub use direct::IDENTITY_FUNCTION;
pub use faults::{ActiveFault, InjectedFault};
pub use problem::ChainError;
pub use promote::{Promotion, RejoinResult};
pub use replicas::ServerStatus;
pub use stored_data::{DataCopy, DataSource};

use crate::client::{Address, Target};
use crate::component::postgres::Postgres;
use crate::component::program::Programs;
use crate::component::{self, EndpointTls, User, Users};
use crate::log_parser;
use crate::page::SampledPage;
use crate::supervisor::{End, Launch, NodeError, NodeId, Readiness, Sig, Supervisor, free_port};
use crate::tls_files::TlsFiles;
use managed::ManagerPrograms;
use model::message;
use model::message::Message;
use model::plan::{Node, NodeKind, Replication, Stack, Transport, started_nodes};
use model::product::Role;
use model::summary::ServerTransport;
use replicas::Replicas;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use service::ReadyCheck;
use start::NodeProgram;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::http::Url;
use wire::pg::{Login, Secret};

/// Running nodes of one stack. They are stopped when the [`Supervisor`] that started them is dropped.
#[derive(Debug)]
pub struct Chain {
    /// All nodes: the entry node first, PostgreSQL last.
    nodes: Vec<RunningNode>,
    /// Nodes that [`Chain::quiesce`] has stopped, entry node first.
    quiesced: Vec<(Node, NodeProgram)>,
    users: Users,
    tls: Option<TlsFiles>,
    ports: fn() -> io::Result<u16>,
    /// PostgreSQL server that was stopped so that it can be restarted with other settings.
    stopped_postgres: Option<Box<Postgres>>,
    /// Replication settings of the last requested stack.
    requested_replication: Option<Replication>,
    /// The cluster manager of the requested replication.
    manager: Option<ManagerPrograms>,
    /// Replicas of the chain's PostgreSQL server; `None` until they exist.
    replicas: Option<Replicas>,
    /// Ports of the programs of services, by the names of their nodes.
    program_ports: BTreeMap<String, u16>,
    /// Data from which the next new server starts.
    data_source: Option<DataSource>,
    /// Copy from which the last new server started.
    data_copy: Option<DataCopy>,
}

/// A node that was ready when it was last checked.
#[derive(Debug)]
pub struct RunningNode {
    pub plan: Node,
    /// Id of the node's process; `None` for an attached node.
    pub node: Option<NodeId>,
    pub program: Option<PathBuf>,
    /// The version as the program prints it.
    pub version: String,
    /// Address of the node, with the application's login. For nodes that take HTTP requests, only the address is
    /// meaningful.
    pub endpoint: Target,
    /// Address at which a balancer accepts connections to the replicas, with the application's login.
    pub read_only: Option<Target>,
    /// Other hosts of an attached node, one of which may become the primary.
    pub other_hosts: Vec<Target>,
    /// Name that was resolved to the address of an attached node; `None` if the user wrote an IP address.
    pub host: Option<String>,
    /// URL of a node that takes HTTP requests (a service, or a balancer in front of a service), such as
    /// `http://127.0.0.1:8080/`.
    pub url: Option<Url>,
    /// Login of PostgreSQL's superuser or of a pooler's console. Consoles support only the simple query protocol.
    pub admin: Option<Target>,
    /// Statistics socket of a balancer.
    pub statistics: Option<PathBuf>,
    pub log: Option<PathBuf>,
    /// Arguments of the node's program.
    pub arguments: Vec<String>,
    /// Names and contents of the node's configuration files, with `***` for secrets.
    pub configuration: Vec<(String, String)>,
    /// Measured transport of the connections to this node.
    pub hop: ServerTransport,
    /// TLS that the nodes in front of this node must require.
    endpoint_tls: EndpointTls,
    /// Pages with statistics of the node, and of the other programs of a service.
    pub pages: Vec<SampledPage>,
    /// Readiness check of a service or of a balancer in front of one; `None` for nodes that answer queries.
    ready: Option<ReadyCheck>,
    handle: NodeHandle,
}

/// State that is needed to restart a node.
#[derive(Debug)]
enum NodeHandle {
    Postgres(Box<Postgres>),
    Program { launch: Box<Launch>, program: NodeProgram },
    Attached,
}

/// Progress of a chain that starts or changes.
#[derive(Clone, Copy, Debug)]
pub enum ChainProgress<'a> {
    /// PostgreSQL of this major version is being downloaded.
    Fetching(u32),
    Starting(&'a Node),
    Ready(&'a RunningNode, Duration),
    Stopping(&'a Node),
}

/// Name of the application's user and database.
const APP: &str = "app";
/// User of the poolers' consoles.
const CONSOLE_USER: &str = "pgdyno";
/// Timeout for a node to become ready; a healthy node needs less.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// Number of lines at the end of a log in which a fatal error is the reason of an exit.
const FATAL_LINES: usize = 300;

impl Chain {
    /// Starts all nodes. If a node is unavailable or does not start, the nodes that were already started are stopped.
    pub fn up(
        supervisor: &mut Supervisor,
        stack: &Stack,
        programs: &Programs,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<Chain, ChainError> {
        Chain::up_with(free_port, supervisor, stack, programs, on_progress)
    }

    /// Like [`Chain::up`], with another source of port numbers. If a port is in use, the next port number is tried.
    pub fn up_with(
        ports: fn() -> io::Result<u16>,
        supervisor: &mut Supervisor,
        stack: &Stack,
        programs: &Programs,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<Chain, ChainError> {
        let mut chain = Chain::idle(ports, supervisor)?;
        match chain.reconcile(supervisor, stack, programs, on_progress) {
            Ok(()) => Ok(chain),
            Err(problem) => {
                chain.down(supervisor, on_progress)?;
                Err(problem)
            }
        }
    }

    /// Creates a chain without nodes.
    pub fn idle(ports: fn() -> io::Result<u16>, supervisor: &Supervisor) -> Result<Chain, ChainError> {
        let user = |name: &str| {
            User::new(name).map_err(|it| NodeError::new("stack", message!("attempt-get-password"), &it))
        };
        let users = Users { app: user(APP)?, database: APP.to_owned(), console: user(CONSOLE_USER)? };
        raise_file_limit(supervisor);
        Ok(Chain {
            nodes: Vec::new(),
            quiesced: Vec::new(),
            users,
            tls: None,
            ports,
            stopped_postgres: None,
            requested_replication: None,
            manager: None,
            replicas: None,
            program_ports: BTreeMap::new(),
            data_source: None,
            data_copy: None,
        })
    }

    /// Checks that every component of the stack is available. Starts no node, but may download PostgreSQL.
    pub fn available(
        stack: &Stack,
        programs: &Programs,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        ManagerPrograms::find(stack.replication.as_ref(), programs)?;
        started_nodes(&stack.nodes)
            .iter()
            .try_for_each(|it| NodeProgram::find(it, programs, on_progress).map(drop))
    }

    /// Changes the chain into this stack. A node keeps running if the node and all nodes behind it are equal in both
    /// stacks. The other nodes are stopped, entry node first, and new nodes are started at new addresses. A PostgreSQL
    /// server of the same version keeps its data and port even if its settings or limits change.
    ///
    /// Nothing changes if a component of the stack is unavailable. After any other error, nodes that still run are
    /// kept, and `reconcile` can be called again with this or another stack.
    pub fn reconcile(
        &mut self,
        supervisor: &mut Supervisor,
        stack: &Stack,
        programs: &Programs,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let nodes = started_nodes(&stack.nodes);
        let mut found = Vec::new();
        for node in &nodes {
            found.push((node.clone(), NodeProgram::find(node, programs, on_progress)?));
        }
        let manager = ManagerPrograms::find(stack.replication.as_ref(), programs)?;
        self.quiesced.clear();
        let primary_only = |it: &Option<Replication>| it.as_ref().map(Replication::primary_only);
        let as_ready = primary_only(&self.requested_replication) == primary_only(&stack.replication);
        // Keep replicas only if the stack requests the same replication and the replicas are unchanged.
        let replication = stack.replication.clone().filter(|it| it.replicas > 0);
        // A running process does not move to another host.
        let moved = supervisor.set_hosts(stack.hosted_nodes());
        let stay = self.replication() == replication.as_ref()
            && self.is_unchanged(supervisor)
            && !stack.replica_names().iter().any(|it| moved.contains(it));
        let mut same = 0;
        let pairs = self.nodes.iter().rev().zip(nodes.iter().rev());
        for (old, new) in pairs {
            let has_ended = old.node.is_some_and(|it| supervisor.end_of(it).is_some());
            if old.plan != *new || has_ended || moved.contains(&new.name) {
                break;
            }
            same += 1;
        }
        if !as_ready {
            same = 0;
        }
        if same == 0 || !stay {
            while self.nodes.len() > 1 {
                self.stop_first(supervisor, on_progress, false)?;
            }
            self.remove_replicas(supervisor, on_progress)?;
            same = same.min(1);
        }
        self.requested_replication.clone_from(&stack.replication);
        self.manager = manager;
        while self.nodes.len() > same {
            let keep =
                self.nodes.len() == 1 && found.last().is_some_and(|it| self.nodes[0].can_reuse_data(it));
            self.stop_first(supervisor, on_progress, keep)?;
        }
        found.truncate(nodes.len() - same);
        self.put_in_front(supervisor, found, on_progress)
    }

    /// Stops all nodes, entry node first.
    pub fn down(
        &mut self,
        supervisor: &mut Supervisor,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), NodeError> {
        self.quiesced.clear();
        while self.nodes.len() > 1 {
            self.stop_first(supervisor, on_progress, false)?;
        }
        self.remove_replicas(supervisor, on_progress)?;
        while !self.nodes.is_empty() {
            self.stop_first(supervisor, on_progress, false)?;
        }
        Ok(())
    }

    /// All nodes: the entry node first, PostgreSQL last.
    pub fn nodes(&self) -> &[RunningNode] {
        &self.nodes
    }

    pub fn find_node(&self, name: &str) -> Option<&RunningNode> {
        self.nodes.iter().find(|it| it.plan.name == name)
    }

    /// Target for SQL: the first node that speaks PostgreSQL's protocol, or the first node if none does.
    ///
    /// The target changes when that node is started again, except by [`Chain::restart`].
    pub fn endpoint(&self) -> &Target {
        let speaks = self.nodes.iter().find(|it| it.is_database());
        &speaks.or(self.nodes.first()).expect("a chain that is up has nodes").endpoint
    }

    /// Target for HTTP requests: the first node that accepts them. The target changes like [`Chain::endpoint`].
    pub fn http_node(&self) -> Option<&RunningNode> {
        self.nodes.iter().find(|it| it.url.is_some())
    }

    /// Returns [`Chain::endpoint`] with another database.
    pub fn endpoint_for(&self, database: &str) -> Target {
        self.endpoint().in_database(database)
    }

    /// PostgreSQL node of the stack; `None` if the stack has no such node.
    pub fn postgres(&self) -> Option<&RunningNode> {
        self.nodes.last().filter(|it| it.plan.kind.role() == Role::Server)
    }

    /// Users that log in, and the name of the application's database.
    pub fn users(&self) -> &Users {
        &self.users
    }

    /// Stops the nodes in front of PostgreSQL and ends the application's sessions, so that its database can be dropped
    /// or copied. Sessions of an attached server are not ended.
    pub fn quiesce(
        &mut self,
        supervisor: &mut Supervisor,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let mut waiting = Vec::new();
        while self.nodes.len() > 1 {
            let first = &self.nodes[0];
            let found = match &first.handle {
                NodeHandle::Program { program: found, .. } => found.clone(),
                // Attached services are not stopped, but the nodes behind them are.
                NodeHandle::Attached if !first.is_database() => NodeProgram::Attached,
                NodeHandle::Attached | NodeHandle::Postgres(_) => break,
            };
            waiting.push((first.plan.clone(), found));
            self.stop_first(supervisor, on_progress, false)?;
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
        let mut connection = admin
            .open(READY_TIMEOUT)
            .map_err(|it| node_error(&plan.name, message!("attempt-end-sessions"), &it))?;
        supervisor.await_ready(*id, READY_TIMEOUT, || match connection.value(&sql) {
            Ok(Some(it)) if it == "0" => Readiness::Ready(()),
            Ok(it) => Readiness::NotYet(message!("node-sessions-left", sessions = it.unwrap_or_default())),
            Err(it) => Readiness::Never((&it).into()),
        })?;
        Ok(())
    }

    /// Restarts the nodes that [`Chain::quiesce`] stopped. The nodes have new addresses: see [`Chain::endpoint`].
    pub fn resume(
        &mut self,
        supervisor: &mut Supervisor,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let waiting = std::mem::take(&mut self.quiesced);
        if waiting.is_empty() {
            return Ok(());
        }
        self.put_in_front(supervisor, waiting, on_progress)
    }

    /// Kills a node to simulate a crash, and returns when its process has ended. Fails for attached nodes.
    pub fn kill(&mut self, supervisor: &mut Supervisor, name: &str) -> Result<End, NodeError> {
        let id = self.own_node_id(name)?;
        self.mark_changed(name);
        supervisor.signal(id, Sig::Kill)?;
        // The signal kills the node; `stop` waits until its process has ended.
        supervisor.stop(id)
    }

    /// Restarts a node at its current address and returns when the node is ready. If the node still runs, stops it
    /// first with its usual signals.
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
        let node = self.nodes.iter_mut().find(|it| it.plan.name == name).expect("the node exists");
        let NodeHandle::Program { launch, .. } = &node.handle else {
            unreachable!("attached nodes have no node id")
        };
        remove_socket(&node.endpoint.address);
        node.node = Some(supervisor.launch(Launch::clone(launch))?);
        console::await_service(supervisor, node)
    }

    /// Lists the nodes that exceeded their memory limits, each with the number of processes that the OOM killer ended.
    pub fn oom_kills(&self, supervisor: &Supervisor) -> Vec<(String, u64)> {
        let all = self.nodes.iter().chain(self.replicas.iter().flat_map(|it| &it.nodes));
        let ended = |it: &RunningNode| Some((it.plan.name.clone(), supervisor.oom_kills(it.node?)));
        all.filter_map(ended).filter(|it| it.1 > 0).collect()
    }

    /// Id of a node that pgdyno started; fails for other names.
    fn own_node_id(&self, name: &str) -> Result<NodeId, NodeError> {
        let mut all = self.nodes.iter().chain(self.replicas.iter().flat_map(|it| &it.nodes));
        let found = all.find(|it| it.plan.name == name).and_then(|it| it.node);
        found.ok_or_else(|| NodeError::new(name, message!("attempt-find"), message!("node-not-started")))
    }

    fn put_in_front(
        &mut self,
        supervisor: &mut Supervisor,
        mut nodes: Vec<(Node, NodeProgram)>,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        self.add_replicas(supervisor, on_progress)?;
        let protected = nodes.iter().any(|it| it.0.transport == Transport::Tls);
        if protected && self.tls.is_none() {
            self.tls = Some(TlsFiles::make(supervisor)?);
        }
        while let Some((node, found)) = nodes.pop() {
            on_progress(ChainProgress::Starting(&node));
            let start = Instant::now();
            let running = self.start(supervisor, node, found)?;
            self.nodes.insert(0, running);
            on_progress(ChainProgress::Ready(&self.nodes[0], start.elapsed()));
            // Replicas start after PostgreSQL and before the nodes in front of it.
            self.add_replicas(supervisor, on_progress)?;
        }
        self.check_path()?;
        self.find_hops(supervisor)
    }

    fn stop_first(
        &mut self,
        supervisor: &mut Supervisor,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
        keep: bool,
    ) -> Result<(), NodeError> {
        let first = self.nodes.remove(0);
        let Some(id) = first.node else { return Ok(()) };
        on_progress(ChainProgress::Stopping(&first.plan));
        if supervisor.end_of(id).is_none() {
            supervisor.stop(id)?;
        }
        match first.handle {
            NodeHandle::Postgres(it) if keep => self.stopped_postgres = Some(it),
            // Remove the data, which may have gigabytes and is no longer needed.
            NodeHandle::Postgres(it) => drop(std::fs::remove_dir_all(&it.local_data)),
            _ => remove_socket(&first.endpoint.address),
        }
        Ok(())
    }
}

impl RunningNode {
    /// Last fatal error in the node's log, as the reason why the node exited with an error status.
    pub fn last_fatal_error(&self, supervisor: &Supervisor) -> Option<String> {
        let format = component::for_product(self.plan.kind.product())?.log_format();
        log_parser::last_fatal_error(&supervisor.log(&self.plan.name, FATAL_LINES), format)
    }

    /// Identifies the data of a PostgreSQL server that pgdyno started. A restart does not change the identifier.
    pub fn cluster_id(&self) -> Option<NodeId> {
        match &self.handle {
            NodeHandle::Postgres(it) => Some(it.cluster),
            NodeHandle::Program { .. } | NodeHandle::Attached => None,
        }
    }

    /// True if a PostgreSQL server of the given plan can reuse this node's data.
    fn can_reuse_data(&self, (node, found): &(Node, NodeProgram)) -> bool {
        match (&self.handle, found) {
            (NodeHandle::Postgres(old), NodeProgram::Postgres(new)) => {
                old.installation == *new && self.plan.name == node.name
            }
            _ => false,
        }
    }

    /// True for nodes that speak PostgreSQL's protocol: neither programs of a service nor balancers in front of one.
    pub fn is_database(&self) -> bool {
        self.url.is_none() && self.plan.kind.role() != Role::Service
    }

    /// True for nodes that pgdyno did not start. pgdyno never stops, limits or kills them.
    pub fn is_attached(&self) -> bool {
        matches!(self.handle, NodeHandle::Attached)
    }
}

/// Creates a login of `application` for a node that pgdyno started.
fn make_login(
    application: &str,
    user: &str,
    password: &Secret,
    database: &str,
    tls: Option<&TlsFiles>,
) -> Arc<Login> {
    let mut login = Login::new(user, database);
    login.password = Some(password.clone());
    login.parameters.push(("application_name".to_owned(), application.to_owned()));
    if let Some(tls) = tls {
        tls.protect(&mut login);
    }
    Arc::new(login)
}

/// Raises the limit on open files to one file per client. The limit is set for the keeper; the nodes, its children,
/// inherit it.
fn raise_file_limit(supervisor: &Supervisor) {
    const ENOUGH: u64 = 100_000;
    let keeper = i32::try_from(supervisor.keeper_pid()).ok().and_then(Pid::from_raw);
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.map_or(ENOUGH, |it| it.min(ENOUGH)));
    // If the kernel refuses, the nodes keep pgdyno's limit.
    let _ = prlimit(keeper, Resource::Nofile, Rlimit { current, maximum });
}

/// Removes the socket file of a node that has ended. The file would prevent the next node from listening.
fn remove_socket(address: &Address) {
    if let Address::Unix(path) = address {
        let _ = std::fs::remove_file(path);
    }
}

fn node_error(node: &str, attempt: Message, reason: impl Into<Message>) -> NodeError {
    NodeError::new(node, attempt, reason)
}
