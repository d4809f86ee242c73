//! Hosts whose nodes share limits.

use super::{Limits, NodeKind, NodePart, ProgramScope, Stack, started_nodes};
use serde::{Deserialize, Serialize};

/// Nodes that share CPUs and memory, as if they ran on a machine of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedHost {
    /// Name in samples and findings; no node has it.
    pub name: String,
    /// Names of nodes, of programs of a service (`service.web`), or [`SharedHost::REPLICAS`]. At least one.
    pub nodes: Vec<String>,
    /// [`ProgramScope::Copy`] gives each copy of a service a host of its own: `NAME-1`, `NAME-2`, ….
    pub scope: ProgramScope,
    /// Limits `cpu`, `memory` and `cpus`; the others are not set.
    pub limits: Limits,
}

/// Started node on a [`SharedHost`].
#[derive(Clone, Debug, PartialEq)]
pub struct HostedNode {
    /// Name of the started node, such as `service-1.web` or `postgres-2`.
    pub node: String,
    /// Name of the planned host.
    pub planned: String,
    /// Name of the host, with the number of the copy if each copy has a host.
    pub host: String,
    /// Limits of the host.
    pub limits: Limits,
}

impl SharedHost {
    /// Name that stands for all replicas of PostgreSQL.
    pub const REPLICAS: &'static str = "replicas";

    /// Name of the host of a copy of a service with `copies` copies, or of another node.
    fn of_copy(&self, copy: Option<u32>, copies: u32) -> String {
        match (self.scope, copy) {
            (ProgramScope::Copy, Some(number)) if copies > 1 => format!("{}-{number}", self.name),
            _ => self.name.clone(),
        }
    }
}

impl Stack {
    /// Started nodes that are on hosts, in the order in which requests pass them, replicas last. The balancer in front
    /// of the copies of a service is on no host.
    pub fn hosted_nodes(&self) -> Vec<HostedNode> {
        let mut hosted = Vec::new();
        let mut add = |node: &str, names: &[&str], (copy, copies): (Option<u32>, u32)| {
            let is_listed = |it: &&SharedHost| it.nodes.iter().any(|one| names.contains(&one.as_str()));
            hosted.extend(self.hosts.iter().find(is_listed).map(|host| HostedNode {
                node: node.to_owned(),
                planned: host.name.clone(),
                host: host.of_copy(copy, copies),
                limits: host.limits.clone(),
            }));
        };
        for planned in &self.nodes {
            let NodeKind::Service(service) = &planned.kind else {
                add(&planned.name, &[&planned.name], (None, 1));
                continue;
            };
            for started in started_nodes(std::slice::from_ref(planned)) {
                let NodeKind::Service(its) = &started.kind else { continue };
                let copy = its.instance.as_ref().and_then(|it| it.copy);
                let program = its.program().map(|it| format!("{}.{}", planned.name, it.name));
                let names = [planned.name.as_str(), program.as_deref().unwrap_or(&planned.name)];
                add(&started.name, &names, (copy, service.copies));
            }
        }
        for replica in self.replica_names() {
            add(&replica, &[SharedHost::REPLICAS], (None, 1));
        }
        hosted
    }

    /// Hosts as parts; their instances are the hosts that exist.
    pub fn host_parts(&self) -> Vec<NodePart<'_>> {
        let hosted = self.hosted_nodes();
        let instances = |host: &SharedHost| {
            let mut names: Vec<String> =
                hosted.iter().filter(|it| it.planned == host.name).map(|it| it.host.clone()).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let parts = self.hosts.iter();
        parts
            .map(|it| NodePart { name: it.name.clone(), limits: &it.limits, instances: instances(it) })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{
        Node, Postgres, ProgramReadiness, Replication, Service, ServiceProgram, SyncMode, Transport,
    };

    fn node(name: &str, kind: NodeKind) -> Node {
        Node { name: name.to_owned(), kind, transport: Transport::Tcp, limits: Limits::default() }
    }

    fn service(copies: u32, programs: &[(&str, ProgramScope)]) -> Node {
        let program = |(name, scope): &(&str, ProgramScope)| ServiceProgram {
            name: (*name).to_owned(),
            command: vec!["./it".to_owned()],
            env: Vec::new(),
            files: Vec::new(),
            scope: *scope,
            ready: ProgramReadiness::Running,
            limits: Limits::default(),
        };
        let programs = programs.iter().map(program).collect();
        node("service", NodeKind::Service(Service { programs, copies, ..Service::default() }))
    }

    /// Stack with one host and two replicas.
    fn stack(first: Node, nodes: &[&str], scope: ProgramScope) -> Stack {
        let limits = Limits { cpu: Some(1.5), ..Limits::default() };
        let nodes = nodes.iter().map(|it| (*it).to_owned()).collect();
        let postgres = node(
            "postgres",
            NodeKind::Postgres(Postgres { version: None, max_connections: 100, settings: Vec::new() }),
        );
        Stack {
            nodes: vec![first, postgres],
            generator: Limits::default(),
            replication: Some(Replication::with_defaults(2, SyncMode::Async)),
            hosts: vec![SharedHost { name: "web".to_owned(), nodes, scope, limits }],
        }
    }

    #[test]
    fn hosts_are_found_by_their_names() {
        let nodes = ["service"];
        let mut stack = stack(service(2, &[]), &nodes, ProgramScope::Copy);
        assert_eq!(stack.part("web-2").map(|it| it.name), Some("web".to_owned()));
        assert_eq!(stack.part("postgres").map(|it| it.limits.cpu), Some(None));
        stack.limits_mut("web").expect("the host has limits").cpu = Some(0.5);
        assert!(stack.hosted_nodes().iter().all(|it| it.limits.cpu == Some(0.5)));
        assert_eq!(stack.limits_mut("web-2"), None);
    }

    #[test]
    fn started_nodes_are_on_the_hosts_of_their_nodes() {
        use ProgramScope::{Copy, Stack as Whole};
        let programs = [("fpm", Copy), ("web", Copy), ("jobs", Whole)];
        let check = |stack: Stack, nodes: &str, parts: &[&str]| {
            let hosted = stack.hosted_nodes();
            let shown: Vec<String> = hosted.iter().map(|it| format!("{}@{}", it.node, it.host)).collect();
            assert_eq!(shown.join(" "), nodes);
            assert!(hosted.iter().all(|it| it.limits.cpu == Some(1.5)));
            let found = stack.host_parts();
            let instances: Vec<&str> = found[0].instances.iter().map(String::as_str).collect();
            assert_eq!((found[0].name.as_str(), instances.as_slice()), ("web", parts));
        };
        check(stack(service(1, &[]), &["service", "postgres"], Whole), "service@web postgres@web", &["web"]);
        check(stack(service(2, &[]), &["service"], Whole), "service-1@web service-2@web", &["web"]);
        check(
            stack(service(2, &[]), &["service"], Copy),
            "service-1@web-1 service-2@web-2",
            &["web-1", "web-2"],
        );
        check(
            stack(service(2, &programs), &["service.fpm", "service.web"], Copy),
            "service-1.web@web-1 service-1.fpm@web-1 service-2.web@web-2 service-2.fpm@web-2",
            &["web-1", "web-2"],
        );
        check(
            stack(service(1, &programs), &["service.jobs", SharedHost::REPLICAS], Whole),
            "service.jobs@web postgres-2@web postgres-3@web",
            &["web"],
        );
    }
}
