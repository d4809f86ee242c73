//! Files of every component, for each version and transport that makes a difference

use super::*;
use expect_test::expect_file;
use model::Nanos;
use model::message::Message;
use model::plan::{Balancer, Limits, PoolMode, Pooler, Postgres, Service, ServiceFile, Transport};
use model::product;

/// Properties that differ between the cases.
struct Case {
    version: (u32, u32),
    kind: NodeKind,
    transport: Transport,
    /// Transport to the node behind it.
    upstream: Transport,
    /// True if a service with two copies is behind the node.
    copies: bool,
    /// True if two PostgreSQL servers are behind the node.
    servers: bool,
}

fn recipe(case: &Case, node: &Node, users: &Users) -> Result<LaunchSpec, InvalidNode> {
    let home = Path::new("/run/home");
    let address = |transport, port: u16| match transport {
        Transport::Unix => Address::Unix(home.join(format!(".s.PGSQL.{port}"))),
        Transport::Tcp | Transport::Tls => Address::Tcp(([127, 0, 0, 1], port).into()),
    };
    let tls = TlsFiles::example("/run");
    let behind = NodeEndpoint {
        name: "next",
        address: address(case.upstream, 5001),
        // Only the TLS case has a read-only endpoint, so that the expected files cover both cases.
        read_only: Some(address(case.upstream, 5009)).filter(|_| case.upstream == Transport::Tls),
        tls: match case.upstream {
            Transport::Tls => EndpointTls::Checked { root: tls.root.clone() },
            Transport::Tcp | Transport::Unix => EndpointTls::Off,
        },
    };
    let endpoint = |name, port| {
        let address = address(Transport::Tcp, port);
        NodeEndpoint { name, address, read_only: None, tls: EndpointTls::Off }
    };
    let copies = Copies { endpoints: vec![endpoint("it-1", 5001), endpoint("it-2", 5002)], ready: "/health" };
    let health = |port| ([127, 0, 0, 1], port).into();
    let servers = Servers {
        endpoints: vec![(endpoint("it", 5001), health(5011)), (endpoint("it-2", 5002), health(5012))],
        read_only: ([127, 0, 0, 1], 5003).into(),
        shutdown_sessions: true,
    };
    let given = NodeContext {
        node,
        version: case.version,
        address: &address(case.transport, 5000),
        tls: Some(&tls),
        upstream: Some(&behind),
        copies: case.copies.then_some(&copies),
        servers: case.servers.then_some(&servers),
        users,
        files: Path::new("/run"),
        home,
        directory: Path::new("/run/home/it"),
        programs: &[],
        memory: 1 << 30,
    };
    for_kind(&node.kind).expect("the node has a component").launch_spec(&given)
}

fn node(case: &Case) -> Node {
    Node {
        name: "it".to_owned(),
        kind: case.kind.clone(),
        transport: case.transport,
        limits: Limits::default(),
    }
}

fn users() -> Users {
    let secret = |it: &str| Secret::new(it);
    // One user was created by pgdyno, the other existed before.
    let app =
        User {
            name: "app".to_owned(), password: secret("apple"), verifier: Some(secret("SCRAM-SHA-256$…"))
        };
    let console = User { name: "pgdyno".to_owned(), password: secret("banana"), verifier: None };
    Users { app, database: "app".to_owned(), console }
}

/// Compares the launch spec with `expected/NAME.txt`; `UPDATE_EXPECT=1` rewrites the file.
fn check(name: &str, case: &Case) {
    let node = node(case);
    let spec = recipe(case, &node, &users()).unwrap();
    let mut got: String = spec.environment.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    got += &format!(
        "arguments: {}\nstop: {:?}, orphaned: {:?}\nconsole: {:?}, statistics: {:?}\n",
        spec.arguments.join(" "),
        spec.stop.iter().map(|it| it.signal).collect::<Vec<_>>(),
        spec.orphaned,
        spec.console,
        spec.statistics
    );
    for (name, contents) in &spec.files {
        got += &format!("==> {name}\n{contents}");
    }
    expect_file![format!("expected/{name}.txt")].assert_eq(&got);

    let shown = recipe(case, &node, &users().masked()).unwrap().files;
    assert_eq!(shown.len(), spec.files.len());
    let shown = format!("{shown:?}");
    assert!(
        ["apple", "banana", "SHA-256$"].iter().all(|it| !shown.contains(it)),
        "{name}: a password is shown:\n{shown}"
    );
}

fn postgres(settings: &[(&str, &str)]) -> NodeKind {
    NodeKind::Postgres(Postgres { version: None, max_connections: 30, settings: owned(settings) })
}

fn pgbouncer(mode: PoolMode, settings: &[(&str, &str)]) -> NodeKind {
    pooler(&product::PGBOUNCER, mode, settings)
}

fn odyssey(mode: PoolMode, settings: &[(&str, &str)]) -> NodeKind {
    pooler(&product::ODYSSEY, mode, settings)
}

fn pgpool(settings: &[(&str, &str)]) -> NodeKind {
    pooler(&product::PGPOOL, PoolMode::Session, settings)
}

fn pooler(product: &'static Product, mode: PoolMode, settings: &[(&str, &str)]) -> NodeKind {
    NodeKind::Pooler(Pooler {
        product,
        version: None,
        mode,
        size: 20,
        max_client_conn: 200,
        workers: 2,
        pool_timeout: Nanos::from_millis(4000),
        settings: owned(settings),
    })
}

fn haproxy(maxconn: Option<u32>, check: Option<Nanos>) -> NodeKind {
    let retries = check.map(|_| 0);
    let (product, queue_timeout) = (&product::HAPROXY, Nanos::from_secs(5));
    NodeKind::Balancer(Balancer { product, maxconn, queue_timeout, check, retries })
}

