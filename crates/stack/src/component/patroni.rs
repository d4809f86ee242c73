//! Patroni component: its configuration for one of several servers

use super::program::ProgramInfo;
use model::Nanos;
use model::plan::{Patroni, SyncMode};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::path::Path;

pub static NAMES: ProgramInfo = ProgramInfo {
    name: "Patroni",
    program: "patroni",
    package: Some("patroni"),
    version_argument: "--version",
    env_var: "PGDYNO_PATRONI",
    install_hint: "./x setup, or apt-get install patroni",
};

/// The first version with `synchronous_mode: quorum`.
pub const QUORUM_VERSION: (u32, u32) = (4, 0);

/// Patroni's copy of its dynamic configuration, next to the data. It overrides a new configuration.
pub const DYNAMIC_CONFIG_FILE: &str = "patroni.dynamic.json";

/// Values of one server's Patroni configuration.
#[derive(Clone, Debug)]
pub struct PatroniContext<'a> {
    pub name: &'a str,
    pub plan: &'a Patroni,
    pub sync: SyncMode,
    /// Client addresses of etcd.
    pub etcd: &'a [SocketAddr],
    /// Address of Patroni's REST API, which reports the server's role.
    pub rest_api: SocketAddr,
    pub postgres: SocketAddr,
    pub data: &'a Path,
    pub bin: &'a Path,
    /// Directory of its Unix socket, and of the files that it writes.
    pub home: &'a Path,
    /// Lines of `postgresql.conf`.
    pub settings: &'a [(String, String)],
    /// Names and passwords.
    pub superuser: (&'a str, &'a str),
    pub replicator: (&'a str, &'a str),
}

/// The configuration as JSON, which is valid YAML.
pub fn configuration(given: &PatroniContext<'_>) -> String {
    let PatroniContext { name, plan, home, .. } = given;
    let seconds = |it: Nanos| it.as_secs_f64().round() as u64;
    let hosts: Vec<String> = given.etcd.iter().map(ToString::to_string).collect();
    let mut parameters: Map<String, Value> =
        given.settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    parameters.insert("unix_socket_directories".to_owned(), json!(home));
    let mode = match given.sync {
        SyncMode::Async => json!(false),
        SyncMode::First(_) => json!(true),
        SyncMode::Any(_) => json!("quorum"),
    };
    let login = |it: (&str, &str)| json!({ "username": it.0, "password": it.1 });
    let text = json!({
        "scope": "pgdyno",
        "namespace": "/pgdyno/",
        "name": name,
        "restapi": { "listen": given.rest_api, "connect_address": given.rest_api },
        // Etcd since 3.4 does not enable the v2 protocol.
        "etcd3": { "hosts": hosts },
        "bootstrap": { "dcs": {
            "ttl": seconds(plan.ttl),
            "loop_wait": seconds(plan.loop_wait),
            "retry_timeout": seconds(plan.retry_timeout),
            "primary_start_timeout": seconds(plan.primary_start_timeout),
            // Its name before 3.0.
            "master_start_timeout": seconds(plan.primary_start_timeout),
            "maximum_lag_on_failover": plan.maximum_lag,
            "synchronous_mode": mode,
            "synchronous_mode_strict": plan.strict && given.sync != SyncMode::Async,
            "synchronous_node_count": given.sync.count().max(1),
            "postgresql": { "use_pg_rewind": true, "use_slots": true, "parameters": parameters },
        } },
        "postgresql": {
            "listen": given.postgres,
            "connect_address": given.postgres,
            "data_dir": given.data,
            "bin_dir": given.bin,
            "pgpass": home.join(format!("{name}.patroni.pgpass")),
            "authentication": { "superuser": login(given.superuser), "replication": login(given.replicator) },
            "remove_data_directory_on_rewind_failure": true,
            "basebackup": [{ "checkpoint": "fast" }],
        },
        // Test machines usually have no watchdog device.
        "watchdog": { "mode": "off" },
    });
    format!("{text:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_sync_to_synchronous_mode() {
        let check = |sync, strict, expected: &str| {
            let plan = Patroni { strict, ..Patroni::default() };
            let given = PatroniContext {
                name: "it",
                plan: &plan,
                sync,
                etcd: &[([127, 0, 0, 1], 5000).into()],
                rest_api: ([127, 0, 0, 1], 5001).into(),
                postgres: ([127, 0, 0, 1], 5002).into(),
                data: Path::new("/home/it"),
                bin: Path::new("/bin"),
                home: Path::new("/home"),
                settings: &[("fsync".to_owned(), "on".to_owned())],
                superuser: ("postgres", "apple"),
                replicator: ("replicator", "banana"),
            };
            let text: Value = serde_json::from_str(&configuration(&given)).unwrap();
            let dcs = &text["bootstrap"]["dcs"];
            let told = ["synchronous_mode", "synchronous_mode_strict", "synchronous_node_count"];
            assert_eq!(told.map(|it| dcs[it].to_string()).join(" "), expected);
            assert_eq!(dcs["postgresql"]["parameters"]["fsync"], "on");
            assert_eq!((&dcs["ttl"], &dcs["loop_wait"]), (&json!(20), &json!(5)));
            assert_eq!(text["postgresql"]["authentication"]["replication"]["password"], "banana");
        };
        check(SyncMode::Async, true, "false false 1");
        check(SyncMode::First(2), true, "true true 2");
        check(SyncMode::First(1), false, "true false 1");
        check(SyncMode::Any(1), true, "\"quorum\" true 1");
    }
}
