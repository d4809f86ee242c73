//! Replicas and faults.

use super::SetupBuilder;
use super::stack::is_attached;
use crate::diagnostic::{any_of, quote};
use crate::file;
use crate::unit::{Duration, Word};
use model::Nanos;
use model::plan::{
    ClusterManager, FailoverManager, Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger,
    ManagerSettings, Node, NodeKind, Promoter, PromotionPolicy, Replication, Stack, SyncMode, Transport,
    TriggerEvent,
};
use model::product::{self, Product};

impl SetupBuilder<'_> {
    pub(super) fn replicas(&mut self, it: file::Replicas, nodes: &[Node]) -> Replication {
        let here = "stack.replicas";
        match nodes.last() {
            Some(Node { kind: NodeKind::Postgres(_), transport: entrance, .. })
                if *entrance != Transport::Tcp =>
            {
                let found = "servers reach each other by TCP here, and `postgres` takes something else";
                self.report("stack.postgres.entrance", found, "write `tcp`, or leave it out");
            }
            Some(it) if is_attached(&it.kind) => {
                let found = "replicas of a PostgreSQL that pgdyno does not start";
                self.report(here, found, "leave them out: what is attached stays as it is");
            }
            _ => {}
        }
        let sync = it.sync.map_or(SyncMode::Async, |it| self.sync(&it.0));
        if sync.count() > it.count {
            let found = format!("a commit that waits for {} of {} replicas", sync.count(), it.count);
            self.report(&format!("{here}.sync"), found, format!("write at most {}", it.count));
        }
        let product = it.manager.and_then(|it| it.0);
        let of_ours = [
            ("promote", it.promote.is_some()),
            ("patience", it.timeout.is_some()),
            ("fence", it.fence.is_some()),
        ];
        for (key, product) in of_ours.iter().filter(|it| it.1).filter_map(|it| Some((it.0, product?))) {
            let found = format!("{} itself decides whom to promote and has no `{key}`", product.name);
            self.report(&format!("{here}.{key}"), found, "leave it out, or write `manager: ours`");
        }
        if it.manager_settings.is_some() && product.is_none() {
            let Product { name, key, .. } = product::default_manager();
            let found = format!("settings of {name} for replicas that it does not manage");
            self.report(&format!("{here}.{key}"), found, format!("add `manager: {key}`, or leave them out"));
        }
        let manager = match product {
            Some(product) => {
                let settings = it.manager_settings.unwrap_or_default();
                FailoverManager::External(self.cluster_manager(product, &settings))
            }
            None => {
                let usual = Promoter::default();
                FailoverManager::Builtin(Promoter {
                    timeout: it.timeout.map_or(usual.timeout, |it| it.0),
                    policy: match it.promote {
                        None | Some(file::Promote::Advanced) => PromotionPolicy::Advanced,
                        Some(file::Promote::Laggard) => PromotionPolicy::Laggard,
                    },
                    fence: it.fence.unwrap_or(usual.fence),
                })
            }
        };
        Replication {
            replicas: it.count,
            sync,
            manager,
            limits: self.limits(&format!("{here}.limits"), it.limits),
            shutdown_sessions: it.shutdown_sessions.unwrap_or(true),
            separate_networks: false,
            separate_disks: false,
            freshness: it.freshness.unwrap_or(true),
        }
    }

    fn sync(&mut self, text: &str) -> SyncMode {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let count = |text: &str| text.parse::<u32>().ok().filter(|it| *it > 0);
        let found = match words.as_slice() {
            ["async"] => Some(SyncMode::Async),
            ["first", it] => count(it).map(SyncMode::First),
            ["any", it] => count(it).map(SyncMode::Any),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let ways = ["`async`", "`first 1`", "`any 1`"];
            self.report(
                "stack.replicas.sync",
                format!("{} is nothing a commit can wait for", quote(text)),
                format!("write {}", any_of(&ways)),
            );
            SyncMode::Async
        })
    }

    fn cluster_manager(&mut self, product: &'static Product, it: &file::ManagerSettings) -> ClusterManager {
        let here = format!("stack.replicas.{}", product.key);
        let default = ClusterManager::with_defaults(product);
        let usual = default.settings;
        let time = |value: Option<Duration>, usual: Nanos| value.map_or(usual, |it| it.0);
        let made = ManagerSettings {
            ttl: time(it.ttl, usual.ttl),
            loop_wait: time(it.loop_wait, usual.loop_wait),
            retry_timeout: time(it.retry_timeout, usual.retry_timeout),
            primary_start_timeout: time(it.primary_start_timeout, usual.primary_start_timeout),
            maximum_lag: it.maximum_lag.map_or(usual.maximum_lag, |it| it.0),
            strict: it.strict.unwrap_or(usual.strict),
        };
        let traits = product.manager.as_ref().expect("the product is a cluster manager");
        let store_servers = it.store_servers.unwrap_or(default.store_servers);
        if let Some(store) = traits.store.as_ref().filter(|it| !it.servers.contains(&store_servers)) {
            let found = format!("{store_servers} servers of {}", store.product.name);
            let known: Vec<String> = store.servers.iter().map(u32::to_string).collect();
            let instead = format!("write {}", any_of(&known));
            self.report(&format!("{here}.{}", store.product.key), found, instead);
        }
        if made.ttl < traits.minimum_ttl {
            let found = format!("a time to live that {} refuses", product.name);
            let instead = format!("write at least {}s", traits.minimum_ttl.as_secs_f64());
            self.report(&format!("{here}.ttl"), found, instead);
        } else if made.loop_wait.0 + 2 * made.retry_timeout.0 > made.ttl.0 {
            let found = "`loop_wait` and twice `retry_timeout` are longer than `ttl`";
            self.report(
                &here,
                found,
                "write `ttl: 20s`, `loop_wait: 5s`, `retry_timeout: 5s`, or longer ones",
            );
        }
        ClusterManager { product, store_servers, settings: made }
    }

    /// Converts the faults. Servers to be isolated get a network of their own, those whose disk is to be filled a
    /// disk.
    pub(super) fn faults(&mut self, faults: Vec<file::Fault>, stack: &mut Stack) -> Vec<Fault> {
        let mut made = Vec::new();
        for (i, it) in faults.into_iter().enumerate() {
            if let Some(it) = self.fault(&format!("faults[{i}]"), &it, stack) {
                made.push(it);
            }
        }
        if let Some(it) = &mut stack.replication {
            it.separate_networks = made.iter().any(|it| matches!(it.action, FaultAction::Isolate { .. }));
            it.separate_disks = made.iter().any(|it| matches!(it.action, FaultAction::FillDisk { .. }));
        }
        made
    }

    fn fault(&mut self, path: &str, it: &file::Fault, stack: &Stack) -> Option<Fault> {
        let deeds = [
            ("kill", &it.kill),
            ("pause", &it.pause),
            ("restart", &it.restart),
            ("switchover", &it.switchover),
            ("cut_off", &it.cut_off),
            ("fill_disk", &it.fill_disk),
            ("withhold", &it.withhold),
        ];
        let there: Vec<(&str, &Word)> = deeds.iter().filter_map(|it| Some((it.0, it.1.as_ref()?))).collect();
        let &[(deed, whom)] = there.as_slice() else {
            let found = match there.is_empty() {
                true => "a fault that does nothing".to_owned(),
                false => format!("a fault that does {} things", there.len()),
            };
            self.report(path, found, "write one of them, as in `{ at: 20s, kill: primary }`");
            return None;
        };
        let lasts = ["pause", "cut_off", "fill_disk", "withhold"].contains(&deed);
        match it.duration {
            None if lasts => {
                self.report(
                    path,
                    format!("a `{deed}` without an end"),
                    "add how long it lasts, as in `for: 5s`",
                );
            }
            Some(_) if !lasts => {
                self.report(path, format!("`{deed}` takes no time"), "leave out `for`");
            }
            _ => {}
        }
        let lasting = it.duration.map_or(Nanos::ZERO, |it| it.0);
        if it.part.is_some() && deed != "kill" {
            self.report(path, format!("`part` beside `{deed}`"), "leave it out: only `kill` knows parts");
        }
        let when = match (it.at, it.after) {
            (at, Some(event)) => {
                let event = match event {
                    file::Event::Promoted => TriggerEvent::Promoted,
                    file::Event::Rejoined => TriggerEvent::Rejoined,
                };
                FaultTrigger::After(event, at.map_or(Nanos::ZERO, |it| it.0))
            }
            (Some(at), None) => FaultTrigger::At(at.0),
            (None, None) => {
                self.report(path, "a fault without a time", "add `at: 20s` or `after: promoted`");
                return None;
            }
        };
        let of_replication = ["switchover", "cut_off", "fill_disk", "withhold"].contains(&deed);
        if of_replication && stack.replication.is_none() {
            let found = format!("`{deed}` where there are no replicas");
            self.report(path, found, "add `replicas: { count: 2 }` to the stack");
            return None;
        }
        let whom = match (deed, whom.0.as_str()) {
            ("switchover", "any") => None,
            ("withhold", "primary") => Some(FaultTarget::Primary),
            ("withhold", other) => {
                let found = format!("the log of {}", quote(other));
                self.report(path, found, "write `withhold: primary`");
                return None;
            }
            ("fill_disk", other) if !is_server(other) => {
                let found = format!("the disk of {}", quote(other));
                self.report(
                    path,
                    found,
                    "write `primary`, `replica`, or a server of PostgreSQL such as `postgres-2`",
                );
                return None;
            }
            (_, it) => Some(self.fault_target(path, it, stack)?),
        };
        let someone = || whom.clone().expect("only a switchover goes to anyone");
        let deed = match deed {
            "kill" => {
                let scope = it.part.map_or(FaultScope::Node, |it| it.0);
                FaultAction::Kill { target: someone(), scope }
            }
            "pause" => FaultAction::Pause { target: someone(), duration: lasting },
            "restart" => FaultAction::Restart { target: someone() },
            "switchover" => FaultAction::Switchover { target: whom },
            "cut_off" => FaultAction::Isolate { target: someone(), duration: lasting },
            "fill_disk" => FaultAction::FillDisk { target: someone(), duration: lasting },
            _ => FaultAction::BlockReplication { duration: lasting },
        };
        Some(Fault { trigger: when, action: deed })
    }

    /// Role, or a node that exists and that pgdyno starts.
    fn fault_target(&mut self, path: &str, name: &str, stack: &Stack) -> Option<FaultTarget> {
        let replicas = stack.replication.as_ref().map_or(0, |it| it.replicas);
        let store = stack.replication.as_ref().and_then(|it| match &it.manager {
            FailoverManager::External(manager) => manager.product.store(),
            FailoverManager::Builtin(_) => None,
        });
        if let Some(store) = store.filter(|it| it.key == name) {
            return Some(FaultTarget::Store(store));
        }
        let ours = |it: &&Node| !is_attached(&it.kind);
        let mut names: Vec<String> = stack.nodes.iter().filter(ours).map(|it| it.name.clone()).collect();
        names.extend((2..=replicas + 1).map(|it| format!("postgres-{it}")));
        match name {
            "primary" if names.iter().any(|it| it == "postgres") => return Some(FaultTarget::Primary),
            "replica" if replicas > 0 => return Some(FaultTarget::Replica),
            _ if names.iter().any(|it| it == name) => return Some(FaultTarget::Node(name.to_owned())),
            _ => {}
        }
        let quoted: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
        let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
        let instead = match quoted.is_empty() {
            true => "nothing of this stack is ours".to_owned(),
            false => format!("write {}", any_of(&quoted)),
        };
        self.report(path, format!("no node of ours is called {}", quote(name)), instead);
        None
    }
}

/// True if the target is a PostgreSQL server that pgdyno starts.
fn is_server(whom: &str) -> bool {
    ["primary", "replica", "postgres"].contains(&whom) || whom.starts_with("postgres-")
}
