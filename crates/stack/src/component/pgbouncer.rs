//! PgBouncer: configuration, console and log format

use super::program::ProgramInfo;
use super::{
    Component, Console, EndpointTls, InvalidNode, LaunchSpec, NodeContext, host_and_port, with_settings,
};
use crate::client::Address;
use crate::log_parser::{LogFormat, LogRecord, kind_from_text};
use crate::probe::console::ConsoleTables;
use crate::probe::{Probe, ProbeRequest, ProbeTarget, SECOND, counter, gauge, normalised};
use crate::supervisor::{Sig, StopStep};
use model::message;
use model::plan::{NodeKind, Pooler, Transport};
use model::product::{self, Product};
use model::{EventKind, Series, Unit, series};
use std::fmt::Write as _;
use std::time::Duration;

#[derive(Debug)]
pub struct PgBouncerComponent;

static NAMES: ProgramInfo = ProgramInfo {
    name: "PgBouncer",
    program: "pgbouncer",
    package: Some("pgbouncer"),
    version_argument: "--version",
    env_var: "PGDYNO_PGBOUNCER",
    install_hint: || message!("install-package", package = "pgbouncer"),
};

/// Name of the database that gives access to the console.
const CONSOLE_DATABASE: &str = "pgbouncer";
/// First version whose prepared statements still work after the server connection has changed. PgBouncer 1.18 does not
/// know the setting for this.
const PREPARED_STATEMENTS_VERSION: (u32, u32) = (1, 21);
/// First version in which SIGTERM waits until all clients have disconnected, and SIGQUIT stops PgBouncer at once. In
/// earlier versions, SIGTERM stops PgBouncer at once.
const TERM_WAITS_VERSION: (u32, u32) = (1, 23);

impl Component for PgBouncerComponent {
    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn product(&self) -> &'static Product {
        &product::PGBOUNCER
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
        super::check_version(self.product(), given.version)?;
        let prepared = pooler.settings.iter().any(|it| it.0 == "max_prepared_statements");
        if prepared && given.version < PREPARED_STATEMENTS_VERSION {
            return Err(InvalidNode::UnknownSetting {
                product: self.product(),
                setting: "max_prepared_statements",
                since: PREPARED_STATEMENTS_VERSION,
            });
        }
        let name = &given.node.name;
        let userlist = format!("{name}.users");
        let users = [&given.users.app, &given.users.console];
        let quoted = |text: &str| text.replace('"', "\"\"");
        let list =
            users.map(|it| format!("\"{}\" \"{}\"\n", quoted(&it.name), quoted(it.pooler_secret()))).concat();
        let configuration = configuration(pooler, given, &given.files.join(&userlist).display().to_string())?;
        let file = format!("{name}.ini");
        Ok(LaunchSpec {
            arguments: vec![given.files.join(&file).display().to_string()],
            files: vec![(file, configuration), (userlist, list)],
            environment: Vec::new(),
            secrets: Vec::new(),
            stop: vec![StopStep {
                signal: if given.version < TERM_WAITS_VERSION { Sig::Term } else { Sig::Quit },
                timeout: Duration::from_secs(5),
            }],
            orphaned: Sig::Kill,
            console: Some(Console::Database(CONSOLE_DATABASE)),
            statistics: None,
        })
    }
}

fn configuration(pooler: &Pooler, given: &NodeContext<'_>, userlist: &str) -> Result<String, InvalidNode> {
    let behind = given.upstream.ok_or(InvalidNode::NoUpstream)?;
    let (host, port) = host_and_port(&behind.address);
    let mut defaults = Vec::new();
    match given.address {
        Address::Tcp(address) => {
            defaults.push(("listen_addr", address.ip().to_string()));
            defaults.push(("listen_port", address.port().to_string()));
            // If PgBouncer also had a Unix socket, it would start even if the TCP port is in use.
            defaults.push(("unix_socket_dir", String::new()));
        }
        Address::Unix(_) => {
            let (directory, port) = host_and_port(given.address);
            defaults.push(("listen_addr", String::new()));
            defaults.push(("listen_port", port));
            defaults.push(("unix_socket_dir", directory));
            defaults.push(("unix_socket_mode", "0700".to_owned()));
        }
    }
    defaults.push(("auth_type", "scram-sha-256".to_owned()));
    defaults.push(("auth_file", userlist.to_owned()));
    defaults.push(("admin_users", given.users.console.name.clone()));
    defaults.push(("pool_mode", pooler.mode.key().to_owned()));
    defaults.push(("default_pool_size", pooler.size.to_string()));
    defaults.push(("max_client_conn", pooler.max_client_conn.to_string()));
    if given.version >= PREPARED_STATEMENTS_VERSION {
        // The default is 200 from version 1.24 on; in 1.21 to 1.23 the default is off.
        defaults.push(("max_prepared_statements", "200".to_owned()));
    }
    defaults.push(("ignore_startup_parameters", "extra_float_digits".to_owned()));
    // pgdyno queries the statistics. In some experiments, a log line per connection would cost more than the queries.
    defaults.push(("log_stats", "0".to_owned()));
    defaults.push(("log_connections", "0".to_owned()));
    defaults.push(("log_disconnections", "0".to_owned()));
    match given.node.transport {
        Transport::Tls => {
            let tls = given.tls.ok_or(InvalidNode::NoCertificate)?;
            defaults.push(("client_tls_sslmode", "require".to_owned()));
            defaults.push(("client_tls_cert_file", tls.certificate.display().to_string()));
            defaults.push(("client_tls_key_file", tls.key.display().to_string()));
        }
        Transport::Tcp | Transport::Unix => defaults.push(("client_tls_sslmode", "disable".to_owned())),
    }
    match &behind.tls {
        EndpointTls::Off => defaults.push(("server_tls_sslmode", "disable".to_owned())),
        EndpointTls::Unchecked => defaults.push(("server_tls_sslmode", "require".to_owned())),
        EndpointTls::Checked { root } => {
            defaults.push(("server_tls_sslmode", "verify-full".to_owned()));
            defaults.push(("server_tls_ca_file", root.display().to_string()));
        }
    }
    let mut text = format!("; Written by pgdyno.\n[databases]\n* = host={host} port={port}\n\n[pgbouncer]\n");
    for (name, value) in with_settings(defaults, &pooler.settings) {
        writeln!(text, "{}", format!("{name} = {value}").trim_end())
            .expect("writing to a String cannot fail");
    }
    Ok(text)
}

