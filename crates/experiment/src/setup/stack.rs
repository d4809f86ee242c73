//! The section `stack`: the chain of nodes.

use super::SetupBuilder;
use super::guard::{AttachedSection, Guard, strictest};
use crate::datum::OrderedMap;
use crate::diagnostic::{Diagnostic, any_of, quote};
use crate::file::{self, Caps, OneOrMany, OrNone};
use crate::path;
use crate::unit::Word;
use model::Nanos;
use model::message;
use model::plan::{
    AttachedNode, Balancer, Limits, Node, NodeKind, Operation, PoolMode, Pooler, Postgres, Stack, Transport,
};
use model::product::{self, PoolerTraits, Product, Role};

/// Default of PostgreSQL's `max_connections`.
const MAX_CONNECTIONS: u32 = 100;
/// Default pool size.
const POOL_SIZE: u32 = 20;
const MAX_CLIENT_CONN: u32 = 10_000;
/// Interval at which a balancer checks which server is the primary.
const CHECK: Nanos = Nanos::from_millis(500);
const QUEUE_TIMEOUT: Nanos = Nanos::from_secs(30);

/// Address of an attached system.
struct AttachedDsn {
    dsn: String,
    admin: Option<String>,
    product: &'static Product,
    allow: Option<String>,
    caps: Option<Caps>,
    metrics: Option<OneOrMany<String>>,
}

