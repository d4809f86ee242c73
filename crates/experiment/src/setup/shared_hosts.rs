//! The section `stack.hosts`: nodes that share CPUs and memory.

use super::SetupBuilder;
use super::service_program::scope;
use super::stack::is_attached;
use crate::datum::OrderedMap;
use crate::diagnostic::{any_of, quote};
use crate::file;
use model::message;
use model::plan::{GENERATOR, Node, NodeKind, ProgramScope, SharedHost, Stack};

/// Keys of `stack` that a host may contain. A node that a cell does not have is ignored there.
const NODES: [&str; 5] = ["service", "balancer", "pooler", "postgres", SharedHost::REPLICAS];
const SECTION: &str = "stack.hosts";

impl SetupBuilder<'_> {
    /// Hosts of a stack in the order of the file. Their nodes exist or are absent from this cell.
    pub(super) fn shared_hosts(
        &mut self,
        source: OrderedMap<file::SharedHost>,
        stack: &Stack,
    ) -> Vec<SharedHost> {
        let mut hosts: Vec<SharedHost> = Vec::new();
        for (name, source) in source.0 {
            let path = format!("{SECTION}.{name}");
            self.check_host_name(&name);
            let nodes_path = format!("{path}.nodes");
            if source.nodes.is_empty() {
                self.report(&nodes_path, message!("experiment-host-empty"));
            }
            let scope = scope(source.per.unwrap_or(file::ProgramScope::Stack));
            for (index, node) in source.nodes.iter().enumerate() {
                let path = format!("{nodes_path}.{index}");
                self.check_host_node(&path, node, scope, stack);
                let other = hosts.iter().find(|host| host.nodes.iter().any(|it| overlap(it, node)));
                let earlier = source.nodes[..index].iter().any(|it| overlap(it, node));
                if let Some(host) = other.map(|it| &it.name).or(earlier.then_some(&name)) {
                    self.report(&path, message!("experiment-host-twice", node = quote(node), host));
                }
            }
            let limits = file::Limits {
                cpu: source.cpu,
                memory: source.memory,
                cpus: source.cpus,
                ..file::Limits::default()
            };
            let limits = self.limits(&path, Some(limits));
            if limits.is_unlimited() {
                self.report(&path, message!("experiment-host-limits"));
            }
            let host = SharedHost { name, nodes: source.nodes, scope, limits };
            self.check_quotas(&path, &host, stack);
            hosts.push(host);
        }
        hosts
    }

    fn check_host_name(&mut self, name: &str) {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_plain) {
            self.report_key(SECTION, name, message!("experiment-host-name", name = quote(name)));
        } else if is_node_name(name) {
            self.report_key(SECTION, name, message!("experiment-host-reserved", name = quote(name)));
        }
    }

    fn check_host_node(&mut self, path: &str, name: &str, scope: ProgramScope, stack: &Stack) {
        let programs = stack.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Service(service) => Some(&service.programs),
            _ => None,
        });
        let program = name.strip_prefix("service.");
        let program = program.and_then(|name| programs.into_iter().flatten().find(|it| it.name == name));
        // A cell without the service has none of its programs.
        let is_absent = programs.is_none() && name.starts_with("service.");
        if !NODES.contains(&name) && program.is_none() && !is_absent {
            let of_service = programs.into_iter().flatten().map(|it| format!("service.{}", it.name));
            let known = any_of(NODES.iter().map(|it| (*it).to_owned()).chain(of_service));
            self.report(path, message!("experiment-host-node", name = quote(name), known));
            return;
        }
        let base = name.split_once('.').map_or(name, |it| it.0);
        if stack.nodes.iter().any(|it| it.name == base && is_attached(&it.kind)) {
            self.report(path, message!("experiment-host-attached", name = quote(name)));
        }
        let is_shared = program.is_some_and(|it| it.scope == ProgramScope::Stack);
        if scope == ProgramScope::Copy && (base != "service" || is_shared) {
            self.report(path, message!("experiment-host-per-copy", name = quote(name)));
        }
    }

    /// Reports a node whose own quota is larger than that of its host, because the kernel refuses it.
    fn check_quotas(&mut self, path: &str, host: &SharedHost, stack: &Stack) {
        let Some(quota) = host.limits.cpu else { return };
        let replicas = stack.replication.as_ref().map(|it| (SharedHost::REPLICAS.to_owned(), it.limits.cpu));
        let parts = stack.nodes.iter().flat_map(|node: &Node| {
            node.parts().into_iter().map(|part| (part.name, part.limits.cpu)).collect::<Vec<_>>()
        });
        for (name, cpu) in parts.chain(replicas) {
            let is_its = host.nodes.iter().any(|it| overlap(it, &name));
            if let Some(cpu) = cpu.filter(|it| is_its && *it > quota) {
                let (cpu, quota) = (cpu.to_string(), quota.to_string());
                self.report(&format!("{path}.cpu"), message!("experiment-host-quota", name, cpu, quota));
            }
        }
    }
}

/// True if a name is, or may become, that of a node in samples, such as `service-1`.
fn is_node_name(name: &str) -> bool {
    let first = name.split('-').next().unwrap_or_default();
    NODES.contains(&first) || [GENERATOR, "host"].contains(&name)
}

/// True if two names mean the same node, or one is a program of the other.
fn overlap(a: &str, b: &str) -> bool {
    let is_program = |service: &str, program: &str| {
        program.strip_prefix(service).is_some_and(|it| it.is_empty() || it.starts_with('.'))
    };
    is_program(a, b) || is_program(b, a)
}
