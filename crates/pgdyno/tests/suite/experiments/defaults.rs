//! Defaults of requests, and pauses between them

use super::http_server;
use super::workspace::{Workspace, counts};
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(300);

#[test]
fn defaults_apply_to_requests_and_pauses_precede_them() {
    // Pauses between `/first` and `/second` of a connection.
    let pauses = Arc::<Mutex<Vec<Duration>>>::default();
    let shared = Arc::clone(&pauses);
    let port = http_server::start(move |connection| {
        let mut first = Instant::now();
        while let Some(request) = connection.request() {
            let key = request.header("x-key").map(str::to_owned);
            let page = match (request.target(), key.as_deref()) {
                ("/first", Some("default")) | ("/second", Some("own")) => "welcome",
                _ => "Please log in",
            };
            if request.target() == "/second" {
                shared.lock().expect("no panic").push(first.elapsed());
            }
            // The client cannot receive the response before this.
            first = Instant::now();
            match request.target() {
                "/login" => connection.respond("302 Found", "Location: /first\r\n", b""),
                _ => connection.respond("200 OK", "", page.as_bytes()),
            }
        }
    });
    let experiment = format!(
        r#"
stack: {{ service: {{ url: "http://127.0.0.1:{port}" }} }}
defaults: {{ headers: {{ X-Key: default }}, expect: {{ contains: welcome }}, redirects: 1 }}
on_start: {{ steps: [ {{ post: /login }} ] }}
operations:
  visit: {{ steps: [ {{ get: /first }}, {{ pause: 300ms, get: /second, headers: {{ x-key: own }} }} ] }}
load: {{ model: closed, clients: 3, duration: 2s }}
"#
    );
    let workspace = Workspace::new("defaults", &experiment);
    workspace.run(&[]).expect(0);
    let counts = counts(&workspace.stored(), 1);
    assert!(counts.ok > 3 && counts.failed == 0, "{counts:?}");
    let pauses = pauses.lock().expect("no panic").clone();
    // The check before the first trial executes only reads, and skips the pause.
    assert!(pauses.len() > 3 && pauses[1..].iter().all(|it| *it >= PAUSE), "{pauses:?}");

    // `try` stops an operation after ten seconds, so it would fail if it paused.
    let file = workspace.folder.join("defaults.yaml");
    let text = fs::read_to_string(&file).expect("the workspace has the file");
    fs::write(&file, text.replace("300ms", "1h")).expect("the workspace can be written to");
    workspace.other_command("try", &[]).expect(0);

    let other = workspace.run(&["--json", "--set", "defaults.expect.contains=goodbye"]);
    other.expect(1);
    assert!(other.err.contains("on_start") && other.err.contains("text \"goodbye\""), "{}", other.err);
}
