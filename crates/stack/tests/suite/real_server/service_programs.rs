//! Tests services that consist of several programs: nginx and PHP-FPM from templates, and a program per stack
//!
//! Skipped if nginx or PHP-FPM is not installed: `apt-get install --no-install-recommends nginx-light php-fpm`.

use super::chain::{TestStack, node, postgres, stack};
use super::pages::PHP_FPM;
use super::scratch::Scratch;
use super::services::get;
use model::Nanos;
use model::message::Message;
use model::plan::{
    Limits, Node, NodeKind, ProgramReadiness, ProgramScope, Service, ServiceFile, ServiceProgram,
    StatsAddress, StatsForm, StatsPage, Transport,
};
use stack::component::program::Programs;
use stack::find::Installation;
use stack::sampler::{Observation, Sampler, SamplingTarget};
use stack::supervisor::End;
use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

const NGINX: &str = "daemon off; pid ${dir}/nginx.pid; error_log stderr; worker_processes 1;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi; scgi_temp_path ${dir}/scgi;
  server {
    listen ${address};
    root ROOT;
    location = /ping { return 200 'up'; }
    location = /nginx { stub_status; }
    location ~ ^(.*[.]php|/status)$ {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME ${document_root}$fastcgi_script_name;
      fastcgi_pass ${fpm.address};
    }
  }
}
";
const POOL: &str = "[global]
error_log = ${dir}/fpm.log
daemonize = no
[www]
listen = ${fpm.address}
pm = static
pm.max_children = 2
pm.status_path = /status
env[COPY] = ${copy}
";
const JOBS: &str = "unset PGPASSWORD
export PGPASSFILE=${dir}/pgpass
PSQL -Atc 'create table jobs as select 1 as n' && exec PSQL -Atc 'select pg_sleep(600)'
";
const PGPASS: &str =
    "${database.host}:${database.port}:${database.name}:${database.user}:${database.password}\n";

fn file(name: &str, text: &str) -> ServiceFile {
    ServiceFile { name: name.to_owned(), origin: PathBuf::from(name), text: text.to_owned() }
}

fn program(name: &str, command: &[&str], ready: ProgramReadiness) -> ServiceProgram {
    ServiceProgram {
        name: name.to_owned(),
        command: command.iter().map(|&it| it.to_owned()).collect(),
        env: Vec::new(),
        files: Vec::new(),
        scope: ProgramScope::Copy,
        ready,
        limits: Limits::default(),
    }
}

/// Two copies of nginx and PHP-FPM, and one program that writes to the database; `None` if a program is not installed.
fn web_tier(scratch: &Scratch) -> Option<Node> {
    let Some(fpm) =
        PHP_FPM.into_iter().find(|it| Path::new(it).is_file() && Path::new("/usr/sbin/nginx").is_file())
    else {
        eprintln!("skipped: nginx or PHP-FPM is not installed");
        return None;
    };
    std::fs::write(scratch.path.join("index.php"), "<?php echo 'copy ', getenv('COPY');").unwrap();
    let psql = psql();
    let web = program("web", &["/usr/sbin/nginx", "-c", "${dir}/nginx.conf"], ProgramReadiness::Running);
    let fpm_command = [fpm, "-n", "-F", "-O", "-y", "${dir}/conf/pool.conf"];
    let limits = Limits { cpu: Some(0.5), ..Limits::default() };
    let fpm = ServiceProgram { limits, ..program("fpm", &fpm_command, ProgramReadiness::Port) };
    let jobs = ServiceProgram {
        scope: ProgramScope::Stack,
        files: vec![file("jobs.sh", &JOBS.replace("PSQL", psql.to_str().unwrap())), file("pgpass", PGPASS)],
        ..program("jobs", &["sh", "${dir}/jobs.sh"], ProgramReadiness::Running)
    };
    let page = |form, path: &str, program: Option<&str>| StatsPage {
        form,
        address: StatsAddress::Path(path.to_owned()),
        program: program.map(str::to_owned),
        series: Vec::new(),
    };
    let service = Service {
        files: vec![
            file("nginx.conf", &NGINX.replace("ROOT", scratch.path.to_str().unwrap())),
            file("conf/pool.conf", POOL),
        ],
        env: vec![("SECRET_URL".to_owned(), "app:${database.password}@${database.host}".to_owned())],
        programs: vec![fpm, jobs, web],
        copies: 2,
        ready_path: "/ping".to_owned(),
        stats: vec![
            page(StatsForm::PhpFpm, "/status", Some("fpm")),
            page(StatsForm::StubStatus, "/nginx", None),
        ],
        ..Service::default()
    };
    Some(node("shop", Transport::Tcp, NodeKind::Service(service)))
}

