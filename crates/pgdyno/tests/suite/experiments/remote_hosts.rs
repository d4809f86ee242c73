//! Conditions for loading other machines: named twice, marked as allowed, idle, and able to bear the load
//!
//! The other machine is a second address of this one, in a network namespace of the test.

use super::postgres_servers::start_server;
use super::workspace::{RunOutput, Workspace, counts, trials};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use store::RunStatus;

/// Documentation address, which no machine has (RFC 5737).
const REMOTE_ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// Environment variable that is set inside the namespace with the address.
const REMOTE_VARIABLE: &str = "PGDYNO_TEST_FAR";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// True if the remote address exists. Otherwise the test is repeated in a namespace that has it, and its outcome is
/// checked.
fn in_remote_network<Test: Fn()>(_: Test) -> bool {
    if std::env::var_os(REMOTE_VARIABLE).is_some() {
        return true;
    }
    let network = |program: &[&str]| {
        let mut command = Command::new("unshare");
        let script = format!("ip link set lo up && ip address add {REMOTE_ADDRESS}/32 dev lo && exec \"$@\"");
        command.args(["--net", "--", "sh", "-c", &script, "sh"]).args(program);
        command.env(REMOTE_VARIABLE, "1").output()
    };
    if !network(&["true"]).is_ok_and(|it| it.status.success()) {
        eprintln!(
            "skipped: no network of its own can be made; as root type:  apt-get install -y iproute2 util-linux"
        );
        return false;
    }
    let program = std::env::current_exe().expect("the program has a path");
    let (_crate, test) = std::any::type_name::<Test>().split_once("::").expect("a path in this crate");
    let words = [program.to_str().expect("the path is UTF-8"), "--exact", test, "--nocapture"];
    let output = network(&words).expect("the command can be run");
    let to_text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    let (out, err) = (to_text(&output.stdout), to_text(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
    false
}

/// Port of an address that relays to a server of this machine.
fn relay(at: Ipv4Addr, to: u16) -> u16 {
    let listener = TcpListener::bind((at, 0)).expect("the address is there");
    let port = listener.local_addr().expect("the listener is bound").port();
    let pump = |mut from: TcpStream, mut to: TcpStream| {
        thread::spawn(move || {
            // Either side may close the connection.
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Both);
        });
    };
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
            let second_handle = |it: &TcpStream| it.try_clone().expect("the socket can be cloned");
            pump(second_handle(&client), second_handle(&server));
            pump(server, client);
        }
    });
    port
}

/// Checks the status, and that the output contains each text.
fn check_output(ended: &RunOutput, status: i32, texts: &[&str]) {
    ended.expect(status);
    texts.iter().for_each(|it| assert!(ended.err.contains(it), "{it} is not in\n{}", ended.err));
}

#[test]
fn loads_a_remote_database_only_with_consent() {
    if !in_remote_network(loads_a_remote_database_only_with_consent) {
        return;
    }
    let (_supervisor, postgres) = start_server();
    let port = relay(REMOTE_ADDRESS, postgres.port);
    let address = format!("{REMOTE_ADDRESS}:{port}/postgres");
    let dsn = format!("host={REMOTE_ADDRESS} port={port} user=postgres dbname=postgres");
    let password = postgres.password().reveal().to_owned();
    let run = |attach: &str, sql: &str, load: &str| {
        let workspace = Workspace::new(
            "far",
            &format!(
                "stack: {{ postgres: {{ {attach} }} }}\noperations: {{ one: {{ sql: \"{sql}\" }} }}\nload: {{ {load} }}\n"
            ),
        );
        let ended = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", &password)).wait();
        (workspace, ended)
    };
    let load = "model: closed, clients: 2, duration: 1s";
    let allowed = format!("attach: \"{dsn}\", allow: \"{address}\"");
    let ask = |sql: &str| {
        let mut connection =
            postgres.target().open(CONNECT_TIMEOUT).unwrap_or_else(|error| panic!("{error:?}"));
        connection.query(sql).unwrap_or_else(|error| panic!("{error:?}"));
        connection
    };
    let refused = |attach: &str, status, texts: &[&str]| {
        let (workspace, ended) = run(attach, "CREATE TABLE loaded ()", load);
        check_output(&ended, status, texts);
        if status == 1 {
            assert_eq!(trials(&workspace.stored()).remove(0).1, RunStatus::Failed);
        }
    };
    refused(
        &format!("attach: \"{dsn}\""),
        2,
        &[&format!("add `allow: \"{address}\"` if the system is yours")],
    );
    refused(&allowed, 1, &["CREATE SCHEMA pgdyno_allowed"]);
    drop(ask("create schema pgdyno_allowed"));
    let mut busy = ask("begin; select 1");
    refused(
        &allowed,
        1,
        &[
            &format!("active sessions of others in {address}: 1; end them"),
            "write `caps: { other_sessions: 1 }`",
        ],
    );
    let raised = format!("{allowed}, caps: {{ other_sessions: 1 }}");
    let (workspace, ended) = run(&raised, "SELECT 1", load);
    check_output(&ended, 0, &["stop rule errors(5%, 10s) applies"]);
    assert!(counts(&workspace.stored(), 1).ok > 0);
    assert_eq!(
        busy.value("select count(*) from pg_class where relname = 'loaded'")
            .expect("the connection is open")
            .as_deref(),
        Some("0")
    );
    drop(busy);
    // A failing system is not loaded further.
    let (workspace, ended) =
        run(&allowed, "SELECT 1/0", "model: open, schedule: \"const(20, 60s)\", max_in_flight: 4");
    check_output(&ended, 2, &["errors(5%, 10s)"]);
    let (_, status, reason) = trials(&workspace.stored()).remove(0);
    assert_eq!((status, reason.as_str()), (RunStatus::Stopped, "errors(5%, 10s) at second 9"));
}

