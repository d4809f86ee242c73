//! Replication that a cluster manager controls: start, switchover and promotion

use super::replicas::HealthEndpoint;
use super::start::write_private_file;
use super::store_cluster::{ATTEMPT_TIMEOUT, url};
use super::{Chain, ChainError, ChainProgress, Node, Promotion, READY_TIMEOUT, node_error};
use crate::component::manager::{ClusterManager, ManagerContext};
use crate::component::postgres::Postgres;
use crate::component::program::{Executable, Programs, Unavailable};
use crate::component::{self, User, postgres};
use crate::http;
use crate::replication::ReplicationState;
use crate::supervisor::{Launch, NodeError, Readiness, Sig, StopStep, Supervisor};
use model::message;
use model::plan::{self, FailoverManager, Replication};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A cluster manager and its programs.
#[derive(Clone, Debug)]
pub(super) struct ManagerPrograms {
    manager: &'static dyn ClusterManager,
    program: Executable,
    /// Program of the manager's consensus store; `None` if the manager needs none.
    store: Option<Executable>,
}

impl ManagerPrograms {
    /// Finds the programs; `None` if the plan has no cluster manager.
    pub fn find(
        plan: Option<&Replication>,
        programs: &Programs,
    ) -> Result<Option<ManagerPrograms>, Unavailable> {
        let Some(Replication { manager: FailoverManager::External(manager), sync, .. }) = plan else {
            return Ok(None);
        };
        let manager = component::manager(manager.product).expect("every manager has a component");
        let store = manager.store().map(|it| programs.find(it.names(), None)).transpose()?;
        let mut program = programs.find(manager.names(), None)?;
        if let Some(oldest) = manager.oldest_version(*sync).filter(|oldest| program.version < *oldest) {
            program = programs.find(manager.names(), Some(oldest))?;
        }
        Ok(Some(ManagerPrograms { manager, program, store }))
    }
}

impl Chain {
    /// Starts the consensus store, hands the chain's own server over to the manager, and starts the replicas. Each
    /// replica has a manager process.
    pub(super) fn add_managed_replicas(
        &mut self,
        supervisor: &mut Supervisor,
        plan: &plan::ClusterManager,
        first: &Node,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        let programs = self.manager_programs().clone();
        if let Some(store) = programs.manager.store().zip(programs.store.as_ref()) {
            self.start_store(supervisor, store, plan.store_servers)?;
        }
        let count = self.replicas.as_ref().map_or(0, |it| it.plan.replicas);
        self.postgres_at(0).stop(supervisor)?;
        self.hand_over_to_manager(supervisor, plan, 0)?;
        let primary = self.postgres_at(0);
        primary.spawn(supervisor)?;
        self.server_mut(0).node = Some(self.postgres_at(0).node);
        self.postgres_at(0).await_ready(supervisor)?;
        self.await_leader(supervisor)?;
        let start = Instant::now();
        for number in 2..=count + 1 {
            let limits = self.replicas.as_ref().expect("replicas are being created").plan.limits.clone();
            let node = Node { name: format!("{}-{number}", first.name), limits, ..first.clone() };
            on_progress(ChainProgress::Starting(&node));
            let mut settings = self.postgres_at(0).settings().clone();
            settings.name.clone_from(&node.name);
            settings.limits = node.limits.clone();
            settings.address = self.choose_address(supervisor, &node.name)?;
            settings.disk = self.choose_disk(supervisor, &node.name)?;
            let bin = self.postgres_at(0).installation.bin.clone();
            settings.programs = self.choose_programs(supervisor, &node.name, &bin)?;
            let (installation, password) = {
                let primary = self.postgres_at(0);
                (primary.installation.clone(), primary.password().clone())
            };
            let mut replica = Postgres::new(supervisor, &installation, &settings, password);
            replica.cluster = self.postgres_at(0).cluster;
            replica.port = self.free_port(&node.name)?;
            let running =
                super::start::running_postgres(&self.users, supervisor, node, Box::new(replica), None)?;
            self.replicas.as_mut().expect("replicas are being created").nodes.push(running);
            self.hand_over_to_manager(supervisor, plan, number as usize - 1)?;
        }
        // Start all replicas at once, because each replica first copies the data, which takes time.
        for at in 1..=count as usize {
            self.postgres_at(at).spawn(supervisor)?;
            self.server_mut(at).node = Some(self.postgres_at(at).node);
        }
        for at in 1..=count as usize {
            self.postgres_at(at).await_ready(supervisor)?;
            on_progress(ChainProgress::Ready(self.server_mut(at), start.elapsed()));
        }
        self.await_followers(supervisor, 0)?;
        self.await_sync_standbys(supervisor)?;
        Ok(())
    }

