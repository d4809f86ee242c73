//! Attached systems are measured, but not modified, and their passwords are never printed

use super::postgres_servers::{start_server, start_server_with, start_servers};
use super::workspace::{BARE, PGDYNO, RunOutput, Workspace, retry_until, trials};
use model::fact::Fact;
use report::lang::english;
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use store::RunStatus;

#[test]
fn measures_an_attached_server_and_never_prints_its_password() {
    let (_supervisor, postgres) = start_server();
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let workspace = Workspace::new(
        "attached",
        &BARE.replace("postgres: {}", &format!("postgres: {{ attach: \"{address}\" }}")),
    );
    let canary = "CANARY-9f2c-пароль";
    let right = postgres.password().reveal().to_owned();
    for (password, status, expected) in
        [(right.as_str(), 0, ""), (canary, 1, "password authentication failed")]
    {
        let ended = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", password)).wait();
        ended.expect(status);
        let (_, trial_status, reason) = trials(&workspace.stored()).remove(0);
        assert_eq!(
            trial_status,
            if status == 0 { RunStatus::Complete } else { RunStatus::Failed },
            "{reason}"
        );
        assert!(reason.contains(expected) && ended.err.contains(expected), "{reason}\n{}", ended.err);
        let file = std::fs::read(workspace.stored().path()).expect("the file can be read");
        for bytes in [ended.out.as_bytes(), ended.err.as_bytes(), &file[..]] {
            assert!(
                !bytes.windows(password.len()).any(|it| it == password.as_bytes()),
                "the password was printed"
            );
        }
    }
    processes_are_found_by_the_port(&address, &right, postgres.port);
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    // The application name marks another run on the same database.
    connection.query("set application_name = 'pgdyno monitor'").expect("the server answers");
    let ended = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", &right)).wait();
    ended.expect(1);
    assert!(ended.err.contains("another pgdyno is running against 127.0.0.1:"), "{}", ended.err);
    assert_eq!(connection.value("select 1").expect("the server still answers").as_deref(), Some("1"));
}

/// The CPU of an attached server is known, and a note names the program at its port.
fn processes_are_found_by_the_port(address: &str, password: &str, port: u16) {
    let yaml = BARE.replace("postgres: {}", &format!("postgres: {{ attach: \"{address}\" }}"));
    let workspace = Workspace::new("processes", &yaml);
    workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", password)).wait().expect(0);
    let run = workspace.stored();
    let samples = run.samples(store::TrialId(1), Some("process_cpu_user")).expect("the run file can be read");
    assert!(samples.iter().any(|it| it.node == "postgres" && it.value > 0.0), "{samples:?}");
    let facts = run.facts().expect("the run file can be read");
    let notes = facts.iter().filter_map(|record| match &record.fact {
        Fact::Note(note) => Some(english().message(&note.message)),
        _ => None,
    });
    let named = format!("the program postgres that listens at 127.0.0.1:{port}");
    assert_eq!(notes.filter(|it| it.contains(&named)).count(), 1, "{facts:?}");
}

#[test]
fn exits_with_1_without_a_server() {
    let nobody = "postgres: { attach: \"host=127.0.0.1 port=1 user=me dbname=book\" }";
    let ended = Workspace::new("nobody", &BARE.replace("postgres: {}", nobody)).run(&[]);
    ended.expect(1);
    assert!(
        ended.err.contains("postgres could not be reached: 127.0.0.1:1: Connection refused"),
        "{}",
        ended.err
    );
}

/// A pipe can be read once, so the file is read once.
#[test]
fn stores_an_experiment_that_was_read_from_a_pipe() {
    let yaml =
        BARE.replace("postgres: {}", "postgres: { attach: \"host=127.0.0.1 port=1 user=me dbname=book\" }");
    let workspace = Workspace::new("piped", "");
    let mut command = workspace.command_on(Path::new("/dev/stdin"), &[]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    child
        .stdin
        .take()
        .expect("the stream is piped")
        .write_all(yaml.as_bytes())
        .expect("the program reads its input");
    assert_eq!(child.wait().expect("the process can be waited for").code(), Some(1));
    assert_eq!(workspace.stored().header().expect("the run file can be read").text, yaml);
}

/// If a server accepts connections but sends nothing, the run ends after `connect_timeout`.
#[test]
fn login_times_out_on_a_silent_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("the listener is bound");
    let silent = format!(
        "postgres: {{ attach: \"host=127.0.0.1 port={} user=me dbname=book connect_timeout=2\" }}",
        address.port()
    );
    let ended = Workspace::new("silent", &BARE.replace("postgres: {}", &silent)).run(&[]);
    ended.expect(1);
    let expected = format!("postgres could not be reached: {address}: no answer to the login within 2 s");
    assert!(ended.err.contains(&expected), "{}", ended.err);
}