#[test]
fn detects_a_tunnel_to_a_remote_server() {
    let namespaces = ["--pid", "--fork", "--mount-proc", "--"];
    let possible = Command::new("unshare").args(namespaces).arg("true").output();
    if !possible.is_ok_and(|it| it.status.success()) {
        return eprintln!("skipped: no process namespace can be made; it takes root and util-linux");
    }
    let (_supervisor, postgres) = start_server();
    let port = relay(Ipv4Addr::LOCALHOST, postgres.port);
    let address = format!("127.0.0.1:{port}/postgres");
    let dsn = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres");
    let run = |tunnel: bool, more: &str| {
        let workspace = Workspace::new(
            "tunnel",
            &format!(
                "stack: {{ postgres: {{ attach: \"{dsn}\"{more} }} }}\noperations: {{ one: {{ sql: SELECT 1 }} }}\n\
                 load: {{ model: closed, clients: 2, duration: 1s }}\n"
            ),
        );
        let mut command = workspace.command(&[]);
        if tunnel {
            // Processes of a remote machine are not visible, and the namespace hides those of this one.
            let inner = std::mem::replace(&mut command, Command::new("unshare"));
            command.args(namespaces).arg(inner.get_program()).args(inner.get_args());
            command.current_dir(inner.get_current_dir().expect("the command has a directory"));
            command.envs(inner.get_envs().filter_map(|it| Some((it.0, it.1?))));
        }
        command.env("PGPASSWORD", postgres.password().reveal());
        let ended = workspace.spawn_command(&mut command).wait();
        (workspace, ended)
    };
    // A relay on this machine to a server of this machine counts as local.
    let (workspace, ended) = run(false, "");
    ended.expect(0);
    assert!(counts(&workspace.stored(), 1).ok > 0);
    let (_, ended) = run(true, "");
    let refused = format!("{address} is not shown to be on this machine");
    check_output(&ended, 1, &[&refused, &format!("add `allow: \"{address}\"`")]);
    let (_, ended) = run(true, &format!(", allow: \"{address}\""));
    check_output(&ended, 1, &["CREATE SCHEMA pgdyno_allowed"]);
}

/// Service that returns the same response to every request, except on two paths. Records the requested paths.
fn service(page: &'static str, header: &'static str) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((REMOTE_ADDRESS, 0)).expect("the address is there");
    let address = listener.local_addr().expect("the listener is bound");
    let paths: Arc<Mutex<Vec<String>>> = Arc::default();
    let recorded = Arc::clone(&paths);
    let talk = move |stream: TcpStream, recorded: &Mutex<Vec<String>>| -> io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        while let Some(first) = lines.next() {
            let path = first?.split(' ').nth(1).unwrap_or_default().to_owned();
            while lines.next().transpose()?.is_some_and(|it| !it.is_empty()) {}
            let (body, header) = match path.as_str() {
                "/.well-known/pgdyno" => (page, ""),
                "/health" => ("fine", header),
                _ => ("ok", ""),
            };
            let status = if body.is_empty() { "404 Not Found" } else { "200 OK" };
            recorded.lock().expect("no thread panicked while it held the lock").push(path);
            let length = body.len();
            write!(&stream, "HTTP/1.1 {status}\r\n{header}Content-Length: {length}\r\n\r\n{body}")?;
        }
        Ok(())
    };
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let recorded = Arc::clone(&recorded);
            // A client that disconnects during a request does not fail the test.
            thread::spawn(move || drop(talk(stream, &recorded)));
        }
    });
    (address, paths)
}

#[test]
fn loads_a_remote_service_only_with_consent() {
    if !in_remote_network(loads_a_remote_service_only_with_consent) {
        return;
    }
    for (page, header, status, text) in [
        (
            "",
            "",
            1,
            "it responds to GET /.well-known/pgdyno with status 404; to permit load, respond with the body `allowed`",
        ),
        // A page that is served on every path gives no permission.
        ("<html>allowed</html>", "", 1, "with status 200; to permit load"),
        ("", "Pgdyno: no\r\n", 1, "status 404"),
        ("allowed\n", "", 0, "stop rule errors(5%, 10s) applies"),
        ("", "pgdyno: allowed\r\n", 0, "stop rule errors(5%, 10s) applies"),
    ] {
        let (address, paths) = service(page, header);
        let workspace = Workspace::new(
            "shop",
            &format!(
                "stack: {{ service: {{ url: \"http://{address}\", allow: \"{address}\" }} }}\n\
                 operations: {{ a: {{ get: /load }} }}\n\
                 load: {{ model: closed, clients: 2, duration: 1s, warmup: 1s }}\n"
            ),
        );
        check_output(&workspace.run(&[]), status, &[text]);
        let paths = paths.lock().expect("no thread panicked while it held the lock");
        let load = paths.iter().filter(|it| *it == "/load").count();
        assert_eq!(load > 0, status == 0, "{page:?} {header:?}: {paths:?}");
        // The cap of a thousand per second also applies to the warm-up. A second may begin with one extra request of
        // each client.
        assert!(load <= 2 * (1000 + 2), "{load}");
    }
}
