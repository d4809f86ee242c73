//! Errors and faults in chains

use super::chain::{TestStack, ask, haproxy, node, odyssey, pgbouncer, pgpool, postgres, skipped, stack};
use super::replicas::replicated;
use super::server::{TEST_TIMEOUT, keeper, server};
use model::message::Message;
use model::plan::{AttachedNode, Node, NodeKind, PoolMode, Promoter, SyncMode, Transport};
use model::product;
use model::summary::ServerTransport;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use stack::chain::{Chain, ChainError};
use stack::client::{Address, Target};
use stack::component::program::Programs;
use stack::supervisor::{End, Supervisor, free_port};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use wire::Code;
use wire::pg::{Secret, SslMode};

/// Returns the poolers and the balancer, which run in front of PostgreSQL.
fn fronts() -> [Node; 4] {
    [
        pgbouncer(Transport::Tcp, PoolMode::Transaction),
        odyssey(Transport::Tcp, PoolMode::Session),
        haproxy(Transport::Tcp, Some(9)),
        pgpool(Transport::Tcp),
    ]
}

fn up(nodes: &[Node]) -> TestStack {
    TestStack::up(&stack(nodes)).unwrap_or_else(|it| panic!("{it:?}"))
}

fn with_password(target: &Target, password: &str) -> Target {
    let mut other = target.in_database(&target.login.database);
    Arc::get_mut(&mut other.login).unwrap().password = Some(Secret::new(password));
    other
}

#[test]
fn wrong_password_is_rejected_with_message() {
    let base = postgres(Transport::Tcp);
    let mut test_stack = up(std::slice::from_ref(&base));
    let mut check = |nodes: &[Node], expected: &[&str]| {
        if let Err(problem) = test_stack.reconcile(&stack(nodes)) {
            assert!(skipped(&problem), "{problem:?}");
            return;
        }
        let error = ask(&with_password(test_stack.chain.endpoint(), "wrong"), "select 1");
        assert!(expected.iter().any(|it| error.ends_with(it)), "{error}");
    };
    let server_error = "FATAL: password authentication failed for user \"app\" (SQLSTATE 28P01)";
    let [pgbouncer, odyssey, haproxy, pgpool] = fronts();
    check(std::slice::from_ref(&base), &[server_error]);
    check(&[haproxy, base.clone()], &[server_error]);
    // Poolers have separate error messages; PgBouncer forwards the server's since 1.19.
    check(&[pgbouncer, base.clone()], &["FATAL: SASL authentication failed (SQLSTATE 08P01)", server_error]);
    check(&[pgpool, base.clone()], &["username \"app\" or password does not exist in backend"]);
    check(&[odyssey, base], &[": password authentication failed for user \"app\" (SQLSTATE 28000)"]);
}

#[test]
fn errors_of_too_many_clients_differ_by_node() {
    let test_stack = up(&[postgres(Transport::Unix)]);
    let mut sessions = Vec::new();
    let error = loop {
        match test_stack.chain.endpoint().open(TEST_TIMEOUT) {
            Ok(it) => sessions.push(it),
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), Code::SqlState(*b"53300"), "{error:?}");
    // PostgreSQL reserves three slots for superusers.
    assert_eq!(sessions.len(), 17);
    assert_eq!(ask(test_stack.chain.nodes()[0].admin.as_ref().unwrap(), "select 1"), "1");
}

#[test]
fn tries_next_port_if_port_is_taken() {
    static TAKEN: OnceLock<TcpListener> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    /// Returns ports of which every other one is in use by a listener that never answers.
    fn ports() -> std::io::Result<u16> {
        if COUNT.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            return free_port();
        }
        let taken = TAKEN.get_or_init(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        Ok(taken.local_addr()?.port())
    }
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    for front in fronts() {
        let before = COUNT.load(Ordering::Relaxed);
        let stack = stack(&[front, postgres(Transport::Tcp)]);
        let chain =
            Chain::up_with(ports, &mut supervisor, &stack, &Programs::from_environment(), &mut |_| {});
        let mut chain = match chain {
            Ok(it) => it,
            Err(it) if skipped(&it) => continue,
            Err(it) => panic!("{it:?}"),
        };
        assert_eq!(ask(chain.endpoint(), "select 7"), "7");
        assert_eq!(COUNT.load(Ordering::Relaxed) - before, 4);
        chain.down(&mut supervisor, &mut |_| {}).unwrap();
    }
}

