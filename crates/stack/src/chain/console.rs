//! Readiness checks for nodes

use super::{READY_TIMEOUT, RunningNode, service};
use crate::client::{Connection, Error, Target};
use crate::probe::read_csv;
use crate::supervisor::{NodeError, Readiness, Supervisor};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use wire::Code;

/// Timeout of one attempt. Another program that holds the port may accept a connection and never answer.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

/// Waits until a node that pgdyno started is ready.
///
/// Its console or statistics come first, because they are certainly its own; then a query through it. Nodes that take
/// HTTP requests get an HTTP request.
pub(super) fn await_service(supervisor: &mut Supervisor, node: &mut RunningNode) -> Result<(), NodeError> {
    let Some(id) = node.node else { return Ok(()) };
    if let Some(socket) = &node.statistics {
        node.version = supervisor.await_ready(id, READY_TIMEOUT, || query_haproxy_version(socket))?;
    }
    if let (Some(socket), Some(_)) = (&node.statistics, &node.read_only) {
        supervisor.await_ready(id, READY_TIMEOUT, || check_server_roles(socket))?;
    }
    if let Some(console) = &node.admin {
        node.version = supervisor.await_ready(id, READY_TIMEOUT, || console_version(console))?;
    }
    match node.url {
        Some(_) => service::await_ready(supervisor, node),
        None => supervisor.await_ready(id, READY_TIMEOUT, || check_query(&node.endpoint)),
    }
}

/// Version of a pooler, from its console.
pub(super) fn console_version(console: &Target) -> Readiness<String> {
    let asked = console.open(ATTEMPT_TIMEOUT).and_then(|mut connection| {
        let answer = connection.query("show version")?;
        let notice = connection.notices.pop().map(|it| it.rsplit("  ").next().unwrap_or_default().to_owned());
        Ok(answer.rows.into_iter().flatten().next().flatten().or(notice).unwrap_or_default())
    });
    asked.map_or_else(|it| readiness_after_error(&it), Readiness::Ready)
}

fn check_query(target: &Target) -> Readiness<()> {
    let asked = Connection::open(target, ATTEMPT_TIMEOUT).and_then(|mut it| it.query("select 1"));
    asked.map_or_else(|it| readiness_after_error(&it), |_| Readiness::Ready(()))
}

/// Maps an error to readiness. A rejected login is final, unless the server is starting up (57P03); a refused
/// connection is not.
pub(super) fn readiness_after_error<T>(error: &Error) -> Readiness<T> {
    match error.code() {
        Code::SqlState(state) if &state != b"57P03" => Readiness::Never(error.to_string()),
        _ if matches!(error, Error::Protocol(_)) => Readiness::Never(error.to_string()),
        _ => Readiness::NotYet(error.to_string()),
    }
}

fn query_haproxy_version(socket: &Path) -> Readiness<String> {
    let text = match haproxy_command(socket, "show info") {
        Ok(it) => it,
        Err(it) => return Readiness::NotYet(it.to_string()),
    };
    match text.lines().find_map(|it| it.strip_prefix("Version: ")) {
        Some(it) => Readiness::Ready(it.to_owned()),
        None => Readiness::NotYet("it does not tell its version".to_owned()),
    }
}

/// At first HAProxy treats every server as up, a replica as a primary too.
fn check_server_roles(socket: &Path) -> Readiness<()> {
    let table = match haproxy_command(socket, "show stat") {
        Ok(it) => read_csv(&it).unwrap_or_default(),
        Err(it) => return Readiness::NotYet(it.to_string()),
    };
    let column = |name: &str| table.columns.iter().position(|it| it == name).unwrap_or(usize::MAX);
    let [proxy, server, status] = ["pxname", "svname", "status"].map(column);
    let is = |row: &[Option<String>], at: usize, text: &str| {
        row.get(at).and_then(Option::as_deref).is_some_and(|it| it == text)
    };
    let servers = table.rows.iter().filter(|it| !is(it, server, "BACKEND") && !is(it, server, "FRONTEND"));
    let up = |name: &str| servers.clone().filter(|it| is(it, proxy, name) && is(it, status, "UP")).count();
    let all = servers.clone().filter(|it| is(it, proxy, "replicas")).count();
    match (up("behind"), up("replicas")) {
        (1, others) if others + 1 == all => Readiness::Ready(()),
        (primaries, replicas) => Readiness::NotYet(format!(
            "it knows {primaries} primaries and {replicas} replicas among {all} servers"
        )),
    }
}

/// Sends one command to HAProxy's socket and returns its whole output.
fn haproxy_command(socket: &Path, command: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(ATTEMPT_TIMEOUT))?;
    stream.write_all(format!("{command}\n").as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}
