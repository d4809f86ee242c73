//! Replication that Patroni manages: start, switchover and removal

use super::etcd_cluster::{EtcdCluster, own_address};
use super::replicas::HealthEndpoint;
use super::start::write_private_file;
use super::{Chain, ChainError, ChainProgress, Node, Promotion, READY_TIMEOUT, node_error};
use crate::component::etcd::{self, Member};
use crate::component::patroni::{self, PatroniContext, QUORUM_VERSION, configuration};
use crate::component::postgres::Postgres;
use crate::component::program::{Program, Programs, Unavailable};
use crate::component::{User, postgres};
use crate::http;
use crate::supervisor::{Launch, NodeError, NodeId, Readiness, Sig, Supervisor};
use model::plan::{FailoverManager, Patroni, Replication, SyncMode};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use wire::http::{Host, Url};

/// The programs that manage replicas.
#[derive(Clone, Debug)]
pub(super) struct Managers {
    etcd: Program,
    patroni: Program,
}

/// Timeout of one request to Patroni or etcd.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// Patroni stops its server before it ends, and may have to complete a loop first.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

impl Managers {
    /// Finds the programs; `None` if the plan does not use Patroni.
    pub fn find(plan: Option<&Replication>, programs: &Programs) -> Result<Option<Managers>, Unavailable> {
        let Some(Replication { manager: FailoverManager::Patroni(_), sync, .. }) = plan else {
            return Ok(None);
        };
        let etcd = programs.find(&etcd::NAMES, None)?;
        let mut patroni = programs.find(&patroni::NAMES, None)?;
        if matches!(sync, SyncMode::Any(_)) && patroni.version < QUORUM_VERSION {
            patroni = programs.find(&patroni::NAMES, Some(QUORUM_VERSION))?;
        }
        Ok(Some(Managers { etcd, patroni }))
    }
}

