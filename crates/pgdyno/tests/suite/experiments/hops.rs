//! Cookies, redirects, compressed responses and secrets with a real service; only the service receives the secret

use super::http_server::{self, Connection};
use super::workspace::{PGDYNO, RunOutput, Workspace, trials};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::RunStatus;

const CANARY: &str = "CANARY-9f2c/\"пароль";
/// Compressed `{"token": "t7"}`.
const PACKED: &[u8] = include_bytes!("../../../../load/tests/packed.gz");

/// Number of requests for each path.
#[derive(Debug, Default)]
struct RequestCounts {
    pages: AtomicUsize,
    echoes: AtomicUsize,
    aways: AtomicUsize,
}

/// Serves one connection of a shop. The response to a wrong request has status 400.
fn serve(connection: &mut Connection, counts: &RequestCounts) {
    while let Some(request) = connection.request() {
        let has = |it: &str| request.head.contains(it);
        let count = |it: &AtomicUsize| it.fetch_add(1, Ordering::Relaxed);
        let (status, headers, body): (u16, String, &[u8]) = match request.target() {
            "/login" if request.body == "{\"password\":\"CANARY-9f2c/\\\"пароль\"}" => {
                let host = request.header("host").unwrap_or_default();
                let to = format!("Location: http://{host}/home\r\nSet-Cookie: id=7; HttpOnly\r\n");
                (303, to, b"")
            }
            "/home" if has("\r\nCookie: id=7\r\n") && has("\r\nAccept-Encoding: gzip, deflate\r\n") => {
                (200, "Content-Encoding: gzip\r\n".to_owned(), PACKED)
            }
            "/page/t7"
                if has("\r\nCookie: id=7\r\n") && has(&format!("\r\nAuthorization: Bearer {CANARY}\r\n")) =>
            {
                count(&counts.pages);
                (200, String::new(), b"the page")
            }
            // Services often echo the request in errors.
            "/echo?t=CANARY-9f2c%2F%22%D0%BF%D0%B0%D1%80%D0%BE%D0%BB%D1%8C" => {
                // Every second request succeeds, because a trial in which an operation never does is failed.
                match count(&counts.echoes) % 2 {
                    0 => (200, String::new(), b"ready"),
                    _ => (500, format!("X: {CANARY}\r\n"), CANARY.as_bytes()),
                }
            }
            "/away" => match count(&counts.aways) % 2 {
                0 => (200, String::new(), b"ready"),
                _ => (302, format!("Location: http://other.test/{CANARY}?{CANARY}\r\n"), b""),
            },
            "/health" | "/" => (200, String::new(), b"ready"),
            _ => (400, String::new(), b"that is not what was agreed on"),
        };
        connection.respond(&format!("{status} {CANARY}"), &headers, body);
    }
}

fn contains_secret(bytes: &[u8]) -> bool {
    bytes.windows(11).any(|it| it == &CANARY.as_bytes()[..11])
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("the directory can be read")
        .map(|it| it.expect("the entry can be read").path());
    entries.flat_map(|it| if it.is_dir() { files(&it) } else { vec![it] }).collect()
}

#[test]
fn sends_secrets_only_to_the_service() {
    let counts = Arc::new(RequestCounts::default());
    let shared = Arc::clone(&counts);
    let port = http_server::start(move |connection| serve(connection, &shared));
    let yaml = format!(
        r#"
stack: {{ service: {{ url: "http://127.0.0.1:{port}" }} }}
operations:
  session:
    steps:
      - {{ post: /login, json: {{ password: "${{env:SHOP_SECRET}}" }}, redirects: 2, decompress: true, capture: {{ token: {{ json: /token }} }} }}
      - {{ get: "/page/${{token}}", headers: {{ Authorization: "Bearer ${{env:SHOP_SECRET}}" }}, expect: {{ contains: page }} }}
  echo: {{ get: /echo, query: {{ t: "${{env:SHOP_SECRET}}" }} }}
  away: {{ get: /away, redirects: 1 }}
load: {{ model: closed, clients: 3, duration: 1s, cookies: true, connect_timeout: 20s, first_byte_timeout: 20s }}
"#
    );
    let workspace = Workspace::new("hops", &yaml);
    let ended = RunOutput::run(workspace.command(&[]).env("SHOP_SECRET", CANARY));
    assert!(ended.status.code().is_some_and(|it| it != 2), "{}\n{}", ended.err, ended.out);
    let (_, status, reason) = trials(&workspace.stored()).remove(0);
    assert_eq!(status, RunStatus::Complete, "{reason}");
    for count in [&counts.pages, &counts.echoes, &counts.aways] {
        assert!(count.load(Ordering::Relaxed) > 0, "{counts:?}\n{}\n{}", ended.err, ended.out);
    }
    let mut outputs =
        vec![("output".to_owned(), ended.out.into_bytes()), ("errors".to_owned(), ended.err.into_bytes())];
    for form in ["html", "md", "json", "junit"] {
        let mut command = Command::new(PGDYNO);
        command.args(["report", "last", "--format", form, "--out", &format!("report.{form}")]);
        let output = command.current_dir(&workspace.folder).output().expect("the program can be started");
        let printed = [output.stdout, output.stderr].concat();
        assert_eq!(output.status.code(), Some(0), "{form}: {}", String::from_utf8_lossy(&printed));
        outputs.push((form.to_owned(), printed));
    }
    let page = fs::read_to_string(workspace.folder.join("report.json")).expect("the file can be read");
    // The report contains the failures in words and the requests as written, but no other failures.
    for expected in ["HTTP 500", "net 18", "env:SHOP_SECRET"] {
        assert!(page.contains(expected), "{expected} in\n{page}");
    }
    assert!(!page.contains("HTTP 400") && !page.contains("check capture"), "{page}");
    for file in files(&workspace.folder) {
        outputs.push((file.display().to_string(), fs::read(&file).expect("the file can be read")));
    }
    assert!(contains_secret(format!("x{CANARY}").as_bytes()), "the search finds a secret");
    for (name, bytes) in outputs {
        assert!(!contains_secret(&bytes), "the secret appears in {name}");
    }
}

#[test]
fn reports_a_missing_secret_with_its_position() {
    let yaml = "stack: { service: { url: \"http://127.0.0.1:1\" } }\n\
                operations: { a: { get: /, headers: { A: \"Bearer ${env:SHOP_SECRET}\" } } }\n\
                load: { model: closed, clients: 1, duration: 1s }\n";
    let workspace = Workspace::new("missing", yaml);
    let mut command = workspace.command(&[]);
    let ended = RunOutput::run(command.env_remove("SHOP_SECRET"));
    ended.expect(2);
    for expected in [
        "error: the environment variable `SHOP_SECRET` is not set",
        "missing.yaml:2:50",
        "set it before the run, as in `export SHOP_SECRET=…`, or remove it here",
    ] {
        assert!(ended.err.contains(expected), "{expected} in\n{}", ended.err);
    }
}
