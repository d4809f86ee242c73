//! Readiness checks for nodes

use super::{READY_TIMEOUT, RunningNode, service};
use crate::client::{Connection, Error, Target};
use crate::component::{self, Component};
use crate::supervisor::{NodeError, Readiness, Supervisor};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use wire::Code;

/// Timeout for one readiness attempt. Another program on the same port may accept the connection and never respond.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

/// Waits until a node that pgdyno started is ready.
///
/// First checks the node's console or statistics socket, which certainly belongs to the node. Then sends a query
/// through the node, or an HTTP request if the node takes HTTP requests.
pub(super) fn await_service(supervisor: &mut Supervisor, node: &mut RunningNode) -> Result<(), NodeError> {
    let Some(id) = node.node else { return Ok(()) };
    let component = component::for_kind(&node.plan.kind);
    if let Some((socket, component)) = node.statistics.as_deref().zip(component) {
        let ask = |command: &str| ask_statistics(socket, command);
        node.version = supervisor.await_ready(id, READY_TIMEOUT, || component.statistics_version(&ask))?;
        if node.read_only.is_some() {
            supervisor.await_ready(id, READY_TIMEOUT, || component.knows_roles(&ask))?;
        }
    }
    if let Some((console, component)) = node.admin.as_ref().zip(component) {
        node.version = supervisor.await_ready(id, READY_TIMEOUT, || console_version(component, console))?;
    }
    match &node.ready {
        Some(ready) => service::await_ready(supervisor, node, ready),
        None => supervisor.await_ready(id, READY_TIMEOUT, || check_query(&node.endpoint)),
    }
}

/// Reads the version of a pooler from its console.
pub(super) fn console_version(component: &dyn Component, console: &Target) -> Readiness<String> {
    let result = console.open(ATTEMPT_TIMEOUT).and_then(|mut connection| {
        let answer = connection.query(component.version_query())?;
        let notice = connection.notices.pop().map(|it| it.rsplit("  ").next().unwrap_or_default().to_owned());
        Ok(answer.rows.into_iter().flatten().next().flatten().or(notice).unwrap_or_default())
    });
    result.map_or_else(|it| readiness_after_error(&it), Readiness::Ready)
}

fn check_query(target: &Target) -> Readiness<()> {
    let result = Connection::open(target, ATTEMPT_TIMEOUT).and_then(|mut it| it.query("select 1"));
    result.map_or_else(|it| readiness_after_error(&it), |_| Readiness::Ready(()))
}

/// Maps an error to readiness. Errors of the server, such as a rejected login, and protocol errors are final, unless
/// the server is starting up (57P03). After any other error, such as a refused connection, the check is repeated.
pub(super) fn readiness_after_error<T>(error: &Error) -> Readiness<T> {
    match error.code() {
        Code::SqlState(state) if &state != b"57P03" => Readiness::Never(error.into()),
        _ if matches!(error, Error::Protocol(_)) => Readiness::Never(error.into()),
        _ => Readiness::NotYet(error.into()),
    }
}

/// Sends one command to a statistics socket and returns the whole output.
fn ask_statistics(socket: &Path, command: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(ATTEMPT_TIMEOUT))?;
    stream.write_all(format!("{command}\n").as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}
