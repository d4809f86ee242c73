//! How do nodes have networks of their own, so that one can be cut off from all others?
//!
//! Each has a network namespace with one interface. Its other end is a port of a bridge, which lies in a namespace too,
//! held by the keeper alone; one more cable leads from there to the machine. When a node ends, its cable goes; when the
//! keeper ends, however, all of it: the machine's own interfaces and rules are never touched.

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};

/// The bridge, and where it leads.
#[derive(Debug)]
pub(super) struct NetworkBridge {
    space: File,
    machine: File,
    /// Counts cables, so that no two have the same name.
    cables: u32,
}

/// A port of the bridge: the node's end of its cable is in the node.
#[derive(Clone, Debug)]
pub(super) struct BridgePort(String);

/// Addresses of networks for benchmarks, which are routed nowhere: 198.18.0.0/15. Source: RFC 2544, appendix C.2.2.
pub(crate) fn address(network: u8, host: u8) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, network, host)
}

impl NetworkBridge {
    /// Makes the bridge and the cable to the machine, which has `address(network, 1)` there.
    pub fn new(network: u8) -> Result<NetworkBridge, String> {
        let machine = here().map_err(|it| it.to_string())?;
        let leave = leave().map_err(|it| format!("a network of its own: {it}"))?;
        let hub = NetworkBridge { space: here().map_err(|it| it.to_string())?, machine, cables: 0 };
        ip("link set dev lo up")?;
        ip("link add dev hub type bridge")?;
        ip("link set dev hub up")?;
        let ours = format!("pgdyno{network}");
        ip(&format!("link add dev uplink type veth peer name {ours} netns {}", path(&hub.machine)))?;
        ip("link set dev uplink master hub up")?;
        drop(leave);
        ip(&format!("addr add {}/24 dev {ours}", address(network, 1)))?;
        ip(&format!("link set dev {ours} up"))?;
        Ok(hub)
    }

    /// Called within a new network namespace: lays a cable from there to the bridge.
    pub fn connect(&mut self, address: Ipv4Addr) -> Result<BridgePort, String> {
        self.cables += 1;
        let port = BridgePort(format!("port{}", self.cables));
        let [_, _, network, host] = address.octets();
        // The same whenever the node comes back: its neighbours remember it.
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

    /// Cuts the cable, or mends it.
    pub fn link(&self, port: &BridgePort, up: bool) -> Result<(), String> {
        let state = if up { "up" } else { "down" };
        self.within(|| ip(&format!("link set dev {} {state}", port.0)))
    }

    fn within<T>(&self, act: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let back = NetworkGuard(here().map_err(|it| it.to_string())?);
        enter(&self.space).map_err(|it| it.to_string())?;
        let done = act();
        drop(back);
        done
    }
}

/// Dropped, the keeper is in this network again.
#[derive(Debug)]
pub(super) struct NetworkGuard(File);

impl Drop for NetworkGuard {
    fn drop(&mut self) {
        let back = enter(&self.0);
        assert!(back.is_ok(), "who may leave a network may come back: {back:?}");
    }
}

/// Goes into a new network, in which nothing is.
pub(super) fn leave() -> io::Result<NetworkGuard> {
    let back = NetworkGuard(here()?);
    // SAFETY: file descriptors stay shared with nobody: the keeper has one thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    Ok(back)
}

/// A number from 0 to 255 for which nobody here has such addresses yet, at best the one wished for.
pub(crate) fn free_network(wish: u8) -> Option<u8> {
    // An address that is ours can be bound to.
    let taken = |it: u8| UdpSocket::bind((address(it, 1), 0)).is_ok();
    (0..=u8::MAX).map(|it| wish.wrapping_add(it)).find(|it| !taken(*it))
}

fn here() -> io::Result<File> {
    File::open("/proc/self/ns/net")
}

fn enter(space: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// By which another process finds it.
fn path(space: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), space.as_raw_fd())
}

/// Runs iproute2's program in the network that we are in.
fn ip(arguments: &str) -> Result<(), String> {
    let places = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"];
    let program = places.into_iter().find(|it| std::path::Path::new(it).exists());
    let program = program.ok_or("there is no program `ip`: install iproute2")?;
    let done = Command::new(program).args(arguments.split(' ')).stdin(Stdio::null()).output();
    let done = done.map_err(|it| format!("{program}: {it}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&done.stderr).trim())),
    }
}