static PROBES: [&Probe; 5] = [&POOLS, &STATS, &SERVERS, &CLIENTS, &DATABASES];

static TABLES: ConsoleTables = ConsoleTables {
    prefix: "pgbouncer_",
    columns: &[
        ("pool_size", series::POOL_SIZE),
        ("reserve_pool", series::POOL_RESERVE),
        ("reserve_pool_size", series::POOL_RESERVE),
        ("current_connections", series::POOL_CONNECTIONS),
        ("paused", series::POOL_PAUSED),
        ("cl_active", series::POOL_CLIENTS_ACTIVE),
        ("cl_waiting", series::POOL_CLIENTS_WAITING),
        ("maxwait", series::POOL_LONGEST_WAIT),
        ("maxwait_us", series::POOL_LONGEST_WAIT),
        ("sv_active", series::POOL_SERVERS_ACTIVE),
        // Idle connections, and connections that are checked before they are assigned again.
        ("sv_idle", series::POOL_SERVERS_IDLE),
        ("sv_used", series::POOL_SERVERS_IDLE),
        ("total_xact_count", series::POOL_TRANSACTIONS),
        ("total_xact_time", series::POOL_TRANSACTION_TIME),
        ("total_wait_time", series::POOL_WAIT_TIME),
        ("total_server_assignment_count", series::POOL_ASSIGNMENTS),
    ],
    skip: &[CONSOLE_DATABASE],
};

/// Clients and server connections of each pool, and the longest wait. `cl_active` includes clients that are idle
/// between transactions.
static POOLS: Probe = Probe {
    name: "pgbouncer_pools",
    target: ProbeTarget::Product(&product::PGBOUNCER),
    period: SECOND,
    series: &POOL_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW POOLS")),
    read: |answer, out| TABLES.read(&["database", "user"], &POOL_SERIES, answer, out),
};

static POOL_SERIES: [Series; 8] = [
    normalised::POOL_CLIENTS_ACTIVE,
    normalised::POOL_CLIENTS_WAITING,
    normalised::POOL_SERVERS_ACTIVE,
    normalised::POOL_SERVERS_IDLE,
    gauge("pgbouncer_sv_tested", Unit::Count, "Server connections being reset or checked; SHOW POOLS"),
    gauge("pgbouncer_sv_login", Unit::Count, "Server connections that are logging in; SHOW POOLS"),
    gauge(
        "pgbouncer_cl_cancel_req",
        Unit::Count,
        "Cancel requests not yet forwarded, until 1.17; SHOW POOLS",
    ),
    normalised::POOL_LONGEST_WAIT,
];

/// Total counts since PgBouncer started.
static STATS: Probe = Probe {
    name: "pgbouncer_stats",
    target: ProbeTarget::Product(&product::PGBOUNCER),
    period: SECOND,
    series: &STATS_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW STATS")),
    read: |answer, out| TABLES.read(&["database"], &STATS_SERIES, answer, out),
};

static STATS_SERIES: [Series; 8] = [
    normalised::POOL_TRANSACTIONS,
    counter("pgbouncer_total_query_count", Unit::Count, "Queries; SHOW STATS"),
    // PgBouncer has this column from version 1.23 on.
    normalised::POOL_ASSIGNMENTS,
    counter("pgbouncer_total_received", Unit::Bytes, "Bytes received from clients; SHOW STATS"),
    counter("pgbouncer_total_sent", Unit::Bytes, "Bytes sent to clients; SHOW STATS"),
    normalised::POOL_TRANSACTION_TIME,
    counter("pgbouncer_total_query_time", Unit::Seconds, "Time spent in queries; SHOW STATS"),
    normalised::POOL_WAIT_TIME,
];

