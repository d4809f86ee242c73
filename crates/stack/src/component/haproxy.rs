//! HAProxy: configuration, statistics and log format
//!
//! In front of PostgreSQL, HAProxy forwards bytes: the node behind it authenticates clients and terminates TLS. In
//! front of an HTTP service, it distributes requests among the copies.

mod statistics;

pub use statistics::read_csv;

use super::program::ProgramInfo;
use super::{
    AskStatistics, Component, Copies, EndpointTls, InvalidNode, LaunchSpec, NodeContext, NodeEndpoint,
    Servers,
};
use crate::client::Address;
use crate::log_parser::{LogFormat, LogRecord};
use crate::probe::Probe;
use crate::supervisor::{Readiness, Sig, StopStep};
use model::message;
use model::plan::{Balancer, NodeKind, Transport};
use model::product::{self, Product};
use model::{EventKind, Nanos};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

#[derive(Debug)]
pub struct HaProxyComponent;

static NAMES: ProgramInfo = ProgramInfo {
    name: "HAProxy",
    program: "haproxy",
    package: Some("haproxy"),
    version_argument: "-v",
    env_var: "PGDYNO_HAPROXY",
    install_hint: || message!("install-package", package = "haproxy"),
};

impl Component for HaProxyComponent {
    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn product(&self) -> &'static Product {
        &product::HAPROXY
    }

    fn probes(&self) -> &'static [&'static Probe] {
        &statistics::PROBES
    }

    fn log_format(&self) -> LogFormat {
        LogFormat::Lines(parse_log_line)
    }

    fn statistics_version(&self, ask: AskStatistics<'_>) -> Readiness<String> {
        statistics::version(ask)
    }

    fn knows_roles(&self, ask: AskStatistics<'_>) -> Readiness<()> {
        statistics::knows_roles(ask)
    }

    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, InvalidNode> {
        let NodeKind::Balancer(balancer) = &given.node.kind else {
            unreachable!("the product table selects the component of the node")
        };
        let name = &given.node.name;
        let file = format!("{name}.cfg");
        let statistics = given.home.join(format!("{name}.stats"));
        Ok(LaunchSpec {
            // `-db` keeps HAProxy in the foreground.
            arguments: vec!["-db".to_owned(), "-f".to_owned(), given.files.join(&file).display().to_string()],
            files: vec![(file, render_configuration(balancer, given, &statistics)?)],
            environment: Vec::new(),
            secrets: Vec::new(),
            stop: vec![StopStep { signal: Sig::Term, timeout: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            console: None,
            statistics: Some(statistics),
        })
    }
}

fn render_configuration(
    balancer: &Balancer,
    given: &NodeContext<'_>,
    statistics: &Path,
) -> Result<String, InvalidNode> {
    if let Some(copies) = given.copies {
        return render_services(balancer, given, copies, statistics);
    }
    if let Some(servers) = given.servers {
        return render_servers(balancer, given, servers, statistics);
    }
    let behind = given.upstream.ok_or(InvalidNode::NoUpstream)?;
    match (given.node.transport, &behind.tls) {
        (Transport::Tls, EndpointTls::Off) => {
            return Err(InvalidNode::transport(
                Some(behind.name),
                message!("haproxy-behind-without-tls", node = behind.name),
                &["tls"],
            ));
        }
        (Transport::Tcp | Transport::Unix, EndpointTls::Unchecked | EndpointTls::Checked { .. }) => {
            return Err(InvalidNode::transport(
                None,
                message!("haproxy-behind-with-tls", node = behind.name),
                &["tls"],
            ));
        }
        _ => {}
    }
    let servers = server_lines(balancer, std::slice::from_ref(behind));
    Ok(render_with_backend("tcp", balancer, given, statistics, &servers))
}

/// Renders the configuration for several servers. A connection to the node's port reaches the primary. Connections to
/// the port for replicas reach the replicas in turn. The servers' health endpoints report the roles.
fn render_servers(
    balancer: &Balancer,
    given: &NodeContext<'_>,
    servers: &Servers<'_>,
    statistics: &Path,
) -> Result<String, InvalidNode> {
    if given.node.transport != Transport::Tcp {
        return Err(InvalidNode::transport(None, message!("haproxy-listens-by-tcp"), &["tcp"]));
    }
    let check = balancer.check.ok_or(InvalidNode::NoCheck)?;
    let mut options = String::new();
    if let Some(maxconn) = balancer.maxconn {
        write!(options, " maxconn {maxconn}").expect("writing to a String cannot fail");
    }
    // One successful check marks a server up; two failed checks mark it down.
    write!(options, " check inter {0} fastinter {0} downinter {0} fall 2 rise 1", format_millis(check))
        .expect("writing to a String cannot fail");
    if servers.shutdown_sessions {
        options += " on-marked-down shutdown-sessions";
    }
    let behind = |path: &str| {
        let mut lines = format!(
            "    option httpchk\n    http-check send meth OPTIONS uri {path} ver HTTP/1.1 hdr Host localhost\n    \
             http-check expect status 200\n"
        );
        for (endpoint, health) in &servers.endpoints {
            let Address::Tcp(address) = &endpoint.address else {
                return Err(InvalidNode::transport(
                    Some(endpoint.name),
                    message!("haproxy-connects-by-tcp"),
                    &["tcp"],
                ));
            };
            writeln!(
                lines,
                "    server {} {address}{options} addr {} port {}",
                endpoint.name,
                health.ip(),
                health.port()
            )
            .expect("writing to a String cannot fail");
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
    Ok(render_with_backend("tcp", balancer, given, statistics, &rest))
}

/// Renders the configuration for HTTP services: requests go in turn to the copies that are ready.
fn render_services(
    balancer: &Balancer,
    given: &NodeContext<'_>,
    copies: &Copies<'_>,
    statistics: &Path,
) -> Result<String, InvalidNode> {
    if given.node.transport != Transport::Tcp {
        return Err(InvalidNode::transport(None, message!("haproxy-http-without-tls"), &["tcp"]));
    }
    let mut lines = "    balance roundrobin\n".to_owned();
    if balancer.check.is_some() {
        let ready = copies.ready;
        if !ready.bytes().all(|it| it.is_ascii_graphic() && !b"\\\"'#".contains(&it)) {
            return Err(InvalidNode::UnusablePath { product: &product::HAPROXY, path: ready.to_owned() });
        }
        write!(
            lines,
            "    option httpchk\n    http-check send meth GET uri {ready} ver HTTP/1.1 hdr Host localhost \
             hdr Connection close\n    http-check expect status 200\n"
        )
        .expect("writing to a String cannot fail");
    }
    lines += &server_lines(balancer, &copies.endpoints);
    Ok(render_with_backend("http", balancer, given, statistics, &lines))
}

/// Renders the `server` lines of the nodes behind the balancer.
fn server_lines(balancer: &Balancer, endpoints: &[NodeEndpoint<'_>]) -> String {
    let mut options = String::new();
    if let Some(maxconn) = balancer.maxconn {
        write!(options, " maxconn {maxconn}").expect("writing to a String cannot fail");
    }
    if let Some(interval) = balancer.check {
        // Without `shutdown-sessions`, a server that is down would keep its clients.
        write!(options, " check inter {} on-marked-down shutdown-sessions", format_millis(interval))
            .expect("writing to a String cannot fail");
    }
    let line = |endpoint: &NodeEndpoint<'_>| match &endpoint.address {
        Address::Tcp(address) => format!("    server {} {address}{options}\n", endpoint.name),
        Address::Unix(path) => format!("    server {} unix@{}{options}\n", endpoint.name, escape_path(path)),
    };
    endpoints.iter().map(line).collect()
}

fn render_with_backend(
    mode: &str,
    balancer: &Balancer,
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
        queue = format_millis(balancer.queue_timeout),
        retries = balancer.retries.map_or(String::new(), |it| format!("\n    retries {it}")),
        name = given.node.name,
    )
}

/// Escapes a path as one word of HAProxy's configuration.
fn escape_path(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace(' ', "\\ ")
}

/// Formats a duration in HAProxy's form, at least 1 ms.
fn format_millis(duration: Nanos) -> String {
    format!("{}ms", (duration.0 / 1_000_000).max(1))
}

/// Parses messages of the process, such as `[WARNING]  (4711) : text`, and lines of `log stdout format raw`.
fn parse_log_line(line: &str) -> Option<LogRecord> {
    let changed = |text: &str| {
        ["is DOWN", "is UP", "is stopping", "is going DOWN", " stopped", " started", "enters maintenance"]
            .iter()
            .any(|it| text.contains(it))
    };
    if let Some((level, text)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
        let text = text.split_once(") : ").map_or(text, |it| it.1);
        let kind = match level {
            "ALERT" | "EMERG" | "CRIT" => EventKind::Error,
            "WARNING" if changed(text) => EventKind::Lifecycle,
            "WARNING" => EventKind::Other,
            "NOTICE" if ["forked", "exited", "Loading success"].iter().any(|it| text.contains(it)) => {
                EventKind::Lifecycle
            }
            _ => return None,
        };
        return Some(LogRecord::new(kind, text));
    }
    if line.contains("has no server available") {
        return Some(LogRecord::new(EventKind::Error, line));
    }
    let about_itself = ["Server ", "Backup Server ", "Proxy ", "Health check for server "];
    if about_itself.iter().any(|it| line.starts_with(it)) {
        let kind = if changed(line) { EventKind::Lifecycle } else { EventKind::Other };
        return Some(LogRecord::new(kind, line));
    }
    // `client [accepted] frontend backend/server Tw/Tc/Tt bytes state …`: the state is `--` if the session ended
    // normally.
    let (_, session) = line.split_once("] ")?;
    let words: Vec<&str> = session.split_whitespace().collect();
    let &[_, server, times, bytes, state, ..] = &words[..] else { return None };
    let is_log = times.matches('/').count() == 2
        && bytes.trim_start_matches('+').bytes().all(|it| it.is_ascii_digit())
        && state.len() == 2;
    (is_log && state != "--").then(|| LogRecord::new(EventKind::Error, &format!("{server} {times} {state}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_parser::check_log_line;

    #[test]
    fn parses_log_lines() {
        let check = |line: &str, expected: &str| check_log_line(parse_log_line, line, expected);
        check("[NOTICE]   (4711) : New worker (4713) forked", "Lifecycle New worker (4713) forked");
        check("[NOTICE]   (4711) : haproxy version is 2.6.12", "-");
        check(
            "[WARNING]  (4713) : Server pg/one is DOWN, reason: Layer4 connection problem.",
            "Lifecycle Server pg/one is DOWN, reason: Layer4 connection problem.",
        );
        check(
            "[ALERT]    (4713) : backend 'pg' has no server available!",
            "Error backend 'pg' has no server available!",
        );
        check("backend pg has no server available!", "Error backend pg has no server available!");
        check(
            "Server pg/one is UP, reason: Layer4 check passed",
            "Lifecycle Server pg/one is UP, reason: Layer4 check passed",
        );
        check("127.0.0.1:5 [21/Nov/2026:11:49:02.123] front pg/one 0/0/5 120 -- 1/1/1/1/0 0/0", "-");
        check(
            "127.0.0.1:5 [21/Nov/2026:11:49:02.123] front pg/<NOSRV> 5000/-1/5000 0 sQ 1/1/1/0/0 0/12",
            "Error pg/<NOSRV> 5000/-1/5000 sQ",
        );
        check("Connect from 127.0.0.1:5 to 127.0.0.1:6 (front/TCP)", "-");
    }
}
