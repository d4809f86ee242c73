//! Tests files with the goal `failover`.

use super::common::{printed, read_with_sets, read_with_url};
use experiment::{Diagnostics, Plan};
use model::Nanos;
use model::plan::{
    Cell, ClusterManager, FailoverManager, FaultAction, FaultTrigger, Goal, ManagerSettings, SyncMode,
};

const WRITE: &str = "write: { sql: \"INSERT INTO t VALUES (:token)\", ledger: SELECT token FROM t }";
const KILL: &str = "faults: [{ at: 5s, kill: primary }]";
const SEVERAL: &str = "replicas: { count: 2, sync: any 1 }";

fn text(stack: &str, operations: &str, rest: &str) -> String {
    format!(
        "stack: {{ postgres: {{}}, {stack} }}\noperations: {{ {operations} }}\n\
         load: {{ model: closed, clients: 1, duration: 9s, warmup: 1s }}\n{rest}\n"
    )
}

fn read(stack: &str, operations: &str, rest: &str) -> Result<Plan, Diagnostics> {
    read_with_url(&text(stack, operations, rest), &|_| Err(Vec::new()))
}

fn plan(rest: &str) -> Plan {
    read(SEVERAL, WRITE, rest).unwrap_or_else(|it| panic!("{rest}\n{}", printed(&it)))
}

/// Text of a cell: `[axis=value …] of N` for a control, its `sync`, and the times at which its replication is blocked.
fn cell_text(cell: &Cell) -> String {
    let label: Vec<String> = cell.label.iter().map(|(axis, it)| format!("{axis}={it}")).collect();
    let control = cell.control_of.map_or(String::new(), |it| format!(" of {it}"));
    let replication = cell.setup.stack.replication.as_ref().expect("the stack has replicas");
    let faults: Vec<String> = cell
        .setup
        .faults
        .iter()
        .map(|fault| match (fault.trigger, &fault.action) {
            (FaultTrigger::At(at), FaultAction::BlockReplication { duration }) => {
                let end = duration.map_or("promotion".to_owned(), |it| it.as_secs_f64().to_string());
                format!("blocked {}+{end}", at.as_secs_f64())
            }
            (FaultTrigger::At(at), _) => format!("{}", at.as_secs_f64()),
            (FaultTrigger::After(..), _) => "then".to_owned(),
        })
        .collect();
    format!("[{}]{control}: {:?}: {}", label.join(" "), replication.sync, faults.join(" "))
}

#[test]
fn reads_ledgers() {
    let check = |operation: &str, expected: &str| {
        let plan = read("", operation, "").unwrap_or_else(|it| panic!("{operation}\n{}", printed(&it)));
        let ledger = plan.experiment.cells[0].setup.operations[0].ledger.as_ref();
        let text = ledger.map(|it| format!("{}{}", if it.is_list() { "list: " } else { "" }, it.text()));
        assert_eq!(text.as_deref(), Some(expected));
    };
    check(WRITE, "SELECT token FROM t");
    check("a: { sql: \"SELECT f(:token)\", ledger: \"SELECT token FROM t ; \" }", "SELECT token FROM t");
    check("a: { sql: \"SELECT f(:token)\", ledger: \"SELECT ';' -- all\" }", "SELECT ';' -- all\n");
    check(
        "a: { sql: \"UPDATE t SET log = log || :token\", ledger: { list: SELECT log FROM t; } }",
        "list: SELECT log FROM t",
    );
    let without = read("", "a: { sql: SELECT 1 }", "").unwrap();
    assert_eq!(without.experiment.cells[0].setup.operations[0].ledger, None);
}

