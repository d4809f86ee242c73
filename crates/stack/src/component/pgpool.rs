//! Pgpool-II: configuration, console and log format
//!
//! Pgpool-II has one process per client. The process keeps its server connection for the next client. Clients that find
//! no idle process wait in the listen queue, which Pgpool-II does not report. The console is a session of the
//! application, because Pgpool-II answers `SHOW POOL_…` statements in any session. The console occupies a process.

use super::program::ProgramInfo;
use super::{
    Component, Console, EndpointTls, InvalidNode, LaunchSpec, NodeContext, host_and_port, with_settings,
};
use crate::client::{Address, QueryResult};
use crate::log_parser::{LogFormat, LogRecord, kind_from_text, mask_values};
use crate::probe::cells::ColumnMapping;
use crate::probe::{
    Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, counter, gauge, normalised,
};
use crate::supervisor::{Sig, StopStep};
use model::message;
use model::plan::{NodeKind, Pooler, Transport};
use model::product::{self, Product};
use model::{EventKind, Series, Unit};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

#[derive(Debug)]
pub struct PgpoolComponent;

static NAMES: ProgramInfo = ProgramInfo {
    name: "Pgpool-II",
    program: "pgpool",
    package: Some("pgpool2"),
    version_argument: "--version",
    env_var: "PGDYNO_PGPOOL",
    install_hint: || message!("install-package", package = "pgpool2"),
};

/// First version in which the setting for the socket directory is `unix_socket_directories`; in earlier versions, it is
/// `socket_dir`.
const SOCKET_DIRECTORIES_VERSION: (u32, u32) = (4, 4);

impl Component for PgpoolComponent {
    fn product(&self) -> &'static Product {
        &product::PGPOOL
    }

    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, InvalidNode> {
        let NodeKind::Pooler(pooler) = &given.node.kind else {
            unreachable!("the product table selects the component of the node")
        };
        super::check_version(self.product(), given.version)?;
        let name = &given.node.name;
        let [main, access, passwords] = ["conf", "hba", "passwords"].map(|it| format!("{name}.{it}"));
        let path = |file: &str| given.files.join(file).display().to_string();
        let app = &given.users.app;
        // Pgpool-II needs the password itself to log in to the server.
        let password = format!("{}:TEXT{}\n", app.name, app.password.reveal());
        // `-n`: in the foreground. `-D`: forget which servers were down. The file of `-F` need not exist.
        let arguments = ["-n", "-D", "-f", &path(&main), "-a", &path(&access), "-F", &path("pcp.conf")];
        Ok(LaunchSpec {
            arguments: arguments.map(str::to_owned).to_vec(),
            files: vec![
                (main, configuration(pooler, given, &path(&passwords))?),
                (access, access_rule(given)),
                (passwords, password),
            ],
            environment: Vec::new(),
            secrets: Vec::new(),
            // SIGTERM waits until the last client has disconnected. SIGKILL would leave Pgpool-II's shared memory
            // behind.
            stop: vec![StopStep { signal: Sig::Int, timeout: Duration::from_secs(5) }],
            orphaned: Sig::Quit,
            console: Some(Console::Application),
            statistics: None,
        })
    }

    fn log_format(&self) -> LogFormat {
        LogFormat::Lines(parse_log_line)
    }

    fn probes(&self) -> &'static [&'static Probe] {
        &PROBES
    }

    fn version_query(&self) -> &'static str {
        "SHOW POOL_VERSION"
    }
}

