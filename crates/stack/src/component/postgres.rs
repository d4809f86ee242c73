//! Temporary PostgreSQL server

mod stored;

use super::program::ProgramInfo;
use super::{Component, InvalidNode, LaunchSpec, NodeContext, host_and_port, with_settings};
use crate::client::{Address, Connection, Error, Target};
use crate::find::Installation;
use crate::log_parser::LogFormat;
use crate::supervisor::{End, Launch, NodeError, NodeId, Readiness, Sig, StopStep, Supervisor, free_port};
use crate::tls_files::TlsFiles;
use model::message;
use model::plan::{Limits, NodeKind, Transport};
use model::product::{self, Product};
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use wire::Code;
use wire::pg::{Login, Secret};

/// PostgreSQL server that pgdyno created. It is stopped when its [`Supervisor`] is dropped.
#[derive(Debug)]
pub struct Postgres {
    pub node: NodeId,
    pub installation: Installation,
    pub port: u16,
    pub data: PathBuf,
    /// Path of the data directory in pgdyno's own mount namespace.
    pub local_data: PathBuf,
    /// Directory of the server's Unix socket.
    pub sockets: PathBuf,
    password: Secret,
    settings: Settings,
    /// Cluster manager that starts and stops the server in place of pgdyno.
    pub manager: Option<Box<Launch>>,
    /// Node that first used this data. Base backups have the same id as their origin; each new cluster has another id.
    pub cluster: NodeId,
}

/// Settings of a temporary server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the node, of its data directory and of its log.
    pub name: String,
    pub max_connections: u32,
    /// Additional lines of `postgresql.conf`; they override the defaults.
    pub extra_lines: Vec<(String, String)>,
    /// Certificate, if clients may use TLS.
    pub tls: Option<TlsFiles>,
    /// Resource limits.
    pub limits: Limits,
    /// True if the server's processes get separate namespaces, so that all of them can be killed or paused at once.
    pub isolated: bool,
    /// TCP address on which the server listens, in addition to its Unix socket.
    pub address: Ipv4Addr,
    /// Directory of the server's separate disk, if it has one: see `Supervisor::disk`.
    pub disk: Option<PathBuf>,
    /// Directory of programs with a separate clock, if the server has one: see `Supervisor::separate_clock`.
    pub programs: Option<PathBuf>,
    /// Function that returns a port to listen on. It is called again if the port is taken.
    pub ports: fn() -> std::io::Result<u16>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            name: "postgres".to_owned(),
            max_connections: 200,
            extra_lines: Vec::new(),
            tls: None,
            limits: Limits::default(),
            isolated: false,
            address: Ipv4Addr::LOCALHOST,
            disk: None,
            programs: None,
            ports: free_port,
        }
    }
}

/// Name of the superuser and of its database.
pub(crate) const SUPERUSER: &str = "postgres";
/// File in the data directory that makes the server a standby.
const STANDBY_SIGNAL: &str = "standby.signal";
/// Timeout for start-up; a slow disk needs time to write the 40 MB of an empty cluster.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// SQLSTATE (`lock_file_exists`) and severity of the log line that appears while orphans of a killed postmaster still
/// use its shared memory.
const LOCK_FILE_EXISTS: &str = "F0001 FATAL";
/// Timeout for the orphans of a killed postmaster to exit. They exit within milliseconds, or when their statements end.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

impl Postgres {
    /// Creates an empty cluster, starts it, and returns when it answers queries.
    ///
    /// The server is as durable as a production server: `fsync` and `full_page_writes` stay on. It listens only on
    /// loopback and on a Unix socket in a private directory. Both require SCRAM authentication.
    pub fn start(
        supervisor: &mut Supervisor,
        installation: &Installation,
        settings: &Settings,
    ) -> Result<Postgres, NodeError> {
        let name = &settings.name;
        let password =
            random_password().map_err(|it| NodeError::new(name, message!("attempt-get-password"), &it))?;
        let mut postgres = Postgres::new(supervisor, installation, settings, password);
        postgres.initdb(supervisor)?;
        postgres.launch_on_free_port(supervisor)?;
        postgres.cluster = postgres.node;
        Ok(postgres)
    }

    /// Creates a server without data that does not run yet.
    pub fn new(
        supervisor: &Supervisor,
        installation: &Installation,
        settings: &Settings,
        password: Secret,
    ) -> Postgres {
        let (data, reach) = match &settings.disk {
            // The data is in a subdirectory of the disk, because a new base backup removes the data directory.
            Some(it) => (it.join("data"), supervisor.host_path(&it.join("data"))),
            None => (supervisor.home().join(&settings.name), supervisor.home().join(&settings.name)),
        };
        Postgres {
            node: NodeId(0),
            installation: installation.clone(),
            port: 0,
            data,
            local_data: reach,
            sockets: supervisor.home(),
            password,
            settings: settings.clone(),
            manager: None,
            cluster: NodeId(0),
        }
    }