impl SetupBuilder<'_> {
    /// Nodes of the chain, and the caps of the nodes that are on other machines.
    pub(super) fn stack(&mut self, stack: file::Stack) -> (Stack, Option<Guard>) {
        let (mut nodes, mut guards) = (Vec::new(), Vec::new());
        let hosts = stack.hosts;
        if let Some(service) = stack.service.and_then(OrNone::into_option) {
            let (node, its) = self.service(service);
            nodes.push(node);
            guards.extend(its);
        }
        let replicas = stack.replicas.and_then(OrNone::into_option);
        let balancer = stack.balancer.and_then(OrNone::into_option);
        let balancer = balancer.map(|it| self.balancer(it, replicas.is_some(), &mut guards));
        let pooler = stack.pooler.and_then(OrNone::into_option).map(|it| self.pooler(it, &mut guards));
        // With replicas, only the balancer knows which server is the primary.
        let middle = if replicas.is_some() { [pooler, balancer] } else { [balancer, pooler] };
        nodes.extend(middle.into_iter().flatten());
        if let Some(postgres) = stack.postgres {
            nodes.push(self.postgres(postgres, &mut guards));
        } else if !nodes.last().is_some_and(|it| is_attached(&it.kind)) {
            self.report("stack", message!("experiment-stack-postgres"));
        }
        let is_started = |it: &&Node| !is_attached(&it.kind);
        let first = nodes.iter().position(|it| is_attached(&it.kind)).unwrap_or(nodes.len());
        if let Some(node) = nodes[first..].iter().find(is_started) {
            let path = format!("stack.{}", node.name);
            let (attached, node) = (&nodes[first].name, &node.name);
            self.report(&path, message!("experiment-attached-chain", attached, node));
        }
        self.check_transports(&nodes);
        self.check_service_texts(&nodes, replicas.is_some());
        self.check_pool_fits(&nodes);
        let generator = stack.generator.unwrap_or_default().limits;
        let generator = self.limits("stack.generator.limits", generator);
        let replication = replicas.map(|it| self.replicas(it, &nodes));
        let mut stack = Stack { nodes, generator, replication, hosts: Vec::new() };
        stack.hosts = self.shared_hosts(hosts, &stack);
        (stack, strictest(guards))
    }

    fn postgres(&mut self, source: file::Postgres, guards: &mut Vec<Guard>) -> Node {
        const SECTION: AttachedSection = AttachedSection { node: "postgres", address: "attach" };
        let other_keys = [
            ("transport", source.transport.is_some()),
            ("version", source.version.is_some()),
            ("max_connections", source.max_connections.is_some()),
            ("settings", !source.settings.0.is_empty()),
            ("limits", source.limits.is_some()),
        ];
        if let Some(dsn) = source.attach {
            let address = AttachedDsn {
                dsn,
                admin: None,
                product: &product::POSTGRESQL,
                allow: source.allow,
                caps: source.caps,
                metrics: source.metrics,
            };
            let servers = source.servers.unwrap_or_default();
            for (i, dsn) in servers.iter().enumerate() {
                self.check_address(&format!("stack.postgres.servers[{i}]"), dsn);
            }
            let mut node = self.attached(&SECTION, address, &other_keys, guards);
            if let NodeKind::Attached(attached) = &mut node.kind {
                attached.servers = servers;
            }
            return node;
        }
        if source.servers.is_some() {
            self.report("stack.postgres.servers", message!("experiment-servers-attached"));
        }
        self.reject_unused_guards(&SECTION, source.allow.is_some(), source.caps.is_some());
        self.reject_unused_metrics(&SECTION, source.metrics.is_some());
        let max_connections = source.max_connections.unwrap_or(MAX_CONNECTIONS);
        let settings = words(source.settings);
        for (name, own_key) in [
            ("max_connections", Some("max_connections")),
            ("port", None),
            ("listen_addresses", None),
            ("unix_socket_directories", None),
            ("data_directory", None),
            ("ssl", None),
        ] {
            self.not_a_setting("postgres", &settings, name, own_key);
        }
        for error in (self.request.grammars.settings)(source.version, &settings) {
            let all = path::node(self.tree, "stack.postgres.settings");
            let entry = all.and_then(|it| it.get(&settings[error.setting].0));
            let (key, value) = entry.expect("the setting is in the file");
            let at = if error.is_unknown { &key.span } else { &value.span };
            self.diagnostics.push(Diagnostic::new(at, error.message));
        }
        node(
            "postgres",
            source.transport,
            self.limits("stack.postgres.limits", source.limits),
            NodeKind::Postgres(Postgres { version: source.version, max_connections, settings }),
        )
    }

    fn pooler(&mut self, source: file::Pooler, guards: &mut Vec<Guard>) -> Node {
        const SECTION: AttachedSection = AttachedSection { node: "pooler", address: "attach" };
        let product = source.kind.0;
        let traits = product.pooler.as_ref().expect("the kind is a pooler");
        // Only some poolers have these keys.
        let options = [
            ("version", source.version.is_some()),
            ("workers", source.workers.is_some()),
            ("pool_timeout", source.pool_timeout.is_some()),
        ];
        if let Some(dsn) = source.attach {
            let mut other_keys = vec![
                ("mode", source.mode.is_some()),
                ("size", source.size.is_some()),
                ("transport", source.transport.is_some()),
                ("max_client_conn", source.max_client_conn.is_some()),
                ("settings", !source.settings.0.is_empty()),
                ("limits", source.limits.is_some()),
            ];
            other_keys.extend(options);
            let file::Pooler { admin, allow, caps, metrics, .. } = source;
            let address = AttachedDsn { dsn, admin, product, allow, caps, metrics };
            return self.attached(&SECTION, address, &other_keys, guards);
        }
        self.reject_unused_guards(&SECTION, source.allow.is_some(), source.caps.is_some());
        self.reject_unused_metrics(&SECTION, source.metrics.is_some());
        if source.admin.is_some() {
            self.report("stack.pooler.admin", message!("experiment-pooler-admin"));
        }
        for (key, _) in options.iter().filter(|it| it.1 && !traits.options.contains(&it.0)) {
            self.unknown_option(product, key);
        }
        let mode = match source.mode {
            None | Some(file::PoolMode::Session) => PoolMode::Session,
            Some(file::PoolMode::Transaction) => PoolMode::Transaction,
            Some(file::PoolMode::Statement) => PoolMode::Statement,
        };
        if !traits.modes.contains(&mode) {
            let modes = any_of(traits.modes.iter().map(|it| it.key()));
            let (product, mode) = (product.name, mode.key());
            self.report("stack.pooler.mode", message!("experiment-pooler-mode", product, mode, modes));
        }
        let version = source.version.filter(|_| traits.options.contains(&"version"));
        let version = version.and_then(|it| self.version(product, traits, &it.0));
        let settings = words(source.settings);
        let managed = product::with_role(Role::Pooler).filter_map(|it| it.pooler.as_ref());
        for (name, own_key) in managed.flat_map(|it| it.managed_settings) {
            self.not_a_setting("pooler", &settings, name, *own_key);
        }
        if let Some(keeps) = traits.prepared_statements
            && version.is_none_or(|it| it < keeps.since)
            && settings.iter().any(|it| it.0 == keeps.name)
        {
            let (name, min_version) = (keeps.name, format!("{}.{}", keeps.since.0, keeps.since.1));
            let message = message!(
                "experiment-pooler-setting-version",
                product = product.name,
                since = min_version,
                name
            );
            self.report(&format!("stack.pooler.settings.{name}"), message);
        }
        let kind = NodeKind::Pooler(Pooler {
            product,
            version,
            mode,
            size: source.size.unwrap_or(POOL_SIZE),
            max_client_conn: source.max_client_conn.unwrap_or(MAX_CLIENT_CONN),
            workers: source.workers.unwrap_or(1),
            pool_timeout: source.pool_timeout.map_or(Nanos::ZERO, |it| it.0),
            settings,
        });
        node("pooler", source.transport, self.limits("stack.pooler.limits", source.limits), kind)
    }

    /// Reports a key of the section `pooler` that this product does not have.
    fn unknown_option(&mut self, product: &Product, key: &str) {
        let has =
            |other: &&Product| other.pooler.as_ref().is_some_and(|traits| traits.options.contains(&key));
        let product_list =
            any_of(product::with_role(Role::Pooler).filter(has).map(|it| format!("kind: {}", it.key)));
        let message =
            message!("experiment-pooler-option", product = product.name, key, others = product_list);
        self.report(&format!("stack.pooler.{key}"), message);
    }

    fn balancer(&mut self, source: file::Balancer, several: bool, guards: &mut Vec<Guard>) -> Node {
        const SECTION: AttachedSection = AttachedSection { node: "balancer", address: "attach" };
        let other_keys = [
            ("transport", source.transport.is_some()),
            ("maxconn", source.maxconn.is_some()),
            ("queue_timeout", source.queue_timeout.is_some()),
            ("check", source.check.is_some()),
            ("retries", source.retries.is_some()),
            ("limits", source.limits.is_some()),
        ];
        if let Some(dsn) = source.attach {
            let address = AttachedDsn {
                dsn,
                admin: None,
                product: &product::BALANCER,
                allow: source.allow,
                caps: source.caps,
                metrics: source.metrics,
            };
            return self.attached(&SECTION, address, &other_keys, guards);
        }
        self.reject_unused_guards(&SECTION, source.allow.is_some(), source.caps.is_some());
        self.reject_unused_metrics(&SECTION, source.metrics.is_some());
        let product = source.kind.map_or_else(product::default_balancer, |it| it.0);
        if source.kind.is_none() {
            self.report("stack.balancer", message!("experiment-balancer-kind", kind = product.key));
        }
        let check = source.check.and_then(OrNone::into_option).map(|it| it.0);
        // Without a check, the balancer would not know the primary.
        let check = check.or(several.then_some(CHECK));
        let queue_timeout = source.queue_timeout.map_or(QUEUE_TIMEOUT, |it| it.0);
        for (key, _) in [("check", check), ("queue_timeout", Some(queue_timeout))]
            .iter()
            .filter(|limit| limit.1.is_some_and(|it| it < Nanos::from_millis(1)))
        {
            let message = message!("experiment-balancer-duration", key = *key, product = product.name);
            self.report(&format!("stack.balancer.{key}"), message);
        }
        let (maxconn, retries) = (source.maxconn, source.retries);
        let kind = NodeKind::Balancer(Balancer { product, maxconn, queue_timeout, check, retries });
        node("balancer", source.transport, self.limits("stack.balancer.limits", source.limits), kind)
    }

    /// Attached node: none of its settings can be changed.
    fn attached(
        &mut self,
        attached: &AttachedSection,
        address: AttachedDsn,
        other_keys: &[(&str, bool)],
        guards: &mut Vec<Guard>,
    ) -> Node {
        let AttachedDsn { dsn, admin, product, allow, caps, metrics } = address;
        let name = attached.node;
        for (key, _) in other_keys.iter().filter(|it| it.1) {
            let message = message!("experiment-attached-key", key = *key, address = "attach");
            self.report(&format!("stack.{name}.{key}"), message);
        }
        for (key, dsn) in [("attach", Some(&dsn)), ("admin", admin.as_ref())] {
            let Some(dsn) = dsn else { continue };
            self.check_address(&format!("stack.{name}.{key}"), dsn);
        }
        let place = (self.request.grammars.dsn)(&dsn);
        guards.extend(place.and_then(|it| self.guard(attached, allow.as_deref(), caps, &it)));
        let other_sessions = caps.and_then(|it| it.other_sessions).unwrap_or(0);
        let transport = transport_of_dsn(&dsn);
        let metrics = self.metrics(name, metrics);
        Node {
            name: name.to_owned(),
            kind: NodeKind::Attached(AttachedNode {
                dsn,
                admin,
                product,
                allow,
                other_sessions,
                metrics,
                servers: Vec::new(),
            }),
            transport,
            limits: Limits::default(),
        }
    }

    /// Reports a connection string with a password, and a text that is none.
    pub(super) fn check_address(&mut self, path: &str, dsn: &str) {
        if has_password(dsn) {
            self.report(path, message!("experiment-address-password"));
        } else if !dsn.starts_with("postgres://") && !dsn.starts_with("postgresql://") && !dsn.contains('=') {
            self.report(path, message!("experiment-address", text = quote(dsn)));
        }
    }

    fn version(&mut self, product: &Product, traits: &PoolerTraits, text: &str) -> Option<(u32, u32)> {
        let parts = text
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?)));
        let oldest = traits.oldest_version;
        if parts.is_none_or(|it| it < oldest) {
            let (name, oldest) = (product.name, format!("{}.{}", oldest.0, oldest.1));
            let message = message!("experiment-pooler-version", text = quote(text), product = name, oldest);
            self.report("stack.pooler.version", message);
        }
        parts
    }

    /// Reports a setting that has a key of its own or that pgdyno controls.
    fn not_a_setting(
        &mut self,
        node: &str,
        settings: &[(String, String)],
        name: &str,
        own_key: Option<&str>,
    ) {
        if settings.iter().any(|it| it.0.eq_ignore_ascii_case(name)) {
            let key = own_key.map(|key| format!("{node}.{key}"));
            self.report(
                &format!("stack.{node}.settings.{name}"),
                message!("experiment-managed-setting", setting = name, node, key),
            );
        }
    }

    /// Checks that each node supports its transport.
    fn check_transports(&mut self, nodes: &[Node]) {
        let is_balancer = |it: &Node| matches!(it.kind, NodeKind::Balancer(_));
        let nodes = &nodes[nodes.iter().position(is_balancer).unwrap_or(nodes.len())..];
        let Some((Node { kind: NodeKind::Balancer(balancer), transport, .. }, behind)) = nodes.split_first()
        else {
            return;
        };
        let name = balancer.product.name;
        let Some(next) = behind.first() else { return };
        match (*transport == Transport::Tls, next.transport == Transport::Tls) {
            (true, false) => {
                let message = message!("experiment-tls-behind", product = name, next = &next.name);
                self.report("stack.balancer.transport", message);
            }
            (false, true) => {
                let message = message!("experiment-tls-before", product = name, next = &next.name);
                self.report("stack.balancer.transport", message);
            }
            _ => {}
        }
    }

    /// Checks that the pool's connections fit into PostgreSQL's slots.
    fn check_pool_fits(&mut self, nodes: &[Node]) {
        let pooler = nodes.iter().find_map(|it| it.kind.pooler());
        let Some((pooler, NodeKind::Postgres(postgres))) = pooler.zip(nodes.last().map(|it| &it.kind)) else {
            return;
        };
        let console = pooler.product.pooler.as_ref().map_or(0, |it| it.console_connections);
        let size = pooler.size.saturating_add(console);
        let reserved = postgres.reserved_connections();
        let free = postgres.max_connections.saturating_sub(reserved);
        if size > free {
            let message = message!(
                "experiment-pool-size",
                size = size.to_string(),
                connections = postgres.max_connections.to_string(),
                reserved = reserved.to_string(),
                free = (free > 0).then(|| free.to_string()),
                needed = size.saturating_add(reserved).to_string()
            );
            self.report("stack.pooler.size", message);
        }
    }

    pub(super) fn limits(&mut self, path: &str, source: Option<file::Limits>) -> Limits {
        let limits = source.unwrap_or_default();
        if let Some(cpu) = limits.cpu.filter(|it| !(0.01..=1024.0).contains(it)) {
            let (key, value) = ("cpu", cpu.to_string());
            let message = message!("experiment-out-of-range", key, value, min = "0.01", max = "1024");
            self.report(&format!("{path}.cpu"), message);
        }
        if limits.memory.is_some_and(|it| it.0 < 1 << 20) {
            self.report(&format!("{path}.memory"), message!("experiment-limit-memory"));
        }
        let rates = [
            ("read_iops", limits.read_iops),
            ("write_iops", limits.write_iops),
            ("read_bps", limits.read_bps.map(|it| it.0)),
            ("write_bps", limits.write_bps.map(|it| it.0)),
        ];
        for (key, _) in rates.iter().filter(|it| it.1 == Some(0)) {
            self.report(&format!("{path}.{key}"), message!("experiment-limit-zero", key = *key));
        }
        let cpus = limits.cpus.unwrap_or_default();
        if let Some(twice) = cpus.iter().enumerate().find(|(i, it)| cpus[..*i].contains(it)) {
            let message = message!("experiment-limit-cpu-twice", cpu = twice.1.to_string());
            self.report(&format!("{path}.cpus"), message);
        }
        // A quota beyond the node's CPUs has no effect.
        if let Some(cpu) = limits.cpu.filter(|cpu| !cpus.is_empty() && *cpu > cpus.len() as f64) {
            let (cpu, count) = (cpu.to_string(), cpus.len());
            self.report(&format!("{path}.cpu"), message!("experiment-limit-cpu", cpu, count));
        }
        Limits {
            cpu: limits.cpu,
            memory: limits.memory.map(|it| it.0),
            read_iops: limits.read_iops,
            write_iops: limits.write_iops,
            read_bps: limits.read_bps.map(|it| it.0),
            write_bps: limits.write_bps.map(|it| it.0),
            cpus,
        }
    }

    /// Reports combinations of settings that the pool mode makes impossible.
    pub(super) fn check_pooler_modes(
        &mut self,
        stack: &Stack,
        load: &model::plan::Load,
        operations: &[Operation],
    ) {
        use model::summary::QueryMode;
        let Some(pooler) = stack.nodes.iter().find_map(|it| it.kind.pooler()) else { return };
        // pgdyno enables the setting in versions that have it, unless the experiment sets it to 0.
        let keeps = pooler.product.pooler.as_ref().and_then(|it| it.prepared_statements);
        let enabled =
            |name: &str| pooler.settings.iter().find(|it| it.0 == name).is_none_or(|it| it.1 != "0");
        let is_kept = keeps
            .is_none_or(|keeps| pooler.version.is_some_and(|it| it >= keeps.since) && enabled(keeps.name));
        let is_script = |it: &&Operation| it.kind.is_sql();
        let scripts = || operations.iter().filter(is_script);
        if scripts().next().is_some()
            && load.query_mode == QueryMode::Prepared
            && pooler.mode != PoolMode::Session
            && !is_kept
        {
            let message = message!(
                "experiment-pooler-prepared",
                product = pooler.product.name,
                mode = pooler.mode.key(),
                version = keeps.map(|it| format!("{}.{}", it.since.0, it.since.1))
            );
            self.report("load.query_mode", message);
        }
        if pooler.mode == PoolMode::Statement {
            for operation in scripts().filter(|it| super::operations::begins_transaction(&it.text())) {
                let message =
                    message!("experiment-pooler-statement-mode", operation = quote(&operation.name));
                self.report(&format!("operations.{}", operation.name), message);
            }
        }
    }
}