fn configuration(pooler: &Pooler, given: &NodeContext<'_>, passwords: &str) -> Result<String, InvalidNode> {
    let behind = given.upstream.ok_or(InvalidNode::NoUpstream)?;
    let (host, port) = host_and_port(&behind.address);
    let home = given.home.display().to_string();
    let (listen, directory, own_port) = match given.address {
        Address::Tcp(it) => (it.ip().to_string(), home.clone(), it.port().to_string()),
        Address::Unix(_) => {
            let (directory, port) = host_and_port(given.address);
            (String::new(), directory, port)
        }
    };
    let socket_key = match given.version < SOCKET_DIRECTORIES_VERSION {
        true => "socket_dir",
        false => "unix_socket_directories",
    };
    let processes = pooler.size + console_processes();
    let mut defaults = vec![
        ("backend_clustering_mode", "raw".to_owned()),
        ("listen_addresses", listen),
        ("port", own_port),
        (socket_key, directory),
        ("pcp_listen_addresses", String::new()),
        ("pcp_socket_dir", home.clone()),
        ("pid_file_name", format!("{home}/{}.pid", given.node.name)),
        ("logdir", home.clone()),
        ("work_dir", home),
        ("backend_hostname0", host),
        ("backend_port0", port),
        ("enable_pool_hba", "on".to_owned()),
        ("pool_passwd", passwords.to_owned()),
        ("num_init_children", processes.to_string()),
        ("max_pool", "1".to_owned()),
        // Length of the listen queue, in multiples of the number of processes.
        ("listen_backlog_multiplier", pooler.max_client_conn.div_ceil(processes).max(1).to_string()),
        ("log_line_prefix", "%m [%p] ".to_owned()),
        // With failover, Pgpool-II would not use the server after an error until an administrator attaches it again.
        ("failover_on_backend_error", "off".to_owned()),
        // The cache of query results is off; its memory is allocated nevertheless.
        ("memory_cache_enabled", "off".to_owned()),
        ("enable_shared_relcache", "off".to_owned()),
        ("memqcache_total_size", "1MB".to_owned()),
        ("memqcache_max_num_cache", "1".to_owned()),
    ];
    // `ssl` applies to connections of clients and to connections to the server. Without a certificate, it protects only
    // the latter.
    if given.node.transport == Transport::Tls || behind.tls != EndpointTls::Off {
        defaults.push(("ssl", "on".to_owned()));
    }
    if given.node.transport == Transport::Tls {
        let tls = given.tls.ok_or(InvalidNode::NoCertificate)?;
        defaults.push(("ssl_cert", tls.certificate.display().to_string()));
        defaults.push(("ssl_key", tls.key.display().to_string()));
    }
    if let EndpointTls::Checked { root } = &behind.tls {
        defaults.push(("ssl_ca_cert", root.display().to_string()));
    }
    let mut text = "# Written by pgdyno.\n".to_owned();
    for (name, value) in with_settings(defaults, &pooler.settings) {
        writeln!(text, "{name} = '{}'", value.replace('\'', "''")).expect("writing to a String cannot fail");
    }
    Ok(text)
}

/// Number of processes reserved for console sessions.
fn console_processes() -> u32 {
    product::PGPOOL.pooler.as_ref().map_or(0, |it| it.console_connections)
}

/// Access rule for the only kind of connection that clients may use.
fn access_rule(given: &NodeContext<'_>) -> String {
    let method = "scram-sha-256";
    match given.node.transport {
        Transport::Unix => format!("local all all {method}\n"),
        Transport::Tcp => format!("hostnossl all all 127.0.0.1/32 {method}\n"),
        Transport::Tls => format!("hostssl all all 127.0.0.1/32 {method}\n"),
    }
}

static PROBES: [&Probe; 5] = [&PROCESSES, &POOLS, &NODES, &STATEMENTS, &HEALTH_CHECKS];
/// Interval of probes whose values change rarely.
const RARELY: Duration = Duration::from_secs(5);

/// State of each process.
static PROCESSES: Probe = Probe {
    name: "pgpool_processes",
    target: ProbeTarget::Product(&product::PGPOOL),
    period: SECOND,
    series: &PROCESS_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW POOL_PROCESSES")),
    read: read_processes,
};

static PROCESS_SERIES: [Series; 4] = [
    normalised::POOL_SIZE,
    normalised::POOL_CLIENTS_ACTIVE,
    normalised::POOL_SERVERS_ACTIVE,
    gauge(
        "pgpool_processes",
        Unit::Count,
        "Processes by status, including the console's; SHOW POOL_PROCESSES",
    ),
];

/// Reads the processes that make up the pool: all but the console's. A process with a client has a server connection in
/// use.
fn read_processes(answer: &ProbeResponse, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let statuses = column(answer, "status")?;
    let mut by_status: BTreeMap<&str, u32> = BTreeMap::new();
    for status in &statuses {
        *by_status.entry(status).or_default() += 1;
    }
    let without_console = |count: usize| (count as u32).saturating_sub(console_processes());
    let lent = without_console(statuses.iter().filter(|it| **it != "Wait for connection").count());
    let pool = [without_console(statuses.len()), lent, lent].map(|it| ("", it));
    let values = pool.into_iter().chain(by_status);
    let series = PROCESS_SERIES.iter().chain(std::iter::repeat(&PROCESS_SERIES[3]));
    out.extend(values.zip(series).map(|((label, value), series)| {
        let (label, value) = (label.to_owned(), f64::from(value));
        Reading { series, label, value }
    }));
    Ok(())
}

