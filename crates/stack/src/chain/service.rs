//! Which nodes stand for an HTTP service, and does it answer?

use super::{Kept, Problem, Running, failed, guard};
use crate::ask::Target;
use crate::component::{Copies, Door, DoorTls};
use crate::http::{self, Page};
use crate::supervisor::{Answer, Failure, Supervisor};
use model::Nanos;
use model::plan::{HaProxy, Kind, Limits, Node, Service};
use model::summary::Hop;
use std::time::Duration;
use wire::http::{Host, Url};
use wire::pg::Login;

/// One try.
const TRY: Duration = Duration::from_secs(2);
/// A service that is there already may be slow, but answers.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a virtual machine of another language may take to begin, of a whole processor.
const READY: Nanos = Nanos::from_secs(60);
/// How often a balancer asks each copy whether it is ready.
const CHECK: Nanos = Nanos::from_millis(500);
/// A request that waits longer for a copy is refused.
const QUEUE: Nanos = Nanos::from_secs(30);

/// The nodes as they are started: a service of several copies is a balancer, `NAME-balancer`, and behind it the copies,
/// `NAME-1`, `NAME-2`, ….
pub fn spread(nodes: &[Node]) -> Vec<Node> {
    let mut all = Vec::new();
    for node in nodes {
        let copies = match &node.kind {
            Kind::Service(it) if it.url.is_none() && it.copies > 1 => it.copies,
            _ => {
                all.push(node.clone());
                continue;
            }
        };
        let before = HaProxy { maxconn: None, queue_timeout: QUEUE, check: Some(CHECK), retries: None };
        all.push(Node {
            name: format!("{}-balancer", node.name),
            kind: Kind::HaProxy(before),
            entrance: node.entrance,
            limits: Limits::default(),
        });
        for copy in 1..=copies {
            let mut one = Node { name: format!("{}-{copy}", node.name), ..node.clone() };
            let Kind::Service(it) = &mut one.kind else { unreachable!("it was one") };
            it.copies = 1;
            all.push(one);
        }
    }
    all
}

/// How long a node is waited for, if it is a service.
pub(super) fn patience(node: &Node, service: &Service) -> Duration {
    let share = node.limits.cpu.unwrap_or(1.0).clamp(0.01, 1.0);
    service.ready_within.unwrap_or(Nanos((READY.0 as f64 / share) as u64)).into()
}

/// The services that a balancer in front of these nodes shares requests among: the first one, and its copies.
pub(super) fn copies(nodes: &[Running]) -> Option<Copies<'_>> {
    let first = nodes.first().filter(|it| it.url.is_some())?;
    let alike = |it: &&Running| it.plan.kind == first.plan.kind && !it.is_attached();
    let mut doors: Vec<Door<'_>> = nodes.iter().take_while(alike).map(door).collect();
    if doors.is_empty() {
        doors.push(door(first));
    }
    Some(Copies { doors, ready: first.ready.as_ref().map_or("/", |it| it.0.as_str()) })
}

pub(super) fn door(it: &Running) -> Door<'_> {
    Door { name: &it.plan.name, address: it.entrance.address.clone(), read_only: None, tls: DoorTls::Off }
}

/// A service that is there already: where it is, asked once.
pub(super) fn attach(node: &Node, service: &Service, url: &str) -> Result<Running, Problem> {
    let impossible = |why: String| Problem::Impossible { node: node.name.clone(), why };
    let url = Url { target: "/".to_owned(), ..Url::read(url).map_err(impossible)? };
    let unreached = |why: &dyn std::fmt::Display| failed(&node.name, "be reached", why);
    let address = http::address(&url).map_err(|it| unreached(&it))?;
    let page = http::get(&at(&url, &service.ready), PATIENCE).map_err(|it| unreached(&it))?;
    if page.status != 200 {
        return Err(unreached(&refused(&service.ready, &page)).into());
    }
    guard::service(node, service, (&address, &url), &page)?;
    let hop = match (&url.host, page.tls) {
        (Host::Unix(_), _) => Hop::UnixSocket,
        (_, None) => Hop::Tcp,
        (_, Some(it)) => Hop::TcpTls { version: it.trim_start_matches("TLSv").to_owned() },
    };
    Ok(Running {
        plan: node.clone(),
        node: None,
        program: None,
        version: page.server.unwrap_or_else(|| "HTTP service".to_owned()),
        entrance: Target { address, login: Login::new("", "").into() },
        admin: None,
        statistics: None,
        read_only: None,
        ready: Some((service.ready.clone(), PATIENCE)),
        url: Some(url),
        log: None,
        arguments: Vec::new(),
        configuration: Vec::new(),
        hop,
        door: DoorTls::Off,
        kept: Kept::Attached,
    })
}

/// The same server's other page.
pub fn at(url: &Url, target: &str) -> Url {
    Url { target: target.to_owned(), ..url.clone() }
}

/// Asks a node of ours until it says that it is ready.
pub(super) fn await_ready(supervisor: &mut Supervisor, node: &Running) -> Result<(), Failure> {
    let (Some(id), Some(url), Some((path, patience))) = (node.node, &node.url, &node.ready) else {
        return Ok(());
    };
    let url = at(url, path);
    supervisor.await_ready(id, *patience, || match http::get(&url, TRY) {
        Ok(it) if it.status == 200 => Answer::Ready(()),
        Ok(it) => Answer::NotYet(refused(path, &it)),
        Err(it) => Answer::NotYet(it.to_string()),
    })
}

fn refused(path: &str, page: &Page) -> String {
    format!("GET {path} is answered by status {}", page.status)
}
