//! Benchmark of pgdyno against wrk: CPU cost and punctuality of requests
//!
//! Runs alternate against one nginx on loopback, which responds with 300 bytes. Ratios are computed within each round;
//! the result is their median. Run `./x bench http`, or `./x bench http quick` for one short round. The comparison
//! includes wrk2 if a program of that name is in the path.

use serde_json::Value;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let quick = std::env::args().any(|it| it == "quick");
    let (rounds, secs) = if quick { (1, 2) } else { (7, 5) };
    let scratch = std::env::temp_dir().join(format!("pgdyno-bench-http-{}", std::process::id()));
    fs::create_dir_all(scratch.join("html"))?;
    // The copy keeps a concurrent build from replacing the measured program.
    let pgdyno = scratch.join("pgdyno");
    fs::copy(env!("CARGO_BIN_EXE_pgdyno"), &pgdyno)?;
    let nginx = Nginx::start(&scratch)?;
    let bench = Bench { pgdyno, nginx: &nginx, rounds, secs };
    println!("{rounds} rounds of {secs} s, interleaved, on {}, 300 bytes\n", version("nginx", "-v")?);
    println!("{:58} {:>8} {:>17} {:>9}", "", "median", "least…greatest", "asked for");
    let measured = bench.run_all(quick);
    drop(nginx);
    fs::remove_dir_all(&scratch)?;
    measured
}

/// nginx with one worker and one process, stopped on drop.
struct Nginx {
    process: Child,
    port: u16,
}

impl Nginx {
    fn start(scratch: &Path) -> Result<Nginx> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let at = scratch.display();
        fs::write(scratch.join("html/body"), "x".repeat(300))?;
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary: String = temporary.iter().map(|it| format!("{it}_temp_path {at}/{it};\n")).collect();
        let configuration = format!(
            "daemon off; master_process off; pid {at}/nginx.pid; error_log {at}/error.log;\n\
             worker_rlimit_nofile 30000;\nevents {{ worker_connections 20000; }}\n\
             http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;\n{temporary}\
             server {{ listen 127.0.0.1:{port} backlog=16384; root {at}/html; }} }}\n"
        );
        let file = scratch.join("nginx.conf");
        fs::write(&file, configuration)?;
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&file).arg("-p").arg(scratch).arg("-e").arg(scratch.join("error.log"));
        let mut process = command.stdin(Stdio::null()).spawn()?;
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = process.try_wait()? {
                let log = fs::read_to_string(scratch.join("error.log")).unwrap_or_default();
                return Err(format!("nginx ended with {status}: {log}").into());
            }
            if Instant::now() > deadline {
                let _ = process.kill();
                return Err("nginx does not listen".into());
            }
            sleep(Duration::from_millis(10));
        }
        Ok(Nginx { process, port })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/body", self.port)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Bench<'a> {
    pgdyno: PathBuf,
    nginx: &'a Nginx,
    rounds: usize,
    secs: u32,
}

/// Result of one run.
struct Run {
    /// User and system time of the whole process.
    cpu_secs: f64,
    requests: f64,
    json: Value,
}

