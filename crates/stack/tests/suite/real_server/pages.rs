//! Pages of nginx, PHP-FPM and node_exporter
//!
//! A test is skipped if its program is not installed: `apt-get install --no-install-recommends nginx-light php-fpm
//! prometheus-node-exporter`.

use super::scratch::Scratch;
use model::plan::{Service, StatsAddress, StatsForm, StatsPage};
use model::product;
use model::{Nanos, Sample};
use stack::page::SampledPage;
use stack::sampler::{Observation, Sampler, SamplingTarget, SamplingTargetKind};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use wire::http::Url;

const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Paths of PHP-FPM in several versions of Debian.
pub const PHP_FPM: [&str; 4] =
    ["/usr/sbin/php-fpm8.2", "/usr/sbin/php-fpm8.3", "/usr/sbin/php-fpm8.4", "/usr/sbin/php-fpm"];

/// Program that ends with the test.
struct Program(Child);

impl Program {
    /// Starts a program. Returns `None` and prints a note if none of these files exists.
    fn start(files: &[&str], arguments: &[&str]) -> Option<Program> {
        let Some(file) = installed(files) else {
            eprintln!("skipped: none of {files:?} is installed");
            return None;
        };
        let child = Command::new(file).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Some(Program(child.unwrap()))
    }

