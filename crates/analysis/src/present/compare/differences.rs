//! Differences between the setups of two runs
//!
//! Every property of settings, builds and machines is represented as a path and a value. A path is a difference if only
//! one run has it, or if its values differ.

use super::ComparedRun;
use model::comparison::{Difference, DifferenceSubject};
use model::copied_data::{CopiedData, DataOrigin, Snapshot};
use model::plan::{
    AttachedNode, CacheState, Content, Experiment, Feed, FeedOrder, FeedSource, Limits, LoadModel, Node,
    NodeKind, ON_START, OperationKind, RecordedMix, ServiceFile, ServiceProgram, Setup, Transport, UserStage,
};
use model::run_result::NodeInfo;
use model::summary::QueryMode;
use model::{Nanos, Spacing};

/// Program, machine and nodes of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunEnvironment<'a> {
    /// Facts about the machine as keys and values, such as `processor`.
    pub machine: &'a [(String, String)],
    /// Nodes as they actually ran, one entry for each configuration.
    pub nodes: &'a [NodeInfo],
    /// Data that were copied from a database, with the indexes of the cells that found them.
    pub copied_data: &'a [(Vec<usize>, CopiedData)],
    /// Version of pgdyno.
    pub program: &'a str,
}

/// One fact of a setup, as a path and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    subject: DifferenceSubject,
    path: String,
    value: String,
}