/// An attached pooler must lead to the attached PostgreSQL's server and database; otherwise the run is rejected before
/// the load.
#[test]
fn an_attached_pooler_must_lead_to_the_attached_server() {
    let (_supervisor, [server, other]) = start_servers(["server", "other"]);
    let mut connection =
        server.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    connection.query("create database shop").expect("the server answers");
    // Both servers must accept the same password.
    let password = server.password().reveal().to_owned();
    let sql = format!("alter role postgres password '{password}'");
    let mut connection =
        other.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    connection.query(&sql).expect("the server answers");
    drop(connection);
    let address =
        |port: u16, database: &str| format!("host=127.0.0.1 port={port} user=postgres dbname={database}");
    // A pooler is any address that speaks PostgreSQL's protocol, so a server can represent one.
    for (port, database, expected) in [
        (server.port, "shop", ""),
        (server.port, "postgres", "these are two databases of one server"),
        (other.port, "postgres", "these are two servers"),
    ] {
        let stack = format!(
            "pooler: {{ kind: pgbouncer, attach: \"{}\" }}, postgres: {{ attach: \"{}\" }}",
            address(port, database),
            address(server.port, "shop"),
        );
        let workspace = Workspace::new("path", &BARE.replace("postgres: {}", &stack));
        let ended = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", &password)).wait();
        ended.expect(if expected.is_empty() { 0 } else { 1 });
        assert!(ended.err.contains(expected), "{}", ended.err);
        if !expected.is_empty() {
            let named = [
                format!(
                    "stack.pooler.attach (127.0.0.1:{port}/{database}) connects to database \"{database}\""
                ),
                format!("stack.postgres.attach (127.0.0.1:{}/shop) is database \"shop\"", server.port),
            ];
            assert!(named.iter().all(|it| ended.err.contains(it)), "{}", ended.err);
        }
    }
}

/// Port of a service that returns status 200 for every request and uses no database.
fn service_without_a_database() -> u16 {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("the listener is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut stream = stream;
                let mut buffer = [0; 4096];
                // A request of the load fits into one read.
                while stream.read(&mut buffer).is_ok_and(|it| it > 0) {
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                        break;
                    }
                }
            });
        }
    });
    port
}

/// A server that received no load is reported as a finding and in the answer.
#[test]
fn a_server_that_the_service_never_asks_is_reported() {
    let (_supervisor, postgres) = start_server();
    let yaml = format!(
        "stack:\n  service: {{ url: \"http://127.0.0.1:{}\" }}\n  \
         postgres: {{ attach: \"host=127.0.0.1 port={} user=postgres dbname=postgres\" }}\n\
         operations: {{ ask: {{ get: /x }} }}\n\
         load: {{ model: closed, clients: 2, duration: 6s }}\n",
        service_without_a_database(),
        postgres.port
    );
    let workspace = Workspace::new("unused", &yaml);
    let run = || {
        let mut command = workspace.command(&["--json"]);
        command.env("PGPASSWORD", postgres.password().reveal());
        workspace.spawn_command(&mut command).wait().expect(0).document()
    };
    let unused_nodes = |document: &Value| -> Vec<String> {
        let findings = document["findings"].as_array().expect("the value is an array");
        let unused = findings.iter().filter(|it| it["circumstance"]["kind"] == "not_used");
        unused.map(|it| it["circumstance"]["node"].to_string()).collect()
    };
    let mut document = run();
    // On a busy host, the server may have too few samples to be judged.
    for _ in 0..2 {
        if unused_nodes(&document).is_empty() {
            document = run();
        }
    }
    // The answers are `ok`.
    let sizes = &document["sizes"][0];
    assert_eq!((sizes["operation"].as_str(), sizes["sizes"]["p50"].as_u64()), (Some("ask"), Some(2)));
    assert_eq!(unused_nodes(&document), ["\"postgres\""], "{:#?}", document["findings"]);
    let stored = workspace.stored();
    let report = |format: &str| {
        let path = stored.path().to_str().expect("the path is UTF-8");
        let mut command = Command::new(PGDYNO);
        RunOutput::run(command.args(["report", path, "--format", format]).current_dir(&workspace.folder))
    };
    let page = report("md");
    let answer = "The load bypassed postgres: the results do not describe it.";
    assert!(page.out.contains(answer), "{}\n{}", page.err, page.out);
    let doubt = "the load did not pass through";
    assert!(page.out.contains(&format!("{doubt} postgres")), "{}\n{}", page.err, page.out);
    let cases = report("junit");
    assert!(cases.out.contains(&format!("{doubt} postgres")), "{}\n{}", cases.err, cases.out);
}

