//! How is a transport to the server opened?

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// The socket's own path, e.g. `/run/postgresql/.s.PGSQL.5432`.
    Unix(PathBuf),
    Tcp(SocketAddr),
}

/// Begins to connect, without waiting. True when the transport is open already, else it will be writable.
pub(super) fn begin_connect(address: &Address) -> Result<(OwnedFd, bool), Errno> {
    let family = match address {
        Address::Unix(_) => AddressFamily::UNIX,
        Address::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
        Address::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    let begun = match address {
        Address::Unix(path) => net::connect(&socket, &SocketAddrUnix::new(path)?),
        Address::Tcp(address) => {
            sockopt::set_tcp_nodelay(&socket, true)?;
            net::connect(&socket, address)
        }
    };
    match begun {
        Ok(()) => Ok((socket, true)),
        Err(Errno::INPROGRESS) => Ok((socket, false)),
        Err(error) => Err(error),
    }
}

/// Has the system look whether the other side is still there, so that a connection to one that is gone breaks within
/// [`GONE`] though nothing is sent.
pub(super) fn enable_keepalive(socket: &OwnedFd) {
    const EVERY: Duration = Duration::from_secs(1);
    // A Unix socket has no such options, and needs none: both sides are on this machine.
    let _ = sockopt::set_socket_keepalive(socket, true);
    let _ = sockopt::set_tcp_keepidle(socket, EVERY);
    let _ = sockopt::set_tcp_keepintvl(socket, EVERY);
    let _ = sockopt::set_tcp_user_timeout(socket, DEAD_PEER_TIMEOUT.as_millis() as u32);
}

/// tcp(7), `TCP_USER_TIMEOUT`.
const DEAD_PEER_TIMEOUT: Duration = Duration::from_secs(4);

/// What became of a connection that `dial` began.
pub(super) fn connect_result(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::socket_error(socket)?
}