/// Differences between two cells. Differences that make the comparison unfair come first. `expected` lists the paths of
/// intended differences, or parents of these paths.
pub fn differences(
    base: (&Experiment, RunEnvironment<'_>, usize),
    run: (&Experiment, RunEnvironment<'_>, usize),
    expected: &[String],
) -> Vec<Difference> {
    let [base, run] = [base, run].map(|(experiment, environment, cell)| facts(experiment, environment, cell));
    // A node that only one cell has is the subject of the comparison, so its path and its limits do not make the
    // comparison unfair.
    let has = |facts: &[Fact], node: &str| facts.iter().any(|it| it.path.strip_suffix(".kind") == Some(node));
    let new = |fact: &Fact| {
        let node = fact.path.split('.').next().unwrap_or_default();
        has(&base, node) != has(&run, node)
    };
    let mut paths: Vec<(DifferenceSubject, &str)> = Vec::new();
    for fact in base.iter().chain(&run) {
        let subject = if new(fact) { DifferenceSubject::Setting } else { fact.subject };
        if !paths.contains(&(subject, fact.path.as_str())) {
            paths.push((subject, &fact.path));
        }
    }
    let value =
        |facts: &[Fact], path: &str| facts.iter().find(|it| it.path == path).map(|it| it.value.clone());
    let one = |(subject, path): (DifferenceSubject, &str)| {
        let (base, run) = (value(&base, path), value(&run, path));
        if NOT_ALWAYS_STORED.contains(&path) && (base.is_none() || run.is_none()) {
            return None;
        }
        let on_purpose = |parent: &String| {
            path.strip_prefix(parent.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let expected = expected.iter().any(on_purpose);
        (base != run).then(|| Difference {
            subject,
            path: path.to_owned(),
            base,
            run,
            cells: Vec::new(),
            expected,
        })
    };
    let mut all: Vec<Difference> = paths.into_iter().filter_map(one).collect();
    all.sort_by_key(|it| (!it.is_confounder(), it.subject));
    all
}

/// Differences of all pairs of cells. A difference that several pairs share is listed once.
pub(super) fn cell_differences(
    base: &ComparedRun<'_>,
    run: &ComparedRun<'_>,
    pairs: &[(usize, usize)],
    expected: &[String],
) -> Vec<Difference> {
    let mut all: Vec<Difference> = Vec::new();
    for (number, (a, b)) in pairs.iter().enumerate() {
        for difference in differences(
            (base.experiment, base.environment, *a),
            (run.experiment, run.environment, *b),
            expected,
        ) {
            let same = |other: &&mut Difference| {
                (other.subject, &other.path, &other.base, &other.run)
                    == (difference.subject, &difference.path, &difference.base, &difference.run)
            };
            match all.iter_mut().find(same) {
                Some(known) => known.cells.push(number),
                None => all.push(Difference { cells: vec![number], ..difference }),
            }
        }
    }
    for difference in &mut all {
        if difference.cells.len() == pairs.len() {
            difference.cells.clear();
        }
    }
    all.sort_by_key(|it| (!it.is_confounder(), it.subject));
    all
}

fn facts(experiment: &Experiment, environment: RunEnvironment<'_>, cell: usize) -> Vec<Fact> {
    let setup = &experiment.cells[cell].setup;
    let mut all = FactList(Vec::new());
    setup.stack.nodes.iter().for_each(|it| all.node(it));
    all.limits("generator", &setup.stack.generator);
    for host in &setup.stack.hosts {
        let path = format!("hosts.{}", host.name);
        all.push(DifferenceSubject::Limit, format!("{path}.nodes"), host.nodes.join(", "));
        all.push(DifferenceSubject::Limit, format!("{path}.per"), host.scope.key());
        all.limits(&path, &host.limits);
    }
    // If the stack changed during the run, a node has several entries.
    for node in environment.nodes.iter().filter(|it| it.cells.contains(&cell)) {
        all.actual_node(node);
    }
    for (key, value) in environment.machine.iter().filter(|it| affects_figures(&it.0)) {
        all.push(DifferenceSubject::Machine, format!("machine.{key}"), value);
    }
    all.dataset(setup);
    for (_, data) in environment.copied_data.iter().filter(|it| it.0.contains(&cell)) {
        all.copied_data(data);
    }
    all.load(setup);
    for operation in setup.on_start_and_operations() {
        let path = match operation.name.as_str() {
            ON_START => ON_START.to_owned(),
            name => format!("operations.{name}"),
        };
        let work = match operation.kind {
            OperationKind::Script { .. } => "script",
            OperationKind::Http(_) => "http",
            OperationKind::Ammo | OperationKind::TaggedAmmo { .. } => "ammo",
            OperationKind::Recorded { .. } => "statement",
            OperationKind::RecordedTransaction { .. } => "transaction",
        };
        all.push(DifferenceSubject::Operation, format!("{path}.{work}"), operation.text().trim());
        match operation.rate {
            Some(rate) => all.push(DifferenceSubject::Operation, format!("{path}.rate"), rate),
            None => all.push(DifferenceSubject::Operation, format!("{path}.weight"), operation.weight),
        }
        all.push_some(DifferenceSubject::Operation, format!("{path}.feed"), operation.feed.as_ref());
        all.push_some(DifferenceSubject::Operation, format!("{path}.schedule"), operation.schedule.as_ref());
        if let OperationKind::Http(steps) = &operation.kind {
            // Expectations affect the figures, because each unexpected response counts as a failure.
            let expected: Vec<String> = steps.iter().map(|it| format!("{:?}", it.expect)).collect();
            all.push(DifferenceSubject::Operation, format!("{path}.expect"), expected.join("; "));
        }
    }
    setup.feeds.iter().for_each(|it| all.feed(it));
    let hooks = [("before_trial", &setup.hooks.before_trial), ("after_trial", &setup.hooks.after_trial)];
    for (name, command) in hooks.into_iter().filter(|it| !it.1.is_empty()) {
        all.push(DifferenceSubject::Setting, format!("hooks.{name}"), command.join(" "));
    }
    all.push(DifferenceSubject::Generator, "pgdyno".into(), environment.program);
    all.push(DifferenceSubject::Objective, "objectives".into(), setup.objectives.join("; "));
    all.push(DifferenceSubject::Objective, "stop".into(), setup.stop_rules.join("; "));
    all.0
}

/// Facts that earlier versions did not store. Without a value, they are unknown rather than different.
const NOT_ALWAYS_STORED: [&str; 2] = ["machine.disks", "machine.memory_modules"];

/// True if this fact about the machine may affect figures. The limit on open files does not affect any figure.
fn affects_figures(key: &str) -> bool {
    const IDLE: [&str; 2] = ["files", "ports"];
    !IDLE.iter().any(|it| key == *it || key.starts_with(&format!("{it}.")))
}

struct FactList(Vec<Fact>);

impl FactList {
    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers and texts")]
    fn push(&mut self, subject: DifferenceSubject, path: String, value: impl ToString) {
        let value = value.to_string();
        match self.0.iter_mut().find(|it| it.path == path) {
            // The fact had several values during the run, so list all of them.
            Some(known) if !known.value.split(", ").any(|it| it == value) => {
                known.value += &format!(", {value}");
            }
            Some(_) => {}
            None => self.0.push(Fact { subject, path, value }),
        }
    }

    fn push_some(&mut self, subject: DifferenceSubject, path: String, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.push(subject, path, value);
        }
    }

    fn node(&mut self, node: &Node) {
        let full_path = |key: &str| format!("{}.{key}", node.name);
        let is_server = matches!(node.kind, NodeKind::Postgres(_));
        self.push(
            if is_server { DifferenceSubject::Server } else { DifferenceSubject::Setting },
            full_path("kind"),
            node.kind.key(),
        );
        // An attached node is identified by its address.
        if !matches!(node.kind, NodeKind::Attached(_)) {
            let transport = match node.transport {
                Transport::Unix => "unix",
                Transport::Tcp => "tcp",
                Transport::Tls => "tls",
            };
            self.push(DifferenceSubject::Transport, full_path("transport"), transport);
        }
        self.limits(&node.name, &node.limits);
        let set = DifferenceSubject::Setting;
        let mut settings: &[(String, String)] = &[];
        match &node.kind {
            NodeKind::Postgres(postgres) => {
                self.push_some(DifferenceSubject::Server, full_path("version"), postgres.version);
                self.push(set, full_path("max_connections"), postgres.max_connections);
                settings = &postgres.settings;
            }
            NodeKind::Pooler(pooler) => {
                let options = pooler.product.pooler.as_ref().map_or(&[][..], |it| it.options);
                self.push(set, full_path("mode"), pooler.mode.key());
                self.push(set, full_path("size"), pooler.size);
                self.push(set, full_path("max_client_conn"), pooler.max_client_conn);
                if options.contains(&"workers") {
                    self.push(set, full_path("workers"), pooler.workers);
                }
                if options.contains(&"pool_timeout") {
                    self.push(set, full_path("pool_timeout"), pooler.pool_timeout.notation());
                }
                settings = &pooler.settings;
            }
            NodeKind::Balancer(balancer) => {
                self.push_some(set, full_path("maxconn"), balancer.maxconn);
                self.push(set, full_path("queue_timeout"), balancer.queue_timeout.notation());
                self.push_some(set, full_path("check"), balancer.check.map(Nanos::notation));
                self.push_some(set, full_path("retries"), balancer.retries);
            }
            NodeKind::Service(service) => {
                self.push(set, full_path("command"), service.command.join(" "));
                self.push_some(DifferenceSubject::Transport, full_path("url"), service.url.as_ref());
                self.push(set, full_path("copies"), service.copies);
                self.files(&full_path("files"), &service.files);
                for program in &service.programs {
                    self.program(&full_path(&format!("programs.{}", program.name)), program);
                }
                settings = &service.env;
            }
            NodeKind::Attached(AttachedNode { dsn, admin, product, .. }) => {
                self.push(set, full_path("role"), product.key);
                self.push(DifferenceSubject::Transport, full_path("dsn"), dsn);
                self.push_some(set, full_path("admin"), admin.as_ref());
            }
        }
        for (key, value) in settings {
            self.push(set, format!("{}.settings.{key}", node.name), value);
        }
    }

    /// Adds a node as it actually ran.
    fn actual_node(&mut self, node: &NodeInfo) {
        let subject =
            if node.kind == "postgres" { DifferenceSubject::Server } else { DifferenceSubject::Setting };
        self.push(subject, format!("{}.build", node.name), &node.version);
        self.push_some(subject, format!("{}.program", node.name), node.program.as_ref());
        for limit in &node.unapplied_limits {
            self.push(
                DifferenceSubject::NotApplied,
                format!("{}.limits.{} not applied", node.name, limit.limit),
                limit.reason.facts(),
            );
        }
    }

    fn program(&mut self, path: &str, program: &ServiceProgram) {
        let set = DifferenceSubject::Setting;
        self.push(set, format!("{path}.command"), program.command.join(" "));
        self.push(set, format!("{path}.per"), program.scope.key());
        for (name, value) in &program.env {
            self.push(set, format!("{path}.env.{name}"), value);
        }
        self.files(&format!("{path}.files"), &program.files);
        self.limits(path, &program.limits);
    }

    fn files(&mut self, path: &str, files: &[ServiceFile]) {
        for file in files {
            self.push(DifferenceSubject::Setting, format!("{path}.{}", file.name), &file.text);
        }
    }

    fn limits(&mut self, node: &str, limits: &Limits) {
        let full_path = |key: &str| format!("{node}.limits.{key}");
        self.push_some(DifferenceSubject::Limit, full_path("cpu"), limits.cpu);
        self.push_some(DifferenceSubject::Limit, full_path("memory"), limits.memory.map(format_bytes));
        self.push_some(DifferenceSubject::Limit, full_path("read_iops"), limits.read_iops);
        self.push_some(DifferenceSubject::Limit, full_path("write_iops"), limits.write_iops);
        self.push_some(DifferenceSubject::Limit, full_path("read_bps"), limits.read_bps.map(format_bytes));
        self.push_some(DifferenceSubject::Limit, full_path("write_bps"), limits.write_bps.map(format_bytes));
        if !limits.cpus.is_empty() {
            let cpus: Vec<String> = limits.cpus.iter().map(u32::to_string).collect();
            self.push(DifferenceSubject::Limit, full_path("cpus"), cpus.join(","));
        }
    }

    fn dataset(&mut self, setup: &Setup) {
        let Some(dataset) = &setup.dataset else { return };
        let mut push =
            |key: &str, value: String| self.push(DifferenceSubject::Dataset, format!("dataset.{key}"), value);
        push("seed", dataset.seed.to_string());
        let cache = match dataset.cache {
            CacheState::Warm => "warm",
            CacheState::Cold => "cold",
            CacheState::AsIs => "as is",
        };
        push("cache", cache.into());
        if dataset.keep {
            push("keep", "true".into());
        }
        for (key, statements) in [("after", &dataset.post_load), ("between", &dataset.between)] {
            if !statements.is_empty() {
                push(key, statements.join("; "));
            }
        }
        match &dataset.content {
            Content::Tickets { rows } => push("tickets.rows", rows.to_string()),
            Content::Profiles { users, per_user } => {
                push("profiles.users", users.to_string());
                push("profiles.per_user", per_user.to_string());
            }
            Content::Pgbench { scale } => push("pgbench.scale", scale.to_string()),
            Content::Delivery { scale } => push("delivery.scale", scale.to_string()),
            Content::Users { users } => push("users.users", users.to_string()),
            Content::Books { rows } => push("books.rows", rows.to_string()),
            // The same contents at another path are the same data.
            Content::Dump { files } => {
                for (i, file) in files.iter().enumerate() {
                    push(&format!("restore.{}.sha256", i + 1), file.sha256.clone());
                }
            }
            Content::Source(source) => {
                push("from", source.dsn.clone());
                push("from.extract", format!("{:?}", source.extract));
            }
            Content::Template { database } => push("template", database.clone()),
            Content::Declared(tables) => {
                for table in tables {
                    let full_path = |key: &str| format!("tables.{}.{key}", table.name);
                    push(&full_path("rows"), table.rows.to_string());
                    push(&full_path("primary_key"), table.primary_key.join(", "));
                    push(&full_path("indexes"), table.indexes.join("; "));
                    for column in &table.columns {
                        // Compare value generators as text, because any change to a generator changes the dataset.
                        let drawn = (&column.sql_type, &column.generator, column.null_fraction);
                        push(&full_path(&format!("columns.{}", column.name)), format!("{drawn:?}"));
                    }
                }
            }
        }
    }

    /// Sizes that identify copied data. If the data changed during the run, the values of all trials are listed.
    fn copied_data(&mut self, data: &CopiedData) {
        if let DataOrigin::Snapshot(Snapshot { system: Some(system), database, .. }) = &data.origin {
            self.push(
                DifferenceSubject::Dataset,
                "dataset.data.source".to_owned(),
                format!("{database} of {system}"),
            );
        }
        for table in &data.tables {
            let rows = table.rows.map_or_else(|| "unknown number of".to_owned(), |rows| rows.to_string());
            let (path, value) =
                (format!("dataset.data.{}", table.table), format!("{rows} rows, {} bytes", table.bytes));
            match self.0.iter_mut().find(|fact| fact.path == path) {
                Some(known) if known.value.split("; ").any(|it| it == value) => {}
                Some(known) => known.value += &format!("; {value}"),
                None => self.push(DifferenceSubject::Dataset, path, value),
            }
        }
    }

    fn feed(&mut self, feed: &Feed) {
        let mut push = |key: &str, value: String| {
            self.push(DifferenceSubject::Operation, format!("feeds.{}.{key}", feed.name), value);
        };
        match &feed.source {
            FeedSource::File { path, format: form, log_format } => {
                push("file", format!("{} ({form:?})", path.display()));
                if let Some(log_format) = log_format {
                    push("log_format", log_format.clone());
                }
            }
            FeedSource::Query(sql) => push("sql", sql.trim().to_owned()),
            FeedSource::Rows(rows) => push("rows", format!("{rows:?}")),
        }
        let order = match feed.order {
            FeedOrder::Sequential => "sequential".to_owned(),
            FeedOrder::Shuffled => "shuffled".to_owned(),
            FeedOrder::Random => "random".to_owned(),
            FeedOrder::Zipfian { s } => format!("zipfian({s})"),
            FeedOrder::Once => "once".to_owned(),
        };
        push("order", order);
        if let Some(columns) = &feed.columns {
            push("columns", columns.join(", "));
        }
    }

    fn load(&mut self, setup: &Setup) {
        let load = &setup.load;
        let mut push =
            |key: &str, value: String| self.push(DifferenceSubject::Load, format!("load.{key}"), value);
        match &load.model {
            LoadModel::Closed { clients, think } => {
                push("model", "closed".into());
                push("clients", clients.to_string());
                push("think", think.notation());
            }
            LoadModel::Users { stages, think, pacing, rate_max } => {
                push("model", "closed".into());
                match stages.as_slice() {
                    [UserStage { users, spawn_rate: None, .. }] => push("clients", users.to_string()),
                    stages => push("users", stages.iter().map(format_stage).collect::<Vec<_>>().join(", ")),
                }
                push("think", think.to_string());
                if let Some(pacing) = pacing {
                    push("pacing", pacing.notation());
                }
                if let Some(rate) = rate_max {
                    push("max_rate", rate.to_string());
                }
            }
            LoadModel::Open { schedule, arrivals, max_in_flight } => {
                push("model", "open".into());
                push("schedule", schedule.clone());
                let even = *arrivals == Spacing::Even;
                push("arrivals", if even { "even" } else { "poisson" }.into());
                push("max_in_flight", max_in_flight.to_string());
            }
            LoadModel::Log { log, speed, max_in_flight } => {
                push("model", "open".into());
                push("schedule", "recorded".into());
                push("requests", log.requests.to_string());
                push("speed", speed.to_string());
                push("max_in_flight", max_in_flight.to_string());
            }
            LoadModel::Replay { recording, speed } => {
                push("model", "replay".into());
                push("traffic", recording.name());
                push("requests", recording.requests.to_string());
                push("speed", speed.to_string());
            }
        }
        if load.slack > Nanos::ZERO {
            push("slack", load.slack.notation());
        }
        if let Some(RecordedMix { recording, transactions, .. }) = &load.traffic {
            push("traffic", recording.name());
            push("recorded_transactions", transactions.to_string());
        }
        if let Some(duration) = load.duration {
            push("duration", duration.notation());
        }
        if let Some(transactions) = load.transactions {
            push("transactions", transactions.to_string());
        }
        push("warmup", load.warmup.notation());
        push("threads", load.threads.to_string());
        let query_mode = match load.query_mode {
            QueryMode::Simple => "simple",
            QueryMode::Extended => "extended",
            QueryMode::Prepared => "prepared",
        };
        push("query_mode", query_mode.into());
        push("reconnect", load.reconnect.to_string());
        if let Some(timeout) = load.timeout {
            push("timeout", timeout.notation());
        }
        push("max_tries", load.max_tries.to_string());
        push("new_clients", load.new_clients.to_string());
    }
}

/// Text for a stage of users, such as `1000 at 50/s for 90s`.
fn format_stage(stage: &UserStage) -> String {
    let rate = stage.spawn_rate.map_or(String::new(), |it| format!(" at {it}/s"));
    format!("{}{rate} for {}", stage.users, stage.duration.notation())
}

/// Bytes as in an experiment file, such as `400MB`, with 1 MB = 1024² bytes.
fn format_bytes(bytes: u64) -> String {
    let units = [("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];
    let exact = units.into_iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size));
    exact.map_or_else(|| format!("{bytes}B"), |(unit, size)| format!("{}{unit}", bytes / size))
}

#[cfg(test)]
mod tests;
