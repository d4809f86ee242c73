//! Address of a server, and socket of a session

use crate::interrupt;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Address on which a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Path of the socket file, such as `/run/postgresql/.s.PGSQL.5432`.
    Unix(PathBuf),
    Tcp(SocketAddr),
}

#[derive(Debug)]
pub enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    pub fn connect(address: &Address, timeout: Duration) -> io::Result<Stream> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp(address) => {
                let stream = interrupt::connect(address, timeout)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }

    /// Sets the timeout of each read.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(it) => it.set_read_timeout(timeout),
            Stream::Tcp(it) => it.set_read_timeout(timeout),
        }
    }

    /// Sets the timeout of each read and write.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(it) => it.set_read_timeout(timeout).and(it.set_write_timeout(timeout)),
            Stream::Tcp(it) => it.set_read_timeout(timeout).and(it.set_write_timeout(timeout)),
        }
    }

    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(it) => it.read(buffer),
            Stream::Tcp(it) => it.read(buffer),
        }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(it) => it.write(bytes),
            Stream::Tcp(it) => it.write(bytes),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "socket {}", path.display()),
            Address::Tcp(it) => write!(f, "{it}"),
        }
    }
}