/// Server connections that the processes keep.
static POOLS: Probe = Probe {
    name: "pgpool_pools",
    target: ProbeTarget::Product(&product::PGPOOL),
    period: SECOND,
    series: &POOL_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW POOL_POOLS")),
    read: |answer, out| {
        // Count connections that are open and have no client.
        let (databases, connected) = (column(answer, "database")?, column(answer, "pool_connected")?);
        let idle = databases.iter().zip(connected).filter(|it| !it.0.is_empty() && it.1 == "0").count();
        out.push(Reading { series: &POOL_SERIES[0], label: String::new(), value: idle as f64 });
        Ok(())
    },
};

static POOL_SERIES: [Series; 1] = [normalised::POOL_SERVERS_IDLE];

/// Returns the cells of a column; empty text for NULL.
fn column<'a>(answer: &'a ProbeResponse, name: &'static str) -> Result<Vec<&'a str>, ReadError> {
    let answer = answer.rows()?;
    let missing = ReadError { line: 0, expected: name };
    let at = answer.columns.iter().position(|it| it == name).ok_or(missing)?;
    let cell = |row: &'a Vec<Option<String>>| row.get(at).and_then(Option::as_deref).unwrap_or("").trim();
    Ok(answer.rows.iter().map(cell).collect())
}

/// Servers behind Pgpool-II.
static NODES: Probe = Probe {
    name: "pgpool_nodes",
    target: ProbeTarget::Product(&product::PGPOOL),
    period: RARELY,
    series: &NODE_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW POOL_NODES")),
    read: |answer, out| {
        let mut rows = answer.rows()?.clone();
        // Adds a numeric column for the status: `up`, `down`, `waiting`, `unused`, `quarantine`.
        if let Some(at) = rows.columns.iter().position(|it| it == "status") {
            rows.columns.push("up".to_owned());
            for row in &mut rows.rows {
                let is_up = row.get(at).cloned().flatten().map(|it| u8::from(it == "up").to_string());
                row.push(is_up);
            }
        }
        read_by_node(&NODE_SERIES, &rows, out)
    },
};

static NODE_SERIES: [Series; 2] = [
    gauge("pgpool_up", Unit::Count, "1 while Pgpool-II uses the server; SHOW POOL_NODES, status"),
    gauge("pgpool_replication_delay", Unit::Bytes, "WAL that the replica has not replayed; SHOW POOL_NODES"),
];

/// Statements since Pgpool-II started, for each server.
static STATEMENTS: Probe = Probe {
    name: "pgpool_statements",
    target: ProbeTarget::Product(&product::PGPOOL),
    period: SECOND,
    series: &STATEMENT_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW POOL_BACKEND_STATS")),
    read: |answer, out| read_by_node(&STATEMENT_SERIES, answer.rows()?, out),
};

static STATEMENT_SERIES: [Series; 8] = [
    counter("pgpool_select_cnt", Unit::Count, "SELECT statements; SHOW POOL_BACKEND_STATS"),
    counter("pgpool_insert_cnt", Unit::Count, "INSERT statements; SHOW POOL_BACKEND_STATS"),
    counter("pgpool_update_cnt", Unit::Count, "UPDATE statements; SHOW POOL_BACKEND_STATS"),
    counter("pgpool_delete_cnt", Unit::Count, "DELETE statements; SHOW POOL_BACKEND_STATS"),
    counter("pgpool_ddl_cnt", Unit::Count, "DDL statements; SHOW POOL_BACKEND_STATS"),
    counter("pgpool_other_cnt", Unit::Count, "Other statements; SHOW POOL_BACKEND_STATS"),
    counter("pgpool_fatal_cnt", Unit::Count, "FATAL messages from the server; SHOW POOL_BACKEND_STATS"),
    counter("pgpool_error_cnt", Unit::Count, "ERROR messages from the server; SHOW POOL_BACKEND_STATS"),
];

/// Health checks since Pgpool-II started, for each server. There are none unless a setting enables them.
static HEALTH_CHECKS: Probe = Probe {
    name: "pgpool_health_checks",
    target: ProbeTarget::Product(&product::PGPOOL),
    period: RARELY,
    series: &HEALTH_CHECK_SERIES,
    request: |_| Some(ProbeRequest::Console("SHOW POOL_HEALTH_CHECK_STATS")),
    read: |answer, out| read_by_node(&HEALTH_CHECK_SERIES, answer.rows()?, out),
};

