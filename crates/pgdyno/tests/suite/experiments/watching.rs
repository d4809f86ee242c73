//! Observers of a running test receive its stored values and do not delay it

use super::workspace::{BARE, Workspace, counts, retry_until, trials};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use store::RunStatus;

/// Two hundred transactions and then none, so that the counters are constant.
const SHORT: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: open, schedule: \"const(100, 2s) const(0, 10m)\", max_in_flight: 8 }
";

/// Values that Prometheus computes from its samples equal those that the run stores.
#[test]
fn prometheus_scrapes_the_stored_values() {
    let Some(program) = program("prometheus") else {
        eprintln!("skipped: there is no prometheus here; ./x setup installs it");
        return;
    };
    let workspace = Workspace::new("scraped", SHORT);
    let mut running = workspace.spawn(&["--prometheus", "127.0.0.1:0"]);
    let line = running.await_line("Prometheus can scrape ");
    let url = line.split_whitespace().last().expect("the line ends with the address");
    let address = url.strip_prefix("http://").and_then(|it| it.strip_suffix("/metrics")).expect("an address");
    let address: SocketAddr = address.parse().expect("an address");
    let prometheus = Prometheus::start(&program, &workspace, address);
    retry_until("Prometheus has scraped the endpoint", || match prometheus.value("up").as_deref() {
        Some("1") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let mut last = 0.0;
    retry_until("all transactions are counted", || {
        // Prometheus has no value if a scrape on a busy machine timed out.
        let value = prometheus.number("sum(pgdyno_transactions_total{operation=\"one\",outcome=\"ok\"})");
        let value = value.ok_or("there is no value")?;
        assert!((last..=200.0).contains(&value), "{last}, then {value}");
        last = value;
        if value == 200.0 { Ok(()) } else { Err(value.to_string()) }
    });
    for (query, expected) in [
        ("pgdyno_response_seconds_count{operation=\"one\"}", 200.0),
        ("pgdyno_service_seconds_bucket{operation=\"one\",le=\"+Inf\"}", 200.0),
        ("pgdyno_arrivals_total", 200.0),
        ("pgdyno_dropped_total", 0.0),
        ("pgdyno_in_flight", 0.0),
        ("pgdyno_trials", 1.0),
        ("pgdyno_trial_info{run=\"scraped\",repetition=\"0\"}", 1.0),
        // The median is between zero and a minute.
        ("histogram_quantile(0.5, pgdyno_response_seconds_bucket) < bool 60", 1.0),
        ("histogram_quantile(0.5, pgdyno_response_seconds_bucket) > bool 0", 1.0),
        ("sum(pgdyno_pg_sessions{node=\"postgres\"}) > bool 0", 1.0),
        ("rate(pgdyno_host_cpu_seconds_total{label=\"user\"}[1m]) >= bool 0", 1.0),
    ] {
        retry_until(query, || match prometheus.number(query) {
            Some(it) if it == expected => Ok(()),
            other => Err(format!("{other:?}")),
        });
    }
    for query in dashboard() {
        assert_eq!(prometheus.query(&query)["status"], "success", "{query}");
    }
    let (status, metrics) =
        ask(address, "GET", "/metrics", &address.to_string()).expect("the server answers");
    assert_eq!(status, 200);
    checks(&metrics);
    running.signal(Signal::INT);
    running.wait().expect(2);
    assert_eq!(counts(&workspace.stored(), 1).ok, 200);
}

#[test]
fn metrics_endpoint_rejects_foreign_hosts() {
    let workspace = Workspace::new("asked", SHORT);
    let mut running = workspace.spawn(&["--prometheus", "127.0.0.1:0"]);
    let line = running.await_line("Prometheus can scrape ");
    let port = line.trim_end_matches("/metrics").rsplit(':').next().and_then(|it| it.parse::<u16>().ok());
    let address = SocketAddr::from(([127, 0, 0, 1], port.expect("a port")));
    let own_host = address.to_string();
    for (method, path, host, expected) in [
        ("GET", "/metrics", own_host.as_str(), 200),
        ("HEAD", "/metrics", &own_host, 200),
        ("GET", "/metrics", "rebound.example", 403),
        ("GET", "/metrics", &format!("rebound.example:{}", address.port()), 403),
        ("POST", "/metrics", &own_host, 405),
        ("GET", "/", &own_host, 404),
        ("GET", "/../../etc/passwd", &own_host, 404),
    ] {
        let (status, text) = ask(address, method, path, host).expect("the server answers");
        assert_eq!(status, expected, "{method} {path} of {host}: {text}");
        assert_eq!(text.contains("pgdyno_up 1"), (expected, method) == (200, "GET"), "{text}");
    }
    running.signal(Signal::INT);
    running.wait();
    let refused = workspace.run(&["--prometheus", "0.0.0.0:0"]);
    assert!(refused.expect(1).err.contains("--prometheus-anyone"), "{}", refused.err);
}

/// Nothing reads the pipe, which is full from the start.
#[test]
fn an_unread_pipe_does_not_block_the_run() {
    let workspace = Workspace::new("unread", &format!("{BARE}repeat: 2\n"));
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let flags = fcntl_getfl(&writer).expect("the flags can be read");
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("the flags can be set");
    let mut filled = 0;
    while let Ok(n) = (&writer).write(&[b'.'; 4096]) {
        filled += n;
    }
    fcntl_setfl(&writer, flags).expect("the flags can be set");
    let mut command = workspace.command(&[]);
    let mut child = command.stdout(Stdio::null()).stderr(writer).spawn().expect("the program can be started");
    drop(command);
    retry_until("the run has ended successfully", || {
        let path = fs::read_dir(workspace.folder.join("runs")).ok().and_then(|mut it| it.next());
        let path = path.and_then(Result::ok).ok_or("no file yet")?.path();
        let state = store::Run::open(&path).and_then(|it| it.state()).map_err(|it| format!("{it:?}"))?;
        if state.status() == Some(RunStatus::Complete) { Ok(()) } else { Err(format!("{state:?}")) }
    });
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("the stream can be read");
    assert!(child.wait().expect("the process can be waited for").success());
    let text = &text[filled..];
    assert!(text.starts_with("2 trials of 1 cell") && text.contains("\n2/2  the only cell: "), "{text}");
    assert!(trials(&workspace.stored()).iter().all(|it| it.1 == RunStatus::Complete));
}

/// Prometheus process that scrapes one address and stores its data in the test's folder.
struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Prometheus {
    fn start(program: &PathBuf, workspace: &Workspace, target: SocketAddr) -> Prometheus {
        let folder = workspace.folder.join("prometheus");
        fs::create_dir(&folder).expect("the directory can be created");
        let config = folder.join("prometheus.yml");
        let scrape = format!(
            "global: {{ scrape_interval: 200ms, scrape_timeout: 200ms }}\nscrape_configs:\n- job_name: pgdyno\n  \
             static_configs: [ {{ targets: [ \"{target}\" ] }} ]\n"
        );
        fs::write(&config, scrape).expect("the file can be written");
        // Prometheus does not report a port that it chose, so it receives one that was free a moment ago.
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port");
        let child = Command::new(program)
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address={free}"))
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).expect("the file can be created"))
            .spawn()
            .expect("the program can be started");
        Prometheus { child, address: free }
    }

    /// Response to a query; `null` while it does not listen yet.
    fn query(&self, query: &str) -> Value {
        let encoded: String = query.bytes().map(|it| format!("%{it:02x}")).collect();
        let path = format!("/api/v1/query?query={encoded}");
        let answer = ask(self.address, "GET", &path, &self.address.to_string());
        answer.and_then(|it| serde_json::from_str(&it.1).ok()).unwrap_or_default()
    }

    /// Value of a query's first result.
    fn value(&self, query: &str) -> Option<String> {
        let answer = self.query(query);
        answer["data"]["result"][0]["value"][1].as_str().map(str::to_owned)
    }

    fn number(&self, query: &str) -> Option<f64> {
        self.value(query)?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Status and body of one request; `None` if the connection is refused.
fn ask(address: SocketAddr, method: &str, path: &str, host: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    // HTTP/1.0, so that the response is not chunked.
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

/// Queries of the dashboard, with variables replaced as Grafana does.
fn dashboard() -> Vec<String> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/pgdyno.json"));
    let dashboard: Value =
        serde_json::from_str(&text.expect("the dashboard exists")).expect("the text is JSON");
    let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
    let panels = list(&dashboard["panels"]).into_iter().flat_map(|it| list(&it["targets"]));
    let all = panels.chain(list(&dashboard["annotations"]["list"]));
    let fill = |expression: &str| {
        let query = expression.replace("$__rate_interval", "5s").replace("$__interval", "5s");
        query.replace("$run", ".*").replace("$operation", ".*")
    };
    let queries: Vec<String> = all.filter_map(|it| Some(fill(it["expr"].as_str()?))).collect();
    assert!(queries.len() > 20, "{queries:?}");
    queries
}

/// Checks names, units and help texts with promtool.
fn checks(metrics: &str) {
    let Some(program) = program("promtool") else { return };
    let mut child = Command::new(program)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    child
        .stdin
        .take()
        .expect("the stream is piped")
        .write_all(metrics.as_bytes())
        .expect("the program reads its input");
    let output = child.wait_with_output().expect("the process can be waited for");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && text.trim().is_empty(), "{text}");
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file())
}