    /// Copies this running server's data into a new server by `pg_basebackup`. Once launched, the copy follows the
    /// primary that `settings` names.
    pub fn base_backup(
        &self,
        supervisor: &mut Supervisor,
        settings: &Settings,
    ) -> Result<Postgres, NodeError> {
        let mut copy = Postgres::new(supervisor, &self.installation, settings, self.password.clone());
        copy.cluster = self.cluster;
        copy.base_backup_from(supervisor, self.port)?;
        Ok(copy)
    }

    /// Replaces the server's data with a base backup of the server on port `from`. All copies share the socket
    /// directory and the password.
    pub fn base_backup_from(&self, supervisor: &mut Supervisor, from: u16) -> Result<(), NodeError> {
        let failure = |it: std::io::Error| NodeError::new(self.name(), message!("attempt-copy-data"), &it);
        if self.local_data.exists() {
            std::fs::remove_dir_all(&self.local_data).map_err(failure)?;
        }
        let name = format!("{}-copy", self.name());
        let mut launch = Launch::new(&name, self.program("pg_basebackup"), &supervisor.home())
            .as_user(supervisor.user())
            .args(["--checkpoint=fast", "--wal-method=stream", "--no-sync", "--no-password"])
            .args(["--username", SUPERUSER, "--port", &from.to_string(), "--host"])
            .arg(&self.sockets)
            .arg("--pgdata")
            .arg(&self.data);
        launch.secrets.push(("PGPASSWORD".to_owned(), self.password.clone()));
        supervisor.run(launch, READY_TIMEOUT)?;
        self.create_standby_signal(supervisor)
    }

    /// Runs `pg_rewind` against the server on port `to`, and makes this server a standby.
    ///
    /// This server must have ended. If it crashed, pg_rewind first performs crash recovery.
    pub fn rewind(&self, supervisor: &mut Supervisor, to: u16) -> Result<(), NodeError> {
        let config = supervisor.directory().join(config_file_name(self.name()));
        let name = format!("{}-rewind", self.name());
        let source = format!(
            "host='{}' port={to} user={SUPERUSER} dbname={SUPERUSER} application_name=pgdyno",
            self.sockets.display()
        );
        let mut launch = Launch::new(&name, self.program("pg_rewind"), &supervisor.home())
            .as_user(supervisor.user())
            .args(["--no-sync", "--source-server", &source, "--target-pgdata"])
            .arg(&self.data)
            .arg("--config-file")
            .arg(config);
        launch.secrets.push(("PGPASSWORD".to_owned(), self.password.clone()));
        supervisor.run(launch, READY_TIMEOUT)?;
        self.create_standby_signal(supervisor)
    }

    /// Makes the server a standby from its next start on.
    pub fn create_standby_signal(&self, supervisor: &Supervisor) -> Result<(), NodeError> {
        let failure =
            |it: std::io::Error| NodeError::new(self.name(), message!("attempt-become-standby"), &it);
        let path = self.local_data.join(STANDBY_SIGNAL);
        std::fs::write(&path, "").map_err(failure)?;
        match supervisor.user() {
            Some(it) => std::os::unix::fs::chown(&path, Some(it.uid), Some(it.gid)).map_err(failure),
            None => Ok(()),
        }
    }

    /// Makes the server a primary from its next start on.
    pub fn remove_standby_signal(&self) {
        // Ignore errors, because the file may not exist.
        let _ = std::fs::remove_file(self.local_data.join(STANDBY_SIGNAL));
    }

    /// Replaces the additional settings. A running server reloads those that need no restart.
    pub fn reload_with(
        &mut self,
        supervisor: &mut Supervisor,
        more: Vec<(String, String)>,
    ) -> Result<(), NodeError> {
        self.settings.extra_lines = more;
        self.configure(supervisor)?;
        if supervisor.end_of(self.node).is_none() { supervisor.signal(self.node, Sig::Hup) } else { Ok(()) }
    }

