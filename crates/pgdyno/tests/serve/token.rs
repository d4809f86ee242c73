//! If a token is set, nothing is accessible without it

use super::client::Server;

#[test]
fn requires_the_token() {
    let server = Server::with_environment(&[("PGDYNO_TOKEN", "tell nobody of this")]);
    let places =
        ["/", "/runs.json", "/runs/shop", "/runs/shop/document", "/runs/shop/events", "/runs/nothing"];
    for place in places {
        let answer = server.ask(&format!("GET {place}"), &[]);
        assert_eq!(answer.status, 401, "{place}");
        assert!(!answer.body.contains("shop"), "{answer:?}");
    }
    let host = format!("Host: {}", server.address);
    let origin = format!("Origin: http://{}", server.address);
    let login = |origin: &str, body: &str| server.ask_as("POST /login", &[&host, origin], body);
    for (origin, body, status) in [
        (origin.as_str(), "token=wrong", 403),
        (origin.as_str(), "token=", 403),
        (origin.as_str(), "other=tell+nobody+of+this", 403),
        ("Origin: http://evil.example", "token=tell+nobody+of+this", 403),
    ] {
        let answer = login(origin, body);
        assert_eq!((answer.status, answer.header("set-cookie")), (status, None), "{body}");
    }
    let answer = login(&origin, "token=tell+nobody+of+this");
    assert_eq!(answer.status, 303, "{answer:?}");
    let cookie = answer.header("set-cookie").expect("the server sets a cookie");
    for attribute in ["httponly", "samesite=strict", "path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!answer.head.contains("nobody"), "the token itself is kept nowhere: {answer:?}");
    let cookie = format!("Cookie: {}", cookie.split(';').next().expect("a name and a value"));
    for (header, status) in [
        (cookie.as_str(), 200),
        ("Authorization: Bearer tell nobody of this", 200),
        ("Authorization: Bearer tell nobody", 401),
        ("Cookie: pgdyno=tell nobody of this", 401),
    ] {
        assert_eq!(server.ask("GET /runs.json", &[header]).status, status, "{header}");
    }
}

#[test]
fn requires_a_token_for_other_machines() {
    for (arguments, environment, expected) in [
        (&["--host", "0.0.0.0"][..], None, "can be reached from other machines"),
        (&["--host", "0.0.0.0"], Some("short"), "shorter than 16 characters"),
        (&["--token-file", "/nowhere/token"], None, "cannot read the token"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pgdyno"));
        command.args(["serve", "--port", "0", "--dir", "/"]).args(arguments).env_remove("PGDYNO_TOKEN");
        command.envs(environment.map(|it| ("PGDYNO_TOKEN", it)));
        let output = command.output().expect("the program can be started");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}
