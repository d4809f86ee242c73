use super::*;
use crate::plan::{ProgramReadiness, Transport};

fn program(name: &str, scope: ProgramScope) -> ServiceProgram {
    ServiceProgram {
        name: name.to_owned(),
        command: vec![format!("./{name}")],
        env: Vec::new(),
        files: Vec::new(),
        scope,
        ready: ProgramReadiness::Running,
        limits: Limits { cpu: (name == "fpm").then_some(0.5), ..Limits::default() },
    }
}

fn node(service: Service) -> Node {
    let (kind, limits) = (NodeKind::Service(service), Limits { cpu: Some(2.0), ..Limits::default() });
    Node { name: "service".to_owned(), kind, transport: Transport::Tcp, limits }
}

fn several(copies: u32) -> Node {
    let programs = vec![
        program("fpm", ProgramScope::Copy),
        program("jobs", ProgramScope::Stack),
        program("web", ProgramScope::Copy),
        program("mail", ProgramScope::Stack),
    ];
    node(Service { programs, copies, ..Service::default() })
}

fn single(copies: u32) -> Node {
    node(Service { command: vec!["./shop".to_owned()], copies, ..Service::default() })
}

#[test]
fn starts_copies_and_programs_in_order() {
    let check = |node: Node, expected: &str| {
        let started = started_nodes(&[node]);
        let describe = |node: &Node| match &node.kind {
            NodeKind::Service(service) => {
                let serves = if service.is_serving() { "!" } else { "" };
                let directory = service.instance.as_ref().map(ServiceInstance::directory);
                let cpu = node.limits.cpu.map_or(String::new(), |it| it.to_string());
                format!("{}{serves}[{} {cpu}]", node.name, directory.unwrap_or_default())
            }
            _ => node.name.clone(),
        };
        assert_eq!(started.iter().map(describe).collect::<Vec<_>>().join(" "), expected);
    };
    check(single(1), "service![service 2]");
    check(single(2), "service-balancer service-1![service-1 2] service-2![service-2 2]");
    let stack = "service.mail[service.mail ] service.jobs[service.jobs ]";
    check(several(1), &format!("service.web![service ] service.fpm[service 0.5] {stack}"));
    check(
        several(2),
        &format!(
            "service-balancer service-1.web![service-1 ] service-1.fpm[service-1 0.5] service-2.web![service-2 ] \
             service-2.fpm[service-2 0.5] {stack}"
        ),
    );
    check(
        node(Service { url: Some("http://a".to_owned()), copies: 2, ..Service::default() }),
        "service![ 2]",
    );
}

#[test]
fn parts_name_their_instances() {
    let check = |node: &Node, expected: &[&str]| {
        let describe = |it: &NodePart<'_>| format!("{}: {}", it.name, it.instances.join(" "));
        assert_eq!(node.parts().iter().map(describe).collect::<Vec<_>>(), expected);
    };
    check(&single(1), &["service: service"]);
    check(&single(2), &["service: service-1 service-2"]);
    check(
        &several(2),
        &[
            "service.fpm: service-1.fpm service-2.fpm",
            "service.jobs: service.jobs",
            "service.web: service-1.web service-2.web",
            "service.mail: service.mail",
        ],
    );
}

#[test]
fn the_last_program_of_each_copy_serves_its_address() {
    assert_eq!(several(2).serving_instances(), ["service-1.web", "service-2.web"]);
    assert_eq!(several(1).serving_instances(), ["service.web"]);
    assert_eq!(single(2).serving_instances(), ["service-1", "service-2"]);
    assert_eq!(several(2).copies_balancer().as_deref(), Some("service-balancer"));
    assert_eq!(several(1).copies_balancer(), None);
}

#[test]
fn limits_of_a_part_can_be_changed() {
    let stack = |node| Stack {
        nodes: vec![node],
        generator: Limits::default(),
        replication: None,
        hosts: Vec::new(),
    };
    for (node, name, expected) in [
        (several(2), "service.fpm", Some(0.5)),
        (several(2), "service.web", None),
        (single(2), "service", Some(2.0)),
    ] {
        let mut stack = stack(node);
        assert_eq!(stack.part(name).map(|it| it.limits.cpu), Some(expected), "{name}");
        stack.limits_mut(name).expect(name).cpu = Some(3.0);
        assert_eq!(stack.part(name).map(|it| it.limits.cpu), Some(Some(3.0)), "{name}");
        assert_eq!(stack.node_of_part(name).map(|it| it.name.as_str()), Some("service"));
    }
    assert!(stack(several(1)).limits_mut("service").is_none(), "the programs have the limits");
}

#[test]
fn environment_of_a_program_replaces_that_of_the_service() {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let own =
        ServiceProgram { env: vec![pair("A", "2"), pair("C", "3")], ..program("web", ProgramScope::Copy) };
    let service =
        Service { env: vec![pair("A", "1"), pair("B", "1")], programs: vec![own], ..Service::default() };
    let started = started_nodes(&[node(service)]);
    let NodeKind::Service(service) = &started[0].kind else { panic!("{started:?}") };
    assert_eq!(service.started_env(), [pair("B", "1"), pair("A", "2"), pair("C", "3")]);
}