    /// Starts the server on a free port. If another program has taken the port meanwhile, the server fails at once, and
    /// the next port is tried.
    pub fn launch_on_free_port(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        self.configure(supervisor)?;
        for attempt in 1.. {
            self.port = (self.settings.ports)()
                .map_err(|it| NodeError::new(self.name(), message!("attempt-get-port"), &it))?;
            match self.launch(supervisor) {
                Err(failure)
                    if attempt < 5 && failure.log.iter().any(|it| it.contains("Address already in use")) => {}
                other => return other,
            }
        }
        unreachable!("the last attempt returns")
    }

    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Current settings of the server.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Restarts the server with other settings, on the same data and port.
    pub fn reconfigure(&mut self, supervisor: &mut Supervisor, settings: &Settings) -> Result<(), NodeError> {
        self.stop(supervisor)?;
        self.settings = settings.clone();
        self.configure(supervisor)?;
        self.launch(supervisor)
    }

    /// Restarts the server on the same port. Stops it first if it runs.
    pub fn restart(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        self.stop(supervisor)?;
        let begun = Instant::now();
        loop {
            let launched = self.launch(supervisor);
            let held = |error: &NodeError| error.log.iter().any(|it| it.contains(LOCK_FILE_EXISTS));
            match launched {
                Err(error) if held(&error) && begun.elapsed() < ORPHAN_TIMEOUT => {
                    thread::sleep(RETRY_INTERVAL);
                }
                done => return done,
            }
        }
    }

    /// Performs a fast shutdown: sessions are ended, and all data is written to disk.
    pub fn stop(&self, supervisor: &mut Supervisor) -> Result<End, NodeError> {
        match supervisor.end_of(self.node) {
            Some(end) => Ok(end),
            None => supervisor.stop(self.node),
        }
    }

    /// Superuser login over the Unix socket.
    pub fn target(&self) -> Target {
        self.superuser_target(Address::Unix(self.sockets.join(format!(".s.PGSQL.{}", self.port))))
    }

    /// Superuser login over TCP.
    pub fn target_tcp(&self) -> Target {
        self.superuser_target(Address::Tcp(SocketAddr::from((self.settings.address, self.port))))
    }

    /// Password of the superuser.
    pub fn password(&self) -> &Secret {
        &self.password
    }

    /// Environment variables `PGHOST`, `PGPORT`, … for a client program such as pgbench.
    pub fn client_environment(&self) -> [(&'static str, String); 5] {
        [
            ("PGHOST", self.sockets.display().to_string()),
            ("PGPORT", self.port.to_string()),
            ("PGUSER", SUPERUSER.to_owned()),
            ("PGDATABASE", SUPERUSER.to_owned()),
            ("PGPASSWORD", self.password.reveal().to_owned()),
        ]
    }

    fn superuser_target(&self, address: Address) -> Target {
        let mut login = Login::new(SUPERUSER, SUPERUSER);
        login.password = Some(self.password.clone());
        login.send_cancel = true;
        login.parameters.push(("application_name".to_owned(), "pgdyno".to_owned()));
        Target::new(address, Arc::new(login))
    }

    fn initdb(&self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        let attempt =
            |it: std::io::Error| NodeError::new(self.name(), message!("attempt-write-password-file"), &it);
        let password =
            supervisor.private_file("password", self.password.reveal().as_bytes()).map_err(attempt)?;
        let launch =
            Launch::new(&format!("{}-initdb", self.name()), self.program("initdb"), &supervisor.home())
                .as_user(supervisor.user())
                .args(initdb_arguments())
                // An empty cluster need not survive a crash of the machine.
                .arg("--no-sync")
                .arg("--pwfile")
                .arg(&password)
                .arg("--pgdata")
                .arg(&self.data);
        let result = supervisor.run(launch, READY_TIMEOUT);
        std::fs::remove_file(&password).map_err(attempt)?;
        result?;
        // In addition to loopback, permit the server's separate network, which contains only nodes of this stack.
        let path = self.local_data.join("pg_hba.conf");
        let more = "host all all samenet scram-sha-256\nhost replication all samenet scram-sha-256\n";
        let opened = std::fs::OpenOptions::new().append(true).open(path);
        opened.and_then(|mut it| it.write_all(more.as_bytes())).map_err(attempt)
    }

    fn configure(&self, supervisor: &Supervisor) -> Result<(), NodeError> {
        let text = configuration(&self.settings, physical_memory());
        let failure = |it: std::io::Error| NodeError::new(self.name(), message!("attempt-configure"), &it);
        // Remove the file, which an earlier cluster of this name may have left.
        let name = config_file_name(self.name());
        let _ = std::fs::remove_file(supervisor.directory().join(&name));
        supervisor.private_file(&name, text.as_bytes()).map(drop).map_err(failure)
    }

    fn launch(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        self.spawn(supervisor)?;
        self.await_ready(supervisor)
    }

    /// Waits until the server answers queries.
    pub fn await_ready(&self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        let target = self.target();
        supervisor.await_ready(self.node, READY_TIMEOUT, || check_ready(&target))
    }

    /// Starts the server or its manager. Does not wait until it is ready.
    pub fn spawn(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        if let Some(manager) = &self.manager {
            self.node = supervisor.launch(Launch::clone(manager))?;
            return Ok(());
        }
        let mut launch = Launch::new(self.name(), self.programs().join("postgres"), &supervisor.home())
            .as_user(supervisor.user())
            .limited(&self.settings.limits)
            .args(self.arguments(supervisor));
        launch.stop = stop_steps();
        launch.orphaned = Sig::Quit;
        launch.isolated = self.settings.isolated;
        launch.address = self.own_address();
        self.node = supervisor.launch(launch)?;
        Ok(())
    }

    /// Returns the arguments of `postgres`.
    pub fn arguments(&self, supervisor: &Supervisor) -> Vec<String> {
        let config = supervisor.directory().join(config_file_name(self.name()));
        let sockets = self.sockets.display().to_string();
        server_arguments(&config, &self.data, &sockets, &self.port.to_string())
    }

    /// Address of the server in its separate network, if it has one.
    pub fn own_address(&self) -> Option<Ipv4Addr> {
        Some(self.settings.address).filter(|it| !it.is_loopback())
    }

    /// Lines of the server's `postgresql.conf`, additional settings included.
    pub fn configuration_lines(&self) -> Vec<(String, String)> {
        configuration_lines(&self.settings, physical_memory())
    }

    /// Directory of the programs that run the server.
    pub fn programs(&self) -> &Path {
        self.settings.programs.as_ref().unwrap_or(&self.installation.bin)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.installation.bin.join(name)
    }
}

/// PostgreSQL as part of a chain. [`Postgres`] creates the cluster before the first start.
#[derive(Debug)]
pub struct PostgresComponent;

static NAMES: ProgramInfo = ProgramInfo {
    name: "PostgreSQL",
    program: "postgres",
    package: None,
    version_argument: "--version",
    // The variable holds a directory, because PostgreSQL consists of many programs; `find` searches for them.
    env_var: "PGDYNO_PG_BIN",
    install_hint: || message!("install-package", package = "postgresql postgresql-contrib"),
};

impl Component for PostgresComponent {
    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn product(&self) -> &'static Product {
        &product::POSTGRESQL
    }

