//! Safety check before pgdyno generates load on another machine
//!
//! The experiment file must name the target twice, in its address and in `allow`. The target must itself permit load,
//! and must have no other active sessions. Targets on this machine need no permission. The check uses the location that
//! the server reports, not the address in the file, because names, environment variables and tunnels may lead to
//! another machine. See [`location`].

use super::ChainError;
use crate::client::{Address, Connection, Target};
use crate::http::{self, HttpResponse};
use crate::location::{self, ALLOW_SCHEMA, Location};
use crate::other_runs;
use model::message;
use model::message::Message;
use model::plan::{AttachedNode, Node, Service};
use std::thread;
use std::time::{Duration, Instant};
use wire::http::Url;

/// Path of the page with which a service permits load.
const ALLOW_PAGE: &str = "/.well-known/pgdyno";
const ALLOW_BODY: &[u8] = b"allowed";
/// Timeout for one attempt to reach the server.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for sessions of the previous trial to close. Sessions that are still open afterwards count as active.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Checks a database after the first login. `host` is the host from the address, with its port.
pub(super) fn check_database(
    node: &Node,
    attached: &AttachedNode,
    (address, host, database): (&Address, &str, &str),
    connection: &mut Connection,
) -> Result<(), ChainError> {
    let target = format!("{host}/{database}");
    let refused = |reason: Message| Err(ChainError::InvalidPlan { node: node.name.clone(), reason });
    let deadline = Instant::now() + LEAVE_TIMEOUT;
    // Sessions of the previous trial may still be closing. A server that rejects this query passes the check.
    while let Ok(Some(run)) = other_runs::find_other_run(connection) {
        if Instant::now() >= deadline {
            return refused(message!("guard-other-run", target, run = run.to_string()));
        }
        thread::sleep(POLL_INTERVAL);
    }
    let location = location::locate_server(address, connection);
    if location == Location::ThisMachine {
        return Ok(());
    }
    if !is_allowed(attached.allow.as_deref(), host, Some(database)) {
        return refused(not_allowed_message(&target, &location));
    }
    let mut ask = |sql: &str| {
        let answer = connection
            .query(sql)
            .map_err(|it| super::node_error(&node.name, message!("attempt-check"), &it))?;
        Ok::<_, ChainError>(
            answer.rows.into_iter().next().unwrap_or_default().into_iter().flatten().collect(),
        )
    };
    let marked: Vec<String> = ask(&format!("select 1 from pg_namespace where nspname = '{ALLOW_SCHEMA}'"))?;
    if marked.is_empty() {
        return refused(message!("guard-no-permission", target, schema = ALLOW_SCHEMA));
    }
    let deadline = Instant::now() + LEAVE_TIMEOUT;
    loop {
        let busy: Vec<String> = ask(OTHER_SESSIONS_SQL)?;
        let number = |i: usize| busy.get(i).and_then(|it| it.parse().ok()).unwrap_or(0);
        let (active, hidden): (u32, u32) = (number(0), number(1));
        if active <= attached.other_sessions {
            return Ok(());
        }
        if Instant::now() >= deadline {
            let active = active.to_string();
            return refused(message!("guard-active-sessions", target, active, hidden));
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Checks another host of an address with several hosts. Clients use it once it is the primary. `host` is as in the address,
/// with its port.
pub(super) fn check_other_host(
    node: &Node,
    attached: &AttachedNode,
    (target, host, database): (&Target, &str, &str),
) -> Result<(), ChainError> {
    let location = match target.open(ATTEMPT_TIMEOUT) {
        Ok(mut connection) => location::locate_server(&target.address, &mut connection),
        Err(_) => location::locate_listener(&target.address),
    };
    if location == Location::ThisMachine || is_allowed(attached.allow.as_deref(), host, Some(database)) {
        return Ok(());
    }
    let reason = not_allowed_message(&format!("{host}/{database}"), &location);
    Err(ChainError::InvalidPlan { node: node.name.clone(), reason })
}

/// Counts the active sessions of other clients, and how many of them have a state that this user may not see.
///
/// The backend type of such a session is hidden too. A session therefore counts as a client's if it has a user and a
/// database; sessions of replicas have no database.
const OTHER_SESSIONS_SQL: &str = "select count(*), count(*) filter (where state is null) from pg_stat_activity \
     where pid <> pg_backend_pid() and datid is not null and usesysid is not null \
     and (state is null or state <> 'idle' or state_change > now() - interval '10 seconds')";

/// Checks a service after the first request. `page` is its response to the readiness request.
pub(super) fn check_service(
    node: &Node,
    service: &Service,
    (address, url): (&Address, &Url),
    page: &HttpResponse,
) -> Result<(), ChainError> {
    let location = location::locate_listener(address);
    if location == Location::ThisMachine {
        return Ok(());
    }
    let target = url.host_header();
    let refused = |reason: Message| Err(ChainError::InvalidPlan { node: node.name.clone(), reason });
    let authority = match &url.host {
        wire::http::Host::Tcp(name, port) => join_host_port(name, *port),
        wire::http::Host::Unix(path) => path.clone(),
    };
    if !is_allowed(service.allow.as_deref(), &authority, None) {
        return refused(not_allowed_message(&authority, &location));
    }
    let is_allow_body = |it: &[u8]| it.trim_ascii() == ALLOW_BODY;
    if page.allowed.as_deref().is_some_and(is_allow_body) {
        return Ok(());
    }
    let response = http::get(&http::with_path(url, ALLOW_PAGE), ATTEMPT_TIMEOUT);
    match response
        .map_err(|it| super::node_error(&node.name, message!("attempt-get", path = ALLOW_PAGE), &it))?
    {
        it if it.status == 200 && is_allow_body(&it.body) => Ok(()),
        response => refused(message!(
            "guard-service-no-permission",
            target,
            page = ALLOW_PAGE,
            status = response.status.to_string(),
            ready = &service.ready_path
        )),
    }
}

fn not_allowed_message(target: &str, location: &Location) -> Message {
    message!("guard-not-allowed", target, location = Message::from(location))
}

/// Formats `host:port` as in an address.
pub(super) fn join_host_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// True if `allow`, such as `host:port,host:port/database`, names this host and this database.
fn is_allowed(allow: Option<&str>, host: &str, database: Option<&str>) -> bool {
    let Some(allow) = allow else { return false };
    let (hosts, its) = match database {
        Some(_) => allow.split_once('/').map_or((allow, None), |it| (it.0, Some(it.1))),
        None => (allow, None),
    };
    its == database && hosts.split(',').any(|it| it.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allow_must_match_host_and_database() {
        for (allow, host, database, expected) in [
            ("db:5432/book", "db:5432", Some("book"), true),
            ("DB:5432/book", "db:5432", Some("book"), true),
            ("a:1,db:5432/book", "db:5432", Some("book"), true),
            ("a:1,db:5432/book", "a:1", Some("book"), true),
            ("db:5432/a/b", "db:5432", Some("a/b"), true),
            ("[fe80::1]:5432/book", "[fe80::1]:5432", Some("book"), true),
            ("shop:80", "shop:80", None, true),
            ("db:5432/Book", "db:5432", Some("book"), false),
            ("db:5432", "db:5432", Some("book"), false),
            ("db:5433/book", "db:5432", Some("book"), false),
            ("db/book", "db:5432", Some("book"), false),
            ("", "db:5432", Some("book"), false),
            ("shop:80/", "shop:80", None, false),
        ] {
            assert_eq!(is_allowed(Some(allow), host, database), expected, "{allow} for {host} {database:?}");
        }
        assert!(!is_allowed(None, "db:5432", Some("book")));
    }
}
