use super::*;
use crate::fixture::trial::experiment;
use model::matrix::UnappliedLimit;
use model::plan::{Dataset, HttpStep, Operation, PoolMode, Pooler, ThinkTime};
use model::product;

fn unapplied(reason: &str) -> UnappliedLimit {
    UnappliedLimit { node: "postgres".into(), limit: "cpu".into(), reason: reason.into() }
}

fn node(version: &str, not_applied: &[&str], cells: &[usize]) -> NodeInfo {
    NodeInfo {
        name: "postgres".into(),
        kind: "postgres".into(),
        version: version.into(),
        program: None,
        transport: "tcp".into(),
        limits: Limits::default(),
        unapplied_limits: not_applied.iter().map(|it| unapplied(it)).collect(),
        cells: cells.to_vec(),
        configuration: Vec::new(),
    }
}

fn pooler(mode: PoolMode, size: u32) -> Node {
    let kind = NodeKind::Pooler(Pooler {
        product: &product::PGBOUNCER,
        version: None,
        mode,
        size,
        max_client_conn: 100,
        workers: 1,
        pool_timeout: Nanos::ZERO,
        settings: vec![("server_lifetime".into(), "60".into())],
    });
    Node { name: "pooler".into(), kind, transport: Transport::Tcp, limits: Limits::default() }
}

type Change = fn(&mut Setup, &mut Vec<(String, String)>, &mut NodeInfo);

/// Checks the differences of the second cell, as `! path base → run`. `!` marks an unfair difference.
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
    let before = RunEnvironment { machine: &machine, nodes: &nodes, copied_data: &[], program: "0.1.0" };
    let after =
        RunEnvironment { machine: &machine_after, nodes: &nodes_after, copied_data: &[], program: "0.1.0" };
    let all = differences((&one, before, 0), (&other, after, 0), &["load.clients".into()]);
    let line = |difference: &Difference| {
        let value = |it: &Option<String>| it.clone().unwrap_or("-".into());
        format!(
            "{}{} {} → {}",
            if difference.is_confounder() { "! " } else { "" },
            difference.path,
            value(&difference.base),
            value(&difference.run)
        )
    };
    assert_eq!(all.iter().map(line).collect::<Vec<_>>(), expected);
}

#[test]
fn names_settings_by_path() {
    check(|_, _, _| {}, &[]);
    check(
        |it, _, _| it.stack.nodes[0] = pooler(PoolMode::Transaction, 20),
        &["pooler.mode session → transaction"],
    );
    check(
        |setup, _, _| {
            setup.stack.nodes[0].transport = Transport::Unix;
            setup.stack.nodes[0].limits.memory = Some(400 << 20);
            setup.load.warmup = Nanos::from_millis(1500);
            setup.load.model = LoadModel::Closed { clients: 77, think: Nanos::ZERO };
            let NodeKind::Pooler(pooler) = &mut setup.stack.nodes[0].kind else { return };
            pooler.settings[0].1 = "90".into();
        },
        &[
            "! pooler.transport tcp → unix",
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
            "pooler.transport tcp → -",
            "pooler.mode session → -",
            "pooler.size 20 → -",
            "pooler.max_client_conn 100 → -",
            "pooler.settings.server_lifetime 60 → -",
        ],
    );
}

