//! Tests that every chain works, over the requested hops

use super::server::{TEST_TIMEOUT, keeper};
use model::Nanos;
use model::message::Message;
use model::plan::{
    Balancer, Limits, Node, NodeKind, PoolMode, Pooler, Postgres, ProgramScope, SharedHost, Stack, Transport,
};
use model::product::{self, Product};
use model::summary::ServerTransport;
use stack::chain::{Chain, ChainError};
use stack::client::Target;
use stack::component::program::Programs;
use stack::supervisor::Supervisor;

/// Supervisor and the stack that it runs.
pub struct TestStack {
    pub chain: Chain,
    pub supervisor: Supervisor,
}

impl TestStack {
    pub fn up(stack: &Stack) -> Result<TestStack, ChainError> {
        let mut supervisor = Supervisor::start(&keeper()).unwrap_or_else(|it| panic!("{it:?}"));
        let chain = Chain::up(&mut supervisor, stack, &Programs::from_environment(), &mut |_| {})?;
        Ok(TestStack { chain, supervisor })
    }

    pub fn reconcile(&mut self, stack: &Stack) -> Result<(), ChainError> {
        self.chain.reconcile(&mut self.supervisor, stack, &Programs::from_environment(), &mut |_| {})
    }

    /// Formats the transports of the hops, the entry first: `tcp unix`.
    fn hops(&self) -> String {
        let hops = self.chain.nodes().iter().map(|node| match &node.hop {
            ServerTransport::UnixSocket => "unix",
            ServerTransport::Tcp => "tcp",
            ServerTransport::TcpTls { version } if version == "1.3" => "tls",
            ServerTransport::TcpTls { .. } => "old tls",
        });
        hops.collect::<Vec<_>>().join(" ")
    }
}

pub fn node(name: &str, transport: Transport, kind: NodeKind) -> Node {
    Node { name: name.to_owned(), kind, transport, limits: Limits::default() }
}

pub fn postgres(transport: Transport) -> Node {
    let settings = vec![("shared_buffers".to_owned(), "16MB".to_owned())];
    node("postgres", transport, NodeKind::Postgres(Postgres { version: None, max_connections: 20, settings }))
}

pub fn pgbouncer(transport: Transport, mode: PoolMode) -> Node {
    pooler(&product::PGBOUNCER, transport, mode)
}

pub fn odyssey(transport: Transport, mode: PoolMode) -> Node {
    pooler(&product::ODYSSEY, transport, mode)
}

pub fn pgpool(transport: Transport) -> Node {
    pooler(&product::PGPOOL, transport, PoolMode::Session)
}

pub fn pooler(product: &'static Product, transport: Transport, mode: PoolMode) -> Node {
    let pooler = Pooler {
        product,
        version: None,
        mode,
        size: 3,
        max_client_conn: 100,
        workers: 1,
        pool_timeout: Nanos::from_millis(4000),
        settings: Vec::new(),
    };
    node("pooler", transport, NodeKind::Pooler(pooler))
}

pub fn haproxy(transport: Transport, maxconn: Option<u32>) -> Node {
    let balancer = Balancer {
        product: &product::HAPROXY,
        maxconn,
        queue_timeout: Nanos::from_millis(300),
        check: Some(Nanos::from_millis(100)),
        retries: None,
    };
    node("balancer", transport, NodeKind::Balancer(balancer))
}

pub fn stack(nodes: &[Node]) -> Stack {
    Stack { nodes: nodes.to_vec(), generator: Limits::default(), replication: None, hosts: Vec::new() }
}

/// Returns the result of `sql` at the entry, by the simple protocol.
pub fn ask(target: &Target, sql: &str) -> String {
    let answer = target.open(TEST_TIMEOUT).and_then(|mut it| it.value(sql));
    answer.map_or_else(|it| Message::from(&it).describe(), Option::unwrap_or_default)
}

/// True if a component is not available; prints the reason.
pub fn skipped(problem: &ChainError) -> bool {
    if let ChainError::Unavailable(reason) = problem {
        println!("skipped: {reason:?}");
        return true;
    }
    false
}

#[test]
fn newer_poolers_keep_prepared_statements() {
    let mut pooler = pgbouncer(Transport::Tcp, PoolMode::Transaction);
    let NodeKind::Pooler(settings) = &mut pooler.kind else { unreachable!() };
    settings.version = Some((1, 21));
    let test_stack = match TestStack::up(&stack(&[pooler, postgres(Transport::Unix)])) {
        Ok(it) => it,
        Err(it) if skipped(&it) => return,
        Err(it) => panic!("{it:?}"),
    };
    let pooler = test_stack.chain.find_node("pooler").unwrap();
    assert!(!pooler.version.contains(" 1.18"), "{}", pooler.version);
    let mut console = pooler.admin.as_ref().unwrap().open(TEST_TIMEOUT).unwrap();
    let config = console.query("show config").unwrap();
    let row = config.rows.iter().find(|it| it[0].as_deref() == Some("max_prepared_statements")).unwrap();
    assert_eq!(row[1].as_deref(), Some("200"));
}