#[test]
fn unavailable_stack_changes_nothing() {
    let base = postgres(Transport::Unix);
    let mut test_stack = up(std::slice::from_ref(&base));
    let none = Programs { search_path: Vec::new(), env_var: |_| None, ..Programs::from_environment() };
    for (front, name) in fronts().into_iter().zip(["PgBouncer", "Odyssey", "HAProxy", "Pgpool-II"]) {
        let plan = stack(&[front, base.clone()]);
        let problem =
            test_stack.chain.reconcile(&mut test_stack.supervisor, &plan, &none, &mut |_| {}).unwrap_err();
        assert!(matches!(&problem, ChainError::Unavailable(it) if it.component == name), "{problem:?}");
        assert_eq!(ask(test_stack.chain.endpoint(), "select 1"), "1");
    }
}

#[test]
fn impossible_chains_are_rejected() {
    let base = postgres(Transport::Tcp);
    let mut test_stack = up(std::slice::from_ref(&base));
    let mut check = |nodes: &[Node], expected: &str| match test_stack.reconcile(&stack(nodes)) {
        Err(it) if skipped(&it) => {}
        other => assert_eq!(Message::from(&other.unwrap_err()).describe(), expected),
    };
    check(
        &[haproxy(Transport::Tls, None), base.clone()],
        "error-of(balancer, invalid-node-transport(haproxy-behind-without-tls(postgres), `transport: tls`, postgres))",
    );
    check(
        &[haproxy(Transport::Tcp, None), postgres(Transport::Tls)],
        "error-of(balancer, invalid-node-transport(haproxy-behind-with-tls(postgres), `transport: tls`, none))",
    );
    check(
        &[odyssey(Transport::Tcp, PoolMode::Statement), base],
        "error-of(pooler, invalid-node-mode(Odyssey, statement))",
    );
    check(&[pgbouncer(Transport::Tcp, PoolMode::Session)], "error-of(pooler, invalid-node-no-upstream)");
}

#[test]
fn balancer_queue_times_out() {
    let mut test_stack = up(&[haproxy(Transport::Tcp, Some(1)), postgres(Transport::Unix)]);
    let mut first = test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap();
    let error = test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap_err();
    assert_eq!(error.code(), Code::RESET, "{error:?}");
    assert_eq!(first.value("select 1").unwrap().as_deref(), Some("1"));
    drop(first);

    let mut patient = haproxy(Transport::Tcp, Some(1));
    let NodeKind::Balancer(settings) = &mut patient.kind else { unreachable!() };
    settings.queue_timeout = model::Nanos::from_secs(60);
    test_stack.reconcile(&stack(&[patient, postgres(Transport::Unix)])).unwrap_or_else(|it| panic!("{it:?}"));
    let first = test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap();
    let target = test_stack.chain.endpoint().clone();
    let second = std::thread::spawn(move || ask(&target, "select 2"));
    let statistics = test_stack.chain.nodes()[0].statistics.clone().unwrap();
    let deadline = std::time::Instant::now() + TEST_TIMEOUT;
    while queued(&statistics) != "1" {
        assert!(std::time::Instant::now() < deadline, "no client is in the queue");
        std::thread::yield_now();
    }
    drop(first);
    assert_eq!(second.join().unwrap(), "2");
}

