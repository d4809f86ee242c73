//! Faults around a run: a reloading balancer, a name that moves, an expiring certificate

use super::test_server::{PGDYNO, SHARED, Script, TestServer, combined_output, count, document};
use super::tls::{certificate, install_certificate, tls_server};
use serde_json::Value;
use stack::component::postgres::Settings;
use stack::supervisor::{Launch, free_port};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Waits for the first progress line, calls `fault`, and waits for the end. Returns the document, the exit status and
/// standard error.
fn measure_with(mut run: Child, fault: impl FnOnce()) -> (Value, i32, String) {
    let mut reader = BufReader::new(run.stderr.take().expect("the stream is piped"));
    let mut messages = String::new();
    while !messages.contains("progress:") {
        assert!(
            reader.read_line(&mut messages).expect("text") > 0,
            "the run ended before its first second:\n{messages}"
        );
    }
    fault();
    let listener = std::thread::spawn(move || std::io::read_to_string(reader));
    let output = run.wait_with_output().expect("the process can be waited for");
    messages += &listener.join().expect("the thread does not panic").expect("text");
    assert!(!output.stdout.is_empty(), "no document:\n{messages}");
    let (document, status) = document(&output);
    (document, status, messages)
}

fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("pgdyno can be run")
}

/// Arguments of runs that report progress and print a JSON document.
const RUN: [&str; 5] = ["-n", "--json", "-P", "1", "-T"];

#[test]
fn a_balancer_reload_loses_no_transaction() {
    let mut server = TestServer::start(&Settings::default());
    let Some(haproxy) = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"]
        .iter()
        .find(|it| fs::exists(it).is_ok_and(|exists| exists))
    else {
        eprintln!("skipped: there is no HAProxy");
        return;
    };
    let mut connection = server.connect();
    connection.query("create table written (n bigint)").expect("a table");
    // Open sessions may continue, or are closed.
    for (name, cut) in [("soft", ""), ("hard", "hard-stop-after 100ms")] {
        connection.query("truncate written").expect("a table");
        let port = free_port().expect("a port");
        let configuration = format!(
            "global\n {cut}\ndefaults\n mode tcp\n timeout connect 5s\n timeout client 1m\n timeout server 1m\n\
             frontend f\n bind 127.0.0.1:{port}\n default_backend b\n\
             backend b\n server s 127.0.0.1:{}\n",
            server.postgres.port
        );
        let file =
            server.supervisor.private_file(format!("{name}.cfg"), configuration.as_bytes()).expect("a file");
        let home = server.supervisor.home();
        let launch = Launch::new(name, haproxy, &home).args(["-W", "-db", "-f"]).arg(&file);
        let user = server.supervisor.user().cloned();
        let node = server
            .supervisor
            .launch(launch.as_user(user.as_ref()))
            .unwrap_or_else(|error| panic!("{error:?}"));
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.supervisor.end_of(node).is_none(), "{:?}", server.supervisor.log(name, 20));
            std::thread::yield_now();
        }
        let script = Script::new(&format!("reload-{name}"), "INSERT INTO written VALUES (1);\n");
        let arguments = [&RUN[..], &["5", "-c", "8", "-j", "2", "-f", script.path()]].concat();
        let run =
            spawn(server.command(&arguments).env("PGHOST", "127.0.0.1").env("PGPORT", port.to_string()));
        let master = server.supervisor.pid(node).expect("the server runs").to_string();
        let (document, _, messages) = measure_with(run, || {
            let sent = Command::new("kill").args(["-USR2", &master]).status().expect("kill can be run");
            assert!(sent.success());
        });
        let written = connection.value("select count(*) from written").expect("a count").expect("a row");
        let written: u64 = written.parse().expect("a number");
        let (ok, failed, unknown) =
            (count(&document, "ok"), count(&document, "failed"), count(&document, "unknown"));
        assert!(
            (ok..=ok + unknown).contains(&written),
            "{name}: {written} rows, {ok} ok, {unknown} unknown\n{messages}"
        );
        let last = messages.lines().rfind(|it| it.contains("progress:")).expect("progress is printed");
        assert!(!last.contains(" 0.0 tps"), "{name}: after the reload the run continues:\n{messages}");
        if cut.is_empty() {
            assert_eq!((failed, unknown), (0, 0), "open sessions stay:\n{messages}");
        } else {
            assert!((1..=8).contains(&unknown), "{unknown} of 8 sessions were cut off:\n{messages}");
        }
        server.supervisor.stop(node).unwrap_or_else(|error| panic!("{error:?}"));
    }
}