    /// Waits until the manager has recorded the synchronous standbys. It records them after it has configured the
    /// server.
    fn await_sync_standbys(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        let required = self.replication().map_or(0, |it| it.sync.count()) as usize;
        let id = self.postgres_at(self.primary_index()).node;
        let manager = self.cluster_manager();
        supervisor.await_ready(id, READY_TIMEOUT, || {
            let recorded = manager.sync_standbys(&|path, _| {
                let body = self.manager_get(path).ok_or(io::ErrorKind::NotConnected)?;
                Ok((200, body))
            });
            if recorded >= required {
                return Readiness::Ready(());
            }
            let [recorded, required] = [recorded, required].map(|it| it.to_string());
            Readiness::NotYet(message!(
                "node-standbys-recorded",
                manager = manager.product().name,
                recorded,
                required
            ))
        })
    }

    pub(super) fn free_port(&self, name: &str) -> Result<u16, NodeError> {
        (self.ports)().map_err(|it| node_error(name, message!("attempt-get-port"), &it))
    }

    fn manager_programs(&self) -> &ManagerPrograms {
        self.manager.as_ref().expect("the programs of a managed replication have been found")
    }

    fn cluster_manager(&self) -> &'static dyn ClusterManager {
        self.manager_programs().manager
    }

    /// Configures the server so that the manager starts it from now on.
    fn hand_over_to_manager(
        &mut self,
        supervisor: &mut Supervisor,
        plan: &plan::ClusterManager,
        at: usize,
    ) -> Result<(), NodeError> {
        let name = self.server_mut(at).plan.name.clone();
        let api = SocketAddr::from((self.postgres_at(at).settings().address, self.free_port(&name)?));
        let replicas = self.replicas.as_ref().expect("replicas are being created");
        let (sync, user, store) =
            (replicas.plan.sync, replicas.user.clone(), replicas.store.client_addresses());
        let ManagerPrograms { manager, program, .. } = self.manager_programs().clone();
        let home = supervisor.home();
        let server = self.postgres_at(at);
        let lines = server.configuration_lines();
        // The manager decides where the server listens and which server it follows.
        let managed = |it: &str| it == "listen_addresses" || super::replicas::ROLE_SETTINGS.contains(&it);
        let parameters: Vec<_> = lines.into_iter().filter(|it| !managed(&it.0)).collect();
        let text = |superuser: &str, user: &User| {
            let replicator = (user.name.as_str(), user.password.reveal());
            manager.configuration(&ManagerContext {
                name: &name,
                settings: &plan.settings,
                sync,
                store: &store,
                api,
                postgres: SocketAddr::from((server.settings().address, server.port)),
                data: &server.data,
                bin: server.programs(),
                home: &home,
                parameters: &parameters,
                superuser: (postgres::SUPERUSER, superuser),
                replicator,
            })
        };
        let file = manager.configuration_file(&name);
        let contents = text(server.password().reveal(), &user);
        write_private_file(supervisor, &file, &contents)
            .map_err(|it| node_error(&name, message!("attempt-configure"), &it))?;
        let masked = User { password: wire::pg::Secret::new("***"), ..user.clone() };
        let shown = text("***", &masked);
        let mut launch = Launch::new(&name, &program.path, &home)
            .as_user(supervisor.user())
            .limited(&server.settings().limits)
            .arg(supervisor.directory().join(&file));
        launch.stop = vec![StopStep { signal: Sig::Term, timeout: manager.stop_timeout() }];
        launch.isolated = true;
        launch.address = server.own_address();
        server.manager = Some(Box::new(launch));
        self.server_mut(at).configuration.push((file, shown));
        let replicas = self.replicas.as_mut().expect("replicas are being created");
        replicas.health_endpoints.push(HealthEndpoint::Manager(api));
        Ok(())
    }

    /// Waits until the first server holds the leader key. A replica that starts before then has to wait for the
    /// manager's next loop.
    fn await_leader(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        let id = self.postgres_at(0).node;
        let api = self.manager_api(0).expect("the server has a manager");
        let manager = self.cluster_manager();
        supervisor
            .await_ready(id, READY_TIMEOUT, || manager.is_leader(&|path, body| ask_manager(api, path, body)))
    }

    /// Address of the API of a server's manager; `None` without a manager.
    fn manager_api(&self, at: usize) -> Option<SocketAddr> {
        match self.replicas.as_ref()?.health_endpoints.get(at)? {
            HealthEndpoint::Manager(it) => Some(*it),
            HealthEndpoint::Builtin(_) => None,
        }
    }

    /// Returns the body of `GET path` from the first manager that returns status 200.
    pub fn manager_get(&self, path: &str) -> Option<String> {
        let apis = (0..self.servers().len()).filter_map(|at| self.manager_api(at));
        let mut answers = apis.filter_map(|api| ask_manager(api, path, None).ok());
        answers.find(|(status, _)| *status == 200).map(|(_, body)| body)
    }

    /// Asks the manager to promote another server: the named one, or one that the manager chooses.
    pub(super) fn switch_over_by_manager(
        &mut self,
        supervisor: &mut Supervisor,
        to: Option<&str>,
    ) -> Result<Promotion, NodeError> {
        let from = self.primary_index();
        let name = self.server_mut(from).plan.name.clone();
        let api = self
            .manager_api(from)
            .ok_or_else(|| node_error(&name, message!("attempt-hand-over"), message!("node-no-manager")))?;
        self.replicas.as_mut().expect("a managed server has replicas").changed = true;
        let start = Instant::now();
        let id = self.postgres_at(from).node;
        let manager = self.cluster_manager();
        supervisor.await_ready(id, READY_TIMEOUT, || {
            manager.switch_over(&|path, body| ask_manager(api, path, body), &name, to)
        })?;
        let promotion = self.await_promotion(supervisor, start, READY_TIMEOUT)?;
        // The manager promotes no server before it has recorded the synchronous standbys.
        self.await_sync_standbys(supervisor)?;
        Ok(promotion)
    }

    /// Waits until the manager has promoted a server that is not the last known primary.
    pub fn await_promotion(
        &mut self,
        supervisor: &mut Supervisor,
        start: Instant,
        timeout: Duration,
    ) -> Result<Promotion, NodeError> {
        let from = self.primary_index();
        let from_name = self.server_mut(from).plan.name.clone();
        let before = self.server_statuses();
        self.replicas.as_mut().expect("a managed server has replicas").changed = true;
        // `await_ready` fails if the watched node ends, so watch any server that is running.
        let watched =
            self.servers().iter().filter_map(|it| it.node).find(|it| supervisor.end_of(*it).is_none());
        let watched = watched.ok_or_else(|| {
            node_error(&from_name, message!("attempt-replace"), message!("node-no-server-runs"))
        })?;
        let (to, timeline) = supervisor.await_ready(watched, timeout, || {
            let statuses = self.server_statuses();
            let writable = |it: &(usize, ReplicationState)| it.0 != from && !it.1.in_recovery;
            let states = statuses.iter().enumerate().filter_map(|(at, it)| Some((at, it.state?)));
            match states.filter(writable).max_by_key(|it| it.1.timeline) {
                Some((at, state)) => Readiness::Ready((at, state.timeline)),
                None => Readiness::NotYet(message!("node-no-writable")),
            }
        })?;
        self.replicas.as_mut().expect("a managed server has replicas").primary = to;
        let to = self.server_mut(to).plan.name.clone();
        Ok(Promotion {
            from: from_name,
            to,
            statuses: before,
            safe: false,
            // The manager rewinds diverged replicas, so no diverged replica remains.
            diverged: Vec::new(),
            took: start.elapsed(),
            timeline,
        })
    }
}

/// Sends one request to the API of a manager: GET, or POST with a body. Returns status and body.
fn ask_manager(api: SocketAddr, path: &str, body: Option<&str>) -> io::Result<(u16, String)> {
    let Some(body) = body else {
        let answer = http::get(&url(api, path), ATTEMPT_TIMEOUT)?;
        return Ok((answer.status, String::from_utf8_lossy(&answer.body).into_owned()));
    };
    let mut stream = TcpStream::connect_timeout(&api, ATTEMPT_TIMEOUT)?;
    // Use a long timeout, because the manager responds only when the switchover is complete.
    stream.set_read_timeout(Some(READY_TIMEOUT))?;
    write!(
        stream,
        "POST {path} HTTP/1.0\r\nHost: {api}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let status = text.split(' ').nth(1).and_then(|it| it.parse().ok());
    let body = text.split_once("\r\n\r\n").map_or("", |it| it.1).trim().to_owned();
    Ok((status.ok_or(io::ErrorKind::InvalidData)?, body))
}