fn node(name: &str, transport: Option<file::Transport>, limits: Limits, kind: NodeKind) -> Node {
    let transport = match transport {
        Some(file::Transport::Unix) => Transport::Unix,
        None | Some(file::Transport::Tcp) => Transport::Tcp,
        Some(file::Transport::Tls) => Transport::Tls,
    };
    Node { name: name.to_owned(), kind, transport, limits }
}

pub(super) fn is_attached(kind: &NodeKind) -> bool {
    match kind {
        NodeKind::Attached(_) => true,
        NodeKind::Service(it) => it.url.is_some(),
        _ => false,
    }
}

pub(super) fn words(words: OrderedMap<Word>) -> Vec<(String, String)> {
    words.0.into_iter().map(|(key, word)| (key, word.0)).collect()
}

/// True if an address contains a password: `postgres://user:secret@…`, `password=…`.
fn has_password(dsn: &str) -> bool {
    let authority = dsn.split_once("://").map(|it| it.1.split(['/', '?']).next().unwrap_or_default());
    // An unescaped password may contain a slash or an @, so the password ends at the last @.
    let user = dsn.split_once("://").and_then(|it| it.1.rsplit_once('@')).map(|it| it.0);
    let lower = dsn.to_lowercase();
    user.is_some_and(|it| it.contains(':')) && authority.is_some() || lower.contains("password")
}

