//! Agents: loads over NATS, and what happens when a part of the system fails
//!
//! Needs nats-server. Each test has a server and agents of its own, which are stopped by their process ids.

use super::test_server::{PGDYNO, SHARED, combined_output, count};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Process that ends when this is dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Process {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Process(command.spawn().expect("the program can be run"))
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// NATS server and agents.
struct Site {
    port: u16,
    server: Process,
    agents: Vec<Process>,
    directory: PathBuf,
}

impl Site {
    fn start(agents: u16) -> Site {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("pgdyno-agents-{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).expect("there is room for temporary files");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port").port();
        let server = start_server(port);
        let mut site = Site { port, server, agents: Vec::new(), directory };
        site.agents = (1..=agents).map(|it| site.start_agent(&format!("a{it}"), &[])).collect();
        site.wait_for("the agents", |text| text.matches("idle").count() == usize::from(agents));
        site
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    fn start_agent_at(url: &str, name: &str, arguments: &[&str]) -> Process {
        let mut command = Command::new(PGDYNO);
        command.args(["agent", "--nats", url, "--name", name, "--labels", "zone=a"]).args(arguments);
        Process::start(&mut command)
    }

    fn start_agent(&self, name: &str, arguments: &[&str]) -> Process {
        Site::start_agent_at(&self.url(), name, arguments)
    }

    fn pgdyno(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(PGDYNO);
        command.args(arguments).env("NATS_URL", self.url()).stdin(Stdio::null());
        command.output().expect("pgdyno can be run")
    }

    /// Name of the sessions of this site's loads.
    fn application(&self) -> String {
        format!("agents-{}", self.port)
    }

    /// Number of sessions of this site's loads.
    fn sessions(&self) -> String {
        let name = self.application();
        let sql = format!("select count(*) from pg_stat_activity where application_name = '{name}'");
        SHARED.connect().value(&sql).expect("the server answers").expect("a count")
    }

    /// Waits until the list of agents is as expected.
    fn wait_for(&self, subject: &str, expected: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        loop {
            let list = combined_output(&self.pgdyno(&["agents"]));
            if expected(&list) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{subject}: {list}");
        }
    }

    /// Starts `bench` on agents. Its output goes to a file, which [`Site::wait_for_output`] reads.
    fn bench(&self, name: &str, arguments: &[&str]) -> (Child, PathBuf) {
        let path = self.directory.join(name);
        let output = fs::File::create(&path).expect("a file can be written");
        let mut command =
            SHARED.command(&["-S", "-n", "-c", "6", "-R", "200", "-P", "1", "--nats", &self.url()]);
        command.env("PGAPPNAME", self.application());
        command.args(arguments).stdout(output.try_clone().expect("a file")).stderr(output);
        (command.spawn().expect("pgdyno can be run"), path)
    }

    fn wait_for_output(&self, path: &PathBuf, expected: &str) {
        let begin = Instant::now();
        loop {
            let text = fs::read_to_string(path).expect("the file was created");
            if text.contains(expected) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no {expected}: {text}");
            thread::yield_now();
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn start_server(port: u16) -> Process {
    let programs = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
    let program = programs.into_iter().find(|it| fs::exists(it).unwrap_or(false));
    let mut command = Command::new(program.expect("nats-server is installed"));
    Process::start(command.args(["-a", "127.0.0.1", "-p", &port.to_string()]))
}

fn end(mut run: Child, path: &PathBuf) -> (Option<i32>, String) {
    let status = run.wait().expect("it was started").code();
    (status, fs::read_to_string(path).expect("the file was created"))
}

/// With one seed, agents send the arrivals and operations of one process.
#[test]
fn local_agents_measure_what_one_process_measures() {
    let load = ["-b", "select-only@3", "-b", "simple-update", "-c", "6", "-j", "3", "-R", "300", "-T", "2"];
    let seed = ["--random-seed", "7", "--failures-detailed"];
    let (one, _) = SHARED.measure(&[&load[..], &seed].concat());
    let (three, status) = SHARED.measure(&[&load[..], &seed, &["--local-agents", "3"]].concat());
    assert_eq!(status, 0, "{three}");
    assert!(count(&one, "ok") > 400);
    assert_eq!(count(&three, "ok"), count(&one, "ok"));
    let arrivals = |document: &serde_json::Value| -> Vec<u64> {
        let scripts = document["scripts"].as_array().expect("operations");
        scripts.iter().map(|it| it["counts"]["ok"].as_u64().expect("a count")).collect()
    };
    assert_eq!(arrivals(&three), arrivals(&one));
    assert_eq!(three["plan"]["threads"], 3);
}

/// Impossible requests are reported before any load is generated.
#[test]
fn impossible_requests_are_refused_at_once() {
    let site = Site::start(2);
    let url = site.url();
    let check = |arguments: &[&str], expected: &str| {
        let output = SHARED.bench(&[&["-S", "-n", "-T", "1"], arguments].concat());
        let text = combined_output(&output);
        assert!(!output.status.success() && text.contains(expected), "{arguments:?}: {text}");
    };
    let on = |arguments: &[&'static str]| -> Vec<String> {
        ["--nats", &url].into_iter().chain(arguments.iter().copied()).map(str::to_owned).collect()
    };
    let check_on = |arguments: &[&'static str], expected: &str| {
        check(&on(arguments).iter().map(String::as_str).collect::<Vec<_>>(), expected);
    };
    check_on(&["--agents", "3", "-c", "3"], "3 agents are needed, but only 2 can be leased");
    check_on(&["--agents", "2", "-c", "2", "--label", "zone=b"], "does not have the required label zone");
    check_on(&["--agents", "2", "-c", "1"], "fewer clients (-c) than agents");
    check_on(&["--agents", "2", "-c", "2", "-l"], "-l cannot be used with agents");
    check(&["--agents", "1", "--nats", "nats://127.0.0.1:1"], "no NATS server answers at nats://127.0.0.1:1");
    check(&["--agents", "1", "--nats", "nats://u:secret@127.0.0.1:1"], "contains a password");
    let mut other = site.start_agent("strict", &["--allow", "192.0.2.0/24"]);
    site.wait_for("the third agent", |text| text.contains("strict"));
    check_on(&["--agents", "3", "-c", "3"], "the agent may not load");
    other.kill();
    site.wait_for("idle agents", |text| text.matches("idle").count() == 2 && !text.contains("strict"));
}

/// A killed agent ends the trial, which is invalid. Meanwhile, the agents serve no other coordinator.
#[test]
fn a_killed_agent_makes_the_trial_invalid() {
    (0..rounds().max(1)).for_each(|_| kill_agent());
}

fn kill_agent() {
    let mut site = Site::start(3);
    let (run, path) = site.bench("run", &["-T", "60", "--agents", "3"]);
    site.wait_for_output(&path, "progress: 1.0 s");
    let busy = SHARED.bench(&["-S", "-n", "-T", "1", "-c", "3", "--agents", "3", "--nats", &site.url()]);
    assert!(combined_output(&busy).contains("works for another coordinator"), "{}", combined_output(&busy));
    site.agents[1].kill();
    let (_, text) = end(run, &path);
    assert!(text.contains("INVALID: agent 2 did not complete"), "{text}");
    site.wait_for("idle agents", |text| text.matches("idle").count() == 2);
}

/// A coordinator that is killed leaves nothing running.
#[test]
fn agents_stop_when_the_coordinator_is_killed() {
    (0..rounds().max(1)).for_each(|_| kill_coordinator());
}

fn kill_coordinator() {
    let site = Site::start(3);
    let (mut run, path) = site.bench("run", &["-T", "60", "--agents", "3"]);
    site.wait_for_output(&path, "progress: 1.0 s");
    assert_ne!(site.sessions(), "0");
    run.kill().expect("it runs");
    let killed = Instant::now();
    end(run, &path);
    while site.sessions() != "0" {
        assert!(killed.elapsed() < Duration::from_secs(20), "{} sessions are left", site.sessions());
    }
    println!("no session {:.1} s after the coordinator was killed", killed.elapsed().as_secs_f64());
    site.wait_for("idle agents", |text| text.matches("idle").count() == 3);
}

/// A NATS server that restarts within the silence that is tolerated loses nothing.
#[test]
fn a_restarted_nats_server_loses_nothing() {
    (0..rounds().max(1)).for_each(|_| restart_nats_server());
}

fn restart_nats_server() {
    let load = ["-T", "4", "--random-seed", "7", "--json", "-c", "6", "-j", "3", "-R", "200"];
    let (one, _) = SHARED.measure(&[&["-S"], &load[..]].concat());
    let mut site = Site::start(3);
    let (run, path) = site.bench("run", &[&["--agents", "3"], &load[..]].concat());
    site.wait_for_output(&path, "progress: 1.0 s");
    site.server.kill();
    site.server = start_server(site.port);
    let (_, text) = end(run, &path);
    let begin = text.find('{').unwrap_or_else(|| panic!("no document: {text}"));
    let all: serde_json::Value =
        serde_json::from_str(&text[begin..]).unwrap_or_else(|it| panic!("{it}: {text}"));
    assert_eq!(count(&all, "ok"), count(&one, "ok"));
    assert_eq!(all["generator"]["threads"].as_array().map(Vec::len), Some(3), "{all}");
}

/// Connections that pass through this proxy break silently: bytes are no longer forwarded, but nothing is closed.
struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Proxy {
    fn start(target: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("the listener has an address").port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let ways = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
                for (from, to) in ways {
                    let (from, to, cut) = (from.expect("a socket"), to.expect("a socket"), Arc::clone(&cut));
                    thread::spawn(move || forward(from, to, &cut));
                }
            }
        });
        Proxy { port, is_cut }
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut buffer = [0; 65536];
    while let Ok(length) = from.read(&mut buffer) {
        let forwards = !is_cut.load(Ordering::Relaxed);
        if length == 0 || (forwards && to.write_all(&buffer[..length]).is_err()) {
            return;
        }
    }
}

/// Number of rounds of the tests that take longer, which `./x agents` sets.
fn rounds() -> u32 {
    std::env::var("PGDYNO_AGENT_ROUNDS").map_or(0, |it| it.parse().expect("a number"))
}

/// Runs a load on three agents, and disturbs it with `disturb` after a second. The trial must be invalid because of agent
/// 2, and all sessions must end within the time.
fn check_disturbed(site: &Site, disturb: impl FnOnce(&Site)) {
    let (run, path) = site.bench("disturbed", &["-T", "60", "--agents", "3"]);
    site.wait_for_output(&path, "progress: 1.0 s");
    let begin = Instant::now();
    disturb(site);
    let (_, text) = end(run, &path);
    assert!(text.contains("INVALID: agent 2 did not complete"), "{text}");
    while site.sessions() != "0" {
        assert!(begin.elapsed() < Duration::from_secs(20), "{} sessions are left", site.sessions());
    }
    println!("no session {:.1} s after the fault", begin.elapsed().as_secs_f64());
}

/// An agent that is frozen for 5 s stops by itself when it continues, and serves the next coordinator.
#[test]
fn a_frozen_agent_stops_when_it_continues() {
    for _ in 0..rounds() {
        freeze_agent();
    }
}

fn freeze_agent() {
    let site = Site::start(3);
    let send = |signal: &str| {
        let pid = site.agents[1].0.id().to_string();
        assert!(Command::new("/bin/kill").args([signal, &pid]).status().expect("kill can be run").success());
    };
    check_disturbed(&site, |_| {
        send("-STOP");
        thread::sleep(Duration::from_secs(5));
        send("-CONT");
    });
    site.wait_for("idle agents", |text| text.matches("idle").count() == 3);
}

/// An agent that is cut off from NATS, but not from the server under test, stops by itself.
#[test]
fn an_agent_without_nats_stops_by_itself() {
    for _ in 0..rounds() {
        cut_agent_off();
    }
}

fn cut_agent_off() {
    let mut site = Site::start(1);
    let proxy = Proxy::start(site.port);
    let direct = site.url();
    site.agents.push(Site::start_agent_at(&format!("nats://127.0.0.1:{}", proxy.port), "a2", &[]));
    site.agents.push(Site::start_agent_at(&direct, "a3", &[]));
    site.wait_for("the agents", |text| text.matches("idle").count() == 3);
    check_disturbed(&site, |_| proxy.is_cut.store(true, Ordering::Relaxed));
}
