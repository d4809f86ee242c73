//! HTTP services as nodes: copies, attachment and readiness

use super::{Chain, ChainError, NodeHandle, RunningNode, guard, node_error};
use crate::client::{Address, Target};
use crate::component::{Copies, EndpointTls, NodeEndpoint};
use crate::http::{self, HttpResponse, with_path};
use crate::page::SampledPage;
use crate::supervisor::{NodeError, Readiness, Supervisor};
use model::Nanos;
use model::message;
use model::message::Message;
use model::plan::{Node, NodeKind, ProgramReadiness, Service, ServiceInstance};
use model::summary::ServerTransport;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wire::http::{Host, Url};
use wire::pg::Login;

/// Timeout for one readiness request.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout for the request that attaches a service. It is long because the service may be slow.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for a service with one CPU to become ready, long enough for a managed runtime such as a JVM.
const READY_TIMEOUT: Nanos = Nanos::from_secs(60);
/// Timeout for one connection to a program.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time after its start at which a program that accepts no connections counts as running.
const RUNNING_TIME: Duration = Duration::from_millis(500);

/// Readiness check of a node, and the timeout.
#[derive(Clone, Debug)]
pub(super) struct ReadyCheck {
    pub(super) condition: ReadyCondition,
    pub(super) timeout: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum ReadyCondition {
    /// This path at the node's address returns status 200.
    Path(String),
    /// This address accepts connections.
    Accepts(Address),
    /// The node has not ended shortly after its start.
    Running,
}

impl ReadyCheck {
    pub(super) fn path(path: &str, timeout: Duration) -> ReadyCheck {
        ReadyCheck { condition: ReadyCondition::Path(path.to_owned()), timeout }
    }

    /// Check of a service's program that listens on `address`, with its sockets in `directory`.
    pub(super) fn of_service(
        node: &Node,
        service: &Service,
        address: &Address,
        directory: &Path,
    ) -> ReadyCheck {
        let ready = service.program().filter(|_| !service.is_serving()).map(|it| &it.ready);
        let condition = match ready {
            None => ReadyCondition::Path(service.ready_path.clone()),
            Some(ProgramReadiness::Path(path)) => ReadyCondition::Path(path.clone()),
            Some(ProgramReadiness::Port) => ReadyCondition::Accepts(address.clone()),
            Some(ProgramReadiness::Socket(name)) => {
                ReadyCondition::Accepts(Address::Unix(directory.join(name)))
            }
            Some(ProgramReadiness::Running) => ReadyCondition::Running,
        };
        ReadyCheck { condition, timeout: ready_timeout(node, service) }
    }
}

/// Directory and addresses of a node that is about to start.
#[derive(Debug)]
pub(super) struct ProgramPlace {
    /// Port that other programs know already; `None` if any port will do.
    pub(super) port: Option<u16>,
    /// Directory of a service's program; otherwise the home of all nodes.
    pub(super) directory: PathBuf,
    /// Addresses of the other programs of the service that the program mentions.
    pub(super) programs: Vec<(String, SocketAddr)>,
}

impl Chain {
    /// Prepares the start of a node. Creates the directory of a service's program, and chooses the ports of the programs
    /// that it mentions.
    pub(super) fn prepare_place(
        &mut self,
        supervisor: &Supervisor,
        node: &Node,
    ) -> Result<ProgramPlace, NodeError> {
        let nowhere = ProgramPlace { port: None, directory: supervisor.home(), programs: Vec::new() };
        let NodeKind::Service(service) = &node.kind else { return Ok(nowhere) };
        let Some(instance) = &service.instance else { return Ok(nowhere) };
        let directory = self
            .prepare_directory(supervisor, instance)
            .map_err(|it| node_error(&node.name, message!("attempt-configure"), &it))?;
        let port = self.program_ports.get(&node.name).copied();
        let programs = self
            .program_addresses(service, instance)
            .map_err(|it| node_error(&node.name, message!("attempt-get-port"), &it))?;
        Ok(ProgramPlace { port, directory, programs })
    }

    /// Stores the port of a service's program that has started, for the programs that start later.
    pub(super) fn remember_port(&mut self, node: &RunningNode) {
        if let (NodeKind::Service(_), Address::Tcp(address)) = (&node.plan.kind, &node.endpoint.address) {
            self.program_ports.insert(node.plan.name.clone(), address.port());
        }
    }