#[test]
fn an_expired_certificate_rejects_only_new_sessions() {
    let server = tls_server();
    let script = Script::new("expires", "SELECT 1;\n");
    // With one session for all transactions, and with one for each.
    for each in [false, true] {
        install_certificate(&server, "server.crt");
        let connecting: &[&str] = if each { &["-C"] } else { &[] };
        let arguments = [&RUN[..], &["3", "-c", "2", "-f", script.path()], connecting].concat();
        let mut command = server.command(&arguments);
        command
            .env("PGHOST", "127.0.0.1")
            .env("PGSSLMODE", "verify-ca")
            .env("PGSSLROOTCERT", certificate("root.crt"));
        let (document, status, messages) =
            measure_with(spawn(&mut command), || install_certificate(&server, "expired.crt"));
        assert!(count(&document, "ok") > 0, "{messages}");
        let refused = document["connects"]["refused"].as_array().expect("the value is an array");
        let codes: Vec<&str> = refused.iter().filter_map(|it| it["code"].as_str()).collect();
        if each {
            assert_eq!((codes, status), (vec!["net 129"], 2), "{document}\n{messages}");
            assert!(messages.contains("certificate has expired"), "{messages}");
        } else {
            assert_eq!((codes, status, count(&document, "failed")), (vec![], 0, 0), "{document}\n{messages}");
        }
    }
}

#[test]
fn reports_a_changed_address_and_does_not_follow_it() {
    let hosts = std::env::temp_dir().join(format!("pgdyno-test-{}-hosts", std::process::id()));
    fs::write(&hosts, "127.0.0.1 db.test\n").expect("the temporary directory can be written to");
    let script = Script::new("name", "SELECT 1;\n");
    // A mount namespace provides a separate hosts file. Without root, it requires a user namespace.
    let root = SHARED.supervisor.user().is_some();
    let arguments = [&RUN[..], &["3", "-C", "-c", "2", "-f", script.path(), "-h", "db.test"]].concat();
    let mut command = Command::new("unshare");
    command
        .arg(if root { "-m" } else { "-rm" })
        .args(["sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\""])
        .arg(&hosts)
        .args([PGDYNO, "bench"])
        .args(arguments)
        .envs(SHARED.postgres.client_environment())
        .stdin(Stdio::null());
    let (document, status, messages) = measure_with(spawn(&mut command), || {
        // No server listens at this address.
        fs::write(&hosts, "127.0.0.77 db.test\n").expect("the file can be written");
    });
    let _ = fs::remove_file(&hosts);
    assert_eq!((status, count(&document, "failed")), (0, 0), "{}\n{messages}", document["connects"]);
    assert!(
        messages.contains("\"db.test\" now resolves to 127.0.0.77; the whole run used 127.0.0.1"),
        "{messages}"
    );
    let still = SHARED
        .command(&["-n", "-f", script.path(), "-t", "1", "-h", "localhost"])
        .output()
        .expect("the program can be started");
    assert!(!combined_output(&still).contains("leads to"), "{}", combined_output(&still));
}

/// A log that cannot be written does not end the run, but the verdict names it, and so does the exit status.
#[test]
fn an_incomplete_log_is_in_the_verdict() {
    let script = Script::new("logged", "SELECT 1;\n");
    let prefix = std::env::temp_dir().join(format!("pgdyno-test-{}-log", std::process::id()));
    let prefix = format!("--log-prefix={}", prefix.display());
    // With SIGXFSZ ignored, a write beyond the limit fails with an error, as on a full disk. One transaction is written
    // at the end only.
    for (blocks, transactions, expected) in
        [("0", "1", false), ("1", "3000", false), ("unlimited", "1", true)]
    {
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        for json in [&[][..], &["--json"]] {
            let mut command = Command::new("sh");
            command.args(["-c", &limited, PGDYNO, "bench", "-n", "-l", &prefix, "-f", script.path()]);
            command.args(["-t", transactions]).args(json).envs(SHARED.postgres.client_environment());
            let run = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let run = run.expect("sh can be run");
            let log = format!("{}.{}", prefix.split_once('=').expect("as above").1, run.id());
            let output = run.wait_with_output().expect("the process can be waited for");
            fs::remove_file(&log).expect("the run created it");
            let messages = combined_output(&output);
            assert_eq!(output.status.code(), Some(if expected { 0 } else { 2 }), "{messages}");
            assert_eq!(
                messages.contains(&format!("could not write to logfile \"{log}\": File too large")),
                !expected
            );
            match json.is_empty() {
                true => assert_eq!(
                    messages.contains("the transaction log is incomplete"),
                    !expected,
                    "{messages}"
                ),
                false => {
                    let (document, _) = document(&output);
                    let doubts = document["validity"]["doubts"].as_array().expect("the value is an array");
                    let incomplete = doubts.iter().any(|it| it["kind"] == "log_incomplete");
                    assert_eq!(incomplete, !expected, "{document}");
                    assert_eq!(count(&document, "ok").to_string(), transactions);
                }
            }
        }
    }
}