    fn log_format(&self) -> LogFormat {
        LogFormat::Postgres
    }

    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, InvalidNode> {
        let NodeKind::Postgres(postgres) = &given.node.kind else {
            unreachable!("the product table selects the component of the node")
        };
        let name = &given.node.name;
        let mut settings = Settings {
            name: name.clone(),
            max_connections: postgres.max_connections,
            extra_lines: postgres.settings.clone(),
            ..Settings::default()
        };
        if given.node.transport == Transport::Tls {
            settings.tls = Some(given.tls.ok_or(InvalidNode::NoCertificate)?.clone());
        }
        // The server also listens on a Unix socket, for the superuser's sessions.
        let (_, port) = host_and_port(given.address);
        let config = given.files.join(config_file_name(name));
        Ok(LaunchSpec {
            files: vec![(config_file_name(name), configuration(&settings, given.memory))],
            arguments: server_arguments(
                &config,
                &given.home.join(name),
                &given.home.display().to_string(),
                &port,
            ),
            environment: Vec::new(),
            secrets: Vec::new(),
            stop: stop_steps(),
            orphaned: Sig::Quit,
            console: None,
            statistics: None,
        })
    }
}

/// Arguments of `initdb` that determine the new cluster.
fn initdb_arguments() -> [&'static str; 8] {
    // C.UTF-8 sorts by bytes and classifies all letters. Every Linux distribution's glibc has it; macOS does not.
    let locale = if cfg!(target_os = "linux") { "C.UTF-8" } else { "C" };
    ["--username", SUPERUSER, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", locale]
}

fn config_file_name(name: &str) -> String {
    format!("{name}.conf")
}

fn server_arguments(config: &Path, data: &Path, sockets: &str, port: &str) -> Vec<String> {
    vec![
        format!("--config-file={}", config.display()),
        "-D".to_owned(),
        data.display().to_string(),
        format!("--unix_socket_directories={sockets}"),
        format!("--port={port}"),
    ]
}

fn stop_steps() -> Vec<StopStep> {
    vec![
        // Fast shutdown: sessions are rolled back and ended, a checkpoint is written.
        StopStep { signal: Sig::Int, timeout: Duration::from_secs(15) },
        // Immediate shutdown: no checkpoint.
        StopStep { signal: Sig::Quit, timeout: Duration::from_secs(6) },
    ]
}

/// Ready if the server accepts a login and answers a query.
pub(crate) fn check_ready(target: &Target) -> Readiness<()> {
    let result = Connection::open(target, Duration::from_secs(5)).and_then(|mut it| it.query("select 1"));
    match result {
        Ok(_) => Readiness::Ready(()),
        Err(error) => match error.code() {
            // 57P03 means that the server is starting up. The socket may not exist yet, or have no listener.
            Code::SqlState(state) if &state != b"57P03" => Readiness::Never((&error).into()),
            _ if matches!(error, Error::Protocol(_)) => Readiness::Never((&error).into()),
            _ => Readiness::NotYet((&error).into()),
        },
    }
}

/// `log_line_prefix`: time, process and SQLSTATE; in sessions also the client's address and the application's name.
///
/// The SQLSTATE precedes the application's name, so that a client cannot forge the SQLSTATE in a name that it chooses.
const LOG_LINE_PREFIX: &str = "%m [%p] %e %q%h (%a) ";

/// Names and values of the configuration. `memory` is the machine's memory, bytes.
fn configuration_lines(settings: &Settings, memory: u64) -> Vec<(String, String)> {
    // A quarter of the memory, as the manual advises, but at most 512 MB for a temporary server.
    let shared_buffers = (memory / 4 / MIB).clamp(16, 512);
    let mut defaults = vec![
        ("listen_addresses", settings.address.to_string()),
        ("unix_socket_permissions", "0700".to_owned()),
        ("max_connections", settings.max_connections.to_string()),
        ("shared_buffers", format!("{shared_buffers}MB")),
        ("password_encryption", "scram-sha-256".to_owned()),
        ("fsync", "on".to_owned()),
        ("full_page_writes", "on".to_owned()),
        // During a short run, no checkpoint should start because of the load.
        ("max_wal_size", "4GB".to_owned()),
        ("checkpoint_timeout", "15min".to_owned()),
        ("logging_collector", "off".to_owned()),
        ("log_line_prefix", LOG_LINE_PREFIX.to_owned()),
        ("log_timezone", "UTC".to_owned()),
        ("timezone", "UTC".to_owned()),
        ("lc_messages", "C".to_owned()),
    ];
    if let Some(tls) = &settings.tls {
        defaults.push(("ssl", "on".to_owned()));
        defaults.push(("ssl_cert_file", tls.certificate.display().to_string()));
        defaults.push(("ssl_key_file", tls.key.display().to_string()));
    }
    let all = with_settings(defaults, &settings.extra_lines).into_iter();
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Renders `postgresql.conf`. `memory` is the machine's memory, bytes.
fn configuration(settings: &Settings, memory: u64) -> String {
    let mut text = String::from("# Written by pgdyno; removed when the server stops.\n");
    for (name, value) in configuration_lines(settings, memory) {
        writeln!(text, "{name} = '{}'", value.replace('\'', "''")).expect("writing to a String cannot fail");
    }
    text
}

const MIB: u64 = 1024 * 1024;

/// Physical memory of this machine, bytes; 1 GiB if the kernel does not report it.
pub(crate) fn physical_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix("MemTotal:"));
    let kib = line.and_then(|it| it.trim().strip_suffix(" kB")).and_then(|it| it.parse::<u64>().ok());
    kib.map_or(1024 * MIB, |it| it * 1024)
}

/// Returns 144 random bits in hexadecimal.
pub(crate) fn random_password() -> std::io::Result<Secret> {
    let bytes = crate::client::nonce()?;
    Ok(Secret::new(bytes.iter().map(|it| format!("{it:02x}")).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_settings_override_defaults() {
        let check = |memory: u64, more: &[(&str, &str)], expected: &[&str]| {
            let more = more.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            let text = configuration(&Settings { extra_lines: more, ..Settings::default() }, memory * MIB);
            for line in expected {
                assert!(text.lines().any(|it| it == *line), "{line} in\n{text}");
            }
            text
        };
        check(64 << 10, &[], &["shared_buffers = '512MB'", "fsync = 'on'", "listen_addresses = '127.0.0.1'"]);
        check(1 << 10, &[], &["shared_buffers = '256MB'"]);
        check(1, &[], &["shared_buffers = '16MB'"]);
        let text = check(1, &[("fsync", "off"), ("search_path", "it's")], &["search_path = 'it''s'"]);
        assert!(
            text.contains("fsync = 'off'") && !text.contains("fsync = 'on'"),
            "the user's setting wins:\n{text}"
        );
    }
}
