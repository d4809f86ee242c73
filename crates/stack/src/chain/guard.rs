//! May what is on another machine be loaded?
//!
//! It must be named twice in the experiment's file, must say itself that it may be loaded, and must have nothing else to
//! do. What is on this machine is its own; whether it is, the server that answers shows, not its address: a name, an
//! environment variable or a tunnel that leads elsewhere is seen here. See [`location`].

use super::Problem;
use crate::ask::{Address, Connection};
use crate::http::{self, Page};
use crate::location::{self, Location};
use crate::neighbours;
use model::plan::{Attached, Node, Service};
use std::thread;
use std::time::{Duration, Instant};
use wire::http::Url;

/// The schema whose presence says that a database may be loaded.
const SCHEMA: &str = "pgdyno_allowed";
/// The page that says so of a service, and its whole content.
const PAGE: &str = "/.well-known/pgdyno";
const ALLOWED: &[u8] = b"allowed";
/// One try.
const TRY: Duration = Duration::from_secs(10);
/// Sessions that are about to leave have so long for it.
const LEAVING: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);

/// Looks at a database that has just been reached. `host`: as it was written, with its port.
pub(super) fn database(
    node: &Node,
    wanted: &Attached,
    (address, host, database): (&Address, &str, &str),
    connection: &mut Connection,
) -> Result<(), Problem> {
    let here = format!("{host}/{database}");
    let refused = |why: String| Err(Problem::Impossible { node: node.name.clone(), why });
    let until = Instant::now() + LEAVING;
    // Sessions of our own last trial are about to leave. A server that does not tell is loaded as any other.
    while let Ok(Some(it)) = neighbours::other_run(connection) {
        if Instant::now() >= until {
            return refused(format!(
                "another pgdyno is at work in {here} ({it}): each would measure the other's load; wait until it has ended"
            ));
        }
        thread::sleep(PAUSE);
    }
    let location = location::of_server(address, connection);
    if location == Location::ThisMachine {
        return Ok(());
    }
    if !names(wanted.allow.as_deref(), host, Some(database)) {
        return refused(unnamed(&here, &location));
    }
    let mut ask = |sql: &str| {
        let answer = connection.query(sql).map_err(|it| super::failed(&node.name, "be looked at", &it))?;
        Ok::<_, Problem>(answer.rows.into_iter().next().unwrap_or_default().into_iter().flatten().collect())
    };
    let marked: Vec<String> = ask(&format!("select 1 from pg_namespace where nspname = '{SCHEMA}'"))?;
    if marked.is_empty() {
        return refused(format!(
            "{here} does not say that it may be loaded; if it may, type there:  CREATE SCHEMA {SCHEMA}"
        ));
    }
    let until = Instant::now() + LEAVING;
    loop {
        let busy: Vec<String> = ask(OTHERS)?;
        let number = |i: usize| busy.get(i).and_then(|it| it.parse().ok()).unwrap_or(0);
        let (others, hidden): (u32, u32) = (number(0), number(1));
        if others <= wanted.others {
            return Ok(());
        }
        if Instant::now() >= until {
            let unseen = match hidden {
                0 => String::new(),
                _ => format!(
                    ", {hidden} of which may not be looked at without being a member of pg_read_all_stats"
                ),
            };
            return refused(format!(
                "sessions of others that are at work in {here}: {others}{unseen}; let them end, which is seen 10 s after, \
                 or write `caps: {{ others: {others} }}`"
            ));
        }
        thread::sleep(PAUSE);
    }
}

/// How many sessions of others have something to do, and how many of these may not be looked at. Of those the state is
/// unknown, and so is the type: but only clients' sessions have both a user and a database, replicas' have no database.
const OTHERS: &str = "select count(*), count(*) filter (where state is null) from pg_stat_activity \
     where pid <> pg_backend_pid() and datid is not null and usesysid is not null \
     and (state is null or state <> 'idle' or state_change > now() - interval '10 seconds')";

/// Looks at a service that has just been reached. `page`: what it answered when it was asked whether it is ready.
pub(super) fn service(
    node: &Node,
    wanted: &Service,
    (address, url): (&Address, &Url),
    page: &Page,
) -> Result<(), Problem> {
    let location = location::of_listener(address);
    if location == Location::ThisMachine {
        return Ok(());
    }
    let here = url.host_header();
    let refused = |why: String| Err(Problem::Impossible { node: node.name.clone(), why });
    let whole = match &url.host {
        wire::http::Host::Tcp(name, port) => place(name, *port),
        wire::http::Host::Unix(path) => path.clone(),
    };
    if !names(wanted.allow.as_deref(), &whole, None) {
        return refused(unnamed(&whole, &location));
    }
    let says = |it: &[u8]| it.trim_ascii() == ALLOWED;
    if page.allowed.as_deref().is_some_and(says) {
        return Ok(());
    }
    let asked = http::get(&super::at(url, PAGE), TRY);
    match asked.map_err(|it| super::failed(&node.name, &format!("be asked for {PAGE}"), &it))? {
        it if it.status == 200 && says(&it.body) => Ok(()),
        it => refused(format!(
            "{here} does not say that it may be loaded: GET {PAGE} is answered by status {}; if it may, let it answer \
             that with `allowed`, or {} with the header `Pgdyno: allowed`",
            it.status, wanted.ready
        )),
    }
}

fn unnamed(here: &str, location: &Location) -> String {
    format!(
        "{here} {location}; write `allow: \"{here}\"` beside its address if it is yours and may be loaded"
    )
}

/// `host:port`, as it stands in an address.
pub(super) fn place(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Whether `allow`, `host:port,host:port/database`, names this host and this database.
fn names(allow: Option<&str>, host: &str, database: Option<&str>) -> bool {
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
    fn named_twice() {
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
            assert_eq!(names(Some(allow), host, database), expected, "{allow} for {host} {database:?}");
        }
        assert!(!names(None, "db:5432", Some("book")));
    }
}
