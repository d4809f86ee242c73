//! Loads of recorded requests

use super::workspace::Workspace;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// Number of requests by request line and `User-Agent`.
type Received = Arc<Mutex<BTreeMap<(String, String), u32>>>;

/// Port of a service that counts its requests.
fn service() -> (u16, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("the listener is bound").port();
    let received = Received::default();
    let counts = Arc::clone(&received);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let counts = Arc::clone(&counts);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                // A request of the load fits into one read.
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
                    let line = request.lines().next().unwrap_or_default().to_owned();
                    let agent = request.lines().find_map(|it| it.strip_prefix("User-Agent: "));
                    let key = (line, agent.unwrap_or_default().to_owned());
                    *counts.lock().expect("no panic").entry(key).or_default() += 1;
                    let status = if request.contains("/gone/") { "404 Not Found" } else { "200 OK" };
                    let response = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
                    if stream.write_all(response.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (port, received)
}

fn findings<'a>(document: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = document["findings"].as_array().expect("the value is an array");
    all.iter().filter(|it| it["kind"] == kind).collect()
}

/// Path and recorded status of request `n` of the log.
fn recorded(n: u32) -> (String, u16) {
    match n % 4 {
        0 => ("/".to_owned(), 200),
        1 => (format!("/gone/{n}"), 404),
        _ => (format!("/user/{n}"), 200),
    }
}

#[test]
fn requests_of_a_log_are_sent_once_each() {
    let (port, received) = service();
    let yaml = format!(
        "stack: {{ service: {{ url: \"http://127.0.0.1:{port}\" }} }}
feeds:
  log:
    file: site.log
    log_format: '$msec \"$request\" $status $body_bytes_sent \"$http_user_agent\" $request_time'
operations:
  site: {{ ammo: log, by_tag: true, preflight: false }}
load: {{ model: open, schedule: recorded, speed: 2, max_in_flight: 16, threads: 2 }}
objectives: [ \"GET /user/{{number}}: errors < 1%\" ]
"
    );
    let workspace = Workspace::new("recorded", &yaml);
    let mut log = String::new();
    for n in 0..240_u32 {
        let (second, millis) = (1_795_703_170 + n / 60, n % 60 * 16);
        let (target, status) = recorded(n);
        let _ = writeln!(
            log,
            "{second}.{millis:03} \"GET {target} HTTP/1.1\" {status} 2 \"agent {n}\" 0.0{:02}",
            n % 10 + 10
        );
    }
    for n in 0..60 {
        let _ = writeln!(log, "1795703171.{n:03} \"POST /user HTTP/1.1\" 200 2 \"x\" 0.020");
    }
    log += "not a line of this log\n";
    std::fs::write(workspace.folder.join("site.log"), log).expect("the file can be written");
    let checked = workspace.other_command("check", &[]);
    let line = "240 requests in 2s, 120/s on average, 120/s at most; 20.3 % of the recorded requests are missing \
                (60 with a body that the log does not contain, 1 that do not fit the format)";
    let shown = checked.expect(0).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(line), "{shown}");
    let document = workspace.run(&["--json"]).expect(0).document();
    let mut received = received.lock().expect("no panic").clone();
    // The monitoring of the service.
    received.retain(|(_, agent), _| agent != "pgdyno monitor");
    let expected: BTreeMap<(String, String), u32> =
        (0..240).map(|n| ((format!("GET {} HTTP/1.1", recorded(n).0), format!("agent {n}")), 1)).collect();
    assert_eq!(received, expected);
    let [missing] = findings(&document, "requests_missing")[..] else { panic!("{document:#}") };
    assert_eq!((&missing["requests"], &missing["missing"]), (&240.into(), &61.into()));
    let times: Vec<_> = findings(&document, "recorded_response_times")
        .iter()
        .map(|it| (it["operation"].clone(), it["count"].clone(), it["recorded_p50_ns"].clone()))
        .collect();
    let row = |name: &str, count: u64, p50: u64| (name.into(), count.into(), p50.into());
    let expected = [
        row("GET /user/{number}", 120, 14_000_000),
        row("GET /", 60, 14_000_000),
        row("GET /gone/{number}", 60, 15_000_000),
    ];
    assert_eq!(times, expected, "{document:#}");
    // The log contains the same client errors.
    let differing = ["failures", "recorded_status"].map(|kind| findings(&document, kind).len());
    assert_eq!(differing, [0, 0], "{document:#}");
    let mut names = Vec::new();
    for lang in ["en", "ru"] {
        let path = workspace.stored().path().to_str().expect("the path is UTF-8").to_owned();
        let page =
            workspace.other("report", &[&path, "--format", "md", "--lang", lang]).expect(0).out.clone();
        names.push(page.replace(['\u{202f}', '\u{a0}'], " "));
    }
    assert!(names[0].contains("20.3 % of the recorded requests are missing"), "{}", names[0]);
    assert!(
        names[0].contains("1 that do not fit the format (first: line 301: \\$msec cannot have the value"),
        "{}",
        names[0]
    );
    assert!(names[1].contains("недостаёт 20,3 % записанных запросов"), "{}", names[1]);
}
