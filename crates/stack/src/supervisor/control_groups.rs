//! Control groups of the nodes and of their hosts

use super::{NodeId, Supervisor};
use crate::limits::{Group, HostLimits, LiftedLimits};
use model::plan::HostedNode;
use std::collections::{BTreeMap, BTreeSet};

impl Supervisor {
    /// Assigns the hosts of nodes that start later. Nodes that are not listed are on no host. Returns the names of the
    /// nodes whose host or whose host's limits changed.
    pub fn set_hosts(&mut self, nodes: Vec<HostedNode>) -> BTreeSet<String> {
        let host = |it: HostedNode| (it.node, HostLimits { name: it.host, limits: it.limits });
        let hosts: BTreeMap<String, HostLimits> = nodes.into_iter().map(host).collect();
        let before = std::mem::replace(&mut self.hosts, hosts);
        let names = before.keys().chain(self.hosts.keys());
        names.filter(|it| before.get(*it) != self.hosts.get(*it)).cloned().collect()
    }

    /// Control groups of the hosts of the nodes that run, by name of the host.
    pub fn host_groups(&self) -> BTreeMap<String, Group> {
        let started = self.started.iter().filter_map(|(id, it)| Some((*id, it.group.as_ref()?)));
        let group = |(id, group): (NodeId, &Group)| {
            let host = &self.hosts.get(&self.names[id.0 as usize])?.name;
            Some((host.clone(), group.above(host)?))
        };
        started.filter_map(group).collect()
    }

    /// Control group of a node, if its limits need one. A restarted node uses the same group.
    pub fn group(&self, id: NodeId) -> Option<&Group> {
        self.started.get(&id).and_then(|it| it.group.as_ref())
    }

    /// Removes the CPU quotas and disk limits of a node and of its host, until the returned value is dropped.
    pub fn lift_rate_limits(&self, id: NodeId) -> LiftedLimits {
        let Some(group) = self.group(id) else { return LiftedLimits::default() };
        let mut lifted = group.lift_rate_limits();
        let host = self.hosts.get(&self.names[id.0 as usize]);
        if let Some(above) = host.and_then(|it| group.above(&it.name)) {
            lifted.extend(above.lift_rate_limits());
        }
        lifted
    }

    /// Number of a node's processes that the OOM killer has ended so far because of the memory limit. Clients only
    /// notice a closed connection.
    pub fn oom_kills(&self, id: NodeId) -> u64 {
        self.group(id).and_then(|it| it.usage().oom_kills).unwrap_or(0)
    }
}
