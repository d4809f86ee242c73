//! PostgreSQL's own clients through a proxy with TLS on either side

use crate::postgres::{PASSWORD, Server, contains, programs, succeed};
use crate::running::RunningProxy;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use traffic::proxy::serve::{Upstream, UpstreamTls};
use wire::pg::SslMode;
use wire::tls::{TlsIdentity, TlsServer, config};

pub fn certificate_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/certs").join(name)
}

pub fn certificate(name: &str) -> Vec<u8> {
    fs::read(certificate_path(name)).unwrap()
}

/// TLS for clients, with a certificate of the test's key.
pub fn for_clients(name: &str) -> TlsServer {
    TlsServer::new(&certificate(name), &certificate("server.key"), "postgresql").unwrap()
}

/// TLS to a server, as `sslmode` and `sslrootcert` require.
pub fn to_server(mode: SslMode, root: Option<&str>, host: &str) -> UpstreamTls {
    let roots = root.map(certificate);
    let identity = TlsIdentity { roots: roots.as_deref(), ..TlsIdentity::default() };
    let config = config(mode, &identity, Default::default()).unwrap();
    UpstreamTls { config, host: host.to_owned(), is_required: mode != SslMode::Prefer }
}

/// Server with TLS; its certificate is `server.crt`.
fn tls_server(name: &str) -> Option<Server> {
    let Some(programs) = programs() else {
        println!("skipped: no PostgreSQL in /usr/lib/postgresql");
        return None;
    };
    let folder = std::env::temp_dir().join(format!("pgdyno-proxy-certs-{name}-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let files = ["server.crt", "server.key"].map(|file| folder.join(file));
    for (file, content) in files.iter().zip([certificate("server.crt"), certificate("server.key")]) {
        fs::write(file, content).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if rustix::process::geteuid().is_root() {
        assert!(Command::new("chown").arg("postgres").args(&files).status().unwrap().success());
    }
    let [certificate, key] = files.map(|file| file.display().to_string());
    let settings = format!("ssl = on\nssl_cert_file = '{certificate}'\nssl_key_file = '{key}'\n");
    let server = Server::start(name, programs, &settings);
    fs::remove_dir_all(folder).unwrap();
    Some(server)
}

/// Proxy in front of a server, and its port.
fn proxy(
    server: &Server,
    tls: Option<TlsServer>,
    upstream: Option<UpstreamTls>,
) -> (RunningProxy<Vec<u8>>, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = ([127, 0, 0, 1], server.port).into();
    let upstream = upstream.map_or(Upstream::Tcp(address), |tls| Upstream::Tls(address, tls));
    (RunningProxy::start_with_tls(listener, vec![upstream], tls, Vec::new()), port)
}

/// psql that connects to a proxy with this `sslmode`. The proxy's certificate must be `root`, or signed by it.
fn psql(server: &Server, port: u16, mode: &str, root: &str) -> Command {
    let mut command = server.client("psql", Path::new("db.test"), port);
    command.env("PGHOSTADDR", "127.0.0.1").env("PGSSLMODE", mode).env("PGPASSWORD", PASSWORD);
    command.env("PGSSLROOTCERT", certificate_path(root)).arg("-XAtq");
    command
}

const IS_ENCRYPTED: &str = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";

#[test]
fn every_combination_of_encryption_works() {
    let Some(server) = tls_server("tls") else { return };
    let verified = || Some(to_server(SslMode::VerifyFull, Some("root.crt"), "db.test"));
    let rows: String = (0..20_000).map(|n| format!("{n}\trow {n}\n")).collect();
    let file = server.directory.join("rows");
    fs::write(&file, &rows).unwrap();
    for (tls, upstream, mode) in [
        (None, None, "disable"),
        (None, verified(), "prefer"),
        (Some(for_clients("server.crt")), None, "verify-full"),
        (Some(for_clients("server.crt")), verified(), "verify-full"),
        (Some(for_clients("server.crt")), verified(), "disable"),
    ] {
        let is_encrypted = if upstream.is_some() { "t\n" } else { "f\n" };
        let place = format!("{} {mode} {is_encrypted}", tls.is_some());
        let (proxy, port) = proxy(&server, tls, upstream);
        let run = |sql: &[&str]| {
            succeed(psql(&server, port, mode, "root.crt").args(sql.iter().flat_map(|it| ["-c", it])))
        };
        assert_eq!(run(&[IS_ENCRYPTED]), is_encrypted, "{place}");
        let conninfo = run(&["\\conninfo"]);
        assert_eq!(conninfo.contains("SSL connection"), mode == "verify-full", "{place}: {conninfo}");
        let path = file.display();
        run(&["drop table if exists c", "create table c (a int, b text)", &format!("\\copy c from {path}")]);
        assert_eq!(run(&["copy c to stdout"]), rows, "{place}");
        cancel(&server, psql(&server, port, mode, "root.crt"));
        let recording = proxy.recording();
        assert_eq!(recording.requests(), 6, "{place}");
        let errors = (0..6).filter(|request| recording.request(*request).outcome.error.is_some());
        assert_eq!(errors.count(), 1, "{place}: only the cancelled request failed");
    }
}

/// Cancels a statement of a client.
fn cancel(server: &Server, mut psql: Command) {
    let mut sleep = psql.args(["-c", "select pg_sleep(60)"]).stderr(Stdio::piped()).spawn().unwrap();
    let is_asleep = "select count(*) from pg_stat_activity where query = 'select pg_sleep(60)'";
    while server.psql(&server.directory, is_asleep).stdout != b"1\n" {
        thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&sleep), Signal::INT).unwrap();
    let mut error = String::new();
    sleep.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    sleep.wait().unwrap();
    assert!(error.contains("canceling statement due to user request"), "{error}");
}

#[test]
fn wrong_certificates_are_rejected() {
    let Some(server) = tls_server("wrong") else { return };
    for (upstream, expected) in [
        (
            to_server(SslMode::VerifyFull, Some("root.crt"), "other.test"),
            "TLS: the server's certificate is for another host",
        ),
        (
            to_server(SslMode::VerifyCa, Some("selfsigned.crt"), "db.test"),
            "TLS: no authority in sslrootcert has signed the server's certificate",
        ),
    ] {
        let (proxy, port) = proxy(&server, None, Some(upstream));
        let output = psql(&server, port, "disable", "root.crt").args(["-c", "select 1"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(&format!("FATAL:  {expected}")), "{error}");
        let events = proxy.events.lock().unwrap().join("\n");
        assert!(events.contains(expected.strip_prefix("TLS: ").unwrap()), "{events}");
        assert_eq!(proxy.recording().requests(), 0);
    }
    // The client verifies the proxy's certificate.
    let (proxy, port) = proxy(&server, Some(for_clients("selfsigned.crt")), None);
    let output = psql(&server, port, "verify-full", "root.crt").args(["-c", "select 1"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("certificate verify failed"), "{error}");
    assert_eq!(proxy.recording().sessions().len(), 0);
}

#[test]
fn scram_works_where_its_channel_binding_permits_it() {
    let Some(server) = tls_server("scram") else { return };
    let create = format!("create role ann login password '{PASSWORD}'");
    assert!(server.psql(&server.directory, &create).status.success());
    let upstream = || Some(to_server(SslMode::Require, None, "db.test"));
    let negotiation = "channel binding negotiation error";
    let missing = "server did not offer an authentication method that supports channel binding";
    for (name, certificate, upstream, binding, expected) in [
        ("plain client", None, upstream(), "prefer", Ok(())),
        ("plain server", Some("selfsigned.crt"), None, "prefer", Ok(())),
        ("same certificate", Some("server.crt"), upstream(), "prefer", Ok(())),
        ("same certificate", Some("server.crt"), upstream(), "require", Ok(())),
        ("other certificate", Some("selfsigned.crt"), upstream(), "disable", Ok(())),
        ("other certificate", Some("selfsigned.crt"), upstream(), "prefer", Err(negotiation)),
        ("other certificate", Some("selfsigned.crt"), upstream(), "require", Err(missing)),
    ] {
        let mode = if certificate.is_some() { "verify-ca" } else { "disable" };
        let is_ended_twice = certificate == Some("selfsigned.crt") && upstream.is_some();
        let root = certificate.filter(|name| *name == "selfsigned.crt").unwrap_or("root.crt");
        let (proxy, port) = proxy(&server, certificate.map(for_clients), upstream);
        let mut psql = psql(&server, port, mode, root);
        let output = psql.env("PGUSER", "ann").env("PGCHANNELBINDING", binding);
        let output = output.args(["-c", "select current_user"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        match expected {
            Ok(()) => assert_eq!(output.stdout, b"ann\n", "{name}, {binding}: {error}"),
            Err(expected) => assert!(error.contains(expected), "{name}, {binding}: {error}"),
        }
        let events = proxy.events.lock().unwrap().join("\n");
        assert_eq!(events.contains("ChannelBindingRemoved"), is_ended_twice, "{name}, {binding}: {events}");
        let bytes = proxy.stop().unwrap();
        assert!(!contains(&bytes, PASSWORD) && !contains(&bytes, "SCRAM"));
    }
}

#[test]
fn tls_that_the_server_does_not_support() {
    let Some(programs) = programs() else { return };
    let server = Server::start("no-tls", programs, "");
    for (mode, works) in [(SslMode::Prefer, true), (SslMode::Require, false)] {
        let (proxy, port) = proxy(&server, None, Some(to_server(mode, None, "db.test")));
        let output = psql(&server, port, "disable", "root.crt").args(["-c", "select 1"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.success(), works, "{error}");
        assert!(works || error.contains("TLS: the server does not support it"), "{error}");
        assert_eq!(proxy.recording().requests(), u64::from(works));
    }
}
