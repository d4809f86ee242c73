//! TLS with libpq's `sslmode`, against servers with and without TLS

use super::test_server::{SHARED, TestServer, combined_output, count, document};
use load::driver::Driver;
use stack::component::postgres::Settings;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

pub fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/certs").join(name)
}

pub fn tls_server() -> TestServer {
    let mut server = TestServer::start(&Settings::default());
    copy(&server, "server.key", "server.key");
    copy(&server, "server.crt", "server.crt");
    let mut connection = server.connect();
    connection.query("alter system set ssl = on").expect("superuser");
    drop(connection);
    server.postgres.restart(&mut server.supervisor).expect("the server restarts");
    server
}

/// Installs a test certificate for new sessions.
pub fn install_certificate(server: &TestServer, name: &str) {
    copy(server, name, "server.crt");
    server.connect().query("select pg_reload_conf()").expect("superuser");
}

fn copy(server: &TestServer, name: &str, to: &str) {
    let copy = server.postgres.data.join(to);
    fs::copy(certificate(name), &copy).expect("the data directory can be written to");
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).expect("the permissions can be changed");
    if let Some(user) = server.supervisor.user() {
        chown(&copy, Some(user.uid), Some(user.gid)).expect("we are root");
    }
}

#[test]
fn connects_with_tls_and_channel_binding() {
    let server = tls_server();
    let script = super::test_server::Script::new("tls", "SELECT 1;\n");
    let root = certificate("root.crt");
    for driver in Driver::ALL.map(Driver::name) {
        for (mode, binding, kind) in [
            ("disable", "disable", "tcp"),
            ("allow", "prefer", "tcp"),
            ("prefer", "prefer", "tcp_tls"),
            ("require", "require", "tcp_tls"),
            ("verify-ca", "require", "tcp_tls"),
        ] {
            let output = server
                .command(&["-n", "--json", "--driver", driver, "-f", script.path(), "-c", "3", "-t", "20"])
                .env("PGHOST", "127.0.0.1")
                .env("PGSSLMODE", mode)
                .env("PGCHANNELBINDING", binding)
                .env("PGSSLROOTCERT", &root)
                .output()
                .expect("pgdyno can be run");
            let (document, status) = document(&output);
            assert_eq!(
                (status, count(&document, "ok")),
                (0, 60),
                "{driver}, {mode}: {}",
                combined_output(&output)
            );
            assert_eq!(document["server"]["transport"]["kind"], kind, "{driver}, {mode}");
        }
    }
}

#[test]
fn rejects_a_server_without_required_tls() {
    let output = SHARED
        .command(&["-n", "-S", "-t", "1"])
        .env("PGHOST", "127.0.0.1")
        .env("PGSSLMODE", "require")
        .output()
        .expect("pgdyno can be run");
    assert_eq!(output.status.code(), Some(1), "{}", combined_output(&output));
    assert!(
        combined_output(&output).contains("TLS") || combined_output(&output).contains("SSL"),
        "{}",
        combined_output(&output)
    );
}
