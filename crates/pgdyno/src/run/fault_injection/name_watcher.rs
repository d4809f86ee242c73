//! Resolves host names again during a trial with faults
//!
//! Managed services move the name of a database to another address when they fail over. A client that resolves the name for
//! each connection, as libpq does, then finds the new server. Names are resolved here once per second instead, because a slow
//! name server must not delay the clients of the load.

use model::message;
use stack::sampler::Observation;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
use wire::HostName;

const INTERVAL: Duration = Duration::from_secs(1);

/// Thread that resolves host names until it is dropped.
#[derive(Debug)]
pub struct NameWatcher {
    /// Dropping the sender ends the thread.
    _ends_thread: Sender<()>,
}

impl NameWatcher {
    /// Resolves these names, each with the name of its node, once per second. Changed addresses are noted.
    pub fn start(names: Vec<(String, HostName)>, observations: Sender<Observation>) -> NameWatcher {
        let (_ends_thread, ended) = channel::<()>();
        // The thread is not joined, because a name server may not respond for many seconds.
        thread::spawn(move || {
            while !names.is_empty() && ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                for (node, host) in &names {
                    if let Some(address) = changed_address(host) {
                        host.set_address(address);
                        let message = message!(
                            "note-name-moved",
                            name = host.name(),
                            address = address.ip().to_string()
                        );
                        // The receiver may be gone after an interruption.
                        let _ = observations.send(Observation::Note { node: node.clone(), message });
                    }
                }
            }
        });
        NameWatcher { _ends_thread }
    }
}

/// Address of a host name, if its current one is no longer valid. `None` if the name cannot be resolved.
fn changed_address(host: &HostName) -> Option<SocketAddr> {
    let current = host.address();
    let found: Vec<SocketAddr> = (host.name(), current.port()).to_socket_addrs().ok()?.collect();
    if found.contains(&current) { None } else { found.first().copied() }
}
