//! Processes that listen at an address of this machine

use crate::client::Address;
use crate::component;
use model::product::{self, Product, Role};
use std::collections::BTreeMap;
use std::fs::{read, read_dir, read_link, read_to_string};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

/// Names of programs that listen on this machine and forward connections to other machines.
pub(crate) const FORWARDERS: [&str; 14] = [
    "ssh",
    "sshd",
    "autossh",
    "kubectl",
    "socat",
    "stunnel",
    "stunnel4",
    "cloud_sql_proxy",
    "cloud-sql-proxy",
    "session-manager-plugin",
    "chisel",
    "frpc",
    "tsh",
    "boundary",
];

/// Names of programs that forward connections into containers of this machine.
const CONTAINER_PROXIES: [&str; 5] = ["docker-proxy", "rootlesskit", "rootlessport", "slirp4netns", "pasta"];

/// Programs that accept PostgreSQL's connections.
const POSTGRES: [&str; 2] = ["postgres", "postmaster"];

/// Program that listens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    /// File name of the program.
    pub program: String,
    /// Process ids of the processes with the socket, except those whose parents have it too.
    pub pids: Vec<u32>,
}

/// Result of a search for the programs that listen at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenerSearch {
    /// At least one program, by name. systemd may have a socket in common with the program that it started.
    Found(Vec<Listener>),
    OtherMachine,
    /// No socket listens there in this network namespace.
    NoSocket,
    /// A socket listens there, but this user may not inspect the process that has it.
    Hidden,
}

impl ListenerSearch {
    pub(crate) fn run(address: &Address) -> ListenerSearch {
        if !is_own_address(address) {
            return ListenerSearch::OtherMachine;
        }
        let sockets = listening_sockets(address);
        if sockets.is_empty() {
            return ListenerSearch::NoSocket;
        }
        let listeners = group_by_program(&processes_with(&sockets));
        if listeners.is_empty() { ListenerSearch::Hidden } else { ListenerSearch::Found(listeners) }
    }
}

/// True if the program may be the one that serves a node of this product.
pub(crate) fn serves_product(program: &str, product: &Product) -> bool {
    match product.role {
        Role::Server => POSTGRES.contains(&program),
        // Services have any name.
        Role::Service => !FORWARDERS.contains(&program) && !CONTAINER_PROXIES.contains(&program),
        role => {
            // The product of an attached balancer is not known.
            let may_be = |it: &&Product| **it == *product || *product == product::BALANCER && it.role == role;
            component::ALL.iter().any(|it| may_be(&it.product()) && it.names().program == program)
        }
    }
}

/// Names of the programs that listen at an address.
pub(crate) fn listening_programs(address: &Address) -> Vec<String> {
    let listeners = group_by_program(&processes_with(&listening_sockets(address)));
    listeners.into_iter().map(|it| it.program).collect()
}

/// True for a Unix socket, a loopback address and an address of a network interface of this machine.
fn is_own_address(address: &Address) -> bool {
    match address {
        Address::Unix(_) => true,
        Address::Tcp(address) => {
            let ip = address.ip();
            // The kernel lets a socket have only an own address. No packet is sent.
            ip.to_canonical().is_loopback() || UdpSocket::bind(SocketAddr::new(ip, 0)).is_ok()
        }
    }
}

/// Process that has a socket.
#[derive(Clone, Debug)]
struct SocketProcess {
    pid: u32,
    parent: Option<u32>,
    program: String,
}

/// Links of the sockets that listen at an address, as in `/proc/PID/fd`: `socket:[4711]`.
fn listening_sockets(address: &Address) -> Vec<PathBuf> {
    let text = |path: &str| String::from_utf8_lossy(&read(path).unwrap_or_default()).into_owned();
    let inodes: Vec<u64> = match address {
        Address::Tcp(listener) => {
            let lines = text("/proc/net/tcp") + &text("/proc/net/tcp6");
            lines.lines().filter_map(|it| tcp_inode(it, listener)).collect()
        }
        Address::Unix(path) => text("/proc/net/unix").lines().filter_map(|it| unix_inode(it, path)).collect(),
    };
    inodes.into_iter().map(|it| PathBuf::from(format!("socket:[{it}]"))).collect()
}

fn processes_with(sockets: &[PathBuf]) -> Vec<SocketProcess> {
    let mut found = Vec::new();
    for directory in read_dir("/proc").into_iter().flatten().flatten().map(|it| it.path()) {
        let Some(pid) = directory.file_name().and_then(|it| it.to_str()?.parse().ok()) else { continue };
        let mut files = read_dir(directory.join("fd")).into_iter().flatten().flatten();
        let has_socket =
            files.any(|file| read_link(file.path()).is_ok_and(|target| sockets.contains(&target)));
        if has_socket && let Some(program) = program_of(&directory) {
            let stat = read_to_string(directory.join("stat")).unwrap_or_default();
            // The value is field 4 of proc_pid_stat(5). Field 2, a name in brackets, may contain blanks.
            let parent = stat.rsplit_once(')').and_then(|it| it.1.split_whitespace().nth(1)?.parse().ok());
            found.push(SocketProcess { pid, parent, program });
        }
    }
    found
}

/// File name of a process's program; `None` if this user may not read it.
fn program_of(directory: &Path) -> Option<String> {
    let program = read_link(directory.join("exe")).ok()?;
    let name = program.file_name()?.to_string_lossy().into_owned();
    // The file was replaced, such as by an upgrade.
    Some(name.strip_suffix(" (deleted)").map_or(name.clone(), str::to_owned))
}

fn group_by_program(processes: &[SocketProcess]) -> Vec<Listener> {
    let mut all: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for process in processes {
        let is_parent =
            |other: &SocketProcess| Some(other.pid) == process.parent && other.program == process.program;
        let pids = all.entry(&process.program).or_default();
        if !processes.iter().any(is_parent) {
            pids.push(process.pid);
        }
    }
    let listener = |(program, pids): (&str, Vec<u32>)| Listener { program: program.to_owned(), pids };
    all.into_iter().map(listener).collect()
}

/// Parses the inode from a line of `/proc/net/tcp` if its socket listens at `listener`; see `proc_net_tcp(5)`.
fn tcp_inode(line: &str, listener: &SocketAddr) -> Option<u64> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (ip, port) = fields.get(1)?.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok();
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?.to_ne_bytes()).into(),
        32 => {
            let mut bytes = [0; 16];
            for at in 0..4 {
                bytes[at * 4..at * 4 + 4].copy_from_slice(&word(at)?.to_ne_bytes());
            }
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    let listens = fields.get(3) == Some(&"0A");
    let serves = ip.is_unspecified() || ip.to_canonical() == listener.ip().to_canonical();
    (listens && serves && port == listener.port()).then(|| fields.get(9)?.parse().ok()).flatten()
}

/// Flags of a listening socket in `/proc/net/unix`: `__SO_ACCEPTCON`.
const ACCEPTS: &str = "00010000";

/// Parses the inode from a line of `/proc/net/unix` if its socket listens at `path`; see `proc_net_unix(5)`.
fn unix_inode(line: &str, path: &Path) -> Option<u64> {
    // Blanks in a path are not escaped.
    let (start, end) = line.split_once(" /")?;
    let fields: Vec<&str> = start.split_whitespace().collect();
    let matches = Path::new(&format!("/{end}")) == path && fields.get(3) == Some(&ACCEPTS);
    matches.then(|| fields.get(6)?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
