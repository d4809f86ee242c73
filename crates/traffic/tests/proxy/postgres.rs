//! Sessions of PostgreSQL's own clients, recorded and sent again

use crate::running::RunningProxy;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;
use traffic::proxy::serve::Upstream;
use traffic::recording::{RecordedError, Recording, Unrecorded};

/// Password that must not be in the recording.
pub const PASSWORD: &str = "hidden-password";

/// Directory of the newest programs of PostgreSQL; `None` if there are none.
pub fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let directories = versions.filter_map(|it| Some(it.ok()?.path().join("bin")));
    directories.filter(|it| it.join("initdb").exists() && it.join("pgbench").exists()).max()
}

/// Command that runs as the user `postgres` if the test runs as root, which PostgreSQL refuses.
fn as_postgres(program: PathBuf) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

/// Private server in a temporary directory. Both end with this value.
pub struct Server {
    programs: PathBuf,
    pub directory: PathBuf,
    pub port: u16,
    process: Child,
}

impl Server {
    /// Starts a server. `name` belongs to its directory, and `settings` are lines of `postgresql.conf`.
    pub fn start(name: &str, programs: PathBuf, settings: &str) -> Server {
        let directory = PathBuf::from(format!("/var/tmp/pgdyno-proxy-{name}-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        if rustix::process::geteuid().is_root() {
            assert!(Command::new("chown").arg("postgres").arg(&directory).status().unwrap().success());
        }
        let data = directory.join("data");
        let mut init = as_postgres(programs.join("initdb"));
        let init = init.args(["-A", "trust", "-U", "postgres", "-N", "-D"]).arg(&data).output().unwrap();
        assert!(init.status.success(), "{init:?}");
        let mut configuration = OpenOptions::new().append(true).open(data.join("postgresql.conf")).unwrap();
        configuration.write_all(settings.as_bytes()).unwrap();
        let hba =
            "host all ann 127.0.0.1/32 scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 trust\n";
        fs::write(data.join("pg_hba.conf"), hba).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = as_postgres(programs.join("postgres"));
        command.arg("-D").arg(&data).args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]);
        command.arg("-p").arg(port.to_string()).arg("-k").arg(&directory);
        let log = fs::File::create(directory.join("log")).unwrap();
        let process = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let server = Server { programs, directory, port, process };
        for _ in 0..600 {
            if server.psql(&server.directory, "select 1").status.success() {
                return server;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("the server does not start: {}", fs::read_to_string(server.directory.join("log")).unwrap());
    }

    /// Command of a client that connects to a host, which may be the directory of a socket.
    pub fn client(&self, program: &str, host: &Path, port: u16) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.env("PGHOST", host).env("PGPORT", port.to_string());
        command.env("PGUSER", "postgres").env("PGDATABASE", "postgres");
        command
    }

