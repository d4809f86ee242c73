//! Check whether a server runs on this machine
//!
//! An address proves nothing: `ssh -L`, `kubectl port-forward` and cloud proxies listen on the loopback interface and
//! forward to other machines. The server reports its process and the start time of that process. The server counts as
//! running on this machine only if this machine has such a PostgreSQL process. Through a pooler or balancer, the check
//! locates the PostgreSQL server behind it, because that server executes the query.

use crate::client::{Address, Connection};
use crate::listener::{FORWARDERS, listening_programs};
use model::message;
use model::message::Message;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{read, read_dir};
use std::path::{Path, PathBuf};

/// Schema whose presence permits load on a database of another machine.
pub(crate) const ALLOW_SCHEMA: &str = "pgdyno_allowed";

/// Location of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    ThisMachine,
    /// The address is not a loopback address.
    OtherMachine,
    /// The address belongs to this machine, but the server is not proven to run here. Contains the reason.
    Unproven(Message),
}

/// Server process of a session, as the server reports it.
#[derive(Clone, Debug, PartialEq)]
struct BackendIdentity {
    /// Process id, in the innermost namespace of the server.
    pid: u32,
    /// Time since the start of the process by the server's clock, seconds.
    age: f64,
    /// Address at which the server accepted the connection, as the server reports it.
    address: String,
}

/// Process on this machine.
#[derive(Clone, Debug, PartialEq)]
struct ProcessIdentity {
    /// Process id in each PID namespace that contains the process, this process's namespace first.
    pids: Vec<u32>,
    name: String,
    /// Time since the start of the process, seconds.
    age: f64,
}

const BACKEND_SQL: &str = "select pg_backend_pid(), extract(epoch from clock_timestamp() - backend_start), \
    coalesce(host(inet_server_addr()) || ' port ' || inet_server_port(), 'a Unix socket') \
    from pg_stat_activity where pid = pg_backend_pid()";

/// Tolerated difference of ages, seconds: the server reads its clock shortly after the process starts, and pgdyno reads
/// `/proc` shortly after the query.
const TOLERANCE: f64 = 2.0;

/// True for an address that only this machine can reach: the loopback interface or a Unix socket.
pub fn is_loopback(address: &Address) -> bool {
    match address {
        Address::Unix(_) => true,
        Address::Tcp(it) => it.ip().to_canonical().is_loopback(),
    }
}

/// Locates the server behind a session.
pub fn locate_server(address: &Address, session: &mut Connection) -> Location {
    if !is_loopback(address) {
        return Location::OtherMachine;
    }
    let backend = match session.query(BACKEND_SQL) {
        Ok(it) => it.rows.first().and_then(|row| BackendIdentity::from_row(row)),
        Err(error) => {
            return Location::Unproven(message!("location-no-process-error", error = Message::from(&error)));
        }
    };
    let Some(backend) = backend else {
        return Location::Unproven(message!("location-no-process"));
    };
    // Check the process with the reported id first. The id differs only if the server is in a container.
    let direct = [PathBuf::from(format!("/proc/{}", backend.pid))].into_iter();
    let all = read_dir("/proc").into_iter().flatten().flatten().map(|it| it.path());
    if direct
        .chain(all)
        .filter_map(|it| ProcessIdentity::read_proc(&it))
        .any(|it| backend.matches_process(&it))
    {
        return Location::ThisMachine;
    }
    let BackendIdentity { pid, address, .. } = backend;
    Location::Unproven(message!("location-other-process", address, pid = pid.to_string()))
}

/// Locates the service at an address by the program that listens there.
///
/// Some proxies remain undetected and count as this machine: programs that `FORWARDERS` does not list, and processes
/// that this user is not permitted to inspect.
pub fn locate_listener(address: &Address) -> Location {
    if !is_loopback(address) {
        return Location::OtherMachine;
    }
    let forwarder = listening_programs(address).into_iter().find(|it| FORWARDERS.contains(&it.as_str()));
    match forwarder {
        Some(it) => Location::Unproven(message!("location-forwarder", program = it)),
        None => Location::ThisMachine,
    }
}

impl BackendIdentity {
    fn from_row(row: &[Option<String>]) -> Option<BackendIdentity> {
        let value = |at: usize| row.get(at)?.as_deref();
        let (pid, age) = (value(0)?.parse().ok()?, value(1)?.parse().ok()?);
        Some(BackendIdentity { pid, age, address: value(2)?.to_owned() })
    }