    /// Addresses of the programs that a program of a service mentions, by name. A program that has not started gets a
    /// port now.
    fn program_addresses(
        &mut self,
        service: &Service,
        instance: &ServiceInstance,
    ) -> std::io::Result<Vec<(String, SocketAddr)>> {
        let mut addresses = Vec::new();
        for program in crate::component::service::mentioned_programs(service) {
            let node = instance.node_of(program);
            let port = match self.program_ports.get(&node) {
                Some(known) => *known,
                None => {
                    let port = (self.ports)()?;
                    self.program_ports.insert(node, port);
                    port
                }
            };
            addresses.push((program.name.clone(), SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
        }
        Ok(addresses)
    }

    /// Prepares the start of a program of a service, and returns its directory. The first program of a copy gets an empty
    /// directory, and ports of earlier programs are forgotten.
    fn prepare_directory(
        &mut self,
        supervisor: &Supervisor,
        instance: &ServiceInstance,
    ) -> std::io::Result<PathBuf> {
        let name = instance.directory();
        let directory = supervisor.home().join(&name);
        let shares = |node: &RunningNode| match &node.plan.kind {
            NodeKind::Service(other) => other.instance.as_ref().is_some_and(|it| it.directory() == name),
            _ => false,
        };
        if self.nodes.iter().any(shares) {
            return Ok(directory);
        }
        if instance.copy.is_some() {
            let prefix = format!("{}.", instance.base);
            let is_running = |name: &String| self.nodes.iter().any(|node| node.plan.name == *name);
            let kept: BTreeMap<String, u16> = std::mem::take(&mut self.program_ports)
                .into_iter()
                .filter(|(node, _)| !node.starts_with(&prefix) || is_running(node))
                .collect();
            self.program_ports = kept;
        }
        match std::fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        private_directory(supervisor, &directory)?;
        Ok(directory)
    }
}

/// Creates a directory that only the nodes' user can read and write.
fn private_directory(supervisor: &Supervisor, directory: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(directory)?;
    match supervisor.user() {
        Some(user) => std::os::unix::fs::chown(directory, Some(user.uid), Some(user.gid)),
        None => Ok(()),
    }
}

/// Writes a file into the directory of a program. Only the nodes' user can read the file.
pub(super) fn write_service_file(
    supervisor: &Supervisor,
    directory: &Path,
    name: &str,
    contents: &str,
) -> std::io::Result<()> {
    let folders = Path::new(name).parent().into_iter().flat_map(Path::ancestors);
    let mut folders: Vec<&Path> = folders.filter(|it| !it.as_os_str().is_empty()).collect();
    folders.reverse();
    for folder in folders.into_iter().map(|it| directory.join(it)).filter(|it| !it.is_dir()) {
        private_directory(supervisor, &folder)?;
    }
    let path = directory.join(name);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    supervisor.private_file(&path, contents.as_bytes()).map(drop)
}

/// Timeout for a service to become ready. The default is longer if the service's CPU limit is below one CPU.
pub(super) fn ready_timeout(node: &Node, service: &Service) -> Duration {
    let share = node.limits.cpu.unwrap_or(1.0).clamp(0.01, 1.0);
    service.ready_timeout.unwrap_or(Nanos((READY_TIMEOUT.0 as f64 / share) as u64)).into()
}

/// Services behind a balancer in front of these nodes: the first node and its copies.
pub(super) fn balanced_copies(nodes: &[RunningNode]) -> Option<Copies<'_>> {
    let first = nodes.first().filter(|it| it.url.is_some())?;
    let instance = |node: &RunningNode| match &node.plan.kind {
        NodeKind::Service(service) => service.instance.clone(),
        _ => None,
    };
    let service = instance(first).map(|it| it.service);
    let is_copy = |node: &&RunningNode| {
        node.url.is_some() && service.is_some() && instance(node).map(|it| it.service) == service
    };
    let mut endpoints: Vec<NodeEndpoint<'_>> = nodes.iter().filter(is_copy).map(http_endpoint).collect();
    if endpoints.is_empty() {
        endpoints.push(http_endpoint(first));
    }
    let ready = match first.ready.as_ref().map(|it| &it.condition) {
        Some(ReadyCondition::Path(path)) => path,
        _ => "/",
    };
    Some(Copies { endpoints, ready })
}

pub(super) fn http_endpoint(node: &RunningNode) -> NodeEndpoint<'_> {
    NodeEndpoint {
        name: &node.plan.name,
        address: node.endpoint.address.clone(),
        read_only: None,
        tls: EndpointTls::Off,
    }
}

/// Attaches a running service: resolves its address and sends it one request.
pub(super) fn attach(node: &Node, service: &Service, url: &str) -> Result<RunningNode, ChainError> {
    let impossible = |reason: Message| ChainError::InvalidPlan { node: node.name.clone(), reason };
    let url = Url {
        target: "/".to_owned(),
        ..Url::parse(url).map_err(|it| impossible(Message::text(it.to_string())))?
    };
    let unreached = |reason: Message| node_error(&node.name, message!("attempt-reach"), reason);
    let address = http::resolve_address(&url).map_err(|it| unreached((&it).into()))?;
    let page = http::get(&with_path(&url, &service.ready_path), ATTACH_TIMEOUT)
        .map_err(|it| unreached((&it).into()))?;
    if page.status != 200 {
        return Err(unreached(status_message(&service.ready_path, &page)).into());
    }
    guard::check_service(node, service, (&address, &url), &page)?;
    let hop = match (&url.host, page.tls) {
        (Host::Unix(_), _) => ServerTransport::UnixSocket,
        (_, None) => ServerTransport::Tcp,
        (_, Some(it)) => ServerTransport::TcpTls { version: it.trim_start_matches("TLSv").to_owned() },
    };
    let host = match &url.host {
        Host::Tcp(name, _) if name.parse::<IpAddr>().is_err() => Some(name.clone()),
        _ => None,
    };
    Ok(RunningNode {
        plan: node.clone(),
        node: None,
        program: None,
        version: page.server.unwrap_or_else(|| "HTTP service".to_owned()),
        endpoint: Target::new(address, Login::new("", "").into()),
        admin: None,
        statistics: None,
        read_only: None,
        other_hosts: Vec::new(),
        host,
        ready: Some(ReadyCheck::path(&service.ready_path, ATTACH_TIMEOUT)),
        pages: SampledPage::of_service(service, &url, &[]),
        url: Some(url),
        log: None,
        arguments: Vec::new(),
        configuration: Vec::new(),
        hop,
        endpoint_tls: EndpointTls::Off,
        handle: NodeHandle::Attached,
    })
}

/// Waits until a node that pgdyno started passes its readiness check.
pub(super) fn await_ready(
    supervisor: &mut Supervisor,
    node: &RunningNode,
    ready: &ReadyCheck,
) -> Result<(), NodeError> {
    let Some(id) = node.node else { return Ok(()) };
    let address = &node.endpoint.address;
    match &ready.condition {
        ReadyCondition::Path(path) => {
            let url = Url { host: url_host(address), tls: false, target: path.clone() };
            supervisor.await_ready(id, ready.timeout, || match http::get(&url, ATTEMPT_TIMEOUT) {
                Ok(it) if it.status == 200 => Readiness::Ready(()),
                Ok(it) => Readiness::NotYet(status_message(path, &it)),
                Err(it) => Readiness::NotYet((&it).into()),
            })
        }
        ReadyCondition::Accepts(address) => {
            supervisor.await_ready(id, ready.timeout, || match connect(address) {
                Ok(()) => Readiness::Ready(()),
                Err(error) => {
                    let error = Message::from(&error);
                    Readiness::NotYet(message!("node-no-connection", address = address.to_string(), error))
                }
            })
        }
        ReadyCondition::Running => {
            let start = Instant::now();
            let running = || start.elapsed() >= RUNNING_TIME;
            let wait = || match running() {
                true => Readiness::Ready(()),
                false => Readiness::NotYet(message!("node-starting")),
            };
            supervisor.await_ready(id, ready.timeout.max(RUNNING_TIME), wait)
        }
    }
}

fn connect(address: &Address) -> std::io::Result<()> {
    match address {
        Address::Tcp(it) => TcpStream::connect_timeout(it, CONNECT_TIMEOUT).map(drop),
        Address::Unix(path) => UnixStream::connect(path).map(drop),
    }
}

pub(super) fn url_host(address: &Address) -> Host {
    match address {
        Address::Tcp(it) => Host::Tcp(it.ip().to_string(), it.port()),
        Address::Unix(path) => Host::Unix(path.display().to_string()),
    }
}

fn status_message(path: &str, page: &HttpResponse) -> Message {
    message!("node-get-answered", path, status = page.status.to_string())
}