static HEALTH_CHECK_SERIES: [Series; 3] = [
    counter("pgpool_health_checks", Unit::Count, "Health checks; SHOW POOL_HEALTH_CHECK_STATS"),
    counter(
        "pgpool_health_check_failures",
        Unit::Count,
        "Failed health checks; SHOW POOL_HEALTH_CHECK_STATS",
    ),
    counter("pgpool_health_check_retries", Unit::Count, "Health check retries; SHOW POOL_HEALTH_CHECK_STATS"),
];

fn read_by_node(
    series: &'static [Series],
    rows: &QueryResult,
    out: &mut Vec<Reading>,
) -> Result<(), ReadError> {
    let columns = &[
        ("total_count", "pgpool_health_checks"),
        ("fail_count", "pgpool_health_check_failures"),
        ("retry_count", "pgpool_health_check_retries"),
    ];
    let (prefix, labels) = ("pgpool_", &["node_id"]);
    ColumnMapping { prefix, labels, columns, ..ColumnMapping::new(series) }.read(rows, out)
}

/// Parses `2026-11-21 11:49:02.123 [4711] LEVEL: text`. Lines before the configuration is read have the prefix
/// `2026-11-21 11:49:02.123: main pid 4711: `. Texts that may quote a statement are masked.
fn parse_log_line(line: &str) -> Option<LogRecord> {
    let (head, text) = line.split_once(":  ").or_else(|| line.split_once(": "))?;
    let level = head.rsplit([' ', ':']).next()?;
    // Pgpool-II forwards a server's message to the client: `… statement: "…" message: "…"`.
    let passed_on = text.contains("Error or notice message from backend");
    let text =
        if passed_on { text.rsplit_once("message: ").map_or("", |it| it.1.trim_matches('"')) } else { text };
    let about_itself = [
        "successfully started",
        "shutting down",
        "system is shutdown",
        "reload config files",
        "exits with status",
        "failover",
        "failback",
    ];
    let rejected = ["too many clients already", "Sorry, too many"].iter().any(|it| text.contains(it));
    let rejected = rejected.then_some(EventKind::TooManyConnections).or(kind_from_text(text));
    let kind = match level {
        "FATAL" | "PANIC" => rejected.unwrap_or(EventKind::Fatal),
        "ERROR" => rejected.unwrap_or(EventKind::Error),
        "WARNING" => rejected.unwrap_or(EventKind::Other),
        "LOG" if passed_on => rejected.unwrap_or(EventKind::Error),
        "LOG" if about_itself.iter().any(|it| text.contains(it)) => EventKind::Lifecycle,
        _ => return None,
    };
    let is_own = kind == EventKind::Lifecycle;
    Some(LogRecord::new(kind, &if is_own { text.to_owned() } else { mask_values(&text.replace('"', "'")) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_parser::check_log_line;

    #[test]
    fn parses_log_lines() {
        let check = |line: &str, expected: &str| {
            check_log_line(parse_log_line, &format!("2026-11-23 03:26:20.179 [5214] {line}"), expected);
        };
        check(
            "LOG:  pgpool-II successfully started. version 4.3.5 (tamahomeboshi)",
            "Lifecycle pgpool-II successfully started. version 4.3.5 (tamahomeboshi)",
        );
        check("LOG:  shutting down by signal 2", "Lifecycle shutting down by signal 2");
        check("LOG:  Setting up socket for 127.0.0.1:54878", "-");
        check("DETAIL:  memcache blocks :1", "-");
        check(
            "LOG:  child process with pid: 5217 exits with status 512",
            "Lifecycle child process with pid: 5217 exits with status 512",
        );
        check(
            "LOG:  pool_send_and_wait: Error or notice message from backend: : DB node id: 0 backend pid: 5269 \
             statement: \"insert into t values ('secret')\" message: \"division by zero\"",
            "Error division by zero",
        );
        check("FATAL:  SCRAM authentication failed", "Fatal SCRAM authentication failed");
        check("ERROR:  authentication failed", "Error authentication failed");
        check(
            "FATAL:  Sorry, too many clients already",
            "TooManyConnections Sorry, too many clients already",
        );
        check(
            "LOG:  pool_send_and_wait: Error or notice message from backend: : DB node id: 0 backend pid: 1 \
             statement: \"update\" message: \"deadlock detected\"",
            "Deadlock deadlock detected",
        );
        check(
            "WARNING:  write on backend 0 failed with error :\"Broken pipe\"",
            "Other write on backend ? failed with error :?",
        );
        check_log_line(
            parse_log_line,
            "2026-11-23 03:25:50.789: main pid 3211: FATAL:  1 is outside the valid range for parameter \"pcp_port\"",
            "Fatal ? is outside the valid range for parameter ?",
        );
        check_log_line(parse_log_line, "", "-");
    }
}