fn psql() -> PathBuf {
    let found: Installation = Programs::from_environment().postgres(None, |_| {}).unwrap();
    found.bin.join("psql")
}

/// Restricted files of a program's directory, as the keeper sees them.
fn directory(test_stack: &TestStack, name: &str) -> PathBuf {
    test_stack.supervisor.home().join(name)
}

#[test]
fn web_tier_runs_as_programs() {
    let scratch = Scratch::new("programs");
    let Some(web_tier) = web_tier(&scratch) else { return };
    let plan = stack(&[web_tier, postgres(Transport::Tcp)]);
    let mut test_stack = TestStack::up(&plan).unwrap_or_else(|it| panic!("{it:?}"));
    let names: Vec<&str> = test_stack.chain.nodes().iter().map(|it| it.plan.name.as_str()).collect();
    assert_eq!(
        names,
        ["shop-balancer", "shop-1.web", "shop-1.fpm", "shop-2.web", "shop-2.fpm", "shop.jobs", "postgres"]
    );
    let entry = test_stack.chain.http_node().unwrap();
    let pages: BTreeSet<String> = (0..4).map(|_| get(entry, "/index.php")).collect();
    assert_eq!(pages.into_iter().collect::<Vec<_>>(), ["200 copy 1", "200 copy 2"]);
    let web = test_stack.chain.find_node("shop-2.web").unwrap();
    assert!(web.log.as_ref().is_some_and(|it| it.ends_with("shop-2.web.log")), "{web:?}");

    // The program of the stack has logged in with the password in its file.
    let endpoint = test_stack.chain.endpoint().clone();
    let mut session = endpoint.open(std::time::Duration::from_secs(10)).unwrap();
    assert_eq!(session.value("select count(*) from jobs").unwrap().as_deref(), Some("1"));

    // Nothing that is shown contains the password, and only the nodes' user can read the files.
    let secret = test_stack.chain.users().app.password.reveal().to_owned();
    assert!(!format!("{:?}", test_stack.chain).contains(&secret));
    let configuration = |name: &str| &test_stack.chain.find_node(name).unwrap().configuration;
    let files = |name: &str| configuration(name).iter().map(|file| file.0.as_str()).collect::<Vec<_>>();
    assert_eq!(files("shop-1.fpm"), ["nginx.conf", "conf/pool.conf", "environment"]);
    assert_eq!(files("shop-1.web"), ["environment"]);
    assert_eq!(files("shop.jobs"), ["jobs.sh", "pgpass", "environment"]);
    assert!(configuration("shop.jobs")[1].1.ends_with(":app:***\n"), "{:?}", configuration("shop.jobs"));
    let written = std::fs::read_to_string(directory(&test_stack, "shop.jobs/pgpass")).unwrap();
    assert!(written.ends_with(&format!(":app:app:{secret}\n")), "{written}");
    for name in ["shop.jobs/pgpass", "shop-1/conf/pool.conf"] {
        let metadata = std::fs::metadata(directory(&test_stack, name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
        if let Some(user) = test_stack.supervisor.user() {
            assert_eq!(metadata.uid(), user.uid, "{name}");
        }
    }
    let pid = |name: &str| {
        test_stack.supervisor.pid(test_stack.chain.find_node(name).unwrap().node.unwrap()).unwrap()
    };
    let of_process = |file: &str| {
        let path = format!("/proc/{}/{file}", pid("shop.jobs"));
        String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
    };
    assert!(of_process("environ").contains(&format!("SECRET_URL=app:{secret}@127.0.0.1\0")));
    assert!(!of_process("cmdline").contains(&secret));

    // Each program is sampled as a node, and a page belongs to the program that it describes.
    let points: Vec<SamplingTarget> = test_stack
        .chain
        .nodes()
        .iter()
        .map(|it| SamplingTarget::for_running(it, "app", &test_stack.supervisor))
        .collect();
    let (out, observations) = channel();
    Sampler::start(points, || Nanos::ZERO, out).stop();
    let mut sampled = BTreeSet::new();
    for observation in observations {
        match observation {
            Observation::Samples(all) => {
                sampled.extend(all.iter().map(|it| format!("{} {} {}", it.node, it.series, it.label)));
            }
            Observation::Missing { node, probe, reason } => {
                assert!(!node.starts_with("shop-1"), "{node} {probe}: {reason:?}");
            }
            Observation::Event(_) | Observation::Deadlock(_) | Observation::Note { .. } => {
                panic!("{observation:?}")
            }
        }
    }
    let grouped = |name: &str| {
        let id = test_stack.chain.find_node(name).unwrap().node.unwrap();
        test_stack.supervisor.group(id).is_some()
    };
    for (row, expected) in [
        ("shop-1.fpm service_threads_size www", true),
        ("shop-2.fpm service_threads_size www", true),
        ("shop-1.web service_threads_size www", false),
        ("shop-1.web service_connections active", true),
        ("shop-1.fpm process_cpu_user ", true),
        ("shop-1.web process_cpu_user ", true),
        ("shop.jobs process_cpu_user ", true),
        ("shop-1.fpm cgroup_cpu ", grouped("shop-1.fpm")),
        ("shop-1.web cgroup_cpu ", false),
    ] {
        assert_eq!(sampled.contains(row), expected, "{row} in {sampled:#?}");
    }

    // An unchanged stack keeps running, and a program that has ended starts again at its old port.
    let before = pid("shop-2.fpm");
    test_stack.reconcile(&plan).unwrap();
    let pid_of = |test_stack: &TestStack, name: &str| {
        test_stack.supervisor.pid(test_stack.chain.find_node(name).unwrap().node.unwrap())
    };
    assert_eq!(pid_of(&test_stack, "shop-2.fpm"), Some(before));
    assert_eq!(test_stack.chain.kill(&mut test_stack.supervisor, "shop-2.web").unwrap(), End::Signal(9));
    test_stack.reconcile(&plan).unwrap();
    assert_eq!(pid_of(&test_stack, "shop-2.fpm"), Some(before));
    let web = test_stack.chain.find_node("shop-2.web").unwrap();
    assert_eq!(get(web, "/index.php"), "200 copy 2");
    test_stack.chain.restart(&mut test_stack.supervisor, "shop-2.fpm").unwrap();
    assert_eq!(get(test_stack.chain.find_node("shop-2.web").unwrap(), "/index.php"), "200 copy 2");
}

#[test]
fn failing_program_is_named() {
    let start_error = |programs: Vec<ServiceProgram>| {
        let service = Service { programs, ..Service::default() };
        let shop = node("shop", Transport::Tcp, NodeKind::Service(service));
        Message::from(&TestStack::up(&stack(&[shop, postgres(Transport::Tcp)])).map(drop).unwrap_err())
            .describe()
    };
    let idle = program("web", &["sleep", "1000"], ProgramReadiness::Running);
    let check = |worker: ServiceProgram, expected: &str| {
        let error = start_error(vec![worker, idle.clone()]);
        assert!(error.starts_with(expected), "{error}");
    };
    let ended = |ready| program("worker", &["sh", "-c", "echo broken; exit 3"], ready);
    for ready in [ProgramReadiness::Running, ProgramReadiness::Port, ProgramReadiness::Path("/up".to_owned())]
    {
        let expected =
            "node-error(shop.worker, attempt-become-ready, node-ended(node-exited(3), none),   broken";
        check(ended(ready), expected);
    }
    let missing = program("worker", &["no-such-program"], ProgramReadiness::Running);
    check(missing, "program-unavailable(service-no-program(no-such-program), install-service)");
    let secret = program("worker", &["sleep", "${database.password}"], ProgramReadiness::Running);
    check(secret, "error-of(shop.worker, invalid-node-no-value(${database.password}))");
}

#[test]
fn program_is_ready_when_its_socket_accepts() {
    let scratch = Scratch::new("socket");
    let script = "import os, socket, sys, time\n\
                  time.sleep(0.3)\n\
                  server = socket.socket(socket.AF_UNIX)\n\
                  server.bind(sys.argv[1])\n\
                  server.listen()\n\
                  time.sleep(1000)\n";
    let python = Path::new("/usr/bin/python3");
    if !python.is_file() {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    let ready = ProgramReadiness::Socket("worker.sock".to_owned());
    let worker = ServiceProgram {
        files: vec![file("worker.py", script)],
        ..program("worker", &["/usr/bin/python3", "${dir}/worker.py", "${dir}/worker.sock"], ready)
    };
    let mut shop = super::tiny::service("shop", &scratch, &[]);
    let NodeKind::Service(service) = &mut shop.kind else { unreachable!() };
    let serving = program("web", &[], ProgramReadiness::Running);
    let command = std::mem::take(&mut service.command);
    service.programs = vec![worker, ServiceProgram { command, ..serving }];
    service.stats.clear();
    let test_stack =
        TestStack::up(&stack(&[shop, postgres(Transport::Tcp)])).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(directory(&test_stack, "shop/worker.sock").exists());
    assert_eq!(get(test_stack.chain.http_node().unwrap(), "/sql"), "200 app app");
    assert_eq!(test_stack.chain.http_node().unwrap().plan.name, "shop.web");
}
