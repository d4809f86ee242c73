//! Steps of an operation in the run file, the JSON document and the page

use super::http_server::{self, Connection};
use super::workspace::{PGDYNO, RunOutput, Workspace};
use serde_json::Value;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Delay of the second step.
const DELAY: Duration = Duration::from_millis(20);
const BODY: &str = "the till is closed";

/// Serves one connection: `/cart` is slow, every second `/pay` fails, and the steps after it succeed.
fn serve(connection: &mut Connection) {
    let mut payments = 0;
    while let Some(request) = connection.request() {
        let (status, body) = match request.target() {
            "/cart" => {
                thread::sleep(DELAY);
                (200, "{}")
            }
            "/pay" => {
                payments += 1;
                if payments % 2 == 0 { (503, BODY) } else { (200, "{}") }
            }
            _ => (200, "{}"),
        };
        connection.respond(&format!("{status} X"), "", body.as_bytes());
    }
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn shows_which_step_is_slow_and_which_one_fails() {
    let yaml = format!(
        r#"
stack: {{ service: {{ url: "http://127.0.0.1:{}" }} }}
operations:
  buy:
    set: {{ n: "random(1, 9)" }}
    steps:
      - {{ name: login, get: "/login?n=${{n}}" }}
      - {{ name: cart, get: /cart }}
      - {{ name: pay, post: /pay, body: "${{n}}" }}
      - {{ name: receipt, get: /receipt }}
load: {{ model: closed, clients: 2, duration: 2s }}
"#,
        http_server::start(serve)
    );
    let workspace = Workspace::new("steps", &yaml);
    let ended = workspace.run(&["--json"]);
    let document = ended.expect(0).document();
    let steps = &document["steps"][0]["steps"];
    let name = |at: usize| steps[at]["name"].as_str().unwrap_or_default();
    assert_eq!([0, 1, 2, 3, 4].map(name), ["login", "cart", "pay", "receipt", ""], "{steps}");
    let figure = |at: usize, name: &str| count(&steps[at][name]);
    let failed = figure(2, "failed");
    assert!(failed > 1 && failed.abs_diff(figure(2, "ok")) <= 2, "{steps}");
    assert_eq!([0, 1, 3].map(|at| figure(at, "failed")), [0; 3], "{steps}");
    assert_eq!([0, 1, 2].map(|at| figure(at, "not_reached")), [0; 3], "{steps}");
    assert_eq!(figure(3, "not_reached"), failed, "{steps}");
    assert_eq!(figure(3, "ok") + failed, figure(0, "ok"), "{steps}");
    let failure = &steps[2]["failures"][0];
    assert_eq!((&failure["code"], count(&failure["count"])), (&Value::from("HTTP 503"), failed), "{failure}");
    assert_eq!(failure["body"], BODY, "{failure}");
    let slow = DELAY.as_nanos() as u64;
    assert!(count(&steps[1]["response"]["p50_ns"]) >= slow, "{steps}");
    let phase = |at: usize, name: &str| {
        let phases = steps[at]["phases"].as_array().expect("a list");
        phases.iter().find(|it| it["phase"] == name).cloned()
    };
    let first_byte = phase(1, "first_byte").expect("each answer has a first byte");
    assert!(count(&first_byte["mean_ns"]) >= slow, "{steps}");
    assert_eq!(
        phase(0, "connect").map(|it| count(&it["count"])),
        Some(2),
        "each client connects once: {steps}"
    );
    assert_eq!((phase(2, "connect"), phase(0, "tls")), (None, None), "{steps}");
    let sent = format!("GET /cart HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", 10_000).len() as u64;
    assert!(figure(1, "sent_bytes") >= sent * figure(1, "ok"), "{steps}");
    let answer = format!("HTTP/1.1 503 X\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len()).len() as u64;
    let success = "HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}".len() as u64;
    assert_eq!(figure(2, "received_bytes"), answer * failed + success * figure(2, "ok"), "{steps}");

    let run = workspace.stored();
    let trial = &run.trials().expect("the run can be read")[0];
    let (mut stored, mut codes) = ([0; 5], Vec::new());
    for tick in run.ticks(trial.id).expect("the trial has ticks") {
        let tick = tick.expect("the tick can be read");
        for (sum, counts) in stored.iter_mut().zip(&tick.interval.scripts[0].statements) {
            *sum += counts.service.count();
            codes.extend(counts.failed.iter().map(|it| it.0.to_string()));
        }
    }
    let shown = [0, 1, 2, 3].map(|at| figure(at, "ok"));
    assert_eq!((stored[0], &stored[1..]), (0, &shown[..]), "the first command is no step");
    codes.dedup();
    assert_eq!(codes, ["HTTP 503"]);

    let mut report = Command::new(PGDYNO);
    report.args(["report", "last", "--format", "md"]).current_dir(&workspace.folder);
    let page = RunOutput::run(&mut report).expect(0).out.clone();
    for expected in ["buy: 3. pay", "HTTP 503", BODY] {
        assert!(page.contains(expected), "{expected} in\n{page}");
    }
}
