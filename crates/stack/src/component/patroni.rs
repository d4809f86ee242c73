//! Patroni: a cluster manager

use super::etcd::Etcd;
use super::manager::{AskManager, ClusterManager, ConsensusStore, ManagerContext};
use super::program::ProgramInfo;
use crate::supervisor::Readiness;
use model::Nanos;
use model::message;
use model::plan::SyncMode;
use model::product::{self, Product};
use serde_json::{Map, Value, json};
use std::time::Duration;

#[derive(Debug)]
pub struct Patroni;

static NAMES: ProgramInfo = ProgramInfo {
    name: "Patroni",
    program: "patroni",
    package: Some("patroni"),
    version_argument: "--version",
    env_var: "PGDYNO_PATRONI",
    install_hint: || message!("install-package", package = "patroni"),
};

/// The first version with `synchronous_mode: quorum`.
const QUORUM_VERSION: (u32, u32) = (4, 0);

impl ClusterManager for Patroni {
    fn product(&self) -> &'static Product {
        &product::PATRONI
    }

    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn store(&self) -> Option<&'static dyn ConsensusStore> {
        Some(&Etcd)
    }

    fn oldest_version(&self, sync: SyncMode) -> Option<(u32, u32)> {
        matches!(sync, SyncMode::Any(_)).then_some(QUORUM_VERSION)
    }

    fn configuration(&self, given: &ManagerContext<'_>) -> String {
        configuration(given)
    }

    /// Name of Patroni's copy of its dynamic configuration.
    fn state_file(&self) -> &'static str {
        "patroni.dynamic.json"
    }

    /// Timeout for Patroni to stop. Patroni stops its server first, and before that it may have to complete a loop.
    fn stop_timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    fn is_leader(&self, ask: AskManager<'_>) -> Readiness<()> {
        match ask("/primary", None) {
            Ok((200, _)) => Readiness::Ready(()),
            Ok((status, _)) => Readiness::NotYet(message!(
                "patroni-answer",
                status = status.to_string(),
                text = None::<String>
            )),
            Err(error) => Readiness::NotYet((&error).into()),
        }
    }

    fn sync_standbys(&self, ask: AskManager<'_>) -> usize {
        match ask("/cluster", None) {
            // Count the members with the role `sync_standby` or `quorum_standby`.
            Ok((200, cluster)) => cluster.matches("_standby\"").count(),
            _ => 0,
        }
    }

    fn switch_over(&self, ask: AskManager<'_>, leader: &str, candidate: Option<&str>) -> Readiness<()> {
        let mut body = json!({ "leader": leader });
        if let Some(candidate) = candidate {
            body["candidate"] = candidate.into();
        }
        match ask("/switchover", Some(&body.to_string())) {
            Ok((200, _)) => Readiness::Ready(()),
            // No candidate has received enough WAL yet, or Patroni does not know the candidate's current state.
            Ok((status @ (412 | 503), text)) => {
                Readiness::NotYet(message!("patroni-answer", status = status.to_string(), text))
            }
            Ok((status, text)) => {
                Readiness::Never(message!("patroni-answer", status = status.to_string(), text))
            }
            Err(error) => Readiness::NotYet((&error).into()),
        }
    }
}

/// Renders the configuration as JSON, which is valid YAML.
fn configuration(given: &ManagerContext<'_>) -> String {
    let ManagerContext { name, settings, home, .. } = given;
    let seconds = |it: Nanos| it.as_secs_f64().round() as u64;
    let hosts: Vec<String> = given.store.iter().map(ToString::to_string).collect();
    let mut parameters: Map<String, Value> =
        given.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
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
        "restapi": { "listen": given.api, "connect_address": given.api },
        // etcd 3.4 and later do not enable the v2 protocol.
        "etcd3": { "hosts": hosts },
        "bootstrap": { "dcs": {
            "ttl": seconds(settings.ttl),
            "loop_wait": seconds(settings.loop_wait),
            "retry_timeout": seconds(settings.retry_timeout),
            "primary_start_timeout": seconds(settings.primary_start_timeout),
            // Name of `primary_start_timeout` before Patroni 3.0.
            "master_start_timeout": seconds(settings.primary_start_timeout),
            "maximum_lag_on_failover": settings.maximum_lag,
            "synchronous_mode": mode,
            "synchronous_mode_strict": settings.strict && given.sync != SyncMode::Async,
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
    use model::plan::ManagerSettings;
    use std::path::Path;

    #[test]
    fn maps_sync_to_synchronous_mode() {
        let check = |sync, strict, expected: &str| {
            let given = ManagerContext {
                name: "it",
                settings: &ManagerSettings { strict, ..ManagerSettings::default() },
                sync,
                store: &[([127, 0, 0, 1], 5000).into()],
                api: ([127, 0, 0, 1], 5001).into(),
                postgres: ([127, 0, 0, 1], 5002).into(),
                data: Path::new("/home/it"),
                bin: Path::new("/bin"),
                home: Path::new("/home"),
                parameters: &[("fsync".to_owned(), "on".to_owned())],
                superuser: ("postgres", "apple"),
                replicator: ("replicator", "banana"),
            };
            let text: Value = serde_json::from_str(&Patroni.configuration(&given)).unwrap();
            let dcs = &text["bootstrap"]["dcs"];
            let keys = ["synchronous_mode", "synchronous_mode_strict", "synchronous_node_count"];
            assert_eq!(keys.map(|it| dcs[it].to_string()).join(" "), expected);
            assert_eq!(dcs["postgresql"]["parameters"]["fsync"], "on");
            assert_eq!((&dcs["ttl"], &dcs["loop_wait"]), (&json!(20), &json!(5)));
            assert_eq!(text["postgresql"]["authentication"]["replication"]["password"], "banana");
        };
        check(SyncMode::Async, true, "false false 1");
        check(SyncMode::First(2), true, "true true 2");
        check(SyncMode::First(1), false, "true false 1");
        check(SyncMode::Any(1), true, "\"quorum\" true 1");
    }

    #[test]
    fn reads_switchover_answers() {
        let check = |status, expected: Readiness<()>| {
            let answer = Patroni.switch_over(
                &|path, body| {
                    assert_eq!((path, body), ("/switchover", Some(r#"{"candidate":"b","leader":"a"}"#)));
                    Ok((status, "text".to_owned()))
                },
                "a",
                Some("b"),
            );
            assert_eq!(format!("{answer:?}"), format!("{expected:?}"));
        };
        check(200, Readiness::Ready(()));
        check(412, Readiness::NotYet(message!("patroni-answer", status = "412", text = "text")));
        check(503, Readiness::NotYet(message!("patroni-answer", status = "503", text = "text")));
        check(500, Readiness::Never(message!("patroni-answer", status = "500", text = "text")));
    }

    #[test]
    fn counts_sync_standbys() {
        let check = |status, cluster: &str, expected| {
            assert_eq!(
                Patroni.sync_standbys(&|_, _| Ok((status, cluster.to_owned()))),
                expected,
                "{cluster}"
            );
        };
        let members =
            r#"{"members": [{"role": "leader"}, {"role": "sync_standby"}, {"role": "quorum_standby"}]}"#;
        check(200, members, 2);
        check(503, members, 0);
        check(200, r#"{"members": [{"role": "leader"}, {"role": "replica"}]}"#, 0);
    }
}
