//! Copies of a service are judged together: findings name the service, or a single copy that differs

use super::workspace::Workspace;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Service whose statistics and readiness depend on whether it is the first copy, which locks the file `state/first`.
const SHOP: &str = r#"
import fcntl, json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

mode = sys.argv[1]
lock = open("state/first", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    first = True
except BlockingIOError:
    first = False
checks = 0

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        global checks
        status, page = 200, "ok"
        if self.path == "/health":
            checks += 1
            # Ready at its start, but no longer.
            status = 503 if mode == "unready" and first and checks > 1 else 200
        if self.path == "/stats":
            busy = 3 if mode == "all" or mode == "one" and first else 0
            page = json.dumps({"pool": {"size": 3, "busy": busy, "idle": 3 - busy, "waiting": 4 * busy}})
        self.send_response(status)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page.encode())
    def log_message(self, *args):
        pass

host, port = os.environ["ADDRESS"].rsplit(":", 1)
ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
"#;

/// Findings of a run in which the two copies of the service behave according to `mode`.
fn findings(mode: &str) -> Vec<Value> {
    let yaml = format!(
        "stack:\n  service: {{ command: [/usr/bin/python3, ./shop.py, {mode}], copies: 2, stats: /stats }}\n  postgres: {{}}\n\
         operations: {{ ask: {{ get: /x }} }}\n\
         load: {{ model: open, schedule: \"const(40, 8s)\", max_in_flight: 50 }}\n"
    );
    let workspace = Workspace::new("copies", &yaml);
    fs::write(workspace.folder.join("shop.py"), SHOP).expect("the file can be written");
    // If pgdyno runs as root, the service runs as another user.
    let state = workspace.folder.join("state");
    fs::create_dir(&state).expect("the directory can be created");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).expect("the permissions can be changed");
    // A busy machine can make a trial invalid, which has no findings.
    let documents = std::iter::repeat_with(|| {
        let ended = workspace.spawn_command(&mut workspace.command(&["--json"])).wait();
        ended.expect(0).document()
    });
    let is_valid = |document: &Value| document["matrix"]["rows"][0]["trials"][0]["valid"] == true;
    let document = documents.take(4).find(is_valid).expect("one of four trials is valid");
    document["findings"].as_array().expect("the value is an array").clone()
}

/// Nodes and sizes of the pools that the findings report as exhausted.
fn pools(findings: &[Value]) -> Vec<(&str, f64)> {
    let pools = findings.iter().map(|it| &it["bound"]).filter(|it| it["kind"] == "service_pool");
    pools.map(|it| (it["node"].as_str().expect("a name"), it["size"].as_f64().expect("a size"))).collect()
}

fn uneven(findings: &[Value]) -> Option<&Value> {
    findings.iter().map(|it| &it["circumstance"]).find(|it| it["kind"] == "uneven_copies")
}

#[test]
fn names_the_service_if_the_pools_of_all_copies_are_exhausted() {
    let all = findings("all");
    assert_eq!(pools(&all), [("service", 6.0)], "{all:#?}");
    assert_eq!(uneven(&all), None, "{all:#?}");
}

#[test]
fn names_the_copy_whose_pool_is_exhausted() {
    let all = findings("one");
    let pools = pools(&all);
    assert!(matches!(pools[..], [("service-1" | "service-2", 3.0)]), "{all:#?}");
}

#[test]
fn reports_a_copy_that_gets_no_requests() {
    let all = findings("unready");
    let finding = uneven(&all).unwrap_or_else(|| panic!("{all:#?}"));
    assert_eq!((&finding["service"], &finding["balancer"]), (&"service".into(), &"service-balancer".into()));
    let shares = finding["shares"].as_array().expect("the value is an array");
    let names: Vec<&Value> = shares.iter().map(|it| &it["node"]).collect();
    assert_eq!(names, ["service-1", "service-2"]);
    let sum: f64 = shares.iter().filter_map(|it| it["share"].as_f64()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{finding}");
}
