//! What does HAProxy need to be this node?
//!
//! Before PostgreSQL it passes bytes on: what is behind it authenticates, and speaks TLS with the clients themselves.
//! Before an HTTP service it shares requests among the copies.

use super::program::Names;
use super::{Component, Copies, Door, DoorTls, Given, Recipe, Servers};
use crate::ask::Address;
use crate::supervisor::{Sig, Step};
use model::Nanos;
use model::plan::{Entrance, HaProxy, Kind};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

#[derive(Debug)]
pub struct HaProxyComponent;

static NAMES: Names = Names {
    name: "HAProxy",
    program: "haproxy",
    ask: "-v",
    variable: "PGDYNO_HAPROXY",
    how_to_get: "./x setup, or apt-get install haproxy",
};

impl Component for HaProxyComponent {
    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn is(&self, kind: &Kind) -> bool {
        matches!(kind, Kind::HaProxy(_))
    }

    fn recipe(&self, given: &Given<'_>) -> Result<Recipe, String> {
        let Kind::HaProxy(wanted) = &given.node.kind else { unreachable!("the table gives us ours") };
        let name = &given.node.name;
        let file = format!("{name}.cfg");
        let statistics = given.home.join(format!("{name}.stats"));
        Ok(Recipe {
            // In the foreground.
            arguments: vec!["-db".to_owned(), "-f".to_owned(), given.files.join(&file).display().to_string()],
            files: vec![(file, configuration(wanted, given, &statistics)?)],
            environment: Vec::new(),
            secrets: Vec::new(),
            stop: vec![Step { signal: Sig::Term, patience: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            console: None,
            statistics: Some(statistics),
        })
    }
}

fn configuration(wanted: &HaProxy, given: &Given<'_>, statistics: &Path) -> Result<String, String> {
    if let Some(copies) = given.copies {
        return before_services(wanted, given, copies, statistics);
    }
    if let Some(servers) = given.servers {
        return before_servers(wanted, given, servers, statistics);
    }
    let behind = given.behind.ok_or("there is nothing behind it")?;
    match (given.node.entrance, &behind.tls) {
        (Entrance::Tls, DoorTls::Off) => {
            let name = behind.name;
            return Err(format!(
                "HAProxy passes TLS on, and {name} does not speak it: its entrance must be tls"
            ));
        }
        (Entrance::Tcp | Entrance::Unix, DoorTls::Unchecked | DoorTls::Checked { .. }) => {
            return Err(format!(
                "HAProxy passes TLS on, and {} speaks it: this entrance must be tls",
                behind.name
            ));
        }
        _ => {}
    }
    let servers = servers(wanted, std::slice::from_ref(behind));
    Ok(written("tcp", wanted, given, statistics, &servers))
}

/// Clients go to the primary here, and to the replicas in turn at another port, as each server says what it is.
fn before_servers(
    wanted: &HaProxy,
    given: &Given<'_>,
    servers: &Servers<'_>,
    statistics: &Path,
) -> Result<String, String> {
    if given.node.entrance != Entrance::Tcp {
        return Err("before several servers its entrance must be tcp".to_owned());
    }
    let check = wanted.check.ok_or("it must ask its servers which of them is the primary")?;
    let mut options = String::new();
    if let Some(it) = wanted.maxconn {
        write!(options, " maxconn {it}").expect("strings grow");
    }
    // Once is enough to be taken at their word; who does not answer is asked again, at once.
    write!(options, " check inter {0} fastinter {0} downinter {0} fall 2 rise 1", millis(check))
        .expect("strings grow");
    if servers.shutdown_sessions {
        options += " on-marked-down shutdown-sessions";
    }
    let behind = |path: &str| {
        let mut lines = format!(
            "    option httpchk\n    http-check send meth OPTIONS uri {path} ver HTTP/1.1 hdr Host localhost\n    \
             http-check expect status 200\n"
        );
        for (door, health) in &servers.doors {
            let Address::Tcp(address) = &door.address else { return Err("servers are reached by tcp here") };
            writeln!(
                lines,
                "    server {} {address}{options} addr {} port {}",
                door.name,
                health.ip(),
                health.port()
            )
            .expect("strings grow");
        }
        Ok(lines)
    };
    let rest = format!(
        "{}\nfrontend {}-replicas\n    bind {}\n    default_backend replicas\n\nbackend replicas\n    balance roundrobin\n{}",
        behind("/primary")?,
        given.node.name,
        servers.read_only,
        behind("/replica")?
    );
    Ok(written("tcp", wanted, given, statistics, &rest))
}

/// Requests go to its copies in turn, to those that say that they are ready.
fn before_services(
    wanted: &HaProxy,
    given: &Given<'_>,
    copies: &Copies<'_>,
    statistics: &Path,
) -> Result<String, String> {
    if given.node.entrance != Entrance::Tcp {
        return Err("HTTP is asked for without TLS here: its entrance must be tcp".to_owned());
    }
    let mut lines = "    balance roundrobin\n".to_owned();
    if wanted.check.is_some() {
        let ready = copies.ready;
        if !ready.bytes().all(|it| it.is_ascii_graphic() && !b"\\\"'#".contains(&it)) {
            return Err(format!("HAProxy cannot be told of the path {ready:?}"));
        }
        write!(
            lines,
            "    option httpchk\n    http-check send meth GET uri {ready} ver HTTP/1.1 hdr Host localhost \
             hdr Connection close\n    http-check expect status 200\n"
        )
        .expect("strings grow");
    }
    lines += &servers(wanted, &copies.doors);
    Ok(written("http", wanted, given, statistics, &lines))
}

/// The lines of those behind it.
fn servers(wanted: &HaProxy, doors: &[Door<'_>]) -> String {
    let mut options = String::new();
    if let Some(it) = wanted.maxconn {
        write!(options, " maxconn {it}").expect("strings grow");
    }
    if let Some(it) = wanted.check {
        // Without the last a server that is down would keep its clients.
        write!(options, " check inter {} on-marked-down shutdown-sessions", millis(it))
            .expect("strings grow");
    }
    let line = |it: &Door<'_>| match &it.address {
        Address::Tcp(address) => format!("    server {} {address}{options}\n", it.name),
        Address::Unix(path) => format!("    server {} unix@{}{options}\n", it.name, word(path)),
    };
    doors.iter().map(line).collect()
}

fn written(mode: &str, wanted: &HaProxy, given: &Given<'_>, statistics: &Path, backend: &str) -> String {
    let bind = match given.address {
        Address::Tcp(it) => it.to_string(),
        Address::Unix(path) => format!("unix@{} mode 700", word(path)),
    };
    format!(
        "\
# Written by pgdyno.
global
    # As many as the system lets it, if fewer.
    maxconn 10000
    no strict-limits
    stats socket {statistics} mode 600 level admin
    log stdout format raw daemon

defaults
    mode {mode}
    log global
    option dontlog-normal
    timeout connect 5s
    # Idle clients stay, as they would without it.
    timeout client 24d
    timeout server 24d
    timeout check 2s
    timeout queue {queue}{retries}

frontend {name}
    bind {bind}
    default_backend behind

backend behind
{backend}",
        statistics = word(statistics),
        queue = millis(wanted.queue_timeout),
        retries = wanted.retries.map_or(String::new(), |it| format!("\n    retries {it}")),
        name = given.node.name,
    )
}

/// A path as one word of its configuration.
fn word(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace(' ', "\\ ")
}

/// HAProxy's time, at least its least one.
fn millis(it: Nanos) -> String {
    format!("{}ms", (it.0 / 1_000_000).max(1))
}