/// Returns the number of clients that wait for the server, by HAProxy's `show stat`.
fn queued(statistics: &Path) -> String {
    let mut stream = UnixStream::connect(statistics).unwrap();
    stream.write_all(b"show stat\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let backend = text.lines().find(|it| it.starts_with("behind,BACKEND,")).unwrap();
    backend.split(',').nth(2).unwrap().to_owned()
}

#[test]
fn killed_node_serves_at_its_address_after_restart() {
    let base = postgres(Transport::Unix);
    let mut test_stack = up(std::slice::from_ref(&base));
    for front in fronts() {
        let name = front.name.clone();
        match test_stack.reconcile(&stack(&[front, base.clone()])) {
            Err(it) if skipped(&it) => continue,
            other => other.unwrap_or_else(|it| panic!("{it:?}")),
        }
        let target = test_stack.chain.endpoint().clone();
        let mut session = target.open(TEST_TIMEOUT).unwrap();
        let end = test_stack.chain.kill(&mut test_stack.supervisor, &name).unwrap();
        assert_eq!(end, End::Signal(9));
        session.query("select 1").unwrap_err();
        test_stack.chain.restart(&mut test_stack.supervisor, &name).unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!(ask(&target, "select 3"), "3", "{name}");
        // The node is restarted while it runs, and then the PostgreSQL server behind it.
        test_stack.chain.restart(&mut test_stack.supervisor, &name).unwrap_or_else(|it| panic!("{it:?}"));
        test_stack.chain.kill(&mut test_stack.supervisor, "postgres").unwrap();
        test_stack
            .chain
            .restart(&mut test_stack.supervisor, "postgres")
            .unwrap_or_else(|it| panic!("{it:?}"));
        let admin = test_stack.chain.find_node("postgres").unwrap().admin.clone().unwrap();
        assert_eq!(ask(&admin, "select 4"), "4");
    }
}

#[test]
fn reconcile_keeps_equal_nodes_and_replaces_dead_node() {
    let base = postgres(Transport::Unix);
    let pooler = |mode| pgbouncer(Transport::Tcp, mode);
    let mut test_stack = up(&[pooler(PoolMode::Session), base.clone()]);
    let numbers =
        |test_stack: &TestStack| test_stack.chain.nodes().iter().map(|it| it.node).collect::<Vec<_>>();
    let before = numbers(&test_stack);
    test_stack.reconcile(&stack(&[pooler(PoolMode::Session), base.clone()])).unwrap();
    assert_eq!(numbers(&test_stack), before);
    test_stack.reconcile(&stack(&[pooler(PoolMode::Transaction), base.clone()])).unwrap();
    assert_eq!(numbers(&test_stack)[1], before[1]);
    assert_ne!(numbers(&test_stack)[0], before[0]);
    test_stack.chain.kill(&mut test_stack.supervisor, "pooler").unwrap();
    let dead = numbers(&test_stack);
    test_stack.reconcile(&stack(&[pooler(PoolMode::Transaction), base])).unwrap();
    assert_eq!(numbers(&test_stack)[1], dead[1]);
    assert_ne!(numbers(&test_stack)[0], dead[0]);
}

#[test]
fn data_survives_change_of_settings() {
    let mut test_stack = up(&[postgres(Transport::Unix)]);
    let cluster = test_stack.chain.nodes()[0].cluster_id();
    ask(test_stack.chain.endpoint(), "create table kept as select 42 as it");
    let mut other = postgres(Transport::Tls);
    let NodeKind::Postgres(settings) = &mut other.kind else { unreachable!("it is one") };
    settings.max_connections = 33;
    test_stack.reconcile(&stack(&[other])).expect("the stack starts again");
    assert_eq!(ask(test_stack.chain.endpoint(), "select it from kept"), "42");
    assert_eq!(ask(test_stack.chain.endpoint(), "show max_connections"), "33");
    assert_eq!(test_stack.chain.nodes()[0].cluster_id(), cluster);
    // A different name means a different database.
    let mut renamed = postgres(Transport::Unix);
    renamed.name = "other".to_owned();
    test_stack.reconcile(&stack(&[renamed])).expect("a new one starts");
    assert_ne!(test_stack.chain.nodes()[0].cluster_id(), cluster);
    assert!(ask(test_stack.chain.endpoint(), "select it from kept").contains("42P01"));
}

#[test]
fn quiesced_database_can_be_replaced() {
    let base = postgres(Transport::Tcp);
    let mut test_stack = up(std::slice::from_ref(&base));
    let both = [haproxy(Transport::Tcp, None), pgbouncer(Transport::Unix, PoolMode::Transaction)];
    let mut chains: Vec<Vec<Node>> = fronts().into_iter().map(|it| vec![it, base.clone()]).collect();
    chains.push(both.into_iter().chain([base.clone()]).collect());
    chains.push(vec![base]);
    for nodes in chains {
        match test_stack.reconcile(&stack(&nodes)) {
            Err(it) if skipped(&it) => continue,
            other => other.unwrap_or_else(|it| panic!("{it:?}")),
        }
        let mut session = test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap();
        session.query("select 1").unwrap();
        let mut chain = std::time::Instant::now();
        test_stack
            .chain
            .quiesce(&mut test_stack.supervisor, &mut |_| {})
            .unwrap_or_else(|it| panic!("{it:?}"));
        let quiesced = chain.elapsed();
        session.query("select 1").unwrap_err();
        let admin = test_stack.chain.postgres().unwrap().admin.clone().unwrap();
        let mut admin = admin.open(TEST_TIMEOUT).unwrap();
        admin.query("drop database app").unwrap();
        admin.query("create database app owner app").unwrap();
        chain = std::time::Instant::now();
        test_stack
            .chain
            .resume(&mut test_stack.supervisor, &mut |_| {})
            .unwrap_or_else(|it| panic!("{it:?}"));
        println!("{} nodes: quiet after {quiesced:?}, back after {:?}", nodes.len(), chain.elapsed());
        assert_eq!(test_stack.chain.nodes().len(), nodes.len());
        assert_eq!(ask(test_stack.chain.endpoint(), "select current_database()"), "app");
        assert_eq!(ask(&test_stack.chain.endpoint_for("postgres"), "select current_database()"), "postgres");
    }
}

/// Password file, which is removed at the end of the test.
struct Passwords(PathBuf);

impl Passwords {
    fn new(name: &str, lines: &[(&str, &Secret)]) -> Passwords {
        let path = std::env::temp_dir().join(format!("pgdyno-{name}-{}", std::process::id()));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        for (user, password) in lines {
            writeln!(file, "*:*:*:{user}:{}", password.reveal()).unwrap();
        }
        Passwords(path)
    }
}

impl Drop for Passwords {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn attached_poolers_are_checked() {
    for front in [pgbouncer(Transport::Tls, PoolMode::Session), odyssey(Transport::Tcp, PoolMode::Session)] {
        let protected = front.transport == Transport::Tls;
        let product = front.kind.product();
        let existing = match TestStack::up(&stack(&[front, postgres(Transport::Unix)])) {
            Ok(it) => it,
            Err(it) if skipped(&it) => continue,
            Err(it) => panic!("{it:?}"),
        };
        let users = existing.chain.users();
        let lines = [("app", &users.app.password), ("pgdyno", &users.console.password)];
        let passwords = Passwords::new("poolers", &lines);
        let Address::Tcp(at) = existing.chain.endpoint().address else { unreachable!() };
        let dsn = |user: &str, database: &str| {
            let file = passwords.0.display();
            // Without a TLS setting, the first login determines the transport.
            format!("host=127.0.0.1 port={} user={user} dbname={database} passfile={file}", at.port())
        };
        let console = existing.chain.nodes()[0].admin.as_ref().unwrap().login.database.clone();
        let attached_node = AttachedNode {
            dsn: dsn("app", "app"),
            admin: Some(dsn("pgdyno", &console)),
            product,
            allow: None,
            other_sessions: 0,
            metrics: Vec::new(),
            servers: Vec::new(),
        };
        let attached = up(&[node("theirs", Transport::Tcp, NodeKind::Attached(attached_node))]);
        assert_eq!(ask(attached.chain.endpoint(), "select current_user"), "app");
        let running = &attached.chain.nodes()[0];
        assert!(running.is_attached() && attached.chain.postgres().is_none());
        assert_eq!(matches!(running.hop, ServerTransport::TcpTls { .. }), protected);
        assert_ne!(running.endpoint.login.ssl, SslMode::Prefer);
        let version = existing.chain.nodes()[0].version.clone();
        assert_eq!(running.version, version);
        running.admin.as_ref().unwrap().open(TEST_TIMEOUT).unwrap().query("show pools").unwrap();
    }
}

#[test]
fn nodes_get_maximum_file_limit() {
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let pid = |it: u32| Pid::from_raw(i32::try_from(it).unwrap());
    let all = getrlimit(Resource::Nofile).maximum;
    let few = Rlimit { current: Some(200), maximum: all };
    prlimit(pid(supervisor.keeper_pid()), Resource::Nofile, few).unwrap();
    let plan = stack(&[pgbouncer(Transport::Unix, PoolMode::Session), postgres(Transport::Unix)]);
    let chain = Chain::up(&mut supervisor, &plan, &Programs::from_environment(), &mut |_| {});
    let chain = match chain {
        Ok(it) => it,
        Err(it) if skipped(&it) => return,
        Err(it) => panic!("{it:?}"),
    };
    let number = supervisor.pid(chain.nodes()[0].node.unwrap()).unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{number}/limits")).unwrap();
    let line = limits.lines().find(|it| it.starts_with("Max open files")).unwrap();
    let soft: u64 = line.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert_eq!(soft, all.map_or(100_000, |it| it.min(100_000)));
}

#[test]
fn attached_server_is_used_and_not_changed() {
    let server = server();
    let passwords = Passwords::new("postgres", &[("postgres", server.password())]);
    let dsn = format!(
        "host=127.0.0.1 port={} user=postgres dbname=postgres passfile={}",
        server.port,
        passwords.0.display()
    );
    let attached = |dsn: &str| {
        let attached_node = AttachedNode {
            dsn: dsn.to_owned(),
            admin: None,
            product: &product::POSTGRESQL,
            allow: None,
            other_sessions: 0,
            metrics: Vec::new(),
            servers: Vec::new(),
        };
        node("theirs", Transport::Tcp, NodeKind::Attached(attached_node))
    };
    for front in fronts() {
        let mut test_stack = match TestStack::up(&stack(&[front, attached(&dsn)])) {
            Ok(it) => it,
            Err(it) if skipped(&it) => continue,
            Err(it) => panic!("{it:?}"),
        };
        assert_eq!(ask(test_stack.chain.endpoint(), "select current_user"), "postgres");
        assert!(test_stack.chain.kill(&mut test_stack.supervisor, "theirs").is_err());
        test_stack.chain.quiesce(&mut test_stack.supervisor, &mut |_| {}).unwrap();
        test_stack.chain.resume(&mut test_stack.supervisor, &mut |_| {}).unwrap();
        test_stack.reconcile(&stack(&[attached(&dsn)])).unwrap();
        test_stack.chain.down(&mut test_stack.supervisor, &mut |_| {}).unwrap();
        assert_eq!(ask(&server.target(), "select 1"), "1");
    }
    let problem = TestStack::up(&stack(&[attached("postgres://me:hunter2@127.0.0.1/db")])).err().unwrap();
    let expected = "error-of(theirs, dsn-password)";
    assert_eq!(Message::from(&problem).describe(), expected);
}

/// An attached cluster without a balancer: all hosts are known, and the primary is first.
#[test]
fn primary_of_attached_hosts_is_found() {
    let plan = replicated(&[], SyncMode::Async, Promoter::default());
    let mut cluster = TestStack::up(&plan).unwrap_or_else(|it| panic!("{it:?}"));
    let servers = cluster.chain.direct_targets();
    let (user, password) = (&servers[0].target.login.user, servers[0].target.login.password.clone().unwrap());
    let passwords = Passwords::new("hosts", &[(user, &password)]);
    let ports: Vec<String> = cluster
        .chain
        .primary_endpoints()
        .iter()
        .map(|it| it.address.to_string().rsplit(':').next().unwrap().to_owned())
        .collect();
    let attached = |ports: &str, rest: &str| {
        let dsn = format!(
            "host=127.0.0.1,127.0.0.1,127.0.0.1 port={ports} user={user} dbname=app passfile={} {rest}",
            passwords.0.display()
        );
        let attached_node = AttachedNode {
            dsn,
            admin: None,
            product: &product::POSTGRESQL,
            allow: None,
            other_sessions: 0,
            metrics: Vec::new(),
            servers: Vec::new(),
        };
        TestStack::up(&stack(&[node("theirs", Transport::Tcp, NodeKind::Attached(attached_node))]))
    };
    let [first, second, third] = &ports[..] else { panic!("three servers: {ports:?}") };
    let order = format!("{third},{second},{first}");
    let check = |expected: &str| {
        let found = attached(&order, "target_session_attrs=read-write").unwrap_or_else(|it| panic!("{it:?}"));
        let addresses: Vec<String> =
            found.chain.primary_endpoints().iter().map(|it| it.address.to_string()).collect();
        assert_eq!(addresses.len(), 3, "{addresses:?}");
        assert!(addresses[0].ends_with(expected), "{addresses:?}: {expected}");
        assert_eq!(ask(found.chain.endpoint(), "select pg_is_in_recovery()"), "f");
    };
    check(first);
    cluster.chain.kill(&mut cluster.supervisor, "postgres").unwrap();
    let promoted = cluster.chain.fail_over(&mut cluster.supervisor).unwrap_or_else(|it| panic!("{it:?}")).to;
    check(if promoted == "postgres-2" { second } else { third });
    let problem = attached(&order, "").err().unwrap();
    assert_eq!(Message::from(&problem).describe(), "error-of(theirs, attach-several-hosts)");
}

#[test]
fn secrets_are_not_visible_and_no_file_remains() {
    let (pgbouncer, base) = (pgbouncer(Transport::Tls, PoolMode::Session), postgres(Transport::Tls));
    let mut nodes = vec![haproxy(Transport::Tls, Some(5)), pgbouncer, base.clone()];
    let mut test_stack = up(&nodes);
    for front in [None, Some(odyssey(Transport::Tls, PoolMode::Transaction))] {
        if let Some(node) = front {
            nodes = vec![node, base.clone()];
            match test_stack.reconcile(&stack(&nodes)) {
                Err(it) if skipped(&it) => break,
                other => other.unwrap_or_else(|it| panic!("{it:?}")),
            }
        }
        ask(&with_password(test_stack.chain.endpoint(), "wrong"), "select 1");
        let users = test_stack.chain.users();
        let admin =
            test_stack.chain.postgres().unwrap().admin.as_ref().unwrap().login.password.clone().unwrap();
        let mut secrets = vec![users.app.password.clone(), users.console.password.clone(), admin];
        secrets.extend([&users.app, &users.console].iter().filter_map(|it| it.verifier.clone()));
        assert_eq!(secrets.len(), 5);
        let mut shown = format!("{:?}", test_stack.chain);
        for running in test_stack.chain.nodes() {
            let log = std::fs::read_to_string(running.log.as_ref().unwrap()).unwrap();
            assert!(!running.configuration.is_empty());
            shown += &format!("{log}{:?}{:?}", running.configuration, running.arguments);
        }
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            shown += &String::from_utf8_lossy(&line);
        }
        for secret in secrets {
            assert!(!shown.contains(secret.reveal()), "a password is shown");
        }
        if let Address::Tcp(address) = test_stack.chain.endpoint().address {
            assert!(address.ip().is_loopback());
        }
    }
    let ids: Vec<_> = test_stack.chain.nodes().iter().filter_map(|it| it.node).collect();
    let numbers: Vec<u32> = ids.into_iter().map(|it| test_stack.supervisor.pid(it).unwrap()).collect();
    assert_eq!(numbers.len(), test_stack.chain.nodes().len());
    let directory = test_stack.supervisor.directory().to_owned();
    drop(test_stack);
    assert!(!directory.exists());
    for pid in numbers {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid} is still there");
    }
}