impl Chain {
    /// Starts etcd, places the chain's own server under Patroni, and starts the replicas, each with its own Patroni.
    pub(super) fn add_patroni_replicas(
        &mut self,
        supervisor: &mut Supervisor,
        plan: &Patroni,
        first: &Node,
        tell: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<(), ChainError> {
        self.start_etcd(supervisor, plan)?;
        let count = self.replicas.as_ref().map_or(0, |it| it.plan.replicas);
        self.postgres_at(0).stop(supervisor)?;
        self.hand_over_to_patroni(supervisor, plan, 0)?;
        let own = self.postgres_at(0);
        own.spawn(supervisor)?;
        self.server_mut(0).node = Some(self.postgres_at(0).node);
        self.postgres_at(0).await_ready(supervisor)?;
        self.await_leader(supervisor)?;
        let began = Instant::now();
        for number in 2..=count + 1 {
            let limits = self.replicas.as_ref().expect("they are being made").plan.limits.clone();
            let node = Node { name: format!("{}-{number}", first.name), limits, ..first.clone() };
            tell(ChainProgress::Starting(&node));
            let mut settings = self.postgres_at(0).settings().clone();
            settings.name.clone_from(&node.name);
            settings.limits = node.limits.clone();
            settings.address = self.choose_address(supervisor, &node.name)?;
            settings.disk = self.choose_disk(supervisor, &node.name)?;
            let (installation, password) = {
                let own = self.postgres_at(0);
                (own.installation.clone(), own.password().clone())
            };
            let mut replica = Postgres::new(supervisor, &installation, &settings, password);
            replica.cluster = self.postgres_at(0).cluster;
            replica.port = self.free_port(&node.name)?;
            let running =
                super::start::running_postgres(&self.users, supervisor, node, Box::new(replica), None)?;
            self.replicas.as_mut().expect("they are being made").nodes.push(running);
            self.hand_over_to_patroni(supervisor, plan, number as usize - 1)?;
        }
        // All at once: each copies the data, which takes time.
        for at in 1..=count as usize {
            self.postgres_at(at).spawn(supervisor)?;
            self.server_mut(at).node = Some(self.postgres_at(at).node);
        }
        for at in 1..=count as usize {
            self.postgres_at(at).await_ready(supervisor)?;
            tell(ChainProgress::Ready(self.server_mut(at), began.elapsed()));
        }
        self.await_followers(supervisor, 0)?;
        self.await_sync_standbys(supervisor)?;
        Ok(())
    }

    /// Waits until Patroni lists the synchronous standbys, which it does one step after it has configured the server.
    fn await_sync_standbys(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        let wanted = self.replication().map_or(0, |it| it.sync.count()) as usize;
        let id = self.postgres_at(self.primary_index()).node;
        supervisor.await_ready(id, READY_TIMEOUT, || {
            let told = self.patroni_get("/cluster").unwrap_or_default();
            // `sync_standby` and `quorum_standby` are roles.
            let confirm = told.matches("_standby\"").count();
            let not_yet = || Readiness::NotYet(format!("Patroni knows {confirm} of {wanted} that confirm"));
            if confirm >= wanted { Readiness::Ready(()) } else { not_yet() }
        })
    }

    fn free_port(&self, name: &str) -> Result<u16, NodeError> {
        (self.ports)().map_err(|it| node_error(name, "get a port", &it))
    }

    fn start_etcd(&mut self, supervisor: &mut Supervisor, plan: &Patroni) -> Result<(), NodeError> {
        let program = self.managers.as_ref().expect("they were found").etcd.path.clone();
        for number in 1..=plan.etcd {
            let name = format!("etcd-{number}");
            let address = self.choose_address(supervisor, &name)?;
            let clients = SocketAddr::from((address, self.free_port(&name)?));
            let peers = SocketAddr::from((address, self.free_port(&name)?));
            let replicas = self.replicas.as_mut().expect("they are being made");
            replicas.etcd.members.push(Member { name, clients, peers });
        }
        let members = self.etcd_cluster().members.clone();
        let home = supervisor.home();
        for (own, member) in members.iter().enumerate() {
            let _ = std::fs::remove_dir_all(home.join(&member.name));
            let mut launch = Launch::new(&member.name, &program, &home)
                .as_user(supervisor.user())
                .args(etcd::arguments(&members, own, &home));
            launch.isolated = true;
            launch.address = own_address(member.clients);
            let id = supervisor.launch(launch)?;
            let replicas = self.replicas.as_mut().expect("they are being made");
            replicas.etcd.nodes.push((member.name.clone(), id));
        }
        let ids: Vec<NodeId> = self.etcd_cluster().nodes.iter().map(|it| it.1).collect();
        for (member, id) in members.iter().zip(ids) {
            let url = url(member.clients, "/health");
            supervisor.await_ready(id, READY_TIMEOUT, || match http::get(&url, ATTEMPT_TIMEOUT) {
                Ok(it) if it.status == 200 => Readiness::Ready(()),
                Ok(it) => Readiness::NotYet(format!("GET /health is answered by status {}", it.status)),
                Err(it) => Readiness::NotYet(it.to_string()),
            })?;
        }
        Ok(())
    }

    fn etcd_cluster(&self) -> &EtcdCluster {
        &self.replicas.as_ref().expect("they have a manager").etcd
    }

    /// Makes Patroni run this server from its next start on.
    fn hand_over_to_patroni(
        &mut self,
        supervisor: &mut Supervisor,
        plan: &Patroni,
        at: usize,
    ) -> Result<(), NodeError> {
        let name = self.server_mut(at).plan.name.clone();
        let rest = SocketAddr::from((self.postgres_at(at).settings().address, self.free_port(&name)?));
        let replicas = self.replicas.as_ref().expect("they are being made");
        let (sync, user) = (replicas.plan.sync, replicas.user.clone());
        let etcd: Vec<SocketAddr> = self.etcd_cluster().members.iter().map(|it| it.clients).collect();
        let program = self.managers.as_ref().expect("they were found").patroni.path.clone();
        let home = supervisor.home();
        let own = self.postgres_at(at);
        let lines = own.configuration_lines();
        // Patroni decides where the server listens and which server it follows.
        let theirs = |it: &str| it == "listen_addresses" || super::replicas::ROLE_SETTINGS.contains(&it);
        let settings: Vec<_> = lines.into_iter().filter(|it| !theirs(&it.0)).collect();
        let text = |superuser: &str, user: &User| {
            let replicator = (user.name.as_str(), user.password.reveal());
            configuration(&PatroniContext {
                name: &name,
                plan,
                sync,
                etcd: &etcd,
                rest_api: rest,
                postgres: SocketAddr::from((own.settings().address, own.port)),
                data: &own.data,
                bin: &own.installation.bin,
                home: &home,
                settings: &settings,
                superuser: (postgres::SUPERUSER, superuser),
                replicator,
            })
        };
        let file = format!("{name}.patroni.yml");
        let contents = text(own.password().reveal(), &user);
        write_private_file(supervisor, &file, &contents)
            .map_err(|it| node_error(&name, "be configured", &it))?;
        let masked = User { password: wire::pg::Secret::new("***"), ..user.clone() };
        let shown = text("***", &masked);
        let mut launch = Launch::new(&name, &program, &home)
            .as_user(supervisor.user())
            .limited(&own.settings().limits)
            .arg(supervisor.directory().join(&file));
        launch.stop = vec![crate::supervisor::StopStep { signal: Sig::Term, patience: STOP_TIMEOUT }];
        launch.isolated = true;
        launch.address = own.own_address();
        own.manager = Some(Box::new(launch));
        self.server_mut(at).configuration.push((file, shown));
        self.replicas
            .as_mut()
            .expect("they are being made")
            .health_endpoints
            .push(HealthEndpoint::Patroni(rest));
        Ok(())
    }

    /// Waits until the first server holds the leader key; the replicas would otherwise wait for one more loop.
    fn await_leader(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        let id = self.postgres_at(0).node;
        let rest = self.rest_api_address(0).expect("it is managed");
        supervisor.await_ready(id, READY_TIMEOUT, || {
            match http::get(&url(rest, "/primary"), ATTEMPT_TIMEOUT) {
                Ok(it) if it.status == 200 => Readiness::Ready(()),
                Ok(it) => Readiness::NotYet(format!("GET /primary is answered by status {}", it.status)),
                Err(it) => Readiness::NotYet(it.to_string()),
            }
        })
    }

    /// Address of the REST API of a server's Patroni.
    fn rest_api_address(&self, at: usize) -> Option<SocketAddr> {
        match self.replicas.as_ref()?.health_endpoints.get(at)? {
            HealthEndpoint::Patroni(it) => Some(*it),
            HealthEndpoint::Ours(_) => None,
        }
    }

    /// Body of `GET path`, such as `/cluster` or `/history`, from the first Patroni that answers with 200.
    pub fn patroni_get(&self, path: &str) -> Option<String> {
        let rests = (0..self.servers().len()).filter_map(|it| self.rest_api_address(it));
        let pages = rests.map(|it| http::get(&url(it, path), ATTEMPT_TIMEOUT));
        let mut well = pages.flatten().filter(|it| it.status == 200);
        well.next().map(|it| String::from_utf8_lossy(&it.body).into_owned())
    }

    /// Asks Patroni to make another server the primary: the named one, or Patroni's own choice.
    pub(super) fn switch_over_by_patroni(
        &mut self,
        supervisor: &mut Supervisor,
        to: Option<&str>,
    ) -> Result<Promotion, NodeError> {
        let from = self.primary_index();
        let name = self.server_mut(from).plan.name.clone();
        let mut body = serde_json::json!({ "leader": name });
        if let Some(to) = to {
            body["candidate"] = to.into();
        }
        let rest = self
            .rest_api_address(from)
            .ok_or_else(|| node_error(&name, "hand over", &"it has no Patroni"))?;
        self.replicas.as_mut().expect("it is managed").changed = true;
        let began = Instant::now();
        let id = self.postgres_at(from).node;
        supervisor.await_ready(id, READY_TIMEOUT, || {
            match http_post(rest, "/switchover", &body.to_string()) {
                Ok((200, _)) => Readiness::Ready(()),
                // No candidate is good enough yet, or Patroni does not know its state.
                Ok((status @ (412 | 503), text)) => {
                    Readiness::NotYet(format!("Patroni answers {status}: {text}"))
                }
                Ok((status, text)) => Readiness::Never(format!("Patroni answers {status}: {text}")),
                Err(it) => Readiness::NotYet(it.to_string()),
            }
        })?;
        let promotion = self.await_promotion(supervisor, began, READY_TIMEOUT)?;
        // Patroni promotes no server before it has recorded the synchronous standbys.
        self.await_sync_standbys(supervisor)?;
        Ok(promotion)
    }

    /// Waits until Patroni has promoted a server other than the last known primary.
    pub fn await_promotion(
        &mut self,
        supervisor: &mut Supervisor,
        began: Instant,
        patience: Duration,
    ) -> Result<Promotion, NodeError> {
        let from = self.primary_index();
        let from_name = self.server_mut(from).plan.name.clone();
        let before = self.server_statuses();
        self.replicas.as_mut().expect("it is managed").changed = true;
        // `await_ready` watches a node and fails if it ends; any running server will do.
        let watched =
            self.servers().iter().filter_map(|it| it.node).find(|it| supervisor.end_of(*it).is_none());
        let watched = watched.ok_or_else(|| node_error(&from_name, "be followed", &"no server runs"))?;
        let (to, timeline) = supervisor.await_ready(watched, patience, || {
            let seen = self.server_statuses();
            let writes =
                |it: &(usize, crate::replication::ReplicationState)| it.0 != from && !it.1.in_recovery;
            let states = seen.iter().enumerate().filter_map(|(at, it)| Some((at, it.state?)));
            match states.filter(writes).max_by_key(|it| it.1.timeline) {
                Some((at, state)) => Readiness::Ready((at, state.timeline)),
                None => Readiness::NotYet("no other server takes writes".to_owned()),
            }
        })?;
        self.replicas.as_mut().expect("it is managed").primary = to;
        let to = self.server_mut(to).plan.name.clone();
        // Patroni itself rewinds diverged replicas.
        let (safe, strayed) = (false, Vec::new());
        Ok(Promotion {
            from: from_name,
            to,
            statuses: before,
            safe,
            diverged: strayed,
            took: began.elapsed(),
            timeline,
        })
    }
}

fn url(address: SocketAddr, target: &str) -> Url {
    Url { host: Host::Tcp(address.ip().to_string(), address.port()), tls: false, target: target.to_owned() }
}

/// Sends a POST request; returns the status and the body.
fn http_post(to: SocketAddr, path: &str, body: &str) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&to, ATTEMPT_TIMEOUT)?;
    // Patroni answers when the switchover is complete.
    stream.set_read_timeout(Some(READY_TIMEOUT))?;
    write!(
        stream,
        "POST {path} HTTP/1.0\r\nHost: {to}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let status = text.split(' ').nth(1).and_then(|it| it.parse().ok());
    let said = text.split_once("\r\n\r\n").map_or("", |it| it.1).trim().to_owned();
    Ok((status.ok_or(io::ErrorKind::InvalidData)?, said))
}