/// The console of a pooler outside the load's path counts none of the load's transactions.
#[test]
fn a_pooler_that_the_load_does_not_pass_through_is_reported() {
    let (_supervisor, postgres) = start_server();
    let port = stack::supervisor::free_port().expect("a free port");
    let server = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let stack = format!(
        "pooler: {{ kind: pgbouncer, attach: \"{server}\", admin: \"host=127.0.0.1 port={port} user=postgres \
         dbname=pgbouncer\" }}, postgres: {{ attach: \"{server}\" }}"
    );
    let workspace = Workspace::new("bypassed", &BARE.replace("postgres: {}", &stack).replace("1s", "4s"));
    let configuration = workspace.folder.join("pgbouncer.ini");
    let text = format!(
        "[databases]\npostgres = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = any\nadmin_users = postgres\npool_mode = transaction\n",
        postgres.port
    );
    std::fs::write(&configuration, text).expect("the file can be written");
    let mut command = Command::new("pgbouncer");
    // PgBouncer refuses to run as root.
    if rustix::process::getuid().is_root() {
        command.args(["-u", "nobody"]);
    }
    let child = command.arg(&configuration).stderr(Stdio::null()).spawn().expect("PgBouncer is installed");
    let _pooler = KilledOnDrop(child);
    retry_until("PgBouncer listens", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).map(drop).map_err(|it| it.to_string())
    });
    let ended = workspace
        .spawn_command(workspace.command(&["--json"]).env("PGPASSWORD", postgres.password().reveal()))
        .wait();
    let document = ended.expect(0).document();
    let findings = document["findings"].as_array().expect("the value is an array");
    let unused: Vec<_> = findings.iter().filter(|it| it["circumstance"]["kind"] == "not_used").collect();
    assert_eq!(unused.len(), 1, "{findings:#?}");
    let circumstance = &unused[0]["circumstance"];
    assert_eq!(
        (circumstance["node"].as_str(), circumstance["node_count"].as_u64()),
        (Some("pooler"), Some(0)),
        "{findings:#?}"
    );
}

/// Process that is killed on drop.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Data that cannot be restored are not loaded. If a later step is rejected, loaded data are removed.
#[test]
fn a_dataset_that_is_refused_leaves_nothing_behind() {
    let (_supervisor, postgres) = start_server();
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    for statement in [
        "create role loader login password 'loader'",
        "create database shop owner loader",
        "create database measured owner loader",
        "comment on database measured is 'pgdyno: made to be measured'",
        "create database strange owner loader",
        "comment on database strange is 'pgdyno: made to be measured'",
        "create database strange_template owner loader",
    ] {
        connection.query(statement).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }
    for (database, expected) in [
        ("nowhere", "run in another database:  CREATE DATABASE \"nowhere\""),
        ("shop", "run:  COMMENT ON DATABASE \"shop\" IS 'pgdyno: may be dropped'"),
        ("strange", "pgdyno did not create the database strange_template"),
        ("measured", "permission denied to create database"),
    ] {
        let address = format!("host=127.0.0.1 port={} user=loader dbname={database}", postgres.port);
        let stack = BARE.replace("postgres: {}", &format!("postgres: {{ attach: \"{address}\" }}"));
        let workspace =
            Workspace::new("refused", &format!("{stack}dataset: {{ name: tickets, rows: 1000 }}\n"));
        let ended = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", "loader")).wait();
        ended.expect(1);
        assert!(ended.err.contains(expected), "{database}: {}", ended.err);
        if database == "nowhere" {
            continue;
        }
        let target = postgres.target().in_database(database);
        let mut inside = target.open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
        let schemas = "select string_agg(nspname, ' ') from pg_namespace \
                       where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')";
        assert_eq!(inside.value(schemas).expect("the server answers"), None, "{database}");
        assert_eq!(
            inside
                .value("select count(*) from pg_class where relnamespace = 'public'::regnamespace")
                .expect("the server answers"),
            Some("0".to_owned()),
            "{database}"
        );
    }
}

