//! Pages of a web tier and metrics of its host, from the experiment file to findings and charts

use super::http_server;
use super::workspace::Workspace;
use std::time::Instant;

/// Status page of a PHP-FPM whose three processes are busy.
const PROCESSES: &str = "pool: www\nlisten queue: 7\nlisten queue len: 511\nidle processes: 0\nactive processes: 3\n\
                         total processes: 3\n";

/// Metrics of a host with four CPUs, of which one tenth of one is idle.
fn host(elapsed: f64) -> String {
    format!(
        "node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {}\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {}\n",
        100.0 + 3.9 * elapsed,
        50.0 + 0.1 * elapsed
    )
}

#[test]
fn pages_of_a_web_tier_become_findings_and_charts() {
    let start = Instant::now();
    let port = http_server::start(move |connection| {
        while let Some(request) = connection.request() {
            let body = match request.target() {
                "/status" => PROCESSES.to_owned(),
                "/metrics" => "# TYPE jobs_total counter\njobs_total 5\nqueue_length 2\n".to_owned(),
                "/host" => host(start.elapsed().as_secs_f64()),
                _ => "ready".to_owned(),
            };
            connection.respond("200 OK", "", body.as_bytes());
        }
    });
    let yaml = format!(
        "stack:\n  service:\n    url: \"http://127.0.0.1:{port}\"\n    metrics: \"http://127.0.0.1:{port}/host\"\n    stats:\n      \
         - {{ path: /status, form: php-fpm }}\n      \
         - {{ path: /metrics, port: {port}, form: prometheus, series: [jobs_total, queue_length, absent] }}\n\
         operations: {{ page: {{ get: / }} }}\n\
         load: {{ model: closed, clients: 2, duration: 4s }}\n"
    );
    let workspace = Workspace::new("tier", &yaml);
    let ended = workspace.run(&[]);
    ended.expect(0);
    let words = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "all threads or processes of service (www) are busy, and requests wait for one (3.0 of 3 busy, 7.0 waiting)",
        &format!("the CPUs of 127.0.0.1:{port} are saturated (host of service) (3."),
    ] {
        assert!(words.contains(expected), "{expected:?} in {}\n{}", ended.out, ended.err);
    }
    let page = workspace.other("report", &["last", "--format", "json", "--out", "-"]);
    page.expect(0);
    for expected in [
        "Metrics of the service",
        "Counters of the service, increase per second",
        "\"queue_length\"",
        "\"jobs_total\"",
        &format!("127.0.0.1:{port}/metrics: the page never had absent"),
        &format!("127.0.0.1:{port}/host: the answer has no node_disk_reads_completed_total"),
    ] {
        assert!(page.out.contains(expected), "{expected:?} in {}", page.out);
    }
}
