//! Runs every probe against every available server
//!
//! With `PGDYNO_CAPTURE` set, the responses are written to `fixtures/probe`, for `cargo xtask capture`. Its value
//! is the name of one probe, or `all`.

use super::chain::{TestStack, haproxy, pgbouncer, pgpool, postgres, stack};
use super::server::{TEST_TIMEOUT, installation, keeper};
use model::plan::{PoolMode, Transport};
use model::product;
use stack::client::{self, Connection, Target};
use stack::component::postgres::{Postgres, Settings};
use stack::component::probes;
use stack::embedded;
use stack::probe::{Probe, ProbeRequest, ProbeResponse, ProbeTarget};
use stack::supervisor::Supervisor;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Parses the response like the probe does, and stores it if requested.
pub fn keep(probe: &Probe, version: &str, answer: &ProbeResponse, text: &str) {
    let mut readings = Vec::new();
    (probe.read)(answer, &mut readings).unwrap_or_else(|it| panic!("{} of {version}: {it:?}", probe.name));
    let selected = std::env::var("PGDYNO_CAPTURE").unwrap_or_default();
    if selected == "all" || selected == probe.name {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/probe").join(probe.name);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(format!("{version}.txt")), text).unwrap();
    }
}

/// Formats a table with tabs between cells and `\N` for NULL.
fn table(answer: &client::QueryResult) -> String {
    let cell = |value: &Option<String>| value.as_ref().map_or("\\N".to_owned(), |it| it.replace('\n', "\\n"));
    let mut lines = vec![answer.columns.join("\t")];
    lines.extend(answer.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")));
    lines.join("\n") + "\n"
}

fn capture(target: ProbeTarget, number: u32, version: &str, connection: &mut Connection) {
    for probe in probes().filter(|it| it.target == target) {
        let Some(ProbeRequest::Sql(question) | ProbeRequest::Console(question)) = (probe.request)(number)
        else {
            continue;
        };
        let answer =
            connection.query(question).unwrap_or_else(|it| panic!("{} of {version}: {it:?}", probe.name));
        let text = table(&answer);
        keep(probe, version, &ProbeResponse::Rows(answer), &text);
    }
}

/// Runs the queries while a session waits for a lock.
fn with_a_lock_wait(target: &Target, ask: impl FnOnce(&mut Connection)) {
    let mut caller = target.open(TEST_TIMEOUT).unwrap();
    let function =
        "create or replace function add_up() returns int language plpgsql as 'begin return 1; end'";
    let notes =
        "drop table if exists notes; create table notes (id int, body text); create index on notes (id)";
    let note = "insert into notes select 1, string_agg(md5(n::text), '') from generate_series(1, 1000) n";
    // Of the three foreign keys, one has an index, and one has only an index on other rows.
    let carts = "drop table if exists items, carts; create table carts (id int primary key); \
         create table items (cart_id int references carts on delete cascade, \"old cart\" int references carts, \
           gift_id int references carts); \
         create index on items (gift_id, cart_id); create index on items (cart_id) where gift_id is null; \
         insert into carts select generate_series(1, 9); insert into items values (1, 2, 3)";
    let statements = [
        function,
        carts,
        "delete from carts where id in (1, 7, 8)",
        "set track_functions = 'pl'",
        "select add_up()",
        notes,
        note,
        "analyze notes",
        "insert into notes select n from generate_series(1, 1000) n",
        "set enable_seqscan = off",
        "select sum(length(body)) from notes where id = 1",
    ];
    for statement in statements {
        caller.query(statement).unwrap();
    }
    // A session reports its statistics at the latest when it ends.
    drop(caller);
    let mut holder = target.open(TEST_TIMEOUT).unwrap();
    holder.query("create table if not exists t as select 1 as a").unwrap();
    holder.query("update t set a = 2").unwrap();
    holder.query("begin; update t set a = 3").unwrap();
    let mut waiter = target.open(TEST_TIMEOUT).unwrap();
    let waiting = std::thread::spawn(move || waiter.query("update t set a = 4").unwrap());
    let mut asker = target.open(TEST_TIMEOUT).unwrap();
    // The holder of the lock is idle in its transaction for more than a second, which counts as long.
    let waits = "select count(*) from pg_locks l, pg_stat_activity a where not granted \
         and a.state = 'idle in transaction' and clock_timestamp() - a.state_change > '1.05 s'";
    while asker.value(waits).unwrap().as_deref() != Some("1") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    asker.query("set application_name = 'pgdyno monitor'").unwrap();
    ask(&mut asker);
    holder.query("commit").unwrap();
    waiting.join().unwrap();
}

/// Tests the installed version; with `PGDYNO_TEST_ALL_VERSIONS` also the versions that can be downloaded.
#[test]
fn postgres_of_every_version() {
    let mut all = vec![installation()];
    if std::env::var_os("PGDYNO_TEST_ALL_VERSIONS").is_some() {
        let major_here = all[0].version.major;
        for major in embedded::MAJORS.filter(|it| *it != major_here) {
            all.push(embedded::cached_or_fetched(Some(major), |_| {}).unwrap_or_else(|it| panic!("{it:?}")));
        }
    }
    for installation in all {
        let mut supervisor = Supervisor::start(&keeper()).unwrap();
        let more = vec![("shared_preload_libraries".to_owned(), "pg_stat_statements".to_owned())];
        let settings = Settings { max_connections: 20, extra_lines: more, ..Settings::default() };
        let server = Postgres::start(&mut supervisor, &installation, &settings).unwrap();
        let mut connection = server.target().open(TEST_TIMEOUT).unwrap();
        connection.query("create extension pg_stat_statements").unwrap();
        connection.query("set work_mem = '1MB'").unwrap();
        let number = connection.server_version();
        with_a_lock_wait(&server.target(), |asker| {
            capture(ProbeTarget::Postgres, number, &format!("postgres-{}", number / 10_000), asker);
        });
    }
}

/// Shortens a version: `PgBouncer 1.18.0` or `HAProxy version 2.6.12-1+deb12u2` gives `1.18`, `2.6`.
fn short(version: &str) -> String {
    let digits = version.find(|it: char| it.is_ascii_digit()).map_or("", |at| &version[at..]);
    digits.split(['.', '-', ' ']).take(2).collect::<Vec<_>>().join(".")
}

#[test]
fn pooler_and_balancer() {
    let nodes = [
        haproxy(Transport::Tcp, Some(5)),
        pgbouncer(Transport::Tcp, PoolMode::Transaction),
        postgres(Transport::Unix),
    ];
    let test_stack = TestStack::up(&stack(&nodes)).unwrap_or_else(|it| panic!("{it:?}"));
    let mut client = test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap();
    client.query("begin; select 1").unwrap();
    let pooler = test_stack.chain.find_node("pooler").unwrap();
    let mut console = pooler.admin.as_ref().unwrap().open(TEST_TIMEOUT).unwrap();
    capture(
        ProbeTarget::Product(&product::PGBOUNCER),
        0,
        &format!("pgbouncer-{}", short(&pooler.version)),
        &mut console,
    );
    let balancer = test_stack.chain.find_node("balancer").unwrap();
    for probe in probes().filter(|it| it.target == ProbeTarget::Product(&product::HAPROXY)) {
        let Some(ProbeRequest::Stats(question)) = (probe.request)(0) else { continue };
        let mut stream = UnixStream::connect(balancer.statistics.as_ref().unwrap()).unwrap();
        stream.write_all(format!("{question}\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        // Host names are confidential.
        let lines: Vec<&str> = text.lines().filter(|it| !it.starts_with("node:")).collect();
        let text = lines.join("\n") + "\n";
        let version = format!("haproxy-{}", short(&balancer.version));
        keep(probe, &version, &ProbeResponse::Texts(vec![text.clone()]), &text);
    }
}

#[test]
fn pgpool_console() {
    let nodes = [pgpool(Transport::Tcp), postgres(Transport::Unix)];
    let test_stack = TestStack::up(&stack(&nodes)).unwrap_or_else(|it| panic!("{it:?}"));
    let mut client = test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap();
    client.query("begin; select 1").unwrap();
    let pooler = test_stack.chain.find_node("pooler").unwrap();
    let mut console = pooler.admin.as_ref().unwrap().open(TEST_TIMEOUT).unwrap();
    let version = format!("pgpool-{}", short(&pooler.version));
    capture(ProbeTarget::Product(&product::PGPOOL), 0, &version, &mut console);
}

#[test]
fn this_machine() {
    let directory = |target: ProbeTarget| match target {
        ProbeTarget::Host => Some(""),
        ProbeTarget::Process | ProbeTarget::Thread => Some("/proc/self/"),
        _ => None,
    };
    for probe in probes() {
        let Some(directory) = directory(probe.target) else { continue };
        let read = |it: &&str| std::fs::read_to_string(format!("{directory}{it}")).unwrap_or_default();
        let (names, texts): (&[&str], Vec<String>) = match (probe.request)(0) {
            Some(ProbeRequest::Files(files)) => (files, files.iter().map(read).collect()),
            Some(ProbeRequest::Entries(name)) => {
                let count = std::fs::read_dir(format!("{directory}{name}")).unwrap().count();
                (&["entries"], vec![count.to_string()])
            }
            _ => continue,
        };
        let both = names.iter().zip(&texts);
        let text: String = both.map(|(name, text)| format!("=== {name}\n{text}")).collect();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        keep(probe, &format!("linux-{}", short(&release)), &ProbeResponse::Texts(texts), &text);
    }
}
