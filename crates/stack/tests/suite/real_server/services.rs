//! Tests HTTP services as nodes of a stack

use super::chain::{TestStack, haproxy, pgbouncer, postgres, stack};
use super::scratch::Scratch;
use super::server::keeper;
use super::tiny;
use model::Nanos;
use model::message::Message;
use model::plan::{Node, NodeKind, PoolMode, Service, Transport};
use model::summary::ServerTransport;
use stack::chain::{Chain, ChainError, RunningNode};
use stack::component::program::Programs;
use stack::http;
use stack::http::with_path;
use stack::sampler::{Observation, Sampler, SamplingTarget};
use stack::supervisor::{End, Readiness, Supervisor};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Returns status and body of a response.
pub fn get(node: &RunningNode, target: &str) -> String {
    match http::get(&with_path(node.url.as_ref().unwrap(), target), TEST_TIMEOUT) {
        Ok(it) => format!("{} {}", it.status, String::from_utf8_lossy(&it.body)),
        Err(it) => it.to_string(),
    }
}

/// Repeats the request until the answer is the expected one.
fn await_answer(test_stack: &mut TestStack, target: &str, expected: impl Fn(&str) -> bool) {
    let node = test_stack.chain.http_node().unwrap();
    test_stack
        .supervisor
        .await_ready(node.node.unwrap(), TEST_TIMEOUT, || match get(node, target) {
            it if expected(&it) => Readiness::Ready(()),
            it => Readiness::NotYet(it.into()),
        })
        .unwrap_or_else(|it| panic!("{it:?}"));
}

fn up(nodes: &[Node]) -> TestStack {
    TestStack::up(&stack(nodes)).unwrap_or_else(|it| panic!("{it:?}"))
}

/// Lists the process of a service and its worker's.
fn processes(node: &RunningNode) -> Vec<PathBuf> {
    let answer = get(node, "/who");
    answer.split(' ').skip(1).map(|it| Path::new("/proc").join(it)).collect()
}

/// Lists all processes of a node.
pub fn processes_of(test_stack: &TestStack, name: &str) -> Vec<PathBuf> {
    let id = test_stack.chain.find_node(name).and_then(|it| it.node).unwrap();
    let proc = |it: u32| Path::new("/proc").join(it.to_string());
    test_stack.supervisor.processes(id).into_iter().map(proc).collect()
}

#[test]
fn service_runs_as_node() {
    let scratch = Scratch::new("service");
    let pooler = || pgbouncer(Transport::Tcp, PoolMode::Transaction);
    for (tls, behind) in
        [(Transport::Tcp, vec![pooler(), postgres(Transport::Unix)]), (Transport::Tls, vec![])]
    {
        let mut nodes = vec![tiny::service("shop", &scratch, &[("COLOUR", "blue")])];
        nodes.extend(behind);
        if nodes.len() == 1 {
            nodes.push(postgres(tls));
        }
        let mut test_stack = up(&nodes);
        let shop = test_stack.chain.http_node().unwrap();
        assert_eq!(get(shop, "/sql"), "200 app app");
        assert_eq!((shop.plan.name.as_str(), &shop.hop), ("shop", &ServerTransport::Tcp));
        let expected = if tls == Transport::Tcp {
            ServerTransport::Tcp
        } else {
            ServerTransport::TcpTls { version: "1.3".to_owned() }
        };
        assert_eq!(test_stack.chain.nodes()[1].hop, expected);
        assert!(shop.configuration[0].1.contains("COLOUR=blue\n"), "{:?}", shop.configuration);

        // The service has secrets only in its memory.
        let secret = test_stack.chain.users().app.password.reveal().to_owned();
        assert!(!format!("{:?}", test_stack.chain).contains(&secret));
        let directories = processes(shop);
        let read =
            |it: &str| String::from_utf8_lossy(&std::fs::read(directories[0].join(it)).unwrap()).into_owned();
        assert!(read("environ").contains(&format!("PGPASSWORD={secret}\0")));
        assert!(!read("cmdline").contains(&secret));
        if let Some(user) = test_stack.supervisor.user() {
            assert!(read("status").contains(&format!("Uid:\t{0}\t{0}\t{0}\t{0}", user.uid)));
        }

        // The database restarts, and the service continues.
        test_stack.chain.restart(&mut test_stack.supervisor, "postgres").unwrap();
        await_answer(&mut test_stack, "/sql", |it| it == "200 app app");

        // The worker ends with the service, and the service can restart.
        assert!(directories.iter().all(|it| it.exists()), "{directories:?}");
        assert_eq!(test_stack.chain.kill(&mut test_stack.supervisor, "shop").unwrap(), End::Signal(9));
        assert!(directories.iter().all(|it| !it.exists()), "{directories:?}");
        test_stack.chain.restart(&mut test_stack.supervisor, "shop").unwrap();
        assert_eq!(get(test_stack.chain.http_node().unwrap(), "/sql"), "200 app app");

        // The database has no sessions, so it can be copied.
        let directories = processes(test_stack.chain.http_node().unwrap());
        test_stack.chain.quiesce(&mut test_stack.supervisor, &mut |_| {}).unwrap();
        assert!(
            test_stack.chain.http_node().is_none() && directories.iter().all(|it| !it.exists()),
            "{directories:?}"
        );
        test_stack.chain.resume(&mut test_stack.supervisor, &mut |_| {}).unwrap();
        assert_eq!(get(test_stack.chain.http_node().unwrap(), "/sql"), "200 app app");
    }
}

