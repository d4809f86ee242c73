//! Consensus store of a cluster manager: start, addresses and stop

use super::{Chain, READY_TIMEOUT};
use crate::component::manager::{ConsensusStore, StoreMember};
use crate::component::program::Executable;
use crate::http;
use crate::supervisor::{Launch, NodeError, NodeId, Readiness, Sig, Supervisor};
use model::message;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use wire::http::{Host, Url};

/// The running servers of a consensus store.
#[derive(Debug, Default)]
pub(super) struct StoreCluster {
    pub nodes: Vec<(String, NodeId)>,
    pub members: Vec<StoreMember>,
}

/// Timeout for one request to a manager or a store.
pub(super) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

impl StoreCluster {
    /// Addresses of the members that have separate networks.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.members.iter().filter_map(|it| own_address(it.clients))
    }

    /// Addresses for clients of the store.
    pub fn client_addresses(&self) -> Vec<SocketAddr> {
        self.members.iter().map(|it| it.clients).collect()
    }
}

impl Chain {
    /// Starts `servers` members of a consensus store.
    pub(super) fn start_store(
        &mut self,
        supervisor: &mut Supervisor,
        (store, program): (&dyn ConsensusStore, &Executable),
        servers: u32,
    ) -> Result<(), NodeError> {
        for number in 1..=servers {
            let name = format!("{}-{number}", store.names().program);
            let address = self.choose_address(supervisor, &name)?;
            let clients = SocketAddr::from((address, self.free_port(&name)?));
            let peers = SocketAddr::from((address, self.free_port(&name)?));
            self.store_cluster().members.push(StoreMember { name, clients, peers });
        }
        let members = self.store_cluster().members.clone();
        let home = supervisor.home();
        for (index, member) in members.iter().enumerate() {
            let _ = std::fs::remove_dir_all(home.join(&member.name));
            let mut launch = Launch::new(&member.name, &program.path, &home)
                .as_user(supervisor.user())
                .args(store.arguments(&members, index, &home));
            launch.isolated = true;
            launch.address = own_address(member.clients);
            let id = supervisor.launch(launch)?;
            self.store_cluster().nodes.push((member.name.clone(), id));
        }
        let ids: Vec<NodeId> = self.store_cluster().nodes.iter().map(|it| it.1).collect();
        for (member, id) in members.iter().zip(ids) {
            let path = store.health_path();
            let url = url(member.clients, path);
            supervisor.await_ready(id, READY_TIMEOUT, || match http::get(&url, ATTEMPT_TIMEOUT) {
                Ok(it) if it.status == 200 => Readiness::Ready(()),
                Ok(it) => Readiness::NotYet(message!("node-answers", path, status = it.status.to_string())),
                Err(it) => Readiness::NotYet((&it).into()),
            })?;
        }
        Ok(())
    }

    fn store_cluster(&mut self) -> &mut StoreCluster {
        &mut self.replicas.as_mut().expect("replicas are being created").store
    }
}

/// Kills the servers of a store and removes their data.
pub(super) fn stop_store(supervisor: &mut Supervisor, store: StoreCluster) -> Result<(), NodeError> {
    for (name, id) in store.nodes {
        if supervisor.end_of(id).is_none() {
            supervisor.signal(id, Sig::Kill)?;
            supervisor.stop(id)?;
        }
        let _ = std::fs::remove_dir_all(supervisor.home().join(name));
    }
    Ok(())
}

/// Returns the address if it belongs to a separate network of the node.
fn own_address(address: SocketAddr) -> Option<Ipv4Addr> {
    match address.ip() {
        IpAddr::V4(it) if !it.is_loopback() => Some(it),
        _ => None,
    }
}

pub(super) fn url(address: SocketAddr, target: &str) -> Url {
    Url { host: Host::Tcp(address.ip().to_string(), address.port()), tls: false, target: target.to_owned() }
}