#[test]
fn reports_ledger_diagnostics() {
    let check = |operation: &str, expected: &str| {
        let text = text("", operation, "");
        let message = printed(&with_service(&text).expect_err(operation));
        assert!(message.contains(expected), "{operation}\n{message}");
        assert_eq!(message.lines().count(), 1, "{operation}\n{message}");
    };
    let sql = "sql: \"INSERT INTO t VALUES (:token)\"";
    check(
        &format!("a: {{ {sql}, ledger: '' }}"),
        "`ledger` contains no query; write one query of one column",
    );
    check(&format!("a: {{ {sql}, ledger: ' -- no; ' }}"), "`ledger` contains no query");
    check(
        &format!("a: {{ {sql}, ledger: 'SELECT 1; SELECT 2' }}"),
        "`ledger` contains 2 statements; write one",
    );
    check(&format!("a: {{ {sql}, ledger: \"\\\\set x 1\" }}"), "`ledger` contains a pgbench meta-command");
    check("a: { sql: SELECT 1, ledger: SELECT 1 }", "`a` has a ledger but writes no token; write `:token`");
    check("a: { get: /x, ledger: SELECT 1 }", "`a` has a ledger but writes no token; write `${token}`");
    check("a: { get: '/x?${token}' }", "unknown variable `token` in `operations.a`");
    check(
        "a: { sql: \"\\\\set token 1\\nSELECT :token\", ledger: SELECT 1 }",
        "the variable `token` is reserved for the ledger",
    );
    check(
        "a: { get: '/x?${token}', set: { token: '1' }, ledger: SELECT 1 }",
        "the variable `token` is reserved for the ledger",
    );
    // No other operation may overwrite the token, because a client has one set of variables.
    let other =
        "a: { get: '/x?${token}', ledger: SELECT 1 }, b: { post: /login, capture: { token: { json: /t } } }";
    check(other, "the variable `token` is reserved for the ledger");
}

fn with_service(text: &str) -> Result<Plan, Diagnostics> {
    reading(&text.replace("stack: {", "stack: { service: { command: [./shop] },"))
}

fn reading(text: &str) -> Result<Plan, Diagnostics> {
    let place = experiment::UrlTarget {
        address: "127.0.0.1:1".to_owned(),
        transport: model::plan::Transport::Tcp,
        is_local: true,
        target: "/".to_owned(),
    };
    read_with_url(text, &|_| Ok(place.clone()))
}

/// A service's response is an acknowledgement; pgdyno reads the database behind it directly.
#[test]
fn reads_ledgers_of_services() {
    let text = text("", "a: { post: /x, json: { id: '${token}' }, ledger: SELECT token FROM t }", "");
    let plan = with_service(&text).unwrap_or_else(|it| panic!("{}", printed(&it)));
    let operation = &plan.experiment.cells[0].setup.operations[0];
    assert_eq!(operation.ledger.as_ref().map(model::plan::LedgerQuery::text), Some("SELECT token FROM t"));
    let without_postgres = text.replace("postgres: {}, ", "service: { url: \"http://127.0.0.1:1\" }");
    let message = printed(&reading(&without_postgres).expect_err("the ledger has no database"));
    assert!(message.contains("the stack has no PostgreSQL to read the ledger from"), "{message}");
}

#[test]
fn reads_invariants() {
    let plan = read("", WRITE, "invariants: [ 'SELECT sum(n) FROM t; ' ]")
        .unwrap_or_else(|it| panic!("{}", printed(&it)));
    assert_eq!(plan.experiment.cells[0].setup.invariants, ["SELECT sum(n) FROM t"]);
    let check = |operation: &str, rest: &str, expected: &str| {
        let message = printed(&read("", operation, rest).expect_err(rest));
        assert!(message.contains(expected), "{rest}\n{message}");
        assert_eq!(message.lines().count(), 1, "{rest}\n{message}");
    };
    check(WRITE, "invariants: [ '' ]", "this invariant contains no query; write one query");
    check(WRITE, "invariants: [ SELECT 1, 'SELECT 1; SELECT 2' ]", "this invariant contains 2 statements");
    check(WRITE, "invariants: [ '\\set x 1' ]", "this invariant contains a pgbench meta-command");
    check(
        "a: { sql: SELECT 1 }",
        "invariants: [ SELECT 1 ]",
        "`invariants` require an operation with a `ledger`",
    );
}

#[test]
fn reads_number_of_trials() {
    let check = |rest: &str, expected: u32| {
        let plan = plan(&format!("{KILL}\n{rest}"));
        assert_eq!((plan.experiment.goal, plan.experiment.repeat), (Goal::Failover, expected), "{rest}");
    };
    check("find: failover", 1);
    check("find: failover\nrepeat: 5", 5);
    check("find: { failover: {} }\nrepeat: 5", 5);
    check("find: { failover: { times: 20 } }", 20);
    let quick = format!("{KILL}\nfind: {{ failover: {{ times: 20 }} }}\nquick: {{ find.failover.times: 2 }}");
    for (is_quick, sets, expected) in
        [(false, &[][..], 20), (true, &[], 2), (true, &["find.failover.times=3".to_owned()][..], 3)]
    {
        let plan = read_with_sets(&text(SEVERAL, WRITE, &quick), sets, is_quick)
            .unwrap_or_else(|it| panic!("{}", printed(&it)));
        assert_eq!(plan.experiment.repeat, expected, "{sets:?}");
    }
}