fn service(env: &[(&str, &str)]) -> NodeKind {
    let command = ["java", "-jar", "target/book.jar"].map(str::to_owned).to_vec();
    NodeKind::Service(Service { command, env: owned(env), ..Service::default() })
}

/// Service of one program with variables in a file, in an argument and in its environment.
fn service_with_files() -> NodeKind {
    let text = "listen ${address}; # ${host} ${port} ${dir} ${copy} $uri ${uri} $${port}\n\
                ${database.url}\n${database.host} ${database.port} ${database.name}\n\
                ${database.user}:${database.password}\n${read_database.host} ${read_database.port}\n";
    let file =
        ServiceFile { name: "conf/shop.conf".to_owned(), origin: "shop.conf".into(), text: text.to_owned() };
    NodeKind::Service(Service {
        command: ["./shop", "--config=${dir}/conf/shop.conf"].map(str::to_owned).to_vec(),
        env: owned(&[("LISTEN", "${port}"), ("LOGIN", "${database.password}"), ("PGHOST", "db")]),
        files: vec![file],
        ..Service::default()
    })
}

fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn case(version: (u32, u32), transport: Transport, behind: Transport, kind: NodeKind) -> Case {
    Case { version, kind, transport, upstream: behind, copies: false, servers: false }
}

#[test]
fn writes_expected_files() {
    use PoolMode::{Session, Statement, Transaction};
    use Transport::{Tcp, Tls, Unix};
    check("postgres-15", &case((15, 0), Tcp, Tcp, postgres(&[("work_mem", "8MB"), ("fsync", "off")])));
    check("postgres-15-tls", &case((15, 0), Tls, Tcp, postgres(&[])));
    check("pgbouncer-1.18", &case((1, 18), Tcp, Unix, pgbouncer(Transaction, &[])));
    check("pgbouncer-1.21", &case((1, 21), Tcp, Unix, pgbouncer(Transaction, &[])));
    let settings = [("query_wait_timeout", "4"), ("max_prepared_statements", "50")];
    check("pgbouncer-1.23-tls", &case((1, 23), Tls, Tls, pgbouncer(Session, &settings)));
    check("pgbouncer-1.18-unix", &case((1, 18), Unix, Tcp, pgbouncer(Statement, &[])));
    check("odyssey-1.5", &case((1, 5), Tcp, Tcp, odyssey(Transaction, &[])));
    check("odyssey-1.5-unix", &case((1, 5), Unix, Unix, odyssey(Session, &[])));
    let settings = [("pool_ttl", "60"), ("pool_cancel", "no"), ("quantiles", "0.99,0.5")];
    check("odyssey-1.5-tls", &case((1, 5), Tls, Tls, odyssey(Session, &settings)));
    check("pgpool-4.3", &case((4, 3), Tcp, Unix, pgpool(&[])));
    check("pgpool-4.4-unix", &case((4, 4), Unix, Tcp, pgpool(&[("child_life_time", "0")])));
    check("pgpool-4.3-tls", &case((4, 3), Tls, Tls, pgpool(&[("log_connections", "on")])));
    check("haproxy-2.6", &case((2, 6), Tcp, Tcp, haproxy(Some(8), Some(Nanos::from_millis(500)))));
    check("haproxy-2.6-unix", &case((2, 6), Unix, Unix, haproxy(None, None)));
    let before = case((2, 6), Tcp, Tcp, haproxy(None, Some(Nanos::from_millis(500))));
    check("haproxy-2.6-http", &Case { copies: true, ..before });
    let before = case((2, 6), Tcp, Tcp, haproxy(Some(8), Some(Nanos::from_millis(500))));
    check("haproxy-2.6-servers", &Case { servers: true, ..before });
    check("service", &case((0, 0), Tcp, Tcp, service(&[("POOL_SIZE", "5"), ("TMPDIR", "/scratch")])));
    check("service-tls", &case((0, 0), Tcp, Tls, service(&[])));
    check("service-files", &case((0, 0), Tcp, Tls, service_with_files()));
    check("haproxy-2.6-tls", &case((2, 6), Tls, Tls, haproxy(Some(8), None)));
}

#[test]
fn rejects_impossible_nodes() {
    use Transport::Tcp;
    let check = |version, kind, expected: &str| {
        let case = case(version, Tcp, Tcp, kind);
        assert_eq!(Message::from(&recipe(&case, &node(&case), &users()).unwrap_err()).describe(), expected);
    };
    check((1, 17), pgbouncer(PoolMode::Session, &[]), "invalid-node-too-old(PgBouncer, 1.17, 1.18)");
    check((4, 2), pgpool(&[]), "invalid-node-too-old(Pgpool-II, 4.2, 4.3)");
    let settings = [("max_prepared_statements", "9")];
    check(
        (1, 20),
        pgbouncer(PoolMode::Session, &settings),
        "invalid-node-setting(PgBouncer, max_prepared_statements, 1.21)",
    );
    check((1, 5), odyssey(PoolMode::Statement, &[]), "invalid-node-mode(Odyssey, statement)");
    let env = [("PGPASSWORD", "apple")];
    check((0, 0), service(&env), "invalid-node-variable(PGPASSWORD)");
    let before = case((0, 0), Tcp, Transport::Unix, service(&[]));
    let error = recipe(&before, &node(&before), &users()).unwrap_err();
    let expected =
        "invalid-node-transport(service-connects-by-tcp, `transport: tcp` or `transport: tls`, next)";
    assert_eq!(Message::from(&error).describe(), expected);
}
