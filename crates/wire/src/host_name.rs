//! Host names whose addresses may change

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// Host name of a server, with the address that it had when it was last resolved. Clones share the address.
#[derive(Clone, Debug)]
pub struct HostName {
    name: Arc<str>,
    address: Arc<RwLock<SocketAddr>>,
}

impl HostName {
    pub fn new(name: &str, address: SocketAddr) -> HostName {
        HostName { name: name.into(), address: Arc::new(RwLock::new(address)) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Current address, to which new connections go.
    pub fn address(&self) -> SocketAddr {
        *self.address.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_address(&self, address: SocketAddr) {
        *self.address.write().unwrap_or_else(PoisonError::into_inner) = address;
    }
}

/// Equal host names share their address.
impl PartialEq for HostName {
    fn eq(&self, other: &HostName) -> bool {
        Arc::ptr_eq(&self.address, &other.address)
    }
}

impl Eq for HostName {}