/// The whole run measures the address that the host name had at its start. A change is reported.
/// Command that runs an experiment with a hosts file of its own. A mount namespace provides it; without root, this requires
/// a user namespace.
fn with_hosts(workspace: &Workspace, hosts: &Path, password: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command
        .arg(if rustix::process::getuid().is_root() { "-m" } else { "-rm" })
        .args(["sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\""])
        .arg(hosts)
        .args([PGDYNO, "run"])
        .args(arguments)
        .current_dir(&workspace.folder)
        .env("TMPDIR", workspace.folder.join("tmp"))
        .env("PGPASSWORD", password)
        .stdin(Stdio::null());
    command
}

#[test]
fn reports_a_changed_address_of_an_attached_server() {
    let (_supervisor, postgres) = start_server();
    let port = postgres.port;
    let attached = format!(
        "postgres: {{ attach: \"host=db.test port={port} user=postgres dbname=postgres\", allow: \"db.test:{port}/postgres\" }}"
    );
    let workspace = Workspace::new("moved", &BARE.replace("postgres: {}", &attached).replace("1s", "3s"));
    let hosts = workspace.folder.join("hosts");
    std::fs::write(&hosts, "127.0.0.1 db.test\n").expect("the file can be written");
    let arguments = ["moved.yaml", "--set", "repeat=2"];
    let mut command = with_hosts(&workspace, &hosts, postgres.password().reveal(), &arguments);
    let mut running = workspace.spawn_command(&mut command);
    running.await_trial(1);
    // No server listens at this address.
    std::fs::write(&hosts, "127.0.0.77 db.test\n").expect("the file can be written");
    let ended = running.wait();
    ended.expect(0);
    let warning = "\"db.test\" now resolves to 127.0.0.77; the whole run used 127.0.0.1";
    assert_eq!(ended.err.matches(warning).count(), 1, "{}", ended.err);
    let facts = workspace.stored().facts().expect("the run file can be read");
    let is_warning =
        |fact: &Fact| matches!(fact, Fact::Note(note) if english().message(&note.message) == warning);
    assert!(facts.iter().any(|record| is_warning(&record.fact)), "{facts:?}");
}

/// The name of a managed database moves to another address when it fails over. The address of the new connections shows that
/// they follow it.
#[test]
fn new_connections_follow_a_host_name_in_a_trial_with_faults() {
    let (_supervisor, postgres) = start_server_with(&[("listen_addresses", "127.0.0.1, 127.0.0.2")]);
    let mut admin =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    admin.query("CREATE TABLE addresses (token text, address inet)").expect("the server answers");
    let dsn = format!("host=db.test port={} user=postgres dbname=postgres", postgres.port);
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"{dsn}\", servers: [\"{dsn}\"], allow: \"db.test:{}/postgres\" }} }}
operations:
  write:
    sql: INSERT INTO addresses VALUES (:token, inet_server_addr())
    ledger: SELECT token FROM addresses
load: {{ model: closed, clients: 1, think: 10ms, duration: 5s }}
faults: [ {{ at: 1s, run: [sh, -c, 'echo 127.0.0.2 db.test > hosts'], within: 1s }} ]
",
        postgres.port
    );
    let workspace = Workspace::new("named", &yaml);
    let hosts = workspace.folder.join("hosts");
    std::fs::write(&hosts, "127.0.0.1 db.test\n").expect("the file can be written");
    let arguments = ["named.yaml"];
    let mut command = with_hosts(&workspace, &hosts, postgres.password().reveal(), &arguments);
    let ended = workspace.spawn_command(&mut command).wait();
    let addresses = "SELECT string_agg(DISTINCT host(address), ' ' ORDER BY host(address)) FROM addresses";
    let addresses = admin.value(addresses).expect("the server answers");
    assert_eq!(addresses.as_deref(), Some("127.0.0.1 127.0.0.2"), "{}", ended.err);
    let facts = workspace.stored().facts().expect("the run file can be read");
    let moved = "\"db.test\" now resolves to 127.0.0.2; new connections use this address";
    let is_note = |fact: &Fact| matches!(fact, Fact::Note(note) if english().message(&note.message) == moved);
    assert!(facts.iter().any(|record| is_note(&record.fact)), "{}", ended.err);
    assert!(!ended.err.contains("the whole run used"), "{}", ended.err);
}

