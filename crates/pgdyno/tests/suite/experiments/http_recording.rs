//! Traffic of a service that a proxy records becomes an experiment, which runs with new values

use super::http_server::{self, Connection, Request};
use super::workspace::{PGDYNO, Workspace, retry_until};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

const PASSWORD: &str = "correct horse/battery+staple";

/// Service with a login. Every value that it generates occurs once.
#[derive(Default)]
struct Shop {
    generated: u64,
    /// CSRF tokens by session, and sessions that are logged in.
    csrf: HashMap<String, String>,
    users: HashSet<String>,
    /// Access tokens, with the number of their user.
    tokens: HashMap<String, String>,
    /// All values that must not be in a file.
    secrets: Vec<String>,
    /// Paths of the requests that it rejected.
    rejected: Vec<String>,
    carts: u64,
}

impl Shop {
    fn generate(&mut self, name: &str) -> String {
        self.generated += 1;
        format!("{name}{:016x}", self.generated.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn secret(&mut self, name: &str) -> String {
        let secret = self.generate(name);
        self.secrets.push(secret.clone());
        secret
    }

    /// Status, headers and body of the response.
    fn answer(&mut self, request: &Request) -> (&'static str, String, String) {
        let cookie =
            request.header("cookie").and_then(|it| it.strip_prefix("sid=")).unwrap_or_default().to_owned();
        let path = request.target().split('?').next().unwrap_or_default();
        let token = request.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
        let user = token.and_then(|it| self.tokens.get(it).cloned());
        let html = "Content-Type: text/html; charset=utf-8\r\n".to_owned();
        let json = "Content-Type: application/json\r\n".to_owned();
        match (request.head.split(' ').next().unwrap_or_default(), path) {
            ("GET", "/login") => {
                let (session, csrf) = (self.secret("s"), self.secret("c"));
                self.csrf.insert(session.clone(), csrf.clone());
                let page = format!("<form><input type=hidden name=\"_csrf\" value=\"{csrf}\"></form>");
                ("200 OK", format!("{html}Set-Cookie: sid={session}; Path=/; HttpOnly\r\n"), page)
            }
            ("POST", "/login") => {
                let password = model::percent_encode(PASSWORD);
                let csrf = self.csrf.get(&cookie).cloned().unwrap_or_default();
                if request.body != format!("_csrf={csrf}&user=anna&password={password}") {
                    return self.reject(path, &request.body);
                }
                self.users.insert(cookie);
                ("303 See Other", "Location: /home\r\n".to_owned(), String::new())
            }
            ("GET", "/home") if self.users.contains(&cookie) => ("200 OK", html, "<p>Hello</p>".to_owned()),
            ("POST", "/api/session") if self.users.contains(&cookie) => {
                let (user, token) = (self.generate("u"), self.secret("t"));
                self.tokens.insert(token.clone(), user.clone());
                ("200 OK", json, format!("{{\"user\":{{\"id\":\"{user}\"}},\"accessToken\":\"{token}\"}}"))
            }
            ("GET", path) if user.as_ref().is_some_and(|user| path == format!("/api/users/{user}/cart")) => {
                self.carts += 1;
                ("200 OK", json, "{\"items\":[]}".to_owned())
            }
            ("DELETE", "/api/session") if user.is_some() => ("204 No Content", String::new(), String::new()),
            _ => self.reject(path, "no such page or permission"),
        }
    }

    fn reject(&mut self, path: &str, reason: &str) -> (&'static str, String, String) {
        self.rejected.push(format!("{path}: {reason}"));
        ("403 Forbidden", String::new(), "rejected".to_owned())
    }
}

fn start(shop: &Arc<Mutex<Shop>>) -> u16 {
    let shop = Arc::clone(shop);
    http_server::start(move |connection: &mut Connection| {
        while let Some(request) = connection.request() {
            let (status, headers, body) = shop.lock().expect("no thread panics").answer(&request);
            connection.respond(status, &headers, body.as_bytes());
        }
    })
}

/// Client with one connection to the proxy.
struct Client(TcpStream);

impl Client {
    /// Sends a request, and returns its response.
    fn send(&mut self, first_line: &str, headers: &str, body: &str) -> String {
        let length =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let request = format!("{first_line} HTTP/1.1\r\nHost: shop.test\r\n{headers}{length}\r\n{body}");
        self.0.write_all(request.as_bytes()).expect("the proxy accepts the request");
        let (mut response, mut byte) = (String::new(), [0]);
        let mut missing = None;
        while missing != Some(0) {
            self.0.read_exact(&mut byte).expect("the proxy forwards the response");
            response.push(byte[0] as char);
            missing = missing.map(|length: usize| length - 1);
            if missing.is_none() && response.ends_with("\r\n\r\n") {
                missing = Some(between(&response, "Content-Length: ", "\r\n").parse().expect("a number"));
            }
        }
        response
    }
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before} is missing in {text}"));
    rest.split_once(after).map_or(rest, |(value, _)| value)
}

/// One session of a user.
fn visit(client: &mut Client) {
    let page = client.send("GET /login", "", "");
    let (sid, csrf) = (between(&page, "sid=", ";"), between(&page, "value=\"", "\""));
    let cookie = format!("Cookie: sid={sid}\r\n");
    let form = format!("{cookie}Content-Type: application/x-www-form-urlencoded\r\n");
    let password = model::percent_encode(PASSWORD);
    let login = client.send("POST /login", &form, &format!("_csrf={csrf}&user=anna&password={password}"));
    assert!(login.starts_with("HTTP/1.1 303"), "{login}");
    client.send("GET /home", &cookie, "");
    let json = format!("{cookie}Content-Type: application/json\r\n");
    let session = client.send("POST /api/session", &json, "{\"device\":\"web\"}");
    let (user, token) = (between(&session, "\"id\":\"", "\""), between(&session, "accessToken\":\"", "\""));
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let cart = client.send(&format!("GET /api/users/{user}/cart"), &bearer, "");
    assert!(cart.starts_with("HTTP/1.1 200"), "{cart}");
    client.send("DELETE /api/session", &bearer, "");
}

#[test]
fn a_recorded_session_runs_again_with_new_values() {
    let shop = Arc::new(Mutex::new(Shop::default()));
    let service = format!("http://127.0.0.1:{}", start(&shop));
    let workspace = Workspace::new("recorded", "");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port is free");
    let listen = free.to_string();
    let mut command = Command::new(PGDYNO);
    command.args(["record", "--http", "--listen", &listen, "--to", &service, "-o", "shop.har"]);
    command.current_dir(&workspace.folder).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    let proxy = workspace.spawn_command(&mut command);
    let mut stream = Err("not connected".to_owned());
    retry_until("the proxy accepts clients", || {
        stream = TcpStream::connect(free).map_err(|error| error.to_string());
        stream.as_ref().map(|_| ()).map_err(Clone::clone)
    });
    let mut client = Client(stream.expect("it was connected"));
    visit(&mut client);
    drop(client);
    kill_process(Pid::from_raw(proxy.pid().as_raw_nonzero().get()).expect("a process"), Signal::INT)
        .expect("the proxy is running");
    let ended = proxy.wait();
    let summary = "Wrote shop.har: 6 requests. Placeholders replace 4 secrets.";
    assert!(ended.expect(0).out.contains(summary), "{}", ended.out);

    let imported = workspace.other("import", &["shop.har", "-o", "shop.yaml"]);
    imported.expect(0);
    let file = workspace.folder.join("shop.yaml");
    let yaml = fs::read_to_string(&file).expect("it was written");
    for part in ["csrf: { regex:", "access_token: { json: /accessToken }", "user_id: { json: /user/id }"] {
        assert!(yaml.contains(part), "{part} in {yaml}");
    }
    assert!(yaml.contains("${env:PASSWORD}") && !yaml.contains("hidden"), "{yaml}");
    let shorter = yaml.replace("duration: 30s", "duration: 1s");
    let shorter: String =
        shorter.lines().filter(|line| !line.contains("think:")).map(|it| format!("{it}\n")).collect();
    fs::write(&file, shorter).expect("the file can be written");
    let run = workspace.spawn_command(workspace.command_on(&file, &[]).env("PASSWORD", PASSWORD)).wait();
    run.expect(0);

    let shop = shop.lock().expect("no thread panics");
    assert_eq!(shop.rejected, Vec::<String>::new());
    assert!(shop.carts > 1 && shop.tokens.len() > 1, "the session runs at least once: {}", shop.carts);
    let encoded = model::percent_encode(PASSWORD);
    let secrets: Vec<&str> =
        shop.secrets.iter().map(String::as_str).chain([PASSWORD, &encoded, "horse", "staple"]).collect();
    check_files(&workspace.folder, &secrets);
}

/// Checks that no file in a folder contains a secret.
fn check_files(folder: &Path, secrets: &[&str]) {
    let mut files = 0;
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            check_files(&path, secrets);
            continue;
        }
        let bytes = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        files += 1;
        let found: Vec<&&str> = secrets.iter().filter(|secret| text.contains(**secret)).collect();
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
    println!("{} files in {}", files, folder.display());
}

#[test]
fn wrong_arguments_are_explained() {
    let workspace = Workspace::new("record-wrong", "");
    fs::write(workspace.folder.join("text.pem"), "no certificate").expect("the file can be written");
    for (arguments, expected) in [
        (
            &["--http", "--to", "postgres://127.0.0.1/shop"][..],
            "write scheme, host and port, such as http://127.0.0.1:8080",
        ),
        (
            &["--http", "--to", "http://127.0.0.1:8080/path"],
            "write scheme, host and port, such as http://127.0.0.1:8080",
        ),
        (&["--http", "--to", "http://ann:hunter2@127.0.0.1:8080"], "write scheme, host and port"),
        (
            &["--to", "dbname=shop", "--tls-cert", "text.pem", "--tls-key", "text.pem"],
            "--tls-cert: text.pem contains no PEM certificate",
        ),
        (&["--to", "dbname=shop", "--tls-cert", "text.pem"], "--tls-key"),
    ] {
        let ended = workspace.other("record", &[arguments, &["-o", "new.har"]].concat());
        let error = ended.expect(2).err.replace('\n', " ");
        assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
        assert!(!workspace.folder.join("new.har").exists());
    }
}