    fn matches_process(&self, process: &ProcessIdentity) -> bool {
        let named = ["postgres", "postmaster"].iter().any(|it| process.name.contains(it));
        let same = process.pids.last() == Some(&self.pid);
        named && same && (process.age - self.age).abs() <= TOLERANCE
    }
}

impl ProcessIdentity {
    /// Identifies a process from its directory `/proc/<pid>`; `None` if it has ended.
    fn read_proc(directory: &Path) -> Option<ProcessIdentity> {
        let status = String::from_utf8_lossy(&read(directory.join("status")).ok()?).into_owned();
        let field = |name: &str| status.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(':'));
        let pids =
            field("NSpid").or(field("Pid"))?.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let stat = String::from_utf8_lossy(&read(directory.join("stat")).ok()?).into_owned();
        // The value is field 22 of proc_pid_stat(5). Field 2, a name in brackets, may contain blanks.
        let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
        let now = clock_gettime(ClockId::Boottime);
        let now = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9;
        let age = now - ticks / rustix::param::clock_ticks_per_second() as f64;
        Some(ProcessIdentity { pids, name: field("Name")?.trim().to_owned(), age })
    }
}

impl From<&Location> for Message {
    fn from(location: &Location) -> Message {
        match location {
            Location::ThisMachine => message!("location-this-machine"),
            Location::OtherMachine => message!("location-other-machine"),
            Location::Unproven(reason) => message!("location-unproven", reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr, TcpListener};

    #[test]
    fn recognises_loopback_addresses() {
        for (address, expected) in [
            ("127.0.0.1:1", true),
            ("127.3.2.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("[::ffff:192.0.2.1]:1", false),
            ("192.0.2.1:1", false),
            ("0.0.0.1:1", false),
            ("[fe80::1]:1", false),
        ] {
            let socket_address: SocketAddr = address.parse().unwrap();
            assert_eq!(is_loopback(&Address::Tcp(socket_address)), expected, "{address}");
        }
        assert!(is_loopback(&Address::Unix("/tmp/.s.PGSQL.5432".into())));
    }

    #[test]
    fn backend_matches_process_by_pid_name_and_age() {
        let backend = BackendIdentity { pid: 70, age: 1000.0, address: "10.0.0.5 port 5432".into() };
        let process =
            |pids: &[u32], name: &str, age| ProcessIdentity { pids: pids.into(), name: name.into(), age };
        for (candidate, expected) in [
            (process(&[70], "postgres", 1000.4), true),
            (process(&[70], "postmaster", 999.0), true),
            // The process runs in a container.
            (process(&[4711, 70], "postgres", 1000.0), true),
            // The process runs in a container; its id outside equals the server's by chance.
            (process(&[70, 9], "postgres", 1000.0), false),
            (process(&[71], "postgres", 1000.0), false),
            (process(&[70], "bash", 1000.0), false),
            (process(&[70], "postgres", 1003.0), false),
            (process(&[70], "postgres", 10.0), false),
        ] {
            assert_eq!(backend.matches_process(&candidate), expected, "{candidate:?}");
        }
    }

    #[test]
    fn reads_this_process() {
        let identity = ProcessIdentity::read_proc(Path::new("/proc/self")).unwrap();
        assert_eq!(identity.pids.first(), Some(&std::process::id()));
        assert!((0.0..86_400.0).contains(&identity.age), "{identity:?}");
    }

    #[test]
    fn parses_backend_rows() {
        let row = |fields: [&str; 3]| fields.map(|it| (!it.is_empty()).then(|| it.to_owned()));
        let backend = BackendIdentity { pid: 7, age: 1.5, address: "::1 port 1".into() };
        assert_eq!(BackendIdentity::from_row(&row(["7", "1.5", "::1 port 1"])), Some(backend));
        for cells in [["", "1.5", "a"], ["7", "", "a"], ["7", "x", "a"], ["-7", "1", "a"], ["7", "1.5", ""]] {
            assert_eq!(BackendIdentity::from_row(&row(cells)), None, "{cells:?}");
        }
        assert_eq!(BackendIdentity::from_row(&[]), None);
    }

    #[test]
    fn locates_own_listener() {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = Address::Tcp(socket.local_addr().unwrap());
        assert_eq!(locate_listener(&address), Location::ThisMachine);
        let far = Address::Tcp("192.0.2.1:80".parse().unwrap());
        assert_eq!(locate_listener(&far), Location::OtherMachine);
    }
}
