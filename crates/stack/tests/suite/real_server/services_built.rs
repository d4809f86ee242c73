//! Tests the services of this project in a stack, and their recovery after a database restart
//!
//! Services that are not built are skipped: `./x services` builds them.

use super::capture::keep;
use super::chain::{TestStack, node, pgbouncer, postgres, stack};
use super::server::{TEST_TIMEOUT, keeper};
use super::services::{get, processes_of};
use model::plan::{Content, Dataset, Node, NodeKind, PoolMode, Service, StatsPage, Transport};
use stack::chain::{Chain, ChainError, RunningNode};
use stack::client::Connection;
use stack::component::find_probe;
use stack::component::program::Programs;
use stack::dataset::{self, Loader, load, users};
use stack::http;
use stack::http::with_path;
use stack::probe::ProbeResponse;
use stack::supervisor::{Readiness, Supervisor};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

fn service(name: &str, command: &[&str], env: &[(&str, &str)]) -> Node {
    let owned = |it: &&str| (*it).to_owned();
    let kind = NodeKind::Service(Service {
        command: command.iter().map(owned).collect(),
        // The pooler uses transaction mode, so prepared statements are off.
        env: [("PREPARE", "false")].iter().chain(env).map(|it| (owned(&it.0), owned(&it.1))).collect(),
        stats: vec![StatsPage::own("/stats".to_owned())],
        ..Service::default()
    });
    node(name, Transport::Tcp, kind)
}

/// Starts a service behind PgBouncer, with its rows; `None` if the service is not built.
fn up(service: Node, content: Content) -> Option<TestStack> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../services").canonicalize().unwrap();
    let programs = Programs { directory, ..Programs::from_environment() };
    let nodes = [service, pgbouncer(Transport::Tcp, PoolMode::Transaction), postgres(Transport::Tcp)];
    let mut supervisor = Supervisor::start(&keeper()).unwrap();
    let chain = match Chain::up(&mut supervisor, &stack(&nodes), &programs, &mut |_| {}) {
        Ok(it) => it,
        Err(ChainError::Unavailable(reason)) => {
            println!("skipped: {reason:?}");
            return None;
        }
        Err(it) => panic!("{it:?}"),
    };
    let target = chain.postgres().unwrap().endpoint.clone();
    let loader = Loader { target, workers: 1, force: false };
    let rows = dataset::total_rows(&content).expect("the rows of a built-in dataset are counted");
    let loaded = load(&Dataset::new(42, content), &loader, &mut |_| {}).unwrap();
    assert_eq!(loaded.rows, rows);
    Some(TestStack { chain, supervisor })
}

fn web(test_stack: &TestStack) -> &RunningNode {
    test_stack.chain.http_node().unwrap()
}

fn sql(test_stack: &TestStack) -> Connection {
    test_stack.chain.endpoint().open(TEST_TIMEOUT).unwrap()
}

/// Sends JSON; returns the complete response.
fn post(test_stack: &TestStack, target: &str, body: &str) -> String {
    let host = web(test_stack).url.as_ref().unwrap().host_header();
    let mut stream = TcpStream::connect(&host).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    let head = format!("POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
    let rest = format!("Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    stream.write_all((head + &rest).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Checks the service's statistics page, a restart of the database, and that nothing is left after a kill.
fn lives(mut test_stack: TestStack, target: &str) {
    let name = web(&test_stack).plan.name.clone();
    let answer = get(web(&test_stack), target);
    assert!(answer.starts_with("200 "), "{name}: {answer}");
    let page = http::get(&with_path(web(&test_stack).url.as_ref().unwrap(), "/stats"), TEST_TIMEOUT).unwrap();
    let text = String::from_utf8(page.body).unwrap() + "\n";
    keep(find_probe("service_stats").unwrap(), &name, &ProbeResponse::Texts(vec![text.clone()]), &text);

    test_stack.chain.restart(&mut test_stack.supervisor, "postgres").unwrap();
    let id = web(&test_stack).node.unwrap();
    let restarted = test_stack.supervisor.await_ready(id, TEST_TIMEOUT, || {
        match get(test_stack.chain.http_node().unwrap(), target) {
            it if it == answer => Readiness::Ready(()),
            it => Readiness::NotYet(it.into()),
        }
    });
    restarted.unwrap_or_else(|it| panic!("{name}: {it:?}"));

    let directories = processes_of(&test_stack, &name);
    assert!(!directories.is_empty() && directories.iter().all(|it| it.exists()), "{directories:?}");
    test_stack.chain.kill(&mut test_stack.supervisor, &name).unwrap();
    assert!(directories.iter().all(|it| !it.exists()), "{name}: {directories:?}");
}

#[test]
fn delivery() {
    let node = service("delivery", &["delivery/target/delivery"], &[("POOL_SIZE", "3")]);
    let Some(test_stack) = up(node, Content::Delivery { scale: 0.0005 }) else { return };
    let target = "/offices?seller_lat=55.75&seller_lon=37.62&seller_south=55.5&seller_west=37.2&seller_north=56\
                 &seller_east=38&buyer_south=59.7&buyer_west=29.8&buyer_north=60.2&buyer_east=30.8&weight=900\
                 &height=100&length=200&width=300&cost=5000";
    let found = get(web(&test_stack), target);
    // Petersburg is 634 km from Moscow, in zone 2: 150 roubles, twice 40, 30 for the second kilogram (by size), and 25
    // of insurance.
    assert!(found.contains("\"price\":285"), "{found}");
    lives(test_stack, target);
}

#[test]
fn book() {
    let node = service("book", &["book/target/book"], &[]);
    let Some(test_stack) = up(node, Content::Books { rows: 2_000 }) else { return };
    let mut row = sql(&test_stack).query("select author, name, price from book.bookv2 where id = 7").unwrap();
    let [author, name, price] = <[_; 3]>::try_from(row.rows.remove(0)).unwrap().map(Option::unwrap);
    let target = format!("/books?author={}&name={}", escaped(&author), escaped(&name));
    let expected = format!(r#"200 [{{"id":7,"author":"{author}","name":"{name}","price":{price}}}]"#);
    assert_eq!(get(web(&test_stack), &target), expected);
    // The service's ids start after the dataset's.
    let answer = post(&test_stack, "/books", r#"{"author":"Чехов","name":"Чайка","price":19900}"#);
    assert!(answer.contains(r#"{"id":2001}"#), "{answer}");
    lives(test_stack, &target);
}

#[test]
fn social() {
    let python = "social/target/venv/bin/python";
    let node = service("social", &[python, "-m", "social"], &[("WORKERS", "2")]);
    let Some(test_stack) = up(node, Content::Users { users: 1_000 }) else { return };
    let answer = post(&test_stack, "/login", &format!(r#"{{"id":7,"password":"{}"}}"#, users::PASSWORD));
    assert!(answer.contains("\"token\""), "{answer}");
    let answer = post(&test_stack, "/login", r#"{"id":7,"password":"guess"}"#);
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let user = r#"{"first_name":"Анна","second_name":"Каренина","birthdate":"1990-01-01","password":"x"}"#;
    let answer = post(&test_stack, "/user/register", user);
    assert!(answer.contains(r#"{"id":1001}"#), "{answer}");
    lives(test_stack, "/user/get/7");
}

fn escaped(text: &str) -> String {
    text.bytes().map(|it| format!("%{it:02X}")).collect()
}
