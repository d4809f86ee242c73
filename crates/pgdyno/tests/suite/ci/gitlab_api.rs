//! The part of GitLab's API that `tools/ci` calls: the package registry, and the notes of a merge request

use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Token that the API accepts for notes.
pub const TOKEN: &str = "token-of-the-user";
pub const PACKAGE: &str = "/projects/3/packages/generic/pgdyno/0.1.0/pgdyno-0.1.0-x86_64-linux.tar.gz";
const NOTES: &str = "/projects/3/merge_requests/7/notes";

/// A server that listens until the process ends.
pub struct GitlabApi {
    pub address: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    package: Vec<u8>,
    notes: Vec<(u32, String)>,
}

impl GitlabApi {
    /// Starts the server. It offers `package`; the merge request has the texts of `notes`.
    pub fn start(package: Vec<u8>, notes: &[&str]) -> GitlabApi {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = format!("http://{}/api/v4", listener.local_addr().expect("it is bound"));
        let notes = (1..).zip(notes.iter().map(|text| (*text).to_owned())).collect();
        let state = Arc::new(Mutex::new(State { package, notes }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&stream.expect("a connection"), &mut shared.lock().expect("no panic"));
            }
        });
        GitlabApi { address, state }
    }

    /// Texts of the notes, in order of their creation.
    pub fn notes(&self) -> Vec<String> {
        self.state.lock().expect("no panic").notes.iter().map(|(_, text)| text.clone()).collect()
    }
}

/// Answers one request and closes the connection.
fn answer(stream: &TcpStream, state: &mut State) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the request has a head");
        line.trim_end().to_owned()
    };
    let request = line();
    let headers: Vec<String> = std::iter::from_fn(|| Some(line()).filter(|line| !line.is_empty())).collect();
    let header = |name: &str| {
        let values = headers.iter().filter_map(|line| line.split_once(": "));
        values.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap_or("")
    };
    if header("Expect") == "100-continue" {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").expect("the client reads");
    }
    let mut body = vec![0; header("Content-Length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).expect("the request has a body");
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let path = target.split('?').next().unwrap_or("").strip_prefix("/api/v4").unwrap_or("");
    let (status, content) = match (method, path.strip_prefix(NOTES)) {
        ("GET", None) if path == PACKAGE && header("JOB-TOKEN") == "token-of-the-job" => {
            ("200 OK", state.package.clone())
        }
        (_, Some(_)) if header("PRIVATE-TOKEN") != TOKEN => ("401 Unauthorized", Vec::new()),
        ("GET", Some("")) => ("200 OK", list(&state.notes).into_bytes()),
        ("POST", Some("")) => {
            let id = state.notes.len() as u32 + 1;
            state.notes.push((id, form_value(&body)));
            ("201 Created", b"{}".to_vec())
        }
        ("PUT", Some(id)) => {
            let note = state.notes.iter_mut().find(|(number, _)| id == format!("/{number}"));
            note.expect("the note exists").1 = form_value(&body);
            ("200 OK", b"{}".to_vec())
        }
        _ => ("404 Not Found", Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
    writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(&content)).expect("the client reads");
}

/// The list of notes as GitLab prints it: without spaces, and with escaped brackets.
fn list(notes: &[(u32, String)]) -> String {
    let note = |(id, text): &(u32, String)| {
        let text = json!(text).to_string().replace('<', "\\u003c").replace('>', "\\u003e");
        format!("{{\"id\":{id},\"type\":null,\"body\":{text},\"author\":{{\"id\":1,\"username\":\"me\"}}}}")
    };
    format!("[{}]", notes.iter().map(note).collect::<Vec<_>>().join(","))
}

/// Value of the only field, `body`, of a form.
fn form_value(body: &[u8]) -> String {
    let body = body.strip_prefix(b"body=").expect("the form has the field body");
    let mut bytes = body.iter().copied();
    let mut text = Vec::new();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next(), bytes.next()].map(|digit| digit.expect("two digits") as char);
                u8::from_str_radix(&String::from_iter(digits), 16).expect("hexadecimal digits")
            }
            other => other,
        });
    }
    String::from_utf8(text).expect("the text is UTF-8")
}
