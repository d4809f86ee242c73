//! What does HAProxy need to be this node?
//!
//! It passes bytes on: what is behind it authenticates, and speaks TLS with the clients themselves.

use super::program::Names;
use super::{Component, DoorTls, Given, Recipe};
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
            stop: vec![Step { signal: Sig::Term, patience: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            console: None,
            statistics: Some(statistics),
        })
    }
}

fn configuration(wanted: &HaProxy, given: &Given<'_>, statistics: &Path) -> Result<String, String> {
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
    let bind = match given.address {
        Address::Tcp(it) => it.to_string(),
        Address::Unix(path) => format!("unix@{} mode 700", path.display()),
    };
    let server = match &behind.address {
        Address::Tcp(it) => it.to_string(),
        Address::Unix(path) => format!("unix@{}", path.display()),
    };
    let mut options = String::new();
    if let Some(it) = wanted.maxconn {
        write!(options, " maxconn {it}").expect("strings grow");
    }
    if let Some(it) = wanted.check {
        // Without the last a server that is down would keep its clients.
        write!(options, " check inter {} on-marked-down shutdown-sessions", millis(it))
            .expect("strings grow");
    }
    Ok(format!(
        "\
# Written by pgdyno.
global
    # As many as the system lets it, if fewer.
    maxconn 10000
    no strict-limits
    stats socket {statistics} mode 600 level admin
    log stdout format raw daemon

defaults
    mode tcp
    log global
    option dontlog-normal
    timeout connect 5s
    # Idle clients stay, as they would without it.
    timeout client 24d
    timeout server 24d
    timeout check 2s
    timeout queue {queue}

frontend {name}
    bind {bind}
    default_backend behind

backend behind
    server {behind} {server}{options}
",
        statistics = statistics.display(),
        queue = millis(wanted.queue_timeout),
        name = given.node.name,
        behind = behind.name,
    ))
}

/// HAProxy's time, at least its least one.
fn millis(it: Nanos) -> String {
    format!("{}ms", (it.0 / 1_000_000).max(1))
}