#[test]
fn compares_statements_on_the_data_and_starts_of_clients() {
    let environment = RunEnvironment { machine: &[], nodes: &[], copied_data: &[], program: "" };
    let mut one = experiment(&["direct"], None);
    one.cells[0].setup.dataset = Some(Dataset::new(42, Content::Pgbench { scale: 1 }));
    let mut other = one.clone();
    let setup = &mut other.cells[0].setup;
    let login = OperationKind::Http(vec![HttpStep::new("POST", "/login")]);
    setup.on_start = Some(Box::new(Operation { kind: login, ..Operation::script(ON_START, 0, "") }));
    let dataset = setup.dataset.as_mut().expect("it was set");
    dataset.keep = true;
    dataset.post_load = vec!["CREATE INDEX a".to_owned(), "CREATE INDEX b".to_owned()];
    dataset.between = vec!["VACUUM".to_owned()];
    let all = differences((&one, environment, 0), (&other, environment, 0), &[]);
    let shown: Vec<String> =
        all.iter().map(|it| format!("{} {}", it.path, it.run.as_deref().unwrap_or("-"))).collect();
    let expected = [
        "dataset.keep true",
        "dataset.after CREATE INDEX a; CREATE INDEX b",
        "dataset.between VACUUM",
        "on_start.http POST /login",
        "on_start.weight 0",
        "on_start.expect Expectation { status: [], contains: [], not_contains: [] }",
    ];
    assert!(expected.iter().all(|it| shown.iter().any(|shown| shown == it)), "{shown:#?}");
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
}

#[test]
fn compares_users_requests_and_feeds() {
    let second = Nanos::from_secs(1);
    let users = |stages: &[(u32, Option<f64>)], think, rate_max| LoadModel::Users {
        stages: stages
            .iter()
            .map(|it| UserStage { users: it.0, spawn_rate: it.1, duration: second })
            .collect(),
        think,
        pacing: None,
        rate_max,
    };
    // The same clients with another think time.
    let mut one = experiment(&["direct"], None);
    one.cells[0].setup.load.model = LoadModel::Closed { clients: 200, think: Nanos::ZERO };
    let mut other = one.clone();
    let setup = &mut other.cells[0].setup;
    setup.load.model = users(&[(200, None)], ThinkTime::Exponential { mean: second }, Some(500.0));
    let environment = RunEnvironment { machine: &[], nodes: &[], copied_data: &[], program: "" };
    let described = |one: &Experiment, other: &Experiment| {
        let all = differences((one, environment, 0), (other, environment, 0), &[]);
        let shown = |it: Option<String>| it.unwrap_or("-".into());
        all.into_iter()
            .map(|it| format!("{} {} → {}", it.path, shown(it.base), shown(it.run)))
            .collect::<Vec<_>>()
    };
    assert_eq!(described(&one, &other), ["load.think 0s → exponential(1s)", "load.max_rate - → 500"]);
    let setup = &mut other.cells[0].setup;
    let think = ThinkTime::LogNormal { median: second, sigma: 0.5 };
    setup.load.model = users(&[(10, Some(2.5)), (5, None)], think, None);
    assert_eq!(
        described(&one, &other),
        [
            "load.clients 200 → -",
            "load.think 0s → lognormal(1s, 0.5)",
            "load.users - → 10 at 2.5/s for 1s, 5 for 1s"
        ]
    );
    let mut another = one.clone();
    let setup = &mut another.cells[0].setup;
    let feed = |order| Feed {
        name: "books".into(),
        source: FeedSource::Query("SELECT 1 ".into()),
        columns: None,
        order,
        lookup_column: None,
    };
    setup.feeds = vec![feed(FeedOrder::Sequential)];
    let mut changed = another.clone();
    changed.cells[0].setup.feeds = vec![feed(FeedOrder::Zipfian { s: 1.2 })];
    assert_eq!(described(&another, &changed), ["feeds.books.order sequential → zipfian(1.2)"]);
    assert_eq!(
        described(&one, &another),
        ["feeds.books.sql - → SELECT 1", "feeds.books.order - → sequential"]
    );
}

#[test]
fn compares_machines_builds_and_unapplied_limits() {
    check(
        |setup, machine, node| {
            machine[0].1 = "6.12".into();
            machine[1].1 = "4096".into();
            node.version = "15.19".into();
            node.unapplied_limits = vec![unapplied("no right")];
            setup.operations[0].weight += 1;
        },
        &[
            "! postgres.build 15.18 → 15.19",
            "! postgres.limits.cpu not applied - → no right",
            "! machine.kernel 6.1 → 6.12",
            "! operations.pay.weight 1 → 2",
        ],
    );
}