    pub fn psql(&self, host: &Path, sql: &str) -> Output {
        self.client("psql", host, self.port).args(["-XAtqc", sql]).output().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGINT is a fast shutdown.
        let _ = kill_process(Pid::from_child(&self.process), Signal::INT);
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn records_pgbench_and_psql() {
    let Some(programs) = programs() else {
        println!("skipped: no PostgreSQL in /usr/lib/postgresql");
        return;
    };
    let server = Server::start("records", programs, "");
    let upstream = server.directory.join(format!(".s.PGSQL.{}", server.port));
    let proxy_directory = server.directory.join("proxy");
    fs::create_dir(&proxy_directory).unwrap();
    let listening = proxy_directory.join(format!(".s.PGSQL.{}", server.port));
    let proxy = RunningProxy::start(
        UnixListener::bind(&listening).unwrap(),
        vec![Upstream::Unix(upstream.clone())],
        Vec::new(),
    );
    let local = || server.client("pgbench", &proxy_directory, server.port);

    succeed(local().args(["-i", "-s", "1", "-q"]));
    for mode in ["simple", "extended", "prepared"] {
        succeed(local().args(["-n", "-c", "4", "-j", "2", "-t", "25", "-M", mode]));
    }
    // Several requests before the first result.
    let script = server.directory.join("pipeline.sql");
    fs::write(&script, "\\startpipeline\nselect 1;\nselect 2;\n\\endpipeline\n").unwrap();
    succeed(local().args(["-n", "-t", "10", "-M", "extended", "-f"]).arg(&script));

    let file = server.directory.join("rows");
    let rows: String = (0..50_000).map(|n| format!("{n}\trow {n}\n")).collect();
    fs::write(&file, &rows).unwrap();
    let psql = |sql: &[&str]| {
        let mut command = server.client("psql", &proxy_directory, server.port);
        command.arg("-XAtq");
        command.args(sql.iter().flat_map(|it| ["-c", it]));
        command
    };
    let path = file.display();
    succeed(&mut psql(&["create table c (a int primary key, b text)", &format!("\\copy c from {path}")]));
    assert_eq!(succeed(&mut psql(&["copy c to stdout"])), rows);
    // The data end before the server has read all of them.
    let failed = psql(&[&format!("\\copy c from {path}")]).output().unwrap();
    assert!(String::from_utf8_lossy(&failed.stderr).contains("duplicate key"), "{failed:?}");
    psql(&["select 1/0", "select from missing"]).output().unwrap();
    succeed(&mut psql(&[&format!("create role ann login password '{PASSWORD}'")]));

    // A cancel request reaches the server process of its session.
    let mut sleep = psql(&["select pg_sleep(60)"]).stderr(Stdio::piped()).spawn().unwrap();
    let is_asleep = "select count(*) from pg_stat_activity where query = 'select pg_sleep(60)'";
    while server.psql(&server.directory, is_asleep).stdout != b"1\n" {
        thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&sleep), Signal::INT).unwrap();
    let mut error = String::new();
    sleep.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    sleep.wait().unwrap();
    assert!(error.contains("canceling statement due to user request"), "{error}");
    let checksum = "select sum(abalance), count(*) from pgbench_accounts";
    let balance = server.psql(&server.directory, checksum).stdout;
    let recording = proxy.recording();

    // A login with SCRAM on TCP.
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let address = Upstream::Tcp(([127, 0, 0, 1], server.port).into());
    let proxy = RunningProxy::start(tcp, vec![address], Vec::new());
    let mut ann = server.client("psql", Path::new("127.0.0.1"), port);
    ann.env("PGUSER", "ann").env("PGPASSWORD", PASSWORD).args(["-XAtqc", "select current_user"]);
    assert_eq!(succeed(&mut ann), "ann\n");
    let mut wrong = server.client("psql", Path::new("127.0.0.1"), port);
    wrong.env("PGUSER", "ann").env("PGPASSWORD", "wrong").args(["-Xc", "select 1"]);
    assert!(!wrong.output().unwrap().status.success());
    let bytes = proxy.stop().unwrap();
    assert!(!contains(&bytes, PASSWORD) && !contains(&bytes, "SCRAM"));
    let of_ann = Recording::open(bytes).unwrap();
    assert_eq!((of_ann.sessions().len(), of_ann.requests()), (1, 1));
    assert_eq!(of_ann.identities()[0].user.as_deref(), Some("ann"));

    check_contents(&recording);
    assert!(server.psql(&server.directory, "drop table c").status.success());
    send_again(&recording, &upstream);
    // pgbench's random numbers are in the recording, so the same changes have been made again.
    assert_eq!(server.psql(&server.directory, checksum).stdout, balance);
}

pub fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

fn check_contents(recording: &Recording<Vec<u8>>) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    recording.statements().iter().for_each(|it| *counts.entry(&it.text).or_default() += it.requests);
    let count = |text: &str| counts.get(text).copied().unwrap_or_default();
    // Three modes with 100 transactions. With -M prepared, each of four clients prepares each of seven statements once.
    assert_eq!(count("BEGIN"), 300, "{counts:#?}");
    assert_eq!(count("END"), 300);
    assert_eq!(count("PREPARE"), 4 * 7);
    assert_eq!(count("select $1"), 10, "{counts:#?}");
    assert_eq!(recording.left_out(), &BTreeMap::from([(Unrecorded::Secret, 1)]));
    let all = (0..recording.requests()).map(|it| recording.request(it));
    let mut errors: Vec<String> = Vec::new();
    for request in all {
        assert!(request.outcome.duration.is_some(), "{}", request.messages.escape_ascii());
        assert!(!contains(request.messages, PASSWORD));
        if let Some(RecordedError::SqlState(state)) = request.outcome.error {
            errors.push(String::from_utf8(state.to_vec()).unwrap());
        }
    }
    assert_eq!(errors, ["23505", "22012", "42P01", "57014"]);
    assert!(recording.sessions().iter().all(|it| it.connected < it.disconnected));
    let applications = recording.identities().iter().map(|it| it.application.as_deref());
    assert_eq!(applications.collect::<Vec<_>>(), [Some("pgbench"), Some("psql")]);
}

/// Sends the sessions one after another, and compares rows and errors with the recorded ones.
fn send_again(recording: &Recording<Vec<u8>>, server: &Path) {
    for session in recording.sessions() {
        let mut stream = UnixStream::connect(server).unwrap();
        stream.write_all(b"\0\0\0\x17\0\x03\0\0user\0postgres\0\0").unwrap();
        receive(&mut stream);
        for request in (session.first..session.first + session.requests).map(|it| recording.request(it)) {
            if request.outcome.error == Some(RecordedError::SqlState(*b"57014")) {
                continue;
            }
            let mut writer = stream.try_clone().unwrap();
            let (rows, error) = thread::scope(|scope| {
                scope.spawn(move || writer.write_all(request.messages).unwrap());
                receive(&mut stream)
            });
            let error = error.map(RecordedError::SqlState);
            let text = request.messages[..request.messages.len().min(200)].escape_ascii();
            assert_eq!((rows, error), (request.outcome.rows, request.outcome.error), "{text}");
        }
    }
}

/// Receives messages up to a ReadyForQuery, and returns the number of rows and the SQLSTATE.
fn receive(stream: &mut UnixStream) -> (Option<u64>, Option<[u8; 5]>) {
    let (mut rows, mut error) = (None, None);
    loop {
        let mut header = [0; 5];
        stream.read_exact(&mut header).unwrap();
        let [tag, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        stream.read_exact(&mut body).unwrap();
        match tag {
            b'Z' => return (rows, error),
            b'C' => {
                let tag = wire::pg::RowCount::from_tag(body.strip_suffix(b"\0").unwrap());
                rows = tag.map(|it| it.rows + rows.unwrap_or(0)).or(rows);
            }
            b'E' => {
                let code = body.split(|it| *it == 0).find_map(|it| it.strip_prefix(b"C"));
                error = error.or(code.map(|it| it.try_into().unwrap()));
            }
            _ => {}
        }
    }
}
