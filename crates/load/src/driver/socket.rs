//! Opening of connections to servers

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use wire::HostName;

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Path of the Unix socket, such as `/run/postgresql/.s.PGSQL.5432`.
    Unix(PathBuf),
    Tcp(SocketAddr),
    /// Each connect uses the current address of the name.
    Named(HostName),
}

/// Starts a non-blocking connect. Returns true if the transport is open at once; otherwise it becomes writable later.
pub(super) fn begin_connect(address: &Address) -> Result<(OwnedFd, bool), Errno> {
    match address {
        Address::Unix(path) => {
            let socket = open_socket(AddressFamily::UNIX)?;
            let begun = net::connect(&socket, &SocketAddrUnix::new(path)?);
            connected(socket, begun)
        }
        Address::Tcp(address) => begin_tcp_connect(*address),
        Address::Named(name) => begin_tcp_connect(name.address()),
    }
}

fn begin_tcp_connect(address: SocketAddr) -> Result<(OwnedFd, bool), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = open_socket(family)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    let begun = net::connect(&socket, &address);
    connected(socket, begun)
}

fn open_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
}

/// Result of a connect that has begun.
fn connected(socket: OwnedFd, begun: Result<(), Errno>) -> Result<(OwnedFd, bool), Errno> {
    match begun {
        Ok(()) => Ok((socket, true)),
        Err(Errno::INPROGRESS) => Ok((socket, false)),
        Err(error) => Err(error),
    }
}

/// Enables keepalive probes, so that an idle connection to a dead peer breaks within [`DEAD_PEER_TIMEOUT`].
pub(super) fn enable_keepalive(socket: &OwnedFd) {
    const EVERY: Duration = Duration::from_secs(1);
    // Unix sockets reject these options and do not need them: both sides are on this machine.
    let _ = sockopt::set_socket_keepalive(socket, true);
    let _ = sockopt::set_tcp_keepidle(socket, EVERY);
    let _ = sockopt::set_tcp_keepintvl(socket, EVERY);
    let _ = sockopt::set_tcp_user_timeout(socket, DEAD_PEER_TIMEOUT.as_millis() as u32);
}

/// Time after which a connection to a dead peer breaks; tcp(7), `TCP_USER_TIMEOUT`.
const DEAD_PEER_TIMEOUT: Duration = Duration::from_secs(4);

/// Result of a connect that `begin_connect` started.
pub(super) fn connect_result(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::socket_error(socket)?
}
