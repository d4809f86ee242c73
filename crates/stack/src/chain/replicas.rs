//! Replicas of the chain's PostgreSQL server
//!
//! Server 0 is the chain's own PostgreSQL server. The replicas are base backups of this server, made while it runs, and
//! stream WAL from it. The primary may change: see [`super::promote`].

use super::start::running_postgres;
use super::store_cluster::{StoreCluster, stop_store};
use super::{Chain, ChainError, ChainProgress, NodeHandle, READY_TIMEOUT, RunningNode, node_error};
use crate::client::{Address, Target};
use crate::component::manager::ClusterManager;
use crate::component::postgres::{Postgres, Settings};
use crate::component::{self, Servers, User};
use crate::replication::health::HealthServer;
use crate::replication::{ReplicationState, Upstream, conninfo, query_state, standby_names};
use crate::supervisor::{NodeError, Readiness, Supervisor};
use model::message;
use model::plan::{FailoverManager, Node, NodeKind, Replication};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// PostgreSQL servers in addition to the chain's own server.
#[derive(Debug)]
pub(super) struct Replicas {
    pub plan: Replication,
    /// Replica nodes, ordered by name.
    pub nodes: Vec<RunningNode>,
    /// One health endpoint for each server; the chain's own server is first.
    pub health_endpoints: Vec<HealthEndpoint>,
    /// Consensus store of the cluster manager; empty if pgdyno promotes.
    pub store: StoreCluster,
    /// Index of the last known primary: 0 is the chain's own server, 1 the first of `nodes`.
    pub primary: usize,
    /// True after a role has changed or a server was killed.
    pub changed: bool,
    /// User for replication. `password_file` contains the user's password.
    pub user: User,
    password_file: PathBuf,
}

/// Answers `/primary` and `/replica` for one server.
#[derive(Debug)]
pub(super) enum HealthEndpoint {
    Builtin(HealthServer),
    /// Address of the cluster manager's API.
    Manager(SocketAddr),
}

/// Replication state of one server; the state is `None` if the server did not respond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    pub state: Option<ReplicationState>,
}

/// Name of the user for replication.
const REPLICATOR: &str = "replicator";
/// Timeout for one query of a server's state.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);

impl Chain {
    /// Lists the chain's PostgreSQL server and its replicas by name, whatever their current roles. Empty if the server
    /// is attached.
    pub fn servers(&self) -> Vec<&RunningNode> {
        let primary = self.nodes.last().filter(|it| matches!(it.plan.kind, NodeKind::Postgres(_)));
        primary.into_iter().chain(self.replicas.iter().flat_map(|it| &it.nodes)).collect()
    }

    /// The last known primary; `None` if the chain has no PostgreSQL of its own.
    pub fn primary(&self) -> Option<&RunningNode> {
        self.servers().get(self.primary_index()).copied()
    }

    /// Targets for clients that need the primary: [`Chain::endpoint`], or every server if clients connect to the
    /// servers directly.
    ///
    /// The chain's own server, the initial primary, is first; so is the primary of an attached cluster with several hosts.
    pub fn primary_endpoints(&self) -> Vec<&Target> {
        let servers = self.servers();
        match servers.first() {
            Some(server) if server.endpoint.address == self.endpoint().address => {
                servers.into_iter().map(|it| &it.endpoint).collect()
            }
            _ => {
                let others = self.nodes.first().map_or(&[][..], |it| &it.other_hosts);
                std::iter::once(self.endpoint()).chain(others).collect()
            }
        }
    }

    /// Targets for clients that need a replica: the balancer in front of the replicas, or all servers if there is no
    /// balancer.
    ///
    /// The chain's own server, the initial primary, is last. Empty if there are no replicas.
    pub fn replica_endpoints(&self) -> Vec<&Target> {
        if let Some(balancer) = self.nodes.iter().find_map(|it| it.read_only.as_ref()) {
            return vec![balancer];
        }
        let mut servers = self.servers();
        if servers.len() < 2 {
            return Vec::new();
        }
        servers.rotate_left(1);
        servers.into_iter().map(|it| &it.endpoint).collect()
    }

    /// Plan of the existing replicas.
    pub fn replication(&self) -> Option<&Replication> {
        self.replicas.as_ref().map(|it| &it.plan)
    }