impl Bench<'_> {
    fn run_all(&self, quick: bool) -> Result<()> {
        self.cost()?;
        self.send_lag()?;
        match version("wrk2", "-v") {
            Ok(_) => {
                for slack in ["0us", "100us", "200us", "1ms"] {
                    self.open_cost(slack)?;
                }
            }
            Err(_) => println!("there is no wrk2 in the path to be compared with"),
        }
        // io_uring keeps two slots for each client, and many systems allow 20,000 open files.
        for (driver, max_clients) in [("epoll", 10_000), ("io_uring", 9_900)] {
            self.measure_stall(driver)?;
            self.memory(driver, if quick { 1_000 } else { max_clients })?;
        }
        Ok(())
    }

    /// Compares CPU time per request and throughput with wrk's.
    fn cost(&self) -> Result<()> {
        let drivers = ["epoll", "io_uring"];
        let mut ratios = [(); 4].map(|()| Vec::new());
        let mut cpu_us = [(); 3].map(|()| Vec::new());
        for round in 0..self.rounds {
            let ours = |driver: &str| {
                self.run_pgdyno(&["--driver", driver, "-c", "64", "-T", &self.secs.to_string()])
            };
            // The order alternates, so that drift favours neither program.
            let (wrk, ours) = if round % 2 == 0 {
                let wrk = self.wrk()?;
                (wrk, [ours(drivers[0])?, ours(drivers[1])?])
            } else {
                let uring = ours(drivers[1])?;
                let epoll = ours(drivers[0])?;
                (self.wrk()?, [epoll, uring])
            };
            cpu_us[2].push(1e6 * wrk.cpu_secs / wrk.requests);
            for (k, run) in ours.iter().enumerate() {
                let each = run.cpu_secs / run.requests;
                ratios[k].push(each / (wrk.cpu_secs / wrk.requests));
                ratios[2 + k].push(run.requests / wrk.requests);
                cpu_us[k].push(1e6 * each);
            }
        }
        for (k, asked) in ["≤ 0.85", "≤ 0.74"].into_iter().enumerate() {
            let driver = drivers[k];
            row(&format!("CPU per request ÷ wrk's, 64 connections, {driver}"), &ratios[k], asked);
            row(&format!("requests per second ÷ wrk's, {driver}"), &ratios[2 + k], "");
            row(&format!("CPU per request, µs, {driver}"), &cpu_us[k], "");
        }
        row("CPU per request, µs, wrk", &cpu_us[2], "");
        Ok(())
    }

    /// Compares CPU time per request with wrk2's. Both send at the same rate, and neither spins. wrk2 wakes up once per
    /// millisecond.
    fn open_cost(&self, slack: &str) -> Result<()> {
        let secs = self.secs.to_string();
        let ours = |driver: &str| {
            let open = ["-R", "20000", "--arrivals", "even", "--no-spin", "-c", "64", "-T", &secs];
            self.run_pgdyno(&[&open[..], &["--slack", slack, "--driver", driver]].concat())
        };
        let mut ratios = [(); 2].map(|()| Vec::new());
        let mut lags = [(); 2].map(|()| Vec::new());
        for round in 0..self.rounds {
            // wrk2 sustains this rate. At a rate that it cannot sustain, it falls further and further behind.
            let open = ["-t1", "-c64", &format!("-d{secs}"), "-R20000"];
            let (wrk2, epoll, uring);
            if round % 2 == 0 {
                (wrk2, epoll, uring) = (self.run_peer("wrk2", &open)?, ours("epoll")?, ours("io_uring")?);
            } else {
                (uring, epoll, wrk2) = (ours("io_uring")?, ours("epoll")?, self.run_peer("wrk2", &open)?);
            }
            let each = |it: &Run| it.cpu_secs / it.requests;
            ratios[0].push(each(&epoll) / each(&wrk2));
            ratios[1].push(each(&uring) / each(&wrk2));
            for (lags, run) in lags.iter_mut().zip([&epoll, &uring]) {
                lags.push(run.json["generator"]["send_lag"]["p50_ns"].as_f64().unwrap_or(f64::NAN) / 1e3);
            }
        }
        for (k, driver) in ["epoll", "io_uring"].into_iter().enumerate() {
            row(&format!("CPU at 20,000/s ÷ wrk2's, slack {slack}, {driver}"), &ratios[k], "≤ 1.0");
            row(&format!("send lag at 20,000/s, slack {slack}, median, µs, {driver}"), &lags[k], "≤ 50");
        }
        Ok(())
    }

    fn send_lag(&self) -> Result<()> {
        for driver in ["epoll", "io_uring"] {
            let (mut median, mut p99s, mut ratio) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..self.rounds {
                let secs = self.secs.to_string();
                let open = ["-R", "20000", "--arrivals", "even", "-c", "64", "-T", &secs, "--driver", driver];
                let run = self.run_pgdyno(&open)?;
                let micros = |quantity: &str, q: &str| {
                    run.json["generator"][quantity][q].as_f64().unwrap_or(f64::NAN) / 1e3
                };
                median.push(micros("send_lag", "p50_ns"));
                p99s.push(micros("send_lag", "p99_ns"));
                ratio.push(micros("send_lag", "p99_ns") / micros("jitter", "p99_ns"));
            }
            row(&format!("send lag at 20,000/s, median, µs, {driver}"), &median, "≤ 5");
            row(&format!("send lag at 20,000/s, p99, µs, {driver}"), &p99s, "");
            row(&format!("send lag p99 ÷ the jitter probe's p99, {driver}"), &ratio, "≤ 2");
        }
        Ok(())
    }

    /// Measures a 10 s load during which the service is stopped for 1 s.
    fn measure_stall(&self, driver: &str) -> Result<()> {
        let open = ["-R", "1000", "--arrivals", "even", "-c", "64", "-T", "10", "--driver", driver];
        let process = self.start(&open)?;
        sleep(Duration::from_secs(4));
        self.signal("-STOP")?;
        sleep(Duration::from_secs(1));
        self.signal("-CONT")?;
        let output = process.wait_with_output()?;
        let json: Value = serde_json::from_slice(&output.stdout)?;
        let millis = |q: &str| json["total"]["response"][q].as_f64().unwrap_or(f64::NAN) / 1e6;
        row(&format!("response p99, 1 s of 10 stalled, ms, {driver}"), &[millis("p99_ns")], "900 ± 30");
        row(&format!("response p99.9, 1 s of 10 stalled, ms, {driver}"), &[millis("p999_ns")], "990 ± 20");
        Ok(())
    }

    /// Memory per connection: the difference between the peak resident sizes with many connections and with one.
    fn memory(&self, driver: &str, connections: u32) -> Result<()> {
        let mut sizes = [0.0; 2];
        for (size, clients) in sizes.iter_mut().zip([1, connections]) {
            let client_count = clients.to_string();
            let mut process = self.start(&["-c", &client_count, "-T", "5", "--driver", driver])?;
            let status = format!("/proc/{}/status", process.id());
            while process.try_wait()?.is_none() {
                let text = fs::read_to_string(&status).unwrap_or_default();
                let greatest = text.lines().find_map(|it| it.strip_prefix("VmHWM:"));
                let kib = greatest.and_then(|it| it.split_whitespace().next()?.parse().ok());
                *size = kib.unwrap_or(*size);
                sleep(Duration::from_millis(50));
            }
            let output = process.wait_with_output()?;
            let json: Value = serde_json::from_slice(&output.stdout)?;
            let failed = json["total"]["counts"]["failed"].as_u64().unwrap_or(u64::MAX);
            if failed > 0 {
                return Err(format!("{failed} requests failed with {clients} connections").into());
            }
        }
        let each = (sizes[1] - sizes[0]) / f64::from(connections - 1);
        row(&format!("KiB for each of {connections} connections, {driver}"), &[each], "≤ 20");
        Ok(())
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let status = Command::new("kill").args([signal, &self.nginx.process.id().to_string()]).status()?;
        if status.success() { Ok(()) } else { Err(format!("kill {signal}: {status}").into()) }
    }

    fn start(&self, arguments: &[&str]) -> Result<Child> {
        eprint!(".");
        std::io::stderr().flush()?;
        let mut command = Command::new(&self.pgdyno);
        command.args(["bench", "--json", "-j", "1", "--http", &self.nginx.url()]).args(arguments);
        Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
    }

    fn run_pgdyno(&self, arguments: &[&str]) -> Result<Run> {
        let before = children_secs()?;
        let output = self.start(arguments)?.wait_with_output()?;
        let cpu_secs = children_secs()? - before;
        let json: Value = serde_json::from_slice(&output.stdout)?;
        let requests = json["total"]["counts"]["ok"].as_f64().ok_or("no count of requests")?;
        Ok(Run { cpu_secs, requests, json })
    }

    fn wrk(&self) -> Result<Run> {
        self.run_peer("wrk", &["-t1", "-c64", &format!("-d{}", self.secs)])
    }

    /// Runs wrk or wrk2, whose outputs have the same format.
    fn run_peer(&self, program: &str, arguments: &[&str]) -> Result<Run> {
        eprint!(".");
        let before = children_secs()?;
        let mut command = Command::new(program);
        command.args(arguments).arg(self.nginx.url());
        let output = command.stdin(Stdio::null()).output()?;
        let cpu_secs = children_secs()? - before;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let requests = text.lines().find_map(|it| it.trim().split_once(" requests in "));
        let requests = requests.and_then(|it| it.0.parse().ok()).ok_or("it told no number of requests")?;
        Ok(Run { cpu_secs, requests, json: Value::Null })
    }
}

fn version(program: &str, option: &str) -> Result<String> {
    let output = Command::new(program).arg(option).output()?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned())
}

/// CPU time of all children that have ended: fields 16 and 17 of /proc/self/stat, in ticks of 10 ms (proc(5)).
fn children_secs() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').ok_or("no command in /proc/self/stat")?.1.split_ascii_whitespace();
    let ticks: u64 = fields.skip(13).take(2).map(|it| it.parse::<u64>().unwrap_or(0)).sum();
    Ok(ticks as f64 / 100.0)
}

fn row(label: &str, values: &[f64], asked: &str) {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let range = format!("{:.2}…{:.2}", values[0], values[values.len() - 1]);
    println!("{label:58} {:>8.2} {range:>17} {asked:>9}", values[values.len() / 2]);
}
