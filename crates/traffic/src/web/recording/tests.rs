use super::*;
use crate::proxy::http::HttpSession;
use crate::web::{WebOptions, experiment, read};

/// HAR file of connections, each with the bytes of the client and of the server.
fn har(connections: &[(&str, &str)]) -> (String, HttpSummary) {
    let mut recording = HttpRecording::default();
    for (number, (sent, received)) in connections.iter().enumerate() {
        let mut session = HttpSession::default();
        let start = Nanos(1_764_151_200_000_000_000 + number as u64 * 1_500_000);
        let mut sink = |event: HttpEvent| recording.add(event);
        session.from_client(start, sent.as_bytes(), &mut sink);
        session.from_server(Nanos(start.0 + 250_000), received.as_bytes(), &mut sink);
        session.finish(&mut sink);
    }
    let mut out = Vec::new();
    let summary =
        recording.write("http://127.0.0.1:8080", [1; 32], "0", &mut out).expect("memory can be written");
    (String::from_utf8(out).expect("JSON is text"), summary)
}

#[test]
fn writes_entries() {
    let (text, summary) = har(&[
        (
            "POST /login?next=%2F HTTP/1.1\r\nHost: 127.0.0.1:8081\r\nOrigin: http://127.0.0.1:8081\r\n\
             Content-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 303 See Other\r\nLocation: http://127.0.0.1:8081/home\r\nContent-Length: 0\r\n\r\n",
        ),
        (
            "GET /home HTTP/1.1\r\nHost: 127.0.0.1:8081\r\nSec-Fetch-Dest: document\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:8080/past\r\nContent-Length: 0\r\n\r\n",
        ),
        ("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        ("GET / HTTP/1.1\r\n\r\n", ""),
        ("?\r\n\r\n", ""),
    ]);
    let counts =
        HttpSummary { requests: 2, past: 1, upgraded: 1, unfinished: 1, unreadable: 1, ..Default::default() };
    assert_eq!(summary, counts);
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let entries = &log["log"]["entries"];
    let first = &entries[0];
    assert_eq!(first["startedDateTime"], "2025-11-26T10:00:00.000000Z");
    assert_eq!(first["time"], 0.25);
    assert_eq!(first["request"]["url"], "http://127.0.0.1:8080/login?next=%2F");
    assert_eq!(first["request"]["headers"][0]["value"], "127.0.0.1:8080");
    assert_eq!(first["request"]["headers"][1]["value"], "http://127.0.0.1:8080");
    assert_eq!(first["request"]["queryString"][0]["value"], "/");
    assert_eq!(first["request"]["postData"]["text"], "hi");
    assert_eq!(first["response"]["redirectURL"], "http://127.0.0.1:8080/home");
    assert_eq!(entries[1]["_resourceType"], "document");
    assert!(!text.contains("8081"));
}

#[test]
fn the_import_finds_captures_and_secrets() {
    let (text, summary) = har(&[
        (
            "GET /login HTTP/1.1\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: sid=k3k3k3k3k3; HttpOnly\r\n\
             Content-Length: 43\r\n\r\n<input name=\"_csrf\" value=\"T0ken-12345678\">",
        ),
        (
            "POST /login HTTP/1.1\r\nHost: a\r\nCookie: sid=k3k3k3k3k3\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 47\r\n\r\n\
             _csrf=T0ken-12345678&user=anna&password=hunter2",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 33\r\n\r\n\
             {\"accessToken\":\"AbCd-9876543210\"}",
        ),
        (
            "GET /cart HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer AbCd-9876543210\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
        ),
    ]);
    assert_eq!((summary.requests, summary.secrets), (3, 4));
    for secret in ["k3k3", "T0ken", "hunter2", "AbCd"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let traffic = read(text.as_bytes()).expect("a HAR file");
    let imported = experiment(&traffic, &WebOptions { name: "shop".to_owned(), ..WebOptions::default() });
    assert_eq!(imported.operations[0].captures, ["csrf", "access_token"]);
    let variables: Vec<&str> = imported.secrets.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(variables, ["PASSWORD"]);
    let file = imported.file(&[]);
    assert!(file.contains("\"Bearer ${access_token}\"") && file.contains("cookies: true"), "{file}");
    assert!(!file.contains("hidden"), "{file}");
}