/// The hints of the messages lead to a dataset on an attached server, without a superuser. A signal cancels its statements.
#[test]
fn a_dataset_is_measured_on_an_attached_server() {
    let (_supervisor, postgres) = start_server();
    let open = |user: &str, database: &str| {
        let mut target = postgres.target().in_database(database);
        if user != "postgres" {
            let login = std::sync::Arc::make_mut(&mut target.login);
            (login.user, login.password) = (user.to_owned(), Some(wire::pg::Secret::new("loader")));
        }
        target.open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"))
    };
    let mut superuser = open("postgres", "postgres");
    superuser.query("create role loader login createdb password 'loader'").expect("the server answers");
    let address = format!("host=127.0.0.1 port={} user=loader dbname=shop", postgres.port);
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"{address}\" }} }}\n\
         operations: {{ one: {{ sql: \"UPDATE book.tickets SET fio = '' WHERE id = 1\" }} }}\n\
         load: {{ model: closed, clients: 2, duration: 1s }}\nrepeat: 2\n\
         dataset: {{ name: tickets, rows: 1000, after: [\"create index on book.tickets(fio)\"] }}\n"
    );
    let workspace = Workspace::new("lent", &yaml);
    let begin = || workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", "loader"));
    // Each message names the statement that leads to the next one.
    let mut followed = Vec::new();
    let ended = loop {
        let ended = begin().wait();
        let Some((_, advice)) = ended.err.split_once(":  ") else {
            break ended;
        };
        let statement = advice.lines().next().expect("a statement").to_owned();
        open("loader", "postgres").query(&statement).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
        assert!(!followed.contains(&statement), "{statement} did not help: {}", ended.err);
        followed.push(statement);
    };
    ended.expect(0);
    assert_eq!(followed.len(), 2, "{followed:?}");
    let statuses: Vec<RunStatus> = trials(&workspace.stored()).into_iter().map(|it| it.1).collect();
    assert_eq!(statuses, [RunStatus::Complete; 2]);
    let left = "select string_agg(datname, ' ' order by datname) from pg_database where datname like 'shop%'";
    assert_eq!(
        superuser.value(left).expect("the server answers").as_deref(),
        Some("shop"),
        "the template is dropped"
    );
    // A table of another user keeps the database from being dropped.
    let mut inside = open("loader", "shop");
    inside.query("create table theirs()").expect("the role is the owner");
    let ended = begin().wait();
    ended.expect(1);
    assert!(ended.err.contains("the database shop contains the table theirs"), "{}", ended.err);
    inside.query("drop table theirs").expect("the role is the owner");
    drop(inside);
    // Starts to build an index, which takes long.
    let mut inside = open("postgres", "shop");
    for sql in [
        "create function slow() returns event_trigger language plpgsql as 'begin perform pg_sleep(600); end'",
        "create event trigger slow on ddl_command_start when tag in ('CREATE INDEX') execute function slow()",
    ] {
        inside.query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    drop(inside);
    let active = "select count(*) from pg_stat_activity where usename = 'loader' and state = 'active'";
    for signal in [Signal::INT, Signal::TERM] {
        let running = begin();
        retry_until("the index is built", || {
            let count = superuser.value(active).expect("the server answers");
            if count.as_deref() == Some("1") { Ok(()) } else { Err(format!("{count:?}")) }
        });
        running.signal(signal);
        running.wait();
        assert_eq!(superuser.value(active).expect("the server answers").as_deref(), Some("0"), "{signal:?}");
    }
}