#[test]
fn service_copies_run_behind_balancer() {
    let scratch = Scratch::new("copies");
    let mut shop = tiny::service("shop", &scratch, &[]);
    let NodeKind::Service(settings) = &mut shop.kind else { unreachable!() };
    settings.copies = 2;
    let mut test_stack = up(&[shop, postgres(Transport::Tcp)]);
    let names: Vec<&str> = test_stack.chain.nodes().iter().map(|it| it.plan.name.as_str()).collect();
    assert_eq!(names, ["shop-balancer", "shop-1", "shop-2", "postgres"]);
    let balancer = test_stack.chain.http_node().unwrap();
    assert!(balancer.statistics.is_some() && balancer.version.contains('.'), "{}", balancer.version);
    assert_eq!(get(balancer, "/sql"), "200 app app");
    let answers: Vec<String> = (0..4).map(|_| get(balancer, "/who")).collect();
    assert!(answers[0] == answers[2] && answers[1] == answers[3] && answers[0] != answers[1], "{answers:?}");

    // One copy has stopped, so the other one gets all requests.
    let other = get(test_stack.chain.find_node("shop-2").unwrap(), "/who");
    test_stack.chain.kill(&mut test_stack.supervisor, "shop-1").unwrap();
    let mut in_a_row = std::cell::Cell::new(0);
    await_answer(&mut test_stack, "/who", |answer| {
        in_a_row.set(if answer == other { in_a_row.get() + 1 } else { 0 });
        in_a_row.get() == 8
    });
    assert_eq!(*in_a_row.get_mut(), 8);
    test_stack.chain.restart(&mut test_stack.supervisor, "shop-1").unwrap();
    await_answer(&mut test_stack, "/who", |it| it.starts_with("200 ") && it != other);
}

#[test]
fn balancer_serves_http_in_front_of_service() {
    let scratch = Scratch::new("before");
    let nodes =
        [haproxy(Transport::Tcp, Some(1)), tiny::service("shop", &scratch, &[]), postgres(Transport::Tcp)];
    let test_stack = up(&nodes);
    let web = test_stack.chain.http_node().unwrap();
    assert_eq!((web.plan.name.as_str(), get(web, "/sql").as_str()), ("balancer", "200 app app"));
    let start_error =
        |nodes: &[Node]| Message::from(&TestStack::up(&stack(nodes)).map(drop).unwrap_err()).describe();
    let pooler = pgbouncer(Transport::Tcp, PoolMode::Session);
    let shop = tiny::service("shop", &scratch, &[]);
    assert_eq!(
        start_error(&[pooler, shop.clone(), postgres(Transport::Tcp)]),
        "error-of(pooler, node-upstream-http(shop))"
    );
    let unix = "error-of(shop, invalid-node-transport(service-connects-by-tcp, `transport: tcp` or `transport: tls`, postgres))";
    assert_eq!(start_error(&[shop, postgres(Transport::Unix)]), unix);
}

#[test]
fn failed_starts_report_reason() {
    let scratch = Scratch::new("missing");
    let check = |command: &[&str], env: &[(&str, &str)], expected: &str| {
        let mut shop = tiny::service("shop", &scratch, env);
        let NodeKind::Service(settings) = &mut shop.kind else { unreachable!() };
        if !command.is_empty() {
            settings.command = command.iter().map(|&it| it.to_owned()).collect();
        }
        let mut supervisor = Supervisor::start(&keeper()).unwrap();
        let programs = Programs { directory: scratch.path.clone(), ..Programs::from_environment() };
        let stack = stack(&[shop, postgres(Transport::Tcp)]);
        let problem = Chain::up(&mut supervisor, &stack, &programs, &mut |_| {}).map(drop).unwrap_err();
        let missing = matches!(problem, ChainError::Unavailable(_));
        let text = Message::from(&problem).describe();
        assert_eq!(missing, text.contains("install-service"), "{problem:?}");
        assert!(text.contains(expected), "{text}");
    };
    check(&["target/shop"], &[], "program-unavailable(service-no-program(target/shop), install-service)");
    check(&["no-such-program"], &[], "service-no-program(no-such-program)");
    check(&["sh", "-jar", "target/shop.jar"], &[], "service-no-file(target/shop.jar)");
    check(
        &["sh", "-c", "echo one; echo two >&2; exit 3"],
        &[],
        "node-error(shop, attempt-become-ready, node-ended(node-exited(3), none),   one\n  two)",
    );
    // A relative path is relative to the directory of the experiment.
    check(
        &["./tiny", "--exact", "real_server::tiny::serve", "--nocapture"],
        &[("LAST_WORDS", "alas")],
        "node-error(shop, attempt-become-ready, node-ended(node-exited(3), none),   \n  running 1 test\n  alas)",
    );
}

