//! Nodes that pgdyno starts for the planned nodes: copies and programs of services.

use super::{
    Balancer, Limits, Node, NodeKind, ProgramScope, Service, ServiceInstance, ServiceProgram, Stack,
};
use crate::Nanos;
use crate::product;

/// Interval of a balancer's readiness checks of each copy.
const CHECK_INTERVAL: Nanos = Nanos::from_millis(500);
/// Maximum time that a request waits in a balancer's queue for a copy.
const QUEUE_TIMEOUT: Nanos = Nanos::from_secs(30);

/// Part of a planned node that has limits of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePart<'a> {
    /// Name of the node, followed by the name of the program if there are several: `service.web`.
    pub name: String,
    pub limits: &'a Limits,
    /// Names of the started nodes that run this part, at least one.
    pub instances: Vec<String>,
}

/// Nodes that pgdyno starts or attaches for these planned nodes, entry node first.
///
/// A service with several copies becomes a balancer, `NAME-balancer`, and the copies behind it, `NAME-1`, `NAME-2`, ….
/// A service with several programs becomes one node for each program of each copy, such as `NAME-1.web`, and then one
/// for each program of the stack. Other nodes are unchanged.
pub fn started_nodes(nodes: &[Node]) -> Vec<Node> {
    let mut all = Vec::new();
    for node in nodes {
        match &node.kind {
            NodeKind::Service(service) if service.url.is_none() => {
                all.extend(node.copies_balancer().map(|name| copy_balancer(node, name)));
                all.extend(instances(node, service));
            }
            _ => all.push(node.clone()),
        }
    }
    all
}

/// Balancer in front of the copies of a service.
fn copy_balancer(service: &Node, name: String) -> Node {
    let balancer = Balancer {
        product: product::default_balancer(),
        maxconn: None,
        queue_timeout: QUEUE_TIMEOUT,
        check: Some(CHECK_INTERVAL),
        retries: None,
    };
    Node { name, kind: NodeKind::Balancer(balancer), transport: service.transport, limits: Limits::default() }
}

/// Started nodes of a service. Nodes start from the last one to the first one.
fn instances<'a>(node: &'a Node, service: &'a Service) -> impl Iterator<Item = Node> + 'a {
    let one = |instance: ServiceInstance, name: String, limits: &Limits| Node {
        name,
        kind: NodeKind::Service(Service { copies: 1, instance: Some(instance), ..service.clone() }),
        transport: node.transport,
        limits: limits.clone(),
    };
    let program = move |instance: &ServiceInstance, program: &ServiceProgram| {
        let its = ServiceInstance { program: Some(program.name.clone()), ..instance.clone() };
        one(its, instance.node_of(program), &program.limits)
    };
    let with_scope = |scope| service.programs.iter().rev().filter(move |program| program.scope == scope);
    let instance = |copy: Option<u32>| {
        let number = copy.filter(|_| service.copies > 1);
        let base = number.map_or_else(|| node.name.clone(), |it| format!("{}-{it}", node.name));
        ServiceInstance { service: node.name.clone(), copy, base, program: None }
    };
    let copy = move |number| {
        let instance = instance(Some(number));
        match service.programs.is_empty() {
            true => vec![one(instance.clone(), instance.base, &node.limits)],
            false => with_scope(ProgramScope::Copy).map(|it| program(&instance, it)).collect(),
        }
    };
    let shared = instance(None);
    (1..=service.copies)
        .flat_map(copy)
        .chain(with_scope(ProgramScope::Stack).map(move |it| program(&shared, it)))
}

impl NodePart<'_> {
    fn is_named(&self, name: &str) -> bool {
        self.name == name || self.instances.iter().any(|it| it == name)
    }

    /// Each instance as a part of its own.
    pub fn split(&self) -> Vec<NodePart<'_>> {
        let one = |name: &String| NodePart {
            name: name.clone(),
            limits: self.limits,
            instances: vec![name.clone()],
        };
        self.instances.iter().map(one).collect()
    }
}

impl Node {
    /// Names of the started nodes that run this node: `NAME-1`, `NAME-2`, … for the copies of a service, with the names
    /// of their programs if there are several; otherwise its own name.
    pub fn instances(&self) -> Vec<String> {
        self.parts().into_iter().flat_map(|it| it.instances).collect()
    }

    /// Name of the balancer that pgdyno starts in front of the copies of a service; `None` without copies.
    pub fn copies_balancer(&self) -> Option<String> {
        let NodeKind::Service(service) = &self.kind else { return None };
        (service.url.is_none() && service.copies > 1).then(|| format!("{}-balancer", self.name))
    }

    /// Names of the started nodes that serve the address of each copy of a service.
    pub fn serving_instances(&self) -> Vec<String> {
        let serving = match &self.kind {
            NodeKind::Service(it) => it.serving_program().map(|it| format!("{}.{}", self.name, it.name)),
            _ => None,
        };
        let mut parts = self.parts().into_iter();
        let part = parts.find(|it| serving.as_ref().is_none_or(|name| *name == it.name));
        part.map(|it| it.instances).unwrap_or_default()
    }

    /// Parts of the node that have limits of their own: the programs of a service, or the node itself.
    pub fn parts(&self) -> Vec<NodePart<'_>> {
        let NodeKind::Service(service) = &self.kind else { return vec![self.whole()] };
        if service.url.is_some() {
            return vec![self.whole()];
        }
        let started: Vec<Node> = instances(self, service).collect();
        let names = |program: Option<&str>| {
            let of_program = |node: &&Node| match &node.kind {
                NodeKind::Service(one) => one.program().map(|it| it.name.as_str()) == program,
                _ => false,
            };
            started.iter().filter(of_program).map(|it| it.name.clone()).collect::<Vec<_>>()
        };
        if service.programs.is_empty() {
            return vec![NodePart { instances: names(None), ..self.whole() }];
        }
        let programs = service.programs.iter().map(|program| NodePart {
            name: format!("{}.{}", self.name, program.name),
            limits: &program.limits,
            instances: names(Some(&program.name)),
        });
        programs.collect()
    }

    fn whole(&self) -> NodePart<'_> {
        NodePart { name: self.name.clone(), limits: &self.limits, instances: vec![self.name.clone()] }
    }
}

impl Stack {
    /// Part or host with this name, or with an instance of this name; see [`Node::parts`] and [`Stack::host_parts`].
    pub fn part(&self, name: &str) -> Option<NodePart<'_>> {
        self.nodes.iter().flat_map(Node::parts).chain(self.host_parts()).find(|it| it.is_named(name))
    }

    /// Node to which the part with this name, or with an instance of this name, belongs.
    pub fn node_of_part(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.parts().iter().any(|part| part.is_named(name)))
    }

    /// Limits of the part, replica or host with this name. All replicas have the same limits.
    pub fn limits_mut(&mut self, name: &str) -> Option<&mut Limits> {
        if self.replica_names().iter().any(|it| it == name) {
            return self.replication.as_mut().map(|it| &mut it.limits);
        }
        let Some(index) =
            self.nodes.iter().position(|node| node.parts().iter().any(|part| part.name == name))
        else {
            return self.hosts.iter_mut().find(|it| it.name == name).map(|it| &mut it.limits);
        };
        let node = &mut self.nodes[index];
        let program = name.strip_prefix(node.name.as_str()).and_then(|it| it.strip_prefix('.'));
        match (&mut node.kind, program) {
            (NodeKind::Service(service), Some(program)) => {
                service.programs.iter_mut().find(|it| it.name == program).map(|it| &mut it.limits)
            }
            _ => Some(&mut node.limits),
        }
    }
}

#[cfg(test)]
mod tests;
