//! What is not the same in two runs?
//!
//! Every setting, build and machine as lines of path and value; what stands in one only, or otherwise, is a difference.

use super::Side;
use model::account::NodeAccount;
use model::comparison::{Difference, Subject};
use model::plan::{
    Attached, AttachedRole, Cache, Content, Entrance, Experiment, Feed, FeedOrder, FeedSource, Kind, Limits,
    LoadModel, Node, PoolMode, Setup, Stage, Think, Work,
};
use model::summary::QueryMode;
use model::{Nanos, Spacing};

/// Where and on what a run was measured.
#[derive(Clone, Copy, Debug)]
pub struct Stand<'a> {
    /// Keys and values, such as `processor`.
    pub machine: &'a [(String, String)],
    /// As they really were, by configuration.
    pub nodes: &'a [NodeAccount],
    /// Version of pgdyno.
    pub program: &'a str,
}

/// One thing that might differ.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    subject: Subject,
    path: String,
    value: String,
}

/// Between two cells: what makes comparing them unfair first. `expected`: paths of what was changed on purpose, or of what
/// is above it.
pub fn differences(
    base: (&Experiment, Stand<'_>, usize),
    run: (&Experiment, Stand<'_>, usize),
    expected: &[String],
) -> Vec<Difference> {
    let [base, run] = [base, run].map(|(experiment, stand, cell)| lines(experiment, stand, cell));
    // A node that only one has is what is compared: its way and its limits make nothing unfair.
    let has = |of: &[Line], node: &str| of.iter().any(|it| it.path.strip_suffix(".kind") == Some(node));
    let new = |it: &Line| {
        let node = it.path.split('.').next().unwrap_or_default();
        has(&base, node) != has(&run, node)
    };
    let mut paths: Vec<(Subject, &str)> = Vec::new();
    for it in base.iter().chain(&run) {
        let subject = if new(it) { Subject::Setting } else { it.subject };
        if !paths.contains(&(subject, it.path.as_str())) {
            paths.push((subject, &it.path));
        }
    }
    let value = |of: &[Line], path: &str| of.iter().find(|it| it.path == path).map(|it| it.value.clone());
    let one = |(subject, path): (Subject, &str)| {
        let (base, run) = (value(&base, path), value(&run, path));
        let on_purpose = |it: &String| {
            path.strip_prefix(it.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
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
    all.sort_by_key(|it| (!it.unfair(), it.subject));
    all
}

/// Of all pairs of cells; the same difference in several once.
pub(super) fn beside(
    base: &Side<'_>,
    run: &Side<'_>,
    pairs: &[(usize, usize)],
    expected: &[String],
) -> Vec<Difference> {
    let mut all: Vec<Difference> = Vec::new();
    for (number, (a, b)) in pairs.iter().enumerate() {
        for it in differences((base.experiment, base.stand, *a), (run.experiment, run.stand, *b), expected) {
            let same = |other: &&mut Difference| {
                (other.subject, &other.path, &other.base, &other.run)
                    == (it.subject, &it.path, &it.base, &it.run)
            };
            match all.iter_mut().find(same) {
                Some(known) => known.cells.push(number),
                None => all.push(Difference { cells: vec![number], ..it }),
            }
        }
    }
    for it in &mut all {
        if it.cells.len() == pairs.len() {
            it.cells.clear();
        }
    }
    all.sort_by_key(|it| (!it.unfair(), it.subject));
    all
}

fn lines(experiment: &Experiment, stand: Stand<'_>, cell: usize) -> Vec<Line> {
    let setup = &experiment.cells[cell].setup;
    let mut all = Lines(Vec::new());
    setup.stack.nodes.iter().for_each(|it| all.node(it));
    all.limits("generator", &setup.stack.generator);
    // A stack can have changed in the midst of a run: then a node is there twice.
    for node in stand.nodes.iter().filter(|it| it.cells.contains(&cell)) {
        all.really(node);
    }
    for (key, value) in stand.machine.iter().filter(|it| tells(&it.0)) {
        all.push(Subject::Machine, format!("machine.{key}"), value);
    }
    all.dataset(setup);
    all.load(setup);
    for it in &setup.operations {
        let path = format!("operations.{}", it.name);
        let work = match it.work {
            Work::Script { .. } => "script",
            Work::Http(_) => "http",
            Work::Ammo => "ammo",
        };
        all.push(Subject::Operation, format!("{path}.{work}"), it.text().trim());
        match it.rate {
            Some(rate) => all.push(Subject::Operation, format!("{path}.rate"), rate),
            None => all.push(Subject::Operation, format!("{path}.weight"), it.weight),
        }
        all.some(Subject::Operation, format!("{path}.feed"), it.feed.as_ref());
        all.some(Subject::Operation, format!("{path}.schedule"), it.schedule.as_ref());
        if let Work::Http(steps) = &it.work {
            // Who expects less finds less that has failed.
            let expected: Vec<String> = steps.iter().map(|it| format!("{:?}", it.expect)).collect();
            all.push(Subject::Operation, format!("{path}.expect"), expected.join("; "));
        }
    }
    setup.feeds.iter().for_each(|it| all.feed(it));
    all.push(Subject::Generator, "pgdyno".into(), stand.program);
    all.push(Subject::Objective, "objectives".into(), setup.objectives.join("; "));
    all.push(Subject::Objective, "stop".into(), setup.stop.join("; "));
    all.0
}

/// Whether the machine's figures may change with it: how many files may be open does not.
fn tells(key: &str) -> bool {
    const IDLE: [&str; 2] = ["files", "ports"];
    !IDLE.iter().any(|it| key == *it || key.starts_with(&format!("{it}.")))
}

struct Lines(Vec<Line>);

impl Lines {
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given alike")]
    fn push(&mut self, subject: Subject, path: String, value: impl ToString) {
        let value = value.to_string();
        match self.0.iter_mut().find(|it| it.path == path) {
            // It was both.
            Some(known) if !known.value.split(", ").any(|it| it == value) => {
                known.value += &format!(", {value}");
            }
            Some(_) => {}
            None => self.0.push(Line { subject, path, value }),
        }
    }

    fn some(&mut self, subject: Subject, path: String, value: Option<impl ToString>) {
        if let Some(it) = value {
            self.push(subject, path, it);
        }
    }

    fn node(&mut self, it: &Node) {
        let at = |key: &str| format!("{}.{key}", it.name);
        let product = match &it.kind {
            Kind::Postgres(_) => "postgres",
            Kind::PgBouncer(_) => "pgbouncer",
            Kind::Odyssey(_) => "odyssey",
            Kind::HaProxy(_) => "haproxy",
            Kind::Service(_) => "service",
            Kind::Attached(_) => "attached",
        };
        let is_server = matches!(it.kind, Kind::Postgres(_));
        self.push(if is_server { Subject::Server } else { Subject::Setting }, at("kind"), product);
        // Of what is not ours, its address tells.
        if !matches!(it.kind, Kind::Attached(_)) {
            let entrance = match it.entrance {
                Entrance::Unix => "unix",
                Entrance::Tcp => "tcp",
                Entrance::Tls => "tls",
            };
            self.push(Subject::Transport, at("entrance"), entrance);
        }
        self.limits(&it.name, &it.limits);
        let set = Subject::Setting;
        let mut settings: &[(String, String)] = &[];
        match &it.kind {
            Kind::Postgres(it) => {
                self.some(Subject::Server, at("version"), it.version);
                self.push(set, at("max_connections"), it.max_connections);
                settings = &it.settings;
            }
            Kind::PgBouncer(it) => {
                self.push(set, at("mode"), mode(it.mode));
                self.push(set, at("size"), it.size);
                self.push(set, at("max_client_conn"), it.max_client_conn);
                settings = &it.settings;
            }
            Kind::Odyssey(it) => {
                self.push(set, at("mode"), mode(it.mode));
                self.push(set, at("size"), it.size);
                self.push(set, at("workers"), it.workers);
                self.push(set, at("client_max"), it.client_max);
                self.push(set, at("pool_timeout"), time(it.pool_timeout));
                settings = &it.settings;
            }
            Kind::HaProxy(it) => {
                self.some(set, at("maxconn"), it.maxconn);
                self.push(set, at("queue_timeout"), time(it.queue_timeout));
                self.some(set, at("check"), it.check.map(time));
                self.some(set, at("retries"), it.retries);
            }
            Kind::Service(it) => {
                self.push(set, at("command"), it.command.join(" "));
                self.some(Subject::Transport, at("url"), it.url.as_ref());
                self.push(set, at("copies"), it.copies);
                settings = &it.env;
            }
            Kind::Attached(Attached { dsn, admin, role, .. }) => {
                let role = match role {
                    AttachedRole::Postgres => "postgres",
                    AttachedRole::PgBouncer => "pgbouncer",
                    AttachedRole::Odyssey => "odyssey",
                    AttachedRole::Balancer => "balancer",
                };
                self.push(set, at("role"), role);
                self.push(Subject::Transport, at("dsn"), dsn);
                self.some(set, at("admin"), admin.as_ref());
            }
        }
        for (key, value) in settings {
            self.push(set, format!("{}.settings.{key}", it.name), value);
        }
    }

    /// As it was found when it ran.
    fn really(&mut self, it: &NodeAccount) {
        let subject = if it.kind == "postgres" { Subject::Server } else { Subject::Setting };
        self.push(subject, format!("{}.build", it.name), &it.version);
        self.some(subject, format!("{}.program", it.name), it.program.as_ref());
        for limit in &it.not_applied {
            let (limit, why) = limit.split_once(" is not limited: ").unwrap_or((limit, ""));
            self.push(Subject::NotApplied, format!("{}.limits.{limit} not applied", it.name), why);
        }
    }

    fn limits(&mut self, node: &str, it: &Limits) {
        let at = |key: &str| format!("{node}.limits.{key}");
        self.some(Subject::Limit, at("cpu"), it.cpu);
        self.some(Subject::Limit, at("memory"), it.memory.map(bytes));
        self.some(Subject::Limit, at("read_iops"), it.read_iops);
        self.some(Subject::Limit, at("write_iops"), it.write_iops);
        self.some(Subject::Limit, at("read_bps"), it.read_bps.map(bytes));
        self.some(Subject::Limit, at("write_bps"), it.write_bps.map(bytes));
        if !it.cpus.is_empty() {
            let cpus: Vec<String> = it.cpus.iter().map(u32::to_string).collect();
            self.push(Subject::Limit, at("cpus"), cpus.join(","));
        }
    }

    fn dataset(&mut self, setup: &Setup) {
        let Some(it) = &setup.dataset else { return };
        let mut push =
            |key: &str, value: String| self.push(Subject::Dataset, format!("dataset.{key}"), value);
        push("seed", it.seed.to_string());
        let cache = match it.cache {
            Cache::Warm => "warm",
            Cache::Cold => "cold",
            Cache::AsIs => "as is",
        };
        push("cache", cache.into());
        match &it.content {
            Content::Tickets { rows } => push("tickets.rows", rows.to_string()),
            Content::Profiles { users, per_user } => {
                push("profiles.users", users.to_string());
                push("profiles.per_user", per_user.to_string());
            }
            Content::Pgbench { scale } => push("pgbench.scale", scale.to_string()),
            Content::Delivery { scale } => push("delivery.scale", scale.to_string()),
            Content::Users { users } => push("users.users", users.to_string()),
            Content::Books { rows } => push("books.rows", rows.to_string()),
            Content::Declared(tables) => {
                for table in tables {
                    let at = |key: &str| format!("tables.{}.{key}", table.name);
                    push(&at("rows"), table.rows.to_string());
                    push(&at("primary_key"), table.primary_key.join(", "));
                    push(&at("indexes"), table.indexes.join("; "));
                    for column in &table.columns {
                        // How values are drawn has many forms, and any other one is another dataset.
                        let drawn = (&column.sql_type, &column.generator, column.nulls);
                        push(&at(&format!("columns.{}", column.name)), format!("{drawn:?}"));
                    }
                }
            }
        }
    }

    fn feed(&mut self, it: &Feed) {
        let mut push = |key: &str, value: String| {
            self.push(Subject::Operation, format!("feeds.{}.{key}", it.name), value);
        };
        match &it.source {
            FeedSource::File { path, form } => push("file", format!("{} ({form:?})", path.display())),
            FeedSource::Query(sql) => push("sql", sql.trim().to_owned()),
            FeedSource::Rows(rows) => push("rows", format!("{rows:?}")),
        }
        let order = match it.order {
            FeedOrder::Sequential => "sequential".to_owned(),
            FeedOrder::Shuffled => "shuffled".to_owned(),
            FeedOrder::Random => "random".to_owned(),
            FeedOrder::Zipfian { s } => format!("zipfian({s})"),
            FeedOrder::Once => "once".to_owned(),
        };
        push("order", order);
        if let Some(it) = &it.columns {
            push("columns", it.join(", "));
        }
    }

    fn load(&mut self, setup: &Setup) {
        let it = &setup.load;
        let mut push = |key: &str, value: String| self.push(Subject::Load, format!("load.{key}"), value);
        match &it.model {
            LoadModel::Closed { clients, think } => {
                push("model", "closed".into());
                push("clients", clients.to_string());
                push("think", time(*think));
            }
            LoadModel::Users { stages, think, pacing, rate_max } => {
                push("model", "closed".into());
                match stages.as_slice() {
                    [Stage { users, spawn_rate: None, .. }] => push("clients", users.to_string()),
                    stages => push("users", stages.iter().map(stage).collect::<Vec<_>>().join(", ")),
                }
                push("think", thinking(*think));
                if let Some(it) = pacing {
                    push("pacing", time(*it));
                }
                if let Some(it) = rate_max {
                    push("max_rate", it.to_string());
                }
            }
            LoadModel::Open { schedule, arrivals, max_in_flight } => {
                push("model", "open".into());
                push("schedule", schedule.clone());
                let even = *arrivals == Spacing::Even;
                push("arrivals", if even { "even" } else { "poisson" }.into());
                push("max_in_flight", max_in_flight.to_string());
            }
        }
        if let Some(it) = it.duration {
            push("duration", time(it));
        }
        push("warmup", time(it.warmup));
        push("threads", it.threads.to_string());
        let query_mode = match it.query_mode {
            QueryMode::Simple => "simple",
            QueryMode::Extended => "extended",
            QueryMode::Prepared => "prepared",
        };
        push("query_mode", query_mode.into());
        push("connect_each", it.connect_each.to_string());
        if let Some(it) = it.timeout {
            push("timeout", time(it));
        }
        push("max_tries", it.max_tries.to_string());
    }
}

/// `1000 at 50/s for 90s`.
fn stage(it: &Stage) -> String {
    let rate = it.spawn_rate.map_or(String::new(), |it| format!(" at {it}/s"));
    format!("{}{rate} for {}", it.users, time(it.lasting))
}

/// As an experiment file has it.
fn thinking(it: Think) -> String {
    match it {
        Think::Constant(it) => time(it),
        Think::Exponential { mean } => format!("exponential({})", time(mean)),
        Think::LogNormal { median, sigma } => format!("lognormal({}, {sigma})", time(median)),
    }
}

fn mode(it: PoolMode) -> &'static str {
    match it {
        PoolMode::Session => "session",
        PoolMode::Transaction => "transaction",
        PoolMode::Statement => "statement",
    }
}

/// As an experiment file has it: `1.5s`, `200ms`.
fn time(it: Nanos) -> String {
    match it.0 {
        0 => "0s".to_owned(),
        ns if ns % 1_000_000_000 == 0 => format!("{}s", ns / 1_000_000_000),
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns as f64 / 1e3),
    }
}

/// As an experiment file has it: `400MB`, of 1024².
fn bytes(it: u64) -> String {
    let units = [("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];
    let whole = units.into_iter().find(|(_, size)| it >= *size && it.is_multiple_of(*size));
    whole.map_or_else(|| format!("{it}B"), |(unit, size)| format!("{}{unit}", it / size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::fixture::experiment;
    use model::plan::{Operation, PgBouncer};

    fn node(version: &str, not_applied: &[&str], cells: &[usize]) -> NodeAccount {
        NodeAccount {
            name: "postgres".into(),
            kind: "postgres".into(),
            version: version.into(),
            program: None,
            entrance: "tcp".into(),
            limits: Limits::default(),
            not_applied: not_applied.iter().map(|it| (*it).to_owned()).collect(),
            cells: cells.to_vec(),
            configuration: Vec::new(),
        }
    }

    fn pooler(mode: PoolMode, size: u32) -> Node {
        let kind = Kind::PgBouncer(PgBouncer {
            version: None,
            mode,
            size,
            max_client_conn: 100,
            settings: vec![("server_lifetime".into(), "60".into())],
        });
        Node { name: "pooler".into(), kind, entrance: Entrance::Tcp, limits: Limits::default() }
    }

    type Change = fn(&mut Setup, &mut Vec<(String, String)>, &mut NodeAccount);

    /// `! path base → run` of the second cell, `!` where it is unfair.
    #[track_caller]
    fn check(change: Change, expected: &[&str]) {
        let mut one = experiment(&["direct"], None);
        let setup = &mut one.cells[0].setup;
        setup.stack.nodes.insert(0, pooler(PoolMode::Session, 20));
        setup.operations.push(Operation::script("pay", 1, "SELECT 1;"));
        let mut other = one.clone();
        let machine = vec![("kernel".to_owned(), "6.1".to_owned()), ("files".to_owned(), "1024".to_owned())];
        let (mut machine_after, mut node_after) = (machine.clone(), node("15.18", &[], &[0]));
        let nodes = [node_after.clone()];
        change(&mut other.cells[0].setup, &mut machine_after, &mut node_after);
        let nodes_after = [node_after];
        let before = Stand { machine: &machine, nodes: &nodes, program: "0.1.0" };
        let after = Stand { machine: &machine_after, nodes: &nodes_after, program: "0.1.0" };
        let all = differences((&one, before, 0), (&other, after, 0), &["load.clients".into()]);
        let line = |it: &Difference| {
            let told = |it: &Option<String>| it.clone().unwrap_or("-".into());
            format!(
                "{}{} {} → {}",
                if it.unfair() { "! " } else { "" },
                it.path,
                told(&it.base),
                told(&it.run)
            )
        };
        assert_eq!(all.iter().map(line).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn settings_by_their_paths() {
        check(|_, _, _| {}, &[]);
        check(
            |it, _, _| it.stack.nodes[0] = pooler(PoolMode::Transaction, 20),
            &["pooler.mode session → transaction"],
        );
        check(
            |it, _, _| {
                it.stack.nodes[0].entrance = Entrance::Unix;
                it.stack.nodes[0].limits.memory = Some(400 << 20);
                it.load.warmup = Nanos::from_millis(1500);
                it.load.model = LoadModel::Closed { clients: 77, think: Nanos::ZERO };
                let Kind::PgBouncer(pooler) = &mut it.stack.nodes[0].kind else { return };
                pooler.settings[0].1 = "90".into();
            },
            &[
                "! pooler.entrance tcp → unix",
                "! pooler.limits.memory - → 400MB",
                "! load.warmup 0s → 1500ms",
                "load.clients 200 → 77",
                "pooler.settings.server_lifetime 60 → 90",
            ],
        );
        check(
            |it, _, _| drop(it.stack.nodes.remove(0)),
            &[
                "pooler.kind pgbouncer → -",
                "pooler.entrance tcp → -",
                "pooler.mode session → -",
                "pooler.size 20 → -",
                "pooler.max_client_conn 100 → -",
                "pooler.settings.server_lifetime 60 → -",
            ],
        );
    }

    #[test]
    fn users_requests_and_feeds() {
        let second = Nanos::from_secs(1);
        let users = |stages: &[(u32, Option<f64>)], think, rate_max| LoadModel::Users {
            stages: stages
                .iter()
                .map(|it| Stage { users: it.0, spawn_rate: it.1, lasting: second })
                .collect(),
            think,
            pacing: None,
            rate_max,
        };
        // The same clients, who only think otherwise.
        let mut one = experiment(&["direct"], None);
        one.cells[0].setup.load.model = LoadModel::Closed { clients: 200, think: Nanos::ZERO };
        let mut other = one.clone();
        let setup = &mut other.cells[0].setup;
        setup.load.model = users(&[(200, None)], Think::Exponential { mean: second }, Some(500.0));
        let stand = Stand { machine: &[], nodes: &[], program: "" };
        let told = |one: &Experiment, other: &Experiment| {
            let all = differences((one, stand, 0), (other, stand, 0), &[]);
            let shown = |it: Option<String>| it.unwrap_or("-".into());
            all.into_iter()
                .map(|it| format!("{} {} → {}", it.path, shown(it.base), shown(it.run)))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&one, &other), ["load.think 0s → exponential(1s)", "load.max_rate - → 500"]);
        let setup = &mut other.cells[0].setup;
        let think = Think::LogNormal { median: second, sigma: 0.5 };
        setup.load.model = users(&[(10, Some(2.5)), (5, None)], think, None);
        assert_eq!(
            told(&one, &other),
            [
                "load.clients 200 → -",
                "load.think 0s → lognormal(1s, 0.5)",
                "load.users - → 10 at 2.5/s for 1s, 5 for 1s"
            ]
        );
        let mut another = one.clone();
        let setup = &mut another.cells[0].setup;
        let of = |order| Feed {
            name: "books".into(),
            source: FeedSource::Query("SELECT 1 ".into()),
            columns: None,
            order,
            of: None,
        };
        setup.feeds = vec![of(FeedOrder::Sequential)];
        let mut changed = another.clone();
        changed.cells[0].setup.feeds = vec![of(FeedOrder::Zipfian { s: 1.2 })];
        assert_eq!(told(&another, &changed), ["feeds.books.order sequential → zipfian(1.2)"]);
        assert_eq!(
            told(&one, &another),
            ["feeds.books.sql - → SELECT 1", "feeds.books.order - → sequential"]
        );
    }

    #[test]
    fn machines_builds_and_what_was_not_applied() {
        check(
            |it, machine, node| {
                machine[0].1 = "6.12".into();
                machine[1].1 = "4096".into();
                node.version = "15.19".into();
                node.not_applied = vec!["cpu is not limited: no right".into()];
                it.operations[0].weight += 1;
            },
            &[
                "! postgres.build 15.18 → 15.19",
                "! postgres.limits.cpu not applied - → no right",
                "! machine.kernel 6.1 → 6.12",
                "! operations.pay.weight 1 → 2",
            ],
        );
    }
}
