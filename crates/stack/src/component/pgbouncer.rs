//! PgBouncer component

use super::program::ProgramInfo;
use super::{Component, EndpointTls, LaunchSpec, NodeContext, host_and_port, with_settings};
use crate::client::Address;
use crate::supervisor::{Sig, StopStep};
use model::plan::{NodeKind, PgBouncer, PoolMode, Transport};
use std::fmt::Write as _;
use std::time::Duration;

#[derive(Debug)]
pub struct PgBouncerComponent;

static NAMES: ProgramInfo = ProgramInfo {
    name: "PgBouncer",
    program: "pgbouncer",
    version_argument: "--version",
    env_var: "PGDYNO_PGBOUNCER",
    install_hint: "./x setup, or apt-get install pgbouncer",
};

/// Oldest version that is known to work.
const OLDEST_VERSION: (u32, u32) = (1, 18);
/// First version whose prepared statements survive a change of the server connection; 1.18 rejects the setting.
const PREPARED_STATEMENTS_VERSION: (u32, u32) = (1, 21);
/// First version in which SIGTERM waits for all clients to leave and SIGQUIT ends at once. Before, SIGTERM ended at
/// once.
const TERM_WAITS_VERSION: (u32, u32) = (1, 23);

impl Component for PgBouncerComponent {
    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn handles(&self, kind: &NodeKind) -> bool {
        matches!(kind, NodeKind::PgBouncer(_))
    }

    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, String> {
        let NodeKind::PgBouncer(wanted) = &given.node.kind else { unreachable!("the table gives us ours") };
        if given.version < OLDEST_VERSION {
            return Err(format!("PgBouncer {}.{} is older than 1.18", given.version.0, given.version.1));
        }
        let prepared = wanted.settings.iter().any(|it| it.0 == "max_prepared_statements");
        if prepared && given.version < PREPARED_STATEMENTS_VERSION {
            return Err("max_prepared_statements needs PgBouncer 1.21".to_owned());
        }
        let name = &given.node.name;
        let userlist = format!("{name}.users");
        let users = [&given.users.app, &given.users.console];
        let quoted = |text: &str| text.replace('"', "\"\"");
        let list =
            users.map(|it| format!("\"{}\" \"{}\"\n", quoted(&it.name), quoted(it.pooler_secret()))).concat();
        let configuration = configuration(wanted, given, &given.files.join(&userlist).display().to_string())?;
        let file = format!("{name}.ini");
        Ok(LaunchSpec {
            arguments: vec![given.files.join(&file).display().to_string()],
            files: vec![(file, configuration), (userlist, list)],
            environment: Vec::new(),
            secrets: Vec::new(),
            stop: vec![StopStep {
                signal: if given.version < TERM_WAITS_VERSION { Sig::Term } else { Sig::Quit },
                patience: Duration::from_secs(5),
            }],
            orphaned: Sig::Kill,
            console: Some("pgbouncer"),
            statistics: None,
        })
    }
}

fn configuration(wanted: &PgBouncer, given: &NodeContext<'_>, userlist: &str) -> Result<String, String> {
    let behind = given.upstream.ok_or("there is nothing behind it")?;
    let (host, port) = host_and_port(&behind.address);
    let mut ours = Vec::new();
    match given.address {
        Address::Tcp(it) => {
            ours.push(("listen_addr", it.ip().to_string()));
            ours.push(("listen_port", it.port().to_string()));
            // With a socket too, it would continue if the port is taken.
            ours.push(("unix_socket_dir", String::new()));
        }
        Address::Unix(_) => {
            let (directory, port) = host_and_port(given.address);
            ours.push(("listen_addr", String::new()));
            ours.push(("listen_port", port));
            ours.push(("unix_socket_dir", directory));
            ours.push(("unix_socket_mode", "0700".to_owned()));
        }
    }
    ours.push(("auth_type", "scram-sha-256".to_owned()));
    ours.push(("auth_file", userlist.to_owned()));
    ours.push(("admin_users", given.users.console.name.clone()));
    ours.push(("pool_mode", pool_mode_name(wanted.mode).to_owned()));
    ours.push(("default_pool_size", wanted.size.to_string()));
    ours.push(("max_client_conn", wanted.max_client_conn.to_string()));
    if given.version >= PREPARED_STATEMENTS_VERSION {
        // The default since 1.24; in 1.21 to 1.23 the default is off.
        ours.push(("max_prepared_statements", "200".to_owned()));
    }
    ours.push(("ignore_startup_parameters", "extra_float_digits".to_owned()));
    // pgdyno queries the statistics. Log lines per connection would cost more than the queries of some experiments.
    ours.push(("log_stats", "0".to_owned()));
    ours.push(("log_connections", "0".to_owned()));
    ours.push(("log_disconnections", "0".to_owned()));
    match given.node.transport {
        Transport::Tls => {
            let tls = given.tls.ok_or("there is no certificate for it")?;
            ours.push(("client_tls_sslmode", "require".to_owned()));
            ours.push(("client_tls_cert_file", tls.certificate.display().to_string()));
            ours.push(("client_tls_key_file", tls.key.display().to_string()));
        }
        Transport::Tcp | Transport::Unix => ours.push(("client_tls_sslmode", "disable".to_owned())),
    }
    match &behind.tls {
        EndpointTls::Off => ours.push(("server_tls_sslmode", "disable".to_owned())),
        EndpointTls::Unchecked => ours.push(("server_tls_sslmode", "require".to_owned())),
        EndpointTls::Checked { root } => {
            ours.push(("server_tls_sslmode", "verify-full".to_owned()));
            ours.push(("server_tls_ca_file", root.display().to_string()));
        }
    }
    let mut text = format!("; Written by pgdyno.\n[databases]\n* = host={host} port={port}\n\n[pgbouncer]\n");
    for (name, value) in with_settings(ours, &wanted.settings) {
        writeln!(text, "{}", format!("{name} = {value}").trim_end()).expect("strings grow");
    }
    Ok(text)
}

fn pool_mode_name(it: PoolMode) -> &'static str {
    match it {
        PoolMode::Session => "session",
        PoolMode::Transaction => "transaction",
        PoolMode::Statement => "statement",
    }
}
