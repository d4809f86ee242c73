//! The etcd cluster that Patroni uses: its members, addresses and end

use crate::component::etcd::Member;
use crate::supervisor::{NodeError, NodeId, Sig, Supervisor};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The running etcd cluster.
#[derive(Debug, Default)]
pub(super) struct EtcdCluster {
    pub nodes: Vec<(String, NodeId)>,
    pub members: Vec<Member>,
}

impl EtcdCluster {
    /// Addresses of members with networks of their own.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.members.iter().filter_map(|it| own_address(it.clients))
    }
}

/// Kills etcd and removes its data.
pub(super) fn stop_etcd(supervisor: &mut Supervisor, keys: EtcdCluster) -> Result<(), NodeError> {
    for (name, id) in keys.nodes {
        if supervisor.end_of(id).is_none() {
            supervisor.signal(id, Sig::Kill)?;
            supervisor.stop(id)?;
        }
        let _ = std::fs::remove_dir_all(supervisor.home().join(name));
    }
    Ok(())
}

/// The address, if it belongs to a network of the node's own.
pub(super) fn own_address(of: SocketAddr) -> Option<Ipv4Addr> {
    match of.ip() {
        IpAddr::V4(it) if !it.is_loopback() => Some(it),
        _ => None,
    }
}
