//! Replicas and faults.

use super::stack::is_attached;
use super::{SetupBuilder, seconds};
use crate::diagnostic::{any_of, quote};
use crate::file::{self, OneOrMany};
use crate::unit::{Duration, Word};
use model::Nanos;
use model::message;
use model::plan::{
    ClusterManager, FailoverManager, Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger,
    IsolationPeers, ManagerSettings, Node, NodeKind, Promoter, PromotionPolicy, Replication, Stack, SyncMode,
    Transport, TriggerEvent,
};
use model::product::{self, Product};

/// Default time within which a failover that pgdyno does not cause must be over.
const EXTERNAL_WITHIN: Nanos = Nanos::from_secs(60);

impl SetupBuilder<'_> {
    pub(super) fn replicas(&mut self, source: file::Replicas, nodes: &[Node]) -> Replication {
        let replicas_path = "stack.replicas";
        match nodes.last() {
            Some(Node { kind: NodeKind::Postgres(_), transport, .. }) if *transport != Transport::Tcp => {
                self.report("stack.postgres.transport", message!("experiment-replicas-transport"));
            }
            Some(node) if is_attached(&node.kind) => {
                self.report(replicas_path, message!("experiment-replicas-attached"));
            }
            _ => {}
        }
        let sync = source.sync.map_or(SyncMode::Async, |it| self.sync(&it.0));
        if sync.count() > source.count {
            let (sync, count) = (sync.count().to_string(), source.count);
            self.report(&format!("{replicas_path}.sync"), message!("experiment-sync-count", sync, count));
        }
        let product = source.manager.and_then(|it| it.0);
        let builtin_keys = [
            ("promote", source.promote.is_some()),
            ("timeout", source.timeout.is_some()),
            ("fence", source.fence.is_some()),
        ];
        for (key, product) in builtin_keys.iter().filter(|it| it.1).filter_map(|it| Some((it.0, product?))) {
            let message = message!("experiment-manager-key", key, manager = product.key);
            self.report(&format!("{replicas_path}.{key}"), message);
        }
        if source.manager_settings.is_some() && product.is_none() {
            let key = product::default_manager().key;
            self.report(
                &format!("{replicas_path}.{key}"),
                message!("experiment-manager-unused", manager = key),
            );
        }
        let manager = match product {
            Some(product) => {
                let settings = source.manager_settings.unwrap_or_default();
                FailoverManager::External(self.cluster_manager(product, &settings))
            }
            None => {
                let usual = Promoter::default();
                FailoverManager::Builtin(Promoter {
                    timeout: source.timeout.map_or(usual.timeout, |it| it.0),
                    policy: match source.promote {
                        None | Some(file::Promote::Advanced) => PromotionPolicy::Advanced,
                        Some(file::Promote::Laggard) => PromotionPolicy::Laggard,
                    },
                    fence: source.fence.unwrap_or(usual.fence),
                })
            }
        };
        Replication {
            replicas: source.count,
            sync,
            manager,
            limits: self.limits(&format!("{replicas_path}.limits"), source.limits),
            shutdown_sessions: source.shutdown_sessions.unwrap_or(true),
            separate_networks: false,
            separate_disks: false,
            separate_clocks: false,
            freshness: source.freshness.unwrap_or(true),
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
            self.report("stack.replicas.sync", message!("experiment-sync", text = quote(text)));
            SyncMode::Async
        })
    }

    fn cluster_manager(
        &mut self,
        product: &'static Product,
        settings: &file::ManagerSettings,
    ) -> ClusterManager {
        let manager_path = format!("stack.replicas.{}", product.key);
        let default = ClusterManager::with_defaults(product);
        let usual = default.settings;
        let time = |value: Option<Duration>, usual: Nanos| value.map_or(usual, |it| it.0);
        let made = ManagerSettings {
            ttl: time(settings.ttl, usual.ttl),
            loop_wait: time(settings.loop_wait, usual.loop_wait),
            retry_timeout: time(settings.retry_timeout, usual.retry_timeout),
            primary_start_timeout: time(settings.primary_start_timeout, usual.primary_start_timeout),
            maximum_lag: settings.maximum_lag.map_or(usual.maximum_lag, |it| it.0),
            strict: settings.strict.unwrap_or(usual.strict),
        };
        let traits = product.manager.as_ref().expect("the product is a cluster manager");
        let store_servers = settings.store_servers.unwrap_or(default.store_servers);
        if let Some(store) = traits.store.as_ref().filter(|it| !it.servers.contains(&store_servers)) {
            let (key, value) = (store.product.key, store_servers.to_string());
            let counts = any_of(store.servers.iter().map(u32::to_string));
            let message = message!("experiment-store-servers", key, value, counts);
            self.report(&format!("{manager_path}.{key}"), message);
        }
        if made.ttl < traits.minimum_ttl {
            let (value, min) = (seconds(made.ttl), seconds(traits.minimum_ttl));
            let message = message!("experiment-manager-ttl", product = product.name, value, min);
            self.report(&format!("{manager_path}.ttl"), message);
        } else if made.loop_wait.0 + 2 * made.retry_timeout.0 > made.ttl.0 {
            self.report(&manager_path, message!("experiment-manager-timeouts"));
        }
        ClusterManager { product, store_servers, settings: made }
    }

    /// Converts the faults. Servers get separate networks if a fault isolates a server, separate disks if a fault fills or
    /// freezes a disk, and separate clocks if a fault shifts a clock.
    pub(super) fn faults(&mut self, faults: Vec<file::Fault>, stack: &mut Stack) -> Vec<Fault> {
        let mut made = Vec::new();
        for (i, source) in faults.into_iter().enumerate() {
            if let Some(fault) = self.fault(&format!("faults[{i}]"), &source, stack) {
                made.push(fault);
            }
        }
        if let Some(replication) = &mut stack.replication {
            replication.separate_networks =
                made.iter().any(|it| matches!(it.action, FaultAction::Isolate { .. }));
            replication.separate_disks = made
                .iter()
                .any(|it| matches!(it.action, FaultAction::FillDisk { .. } | FaultAction::FreezeDisk { .. }));
            replication.separate_clocks =
                made.iter().any(|it| matches!(it.action, FaultAction::ShiftClock { .. }));
        }
        made
    }

    fn fault(&mut self, path: &str, source: &file::Fault, stack: &Stack) -> Option<Fault> {
        if source.run.is_some() || source.external == Some(true) {
            return self.external_fault(path, source, stack);
        }
        for (key, is_given) in [("undo", source.undo.is_some()), ("within", source.within.is_some())] {
            if is_given {
                self.report(&format!("{path}.{key}"), message!("experiment-fault-external-key", key));
            }
        }
        let given = source.own_actions();
        let &[(keyword, target_word)] = given.as_slice() else {
            self.report(path, message!("experiment-fault-action", count = given.len()));
            return None;
        };
        let has_duration =
            ["pause", "isolate", "freeze_disk", "shift_clock", "fill_disk", "block_replication"]
                .contains(&keyword);
        match source.duration {
            None if has_duration && keyword != "block_replication" => {
                self.report(path, message!("experiment-fault-duration-missing", action = keyword));
            }
            Some(_) if !has_duration => {
                self.report(path, message!("experiment-fault-duration", action = keyword));
            }
            _ => {}
        }
        let duration = source.duration.map_or(Nanos::ZERO, |it| it.0);
        if source.part.is_some() && keyword != "kill" {
            self.report(path, message!("experiment-fault-part", action = keyword));
        }
        if source.from.is_some() && keyword != "isolate" {
            self.report(&format!("{path}.from"), message!("experiment-fault-from", action = keyword));
        }
        let trigger = self.fault_trigger(path, source)?;
        if source.by.is_some() != (keyword == "shift_clock") {
            let message = match source.by {
                Some(_) => message!("experiment-fault-by", action = keyword),
                None => message!("experiment-fault-by-missing"),
            };
            self.report(path, message);
        }
        let of_replication =
            ["switchover", "isolate", "freeze_disk", "shift_clock", "fill_disk", "block_replication"]
                .contains(&keyword);
        if of_replication && stack.replication.is_none() {
            self.report(path, message!("experiment-fault-replicas", action = keyword));
            return None;
        }
        let target = match (keyword, target_word.0.as_str()) {
            ("switchover", "any") => None,
            ("block_replication", "primary") => Some(FaultTarget::Primary),
            ("block_replication", other) => {
                self.report(path, message!("experiment-fault-block-replication", target = quote(other)));
                return None;
            }
            (_, it) => Some(self.fault_target(path, it, stack)?),
        };
        let scope = source.part.map_or(FaultScope::Node, |it| it.0);
        self.check_fault_target(path, keyword, target.as_ref(), scope, stack);
        let fixed_target = || target.clone().expect("only a switchover has no fixed target");
        let action = match keyword {
            "kill" => FaultAction::Kill { target: fixed_target(), scope },
            "pause" => FaultAction::Pause { target: fixed_target(), duration },
            "restart" => FaultAction::Restart { target: fixed_target() },
            "switchover" => FaultAction::Switchover { target },
            "isolate" => {
                let from = self.isolation_peers(path, source.from.as_ref(), stack)?;
                FaultAction::Isolate { target: fixed_target(), duration, from }
            }
            "freeze_disk" => FaultAction::FreezeDisk { target: fixed_target(), duration },
            "shift_clock" => FaultAction::ShiftClock {
                target: fixed_target(),
                by_ns: source.by.map_or(0, |it| it.0),
                duration,
            },
            "fill_disk" => FaultAction::FillDisk { target: fixed_target(), duration },
            _ => FaultAction::BlockReplication { duration: source.duration.map(|it| it.0) },
        };
        Some(Fault { trigger, action })
    }

    /// Time or event that triggers a fault.
    fn fault_trigger(&mut self, path: &str, source: &file::Fault) -> Option<FaultTrigger> {
        match (source.at, source.after) {
            (at, Some(event)) => {
                let event = match event {
                    file::Event::Promoted => TriggerEvent::Promoted,
                    file::Event::Rejoined => TriggerEvent::Rejoined,
                };
                Some(FaultTrigger::After(event, at.map_or(Nanos::ZERO, |it| it.0)))
            }
            (Some(at), None) => Some(FaultTrigger::At(at.0)),
            (None, None) => {
                self.report(path, message!("experiment-fault-time"));
                None
            }
        }
    }

    /// Fault that pgdyno does not inject: a command of the user, or a failover that the user causes.
    fn external_fault(&mut self, path: &str, source: &file::Fault, stack: &Stack) -> Option<Fault> {
        let external = [source.run.is_some(), source.external == Some(true)];
        let count = external.iter().filter(|it| **it).count() + source.own_actions().len();
        if count != 1 {
            self.report(path, message!("experiment-fault-action", count));
            return None;
        }
        if source.undo.is_some() && source.run.is_none() {
            self.report(&format!("{path}.undo"), message!("experiment-fault-external-key", key = "undo"));
        }
        let action = if source.run.is_some() { "run" } else { "external" };
        if source.duration.is_some() {
            self.report(path, message!("experiment-fault-duration", action));
        }
        let trigger = self.fault_trigger(path, source)?;
        if matches!(trigger, FaultTrigger::After(..)) && stack.replication.is_none() {
            self.report(path, message!("experiment-fault-external-time", action));
        }
        let within = source.within.map_or(EXTERNAL_WITHIN, |it| it.0);
        let mut command = |key: &str, words: &Option<Vec<Word>>| {
            let words = words.clone().unwrap_or_default();
            if words.first().is_some_and(|it| it.0.is_empty()) || (key == "run" && words.is_empty()) {
                self.report(&format!("{path}.{key}"), message!("experiment-hook-empty", key));
            }
            self.command(words)
        };
        let action = match &source.run {
            Some(_) => FaultAction::Run {
                command: command("run", &source.run),
                undo: command("undo", &source.undo),
                within,
            },
            None => FaultAction::External { within },
        };
        Some(Fault { trigger, action })
    }

    /// Checks that the action and the scope of a fault fit its target.
    fn check_fault_target(
        &mut self,
        path: &str,
        action: &str,
        target: Option<&FaultTarget>,
        scope: FaultScope,
        stack: &Stack,
    ) {
        let name = match target {
            None => return,
            Some(FaultTarget::Primary) => "primary",
            Some(FaultTarget::Replica) => "replica",
            Some(FaultTarget::Node(name)) => name,
            Some(FaultTarget::Store(product)) => product.key,
        };
        let is_server = ["primary", "replica", "postgres"].contains(&name) || name.starts_with("postgres-");
        let is_store = matches!(target, Some(FaultTarget::Store(_)));
        let servers_only = match action {
            "switchover" | "freeze_disk" | "shift_clock" | "fill_disk" => !is_server,
            "isolate" | "from" => !is_server && !is_store,
            _ => false,
        };
        let manager = stack.replication.as_ref().map(|it| &it.manager);
        if servers_only {
            let message = message!("experiment-fault-server", key = action, target = quote(name));
            self.report(path, message);
        } else if (action, name) == ("switchover", "primary") {
            self.report(path, message!("experiment-fault-switchover"));
        } else if scope != FaultScope::Node && !is_server {
            let message = message!("experiment-fault-server", key = "part", target = quote(name));
            self.report(&format!("{path}.part"), message);
        } else if let FaultScope::Manager(product) = scope
            && !matches!(manager, Some(FailoverManager::External(it)) if it.product == product)
        {
            let message = message!("experiment-fault-manager", manager = product.key);
            self.report(&format!("{path}.part"), message);
        }
    }

    /// Nodes from which a fault isolates a node: servers and stores, because only they have networks of their own.
    fn isolation_peers(
        &mut self,
        path: &str,
        source: Option<&OneOrMany<Word>>,
        stack: &Stack,
    ) -> Option<IsolationPeers> {
        let words = match source {
            None => return Some(IsolationPeers::All),
            Some(OneOrMany::One(it)) if it.0 == "all" => return Some(IsolationPeers::All),
            Some(OneOrMany::One(it)) if it.0 == "servers" => return Some(IsolationPeers::Servers),
            Some(OneOrMany::One(it)) => std::slice::from_ref(it),
            Some(OneOrMany::Many(them)) => them.as_slice(),
        };
        let path = format!("{path}.from");
        if words.is_empty() {
            self.report(&path, message!("experiment-fault-from-empty"));
        }
        let mut peers = Vec::new();
        for word in words {
            let peer = self.fault_target(&path, &word.0, stack)?;
            self.check_fault_target(&path, "from", Some(&peer), FaultScope::Node, stack);
            peers.push(peer);
        }
        Some(IsolationPeers::Nodes(peers))
    }

    /// Parses a fault's target: a role, or an existing node that pgdyno starts.
    fn fault_target(&mut self, path: &str, name: &str, stack: &Stack) -> Option<FaultTarget> {
        let replicas = stack.replication.as_ref().map_or(0, |it| it.replicas);
        let store = stack.replication.as_ref().and_then(|replication| match &replication.manager {
            FailoverManager::External(manager) => manager.product.store(),
            FailoverManager::Builtin(_) => None,
        });
        if let Some(store) = store.filter(|it| it.key == name) {
            return Some(FaultTarget::Store(store));
        }
        let is_started = |it: &&Node| !is_attached(&it.kind);
        let mut names: Vec<String> =
            stack.nodes.iter().filter(is_started).map(|it| it.name.clone()).collect();
        names.extend((2..=replicas + 1).map(|it| format!("postgres-{it}")));
        match name {
            "primary" if names.iter().any(|it| it == "postgres") => return Some(FaultTarget::Primary),
            "replica" if replicas > 0 => return Some(FaultTarget::Replica),
            _ if names.iter().any(|it| it == name) => return Some(FaultTarget::Node(name.to_owned())),
            _ => {}
        }
        let targets = (!names.is_empty()).then(|| any_of(names));
        self.report(path, message!("experiment-fault-target", target = quote(name), targets));
        None
    }
}
