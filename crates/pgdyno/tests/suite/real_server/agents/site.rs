//! NATS server with agents, and loads on them

use super::super::test_server::{PGDYNO, SHARED, combined_output};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Process that ends when this is dropped.
pub struct Process(pub Child);

impl Process {
    pub fn start(command: &mut Command) -> Process {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Process(command.spawn().expect("the program can be run"))
    }

    pub fn kill(&mut self) {
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
pub struct Site {
    pub port: u16,
    pub server: Process,
    pub agents: Vec<Process>,
    directory: PathBuf,
}

impl Site {
    pub fn start(agents: u16) -> Site {
        let [port] = free_ports();
        let mut site = Site { port, server: start_server(port), agents: Vec::new(), directory: directory() };
        site.agents = (1..=agents).map(|it| site.start_agent(&format!("a{it}"), &[])).collect();
        site.wait_for("the agents", |text| text.matches("idle").count() == usize::from(agents));
        site
    }

    /// NATS server with this configuration, which has the user `user` or no users, and no agents yet.
    pub fn with_config(port: u16, config: &str) -> Site {
        let directory = directory();
        let path = directory.join("nats.conf");
        fs::write(&path, config).expect("the file can be written");
        Site { port, server: start_server_with(&path), agents: Vec::new(), directory }
    }

    /// File of the server's configuration.
    pub fn config(&self) -> PathBuf {
        self.directory.join("nats.conf")
    }

    /// Writes a file into the directory of the site.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.join(name);
        fs::write(&path, text).expect("the file can be written");
        path
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn start_agent_at(url: &str, name: &str, arguments: &[&str]) -> Process {
        let mut command = Command::new(PGDYNO);
        command.args(["agent", "--nats", url, "--name", name, "--labels", "zone=a"]).args(arguments);
        Process::start(&mut command)
    }

    /// Starts an agent with these environment variables.
    pub fn start_agent_as(url: &str, name: &str, environment: &[(&str, String)]) -> Process {
        let mut command = Command::new(PGDYNO);
        command.args(["agent", "--nats", url, "--name", name]).envs(environment.iter().cloned());
        Process::start(&mut command)
    }

    pub fn start_agent(&self, name: &str, arguments: &[&str]) -> Process {
        Site::start_agent_at(&self.url(), name, arguments)
    }

    pub fn pgdyno(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(PGDYNO);
        command.args(arguments).env("NATS_URL", self.url()).envs(USER).stdin(Stdio::null());
        command.output().expect("pgdyno can be run")
    }

    /// Name of the sessions of this site's loads.
    pub fn application(&self) -> String {
        format!("agents-{}", self.port)
    }

    /// Number of sessions of this site's loads.
    pub fn sessions(&self) -> String {
        let name = self.application();
        let sql = format!("select count(*) from pg_stat_activity where application_name = '{name}'");
        SHARED.connect().value(&sql).expect("the server answers").expect("a count")
    }

    /// Waits until the list of agents is as expected.
    pub fn wait_for(&self, subject: &str, expected: impl Fn(&str) -> bool) {
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
    pub fn bench(&self, name: &str, arguments: &[&str]) -> (Child, PathBuf) {
        let path = self.directory.join(name);
        let output = fs::File::create(&path).expect("a file can be written");
        let mut command =
            SHARED.command(&["-S", "-n", "-c", "6", "-R", "200", "-P", "1", "--nats", &self.url()]);
        command.env("PGAPPNAME", self.application()).envs(USER);
        command.args(arguments).stdout(output.try_clone().expect("a file")).stderr(output);
        (command.spawn().expect("pgdyno can be run"), path)
    }

    pub fn wait_for_output(&self, path: &PathBuf, expected: &str) {
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

/// User of the coordinator. Servers without users ignore it.
const USER: [(&str, &str); 2] = [("NATS_USER", "user"), ("NATS_PASSWORD", "password of user")];

/// Configuration of a NATS server on the loopback interface.
pub struct NatsConfig<'a> {
    pub port: u16,
    /// Users; the password of `x` is `password of x`. Without users, everybody may connect.
    pub users: &'a [&'a str],
    /// Port for routes, and those of all servers of the cluster.
    pub cluster: Option<(u16, &'a [u16])>,
}

impl NatsConfig<'_> {
    pub fn text(&self) -> String {
        let user = |name: &&str| format!("{{ user: \"{name}\", password: \"password of {name}\" }}");
        let users: Vec<String> = self.users.iter().map(user).collect();
        let route = |port: &u16| format!("\"nats://127.0.0.1:{port}\"");
        let cluster = self.cluster.map(|(port, all)| {
            let routes: Vec<String> = all.iter().map(route).collect();
            let routes = routes.join(", ");
            format!("cluster {{ name: test, listen: \"127.0.0.1:{port}\", routes: [{routes}] }}\n")
        });
        let users =
            (!users.is_empty()).then(|| format!("authorization {{ users: [{}] }}\n", users.join(", ")));
        let (port, users, cluster) = (self.port, users.unwrap_or_default(), cluster.unwrap_or_default());
        format!("listen: \"127.0.0.1:{port}\"\n{users}{cluster}")
    }
}

/// New directory for temporary files.
fn directory() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("pgdyno-agents-{}-{number}", std::process::id()));
    fs::create_dir_all(&directory).expect("there is room for temporary files");
    directory
}

/// Different free ports.
pub fn free_ports<const N: usize>() -> [u16; N] {
    // All listeners exist at once, so that no port is used twice.
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.map(|it| it.local_addr().expect("the listener has an address").port())
}

pub fn start_server(port: u16) -> Process {
    Process::start(nats_server().args(["-a", "127.0.0.1", "-p", &port.to_string()]))
}

pub fn start_server_with(config: &Path) -> Process {
    Process::start(nats_server().arg("-c").arg(config))
}

fn nats_server() -> Command {
    let programs = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
    let program = programs.into_iter().find(|it| fs::exists(it).unwrap_or(false));
    Command::new(program.expect("nats-server is installed"))
}

pub fn end(mut run: Child, path: &PathBuf) -> (Option<i32>, String) {
    let status = run.wait().expect("it was started").code();
    (status, fs::read_to_string(path).expect("the file was created"))
}