    /// Queries the state of all servers in parallel.
    pub fn server_statuses(&self) -> Vec<ServerStatus> {
        let servers = self.servers();
        let ask = |node: &RunningNode| {
            node.admin.as_ref()?.open(ATTEMPT_TIMEOUT).and_then(|mut it| query_state(&mut it)).ok()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = servers.iter().map(|it| scope.spawn(|| ask(it))).collect();
            let names = servers.iter().map(|it| it.plan.name.clone());
            let answers = threads.into_iter().map(|it| it.join().ok().flatten());
            names.zip(answers).map(|(name, state)| ServerStatus { name, state }).collect()
        })
    }

    /// Addresses of the servers and store members that have separate networks.
    pub(super) fn own_addresses(&self) -> Vec<Ipv4Addr> {
        let key = |node: &RunningNode| match &node.handle {
            NodeHandle::Postgres(it) => it.own_address(),
            _ => None,
        };
        let keys = self.replicas.iter().flat_map(|it| it.store.addresses());
        self.servers().into_iter().filter_map(key).chain(keys).collect()
    }

    pub(super) fn primary_index(&self) -> usize {
        self.replicas.as_ref().map_or(0, |it| it.primary)
    }

    pub(super) fn server_mut(&mut self, at: usize) -> &mut RunningNode {
        match (at, &mut self.replicas) {
            (0, _) => self.nodes.last_mut().expect("replicas have a primary node"),
            (at, Some(it)) => &mut it.nodes[at - 1],
            (_, None) => unreachable!("without replicas there is one server"),
        }
    }

    pub(super) fn postgres_at(&mut self, at: usize) -> &mut Postgres {
        match &mut self.server_mut(at).handle {
            NodeHandle::Postgres(it) => it,
            _ => unreachable!("servers are started by pgdyno"),
        }
    }

    /// Records that a node was changed. If it is a server, the replicas are no longer in their initial state.
    pub(super) fn mark_changed(&mut self, name: &str) {
        let is_server = self.servers().iter().any(|it| it.plan.name == name);
        if let Some(replicas) = self.replicas.as_mut().filter(|_| is_server) {
            replicas.changed = true;
        }
    }

    /// True if the replicas are in their initial state and run.
    pub(super) fn is_unchanged(&self, supervisor: &mut Supervisor) -> bool {
        let runs = |running: &RunningNode| running.node.is_some_and(|it| supervisor.end_of(it).is_none());
        self.replicas.as_ref().is_none_or(|it| !it.changed && it.nodes.iter().all(runs))
    }

    /// Creates the requested replicas, if the primary runs and has no replicas yet.
    pub(super) fn add_replicas(
        &mut self,
        supervisor: &mut Supervisor,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let Some(plan) =
            self.requested_replication.clone().filter(|it| it.replicas > 0 && self.replicas.is_none())
        else {
            return Ok(());
        };
        let Some(RunningNode { handle: NodeHandle::Postgres(_), plan: first, admin: Some(admin), .. }) =
            self.nodes.last()
        else {
            return Ok(());
        };
        let (first, admin) = (first.clone(), admin.clone());
        let user = User::new(REPLICATOR)
            .map_err(|it| node_error(&first.name, message!("attempt-get-password"), &it))?;
        let role = |sql: &str| admin.open(READY_TIMEOUT).and_then(|mut it| it.query(sql));
        let verifier = user.verifier.as_ref().unwrap_or(&user.password).reveal();
        // The role may exist from earlier replicas.
        role(&format!("drop role if exists {REPLICATOR}"))
            .and_then(|_| role(&format!("create role {REPLICATOR} login replication password '{verifier}'")))
            .map_err(|it| node_error(&first.name, message!("attempt-create-replication-user"), &it))?;
        let line = format!("*:*:*:{REPLICATOR}:{}\n", user.password.reveal());
        let name = "replicas.pgpass";
        super::start::write_private_file(supervisor, name, &line)
            .map_err(|it| node_error(name, message!("attempt-write"), &it))?;
        let passwords = supervisor.directory().join(name);
        let count = plan.replicas;
        let manager = plan.manager.clone();
        // Store the replicas before anything can fail, so that `remove_replicas` can stop the nodes that were started.
        let made = Replicas {
            plan,
            nodes: Vec::with_capacity(count as usize),
            health_endpoints: Vec::new(),
            store: StoreCluster::default(),
            primary: 0,
            changed: false,
            user,
            password_file: passwords,
        };
        self.replicas = Some(made);
        if let FailoverManager::External(plan) = manager {
            return self.add_managed_replicas(supervisor, &plan, &first, on_progress);
        }
        for number in 2..=count + 1 {
            self.start_replica(supervisor, &first, &format!("{}-{number}", first.name), on_progress)?;
        }
        self.await_followers(supervisor, 0)?;
        self.set_all_upstreams(supervisor)?;
        self.await_followers(supervisor, 0)?;
        for at in 0..=count as usize {
            let server = self.server_mut(at);
            let name = server.plan.name.clone();
            // Check over TCP, as clients connect. An isolated server would seem healthy over its Unix socket.
            let target = self.postgres_at(at).target_tcp();
            let health = HealthServer::start(&name, &target)
                .map_err(|it| node_error(&name, message!("attempt-report-health"), &it))?;
            self.replicas
                .as_mut()
                .expect("the replicas were just created")
                .health_endpoints
                .push(HealthEndpoint::Builtin(health));
        }
        Ok(())
    }

    fn start_replica(
        &mut self,
        supervisor: &mut Supervisor,
        first: &Node,
        name: &str,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let replicas = self.replicas.as_ref().expect("replicas are being created");
        let node = Node { name: name.to_owned(), limits: replicas.plan.limits.clone(), ..first.clone() };
        on_progress(ChainProgress::Starting(&node));
        let start = Instant::now();
        let mut settings = Settings { name: name.to_owned(), ..self.postgres_at(0).settings().clone() };
        settings.limits = node.limits.clone();
        settings.address = self.choose_address(supervisor, name)?;
        settings.disk = self.choose_disk(supervisor, name)?;
        let bin = self.postgres_at(0).installation.bin.clone();
        settings.programs = self.choose_programs(supervisor, name, &bin)?;
        settings.extra_lines = self.replication_settings(name, 0);
        let mut postgres = self.postgres_at(0).base_backup(supervisor, &settings)?;
        postgres.launch_on_free_port(supervisor)?;
        let running = running_postgres(&self.users, supervisor, node, Box::new(postgres), None)?;
        let replicas = self.replicas.as_mut().expect("replicas are being created");
        replicas.nodes.push(running);
        on_progress(ChainProgress::Ready(&replicas.nodes[replicas.nodes.len() - 1], start.elapsed()));
        Ok(())
    }

    /// Configuration lines of a server while the server at index `primary` is the primary.
    ///
    /// The lines contain the plan's settings, the upstream server, and the synchronous standbys that apply if this
    /// server is promoted.
    fn replication_settings(&mut self, name: &str, primary: usize) -> Vec<(String, String)> {
        let lines = self.postgres_at(0).settings().extra_lines.clone();
        let followed = self.postgres_at(primary);
        let (host, port) = (followed.settings().address.to_string(), followed.port);
        let replicas = self.replicas.as_ref().expect("the chain has replicas");
        let passwords = replicas.password_file.display().to_string();
        let upstream = Upstream { host: &host, port, user: &replicas.user.name, password_file: &passwords };
        let mut lines: Vec<_> =
            lines.into_iter().filter(|it| !ROLE_SETTINGS.contains(&it.0.as_str())).collect();
        lines.push((ROLE_SETTINGS[0].to_owned(), conninfo(name, &upstream)));
        let first = self.nodes.last().expect("replicas have a primary node").plan.name.as_str();
        let all = std::iter::once(first).chain(replicas.nodes.iter().map(|it| it.plan.name.as_str()));
        let standbys: Vec<&str> = all.filter(|it| *it != name).collect();
        // Commits must not wait for replicas that do not exist yet.
        let all_there = replicas.nodes.len() == replicas.plan.replicas as usize;
        if all_there {
            lines.push((ROLE_SETTINGS[1].to_owned(), standby_names(replicas.plan.sync, &standbys)));
        }
        lines
    }

    /// Configures the upstream and the synchronous standbys of every server.
    pub(super) fn set_all_upstreams(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        for at in 0..self.servers().len() {
            self.set_upstream(supervisor, at)?;
        }
        Ok(())
    }

    /// Configures one server as [`Chain::set_all_upstreams`] does. A stopped server reads the settings when it
    /// starts.
    pub(super) fn set_upstream(&mut self, supervisor: &mut Supervisor, at: usize) -> Result<(), NodeError> {
        let primary = self.primary_index();
        let name = self.server_mut(at).plan.name.clone();
        let lines = self.replication_settings(&name, primary);
        self.postgres_at(at).reload_with(supervisor, lines)
    }

    /// Waits until all other running servers stream from the server at `primary`, and enough standbys confirm commits.
    pub(super) fn await_followers(
        &mut self,
        supervisor: &mut Supervisor,
        primary: usize,
    ) -> Result<(), NodeError> {
        let all: Vec<_> = self.servers().iter().filter_map(|it| it.node).collect();
        let followers = all.iter().filter(|it| supervisor.end_of(**it).is_none()).count().saturating_sub(1);
        let count = self.replicas.as_ref().map_or(0, |it| it.plan.sync.count() as usize);
        let server = self.server_mut(primary);
        let (name, id) =
            (server.plan.name.clone(), server.node.expect("servers that pgdyno starts have one"));
        let target = server.admin.clone().expect("servers that pgdyno starts have one");
        let mut session = target
            .open(READY_TIMEOUT)
            .map_err(|it| node_error(&name, message!("attempt-report-replicas"), &it))?;
        supervisor.await_ready(id, READY_TIMEOUT, || {
            let sql = "select count(*) filter (where state = 'streaming'), \
                count(*) filter (where sync_state in ('sync', 'quorum')), \
                current_setting('synchronous_standby_names') <> '' from pg_stat_replication";
            let row = match session.query(sql) {
                Ok(it) => it.rows.into_iter().next().unwrap_or_default(),
                Err(it) => return Readiness::Never((&it).into()),
            };
            let number = |at: usize| row.get(at)?.as_ref()?.parse::<usize>().ok();
            let (streaming, confirming) = (number(0).unwrap_or(0), number(1).unwrap_or(0));
            let waits = row.get(2).is_some_and(|it| it.as_deref() == Some("t"));
            if streaming >= followers && (!waits || confirming >= count.min(followers)) {
                Readiness::Ready(())
            } else {
                {
                    let [streaming, followers, confirming] =
                        [streaming, followers, confirming].map(|it| it.to_string());
                    Readiness::NotYet(message!("node-replicas-follow", streaming, followers, confirming))
                }
            }
        })
    }

    /// Stops the replicas and makes the chain's own server a standalone primary with its current rows.
    pub(super) fn remove_replicas(
        &mut self,
        supervisor: &mut Supervisor,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), NodeError> {
        let Some(replicas) = self.replicas.take() else { return Ok(()) };
        drop(replicas.health_endpoints);
        for node in replicas.nodes {
            on_progress(ChainProgress::Stopping(&node.plan));
            if let Some(id) = node.node.filter(|it| supervisor.end_of(*it).is_none()) {
                // Kill the server without a shutdown, because its data is no longer needed.
                supervisor.signal(id, crate::supervisor::Sig::Kill)?;
                supervisor.stop(id)?;
            }
            if let NodeHandle::Postgres(server) = node.handle {
                let _ = std::fs::remove_dir_all(&server.local_data);
            }
        }
        let manager = match &replicas.plan.manager {
            FailoverManager::External(it) => component::manager(it.product),
            FailoverManager::Builtin(_) => None,
        };
        if let (Some(manager), Some(last_node)) = (manager, self.nodes.last_mut()) {
            remove_manager(supervisor, last_node, manager)?;
        }
        stop_store(supervisor, replicas.store)?;
        let Some(RunningNode { handle: NodeHandle::Postgres(server), node, .. }) = self.nodes.last_mut()
        else {
            return Ok(());
        };
        let lines = server
            .settings()
            .extra_lines
            .iter()
            .filter(|it| !ROLE_SETTINGS.contains(&it.0.as_str()))
            .cloned()
            .collect();
        let follows = server.local_data.join("standby.signal").exists();
        if manager.is_some() || replicas.changed && (follows || supervisor.end_of(server.node).is_some()) {
            server.stop(supervisor)?;
            server.remove_standby_signal();
            server.reload_with(supervisor, lines)?;
            server.restart(supervisor)?;
            *node = Some(server.node);
            return Ok(());
        }
        server.reload_with(supervisor, lines)
    }

    /// Lists the servers for a balancer in front of them.
    pub(super) fn balanced_servers(&self, read_only: u16) -> Option<Servers<'_>> {
        let replicas = self.replicas.as_ref()?;
        let endpoints = self.servers().into_iter().map(super::service::http_endpoint);
        Some(Servers {
            endpoints: endpoints
                .zip(&replicas.health_endpoints)
                .map(|(endpoint, it)| (endpoint, it.address()))
                .collect(),
            read_only: SocketAddr::from((Ipv4Addr::LOCALHOST, read_only)),
            shutdown_sessions: replicas.plan.shutdown_sessions,
        })
    }

    /// Returns the balancer's port for replicas as a target, with the application's login.
    pub(super) fn read_only_target(&self, port: u16) -> Target {
        let address = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        self.app_target(address, None)
    }
}

/// Names of the settings that depend on a server's role.
pub(super) const ROLE_SETTINGS: [&str; 2] = ["primary_conninfo", "synchronous_standby_names"];

impl HealthEndpoint {
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            HealthEndpoint::Builtin(it) => it.address(),
            HealthEndpoint::Manager(it) => *it,
        }
    }
}

/// Removes the cluster manager from a server and keeps its data. Stops the server.
fn remove_manager(
    supervisor: &mut Supervisor,
    running: &mut RunningNode,
    manager: &dyn ClusterManager,
) -> Result<(), NodeError> {
    let NodeHandle::Postgres(server) = &mut running.handle else { return Ok(()) };
    server.stop(supervisor)?;
    server.manager = None;
    match std::fs::remove_file(server.data.join(manager.state_file())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let attempt = message!("attempt-release", manager = manager.product().name);
            return Err(node_error(server.name(), attempt, &error));
        }
        _ => {}
    }
    let file = manager.configuration_file(&running.plan.name);
    running.configuration.retain(|it| it.0 != file);
    Ok(())
}
