//! Odyssey: configuration, console and log format
//!
//! Never send `SHOW SERVER_PREP_STMTS` to its console: version 1.5.2 crashes on it.

use super::program::ProgramInfo;
use super::{
    Component, Console, EndpointTls, InvalidNode, LaunchSpec, NodeContext, User, host_and_port, with_settings,
};
use crate::client::Address;
use crate::log_parser::{LogFormat, LogRecord, kind_from_text};
use crate::probe::console::ConsoleTables;
use crate::probe::{Probe, ProbeRequest, ProbeTarget, SECOND, counter, gauge, normalised};
use crate::supervisor::{Sig, StopStep};
use model::message;
use model::plan::{NodeKind, PoolMode, Pooler, Transport};
use model::product::{self, Product};
use model::{EventKind, Series, Unit, series};
use std::fmt::Write as _;
use std::time::Duration;

#[derive(Debug)]
pub struct OdysseyComponent;

static NAMES: ProgramInfo = ProgramInfo {
    name: "Odyssey",
    program: "odyssey",
    package: None,
    version_argument: "--version",
    env_var: "PGDYNO_ODYSSEY",
    install_hint: || message!("install-odyssey"),
};

/// Name of the database that gives access to the console.
const CONSOLE_DATABASE: &str = "console";

impl Component for OdysseyComponent {
    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn product(&self) -> &'static Product {
        &product::ODYSSEY
    }

    fn probes(&self) -> &'static [&'static Probe] {
        &PROBES
    }

    fn log_format(&self) -> LogFormat {
        LogFormat::Lines(parse_log_line)
    }

    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, InvalidNode> {
        let NodeKind::Pooler(pooler) = &given.node.kind else {
            unreachable!("the product table selects the component of the node")
        };
        let name = &given.node.name;
        let file = format!("{name}.conf");
        Ok(LaunchSpec {
            arguments: vec![given.files.join(&file).display().to_string()],
            files: vec![(file, configuration(pooler, given)?)],
            // SIGINT and SIGTERM wait until the last client has disconnected. Odyssey stores no data, so SIGKILL is
            // safe.
            environment: Vec::new(),
            secrets: Vec::new(),
            stop: vec![StopStep { signal: Sig::Kill, timeout: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            console: Some(Console::Database(CONSOLE_DATABASE)),
            statistics: None,
        })
    }
}

fn configuration(pooler: &Pooler, given: &NodeContext<'_>) -> Result<String, InvalidNode> {
    let behind = given.upstream.ok_or(InvalidNode::NoUpstream)?;
    let (host, port) = host_and_port(&behind.address);
    let mut text = String::from("# Written by pgdyno.\n");
    // Odyssey has one setting for both its own socket directory and the server's.
    let listen_directory = matches!(given.address, Address::Unix(_)).then(|| host_and_port(given.address).0);
    let server_directory = matches!(behind.address, Address::Unix(_)).then(|| host.clone());
    if let (Some(listen_directory), Some(server_directory)) = (&listen_directory, &server_directory)
        && listen_directory != server_directory
    {
        return Err(InvalidNode::SocketDirectories {
            product: &product::ODYSSEY,
            upstream: behind.name.to_owned(),
        });
    }
    let sockets = listen_directory.or(server_directory);
    let home = given.home.display();
    let mut top = vec![
        ("daemonize", "no".to_owned()),
        ("locks_dir", format!("\"{home}\"")),
        ("log_format", "\"%p %t %l [%i %s] (%c) %m\\n\"".to_owned()),
        ("log_to_stdout", "yes".to_owned()),
        ("log_config", "no".to_owned()),
        ("log_debug", "no".to_owned()),
        ("log_session", "no".to_owned()),
        ("log_query", "no".to_owned()),
        ("log_stats", "no".to_owned()),
        ("workers", pooler.workers.to_string()),
        ("client_max", pooler.max_client_conn.to_string()),
        ("nodelay", "yes".to_owned()),
    ];
    if let Some(directory) = sockets {
        top.push(("unix_socket_dir", format!("\"{directory}\"")));
        top.push(("unix_socket_mode", "\"0700\"".to_owned()));
    }
    for (name, value) in top {
        writeln!(text, "{name} {value}").expect("writing to a String cannot fail");
    }

    let mut listen = Vec::new();
    match given.address {
        Address::Tcp(address) => {
            listen.push(("host", format!("\"{}\"", address.ip())));
            listen.push(("port", address.port().to_string()));
        }
        // Without a host, Odyssey listens on the Unix socket.
        Address::Unix(_) => listen.push(("port", host_and_port(given.address).1)),
    }
    match given.node.transport {
        Transport::Tls => {
            let tls = given.tls.ok_or(InvalidNode::NoCertificate)?;
            listen.push(("tls", "\"require\"".to_owned()));
            listen.push(("tls_cert_file", format!("\"{}\"", tls.certificate.display())));
            listen.push(("tls_key_file", format!("\"{}\"", tls.key.display())));
        }
        Transport::Tcp | Transport::Unix => listen.push(("tls", "\"disable\"".to_owned())),
    }
    section(&mut text, "", "listen", &listen);

    let mut storage = vec![("type", "\"remote\"".to_owned())];
    if matches!(behind.address, Address::Tcp(_)) {
        storage.push(("host", format!("\"{host}\"")));
    }
    storage.push(("port", port));
    match &behind.tls {
        EndpointTls::Off => storage.push(("tls", "\"disable\"".to_owned())),
        EndpointTls::Unchecked => storage.push(("tls", "\"require\"".to_owned())),
        EndpointTls::Checked { root } => {
            storage.push(("tls", "\"verify_full\"".to_owned()));
            storage.push(("tls_ca_file", format!("\"{}\"", root.display())));
        }
    }
    section(&mut text, "", "storage \"behind\"", &storage);
    section(&mut text, "", "storage \"local\"", &[("type", "\"local\"".to_owned())]);

    let User { name, password, .. } = &given.users.app;
    let session = pooler.mode == PoolMode::Session;
    let mode = match pooler.mode {
        PoolMode::Session => "session",
        PoolMode::Transaction => "transaction",
        PoolMode::Statement => {
            return Err(InvalidNode::UnsupportedMode { product: &product::ODYSSEY, mode: "statement" });
        }
    };
    let defaults = vec![
        ("authentication", "\"scram-sha-256\"".to_owned()),
        ("password", format!("\"{}\"", given.users.app.pooler_secret())),
        ("storage", "\"behind\"".to_owned()),
        ("storage_user", format!("\"{name}\"")),
        ("storage_password", format!("\"{}\"", password.reveal())),
        ("pool", format!("\"{mode}\"")),
        ("pool_size", pooler.size.to_string()),
        ("pool_timeout", (pooler.pool_timeout.0 / 1_000_000).to_string()),
        // Like PgBouncer: discard the session state unless clients keep their sessions.
        ("pool_discard", if session { "yes" } else { "no" }.to_owned()),
        ("pool_smart_discard", "no".to_owned()),
        ("pool_reserve_prepared_statement", if session { "no" } else { "yes" }.to_owned()),
        ("pool_cancel", "yes".to_owned()),
        ("pool_rollback", "yes".to_owned()),
        ("client_fwd_error", "yes".to_owned()),
        ("application_name_add_host", "no".to_owned()),
        ("log_debug", "no".to_owned()),
    ];
    let settings: Vec<_> = pooler.settings.iter().map(|(k, v)| (k.clone(), format_value(v))).collect();
    let lines = with_settings(defaults, &settings);
    // Datasets may use databases of other names.
    for database in [format!("database \"{}\"", given.users.database), "database default".to_owned()] {
        text.push('\n');
        writeln!(text, "{database} {{").expect("writing to a String cannot fail");
        section(&mut text, "\t", &format!("user \"{name}\""), &lines);
        text.push_str("}\n");
    }
    let console_user = &given.users.console;
    text.push_str(&format!("\ndatabase \"{CONSOLE_DATABASE}\" {{\n"));
    let console = [
        ("authentication", "\"scram-sha-256\"".to_owned()),
        ("password", format!("\"{}\"", console_user.pooler_secret())),
        ("role", "\"admin\"".to_owned()),
        ("pool", "\"session\"".to_owned()),
        ("storage", "\"local\"".to_owned()),
    ];
    section(&mut text, "\t", &format!("user \"{}\"", console_user.name), &console);
    text.push_str("}\n");
    Ok(text)
}

fn section(text: &mut String, indent: &str, name: &str, lines: &[(&str, String)]) {
    if indent.is_empty() {
        text.push('\n');
    }
    writeln!(text, "{indent}{name} {{").expect("writing to a String cannot fail");
    for (name, value) in lines {
        writeln!(text, "{indent}\t{name} {value}").expect("writing to a String cannot fail");
    }
    writeln!(text, "{indent}}}").expect("writing to a String cannot fail");
}

/// Formats a value in Odyssey's syntax: numbers, `yes` and `no` bare, other text quoted.
fn format_value(value: &str) -> String {
    let bare = matches!(value, "yes" | "no")
        || value.starts_with('"')
        || (!value.is_empty() && value.bytes().all(|it| it.is_ascii_digit()));
    if bare { value.to_owned() } else { format!("\"{value}\"") }
}

static PROBES: [&Probe; 5] = [&POOLS, &STATS, &SERVERS, &CLIENTS, &DATABASES];

static TABLES: ConsoleTables = ConsoleTables {
    prefix: "odyssey_",
    columns: &[
        ("cl_active", series::POOL_CLIENTS_ACTIVE),
        ("sv_active", series::POOL_SERVERS_ACTIVE),
        ("sv_idle", series::POOL_SERVERS_IDLE),
        ("total_xact_count", series::POOL_TRANSACTIONS),
        ("total_xact_time", series::POOL_TRANSACTION_TIME),
        ("total_wait_time", series::POOL_WAIT_TIME),
        ("total_server_assignment_count", series::POOL_ASSIGNMENTS),
    ],
    // Skip the rows of the console, and the sums over all databases.
    skip: &[CONSOLE_DATABASE, "aggregated", ""],
};

/// Clients and server connections of each pool. `cl_active` are clients with a server connection.
static POOLS: Probe = Probe {
    name: "odyssey_pools",
    target: ProbeTarget::Product(&product::ODYSSEY),
    period: SECOND,
    series: &POOL_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW POOLS")),
    read: |answer, out| TABLES.read(&["database", "user"], &POOL_SERIES, answer, out),
};

static POOL_SERIES: [Series; 7] = [
    normalised::POOL_CLIENTS_ACTIVE,
    gauge(
        "odyssey_cl_waiting",
        Unit::Count,
        "Clients without a server connection, including idle ones, so not a queue length; SHOW POOLS",
    ),
    normalised::POOL_SERVERS_ACTIVE,
    normalised::POOL_SERVERS_IDLE,
    gauge("odyssey_sv_used", Unit::Count, "As pgbouncer_sv_used; SHOW POOLS"),
    gauge("odyssey_sv_tested", Unit::Count, "As pgbouncer_sv_tested; SHOW POOLS"),
    gauge("odyssey_sv_login", Unit::Count, "As pgbouncer_sv_login; SHOW POOLS"),
];

/// Total counts since Odyssey started.
static STATS: Probe = Probe {
    name: "odyssey_stats",
    target: ProbeTarget::Product(&product::ODYSSEY),
    period: SECOND,
    series: &STATS_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW STATS")),
    read: |answer, out| TABLES.read(&["database"], &STATS_SERIES, answer, out),
};

/// Series of `STATS`. Odyssey 1.5 never counts `total_sent`, so it is excluded. Databases of the same name share a row.
static STATS_SERIES: [Series; 7] = [
    normalised::POOL_TRANSACTIONS,
    counter("odyssey_total_query_count", Unit::Count, "Queries; SHOW STATS"),
    normalised::POOL_ASSIGNMENTS,
    counter("odyssey_total_received", Unit::Bytes, "Bytes received from clients; SHOW STATS"),
    normalised::POOL_TRANSACTION_TIME,
    counter("odyssey_total_query_time", Unit::Seconds, "Time spent in queries; SHOW STATS"),
    normalised::POOL_WAIT_TIME,
];

static SERVERS: Probe = Probe {
    name: "odyssey_servers",
    target: ProbeTarget::Product(&product::ODYSSEY),
    period: SECOND,
    series: &SERVER_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW SERVERS")),
    read: |answer, out| TABLES.count_states(&SERVER_SERIES[0], answer, out),
};

static SERVER_SERIES: [Series; 1] =
    [gauge("odyssey_servers", Unit::Count, "Server connections by database, user and state; SHOW SERVERS")];

static CLIENTS: Probe = Probe {
    name: "odyssey_clients",
    target: ProbeTarget::Product(&product::ODYSSEY),
    period: SECOND,
    series: &CLIENT_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW CLIENTS")),
    read: |answer, out| TABLES.count_states(&CLIENT_SERIES[0], answer, out),
};

static CLIENT_SERIES: [Series; 1] =
    [gauge("odyssey_clients", Unit::Count, "Client connections by database, user and state; SHOW CLIENTS")];

static DATABASES: Probe = Probe {
    name: "odyssey_databases",
    target: ProbeTarget::Product(&product::ODYSSEY),
    period: SECOND,
    series: &DATABASE_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW DATABASES")),
    read: |answer, out| TABLES.read(&["name"], &DATABASE_SERIES, answer, out),
};

/// Series of the databases. The pool size is not normalised, because the console lists only databases that clients have
/// used.
static DATABASE_SERIES: [Series; 2] = [
    gauge("odyssey_pool_size", Unit::Count, "Maximum number of server connections of a pool; SHOW DATABASES"),
    gauge("odyssey_current_connections", Unit::Count, "Client connections of the database; SHOW DATABASES"),
];

/// Parses lines of `log_format "%p %t %l [%i %s] (%c) %m\n"`: the level is among the first words.
fn parse_log_line(line: &str) -> Option<LogRecord> {
    let mut rest = line;
    for _ in 0..8 {
        let (word, more) = rest.trim_start().split_once(' ')?;
        rest = more;
        let text = || {
            // The names of client and server, and Odyssey's context, are in brackets.
            let text = rest.trim_start();
            let text = text.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(text, |it| it.1);
            text.strip_prefix('(').and_then(|it| it.split_once(") ")).map_or(text, |it| it.1)
        };
        let about_itself = ["starting", "listening", "SIG", "stop", "shut", "restart", "reload"];
        let kind = match word {
            "fatal" => kind_from_text(rest).unwrap_or(EventKind::Fatal),
            "error" => kind_from_text(rest).unwrap_or(EventKind::Error),
            "warn" | "warning" => kind_from_text(rest).unwrap_or(EventKind::Other),
            "info" if about_itself.iter().any(|it| text().starts_with(it)) => EventKind::Lifecycle,
            "info" | "debug" => return None,
            _ => continue,
        };
        return Some(LogRecord::new(kind, text()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_parser::check_log_line;

    #[test]
    fn parses_log_lines() {
        let check = |line: &str, expected: &str| check_log_line(parse_log_line, line, expected);
        check(
            "4711 21 Nov 11:49:02.123 info [none none] (init) starting Odyssey",
            "Lifecycle starting Odyssey",
        );
        check("4711 21 Nov 11:49:02.123 info [none none] (stats) clients 20", "-");
        check(
            "4711 21 Nov 11:49:02.123 error [c1 none] (startup) failed to read startup message",
            "Error failed to read startup message",
        );
        check(
            "4711 21 Nov 11:49:02.123 error [c1 s2] (auth) FATAL 53300 sorry, too many clients already",
            "TooManyConnections FATAL 53300 sorry, too many clients already",
        );
        check("", "-");
    }
}