    fn await_port(&mut self, port: u16) {
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert_eq!(self.0.try_wait().unwrap(), None, "the program ended");
            assert!(start.elapsed() < TEST_TIMEOUT, "nothing listens on port {port}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both masters stop their workers when they receive SIGTERM.
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

fn installed(files: &[&str]) -> Option<PathBuf> {
    files.iter().map(PathBuf::from).find(|it| it.is_file())
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Samples these targets once at the beginning and once at the end. Returns the samples, and the missing probes.
fn sample(targets: Vec<SamplingTarget>) -> (Vec<Sample>, Vec<String>) {
    let (out, observations) = channel();
    Sampler::start(targets, || Nanos::from_secs(1), out).stop();
    let (mut samples, mut missing) = (Vec::new(), Vec::new());
    for observation in observations {
        match observation {
            Observation::Samples(all) => samples.extend(all),
            Observation::Missing { node, probe, reason } => {
                missing.push(format!("{node} {probe} {}", reason.describe()));
            }
            other @ (Observation::Event(_) | Observation::Deadlock(_) | Observation::Note { .. }) => {
                panic!("{other:?}")
            }
        }
    }
    (samples, missing)
}

fn service(pages: Vec<SampledPage>) -> SamplingTarget {
    SamplingTarget { pages, ..SamplingTarget::new("web", SamplingTargetKind::Node(&product::SERVICE)) }
}

fn host(url: &str) -> SamplingTarget {
    SamplingTarget {
        pages: vec![SampledPage::of_host(url)],
        ..SamplingTarget::new(url, SamplingTargetKind::RemoteHost)
    }
}

fn value(samples: &[Sample], series: &str, label: &str) -> Option<f64> {
    samples.iter().rev().find(|it| it.series == series && it.label == label).map(|it| it.value)
}

fn fpm_configuration(folder: &Path, port: u16, status: u16) -> String {
    format!(
        "[global]\nerror_log = {0}/fpm.log\ndaemonize = no\n\
         [www]\nuser = nobody\ngroup = nogroup\nlisten = 127.0.0.1:{port}\npm = static\npm.max_children = 1\n\
         pm.status_path = /status\npm.status_listen = 127.0.0.1:{status}\n",
        folder.display(),
    )
}

fn nginx_configuration(folder: &Path, port: u16, fpm: u16, status: u16) -> String {
    let folder = folder.display();
    let mut temporary = String::new();
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        temporary += &format!("{name}_temp_path {folder}/{name}; ");
    }
    let parameters = "include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;";
    format!(
        "daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;\n\
         events {{ worker_connections 64; }}\n\
         http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{port}; root {folder};\n\
         location = /nginx {{ stub_status; }}\n\
         location = /status {{ {parameters} fastcgi_pass 127.0.0.1:{status}; }}\n\
         location ~ [.]php$ {{ {parameters} fastcgi_pass 127.0.0.1:{fpm}; }} }} }}\n"
    )
}

/// A request to a URL whose response is read later.
fn begin_request(port: u16, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n").unwrap();
    stream
}

/// With one process and three slow requests, PHP-FPM has one busy process and a queue of two.
#[test]
fn samples_nginx_and_php_fpm() {
    let scratch = Scratch::new("pages");
    let folder = scratch.path.as_path();
    let (port, fpm, status) = (free_port(), free_port(), free_port());
    let (fpm_file, nginx_file) = (folder.join("fpm.conf"), folder.join("nginx.conf"));
    let gate = folder.join("gate");
    std::fs::write(&gate, "").unwrap();
    let script =
        format!("<?php while (file_exists('{}')) {{ usleep(10000); clearstatcache(); }}", gate.display());
    std::fs::write(folder.join("slow.php"), script).unwrap();
    std::fs::write(&fpm_file, fpm_configuration(folder, fpm, status)).unwrap();
    std::fs::write(&nginx_file, nginx_configuration(folder, port, fpm, status)).unwrap();
    let (fpm_file, nginx_file) = (fpm_file.to_str().unwrap(), nginx_file.to_str().unwrap());
    let Some(mut php) = Program::start(&PHP_FPM, &["-F", "-y", fpm_file]) else { return };
    let Some(mut nginx) = Program::start(&["/usr/sbin/nginx"], &["-c", nginx_file]) else { return };
    php.await_port(fpm);
    php.await_port(status);
    nginx.await_port(port);

    let page = |form, path: &str| StatsPage {
        form,
        address: StatsAddress::Path(path.to_owned()),
        program: None,
        series: Vec::new(),
    };
    let base = Url::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let stats = vec![
        page(StatsForm::PhpFpm, "/status?json"),
        page(StatsForm::StubStatus, "/nginx"),
        page(StatsForm::Prometheus, "/nginx"),
        page(StatsForm::Pgdyno, "/nowhere"),
    ];
    let web = Service { stats, ..Service::default() };
    let sampled = || sample(vec![service(SampledPage::of_service(&web, &base, &[]))]);
    let mut requests: Vec<TcpStream> = (0..3).map(|_| begin_request(port, "/slow.php")).collect();
    let start = Instant::now();
    let (samples, missing) = loop {
        let (samples, missing) = sampled();
        if value(&samples, "service_threads_waiting", "www") == Some(2.0) {
            break (samples, missing);
        }
        assert!(start.elapsed() < TEST_TIMEOUT, "{samples:#?}\n{missing:#?}");
    };
    for (series, expected) in
        [("service_threads_size", 1.0), ("service_threads_busy", 1.0), ("service_threads_idle", 0.0)]
    {
        assert_eq!(value(&samples, series, "www"), Some(expected), "{series}");
    }
    // Three clients, and pgdyno itself.
    assert!(value(&samples, "service_connections", "active") >= Some(4.0), "{samples:#?}");
    assert_eq!(value(&samples, "service_connections_dropped", ""), Some(0.0));
    // Each unreadable page is reported once, and has no figures.
    let mut missing = missing;
    missing.sort();
    let address = format!("127.0.0.1:{port}");
    assert_eq!(
        missing,
        [
            format!("web connection probe-page({address}/nowhere, probe-page-status(/nowhere, 404))"),
            format!(
                "web service_prometheus probe-page({address}/nginx, probe-unreadable(1, number after the name))"
            ),
        ]
    );
    assert!(samples.iter().all(|it| !it.series.starts_with("service_pool")), "{samples:#?}");
    std::fs::remove_file(&gate).unwrap();
    for request in &mut requests {
        let mut response = String::new();
        request.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    }
}

/// Serves a page that `body` computes, as long as the guard exists.
struct PageServer {
    port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl PageServer {
    fn start(body: impl Fn(usize) -> String + Send + 'static) -> PageServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let run = move || {
            for (number, stream) in listener.incoming().enumerate() {
                if is_stopped.load(Ordering::Relaxed) {
                    return;
                }
                let mut stream = stream.unwrap();
                let mut request = Vec::new();
                let mut byte = [0];
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                    request.push(byte[0]);
                }
                let body = body(number);
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
            }
        };
        PageServer { port, stop, thread: Some(std::thread::spawn(run)) }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/metrics", self.port)
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let _ = self.thread.take().unwrap().join();
    }
}

/// This machine is sampled already, so its node_exporter is reported. Under another name, it is another host, which two
/// addresses lead to.
#[test]
fn samples_each_host_once() {
    let port = free_port();
    let listen = format!("--web.listen-address=127.0.0.1:{port}");
    let Some(mut exporter) = Program::start(&["/usr/bin/prometheus-node-exporter"], &[&listen]) else {
        return;
    };
    exporter.await_port(port);
    let own = format!("http://127.0.0.1:{port}/metrics");
    let (samples, missing) = sample(vec![host(&own)]);
    assert_eq!(samples, [], "the host is this machine");
    assert_eq!(
        missing,
        [format!("{own} exporter probe-page(127.0.0.1:{port}/metrics, probe-same-host(host))")]
    );

    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let url = Url::parse(&own).unwrap();
    let other = move |_| {
        let page = stack::http::get(&url, TEST_TIMEOUT).unwrap().body;
        let own_name = format!("nodename=\"{name}\"");
        String::from_utf8(page).unwrap().replace(&own_name, "nodename=\"another\"")
    };
    let server = PageServer::start(other);
    let again = format!("http://localhost:{}/metrics", server.port);
    let (samples, missing) = sample(vec![host(&server.url()), host(&again)]);
    assert!(missing.len() == 1 && missing[0].contains("probe-same-host("), "{missing:?}");
    let hosts: std::collections::HashSet<&str> = samples.iter().map(|it| &*it.node).collect();
    assert_eq!(hosts.len(), 1, "{hosts:?}");
    for series in ["host_cpu", "host_memory", "host_load_1m", "network_received_bytes"] {
        assert!(samples.iter().any(|it| it.series == series && it.value > 0.0), "{series} in {samples:#?}");
    }
}

/// A page that loses its series or its form gives no figures, and each loss is reported once.
#[test]
fn changed_pages_are_reported_once() {
    let page = |number| match number {
        0 => "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 7\nnode_load1 1\n".to_owned(),
        _ => "<html>maintenance</html>".to_owned(),
    };
    let server = PageServer::start(page);
    let (out, observations) = channel();
    let sampler = Sampler::start(vec![host(&server.url())], || Nanos::from_secs(1), out);
    let (mut samples, mut missing) = (Vec::new(), Vec::new());
    let mut take = |observation| match observation {
        Observation::Samples(all) => samples.extend(all),
        Observation::Missing { probe, reason, .. } => missing.push(format!("{probe} {}", reason.describe())),
        other @ (Observation::Event(_) | Observation::Deadlock(_) | Observation::Note { .. }) => {
            panic!("{other:?}")
        }
    };
    // The first page lacks three families, and the second page has no metrics.
    let mut reports = 0;
    while reports < 4 {
        let observation = observations.recv_timeout(TEST_TIMEOUT).unwrap();
        reports += usize::from(matches!(observation, Observation::Missing { .. }));
        take(observation);
    }
    sampler.stop();
    observations.iter().for_each(take);
    let address = format!("127.0.0.1:{}/metrics", server.port);
    let report = |probe: &str, line: &str, expected: &str| {
        format!("{probe} probe-page({address}, probe-unreadable({line}, {expected}))")
    };
    assert_eq!(
        missing,
        [
            report("exporter_memory", "none", "node_memory_MemTotal_bytes"),
            report("exporter_disk", "none", "node_disk_reads_completed_total"),
            report("exporter_network", "none", "node_network_receive_bytes_total"),
            report("exporter_cpu", "1", "name of a metric"),
        ]
    );
    let shown: Vec<String> =
        samples.iter().map(|it| format!("{} {} {}", it.series, it.label, it.value)).collect();
    assert_eq!(shown, ["host_cpu idle 7", "host_load_1m  1"]);
}

/// Named metrics are stored. One that the page never had is reported at the end.
#[test]
fn stores_named_metrics() {
    let server = PageServer::start(|_| {
        "# TYPE jobs_total counter\njobs_total{q=\"a\"} 7\nlength 2\n# EOF\n".to_owned()
    });
    let page = StatsPage {
        form: StatsForm::Prometheus,
        address: StatsAddress::Port(server.port, "/metrics?key=secret".to_owned()),
        program: None,
        series: ["jobs_total", "length", "absent"].map(str::to_owned).to_vec(),
    };
    let base = Url::parse("http://127.0.0.1:1").unwrap();
    let web = Service { stats: vec![page], ..Service::default() };
    let (samples, missing) = sample(vec![service(SampledPage::of_service(&web, &base, &[]))]);
    assert_eq!(value(&samples, "service_counter", "jobs_total{q=\"a\"}"), Some(7.0));
    assert_eq!(value(&samples, "service_metric", "length"), Some(2.0));
    let address = format!("127.0.0.1:{}/metrics", server.port);
    assert_eq!(missing, [format!("web service_metrics probe-page({address}, probe-no-metrics(absent))")]);
}