#[test]
fn builds_control_cells() {
    let check = |rest: &str, expected: &[&str]| {
        let plan = plan(&format!("find: failover\n{rest}"));
        let actual: Vec<String> = plan.experiment.cells.iter().map(cell_text).collect();
        assert_eq!(actual, expected, "{rest}");
        assert_eq!(plan.durations, vec![Nanos::from_secs(10); expected.len()], "{rest}");
    };
    check(
        KILL,
        &["[]: Any(1): 5", "[control=async, replication blocked] of 0: Async: blocked 4.5+promotion 5"],
    );
    check(
        &format!("{KILL}\nmatrix: {{ control: {{ a: {{}} }} }}"),
        &[
            "[control=a]: Any(1): 5",
            "[control=a positive control=async, replication blocked] of 0: Async: blocked 4.5+promotion 5",
        ],
    );
    // Cells that differ only in their promise share one control. Other differences require another one.
    check(
        &format!("{KILL}\nmatrix: {{ replicas.sync: [async, any 1], load.clients: [1, 2] }}"),
        &[
            "[replicas.sync=async load.clients=1]: Async: 5",
            "[replicas.sync=async load.clients=2]: Async: 5",
            "[replicas.sync=any 1 load.clients=1]: Any(1): 5",
            "[replicas.sync=any 1 load.clients=2]: Any(1): 5",
            "[load.clients=1 control=async, replication blocked] of 0: Async: blocked 4.5+promotion 5",
            "[load.clients=2 control=async, replication blocked] of 1: Async: blocked 4.5+promotion 5",
        ],
    );
    let control = "[control=async, replication blocked] of 0: Async:";
    // Replication is blocked before the first fault of the primary, in the order of time.
    check(
        "faults: [{ at: 1s, restart: primary }, { at: 4.8s, pause: replica, duration: 1s }, { at: 5s, isolate: postgres, duration: 2s }]",
        &["[]: Any(1): 1 4.8 5", &format!("{control} 1 blocked 4.5+promotion 4.8 5")],
    );
    check(
        "faults: [{ at: 500ms, kill: primary, part: postmaster }, { after: rejoined, kill: primary }]",
        &["[]: Any(1): 0.5 then", &format!("{control} blocked 0+promotion 0.5 then")],
    );
    let faults =
        "{ at: 2s, block_replication: primary, duration: 3s }, { at: 4s, pause: primary, duration: 2s }";
    check(
        &format!("faults: [{faults}]"),
        &["[]: Any(1): blocked 2+3 4", &format!("{control} blocked 2+3 4")],
    );
    let none = "find: { failover: { control: false } }\nfaults: [{ at: 5s, switchover: any }]";
    let plan = plan(none);
    assert_eq!(plan.experiment.cells.iter().map(cell_text).collect::<Vec<_>>(), ["[]: Any(1): 5"]);
    assert_eq!(plan.experiment.control_for(0), None);
}

/// A Patroni without a promise promotes any replica.
#[test]
fn builds_control_cells_for_patroni() {
    let stack = "replicas: { count: 2, sync: first 1, manager: patroni }";
    let plan = read(stack, WRITE, &format!("find: failover\n{KILL}"))
        .unwrap_or_else(|it| panic!("{}", printed(&it)));
    let [cell, control] = plan.experiment.cells.as_slice() else { panic!("{:?}", plan.experiment.cells) };
    let replication = |it: &Cell| it.setup.stack.replication.clone().unwrap();
    let usual = ClusterManager::default();
    assert_eq!(replication(cell).manager, FailoverManager::External(usual));
    let settings = ManagerSettings { strict: false, maximum_lag: ManagerSettings::ANY_LAG, ..usual.settings };
    let lax = ClusterManager { settings, ..usual };
    let expected = (SyncMode::Async, FailoverManager::External(lax));
    assert_eq!((replication(control).sync, replication(control).manager), expected);
}