#[test]
fn every_chain_serves_over_requested_hops() {
    use PoolMode::{Session, Statement, Transaction};
    use Transport::{Tcp, Tls, Unix};
    let mut test_stack = TestStack::up(&stack(&[postgres(Tcp)])).unwrap_or_else(|it| panic!("{it:?}"));
    let mut check = |nodes: &[Node], expected: &str| {
        if let Err(problem) = test_stack.reconcile(&stack(nodes)) {
            assert!(skipped(&problem), "{expected}: {problem:?}");
            return;
        }
        assert_eq!(test_stack.hops(), expected);
        for node in test_stack.chain.nodes() {
            assert!(node.version.contains('.'), "{}: {}", node.plan.name, node.version);
        }
        assert_eq!(
            ask(test_stack.chain.endpoint(), "select current_user || ' ' || current_database()"),
            "app app"
        );
        // A pooler sends a separate cancel key; a balancer and Pgpool-II forward the server's.
        let own_key =
            |node: &Node| node.kind.pooler().is_some_and(|pooler| *pooler.product != product::PGPOOL);
        let direct = test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap().detect_direct();
        assert_eq!(direct, !nodes.iter().any(own_key), "{expected}");
        assert_eq!(test_stack.chain.endpoint().login.send_cancel, nodes.len() == 1, "{expected}");
    };
    for transport in [(Unix, "unix"), (Tcp, "tcp"), (Tls, "tls")] {
        let base = postgres(transport.0);
        check(std::slice::from_ref(&base), transport.1);
        for front in [(Unix, "unix"), (Tcp, "tcp"), (Tls, "tls")] {
            let expected = format!("{} {}", front.1, transport.1);
            for mode in [Session, Transaction, Statement] {
                check(&[pgbouncer(front.0, mode), base.clone()], &expected);
            }
            for mode in [Session, Transaction] {
                check(&[odyssey(front.0, mode), base.clone()], &expected);
            }
            check(&[pgpool(front.0), base.clone()], &expected);
            if (front.0 == Tls) == (transport.0 == Tls) {
                check(&[haproxy(front.0, Some(5)), base.clone()], &expected);
            }
        }
    }
    let base = postgres(Unix);
    for mode in [Session, Transaction, Statement] {
        // PgBouncer 1.23 uses another stop signal and a setting that older versions lack.
        let mut newer = pgbouncer(Tls, mode);
        let NodeKind::Pooler(settings) = &mut newer.kind else { unreachable!() };
        settings.version = Some((1, 23));
        check(&[newer, base.clone()], "tls unix");
    }
    check(&[haproxy(Tcp, None), pgbouncer(Unix, Transaction), base.clone()], "tcp unix unix");
    check(&[haproxy(Tls, None), pgbouncer(Tls, Session), base.clone()], "tls tls unix");
    check(&[haproxy(Tls, Some(9)), odyssey(Tls, Transaction), base], "tls tls unix");
}

#[test]
fn nodes_restart_when_their_host_changes() {
    let on_host = |nodes: &[&str], cpu: f64| Stack {
        hosts: vec![SharedHost {
            name: "machine".to_owned(),
            nodes: nodes.iter().map(|it| (*it).to_owned()).collect(),
            scope: ProgramScope::Stack,
            limits: Limits { cpu: Some(cpu), ..Limits::default() },
        }],
        ..stack(&[pgbouncer(Transport::Tcp, PoolMode::Session), postgres(Transport::Tcp)])
    };
    let first = on_host(&["postgres"], 0.5);
    let mut test_stack = TestStack::up(&first).unwrap_or_else(|it| panic!("{it:?}"));
    let ids = |test_stack: &TestStack| {
        ["pooler", "postgres"].map(|it| test_stack.chain.find_node(it).unwrap().node)
    };
    let mut before = ids(&test_stack);
    let mut check = |stack: &Stack, expected: [bool; 2]| {
        test_stack.reconcile(stack).unwrap_or_else(|it| panic!("{it:?}"));
        let now = ids(&test_stack);
        assert_eq!([before[0] == now[0], before[1] == now[1]], expected, "{:?}", stack.hosts);
        before = now;
        assert_eq!(ask(test_stack.chain.endpoint(), "select 1"), "1");
    };
    check(&first, [true, true]);
    check(&on_host(&["postgres"], 0.6), [false, false]);
    // The pooler moves to the host, and PostgreSQL stays.
    check(&on_host(&["pooler", "postgres"], 0.6), [false, true]);
    check(&on_host(&["pooler"], 0.6), [false, false]);
}
