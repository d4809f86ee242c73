//! Sockets of clients and of the server

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use wire::tls::ClientConfig;

/// Address of the server, and the encryption of connections to it.
#[derive(Clone, Debug)]
pub enum Upstream {
    /// Path of the Unix socket, such as `/run/postgresql/.s.PGSQL.5432`. The name of an abstract socket begins with `@`.
    /// Its connections are never encrypted.
    Unix(PathBuf),
    Tcp(SocketAddr),
    Tls(SocketAddr, UpstreamTls),
}

/// Encryption of connections to the server.
#[derive(Clone, Debug)]
pub struct UpstreamTls {
    pub config: Arc<ClientConfig>,
    /// Name of the server, for SNI and for the verification of its certificate.
    pub host: String,
    /// True if connections fail when the server does not support TLS. Otherwise they continue without TLS.
    pub is_required: bool,
}

/// State of a non-blocking connect.
#[derive(Debug)]
pub(super) enum Connect {
    Open(OwnedFd),
    /// The socket becomes writable when the connect has ended.
    InProgress(OwnedFd),
    /// The queue of the server's Unix socket is full, which the kernel does not report later.
    Busy,
}

/// Starts a non-blocking connect.
pub(super) fn begin_connect(address: &Upstream) -> Result<Connect, Errno> {
    let family = match address {
        Upstream::Unix(_) => AddressFamily::UNIX,
        Upstream::Tcp(SocketAddr::V4(_)) | Upstream::Tls(SocketAddr::V4(_), _) => AddressFamily::INET,
        Upstream::Tcp(SocketAddr::V6(_)) | Upstream::Tls(SocketAddr::V6(_), _) => AddressFamily::INET6,
    };
    let socket =
        net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    tune(&socket);
    let begun = match address {
        Upstream::Unix(path) => match path.as_os_str().as_bytes().strip_prefix(b"@") {
            Some(name) => net::connect(&socket, &SocketAddrUnix::new_abstract_name(name)?),
            None => net::connect(&socket, &SocketAddrUnix::new(path)?),
        },
        Upstream::Tcp(address) | Upstream::Tls(address, _) => net::connect(&socket, address),
    };
    match begun {
        Ok(()) => Ok(Connect::Open(socket)),
        Err(Errno::INPROGRESS) => Ok(Connect::InProgress(socket)),
        Err(Errno::AGAIN) => Ok(Connect::Busy),
        Err(error) => Err(error),
    }
}

/// Sends small packets at once, and detects dead peers. Unix sockets reject or ignore these options, which they do not
/// need.
pub(super) fn tune(socket: &OwnedFd) {
    let _ = sockopt::set_tcp_nodelay(socket, true);
    let _ = sockopt::set_socket_keepalive(socket, true);
}