static SERVERS: Probe = Probe {
    name: "pgbouncer_servers",
    target: ProbeTarget::Product(&product::PGBOUNCER),
    period: SECOND,
    series: &SERVER_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW SERVERS")),
    read: |answer, out| TABLES.count_states(&SERVER_SERIES[0], answer, out),
};

static SERVER_SERIES: [Series; 1] =
    [gauge("pgbouncer_servers", Unit::Count, "Server connections by database, user and state; SHOW SERVERS")];

static CLIENTS: Probe = Probe {
    name: "pgbouncer_clients",
    target: ProbeTarget::Product(&product::PGBOUNCER),
    period: SECOND,
    series: &CLIENT_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW CLIENTS")),
    read: |answer, out| TABLES.count_states(&CLIENT_SERIES[0], answer, out),
};

static CLIENT_SERIES: [Series; 1] =
    [gauge("pgbouncer_clients", Unit::Count, "Client connections by database, user and state; SHOW CLIENTS")];

static DATABASES: Probe = Probe {
    name: "pgbouncer_databases",
    target: ProbeTarget::Product(&product::PGBOUNCER),
    period: SECOND,
    series: &DATABASE_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW DATABASES")),
    read: |answer, out| TABLES.read(&["name"], &DATABASE_SERIES, answer, out),
};

static DATABASE_SERIES: [Series; 5] = [
    normalised::POOL_SIZE,
    // Until 1.23, the column is reserve_pool.
    normalised::POOL_RESERVE,
    gauge(
        "pgbouncer_max_connections",
        Unit::Count,
        "Maximum number of server connections of all pools; 0 is unlimited; SHOW DATABASES",
    ),
    normalised::POOL_CONNECTIONS,
    normalised::POOL_PAUSED,
];

/// Parses `2026-11-21 11:49:02.123 UTC [4711] LEVEL text`.
fn parse_log_line(line: &str) -> Option<LogRecord> {
    let (_, rest) = line.split_once('[')?;
    let (pid, rest) = rest.split_once("] ")?;
    pid.parse::<u32>().ok()?;
    let (level, text) = rest.split_once(' ')?;
    let about_itself = [
        "process up",
        "listening on",
        "got SIG",
        "shutting down",
        "PAUSE",
        "RESUME",
        "RELOAD",
        "kill command",
    ];
    let refused = text.contains("no more connections allowed").then_some(EventKind::TooManyConnections);
    let kind = match level {
        "FATAL" => refused.or(kind_from_text(text)).unwrap_or(EventKind::Fatal),
        "ERROR" => refused.or(kind_from_text(text)).unwrap_or(EventKind::Error),
        "WARNING" if text.contains("pooler error") => {
            refused.or(kind_from_text(text)).unwrap_or(EventKind::Error)
        }
        "WARNING" => refused.or(kind_from_text(text)).unwrap_or(EventKind::Other),
        "LOG" if about_itself.iter().any(|it| text.starts_with(it)) => EventKind::Lifecycle,
        // Only failed server sessions are reported. Client sessions end for many reasons, which the clients' errors
        // describe better.
        "LOG" if text.starts_with("S-") && (text.contains("crashed") || text.contains("failed")) => {
            kind_from_text(text).unwrap_or(EventKind::Error)
        }
        _ => return None,
    };
    Some(LogRecord::new(kind, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_parser::check_log_line;

    #[test]
    fn parses_log_lines() {
        let check = |line: &str, expected: &str| {
            check_log_line(parse_log_line, &format!("2026-11-21 11:49:02.123 UTC [4711] {line}"), expected);
        };
        check(
            "LOG process up: PgBouncer 1.18.0, libevent 2.1.12-stable",
            "Lifecycle process up: PgBouncer 1.18.0, libevent 2.1.12-stable",
        );
        check("LOG stats: 0 xacts/s, 0 queries/s, in 0 B/s", "-");
        check("LOG C-0x55: bench/app@127.0.0.1:5 login attempt: db=bench user=app tls=no", "-");
        check("LOG got SIGTERM, fast exit", "Lifecycle got SIGTERM, fast exit");
        check(
            "WARNING C-0x55: bench/app@127.0.0.1:5 pooler error: query_wait_timeout",
            "Error C-0x55: bench/app@127.0.0.1:5 pooler error: query_wait_timeout",
        );
        check(
            "WARNING C-0x55: (nodb)/(nouser)@127.0.0.1:5 pooler error: no more connections allowed (max_client_conn)",
            "TooManyConnections C-0x55: (nodb)/(nouser)@127.0.0.1:5 pooler error: no more connections allowed (max_client_conn)",
        );
        check(
            "WARNING server login failed: FATAL sorry, too many clients already",
            "TooManyConnections server login failed: FATAL sorry, too many clients already",
        );
        check(
            "LOG S-0x55: bench/app@127.0.0.1:5432 closing because: server conn crashed? (age=5s)",
            "Error S-0x55: bench/app@127.0.0.1:5432 closing because: server conn crashed? (age=5s)",
        );
        check("LOG S-0x55: bench/app@127.0.0.1:5432 closing because: server idle timeout (age=5s)", "-");
        check("FATAL cannot load config file", "Fatal cannot load config file");
    }
}