/// A running cluster has its control in the same trial, so there is no control cell.
#[test]
fn reads_clusters_that_run_already() {
    let dsn = |port: u32| format!("'host=127.0.0.1 port={port} user=me dbname=shop'");
    let read = |servers: &str, fault: &str| {
        let text = format!(
            "stack: {{ postgres: {{ attach: {}{servers} }} }}\noperations: {{ {WRITE} }}\n\
             load: {{ model: closed, clients: 1, duration: 9s }}\nfind: failover\nfaults: [{{ {fault} }}]\n",
            dsn(5000)
        );
        read_with_url(&text, &|_| Err(Vec::new()))
    };
    let all = format!(", servers: [{}, {}]", dsn(5432), dsn(5433));
    let plan = read(&all, "at: 2s, run: [./f.sh]").unwrap_or_else(|it| panic!("{}", printed(&it)));
    let [cell] = &plan.experiment.cells[..] else { panic!("{:?}", plan.experiment.cells) };
    assert_eq!(cell.setup.stack.attached_servers().len(), 2);
    let check = |servers: &str, fault: &str, expected: &str| {
        let message = printed(&read(servers, fault).expect_err(fault));
        assert!(message.contains(expected), "{fault}\n{message}");
    };
    check("", "at: 2s, external: true", "`find: failover` requires replicas");
    check(&all, "at: 2s, kill: primary", "unknown node `primary`");
    check(&all, "after: promoted, external: true", "`external` needs a time");
}

#[test]
fn control_names_its_cell() {
    let rest = "matrix: { replicas.sync: [async, any 1, first 1], load.clients: [1, 2] }";
    let experiment = plan(&format!("find: failover\n{KILL}\n{rest}")).experiment;
    let found: Vec<Option<usize>> = (0..8).map(|cell| experiment.control_for(cell)).collect();
    // The faults of a control differ.
    let expected = [Some(6), Some(7), Some(6), Some(7), Some(6), Some(7), None, None];
    assert_eq!(found, expected);
    assert_eq!(experiment.control_for(99), None);
}

#[test]
fn reports_failover_diagnostics() {
    let check = |stack: &str, operations: &str, rest: &str, expected: &str| {
        let message = printed(&read(stack, operations, rest).expect_err(rest));
        assert!(message.contains(expected), "{rest}\n{message}");
        assert_eq!(message.lines().count(), 1, "{rest}\n{message}");
    };
    let check_rest =
        |rest: &str, expected: &str| check(SEVERAL, WRITE, &format!("find: failover\n{rest}"), expected);
    check_rest(
        "",
        "book.yaml:4:7: `find: failover` requires faults; add `faults: [{ at: 20s, kill: primary }]`",
    );
    check_rest("faults: []", "`find: failover` requires faults");
    check_rest("faults: [{ kill: primary }]", "the fault has no time");
    check_rest(
        "faults: [{ at: 9s, kill: primary }]",
        "the fault (at 9s) comes after the end of the load (9s); inject it earlier",
    );
    check_rest("faults: [{ at: 5s, switchover: any }]", "no fault makes the primary fail");
    check_rest(
        "faults: [{ at: 5s, isolate: primary, from: servers, duration: 1s }]",
        "no fault makes the primary fail",
    );
    check_rest(
        "faults: [{ at: 5s, isolate: primary, from: postgres-2, duration: 1s }]",
        "no fault makes the primary fail",
    );
    check_rest("faults: [{ at: 5s, freeze_disk: primary, duration: 1s }]", "no fault makes the primary fail");
    check_rest(
        "faults: [{ at: 5s, kill: primary, from: servers }]",
        "`from` applies only to `isolate`, not to `kill`",
    );
    check_rest("faults: [{ at: 5s, kill: primary, part: postmaster }]\nrepeat: 0", "repeat");
    check_rest("faults: [{ at: 5s, kill: replica }]", "or write `control: false`");
    check_rest(
        "faults: [{ after: promoted, kill: primary }]",
        "book.yaml:5:10: the positive control needs to know when this fault begins",
    );
    check_rest("faults: [{ at: 400ms, kill: primary }]", "write `at: 500ms` or later, or `control: false`");
    let find = "find: { failover: { times: 3 } }\nrepeat: 2";
    check(SEVERAL, WRITE, &format!("{KILL}\n{find}"), "`times` cannot be combined with `repeat`");
    check(SEVERAL, WRITE, &format!("{KILL}\nfind: {{ failover: {{ times: 0 }} }}"), "at least 1");
    let reads = "a: { sql: SELECT 1 }";
    check(
        SEVERAL,
        reads,
        &format!("{KILL}\nfind: failover"),
        "`find: failover` requires an operation with a `ledger`, to detect lost writes; add `ledger: SELECT token FROM …`",
    );
    check(
        "",
        WRITE,
        &format!("{KILL}\nfind: failover"),
        "`find: failover` requires replicas; add `replicas: { count: 2, sync: any 1 }`",
    );
    check(SEVERAL, WRITE, &format!("{KILL}\nfind: {{ failover: {{}}, max: {{}} }}"), "exactly one mode");
}
