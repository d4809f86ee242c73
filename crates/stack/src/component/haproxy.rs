//! HAProxy component
//!
//! In front of PostgreSQL it passes bytes on: the node behind it authenticates clients and terminates TLS. In front
//! of an HTTP service it distributes requests among the copies.

use super::program::ProgramInfo;
use super::{Component, Copies, EndpointTls, LaunchSpec, NodeContext, NodeEndpoint, Servers};
use crate::client::Address;
use crate::supervisor::{Sig, StopStep};
use model::Nanos;
use model::plan::{HaProxy, NodeKind, Transport};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

#[derive(Debug)]
pub struct HaProxyComponent;

static NAMES: ProgramInfo = ProgramInfo {
    name: "HAProxy",
    program: "haproxy",
    version_argument: "-v",
    env_var: "PGDYNO_HAPROXY",
    install_hint: "./x setup, or apt-get install haproxy",
};

impl Component for HaProxyComponent {
    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn handles(&self, kind: &NodeKind) -> bool {
        matches!(kind, NodeKind::HaProxy(_))
    }

    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, String> {
        let NodeKind::HaProxy(wanted) = &given.node.kind else { unreachable!("the table gives us ours") };
        let name = &given.node.name;
        let file = format!("{name}.cfg");
        let statistics = given.home.join(format!("{name}.stats"));
        Ok(LaunchSpec {
            // In the foreground.
            arguments: vec!["-db".to_owned(), "-f".to_owned(), given.files.join(&file).display().to_string()],
            files: vec![(file, render_configuration(wanted, given, &statistics)?)],
            environment: Vec::new(),
            secrets: Vec::new(),
            stop: vec![StopStep { signal: Sig::Term, patience: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            console: None,
            statistics: Some(statistics),
        })
    }
}

fn render_configuration(
    wanted: &HaProxy,
    given: &NodeContext<'_>,
    statistics: &Path,
) -> Result<String, String> {
    if let Some(copies) = given.copies {
        return render_services(wanted, given, copies, statistics);
    }
    if let Some(servers) = given.servers {
        return render_servers(wanted, given, servers, statistics);
    }
    let behind = given.upstream.ok_or("there is nothing behind it")?;
    match (given.node.transport, &behind.tls) {
        (Transport::Tls, EndpointTls::Off) => {
            let name = behind.name;
            return Err(format!(
                "HAProxy passes TLS on, and {name} does not speak it: its entrance must be tls"
            ));
        }
        (Transport::Tcp | Transport::Unix, EndpointTls::Unchecked | EndpointTls::Checked { .. }) => {
            return Err(format!(
                "HAProxy passes TLS on, and {} speaks it: this entrance must be tls",
                behind.name
            ));
        }
        _ => {}
    }
    let servers = server_lines(wanted, std::slice::from_ref(behind));
    Ok(render_with_backend("tcp", wanted, given, statistics, &servers))
}

/// Configuration for several servers: clients of this port reach the primary, those of another port the replicas in
/// turn. The servers' health endpoints decide.
fn render_servers(
    wanted: &HaProxy,
    given: &NodeContext<'_>,
    servers: &Servers<'_>,
    statistics: &Path,
) -> Result<String, String> {
    if given.node.transport != Transport::Tcp {
        return Err("before several servers its entrance must be tcp".to_owned());
    }
    let check = wanted.check.ok_or("it must ask its servers which of them is the primary")?;
    let mut options = String::new();
    if let Some(it) = wanted.maxconn {
        write!(options, " maxconn {it}").expect("strings grow");
    }
    // One successful check marks a server up; two failed checks mark it down.
    write!(options, " check inter {0} fastinter {0} downinter {0} fall 2 rise 1", format_millis(check))
        .expect("strings grow");
    if servers.shutdown_sessions {
        options += " on-marked-down shutdown-sessions";
    }
    let behind = |path: &str| {
        let mut lines = format!(
            "    option httpchk\n    http-check send meth OPTIONS uri {path} ver HTTP/1.1 hdr Host localhost\n    \
             http-check expect status 200\n"
        );
        for (door, health) in &servers.endpoints {
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
    Ok(render_with_backend("tcp", wanted, given, statistics, &rest))
}

/// Configuration for HTTP services: requests go in turn to the copies that are ready.
fn render_services(
    wanted: &HaProxy,
    given: &NodeContext<'_>,
    copies: &Copies<'_>,
    statistics: &Path,
) -> Result<String, String> {
    if given.node.transport != Transport::Tcp {
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
    lines += &server_lines(wanted, &copies.endpoints);
    Ok(render_with_backend("http", wanted, given, statistics, &lines))
}

/// The `server` lines of the nodes behind it.
fn server_lines(wanted: &HaProxy, doors: &[NodeEndpoint<'_>]) -> String {
    let mut options = String::new();
    if let Some(it) = wanted.maxconn {
        write!(options, " maxconn {it}").expect("strings grow");
    }
    if let Some(it) = wanted.check {
        // Without the last option, a server that is down would keep its clients.
        write!(options, " check inter {} on-marked-down shutdown-sessions", format_millis(it))
            .expect("strings grow");
    }
    let line = |it: &NodeEndpoint<'_>| match &it.address {
        Address::Tcp(address) => format!("    server {} {address}{options}\n", it.name),
        Address::Unix(path) => format!("    server {} unix@{}{options}\n", it.name, escape_path(path)),
    };
    doors.iter().map(line).collect()
}

fn render_with_backend(
    mode: &str,
    wanted: &HaProxy,
    given: &NodeContext<'_>,
    statistics: &Path,
    backend: &str,
) -> String {
    let bind = match given.address {
        Address::Tcp(it) => it.to_string(),
        Address::Unix(path) => format!("unix@{} mode 700", escape_path(path)),
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
        statistics = escape_path(statistics),
        queue = format_millis(wanted.queue_timeout),
        retries = wanted.retries.map_or(String::new(), |it| format!("\n    retries {it}")),
        name = given.node.name,
    )
}

/// A path as one word of HAProxy's configuration.
fn escape_path(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace(' ', "\\ ")
}

/// A duration in HAProxy's form, at least 1 ms.
fn format_millis(it: Nanos) -> String {
    format!("{}ms", (it.0 / 1_000_000).max(1))
}
