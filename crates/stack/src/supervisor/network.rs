//! Networks for single nodes, which can be disconnected
//!
//! Each node has a network namespace with one interface. The other end of its veth pair is a port of a bridge in
//! another namespace, which only the keeper holds. One more veth pair connects the bridge to the machine. A node's veth
//! pair is removed when the node ends, and everything is removed when the keeper ends. The machine's own interfaces and
//! rules are never changed.

use super::error::KeeperError;
use crate::features::system_program;
use rustix::process::Pid;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};

/// Bridge in a separate network namespace, and the machine's namespace.
#[derive(Debug)]
pub(super) struct NetworkBridge {
    space: File,
    machine: File,
    /// Number of ports created, which makes their names unique.
    cables: u32,
}

/// Name of a bridge port: the host end of a veth pair whose peer is in the node's network namespace.
#[derive(Clone, Debug)]
pub(super) struct BridgePort(String);

/// Network faults that are in effect, by names of nodes. A name or a pair occurs once for each of its faults.
#[derive(Debug, Default)]
pub(super) struct NetworkFaults {
    disconnected: Vec<String>,
    separated: Vec<[String; 2]>,
}

/// Path of the network namespace of this process.
const OWN_NAMESPACE: &str = "/proc/self/ns/net";

/// Returns an address in a benchmark network, which is not routed: 198.18.0.0/15. Source: RFC 2544, appendix C.2.2.
pub(crate) fn address(network: u8, host: u8) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, network, host)
}

impl NetworkBridge {
    /// Creates the bridge and its connection to the machine, whose address there is `address(network, 1)`.
    pub fn new(network: u8) -> Result<NetworkBridge, KeeperError> {
        let machine = current_namespace().map_err(KeeperError::io(OWN_NAMESPACE))?;
        let leave = leave().map_err(KeeperError::io("new network namespace"))?;
        let bridge = NetworkBridge {
            space: current_namespace().map_err(KeeperError::io(OWN_NAMESPACE))?,
            machine,
            cables: 0,
        };
        ip("link set dev lo up")?;
        ip("link add dev hub type bridge")?;
        ip("link set dev hub up")?;
        let cable = format!("pgdyno{network}");
        ip(&format!("link add dev uplink type veth peer name {cable} netns {}", path(&bridge.machine)))?;
        ip("link set dev uplink master hub up")?;
        drop(leave);
        ip(&format!("addr add {}/24 dev {cable}", address(network, 1)))?;
        ip(&format!("link set dev {cable} up"))?;
        Ok(bridge)
    }

    /// Connects the current network namespace, which must be new, to the bridge.
    pub fn connect(&mut self, address: Ipv4Addr) -> Result<BridgePort, KeeperError> {
        self.cables += 1;
        let port = BridgePort(format!("port{}", self.cables));
        let [_, _, network, host] = address.octets();
        // A restarted node keeps its hardware address, because other nodes cache it.
        let hardware = format!("02:00:c6:12:{network:02x}:{host:02x}");
        ip("link set dev lo up")?;
        ip(&format!(
            "link add dev eth0 address {hardware} type veth peer name {} netns {}",
            port.0,
            path(&self.space)
        ))?;
        ip(&format!("addr add {address}/24 dev eth0"))?;
        ip("link set dev eth0 up")?;
        self.within(|| ip(&format!("link set dev {} master hub up", port.0)))?;
        Ok(port)
    }

    /// Disconnects the port (`up` = false), or connects it again.
    pub fn link(&self, port: &BridgePort, up: bool) -> Result<(), KeeperError> {
        let state = if up { "up" } else { "down" };
        self.within(|| ip(&format!("link set dev {} {state}", port.0)))
    }