/// Statements of an attached server are planned for any values, and the server stays as it was.
#[test]
fn statements_of_an_attached_server_are_planned_but_never_executed() {
    let (_supervisor, postgres) = start_server_with(&[("shared_preload_libraries", "pg_stat_statements")]);
    let mut admin = postgres.target().open(Duration::from_secs(10)).expect("the server accepts logins");
    for sql in [
        "create extension pg_stat_statements",
        "create table goods (id int primary key, kind int, price int)",
        "insert into goods select i, i % 5000, 1 from generate_series(1, 50000) i",
        "create sequence calls",
        "analyze goods",
        // This statement was executed before the trial.
        "select * from goods where price = 7",
    ] {
        admin.query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"{address}\" }} }}\n\
         operations:\n  find: {{ sql: \"SELECT price FROM goods WHERE kind = 42\" }}\n  \
         next: {{ sql: \"SELECT nextval('calls') FROM goods WHERE id = 1\" }}\n  \
         write: {{ sql: \"UPDATE goods SET price = 2 WHERE id = 1\" }}\n\
         load: {{ model: closed, clients: 2, duration: 1s }}\n"
    );
    let workspace = Workspace::new("planned", &yaml);
    let password = postgres.password().reveal();
    workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", password)).wait().expect(0);
    let facts = workspace.stored().facts().expect("the run file can be read");
    let plans = facts.iter().find_map(|record| match &record.fact {
        Fact::Plans(plans) => Some(plans),
        _ => None,
    });
    let plans = plans.expect("the statements were planned");
    let mut texts: Vec<&str> = plans.statements.iter().map(|it| it.text.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(
        texts,
        ["SELECT nextval(?) FROM goods WHERE id = ?", "SELECT price FROM goods WHERE kind = ?"],
        "{plans:?}"
    );
    assert!(plans.statements.iter().all(|it| it.plan.is_some() && it.error.is_none()), "{plans:?}");
    // An execution for the plan would have advanced the sequence once more.
    let executed = "select (select last_value from calls) - sum(calls) from pg_stat_statements \
                    where query like 'SELECT nextval%' and query not like '%pg_%'";
    assert_eq!(admin.value(executed).expect("the server answers").as_deref(), Some("0"));
    let analyzed = "select count(*) from pg_stat_statements where query ~* '^ *explain.*analyze'";
    assert_eq!(admin.value(analyzed).expect("the server answers").as_deref(), Some("0"));
    let mut advise = Command::new(PGDYNO);
    let output = advise.arg("advise").arg(workspace.stored().path()).output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("CREATE INDEX ON public.goods (kind);"), "{text}");
    assert!(text.contains("the server is attached, so pgdyno creates nothing"), "{text}");
}

/// An attached server keeps the rows of earlier trials and runs. Their tokens have other secrets.
#[test]
fn a_ledger_ignores_rows_of_earlier_trials_and_runs() {
    let (_supervisor, postgres) = start_server();
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let workspace = Workspace::new(
        "earlier",
        &format!(
            "stack: {{ postgres: {{ attach: \"{address}\" }} }}
operations:
  pay:
    sql: INSERT INTO payments (token) VALUES (:token) RETURNING pgdyno_server() AS server \\gset
    ledger: SELECT token FROM payments
  append:
    sql: UPDATE lists SET log = log || :token
    ledger: {{ list: SELECT log FROM lists }}
load: {{ model: closed, clients: 2, think: 10ms, duration: 1s }}
repeat: 2
"
        ),
    );
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    let tables =
        "create table payments (token text); create table lists (log text); insert into lists values ('')";
    connection.query(tables).expect("the server creates the tables");
    for _ in 0..2 {
        let mut command = workspace.command(&["--json"]);
        let ended = workspace.spawn_command(command.env("PGPASSWORD", postgres.password().reveal())).wait();
        let document = ended.document();
        let failover = &document["failovers"][0];
        assert_eq!(failover["anomalies"], serde_json::json!([]), "{failover}");
        assert!(failover["counts"]["acknowledged"].as_u64() > Some(20), "{failover}");
    }
}