#[test]
fn samples_service() {
    let scratch = Scratch::new("watched");
    let mut shop = tiny::service("shop", &scratch, &[]);
    // The service gets a control group, if available.
    shop.limits.cpu = Some(0.9);
    let test_stack = up(&[shop, postgres(Transport::Tcp)]);
    let points: Vec<SamplingTarget> = test_stack
        .chain
        .nodes()
        .iter()
        .map(|it| SamplingTarget::for_running(it, "app", &test_stack.supervisor))
        .collect();
    let worker = &processes(test_stack.chain.http_node().unwrap())[1];
    assert!(
        test_stack.supervisor.processes(test_stack.chain.http_node().unwrap().node.unwrap()).len() >= 2,
        "{worker:?}"
    );
    let (out, observations) = channel();
    // Every probe runs once more at the end.
    Sampler::start(points, || Nanos::ZERO, out).stop();
    let mut shown: Vec<String> = Vec::new();
    for observation in observations {
        match observation {
            Observation::Samples(them) => shown.extend(
                them.iter()
                    .filter(|it| it.node == "shop")
                    .map(|it| format!("{} [{}] {}", it.series, it.label, it.value)),
            ),
            Observation::Missing { node, probe, reason } => {
                assert!(probe != "service_stats" && probe != "connection", "{node}: {reason:?}");
            }
            other @ (Observation::Event(_) | Observation::Deadlock(_) | Observation::Note { .. }) => {
                panic!("{other:?}")
            }
        }
    }
    for expected in [
        "service_threads_busy [] 3",
        "service_pool_size [pool] 10",
        "service_pool_busy [pool] 2",
        "service_pool_waited_total [pool] 7",
    ] {
        assert!(shown.iter().any(|it| it == expected), "{expected} in {shown:#?}");
    }
    let has = |name: &str| shown.iter().any(|it| it.starts_with(name));
    assert!(has("process_"), "{shown:#?}");
    let grouped = test_stack.chain.http_node().and_then(|it| test_stack.supervisor.group(it.node?)).is_some();
    assert_eq!(has("cgroup_"), grouped, "{shown:#?}");
}

#[test]
fn attached_service_is_not_stopped() {
    let scratch = Scratch::new("attached");
    let existing = up(&[tiny::service("shop", &scratch, &[]), postgres(Transport::Tcp)]);
    let url = existing.chain.http_node().unwrap().url.clone().unwrap();
    let attached = |ready: &str| {
        let mut node = tiny::service("ours", &scratch, &[]);
        let NodeKind::Service(settings) = &mut node.kind else { unreachable!() };
        *settings = Service {
            command: Vec::new(),
            url: Some(format!("http://{}", url.host_header())),
            ready_path: ready.to_owned(),
            ..settings.clone()
        };
        node
    };
    for behind in [None, Some(postgres(Transport::Tcp))] {
        let nodes: Vec<Node> = [attached("/health")].into_iter().chain(behind).collect();
        let mut attached_stack = up(&nodes);
        let node = attached_stack.chain.http_node().unwrap();
        assert!(node.is_attached() && node.node.is_none());
        assert_eq!(get(node, "/sql"), "200 app app");
        attached_stack.chain.quiesce(&mut attached_stack.supervisor, &mut |_| {}).unwrap();
        attached_stack.chain.resume(&mut attached_stack.supervisor, &mut |_| {}).unwrap();
        assert_eq!(attached_stack.chain.nodes().len(), nodes.len());
        attached_stack.chain.down(&mut attached_stack.supervisor, &mut |_| {}).unwrap();
        assert_eq!(get(existing.chain.http_node().unwrap(), "/sql"), "200 app app");
    }
    let problem = TestStack::up(&stack(&[attached("/nowhere")])).map(drop).unwrap_err();
    assert_eq!(
        Message::from(&problem).describe(),
        "node-error(ours, attempt-reach, node-get-answered(/nowhere, 404), none)"
    );
}