    fn within<T>(&self, act: impl FnOnce() -> Result<T, KeeperError>) -> Result<T, KeeperError> {
        let guard = NetworkGuard(current_namespace().map_err(KeeperError::io(OWN_NAMESPACE))?);
        enter(&self.space).map_err(KeeperError::io("network of the bridge"))?;
        let done = act();
        drop(guard);
        done
    }
}

impl NetworkFaults {
    pub fn set_disconnected(&mut self, node: String, is_disconnected: bool) {
        set(&mut self.disconnected, node, is_disconnected);
    }

    pub fn set_separated(&mut self, nodes: [String; 2], is_separated: bool) {
        set(&mut self.separated, nodes, is_separated);
    }

    pub fn is_disconnected(&self, node: &str) -> bool {
        self.disconnected.iter().any(|it| it == node)
    }

    pub fn are_separated(&self, node: &str, peer: &str) -> bool {
        self.separated.iter().any(|pair| pair == &[node, peer] || pair == &[peer, node])
    }
}

/// Adds a fault, or removes one that equals it.
fn set<T: PartialEq>(faults: &mut Vec<T>, fault: T, is_active: bool) {
    if is_active {
        faults.push(fault);
    } else if let Some(at) = faults.iter().position(|it| *it == fault) {
        faults.swap_remove(at);
    }
}

/// Guard that returns the keeper to this network namespace when dropped.
#[derive(Debug)]
pub(super) struct NetworkGuard(File);

impl Drop for NetworkGuard {
    fn drop(&mut self) {
        let result = enter(&self.0);
        assert!(result.is_ok(), "who may leave a network may come back: {result:?}");
    }
}

/// Enters a new, empty network namespace.
pub(super) fn leave() -> io::Result<NetworkGuard> {
    let guard = NetworkGuard(current_namespace()?);
    // SAFETY: no other thread shares the file descriptors: the keeper has one thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    Ok(guard)
}

/// Finds the number of a network (0 to 255) that this machine does not use. Returns `wish` if that network is free.
pub(crate) fn free_network(wish: u8) -> Option<u8> {
    // Only an address that this machine has can be bound.
    let taken = |it: u8| UdpSocket::bind((address(it, 1), 0)).is_ok();
    (0..=u8::MAX).map(|it| wish.wrapping_add(it)).find(|it| !taken(*it))
}

/// Drops all packets that the node of this process sends to `address`, or sends them again.
///
/// A route does this, because kernels without classifiers cannot filter packets. A process that connects receives EINVAL
/// at once; established connections get no answer.
pub(super) fn drop_packets(node: Pid, address: Ipv4Addr, is_dropped: bool) -> Result<(), KeeperError> {
    let place = format!("/proc/{}/ns/net", node.as_raw_nonzero());
    let guard = NetworkGuard(current_namespace().map_err(KeeperError::io(OWN_NAMESPACE))?);
    // A node that has ended, or was started again, has no such route.
    let Ok(space) = File::open(&place) else { return Ok(()) };
    enter(&space).map_err(KeeperError::io(place))?;
    let done = match is_dropped {
        true => ip(&format!("route replace blackhole {address}/32")),
        false => match ip(&format!("route del blackhole {address}/32")) {
            Err(KeeperError::Command { .. }) => Ok(()),
            done => done,
        },
    };
    drop(guard);
    done
}

fn current_namespace() -> io::Result<File> {
    File::open(OWN_NAMESPACE)
}

fn enter(space: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// Returns a path by which another process opens the namespace.
fn path(space: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), space.as_raw_fd())
}

/// Runs iproute2's `ip` in the current network namespace.
fn ip(arguments: &str) -> Result<(), KeeperError> {
    let program = system_program("ip");
    let program = program.ok_or(KeeperError::MissingProgram { program: "ip", package: "iproute2" })?;
    let done = Command::new(&program).args(arguments.split(' ')).stdin(Stdio::null()).output();
    let done = done.map_err(KeeperError::io(program.display()))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(KeeperError::failed(&format!("ip {arguments}"), &done)),
    }
}