/// Transport of an address.
fn transport_of_dsn(dsn: &str) -> Transport {
    let value = |key: &str| {
        let (_, rest) = dsn.split_once(&format!("{key}="))?;
        rest.split(['&', ' ', '\'']).find(|it| !it.is_empty())
    };
    let host = value("host").or_else(|| {
        let authority = dsn.split_once("://")?.1.split(['/', '?']).next()?;
        Some(authority.rsplit('@').next().unwrap_or(authority))
    });
    let is_socket =
        host.is_none_or(|it| it.is_empty() || it.starts_with('/') || it.to_lowercase().starts_with("%2f"));
    match value("sslmode") {
        _ if is_socket => Transport::Unix,
        Some("require" | "verify-ca" | "verify-full") => Transport::Tls,
        _ => Transport::Tcp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_passwords_in_dsns() {
        for (dsn, expected) in [
            ("postgres://a:b@h/d", true),
            ("postgres://a:b/c@h/d", true),
            ("postgres://a:b@c@h", true),
            ("host=h password=x", true),
            ("postgres://h/d?password=x", true),
            ("postgres://h/d?PASSWORD=x", true),
            ("postgres://a@h:5432/d", false),
            ("postgres://h:5432/d", false),
            ("host=h user=a", false),
        ] {
            assert_eq!(has_password(dsn), expected, "{dsn}");
        }
    }

    #[test]
    fn finds_transport_of_dsn() {
        for (dsn, expected) in [
            ("postgres://h/d", Transport::Tcp),
            ("postgres://u@h:1/d?sslmode=require", Transport::Tls),
            ("postgres:///d", Transport::Unix),
            ("postgres://%2Ftmp/d", Transport::Unix),
            ("host=/tmp dbname=d", Transport::Unix),
            ("host=h sslmode=verify-full", Transport::Tls),
            ("dbname=d", Transport::Unix),
        ] {
            assert_eq!(transport_of_dsn(dsn), expected, "{dsn}");
        }
    }
}
