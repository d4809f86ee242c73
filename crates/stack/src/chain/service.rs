//! HTTP services as nodes: copies, attachment and readiness

use super::{ChainError, NodeHandle, RunningNode, guard, node_error};
use crate::client::Target;
use crate::component::{Copies, EndpointTls, NodeEndpoint};
use crate::http::{self, HttpResponse, with_path};
use crate::supervisor::{NodeError, Readiness, Supervisor};
use model::Nanos;
use model::message;
use model::message::Message;
use model::plan::{Balancer, Limits, Node, NodeKind, Service};
use model::product;
use model::summary::ServerTransport;
use std::net::IpAddr;
use std::time::Duration;
use wire::http::{Host, Url};
use wire::pg::Login;

/// Timeout for one readiness request.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout for the request that attaches a service. It is long because the service may be slow.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for a service with one CPU to become ready, long enough for a managed runtime such as a JVM.
const READY_TIMEOUT: Nanos = Nanos::from_secs(60);
/// Interval of a balancer's readiness checks of each copy.
const CHECK_INTERVAL: Nanos = Nanos::from_millis(500);
/// Maximum time that a request waits in a balancer's queue for a copy.
const QUEUE_TIMEOUT: Nanos = Nanos::from_secs(30);

/// Expands a service with several copies into a balancer and the copies behind it. Other nodes are unchanged.
pub fn expand_copies(nodes: &[Node]) -> Vec<Node> {
    let mut all = Vec::new();
    for node in nodes {
        if let Some(name) = node.copies_balancer() {
            let balancer = Balancer {
                product: product::default_balancer(),
                maxconn: None,
                queue_timeout: QUEUE_TIMEOUT,
                check: Some(CHECK_INTERVAL),
                retries: None,
            };
            let (kind, limits) = (NodeKind::Balancer(balancer), Limits::default());
            all.push(Node { name, kind, transport: node.transport, limits });
        }
        all.extend(node.instances());
    }
    all
}

/// Timeout for a service to become ready. The default is longer if the service's CPU limit is below one CPU.
pub(super) fn ready_timeout(node: &Node, service: &Service) -> Duration {
    let share = node.limits.cpu.unwrap_or(1.0).clamp(0.01, 1.0);
    service.ready_timeout.unwrap_or(Nanos((READY_TIMEOUT.0 as f64 / share) as u64)).into()
}

/// Services behind a balancer in front of these nodes: the first node and its copies.
pub(super) fn balanced_copies(nodes: &[RunningNode]) -> Option<Copies<'_>> {
    let first = nodes.first().filter(|it| it.url.is_some())?;
    let alike = |it: &&RunningNode| it.plan.kind == first.plan.kind && !it.is_attached();
    let mut endpoints: Vec<NodeEndpoint<'_>> = nodes.iter().take_while(alike).map(http_endpoint).collect();
    if endpoints.is_empty() {
        endpoints.push(http_endpoint(first));
    }
    Some(Copies { endpoints, ready: first.ready.as_ref().map_or("/", |it| it.0.as_str()) })
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
        endpoint: Target { address, login: Login::new("", "").into() },
        admin: None,
        statistics: None,
        read_only: None,
        host,
        ready: Some((service.ready_path.clone(), ATTACH_TIMEOUT)),
        url: Some(url),
        log: None,
        arguments: Vec::new(),
        configuration: Vec::new(),
        hop,
        endpoint_tls: EndpointTls::Off,
        handle: NodeHandle::Attached,
    })
}

/// Waits until a service that pgdyno started reports that it is ready.
pub(super) fn await_ready(supervisor: &mut Supervisor, node: &RunningNode) -> Result<(), NodeError> {
    let (Some(id), Some(url), Some((path, timeout))) = (node.node, &node.url, &node.ready) else {
        return Ok(());
    };
    let url = with_path(url, path);
    supervisor.await_ready(id, *timeout, || match http::get(&url, ATTEMPT_TIMEOUT) {
        Ok(it) if it.status == 200 => Readiness::Ready(()),
        Ok(it) => Readiness::NotYet(status_message(path, &it)),
        Err(it) => Readiness::NotYet((&it).into()),
    })
}

fn status_message(path: &str, page: &HttpResponse) -> Message {
    message!("node-get-answered", path, status = page.status.to_string())
}
